/* slope.h (internal): how sums over K change with the scales of the kernel.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_GRAM_SLOPE_H
#define MCR_GRAM_SLOPE_H

#include "gram/gram.h"

/* Row i of a symmetric matrix D, from column i on: d[0] is D_ii. Called from several threads. */
typedef void mcr_slope_row(const void *arg, int64_t i, double *d);

/* slope[s] += the sum over i <= j of D_ij times the derivative of K_ij by the logarithm of scale s
 * (kernel/scales.h), for the Gram of one data set and a kernel that has a gradient
 * (mcr_kernel_has_gradient). The same bits for any number of threads. */
mcr_status mcr_gram_slope(mcr_gram *gram, mcr_slope_row *row, const void *arg, double *slope);
/* The same over all pairs of a Gram of two data sets; row i of D is d + i ld. */
mcr_status mcr_gram_slope_pairs(mcr_gram *gram, const double *d, int64_t ld, double *slope);
/* The same over the diagonal of the Gram of one data set alone. */
mcr_status mcr_gram_slope_diagonal(mcr_gram *gram, const double *d, double *slope);

#endif
