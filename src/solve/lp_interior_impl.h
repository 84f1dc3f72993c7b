/* lp_interior_impl.h (internal to lp_interior.c and lp_rows.c): a linear program with its point and
 * direction, and its products with the rows.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_SOLVE_LP_INTERIOR_IMPL_H
#define MCR_SOLVE_LP_INTERIOR_IMPL_H

#include "linalg/fortran.h"
#include "solve/lp_interior.h"

/* A variable between bounds, with the multipliers of both. */
typedef struct mcr_bounded {
    double *x, *low, *high, *s, *t;
    double *below, *above; /* x - low and high - x, which x cannot give near a bound */
    double *dx, *ds, *dt;  /* the direction */
    double *ks, *kt;       /* complementarity that the direction is to have */
    int64_t n;
} mcr_bounded;

struct mcr_interior {
    mcr *ctx;
    const mcr_fortran *f;
    int64_t n, m, capacity, solved; /* rows of the last solution */
    double *cost, **block;          /* rows of A in blocks, which never move */
    mcr_bounded x, r;               /* columns and rows */
    double *dual, *ddual;
    double *h, *root, *p;            /* inverse for columns, its root; sum for rows */
    double *off_rows, *off_columns;  /* A x - r; cost - A'dual - s + t */
    double *right, *product, *along; /* m, m, n */
    double *strip;                   /* per worker: capacity x STRIP */
    double *partial;                 /* buffers of m x m; the first becomes the factor */
    double *sums;                    /* PARTS of m */
    double mu;
    int workers, buffers; /* parts of the normal equations that exist at a time */
    size_t taken;         /* of the memory budget */
};

/* to = A x */
mcr_status mcr_interior_times(mcr_interior *lp, const double *x, double *to);
/* to = A'v */
mcr_status mcr_interior_times_transposed(mcr_interior *lp, const double *v, double *to);
/* The factor of A diag(h) A' + diag(1/p), in the lower triangle of the first of `partial`.
 * Equations have no 1/p. */
mcr_status mcr_interior_factor(mcr_interior *lp);

#endif
