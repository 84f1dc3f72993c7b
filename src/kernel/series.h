/* series.h (internal): decides positive semi-definiteness by the power series or the Fourier
 * transform of a function.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_KERNEL_SERIES_H
#define MCR_KERNEL_SERIES_H

#include "kernel/kernel.h"

/* For expressions whose leaves all read the same field of vectors.
 *
 * Functions of the inner product, f(x.z) = sum a_n (x.z)^n: PSD if all a_n >= 0 (Schoenberg, 1942),
 * not PSD for any number of features if some a_n < 0, because the n-th derivative by x and by z of
 * a kernel on a line is a kernel, and its value at 0 is (n!)^2 a_n.
 *
 * Linear combinations of rbf and matern kernels and constants: PSD if the factors of equal kernels
 * have a nonnegative sum; not PSD if the Fourier transform on a line is negative somewhere
 * (Bochner).
 *
 * MCR_DEFINITE_UNKNOWN: neither criterion decides. *rule: the reason. */
mcr_definite mcr_series_decide(const mcr_kernel *kernel, const char **rule);

#endif
