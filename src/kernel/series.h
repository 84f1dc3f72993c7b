/* series.h (internal): is it a kernel, by the power series or the transform of a function?
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_KERNEL_SERIES_H
#define MCR_KERNEL_SERIES_H

#include "kernel/kernel.h"

/* For expressions whose leaves all read the same field of vectors.
 *
 * Functions of the inner product, f(x.z) = sum a_n (x.z)^n: PSD if all a_n >= 0 (Schoenberg, 1942),
 * not PSD on vectors of any number of features if one is below 0, as the n-th derivative by x and
 * by z of a kernel on a line is a kernel, whose value at 0 is (n!)^2 a_n.
 *
 * Sums of rbf and matern kernels and numbers, each with its factor: PSD if equal ones have factors
 * whose sum is not negative; not PSD if the transform on a line is negative somewhere (Bochner).
 *
 * MCR_DEFINITE_UNKNOWN: neither decides. *rule: why. */
mcr_definite mcr_series_decide(const mcr_kernel *kernel, const char **rule);

#endif
