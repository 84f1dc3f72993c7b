/* test_studio.c: the studio's protocol: what it answers, what it refuses, and that it stays small.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../web/engine.h"
#include "../../web/request.h"
#include "helpers.h"

#define POINTS                                                                                     \
    "\"data\": {\"name\": \"points.csv\", \"text\": "                                              \
    "\"x1,x2,class\\n0,0,A\\n1,0,B\\n0,1,B\\n1,1,A\\n2,0.5,B\\n-1,0.2,A\\n\"}"

static studio *engine;

static int setup(void **state)
{
    studio_config config = {.threads = 1, .seconds = 20};
    (void)state;
    engine = studio_open(&config);
    return engine ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    studio_close(engine);
    engine = NULL;
    return 0;
}

/* The answer, read; freed by the next one. */
static const studio_value *ask(const char *request)
{
    static studio_request answer;
    size_t bytes;
    const char *text = studio_answer(engine, request, strlen(request), &bytes);
    assert_int_equal(strlen(text), bytes);
    if (!studio_request_read(&answer, text, bytes))
        fail_msg("the answer is no JSON: %.200s", text);
    return answer.value;
}

static const studio_value *ask_well(const char *request)
{
    const studio_value *answer = ask(request);
    if (!studio_flag(answer, "ok"))
        fail_msg("%.100s: %s", request,
                 studio_text(studio_find(answer, "error"), "message", "no message"));
    return answer;
}

static void refused(const char *request, const char *words)
{
    const studio_value *answer = ask(request);
    const char *message = studio_text(studio_find(answer, "error"), "message", "");
    assert_false(studio_flag(answer, "ok"));
    if (!strstr(message, words))
        fail_msg("%.100s: \"%s\" does not say \"%s\"", request, message, words);
}

static void malformed_requests_are_refused(void **state)
{
    static const char *const bad[] = {
        "",         "{",     "}",      "[1, 2", "{\"a\" 1}",   "{\"a\": }", "nul",
        "tru",      "01",    "1.",     "-",     "1e",          "\"\\x\"",   "\"\\ud800\"",
        "\"a\nb\"", "{} {}", "{1: 2}", "[1,]",  "{\"a\": 1,}", "1e999",     "\"",
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        refused(bad[i], "the request: byte ");
    refused("[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]", "too deep");
    refused("null", "what to do");
    refused("{\"do\": 1}", "what to do");
    refused("{\"do\": \"fly\"}", "what to do");
    refused("{\"do\": \"fit\"}", "no data yet");
    refused("{\"do\": \"fit\", \"data\": {}}", "need a text");
    refused("{\"do\": \"fit\", \"data\": {\"base64\": \"a*b\"}}", "not base64");
    refused("{\"do\": \"fit\", \"learner\": \"smv\", " POINTS "}", "svm");
    refused("{\"do\": \"fit\", \"learner\": \"svm\", \"options\": {\"C\": 1}, " POINTS "}",
            "texts");
    refused("{\"do\": \"pair\", \"a\": \"x\", \"b\": 1, \"kernel\": \"linear\"}", "a and b");
    refused("{\"do\": \"model\"}", "no model");
}

static void strings_are_unescaped(void **state)
{
    studio_request r = {0};
    const char text[] = "{\"a\": \"\\u00e9\\n\\ud83d\\ude00\\\\\", \"b\": [1, -2.5e1, true, null]}";
    (void)state;
    assert_true(studio_request_read(&r, text, strlen(text)));
    assert_string_equal(studio_text(r.value, "a", ""), "\xc3\xa9\n\xf0\x9f\x98\x80\\");
    const studio_value *b = studio_find(r.value, "b");
    assert_int_equal(b->count, 4);
    assert_true(b[2].number == -25);
    assert_int_equal(b[3].type, STUDIO_TRUE);
    studio_request_free(&r);
}

/* Two bytes of a request take 40 in memory. */
static void values_have_a_limit(void **state)
{
    enum { VALUES = 1 << 20 };
    studio_request r = {0};
    char *text = malloc(2 * VALUES + 3);
    (void)state;
    assert_non_null(text);
    text[0] = '[';
    for (size_t i = 0; i < VALUES; i++) /* the list is a value, too */
        memcpy(text + 1 + 2 * i, "0,", 2);
    memcpy(text + 2 * VALUES, "]", 2);
    assert_false(studio_request_read(&r, text, 2 * VALUES + 1));
    assert_string_equal(r.fault, "too many values");
    assert_int_equal(r.at, 2 * VALUES - 1);
    memcpy(text + 2 * VALUES - 2, "]", 2);
    assert_true(studio_request_read(&r, text, 2 * VALUES - 1));
    assert_int_equal(r.value[0].count, VALUES - 1);
    studio_request_free(&r);
    free(text);
}

/* No text of a request names a file, whatever its place. */
static void no_request_opens_a_file(void **state)
{
    (void)state;
    refused("{\"do\": \"parse\", \"kernel\": \"mahalanobis(file='/etc/passwd')\"}",
            "opens no files");
    refused("{\"do\": \"parse\", \"kernel\": \"2*mahalanobis(x, file \\n= '/etc/passwd')\"}",
            "opens no files");
    refused("{\"do\": \"fit\", \"learner\": \"cca\", \"options\": {\"kernel2\": "
            "\"mahalanobis(file=x)\"}, " POINTS "}",
            "opens no files");
    refused("{\"do\": \"load\", \"data\": {\"text\": \"x\", \"target\": \"/etc/passwd\"}}",
            "csv, tsv and jsonl");
    refused("{\"do\": \"load\", \"data\": {\"text\": \"x\", \"format\": \"npy\", \"target\": "
            "\"y.npy\"}}",
            "csv, tsv and jsonl");
}

static void faults_in_kernels_have_a_place(void **state)
{
    (void)state;
    const studio_value *error = studio_find(ask("{\"do\": \"parse\", \"kernel\": \"rbf(gama=1)\"}"),
                                            "error");
    assert_true(studio_number(error, "column", -1) == 4);
    assert_true(studio_number(error, "length", -1) == 4);
    const studio_value *good = ask_well("{\"do\": \"parse\", \"kernel\": \"rbf( gamma = 1 )\"}");
    assert_string_equal(studio_text(good, "kernel", ""), "rbf(gamma=1)");
}

static void every_learner_trains(void **state)
{
    char request[1024];
    int trained = 0;
    (void)state;
    for (int64_t i = 0; i < mcr_learner_count(); i++) {
        mcr_learner_info l = MCR_INIT(mcr_learner_info);
        assert_int_equal(mcr_learner_describe(i, &l), MCR_OK);
        if (strcmp(l.name, "cca") == 0) /* needs two fields */
            continue;
        int numbers = l.task == MCR_REGRESS;
        snprintf(request, sizeof request,
                 "{\"do\": \"fit\", \"learner\": \"%s\", \"options\": {%s}, \"kernel\": "
                 "\"rbf(gamma=1)\", \"plane\": {\"nx\": 5, \"ny\": %d, \"x\": [0, 1]}, %s}",
                 l.name, strcmp(l.name, "kmeans") == 0 ? "\"clusters\": \"2\"" : "",
                 numbers ? 1 : 4,
                 numbers ? "\"data\": {\"name\": \"p.csv\", \"text\": "
                           "\"x,y\\n0,0\\n1,2\\n2,1\\n3,0.5\\n\"}"
                         : POINTS);
        const studio_value *answer = ask(request);
        if (!studio_flag(answer, "ok")) { /* l1-svm: CLP may not be here */
            const char *why = studio_text(studio_find(answer, "error"), "message", "");
            if (!strstr(why, "CLP"))
                fail_msg("%s: %s", l.name, why);
            continue;
        }
        assert_non_null(studio_find(answer, "plane"));
        assert_string_equal(studio_text(studio_find(answer, "report"), "learner", ""), l.name);
        trained++;
    }
    assert_true(trained >= 15);
}

/* The steps end where the learner does: the same number of mistakes, the same coefficients. */
static void mistakes_are_those_of_the_learner(void **state)
{
    double coef[6] = {0};
    (void)state;
    const studio_value *answer = ask_well(
        "{\"do\": \"steps\", \"kernel\": \"rbf(gamma=2)\", \"bias\": "
        "true, \"passes\": 50, " POINTS "}");
    const studio_value *c = studio_find(answer, "coef");
    int64_t mistakes = (int64_t)studio_number(answer, "mistakes", 0);
    assert_true(studio_flag(answer, "separated"));
    assert_int_equal(c->count, 6);
    for (int i = 0; i < 6; i++)
        coef[i] = c[1 + i].number;
    answer = ask_well(
        "{\"do\": \"fit\", \"learner\": \"perceptron\", \"options\": {\"passes\": \"50\"}, "
        "\"kernel\": \"rbf(gamma=2)\", " POINTS "}");
    const studio_value *o = studio_find(answer, "outputs") + 1;
    const studio_value *object = studio_find(o, "object"), *fitted = studio_find(o, "coef");
    double total = 0, sign = 0;
    for (size_t k = 0; k < object->count; k++) {
        int i = (int)object[1 + k].number;
        sign = sign == 0 ? coef[i] / fitted[1 + k].number : sign; /* which class is positive */
        test_close_real("coefficient", sign * fitted[1 + k].number, coef[i], 1e-12);
        total += fabs(coef[i]);
    }
    assert_int_equal((int64_t)total, mistakes);
}

/* A model in the place of data is recognised, Mercer's own and LIBSVM's; a damaged one is not
 * accepted. */
static void a_model_is_recognised(void **state)
{
    char request[8192];
    const studio_value *model;
    (void)state;
    ask_well("{\"do\": \"fit\", \"learner\": \"svm\", \"kernel\": \"rbf(gamma=2)\", "
             "\"options\": {\"C\": \"3\"}, " POINTS "}");
    const char *bytes = studio_text(ask_well("{\"do\": \"model\"}"), "base64", "");
    assert_in_range(strlen(bytes), 100, sizeof request - 100);
    snprintf(request, sizeof request,
             "{\"do\": \"load\", \"data\": {\"name\": \"m\", \"base64\": \"%s\"}}", bytes);
    model = studio_find(ask_well(request), "model");
    assert_string_equal(studio_text(model, "learner", ""), "svm");
    assert_string_equal(studio_text(model, "kernel", ""), "rbf(gamma=2)");
    assert_string_equal(studio_text(model, "options", ""), "C=3");
    char *at = request + strlen(request) - 60;
    *at = *at == 'A' ? 'B' : 'A';
    refused(request, "damaged");
    model = studio_find(ask_well("{\"do\": \"load\", \"data\": {\"name\": \"libsvm\", \"text\": "
                                 "\"svm_type c_svc\\nkernel_type rbf\\ngamma 0.5\\nnr_class 2\\n"
                                 "total_sv 2\\nrho 0\\nlabel 1 -1\\nnr_sv 1 1\\nSV\\n"
                                 "1 1:1 2:0.5 \\n-1 1:-1 \\n\"}}"),
                        "model");
    assert_string_equal(studio_text(model, "kernel", ""), "rbf(gamma=0.5)");
    test_close_real("support", studio_number(model, "support", 0), 2, 0);
}

#define MODEL                                                                                      \
    "\"model\": {\"name\": \"m\", \"text\": \"svm_type c_svc\\nkernel_type linear\\n"              \
    "nr_class 2\\ntotal_sv 2\\nrho 0.5\\nlabel 1 -1\\nnr_sv 1 1\\nSV\\n2 1:1 2:0.5 \\n-2 1:-1 "    \
    "\\n\"}"

/* What a model file predicts, on the plane of its own support vectors and for new data. f(x) =
 * 2 (1, 0.5).x - 2 (-1, 0).x - 0.5 = 4 x1 + x2 - 0.5. */
static void a_model_file_is_shown(void **state)
{
    (void)state;
    const studio_value *answer = ask_well(
        "{\"do\": \"show\", \"data\": \"model\", " MODEL
        ", \"plane\": {\"nx\": 2, \"ny\": 2, \"x\": [-1, 0.75], \"y\": [0, 0]}}");
    assert_string_equal(studio_text(answer, "task", ""), "classification");
    const studio_value *o = studio_find(answer, "outputs") + 1;
    assert_true(studio_find(o, "object")[1].number == 0 && studio_find(o, "object")[2].number == 1);
    assert_true(studio_find(o, "coef")[1].number == 2 && studio_number(o, "offset", 0) == -0.5);
    const char *values = studio_text(studio_find(answer, "plane"), "score", "");
    assert_string_equal(values, "AACQwAAAIEAAAJDAAAAgQA=="); /* -4.5, 2.5, twice, as floats */
    answer = ask_well("{\"do\": \"show\", " MODEL ", \"data\": {\"name\": \"new.csv\", \"text\": "
                      "\"x1,x2,class\\n1,0,1\\n-1,0,-1\\n0,2,1\\n0,0,1\\n\"}}");
    test_close_real("accuracy", studio_number(studio_find(answer, "score"), "accuracy", 0), 0.75,
                    0);
    answer = ask_well("{\"do\": \"load\", \"data\": \"model\", " MODEL "}");
    assert_true(studio_number(answer, "n", 0) == 2);
    const char *const file = MODEL;
    char request[1024];
    snprintf(request, sizeof request, "{\"do\": \"load\", \"data\": %s}", strchr(file, '{'));
    answer = ask_well(request);
    const studio_value *class = studio_find(answer, "class"),
                       *name = studio_find(answer, "classes");
    assert_int_equal(class->count, 2); /* by the signs of the coefficients */
    assert_string_equal(name[1 + (int)class[1].number].text, "1");
    assert_string_equal(name[1 + (int)class[2].number].text, "-1");
    refused("{\"do\": \"show\", " POINTS "}", "a model is needed");
    refused("{\"do\": \"show\", \"model\": {\"text\": \"x\"}, " POINTS "}", "not a model file");
    refused("{\"do\": \"show\", \"model\": \"given\", " POINTS "}", "no model was given");
}

static void two_words_share_substrings(void **state)
{
    (void)state;
    /* cat and car by subsequences of two letters: K = lambda^4. */
    const studio_value *answer = ask_well(
        "{\"do\": \"pair\", \"a\": \"cat\", \"b\": \"car\", \"kernel\": \"ssk(p=2, lambda=0.5)\"}");
    test_close_real("ssk", studio_find(answer, "k")[2].number, 0.0625, 1e-12);
    answer = ask_well(
        "{\"do\": \"pair\", \"a\": \"banana\", \"b\": \"ananas\", \"kernel\": \"spectrum(p=2)\"}");
    double sum = 0;
    const studio_value *f = studio_find(answer, "features"), *at = f + 1;
    for (size_t i = 0; i < f->count; i++, at = studio_next(at))
        sum += studio_number(at, "a", 0) * studio_number(at, "b", 0);
    assert_true(sum == studio_find(answer, "k")[2].number);
    answer = ask_well(
        "{\"do\": \"pair\", \"kernel\": \"graphlet(p=3)\", \"a\": {\"nodes\": [0, 0, 0], "
        "\"edges\": [[0, 1], [1, 2], [0, 2]]}, \"b\": {\"nodes\": [0, 0, 0], \"edges\": "
        "[[0, 1], [2, 1], [2, 0]]}}");
    assert_true(studio_find(answer, "k")[2].number == studio_find(answer, "k")[1].number);
    refused("{\"do\": \"pair\", \"kernel\": \"wl\", \"a\": {\"nodes\": [0], \"edges\": [[0, 7]]}, "
            "\"b\": "
            "{\"nodes\": [0], \"edges\": []}}",
            "pair of nodes");
}

static void a_non_kernel_has_a_counterexample(void **state)
{
    (void)state;
    const studio_value *answer = ask_well(
        "{\"do\": \"check\", \"kernel\": \"sigmoid(a=1, b=-1)\", " POINTS "}");
    assert_string_equal(studio_text(answer, "valid", ""), "no");
    assert_true(studio_number(studio_find(answer, "counterexample"), "value", 1) < 0);
}

static int always(void *user)
{
    (void)user;
    return 1;
}

static void a_request_can_be_stopped(void **state)
{
    studio_config config = {.threads = 1, .stop = always};
    studio *own = engine;
    (void)state;
    engine = studio_open(&config);
    const studio_value *answer = ask(
        "{\"do\": \"cv\", \"learner\": \"svm\", \"kernel\": \"rbf(gamma=1)\", \"folds\": 2, " POINTS
        "}");
    int stopped = studio_find(answer, "error") &&
                  studio_flag(studio_find(answer, "error"), "stopped");
    studio_close(engine);
    engine = own;
    assert_true(stopped);
    studio_cancel(engine);
    studio_allow(engine);
    ask_well("{\"do\": \"gram\", \"kernel\": \"linear\", " POINTS "}");
}

/* Bytes in use; the sanitizer has an allocator of its own. */
#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifdef SANITIZED
size_t __sanitizer_get_current_allocated_bytes(void);
static size_t in_use(void)
{
    return __sanitizer_get_current_allocated_bytes();
}
#else
static size_t in_use(void)
{
    return mallinfo2().uordblks;
}
#endif

/* 10,000 requests, good and bad (with a sanitizer: 2,000, unless MERCER_ALL is set): what is in use
 * does not grow with their number. (The allocator keeps some blocks for itself, so that the first
 * half does not count.) */
static void memory_stays_flat(void **state)
{
    static const char *const requests[] = {
        "{\"do\": \"fit\", \"learner\": \"svm\", \"kernel\": \"rbf(gamma=1)\", \"plane\": {\"nx\": "
        "8, "
        "\"ny\": 8}, " POINTS "}",
        "{\"do\": \"fit\", \"learner\": \"svm\", \"kernel\": \"rbf(gama=1)\"}",
        "{\"do\": \"gram\", \"kernel\": \"poly(degree=2)\"}",
        "{\"do\": \"pair\", \"a\": \"stats\", \"b\": \"state\", \"kernel\": \"spectrum(p=3)\"}",
        "{\"do\": \"steps\", \"kernel\": \"linear\", \"at\": 3, \"plane\": {\"nx\": 4, \"ny\": 4}}",
        "{\"do\": \"sample\", \"name\": \"rings\", \"n\": 20}",
        "{\"do\": \"load\", \"data\": {\"name\": \"a.csv\", \"text\": \"a,b\\n1,\\n\"}}",
        "{\"do\": \"parse\", \"kernel\": \"rbf(gamma=1) + 2*linear\"}",
        "{\"do\": \"check\", \"kernel\": \"linear\", \"bare\": true}",
        "{\"do\": \"show\", \"data\": \"model\", " MODEL ", \"plane\": {\"nx\": 3}}",
        "{\"do\":",
    };
    enum { KINDS = sizeof requests / sizeof *requests };
    int times = 10000;
    size_t bytes, before = 0;
#ifdef SANITIZED
    times = getenv("MERCER_ALL") ? times : 2000;
#endif
    (void)state;
    for (int i = 0; i < times; i++) {
        const char *r = requests[i % KINDS];
        const char *text = studio_answer(engine, r, strlen(r), &bytes);
        assert_int_equal(text[0], '{');
        if (i == times / 2 - 1)
            before = in_use();
    }
    size_t after = in_use();
    if (after > before + 16384)
        fail_msg("%zu bytes after %d requests, %zu after %d", before, times / 2, after, times);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(malformed_requests_are_refused, setup, teardown),
        cmocka_unit_test(strings_are_unescaped),
        cmocka_unit_test(values_have_a_limit),
        cmocka_unit_test_setup_teardown(no_request_opens_a_file, setup, teardown),
        cmocka_unit_test_setup_teardown(faults_in_kernels_have_a_place, setup, teardown),
        cmocka_unit_test_setup_teardown(every_learner_trains, setup, teardown),
        cmocka_unit_test_setup_teardown(mistakes_are_those_of_the_learner, setup, teardown),
        cmocka_unit_test_setup_teardown(a_model_is_recognised, setup, teardown),
        cmocka_unit_test_setup_teardown(a_model_file_is_shown, setup, teardown),
        cmocka_unit_test_setup_teardown(two_words_share_substrings, setup, teardown),
        cmocka_unit_test_setup_teardown(a_non_kernel_has_a_counterexample, setup, teardown),
        cmocka_unit_test_setup_teardown(a_request_can_be_stopped, setup, teardown),
        cmocka_unit_test_setup_teardown(memory_stays_flat, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
