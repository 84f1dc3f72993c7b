/* conform_learners.c: every registered learner, with its default options, on vectors, strings,
 * graphs and several fields at once: the certificate holds, a saved model is the same model, the
 * number of threads changes nothing, and no allocation is taken for granted.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "helpers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mercer/mercer.h>

#include "base/context.h"

/* ---- what there is to learn -------------------------------------------------------------------*/

typedef struct problem {
    mcr_task task; /* 0: any */
    const char *sample, *kernel;
    double accuracy, r2; /* on the training data, at least */
} problem;

#define MIXED "rbf(x, gamma=0.1)*wl(molecule, h=1) + 0.5*spectrum(sequence, p=4)"

static const problem problems[] = {
    {MCR_CLASSIFY, "moons", "rbf(gamma=2)", 0.85, 0},
    {MCR_CLASSIFY, "blobs", "rbf(gamma=1)", 0.85, 0},
    {MCR_CLASSIFY, "sparse", "linear", 0.7, 0},
    {MCR_REGRESS, "sinc", "rbf(gamma=1)", 0, 0.5},
    {MCR_REGRESS, "friedman", "poly(degree=2, c=1)", 0, 0.5},
    {MCR_DETECT, "moons", "rbf(gamma=2)", 0, 0},
    {MCR_TRANSFORM, "rings", "rbf(gamma=1)", 0, 0},
    {MCR_CLUSTER, "blobs", "rbf(gamma=1)", 0, 0},
    {0, "motifs", "normalize(spectrum(p=4))", 0.8, 0.3},
    {0, "molecules", "normalize(wl(h=2))", 0.7, 0.3},
    {0, "mixed", "normalize(" MIXED ")", 0.8, 0.3},
};
enum { PROBLEMS = sizeof problems / sizeof *problems };

/* Options that a learner cannot do without. */
static const struct {
    const char *learner, *kernel; /* for kernels that hold this text */
    const char *option, *value;
} needed[] = {
    {"cca", "rbf(gamma", "kernel2", "poly(degree=2, c=1)"},
    {"cca", "linear", "kernel2", "rbf(gamma=1)"},
    {"cca", "normalize(spectrum", "kernel2", "spectrum(p=2)"},
    {"cca", "spectrum(p=2)", "kernel2", "spectrum(p=2)"},
    {"cca", "normalize(wl", "kernel2", "shortestpath"},
    {"cca", "molecule", "kernel2", "spectrum(sequence, p=3)"},
};

/* Objects to learn from: few, and so many that solvers work with parts of them. */
enum { FEW = 120, MANY = 900, NEW = 60, LITTLE_MEMORY = 400000 };

/* task: what it is for where a learner does both; 0: as the targets are. */
static mcr_status fit(mcr_model **out, mcr *ctx, const mcr_learner_info *info, mcr_task task,
                      const char *text, const mcr_data *data)
{
    const char *learner = info->name;
    *out = NULL;
    mcr_options *options = NULL;
    mcr_kernel *kernel = NULL;
    mcr_status status = mcr_options_open(&options, ctx, learner);
    for (size_t i = 0; i < sizeof needed / sizeof *needed && status == MCR_OK; i++)
        if (strcmp(needed[i].learner, learner) == 0 && strstr(text, needed[i].kernel))
            status = mcr_options_set(options, needed[i].option, needed[i].value);
    if (status == MCR_OK && info->task == MCR_EITHER && task == MCR_CLASSIFY)
        status = mcr_options_set(options, "task", "classify");
    if (status == MCR_OK)
        status = mcr_kernel_parse(&kernel, ctx, text);
    if (status == MCR_OK)
        status = mcr_fit(out, options, kernel, data, NULL);
    mcr_kernel_free(kernel);
    mcr_options_close(options);
    return status;
}

/* Predictions for the objects of data, and all that the model says of itself in numbers. */
typedef struct answer {
    int64_t outputs, support, classes;
    double *value, *score, *coef, *offset;
    int64_t *number;
} answer;

static void *buffer(int64_t count, size_t size)
{
    void *block = calloc((size_t)count + 1, size);
    assert_non_null(block);
    return block;
}

static answer ask(mcr *ctx, const mcr_model *model, const mcr_data *data)
{
    int64_t n = mcr_data_count(data);
    answer a = {mcr_model_outputs(model),
                mcr_model_support(model),
                mcr_model_classes(model),
                NULL,
                NULL,
                NULL,
                NULL,
                NULL};
    a.value = buffer(n, sizeof *a.value);
    a.score = buffer(n * a.outputs, sizeof *a.score);
    a.coef = buffer(a.outputs * a.support, sizeof *a.coef);
    a.offset = buffer(a.outputs, sizeof *a.offset);
    a.number = buffer(a.support, sizeof *a.number);
    bool predicts = mcr_model_report(model)->task != MCR_TRANSFORM;
    test_ok(ctx, mcr_predict(ctx, model, data, predicts ? a.value : NULL, a.score, NULL));
    for (int64_t o = 0; o < a.outputs; o++)
        test_ok(ctx,
                mcr_model_coefficients(model, o, a.coef + o * a.support, &a.offset[o], a.number));
    return a;
}

static void same_answers(const char *what, const answer *a, const answer *b, int64_t n)
{
    if (a->outputs != b->outputs || a->support != b->support || a->classes != b->classes)
        fail_msg("%s: %lld outputs, %lld support vectors, %lld classes; then %lld, %lld, %lld",
                 what, (long long)a->outputs, (long long)a->support, (long long)a->classes,
                 (long long)b->outputs, (long long)b->support, (long long)b->classes);
    if (memcmp(a->coef, b->coef, sizeof(double) * (size_t)(a->outputs * a->support)) != 0 ||
        memcmp(a->offset, b->offset, sizeof(double) * (size_t)a->outputs) != 0)
        fail_msg("%s: other coefficients", what);
    if (memcmp(a->value, b->value, sizeof(double) * (size_t)n) != 0 ||
        memcmp(a->score, b->score, sizeof(double) * (size_t)(n * a->outputs)) != 0)
        fail_msg("%s: other predictions", what);
}

static void drop(answer *a)
{
    free(a->value);
    free(a->score);
    free(a->coef);
    free(a->offset);
    free(a->number);
}

/* ---- one learner on one problem ---------------------------------------------------------------*/

static void make_data(mcr *ctx, const char *sample, int64_t n, mcr_data **training,
                      mcr_data **others)
{
    mcr_data *all = NULL;
    test_ok(ctx, mcr_data_sample(&all, ctx, sample, n + NEW, -1));
    test_ok(ctx, mcr_data_select(training, all, (mcr_rows){NULL, 0, n}));
    test_ok(ctx, mcr_data_select(others, all, (mcr_rows){NULL, n, NEW}));
    mcr_data_free(all);
}

/* Clusters and the scales of a Gaussian process are local optima, and no more is promised of
 * them. */
static mcr_stop end_of(const char *learner, const mcr_report_fit *r)
{
    bool searched = r->certificate && strstr(r->certificate, "likelihood") != NULL;
    return searched || strcmp(learner, "kmeans") == 0 ? MCR_STOP_LOCAL : MCR_STOP_OPTIMAL;
}

static void expect_certificate(const char *name, const problem *p, int64_t n,
                               const mcr_model *model)
{
    const mcr_report_fit *r = mcr_model_report(model);
    /* A perceptron has no objective to minimise: where mistakes are left, it ends after its
     * passes. */
    bool left = strcmp(name, "perceptron") == 0;
    if (left)
        assert_true(r->value == 0 ? r->stop == MCR_STOP_OPTIMAL : r->stop == MCR_STOP_STEPS);
    else if (r->stop != end_of(name, r) || r->certificate == NULL || !(r->value <= r->tolerance) ||
             !(r->tolerance > 0))
        fail_msg("%s on %s: stops as %s; %s is %g, tolerance %g", name, p->sample,
                 mcr_stop_name(r->stop), r->certificate ? r->certificate : "no certificate",
                 r->value, r->tolerance);
    assert_string_equal(r->learner, name);
    assert_int_equal(r->n, n);
    /* Neighbours minimise nothing. */
    assert_true(r->support > 0 && (isfinite(r->objective) || strcmp(name, "knn") == 0));
    if (r->task == MCR_CLASSIFY && !(r->accuracy >= p->accuracy))
        fail_msg("%s on %s: accuracy %g on the training data", name, p->sample, r->accuracy);
    if (r->task == MCR_REGRESS && !(r->r2 >= p->r2))
        fail_msg("%s on %s: r2 %g on the training data", name, p->sample, r->r2);
}

static bool same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static void save_and_load(mcr *ctx, const char *name, const mcr_model *model,
                          const mcr_data *others, const answer *before)
{
    char folder[256], path[300], what[300];
    mcr_model *loaded = NULL;
    test_make_directory(folder);
    snprintf(path, sizeof path, "%s/model.mercer", folder);
    snprintf(what, sizeof what, "%s, saved and loaded", name);
    test_ok(ctx, mcr_model_save(ctx, model, path));
    test_ok(ctx, mcr_model_load(&loaded, ctx, path));
    answer after = ask(ctx, loaded, others);
    same_answers(what, before, &after, NEW);
    const mcr_report_fit *a = mcr_model_report(model), *b = mcr_model_report(loaded);
    assert_string_equal(a->learner, b->learner);
    assert_string_equal(a->kernel, b->kernel);
    assert_string_equal(a->options, b->options);
    assert_string_equal(a->certificate, b->certificate);
    assert_true(a->value == b->value && a->tolerance == b->tolerance && a->task == b->task &&
                same(a->objective, b->objective) && a->n == b->n && a->classes == b->classes);
    for (int64_t c = 0; c < before->classes; c++)
        assert_string_equal(mcr_model_class_name(model, c), mcr_model_class_name(loaded, c));
    for (int64_t o = 0; o < before->outputs; o++)
        assert_string_equal(mcr_model_output_name(model, o), mcr_model_output_name(loaded, o));
    drop(&after);
    mcr_model_free(loaded);
    test_remove_directory(folder);
}

/* memory: the budget in bytes; 0: the usual one. */
static void learn(const mcr_learner_info *info, const problem *p, int64_t n, size_t memory)
{
    answer first = {0};
    for (int threads = 1; threads <= 2; threads++) {
        mcr *ctx = test_open(threads);
        mcr_data *training = NULL, *others = NULL;
        mcr_model *model = NULL;
        char what[300];
        if (memory > 0)
            ctx->config.memory_bytes = memory;
        snprintf(what, sizeof what, "%s on %s, with 2 threads", info->name, p->sample);
        make_data(ctx, p->sample, n, &training, &others);
        mcr_status status = fit(&model, ctx, info, p->task, p->kernel, training);
        if (status == MCR_OVER_BUDGET && info->dense && memory > 0) {
            test_fails(ctx, status, MCR_OVER_BUDGET, "memory budget");
            mcr_data_free(training);
            mcr_data_free(others);
            test_close(ctx);
            continue;
        }
        if (status != MCR_OK)
            fail_msg("%s on %s: %s\nIf it needs an option, add a line to `needed` in "
                     "tests/conformance/conform_learners.c",
                     info->name, p->sample, mcr_message(ctx));
        expect_certificate(info->name, p, n, model);
        answer now = ask(ctx, model, others);
        if (threads == 1) {
            save_and_load(ctx, info->name, model, others, &now);
            first = now;
        } else {
            same_answers(what, &first, &now, NEW);
            drop(&first);
            drop(&now);
        }
        mcr_model_free(model);
        mcr_data_free(training);
        mcr_data_free(others);
        test_close(ctx);
    }
}

/* ---- memory -----------------------------------------------------------------------------------*/

typedef mcr_status memory_run(mcr *ctx, const mcr_learner_info *info, void *arg);

/* Fails the nth allocation for growing n. Memory for kernel rows is a help, not a need: where one
 * of them fails the run may succeed, but then its result must be as good. */
static void sweep(const char *what, const mcr_learner_info *info, memory_run *run, void *arg)
{
    int64_t failed = 0, total = INT64_MAX;
    for (int64_t n = 1; n <= total; n = test_sweep_next(n)) {
        mcr *ctx = test_open(1);
        int64_t own = test_live_blocks(ctx);
        test_fail_allocation(ctx, n);
        mcr_status status = run(ctx, info, arg);
        if (!test_allocation_failed(ctx))
            total = n;
        if (status != MCR_OK && (status != MCR_NO_MEMORY || n == total))
            fail_msg("%s: %s: allocation %lld failed and the status is \"%s\": %s", info->name,
                     what, (long long)n, mcr_status_name(status), mcr_message(ctx));
        if (status == MCR_NO_MEMORY && mcr_message(ctx)[0] == '\0')
            fail_msg("%s: %s: allocation %lld failed without a message", info->name, what,
                     (long long)n);
        failed += status != MCR_OK;
        if (test_live_blocks(ctx) != own)
            fail_msg("%s: %s: allocation %lld failed and %lld blocks were not freed", info->name,
                     what, (long long)n, (long long)(test_live_blocks(ctx) - own));
        test_close(ctx);
    }
    assert_true(failed > 20);
}

static const char *tiny_sample(const mcr_learner_info *info)
{
    return info->task == MCR_REGRESS || info->task == MCR_EITHER ? "sinc"
           : info->task == MCR_CLASSIFY                          ? "blobs"
                                                                 : "moons";
}

static mcr_status tiny_fit(mcr *ctx, const mcr_learner_info *info, void *arg)
{
    (void)arg;
    mcr_data *data = NULL;
    mcr_model *model = NULL;
    mcr_status status = mcr_data_sample(&data, ctx, tiny_sample(info), 20, -1);
    if (status == MCR_OK)
        status = fit(&model, ctx, info, 0, "rbf(gamma=1)", data);
    if (status == MCR_OK) {
        const mcr_report_fit *r = mcr_model_report(model);
        assert_true(r->stop == end_of(info->name, r) && r->value <= r->tolerance);
    } else {
        assert_null(model);
    }
    mcr_model_free(model);
    mcr_data_free(data);
    return status;
}

typedef struct file {
    char *bytes;
    size_t count;
} file;

static file saved_model(const mcr_learner_info *info)
{
    char folder[256], path[300];
    mcr *ctx = test_open(1);
    mcr_data *data = NULL;
    mcr_model *model = NULL;
    file f = {buffer(1 << 20, 1), 0};
    test_make_directory(folder);
    snprintf(path, sizeof path, "%s/model.mercer", folder);
    test_ok(ctx, mcr_data_sample(&data, ctx, tiny_sample(info), 20, -1));
    test_ok(ctx, fit(&model, ctx, info, 0, "rbf(gamma=1)", data));
    test_ok(ctx, mcr_model_save(ctx, model, path));
    FILE *in = fopen(path, "rb");
    assert_non_null(in);
    f.count = fread(f.bytes, 1, 1 << 20, in);
    fclose(in);
    test_remove_directory(folder);
    mcr_model_free(model);
    mcr_data_free(data);
    test_close(ctx);
    return f;
}

static mcr_status load(mcr *ctx, const mcr_learner_info *info, void *arg)
{
    const file *f = arg;
    mcr_model *model = NULL;
    mcr_data *data = NULL;
    double value[5], score[5 * 16];
    mcr_status status = mcr_model_load_memory(&model, ctx, "saved", f->bytes, f->count);
    assert_true((status == MCR_OK) == (model != NULL));
    if (status == MCR_OK)
        status = mcr_data_sample(&data, ctx, tiny_sample(info), 5, -1);
    if (status == MCR_OK)
        status = info->task == MCR_TRANSFORM ? mcr_transform(ctx, model, data, score)
                                             : mcr_predict(ctx, model, data, value, NULL, NULL);
    mcr_data_free(data);
    mcr_model_free(model);
    return status;
}

/* ---- what a learner stands on -----------------------------------------------------------------*/

/* Whether it cannot run here, because a library that it loads is not there (the only files that
 * training reads); `why` then holds the message. */
static bool cannot_run(const mcr_learner_info *info, char *why, size_t most)
{
    mcr *ctx = test_open(1);
    mcr_data *data = NULL;
    mcr_model *model = NULL;
    test_ok(ctx, mcr_data_sample(&data, ctx, tiny_sample(info), 20, -1));
    mcr_status status = fit(&model, ctx, info, 0, "rbf(gamma=1)", data);
    snprintf(why, most, "%s", mcr_message(ctx));
    mcr_model_free(model);
    mcr_data_free(data);
    test_close(ctx);
    return status == MCR_IO;
}

/* ---- all of them ------------------------------------------------------------------------------*/

static void test_learner(void **state)
{
    const int64_t *number = *state;
    mcr_learner_info info = MCR_INIT(mcr_learner_info);
    assert_int_equal(mcr_learner_describe(*number, &info), MCR_OK);
    assert_true(info.name != NULL && info.summary != NULL && info.summary[0] != '\0');
    char why[512];
    if (cannot_run(&info, why, sizeof why)) {
        printf("# skip: %s\n", why);
        skip();
    }
    int64_t vectors = 0;
    for (int i = 0; i < PROBLEMS; i++) {
        bool both = info.task == MCR_EITHER &&
                    (problems[i].task == MCR_CLASSIFY || problems[i].task == MCR_REGRESS);
        if (problems[i].task != 0 && problems[i].task != info.task && !both)
            continue;
        learn(&info, &problems[i], FEW, 0);
        if (problems[i].task == 0 || vectors++ > 0)
            continue;
        learn(&info, &problems[i], MANY, 0);
        learn(&info, &problems[i], MANY, LITTLE_MEMORY);
    }
    if (vectors == 0)
        fail_msg("%s has a task of its own: add a line to `problems` in "
                 "tests/conformance/conform_learners.c",
                 info.name);
    sweep("fit", &info, tiny_fit, NULL);
    file f = saved_model(&info);
    sweep("load", &info, load, &f);
    free(f.bytes);
}

/* Words that no learner knows, and data that do not suit. */
static void test_refusals(void **state)
{
    (void)state;
    mcr *ctx = test_open(1);
    mcr_options *options = NULL;
    test_fails(ctx, mcr_options_open(&options, ctx, "svn"), MCR_BAD_CALL, "svm");
    assert_null(options);
    for (int64_t i = 0; i < mcr_learner_count(); i++) {
        mcr_learner_info info = MCR_INIT(mcr_learner_info);
        mcr_data *moons = NULL, *none = NULL, *one = NULL;
        mcr_model *model = NULL;
        char why[512];
        assert_int_equal(mcr_learner_describe(i, &info), MCR_OK);
        if (cannot_run(&info, why, sizeof why))
            continue;
        test_ok(ctx, mcr_options_open(&options, ctx, info.name));
        test_fails(ctx, mcr_options_set(options, "nothing-like-this", "1"), MCR_BAD_CALL,
                   "nothing");
        for (const mcr_param *p = info.params; p != NULL && p->name != NULL; p++)
            if (p->type == MCR_REAL || p->type == MCR_INT)
                test_fails(ctx, mcr_options_set(options, p->name, "many"), MCR_BAD_CALL, p->name);
        mcr_options_close(options);
        test_ok(ctx, mcr_data_sample(&moons, ctx, "moons", 20, -1));
        test_ok(ctx, mcr_data_select(&none, moons, (mcr_rows){NULL, 0, 0}));
        mcr_status status = fit(&model, ctx, &info, 0, "linear", none);
        if (status != MCR_BAD_DATA)
            fail_msg("%s without objects: %s", info.name, mcr_status_name(status));
        assert_null(model);
        status = fit(&model, ctx, &info, 0, "spectrum(p=2)", moons);
        if (status != MCR_BAD_DATA && status != MCR_BAD_CALL)
            fail_msg("%s with a kernel on strings for vectors: %s", info.name,
                     mcr_status_name(status));
        assert_null(model);
        /* One class, or one value, is either refused or learnt; it does not crash or hang. */
        int64_t same[20], count = 0;
        for (int64_t j = 0; j < 20; j++)
            if (mcr_data_targets(moons)[j] == mcr_data_targets(moons)[0])
                same[count++] = j;
        test_ok(ctx, mcr_data_select(&one, moons, (mcr_rows){same, 0, count}));
        status = fit(&model, ctx, &info, 0, "rbf(gamma=1)", one);
        if (info.task == MCR_CLASSIFY)
            test_fails(ctx, status, MCR_BAD_DATA, "class");
        else
            test_ok(ctx, status);
        mcr_model_free(model);
        mcr_data_free(one);
        mcr_data_free(none);
        mcr_data_free(moons);
    }
    mcr_learner_info info = MCR_INIT(mcr_learner_info);
    assert_int_not_equal(mcr_learner_describe(mcr_learner_count(), &info), MCR_OK);
    assert_int_not_equal(mcr_learner_describe(-1, &info), MCR_OK);
    test_close(ctx);
}

int main(void)
{
    enum { MOST = 100 };
    static int64_t number[MOST];
    static struct CMUnitTest tests[MOST + 1];
    int64_t count = mcr_learner_count();
    for (int64_t i = 0; i < count && i < MOST; i++) {
        mcr_learner_info info = {.size = sizeof info, .name = "?"};
        (void)mcr_learner_describe(i, &info);
        number[i] = i;
        tests[i] = (struct CMUnitTest){info.name, test_learner, NULL, NULL, &number[i]};
    }
    tests[count] = (struct CMUnitTest)cmocka_unit_test(test_refusals);
    if (getenv("CONFORM_ONLY") != NULL)
        cmocka_set_test_filter(getenv("CONFORM_ONLY"));
    return _cmocka_run_group_tests("learners", tests, (size_t)count + 1, NULL, NULL);
}
