/* falkon.c: Newton's method with conjugate gradients, preconditioned by a sample of the rows.
 *
 * Rudi, Carratino and Rosasco (NIPS 2017) precondition with the landmarks' own rows; with weights
 * that is Marteau-Ferey, Bach and Rudi (NeurIPS 2019) for losses other than the squared one. Here
 * the sample is as large as pays compared with passes over all rows: with several times as many
 * rows as columns the preconditioned Hessian is close to 1, and each step gains most of a digit.
 * The start is the solution of the sample's own problem.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <string.h>

#include "base/team.h"
#include "solve/falkon_impl.h"

enum { PART = 1024 }; /* rows whose losses are evaluated at a time */
#define GAIN 1e-3     /* of the objective: far from the optimum the gradient may not fall */

mcr_status mcr_falkon_is_over(mcr_falkon *t, bool *yes)
{
    mcr_falkon_result *r = t->r;
    double seconds = mcr_now() - t->began;
    double why[2] = {mcr_report_step(t->ctx, t->p->phase, seconds, r->passes, r->objective,
                                     r->gap / fabs(r->objective)),
                     t->p->seconds > 0 && seconds > t->p->seconds};
    mcr_status s = mcr_gram_total(t->gram, why, 2);
    if (!s && why[0] > 0)
        r->stop = MCR_STOP_INTERRUPTED;
    else if (!s && why[1] > 0)
        r->stop = MCR_STOP_TIME;
    *yes = r->stop != MCR_STOP_OPTIMAL;
    return s;
}

/* ---- all rows ---------------------------------------------------------------------------------*/

static double add_loss(const void *self, int64_t first, int64_t count, const double *y, double *a)
{
    const mcr_falkon *t = self;
    return t->p->loss(t->p->self, first, count, y, a);
}

/* f = D w, the gradient, and the bound on the distance to the optimum; in double they belong to the
 * function that a model stores, if that has landmarks. */
static mcr_status measure(mcr_falkon *t, bool precise)
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
    bool stored = precise && mcr_gram_is_restricted(t->gram);
    t->square = 0;
    mcr_status s = stored ? mcr_gram_span_gradient(t->gram, &pass, mu, &t->square)
                          : mcr_gram_factor_round(t->gram, &pass);
    r->passes++;
    for (int64_t k = 0; k < t->size && !s && !stored; k++) {
        t->g[k] += mu * t->w[k];
        t->square += t->w[k] * t->w[k];
    }
    r->objective = pass.sum + mu / 2 * t->square;
    r->gradient = s ? NAN : mcr_norm(t->g, t->size);
    r->gap = r->gradient * r->gradient / (2 * mu);
    r->distance = r->gradient / mu;
    if (!s && !isfinite(r->objective + r->gradient))
        s = mcr_fail(
            t->ctx, MCR_NUMERIC,
            "%s: the numbers are too large: scale the data or the kernel, or use a larger lambda",
            t->p->phase);
    return s;
}

static bool is_optimal(const mcr_falkon *t)
{
    return t->r->gap <= t->p->gap * fabs(t->r->objective);
}

/* The norm of the gradient that is small enough at the current objective. */
static double target(const mcr_falkon *t)
{
    return sqrt(2 * t->p->mu * t->p->gap * fabs(t->r->objective));
}

/* The approximate error of a gradient in float, with slopes and curvatures of the losses of some
 * rows at f. */
static mcr_status float_error(mcr_falkon *t, double *off)
{
    int64_t k = t->columns, row;
    double slope, value, sum[2] = {0, 0}, *g = mcr_alloc(t->ctx, (size_t)k, 3 * sizeof *g);
    mcr_status s = g ? mcr_gram_float_error(t->gram, t->w, k, &slope, &value) : MCR_NO_MEMORY;
    for (int64_t i = 0; i < MCR_FALKON_PROBES && !s; i++) {
        if (!mcr_falkon_probe(t, i, &row))
            continue;
        const double *f = t->f + row * k;
        (void)t->p->loss(t->p->self, row, 1, f, g);
        sum[0] += mcr_dot(g, g, k);
        double h = mcr_falkon_curvature(t, row, f, g + k);
        sum[1] += h * h;
    }
    mcr_free(t->ctx, g);
    if (!s)
        s = mcr_gram_total(t->gram, sum, 2);
    if (s)
        return s;
    double share = (double)t->all / MCR_FALKON_PROBES;
    *off = slope * sqrt(share * sum[0]) + value * sqrt(share * sum[1]);
    return MCR_OK;
}

/* In float if that is accurate enough for a gradient of about that norm; the last one is always in
 * double, which is used at once if this is likely to be the last. */
static mcr_status evaluate(mcr_falkon *t, double expected)
{
    double off = 0;
    mcr_status s = t->plain ? float_error(t, &off) : MCR_OK;
    bool ends = t->r->passes > 0 && expected <= target(t);
    bool blunt = t->plain && off <= 0.02 * expected && !ends;
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
    const mcr_falkon *t = self;
    t->p->curve(t->p->self, first, count, t->f + first * t->columns, y, a);
    return 0;
}

mcr_status mcr_falkon_hessian(mcr_falkon *t, mcr_gram *gram, mcr_round_work *work, const double *v,
                              double *y, double *hv)
{
    mcr_round pass = {.x = mcr_gram_all(gram),
                      .precise = !t->rough,
                      .outputs = t->columns,
                      .c = v,
                      .work = work,
                      .self = t,
                      .y = y,
                      .u = hv};
    mcr_status s = mcr_gram_factor_round(gram, &pass);
    for (int64_t k = 0; k < t->size && !s; k++)
        hv[k] += t->p->mu * v[k];
    return s;
}

static mcr_status apply(void *self, const double *v, double *hv)
{
    mcr_falkon *t = self;
    t->r->passes++;
    return mcr_falkon_hessian(t, t->gram, bend, v, t->dp, hv);
}

static void stepped(void *self, double length)
{
    mcr_falkon *t = self;
    for (int64_t i = 0; i < t->n * t->columns && t->df; i++)
        t->df[i] += length * t->dp[i];
}

static mcr_status over(void *self, double norm, bool *yes)
{
    (void)norm;
    return mcr_falkon_is_over(self, yes);
}

/* The loss of all rows at f + length D step. */
static mcr_status loss_along(mcr_falkon *t, double length, double *buffer, double *sum)
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

/* The length along the step at which the objective falls enough; 0: there is none. */
static mcr_status find_length(mcr_falkon *t, double *length)
{
    enum { HALVES = 40 };
    double mu = t->p->mu, at = t->r->objective, square = mcr_dot(t->step, t->step, t->size), sum;
    double cross = mcr_dot(t->w, t->step, t->size), slope = mcr_dot(t->g, t->step, t->size);
    double base = mu / 2 * t->square;
    double *buffer = mcr_alloc(t->ctx, PART, 2 * (size_t)t->columns * sizeof *buffer);
    mcr_status s = buffer ? MCR_OK : MCR_NO_MEMORY;
    bool found = false;
    *length = 2;
    for (int i = 0; i < HALVES && !s && !found; i++) {
        *length /= 2;
        s = loss_along(t, *length, buffer, &sum);
        double now = sum + base + mu * (*length * cross + *length * *length * square / 2);
        /* Close to the optimum the gain is smaller than rounding. */
        found = now <= at + 1e-4 * *length * slope + 1e-14 * fabs(at);
    }
    *length = found ? *length : 0;
    mcr_free(t->ctx, buffer);
    return s;
}

static mcr_status walk_steps(void *self, mcr_walk *w)
{
    mcr_falkon *t = self;
    mcr_walk_same(w, t->r->steps);
    MCR_WALK(w, t->r->passes);
    return w->status;
}

/* Floats are good for a few steps, or for none where mu is small against their rounding. For a
 * checkpoint the state is kept within the steps of conjugate gradients if these are all that is
 * long and the loop is our own; else where such steps end, which is soon then. */
mcr_status mcr_falkon_find_step(mcr_falkon *t, double *norm)
{
    enum { MOST = 500, MOST_ROUGH = 8, MOST_KEPT = 25 };
    int64_t most = mcr_resume_keeps(t->ctx) && mcr_team_of_rows(t->ctx) ? MOST_KEPT : MOST;
    double share = t->p->quadratic ? (t->rough ? 1e-2 : 0) : t->fall < 0.1 ? 0.01 : 0.05;
    mcr_conjugate c = {.ctx = t->ctx,
                       .size = t->size,
                       .apply = apply,
                       .precondition = mcr_falkon_precondition,
                       .stepped = stepped,
                       .over = over,
                       .self = t,
                       .enough = t->polishes ? 0.2 * target(t)
                                             : fmax(0.7 * target(t), share * t->r->gradient),
                       .most = t->rough ? MOST_ROUGH : most,
                       .part = t->p->quadratic && !t->polishes ? t->steps_part : NULL,
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
static mcr_status renew(mcr_falkon *t)
{
    for (int64_t i = 0; i < t->samples; i++)
        memcpy(t->sf + i * t->columns, t->f + t->row[i] * t->columns,
               sizeof *t->sf * (size_t)t->columns);
    if (t->renewal)
        memcpy(t->renewal, t->w, sizeof *t->w * (size_t)t->size);
    t->renewed = true;
    t->renewed_blunt = t->blunt;
    return mcr_falkon_factorise(t, t->sf, 1);
}

/* A step that increased the objective, because of rounding in float, is undone. */
static mcr_status take_back(mcr_falkon *t, double length)
{
    for (int64_t k = 0; k < t->size; k++)
        t->w[k] -= length * t->step[k];
    t->rough = false;
    return measure(t, true);
}

/* Whether the preconditioner is the Hessian itself: recomputed, it gives the step. */
static bool is_direct(const mcr_falkon *t)
{
    return t->joint && t->whole;
}

/* One step of Newton's method, and where it leads. */
static mcr_status advance(mcr_falkon *t)
{
    enum { SLOW = 8 };
    int64_t slow = is_direct(t) ? 1 : SLOW;
    double length = 1, objective = t->r->objective, gradient = t->r->gradient, slope = 0, norm = 0;
    bool rough = t->rough;
    mcr_status s = !t->p->quadratic && t->steps > slow ? renew(t) : MCR_OK;
    if (!s)
        s = mcr_falkon_find_step(t, &norm);
    if (!s && !t->p->quadratic)
        s = find_length(t, &length);
    slope = s ? 0 : mcr_dot(t->g, t->step, t->size);
    for (int64_t k = 0; k < t->size && !s; k++)
        t->w[k] += length * t->step[k];
    t->r->steps++;
    if (!s)
        s = evaluate(t, fmax(norm, target(t)));
    if (!s && rough && t->r->objective > objective)
        return take_back(t, length);
    /* Else they have given what they can, as where a step is cut to next to nothing. Away from the
     * optimum a step gains what it promised, if K of the landmarks is so well conditioned that
     * floats are not to blame. */
    double promised = -slope * length * (1 - length / 2);
    bool gains = t->quick && length > 0.1 && objective - t->r->objective >= 0.25 * promised;
    t->fall = t->r->gradient / gradient;
    t->rough = rough && (t->fall <= 0.2 || (gains && !t->p->quadratic));
    return s;
}

/* ---- checkpoints ------------------------------------------------------------------------------*/

/* Between two steps. f and the gradient follow from w. */
static mcr_status walk(void *self, mcr_walk *w)
{
    mcr_falkon *t = self;
    mcr_walk_same(w, t->all);
    mcr_walk_same(w, t->size);
    mcr_walk_bytes(w, t->w, sizeof *t->w * (size_t)t->size);
    mcr_walk_flag(w, &t->renewed);
    if (t->renewed)
        mcr_walk_bytes(w, t->renewal, sizeof *t->renewal * (size_t)t->size);
    mcr_walk_flag(w, &t->renewed_blunt);
    mcr_walk_flag(w, &t->rough);
    mcr_walk_flag(w, &t->plain);
    mcr_walk_flag(w, &t->blunt);
    if (w->reads && !w->status && t->plain && !mcr_gram_is_restricted(t->gram))
        mcr_walk_refuse(w); /* of others the error of floats is not known */
    MCR_WALK(w, t->fall);
    mcr_walk_count(w, &t->steps);
    mcr_walk_count(w, &t->in_vain);
    mcr_walk_count(w, &t->r->steps);
    mcr_walk_count(w, &t->r->passes);
    return w->status;
}

/* The preconditioner as it was. */
static mcr_status renew_again(mcr_falkon *t)
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

/* If the sample is small, its solution overshoots: takes the best of some shorter ones. */
static mcr_status shorten(mcr_falkon *t)
{
    enum { HALVES = 3 };
    double *buffer = mcr_alloc(t->ctx, PART, 2 * (size_t)t->columns * sizeof *buffer);
    double square = mcr_dot(t->w, t->w, t->size), least = t->r->objective, best = 1, sum,
           length = 1;
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

/* Starts where an earlier run ended, if there was one; else at the sample's solution. */
static mcr_status begin(mcr_falkon *t)
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

static mcr_status iterate(mcr_falkon *t)
{
    enum { PATIENCE = 3, MORE = 20 };
    mcr_falkon_result *r = t->r;
    int64_t patience = is_direct(t) ? MORE : PATIENCE;
    bool ended = false;
    mcr_status s = begin(t);
    while (!s && !is_optimal(t)) {
        s = mcr_falkon_is_over(t, &ended);
        if (s || ended)
            break;
        double before = r->gradient, was = r->objective;
        if (t->p->most_steps > 0 && r->steps >= t->p->most_steps) {
            r->stop = MCR_STOP_STEPS;
            break;
        }
        if (t->in_vain >= patience) {
            r->stop = MCR_STOP_STUCK;
            break;
        }
        bool rough = t->rough;
        s = advance(t);
        bool gains = r->gradient <= 0.5 * before || r->objective < was - GAIN * fabs(was);
        t->in_vain = rough || gains ? 0 : t->in_vain + 1;
        if (s || r->stop != MCR_STOP_OPTIMAL) /* a step that was cut short is not gone on from */
            break;
        mcr_resume_drop(t->ctx, t->steps_part);
        s = mcr_resume_keep(t->ctx, t->part, walk, t);
    }
    if (!s && t->blunt)
        s = measure(t, true);
    if (!s && r->stop == MCR_STOP_STUCK)
        s = mcr_falkon_polish(t);
    return s ? s : mcr_falkon_certify(t);
}

static mcr_status open_state(mcr_falkon *t)
{
    size_t all = (size_t)(t->n * t->columns) * (t->p->quadratic ? 0 : 1);
    double bytes = (double)t->size * (double)t->size * sizeof(double);
    t->joint = t->columns > 1 && !t->p->quadratic && t->size <= MCR_SMOOTH_DIRECT &&
               bytes <= (double)mcr_gram_restricted_spare(t->gram) / 4;
    size_t size = (size_t)t->size;
    if (!mcr_alloc_arrays(t->ctx, MCR_ARRAY(t->g, size), /* the block to free */
                          MCR_ARRAY(t->step, size), MCR_ARRAY(t->df, all), MCR_ARRAY(t->dp, all)))
        return MCR_NO_MEMORY;
    if (!all)
        t->df = t->dp = NULL;
    mcr_status s = mcr_system_open(&t->m, t->ctx, t->joint ? t->size : t->width, t->p->phase);
    return s ? s : mcr_falkon_open_sample(t);
}

static void close_state(mcr_falkon *t)
{
    mcr_gram_close(t->sample);
    mcr_free_all(t->ctx, t->dense, t->renewal, t->g, t->row);
    mcr_budget_give(t->ctx, t->taken);
    mcr_system_close(&t->m);
}

mcr_status mcr_falkon_solve(mcr_gram *gram, const mcr_smooth *p, double *w, double *f,
                            mcr_falkon_result *r)
{
    int64_t width = mcr_gram_width(gram);
    *r = (mcr_falkon_result){.stop = MCR_STOP_OPTIMAL, .objective = NAN, .gap = NAN};
    mcr_falkon t = {.ctx = mcr_gram_context(gram),
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
    mcr_status s = mcr_gram_place(gram, t.n, &t.first, &t.all);
    memset(f, 0, sizeof *f * (size_t)(t.n * t.columns));
    if (!s)
        s = open_state(&t);
    if (!s)
        s = mcr_falkon_solve_sample(&t);
    if (!s)
        s = iterate(&t);
    close_state(&t);
    return s;
}
