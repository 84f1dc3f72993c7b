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
#include "linalg/fortran.h"

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

static void test_triangle_solve(void **context)
{
    double l[MAX * LD], want[N * 4], b[N * 4];
    fill(l, MAX * LD);
    for (int i = 0; i < N; i++) {
        l[i * LD + i] += 2;
        for (int j = i + 1; j < N; j++)
            l[i * LD + j] = 1e9; /* must not be read */
    }
    for (int count = 1; count <= 4; count++) {
        fill(want, N * count);
        for (int t = 0; t < 2; t++) { /* op(L) X = B, X known */
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
               MCR_BAD_CALL, "eigenvalues were requested");
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
    test_fails(*context, mcr_blas_eigen(*context, huge, &x, huge, false, &x), MCR_BAD_CALL,
               "too large for the BLAS");
    test_fails(
        *context,
        mcr_blas_gemm(*context, MCR_AS_IS, MCR_AS_IS, 1, 1, huge, 1, &x, huge, &x, 1, 0, &x, 1),
        MCR_BAD_CALL, "too large for the BLAS");
    test_ok(*context, mcr_blas_eigen(*context, 0, &x, 0, true, &x));
}

static void test_core(void **context)
{
    (void)context;
    const char *config, *core = mcr_fortran_core(&config);
    if (!core)
        skip(); /* not OpenBLAS */
    assert_true(strlen(core) > 0);
    const char *hint = mcr_blas_core_hint();
    if (hint) /* it never names what is in use */
        assert_string_not_equal(hint, core);
    if (strcmp(core, "SkylakeX") == 0)
        assert_null(hint);
    if (strcmp(core, "Haswell") == 0 || strcmp(core, "Zen") == 0)
        assert_true(!hint || strcmp(hint, "SkylakeX") == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_gemm, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_triangle_solve, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_eigen, test_setup, test_teardown),
        cmocka_unit_test(test_memory),
        cmocka_unit_test_setup_teardown(test_sizes, test_setup, test_teardown),
        cmocka_unit_test(test_core),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
