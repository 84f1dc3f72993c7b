/* smooth_rows.c: what Newton's method on a smoothed hinge does with the objects: products with D,
 * and which objects take part in them.
 *
 * Most objects are far from the width, and their b at a bound. They are left out of the steps, as
 * shrinking does in the dual; one in 40 of them is a guard, which is looked at in each step. When a
 * guard has come near, all are looked at. Objects that came near while they were left out are held:
 * a few far from all others go any distance.
 *
 * If rows are spread over several processes, each has the objects of its own, and all decide by the
 * same sums: so all of them leave objects out, or none.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdlib.h>

#include "base/order.h"
#include "base/threads.h"
#include "gram/round.h"
#include "solve/smooth_impl.h"

#define FLOAT_WIDTHS 8    /* of the last width: in smaller ones slopes must be exact */
#define FLOAT_SHARE  2e-3 /* of h: what floats may change in s */
#define GUARDED      0.3  /* of the border: how near a guard may come */

/* ---- passes over the objects ------------------------------------------------------------------*/

typedef struct chunk_job {
    mcr_hinge *t;
    mcr_hinge_work *work;
} chunk_job;

static mcr_status run_chunk(void *arg, int64_t first, int64_t end)
{
    const chunk_job *j = arg;
    double *found = j->t->found + first / MCR_HINGE_CHUNK * MCR_HINGE_FOUND;
    for (int k = 0; k < MCR_HINGE_FOUND; k++)
        found[k] = 0;
    j->work(j->t, first, end, found);
    return MCR_OK;
}

void mcr_hinge_over(mcr_hinge *t, int64_t objects, mcr_hinge_work *work,
                    double sum[MCR_HINGE_FOUND])
{
    int64_t count = (objects + MCR_HINGE_CHUNK - 1) / MCR_HINGE_CHUNK;
    chunk_job j = {t, work};
    (void)mcr_parallel_chunks(t->ctx, objects, MCR_HINGE_CHUNK, run_chunk, &j); /* no part fails */
    for (int k = 0; k < MCR_HINGE_FOUND; k++)
        sum[k] = 0;
    for (int64_t i = 0; i < count; i++)
        for (int k = 0; k < MCR_HINGE_FOUND; k++)
            sum[k] += t->found[i * MCR_HINGE_FOUND + k];
}

static void set_best(mcr_hinge *t, int64_t first, int64_t end, double *found)
{
    (void)found;
    for (int64_t k = first; k < end; k++) {
        int64_t i = mcr_hinge_member(t, k);
        double now = mcr_hinge_best(t, i, t->s[i]);
        t->change[i] = now - t->b[i];
        t->b[i] = now;
    }
}

mcr_rows mcr_hinge_listed(mcr_hinge *t)
{
    for (int64_t k = 0; k < t->count; k++)
        t->list_source[k] = mcr_rows_at(t->at, t->list[k]);
    return (mcr_rows){t->list_source, 0, t->count};
}

mcr_status mcr_hinge_add_changes(mcr_hinge *t)
{
    bool some = t->count || mcr_gram_is_spread(t->d); /* others may have some */
    mcr_status s = some ? mcr_gram_project(t->d, mcr_hinge_listed(t), t->weight, 1, t->u) : MCR_OK;
    for (int64_t k = 0; k < t->wide && some && !s; k++)
        t->sum[k] += t->u[k];
    return s;
}

mcr_status mcr_hinge_renew(mcr_hinge *t)
{
    double sum[MCR_HINGE_FOUND];
    mcr_hinge_over(t, mcr_hinge_members(t), set_best, sum);
    t->count = 0;
    for (int64_t k = 0; k < mcr_hinge_members(t); k++) {
        int64_t i = mcr_hinge_member(t, k);
        if (t->change[i] != 0) {
            t->weight[t->count] = t->change[i];
            t->list[t->count++] = i;
        }
    }
    return mcr_hinge_add_changes(t);
}

/* ---- objects far from the width ---------------------------------------------------------------*/

/* Where a border leaves out most objects, but not more than the next steps need; 0: nowhere. The
 * first of these objects is number `first` of n. */
static mcr_status find_border(mcr_hinge *t, int64_t first, int64_t n, double *border)
{
    enum { PROBES = 1000, SHARE = 20, WIDTHS = 4, CALM = 2 };
    double probe[PROBES] = {0};
    int64_t least = PROBES * (t->some / SHARE) / n, own = mcr_hinge_members(t);
    for (int64_t i = 0; i < PROBES; i++) {
        int64_t k = i * n / PROBES - first;
        if (k >= 0 && k < own)
            probe[i] = fabs(t->s[mcr_hinge_member(t, k)]);
    }
    mcr_status s = mcr_gram_total(t->d, probe, PROBES);
    qsort(probe, PROBES, sizeof *probe, mcr_reals_rising);
    *border = fmax(fmax(probe[least], WIDTHS * t->h), CALM * t->near.gap);
    *border = fmax(*border, t->near.least);
    *border = *border < probe[PROBES / 2] ? *border : 0;
    return s;
}

mcr_status mcr_hinge_leave_out(mcr_hinge *t)
{
    enum { FEW = 20000, GUARDS = 40 };
    int64_t n = mcr_hinge_members(t), count = 0, first, all;
    double border = 0;
    if (t->some < FEW || !mcr_gram_is_restricted(t->d))
        return MCR_OK;
    mcr_status s = mcr_gram_place(t->d, n, &first, &all);
    if (s || all < t->some / 10)
        return s;
    s = find_border(t, first, all, &border);
    if (s || !(border > 0) || (t->near.count >= 0 && !(border < GUARDED * t->near.border)))
        return s;
    t->near.guards = t->near.count < 0 ? 0 : t->near.guards;
    for (int64_t k = 0; k < n; k++) {
        int64_t i = mcr_hinge_member(t, k);
        if (t->held[i] || fabs(t->s[i]) < border)
            t->close[count++] = i;
        else if ((first + k) % GUARDS == 0)
            t->guard[t->near.guards++] = i;
    }
    t->near.count = count;
    t->near.border = border;
    return MCR_OK;
}

mcr_status mcr_hinge_is_crossed(mcr_hinge *t, bool *yes)
{
    double crossed = 0;
    *yes = false;
    if (t->near.count < 0)
        return MCR_OK;
    for (int64_t k = 0; k < t->near.guards; k++)
        crossed += fabs(t->s[t->guard[k]]) < GUARDED * t->near.border;
    mcr_status s = mcr_gram_total(t->d, &crossed, 1);
    *yes = crossed > 0;
    return s;
}

/* D v of these objects: by floats, where what these leave is small against the width. */
static mcr_status expand(mcr_hinge *t, mcr_rows rows, const double *v, double *y)
{
    double slope, value = INFINITY;
    mcr_status s = t->floats ? mcr_gram_float_error(t->d, v, 1, &slope, &value) : MCR_OK;
    if (s)
        return s;
    t->off_step = 0;
    if (t->h < FLOAT_WIDTHS * t->place.last || !(value <= FLOAT_SHARE * t->h))
        return mcr_gram_expand(t->d, rows, v, 1, y);
    t->off_step = value;
    return mcr_gram_factor_round(t->d, &(mcr_round){.x = rows, .outputs = 1, .c = v, .y = y});
}

mcr_status mcr_hinge_expand_members(mcr_hinge *t)
{
    if (t->near.count < 0) {
        mcr_status s = expand(t, t->at, t->u, t->ds);
        for (int64_t i = 0; i < t->at.count && !s; i++)
            t->ds[i] += t->dbias;
        return s;
    }
    int64_t near = t->near.count, all = near + t->near.guards;
    for (int64_t k = 0; k < all; k++)
        t->list_source[k] = mcr_rows_at(t->at, k < near ? t->close[k] : t->guard[k - near]);
    bool some = all || mcr_gram_is_spread(t->d); /* others may have some */
    mcr_status s = some ? expand(t, (mcr_rows){t->list_source, 0, all}, t->u, t->change) : MCR_OK;
    for (int64_t k = 0; k < all && !s; k++)
        t->ds[k < near ? t->close[k] : t->guard[k - near]] = t->change[k] + t->dbias;
    return s;
}

mcr_status mcr_hinge_slope_of_others(mcr_hinge *t, double *slope)
{
    double whole = 0, b = 0;
    bool spread = mcr_gram_is_spread(t->d);
    *slope = 0;
    if (t->near.count < 0)
        return MCR_OK;
    for (int64_t k = 0; k < t->wide; k++) /* of all processes */
        whole += t->sum[k] * t->u[k];
    double all = spread ? 0 : whole;
    for (int64_t i = 0; i < t->at.count; i++)
        b += t->b[i];
    all += t->dbias * b;
    for (int64_t k = 0; k < t->near.count; k++)
        all -= t->b[t->close[k]] * t->ds[t->close[k]];
    mcr_status s = mcr_gram_total(t->d, &all, 1);
    *slope = -(spread ? all + whole : all);
    return s;
}

mcr_status mcr_hinge_watch(mcr_hinge *t)
{
    int64_t guards = t->near.count < 0 ? 0 : t->near.guards, count = mcr_hinge_members(t) + guards;
    double square = 0;
    for (int64_t k = 0; k < mcr_hinge_members(t); k++)
        square += t->ds[mcr_hinge_member(t, k)] * t->ds[mcr_hinge_member(t, k)];
    for (int64_t k = 0; k < guards; k++) {
        double ds = t->ds[t->guard[k]];
        t->s[t->guard[k]] += t->step * ds;
        square += ds * ds;
    }
    double sum[] = {square, (double)count};
    mcr_status s = mcr_gram_total(t->d, sum, 2);
    t->near.gap = 3 * fabs(t->step) * sqrt(sum[0] / fmax(sum[1], 1));
    return s;
}

/* b of objects whose D w is known. */
static double slopes(const void *self, int64_t first, int64_t count, const double *y, double *a)
{
    const mcr_hinge *t = self;
    for (int64_t i = 0; i < count; i++)
        a[i] = mcr_hinge_best(t, first + i, y[i] + t->bias - t->z[first + i]);
    return 0;
}

mcr_status mcr_hinge_hold(mcr_hinge *t, bool *some)
{
    double count = 0;
    for (int64_t i = 0; i < t->at.count; i++)
        if (fabs(t->change[i]) > 0.5 * (t->hi[i] - t->lo[i])) {
            t->held[i] = true;
            count++;
        }
    mcr_status s = mcr_gram_total(t->d, &count, 1);
    *some = count > 0;
    return s;
}

mcr_status mcr_hinge_start(mcr_hinge *t, bool precise)
{
    double slope = 0, value = INFINITY, square = 0, none[MCR_HINGE_FOUND];
    mcr_round pass = {.x = t->at, .outputs = 1, .c = t->w, .y = t->s, .u = t->sum};
    pass.work = slopes;
    pass.self = t;
    mcr_status s = t->floats ? mcr_gram_float_error(t->d, t->w, 1, &slope, &value) : MCR_OK;
    for (int64_t i = 0; i < t->at.count; i++)
        square += fmax(t->hi[i] * t->hi[i], t->lo[i] * t->lo[i]);
    if (!s)
        s = mcr_gram_total(t->d, &square, 1);
    double off = value + t->reach * slope * sqrt(0.5 * square);
    pass.precise = precise || !(off <= 0.5 * MCR_HINGE_STALE * t->h);
    if (!s)
        s = mcr_gram_factor_round(t->d, &pass);
    if (s)
        return s;
    t->near.count = -1;
    for (int64_t i = 0; i < t->at.count; i++)
        t->s[i] += t->bias - t->z[i];
    mcr_hinge_over(t, mcr_hinge_members(t), set_best, none);
    t->off = pass.precise ? 0 : off;
    return MCR_OK;
}
