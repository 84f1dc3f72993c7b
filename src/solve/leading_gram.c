/* leading_gram.c: leading eigenpairs of a Gram, by its values or by its factor.
 *
 * A unit vector v with D'D v = s v gives u = D v / sqrt(s) with K u = s u. If there are more
 * features than objects, u comes first, and v = D'u / sqrt(s).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdio.h>

#include "base/team.h"
#include "linalg/blas.h"
#include "solve/leading.h"
#include "solve/shifted.h"

typedef struct matrix {
    mcr_gram *gram;
    bool features; /* D'D, else K */
} matrix;

/* av = v A for rows of v. */
static mcr_status times(void *arg, int64_t rows, const double *v, double *av)
{
    const matrix *of = arg;
    mcr_gram *gram = of->gram;
    bool features = of->features;
    mcr *ctx = mcr_gram_context(gram);
    mcr_rows all = mcr_gram_all(gram);
    int64_t n = mcr_gram_rows(gram), size = features ? mcr_gram_width(gram) : n;
    double *a = mcr_alloc(ctx, (size_t)size, (size_t)rows * sizeof *a);
    double *b = mcr_alloc(ctx, (size_t)n, (size_t)rows * sizeof *b);
    mcr_status s = a && b ? MCR_OK : MCR_NO_MEMORY;
    if (!s) {
        mcr_transposed(v, rows, size, a);
        s = features ? mcr_gram_expand(gram, all, a, rows, b) : mcr_gram_multiply(gram, a, rows, b);
    }
    if (!s && features)
        s = mcr_gram_project(gram, all, b, rows, a);
    if (!s)
        mcr_transposed(features ? a : b, size, rows, av);
    mcr_free_all(ctx, a, b);
    return s;
}

/* w: width x count, of the eigenvectors `own` of D'D (count x width); and u of them. */
static mcr_status find_u(mcr_gram *gram, int64_t count, const double *value, const double *own,
                         double *vector, double *w)
{
    mcr *ctx = mcr_gram_context(gram);
    int64_t n = mcr_gram_rows(gram), wide = mcr_gram_width(gram);
    double *y = mcr_alloc(ctx, (size_t)n, (size_t)count * sizeof *y);
    mcr_transposed(own, count, wide, w);
    mcr_status s = y ? mcr_gram_expand(gram, mcr_gram_all(gram), w, count, y) : MCR_NO_MEMORY;
    for (int64_t c = 0; c < count && !s; c++)
        for (int64_t i = 0; i < n; i++)
            vector[c * n + i] = value[c] > 0 ? y[i * count + c] / sqrt(value[c]) : 0;
    mcr_free(ctx, y);
    return s;
}

static mcr_status find_w(mcr_gram *gram, int64_t count, const double *value, const double *vector,
                         double *w)
{
    mcr *ctx = mcr_gram_context(gram);
    int64_t n = mcr_gram_rows(gram);
    double *y = mcr_alloc(ctx, (size_t)n, (size_t)count * sizeof *y);
    mcr_status s = y ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t c = 0; c < count && !s; c++)
        for (int64_t i = 0; i < n; i++)
            y[i * count + c] = value[c] > 0 ? vector[c * n + i] / sqrt(value[c]) : 0;
    if (!s)
        s = mcr_gram_project(gram, mcr_gram_all(gram), y, count, w);
    mcr_free(ctx, y);
    return s;
}

double mcr_leading_gram_bytes(const mcr_gram *gram, int64_t count)
{
    int64_t n = mcr_gram_rows(gram), p = mcr_gram_width(gram);
    if (p == 0)
        return mcr_leading_bytes(n, count, true);
    return (double)count * (double)(n + p) * sizeof(double) +
           mcr_leading_bytes(p < n ? p : n, count, mcr_shifted_is_direct(gram));
}

/* By eigenvectors of D'D, which has `size` rows. */
static mcr_status by_features(mcr_gram *gram, const mcr_leading *problem, double *value,
                              double *vector, double *w, mcr_leading_result *result)
{
    mcr *ctx = mcr_gram_context(gram);
    int64_t count = problem->count, wide = problem->n;
    double *own = mcr_alloc(ctx, (size_t)count, (size_t)wide * sizeof *own);
    double *made = w ? w : mcr_alloc(ctx, (size_t)wide, (size_t)count * sizeof *made);
    mcr_status s = own && made ? mcr_leading_solve(ctx, problem, value, own, result)
                               : MCR_NO_MEMORY;
    if (!s)
        s = find_u(gram, count, value, own, vector, made);
    mcr_free(ctx, own);
    if (!w)
        mcr_free(ctx, made);
    return s;
}

/* The matrix: K, or both triangles of D'D. */
static mcr_status fill(mcr_gram *gram, mcr_system *y)
{
    if (mcr_gram_width(gram) == 0)
        return mcr_gram_fill_system(gram, y, NULL, true);
    mcr_status s = mcr_gram_fill_weighted(gram, y, mcr_gram_all(gram), NULL);
    if (!s)
        mcr_system_mirror(y);
    return s;
}

mcr_status mcr_leading_gram(mcr_gram *gram, const mcr_leading *how, double *value, double *vector,
                            double *w, mcr_leading_result *result)
{
    mcr *ctx = mcr_gram_context(gram);
    int64_t n = mcr_gram_rows(gram), p = mcr_gram_width(gram);
    const mcr_team *team = mcr_team_of_rows(ctx); /* others have more rows */
    bool features = p > 0 && (p <= n || team);
    bool direct = team && team->leading ? false
                  : p > 0               ? mcr_shifted_is_direct(gram)
                                        : mcr_leading_by_lapack(n, how->count);
    mcr_leading problem = *how;
    mcr_system y = {0};
    char what[64];
    snprintf(what, sizeof what, "%s: the %s", how->phase, p > 0 ? "covariance" : "kernel matrix");
    problem.n = features ? p : n;
    mcr_status s = direct ? mcr_system_open(&y, ctx, problem.n, what) : MCR_OK;
    if (!s && direct)
        s = fill(gram, &y);
    problem.a = y.a;
    problem.lda = y.ld;
    problem.multiply = direct ? NULL : times;
    problem.arg = &(matrix){gram, features};
    if (!s && features)
        s = by_features(gram, &problem, value, vector, w, result);
    else if (!s)
        s = mcr_leading_solve(ctx, &problem, value, vector, result);
    mcr_system_close(&y);
    return s || features || !w ? s : find_w(gram, how->count, value, vector, w);
}
