/* Empirical risk with a penalty: losses that are other learners' problems agree with them, the
 * coefficients of smooth ones are minus the slopes of the loss, quantiles are quantiles.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "learner_helpers.h"

enum { N = 80 };
static const char rbf[] = "rbf(gamma=0.5)";

/* Scores of two models on the data, which must agree. */
static void agree(mcr *ctx, const char *sample, const char *options, const char *learner,
                  const char *others, double tolerance)
{
    mcr_data *data = sample_data(ctx, sample, N);
    mcr_model *a = fit_model(ctx, "erm", rbf, data, options);
    mcr_model *b = fit_model(ctx, learner, rbf, data, others);
    int64_t outputs = mcr_model_outputs(a);
    assert_int_equal(outputs, mcr_model_outputs(b));
    double *x = calloc((size_t)(N * outputs), sizeof *x),
           *y = calloc((size_t)(N * outputs), sizeof *y);
    test_ok(ctx, mcr_predict(ctx, a, data, NULL, x, NULL));
    test_ok(ctx, mcr_predict(ctx, b, data, NULL, y, NULL));
    test_close_arrays(options, x, y, N * outputs, tolerance);
    free(x);
    free(y);
    mcr_model_free(a);
    mcr_model_free(b);
    mcr_data_free(data);
}

static void test_other_learners(void **context)
{
    mcr *ctx = *context;
    agree(ctx, "sinc", "loss=squared lambda=0.3 tol=1e-12", "ridge", "lambda=0.3", 1e-5);
    agree(ctx, "blobs", "loss=squared lambda=0.3 tol=1e-12 task=classify", "ridge",
          "lambda=0.3 task=classify", 1e-5);
    agree(ctx, "moons", "loss=hinge lambda=0.1 tol=1e-10 task=classify", "svm",
          "C=5 bias=no tol=1e-8", 1e-4);
    agree(ctx, "blobs", "loss=hinge lambda=0.1 tol=1e-10 task=classify", "svm",
          "C=5 bias=no tol=1e-8 multiclass=ovr", 1e-4);
    agree(ctx, "sinc", "loss=epsilon epsilon=0.05 lambda=0.1 tol=1e-10", "svr",
          "C=5 bias=no epsilon=0.05 tol=1e-8", 1e-4);
    agree(ctx, "moons", "loss=logistic lambda=0.1 tol=1e-13 task=classify", "logistic",
          "lambda=0.2 tol=1e-9", 1e-5);
    agree(ctx, "sinc", "loss=absolute lambda=0.5 tol=1e-10", "erm",
          "loss=quantile quantile=0.5 lambda=0.25 tol=1e-10", 1e-3);
    agree(ctx, "sinc", "loss=huber delta=1e6 lambda=0.5 tol=1e-12", "erm",
          "loss=squared lambda=1 tol=1e-12", 1e-5);
}

/* -2 lambda a_i is a slope of the loss at f(x_i). */
static void test_slopes(void **context)
{
    mcr *ctx = *context;
    mcr_data *data = sample_data(ctx, "moons", N);
    mcr_model *model = fit_model(ctx, "erm", rbf, data,
                                 "loss=squared-hinge lambda=0.05 tol=1e-13 task=classify");
    double *a = all_coefficients(ctx, model, 0, N), f[N], want[N];
    test_ok(ctx, mcr_predict(ctx, model, data, NULL, f, NULL));
    for (int64_t i = 0; i < N; i++) {
        double y = mcr_data_class_of(data)[i] ? 1 : -1;
        want[i] = y * fmax(0, 1 - y * f[i]) / 0.05;
    }
    test_close_arrays("slopes", a, want, N, 1e-4);
    free(a);
    mcr_model_free(model);
    mcr_data_free(data);
}

static void test_quantiles(void **context)
{
    mcr *ctx = *context;
    mcr_data *data = sample_data(ctx, "sinc", 400);
    const double *y = mcr_data_targets(data);
    double value[400], wanted[] = {0.1, 0.5, 0.9};
    for (int t = 0; t < 3; t++) {
        char options[64];
        int64_t below = 0;
        snprintf(options, sizeof options, "loss=quantile quantile=%g lambda=0.01 tol=1e-5",
                 wanted[t]);
        mcr_model *model = fit_model(ctx, "erm", "rbf(gamma=0.5) + 1", data, options);
        test_ok(ctx, mcr_predict(ctx, model, data, value, NULL, NULL));
        for (int64_t i = 0; i < 400; i++)
            below += y[i] < value[i];
        test_close_real(options, (double)below / 400, wanted[t], 0.05);
        mcr_model_free(model);
    }
    mcr_data_free(data);
}

static void test_limits(void **context)
{
    mcr *ctx = *context;
    mcr_data *data = sample_data(ctx, "sinc", N);
    mcr_model *model;
    test_fails(ctx, try_fit(&model, ctx, "erm", rbf, data, "loss=hinge"), MCR_BAD_CALL,
               "task=classify");
    for (int t = 0; t < 2; t++) {
        test_ok(ctx, try_fit(&model, ctx, "erm", rbf, data,
                             t ? "loss=absolute max-steps=3 lambda=1e-4"
                               : "loss=huber delta=0.01 max-steps=1 lambda=1e-4"));
        assert_int_equal(mcr_model_report(model)->stop, MCR_STOP_STEPS);
        assert_true(mcr_model_report(model)->gap > 0);
        mcr_model_free(model);
    }
    mcr_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_other_learners, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_slopes, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_quantiles, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_limits, test_setup, test_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
