/* Gaussian processes of many objects: the search for the scales that begins on samples ends where
 * one on all objects does, for numbers and for classes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mercer/mercer.h>

#include "base/context.h"
#include "base/random.h"
#include "helpers.h"
#include "learner_helpers.h"
#include "solve/descent.h"

/* The fewest objects that a sample is drawn from. */
enum { N = 1600 };

static mcr_data *make_data(mcr *ctx, bool classes)
{
    mcr_random random = mcr_random_stream(4, "test", 0);
    mcr_builder *b = NULL;
    mcr_data *data = NULL;
    double *x = malloc(2 * N * sizeof *x), *y = x + N;
    assert_non_null(x);
    for (int i = 0; i < N; i++) {
        x[i] = 10 * mcr_random_uniform(&random);
        y[i] = sin(x[i]) + 0.3 * mcr_random_normal(&random);
        if (classes)
            y[i] = y[i] > 0;
    }
    test_ok(ctx, mcr_builder_open(&b, ctx, N));
    test_ok(ctx, mcr_builder_dense(b, "x", x, 1, 1));
    test_ok(ctx, mcr_builder_targets(b, y));
    test_ok(ctx, mcr_builder_finish(&data, b));
    free(x);
    return data;
}

static mcr_model *fit_gp(mcr *ctx, const mcr_data *data, const char *options)
{
    mcr_model *model = NULL;
    test_ok(ctx, try_fit(&model, ctx, "gp", "rbf(gamma=1)", data, options));
    return model;
}

/* From the scales of a model all objects are used at once. */
static mcr_model *fit_from(mcr *ctx, const mcr_data *data, const mcr_model *start, const char *task)
{
    mcr_options *o = NULL;
    mcr_kernel *kernel = NULL;
    mcr_model *model = NULL;
    test_ok(ctx, mcr_options_open(&o, ctx, "gp"));
    test_ok(ctx, mcr_options_set(o, "restarts", "0"));
    test_ok(ctx, mcr_options_set(o, "task", task));
    test_ok(ctx, mcr_kernel_parse(&kernel, ctx, "rbf(gamma=1)"));
    test_ok(ctx, mcr_fit(&model, o, kernel, data, start));
    mcr_options_close(o);
    mcr_kernel_free(kernel);
    return model;
}

static void compare(const char *task, const char *options, const char *first)
{
    mcr *ctx = test_open(2);
    mcr_data *data = make_data(ctx, strcmp(task, "classify") == 0);
    mcr_model *sampled = fit_gp(ctx, data, options), *begun = fit_gp(ctx, data, first);
    mcr_model *whole = fit_from(ctx, data, begun, task);
    const mcr_report_fit *a = mcr_model_report(sampled), *b = mcr_model_report(whole);
    assert_non_null(strstr(a->remark, "400 of the objects"));
    assert_null(b->remark);
    assert_true(a->stop == MCR_STOP_LOCAL && b->stop == MCR_STOP_LOCAL);
    test_close_real("likelihood", a->objective, b->objective, 1e-5 * N);
    assert_true(a->iterations <= b->iterations);
    mcr_model_free(sampled);
    mcr_model_free(begun);
    mcr_model_free(whole);
    mcr_data_free(data);
    test_close(ctx);
}

static void test_numbers(void **state)
{
    (void)state;
    compare("regress", "restarts=1", "restarts=0 max-steps=1");
}

static void test_classes(void **state)
{
    (void)state;
    compare("classify", "task=classify restarts=0", "task=classify restarts=0 max-steps=1");
}

static void test_threads(void **state)
{
    (void)state;
    double objective[2], slope[2];
    for (int i = 0; i < 2; i++) {
        mcr *ctx = test_open(1 + i);
        mcr_data *data = make_data(ctx, false);
        mcr_model *model = fit_gp(ctx, data, "restarts=1 max-steps=3");
        objective[i] = mcr_model_report(model)->objective;
        slope[i] = mcr_model_report(model)->value;
        mcr_model_free(model);
        mcr_data_free(data);
        test_close(ctx);
    }
    assert_true(objective[0] == objective[1] && slope[0] == slope[1]);
}

/* A kernel that is not positive semidefinite has no likelihood, on a sample neither. */
static void test_indefinite(void **state)
{
    (void)state;
    mcr *ctx = test_open(1);
    mcr_data *data = make_data(ctx, false);
    mcr_model *model = NULL;
    assert_int_equal(try_fit(&model, ctx, "gp", "sigmoid(a=1, b=-5)", data, "max-steps=2"),
                     MCR_NUMERIC);
    assert_null(model);
    mcr_data_free(data);
    test_close(ctx);
}

static mcr_status run(mcr *ctx, void *arg)
{
    (void)arg;
    mcr_data *data = NULL;
    mcr_model *model = NULL;
    mcr_status s = mcr_data_sample(&data, ctx, "sinc", N, -1);
    if (!s)
        s = try_fit(&model, ctx, "gp", "rbf(gamma=1)", data, "max-steps=1 restarts=1");
    mcr_model_free(model);
    mcr_data_free(data);
    return s;
}

static void test_memory(void **state)
{
    (void)state;
    if (!getenv("MERCER_ALL")) {
        print_message("the allocations of a search on samples fail only with MERCER_ALL=1\n");
        skip();
    }
    test_sweep_allocations("gp on samples", run, NULL);
}

/* ---- what is known of the curvature -----------------------------------------------------------*/

static mcr_status bowl_value(void *arg, const double *x, double *f)
{
    memcpy(arg, x, 2 * sizeof *x);
    *f = 50 * (x[0] - 1) * (x[0] - 1) + 0.5 * (x[1] + 2) * (x[1] + 2) + 3 * (x[0] - 1) * (x[1] + 2);
    return MCR_OK;
}

static mcr_status bowl_slope(void *arg, double *g)
{
    const double *x = arg;
    g[0] = 100 * (x[0] - 1) + 3 * (x[1] + 2);
    g[1] = x[1] + 2 + 3 * (x[0] - 1);
    return MCR_OK;
}

static void test_curvature(void **state)
{
    (void)state;
    mcr *ctx = test_open(1);
    static const double low[2] = {-10, -10}, high[2] = {10, 10};
    double x[2] = {3, 1}, at[2], inverse[4] = {0};
    mcr_descent_result r;
    mcr_descent problem = {.n = 2,
                           .low = low,
                           .high = high,
                           .tolerance = 1e-9,
                           .inverse = inverse,
                           .value = bowl_value,
                           .gradient = bowl_slope,
                           .arg = at};
    test_ok(ctx, mcr_descent_solve(ctx, &problem, x, &r));
    int64_t steps = r.steps;
    assert_int_equal(r.stop, MCR_STOP_LOCAL);
    /* The Hessian is [100 3; 3 1], its determinant 91. */
    static const double want[4] = {1 / 91.0, -3 / 91.0, -3 / 91.0, 100 / 91.0};
    test_close_arrays("inverse", inverse, want, 4, 1e-4);
    /* From elsewhere: Newton's steps. */
    x[0] = 0.5;
    x[1] = -1;
    test_ok(ctx, mcr_descent_solve(ctx, &problem, x, &r));
    assert_true(r.stop == MCR_STOP_LOCAL && r.steps <= steps / 2);
    test_close_arrays("minimum", x, (double[]){1, -2}, 2, 1e-8);
    test_close(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers), cmocka_unit_test(test_classes),
        cmocka_unit_test(test_threads), cmocka_unit_test(test_indefinite),
        cmocka_unit_test(test_memory),  cmocka_unit_test(test_curvature),
    };
    return cmocka_run_group_tests_name("gp_search", tests, NULL, NULL);
}
