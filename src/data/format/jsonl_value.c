/* jsonl_value.c: stores the values of JSON lines; jsonl.c states the rules.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "data/format/jsonl.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "data/join.h"

/* Which entry of field->space belongs to which array. */
enum { CAPACITY_DENSE = 0, CAPACITY_ID = 1 };
enum { CAPACITY_START = 0, CAPACITY_INDEX = 1, CAPACITY_VALUE = 2 };
enum {
    CAPACITY_NODE_LABEL = 1,
    CAPACITY_EDGE_START = 2,
    CAPACITY_EDGE = 3,
    CAPACITY_EDGE_LABEL = 4
};

#define RESERVE(array, which, count)                                                               \
    mcr_reserve(f->json->ctx, &(array), &f->capacity[which], (count), sizeof *(array))

/* Labels of the nodes and edges of a field; 0: unknown so far. */
enum { PLAIN = 1, NUMBERS = 2, WORDS = 3 };

/* The least memory for a node; a line may claim any number of them. */
enum { NODE_BYTES = 16 };

/* Fails with the name of the key before the text. */
static mcr_status refuse(const mcr_jsonl_field *f, const mcr_json_value *at, const char *format,
                         ...) MCR_PRINTF(3, 4);
static mcr_status refuse(const mcr_jsonl_field *f, const mcr_json_value *at, const char *format,
                         ...)
{
    char text[512];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    return mcr_json_fail(f->json, at, "key \"%s\": %s", f->name, text);
}

static mcr_status fail_type(const mcr_jsonl_field *f, const mcr_json_value *found,
                            const char *wanted)
{
    static const char *const names[] = {
        [MCR_JSON_NULL] = "null",          [MCR_JSON_FALSE] = "true or false",
        [MCR_JSON_TRUE] = "true or false", [MCR_JSON_NUMBER] = "a number",
        [MCR_JSON_STRING] = "a string",    [MCR_JSON_ARRAY] = "an array",
        [MCR_JSON_OBJECT] = "an object",
    };
    return refuse(f, found, "found %s where %s was expected", names[found->type], wanted);
}

/* A member of an object by either of two names. */
static const mcr_json_value *member(const mcr_json_value *object, const char *name,
                                    const char *other)
{
    const mcr_json_value *found = mcr_json_find(object, name);
    return found || !other ? found : mcr_json_find(object, other);
}

/* Unexpected members are most likely typing errors; `count` is the expected number. */
static mcr_status check_members(const mcr_jsonl_field *f, const mcr_json_value *object,
                                const char *const *allowed, int64_t count)
{
    const mcr_json_value *key = object + 1;
    for (int64_t i = 0; i < object->count; i++, key = mcr_json_next(key + 1)) {
        const char *const *a = allowed;
        while (*a && !mcr_json_is(key, *a))
            a++;
        if (!*a)
            return refuse(f, key, "unknown member \"%.*s\"", (int)key->count, key->text);
    }
    if (object->count > count)
        return refuse(f, object, "a member occurs twice");
    return MCR_OK;
}

mcr_status mcr_jsonl_classify(mcr_jsonl_field *f, const mcr_json_value *value)
{
    switch (value->type) {
    case MCR_JSON_NUMBER:
    case MCR_JSON_FALSE:
    case MCR_JSON_TRUE: f->role = MCR_JSONL_NUMBER; return MCR_OK;
    case MCR_JSON_STRING: f->role = MCR_JSONL_STRINGS; return MCR_OK;
    case MCR_JSON_ARRAY: f->role = MCR_JSONL_DENSE; return MCR_OK;
    case MCR_JSON_NULL: return fail_type(f, value, "a value");
    case MCR_JSON_OBJECT: break;
    }
    if (member(value, "nodes", "edges"))
        f->role = MCR_JSONL_GRAPHS;
    else if (member(value, "i", "indices"))
        f->role = MCR_JSONL_SPARSE;
    else if (member(value, "k", NULL))
        f->role = MCR_JSONL_PRECOMPUTED;
    else if (member(value, "hex", NULL))
        f->role = MCR_JSONL_STRINGS;
    else
        return refuse(f, value,
                      "an object should have \"nodes\" and \"edges\" (a graph), "
                      "\"i\" and \"v\" (a sparse vector), \"hex\" or \"k\"");
    return MCR_OK;
}

/* ---- target, weight, strings ---------------------------------------------------------------- */

static mcr_status add_target(mcr_jsonl_field *f, const mcr_json_value *v, int64_t n)
{
    bool word = v->type != MCR_JSON_NUMBER;
    if (v->type == MCR_JSON_NULL || v->type >= MCR_JSON_ARRAY)
        return fail_type(f, v, "a number or a word");
    if (n == 0)
        f->words = word;
    if (word != f->words)
        return fail_type(f, v, f->words ? "a word" : "a number");
    if (v->type == MCR_JSON_TRUE)
        return mcr_labels_add(f->labels, "true", 4);
    if (v->type == MCR_JSON_FALSE)
        return mcr_labels_add(f->labels, "false", 5);
    if (v->count == 0 || memchr(v->text, 0, (size_t)v->count))
        return refuse(f, v, "a label that is empty or contains a NUL");
    return mcr_labels_add(f->labels, v->text, (size_t)v->count);
}

static mcr_status add_weight(mcr_jsonl_field *f, const mcr_json_value *v, int64_t n)
{
    if (v->type != MCR_JSON_NUMBER)
        return fail_type(f, v, "a number");
    if (v->number < 0 && f->role == MCR_JSONL_WEIGHT)
        return refuse(f, v, "a weight may not be negative");
    mcr_status status = mcr_reserve(f->json->ctx, &f->weight, &f->capacity[0], n + 1,
                                    sizeof *f->weight);
    if (status == MCR_OK)
        f->weight[n] = v->number;
    return status;
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

static mcr_status add_hex(mcr_jsonl_field *f, const mcr_json_value *hex)
{
    char *to;
    mcr_status status = mcr_strings_add(&f->strings, NULL, 0);
    if (status == MCR_OK)
        status = mcr_strings_extend(&f->strings, NULL, (size_t)hex->count / 2, &to);
    for (int64_t i = 0; status == MCR_OK && i + 1 < hex->count; i += 2) {
        int high = hex_digit(hex->text[i]), low = hex_digit(hex->text[i + 1]);
        if (high < 0 || low < 0)
            return refuse(f, hex, "\"hex\" has characters that are not hexadecimal digits");
        *to++ = (char)(high << 4 | low);
    }
    return status;
}

static mcr_status add_string(mcr_jsonl_field *f, const mcr_json_value *v)
{
    static const char *const allowed[] = {"hex", NULL};
    if (v->type == MCR_JSON_STRING)
        return mcr_strings_add(&f->strings, v->text, (size_t)v->count);
    const mcr_json_value *hex = mcr_json_find(v, "hex");
    if (!hex)
        return fail_type(f, v, "a string");
    mcr_status status = check_members(f, v, allowed, 1);
    if (status != MCR_OK)
        return status;
    if (hex->type != MCR_JSON_STRING || hex->count % 2)
        return refuse(f, hex, "\"hex\" should be pairs of hexadecimal digits");
    return add_hex(f, hex);
}

/* ---- vectors -------------------------------------------------------------------------------- */

static mcr_status add_number(mcr_jsonl_field *f, const mcr_json_value *v, int64_t n)
{
    mcr_jsonl_field *home = f->home;
    int64_t cols = home->store->cols;
    if (v->type != MCR_JSON_NUMBER && v->type != MCR_JSON_TRUE && v->type != MCR_JSON_FALSE)
        return fail_type(f, v, "a number");
    mcr_status status = mcr_reserve(f->json->ctx, &home->store->dense,
                                    &home->capacity[CAPACITY_DENSE], (n + 1) * cols,
                                    sizeof(double));
    if (status == MCR_OK)
        home->store->dense[n * cols + f->column] = v->type == MCR_JSON_NUMBER
                                                       ? v->number
                                                       : (double)(v->type == MCR_JSON_TRUE);
    return status;
}

/* An array of cols numbers as row n. */
static mcr_status add_row(mcr_jsonl_field *f, const mcr_json_value *v, int64_t n)
{
    mcr_store *s = f->store;
    if (v->type != MCR_JSON_ARRAY)
        return fail_type(f, v, "an array of numbers");
    if (v->count == 0)
        return refuse(f, v, "the array is empty");
    if (n == 0)
        s->cols = v->count;
    if (v->count != s->cols)
        return refuse(f, v, "%lld numbers, but %lld in the first line", (long long)v->count,
                      (long long)s->cols);
    mcr_status status = RESERVE(s->dense, CAPACITY_DENSE, (n + 1) * s->cols);
    if (status != MCR_OK)
        return status;
    double *to = s->dense + n * s->cols;
    const mcr_json_value *e = v + 1;
    for (int64_t i = 0; i < v->count; i++, e = mcr_json_next(e)) {
        if (e->type != MCR_JSON_NUMBER)
            return fail_type(f, e, "a number");
        to[i] = e->number;
    }
    return MCR_OK;
}

static mcr_status add_precomputed(mcr_jsonl_field *f, const mcr_json_value *v, int64_t n)
{
    static const char *const allowed[] = {"k", "id", NULL};
    const mcr_json_value *k = mcr_json_find(v, "k"), *id = mcr_json_find(v, "id");
    if (!k)
        return fail_type(f, v, "an object with \"k\"");
    mcr_status status = check_members(f, v, allowed, id ? 2 : 1);
    if (status == MCR_OK)
        status = add_row(f, k, n);
    if (status == MCR_OK)
        status = RESERVE(f->store->id, CAPACITY_ID, n + 1);
    if (status != MCR_OK)
        return status;
    if (n == 0)
        f->named = id != NULL;
    if (f->named != (id != NULL))
        return refuse(f, v, "\"id\" should be in all lines or in none");
    f->store->id[n] = -1;
    if (id && (!mcr_json_int(id, &f->store->id[n]) || f->store->id[n] < -1 ||
               f->store->id[n] >= f->store->cols))
        return refuse(f, id, "\"id\" should be an integer from -1 to %lld",
                      (long long)f->store->cols - 1);
    return MCR_OK;
}

/* The number of columns that a sparse vector declares; it must be the same in all lines. */
static mcr_status read_width(mcr_jsonl_field *f, const mcr_json_value *v,
                             const mcr_json_value *width, int64_t n)
{
    int64_t cols = 0;
    if (n == 0)
        f->named = width != NULL;
    if (f->named != (width != NULL))
        return refuse(f, v, "\"n\" should be in all lines or in none");
    if (!width)
        return MCR_OK;
    if (!mcr_json_int(width, &cols) || cols < 1 || cols > INT32_MAX)
        return refuse(f, width, "\"n\" should be a number of columns");
    if (n == 0)
        f->store->cols = cols;
    if (cols != f->store->cols)
        return refuse(f, width, "\"n\" is %lld, but %lld in the first line", (long long)cols,
                      (long long)f->store->cols);
    return MCR_OK;
}

static mcr_status add_entry(mcr_jsonl_field *f, const mcr_json_value *i, const mcr_json_value *v,
                            int64_t to, bool first)
{
    mcr_store *s = f->store;
    int64_t column;
    if (!mcr_json_int(i, &column) || column < 0 || column >= INT32_MAX)
        return refuse(f, i, "an index should be an integer from 0");
    if (!first && column <= s->index[to - 1])
        return refuse(f, i, "index %lld after %d: indices must be ascending", (long long)column,
                      s->index[to - 1]);
    if (f->named && column >= s->cols)
        return refuse(f, i, "index %lld, but \"n\" is %lld", (long long)column, (long long)s->cols);
    if (v->type != MCR_JSON_NUMBER)
        return fail_type(f, v, "a number");
    if (column >= s->cols)
        s->cols = column + 1;
    s->index[to] = (int32_t)column;
    s->value[to] = v->number;
    return MCR_OK;
}

static mcr_status add_sparse(mcr_jsonl_field *f, const mcr_json_value *v, int64_t n)
{
    static const char *const allowed[] = {"i", "v", "n", "indices", "values", NULL};
    mcr_store *s = f->store;
    const mcr_json_value *index = member(v, "i", "indices"), *value = member(v, "v", "values");
    const mcr_json_value *width = mcr_json_find(v, "n");
    if (v->type != MCR_JSON_OBJECT || !index || !value || index->type != MCR_JSON_ARRAY ||
        value->type != MCR_JSON_ARRAY)
        return refuse(f, v, "a sparse vector is {\"i\": [..], \"v\": [..]}");
    if (index->count != value->count)
        return refuse(f, v, "%lld indices, but %lld values", (long long)index->count,
                      (long long)value->count);
    mcr_status status = check_members(f, v, allowed, width ? 3 : 2);
    if (status == MCR_OK)
        status = read_width(f, v, width, n);
    int64_t used = s->start[n], need = used + index->count;
    if (status == MCR_OK)
        status = RESERVE(s->start, CAPACITY_START, n + 2);
    if (status == MCR_OK) /* one more, so that the arrays exist even if no row has an entry */
        status = RESERVE(s->index, CAPACITY_INDEX, need + 1);
    if (status == MCR_OK)
        status = RESERVE(s->value, CAPACITY_VALUE, need + 1);
    const mcr_json_value *i = index + 1, *e = value + 1;
    for (int64_t to = used; status == MCR_OK && to < need; to++) {
        status = add_entry(f, i, e, to, to == used);
        i = mcr_json_next(i);
        e = mcr_json_next(e);
    }
    if (status == MCR_OK)
        s->start[n + 1] = need;
    return status;
}

/* ---- graphs --------------------------------------------------------------------------------- */

static mcr_status check_kind(const mcr_jsonl_field *f, const mcr_json_value *at, const char *what,
                             int *kind, int found)
{
    if (*kind == 0)
        *kind = found;
    if (*kind == found)
        return MCR_OK;
    return refuse(f, at, "all %s must be without labels, or all with labels of one kind", what);
}

static mcr_status read_node_label(mcr_jsonl_field *f, const mcr_json_value *v, int32_t *label)
{
    int64_t number;
    bool word = v->type == MCR_JSON_STRING;
    if (!word && v->type != MCR_JSON_NUMBER)
        return fail_type(f, v, "a node's label");
    mcr_status status = check_kind(f, v, "nodes", &f->node_kind, word ? WORDS : NUMBERS);
    if (status != MCR_OK)
        return status;
    if (word) {
        if (memchr(v->text, 0, (size_t)v->count))
            return refuse(f, v, "a label that contains a NUL");
        return mcr_words_number(&f->node_words, f->json->ctx, v->text, (size_t)v->count, label);
    }
    if (!mcr_json_int(v, &number) || number < INT32_MIN || number > INT32_MAX)
        return refuse(f, v, "a label should be a word or an integer of 32 bits");
    *label = (int32_t)number;
    return MCR_OK;
}

static mcr_status add_nodes(mcr_jsonl_field *f, const mcr_json_value *v, int64_t n)
{
    mcr_store *s = f->store;
    int64_t nodes = v->count, used = s->start[n];
    if (v->type == MCR_JSON_NUMBER && !mcr_json_int(v, &nodes))
        nodes = -1;
    if ((v->type != MCR_JSON_ARRAY && v->type != MCR_JSON_NUMBER) || nodes < 0)
        return refuse(f, v, "\"nodes\" should be a list of labels, or how many there are");
    if (nodes > INT32_MAX ||
        (uint64_t)(used + nodes) > mcr_memory_budget(f->json->ctx) / NODE_BYTES)
        return refuse(f, v, "so many nodes exceed the memory budget");
    mcr_status status = MCR_OK;
    if (v->type == MCR_JSON_NUMBER && nodes > 0)
        status = check_kind(f, v, "nodes", &f->node_kind, PLAIN);
    if (status == MCR_OK)
        status = RESERVE(s->start, CAPACITY_START, n + 2);
    if (status != MCR_OK)
        return status;
    s->start[n + 1] = used + nodes;
    if (v->type == MCR_JSON_NUMBER)
        return MCR_OK;
    status = RESERVE(s->node_label, CAPACITY_NODE_LABEL, used + nodes);
    const mcr_json_value *e = v + 1;
    for (int64_t i = 0; status == MCR_OK && i < nodes; i++, e = mcr_json_next(e))
        status = read_node_label(f, e, &s->node_label[used + i]);
    return status;
}

static mcr_status add_edge(mcr_jsonl_field *f, const mcr_json_value *v, int64_t nodes, int64_t to)
{
    if (v->type != MCR_JSON_ARRAY || v->count < 2 || v->count > 3)
        return refuse(f, v, "an edge is [a, b] or [a, b, label]");
    int64_t number;
    for (int i = 0; i < 2; i++) {
        const mcr_json_value *end = v + 1 + i; /* of size 1, if it is a number */
        if (end->type != MCR_JSON_NUMBER || !mcr_json_int(end, &number))
            return fail_type(f, end, "a node's number");
        if (number < 0 || number >= nodes)
            return refuse(f, end, "there is no node %lld; the graph has %lld, numbered from 0",
                          (long long)number, (long long)nodes);
        f->edge[to][i] = (int32_t)number;
    }
    mcr_status status = check_kind(f, v, "edges", &f->edge_kind, v->count == 3 ? NUMBERS : PLAIN);
    if (status != MCR_OK || v->count < 3)
        return status;
    if (!mcr_json_int(v + 3, &number) || number < INT32_MIN || number > INT32_MAX)
        return refuse(f, v + 3, "an edge's label should be an integer of 32 bits");
    f->edge_label[to] = (int32_t)number;
    return MCR_OK;
}

static mcr_status add_edges(mcr_jsonl_field *f, const mcr_json_value *v, int64_t n)
{
    int64_t nodes = f->store->start[n + 1] - f->store->start[n];
    int64_t used = f->edge_start[n], need = used + v->count;
    if (v->type != MCR_JSON_ARRAY)
        return fail_type(f, v, "an array of edges");
    mcr_status status = RESERVE(f->edge_start, CAPACITY_EDGE_START, n + 2);
    if (status == MCR_OK)
        status = RESERVE(f->edge, CAPACITY_EDGE, need);
    if (status == MCR_OK)
        status = RESERVE(f->edge_label, CAPACITY_EDGE_LABEL, need);
    const mcr_json_value *e = v + 1;
    for (int64_t to = used; status == MCR_OK && to < need; to++, e = mcr_json_next(e))
        status = add_edge(f, e, nodes, to);
    if (status == MCR_OK)
        f->edge_start[n + 1] = need;
    return status;
}

static mcr_status add_graph(mcr_jsonl_field *f, const mcr_json_value *v, int64_t n)
{
    static const char *const allowed[] = {"nodes", "edges", NULL};
    const mcr_json_value *nodes = mcr_json_find(v, "nodes"), *edges = mcr_json_find(v, "edges");
    if (!nodes || !edges)
        return refuse(f, v, "a graph is {\"nodes\": .., \"edges\": [..]}");
    mcr_status status = check_members(f, v, allowed, 2);
    if (status == MCR_OK)
        status = add_nodes(f, nodes, n);
    if (status == MCR_OK)
        status = add_edges(f, edges, n);
    return status;
}

/* ---- life of a field ------------------------------------------------------------------------ */

/* The first entry of an array of starts. */
static mcr_status open_starts(mcr *ctx, int64_t **start, int64_t *capacity)
{
    mcr_status status = mcr_reserve(ctx, start, capacity, 1, sizeof **start);
    if (status == MCR_OK)
        (*start)[0] = 0;
    return status;
}

mcr_status mcr_jsonl_open(mcr_jsonl_field *f)
{
    mcr *ctx = f->json->ctx;
    mcr_status status = MCR_OK;
    switch (f->role) {
    case MCR_JSONL_TARGET: return mcr_labels_open(&f->labels, ctx);
    case MCR_JSONL_TARGETS:
    case MCR_JSONL_NAME:
    case MCR_JSONL_WEIGHT: return MCR_OK;
    case MCR_JSONL_STRINGS: return mcr_strings_open(&f->strings, ctx, f->name);
    case MCR_JSONL_DENSE: return mcr_store_new(&f->store, ctx, f->name, MCR_DENSE);
    case MCR_JSONL_PRECOMPUTED: return mcr_store_new(&f->store, ctx, f->name, MCR_PRECOMPUTED);
    case MCR_JSONL_NUMBER:
        if (f->home == f)
            status = mcr_store_new(&f->store, ctx, f->named ? f->name : "x", MCR_DENSE);
        if (f->store)
            f->store->cols = f->columns;
        return status;
    case MCR_JSONL_SPARSE:
        status = mcr_store_new(&f->store, ctx, f->name, MCR_SPARSE);
        if (status == MCR_OK)
            status = open_starts(ctx, &f->store->start, &f->capacity[CAPACITY_START]);
        return status;
    case MCR_JSONL_GRAPHS:
        status = mcr_store_new(&f->store, ctx, f->name, MCR_GRAPHS);
        if (status == MCR_OK)
            status = open_starts(ctx, &f->store->start, &f->capacity[CAPACITY_START]);
        if (status == MCR_OK)
            status = open_starts(ctx, &f->edge_start, &f->capacity[CAPACITY_EDGE_START]);
        return status;
    }
    return status;
}

/* A word, or a number as written. */
static mcr_status add_name(const mcr_jsonl_field *f, const mcr_json_value *v)
{
    if (v->type != MCR_JSON_STRING && v->type != MCR_JSON_NUMBER)
        return mcr_json_fail(f->json, v,
                             "key \"%s\" names the object: it must be a word or a number", f->name);
    return mcr_join_name(f->join, v->text, (size_t)v->count);
}

mcr_status mcr_jsonl_add(mcr_jsonl_field *f, const mcr_json_value *v, int64_t n)
{
    switch (f->role) {
    case MCR_JSONL_TARGET: return add_target(f, v, n);
    case MCR_JSONL_TARGETS:
    case MCR_JSONL_WEIGHT: return add_weight(f, v, n);
    case MCR_JSONL_NAME: return add_name(f, v);
    case MCR_JSONL_NUMBER: return add_number(f, v, n);
    case MCR_JSONL_DENSE: return add_row(f, v, n);
    case MCR_JSONL_SPARSE: return add_sparse(f, v, n);
    case MCR_JSONL_STRINGS: return add_string(f, v);
    case MCR_JSONL_GRAPHS: return add_graph(f, v, n);
    case MCR_JSONL_PRECOMPUTED: return add_precomputed(f, v, n);
    }
    return MCR_OK;
}

static mcr_status take_store(mcr_jsonl_field *f, mcr_builder *builder, int64_t n)
{
    mcr_store *store = f->store;
    store->count = n;
    f->store = NULL;
    return mcr_builder_take(builder, store);
}

static mcr_status finish_graphs(mcr_jsonl_field *f, mcr_builder *builder, int64_t n)
{
    mcr_store *s = f->store;
    s->count = n;
    if (f->node_kind < NUMBERS) {
        mcr_free(s->ctx, s->node_label);
        s->node_label = NULL;
    }
    if (f->node_kind == WORDS) {
        s->label_name = f->node_words.word;
        s->label_names = f->node_words.count;
        f->node_words.word = NULL;
        f->node_words.count = 0;
    }
    mcr_status status = mcr_store_link(s, f->edge_start, (const int32_t(*)[2])f->edge,
                                       f->edge_kind == NUMBERS ? f->edge_label : NULL);
    return status == MCR_OK ? take_store(f, builder, n) : status;
}

mcr_status mcr_jsonl_finish(mcr_jsonl_field *f, mcr_builder *builder, int64_t n)
{
    mcr_status status;
    switch (f->role) {
    case MCR_JSONL_TARGET:
        status = mcr_builder_labels(builder, f->labels);
        f->labels = NULL;
        return status;
    case MCR_JSONL_NAME: return MCR_OK;
    case MCR_JSONL_TARGETS: return MCR_OK; /* they are passed to the builder together */
    case MCR_JSONL_WEIGHT: return mcr_builder_weights(builder, f->weight);
    case MCR_JSONL_STRINGS: return mcr_strings_finish(&f->strings, builder);
    case MCR_JSONL_GRAPHS: return finish_graphs(f, builder, n);
    case MCR_JSONL_NUMBER: return f->home == f ? take_store(f, builder, n) : MCR_OK;
    case MCR_JSONL_DENSE:
    case MCR_JSONL_SPARSE: return take_store(f, builder, n);
    case MCR_JSONL_PRECOMPUTED:
        for (int64_t i = 0; i < n && !f->named && n == f->store->cols; i++)
            f->store->id[i] = i;
        return take_store(f, builder, n);
    }
    return MCR_OK;
}

void mcr_jsonl_close(mcr_jsonl_field *f, mcr *ctx)
{
    mcr_store_free(f->store);
    mcr_strings_close(&f->strings);
    mcr_labels_close(f->labels);
    mcr_words_free(&f->node_words, ctx);
    mcr_free_all(ctx, f->weight, f->edge_start, f->edge, f->edge_label, f->name);
}
