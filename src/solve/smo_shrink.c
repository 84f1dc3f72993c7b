/* smo_shrink.c: the active set of a quadratic program.
 *
 * Coefficients that stay at a bound leave the active set when that is certain to pay (rent or buy):
 * restoring their gradient costs about as much as has been spent since the last full gradient.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "solve/smo_impl.h"

#include <string.h>

#include "linalg/tiles.h"

enum {
    IDLE_LOOKS = 2, /* at which a coefficient must be sure to stay before it may leave */
    LOOK_EVERY = 4  /* rounds between looks at shrinking */
};

#define SHRINK_SHARE 0.5 /* of the active set that must be able to leave */
#define SHRINK_RENT  2.0

static void free_rest(mcr_smo *s, mcr_smo_rest *r)
{
    mcr_free_all(s->ctx, r->object, r->g, r->b, r);
}

void mcr_smo_free_rests(mcr_smo *s)
{
    while (s->rests) {
        mcr_smo_rest *r = s->rests;
        s->rests = r->next;
        free_rest(s, r);
    }
}

mcr_smo_rest *mcr_smo_new_rest(mcr_smo *s, int64_t count)
{
    mcr_smo_rest *r = mcr_alloc_zero(s->ctx, 1, sizeof *r);
    if (!r)
        return NULL;
    r->object = mcr_alloc(s->ctx, (size_t)count, sizeof *r->object);
    r->g = mcr_alloc(s->ctx, (size_t)count + MCR_ROW_PAD, sizeof *r->g);
    r->b = mcr_alloc(s->ctx, (size_t)s->n, sizeof *r->b);
    if (r->object && r->g && r->b)
        return r;
    free_rest(s, r);
    return NULL;
}

/* Counts, for every active column outside the working set, the checks at which it could not have
 * moved; returns how many have stayed long enough. */
static int64_t count_idle(mcr_smo *s)
{
    int64_t ready = 0;
    for (int64_t i = 0; i < s->active; i++) {
        int64_t v = s->act[i];
        int t = mcr_smo_group(s, v);
        bool stays = !s->in[i] && mcr_smo_slope_up(s, v, s->g[i]) > s->high[t] &&
                     mcr_smo_slope_down(s, v, s->g[i]) < s->low[t];
        s->idle[i] = stays ? (unsigned char)(s->idle[i] < IDLE_LOOKS ? s->idle[i] + 1 : IDLE_LOOKS)
                           : 0;
        ready += s->idle[i] == IDLE_LOOKS;
    }
    return ready;
}

/* Moves the idle columns to a new rest; place[i] becomes the new column of i, or -1. */
static mcr_status set_aside(mcr_smo *s, int64_t leaving, int64_t *place)
{
    mcr_smo_rest *r = mcr_smo_new_rest(s, leaving);
    if (!r)
        return MCR_NO_MEMORY;
    r->next = s->rests;
    s->rests = r;
    memcpy(r->b, s->b, sizeof *r->b * (size_t)s->n);
    int64_t stay = 0;
    for (int64_t i = 0; i < s->active; i++) {
        if (s->idle[i] == IDLE_LOOKS) {
            r->object[r->count] = s->act[i];
            r->g[r->count++] = s->g[i];
            place[i] = -1;
        } else {
            place[i] = stay;
            s->act[stay] = s->act[i];
            s->g[stay] = s->g[i];
            s->in[stay] = s->in[i];
            s->idle[stay++] = s->idle[i];
        }
    }
    s->active = stay;
    return MCR_OK;
}

static mcr_status shrink(mcr_smo *s, int64_t leaving)
{
    int64_t before = s->active;
    int64_t *place = mcr_alloc(s->ctx, (size_t)before, sizeof *place);
    if (!place)
        return MCR_NO_MEMORY;
    mcr_status st = set_aside(s, leaving, place);
    mcr_gram *narrow = NULL;
    if (!st)
        st = mcr_gram_restrict(&narrow, s->full, (mcr_rows){s->act, 0, s->active});
    if (!st)
        st = mcr_smo_count_error(s, narrow);
    if (!st) {
        for (int64_t m = 0; m < s->slots; m++)
            if (s->member[m] >= 0)
                s->member[m] = place[s->member[m]];
        for (int64_t i = 0; i < before; i++) /* place -> which old columns stay */
            if (place[i] >= 0)
                place[place[i]] = i;
        st = mcr_cache_narrow(s->cache, narrow, place);
        if (s->gram != s->full)
            mcr_gram_close(s->gram);
        s->gram = narrow;
    } else {
        mcr_gram_close(narrow);
    }
    mcr_free(s->ctx, place);
    return st;
}

mcr_status mcr_smo_consider_shrinking(mcr_smo *s)
{
    if (s->result->rounds % LOOK_EVERY != 0)
        return MCR_OK;
    int64_t leaving = count_idle(s);
    if (s->active <= 2 * s->wanted || (double)leaving <= SHRINK_SHARE * (double)s->active)
        return MCR_OK;
    double support = 0;
    for (int64_t v = 0; v < s->n; v++)
        support += s->b[v] != 0;
    return s->work > SHRINK_RENT * support * (double)leaving ? shrink(s, leaving) : MCR_OK;
}

mcr_status mcr_smo_unshrink(mcr_smo *s)
{
    double *whole = mcr_alloc(s->ctx, (size_t)s->n + MCR_ROW_PAD, sizeof *whole);
    mcr_status st = whole ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t i = 0; i < s->active && !st; i++)
        whole[s->act[i]] = s->g[i];
    for (mcr_smo_rest *r = s->rests; r && !st; r = r->next) {
        mcr_gram *columns = NULL;
        int64_t count = mcr_smo_list_changes(s, r->b);
        st = mcr_gram_restrict(&columns, s->full, (mcr_rows){r->object, 0, r->count});
        if (!st)
            st = mcr_smo_count_error(s, columns);
        if (!st)
            st = mcr_smo_add_rows(columns, s->precise, s->object_list, s->coef, count, NULL, r->g);
        mcr_gram_close(columns);
        s->result->rows += (int64_t)((double)count * (double)r->count / (double)s->n);
        for (int64_t i = 0; i < r->count && !st; i++)
            whole[r->object[i]] = r->g[i];
    }
    if (!st) {
        memcpy(s->g, whole, sizeof *whole * (size_t)s->n);
        for (int64_t m = 0; m < s->slots; m++)
            if (s->member[m] >= 0)
                s->member[m] = s->act[s->member[m]];
        mcr_smo_free_rests(s);
        mcr_smo_all_active(s);
        for (int64_t m = 0; m < s->slots; m++)
            if (s->member[m] >= 0)
                s->in[s->member[m]] = 1;
        st = mcr_cache_reset(s->cache, s->full);
    }
    mcr_free(s->ctx, whole);
    return st;
}
