/* sum.h (internal): compensated summation (Neumaier 1974).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_BASE_SUM_H
#define MCR_BASE_SUM_H

/* Adds the term to *sum + *rest, up to an error of second order. */
static inline void mcr_add_exactly(double *sum, double *rest, double term)
{
    double next = *sum + term, back = next - *sum;
    *rest += (*sum - (next - back)) + (term - back);
    *sum = next;
}

#endif
