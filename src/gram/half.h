/* half.h (internal): a symmetric matrix of kernel values as the tiles on and above its diagonal.
 *
 * Half the memory, and half of what a product has to read: each tile is used twice, as it is and
 * transposed, while it is in the cache. Solvers that only multiply by K need no more.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_GRAM_HALF_H
#define MCR_GRAM_HALF_H

#include "gram/gram.h"

/* Rows and columns of a tile; how far apart its rows lie: an odd number of cache lines, so that a
 * column of it does not meet itself in the first cache. */
enum { MCR_HALF_SIDE = 192, MCR_HALF_LD = 200, MCR_HALF_TILE = MCR_HALF_SIDE * MCR_HALF_LD };

/* Where tile (row, col), row <= col, begins. */
static inline int64_t mcr_half_tile(int64_t n, int64_t row, int64_t col)
{
    int64_t side = (n + MCR_HALF_SIDE - 1) / MCR_HALF_SIDE;
    return (row * side - row * (row - 1) / 2 + col - row) * MCR_HALF_TILE;
}

typedef struct mcr_half {
    mcr *ctx;
    int64_t n, side; /* a side has so many tiles */
    int64_t lanes;   /* sums that a product is made of, by n alone */
    double *tile;    /* NULL: closed */
    double *x, *y;   /* n x MCR_THIN: vectors; their products, once per lane */
    size_t taken;    /* of the memory budget */
} mcr_half;

/* K of a symmetric Gram, and space for products, within the memory budget; what: for the message
 * where that is too small. */
mcr_status mcr_half_open(mcr_half *half, mcr_gram *gram, const char *what);
void mcr_half_close(mcr_half *half); /* also when it was not opened, if it is zero */
/* av = v K for `rows` rows of n. The same bits for any number of threads. */
mcr_status mcr_half_multiply(mcr_half *half, int64_t rows, const double *v, double *av);
/* K_ij becomes root_i root_j (K_ij - mean_i - mean_j + centre). */
mcr_status mcr_half_centre(mcr_half *half, const double *root, const double *mean, double centre);

#endif
