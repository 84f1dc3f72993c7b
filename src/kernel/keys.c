/* keys.c: substrings as integer keys.
 *
 * Short substrings are packed, with as many bits per byte as the alphabet needs. Longer ones are
 * named by doubling (Karp, Miller and Rosenberg, 1972): the pair of the names of a prefix and a
 * suffix that overlap or meet is a key of the whole, and sorting the keys gives short names again.
 * No hashing: the result is the same on every machine, without collisions.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kernel/keys.h"

#include <string.h>

/* ---- sorting ----------------------------------------------------------------------------------*/

mcr_status mcr_keys_alloc(mcr_keys *out, mcr *ctx, int64_t count)
{
    *out = (mcr_keys){.count = count};
    out->key = mcr_alloc(ctx, (size_t)count, sizeof *out->key);
    out->object = mcr_alloc(ctx, (size_t)count, sizeof *out->object);
    if (out->key && out->object)
        return MCR_OK;
    mcr_keys_free(ctx, out);
    return MCR_NO_MEMORY;
}

void mcr_keys_free(mcr *ctx, mcr_keys *keys)
{
    mcr_free_all(ctx, keys->key, keys->object);
    *keys = (mcr_keys){0};
}

enum { DIGIT_BITS = 11 };

/* One pass by the digit at `shift`. Returns false if all keys have the same digit. */
static bool sort_digit(const mcr_keys *from, mcr_keys *to, int shift, int bits)
{
    int64_t place[1 << DIGIT_BITS] = {0}, n = from->count;
    uint64_t mask = ((uint64_t)1 << bits) - 1;
    for (int64_t i = 0; i < n; i++)
        place[from->key[i] >> shift & mask]++;
    if (place[from->key[0] >> shift & mask] == n)
        return false;
    int64_t sum = 0;
    for (uint64_t d = 0; d <= mask; d++) {
        int64_t count = place[d];
        place[d] = sum;
        sum += count;
    }
    for (int64_t i = 0; i < n; i++) {
        int64_t at = place[from->key[i] >> shift & mask]++;
        to->key[at] = from->key[i];
        to->object[at] = from->object[i];
    }
    return true;
}

void mcr_keys_sort(mcr_keys *keys, mcr_keys *other)
{
    if (keys->count < 2)
        return;
    int passes = (keys->bits + DIGIT_BITS - 1) / DIGIT_BITS;
    int digit = passes ? (keys->bits + passes - 1) / passes : 1;
    other->count = keys->count;
    other->bits = keys->bits;
    for (int shift = 0; shift < keys->bits; shift += digit) {
        int bits = keys->bits - shift < digit ? keys->bits - shift : digit;
        if (!sort_digit(keys, other, shift, bits))
            continue;
        mcr_keys swap = *keys;
        *keys = *other;
        *other = swap;
    }
}

/* ---- strings ----------------------------------------------------------------------------------*/

mcr_alphabet mcr_alphabet_of(const mcr_bound *bound)
{
    mcr_alphabet a = {.bits = 1};
    for (int side = 0; side < (bound->same ? 1 : 2); side++) {
        const mcr_field *f = &bound->field[side];
        for (int64_t i = 0; i < f->count; i++) {
            int64_t r = mcr_field_at(f, i);
            for (int64_t t = f->store->start[r]; t < f->store->start[r + 1]; t++)
                a.seen[(unsigned char)f->store->bytes[t]] = true;
        }
    }
    for (int b = 0; b < 256; b++)
        if (a.seen[b])
            a.number[b] = (unsigned char)a.count++;
    while (1 << a.bits < a.count)
        a.bits++;
    return a;
}

mcr_status mcr_keys_objects(int64_t *out, const mcr_bound *bound)
{
    *out = bound->field[0].count + (bound->same ? 0 : bound->field[1].count);
    if (*out > INT32_MAX)
        return mcr_fail(bound->ctx, MCR_BAD_DATA, "%s: more than %d objects",
                        bound->kernel->type->name, INT32_MAX);
    return MCR_OK;
}

int64_t mcr_keys_count_substrings(const mcr_bound *bound, int64_t length)
{
    int64_t sum = 0;
    for (int side = 0; side < (bound->same ? 1 : 2); side++) {
        const mcr_field *f = &bound->field[side];
        for (int64_t i = 0; i < f->count; i++) {
            int64_t r = mcr_field_at(f, i), n = f->store->start[r + 1] - f->store->start[r];
            sum += n >= length ? n - length + 1 : 0;
        }
    }
    return sum;
}

/* Keys of substrings short enough to be packed; first[o]: index of object o's first key. */
static void pack(mcr_keys *to, int64_t *first, const mcr_bound *bound, const mcr_alphabet *a,
                 int64_t length)
{
    int64_t count = 0, object = 0;
    to->bits = (int)length * a->bits;
    uint64_t mask = to->bits < 64 ? ((uint64_t)1 << to->bits) - 1 : UINT64_MAX;
    for (int side = 0; side < (bound->same ? 1 : 2); side++) {
        const mcr_field *f = &bound->field[side];
        for (int64_t i = 0; i < f->count; i++, object++) {
            int64_t r = mcr_field_at(f, i);
            const char *s = f->store->bytes + f->store->start[r];
            int64_t n = f->store->start[r + 1] - f->store->start[r];
            uint64_t key = 0;
            first[object] = count;
            for (int64_t t = 0; t < n; t++) {
                key = (key << a->bits | a->number[(unsigned char)s[t]]) & mask;
                if (t + 1 < length)
                    continue;
                to->key[count] = key;
                to->object[count++] = (int32_t)object;
            }
        }
    }
    first[object] = count;
    to->count = count;
}

/* Replaces the keys by short names. */
static mcr_status shorten(mcr *ctx, mcr_keys *keys)
{
    mcr_keys sorted = {0}, other = {0};
    mcr_status s = keys->count > INT32_MAX
                       ? mcr_fail(ctx, MCR_BAD_DATA, "more than %d substrings", INT32_MAX)
                       : mcr_keys_alloc(&sorted, ctx, keys->count);
    if (!s)
        s = mcr_keys_alloc(&other, ctx, keys->count);
    if (!s) {
        sorted.bits = keys->bits;
        memcpy(sorted.key, keys->key, sizeof *keys->key * (size_t)keys->count);
        for (int64_t i = 0; i < keys->count; i++)
            sorted.object[i] = (int32_t)i;
        mcr_keys_sort(&sorted, &other);
        uint64_t name = 0;
        for (int64_t i = 0; i < keys->count; i++) {
            name += i > 0 && sorted.key[i] != sorted.key[i - 1];
            keys->key[sorted.object[i]] = name;
        }
        for (keys->bits = 1; keys->bits < 32 && name >> keys->bits != 0;)
            keys->bits++;
    }
    mcr_keys_free(ctx, &sorted);
    mcr_keys_free(ctx, &other);
    return s;
}

/* Turns names of substrings of one length into keys of substrings `more` bytes longer. */
static void lengthen(mcr_keys *keys, int64_t *first, int64_t objects, int64_t more)
{
    int64_t count = 0;
    for (int64_t o = 0; o < objects; o++) {
        int64_t begin = first[o], end = first[o + 1];
        first[o] = count;
        for (int64_t t = begin; t + more < end; t++) {
            keys->key[count] = keys->key[t] << keys->bits | keys->key[t + more];
            keys->object[count++] = (int32_t)o;
        }
    }
    first[objects] = count;
    keys->count = count;
    keys->bits *= 2;
}

mcr_status mcr_keys_of_substrings(mcr_keys *out, const mcr_bound *bound, int64_t length,
                                  int64_t **starts)
{
    mcr_alphabet a = mcr_alphabet_of(bound);
    int64_t objects, have = length < 64 / a.bits ? length : 64 / a.bits;
    int64_t *first = NULL;
    *out = (mcr_keys){0};
    mcr_status s = mcr_keys_objects(&objects, bound);
    if (!s && !(first = mcr_alloc(bound->ctx, (size_t)objects + 1, sizeof *first)))
        s = MCR_NO_MEMORY;
    if (!s)
        s = mcr_keys_alloc(out, bound->ctx, mcr_keys_count_substrings(bound, have));
    if (!s)
        pack(out, first, bound, &a, have);
    while (!s && have < length) {
        int64_t more = length - have < have ? length - have : have;
        s = shorten(bound->ctx, out);
        if (!s)
            lengthen(out, first, objects, more);
        have += more;
    }
    if (s)
        mcr_keys_free(bound->ctx, out);
    else if (starts)
        *starts = first;
    if (s || !starts)
        mcr_free(bound->ctx, first);
    return s;
}
