/* gp_sparse_fit.c: regression by a sparse Gaussian process: training, and the model.
 *
 * The model's basis is the landmarks: value = k'u with u = T (s + P)^-1 b, and
 *
 *   variance = K(x,x) - k'T (1 - s (s + P)^-1) T'k = K(x,x) - |R k|^2
 *
 * with a lower triangular R, which the model keeps: prediction and export need nothing else.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "learn/form.h"
#include "learn/gp_sparse.h"
#include "linalg/shared.h"

/* ---- the posterior ----------------------------------------------------------------------------*/

/* C with C'C = 1 - s (s + P)^-1, lower triangular, into t->s: the factor of the matrix whose rows
 * and columns are in reverse order, reversed again and transposed. Directions of which the data say
 * nothing have eigenvalues of 0: a shift helps there. */
static mcr_status factor_gain(const mcr_gp *gp)
{
    mcr_sparse *t = gp->method;
    mcr_system g = {0};
    int64_t m = t->m;
    mcr_status s = mcr_system_open(&g, gp->ctx, m, "gp: the posterior of the landmarks");
    if (!s)
        s = mcr_system_inverse(&t->e, true, t->inverse, NULL);
    for (int64_t i = 0; i < m && !s; i++)
        for (int64_t j = 0; j <= i; j++) {
            int64_t a = m - 1 - i, b = m - 1 - j; /* a <= b: above the diagonal */
            double inverse = a == b ? t->inverse[a] : t->e.a[a * t->e.ld + b];
            double gain = (a == b) - gp->extra * inverse;
            g.a[i * g.ld + j] = g.a[j * g.ld + i] = gain;
        }
    if (!s) {
        mcr_system_filled(&g);
        s = MCR_NUMERIC;
    }
    for (double shift = 1e-13; s == MCR_NUMERIC && shift < 2e-6; shift *= 100)
        s = mcr_system_factor(&g, shift, NULL, NULL);
    memset(t->s, 0, sizeof *t->s * (size_t)(m * m));
    for (int64_t i = 0; i < m && !s; i++)
        for (int64_t j = 0; j <= i; j++)
            t->s[(m - 1 - j) * m + (m - 1 - i)] = g.a[i * g.ld + j];
    mcr_system_close(&g);
    return s;
}

/* R = C T', row by row up to the diagonal. */
static mcr_status keep_posterior(mcr_fitted *f, const mcr_gp *gp)
{
    mcr_sparse *t = gp->method;
    int64_t m = t->m, count = m * (m + 1) / 2;
    mcr_status s = factor_gain(gp);
    if (!s)
        s = mcr_shared_gemm(gp->ctx, MCR_AS_IS, MCR_TRANSPOSED, m, m, m, 1, t->s, m, t->map->turn,
                            m, 0, t->work, m);
    for (int64_t i = 0, at = 0; i < m && !s; i++) /* in place: at is at most i m + j */
        for (int64_t j = 0; j <= i; j++)
            t->work[at++] = t->work[i * m + j];
    return s ? s : mcr_fitted_keep(f, MCR_GP_POSTERIOR, t->work, count);
}

/* ---- the model --------------------------------------------------------------------------------*/

static mcr_status predict_block(mcr_gp *gp, const mcr_sparse_block *b, void *arg)
{
    const mcr_sparse *t = gp->method;
    double *f = arg;
    for (int64_t i = 0; i < b->rows; i++) {
        double sum = 0;
        for (int64_t c = 0; c < t->m; c++)
            sum += t->k[i * t->m + c] * t->u[c];
        f[b->first + i] = t->mean + t->scale * sum;
    }
    return MCR_OK;
}

/* What is left of (s + P) beta = b, relative to b. */
static double residual(const mcr_gp *gp)
{
    const mcr_sparse *t = gp->method;
    double worst = 0, most = 0;
    for (int64_t i = 0; i < t->m; i++) {
        double sum = t->b[i] - gp->extra * t->beta[i];
        for (int64_t j = 0; j < t->m; j++)
            sum -= t->p[i * t->m + j] * t->beta[j];
        worst = fmax(worst, fabs(sum));
        most = fmax(most, fabs(t->b[i]));
    }
    return most > 0 ? worst / most : 0;
}

/* How well the landmarks do, for the report. */
static mcr_status report(mcr_fitted *f, const mcr_gp *gp)
{
    const mcr_sparse *t = gp->method;
    mcr_map_error e = MCR_INIT(mcr_map_error);
    char why[320];
    mcr_status s = mcr_map_measure(t->map, gp->data, &e);
    double facts[] = {MCR_APPROX_SGPR, (double)t->m, e.mean, e.rms, e.largest, e.scale};
    if (s)
        return s;
    snprintf(why, sizeof why,
             "%lld landmarks by sgpr; kernel values off by %.2g (root mean square of %lld pairs), "
             "at most %.2g, where K(x,x) is %.3g",
             (long long)t->m, e.rms, (long long)e.pairs, e.largest, e.scale);
    mcr_free(f->ctx, f->why);
    f->why = mcr_copy_text(f->ctx, why, strlen(why));
    return f->why ? mcr_fitted_keep(f, MCR_EXTRA_FORM, facts, 6) : MCR_NO_MEMORY;
}

static mcr_status keep_numbers(mcr_fitted *f, const mcr_gp *gp)
{
    const mcr_sparse *t = gp->method;
    double facts[MCR_GP_SPARSE_COUNT] = {MCR_SPARSE_JITTER, gp->extra, t->lower, t->upper,
                                         f->objective_error};
    mcr_status s = mcr_fitted_keep(f, MCR_GP_SPARSE, facts, MCR_GP_SPARSE_COUNT);
    return s ? s : mcr_gp_describe(f, t->mean, t->scale, gp->extra);
}

static mcr_status fill(mcr_fitted *f, mcr_gp *gp)
{
    mcr_sparse *t = gp->method;
    for (int64_t i = 0; i < t->m; i++)
        f->object[i] = t->object[i];
    f->certificate = "relative residual of the sparse problem";
    f->value = residual(gp);
    f->value_error = DBL_EPSILON * (double)t->m;
    f->tolerance = 1e-8;
    mcr_status s = mcr_sparse_upper(gp);
    f->primal = t->upper;
    f->dual = t->lower;
    f->gap = t->upper - t->lower;
    /* Features have errors of a rounding over the root of the jitter. */
    f->objective_error = 16 * DBL_EPSILON / sqrt(MCR_SPARSE_JITTER) * (t->trace + t->square) /
                         gp->extra;
    f->of_stored = true;
    f->trained = mcr_alloc(gp->ctx, (size_t)gp->n, sizeof *f->trained);
    if (!s && !f->trained)
        s = MCR_NO_MEMORY;
    if (!s)
        s = mcr_sparse_pass(gp, predict_block, f->trained);
    if (!s)
        s = keep_posterior(f, gp);
    if (!s)
        s = keep_numbers(f, gp);
    if (!s)
        s = report(f, gp);
    return s ? s : mcr_gp_finish(f, gp, t->map->landmark);
}

/* ---- training ---------------------------------------------------------------------------------*/

static mcr_status open_sparse(mcr_sparse *t, const mcr_learning *in, const mcr_goal *goal)
{
    const mcr_gp_params *o = in->params;
    mcr *ctx = in->ctx;
    size_t n = (size_t)goal->n;
    *t = (mcr_sparse){.how = (mcr_landmarks)o->landmarks,
                      .rank = o->rank < goal->n ? o->rank : goal->n};
    size_t m = (size_t)t->rank, numbers = 3 * m * m + 2 * MCR_SPARSE_BLOCK * m;
    mcr_status s = mcr_budget_take(ctx, numbers * sizeof *t->p, "gp: matrices of the landmarks");
    if (s)
        return s;
    t->taken = numbers * sizeof *t->p;
    t->object = mcr_alloc(ctx, 2 * m, sizeof *t->object);
    t->y = mcr_alloc(ctx, 2 * n + 4 * m, sizeof *t->y);
    t->p = mcr_alloc(ctx, numbers, sizeof *t->p);
    if (!t->object || !t->y || !t->p)
        return MCR_NO_MEMORY;
    t->best = t->object + m;
    t->weight = t->y + n;
    t->b = t->weight + n;
    t->beta = t->b + m;
    t->u = t->beta + m;
    t->inverse = t->u + m;
    t->s = t->p + m * m;
    t->work = t->s + m * m;
    t->k = t->work + m * m;
    t->d = t->k + MCR_SPARSE_BLOCK * m;
    mcr_gp_standardise(goal, o->standardize, t->y, &t->mean, &t->scale);
    for (size_t i = 0; i < n; i++) {
        t->weight[i] = fmax(goal->weight[i], 1e-12);
        t->square += t->weight[i] * t->y[i] * t->y[i];
        t->logs += log(t->weight[i]);
    }
    return MCR_OK;
}

static void close_sparse(mcr_sparse *t, mcr *ctx)
{
    mcr_map_close(t->map);
    mcr_system_close(&t->e);
    mcr_free_all(ctx, t->object, t->y, t->p);
    mcr_budget_give(ctx, t->taken);
}

mcr_status mcr_gp_regress_sparsely(mcr_fitted **out, const mcr_learning *in, const mcr_goal *goal)
{
    mcr_sparse t;
    mcr_gp gp = {.extra = mcr_gp_start_noise(in), .own = &mcr_sparse_method, .method = &t};
    mcr_status s = open_sparse(&t, in, goal);
    if (!s)
        s = mcr_gp_tune(&gp, in);
    if (!s)
        s = mcr_map_coefficients(t.map, t.beta, 1, t.u);
    if (!s) {
        for (int64_t i = 0; i < t.m; i++)
            t.work[i] = t.scale * t.u[i];
        s = mcr_fitted_whole(out, in->ctx, t.m, 1, t.work);
    }
    if (!s)
        s = fill(*out, &gp);
    mcr_gp_close(&gp);
    close_sparse(&t, in->ctx);
    return s;
}
