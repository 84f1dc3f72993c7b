/* blas.h (internal): the parts of BLAS and LAPACK that Mercer uses, for row-major matrices.
 *
 * Every matrix is row-major: element (i, j) of A is a[i * lda + j], lda >= columns. Sizes are
 * int64_t and checked against the integers of the BLAS library; too large is MCR_BAD_CALL, other
 * failures are said. The calls use at most mcr_workers(ctx) threads. Their sums may depend on the
 * number of threads in the last bits, unlike those of the tiles.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_LINALG_BLAS_H
#define MCR_LINALG_BLAS_H

#include <stdbool.h>
#include <stdint.h>

#include <mercer/context.h>

typedef enum mcr_transpose { MCR_AS_IS = 0, MCR_TRANSPOSED = 1 } mcr_transpose;

/* C = alpha op(A) op(B) + beta C; op(A) is m x k, op(B) is k x n. */
mcr_status mcr_blas_gemm(mcr *ctx, mcr_transpose ta, mcr_transpose tb, int64_t m, int64_t n,
                         int64_t k, double alpha, const double *a, int64_t lda, const double *b,
                         int64_t ldb, double beta, double *c, int64_t ldc);
/* C = alpha op(A) op(A)^T + beta C, n x n, with op(A) n x k. C is symmetric and written in full; its
 * upper triangle is not read. */
mcr_status mcr_blas_syrk(mcr *ctx, mcr_transpose ta, int64_t n, int64_t k, double alpha,
                         const double *a, int64_t lda, double beta, double *c, int64_t ldc);
/* y = alpha op(A) x + beta y; A (before op) is m x n. */
mcr_status mcr_blas_gemv(mcr *ctx, mcr_transpose ta, int64_t m, int64_t n, double alpha,
                         const double *a, int64_t lda, const double *x, double beta, double *y);
/* y = alpha A x + beta y; A n x n symmetric, only its lower triangle is read. */
mcr_status mcr_blas_symv(mcr *ctx, int64_t n, double alpha, const double *a, int64_t lda,
                         const double *x, double beta, double *y);

/* Cholesky: A = L L^T in place in the lower triangle; the upper one is neither read nor written.
 * MCR_NUMERIC: not positive definite; *minor (may be NULL) is then the order of the first leading
 * minor that is not, else 0. */
mcr_status mcr_blas_cholesky(mcr *ctx, int64_t n, double *a, int64_t lda, int64_t *minor);
/* Solves A X = B in place, from the L of mcr_blas_cholesky; B is n x count (row-major, so that
 * count = 1 and ldb = 1 is a vector). */
mcr_status mcr_blas_cholesky_solve(mcr *ctx, int64_t n, int64_t count, const double *l, int64_t ldl,
                                   double *b, int64_t ldb);
/* Solves op(L) X = B in place, B n x count, L lower triangular. */
mcr_status mcr_blas_triangle_solve(mcr *ctx, mcr_transpose tl, int64_t n, int64_t count,
                                   const double *l, int64_t ldl, double *b, int64_t ldb);
/* The inverse of A, in full, in place of the L of mcr_blas_cholesky. */
mcr_status mcr_blas_cholesky_invert(mcr *ctx, int64_t n, double *l, int64_t ldl);

/* All eigenvalues of a symmetric A (its lower triangle is read), ascending. If `vectors`, row i of
 * a becomes the unit eigenvector of value[i]; else a is destroyed. Divide and conquer. */
mcr_status mcr_blas_eigen(mcr *ctx, int64_t n, double *a, int64_t lda, bool vectors, double *value);
/* The `count` largest eigenvalues, ascending, with row i of vector (count x n; NULL: not wanted) the
 * unit eigenvector of value[i]. The lower triangle of a is destroyed, with its diagonal; what is
 * above it is neither read nor written. */
mcr_status mcr_blas_eigen_largest(mcr *ctx, int64_t n, double *a, int64_t lda, int64_t count,
                                  double *value, double *vector, int64_t ldv);

/* Copies the lower triangle onto the upper one. */
void mcr_blas_mirror(int64_t n, double *a, int64_t lda);

/* The processor OpenBLAS believes to run on ("Haswell"), or NULL: another library. Whether that is a
 * mistake says mcr_blas_core_hint (mercer/context.h). */
const char *mcr_blas_core(void);

#endif
