/* test_linalg_own.c: Mercer's own routines against those of the LAPACK library: the same calls
 * through blas.h and lapack.h in two contexts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "helpers.h"
#include "linalg/blas.h"
#include "linalg/lapack.h"
#include "linalg/shared.h"

static mcr *library, *own;

static int setup(void **context)
{
    mcr_config config = MCR_INIT(mcr_config);
    (void)context;
    config.threads = 1;
    if (mcr_open(&library, &config) != MCR_OK)
        return -1;
    config.blas = "own";
    return mcr_open(&own, &config) == MCR_OK ? 0 : -1;
}

static int teardown(void **context)
{
    (void)context;
    mcr_close(own);
    mcr_close(library);
    return 0;
}

static uint64_t random_state = 5;

static double uniform(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (double)(random_state >> 11) * 0x1p-53 - 0.5;
}

static double *make(int64_t count)
{
    double *a = malloc((size_t)count * sizeof *a);
    assert_non_null(a);
    for (int64_t i = 0; i < count; i++)
        a[i] = uniform();
    return a;
}

static double *copy(const double *a, int64_t count)
{
    double *b = malloc((size_t)count * sizeof *b);
    assert_non_null(b);
    memcpy(b, a, (size_t)count * sizeof *b);
    return b;
}

/* Symmetric positive definite: B B^T / n + ridge. */
static double *make_definite(int64_t n, double ridge)
{
    double *b = make(n * n), *a = malloc((size_t)(n * n) * sizeof *a);
    assert_non_null(a);
    test_ok(library, mcr_blas_gemm(library, MCR_AS_IS, MCR_TRANSPOSED, n, n, n, 1 / (double)n, b, n,
                                   b, n, 0, a, n));
    for (int64_t i = 0; i < n; i++)
        a[i * n + i] += ridge;
    free(b);
    return a;
}

static const int64_t sizes[] = {1, 2, 7, 31, 32, 33, 64, 100, 257, 300};
#define EACH(n)                                                                                    \
    for (size_t at = 0, n; at < sizeof sizes / sizeof *sizes && (n = (size_t)sizes[at], 1); at++)

static void products(void **context)
{
    (void)context;
    EACH(size)
    {
        int64_t m = (int64_t)size, n = m / 2 + 3, k = m + 5, ld = m + 9;
        for (int t = 0; t < 4; t++) {
            double *a = make(ld * ld), *b = make(ld * ld), *c = make(ld * ld),
                   *d = copy(c, ld * ld);
            mcr_transpose ta = t & 1 ? MCR_TRANSPOSED : MCR_AS_IS,
                          tb = t & 2 ? MCR_TRANSPOSED : MCR_AS_IS;
            test_ok(library,
                    mcr_blas_gemm(library, ta, tb, m, n, k, 1.5, a, ld, b, ld, -0.5, c, ld));
            test_ok(own, mcr_blas_gemm(own, ta, tb, m, n, k, 1.5, a, ld, b, ld, -0.5, d, ld));
            test_close_arrays("product", d, c, ld * ld, 1e-13 * (double)k);
            free(a);
            free(b);
            free(c);
            free(d);
        }
    }
}

/* Factor, solution of one and of several right-hand sides, inverse. */
static void cholesky(void **context)
{
    (void)context;
    EACH(size)
    {
        int64_t n = (int64_t)size;
        double *a = make_definite(n, 0.1), *b = copy(a, n * n), *x = make(3 * n),
               *y = copy(x, 3 * n);
        double *p = make(n), *q = make(n);
        test_ok(library, mcr_lapack_cholesky(library, n, a, n, NULL, NULL));
        test_ok(own, mcr_lapack_cholesky(own, n, b, n, NULL, NULL));
        test_close_arrays("factor", b, a, n * n, 1e-12);
        test_ok(library, mcr_lapack_solve(library, n, 3, a, n, x, 3));
        test_ok(own, mcr_lapack_solve(own, n, 3, b, n, y, 3));
        test_close_relative("solution", y, x, 3 * n, 1e-10);
        test_ok(library, mcr_lapack_solve(library, n, 1, a, n, x, 1));
        test_ok(own, mcr_lapack_solve(own, n, 1, b, n, y, 1));
        test_close_relative("one solution", y, x, n, 1e-9);
        test_ok(library, mcr_lapack_inverse(library, n, a, n, p, NULL));
        test_ok(own, mcr_lapack_inverse(own, n, b, n, q, NULL));
        test_close_relative("inverse", q, p, n, 1e-10);
        free(a);
        free(b);
        free(x);
        free(y);
        free(p);
        free(q);
    }
}

static void cholesky_refuses(void **context)
{
    double *a = make_definite(100, 0.1);
    int64_t minor = 0;
    (void)context;
    a[60 * 100 + 60] = -1;
    test_fails(own, mcr_lapack_cholesky(own, 100, a, 100, NULL, &minor), MCR_NUMERIC, "definite");
    assert_int_equal(minor, 61);
    free(a);
}

static void cholesky_in_float(void **context)
{
    enum { n = 150 };
    double *a = make_definite(n, 0.5), x[n], error = 0;
    float *f = malloc(n * n * sizeof *f), y[n];
    (void)context;
    assert_non_null(f);
    for (int i = 0; i < n * n; i++)
        f[i] = (float)a[i];
    for (int i = 0; i < n; i++)
        x[i] = y[i] = (float)uniform();
    test_ok(own, mcr_lapack_cholesky_float(own, n, f, n, NULL, NULL));
    test_ok(own, mcr_lapack_solve_float(own, n, 1, f, n, y, 1));
    for (int i = 0; i < n; i++) {
        double sum = -x[i];
        for (int j = 0; j < n; j++)
            sum += a[i * n + j] * (double)y[j];
        error = fmax(error, fabs(sum));
    }
    assert_true(error < 1e-4);
    free(a);
    free(f);
}

/* |A v - value v| for every vector, and that they are orthonormal. */
static void check_vectors(int64_t n, const double *a, const double *v, const double *value,
                          int64_t count)
{
    double worst = 0, off = 0;
    for (int64_t k = 0; k < count; k++)
        for (int64_t i = 0; i < n; i++) {
            double sum = -value[k] * v[k * n + i];
            for (int64_t j = 0; j < n; j++)
                sum += a[i * n + j] * v[k * n + j];
            worst = fmax(worst, fabs(sum));
        }
    for (int64_t k = 0; k < count; k++)
        for (int64_t l = 0; l <= k; l++) {
            double dot = k == l ? -1 : 0;
            for (int64_t i = 0; i < n; i++)
                dot += v[k * n + i] * v[l * n + i];
            off = fmax(off, fabs(dot));
        }
    test_close_real("residual", worst, 0, 1e-12);
    test_close_real("orthogonality", off, 0, 1e-12);
}

static void eigenvalues_and_vectors(void **context)
{
    (void)context;
    EACH(size)
    {
        int64_t n = (int64_t)size, few = n < 5 ? n : 5;
        double *a = make_definite(n, 0), *b = copy(a, n * n), *c = copy(a, n * n),
               *d = copy(a, n * n);
        double *x = make(n), *y = make(n), *z = make(n), *v = make(few * n);
        test_ok(library, mcr_blas_eigen(library, n, b, n, true, x));
        test_ok(own, mcr_blas_eigen(own, n, c, n, true, y));
        test_close_arrays("eigenvalues", y, x, n, 1e-13);
        check_vectors(n, a, c, y, n);
        for (int64_t i = 0; i < n; i++) /* what is above the diagonal is not read */
            for (int64_t j = i + 1; j < n; j++)
                d[i * n + j] = 1e9;
        test_ok(own, mcr_blas_eigen_largest(own, n, d, n, few, z, v, n));
        test_close_arrays("largest", z, x + n - few, few, 1e-13);
        check_vectors(n, a, v, z, few);
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = i + 1; j < n; j++)
                assert_true(d[i * n + j] == 1e9);
        free(a);
        free(b);
        free(c);
        free(d);
        free(x);
        free(y);
        free(z);
        free(v);
    }
}

/* Kernel matrices of few features: all but `rank` eigenvalues are rounding. */
static void eigenvalues_of_low_rank(void **context)
{
    enum { n = 90 };
    (void)context;
    for (int64_t rank = 1; rank <= 8; rank++) {
        double *x = make(n * rank), *a = make(n * n), *b, *c;
        double u[n], v[n];
        for (int64_t i = 0; i < n * n; i++) {
            a[i] = 0;
            for (int64_t k = 0; k < rank; k++)
                a[i] += x[i / n * rank + k] * x[i % n * rank + k];
        }
        b = copy(a, n * n);
        c = copy(a, n * n);
        test_ok(library, mcr_blas_eigen(library, n, b, n, true, u));
        test_ok(own, mcr_blas_eigen(own, n, c, n, true, v));
        for (int i = 0; i < n; i++)
            test_close_real("eigenvalue", v[i], u[i], 1e-13 * u[n - 1]);
        check_vectors(n, a, c, v, n);
        free(x);
        free(a);
        free(b);
        free(c);
    }
}

/* Equal eigenvalues, a diagonal matrix, zeros, and numbers far apart. */
static void eigenvalues_of_special_matrices(void **context)
{
    enum { n = 40 };
    double a[n * n], value[n];
    (void)context;
    for (int kind = 0; kind < 4; kind++) {
        for (int i = 0; i < n * n; i++) {
            int r = i / n, c = i % n;
            a[i] = kind == 0   ? 1
                   : kind == 1 ? (r == c ? n - r : 0)
                   : kind == 2 ? 0
                   : r == c    ? pow(10, r / 2 - 10)
                               : 0;
        }
        test_ok(own, mcr_blas_eigen(own, n, a, n, true, value));
        for (int i = 0; i < n; i++) {
            double want = kind == 0   ? (i == n - 1 ? n : 0)
                          : kind == 1 ? i + 1
                          : kind == 2 ? 0
                                      : pow(10, i / 2 - 10);
            test_close_real("eigenvalue", value[i], want, 1e-12 * fmax(1, want));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products),
        cmocka_unit_test(cholesky),
        cmocka_unit_test(cholesky_refuses),
        cmocka_unit_test(cholesky_in_float),
        cmocka_unit_test(eigenvalues_and_vectors),
        cmocka_unit_test(eigenvalues_of_low_rank),
        cmocka_unit_test(eigenvalues_of_special_matrices),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
