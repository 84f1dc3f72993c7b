/* duplicates.c: objects that occur several times.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "duplicates.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct objects {
    const compat_pack *pack;
    const int *row;
    const double *target;
} objects;

static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

static uint64_t mix_real(uint64_t hash, double value)
{
    uint64_t word;
    memcpy(&word, &value, sizeof word);
    return mix(hash, word);
}

static uint64_t hash_of(const objects *o, int i)
{
    uint64_t hash = o->target ? mix_real(0, o->target[i]) : 0;
    const int64_t *start = o->pack->start + o->row[i];
    for (int64_t t = start[0]; t < start[1]; t++)
        hash = mix_real(mix(hash, (uint64_t)o->pack->index[t]), o->pack->value[t]);
    return hash;
}

static bool are_equal(const objects *o, int i, int j)
{
    const compat_pack *p = o->pack;
    int64_t a = p->start[o->row[i]], b = p->start[o->row[j]];
    size_t size = (size_t)(p->start[o->row[i] + 1] - a);
    return (!o->target || o->target[i] == o->target[j]) &&
           size == (size_t)(p->start[o->row[j] + 1] - b) &&
           memcmp(p->index + a, p->index + b, size * sizeof *p->index) == 0 &&
           memcmp(p->value + a, p->value + b, size * sizeof *p->value) == 0;
}

bool compat_duplicates_link(int *next, const compat_pack *pack, const int *row, int n,
                            const double *target)
{
    objects o = {pack, row, target};
    size_t slots = 16;
    while (slots / 2 < (size_t)n)
        slots *= 2;
    /* The last object of each kind so far. */
    int *slot = malloc(slots * sizeof *slot);
    if (slot == NULL)
        return false;
    memset(slot, -1, slots * sizeof *slot);
    for (int i = 0; i < n; i++) {
        size_t at = hash_of(&o, i) & (slots - 1);
        while (slot[at] >= 0 && !are_equal(&o, slot[at], i))
            at = (at + 1) & (slots - 1);
        next[i] = -1;
        if (slot[at] >= 0)
            next[slot[at]] = i;
        slot[at] = i;
    }
    free(slot);
    return true;
}
