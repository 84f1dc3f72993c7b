/* The BLAS shim against plain loops: every routine with every transposition, odd sizes and leading
 * dimensions larger than the matrix.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "helpers.h"
#include "linalg/blas.h"

enum { M = 13, N = 9, K = 11, LD = 17, MAX = 20 };

static uint64_t state = 3;

static double uniform(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (double)(state >> 11) * 0x1p-53 - 0.5;
}

static void fill(double *a, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        a[i] = uniform();
}

/* Element (i, j) of op(A). */
static double at(const double *a, mcr_transpose t, int64_t i, int64_t j)
{
    return t == MCR_TRANSPOSED ? a[j * LD + i] : a[i * LD + j];
}

/* Symmetric positive definite, n x n; the upper triangle is spoiled, it must not be read. */
static void fill_definite(double *a, int64_t n, double *full)
{
    double b[MAX * MAX];
    fill(b, n * n);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            double sum = i == j ? 0.5 : 0;
            for (int64_t k = 0; k < n; k++)
                sum += b[i * n + k] * b[j * n + k];
            full[i * n + j] = sum;
            a[i * LD + j] = j <= i ? sum : 1e9;
        }
}

static void test_gemm(void **context)
{
    for (int t = 0; t < 4; t++) {
        mcr_transpose ta = t & 1 ? MCR_TRANSPOSED : MCR_AS_IS;
        mcr_transpose tb = t & 2 ? MCR_TRANSPOSED : MCR_AS_IS;
        double a[MAX * LD], b[MAX * LD], c[MAX * LD], want[MAX * LD];
        fill(a, MAX * LD);
        fill(b, MAX * LD);
        fill(c, MAX * LD);
        memcpy(want, c, sizeof c);
        for (int64_t i = 0; i < M; i++)
            for (int64_t j = 0; j < N; j++) {
                double sum = 0;
                for (int64_t k = 0; k < K; k++)
                    sum += at(a, ta, i, k) * at(b, tb, k, j);
                want[i * LD + j] = 1.5 * sum - 0.5 * c[i * LD + j];
            }
        test_ok(*context, mcr_blas_gemm(*context, ta, tb, M, N, K, 1.5, a, LD, b, LD, -0.5, c, LD));
        test_close_arrays("gemm", c, want, MAX * LD, 1e-14);
    }
}

static void test_syrk(void **context)
{
    for (int t = 0; t < 2; t++) {
        mcr_transpose ta = t ? MCR_TRANSPOSED : MCR_AS_IS;
        double a[MAX * LD], c[MAX * LD] = {0}, want[MAX * LD] = {0};
        fill(a, MAX * LD);
        for (int64_t i = 0; i < N; i++)
            for (int64_t j = 0; j < N; j++) {
                for (int64_t k = 0; k < K; k++)
                    want[i * LD + j] += 2 * at(a, ta, i, k) * at(a, ta, j, k);
                want[i * LD + j] += 3;
                c[i * LD + j] = j <= i ? 1 : 1e9;
            }
        test_ok(*context, mcr_blas_syrk(*context, ta, N, K, 2, a, LD, 3, c, LD));
        test_close_arrays("syrk", c, want, MAX * LD, 1e-14);
    }
}

static void test_gemv_and_symv(void **context)
{
    for (int t = 0; t < 2; t++) {
        mcr_transpose ta = t ? MCR_TRANSPOSED : MCR_AS_IS;
        int64_t rows = t ? N : M, cols = t ? M : N;
        double a[MAX * LD], x[MAX], y[MAX], want[MAX];
        fill(a, MAX * LD);
        fill(x, MAX);
        fill(y, MAX);
        memcpy(want, y, sizeof y);
        for (int64_t i = 0; i < rows; i++) {
            want[i] = 0.25 * y[i];
            for (int64_t j = 0; j < cols; j++)
                want[i] += 2 * at(a, ta, i, j) * x[j];
        }
        test_ok(*context, mcr_blas_gemv(*context, ta, M, N, 2, a, LD, x, 0.25, y));
        test_close_arrays("gemv", y, want, MAX, 1e-14);
    }
    double a[MAX * LD], full[N * N], x[N], y[N], want[N];
    fill_definite(a, N, full);
    fill(x, N);
    fill(y, N);
    for (int i = 0; i < N; i++) {
        want[i] = -y[i];
        for (int j = 0; j < N; j++)
            want[i] += 3 * full[i * N + j] * x[j];
    }
    test_ok(*context, mcr_blas_symv(*context, N, 3, a, LD, x, -1, y));
    test_close_arrays("symv", y, want, N, 1e-13);
}

static void test_cholesky(void **context)
{
    double a[MAX * LD], full[N * N], l[MAX * LD], back[N * N], want[N * 4], b[N * 4];
    fill_definite(a, N, full);
    memcpy(l, a, sizeof a);
    int64_t minor = -1;
    test_ok(*context, mcr_blas_cholesky(*context, N, l, LD, &minor));
    assert_int_equal(minor, 0);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            back[i * N + j] = 0;
            for (int k = 0; k <= (i < j ? i : j); k++)
                back[i * N + j] += l[i * LD + k] * l[j * LD + k];
            if (j > i)
                assert_true(l[i * LD + j] == 1e9);
        }
    test_close_arrays("L L'", back, full, N * N, 1e-13);

    for (int count = 1; count <= 4; count++) { /* A X = B, X known */
        fill(want, N * count);
        memset(b, 0, sizeof b);
        for (int i = 0; i < N; i++)
            for (int j = 0; j < count; j++)
                for (int k = 0; k < N; k++)
                    b[i * count + j] += full[i * N + k] * want[k * count + j];
        test_ok(*context, mcr_blas_cholesky_solve(*context, N, count, l, LD, b, count));
        test_close_arrays("cholesky_solve", b, want, N * count, 1e-12);

        for (int t = 0; t < 2; t++) { /* op(L) X = B */
            memset(b, 0, sizeof b);
            for (int i = 0; i < N; i++)
                for (int j = 0; j < count; j++)
                    for (int k = 0; k < N; k++)
                        if (t ? k >= i : k <= i)
                            b[i * count + j] += (t ? l[k * LD + i] : l[i * LD + k]) *
                                                want[k * count + j];
            test_ok(*context, mcr_blas_triangle_solve(*context, t ? MCR_TRANSPOSED : MCR_AS_IS, N,
                                                      count, l, LD, b, count));
            test_close_arrays("triangle_solve", b, want, N * count, 1e-12);
        }
    }
    test_ok(*context, mcr_blas_cholesky_invert(*context, N, l, LD));
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double sum = 0;
            for (int k = 0; k < N; k++)
                sum += full[i * N + k] * l[k * LD + j];
            assert_true(fabs(sum - (i == j)) < 1e-12);
        }
}

static void test_not_definite(void **context)
{
    double a[3 * 3] = {1, 0, 0, 2, 1, 0, 0, 0, 1};
    int64_t minor = 0;
    test_fails(*context, mcr_blas_cholesky(*context, 3, a, 3, &minor), MCR_NUMERIC,
               "not positive definite");
    assert_int_equal(minor, 2);
}

static void check_eigen(const double *full, const double *value, const double *vector, int64_t ldv,
                        int64_t count)
{
    for (int64_t e = 0; e < count; e++) {
        double length = 0;
        if (e > 0)
            assert_true(value[e - 1] <= value[e]);
        for (int64_t i = 0; i < N; i++) {
            double sum = 0;
            for (int64_t j = 0; j < N; j++)
                sum += full[i * N + j] * vector[e * ldv + j];
            assert_true(fabs(sum - value[e] * vector[e * ldv + i]) < 1e-13);
            length += vector[e * ldv + i] * vector[e * ldv + i];
        }
        assert_true(fabs(length - 1) < 1e-13);
    }
}

static void test_eigen(void **context)
{
    double a[MAX * LD], full[N * N], work[MAX * LD], value[N], alone[N], few[N], vector[N * LD];
    fill_definite(a, N, full);
    memcpy(work, a, sizeof a);
    test_ok(*context, mcr_blas_eigen(*context, N, work, LD, true, value));
    check_eigen(full, value, work, LD, N);
    double trace = 0;
    for (int i = 0; i < N; i++)
        trace += full[i * N + i] - value[i];
    assert_true(fabs(trace) < 1e-12);

    memcpy(work, a, sizeof a);
    test_ok(*context, mcr_blas_eigen(*context, N, work, LD, false, alone));
    test_close_arrays("values alone", alone, value, N, 1e-13);
    for (int count = 0; count <= N; count++) {
        memcpy(work, a, sizeof a);
        test_ok(*context, mcr_blas_eigen_largest(*context, N, work, LD, count, few, vector, LD));
        test_close_arrays("largest", few, value + N - count, count, 1e-13);
        check_eigen(full, few, vector, LD, count);
        memcpy(work, a, sizeof a);
        test_ok(*context, mcr_blas_eigen_largest(*context, N, work, LD, count, few, NULL, 0));
        test_close_arrays("largest alone", few, value + N - count, count, 1e-13);
    }
    test_fails(*context, mcr_blas_eigen_largest(*context, N, work, LD, N + 1, few, NULL, 0),
               MCR_BAD_CALL, "eigenvalues asked for");
}

static mcr_status run_eigen(mcr *ctx, void *arg)
{
    (void)arg;
    double a[MAX * LD], full[N * N], value[N], vector[N * N];
    fill_definite(a, N, full);
    mcr_status s = mcr_blas_eigen(ctx, N, a, LD, true, value);
    if (s == MCR_OK) {
        fill_definite(a, N, full);
        s = mcr_blas_eigen_largest(ctx, N, a, LD, 2, value, vector, N);
    }
    return s;
}

static void test_memory(void **context)
{
    (void)context;
    test_sweep_allocations("eigen", run_eigen, NULL);
}

static void test_sizes(void **context)
{
    double x = 0;
    int64_t huge = (int64_t)1 << 31;
    test_fails(*context, mcr_blas_symv(*context, huge, 1, &x, huge, &x, 0, &x), MCR_BAD_CALL,
               "too large for the BLAS");
    test_fails(
        *context,
        mcr_blas_gemm(*context, MCR_AS_IS, MCR_AS_IS, 1, 1, huge, 1, &x, huge, &x, 1, 0, &x, 1),
        MCR_BAD_CALL, "too large for the BLAS");
    test_ok(*context, mcr_blas_cholesky(*context, 0, &x, 0, NULL));
    test_ok(*context, mcr_blas_eigen(*context, 0, &x, 0, true, &x));
    test_ok(*context, mcr_blas_syrk(*context, MCR_AS_IS, 0, 0, 1, &x, 0, 0, &x, 0));
}

static void test_core(void **context)
{
    (void)context;
    const char *core = mcr_blas_core();
    if (!core)
        skip(); /* not OpenBLAS */
    assert_true(strlen(core) > 0);
    const char *hint = mcr_blas_core_hint();
    if (hint) /* it never names what is in use */
        assert_string_not_equal(hint, core);
    if (strcmp(core, "Haswell") == 0 || strcmp(core, "Zen") == 0 || strcmp(core, "SkylakeX") == 0)
        assert_null(hint);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_gemm, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_syrk, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_gemv_and_symv, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_cholesky, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_not_definite, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_eigen, test_setup, test_teardown),
        cmocka_unit_test(test_memory),
        cmocka_unit_test_setup_teardown(test_sizes, test_setup, test_teardown),
        cmocka_unit_test(test_core),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
