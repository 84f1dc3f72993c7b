/* order.h (internal): comparisons for qsort.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_BASE_ORDER_H
#define MCR_BASE_ORDER_H

#include <stdint.h>

/* Compare numbers, or structs that begin with one. */
int mcr_reals_rising(const void *a, const void *b);
int mcr_reals_falling(const void *a, const void *b);
int mcr_int32_rising(const void *a, const void *b);
int mcr_int64_rising(const void *a, const void *b);
int mcr_uint64_rising(const void *a, const void *b);

/* Compare these, or structs that begin like them; equal values are ordered by number. */
typedef struct mcr_ranked {
    double value;
    int64_t number;
} mcr_ranked;
int mcr_ranked_rising(const void *a, const void *b);
int mcr_ranked_falling(const void *a, const void *b);

#endif
