/* substrings.c: counts of substrings as feature vectors.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kernel/substrings.h"

#include "kernel/explicit.h"
#include "kernel/keys.h"
#include "kernel/words.h"

/* Names the distinct substrings in the order of their keys. */
static mcr_status name_length(mcr_bound *bound, int64_t length)
{
    mcr *ctx = bound->ctx;
    mcr_keys keys, other = {0};
    int64_t *first = NULL;
    mcr_status s = mcr_keys_of_substrings(&keys, bound, length, &first);
    int32_t *owner = s ? NULL : mcr_alloc(ctx, (size_t)keys.count, sizeof *owner);
    if (!s)
        s = owner ? mcr_keys_alloc(&other, ctx, keys.count) : MCR_NO_MEMORY;
    for (int64_t i = 0; i < keys.count && !s; i++) {
        owner[i] = keys.object[i];
        keys.object[i] = (int32_t)i; /* no more substrings than that have keys */
    }
    if (!s)
        mcr_keys_sort(&keys, &other);
    for (int64_t i = 0; i < keys.count && !s; i++) {
        if (i > 0 && keys.key[i] == keys.key[i - 1])
            continue;
        int64_t at = keys.object[i], object = owner[at], of_x = bound->field[0].count;
        const mcr_field *f = &bound->field[object >= of_x];
        int64_t r = mcr_field_at(f, object >= of_x ? object - of_x : object);
        mcr_names_bytes(bound->names, f->store->bytes + f->store->start[r] + at - first[object],
                        length);
        s = mcr_names_end(bound->names);
    }
    mcr_free_all(ctx, owner, first);
    mcr_keys_free(ctx, &keys);
    mcr_keys_free(ctx, &other);
    return s;
}

static mcr_status add_length(mcr_counts *counts, mcr_bound *bound, int64_t length, bool presence)
{
    mcr_keys keys, other = {0};
    mcr_status s = mcr_keys_of_substrings(&keys, bound, length, NULL);
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
    if (!s && binding->named)
        s = mcr_names_open(&bound->names, bound->ctx);
    for (int64_t length = shortest; length <= longest && !s; length++) {
        s = add_length(counts, bound, length, presence);
        if (!s && binding->named)
            s = name_length(bound, length);
    }
    if (s) {
        mcr_counts_close(counts);
        return s;
    }
    return mcr_counts_offer(counts, binding);
}
