/* laplace.h (internal): the posterior of latent values f = K a under the logistic likelihood, by
 * Laplace's approximation: normal around its mode, which Newton's method finds with
 *
 *   g = d log p(y|f),  W = -d^2 log p(y|f),  L L' = B = I + W^1/2 K W^1/2.
 *
 * There may be several such problems with the same K, one per column of y; the likelihood is their
 * product. One n x n matrix: K lies above the diagonal, B and its factor below it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_SOLVE_LAPLACE_H
#define MCR_SOLVE_LAPLACE_H

#include "linalg/system.h"

/* How near g must be to a, which it equals at the mode. */
#define MCR_LAPLACE_TOLERANCE 1e-9

typedef struct mcr_laplace {
    mcr *ctx;
    mcr_system *k;
    int64_t n, parts;
    const double *y;      /* n x parts: +1 or -1 */
    const double *weight; /* n */
    const char *phase;    /* of factorisations; NULL: not reported */
    double *a, *f, *root; /* parts x n: modes, W^1/2 */
    double residual;      /* largest |g - a| of all parts */
    /* Private. */
    int64_t part;      /* whose B lies below the diagonal */
    double *g, *t, *v; /* n each: gradient, space */
    double *u;         /* for the slope */
    double *diagonal;  /* of the inverse of B */
} mcr_laplace;

/* Modes start at 0. k may be filled later, and refilled; the arrays are borrowed. Must be closed
 * even after a failure. */
mcr_status mcr_laplace_open(mcr_laplace *l, mcr_system *k, mcr *ctx, int64_t n, int64_t parts,
                            const double *y, const double *weight);
void mcr_laplace_close(mcr_laplace *l);

/* The modes, from the last ones; *f: -log likelihood. */
mcr_status mcr_laplace_value(mcr_laplace *l, double *f);
/* After it, for the slope of a part; K is overwritten by the inverse of B. */
mcr_status mcr_laplace_prepare(mcr_laplace *l, int64_t part);
/* Then row i, from column i on, of a symmetric matrix D: the slope of -log likelihood against a
 * number that K depends on is the sum of D_ij dK_ij over i <= j. */
void mcr_laplace_row(const mcr_laplace *l, int64_t i, double *d);

#endif
