/* shifted.h (internal): (K + r) X = B for a positive semidefinite Gram and several columns.
 *
 * By a Cholesky factor of K + r. If the Gram has a factor, K = D D', then
 *
 *   X = (B - D W) / r,   (D'D + r) W = D'B,   W = D'X
 *
 * by a Cholesky factor of D'D + r, which has one row per feature, and corrections of W by its own
 * residual r (D'X - W); or by conjugate gradients for X with products alone.
 *
 * With `root`, one number >= 0 per object, all of it is for diag(root) K diag(root) in place of K,
 * and for diag(root) D in place of D.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_SOLVE_SHIFTED_H
#define MCR_SOLVE_SHIFTED_H

#include "gram/gram.h"

typedef struct mcr_shifted {
    mcr_gram *gram;
    const double *root; /* NULL: 1 */
    const char *phase;
    int64_t width;     /* of the factor; 0: there is none */
    mcr_system system; /* K, or D'D; closed: by products */
    double tol;        /* by products: the residual of a column, relative to B; open sets 1e-13 */
    int64_t steps;     /* filled by solve: corrections, or products */
} mcr_shifted;

/* Computes what is factored, of a Gram with a factor if D'D is worth it (`direct`); phase: of
 * progress reports; what: for the message where the memory budget is too small. Close it also after
 * a failure. */
mcr_status mcr_shifted_open(mcr_shifted *shifted, mcr_gram *gram, const double *root, bool direct,
                            const char *phase, const char *what);
void mcr_shifted_close(mcr_shifted *shifted);

/* b and x are n x cols. MCR_NUMERIC: K + r is not positive definite. */
mcr_status mcr_shifted_solve(mcr_shifted *shifted, double r, const double *b, int64_t cols,
                             double *x);
/* After it: w (width x cols, NULL without a factor) is D'x. *residual: the largest |B - (K + r) X|,
 * recomputed, over the largest |X| times `size`, which bounds K + r. */
mcr_status mcr_shifted_check(mcr_shifted *shifted, double r, const double *b, int64_t cols,
                             double size, const double *x, double *w, double *residual);

/* Whether D'D of a Gram with a factor is worth making; else products with D take less. */
bool mcr_shifted_is_direct(const mcr_gram *gram);
/* Sparse features: up to so many make a matrix. */
enum { MCR_DIRECT_FEATURES = 2048 };

#endif
