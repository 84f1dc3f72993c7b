/* falkon.c: Newton's method with conjugate gradients, preconditioned by a sample of the rows.
 *
 * Rudi, Carratino and Rosasco (NIPS 2017) precondition with the landmarks' own rows; with weights
 * that is Marteau-Ferey, Bach and Rudi (NeurIPS 2019) for losses other than the squared one. Here
 * the sample is as large as is worth its time beside passes over all rows: with several times as
 * many rows as columns the preconditioned Hessian is near to 1, and each step gains most of a
 * digit. The sample's own problem, solved directly, is the start.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "solve/falkon.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "base/resume.h"
#include "base/team.h"
#include "gram/factor.h"
#include "gram/round.h"
#include "linalg/system.h"
#include "solve/conjugate.h"

enum { PART = 1024 }; /* rows whose losses are evaluated at a time */
#define NEAR 10       /* of mu: how far the preconditioner may be off, by a careful estimate */

typedef struct state {
    mcr *ctx;
    mcr_gram *gram;
    const mcr_smooth *p;
    int64_t n, width, columns, size; /* size: width x columns */
    int64_t first, all;              /* the first row's number among those of all processes */
    double *w, *f;                   /* n x columns: f = D w */
    double *g, *step;                /* size: the gradient, a Newton step */
    double *df, *dp;                 /* n x columns: D step, and D times a direction */
    mcr_gram *sample;                /* some rows of D */
    int64_t samples;
    int64_t *row;  /* their numbers */
    double *share; /* how many rows each of them stands for */
    double *dense; /* their features, where these are kept; NULL: not */
    size_t taken;
    double *h, *sf, *sg; /* of the sample: weights; samples x columns */
    mcr_system m;        /* the preconditioner */
    bool quick;          /* the preconditioner takes the sample's kernel values, not features */
    bool rough;          /* passes of conjugate gradients take floats */
    bool plain;          /* and so may gradients that are large against the error */
    bool blunt;          /* the last one did */
    double began;
    mcr_falkon_result *r;
    int64_t steps, in_vain; /* of the last step: of conjugate gradients; without much gain */
    double fall;            /* of the gradient's norm in it */
    bool renewed;           /* the preconditioner is that of f = D renewal */
    bool renewed_blunt;     /* by floats */
    double *renewal;        /* size; NULL: no checkpoint is kept */
    char part[MCR_PART_NAME], steps_part[MCR_PART_NAME];
} state;

static double dot(int64_t n, const double *x, const double *y)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

/* Whether to end, by time or the user. If one of several processes does, all do. */
static mcr_status is_over(state *t, bool *yes)
{
    mcr_falkon_result *r = t->r;
    mcr_progress now = {
        .size = sizeof now,
        .phase = t->p->phase,
        .fraction = NAN,
        .seconds = mcr_now() - t->began,
        .step = r->passes,
        .objective = r->objective,
        .violation = r->gap / fabs(r->objective),
    };
    double why[2] = {mcr_report(t->ctx, &now), t->p->seconds > 0 && now.seconds > t->p->seconds};
    mcr_status s = mcr_gram_total(t->gram, why, 2);
    if (!s && why[0] > 0)
        r->stop = MCR_STOP_INTERRUPTED;
    else if (!s && why[1] > 0)
        r->stop = MCR_STOP_TIME;
    *yes = r->stop != MCR_STOP_OPTIMAL;
    return s;
}

/* ---- the sample -------------------------------------------------------------------------------*/

/* The curvature of a row's loss at f, as one number for all columns; unit: 2 columns. */
static double curvature(const state *t, int64_t row, const double *f, double *unit)
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

/* Whether the Hessian of all rows at f = 0, from kernel values, is near enough. */
static mcr_status choose_way(state *t)
{
    enum { PROBES = 256 };
    double sum[2] = {0, 0}, *f = mcr_alloc_zero(t->ctx, 3 * (size_t)t->columns, sizeof *f);
    mcr_status s = f ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t i = 0; i < PROBES && t->n && !s; i++, sum[1]++)
        sum[0] += curvature(t, i * t->n / PROBES, f, f + t->columns);
    mcr_free(t->ctx, f);
    if (!s)
        s = mcr_gram_total(t->gram, sum, 2);
    t->quick = !s && sum[1] > 0 &&
               mcr_gram_near_error(t->gram, sum[0] / sum[1] * (double)t->all) <= NEAR * t->p->mu;
    return s;
}

/* As many rows as cost about two passes over all: their features and the matrix take 3 p^2
 * multiply-adds per row, the matrix alone a third, and a kernel value some beside its own work. */
static int64_t choose_size(const state *t)
{
    enum { LEAST = 2, MOST = 200, VALUE = 16 };
    double p = (double)t->width, pass = (double)t->all * (mcr_gram_work(t->gram) + VALUE * p);
    double rows = fmin(fmax(2 * pass / ((t->quick ? 1 : 3) * p * p), LEAST * p), MOST * p);
    return rows < (double)t->all ? (int64_t)rows : t->all;
}

/* Where rows are spread, those of others are left to them. */
static void take_row(state *t, int64_t row, double share)
{
    if (row < t->first || row >= t->first + t->n)
        return;
    t->row[t->samples] = row - t->first;
    t->share[t->samples++] = share;
}

/* One row of each of as many strata, which stands for its stratum: no list of all rows is
 * needed. Then rows that stand for themselves. */
static void draw_rows(state *t, int64_t strata, mcr_rows own)
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

/* The landmarks themselves are among the sample: they are the only ones that far directions are
 * sure to be seen by. */
static mcr_status open_sample(state *t)
{
    int64_t strata = choose_size(t);
    mcr_rows own = strata < t->all ? mcr_gram_landmarks(t->gram) : (mcr_rows){NULL, 0, 0};
    t->r->sample = strata + own.count;
    /* Of strata that are spread, those that begin or end elsewhere may be counted twice. */
    double each = (double)t->n / (double)t->all * (double)strata + 2 + (double)own.count;
    size_t count = (size_t)fmin(each, (double)t->r->sample);
    t->row = mcr_alloc(t->ctx, count, sizeof *t->row);
    t->share = mcr_alloc(t->ctx, count, sizeof *t->share);
    t->h = mcr_alloc(t->ctx, count, sizeof *t->h);
    t->sf = mcr_alloc(t->ctx, count, (size_t)t->columns * sizeof *t->sf);
    t->sg = mcr_alloc(t->ctx, count, 2 * (size_t)t->columns * sizeof *t->sg);
    if (!t->row || !t->share || !t->h || !t->sf || !t->sg)
        return MCR_NO_MEMORY;
    draw_rows(t, strata, own);
    mcr_rows rows = {t->row, 0, t->samples};
    count = (size_t)t->samples;
    size_t bytes = count * (size_t)t->width * sizeof(double);
    if (t->quick || bytes > mcr_budget_left(t->ctx) / 4)
        return mcr_gram_select_both(&t->sample, t->gram, rows);
    mcr_status s = mcr_budget_take(t->ctx, bytes, t->p->phase);
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
static mcr_status sample_loss(state *t, const double *f, double *loss)
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

/* m = mu + the sample's Hessian at f (samples x columns), one for all columns; step: by one of so
 * many rows. */
static mcr_status factorise(state *t, const double *f, int64_t step)
{
    for (int64_t i = 0; i < t->samples; i++)
        t->h[i] = i % step ? 0
                           : (double)step * t->share[i] *
                                 curvature(t, t->row[i], f + i * t->columns, t->sg);
    mcr_status s = mcr_gram_fill_near(t->sample, &t->m, mcr_gram_all(t->sample), t->h,
                                      NEAR * t->p->mu);
    return s ? s : mcr_system_factor(&t->m, t->p->mu, NULL, NULL);
}

static mcr_status precondition(void *self, const double *r, double *z)
{
    state *t = self;
    memcpy(z, r, sizeof *z * (size_t)t->size);
    return mcr_system_solve(&t->m, t->columns, z);
}

/* How far along the step the sample's objective falls enough; 0: nowhere. */
static mcr_status sample_length(state *t, double objective, double slope, const double *df,
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
    const state *t = self;
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
    state *t = self;
    mcr_round pass = {.x = mcr_gram_all(t->sample),
                      .precise = !t->rough,
                      .outputs = t->columns,
                      .c = v,
                      .work = bend_sample,
                      .self = t,
                      .u = hv};
    mcr_status s = mcr_gram_factor_round(t->sample, &pass);
    for (int64_t k = 0; k < t->size && !s; k++)
        hv[k] += t->p->mu * v[k];
    return s;
}

/* A step of Newton's method on the sample, by the factor of its Hessian; where the sample is large,
 * by that of a part of it at the start, which is the preconditioner of all steps. */
static mcr_status step_sample(state *t, bool first)
{
    enum { MOST = 20, EVERY = 3 };
    double norm;
    int64_t steps = 0;
    mcr_conjugate c = {.ctx = t->ctx,
                       .size = t->size,
                       .apply = apply_sample,
                       .precondition = precondition,
                       .self = t,
                       .enough = 0.1,
                       .relative = true,
                       .most = MOST};
    if (t->quick && !first)
        return mcr_conjugate_solve(&c, t->g, t->step, &norm, &steps);
    mcr_status s = factorise(t, t->sf, t->quick && !t->p->quadratic ? EVERY : 1);
    return s ? s : precondition(t, t->g, t->step);
}

/* Newton's method on the sample's own problem: the start, and the preconditioner there. */
static mcr_status solve_sample(state *t)
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
        objective += t->p->mu / 2 * dot(t->size, t->w, t->w);
        if (!s)
            s = mcr_gram_project(t->sample, rows, t->sg, t->columns, t->g);
        for (int64_t k = 0; k < t->size && !s; k++)
            t->g[k] = -(t->g[k] + t->p->mu * t->w[k]);
        if (!s)
            s = step_sample(t, i == 0);
        double slope = s ? 0 : -dot(t->size, t->g, t->step);
        if (!s)
            s = mcr_gram_expand(t->sample, rows, t->step, t->columns, df);
        if (!s)
            s = sample_length(t, objective, slope, df, df + all, &length);
        for (int64_t k = 0; k < t->size && !s; k++)
            t->w[k] += length * t->step[k];
        for (size_t k = 0; k < all && !s; k++)
            t->sf[k] += length * df[k];
        /* The sample's optimum is as far from that of all as a share of its own objective. */
        done = t->p->quadratic || length == 0 || -slope <= enough * fabs(objective);
        if (!s && !done)
            s = is_over(t, &done);
    }
    mcr_free(t->ctx, df);
    return s || !t->quick || t->p->quadratic ? s : factorise(t, t->sf, 1);
}

/* ---- all rows ---------------------------------------------------------------------------------*/

static double add_loss(const void *self, int64_t first, int64_t count, const double *y, double *a)
{
    const state *t = self;
    return t->p->loss(t->p->self, first, count, y, a);
}

/* f = D w, the gradient, and what they say of the optimum. */
static mcr_status measure(state *t, bool precise)
{
    mcr_falkon_result *r = t->r;
    double mu = t->p->mu;
    t->blunt = !precise;
    mcr_round pass = {.x = mcr_gram_all(t->gram),
                      .precise = precise,
                      .outputs = t->columns,
                      .c = t->w,
                      .work = add_loss,
                      .self = t,
                      .y = t->f,
                      .u = t->g};
    mcr_status s = mcr_gram_factor_round(t->gram, &pass);
    r->passes++;
    for (int64_t k = 0; k < t->size && !s; k++)
        t->g[k] += mu * t->w[k];
    r->objective = pass.sum + mu / 2 * dot(t->size, t->w, t->w);
    r->gradient = s ? NAN : sqrt(dot(t->size, t->g, t->g));
    r->gap = r->gradient * r->gradient / (2 * mu);
    r->distance = r->gradient / mu;
    if (!s && !isfinite(r->objective + r->gradient))
        s = mcr_fail(t->ctx, MCR_NUMERIC,
                     "%s: the numbers are too large: scale the data or the kernel, or take a "
                     "larger lambda",
                     t->p->phase);
    return s;
}

static bool is_optimal(const state *t)
{
    return t->r->gap <= t->p->gap * fabs(t->r->objective);
}

/* Norm of the gradient that is small enough, by the objective where it is. */
static double target(const state *t)
{
    return sqrt(2 * t->p->mu * t->p->gap * fabs(t->r->objective));
}

/* About how far a gradient by floats is off, where slopes and curvatures of the losses are those of
 * some rows at f. */
static mcr_status float_error(state *t, double *off)
{
    enum { PROBES = 256 };
    int64_t k = t->columns;
    double slope, value, sum[3] = {0, 0, 0}, *g = mcr_alloc(t->ctx, (size_t)k, 3 * sizeof *g);
    mcr_status s = g ? mcr_gram_float_error(t->gram, t->w, k, &slope, &value) : MCR_NO_MEMORY;
    for (int64_t i = 0; i < PROBES && t->n && !s; i++, sum[2]++) {
        int64_t row = i * t->n / PROBES;
        const double *f = t->f + row * k;
        (void)t->p->loss(t->p->self, row, 1, f, g);
        sum[0] += dot(k, g, g);
        double h = curvature(t, row, f, g + k);
        sum[1] += h * h;
    }
    mcr_free(t->ctx, g);
    if (!s)
        s = mcr_gram_total(t->gram, sum, 3);
    if (s)
        return s;
    double share = (double)t->all / fmax(sum[2], 1);
    *off = slope * sqrt(share * sum[0]) + value * sqrt(share * sum[1]);
    return MCR_OK;
}

/* By floats, where these are good enough for a gradient of about that norm; in the end always in
 * double. */
static mcr_status evaluate(state *t, double expected)
{
    double off = 0;
    mcr_status s = t->plain ? float_error(t, &off) : MCR_OK;
    bool blunt = t->plain && off <= 0.02 * expected;
    if (!s)
        s = measure(t, !blunt);
    if (s || !blunt || !(is_optimal(t) || t->r->gradient < 5 * off))
        return s;
    s = measure(t, true);
    t->plain = !s && is_optimal(t); /* else they have misled */
    return s;
}

static double bend(const void *self, int64_t first, int64_t count, const double *y, double *a)
{
    const state *t = self;
    t->p->curve(t->p->self, first, count, t->f + first * t->columns, y, a);
    return 0;
}

/* hv = (D'HD + mu) v */
static mcr_status apply(void *self, const double *v, double *hv)
{
    state *t = self;
    mcr_round pass = {.x = mcr_gram_all(t->gram),
                      .precise = !t->rough,
                      .outputs = t->columns,
                      .c = v,
                      .work = bend,
                      .self = t,
                      .y = t->dp,
                      .u = hv};
    mcr_status s = mcr_gram_factor_round(t->gram, &pass);
    t->r->passes++;
    for (int64_t k = 0; k < t->size && !s; k++)
        hv[k] += t->p->mu * v[k];
    return s;
}

static void stepped(void *self, double length)
{
    state *t = self;
    for (int64_t i = 0; i < t->n * t->columns && t->df; i++)
        t->df[i] += length * t->dp[i];
}

static mcr_status over(void *self, double norm, bool *yes)
{
    (void)norm;
    return is_over(self, yes);
}

/* The loss of all rows at f + length D step. */
static mcr_status loss_along(state *t, double length, double *buffer, double *sum)
{
    int64_t k = t->columns;
    double *trial = buffer, *gradient = buffer + PART * k;
    *sum = 0;
    for (int64_t j = 0; j < t->n; j += PART) {
        int64_t count = j + PART < t->n ? PART : t->n - j;
        for (int64_t e = 0; e < count * k; e++)
            trial[e] = t->f[j * k + e] + length * t->df[j * k + e];
        *sum += t->p->loss(t->p->self, j, count, trial, gradient);
    }
    return mcr_gram_total(t->gram, sum, 1);
}

/* How far along the step the objective falls enough; 0: nowhere. */
static mcr_status find_length(state *t, double *length)
{
    enum { HALVES = 40 };
    double mu = t->p->mu, at = t->r->objective, square = dot(t->size, t->step, t->step), sum;
    double cross = dot(t->size, t->w, t->step), slope = dot(t->size, t->g, t->step);
    double base = mu / 2 * dot(t->size, t->w, t->w);
    double *buffer = mcr_alloc(t->ctx, PART, 2 * (size_t)t->columns * sizeof *buffer);
    mcr_status s = buffer ? MCR_OK : MCR_NO_MEMORY;
    bool found = false;
    *length = 2;
    for (int i = 0; i < HALVES && !s && !found; i++) {
        *length /= 2;
        s = loss_along(t, *length, buffer, &sum);
        double now = sum + base + mu * (*length * cross + *length * *length * square / 2);
        /* Close to the optimum what is gained drowns in rounding. */
        found = now <= at + 1e-4 * *length * slope + 1e-14 * fabs(at);
    }
    *length = found ? *length : 0;
    mcr_free(t->ctx, buffer);
    return s;
}

static mcr_status walk_steps(void *self, mcr_walk *w)
{
    state *t = self;
    mcr_walk_same(w, t->r->steps);
    MCR_WALK(w, t->r->passes);
    return w->status;
}

/* Floats are good for a few steps, or for none where mu is small against their rounding. For a
 * checkpoint the state is kept within the steps of conjugate gradients if these are all that is
 * long and the loop is our own; else where such steps end, which is soon then. */
static mcr_status find_step(state *t, double *norm)
{
    enum { MOST = 500, MOST_ROUGH = 8, MOST_KEPT = 25 };
    int64_t most = mcr_resume_keeps(t->ctx) && mcr_team_of_rows(t->ctx) ? MOST_KEPT : MOST;
    double share = t->p->quadratic ? (t->rough ? 1e-2 : 0) : t->fall < 0.1 ? 0.01 : 0.05;
    mcr_conjugate c = {.ctx = t->ctx,
                       .size = t->size,
                       .apply = apply,
                       .precondition = precondition,
                       .stepped = stepped,
                       .over = over,
                       .self = t,
                       .enough = fmax(0.7 * target(t), share * t->r->gradient),
                       .most = t->rough ? MOST_ROUGH : most,
                       .part = t->p->quadratic ? t->steps_part : NULL,
                       .walk = walk_steps};
    double *minus = mcr_alloc(t->ctx, (size_t)t->size, sizeof *minus);
    if (!minus)
        return MCR_NO_MEMORY;
    for (int64_t k = 0; k < t->size; k++)
        minus[k] = -t->g[k];
    if (t->df)
        memset(t->df, 0, sizeof *t->df * (size_t)(t->n * t->columns));
    t->steps = 0;
    mcr_status s = mcr_conjugate_solve(&c, minus, t->step, norm, &t->steps);
    mcr_free(t->ctx, minus);
    return s;
}

/* The preconditioner at the present f, where conjugate gradients have become slow. */
static mcr_status renew(state *t)
{
    for (int64_t i = 0; i < t->samples; i++)
        memcpy(t->sf + i * t->columns, t->f + t->row[i] * t->columns,
               sizeof *t->sf * (size_t)t->columns);
    if (t->renewal)
        memcpy(t->renewal, t->w, sizeof *t->w * (size_t)t->size);
    t->renewed = true;
    t->renewed_blunt = t->blunt;
    return factorise(t, t->sf, 1);
}

/* A step that went up, by the rounding of floats, is taken back. */
static mcr_status take_back(state *t, double length)
{
    for (int64_t k = 0; k < t->size; k++)
        t->w[k] -= length * t->step[k];
    t->rough = false;
    return measure(t, true);
}

/* One step of Newton's method, and where it leads. */
static mcr_status advance(state *t)
{
    enum { SLOW = 8 };
    double length = 1, objective = t->r->objective, gradient = t->r->gradient, slope = 0, norm = 0;
    bool rough = t->rough;
    mcr_status s = !t->p->quadratic && t->steps > SLOW ? renew(t) : MCR_OK;
    if (!s)
        s = find_step(t, &norm);
    if (!s && !t->p->quadratic)
        s = find_length(t, &length);
    slope = s ? 0 : dot(t->size, t->g, t->step);
    for (int64_t k = 0; k < t->size && !s; k++)
        t->w[k] += length * t->step[k];
    t->r->steps++;
    if (!s)
        s = evaluate(t, fmax(norm, target(t)));
    if (!s && rough && t->r->objective > objective)
        return take_back(t, length);
    /* Else they have given what they can. Away from the optimum a step gains what it promised. */
    double promised = t->p->quadratic ? INFINITY : -slope * length * (1 - length / 2);
    t->fall = t->r->gradient / gradient;
    t->rough = rough && (t->fall <= 0.2 || objective - t->r->objective >= 0.25 * promised);
    return s;
}

/* ---- checkpoints ------------------------------------------------------------------------------*/

/* Between two steps. f and the gradient follow from w. */
static mcr_status walk(void *self, mcr_walk *w)
{
    state *t = self;
    mcr_walk_same(w, t->all);
    mcr_walk_same(w, t->size);
    mcr_walk_bytes(w, t->w, sizeof *t->w * (size_t)t->size);
    MCR_WALK(w, t->renewed);
    if (t->renewed)
        mcr_walk_bytes(w, t->renewal, sizeof *t->renewal * (size_t)t->size);
    MCR_WALK(w, t->renewed_blunt);
    MCR_WALK(w, t->rough);
    MCR_WALK(w, t->plain);
    MCR_WALK(w, t->blunt);
    MCR_WALK(w, t->fall);
    MCR_WALK(w, t->steps);
    MCR_WALK(w, t->in_vain);
    MCR_WALK(w, t->r->steps);
    MCR_WALK(w, t->r->passes);
    return w->status;
}

/* The preconditioner as it was. */
static mcr_status renew_again(state *t)
{
    double *w = mcr_alloc(t->ctx, (size_t)t->size, sizeof *w);
    size_t bytes = sizeof *w * (size_t)t->size;
    if (!w)
        return MCR_NO_MEMORY;
    memcpy(w, t->w, bytes);
    memcpy(t->w, t->renewal, bytes);
    bool blunt = t->blunt;
    mcr_status s = measure(t, !t->renewed_blunt);
    if (!s)
        s = renew(t);
    t->blunt = blunt;
    memcpy(t->w, w, bytes);
    mcr_free(t->ctx, w);
    return s;
}

/* Where the sample is small its solution goes too far: the best of some shorter ones. */
static mcr_status shorten(state *t)
{
    enum { HALVES = 3 };
    double *buffer = mcr_alloc(t->ctx, PART, 2 * (size_t)t->columns * sizeof *buffer);
    double square = dot(t->size, t->w, t->w), least = t->r->objective, best = 1, sum, length = 1;
    mcr_status s = buffer ? MCR_OK : MCR_NO_MEMORY;
    memcpy(t->df, t->f, sizeof *t->f * (size_t)(t->n * t->columns));
    for (int i = 0; i < HALVES && !s; i++) {
        length /= 2;
        s = loss_along(t, length - 1, buffer, &sum);
        double now = sum + t->p->mu / 2 * length * length * square;
        if (!s && now < least) {
            least = now;
            best = length;
        }
    }
    mcr_free(t->ctx, buffer);
    if (s || best == 1)
        return s;
    for (int64_t k = 0; k < t->size; k++)
        t->w[k] *= best;
    return evaluate(t, t->r->gradient);
}

/* Begins where an earlier run has ended, if there was one; else with the sample's solution. */
static mcr_status begin(state *t)
{
    bool found = false;
    if (mcr_resume_keeps(t->ctx) &&
        !(t->renewal = mcr_alloc(t->ctx, (size_t)t->size, sizeof *t->renewal)))
        return MCR_NO_MEMORY;
    mcr_resume_name(t->ctx, "newton", t->part);
    mcr_resume_name(t->ctx, "conjugate", t->steps_part);
    mcr_status s = mcr_resume_find(t->ctx, t->part, walk, t, &found);
    int64_t passes = t->r->passes;
    if (!s && t->renewed)
        s = renew_again(t);
    if (!s)
        s = found ? measure(t, !t->blunt) : evaluate(t, INFINITY);
    if (found)
        t->r->passes = passes;
    return s || found || t->p->quadratic ? s : shorten(t);
}

static mcr_status iterate(state *t)
{
    enum { PATIENCE = 3 };
    mcr_falkon_result *r = t->r;
    bool ended = false;
    mcr_status s = begin(t);
    while (!s && !is_optimal(t)) {
        s = is_over(t, &ended);
        if (s || ended)
            break;
        double before = r->gradient;
        if (t->p->most_steps > 0 && r->steps >= t->p->most_steps) {
            r->stop = MCR_STOP_STEPS;
            break;
        }
        if (t->in_vain == PATIENCE) {
            r->stop = MCR_STOP_STUCK;
            break;
        }
        bool rough = t->rough;
        s = advance(t);
        t->in_vain = !rough && r->gradient > 0.5 * before ? t->in_vain + 1 : 0;
        mcr_resume_drop(t->ctx, t->steps_part);
        if (!s)
            s = mcr_resume_keep(t->ctx, t->part, walk, t);
    }
    return s || !t->blunt ? s : measure(t, true);
}

static mcr_status open_state(state *t)
{
    size_t all = (size_t)(t->n * t->columns) * (t->p->quadratic ? 0 : 1);
    t->g = mcr_alloc(t->ctx, (size_t)t->size, sizeof *t->g);
    t->step = mcr_alloc(t->ctx, (size_t)t->size, sizeof *t->step);
    if (!t->g || !t->step)
        return MCR_NO_MEMORY;
    if (all && (!(t->df = mcr_alloc(t->ctx, all, sizeof *t->df)) ||
                !(t->dp = mcr_alloc(t->ctx, all, sizeof *t->dp))))
        return MCR_NO_MEMORY;
    mcr_status s = mcr_system_open(&t->m, t->ctx, t->width, t->p->phase);
    if (!s)
        s = choose_way(t);
    return s ? s : open_sample(t);
}

static void close_state(state *t)
{
    void *list[] = {t->renewal, t->g, t->step, t->df, t->dp, t->row, t->share, t->h, t->sf, t->sg};
    mcr_gram_close(t->sample);
    mcr_free(t->ctx, t->dense);
    mcr_budget_give(t->ctx, t->taken);
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        mcr_free(t->ctx, list[i]);
    mcr_system_close(&t->m);
}

mcr_status mcr_falkon_solve(mcr_gram *gram, const mcr_smooth *p, double *w, double *f,
                            mcr_falkon_result *r)
{
    int64_t width = mcr_gram_width(gram);
    *r = (mcr_falkon_result){.stop = MCR_STOP_OPTIMAL, .objective = NAN, .gap = NAN};
    state t = {.ctx = mcr_gram_context(gram),
               .gram = gram,
               .p = p,
               .n = mcr_gram_rows(gram),
               .all = mcr_gram_rows(gram),
               .width = width,
               .columns = p->columns,
               .size = width * p->columns,
               .w = w,
               .f = f,
               .rough = mcr_gram_landmarks(gram).count > 0, /* of others floats are no gain */
               .plain = mcr_gram_landmarks(gram).count > 0,
               .fall = 1,
               .began = mcr_now(),
               .r = r};
    mcr_status s = mcr_gram_is_spread(gram) ? mcr_team_place(t.ctx, t.n, &t.first, &t.all) : MCR_OK;
    memset(f, 0, sizeof *f * (size_t)(t.n * t.columns));
    if (!s)
        s = open_state(&t);
    if (!s)
        s = solve_sample(&t);
    if (!s)
        s = iterate(&t);
    close_state(&t);
    return s;
}
