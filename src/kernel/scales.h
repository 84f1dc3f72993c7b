/* scales.h (internal): the scales of an expression as a list of numbers, for learners that look for
 * better ones.
 *
 * A scale is a parameter that may be any positive number and is one: widths, lengths, periods, one
 * for each feature where a list is given, factors. Not what has another limit (nu of matern, lambda
 * of ssk), nor 0. They stand in the order of the expression.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_KERNEL_SCALES_H
#define MCR_KERNEL_SCALES_H

#include "kernel/kernel.h"

/* How many there are; value (may be NULL) gets them. */
int64_t mcr_kernel_scales(const mcr_kernel *kernel, double *value);
/* Which parameters of their kernels they are. */
void mcr_kernel_scale_params(const mcr_kernel *kernel, const mcr_param **param);
/* The same expression with other scales, as many, all positive and finite. */
mcr_status mcr_kernel_rescaled(mcr_kernel **out, const mcr_kernel *kernel, const double *value);

#endif
