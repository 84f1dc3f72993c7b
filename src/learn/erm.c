/* erm.c: the general problem of the representer theorem: any of several losses, and a penalty on
 * |w|.
 *
 *   min  sum w_i loss(y_i, f(x_i)) + lambda |w|^2,   f(x) = w.Phi(x) = sum a_i K(x_i, x)
 *
 * Losses that are smooth go to Newton's method (solve/newton.h). The others are piecewise linear;
 * their dual is the quadratic program of support vector machines (solve/smo.h) with C_i = w_i / (2
 * lambda) and no bias. Both end with a duality gap. More than two classes are one function each,
 * against the rest.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <float.h>
#include <math.h>
#include <stddef.h>

#include "base/context.h"
#include "learn/form.h"
#include "learn/goal.h"
#include "learn/svm_problem.h"
#include "solve/newton.h"

typedef enum loss {
    LOSS_AUTO,
    LOSS_HINGE,
    LOSS_SQUARED_HINGE,
    LOSS_LOGISTIC,
    LOSS_SQUARED,
    LOSS_EPSILON,
    LOSS_ABSOLUTE,
    LOSS_HUBER,
    LOSS_QUANTILE
} loss;

typedef struct params {
    double lambda, epsilon, delta, quantile, tol, time_limit;
    int64_t max_steps;
    int loss, task;
    char *class_weight;
    mcr_form_options form;
} params;

static const mcr_param table[] = {
    {"loss", MCR_CHOICE, offsetof(params, loss), "auto", 0, 0, 0,
     "auto|hinge|squared-hinge|logistic|squared|epsilon|absolute|huber|quantile",
     "the loss function; auto: logistic for classes, squared for numbers"},
    {"lambda", MCR_REAL, offsetof(params, lambda), "0.5", 0, INFINITY, MCR_MIN_OPEN | MCR_MAX_OPEN,
     NULL, "weight of |w|^2 against the sum of the losses"},
    {"epsilon", MCR_REAL, offsetof(params, epsilon), "0.1", 0, INFINITY, MCR_MAX_OPEN, NULL,
     "loss epsilon: errors up to this cost nothing"},
    {"delta", MCR_REAL, offsetof(params, delta), "1", 0, INFINITY, MCR_MIN_OPEN | MCR_MAX_OPEN,
     NULL, "loss huber: errors beyond this cost in proportion to their size"},
    {"quantile", MCR_REAL, offsetof(params, quantile), "0.5", 0, 1, MCR_MIN_OPEN | MCR_MAX_OPEN,
     NULL, "loss quantile: the share of targets that should be below the prediction"},
    MCR_TASK_PARAM(params),
    MCR_CLASS_WEIGHT_PARAM(params),
    {"tol", MCR_REAL, offsetof(params, tol), "1e-06", 0, INFINITY, MCR_MIN_OPEN, NULL,
     "largest duality gap, as a share of the objective"},
    MCR_TIME_LIMIT_PARAM(params, "seconds after which the best model so far is kept"),
    MCR_MAX_STEPS_PARAM(params, "steps after which the best model so far is kept"),
    MCR_APPROX_PARAMS(params),
    {0},
};

/* ---- the losses -------------------------------------------------------------------------------*/

typedef struct erm {
    mcr *ctx;
    const params *options;
    mcr_goal goal;
    loss kind;
    mcr_gram *gram;
    double *a, *f; /* n x outputs */
    double began;
    /* The outcome; sums over the outputs. */
    double primal, dual;
    double error; /* of them, at most */
    int64_t steps;
    mcr_stop stop;
} erm;

static bool is_smooth(loss kind)
{
    return kind == LOSS_SQUARED_HINGE || kind == LOSS_LOGISTIC || kind == LOSS_SQUARED ||
           kind == LOSS_HUBER;
}

/* The loss at f, its derivative and second derivative. */
typedef struct bend {
    double value, first, second;
} bend;

static bend loss_at(const erm *e, double y, double f)
{
    const params *o = e->options;
    double margin = 1 - y * f, error = f - y;
    switch (e->kind) {
    case LOSS_HINGE: return (bend){fmax(margin, 0), margin > 0 ? -y : 0, 0};
    case LOSS_SQUARED_HINGE:
        return margin > 0 ? (bend){margin * margin, -2 * y * margin, 2 * y * y} : (bend){0, 0, 0};
    case LOSS_LOGISTIC: {
        double small = exp(-fabs(f)), p = y * f > 0 ? small / (1 + small) : 1 / (1 + small);
        return (bend){log1p(small) + (y * f > 0 ? 0 : fabs(f)), -y * p,
                      small / ((1 + small) * (1 + small))};
    }
    case LOSS_AUTO:
    case LOSS_SQUARED: return (bend){error * error, 2 * error, 2};
    case LOSS_EPSILON: return (bend){fmax(fabs(error) - o->epsilon, 0), 0, 0};
    case LOSS_ABSOLUTE: return (bend){fabs(error), 0, 0};
    case LOSS_HUBER:
        return fabs(error) <= o->delta ? (bend){error * error / 2, error, 1}
                                       : (bend){o->delta * (fabs(error) - o->delta / 2),
                                                error > 0 ? o->delta : -o->delta, 0};
    case LOSS_QUANTILE:
        return (bend){error < 0 ? -o->quantile * error : (1 - o->quantile) * error, 0, 0};
    }
    return (bend){0, 0, 0};
}

static double loss_and_gradient(const void *self, int64_t first, int64_t count, const double *f,
                                double *gradient)
{
    const erm *e = self;
    const mcr_goal *g = &e->goal;
    const double *y = g->y + first * g->outputs, *weight = g->weight + first;
    double sum = 0;
    for (int64_t i = 0; i < count * g->outputs; i++) {
        bend b = loss_at(e, y[i], f[i]);
        sum += weight[i / g->outputs] * b.value;
        gradient[i] = weight[i / g->outputs] * b.first;
    }
    return sum;
}

static void curve(const void *self, int64_t first, int64_t count, const double *f, const double *v,
                  double *hv)
{
    const erm *e = self;
    const mcr_goal *g = &e->goal;
    const double *y = g->y + first * g->outputs, *weight = g->weight + first;
    for (int64_t i = 0; i < count * g->outputs; i++)
        hv[i] = weight[i / g->outputs] * loss_at(e, y[i], f[i]).second * v[i];
}

/* ---- smooth ones ------------------------------------------------------------------------------*/

/* The conjugate of the loss at u, which is moved to where it is finite. */
static double conjugate_at(const erm *e, double y, double *u)
{
    double v = fmax(-*u * y, 0), most = e->options->delta;
    switch (e->kind) {
    case LOSS_SQUARED_HINGE: *u = -v * y; return v * (v / 4 - 1);
    case LOSS_LOGISTIC:
        v = fmin(v, 1);
        *u = -v * y;
        return (v > 0 ? v * log(v) : 0) + (v < 1 ? (1 - v) * log1p(-v) : 0);
    case LOSS_HUBER: *u = fmin(fmax(*u, -most), most); return *u * (*u / 2 + y);
    default: return *u * (*u / 4 + y);
    }
}

/* sum of w (loss(f) + conjugate(u) - u f) with w u = -2 lambda a, plus lambda |move|^2. */
static double coefficient_gap(const void *self, const double *root, const double *error,
                              double *slip)
{
    const erm *e = self;
    const mcr_goal *g = &e->goal;
    double sum = 0, moved = 0, lambda = e->options->lambda;
    *slip = 0;
    for (int64_t i = 0; i < g->n * g->outputs; i++) {
        double w = g->weight[i / g->outputs];
        if (w == 0)
            continue;
        double before = -2 * lambda * e->a[i] / w, u = before, other = conjugate_at(e, g->y[i], &u);
        bend b = loss_at(e, g->y[i], e->f[i]);
        sum += w * (b.value + other - u * e->f[i]);
        moved += w * fabs(u - before) / (2 * lambda) * root[i / g->outputs];
        *slip += w * (fabs(b.first - u) + error[i]) * error[i] +
                 4 * DBL_EPSILON * w * (b.value + fabs(other) + fabs(u * e->f[i]));
    }
    return fmax(sum, 0) + lambda * moved * moved;
}

static mcr_smooth state_problem(const erm *e)
{
    const params *o = e->options;
    return (mcr_smooth){
        .columns = e->goal.outputs,
        .mu = 2 * o->lambda,
        .loss = loss_and_gradient,
        .curve = curve,
        .self = e,
        .bend = 2,
        .weight = e->goal.weight,
        .identity = INFINITY,
        .gap = o->tol,
        .most_steps = o->max_steps == INT64_MIN ? 0 : o->max_steps,
        .seconds = isnan(o->time_limit) ? 0 : o->time_limit,
        .phase = "erm",
    };
}

static mcr_status solve_smooth(erm *e)
{
    mcr_smooth_result result;
    mcr_smooth problem = state_problem(e);
    mcr_status s = mcr_smooth_solve(e->gram, &problem, e->a, e->f, &result);
    e->primal = result.objective;
    e->dual = result.objective - result.gap;
    e->steps = result.steps;
    e->stop = result.stop;
    return s;
}

/* ---- piecewise linear ones --------------------------------------------------------------------*/

static void set_problem(const erm *e, mcr_svm *svm, int64_t column)
{
    const params *o = e->options;
    const mcr_goal *g = &e->goal;
    svm->qp.no_sum = true;
    svm->qp.epsilon = e->kind == LOSS_EPSILON ? o->epsilon : 0;
    for (int64_t i = 0; i < g->n; i++) {
        double most = g->weight[i] / (2 * o->lambda), y = g->y[i * g->outputs + column];
        svm->z[i] = y;
        svm->hi[i] = most;
        svm->lo[i] = -most;
        if (e->kind == LOSS_HINGE) {
            svm->hi[i] = y > 0 ? most : 0;
            svm->lo[i] = y > 0 ? 0 : -most;
        } else if (e->kind == LOSS_QUANTILE) {
            svm->hi[i] = o->quantile * most;
            svm->lo[i] = -(1 - o->quantile) * most;
        }
        svm->b[i] = fmin(fmax(e->a[i * g->outputs + column], svm->lo[i]), svm->hi[i]);
    }
}

/* Primal and dual value, in units of the problem with lambda. */
static void certify(const erm *e, const mcr_svm *svm, double *primal, double *dual)
{
    double square = mcr_svm_square(svm), sum = 0;
    long double linear = 0, size = 0; /* terms of either sign may be much larger than their sum */
    for (int64_t i = 0; i < svm->qp.n; i++) {
        linear += (long double)svm->b[i] * (long double)svm->z[i];
        size += fabs(svm->b[i]);
        sum += e->goal.weight[i] * loss_at(e, svm->z[i], svm->g[i]).value;
    }
    *primal = e->options->lambda * square + sum;
    *dual = (double)(e->options->lambda * (2 * (linear - svm->qp.epsilon * size) - square));
}

/* What is left of steps and time; false: nothing. */
static bool set_limits(const erm *e, mcr_svm *svm, int64_t steps)
{
    const params *o = e->options;
    double left = isnan(o->time_limit) ? 1 : o->time_limit - (mcr_now() - e->began);
    svm->qp.seconds = isnan(o->time_limit) ? 0 : fmax(left, 1e-9);
    svm->qp.most_steps = o->max_steps == INT64_MIN ? 0
                         : o->max_steps > steps    ? o->max_steps - steps
                                                   : 1;
    return left > 0 && (o->max_steps == INT64_MIN || o->max_steps > steps);
}

/* One function: the tolerance of the optimality conditions is lowered until the gap is small
 * enough. */
static mcr_status solve_column(erm *e, int64_t column)
{
    const params *o = e->options;
    const mcr_goal *g = &e->goal;
    const mcr_svm_limits limits = {1e-3, NAN, 256, INT64_MIN};
    mcr_svm svm;
    double primal = 0, dual = 0;
    int64_t steps = 0;
    mcr_status s = mcr_svm_open(&svm, e->ctx, g->n, 1, &limits, "erm");
    if (s)
        return s;
    set_problem(e, &svm, column);
    svm.qp.part = "erm";
    (void)set_limits(e, &svm, 0);
    for (double tolerance = 1e-3; tolerance > 1e-10; tolerance /= 10) {
        svm.qp.tolerance = tolerance;
        s = mcr_svm_solve(&svm, e->gram, NULL);
        if (s)
            break;
        steps += svm.result.steps;
        certify(e, &svm, &primal, &dual);
        if (primal - dual <= o->tol * fabs(primal) || svm.result.stop != MCR_STOP_OPTIMAL ||
            !set_limits(e, &svm, steps))
            break;
    }
    if (!s) {
        bool fine = primal - dual <= o->tol * fabs(primal);
        mcr_stop stop = fine                                  ? MCR_STOP_OPTIMAL
                        : svm.result.stop == MCR_STOP_OPTIMAL ? MCR_STOP_STUCK
                                                              : mcr_svm_stop(&svm);
        e->stop = stop > e->stop ? stop : e->stop;
        e->primal += primal;
        e->error += mcr_svm_error(&svm, 2 * o->lambda, primal, dual);
        e->dual += dual;
        e->steps += steps;
        for (int64_t i = 0; i < g->n; i++) {
            e->a[i * g->outputs + column] = svm.b[i];
            e->f[i * g->outputs + column] = svm.g[i];
        }
    }
    mcr_svm_close(&svm, e->ctx);
    return s;
}

/* ---- the learner ------------------------------------------------------------------------------*/

static mcr_status choose_loss(erm *e)
{
    bool classify = e->goal.task == MCR_CLASSIFY;
    e->kind = (loss)e->options->loss;
    if (e->kind == LOSS_AUTO)
        e->kind = classify ? LOSS_LOGISTIC : LOSS_SQUARED;
    if (!classify && e->kind <= LOSS_LOGISTIC)
        return mcr_advise(
            e->ctx,
            mcr_fail(
                e->ctx, MCR_BAD_CALL,
                "erm: this loss is for classes, and the targets are numbers: set task=classify if "
                "they name classes, or use squared, epsilon, absolute, huber or quantile"),
            "option task=classify");
    return MCR_OK;
}

static mcr_status open_erm(erm *e, const mcr_learning *in)
{
    *e = (erm){.ctx = in->ctx, .options = in->params, .began = mcr_now()};
    mcr_goal *g = &e->goal;
    mcr_status s = mcr_goal_open(g, in, "erm", e->options->task, e->options->class_weight);
    if (!s)
        s = choose_loss(e);
    if (!s)
        s = mcr_learning_gram(&e->gram, in);
    if (s)
        return s;
    e->a = mcr_alloc(in->ctx, (size_t)g->n, (size_t)g->outputs * sizeof *e->a);
    e->f = mcr_alloc(in->ctx, (size_t)g->n, (size_t)g->outputs * sizeof *e->f);
    if (!e->a || !e->f)
        return MCR_NO_MEMORY;
    mcr_goal_start(g, in->start, e->a);
    return MCR_OK;
}

static void close_erm(erm *e)
{
    mcr_free_all(e->ctx, e->a, e->f);
    mcr_gram_close(e->gram);
    mcr_goal_close(&e->goal);
}

/* Bounds on the slopes of losses, for mcr_learn: 1 where the loss is piecewise linear. */
static mcr_status add_slopes(mcr_fitted *t, const erm *e)
{
    const mcr_goal *g = &e->goal;
    mcr_status s = mcr_fitted_open_slope(t, e->gram, 2 * e->options->lambda);
    if (s || !t->loss_slope)
        return s;
    if (is_smooth(e->kind))
        (void)loss_and_gradient(e, 0, g->n, e->f, t->loss_slope);
    for (int64_t i = 0; i < g->n * g->outputs; i++) {
        double weight = g->weight[i / g->outputs];
        t->loss_slope[i] = is_smooth(e->kind) ? fabs(t->loss_slope[i]) : weight;
        t->loss_bend = fmax(t->loss_bend, is_smooth(e->kind) ? 2 * weight : 0);
    }
    return MCR_OK;
}

static mcr_status finish(mcr_fitted **out, const erm *e, const mcr_kernel *kernel)
{
    mcr_fitted *t = NULL;
    mcr_status s = mcr_goal_fitted(&t, &e->goal, e->a);
    if (s)
        return s;
    t->objective = t->primal = e->primal;
    t->dual = e->dual;
    t->gap = e->primal - e->dual;
    t->certificate = "relative gap";
    t->value = e->primal != 0 ? fmax(t->gap, 0) / fabs(e->primal) : fmax(t->gap, 0);
    t->tolerance = e->options->tol;
    t->iterations = e->steps;
    t->stop = e->stop;
    s = is_smooth(e->kind) ? mcr_fitted_remark_definite(t, kernel) : mcr_svm_remark(t, kernel);
    if (!s)
        s = mcr_goal_report(&e->goal, t, e->f);
    if (!s)
        s = mcr_fitted_remark_zero(t, e->gram);
    if (!s && is_smooth(e->kind)) {
        mcr_smooth problem = state_problem(e);
        s = mcr_known_smooth(t, e->gram,
                             &(mcr_known_loss){.of = &problem,
                                               .a = e->a,
                                               .f = e->f,
                                               .n = e->goal.n,
                                               .relative = true,
                                               .gap = coefficient_gap});
    } else {
        t->objective_error = e->error;
        t->value_error = e->primal != 0 ? e->error / fabs(e->primal) : e->error;
    }
    if (!s)
        s = add_slopes(t, e);
    return mcr_fitted_give(out, t, s);
}

static mcr_status fit(mcr_fitted **out, const mcr_learning *in)
{
    erm e;
    mcr_status s = open_erm(&e, in);
    if (!s && is_smooth(e.kind))
        s = solve_smooth(&e);
    for (int64_t c = 0; c < e.goal.outputs && !s && !is_smooth(e.kind); c++)
        s = solve_column(&e, c);
    if (!s)
        s = finish(out, &e, in->kernel);
    close_erm(&e);
    return s;
}

const mcr_learner_type mcr_learner_erm = {
    .name = "erm",
    .summary = "regularised risk minimisation with any of eight losses",
    .task = MCR_EITHER,
    .params = table,
    .params_size = sizeof(params),
    .fit = fit,
    .usual = {.option = "lambda", .range = "1e-6:10:log15"},
    .form = offsetof(params, form),
    .convex = true,
    .weights_count = true,
    .dense = true,
};
