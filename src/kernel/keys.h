/* keys.h (internal): substrings as integer keys, and sorting of keys.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_KERNEL_KEYS_H
#define MCR_KERNEL_KEYS_H

#include "kernel/kernel.h"

/* Keys, each with its object. */
typedef struct mcr_keys {
    int64_t count;
    uint64_t *key;
    int32_t *object;
    int bits; /* bits of the largest key */
} mcr_keys;

mcr_status mcr_keys_alloc(mcr_keys *out, mcr *ctx, int64_t count);
void mcr_keys_free(mcr *ctx, mcr_keys *keys);
/* Stable sort by key. other: a buffer of the same size; its contents are lost and the two may be
 * swapped. Radix sort: the time is proportional to count and bits. */
void mcr_keys_sort(mcr_keys *keys, mcr_keys *other);

/* The bytes that occur in a leaf's strings, on both sides, numbered from 0 in ascending order. */
typedef struct mcr_alphabet {
    int count, bits; /* bits per number, at least 1 */
    unsigned char number[256];
    bool seen[256];
} mcr_alphabet;
mcr_alphabet mcr_alphabet_of(const mcr_bound *bound);

/* One key for each substring of `length` bytes, in the order of objects (x's first, then z's) and
 * positions: substrings are equal if and only if their keys are. Shorter strings have none. first:
 * the index of each object's first substring, and their number; the caller frees it (NULL: not
 * wanted). */
mcr_status mcr_keys_of_substrings(mcr_keys *out, const mcr_bound *bound, int64_t length,
                                  int64_t **first);
/* How many there are. */
int64_t mcr_keys_count_substrings(const mcr_bound *bound, int64_t length);

/* The number of objects on both sides; fails if it does not fit the integer type. */
mcr_status mcr_keys_objects(int64_t *out, const mcr_bound *bound);

#endif
