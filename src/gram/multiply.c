/* multiply.c: K v without K, row means, centring.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gram/gram.h"

#include <string.h>

#include "base/threads.h"
#include "linalg/tiles.h"

/* Rows of a tile: small enough for the tile to stay in the second-level cache. */
enum { ROWS = 96 };

typedef struct multiply_job {
    mcr_gram *gram;
    const double *vt; /* v transposed: output by output */
    int64_t outputs;
    double *kv;
    const mcr_vmath *math;
} multiply_job;

static mcr_status multiply_rows(void *arg, int64_t item, int worker)
{
    const multiply_job *job = arg;
    mcr_scratch *scratch = job->gram->scratch[worker];
    int64_t i = item * ROWS, m = mcr_gram_rows(job->gram), n = mcr_gram_cols(job->gram);
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
        s = mcr_binding_block(job->gram->binding, &tile);
        for (int64_t r = 0; r < rows && !s; r++)
            for (int64_t o = 0; o < job->outputs; o++)
                kv[r * job->outputs + o] += job->math->dot(k + r * MCR_TILE_COLS,
                                                           job->vt + o * n + j, cols);
    }
    mcr_scratch_release(scratch, mark);
    return s;
}

mcr_status mcr_gram_multiply(mcr_gram *g, const double *v, int64_t cols, double *kv)
{
    mcr_status s = mcr_gram_prepare(g, true);
    if (s)
        return s;
    int64_t m = mcr_gram_rows(g), n = mcr_gram_cols(g);
    double *vt = mcr_alloc(g->ctx, (size_t)n * (size_t)cols, sizeof *vt);
    if (!vt)
        return MCR_NO_MEMORY;
    for (int64_t j = 0; j < n; j++)
        for (int64_t o = 0; o < cols; o++)
            vt[o * n + j] = v[j * cols + o];
    multiply_job job = {g, vt, cols, kv, mcr_tiles_best()->f64->math};
    s = mcr_parallel(g->ctx, (m + ROWS - 1) / ROWS, multiply_rows, &job);
    mcr_free(g->ctx, vt);
    return s;
}

mcr_status mcr_gram_means(mcr_gram *g, double *mean, double *total)
{
    int64_t m = mcr_gram_rows(g), n = mcr_gram_cols(g);
    if (m == 0 || n == 0)
        return mcr_fail(g->ctx, MCR_BAD_DATA, "gram: no objects to take the mean of");
    double *ones = mcr_alloc(g->ctx, (size_t)n, sizeof *ones);
    if (!ones)
        return MCR_NO_MEMORY;
    for (int64_t j = 0; j < n; j++)
        ones[j] = 1;
    mcr_status s = mcr_gram_multiply(g, ones, 1, mean);
    mcr_free(g->ctx, ones);
    if (s)
        return s;
    double sum = 0;
    for (int64_t i = 0; i < m; i++) {
        mean[i] /= (double)n;
        sum += mean[i];
    }
    *total = sum / (double)m;
    return MCR_OK;
}

mcr_status mcr_gram_center(mcr *ctx, double *k, int64_t rows, int64_t n, int64_t ld,
                           const double *mean, double total)
{
    if (n <= 0)
        return mcr_fail(ctx, MCR_BAD_CALL, "gram: centring needs at least one column");
    for (int64_t i = 0; i < rows; i++) {
        double *row = k + i * ld, sum = 0;
        for (int64_t j = 0; j < n; j++)
            sum += row[j];
        double shift = total - sum / (double)n;
        for (int64_t j = 0; j < n; j++)
            row[j] += shift - mean[j];
    }
    return MCR_OK;
}
