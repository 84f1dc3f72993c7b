/* Logistic regression: the identity of its coefficients, probabilities, weights as repeated
 * objects, limits.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "learner_helpers.h"

enum { N = 80 };
static const char rbf[] = "rbf(gamma=0.5)";

/* 2 lambda a_iy = [y_i = y] - P(y | x_i); of two classes the difference of both is kept. Gives the
 * coefficients of the first output, to be freed. */
static double *check_identity(mcr *ctx, const char *sample, int64_t n, const char *kernel,
                              double lambda)
{
    char options[64];
    snprintf(options, sizeof options, "lambda=%g tol=1e-9", lambda);
    mcr_data *data = sample_data(ctx, sample, n);
    mcr_model *model = fit_model(ctx, "logistic", kernel, data, options);
    int64_t k = mcr_model_classes(model), outputs = mcr_model_outputs(model);
    double *proba = calloc((size_t)(n * k), sizeof *proba), *first = NULL;
    double *value = calloc((size_t)n, sizeof *value), *want = calloc((size_t)n, sizeof *want);
    test_ok(ctx, mcr_predict(ctx, model, data, value, NULL, proba));
    for (int64_t o = 0; o < outputs; o++) {
        double *a = all_coefficients(ctx, model, o, n);
        for (int64_t i = 0; i < n; i++) {
            int64_t own = mcr_data_class_of(data)[i], y = outputs == 1 ? 1 : o;
            want[i] = ((own == y) - proba[i * k + y]) / (outputs == 1 ? lambda : 2 * lambda);
        }
        test_close_arrays("identity", a, want, n, 1e-8 / lambda);
        if (o == 0)
            first = a;
        else
            free(a);
    }
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        for (int64_t c = 0; c < k; c++) {
            sum += proba[i * k + c];
            assert_true(proba[i * k + (int64_t)value[i]] >= proba[i * k + c]);
        }
        test_close_real("sum", sum, 1, 1e-14);
    }
    const mcr_report_fit *r = mcr_model_report(model);
    assert_true(r->gap >= 0 && r->gap < 1e-9 * r->primal && r->primal == r->objective);
    free(proba);
    free(value);
    free(want);
    mcr_model_free(model);
    mcr_data_free(data);
    return first;
}

static void test_identity(void **context)
{
    static const char *const samples[] = {"moons", "blobs", "motifs"};
    static const double lambdas[] = {5, 0.5, 0.01};
    for (int t = 0; t < 9; t++)
        free(check_identity(*context, samples[t % 3], N,
                            t % 3 == 2 ? "normalize(spectrum(p=3))" : rbf, lambdas[t / 3]));
}

/* So many objects that a low rank is looked for first: there is one on the plane, where lambda is
 * not too small, and none of a kernel that is almost the identity. The same bits with one thread
 * and with two. */
static void test_many(void **context)
{
    enum { MANY = 1200 };
    static const char *const kernels[] = {"rbf(gamma=0.5)", "rbf(gamma=0.5)", "rbf(gamma=1e4)"};
    static const double lambdas[] = {0.5, 1e-3, 0.5};
    (void)context;
    for (int t = 0; t < 3; t++) {
        double *a[2];
        for (int run = 0; run < 2; run++) {
            mcr *ctx = test_open(run + 1);
            a[run] = check_identity(ctx, t ? "moons" : "blobs", MANY, kernels[t], lambdas[t]);
            test_close(ctx);
        }
        assert_memory_equal(a[0], a[1], sizeof **a * MANY);
        free(a[0]);
        free(a[1]);
    }
}

/* Steps that reuse the factor of an earlier one converge: a Hessian that is not that of the loss
 * would need many more. */
static void test_few_steps(void **context)
{
    mcr *ctx = *context;
    static const char *const options[] = {"lambda=1", "lambda=0.001", "lambda=1 form=primal"};
    for (int t = 0; t < 3; t++) {
        mcr_data *data = sample_data(ctx, "blobs", 1500);
        mcr_model *model = fit_model(ctx, "logistic", t == 2 ? "poly(degree=2, c=1)" : rbf, data,
                                     options[t]);
        assert_in_range(mcr_model_report(model)->iterations, 3, 30);
        mcr_model_free(model);
        mcr_data_free(data);
    }
}

static void test_weights(void **context)
{
    mcr *ctx = *context;
    double x[N], y[N], weight[N], many[3 * N], again[3 * N], p[2][3 * N];
    int64_t count = 0;
    for (int64_t i = 0; i < N; i++) {
        x[i] = (double)i / 20;
        y[i] = (double)((i * i / 17) % 3);
        weight[i] = (double)(i % 3);
        for (int64_t t = 0; t < i % 3; t++) {
            many[count] = x[i];
            again[count++] = y[i];
        }
    }
    mcr_data *a = dense_data(ctx, N, 1, x, y, weight);
    mcr_data *b = dense_data(ctx, count, 1, many, again, NULL);
    mcr_model *one = fit_model(ctx, "logistic", rbf, a, "tol=1e-10");
    mcr_model *two = fit_model(ctx, "logistic", rbf, b, "tol=1e-10");
    test_ok(ctx, mcr_predict(ctx, one, a, NULL, NULL, p[0]));
    test_ok(ctx, mcr_predict(ctx, two, a, NULL, NULL, p[1]));
    test_close_arrays("weights", p[0], p[1], 3 * N, 1e-8);
    mcr_model_free(one);
    mcr_model_free(two);
    mcr_data_free(a);
    mcr_data_free(b);
}

static void test_limits(void **context)
{
    mcr *ctx = *context;
    mcr_data *data = sample_data(ctx, "blobs", N);
    mcr_model *model;
    test_ok(ctx, try_fit(&model, ctx, "logistic", rbf, data, "max-steps=1 lambda=0.001"));
    assert_int_equal(mcr_model_report(model)->stop, MCR_STOP_STEPS);
    assert_true(mcr_model_report(model)->gap > 0);
    mcr_model_free(model);
    test_fails(ctx, try_fit(&model, ctx, "logistic", rbf, data, "lambda=0"), MCR_BAD_CALL,
               "lambda");
    mcr_data_free(data);
}

/* Equal objects of other classes: G is singular, and coefficients are not only what f needs. */
static void test_repeats(void **context)
{
    mcr *ctx = *context;
    const double x[] = {1, 1, 1, 1, 1, 1, 2, 2}, y[] = {5, 5, 5, 6, 6, 6, 5, 6};
    static const int64_t counts[] = {6, 8};
    for (int t = 0; t < 2; t++) {
        mcr_data *data = dense_data(ctx, counts[t], 1, x, y, NULL);
        mcr_model *model = fit_model(ctx, "logistic", "rbf(gamma=1)", data, NULL);
        double proba[16], *a = all_coefficients(ctx, model, 0, counts[t]);
        test_ok(ctx, mcr_predict(ctx, model, data, NULL, NULL, proba));
        for (int64_t i = 0; i < counts[t]; i++) { /* a = ([y = 6] - P(6)) / lambda */
            test_close_real("probability", proba[2 * i], 0.5, 1e-9);
            test_close_real("coefficient", a[i], (y[i] == 6 ? 1 : -1), 1e-5);
        }
        free(a);
        mcr_model_free(model);
        mcr_data_free(data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_identity, test_setup, test_teardown),
        cmocka_unit_test(test_many),
        cmocka_unit_test_setup_teardown(test_few_steps, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_weights, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_limits, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_repeats, test_setup, test_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
