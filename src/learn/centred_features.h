/* centred_features.h (internal): the covariance of the objects from their features.
 *
 * With a row of D for each object, m = D'p the mean (p_i the shares) and X the rows sqrt(p_i) (d_i
 * - m), the matrix A of centred.h is X X', and the covariance itself is C = X'X = D' diag(p) D - m
 * m', which has one row per feature. X is never made: D stays as it is, sparse or in blocks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_LEARN_CENTRED_FEATURES_H
#define MCR_LEARN_CENTRED_FEATURES_H

#include "learn/centred.h"
#include "learn/form.h"

typedef struct mcr_spread {
    mcr *ctx;
    mcr_centred c; /* shares, means m_i = d_i.m, t = m.m, the whole variance; no matrix */
    mcr_gram *d;   /* known by its factor */
    int64_t p;     /* features */
    double *m;     /* p */
    double *share; /* n: p_i */
} mcr_spread;

/* Fails, in the name of the learner, as mcr_centred_open does. */
mcr_status mcr_spread_open(mcr_spread *spread, const char *learner, const mcr_learning *in,
                           mcr_gram *gram);
void mcr_spread_close(mcr_spread *spread); /* also after a failure of open */

/* y = X v and u = X'a; v and u are p x cols, y and a n x cols. */
mcr_status mcr_spread_multiply(const mcr_spread *spread, const double *v, int64_t cols, double *y);
mcr_status mcr_spread_project(const mcr_spread *spread, const double *a, int64_t cols, double *u);
/* C, both triangles. */
mcr_status mcr_spread_matrix(const mcr_spread *spread, double *c, int64_t ld);

/* Whether C is worth making: else products with X take less. */
bool mcr_spread_is_direct(const mcr_spread *spread);

/* For mcr_leading: products with A (rows of n) and with C (rows of p); arg is the mcr_spread. */
mcr_status mcr_spread_times_a(void *arg, int64_t rows, const double *v, double *av);
mcr_status mcr_spread_times_c(void *arg, int64_t rows, const double *v, double *cv);

/* A fitted of directions w (p x outputs) of an approximate map, with the offsets of their
 * coordinates w.(phi(x) - m). */
mcr_status mcr_spread_fitted(mcr_fitted **out, const mcr_spread *spread, const mcr_form *form,
                             const double *w, int64_t outputs);

#endif
