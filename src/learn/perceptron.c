/* perceptron.c: learns from its mistakes: an object on the wrong side is added to the weights.
 *
 *   if y_i f(x_i) <= 0:  a_i += w_i,   f(x) = sum a_j y_j K(x_j, x) + bias
 *
 * w_i is the object's weight, and the bias is the weight of one more feature, 1, of every object.
 * Of more than two classes each has a function: a mistake adds the object to that of its own class
 * and takes it from that of the class with the largest score among the others. (Rosenblatt, 1958;
 * voted and averaged: Freund and Schapire, 1999.)
 *
 * A score of 0 is a mistake. What is 0 but for rounding counts as 0, so that kernel values and
 * explicit features, which round differently, lead to the same mistakes in the same order.
 *
 * The last perceptron w is certified by fresh scores: the share of objects on its wrong side. Where
 * there are none, the margin of w bounds the mistakes: they were not more than (R / margin)^2, R
 * being the length of the longest object (Novikoff, 1962); for several classes twice that.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "learn/goal.h"
#include "learn/online.h"

enum { LAST, AVERAGED, VOTED };

typedef struct params {
    int64_t passes, budget;
    int bias, variant, order;
    double time_limit;
    char *class_weight;
    mcr_form_options form;
} params;

static const mcr_param table[] = {
    {"passes", MCR_INT, offsetof(params, passes), "10", 1, 1000000000, 0, NULL,
     "largest number of passes over the objects; a pass without a mistake is the last"},
    {"bias", MCR_FLAG, offsetof(params, bias), "yes", 0, 0, 0, NULL,
     "add a constant feature 1 to all objects"},
    {"variant", MCR_CHOICE, offsetof(params, variant), "last", 0, 0, 0, "last|averaged|voted",
     "predict with the last weights, their mean over all steps, or a vote of all of them"},
    {"order", MCR_CHOICE, offsetof(params, order), "given", 0, 0, 0, "given|shuffle",
     "visit objects in the order of the data, or shuffled before each pass (by the seed)"},
    {"budget", MCR_INT, offsetof(params, budget), NULL, 1, INFINITY, 0, NULL,
     "largest number of support vectors; beyond it, the smallest |coefficient| |Phi(x)| is "
     "removed"},
    MCR_APPROX_PARAMS(params),
    MCR_CLASS_WEIGHT_PARAM(params),
    MCR_TIME_LIMIT_PARAM(params, "seconds after which the model so far is kept"),
    {0},
};

static mcr_status check(mcr *ctx, const void *values)
{
    const params *p = values;
    if (p->variant == VOTED && p->budget != INT64_MIN)
        return mcr_fail(ctx, MCR_BAD_CALL,
                        "perceptron: a budget drops objects that voted perceptrons need: use the "
                        "variant last or averaged");
    if (p->form.approx && (p->variant == VOTED || p->budget != INT64_MIN))
        return mcr_online_refuse_approx(ctx, "perceptron",
                                        p->variant == VOTED ? "the variant voted" : "a budget");
    return MCR_OK;
}

typedef struct run {
    mcr_online o;
    const params *p;
    mcr_votes votes;
    double *mistakes; /* of each pass */
    int64_t passes, capacity;
    double total;
    double *score, *change; /* outputs */
} run;

/* ---- steps ------------------------------------------------------------------------------------*/

/* The class with the largest score among the others; of those equal but for rounding the first. */
static int64_t rival(const double *score, int64_t outputs, int64_t own, double rounding)
{
    double most = -INFINITY;
    for (int64_t c = 0; c < outputs; c++)
        most = c == own ? most : fmax(most, score[c]);
    for (int64_t c = 0; c < outputs; c++)
        if (c != own && score[c] >= most - rounding)
            return c;
    return -1;
}

/* How far an object is on its right side; *other: the class it is held against (two classes:
 * -1). */
static double margin(const run *r, int64_t i, const double *score, int64_t *other)
{
    int64_t own = r->o.class_of[i];
    *other = -1;
    if (r->o.outputs == 1)
        return own ? score[0] : -score[0];
    *other = rival(score, r->o.outputs, own, mcr_online_rounding(&r->o, i));
    return score[own] - score[*other];
}

/* Adds object i to its class. */
static mcr_status learn_from(run *r, int64_t i, int64_t other)
{
    mcr_online *o = &r->o;
    double w = o->weight[i];
    int32_t own = o->class_of[i];
    bool two = o->outputs == 1;
    memset(r->change, 0, sizeof *r->change * (size_t)o->outputs);
    r->change[two ? 0 : own] = two && !own ? -w : w;
    if (other >= 0)
        r->change[other] = -w;
    mcr_online_change(o, i, r->change, o->clock.steps);
    if (r->p->variant != VOTED)
        return MCR_OK;
    return mcr_votes_add(&r->votes, i, two ? 0 : own, (int32_t)other, r->change[two ? 0 : own],
                         o->clock.steps);
}

/* The objects of one block. */
static mcr_status one_block(run *r, int64_t count, double *mistakes)
{
    mcr_online *o = &r->o;
    mcr_status s = MCR_OK;
    for (int64_t d = 0; d < count && !s; d++) {
        int64_t i = o->scores.object[d], other;
        mcr_scores_at(&o->scores, d, r->score);
        o->clock.steps++;
        if (margin(r, i, r->score, &other) > mcr_online_rounding(o, i))
            continue;
        *mistakes += 1;
        s = learn_from(r, i, other);
    }
    mcr_status end = mcr_scores_end(&o->scores);
    return s ? s : end;
}

static mcr_status walk(void *self, mcr_walk *w)
{
    run *r = self;
    int64_t passes = r->passes;
    MCR_WALK(w, passes);
    mcr_status s = w->status;
    if (!s && w->reads)
        s = passes < 0 || (size_t)passes >= (size_t)(w->end - w->at) / sizeof *r->mistakes
                ? mcr_walk_refuse(w)
                : mcr_reserve(r->o.ctx, &r->mistakes, &r->capacity, passes + 1,
                              sizeof *r->mistakes);
    if (s)
        return s;
    r->passes = passes;
    mcr_walk_bytes(w, r->mistakes, sizeof *r->mistakes * (size_t)(passes + 1));
    MCR_WALK(w, r->total);
    s = mcr_votes_walk(&r->votes, &r->o, w);
    return s ? s : mcr_online_walk(&r->o, w);
}

static mcr_status one_pass(run *r, double *mistakes)
{
    mcr_online *o = &r->o;
    mcr_status s = MCR_OK;
    int64_t count = 0;
    if (!mcr_online_order(o))
        *mistakes = 0;
    for (; o->at < o->visits && !s; o->at += count) {
        if (mcr_online_is_over(o, r->passes, r->p->passes, (int64_t)o->clock.steps,
                               r->total + *mistakes, NAN))
            break;
        s = mcr_resume_offer(o->ctx, o->part, walk, r);
        if (!s)
            s = mcr_online_begin(o, o->scores.block, false, &count);
        if (!s)
            s = one_block(r, count, mistakes);
    }
    return s;
}

static mcr_status all_passes(run *r)
{
    mcr_status s = MCR_OK;
    while (r->passes < r->p->passes && r->o.stop == MCR_STOP_STEPS && !s) {
        s = mcr_reserve(r->o.ctx, &r->mistakes, &r->capacity, r->passes + 1, sizeof *r->mistakes);
        if (s)
            break;
        s = one_pass(r, &r->mistakes[r->passes]);
        r->total += r->mistakes[r->passes];
        if (!s && r->o.stop == MCR_STOP_STEPS && r->mistakes[r->passes] == 0)
            r->o.stop = MCR_STOP_OPTIMAL;
        r->passes++;
    }
    return s;
}

/* ---- the result -------------------------------------------------------------------------------*/

/* Of the last perceptron, by fresh scores f (outputs x n). */
typedef struct outcome {
    double wrong, visits; /* objects, all that count */
    double margin;        /* the smallest, of a weight vector of length 1 */
    double longest;       /* |Phi(x)|^2 */
    bool even;            /* all weights are 1 */
} outcome;

static void scores_of(const run *r, const double *f, int64_t i, double *score)
{
    for (int64_t c = 0; c < r->o.outputs; c++)
        score[c] = f[c * r->o.n + i];
}

static outcome evaluate(const run *r, const double *f)
{
    const mcr_online *o = &r->o;
    outcome j = {.margin = INFINITY, .even = true};
    double square = 0;
    for (int64_t i = 0; i < o->n; i++) {
        int64_t other;
        scores_of(r, f, i, r->score);
        for (int64_t c = 0; c < o->outputs; c++)
            square += o->coef[i * o->outputs + c] * r->score[c];
        if (!(o->weight[i] > 0))
            continue;
        double m = margin(r, i, r->score, &other);
        j.visits++;
        j.wrong += !(m > mcr_online_rounding(o, i));
        j.margin = fmin(j.margin, m);
        j.longest = fmax(j.longest, o->scores.square[i]);
        j.even = j.even && o->weight[i] == 1;
    }
    j.margin /= sqrt(fmax(square, 1e-300));
    return j;
}

static mcr_status keep_mistakes(mcr_fitted *f, const run *r)
{
    enum { SHOWN = 6 };
    char text[256] = "";
    size_t used = 0;
    for (int64_t p = 0; p < r->passes; p++) {
        if (p >= SHOWN && p + 1 < r->passes) {
            if (p == SHOWN)
                used += (size_t)snprintf(text + used, sizeof text - used, ", ...");
            continue;
        }
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%.0f", p ? ", " : "",
                                 r->mistakes[p]);
    }
    return mcr_fitted_remark(f, "mistakes in %lld pass%s: %s", (long long)r->passes,
                             r->passes == 1 ? "" : "es", text);
}

static mcr_status remark(mcr_fitted *f, const run *r, const outcome *j)
{
    mcr_status s = keep_mistakes(f, r);
    if (!s && j->wrong == 0 && j->margin > 0 && j->even && !r->o.resumed && !r->o.dropped) {
        double bound = (r->o.outputs > 1 ? 2 : 1) * j->longest / (j->margin * j->margin);
        s = mcr_fitted_remark(f,
                              "separable with margin %.3g: %.0f mistakes in total; at most "
                              "%s(R/margin)^2 = %.4g are possible",
                              j->margin, r->total, r->o.outputs > 1 ? "2" : "", bound);
        if (!s && isfinite(bound))
            s = mcr_fitted_keep(f, "bound", &bound, 1);
    }
    return s;
}

/* The coefficient of what predicts. The perceptron after step s holds all changes up to s, so that
 * the mean of T of them counts a change T + 1 - s times. */
static double coef_of(const void *self, int64_t at)
{
    const run *r = self;
    double steps = r->o.clock.steps, own = r->o.coef[at];
    return r->p->variant == AVERAGED ? ((steps + 1) * own - r->o.sum[at]) / steps : own;
}

static mcr_status complete(mcr_fitted *t, run *r, const double *f)
{
    outcome j = evaluate(r, f);
    t->objective = r->passes ? r->mistakes[r->passes - 1] : NAN;
    t->certificate = "share on the wrong side";
    t->value = j.visits > 0 ? j.wrong / j.visits : NAN;
    t->tolerance = 0;
    t->iterations = (int64_t)r->o.clock.steps;
    if (j.wrong == 0 && t->stop == MCR_STOP_STEPS)
        t->stop = MCR_STOP_OPTIMAL; /* another pass would change nothing */
    mcr_status s = mcr_fitted_keep(t, "mistakes", r->mistakes, r->passes);
    if (!s && r->p->variant == VOTED)
        s = mcr_votes_keep(&r->votes, t, &r->o);
    return s ? s : remark(t, r, &j);
}

/* Fresh scores of the last perceptron, and behind them those of the averaged one: 2 outputs x n. */
static mcr_status score_all(run *r, const double *coef, double *f)
{
    mcr_online *o = &r->o;
    if (r->p->variant != AVERAGED)
        return mcr_scores_fresh(&o->scores, o->coef, o->outputs, f, true);
    double *both = mcr_alloc(o->ctx, (size_t)o->n, 2 * (size_t)o->outputs * sizeof *both);
    if (!both)
        return MCR_NO_MEMORY;
    for (int64_t i = 0; i < o->n; i++)
        for (int64_t k = 0; k < o->outputs; k++) {
            both[2 * i * o->outputs + k] = o->coef[i * o->outputs + k];
            both[(2 * i + 1) * o->outputs + k] = coef[i * o->outputs + k];
        }
    mcr_status s = mcr_scores_fresh(&o->scores, both, 2 * o->outputs, f, true);
    mcr_free(o->ctx, both);
    return s;
}

static mcr_status ending(void *self, mcr_fitted *t, const double *coef)
{
    run *r = self;
    const mcr_online *o = &r->o;
    bool averaged = r->p->variant == AVERAGED;
    double *f = mcr_alloc(o->ctx, (size_t)o->n, 2 * (size_t)o->outputs * sizeof *f);
    mcr_status s = f ? score_all(r, coef, f) : MCR_NO_MEMORY;
    if (!s)
        s = complete(t, r, f);
    if (!s && r->p->variant != VOTED) /* votes are counted by the predictor */
        s = mcr_online_answer(t, o, averaged ? f + o->n * o->outputs : f, r->score);
    mcr_free(o->ctx, f);
    return s;
}

/* What the clock holds beside the steps: 0 in models of old, which do not say. */
enum { CLOCK_BIAS };
enum { WITHOUT_BIAS = 1, WITH_BIAS };

/* With or without the feature 1 the coefficients are those of two kernels. */
static mcr_status keep_bias(run *r)
{
    double *was = &r->o.clock.own[CLOCK_BIAS], bias = r->p->bias ? WITH_BIAS : WITHOUT_BIAS;
    if (r->o.resumed && *was != 0 && *was != bias)
        return mcr_fail(r->o.ctx, MCR_BAD_CALL,
                        "perceptron: the bias cannot change when training continues: this model "
                        "was trained %s it (bias=%s)",
                        r->p->bias ? "without" : "with", r->p->bias ? "no" : "yes");
    *was = bias;
    return MCR_OK;
}

static mcr_status fit(mcr_fitted **out, const mcr_learning *in)
{
    const params *p = in->params;
    run r = {.p = p, .votes = {.ctx = in->ctx}};
    mcr_online_plan plan = {
        .learner = "perceptron",
        .class_weight = p->class_weight,
        .scores = {.bias = p->bias,
                   .precise = true,
                   .form = &p->form,
                   .passes = p->passes,
                   .often = p->passes > 1},
        .order = p->order,
        .budget = p->budget,
        .time_limit = p->time_limit,
    };
    mcr_status s = mcr_online_open(&r.o, in, &plan);
    if (!s) {
        r.score = mcr_alloc(in->ctx, (size_t)r.o.outputs, sizeof *r.score);
        r.change = mcr_alloc(in->ctx, (size_t)r.o.outputs, sizeof *r.change);
        s = r.score && r.change ? MCR_OK : MCR_NO_MEMORY;
    }
    if (!s)
        s = keep_bias(&r);
    if (!s && in->start && p->variant == VOTED)
        s = mcr_votes_read(&r.votes, in->start, &r.o);
    bool found;
    if (!s)
        s = mcr_resume_find(in->ctx, r.o.part, walk, &r, &found);
    if (!s)
        s = all_passes(&r);
    if (!s)
        s = mcr_online_finish(out, &r.o, coef_of, ending, &r);
    mcr_free_all(in->ctx, r.score, r.change, r.mistakes);
    mcr_votes_close(&r.votes);
    mcr_online_close(&r.o);
    return s;
}

const mcr_learner_type mcr_learner_perceptron = {
    .name = "perceptron",
    .summary = "learns from its mistakes, one object at a time; also online",
    .task = MCR_CLASSIFY,
    .params = table,
    .params_size = sizeof(params),
    .check = check,
    .fit = fit,
    .online = true,
    .predictor = &mcr_votes_predictor,
};
