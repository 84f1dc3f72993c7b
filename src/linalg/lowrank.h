/* lowrank.h (internal): a symmetric positive semidefinite matrix as L L^T with few columns.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_LINALG_LOWRANK_H
#define MCR_LINALG_LOWRANK_H

#include "linalg/lapack.h"

typedef struct mcr_lowrank {
    mcr *ctx;
    const struct mcr_fortran *f; /* what computes with it */
    int64_t n, rank, ld;
    double *l; /* n x rank, rows ld apart */
    size_t taken;
} mcr_lowrank;

/* Pivoted Cholesky until the trace of what is left is at most `share` of the whole. If that takes more than
 * `most` columns, or more memory than the budget has, rank is 0 and nothing is kept. The same bits for any
 * number of threads. */
mcr_status mcr_lowrank_open(mcr_lowrank *low, const mcr_square *a, double share, int64_t most);
void mcr_lowrank_close(mcr_lowrank *low); /* also when it was not opened, if it is zero */
/* u = L^T v and y = L u; v and y are n x cols, u is rank x cols. */
mcr_status mcr_lowrank_project(const mcr_lowrank *low, const double *v, int64_t cols, double *u);
mcr_status mcr_lowrank_expand(const mcr_lowrank *low, const double *u, int64_t cols, double *y);
/* m = L^T diag(h) L, rank x rank, rows ldm apart. */
mcr_status mcr_lowrank_weigh(const mcr_lowrank *low, const double *h, double *m, int64_t ldm);

#endif
