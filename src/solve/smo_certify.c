/* smo_certify.c: the gradient that the certificate rests on.
 *
 * During the rounds the gradient comes from float kernel values. Their rounding has a bound
 * (mcr_gram_error), which is a worst case and often large beside the tolerance; so at the end whatever it
 * could change is computed again in double: the gradient of all coefficients that are not 0, which
 * is part of both objectives, and that of those coefficients at 0 that could set the violation, the bias or
 * a loss. The others are known to be further from that than their error.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <float.h>
#include <string.h>

#include "solve/smo_impl.h"

/* Double values take about so many times as long as float ones. */
#define DOUBLE_COST 2.0

mcr_status mcr_smo_count_error(mcr_smo *s, mcr_gram *gram)
{
    double r;
    mcr_status st = mcr_gram_error(gram, s->precise, &r);
    if (!st)
        s->rough = fmax(s->rough, r);
    return st;
}

/* ---- which coefficients at 0 matter ------------------------------------------------------------*/

/* For each group: a slope up below, or down above, could matter. */
typedef struct limits {
    double up[2], down[2];
} limits;

static limits find_limits(const mcr_smo *s, double error)
{
    double low[2], high[2], most[2], least[2];
    for (int t = 0; t < 2; t++) {
        low[t] = most[t] = s->p->no_sum ? 0 : INFINITY;
        high[t] = least[t] = s->p->no_sum ? 0 : -INFINITY;
    }
    for (int64_t v = 0; v < s->n; v++) {
        int t = mcr_smo_group(s, v);
        double e = s->b[v] == 0 ? error * mcr_smo_length(s, v) : 0;
        double up = mcr_smo_slope_up(s, v, s->g[v]), down = mcr_smo_slope_down(s, v, s->g[v]);
        low[t] = fmin(low[t], up + e);      /* the lowest slope up is not above */
        high[t] = fmax(high[t], down - e);  /* the highest slope down is not below */
        least[t] = fmax(least[t], down + e); /* ... and not above */
        most[t] = fmin(most[t], up - e);    /* ... and not below */
    }
    /* The bias lies between the slopes of free coefficients, or in the middle of the extremes. */
    limits of;
    for (int t = 0; t < 2; t++) {
        of.up[t] = fmax(low[t], least[t]);
        of.down[t] = fmin(high[t], most[t]);
    }
    return of;
}

/* Lists the coefficients at 0 whose gradient matters if it errs by so much; column NULL: counts. */
static int64_t list_doubtful(const mcr_smo *s, double error, int64_t *column)
{
    int64_t count = 0;
    limits of = {{0}, {0}};
    if (isfinite(error))
        of = find_limits(s, error);
    for (int64_t v = 0; v < s->n; v++) {
        if (s->b[v] != 0)
            continue;
        int t = mcr_smo_group(s, v);
        double e = error * mcr_smo_length(s, v);
        double up = mcr_smo_slope_up(s, v, s->g[v]), down = mcr_smo_slope_down(s, v, s->g[v]);
        if (isfinite(e) && up - e > of.up[t] && down + e < of.down[t])
            continue;
        if (column)
            column[count] = v;
        count++;
    }
    return count;
}

/* ---- computing ---------------------------------------------------------------------------------*/

typedef struct columns {
    int64_t count;
    int64_t *object;
    double *f;
} columns;

/* g of the listed columns from nothing. support: they are the objects listed in object_list. */
static mcr_status compute(mcr_smo *s, const columns *c, bool support, bool precise, int64_t rows)
{
    mcr_gram *part = NULL;
    if (c->count == 0)
        return MCR_OK;
    mcr_status st = mcr_gram_restrict(&part, s->full, (mcr_rows){c->object, 0, c->count});
    memset(c->f, 0, sizeof *c->f * (size_t)c->count);
    if (!st && !precise)
        st = mcr_smo_count_error(s, part);
    if (!st && support)
        st = mcr_gram_sums(part, c->object, precise, s->coef, c->f);
    else if (!st)
        st = mcr_smo_add_rows(part, precise, s->object_list, s->coef, rows, c->f);
    for (int64_t i = 0; i < c->count && !st; i++)
        s->g[c->object[i]] = c->f[i];
    mcr_gram_close(part);
    return st;
}

static void list_zeros(const mcr_smo *s, columns *c)
{
    c->count = 0;
    for (int64_t v = 0; v < s->n; v++)
        if (s->b[v] == 0)
            c->object[c->count++] = v;
}

/* Those at 0: in double where it matters, from the gradient as it stands or after a fresh one in
 * float, whose error is smaller; or all in double, whichever is likely to take the least time. */
static mcr_status compute_zeros(mcr_smo *s, columns *c, double size, int64_t rows)
{
    double now = s->fixed + s->rough * s->moved, fresh = s->rough * size;
    list_zeros(s, c);
    double zeros = (double)c->count, all = DOUBLE_COST * zeros;
    double some = DOUBLE_COST * (double)list_doubtful(s, now, NULL);
    double both = zeros + DOUBLE_COST * (double)list_doubtful(s, fresh, NULL);
    mcr_status st = MCR_OK;
    if (!s->whole && both < some && both < all) {
        st = compute(s, c, false, false, rows);
        s->fixed = 0;
        s->moved = size;
        now = s->rough * size;
    }
    if (!st && (some < all || both < all)) /* else all of them are listed */
        c->count = list_doubtful(s, now, c->object);
    return st ? st : compute(s, c, false, true, rows);
}

mcr_status mcr_smo_exact_gradient(mcr_smo *s)
{
    double size = 0, r = 0;
    mcr_status st = MCR_OK;
    if (s->rests || s->whole || s->precise)
        st = mcr_smo_fresh_gradient(s);
    if (!st)
        st = mcr_gram_error(s->full, true, &r);
    int64_t rows = mcr_smo_list_changes(s, NULL);
    for (int64_t i = 0; i < rows; i++)
        size += fabs(s->coef[i]) * mcr_smo_length(s, s->object_list[i]);
    columns c = {0, NULL, NULL};
    if (!st && !s->precise) {
        c.object = mcr_alloc(s->ctx, (size_t)s->n, sizeof *c.object);
        c.f = mcr_alloc(s->ctx, (size_t)s->n + MCR_ROW_PAD, sizeof *c.f);
        st = c.object && c.f ? mcr_smo_count_error(s, s->full) : MCR_NO_MEMORY;
        if (s->p->k)
            s->rough = fmax(s->rough, s->p->k_error);
    }
    if (!st && !s->precise) {
        s->result->rows += rows;
        c.count = rows;
        memcpy(c.object, s->object_list, sizeof *c.object * (size_t)rows);
        st = compute(s, &c, true, true, rows);
        if (!st)
            st = compute_zeros(s, &c, size, rows);
        /* What was left alone does not matter; what goes on from here does so from this error. */
        s->fixed += s->rough * s->moved;
        s->moved = 0;
    }
    mcr_free(s->ctx, c.object);
    mcr_free(s->ctx, c.f);
    s->result->error = (r + DBL_EPSILON * (double)rows) * size * sqrt(s->largest);
    return st;
}
