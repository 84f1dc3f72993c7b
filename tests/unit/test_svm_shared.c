/* One class against the rest on a K that all problems share: memory, threads, stopping, exactness.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "svm_helpers.h"

static mcr *open_with(int threads, size_t memory)
{
    mcr *ctx = NULL;
    mcr_config config = {.size = sizeof config, .threads = threads, .memory_bytes = memory};
    assert_int_equal(mcr_open(&ctx, &config), MCR_OK);
    return ctx;
}

/* All coefficients, offsets and slopes of a model; *size: bytes. */
static double *all_of(mcr *ctx, const mcr_model *model, size_t *size)
{
    size_t support = (size_t)mcr_model_support(model), outputs = (size_t)mcr_model_outputs(model);
    double *all = calloc(outputs, (support + 1) * sizeof *all);
    for (size_t o = 0; o < outputs; o++)
        test_ok(ctx, mcr_model_coefficients(model, (int64_t)o, all + o * (support + 1),
                                            &all[o * (support + 1) + support], NULL));
    *size = outputs * (support + 1) * sizeof *all;
    return all;
}

/* Coefficients so large that each problem goes on in double, with space for a few of them: no
 * number of threads makes it fail, or changes a bit. */
static void test_short_budget(void **state)
{
    enum { OBJECTS = 400, CLASSES = 6 };
    static const double share[] = {25, 40, 70, 400}; /* times n^2: bytes */
    (void)state;
    for (size_t m = 0; m < sizeof share / sizeof *share; m++) {
        double *kept = NULL;
        size_t size = 0, more;
        for (int threads = 1; threads <= 8; threads += threads < 3 ? 1 : 5) {
            mcr *ctx = open_with(threads, (size_t)(share[m] * OBJECTS * OBJECTS));
            problem p = problem_classes(ctx, OBJECTS, 4, CLASSES, 0.3, false, false, 1);
            mcr_model *model = NULL;
            mcr_status s = fit_from(&model, ctx, "svm", "C=1000 multiclass=ovr", "rbf(gamma=0.4)",
                                    p.data, NULL);
            if (s)
                fail_msg("%g n^2 bytes, %d threads: %s", share[m], threads, mcr_message(ctx));
            assert_int_equal(mcr_model_report(model)->stop, MCR_STOP_OPTIMAL);
            double *all = all_of(ctx, model, &more);
            if (kept && (more != size || memcmp(kept, all, size) != 0))
                fail_msg("%g n^2 bytes: 1 and %d threads give other coefficients", share[m],
                         threads);
            free(kept);
            kept = all;
            size = more;
            mcr_model_free(model);
            problem_free(&p);
            mcr_close(ctx);
        }
        free(kept);
    }
}

/* Few problems with probabilities are solved in turn if there are more threads than problems. */
static void test_probabilities(void **state)
{
    enum { OBJECTS = 150 };
    double *kept = NULL;
    (void)state;
    for (int threads = 1; threads <= 4; threads++) {
        mcr *ctx = open_with(threads, 0);
        problem p = problem_classes(ctx, OBJECTS, 4, 3, 0.1, false, false, 1);
        mcr_model *model = fit(ctx, "svm", "C=10 multiclass=ovr probability=yes", "rbf(gamma=0.4)",
                               p.data);
        double *proba = calloc(OBJECTS, 3 * sizeof *proba);
        test_ok(ctx, mcr_predict(ctx, model, p.data, NULL, NULL, proba));
        if (kept)
            assert_memory_equal(proba, kept, OBJECTS * 3 * sizeof *proba);
        free(kept);
        kept = proba;
        mcr_model_free(model);
        problem_free(&p);
        mcr_close(ctx);
    }
    free(kept);
}

/* ---- exactness --------------------------------------------------------------------------------*/

/* The objective is that of problems of two classes, trained one by one, and that of the
 * coefficients. */
static void test_objective(void **state)
{
    enum { OBJECTS = 500, CLASSES = 4 };
    static const char *const kernel = "rbf(gamma=0.4)";
    mcr *ctx = *state;
    problem p = problem_classes(ctx, OBJECTS, 4, CLASSES, 0.2, false, false, 2);
    mcr_model *shared = fit(ctx, "svm", "C=100 multiclass=ovr", kernel, p.data);
    double sum = 0, obvious = 0;
    for (int c = 0; c < CLASSES; c++) {
        problem two = problem_points(OBJECTS, 4, 0, 2);
        for (int64_t i = 0; i < OBJECTS; i++)
            two.y[i] = p.y[i] == c ? 1 : -1;
        problem_build(&two, ctx, false);
        mcr_model *alone = fit(ctx, "svm", "C=100", kernel, two.data);
        sum += mcr_model_report(alone)->objective;
        solution s = solution_of(ctx, shared, c, kernel, p.data);
        obvious += 0.5 * square_of(&s);
        for (int64_t i = 0; i < OBJECTS; i++)
            obvious -= s.b[i] * two.y[i];
        solution_free(&s);
        mcr_model_free(alone);
        problem_free(&two);
    }
    double objective = mcr_model_report(shared)->objective;
    test_close_real("one by one", objective / sum, 1, 1e-6);
    test_close_real("from the coefficients", objective / obvious, 1, 1e-8);
    mcr_model_free(shared);
    problem_free(&p);
}

/* ---- stopping ---------------------------------------------------------------------------------*/

/* Long strings of three kinds, whose kernel values take a while. */
static mcr_data *strings(mcr *ctx)
{
    enum { COUNT = 120, LENGTH = 120 };
    mcr_random r = mcr_random_stream(1, "strings", 0);
    int64_t start[COUNT + 1] = {0};
    double y[COUNT];
    char *text = calloc(COUNT, LENGTH);
    for (int64_t i = 0; i < COUNT; i++) {
        start[i + 1] = start[i] + LENGTH;
        y[i] = (double)(i % 3);
        for (int64_t t = 0; t < LENGTH; t++)
            text[start[i] + t] = "acgt"[mcr_random_below(&r, 2 + i % 3)];
    }
    mcr_builder *b;
    mcr_data *data;
    test_ok(ctx, mcr_builder_open(&b, ctx, COUNT));
    test_ok(ctx, mcr_builder_strings(b, "s", start, text));
    test_ok(ctx, mcr_builder_targets(b, y));
    test_ok(ctx, mcr_builder_finish(&data, b));
    free(text);
    return data;
}

typedef struct watch {
    int stop;  /* when K is being computed */
    int calls; /* then and in training */
} watch;

static int look(void *user, const mcr_progress *now)
{
    watch *w = user;
    bool gram = strcmp(now->phase, "gram") == 0;
    w->calls += gram || (w->calls > 0 && strcmp(now->phase, "svm") == 0);
    return w->stop && gram;
}

static void test_stopped(void **state)
{
    static const char *const options[] = {"C=1 multiclass=ovr",
                                          "C=1 multiclass=ovr time-limit=0.001",
                                          "C=1 multiclass=ovr probability=yes"};
    (void)state;
    for (int t = 0; t < 3; t++) {
        watch w = {.stop = t != 1};
        mcr_config config = {.size = sizeof config, .threads = 1, .progress = look, .user = &w};
        mcr *ctx = NULL;
        assert_int_equal(mcr_open(&ctx, &config), MCR_OK);
        mcr_data *data = strings(ctx);
        mcr_model *model = NULL; /* no problem was begun: there is nothing to keep */
        test_fails(ctx, fit_from(&model, ctx, "svm", options[t], "normalize(ssk(p=8))", data, NULL),
                   MCR_STOPPED, t == 1 ? "before there was a model" : "interrupted");
        assert_null(model);
        if (w.stop) /* asked once, then no more */
            assert_int_equal(w.calls, 1);
        mcr_data_free(data);
        mcr_close(ctx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_short_budget),
        cmocka_unit_test(test_probabilities),
        cmocka_unit_test_setup_teardown(test_objective, test_setup, test_teardown),
        cmocka_unit_test(test_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
