/* shifted.c: (K + r) X = B.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "solve/shifted.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "linalg/shared.h"
#include "solve/conjugate.h"

bool mcr_shifted_is_direct(const mcr_gram *gram)
{
    int64_t p = mcr_gram_width(gram);
    bool sparse = mcr_gram_work(gram) < (double)p;
    return p <= mcr_gram_rows(gram) && (!sparse || p <= MCR_DIRECT_FEATURES);
}

/* D' diag(root)^2 D */
static mcr_status fill_features(mcr_shifted *t)
{
    mcr *ctx = mcr_gram_context(t->gram);
    mcr_rows all = mcr_gram_all(t->gram);
    double *h = t->root ? mcr_alloc(ctx, (size_t)all.count, sizeof *h) : NULL;
    if (t->root && !h)
        return MCR_NO_MEMORY;
    for (int64_t i = 0; i < all.count && h; i++)
        h[i] = t->root[i] * t->root[i];
    mcr_status s = mcr_gram_fill_weighted(t->gram, &t->system, all, h);
    mcr_free(ctx, h);
    return s;
}

mcr_status mcr_shifted_open(mcr_shifted *t, mcr_gram *gram, const double *root, bool direct,
                            const char *phase, const char *what)
{
    int64_t n = mcr_gram_rows(gram), p = mcr_gram_width(gram);
    *t = (mcr_shifted){.gram = gram, .root = root, .phase = phase, .width = p, .tol = 1e-13};
    if (p > 0 && !direct)
        return MCR_OK;
    mcr_status s = mcr_system_open(&t->system, mcr_gram_context(gram), p > 0 ? p : n, what);
    if (s)
        return s;
    return p > 0 ? fill_features(t) : mcr_gram_fill_system(gram, &t->system, root, true);
}

void mcr_shifted_close(mcr_shifted *t)
{
    mcr_system_close(&t->system);
}

typedef struct state {
    mcr *ctx;
    mcr_shifted *of;
    mcr_gram *gram;
    mcr_rows all;
    double r;
    const double *b;
    int64_t n, p, k;
    double *x, *w;       /* n x k, p x k */
    double *part, *wide; /* n x k, p x k */
    double began;
} state;

/* to = diag(root) v; the same array is allowed. */
static void scale(const state *t, const double *v, double *to)
{
    for (int64_t i = 0; i < t->n * t->k; i++)
        to[i] = t->of->root[i / t->k] * v[i];
}

/* diag(root) v, in `part` if that is another vector. */
static const double *scaled(const state *t, const double *v)
{
    if (!t->of->root)
        return v;
    scale(t, v, t->part);
    return t->part;
}

/* y = D v and u = D'a */
static mcr_status expand(const state *t, const double *v, double *y)
{
    mcr_status s = mcr_gram_expand(t->gram, t->all, v, t->k, y);
    if (!s && t->of->root)
        scale(t, y, y);
    return s;
}

static mcr_status project(const state *t, const double *a, double *u)
{
    return mcr_gram_project(t->gram, t->all, scaled(t, a), t->k, u);
}

/* ---- by a factor of D'D + r -------------------------------------------------------------------*/

/* X = (B - D W) / r; wide = D'X - W. */
static mcr_status find_rest(state *t)
{
    mcr_status s = expand(t, t->w, t->x);
    for (int64_t i = 0; i < t->n * t->k && !s; i++)
        t->x[i] = (t->b[i] - t->x[i]) / t->r;
    if (!s)
        s = project(t, t->x, t->wide);
    for (int64_t j = 0; j < t->p * t->k && !s; j++)
        t->wide[j] -= t->w[j];
    return s;
}

static mcr_status by_features(state *t)
{
    enum { MOST = 4 };
    mcr_system *y = &t->of->system;
    double off = INFINITY;
    mcr_status s = mcr_system_factor(y, t->r, NULL, t->of->phase);
    if (!s)
        s = project(t, t->b, t->w);
    if (!s)
        s = mcr_system_solve(y, t->k, t->w);
    for (t->of->steps = 1; t->of->steps <= MOST && !s; t->of->steps++) {
        s = find_rest(t);
        double now = s ? 0 : mcr_largest_of(t->wide, t->p * t->k);
        if (s || now <= 4 * DBL_EPSILON * mcr_largest_of(t->w, t->p * t->k) || now > 0.25 * off)
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

static mcr_status apply(void *self, const double *v, double *av)
{
    const state *t = self;
    mcr_status s = mcr_gram_multiply(t->gram, scaled(t, v), t->k, av);
    if (!s && t->of->root)
        scale(t, av, av);
    for (int64_t i = 0; i < t->n * t->k && !s; i++)
        av[i] += t->r * v[i];
    return s;
}

static mcr_status over(void *self, double norm, bool *yes)
{
    const state *t = self;
    *yes = mcr_report_step(t->ctx, t->of->phase, mcr_now() - t->began, t->of->steps, NAN, norm);
    return *yes ? mcr_fail(t->ctx, MCR_STOPPED, "interrupted") : MCR_OK;
}

static mcr_status by_products(state *t)
{
    char kept[MCR_PART_NAME];
    mcr_conjugate c = {.ctx = t->ctx,
                       .size = t->n,
                       .columns = t->k,
                       .apply = apply,
                       .over = over,
                       .self = t,
                       .enough = t->of->tol,
                       .relative = true,
                       .most = 5000,
                       .part = kept};
    double norm;
    t->began = mcr_now();
    t->of->steps = 0;
    mcr_resume_name(t->ctx, "conjugate", kept);
    return mcr_conjugate_solve(&c, t->b, t->x, &norm, &t->of->steps);
}

/* ---- all of it --------------------------------------------------------------------------------*/

static mcr_status open_state(state *t, mcr_shifted *of, double r, const double *b, int64_t cols)
{
    *t = (state){.ctx = mcr_gram_context(of->gram),
                 .of = of,
                 .gram = of->gram,
                 .all = mcr_gram_all(of->gram),
                 .r = r,
                 .b = b,
                 .n = mcr_gram_rows(of->gram),
                 .p = of->width,
                 .k = cols};
    t->part = mcr_alloc(t->ctx, (size_t)t->n, (size_t)cols * sizeof *t->part);
    return t->part ? MCR_OK : MCR_NO_MEMORY;
}

mcr_status mcr_shifted_solve(mcr_shifted *of, double r, const double *b, int64_t cols, double *x)
{
    state t;
    mcr_status s = open_state(&t, of, r, b, cols);
    t.x = x;
    if (!s && t.p > 0 && of->system.a) {
        t.w = mcr_alloc(t.ctx, (size_t)t.p, 2 * (size_t)cols * sizeof *t.w);
        t.wide = t.w ? t.w + t.p * cols : NULL;
        s = t.w ? by_features(&t) : MCR_NO_MEMORY;
    } else if (!s && t.p > 0) {
        s = by_products(&t);
    } else if (!s) {
        memcpy(x, b, sizeof *x * (size_t)(t.n * cols));
        s = mcr_system_factor(&of->system, r, NULL, of->phase);
        if (!s)
            s = mcr_system_solve(&of->system, cols, x);
    }
    mcr_free_all(t.ctx, t.w, t.part);
    return s;
}

/* rest = B - (K + r) X with K, which the factorisation leaves above the diagonal. */
static mcr_status rest_of_values(const state *t, const double *x, double *rest)
{
    mcr_system *y = &t->of->system;
    memcpy(rest, t->b, sizeof *rest * (size_t)(t->n * t->k));
    mcr_system_restore(y);
    for (int64_t i = 0; i < t->n; i++)
        y->a[i * y->ld + i] += t->r;
    mcr_status s = mcr_shared_gemm(t->ctx, MCR_AS_IS, MCR_AS_IS, t->n, t->k, t->n, -1, y->a, y->ld,
                                   x, t->k, 1, rest, t->k);
    for (int64_t i = 0; i < t->n; i++)
        y->a[i * y->ld + i] = y->diagonal[i];
    return s;
}

mcr_status mcr_shifted_check(mcr_shifted *of, double r, const double *b, int64_t cols, double size,
                             const double *x, double *w, double *residual)
{
    state t;
    mcr_status s = open_state(&t, of, r, b, cols);
    if (!s && t.p == 0)
        s = rest_of_values(&t, x, t.part);
    if (!s && t.p > 0)
        s = project(&t, x, w);
    if (!s && t.p > 0)
        s = expand(&t, w, t.part);
    for (int64_t i = 0; i < t.n * cols && t.p > 0 && !s; i++)
        t.part[i] = b[i] - t.part[i] - r * x[i];
    if (!s)
        *residual = mcr_largest_of(t.part, t.n * cols) /
                    fmax(mcr_largest_of(x, t.n * cols) * size, DBL_MIN);
    mcr_free(t.ctx, t.part);
    return s;
}
