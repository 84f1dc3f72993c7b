/* facts.h (internal): lists of facts.
 *
 * A list is a function that calls one of these for every fact, in order. With `wanted` -1 it counts
 * the facts, otherwise it fills the one with that number.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_BASE_FACTS_H
#define MCR_BASE_FACTS_H

#include <mercer/facts.h>

typedef struct mcr_fact_cursor {
    int64_t wanted, at; /* at: facts seen so far */
    mcr_fact_group group;
    mcr_fact fact;
} mcr_fact_cursor;

void mcr_fact_none(mcr_fact_cursor *c, const char *name);
void mcr_fact_text(mcr_fact_cursor *c, const char *name, const char *text);
void mcr_fact_int(mcr_fact_cursor *c, const char *name, int64_t value);
void mcr_fact_real(mcr_fact_cursor *c, const char *name, double value);
void mcr_fact_flag(mcr_fact_cursor *c, const char *name, int value);
void mcr_fact_reals(mcr_fact_cursor *c, const char *name, const double *value, int64_t count);

/* To be called after the list: copies the fact to the caller; MCR_BAD_CALL if there are fewer. ctx
 * may be NULL. */
mcr_status mcr_fact_give(mcr_fact *out, mcr *ctx, const mcr_fact_cursor *c);

#endif
