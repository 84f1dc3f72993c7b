/* words.c: numbering of byte strings, and counts of them as sparse vectors.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kernel/words.h"

#include <string.h>

#include "kernel/vectors.h"

/* ---- numbering ---------------------------------------------------------------------------------*/

/* Shorter words first: the order does not matter, only that it is one. */
static int compare(const mcr_word *a, const mcr_word *b)
{
    if (a->length != b->length)
        return a->length < b->length ? -1 : 1;
    int order = memcmp(a->bytes, b->bytes, (size_t)a->length);
    return order ? order : a->object < b->object ? -1 : a->object > b->object;
}

static bool equal(const mcr_word *a, const mcr_word *b)
{
    return a->length == b->length && memcmp(a->bytes, b->bytes, (size_t)a->length) == 0;
}

/* Merge sort from the bottom up: n log n in the worst case, and no recursion. */
static void sort(mcr_word *word, mcr_word *other, int64_t count)
{
    mcr_word *from = word, *to = other;
    for (int64_t width = 1; width < count; width *= 2) {
        for (int64_t low = 0; low < count; low += 2 * width) {
            int64_t middle = low + width < count ? low + width : count;
            int64_t high = low + 2 * width < count ? low + 2 * width : count;
            int64_t a = low, b = middle;
            for (int64_t t = low; t < high; t++)
                to[t] = a < middle && (b >= high || compare(&from[a], &from[b]) <= 0) ? from[a++]
                                                                                      : from[b++];
        }
        mcr_word *swap = from;
        from = to;
        to = swap;
    }
    if (from != word)
        memcpy(word, from, sizeof *word * (size_t)count);
}

mcr_status mcr_words_sort(mcr *ctx, mcr_word *word, int64_t count, int32_t *id, int64_t *distinct)
{
    mcr_word *other = mcr_alloc(ctx, (size_t)count, sizeof *other);
    if (!other)
        return MCR_NO_MEMORY;
    sort(word, other, count);
    mcr_free(ctx, other);
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

/* ---- counts ------------------------------------------------------------------------------------*/

typedef struct entry {
    int32_t object, feature;
    double value;
} entry;

struct mcr_counts {
    mcr *ctx;
    mcr_bound *bound;
    int64_t rows[2], cols;
    entry *entry;
    int64_t entries, room;
};

mcr_status mcr_counts_open(mcr_counts **out, mcr_bound *bound)
{
    *out = mcr_alloc_zero(bound->ctx, 1, sizeof **out);
    if (!*out)
        return MCR_NO_MEMORY;
    (*out)->ctx = bound->ctx;
    (*out)->bound = bound;
    (*out)->rows[0] = bound->field[0].count;
    (*out)->rows[1] = bound->same ? 0 : bound->field[1].count;
    return MCR_OK;
}

void mcr_counts_close(mcr_counts *c)
{
    if (!c)
        return;
    mcr_free(c->ctx, c->entry);
    mcr_free(c->ctx, c);
}

static mcr_status add_entry(mcr_counts *c, int32_t object, int64_t feature)
{
    if (feature >= INT32_MAX)
        return mcr_fail(c->ctx, MCR_BAD_DATA, "%s: more than %d features",
                        c->bound->kernel->type->name, INT32_MAX);
    mcr_status s = mcr_reserve(c->ctx, &c->entry, &c->room, c->entries + 1, sizeof *c->entry);
    if (!s)
        c->entry[c->entries++] = (entry){object, (int32_t)feature, 1};
    return s;
}

mcr_status mcr_counts_add(mcr_counts *c, const mcr_word *word, const int32_t *id, int64_t count,
                          int64_t distinct, bool presence)
{
    mcr_status s = MCR_OK;
    for (int64_t w = 0; w < count && !s; w++) {
        if (w == 0 || id[w] != id[w - 1] || word[w].object != word[w - 1].object)
            s = add_entry(c, word[w].object, c->cols + id[w]);
        else if (!presence)
            c->entry[c->entries - 1].value++;
    }
    c->cols += distinct;
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

/* The rows of one side as a sparse store. Entries come in the order of features, so dealing them out
 * to their objects keeps the indices of each row rising. */
static mcr_status make_store(mcr_store **out, const mcr_counts *c, int64_t first, int64_t rows)
{
    mcr_store *s = NULL;
    mcr_status st = mcr_store_new(&s, c->ctx, "features", MCR_SPARSE);
    if (st)
        return st;
    s->count = rows;
    s->cols = c->cols > 0 ? c->cols : 1;
    s->start = mcr_alloc_zero(c->ctx, (size_t)rows + 2, sizeof *s->start);
    int64_t total = 0;
    for (int64_t e = 0; e < c->entries; e++)
        total += c->entry[e].object >= first && c->entry[e].object < first + rows;
    s->index = mcr_alloc(c->ctx, (size_t)total, sizeof *s->index);
    s->value = mcr_alloc(c->ctx, (size_t)total, sizeof *s->value);
    if (!s->start || !s->index || !s->value) {
        mcr_store_free(s);
        return MCR_NO_MEMORY;
    }
    /* start[i + 2] counts row i; after the prefix sum start[i + 1] is where its next entry goes. */
    for (int64_t e = 0; e < c->entries; e++) {
        int64_t i = c->entry[e].object - first;
        if (i >= 0 && i < rows)
            s->start[i + 2]++;
    }
    for (int64_t i = 2; i < rows + 2; i++)
        s->start[i] += s->start[i - 1];
    for (int64_t e = 0; e < c->entries; e++) {
        int64_t i = c->entry[e].object - first;
        if (i < 0 || i >= rows)
            continue;
        int64_t at = s->start[i + 1]++;
        s->index[at] = c->entry[e].feature;
        s->value[at] = c->entry[e].value;
    }
    *out = s;
    return MCR_OK;
}

mcr_status mcr_counts_offer(mcr_counts *c, mcr_binding *binding)
{
    mcr_bound *bound = c->bound;
    mcr_store *store[2] = {NULL, NULL};
    mcr_status s = make_store(&store[0], c, 0, c->rows[0]);
    if (!s && !bound->same)
        s = make_store(&store[1], c, c->rows[0], c->rows[1]);
    size_t bytes = (size_t)c->entries * (sizeof(int32_t) + sizeof(double));
    mcr_counts_close(c);
    if (s) {
        mcr_store_free(store[0]);
        return s;
    }
    mcr_fused f = {.op = MCR_TILE_DOT};
    s = mcr_vectors_join_made(&f.v, bound, binding, store, bytes, MCR_NEEDS_DOT, NULL, 0);
    return s ? s : mcr_vectors_offer(bound, &f);
}
