/* gp_sparse.h (internal): what the parts of sparse Gaussian processes share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_LEARN_GP_SPARSE_H
#define MCR_LEARN_GP_SPARSE_H

#include "gram/map.h"
#include "learn/gp.h"

enum { MCR_SPARSE_BLOCK = 2048 }; /* objects of a block */

typedef struct mcr_sparse {
    mcr_landmarks how;
    int64_t rank;          /* the most landmarks */
    int64_t m, *object;    /* landmarks, by their numbers in the data, rising */
    int64_t best_m, *best; /* those of the best value */
    double *y, *weight;    /* n; targets standardised */
    double square, logs;   /* sums of w y^2, of log w */
    double mean, scale;
    mcr_map *map;        /* T, at the scales of the last value */
    double *p, *b;       /* m x m, m: P, b */
    double *beta, *u;    /* m: (s + P)^-1 b, T beta */
    double *inverse;     /* m: diagonal of (s + P)^-1 */
    mcr_system e;        /* s + P */
    double *s, *work;    /* m x m */
    double *k, *d;       /* of a block: rows x m, kernel values and features */
    double trace, left;  /* of W K, of W (K - Q) */
    double terms;        /* of the likelihood that do not depend on y */
    double lower, upper; /* bounds of the log likelihood */
    double jitter_slope; /* of -lower bound, twice */
    size_t taken;
} mcr_sparse;

/* Some objects, one after the other, against the landmarks. Their kernel values are in k. */
typedef struct mcr_sparse_block {
    int64_t first, rows;
    const mcr_data *data;
    mcr_gram *cross;
} mcr_sparse_block;
typedef mcr_status mcr_sparse_work(mcr_gp *gp, const mcr_sparse_block *block, void *arg);
mcr_status mcr_sparse_pass(mcr_gp *gp, mcr_sparse_work *work, void *arg);

/* After a value: the upper bound. */
mcr_status mcr_sparse_upper(mcr_gp *gp);

extern const mcr_gp_own mcr_sparse_method;

#endif
