/* shared.h (internal): products and eigenvectors that are the same for any number of threads.
 *
 * Matrices are row-major, as in blas.h. A product is cut into tiles whose grid depends on the sizes
 * alone; the context's own threads share the tiles, and each tile is one call of BLAS on one
 * thread. So, unlike those of blas.h, the results do not depend on the number of threads.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_LINALG_SHARED_H
#define MCR_LINALG_SHARED_H

#include "base/threads.h"
#include "linalg/blas.h"

/* A loop over items that call BLAS: one alone is run by mcr_alone, because a loop of one item would
 * give all threads to BLAS. */
mcr_status mcr_shared_items(mcr *ctx, int64_t count, mcr_work *work, void *arg);

/* C = alpha op(A) op(B) + beta C; op(A) is m x k, op(B) is k x n. */
mcr_status mcr_shared_gemm(mcr *ctx, mcr_transpose ta, mcr_transpose tb, int64_t m, int64_t n,
                           int64_t k, double alpha, const double *a, int64_t lda, const double *b,
                           int64_t ldb, double beta, double *c, int64_t ldc);

/* c = a U (m x n) for an upper triangular U with zeros below its diagonal: half the work. */
mcr_status mcr_shared_times_upper(mcr *ctx, int64_t m, int64_t n, const double *a, int64_t lda,
                                  const double *upper, int64_t ldu, double *c, int64_t ldc);
/* c = U'b (n x n) on and below the diagonal, for such a U: a third of the work. The part above the
 * diagonal is overwritten. */
mcr_status mcr_shared_upper_times(mcr *ctx, int64_t n, const double *upper, int64_t ldu,
                                  const double *b, int64_t ldb, double *c, int64_t ldc);
/* y = A v for an n x n matrix A; v and y are n x cols. */
mcr_status mcr_shared_multiply(mcr *ctx, int64_t n, const double *a, int64_t lda, const double *v,
                               int64_t cols, double *y);

/* Restores a symmetric matrix after a factorisation below its diagonal: mirrors the upper triangle
 * and copies the diagonal (n values) back. */
void mcr_shared_mend(int64_t n, double *a, int64_t lda, const double *diagonal);

/* Eigenvalues and eigenvectors like mcr_blas_eigen and mcr_blas_eigen_largest, on one thread. */
mcr_status mcr_shared_eigen(mcr *ctx, int64_t n, double *a, int64_t lda, double *value);
mcr_status mcr_shared_eigen_largest(mcr *ctx, int64_t n, double *a, int64_t lda, int64_t count,
                                    double *value, double *vector, int64_t ldv);

#endif
