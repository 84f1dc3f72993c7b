/* words.c: numbering of byte strings, and their counts as sparse vectors.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kernel/words.h"

#include <stdlib.h>
#include <string.h>

#include "kernel/features.h"

/* ---- numbering --------------------------------------------------------------------------------*/

/* Shorter words first: any total order will do. */
static int compare(const void *a, const void *b)
{
    const mcr_word *x = a, *y = b;
    if (x->length != y->length)
        return x->length < y->length ? -1 : 1;
    int order = memcmp(x->bytes, y->bytes, (size_t)x->length);
    return order ? order : x->object < y->object ? -1 : x->object > y->object;
}

static bool equal(const mcr_word *a, const mcr_word *b)
{
    return a->length == b->length && memcmp(a->bytes, b->bytes, (size_t)a->length) == 0;
}

mcr_status mcr_words_sort(mcr *ctx, mcr_word *word, int64_t count, int32_t *id, int64_t *distinct)
{
    if (count > 1)
        qsort(word, (size_t)count, sizeof *word, compare);
    *distinct = 0;
    for (int64_t w = 0; w < count; w++) {
        if (w == 0 || !equal(&word[w - 1], &word[w]))
            ++*distinct;
        if (*distinct > INT32_MAX)
            return mcr_fail(ctx, MCR_BAD_DATA, "more than %d different words", INT32_MAX);
        id[w] = (int32_t)(*distinct - 1);
    }
    return MCR_OK;
}

/* ---- counts -----------------------------------------------------------------------------------*/

enum { FREE_ENTRIES = 1 << 16 }; /* too few to check the budget */

struct mcr_counts {
    mcr *ctx;
    mcr_bound *bound;
    int64_t cols;
    mcr_feature *entry;
    int64_t entries, capacity;
};

mcr_status mcr_counts_open(mcr_counts **out, mcr_bound *bound)
{
    *out = mcr_alloc_zero(bound->ctx, 1, sizeof **out);
    if (!*out)
        return MCR_NO_MEMORY;
    (*out)->ctx = bound->ctx;
    (*out)->bound = bound;
    return MCR_OK;
}

void mcr_counts_close(mcr_counts *c)
{
    if (!c)
        return;
    mcr_free_all(c->ctx, c->entry, c);
}

static mcr_status add_entry(mcr_counts *c, int32_t object, int64_t feature)
{
    if (feature >= INT32_MAX)
        return mcr_fail(c->ctx, MCR_BAD_DATA, "%s: more than %d features",
                        c->bound->kernel->type->name, INT32_MAX);
    mcr_status s = MCR_OK;
    if (c->entries == c->capacity && c->capacity > FREE_ENTRIES) { /* before its size doubles */
        size_t bytes = 2 * (size_t)c->capacity * sizeof *c->entry;
        s = mcr_budget_take(c->ctx, bytes, c->bound->kernel->type->name);
        if (!s)
            mcr_budget_give(c->ctx, bytes);
    }
    if (!s)
        s = mcr_reserve(c->ctx, &c->entry, &c->capacity, c->entries + 1, sizeof *c->entry);
    if (!s)
        c->entry[c->entries++] = (mcr_feature){object, (int32_t)feature, 1};
    return s;
}

mcr_status mcr_counts_add_keys(mcr_counts *c, const mcr_keys *keys, bool presence)
{
    mcr_status s = MCR_OK;
    for (int64_t i = 0; i < keys->count && !s; i++) {
        bool another = i == 0 || keys->key[i] != keys->key[i - 1];
        c->cols += another;
        if (another || keys->object[i] != keys->object[i - 1])
            s = add_entry(c, keys->object[i], c->cols - 1);
        else if (!presence)
            c->entry[c->entries - 1].value++;
    }
    return s;
}

mcr_status mcr_counts_offer(mcr_counts *c, mcr_binding *binding)
{
    mcr_status s = mcr_features_offer(c->bound, binding, c->entry, c->entries, c->cols);
    mcr_counts_close(c);
    return s;
}
