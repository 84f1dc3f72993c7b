/* squares_shifts.c: held-out values for several lambdas from one inverse.
 *
 * T are the objects outside a fold S, both of M = W^1/2 K W^1/2. With one shift c and
 * A = (M_TT + c)^-1, the solution for lambda is
 *
 *   x = (M_TT + lambda)^-1 b = A z,   (1 + (lambda - c) A) z = b,
 *
 * and the Krylov space of A and b serves all lambdas: Lanczos' method makes orthogonal Q with
 * A Q = Q H + beta q e', H tridiagonal; z = Q y with (1 + (lambda - c) H) y = |b| e_1 leaves the
 * residual |lambda - c| beta |y_last| of both systems. The eigenvalues of 1 + (lambda - c) A lie
 * between 1 and lambda / c, whatever K is: the steps grow with the fourth root of the largest
 * lambda over the smallest (c is their geometric mean), and a range of 1 to 500 needs some 60.
 * Where orthogonality is lost to rounding steps are repeated; the residual stays what it is.
 *
 * A is applied by B = (M + c)^-1 of all objects: for v on T, B (v, s) = (A v, 0) if
 * B_SS s = -(B v)_S, and then s = M_ST A v: the held-out values of A v. So those of x are sums
 * of s.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <string.h>

#include "base/rows.h"
#include "base/threads.h"
#include "linalg/lapack.h"
#include "linalg/sweep.h"
#include "linalg/tiles.h"
#include "solve/squares.h"

#define RESIDUAL 1e-10            /* of a solution, relative to b */
#define PHASE    "ridge"          /* under which progress is reported */
enum { BAND = 64, COLUMNS = 32 }; /* rows of a product for one worker; columns at a time */

typedef struct lanczos {
    mcr_squares_folds *h;
    const mcr_vmath *math;
    double shift; /* c */
    const double *lambda;
    int64_t lambdas;
    double *block; /* the Cholesky factors of all B_SS, one after the other */
    int64_t *at;   /* where that of a fold begins */
    size_t taken;  /* of the memory budget */

    /* Columns of folds first .. end - 1, each with its outputs, `ld` apart, in the order of
     * folds. */
    int64_t group, first, end, cols, ld; /* group: folds at a time */
    double *v, *before, *u;
    double *size;   /* |b| of each column */
    int64_t *place; /* of a column's values in a line of `held`; at `cols`: their number */

    /* Of each step: alpha and beta of H, and s. */
    int64_t steps, most;
    double *alpha, *beta, *held;
    double *pivot, *last; /* lambdas x cols: of 1 + (lambda - c) H = L D L', and of L^-1 |b| e_1 */
} lanczos;

static int64_t fold_of(const lanczos *l, int64_t column)
{
    return l->first + column / l->h->q->outputs;
}

static int64_t size_of(const mcr_squares_folds *h, int64_t fold)
{
    return h->first[fold + 1] - h->first[fold];
}

static int64_t bands(const lanczos *l)
{
    return mcr_parts(l->h->q->n, BAND);
}

/* ---- B ----------------------------------------------------------------------------------------*/

static mcr_status sort_band(void *arg, int64_t item, int worker)
{
    (void)worker;
    const lanczos *l = arg;
    const mcr_squares_folds *h = l->h;
    const mcr_squares *q = h->q;
    int64_t end = (item + 1) * BAND < q->n ? (item + 1) * BAND : q->n;
    for (int64_t i = item * BAND; i < end; i++) {
        const double *from = q->m.a + h->order[i] * q->m.ld;
        double *to = h->t.a + i * h->t.ld;
        for (int64_t j = 0; j <= i; j++)
            to[j] = from[h->order[j]];
        to[i] += l->shift;
    }
    return MCR_OK;
}

/* B of all objects in the order of folds into h->t. */
static mcr_status invert(lanczos *l)
{
    const mcr_squares *q = l->h->q;
    mcr_status s = mcr_parallel_reported(q->ctx, PHASE, 0, 0, bands(l), sort_band, l);
    return s ? s : mcr_sweep_inverse(q->ctx, q->n, l->h->t.a, l->h->t.ld, PHASE);
}

static mcr_status factor_block(void *arg, int64_t fold, int worker)
{
    (void)worker;
    const lanczos *l = arg;
    const mcr_squares_folds *h = l->h;
    int64_t first = h->first[fold], count = size_of(h, fold);
    double *block = l->block + l->at[fold];
    for (int64_t r = 0; r < count; r++)
        memcpy(block + r * count, h->t.a + (first + r) * h->t.ld + first,
               sizeof *block * (size_t)(r + 1));
    return count ? mcr_lapack_cholesky(h->q->ctx, count, block, count, PHASE, NULL) : MCR_OK;
}

/* ---- a step -----------------------------------------------------------------------------------*/

/* s of a column, also into v. */
static mcr_status complete(void *arg, int64_t column, int worker)
{
    (void)worker;
    const lanczos *l = arg;
    const mcr_squares_folds *h = l->h;
    int64_t fold = fold_of(l, column), first = h->first[fold], count = size_of(h, fold);
    double *s = l->held + l->steps * l->place[l->cols] + l->place[column];
    double *v = l->v + column * l->ld;
    if (!count)
        return MCR_OK;
    l->math->dots(s, 0, h->t.a + first * h->t.ld, h->t.ld, count, h->q->n, v, 0, 1);
    mcr_status status = mcr_lapack_solve(h->q->ctx, count, 1, l->block + l->at[fold], count, s, 1);
    for (int64_t r = 0; r < count; r++)
        v[first + r] = s[r] = -s[r];
    return status;
}

static mcr_status multiply(void *arg, int64_t item, int worker)
{
    (void)worker;
    const lanczos *l = arg;
    const mcr_system *b = &l->h->t;
    int64_t first = item * BAND, rows = b->n - first < BAND ? b->n - first : BAND;
    l->math->dots(l->u + first, l->ld, b->a + first * b->ld, b->ld, rows, b->n, l->v, l->ld,
                  l->cols);
    return MCR_OK;
}

/* The next column of Q, from u = A v and the last ones. */
static mcr_status orthogonalise(void *arg, int64_t column, int worker)
{
    (void)worker;
    const lanczos *l = arg;
    const mcr_squares_folds *h = l->h;
    int64_t fold = fold_of(l, column), n = h->q->n, at = l->steps * l->cols + column;
    double *v = l->v + column * l->ld, *u = l->u + column * l->ld;
    const double *before = l->before + column * l->ld;
    size_t held = sizeof *v * (size_t)size_of(h, fold);
    memset(v + h->first[fold], 0, held);
    memset(u + h->first[fold], 0, held);
    double alpha = l->math->dot(u, v, n);
    l->math->add_scaled(u, -alpha, v, n);
    if (l->steps)
        l->math->add_scaled(u, -l->beta[at - l->cols], before, n);
    l->alpha[at] = alpha;
    l->beta[at] = sqrt(l->math->dot(u, u, n));
    l->math->affine(u, l->beta[at] > 0 ? 1 / l->beta[at] : 0, 0, n);
    return MCR_OK;
}

static mcr_status step(lanczos *l)
{
    mcr *ctx = l->h->q->ctx;
    /* Short loops do not report of themselves. */
    mcr_status s = mcr_report_step(ctx, PHASE, 0, l->steps, NAN, NAN)
                       ? mcr_fail(ctx, MCR_STOPPED, "interrupted")
                       : MCR_OK;
    if (!s)
        s = mcr_parallel_reported(ctx, PHASE, 0, 0, l->cols, complete, l);
    if (!s)
        s = mcr_parallel_reported(ctx, PHASE, 0, 0, bands(l), multiply, l);
    if (!s)
        s = mcr_parallel(ctx, l->cols, orthogonalise, l);
    double *v = l->v;
    l->v = l->u;
    l->u = l->before;
    l->before = v;
    l->steps++;
    return s;
}

/* ---- lambdas ----------------------------------------------------------------------------------*/

/* The next pivot of each lambda; whether all residuals are small. */
static bool look(lanczos *l, bool *exists)
{
    bool small = true;
    const double *alpha = l->alpha + (l->steps - 1) * l->cols;
    const double *beta = l->beta + (l->steps - 1) * l->cols;
    for (int64_t t = 0; t < l->lambdas; t++)
        for (int64_t c = 0; c < l->cols && exists[t]; c++) {
            double d = l->lambda[t] - l->shift, *pivot = l->pivot + t * l->cols + c;
            double *last = l->last + t * l->cols + c, next = 1 + d * alpha[c];
            if (l->steps > 1) {
                double off = d * beta[c - l->cols];
                next -= off * off / *pivot;
                *last *= -off / *pivot;
            } else {
                *last = l->size[c];
            }
            *pivot = next;
            exists[t] = next > 0;
            small &= fabs(d * beta[c] * *last) <= RESIDUAL * l->size[c] * next;
        }
    return small;
}

typedef struct write_job {
    const lanczos *l;
    const bool *exists;
    double *const *f;
    double *work; /* most x 3 for each worker */
} write_job;

/* (1 + (lambda - c) H) y = |b| e_1 of a column by L D L'; work: pivots and ratios before y. */
static const double *solve_small(const lanczos *l, double lambda, int64_t c, double *work)
{
    int64_t m = l->steps;
    double d = lambda - l->shift, *pivot = work, *ratio = pivot + l->most, *y = ratio + l->most;
    for (int64_t i = 0; i < m; i++) {
        double off = i ? d * l->beta[(i - 1) * l->cols + c] : 0;
        ratio[i] = i ? off / pivot[i - 1] : 0;
        pivot[i] = 1 + d * l->alpha[i * l->cols + c] - ratio[i] * off;
        y[i] = i ? -ratio[i] * y[i - 1] : l->size[c];
    }
    for (int64_t i = m - 1; i >= 0; i--)
        y[i] = y[i] / pivot[i] - (i + 1 < m ? ratio[i + 1] * y[i + 1] : 0);
    return y;
}

/* f of a lambda and a column. */
static mcr_status write_column(void *arg, int64_t item, int worker)
{
    const write_job *j = arg;
    const lanczos *l = j->l;
    const mcr_squares_folds *h = l->h;
    int64_t t = item / l->cols, c = item % l->cols, k = h->q->outputs;
    int64_t fold = fold_of(l, c), count = size_of(h, fold);
    if (!j->exists[t])
        return MCR_OK;
    const double *y = solve_small(l, l->lambda[t], c, j->work + worker * 3 * l->most);
    const int64_t *member = h->order + h->first[fold];
    double *f = j->f[t] + c % k;
    for (int64_t r = 0; r < count; r++)
        f[member[r] * k] = 0;
    for (int64_t i = 0; i < l->steps; i++) {
        const double *s = l->held + i * l->place[l->cols] + l->place[c];
        for (int64_t r = 0; r < count; r++)
            f[member[r] * k] += y[i] * s[r];
    }
    for (int64_t r = 0; r < count; r++)
        f[member[r] * k] /= h->q->root[member[r]];
    return MCR_OK;
}

static mcr_status write_columns(const lanczos *l, double *const *f, const bool *exists)
{
    mcr *ctx = l->h->q->ctx;
    write_job j = {l, exists, f, NULL};
    j.work = mcr_alloc(ctx, (size_t)mcr_workers(ctx), (size_t)l->most * 3 * sizeof *j.work);
    mcr_status s = j.work ? mcr_parallel(ctx, l->lambdas * l->cols, write_column, &j)
                          : MCR_NO_MEMORY;
    mcr_free(ctx, j.work);
    return s;
}

/* ---- columns ----------------------------------------------------------------------------------*/

/* v = b / |b| on the objects outside of each column's fold. */
static void begin(lanczos *l)
{
    const mcr_squares_folds *h = l->h;
    int64_t n = h->q->n, k = h->q->outputs;
    for (int64_t c = 0; c < l->cols; c++) {
        int64_t fold = fold_of(l, c);
        double *v = l->v + c * l->ld;
        for (int64_t i = 0; i < n; i++)
            v[i] = h->q->b[h->order[i] * k + c % k];
        memset(v + h->first[fold], 0, sizeof *v * (size_t)size_of(h, fold));
        l->size[c] = sqrt(l->math->dot(v, v, n));
        l->math->affine(v, l->size[c] > 0 ? 1 / l->size[c] : 0, 0, n);
        l->place[c + 1] = l->place[c] + size_of(h, fold);
    }
    l->steps = 0;
}

static mcr_status run(lanczos *l, double *const *f, bool *exists)
{
    mcr *ctx = l->h->q->ctx;
    begin(l);
    l->held = mcr_alloc(ctx, (size_t)l->most, (size_t)(l->place[l->cols] + 1) * sizeof *l->held);
    mcr_status s = l->held ? MCR_OK : MCR_NO_MEMORY;
    bool small = false;
    while (!s && !small && l->steps < l->most) {
        s = step(l);
        small = !s && look(l, exists);
    }
    for (int64_t t = 0; t < l->lambdas && !small; t++)
        exists[t] = false;
    if (!s)
        s = write_columns(l, f, exists);
    mcr_free(ctx, l->held);
    l->held = NULL;
    return s;
}

/* What the blocks of folds, three sets of columns and `held` take; the rest is small. */
static size_t bytes_of(const lanczos *l, size_t cols)
{
    const mcr_squares_folds *h = l->h;
    int64_t most = 0;
    for (int64_t fold = 0; fold < h->folds; fold += l->group) {
        int64_t end = h->folds - fold < l->group ? h->folds : fold + l->group;
        int64_t values = (h->first[end] - h->first[fold]) * h->q->outputs;
        most = values > most ? values : most;
    }
    return ((size_t)l->at[h->folds] + 3 * cols * (size_t)l->ld + (size_t)(l->most * most)) *
           sizeof(double);
}

static mcr_status reserve(lanczos *l)
{
    const mcr_squares_folds *h = l->h;
    mcr *ctx = h->q->ctx;
    size_t cols = (size_t)(h->q->outputs > COLUMNS ? h->q->outputs : COLUMNS);
    l->at = mcr_alloc(ctx, (size_t)h->folds + 1, sizeof *l->at);
    if (!l->at)
        return MCR_NO_MEMORY;
    l->at[0] = 0;
    for (int64_t fold = 0; fold < h->folds; fold++)
        l->at[fold + 1] = l->at[fold] + size_of(h, fold) * size_of(h, fold);
    size_t bytes = bytes_of(l, cols);
    mcr_status s = mcr_budget_take(ctx, bytes, "ridge: the values of held-out objects");
    if (s)
        return s;
    l->taken = bytes;
    l->place = mcr_alloc(ctx, cols + 1, sizeof *l->place);
    if (!mcr_alloc_doubles(ctx, (size_t)l->at[h->folds], &l->block) ||
        !mcr_alloc_doubles(ctx, cols * (uint64_t)l->ld, &l->v, &l->before, &l->u) ||
        !mcr_alloc_doubles(ctx, cols * (uint64_t)l->most, &l->alpha, &l->beta) ||
        !mcr_alloc_doubles(ctx, cols * (uint64_t)l->lambdas, &l->pivot, &l->last) ||
        !mcr_alloc_doubles(ctx, cols, &l->size) || !l->place)
        return MCR_NO_MEMORY;
    l->place[0] = 0;
    return MCR_OK;
}

static void release(lanczos *l)
{
    mcr *ctx = l->h->q->ctx;
    mcr_free_all(ctx, l->at, l->block, l->v, l->before, l->u, l->alpha, l->beta, l->pivot, l->last,
                 l->size, l->place);
    mcr_budget_give(ctx, l->taken);
}

/* ---- the whole --------------------------------------------------------------------------------*/

double mcr_squares_shift_steps(double range)
{
    return range > 1 ? 2 + 0.5 * sqrt(sqrt(range)) * log(2 / RESIDUAL) : 1;
}

mcr_status mcr_squares_shifts(mcr_squares_folds *h, const double *lambda, int64_t count,
                              double *const *f, bool *exists)
{
    double least = INFINITY, most = 0;
    for (int64_t t = 0; t < count; t++) {
        least = fmin(least, lambda[t]);
        most = fmax(most, lambda[t]);
        exists[t] = true;
    }
    int64_t k = h->q->outputs;
    lanczos l = {.h = h,
                 .math = mcr_tiles_best()->f64->math,
                 .shift = sqrt(least) * sqrt(most),
                 .lambda = lambda,
                 .lambdas = count,
                 .group = COLUMNS / k ? COLUMNS / k : 1,
                 .ld = (h->q->n + 7) / 8 * 8 + 8,
                 .most = 10 + 2 * (int64_t)mcr_squares_shift_steps(most / least)};
    mcr_status s = reserve(&l);
    if (!s)
        s = invert(&l);
    if (!s)
        s = mcr_parallel(h->q->ctx, h->folds, factor_block, &l);
    for (; l.first < h->folds && !s; l.first = l.end) {
        l.end = h->folds - l.first < l.group ? h->folds : l.first + l.group;
        l.cols = (l.end - l.first) * k;
        s = run(&l, f, exists);
    }
    release(&l);
    return s;
}
