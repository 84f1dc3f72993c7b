/* ridge_path.c: leave-one-out errors of ridge, of one lambda and of many.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "learn/ridge_impl.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/threads.h"
#include "linalg/shared.h"

double mcr_ridge_left_out(const mcr_goal *g, const double *root, const double *x,
                          const double *inverse)
{
    double sum = 0;
    for (int64_t i = 0; i < g->n; i++) {
        double best = -INFINITY, first = 0;
        int64_t chosen = 0;
        for (int64_t o = 0; o < g->outputs && root[i] > 0; o++) {
            double e = x[i * g->outputs + o] / (root[i] * inverse[i]);
            double f = g->y[i * g->outputs + o] - e;
            if (g->task == MCR_REGRESS)
                sum += g->weight[i] * e * e / (double)g->outputs;
            chosen = f > best ? o : chosen;
            best = fmax(best, f);
            first = o == 0 ? f : first;
        }
        if (g->rule == MCR_RULE_BINARY)
            chosen = first > 0;
        if (g->task == MCR_CLASSIFY && chosen != g->class_of[i])
            sum += g->weight[i];
    }
    return sum / g->total;
}

mcr_status mcr_ridge_keep_left_out(mcr_fitted *f, const mcr_ridge *r)
{
    const mcr_goal *g = &r->goal;
    for (int64_t i = 0; i < g->n; i++)
        if (!(r->root[i] > 0))
            return MCR_OK;
    f->left_out = mcr_alloc(f->ctx, (size_t)(g->n * g->outputs), sizeof *f->left_out);
    for (int64_t e = 0; f->left_out && e < g->n * g->outputs; e++) {
        int64_t i = e / g->outputs;
        f->left_out[e] = g->y[e] - r->x[e] / (r->root[i] * r->inverse[i]);
    }
    return f->left_out ? MCR_OK : MCR_NO_MEMORY;
}

typedef struct path_job {
    const mcr_ridge *r;
    const double *value;      /* eigenvalues; row k of r->m is the eigenvector of value[k] */
    const double *projection; /* n x outputs: eigenvectors times b */
    double lambda;
    double *x, *inverse; /* to fill */
} path_job;

enum { CHUNK = 256 };

static mcr_status path_chunk(void *arg, int64_t item, int worker)
{
    (void)worker;
    const path_job *j = arg;
    const mcr_ridge *r = j->r;
    int64_t n = r->goal.n, k = r->goal.outputs, first = item * CHUNK;
    int64_t end = first + CHUNK < n ? first + CHUNK : n;
    memset(j->inverse + first, 0, sizeof *j->inverse * (size_t)(end - first));
    memset(j->x + first * k, 0, sizeof *j->x * (size_t)((end - first) * k));
    for (int64_t e = 0; e < n; e++) {
        const double *v = r->m.a + e * r->m.ld;
        double d = 1 / (j->value[e] + j->lambda);
        for (int64_t i = first; i < end; i++)
            j->inverse[i] += v[i] * v[i] * d;
        for (int64_t o = 0; o < k; o++) {
            double c = j->projection[e * k + o] * d;
            for (int64_t i = first; i < end; i++)
                j->x[i * k + o] += v[i] * c;
        }
    }
    return MCR_OK;
}

/* The leave-one-out error of each lambda, INFINITY where there is no solution. */
static mcr_status walk_path(mcr_ridge *r, const double *value, const double *projection,
                            const mcr_reals *lambda, double *error)
{
    int64_t n = r->goal.n;
    double least = fmax(fabs(value[0]), fabs(value[n - 1])) * DBL_EPSILON * (double)n;
    path_job j = {
        .r = r, .value = value, .projection = projection, .x = r->x, .inverse = r->inverse};
    mcr_status s = MCR_OK;
    for (int64_t t = 0; t < lambda->count && !s; t++) {
        j.lambda = lambda->values[t];
        error[t] = INFINITY;
        if (!(value[0] + j.lambda > least))
            continue;
        s = mcr_parallel(r->ctx, (n + CHUNK - 1) / CHUNK, path_chunk, &j);
        if (!s)
            error[t] = mcr_ridge_left_out(&r->goal, r->root, r->x, r->inverse);
    }
    return s;
}

mcr_status mcr_ridge_pick_lambda(mcr_ridge *r, const mcr_reals *lambda, double *error)
{
    int64_t n = r->goal.n, k = r->goal.outputs;
    double *value = mcr_alloc(r->ctx, (size_t)n, sizeof *value);
    double *projection = mcr_alloc(r->ctx, (size_t)n, (size_t)k * sizeof *projection);
    mcr_status s = value && projection ? MCR_OK : MCR_NO_MEMORY;
    if (!s)
        s = mcr_system_eigen(&r->m, "ridge: the eigenvectors for a path of lambda", value);
    if (!s)
        s = mcr_shared_gemm(r->ctx, MCR_AS_IS, MCR_AS_IS, n, k, n, 1, r->m.a, r->m.ld, r->b, k, 0,
                            projection, k);
    if (!s)
        s = walk_path(r, value, projection, lambda, error);
    int64_t best = 0;
    for (int64_t t = 1; t < lambda->count && !s; t++)
        best = error[t] <= error[best] ? t : best;
    r->lambda = lambda->values[best];
    if (!s && !isfinite(error[best]))
        s = mcr_fail(
            r->ctx, MCR_NUMERIC,
            "ridge: G + lambda is not positive definite for any lambda of %s (the smallest "
            "eigenvalue is %.1e): take larger ones",
            r->options->lambda, value[0]);
    mcr_free(r->ctx, value);
    mcr_free(r->ctx, projection);
    return s;
}

mcr_status mcr_ridge_keep_path(mcr_fitted *f, const mcr_reals *lambda, const double *error,
                               const mcr_ridge *r)
{
    int64_t tried = 0;
    double *pairs = mcr_alloc(f->ctx, (size_t)lambda->count, 2 * sizeof *pairs);
    if (!pairs)
        return MCR_NO_MEMORY;
    double loo = 0;
    for (int64_t t = 0; t < lambda->count; t++)
        if (isfinite(error[t])) {
            pairs[2 * tried] = lambda->values[t];
            pairs[2 * tried++ + 1] = error[t];
            loo = lambda->values[t] == r->lambda ? error[t] : loo;
        }
    mcr_status s = mcr_fitted_keep(f, "path", pairs, 2 * tried);
    if (!s)
        s = mcr_fitted_keep(f, MCR_EXTRA_LOO, &loo, 1);
    if (!s)
        s = mcr_fitted_remark(f, "lambda = %.6g, of %lld by the leave-one-out error", r->lambda,
                              (long long)lambda->count);
    mcr_free(f->ctx, pairs);
    return s;
}
