/* smo.c: large quadratic programs by working sets.
 *
 * Each round takes a working set of some hundred coefficients (half of it kept from the round
 * before: free ones first, then the newest), solves its own problem with smo_inner.c on its block of
 * K, and then updates the gradient by whole rows of K, but only for coefficients that changed. Rows
 * and gradient are most of the work, so they run through the fused passes of the Gram; a moderate
 * cache keeps rows that come again. Coefficients that stay at a bound leave the active set when
 * that is sure to pay (rent or buy): getting back their gradient costs about as much as has been
 * spent since the last whole gradient. At the end the gradient is computed afresh and the optimality
 * conditions are tested on it; if they fail, the rounds go on from there.
 *
 * A small problem whose K is cheap is its own working set: all of K is computed at once (or given by
 * the caller), and the inner solver does the rest.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "solve/smo.h"

#include <math.h>
#include <string.h>

#include "base/threads.h"
#include "gram/cache.h"
#include "linalg/tiles.h"
#include "solve/smo_inner.h"

enum {
    MOST_SLOTS = 2048, /* of a working set */
    LEAST_SLOTS = 64,
    FIRST_SLOTS = 512, /* it starts with; grows with the number of free coefficients */
    IDLE_ROUNDS = 3,   /* that a coefficient must be sure to stay before it may leave */
    LOOK_EVERY = 4,    /* rounds between looks at shrinking */
    FRUITLESS_ROUNDS = 3,
    BATCH = 1024,        /* rows of one pass */
    WHOLE_STEPS = 50000, /* between looks at the limits when the working set is everything */
    MOST_VERIFICATIONS = 8,
    DEFAULT_CACHE = 256 << 20
};

#define INNER_SHARE  0.1 /* of the current violation: where the working set's problem stops */
#define INNER_LEAST  0.5 /* of the tolerance: not below */
#define SHRINK_SHARE 0.5 /* of the active set that must be able to leave */
#define SHRINK_RENT  5.0
/* All of K at once: up to so many objects, fewer the more a kernel value costs. Memory that was never
 * touched costs more than what is computed into it, so the limit is low. */
#define WHOLE_OBJECTS 2048
#define WHOLE_WORK    (40.0 * WHOLE_OBJECTS)

/* Coefficients that left the active set together: their gradient then, and all coefficients then. */
typedef struct rest {
    struct rest *next;
    int64_t count;
    int64_t *object;
    double *g, *b;
} rest;

typedef struct candidate {
    double key;
    int64_t at;
} candidate;

typedef struct solver {
    mcr *ctx;
    const mcr_qp *p;
    int64_t n;
    int groups;
    double *b;
    bool precise;

    mcr_gram *full, *gram; /* gram: against the active columns; == full when all are */
    mcr_cache *cache;
    int64_t active;
    int64_t *act;        /* active column -> object */
    double *g;           /* (K b) of the active columns */
    unsigned char *in;   /* 1: in the working set */
    unsigned char *idle; /* rounds that it was sure to stay */
    rest *rests;
    double work; /* kernel values of rows since the last whole gradient */

    /* The working set: slot -> active column (-1: empty). */
    bool whole; /* it is everything: slot = object */
    int64_t slots;
    int64_t *member, *age;
    unsigned char *slot_group;
    int64_t wanted; /* size that it should have */
    mcr_smo_block block;
    size_t real;
    char *k;
    size_t taken; /* of the budget, for k and fresh */
    double *slot_b, *before, *slot_lo, *slot_hi;
    double *diagonal; /* K(x,x) of all objects */
    mcr_smo_run *run;

    candidate *candidate;
    int64_t *slot_list, *object_list, *new_slot, *new_object;
    double *coef;
    char *fresh; /* K of new members against all */

    double low[2], high[2], middle[2];
    int64_t places; /* slots and the null object, rounded up */
    mcr_qp_result *result;
    double began, told;
} solver;

static int group_of(const solver *s, int64_t object)
{
    return s->p->group ? s->p->group[object] : 0;
}

/* ---- slopes ------------------------------------------------------------------------------------*/

/* What a step up (down) of the objective costs at active column i; +-infinity: at the bound. */
static double slope_up(const solver *s, int64_t object, double g)
{
    double b = s->b[object], e = s->p->epsilon;
    if (b >= s->p->hi[object])
        return INFINITY;
    return g - s->p->z[object] + (b >= 0 ? e : -e);
}

static double slope_down(const solver *s, int64_t object, double g)
{
    double b = s->b[object], e = s->p->epsilon;
    if (b <= s->p->lo[object])
        return -INFINITY;
    return g - s->p->z[object] + (b > 0 ? e : -e);
}

/* Extremes of the slopes of each group, and the violation. */
static double look_around(solver *s)
{
    double violation = 0;
    for (int t = 0; t < s->groups; t++) {
        s->low[t] = s->p->no_sum ? 0 : INFINITY;
        s->high[t] = s->p->no_sum ? 0 : -INFINITY;
    }
    for (int64_t i = 0; i < s->active; i++) {
        int64_t v = s->act[i];
        int t = group_of(s, v);
        double up = slope_up(s, v, s->g[i]), down = slope_down(s, v, s->g[i]);
        if (up < s->low[t])
            s->low[t] = up;
        if (down > s->high[t])
            s->high[t] = down;
    }
    for (int t = 0; t < s->groups; t++)
        violation = fmax(violation, s->high[t] - s->low[t]);
    return violation;
}

/* ---- gradient ----------------------------------------------------------------------------------*/

/* f += K(columns of gram, x) change, in batches; x.index lists objects. */
static mcr_status add_rows(mcr_gram *gram, bool precise, const int64_t *object, const double *coef,
                           int64_t count, double *f)
{
    mcr_status st = MCR_OK;
    for (int64_t r = 0; r < count && !st; r += BATCH) {
        int64_t m = count - r < BATCH ? count - r : BATCH;
        st = mcr_gram_rows_pass(gram, &(mcr_gram_pass){.x = {object + r, 0, m},
                                                       .precise = precise,
                                                       .coef = coef + r,
                                                       .f = f,
                                                       .outputs = 1});
    }
    return st;
}

/* Objects whose coefficient differs from `then` (NULL: from 0), with the difference. */
static int64_t list_changes(solver *s, const double *then)
{
    int64_t count = 0;
    for (int64_t v = 0; v < s->n; v++) {
        double d = s->b[v] - (then ? then[v] : 0);
        if (d != 0) {
            s->object_list[count] = v;
            s->coef[count++] = d;
        }
    }
    return count;
}

typedef struct stored_job {
    const solver *s;
    const mcr_tile_kit *kit;
    const void *const *row;
    int64_t count;
} stored_job;

enum { STORED_COLUMNS = 2048 };

static mcr_status add_stored_chunk(void *arg, int64_t item, int worker)
{
    (void)worker;
    const stored_job *job = arg;
    int64_t first = item * STORED_COLUMNS, n = job->s->n;
    job->kit->update(job->s->g, job->row, job->s->coef, job->count, first,
                     first + STORED_COLUMNS < n ? first + STORED_COLUMNS : n);
    return MCR_OK;
}

/* g += K change from all of K, for the objects and changes listed. */
static mcr_status add_stored_rows(solver *s, int64_t count)
{
    const mcr_tiles *tiles = mcr_tiles_best();
    const void **row = mcr_alloc(s->ctx, (size_t)count, sizeof *row);
    if (!row)
        return MCR_NO_MEMORY;
    for (int64_t r = 0; r < count; r++)
        row[r] = (const char *)s->block.k + (size_t)(s->object_list[r] * s->block.ld) * s->real;
    stored_job job = {s, s->precise ? tiles->f64 : tiles->f32, row, count};
    mcr_status st = mcr_parallel(s->ctx, (s->n + STORED_COLUMNS - 1) / STORED_COLUMNS,
                                 add_stored_chunk, &job);
    mcr_free(s->ctx, row);
    return st;
}

static void free_rests(solver *s)
{
    while (s->rests) {
        rest *r = s->rests;
        s->rests = r->next;
        mcr_free(s->ctx, r->object);
        mcr_free(s->ctx, r->g);
        mcr_free(s->ctx, r->b);
        mcr_free(s->ctx, r);
    }
}

static void all_active(solver *s)
{
    if (s->gram != s->full)
        mcr_gram_close(s->gram);
    s->gram = s->full;
    s->active = s->n;
    for (int64_t i = 0; i < s->n; i++)
        s->act[i] = i;
    memset(s->idle, 0, (size_t)s->n);
    memset(s->in, 0, (size_t)s->n);
    s->work = 0;
}

/* The whole gradient from nothing. All become active; the working set must be translated or dropped
 * by the caller. */
static mcr_status fresh_gradient(solver *s)
{
    free_rests(s);
    all_active(s);
    memset(s->g, 0, sizeof *s->g * (size_t)s->n);
    int64_t count = list_changes(s, NULL);
    if (s->whole)
        return add_stored_rows(s, count);
    s->result->rows += count;
    return add_rows(s->full, s->precise, s->object_list, s->coef, count, s->g);
}

/* ---- shrinking ---------------------------------------------------------------------------------*/

/* Counts, for every active column outside the working set, the rounds in which it could not have
 * moved; returns how many have done so long enough. */
static int64_t count_idle(solver *s)
{
    int64_t ready = 0;
    for (int64_t i = 0; i < s->active; i++) {
        int64_t v = s->act[i];
        int t = group_of(s, v);
        bool stays = !s->in[i] && slope_up(s, v, s->g[i]) > s->high[t] &&
                     slope_down(s, v, s->g[i]) < s->low[t];
        s->idle[i] = stays
                         ? (unsigned char)(s->idle[i] < IDLE_ROUNDS ? s->idle[i] + 1 : IDLE_ROUNDS)
                         : 0;
        ready += s->idle[i] == IDLE_ROUNDS;
    }
    return ready;
}

/* Moves the idle columns to a new rest; place[i] becomes the new column of i, or -1. */
static mcr_status set_aside(solver *s, int64_t leaving, int64_t *place)
{
    rest *r = mcr_alloc_zero(s->ctx, 1, sizeof *r);
    if (!r)
        return MCR_NO_MEMORY;
    r->next = s->rests;
    s->rests = r;
    r->object = mcr_alloc(s->ctx, (size_t)leaving, sizeof *r->object);
    r->g = mcr_alloc(s->ctx, (size_t)leaving + MCR_ROW_PAD, sizeof *r->g);
    r->b = mcr_alloc(s->ctx, (size_t)s->n, sizeof *r->b);
    if (!r->object || !r->g || !r->b)
        return MCR_NO_MEMORY;
    memcpy(r->b, s->b, sizeof *r->b * (size_t)s->n);
    int64_t stay = 0;
    for (int64_t i = 0; i < s->active; i++) {
        if (s->idle[i] == IDLE_ROUNDS) {
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

static mcr_status shrink(solver *s, int64_t leaving)
{
    int64_t before = s->active;
    int64_t *place = mcr_alloc(s->ctx, (size_t)before, sizeof *place);
    if (!place)
        return MCR_NO_MEMORY;
    mcr_status st = set_aside(s, leaving, place);
    mcr_gram *narrow = NULL;
    if (!st)
        st = mcr_gram_restrict(&narrow, s->full, (mcr_rows){s->act, 0, s->active});
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
    }
    mcr_free(s->ctx, place);
    return st;
}

/* Shrinks if it pays. */
static mcr_status consider_shrinking(solver *s)
{
    int64_t leaving = count_idle(s);
    if (s->result->rounds % LOOK_EVERY != 0 || s->active <= 2 * s->wanted ||
        (double)leaving <= SHRINK_SHARE * (double)s->active)
        return MCR_OK;
    double support = 0;
    for (int64_t v = 0; v < s->n; v++)
        support += s->b[v] != 0;
    return s->work > SHRINK_RENT * support * (double)leaving ? shrink(s, leaving) : MCR_OK;
}

/* Back to the whole set: the rests get the gradient of all that changed since they left. */
static mcr_status unshrink(solver *s)
{
    double *whole = mcr_alloc(s->ctx, (size_t)s->n + MCR_ROW_PAD, sizeof *whole);
    mcr_status st = whole ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t i = 0; i < s->active && !st; i++)
        whole[s->act[i]] = s->g[i];
    for (rest *r = s->rests; r && !st; r = r->next) {
        mcr_gram *columns = NULL;
        int64_t count = list_changes(s, r->b);
        st = mcr_gram_restrict(&columns, s->full, (mcr_rows){r->object, 0, r->count});
        if (!st)
            st = add_rows(columns, s->precise, s->object_list, s->coef, count, r->g);
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
        free_rests(s);
        all_active(s);
        for (int64_t m = 0; m < s->slots; m++)
            if (s->member[m] >= 0)
                s->in[s->member[m]] = 1;
        st = mcr_cache_reset(s->cache, s->full);
    }
    mcr_free(s->ctx, whole);
    return st;
}

/* ---- the working set ---------------------------------------------------------------------------*/

/* Brings the `k` smallest keys to the front (Hoare's selection). */
static void smallest_first(candidate *c, int64_t count, int64_t k)
{
    int64_t left = 0, right = count - 1;
    while (left < right) {
        double pivot = c[left + (right - left) / 2].key;
        int64_t i = left, j = right;
        while (i <= j) {
            while (c[i].key < pivot)
                i++;
            while (c[j].key > pivot)
                j--;
            if (i <= j) {
                candidate t = c[i];
                c[i++] = c[j];
                c[j--] = t;
            }
        }
        if (k <= j)
            right = j;
        else if (k >= i)
            left = i;
        else
            return;
    }
}

static void take_out(solver *s, int64_t m)
{
    s->in[s->member[m]] = 0;
    s->member[m] = -1;
}

/* Takes `drop` members out: those at a bound before free ones, old ones before new ones. Their slots
 * are listed in slot_list, the columns they held in member order in `was`. */
static int64_t drop_members(solver *s, int t, int64_t drop, candidate *was)
{
    int64_t count = 0;
    for (int64_t m = 0; m < s->slots; m++)
        if (s->member[m] >= 0 && group_of(s, s->act[s->member[m]]) == t) {
            int64_t v = s->act[s->member[m]];
            bool is_free = s->b[v] > s->p->lo[v] && s->b[v] < s->p->hi[v];
            s->candidate[count].key = (double)s->age[m] + (is_free ? 1e15 : 0);
            s->candidate[count++].at = m;
        }
    if (drop > count)
        drop = count;
    if (drop < count)
        smallest_first(s->candidate, count, drop);
    for (int64_t d = 0; d < drop; d++) {
        int64_t m = s->candidate[d].at;
        was[d] = (candidate){0, s->member[m]};
        take_out(s, m);
    }
    return drop;
}

/* Adds column i in the next empty slot. */
static void put_in(solver *s, int64_t *slot, int64_t i, int64_t *added)
{
    while (s->member[*slot] >= 0)
        ++*slot;
    s->member[*slot] = i;
    s->age[*slot] = s->result->rounds;
    s->in[i] = 1;
    s->new_slot[(*added)++] = *slot;
}

/* Adds up to `want` columns of group t that violate most, from the side that can go up (or down). */
static int64_t add_violators(solver *s, int t, bool up, int64_t want, int64_t *slot, int64_t *added)
{
    int64_t count = 0;
    for (int64_t i = 0; i < s->active; i++) {
        int64_t v = s->act[i];
        if (s->in[i] || group_of(s, v) != t)
            continue;
        double key = up ? slope_up(s, v, s->g[i]) : -slope_down(s, v, s->g[i]);
        if (key < (up ? s->high[t] : -s->low[t])) {
            s->candidate[count].key = key;
            s->candidate[count++].at = i;
        }
    }
    if (want > count)
        want = count;
    if (want < count)
        smallest_first(s->candidate, count, want);
    for (int64_t c = 0; c < want; c++)
        put_in(s, slot, s->candidate[c].at, added);
    return want;
}

/* Renews half of the group's part of the working set. New members' slots go to new_slot. */
static void renew_group(solver *s, int t, int64_t wanted, candidate *was, int64_t *added)
{
    int64_t members = 0;
    for (int64_t m = 0; m < s->slots; m++)
        members += s->member[m] >= 0 && group_of(s, s->act[s->member[m]]) == t;
    int64_t empty = wanted - members, change = wanted / 2 > 1 ? wanted / 2 : 1;
    int64_t drop = change > empty ? change - empty : 0;
    drop = drop_members(s, t, drop, was);
    int64_t want = empty + drop, slot = 0;
    int64_t got = add_violators(s, t, true, (want + 1) / 2, &slot, added);
    got += add_violators(s, t, false, want - got, &slot, added);
    if (got < want)
        got += add_violators(s, t, true, want - got, &slot, added);
    for (int64_t d = 0; d < drop && got < want; d++)
        if (!s->in[was[d].at]) {
            put_in(s, &slot, was[d].at, added);
            got++;
        }
}

/* The working set grows with the number of free coefficients. */
static void resize_set(solver *s)
{
    int64_t is_free = 0;
    for (int64_t i = 0; i < s->active; i++) {
        int64_t v = s->act[i];
        is_free += s->b[v] > s->p->lo[v] && s->b[v] < s->p->hi[v] && s->b[v] != 0;
    }
    int64_t wanted = is_free * 5 / 4 / 64 * 64;
    if (wanted > s->slots)
        wanted = s->slots;
    if (wanted > s->wanted)
        s->wanted = wanted;
}

static int64_t renew_set(solver *s, candidate *was)
{
    int64_t added = 0;
    resize_set(s);
    for (int t = 0; t < s->groups; t++)
        renew_group(s, t, s->wanted / s->groups, was, &added);
    return added;
}

/* ---- the block of K ----------------------------------------------------------------------------*/

typedef struct spread_job {
    const solver *s;
    int64_t added, used; /* new members; columns of `fresh` */
    const unsigned char *is_new;
} spread_job;

enum { SPREAD = 64 };

/* Columns of `fresh` into the block: the rows of new members, and, where the other member is old, the
 * transposed place. */
static mcr_status spread_columns(void *arg, int64_t item, int worker)
{
    (void)worker;
    const spread_job *job = arg;
    const solver *s = job->s;
    int64_t first = item * SPREAD, ld = s->block.ld;
    int64_t end = first + SPREAD < job->used ? first + SPREAD : job->used;
    for (int64_t r = 0; r < job->added; r++) {
        const char *from = s->fresh + (size_t)(r * job->used) * s->real;
        char *to = s->k + (size_t)(s->new_slot[r] * ld) * s->real;
        for (int64_t c = first; c < end; c++) {
            int64_t m = s->slot_list[c];
            if (s->precise) {
                double value = ((const double *)from)[c];
                ((double *)to)[m] = value;
                if (!job->is_new[m])
                    ((double *)s->k)[m * ld + s->new_slot[r]] = value;
            } else {
                float value = ((const float *)from)[c];
                ((float *)to)[m] = value;
                if (!job->is_new[m])
                    ((float *)s->k)[m * ld + s->new_slot[r]] = value;
            }
        }
    }
    return MCR_OK;
}

/* K of the new members against all members, into their slots. */
static mcr_status fill_block(solver *s, int64_t added)
{
    unsigned char is_new[MOST_SLOTS] = {0};
    int64_t used = 0;
    for (int64_t r = 0; r < added; r++) {
        is_new[s->new_slot[r]] = 1;
        s->new_object[r] = s->act[s->member[s->new_slot[r]]];
    }
    for (int64_t m = 0; m < s->slots; m++)
        if (s->member[m] >= 0) {
            s->slot_list[used] = m;
            s->object_list[used++] = s->act[s->member[m]];
        }
    mcr_status st = mcr_gram_block_any(s->full, (mcr_rows){s->new_object, 0, added},
                                       (mcr_rows){s->object_list, 0, used}, s->fresh, used,
                                       s->precise);
    if (st)
        return st;
    spread_job job = {s, added, used, is_new};
    return mcr_parallel(s->ctx, (used + SPREAD - 1) / SPREAD, spread_columns, &job);
}

static void set_real(const solver *s, void *array, int64_t at, double value)
{
    if (s->precise)
        ((double *)array)[at] = value;
    else
        ((float *)array)[at] = (float)value;
}

/* Solves the working set's problem; s->before keeps the old coefficients. Returns the steps. */
static int64_t solve_block(solver *s, double tolerance, int64_t most_steps)
{
    /* Each group's gradient around 0, where floats are densest. */
    for (int t = 0; t < s->groups; t++) {
        double middle = 0.5 * (s->low[t] + s->high[t]);
        s->middle[t] = isfinite(middle) ? middle : 0;
    }
    for (int64_t m = 0; m < s->places; m++) {
        bool null_object = s->p->no_sum && m == s->slots;
        int64_t i = m < s->slots ? s->member[m] : -1, v = i >= 0 ? s->act[i] : -1;
        s->slot_lo[m] = v >= 0 ? s->p->lo[v] : null_object ? -INFINITY : 0;
        s->slot_hi[m] = v >= 0 ? s->p->hi[v] : null_object ? INFINITY : 0;
        s->before[m] = s->slot_b[m] = v >= 0 ? s->b[v] : 0;
        int t = v >= 0 ? group_of(s, v) : 0;
        s->slot_group[m] = (unsigned char)t;
        set_real(s, s->block.g, m, (v >= 0 ? s->g[i] - s->p->z[v] : 0) - s->middle[t]);
        set_real(s, (void *)s->block.diagonal, m, v >= 0 ? s->diagonal[v] : 0);
    }
    s->block.members = s->slots + s->p->no_sum;
    while (!s->p->no_sum && s->block.members > 1 && s->member[s->block.members - 1] < 0)
        s->block.members--;
    s->block.b = s->slot_b;
    s->block.lo = s->slot_lo;
    s->block.hi = s->slot_hi;
    s->block.epsilon = s->p->epsilon;
    s->block.groups = s->groups;
    s->block.group = s->slot_group;
    s->block.tolerance = tolerance;
    s->block.most_steps = most_steps;
    int64_t steps = s->run(&s->block);
    s->result->steps += steps;
    return steps;
}

/* Half of what the working set's new coefficients change in the objective, by the gradient as it
 * stands: before and after it is brought up to date the halves add up to the whole. */
static double half_change(const solver *s)
{
    double sum = 0;
    for (int64_t m = 0; m < s->slots; m++) {
        double to = s->slot_b[m], from = s->before[m];
        if (s->member[m] < 0 || to == from)
            continue;
        int64_t i = s->member[m];
        sum += 0.5 * (to - from) * (s->g[i] - s->p->z[s->act[i]]) +
               0.5 * s->p->epsilon * (fabs(to) - fabs(from));
    }
    return sum;
}

/* Takes the new coefficients over and brings the gradient up to date; *changed: how many; *change: of
 * the objective. */
static mcr_status take_over(solver *s, int64_t *changed, double *change)
{
    int64_t count = 0;
    *change = half_change(s);
    for (int64_t m = 0; m < s->slots; m++)
        if (s->member[m] >= 0 && s->slot_b[m] != s->before[m]) {
            int64_t v = s->act[s->member[m]];
            s->b[v] = s->slot_b[m];
            s->object_list[count] = v;
            s->coef[count++] = s->slot_b[m] - s->before[m];
        }
    *changed = count;
    s->work += (double)count * (double)s->active;
    mcr_status st = mcr_cache_accumulate(s->cache, (mcr_rows){s->object_list, 0, count}, s->coef,
                                         s->g);
    *change += half_change(s);
    return st;
}

/* ---- opening and closing -----------------------------------------------------------------------*/

static void close_precision(solver *s)
{
    mcr_cache_close(s->cache);
    mcr_budget_give(s->ctx, s->taken);
    s->taken = 0;
    mcr_free(s->ctx, s->k);
    mcr_free(s->ctx, s->fresh);
    mcr_free(s->ctx, s->block.g);
    for (int t = 0; t < 2; t++) {
        mcr_free(s->ctx, s->block.up[t]);
        mcr_free(s->ctx, s->block.down[t]);
        s->block.up[t] = s->block.down[t] = NULL;
    }
    mcr_free(s->ctx, (void *)s->block.diagonal);
    s->cache = NULL;
    s->k = s->fresh = NULL;
    s->block.g = NULL;
    s->block.diagonal = NULL;
}

/* All of K, once. The null object and the padding have zeros. */
static mcr_status fill_whole(solver *s)
{
    int64_t n = s->n, ld = s->block.ld;
    if (s->p->k && !s->precise && !s->p->no_sum) {
        s->block.k = s->p->k;
        s->block.ld = s->p->k_ld;
        return MCR_OK;
    }
    mcr_status st = mcr_budget_take(s->ctx, (size_t)(s->places * ld) * s->real,
                                    "the kernel matrix");
    if (st)
        return st;
    s->taken = (size_t)(s->places * ld) * s->real;
    if (!(s->k = mcr_alloc(s->ctx, (size_t)(s->places * ld), s->real)))
        return MCR_NO_MEMORY;
    s->block.k = s->k;
    st = s->precise ? mcr_gram_matrix(s->full, (double *)(void *)s->k, ld)
                    : mcr_gram_matrix_float(s->full, (float *)(void *)s->k, ld);
    for (int64_t i = 0; i < n && !st; i++)
        memset(s->k + (size_t)(i * ld + n) * s->real, 0, (size_t)(ld - n) * s->real);
    if (!st)
        memset(s->k + (size_t)(n * ld) * s->real, 0, (size_t)((s->places - n) * ld) * s->real);
    s->result->rows += n;
    return st;
}

/* What depends on float or double: block, cache, inner solver. */
static mcr_status open_precision(solver *s, bool precise)
{
    close_precision(s);
    s->precise = precise;
    s->real = precise ? sizeof(double) : sizeof(float);
    s->run = mcr_smo_inner(mcr_tiles_best()->name, precise);
    /* One place for the null object, rounded up; never a stride of 4 KiB. */
    s->places = (s->slots / MCR_SMO_PAD + 1) * MCR_SMO_PAD;
    s->block.ld = s->places;
    if ((size_t)s->block.ld * s->real % 4096 == 0)
        s->block.ld += MCR_ROW_PAD;
    size_t places = (size_t)s->places;
    s->block.g = mcr_alloc(s->ctx, places, s->real);
    s->block.diagonal = mcr_alloc(s->ctx, places, s->real);
    bool ok = s->block.g && s->block.diagonal;
    for (int t = 0; t < s->groups; t++) {
        ok &= (s->block.up[t] = mcr_alloc(s->ctx, places, s->real)) != NULL;
        ok &= (s->block.down[t] = mcr_alloc(s->ctx, places, s->real)) != NULL;
    }
    if (!ok)
        return MCR_NO_MEMORY;
    if (s->whole) {
        for (int64_t m = 0; m < s->slots; m++)
            s->member[m] = m;
        return fill_whole(s);
    }
    size_t block = places * (size_t)s->block.ld, fresh = (size_t)s->slots * (size_t)s->slots;
    mcr_status st = mcr_budget_take(s->ctx, (block + fresh) * s->real, "the working set");
    if (st)
        return st;
    s->taken = (block + fresh) * s->real;
    s->k = mcr_alloc_zero(s->ctx, block, s->real);
    s->fresh = mcr_alloc(s->ctx, fresh, s->real);
    s->block.k = s->k;
    if (!s->k || !s->fresh)
        return MCR_NO_MEMORY;
    for (int64_t m = 0; m < s->slots; m++)
        s->member[m] = -1;
    st = mcr_gram_prepare(s->full, precise);
    size_t bytes = s->p->cache_bytes ? s->p->cache_bytes : DEFAULT_CACHE;
    return st ? st : mcr_cache_open(&s->cache, s->full, bytes, precise);
}

static void close_solver(solver *s)
{
    mcr *ctx = s->ctx;
    free_rests(s);
    close_precision(s);
    if (s->gram != s->full)
        mcr_gram_close(s->gram);
    void *list[] = {s->act,        s->g,         s->in,        s->idle,        s->member,
                    s->age,        s->slot_b,    s->before,    s->slot_lo,     s->slot_hi,
                    s->diagonal,   s->candidate, s->slot_list, s->object_list, s->new_slot,
                    s->new_object, s->coef,      s->slot_group};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        mcr_free(ctx, list[i]);
}

/* All of K in double (should it be needed) must fit. */
static bool fits_budget(mcr *ctx, int64_t n)
{
    double bytes = sizeof(double) * ((double)n + 2 * MCR_ROW_PAD) * ((double)n + 2 * MCR_ROW_PAD);
    return bytes < 0.5 * (double)mcr_budget_left(ctx);
}

static mcr_status open_solver(solver *s, mcr_gram *gram, const mcr_qp *p, double *b,
                              mcr_qp_result *result)
{
    *s = (solver){.ctx = gram->ctx, .p = p, .n = p->n, .b = b, .full = gram, .gram = gram};
    s->result = result;
    s->groups = p->group ? 2 : 1;
    s->began = s->told = mcr_now();
    double work = mcr_gram_work(gram);
    s->whole = fits_budget(s->ctx, p->n) &&
               (p->k || (p->n <= WHOLE_OBJECTS && (double)p->n * work <= WHOLE_WORK));
    s->slots = s->whole || p->n < MOST_SLOTS ? p->n : MOST_SLOTS;
    /* Its block of K and that of new members take a quarter of the budget at most. */
    while (!s->whole && s->slots > LEAST_SLOTS &&
           4 * 2 * sizeof(double) * (double)s->slots * (double)s->slots >
               (double)mcr_budget_left(s->ctx))
        s->slots /= 2;
    s->wanted = s->slots < FIRST_SLOTS ? s->slots : FIRST_SLOTS;
    size_t n = (size_t)p->n, q = (size_t)s->slots, places = q + 2 * MCR_SMO_PAD;
    size_t list = n > q ? n : q;
    s->act = mcr_alloc(s->ctx, n, sizeof *s->act);
    s->g = mcr_alloc_zero(s->ctx, n + MCR_ROW_PAD, sizeof *s->g);
    s->in = mcr_alloc_zero(s->ctx, n, 1);
    s->idle = mcr_alloc_zero(s->ctx, n, 1);
    s->member = mcr_alloc(s->ctx, q, sizeof *s->member);
    s->age = mcr_alloc_zero(s->ctx, q, sizeof *s->age);
    s->slot_b = mcr_alloc(s->ctx, places, sizeof *s->slot_b);
    s->before = mcr_alloc(s->ctx, places, sizeof *s->before);
    s->slot_lo = mcr_alloc(s->ctx, places, sizeof *s->slot_lo);
    s->slot_hi = mcr_alloc(s->ctx, places, sizeof *s->slot_hi);
    s->slot_group = mcr_alloc(s->ctx, places, 1);
    s->diagonal = mcr_alloc(s->ctx, n, sizeof *s->diagonal);
    s->candidate = mcr_alloc(s->ctx, list, sizeof *s->candidate);
    s->slot_list = mcr_alloc(s->ctx, q, sizeof *s->slot_list);
    s->object_list = mcr_alloc(s->ctx, list, sizeof *s->object_list);
    s->new_slot = mcr_alloc(s->ctx, q, sizeof *s->new_slot);
    s->new_object = mcr_alloc(s->ctx, q, sizeof *s->new_object);
    s->coef = mcr_alloc(s->ctx, list, sizeof *s->coef);
    if (!s->act || !s->g || !s->in || !s->idle || !s->member || !s->age || !s->slot_b ||
        !s->before || !s->slot_lo || !s->slot_hi || !s->slot_group || !s->diagonal ||
        !s->candidate || !s->slot_list || !s->object_list || !s->new_slot || !s->new_object ||
        !s->coef)
        return MCR_NO_MEMORY;
    return mcr_gram_diagonal(gram, 0, s->diagonal);
}

/* ---- the rounds --------------------------------------------------------------------------------*/

/* Whether float kernel values are good enough for the optimality conditions at the tolerance: their
 * errors (1e-7 of K) add up like a random walk over the coefficients. */
static bool float_suffices(const solver *s)
{
    double squares = 0, largest = 0;
    for (int64_t v = 0; v < s->n; v++) {
        squares += s->b[v] * s->b[v];
        largest = fmax(largest, fabs(s->diagonal[v]));
    }
    return 1e-7 * sqrt(squares) * largest < 0.5 * s->p->tolerance;
}

static double objective(const solver *s)
{
    double sum = 0;
    for (int64_t i = 0; i < s->active; i++) {
        int64_t v = s->act[i];
        double b = s->b[v];
        sum += b * (0.5 * s->g[i] - s->p->z[v]) + s->p->epsilon * fabs(b);
    }
    return sum;
}

/* large: values whose products float cannot hold. */
static mcr_status look_at_diagonal(const solver *s, bool *large)
{
    *large = false;
    for (int64_t v = 0; v < s->n; v++) {
        if (!isfinite(s->diagonal[v]))
            return mcr_fail(s->ctx, MCR_NUMERIC,
                            "the kernel of object %lld with itself is not a finite number: scale "
                            "the data, or take smaller parameters",
                            (long long)v + 1);
        *large |= fabs(s->diagonal[v]) > 1e18;
    }
    return MCR_OK;
}

/* A limit or the user; MCR_QP_OPTIMAL: none. */
static mcr_qp_stop look_at_limits(solver *s, double violation)
{
    double now = mcr_now();
    if (s->p->most_steps && s->result->steps >= s->p->most_steps)
        return MCR_QP_STEPS;
    if (s->p->seconds > 0 && now - s->began > s->p->seconds)
        return MCR_QP_TIME;
    if (!s->p->phase || now - s->told < 0.05)
        return MCR_QP_OPTIMAL;
    s->told = now;
    mcr_progress at = {
        .size = sizeof at,
        .phase = s->p->phase,
        .fraction = NAN,
        .seconds = now - s->began,
        .step = s->result->steps,
        .objective = objective(s),
        .violation = violation,
        .active = s->active,
        .total = s->n,
    };
    return mcr_report(s->ctx, &at) ? MCR_QP_INTERRUPTED : MCR_QP_OPTIMAL;
}

/* Rounds until the running gradient satisfies the conditions on the whole set, or a limit. */
static mcr_status rounds(solver *s, mcr_qp_stop *stop)
{
    candidate *was = mcr_alloc(s->ctx, (size_t)s->slots, sizeof *was);
    mcr_status st = was ? MCR_OK : MCR_NO_MEMORY;
    double sum = 0, lowest = 0; /* changes of the objective so far */
    int fruitless = 0;
    *stop = MCR_QP_OPTIMAL;
    while (!st) {
        double violation = look_around(s), change;
        if (violation <= s->p->tolerance) {
            if (!s->rests)
                break;
            st = unshrink(s);
            continue;
        }
        if ((*stop = look_at_limits(s, violation)))
            break;
        if ((st = consider_shrinking(s)))
            break;
        s->result->rounds++;
        int64_t added = renew_set(s, was), changed = 0;
        if ((st = fill_block(s, added)))
            break;
        solve_block(s, fmax(INNER_SHARE * violation, INNER_LEAST * s->p->tolerance),
                    100 * s->slots + 100000);
        if ((st = take_over(s, &changed, &change)))
            break;
        /* Rounds that gain nothing: the tolerance is beyond what these numbers can tell apart. */
        sum += change;
        fruitless = sum < lowest ? 0 : fruitless + 1;
        lowest = fmin(sum, lowest);
        if ((changed == 0 && added == 0) || fruitless == FRUITLESS_ROUNDS) {
            *stop = MCR_QP_STUCK;
            break;
        }
    }
    mcr_free(s->ctx, was);
    return st;
}

/* The same where the working set is everything: the inner solver alone, with looks at the limits. */
static mcr_status whole_rounds(solver *s, mcr_qp_stop *stop)
{
    double before = objective(s);
    *stop = MCR_QP_OPTIMAL;
    for (;;) {
        double violation = look_around(s);
        if (violation <= s->p->tolerance || (*stop = look_at_limits(s, violation)))
            return MCR_OK;
        int64_t most = WHOLE_STEPS, left = s->p->most_steps - s->result->steps;
        if (s->p->most_steps && left < most)
            most = left;
        s->result->rounds++;
        int64_t steps = solve_block(s, INNER_LEAST * s->p->tolerance, most);
        for (int64_t v = 0; v < s->n; v++) {
            double g = s->precise ? ((const double *)s->block.g)[v]
                                  : (double)((const float *)s->block.g)[v];
            s->b[v] = s->slot_b[v];
            s->g[v] = g + s->p->z[v] + s->middle[group_of(s, v)];
        }
        if (steps < most) { /* at its end: what it says about itself is settled by verify */
            *stop = steps == 0 ? MCR_QP_STUCK : MCR_QP_OPTIMAL;
            return MCR_OK;
        }
        /* So many steps that their rounding may have carried the gradient away. */
        mcr_status st = fresh_gradient(s);
        double now = objective(s);
        if (!st && !(now < before))
            *stop = MCR_QP_STUCK;
        if (st || *stop)
            return st;
        before = now;
    }
}

/* The gradient afresh; *good: it satisfies the conditions. */
static mcr_status verify(solver *s, bool *good)
{
    for (int64_t m = 0; m < s->slots && !s->whole; m++)
        s->member[m] = -1;
    mcr_status st = fresh_gradient(s);
    if (st)
        return st;
    s->result->violation = look_around(s);
    s->result->precise = s->precise;
    *good = s->result->violation <= s->p->tolerance;
    return s->whole ? MCR_OK : mcr_cache_reset(s->cache, s->full);
}

mcr_status mcr_qp_solve(mcr_gram *gram, const mcr_qp *p, double *b, double *g,
                        mcr_qp_result *result)
{
    solver s;
    *result = (mcr_qp_result){0};
    mcr_status st = open_solver(&s, gram, p, b, result);
    bool large = false;
    if (!st)
        st = look_at_diagonal(&s, &large);
    if (!st)
        st = open_precision(&s, large);
    if (!st)
        st = fresh_gradient(&s);
    mcr_qp_stop stop = MCR_QP_OPTIMAL;
    for (int tries = 1; !st; tries++) {
        if ((st = s.whole ? whole_rounds(&s, &stop) : rounds(&s, &stop)))
            break;
        bool good = false, ask_more = !float_suffices(&s) || stop == MCR_QP_STUCK;
        if (!s.precise && (ask_more || tries > MOST_VERIFICATIONS / 2))
            st = open_precision(&s, true);
        if (!st)
            st = verify(&s, &good);
        if (good) {
            stop = MCR_QP_OPTIMAL;
            break;
        }
        if (stop == MCR_QP_STEPS || stop == MCR_QP_TIME || stop == MCR_QP_INTERRUPTED ||
            tries >= MOST_VERIFICATIONS) {
            stop = stop ? stop : MCR_QP_STUCK;
            break;
        }
    }
    if (!st) {
        result->stop = stop;
        memcpy(g, s.g, sizeof *g * (size_t)p->n);
        for (int t = 0; t < s.groups; t++) {
            result->low[t] = s.low[t];
            result->high[t] = s.high[t];
        }
        int64_t computed = 0, found = 0;
        if (s.cache)
            mcr_cache_counts(s.cache, &computed, &found);
        result->rows += computed;
        mcr_log(s.ctx, MCR_LOG_DEBUG,
                "working sets: %lld rounds of up to %lld, %lld steps; rows: %lld computed, %lld "
                "found; %.3f s",
                (long long)result->rounds, (long long)s.wanted, (long long)result->steps,
                (long long)result->rows, (long long)found, mcr_now() - s.began);
    }
    close_solver(&s);
    return st;
}
