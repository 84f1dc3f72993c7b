/* builder.c: data sets from arrays and from readers' stores.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "data/builder.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

mcr_status mcr_builder_open(mcr_builder **out, mcr *ctx, int64_t count)
{
    *out = NULL;
    if (count < -1)
        return mcr_fail(ctx, MCR_BAD_CALL, "a data set cannot have %" PRId64 " objects", count);
    mcr_builder *b = mcr_alloc_zero(ctx, 1, sizeof *b);
    if (b == NULL)
        return MCR_NO_MEMORY;
    b->ctx = ctx;
    b->count = count;
    b->data = mcr_alloc_zero(ctx, 1, sizeof *b->data);
    if (b->data == NULL) {
        mcr_free(ctx, b);
        return MCR_NO_MEMORY;
    }
    b->data->ctx = ctx;
    b->data->owners = 1;
    *out = b;
    return MCR_OK;
}

void mcr_builder_close(mcr_builder *b)
{
    if (b == NULL)
        return;
    mcr_data_free(b->data);
    mcr_free(b->ctx, b);
}

mcr_status mcr_builder_expect(mcr_builder *b, int64_t count)
{
    if (b->count < 0)
        b->count = count;
    if (b->count != count)
        return mcr_fail(b->ctx, MCR_BAD_DATA, "%" PRId64 " objects, but %" PRId64 " were expected",
                        count, b->count);
    return MCR_OK;
}

mcr_status mcr_builder_known(const mcr_builder *b)
{
    if (b->count < 0)
        return mcr_fail(b->ctx, MCR_BAD_CALL,
                        "the builder was opened without the number of objects");
    return MCR_OK;
}

mcr_status mcr_builder_adopt(mcr_builder *b, mcr_store *store)
{
    mcr_status status = mcr_builder_expect(b, store->count);
    if (status == MCR_OK && store->name[0] == '\0')
        status = mcr_fail(b->ctx, MCR_BAD_CALL, "a field needs a name");
    for (int64_t i = 0; i < b->data->fields && status == MCR_OK; i++)
        if (strcmp(b->data->store[i]->name, store->name) == 0)
            status = mcr_fail(b->ctx, MCR_BAD_DATA, "there are two fields called \"%s\"",
                              store->name);
    if (status == MCR_OK)
        status = mcr_reserve(b->ctx, &b->data->store, &b->store_capacity, b->data->fields + 1,
                             sizeof *b->data->store);
    if (status != MCR_OK) {
        mcr_store_free(store);
        return status;
    }
    b->data->store[b->data->fields++] = store;
    return MCR_OK;
}

mcr_status mcr_builder_take(mcr_builder *b, mcr_store *store)
{
    mcr_status status = mcr_store_check(store);
    if (status != MCR_OK) {
        mcr_store_free(store);
        return status;
    }
    return mcr_builder_adopt(b, store);
}

/* A copy of count elements of `size` bytes; NULL if out of memory. */
static void *copy_of(mcr *ctx, const void *from, int64_t count, size_t size)
{
    void *copy = mcr_alloc(ctx, (size_t)count, size);
    if (copy != NULL && count > 0)
        memcpy(copy, from, (size_t)count * size);
    return copy;
}

mcr_status mcr_builder_store(mcr_store **out, mcr_builder *b, const char *name, mcr_kind kind)
{
    *out = NULL;
    mcr_status status = mcr_builder_known(b);
    if (status == MCR_OK)
        status = mcr_store_new(out, b->ctx, name, kind);
    if (status == MCR_OK)
        (*out)->count = b->count;
    return status;
}

/* Copies the user's starts, which are checked before they are used. */
static mcr_status copy_starts(mcr_store *s, const int64_t *start)
{
    s->start = copy_of(s->ctx, start, s->count + 1, sizeof *start);
    return s->start != NULL ? mcr_store_check_starts(s) : MCR_NO_MEMORY;
}

/* Copies rows that are ld apart into the store's block, count x cols. */
static mcr_status copy_dense(mcr_store *s, const double *values, int64_t cols, int64_t ld)
{
    if (cols < 1 || ld < cols)
        return mcr_fail(s->ctx, MCR_BAD_CALL,
                        "field \"%s\": %" PRId64 " columns at a distance of %" PRId64
                        " make no matrix",
                        s->name, cols, ld);
    s->cols = cols;
    mcr_status status = mcr_store_alloc_dense(s);
    if (status != MCR_OK)
        return status;
    for (int64_t i = 0; i < s->count; i++)
        memcpy(s->dense + i * cols, values + i * ld, (size_t)cols * sizeof *values);
    return MCR_OK;
}

mcr_status mcr_builder_take_filled(mcr_builder *b, mcr_store *s, mcr_status filled)
{
    if (filled == MCR_OK)
        return mcr_builder_take(b, s);
    mcr_store_free(s);
    return filled;
}

mcr_status mcr_builder_dense(mcr_builder *b, const char *name, const double *values, int64_t cols,
                             int64_t ld)
{
    mcr_store *s;
    mcr_status status = mcr_builder_store(&s, b, name, MCR_DENSE);
    if (status == MCR_OK)
        status = copy_dense(s, values, cols, ld);
    return mcr_builder_take_filled(b, s, status);
}

mcr_status mcr_builder_sparse(mcr_builder *b, const char *name, int64_t cols, const int64_t *start,
                              const int32_t *index, const double *value)
{
    mcr_store *s;
    mcr_status status = mcr_builder_store(&s, b, name, MCR_SPARSE);
    if (status == MCR_OK)
        status = copy_starts(s, start);
    if (status == MCR_OK) {
        s->cols = cols;
        s->index = copy_of(b->ctx, index, start[b->count], sizeof *index);
        s->value = copy_of(b->ctx, value, start[b->count], sizeof *value);
        if (s->index == NULL || s->value == NULL)
            status = MCR_NO_MEMORY;
    }
    return mcr_builder_take_filled(b, s, status);
}

mcr_status mcr_builder_sparse_of(mcr_builder *b, const char *name, const double *values,
                                 int64_t cols, int64_t ld)
{
    mcr_store *s;
    int64_t entries = 0, at = 0;
    mcr_status status = mcr_builder_store(&s, b, name, MCR_SPARSE);
    if (status != MCR_OK)
        return status;
    for (int64_t i = 0; i < s->count; i++)
        for (int64_t k = 0; k < cols; k++)
            entries += values[i * ld + k] != 0;
    s->cols = cols;
    status = mcr_store_alloc_sparse(s, entries);
    for (int64_t i = 0; i < s->count && status == MCR_OK; i++) {
        for (int64_t k = 0; k < cols; k++)
            if (values[i * ld + k] != 0) {
                s->index[at] = (int32_t)k;
                s->value[at++] = values[i * ld + k];
            }
        s->start[i + 1] = at;
    }
    return mcr_builder_take_filled(b, s, status);
}

mcr_status mcr_builder_strings(mcr_builder *b, const char *name, const int64_t *start,
                               const char *bytes)
{
    mcr_store *s;
    mcr_status status = mcr_builder_store(&s, b, name, MCR_STRINGS);
    if (status == MCR_OK)
        status = copy_starts(s, start);
    if (status == MCR_OK) {
        s->bytes = copy_of(b->ctx, bytes, start[b->count], 1);
        if (s->bytes == NULL)
            status = MCR_NO_MEMORY;
    }
    return mcr_builder_take_filled(b, s, status);
}

mcr_status mcr_builder_graphs(mcr_builder *b, const char *name, const int64_t *node_start,
                              const int32_t *node_label, const int64_t *edge_start,
                              const int32_t (*edge)[2], const int32_t *edge_label)
{
    mcr_store *s;
    mcr_status status = mcr_builder_store(&s, b, name, MCR_GRAPHS);
    if (status == MCR_OK)
        status = copy_starts(s, node_start);
    if (status == MCR_OK && node_label != NULL) {
        s->node_label = copy_of(b->ctx, node_label, node_start[b->count], sizeof *node_label);
        if (s->node_label == NULL)
            status = MCR_NO_MEMORY;
    }
    if (status == MCR_OK)
        status = mcr_store_link(s, edge_start, edge, edge_label);
    return mcr_builder_take_filled(b, s, status);
}

mcr_status mcr_store_number(mcr_store *s, const int64_t *id)
{
    s->id = mcr_alloc(s->ctx, (size_t)s->count, sizeof *s->id);
    for (int64_t i = 0; s->id != NULL && i < s->count; i++)
        s->id[i] = id != NULL ? id[i] : s->count == s->cols ? i : -1;
    return s->id != NULL ? MCR_OK : MCR_NO_MEMORY;
}

mcr_status mcr_builder_precomputed(mcr_builder *b, const char *name, const double *values,
                                   int64_t cols, const int64_t *id)
{
    mcr_store *s;
    mcr_status status = mcr_builder_store(&s, b, name, MCR_PRECOMPUTED);
    if (status == MCR_OK && (cols > 0 || id == NULL))
        status = copy_dense(s, values, cols, cols);
    if (status == MCR_OK)
        status = mcr_store_number(s, id);
    return mcr_builder_take_filled(b, s, status);
}

void mcr_builder_set_targets(mcr_builder *b, mcr_targets kind, double *target, int32_t *class_of,
                             mcr_classes *classes)
{
    mcr_data *d = b->data;
    mcr_free_all(b->ctx, d->target, d->class_of, d->table);
    mcr_classes_free(b->ctx, d->classes);
    mcr_classes_free(b->ctx, d->target_names);
    d->target_names = NULL;
    d->table = NULL;
    d->target_kind = kind;
    d->target = target;
    d->class_of = class_of;
    d->classes = classes;
}

mcr_status mcr_builder_targets(mcr_builder *b, const double *values)
{
    mcr_status status = mcr_builder_known(b);
    if (status != MCR_OK)
        return status;
    for (int64_t i = 0; i < b->count; i++)
        if (!isfinite(values[i]))
            return mcr_fail(b->ctx, MCR_BAD_DATA, "object %" PRId64 ": the target is not finite",
                            i + 1);
    double *target = copy_of(b->ctx, values, b->count, sizeof *values);
    int32_t *class_of = mcr_alloc(b->ctx, (size_t)b->count, sizeof *class_of);
    mcr_classes *classes = NULL;
    status = target != NULL && class_of != NULL ? MCR_OK : MCR_NO_MEMORY;
    if (status == MCR_OK)
        status = mcr_classes_of_reals(&classes, b->ctx, target, b->count, class_of);
    if (status != MCR_OK) {
        mcr_free_all(b->ctx, target, class_of);
        return status;
    }
    mcr_builder_set_targets(b, MCR_REAL_TARGETS, target, class_of, classes);
    return MCR_OK;
}

/* Default names of targets: target1, target2, ... */
static mcr_status number_targets(mcr_classes **out, mcr *ctx, int64_t count)
{
    enum { NAME_BYTES = 32 };
    char *text = mcr_alloc(ctx, (size_t)count, NAME_BYTES);
    const char **name = mcr_alloc(ctx, (size_t)count, sizeof *name);
    mcr_status status = text != NULL && name != NULL ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t t = 0; t < count && status == MCR_OK; t++) {
        snprintf(text + t * NAME_BYTES, NAME_BYTES, "target%" PRId64, t + 1);
        name[t] = text + t * NAME_BYTES;
    }
    if (status == MCR_OK)
        status = mcr_classes_of_names(out, ctx, name, count);
    mcr_free_all(ctx, text, name);
    return status;
}

static mcr_status check_table(const mcr_builder *b, const double *values, int64_t count)
{
    mcr_status status = mcr_builder_known(b);
    if (status == MCR_OK && count < 1)
        status = mcr_fail(b->ctx, MCR_BAD_CALL, "a table of %" PRId64 " targets", count);
    for (int64_t i = 0; i < b->count * count && status == MCR_OK; i++)
        if (!isfinite(values[i]))
            status = mcr_fail(b->ctx, MCR_BAD_DATA,
                              "object %" PRId64 ": target %" PRId64 " is not finite", i / count + 1,
                              i % count + 1);
    return status;
}

mcr_status mcr_builder_target_table(mcr_builder *b, const double *values, int64_t count,
                                    const char *const *names)
{
    mcr *ctx = b->ctx;
    mcr_classes *list = NULL;
    mcr_status status = check_table(b, values, count);
    if (status != MCR_OK)
        return status;
    if (count == 1)
        return mcr_builder_targets(b, values);
    double *table = copy_of(ctx, values, b->count * count, sizeof *values);
    double *first = mcr_alloc(ctx, (size_t)b->count, sizeof *first);
    status = table != NULL && first != NULL ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t i = 0; i < b->count && status == MCR_OK; i++)
        first[i] = values[i * count];
    if (status == MCR_OK)
        status = names != NULL ? mcr_classes_of_names(&list, ctx, names, count)
                               : number_targets(&list, ctx, count);
    if (status == MCR_OK)
        status = mcr_builder_targets(b, first);
    mcr_free(ctx, first);
    if (status != MCR_OK) {
        mcr_free(ctx, table);
        mcr_classes_free(ctx, list);
        return status;
    }
    b->data->table = table;
    b->data->target_names = list;
    return MCR_OK;
}

mcr_status mcr_builder_words(mcr_builder *b, const char *const *words)
{
    mcr_labels *labels = NULL;
    mcr_status status = mcr_builder_known(b);
    if (status == MCR_OK)
        status = mcr_labels_open(&labels, b->ctx);
    for (int64_t i = 0; i < b->count && status == MCR_OK; i++)
        status = mcr_labels_add(labels, words[i], strlen(words[i]));
    return mcr_builder_labels_filled(b, labels, status);
}

mcr_status mcr_builder_weights(mcr_builder *b, const double *weights)
{
    mcr_status status = mcr_builder_known(b);
    if (status != MCR_OK)
        return status;
    for (int64_t i = 0; i < b->count; i++)
        if (!(weights[i] >= 0) || isinf(weights[i]))
            return mcr_fail(b->ctx, MCR_BAD_DATA,
                            "object %" PRId64 ": a weight must be finite and not negative", i + 1);
    double *copy = copy_of(b->ctx, weights, b->count, sizeof *weights);
    if (copy == NULL)
        return MCR_NO_MEMORY;
    mcr_free(b->ctx, b->data->weight);
    b->data->weight = copy;
    return MCR_OK;
}

void mcr_builder_layout(mcr_builder *b, mcr_layout *layout)
{
    mcr_layout_free(b->data->layout);
    b->data->layout = layout;
}

static mcr_status finish(mcr_data **out, mcr_builder *b)
{
    mcr_data *d = b->data;
    if (d->fields == 0)
        return mcr_fail(b->ctx, MCR_BAD_DATA, "a data set needs at least one field");
    if (d->target_kind == MCR_WORD_TARGETS) {
        d->target = mcr_alloc(b->ctx, (size_t)b->count, sizeof *d->target);
        if (d->target == NULL)
            return MCR_NO_MEMORY;
        for (int64_t i = 0; i < b->count; i++)
            d->target[i] = d->class_of[i];
    }
    d->count = b->count;
    mcr_free(b->ctx, b);
    *out = d;
    return MCR_OK;
}

mcr_status mcr_builder_finish(mcr_data **out, mcr_builder *b)
{
    *out = NULL;
    mcr_status status = finish(out, b);
    if (status != MCR_OK)
        mcr_builder_close(b);
    return status;
}

mcr_status mcr_builder_labels_filled(mcr_builder *b, mcr_labels *labels, mcr_status filled)
{
    if (filled == MCR_OK)
        return mcr_builder_labels(b, labels);
    mcr_labels_close(labels);
    return filled;
}

mcr_status mcr_builder_give(mcr_builder *b, mcr_store *store, mcr_labels *labels, mcr_status filled)
{
    if (filled == MCR_OK)
        filled = mcr_builder_adopt(b, store);
    else
        mcr_store_free(store);
    return mcr_builder_labels_filled(b, labels, filled);
}

mcr_status mcr_builder_finish_filled(mcr_data **out, mcr_builder *b, mcr_status filled)
{
    if (filled == MCR_OK)
        return mcr_builder_finish(out, b);
    mcr_builder_close(b);
    return filled;
}
