/* vectors.h (internal): what kernels on vectors share: dot products and distances by tiles.
 *
 * All vector leaves of an expression that read the same field use one mcr_vectors object: the field
 * is packed once, and a tile's dot products are computed once and then mapped by each leaf. When one
 * leaf is alone, its map is fused with the product where linalg/tiles has it.
 *
 * Accurate distances: dense vectors are shifted by their mean before packing, so that points far
 * from the origin lose no digits (the dot product x.z is recovered by rank-one terms when a leaf
 * needs both). Where the rounding bound of |x|^2 + |z|^2 - 2 x.z would still show in the kernel
 * value, pairs that cancel are computed again from the differences.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_KERNEL_VECTORS_H
#define MCR_KERNEL_VECTORS_H

#include "kernel/kernel.h"

typedef struct mcr_vectors mcr_vectors;

enum { MCR_NEEDS_DOT = 1, MCR_NEEDS_DISTANCE = 2, MCR_NEEDS_PAIR = 4 };

/* Called by a leaf's bind: joins the shared object for its field and per-feature scale (NULL: all 1;
 * copied), telling what it will ask for. sharpness: largest factor by which an error in a squared
 * distance shows in the kernel value (gamma for rbf); 0 with MCR_NEEDS_DOT. */
mcr_status mcr_vectors_join(mcr_vectors **out, mcr_bound *bound, mcr_binding *binding, int needs,
                            const double *scale, double sharpness);

/* Fills the tile: x.z; |x-z|^2 (never negative, exactly 0 for equal rows of one symmetric Gram). */
mcr_status mcr_vectors_dot(const mcr_vectors *v, const mcr_tile *tile);
mcr_status mcr_vectors_distance2(const mcr_vectors *v, const mcr_tile *tile);
/* exp(-gamma |x-z|^2), fused when this leaf is alone. */
mcr_status mcr_vectors_rbf(const mcr_vectors *v, const mcr_tile *tile, double gamma);
/* Sums over the features of |x-z|, (x-z)^2/(x+z), min(x,z), sin^2(pi (x-z)/period). */
typedef enum { MCR_PAIR_L1, MCR_PAIR_CHI2, MCR_PAIR_MIN, MCR_PAIR_SIN2 } mcr_pair_sum;
mcr_status mcr_vectors_pairs(const mcr_vectors *v, const mcr_tile *tile, mcr_pair_sum sum,
                             double period);
/* |x|^2 of one object, unshifted, scaled. */
double mcr_vectors_norm2(const mcr_vectors *v, int side, int64_t i);
int64_t mcr_vectors_cols(const mcr_vectors *v);
/* Smallest value on both sides (0 included for sparse rows): chi2 and intersection refuse < 0. */
double mcr_vectors_smallest(const mcr_vectors *v, int64_t *object, int64_t *feature);

/* For bind.c. */
mcr_status mcr_vectors_prepare(mcr_vectors *list, bool precise);
void mcr_vectors_free(mcr_vectors *list);
/* Fused accumulate for a binding whose only leaf is `rbf` or `linear` on v; see
 * mcr_binding_accumulate. */
typedef struct mcr_fused {
    const mcr_vectors *v;
    int op; /* of linalg/tiles: dot, rbf, poly */
    double gamma, scale, c;
    int degree;
} mcr_fused;
mcr_status mcr_vectors_accumulate(const mcr_fused *fused, const mcr_tile *tile, void *const *row,
                                  const double *coef, double *f);

#endif
