/* shifted.h (internal): (K + r) X = B for a positive semidefinite Gram and several columns.
 *
 * By a Cholesky factor of K + r. If the Gram has a factor, K = D D', then
 *
 *   X = (B - D W) / r,   (D'D + r) W = D'B,   W = D'X
 *
 * by a Cholesky factor of D'D + r, which has one row per feature, and corrections of W by its own
 * residual r (D'X - W). With many sparse features, or more features than objects, by conjugate
 * gradients for X with products alone.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_SOLVE_SHIFTED_H
#define MCR_SOLVE_SHIFTED_H

#include "gram/gram.h"

typedef struct mcr_shifted {
    mcr_gram *gram;
    const char *phase;
    int64_t width;     /* of the factor; 0: there is none */
    mcr_system system; /* K, or D'D; closed: by products */
} mcr_shifted;

/* Computes what is factored; phase: of progress reports; what: for the message where the memory
 * budget is too small. Close it also after a failure. */
mcr_status mcr_shifted_open(mcr_shifted *shifted, mcr_gram *gram, const char *phase,
                            const char *what);
void mcr_shifted_close(mcr_shifted *shifted);

/* b and x are n x cols; w (width x cols, NULL without a factor) is D'x. *residual: the largest
 * |B - (K + r) X|, over the largest |X| times `size`, which bounds K + r; recomputed at the end.
 * MCR_NUMERIC: K + r is not positive definite. */
mcr_status mcr_shifted_solve(mcr_shifted *shifted, double r, const double *b, int64_t cols,
                             double size, double *x, double *w, double *residual);

/* Whether D'D of a Gram with a factor is worth making; else products with D take less. */
bool mcr_shifted_is_direct(const mcr_gram *gram);
/* Sparse features: up to so many make a matrix. */
enum { MCR_DIRECT_FEATURES = 2048 };

#endif
