/* gradient.h (internal): how the values of a kernel change with its scales (kernel/scales.h).
 *
 * Learners need sums over pairs of d_ij times the derivative of K(x_i, z_j) by the logarithm of
 * each scale. They are found by backpropagation: a combinator passes d, times its own derivative,
 * to its children, and a leaf sums what it receives. So all scales together cost about as much as a
 * few tiles of values.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_KERNEL_GRADIENT_H
#define MCR_KERNEL_GRADIENT_H

#include "kernel/kernel.h"

/* Whether all nodes with scales, or with scales below them, have derivatives. */
bool mcr_kernel_has_gradient(const mcr_kernel *kernel);
/* slope[s] += sum of d[i*ld + j] dK(x.i, z.j) / d(log of scale s) over the tile, which gives the
 * objects and the scratch memory; its k is not used. Values are computed in double. */
mcr_status mcr_bound_gradient(const mcr_bound *bound, const mcr_tile *tile, const double *d,
                              int64_t ld, double *slope);

/* ---- for `gradient` of types ------------------------------------------------------------------*/

/* A tile of values in scratch memory, in double: of the node, or of its child. */
mcr_status mcr_gradient_values(mcr_tile *out, const mcr_bound *bound, const mcr_tile *tile);
/* The same for the squared distances, or inner products, of a leaf on vectors, as in its `fused`:
 * of scaled vectors if it has one scale per feature. */
mcr_status mcr_gradient_distances(mcr_tile *out, const mcr_bound *bound, const mcr_tile *tile);
mcr_status mcr_gradient_products(mcr_tile *out, const mcr_bound *bound, const mcr_tile *tile);
/* For K = exp(-scale * t): the derivative is K log K. */
mcr_status mcr_gradient_exponential(const mcr_bound *bound, const mcr_tile *tile, const double *d,
                                    int64_t ld, double *slope);
/* For K = exp(-sum_k gamma_k part(x_k - z_k)), where part is the square or the absolute value: the
 * derivative is -gamma_k part(x_k - z_k) K. With one gamma for all features, use the function
 * above. */
typedef enum mcr_gradient_part { MCR_PART_SQUARE, MCR_PART_ABSOLUTE } mcr_gradient_part;
mcr_status mcr_gradient_exponents(const mcr_bound *bound, const mcr_tile *tile, const double *d,
                                  int64_t ld, const mcr_reals *gamma, mcr_gradient_part part,
                                  double *slope);
/* For a function of sum_k ((x_k - z_k) / length_k)^2: slope[k] += the sum over the tile of
 * w_ij ((x_ik - z_jk) / length_k)^2. */
mcr_status mcr_gradient_lengths(const mcr_bound *bound, const mcr_tile *tile, const mcr_tile *w,
                                const mcr_reals *length, double *slope);
/* The objects of one side of a tile as dense vectors, in scratch memory. */
double *mcr_gradient_vectors(const mcr_bound *bound, const mcr_tile *tile, int side);

#endif
