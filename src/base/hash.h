/* hash.h (internal): hashes for tables of what files contain.
 *
 * They depend on numbers that are drawn when the context is opened. With a hash that is known, a
 * file could be made whose words all belong into one slot, and reading it would take time with the
 * square of its size. No result depends on them: what is found is numbered by first appearance.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_BASE_HASH_H
#define MCR_BASE_HASH_H

#include <string.h>

#include "base/context.h"
#include "base/powers.h"

/* The hash of two more words after those before; 0 in the beginning. */
static inline uint64_t mcr_hash_words(const mcr *ctx, uint64_t hash, uint64_t a, uint64_t b)
{
    mcr_uint128 product = (mcr_uint128)(hash ^ a ^ ctx->hash_key[0]) * (b ^ ctx->hash_key[1]);
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t mcr_hash_word(const mcr *ctx, uint64_t hash, uint64_t word)
{
    return mcr_hash_words(ctx, hash, word, 0);
}

/* A number as a word; -0 and 0 are the same. */
static inline uint64_t mcr_real_bits(double value)
{
    uint64_t bits;
    value += 0.0;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline uint64_t mcr_hash_bytes(const mcr *ctx, uint64_t hash, const void *bytes,
                                      size_t count)
{
    uint64_t word[2];
    for (size_t at = 0; at < count; at += sizeof word) {
        size_t left = count - at;
        if (left < sizeof word)
            word[0] = word[1] = 0;
        memcpy(word, (const char *)bytes + at, left < sizeof word ? left : sizeof word);
        hash = mcr_hash_words(ctx, hash, word[0], word[1]);
    }
    return mcr_hash_word(ctx, hash, count);
}

#endif
