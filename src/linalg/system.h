/* system.h (internal): a symmetric positive definite system of equations, by its Cholesky factor.
 *
 * There is only one n x n matrix: the factor of A + shift is stored below the diagonal and A itself
 * above it, so that products with A are possible, and a larger shift can be tried if one was too
 * small. The matrix is row-major; rows are ld apart. All results are the same bits for any number
 * of threads.
 *
 *   mcr_system_open, fill a, mcr_system_filled; mcr_system_factor; mcr_system_solve, ...
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_LINALG_SYSTEM_H
#define MCR_LINALG_SYSTEM_H

#include <stdbool.h>
#include <stdint.h>

#include <mercer/context.h>

typedef struct mcr_system {
    mcr *ctx;
    int64_t n, ld;
    double *a; /* NULL: closed; not cleared by mcr_system_open */
    double *diagonal;
    bool factored; /* the part below the diagonal was changed since a was filled */
    size_t taken;  /* bytes of the memory budget */
} mcr_system;

/* Takes the memory from the budget; if it does not fit, the message says how much is needed for
 * what. */
mcr_status mcr_system_open(mcr_system *system, mcr *ctx, int64_t n, const char *what);
void mcr_system_close(mcr_system *system); /* also allowed on a zeroed struct */
/* A smaller system in the memory of another, which must be filled again afterwards. Must not be
 * closed. */
mcr_system mcr_system_smaller(const mcr_system *system, int64_t n);
/* To be called once a holds A: its lower triangle, and the upper one unless only a factor is
 * needed. */
void mcr_system_filled(mcr_system *system);

/* Copies the lower triangle to the upper one. */
void mcr_system_mirror(mcr_system *system);
/* A += f'g, which must be symmetric; f and g are count x n. A must be complete or mirrored. An
 * existing factor is lost. */
mcr_status mcr_system_add(mcr_system *system, int64_t count, const double *f, const double *g,
                          int64_t ld);

/* Factors A + shift, or A + diag(each) if each is not NULL, into L L^T. MCR_NUMERIC: not positive
 * definite; A is preserved if it was filled completely. Progress is reported under `phase` (NULL:
 * none); MCR_STOPPED if the callback requests it. */
mcr_status mcr_system_factor(mcr_system *system, double shift, const double *each,
                             const char *phase);
/* Restores both triangles of A after a factorisation. */
void mcr_system_restore(mcr_system *system);

/* After a factorisation: */

/* Solves for b (n x count) in place. */
mcr_status mcr_system_solve(const mcr_system *system, int64_t count, double *b);
/* L^-1 b for some columns of b, whose rows are ldb apart. */
mcr_status mcr_system_solve_lower(const mcr_system *system, int64_t count, double *b, int64_t ldb);
/* log L_ii; the sum over i is half of log det(A + shift). */
double mcr_system_log(const mcr_system *system, int64_t i);
/* The diagonal of the inverse; if `whole`, the remainder replaces A above the diagonal. L is
 * unchanged. phase: as for the factor. */
mcr_status mcr_system_inverse(mcr_system *system, bool whole, double *diagonal, const char *phase);
/* y = A v from the part above the diagonal; v and y are n x cols. */
mcr_status mcr_system_multiply(const mcr_system *system, const double *v, int64_t cols, double *y);

/* Instead of a factorisation: eigenvalues, ascending; row i of a becomes the eigenvector of
 * value[i]. */
mcr_status mcr_system_eigen(mcr_system *system, const char *what, double *value);

#endif
