/* half.c: products with half a symmetric matrix.
 *
 * Tile (r, c) gives y_r += T x_c and y_c += T' x_r. Tiles are dealt out to a number of lanes that
 * depends on n alone; each lane has sums of its own, which are added in order at the end.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gram/half.h"

#include <string.h>

#include "base/threads.h"
#include "gram/bound.h"
#include "linalg/tiles.h"

enum { SIDE = MCR_HALF_SIDE, LD = MCR_HALF_LD, MOST_LANES = 16, TILES_A_LANE = 4, CHUNK = 512 };

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* ---- space ------------------------------------------------------------------------------------*/

static mcr_status take_buffers(mcr_half *h, const char *what)
{
    size_t tiles = (size_t)(h->side * (h->side + 1) / 2), n = (size_t)h->n * MCR_THIN;
    size_t bytes = 0, more = n * (size_t)(h->lanes + 1) * sizeof(double);
    if (!mcr_size_mul(tiles, sizeof(double) * MCR_HALF_TILE, &bytes) || bytes > SIZE_MAX - more)
        bytes = SIZE_MAX - more;
    mcr_status s = mcr_budget_take(h->ctx, bytes + more, what);
    if (s)
        return s;
    h->taken = bytes + more;
    h->tile = mcr_alloc(h->ctx, tiles, sizeof(double) * MCR_HALF_TILE);
    h->x = mcr_alloc(h->ctx, n, sizeof *h->x);
    h->y = mcr_alloc(h->ctx, n * (size_t)h->lanes, sizeof *h->y);
    return h->tile && h->x && h->y ? MCR_OK : MCR_NO_MEMORY;
}

void mcr_half_close(mcr_half *h)
{
    if (!h->ctx)
        return;
    mcr_free(h->ctx, h->tile);
    mcr_free(h->ctx, h->x);
    mcr_free(h->ctx, h->y);
    mcr_budget_give(h->ctx, h->taken);
    *h = (mcr_half){0};
}

/* Of any Gram. */
static mcr_status fill_tiles(mcr_half *h, mcr_gram *gram)
{
    mcr_status s = MCR_OK;
    for (int64_t r = 0; r < h->side; r++)
        for (int64_t c = r; c < h->side && !s; c++) {
            mcr_rows rows = {NULL, r * SIDE, least(h->n - r * SIDE, SIDE)};
            mcr_rows cols = {NULL, c * SIDE, least(h->n - c * SIDE, SIDE)};
            double *tile = h->tile + mcr_half_tile(h->n, r, c);
            memset(tile, 0, sizeof *tile * MCR_HALF_TILE);
            s = mcr_gram_block(gram, rows, cols, tile, LD);
        }
    return s;
}

mcr_status mcr_half_open(mcr_half *h, mcr_gram *gram, const char *what)
{
    int64_t n = mcr_gram_rows(gram), side = (n + SIDE - 1) / SIDE, lanes = side / TILES_A_LANE;
    *h = (mcr_half){.ctx = mcr_gram_context(gram), .n = n, .side = side};
    h->lanes = lanes < 1 ? 1 : least(lanes, MOST_LANES);
    mcr_status s = take_buffers(h, what);
    if (!s)
        s = mcr_gram_as_bound(gram) ? mcr_gram_bound_tiles(gram, h->tile) : fill_tiles(h, gram);
    if (s)
        mcr_half_close(h);
    return s;
}

/* ---- products ---------------------------------------------------------------------------------*/

typedef struct product {
    mcr_half *h;
    const mcr_vmath *math;
    int64_t rows; /* vectors of this turn, at most MCR_THIN */
    const double *v;
    double *av;
} product;

/* Vectors side by side, those that are missing 0. */
static mcr_status turn_chunk(void *arg, int64_t item, int worker)
{
    (void)worker;
    const product *p = arg;
    int64_t n = p->h->n, end = least((item + 1) * CHUNK, n);
    for (int64_t i = item * CHUNK; i < end; i++) {
        double *x = p->h->x + i * MCR_THIN;
        for (int64_t o = 0; o < MCR_THIN; o++)
            x[o] = o < p->rows ? p->v[o * n + i] : 0;
    }
    return MCR_OK;
}

static mcr_status run_lane(void *arg, int64_t lane, int worker)
{
    (void)worker;
    const product *p = arg;
    const mcr_half *h = p->h;
    int64_t n = h->n, at = 0;
    double *y = h->y + lane * n * MCR_THIN;
    memset(y, 0, sizeof *y * (size_t)(n * MCR_THIN));
    for (int64_t r = 0; r < h->side; r++)
        for (int64_t c = r; c < h->side; c++, at++) {
            if (at % h->lanes != lane)
                continue;
            const double *tile = h->tile + at * MCR_HALF_TILE;
            int64_t i = r * SIDE, j = c * SIDE;
            int64_t rows = least(SIDE, n - i), cols = least(SIDE, n - j);
            p->math->thin(y + i * MCR_THIN, tile, LD, 1, rows, cols, h->x + j * MCR_THIN, p->rows);
            if (r != c)
                p->math->thin(y + j * MCR_THIN, tile, 1, LD, cols, rows, h->x + i * MCR_THIN,
                              p->rows);
        }
    return MCR_OK;
}

static mcr_status sum_chunk(void *arg, int64_t item, int worker)
{
    (void)worker;
    const product *p = arg;
    int64_t n = p->h->n, end = least((item + 1) * CHUNK, n);
    for (int64_t i = item * CHUNK; i < end; i++) {
        double *sum = p->h->y + i * MCR_THIN;
        for (int64_t lane = 1; lane < p->h->lanes; lane++)
            for (int64_t o = 0; o < MCR_THIN; o++)
                sum[o] += p->h->y[(lane * n + i) * MCR_THIN + o];
        for (int64_t o = 0; o < p->rows; o++)
            p->av[o * n + i] = sum[o];
    }
    return MCR_OK;
}

mcr_status mcr_half_multiply(mcr_half *h, int64_t rows, const double *v, double *av)
{
    int64_t chunks = (h->n + CHUNK - 1) / CHUNK;
    mcr_status s = MCR_OK;
    for (int64_t first = 0; first < rows && !s; first += MCR_THIN) {
        product p = {h, mcr_tiles_best()->f64->math, least(MCR_THIN, rows - first),
                     v + first * h->n, av + first * h->n};
        s = mcr_parallel(h->ctx, chunks, turn_chunk, &p);
        if (!s)
            s = mcr_parallel(h->ctx, h->lanes, run_lane, &p);
        if (!s)
            s = mcr_parallel(h->ctx, chunks, sum_chunk, &p);
    }
    return s;
}

/* ---- centring ---------------------------------------------------------------------------------*/

typedef struct centring {
    mcr_half *h;
    const double *root, *mean;
    double centre;
} centring;

/* The tiles of one row of them. */
static mcr_status centre_row(void *arg, int64_t r, int worker)
{
    (void)worker;
    const centring *job = arg;
    mcr_half *h = job->h;
    for (int64_t c = r; c < h->side; c++) {
        double *tile = h->tile + mcr_half_tile(h->n, r, c);
        int64_t rows = least(SIDE, h->n - r * SIDE), cols = least(SIDE, h->n - c * SIDE);
        const double *root = job->root + c * SIDE, *mean = job->mean + c * SIDE;
        for (int64_t i = 0; i < rows; i++) {
            double own = job->mean[r * SIDE + i], scale = job->root[r * SIDE + i];
            for (int64_t j = 0; j < cols; j++) {
                double *k = &tile[i * LD + j];
                *k = scale * root[j] * (*k - (own + mean[j]) + job->centre);
            }
        }
    }
    return MCR_OK;
}

mcr_status mcr_half_centre(mcr_half *h, const double *root, const double *mean, double centre)
{
    centring job = {h, root, mean, centre};
    return mcr_parallel(h->ctx, h->side, centre_row, &job);
}
