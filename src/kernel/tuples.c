/* tuples.c: a set of tuples of 32-bit numbers: open addressing, at most half full.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kernel/tuples.h"

#include <string.h>

#include "base/hash.h"

typedef struct place {
    int64_t begin; /* in words */
    uint32_t hash;
    int32_t length;
} place;

struct mcr_tuples {
    mcr *ctx;
    uint32_t *words; /* all tuples, one behind the other */
    int64_t used, words_capacity;
    place *place;
    int64_t count, capacity;
    uint32_t *slot; /* number + 1; 0: free */
    uint32_t mask;  /* slots - 1, a power of two */
};

enum { FIRST_SLOTS = 256 };

mcr_status mcr_tuples_open(mcr_tuples **out, mcr *ctx)
{
    *out = NULL;
    mcr_tuples *t = mcr_alloc_zero(ctx, 1, sizeof *t);
    if (!t)
        return MCR_NO_MEMORY;
    t->ctx = ctx;
    t->slot = mcr_alloc_zero(ctx, FIRST_SLOTS, sizeof *t->slot);
    if (!t->slot) {
        mcr_tuples_close(t);
        return MCR_NO_MEMORY;
    }
    t->mask = FIRST_SLOTS - 1;
    *out = t;
    return MCR_OK;
}

void mcr_tuples_close(mcr_tuples *t)
{
    if (!t)
        return;
    mcr_free_all(t->ctx, t->words, t->place, t->slot, t);
}

static uint32_t hash_of(const mcr_tuples *t, const uint32_t *tuple, int64_t length)
{
    uint64_t h = (uint64_t)length;
    for (int64_t i = 0; i < length; i++)
        h = mcr_hash_word(t->ctx, h, tuple[i]);
    return (uint32_t)h;
}

static void place_all(mcr_tuples *t)
{
    for (int64_t i = 0; i < t->count; i++) {
        uint32_t at = t->place[i].hash & t->mask;
        while (t->slot[at])
            at = (at + 1) & t->mask;
        t->slot[at] = (uint32_t)i + 1;
    }
}

static mcr_status widen(mcr_tuples *t)
{
    size_t slots = ((size_t)t->mask + 1) * 4;
    if (slots > (size_t)1 << 32)
        return mcr_fail(t->ctx, MCR_BAD_DATA, "more than %d features", INT32_MAX);
    uint32_t *wider = mcr_alloc_zero(t->ctx, slots, sizeof *wider);
    if (!wider)
        return MCR_NO_MEMORY;
    mcr_free(t->ctx, t->slot);
    t->slot = wider;
    t->mask = (uint32_t)(slots - 1);
    place_all(t);
    return MCR_OK;
}

static mcr_status add(mcr_tuples *t, uint32_t at, uint32_t hash, const uint32_t *tuple,
                      int64_t length)
{
    mcr_status s = mcr_reserve(t->ctx, &t->place, &t->capacity, t->count + 1, sizeof *t->place);
    if (!s)
        s = mcr_reserve(t->ctx, &t->words, &t->words_capacity, t->used + length, sizeof *t->words);
    if (s)
        return s;
    if (length > 0)
        memcpy(t->words + t->used, tuple, (size_t)length * sizeof *tuple);
    t->place[t->count++] = (place){t->used, hash, (int32_t)length};
    t->used += length;
    t->slot[at] = (uint32_t)t->count;
    return t->count > (int64_t)(t->mask / 2) ? widen(t) : MCR_OK;
}

static bool equal(const mcr_tuples *t, const place *p, const uint32_t *tuple, int64_t length)
{
    if (p->length != length)
        return false;
    for (int64_t i = 0; i < length; i++)
        if (t->words[p->begin + i] != tuple[i])
            return false;
    return true;
}

mcr_status mcr_tuples_number(int32_t *number, mcr_tuples *t, const uint32_t *tuple, int64_t length)
{
    uint32_t hash = hash_of(t, tuple, length), at = hash & t->mask;
    while (t->slot[at]) {
        uint32_t i = t->slot[at] - 1;
        if (t->place[i].hash == hash && equal(t, &t->place[i], tuple, length)) {
            *number = (int32_t)i;
            return MCR_OK;
        }
        at = (at + 1) & t->mask;
    }
    *number = (int32_t)t->count;
    return add(t, at, hash, tuple, length);
}

int64_t mcr_tuples_count(const mcr_tuples *t)
{
    return t->count;
}

const uint32_t *mcr_tuples_at(const mcr_tuples *t, int64_t number, int64_t *length)
{
    *length = t->place[number].length;
    return t->words + t->place[number].begin;
}

void mcr_tuples_clear(mcr_tuples *t)
{
    memset(t->slot, 0, ((size_t)t->mask + 1) * sizeof *t->slot);
    t->count = t->used = 0;
}
