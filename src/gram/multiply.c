/* multiply.c: K v of a bound Gram, tile by tile, without keeping K. For a symmetric Gram half of
 * the values are computed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gram/bound.h"

#include <math.h>
#include <string.h>

#include "base/context.h"
#include "base/threads.h"
#include "gram/half.h"
#include "linalg/blas.h"
#include "linalg/tiles.h"

/* Rows of a tile: small enough for the tile to stay in the second-level cache. */
enum { ROWS = 96 };

/* A tile, unless it is too late. */
static mcr_status compute(const mcr_gram_bound *g, mcr_rows x, mcr_rows z, double *k, int64_t ld,
                          int worker)
{
    mcr_tile tile = {x, z, true, k, ld, g->scratch[worker]};
    return mcr_deadline_over(g->base.ctx) ? mcr_fail(g->base.ctx, MCR_STOPPED, "interrupted")
                                          : mcr_binding_block(g->binding, &tile);
}

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
        s = compute(job->gram, (mcr_rows){NULL, i, rows}, (mcr_rows){NULL, j, cols}, k,
                    MCR_TILE_COLS, worker);
        for (int64_t r = 0; r < rows && !s; r++)
            for (int64_t o = 0; o < job->outputs; o++)
                kv[r * job->outputs + o] += job->math->dot(k + r * MCR_TILE_COLS,
                                                           job->vt + o * n + j, cols);
    }
    mcr_scratch_release(scratch, mark);
    return s;
}

static size_t bytes_of(const mcr_gram *g, int64_t lanes)
{
    int64_t tiles = mcr_workers(g->ctx) * (int64_t)MCR_HALF_TILE;
    return sizeof(double) * (size_t)(g->rows * (lanes + 1) * MCR_THIN + tiles);
}

/* Lanes of products from half of the values: their sums take a few dozen megabytes at most, and at
 * most a quarter of the budget, of which so much must be left. 0: too few or too many objects, or
 * more vectors than one turn has, which would compute all of it again. */
static int64_t lanes_of(const mcr_gram *g, int64_t cols)
{
    enum { LEAST = 1000, MOST_LANES = 16, LEAST_LANES = 4, OBJECTS = 500000 };
    double each = sizeof(double) * MCR_THIN * fmax((double)g->rows, 1);
    double fit = 0.25 * (double)mcr_memory_budget(g->ctx) / each - 1;
    int64_t lanes = (int64_t)fmin(fmin(OBJECTS / fmax((double)g->rows, 1), fit), MOST_LANES);
    bool suits = g->symmetric && g->rows >= LEAST && cols <= MCR_THIN && lanes >= LEAST_LANES;
    return suits && bytes_of(g, lanes) <= mcr_budget_left(g->ctx) ? lanes : 0;
}

typedef struct half_job {
    mcr_gram_bound *gram;
    double *tile; /* MCR_HALF_TILE for each worker */
} half_job;

static mcr_status make_tile(void *self, int64_t at, mcr_rows x, mcr_rows z, int worker,
                            const double **k)
{
    (void)at;
    const half_job *job = self;
    double *tile = job->tile + worker * MCR_HALF_TILE;
    *k = tile;
    return compute(job->gram, x, z, tile, MCR_HALF_LD, worker);
}

static mcr_status multiply_half(mcr_gram *g, int64_t lanes, const double *v, int64_t cols,
                                double *kv)
{
    int64_t n = g->rows;
    double *x = mcr_alloc(g->ctx, bytes_of(g, lanes), 1);
    if (!x)
        return MCR_NO_MEMORY;
    double *y = x + n * MCR_THIN;
    half_job job = {(mcr_gram_bound *)g, y + n * lanes * MCR_THIN};
    mcr_status s = mcr_half_multiply(
        g->ctx, &(mcr_half_product){n, lanes, x, y, make_tile, &job, NULL}, v, cols, kv);
    mcr_free(g->ctx, x);
    return s;
}

mcr_status mcr_gram_bound_multiply(mcr_gram *g, const double *v, int64_t cols, double *kv)
{
    int64_t lanes = lanes_of(g, cols);
    size_t taken = lanes ? bytes_of(g, lanes) : 0;
    if (lanes && !mcr_budget_take(g->ctx, taken, "products with kernel values")) {
        mcr_status half = multiply_half(g, lanes, v, cols, kv);
        mcr_budget_give(g->ctx, taken);
        return half;
    }
    int64_t m = mcr_gram_rows(g), n = mcr_gram_cols(g);
    double *vt = mcr_alloc(g->ctx, (uint64_t)n * (uint64_t)cols, sizeof *vt);
    if (!vt)
        return MCR_NO_MEMORY;
    mcr_transposed(v, n, cols, vt);
    multiply_job job = {(mcr_gram_bound *)g, vt, cols, kv, mcr_tiles_best()->f64->math};
    mcr_status s = mcr_parallel(g->ctx, (m + ROWS - 1) / ROWS, multiply_rows, &job);
    mcr_free(g->ctx, vt);
    return s;
}
