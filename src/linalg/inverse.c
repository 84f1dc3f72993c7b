/* inverse.c: the inverse of a symmetric positive definite matrix from its Cholesky factor, in
 * products of blocks.
 *
 * With W = L^-T, an upper triangle, the inverse is W W^T. W is computed above the diagonal, block
 * column by block column, W_ij = -sum_{i <= k < j} W_ik L_jk^T W_jj, and the inverse replaces it
 * column by column, from the first: sum_{k >= j} W_ik W_jk^T needs nothing to the left of column j.
 * The diagonal blocks of W are stored separately, because those of L are kept. This takes n^3/3
 * multiplications, as in LAPACK's dpotri, nearly all of them in matrix products, which are twice as
 * fast as solving triangular systems for some columns at a time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "base/context.h"
#include "base/rows.h"
#include "linalg/fortran.h"
#include "linalg/lapack.h"
#include "linalg/shared.h"

/* Rows and columns of a block, and of the halves of a diagonal block. */
enum { BLOCK = 256, HALF = BLOCK / 2 };

typedef struct inverse {
    mcr *ctx;
    const mcr_fortran *f;
    int64_t n, ld, blocks;
    double *l, *diagonal;
    double *square; /* BLOCK x BLOCK each: the diagonal blocks of W, zero below the diagonal */
    double *column; /* n x BLOCK: L_j.^T W_jj */
    double *buffer; /* BLOCK x BLOCK per worker */
    int64_t at;     /* j */
    const char *phase;
    double began, done; /* fraction of the columns */
} inverse;

static int64_t width_of(const inverse *t, int64_t block)
{
    return mcr_least(BLOCK, t->n - block * BLOCK);
}

static double *block_at(const inverse *t, int64_t i, int64_t j)
{
    return t->l + i * BLOCK * t->ld + j * BLOCK;
}

static double *square_at(const inverse *t, int64_t i)
{
    return t->square + i * BLOCK * BLOCK;
}

/* W_ii. BLAS sees the columns of L as an upper triangle U and solves X U = 1: X is L^-T by
 * columns. */
static mcr_status invert_square(void *arg, int64_t i, int worker)
{
    const inverse *t = arg;
    int width = (int)width_of(t, i), ld = (int)t->ld;
    const double unit = 1;
    double *x = t->buffer + worker * BLOCK * BLOCK, *w = square_at(t, i);
    memset(x, 0, sizeof *x * (size_t)width * (size_t)width);
    for (int c = 0; c < width; c++)
        x[c * width + c] = 1;
    int before = mcr_fortran_threads(t->f, 1);
    t->f->dtrsm("R", "U", "N", "N", &width, &width, &unit, block_at(t, i, i), &ld, x, &width, 1, 1,
                1, 1);
    (void)mcr_fortran_threads(t->f, before);
    for (int r = 0; r < width; r++)
        for (int c = 0; c < width; c++)
            w[r * width + c] = c < r ? 0 : x[c * width + r];
    return MCR_OK;
}

/* C_k = L_jk^T W_jj, for column j. */
static mcr_status take_column(void *arg, int64_t k, int worker)
{
    (void)worker;
    const inverse *t = arg;
    int64_t width = width_of(t, t->at);
    const double *l = block_at(t, t->at, k);
    double *c = t->column + k * BLOCK * width;
    for (int64_t i = 0; i < BLOCK; i++)
        for (int64_t o = 0; o < width; o++)
            c[i * width + o] = l[o * t->ld + i];
    int before = mcr_fortran_threads(t->f, 1);
    mcr_lapack_solve_rows(t->f, width, BLOCK, block_at(t, t->at, t->at), t->ld, c, width);
    (void)mcr_fortran_threads(t->f, before);
    return MCR_OK;
}

/* W_ij of column j. The lower half of W_ii has zeros on its left. */
static mcr_status invert_block(void *arg, int64_t i, int worker)
{
    (void)worker;
    const inverse *t = arg;
    int64_t j = t->at, width = width_of(t, j);
    const double *own = square_at(t, i), *c = t->column + i * BLOCK * width;
    double *w = block_at(t, i, j);
    mcr_status s = mcr_blas_gemm(t->ctx, MCR_AS_IS, MCR_AS_IS, HALF, width, BLOCK, -1, own, BLOCK,
                                 c, width, 0, w, t->ld);
    if (!s)
        s = mcr_blas_gemm(t->ctx, MCR_AS_IS, MCR_AS_IS, HALF, width, HALF, -1,
                          own + HALF * BLOCK + HALF, BLOCK, c + HALF * width, width, 0,
                          w + HALF * t->ld, t->ld);
    return s || i + 1 == j
               ? s
               : mcr_blas_gemm(t->ctx, MCR_AS_IS, MCR_AS_IS, BLOCK, width, (j - i - 1) * BLOCK, -1,
                               block_at(t, i, i + 1), t->ld, c + BLOCK * width, width, 1, w, t->ld);
}

/* x = W_ij W_jj^T, i <= j, skipping the zeros of W_jj^T to the right of its upper half. */
static mcr_status multiply_square(const inverse *t, int64_t i, int64_t rows, int64_t width,
                                  double *x)
{
    int64_t j = t->at, half = mcr_least(HALF, width), ld = i == j ? width : t->ld;
    const double *right = square_at(t, j), *own = i == j ? right : block_at(t, i, j);
    mcr_status s = mcr_blas_gemm(t->ctx, MCR_AS_IS, MCR_TRANSPOSED, rows, half, width, 1, own, ld,
                                 right, width, 0, x, width);
    return s || half == width
               ? s
               : mcr_blas_gemm(t->ctx, MCR_AS_IS, MCR_TRANSPOSED, rows, width - half, width - half,
                               1, own + half, ld, right + half * width + half, width, 0, x + half,
                               width);
}

/* The block (W W^T)_jj; only its part on and below the diagonal is written to x. */
static mcr_status multiply_diagonal(const inverse *t, double *x)
{
    int64_t j = t->at, width = width_of(t, j), rest = t->n - j * BLOCK - width;
    mcr_status s = multiply_square(t, j, width, width, x);
    if (!s && rest > 0) {
        int size = (int)width, depth = (int)rest, ld = (int)t->ld;
        const double unit = 1;
        int before = mcr_fortran_threads(t->f, 1);
        t->f->dsyrk("U", "T", &size, &depth, &unit, block_at(t, j, j + 1), &ld, &unit, x, &size, 1,
                    1);
        (void)mcr_fortran_threads(t->f, before);
    }
    for (int64_t r = 0; r < width && !s; r++) {
        double *to = block_at(t, j, j) + r * t->ld;
        for (int64_t c = r + 1; c < width; c++)
            to[c] = x[c * width + r];
        t->diagonal[j * BLOCK + r] = x[r * width + r];
    }
    return s;
}

/* (W W^T)_ij of column j, i <= j. */
static mcr_status multiply_block(void *arg, int64_t i, int worker)
{
    const inverse *t = arg;
    int64_t j = t->at, width = width_of(t, j), rest = t->n - j * BLOCK - width;
    double *x = t->buffer + worker * BLOCK * BLOCK, *to = block_at(t, i, j);
    if (i == j)
        return multiply_diagonal(t, x);
    mcr_status s = multiply_square(t, i, BLOCK, width, x);
    if (!s && rest > 0)
        s = mcr_blas_gemm(t->ctx, MCR_AS_IS, MCR_TRANSPOSED, BLOCK, width, rest, 1,
                          block_at(t, i, j + 1), t->ld, block_at(t, j, j + 1), t->ld, 1, x, width);
    for (int64_t r = 0; r < BLOCK && !s; r++)
        memcpy(to + r * t->ld, x + r * width, sizeof *x * (size_t)width);
    return s;
}

static mcr_status each(inverse *t, int64_t items, mcr_work *work)
{
    return items == 1 || !t->phase
               ? mcr_shared_items(t->ctx, items, work, t)
               : mcr_parallel_reported(t->ctx, t->phase, t->done, 0, items, work, t);
}

/* Short loops do not report progress themselves. */
static mcr_status report(inverse *t, int64_t columns)
{
    t->done = (double)columns / (double)(2 * t->blocks);
    return mcr_part_done(t->ctx, t->phase, t->done, mcr_now() - t->began);
}

static mcr_status run(inverse *t)
{
    mcr_status s = each(t, t->blocks, invert_square);
    for (t->at = 1; t->at < t->blocks && !s; t->at++) {
        s = report(t, t->at);
        if (!s)
            s = each(t, t->at, take_column);
        if (!s)
            s = each(t, t->at, invert_block);
    }
    for (t->at = 0; t->at < t->blocks && !s; t->at++) {
        s = report(t, t->blocks + t->at);
        if (!s)
            s = each(t, t->at + 1, multiply_block);
    }
    return s;
}

mcr_status mcr_lapack_inverse(mcr *ctx, int64_t n, double *l, int64_t ldl, double *diagonal,
                              const char *phase)
{
    int64_t blocks = mcr_parts(n, BLOCK), workers = mcr_workers(ctx);
    inverse t = {.ctx = ctx,
                 .n = n,
                 .ld = ldl,
                 .blocks = blocks,
                 .l = l,
                 .diagonal = diagonal,
                 .phase = phase,
                 .began = mcr_now()};
    mcr_status s = mcr_fortran_load(&t.f, ctx);
    if (s)
        return s;
    t.square = mcr_alloc(ctx, (uint64_t)(2 * blocks + workers), BLOCK * BLOCK * sizeof *t.square);
    if (!t.square)
        return MCR_NO_MEMORY;
    t.column = t.square + blocks * BLOCK * BLOCK;
    t.buffer = t.column + blocks * BLOCK * BLOCK;
    s = run(&t);
    mcr_free(ctx, t.square);
    return s;
}
