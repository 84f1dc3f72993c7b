/* scales.h (internal): the scales of an expression as a list of numbers, for learners that optimise
 * them.
 *
 * A scale is a parameter whose value may be, and is, any positive number: widths, lengths, periods
 * (one per feature if a list is given), factors. Parameters with other limits (nu of matern, lambda
 * of ssk) are not scales, nor is a value of 0. They are in the order of the expression.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_KERNEL_SCALES_H
#define MCR_KERNEL_SCALES_H

#include "kernel/kernel.h"

/* The number of scales; value (may be NULL) gets them. */
int64_t mcr_kernel_scales(const mcr_kernel *kernel, double *value);
/* The parameters that they belong to. */
void mcr_kernel_scale_params(const mcr_kernel *kernel, const mcr_param **param);
/* The same expression with other scales, the same number, all positive and finite. */
mcr_status mcr_kernel_rescaled(mcr_kernel **out, const mcr_kernel *kernel, const double *value);

#endif
