/* ridge_large.c: ridge regression where the kernel matrix does not fit the memory.
 *
 *   (W^1/2 G W^1/2 + lambda) x = W^1/2 y
 *
 * by conjugate gradients. Products with G compute its values in tiles, half of them, in float
 * as long as that is enough: what floats leave is corrected by residuals in double. The
 * preconditioner is the same system with G restricted to landmarks, G ~ D D', by Woodbury's
 * identity (as in Gardner et al., NeurIPS 2018, with landmarks in place of pivots: products of
 * matrices instead of one column after the other).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <string.h>

#include "gram/factor.h"
#include "gram/map.h"
#include "learn/ridge_impl.h"
#include "solve/conjugate.h"

typedef struct state {
    mcr *ctx;
    mcr_ridge *r;
    int64_t n, width;
    mcr_map *map;
    mcr_gram *d;       /* D, rows kept as floats as far as the memory goes */
    mcr_system inner;  /* lambda + D'WD */
    double *u;         /* width */
    double *part, *kv; /* n */
    double *b, *x;     /* n: of one output */
    bool rough;        /* products take floats */
    int64_t products;
} state;

/* kv = (W^1/2 G W^1/2 + lambda) v */
static mcr_status multiply(state *t, const double *v, double *kv, bool precise)
{
    const double *root = t->r->root;
    for (int64_t i = 0; i < t->n; i++)
        t->part[i] = root[i] * v[i];
    mcr_status s = mcr_gram_sums(t->r->gram, (mcr_rows){NULL, 0, t->n}, precise, t->part, kv);
    for (int64_t i = 0; i < t->n && !s; i++)
        kv[i] = root[i] * kv[i] + t->r->lambda * v[i];
    t->products++;
    return s;
}

static mcr_status apply(void *self, const double *v, double *av)
{
    state *t = self;
    return multiply(t, v, av, !t->rough);
}

/* z = (r - W^1/2 D (lambda + D'WD)^-1 D'W^1/2 r) / lambda */
static mcr_status precondition(void *self, const double *r, double *z)
{
    state *t = self;
    mcr_rows all = mcr_gram_all(t->d);
    const double *root = t->r->root;
    for (int64_t i = 0; i < t->n; i++)
        t->part[i] = root[i] * r[i];
    mcr_status s = mcr_gram_project(t->d, all, t->part, 1, t->u);
    if (!s)
        s = mcr_system_solve(&t->inner, 1, t->u);
    if (!s)
        s = mcr_gram_expand(t->d, all, t->u, 1, t->part);
    for (int64_t i = 0; i < t->n && !s; i++)
        z[i] = (r[i] - root[i] * t->part[i]) / t->r->lambda;
    return s;
}

static bool is_over(void *self, double norm)
{
    const state *t = self;
    mcr_progress now = {.size = sizeof now,
                        .phase = "ridge",
                        .fraction = NAN,
                        .seconds = NAN,
                        .step = t->products,
                        .objective = NAN,
                        .violation = norm};
    return mcr_report(t->ctx, &now);
}

static mcr_status over(void *self, double norm, bool *yes)
{
    *yes = is_over(self, norm);
    return MCR_OK;
}

/* Landmarks whose matrix takes about as long as two products, within a third of the memory. */
static int64_t choose_rank(const state *t)
{
    enum { LEAST = 100, MOST = 5000, VALUE = 16 };
    double n = (double)t->n, work = mcr_gram_work(t->r->gram) + VALUE;
    double memory = (double)mcr_budget_left(t->ctx) / 3;
    double rank = fmin(sqrt(n * work / 3), memory / (n * sizeof(float)));
    rank = fmin(fmin(fmax(rank, LEAST), MOST), n);
    return (int64_t)rank;
}

static mcr_status open_preconditioner(state *t, const mcr_learning *in)
{
    mcr_map_options how = {.size = sizeof how, .approx = MCR_APPROX_FALKON, .rank = choose_rank(t)};
    mcr_status s = mcr_map_open(&t->map, t->ctx, in->kernel, in->data, &how);
    if (!s)
        s = mcr_gram_mapped(&t->d, t->ctx, t->map, in->data);
    if (!s)
        s = mcr_gram_factor_keep(t->d, mcr_budget_left(t->ctx) / 2);
    t->width = s ? 0 : mcr_gram_width(t->d);
    if (!s)
        s = mcr_system_open(&t->inner, t->ctx, t->width, "ridge: the preconditioner");
    if (!s)
        s = mcr_gram_fill_weighted(t->d, &t->inner, mcr_gram_all(t->d), t->r->goal.weight);
    return s ? s : mcr_system_factor(&t->inner, t->r->lambda, NULL, NULL);
}

static double norm_of(const state *t, const double *v)
{
    double sum = 0;
    for (int64_t i = 0; i < t->n; i++)
        sum += v[i] * v[i];
    return sqrt(sum);
}

/* One output: corrections until the residual, in double, is small enough. */
static mcr_status solve_one(state *t, double *step)
{
    enum { MOST = 1000, MOST_ROUGH = 60 };
    double wanted = 0.5 * t->r->options->tol * norm_of(t, t->b), norm = norm_of(t, t->b), left;
    mcr_status s = MCR_OK;
    memset(t->x, 0, sizeof *t->x * (size_t)t->n);
    while (!s && norm > wanted && !is_over(t, norm)) {
        mcr_conjugate c = {.ctx = t->ctx,
                           .size = t->n,
                           .apply = apply,
                           .precondition = precondition,
                           .over = over,
                           .self = t,
                           .enough = fmax(0.5 * wanted, t->rough ? 1e-3 * norm : 0),
                           .most = t->rough ? MOST_ROUGH : MOST};
        int64_t steps = 0;
        bool rough = t->rough;
        s = mcr_conjugate_solve(&c, t->b, step, &left, &steps);
        if (!s)
            s = multiply(t, step, t->kv, true);
        double square = 0;
        for (int64_t i = 0; i < t->n && !s; i++)
            square += (t->b[i] - t->kv[i]) * (t->b[i] - t->kv[i]);
        double now = sqrt(square);
        t->rough = rough && now <= 0.1 * norm;
        if (s || (!rough && now > 0.5 * norm))
            break; /* no more can be had */
        for (int64_t i = 0; i < t->n && now < norm; i++) {
            t->x[i] += step[i];
            t->b[i] -= t->kv[i];
        }
        norm = fmin(now, norm);
    }
    return s;
}

bool mcr_ridge_is_large(const mcr_ridge *r)
{
    double n = (double)r->goal.n;
    return n * (n + 16) * sizeof(float) > (double)mcr_budget_left(r->ctx) && r->lambda > 0 &&
           mcr_gram_is_definite(r->gram);
}

mcr_status mcr_ridge_conjugate(mcr_ridge *r, const mcr_learning *in)
{
    int64_t k = r->goal.outputs;
    state t = {.ctx = r->ctx, .r = r, .n = r->goal.n, .rough = true};
    double *buffer = mcr_alloc(r->ctx, (size_t)t.n, 5 * sizeof *buffer), *step = buffer;
    mcr_status s = buffer ? open_preconditioner(&t, in) : MCR_NO_MEMORY;
    t.part = step + t.n;
    t.kv = t.part + t.n;
    t.b = t.kv + t.n;
    t.x = t.b + t.n;
    if (!s && !(t.u = mcr_alloc(r->ctx, (size_t)t.width, sizeof *t.u)))
        s = MCR_NO_MEMORY;
    for (int64_t o = 0; o < k && !s; o++) {
        for (int64_t i = 0; i < t.n; i++)
            t.b[i] = r->b[i * k + o];
        t.rough = true;
        s = solve_one(&t, step);
        for (int64_t i = 0; i < t.n && !s; i++)
            r->x[i * k + o] = t.x[i];
    }
    r->products = t.products;
    r->landmarks = t.width;
    mcr_free(r->ctx, t.u);
    mcr_free(r->ctx, buffer);
    mcr_system_close(&t.inner);
    mcr_gram_close(t.d);
    mcr_map_close(t.map);
    return s;
}
