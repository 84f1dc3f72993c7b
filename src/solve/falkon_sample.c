/* falkon_sample.c: the sample of rows that preconditions, and its own problem.
 *
 * Its Hessian is computed from features, or directly from kernel values if rounding allows that,
 * which is a third of the work per row; the sample is then larger, and its problem is also solved
 * by conjugate gradients.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <string.h>

#include "base/random.h"
#include "solve/falkon_impl.h"

#define NEAR 10 /* of mu: how far the preconditioner may be off, by a careful estimate */

double mcr_falkon_curvature(const mcr_falkon *t, int64_t row, const double *f, double *unit)
{
    int64_t k = t->columns;
    double sum = 0, *hv = unit + k;
    for (int64_t c = 0; c < k; c++) {
        memset(unit, 0, sizeof *unit * (size_t)k);
        unit[c] = 1;
        t->p->curve(t->p->self, row, 1, f, unit, hv);
        sum += fmax(hv[c], 0) / (double)k;
    }
    return sum;
}

bool mcr_falkon_probe(const mcr_falkon *t, int64_t i, int64_t *row)
{
    *row = i * t->all / MCR_FALKON_PROBES - t->first;
    return *row >= 0 && *row < t->n;
}

/* Whether the Hessian of all rows at f = 0, from kernel values, is near enough. */
static mcr_status choose_way(mcr_falkon *t)
{
    double sum = 0, *f = mcr_alloc_zero(t->ctx, 3 * (uint64_t)t->columns, sizeof *f);
    mcr_status s = f ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t i = 0, row; i < MCR_FALKON_PROBES && !s; i++)
        if (mcr_falkon_probe(t, i, &row))
            sum += mcr_falkon_curvature(t, row, f, f + t->columns);
    mcr_free(t->ctx, f);
    if (!s)
        s = mcr_gram_total(t->gram, &sum, 1);
    t->quick = !s && mcr_gram_near_error(t->gram, sum / MCR_FALKON_PROBES * (double)t->all) <=
                         NEAR * t->p->mu;
    return s;
}

/* As many rows as cost about two passes over all: their features and the matrix take 3 p^2
 * multiply-adds per row, the matrix alone a third, and a kernel value some beside its own work. A
 * Hessian of all columns is worth more, because it saves many steps. */
static int64_t choose_size(const mcr_falkon *t)
{
    enum { LEAST = 2, MOST = 200, VALUE = 16 };
    double easy = t->joint ? 4e9 : 0;
    double p = (double)t->width, pass = (double)t->all * (mcr_gram_work(t->gram) + VALUE * p);
    double least = fmax(LEAST * p, easy / (p * p * (double)(t->columns * t->columns)));
    double rows = fmin(fmax(2 * pass / ((t->quick ? 1 : 3) * p * p), least), fmax(MOST * p, least));
    return rows < (double)t->all ? (int64_t)rows : t->all;
}

/* If rows are spread, each process handles its own. */
static void take_row(mcr_falkon *t, int64_t row, double share)
{
    if (row < t->first || row >= t->first + t->n)
        return;
    t->row[t->samples] = row - t->first;
    t->share[t->samples++] = share;
}

/* One row of each of as many strata, which stands for its stratum: no list of all rows is
 * needed. Then rows that stand for themselves. */
static void draw_rows(mcr_falkon *t, int64_t strata, mcr_rows own)
{
    mcr_random r = mcr_random_stream(mcr_seed(t->ctx), "sample", 0);
    for (int64_t i = 0; i < strata; i++) {
        int64_t first = (int64_t)((double)i / (double)strata * (double)t->all);
        int64_t end = (int64_t)((double)(i + 1) / (double)strata * (double)t->all);
        int64_t row = first + (end > first + 1 ? mcr_random_below(&r, end - first) : 0);
        take_row(t, row, (double)t->all / (double)strata);
    }
    for (int64_t i = 0; i < own.count; i++)
        take_row(t, mcr_rows_at(own, i), 1);
}

/* The sample includes the landmarks: only they are certain to cover all directions. */
mcr_status mcr_falkon_open_sample(mcr_falkon *t)
{
    mcr_status s = choose_way(t);
    if (s)
        return s;
    int64_t strata = choose_size(t);
    mcr_rows own = strata < t->all ? mcr_gram_landmarks(t->gram) : (mcr_rows){NULL, 0, 0};
    t->r->sample = strata + own.count;
    t->whole = strata == t->all;
    /* Of strata that are spread, those that begin or end elsewhere may be counted twice. */
    double each = (double)t->n / (double)t->all * (double)strata + 2 + (double)own.count;
    uint64_t count = (uint64_t)fmin(each, (double)t->r->sample);
    uint64_t columns = (uint64_t)t->columns;
    if (!mcr_alloc_arrays(t->ctx, MCR_ARRAY(t->row, count), /* the block to free */
                          MCR_ARRAY(t->share, count), MCR_ARRAY(t->h, count),
                          MCR_ARRAY(t->sf, count * columns), MCR_ARRAY(t->sg, 2 * count * columns)))
        return MCR_NO_MEMORY;
    draw_rows(t, strata, own);
    mcr_rows rows = {t->row, 0, t->samples};
    count = (size_t)t->samples;
    size_t bytes = count * (size_t)t->width * sizeof(double);
    if (t->quick || bytes > mcr_gram_restricted_spare(t->gram) / 4)
        return mcr_gram_select_both(&t->sample, t->gram, rows);
    s = mcr_budget_take(t->ctx, bytes, t->p->phase);
    if (s)
        return s;
    t->taken = bytes;
    t->dense = mcr_alloc(t->ctx, count, (size_t)t->width * sizeof *t->dense);
    s = t->dense ? mcr_gram_factor_rows(t->gram, rows, t->dense) : MCR_NO_MEMORY;
    return s ? s
             : mcr_gram_factor(&t->sample, t->ctx,
                               &(mcr_factor){.n = t->samples,
                                             .p = t->width,
                                             .dense = t->dense,
                                             .ld = t->width,
                                             .spread = mcr_gram_is_spread(t->gram)});
}

/* The loss of the sample at f, which stands for all; its gradient goes to t->sg. */
static mcr_status sample_loss(mcr_falkon *t, const double *f, double *loss)
{
    double sum = 0;
    for (int64_t i = 0; i < t->samples; i++) {
        int64_t at = i * t->columns;
        sum += t->share[i] * t->p->loss(t->p->self, t->row[i], 1, f + at, t->sg + at);
        for (int64_t c = 0; c < t->columns; c++)
            t->sg[at + c] *= t->share[i];
    }
    *loss = sum;
    return mcr_gram_total(t->gram, loss, 1);
}

/* h = the second derivatives by columns c and d of the sample's losses at f, times `sign`, where
 * these are above 0; *some: they are somewhere. */
static mcr_status bends_of(mcr_falkon *t, const double *f, int64_t step, int64_t c, int64_t d,
                           double sign, bool *some)
{
    int64_t k = t->columns;
    double *unit = t->sg, *hv = t->sg + k, any = 0;
    for (int64_t i = 0; i < t->samples; i++) {
        t->h[i] = 0;
        if (i % step)
            continue;
        memset(unit, 0, sizeof *unit * (size_t)k);
        unit[d] = 1;
        t->p->curve(t->p->self, t->row[i], 1, f + i * k, unit, hv);
        t->h[i] = (double)step * t->share[i] * fmax(sign * hv[c], 0);
        any += t->h[i];
    }
    mcr_status s = mcr_gram_total(t->gram, &any, 1);
    *some = any > 0;
    return s;
}

/* The Hessian of all columns, block by block: the lower triangle. */
static mcr_status fill_joint(mcr_falkon *t, const double *f, int64_t step)
{
    int64_t k = t->columns, p = t->width;
    mcr_system block = {0};
    mcr_status s = mcr_system_open(&block, t->ctx, p, t->p->phase);
    for (int64_t i = 0; i < t->size && !s; i++)
        memset(t->m.a + i * t->m.ld, 0, sizeof *t->m.a * (size_t)t->size);
    for (int64_t e = 0; e < 2 * k * k && !s; e++) {
        int64_t c = e / 2 / k, d = e / 2 % k;
        double sign = e % 2 ? -1 : 1;
        bool some = false;
        if (d <= c)
            s = bends_of(t, f, step, c, d, sign, &some);
        if (s || !some)
            continue;
        s = mcr_gram_fill_near(t->sample, &block, mcr_gram_all(t->sample), t->h, NEAR * t->p->mu);
        for (int64_t i = 0; i < p && !s; i++)
            for (int64_t j = 0; j <= i; j++) {
                double add = sign * block.a[i * block.ld + j];
                t->m.a[(i * k + c) * t->m.ld + j * k + d] += add;
                if (j < i && c != d) /* the block is symmetric, and its mirror has its place here */
                    t->m.a[(i * k + d) * t->m.ld + j * k + c] += add;
            }
    }
    mcr_system_close(&block);
    if (!s)
        mcr_system_filled(&t->m);
    return s;
}

static mcr_status fill_one(mcr_falkon *t, const double *f, int64_t step)
{
    for (int64_t i = 0; i < t->samples; i++)
        t->h[i] = i % step ? 0
                           : (double)step * t->share[i] *
                                 mcr_falkon_curvature(t, t->row[i], f + i * t->columns, t->sg);
    return mcr_gram_fill_near(t->sample, &t->m, mcr_gram_all(t->sample), t->h, NEAR * t->p->mu);
}

/* If rounding makes a nearly singular Hessian indefinite, mu is increased: the preconditioner
 * becomes less effective, but the solution is the same. */
mcr_status mcr_falkon_factorise(mcr_falkon *t, const double *f, int64_t step)
{
    enum { TRIES = 8 };
    double shift = t->p->mu;
    mcr_status s = MCR_NUMERIC;
    for (int i = 0; i < TRIES && s == MCR_NUMERIC; i++, shift *= 100) {
        s = t->joint ? fill_joint(t, f, step) : fill_one(t, f, step);
        if (!s)
            s = mcr_system_factor(&t->m, shift, NULL, NULL);
    }
    return s;
}

mcr_status mcr_falkon_precondition(void *self, const double *r, double *z)
{
    mcr_falkon *t = self;
    memcpy(z, r, sizeof *z * (size_t)t->size);
    return mcr_system_solve(&t->m, t->joint ? 1 : t->columns, z);
}

/* How far along the step the sample's objective falls enough; 0: nowhere. */
static mcr_status sample_length(mcr_falkon *t, double objective, double slope, const double *df,
                                double *trial, double *length)
{
    enum { HALVES = 30 };
    mcr_status s = MCR_OK;
    *length = 1;
    for (int i = 0; i < HALVES && !s; i++, *length /= 2) {
        double square = 0, loss = 0;
        for (int64_t k = 0; k < t->size; k++) {
            double w = t->w[k] + *length * t->step[k];
            square += w * w;
        }
        for (int64_t k = 0; k < t->samples * t->columns; k++)
            trial[k] = t->sf[k] + *length * df[k];
        s = sample_loss(t, trial, &loss);
        if (!s && loss + t->p->mu / 2 * square <= objective + 1e-4 * *length * slope)
            return MCR_OK;
    }
    *length = 0;
    return s;
}

static double bend_sample(const void *self, int64_t first, int64_t count, const double *y,
                          double *a)
{
    const mcr_falkon *t = self;
    int64_t k = t->columns;
    for (int64_t i = first; i < first + count; i++) {
        double *to = a + (i - first) * k;
        t->p->curve(t->p->self, t->row[i], 1, t->sf + i * k, y + (i - first) * k, to);
        for (int64_t c = 0; c < k; c++)
            to[c] *= t->share[i];
    }
    return 0;
}

/* hv = the sample's Hessian times v */
static mcr_status apply_sample(void *self, const double *v, double *hv)
{
    mcr_falkon *t = self;
    return mcr_falkon_hessian(t, t->sample, bend_sample, v, NULL, hv);
}

/* A step of Newton's method on the sample, by the factor of its Hessian; where the sample is large,
 * by that of a part of it at the start, which is the preconditioner of all steps. */
static mcr_status step_sample(mcr_falkon *t, bool first)
{
    enum { MOST = 20, EVERY = 3 };
    double norm;
    int64_t steps = 0;
    mcr_conjugate c = {.ctx = t->ctx,
                       .size = t->size,
                       .apply = apply_sample,
                       .precondition = mcr_falkon_precondition,
                       .self = t,
                       .enough = 0.1 * mcr_norm(t->g, t->size),
                       .most = MOST};
    if (t->quick && !first)
        return mcr_conjugate_solve(&c, t->g, t->step, &norm, &steps);
    mcr_status s = mcr_falkon_factorise(t, t->sf, t->quick && !t->p->quadratic ? EVERY : 1);
    return s ? s : mcr_falkon_precondition(t, t->g, t->step);
}

mcr_status mcr_falkon_solve_sample(mcr_falkon *t)
{
    enum { MOST = 20 };
    double enough = t->quick ? 1e-3 : 1e-4;
    size_t all = (size_t)(t->samples * t->columns);
    mcr_rows rows = mcr_gram_all(t->sample);
    double *df = mcr_alloc(t->ctx, 2 * all, sizeof *df);
    mcr_status s = df ? MCR_OK : MCR_NO_MEMORY;
    memset(t->w, 0, sizeof *t->w * (size_t)t->size);
    memset(t->sf, 0, sizeof *t->sf * all);
    bool done = false;
    for (int i = 0; i < MOST && !s && !done; i++) {
        double objective = 0, length = 0;
        s = sample_loss(t, t->sf, &objective);
        objective += t->p->mu / 2 * mcr_dot(t->w, t->w, t->size);
        if (!s)
            s = mcr_gram_project(t->sample, rows, t->sg, t->columns, t->g);
        for (int64_t k = 0; k < t->size && !s; k++)
            t->g[k] = -(t->g[k] + t->p->mu * t->w[k]);
        if (!s)
            s = step_sample(t, i == 0);
        double slope = s ? 0 : -mcr_dot(t->g, t->step, t->size);
        if (!s)
            s = mcr_gram_expand(t->sample, rows, t->step, t->columns, df);
        if (!s)
            s = sample_length(t, objective, slope, df, df + all, &length);
        for (int64_t k = 0; k < t->size && !s; k++)
            t->w[k] += length * t->step[k];
        for (size_t k = 0; k < all && !s; k++)
            t->sf[k] += length * df[k];
        /* The distance of the sample's optimum from that of all rows, as a share of its own
         * objective. */
        done = t->p->quadratic || length == 0 || -slope <= enough * fabs(objective);
        if (!s && !done)
            s = mcr_falkon_is_over(t, &done);
    }
    mcr_free(t->ctx, df);
    return s || !t->quick || t->p->quadratic ? s : mcr_falkon_factorise(t, t->sf, 1);
}
