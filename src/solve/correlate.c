/* correlate.c: regularised canonical correlations; R and Q are made in the place of A and B.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "solve/correlate.h"

#include <math.h>

#include "linalg/shared.h"
#include "solve/shifted.h"

enum { VIEWS = 2, ROWS = 64 };

/* A squared singular value that is rounding. */
static const double least = 1e-13;

typedef struct state {
    mcr *ctx;
    mcr_correlate *p;
    int64_t n;
    mcr_system view[VIEWS]; /* R, Q: both triangles; or the factor of X'X + r */
    int64_t width[VIEWS];   /* of a view that is known by its features X, A = X X'; else 0 */
    double ridge[VIEWS];
    double *u;      /* count x n */
    double *buffer; /* 2 x ROWS x n */
    double *turned; /* 2 x n x ROWS: columns in place of rows, and their features */
} state;

/* The factor of X'X + r. */
static mcr_status factor_features(state *t, int view)
{
    mcr_system *y = &t->view[view];
    mcr_gram *gram = t->p->gram[view];
    mcr_status s = mcr_system_open(y, t->ctx, t->width[view], t->p->what);
    if (!s)
        s = mcr_gram_fill_weighted(gram, y, mcr_gram_all(gram), NULL);
    for (int64_t j = 0; j < y->n && !s; j++)
        t->ridge[view] += t->p->lambda * y->diagonal[j];
    return s ? s : mcr_system_factor(y, t->ridge[view], NULL, t->p->how.phase);
}

/* R = I - r (A + r)^-1. */
static mcr_status smooth(state *t, int view)
{
    mcr_system *y = &t->view[view];
    if (t->width[view] > 0)
        return factor_features(t, view);
    double r = 0, *diagonal = mcr_alloc(t->ctx, (size_t)t->n, sizeof *diagonal);
    mcr_status s = diagonal ? mcr_system_open(y, t->ctx, t->n, t->p->what) : MCR_NO_MEMORY;
    if (!s)
        s = mcr_gram_fill_system(t->p->gram[view], y, NULL, true);
    for (int64_t i = 0; i < t->n && !s; i++)
        r += y->diagonal[i];
    t->ridge[view] = r *= t->p->lambda;
    if (!s)
        s = mcr_system_factor(y, r, NULL, t->p->how.phase);
    if (!s)
        s = mcr_system_inverse(y, true, diagonal, t->p->how.phase);
    for (int64_t i = 0; i < t->n && !s; i++) {
        y->diagonal[i] = 1 - r * diagonal[i];
        for (int64_t j = i + 1; j < t->n; j++)
            y->a[i * y->ld + j] *= -r;
    }
    if (!s)
        mcr_system_restore(y);
    mcr_free(t->ctx, diagonal);
    return s;
}

/* The same by features: R = X (X'X + r)^-1 X'. */
static mcr_status apply_features(const state *t, int view, int64_t rows, const double *v,
                                 double *out)
{
    mcr_gram *gram = t->p->gram[view];
    mcr_rows all = mcr_gram_all(gram);
    double *column = t->turned, *feature = column + ROWS * t->n;
    mcr_transposed(v, rows, t->n, column);
    mcr_status s = mcr_gram_project(gram, all, column, rows, feature);
    if (!s)
        s = mcr_system_solve(&t->view[view], rows, feature);
    if (!s)
        s = mcr_gram_expand(gram, all, feature, rows, column);
    if (!s)
        mcr_transposed(column, t->n, rows, out);
    return s;
}

/* out = v R (or v Q), rows x n. */
static mcr_status apply(const state *t, int view, int64_t rows, const double *v, double *out)
{
    const mcr_system *y = &t->view[view];
    if (t->width[view] > 0)
        return apply_features(t, view, rows, v, out);
    return mcr_shared_gemm(t->ctx, MCR_AS_IS, MCR_AS_IS, rows, t->n, t->n, 1, v, t->n, y->a, y->ld,
                           0, out, t->n);
}

static mcr_status multiply(void *arg, int64_t rows, const double *v, double *av)
{
    const state *t = arg;
    double *one = t->buffer, *other = t->buffer + ROWS * t->n;
    mcr_status s = MCR_OK;
    for (int64_t first = 0; first < rows && !s; first += ROWS) {
        int64_t some = rows - first < ROWS ? rows - first : ROWS;
        s = apply(t, 0, some, v + first * t->n, one);
        if (!s)
            s = apply(t, 1, some, one, other);
        if (!s)
            s = apply(t, 1, some, other, one);
        if (!s)
            s = apply(t, 0, some, one, av + first * t->n);
    }
    return s;
}

/* One side of a pair, from its vector and R times it. */
static void set_direction(const state *t, int view, int64_t c, const double *vector,
                          const double *values)
{
    double *to = t->p->direction[view] + c * t->n, size = sqrt(mcr_dot(values, values, t->n));
    for (int64_t i = 0; i < t->n; i++)
        to[i] = (vector[i] - values[i]) / (t->ridge[view] * size);
}

static mcr_status make_pair(const state *t, int64_t c)
{
    int64_t n = t->n;
    double *u = t->u + c * n, *ru = t->buffer, *w = ru + n, *qw = w + n;
    mcr_leading_choose_sign(u, n);
    mcr_status s = apply(t, 0, 1, u, ru);
    if (!s)
        s = apply(t, 1, 1, ru, w);
    for (int64_t i = 0; i < n && !s; i++)
        w[i] /= sqrt(t->p->value[c]);
    if (!s)
        s = apply(t, 1, 1, w, qw);
    if (s)
        return s;
    t->p->correlation[c] = mcr_dot(ru, qw, n) / sqrt(mcr_dot(ru, ru, n) * mcr_dot(qw, qw, n));
    set_direction(t, 0, c, u, ru);
    set_direction(t, 1, c, w, qw);
    return MCR_OK;
}

double mcr_correlate_bytes(int64_t n, int64_t count)
{
    return sizeof(double) * (double)n * (double)(4 * ROWS + count) +
           mcr_leading_bytes(n, count, false);
}

mcr_status mcr_correlate_solve(mcr_correlate *p)
{
    mcr *ctx = mcr_gram_context(p->gram[0]);
    state t = {.ctx = ctx, .p = p, .n = mcr_gram_rows(p->gram[0])};
    mcr_leading problem = p->how;
    problem.n = t.n;
    problem.multiply = multiply;
    problem.arg = &t;
    mcr_status s = MCR_OK;
    for (int view = 0; view < VIEWS && !s; view++) {
        mcr_gram *gram = p->gram[view];
        bool features = mcr_gram_width(gram) > 0 && mcr_shifted_is_direct(gram);
        t.width[view] = features ? mcr_gram_width(gram) : 0;
        s = smooth(&t, view);
    }
    t.buffer = s ? NULL : mcr_alloc(ctx, 2 * ROWS, (size_t)t.n * sizeof *t.buffer);
    t.u = s ? NULL : mcr_alloc(ctx, (size_t)problem.count, (size_t)t.n * sizeof *t.u);
    t.turned = s ? NULL : mcr_alloc(ctx, 2 * ROWS, (size_t)t.n * sizeof *t.turned);
    if (!s)
        s = t.buffer && t.u && t.turned
                ? mcr_leading_solve(ctx, &problem, p->value, t.u, &p->result)
                : MCR_NO_MEMORY;
    /* What is left of the variance when all directions that have some are taken. */
    p->found = 0;
    while (!s && p->found < problem.count && p->value[p->found] > least)
        p->found++;
    for (int64_t c = 0; c < p->found && !s; c++)
        s = make_pair(&t, c);
    for (int view = 0; view < VIEWS; view++)
        mcr_system_close(&t.view[view]);
    mcr_free_all(ctx, t.buffer, t.turned, t.u);
    return s;
}
