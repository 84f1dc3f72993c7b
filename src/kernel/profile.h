/* profile.h (internal): expressions as functions of a few numbers.
 *
 * Many kernels on vectors depend only on the inner product s = x.z, the squared distance t =
 * |x-z|^2 and the L1 distance u: K(x,z) = F(s, t, u). Then F and its derivatives show in which
 * direction a vector should move (pre-images), and whether K is positive semi-definite.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_KERNEL_PROFILE_H
#define MCR_KERNEL_PROFILE_H

#include "kernel/kernel.h"

enum { MCR_PROFILE_S = 1, MCR_PROFILE_T = 2, MCR_PROFILE_U = 4 };

/* Which of the three the expression depends on, as bits; -1: it is not such a function. All leaves
 * must read the same field, which the caller checks. */
int mcr_profile_of(const mcr_kernel *kernel);
/* Size of the workspace of mcr_profile_values for `count` pairs, in numbers. */
size_t mcr_profile_workspace(const mcr_kernel *kernel, int64_t count);
/* F and its derivatives for `count` pairs: value holds four consecutive arrays of `count`: F,
 * dF/ds, dF/dt, dF/du; at[0..2]: arrays of s, t, u, NULL if the expression does not depend on it.
 * Where F has no derivative (at distance 0) the derivative is set to 0. */
void mcr_profile_values(const mcr_kernel *kernel, int64_t count, const double *const at[3],
                        double *value, double *buffer);

/* A parameter of a node that is a single number; false: it is a list, or not given. */
bool mcr_profile_number(const mcr_kernel *node, const char *name, double *value);

#endif
