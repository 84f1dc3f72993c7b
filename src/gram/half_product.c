/* half_product.c: products of a symmetric matrix from the tiles on and above its diagonal.
 *
 * Tile (r, c) gives y_r += T x_c and y_c += T' x_r. Tiles are distributed over a number of lanes
 * that depends only on n; each lane has its own sums, which are added in order at the end.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "base/threads.h"
#include "gram/half.h"
#include "linalg/tiles.h"

enum { SIDE = MCR_HALF_SIDE, LD = MCR_HALF_LD, CHUNK = 512 };

typedef struct product {
    const mcr_half_product *with;
    const mcr_vmath *math;
    int64_t first, rows; /* vectors of this turn, at most MCR_THIN */
    int64_t cols;        /* of all turns */
    const double *v;
    double *kv;
} product;

/* The vectors of this turn; missing ones are 0. */
static mcr_status take_chunk(void *arg, int64_t first, int64_t end)
{
    const product *p = arg;
    for (int64_t i = first; i < end; i++) {
        double *x = p->with->x + i * MCR_THIN;
        for (int64_t o = 0; o < MCR_THIN; o++)
            x[o] = o < p->rows ? p->v[i * p->cols + p->first + o] : 0;
    }
    return MCR_OK;
}

/* Prefetches the tile that a lane processes after tile `at` of `count`, if it is stored. Without
 * this a product waits for memory half of the time. */
static const char *next_tile(const mcr_half_product *w, int64_t at, int64_t count)
{
    bool is = w->kept && at + w->lanes < count;
    return is ? (const char *)(w->kept + (at + w->lanes) * MCR_HALF_TILE) : NULL;
}

static mcr_status run_lane(void *arg, int64_t lane, int worker)
{
    const product *p = arg;
    const mcr_half_product *w = p->with;
    int64_t n = w->n, side = (n + SIDE - 1) / SIDE, at = 0;
    double *y = w->y + lane * n * MCR_THIN;
    mcr_status s = MCR_OK;
    memset(y, 0, sizeof *y * (size_t)(n * MCR_THIN));
    for (int64_t r = 0; r < side && !s; r++)
        for (int64_t c = r; c < side && !s; c++, at++) {
            if (at % w->lanes != lane)
                continue;
            const double *tile = NULL;
            int64_t i = r * SIDE, j = c * SIDE;
            int64_t rows = mcr_least(SIDE, n - i), cols = mcr_least(SIDE, n - j);
            s = w->tile(w->self, at, (mcr_rows){NULL, i, rows}, (mcr_rows){NULL, j, cols}, worker,
                        &tile);
            if (s)
                break;
            const char *next = next_tile(w, at, side * (side + 1) / 2);
            const char *end = next ? next + sizeof(double) * MCR_HALF_TILE : NULL;
            p->math->thin(y + i * MCR_THIN, tile, LD, 1, rows, cols, w->x + j * MCR_THIN, p->rows,
                          next, end);
            if (r != c)
                p->math->thin(y + j * MCR_THIN, tile, 1, LD, cols, rows, w->x + i * MCR_THIN,
                              p->rows, NULL, NULL);
        }
    return s;
}

static mcr_status sum_chunk(void *arg, int64_t first, int64_t end)
{
    const product *p = arg;
    const mcr_half_product *w = p->with;
    for (int64_t i = first; i < end; i++) {
        double *sum = w->y + i * MCR_THIN;
        for (int64_t lane = 1; lane < w->lanes; lane++)
            for (int64_t o = 0; o < MCR_THIN; o++)
                sum[o] += w->y[(lane * w->n + i) * MCR_THIN + o];
        for (int64_t o = 0; o < p->rows; o++)
            p->kv[i * p->cols + p->first + o] = sum[o];
    }
    return MCR_OK;
}

mcr_status mcr_half_multiply(mcr *ctx, const mcr_half_product *with, const double *v, int64_t cols,
                             double *kv)
{
    mcr_status s = MCR_OK;
    for (int64_t first = 0; first < cols && !s; first += MCR_THIN) {
        product p = {
            with, mcr_tiles_best()->f64->math, first, mcr_least(MCR_THIN, cols - first), cols, v,
            kv};
        s = mcr_parallel_chunks(ctx, with->n, CHUNK, take_chunk, &p);
        if (!s)
            s = mcr_parallel(ctx, with->lanes, run_lane, &p);
        if (!s)
            s = mcr_parallel_chunks(ctx, with->n, CHUNK, sum_chunk, &p);
    }
    return s;
}
