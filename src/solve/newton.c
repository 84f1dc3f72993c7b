/* newton.c: Newton's method with conjugate gradients.
 *
 * Newton's step d solves (mu + H G) d = -(mu a + gradient), H the Hessian of the loss. The operator
 * is self-adjoint in the inner product <u, v> = u' G v, so conjugate gradients are taken there:
 * small eigenvalues of G all become mu, and the steps needed are few where the spectrum of G falls
 * quickly, as it does for kernels. All vectors are stored with their products with G, so that one
 * product per step is enough. (Truncated Newton: Nash, 2000; the metric: Chapelle, 2007.)
 *
 * If G is close to L L^T with few columns, as for smooth kernels on few features, the problem is
 * first solved with L L^T in place of G; after many products, more columns are tried. The Newton
 * step is then computed directly (newton_factor.h), or, if that is too large, by products that are
 * many times cheaper. The few remaining steps are computed in the same way, but their lengths and
 * residuals use G.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "solve/newton.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/resume.h"
#include "gram/stored.h"
#include "linalg/blas.h"
#include "solve/newton_factor.h"

/* A vector and its product with G. */
typedef struct both {
    double *v, *gv;
} both;

typedef struct state {
    mcr *ctx;
    mcr_gram *gram;
    const mcr_smooth *p;
    int64_t count;  /* n x columns */
    mcr_gram *kept; /* G in memory; NULL: products are computed from the objects */
    mcr_gram *low;  /* L of a low rank, found here; NULL: none */
    /* Of L: that, or the Gram itself where it has one. It uses `direction`, `curved.v` and, for as
     * long as the factor is reused, `residual.v`. */
    mcr_newton_factor factor;
    bool use_low;     /* products go through the factor */
    bool known;       /* the result is that of G, not of a low rank */
    int64_t patience; /* products after which an iteration ends; 0: no limit */
    both rest, step, residual, direction, curved;
    double *gradient, *trial;
    double loss;
    double began;
    double product; /* seconds of the last one */
    double reach;   /* of features: what rounding of f makes of rest, for each unit of |a|_1 */
    mcr_smooth_result *result;
    /* Where it is, for a checkpoint. */
    int stage;
    int64_t round, round_steps; /* of the last stage: number, and steps when it began */
    bool goes_on;               /* the state was read, and has not been taken up yet */
    double *a, *at;             /* coefficients and f of that */
    char part[MCR_PART_NAME];
} state;

/* With a low rank found at once; with G for a few products; with a low rank after those; with G. */
enum { AT_LOW, AT_PATIENT, AT_LATER_LOW, AT_ROUNDS };

static mcr_status multiply(state *t, const double *v, double *gv)
{
    double began = mcr_now();
    t->result->products++;
    mcr_status s = t->use_low
                       ? mcr_newton_factor_multiply(&t->factor, v, gv)
                       : mcr_gram_multiply(t->kept ? t->kept : t->gram, v, t->p->columns, gv);
    t->product = mcr_now() - began;
    return s;
}

static double dot(const state *t, const double *x, const double *y)
{
    return mcr_dot(x, y, t->count);
}

static void add(const state *t, double *to, double c, const double *x)
{
    for (int64_t i = 0; i < t->count; i++)
        to[i] += c * x[i];
}

/* The loss of all objects at f, with its gradient. */
static double loss_at(const state *t, const double *f)
{
    return t->p->loss(t->p->self, 0, t->count / t->p->columns, f, t->gradient);
}

static void curve_at(const state *t, const double *f, const double *v, double *hv)
{
    t->p->curve(t->p->self, 0, t->count / t->p->columns, f, v, hv);
}

/* t->reach, of features. `curved` is free here. */
static mcr_status measure_reach(state *t)
{
    int64_t n = t->count / t->p->columns;
    mcr_error r = {0, 0};
    double *square = t->curved.v, most = 0, heaviest = 0;
    mcr_status s = mcr_gram_error(t->gram, true, &r);
    if (!s)
        s = mcr_gram_diagonal(t->gram, 0, square);
    for (int64_t i = 0; i < n && !s; i++) {
        most = fmax(most, square[i]);
        heaviest = fmax(heaviest, t->p->weight ? t->p->weight[i] : 1);
    }
    double share = isfinite(r.absolute) ? r.absolute : MCR_UNKNOWN_ERROR;
    t->reach = t->p->bend * heaviest * most * (share + 0.5 * DBL_EPSILON * (double)n);
    return s;
}

/* f = G a from scratch. By features in extended precision, if the rounding of sums of coefficients,
 * which are large where mu is small, could be seen in the certificate; `direction` and `curved` are
 * free here. */
static mcr_status multiply_from_scratch(state *t, const double *a, double *f)
{
    const double seen = 0.1;
    double size = 0;
    mcr_status s = multiply(t, a, f);
    if (s || t->factor.l != t->gram || !isfinite(t->p->identity))
        return s;
    if (!(t->reach > 0))
        s = measure_reach(t);
    for (int64_t i = 0; i < t->count; i++)
        size += fabs(a[i]);
    if (s || size * t->reach <= seen * t->p->identity)
        return s;
    mcr_extended to = {.n = t->count / t->p->columns, .outputs = t->p->columns, .a = a};
    to.f = t->direction.v;
    to.low = t->direction.gv;
    s = mcr_gram_extended(t->gram, &to);
    if (!s && isfinite(to.share))
        memcpy(f, to.f, sizeof *f * (size_t)t->count);
    return s;
}

/* ---- where it is ------------------------------------------------------------------------------*/

/* Objective, gradient, rest = -(mu a + gradient), and the distance to the optimum. */
static mcr_status look(state *t, const double *a, const double *f)
{
    mcr_smooth_result *r = t->result;
    t->loss = loss_at(t, f);
    for (int64_t i = 0; i < t->count; i++)
        t->rest.v[i] = -(t->p->mu * a[i] + t->gradient[i]);
    mcr_status s = multiply(t, t->rest.v, t->rest.gv);
    r->objective = t->loss + t->p->mu / 2 * dot(t, a, f);
    r->rest = mcr_largest_of(t->rest.v, t->count);
    r->gap = fmax(0, dot(t, t->rest.v, t->rest.gv) / (2 * t->p->mu));
    if (!s)
        t->known = !t->use_low || t->factor.l == t->gram;
    if (!s && !isfinite(r->objective + r->rest + r->gap))
        s = mcr_fail(
            t->ctx, MCR_NUMERIC,
            "%s: the numbers are too large: scale the data or the kernel, or use a larger lambda",
            t->p->phase);
    return s;
}

static bool is_optimal(const state *t)
{
    const mcr_smooth_result *r = t->result;
    return r->rest <= t->p->identity &&
           (isinf(t->p->gap) || r->gap <= t->p->gap * fabs(r->objective));
}

/* Whether to end, by time or the user. Three more products make the certificate. */
static bool is_over(state *t)
{
    mcr_smooth_result *r = t->result;
    double seconds = mcr_now() - t->began;
    if (mcr_report_step(t->ctx, t->p->phase, seconds, r->steps, r->objective, r->rest))
        r->stop = MCR_STOP_INTERRUPTED;
    else if (t->p->seconds > 0 && seconds + 3.3 * t->product > t->p->seconds)
        r->stop = MCR_STOP_TIME;
    return r->stop != MCR_STOP_OPTIMAL;
}

static bool is_tired(const state *t)
{
    return t->patience > 0 && t->result->products >= t->patience;
}

/* ---- the step ---------------------------------------------------------------------------------*/

/* step = (mu + H G)^-1 rest, as exactly as pays at this distance from the optimum. Every step of
 * conjugate gradients lowers the objective, so it can end at any time. */
static mcr_status conjugate(state *t, const double *f)
{
    enum { MOST = 1000 };
    size_t bytes = sizeof(double) * (size_t)t->count;
    double norm = sqrt(dot(t, t->rest.v, t->rest.v)), square = dot(t, t->rest.v, t->rest.gv);
    double share = fmin(0.1, sqrt(norm / sqrt((double)t->count))), first = square;
    share = fmax(share, 1e-10);
    memset(t->step.v, 0, bytes);
    memset(t->step.gv, 0, bytes);
    memcpy(t->residual.v, t->rest.v, bytes);
    memcpy(t->residual.gv, t->rest.gv, bytes);
    memcpy(t->direction.v, t->rest.v, bytes);
    memcpy(t->direction.gv, t->rest.gv, bytes);
    for (int i = 0; i < MOST && square > 0; i++) {
        curve_at(t, f, t->direction.gv, t->curved.v);
        mcr_status s = multiply(t, t->curved.v, t->curved.gv);
        if (s)
            return s;
        add(t, t->curved.v, t->p->mu, t->direction.v);
        add(t, t->curved.gv, t->p->mu, t->direction.gv);
        double bend = dot(t, t->direction.gv, t->curved.v);
        if (!(bend > 0)) /* rounding, or a kernel that is not PSD */
            break;
        double c = square / bend, before = square;
        add(t, t->step.v, c, t->direction.v);
        add(t, t->step.gv, c, t->direction.gv);
        add(t, t->residual.v, -c, t->curved.v);
        add(t, t->residual.gv, -c, t->curved.gv);
        square = dot(t, t->residual.v, t->residual.gv);
        if ((sqrt(dot(t, t->residual.v, t->residual.v)) <= share * norm &&
             square <= share * share * first) ||
            is_tired(t) || is_over(t))
            break;
        for (int64_t j = 0; j < t->count; j++) {
            t->direction.v[j] = t->residual.v[j] + square / before * t->direction.v[j];
            t->direction.gv[j] = t->residual.gv[j] + square / before * t->direction.gv[j];
        }
    }
    return MCR_OK;
}

/* All of G in memory, if it fits into the budget. */
static mcr_status keep(state *t)
{
    double n = (double)mcr_gram_rows(t->gram);
    if (t->kept || n * (n + 16) * sizeof(double) > (double)mcr_budget_left(t->ctx))
        return MCR_OK;
    return mcr_gram_keep(&t->kept, t->gram, t->p->phase);
}

/* Products go through the factor from now on. */
static mcr_status use_factor(state *t, mcr_gram *l)
{
    t->use_low = true;
    return mcr_newton_factor_use(&t->factor, l);
}

/* No more direct steps: mu is too small for a factor of the inner system, or the low rank is too
 * far from G. */
static mcr_status leave_factor(state *t)
{
    mcr_system_close(&t->factor.inner);
    t->factor.factored = false;
    return t->use_low ? MCR_OK : keep(t);
}

/* The Newton step. With a low rank in place of G it is close to the step with G. */
static mcr_status find_step(state *t, const double *f)
{
    mcr_status s = t->factor.inner.a ? mcr_newton_factor_step(&t->factor, f, t->rest.v, t->step.v)
                                     : MCR_NUMERIC;
    if (s != MCR_NUMERIC)
        return s ? s : multiply(t, t->step.v, t->step.gv);
    s = t->factor.inner.a ? leave_factor(t) : MCR_OK;
    return s ? s : conjugate(t, f);
}

/* Moves along the step as far as the objective falls enough; false: it does not. */
static bool advance(state *t, double *a, double *f, double *went)
{
    enum { HALVES = 40 };
    double slope = -dot(t, t->rest.v, t->step.gv), cross = dot(t, t->step.v, f);
    double bend = dot(t, t->step.v, t->step.gv), at = t->result->objective;
    double base = at - t->loss; /* the penalty */
    double share = 1;
    for (int i = 0; i < HALVES && slope < 0; i++, share /= 2) {
        for (int64_t j = 0; j < t->count; j++)
            t->trial[j] = f[j] + share * t->step.gv[j];
        double loss = loss_at(t, t->trial);
        double now = loss + base + t->p->mu * (share * cross + share * share * bend / 2);
        /* Close to the optimum the gain is smaller than rounding. */
        if (now <= at + 1e-4 * share * slope + 1e-14 * fabs(at)) {
            add(t, a, share, t->step.v);
            memcpy(f, t->trial, sizeof *f * (size_t)t->count);
            *went = share;
            return true;
        }
    }
    return false;
}

/* ---- all of it --------------------------------------------------------------------------------*/

static mcr_status open_state(state *t, mcr_gram *gram, const mcr_smooth *p,
                             mcr_smooth_result *result)
{
    int64_t n = mcr_gram_rows(gram);
    *result = (mcr_smooth_result){.stop = MCR_STOP_OPTIMAL};
    *t = (state){.ctx = mcr_gram_context(gram), .gram = gram, .p = p, .result = result};
    t->count = n * p->columns;
    t->began = mcr_now();
    if (!mcr_alloc_doubles(t->ctx, (size_t)t->count, &t->rest.v, &t->rest.gv, &t->step.v,
                           &t->step.gv, &t->residual.v, &t->residual.gv, &t->direction.v,
                           &t->direction.gv, &t->curved.v, &t->curved.gv, &t->gradient, &t->trial))
        return MCR_NO_MEMORY;
    t->factor = (mcr_newton_factor){.p = p,
                                    .n = n,
                                    .at = t->residual.v,
                                    .work = {t->direction.v, t->direction.gv, t->curved.v}};
    if (mcr_gram_width(gram) > 0)
        return use_factor(t, gram);
    mcr_status s = mcr_newton_low_rank_early(&t->low, gram, p->mu, t->trial);
    return s || t->low ? s : keep(t);
}

static void close_state(state *t)
{
    mcr_free_all(t->ctx, t->rest.v, t->rest.gv, t->step.v, t->step.gv, t->residual.v,
                 t->residual.gv, t->direction.v, t->direction.gv, t->curved.v, t->curved.gv,
                 t->gradient, t->trial);
    mcr_newton_factor_close(&t->factor, t->ctx);
    mcr_gram_close(t->low);
    mcr_gram_close(t->kept);
}

/* If the residual is in the null space of G (objects that are 0, or equal ones), conjugate
 * gradients cannot reduce it: the coefficients then follow from the gradient, a = -gradient / mu,
 * and f is unchanged. */
static mcr_status settle(state *t, double *a, double *f)
{
    const mcr_smooth_result *r = t->result;
    if (is_optimal(t) || !(r->gap <= 1e-13 * fabs(r->objective)))
        return MCR_OK;
    add(t, a, 1 / t->p->mu, t->rest.v);
    mcr_status s = multiply_from_scratch(t, a, f);
    return s ? s : look(t, a, f);
}

/* Products with G that do not reach the optimum: G is too close to singular for doubles. */
enum { MOST_PRODUCTS = 50000 };

/* The state after a step; if there is no time to compute it, the last known state. */
static mcr_status look_or_return(state *t, double share, double *a, double *f)
{
    mcr_smooth_result last = *t->result;
    mcr_status s = look(t, a, f);
    if (s != MCR_STOPPED)
        return s;
    last.products = t->result->products;
    *t->result = last;
    add(t, a, -share, t->step.v);
    add(t, f, -share, t->step.gv);
    t->result->steps--;
    return s;
}

static void walk_result(mcr_smooth_result *r, mcr_walk *w)
{
    mcr_walk_stop(w, &r->stop);
    mcr_walk_count(w, &r->steps);
    mcr_walk_count(w, &r->products);
    MCR_WALK(w, r->objective);
    MCR_WALK(w, r->rest);
    MCR_WALK(w, r->gap);
}

/* Between two steps: those are the numbers; Grams and factors are made again. */
static mcr_status walk(void *self, mcr_walk *w)
{
    state *t = self;
    size_t bytes = sizeof(double) * (size_t)t->count;
    enum { LOW, USE_LOW, INNER, KEPT, FACTORED, FLAGS };
    bool has[FLAGS] = {t->factor.space && t->factor.l != t->gram, t->use_low, t->factor.inner.a,
                       t->kept, t->factor.factored};
    mcr_walk_same(w, t->count);
    for (int i = 0; i < FLAGS; i++)
        mcr_walk_flag(w, &has[i]);
    MCR_WALK(w, t->stage);
    mcr_walk_count(w, &t->round);
    mcr_walk_count(w, &t->round_steps);
    mcr_walk_count(w, &t->patience);
    mcr_walk_flag(w, &t->known);
    MCR_WALK(w, t->loss);
    walk_result(t->result, w);
    mcr_walk_bytes(w, t->a, bytes);
    mcr_walk_bytes(w, t->at, bytes);
    mcr_walk_bytes(w, t->rest.v, bytes);
    mcr_walk_bytes(w, t->rest.gv, bytes);
    if (has[FACTORED])
        mcr_walk_bytes(w, t->residual.v, bytes);
    if (w->status || !w->reads)
        return w->status;
    mcr_status s = has[KEPT] ? keep(t) : MCR_OK;
    if (!s && has[LOW] && !t->low)
        s = mcr_newton_low_rank(&t->low, t->kept);
    if (!s && has[LOW] && !t->low)
        return mcr_walk_refuse(w);
    if (!s && has[LOW])
        s = use_factor(t, t->low);
    if (!has[INNER])
        mcr_system_close(&t->factor.inner);
    t->use_low = has[USE_LOW];
    t->factor.factored = has[FACTORED];
    if (!s && t->factor.factored)
        s = t->factor.inner.a ? mcr_newton_factor_fill(&t->factor, t->residual.v)
                              : mcr_walk_refuse(w);
    return s;
}

static mcr_status begin(state *t, double *a, double *f)
{
    mcr_status s = MCR_OK;
    if (mcr_largest_of(a, t->count) > 0)
        s = multiply_from_scratch(t, a, f);
    else
        memset(f, 0, sizeof *f * (size_t)t->count);
    return s ? s : look(t, a, f);
}

/* After a step that left the given share of the rest: whether the next one reuses the factor. With
 * a low rank such a step is cheap; with G it takes two products. */
static mcr_status evaluate_factor(state *t, bool reused, double left)
{
    if (!t->use_low && !reused && left > 0.5)
        return leave_factor(t);
    t->factor.factored = left <= (t->use_low ? 0.5 : 0.1);
    return MCR_OK;
}

static mcr_status iterate(state *t, double *a, double *f)
{
    double share = 0;
    bool begins = !t->goes_on;
    t->goes_on = false;
    mcr_status s = begins ? begin(t, a, f) : MCR_OK;
    bool known = !s;
    if (!s && begins)
        s = settle(t, a, f);
    while (!s && !is_optimal(t) && !is_tired(t) && !is_over(t)) {
        if (t->p->most_steps > 0 && t->result->steps >= t->p->most_steps) {
            t->result->stop = MCR_STOP_STEPS;
            break;
        }
        if (t->result->products > MOST_PRODUCTS) {
            t->result->stop = MCR_STOP_STUCK;
            break;
        }
        double before = t->result->rest;
        bool reused = t->factor.factored;
        s = mcr_resume_offer(t->ctx, t->part, walk, t);
        if (!s)
            s = find_step(t, f);
        if (s)
            break;
        if (!advance(t, a, f, &share)) {
            if (reused) {
                t->factor.factored = false;
                continue;
            }
            if (!t->use_low && t->factor.inner.a) {
                s = leave_factor(t);
                continue;
            }
            t->result->stop = t->result->stop ? t->result->stop : MCR_STOP_STUCK;
            break;
        }
        t->result->steps++;
        s = look_or_return(t, share, a, f);
        if (!s)
            s = settle(t, a, f);
        if (!s && t->factor.factored)
            s = evaluate_factor(t, reused, t->result->rest / before);
    }
    if (s == MCR_STOPPED && known) { /* the last state is a model */
        t->result->stop = MCR_STOP_INTERRUPTED;
        s = MCR_OK;
    }
    return s;
}

/* As far as it gets with a low rank in place of G. */
static mcr_status approach(state *t, double *a, double *f)
{
    mcr_status s = MCR_OK;
    if (!t->goes_on) {
        t->patience = 0;
        s = t->low ? MCR_OK : mcr_newton_low_rank(&t->low, t->kept);
        if (!s && t->low)
            s = use_factor(t, t->low);
    }
    if (s || !t->low)
        return s;
    s = iterate(t, a, f);
    t->use_low = false;
    if (t->result->stop == MCR_STOP_STUCK)
        t->result->stop = MCR_STOP_OPTIMAL; /* with G it may go on */
    return s;
}

/* Where G is singular, as with objects that repeat, rest may be large though G rest is 0: f is that
 * of the optimum, but a is not what the identity says. a + rest / mu has the same f, and is. It is
 * taken where that is so. */
static mcr_status polish(state *t, double *a, double *f)
{
    double before = t->result->rest, objective = t->result->objective;
    memcpy(t->step.v, a, sizeof *a * (size_t)t->count);
    add(t, a, 1 / t->p->mu, t->rest.v);
    mcr_status s = multiply_from_scratch(t, a, f);
    if (!s)
        s = look(t, a, f);
    if (!s && t->result->rest < before &&
        t->result->objective <= objective + 1e-12 * fabs(objective))
        return MCR_OK;
    memcpy(a, t->step.v, sizeof *a * (size_t)t->count);
    if (!s)
        s = multiply_from_scratch(t, a, f);
    return s ? s : look(t, a, f);
}

/* f from scratch, and what follows from it. After the time limit the last state stays, if it is one
 * of G. */
static mcr_status refresh(state *t, const double *a, double *f)
{
    mcr_smooth_result last = *t->result;
    bool known = t->known;
    mcr_status s = multiply_from_scratch(t, a, t->trial);
    if (!s) {
        memcpy(f, t->trial, sizeof *f * (size_t)t->count);
        s = look(t, a, f);
    }
    if (s != MCR_STOPPED || last.stop == MCR_STOP_OPTIMAL || !known)
        return s;
    *t->result = last;
    return MCR_OK;
}

/* As far as possible without products with G. */
static mcr_status come_near(state *t, double *a, double *f)
{
    enum { PATIENCE = 60 };
    mcr_status s = MCR_OK;
    bool later = t->goes_on && t->stage == AT_LATER_LOW;
    if (t->low && !later) {
        t->stage = AT_LOW;
        s = approach(t, a, f);
        return s || t->factor.inner.a ? s : keep(t);
    }
    if (!t->kept)
        return MCR_OK;
    if (!later) {
        t->stage = AT_PATIENT;
        t->patience = PATIENCE;
        s = iterate(t, a, f);
    }
    if (later || (!s && !is_optimal(t) && t->result->stop == MCR_STOP_OPTIMAL)) {
        t->stage = AT_LATER_LOW;
        s = approach(t, a, f);
    }
    t->patience = 0;
    return s;
}

mcr_status mcr_smooth_solve(mcr_gram *gram, const mcr_smooth *p, double *a, double *f,
                            mcr_smooth_result *result)
{
    enum { AGAIN = 3 };
    state t;
    bool fresh = false; /* f is from scratch */
    mcr_status s = open_state(&t, gram, p, result);
    t.a = a;
    t.at = f;
    mcr_resume_name(t.ctx, "newton", t.part);
    if (!s)
        s = mcr_resume_find(t.ctx, t.part, walk, &t, &t.goes_on);
    if (!s && !(t.goes_on && t.stage == AT_ROUNDS))
        s = come_near(&t, a, f);
    if (!t.goes_on)
        t.round = 0;
    t.stage = AT_ROUNDS;
    /* f is updated by the steps; each round starts with a recomputed f. */
    for (; t.round < AGAIN && !s && result->stop == MCR_STOP_OPTIMAL; t.round++) {
        if (!t.goes_on)
            t.round_steps = result->steps;
        s = iterate(&t, a, f);
        fresh = result->steps == t.round_steps;
        if (result->stop != MCR_STOP_OPTIMAL || result->steps == t.round_steps)
            break;
    }
    if (!s && (!t.known || (result->steps > 0 && !fresh)))
        s = refresh(&t, a, f);
    if (!s && !is_optimal(&t) &&
        (result->stop == MCR_STOP_OPTIMAL || result->stop == MCR_STOP_STUCK))
        s = polish(&t, a, f);
    if (!s && is_optimal(&t))
        result->stop = MCR_STOP_OPTIMAL;
    else if (!s && result->stop == MCR_STOP_OPTIMAL)
        result->stop = MCR_STOP_STUCK;
    close_state(&t);
    return s;
}
