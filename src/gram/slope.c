/* slope.c: sums of D_ij dK_ij, tile by tile of the upper triangle.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gram/slope.h"

#include <assert.h>
#include <string.h>

#include "base/threads.h"
#include "gram/bound.h"
#include "kernel/gradient.h"
#include "kernel/scales.h"

enum { ROWS = 32 };

typedef struct slope_job {
    mcr_gram_bound *gram;
    mcr_slope_row *row;
    const void *arg;
    int64_t n, scales;
    double *d;   /* ROWS x n for each worker */
    double *sum; /* scales for each item, added in their order afterwards */
} slope_job;

static mcr_status slope_rows(void *arg, int64_t item, int worker)
{
    const slope_job *job = arg;
    int64_t n = job->n, first = item * ROWS, rows = n - first < ROWS ? n - first : ROWS;
    int64_t cols = n - first;
    double *d = job->d + worker * ROWS * n, *sum = job->sum + item * job->scales;
    mcr_status s = MCR_OK;
    for (int64_t i = 0; i < rows; i++) {
        memset(d + i * cols, 0, sizeof *d * (size_t)i);
        job->row(job->arg, first + i, d + i * cols + i);
    }
    memset(sum, 0, sizeof *sum * (size_t)job->scales);
    for (int64_t j = 0; j < cols && !s; j += MCR_TILE_COLS) {
        int64_t count = cols - j < MCR_TILE_COLS ? cols - j : MCR_TILE_COLS;
        mcr_tile tile = {.x = {NULL, first, rows},
                         .z = {NULL, first + j, count},
                         .precise = 1,
                         .scratch = job->gram->scratch[worker]};
        s = mcr_bound_gradient(job->gram->binding->root, &tile, d + j, cols, sum);
    }
    return s;
}

mcr_status mcr_gram_slope(mcr_gram *g, mcr_slope_row *row, const void *arg, double *slope)
{
    mcr_gram_bound *bound = mcr_gram_as_bound(g);
    assert(bound && g->symmetric);
    slope_job job = {.gram = bound,
                     .row = row,
                     .arg = arg,
                     .n = mcr_gram_rows(g),
                     .scales = mcr_kernel_scales(bound->kernel, NULL)};
    int64_t items = (job.n + ROWS - 1) / ROWS;
    mcr_status s = mcr_gram_prepare(g, true);
    job.d = mcr_alloc(g->ctx, (size_t)(mcr_workers(g->ctx) * ROWS), (size_t)job.n * sizeof *job.d);
    job.sum = mcr_alloc(g->ctx, (size_t)items, (size_t)job.scales * sizeof *job.sum);
    if (!s && (!job.d || !job.sum))
        s = MCR_NO_MEMORY;
    if (!s)
        s = mcr_parallel(g->ctx, items, slope_rows, &job);
    for (int64_t t = 0; t < items && !s; t++)
        for (int64_t j = 0; j < job.scales; j++)
            slope[j] += job.sum[t * job.scales + j];
    mcr_free(g->ctx, job.d);
    mcr_free(g->ctx, job.sum);
    return s;
}
