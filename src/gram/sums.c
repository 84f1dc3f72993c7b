/* sums.c: K v for objects on both sides, from half of the values: tile (r, c) gives f_c += T' v_r
 * and f_r += T v_c. Tiles are distributed over a number of lanes that depends only on n, each with
 * its own sums, which are added in order at the end. The contribution of a tile is summed
 * separately and then added, so a term goes through as many roundings as a tile has rows, a lane
 * has tiles in a row, and a sum has lanes, not through n of them (blocked summation: Higham,
 * Accuracy and Stability of Numerical Algorithms, 2002, section 4.2).
 *
 * Many objects of a Gram are first bound separately. A few use the Gram's own binding: tiles of few
 * columns, each against all rows up to its last, so that a column is packed once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gram/bound.h"

#include <math.h>

#include "base/threads.h"
#include "kernel/vectors.h"
#include "linalg/tiles.h"

/* Rows and columns of a tile; rows of tiles in a strip, which are packed together. */
enum { SIDE = 192, STRIP = 10, MOST_LANES = 16, LEAST_TILES = 8 };
enum { FEW = 768, FEW_SIDE = 32 }; /* objects; columns of a tile of these */
_Static_assert(SIDE % MCR_TILE_ROWS == 0, "tiles start where a batch can be entered");

typedef struct sums_job {
    mcr_gram_bound *gram;
    const mcr_tile_kit *kit;
    const mcr_vectors_batch *batch; /* the strip's rows; NULL: not one vector leaf */
    mcr_rows object;
    int64_t n, tiles; /* a side has so many */
    int64_t side;     /* columns of a tile */
    int64_t strip;    /* its first row of tiles */
    int64_t lanes;
    bool precise, few;
    const double *v;
    double *f; /* n a lane */
} sums_job;

/* Rows i and on against columns j and on, which are among the rows or behind them. */
static mcr_status add_tile(const sums_job *job, int64_t i, int64_t rows, int64_t j, void *k,
                           double *f, mcr_scratch *scratch)
{
    int64_t cols = mcr_least(job->side, job->n - j);
    size_t ld = (size_t)job->side * (size_t)job->kit->bytes;
    const void *row[FEW];
    double own[SIDE] = {0};
    mcr_tile tile = {
        .x = mcr_rows_part(job->object, i, rows),
        .z = mcr_rows_part(job->object, j, cols),
        .precise = job->precise,
        .k = k,
        .ld = job->side,
        .scratch = scratch,
    };
    mcr_status s = mcr_gram_bound_tile(job->gram, job->batch, i - job->strip * SIDE, &tile);
    if (s)
        return s;
    for (int64_t a = 0; a < rows; a++)
        row[a] = (const char *)k + (size_t)a * ld;
    job->kit->update(own, row, job->v + i, rows, 0, cols);
    for (int64_t b = 0; b < cols; b++)
        f[j + b] += own[b];
    for (int64_t a = 0; a < rows && i + a < j; a++)
        f[i + a] += job->kit->math->dot(row[a], job->v + j, cols);
    return MCR_OK;
}

/* The lane's tiles of a strip; of few objects its columns, each against all rows up to its
 * last. */
static mcr_status run_lane(void *arg, int64_t lane, int worker)
{
    const sums_job *job = arg;
    mcr_scratch *scratch = job->gram->scratch[worker];
    size_t mark = mcr_scratch_mark(scratch);
    int64_t tall = job->few ? job->n : SIDE, at = 0;
    void *k = mcr_scratch_take(scratch, (size_t)(job->kit->bytes * job->side * tall));
    mcr_status s = k ? MCR_OK : MCR_NO_MEMORY;
    int64_t end = job->few ? 1 : mcr_least(job->strip + STRIP, job->tiles);
    for (int64_t r = job->strip; r < end && !s; r++)
        for (int64_t c = r; c < job->tiles && !s; c++, at++) {
            int64_t last = (job->few ? c + 1 : r + 1) * job->side;
            if (at % job->lanes == lane)
                s = add_tile(job, r * SIDE, mcr_least(last, job->n) - r * SIDE, c * job->side, k,
                             job->f + lane * job->n, scratch);
        }
    mcr_scratch_release(scratch, mark);
    return s;
}

static mcr_status add_all(sums_job *job)
{
    mcr_gram_bound *g = job->gram;
    mcr_status s = MCR_OK;
    for (; job->strip < job->tiles && !s; job->strip += job->few ? job->tiles : STRIP) {
        mcr_rows rows = job->few ? job->object
                                 : mcr_rows_part(job->object, job->strip * SIDE, STRIP * SIDE);
        if (g->binding->root->fused)
            s = mcr_gram_bound_batch(&job->batch, g, rows, job->precise);
        if (!s)
            s = mcr_parallel(g->base.ctx, job->lanes, run_lane, job);
    }
    return s;
}

/* Objects that are bound for themselves. */
static mcr_status sums_apart(mcr_gram *gram, mcr_rows object, bool precise, const double *v,
                             double *f)
{
    mcr_gram *part = NULL;
    mcr_status s = mcr_gram_select_both(&part, gram, object);
    if (!s)
        s = mcr_gram_sums(part, (mcr_rows){NULL, 0, object.count}, precise, v, f);
    mcr_gram_close(part);
    return s;
}

/* Roundings of a multiply-add, and of sums of 4 and 8 parts in a product of vectors, are fewer than
 * the rows of a tile that the other way has. */
double mcr_gram_bound_depth(const mcr_gram *gram)
{
    double n = (double)gram->rows;
    return n <= SIDE ? n + MOST_LANES : SIDE + ceil(n / SIDE) + MOST_LANES;
}

mcr_status mcr_gram_bound_sums(mcr_gram *gram, mcr_rows object, bool precise, const double *v,
                               double *f)
{
    const mcr_tiles *kits = mcr_tiles_best();
    mcr_gram_bound *g = (mcr_gram_bound *)gram;
    mcr *ctx = gram->ctx;
    int64_t n = object.count;
    bool whole = n == gram->cols && !object.index;
    bool few = !whole && n <= FEW && (g->prepared[precise] || (precise && g->lists));
    if (!whole && !few)
        return sums_apart(gram, object, precise, v, f);
    int64_t side = few ? FEW_SIDE : SIDE, tiles = (n + side - 1) / side;
    sums_job job = {.gram = g,
                    .kit = precise ? kits->f64 : kits->f32,
                    .object = object,
                    .n = n,
                    .tiles = tiles,
                    .side = side,
                    .lanes = mcr_least(MOST_LANES, tiles * tiles / LEAST_TILES + 1),
                    .precise = precise,
                    .few = few,
                    .v = v};
    mcr_status s = few ? MCR_OK : mcr_gram_prepare(gram, precise);
    if (s)
        return s;
    job.f = mcr_alloc_zero(ctx, (uint64_t)(job.lanes * n) + MCR_ROW_PAD, sizeof *job.f);
    if (!job.f)
        return MCR_NO_MEMORY;
    s = add_all(&job);
    for (int64_t i = 0; i < n && !s; i++) {
        f[i] = 0;
        for (int64_t lane = 0; lane < job.lanes; lane++)
            f[i] += job.f[lane * n + i];
    }
    mcr_free(ctx, job.f);
    return s;
}
