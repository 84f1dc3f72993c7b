/* shifted.c: (K + r) X = B.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "solve/shifted.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "linalg/shared.h"

bool mcr_shifted_is_direct(const mcr_gram *gram)
{
    int64_t p = mcr_gram_width(gram);
    bool sparse = mcr_gram_work(gram) < (double)p;
    return p <= mcr_gram_rows(gram) && (!sparse || p <= MCR_DIRECT_FEATURES);
}

mcr_status mcr_shifted_open(mcr_shifted *t, mcr_gram *gram, const char *phase, const char *what)
{
    mcr *ctx = mcr_gram_context(gram);
    int64_t n = mcr_gram_rows(gram), p = mcr_gram_width(gram);
    *t = (mcr_shifted){.gram = gram, .phase = phase, .width = p};
    if (p > 0 && !mcr_shifted_is_direct(gram))
        return MCR_OK;
    mcr_status s = mcr_system_open(&t->system, ctx, p > 0 ? p : n, what);
    if (s)
        return s;
    return p > 0 ? mcr_gram_fill_weighted(gram, &t->system, mcr_gram_all(gram), NULL)
                 : mcr_gram_fill_system(gram, &t->system, NULL, true);
}

void mcr_shifted_close(mcr_shifted *t)
{
    mcr_system_close(&t->system);
}

typedef struct state {
    mcr *ctx;
    mcr_gram *gram;
    mcr_rows all;
    double r;
    const double *b;
    int64_t n, p, k;
    double *x, *w;
    double *rest, *wide; /* n x k, p x k */
} state;

static double largest(const double *v, int64_t count)
{
    double most = 0;
    for (int64_t i = 0; i < count; i++)
        most = fmax(most, fabs(v[i]));
    return most;
}

/* ---- by a factor of K + r ---------------------------------------------------------------------*/

/* rest: the residual, from K, which the factorisation leaves above the diagonal. */
static mcr_status by_values(state *t, mcr_system *y, const char *phase)
{
    int64_t n = t->n, k = t->k;
    memcpy(t->x, t->b, sizeof *t->x * (size_t)(n * k));
    memcpy(t->rest, t->b, sizeof *t->rest * (size_t)(n * k));
    mcr_status s = mcr_system_factor(y, t->r, NULL, phase);
    if (!s)
        s = mcr_system_solve(y, k, t->x);
    if (s)
        return s;
    mcr_system_restore(y);
    for (int64_t i = 0; i < n; i++)
        y->a[i * y->ld + i] += t->r;
    s = mcr_shared_gemm(t->ctx, MCR_AS_IS, MCR_AS_IS, n, k, n, -1, y->a, y->ld, t->x, k, 1, t->rest,
                        k);
    for (int64_t i = 0; i < n; i++)
        y->a[i * y->ld + i] = y->diagonal[i];
    return s;
}

/* ---- by a factor of D'D + r -------------------------------------------------------------------*/

/* X = (B - D W) / r; wide = D'X - W. */
static mcr_status find_rest(state *t)
{
    mcr_status s = mcr_gram_expand(t->gram, t->all, t->w, t->k, t->x);
    for (int64_t i = 0; i < t->n * t->k && !s; i++)
        t->x[i] = (t->b[i] - t->x[i]) / t->r;
    if (!s)
        s = mcr_gram_project(t->gram, t->all, t->x, t->k, t->wide);
    for (int64_t j = 0; j < t->p * t->k && !s; j++)
        t->wide[j] -= t->w[j];
    return s;
}

static mcr_status by_features(state *t, mcr_system *y, const char *phase)
{
    enum { MOST = 4 };
    double off = INFINITY;
    mcr_status s = mcr_system_factor(y, t->r, NULL, phase);
    if (!s)
        s = mcr_gram_project(t->gram, t->all, t->b, t->k, t->w);
    if (!s)
        s = mcr_system_solve(y, t->k, t->w);
    for (int i = 0; i < MOST && !s; i++) {
        s = find_rest(t);
        double now = s ? 0 : largest(t->wide, t->p * t->k);
        if (s || now <= 4 * DBL_EPSILON * largest(t->w, t->p * t->k) || now > 0.25 * off)
            break; /* no more can be had */
        off = now;
        for (int64_t j = 0; j < t->p * t->k; j++)
            t->wide[j] *= t->r;
        s = mcr_system_solve(y, t->k, t->wide);
        for (int64_t j = 0; j < t->p * t->k && !s; j++)
            t->w[j] += t->wide[j];
    }
    return s;
}

/* ---- by products ------------------------------------------------------------------------------*/

static void dots(const double *a, const double *b, int64_t n, int64_t k, double *sum)
{
    memset(sum, 0, sizeof *sum * (size_t)k);
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < k; c++)
            sum[c] += a[i * k + c] * b[i * k + c];
}

/* One step for all columns; those that are done stay. */
static mcr_status step(state *t, double *d, double *ad, double *square, double *work, double least)
{
    int64_t n = t->n, k = t->k;
    double *next = work + k;
    mcr_status s = mcr_gram_multiply(t->gram, d, k, ad);
    if (s)
        return s;
    for (int64_t i = 0; i < n * k; i++)
        ad[i] += t->r * d[i];
    dots(d, ad, n, k, work);
    for (int64_t c = 0; c < k; c++)
        work[c] = square[c] > least && work[c] > 0 ? square[c] / work[c] : 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < k; c++) {
            t->x[i * k + c] += work[c] * d[i * k + c];
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

static mcr_status by_products(state *t, const char *phase)
{
    enum { MOST = 5000 };
    mcr *ctx = t->ctx;
    size_t all = (size_t)(t->n * t->k), k = (size_t)t->k;
    double *d = mcr_alloc(ctx, all, sizeof *d), *ad = mcr_alloc(ctx, all, sizeof *ad);
    double *square = mcr_alloc(ctx, k, 3 * sizeof *square), began = mcr_now(), least = 0;
    mcr_status s = d && ad && square ? MCR_OK : MCR_NO_MEMORY;
    if (!s) {
        memset(t->x, 0, sizeof *t->x * all);
        memcpy(t->rest, t->b, sizeof *d * all);
        memcpy(d, t->b, sizeof *d * all);
        dots(d, d, t->n, t->k, square);
        least = 1e-26 * fmax(largest(square, t->k), DBL_MIN);
    }
    for (int64_t i = 0; i < MOST && !s && largest(square, t->k) > least; i++) {
        mcr_progress now = {.size = sizeof now,
                            .phase = phase,
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

/* ---- all of it --------------------------------------------------------------------------------*/

/* W = D'X and the residual B - D W - r X. */
static mcr_status evaluate(state *t)
{
    mcr_status s = mcr_gram_project(t->gram, t->all, t->x, t->k, t->w);
    if (!s)
        s = mcr_gram_expand(t->gram, t->all, t->w, t->k, t->rest);
    for (int64_t i = 0; i < t->n * t->k && !s; i++)
        t->rest[i] = t->b[i] - t->rest[i] - t->r * t->x[i];
    return s;
}

mcr_status mcr_shifted_solve(mcr_shifted *shifted, double r, const double *b, int64_t cols,
                             double size, double *x, double *w, double *residual)
{
    mcr_gram *gram = shifted->gram;
    state t = {.ctx = mcr_gram_context(gram),
               .gram = gram,
               .all = mcr_gram_all(gram),
               .r = r,
               .b = b,
               .n = mcr_gram_rows(gram),
               .p = shifted->width,
               .k = cols,
               .x = x,
               .w = w};
    t.rest = mcr_alloc(t.ctx, (size_t)t.n, (size_t)cols * sizeof *t.rest);
    t.wide = mcr_alloc(t.ctx, (size_t)t.p + 1, (size_t)cols * sizeof *t.wide);
    mcr_status s = t.rest && t.wide ? MCR_OK : MCR_NO_MEMORY;
    if (!s)
        s = t.p == 0            ? by_values(&t, &shifted->system, shifted->phase)
            : shifted->system.a ? by_features(&t, &shifted->system, shifted->phase)
                                : by_products(&t, shifted->phase);
    if (!s && t.p > 0)
        s = evaluate(&t);
    if (!s)
        *residual = largest(t.rest, t.n * cols) / fmax(largest(x, t.n * cols) * size, DBL_MIN);
    mcr_free(t.ctx, t.rest);
    mcr_free(t.ctx, t.wide);
    return s;
}
