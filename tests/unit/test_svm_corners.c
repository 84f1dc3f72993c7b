/* test_svm_corners.c: problems at the edge: classes without weight, weights of 0 on the wrong side,
 * kernel values of all sizes in a linear program, calibration by small folds, wide bounds.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "svm_helpers.h"

/* Points on two sides of the origin, the first two of them negative. */
static problem two_sides(mcr *ctx, int64_t n, const double *x, const double *y,
                         const double *weight)
{
    problem p = {n,
                 2,
                 calloc((size_t)(2 * n), sizeof(double)),
                 calloc((size_t)n, sizeof(double)),
                 calloc((size_t)n, sizeof(double)),
                 NULL};
    memcpy(p.x, x, sizeof(double) * (size_t)(2 * n));
    memcpy(p.y, y, sizeof(double) * (size_t)n);
    memcpy(p.weight, weight, sizeof(double) * (size_t)n);
    problem_build(&p, ctx, false);
    return p;
}

/* The optimum is w = 0: no kernel value can make it better. */
static void test_class_without_weight(void **state)
{
    mcr *ctx = *state;
    const double x[] = {-1, -2, -2, -1, 1, 2, 2, 1, 3, 3}, y[] = {-1, -1, 1, 1, 1};
    const double weight[] = {0, 0, 1, 1, 1};
    problem p = two_sides(ctx, 5, x, y, weight);
    const char *const options[] = {"C=1", "C=inf", "C=inf probability=yes"};
    for (size_t o = 0; o < sizeof options / sizeof *options; o++) {
        mcr_model *model = fit(ctx, "svm", options[o], "linear", p.data);
        const mcr_report_fit *r = mcr_model_report(model);
        assert_int_equal(r->stop, MCR_STOP_OPTIMAL);
        assert_int_equal(r->support, 0);
        test_close_real("objective", r->objective, 0, 1e-12);
        test_close_real("gap", r->gap, 0, 1e-12);
        test_close_real("accuracy", r->accuracy, 0.6, 1e-12);
        mcr_model_free(model);
    }
    problem_free(&p);
}

/* An object without weight may lie anywhere: neither objective nor certificate know of it. */
static void test_hard_margin_ignores_weight_0(void **state)
{
    mcr *ctx = *state;
    const double x[] = {-1, -2, -2, -1, 1, 2, 2, 1, -5, -5}, y[] = {-1, -1, 1, 1, 1};
    const double weight[] = {1, 1, 1, 1, 0};
    problem p = two_sides(ctx, 5, x, y, weight);
    for (int bias = 0; bias < 2; bias++) {
        mcr_model *model = fit(ctx, "svm", bias ? "C=inf tol=1e-6" : "C=inf tol=1e-6 bias=no",
                               "linear", p.data);
        const mcr_report_fit *r = mcr_model_report(model);
        test_close_real("dual", r->dual, 1.0 / 9, 1e-6); /* w = (1, 1) / 3 */
        test_close_real("primal", r->primal, 1.0 / 9, 1e-6);
        mcr_model_free(model);
    }
    problem_free(&p);
}

static void test_all_weights_0(void **state)
{
    mcr *ctx = *state;
    const double x[] = {-1, -2, 1, 2}, y[] = {-1, 1}, weight[] = {0, 0};
    problem p = two_sides(ctx, 2, x, y, weight);
    const char *const learner[] = {"svm", "nu-svm", "l1-svm", "one-class", "svr", "nu-svr"};
    for (size_t l = 0; l < sizeof learner / sizeof *learner; l++) {
        mcr_model *model = NULL;
        test_fails(ctx, fit_from(&model, ctx, learner[l], "", "linear", p.data, NULL), MCR_BAD_DATA,
                   "all weights are 0");
    }
    problem_free(&p);
}

/* Kernel values from 1e-19 to 1, and costs up to where the tolerances of the linear program show:
 * what is reported is the objective of the model that is returned. */
static void test_l1_objective_is_the_models(void **state)
{
    mcr *ctx = *state;
    const char *const kernel[] = {"rbf(gamma=1)", "rbf(gamma=30)", "linear"};
    const double cost[] = {1, 1e3, 1e6};
    problem p = problem_classes(ctx, 90, 2, 2, 0.1, true, false, 3);
    for (size_t k = 0; k < 3; k++)
        for (size_t c = 0; c < 3; c++) {
            char options[32];
            snprintf(options, sizeof options, "C=%g", cost[c]);
            mcr_model *model = NULL;
            mcr_status status = fit_from(&model, ctx, "l1-svm", options, kernel[k], p.data, NULL);
            if (status == MCR_IO)
                skip(); /* no CLP */
            test_ok(ctx, status);
            const mcr_report_fit *r = mcr_model_report(model);
            solution s = solution_of(ctx, model, 0, kernel[k], p.data);
            double primal = 0;
            for (int64_t i = 0; i < p.n; i++)
                primal += fabs(s.b[i]) +
                          cost[c] * p.weight[i] * fmax(0, 1 - p.y[i] * (s.g[i] + s.bias));
            assert_int_equal(r->stop, MCR_STOP_OPTIMAL);
            test_close_real("primal", r->primal, primal, 1e-6 * primal);
            assert_true(r->dual <= r->primal && r->gap <= 1e-3 * r->primal);
            solution_free(&s);
            mcr_model_free(model);
        }
    problem_free(&p);
}

/* A fold of four fifths has less space for nu than the whole. */
static void test_largest_nu_with_probabilities(void **state)
{
    mcr *ctx = *state;
    problem p = problem_points(11, 2, 0, 5);
    for (int64_t i = 0; i < p.n; i++)
        p.y[i] = i < 5 ? 1 : -1;
    problem_build(&p, ctx, false);
    mcr_model *model = fit(ctx, "nu-svm", "nu=0.9 probability=yes", "rbf(gamma=1)", p.data);
    assert_true(mcr_model_has_probability(model));
    mcr_model_free(model);
    problem_free(&p);
}

/* A limit of steps that a fold's problem keeps is no reason for other probabilities. */
static void test_steps_of_folds(void **state)
{
    mcr *ctx = *state;
    problem p = problem_classes(ctx, 200, 2, 2, 0.1, false, false, 9);
    mcr_model *free_one = fit(ctx, "svm", "probability=yes", "rbf(gamma=1)", p.data);
    char options[64];
    snprintf(options, sizeof options, "probability=yes max-steps=%lld",
             (long long)mcr_model_report(free_one)->iterations + 50);
    mcr_model *bound = fit(ctx, "svm", options, "rbf(gamma=1)", p.data);
    double a[400], b[400];
    test_ok(ctx, mcr_predict(ctx, free_one, p.data, NULL, NULL, a));
    test_ok(ctx, mcr_predict(ctx, bound, p.data, NULL, NULL, b));
    for (int64_t i = 0; i < 400; i++)
        test_close_real("probability", b[i], a[i], 1e-3);
    mcr_model_free(free_one);
    mcr_model_free(bound);
    problem_free(&p);
}

/* Wide bounds: many coefficients are free and depend on each other. With Newton steps a few
 * thousand steps are enough. The optimality conditions are computed here. */
static void test_wide_bounds(void **state)
{
    static const struct {
        int64_t n;
        const char *learner, *options;
        double C, epsilon;
        bool bias;
        int64_t steps;
    } list[] = {
        {600, "svm", "C=1e5", 1e5, 0, true, 40000},
        {600, "svm", "C=1e4 bias=no", 1e4, 0, false, 40000},
        {600, "svr", "C=1e5 epsilon=0.1", 1e5, 0.1, true, 60000},
        {2600, "svm", "C=1e4", 1e4, 0, true, 200000}, /* working sets are parts of it */
    };
    mcr *ctx = *state;
    for (size_t t = 0; t < sizeof list / sizeof *list; t++) {
        bool numbers = list[t].epsilon > 0;
        problem p = numbers ? problem_numbers(ctx, list[t].n, 3, 0.3, false, 4)
                            : problem_classes(ctx, list[t].n, 3, 2, 0.2, false, false, 4);
        mcr_model *model = fit(ctx, list[t].learner, list[t].options, "rbf(gamma=0.3)", p.data);
        const mcr_report_fit *r = mcr_model_report(model);
        assert_int_equal(r->stop, MCR_STOP_OPTIMAL);
        if (r->iterations > list[t].steps)
            fail_msg("%s: %lld steps", list[t].options, (long long)r->iterations);
        solution s = solution_of(ctx, model, 0, "rbf(gamma=0.3)", p.data);
        double *lo = calloc((size_t)p.n, sizeof *lo), *hi = calloc((size_t)p.n, sizeof *hi);
        for (int64_t i = 0; i < p.n; i++) {
            lo[i] = numbers || p.y[i] < 0 ? -list[t].C : 0;
            hi[i] = numbers || p.y[i] > 0 ? list[t].C : 0;
        }
        check_feasible(&s, lo, hi, 0, list[t].bias);
        double kkt = violation_of(&s, p.y, lo, hi, list[t].epsilon, list[t].bias, NULL, 0);
        assert_true(kkt < 1.01e-3);
        free(lo);
        free(hi);
        solution_free(&s);
        mcr_model_free(model);
        problem_free(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_class_without_weight, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_hard_margin_ignores_weight_0, test_setup,
                                        test_teardown),
        cmocka_unit_test_setup_teardown(test_all_weights_0, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_l1_objective_is_the_models, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_largest_nu_with_probabilities, test_setup,
                                        test_teardown),
        cmocka_unit_test_setup_teardown(test_steps_of_folds, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_wide_bounds, test_setup, test_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
