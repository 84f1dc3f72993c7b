/* test_svm_runs.c: how training runs: hard margins, several classes, probabilities, warm starts,
 * threads, memory, limits, and what is refused.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "svm_helpers.h"

static double objective_of(const mcr_model *model)
{
    return mcr_model_report(model)->objective;
}

/* ---- hard margin ------------------------------------------------------------------------------*/

static void test_xor(void **state)
{
    mcr *ctx = *state;
    static const char *const kernel = "poly(degree=2,c=0)";
    static const char *const options[] = {"C=inf tol=1e-8", "C=inf tol=1e-8 bias=no"};
    mcr_data *data;
    test_ok(ctx, mcr_data_sample(&data, ctx, "xor", 4, -1));
    for (int o = 0; o < 2; o++) {
        mcr_model *model = fit(ctx, "svm", options[o], kernel, data);
        solution s = solution_of(ctx, model, 0, kernel, data);
        double w[3] = {0, 0, 0}, x[2];
        for (int64_t i = 0; i < 4; i++) {
            test_ok(ctx, mcr_data_vector(data, 0, i, x));
            w[0] += s.b[i] * x[0] * x[0];
            w[1] += s.b[i] * sqrt(2) * x[0] * x[1];
            w[2] += s.b[i] * x[1] * x[1];
        }
        /* The margin 1 is at h = (1, -sqrt 2, 1) and its mirror image. */
        test_close_arrays("weights", w, (double[]){0, -1 / sqrt(2), 0}, 3, 1e-6);
        test_close_real("bias", s.bias, 0, 1e-6);
        test_close_real("objective", objective_of(model), -0.25, 1e-6);
        test_close_real("accuracy", mcr_model_report(model)->accuracy, 1, 0);
        assert_true(mcr_model_report(model)->value <= mcr_model_report(model)->tolerance);
        solution_free(&s);
        mcr_model_free(model);
    }
    mcr_data_free(data);
}

/* Two classes with a gap between them: y is the sign of x1 + x2, and nothing is nearer to 0 than
 * `gap`. */
static problem problem_separable(mcr *ctx, int64_t n, int64_t d, double gap, uint64_t seed)
{
    problem p = problem_points(n, d, 0, seed);
    for (int64_t i = 0; i < n; i++) {
        double *x = p.x + i * d, v = x[0] + x[1];
        p.y[i] = v > 0 ? 1 : -1;
        x[0] += p.y[i] * gap;
    }
    problem_build(&p, ctx, false);
    return p;
}

static void test_hard_margin_is_the_limit_of_soft_ones(void **state)
{
    mcr *ctx = *state;
    static const char *const kernel[] = {"linear", "rbf(gamma=0.5)", "poly(degree=2,c=1)"};
    for (int k = 0; k < 3; k++)
        for (int bias = 0; bias < 2; bias++) {
            problem p = problem_separable(ctx, 60, 3, 0.3, (uint64_t)(7 * k + bias));
            mcr_model *hard = fit(ctx, "svm", bias ? "C=inf tol=1e-6" : "C=inf tol=1e-6 bias=no",
                                  kernel[k], p.data);
            mcr_model *soft = fit(ctx, "svm", bias ? "C=1e5 tol=1e-6" : "C=1e5 tol=1e-6 bias=no",
                                  kernel[k], p.data);
            const mcr_report_fit *r = mcr_model_report(hard);
            test_close_real("objective", r->objective / objective_of(soft), 1, 1e-5);
            test_close_real("gap", r->gap / r->primal, 0, 1e-4);
            assert_int_equal(r->stop, MCR_STOP_OPTIMAL);
            assert_true(r->value <= r->tolerance);
            solution s = solution_of(ctx, hard, 0, kernel[k], p.data);
            double worst = INFINITY;
            for (int64_t i = 0; i < p.n; i++)
                worst = fmin(worst, p.y[i] * (s.g[i] + s.bias));
            test_close_real("smallest margin", worst, 1, 1e-5);
            solution_free(&s);
            mcr_model_free(hard);
            mcr_model_free(soft);
            problem_free(&p);
        }
}

static void test_not_separable(void **state)
{
    mcr *ctx = *state;
    static const char *const options[] = {"C=inf", "C=inf bias=no"};
    for (uint64_t seed = 1; seed <= 6; seed++)
        for (int o = 0; o < 2; o++) {
            mcr_model *model = NULL;
            problem p = problem_classes(ctx, 30 + 40 * (int64_t)seed, 2, 2, 0.2, false, false,
                                        seed);
            test_fails(ctx, fit_from(&model, ctx, "svm", options[o], "linear", p.data, NULL),
                       MCR_NUMERIC, "not separable");
            assert_null(model);
            problem_free(&p);
        }
    mcr_data *blobs;
    mcr_model *model = NULL;
    test_ok(ctx, mcr_data_sample(&blobs, ctx, "blobs", 150, 1.5));
    test_fails(ctx, fit_from(&model, ctx, "svm", "C=inf", "linear", blobs, NULL), MCR_NUMERIC,
               "not separable");
    mcr_data_free(blobs);
}

/* What was stopped early must not be called impossible. */
static void test_hard_margin_stopped_early(void **state)
{
    mcr *ctx = *state;
    problem p = problem_separable(ctx, 200, 3, 0.05, 3);
    for (int steps = 1; steps < 200; steps *= 3) {
        char options[64];
        mcr_model *model = NULL;
        snprintf(options, sizeof options, "C=inf tol=1e-9 max-steps=%d", steps);
        mcr_status status = fit_from(&model, ctx, "svm", options, "linear", p.data, NULL);
        if (status == MCR_OK)
            assert_int_equal(mcr_model_report(model)->stop, MCR_STOP_STEPS);
        else if (strstr(mcr_message(ctx), "not separable"))
            fail_msg("after %d steps it claims: %s", steps, mcr_message(ctx));
        mcr_model_free(model);
    }
    problem_free(&p);
}

/* ---- several classes --------------------------------------------------------------------------*/

/* The votes of the pairs, or the largest value, by the obvious rule. */
static int64_t decide(const double *score, int64_t classes, bool rest)
{
    int64_t votes[16] = {0}, best = 0, o = 0;
    if (rest) {
        for (int64_t c = 1; c < classes; c++)
            best = score[c] > score[best] ? c : best;
        return best;
    }
    for (int64_t a = 0; a < classes; a++)
        for (int64_t b = a + 1; b < classes; b++, o++)
            votes[score[o] > 0 ? a : b]++;
    for (int64_t c = 1; c < classes; c++)
        best = votes[c] > votes[best] ? c : best;
    return best;
}

static void check_outputs(mcr *ctx, const mcr_model *model, const problem *p, const char *kernel,
                          bool rest)
{
    int64_t k = mcr_model_classes(model), outputs = mcr_model_outputs(model), right = 0;
    double *score = calloc((size_t)(p->n * outputs), sizeof *score);
    double *value = calloc((size_t)p->n, sizeof *value);
    assert_int_equal(outputs, rest ? k : k * (k - 1) / 2);
    test_ok(ctx, mcr_predict(ctx, model, p->data, value, score, NULL));
    for (int64_t o = 0; o < outputs; o++) {
        solution s = solution_of(ctx, model, o, kernel, p->data);
        for (int64_t i = 0; i < p->n; i++)
            test_close_real("score", score[i * outputs + o], s.g[i] + s.bias, 1e-9);
        solution_free(&s);
    }
    for (int64_t i = 0; i < p->n; i++) {
        assert_true(value[i] == (double)decide(score + i * outputs, k, rest));
        right += value[i] == (double)mcr_data_class_of(p->data)[i];
    }
    test_close_real("accuracy", mcr_model_report(model)->accuracy, (double)right / (double)p->n,
                    1e-12);
    free(score);
    free(value);
}

/* Each pair's part of the model is the model of the pair. */
static void check_pairs(mcr *ctx, const mcr_model *model, const problem *p, const char *kernel)
{
    int64_t k = mcr_model_classes(model), o = 0, *row = calloc((size_t)p->n, sizeof *row);
    double sum = 0;
    for (int64_t a = 0; a < k; a++)
        for (int64_t b = a + 1; b < k; b++, o++) {
            int64_t count = 0;
            for (int64_t i = 0; i < p->n; i++)
                if (p->y[i] == (double)a || p->y[i] == (double)b)
                    row[count++] = i;
            mcr_data *pair;
            test_ok(ctx, mcr_data_select(&pair, p->data, (mcr_rows){row, 0, count}));
            problem q = {count, p->d, calloc(1, 1), calloc((size_t)count, sizeof(double)),
                         NULL,  NULL};
            mcr_builder *builder;
            double *x = calloc((size_t)(count * p->d), sizeof *x);
            for (int64_t i = 0; i < count; i++) {
                memcpy(x + i * p->d, p->x + row[i] * p->d, sizeof *x * (size_t)p->d);
                q.y[i] = p->y[row[i]];
            }
            test_ok(ctx, mcr_builder_open(&builder, ctx, count));
            test_ok(ctx, mcr_builder_dense(builder, "x", x, p->d, p->d));
            test_ok(ctx, mcr_builder_targets(builder, q.y));
            test_ok(ctx, mcr_builder_finish(&q.data, builder));
            mcr_model *alone = fit(ctx, "svm", "C=2 tol=1e-7", kernel, q.data);
            solution s = solution_of(ctx, alone, 0, kernel, q.data);
            solution t = solution_of(ctx, model, o, kernel, p->data);
            for (int64_t i = 0; i < count; i++) /* alone: positive is the higher class */
                test_close_real("pair", t.g[row[i]] + t.bias, -(s.g[i] + s.bias), 1e-4);
            sum += objective_of(alone);
            solution_free(&s);
            solution_free(&t);
            mcr_model_free(alone);
            mcr_data_free(pair);
            free(x);
            problem_free(&q);
        }
    test_close_real("objective", objective_of(model) / sum, 1, 1e-6);
    free(row);
}

static void test_several_classes(void **state)
{
    mcr *ctx = *state;
    problem p = problem_classes(ctx, 150, 3, 4, 0.1, false, false, 21);
    for (int rest = 0; rest < 2; rest++) {
        mcr_model *model = fit(ctx, "svm", rest ? "C=2 tol=1e-7 multiclass=ovr" : "C=2 tol=1e-7",
                               "rbf(gamma=0.5)", p.data);
        check_outputs(ctx, model, &p, "rbf(gamma=0.5)", rest);
        if (!rest)
            check_pairs(ctx, model, &p, "rbf(gamma=0.5)");
        assert_true(mcr_model_report(model)->accuracy > 0.7);
        mcr_model_free(model);
    }
    problem_free(&p);
}

/* ---- probabilities ----------------------------------------------------------------------------*/

static void check_probabilities(mcr *ctx, const char *learner, const char *options, int classes,
                                uint64_t seed)
{
    problem p = problem_classes(ctx, 120, 3, classes, 0.25, seed % 2, false, seed);
    problem new = problem_classes(ctx, 300, 3, classes, 0.25, false, false, seed + 100);
    mcr_model *a = fit(ctx, learner, options, "rbf(gamma=0.7)", p.data);
    mcr_model *b = fit(ctx, learner, options, "rbf(gamma=0.7)", p.data);
    size_t n = (size_t) new.n, k = (size_t)classes;
    double *value = calloc(n, sizeof *value), *alone = calloc(n, sizeof *alone);
    double *proba = calloc(n * k, sizeof *proba), *again = calloc(n * k, sizeof *again);
    assert_true(mcr_model_has_probability(a));
    test_ok(ctx, mcr_predict(ctx, a, new.data, value, NULL, proba));
    test_ok(ctx, mcr_predict(ctx, a, new.data, alone, NULL, NULL));
    test_ok(ctx, mcr_predict(ctx, b, new.data, NULL, NULL, again));
    assert_memory_equal(proba, again, n * k * sizeof *proba);
    assert_memory_equal(value, alone, n * sizeof *value);
    double likelihood = 0;
    for (size_t i = 0; i < n; i++) {
        double sum = 0, most = 0;
        for (size_t c = 0; c < k; c++) {
            assert_true(proba[i * k + c] >= 0 && proba[i * k + c] <= 1);
            sum += proba[i * k + c];
            most = fmax(most, proba[i * k + c]);
        }
        test_close_real("sum of probabilities", sum, 1, 1e-9);
        assert_in_range((int64_t)value[i], 0, classes - 1);
        if (proba[i * k + (size_t)value[i]] < most)
            fail_msg("object %zu: class %g has probability %g, another has %g", i, value[i],
                     proba[i * k + (size_t)value[i]], most);
        likelihood += log(proba[i * k + (size_t)mcr_data_class_of(new.data)[i]]) / (double)n;
    }
    if (likelihood < log(1.0 / classes)) /* no better than saying nothing */
        fail_msg("mean log likelihood %g for %d classes", likelihood, classes);
    free(value);
    free(alone);
    free(proba);
    free(again);
    mcr_model_free(a);
    mcr_model_free(b);
    problem_free(&p);
    problem_free(&new);
}

static void test_probabilities(void **state)
{
    for (uint64_t seed = 1; seed <= 3; seed++)
        for (int classes = 2; classes <= 5; classes++) {
            check_probabilities(*state, "svm", "probability=yes", classes, seed);
            check_probabilities(*state, "svm", "probability=yes multiclass=ovr C=10", classes,
                                seed);
            check_probabilities(*state, "nu-svm", "probability=yes nu=0.2", classes, seed);
        }
}

static void test_no_probabilities(void **state)
{
    mcr *ctx = *state;
    problem p = problem_classes(ctx, 40, 2, 2, 0.1, false, false, 2);
    mcr_model *model = fit(ctx, "svm", "C=1", "linear", p.data);
    double proba[80];
    assert_false(mcr_model_has_probability(model));
    test_fails(ctx, mcr_predict(ctx, model, p.data, NULL, NULL, proba), MCR_BAD_CALL,
               "option probability");
    mcr_model_free(model);
    problem_free(&p);
}

/* ---- warm starts, threads, memory -------------------------------------------------------------*/

static void test_warm_starts(void **state)
{
    mcr *ctx = *state;
    static const struct {
        const char *learner, *first, *second;
        int classes;
    } list[] = {
        {"svm", "C=1 tol=1e-6", "C=3 tol=1e-6", 2},
        {"svm", "C=50 tol=1e-6", "C=0.5 tol=1e-6", 2},
        {"svm", "C=50 tol=1e-6 bias=no", "C=0.5 tol=1e-6 bias=no", 2},
        {"svm", "C=1 tol=1e-6", "C=3 tol=1e-6 class-weight=1=2", 4},
        {"svm", "C=5 tol=1e-6 multiclass=ovr", "C=2 tol=1e-6 multiclass=ovr", 3},
        {"svm", "C=1 tol=1e-6", "C=inf tol=1e-6", 2},
        {"nu-svm", "nu=0.2 tol=1e-6", "nu=0.15 tol=1e-6", 2},
        {"one-class", "nu=0.2 tol=1e-6", "nu=0.33 tol=1e-6", 2},
        {"svr", "C=1 tol=1e-6", "C=4 epsilon=0.2 tol=1e-6", 0},
        {"svr", "C=9 tol=1e-6", "C=1 epsilon=0 tol=1e-6", 0},
        {"svr", "C=9 tol=1e-6 bias=no", "C=1 tol=1e-6 bias=no", 0},
        {"nu-svr", "C=1 nu=0.3 tol=1e-6", "C=2 nu=0.4 tol=1e-6", 0},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        const char *kernel = strstr(list[i].second, "inf") ? "rbf(gamma=40)" : "rbf(gamma=0.6)";
        bool weights = i % 2, numbers = list[i].classes == 0;
        problem p = numbers ? problem_numbers(ctx, 90, 2, 0.3, weights, i)
                            : problem_classes(ctx, 90, 3, list[i].classes, 0.1, weights, false, i);
        mcr_model *first = fit(ctx, list[i].learner, list[i].first, kernel, p.data), *warm = NULL;
        mcr_model *cold = fit(ctx, list[i].learner, list[i].second, kernel, p.data);
        test_ok(ctx, fit_from(&warm, ctx, list[i].learner, list[i].second, kernel, p.data, first));
        test_close_real(list[i].second, objective_of(warm) / objective_of(cold), 1, 2e-6);
        assert_int_equal(mcr_model_report(warm)->stop, MCR_STOP_OPTIMAL);
        mcr_model_free(warm);
        /* From the solution itself nothing is left to do. */
        test_ok(ctx, fit_from(&warm, ctx, list[i].learner, list[i].second, kernel, p.data, cold));
        test_close_real(list[i].second, objective_of(warm) / objective_of(cold), 1, 2e-6);
        mcr_model_free(warm);
        mcr_model_free(first);
        mcr_model_free(cold);
        problem_free(&p);
    }
}

static void test_warm_starts_save_work(void **state)
{
    mcr *ctx = *state;
    problem p = {0};
    mcr_model *cold = NULL, *warm = NULL;
    for (int classes = 5; classes >= 2; classes -= 3) { /* pairs, and one problem */
        mcr_model_free(cold);
        problem_free(&p);
        p = problem_classes(ctx, 300, 3, classes, 0.15, false, false, 8);
        cold = fit(ctx, "svm", "C=100 tol=1e-5", "rbf(gamma=0.6)", p.data);
        test_ok(ctx, fit_from(&warm, ctx, "svm", "C=100 tol=1e-5", "rbf(gamma=0.6)", p.data, cold));
        int64_t steps = mcr_model_report(warm)->iterations,
                all = mcr_model_report(cold)->iterations;
        if (steps * 10 > all)
            fail_msg("%d classes: %lld steps from the solution, %lld from nothing", classes,
                     (long long)steps, (long long)all);
        mcr_model_free(warm);
    }
    problem other = problem_classes(ctx, 50, 3, 2, 0.15, false, false, 8);
    warm = NULL;
    test_fails(ctx, fit_from(&warm, ctx, "svm", "C=1", "rbf(gamma=0.6)", other.data, cold),
               MCR_BAD_CALL, "300 objects");
    test_fails(ctx, fit_from(&warm, ctx, "nu-svm", "nu=0.1", "rbf(gamma=0.6)", p.data, cold),
               MCR_BAD_CALL, "the learner must be the same");
    mcr_model_free(cold);
    problem_free(&p);
    problem_free(&other);
}

static void test_threads_do_not_matter(void **state)
{
    (void)state;
    static const struct {
        const char *learner, *options;
        int64_t n;
        int classes;
        size_t memory;
    } list[] = {
        {"svm", "C=2", 400, 2, 0},         {"svm", "C=2 bias=no", 2600, 2, 0},
        {"svm", "C=2", 600, 2, 300 << 10}, {"svm", "C=2 probability=yes", 200, 4, 0},
        {"svm", "C=2", 800, 7, 0},         {"svm", "C=2 multiclass=ovr", 300, 5, 0},
        {"nu-svm", "nu=0.1", 300, 3, 0},   {"svr", "C=2", 500, 0, 0},
        {"nu-svr", "C=2", 1300, 0, 0},     {"one-class", "nu=0.1", 2500, 2, 0},
    };
    for (size_t t = 0; t < sizeof list / sizeof *list; t++) {
        double *kept = NULL;
        size_t size = 0;
        for (int threads = 1; threads <= 3; threads++) {
            mcr_config config = {
                .size = sizeof config, .threads = threads, .memory_bytes = list[t].memory};
            mcr *ctx;
            assert_int_equal(mcr_open(&ctx, &config), MCR_OK);
            problem p = list[t].classes ? problem_classes(ctx, list[t].n, 4, list[t].classes, 0.1,
                                                          false, false, t)
                                        : problem_numbers(ctx, list[t].n, 4, 0.3, false, t);
            mcr_model *model = fit(ctx, list[t].learner, list[t].options, "rbf(gamma=0.4)", p.data);
            size_t support = (size_t)mcr_model_support(model);
            size_t outputs = (size_t)mcr_model_outputs(model), count = outputs * (support + 1);
            double *all = calloc(count, sizeof *all);
            for (size_t o = 0; o < outputs; o++)
                test_ok(ctx, mcr_model_coefficients(model, (int64_t)o, all + o * (support + 1),
                                                    &all[o * (support + 1) + support], NULL));
            if (!kept) {
                kept = all;
                size = count;
            } else {
                if (count != size || memcmp(kept, all, size * sizeof *all) != 0)
                    fail_msg("%s %s: 1 and %d threads give other coefficients", list[t].learner,
                             list[t].options, threads);
                free(all);
            }
            mcr_model_free(model);
            problem_free(&p);
            mcr_close(ctx);
        }
        free(kept);
    }
}

static void test_little_memory(void **state)
{
    mcr *ctx = *state;
    static const char *const learner[] = {"svm", "nu-svm", "one-class", "svr", "nu-svr"};
    for (int l = 0; l < 5; l++)
        for (size_t memory = 1 << 10; memory <= 4 << 20; memory *= 8) {
            mcr_config config = {.size = sizeof config, .threads = 2, .memory_bytes = memory};
            mcr *small;
            mcr_model *a, *b = NULL;
            assert_int_equal(mcr_open(&small, &config), MCR_OK);
            problem p = problem_classes(ctx, 700, 4, 2, 0.1, false, false, 4);
            problem q = problem_classes(small, 700, 4, 2, 0.1, false, false, 4);
            a = fit(ctx, learner[l], "tol=1e-6", "rbf(gamma=0.4)", p.data);
            mcr_status status = fit_from(&b, small, learner[l], "tol=1e-6", "rbf(gamma=0.4)",
                                         q.data, NULL);
            if (status == MCR_OVER_BUDGET && memory < 128 << 10)
                assert_non_null(strstr(mcr_message(small), "memory"));
            else
                test_ok(small, status);
            if (b)
                test_close_real(learner[l], objective_of(b) / objective_of(a), 1, 2e-6);
            mcr_model_free(a);
            mcr_model_free(b);
            problem_free(&p);
            problem_free(&q);
            mcr_close(small);
        }
}

/* A working set that grows with the free coefficients ends where small ones do, with a bias and
 * without (then it has a null object behind its members). */
static void test_growing_set(void **state)
{
    mcr *ctx = *state, *small;
    mcr_config config = {.size = sizeof config, .threads = 2, .memory_bytes = 3 << 20};
    assert_int_equal(mcr_open(&small, &config), MCR_OK);
    static const char *const options[] = {"C=10 epsilon=0.2 tol=1e-5",
                                          "C=10 epsilon=0.2 tol=1e-5 bias=no"};
    problem p = problem_numbers(ctx, 2600, 6, 0.3, false, 9);
    problem q = problem_numbers(small, 2600, 6, 0.3, false, 9);
    for (int o = 0; o < 2; o++) {
        mcr_model *a = fit(ctx, "svr", options[o], "rbf(gamma=0.8)", p.data);
        mcr_model *b = fit(small, "svr", options[o], "rbf(gamma=0.8)", q.data);
        solution s = solution_of(ctx, a, 0, "rbf(gamma=0.8)", p.data);
        int64_t is_free = 0;
        for (int64_t i = 0; i < p.n; i++)
            is_free += s.b[i] != 0 && fabs(s.b[i]) < 10;
        assert_true(is_free > 1000); /* it begins with 512 members */
        test_close_real(options[o], objective_of(b) / objective_of(a), 1, 1e-6);
        solution_free(&s);
        mcr_model_free(a);
        mcr_model_free(b);
    }
    problem_free(&p);
    problem_free(&q);
    mcr_close(small);
}

/* ---- limits -----------------------------------------------------------------------------------*/

/* Feasible, and its certificate tells the violation as it is. */
static void check_stopped(mcr *ctx, const mcr_model *model, const problem *p, mcr_stop stop)
{
    const mcr_report_fit *r = mcr_model_report(model);
    size_t n = (size_t)p->n;
    solution s = solution_of(ctx, model, 0, "rbf(gamma=0.6)", p->data);
    double *lo = calloc(n, sizeof *lo), *hi = calloc(n, sizeof *hi), *value = calloc(n, sizeof *hi);
    assert_int_equal(r->stop, stop);
    for (int64_t i = 0; i < p->n; i++)
        *(p->y[i] > 0 ? &hi[i] : &lo[i]) = p->y[i] * 1000;
    check_feasible(&s, lo, hi, 0, true);
    double kkt = violation_of(&s, p->y, lo, hi, 0, true, NULL, 0);
    test_close_real("certificate", r->value / fmax(1, kkt), kkt / fmax(1, kkt), 1e-3);
    assert_true(r->value > r->tolerance);
    assert_true(isfinite(r->primal) && isfinite(r->dual) && r->gap >= 0);
    test_ok(ctx, mcr_predict(ctx, model, p->data, value, NULL, NULL));
    free(lo);
    free(hi);
    free(value);
    solution_free(&s);
}

/* As check_stopped, or done: a fast machine needs less than the limit, or than the time between two
 * reports. cli/test_limits.py has a clock of its own. */
static void check_ended(mcr *ctx, const mcr_model *model, const problem *p, mcr_stop stop)
{
    if (mcr_model_report(model)->stop == MCR_STOP_OPTIMAL)
        assert_true(mcr_model_report(model)->value <= 1e-7);
    else
        check_stopped(ctx, model, p, stop);
}

static int stop_at_once(void *user, const mcr_progress *now)
{
    if (strcmp(now->phase, "svm") != 0)
        return 0;
    ++*(int *)user;
    return 1;
}

static void test_limits(void **state)
{
    (void)state;
    static const struct {
        int64_t n;
        size_t memory;
    } list[] = {{3000, 0}, {1500, 600 << 10}, {6000, 0}};
    for (size_t t = 0; t < 3; t++) {
        int calls = 0;
        mcr_config config = {.size = sizeof config,
                             .threads = 2,
                             .memory_bytes = list[t].memory,
                             .progress = stop_at_once,
                             .user = &calls};
        mcr *ctx;
        assert_int_equal(mcr_open(&ctx, &config), MCR_OK);
        problem p = problem_classes(ctx, list[t].n, 3, 2, 0.2, false, false, 5);
        static const char *const kernel = "rbf(gamma=0.6)";
        mcr_model *model = fit(ctx, "svm", "C=1000 tol=1e-7", kernel, p.data);
        check_ended(ctx, model, &p, MCR_STOP_INTERRUPTED);
        mcr_model_free(model);
        problem_free(&p);
        mcr_close(ctx);

        config.progress = NULL;
        assert_int_equal(mcr_open(&ctx, &config), MCR_OK);
        p = problem_classes(ctx, list[t].n, 3, 2, 0.2, false, false, 5);
        model = fit(ctx, "svm", "C=1000 tol=1e-7 time-limit=0.01", kernel, p.data);
        check_ended(ctx, model, &p, MCR_STOP_TIME);
        mcr_model_free(model);
        double before = INFINITY;
        for (int steps = 10; steps <= 1000; steps *= 10) {
            char options[64];
            snprintf(options, sizeof options, "C=1000 tol=1e-7 max-steps=%d", steps);
            model = fit(ctx, "svm", options, kernel, p.data);
            check_stopped(ctx, model, &p, MCR_STOP_STEPS);
            assert_true(mcr_model_report(model)->iterations <= steps);
            assert_true(objective_of(model) < before); /* more steps, a better model */
            before = objective_of(model);
            mcr_model_free(model);
        }
        problem_free(&p);
        mcr_close(ctx);
    }
}

static void test_interrupted_classes(void **state)
{
    (void)state;
    int calls = 0;
    mcr_config config = {
        .size = sizeof config, .threads = 2, .progress = stop_at_once, .user = &calls};
    mcr *ctx;
    assert_int_equal(mcr_open(&ctx, &config), MCR_OK);
    problem p = problem_classes(ctx, 3000, 3, 6, 0.3, false, false, 5);
    static const char *const options[] = {"C=1000 tol=1e-7", "C=1000 tol=1e-7 multiclass=ovr",
                                          "C=1000 tol=1e-7 probability=yes"};
    double *value = calloc((size_t)p.n, sizeof *value);
    for (int o = 0; o < 3; o++) {
        mcr_model *model = NULL;
        mcr_status s = fit_from(&model, ctx, "svm", options[o], "rbf(gamma=0.6)", p.data, NULL);
        if (s) { /* before the first step of any problem */
            test_fails(ctx, s, MCR_STOPPED, "interrupted");
            continue;
        }
        assert_int_equal(mcr_model_report(model)->stop, MCR_STOP_INTERRUPTED);
        assert_true(mcr_model_report(model)->value > 1e-7);
        assert_true(mcr_model_support(model) > 0);
        mcr_model_free(model);
    }
    free(value);
    problem_free(&p);
    mcr_close(ctx);
}

/* After the limit little is done for each of the pairs that are left: they are not bound. */
static void test_no_time_for_many_classes(void **state)
{
    enum { CLASSES = 60, PAIRS = CLASSES * (CLASSES - 1) / 2 };
    mcr *ctx = *state;
    mcr_model *model = NULL;
    problem p = problem_classes(ctx, 2 * CLASSES, 3, CLASSES, 0, false, false, 5);
    int64_t before = test_allocations_made(ctx);
    test_fails(ctx,
               fit_from(&model, ctx, "svm", "time-limit=1e-9 tol=1e-6", "rbf(gamma=1)+linear^2",
                        p.data, NULL),
               MCR_STOPPED, "");
    assert_true(test_allocations_made(ctx) - before < 8 * PAIRS);
    problem_free(&p);
}

/* ---- what is refused --------------------------------------------------------------------------*/

static void test_bad_calls(void **state)
{
    mcr *ctx = *state;
    problem p = problem_classes(ctx, 30, 2, 2, 0.1, false, false, 1);
    mcr_options *o;
    mcr_model *model = NULL;
    test_ok(ctx, mcr_options_open(&o, ctx, "svm"));
    static const char *const bad[][2] = {
        {"C", "0"},    {"C", "-1"},          {"C", "nan"},       {"tol", "0"},
        {"tol", "x"},  {"bias", "maybe"},    {"max-steps", "0"}, {"time-limit", "0"},
        {"nu", "0.5"}, {"multiclass", "all"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(mcr_options_set(o, bad[i][0], bad[i][1]), MCR_BAD_CALL);
        assert_non_null(strstr(mcr_message(ctx), bad[i][0]));
    }
    mcr_options_close(o);
    test_fails(ctx, mcr_options_open(&o, ctx, "smv"), MCR_BAD_CALL, "did you mean \"svm\"");
    test_fails(ctx, fit_from(&model, ctx, "svm", "C=1 lambda=1", "linear", p.data, NULL),
               MCR_BAD_CALL, "C or lambda");
    test_fails(ctx, fit_from(&model, ctx, "svm", "class-weight=5=1", "linear", p.data, NULL),
               MCR_BAD_CALL, "no class \"5\"");
    test_fails(ctx, fit_from(&model, ctx, "svm", "class-weight=1=-1", "linear", p.data, NULL),
               MCR_BAD_CALL, "greater than 0");
    test_fails(ctx, fit_from(&model, ctx, "svm", "", "spectrum(p=2)", p.data, NULL), MCR_BAD_DATA,
               "");
    problem_free(&p);
    p = problem_points(20, 2, 0, 1); /* all targets are 0 */
    problem_build(&p, ctx, false);
    test_fails(ctx, fit_from(&model, ctx, "svm", "", "linear", p.data, NULL), MCR_BAD_DATA,
               "all 20 objects are of class \"0\"");
    mcr_data_free(p.data);
    mcr_builder *b;
    test_ok(ctx, mcr_builder_open(&b, ctx, 2));
    test_ok(ctx, mcr_builder_dense(b, "x", p.x, 2, 2));
    test_ok(ctx, mcr_builder_words(b, (const char *const[]){"cat", "dog"}));
    test_ok(ctx, mcr_builder_finish(&p.data, b));
    test_fails(ctx, fit_from(&model, ctx, "svr", "", "linear", p.data, NULL), MCR_BAD_DATA,
               "regression needs numbers; are they classes? Then use svm");
    assert_null(model);
    problem_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_xor, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_hard_margin_is_the_limit_of_soft_ones, test_setup,
                                        test_teardown),
        cmocka_unit_test_setup_teardown(test_not_separable, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_hard_margin_stopped_early, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_several_classes, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_probabilities, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_no_probabilities, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_warm_starts, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_warm_starts_save_work, test_setup, test_teardown),
        cmocka_unit_test(test_threads_do_not_matter),
        cmocka_unit_test_setup_teardown(test_little_memory, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_growing_set, test_setup, test_teardown),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_interrupted_classes),
        cmocka_unit_test_setup_teardown(test_no_time_for_many_classes, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_bad_calls, test_setup, test_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
