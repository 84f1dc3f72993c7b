/* smo_shrink.c: the active set of a quadratic program.
 *
 * Rows of K are computed for the columns of the active set only. Columns that are set aside come
 * back with the gradient of all changes since: one pass over the coefficients that changed, however
 * often they did. So an active set pays even if it is only a guess, and has to be guessed again.
 *
 * In a classification of many objects where most coefficients are free, columns well beyond the
 * margin on their side are set aside. They come back when the active ones satisfy the conditions to
 * a share of the violation that all of them had. When that violation was small, hardly one of them
 * can have come to matter: the active ones are solved to the end, and the certificate, which needs
 * the gradient of all, brings them back. If the first rounds do not come near to the solution, a
 * sample goes on, which is solved roughly and finds its region.
 *
 * In small and other problems coefficients leave that stay at a bound by the extremes of all
 * slopes, if that is certain to pay (rent or buy): restoring their gradient costs about as much as
 * has been spent since the last full gradient.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "solve/smo_impl.h"

#include <string.h>

#include "linalg/tiles.h"

enum {
    IDLE_LOOKS = 2,   /* at which a coefficient must be sure to stay before it may leave */
    MANY = 16384,     /* objects whose columns are guessed */
    LOOK_EVERY = 4,   /* rounds between looks at shrinking */
    SAMPLE_SHIFT = 61 /* of 64 bits: one object in eight is in the sample */
};

#define SHRINK_SHARE 0.5 /* of the active set that must be able to leave */
#define SHRINK_RENT  2.0
#define CHEAP_WORK   100 /* of a value (mcr_gram_work): rows that cost more are worth storing */
#define BIND_WORK    4e8 /* of rows so far: they have taken longer than binding columns again */
/* In units of the range of z, which is twice the margin of a classification: beyond the margin by
 * so much, objects are set aside; the violation up to which a sample is solved. */
#define FAR       0.125
#define ROUGH     0.25
#define NEAR      0.5 /* the violation of all from which on the active ones are solved to the end */
#define COME_BACK 0.1 /* of the violation of all: that of the active ones when all come back */

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

/* ---- guesses ---- */

static int64_t count_support(const mcr_smo *s)
{
    int64_t support = 0;
    for (int64_t v = 0; v < s->n; v++)
        support += s->b[v] != 0;
    return support;
}

/* Whether guesses pay: rows of K are long, so that binding columns again takes little time beside
 * them, and are not stored; most coefficients are free, so that their rows are needed again and
 * again. A coefficient that goes to its bound takes one row, and one more with every guess. */
static bool may_guess(const mcr_smo *s)
{
    return s->groups == 1 && s->p->epsilon == 0 && s->n >= MANY &&
           mcr_gram_work(s->full) <= CHEAP_WORK && 2 * mcr_smo_count_free(s) >= count_support(s);
}

/* The unit of slopes: 0 if there is no margin. */
static double range_of_z(const mcr_smo *s)
{
    double least = INFINITY, most = -INFINITY;
    for (int64_t v = 0; v < s->n; v++) {
        least = s->p->z[v] < least ? s->p->z[v] : least;
        most = s->p->z[v] > most ? s->p->z[v] : most;
    }
    return most - least;
}

/* Marks the columns that are neither in a sample nor in use; returns how many. Neighbours in the
 * data may be alike, so their numbers are scattered (Fibonacci hashing). */
static int64_t mark_unsampled(mcr_smo *s)
{
    int64_t leaving = 0;
    for (int64_t i = 0; i < s->n; i++) {
        bool leaves = (uint64_t)i * 0x9e3779b97f4a7c15u >> SAMPLE_SHIFT != 0 && !s->in[i] &&
                      s->b[i] == 0;
        s->idle[i] = leaves ? IDLE_LOOKS : 0;
        leaving += leaves;
    }
    return leaving;
}

/* Marks the columns beyond the margin, as far as free coefficients say where that is. */
static int64_t mark_far(mcr_smo *s, double beyond)
{
    double sum = 0, count = 0;
    int64_t leaving = 0;
    for (int64_t i = 0; i < s->active; i++) {
        int64_t v = s->act[i];
        bool is_free = s->b[v] > s->p->lo[v] && s->b[v] < s->p->hi[v];
        sum += is_free ? s->g[i] - s->p->z[v] : 0;
        count += is_free;
    }
    if (count == 0 && !s->p->no_sum)
        return 0;
    double level = s->p->no_sum ? 0 : sum / count;
    for (int64_t i = 0; i < s->active; i++) {
        int64_t v = s->act[i];
        bool leaves = !s->in[i] && mcr_smo_slope_up(s, v, s->g[i]) > level + beyond &&
                      mcr_smo_slope_down(s, v, s->g[i]) < level - beyond;
        s->idle[i] = leaves ? IDLE_LOOKS : 0;
        leaving += leaves;
    }
    return leaving;
}

/* ---- shrinking ---- */

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

/* Whether the first rounds are far from the optimum and have found many free coefficients. */
static bool is_hard(const mcr_smo *s, double violation, double unit)
{
    return violation >= unit && 2 * mcr_smo_count_free(s) > s->wanted;
}

static mcr_status start_sample(mcr_smo *s, double unit)
{
    s->trend.enough = ROUGH * unit;
    s->trend.last = false;
    return shrink(s, mark_unsampled(s));
}

mcr_status mcr_smo_consider_shrinking(mcr_smo *s, double violation)
{
    bool back = s->trend.back;
    s->trend.back = false;
    if (!back && s->result->rounds % LOOK_EVERY != 0)
        return MCR_OK;
    double unit = may_guess(s) ? range_of_z(s) : 0;
    if (s->rests && unit > 0)
        return MCR_OK;
    if (s->result->rounds == LOOK_EVERY && unit > 0 && is_hard(s, violation, unit))
        return start_sample(s, unit);
    if (unit == 0 && s->result->rounds % LOOK_EVERY != 0)
        return MCR_OK;
    int64_t leaving = unit > 0 ? mark_far(s, FAR * unit) : count_idle(s);
    if (s->active <= 2 * s->wanted || (double)leaving <= SHRINK_SHARE * (double)s->active)
        return MCR_OK;
    bool paid = s->work > SHRINK_RENT * (double)count_support(s) * (double)leaving &&
                (unit == 0 || s->work * mcr_gram_work(s->full) > BIND_WORK);
    if (!paid && !(back && unit > 0))
        return MCR_OK;
    s->trend.last = unit > 0 && violation <= NEAR * unit;
    s->trend.enough = unit > 0 && !s->trend.last ? COME_BACK * violation : 0;
    return shrink(s, leaving);
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
    s->trend.back = true;
    mcr_free(s->ctx, whole);
    return st;
}

void mcr_smo_bring_back(mcr_smo *s)
{
    if (!s->rests)
        return;
    for (int64_t i = s->active - 1; i >= 0; i--) /* a column moves up, if at all */
        s->g[s->act[i]] = s->g[i];
    for (mcr_smo_rest *r = s->rests; r; r = r->next)
        for (int64_t i = 0; i < r->count; i++) {
            s->g[r->object[i]] = 0;
            s->error[r->object[i]] = INFINITY;
        }
    mcr_smo_free_rests(s);
    mcr_smo_all_active(s);
}
