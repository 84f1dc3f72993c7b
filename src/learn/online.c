/* online.c: coefficients that change one by one: where they come from, their order, their budget.
 *
 * With a budget of B support vectors the one with the smallest |coef| |Phi(x)| goes when a further
 * one comes, of equal ones the oldest: the least change of the weight vector. What goes is gone
 * from averages, too.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "learn/online.h"

#include <math.h>
#include <string.h>

#include "learn/goal.h"
#include "learn/svm_problem.h"

/* Names of the extras that going on needs. */
#define EXTRA_COEF  "online.coef"
#define EXTRA_SUM   "online.sum"
#define EXTRA_CLOCK "online.clock"

enum { CLOCK = sizeof(mcr_clock) / sizeof(double) };

mcr_status mcr_online_refuse_approx(mcr *ctx, const char *learner, const char *what)
{
    return mcr_advise(ctx,
                      mcr_fail(ctx, MCR_BAD_CALL,
                               "%s: %s works on objects, and an approximate model stores weights "
                               "of features: omit one of the two",
                               learner, what),
                      "option approx=none");
}

/* ---- opening ----------------------------------------------------------------------------------*/

/* More data may have objects of one class only: the model knows the others. */
static mcr_status set_classes(mcr_online *o, const mcr_learning *in)
{
    const char *learner = o->plan.learner;
    if (o->first == 0) {
        mcr_status s = mcr_svm_need_classes(o->ctx, learner, in->data);
        if (s)
            return s;
    } else if (o->n == o->first) {
        return mcr_fail(o->ctx, MCR_BAD_DATA, "%s: there are no objects to continue with", learner);
    }
    o->classes = mcr_data_classes(in->data);
    o->class_of = mcr_data_class_of(in->data);
    o->outputs = o->classes == 2 ? 1 : o->classes;
    return MCR_OK;
}

static mcr_status reserve(mcr_online *o)
{
    uint64_t n = (uint64_t)o->n, outputs = (uint64_t)o->outputs;
    void *block = mcr_alloc_arrays(
        o->ctx, MCR_ARRAY(o->weight, n), /* which is freed */ MCR_CLEARED(o->coef, n * outputs),
        MCR_CLEARED(o->sum, n * outputs), MCR_CLEARED(o->used, n), MCR_CLEARED(o->support, n),
        MCR_CLEARED(o->order, n), MCR_ARRAY(o->minus, outputs));
    return block ? MCR_OK : MCR_NO_MEMORY;
}

static mcr_status read_start(mcr_online *o, const mcr_fitted *start)
{
    const double *coef = NULL, *sum = NULL, *clock = NULL;
    if (start->outputs != o->outputs || start->task != MCR_CLASSIFY)
        return mcr_fail(o->ctx, MCR_BAD_CALL,
                        "%s: cannot continue this model: it has %lld classes, the data %lld",
                        o->plan.learner, (long long)start->classes, (long long)o->classes);
    int64_t count = start->basis * o->outputs, found;
    if (o->scores.form.map || !mcr_fitted_find(start, EXTRA_COEF, &found))
        return mcr_advise(
            o->ctx,
            mcr_fail(o->ctx, MCR_BAD_CALL,
                     "%s: cannot continue with an approximate kernel: such models store weights of "
                     "features and no objects; train on all data at once",
                     o->plan.learner),
            "option approx=none");
    mcr_status s = mcr_fitted_need(&coef, start, EXTRA_COEF, count);
    if (!s)
        s = mcr_fitted_need(&sum, start, EXTRA_SUM, count);
    if (!s)
        s = mcr_fitted_need(&clock, start, EXTRA_CLOCK, CLOCK);
    for (int64_t i = 0; i < start->basis && !s; i++) {
        int64_t at = start->object[i];
        if (at < 0 || at >= o->n)
            continue;
        memcpy(o->coef + at * o->outputs, coef + i * o->outputs, sizeof *coef * (size_t)o->outputs);
        memcpy(o->sum + at * o->outputs, sum + i * o->outputs, sizeof *sum * (size_t)o->outputs);
        o->used[at] = 1;
        o->support[o->supports++] = at;
    }
    if (!s)
        memcpy(&o->clock, clock, sizeof o->clock);
    if (!s && !(o->clock.steps >= 0 && o->clock.steps < 9e15))
        s = mcr_fail(o->ctx, MCR_BAD_DATA, "the model is damaged (steps); train it again");
    o->resumed = true;
    return s;
}

static double length_of(const mcr_online *o, int64_t object)
{
    double sum = 0;
    for (int64_t k = 0; k < o->outputs; k++)
        sum += o->coef[object * o->outputs + k] * o->coef[object * o->outputs + k];
    return sqrt(sum * fmax(o->scores.square[object], 0));
}

/* The place in the list of the support vector that is missed least, other than `but`. */
static int64_t least_missed(const mcr_online *o, int64_t but)
{
    int64_t best = -1;
    double least = INFINITY;
    for (int64_t p = 0; p < o->supports; p++) {
        double length = length_of(o, o->support[p]);
        if (o->support[p] != but && (best < 0 || length < least)) {
            best = p;
            least = length;
        }
    }
    return best;
}

/* Takes an object out; what its coefficients were stays in o->minus, with the other sign. */
static int64_t drop(mcr_online *o, int64_t place)
{
    int64_t object = o->support[place];
    double *coef = o->coef + object * o->outputs;
    for (int64_t k = 0; k < o->outputs; k++)
        o->minus[k] = -coef[k];
    memset(coef, 0, sizeof *coef * (size_t)o->outputs);
    memset(o->sum + object * o->outputs, 0, sizeof *coef * (size_t)o->outputs);
    o->used[object] = 0;
    o->supports--;
    o->dropped++;
    memmove(o->support + place, o->support + place + 1,
            sizeof *o->support * (size_t)(o->supports - place));
    return object;
}

static bool has_budget(const mcr_online *o)
{
    return o->plan.budget != INT64_MIN;
}

static mcr_status begin_from(mcr_online *o, const mcr_fitted *start)
{
    mcr_status s = read_start(o, start);
    while (!s && has_budget(o) && o->supports > o->plan.budget)
        (void)drop(o, least_missed(o, -1));
    for (int64_t p = 0; p < o->supports && !s; p++)
        o->size += length_of(o, o->support[p]);
    return s ? s : mcr_scores_set(&o->scores, o->coef);
}

mcr_status mcr_online_open(mcr_online *o, const mcr_learning *in, const mcr_online_plan *plan)
{
    *o = (mcr_online){.ctx = in->ctx,
                      .plan = *plan,
                      .n = mcr_data_count(in->data),
                      .first = in->first,
                      .began = mcr_now(),
                      .stop = MCR_STOP_STEPS};
    mcr_resume_name(o->ctx, plan->learner, o->part);
    mcr_status s = set_classes(o, in);
    if (!s)
        s = reserve(o);
    if (!s)
        s = mcr_svm_weights(o->ctx, plan->learner, in->data, plan->class_weight, o->weight);
    for (int64_t i = 0; i < o->n && !s; i++) {
        o->weight[i] = i < o->first ? 0 : o->weight[i];
        o->visits += o->weight[i] > 0;
    }
    if (s)
        return s;
    mcr_scores_plan scores = plan->scores;
    scores.outputs = o->outputs;
    if (has_budget(o) && plan->budget < o->n)
        scores.others = plan->budget;
    s = mcr_scores_open(&o->scores, in, &scores);
    return s || !in->start ? s : begin_from(o, in->start);
}

void mcr_online_close(mcr_online *o)
{
    if (!o->ctx)
        return;
    mcr_scores_close(&o->scores);
    mcr_free(o->ctx, o->weight);
    *o = (mcr_online){0};
}

/* ---- steps ------------------------------------------------------------------------------------*/

/* Whether all are numbers of objects. */
static bool are_objects(const mcr_online *o, const int64_t *list, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        if (list[i] < 0 || list[i] >= o->n)
            return false;
    return true;
}

/* Whether the list has each object that is used once, and no other. Marks them by 2 on the way. */
static bool are_used(mcr_online *o)
{
    bool sound = o->supports >= 0 && o->supports <= o->n && are_objects(o, o->support, o->supports);
    int64_t used = 0;
    for (int64_t i = 0; i < o->n && sound; i++) {
        sound = o->used[i] <= 1;
        used += o->used[i];
    }
    for (int64_t p = 0; p < o->supports && sound; p++) {
        sound = o->used[o->support[p]] == 1;
        o->used[o->support[p]] = 2;
    }
    for (int64_t i = 0; i < o->n; i++)
        o->used[i] = o->used[i] != 0;
    return sound && used == o->supports;
}

mcr_status mcr_online_walk(mcr_online *o, mcr_walk *w)
{
    mcr_scores *c = &o->scores;
    size_t n = (size_t)o->n, outputs = (size_t)o->outputs;
    mcr_walk_same(w, o->n);
    mcr_walk_same(w, o->outputs);
    mcr_walk_same(w, c->wide);
    mcr_walk_same(w, c->whole);
    MCR_WALK(w, o->at);
    MCR_WALK(w, o->supports);
    mcr_walk_count(w, &o->dropped);
    MCR_WALK(w, o->clock);
    MCR_WALK(w, o->size);
    mcr_walk_bytes(w, o->coef, sizeof *o->coef * n * outputs);
    mcr_walk_bytes(w, o->sum, sizeof *o->sum * n * outputs);
    mcr_walk_bytes(w, o->used, n);
    mcr_walk_bytes(w, o->support, sizeof *o->support * n);
    mcr_walk_bytes(w, o->order, sizeof *o->order * n);
    mcr_walk_bytes(w, c->offset, sizeof *c->offset * outputs);
    mcr_walk_bytes(w, c->f, c->f ? sizeof *c->f * n * outputs : 0);
    mcr_walk_bytes(w, c->weight, sizeof *c->weight * (size_t)c->wide * outputs);
    if (w->status || !w->reads)
        return w->status;
    bool sound = are_used(o) && o->at >= 0 && o->at <= o->visits &&
                 are_objects(o, o->order, o->visits);
    o->goes_on = sound;
    return sound ? MCR_OK : mcr_walk_refuse(w);
}

bool mcr_online_order(mcr_online *o)
{
    bool goes_on = o->goes_on;
    o->goes_on = false;
    if (goes_on)
        return true;
    o->at = 0;
    mcr_random random = mcr_random_stream(mcr_seed(o->ctx), o->plan.learner,
                                          (uint64_t)o->clock.steps);
    int64_t count = 0;
    for (int64_t i = o->first; i < o->n; i++)
        if (o->weight[i] > 0)
            o->order[count++] = i;
    if (o->plan.order == MCR_ORDER_SHUFFLE)
        mcr_random_shuffle(&random, o->order, count);
    if (o->plan.order != MCR_ORDER_RANDOM)
        return false;
    for (int64_t v = 0; v < count; v++)
        do
            o->order[v] = o->first + mcr_random_below(&random, o->n - o->first);
        while (!(o->weight[o->order[v]] > 0));
    return false;
}

mcr_status mcr_online_begin(mcr_online *o, int64_t most, bool steady, int64_t *count)
{
    *count = o->visits - o->at < most ? o->visits - o->at : most;
    bool drops = has_budget(o) && o->supports + *count > o->plan.budget;
    return mcr_scores_begin(&o->scores, o->order + o->at, *count, steady, o->support,
                            drops ? o->supports : 0);
}

void mcr_online_change(mcr_online *o, int64_t object, const double *change, double moment)
{
    double *coef = o->coef + object * o->outputs, *sum = o->sum + object * o->outputs, most = 0;
    for (int64_t k = 0; k < o->outputs; k++) {
        coef[k] += change[k];
        sum[k] += moment * change[k];
        most = fmax(most, fabs(change[k]));
    }
    o->size += most * sqrt(fmax(o->scores.square[object], 0));
    mcr_scores_add(&o->scores, object, change);
    if (!o->used[object]) {
        o->used[object] = 1;
        o->support[o->supports++] = object;
    }
    if (has_budget(o) && o->supports > o->plan.budget) {
        int64_t out = drop(o, least_missed(o, object));
        mcr_scores_add(&o->scores, out, o->minus);
    }
}

/* What the last scores will take, which are in double and from scratch. */
static double closing_time(const mcr_online *o)
{
    enum { CLOSING = 2 }; /* a row in double, for all outputs, takes so many times as long */
    return CLOSING * o->scores.pace * (double)o->supports;
}

bool mcr_online_is_over(mcr_online *o, int64_t passes, int64_t most, int64_t step, double objective,
                        double violation)
{
    double part = (double)o->at / (double)o->visits;
    mcr_progress now = {
        .phase = o->plan.learner,
        .fraction = ((double)passes + part) / (double)most,
        .seconds = mcr_now() - o->began,
        .step = step,
        .objective = objective,
        .violation = violation,
        .active = o->supports,
        .total = o->n,
    };
    if (mcr_report(o->ctx, &now))
        o->stop = MCR_STOP_INTERRUPTED;
    else if (now.seconds + closing_time(o) > o->plan.time_limit) /* never, of NAN */
        o->stop = MCR_STOP_TIME;
    return o->stop == MCR_STOP_INTERRUPTED || o->stop == MCR_STOP_TIME;
}

double mcr_online_rounding(const mcr_online *o, int64_t object)
{
    return 1e-12 * o->size * sqrt(fmax(o->scores.square[object], 0));
}

/* ---- the result -------------------------------------------------------------------------------*/

/* The rows (outputs) of the used objects, by output if `turned`. */
static void gather(const mcr_online *o, const double *from, double *to, int64_t basis, bool turned)
{
    int64_t at = 0;
    for (int64_t i = 0; i < o->n; i++) {
        for (int64_t k = 0; k < o->outputs && o->used[i]; k++)
            to[turned ? k * basis + at : at * o->outputs + k] = from[i * o->outputs + k];
        at += o->used[i];
    }
}

static mcr_status keep_state(mcr_fitted *f, const mcr_online *o, double *buffer)
{
    gather(o, o->coef, buffer, f->basis, false);
    mcr_status s = mcr_fitted_keep(f, EXTRA_COEF, buffer, f->basis * o->outputs);
    gather(o, o->sum, buffer, f->basis, false);
    if (!s)
        s = mcr_fitted_keep(f, EXTRA_SUM, buffer, f->basis * o->outputs);
    return s ? s : mcr_fitted_keep(f, EXTRA_CLOCK, (const double *)&o->clock, CLOCK);
}

static mcr_status make_fitted(mcr_fitted **out, const mcr_online *o, const double *coef)
{
    int64_t basis = 0, at = 0;
    mcr_fitted *f = NULL;
    for (int64_t i = 0; i < o->n; i++)
        basis += o->used[i];
    double *buffer = mcr_alloc(o->ctx, (size_t)basis, (size_t)o->outputs * sizeof *buffer);
    mcr_status s = buffer ? MCR_OK : MCR_NO_MEMORY;
    if (!s) {
        gather(o, coef, buffer, basis, true);
        s = mcr_fitted_whole(&f, o->ctx, basis, o->outputs, buffer);
    }
    for (int64_t i = 0; i < o->n && !s; i++)
        if (o->used[i])
            f->object[at++] = i;
    if (!s)
        s = keep_state(f, o, buffer);
    mcr_free(o->ctx, buffer);
    return mcr_fitted_give(out, f, s);
}

/* The same from an approximate map: weights of its features. */
static mcr_status make_near(mcr_fitted **out, const mcr_online *o, const double *coef)
{
    const mcr_form *form = &o->scores.form;
    mcr_fitted *f = NULL;
    double *w = NULL;
    mcr_status s = mcr_form_weights(&w, form, coef, o->outputs);
    if (!s)
        s = mcr_fitted_new(&f, o->ctx, o->outputs);
    if (!s)
        s = mcr_form_add(form, f, w, o->outputs);
    mcr_free(o->ctx, w);
    return mcr_fitted_give(out, f, s);
}

/* A remark, unless the report already gives the reason for the form. */
static mcr_status remark(mcr_fitted *f, const mcr_online *o)
{
    mcr_status s = MCR_OK;
    const mcr_form *form = &o->scores.form;
    int64_t p = mcr_gram_width(form->gram);
    if (form->features && !form->why[0])
        s = mcr_fitted_remark(f, "trained on %lld explicit feature%s", (long long)p,
                              p == 1 ? "" : "s");
    else if (!form->why[0])
        s = mcr_fitted_remark(f, "trained on kernel values");
    if (!s && o->dropped)
        s = mcr_fitted_remark(f, "%lld support vectors were dropped to keep the budget of %lld",
                              (long long)o->dropped, (long long)o->plan.budget);
    return s;
}

mcr_status mcr_online_finish(mcr_fitted **out, mcr_online *o,
                             double (*coef_of)(const void *self, int64_t at),
                             mcr_online_ending *ending, void *self)
{
    const mcr_form *form = &o->scores.form;
    int64_t outputs = o->outputs;
    mcr_fitted *f = NULL;
    double *coef = mcr_alloc(o->ctx, (size_t)o->n, (size_t)outputs * sizeof *coef);
    mcr_status s = coef ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t c = 0; c < o->n * outputs && !s; c++)
        coef[c] = coef_of(self, c);
    if (!s)
        s = form->map ? make_near(&f, o, coef) : make_fitted(&f, o, coef);
    for (int64_t c = 0; c < o->n * outputs && !s && o->scores.bias; c++)
        f->offset[c % outputs] += coef[c];
    if (!s) {
        f->task = MCR_CLASSIFY;
        f->rule = outputs == 1 ? MCR_RULE_BINARY : MCR_RULE_LARGEST;
        f->classes = o->classes;
        f->stop = o->stop;
        s = ending(self, f, coef);
    }
    if (!s)
        s = remark(f, o);
    if (!s)
        s = mcr_form_report(form, f);
    mcr_free(o->ctx, coef);
    return mcr_fitted_give(out, f, s);
}

mcr_status mcr_online_answer(mcr_fitted *t, const mcr_online *o, const double *f, double *score)
{
    t->right = mcr_alloc(t->ctx, (size_t)o->n, 1);
    for (int64_t i = 0; i < o->n && t->right; i++) {
        for (int64_t k = 0; k < o->outputs; k++)
            score[k] = f[k * o->n + i];
        t->right[i] = mcr_fitted_decide(t, score, NULL, NULL) == o->class_of[i];
    }
    return t->right ? MCR_OK : MCR_NO_MEMORY;
}

int64_t *mcr_online_places(const mcr_online *o, const mcr_fitted *f)
{
    int64_t *place = mcr_alloc(o->ctx, (size_t)o->n, sizeof *place);
    for (int64_t i = 0; i < o->n && place; i++)
        place[i] = -1;
    for (int64_t b = 0; b < f->basis && place; b++)
        place[f->object[b]] = b;
    return place;
}
