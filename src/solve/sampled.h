/* sampled.h (internal): systems (1 + D' diag(h) D) x = b with many rows of a restricted Gram, by
 * conjugate gradients, preconditioned by the same matrix of some of the rows.
 *
 * The preconditioner serves for further systems, with other rows and weights, as long as these are
 * so near that few steps do. It is known by its rows and weights, which a checkpoint keeps.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_SOLVE_SAMPLED_H
#define MCR_SOLVE_SAMPLED_H

#include "base/resume.h"
#include "gram/factor.h"
#include "linalg/system.h"

typedef struct mcr_sampled {
    mcr *ctx;
    mcr_gram *d;
    mcr_system *m; /* the caller's; holds the factor while `count` is above 0 */
    int64_t count; /* rows of the preconditioner; 0: there is none */
    int64_t *row;
    double *weight;
} mcr_sampled;

mcr_status mcr_sampled_open(mcr_sampled *t, mcr_gram *d, mcr_system *m);
void mcr_sampled_close(mcr_sampled *t);

/* Whether this is the way for so many rows with such a sum of weights: a factor of all of them is
 * more work, and floats are near enough. */
bool mcr_sampled_suits(const mcr_sampled *t, int64_t rows, double sum);
/* x (width x cols): b, then the solution, to a residual of about 1e-3. */
mcr_status mcr_sampled_solve(mcr_sampled *t, mcr_rows rows, const double *h, int64_t cols,
                             double *x);
mcr_status mcr_sampled_walk(mcr_sampled *t, mcr_walk *w);

#endif
