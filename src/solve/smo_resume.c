/* smo_resume.c: the state of a quadratic program between two rounds, for a checkpoint.
 *
 * Coefficients, gradient, working set and active set are stored, and the list of cached rows: the
 * order in which rows are added determines the last bits of the gradient. Kernel values are not
 * stored but recomputed: they depend only on their two objects.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "solve/smo_impl.h"

/* What the arrays are made of, and what the rounds go by. */
typedef struct numbers {
    unsigned char done, precise, tried; /* 0 or 1, as are on, back and last of trend */
    unsigned char goes, back, last;
    int tries;
    int64_t active, slots, wanted, rests;
    int64_t patience;
    double work, moved, rent, newton;
    mcr_error rough;
    double low[2], high[2];
    mcr_smo_trend trend;
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
    k.work = s->work;
    k.moved = s->moved;
    k.rent = s->rent;
    k.newton = s->newton;
    k.rough = s->rough;
    memcpy(k.low, s->low, sizeof k.low);
    memcpy(k.high, s->high, sizeof k.high);
    k.trend = s->trend;
    k.trend.on = k.trend.back = k.trend.last = false;
    k.goes = s->trend.on;
    k.back = s->trend.back;
    k.last = s->trend.last;
    return k;
}

static bool is_count(int64_t number)
{
    return number >= 0 && number <= INT64_MAX / 4;
}

static mcr_status to_state(mcr_smo *s, const numbers *k, mcr_walk *w)
{
    bool fits = k->active >= 1 && k->active <= s->n && k->slots >= 1 && k->slots <= s->most_slots &&
                k->wanted >= 1 && k->wanted <= k->slots && k->rests >= 0 && k->tries >= 0 &&
                (!s->whole || (k->slots == s->slots && k->active == s->n)) &&
                is_count(k->patience) && is_count(k->trend.fruitless);
    if (!fits || w->status)
        return mcr_walk_refuse(w);
    s->tried = k->tried;
    s->tries = k->tries;
    s->active = k->active;
    s->wanted = k->wanted;
    s->patience = k->patience;
    s->work = k->work;
    s->moved = k->moved;
    s->rent = k->rent;
    s->newton = k->newton;
    s->rough = k->rough;
    memcpy(s->low, k->low, sizeof s->low);
    memcpy(s->high, k->high, sizeof s->high);
    s->trend = k->trend;
    s->trend.on = k->goes;
    s->trend.back = k->back;
    s->trend.last = k->last;
    return MCR_OK;
}

void mcr_qp_walk_result(mcr_qp_result *r, mcr_walk *w)
{
    mcr_walk_stop(w, &r->stop);
    mcr_walk_count(w, &r->steps);
    mcr_walk_count(w, &r->rounds);
    mcr_walk_count(w, &r->rows);
    MCR_WALK(w, r->violation);
    MCR_WALK(w, r->low);
    MCR_WALK(w, r->high);
    MCR_WALK(w, r->square_error);
    MCR_WALK(w, r->violation_error);
    MCR_WALK(w, r->size);
    MCR_WALK(w, r->largest);
}

/* Whether all coefficients are between their bounds; what is not a number is not. */
static bool are_feasible(const mcr_smo *s)
{
    for (int64_t v = 0; v < s->n; v++)
        if (!(s->b[v] >= s->p->lo[v] && s->b[v] <= s->p->hi[v]))
            return false;
    return true;
}

/* Whether each object is active, in order, or in one of the rests. */
static mcr_status check_partition(mcr_smo *s, mcr_walk *w)
{
    unsigned char *seen = mcr_alloc_zero(s->ctx, (size_t)s->n, 1);
    if (!seen)
        return MCR_NO_MEMORY;
    int64_t count = 0;
    bool sound = true;
    for (int64_t i = 0; i < s->active && sound; i++) {
        sound = s->act[i] > (i > 0 ? s->act[i - 1] : -1) && s->act[i] < s->n;
        if (sound)
            seen[s->act[i]] = 1;
        count++;
    }
    for (const mcr_smo_rest *r = s->rests; r && sound; r = r->next)
        for (int64_t i = 0; i < r->count && sound; i++) {
            sound = r->object[i] >= 0 && r->object[i] < s->n && !seen[r->object[i]];
            if (sound)
                seen[r->object[i]] = 1;
            count++;
        }
    mcr_free(s->ctx, seen);
    return sound && count == s->n ? MCR_OK : mcr_walk_refuse(w);
}

/* Whether the working set has no column twice, and no more of a group than it should; `in` follows
 * from it. */
static mcr_status check_members(mcr_smo *s, int64_t slots, mcr_walk *w)
{
    int64_t count[2] = {0, 0};
    bool sound = true;
    memset(s->in, 0, (size_t)s->n);
    for (int64_t m = 0; m < slots && sound; m++) {
        int64_t i = s->member[m];
        sound = i >= -1 && i < s->active && (i < 0 || !s->in[i]);
        if (sound && i >= 0) {
            s->in[i] = 1;
            count[mcr_smo_group(s, s->act[i])]++;
        }
    }
    int64_t most = s->wanted / s->groups;
    return sound && count[0] <= most && count[1] <= most ? MCR_OK : mcr_walk_refuse(w);
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
    mcr_free_all(s->ctx, s->k, s->fresh);
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
    } else if (!w->status) {
        st = read_rests(s, k->rests, w);
        if (!st)
            st = check_partition(s, w);
        if (!st)
            st = check_members(s, k->slots, w);
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
    bool whole = s->whole;
    mcr_walk_same(w, s->n);
    mcr_walk_flag(w, &whole);
    if (w->reads && !w->status && whole && !s->whole && s->may_be_whole)
        mcr_smo_take_whole(s);
    mcr_walk_same(w, s->most_slots);
    mcr_walk_same(w, s->whole);
    MCR_WALK(w, k);
    mcr_qp_walk_result(s->result, w);
    mcr_walk_bytes(w, s->b, sizeof *s->b * n);
    mcr_walk_bytes(w, s->g, sizeof *s->g * n);
    if (w->reads && !w->status &&
        (k.done > 1 || k.precise > 1 || k.tried > 1 || k.goes > 1 || k.back > 1 || k.last > 1 ||
         !are_feasible(s)))
        mcr_walk_refuse(w);
    if (w->status)
        return w->status;
    if (w->reads && k.done) {
        s->done = true;
        memcpy(s->low, k.low, sizeof s->low);
        memcpy(s->high, k.high, sizeof s->high);
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
