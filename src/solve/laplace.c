/* laplace.c: Laplace's approximation (Rasmussen and Williams, 2006, algorithms 3.1, 3.2 and 5.1).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "solve/laplace.h"

#include <math.h>

#include "base/context.h"
#include "base/threads.h"
#include "linalg/lapack.h"

enum { MOST_ROUNDS = 100, SIDE = 32 };

mcr_status mcr_laplace_open(mcr_laplace *l, mcr_system *k, mcr *ctx, int64_t n, int64_t parts,
                            const double *y, const double *weight)
{
    size_t all = (size_t)(n * parts);
    *l = (mcr_laplace){.ctx = ctx, .k = k, .n = n, .parts = parts, .y = y, .weight = weight};
    bool ok = mcr_zero_doubles(ctx, all, &l->a, &l->f, &l->root) &&
              mcr_zero_doubles(ctx, (size_t)n, &l->g, &l->t, &l->v, &l->u, &l->diagonal);
    return ok ? MCR_OK : MCR_NO_MEMORY;
}

void mcr_laplace_close(mcr_laplace *l)
{
    mcr_free_all(l->ctx, l->a, l->f, l->root, l->g, l->t, l->v, l->u, l->diagonal);
}

/* ---- the mode ---------------------------------------------------------------------------------*/

static double label(const mcr_laplace *l, int64_t i)
{
    return l->y[i * l->parts + l->part];
}

/* log of 1 / (1 + exp(-z)). */
static double log_logistic(double z)
{
    return z > 0 ? -log1p(exp(-z)) : z - log1p(exp(z));
}

static double log_posterior(const mcr_laplace *l, const double *a, const double *f)
{
    double sum = 0;
    for (int64_t i = 0; i < l->n; i++)
        sum += l->weight[i] * log_logistic(label(l, i) * f[i]) - 0.5 * a[i] * f[i];
    return sum;
}

static double *of_part(const mcr_laplace *l, double *array)
{
    return array + l->part * l->n;
}

/* g and W^1/2 at the mode so far; gives the largest |g - a|. */
static double look(mcr_laplace *l)
{
    const double *a = of_part(l, l->a), *f = of_part(l, l->f);
    double *root = of_part(l, l->root), worst = 0;
    for (int64_t i = 0; i < l->n; i++) {
        double p = 1 / (1 + exp(-f[i])), w = l->weight[i];
        l->g[i] = w * ((label(l, i) > 0) - p);
        root[i] = sqrt(w * p * (1 - p));
        worst = fmax(worst, fabs(l->g[i] - a[i]));
    }
    return worst;
}

/* W^1/2 K W^1/2 below the diagonal, a band of rows at a time, read from the columns above it in
 * squares that fit the first cache. */
static mcr_status fill_band(void *arg, int64_t first, int64_t end)
{
    const mcr_laplace *l = arg;
    int64_t ld = l->k->ld;
    double *k = l->k->a;
    const double *root = of_part(l, l->root);
    for (int64_t j0 = 0; j0 <= first; j0 += SIDE)
        for (int64_t i = first; i < end; i++)
            for (int64_t j = j0; j < j0 + SIDE && j < i; j++)
                k[i * ld + j] = root[i] * k[j * ld + i] * root[j];
    for (int64_t i = first; i < end; i++)
        k[i * ld + i] = 1 + root[i] * l->k->diagonal[i] * root[i];
    return MCR_OK;
}

static mcr_status factor(mcr_laplace *l)
{
    mcr_status s = mcr_parallel_chunks(l->ctx, l->n, SIDE, fill_band, l);
    return s ? s : mcr_lapack_cholesky(l->ctx, l->n, l->k->a, l->k->ld, l->phase, NULL);
}

/* x = W^1/2 B^-1 W^1/2 x */
static mcr_status apply_r(mcr_laplace *l, double *x)
{
    const double *root = of_part(l, l->root);
    for (int64_t i = 0; i < l->n; i++)
        x[i] *= root[i];
    mcr_status s = mcr_system_solve(l->k, 1, x);
    for (int64_t i = 0; i < l->n; i++)
        x[i] *= root[i];
    return s;
}

/* Newton's step, cut back until the posterior rises. *moved: it did. */
static mcr_status newton(mcr_laplace *l, bool *moved)
{
    int64_t n = l->n;
    double *a = of_part(l, l->a), *f = of_part(l, l->f), *root = of_part(l, l->root);
    for (int64_t i = 0; i < n; i++)
        l->t[i] = root[i] * root[i] * f[i] + l->g[i];
    mcr_status s = mcr_system_multiply(l->k, l->t, 1, l->v);
    if (!s)
        s = apply_r(l, l->v);
    for (int64_t i = 0; i < n && !s; i++)
        l->t[i] -= l->v[i] + a[i]; /* the step of a */
    if (!s)
        s = mcr_system_multiply(l->k, l->t, 1, l->v); /* that of f */
    if (s)
        return s;
    double before = log_posterior(l, a, f), step = 1;
    *moved = false;
    for (int cut = 0; cut < 40 && !*moved; cut++, step *= 0.5) {
        for (int64_t i = 0; i < n; i++) {
            a[i] += step * l->t[i];
            f[i] += step * l->v[i];
        }
        *moved = log_posterior(l, a, f) >= before - 1e-14 * fabs(before);
        for (int64_t i = 0; i < n && !*moved; i++) {
            a[i] -= step * l->t[i];
            f[i] -= step * l->v[i];
        }
    }
    return MCR_OK;
}

/* From the mode that was found last, if it is better than 0. At the end B is that of the mode. */
static mcr_status find_mode(mcr_laplace *l, double *residual)
{
    double *a = of_part(l, l->a), *f = of_part(l, l->f);
    mcr_status s = mcr_system_multiply(l->k, a, 1, f);
    double zero = 0;
    for (int64_t i = 0; i < l->n; i++)
        zero -= l->weight[i] * log(2);
    if (!(log_posterior(l, a, f) > zero))
        for (int64_t i = 0; i < l->n; i++)
            a[i] = f[i] = 0;
    for (int round = 0; round < MOST_ROUNDS && !s; round++) {
        bool moved = false;
        *residual = look(l);
        s = factor(l);
        if (s || *residual <= MCR_LAPLACE_TOLERANCE)
            break;
        s = newton(l, &moved);
        if (!moved)
            break;
    }
    return s;
}

/* ---- the likelihood ---------------------------------------------------------------------------*/

static mcr_status part_value(mcr_laplace *l, double *f)
{
    double residual = 0;
    mcr_status s = find_mode(l, &residual);
    l->residual = fmax(l->residual, residual);
    *f -= log_posterior(l, of_part(l, l->a), of_part(l, l->f));
    for (int64_t i = 0; i < l->n && !s; i++)
        *f += mcr_system_log(l->k, i);
    return s;
}

mcr_status mcr_laplace_value(mcr_laplace *l, double *f)
{
    mcr_status s = MCR_OK;
    *f = 0;
    l->residual = 0;
    for (l->part = 0; l->part < l->parts && !s; l->part++)
        s = part_value(l, f);
    l->part = 0;
    return s ? s : isfinite(*f) ? MCR_OK : mcr_fail(l->ctx, MCR_NUMERIC, "gp: no likelihood");
}

/* With R = W^1/2 B^-1 W^1/2 and S = (K^-1 + W)^-1, whose diagonal is (1 - (B^-1)_ii) / W_ii, the
 * gradient of the log likelihood against K is a a'/2 - R/2 + (u g' + g u')/2, u = (I - R K) s and
 * s_i = S_ii d^3 log p(y_i|f_i) / 2. K is overwritten by the inverse of B. */
mcr_status mcr_laplace_prepare(mcr_laplace *l, int64_t part)
{
    l->part = part;
    const double *f = of_part(l, l->f), *root = of_part(l, l->root);
    look(l);
    mcr_status s = factor(l);
    if (!s)
        s = mcr_system_inverse(l->k, false, l->diagonal, l->phase);
    for (int64_t i = 0; i < l->n && !s; i++) {
        double w = root[i] * root[i], third = -w * (1 - 2 / (1 + exp(-f[i])));
        l->u[i] = w > 0 ? 0.5 * (1 - l->diagonal[i]) / w * third : 0;
    }
    if (!s)
        s = mcr_system_multiply(l->k, l->u, 1, l->v);
    if (!s)
        s = apply_r(l, l->v);
    for (int64_t i = 0; i < l->n && !s; i++)
        l->u[i] -= l->v[i];
    return s ? s : mcr_system_inverse(l->k, true, l->diagonal, l->phase);
}

/* Of -log likelihood; pairs count twice. */
void mcr_laplace_row(const mcr_laplace *l, int64_t i, double *d)
{
    const double *inverse = l->k->a + i * l->k->ld, *a = of_part(l, l->a);
    const double *root = of_part(l, l->root);
    d[0] = 0.5 * (root[i] * root[i] * l->diagonal[i] - a[i] * a[i]) - l->u[i] * l->g[i];
    for (int64_t j = i + 1; j < l->n; j++)
        d[j - i] = root[i] * inverse[j] * root[j] - a[i] * a[j] - l->u[i] * l->g[j] -
                   l->g[i] * l->u[j];
}
