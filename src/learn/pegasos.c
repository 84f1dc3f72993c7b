/* pegasos.c: the support vector machine without bias by stochastic gradient descent
 * (Shalev-Shwartz, Singer, Srebro and Cotter, 2011), in kernel form.
 *
 *   min  lambda / 2 |w|^2 + mean of max(0, 1 - y_i w.Phi(x_i)),      lambda = 1 / (C n)
 *
 * which is, divided by lambda, the problem of svm --bias no. Step t sees `batch` objects with the
 * coefficients a = b / (lambda t); each with y_i f(x_i) < 1 adds y_i / batch to its b_i. The result
 * is the mean of all a. A change d of b_i at step s is in the coefficients of steps s + 1 .. T, so
 * that it counts d (Q_T - Q_s) / lambda with Q_t = 1 + 1/2 + ... + 1/t: two numbers per object, b_i
 * and the sum of d Q_s, are all that the mean needs. (weighted: step t counts t times, and Q_t is
 * t.)
 *
 * Weights are factors of the losses. Several classes: one problem each, against the rest, all with
 * the same objects in the same steps.
 *
 * The certificate is the relative duality gap. The last coefficients, cut off at the limits of the
 * dual, 0 and C, and scaled by the best factor up to 1, are a feasible point there; the best one
 * seen bounds the optimum. (After whole passes without repetition nothing is cut off.)
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stddef.h>

#include "learn/goal.h"
#include "learn/online.h"

enum { UNIFORM, WEIGHTED, LAST };

typedef struct params {
    double C, lambda, tol, time_limit;
    int64_t passes, max_steps, batch, budget;
    int average, order;
    char *class_weight;
    mcr_form_options form;
} params;

static const mcr_param table[] = {
    {"C", MCR_REAL, offsetof(params, C), NULL, 0, INFINITY, MCR_MIN_OPEN | MCR_MAX_OPEN, NULL,
     "weight of the loss, as in svm (default 1, unless lambda is given)"},
    {"lambda", MCR_REAL, offsetof(params, lambda), NULL, 0, INFINITY, MCR_MIN_OPEN | MCR_MAX_OPEN,
     NULL, "weight of |w|^2 / 2 against the mean loss: C = 1 / (lambda n)"},
    {"passes", MCR_INT, offsetof(params, passes), "1000", 1, 1000000000, 0, NULL,
     "passes over the objects, at most"},
    {"batch", MCR_INT, offsetof(params, batch), "1", 1, 1000000000, 0, NULL, "objects of a step"},
    {"average", MCR_CHOICE, offsetof(params, average), "uniform", 0, 0, 0, "uniform|weighted|last",
     "the result: mean of all steps, mean weighted by step number, or the last"},
    {"order", MCR_CHOICE, offsetof(params, order), "shuffle", 0, 0, 0, "given|shuffle|random",
     "in the order of the data, shuffled before each pass, or drawn one by one (by the seed)"},
    {"budget", MCR_INT, offsetof(params, budget), NULL, 1, INFINITY, 0, NULL,
     "largest number of support vectors; beyond it, the smallest |coefficient| |Phi(x)| is "
     "removed"},
    {"tol", MCR_REAL, offsetof(params, tol), "0.05", 0, INFINITY, MCR_MIN_OPEN, NULL,
     "duality gap, as a share of the objective"},
    MCR_APPROX_PARAMS(params),
    MCR_CLASS_WEIGHT_PARAM(params),
    MCR_TIME_LIMIT_PARAM(params, "seconds after which the model so far is kept"),
    MCR_MAX_STEPS_PARAM(params, "steps after which the model so far is kept"),
    {0},
};

static mcr_status check(mcr *ctx, const void *values)
{
    const params *p = values;
    if (!isnan(p->C) && !isnan(p->lambda))
        return mcr_fail(ctx, MCR_BAD_CALL,
                        "pegasos: C and lambda set the same parameter: give one of them (a "
                        "continued model keeps its own)");
    return p->form.approx && p->budget != INT64_MIN
               ? mcr_online_refuse_approx(ctx, "pegasos", "a budget")
               : MCR_OK;
}

/* What the clock holds beside the steps. */
enum { CLOCK_Q, CLOCK_LAMBDA, CLOCK_AVERAGE, CLOCK_C };

typedef struct run {
    mcr_online o;
    const params *p;
    double lambda;
    double total;     /* of the weights */
    int64_t steps;    /* of this call */
    int64_t passes;   /* complete ones of this call */
    double *score;    /* outputs */
    double *change;   /* objects of a step x outputs */
    double *coef, *f; /* n x lanes, lanes x n: the mean, and a feasible point of the dual */
    int64_t lanes;
    int64_t next_look;   /* after so many passes */
    double primal, dual; /* where it was looked at last; the best */
} run;

/* ---- steps ------------------------------------------------------------------------------------*/

static double sign_of(const run *r, int64_t i, int64_t output)
{
    return r->o.class_of[i] == (r->o.outputs == 1 ? 1 : output) ? 1 : -1;
}

/* The loss of an object counts by its weight against the mean one. */
static double factor_of(const run *r, int64_t i)
{
    return r->o.weight[i] * (double)r->o.visits / r->total;
}

/* One step: objects at .. at + count - 1 of the block. */
static void step(run *r, int64_t at, int64_t count)
{
    mcr_online *o = &r->o;
    double t = ++o->clock.steps, scale = 1 / (r->lambda * t);
    double *q = &o->clock.own[CLOCK_Q];
    *q += r->p->average == UNIFORM ? 1 / t : 1;
    r->steps++;
    for (int64_t d = 0; d < count; d++) {
        int64_t i = o->scores.object[at + d];
        double *change = r->change + d * o->outputs;
        mcr_scores_at(&o->scores, at + d, r->score);
        for (int64_t k = 0; k < o->outputs; k++) {
            double y = sign_of(r, i, k);
            change[k] = y * scale * r->score[k] < 1 ? y * factor_of(r, i) / (double)count : 0;
        }
    }
    for (int64_t d = 0; d < count; d++) {
        bool any = false;
        for (int64_t k = 0; k < o->outputs; k++)
            any |= r->change[d * o->outputs + k] != 0;
        if (any)
            mcr_online_change(o, o->scores.object[at + d], r->change + d * o->outputs, *q);
    }
}

static bool steps_are_over(const run *r)
{
    return r->p->max_steps != INT64_MIN && r->steps >= r->p->max_steps;
}

static mcr_status walk(void *self, mcr_walk *w)
{
    run *r = self;
    mcr_walk_count(w, &r->steps);
    mcr_walk_count(w, &r->passes);
    MCR_WALK(w, r->next_look);
    MCR_WALK(w, r->primal);
    MCR_WALK(w, r->dual);
    return mcr_online_walk(&r->o, w);
}

static mcr_status one_pass(run *r)
{
    mcr_online *o = &r->o;
    mcr_status s = MCR_OK;
    int64_t batch = r->p->batch < o->visits ? r->p->batch : o->visits, count = 0;
    /* Whole steps to a block; a step that fills one needs to see no changes. */
    int64_t most = o->scores.block / batch * batch;
    bool steady = most == batch;
    (void)mcr_online_order(o);
    for (; o->at < o->visits && !s && !steps_are_over(r); o->at += count) {
        if (mcr_online_is_over(o, r->passes, r->p->passes, r->steps, r->primal / r->lambda,
                               (r->primal - r->dual) / r->primal))
            return MCR_OK;
        s = mcr_resume_offer(o->ctx, o->part, walk, r);
        if (s)
            break;
        s = mcr_online_begin(o, most, steady, &count);
        for (int64_t d = 0; d < count && !s && !steps_are_over(r); d += batch)
            step(r, d, count - d < batch ? count - d : batch);
        mcr_status end = mcr_scores_end(&o->scores);
        s = s ? s : end;
    }
    r->passes++;
    return s;
}

/* ---- where it is ------------------------------------------------------------------------------*/

static double last_of(const run *r, int64_t at)
{
    double t = r->o.clock.steps;
    return t > 0 ? r->o.coef[at] / (r->lambda * t) : 0;
}

/* The coefficient of the result. */
static double mean_of(const void *self, int64_t at)
{
    const run *r = self;
    const mcr_online *o = &r->o;
    double t = o->clock.steps, q = o->clock.own[CLOCK_Q];
    if (t == 0)
        return 0;
    switch (r->p->average) {
    case UNIFORM: return (q * o->coef[at] - o->sum[at]) / (r->lambda * t);
    case WEIGHTED: return (q * o->coef[at] - o->sum[at]) / (r->lambda * t * (t + 1) / 2);
    default: return last_of(r, at);
    }
}

/* Both points, and their scores from scratch. */
static mcr_status make_points(run *r, bool precise)
{
    mcr_online *o = &r->o;
    for (int64_t i = 0; i < o->n; i++) {
        double most = factor_of(r, i) / (r->lambda * (double)o->visits);
        for (int64_t k = 0; k < o->outputs; k++) {
            double y = sign_of(r, i, k), a = last_of(r, i * o->outputs + k);
            r->coef[i * r->lanes + k] = mean_of(r, i * o->outputs + k);
            r->coef[i * r->lanes + o->outputs + k] = y * fmin(fmax(y * a, 0), most);
        }
    }
    return mcr_scores_fresh(&o->scores, r->coef, r->lanes, r->f, precise);
}

/* Primal and dual objective, summed over the classes. */
static mcr_status look(run *r, bool precise)
{
    mcr_online *o = &r->o;
    mcr_status s = make_points(r, precise);
    double primal = 0, dual = 0;
    for (int64_t k = 0; k < o->outputs && !s; k++) {
        const double *f = r->f + k * o->n, *g = r->f + (o->outputs + k) * o->n;
        double square = 0, loss = 0, linear = 0, bend = 0;
        for (int64_t i = 0; i < o->n; i++) {
            double y = sign_of(r, i, k), b = r->coef[i * r->lanes + o->outputs + k];
            square += r->coef[i * r->lanes + k] * f[i];
            loss += factor_of(r, i) * fmax(0, 1 - y * f[i]);
            linear += y * b;
            bend += b * g[i];
        }
        double least = linear > 0 && bend > linear ? linear / bend : 1;
        primal += r->lambda / 2 * square + loss / (double)o->visits;
        dual += r->lambda * (least * linear - least * least * bend / 2);
    }
    if (!s && !isfinite(primal + dual))
        s = mcr_fail(o->ctx, MCR_NUMERIC,
                     "pegasos: the numbers are too large: scale the data or the kernel");
    r->primal = primal;
    /* What is certified is the point that the model keeps; floats may have seen a better one. */
    r->dual = precise ? dual : fmax(r->dual, dual);
    return s;
}

static bool is_close(const run *r)
{
    return r->primal - r->dual <= r->p->tol * r->primal;
}

static bool may_go_on(const run *r)
{
    return r->passes < r->p->passes && r->o.stop == MCR_STOP_STEPS && !steps_are_over(r);
}

/* Passes until the gap seems small. It is looked at more and more seldom, as that costs a pass or
 * two. */
static mcr_status some_passes(run *r)
{
    mcr_status s = MCR_OK;
    while (may_go_on(r) && !s) {
        s = one_pass(r);
        if (s || r->passes < r->next_look || r->o.stop != MCR_STOP_STEPS || r->o.first)
            continue;
        s = look(r, r->o.scores.precise);
        r->next_look = r->passes + 1 + r->passes / 2;
        if (is_close(r))
            break;
    }
    return s;
}

/* More data, after others that are gone, are no problem with an optimum. */
static mcr_status all_passes(run *r)
{
    mcr_status s;
    do {
        s = some_passes(r);
        if (!s)
            s = look(r, true);
        if (!s && is_close(r) && r->o.stop == MCR_STOP_STEPS && !r->o.first)
            r->o.stop = MCR_STOP_OPTIMAL;
    } while (may_go_on(r) && !s);
    return s;
}

/* ---- the result -------------------------------------------------------------------------------*/

static mcr_status remark(mcr_fitted *t, const run *r)
{
    mcr_status s = mcr_fitted_remark(t, "%lld steps in %lld pass%s, lambda = %.6g",
                                     (long long)r->steps, (long long)r->passes,
                                     r->passes == 1 ? "" : "es", r->lambda);
    if (!s && r->o.first)
        s = mcr_fitted_remark(t, "primal objective of the new objects alone");
    return s;
}

static mcr_status ending(void *self, mcr_fitted *t, const double *coef)
{
    const run *r = self;
    (void)coef;
    const mcr_online *o = &r->o;
    bool same = o->first == 0;
    t->objective = t->primal = r->primal / r->lambda;
    t->dual = same ? r->dual / r->lambda : NAN;
    t->gap = same ? t->primal - t->dual : NAN;
    t->certificate = o->scores.form.map ? "relative gap of the approximate problem"
                                        : "relative gap";
    t->value = same ? fmax(0, (r->primal - r->dual) / r->primal) : NAN;
    t->tolerance = r->p->tol;
    t->iterations = (int64_t)o->clock.steps;
    mcr_status s = mcr_online_answer(t, o, r->f, r->score);
    return s ? s : remark(t, r);
}

/* With more data, lambda and the kind of mean are those of the start; another C is another weight
 * against it: lambda = 1 / (C n) with the n that the model began with. */
static mcr_status set_problem(run *r)
{
    mcr_online *o = &r->o;
    const params *p = r->p;
    for (int64_t i = 0; i < o->n; i++)
        r->total += o->weight[i];
    double c = isnan(p->C) ? 1 : p->C, *was = &o->clock.own[CLOCK_C];
    r->lambda = !isnan(p->lambda) ? p->lambda : 1 / (c * r->total);
    if (o->resumed && o->clock.own[CLOCK_AVERAGE] != p->average)
        return mcr_fail(o->ctx, MCR_BAD_CALL,
                        "pegasos: the average cannot change when training continues");
    if (o->first && isnan(p->lambda))
        r->lambda = o->clock.own[CLOCK_LAMBDA] * (*was > 0 ? *was / c : 1);
    if (!(r->lambda > 0) || !isfinite(1 / r->lambda))
        return mcr_fail(o->ctx, MCR_BAD_DATA, "pegasos: lambda = %g is not possible", r->lambda);
    *was = isnan(p->lambda) ? c : 0;
    o->clock.own[CLOCK_LAMBDA] = r->lambda;
    o->clock.own[CLOCK_AVERAGE] = p->average;
    return MCR_OK;
}

static mcr_status reserve(run *r)
{
    mcr *ctx = r->o.ctx;
    size_t n = (size_t)r->o.n, outputs = (size_t)r->o.outputs;
    size_t batch = (size_t)(r->p->batch < r->o.n ? r->p->batch : r->o.n);
    r->lanes = 2 * r->o.outputs;
    r->score = mcr_alloc(ctx, outputs, sizeof *r->score);
    r->change = mcr_alloc(ctx, batch, outputs * sizeof *r->change);
    r->coef = mcr_alloc(ctx, n, 2 * outputs * sizeof *r->coef);
    r->f = mcr_alloc(ctx, n, 2 * outputs * sizeof *r->f);
    return r->score && r->change && r->coef && r->f ? MCR_OK : MCR_NO_MEMORY;
}

/* It seldom takes all that it may. */
enum { USUAL_PASSES = 20 };

static mcr_status fit(mcr_fitted **out, const mcr_learning *in)
{
    const params *p = in->params;
    int64_t n = mcr_data_count(in->data);
    run r = {.p = p, .primal = NAN, .dual = 0};
    mcr_online_plan plan = {
        .learner = "pegasos",
        .class_weight = p->class_weight,
        .scores = {.form = &p->form,
                   .passes = p->passes < USUAL_PASSES ? p->passes : USUAL_PASSES,
                   .often = p->passes > 1,
                   .together = p->batch < n ? p->batch : n},
        .order = p->order,
        .budget = p->budget,
        .time_limit = p->time_limit,
    };
    mcr_status s = mcr_online_open(&r.o, in, &plan);
    if (!s)
        s = reserve(&r);
    if (!s)
        s = set_problem(&r);
    bool found;
    if (!s)
        s = mcr_resume_find(in->ctx, r.o.part, walk, &r, &found);
    if (!s)
        s = all_passes(&r);
    if (!s)
        s = mcr_online_finish(out, &r.o, mean_of, ending, &r);
    mcr_free_all(in->ctx, r.score, r.change, r.coef, r.f);
    mcr_online_close(&r.o);
    return s;
}

const mcr_learner_type mcr_learner_pegasos = {
    .name = "pegasos",
    .summary = "support vector machine without bias by stochastic gradient; also online",
    .task = MCR_CLASSIFY,
    .params = table,
    .params_size = sizeof(params),
    .check = check,
    .fit = fit,
    .usual = {.option = "C", .range = "0.0625:64:log6", .instead = "lambda"},
    .convex = true,
    .online = true,
};
