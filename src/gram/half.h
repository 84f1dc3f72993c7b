/* half.h (internal to src/gram): a symmetric Gram kept as the tiles on and above its diagonal.
 *
 * It takes half the memory, and a product reads half as much: each tile is used twice, as it is and
 * transposed, while it is in the cache. This is sufficient for solvers that only multiply by K.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_GRAM_HALF_H
#define MCR_GRAM_HALF_H

#include "gram/gram.h"

/* Rows and columns of a tile; the stride of its rows: an odd number of cache lines, so that the
 * entries of a column map to different sets of the first-level cache. */
enum { MCR_HALF_SIDE = 192, MCR_HALF_LD = 200, MCR_HALF_TILE = MCR_HALF_SIDE * MCR_HALF_LD };

/* Where tile (row, col), row <= col, begins. */
static inline int64_t mcr_half_tile(int64_t n, int64_t row, int64_t col)
{
    int64_t side = (n + MCR_HALF_SIDE - 1) / MCR_HALF_SIDE;
    return (row * side - row * (row - 1) / 2 + col - row) * MCR_HALF_TILE;
}

/* Whether it is one (mcr_gram_keep_half). */
bool mcr_gram_is_half(const mcr_gram *gram);
/* K_ij becomes root_i root_j (K_ij - mean_i - mean_j + centre). */
mcr_status mcr_gram_half_centre(mcr_gram *half, const double *root, const double *mean,
                                double centre);

/* Products of a symmetric matrix given by these tiles, which are stored or computed. */
typedef struct mcr_half_product {
    int64_t n, lanes; /* lanes: sums that a product is made of, by n alone */
    double *x, *y;    /* n x MCR_THIN: vectors; their products, once per lane */
    /* The tile of number `at`, of these rows and columns; valid until the worker's next. */
    mcr_status (*tile)(void *self, int64_t at, mcr_rows x, mcr_rows z, int worker,
                       const double **k);
    void *self;
    const double *kept; /* the first stored tile; NULL: tiles are computed */
} mcr_half_product;
/* kv = K v, both n x cols; the same bits for any number of threads. */
mcr_status mcr_half_multiply(mcr *ctx, const mcr_half_product *with, const double *v, int64_t cols,
                             double *kv);

#endif
