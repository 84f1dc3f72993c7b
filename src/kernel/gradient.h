/* gradient.h (internal): how the values of a kernel change with its scales (kernel/scales.h).
 *
 * Learners need sums over pairs of d_ij times the derivative of K(x_i, z_j) by the logarithm of
 * each scale. They are found backwards: a combinator hands d, times its own derivative, to its
 * children, a leaf adds up what it gets. So all scales together cost about as much as a few tiles
 * of values.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_KERNEL_GRADIENT_H
#define MCR_KERNEL_GRADIENT_H

#include "kernel/kernel.h"

/* Whether all nodes that have scales, or have some below them, know their derivatives. */
bool mcr_kernel_has_gradient(const mcr_kernel *kernel);
/* slope[s] += sum of d[i*ld + j] dK(x.i, z.j) / d(log of scale s) over the tile, which says which
 * objects and has the scratch memory; its k is not used. Values are computed in double. */
mcr_status mcr_bound_gradient(const mcr_bound *bound, const mcr_tile *tile, const double *d,
                              int64_t ld, double *slope);

/* ---- for `gradient` of types ------------------------------------------------------------------*/

/* A tile of values in scratch memory, in double: of the node; of its child. */
mcr_status mcr_gradient_values(mcr_tile *out, const mcr_bound *bound, const mcr_tile *tile);
/* The same with the squared distances, or the inner products, of a leaf on vectors, as its `fused`
 * has them: of scaled vectors where it has one scale per feature. */
mcr_status mcr_gradient_distances(mcr_tile *out, const mcr_bound *bound, const mcr_tile *tile);
mcr_status mcr_gradient_products(mcr_tile *out, const mcr_bound *bound, const mcr_tile *tile);
/* For K = exp(-scale * something): the derivative is K log K. */
mcr_status mcr_gradient_exponential(const mcr_bound *bound, const mcr_tile *tile, const double *d,
                                    int64_t ld, double *slope);

/* Sums over the tile for each feature k of a leaf: sum[k] += sum of w[i*ld + j] part(x_ik - z_jk),
 * part being the square or the absolute value. */
typedef enum mcr_gradient_part { MCR_PART_SQUARE, MCR_PART_ABSOLUTE } mcr_gradient_part;
mcr_status mcr_gradient_features(const mcr_bound *bound, const mcr_tile *tile, const double *w,
                                 int64_t ld, mcr_gradient_part part, double *sum);
/* The objects of a tile's side as dense vectors, in scratch memory. */
double *mcr_gradient_vectors(const mcr_bound *bound, const mcr_tile *tile, int side);

#endif
