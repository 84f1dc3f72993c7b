/* blas.h (internal): the parts of BLAS and LAPACK that Mercer uses, for row-major matrices.
 *
 * Every matrix is row-major: element (i, j) of A is a[i * lda + j], lda >= columns. Sizes are
 * int64_t and are checked against the integer type of the BLAS library: MCR_BAD_CALL if too large.
 * Calls use at most mcr_workers(ctx) threads. Unlike the tiles, the last bits of the results may
 * depend on the number of threads.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_LINALG_BLAS_H
#define MCR_LINALG_BLAS_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include <mercer/blas.h>
#include <mercer/context.h>

typedef enum mcr_transpose { MCR_AS_IS = 0, MCR_TRANSPOSED = 1 } mcr_transpose;

/* x'y, summed in order. */
static inline double mcr_dot(const double *x, const double *y, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

static inline double mcr_norm(const double *x, int64_t n)
{
    return sqrt(mcr_dot(x, x, n));
}

/* The largest |x_i|. */
static inline double mcr_largest_of(const double *x, int64_t n)
{
    double most = 0;
    for (int64_t i = 0; i < n; i++)
        most = fmax(most, fabs(x[i]));
    return most;
}

static inline void mcr_scale_by(double *x, int64_t n, double factor)
{
    for (int64_t i = 0; i < n; i++)
        x[i] *= factor;
}

/* to (cols x rows) = a' for a matrix a of rows x cols. */
static inline void mcr_transposed(const double *a, int64_t rows, int64_t cols, double *to)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++)
            to[j * rows + i] = a[i * cols + j];
}

/* C = alpha op(A) op(B) + beta C; op(A) is m x k, op(B) is k x n. */
mcr_status mcr_blas_gemm(mcr *ctx, mcr_transpose ta, mcr_transpose tb, int64_t m, int64_t n,
                         int64_t k, double alpha, const double *a, int64_t lda, const double *b,
                         int64_t ldb, double beta, double *c, int64_t ldc);
/* Solves op(L) X = B in place, where B is n x count and L lower triangular. */
mcr_status mcr_blas_triangle_solve(mcr *ctx, mcr_transpose tl, int64_t n, int64_t count,
                                   const double *l, int64_t ldl, double *b, int64_t ldb);
/* All eigenvalues of a symmetric A (its lower triangle is read), ascending. If `vectors`, row i of
 * a becomes the unit eigenvector of value[i]; otherwise a is destroyed. Divide and conquer. */
mcr_status mcr_blas_eigen(mcr *ctx, int64_t n, double *a, int64_t lda, bool vectors, double *value);
/* The `count` largest eigenvalues, ascending; row i of vector (count x n; NULL: not wanted) is the
 * unit eigenvector of value[i]. Destroys the lower triangle of a and its diagonal; the strict upper
 * triangle is neither read nor written. */
mcr_status mcr_blas_eigen_largest(mcr *ctx, int64_t n, double *a, int64_t lda, int64_t count,
                                  double *value, double *vector, int64_t ldv);

#endif
