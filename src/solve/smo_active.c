/* smo_active.c: slopes and gradient of the quadratic programs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "solve/smo_impl.h"

#include <string.h>

#include "base/threads.h"
#include "linalg/tiles.h"

enum {
    BATCH = 1024, /* rows of one pass */
    LEAST_BATCH = 128,
    LOOK_VALUES = 1 << 23 /* kernel values between two looks at the time limit: about 0.1 s */
};

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

mcr_status mcr_smo_add_rows(mcr_gram *gram, bool precise, const int64_t *object, const double *coef,
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

int64_t mcr_smo_list_changes(mcr_smo *s, const double *then)
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

void mcr_smo_all_active(mcr_smo *s)
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
    mcr_smo_all_active(s);
    memset(s->g, 0, sizeof *s->g * (size_t)s->n);
    int64_t count = mcr_smo_list_changes(s, NULL);
    s->moved = 0;
    if (s->error)
        memset(s->error, 0, sizeof *s->error * (size_t)s->n);
    for (int64_t r = 0; r < count; r++)
        s->moved += fabs(s->coef[r]) * mcr_smo_length(s, s->object_list[r]);
    if (s->whole || s->stored)
        return mcr_smo_add_stored(s, s->object_list, s->coef, count, s->g);
    s->result->rows += count;
    return mcr_smo_add_rows(s->full, s->precise, s->object_list, s->coef, count,
                            s->result->rounds == 0 ? s : NULL, s->g);
}

mcr_status mcr_smo_known_gradient(mcr_smo *s, const double *g)
{
    mcr_smo_all_active(s);
    memcpy(s->g, g, sizeof *g * (size_t)s->n);
    int64_t count = mcr_smo_list_changes(s, s->p->from);
    return mcr_smo_add_stored(s, s->object_list, s->coef, count, s->g);
}
