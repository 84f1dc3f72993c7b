/* matrix.c: the whole Gram matrix. Of a symmetric one only the tiles on and above the diagonal are
 * computed; each is written twice, as it is and transposed, while it is still in the cache.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gram/gram.h"

#include "base/threads.h"
#include "linalg/copy.h"

/* Square tiles whose side is a multiple of all panel widths; one of doubles is 288 KiB. */
enum { SIDE = 192 };

typedef struct matrix_job {
    mcr_gram *gram;
    void *k;
    int64_t n, ld, side_tiles;
    bool precise;
} matrix_job;

/* Item t of the upper triangle of an m x m grid of tiles, counted row by row. */
static void upper_tile(int64_t t, int64_t m, int64_t *row, int64_t *col)
{
    int64_t r = 0;
    while (t >= m - r) {
        t -= m - r;
        r++;
    }
    *row = r;
    *col = r + t;
}

static mcr_status matrix_tile(void *arg, int64_t item, int worker)
{
    const matrix_job *job = arg;
    mcr_scratch *scratch = job->gram->scratch[worker];
    int64_t r, c;
    upper_tile(item, job->side_tiles, &r, &c);
    int64_t i = r * SIDE, j = c * SIDE;
    int64_t rows = job->n - i < SIDE ? job->n - i : SIDE;
    int64_t cols = job->n - j < SIDE ? job->n - j : SIDE;
    size_t real = job->precise ? sizeof(double) : sizeof(float);
    size_t mark = mcr_scratch_mark(scratch);
    void *k = mcr_scratch_take(scratch, real * SIDE * SIDE);
    if (!k)
        return MCR_NO_MEMORY;
    mcr_tile tile = {
        .x = {NULL, i, rows},
        .z = {NULL, j, cols},
        .precise = job->precise,
        .k = k,
        .ld = SIDE,
        .scratch = scratch,
    };
    mcr_status s = mcr_binding_block(job->gram->binding, &tile);
    if (!s) {
        if (r == c)
            mcr_mirror(k, rows, SIDE, real);
        char *to = job->k;
        mcr_copy_out(to + (size_t)(i * job->ld + j) * real, job->ld, k, SIDE, rows, cols, real);
        if (r != c)
            mcr_copy_out_transposed(to + (size_t)(j * job->ld + i) * real, job->ld, k, SIDE, rows,
                                    cols, real);
    }
    mcr_scratch_release(scratch, mark);
    return s;
}

static mcr_status matrix_any(mcr_gram *g, void *k, int64_t ld, bool precise)
{
    mcr_rows x = {NULL, 0, mcr_gram_rows(g)}, z = {NULL, 0, mcr_gram_cols(g)};
    if (!g->same)
        return mcr_gram_block_any(g, x, z, k, ld, precise);
    mcr_status s = mcr_gram_prepare(g, precise);
    if (s)
        return s;
    int64_t m = (x.count + SIDE - 1) / SIDE;
    matrix_job job = {g, k, x.count, ld, m, precise};
    return mcr_parallel(g->ctx, m * (m + 1) / 2, matrix_tile, &job);
}

mcr_status mcr_gram_matrix(mcr_gram *g, double *k, int64_t ld)
{
    return matrix_any(g, k, ld, true);
}

mcr_status mcr_gram_matrix_float(mcr_gram *g, float *k, int64_t ld)
{
    return matrix_any(g, k, ld, false);
}
