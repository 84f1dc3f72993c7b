/* words.h (internal): numbering of byte strings, and their counts as sparse vectors: the feature
 * maps of kernels on strings and graphs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_KERNEL_WORDS_H
#define MCR_KERNEL_WORDS_H

#include "kernel/keys.h"

typedef struct mcr_word {
    const char *bytes;
    int32_t length;
    int32_t object; /* where it occurs: x objects first, then z objects */
} mcr_word;

/* Sorts the words, equal ones by object, and numbers them: id[w] (sorted order) counts from 0,
 * equal words have equal numbers. By comparisons, not by hashes, so the result is the same on every
 * machine. */
mcr_status mcr_words_sort(mcr *ctx, mcr_word *word, int64_t count, int32_t *id, int64_t *distinct);

/* Feature vectors that grow list by list; the features of each list are numbered after the earlier
 * ones. */
typedef struct mcr_counts mcr_counts;
mcr_status mcr_counts_open(mcr_counts **out, mcr_bound *bound);
void mcr_counts_close(mcr_counts *counts); /* NULL allowed */
/* Adds, for every object, the count of each number in it (presence: 1 if it occurs). The keys are
 * sorted, equal ones by object. */
mcr_status mcr_counts_add_keys(mcr_counts *counts, const mcr_keys *keys, bool presence);
/* The kernel is the inner product of these vectors: ends a leaf's bind and closes the counts, even
 * on failure. */
mcr_status mcr_counts_offer(mcr_counts *counts, mcr_binding *binding);

#endif
