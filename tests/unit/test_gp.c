/* Gaussian processes: the likelihood by hand, its slopes against differences, scales of
 * expressions, standard deviations, and the search for minima that the scales are found with.
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
#include "kernel/scales.h"
#include "learner_helpers.h"
#include "linalg/blas.h"
#include "solve/descent.h"

/* ---- scales -----------------------------------------------------------------------------------*/

static void test_scales(void **state)
{
    (void)state;
    mcr *ctx = test_open(1);
    mcr_kernel *kernel = NULL, *other = NULL;
    double value[8];
    static const double twice[8] = {4, 1, 2, 6, 10, 0.5, 3, 1};
    test_ok(ctx, mcr_kernel_parse(&kernel, ctx,
                                  "2*rbf(a, gamma=[0.5, 1, 3])*matern(b, nu=1.5, length=5) + "
                                  "poly(c, degree=2, c=0, scale=0.25) + ssk(t, lambda=0.5)"));
    assert_int_equal(mcr_kernel_scales(kernel, value), 6);
    static const double want[6] = {2, 0.5, 1, 3, 5, 0.25};
    test_close_arrays("scales", value, want, 6, 0);
    test_ok(ctx, mcr_kernel_rescaled(&other, kernel, twice));
    assert_string_equal(mcr_kernel_text(other), "4*rbf(a, gamma=[1, 2, 6])*matern(b, length=10) + "
                                                "poly(c, degree=2, scale=0.5) + ssk(t)");
    mcr_kernel_free(kernel);
    mcr_kernel_free(other);
    test_close(ctx);
}

static mcr_status rescale(mcr *ctx, void *arg)
{
    (void)arg;
    mcr_kernel *kernel = NULL, *other = NULL;
    static const double value[3] = {1, 2, 3};
    mcr_status s = mcr_kernel_parse(&kernel, ctx, "2*rbf(x, gamma=1) + 3");
    if (s == MCR_OK)
        s = mcr_kernel_rescaled(&other, kernel, value);
    mcr_kernel_free(kernel);
    mcr_kernel_free(other);
    return s;
}

static void test_scales_memory(void **state)
{
    (void)state;
    test_sweep_allocations("scales", rescale, NULL);
}

/* ---- minima -----------------------------------------------------------------------------------*/

typedef struct valley {
    double x[2];
    int64_t values;
} valley;

/* Rosenbrock's valley. */
static mcr_status valley_value(void *arg, const double *x, double *f)
{
    valley *v = arg;
    memcpy(v->x, x, sizeof v->x);
    v->values++;
    double a = 1 - x[0], b = x[1] - x[0] * x[0];
    *f = x[0] > 3 ? INFINITY : a * a + 100 * b * b;
    return MCR_OK;
}

static mcr_status valley_slope(void *arg, double *g)
{
    const valley *v = arg;
    double a = 1 - v->x[0], b = v->x[1] - v->x[0] * v->x[0];
    g[0] = -2 * a - 400 * b * v->x[0];
    g[1] = 200 * b;
    return MCR_OK;
}

static void descend(const double *low, const double *high, double *x, mcr_descent_result *r)
{
    mcr *ctx = test_open(1);
    valley v = {{0}, 0};
    mcr_descent p = {.n = 2,
                     .low = low,
                     .high = high,
                     .tolerance = 1e-8,
                     .value = valley_value,
                     .gradient = valley_slope,
                     .arg = &v};
    test_ok(ctx, mcr_descent_solve(ctx, &p, x, r));
    assert_int_equal(v.values, r->steps);
    test_close(ctx);
}

static void test_descent(void **state)
{
    (void)state;
    mcr_descent_result r;
    double x[2] = {-1.2, 1};
    descend((double[]){-10, -10}, (double[]){10, 10}, x, &r);
    assert_true(r.stop == MCR_STOP_LOCAL && r.steps < 100);
    test_close_arrays("minimum", x, (double[]){1, 1}, 2, 1e-6);
    /* A limit in the way: the minimum on x <= 1/2 lies at (1/2, 1/4). */
    x[0] = -1.2;
    x[1] = 1;
    descend((double[]){-10, -10}, (double[]){0.5, 10}, x, &r);
    assert_int_equal(r.stop, MCR_STOP_LOCAL);
    test_close_arrays("at the limit", x, (double[]){0.5, 0.25}, 2, 1e-7);
}

/* ---- regression -------------------------------------------------------------------------------*/

enum { N = 40, D = 2 };

static mcr_data *make_data(mcr *ctx, double *x, double *y, const double *weight)
{
    mcr_random random = mcr_random_stream(9, "test", 0);
    mcr_builder *b = NULL;
    mcr_data *data = NULL;
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < D; j++)
            x[i * D + j] = 2 * mcr_random_normal(&random);
        y[i] = 5 + sin(x[i * D]) + 0.3 * x[i * D + 1] + 0.1 * mcr_random_normal(&random);
    }
    test_ok(ctx, mcr_builder_open(&b, ctx, N));
    test_ok(ctx, mcr_builder_dense(b, "x", x, D, D));
    test_ok(ctx, mcr_builder_targets(b, y));
    if (weight)
        test_ok(ctx, mcr_builder_weights(b, weight));
    test_ok(ctx, mcr_builder_finish(&data, b));
    return data;
}

static mcr_model *fit_gp(mcr *ctx, const mcr_data *data, const char *expression,
                         const char *options)
{
    mcr_model *model;
    test_ok(ctx, try_fit(&model, ctx, "gp", expression, data, options));
    return model;
}

static double likelihood(mcr *ctx, const mcr_data *data, const char *expression, double noise)
{
    char options[128];
    snprintf(options, sizeof options, "optimize=no standardize=no noise=%.17g", noise);
    mcr_model *model = fit_gp(ctx, data, expression, options);
    double value = mcr_model_report(model)->objective;
    mcr_model_free(model);
    return value;
}

static double rbf(const double *a, const double *b)
{
    double sum = 0;
    for (int j = 0; j < D; j++)
        sum += (a[j] - b[j]) * (a[j] - b[j]);
    return exp(-0.3 * sum);
}

/* ---- kernels without a gradient ---------------------------------------------------------------*/

typedef struct bell_params {
    double w;
} bell_params;

static const mcr_param bell_table[] = {
    {"w", MCR_REAL, offsetof(bell_params, w), "0.3", 0, INFINITY, MCR_MIN_OPEN | MCR_MAX_OPEN, NULL,
     "how fast it falls"},
    {0},
};

static double bell(const mcr_bound *b, int64_t i, int64_t j)
{
    const bell_params *p = mcr_bound_params(b);
    double x[D], z[D], sum = 0;
    mcr_bound_vector(b, 0, i, x);
    mcr_bound_vector(b, 1, j, z);
    for (int k = 0; k < D; k++)
        sum += (x[k] - z[k]) * (x[k] - z[k]);
    return exp(-p->w * sum);
}

/* A kernel of a user that knows no derivatives finds the same scales by differences. */
static void test_without_gradient(void **state)
{
    static const mcr_kernel_type type = {
        .size = sizeof type,
        .name = "bell",
        .summary = "exp(-w |x-z|^2)",
        .kinds = MCR_DENSE,
        .params = bell_table,
        .params_size = sizeof(bell_params),
        .pair = bell,
    };
    (void)state;
    mcr *ctx = test_open(2);
    double x[N * D], y[N];
    mcr_data *data = make_data(ctx, x, y, NULL);
    test_ok(ctx, mcr_kernel_register(ctx, &type));
    mcr_model *own = fit_gp(ctx, data, "2*bell(w=0.3)", "restarts=0 tol=1e-7");
    mcr_model *known = fit_gp(ctx, data, "2*rbf(gamma=0.3)", "restarts=0 tol=1e-7");
    assert_int_equal(mcr_model_report(own)->stop, MCR_STOP_LOCAL);
    test_close_real("likelihood", mcr_model_report(own)->objective,
                    mcr_model_report(known)->objective, 1e-6);
    mcr_model_free(own);
    mcr_model_free(known);
    mcr_data_free(data);
    test_close(ctx);
}

/* A long valley that no slope ends: the search does, when steps gain next to nothing. */
static mcr_status gorge_value(void *arg, const double *x, double *f)
{
    memcpy(arg, x, 2 * sizeof *x);
    *f = -log(x[0] + 30) + 100 * (x[1] - sin(x[0])) * (x[1] - sin(x[0]));
    return MCR_OK;
}

static mcr_status gorge_slope(void *arg, double *g)
{
    const double *x = arg, rest = x[1] - sin(x[0]);
    g[0] = -1 / (x[0] + 30) - 200 * rest * cos(x[0]);
    g[1] = 200 * rest;
    return MCR_OK;
}

static void test_gorge(void **state)
{
    (void)state;
    mcr *ctx = test_open(1);
    static const double low[2] = {-20, -1e300}, high[2] = {1e300, 1e300};
    double x[2] = {0, 0}, at[2];
    mcr_descent_result r;
    mcr_descent problem = {.n = 2,
                           .low = low,
                           .high = high,
                           .tolerance = 1e-9,
                           .gain = 0.5,
                           .most_steps = 5000,
                           .value = gorge_value,
                           .gradient = gorge_slope,
                           .arg = at};
    test_ok(ctx, mcr_descent_solve(ctx, &problem, x, &r));
    assert_true(r.stop == MCR_STOP_LOCAL && r.flat);
    assert_true(r.steps < 200 && r.gained >= 0 && r.gained <= 0.5);
    test_close(ctx);
}

/* Likelihood, mean and standard deviation from the textbook's formulas. */
static void test_regression(void **state)
{
    (void)state;
    mcr *ctx = test_open(2);
    double x[N * D], y[N], weight[N], k[N * N], a[N], v[N], value[N], std[N], f = 0;
    for (int i = 0; i < N; i++)
        weight[i] = i % 4 ? 1 : 0.5;
    mcr_data *data = make_data(ctx, x, y, weight);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            k[i * N + j] = rbf(x + i * D, x + j * D) + (i == j ? 0.2 / weight[i] : 0);
    test_cholesky(k, N);
    memcpy(a, y, sizeof a);
    test_cholesky_solve(k, N, a);
    for (int i = 0; i < N; i++)
        f -= 0.5 * y[i] * a[i] + log(k[i * N + i]) + 0.5 * log(2 * 3.14159265358979323846);
    test_close_real("likelihood", likelihood(ctx, data, "rbf(gamma=0.3)", 0.2), f, 1e-9);
    mcr_model *model = fit_gp(ctx, data, "rbf(gamma=0.3)", "optimize=no standardize=no noise=0.2");
    assert_true(mcr_model_has_std(model));
    test_ok(ctx, mcr_predict_std(ctx, model, data, value, std));
    for (int t = 0; t < N; t++) {
        double mean = 0, square = 1;
        for (int i = 0; i < N; i++) {
            v[i] = rbf(x + i * D, x + t * D);
            mean += a[i] * v[i];
        }
        test_ok(ctx, mcr_blas_triangle_solve(ctx, MCR_AS_IS, N, 1, k, N, v, 1));
        for (int i = 0; i < N; i++)
            square -= v[i] * v[i];
        test_close_real("mean", value[t], mean, 1e-10);
        test_close_real("standard deviation", std[t], sqrt(square), 1e-10);
    }
    mcr_model_free(model);
    mcr_data_free(data);
    test_close(ctx);
}

/* At the scales that are found the likelihood is flat: by differences of the whole likelihood, with
 * one scale per feature. */
static void test_optimum(void **state)
{
    (void)state;
    mcr *ctx = test_open(2);
    double x[N * D], y[N], at[5];
    mcr_data *data = make_data(ctx, x, y, NULL);
    mcr_model *model = fit_gp(ctx, data, "20*rbf(gamma=[0.3, 0.3])",
                              "standardize=no restarts=1 tol=1e-6");
    const mcr_report_fit *r = mcr_model_report(model);
    mcr_kernel *kernel = NULL;
    assert_int_equal(r->stop, MCR_STOP_LOCAL);
    assert_true(r->value <= 1e-6);
    test_ok(ctx, mcr_kernel_parse(&kernel, ctx, r->kernel));
    assert_int_equal(mcr_kernel_scales(kernel, at), 3);
    at[3] = r->noise;
    assert_true(at[3] > 0);
    for (int j = 0; j < 3; j++) {
        double f[2], before = at[j];
        for (int t = 0; t < 2; t++) {
            mcr_kernel *near = NULL;
            at[j] = before * (t ? 0.99 : 1.01);
            test_ok(ctx, mcr_kernel_rescaled(&near, kernel, at));
            f[t] = likelihood(ctx, data, mcr_kernel_text(near), at[3]);
            mcr_kernel_free(near);
        }
        at[j] = before;
        test_close_real("slope", (f[0] - f[1]) / 0.02, 0, 0.01);
        assert_true(f[0] < r->objective + 1e-5 && f[1] < r->objective + 1e-5);
    }
    assert_true(r->objective > likelihood(ctx, data, "20*rbf(gamma=[0.3, 0.3])", 0.1));
    mcr_kernel_free(kernel);
    mcr_model_free(model);
    mcr_data_free(data);
    test_close(ctx);
}

/* The slope that the first step of a search reports, against a difference of the likelihood:
 * kernels of several kinds. */
static void test_slope(void **state)
{
    (void)state;
    static const struct {
        const char *at, *above, *below;
    } cases[] = {
        {"rbf(gamma=0.3)", "rbf(gamma=0.30003)", "rbf(gamma=0.29997)"},
        {"matern(nu=2.5, length=2)", "matern(nu=2.5, length=2.0002)",
         "matern(nu=2.5, length=1.9998)"},
        {"normalize(poly(degree=3, c=1))", "normalize(poly(degree=3, c=1.0001))",
         "normalize(poly(degree=3, c=0.9999))"},
    };
    mcr *ctx = test_open(2);
    double x[N * D], y[N];
    mcr_data *data = make_data(ctx, x, y, NULL);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        mcr_model *model = fit_gp(ctx, data, cases[c].at,
                                  "standardize=no noise=0.2 max-steps=1 restarts=0");
        double slope = (likelihood(ctx, data, cases[c].above, 0.2) -
                        likelihood(ctx, data, cases[c].below, 0.2)) /
                       2e-4;
        double noise = (likelihood(ctx, data, cases[c].at, 0.2 * 1.0001) -
                        likelihood(ctx, data, cases[c].at, 0.2 / 1.0001)) /
                       2e-4;
        double want = fmax(fabs(slope), fabs(noise)) / N;
        assert_int_equal(mcr_model_report(model)->stop, MCR_STOP_STEPS);
        if (strstr(cases[c].at, "poly") == NULL) /* that one has a second scale */
            test_close_real(cases[c].at, mcr_model_report(model)->value, want, 1e-5 * (1 + want));
        else
            assert_true(mcr_model_report(model)->value >= want * (1 - 1e-5));
        mcr_model_free(model);
    }
    mcr_data_free(data);
    test_close(ctx);
}

/* The same against a period of which the data span more than a thousand. */
static void test_slope_of_periods(void **state)
{
    (void)state;
    enum { POINTS = 40 };
    mcr *ctx = test_open(1);
    double x[POINTS], y[POINTS], f[2];
    for (int i = 0; i < POINTS; i++) {
        x[i] = 400.0 * i / POINTS + sin(1.0 + i);
        y[i] = sin(x[i] * 6.283185307179586 / 0.3) + 0.1 * sin(7.0 * i);
    }
    mcr_data *data = dense_data(ctx, POINTS, 1, x, y, NULL);
    mcr_model *model = fit_gp(ctx, data, "periodic(period=0.3)",
                              "standardize=no noise=0.2 max-steps=1 restarts=0");
    for (int t = 0; t < 2; t++) {
        char text[64];
        snprintf(text, sizeof text, "periodic(period=%.17g)", 0.3 * (1 + (t ? -1e-8 : 1e-8)));
        f[t] = likelihood(ctx, data, text, 0.2);
    }
    double want = fabs(f[0] - f[1]) / 2e-8 / POINTS;
    assert_true(want > 1); /* larger than those of the length and of the noise */
    test_close_real("slope", mcr_model_report(model)->value, want, 1e-4 * want);
    mcr_model_free(model);
    mcr_data_free(data);
    test_close(ctx);
}

/* A search that was cut short goes on where it was. */
static void test_start(void **state)
{
    (void)state;
    mcr *ctx = test_open(1);
    double x[N * D], y[N];
    mcr_data *data = make_data(ctx, x, y, NULL);
    mcr_model *whole = fit_gp(ctx, data, "3*rbf(gamma=2)", "restarts=0");
    mcr_model *part = fit_gp(ctx, data, "3*rbf(gamma=2)", "restarts=0 max-steps=8"), *rest = NULL;
    mcr_options *o = NULL;
    mcr_kernel *kernel = NULL;
    assert_int_equal(mcr_model_report(part)->stop, MCR_STOP_STEPS);
    test_ok(ctx, mcr_options_open(&o, ctx, "gp"));
    test_ok(ctx, mcr_options_set(o, "restarts", "0"));
    test_ok(ctx, mcr_kernel_parse(&kernel, ctx, "3*rbf(gamma=2)"));
    test_ok(ctx, mcr_fit(&rest, o, kernel, data, part));
    assert_int_equal(mcr_model_report(rest)->stop, MCR_STOP_LOCAL);
    test_close_real("likelihood", mcr_model_report(rest)->objective,
                    mcr_model_report(whole)->objective, 1e-5);
    assert_true(mcr_model_report(rest)->iterations < mcr_model_report(whole)->iterations);
    mcr_options_close(o);
    mcr_kernel_free(kernel);
    mcr_model_free(whole);
    mcr_model_free(part);
    mcr_model_free(rest);
    mcr_data_free(data);
    test_close(ctx);
}

/* Objects twice, and no noise to speak of: a jitter, which is reported, and no NaN. */
static void test_singular(void **state)
{
    (void)state;
    mcr *ctx = test_open(1);
    double x[N], y[N], value[N], std[N];
    mcr_builder *b = NULL;
    mcr_data *data = NULL;
    for (int i = 0; i < N; i++) {
        x[i] = i / 2;
        y[i] = sin(x[i]);
    }
    test_ok(ctx, mcr_builder_open(&b, ctx, N));
    test_ok(ctx, mcr_builder_dense(b, "x", x, 1, 1));
    test_ok(ctx, mcr_builder_targets(b, y));
    test_ok(ctx, mcr_builder_finish(&data, b));
    mcr_model *model = fit_gp(ctx, data, "rbf(gamma=0.1)", "optimize=no noise=1e-300");
    assert_non_null(strstr(mcr_model_report(model)->remark, "singular"));
    test_ok(ctx, mcr_predict_std(ctx, model, data, value, std));
    for (int i = 0; i < N; i++)
        assert_true(fabs(value[i] - y[i]) < 1e-2 && std[i] >= 0 && std[i] < 1e-2);
    mcr_model_free(model);
    mcr_data_free(data);
    test_close(ctx);
}

/* Draws have the mean and the covariance of the posterior; those of a call go together. */
static void test_draws(void **state)
{
    (void)state;
    enum { M = 3, DRAWS = 4000 };
    mcr *ctx = test_open(2);
    mcr_data *data = sample_data(ctx, "sinc", 30), *some = NULL, *words = NULL;
    mcr_model *model;
    static double draws[M * DRAWS];
    double value[M], std[M];
    test_ok(ctx, mcr_data_select(&some, data, (mcr_rows){(int64_t[]){3, 9, 9}, 0, M}));
    test_ok(ctx, try_fit(&model, ctx, "gp", "rbf(gamma=1)", data, "optimize=no noise=0.5"));
    test_ok(ctx, mcr_predict_std(ctx, model, some, value, std));
    test_ok(ctx, mcr_predict_draws(ctx, model, some, DRAWS, draws));
    for (int i = 0; i < M; i++) {
        double mean = 0, square = 0;
        for (int d = 0; d < DRAWS; d++)
            mean += draws[i * DRAWS + d] / DRAWS;
        for (int d = 0; d < DRAWS; d++) {
            double off = draws[i * DRAWS + d] - mean;
            square += off * off / DRAWS;
            /* The same object twice has the same value in a function. */
            if (i == 2)
                test_close_real("together", draws[2 * DRAWS + d], draws[DRAWS + d], 1e-3 * std[2]);
        }
        test_close_real("mean of draws", mean, value[i], 0.1 * std[i]);
        test_close_real("standard deviation of draws", sqrt(square), std[i], 0.1 * std[i]);
    }
    mcr_model_free(model);
    words = sample_data(ctx, "moons", 20);
    test_ok(ctx, try_fit(&model, ctx, "gp", "rbf(gamma=1)", words, "task=classify optimize=no"));
    test_fails(ctx, mcr_predict_draws(ctx, model, words, 1, draws), MCR_BAD_CALL,
               "no posterior to draw from");
    mcr_model_free(model);
    mcr_data_free(data);
    mcr_data_free(some);
    mcr_data_free(words);
    test_close(ctx);
}

/* ---- classification ---------------------------------------------------------------------------*/

static double class_likelihood(mcr *ctx, const mcr_data *data, double factor, double gamma)
{
    char kernel[128];
    mcr_model *model;
    snprintf(kernel, sizeof kernel, "%.17g*rbf(gamma=%.17g)", factor, gamma);
    test_ok(ctx, try_fit(&model, ctx, "gp", kernel, data, "task=classify optimize=no"));
    const mcr_report_fit *r = mcr_model_report(model);
    assert_true(r->stop == MCR_STOP_OPTIMAL && r->value <= r->tolerance);
    double value = r->objective;
    mcr_model_free(model);
    return value;
}

/* At the mode a is the gradient of the log likelihood, t - p. Slopes against differences, for two
 * classes and for three. */
static void test_classes(void **state)
{
    (void)state;
    enum { M = 60 };
    static const char *const samples[] = {"moons", "blobs"};
    mcr *ctx = test_open(2);
    for (int k = 0; k < 2; k++) {
        mcr_data *data = sample_data(ctx, samples[k], M);
        mcr_model *model;
        double f[3 * M], a[M], offset, slope[2];
        test_ok(ctx,
                try_fit(&model, ctx, "gp", "5*rbf(gamma=0.7)", data, "task=classify optimize=no"));
        int64_t outputs = mcr_model_outputs(model), classes = mcr_model_classes(model);
        assert_int_equal(outputs, classes == 2 ? 1 : classes);
        test_ok(ctx, mcr_predict(ctx, model, data, NULL, f, NULL));
        for (int64_t o = 0; o < outputs; o++) {
            test_ok(ctx, mcr_model_coefficients(model, o, a, &offset, NULL));
            for (int i = 0; i < M; i++) {
                int is = mcr_data_class_of(data)[i] == (outputs == 1 ? 1 : o);
                test_close_real("mode", a[i], is - 1 / (1 + exp(-f[i * outputs + o])), 1e-8);
            }
        }
        mcr_model_free(model);
        test_ok(ctx, try_fit(&model, ctx, "gp", "5*rbf(gamma=0.7)", data,
                             "task=classify restarts=0 max-steps=1"));
        slope[0] = class_likelihood(ctx, data, 5.0005, 0.7) -
                   class_likelihood(ctx, data, 4.9995, 0.7);
        slope[1] = class_likelihood(ctx, data, 5, 0.70007) -
                   class_likelihood(ctx, data, 5, 0.69993);
        double want = fmax(fabs(slope[0]), fabs(slope[1])) / 2e-4 / M;
        test_close_real("slope", mcr_model_report(model)->value, want, 1e-6 + 1e-5 * want);
        mcr_model_free(model);
        mcr_data_free(data);
    }
    test_close(ctx);
}

/* Probabilities sum to 1, the largest is the prediction, and far from all objects they are even. */
static void test_probabilities(void **state)
{
    (void)state;
    enum { M = 90, C = 3 };
    mcr *ctx = test_open(2);
    mcr_data *data = sample_data(ctx, "blobs", M), *far = NULL;
    mcr_model *model = fit_model(ctx, "gp", "20*rbf(gamma=0.5)", data, "task=classify optimize=no");
    double value[M], proba[M * C], x[2] = {1e3, -1e3};
    assert_true(mcr_model_has_probability(model) && !mcr_model_has_std(model));
    test_ok(ctx, mcr_predict(ctx, model, data, value, NULL, proba));
    for (int i = 0; i < M; i++) {
        double sum = 0, most = 0;
        for (int c = 0; c < C; c++) {
            sum += proba[i * C + c];
            most = fmax(most, proba[i * C + c]);
        }
        test_close_real("sum", sum, 1, 1e-12);
        assert_true(proba[i * C + (int)value[i]] == most);
    }
    mcr_builder *b = NULL;
    test_ok(ctx, mcr_builder_open(&b, ctx, 1));
    test_ok(ctx, mcr_builder_dense(b, "x", x, 2, 2));
    test_ok(ctx, mcr_builder_finish(&far, b));
    test_ok(ctx, mcr_predict(ctx, model, far, NULL, NULL, proba));
    for (int c = 0; c < C; c++)
        test_close_real("even", proba[c], 1.0 / C, 1e-9);
    mcr_model_free(model);
    mcr_data_free(data);
    mcr_data_free(far);
    test_close(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_without_gradient), cmocka_unit_test(test_gorge),
        cmocka_unit_test(test_scales),           cmocka_unit_test(test_scales_memory),
        cmocka_unit_test(test_descent),          cmocka_unit_test(test_regression),
        cmocka_unit_test(test_slope_of_periods), cmocka_unit_test(test_slope),
        cmocka_unit_test(test_optimum),          cmocka_unit_test(test_start),
        cmocka_unit_test(test_singular),         cmocka_unit_test(test_draws),
        cmocka_unit_test(test_classes),          cmocka_unit_test(test_probabilities),
    };
    return cmocka_run_group_tests_name("gp", tests, NULL, NULL);
}
