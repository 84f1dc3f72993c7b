/* test_svm.c: solutions of support vector machines satisfy their own optimality conditions,
 * computed again in the obvious way in double: feasible, no violation beyond the tolerance, primal
 * and dual as reported. Random problems, weights, kernels; with much memory and with little (other
 * paths of the solver).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "svm_helpers.h"

enum { LITTLE = 200 << 10 };

static mcr *open_with(size_t memory, int threads)
{
    mcr_config config = {.size = sizeof config, .threads = threads, .memory_bytes = memory};
    mcr *ctx;
    assert_int_equal(mcr_open(&ctx, &config), MCR_OK);
    return ctx;
}

/* The report agrees with what was found. costs: the sum of what a violation of 1 costs each object;
 * kernel values may be floats, as long as that matters less than the tolerance. */
static void check_report(const mcr_model *model, double kkt, double primal, double dual,
                         double tolerance, double costs)
{
    const mcr_report_fit *r = mcr_model_report(model);
    double slack = 1e-6 * fmax(1, fabs(primal)) + 0.5 * tolerance * costs;
    assert_int_equal(r->stop, MCR_STOP_OPTIMAL);
    assert_true(r->value <= r->tolerance);
    test_close_real("tolerance", r->tolerance, tolerance, 0);
    if (!(kkt <= tolerance * (1 + 1e-6) + 1e-12))
        fail_msg("violation %g, tolerance %g, reported %g", kkt, tolerance, r->value);
    test_close_real("certificate", r->value, kkt, 0.75 * tolerance);
    test_close_real("primal", r->primal, primal, slack);
    test_close_real("dual", r->dual, dual, slack);
    test_close_real("gap", r->gap, primal - dual, slack);
    test_close_real("objective", fabs(r->objective), fabs(r->dual), 0);
    if (primal - dual < -1e-9 * fmax(1, fabs(primal)) ||
        primal - dual > 2 * tolerance * costs + slack)
        fail_msg("the gap is %g for costs %g", primal - dual, costs);
}

static const char *const kernels[] = {"rbf(gamma=0.7)",     "linear",
                                      "poly(degree=3,c=1)", "rbf(gamma=0.2)+0.5*linear",
                                      "poly(degree=2,c=0)", "laplace(gamma=0.5)"};
enum { KERNELS = sizeof kernels / sizeof *kernels };

/* ---- svm --------------------------------------------------------------------------------------*/

typedef struct svm_case {
    int64_t n, d;
    const char *kernel;
    double C, tol, factor; /* factor: of C for class +1 */
    bool bias, weights, sparse;
    uint64_t seed;
} svm_case;

static void check_svm(mcr *ctx, const svm_case *c, const problem *p, const mcr_model *model)
{
    solution s = solution_of(ctx, model, 0, c->kernel, p->data);
    double *lo = calloc((size_t)p->n, sizeof *lo), *hi = calloc((size_t)p->n, sizeof *hi);
    double loss = 0, size = 0, right = 0, costs = 0;
    if (!c->bias)
        assert_true(s.bias == 0);
    for (int64_t i = 0; i < p->n; i++) {
        double most = c->C * problem_weight(p, i) * (p->y[i] > 0 ? c->factor : 1);
        double f = s.g[i] + s.bias;
        *(p->y[i] > 0 ? &hi[i] : &lo[i]) = p->y[i] * most;
        costs += most;
        loss += most * fmax(0, 1 - p->y[i] * f);
        size += fabs(s.b[i]);
        right += (f > 0) == (p->y[i] > 0);
    }
    check_feasible(&s, lo, hi, 0, c->bias);
    double half = 0.5 * square_of(&s);
    double kkt = violation_of(&s, p->y, lo, hi, 0, c->bias, NULL, 0);
    check_report(model, kkt, half + loss, size - half, c->tol, costs);
    test_close_real("accuracy", mcr_model_report(model)->accuracy, right / (double)p->n, 1e-12);
    free(lo);
    free(hi);
    solution_free(&s);
}

static void run_svm(mcr *ctx, const svm_case *c)
{
    char options[256];
    problem p = problem_classes(ctx, c->n, c->d, 2, 0.15, c->weights, c->sparse, c->seed);
    snprintf(options, sizeof options, "C=%.17g tol=%.17g bias=%s class-weight=1=%.17g", c->C,
             c->tol, c->bias ? "yes" : "no", c->factor);
    mcr_model *model = fit(ctx, "svm", options, c->kernel, p.data);
    check_svm(ctx, c, &p, model);
    mcr_model_free(model);
    problem_free(&p);
}

static void random_svm(mcr *ctx, uint64_t number)
{
    mcr_random r = mcr_random_stream(number, "svm cases", 0);
    svm_case c = {.n = 6 + mcr_random_below(&r, 150),
                  .d = 1 + mcr_random_below(&r, 8),
                  .kernel = kernels[mcr_random_below(&r, KERNELS)],
                  .C = pow(10, 4 * mcr_random_uniform(&r) - 2),
                  .tol = pow(10, -3 - 4 * mcr_random_uniform(&r)),
                  .factor = mcr_random_below(&r, 2) ? 1 : 0.3 + 4 * mcr_random_uniform(&r),
                  .bias = mcr_random_below(&r, 3) > 0,
                  .weights = mcr_random_below(&r, 3) == 0,
                  .sparse = mcr_random_below(&r, 3) == 0,
                  .seed = number};
    run_svm(ctx, &c);
}

static void test_svm_conditions(void **state)
{
    for (uint64_t number = 0; number < 60; number++)
        random_svm(*state, number);
}

static void test_svm_conditions_with_little_memory(void **state)
{
    (void)state;
    mcr *ctx = open_with(LITTLE, 2);
    for (uint64_t number = 100; number < 130; number++)
        random_svm(ctx, number);
    for (int bias = 0; bias < 2; bias++) {
        svm_case c = {600, 4, "rbf(gamma=0.5)", 3, 1e-5, 1.5, bias, bias, false, 7};
        run_svm(ctx, &c);
    }
    mcr_close(ctx);
}

/* Larger than what is solved at once, so that coefficients leave the active set and come back. */
static void test_svm_conditions_of_larger_problems(void **state)
{
    svm_case one = {2600, 5, "rbf(gamma=0.3)", 1, 1e-4, 1, true, false, false, 3};
    svm_case two = {2300, 30, "linear", 0.5, 1e-3, 2, false, true, true, 4};
    run_svm(*state, &one);
    run_svm(*state, &two);
}

static void test_lambda_is_c(void **state)
{
    mcr *ctx = *state;
    problem p = problem_classes(ctx, 80, 3, 2, 0.1, false, false, 11);
    mcr_model *a = fit(ctx, "svm", "C=0.625 tol=1e-8", "rbf(gamma=1)", p.data);
    mcr_model *b = fit(ctx, "svm", "lambda=0.01 tol=1e-8", "rbf(gamma=1)", p.data);
    test_close_real("objective", mcr_model_report(b)->objective, mcr_model_report(a)->objective,
                    1e-9);
    mcr_model_free(a);
    mcr_model_free(b);
    problem_free(&p);
}

/* An object of weight 2 is two objects; one of weight 0 is none. */
static void test_weights_are_repetitions(void **state)
{
    mcr *ctx = *state;
    problem p = problem_classes(ctx, 60, 2, 2, 0.2, false, false, 5), q = p;
    q.weight = calloc(60, sizeof(double));
    int64_t row[120], count = 0;
    for (int64_t i = 0; i < 60; i++) {
        q.weight[i] = (double)(i % 3);
        for (int64_t t = 0; t < i % 3; t++)
            row[count++] = i;
    }
    problem_build(&q, ctx, false);
    mcr_data *repeated;
    test_ok(ctx, mcr_data_select(&repeated, p.data, (mcr_rows){row, 0, count}));
    static const char *const learner[] = {"svm",    "nu-svm", "one-class", "svr",
                                          "nu-svr", "svm",    "svm"};
    static const char *const options[] = {
        "C=2 tol=1e-8",     "nu=0.3 tol=1e-8", "nu=0.3 tol=1e-8",       "C=2 tol=1e-8",
        "nu=0.31 tol=1e-8", "C=inf tol=1e-6",  "C=inf tol=1e-6 bias=no"};
    for (int i = 0; i < 7; i++) {
        const char *kernel = i >= 5 ? "rbf(gamma=30)" : "rbf(gamma=1)";
        mcr_model *a = fit(ctx, learner[i], options[i], kernel, q.data);
        mcr_model *b = fit(ctx, learner[i], options[i], kernel, repeated);
        double wanted = mcr_model_report(b)->objective;
        test_close_real(learner[i], mcr_model_report(a)->objective / wanted, 1, 1e-6);
        mcr_model_free(a);
        mcr_model_free(b);
    }
    mcr_data_free(repeated);
    mcr_data_free(q.data);
    free(q.weight);
    problem_free(&p);
}

/* Many equal objects are merged: the same as weights, and what is reported for the objects is
 * reported for all. */
static void test_equal_objects_are_merged(void **state)
{
    enum { DISTINCT = 400, MOST = 5 * DISTINCT };
    mcr *ctx = *state;
    problem p = problem_classes(ctx, DISTINCT, 2, 2, 0.3, false, false, 8), q = p;
    q.weight = calloc(DISTINCT, sizeof(double));
    int64_t row[MOST], count = 0;
    for (int64_t t = 0; t < 5; t++)
        for (int64_t i = 0; i < DISTINCT; i++)
            if (t <= i % 5) {
                row[count++] = i;
                q.weight[i] += 1;
            }
    problem_build(&q, ctx, false);
    mcr_data *repeated;
    test_ok(ctx, mcr_data_select(&repeated, p.data, (mcr_rows){row, 0, count}));
    static const char *const learner[] = {"svm", "svm",    "nu-svm", "one-class",
                                          "svr", "nu-svr", "svm"};
    static const char *const options[] = {
        "C=2 tol=1e-8",          "lambda=0.001 tol=1e-8", "nu=0.3 tol=1e-8",    "nu=0.3 tol=1e-8",
        "lambda=0.002 tol=1e-8", "nu=0.31 tol=1e-8",      "C=2 probability=yes"};
    for (int i = 0; i < 7; i++) {
        mcr_model *a = fit(ctx, learner[i], options[i], "rbf(gamma=1)", q.data);
        mcr_model *b = fit(ctx, learner[i], options[i], "rbf(gamma=1)", repeated);
        const mcr_report_fit *of_a = mcr_model_report(a), *of_b = mcr_model_report(b);
        test_close_real(learner[i], of_a->objective / of_b->objective, 1, 1e-6);
        assert_int_equal(of_b->n, count);
        assert_in_range(mcr_model_support(b), 1, DISTINCT);
        double *value = calloc((size_t)count, sizeof *value);
        mcr_metrics metrics = MCR_INIT(mcr_metrics);
        test_ok(ctx, mcr_predict(ctx, b, repeated, value, NULL, NULL));
        if (of_b->task != MCR_DETECT) {
            test_ok(ctx, mcr_model_score(ctx, b, repeated, value, &metrics));
            bool regress = of_b->task == MCR_REGRESS;
            test_close_real("training score", regress ? of_b->mse : of_b->accuracy,
                            regress ? metrics.mse : metrics.accuracy, 1e-9);
        }
        mcr_model *again = NULL; /* from its own coefficients: next to nothing is left to do */
        test_ok(ctx, fit_from(&again, ctx, learner[i], options[i], "rbf(gamma=1)", repeated, b));
        test_close_real("again", mcr_model_report(again)->objective / of_b->objective, 1, 1e-6);
        free(value);
        mcr_model_free(a);
        mcr_model_free(b);
        mcr_model_free(again);
    }
    mcr_data_free(repeated);
    mcr_data_free(q.data);
    free(q.weight);
    problem_free(&p);
}

/* ---- nu-svm, one-class ------------------------------------------------------------------------*/

static void check_nu_svm(mcr *ctx, const char *kernel, double nu, double tol, const problem *p,
                         const mcr_model *model)
{
    solution s = solution_of(ctx, model, 0, kernel, p->data);
    size_t n = (size_t)p->n;
    double *lo = calloc(n, sizeof *lo), *hi = calloc(n, sizeof *hi), *z = calloc(n, sizeof *z);
    unsigned char *group = calloc(n, 1);
    double total = 0, sum[2] = {0, 0}, loss = 0;
    for (int64_t i = 0; i < p->n; i++) {
        total += problem_weight(p, i);
        group[i] = p->y[i] > 0;
        sum[group[i]] += s.b[i];
    }
    test_close_real("sums of the classes", sum[0], -sum[1], 1e-9 * sum[1]);
    double rho = 0.5 * nu * total / sum[1]; /* what the coefficients were divided by */
    for (int64_t i = 0; i < p->n; i++) {
        double most = problem_weight(p, i) / rho;
        *(group[i] ? &hi[i] : &lo[i]) = p->y[i] * most;
        loss += most * fmax(0, 1 - p->y[i] * (s.g[i] + s.bias));
    }
    double kkt = 0, half = 0.5 * square_of(&s);
    for (int t = 0; t < 2; t++)
        kkt = fmax(kkt, violation_of(&s, z, lo, hi, 0, true, group, t));
    check_report(model, kkt, half - nu * total / rho + loss, -half, tol, total / rho);
    free(lo);
    free(hi);
    free(z);
    free(group);
    solution_free(&s);
}

static void check_one_class(mcr *ctx, const char *kernel, double nu, double tol, const problem *p,
                            const mcr_model *model)
{
    solution s = solution_of(ctx, model, 0, kernel, p->data);
    double *lo = calloc((size_t)p->n, sizeof *lo), *hi = calloc((size_t)p->n, sizeof *hi);
    double total = 0, loss = 0;
    for (int64_t i = 0; i < p->n; i++) {
        total += hi[i] = problem_weight(p, i);
        loss += hi[i] * fmax(0, -(s.g[i] + s.bias));
    }
    check_feasible(&s, lo, hi, nu * total, true);
    double half = 0.5 * square_of(&s), kkt = violation_of(&s, lo, lo, hi, 0, true, NULL, 0);
    check_report(model, kkt, half + nu * total * s.bias + loss, -half, tol, total);
    free(lo);
    free(hi);
    solution_free(&s);
}

static void random_nu(mcr *ctx, uint64_t number)
{
    mcr_random r = mcr_random_stream(number, "nu cases", 0);
    bool one_class = mcr_random_below(&r, 2), weights = mcr_random_below(&r, 3) == 0;
    const char *kernel = kernels[mcr_random_below(&r, KERNELS)];
    double nu = 0.05 + 0.35 * mcr_random_uniform(&r),
           tol = pow(10, -3 - 3 * mcr_random_uniform(&r));
    problem p = problem_classes(ctx, 20 + mcr_random_below(&r, 150), 1 + mcr_random_below(&r, 6), 2,
                                0.2, weights, mcr_random_below(&r, 3) == 0, number);
    char options[128];
    snprintf(options, sizeof options, "nu=%.17g tol=%.17g", nu, tol);
    mcr_model *model = NULL;
    mcr_status status = fit_from(&model, ctx, one_class ? "one-class" : "nu-svm", options, kernel,
                                 p.data, NULL);
    if (!one_class && status == MCR_BAD_CALL) /* the classes do not allow this nu */
        assert_non_null(strstr(mcr_message(ctx), "largest"));
    else if (!one_class && status == MCR_NUMERIC)
        assert_non_null(strstr(mcr_message(ctx), "the margin is 0"));
    else
        test_ok(ctx, status);
    if (model && one_class)
        check_one_class(ctx, kernel, nu, tol, &p, model);
    else if (model)
        check_nu_svm(ctx, kernel, nu, tol, &p, model);
    mcr_model_free(model);
    problem_free(&p);
}

static void test_nu_conditions(void **state)
{
    mcr *little = open_with(LITTLE, 2);
    for (uint64_t number = 0; number < 40; number++)
        random_nu(number % 4 == 3 ? little : *state, number);
    mcr_close(little);
}

static void test_largest_nu(void **state)
{
    mcr *ctx = *state;
    problem p = problem_points(50, 2, 0, 3);
    for (int64_t i = 0; i < 50; i++)
        p.y[i] = i < 7 ? 1 : -1;
    problem_build(&p, ctx, false);
    mcr_model *model = NULL;
    test_fails(ctx, fit_from(&model, ctx, "nu-svm", "nu=0.3", "rbf(gamma=1)", p.data, NULL),
               MCR_BAD_CALL, "the largest feasible value is 0.28");
    assert_null(model);
    mcr_model_free(fit(ctx, "nu-svm", "nu=0.28", "rbf(gamma=9)", p.data));
    problem_free(&p);
}

/* ---- regression -------------------------------------------------------------------------------*/

static void check_svr(mcr *ctx, const char *kernel, double C, double epsilon, bool bias, double tol,
                      const problem *p, const mcr_model *model)
{
    solution s = solution_of(ctx, model, 0, kernel, p->data);
    double *lo = calloc((size_t)p->n, sizeof *lo), *hi = calloc((size_t)p->n, sizeof *hi);
    double loss = 0, linear = 0, square = 0, costs = 0;
    for (int64_t i = 0; i < p->n; i++) {
        double error = p->y[i] - s.g[i] - s.bias;
        costs += hi[i] = C * problem_weight(p, i);
        lo[i] = -hi[i];
        loss += hi[i] * fmax(0, fabs(error) - epsilon);
        linear += s.b[i] * p->y[i] - epsilon * fabs(s.b[i]);
        square += error * error / (double)p->n;
    }
    if (!bias)
        assert_true(s.bias == 0);
    check_feasible(&s, lo, hi, 0, bias);
    double half = 0.5 * square_of(&s);
    double kkt = violation_of(&s, p->y, lo, hi, epsilon, bias, NULL, 0);
    check_report(model, kkt, half + loss, linear - half, tol, costs);
    test_close_real("mse", mcr_model_report(model)->mse / fmax(1, square), square / fmax(1, square),
                    1e-5);
    free(lo);
    free(hi);
    solution_free(&s);
}

static void random_svr(mcr *ctx, uint64_t number)
{
    mcr_random r = mcr_random_stream(number, "svr cases", 0);
    bool bias = mcr_random_below(&r, 3) > 0, weights = mcr_random_below(&r, 3) == 0;
    const char *kernel = kernels[mcr_random_below(&r, KERNELS)];
    double C = pow(10, 3 * mcr_random_uniform(&r) - 1.5);
    double epsilon = mcr_random_below(&r, 4) ? 0.5 * mcr_random_uniform(&r) : 0;
    double tol = pow(10, -3 - 3 * mcr_random_uniform(&r));
    problem p = problem_numbers(ctx, 5 + mcr_random_below(&r, 120), 1 + mcr_random_below(&r, 5),
                                0.3, weights, number);
    char options[200];
    snprintf(options, sizeof options, "C=%.17g epsilon=%.17g tol=%.17g bias=%s", C, epsilon, tol,
             bias ? "yes" : "no");
    mcr_model *model = fit(ctx, "svr", options, kernel, p.data);
    check_svr(ctx, kernel, C, epsilon, bias, tol, &p, model);
    mcr_model_free(model);
    problem_free(&p);
}

static void test_svr_conditions(void **state)
{
    mcr *little = open_with(LITTLE, 2);
    for (uint64_t number = 0; number < 40; number++)
        random_svr(number % 4 == 3 ? little : *state, number);
    mcr_close(little);
}

/* nu-svr: with the best epsilon for its function, primal and dual meet; nu bounds the shares. */
static void check_nu_svr(mcr *ctx, const char *kernel, double C, double nu, const problem *p,
                         const mcr_model *model)
{
    solution s = solution_of(ctx, model, 0, kernel, p->data);
    double total = 0, size = 0, linear = 0, best = INFINITY, half = 0.5 * square_of(&s),
           epsilon = 0;
    for (int64_t i = 0; i < p->n; i++) {
        total += C * problem_weight(p, i);
        size += fabs(s.b[i]);
        linear += s.b[i] * p->y[i];
        if (fabs(s.b[i]) > C * problem_weight(p, i) * (1 + 1e-12))
            fail_msg("coefficient %lld is too large", (long long)i);
    }
    if (size > nu * total * (1 + 1e-9))
        fail_msg("the coefficients' sizes sum to %g, more than %g", size, nu * total);
    for (int64_t e = -1; e < p->n; e++) { /* the best is 0 or the error of an object */
        double width = e < 0 ? 0 : fabs(p->y[e] - s.g[e] - s.bias),
               cost = half + nu * total * width;
        for (int64_t i = 0; i < p->n; i++)
            cost += C * problem_weight(p, i) * fmax(0, fabs(p->y[i] - s.g[i] - s.bias) - width);
        if (cost < best) {
            best = cost;
            epsilon = width;
        }
    }
    const mcr_report_fit *r = mcr_model_report(model);
    double gap = best - (linear - half), slack = r->tolerance * total + 1e-6 * fabs(best);
    assert_int_equal(r->stop, MCR_STOP_OPTIMAL);
    assert_true(r->value <= r->tolerance);
    if (gap > slack || gap < -1e-6 * fmax(1, fabs(best)))
        fail_msg("gap %g of %g, at most %g expected (epsilon %g)", gap, best, slack, epsilon);
    test_close_real("dual", r->dual, linear - half, 1e-6 * fmax(1, fabs(best)));
    test_close_real("objective", r->objective, -r->dual, 0);
    if (r->gap < gap - 1e-6 * fmax(1, fabs(best)) || r->gap > slack)
        fail_msg("gap reported %g, found %g, at most %g expected", r->gap, gap, slack);
    solution_free(&s);
}

static void test_nu_svr_conditions(void **state)
{
    mcr *little = open_with(LITTLE, 2);
    for (uint64_t number = 0; number < 25; number++) {
        mcr *ctx = number % 4 == 3 ? little : *state;
        mcr_random r = mcr_random_stream(number, "nu-svr cases", 0);
        const char *kernel = kernels[mcr_random_below(&r, KERNELS)];
        double C = pow(10, 2 * mcr_random_uniform(&r) - 1), nu = 0.1 + 0.8 * mcr_random_uniform(&r);
        problem p = problem_numbers(ctx, 8 + mcr_random_below(&r, 100), 1 + mcr_random_below(&r, 5),
                                    0.3, mcr_random_below(&r, 3) == 0, number);
        char options[128];
        snprintf(options, sizeof options, "C=%.17g nu=%.17g tol=1e-5", C, nu);
        mcr_model *model = fit(ctx, "nu-svr", options, kernel, p.data);
        check_nu_svr(ctx, kernel, C, nu, &p, model);
        mcr_model_free(model);
        problem_free(&p);
    }
    mcr_close(little);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_svm_conditions, test_setup, test_teardown),
        cmocka_unit_test(test_svm_conditions_with_little_memory),
        cmocka_unit_test_setup_teardown(test_svm_conditions_of_larger_problems, test_setup,
                                        test_teardown),
        cmocka_unit_test_setup_teardown(test_lambda_is_c, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_weights_are_repetitions, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_equal_objects_are_merged, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_nu_conditions, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_largest_nu, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_svr_conditions, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_nu_svr_conditions, test_setup, test_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
