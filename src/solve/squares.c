/* squares.c: least squares with a penalty.
 *
 * By a Cholesky factor below the diagonal of the one matrix there is; K stays above it, for another
 * try if the factor does not exist.
 *
 * Where lambda is not small against K a factor in float does as well: its solution is corrected by
 * the residual, which is computed from fresh kernel values in double, until that is as small as
 * ever. It takes half of the time and of the memory.
 *
 * Where K + lambda is singular to rounding, a jitter is added for the factor alone. The
 * certificate stays that of the problem asked for: its residual r where that is small, else its
 * gradient, K r, which is 0 at a minimum even if no solution of the system exists.
 *
 * Of a Gram that is known by its factor the system has one row per feature (shifted.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "solve/squares.h"

#include <math.h>
#include <string.h>

#include "linalg/lapack.h"
#include "solve/shifted.h"

mcr_status mcr_squares_open(mcr_squares *q, mcr_gram *gram, const double *y, const double *weight,
                            int64_t outputs, double tol)
{
    *q = (mcr_squares){.ctx = mcr_gram_context(gram),
                       .gram = gram,
                       .n = mcr_gram_rows(gram),
                       .outputs = outputs,
                       .y = y,
                       .weight = weight,
                       .tol = tol,
                       .share = NAN};
    size_t n = (size_t)q->n, all = n * (size_t)outputs;
    if (!mcr_alloc_doubles(q->ctx, n, &q->diagonal, &q->root) ||
        !mcr_alloc_doubles(q->ctx, all, &q->b, &q->x, &q->f, &q->rest))
        return MCR_NO_MEMORY;
    for (int64_t i = 0; i < q->n; i++) {
        q->root[i] = sqrt(weight[i]);
        for (int64_t o = 0; o < outputs; o++)
            q->b[i * outputs + o] = q->root[i] * y[i * outputs + o];
    }
    return MCR_OK;
}

void mcr_squares_close(mcr_squares *q)
{
    if (!q->ctx)
        return;
    mcr_free_all(q->ctx, q->diagonal, q->root, q->b, q->x, q->f, q->rest, q->slope, q->unit,
                 q->inverse, q->value, q->turn);
    mcr_system_close(&q->m);
    *q = (mcr_squares){0};
}

/* ---- by a factor ------------------------------------------------------------------------------*/

mcr_status mcr_squares_fill(mcr_squares *q, bool report)
{
    bool weighted = false;
    for (int64_t i = 0; i < q->n; i++)
        weighted |= q->root[i] != 1;
    mcr_status s = q->m.a ? MCR_OK
                          : mcr_system_open(&q->m, q->ctx, q->n, "ridge: the kernel matrix");
    if (!s)
        s = mcr_gram_fill_system(q->gram, &q->m, weighted ? q->root : NULL, report);
    if (!s)
        memcpy(q->diagonal, q->m.diagonal, sizeof *q->diagonal * (size_t)q->n);
    return s;
}

/* Whether products take the values of a factorised system, which are above its diagonal still. */
static bool multiplies_triangle(const mcr_squares *q)
{
    bool yes = q->m.a && mcr_gram_is_slow(q->gram);
    for (int64_t i = 0; i < q->n && yes; i++)
        yes = q->root[i] > 0;
    return yes;
}

static bool multiplies_by_sums(const mcr_squares *q)
{
    return q->outputs == 1 && mcr_gram_width(q->gram) == 0;
}

mcr_status mcr_squares_share(const mcr_squares *q, double *share)
{
    *share = NAN;
    return multiplies_by_sums(q) && !multiplies_triangle(q) ? mcr_gram_sums_error(q->gram, share)
                                                            : MCR_OK;
}

/* y = G W^1/2 v, from fresh kernel values; v and y are n x outputs, y must not be part. Where
 * values are slow and all weights are above 0 it is made from the triangle that holds them, and is
 * then y_i root_i. */
static mcr_status multiply(mcr_squares *q, const double *v, double *part, double *y, bool *scaled)
{
    int64_t n = q->n, k = q->outputs;
    *scaled = multiplies_triangle(q);
    if (*scaled)
        return mcr_system_multiply(&q->m, v, k, y);
    for (int64_t i = 0; i < n * k; i++)
        part[i] = q->root[i / k] * v[i];
    return multiplies_by_sums(q) ? mcr_gram_sums(q->gram, mcr_gram_all(q->gram), true, part, y)
                                 : mcr_gram_multiply(q->gram, part, k, y);
}

/* f = G a and rest = b - (W^1/2 G W^1/2 + lambda) x; the norm of rest relative to that of b. */
static mcr_status evaluate(mcr_squares *q)
{
    int64_t n = q->n, k = q->outputs;
    bool scaled;
    mcr_status s = multiply(q, q->x, q->rest, q->f, &scaled);
    for (int64_t at = 0; at < n * k && !s; at++) {
        double root = q->root[at / k];
        q->f[at] = scaled ? q->f[at] / root : q->f[at];
        q->rest[at] = q->b[at] - root * q->f[at] - q->lambda * q->x[at];
    }
    q->residual = s ? NAN : mcr_squares_worst(q, q->rest, q->b);
    q->share = NAN;
    return s;
}

/* y = W^1/2 G W^1/2 v */
static mcr_status multiply_weighted(mcr_squares *q, const double *v, double *part, double *y)
{
    bool scaled;
    mcr_status s = multiply(q, v, part, y, &scaled);
    for (int64_t at = 0; at < q->n * q->outputs && !s && !scaled; at++)
        y[at] *= q->root[at / q->outputs];
    return s;
}

/* Solves for v (n x outputs) in place by the factor, or by that in float, where each column is
 * brought to a size that float can hold. */
static mcr_status apply_factor(mcr_squares *q, double *v)
{
    int64_t n = q->n, k = q->outputs;
    if (!q->quick)
        return mcr_system_solve(&q->m, k, v);
    double *size = q->diagonal; /* k <= n values, no longer needed there */
    for (int64_t o = 0; o < k; o++) {
        size[o] = 0;
        for (int64_t i = 0; i < n; i++)
            size[o] = fmax(size[o], fabs(v[i * k + o]));
    }
    for (int64_t i = 0; i < n * k; i++)
        q->part[i] = size[i % k] > 0 ? (float)(v[i] / size[i % k]) : 0;
    mcr_status s = mcr_lapack_solve_float(q->ctx, n, k, q->quick, q->quick_ld, q->part, k);
    for (int64_t i = 0; i < n * k && !s; i++)
        v[i] = size[i % k] * (double)q->part[i];
    return s;
}

/* Solves, and corrects the solution by its own residual as long as that helps (iterative
 * refinement). */
static mcr_status solve(mcr_squares *q)
{
    int64_t n = q->n, k = q->outputs, most = q->quick ? 12 : 4;
    memcpy(q->x, q->b, sizeof *q->x * (size_t)(n * k));
    mcr_status s = apply_factor(q, q->x);
    if (!s)
        s = evaluate(q);
    double before = INFINITY;
    q->steps = 1;
    while (!s && q->residual > 1e-3 * q->tol && q->residual < 0.5 * before && q->steps <= most) {
        before = q->residual;
        q->steps++;
        s = apply_factor(q, q->rest);
        for (int64_t i = 0; i < n * k && !s; i++)
            q->x[i] += q->rest[i];
        if (!s)
            s = evaluate(q);
    }
    return s;
}

/* x += (A + j)^-1 A (A + j)^-1 rest, where A = W^1/2 G W^1/2 + lambda and j is the jitter: what
 * has no part in G would otherwise be divided by j, and the coefficients would be all rounding. */
static mcr_status add_smooth(mcr_squares *q)
{
    mcr_status s = apply_factor(q, q->rest);
    if (!s)
        s = multiply_weighted(q, q->rest, q->slope, q->unit);
    if (!s)
        s = apply_factor(q, q->unit);
    for (int64_t i = 0; i < q->n * q->outputs && !s; i++)
        q->x[i] += q->unit[i];
    return s ? s : evaluate(q);
}

/* The gradient, W^1/2 G W^1/2 rest, relative to that at 0. */
static mcr_status evaluate_slope(mcr_squares *q)
{
    size_t all = (size_t)(q->n * q->outputs);
    double *part = q->slope + all;
    mcr_status s = multiply_weighted(q, q->rest, part, q->slope);
    if (!s)
        s = multiply_weighted(q, q->b, part, q->unit);
    q->gradient = s ? NAN : mcr_squares_worst(q, q->slope, q->unit);
    return s;
}

/* With the factor of G + lambda + jitter: the problem without jitter, as well as that goes. */
static mcr_status solve_singular(mcr_squares *q)
{
    enum { MOST = 4 };
    size_t all = (size_t)(q->n * q->outputs);
    if (!q->slope) {
        q->slope = mcr_alloc(q->ctx, 2 * all, sizeof *q->slope);
        q->unit = mcr_alloc(q->ctx, all, sizeof *q->unit);
    }
    mcr_status s = q->slope && q->unit ? MCR_OK : MCR_NO_MEMORY;
    memset(q->x, 0, sizeof *q->x * all);
    memcpy(q->rest, q->b, sizeof *q->rest * all);
    double before = INFINITY;
    q->gradient = INFINITY;
    for (q->steps = 1; !s && q->steps <= MOST; q->steps++) {
        s = add_smooth(q);
        if (!s)
            s = evaluate_slope(q);
        if (s || fmin(q->residual, q->gradient) <= q->tol || q->gradient > 0.5 * before)
            break;
        before = q->gradient;
    }
    return s;
}

/* Where G + lambda has no factor, or none that is good enough, because it is singular but for
 * rounding, a share of its trace, which bounds its largest eigenvalue, is added to the diagonal:
 * first as little as leaves the residual within the usual tolerance. If more does not help, the
 * "kernel" is not a kernel. */
static mcr_status solve_somehow(mcr_squares *q)
{
    static const double share[] = {0, 1e-13, 1e-12, 1e-10, 1e-8};
    double trace = 0;
    mcr_status s = MCR_OK;
    for (int64_t i = 0; i < q->n; i++)
        trace += fabs(q->diagonal[i]);
    for (size_t t = 0; t < sizeof share / sizeof *share; t++) {
        q->jitter = share[t] * trace;
        q->gradient = INFINITY;
        s = mcr_system_factor(&q->m, q->lambda + q->jitter, NULL, "ridge");
        if (!s)
            s = t > 0 ? solve_singular(q) : solve(q);
        if (s ? s != MCR_NUMERIC : fmin(q->residual, q->gradient) <= q->tol)
            return s;
    }
    return s ? mcr_advise(
                   q->ctx,
                   mcr_fail(
                       q->ctx, MCR_NUMERIC,
                       "ridge: G + lambda is not positive definite, not even with %.1e on its "
                       "diagonal: use a larger lambda than %g, or check the kernel (is it PSD?)",
                       q->jitter, q->lambda),
                   "definite")
             : MCR_OK;
}

/* ---- in float ---------------------------------------------------------------------------------*/

/* W^1/2 G W^1/2 + lambda in float, on and below the diagonal. */
static mcr_status fill_quick(mcr_squares *q)
{
    int64_t n = q->n;
    mcr_status s = mcr_gram_matrix_float(q->gram, q->quick, q->quick_ld);
    for (int64_t i = 0; i < n && !s; i++) {
        float *row = q->quick + i * q->quick_ld;
        for (int64_t j = 0; j < i && q->root[i] != 1; j++)
            row[j] *= (float)q->root[i];
        for (int64_t j = i + 1; j < n && q->root[i] != 1; j++)
            q->quick[j * q->quick_ld + i] *= (float)q->root[i];
        row[i] = (float)(q->root[i] * q->root[i] * q->diagonal[i] + q->lambda);
    }
    return s;
}

/* Whether float's rounding is small against lambda: the trace bounds the largest eigenvalue. And
 * values are computed afresh for each residual, which must not be expensive. */
static mcr_status suits_float(const mcr_squares *q, bool *suits)
{
    enum { LEAST_N = 1000, LARGEST_CONDITION = 1000000 };
    int64_t n = q->n;
    double trace = 0;
    *suits = n >= LEAST_N && !mcr_gram_is_slow(q->gram) && q->outputs <= n;
    mcr_status s = *suits ? mcr_gram_diagonal(q->gram, 0, q->diagonal) : MCR_OK;
    for (int64_t i = 0; i < n && *suits && !s; i++)
        trace += q->root[i] * q->root[i] * fabs(q->diagonal[i]);
    *suits = *suits && trace <= LARGEST_CONDITION * q->lambda;
    return s;
}

/* Solves by a factor in float; not *done: the factor in double is needed. */
static mcr_status solve_quickly(mcr_squares *q, bool *done)
{
    int64_t n = q->n, ld = (n + 15) / 16 * 16;
    ld += ld % 1024 == 0 ? 16 : 0; /* rows a power of two apart would share cache sets */
    size_t bytes = (size_t)n * (size_t)ld * sizeof *q->quick;
    *done = false;
    mcr_status s = suits_float(q, done);
    if (s || !*done || bytes > mcr_budget_left(q->ctx)) {
        *done = false;
        return s;
    }
    s = mcr_budget_take(q->ctx, bytes, "ridge: the kernel matrix");
    if (s)
        return s;
    q->quick_ld = ld;
    q->quick = mcr_alloc(q->ctx, (size_t)n, (size_t)ld * sizeof *q->quick);
    q->part = mcr_alloc(q->ctx, (size_t)n, (size_t)q->outputs * sizeof *q->part);
    s = q->quick && q->part ? fill_quick(q) : MCR_NO_MEMORY;
    if (!s)
        s = mcr_lapack_cholesky_float(q->ctx, n, q->quick, ld, "ridge", NULL);
    if (!s)
        s = solve(q);
    *done = !s && q->residual <= q->tol;
    q->gradient = INFINITY;
    mcr_free_all(q->ctx, q->quick, q->part);
    q->quick = q->part = NULL;
    mcr_budget_give(q->ctx, bytes);
    return s == MCR_NUMERIC ? MCR_OK : s; /* too large for float, or not positive definite in it */
}

/* ---- from features ----------------------------------------------------------------------------*/

/* The residual of x, and what rounding may change in it. */
static mcr_status evaluate_features(mcr_squares *q, double *space, double *off)
{
    int64_t all = q->n * q->outputs;
    mcr_status s = evaluate(q);
    for (int64_t at = 0; at < all && !s; at++)
        space[at] = q->root[at / q->outputs] * q->x[at];
    return s ? s : mcr_squares_find_errors(q, space, space + all, off);
}

/* Corrects the solution by its residual, which is in extended precision where double's rounding
 * hides it: with a small lambda coefficients are large, and sums of them lose most digits. */
static mcr_status correct_features(mcr_squares *q, mcr_shifted *t, bool *proved)
{
    enum { MOST = 4 };
    const double enough = 0.1;
    int64_t all = q->n * q->outputs;
    double *space = mcr_alloc(q->ctx, 3 * (uint64_t)all, sizeof *space), before = INFINITY, off = 0;
    double *step = space ? space + 2 * all : NULL;
    mcr_status s = space ? evaluate_features(q, space, &off) : MCR_NO_MEMORY;
    for (int i = 0; i < MOST && !s; i++) {
        if (q->residual + off <= enough * q->tol || !(q->residual < 0.5 * before))
            break;
        before = q->residual;
        s = mcr_shifted_solve(t, q->lambda, q->rest, q->outputs, step);
        q->steps += t->steps;
        for (int64_t at = 0; at < all && !s; at++)
            q->x[at] += step[at];
        if (!s)
            s = evaluate_features(q, space, &off);
    }
    *proved = !s && q->residual + off <= q->tol;
    if (!s && q->residual > before) { /* worse: back */
        for (int64_t at = 0; at < all; at++)
            q->x[at] -= step[at];
        s = evaluate(q);
    }
    mcr_free(q->ctx, space);
    return s;
}

/* With kernel values of few objects, where features are no use: the coefficients that solve the
 * system may be too large for doubles, while others make the gradient 0. was: what features came
 * to. */
static mcr_status solve_values(mcr_squares *q, mcr_status was)
{
    size_t bytes = sizeof *q->x * (size_t)(q->n * q->outputs);
    double *kept = mcr_alloc(q->ctx, 1, bytes);
    if (!kept)
        return MCR_NO_MEMORY;
    memcpy(kept, q->x, bytes);
    double before = was ? INFINITY : q->residual;
    mcr_status s = mcr_squares_fill(q, false);
    if (!s)
        s = solve_somehow(q);
    bool worse = !s && !(q->gradient <= q->tol) && q->residual > before;
    if (!was && (worse || s == MCR_NUMERIC || s == MCR_OVER_BUDGET)) {
        memcpy(q->x, kept, bytes);
        q->jitter = 0;
        q->gradient = INFINITY;
        s = evaluate(q);
    }
    mcr_free(q->ctx, kept);
    return s;
}

static mcr_status solve_features(mcr_squares *q)
{
    enum { FEW = 2000 };
    mcr_shifted t;
    int64_t p = mcr_gram_width(q->gram);
    bool proved = false;
    bool direct = p <= MCR_SQUARES_DIRECT || mcr_gram_work(q->gram) >= (double)p;
    mcr_status s = mcr_shifted_open(&t, q->gram, q->root, direct, "ridge",
                                    "ridge: the matrix of the features");
    t.tol = 1e-2 * q->tol;
    if (!s)
        s = mcr_shifted_solve(&t, q->lambda, q->b, q->outputs, q->x);
    q->steps = t.steps;
    if (!s)
        s = correct_features(q, &t, &proved);
    mcr_shifted_close(&t);
    if (!proved && (!s || s == MCR_NUMERIC) && q->n <= FEW)
        s = solve_values(q, s);
    if (s == MCR_NUMERIC)
        s = mcr_advise(q->ctx,
                       mcr_fail(q->ctx, MCR_NUMERIC,
                                "ridge: the matrix of the features is numerically singular: use a "
                                "larger lambda than %g, or form=dual",
                                q->lambda),
                       "option form=dual");
    return s;
}

/* ---- all of it --------------------------------------------------------------------------------*/

mcr_status mcr_squares_solve(mcr_squares *q, double lambda, bool exactly)
{
    bool done = false;
    mcr_status s = MCR_OK;
    q->lambda = lambda;
    q->jitter = 0;
    q->gradient = INFINITY;
    q->lost = false;
    if (q->near) {
        s = mcr_squares_conjugate(q);
        if (s || !q->lost)
            return s ? s : evaluate(q);
    }
    if (mcr_gram_width(q->gram) > 0)
        return solve_features(q);
    if (!exactly)
        s = solve_quickly(q, &done);
    if (!s && !done)
        s = mcr_squares_fill(q, true);
    return s || done ? s : solve_somehow(q);
}

mcr_status mcr_squares_invert(mcr_squares *q)
{
    mcr_status s = MCR_OK;
    if (!q->inverse && !(q->inverse = mcr_alloc(q->ctx, (size_t)q->n, sizeof *q->inverse)))
        return MCR_NO_MEMORY;
    if (q->jitter > 0) { /* x is of the system without it */
        memcpy(q->x, q->b, sizeof *q->x * (size_t)(q->n * q->outputs));
        s = apply_factor(q, q->x);
    }
    return s ? s : mcr_system_inverse(&q->m, false, q->inverse, "ridge");
}
