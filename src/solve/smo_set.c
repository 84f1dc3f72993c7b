/* smo_set.c: the working set of a round and its block of K.
 *
 * Half of the set is kept from the round before: free coefficients first, then the newest members.
 * The block is kept in slots: new members overwrite old ones, their columns are filled by
 * transposition.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "solve/smo_impl.h"

#include <string.h>

#include "base/threads.h"

/* ---- the working set --------------------------------------------------------------------------*/

/* Brings the `k` smallest keys to the front (Hoare's selection). */
static void smallest_first(mcr_smo_candidate *c, int64_t count, int64_t k)
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
                mcr_smo_candidate t = c[i];
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

static void take_out(mcr_smo *s, int64_t m)
{
    s->in[s->member[m]] = 0;
    s->member[m] = -1;
}

/* Takes `drop` members out: those at a bound before free ones, old ones before new ones. Their
 * slots are listed in slot_list, the columns they held in member order in `was`. */
static int64_t drop_members(mcr_smo *s, int t, int64_t drop, mcr_smo_candidate *was)
{
    int64_t count = 0;
    for (int64_t m = 0; m < s->slots; m++)
        if (s->member[m] >= 0 && mcr_smo_group(s, s->act[s->member[m]]) == t) {
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
        was[d] = (mcr_smo_candidate){0, s->member[m]};
        take_out(s, m);
    }
    return drop;
}

/* Adds column i in the next empty slot. */
static void put_in(mcr_smo *s, int64_t *slot, int64_t i, int64_t *added)
{
    while (s->member[*slot] >= 0)
        ++*slot;
    s->member[*slot] = i;
    s->age[*slot] = s->result->rounds;
    s->in[i] = 1;
    s->new_slot[(*added)++] = *slot;
}

/* Lists column i if it could go up, or down, and gain. */
static void list_violator(mcr_smo *s, int t, int64_t i, int64_t count[2])
{
    int64_t v = s->act[i];
    double up = mcr_smo_slope_up(s, v, s->g[i]), down = mcr_smo_slope_down(s, v, s->g[i]);
    if (up < s->high[t])
        s->violator[0][count[0]++] = (mcr_smo_candidate){up, i};
    if (down > s->low[t])
        s->violator[1][count[1]++] = (mcr_smo_candidate){-down, i};
}

/* All of them, in the plainest problems. */
static void list_plain(mcr_smo *s, int64_t count[2])
{
    const double *restrict g = s->g, *restrict z = s->p->z, *restrict b = s->b;
    const double *restrict lo = s->p->lo, *restrict hi = s->p->hi;
    mcr_smo_candidate *restrict up = s->violator[0], *restrict down = s->violator[1];
    const double low = s->low[0], high = s->high[0];
    int64_t ups = 0, downs = 0;
    for (int64_t i = 0; i < s->n; i++) {
        double slope = g[i] - z[i];
        bool out = !s->in[i];
        /* Written in any case, kept if it is one. */
        up[ups] = (mcr_smo_candidate){slope, i};
        ups += out & (slope < high) & (b[i] < hi[i]);
        down[downs] = (mcr_smo_candidate){-slope, i};
        downs += out & (slope > low) & (b[i] > lo[i]);
    }
    count[0] = ups;
    count[1] = downs;
}

/* Adds up to `want` of the listed columns, those that violate most. */
static int64_t add_violators(mcr_smo *s, mcr_smo_candidate *list, int64_t count, int64_t want,
                             int64_t *slot, int64_t *added)
{
    int64_t got = 0, left = 0;
    for (int64_t c = 0; c < count; c++) /* some are in by now, from the other side */
        if (!s->in[list[c].at])
            list[left++] = list[c];
    if (want < left)
        smallest_first(list, left, want);
    for (; got < want && got < left; got++)
        put_in(s, slot, list[got].at, added);
    return got;
}

/* Renews up to half of the group's part of the working set, no more than there are violators. New
 * members' slots go to new_slot. */
static void renew_group(mcr_smo *s, int t, int64_t wanted, mcr_smo_candidate *was, int64_t *added)
{
    int64_t members = 0, violators[2] = {0};
    for (int64_t m = 0; m < s->slots; m++)
        members += s->member[m] >= 0 && mcr_smo_group(s, s->act[s->member[m]]) == t;
    if (mcr_smo_is_plain(s))
        list_plain(s, violators);
    else
        for (int64_t i = 0; i < s->active; i++)
            if (!s->in[i] && mcr_smo_group(s, s->act[i]) == t)
                list_violator(s, t, i, violators);
    int64_t empty = wanted - members, change = wanted / 2 > 1 ? wanted / 2 : 1;
    if (change > violators[0] + violators[1])
        change = violators[0] + violators[1];
    int64_t drop = change > empty ? change - empty : 0;
    drop = drop_members(s, t, drop, was);
    for (int64_t d = 0; d < drop; d++) /* they may come back at once */
        list_violator(s, t, was[d].at, violators);
    int64_t want = empty + drop, slot = 0;
    int64_t got = add_violators(s, s->violator[0], violators[0], (want + 1) / 2, &slot, added);
    got += add_violators(s, s->violator[1], violators[1], want - got, &slot, added);
    if (got < want)
        got += add_violators(s, s->violator[0], violators[0], want - got, &slot, added);
    for (int64_t d = 0; d < drop && got < want; d++)
        if (!s->in[was[d].at]) {
            put_in(s, &slot, was[d].at, added);
            got++;
        }
}

int64_t mcr_smo_renew_set(mcr_smo *s, mcr_smo_candidate *was)
{
    int64_t added = 0;
    for (int t = 0; t < s->groups; t++)
        renew_group(s, t, s->wanted / s->groups, was, &added);
    return added;
}

/* ---- the block of K ---------------------------------------------------------------------------*/

/* One place for the null object, rounded up. */
static int64_t places_of(int64_t slots)
{
    return (slots / MCR_SMO_PAD + 1) * MCR_SMO_PAD;
}

/* A row of the block (made): nothing has been written there. */
enum { UNTOUCHED = -2 };

/* Never a stride of 4 KiB. */
static int64_t stride_of(const mcr_smo *s, int64_t places)
{
    return (size_t)places * s->real % 4096 ? places : places + MCR_ROW_PAD;
}

void mcr_smo_lay_out(mcr_smo *s)
{
    s->places = places_of(s->slots);
    s->block.ld = stride_of(s, s->places);
}

static size_t fresh_reals(const mcr_smo *s, int64_t slots)
{
    return s->stored ? 0 : (size_t)slots * (size_t)slots;
}

size_t mcr_smo_block_bytes(const mcr_smo *s, int64_t slots)
{
    int64_t places = places_of(slots);
    return ((size_t)places * (size_t)stride_of(s, places) + fresh_reals(s, slots)) * s->real;
}

/* Trials one after the other use the same memory: pages that are new to the process have to be
 * cleared by the system, which takes a fifth of the time of small ones. */
static char *new_block(const mcr_smo *s)
{
    size_t block = (size_t)s->places * (size_t)s->block.ld;
    if (s->stored && s->p->blocks) {
        mcr_row_pool_reset(s->p->blocks, block * s->real);
        return mcr_row_pool_take(s->p->blocks);
    }
    return s->stored ? mcr_alloc(s->ctx, block, s->real) : mcr_alloc_zero(s->ctx, block, s->real);
}

void mcr_smo_free_block(mcr_smo *s)
{
    if (!s->stored || !s->p->blocks)
        mcr_free(s->ctx, s->k);
}

mcr_status mcr_smo_open_block(mcr_smo *s)
{
    s->block.k = s->k = new_block(s);
    s->fresh = mcr_alloc(s->ctx, fresh_reals(s, s->slots), s->real);
    for (int64_t m = 0; m < s->most_slots; m++)
        s->made[m] = UNTOUCHED;
    return s->k && s->fresh ? MCR_OK : MCR_NO_MEMORY;
}

/* More slots; the members stay where they are, and so do their values. */
static mcr_status add_slots(mcr_smo *s, int64_t slots)
{
    char *old = s->k;
    int64_t had = s->slots, old_ld = s->block.ld;
    mcr_free(s->ctx, s->fresh); /* first: the budget is for one of each size */
    s->fresh = NULL;
    s->slots = slots;
    mcr_smo_lay_out(s);
    s->block.k = s->k = new_block(s);
    for (int64_t m = 0; m < had && s->k; m++)
        memcpy(s->k + (size_t)(m * s->block.ld) * s->real, old + (size_t)(m * old_ld) * s->real,
               (size_t)had * s->real);
    for (int64_t m = had; m < slots; m++)
        s->member[m] = -1;
    mcr_free(s->ctx, old);
    s->fresh = mcr_alloc(s->ctx, fresh_reals(s, slots), s->real);
    return s->k && s->fresh ? MCR_OK : MCR_NO_MEMORY;
}

int64_t mcr_smo_count_free(const mcr_smo *s)
{
    int64_t is_free = 0;
    for (int64_t i = 0; i < s->active; i++) {
        int64_t v = s->act[i];
        is_free += (s->b[v] > s->p->lo[v]) & (s->b[v] < s->p->hi[v]) & (s->b[v] != 0);
    }
    return is_free;
}

mcr_status mcr_smo_resize_set(mcr_smo *s)
{
    int64_t wanted = mcr_smo_count_free(s) * 5 / 4 / 64 * 64;
    if (wanted > s->most_slots)
        wanted = s->most_slots;
    if (wanted <= s->wanted)
        return MCR_OK;
    s->wanted = wanted;
    if (wanted <= s->slots)
        return MCR_OK;
    int64_t slots = 2 * s->slots > wanted ? 2 * s->slots : wanted;
    return add_slots(s, slots < s->most_slots ? slots : s->most_slots);
}

typedef struct spread_job {
    const mcr_smo *s;
    int64_t added, used; /* new members; columns of `fresh` */
    bool whole;          /* column c belongs to slot c */
    const unsigned char *is_new;
} spread_job;

enum { SPREAD = 64 };

/* Columns first .. end - 1 of `fresh` into the block: the rows of new members, and, where the other
 * member is old, the transposed place. */
#define SPREAD_COLUMNS(real)                                                                       \
    static void spread_##real(const spread_job *job, int64_t first, int64_t end)                   \
    {                                                                                              \
        const mcr_smo *s = job->s;                                                                 \
        real *k = (real *)s->k, *old[SPREAD];                                                      \
        int64_t ld = s->block.ld, place[SPREAD], count = 0;                                        \
        for (int64_t c = first; c < end; c++) {                                                    \
            int64_t m = s->slot_list[c];                                                           \
            if (job->is_new[m])                                                                    \
                continue;                                                                          \
            old[count] = k + m * ld;                                                               \
            place[count++] = c;                                                                    \
        }                                                                                          \
        for (int64_t r = 0; r < job->added; r++) {                                                 \
            const real *from = (const real *)s->fresh + r * job->used;                             \
            int64_t slot = s->new_slot[r];                                                         \
            real *to = k + slot * ld;                                                              \
            if (job->whole)                                                                        \
                memcpy(to + first, from + first, sizeof *to * (size_t)(end - first));              \
            for (int64_t c = first; !job->whole && c < end; c++)                                   \
                to[s->slot_list[c]] = from[c];                                                     \
            for (int64_t o = 0; o < count; o++)                                                    \
                old[o][slot] = from[place[o]];                                                     \
        }                                                                                          \
    }
SPREAD_COLUMNS(float)
SPREAD_COLUMNS(double)
#undef SPREAD_COLUMNS

static mcr_status spread_columns(void *arg, int64_t item, int worker)
{
    (void)worker;
    const spread_job *job = arg;
    int64_t first = item * SPREAD, end = first + SPREAD < job->used ? first + SPREAD : job->used;
    (job->s->precise ? spread_double : spread_float)(job, first, end);
    return MCR_OK;
}

/* The row of a member out of the caller's K. */
static void gather_row(void *arg, int64_t m)
{
    mcr_smo *s = arg;
    const float *from = s->given + s->act[s->member[m]] * s->given_ld;
    float *to = (float *)s->k + m * s->block.ld;
    int64_t made = s->made[m] >= s->age[m] ? s->made[m] : -1; /* else it was another's */
    if (s->made[m] == UNTOUCHED)
        memset(to, 0, sizeof *to * (size_t)s->block.ld);
    if (made < 0)
        for (int64_t i = 0; i < s->members; i++)
            to[s->slot_list[i]] = from[s->object_list[i]];
    else
        for (int64_t i = 0; i < s->members; i++)
            if (s->age[s->slot_list[i]] > made)
                to[s->slot_list[i]] = from[s->object_list[i]];
    s->made[m] = s->result->rounds;
    s->result->rows++;
    s->block.there[m] = 1;
}

/* Rows of the caller's K are cut to the set when they are used, and cleared when they are first
 * used: memory that is not touched takes no time. The null object has zeros. Places
 * without a member have zeros or what a member before them left: finite numbers, which move
 * nothing. */
static void open_rows(mcr_smo *s, int64_t used)
{
    if (s->p->no_sum) {
        size_t row = (size_t)s->block.ld * s->real;
        memset(s->k + (size_t)s->slots * row, 0, (size_t)(s->places - s->slots) * row);
    }
    s->members = used;
    s->block.make_row = gather_row;
    s->block.arg = s;
    s->block.there = s->there;
    memset(s->there, 0, (size_t)s->slots);
    s->there[s->slots] = 1;
}

mcr_status mcr_smo_fill_block(mcr_smo *s, int64_t added)
{
    unsigned char is_new[MCR_SMO_MOST_SLOTS] = {0};
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
    if (s->stored) {
        open_rows(s, used);
        return MCR_OK;
    }
    bool whole = used == s->slot_list[used - 1] + 1, all = whole && added == used;
    mcr_rows members = {s->object_list, 0, used};
    if (all) /* in their places at once */
        return mcr_gram_block_any(s->full, members, members, s->k, s->block.ld, s->precise);
    mcr_status st = mcr_gram_block_any(s->full, (mcr_rows){s->new_object, 0, added}, members,
                                       s->fresh, used, s->precise);
    if (st)
        return st;
    spread_job job = {s, added, used, whole, is_new};
    return mcr_parallel(s->ctx, (used + SPREAD - 1) / SPREAD, spread_columns, &job);
}

static void set_real(const mcr_smo *s, void *array, int64_t at, double value)
{
    if (s->precise)
        ((double *)array)[at] = value;
    else
        ((float *)array)[at] = (float)value;
}

int64_t mcr_smo_solve_block(mcr_smo *s, double tolerance, int64_t most_steps)
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
        int t = v >= 0 ? mcr_smo_group(s, v) : 0;
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
    /* As LIBSVM takes it for kernels that are not PSD, but small beside small values, too. */
    s->block.tau = 1e-12 * fmin(s->largest, 1);
    s->block.most_steps = most_steps;
    int64_t steps;
    mcr_status st = mcr_smo_run_block(s, &steps);
    s->row_status = s->row_status ? s->row_status : st;
    s->result->steps += steps;
    return steps;
}

/* Half of what the working set's new coefficients change in the objective, by the gradient as it
 * stands: before and after it is brought up to date the halves add up to the whole. */
static double half_change(const mcr_smo *s)
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

/* A coefficient at a bound or at 0 has often come to stay, and its row is not needed again; a free
 * one changes in most rounds. */
static bool is_settled(const mcr_smo *s, int64_t m)
{
    return s->slot_b[m] <= s->slot_lo[m] || s->slot_b[m] >= s->slot_hi[m] || s->slot_b[m] == 0;
}

mcr_status mcr_smo_take_over(mcr_smo *s, int64_t *changed, double *change)
{
    int64_t count = 0, keep = 0;
    *change = half_change(s);
    for (int settled = 0; settled < 2; settled++) {
        for (int64_t m = 0; m < s->slots; m++) {
            bool moved = s->member[m] >= 0 && s->slot_b[m] != s->before[m];
            if (!moved || is_settled(s, m) != settled)
                continue;
            int64_t v = s->act[s->member[m]];
            s->b[v] = s->slot_b[m];
            s->object_list[count] = v;
            s->coef[count++] = s->slot_b[m] - s->before[m];
            s->moved += fabs(s->slot_b[m] - s->before[m]) * mcr_smo_length(s, v);
        }
        keep = settled ? keep : count;
    }
    *changed = count;
    s->work += (double)count * (double)s->active;
    mcr_status st = s->stored ? mcr_smo_add_stored(s, s->object_list, s->coef, count, s->g)
                              : mcr_cache_accumulate(s->cache, (mcr_rows){s->object_list, 0, count},
                                                     keep, s->coef, s->g);
    *change += half_change(s);
    return st;
}
