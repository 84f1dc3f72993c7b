/* sum.h (internal): sums whose rounding errors are collected (Neumaier 1974).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_BASE_SUM_H
#define MCR_BASE_SUM_H

/* *sum + *rest grows by the term, but for an error of second order. */
static inline void mcr_add_exactly(double *sum, double *rest, double term)
{
    double next = *sum + term, back = next - *sum;
    *rest += (*sum - (next - back)) + (term - back);
    *sum = next;
}

#endif
