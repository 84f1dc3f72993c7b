/* squares_folds.c: least squares with a penalty for held-out objects.
 *
 * Three ways give the held-out values of all folds for some lambdas; the cheapest is taken:
 *   an inverse of K + lambda for each lambda;
 *   one eigendecomposition for all of them;
 *   an inverse for each group of lambdas, and a Krylov space of it (squares_shifts.c).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "solve/squares.h"

#include <math.h>
#include <string.h>

#include "linalg/lapack.h"
#include "linalg/shared.h"

/* Returns the size of the largest fold. */
static size_t sort_by_fold(mcr_squares_folds *h, const int32_t *fold)
{
    int64_t at = 0, largest = 0;
    for (int64_t f = 0; f < h->folds; f++) {
        h->first[f] = at;
        for (int64_t i = 0; i < h->q->n; i++)
            if (fold[i] == f)
                h->order[at++] = i;
        largest = at - h->first[f] > largest ? at - h->first[f] : largest;
    }
    h->first[h->folds] = at;
    return (size_t)largest;
}

mcr_status mcr_squares_folds_open(mcr_squares_folds *h, mcr_squares *q, const int32_t *fold,
                                  int64_t folds)
{
    mcr *ctx = q->ctx;
    size_t n = (size_t)q->n, all = n * (size_t)q->outputs;
    *h = (mcr_squares_folds){.q = q, .folds = folds};
    h->order = mcr_alloc(ctx, n, sizeof *h->order);
    h->first = mcr_alloc(ctx, (size_t)folds + 1, sizeof *h->first);
    if (!h->order || !h->first)
        return MCR_NO_MEMORY;
    size_t largest = sort_by_fold(h, fold);
    h->block = mcr_alloc(ctx, (uint64_t)largest * largest, sizeof *h->block);
    h->e = mcr_alloc(ctx, all, sizeof *h->e);
    mcr_status s = h->block && h->e ? MCR_OK : MCR_NO_MEMORY;
    if (!s)
        s = mcr_squares_fill(q, false);
    if (!s)
        s = mcr_system_open(&h->t, ctx, q->n, "ridge: the kernel matrix");
    for (int64_t i = 0; i < q->n && !s; i++)
        h->trace += fabs(q->diagonal[i]);
    return s;
}

void mcr_squares_folds_close(mcr_squares_folds *h)
{
    if (!h->q)
        return;
    mcr *ctx = h->q->ctx;
    mcr_system_close(&h->t);
    mcr_free_all(ctx, h->order, h->first, h->block, h->e);
}

/* V with its columns by fold. */
static mcr_status decompose(mcr_squares_folds *h)
{
    mcr_squares *q = h->q;
    h->eigen = true;
    mcr_status s = mcr_squares_decompose(q);
    for (int64_t e = 0; e < q->n && !s; e++) {
        double *row = q->m.a + e * q->m.ld;
        memcpy(q->diagonal, row, sizeof *row * (size_t)q->n);
        for (int64_t i = 0; i < q->n; i++)
            row[i] = q->diagonal[h->order[i]];
    }
    return s;
}

/* x = B b, and B: its diagonal, and above the diagonal of t. */
static mcr_status invert(mcr_squares_folds *h, double lambda)
{
    mcr_squares *q = h->q;
    for (int64_t i = 0; i < q->n; i++)
        memcpy(h->t.a + i * h->t.ld, q->m.a + i * q->m.ld, sizeof *h->t.a * (size_t)(i + 1));
    mcr_system_filled(&h->t);
    mcr_status s = mcr_system_factor(&h->t, lambda, NULL, "ridge");
    memcpy(q->x, q->b, sizeof *q->x * (size_t)(q->n * q->outputs));
    if (!s)
        s = mcr_system_solve(&h->t, q->outputs, q->x);
    return s ? s : mcr_system_inverse(&h->t, true, q->diagonal, "ridge");
}

/* B_SS and x_S of a fold from the inverse. */
static void read_block(const mcr_squares_folds *h, const int64_t *member, int64_t count)
{
    const mcr_squares *q = h->q;
    int64_t k = q->outputs;
    for (int64_t r = 0; r < count; r++) {
        for (int64_t c = 0; c < r; c++) /* members rise: above the diagonal */
            h->block[r * count + c] = h->t.a[member[c] * h->t.ld + member[r]];
        h->block[r * count + r] = q->diagonal[member[r]];
        memcpy(h->e + r * k, q->x + member[r] * k, sizeof *h->e * (size_t)k);
    }
}

/* T = (value + lambda)^-1/2 V, and (value + lambda)^-1/2 V b in x. */
static mcr_status scale_vectors(mcr_squares_folds *h, double lambda)
{
    mcr_squares *q = h->q;
    int64_t n = q->n, k = q->outputs;
    for (int64_t e = 0; e < n; e++) {
        const double *from = q->m.a + e * q->m.ld;
        double *to = h->t.a + e * h->t.ld, shifted = q->value[e] + lambda;
        if (!(shifted > 0))
            return MCR_NUMERIC;
        double scale = 1 / sqrt(shifted);
        for (int64_t i = 0; i < n; i++)
            to[i] = scale * from[i];
        for (int64_t o = 0; o < k; o++)
            q->x[e * k + o] = scale * q->turn[e * k + o];
    }
    return MCR_OK;
}

/* B_SS = T'T, as far as it is on or below the diagonal, and x_S of a fold. */
static mcr_status make_block(const mcr_squares_folds *h, int64_t first, int64_t count)
{
    enum { STRIP = 64 };
    const mcr_squares *q = h->q;
    int64_t n = q->n, k = q->outputs, ld = h->t.ld;
    const double *t = h->t.a + first;
    mcr_status s = MCR_OK;
    for (int64_t row = 0; row < count && !s; row += STRIP) {
        int64_t rows = count - row < STRIP ? count - row : STRIP;
        s = mcr_shared_gemm(q->ctx, MCR_TRANSPOSED, MCR_AS_IS, rows, row + rows, n, 1, t + row, ld,
                            t, ld, 0, h->block + row * count, count);
    }
    return s ? s
             : mcr_shared_gemm(q->ctx, MCR_TRANSPOSED, MCR_AS_IS, count, k, n, 1, t, ld, q->x, k, 0,
                               h->e, k);
}

/* f of the fold's objects: y - e. */
static mcr_status leave_out(const mcr_squares_folds *h, int64_t fold, double *f)
{
    const mcr_squares *q = h->q;
    int64_t k = q->outputs, count = h->first[fold + 1] - h->first[fold];
    const int64_t *member = h->order + h->first[fold];
    mcr_status s = MCR_OK;
    if (h->eigen)
        s = make_block(h, h->first[fold], count);
    else
        read_block(h, member, count);
    if (!s)
        s = mcr_lapack_cholesky(q->ctx, count, h->block, count, NULL, NULL);
    if (!s)
        s = mcr_lapack_solve(q->ctx, count, k, h->block, count, h->e, k);
    for (int64_t r = 0; r < count && !s; r++)
        for (int64_t o = 0; o < k; o++) {
            int64_t at = member[r] * k + o;
            f[at] = q->y[at] - h->e[r * k + o] / q->root[member[r]];
        }
    return s;
}

static mcr_status solve_one(mcr_squares_folds *h, double lambda, double *f)
{
    mcr_status s = h->eigen ? scale_vectors(h, lambda) : invert(h, lambda);
    for (int64_t fold = 0; fold < h->folds && !s; fold++)
        s = leave_out(h, fold, f);
    return s;
}

/* ---- the choice -------------------------------------------------------------------------------*/

/* What the ways cost, in units of an inverse by sweeps (linalg/sweep.h): a factor with its inverse;
 * an eigendecomposition, and for each lambda the blocks of a single fold from it; a step by
 * products with n = 1, and the part of it for each column. Measured with n = 1,000 to 2,000. */
#define INVERSE_WORK 1.35
#define EIGEN_WORK   5.3
#define BLOCK_WORK   0.95
#define STEP_WORK    10.0
#define COLUMN_WORK  1.0

typedef enum way { INVERSES, EIGENVECTORS, SHIFTS } way;

/* trace^2 / (lambda c), at most, for SHIFTS, with the smallest lambda and its shift c: rounding of
 * the inverse changes held-out values by a share that grows like the condition of K + c times that
 * of K + lambda. No constant is proven. Measured against extended precision
 * (tests/oracle/ridge_folds.py), mean squared errors are off by a share of 7e-20 times it at most
 * on the eight sets that it was found on, and by 1.3e-19 on one of four others: 4e-8 at this
 * limit. */
#define SHIFTS_CONDITION 3e11

static bool is_well_conditioned(const mcr_squares_folds *h, double least, double shift)
{
    return h->trace * h->trace <= SHIFTS_CONDITION * least * shift;
}

/* With SHIFTS, *groups: equal parts of the range of log lambda. */
static way choose(const mcr_squares_folds *h, double least, double range, int64_t count,
                  int64_t *groups)
{
    const mcr_squares *q = h->q;
    double columns = (double)(h->folds * q->outputs), lambdas = (double)count;
    double step = (STEP_WORK + COLUMN_WORK * columns) / (double)q->n;
    double eigen = EIGEN_WORK + lambdas * BLOCK_WORK / (double)h->folds;
    double best = fmin(eigen, INVERSE_WORK * lambdas);
    way chosen = best < eigen ? INVERSES : EIGENVECTORS;
    bool definite = mcr_gram_is_definite(q->gram);
    for (int64_t g = 1; g <= count && definite; g++) {
        double part = pow(range, 1 / (double)g);
        double work = (double)g * (1 + step * mcr_squares_shift_steps(part));
        if (work < best && is_well_conditioned(h, least, least * sqrt(part))) {
            best = work;
            chosen = SHIFTS;
            *groups = g;
        }
    }
    return chosen;
}

/* The lambdas from `least` to below `end`. */
static mcr_status solve_group(mcr_squares_folds *h, const double *lambda, int64_t count,
                              double least, double end, double *const *f, bool *exists)
{
    mcr *ctx = h->q->ctx;
    double *some = mcr_alloc(ctx, (size_t)count, sizeof *some);
    double **to = mcr_alloc(ctx, (size_t)count, sizeof *to);
    bool *found = mcr_alloc(ctx, (size_t)count, sizeof *found);
    int64_t members = 0;
    mcr_status s = some && to && found ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t t = 0; t < count && !s; t++)
        if (lambda[t] >= least && lambda[t] < end) {
            some[members] = lambda[t];
            to[members++] = f[t];
        }
    if (members)
        s = mcr_squares_shifts(h, some, members, to, found);
    for (int64_t t = 0, m = 0; t < count && members; t++)
        if (lambda[t] >= least && lambda[t] < end)
            exists[t] = !s && found[m++];
    mcr_free_all(ctx, some, to, found);
    return s == MCR_NUMERIC ? MCR_OK : s;
}

mcr_status mcr_squares_folds_path(mcr_squares_folds *h, const double *lambda, int64_t count,
                                  double *const *f, bool *exists)
{
    double least = INFINITY, most = 0;
    for (int64_t t = 0; t < count; t++) {
        least = fmin(least, lambda[t]);
        most = fmax(most, lambda[t]);
    }
    int64_t groups = 0;
    way by = choose(h, least, most / least, count, &groups);
    mcr_status s = by == EIGENVECTORS && count ? decompose(h) : MCR_OK;
    for (int64_t t = 0; t < count && by != SHIFTS && !s; t++) {
        s = solve_one(h, lambda[t], f[t]);
        exists[t] = !s;
        s = s == MCR_NUMERIC ? MCR_OK : s;
    }
    for (int64_t g = 0; g < groups && !s; g++) {
        double low = least * pow(most / least, (double)g / (double)groups);
        double high = least * pow(most / least, (double)(g + 1) / (double)groups);
        s = solve_group(h, lambda, count, g ? low : 0, g + 1 < groups ? high : INFINITY, f, exists);
    }
    return s;
}
