/* smo_resume.c: the state of a quadratic program between two rounds, for a checkpoint.
 *
 * Coefficients, gradient, working set and active set are kept, and which rows the cache holds: in
 * what order rows are added decides the last bits of the gradient. Kernel values are not kept, but
 * computed again: they depend on their two objects only.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "solve/smo_impl.h"

/* What the arrays are made of, and what the rounds go by. */
typedef struct numbers {
    bool done, precise, tried;
    int tries;
    int64_t active, slots, wanted, rests;
    int64_t patience, single_rows;
    double work, moved, rent, newton;
    mcr_error rough;
    double low[2], high[2];
    mcr_smo_trend trend;
    mcr_qp_result result;
} numbers;

static numbers of_state(const mcr_smo *s)
{
    numbers k;
    memset(&k, 0, sizeof k); /* no stray bytes between the members */
    k.done = s->done;
    k.precise = s->precise;
    k.tried = s->tried;
    k.tries = s->tries;
    k.active = s->active;
    k.slots = s->slots;
    k.wanted = s->wanted;
    for (const mcr_smo_rest *r = s->rests; r; r = r->next)
        k.rests++;
    k.patience = s->patience;
    k.single_rows = s->single_rows;
    k.work = s->work;
    k.moved = s->moved;
    k.rent = s->rent;
    k.newton = s->newton;
    k.rough = s->rough;
    memcpy(k.low, s->low, sizeof k.low);
    memcpy(k.high, s->high, sizeof k.high);
    k.trend = s->trend;
    k.result = *s->result;
    return k;
}

static mcr_status to_state(mcr_smo *s, const numbers *k, mcr_walk *w)
{
    bool fits = k->active >= 0 && k->active <= s->n && k->slots >= 1 && k->slots <= s->most_slots &&
                k->wanted >= 1 && k->wanted <= k->slots && k->rests >= 0 &&
                (!s->whole || k->slots == s->slots);
    if (!fits)
        return mcr_walk_refuse(w);
    s->tried = k->tried;
    s->tries = k->tries;
    s->active = k->active;
    s->wanted = k->wanted;
    s->patience = k->patience;
    s->single_rows = k->single_rows;
    s->work = k->work;
    s->moved = k->moved;
    s->rent = k->rent;
    s->newton = k->newton;
    s->rough = k->rough;
    memcpy(s->low, k->low, sizeof s->low);
    memcpy(s->high, k->high, sizeof s->high);
    s->trend = k->trend;
    *s->result = k->result;
    return MCR_OK;
}

/* Whether all are numbers of objects, or -1 if `none` is allowed. */
static bool are_within(const int64_t *list, int64_t count, bool none, int64_t n)
{
    for (int64_t i = 0; i < count; i++)
        if (list[i] < (none ? -1 : 0) || list[i] >= n)
            return false;
    return true;
}

static void walk_rest(mcr_smo *s, mcr_smo_rest *r, mcr_walk *w)
{
    size_t count = (size_t)r->count;
    mcr_walk_bytes(w, r->object, sizeof *r->object * count);
    mcr_walk_bytes(w, r->g, sizeof *r->g * count);
    mcr_walk_bytes(w, r->b, sizeof *r->b * (size_t)s->n);
}

static mcr_status read_rests(mcr_smo *s, int64_t rests, mcr_walk *w)
{
    mcr_smo_rest **last = &s->rests;
    for (int64_t i = 0; i < rests && !w->status; i++) {
        int64_t count = 0;
        MCR_WALK(w, count);
        if (w->status || count < 0 || count > s->n)
            return mcr_walk_refuse(w);
        mcr_smo_rest *r = mcr_smo_new_rest(s, count);
        if (!r)
            return MCR_NO_MEMORY;
        *last = r;
        last = &r->next;
        r->count = count;
        walk_rest(s, r, w);
        if (!are_within(r->object, w->status ? 0 : count, false, s->n))
            return mcr_walk_refuse(w);
    }
    return w->status;
}

static void write_rests(mcr_smo *s, mcr_walk *w)
{
    for (mcr_smo_rest *r = s->rests; r; r = r->next) {
        MCR_WALK(w, r->count);
        walk_rest(s, r, w);
    }
}

/* K of the working set, which grows to its size first, from scratch. */
static mcr_status make_block(mcr_smo *s, int64_t slots)
{
    int64_t added = 0;
    mcr_free(s->ctx, s->k);
    mcr_free(s->ctx, s->fresh);
    s->k = s->fresh = NULL;
    s->slots = slots;
    mcr_smo_lay_out(s);
    mcr_status st = mcr_smo_open_block(s);
    for (int64_t m = 0; m < slots && !st; m++)
        if (s->member[m] >= 0)
            s->new_slot[added++] = m;
    return st || added == 0 ? st : mcr_smo_fill_block(s, added);
}

/* The rows that were made, where the set is everything. */
static mcr_status walk_rows(mcr_smo *s, mcr_walk *w)
{
    int64_t count = 0;
    mcr_status st = MCR_OK;
    if (!s->block.row)
        return MCR_OK;
    for (int64_t v = 0; v < s->n; v++) {
        unsigned char is_made = !w->reads && s->block.row[v];
        MCR_WALK(w, is_made);
        if (w->reads && is_made && !w->status)
            s->object_list[count++] = v;
    }
    if (w->reads && !w->status) {
        int64_t rows = s->result->rows;
        st = mcr_smo_need_rows(s, s->object_list, count);
        s->result->rows = rows;
    }
    return st ? st : w->status;
}

/* The working set, the active set and the cache. */
static mcr_status walk_sets(mcr_smo *s, const numbers *k, mcr_walk *w)
{
    size_t n = (size_t)s->n, q = (size_t)k->slots;
    mcr_status st = MCR_OK;
    mcr_walk_bytes(w, s->act, sizeof *s->act * (size_t)k->active);
    mcr_walk_bytes(w, s->in, n);
    mcr_walk_bytes(w, s->idle, n);
    mcr_walk_bytes(w, s->member, sizeof *s->member * q);
    mcr_walk_bytes(w, s->age, sizeof *s->age * q);
    if (!w->reads) {
        write_rests(s, w);
    } else if (!w->status && (!are_within(s->act, k->active, false, s->n) ||
                              !are_within(s->member, k->slots, true, k->active))) {
        return mcr_walk_refuse(w);
    } else if (!w->status) {
        st = read_rests(s, k->rests, w);
        if (!st)
            st = make_block(s, k->slots);
        if (!st && k->active < s->n)
            st = mcr_gram_restrict(&s->gram, s->full, (mcr_rows){s->act, 0, k->active});
    }
    return st ? st : mcr_cache_walk(s->cache, s->gram, w);
}

static mcr_status walk(void *self, mcr_walk *w)
{
    mcr_smo *s = self;
    size_t n = (size_t)s->n;
    numbers k = of_state(s);
    mcr_walk_same(w, s->n);
    mcr_walk_same(w, s->most_slots);
    mcr_walk_same(w, s->whole);
    MCR_WALK(w, k);
    mcr_walk_bytes(w, s->b, sizeof *s->b * n);
    mcr_walk_bytes(w, s->g, sizeof *s->g * n);
    if (w->status)
        return w->status;
    if (w->reads && k.done) {
        s->done = true;
        memcpy(s->low, k.low, sizeof s->low);
        memcpy(s->high, k.high, sizeof s->high);
        *s->result = k.result;
    }
    if (k.done)
        return MCR_OK;
    mcr_status st = w->reads ? mcr_smo_open_precision(s, k.precise) : MCR_OK;
    if (!st && w->reads)
        st = to_state(s, &k, w);
    if (s->error)
        mcr_walk_bytes(w, s->error, sizeof *s->error * n);
    if (!st)
        st = s->whole ? walk_rows(s, w) : walk_sets(s, &k, w);
    return st;
}

mcr_status mcr_smo_go_on(mcr_smo *s, bool *found)
{
    *found = false;
    if (!s->p->part || s->trial || !mcr_resume_keeps(s->ctx))
        return MCR_OK;
    mcr_resume_name(s->ctx, s->p->part, s->part);
    mcr_status st = mcr_resume_find(s->ctx, s->part, walk, s, found);
    if (!st && *found && s->whole)
        for (int64_t v = 0; v < s->n; v++)
            s->act[v] = v;
    return st;
}

mcr_status mcr_smo_offer(mcr_smo *s)
{
    return s->part[0] ? mcr_resume_offer(s->ctx, s->part, walk, s) : MCR_OK;
}

mcr_status mcr_smo_keep_result(mcr_smo *s, mcr_stop stop)
{
    if (!s->part[0] || stop == MCR_STOP_TIME || stop == MCR_STOP_INTERRUPTED)
        return MCR_OK;
    s->done = true;
    return mcr_resume_keep(s->ctx, s->part, walk, s);
}
