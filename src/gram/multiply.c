/* multiply.c: K v of a bound Gram, tile by tile, without keeping K.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gram/bound.h"

#include <string.h>

#include "base/context.h"
#include "base/threads.h"
#include "linalg/tiles.h"

/* Rows of a tile: small enough for the tile to stay in the second-level cache. */
enum { ROWS = 96 };

typedef struct multiply_job {
    mcr_gram_bound *gram;
    const double *vt; /* v transposed: output by output */
    int64_t outputs;
    double *kv;
    const mcr_vmath *math;
} multiply_job;

static mcr_status multiply_rows(void *arg, int64_t item, int worker)
{
    const multiply_job *job = arg;
    mcr_scratch *scratch = job->gram->scratch[worker];
    int64_t i = item * ROWS, m = job->gram->base.rows, n = job->gram->base.cols;
    int64_t rows = m - i < ROWS ? m - i : ROWS;
    size_t mark = mcr_scratch_mark(scratch);
    double *k = mcr_scratch_take(scratch, sizeof(double) * ROWS * MCR_TILE_COLS);
    if (!k)
        return MCR_NO_MEMORY;
    double *kv = job->kv + i * job->outputs;
    memset(kv, 0, sizeof(double) * (size_t)(rows * job->outputs));
    mcr_status s = MCR_OK;
    for (int64_t j = 0; j < n && !s; j += MCR_TILE_COLS) {
        int64_t cols = n - j < MCR_TILE_COLS ? n - j : MCR_TILE_COLS;
        mcr_tile tile = {
            .x = {NULL, i, rows},
            .z = {NULL, j, cols},
            .precise = true,
            .k = k,
            .ld = MCR_TILE_COLS,
            .scratch = scratch,
        };
        if (mcr_deadline_over(job->gram->base.ctx))
            s = mcr_fail(job->gram->base.ctx, MCR_STOPPED, "interrupted");
        else
            s = mcr_binding_block(job->gram->binding, &tile);
        for (int64_t r = 0; r < rows && !s; r++)
            for (int64_t o = 0; o < job->outputs; o++)
                kv[r * job->outputs + o] += job->math->dot(k + r * MCR_TILE_COLS,
                                                           job->vt + o * n + j, cols);
    }
    mcr_scratch_release(scratch, mark);
    return s;
}

mcr_status mcr_gram_bound_multiply(mcr_gram *g, const double *v, int64_t cols, double *kv)
{
    int64_t m = mcr_gram_rows(g), n = mcr_gram_cols(g);
    double *vt = mcr_alloc(g->ctx, (size_t)n * (size_t)cols, sizeof *vt);
    if (!vt)
        return MCR_NO_MEMORY;
    for (int64_t j = 0; j < n; j++)
        for (int64_t o = 0; o < cols; o++)
            vt[o * n + j] = v[j * cols + o];
    multiply_job job = {(mcr_gram_bound *)g, vt, cols, kv, mcr_tiles_best()->f64->math};
    mcr_status s = mcr_parallel(g->ctx, (m + ROWS - 1) / ROWS, multiply_rows, &job);
    mcr_free(g->ctx, vt);
    return s;
}
