/* duplicates.c: merges duplicate objects into one object with a larger weight.
 *
 * Tables with few columns or coarse values have many equal rows (7,614 of the 32,561 rows of the
 * census data set a9a repeat another one). Learners for which a weight of 2 is equivalent to two
 * objects need not process them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "data/data.h"

#include <string.h>

#include "base/hash.h"
#include "base/threads.h"

/* Merging pays from some size on, and if at least one object in LEAST_SHARE is a duplicate. */
enum { CHUNK = 1024, LEAST_COUNT = 1000, LEAST_SHARE = 16 };

typedef struct search {
    const mcr_data *data;
    uint64_t *hash; /* per object */
} search;

/* ---- what an object consists of ----------------------------------------------------------------
 *
 * Up to PARTS runs of bytes; two objects are equal when all of them are. */

enum { PARTS = 3 };

typedef struct part {
    const void *bytes;
    size_t count;
} part;

static part run(const void *array, size_t size, int64_t from, int64_t to)
{
    return (part){array ? (const char *)array + size * (size_t)from : NULL,
                  array ? size * (size_t)(to - from) : 0};
}

/* None for vectors in the user's own layout, which are compared value by value. */
static int list_parts(const mcr_store *s, int64_t r, part p[PARTS])
{
    if (s->lent.value && s->kind != MCR_PRECOMPUTED)
        return 0;
    switch (s->kind) {
    case MCR_DENSE:
        p[0] = run(s->dense, sizeof *s->dense, r * s->cols, (r + 1) * s->cols);
        return 1;
    case MCR_SPARSE:
        p[0] = run(s->index, sizeof *s->index, s->start[r], s->start[r + 1]);
        p[1] = run(s->value, sizeof *s->value, s->start[r], s->start[r + 1]);
        return 2;
    case MCR_STRINGS: p[0] = run(s->bytes, 1, s->start[r], s->start[r + 1]); return 1;
    case MCR_PRECOMPUTED: p[0] = run(s->id, sizeof *s->id, r, r + 1); return 1;
    case MCR_GRAPHS: {
        /* Neighbours are numbered within their graph; degrees are compared separately. */
        int64_t from = s->start[r], to = s->start[r + 1];
        p[0] = run(s->adjacent, sizeof *s->adjacent, s->link[from], s->link[to]);
        p[1] = run(s->node_label, sizeof *s->node_label, from, to);
        p[2] = run(s->link_label, sizeof *s->link_label, s->link[from], s->link[to]);
        return 3;
    }
    }
    return 0;
}

static bool same_degrees(const mcr_store *s, int64_t a, int64_t b)
{
    int64_t nodes = s->start[a + 1] - s->start[a];
    if (s->start[b + 1] - s->start[b] != nodes)
        return false;
    const int64_t *u = s->link + s->start[a], *v = s->link + s->start[b];
    for (int64_t i = 0; i < nodes; i++)
        if (u[i + 1] - u[i] != v[i + 1] - v[i])
            return false;
    return true;
}

/* -0 and 0 differ, as in the comparison of bytes. */
static uint64_t bits_of(const mcr_vector *x, int64_t e)
{
    double value = mcr_vector_value(x, e);
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static bool same_vector(const mcr_store *s, int64_t a, int64_t b)
{
    mcr_vector x = mcr_store_vector(s, a), z = mcr_store_vector(s, b);
    bool same = x.count == z.count;
    for (int64_t e = 0; same && e < x.count; e++)
        same = mcr_vector_column(&x, e) == mcr_vector_column(&z, e) &&
               bits_of(&x, e) == bits_of(&z, e);
    return same;
}

static bool same_value(const mcr_store *s, int64_t a, int64_t b)
{
    part p[PARTS], q[PARTS];
    if (a == b)
        return true;
    if ((s->kind == MCR_GRAPHS && !same_degrees(s, a, b)) ||
        (s->kind == MCR_PRECOMPUTED && s->id[a] < 0))
        return false;
    int parts = list_parts(s, a, p);
    if (parts == 0)
        return same_vector(s, a, b);
    list_parts(s, b, q);
    for (int i = 0; i < parts; i++)
        if (p[i].count != q[i].count ||
            (p[i].count && memcmp(p[i].bytes, q[i].bytes, p[i].count) != 0))
            return false;
    return true;
}

static bool same_object(const mcr_data *data, int64_t a, int64_t b)
{
    if (data->target ? data->target[a] != data->target[b]
                     : data->class_of && data->class_of[a] != data->class_of[b])
        return false;
    for (int64_t t = 0, cols = mcr_data_target_count(data); data->table && t < cols; t++)
        if (data->table[a * cols + t] != data->table[b * cols + t])
            return false;
    for (int64_t f = 0; f < data->fields; f++) {
        mcr_field field = mcr_data_field(data, f);
        if (!same_value(field.store, mcr_field_at(&field, a), mcr_field_at(&field, b)))
            return false;
    }
    return true;
}

static uint64_t hash_vector(const mcr *ctx, uint64_t hash, const mcr_store *s, int64_t r)
{
    mcr_vector x = mcr_store_vector(s, r);
    for (int64_t e = 0; e < x.count; e++)
        hash = mcr_hash_words(ctx, hash, (uint64_t)mcr_vector_column(&x, e), bits_of(&x, e));
    return hash;
}

static mcr_status hash_chunk(void *arg, int64_t first, int64_t end)
{
    search *t = arg;
    const mcr *ctx = t->data->ctx;
    for (int64_t i = first; i < end; i++) {
        uint64_t hash = mcr_hash_word(ctx, 0,
                                      t->data->class_of ? (uint64_t)t->data->class_of[i] : 0);
        for (int64_t f = 0; f < t->data->fields; f++) {
            mcr_field field = mcr_data_field(t->data, f);
            part p[PARTS];
            int parts = list_parts(field.store, mcr_field_at(&field, i), p);
            if (parts == 0)
                hash = hash_vector(ctx, hash, field.store, mcr_field_at(&field, i));
            for (int k = 0; k < parts; k++)
                hash = mcr_hash_bytes(ctx, hash, p[k].bytes, p[k].count);
        }
        t->hash[i] = hash;
    }
    return MCR_OK;
}

/* ---- finding the first of each kind -----------------------------------------------------------*/

/* where[i]: the number of object i among the distinct ones, by first appearance; first[]: their
 * numbers. Returns how many there are; -1: out of memory. */
static int64_t number_objects(const search *t, int64_t *where, int64_t *first)
{
    int64_t n = t->data->count, found = 0;
    uint64_t slots = 16;
    while (slots < 2 * (uint64_t)n)
        slots *= 2;
    int64_t *slot = mcr_alloc_zero(t->data->ctx, slots, sizeof *slot); /* number + 1 */
    if (!slot)
        return -1;
    for (int64_t i = 0; i < n; i++) {
        uint64_t s = t->hash[i] & (slots - 1);
        while (slot[s] && (t->hash[first[slot[s] - 1]] != t->hash[i] ||
                           !same_object(t->data, first[slot[s] - 1], i)))
            s = (s + 1) & (slots - 1);
        if (!slot[s]) {
            first[found] = i;
            slot[s] = ++found;
        }
        where[i] = slot[s] - 1;
    }
    mcr_free(t->data->ctx, slot);
    return found;
}

static mcr_status add_weights(mcr_data *view, const mcr_data *data, const int64_t *where)
{
    if (!view->weight)
        view->weight = mcr_alloc(view->ctx, (size_t)view->count, sizeof *view->weight);
    if (!view->weight)
        return MCR_NO_MEMORY;
    memset(view->weight, 0, sizeof *view->weight * (size_t)view->count);
    for (int64_t i = 0; i < data->count; i++)
        view->weight[where[i]] += data->weight ? data->weight[i] : 1;
    return MCR_OK;
}

/* Whether every class keeps two objects, as folds need. */
static bool keeps_classes(const mcr_data *data, const int64_t *first, int64_t count)
{
    int64_t classes = mcr_data_classes(data), kept = 0;
    int64_t *seen = mcr_alloc_zero(data->ctx, (size_t)classes, sizeof *seen);
    for (int64_t i = 0; i < count && seen; i++)
        kept += ++seen[data->class_of[first[i]]] == 2;
    bool fine = seen && kept == classes;
    mcr_free(data->ctx, seen);
    return fine;
}

mcr_status mcr_data_merge(mcr_data **out, const mcr_data *data, bool classify, int64_t *where)
{
    *out = NULL;
    mcr *ctx = data->ctx;
    int64_t n = data->count;
    if (n < LEAST_COUNT)
        return MCR_OK;
    search t = {data, mcr_alloc(ctx, (size_t)n, sizeof *t.hash)};
    int64_t *first = mcr_alloc(ctx, (size_t)n, sizeof *first);
    mcr_status s = t.hash && first ? MCR_OK : MCR_NO_MEMORY;
    if (!s)
        s = mcr_parallel_chunks(ctx, n, CHUNK, hash_chunk, &t);
    int64_t count = s ? 0 : number_objects(&t, where, first);
    if (count < 0)
        s = MCR_NO_MEMORY;
    if (!s && count <= n - n / LEAST_SHARE && (!classify || keeps_classes(data, first, count)))
        s = mcr_data_select(out, data, (mcr_rows){first, 0, count});
    if (!s && *out)
        s = add_weights(*out, data, where);
    if (s) {
        mcr_data_free(*out);
        *out = NULL;
    }
    mcr_free_all(ctx, t.hash, first);
    return s;
}
