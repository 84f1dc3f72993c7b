/* lapack.h (internal): factorisations of large symmetric matrices, the same for any number of
 * threads.
 *
 * LAPACK's own threads change the order of sums. Here a matrix is cut into tiles by its size alone,
 * our threads share the tiles, and each tile is one call of BLAS on one thread: the results are the
 * same bits for any number of threads, and the panels are computed in parallel, too. Matrices are
 * row-major.
 *
 * Only the lower triangle and the diagonal are read and written; the strict upper triangle is free
 * for the caller: it can keep the matrix itself while the factor is computed below.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_LINALG_LAPACK_H
#define MCR_LINALG_LAPACK_H

#include <stdint.h>

#include <mercer/context.h>

/* A = L L^T in place. MCR_NUMERIC: not positive definite; then *minor (may be NULL) is the order of
 * the first leading minor that is not, and the part below the diagonal is destroyed. Progress is
 * reported under `phase` (NULL: none); MCR_STOPPED if the callback requests it. */
mcr_status mcr_lapack_cholesky(mcr *ctx, int64_t n, double *a, int64_t lda, const char *phase,
                               int64_t *minor);
/* Solves A X = B in place from the L of mcr_lapack_cholesky; B is n x count, rows ldb apart. */
mcr_status mcr_lapack_solve(mcr *ctx, int64_t n, int64_t count, const double *l, int64_t ldl,
                            double *b, int64_t ldb);
/* The same in float, twice as fast: for solutions that are refined by their residuals. */
mcr_status mcr_lapack_cholesky_float(mcr *ctx, int64_t n, float *a, int64_t lda, const char *phase,
                                     int64_t *minor);
mcr_status mcr_lapack_solve_float(mcr *ctx, int64_t n, int64_t count, const float *l, int64_t ldl,
                                  float *b, int64_t ldb);
/* Solves X L^T = B in place for `rows` rows of B, which are ldb apart; B has as many columns as L.
 * Uses the threads of BLAS. */
struct mcr_fortran;
void mcr_lapack_solve_rows(const struct mcr_fortran *f, int64_t width, int64_t rows,
                           const double *l, int64_t ldl, double *b, int64_t ldb);
/* The inverse of A = L L^T: its diagonal, and the remainder in the strict upper triangle
 * (inverse.c). L is unchanged. phase: as for the factor. */
mcr_status mcr_lapack_inverse(mcr *ctx, int64_t n, double *l, int64_t ldl, double *diagonal,
                              const char *phase);
/* Only the diagonal of the inverse. */
mcr_status mcr_lapack_inverse_diagonal(mcr *ctx, int64_t n, const double *l, int64_t ldl,
                                       double *diagonal, const char *phase);

#endif
