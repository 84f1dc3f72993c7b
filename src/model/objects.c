/* objects.c: a data set as bytes.
 *
 * A field is its name, kind, number of columns and the arrays of its kind, rows in the order of the
 * data set. Graphs are stored as edge lists, each edge once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "model/objects.h"

#include <string.h>

/* ---- writing ----------------------------------------------------------------------------------*/

static void put_values(mcr_text *t, const mcr_field *f)
{
    for (int64_t i = 0; i < f->count; i++) {
        mcr_vector x = mcr_field_vector(f, i);
        if (mcr_vector_plain(&x))
            mcr_put_real_run(t, x.value, x.count);
        for (int64_t e = 0; e < x.count && !mcr_vector_plain(&x); e++)
            mcr_put_real_run(t, &(double){mcr_vector_value(&x, e)}, 1);
    }
}

/* The count of an array is written first, its rows follow. */
static void put_dense(mcr_text *t, const mcr_field *f)
{
    mcr_put_i64(t, f->count * f->store->cols);
    put_values(t, f);
}

/* start (count + 1 values) of the rows of f, from a store's own start; returns the last. */
static int64_t put_starts(mcr_text *t, const mcr_field *f)
{
    int64_t at = 0;
    mcr_put_i64(t, f->count + 1);
    mcr_put_i64(t, 0);
    for (int64_t i = 0; i < f->count; i++) {
        int64_t r = mcr_field_at(f, i);
        at += f->store->start[r + 1] - f->store->start[r];
        mcr_put_i64(t, at);
    }
    return at;
}

static void put_sparse(mcr_text *t, const mcr_field *f)
{
    int64_t entries = put_starts(t, f);
    mcr_put_i64(t, entries);
    for (int64_t i = 0; i < f->count; i++) {
        mcr_vector x = mcr_field_vector(f, i);
        if (!x.wide)
            mcr_put_i32_run(t, x.index, x.count);
        for (int64_t e = 0; e < x.count && x.wide; e++)
            mcr_put_u32(t, (uint32_t)mcr_vector_column(&x, e));
    }
    mcr_put_i64(t, entries);
    put_values(t, f);
}

static void put_strings(mcr_text *t, const mcr_field *f)
{
    const mcr_store *s = f->store;
    mcr_put_i64(t, put_starts(t, f));
    for (int64_t i = 0; i < f->count; i++) {
        int64_t r = mcr_field_at(f, i);
        mcr_text_add(t, s->bytes + s->start[r], (size_t)(s->start[r + 1] - s->start[r]));
    }
}

/* Calls put(t, v, e, local, arg) for every edge of the graphs, each once. */
static int64_t each_edge(mcr_text *t, const mcr_field *f, int what)
{
    const mcr_store *s = f->store;
    int64_t count = 0;
    for (int64_t i = 0; i < f->count; i++) {
        int64_t first = s->start[mcr_field_at(f, i)], end = s->start[mcr_field_at(f, i) + 1];
        if (what == 3) /* running count, for the starts */
            mcr_put_i64(t, count);
        for (int64_t v = first; v < end; v++)
            for (int64_t e = s->link[v]; e < s->link[v + 1]; e++) {
                if (s->adjacent[e] < v - first)
                    continue;
                count++;
                if (what == 1) {
                    mcr_put_u32(t, (uint32_t)(v - first));
                    mcr_put_u32(t, (uint32_t)s->adjacent[e]);
                } else if (what == 2) {
                    mcr_put_u32(t, (uint32_t)s->link_label[e]);
                }
            }
    }
    if (what == 3)
        mcr_put_i64(t, count);
    return count;
}

static void put_graphs(mcr_text *t, const mcr_field *f)
{
    const mcr_store *s = f->store;
    int64_t nodes = put_starts(t, f);
    mcr_put_u32(t, s->node_label != NULL);
    if (s->node_label) {
        mcr_put_i64(t, nodes);
        for (int64_t i = 0; i < f->count; i++) {
            int64_t first = s->start[mcr_field_at(f, i)];
            mcr_put_i32_run(t, s->node_label + first, s->start[mcr_field_at(f, i) + 1] - first);
        }
    }
    mcr_put_i64(t, f->count + 1);
    int64_t edges = each_edge(t, f, 3);
    mcr_put_i64(t, 2 * edges);
    each_edge(t, f, 1);
    mcr_put_u32(t, s->link_label != NULL);
    if (s->link_label) {
        mcr_put_i64(t, edges);
        each_edge(t, f, 2);
    }
    mcr_put_texts(t, (const char *const *)s->label_name, s->label_names);
}

/* For a precomputed kernel only the numbers of the objects are needed. */
static void put_numbers(mcr_text *t, const mcr_field *f)
{
    mcr_put_i64(t, f->count);
    for (int64_t i = 0; i < f->count; i++)
        mcr_put_i64(t, f->store->id ? f->store->id[mcr_field_at(f, i)] : mcr_field_at(f, i));
}

void mcr_put_objects(mcr_text *t, const mcr_data *data, const bool *wanted)
{
    int64_t fields = 0;
    for (int64_t i = 0; i < mcr_data_fields(data); i++)
        fields += wanted[i];
    mcr_put_i64(t, mcr_data_count(data));
    mcr_put_i64(t, fields);
    for (int64_t i = 0; i < mcr_data_fields(data); i++) {
        if (!wanted[i])
            continue;
        mcr_field f = mcr_data_field(data, i);
        mcr_put_text(t, f.store->name);
        mcr_put_u32(t, (uint32_t)f.store->kind);
        mcr_put_i64(t, f.store->kind == MCR_PRECOMPUTED ? 0 : f.store->cols);
        switch (f.store->kind) {
        case MCR_DENSE: put_dense(t, &f); break;
        case MCR_SPARSE: put_sparse(t, &f); break;
        case MCR_STRINGS: put_strings(t, &f); break;
        case MCR_GRAPHS: put_graphs(t, &f); break;
        case MCR_PRECOMPUTED: put_numbers(t, &f); break;
        }
    }
}

/* Names of sparse features, which explicit features have, are not stored. */
static bool has_columns(const mcr_store *s)
{
    return s->column && s->kind == MCR_DENSE;
}

void mcr_put_columns(mcr_text *t, const mcr_data *data, const bool *wanted)
{
    int64_t fields = 0;
    for (int64_t i = 0; i < mcr_data_fields(data); i++)
        fields += wanted[i] && has_columns(data->store[i]);
    if (fields)
        mcr_put_i64(t, fields);
    for (int64_t i = 0; i < mcr_data_fields(data); i++) {
        const mcr_store *s = data->store[i];
        if (!wanted[i] || !has_columns(s))
            continue;
        mcr_put_text(t, s->name);
        mcr_put_texts(t, (const char *const *)s->column, s->cols);
    }
}

/* ---- reading ----------------------------------------------------------------------------------*/

/* Starts must begin with 0, be ascending, and end with `total`. */
static bool starts_fit(const int64_t *start, int64_t count, int64_t rows, int64_t total)
{
    if (!start || count != rows + 1 || start[0] != 0 || start[rows] != total)
        return false;
    for (int64_t i = 0; i < rows; i++)
        if (start[i] > start[i + 1])
            return false;
    return true;
}

typedef struct arrays {
    int64_t *start, *edge_start, starts, edge_starts;
    int32_t *index, *edge, *edge_label;
    double *value;
    char *bytes;
    int64_t indices, edges, edge_labels, values, byte_count;
} arrays;

static void free_arrays(mcr *ctx, arrays *a)
{
    mcr_free_all(ctx, a->start, a->edge_start, a->index, a->edge, a->edge_label, a->value,
                 a->bytes);
}

/* Graphs are passed to the builder as a store, so that the names of their labels are kept. */
static mcr_status get_graphs(mcr_reader *r, mcr_builder *b, const char *name, int64_t rows)
{
    arrays a = {0};
    mcr_store *store = NULL;
    mcr_status s = mcr_store_new(&store, r->ctx, name, MCR_GRAPHS);
    if (s)
        return s;
    int64_t starts = 0, labels = 0;
    store->count = rows;
    store->start = mcr_get_i64s(r, &starts);
    if (mcr_get_u32(r))
        store->node_label = mcr_get_i32s(r, &labels);
    a.edge_start = mcr_get_i64s(r, &a.edge_starts);
    a.edge = mcr_get_i32s(r, &a.edges);
    if (mcr_get_u32(r))
        a.edge_label = mcr_get_i32s(r, &a.edge_labels);
    r->bad = r->bad || starts != rows + 1 ||
             !starts_fit(store->start, starts, rows, store->start[rows]) || a.edges % 2 ||
             !starts_fit(a.edge_start, a.edge_starts, rows, a.edges / 2) ||
             (store->node_label && labels != store->start[rows]) ||
             (a.edge_label && a.edge_labels != a.edges / 2);
    int64_t names = mcr_get_count(r, 8);
    if (names > 0 && (store->label_name = mcr_get_texts(r, names)))
        store->label_names = names;
    if (!r->bad)
        s = mcr_store_link(store, a.edge_start, (const int32_t(*)[2])(const void *)a.edge,
                           a.edge_label);
    if (r->bad || s)
        mcr_store_free(store);
    else
        s = mcr_builder_take(b, store);
    free_arrays(r->ctx, &a);
    return s;
}

/* Reads one field into the builder. r->bad: the bytes are invalid. */
static mcr_status get_field(mcr_reader *r, mcr_builder *b, int64_t rows)
{
    arrays a = {0};
    char *name = mcr_get_text(r);
    uint32_t kind = mcr_get_u32(r);
    int64_t cols = mcr_get_i64(r);
    mcr_status s = MCR_OK;
    r->bad |= !name || cols < 0;
    if (r->bad) {
        mcr_free(r->ctx, name);
        return MCR_OK;
    }
    if (kind == MCR_DENSE) {
        a.value = mcr_get_reals(r, &a.values);
        r->bad |= a.value &&
                  (cols == 0 ? a.values != 0 : a.values / cols != rows || a.values % cols);
        if (!r->bad)
            s = mcr_builder_dense(b, name, a.value, cols, cols);
    } else if (kind == MCR_SPARSE) {
        a.start = mcr_get_i64s(r, &a.starts);
        a.index = mcr_get_i32s(r, &a.indices);
        a.value = mcr_get_reals(r, &a.values);
        r->bad = r->bad || a.indices != a.values || !starts_fit(a.start, a.starts, rows, a.values);
        if (!r->bad)
            s = mcr_builder_sparse(b, name, cols, a.start, a.index, a.value);
    } else if (kind == MCR_STRINGS) {
        a.start = mcr_get_i64s(r, &a.starts);
        a.bytes = mcr_get_bytes(r, &a.byte_count);
        r->bad = r->bad || !starts_fit(a.start, a.starts, rows, a.byte_count);
        if (!r->bad)
            s = mcr_builder_strings(b, name, a.start, a.bytes);
    } else if (kind == MCR_GRAPHS) {
        s = get_graphs(r, b, name, rows);
    } else if (kind == MCR_PRECOMPUTED) {
        a.start = mcr_get_i64s(r, &a.starts);
        r->bad = r->bad || a.starts != rows;
        if (!r->bad)
            s = mcr_builder_precomputed(b, name, NULL, 0, a.start);
    } else {
        r->bad = true;
    }
    free_arrays(r->ctx, &a);
    mcr_free(r->ctx, name);
    return s;
}

mcr_status mcr_get_objects(mcr_data **out, mcr_reader *r)
{
    *out = NULL;
    mcr_builder *b = NULL;
    int64_t rows = mcr_get_i64(r), fields = mcr_get_i64(r);
    r->bad |= rows < 0 || rows > INT64_MAX / 8;
    if (r->bad)
        return mcr_reader_end(r);
    mcr_status s = mcr_builder_open(&b, r->ctx, rows);
    for (int64_t f = 0; f < fields && !s && !r->bad; f++)
        s = get_field(r, b, rows);
    if (!s)
        s = mcr_reader_end(r);
    return mcr_builder_finish_filled(out, b, s);
}

/* Reads the names of one field into the store just read. */
static void get_names(mcr_reader *r, mcr_store *s)
{
    if (!s || s->kind != MCR_DENSE || s->column || s->cols != mcr_get_count(r, 8)) {
        r->bad = true;
        return;
    }
    s->column = mcr_get_texts(r, s->cols);
}

void mcr_get_columns(mcr_reader *r, mcr_data *data)
{
    int64_t fields = mcr_get_i64(r);
    for (int64_t f = 0; f < fields && !r->bad; f++) {
        char *name = mcr_get_text(r);
        int64_t at = name ? mcr_data_find(data, name, strlen(name)) : -1;
        get_names(r, at >= 0 ? data->store[at] : NULL);
        mcr_free(r->ctx, name);
    }
}
