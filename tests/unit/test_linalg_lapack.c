/* Tiled factorisations: the factor, solutions and the inverse of a matrix of several panels, the
 * upper triangle left alone, the same bits for any number of threads.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "helpers.h"
#include "linalg/lapack.h"
#include "linalg/shared.h"
#include "linalg/smallest.h"
#include "linalg/sweep.h"
#include "linalg/system.h"

static double element(int64_t i, int64_t j)
{
    return exp(-fabs((double)(i - j)) / 50) + (i == j ? 0.25 : 0);
}

/* Lower triangle and diagonal; what is above must not be read. */
static void fill(mcr_system *m)
{
    for (int64_t i = 0; i < m->n; i++)
        for (int64_t j = 0; j < m->n; j++)
            m->a[i * m->ld + j] = j <= i ? element(i, j) : 1e9 + (double)j;
}

static void expect_upper(const mcr_system *m)
{
    for (int64_t i = 0; i < m->n; i++)
        for (int64_t j = i + 1; j < m->n; j++)
            assert_true(m->a[i * m->ld + j] == 1e9 + (double)j);
}

static const int64_t sizes[] = {1, 5, 256, 257, 700, 1300};
enum { SIZES = sizeof sizes / sizeof *sizes };

static void test_factor(void **context)
{
    for (int t = 0; t < SIZES; t++) {
        int64_t n = sizes[t];
        mcr_system m;
        test_ok(*context, mcr_system_open(&m, *context, n, "test"));
        fill(&m);
        test_ok(*context, mcr_lapack_cholesky(*context, n, m.a, m.ld, NULL, NULL));
        expect_upper(&m);
        for (int64_t i = 0; i < n; i += 1 + n / 37)
            for (int64_t j = 0; j <= i; j += 1 + n / 41) {
                double sum = 0;
                for (int64_t k = 0; k <= j; k++)
                    sum += m.a[i * m.ld + k] * m.a[j * m.ld + k];
                test_close_real("L L'", sum, element(i, j), 1e-13);
            }
        mcr_system_close(&m);
    }
}

static void test_solution(void **context)
{
    enum { MOST = 3 };
    for (int t = 0; t < SIZES; t++)
        for (int64_t count = 1; count <= MOST; count += 2) {
            int64_t n = sizes[t];
            mcr_system m;
            double *x = calloc((size_t)(n * count), sizeof *x);
            double *b = calloc((size_t)(n * count), sizeof *b);
            test_ok(*context, mcr_system_open(&m, *context, n, "test"));
            fill(&m);
            for (int64_t i = 0; i < n * count; i++)
                x[i] = sin((double)(i + 1));
            for (int64_t i = 0; i < n; i++)
                for (int64_t j = 0; j < n; j++)
                    for (int64_t c = 0; c < count; c++)
                        b[i * count + c] += element(i, j) * x[j * count + c];
            test_ok(*context, mcr_lapack_cholesky(*context, n, m.a, m.ld, "test", NULL));
            test_ok(*context, mcr_lapack_solve(*context, n, count, m.a, m.ld, b, count));
            test_close_arrays("A x = b", b, x, n * count, 1e-11);
            mcr_system_close(&m);
            free(x);
            free(b);
        }
}

static void test_products(void **context)
{
    for (int t = 0; t < SIZES; t++)
        for (int64_t cols = 1; cols <= 3; cols += 2) {
            int64_t n = sizes[t];
            mcr_system m;
            double *v = calloc((size_t)(n * cols), sizeof *v);
            double *y = calloc((size_t)(n * cols), sizeof *y);
            double *want = calloc((size_t)(n * cols), sizeof *want);
            test_ok(*context, mcr_system_open(&m, *context, n, "test"));
            for (int64_t i = 0; i < n * cols; i++)
                v[i] = cos((double)i);
            for (int64_t i = 0; i < n; i++)
                for (int64_t j = 0; j < n; j++) {
                    m.a[i * m.ld + j] = element(i, j);
                    for (int64_t c = 0; c < cols; c++)
                        want[i * cols + c] += element(i, j) * v[j * cols + c];
                }
            test_ok(*context, mcr_shared_multiply(*context, n, m.a, m.ld, v, cols, y));
            test_close_arrays("A v", y, want, n * cols, 1e-11);
            mcr_system_filled(&m);
            for (int64_t i = 0; i < n; i++)
                for (int64_t j = 0; j <= i; j++)
                    m.a[i * m.ld + j] = NAN;
            test_ok(*context, mcr_system_multiply(&m, v, cols, y));
            test_close_arrays("A v from its upper triangle", y, want, n * cols, 1e-11);
            mcr_system_close(&m);
            free(v);
            free(y);
            free(want);
        }
}

static void test_inverse(void **context)
{
    for (int t = 0; t < SIZES; t++) {
        int64_t n = sizes[t];
        mcr_system m;
        double *d = calloc((size_t)n, sizeof *d), *again = calloc((size_t)n, sizeof *again);
        double *row = calloc((size_t)n, sizeof *row);
        test_ok(*context, mcr_system_open(&m, *context, n, "test"));
        fill(&m);
        test_ok(*context, mcr_lapack_cholesky(*context, n, m.a, m.ld, NULL, NULL));
        test_ok(*context, mcr_lapack_inverse_diagonal(*context, n, m.a, m.ld, d, NULL));
        expect_upper(&m);
        test_ok(*context, mcr_lapack_inverse(*context, n, m.a, m.ld, again, NULL));
        test_close_arrays("diagonal", d, again, n, 1e-12);
        for (int64_t i = 0; i < n; i += 1 + n / 11) {
            memset(row, 0, sizeof *row * (size_t)n);
            for (int64_t k = 0; k < n; k++) {
                double inverse = k < i ? m.a[k * m.ld + i] : k > i ? m.a[i * m.ld + k] : again[i];
                for (int64_t j = 0; j < n; j++)
                    row[j] += inverse * element(k, j);
            }
            row[i] -= 1;
            memset(d, 0, sizeof *d * (size_t)n);
            test_close_arrays("A^-1 A = 1", row, d, n, 1e-11);
        }
        mcr_system_close(&m);
        free(row);
        free(d);
        free(again);
    }
}

/* By sweeps: both triangles, the same bits for any number of threads. */
static void test_sweeps(void **context)
{
    (void)context;
    for (int t = 0; t < SIZES; t++) {
        int64_t n = sizes[t], ld = n + 3;
        double *a = calloc((size_t)(n * ld), sizeof *a),
               *first = calloc((size_t)(n * ld), sizeof *a);
        double *row = calloc((size_t)n, sizeof *row), *zero = calloc((size_t)n, sizeof *zero);
        for (int threads = 1; threads <= 3; threads++) {
            mcr *ctx = test_open(threads);
            for (int64_t i = 0; i < n; i++)
                for (int64_t j = 0; j < n; j++)
                    a[i * ld + j] = j <= i ? element(i, j) : NAN;
            test_ok(ctx, mcr_sweep_inverse(ctx, n, a, ld, "test"));
            if (threads == 1)
                memcpy(first, a, sizeof *a * (size_t)(n * ld));
            assert_memory_equal(first, a, sizeof *a * (size_t)(n * ld));
            a[0] = a[(n - 1) * ld + n - 1] = -1;
            assert_int_equal(mcr_sweep_inverse(ctx, n, a, ld, "test"), MCR_NUMERIC);
            test_close(ctx);
        }
        for (int64_t i = 0; i < n; i += 1 + n / 11) {
            memset(row, 0, sizeof *row * (size_t)n);
            for (int64_t k = 0; k < n; k++) {
                assert_true(first[i * ld + k] == first[k * ld + i]);
                for (int64_t j = 0; j < n; j++)
                    row[j] += first[i * ld + k] * element(k, j);
            }
            row[i] -= 1;
            test_close_arrays("A^-1 A = 1", row, zero, n, 1e-11);
        }
        free(a);
        free(first);
        free(row);
        free(zero);
    }
}

static int stop_at_fraction(void *user, const mcr_progress *now)
{
    double *last = user;
    assert_string_equal(now->phase, "test");
    assert_true(now->fraction >= *last);
    *last = now->fraction;
    return now->fraction > 0.4;
}

/* It looks at the limits between blocks, and its memory is of the budget. */
static void test_sweeps_have_limits(void **context)
{
    (void)context;
    enum { N = 600 };
    double *a = calloc(N * N, sizeof *a), last = 0;
    size_t need = mcr_sweep_bytes(N);
    for (int c = 0; c < 4; c++) { /* stopped by the user, by the time, too little memory, enough */
        mcr *ctx;
        mcr_config config = {.size = sizeof config,
                             .threads = 1,
                             .user = &last,
                             .memory_bytes = c == 2   ? need - 1
                                             : c == 3 ? need
                                                      : 0,
                             .progress = c == 0 ? stop_at_fraction : NULL};
        for (int64_t i = 0; i < N; i++)
            for (int64_t j = 0; j <= i; j++)
                a[i * N + j] = element(i, j);
        assert_int_equal(mcr_open(&ctx, &config), MCR_OK);
        if (c == 1)
            mcr_deadline_set(ctx, 1e-9);
        mcr_status s = mcr_sweep_inverse(ctx, N, a, N, "test");
        assert_int_equal(s, c < 2 ? MCR_STOPPED : c == 2 ? MCR_OVER_BUDGET : MCR_OK);
        assert_int_equal(mcr_budget_left(ctx), ctx->config.memory_bytes);
        mcr_close(ctx);
    }
    assert_true(last > 0.4 && last < 0.7);
    free(a);
}

/* The inverse ends between columns of blocks when it should, and so does its diagonal alone. */
static void test_inverse_has_limits(void **context)
{
    (void)context;
    enum { N = 1300 };
    double *d = calloc(N, sizeof *d), last = 0;
    for (int c = 0; c < 5;
         c++) { /* stopped by the user, by the time (2), without a phase, to its end */
        mcr *ctx;
        mcr_system m;
        mcr_config config = {.size = sizeof config,
                             .threads = 1,
                             .user = &last,
                             .progress = c == 0 ? stop_at_fraction : NULL};
        assert_int_equal(mcr_open(&ctx, &config), MCR_OK);
        test_ok(ctx, mcr_system_open(&m, ctx, N, "test"));
        fill(&m);
        test_ok(ctx, mcr_lapack_cholesky(ctx, N, m.a, m.ld, NULL, NULL));
        if (c > 0 && c < 4)
            mcr_deadline_set(ctx, 1e-9);
        assert_int_equal(mcr_system_inverse(&m, c != 2, d, c == 3 ? NULL : "test"),
                         c < 3 ? MCR_STOPPED : MCR_OK);
        mcr_system_close(&m);
        mcr_close(ctx);
    }
    assert_true(last > 0.4 && last < 0.7);
    free(d);
}

/* A system: another shift after one that was too small, its solution, logarithm and eigenvalues
 * against each other. */
static void test_system(void **context)
{
    for (int t = 1; t < SIZES; t++) {
        int64_t n = sizes[t];
        mcr_system m;
        double *x = calloc((size_t)n, sizeof *x), *b = calloc((size_t)n, sizeof *b);
        double *value = calloc((size_t)n, sizeof *value), logs = 0, wanted = 0;
        test_ok(*context, mcr_system_open(&m, *context, n, "test"));
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < n; j++)
                m.a[i * m.ld + j] = element(i, j);
        mcr_system_filled(&m);
        assert_int_equal(mcr_system_factor(&m, -1, NULL, NULL), MCR_NUMERIC);
        test_ok(*context, mcr_system_factor(&m, 0.5, NULL, NULL));
        for (int64_t i = 0; i < n; i++) {
            x[i] = b[i] = sin((double)i);
            logs += 2 * mcr_system_log(&m, i);
        }
        test_ok(*context, mcr_system_solve(&m, 1, x));
        test_ok(*context, mcr_system_multiply(&m, x, 1, value));
        for (int64_t i = 0; i < n; i++)
            value[i] += 0.5 * x[i];
        test_close_arrays("(A + r) x = b", value, b, n, 1e-11);
        mcr_system_restore(&m);
        for (int64_t i = 0; i < n; i += 1 + n / 37)
            for (int64_t j = 0; j < n; j += 1 + n / 41)
                assert_true(m.a[i * m.ld + j] == element(i, j));
        if (n < 500) { /* sum of log eigenvalues */
            test_ok(*context, mcr_system_eigen(&m, "test", value));
            for (int64_t i = 0; i < n; i++)
                wanted += log(value[i] + 0.5);
            test_close_real("log det", logs, wanted, 1e-9 * (double)n);
        }
        mcr_system_close(&m);
        mcr_system_close(&m);
        free(x);
        free(b);
        free(value);
    }
}

static void test_threads(void **context)
{
    (void)context;
    enum { N = 1100 };
    double *first = calloc((size_t)N * N, sizeof *first);
    for (int threads = 1; threads <= 3; threads++) {
        mcr *ctx = test_open(threads);
        mcr_system m;
        double d[N];
        test_ok(ctx, mcr_system_open(&m, ctx, N, "test"));
        fill(&m);
        test_ok(ctx, mcr_lapack_cholesky(ctx, N, m.a, m.ld, NULL, NULL));
        test_ok(ctx, mcr_lapack_inverse(ctx, N, m.a, m.ld, d, NULL));
        for (int64_t i = 0; i < N; i++) {
            if (threads == 1)
                memcpy(first + i * N, m.a + i * m.ld, sizeof *first * N);
            assert_memory_equal(first + i * N, m.a + i * m.ld, sizeof *first * N);
        }
        mcr_system_close(&m);
        test_close(ctx);
    }
    free(first);
}

/* H D H with the reflection H = I - 2 u u': eigenvalues D, the first of them `low`; the others go
 * down to 1e-12, as those of a smooth kernel do, or are 0 if `flat`. */
static void fill_spectrum(double *a, double *u, int64_t n, double low, bool flat)
{
    double length = 0, sum = 0;
    for (int64_t i = 0; i < n; i++)
        length += pow(u[i] = sin(1.7 * (double)i + 1), 2);
    double *d = calloc((size_t)n, sizeof *d);
    for (int64_t i = 0; i < n; i++) {
        u[i] /= sqrt(length);
        d[i] = i == 0 ? low : flat && i > 9 ? 0 : pow(10, 3 - 15 * (double)i / (double)n);
        sum += u[i] * d[i] * u[i];
    }
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            a[i * n + j] = (i == j ? d[i] : 0) + 2 * u[i] * u[j] * (2 * sum - d[i] - d[j]);
    free(d);
}

static void test_smallest(void **context)
{
    (void)context;
    enum { N = 600 };
    const double bound = 1e-10, low[] = {-5, -1e-3, -1e-8, -3e-10, 0, 1e-13};
    double *a = calloc((size_t)N * N, sizeof *a), *work = calloc((size_t)N * N, sizeof *work);
    double u[N], first[N], v[N];
    for (size_t t = 0; t < 2 * sizeof low / sizeof *low; t++) {
        double least = low[t / 2];
        fill_spectrum(a, u, N, least, t % 2);
        for (int threads = 1; threads <= 3; threads += 2) {
            mcr *ctx = test_open(threads);
            mcr_smallest found;
            test_ok(ctx,
                    mcr_smallest_eigen(ctx, N, a, bound, work, threads == 1 ? first : v, &found));
            double wanted = t % 2 ? fmin(least, 0) : least;
            assert_true(fabs(found.value - wanted) <= fmax(bound, 1e-7 * fabs(wanted)));
            assert_true(found.residual <= fmax(bound, 1e-8 * fabs(found.value)));
            if (least < -bound)
                assert_true(found.value < -bound);
            else
                assert_true(found.floor <= -bound && found.floor >= -4 * bound);
            assert_true(found.floor <= found.value);
            test_close(ctx);
        }
        assert_memory_equal(first, v, sizeof v);
    }
    free(a);
    free(work);
}

static void test_refusals(void **context)
{
    mcr *ctx = *context;
    mcr_system m;
    int64_t minor;
    test_ok(ctx, mcr_system_open(&m, ctx, 600, "test"));
    fill(&m);
    m.a[411 * m.ld + 411] = -1;
    test_fails(ctx, mcr_lapack_cholesky(ctx, 600, m.a, m.ld, NULL, &minor), MCR_NUMERIC,
               "order 412");
    assert_int_equal(minor, 412);
    mcr_system_close(&m);
    ctx->config.memory_bytes = 1 << 20;
    test_fails(ctx, mcr_system_open(&m, ctx, 1000, "this test"), MCR_OVER_BUDGET,
               "this test needs 8.0 MB");
    assert_null(m.a);
    mcr_system_close(&m);
    test_fails(ctx, mcr_system_open(&m, ctx, INT64_C(1) << 40, "this test"), MCR_BAD_CALL,
               "too large");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_factor, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_solution, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_products, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_system, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_inverse, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_sweeps, test_setup, test_teardown),
        cmocka_unit_test(test_sweeps_have_limits),
        cmocka_unit_test(test_inverse_has_limits),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_smallest),
        cmocka_unit_test_setup_teardown(test_refusals, test_setup, test_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
