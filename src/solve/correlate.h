/* correlate.h (internal): regularised canonical correlations of two Grams of the same objects.
 *
 * Directions a and b maximise a'A B b under |(A + r)a| = |(B + q)b| = 1, where r and q are lambda
 * times the traces (Bach and Jordan, Kernel independent component analysis, 2002). With R = A (A +
 * r)^-1 and Q = B (B + q)^-1 these are singular vectors of R Q:
 *
 *   R Q^2 R u = s^2 u,   w = Q R u / s,   a = (A + r)^-1 u = (u - R u) / r,   b = (w - Q w) / q
 *
 * Of a Gram with a factor, A = X X', R = X (X'X + r)^-1 X' is applied by products with X.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_SOLVE_CORRELATE_H
#define MCR_SOLVE_CORRELATE_H

#include "solve/leading.h"

typedef struct mcr_correlate {
    mcr_gram *gram[2];
    double lambda;
    mcr_leading how;  /* count, limits and phase */
    const char *what; /* for the message where the memory budget is too small */
    /* To fill, count numbers or rows of n: s^2, largest first; correlations of the coordinates A a
     * and B b; a and b, scaled so that |A a| = |B b| = 1. */
    double *value, *correlation, *direction[2];
    int64_t found; /* pairs with a correlation */
    mcr_leading_result result;
} mcr_correlate;

/* MCR_NUMERIC: a Gram plus its share of the trace is not positive definite. */
mcr_status mcr_correlate_solve(mcr_correlate *problem);
/* Bytes of space that it takes, beside the two matrices and what it fills. */
double mcr_correlate_bytes(int64_t n, int64_t count);

#endif
