/* Sparse Gaussian processes: both bounds, mean and standard deviation by hand; slopes against
 * differences; what is refused; files; what verify finds.
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
#include "learn/gp.h"
#include "learner_helpers.h"

enum { N = 60, D = 2, M = 14 };

static mcr_data *make_data(mcr *ctx, double *x, double *y, const double *weight)
{
    mcr_random random = mcr_random_stream(9, "test", 0);
    mcr_builder *b = NULL;
    mcr_data *data = NULL;
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < D; j++)
            x[i * D + j] = mcr_random_normal(&random);
        y[i] = 2 + sin(2 * x[i * D]) + 0.3 * x[i * D + 1] + 0.1 * mcr_random_normal(&random);
    }
    test_ok(ctx, mcr_builder_open(&b, ctx, N));
    test_ok(ctx, mcr_builder_dense(b, "x", x, D, D));
    test_ok(ctx, mcr_builder_targets(b, y));
    if (weight)
        test_ok(ctx, mcr_builder_weights(b, weight));
    test_ok(ctx, mcr_builder_finish(&data, b));
    return data;
}

static double rbf(const double *a, const double *b)
{
    double sum = 0;
    for (int j = 0; j < D; j++)
        sum += (a[j] - b[j]) * (a[j] - b[j]);
    return exp(-0.3 * sum);
}

/* ---- by hand ----------------------------------------------------------------------------------*/

typedef struct dense {
    double q[N * N];  /* K_nm K_m^-1 K_mn */
    double km[M * M]; /* factor of K_m */
    double trace;     /* of W (K - Q) */
    double lower, upper;
} dense;

/* log N(y; 0, Q + s W^-1), with s + t for the part of y. */
static double log_normal(const dense *t, const double *y, const double *weight, double s,
                         double more)
{
    double c[N * N], a[N], sum = 0;
    for (int part = 0; part < 2; part++) {
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                c[i * N + j] = t->q[i * N + j] + (i == j ? (part ? s + more : s) / weight[i] : 0);
        test_cholesky(c, N);
        memcpy(a, y, sizeof a);
        test_cholesky_solve(c, N, a);
        for (int i = 0; i < N; i++)
            sum -= part ? 0.5 * y[i] * a[i]
                        : log(c[i * N + i]) + 0.5 * log(2 * 3.14159265358979323846);
    }
    return sum;
}

static void by_hand(dense *t, const double *x, const double *y, const double *weight,
                    const int64_t *object, double s)
{
    double v[M];
    for (int i = 0; i < M; i++)
        for (int j = 0; j < M; j++)
            t->km[i * M + j] = rbf(x + object[i] * D, x + object[j] * D) +
                               (i == j ? MCR_SPARSE_JITTER : 0);
    test_cholesky(t->km, M);
    t->trace = 0;
    for (int j = 0; j < N; j++) {
        for (int c = 0; c < M; c++)
            v[c] = rbf(x + object[c] * D, x + j * D);
        test_cholesky_solve(t->km, M, v);
        for (int i = 0; i < N; i++) {
            t->q[i * N + j] = 0;
            for (int c = 0; c < M; c++)
                t->q[i * N + j] += v[c] * rbf(x + object[c] * D, x + i * D);
        }
        t->trace += weight[j] * (1 - t->q[j * N + j]);
    }
    t->lower = log_normal(t, y, weight, s, 0) - t->trace / (2 * s);
    t->upper = log_normal(t, y, weight, s, t->trace);
}

static void test_bounds(void **state)
{
    (void)state;
    mcr *ctx = test_open(2);
    double x[N * D], y[N], weight[N], value[N], std[N], c[N * N], v[N];
    static dense t;
    for (int i = 0; i < N; i++)
        weight[i] = i % 4 ? 1 : 0.5;
    mcr_data *data = make_data(ctx, x, y, weight);
    mcr_model *m = fit_model(ctx, "gp", "rbf(gamma=0.3)", data,
                             "approx=sgpr rank=14 optimize=no standardize=no noise=0.2");
    mcr_model *exact = fit_model(ctx, "gp", "rbf(gamma=0.3)", data,
                                 "optimize=no standardize=no noise=0.2");
    const mcr_report_fit *r = mcr_model_report(m);
    assert_string_equal(r->approx, "sgpr");
    assert_int_equal(r->support, M);
    by_hand(&t, x, y, weight, m->fitted->object, 0.2);
    test_close_real("lower bound", r->objective, t.lower, 1e-8);
    test_close_real("upper bound", r->primal, t.upper, 1e-8);
    test_close_real("gap", r->gap, t.upper - t.lower, 2e-8);
    double likely = mcr_model_report(exact)->objective;
    assert_true(r->dual < likely && likely < r->primal);
    /* With the process of Q: mean q'(Q + D)^-1 y, variance K(x,x) - q'(Q + D)^-1 q. */
    test_ok(ctx, mcr_predict_std(ctx, m, data, value, std));
    for (int i = 0; i < N * N; i++)
        c[i] = t.q[i] + (i % (N + 1) ? 0 : 0.2 / weight[i / N]);
    test_cholesky(c, N);
    for (int i = 0; i < N; i++) {
        double mean = 0, square = 1;
        memcpy(v, t.q + i * N, sizeof v);
        test_cholesky_solve(c, N, v);
        for (int j = 0; j < N; j++) {
            mean += v[j] * y[j];
            square -= v[j] * t.q[i * N + j];
        }
        test_close_real("mean", value[i], mean, 1e-8);
        test_close_real("standard deviation", std[i], sqrt(square), 1e-7);
    }
    mcr_model_free(m);
    mcr_model_free(exact);
    mcr_data_free(data);
    test_close(ctx);
}

/* Enough landmarks, or a kernel of low rank: nothing is lost, and both bounds meet. */
static void test_meeting(void **state)
{
    (void)state;
    mcr *ctx = test_open(2);
    double x[N * D], y[N], value[2][N], std[2][N];
    mcr_data *data = make_data(ctx, x, y, NULL);
    mcr_model *m[2] = {fit_model(ctx, "gp", "linear + 1", data, "approx=sgpr rank=40 optimize=no"),
                       fit_model(ctx, "gp", "linear + 1", data, "optimize=no")};
    const mcr_report_fit *r = mcr_model_report(m[0]);
    assert_int_equal(r->support, D + 1); /* greedy: no more are needed */
    test_close_real("lower", r->dual, mcr_model_report(m[1])->objective, 1e-4);
    test_close_real("upper", r->primal, mcr_model_report(m[1])->objective, 1e-2); /* jitter */
    for (int t = 0; t < 2; t++)
        test_ok(ctx, mcr_predict_std(ctx, m[t], data, value[t], std[t]));
    test_close_arrays("values", value[0], value[1], N, 1e-5);
    test_close_arrays("standard deviations", std[0], std[1], N, 1e-5);
    mcr_model_free(m[0]);
    mcr_model_free(m[1]);
    mcr_data_free(data);
    test_close(ctx);
}

/* ---- slopes -----------------------------------------------------------------------------------*/

static double bound_at(mcr *ctx, const mcr_data *data, const mcr_kernel *kernel, const double *at,
                       double noise)
{
    char options[160];
    mcr_kernel *near = NULL;
    snprintf(options, sizeof options,
             "approx=sgpr rank=14 landmarks=uniform optimize=no standardize=no noise=%.17g", noise);
    test_ok(ctx, mcr_kernel_rescaled(&near, kernel, at));
    mcr_model *m = fit_model(ctx, "gp", mcr_kernel_text(near), data, options);
    double f = mcr_model_report(m)->objective;
    mcr_kernel_free(near);
    mcr_model_free(m);
    return f;
}

/* At the scales that are found, the bound is flat against each of them and the noise; landmarks
 * that are drawn do not depend on them. */
static void check_optimum(mcr *ctx, const mcr_data *data, const char *text)
{
    double at[8], h = 1e-3;
    mcr_kernel *kernel = NULL;
    mcr_model *m = fit_model(ctx, "gp", text, data,
                             "approx=sgpr rank=14 landmarks=uniform standardize=no restarts=0 "
                             "tol=3e-5");
    const mcr_report_fit *r = mcr_model_report(m);
    if (r->stop != MCR_STOP_LOCAL)
        fail_msg("%s: %s", text, mcr_stop_name(r->stop));
    test_ok(ctx, mcr_kernel_parse(&kernel, ctx, r->kernel));
    int64_t scales = mcr_kernel_scales(kernel, at);
    for (int64_t j = 0; j <= scales; j++) {
        double f[2];
        for (int t = 0; t < 2; t++) {
            double factor = exp(t ? -h : h), before = at[j];
            at[j] *= j < scales ? factor : 1;
            f[t] = bound_at(ctx, data, kernel, at, j < scales ? r->noise : r->noise * factor);
            at[j] = before;
        }
        test_close_real(text, (f[0] - f[1]) / (2 * h), 0, 2e-3);
        if (fmax(f[0], f[1]) > r->objective + 1e-4)
            fail_msg("%s: better by %g at scale %d", text, fmax(f[0], f[1]) - r->objective, (int)j);
    }
    mcr_kernel_free(kernel);
    mcr_model_free(m);
}

static void test_slopes(void **state)
{
    (void)state;
    mcr *ctx = test_open(2);
    double x[N * D], y[N];
    mcr_data *data = make_data(ctx, x, y, NULL);
    check_optimum(ctx, data, "20*rbf(gamma=[0.3, 0.3])");
    check_optimum(ctx, data, "5*matern(nu=2.5, length=2)");
    check_optimum(ctx, data, "2*poly(degree=2, c=1, scale=0.3) + 0.5*laplace(gamma=0.2)");
    mcr_data_free(data);
    test_close(ctx);
}

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

/* A kernel of a user that knows no derivatives: the same maximum by differences. */
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
    static const char *const options = "approx=sgpr rank=14 landmarks=uniform restarts=0 tol=1e-5";
    (void)state;
    mcr *ctx = test_open(2);
    double x[N * D], y[N];
    mcr_data *data = make_data(ctx, x, y, NULL);
    test_ok(ctx, mcr_kernel_register(ctx, &type));
    mcr_model *own = fit_model(ctx, "gp", "2*bell(w=0.3)", data, options);
    mcr_model *known = fit_model(ctx, "gp", "2*rbf(gamma=0.3)", data, options);
    assert_int_equal(mcr_model_report(own)->stop, MCR_STOP_LOCAL);
    test_close_real("lower bound", mcr_model_report(own)->objective,
                    mcr_model_report(known)->objective, 1e-3);
    mcr_model_free(own);
    mcr_model_free(known);
    mcr_data_free(data);
    test_close(ctx);
}

/* ---- the rest ---------------------------------------------------------------------------------*/

/* One thread or several, from memory or from a file: the same bits. */
static void test_same(void **state)
{
    (void)state;
    double x[N * D], y[N], value[2][N], std[2][N];
    for (int t = 0; t < 2; t++) {
        mcr *ctx = test_open(t ? 3 : 1);
        mcr_data *data = make_data(ctx, x, y, NULL);
        mcr_model *m = fit_model(ctx, "gp", "2*rbf(gamma=0.3)", data,
                                 "approx=sgpr rank=14 restarts=1"),
                  *read = NULL;
        test_ok(ctx, mcr_model_save(ctx, m, "sparse.mercer"));
        test_ok(ctx, mcr_model_load(&read, ctx, "sparse.mercer"));
        assert_string_equal(mcr_model_report(read)->approx, "sgpr");
        test_ok(ctx, mcr_predict_std(ctx, t ? read : m, data, value[t], std[t]));
        mcr_model_free(read);
        mcr_model_free(m);
        mcr_data_free(data);
        test_close(ctx);
    }
    assert_memory_equal(value[0], value[1], sizeof value[0]);
    assert_memory_equal(std[0], std[1], sizeof std[0]);
    remove("sparse.mercer");
}

static void test_refusals(void **state)
{
    (void)state;
    mcr *ctx = test_open(1);
    double x[N * D], y[N];
    mcr_data *data = make_data(ctx, x, y, NULL);
    mcr_model *m;
    test_fails(ctx, try_fit(&m, ctx, "gp", "rbf(gamma=1)", data, "approx=sgpr task=classify"),
               MCR_BAD_CALL, "gp for classes needs the kernel matrix of all objects");
    test_fails(ctx, try_fit(&m, ctx, "gp", "rbf(gamma=1)", data, "approx=sgpr loo=yes"),
               MCR_BAD_CALL, "gp: loo needs the kernel matrix of all objects");
    test_fails(ctx, try_fit(&m, ctx, "gp", "rbf(gamma=1)", data, "approx=falkon"), MCR_BAD_CALL,
               "gp has no primal form");
    mcr_data_free(data);
    test_close(ctx);
}

static mcr_status verified(mcr *ctx, const mcr_model *m, const mcr_data *data, int *agrees)
{
    mcr_verification v = MCR_INIT(mcr_verification);
    mcr_status s = mcr_model_verify(ctx, m, data, NULL, &v);
    *agrees = v.agrees;
    return s;
}

/* A number of the file that is not right is found. */
static void test_lies(void **state)
{
    (void)state;
    mcr *ctx = test_open(2);
    double x[N * D], y[N];
    mcr_data *data = make_data(ctx, x, y, NULL);
    for (int lie = 0; lie < 5; lie++) {
        int agrees;
        mcr_model *m = fit_model(ctx, "gp", "2*rbf(gamma=0.3)", data,
                                 "approx=sgpr rank=14 optimize=no");
        mcr_fitted *f = m->fitted;
        int64_t count;
        double *posterior = (double *)mcr_fitted_find(f, MCR_GP_POSTERIOR, &count);
        if (lie == 1)
            f->segment[0].coef[3] *= 1.001;
        else if (lie == 2)
            posterior[20] *= 1.01;
        else if (lie == 3)
            f->primal -= 1;
        else if (lie == 4)
            f->dual += 1e-3;
        test_ok(ctx, verified(ctx, m, data, &agrees));
        if (agrees != (lie == 0))
            fail_msg("lie %d: %s", lie, agrees ? "not found" : "there was none");
        mcr_model_free(m);
    }
    mcr_data_free(data);
    test_close(ctx);
}

typedef struct sweep {
    double x[N * D], y[N];
} sweep;

static mcr_status fit_once(mcr *ctx, void *arg)
{
    sweep *w = arg;
    mcr_builder *b = NULL;
    mcr_data *data = NULL;
    mcr_model *m = NULL;
    double value[N], std[N];
    int agrees;
    mcr_status s = mcr_builder_open(&b, ctx, N);
    if (!s)
        s = mcr_builder_dense(b, "x", w->x, D, D);
    if (!s)
        s = mcr_builder_targets(b, w->y);
    if (!s)
        s = mcr_builder_finish(&data, b);
    else
        mcr_builder_close(b);
    if (!s)
        s = try_fit(&m, ctx, "gp", "2*rbf(gamma=0.3)", data,
                    "approx=sgpr rank=5 restarts=0 max-steps=2");
    if (!s)
        s = mcr_predict_std(ctx, m, data, value, std);
    if (!s)
        s = verified(ctx, m, data, &agrees);
    mcr_model_free(m);
    mcr_data_free(data);
    return s;
}

static void test_memory(void **state)
{
    (void)state;
    mcr *ctx = test_open(1);
    static sweep w;
    mcr_data_free(make_data(ctx, w.x, w.y, NULL));
    test_close(ctx);
    test_sweep_allocations("a sparse process", fit_once, &w);
}

/* ---- without the kernel matrix ----------------------------------------------------------------*/

enum { MANY = 320 };

static mcr_status fit_large(mcr *ctx, bool limit, double *value, double *std, int *agrees)
{
    mcr_data *data = NULL;
    mcr_model *m = NULL;
    size_t before = ctx->config.memory_bytes;
    mcr_status s = mcr_data_sample(&data, ctx, "friedman", MANY, -1);
    if (limit)
        ctx->config.memory_bytes = MANY * MANY * 5;
    if (!s)
        s = try_fit(&m, ctx, "gp", "rbf(gamma=0.5)", data, "optimize=no noise=0.5");
    if (!s)
        assert_int_equal(limit, mcr_model_report(m)->remark != NULL);
    if (!s)
        s = mcr_predict_std(ctx, m, data, value, std);
    if (!s && agrees)
        s = verified(ctx, m, data, agrees);
    if (!s && agrees && limit) { /* a solution that is not one */
        int honest = *agrees;
        m->fitted->segment[0].coef[5] += 1;
        s = verified(ctx, m, data, agrees);
        *agrees = honest && !*agrees;
    }
    ctx->config.memory_bytes = before;
    mcr_model_free(m);
    mcr_data_free(data);
    return s;
}

static void test_large(void **state)
{
    (void)state;
    static double value[3][MANY], std[3][MANY];
    for (int t = 0; t < 3; t++) {
        mcr *ctx = test_open(t == 1 ? 1 : 3);
        int agrees = 0;
        test_ok(ctx, fit_large(ctx, t > 0, value[t], std[t], &agrees));
        assert_true(agrees);
        test_close(ctx);
    }
    assert_memory_equal(value[1], value[2], sizeof value[1]);
    assert_memory_equal(std[1], std[2], sizeof std[1]);
    test_close_arrays("values", value[1], value[0], MANY, 1e-3);
    for (int i = 0; i < MANY; i++)
        if (std[1][i] < std[0][i] - 1e-9)
            fail_msg("object %d: %g is below the standard deviation %g", i, std[1][i], std[0][i]);
}

static mcr_status large_once(mcr *ctx, void *arg)
{
    double *buffer = arg;
    return fit_large(ctx, true, buffer, buffer + MANY, NULL);
}

static void test_large_memory(void **state)
{
    (void)state;
    static double buffer[2 * MANY];
    test_sweep_allocations("a process without its matrix", large_once, buffer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bounds), cmocka_unit_test(test_meeting),
        cmocka_unit_test(test_slopes), cmocka_unit_test(test_without_gradient),
        cmocka_unit_test(test_same),   cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_lies),   cmocka_unit_test(test_memory),
        cmocka_unit_test(test_large),  cmocka_unit_test(test_large_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
