/* Kernel values and features are two ways to the same model: products with features, solvers,
 * learners, approximate maps.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "approx_helpers.h"

#include <float.h>

#include "gram/factor.h"
#include "gram/stored.h"
#include "solve/linear.h"

/* ---- products ---------------------------------------------------------------------------------*/

enum { ROWS = 700, COLS = 23 };

/* The same matrix as sparse rows and as a function. */
typedef struct matrix {
    int64_t start[ROWS + 1];
    int32_t index[ROWS * COLS];
    double value[ROWS * COLS], dense[ROWS * COLS];
} matrix;

static matrix *make_matrix(double zeros)
{
    matrix *m = calloc(1, sizeof *m);
    mcr_random r = mcr_random_stream(7, "matrix", 0);
    int64_t e = 0;
    for (int64_t i = 0; i < ROWS; i++) {
        for (int64_t k = 0; k < COLS; k++) {
            double v = mcr_random_uniform(&r) < zeros ? 0 : mcr_random_normal(&r);
            v = (double)(float)v; /* kept rows are floats */
            m->dense[i * COLS + k] = v;
            if (v != 0) {
                m->index[e] = (int32_t)k;
                m->value[e++] = v;
            }
        }
        m->start[i + 1] = e;
    }
    return m;
}

static mcr_status give_rows(void *self, const int64_t *row, int64_t first, int64_t count,
                            double *to, int64_t ld)
{
    const matrix *m = self;
    for (int64_t t = 0; t < count; t++)
        memcpy(to + t * ld, m->dense + (row ? row[t] : first + t) * COLS, sizeof *to * COLS);
    return MCR_OK;
}

enum { SPARSE, DENSE, MADE, KEPT, KEPT_DOUBLE, KINDS };

static mcr_gram *factor_of(mcr *ctx, matrix *m, int kind)
{
    mcr_factor f = {.n = ROWS, .p = COLS};
    mcr_gram *gram;
    if (kind == SPARSE) {
        f.start = m->start;
        f.index = m->index;
        f.value = m->value;
    } else if (kind == DENSE) {
        f.dense = m->dense;
        f.ld = COLS;
    } else {
        f.block = give_rows;
        f.self = m;
    }
    test_ok(ctx, mcr_gram_factor(&gram, ctx, &f));
    if (kind >= KEPT) {
        bool precise = kind == KEPT_DOUBLE;
        size_t left = mcr_budget_left(ctx);
        test_ok(ctx, mcr_gram_factor_keep(gram, 1 << 30, precise));
        assert_int_equal(left - mcr_budget_left(ctx),
                         ROWS * COLS * (precise ? sizeof(double) : sizeof(float)));
    }
    return gram;
}

/* Values, diagonal and products with K = D D^T, from the same rows. */
static void check_values(const matrix *m, mcr_gram *gram, const int64_t *row)
{
    enum { FEW = 70 };
    mcr *ctx = mcr_gram_context(gram);
    int64_t n = mcr_gram_rows(gram), list[FEW];
    double *k = calloc((size_t)(FEW * n), sizeof *k), *want = calloc((size_t)(FEW * n), sizeof *k);
    double *v = calloc((size_t)n, sizeof *v), *kv = calloc((size_t)n, sizeof *v);
    float *rough = calloc((size_t)(FEW * n), sizeof *rough);
    for (int64_t i = 0; i < FEW; i++) {
        list[i] = i * 31 % n;
        for (int64_t j = 0; j < n; j++)
            for (int64_t c = 0; c < COLS; c++)
                want[i * n + j] += m->dense[row[list[i]] * COLS + c] * m->dense[row[j] * COLS + c];
    }
    mcr_rows x = {list, 0, FEW}, all = mcr_gram_all(gram);
    test_ok(ctx, mcr_gram_block(gram, x, all, k, n));
    test_close_relative("block", k, want, FEW * n, 1e-13);
    test_ok(ctx, mcr_gram_block_float(gram, x, all, rough, n));
    for (int64_t i = 0; i < FEW * n; i++)
        assert_true(rough[i] == (float)k[i]);
    for (int64_t i = 0; i < n; i++)
        v[i] = i == list[3] ? 2 : i == list[5] ? -1 : 0;
    for (int64_t j = 0; j < n; j++)
        want[j] = 2 * want[3 * n + j] - want[5 * n + j];
    test_ok(ctx, mcr_gram_multiply(gram, v, 1, kv));
    test_close_relative("K v", kv, want, n, 1e-12);
    test_ok(ctx, mcr_gram_diagonal(gram, 0, v));
    for (int64_t i = 0; i < FEW; i++)
        test_close_real("K(x,x)", v[list[i]], k[i * n + list[i]], 1e-12);
    free(k);
    free(want);
    free(v);
    free(kv);
    free(rough);
}

/* x: rows of the Gram, which are rows row[] of the matrix. */
static void check_products(const matrix *m, mcr_gram *gram, mcr_rows x, const int64_t *row)
{
    enum { WIDE = 3 };
    mcr *ctx = mcr_gram_context(gram);
    double *v = calloc(COLS * WIDE, sizeof *v), *y = calloc(ROWS * WIDE, sizeof *y);
    double *a = calloc(ROWS * WIDE, sizeof *a), *u = calloc(COLS * WIDE, sizeof *u);
    double *want = calloc(ROWS * WIDE, sizeof *want), *h = calloc(ROWS, sizeof *h);
    double w[COLS * COLS], right[COLS * COLS] = {0};
    for (int64_t k = 0; k < COLS * WIDE; k++)
        v[k] = sin((double)k);
    for (int64_t i = 0; i < x.count * WIDE; i++)
        a[i] = cos((double)i);
    for (int64_t i = 0; i < x.count; i++)
        h[i] = i % 5 ? 0.1 + 0.01 * (double)(i % 17) : 0;
    for (int64_t cols = 1; cols <= WIDE; cols += 2) {
        for (int64_t i = 0; i < x.count; i++)
            for (int64_t c = 0; c < cols; c++) {
                want[i * cols + c] = 0;
                for (int64_t k = 0; k < COLS; k++)
                    want[i * cols + c] += m->dense[row[i] * COLS + k] * v[k * cols + c];
            }
        test_ok(ctx, mcr_gram_expand(gram, x, v, cols, y));
        test_close_relative("D v", y, want, x.count * cols, 1e-13);
        memset(want, 0, sizeof *want * COLS * WIDE);
        for (int64_t i = 0; i < x.count; i++)
            for (int64_t k = 0; k < COLS; k++)
                for (int64_t c = 0; c < cols; c++)
                    want[k * cols + c] += m->dense[row[i] * COLS + k] * a[i * cols + c];
        test_ok(ctx, mcr_gram_project(gram, x, a, cols, u));
        test_close_relative("D' a", u, want, COLS * cols, 1e-12);
    }
    test_ok(ctx, mcr_gram_weighted(gram, x, h, w, COLS));
    for (int64_t k = 0; k < COLS; k++)
        for (int64_t l = 0; l < COLS; l++) {
            for (int64_t i = 0; i < x.count && l <= k; i++)
                right[k * COLS + l] += h[i] * m->dense[row[i] * COLS + k] *
                                       m->dense[row[i] * COLS + l];
            w[k * COLS + l] = l <= k ? w[k * COLS + l] : 0;
        }
    test_close_relative("D' h D", w, right, COLS * COLS, 1e-12);
    free(v);
    free(y);
    free(a);
    free(u);
    free(want);
    free(h);
}

static void test_products(void **state)
{
    mcr *ctx = *state;
    int64_t all[ROWS], some[ROWS / 2], part[ROWS / 4], both[ROWS / 4];
    for (int64_t i = 0; i < ROWS; i++)
        all[i] = i;
    for (int64_t i = 0; i < ROWS / 2; i++)
        some[i] = (i * 37 + 5) % ROWS;
    for (int64_t i = 0; i < ROWS / 4; i++) {
        part[i] = (i * 11 + 2) % (ROWS / 2);
        both[i] = some[part[i]];
    }
    for (int t = 0; t < 2 * KINDS; t++) {
        matrix *m = make_matrix(t % 2 ? 0.9 : 0.2);
        mcr_gram *gram = factor_of(ctx, m, t / 2), *half;
        check_products(m, gram, mcr_gram_all(gram), all);
        check_products(m, gram, (mcr_rows){some, 0, ROWS / 2}, some);
        check_products(m, gram, (mcr_rows){NULL, 100, 300}, all + 100);
        check_values(m, gram, all);
        test_ok(ctx, mcr_gram_select_both(&half, gram, (mcr_rows){some, 0, ROWS / 2}));
        check_products(m, half, mcr_gram_all(half), some);
        check_products(m, half, (mcr_rows){part, 0, ROWS / 4}, both);
        check_values(m, half, some);
        mcr_gram_close(half);
        mcr_gram_close(gram);
        free(m);
    }
}

/* A smooth kernel on the line has a low rank to rounding; the identity has none. */
static void test_low_rank(void **state)
{
    enum { N = 700, COLUMNS = 2, MOST = 60 };
    mcr *ctx = *state;
    mcr_gram *low, *kept;
    double v[N * COLUMNS], y[N * COLUMNS], want[N * COLUMNS] = {0}, buffer[N * COLUMNS];
    double *k = calloc((size_t)N * N, sizeof *k), *l = calloc((size_t)N * MOST, sizeof *l);
    for (int64_t i = 0; i < N * COLUMNS; i++)
        v[i] = sin((double)i);
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < N; j++) {
            k[i * N + j] = exp(-pow((double)(i - j) / 300, 2));
            for (int64_t c = 0; c < COLUMNS; c++)
                want[i * COLUMNS + c] += k[i * N + j] * v[j * COLUMNS + c];
        }
    mcr_stored stored = {.n = N, .ld = N, .k = k, .precise = true};
    test_ok(ctx, mcr_gram_stored(&kept, ctx, &stored));
    test_ok(ctx, mcr_gram_low_rank(&low, kept, 1e-13, N / 4));
    int64_t rank = mcr_gram_width(low);
    assert_in_range(rank, 5, MOST);
    mcr_rows all = mcr_gram_all(low);
    test_ok(ctx, mcr_gram_project(low, all, v, COLUMNS, buffer));
    test_ok(ctx, mcr_gram_expand(low, all, buffer, COLUMNS, y));
    test_close_arrays("L L' v", y, want, N * COLUMNS, 1e-9);
    double inner[MOST * MOST], h[N];
    for (int64_t i = 0; i < N; i++)
        h[i] = fabs(v[i]);
    test_ok(ctx, mcr_gram_weighted(low, all, h, inner, MOST));
    test_ok(ctx, mcr_gram_factor_rows(low, all, l));
    for (int64_t r = 0; r < rank; r++)
        for (int64_t c = 0; c <= r; c++) {
            double sum = 0;
            for (int64_t i = 0; i < N; i++)
                sum += l[i * rank + r] * h[i] * l[i * rank + c];
            test_close_real("L' diag(h) L", inner[r * MOST + c], sum, 1e-10);
        }
    mcr_gram_close(low);
    for (int64_t i = 0; i < N * N; i++)
        k[i] = i % (N + 1) == 0;
    test_ok(ctx, mcr_gram_low_rank(&low, kept, 1e-13, N / 4));
    assert_null(low);
    mcr_gram_close(kept);
    free(k);
    free(l);
}

/* Of many objects, a Gram that is not kept: products from half of its values, the same bits with
 * one thread and with two; and a factor of its columns, which is it to rounding. */
static void test_products_of_many(void **state)
{
    enum { N = 1003, COLUMNS = 3, MANY = 17 };
    double *v = calloc(N * MANY, sizeof *v), *y[2], *low_y = calloc(N * COLUMNS, sizeof *low_y);
    (void)state;
    for (int64_t i = 0; i < N * MANY; i++)
        v[i] = sin((double)i);
    for (int t = 0; t < 2; t++) {
        mcr *ctx = test_open(t + 1);
        mcr_data *data = sample_data(ctx, "moons", N);
        mcr_kernel *kernel;
        mcr_gram *gram, *low;
        double *k = all_values(ctx, "rbf(gamma=0.5)", data), u[300 * COLUMNS];
        y[t] = calloc(N * MANY, sizeof *y[t]);
        test_ok(ctx, mcr_kernel_parse(&kernel, ctx, "rbf(gamma=0.5)"));
        test_ok(ctx, mcr_gram_open(&gram, ctx, kernel, data, NULL));
        for (int64_t cols = COLUMNS; cols <= MANY; cols += MANY - COLUMNS) {
            test_ok(ctx, mcr_gram_multiply(gram, v, cols, y[t]));
            for (int64_t i = 0; i < N; i += 7)
                for (int64_t c = 0; c < cols; c++) {
                    double sum = 0;
                    for (int64_t j = 0; j < N; j++)
                        sum += k[i * N + j] * v[j * cols + c];
                    test_close_real("K v", y[t][i * cols + c], sum, 1e-11);
                }
        }
        test_ok(ctx, mcr_gram_multiply(gram, v, COLUMNS, y[t]));
        test_ok(ctx, mcr_gram_low_rank(&low, gram, 1e-13, 300));
        assert_non_null(low);
        assert_in_range(mcr_gram_width(low), 20, 300);
        test_ok(ctx, mcr_gram_project(low, mcr_gram_all(low), v, COLUMNS, u));
        test_ok(ctx, mcr_gram_expand(low, mcr_gram_all(low), u, COLUMNS, low_y));
        test_close_arrays("L L' v", low_y, y[t], N * COLUMNS, 1e-9);
        mcr_gram_close(low);
        test_ok(ctx, mcr_gram_low_rank(&low, gram, 1e-13, 20));
        assert_null(low);
        free(k);
        mcr_gram_close(gram);
        mcr_kernel_free(kernel);
        mcr_data_free(data);
        test_close(ctx);
    }
    assert_memory_equal(y[0], y[1], sizeof **y * N * COLUMNS);
    free(v);
    free(y[0]);
    free(y[1]);
    free(low_y);
}

/* ---- solvers ----------------------------------------------------------------------------------*/

/* The solvers on D find what SMO finds on D D'. */
static void test_programs(void **state)
{
    mcr *ctx = *state;
    for (int t = 0; t < 8; t++) {
        problem p = problem_classes(ctx, 150, 6, 2, 0.15, t & 1, true, (uint64_t)t + 1);
        mcr_kernel *k;
        mcr_gram *gram, *d;
        test_ok(ctx, mcr_kernel_parse(&k, ctx, t & 2 ? "poly(degree=2, c=1)" : "linear"));
        test_ok(ctx, mcr_gram_open(&gram, ctx, k, p.data, NULL));
        enum { N = 150 };
        double lo[N], hi[N], z[N], b[4][N] = {{0}}, g[4][N], w[64];
        for (int64_t i = 0; i < N; i++) {
            double most = (t & 4 ? 0.3 : 3) * problem_weight(&p, i);
            z[i] = p.y[i];
            lo[i] = z[i] > 0 ? 0 : -most;
            hi[i] = z[i] > 0 ? most : 0;
        }
        test_ok(ctx, mcr_gram_features(&d, ctx, k, p.data));
        mcr_qp qp = {
            .n = N, .z = z, .lo = lo, .hi = hi, .no_sum = t == 3 || t == 6, .tolerance = 1e-8};
        mcr_qp_result r;
        test_ok(ctx, mcr_qp_solve(gram, &qp, b[0], g[0], &r));
        mcr_linear_solver *const solver[] = {NULL, mcr_linear_interior, mcr_linear_descent,
                                             mcr_linear_smooth};
        for (int s = 1; s < 4; s++) {
            test_ok(ctx, solver[s](d, &qp, b[s], g[s], w, &r));
            double sum = 0;
            for (int64_t i = 0; i < N; i++) {
                sum += b[s][i];
                assert_true(b[s][i] >= lo[i] && b[s][i] <= hi[i]);
            }
            if (r.stop != MCR_STOP_OPTIMAL || !(r.violation <= 1e-8))
                fail_msg("problem %d, solver %d: stop %d, violation %g, steps %d", t, s, r.stop,
                         r.violation, (int)r.steps);
            test_close_real("sum", qp.no_sum ? 0 : sum, 0, 1e-10);
            test_close_arrays("D D' b", g[s], g[0], N, 2e-7);
        }
        /* SMO takes the values of K from the factor, too. */
        memset(b[1], 0, sizeof b[1]);
        test_ok(ctx, mcr_qp_solve(d, &qp, b[1], g[1], &r));
        assert_int_equal(r.stop, MCR_STOP_OPTIMAL);
        test_close_arrays("K b", g[1], g[0], N, 2e-7);
        mcr_gram_close(d);
        mcr_gram_close(gram);
        mcr_kernel_free(k);
        problem_free(&p);
    }
}

/* K a in extended precision, by a factor and by kernel values; and what double makes of it. */
static void compare_extended(mcr *ctx, mcr_gram *d, mcr_gram *gram)
{
    enum { N = 60 };
    double a[N], f[2][N], low[2][N], error[2][N], g[N];
    mcr_random random = mcr_random_stream(7, "extended", 0);
    for (int64_t i = 0; i < N; i++) /* sums that cancel */
        a[i] = i % 2 ? -a[i - 1] * (1 + 1e-9 * mcr_random_normal(&random))
                     : 1e8 * mcr_random_normal(&random);
    mcr_gram *of[2] = {d, gram};
    for (int k = 0; k < 2; k++) {
        mcr_extended to = {.n = N, .outputs = 1, .a = a, .f = f[k], .low = low[k]};
        test_ok(ctx, mcr_gram_prepare(of[k], true));
        test_ok(ctx, mcr_gram_extended(of[k], &to));
        if (!(to.share < 1e-15))
            fail_msg("Gram %d: the share of the error is %g", k, to.share);
        test_ok(ctx, mcr_gram_product_error(of[k], a, 1, to.share, error[k]));
    }
    for (int64_t i = 0; i < N; i++) {
        double off = (f[0][i] - f[1][i]) + (low[0][i] - low[1][i]);
        if (fabs(off) > error[0][i] + error[1][i])
            fail_msg("object %d: off by %g, the bounds are %g and %g", (int)i, off, error[0][i],
                     error[1][i]);
    }
    test_ok(ctx, mcr_gram_multiply(d, a, 1, g));
    test_ok(ctx, mcr_gram_product_error(d, a, 1, NAN, error[0]));
    for (int64_t i = 0; i < N; i++)
        if (fabs(g[i] - f[1][i]) > error[0][i] + error[1][i])
            fail_msg("object %d: double is off by %g, the bound is %g", (int)i,
                     fabs(g[i] - f[1][i]), error[0][i]);
}

static void test_extended(void **state)
{
    mcr *ctx = *state;
    static const char *const kernels[] = {"linear", "poly(degree=3, c=1)",
                                          "linear + poly(degree=2)"};
    if (LDBL_MANT_DIG < 64) {
        print_message("# skip: long double is no more than double here\n");
        skip();
    }
    for (int t = 0; t < 6; t++) {
        enum { N = 60, ALL = 90 };
        problem p = problem_classes(ctx, ALL, 5, 2, 0.1, t & 1, false, (uint64_t)t + 1);
        mcr_kernel *k;
        mcr_gram *gram, *d, *some[2];
        int64_t row[N];
        for (int64_t i = 0; i < N; i++)
            row[i] = i * 7 % ALL;
        test_ok(ctx, mcr_kernel_parse(&k, ctx, kernels[t / 2]));
        test_ok(ctx, mcr_gram_features(&d, ctx, k, p.data));
        test_ok(ctx, mcr_gram_open(&gram, ctx, k, p.data, NULL));
        test_ok(ctx, mcr_gram_select_both(&some[0], d, (mcr_rows){row, 0, N}));
        test_ok(ctx, mcr_gram_select_both(&some[1], gram, (mcr_rows){row, 0, N}));
        compare_extended(ctx, some[0], some[1]);
        mcr_gram_close(some[0]);
        mcr_gram_close(some[1]);
        mcr_gram_close(d);
        mcr_gram_close(gram);
        mcr_kernel_free(k);
        problem_free(&p);
    }
}

/* ---- learners ---------------------------------------------------------------------------------*/

/* What is called optimal is so with its error, and verify does not disagree. */
static void test_errors(void **state)
{
    mcr *ctx = *state;
    static const char *const options[][2] = {
        {"ridge", "form=primal lambda=1e-9"},
        {"ridge", "form=primal lambda=1e-14"},
        {"ridge", "form=primal lambda=1"},
        {"logistic", "form=primal lambda=1e-7"},
        {"logistic", "form=primal lambda=0.01"},
        {"svm", "form=primal C=1e6"},
        {"svm", "form=primal C=0.1"},
    };
    for (size_t t = 0; t < sizeof options / sizeof *options; t++) {
        bool ridge = options[t][0][0] == 'r';
        problem p = ridge ? problem_numbers(ctx, 120, 4, 0.1, false, t + 1)
                          : problem_classes(ctx, 120, 4, 2, 0.1, false, false, t + 1);
        mcr_model *m = fit_model(ctx, options[t][0], t % 2 ? "poly(degree=2, c=1)" : "linear",
                                 p.data, options[t][1]);
        const mcr_report_fit *r = mcr_model_report(m);
        mcr_verification found = MCR_INIT(mcr_verification);
        assert_true(r->value_error > 0 && r->objective_error > 0);
        if (r->stop == MCR_STOP_OPTIMAL && !(r->value + r->value_error <= r->tolerance))
            fail_msg("%s %s: %g, error %g", options[t][0], options[t][1], r->value, r->value_error);
        test_ok(ctx, mcr_model_verify(ctx, m, p.data, NULL, &found));
        if (found.verdict == MCR_VERIFY_DISAGREES)
            fail_msg("%s %s: %s", options[t][0], options[t][1], found.fault);
        mcr_model_free(m);
        problem_free(&p);
    }
}

static void compare_forms(mcr *ctx, const char *learner, const char *kernel, const mcr_data *data,
                          const char *options)
{
    double *score[2], objective[2];
    int64_t outputs = 0;
    for (int primal = 0; primal < 2; primal++) {
        char text[256];
        snprintf(text, sizeof text, "form=%s %s", primal ? "primal" : "dual", options);
        mcr_model *m = fit_model(ctx, learner, kernel, data, text);
        assert_string_equal(mcr_model_report(m)->form, primal ? "primal" : "dual");
        score[primal] = scores_of(ctx, m, data, NULL);
        objective[primal] = mcr_model_report(m)->objective;
        outputs = mcr_model_outputs(m);
        mcr_model_free(m);
    }
    char what[256];
    snprintf(what, sizeof what, "%s, %s, %s", learner, kernel, options);
    test_close_arrays(what, score[1], score[0], mcr_data_count(data) * outputs, 1e-6);
    test_close_real(what, objective[1], objective[0], 1e-6 * (1 + fabs(objective[0])));
    free(score[0]);
    free(score[1]);
}

static const char *const kernels[] = {"linear", "poly(degree=2, c=1)"};

static void test_svm(void **state)
{
    static const char *const options[] = {
        "C=1 tol=1e-8",
        "C=20 tol=1e-8",
        "C=0.05 tol=1e-8 bias=no",
        "lambda=0.01 tol=1e-8 class-weight=balanced",
        "C=1 tol=1e-8 multiclass=ovr",
    };
    mcr *ctx = *state;
    for (int t = 0; t < 12; t++)
        for (size_t o = 0; o < sizeof options / sizeof *options; o++) {
            problem p = problem_classes(ctx, 160, 5, t % 3 == 2 ? 4 : 2, 0.1, t & 1, t & 2,
                                        (uint64_t)t);
            compare_forms(ctx, "svm", kernels[t % 2], p.data, options[o]);
            problem_free(&p);
        }
}

/* A class without weight, objects without features, one feature. */
static void test_corners(void **state)
{
    mcr *ctx = *state;
    for (int t = 0; t < 3; t++) {
        problem p = problem_points(50, 3, 0, 1);
        p.weight = calloc(50, sizeof *p.weight);
        for (int64_t i = 0; i < 50; i++) {
            p.y[i] = i % 2 ? 1 : -1;
            p.weight[i] = t == 2 || i % 2 == 1 - t;
            for (int64_t k = 0; k < 3 && t == 2; k++)
                p.x[i * 3 + k] = 0;
        }
        problem_build(&p, ctx, true);
        compare_forms(ctx, "svm", "linear", p.data, "C=1");
        if (t == 2)
            compare_forms(ctx, "logistic", "linear", p.data, "lambda=1");
        problem_free(&p);
    }
}

static void test_smooth(void **state)
{
    mcr *ctx = *state;
    for (int t = 0; t < 8; t++) {
        problem p = problem_classes(ctx, 140, 5, t % 3 == 2 ? 3 : 2, 0.1, t & 1, t & 2,
                                    (uint64_t)t);
        problem q = problem_numbers(ctx, 140, 4, 0.2, t & 1, (uint64_t)t);
        compare_forms(ctx, "logistic", kernels[t % 2], p.data, "lambda=0.5 tol=1e-9");
        compare_forms(ctx, "logistic", kernels[t % 2], p.data, "lambda=0.01 tol=1e-10");
        compare_forms(ctx, "ridge", kernels[t % 2], q.data, "lambda=1 tol=1e-9");
        compare_forms(ctx, "ridge", kernels[t % 2], q.data, "lambda=0.001 tol=1e-8");
        compare_forms(ctx, "ridge", kernels[t % 2], p.data, "lambda=0.1 tol=1e-9 task=classify");
        problem_free(&p);
        problem_free(&q);
    }
}

/* Strings: more features than objects, so coordinate descent and conjugate gradients. */
static void test_many_features(void **state)
{
    mcr *ctx = *state;
    mcr_data *data = sample_data(ctx, "motifs", 120);
    compare_forms(ctx, "svm", "normalize(spectrum(p=7))", data, "C=10 tol=1e-8");
    compare_forms(ctx, "logistic", "normalize(spectrum(p=7))", data, "lambda=0.1 tol=1e-9");
    compare_forms(ctx, "ridge", "normalize(spectrum(p=7))", data,
                  "lambda=0.1 tol=1e-9 task=classify");
    mcr_data_free(data);
}

/* Probabilities: the folds are trained with features, too. */
static void test_probability(void **state)
{
    mcr *ctx = *state;
    problem p = problem_classes(ctx, 150, 4, 3, 0.15, false, true, 3);
    double proba[2][450];
    for (int primal = 0; primal < 2; primal++) {
        mcr_model *m = fit_model(ctx, "svm", "linear", p.data,
                                 primal ? "probability=yes tol=1e-8 form=primal"
                                        : "probability=yes tol=1e-8 form=dual");
        test_ok(ctx, mcr_predict(ctx, m, p.data, NULL, NULL, proba[primal]));
        mcr_model_free(m);
    }
    test_close_arrays("probabilities", proba[1], proba[0], 450, 1e-5);
    problem_free(&p);
}

/* The planner takes features where there are few of them and many objects, and tells. */
static void test_planner(void **state)
{
    mcr *ctx = *state;
    problem p = problem_classes(ctx, 30000, 5, 2, 0.1, false, false, 1);
    problem few = problem_classes(ctx, 100, 5, 2, 0.1, false, false, 1);
    mcr_model *m = fit_model(ctx, "svm", "linear", p.data, NULL);
    assert_string_equal(mcr_model_report(m)->form, "primal");
    assert_non_null(strstr(mcr_model_report(m)->why, "5 features"));
    mcr_model_free(m);
    m = fit_model(ctx, "svm", "linear", few.data, NULL);
    assert_string_equal(mcr_model_report(m)->form, "dual");
    assert_non_null(mcr_model_report(m)->why);
    mcr_model_free(m);
    m = fit_model(ctx, "svm", "rbf(gamma=1)", few.data, NULL);
    assert_string_equal(mcr_model_report(m)->form, "dual");
    assert_null(mcr_model_report(m)->why);
    mcr_model_free(m);
    problem_free(&p);
    problem_free(&few);
}

static void test_refusals(void **state)
{
    mcr *ctx = *state;
    mcr_model *m;
    problem p = problem_classes(ctx, 60, 3, 2, 0.1, false, false, 1);
    test_fails(ctx, try_fit(&m, ctx, "svm", "rbf(gamma=1)", p.data, "form=primal"), MCR_BAD_CALL,
               "no finite feature map");
    test_fails(ctx, try_fit(&m, ctx, "svm", "linear", p.data, "form=primal C=inf"), MCR_BAD_CALL,
               "hard margin");
    test_fails(ctx, try_fit(&m, ctx, "svm", "linear", p.data, "form=dual approx=nystrom"),
               MCR_BAD_CALL, "approximat");
    test_fails(ctx, try_fit(&m, ctx, "svm", "linear", p.data, "approx=rff"), MCR_BAD_CALL,
               "nystrom");
    test_fails(ctx, try_fit(&m, ctx, "ridge", "linear", p.data, "approx=nystrom lambda=0"),
               MCR_BAD_CALL, "lambda = 0");
    test_fails(ctx, try_fit(&m, ctx, "ridge", "linear", p.data, "form=primal loo=yes"),
               MCR_BAD_CALL, "leave-one-out");
    problem_free(&p);
}

/* ---- approximate maps -------------------------------------------------------------------------*/

static mcr_map *open_near(mcr *ctx, const char *kernel, const mcr_data *data, mcr_approx approx,
                          int64_t rank, mcr_landmarks how, mcr_map_error *error)
{
    mcr_map *m = open_map(ctx, kernel, data, approx, rank, how);
    test_ok(ctx, mcr_map_measure(m, data, error));
    return m;
}

/* With all objects as landmarks the kernel is exact; with fewer, better choices are not much
 * worse. */
static void test_nystrom(void **state)
{
    static const char *const many[] = {"rbf(x, gamma=0.5)", "ssk(sequence, p=2)",
                                       "wl(molecule, h=2)", "rbf(x, gamma=1) + wl(molecule, h=1)"};
    mcr *ctx = *state;
    mcr_data *data = sample_data(ctx, "mixed", 60), *moons = sample_data(ctx, "moons", 600);
    mcr_map_error error = MCR_INIT(mcr_map_error);
    for (int t = 0; t < 4; t++)
        for (int how = 0; how < 3; how++) {
            mcr_map *m = open_near(ctx, many[t], data, MCR_APPROX_NYSTROM, 1000, (mcr_landmarks)how,
                                   &error);
            assert_true(mcr_map_count(m) <= 60);
            assert_true(error.largest <= 1e-6 * error.scale);
            mcr_map_close(m);
        }
    for (int how = 0; how < 3; how++) {
        mcr_map *m = open_near(ctx, "rbf(gamma=20)", moons, MCR_APPROX_NYSTROM, 60,
                               (mcr_landmarks)how, &error);
        assert_int_equal(mcr_map_count(m), 60);
        assert_true(error.rms < 0.1 && error.mean <= error.rms && error.rms <= error.largest);
        mcr_map_close(m);
    }
    mcr_data_free(data);
    mcr_data_free(moons);
}

/* Errors of random features fall like one over the root of their number, for each kernel. */
static void test_fourier(void **state)
{
    static const char *const kernel[] = {
        "rbf(gamma=0.5)",           "rbf(gamma=[0.5, 2])",      "laplace(gamma=0.7)",
        "matern(nu=0.5, length=2)", "matern(nu=1.5, length=2)", "matern(nu=2.5, length=[1, 2])"};
    mcr *ctx = *state;
    mcr_data *data = sample_data(ctx, "moons", 300);
    for (int t = 0; t < 6; t++)
        for (int64_t rank = 200; rank <= 20000; rank *= 10) {
            mcr_map_error error = MCR_INIT(mcr_map_error);
            mcr_map *m = open_near(ctx, kernel[t], data, MCR_APPROX_RFF, rank, 0, &error);
            assert_int_equal(mcr_map_count(m), rank);
            if (!(error.rms < 2 / sqrt((double)rank)))
                fail_msg("%s, %d: %g", kernel[t], (int)rank, error.rms);
            test_close_real("K(x,x)", error.scale, 1, 1e-12);
            mcr_map_close(m);
        }
    mcr_data_free(data);
}

static void test_near_models(void **state)
{
    static const mcr_approx approx[] = {MCR_APPROX_NYSTROM, MCR_APPROX_RFF, MCR_APPROX_FALKON};
    static const char *const learner[] = {"svm", "ridge", "logistic"};
    static const char *const option[] = {"C=5 tol=1e-6", "lambda=0.1 task=classify tol=1e-9",
                                         "lambda=0.1 tol=1e-9"};
    mcr *ctx = *state;
    mcr_data *data = sample_data(ctx, "blobs", 300);
    for (int t = 0; t < 9; t++)
        check_approx_model(ctx, learner[t % 3], option[t % 3], data, approx[t / 3], 40, 2e-4);
    mcr_data_free(data);
}

/* Many objects: the first weights come from samples. */
static void test_many_objects(void **state)
{
    mcr *ctx = *state;
    static const char *const options[] = {"C=1 tol=1e-4", "C=20 tol=1e-4 bias=no",
                                          "lambda=0.001 tol=1e-4 class-weight=balanced"};
    for (int t = 0; t < 3; t++) {
        problem p = problem_classes(ctx, 9000, 4, 2, 0.1, t == 2, true, 3);
        char words[2][100];
        double dual[2], *score[2];
        for (int primal = 0; primal < 2; primal++) {
            snprintf(words[primal], sizeof words[primal], "%s form=%s", options[t],
                     primal ? "primal" : "dual");
            mcr_model *m = fit_model(ctx, "svm", "linear", p.data, words[primal]);
            dual[primal] = mcr_model_report(m)->dual;
            score[primal] = scores_of(ctx, m, p.data, NULL);
            mcr_model_free(m);
        }
        test_close_real("dual", dual[1] / dual[0], 1, 1e-5);
        test_close_arrays("scores", score[1], score[0], 9000, 4e-3);
        free(score[0]);
        free(score[1]);
        problem_free(&p);
    }
    /* A limit, in a sample and later, is an outcome with a feasible solution. */
    problem p = problem_classes(ctx, 9000, 4, 2, 0.1, false, true, 4);
    for (int steps = 1; steps < 14; steps += 4) {
        char words[60];
        mcr_model *m;
        snprintf(words, sizeof words, "form=primal max-steps=%d", steps);
        test_ok(ctx, try_fit(&m, ctx, "svm", "linear", p.data, words));
        const mcr_report_fit *r = mcr_model_report(m);
        if (r->stop != MCR_STOP_STEPS)
            fail_msg("%d steps: %s after %d", steps, mcr_stop_name(r->stop), (int)r->iterations);
        assert_true(r->iterations >= steps && r->iterations <= steps + 1);
        assert_true(r->value > r->tolerance && r->gap >= 0);
        mcr_model_free(m);
    }
    problem_free(&p);
}

/* One class against the rest: all problems share one K, in float, which tight tolerances do
 * without. */
static void test_shared(void **state)
{
    double *score[3];
    (void)state;
    for (int t = 0; t < 3; t++) {
        mcr *ctx = test_open(t == 0 ? 1 : 3);
        problem p = problem_classes(ctx, 700, 5, 4, 0.1, false, true, 5);
        mcr_model *m = fit_model(ctx, "svm", "rbf(gamma=0.3)", p.data,
                                 t < 2 ? "C=2 tol=1e-5 multiclass=ovr"
                                       : "C=2 tol=9e-6 multiclass=ovr");
        score[t] = scores_of(ctx, m, p.data, NULL);
        mcr_model_free(m);
        problem_free(&p);
        test_close(ctx);
    }
    assert_memory_equal(score[0], score[1], 4 * 700 * sizeof(double));
    test_close_arrays("shared or not", score[2], score[0], 4 * 700, 1e-4);
    for (int t = 0; t < 3; t++)
        free(score[t]);
}

/* The same bits for any number of threads. */
static void test_threads(void **state)
{
    static const char *const call[][3] = {
        {"svm", "linear", "form=primal"},
        {"svm", "poly(degree=2, c=1)", "form=primal"},
        {"svm", "rbf(gamma=1)", "approx=nystrom rank=50 landmarks=kmeans"},
        {"svm", "rbf(gamma=1)", "approx=rff rank=50"},
        {"svm", "rbf(gamma=1)", "approx=falkon rank=50"},
        {"ridge", "rbf(gamma=1)", "approx=falkon rank=50 task=classify"},
        {"logistic", "rbf(gamma=1)", "approx=falkon rank=50"},
        {"ridge", "rbf(gamma=1)", "approx=nystrom rank=50 landmarks=leverage task=classify"},
        {"logistic", "linear", "form=primal"},
    };
    (void)state;
    for (size_t t = 0; t < sizeof call / sizeof *call; t++) {
        double *score[2];
        for (int threads = 1; threads <= 2; threads++) {
            mcr *ctx = test_open(threads == 1 ? 1 : 3);
            problem p = problem_classes(ctx, t ? 3000 : 9000, 5, 2, 0.1, false, true, 2);
            mcr_model *m = fit_model(ctx, call[t][0], call[t][1], p.data, call[t][2]);
            score[threads - 1] = scores_of(ctx, m, p.data, NULL);
            mcr_model_free(m);
            problem_free(&p);
            test_close(ctx);
        }
        assert_memory_equal(score[0], score[1], 3000 * sizeof(double));
        free(score[0]);
        free(score[1]);
    }
}

/* ---- out of memory ----------------------------------------------------------------------------*/

static mcr_status fit_and_free(mcr *ctx, void *arg)
{
    const char *const *call = arg;
    mcr_model *m = NULL;
    mcr_options *o = NULL;
    mcr_kernel *k = NULL;
    mcr_data *data = NULL;
    mcr_status s = mcr_data_sample(&data, ctx, "blobs", 30, -1);
    if (!s)
        s = mcr_options_open(&o, ctx, call[0]);
    if (!s)
        s = mcr_options_set(o, call[2], call[3]);
    if (!s && call[4])
        s = mcr_options_set(o, "landmarks", call[4]);
    if (!s)
        s = mcr_kernel_parse(&k, ctx, call[1]);
    if (!s)
        s = mcr_fit(&m, o, k, data, NULL);
    mcr_model_free(m);
    mcr_kernel_free(k);
    mcr_options_close(o);
    mcr_data_free(data);
    return s;
}

static void test_short_memory(void **state)
{
    static const char *const call[][5] = {
        {"svm", "linear", "form", "primal", NULL},
        {"ridge", "poly(degree=2, c=1)", "form", "primal", NULL},
        {"logistic", "linear", "form", "primal", NULL},
        {"svm", "rbf(gamma=1)", "multiclass", "ovr", NULL},
        {"svm", "rbf(gamma=1)", "approx", "nystrom", "kmeans"},
        {"ridge", "rbf(gamma=1)", "approx", "nystrom", "leverage"},
        {"logistic", "rbf(gamma=1)", "approx", "rff", NULL},
        {"logistic", "rbf(gamma=1)", "approx", "falkon", NULL},
    };
    (void)state;
    for (size_t t = 0; t < sizeof call / sizeof *call; t++)
        test_sweep_allocations(call[t][0], fit_and_free, (void *)call[t]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_low_rank, test_setup, test_teardown),
        cmocka_unit_test(test_products_of_many),
        cmocka_unit_test_setup_teardown(test_products, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_programs, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_extended, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_errors, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_svm, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_corners, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_smooth, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_many_features, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_probability, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_planner, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_refusals, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_nystrom, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_fourier, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_near_models, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_many_objects, test_setup, test_teardown),
        cmocka_unit_test(test_shared),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_short_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
