/* half.c: a symmetric Gram kept as the tiles on and above its diagonal.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gram/half.h"

#include <string.h>

#include "base/threads.h"
#include "gram/bound.h"
#include "gram/stored.h"
#include "linalg/tiles.h"

enum { SIDE = MCR_HALF_SIDE, LD = MCR_HALF_LD, MOST_LANES = 16, TILES_A_LANE = 4 };

typedef struct half {
    mcr_gram base;
    int64_t side;  /* a side has so many tiles */
    int64_t lanes; /* sums that a product is made of, by n alone */
    double *tile, *diagonal;
    double *x, *y; /* n x MCR_THIN: vectors; their products, once per lane */
    bool definite; /* known to be so */
    size_t taken;  /* of the memory budget */
} half;

static const mcr_gram_type half_type;

bool mcr_gram_is_half(const mcr_gram *gram)
{
    return gram->type == &half_type;
}

/* ---- space ------------------------------------------------------------------------------------*/

static mcr_status take_buffers(half *h, const char *what)
{
    mcr *ctx = h->base.ctx;
    size_t tiles = (size_t)(h->side * (h->side + 1) / 2), n = (size_t)h->base.rows * MCR_THIN;
    size_t bytes = 0, more = n * (size_t)(h->lanes + 1) * sizeof(double);
    if (!mcr_size_mul(tiles, sizeof(double) * MCR_HALF_TILE, &bytes) || bytes > SIZE_MAX - more)
        bytes = SIZE_MAX - more;
    mcr_status s = mcr_budget_take(ctx, bytes + more, what);
    if (s)
        return s;
    h->taken = bytes + more;
    h->tile = mcr_alloc(ctx, tiles, sizeof(double) * MCR_HALF_TILE);
    h->diagonal = mcr_alloc(ctx, (size_t)h->base.rows, sizeof *h->diagonal);
    h->x = mcr_alloc(ctx, n, sizeof *h->x);
    h->y = mcr_alloc(ctx, n * (uint64_t)h->lanes, sizeof *h->y);
    return h->tile && h->diagonal && h->x && h->y ? MCR_OK : MCR_NO_MEMORY;
}

static void close_half(mcr_gram *gram)
{
    half *h = (half *)gram;
    mcr_free_all(gram->ctx, h->tile, h->diagonal, h->x, h->y);
    mcr_budget_give(gram->ctx, h->taken);
    mcr_free(gram->ctx, h);
}

/* Of any Gram. */
static mcr_status fill_tiles(const half *h, mcr_gram *of)
{
    int64_t n = h->base.rows;
    mcr_status s = MCR_OK;
    for (int64_t r = 0; r < h->side; r++)
        for (int64_t c = r; c < h->side && !s; c++) {
            mcr_rows rows = {NULL, r * SIDE, mcr_least(n - r * SIDE, SIDE)};
            mcr_rows cols = {NULL, c * SIDE, mcr_least(n - c * SIDE, SIDE)};
            double *tile = h->tile + mcr_half_tile(n, r, c);
            memset(tile, 0, sizeof *tile * MCR_HALF_TILE);
            s = mcr_gram_block(of, rows, cols, tile, LD);
        }
    return s;
}

mcr_status mcr_gram_keep_half(mcr_gram **out, mcr_gram *of, const char *what)
{
    int64_t n = of->rows, side = (n + SIDE - 1) / SIDE, lanes = side / TILES_A_LANE;
    *out = NULL;
    half *h = mcr_alloc_zero(of->ctx, 1, sizeof *h);
    if (!h)
        return MCR_NO_MEMORY;
    h->base = (mcr_gram){
        .type = &half_type, .ctx = of->ctx, .rows = n, .cols = n, .symmetric = true};
    h->side = side;
    h->lanes = lanes < 1 ? 1 : mcr_least(lanes, MOST_LANES);
    h->definite = mcr_gram_is_definite(of);
    mcr_status s = take_buffers(h, what);
    if (!s)
        s = mcr_gram_as_bound(of) ? mcr_gram_bound_tiles(of, h->tile) : fill_tiles(h, of);
    if (!s)
        s = mcr_gram_diagonal(of, 0, h->diagonal);
    if (s)
        close_half(&h->base);
    else
        *out = &h->base;
    return s;
}

/* ---- values -----------------------------------------------------------------------------------*/

static double value_at(const half *h, int64_t i, int64_t j)
{
    int64_t r = i < j ? i : j, c = i < j ? j : i;
    return h->tile[mcr_half_tile(h->base.rows, r / SIDE, c / SIDE) + r % SIDE * LD + c % SIDE];
}

static mcr_status block(mcr_gram *gram, mcr_rows x, mcr_rows z, void *k, int64_t ld, bool precise)
{
    const half *h = (const half *)gram;
    for (int64_t i = 0; i < x.count; i++)
        for (int64_t j = 0; j < z.count; j++)
            mcr_gram_put(k, i * ld + j, value_at(h, mcr_rows_at(x, i), mcr_rows_at(z, j)), precise);
    return MCR_OK;
}

static mcr_status diagonal(mcr_gram *gram, int side, double *k)
{
    (void)side; /* both are the same */
    memcpy(k, ((const half *)gram)->diagonal, sizeof *k * (size_t)gram->rows);
    return MCR_OK;
}

/* ---- products ---------------------------------------------------------------------------------*/

static mcr_status tile_of(void *self, int64_t at, mcr_rows x, mcr_rows z, int worker,
                          const double **k)
{
    (void)x;
    (void)z;
    (void)worker;
    *k = ((const half *)self)->tile + at * MCR_HALF_TILE;
    return MCR_OK;
}

static mcr_status multiply(mcr_gram *gram, const double *v, int64_t cols, double *kv)
{
    half *h = (half *)gram;
    return mcr_half_multiply(
        gram->ctx, &(mcr_half_product){gram->rows, h->lanes, h->x, h->y, tile_of, h, h->tile}, v,
        cols, kv);
}

/* ---- centring ---------------------------------------------------------------------------------*/

typedef struct centring {
    half *h;
    const double *root, *mean;
    double centre;
} centring;

/* The tiles of one row of them. */
static mcr_status centre_row(void *arg, int64_t r, int worker)
{
    (void)worker;
    const centring *job = arg;
    half *h = job->h;
    int64_t n = h->base.rows;
    for (int64_t c = r; c < h->side; c++) {
        double *tile = h->tile + mcr_half_tile(n, r, c);
        int64_t rows = mcr_least(SIDE, n - r * SIDE), cols = mcr_least(SIDE, n - c * SIDE);
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

mcr_status mcr_gram_half_centre(mcr_gram *gram, const double *root, const double *mean,
                                double centre)
{
    half *h = (half *)gram;
    centring job = {h, root, mean, centre};
    return mcr_parallel(gram->ctx, h->side, centre_row, &job);
}

static bool is_definite(const mcr_gram *gram)
{
    return ((const half *)gram)->definite;
}

static const mcr_gram_type half_type = {
    .close = close_half,
    .block = block,
    .diagonal = diagonal,
    .multiply = multiply,
    .is_definite = is_definite,
};
