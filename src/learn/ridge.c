/* ridge.c: kernel ridge regression: least squares with a penalty on |w|.
 *
 *   min sum w_i (y_i - w.Phi(x_i))^2 + lambda |w|^2
 *
 * has the solution f(x) = sum a_i K(x_i, x) with (G + lambda W^-1) a = y. It is solved in the
 * symmetric form (W^1/2 G W^1/2 + lambda) x = W^1/2 y, a = W^1/2 x, which also allows weights of 0,
 * by a Cholesky factor below the diagonal of the one matrix there is; G stays above it, for another
 * try if the factor does not exist. Several targets are columns of y and a that share the factor.
 * Classes are numbers +1 and -1, one column per class where there are more than two.
 *
 * Where lambda is not small against G a factor in float does as well: its solution is corrected by
 * the residual, which is computed from fresh kernel values in double, until that is as small as
 * ever. It takes half of the time and of the memory.
 *
 * Where G + lambda is singular to rounding, a jitter is added for the factor alone. The
 * certificate stays that of the problem asked for: its residual r where that is small, else its
 * gradient, G r, which is 0 at a minimum even if no solution of the system exists.
 *
 * Leaving out object i changes its residual to e_i = a_i / (G + lambda W^-1)^-1_ii, so one factor
 * gives all leave-one-out errors; and from the eigenvectors of G they follow for any number of
 * lambdas.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "learn/ridge_impl.h"

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "learn/restricted.h"
#include "learn/ridge_features.h"
#include "linalg/lapack.h"

static const mcr_param table[] = {
    {"lambda", MCR_TEXT, offsetof(mcr_ridge_params, lambda), "1", 0, 0, MCR_MAY_RANGE, NULL,
     "weight of |w|^2; from a range (1e-6:1e3:log20) the best value is chosen"},
    MCR_TASK_PARAM(mcr_ridge_params),
    MCR_CLASS_WEIGHT_PARAM(mcr_ridge_params),
    {MCR_OPTION_LOO, MCR_FLAG, offsetof(mcr_ridge_params, loo), "no", 0, 0, 0, NULL,
     "compute the leave-one-out error, in about twice the time"},
    {"tol", MCR_REAL, offsetof(mcr_ridge_params, tol), "1e-06", 0, INFINITY, MCR_MIN_OPEN, NULL,
     "largest residual of the linear system, relative to the targets"},
    MCR_APPROX_PARAMS(mcr_ridge_params),
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

/* Whether something is asked for that is done with kernel values only. */
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

/* ---- the matrix -------------------------------------------------------------------------------*/

static mcr_status fill(mcr_ridge *r)
{
    bool weighted = false;
    for (int64_t i = 0; i < r->goal.n; i++)
        weighted |= r->root[i] != 1;
    mcr_status s = mcr_gram_fill_system(r->gram, &r->m, weighted ? r->root : NULL, true);
    if (!s)
        memcpy(r->diagonal, r->m.diagonal, sizeof *r->diagonal * (size_t)r->goal.n);
    return s;
}

/* ---- one lambda -------------------------------------------------------------------------------*/

/* y = G W^1/2 v, from fresh kernel values; v and y are n x outputs, y must not be part. Where
 * values are slow and all weights are above 0 it is made from the triangle that holds them, and is
 * then y_i root_i. */
static mcr_status multiply(mcr_ridge *r, const double *v, double *part, double *y, bool *scaled)
{
    int64_t n = r->goal.n, k = r->goal.outputs;
    *scaled = r->m.a && mcr_gram_is_slow(r->gram);
    for (int64_t i = 0; i < n && *scaled; i++)
        *scaled = r->root[i] > 0;
    if (*scaled)
        return mcr_system_multiply(&r->m, v, k, y);
    for (int64_t i = 0; i < n * k; i++)
        part[i] = r->root[i / k] * v[i];
    return mcr_gram_multiply(r->gram, part, k, y);
}

/* The norm of column o of v (n x outputs). */
static double norm_of(const mcr_ridge *r, const double *v, int64_t o)
{
    double sum = 0;
    for (int64_t at = o; at < r->goal.n * r->goal.outputs; at += r->goal.outputs)
        sum += v[at] * v[at];
    return sqrt(sum);
}

/* The largest ratio of the norms of columns: targets may have any scales. */
static double worst_ratio(const mcr_ridge *r, const double *v, const double *unit)
{
    double worst = 0;
    for (int64_t o = 0; o < r->goal.outputs; o++) {
        double all = norm_of(r, unit, o), own = norm_of(r, v, o) / (all > 0 ? all : 1);
        if (isnan(own) || own > worst)
            worst = own;
    }
    return worst;
}

/* f = G a and rest = b - (W^1/2 G W^1/2 + lambda) x; the norm of rest relative to that of b. */
static mcr_status evaluate(mcr_ridge *r)
{
    int64_t n = r->goal.n, k = r->goal.outputs;
    bool scaled;
    mcr_status s = multiply(r, r->x, r->rest, r->f, &scaled);
    for (int64_t at = 0; at < n * k && !s; at++) {
        double root = r->root[at / k];
        r->f[at] = scaled ? r->f[at] / root : r->f[at];
        r->rest[at] = r->b[at] - root * r->f[at] - r->lambda * r->x[at];
    }
    r->residual = s ? NAN : worst_ratio(r, r->rest, r->b);
    return s;
}

/* y = W^1/2 G W^1/2 v */
static mcr_status multiply_weighted(mcr_ridge *r, const double *v, double *part, double *y)
{
    bool scaled;
    mcr_status s = multiply(r, v, part, y, &scaled);
    for (int64_t at = 0; at < r->goal.n * r->goal.outputs && !s && !scaled; at++)
        y[at] *= r->root[at / r->goal.outputs];
    return s;
}

/* Solves for v (n x outputs) in place by the factor, or by that in float, where each column is
 * brought to a size that float can hold. */
static mcr_status apply_factor(mcr_ridge *r, double *v)
{
    int64_t n = r->goal.n, k = r->goal.outputs;
    if (!r->quick)
        return mcr_system_solve(&r->m, k, v);
    double *size = r->diagonal; /* k <= n values, no longer needed there */
    for (int64_t o = 0; o < k; o++) {
        size[o] = 0;
        for (int64_t i = 0; i < n; i++)
            size[o] = fmax(size[o], fabs(v[i * k + o]));
    }
    for (int64_t i = 0; i < n * k; i++)
        r->part[i] = size[i % k] > 0 ? (float)(v[i] / size[i % k]) : 0;
    mcr_status s = mcr_lapack_solve_float(r->ctx, n, k, r->quick, r->quick_ld, r->part, k);
    for (int64_t i = 0; i < n * k && !s; i++)
        v[i] = size[i % k] * (double)r->part[i];
    return s;
}

/* Solves, and corrects the solution by its own residual as long as that helps (iterative
 * refinement). */
static mcr_status solve(mcr_ridge *r)
{
    int64_t n = r->goal.n, k = r->goal.outputs, most = r->quick ? 12 : 4;
    memcpy(r->x, r->b, sizeof *r->x * (size_t)(n * k));
    mcr_status s = apply_factor(r, r->x);
    if (!s)
        s = evaluate(r);
    double before = INFINITY;
    r->corrections = 0;
    while (!s && r->residual > 1e-3 * r->options->tol && r->residual < 0.5 * before &&
           r->corrections < most) {
        before = r->residual;
        r->corrections++;
        s = apply_factor(r, r->rest);
        for (int64_t i = 0; i < n * k && !s; i++)
            r->x[i] += r->rest[i];
        if (!s)
            s = evaluate(r);
    }
    return s;
}

/* x += (A + j)^-1 A (A + j)^-1 rest, where A = W^1/2 G W^1/2 + lambda and j is the jitter: what
 * has no part in G would otherwise be divided by j, and the coefficients would be all rounding. */
static mcr_status add_smooth(mcr_ridge *r)
{
    mcr_status s = apply_factor(r, r->rest);
    if (!s)
        s = multiply_weighted(r, r->rest, r->slope, r->unit);
    if (!s)
        s = apply_factor(r, r->unit);
    for (int64_t i = 0; i < r->goal.n * r->goal.outputs && !s; i++)
        r->x[i] += r->unit[i];
    return s ? s : evaluate(r);
}

/* The gradient, W^1/2 G W^1/2 rest, relative to that at 0. */
static mcr_status evaluate_slope(mcr_ridge *r)
{
    size_t all = (size_t)(r->goal.n * r->goal.outputs);
    double *part = r->slope + all;
    mcr_status s = multiply_weighted(r, r->rest, part, r->slope);
    if (!s)
        s = multiply_weighted(r, r->b, part, r->unit);
    r->gradient = s ? NAN : worst_ratio(r, r->slope, r->unit);
    return s;
}

/* With the factor of G + lambda + jitter: the problem without jitter, as well as that goes. */
static mcr_status solve_singular(mcr_ridge *r)
{
    enum { MOST = 4 };
    size_t all = (size_t)(r->goal.n * r->goal.outputs);
    if (!r->slope) {
        r->slope = mcr_alloc(r->ctx, 2 * all, sizeof *r->slope);
        r->unit = mcr_alloc(r->ctx, all, sizeof *r->unit);
    }
    mcr_status s = r->slope && r->unit ? MCR_OK : MCR_NO_MEMORY;
    memset(r->x, 0, sizeof *r->x * all);
    memcpy(r->rest, r->b, sizeof *r->rest * all);
    double before = INFINITY;
    r->gradient = INFINITY;
    for (r->corrections = 0; !s && r->corrections < MOST; r->corrections++) {
        s = add_smooth(r);
        if (!s)
            s = evaluate_slope(r);
        if (s || fmin(r->residual, r->gradient) <= r->options->tol || r->gradient > 0.5 * before)
            break;
        before = r->gradient;
    }
    return s;
}

/* Where G + lambda has no factor, or none that is good enough, because it is singular but for
 * rounding, a share of its trace, which bounds its largest eigenvalue, is added to the diagonal:
 * first as little as leaves the residual within the usual tolerance. If more does not help, the
 * "kernel" is not a kernel. */
static mcr_status solve_somehow(mcr_ridge *r)
{
    static const double share[] = {0, 1e-13, 1e-12, 1e-10, 1e-8};
    double trace = 0;
    mcr_status s = MCR_OK;
    for (int64_t i = 0; i < r->goal.n; i++)
        trace += fabs(r->diagonal[i]);
    for (size_t t = 0; t < sizeof share / sizeof *share; t++) {
        r->jitter = share[t] * trace;
        r->gradient = INFINITY;
        s = mcr_system_factor(&r->m, r->lambda + r->jitter, NULL, "ridge");
        if (!s)
            s = t > 0 ? solve_singular(r) : solve(r);
        if (s ? s != MCR_NUMERIC : fmin(r->residual, r->gradient) <= r->options->tol)
            return s;
    }
    return s ? mcr_advise(
                   r->ctx,
                   mcr_fail(r->ctx, MCR_NUMERIC,
                            "ridge: G + lambda is not positive definite, not even with %.1e on its "
                            "diagonal: take a larger lambda than %g, or see whether it is a kernel",
                            r->jitter, r->lambda),
                   "definite")
             : MCR_OK;
}

/* ---- in float ---------------------------------------------------------------------------------*/

/* W^1/2 G W^1/2 + lambda in float, on and below the diagonal. */
static mcr_status fill_quick(mcr_ridge *r)
{
    int64_t n = r->goal.n;
    mcr_status s = mcr_gram_matrix_float(r->gram, r->quick, r->quick_ld);
    for (int64_t i = 0; i < n && !s; i++) {
        float *row = r->quick + i * r->quick_ld;
        for (int64_t j = 0; j < i && r->root[i] != 1; j++)
            row[j] *= (float)r->root[i];
        for (int64_t j = i + 1; j < n && r->root[i] != 1; j++)
            r->quick[j * r->quick_ld + i] *= (float)r->root[i];
        row[i] = (float)(r->root[i] * r->root[i] * r->diagonal[i] + r->lambda);
    }
    return s;
}

/* Whether float's rounding is small against lambda: the trace bounds the largest eigenvalue. And
 * values are computed afresh for each residual, which must not be expensive. */
static mcr_status suits_float(const mcr_ridge *r, bool *suits)
{
    enum { LEAST_N = 1000, LARGEST_CONDITION = 1000000 };
    int64_t n = r->goal.n;
    double trace = 0;
    *suits = n >= LEAST_N && !mcr_gram_is_slow(r->gram) && r->goal.outputs <= n;
    mcr_status s = *suits ? mcr_gram_diagonal(r->gram, 0, r->diagonal) : MCR_OK;
    for (int64_t i = 0; i < n && *suits && !s; i++)
        trace += r->root[i] * r->root[i] * fabs(r->diagonal[i]);
    *suits = *suits && trace <= LARGEST_CONDITION * r->lambda;
    return s;
}

/* Solves by a factor in float; not *done: the factor in double is needed. */
static mcr_status solve_quickly(mcr_ridge *r, bool *done)
{
    int64_t n = r->goal.n, ld = (n + 15) / 16 * 16;
    ld += ld % 1024 == 0 ? 16 : 0; /* rows a power of two apart would share cache sets */
    size_t bytes = (size_t)n * (size_t)ld * sizeof *r->quick;
    *done = false;
    mcr_status s = suits_float(r, done);
    if (s || !*done || bytes > mcr_budget_left(r->ctx)) {
        *done = false;
        return s;
    }
    s = mcr_budget_take(r->ctx, bytes, "ridge: the kernel matrix");
    if (s)
        return s;
    r->quick_ld = ld;
    r->quick = mcr_alloc(r->ctx, (size_t)n, (size_t)ld * sizeof *r->quick);
    r->part = mcr_alloc(r->ctx, (size_t)n, (size_t)r->goal.outputs * sizeof *r->part);
    s = r->quick && r->part ? fill_quick(r) : MCR_NO_MEMORY;
    if (!s)
        s = mcr_lapack_cholesky_float(r->ctx, n, r->quick, ld, "ridge", NULL);
    if (!s)
        s = solve(r);
    *done = !s && r->residual <= r->options->tol;
    r->gradient = INFINITY;
    mcr_free(r->ctx, r->quick);
    mcr_free(r->ctx, r->part);
    r->quick = r->part = NULL;
    mcr_budget_give(r->ctx, bytes);
    return s == MCR_NUMERIC ? MCR_OK : s; /* too large for float, or not positive definite in it */
}

/* ---- the learner ------------------------------------------------------------------------------*/

static mcr_status open_ridge(mcr_ridge *r, const mcr_learning *in, bool path)
{
    *r = (mcr_ridge){.ctx = in->ctx, .options = in->params};
    mcr_status s = mcr_goal_open(&r->goal, in, "ridge", r->options->task, r->options->class_weight);
    size_t n = (size_t)r->goal.n, all = n * (size_t)r->goal.outputs;
    if (s)
        return s;
    double **buffer[] = {&r->diagonal, &r->root, &r->b, &r->x, &r->f, &r->rest};
    for (size_t a = 0; a < sizeof buffer / sizeof *buffer && !s; a++)
        if (!(*buffer[a] = mcr_alloc(r->ctx, a < 2 ? n : all, sizeof(double))))
            s = MCR_NO_MEMORY;
    if (!s && (path || r->options->loo) && !(r->inverse = mcr_alloc(r->ctx, n, sizeof *r->inverse)))
        s = MCR_NO_MEMORY;
    for (int64_t i = 0; i < r->goal.n && !s; i++) {
        r->root[i] = sqrt(r->goal.weight[i]);
        for (int64_t o = 0; o < r->goal.outputs; o++)
            r->b[i * r->goal.outputs + o] = r->root[i] * r->goal.y[i * r->goal.outputs + o];
    }
    return s ? s : mcr_learning_gram(&r->gram, in);
}

static void close_ridge(mcr_ridge *r)
{
    mcr_system_close(&r->m);
    mcr_gram_close(r->gram);
    mcr_free(r->ctx, r->diagonal);
    mcr_free(r->ctx, r->root);
    mcr_free(r->ctx, r->b);
    mcr_free(r->ctx, r->x);
    mcr_free(r->ctx, r->f);
    mcr_free(r->ctx, r->rest);
    mcr_free(r->ctx, r->slope);
    mcr_free(r->ctx, r->unit);
    mcr_free(r->ctx, r->inverse);
    mcr_goal_close(&r->goal);
}

/* The error of the value, of which rounding in products with G is the cause: of the residual, or
 * of its product with G, whose largest eigenvalue the trace bounds. */
static double value_error(const mcr_ridge *r, bool solved, const double *error)
{
    const mcr_goal *g = &r->goal;
    int64_t k = g->outputs;
    double trace = solved ? 1 : 0, worst = 0;
    for (int64_t i = 0; i < g->n && !solved; i++)
        trace += fabs(r->diagonal[i]);
    for (int64_t o = 0; o < k; o++) {
        double near = 0, unit = norm_of(r, solved ? r->b : r->unit, o);
        for (int64_t i = 0, at = o; i < g->n; i++, at += k) {
            double slip = error[at] + DBL_EPSILON * (fabs(g->y[at]) + fabs(r->f[at]));
            near += g->weight[i] * slip * slip;
        }
        worst = fmax(worst, trace * sqrt(near) / (unit > 0 ? unit : 1));
    }
    return worst;
}

static double objective_error(const mcr_ridge *r, const double *a, const double *error,
                              double objective)
{
    const mcr_goal *g = &r->goal;
    double sum = DBL_EPSILON * sqrt((double)g->n) * fabs(objective);
    for (int64_t at = 0; at < g->n * g->outputs; at++) {
        double w = g->weight[at / g->outputs], e = g->y[at] - r->f[at];
        double slip = error[at] + DBL_EPSILON * (fabs(g->y[at]) + fabs(r->f[at]));
        sum += (2 * w * (fabs(e) + slip) + r->lambda * fabs(a[at])) * slip;
    }
    return sum;
}

/* y + low = G W^1/2 v in extended precision; part has W^1/2 v. *share: of the error, INFINITY: not
 * done. */
static mcr_status multiply_extended(mcr_ridge *r, const double *v, double *part, double *y,
                                    double *low, double *share)
{
    int64_t k = r->goal.outputs;
    mcr_extended to = {.n = r->goal.n, .outputs = k, .a = part, .f = y, .low = low};
    for (int64_t at = 0; at < r->goal.n * k; at++)
        part[at] = r->root[at / k] * v[at];
    mcr_status s = mcr_gram_extended(r->gram, &to);
    *share = to.share;
    return s;
}

/* f, the residual and the gradient once more, where double leaves the verdict in doubt. */
static mcr_status evaluate_extended(mcr_ridge *r, bool solved, double *share)
{
    int64_t k = r->goal.outputs, all = r->goal.n * k;
    double *part = mcr_alloc(r->ctx, 3 * (size_t)all, sizeof *part);
    if (!part)
        return MCR_NO_MEMORY;
    double *f = part + all, *low = f + all;
    mcr_status s = multiply_extended(r, r->x, part, f, low, share);
    for (int64_t at = 0; at < all && !s && isfinite(*share); at++) {
        long double root = r->root[at / k];
        r->f[at] = f[at];
        r->rest[at] = (double)((long double)r->b[at] - root * (long double)f[at] -
                               root * (long double)low[at] -
                               (long double)r->lambda * (long double)r->x[at]);
    }
    if (!s && isfinite(*share))
        r->residual = worst_ratio(r, r->rest, r->b);
    if (!s && isfinite(*share) && !solved) {
        s = multiply_extended(r, r->rest, part, f, low, share);
        for (int64_t at = 0; at < all; at++)
            r->slope[at] = r->root[at / k] * f[at];
        r->gradient = worst_ratio(r, r->slope, r->unit);
    }
    mcr_free(r->ctx, part);
    return s;
}

/* What rounding may change, in *error for each product and in the value; in extended precision
 * where double leaves too much unknown. */
static mcr_status know(mcr_ridge *r, bool solved, double *error, double *unsure)
{
    enum { DOUBT = 10 };
    int64_t n = r->goal.n, k = r->goal.outputs;
    double share = NAN, *a = mcr_alloc(r->ctx, (size_t)(n * k), sizeof *a);
    mcr_status s = a ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t at = 0; at < n * k && !s; at++)
        a[at] = r->root[at / k] * r->x[at];
    if (!s)
        s = mcr_known_products(r->gram, a, n, k, share, error);
    *unsure = s ? NAN : value_error(r, solved, error);
    if (!s && DOUBT * *unsure > r->options->tol) {
        s = evaluate_extended(r, solved, &share);
        if (!s && isfinite(share)) {
            s = mcr_known_products(r->gram, a, n, k, share, error);
            *unsure = value_error(r, solved, error);
        }
    }
    mcr_free(r->ctx, a);
    return s;
}

static mcr_status finish(mcr_fitted **out, mcr_ridge *r)
{
    const mcr_goal *g = &r->goal;
    mcr_fitted *f = NULL;
    bool solved = r->jitter == 0 || r->residual <= r->options->tol;
    double objective = 0, unsure = 0;
    double *error = mcr_alloc(r->ctx, (size_t)(g->n * g->outputs), sizeof *error);
    mcr_status s = error ? know(r, solved, error, &unsure) : MCR_NO_MEMORY;
    for (int64_t i = 0; i < g->n * g->outputs && !s; i++) {
        double a = r->root[i / g->outputs] * r->x[i], e = g->y[i] - r->f[i];
        objective += g->weight[i / g->outputs] * e * e + r->lambda * a * r->f[i];
        r->rest[i] = a;
    }
    if (!s)
        s = mcr_goal_fitted(&f, g, r->rest);
    if (s) {
        mcr_free(r->ctx, error);
        return s;
    }
    f->objective = objective;
    f->objective_error = objective_error(r, r->rest, error, objective);
    f->value_error = unsure;
    mcr_free(r->ctx, error);
    f->certificate = solved ? "relative residual" : "relative gradient";
    f->value = solved ? r->residual : r->gradient;
    f->tolerance = r->options->tol;
    f->stop = f->value <= r->options->tol ? MCR_STOP_OPTIMAL : MCR_STOP_STUCK;
    f->iterations = r->products ? r->products : 1 + r->corrections;
    if (!s)
        s = mcr_goal_report(g, f, r->f);
    if (!s && r->products)
        s = mcr_fitted_remark(f,
                              "the kernel matrix does not fit the memory: conjugate gradients with "
                              "%lld products, preconditioned by %lld landmarks",
                              (long long)r->products, (long long)r->landmarks);
    if (!s)
        s = mcr_fitted_remark_zero(f, r->gram);
    if (!s)
        s = mcr_fitted_keep(f, "lambda", &r->lambda, 1);
    if (!s && r->jitter > 0)
        s = mcr_fitted_remark(f,
                              "G + lambda is singular to rounding: %.1e was added to its diagonal "
                              "on the way; the relative residual is %.1e",
                              r->jitter, r->residual);
    if (s)
        mcr_fitted_free(f);
    else
        *out = f;
    return s;
}

/* Where the kernel matrix does not fit the memory. */
static mcr_status solve_large(mcr_ridge *r, const mcr_learning *in, bool *done)
{
    *done = !in->gram && mcr_ridge_is_large(r);
    if (!*done)
        return MCR_OK;
    mcr_status s = mcr_ridge_conjugate(r, in);
    r->gradient = INFINITY;
    return s ? s : evaluate(r);
}

static mcr_status run(mcr_fitted **out, mcr_ridge *r, const mcr_learning *in,
                      const mcr_reals *lambda, double *error)
{
    bool path = lambda->count > 1, done = false;
    mcr_status s = MCR_OK;
    r->lambda = lambda->values[0];
    if (!path && !r->options->loo)
        s = solve_large(r, in, &done);
    if (!s && !done && !path && !r->options->loo)
        s = solve_quickly(r, &done);
    if (!s && !done)
        s = mcr_system_open(&r->m, r->ctx, r->goal.n, "ridge: the kernel matrix");
    if (!s && !done)
        s = fill(r);
    if (!s && path) {
        s = mcr_ridge_pick_lambda(r, lambda, error);
        if (!s)
            s = fill(r); /* the eigenvectors took its place */
    }
    if (!s && !done)
        s = solve_somehow(r);
    if (!s)
        s = finish(out, r);
    if (!s && r->jitter > 0 && (path || r->options->loo)) { /* of the system with the jitter */
        memcpy(r->x, r->b, sizeof *r->x * (size_t)(r->goal.n * r->goal.outputs));
        s = apply_factor(r, r->x);
    }
    if (!s && r->options->loo && !path)
        s = mcr_system_inverse(&r->m, false, r->inverse);
    if (!s && path) {
        s = mcr_ridge_keep_path(*out, lambda, error, r);
    } else if (!s && r->options->loo) {
        double loo = mcr_ridge_left_out(&r->goal, r->root, r->x, r->inverse);
        s = mcr_fitted_keep(*out, MCR_EXTRA_LOO, &loo, 1);
        if (!s)
            s = mcr_ridge_keep_left_out(*out, r);
    }
    if (s) {
        mcr_fitted_free(*out);
        *out = NULL;
    }
    return s;
}

/* ---- from features ----------------------------------------------------------------------------*/

static mcr_status finish_features(mcr_fitted **out, const mcr_goal *g, const mcr_ridge_params *o,
                                  double lambda, const mcr_form *form, const mcr_ridge_result *r)
{
    mcr_fitted *f = NULL;
    mcr_status s = form->map ? mcr_form_goal(&f, form, g, r->w) : mcr_goal_fitted(&f, g, r->a);
    if (s)
        return s;
    f->objective = 0;
    for (int64_t i = 0; i < g->n * g->outputs; i++) {
        double e = g->y[i] - r->f[i];
        f->objective += g->weight[i / g->outputs] * e * e + lambda * r->a[i] * r->f[i];
    }
    f->certificate = form->map ? "relative residual of the approximate problem"
                               : "relative residual";
    f->value = r->residual;
    f->tolerance = o->tol;
    f->stop = r->residual <= o->tol ? MCR_STOP_OPTIMAL : MCR_STOP_STUCK;
    f->iterations = r->steps;
    s = mcr_goal_report(g, f, r->f);
    if (!s)
        s = mcr_fitted_keep(f, "lambda", &lambda, 1);
    if (!s)
        s = mcr_form_report(form, f);
    if (s)
        mcr_fitted_free(f);
    else
        *out = f;
    return s;
}

static mcr_status run_features(mcr_fitted **out, const mcr_goal *g, const mcr_ridge_params *o,
                               double lambda, const mcr_form *form)
{
    size_t all = (size_t)(g->n * g->outputs),
           wide = (size_t)(mcr_gram_width(form->gram) * g->outputs);
    mcr_ridge_result r = {.a = mcr_alloc(g->ctx, all, sizeof(double)),
                          .f = mcr_alloc(g->ctx, all, sizeof(double)),
                          .w = mcr_alloc(g->ctx, wide, sizeof(double))};
    mcr_status s = r.a && r.f && r.w ? MCR_OK : MCR_NO_MEMORY;
    if (!s)
        s = mcr_ridge_features(g, form->gram, lambda, o->tol, &r);
    if (!s)
        s = finish_features(out, g, o, lambda, form, &r);
    mcr_free(g->ctx, r.a);
    mcr_free(g->ctx, r.f);
    mcr_free(g->ctx, r.w);
    return s;
}

static mcr_status run_restricted(mcr_fitted **out, const mcr_goal *g, const mcr_ridge_params *o,
                                 double lambda, const mcr_form *form)
{
    mcr_smooth problem = mcr_ridge_squared(g, lambda, o->tol);
    mcr_status s = mcr_restricted_fit(out, g, form, &problem);
    return s ? s : mcr_fitted_keep(*out, "lambda", &lambda, 1);
}

static mcr_status run_kernel(mcr_fitted **out, const mcr_learning *in, const mcr_reals *lambda)
{
    mcr_ridge r = {0};
    double *error = mcr_alloc(in->ctx, (size_t)lambda->count, sizeof *error);
    mcr_status s = error ? open_ridge(&r, in, lambda->count > 1) : MCR_NO_MEMORY;
    if (!s)
        s = run(out, &r, in, lambda, error);
    if (r.ctx)
        close_ridge(&r);
    mcr_free(in->ctx, error);
    return s;
}

static mcr_status fit(mcr_fitted **out, const mcr_learning *in)
{
    *out = NULL;
    const mcr_ridge_params *o = in->params;
    mcr_goal g = {0};
    mcr_form form = {0};
    mcr_reals lambda;
    mcr_status s = parse_lambda(&lambda, in->ctx, o);
    if (s)
        return s;
    s = mcr_goal_open(&g, in, "ridge", o->task, o->class_weight);
    if (!s && !needs_kernel(o, &lambda))
        s = mcr_form_open(&form, in, &o->form,
                          &(mcr_form_work){MCR_WORK_RIDGE, 1, (double)g.n, (double)g.outputs});
    if (!s && mcr_form_is_restricted(&form))
        s = run_restricted(out, &g, o, lambda.values[0], &form);
    else if (!s && form.features)
        s = run_features(out, &g, o, lambda.values[0], &form);
    else if (!s && !(s = run_kernel(out, in, &lambda)))
        s = mcr_form_report(&form, *out);
    if (s) {
        mcr_fitted_free(*out);
        *out = NULL;
    }
    mcr_form_close(&form);
    mcr_goal_close(&g);
    mcr_free(in->ctx, lambda.values);
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
    .folds = mcr_ridge_folds,
    .dense = true,
    .several_targets = true,
    .spreads = true,
};
