/* matrix.c: the whole Gram matrix. Of a symmetric one only the tiles on and above the diagonal are
 * computed; each is written twice, as it is and transposed, while it is still in the cache. The
 * matrix is computed in strips of rows, which an expression of one vector leaf packs once for all
 * their tiles.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gram/bound.h"

#include "base/threads.h"
#include "gram/half.h"
#include "kernel/vectors.h"
#include "linalg/copy.h"

/* Square tiles whose side is a multiple of all panel widths, and of the rows at which a batch may
 * be entered; one of doubles is 288 KiB. Smaller where a value is slow. Rows of tiles in a
 * strip. */
enum { SIDE = 192, STRIP = 10 };
_Static_assert(SIDE % MCR_TILE_ROWS == 0, "tiles start where a batch can be entered");

typedef struct matrix_job {
    mcr_gram_bound *gram;
    const mcr_vectors_batch *batch; /* the strip's rows, or NULL */
    void *k;
    int64_t n, ld, side, side_tiles;
    int64_t strip; /* its first row of tiles */
    bool precise;
    bool report;     /* progress, and stops when asked to */
    double deadline; /* stops then, too; 0: never */
    double began, reported;
    int64_t done; /* tiles, by the first worker's knowledge */
} matrix_job;

/* Item t of a strip, counted row by row: row r of tiles starts at the diagonal. */
static void strip_tile(const matrix_job *job, int64_t t, int64_t *row, int64_t *col)
{
    int64_t r = job->strip;
    while (t >= job->side_tiles - r) {
        t -= job->side_tiles - r;
        r++;
    }
    *row = r;
    *col = r + t;
}

static int64_t strip_tiles(int64_t side_tiles, int64_t strip)
{
    int64_t count = 0;
    for (int64_t r = strip; r < strip + STRIP && r < side_tiles; r++)
        count += side_tiles - r;
    return count;
}

_Static_assert((int)SIDE == (int)MCR_HALF_SIDE, "tiles are computed where they stay");

static mcr_status compute_tile(const matrix_job *job, mcr_rows x, mcr_rows z, void *k, int64_t ld,
                               mcr_scratch *scratch)
{
    mcr_tile tile = {x, z, job->precise, k, ld, scratch};
    return mcr_gram_bound_tile(job->gram, job->batch, x.first - job->strip * job->side, &tile);
}

/* Reported by one worker of all; `item` of the strip is being computed. */
static mcr_status tell(matrix_job *job, int64_t item)
{
    enum { EVERY = 20 }; /* a second */
    double now = mcr_now(), all = (double)job->side_tiles * (double)(job->side_tiles + 1) / 2;
    if (job->deadline > 0 && now > job->deadline)
        return mcr_fail(job->gram->base.ctx, MCR_STOPPED, "out of time");
    if (!job->report || now - job->reported < 1.0 / EVERY)
        return MCR_OK;
    job->reported = now;
    return mcr_part_done(job->gram->base.ctx, "gram", (double)(job->done + item) / all,
                         now - job->began);
}

static mcr_status matrix_tile(void *arg, int64_t item, int worker)
{
    matrix_job *job = arg;
    mcr_status reported = worker == 0 ? tell(job, item) : MCR_OK;
    if (reported)
        return reported;
    mcr_scratch *scratch = job->gram->scratch[worker];
    int64_t r, c;
    strip_tile(job, item, &r, &c);
    int64_t side = job->side, i = r * side, j = c * side;
    int64_t rows = mcr_least(side, job->n - i), cols = mcr_least(side, job->n - j);
    size_t real = job->precise ? sizeof(double) : sizeof(float);
    size_t mark = mcr_scratch_mark(scratch);
    void *k = mcr_scratch_take(scratch, real * SIDE * SIDE);
    if (!k)
        return MCR_NO_MEMORY;
    mcr_status s = compute_tile(job, (mcr_rows){NULL, i, rows}, (mcr_rows){NULL, j, cols}, k, SIDE,
                                scratch);
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

/* The same into its place among the tiles of half a matrix, or a square of one of them. */
static mcr_status half_tile(void *arg, int64_t item, int worker)
{
    enum { LD = MCR_HALF_LD };
    matrix_job *job = arg;
    mcr_status s = worker == 0 ? tell(job, item) : MCR_OK;
    if (s)
        return s;
    int64_t r, c, side = job->side;
    strip_tile(job, item, &r, &c);
    int64_t i = r * side, j = c * side, big = i / SIDE;
    int64_t rows = mcr_least(side, job->n - i), cols = mcr_least(side, job->n - j);
    double *tile = (double *)job->k + mcr_half_tile(job->n, big, j / SIDE);
    double *k = tile + i % SIDE * LD + j % SIDE;
    s = compute_tile(job, (mcr_rows){NULL, i, rows}, (mcr_rows){NULL, j, cols}, k, LD,
                     job->gram->scratch[worker]);
    if (!s && r == c)
        mcr_mirror(k, rows, LD, sizeof *k);
    else if (!s && j / SIDE == big)
        mcr_copy_out_transposed(tile + j % SIDE * LD + i % SIDE, LD, k, LD, rows, cols, sizeof *k);
    return s;
}

static mcr_status run(mcr_gram *gram, const mcr_gram_fill *how, bool half)
{
    mcr_gram_bound *g = (mcr_gram_bound *)gram;
    mcr_rows x = {NULL, 0, gram->rows};
    mcr_status s = mcr_gram_prepare(gram, how->precise);
    if (s)
        return s;
    int64_t side = mcr_gram_is_slow(gram) ? MCR_SLOW_TILE / 2 : SIDE;
    int64_t m = (x.count + side - 1) / side;
    matrix_job job = {
        .gram = g,
        .k = how->k,
        .n = x.count,
        .ld = how->ld,
        .side = side,
        .side_tiles = m,
        .precise = how->precise,
        .report = how->report,
        .deadline = how->deadline,
        .began = mcr_now(),
        .reported = mcr_now(),
    };
    for (; job.strip < m && !s; job.strip += STRIP) {
        if (g->binding->root->fused)
            s = mcr_gram_bound_batch(
                &job.batch, g, mcr_rows_part(x, job.strip * side, STRIP * side), how->precise);
        if (!s)
            s = mcr_parallel(gram->ctx, strip_tiles(m, job.strip), half ? half_tile : matrix_tile,
                             &job);
        job.done += strip_tiles(m, job.strip);
    }
    return s;
}

mcr_status mcr_gram_bound_matrix(mcr_gram *g, const mcr_gram_fill *how)
{
    return run(g, how, false);
}

mcr_status mcr_gram_bound_tiles(mcr_gram *g, double *tiles)
{
    return run(g, &(mcr_gram_fill){.k = tiles, .precise = true, .report = true}, true);
}
