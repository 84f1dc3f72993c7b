/* logistic.c: logistic regression for any number of classes: the model of maximum entropy, with a
 * Gaussian prior on its weights.
 *
 *   min  -sum w_i log P(y_i | x_i) + lambda sum_y |w_y|^2,  P(y | x) ~ exp(w_y.Phi(x)), normalised
 *
 * At the optimum the coefficients are a_iy = w_i ([y_i = y] - P(y | x_i)) / (2 lambda): how far
 * this is from true is the certificate. Of two classes only f = f_1 - f_0 is kept: w_1 = -w_0 at
 * the optimum, so its penalty is lambda / 2 |w_1 - w_0|^2.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <float.h>
#include <math.h>
#include <stddef.h>

#include "learn/goal.h"
#include "learn/form.h"
#include "learn/restricted.h"
#include "solve/newton.h"

typedef struct params {
    double lambda, tol, time_limit;
    int64_t max_steps;
    char *class_weight;
    mcr_form_options form;
} params;

static const mcr_param table[] = {
    {"lambda", MCR_REAL, offsetof(params, lambda), "0.5", 0, INFINITY, MCR_MIN_OPEN | MCR_MAX_OPEN,
     NULL, "weight of |w|^2 against the log likelihood"},
    MCR_CLASS_WEIGHT_PARAM(params),
    {"tol", MCR_REAL, offsetof(params, tol), "1e-06", 0, INFINITY, MCR_MIN_OPEN, NULL,
     "largest difference between 2 lambda times a coefficient and [y_i = y] - P; with an "
     "approximation: largest gap, as a share of the objective"},
    MCR_TIME_LIMIT_PARAM(params, "seconds after which the best model so far is kept"),
    MCR_MAX_STEPS_PARAM(params,
                        "steps of Newton's method after which the best model so far is kept"),
    MCR_APPROX_AUTO_PARAMS(params),
    {0},
};

/* ---- the loss ---------------------------------------------------------------------------------*/

/* Probabilities of one object's classes; returns -log of that of class `own`. */
static double probabilities(const double *f, int64_t columns, int64_t own, double *p)
{
    double most = f[0], sum = 0;
    for (int64_t c = 1; c < columns; c++)
        most = fmax(most, f[c]);
    for (int64_t c = 0; c < columns; c++)
        sum += p[c] = exp(f[c] - most);
    for (int64_t c = 0; c < columns; c++)
        p[c] /= sum;
    return log(sum) + most - f[own];
}

/* P(class 1), without the loss of digits near 0. */
static double sigmoid(double f)
{
    return f >= 0 ? 1 / (1 + exp(-f)) : exp(f) / (1 + exp(f));
}

static double loss_of_two(const void *self, int64_t first, int64_t count, const double *f,
                          double *gradient)
{
    const mcr_goal *g = self;
    double sum = 0;
    for (int64_t i = 0; i < count; i++) {
        double w = g->weight[first + i], y = g->y[first + i], margin = y * f[i];
        sum += w * (margin > 0 ? log1p(exp(-margin)) : log1p(exp(margin)) - margin);
        gradient[i] = -w * y * sigmoid(-margin);
    }
    return sum;
}

static void curve_of_two(const void *self, int64_t first, int64_t count, const double *f,
                         const double *v, double *hv)
{
    const mcr_goal *g = self;
    for (int64_t i = 0; i < count; i++)
        hv[i] = g->weight[first + i] * sigmoid(f[i]) * sigmoid(-f[i]) * v[i];
}

static double loss_of_many(const void *self, int64_t first, int64_t count, const double *f,
                           double *gradient)
{
    const mcr_goal *g = self;
    double sum = 0;
    for (int64_t i = 0; i < count; i++) {
        double *p = gradient + i * g->outputs, w = g->weight[first + i];
        int32_t own = g->class_of[first + i];
        sum += w * probabilities(f + i * g->outputs, g->outputs, own, p);
        p[own] -= 1;
        for (int64_t c = 0; c < g->outputs; c++)
            p[c] *= w;
    }
    return sum;
}

/* w (diag(p) - p p') v for each object; hv holds p meanwhile. */
static void curve_of_many(const void *self, int64_t first, int64_t count, const double *f,
                          const double *v, double *hv)
{
    const mcr_goal *g = self;
    for (int64_t i = 0; i < count; i++) {
        double *p = hv + i * g->outputs, mean = 0;
        const double *u = v + i * g->outputs;
        (void)probabilities(f + i * g->outputs, g->outputs, 0, p);
        for (int64_t c = 0; c < g->outputs; c++)
            mean += p[c] * u[c];
        for (int64_t c = 0; c < g->outputs; c++)
            p[c] *= g->weight[first + i] * (u[c] - mean);
    }
}

/* ---- the learner ------------------------------------------------------------------------------*/

/* The heaviest object: what coefficients are measured by. */
static double heaviest(const mcr_goal *g)
{
    double most = 0;
    for (int64_t i = 0; i < g->n; i++)
        most = fmax(most, g->weight[i]);
    return most;
}

/* The coefficients of an approximate problem are not kept, so their identity certifies nothing that
 * a model holds: the tolerance is that of the relative gap, for every solver and any number of
 * processes. */
static mcr_smooth state_problem(const mcr_goal *g, const params *o, const mcr_form *form)
{
    bool two = g->outputs == 1;
    return (mcr_smooth){
        .columns = g->outputs,
        .mu = two ? o->lambda : 2 * o->lambda,
        .loss = two ? loss_of_two : loss_of_many,
        .curve = two ? curve_of_two : curve_of_many,
        .self = g,
        .bend = two ? 0.25 : 0.5,
        .weight = g->weight,
        .balanced = !two,
        .identity = form->map ? INFINITY : o->tol * heaviest(g),
        .gap = form->map ? o->tol : INFINITY,
        .most_steps = o->max_steps == INT64_MIN ? 0 : o->max_steps,
        .seconds = isnan(o->time_limit) ? 0 : o->time_limit,
        .phase = "logistic",
    };
}

static mcr_status finish(mcr_fitted **out, const mcr_goal *g, const mcr_smooth *problem,
                         const double *a, const double *f, const mcr_smooth_result *r,
                         const mcr_learning *in, const mcr_form *form)
{
    mcr_fitted *t = NULL;
    double apart;
    mcr_form_objective of = {g->outputs, problem->loss, g, problem->mu, r->objective};
    mcr_status s = mcr_form_fitted(&t, form, g, in->data, a, &of, &apart);
    if (s)
        return s;
    t->rule = MCR_RULE_SOFTMAX;
    t->objective = t->primal = r->objective;
    t->gap = r->gap;
    t->dual = r->objective - r->gap;
    t->certificate = form->map ? "relative gap of the approximate problem"
                               : "error of the identity";
    t->value = form->map ? r->gap / fmax(fabs(r->objective), DBL_MIN) : r->rest / heaviest(g);
    t->tolerance = ((const params *)in->params)->tol;
    t->iterations = r->steps;
    t->stop = r->stop;
    s = mcr_fitted_remark_definite(t, in->kernel);
    if (!s)
        s = mcr_form_report(form, t);
    if (!s)
        s = mcr_goal_report(g, t, f);
    if (!s && !form->features)
        s = mcr_fitted_remark_zero(t, form->gram);
    if (!s)
        s = mcr_known_smooth(t, form->gram,
                             &(mcr_known_loss){.of = problem,
                                               .a = a,
                                               .f = f,
                                               .n = g->n,
                                               .logistic = true,
                                               .relative = form->map != NULL});
    t->objective_error += apart;
    return mcr_fitted_give(out, t, s);
}

/* On the span of landmarks. */
static mcr_status fit_restricted(mcr_fitted **out, const mcr_goal *g, const params *o,
                                 const mcr_learning *in, const mcr_form *form)
{
    mcr_smooth problem = state_problem(g, o, form);
    mcr_status s = mcr_restricted_fit(out, g, form, &problem);
    if (s)
        return s;
    (*out)->rule = MCR_RULE_SOFTMAX;
    return mcr_fitted_remark_definite(*out, in->kernel);
}

/* With all kernel values, or with features. */
static mcr_status fit_whole(mcr_fitted **out, const mcr_goal *g, const params *o,
                            const mcr_learning *in, mcr_form *form)
{
    mcr_smooth_result result;
    size_t all = (size_t)(g->n * g->outputs);
    double *a = mcr_alloc(in->ctx, all, sizeof *a), *f = mcr_alloc(in->ctx, all, sizeof *f);
    mcr_smooth problem = state_problem(g, o, form);
    mcr_status s = a && f ? mcr_form_gram(form, in) : MCR_NO_MEMORY;
    if (!s) {
        mcr_goal_start(g, form->map ? NULL : in->start, a);
        s = mcr_smooth_solve(form->gram, &problem, a, f, &result);
    }
    if (!s)
        s = finish(out, g, &problem, a, f, &result, in, form);
    mcr_free_all(in->ctx, a, f);
    return s;
}

static mcr_status fit(mcr_fitted **out, const mcr_learning *in)
{
    const params *o = in->params;
    mcr_goal g;
    mcr_form form = {0};
    mcr_status s = mcr_goal_open(&g, in, "logistic", MCR_TASK_CLASSIFY, o->class_weight);
    if (!s)
        s = mcr_form_open(&form, in, &o->form,
                          &(mcr_form_work){MCR_WORK_SMOOTH, 1, (double)g.n, (double)g.outputs});
    if (!s)
        s = mcr_form_is_restricted(&form) ? fit_restricted(out, &g, o, in, &form)
                                          : fit_whole(out, &g, o, in, &form);
    mcr_form_close(&form);
    mcr_goal_close(&g);
    return s;
}

const mcr_learner_type mcr_learner_logistic = {
    .name = "logistic",
    .summary = "logistic regression (maximum entropy), with probabilities",
    .task = MCR_CLASSIFY,
    .params = table,
    .params_size = sizeof(params),
    .fit = fit,
    .usual = {.option = "lambda", .range = "1e-6:10:log15"},
    .convex = true,
    .weights_count = true,
    .spreads = true,
    .dense = true,
};
