/* smo_active.c: slopes and gradient of the quadratic programs, and the active set.
 *
 * Coefficients that stay at a bound leave the active set when that is certain to pay (rent or buy):
 * restoring their gradient costs about as much as has been spent since the last full gradient.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "solve/smo_impl.h"

#include <string.h>

#include "base/threads.h"
#include "linalg/tiles.h"

enum {
    IDLE_LOOKS = 2, /* at which a coefficient must be sure to stay before it may leave */
    LOOK_EVERY = 4, /* rounds between looks at shrinking */
    BATCH = 1024,   /* rows of one pass */
    LEAST_BATCH = 128,
    LOOK_VALUES = 1 << 23 /* kernel values between two looks at the time limit: about 0.1 s */
};

#define SHRINK_SHARE 0.5 /* of the active set that must be able to leave */
#define SHRINK_RENT  2.0

/* mcr_smo_look for the plainest problems, without a branch. */
static double look_at_plain(mcr_smo *s)
{
    const double *restrict g = s->g, *restrict z = s->p->z, *restrict b = s->b;
    const double *restrict lo = s->p->lo, *restrict hi = s->p->hi;
    double low = s->p->no_sum ? 0 : INFINITY, high = s->p->no_sum ? 0 : -INFINITY;
    for (int64_t i = 0; i < s->n; i++) {
        double slope = g[i] - z[i];
        double up = b[i] < hi[i] ? slope : INFINITY, down = b[i] > lo[i] ? slope : -INFINITY;
        low = up < low ? up : low;
        high = down > high ? down : high;
    }
    s->low[0] = low;
    s->high[0] = high;
    return fmax(high - low, 0);
}

double mcr_smo_look(mcr_smo *s)
{
    double violation = 0;
    if (mcr_smo_is_plain(s))
        return look_at_plain(s);
    for (int t = 0; t < s->groups; t++) {
        s->low[t] = s->p->no_sum ? 0 : INFINITY;
        s->high[t] = s->p->no_sum ? 0 : -INFINITY;
    }
    for (int64_t i = 0; i < s->active; i++) {
        int64_t v = s->act[i];
        int t = mcr_smo_group(s, v);
        double up = mcr_smo_slope_up(s, v, s->g[i]), down = mcr_smo_slope_down(s, v, s->g[i]);
        if (up < s->low[t])
            s->low[t] = up;
        if (down > s->high[t])
            s->high[t] = down;
    }
    for (int t = 0; t < s->groups; t++)
        violation = fmax(violation, s->high[t] - s->low[t]);
    return violation;
}

/* ---- gradient ---------------------------------------------------------------------------------*/

/* The first gradient: if it and the certificate cannot be computed in time, there is no result. */
static mcr_status watch_first(mcr_smo *s, double began, int64_t done, int64_t count)
{
    double n = (double)s->n, now = mcr_now();
    s->row_seconds = now - began;
    s->row_values = (double)done * n;
    s->pace = s->row_seconds / s->row_values;
    double left = s->pace * (double)(count - done) * n + mcr_smo_closing_time(s);
    return s->p->seconds > 0 && now - s->began + left > s->p->seconds
               ? mcr_fail(s->ctx, MCR_STOPPED, "out of time")
               : MCR_OK;
}

/* f += K(columns of gram, x) change, in batches; object lists x. first: NULL, or whose first
 * gradient it is. */
static mcr_status add_rows(mcr_gram *gram, bool precise, const int64_t *object, const double *coef,
                           int64_t count, mcr_smo *first, double *f)
{
    mcr_status st = MCR_OK;
    double began = mcr_now();
    int64_t batch = BATCH, n = mcr_gram_cols(gram);
    while (first && batch > LEAST_BATCH && batch * n > LOOK_VALUES)
        batch /= 2;
    for (int64_t r = 0; r < count && !st; r += batch) {
        int64_t m = count - r < batch ? count - r : batch;
        if (r > 0 && first && (st = watch_first(first, began, r, count)))
            break;
        st = mcr_gram_rows_pass(gram, &(mcr_gram_pass){.x = {object + r, 0, m},
                                                       .precise = precise,
                                                       .coef = coef + r,
                                                       .f = f,
                                                       .outputs = 1});
    }
    return st;
}

/* Lists objects whose coefficient differs from `then` (NULL: from 0) in object_list, with the
 * difference in coef; returns how many. */
static int64_t list_changes(mcr_smo *s, const double *then)
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
    const mcr_smo *s;
    const mcr_tile_kit *kit;
    const void *const *row;
    const double *coef;
    int64_t count;
    double *g;
} stored_job;

enum { STORED_COLUMNS = 2048 };

static mcr_status add_stored_chunk(void *arg, int64_t item, int worker)
{
    (void)worker;
    const stored_job *job = arg;
    int64_t first = item * STORED_COLUMNS, n = job->s->n;
    job->kit->update(job->g, job->row, job->coef, job->count, first,
                     first + STORED_COLUMNS < n ? first + STORED_COLUMNS : n);
    return MCR_OK;
}

mcr_status mcr_smo_add_stored(mcr_smo *s, const int64_t *object, const double *coef, int64_t count,
                              double *g)
{
    const mcr_tiles *tiles = mcr_tiles_best();
    const void **row = mcr_alloc(s->ctx, (size_t)count, sizeof *row);
    if (!row)
        return MCR_NO_MEMORY;
    mcr_status st = s->block.row ? mcr_smo_need_rows(s, object, count) : MCR_OK;
    const char *k = s->stored ? (const char *)s->given : s->block.k;
    int64_t ld = s->stored ? s->given_ld : s->block.ld;
    for (int64_t r = 0; r < count; r++)
        row[r] = s->block.row ? s->block.row[object[r]] : k + (size_t)(object[r] * ld) * s->real;
    stored_job job = {s, s->precise ? tiles->f64 : tiles->f32, row, coef, count, g};
    if (!st)
        st = mcr_parallel(s->ctx, (s->n + STORED_COLUMNS - 1) / STORED_COLUMNS, add_stored_chunk,
                          &job);
    mcr_free(s->ctx, row);
    return st;
}

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

static void all_active(mcr_smo *s)
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

mcr_status mcr_smo_fresh_gradient(mcr_smo *s)
{
    mcr_smo_free_rests(s);
    all_active(s);
    memset(s->g, 0, sizeof *s->g * (size_t)s->n);
    int64_t count = list_changes(s, NULL);
    s->moved = 0;
    if (s->error)
        memset(s->error, 0, sizeof *s->error * (size_t)s->n);
    for (int64_t r = 0; r < count; r++)
        s->moved += fabs(s->coef[r]) * mcr_smo_length(s, s->object_list[r]);
    if (s->whole || s->stored)
        return mcr_smo_add_stored(s, s->object_list, s->coef, count, s->g);
    s->result->rows += count;
    return add_rows(s->full, s->precise, s->object_list, s->coef, count,
                    s->result->rounds == 0 ? s : NULL, s->g);
}

mcr_status mcr_smo_known_gradient(mcr_smo *s, const double *g)
{
    all_active(s);
    memcpy(s->g, g, sizeof *g * (size_t)s->n);
    int64_t count = list_changes(s, s->p->from);
    return mcr_smo_add_stored(s, s->object_list, s->coef, count, s->g);
}

/* ---- shrinking --------------------------------------------------------------------------------*/

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
        int64_t count = list_changes(s, r->b);
        st = mcr_gram_restrict(&columns, s->full, (mcr_rows){r->object, 0, r->count});
        if (!st)
            st = mcr_smo_count_error(s, columns);
        if (!st)
            st = add_rows(columns, s->precise, s->object_list, s->coef, count, NULL, r->g);
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
        all_active(s);
        for (int64_t m = 0; m < s->slots; m++)
            if (s->member[m] >= 0)
                s->in[s->member[m]] = 1;
        st = mcr_cache_reset(s->cache, s->full);
    }
    mcr_free(s->ctx, whole);
    return st;
}
