/* tanimoto.c: x.z / (x.x + z.z - x.z): the intersection of two sets or vectors of counts divided by
 * their union. Values must not be negative. Strings are sets of elements separated by ;. The value
 * for two empty sets is 1, for an empty and another set 0.
 *
 * With s = x.z / (x.x + z.z) it is s / (1 - s) = s + s^2 + ...; |s| is 1/2 at most, and s is a
 * kernel: x.z times the integral of exp(-t x.x) exp(-t z.z) over t > 0. Adding the kernel that is 1
 * for two empty objects and 0 otherwise gives a kernel again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "data/format/collect.h"
#include "kernel/vectors.h"

static double divided(double dot, double xx, double zz)
{
    double either = xx + zz - dot;
    return either > 0 ? fmin(dot / either, 1) : 1;
}

static void map(const mcr_fused *f, const mcr_vmath *math, void *k, int64_t count, double xx,
                const double *zz)
{
    (void)f;
    for (int64_t j = 0; j < count; j++) {
        if (math->bytes == sizeof(double))
            ((double *)k)[j] = divided(((double *)k)[j], xx, zz[j]);
        else
            ((float *)k)[j] = (float)divided((double)((float *)k)[j], xx, zz[j]);
    }
}

/* The elements of one set, each once, ascending; surrounding blanks are ignored. */
static mcr_status add_set(mcr_store *to, mcr_words *words, int64_t *capacity, const char *p,
                          const char *end)
{
    mcr *ctx = to->ctx;
    mcr_status s = MCR_OK;
    int64_t first = to->start[to->count], at = first;
    while (p <= end && !s) {
        const char *stop = p < end ? memchr(p, ';', (size_t)(end - p)) : NULL;
        const char *next = stop ? stop : end;
        while (p < next && *p == ' ')
            p++;
        const char *last = next;
        while (last > p && last[-1] == ' ')
            last--;
        if (last > p) {
            s = mcr_reserve(ctx, &to->index, capacity, at + 1, sizeof *to->index);
            if (!s)
                s = mcr_words_number(words, ctx, p, strnlen(p, (size_t)(last - p)), &to->index[at]);
            at++;
        }
        p = next + 1;
    }
    if (s)
        return s;
    if (at > first)
        qsort(to->index + first, (size_t)(at - first), sizeof *to->index, mcr_int32_rising);
    int64_t kept = first;
    for (int64_t e = first; e < at; e++)
        if (e == first || to->index[e] != to->index[e - 1])
            to->index[kept++] = to->index[e];
    to->start[++to->count] = kept;
    return MCR_OK;
}

static mcr_status make_sets(mcr_store **out, const mcr_bound *bound, int side, mcr_words *words)
{
    mcr *ctx = bound->ctx;
    const mcr_field *f = &bound->field[side];
    int64_t capacity = 0;
    mcr_status s = mcr_store_new(out, ctx, f->store->name, MCR_SPARSE);
    if (s)
        return s;
    mcr_store *to = *out;
    to->start = mcr_alloc_zero(ctx, (size_t)f->count + 1, sizeof *to->start);
    s = to->start ? mcr_reserve(ctx, &to->index, &capacity, 1, sizeof *to->index) : MCR_NO_MEMORY;
    for (int64_t i = 0; i < f->count && !s; i++) {
        const int64_t *start = f->store->start + mcr_field_at(f, i);
        s = add_set(to, words, &capacity, f->store->bytes + start[0], f->store->bytes + start[1]);
    }
    int64_t entries = s ? 0 : to->start[f->count];
    to->value = s ? NULL : mcr_alloc(ctx, (size_t)entries, sizeof *to->value);
    if (!s && !to->value)
        s = MCR_NO_MEMORY;
    for (int64_t e = 0; e < entries && !s; e++)
        to->value[e] = 1;
    return s;
}

static mcr_status join_sets(mcr_vectors **out, mcr_bound *bound, mcr_binding *binding)
{
    mcr_store *store[2] = {NULL, NULL};
    mcr_words words = {0};
    mcr_status s = MCR_OK;
    int sides = bound->same ? 1 : 2;
    size_t bytes = 0;
    for (int side = 0; side < sides && !s; side++)
        s = make_sets(&store[side], bound, side, &words);
    for (int side = 0; side < sides && !s; side++) {
        store[side]->cols = words.count > 0 ? words.count : 1;
        bytes += (size_t)store[side]->start[store[side]->count] * 12;
    }
    mcr_words_free(&words, bound->ctx);
    if (!s)
        return mcr_vectors_join_made(out, bound, binding, store, bytes, MCR_NEEDS_DOT, NULL, 0);
    mcr_store_free(store[0]);
    mcr_store_free(store[1]);
    return s;
}

static mcr_status bind(mcr_bound *bound, mcr_binding *binding)
{
    mcr_fused f = {.op = MCR_TILE_DOT, .map = map};
    if (bound->field[0].store->kind == MCR_STRINGS) {
        mcr_status s = join_sets(&f.v, bound, binding);
        return s ? s : mcr_vectors_offer(bound, &f);
    }
    mcr_status s = mcr_vectors_join(&f.v, bound, binding, MCR_NEEDS_DOT, NULL, 0);
    if (!s)
        s = mcr_vectors_refuse_negative(f.v, bound);
    return s ? s : mcr_vectors_offer(bound, &f);
}

MCR_ALWAYS_PSD(definite, "the sum of all powers of x.z/(x.x + z.z), which is a kernel")

const mcr_kernel_type mcr_kernel_tanimoto = {
    .name = "tanimoto",
    .summary = "x.z / (x.x + z.z - x.z): what sets or counts have in common",
    .kinds = MCR_DENSE | MCR_SPARSE | MCR_STRINGS,
    .definite = definite,
    .bind = bind,
};
