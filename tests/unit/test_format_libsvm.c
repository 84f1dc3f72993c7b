/* test_format_libsvm.c: the reader of LIBSVM files.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "format_helpers.h"

#include <math.h>

#include "data/format/formats.h"

static mcr_data *read_svm(mcr *ctx, const char *text)
{
    mcr_data *data;
    test_ok(ctx, read_text(&data, ctx, "f.svm", text, strlen(text), "libsvm", NULL));
    return data;
}

static void expect_vector(const mcr_data *data, int64_t i, const double *expected, int64_t cols)
{
    double x[16];
    assert_true(cols <= 16);
    assert_int_equal(field_info(data, 0).cols, cols);
    assert_int_equal(mcr_data_vector(data, 0, i, x), MCR_OK);
    for (int64_t c = 0; c < cols; c++)
        assert_true(x[c] == expected[c]);
}

static void reads_vectors(void **state)
{
    mcr_data *data = read_svm(*state, "+1 1:0.5 3:-2\n-1\n1 2:1e2 4:.25 \r\n\t-1 \t1:5.\t3:+7");
    assert_int_equal(mcr_data_count(data), 4);
    assert_int_equal(mcr_data_fields(data), 1);
    mcr_field_info info = field_info(data, 0);
    assert_string_equal(info.name, "x");
    assert_int_equal(info.kind, MCR_SPARSE);
    assert_int_equal(info.entries, 6);
    assert_int_equal(info.shortest, 0);
    assert_int_equal(info.longest, 2);
    expect_vector(data, 0, (double[]){0.5, 0, -2, 0}, 4);
    expect_vector(data, 1, (double[]){0, 0, 0, 0}, 4);
    expect_vector(data, 2, (double[]){0, 100, 0, 0.25}, 4);
    expect_vector(data, 3, (double[]){5, 0, 7, 0}, 4);
    assert_int_equal(mcr_data_target_kind(data), MCR_REAL_TARGETS);
    const double *y = mcr_data_targets(data);
    assert_true(y[0] == 1 && y[1] == -1 && y[2] == 1 && y[3] == -1);
    assert_int_equal(mcr_data_classes(data), 2);
    assert_string_equal(mcr_data_class_name(data, 0), "-1");
    assert_string_equal(mcr_data_class_name(data, 1), "1");
    mcr_data_free(data);
}

static void drops_zeros_but_keeps_columns(void **state)
{
    mcr_data *data = read_svm(*state, "1 1:0 2:3 5:0\n2 1:-0 2:4\n");
    mcr_field_info info = field_info(data, 0);
    assert_int_equal(info.cols, 5);
    assert_int_equal(info.entries, 2);
    expect_vector(data, 1, (double[]){0, 4, 0, 0, 0}, 5);
    mcr_data_free(data);
}

static void skips_comments_and_last_blank_lines(void **state)
{
    mcr_data *data = read_svm(*state,
                              "# a:b made c:d\n1 1:2 # x:y 3:4\n  # again\n2 2:3#\n\n \t\r\n");
    assert_int_equal(mcr_data_count(data), 2);
    expect_vector(data, 0, (double[]){2, 0}, 2);
    expect_vector(data, 1, (double[]){0, 3}, 2);
    mcr_data_free(data);
}

static void keeps_words(void **state)
{
    mcr_data *data = read_svm(*state, "pos 1:1\n+ 1:2\npos 1:3\n7 1:4\n");
    assert_int_equal(mcr_data_target_kind(data), MCR_WORD_TARGETS);
    assert_int_equal(mcr_data_classes(data), 3);
    assert_string_equal(mcr_data_class_name(data, 0), "pos");
    assert_string_equal(mcr_data_class_name(data, 1), "+");
    assert_string_equal(mcr_data_class_name(data, 2), "7");
    assert_true(mcr_data_targets(data)[2] == 0 && mcr_data_targets(data)[3] == 2);
    mcr_data_free(data);
    data = read_svm(*state, "a 1:1\n\rb 1:2\n"); /* byte for byte: no line end before the word */
    assert_int_equal(mcr_data_count(data), 2);
    assert_string_equal(mcr_data_class_name(data, 1), "\rb");
    mcr_data_free(data);
}

static void takes_features_and_target_none(void **state)
{
    mcr_read_options options = {
        .size = sizeof options, .format = "libsvm", .target = "none", .features = 9};
    mcr_data *data;
    test_ok(*state, mcr_data_read_memory(&data, *state, "f", "1 2:3\n", 6, &options));
    assert_int_equal(field_info(data, 0).cols, 9);
    assert_int_equal(mcr_data_target_kind(data), MCR_NO_TARGETS);
    assert_null(mcr_data_targets(data));
    mcr_data_free(data);
    options.features = 1; /* the file has more */
    test_ok(*state, mcr_data_read_memory(&data, *state, "f", "1 2:3\n", 6, &options));
    assert_int_equal(field_info(data, 0).cols, 2);
    mcr_data_free(data);
    options.target = "2";
    test_fails(*state, mcr_data_read_memory(&data, *state, "f", "1 2:3\n", 6, &options),
               MCR_BAD_CALL, "only \"none\" is possible");
}

static void refuse(mcr *ctx, const char *text, const char *message)
{
    refuse_text(ctx, "f.svm", text, "libsvm", NULL, message);
}

static void refuses(void **state)
{
    refuse(*state, "", "f.svm: the file is empty");
    refuse(*state, "\n\n", "f.svm: there are no objects in the file");
    refuse(*state, "# nothing\n", "f.svm: there are no objects in the file");
    refuse(*state, "1\n2\n", "f.svm: no line has an index:value");
    refuse(*state, "1 1:2\n\n1 2:3\n",
           "f.svm:2: the line is blank; blank lines are allowed only at the end");
    refuse(*state, "1 1:2\n1:2 2:3\n",
           "f.svm:2: the label is missing: the line starts with \"1:2\"");
    refuse(*state, "1,2 1:2\n", "f.svm:1: several labels (\"1,2\"): an object can have only one");
    refuse(*state, "1 1:2\n1 qid:3 1:2\n",
           "f.svm:2: \"qid:3\": queries (qid) are for ranking, which is not supported");
    refuse(*state, "nan 1:2\n", "f.svm:1: the label \"nan\" is not finite");
    refuse(*state, "1 1:2\n1e999 1:2\n", "f.svm:2: the label \"1e999\" is not finite");
    refuse(*state, "1 0:1 1:2\n",
           "f.svm:1: index 0: indices start at 1 (0:id is for the format precomputed)");
    refuse(*state, "1 3:1 2:2\n", "f.svm:1: index 2 follows index 3; indices must be ascending");
    refuse(*state, "1 3:1 3:2\n", "f.svm:1: index 3 occurs twice");
    refuse(*state, "1 2147483648:1\n",
           "f.svm:1: index 2147483648 is too large; the largest possible is 2147483647");
    refuse(*state, "1 99999999999999999999:1\n",
           "f.svm:1: index 99999999999999999999 is too large; the largest possible is 2147483647");
    refuse(*state, "1 1:\n", "f.svm:1: index 1 has no value");
    refuse(*state, "1 1: 2\n", "f.svm:1: index 1 has no value");
    refuse(*state, "1 1:abc\n", "f.svm:1: the value of index 1, \"abc\", is not a number");
    refuse(*state, "1 1:2x 2:3\n", "f.svm:1: the value of index 1, \"2x\", is not a number");
    refuse(*state, "1 1:0x10\n", "f.svm:1: the value of index 1, \"0x10\", is not a number");
    refuse(*state, "1 1:2:3\n", "f.svm:1: the value of index 1, \"2:3\", is not a number");
    refuse(*state, "1 1:nan\n", "f.svm:1: the value of index 1, \"nan\", is not finite");
    refuse(*state, "1 1:-Inf\n", "f.svm:1: the value of index 1, \"-Inf\", is not finite");
    refuse(*state, "1 1:1e400\n", "f.svm:1: the value of index 1, \"1e400\", is not finite");
    refuse(*state, "1 2\n", "f.svm:1: \"2\" is not index:value");
    refuse(*state, "1 2 3\n", "f.svm:1: \"2\" is not index:value");
    refuse(*state, "1,2 1:x\n", "f.svm:1: several labels (\"1,2\"): an object can have only one");
    refuse(*state, "1 -2:3\n", "f.svm:1: \"-2:3\" is not index:value");
    refuse(*state, "1 a:3\n", "f.svm:1: \"a:3\" is not index:value");
    refuse(*state, "1 :3\n", "f.svm:1: \":3\" is not index:value");
    refuse(*state, "1 1:2 \r3:4\n", "f.svm:1: \"?3:4\" is not index:value");
    refuse(*state, "1 abcdefghijabcdefghijabcdefghijabcdefghijabcdefghij\n",
           "f.svm:1: \"abcdefghijabcdefghijabcdefghijabcdefghij...\" is not index:value");
    /* The first fault in the file counts. */
    refuse(*state, "1 1:2\n\n\n1 1:x\n",
           "f.svm:2: the line is blank; blank lines are allowed only at the end");
    refuse(*state, "nan 1:2\n1 1:x\n", "f.svm:1: the label \"nan\" is not finite");
}

static void takes_all_numbers_exactly(void **state)
{
    static const char *const numbers[] = {"0.1",
                                          "123456789",
                                          "9007199254740992",
                                          "9007199254740993",
                                          "0.30000000000000004",
                                          "1e22",
                                          "1.7976931348623157e308",
                                          "5e-324",
                                          "2.2250738585072014e-308",
                                          "0.0000000000000000000001234567",
                                          "12345678901234567890",
                                          "3.141592653589793238462643",
                                          "100000000000000000000000",
                                          "0.000001",
                                          "1E-5",
                                          "4.35",
                                          "0.5e3"};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        char text[128];
        double x;
        snprintf(text, sizeof text, "1 1:-%s\n", numbers[i]);
        mcr_data *data = read_svm(*state, text);
        test_ok(*state, mcr_data_vector(data, 0, 0, &x));
        assert_true(x == -strtod(numbers[i], NULL));
        mcr_data_free(data);
    }
}

/* ---- large files: blocks, chunks, threads -----------------------------------------------------*/

typedef struct big {
    char *text;
    size_t length, capacity;
    int64_t lines;
} big;

static void put(big *b, const char *text)
{
    size_t n = strlen(text);
    if (b->length + n + 1 > b->capacity) {
        b->capacity = 2 * (b->length + n + 1);
        b->text = realloc(b->text, b->capacity);
        assert_non_null(b->text);
    }
    memcpy(b->text + b->length, text, n + 1);
    b->length += n;
}

/* Lines of different lengths with comments and zeros here and there; about 4 MB. */
static big make_big(void)
{
    big b = {0};
    unsigned random = 1;
    for (int64_t i = 0; i < 40000; i++, b.lines++) {
        char word[64];
        random = random * 1664525 + 1013904223;
        snprintf(word, sizeof word, "%u", random >> 30);
        put(&b, word);
        int64_t index = 0;
        for (unsigned k = 0; k < (random >> 8 & 15); k++) {
            random = random * 1664525 + 1013904223;
            index += 1 + (random >> 28);
            snprintf(word, sizeof word, " %d:%.3g", (int)index,
                     random % 7 == 0 ? 0.0 : (double)(random >> 12) / 1000);
            put(&b, word);
        }
        put(&b, random % 11 == 0 ? " # 1:2 3:4\n" : "\n");
    }
    return b;
}

static bool same_data(const mcr_data *a, const mcr_data *b)
{
    mcr_field_info x = field_info(a, 0), y = field_info(b, 0);
    bool same = mcr_data_count(a) == mcr_data_count(b) && x.cols == y.cols &&
                x.entries == y.entries;
    double *u = calloc((size_t)x.cols, sizeof *u), *v = calloc((size_t)y.cols, sizeof *v);
    for (int64_t i = 0; i < mcr_data_count(a) && same; i++) {
        mcr_data_vector(a, 0, i, u);
        mcr_data_vector(b, 0, i, v);
        same = memcmp(u, v, (size_t)x.cols * sizeof *u) == 0 &&
               mcr_data_targets(a)[i] == mcr_data_targets(b)[i];
    }
    free(u);
    free(v);
    return same;
}

/* An obvious reader, to compare with. */
static void compare_slowly(const mcr_data *data, char *text)
{
    mcr_field_info info = field_info(data, 0);
    double *x = calloc((size_t)info.cols, sizeof *x), *z = calloc((size_t)info.cols, sizeof *z);
    int64_t row = 0;
    char *keep_line, *keep_word;
    for (char *line = strtok_r(text, "\n", &keep_line); line != NULL;
         line = strtok_r(NULL, "\n", &keep_line), row++) {
        line[strcspn(line, "#")] = '\0';
        memset(x, 0, (size_t)info.cols * sizeof *x);
        char *word = strtok_r(line, " ", &keep_word);
        assert_true(strtod(word, NULL) == mcr_data_targets(data)[row]);
        while ((word = strtok_r(NULL, " ", &keep_word)) != NULL)
            x[atoi(word) - 1] = strtod(strchr(word, ':') + 1, NULL);
        assert_int_equal(mcr_data_vector(data, 0, row, z), MCR_OK);
        assert_memory_equal(x, z, (size_t)info.cols * sizeof *x);
    }
    assert_int_equal(row, mcr_data_count(data));
    free(x);
    free(z);
}

static void reads_large_files_in_parallel(void **state)
{
    mcr *ctx = *state, *alone = test_open(1);
    big b = make_big();
    mcr_data *one, *two;
    test_ok(alone, read_text(&one, alone, "big", b.text, b.length, "libsvm", NULL));
    test_ok(ctx, read_text(&two, ctx, "big", b.text, b.length, "libsvm", NULL));
    assert_int_equal(mcr_data_count(two), b.lines);
    assert_true(same_data(one, two));
    compare_slowly(two, b.text);
    mcr_data_free(one);
    mcr_data_free(two);
    test_close(alone);
    free(b.text);
}

static void finds_the_first_fault_in_parallel(void **state)
{
    mcr *ctx = *state, *alone = test_open(1);
    big b = make_big();
    const int64_t bad[] = {39999, 39000, 25000, 12345, 4000, 17};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) { /* each earlier than those before */
        char *p = b.text, message[64];
        for (int64_t i = 0; i < bad[k]; i++)
            p = strchr(p, '\n') + 1;
        *p = ':';
        snprintf(message, sizeof message, "big:%d: the label is missing", (int)bad[k] + 1);
        mcr_data *data;
        test_fails(alone, read_text(&data, alone, "big", b.text, b.length, "libsvm", NULL),
                   MCR_BAD_DATA, message);
        test_fails(ctx, read_text(&data, ctx, "big", b.text, b.length, "libsvm", NULL),
                   MCR_BAD_DATA, message);
    }
    test_close(alone);
    free(b.text);
}

static void finds_blank_lines_across_chunks(void **state)
{
    big b = make_big();
    size_t whole = b.length;
    for (int i = 0; i < 400000; i++)
        put(&b, "\n");
    mcr_data *data;
    test_ok(*state, read_text(&data, *state, "big", b.text, b.length, "libsvm", NULL));
    assert_int_equal(mcr_data_count(data), b.lines);
    mcr_data_free(data);
    put(&b, "1 1:1\n");
    test_fails(*state, read_text(&data, *state, "big", b.text, b.length, "libsvm", NULL),
               MCR_BAD_DATA, "big:40001: the line is blank");
    assert_true(b.length > whole);
    free(b.text);
}

static void reads_lines_longer_than_a_block(void **state)
{
    big b = {0};
    put(&b, "1 1:1\n2");
    for (int i = 1; i <= 700000; i++) {
        char word[32];
        snprintf(word, sizeof word, " %d:%d", i, i % 10);
        put(&b, word);
    }
    put(&b, "\n3 5:5");
    mcr_data *data;
    test_ok(*state, read_text(&data, *state, "big", b.text, b.length, "libsvm", NULL));
    assert_int_equal(mcr_data_count(data), 3);
    mcr_field_info info = field_info(data, 0);
    assert_int_equal(info.cols, 700000);
    assert_int_equal(info.longest, 630000);
    mcr_data_free(data);
    free(b.text);
}

static mcr_status read_small(mcr *ctx, void *arg)
{
    mcr_data *data;
    mcr_status status = read_text(&data, ctx, "f.svm", arg, strlen(arg), NULL, NULL);
    mcr_data_free(data);
    return status;
}

static void survives_short_memory(void **state)
{
    (void)state;
    char numbers[] = "1 1:2 3:4\n2 2:5\n# x\n1 1:1 2:1 3:1 4:0\n",
         words[] = "good 1:2 3:4\nbad 2:5\n";
    test_sweep_allocations("libsvm numbers", read_small, numbers);
    test_sweep_allocations("libsvm words", read_small, words);
}

/* Lines that end where chunks do, and one more: no chunk begins behind the last. */
static void cuts_at_line_ends(void **state)
{
    enum { FIRST = 256 << 6, LINES = FIRST + 8 * 2560 }; /* a first block of 256 KB, and another */
    big b = {0};
    for (int i = 0; i < LINES; i++)
        put(&b, "1 1:12345678901\n");
    assert_int_equal(b.length, 16 * LINES);
    put(&b, "2 2:1\n");
    mcr_data *data;
    test_ok(*state, read_text(&data, *state, "big", b.text, b.length, "libsvm", NULL));
    assert_int_equal(mcr_data_count(data), LINES + 1);
    expect_vector(data, LINES, (double[]){0, 1}, 2);
    expect_vector(data, LINES - 1, (double[]){12345678901.0, 0}, 2);
    mcr_data_free(data);
    free(b.text);
}

/* gzip that is not compressed and ends early, after a first block of the text. */
static void finds_faults_before_those_of_the_file(void **state)
{
    static const char *const first[] = {"1 1:1\n", "1 1:x\n"};
    (void)state;
    for (int bad = 0; bad < 2; bad++) {
        enum { PART = 60000, PARTS = 6, HEAD = 5 };
        mcr *ctx = test_open(1);
        big b = {0};
        put(&b, first[bad]);
        while (b.length < PARTS * PART)
            put(&b, "1 1:123456\n");
        static const unsigned char head[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff};
        unsigned char *file = malloc(sizeof head + PARTS * (HEAD + PART)), *to = file + sizeof head;
        memcpy(file, head, sizeof head);
        for (int p = 0; p < PARTS; p++, to += HEAD + PART) {
            memcpy(to, (unsigned char[]){0, PART & 255, PART >> 8, ~PART & 255, ~PART >> 8 & 255},
                   HEAD);
            memcpy(to + HEAD, b.text + p * PART, PART);
        }
        mcr_data *data;
        mcr_status s = read_text(&data, ctx, "f.svm.gz", (char *)file, (size_t)(to - file),
                                 "libsvm", NULL);
        test_fails(ctx, s, MCR_BAD_DATA, bad ? "the value of index 1" : "the file ends early");
        test_close(ctx);
        free(file);
        free(b.text);
    }
}

static void is_detected(void **state)
{
    static const struct {
        const char *text;
        int named, other;
    } cases[] = {{"1 1:2\n1 1:2\n", 90, 70},
                 {"1 1:2\nhello there\n", 90, 60},
                 {"hello there\n1 1:2\n", 60, 0},
                 {"1\n2\n", 60, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *text = cases[i].text;
        assert_int_equal(mcr_format_libsvm.sniff(true, text, strlen(text)), cases[i].named);
        assert_int_equal(mcr_format_libsvm.sniff(false, text, strlen(text)), cases[i].other);
    }
}

static void has_a_limit_of_columns(void **state)
{
    mcr *ctx = *state;
    mcr_data *data = NULL;
    mcr_read_options options = {
        .size = sizeof options, .format = "libsvm", .features = (int64_t)INT32_MAX + 1};
    test_fails(ctx, mcr_data_read_memory(&data, ctx, "f", "1 1:2\n", 6, &options), MCR_BAD_CALL,
               "2147483648 features are too many");
    options.features = INT32_MAX;
    test_ok(ctx, mcr_data_read_memory(&data, ctx, "f", "1 1:2\r\n", 7, &options));
    assert_int_equal(field_info(data, 0).cols, INT32_MAX);
    mcr_data_free(data);
}

static int stop_at_once(void *user, const mcr_progress *now)
{
    (void)user;
    return strcmp(now->phase, "reading") == 0;
}

static void stops_when_asked(void **state)
{
    (void)state;
    mcr *ctx;
    mcr_config config = {.size = sizeof config, .progress = stop_at_once};
    assert_int_equal(mcr_open(&ctx, &config), MCR_OK);
    mcr_data *data;
    test_fails(ctx, read_text(&data, ctx, "f", "1 1:2\n", 6, "libsvm", NULL), MCR_STOPPED,
               "f: reading was stopped");
    mcr_close(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(reads_vectors, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(drops_zeros_but_keeps_columns, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(skips_comments_and_last_blank_lines, test_setup,
                                        test_teardown),
        cmocka_unit_test_setup_teardown(keeps_words, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(takes_features_and_target_none, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(refuses, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(takes_all_numbers_exactly, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(reads_large_files_in_parallel, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(finds_the_first_fault_in_parallel, test_setup,
                                        test_teardown),
        cmocka_unit_test_setup_teardown(finds_blank_lines_across_chunks, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(reads_lines_longer_than_a_block, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(cuts_at_line_ends, test_setup, test_teardown),
        cmocka_unit_test(finds_faults_before_those_of_the_file),
        cmocka_unit_test(is_detected),
        cmocka_unit_test_setup_teardown(has_a_limit_of_columns, test_setup, test_teardown),
        cmocka_unit_test(survives_short_memory),
        cmocka_unit_test(stops_when_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
