/* conjugate.h (internal): preconditioned conjugate gradients on an operator that the caller
 * supplies: a Gram here, or rows spread over several processes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_SOLVE_CONJUGATE_H
#define MCR_SOLVE_CONJUGATE_H

#include <stdbool.h>

#include "base/resume.h"

typedef struct mcr_conjugate {
    mcr *ctx;
    int64_t size;
    int64_t columns; /* systems that are solved together: vectors are size x columns; 0: one */
    /* av = A v, symmetric and positive definite; z = M r, near to A^-1 r, and positive definite
     * too; NULL: M = 1. */
    mcr_status (*apply)(void *self, const double *v, double *av);
    mcr_status (*precondition)(void *self, const double *r, double *z);
    /* Called after each step of one column: x += length times direction; may be NULL. */
    void (*stepped)(void *self, double length);
    /* Whether to end early; norm: of the residual, the largest of all columns. */
    mcr_status (*over)(void *self, double norm, bool *yes);
    void *self;
    double enough; /* a column is done when the norm of its residual is at most that, */
    bool relative; /* or at most that share of the norm of b */
    int64_t most;  /* steps */
    /* Of a checkpoint (base/resume.h): the part that has the state between two steps, to which
     * `walk` adds the caller's own; NULL: nothing is kept. */
    const char *part;
    mcr_walk_state *walk;
} mcr_conjugate;

/* Solves A x = b from x = 0. *norm: of the residual by the recursion; *steps is increased. A
 * direction that has no curvature because of rounding ends a column with the current x. */
mcr_status mcr_conjugate_solve(const mcr_conjugate *c, const double *b, double *x, double *norm,
                               int64_t *steps);

#endif
