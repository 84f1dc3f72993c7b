/* patterns.h (internal): features that are words of a fixed length, listed object by object.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_KERNEL_PATTERNS_H
#define MCR_KERNEL_PATTERNS_H

#include "kernel/explicit.h"

typedef struct mcr_patterns {
    mcr_bound *bound;
    int64_t width; /* bytes per word */
    /* Writes the name of a word into names->text. */
    void (*name)(mcr_names *names, const unsigned char *word, int64_t width);
    int64_t count;
    unsigned char *bytes; /* count x width */
    int32_t *object;
    double *value;
    int64_t capacity[3];
} mcr_patterns;

/* MCR_OVER_BUDGET if adding so many words, after so many steps to find them, and sorting them takes
 * more time than the limit for work allows. */
mcr_status mcr_patterns_expect(const mcr_patterns *p, double words, double steps);
/* Adds value to the feature `word` of an object (x objects first, then z objects). MCR_OVER_BUDGET
 * if there are too many features. */
mcr_status mcr_patterns_add(mcr_patterns *p, int64_t object, const unsigned char *word,
                            double value);
/* Ends a leaf's bind for explicit features: equal words become one feature, in sorted order. */
mcr_status mcr_patterns_offer(const mcr_patterns *p, mcr_binding *binding);
void mcr_patterns_free(mcr_patterns *p);

#endif
