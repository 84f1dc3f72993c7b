/* slope.c: sums of D_ij dK_ij, tile by tile: of the upper triangle, of all pairs, of the diagonal.
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
    const double *given; /* D, rows ld apart; its diagonal; NULL: by row */
    int64_t ld;
    int64_t n, scales;
    double *d;   /* ROWS x n for each worker; for a diagonal ROWS x ROWS */
    double *sum; /* scales for each item, added in their order afterwards */
} slope_job;

/* The rows x of D, ld apart, against the columns z of K. */
static mcr_status slope_band(const slope_job *job, mcr_rows x, mcr_rows z, const double *d,
                             int64_t ld, int worker, double *sum)
{
    mcr_status s = MCR_OK;
    memset(sum, 0, sizeof *sum * (size_t)job->scales);
    for (int64_t j = 0; j < z.count && !s; j += MCR_TILE_COLS) {
        int64_t count = z.count - j < MCR_TILE_COLS ? z.count - j : MCR_TILE_COLS;
        mcr_tile tile = {.x = x,
                         .z = {NULL, z.first + j, count},
                         .precise = 1,
                         .scratch = job->gram->scratch[worker]};
        s = mcr_bound_gradient(job->gram->binding->root, &tile, d + j, ld, sum);
    }
    return s;
}

static mcr_rows band_of(const slope_job *job, int64_t item)
{
    int64_t first = item * ROWS;
    return (mcr_rows){NULL, first, job->n - first < ROWS ? job->n - first : ROWS};
}

static mcr_status slope_triangle(void *arg, int64_t item, int worker)
{
    const slope_job *job = arg;
    mcr_rows x = band_of(job, item);
    int64_t cols = job->n - x.first;
    double *d = job->d + worker * ROWS * job->n;
    for (int64_t i = 0; i < x.count; i++) {
        memset(d + i * cols, 0, sizeof *d * (size_t)i);
        job->row(job->arg, x.first + i, d + i * cols + i);
    }
    return slope_band(job, x, (mcr_rows){NULL, x.first, cols}, d, cols, worker,
                      job->sum + item * job->scales);
}

static mcr_status slope_pairs(void *arg, int64_t item, int worker)
{
    const slope_job *job = arg;
    mcr_rows x = band_of(job, item), all = {NULL, 0, mcr_gram_cols(&job->gram->base)};
    return slope_band(job, x, all, job->given + x.first * job->ld, job->ld, worker,
                      job->sum + item * job->scales);
}

static mcr_status slope_diagonal(void *arg, int64_t item, int worker)
{
    const slope_job *job = arg;
    mcr_rows x = band_of(job, item);
    double *d = job->d + worker * ROWS * ROWS;
    memset(d, 0, sizeof *d * ROWS * ROWS);
    for (int64_t i = 0; i < x.count; i++)
        d[i * ROWS + i] = job->given[x.first + i];
    return slope_band(job, x, x, d, ROWS, worker, job->sum + item * job->scales);
}

/* width: numbers of D per row that a worker needs; 0: none. */
static mcr_status run(slope_job *job, mcr_gram *g, mcr_work *work, int64_t width, double *slope)
{
    job->gram = mcr_gram_as_bound(g);
    assert(job->gram);
    job->n = mcr_gram_rows(g);
    job->scales = mcr_kernel_scales(job->gram->kernel, NULL);
    int64_t items = (job->n + ROWS - 1) / ROWS;
    mcr_status s = mcr_gram_prepare(g, true);
    job->d = mcr_alloc(g->ctx, (uint64_t)(mcr_workers(g->ctx) * ROWS),
                       (size_t)(width + 1) * sizeof *job->d);
    job->sum = mcr_alloc(g->ctx, (size_t)items, (size_t)job->scales * sizeof *job->sum);
    if (!s && (!job->d || !job->sum))
        s = MCR_NO_MEMORY;
    if (!s)
        s = mcr_parallel(g->ctx, items, work, job);
    for (int64_t t = 0; t < items && !s; t++)
        for (int64_t j = 0; j < job->scales; j++)
            slope[j] += job->sum[t * job->scales + j];
    mcr_free_all(g->ctx, job->d, job->sum);
    return s;
}

mcr_status mcr_gram_slope(mcr_gram *g, mcr_slope_row *row, const void *arg, double *slope)
{
    slope_job job = {.row = row, .arg = arg};
    assert(g->symmetric);
    return run(&job, g, slope_triangle, mcr_gram_rows(g), slope);
}

mcr_status mcr_gram_slope_pairs(mcr_gram *g, const double *d, int64_t ld, double *slope)
{
    slope_job job = {.given = d, .ld = ld};
    return run(&job, g, slope_pairs, 0, slope);
}

mcr_status mcr_gram_slope_diagonal(mcr_gram *g, const double *d, double *slope)
{
    slope_job job = {.given = d};
    assert(g->symmetric);
    return run(&job, g, slope_diagonal, ROWS, slope);
}
