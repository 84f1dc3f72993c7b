/* newton_factor.h (internal to newton*.c): Newton's step directly, where G = L L'.
 *
 *   (mu + H L L')^-1 = (1 - H L (mu + L' H L)^-1 L') / mu
 *
 * Building L' H L takes far longer than a step with it, so further steps reuse it as long as they
 * converge fast enough (Shamanskii, 1967).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_SOLVE_NEWTON_FACTOR_H
#define MCR_SOLVE_NEWTON_FACTOR_H

#include "linalg/system.h"
#include "solve/newton.h"

typedef struct mcr_newton_factor {
    const mcr_smooth *p;
    int64_t n;
    mcr_gram *l;      /* borrowed; NULL: none */
    int64_t rank;     /* columns of L */
    double *space;    /* rank x columns */
    mcr_system inner; /* mu + L' H L, by column and then rank; closed: too large */
    bool factored;    /* inner is the system of H at `at`, which steps may reuse */
    /* Borrowed, n x columns. */
    double *at, *work[3];
} mcr_newton_factor;

/* L of a G that is in memory; NULL: its rank is too large to be of use. */
mcr_status mcr_newton_low_rank(mcr_gram **out, mcr_gram *gram);
/* L before anything else is computed, if few columns suffice: they cost less than a few products
 * with G. diagonal: n numbers to work with. */
mcr_status mcr_newton_low_rank_early(mcr_gram **out, mcr_gram *gram, double mu, double *diagonal);

/* After p, n, at and work are set. Closed with the context, also after a failure. */
mcr_status mcr_newton_factor_use(mcr_newton_factor *t, mcr_gram *l);
void mcr_newton_factor_close(mcr_newton_factor *t, mcr *ctx);

/* gv = L L' v */
mcr_status mcr_newton_factor_multiply(mcr_newton_factor *t, const double *v, double *gv);
/* The system of H at f. */
mcr_status mcr_newton_factor_fill(mcr_newton_factor *t, const double *f);
/* step = (mu + H L L')^-1 rest, with H as it is at f or was when inner was built. MCR_NUMERIC: mu
 * is too small for a factor of the inner system. */
mcr_status mcr_newton_factor_step(mcr_newton_factor *t, const double *f, const double *rest,
                                  double *step);

#endif
