/* fisher_features.c: the linear systems of fisher from features.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "learn/fisher_features.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/context.h"

typedef struct state {
    const mcr_covariance *x;
    double r;
    const double *e;
    int64_t n, p, k;
    double *h, *g;
    double *rest, *wide; /* n x k, p x k */
} state;

static double largest(const double *v, int64_t count)
{
    double most = 0;
    for (int64_t i = 0; i < count; i++)
        most = fmax(most, fabs(v[i]));
    return most;
}

/* ---- by a factor ------------------------------------------------------------------------------*/

/* H = (E - X G) / r; wide = X'H - G. */
static mcr_status find_rest(state *t)
{
    mcr_status s = mcr_covariance_multiply(t->x, t->g, t->k, t->h);
    for (int64_t i = 0; i < t->n * t->k && !s; i++)
        t->h[i] = (t->e[i] - t->h[i]) / t->r;
    if (!s)
        s = mcr_covariance_project(t->x, t->h, t->k, t->wide);
    for (int64_t j = 0; j < t->p * t->k && !s; j++)
        t->wide[j] -= t->g[j];
    return s;
}

static mcr_status by_factor(state *t)
{
    enum { MOST = 4 };
    mcr *ctx = t->x->ctx;
    mcr_square c = {0};
    double off = INFINITY;
    mcr_status s = mcr_square_open(&c, ctx, t->p, "fisher: the covariance");
    if (!s)
        s = mcr_covariance_matrix(t->x, c.a, c.ld);
    for (int64_t j = 0; j < t->p && !s; j++)
        c.a[j * c.ld + j] += t->r;
    if (!s)
        s = mcr_lapack_cholesky(ctx, t->p, c.a, c.ld, "fisher", NULL);
    if (!s)
        s = mcr_covariance_project(t->x, t->e, t->k, t->g);
    if (!s)
        s = mcr_lapack_solve(ctx, t->p, t->k, c.a, c.ld, t->g, t->k);
    for (int i = 0; i < MOST && !s; i++) {
        s = find_rest(t);
        double now = s ? 0 : largest(t->wide, t->p * t->k);
        if (s || now <= 4 * DBL_EPSILON * largest(t->g, t->p * t->k) || now > 0.25 * off)
            break; /* no more can be had */
        off = now;
        for (int64_t j = 0; j < t->p * t->k; j++)
            t->wide[j] *= t->r;
        s = mcr_lapack_solve(ctx, t->p, t->k, c.a, c.ld, t->wide, t->k);
        for (int64_t j = 0; j < t->p * t->k && !s; j++)
            t->g[j] += t->wide[j];
    }
    mcr_square_close(&c);
    return s == MCR_NUMERIC ? mcr_advise(ctx,
                                         mcr_fail(ctx, MCR_NUMERIC,
                                                  "fisher: lambda is too small for the rounding "
                                                  "errors of the covariance: take a larger one"),
                                         "option lambda")
                            : s;
}

/* ---- by products ------------------------------------------------------------------------------*/

static void dots(const double *a, const double *b, int64_t n, int64_t k, double *sum)
{
    memset(sum, 0, sizeof *sum * (size_t)k);
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < k; c++)
            sum[c] += a[i * k + c] * b[i * k + c];
}

/* to = (A + r I) v. */
static mcr_status times(state *t, const double *v, double *to)
{
    mcr_status s = mcr_covariance_project(t->x, v, t->k, t->wide);
    if (!s)
        s = mcr_covariance_multiply(t->x, t->wide, t->k, to);
    for (int64_t i = 0; i < t->n * t->k && !s; i++)
        to[i] += t->r * v[i];
    return s;
}

/* One step for all columns; those that are done stay. */
static mcr_status step(state *t, double *d, double *ad, double *square, double *work, double least)
{
    int64_t n = t->n, k = t->k;
    double *next = work + k;
    mcr_status s = times(t, d, ad);
    if (s)
        return s;
    dots(d, ad, n, k, work);
    for (int64_t c = 0; c < k; c++)
        work[c] = square[c] > least && work[c] > 0 ? square[c] / work[c] : 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < k; c++) {
            t->h[i * k + c] += work[c] * d[i * k + c];
            t->rest[i * k + c] -= work[c] * ad[i * k + c];
        }
    dots(t->rest, t->rest, n, k, next);
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < k; c++)
            d[i * k + c] = t->rest[i * k + c] +
                           (square[c] > 0 ? next[c] / square[c] : 0) * d[i * k + c];
    memcpy(square, next, sizeof *square * (size_t)k);
    return MCR_OK;
}

static mcr_status by_products(state *t)
{
    enum { MOST = 5000 };
    const double least = 1e-26; /* of the squared residuals, that begin at 1 */
    mcr *ctx = t->x->ctx;
    size_t all = (size_t)(t->n * t->k), k = (size_t)t->k;
    double *d = mcr_alloc(ctx, all, sizeof *d), *ad = mcr_alloc(ctx, all, sizeof *ad);
    double *square = mcr_alloc(ctx, k, 3 * sizeof *square), began = mcr_now();
    mcr_status s = d && ad && square ? MCR_OK : MCR_NO_MEMORY;
    if (!s) {
        memset(t->h, 0, sizeof *t->h * all);
        memcpy(t->rest, t->e, sizeof *d * all);
        memcpy(d, t->e, sizeof *d * all);
        dots(d, d, t->n, t->k, square);
    }
    for (int64_t i = 0; i < MOST && !s && largest(square, t->k) > least; i++) {
        mcr_progress now = {.size = sizeof now,
                            .phase = "fisher",
                            .fraction = NAN,
                            .seconds = mcr_now() - began,
                            .step = i,
                            .objective = NAN,
                            .violation = sqrt(largest(square, t->k))};
        s = mcr_report(ctx, &now) ? mcr_fail(ctx, MCR_STOPPED, "interrupted")
                                  : step(t, d, ad, square, square + k, least);
    }
    mcr_free(ctx, d);
    mcr_free(ctx, ad);
    mcr_free(ctx, square);
    return s;
}

/* ---- both -------------------------------------------------------------------------------------*/

/* G = X'H and the residual E - X G - r H, relative as on the dual form. */
static mcr_status evaluate(state *t, double *residual)
{
    mcr_status s = mcr_covariance_project(t->x, t->h, t->k, t->g);
    double worst = 0, all = t->x->c.total + t->r;
    if (!s)
        s = mcr_covariance_multiply(t->x, t->g, t->k, t->rest);
    for (int64_t i = 0; i < t->n * t->k && !s; i++)
        worst = fmax(worst, fabs(t->e[i] - t->rest[i] - t->r * t->h[i]));
    *residual = worst / fmax(largest(t->h, t->n * t->k) * all, DBL_MIN);
    return s;
}

static void add_squares(const double *v, int64_t rows, int64_t k, double factor, double *m)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t c = 0; c < k; c++)
            for (int64_t d = 0; d <= c; d++)
                m[c * k + d] += factor * v[i * k + c] * v[i * k + d];
}

mcr_status mcr_fisher_features(const mcr_covariance *x, double r, const double *e, int64_t k,
                               double *h, double *g, double *m, double *residual)
{
    state t = {.x = x, .r = r, .e = e, .n = x->c.n, .p = x->p, .k = k, .h = h, .g = g};
    t.rest = mcr_alloc(x->ctx, (size_t)t.n, (size_t)k * sizeof *t.rest);
    t.wide = mcr_alloc(x->ctx, (size_t)t.p, (size_t)k * sizeof *t.wide);
    mcr_status s = t.rest && t.wide ? MCR_OK : MCR_NO_MEMORY;
    if (!s)
        s = mcr_covariance_is_direct(x) ? by_factor(&t) : by_products(&t);
    if (!s)
        s = evaluate(&t, residual);
    if (!s) {
        memset(m, 0, sizeof *m * (size_t)(k * k));
        add_squares(g, t.p, k, r, m);
        add_squares(h, t.n, k, r * r, m);
    }
    mcr_free(x->ctx, t.rest);
    mcr_free(x->ctx, t.wide);
    return s;
}
