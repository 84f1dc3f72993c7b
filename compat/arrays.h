/* arrays.h: loops over arrays of doubles that use the vector instructions of the machine.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef COMPAT_ARRAYS_H
#define COMPAT_ARRAYS_H

/* a = exp(scale * a), to 2 units in the last place. */
void compat_exp(double *a, double scale, int n);
/* The same sum whatever calls it, in a fixed order. */
double compat_dot(const double *a, const double *b, int n);

#endif
