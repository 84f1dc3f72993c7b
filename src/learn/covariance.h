/* covariance.h (internal): the covariance of the objects from their features.
 *
 * With a row of D for each object, m = D'p the mean (p_i the shares) and X the rows sqrt(p_i) (d_i
 * - m), the matrix A of centred.h is X X', and the covariance itself is C = X'X = D' diag(p) D - m
 * m', which has one row per feature. X is never made: D stays as it is, sparse or in blocks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_LEARN_COVARIANCE_H
#define MCR_LEARN_COVARIANCE_H

#include "learn/centred.h"
#include "learn/form.h"

typedef struct mcr_covariance {
    mcr *ctx;
    mcr_centred c; /* shares, means m_i = d_i.m, t = m.m, the whole variance; no matrix */
    mcr_gram *d;   /* known by its factor */
    int64_t p;     /* features */
    double *m;     /* p */
    double *share; /* n: p_i */
} mcr_covariance;

/* Fails, in the name of the learner, as mcr_centred_open does. */
mcr_status mcr_covariance_open(mcr_covariance *covariance, const char *learner,
                               const mcr_learning *in, mcr_gram *gram);
void mcr_covariance_close(mcr_covariance *covariance); /* also after a failure of open */

/* y = X v and u = X'a; v and u are p x cols, y and a n x cols. */
mcr_status mcr_covariance_multiply(const mcr_covariance *covariance, const double *v, int64_t cols,
                                   double *y);
mcr_status mcr_covariance_project(const mcr_covariance *covariance, const double *a, int64_t cols,
                                  double *u);
/* C, both triangles. */
mcr_status mcr_covariance_matrix(const mcr_covariance *covariance, double *c, int64_t ld);

/* Whether C is worth making: else products with X take less. */
bool mcr_covariance_is_direct(const mcr_covariance *covariance);

/* For mcr_leading: products with A (rows of n) and with C (rows of p); arg: the mcr_covariance. */
mcr_status mcr_covariance_times_a(void *arg, int64_t rows, const double *v, double *av);
mcr_status mcr_covariance_times_c(void *arg, int64_t rows, const double *v, double *cv);

/* A fitted of directions w (p x outputs) of an approximate map, with the offsets of their
 * coordinates w.(phi(x) - m). */
mcr_status mcr_covariance_fitted(mcr_fitted **out, const mcr_covariance *covariance,
                                 const mcr_form *form, const double *w, int64_t outputs);

#endif
