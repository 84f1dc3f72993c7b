/* sampled.h (internal): systems (1 + D' diag(a) D / h) x = b with rows of a restricted Gram, one
 * after the other, with rows and h that change little.
 *
 * Few rows: by the factor of D' diag(a) D + h. The matrix is kept, and only rows that enter or
 * leave are added or subtracted. Many rows: by conjugate gradients, preconditioned by the same
 * matrix of some of the rows, which is reused for further systems as long as few steps are needed.
 * It is determined by its rows and weights, which a checkpoint stores.
 *
 * If rows are spread over several processes, each gives those of its own, and all have the same
 * matrix and solution. The matrix is then always made from scratch.
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
    mcr_system *m; /* the caller's; holds D' diag D of the rows below, and perhaps its factor */
    int64_t count; /* rows of the matrix, in all processes; 0: there is none */
    int64_t most;
    int64_t *row;
    double *weight;
    bool whole; /* these are all rows of the last system, not some */
    double sum; /* of the weights that the matrix was made of */
    double h;   /* of the factor; 0: there is none */
    /* Whether a limit is reached: a rough solution is enough; NULL: never. */
    mcr_status (*is_over)(void *self, bool *yes);
    void *self;
} mcr_sampled;

mcr_status mcr_sampled_open(mcr_sampled *t, mcr_gram *d, mcr_system *m);
void mcr_sampled_close(mcr_sampled *t);

/* x (width x cols): b, then the solution; that of many rows to a residual of about 1e-3. Rows rise;
 * weights are above 0. */
mcr_status mcr_sampled_solve(mcr_sampled *t, mcr_rows rows, const double *weight, double h,
                             int64_t cols, double *x);
mcr_status mcr_sampled_walk(mcr_sampled *t, mcr_walk *w);

#endif
