/* sweep.c: the inverse of a symmetric positive definite matrix by sweeps of blocks.
 *
 * With P = A_kk, C = A_.k and W = C P^-1, the sweep of block k replaces
 *
 *   A_ij by A_ij - W_i C_j',   A_ik by W_i,   A_kk by -P^-1   (i, j not k).
 *
 * The matrix stays symmetric, and after all sweeps it is -A^-1 (Gauss-Jordan elimination; stable
 * for positive definite matrices: Higham, Accuracy and Stability of Numerical Algorithms, 14.4).
 * This takes n^3 multiplications and additions, as many as a Cholesky factor and its inverse, but
 * only in matrix products, which are twice as fast as triangular solves.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "linalg/sweep.h"

#include <string.h>

#include "base/context.h"
#include "base/rows.h"
#include "base/threads.h"
#include "linalg/lapack.h"
#include "linalg/shared.h"

enum { BLOCK = 128, STRIP = 128 }; /* rows of a sweep, and of an item */

typedef struct sweep {
    mcr *ctx;
    int64_t n, lda, first, count; /* rows first .. first + count - 1 are swept */
    double *a, *c, *w, *p;        /* c and w: n x count; p: count x count, P^-1 */
} sweep;

/* P^-1, and C from the lower triangle, with rows of 0 in place of P. */
static mcr_status take(sweep *s)
{
    int64_t k = s->first, m = s->count;
    double diagonal[BLOCK];
    for (int64_t i = 0; i < k; i++)
        for (int64_t j = 0; j < m; j++)
            s->c[i * m + j] = s->a[(k + j) * s->lda + i];
    memset(s->c + k * m, 0, sizeof *s->c * (size_t)(m * m));
    for (int64_t i = k + m; i < s->n; i++)
        memcpy(s->c + i * m, s->a + i * s->lda + k, sizeof *s->c * (size_t)m);
    for (int64_t i = 0; i < m; i++)
        memcpy(s->p + i * m, s->a + (k + i) * s->lda + k, sizeof *s->p * (size_t)(i + 1));
    mcr_status status = mcr_lapack_cholesky(s->ctx, m, s->p, m, NULL, NULL);
    if (!status)
        status = mcr_lapack_inverse(s->ctx, m, s->p, m, diagonal, NULL);
    if (!status)
        mcr_shared_mend(m, s->p, m, diagonal);
    return status;
}

/* W_i and A_ij for some rows i, up to the diagonal. */
static mcr_status update(void *arg, int64_t item, int worker)
{
    (void)worker;
    const sweep *s = arg;
    int64_t i = item * STRIP, rows = mcr_least(STRIP, s->n - i), m = s->count;
    mcr_status status = mcr_blas_gemm(s->ctx, MCR_AS_IS, MCR_AS_IS, rows, m, m, 1, s->c + i * m, m,
                                      s->p, m, 0, s->w + i * m, m);
    return status ? status
                  : mcr_blas_gemm(s->ctx, MCR_AS_IS, MCR_TRANSPOSED, rows, i + rows, m, -1,
                                  s->w + i * m, m, s->c, m, 1, s->a + i * s->lda, s->lda);
}

static void put(const sweep *s)
{
    int64_t k = s->first, m = s->count;
    for (int64_t j = 0; j < m; j++) {
        double *row = s->a + (k + j) * s->lda;
        for (int64_t i = 0; i < k; i++)
            row[i] = s->w[i * m + j];
        for (int64_t i = 0; i <= j; i++)
            row[k + i] = -s->p[j * m + i];
    }
    for (int64_t i = k + m; i < s->n; i++)
        memcpy(s->a + i * s->lda + k, s->w + i * m, sizeof *s->w * (size_t)m);
}

/* Negates the lower triangle of some rows and mirrors it, in squares that fit L1. */
static mcr_status finish(void *arg, int64_t item, int worker)
{
    enum { SIDE = 32 };
    (void)worker;
    const sweep *s = arg;
    double *a = s->a;
    int64_t end = mcr_least((item + 1) * STRIP, s->n);
    for (int64_t i0 = item * STRIP; i0 < end; i0 += SIDE)
        for (int64_t j0 = 0; j0 <= i0; j0 += SIDE)
            for (int64_t i = i0; i < i0 + SIDE && i < end; i++)
                for (int64_t j = j0; j < j0 + SIDE && j <= i; j++)
                    a[j * s->lda + i] = a[i * s->lda + j] = -a[i * s->lda + j];
    return MCR_OK;
}

static mcr_status run(sweep *s, const char *phase)
{
    double began = mcr_now(), n = (double)s->n;
    int64_t strips = mcr_parts(s->n, STRIP);
    mcr_status status = MCR_OK;
    for (; s->first < s->n && !status; s->first += s->count) {
        s->count = mcr_least(BLOCK, s->n - s->first);
        /* Short loops do not report progress themselves. */
        status = mcr_part_done(s->ctx, phase, (double)s->first / n, mcr_now() - began);
        if (!status)
            status = take(s);
        if (!status)
            status = mcr_parallel_reported(s->ctx, phase, (double)s->first / n,
                                           (double)s->count / n, strips, update, s);
        if (!status)
            put(s);
    }
    return status ? status : mcr_parallel(s->ctx, strips, finish, s);
}

size_t mcr_sweep_bytes(int64_t n)
{
    return (size_t)n * BLOCK * 2 * sizeof(double);
}

mcr_status mcr_sweep_inverse(mcr *ctx, int64_t n, double *a, int64_t lda, const char *phase)
{
    size_t size = (size_t)n * BLOCK;
    sweep s = {.ctx = ctx, .n = n, .lda = lda, .a = a};
    mcr_status status = mcr_budget_take(ctx, mcr_sweep_bytes(n), "the inverse of a kernel matrix");
    if (status)
        return status;
    s.c = mcr_alloc(ctx, size, sizeof *s.c);
    s.w = mcr_alloc(ctx, size, sizeof *s.w);
    s.p = mcr_alloc(ctx, BLOCK * BLOCK, sizeof *s.p);
    status = s.c && s.w && s.p ? run(&s, phase) : MCR_NO_MEMORY;
    mcr_free_all(ctx, s.c, s.w, s.p);
    mcr_budget_give(ctx, mcr_sweep_bytes(n));
    return status;
}
