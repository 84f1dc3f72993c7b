/* order.c: comparisons for qsort.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/order.h"

#define COMPARE(T)                                                                                 \
    T x = *(const T *)a, y = *(const T *)b;                                                        \
    return (x > y) - (x < y)

int mcr_reals_rising(const void *a, const void *b)
{
    COMPARE(double);
}

int mcr_reals_falling(const void *a, const void *b)
{
    return mcr_reals_rising(b, a);
}

int mcr_int32_rising(const void *a, const void *b)
{
    COMPARE(int32_t);
}

int mcr_int64_rising(const void *a, const void *b)
{
    COMPARE(int64_t);
}

int mcr_uint64_rising(const void *a, const void *b)
{
    COMPARE(uint64_t);
}

int mcr_ranked_rising(const void *a, const void *b)
{
    const mcr_ranked *x = a, *y = b;
    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    return mcr_int64_rising(&x->number, &y->number);
}

int mcr_ranked_falling(const void *a, const void *b)
{
    const mcr_ranked *x = a, *y = b;
    if (x->value != y->value)
        return x->value < y->value ? 1 : -1;
    return mcr_int64_rising(&x->number, &y->number);
}
