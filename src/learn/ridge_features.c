/* ridge_features.c: ridge regression from features.
 *
 *   (D'WD + lambda) w = D'W y,   a = W (y - D w) / lambda
 *
 * by a Cholesky factor of the p x p matrix, which is summed up over blocks of rows, and corrections
 * of w by its own residual; where there are more features than that is worth, by conjugate
 * gradients (newton.h: the squared loss is one of the smooth ones). The certificate is that of the
 * dual form, from scratch.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <string.h>

#include "learn/ridge_features.h"
#include "linalg/system.h"
#include "solve/newton.h"

typedef struct state {
    const mcr_goal *g;
    mcr_gram *d;
    mcr_rows all;
    int64_t p; /* features */
    double lambda, tol;
    double *a, *f, *rest; /* n x outputs */
    double *w, *u;        /* p x outputs */
    double residual;
    int64_t steps;
} state;

static mcr_status open_state(state *t)
{
    size_t all = (size_t)(t->g->n * t->g->outputs), wide = (size_t)(t->p * t->g->outputs);
    mcr *ctx = t->g->ctx;
    t->rest = mcr_alloc(ctx, all, sizeof *t->rest);
    t->u = mcr_alloc(ctx, wide, sizeof *t->u);
    return t->rest && t->u ? MCR_OK : MCR_NO_MEMORY;
}

/* f = D w; u = D'W (y - f) - lambda w. */
static mcr_status find_rest(state *t, double *norm)
{
    const mcr_goal *g = t->g;
    mcr_status s = mcr_gram_expand(t->d, t->all, t->w, g->outputs, t->f);
    for (int64_t i = 0; i < g->n * g->outputs && !s; i++)
        t->rest[i] = g->weight[i / g->outputs] * (g->y[i] - t->f[i]);
    if (!s)
        s = mcr_gram_project(t->d, t->all, t->rest, g->outputs, t->u);
    *norm = 0;
    for (int64_t k = 0; k < t->p * g->outputs && !s; k++) {
        t->u[k] -= t->lambda * t->w[k];
        *norm += t->u[k] * t->u[k];
    }
    return s;
}

static mcr_status solve_directly(state *t)
{
    enum { MOST = 5 };
    const mcr_goal *g = t->g;
    mcr_system m = {0};
    int64_t p = t->p;
    mcr_status s = mcr_system_open(&m, g->ctx, p, "ridge: the matrix of the features");
    if (!s)
        s = mcr_gram_fill_weighted(t->d, &m, t->all, g->weight);
    if (!s)
        s = mcr_system_factor(&m, t->lambda, NULL, "ridge");
    if (s == MCR_NUMERIC)
        s = mcr_advise(g->ctx,
                       mcr_fail(g->ctx, MCR_NUMERIC,
                                "ridge: the matrix of the features is singular to rounding: take a "
                                "larger lambda than %g, or form=dual",
                                t->lambda),
                       "option form=dual");
    double norm = INFINITY, before;
    memset(t->w, 0, sizeof *t->w * (size_t)(p * g->outputs));
    for (int i = 0; i <= MOST && !s; i++) {
        before = norm;
        s = find_rest(t, &norm);
        if (s || norm == 0 || norm > 0.25 * before) /* no more can be had */
            break;
        s = mcr_system_solve(&m, g->outputs, t->u);
        for (int64_t k = 0; k < p * g->outputs && !s; k++)
            t->w[k] += t->u[k];
        t->steps++;
    }
    for (int64_t i = 0; i < g->n * g->outputs && !s; i++)
        t->a[i] = t->rest[i] / t->lambda;
    mcr_system_close(&m);
    return s;
}

static double squared_loss(const void *self, int64_t first, int64_t count, const double *f,
                           double *gradient)
{
    const mcr_goal *g = self;
    const double *y = g->y + first * g->outputs, *weight = g->weight + first;
    double sum = 0;
    for (int64_t i = 0; i < count * g->outputs; i++) {
        double w = weight[i / g->outputs], e = y[i] - f[i];
        sum += w * e * e;
        gradient[i] = -2 * w * e;
    }
    return sum;
}

static void squared_curve(const void *self, int64_t first, int64_t count, const double *f,
                          const double *v, double *hv)
{
    const mcr_goal *g = self;
    (void)f;
    for (int64_t i = 0; i < count * g->outputs; i++)
        hv[i] = 2 * g->weight[first + i / g->outputs] * v[i];
}

mcr_smooth mcr_ridge_squared(const mcr_goal *goal, double lambda, double tol)
{
    return (mcr_smooth){.columns = goal->outputs,
                        .mu = 2 * lambda,
                        .loss = squared_loss,
                        .curve = squared_curve,
                        .self = goal,
                        .quadratic = true,
                        .identity = INFINITY,
                        .gap = tol,
                        .phase = "ridge"};
}

static mcr_status solve_by_products(state *t)
{
    const mcr_goal *g = t->g;
    double largest = 0;
    for (int64_t i = 0; i < g->n * g->outputs; i++)
        largest = fmax(largest, fabs(g->weight[i / g->outputs] * g->y[i]));
    mcr_smooth problem = mcr_ridge_squared(g, t->lambda, INFINITY);
    problem.identity = 1e-2 * t->tol * largest;
    mcr_smooth_result result;
    memset(t->a, 0, sizeof *t->a * (size_t)(g->n * g->outputs));
    mcr_status s = mcr_smooth_solve(t->d, &problem, t->a, t->f, &result);
    t->steps = s ? 0 : result.products;
    return s;
}

/* From scratch: w = D'a, f = D w, and the residual of (W^1/2 G W^1/2 + lambda) x = W^1/2 y with
 * a = W^1/2 x, relative to the right side. Objects without weight take no part. */
static mcr_status evaluate(state *t)
{
    const mcr_goal *g = t->g;
    double left = 0, all = 0;
    mcr_status s = mcr_gram_project(t->d, t->all, t->a, g->outputs, t->w);
    if (!s)
        s = mcr_gram_expand(t->d, t->all, t->w, g->outputs, t->f);
    for (int64_t i = 0; i < g->n * g->outputs && !s; i++) {
        double root = sqrt(g->weight[i / g->outputs]);
        if (root == 0)
            continue;
        double off = root * (g->y[i] - t->f[i]) - t->lambda * t->a[i] / root;
        left += off * off;
        all += root * g->y[i] * root * g->y[i];
    }
    t->residual = all > 0 ? sqrt(left / all) : sqrt(left);
    return s;
}

mcr_status mcr_ridge_features(const mcr_goal *goal, mcr_gram *gram, double lambda, double tol,
                              mcr_ridge_result *r)
{
    state t = {.g = goal,
               .d = gram,
               .all = mcr_gram_all(gram),
               .p = mcr_gram_width(gram),
               .lambda = lambda,
               .tol = tol,
               .a = r->a,
               .f = r->f,
               .w = r->w};
    mcr_gram_factor_phase(gram, "ridge");
    mcr_status s = open_state(&t);
    if (!s)
        s = t.p <= MCR_RIDGE_DIRECT || !mcr_gram_sparse(gram) ? solve_directly(&t)
                                                              : solve_by_products(&t);
    if (!s)
        s = evaluate(&t);
    r->residual = t.residual;
    r->steps = t.steps;
    mcr_free(goal->ctx, t.rest);
    mcr_free(goal->ctx, t.u);
    return s;
}
