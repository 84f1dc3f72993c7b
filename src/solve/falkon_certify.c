/* falkon_certify.c: rounding errors of the certificate of a problem on the span of landmarks.
 *
 * The slopes a of the losses at any values h are a point of the dual problem, whether or not h are
 * the values of a function. With the exact values f of the model,
 *
 *   gap = sum_i (loss_i(f_i) - loss_i(h_i) - a_i (f_i - h_i)) + |D'a + mu w|^2 / (2 mu)
 *
 * With h = f as it was computed, an error of f adds its square times half a curvature, and is not
 * divided by mu; only errors of D'a are. If the rounding of f leaves the gradient too large, h = f
 * + D s, with a step s that is not added to w, is a better point.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <float.h>
#include <math.h>

#include "base/sum.h"
#include "solve/falkon_impl.h"

enum { PART = 1024 }; /* rows whose losses are evaluated at a time */

/* Errors of sums in a pass: parts of few rows in order. */
static double sum_share(const mcr_falkon *t)
{
    return DBL_EPSILON * ((double)t->all / 1024 + 256);
}

/* ---- a better point ---------------------------------------------------------------------------*/

static double loss_at_point(const void *self, int64_t first, int64_t count, const double *y,
                            double *a)
{
    const mcr_falkon *t = self;
    (void)y;
    return t->p->loss(t->p->self, first, count, t->df + first * t->columns, a);
}

/* What the losses at f are above their tangents at df. */
static mcr_status above_tangents(const mcr_falkon *t, double *sum)
{
    int64_t k = t->columns;
    double *a = mcr_alloc(t->ctx, PART, (size_t)k * sizeof *a), rest = 0;
    *sum = 0;
    for (int64_t first = 0; first < t->n && a; first += PART) {
        int64_t count = t->n - first < PART ? t->n - first : PART;
        const double *f = t->f + first * k, *h = t->df + first * k;
        mcr_add_exactly(sum, &rest, t->p->loss(t->p->self, first, count, f, a));
        mcr_add_exactly(sum, &rest, -t->p->loss(t->p->self, first, count, h, a));
        for (int64_t e = 0; e < count * k; e++)
            mcr_add_exactly(sum, &rest, -a[e] * (f[e] - h[e]));
    }
    *sum = fmax(*sum + rest, 0);
    mcr_free(t->ctx, a);
    return a ? mcr_gram_total(t->gram, sum, 1) : MCR_NO_MEMORY;
}

/* The gap with the slopes at df. It is used only if it is small enough: far from the optimum the
 * point does not show the effect of rounding. */
static mcr_status measure_point(mcr_falkon *t)
{
    mcr_falkon_result *r = t->r;
    double above, square, mu = t->p->mu;
    mcr_round pass = {.x = mcr_gram_all(t->gram),
                      .precise = true,
                      .outputs = t->columns,
                      .c = t->w,
                      .work = loss_at_point,
                      .self = t,
                      .u = t->step};
    mcr_status s = mcr_gram_span_gradient(t->gram, &pass, mu, &square);
    r->passes++;
    if (!s)
        s = above_tangents(t, &above);
    if (s)
        return s;
    double gradient = mcr_norm(t->step, t->size);
    double gap = above + gradient * gradient / (2 * mu);
    t->polished = gap <= t->p->gap * fabs(r->objective);
    r->stop = t->polished ? MCR_STOP_OPTIMAL : MCR_STOP_STUCK;
    if (!t->polished)
        return MCR_OK;
    for (int64_t i = 0; i < t->size; i++)
        t->g[i] = t->step[i];
    t->above = above;
    r->gradient = gradient;
    r->gap = gap;
    return MCR_OK;
}

mcr_status mcr_falkon_polish(mcr_falkon *t)
{
    size_t all = (size_t)(t->n * t->columns);
    double norm;
    if (!mcr_gram_is_restricted(t->gram))
        return MCR_OK;
    t->df = t->df ? t->df : mcr_alloc(t->ctx, all, sizeof *t->df);
    t->dp = t->dp ? t->dp : mcr_alloc(t->ctx, all, sizeof *t->dp);
    t->rough = false;
    t->polishes = true;
    t->r->stop = MCR_STOP_OPTIMAL; /* until something ends the step */
    mcr_status s = t->df && t->dp ? mcr_falkon_find_step(t, &norm) : MCR_NO_MEMORY;
    if (s || t->r->stop != MCR_STOP_OPTIMAL)
        return s;
    for (size_t i = 0; i < all; i++)
        t->df[i] += t->f[i];
    return measure_point(t);
}

/* ---- errors -----------------------------------------------------------------------------------*/

/* Sums over the rows, with their lengths s_i and the errors v_c of f, from which the bounds are
 * computed. */
typedef struct sums {
    double push;  /* of (a_ic s_i v_c)^2 */
    double apart; /* of |a_ic - b_ic| s_i v_c: slopes at f, and at the point */
    double bends; /* of curvatures times (s_i v)^2 */
    /* Of each column. */
    double *slope; /* of a_ic^2 s_i^2 */
    double *slip;  /* of errors of the slopes, times s_i */
} sums;

/* a: 2 x columns. Slopes may be differences from 1. */
static void add_rows(const mcr_falkon *t, const mcr_span_known *known, double *a, sums *sum)
{
    int64_t k = t->columns;
    double slip = k > 1 ? 4 * DBL_EPSILON : 0, *b = a + k;
    double squares = mcr_dot(known->value, known->value, k);
    const double *at = t->polished ? t->df : t->f;
    for (int64_t i = 0; i < t->n; i++) {
        double weight = t->p->weight ? t->p->weight[i] : 1, length = known->length[i];
        (void)t->p->loss(t->p->self, i, 1, t->f + i * k, a);
        (void)t->p->loss(t->p->self, i, 1, at + i * k, b);
        for (int64_t c = 0; c < k; c++) {
            double push = length * a[c] * known->value[c];
            sum->push += push * push;
            sum->apart += length * fabs(a[c] - b[c]) * known->value[c];
            sum->slope[c] += length * b[c] * length * b[c];
            sum->slip[c] += length * (slip * weight + 4 * DBL_EPSILON * fabs(b[c]));
        }
        sum->bends += weight * t->p->bend * length * length * squares;
    }
}

static mcr_status total_sums(const mcr_falkon *t, sums *sum)
{
    double some[] = {sum->push, sum->apart, sum->bends};
    mcr_status s = mcr_gram_total(t->gram, some, 3);
    if (!s)
        s = mcr_gram_total(t->gram, sum->slope, t->columns);
    if (!s)
        s = mcr_gram_total(t->gram, sum->slip, t->columns);
    sum->push = sqrt(some[0]);
    sum->apart = some[1];
    sum->bends = some[2];
    return s;
}

static void set_errors(mcr_falkon *t, const mcr_span_known *known, const sums *sum)
{
    mcr_falkon_result *r = t->r;
    int64_t k = t->columns;
    double mu = t->p->mu, noise = 0, squares = mcr_dot(known->size, known->size, k);
    for (int64_t c = 0; c < k; c++) {
        double off = known->slope * sqrt(sum->slope[c]) + mu * known->pull * known->size[c] +
                     sum->slip[c];
        noise += off * off;
    }
    noise = sqrt(noise) + known->turned * r->gradient;
    double g = r->gradient + noise, rounding = sum_share(t) * fabs(r->objective);
    /* Where T'K_mm T is not near to 1, the bound is that of kernel values as they were computed. */
    r->as_computed = !(known->apart < 0.5);
    double share = r->as_computed ? 0.5 : known->apart;
    r->gap_error = (g * g / (1 - share) - r->gradient * r->gradient) / (2 * mu) + sum->apart +
                   0.5 * sum->bends + (t->polished ? rounding : 0);
    r->objective_error = sum->push + 0.5 * sum->bends + mu / 2 * known->between * squares +
                         rounding;
    r->distance = sqrt(2 * (r->gap + r->gap_error) / mu);
}

/* With K of the landmarks in extended precision, where the verdict is in doubt. */
static mcr_status look_closer(mcr_falkon *t, mcr_span_known *known, const sums *sum)
{
    mcr_falkon_result *r = t->r;
    double mu = t->p->mu, before = t->square;
    mcr_status s = mcr_gram_span_closer(t->gram, t->w, t->columns, mu, t->g, &t->square, known);
    if (s)
        return s;
    r->objective += mu / 2 * (t->square - before);
    r->gradient = mcr_norm(t->g, t->size);
    r->gap = t->above + r->gradient * r->gradient / (2 * mu);
    if (r->stop == MCR_STOP_OPTIMAL && !(r->gap <= t->p->gap * fabs(r->objective)))
        r->stop = MCR_STOP_STUCK;
    set_errors(t, known, sum);
    return MCR_OK;
}

mcr_status mcr_falkon_certify(mcr_falkon *t)
{
    if (!mcr_gram_is_restricted(t->gram))
        return MCR_OK;
    int64_t k = t->columns;
    double *length = mcr_alloc(t->ctx, (size_t)t->n, sizeof *length);
    double *each = mcr_alloc_zero(t->ctx, (size_t)k, 6 * sizeof *each);
    mcr_span_known known = {.length = length, .size = each, .value = each ? each + k : NULL};
    mcr_status s = length && each ? mcr_gram_span_known(t->gram, t->w, k, &known) : MCR_NO_MEMORY;
    if (!s) {
        sums sum = {.slope = each + 2 * k, .slip = each + 3 * k};
        add_rows(t, &known, each + 4 * k, &sum);
        s = total_sums(t, &sum);
        if (!s)
            set_errors(t, &known, &sum);
        if (!s && (t->r->as_computed || t->r->gap_error > 0.1 * t->p->gap * t->r->objective))
            s = look_closer(t, &known, &sum);
    }
    mcr_free_all(t->ctx, length, each);
    return s;
}
