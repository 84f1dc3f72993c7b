/* substrings.c: counts of substrings as feature vectors.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kernel/substrings.h"

#include "kernel/keys.h"
#include "kernel/words.h"

static mcr_status add_length(mcr_counts *counts, mcr_bound *bound, int64_t length, bool presence)
{
    mcr_keys keys, other = {0};
    mcr_status s = mcr_keys_of_substrings(&keys, bound, length);
    if (!s)
        s = mcr_keys_alloc(&other, bound->ctx, keys.count);
    if (!s) {
        mcr_keys_sort(&keys, &other);
        s = mcr_counts_add_keys(counts, &keys, presence);
    }
    mcr_keys_free(bound->ctx, &keys);
    mcr_keys_free(bound->ctx, &other);
    return s;
}

mcr_status mcr_substrings_bind(mcr_bound *bound, mcr_binding *binding, int64_t shortest,
                               int64_t longest, bool presence)
{
    mcr_counts *counts = NULL;
    mcr_status s = mcr_counts_open(&counts, bound);
    for (int64_t length = shortest; length <= longest && !s; length++)
        s = add_length(counts, bound, length, presence);
    if (s) {
        mcr_counts_close(counts);
        return s;
    }
    return mcr_counts_offer(counts, binding);
}
