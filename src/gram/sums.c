/* sums.c: K v for objects on both sides, from half of the values: tile (r, c) gives
 * f_c += T' v_r and f_r += T v_c. Tiles are dealt out to a number of lanes that depends on n alone,
 * each with sums of its own, which are added in order at the end.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gram/bound.h"

#include <string.h>

#include "base/threads.h"
#include "kernel/vectors.h"
#include "linalg/tiles.h"

/* Rows and columns of a tile; rows of tiles in a strip, which are packed together. */
enum { SIDE = 192, STRIP = 10, MOST_LANES = 16, LEAST_TILES = 8 };
_Static_assert(SIDE % MCR_TILE_ROWS == 0, "tiles start where a batch can be entered");

typedef struct sums_job {
    mcr_gram_bound *gram;
    const mcr_tile_kit *kit;
    const mcr_vectors_batch *batch; /* the strip's rows; NULL: not one vector leaf */
    const int64_t *object;
    int64_t n, tiles; /* a side has so many */
    int64_t strip;    /* its first row of tiles */
    int64_t lanes;
    bool precise;
    const double *v;
    double *f; /* n a lane */
} sums_job;

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static mcr_status compute(const sums_job *job, int64_t i, int64_t rows, int64_t j, int64_t cols,
                          void *k, mcr_scratch *scratch)
{
    if (job->batch)
        return mcr_vectors_run(job->batch, &(mcr_vectors_job){
                                               .first = j,
                                               .count = cols,
                                               .row_first = i - job->strip * SIDE,
                                               .rows = rows,
                                               .k = k,
                                               .ld = SIDE,
                                               .scratch = scratch,
                                           });
    return mcr_binding_block(job->gram->binding, &(mcr_tile){
                                                     .x = {job->object + i, 0, rows},
                                                     .z = {NULL, j, cols},
                                                     .precise = job->precise,
                                                     .k = k,
                                                     .ld = SIDE,
                                                     .scratch = scratch,
                                                 });
}

static mcr_status add_tile(const sums_job *job, int64_t r, int64_t c, void *k, double *f,
                           mcr_scratch *scratch)
{
    int64_t i = r * SIDE, j = c * SIDE, rows = least(SIDE, job->n - i),
            cols = least(SIDE, job->n - j);
    size_t ld = SIDE * (size_t)job->kit->bytes;
    const void *row[SIDE];
    mcr_status s = compute(job, i, rows, j, cols, k, scratch);
    if (s)
        return s;
    for (int64_t a = 0; a < rows; a++)
        row[a] = (const char *)k + (size_t)a * ld;
    job->kit->update(f + j, row, job->v + i, rows, 0, cols);
    for (int64_t a = 0; a < rows && r != c; a++)
        f[i + a] += job->kit->math->dot(row[a], job->v + j, cols);
    return MCR_OK;
}

/* The lane's tiles of a strip. */
static mcr_status run_lane(void *arg, int64_t lane, int worker)
{
    const sums_job *job = arg;
    mcr_scratch *scratch = job->gram->scratch[worker];
    size_t mark = mcr_scratch_mark(scratch);
    void *k = mcr_scratch_take(scratch, (size_t)job->kit->bytes * SIDE * SIDE);
    mcr_status s = k ? MCR_OK : MCR_NO_MEMORY;
    int64_t at = 0, end = least(job->strip + STRIP, job->tiles);
    for (int64_t r = job->strip; r < end && !s; r++)
        for (int64_t c = r; c < job->tiles && !s; c++, at++)
            if (at % job->lanes == lane)
                s = add_tile(job, r, c, k, job->f + lane * job->n, scratch);
    mcr_scratch_release(scratch, mark);
    return s;
}

mcr_status mcr_gram_bound_sums(mcr_gram *gram, const int64_t *object, bool precise, const double *v,
                               double *f)
{
    const mcr_tiles *kits = mcr_tiles_best();
    mcr_gram_bound *g = (mcr_gram_bound *)gram;
    mcr *ctx = gram->ctx;
    int64_t n = gram->cols, tiles = (n + SIDE - 1) / SIDE;
    sums_job job = {.gram = g,
                    .kit = precise ? kits->f64 : kits->f32,
                    .object = object,
                    .n = n,
                    .tiles = tiles,
                    .lanes = least(MOST_LANES, tiles * tiles / LEAST_TILES + 1),
                    .precise = precise,
                    .v = v};
    mcr_status s = MCR_OK;
    job.f = mcr_alloc_zero(ctx, (size_t)(job.lanes * n) + MCR_ROW_PAD, sizeof *job.f);
    if (!job.f)
        return MCR_NO_MEMORY;
    for (; job.strip < tiles && !s; job.strip += STRIP) {
        mcr_rows rows = mcr_rows_part((mcr_rows){object, 0, n}, job.strip * SIDE, STRIP * SIDE);
        if (g->binding->root->fused)
            s = mcr_gram_bound_batch(&job.batch, g, rows, precise);
        if (!s)
            s = mcr_parallel(ctx, job.lanes, run_lane, &job);
    }
    for (int64_t i = 0; i < n && !s; i++) {
        f[i] = 0;
        for (int64_t lane = 0; lane < job.lanes; lane++)
            f[i] += job.f[lane * n + i];
    }
    mcr_free(ctx, job.f);
    return s;
}
