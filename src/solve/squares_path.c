/* squares_path.c: least squares with a penalty for many lambdas, and for held-out objects.
 *
 * With the eigenvectors V of W^1/2 K W^1/2 = V' diag(value) V, B = V' diag(1 / (value + lambda)) V.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "solve/squares.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/threads.h"
#include "linalg/lapack.h"
#include "linalg/shared.h"

/* An eigendecomposition costs about as much as so many factors with their inverses. */
enum { MANY = 5 };

/* V in place of the matrix, whose row e is the eigenvector of value[e]. */
static mcr_status decompose(mcr_squares *q)
{
    int64_t n = q->n, k = q->outputs;
    q->value = mcr_alloc(q->ctx, (size_t)n, sizeof *q->value);
    q->turn = mcr_alloc(q->ctx, (size_t)n, (size_t)k * sizeof *q->turn);
    mcr_status s = q->value && q->turn ? MCR_OK : MCR_NO_MEMORY;
    if (!s)
        s = mcr_system_eigen(&q->m, "ridge: the eigenvectors of the kernel matrix", q->value);
    return s ? s
             : mcr_shared_gemm(q->ctx, MCR_AS_IS, MCR_AS_IS, n, k, n, 1, q->m.a, q->m.ld, q->b, k,
                               0, q->turn, k);
}

/* ---- many lambdas -----------------------------------------------------------------------------*/

mcr_status mcr_squares_eigen(mcr_squares *q)
{
    mcr_status s = mcr_squares_fill(q, true);
    if (!s && !(q->inverse = mcr_alloc(q->ctx, (size_t)q->n, sizeof *q->inverse)))
        s = MCR_NO_MEMORY;
    return s ? s : decompose(q);
}

typedef struct path_job {
    const mcr_squares *q;
    double lambda;
} path_job;

enum { CHUNK = 256 };

static mcr_status path_chunk(void *arg, int64_t item, int worker)
{
    (void)worker;
    const path_job *j = arg;
    const mcr_squares *q = j->q;
    int64_t n = q->n, k = q->outputs, first = item * CHUNK;
    int64_t end = first + CHUNK < n ? first + CHUNK : n;
    memset(q->inverse + first, 0, sizeof *q->inverse * (size_t)(end - first));
    memset(q->x + first * k, 0, sizeof *q->x * (size_t)((end - first) * k));
    for (int64_t e = 0; e < n; e++) {
        const double *v = q->m.a + e * q->m.ld;
        double d = 1 / (q->value[e] + j->lambda);
        for (int64_t i = first; i < end; i++)
            q->inverse[i] += v[i] * v[i] * d;
        for (int64_t o = 0; o < k; o++) {
            double c = q->turn[e * k + o] * d;
            for (int64_t i = first; i < end; i++)
                q->x[i * k + o] += v[i] * c;
        }
    }
    return MCR_OK;
}

mcr_status mcr_squares_at(mcr_squares *q, double lambda, bool *exists)
{
    int64_t n = q->n;
    double least = fmax(fabs(q->value[0]), fabs(q->value[n - 1])) * DBL_EPSILON * (double)n;
    path_job j = {q, lambda};
    *exists = q->value[0] + lambda > least;
    return *exists ? mcr_parallel(q->ctx, (n + CHUNK - 1) / CHUNK, path_chunk, &j) : MCR_OK;
}

/* ---- folds ------------------------------------------------------------------------------------*/

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
    h->block = mcr_alloc(ctx, largest * largest, sizeof *h->block);
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
    mcr_free(ctx, h->order);
    mcr_free(ctx, h->first);
    mcr_free(ctx, h->block);
    mcr_free(ctx, h->e);
}

/* With many lambdas: V with its columns by fold. */
mcr_status mcr_squares_folds_prepare(mcr_squares_folds *h, int64_t lambdas)
{
    mcr_squares *q = h->q;
    h->many = lambdas > MANY;
    mcr_status s = h->many ? decompose(q) : MCR_OK;
    for (int64_t e = 0; e < q->n && h->many && !s; e++) {
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
    mcr_status s = mcr_system_factor(&h->t, lambda, NULL, NULL);
    memcpy(q->x, q->b, sizeof *q->x * (size_t)(q->n * q->outputs));
    if (!s)
        s = mcr_system_solve(&h->t, q->outputs, q->x);
    return s ? s : mcr_system_inverse(&h->t, true, q->diagonal);
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
    if (h->many)
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

mcr_status mcr_squares_folds_at(mcr_squares_folds *h, double lambda, double *f)
{
    mcr_status s = h->many ? scale_vectors(h, lambda) : invert(h, lambda);
    for (int64_t fold = 0; fold < h->folds && !s; fold++)
        s = leave_out(h, fold, f);
    return s;
}
