/* blocks.c: passes, sums and products of any Gram, from its blocks.
 *
 * Blocks of a few rows are computed one after the other; the workers divide the columns of each
 * block among themselves, so that the sums do not depend on the number of threads.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "base/threads.h"
#include "gram/type.h"
#include "linalg/blas.h"
#include "linalg/tiles.h"

enum { ROWS = 64, COLUMNS = 1024 };

typedef struct pass_job {
    const mcr_gram_pass *pass;
    const mcr_tile_kit *kit;
    const char *k; /* a block, ld apart */
    int64_t ld, first, rows, cols;
} pass_job;

static mcr_status pass_chunk(void *arg, int64_t first, int64_t end)
{
    const pass_job *job = arg;
    const mcr_gram_pass *p = job->pass;
    size_t real = (size_t)job->kit->bytes;
    int64_t j = first, cols = end - first;
    const void *row[ROWS];
    for (int64_t r = 0; r < job->rows; r++) {
        row[r] = job->k + (size_t)(r * job->ld + j) * real;
        if (p->row)
            memcpy((char *)p->row[job->first + r] + (size_t)j * real, row[r], (size_t)cols * real);
    }
    for (int64_t o = 0; o < p->outputs; o++)
        job->kit->update(p->f + o * p->f_ld + j, row, p->coef + o * p->coef_ld + job->first,
                         job->rows, 0, cols);
    return MCR_OK;
}

mcr_status mcr_gram_blocks_pass(mcr_gram *g, const mcr_gram_pass *pass)
{
    const mcr_tiles *tiles = mcr_tiles_best();
    mcr_rows z = pass->z.count ? pass->z : (mcr_rows){NULL, 0, g->cols};
    pass_job job = {.pass = pass,
                    .kit = pass->precise ? tiles->f64 : tiles->f32,
                    .ld = (z.count + MCR_ROW_PAD - 1) / MCR_ROW_PAD * MCR_ROW_PAD,
                    .cols = z.count};
    int64_t most = pass->x.count < ROWS ? pass->x.count : ROWS;
    char *k = mcr_alloc(g->ctx, (size_t)most, (size_t)job.ld * (size_t)job.kit->bytes);
    mcr_status s = k ? MCR_OK : MCR_NO_MEMORY;
    for (; job.first < pass->x.count && !s && z.count; job.first += ROWS) {
        mcr_rows x = mcr_rows_part(pass->x, job.first, ROWS);
        job.rows = x.count;
        job.k = k;
        s = mcr_gram_block_any(g, x, z, k, job.ld, pass->precise);
        if (!s)
            s = mcr_parallel_chunks(g->ctx, z.count, COLUMNS, pass_chunk, &job);
    }
    mcr_free(g->ctx, k);
    return s;
}

mcr_status mcr_gram_blocks_sums(mcr_gram *g, mcr_rows object, bool precise, const double *v,
                                double *f)
{
    memset(f, 0, sizeof *f * (size_t)object.count);
    return mcr_gram_rows_pass(
        g, &(mcr_gram_pass){
               .x = object, .z = object, .precise = precise, .coef = v, .f = f, .outputs = 1});
}

typedef struct product_job {
    const mcr_vmath *math;
    const double *k, *vt; /* a block of rows; the vectors, one after the other */
    int64_t n, cols;
    double *kvt; /* ROWS of each vector's product */
} product_job;

static mcr_status product_rows(void *arg, int64_t first, int64_t end)
{
    const product_job *job = arg;
    job->math->dots(job->kvt + first, ROWS, job->k + first * job->n, job->n, end - first, job->n,
                    job->vt, job->n, job->cols);
    return MCR_OK;
}

mcr_status mcr_gram_blocks_multiply(mcr_gram *g, const double *v, int64_t cols, double *kv)
{
    enum { TOGETHER = 8 };
    int64_t n = g->cols;
    double *k = mcr_alloc(g->ctx, ROWS, (size_t)n * sizeof *k);
    double *vt = mcr_alloc(g->ctx, (size_t)cols, (size_t)(n + ROWS) * sizeof *vt);
    double *kvt = vt ? vt + cols * n : NULL;
    mcr_status s = k && vt ? MCR_OK : MCR_NO_MEMORY;
    if (!s)
        mcr_transposed(v, n, cols, vt);
    for (int64_t i = 0; i < g->rows && !s; i += ROWS) {
        int64_t rows = g->rows - i < ROWS ? g->rows - i : ROWS;
        product_job job = {mcr_tiles_best()->f64->math, k, vt, n, cols, kvt};
        s = mcr_gram_block(g, (mcr_rows){NULL, i, rows}, (mcr_rows){NULL, 0, n}, k, n);
        if (!s)
            s = mcr_parallel_chunks(g->ctx, rows, TOGETHER, product_rows, &job);
        for (int64_t r = 0; r < rows && !s; r++)
            for (int64_t o = 0; o < cols; o++)
                kv[(i + r) * cols + o] = kvt[o * ROWS + r];
    }
    mcr_free_all(g->ctx, k, vt);
    return s;
}
