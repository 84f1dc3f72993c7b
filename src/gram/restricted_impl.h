/* restricted_impl.h (internal to restricted*.c): K restricted to the span of landmarks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_GRAM_RESTRICTED_IMPL_H
#define MCR_GRAM_RESTRICTED_IMPL_H

#include "gram/factor_impl.h"
#include "gram/map.h"
#include "gram/round.h"

typedef struct mcr_restricted {
    mcr *ctx;
    mcr_map *map;
    const mcr_data *data;
    mcr_gram *own;   /* K_mm */
    mcr_gram *cross; /* K_nm; NULL: the data stay in a file */
    float *kept;     /* the same in float, rows ld apart; NULL: not kept */
    int64_t ld;
    size_t taken;
    /* The budget when it was opened: it decides which method is used, so that the choice does not
     * depend on later memory use. */
    size_t spare;
    double turn;   /* |T|^2, as the sum of its squares */
    double length; /* of a landmark in feature space, squared: the largest */
} mcr_restricted;

/* Rows that are read from their file at a time. */
int64_t mcr_restricted_rows(const mcr_restricted *t);
/* to = T'u */
mcr_status mcr_restricted_back(const mcr_restricted *t, const double *u, int64_t cols, double *to);
/* q = K_mm c; sums are compensated, so only values and products are rounded. */
mcr_status mcr_restricted_own(const mcr_restricted *t, const double *c, int64_t cols, double *q);

#endif
