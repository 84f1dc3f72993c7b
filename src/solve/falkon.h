/* falkon.h (internal): smooth convex losses of f = D w, for a Gram with a factor of many rows, by
 * Newton's method and preconditioned conjugate gradients.
 *
 *   min  sum_i loss_i((D w)_i) + mu / 2 |w|^2,   w p x columns
 *
 * The Gram need only be able to multiply by D and back (gram/round.h), and to list some of its
 * rows: the preconditioner is the Hessian of a sample. The problem is strongly convex: with the
 * gradient g at w, the objective is at most |g|^2 / (2 mu) above the optimum, and w within |g| / mu
 * of it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_SOLVE_FALKON_H
#define MCR_SOLVE_FALKON_H

#include "solve/newton.h"

typedef struct mcr_falkon_result {
    mcr_stop stop;
    int64_t steps, passes; /* of Newton; over all rows */
    int64_t sample;        /* rows of the preconditioner */
    /* From scratch, at the end, in double. */
    double objective, gradient;
    double gap;      /* the objective is at most that much above the optimum */
    double distance; /* |w - w*| is at most that */
    /* Bounds on the rounding error of objective and gap, for a restricted Gram (gram/factor.h),
     * where f has the coefficients that a model stores; 0 for other Grams. */
    double objective_error, gap_error;
    bool as_computed; /* of the problem with kernel values as they were computed */
} mcr_falkon_result;

/* Ends when the bound on the gap is at most problem->gap of the objective. w: filled; f (n x
 * columns): D w at the end, from scratch. Deterministic for any number of threads. */
mcr_status mcr_falkon_solve(mcr_gram *gram, const mcr_smooth *problem, double *w, double *f,
                            mcr_falkon_result *result);

#endif
