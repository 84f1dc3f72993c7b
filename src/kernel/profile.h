/* profile.h (internal): expressions as functions of a few numbers.
 *
 * Many kernels on vectors are functions of the inner product s = x.z, of the squared distance
 * t = |x-z|^2 and of the sum of absolute differences u alone: K(x,z) = F(s, t, u). Where that is
 * so, F and its derivatives show where a vector should move (pre-images), and whether K is a
 * kernel.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_KERNEL_PROFILE_H
#define MCR_KERNEL_PROFILE_H

#include "kernel/kernel.h"

enum { MCR_PROFILE_S = 1, MCR_PROFILE_T = 2, MCR_PROFILE_U = 4 };

/* Which of the three the expression depends on, as bits; -1: it is no such function, or depends on
 * something else. Leaves must read the same field, which the caller checks. */
int mcr_profile_of(const mcr_kernel *kernel);
/* Numbers that mcr_profile_values needs as workspace for `count` pairs. */
size_t mcr_profile_workspace(const mcr_kernel *kernel, int64_t count);
/* F and its derivatives for `count` pairs: value holds four arrays of `count` one after the other:
 * F, dF/ds, dF/dt, dF/du; at[0..2]: arrays of s, t, u, NULL where the expression has none. Where F
 * has no derivative (a distance of 0) it is 0. */
void mcr_profile_values(const mcr_kernel *kernel, int64_t count, const double *const at[3],
                        double *value, double *buffer);

/* A parameter of a node that is one number; false: it is a list, or not given. */
bool mcr_profile_number(const mcr_kernel *node, const char *name, double *value);

#endif
