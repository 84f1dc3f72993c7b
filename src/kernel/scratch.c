/* scratch.c: a worker's temporary memory: a stack of blocks, and space for shared products.
 *
 * Memory is taken from chunks in order and released as on a stack. If a chunk is too small, a new
 * one of at least twice the size is opened; chunks are kept, so that nothing is allocated after the
 * first few tiles.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kernel/scratch.h"

#include <assert.h>
#include <string.h>

enum { ALIGN = 64, FIRST_CHUNK = 1 << 18 };

/* A mark is the total size of all chunks before the current one plus the bytes used in it. */
typedef struct chunk {
    char *bytes;
    size_t size, before;
} chunk;

struct mcr_scratch {
    mcr *ctx;
    chunk *chunk;
    int64_t chunks, capacity;
    int64_t current;
    size_t used; /* of the current chunk */
    int slots;
    char *slot; /* spaces for shared products, contiguous */
    bool *valid;
    mcr_tile tile; /* the tile that the shared products belong to */
};

static const size_t slot_bytes = sizeof(double) * MCR_TILE_ROWS * MCR_TILE_COLS;

mcr_status mcr_scratch_open(mcr_scratch **out, const mcr_binding *binding)
{
    *out = NULL;
    mcr_scratch *s = mcr_alloc_zero(binding->ctx, 1, sizeof *s);
    if (s == NULL)
        return MCR_NO_MEMORY;
    s->ctx = binding->ctx;
    s->slots = binding->shared_slots;
    if (s->slots > 0) {
        s->slot = mcr_alloc(s->ctx, (size_t)s->slots, slot_bytes);
        s->valid = mcr_alloc_zero(s->ctx, (size_t)s->slots, sizeof *s->valid);
        if (s->slot == NULL || s->valid == NULL) {
            mcr_scratch_close(s);
            return MCR_NO_MEMORY;
        }
    }
    *out = s;
    return MCR_OK;
}

void mcr_scratch_close(mcr_scratch *s)
{
    if (s == NULL)
        return;
    for (int64_t i = 0; i < s->chunks; i++)
        mcr_free(s->ctx, s->chunk[i].bytes);
    mcr_free_all(s->ctx, s->chunk, s->slot, s->valid, s);
}

void *mcr_scratch_slot(mcr_scratch *s, int slot, bool **valid)
{
    assert(slot >= 0 && slot < s->slots);
    *valid = &s->valid[slot];
    return s->slot + (size_t)slot * slot_bytes;
}

void mcr_scratch_forget(mcr_scratch *s)
{
    if (s->slots > 0)
        memset(s->valid, 0, (size_t)s->slots * sizeof *s->valid);
    s->tile = (mcr_tile){.precise = -1};
}

static bool same_rows(mcr_rows a, mcr_rows b)
{
    return a.index == b.index && a.first == b.first && a.count == b.count;
}

void mcr_scratch_expect(mcr_scratch *s, const mcr_tile *tile)
{
    if (same_rows(s->tile.x, tile->x) && same_rows(s->tile.z, tile->z) &&
        s->tile.precise == tile->precise)
        return;
    mcr_scratch_forget(s);
    s->tile = *tile;
}

size_t mcr_scratch_mark(const mcr_scratch *s)
{
    return s->chunks == 0 ? 0 : s->chunk[s->current].before + s->used;
}

void mcr_scratch_release(mcr_scratch *s, size_t mark)
{
    assert(mark <= mcr_scratch_mark(s));
    if (s->chunks == 0)
        return;
    while (s->chunk[s->current].before > mark)
        s->current--;
    s->used = mark - s->chunk[s->current].before;
}

static mcr_status add_chunk(mcr_scratch *s, size_t bytes)
{
    size_t before = 0, size = FIRST_CHUNK;
    if (s->chunks > 0) {
        const chunk *last = &s->chunk[s->chunks - 1];
        before = last->before + last->size;
        size = 2 * last->size;
    }
    if (size < bytes)
        size = bytes;
    mcr_status status = mcr_reserve(s->ctx, &s->chunk, &s->capacity, s->chunks + 1, sizeof(chunk));
    if (status != MCR_OK)
        return status;
    char *made = mcr_alloc(s->ctx, size, 1);
    if (made == NULL)
        return MCR_NO_MEMORY;
    s->chunk[s->chunks++] = (chunk){made, size, before};
    return MCR_OK;
}

void *mcr_scratch_take(mcr_scratch *s, size_t bytes)
{
    size_t rounded;
    if (!mcr_size_add(bytes, ALIGN - 1, &rounded)) {
        mcr_fail(s->ctx, MCR_NO_MEMORY, "out of memory: %zu bytes of scratch", bytes);
        return NULL;
    }
    rounded -= rounded % ALIGN;
    int64_t place = s->current;
    size_t used = s->used;
    while (place < s->chunks && s->chunk[place].size - used < rounded) {
        place++;
        used = 0;
    }
    if (place == s->chunks && add_chunk(s, rounded) != MCR_OK)
        return NULL;
    s->current = place;
    s->used = used + rounded;
    return s->chunk[place].bytes + used;
}
