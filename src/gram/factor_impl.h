/* factor_impl.h (internal to factor*.c): a Gram that is known by a factor.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_GRAM_FACTOR_IMPL_H
#define MCR_GRAM_FACTOR_IMPL_H

#include "gram/factor.h"
#include "gram/type.h"

typedef struct mcr_factor_gram {
    mcr_gram base;
    mcr_factor of;
    int64_t *row;      /* owned: of.row of some of the rows; NULL: none */
    const float *kept; /* the first kept_rows of the source, p apart; NULL: none */
    int64_t kept_rows;
    const char *phase;
    bool owns_kept;
    double *made; /* owned: all rows of the source, as of.dense; NULL: none */
    size_t taken; /* of the memory budget */
} mcr_factor_gram;

/* NULL: it is none. */
mcr_factor_gram *mcr_gram_as_factor(const mcr_gram *gram);

/* Of the table of functions (factor_products.c). */
mcr_status mcr_factor_expand(mcr_gram *gram, mcr_rows x, const double *v, int64_t cols, double *y);
mcr_status mcr_factor_project(mcr_gram *gram, mcr_rows x, const double *a, int64_t cols, double *u);
mcr_status mcr_factor_weighted(mcr_gram *gram, mcr_rows x, const double *h, double *m, int64_t ldm);
/* Where the factor has products without rows (factor_round.c). */
mcr_status mcr_factor_weighted_near(mcr_gram *gram, mcr_rows x, const double *h, double off,
                                    double *m, int64_t ldm);
mcr_status mcr_factor_expand_round(const mcr_factor_gram *g, mcr_rows x, const double *v,
                                   int64_t cols, double *y);
mcr_status mcr_factor_project_round(const mcr_factor_gram *g, mcr_rows x, const double *a,
                                    int64_t cols, double *u);
mcr_status mcr_factor_squares(mcr_gram *gram, mcr_rows x, double *square);
/* In extended precision (factor_extended.c). */
mcr_status mcr_factor_extended(mcr_gram *gram, mcr_extended *to);
/* u (size numbers) and the sum over all processes, in one message. */
mcr_status mcr_gram_total_round(mcr_gram *gram, double *u, int64_t size, double *sum);
/* Entries of a row, at most. */
int64_t mcr_factor_terms(const mcr_factor_gram *g);

#endif
