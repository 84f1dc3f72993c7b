/* greedy.c: landmarks that approximate the other objects, one after the other: pivoted Cholesky
 * takes the object with the largest remaining diagonal. For inducing points of Gaussian processes
 * this bounds the distance of the approximate posterior (Burt, Rasmussen and van der Wilk, JMLR
 * 2020).
 *
 * Columns of the factor are stored one after the other, so that the loop over objects is the inner
 * one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <string.h>

#include "base/threads.h"
#include "gram/map.h"

enum { BAND = 1024 };            /* objects of a worker's item */
static const double end = 1e-12; /* of the trace: what is left then is rounding */

typedef struct greedy {
    mcr *ctx;
    mcr_gram *gram;
    int64_t n, column, pivot;
    double root;
    double *l;          /* columns x n */
    double *row, *left; /* n: K of the pivot; the diagonal of what is left */
} greedy;

static mcr_status reduce_band(void *arg, int64_t first, int64_t limit)
{
    const greedy *g = arg;
    int64_t n = g->n, count = limit - first;
    double *to = g->l + g->column * n + first, *left = g->left + first;
    memcpy(to, g->row + first, sizeof *to * (size_t)count);
    for (int64_t c = 0; c < g->column; c++) {
        const double *l = g->l + c * n + first;
        double p = g->l[c * n + g->pivot];
        for (int64_t i = 0; i < count; i++)
            to[i] -= p * l[i];
    }
    for (int64_t i = 0; i < count; i++) {
        to[i] /= g->root;
        left[i] = fmax(left[i] - to[i] * to[i], 0);
    }
    return MCR_OK;
}

/* The next pivot; false: the remainder is 0. */
static bool find_pivot(greedy *g, double whole)
{
    double trace = 0;
    g->pivot = 0;
    for (int64_t i = 0; i < g->n; i++) {
        trace += g->left[i];
        g->pivot = g->left[i] > g->left[g->pivot] ? i : g->pivot;
    }
    g->root = sqrt(g->left[g->pivot]);
    return trace > end * whole;
}

static mcr_status choose(greedy *g, int64_t *count, int64_t *object)
{
    int64_t most = *count < g->n ? *count : g->n;
    double whole = 0;
    mcr_status s = mcr_gram_diagonal(g->gram, 0, g->left);
    for (int64_t i = 0; i < g->n && !s; i++)
        whole += g->left[i] = fmax(g->left[i], 0);
    for (; g->column < most && !s && find_pivot(g, whole); g->column++) {
        s = mcr_gram_block(g->gram, (mcr_rows){NULL, g->pivot, 1}, (mcr_rows){NULL, 0, g->n},
                           g->row, g->n);
        if (!s)
            s = mcr_parallel_chunks(g->ctx, g->n, BAND, reduce_band, g);
        g->left[g->pivot] = 0; /* and not what rounding leaves of it */
        object[g->column] = g->pivot;
    }
    *count = g->column;
    return s;
}

mcr_status mcr_landmarks_greedy(mcr_gram *gram, int64_t *count, int64_t *object)
{
    greedy g = {.ctx = mcr_gram_context(gram), .gram = gram, .n = mcr_gram_rows(gram)};
    size_t bytes = (size_t)g.n * (size_t)*count * sizeof *g.l;
    mcr_status s = mcr_budget_take(g.ctx, bytes, "a factor of kernel values, for landmarks");
    if (s)
        return s;
    g.l = mcr_alloc(g.ctx, (size_t)g.n, (size_t)*count * sizeof *g.l);
    g.row = mcr_alloc(g.ctx, (size_t)g.n, sizeof *g.row);
    g.left = mcr_alloc(g.ctx, (size_t)g.n, sizeof *g.left);
    s = g.l && g.row && g.left ? choose(&g, count, object) : MCR_NO_MEMORY;
    mcr_free_all(g.ctx, g.l, g.row, g.left);
    mcr_budget_give(g.ctx, bytes);
    return s;
}
