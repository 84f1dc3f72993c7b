/* gp_regress.c: Gaussian process regression.
 *
 * With y the targets (standardised), K the kernel values and D the diagonal of the noise, noise /
 * w_i:
 *
 *   L L' = K + D,   a = (K + D)^-1 y,   log likelihood = -y'a/2 - sum log L_ii - n/2 log(2 pi)
 *
 * and 1/2 (a a' - (K + D)^-1) is its gradient against K. The inverse is made above the diagonal of
 * the one matrix whose lower part holds L. Rasmussen and Williams, 2006, algorithm 2.1 and eq. 5.9.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "learn/gp.h"

typedef struct regression {
    double *a, *rest;
    double *weight;   /* of the noise: 1 / w_i */
    double *diagonal; /* of the inverse */
    double jitter;
} regression;

/* What becomes of the targets, and of a solution. */
typedef struct outcome {
    double mean, scale; /* taken off the targets; that they are divided by */
    double residual;    /* |y - (K + D) a| over |K + D| |a| */
} outcome;

static mcr_status open_regression(mcr_gp *gp)
{
    regression *r = mcr_alloc_zero(gp->ctx, 1, sizeof *r);
    size_t n = (size_t)gp->n;
    gp->method = r;
    if (!r || !(r->a = mcr_alloc(gp->ctx, 4 * n, sizeof *r->a)))
        return MCR_NO_MEMORY;
    r->weight = r->a + n;
    r->diagonal = r->weight + n;
    r->rest = r->diagonal + n;
    for (size_t i = 0; i < n; i++)
        r->weight[i] = 1 / fmax(gp->weight[i], 1e-12);
    return MCR_OK;
}

static void close_regression(mcr_gp *gp)
{
    regression *r = gp->method;
    if (r)
        mcr_free(gp->ctx, r->a);
    mcr_free(gp->ctx, r);
    gp->method = NULL;
}

static double noise_of(const mcr_gp *gp, int64_t i)
{
    const regression *r = gp->method;
    return gp->extra * r->weight[i] + r->jitter;
}

/* L below the diagonal. Where rounding makes K + D indefinite, a jitter from 1e-12 to 1e-6 of the
 * mean of K(x,x) is added. K stays above the diagonal. */
static mcr_status factor(mcr_gp *gp)
{
    regression *r = gp->method;
    double mean = 0, *noise = r->rest;
    int64_t n = gp->n;
    mcr_status s = MCR_NUMERIC;
    for (int64_t i = 0; i < n; i++)
        mean += fabs(gp->k.diagonal[i]) / (double)n;
    r->jitter = 0;
    for (double share = 1e-12; s == MCR_NUMERIC && share < 2e-6; share *= 100) {
        for (int64_t i = 0; i < n; i++)
            noise[i] = noise_of(gp, i);
        s = mcr_system_factor(&gp->k, 0, noise, mcr_gp_phase(gp));
        if (s == MCR_NUMERIC)
            r->jitter = share * mean;
    }
    return s;
}

static mcr_status value(mcr_gp *gp, double *f)
{
    const regression *r = gp->method;
    int64_t n = gp->n;
    mcr_status s = factor(gp);
    memcpy(r->a, gp->y, sizeof *r->a * (size_t)n);
    if (!s)
        s = mcr_system_solve(&gp->k, 1, r->a);
    if (s)
        return s;
    *f = 0.5 * (double)n * log(2 * 3.14159265358979323846);
    for (int64_t i = 0; i < n; i++)
        *f += 0.5 * gp->y[i] * r->a[i] + mcr_system_log(&gp->k, i);
    return isfinite(*f) ? MCR_OK : mcr_fail(gp->ctx, MCR_NUMERIC, "gp: no finite likelihood");
}

static mcr_status prepare(mcr_gp *gp, int64_t part, double *slope)
{
    (void)part;
    const regression *r = gp->method;
    mcr_status s = mcr_system_inverse(&gp->k, true, r->diagonal, mcr_gp_phase(gp));
    for (int64_t i = 0; i < gp->n && !s; i++)
        *slope -= 0.5 * (r->a[i] * r->a[i] - r->diagonal[i]) * gp->extra * r->weight[i];
    return s;
}

/* Of -log likelihood; pairs count twice. */
static void row(const mcr_gp *gp, int64_t i, double *d)
{
    const regression *r = gp->method;
    const double *inverse = gp->k.a + i * gp->k.ld;
    d[0] = -0.5 * (r->a[i] * r->a[i] - r->diagonal[i]);
    for (int64_t j = i + 1; j < gp->n; j++)
        d[j - i] = inverse[j] - r->a[i] * r->a[j];
}

static const mcr_gp_method method = {.open = open_regression,
                                     .value = value,
                                     .prepare = prepare,
                                     .row = row,
                                     .close = close_regression};

/* ---- training ---------------------------------------------------------------------------------*/

void mcr_gp_standardise(const mcr_goal *goal, bool yes, double *y, double *mean, double *scale)
{
    double square = 0, least = INFINITY, most = -INFINITY;
    *mean = 0;
    *scale = 1;
    for (int64_t i = 0; i < goal->n && yes; i++) {
        *mean += goal->weight[i] * goal->y[i] / goal->total;
        if (goal->weight[i] > 0) {
            least = fmin(least, goal->y[i]);
            most = fmax(most, goal->y[i]);
        }
    }
    if (yes && least == most)
        *mean = least; /* else its rounding error would be all that is left of the targets */
    for (int64_t i = 0; i < goal->n; i++)
        square += goal->weight[i] * (goal->y[i] - *mean) * (goal->y[i] - *mean) / goal->total;
    if (yes && square > 0)
        *scale = sqrt(square);
    for (int64_t i = 0; i < goal->n; i++)
        y[i] = (goal->y[i] - *mean) / *scale;
}

/* From K, which value() left above the diagonal. */
static mcr_status certify(const mcr_gp *gp, outcome *o)
{
    const regression *r = gp->method;
    double worst = 0, most = 0, size = 0;
    mcr_status s = mcr_system_multiply(&gp->k, r->a, 1, r->rest);
    for (int64_t i = 0; i < gp->n && !s; i++) {
        double noise = noise_of(gp, i);
        size = fmax(size, fabs(gp->k.diagonal[i] + noise));
        most = fmax(most, fabs(r->a[i]));
        worst = fmax(worst, fabs(gp->y[i] - r->rest[i] - noise * r->a[i]));
    }
    o->residual = most > 0 ? worst / (most * size * (double)gp->n) : 0;
    return s;
}

/* What rounding may change of the likelihood, with C = K + D and a the solution as computed. Of
 * y'a: what y - C a and the errors of kernel values change. Of the logarithm of the determinant:
 * the trace of C^-1 dC, where |dC_ij| <= (n + 1) u sqrt(C_ii C_jj) beside the errors of kernel
 * values (Higham, Accuracy and Stability of Numerical Algorithms, 2002, theorem 10.3); with a
 * diagonal of 1, C has no eigenvalue below the smallest share of the noise. */
static mcr_status add_error(mcr_fitted *f, const mcr_gp *gp, mcr_gram *gram, double *work)
{
    const regression *r = gp->method;
    int64_t n = gp->n;
    double *size = work, *error = work + n, *one = error + n, share = 1, worst = 0;
    mcr_status s = mcr_gram_lengths(gram, size);
    if (!s)
        s = mcr_gram_product_error_of(gram, size, r->a, 1, NAN, error);
    if (!s) /* a search leaves no K in the system */
        s = isnan(gp->slope) ? mcr_system_multiply(&gp->k, r->a, 1, r->rest)
                             : mcr_gram_multiply(gram, r->a, 1, r->rest);
    for (int64_t i = 0; i < n && !s; i++) {
        double noise = noise_of(gp, i), square = size[i] * size[i] + noise;
        double own = noise * r->a[i], rest = fabs(gp->y[i] - r->rest[i] - own) + error[i] +
                                             2 * DBL_EPSILON * (fabs(gp->y[i]) + fabs(own));
        f->objective_error += 0.5 * (fabs(r->a[i]) + rest / noise) * rest;
        share = fmin(share, noise / square);
        one[i] = 1 / sqrt(square);
    }
    if (!s)
        s = mcr_gram_product_error_of(gram, size, one, 1, NAN, error);
    for (int64_t i = 0; i < n && !s; i++)
        worst = fmax(worst, error[i] * one[i]);
    worst += 0.5 * DBL_EPSILON * (double)n * (double)(n + 1);
    f->objective_error += 0.5 * (double)n * worst / share + 2 * DBL_EPSILON * fabs(gp->f);
    return s;
}

static mcr_status find_error(mcr_fitted *f, const mcr_gp *gp)
{
    double *work = mcr_alloc(gp->ctx, (size_t)gp->n, 3 * sizeof *work);
    mcr_gram *own = NULL;
    mcr_status s = work ? MCR_OK : MCR_NO_MEMORY;
    if (!s && !gp->gram)
        s = mcr_gram_open(&own, gp->ctx, gp->kernel, gp->data, NULL);
    if (!s)
        s = add_error(f, gp, own ? own : gp->gram, work);
    mcr_gram_close(own);
    mcr_free(gp->ctx, work);
    if (s != MCR_STOPPED)
        return s;
    f->objective_error = fabs(gp->f); /* at a limit: the model stays, and no digit is certain */
    return MCR_OK;
}

static mcr_status fill(mcr_fitted *f, mcr_gp *gp, outcome *o)
{
    const regression *r = gp->method;
    int64_t n = gp->n;
    double *noise = mcr_alloc(gp->ctx, (size_t)n, sizeof *noise);
    mcr_status s = noise ? MCR_OK : MCR_NO_MEMORY;
    f->trained = mcr_alloc(gp->ctx, (size_t)n, sizeof *f->trained);
    if (!s && !f->trained)
        s = MCR_NO_MEMORY;
    for (int64_t i = 0; i < n && !s; i++) {
        noise[i] = noise_of(gp, i);
        f->trained[i] = o->mean + o->scale * (gp->y[i] - noise[i] * r->a[i]);
    }
    if (!s)
        s = mcr_fitted_keep(f, MCR_GP_NOISE, noise, n);
    if (!s)
        s = mcr_gp_describe(f, o->mean, o->scale, gp->extra);
    if (!s && r->jitter > 0)
        s = mcr_fitted_remark(
            f, "K + noise is numerically singular: %.1e was added to its diagonal", r->jitter);
    mcr_free(gp->ctx, noise);
    if (s)
        return s;
    if (isnan(gp->slope)) /* else the slope is what is certified */
        s = certify(gp, o);
    f->certificate = "relative residual";
    f->value = o->residual;
    f->tolerance = 1e-10;
    /* Kernel values, and sums of n products, relative to n times the largest of these. */
    f->value_error = 1e-12 + DBL_EPSILON * (double)n;
    if (!s)
        s = find_error(f, gp);
    return s ? s : mcr_gp_finish(f, gp, gp->data);
}

/* The leave-one-out predictions at the current scales. With C = K + D the residual of an object is
 * (C^-1 y)_i / (C^-1)_ii; if a mean is subtracted, it is that of the other objects. */
static mcr_status leave_out(mcr_fitted *f, mcr_gp *gp, const outcome *o, const mcr_goal *goal)
{
    const regression *r = gp->method;
    int64_t n = gp->n;
    double error = 0, *ones = r->rest;
    for (int64_t i = 0; i < n; i++)
        if (!(goal->weight[i] > 0)) /* its noise is beyond what can be divided by */
            return MCR_OK;
    f->left_out = mcr_alloc(gp->ctx, (size_t)n, sizeof *f->left_out);
    if (!f->left_out)
        return MCR_NO_MEMORY;
    for (int64_t i = 0; i < n; i++)
        ones[i] = 1;
    mcr_status s = mcr_system_solve(&gp->k, 1, ones);
    if (!s)
        s = mcr_system_inverse(&gp->k, false, r->diagonal, mcr_gp_phase(gp));
    for (int64_t i = 0; i < n && !s; i++) {
        double y = goal->y[i], w = goal->weight[i], others = goal->total - w;
        double mean = !gp->params->standardize ? 0
                      : others > 0             ? (goal->total * o->mean - w * y) / others
                                               : o->mean;
        double missed = (o->scale * r->a[i] + (o->mean - mean) * ones[i]) / r->diagonal[i];
        f->left_out[i] = y - missed;
        error += w * missed * missed / goal->total;
    }
    return s ? s : mcr_fitted_keep(f, MCR_EXTRA_LOO, &error, 1);
}

double mcr_gp_start_noise(const mcr_learning *in)
{
    const mcr_gp_params *o = in->params;
    if (!in->start || !o->optimize)
        return o->noise;
    double noise = mcr_fitted_number(in->start, MCR_EXTRA_NOISE);
    double scale = mcr_fitted_number(in->start, MCR_GP_SCALE);
    return noise > 0 && scale > 0 ? noise / (scale * scale) : o->noise;
}

mcr_status mcr_gp_regress(mcr_fitted **out, const mcr_learning *in, const mcr_goal *goal)
{
    const mcr_gp_params *params = in->params;
    mcr *ctx = in->ctx;
    size_t n = (size_t)goal->n;
    double *y = mcr_alloc(ctx, 2 * n, sizeof *y), *coef = y ? y + n : NULL;
    outcome o;
    if (!y)
        return MCR_NO_MEMORY;
    mcr_gp_standardise(goal, params->standardize, y, &o.mean, &o.scale);
    o.residual = NAN;
    mcr_gp gp = {.extra = mcr_gp_start_noise(in),
                 .type = &method,
                 .y = y,
                 .weight = goal->weight,
                 .parts = 1};
    mcr_status s = mcr_gp_tune(&gp, in);
    const regression *r = gp.method;
    for (size_t i = 0; i < n && !s; i++)
        coef[i] = o.scale * r->a[i];
    if (!s)
        s = mcr_fitted_whole(out, ctx, goal->n, 1, coef);
    if (!s)
        s = fill(*out, &gp, &o);
    if (!s && params->loo)
        s = leave_out(*out, &gp, &o, goal);
    mcr_gp_close(&gp);
    mcr_free(ctx, y);
    return s;
}
