/* system.h (internal): a symmetric positive definite system of equations, by its Cholesky factor.
 *
 * One n x n matrix is all there is: the factor of A + shift is made below the diagonal, A itself
 * stays above it, so that A can be multiplied by, and another shift tried where one was too small.
 * The matrix is row-major; rows lie ld apart. All results are the same bits for any number of
 * threads.
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
    double *a; /* NULL: closed; not cleared by open */
    double *diagonal;
    bool factored; /* a was changed below the diagonal since it was filled */
    size_t taken;  /* of the memory budget */
} mcr_system;

/* Takes the memory out of the budget; the message says what needs how much when it does not fit. */
mcr_status mcr_system_open(mcr_system *system, mcr *ctx, int64_t n, const char *what);
void mcr_system_close(mcr_system *system); /* also when it was not opened, if it is zero */
/* One of fewer equations in the memory of another, which must be filled again after it. Not to be
 * closed. */
mcr_system mcr_system_smaller(const mcr_system *system, int64_t n);
/* a holds A now: its lower triangle, and the upper one if more than a factor is wanted. */
void mcr_system_filled(mcr_system *system);

/* The lower triangle becomes the upper one, too. */
void mcr_system_mirror(mcr_system *system);
/* A += f'g, which is symmetric; f and g are count x n. After a mirrored or a whole A, before or
 * after a factor, which is lost. */
mcr_status mcr_system_add(mcr_system *system, int64_t count, const double *f, const double *g,
                          int64_t ld);

/* A + shift, or A + diag(each) if that is not NULL, becomes L L^T. MCR_NUMERIC: it is not positive
 * definite; A is still there, if all of it was filled. Progress is reported under `phase` (NULL:
 * not); MCR_STOPPED if the callback asks for that. */
mcr_status mcr_system_factor(mcr_system *system, double shift, const double *each,
                             const char *phase);
/* A again, both triangles, after a factor. */
void mcr_system_restore(mcr_system *system);

/* After a factor: */

/* Solves for b (n x count) in place. */
mcr_status mcr_system_solve(const mcr_system *system, int64_t count, double *b);
/* L^-1 b for some columns of b, whose rows lie ldb apart. On the threads of the caller's turn. */
mcr_status mcr_system_solve_lower(const mcr_system *system, int64_t count, double *b, int64_t ldb);
/* log L_ii: their sum is half of log det(A + shift). */
double mcr_system_log(const mcr_system *system, int64_t i);
/* The diagonal of the inverse; if `whole`, the rest of it takes the place of A above the diagonal.
 * L stays as it is. phase: as that of the factor. */
mcr_status mcr_system_inverse(mcr_system *system, bool whole, double *diagonal, const char *phase);
/* y = A v from what is above the diagonal; v and y are n x cols. */
mcr_status mcr_system_multiply(const mcr_system *system, const double *v, int64_t cols, double *y);

/* Instead of a factor: eigenvalues, ascending, and in row i of a the vector of value[i]. */
mcr_status mcr_system_eigen(mcr_system *system, const char *what, double *value);

#endif
