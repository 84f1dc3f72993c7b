/* ridge.c: kernel ridge regression: least squares with a penalty on |w|.
 *
 *   min sum w_i (y_i - w.Phi(x_i))^2 + lambda |w|^2
 *
 * has the solution f(x) = sum a_i K(x_i, x) with (G + lambda W^-1) a = y (solve/squares.h). Classes
 * are numbers +1 and -1, one column per class where there are more than two.
 *
 * Leaving out object i changes its residual to e_i = a_i / (G + lambda W^-1)^-1_ii, so one factor
 * gives all leave-one-out errors; and from the eigenvectors of G they follow for any number of
 * lambdas.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/params.h"
#include "learn/restricted.h"
#include "solve/squares.h"

typedef struct mcr_ridge_params {
    char *lambda, *class_weight;
    double tol, time_limit;
    int task, loo;
    mcr_form_options form;
} mcr_ridge_params;

typedef struct ridge {
    mcr *ctx;
    const mcr_ridge_params *options;
    mcr_goal goal;
    mcr_form form;
    mcr_squares q;
    mcr_map *map;     /* of q.near */
    mcr_reals lambda; /* one, or a path to choose from */
    double *error;    /* of each by leave-one-out, INFINITY where there is no solution */
} ridge;

static const mcr_param table[] = {
    {"lambda", MCR_TEXT, offsetof(mcr_ridge_params, lambda), "1", 0, 0, MCR_MAY_RANGE, NULL,
     "weight of |w|^2; from a range (1e-6:1e3:log20) the best value is chosen"},
    MCR_TASK_PARAM(mcr_ridge_params),
    MCR_CLASS_WEIGHT_PARAM(mcr_ridge_params),
    {MCR_OPTION_LOO, MCR_FLAG, offsetof(mcr_ridge_params, loo), "no", 0, 0, 0, NULL,
     "compute the leave-one-out error, in about twice the time"},
    {"tol", MCR_REAL, offsetof(mcr_ridge_params, tol), "1e-06", 0, INFINITY, MCR_MIN_OPEN, NULL,
     "largest residual of the linear system, relative to the targets"},
    MCR_TIME_LIMIT_PARAM(mcr_ridge_params, "seconds after which the training ends without a model"),
    MCR_APPROX_AUTO_PARAMS(mcr_ridge_params),
    {0},
};

/* ---- lambda -----------------------------------------------------------------------------------*/

static mcr_status parse_lambda(mcr_reals *out, mcr *ctx, const mcr_ridge_params *o)
{
    mcr_status s = mcr_range_parse(out, ctx, "ridge", "lambda", o->lambda);
    if (!s && !(out->values[0] >= 0)) {
        s = mcr_fail(ctx, MCR_BAD_CALL, "ridge: lambda must be at least 0, not \"%s\"", o->lambda);
        mcr_free(ctx, out->values);
        *out = (mcr_reals){0, NULL};
    }
    return s;
}

/* Whether an option is set that needs kernel values. */
static bool needs_kernel(const mcr_ridge_params *o, const mcr_reals *lambda)
{
    return o->loo || lambda->count > 1 || lambda->values[0] == 0;
}

static mcr_status check(mcr *ctx, const void *values)
{
    const mcr_ridge_params *o = values;
    mcr_reals lambda;
    mcr_status s = parse_lambda(&lambda, ctx, o);
    if (!s && needs_kernel(o, &lambda))
        s = mcr_form_refuse(ctx, &o->form, "ridge",
                            o->loo             ? "the leave-one-out error"
                            : lambda.count > 1 ? "a range of lambda"
                                               : "lambda = 0");
    mcr_free(ctx, lambda.values);
    return s;
}

/* ---- leaving out objects ----------------------------------------------------------------------*/

/* What predictions of objects by the others cost: mean square error (also over targets), or share
 * of wrong classes, by weight. */
static double left_out(const ridge *r)
{
    const mcr_goal *g = &r->goal;
    const double *root = r->q.root, *x = r->q.x, *inverse = r->q.inverse;
    double sum = 0;
    for (int64_t i = 0; i < g->n; i++) {
        double best = -INFINITY, first = 0;
        int64_t chosen = 0;
        for (int64_t o = 0; o < g->outputs && root[i] > 0; o++) {
            double e = x[i * g->outputs + o] / (root[i] * inverse[i]);
            double f = g->y[i * g->outputs + o] - e;
            if (g->task == MCR_REGRESS)
                sum += g->weight[i] * e * e / (double)g->outputs;
            chosen = f > best ? o : chosen;
            best = fmax(best, f);
            first = o == 0 ? f : first;
        }
        if (g->rule == MCR_RULE_BINARY)
            chosen = first > 0;
        if (g->task == MCR_CLASSIFY && chosen != g->class_of[i])
            sum += g->weight[i];
    }
    return sum / g->total;
}

/* The decision values behind it, n x outputs; not kept where a weight is 0. */
static mcr_status keep_left_out(mcr_fitted *f, const ridge *r)
{
    const mcr_goal *g = &r->goal;
    for (int64_t i = 0; i < g->n; i++)
        if (!(r->q.root[i] > 0))
            return MCR_OK;
    f->left_out = mcr_alloc(f->ctx, (uint64_t)(g->n * g->outputs), sizeof *f->left_out);
    for (int64_t e = 0; f->left_out && e < g->n * g->outputs; e++) {
        int64_t i = e / g->outputs;
        f->left_out[e] = g->y[e] - r->q.x[e] / (r->q.root[i] * r->q.inverse[i]);
    }
    return f->left_out ? MCR_OK : MCR_NO_MEMORY;
}

/* Picks lambda by the leave-one-out error. */
static mcr_status pick_lambda(ridge *r, double *lambda)
{
    const double *value = r->lambda.values;
    int64_t best = 0, count = r->lambda.count;
    r->error = mcr_alloc(r->ctx, (size_t)count, sizeof *r->error);
    mcr_status s = r->error ? mcr_squares_eigen(&r->q) : MCR_NO_MEMORY;
    for (int64_t t = 0; t < count && !s; t++) {
        bool exists;
        s = mcr_squares_at(&r->q, value[t], &exists);
        r->error[t] = !s && exists ? left_out(r) : INFINITY;
        best = r->error[t] <= r->error[best] ? t : best;
    }
    *lambda = value[best];
    if (!s && !isfinite(r->error[best]))
        s = mcr_fail(r->ctx, MCR_NUMERIC,
                     "ridge: G + lambda is not positive definite for any lambda of %s (the "
                     "smallest eigenvalue is %.1e): use larger ones",
                     r->options->lambda, r->q.value[0]);
    return s;
}

/* The path that led to lambda, for the report and for plots. */
static mcr_status keep_path(mcr_fitted *f, const ridge *r)
{
    int64_t tried = 0;
    double *pairs = mcr_alloc(f->ctx, (size_t)r->lambda.count, 2 * sizeof *pairs);
    if (!pairs)
        return MCR_NO_MEMORY;
    double loo = 0;
    for (int64_t t = 0; t < r->lambda.count; t++)
        if (isfinite(r->error[t])) {
            pairs[2 * tried] = r->lambda.values[t];
            pairs[2 * tried++ + 1] = r->error[t];
            loo = r->lambda.values[t] == r->q.lambda ? r->error[t] : loo;
        }
    mcr_status s = mcr_fitted_keep(f, "path", pairs, 2 * tried);
    if (!s)
        s = mcr_fitted_keep(f, MCR_EXTRA_LOO, &loo, 1);
    if (!s)
        s = mcr_fitted_remark(f, "lambda = %.6g, the best of %lld by the leave-one-out error",
                              r->q.lambda, (long long)r->lambda.count);
    mcr_free(f->ctx, pairs);
    return s;
}

/* ---- the model --------------------------------------------------------------------------------*/

static mcr_status remark(mcr_fitted *f, const ridge *r)
{
    const mcr_squares *q = &r->q;
    mcr_status s = MCR_OK;
    if (q->near && !q->most)
        s = mcr_fitted_remark(f,
                              "the kernel matrix does not fit into memory: conjugate gradients "
                              "with %lld products, preconditioned by %lld landmarks",
                              (long long)q->steps, (long long)mcr_gram_width(q->near));
    if (!s)
        s = mcr_fitted_remark_zero(f, q->gram);
    if (!s && q->jitter > 0)
        s = mcr_fitted_remark(f,
                              "G + lambda is numerically singular: %.1e was added to its diagonal "
                              "for the factorisation%s; the relative residual is %.1e",
                              q->jitter, r->options->loo ? " and the leave-one-out error" : "",
                              q->residual);
    return s;
}

static double squared_loss(const void *self, int64_t first, int64_t count, const double *f,
                           double *gradient)
{
    const mcr_goal *g = self;
    const double *y = g->y + first * g->outputs, *weight = g->weight + first;
    double sum = 0;
    for (int64_t i = 0; i < count * g->outputs; i++) {
        double w = weight[i / g->outputs], e = y[i] - f[i];
        sum += w * e * e;
        gradient[i] = -2 * w * e;
    }
    return sum;
}

static mcr_status finish(mcr_fitted **out, ridge *r, const mcr_data *data)
{
    mcr_squares *q = &r->q;
    mcr_squares_known known;
    double apart;
    double *a = mcr_alloc(r->ctx, (uint64_t)(q->n * q->outputs), sizeof *a);
    mcr_status s = a ? mcr_squares_certify(q, a, &known) : MCR_NO_MEMORY;
    if (!s)
        s = mcr_form_fitted(out, &r->form, &r->goal, data, a,
                            &(mcr_form_objective){r->goal.outputs, squared_loss, &r->goal,
                                                  2 * q->lambda, known.objective},
                            &apart);
    mcr_free(r->ctx, a);
    if (s)
        return s;
    mcr_fitted *f = *out;
    bool solved = mcr_squares_is_solved(q);
    f->objective = known.objective;
    f->objective_error = known.objective_error + apart;
    f->value_error = known.value_error;
    f->certificate = r->form.map ? (solved ? "relative residual of the approximate problem"
                                           : "relative gradient of the approximate problem")
                     : solved    ? "relative residual"
                                 : "relative gradient";
    f->value = solved ? q->residual : q->gradient;
    f->tolerance = q->tol;
    f->stop = f->value + f->value_error <= q->tol ? MCR_STOP_OPTIMAL : MCR_STOP_STUCK;
    f->iterations = q->steps;
    s = mcr_goal_report(&r->goal, f, q->f);
    if (!s)
        s = remark(f, r);
    if (!s)
        s = mcr_fitted_keep(f, "lambda", &q->lambda, 1);
    return s ? s : mcr_form_report(&r->form, f);
}

/* ---- training ---------------------------------------------------------------------------------*/

/* If the kernel matrix does not fit into memory, or if a factor takes longer than some products:
 * landmarks, for a preconditioner. */
static mcr_status open_near(ridge *r, const mcr_learning *in, double lambda)
{
    mcr_squares *q = &r->q;
    bool large = mcr_squares_is_large(q, lambda);
    q->most = large ? 0 : mcr_squares_products(q, lambda);
    return large || q->most ? mcr_form_near(&q->near, &r->map, in, mcr_squares_rank(q)) : MCR_OK;
}

static mcr_status run(mcr_fitted **out, ridge *r, const mcr_learning *in)
{
    mcr_squares *q = &r->q;
    bool path = r->lambda.count > 1, loo = r->options->loo;
    double lambda = r->lambda.values[0], error;
    mcr_status s = mcr_form_gram(&r->form, in);
    if (r->form.features)
        mcr_gram_factor_phase(r->form.gram, "ridge");
    if (!s)
        s = mcr_squares_open(q, r->form.gram, r->goal.y, r->goal.weight, r->goal.outputs,
                             r->options->tol);
    if (!s && path)
        s = pick_lambda(r, &lambda);
    else if (!s && !loo && !r->form.features && !in->gram)
        s = open_near(r, in, lambda);
    if (!s)
        s = mcr_squares_solve(q, lambda, path || loo);
    if (!s)
        s = finish(out, r, in->data);
    if (!s && path)
        return keep_path(*out, r);
    if (s || !loo)
        return s;
    s = mcr_squares_invert(q);
    error = s ? NAN : left_out(r);
    if (!s)
        s = mcr_fitted_keep(*out, MCR_EXTRA_LOO, &error, 1);
    return s ? s : keep_left_out(*out, r);
}

static void squared_curve(const void *self, int64_t first, int64_t count, const double *f,
                          const double *v, double *hv)
{
    const mcr_goal *g = self;
    (void)f;
    for (int64_t i = 0; i < count * g->outputs; i++)
        hv[i] = 2 * g->weight[first + i / g->outputs] * v[i];
}

/* The loss with lambda |w|^2, to a gap of tol. */
static mcr_smooth squared(const mcr_goal *goal, double lambda, double tol)
{
    return (mcr_smooth){.columns = goal->outputs,
                        .mu = 2 * lambda,
                        .loss = squared_loss,
                        .curve = squared_curve,
                        .self = goal,
                        .bend = 2,
                        .weight = goal->weight,
                        .quadratic = true,
                        .identity = INFINITY,
                        .gap = tol,
                        .phase = "ridge"};
}

static mcr_status run_restricted(mcr_fitted **out, const ridge *r)
{
    double lambda = r->lambda.values[0];
    mcr_smooth problem = squared(&r->goal, lambda, r->options->tol);
    mcr_status s = mcr_restricted_fit(out, &r->goal, &r->form, &problem);
    return s ? s : mcr_fitted_keep(*out, "lambda", &lambda, 1);
}

static mcr_status fit(mcr_fitted **out, const mcr_learning *in)
{
    const mcr_ridge_params *o = in->params;
    ridge r = {.ctx = in->ctx, .options = o, .form = {.ctx = in->ctx}};
    mcr_status s = parse_lambda(&r.lambda, in->ctx, o);
    if (s)
        return s;
    s = mcr_goal_open(&r.goal, in, "ridge", o->task, o->class_weight);
    if (!s && !needs_kernel(o, &r.lambda))
        s = mcr_form_open(
            &r.form, in, &o->form,
            &(mcr_form_work){MCR_WORK_RIDGE, 1, (double)r.goal.n, (double)r.goal.outputs});
    if (!s)
        s = mcr_form_is_restricted(&r.form) ? run_restricted(out, &r) : run(out, &r, in);
    mcr_gram_close(r.q.near);
    mcr_map_close(r.map);
    mcr_squares_close(&r.q);
    mcr_form_close(&r.form);
    mcr_goal_close(&r.goal);
    mcr_free_all(in->ctx, r.error, r.lambda.values);
    return s;
}

/* ---- all folds at once ------------------------------------------------------------------------*/

/* Beyond this ratio of trace(G) to lambda the inverse loses too many digits: such a lambda is left
 * to ordinary trainings. */
#define LARGEST_CONDITION 1e9

/* Whether a setting is one lambda that the formula suits. */
static bool suits(const mcr_folds *p, double trace, const mcr_ridge_params *o, double *lambda)
{
    mcr_reals values = {0, NULL};
    const mcr_ridge_params *first = p->params[0];
    const mcr_learning in = {.ctx = p->ctx, .kernel = p->kernel, .data = p->data, .gram = p->gram};
    bool one = !o->loo && !o->class_weight && o->task == first->task &&
               o->form.form != MCR_FORM_PRIMAL && mcr_form_is_exact(&o->form, &in) &&
               !mcr_range_parse(&values, p->ctx, "ridge", "lambda", o->lambda) && values.count == 1;
    *lambda = one ? values.values[0] : 0;
    mcr_free(p->ctx, values.values);
    return one && trace <= LARGEST_CONDITION * *lambda;
}

/* A setting that is not solved (K is not a kernel's, or singular) is trained as usual, which says
 * why. */
static mcr_status solve_settings(mcr_folds *p, mcr_squares_folds *h)
{
    size_t settings = (size_t)p->settings;
    double *lambda = mcr_alloc(p->ctx, settings, sizeof *lambda);
    double **f = mcr_alloc(p->ctx, settings, sizeof *f);
    bool *exists = mcr_alloc(p->ctx, settings, sizeof *exists);
    mcr_status s = lambda && f && exists ? MCR_OK : MCR_NO_MEMORY;
    int64_t count = 0;
    for (int64_t t = 0; t < p->settings && !s; t++) {
        f[count] = p->score + t * h->q->n * h->q->outputs;
        count += p->solved[t] = suits(p, h->trace, p->params[t], lambda + count);
    }
    if (!s)
        s = mcr_squares_folds_path(h, lambda, count, f, exists);
    for (int64_t t = 0, c = 0; t < p->settings && !s; t++)
        p->solved[t] = p->solved[t] && exists[c++];
    mcr_free_all(p->ctx, lambda, f, exists);
    return s;
}

static mcr_status fill_plan(mcr_folds *p, const mcr_goal *g)
{
    p->task = g->task;
    p->rule = g->rule;
    p->classes = g->classes;
    p->outputs = g->outputs;
    memset(p->solved, 0, sizeof *p->solved * (size_t)p->settings);
    p->score = mcr_alloc(p->ctx, (size_t)p->settings,
                         (size_t)(g->n * g->outputs) * sizeof *p->score);
    return p->score ? MCR_OK : MCR_NO_MEMORY;
}

static mcr_status all_folds(mcr_folds *p)
{
    const mcr_ridge_params *first = p->params[0];
    mcr_learning in = {
        .ctx = p->ctx, .kernel = p->kernel, .data = p->data, .gram = p->gram, .params = first};
    mcr_gram *gram = NULL;
    mcr_goal goal = {0};
    mcr_squares q = {0};
    mcr_squares_folds h = {0};
    mcr_status s = mcr_goal_open(&goal, &in, "ridge", first->task, NULL);
    bool positive = true;
    for (int64_t i = 0; i < goal.n && !s; i++)
        positive &= goal.weight[i] > 0;
    if (!s)
        s = fill_plan(p, &goal);
    if (!s && positive)
        s = mcr_learning_gram(&gram, &in);
    if (!s && positive)
        s = mcr_squares_open(&q, gram, goal.y, goal.weight, goal.outputs, first->tol);
    if (!s && positive)
        s = mcr_squares_folds_open(&h, &q, p->fold, p->folds);
    if (!s && positive)
        s = solve_settings(p, &h);
    mcr_squares_folds_close(&h);
    mcr_squares_close(&q);
    mcr_gram_close(gram);
    mcr_goal_close(&goal);
    return s;
}

const mcr_learner_type mcr_learner_ridge = {
    .name = "ridge",
    .summary = "kernel ridge regression: least squares with a penalty",
    .task = MCR_EITHER,
    .params = table,
    .params_size = sizeof(mcr_ridge_params),
    .check = check,
    .fit = fit,
    .usual = {.option = "lambda", .range = "1e-6:1e3:log19", .own_path = true},
    .leaves_out = true,
    .folds = all_folds,
    .dense = true,
    .several_targets = true,
    .spreads = true,
};
