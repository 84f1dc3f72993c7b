/* newton_factor.c: Newton's step directly, where G = L L'.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "solve/newton_factor.h"

#include <math.h>
#include <string.h>

#include "gram/factor.h"
#include "linalg/blas.h"

/* A share of the trace that is rounding; what may be left of it, as a share of mu, where steps are
 * near enough to those of G. */
static const double rounding = 1e-12, near = 1e-2;

mcr_status mcr_newton_low_rank(mcr_gram **out, mcr_gram *gram)
{
    enum { PART = 4 }; /* columns are worth it up to such a part of n */
    return mcr_gram_low_rank(out, gram, rounding, mcr_gram_rows(gram) / PART);
}

mcr_status mcr_newton_low_rank_early(mcr_gram **out, mcr_gram *gram, double mu, double *diagonal)
{
    enum { LEAST = 1000, PART = 8, ROOTS = 6 };
    int64_t n = mcr_gram_rows(gram), most = (int64_t)(ROOTS * sqrt((double)n));
    double trace = 0;
    *out = NULL;
    if (n < LEAST || !mcr_gram_is_definite(gram) || mcr_gram_is_slow(gram))
        return MCR_OK;
    mcr_status s = mcr_gram_diagonal(gram, 0, diagonal);
    for (int64_t i = 0; i < n && !s; i++)
        trace += diagonal[i];
    double share = fmax(rounding, near * mu / fmax(trace, mu));
    return s ? s : mcr_gram_low_rank(out, gram, share, most < n / PART ? most : n / PART);
}

mcr_status mcr_newton_factor_use(mcr_newton_factor *t, mcr_gram *l)
{
    mcr *ctx = mcr_gram_context(l);
    int64_t rank = mcr_gram_width(l), columns = t->p->columns;
    t->l = l;
    t->rank = rank;
    t->space = mcr_alloc(ctx, (uint64_t)(rank * columns), sizeof(double));
    if (!t->space)
        return MCR_NO_MEMORY;
    bool fits = rank * columns <= MCR_SMOOTH_DIRECT && rank <= t->n;
    mcr_status s = fits ? mcr_system_open(&t->inner, ctx, rank * columns, t->p->phase) : MCR_OK;
    return s == MCR_OVER_BUDGET ? MCR_OK : s;
}

void mcr_newton_factor_close(mcr_newton_factor *t, mcr *ctx)
{
    mcr_free(ctx, t->space);
    mcr_system_close(&t->inner);
}

mcr_status mcr_newton_factor_multiply(mcr_newton_factor *t, const double *v, double *gv)
{
    mcr_rows all = mcr_gram_all(t->l);
    mcr_status s = mcr_gram_project(t->l, all, v, t->p->columns, t->space);
    return s ? s : mcr_gram_expand(t->l, all, t->space, t->p->columns, gv);
}

/* ---- the system -------------------------------------------------------------------------------*/

/* m = L' diag(h) L, both triangles; h has one sign, and becomes positive. */
static mcr_status weighted(const mcr_newton_factor *t, double *h, double *m, int64_t ld)
{
    bool negative = false;
    for (int64_t i = 0; i < t->n; i++) {
        negative |= h[i] < 0;
        h[i] = fabs(h[i]);
    }
    mcr_status s = mcr_gram_weighted(t->l, mcr_gram_all(t->l), h, m, ld);
    for (int64_t k = 0; k < t->rank && !s; k++)
        for (int64_t l = 0; l <= k; l++)
            m[k * ld + l] = m[l * ld + k] = negative ? -m[k * ld + l] : m[k * ld + l];
    return s;
}

/* A block of inner, and of H: the same pair of columns for all objects. */
static double *inner_block(const mcr_newton_factor *t, int64_t row, int64_t column)
{
    return t->inner.a + row * t->rank * t->inner.ld + column * t->rank;
}

/* The diagonal blocks where every row of H sums to 0: minus those beside them. */
static void sum_blocks(mcr_newton_factor *t)
{
    int64_t k = t->p->columns, ld = t->inner.ld;
    for (int64_t c = 0; c < k; c++) {
        double *to = inner_block(t, c, c);
        for (int64_t i = 0; i < t->rank; i++)
            memset(to + i * ld, 0, sizeof *to * (size_t)t->rank);
        for (int64_t o = 0; o < k; o++) {
            const double *block = inner_block(t, o > c ? o : c, o > c ? c : o);
            for (int64_t i = 0; i < t->rank && o != c; i++)
                for (int64_t j = 0; j < t->rank; j++)
                    to[i * ld + j] -= block[i * ld + j];
        }
    }
}

/* H is a columns x columns matrix for each object, whose columns are found one by one. */
mcr_status mcr_newton_factor_fill(mcr_newton_factor *t, const double *f)
{
    int64_t k = t->p->columns;
    double *unit = t->work[0], *one = t->work[1], *curved = t->work[2];
    mcr_status s = MCR_OK;
    for (int64_t c = 0; c < k && !s; c++) {
        for (int64_t i = 0; i < t->n * k; i++)
            unit[i] = i % k == c;
        t->p->curve(t->p->self, 0, t->n, f, unit, curved);
        for (int64_t o = t->p->balanced ? c + 1 : c; o < k && !s; o++) { /* the lower triangle */
            for (int64_t i = 0; i < t->n; i++)
                one[i] = curved[i * k + o];
            s = weighted(t, one, inner_block(t, o, c), t->inner.ld);
        }
    }
    if (!s && t->p->balanced)
        sum_blocks(t);
    if (!s)
        mcr_system_filled(&t->inner);
    return s ? s : mcr_system_factor(&t->inner, t->p->mu, NULL, NULL);
}

mcr_status mcr_newton_factor_step(mcr_newton_factor *t, const double *f, const double *rest,
                                  double *step)
{
    mcr_rows all = mcr_gram_all(t->l);
    int64_t k = t->p->columns, rank = t->rank;
    double *by_column = t->work[0], *moved = t->work[2]; /* rank is n at most */
    mcr_status s = t->factored ? MCR_OK : mcr_newton_factor_fill(t, f);
    if (!s && !t->factored)
        memcpy(t->at, f, sizeof *f * (size_t)(t->n * k));
    t->factored = !s;
    if (!s)
        s = mcr_gram_project(t->l, all, rest, k, t->space);
    if (!s)
        mcr_transposed(t->space, rank, k, by_column);
    if (!s)
        s = mcr_system_solve(&t->inner, 1, by_column);
    if (!s)
        mcr_transposed(by_column, k, rank, t->space);
    if (!s)
        s = mcr_gram_expand(t->l, all, t->space, k, moved);
    if (s)
        return s;
    t->p->curve(t->p->self, 0, t->n, t->at, moved, step);
    for (int64_t i = 0; i < t->n * k; i++)
        step[i] = (rest[i] - step[i]) / t->p->mu;
    return MCR_OK;
}
