/* fuzz_onnx.c: support vector machines in ONNX files, as models.
 *
 * Hardly any altered file keeps the lengths of the messages that lie within each other. So a field
 * is chosen at any depth and altered, and the lengths around it are put right.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz_models.h"
#include "fuzz_mutate.h"

enum { MOST_FIELDS = 256, MOST_BYTES = 1 << 14, DEEPEST = 5 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t count, size_t capacity, unsigned seed);

/* ---- mutating ---------------------------------------------------------------------------------*/

enum { NUMBER = 0, EIGHT = 1, BYTES = 2, FOUR = 5 }; /* how a field is written */

typedef struct field {
    size_t from, to;  /* with its key and length */
    size_t at, count; /* what follows them */
    unsigned wire;
    uint64_t key;
} field;

/* Moves behind a number; false: there is none. */
static bool take_number(const uint8_t *bytes, size_t count, size_t *at, uint64_t *value)
{
    *value = 0;
    for (int shift = 0; *at < count && shift < 64; shift += 7) {
        uint8_t byte = bytes[(*at)++];
        *value |= (uint64_t)(byte & 127) << shift;
        if (byte < 128)
            return true;
    }
    return false;
}

static bool take_field(field *f, const uint8_t *bytes, size_t count, size_t *at)
{
    uint64_t length = 0, ignored;
    *f = (field){.from = *at};
    if (!take_number(bytes, count, at, &f->key))
        return false;
    f->wire = f->key & 7;
    if (f->wire == BYTES && !take_number(bytes, count, at, &length))
        return false;
    f->at = *at;
    if (f->wire == NUMBER && !take_number(bytes, count, at, &ignored))
        return false;
    length = f->wire == NUMBER ? *at - f->at : f->wire == EIGHT ? 8 : f->wire == FOUR ? 4 : length;
    if (length > count - f->at || (f->wire != BYTES && f->wire != NUMBER && length == 0))
        return false;
    f->count = (size_t)length;
    f->to = *at = f->at + f->count;
    return true;
}

/* The fields of a message; 0: it is none, or has too many. */
static size_t split(field *list, const uint8_t *bytes, size_t count)
{
    size_t fields = 0, at = 0;
    while (at < count && fields < MOST_FIELDS)
        if (!take_field(&list[fields++], bytes, count, &at))
            return 0;
    return at == count ? fields : 0;
}

static size_t put_number(uint8_t *to, uint64_t value)
{
    size_t used = 0;
    do {
        to[used++] = (uint8_t)((value & 127) | (value > 127 ? 128 : 0));
        value >>= 7;
    } while (value);
    return used;
}

/* A small number, or one near a power of two. */
static uint64_t pick_number(uint32_t *seed)
{
    uint64_t number = UINT64_C(1) << fuzz_next(seed) % 64;
    return fuzz_next(seed) % 4 ? number + fuzz_next(seed) % 3 - 1 : fuzz_next(seed) % 16;
}

static size_t mutate_message(uint8_t *bytes, size_t count, size_t capacity, uint32_t *seed,
                             int depth);

/* Field f of `bytes`, altered, in `to`, which holds MOST_BYTES. */
static size_t mutate_field(uint8_t *to, const uint8_t *bytes, const field *f, uint32_t *seed,
                           int depth)
{
    enum { HEAD = 20 }; /* a key and a length */
    static uint8_t inside[DEEPEST + 1][MOST_BYTES];
    uint8_t *body = inside[depth];
    size_t count = f->count, used = put_number(to, f->key);
    if (f->wire == NUMBER)
        return used + put_number(to + used, pick_number(seed));
    if (count > MOST_BYTES / 2)
        count = MOST_BYTES / 2;
    memcpy(body, bytes + f->at, count);
    if (f->wire == BYTES && depth < DEEPEST && fuzz_next(seed) % 8)
        count = mutate_message(body, count, MOST_BYTES - HEAD, seed, depth + 1);
    else if (f->wire == BYTES)
        count = LLVMFuzzerMutate(body, count, MOST_BYTES - HEAD);
    else
        LLVMFuzzerMutate(body, count, count);
    if (f->wire == BYTES)
        used += put_number(to + used, count);
    memcpy(to + used, body, count);
    return used + count;
}

/* One field is left out, doubled or altered; what is no message is altered as bytes. */
static size_t mutate_message(uint8_t *bytes, size_t count, size_t capacity, uint32_t *seed,
                             int depth)
{
    static field list[DEEPEST + 1][MOST_FIELDS];
    static uint8_t made[DEEPEST + 1][MOST_BYTES];
    size_t fields = split(list[depth], bytes, count);
    if (fields == 0)
        return LLVMFuzzerMutate(bytes, count, capacity);
    const field *f = &list[depth][fuzz_next(seed) % fields];
    size_t length = 0, behind = f->to, how = fuzz_next(seed) % 16;
    if (how == 0) { /* left out */
    } else if (how == 1 && f->to - f->from <= MOST_BYTES) {
        length = f->to - f->from;
        memcpy(made[depth], bytes + f->from, length);
        behind = f->from;
    } else {
        length = mutate_field(made[depth], bytes, f, seed, depth);
    }
    if (f->from + length + (count - behind) > capacity)
        return count;
    memmove(bytes + f->from + length, bytes + behind, count - behind);
    memcpy(bytes + f->from, made[depth], length);
    return f->from + length + (count - behind);
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t count, size_t capacity, unsigned seed)
{
    uint32_t state = seed;
    return seed % 8 ? mutate_message(bytes, count, capacity, &state, 0)
                    : LLVMFuzzerMutate(bytes, count, capacity);
}

/* ---- one file ---------------------------------------------------------------------------------*/

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    mcr *ctx = fuzz_open();
    mcr_model *model = fuzz_load(ctx, bytes, count);
    if (model) {
        fuzz_look(model);
        fuzz_saved(ctx, model);
    }
    mcr_model_free(model);
    mcr_close(ctx);
    return 0;
}
