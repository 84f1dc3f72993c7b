/* ridge.c: kernel ridge regression: least squares with a penalty on |w|.
 *
 *   min sum w_i (y_i - w.Phi(x_i))^2 + lambda |w|^2
 *
 * has the solution f(x) = sum a_i K(x_i, x) with (G + lambda W^-1) a = y. It is solved in the symmetric
 * form (W^1/2 G W^1/2 + lambda) x = W^1/2 y, a = W^1/2 x, which also allows weights of 0, by a Cholesky
 * factor below the diagonal of the one matrix there is; G stays above it, for another try if the
 * factor does not exist. Several targets are columns of y and a that share the factor. Classes are
 * numbers +1 and -1, one column a class where there are more than two.
 *
 * Leaving out object i changes its residual to e_i = a_i / (G + lambda W^-1)^-1_ii, so one factor gives
 * all leave-one-out errors; and from the eigenvectors of G they follow for any number of lambdas.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/params.h"
#include "base/threads.h"
#include "learn/goal.h"
#include "learn/ridge_features.h"
#include "linalg/blas.h"
#include "linalg/lapack.h"
#include "linalg/shared.h"

typedef struct params {
    char *lambda, *class_weight;
    double tol;
    int task, loo;
    mcr_side_options sides;
} params;

static const mcr_param table[] = {
    {"lambda", MCR_TEXT, offsetof(params, lambda), "1", 0, 0, 0, NULL,
     "weight of |w|^2; of a range (1e-6:1e3:log20) the best is taken"},
    MCR_TASK_PARAM(params),
    MCR_CLASS_WEIGHT_PARAM(params),
    {"loo", MCR_FLAG, offsetof(params, loo), "no", 0, 0, 0, NULL,
     "the leave-one-out error, for twice the time"},
    {"tol", MCR_REAL, offsetof(params, tol), "1e-06", 0, INFINITY, MCR_MIN_OPEN, NULL,
     "largest residual of the linear system, relative to the targets"},
    MCR_SIDE_PARAMS(params),
    {0},
};

typedef struct ridge {
    mcr *ctx;
    const params *options;
    mcr_goal goal;
    mcr_gram *gram;
    mcr_square m;     /* W^1/2 G W^1/2 above the diagonal, the factor below */
    double *diagonal; /* of W^1/2 G W^1/2 */
    double *root;     /* of the weights */
    double *b, *x;    /* n x outputs: right-hand sides, solutions */
    double *f;        /* n x outputs: G a */
    double *rest;     /* n x outputs: what is left of b */
    double *inverse;  /* n: diagonal of the inverse, if asked for */
    double lambda, jitter, residual;
    int64_t corrections;
} ridge;

/* ---- lambda ------------------------------------------------------------------------------------*/

static mcr_status parse_lambda(mcr_reals *out, mcr *ctx, const params *o)
{
    mcr_status s = mcr_range_parse(out, ctx, "ridge", "lambda", o->lambda);
    if (!s && !(out->values[0] >= 0)) {
        s = mcr_fail(ctx, MCR_BAD_CALL, "ridge: lambda must be at least 0, not \"%s\"", o->lambda);
        mcr_free(ctx, out->values);
        *out = (mcr_reals){0, NULL};
    }
    return s;
}

/* Whether something is asked for that is done with kernel values only. */
static bool needs_kernel(const params *o, const mcr_reals *lambda)
{
    return o->loo || lambda->count > 1 || lambda->values[0] == 0;
}

static mcr_status check(mcr *ctx, const void *values)
{
    const params *o = values;
    mcr_reals lambda;
    mcr_status s = parse_lambda(&lambda, ctx, o);
    if (!s && needs_kernel(o, &lambda))
        s = mcr_side_refuse(ctx, &o->sides, "ridge",
                            o->loo             ? "the leave-one-out error"
                            : lambda.count > 1 ? "a range of lambda"
                                               : "lambda = 0");
    mcr_free(ctx, lambda.values);
    return s;
}

/* ---- the matrix --------------------------------------------------------------------------------*/

static mcr_status fill(ridge *r)
{
    mcr_status s = mcr_gram_matrix(r->gram, r->m.a, r->m.ld);
    bool weighted = false;
    for (int64_t i = 0; i < r->goal.n; i++)
        weighted |= r->root[i] != 1;
    for (int64_t i = 0; i < r->goal.n && !s; i++) {
        double *row = r->m.a + i * r->m.ld;
        for (int64_t j = 0; j < r->goal.n && weighted; j++)
            row[j] *= r->root[i] * r->root[j];
        r->diagonal[i] = row[i];
    }
    return s;
}

static mcr_status factorise(ridge *r)
{
    for (int64_t i = 0; i < r->goal.n; i++)
        r->m.a[i * r->m.ld + i] = r->diagonal[i] + r->lambda + r->jitter;
    return mcr_lapack_cholesky(r->ctx, r->goal.n, r->m.a, r->m.ld, "ridge", NULL);
}

/* ---- one lambda --------------------------------------------------------------------------------*/

/* f = G a, from fresh kernel values. Where these are slow and all weights are above 0 it is made from the
 * triangle that holds them, and is then f_i root_i. */
static mcr_status multiply(ridge *r, bool *scaled)
{
    int64_t n = r->goal.n, k = r->goal.outputs;
    *scaled = mcr_gram_is_slow(r->gram);
    for (int64_t i = 0; i < n && *scaled; i++)
        *scaled = r->root[i] > 0;
    if (*scaled)
        return mcr_square_multiply_upper(&r->m, r->diagonal, r->x, k, r->f);
    for (int64_t i = 0; i < n * k; i++)
        r->rest[i] = r->root[i / k] * r->x[i];
    return mcr_gram_multiply(r->gram, r->rest, k, r->f);
}

/* f = G a and rest = b - (W^1/2 G W^1/2 + lambda + jitter) x; the norm of rest relative to that of b,
 * of the worst column: targets may have any scales. */
static mcr_status judge(ridge *r)
{
    int64_t n = r->goal.n, k = r->goal.outputs;
    bool scaled;
    mcr_status s = multiply(r, &scaled);
    r->residual = 0;
    for (int64_t o = 0; o < k && !s; o++) {
        double left = 0, all = 0;
        for (int64_t i = 0, at = o; i < n; i++, at += k) {
            r->f[at] = scaled ? r->f[at] / r->root[i] : r->f[at];
            r->rest[at] = r->b[at] - r->root[i] * r->f[at] - (r->lambda + r->jitter) * r->x[at];
            left += r->rest[at] * r->rest[at];
            all += r->b[at] * r->b[at];
        }
        double own = all > 0 ? sqrt(left / all) : sqrt(left);
        if (isnan(own) || own > r->residual)
            r->residual = own;
    }
    return s;
}

/* Solves, and corrects the solution by its own residual as long as that helps (iterative refinement). */
static mcr_status solve(ridge *r)
{
    enum { MOST = 4 };
    int64_t n = r->goal.n, k = r->goal.outputs;
    memcpy(r->x, r->b, sizeof *r->x * (size_t)(n * k));
    mcr_status s = mcr_lapack_solve(r->ctx, n, k, r->m.a, r->m.ld, r->x, k);
    if (!s)
        s = judge(r);
    double before = INFINITY;
    r->corrections = 0;
    while (!s && r->residual > 1e-3 * r->options->tol && r->residual < 0.5 * before &&
           r->corrections < MOST) {
        before = r->residual;
        r->corrections++;
        s = mcr_lapack_solve(r->ctx, n, k, r->m.a, r->m.ld, r->rest, k);
        for (int64_t i = 0; i < n * k && !s; i++)
            r->x[i] += r->rest[i];
        if (!s)
            s = judge(r);
    }
    return s;
}

/* Where G + lambda has no factor, or none that is good enough, because it is singular but for rounding,
 * a share of its trace, which bounds its largest eigenvalue, is added to the diagonal: first as little
 * as leaves the residual within the usual tolerance. If more does not help, the kernel is no kernel. */
static mcr_status solve_somehow(ridge *r)
{
    static const double share[] = {0, 1e-10, 1e-8};
    double trace = 0;
    mcr_status s = MCR_OK;
    for (int64_t i = 0; i < r->goal.n; i++)
        trace += fabs(r->diagonal[i]);
    for (size_t t = 0; t < sizeof share / sizeof *share; t++) {
        if (t > 0)
            mcr_shared_mend(r->goal.n, r->m.a, r->m.ld, r->diagonal);
        r->jitter = share[t] * trace;
        s = factorise(r);
        if (!s)
            s = solve(r);
        if (s ? s != MCR_NUMERIC : r->residual <= r->options->tol)
            return s;
    }
    return s ? mcr_fail(r->ctx, MCR_NUMERIC,
                        "ridge: G + lambda is not positive definite, not even with %.1e on its "
                        "diagonal: take a larger lambda than %g, or see whether it is a kernel "
                        "(mercer check)",
                        r->jitter, r->lambda)
             : MCR_OK;
}

/* ---- leaving out -------------------------------------------------------------------------------*/

/* What predictions of objects by the others cost: mean square error (also over targets), or share of
 * wrong classes, by weight. x is n x outputs, inverse the diagonal of (W^1/2 G W^1/2 + lambda)^-1. */
static double left_out(const mcr_goal *g, const double *root, const double *x,
                       const double *inverse)
{
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
        if (!(r->root[i] > 0))
            return MCR_OK;
    f->left_out = mcr_alloc(f->ctx, (size_t)(g->n * g->outputs), sizeof *f->left_out);
    for (int64_t e = 0; f->left_out && e < g->n * g->outputs; e++) {
        int64_t i = e / g->outputs;
        f->left_out[e] = g->y[e] - r->x[e] / (r->root[i] * r->inverse[i]);
    }
    return f->left_out ? MCR_OK : MCR_NO_MEMORY;
}

typedef struct path_job {
    const ridge *r;
    const double *value;      /* eigenvalues; row k of r->m is the eigenvector of value[k] */
    const double *projection; /* n x outputs: eigenvectors times b */
    double lambda;
    double *x, *inverse; /* to fill */
} path_job;

enum { CHUNK = 256 };

static mcr_status path_chunk(void *arg, int64_t item, int worker)
{
    (void)worker;
    const path_job *j = arg;
    const ridge *r = j->r;
    int64_t n = r->goal.n, k = r->goal.outputs, first = item * CHUNK;
    int64_t end = first + CHUNK < n ? first + CHUNK : n;
    memset(j->inverse + first, 0, sizeof *j->inverse * (size_t)(end - first));
    memset(j->x + first * k, 0, sizeof *j->x * (size_t)((end - first) * k));
    for (int64_t e = 0; e < n; e++) {
        const double *v = r->m.a + e * r->m.ld;
        double d = 1 / (j->value[e] + j->lambda);
        for (int64_t i = first; i < end; i++)
            j->inverse[i] += v[i] * v[i] * d;
        for (int64_t o = 0; o < k; o++) {
            double c = j->projection[e * k + o] * d;
            for (int64_t i = first; i < end; i++)
                j->x[i * k + o] += v[i] * c;
        }
    }
    return MCR_OK;
}

/* The leave-one-out error of each lambda, INFINITY where there is no solution. */
static mcr_status walk_path(ridge *r, const double *value, const double *projection,
                            const mcr_reals *lambda, double *error)
{
    int64_t n = r->goal.n;
    double least = fmax(fabs(value[0]), fabs(value[n - 1])) * DBL_EPSILON * (double)n;
    path_job j = {
        .r = r, .value = value, .projection = projection, .x = r->x, .inverse = r->inverse};
    mcr_status s = MCR_OK;
    for (int64_t t = 0; t < lambda->count && !s; t++) {
        j.lambda = lambda->values[t];
        error[t] = INFINITY;
        if (!(value[0] + j.lambda > least))
            continue;
        s = mcr_parallel(r->ctx, (n + CHUNK - 1) / CHUNK, path_chunk, &j);
        if (!s)
            error[t] = left_out(&r->goal, r->root, r->x, r->inverse);
    }
    return s;
}

/* Picks lambda from the eigenvalues and eigenvectors of W^1/2 G W^1/2, which take the place of it. */
static mcr_status pick_lambda(ridge *r, const mcr_reals *lambda, double *error)
{
    int64_t n = r->goal.n, k = r->goal.outputs;
    size_t bytes = 2 * (size_t)n * (size_t)n * sizeof(double);
    double *value = mcr_alloc(r->ctx, (size_t)n, sizeof *value);
    double *projection = mcr_alloc(r->ctx, (size_t)n, (size_t)k * sizeof *projection);
    mcr_status s = value && projection ? MCR_OK : MCR_NO_MEMORY;
    if (!s)
        s = mcr_budget_take(r->ctx, bytes, "ridge: the eigenvectors for a path of lambda");
    if (!s) {
        s = mcr_shared_eigen(r->ctx, n, r->m.a, r->m.ld, value);
        mcr_budget_give(r->ctx, bytes);
    }
    if (!s)
        s = mcr_shared_gemm(r->ctx, MCR_AS_IS, MCR_AS_IS, n, k, n, 1, r->m.a, r->m.ld, r->b, k, 0,
                            projection, k);
    if (!s)
        s = walk_path(r, value, projection, lambda, error);
    int64_t best = 0;
    for (int64_t t = 1; t < lambda->count && !s; t++)
        best = error[t] <= error[best] ? t : best;
    r->lambda = lambda->values[best];
    if (!s && !isfinite(error[best]))
        s = mcr_fail(
            r->ctx, MCR_NUMERIC,
            "ridge: G + lambda is not positive definite for any lambda of %s (the smallest "
            "eigenvalue is %.1e): take larger ones",
            r->options->lambda, value[0]);
    mcr_free(r->ctx, value);
    mcr_free(r->ctx, projection);
    return s;
}

/* ---- the learner -------------------------------------------------------------------------------*/

static mcr_status open_ridge(ridge *r, const mcr_learning *in, bool path)
{
    *r = (ridge){.ctx = in->ctx, .options = in->params};
    mcr_status s = mcr_goal_open(&r->goal, in, "ridge", r->options->task, r->options->class_weight);
    size_t n = (size_t)r->goal.n, all = n * (size_t)r->goal.outputs;
    if (s)
        return s;
    double **room[] = {&r->diagonal, &r->root, &r->b, &r->x, &r->f, &r->rest};
    for (size_t a = 0; a < sizeof room / sizeof *room && !s; a++)
        if (!(*room[a] = mcr_alloc(r->ctx, a < 2 ? n : all, sizeof(double))))
            s = MCR_NO_MEMORY;
    if (!s && (path || r->options->loo) && !(r->inverse = mcr_alloc(r->ctx, n, sizeof *r->inverse)))
        s = MCR_NO_MEMORY;
    for (int64_t i = 0; i < r->goal.n && !s; i++) {
        r->root[i] = sqrt(r->goal.weight[i]);
        for (int64_t o = 0; o < r->goal.outputs; o++)
            r->b[i * r->goal.outputs + o] = r->root[i] * r->goal.y[i * r->goal.outputs + o];
    }
    if (!s)
        s = mcr_gram_open(&r->gram, r->ctx, in->kernel, in->data, NULL);
    return s ? s : mcr_square_open(&r->m, r->ctx, r->goal.n, "ridge: the kernel matrix");
}

static void close_ridge(ridge *r)
{
    mcr_square_close(&r->m);
    mcr_gram_close(r->gram);
    mcr_free(r->ctx, r->diagonal);
    mcr_free(r->ctx, r->root);
    mcr_free(r->ctx, r->b);
    mcr_free(r->ctx, r->x);
    mcr_free(r->ctx, r->f);
    mcr_free(r->ctx, r->rest);
    mcr_free(r->ctx, r->inverse);
    mcr_goal_close(&r->goal);
}

static mcr_status finish(mcr_fitted **out, ridge *r)
{
    const mcr_goal *g = &r->goal;
    mcr_fitted *f = NULL;
    double objective = 0;
    for (int64_t i = 0; i < g->n * g->outputs; i++) {
        double a = r->root[i / g->outputs] * r->x[i], e = g->y[i] - r->f[i];
        objective += g->weight[i / g->outputs] * e * e + r->lambda * a * r->f[i];
        r->rest[i] = a;
    }
    mcr_status s = mcr_goal_fitted(&f, g, r->rest);
    if (s)
        return s;
    f->objective = objective;
    f->certificate = "relative residual";
    f->value = r->residual;
    f->tolerance = r->options->tol;
    f->stop = r->residual <= r->options->tol ? MCR_STOP_OPTIMAL : MCR_STOP_STUCK;
    f->iterations = 1 + r->corrections;
    s = mcr_goal_tell(g, f, r->f);
    if (!s)
        s = mcr_fitted_remark_zero(f, r->gram);
    if (!s)
        s = mcr_fitted_keep(f, "lambda", &r->lambda, 1);
    if (!s && r->jitter > 0)
        s = mcr_fitted_remark(
            f, "G + lambda is singular to rounding: %.1e was added to its diagonal", r->jitter);
    if (s)
        mcr_fitted_free(f);
    else
        *out = f;
    return s;
}

/* What was found on the way to lambda, for the report and for plots. */
static mcr_status keep_path(mcr_fitted *f, const mcr_reals *lambda, const double *error,
                            const ridge *r)
{
    int64_t tried = 0;
    double *pairs = mcr_alloc(f->ctx, (size_t)lambda->count, 2 * sizeof *pairs);
    if (!pairs)
        return MCR_NO_MEMORY;
    double loo = 0;
    for (int64_t t = 0; t < lambda->count; t++)
        if (isfinite(error[t])) {
            pairs[2 * tried] = lambda->values[t];
            pairs[2 * tried++ + 1] = error[t];
            loo = lambda->values[t] == r->lambda ? error[t] : loo;
        }
    mcr_status s = mcr_fitted_keep(f, "path", pairs, 2 * tried);
    if (!s)
        s = mcr_fitted_keep(f, MCR_EXTRA_LOO, &loo, 1);
    if (!s)
        s = mcr_fitted_remark(f, "lambda = %.6g, of %lld by the leave-one-out error", r->lambda,
                              (long long)lambda->count);
    mcr_free(f->ctx, pairs);
    return s;
}

static mcr_status run(mcr_fitted **out, ridge *r, const mcr_reals *lambda, double *error)
{
    bool path = lambda->count > 1;
    mcr_status s = fill(r);
    r->lambda = lambda->values[0];
    if (!s && path) {
        s = pick_lambda(r, lambda, error);
        if (!s)
            s = fill(r); /* the eigenvectors took its place */
    }
    if (!s)
        s = solve_somehow(r);
    if (!s && r->options->loo && !path)
        s = mcr_lapack_inverse(r->ctx, r->goal.n, r->m.a, r->m.ld, false, r->inverse);
    if (!s)
        s = finish(out, r);
    if (!s && path) {
        s = keep_path(*out, lambda, error, r);
    } else if (!s && r->options->loo) {
        double loo = left_out(&r->goal, r->root, r->x, r->inverse);
        s = mcr_fitted_keep(*out, MCR_EXTRA_LOO, &loo, 1);
        if (!s)
            s = keep_left_out(*out, r);
    }
    if (s) {
        mcr_fitted_free(*out);
        *out = NULL;
    }
    return s;
}

/* ---- from features -----------------------------------------------------------------------------*/

static mcr_status finish_features(mcr_fitted **out, const mcr_goal *g, const params *o,
                                  double lambda, const mcr_side *side, const mcr_ridge_result *r)
{
    mcr_fitted *f = NULL;
    mcr_status s = side->map ? mcr_side_goal(&f, side, g, r->w) : mcr_goal_fitted(&f, g, r->a);
    if (s)
        return s;
    f->objective = 0;
    for (int64_t i = 0; i < g->n * g->outputs; i++) {
        double e = g->y[i] - r->f[i];
        f->objective += g->weight[i / g->outputs] * e * e + lambda * r->a[i] * r->f[i];
    }
    f->certificate = side->map ? "relative residual of the approximate problem"
                               : "relative residual";
    f->value = r->residual;
    f->tolerance = o->tol;
    f->stop = r->residual <= o->tol ? MCR_STOP_OPTIMAL : MCR_STOP_STUCK;
    f->iterations = r->steps;
    s = mcr_goal_tell(g, f, r->f);
    if (!s)
        s = mcr_fitted_keep(f, "lambda", &lambda, 1);
    if (!s)
        s = mcr_side_tell(side, f);
    if (s)
        mcr_fitted_free(f);
    else
        *out = f;
    return s;
}

static mcr_status run_features(mcr_fitted **out, const mcr_goal *g, const params *o, double lambda,
                               const mcr_side *side)
{
    size_t all = (size_t)(g->n * g->outputs), wide = (size_t)(side->design.p * g->outputs);
    mcr_ridge_result r = {.a = mcr_alloc(g->ctx, all, sizeof(double)),
                          .f = mcr_alloc(g->ctx, all, sizeof(double)),
                          .w = mcr_alloc(g->ctx, wide, sizeof(double))};
    mcr_status s = r.a && r.f && r.w ? MCR_OK : MCR_NO_MEMORY;
    if (!s)
        s = mcr_ridge_features(g, &side->design, lambda, o->tol, &r);
    if (!s)
        s = finish_features(out, g, o, lambda, side, &r);
    mcr_free(g->ctx, r.a);
    mcr_free(g->ctx, r.f);
    mcr_free(g->ctx, r.w);
    return s;
}

static mcr_status run_kernel(mcr_fitted **out, const mcr_learning *in, const mcr_reals *lambda)
{
    ridge r = {0};
    double *error = mcr_alloc(in->ctx, (size_t)lambda->count, sizeof *error);
    mcr_status s = error ? open_ridge(&r, in, lambda->count > 1) : MCR_NO_MEMORY;
    if (!s)
        s = run(out, &r, lambda, error);
    if (r.ctx)
        close_ridge(&r);
    mcr_free(in->ctx, error);
    return s;
}

static mcr_status fit(mcr_fitted **out, const mcr_learning *in)
{
    *out = NULL;
    const params *o = in->params;
    mcr_goal g = {0};
    mcr_side side = {0};
    mcr_reals lambda;
    mcr_status s = parse_lambda(&lambda, in->ctx, o);
    if (s)
        return s;
    s = mcr_goal_open(&g, in, "ridge", o->task, o->class_weight);
    if (!s && !needs_kernel(o, &lambda))
        s = mcr_side_open(&side, in, &o->sides,
                          &(mcr_side_work){MCR_WORK_RIDGE, 1, (double)g.n, (double)g.outputs});
    if (!s && side.features)
        s = run_features(out, &g, o, lambda.values[0], &side);
    else if (!s && !(s = run_kernel(out, in, &lambda)))
        s = mcr_side_tell(&side, *out);
    if (s) {
        mcr_fitted_free(*out);
        *out = NULL;
    }
    mcr_side_close(&side);
    mcr_goal_close(&g);
    mcr_free(in->ctx, lambda.values);
    return s;
}

const mcr_learner_type mcr_learner_ridge = {
    .name = "ridge",
    .summary = "kernel ridge regression: least squares with a penalty",
    .task = MCR_EITHER,
    .params = table,
    .params_size = sizeof(params),
    .check = check,
    .fit = fit,
    .leaves_out = true,
    .dense = true,
    .several_targets = true,
};
