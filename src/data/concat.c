/* concat.c: concatenation of data sets.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "data/data.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "data/format/collect.h"

/* The same field of all parts. */
typedef struct joint {
    mcr *ctx;
    mcr_field *part;
    int64_t parts;
    int64_t count; /* total objects */
    mcr_store *to;
} joint;

static mcr_status fail_field(const joint *j, const char *what)
{
    return mcr_fail(j->ctx, MCR_BAD_DATA, "cannot join: field \"%s\" %s", j->part[0].store->name,
                    what);
}

/* A column's name in the first part that has one; "": none. */
static const char *name_of(const joint *j, int64_t c)
{
    for (int64_t p = 0; p < j->parts; p++) {
        const mcr_store *s = j->part[p].store;
        if (s->column != NULL && c < s->cols && s->column[c][0] != '\0')
            return s->column[c];
    }
    return "";
}

/* Columns in another order must not be joined by position. Sparse parts may differ in their number
 * of columns. */
static mcr_status join_names(joint *j)
{
    bool named = false;
    for (int64_t p = 0; p < j->parts; p++) {
        const mcr_store *s = j->part[p].store;
        for (int64_t c = 0; s->column != NULL && c < s->cols; c++) {
            const char *name = name_of(j, c);
            if (s->column[c][0] != '\0' && strcmp(name, s->column[c]) != 0)
                return mcr_fail(j->ctx, MCR_BAD_DATA,
                                "cannot join: number %" PRId64
                                " of the numeric columns is \"%.64s\" in one part and \"%.64s\" in "
                                "another; put the columns in the same order under the same names",
                                c + 1, name, s->column[c]);
        }
        named |= s->column != NULL;
    }
    if (!named)
        return MCR_OK;
    j->to->column = mcr_alloc_zero(j->ctx, (size_t)j->to->cols, sizeof *j->to->column);
    if (j->to->column == NULL)
        return MCR_NO_MEMORY;
    for (int64_t c = 0; c < j->to->cols; c++) {
        const char *name = name_of(j, c);
        j->to->column[c] = mcr_copy_text(j->ctx, name, strlen(name));
        if (j->to->column[c] == NULL)
            return MCR_NO_MEMORY;
    }
    return MCR_OK;
}

static bool has_column(const mcr_store *s, const char *name)
{
    for (int64_t c = 0; c < s->cols; c++)
        if (strcmp(s->column[c], name) == 0)
            return true;
    return false;
}

/* A column that only one of them has; NULL: none, or columns without names. */
static const char *odd_column(const mcr_store *a, const mcr_store *b)
{
    for (int turn = 0; turn < 2 && a->column != NULL && b->column != NULL; turn++) {
        const mcr_store *s = turn ? b : a;
        for (int64_t c = 0; c < s->cols; c++)
            if (!has_column(turn ? a : b, s->column[c]))
                return s->column[c];
    }
    return NULL;
}

static mcr_status fail_odd(mcr *ctx, const char *name)
{
    return mcr_fail(ctx, MCR_BAD_DATA, "cannot join: only one part has a column \"%.100s\"", name);
}

static mcr_status join_dense(joint *j)
{
    int64_t cols = j->part[0].store->cols, row = 0;
    bool precomputed = j->to->kind == MCR_PRECOMPUTED;
    for (int64_t p = 1; p < j->parts; p++)
        if (odd_column(j->part[0].store, j->part[p].store) != NULL)
            return fail_odd(j->ctx, odd_column(j->part[0].store, j->part[p].store));
    for (int64_t p = 1; p < j->parts; p++)
        if (j->part[p].store->cols != cols)
            return mcr_fail(j->ctx, MCR_BAD_DATA,
                            "cannot join: field \"%s\" has %" PRId64 " columns in one part and "
                            "%" PRId64 " in another",
                            j->part[0].store->name, cols, j->part[p].store->cols);
    size_t cells;
    if (!mcr_size_mul((size_t)j->count, (size_t)cols, &cells))
        return mcr_fail(j->ctx, MCR_NO_MEMORY, "out of memory: the joint data are too large");
    j->to->cols = cols;
    mcr_status status = join_names(j);
    if (status != MCR_OK)
        return status;
    j->to->dense = mcr_alloc(j->ctx, cells, sizeof(double));
    if (precomputed)
        j->to->id = mcr_alloc(j->ctx, (size_t)j->count, sizeof(int64_t));
    if (j->to->dense == NULL || (precomputed && j->to->id == NULL))
        return MCR_NO_MEMORY;
    for (int64_t p = 0; p < j->parts; p++)
        for (int64_t i = 0; i < j->part[p].count; i++, row++) {
            const mcr_store *s = j->part[p].store;
            int64_t from = mcr_field_at(&j->part[p], i);
            mcr_vector x = mcr_store_vector(s, from);
            mcr_vector_copy(&x, j->to->dense + row * cols, NULL);
            if (precomputed)
                j->to->id[row] = s->id != NULL ? s->id[from] : -1;
        }
    return MCR_OK;
}

/* Sets to->start from the lengths of the parts' objects. */
static mcr_status join_starts(joint *j)
{
    int64_t row = 0, *start = mcr_alloc(j->ctx, (size_t)j->count + 1, sizeof *start);
    if (start == NULL)
        return MCR_NO_MEMORY;
    start[0] = 0;
    for (int64_t p = 0; p < j->parts; p++)
        for (int64_t i = 0; i < j->part[p].count; i++, row++) {
            const int64_t *from = j->part[p].store->start + mcr_field_at(&j->part[p], i);
            start[row + 1] = start[row] + (from[1] - from[0]);
        }
    j->to->start = start;
    return MCR_OK;
}

static mcr_status join_sparse(joint *j)
{
    for (int64_t p = 0; p < j->parts; p++)
        if (j->part[p].store->cols > j->to->cols)
            j->to->cols = j->part[p].store->cols;
    mcr_status status = join_names(j);
    if (status == MCR_OK)
        status = join_starts(j);
    if (status != MCR_OK)
        return status;
    size_t entries = (size_t)j->to->start[j->count];
    j->to->index = mcr_alloc(j->ctx, entries, sizeof *j->to->index);
    j->to->value = mcr_alloc(j->ctx, entries, sizeof *j->to->value);
    if (j->to->index == NULL || j->to->value == NULL)
        return MCR_NO_MEMORY;
    int64_t row = 0;
    for (int64_t p = 0; p < j->parts; p++) {
        for (int64_t i = 0; i < j->part[p].count; i++, row++) {
            mcr_vector x = mcr_field_vector(&j->part[p], i);
            mcr_vector_copy(&x, j->to->value + j->to->start[row], j->to->index + j->to->start[row]);
        }
    }
    return MCR_OK;
}

static mcr_status join_strings(joint *j)
{
    mcr_status status = join_starts(j);
    if (status != MCR_OK)
        return status;
    j->to->bytes = mcr_alloc(j->ctx, (size_t)j->to->start[j->count], 1);
    if (j->to->bytes == NULL)
        return MCR_NO_MEMORY;
    int64_t row = 0;
    for (int64_t p = 0; p < j->parts; p++)
        for (int64_t i = 0; i < j->part[p].count; i++, row++) {
            const mcr_store *s = j->part[p].store;
            memcpy(j->to->bytes + j->to->start[row],
                   s->bytes + s->start[mcr_field_at(&j->part[p], i)],
                   (size_t)(j->to->start[row + 1] - j->to->start[row]));
        }
    return MCR_OK;
}

/* ---- graphs -----------------------------------------------------------------------------------*/

/* Labels that are words in any part become words in all; a number becomes its text. */
static mcr_status node_label(joint *j, mcr_words *words, const mcr_store *s, int64_t node,
                             int32_t *label)
{
    *label = s->node_label[node];
    if (words == NULL)
        return MCR_OK;
    char number[16];
    const char *word = number;
    if (s->label_name != NULL)
        word = s->label_name[*label];
    else
        snprintf(number, sizeof number, "%" PRId32, *label);
    return mcr_words_number(words, j->ctx, word, strlen(word), label);
}

static mcr_status graph_capacity(joint *j, bool nodes_labelled, bool links_labelled)
{
    int64_t links = 0;
    for (int64_t p = 0; p < j->parts; p++)
        for (int64_t i = 0; i < j->part[p].count; i++) {
            const mcr_store *s = j->part[p].store;
            int64_t from = mcr_field_at(&j->part[p], i);
            links += s->link[s->start[from + 1]] - s->link[s->start[from]];
        }
    size_t nodes = (size_t)j->to->start[j->count];
    j->to->link = mcr_alloc(j->ctx, nodes + 1, sizeof *j->to->link);
    j->to->adjacent = mcr_alloc(j->ctx, (size_t)links, sizeof *j->to->adjacent);
    if (nodes_labelled)
        j->to->node_label = mcr_alloc(j->ctx, nodes, sizeof *j->to->node_label);
    if (links_labelled)
        j->to->link_label = mcr_alloc(j->ctx, (size_t)links, sizeof *j->to->link_label);
    if (j->to->link == NULL || j->to->adjacent == NULL ||
        (nodes_labelled && j->to->node_label == NULL) ||
        (links_labelled && j->to->link_label == NULL))
        return MCR_NO_MEMORY;
    j->to->link[0] = 0;
    return MCR_OK;
}

/* Appends one graph at node *node; its links follow the existing ones. */
static mcr_status copy_graph(joint *j, mcr_words *words, const mcr_store *s, int64_t graph,
                             int64_t *node)
{
    mcr_store *to = j->to;
    mcr_status status = MCR_OK;
    for (int64_t v = s->start[graph]; v < s->start[graph + 1] && status == MCR_OK; v++, ++*node) {
        int64_t at = to->link[*node], length = s->link[v + 1] - s->link[v];
        memcpy(to->adjacent + at, s->adjacent + s->link[v], (size_t)length * sizeof *s->adjacent);
        if (to->link_label != NULL)
            memcpy(to->link_label + at, s->link_label + s->link[v],
                   (size_t)length * sizeof *s->link_label);
        to->link[*node + 1] = at + length;
        if (to->node_label != NULL)
            status = node_label(j, words, s, v, &to->node_label[*node]);
    }
    return status;
}

static mcr_status join_graphs(joint *j)
{
    const mcr_store *first = j->part[0].store;
    bool nodes = first->node_label != NULL, links = first->link_label != NULL, named = false;
    for (int64_t p = 0; p < j->parts; p++) {
        const mcr_store *s = j->part[p].store;
        if ((s->node_label != NULL) != nodes)
            return fail_field(j, "has node labels in some parts only");
        if ((s->link_label != NULL) != links)
            return fail_field(j, "has edge labels in some parts only");
        named |= s->label_name != NULL;
    }
    mcr_words words = {0};
    mcr_status status = join_starts(j);
    if (status == MCR_OK)
        status = graph_capacity(j, nodes, links);
    int64_t node = 0;
    for (int64_t p = 0; p < j->parts; p++)
        for (int64_t i = 0; i < j->part[p].count && status == MCR_OK; i++)
            status = copy_graph(j, named ? &words : NULL, j->part[p].store,
                                mcr_field_at(&j->part[p], i), &node);
    if (status == MCR_OK && named) {
        j->to->label_name = words.word;
        j->to->label_names = words.count;
        words.word = NULL;
        words.count = 0;
    }
    mcr_words_free(&words, j->ctx);
    return status;
}

/* ---- all fields -------------------------------------------------------------------------------*/

/* Concatenates the values of j->part into j->to. */
static mcr_status join_values(joint *j)
{
    const mcr_store *first = j->part[0].store;
    mcr_status status = mcr_store_new(&j->to, j->ctx, first->name, first->kind);
    if (status != MCR_OK)
        return status;
    j->to->count = j->count;
    j->to->role = first->role;
    for (int64_t p = 0; p < j->parts; p++)
        j->to->holes |= j->part[p].store->holes;
    switch (first->kind) {
    case MCR_DENSE:
    case MCR_PRECOMPUTED: status = join_dense(j); break;
    case MCR_SPARSE: status = join_sparse(j); break;
    case MCR_STRINGS: status = join_strings(j); break;
    case MCR_GRAPHS: status = join_graphs(j); break;
    }
    if (status != MCR_OK)
        mcr_store_free(j->to);
    return status;
}

static mcr_status join_field(mcr_builder *b, joint *j, const mcr_data *const *parts, int64_t field)
{
    const mcr_store *first = parts[0]->store[field];
    for (int64_t p = 0; p < j->parts; p++) {
        int64_t i = mcr_data_find(parts[p], first->name, strlen(first->name));
        if (i < 0 || parts[p]->store[i]->kind != first->kind) {
            j->part[0] = mcr_data_field(parts[0], field);
            return fail_field(j, i < 0 ? "is missing in a part" : "is not of the same kind in all");
        }
        j->part[p] = mcr_data_field(parts[p], i);
    }
    mcr_status status = join_values(j);
    return status == MCR_OK ? mcr_builder_adopt(b, j->to) : status;
}

/* Joins the kept columns that all parts have. */
static mcr_status join_carried(mcr_builder *b, joint *j, const mcr_data *const *parts)
{
    mcr_status status = MCR_OK;
    for (int64_t c = 0; c < parts[0]->carries && status == MCR_OK; c++) {
        const mcr_store *first = parts[0]->carried[c];
        bool all = true;
        for (int64_t p = 0; p < j->parts && all; p++) {
            int64_t k = 0;
            while (k < parts[p]->carries && strcmp(parts[p]->carried[k]->name, first->name) != 0)
                k++;
            all = k < parts[p]->carries;
            if (all)
                j->part[p] = (mcr_field){parts[p]->carried[k], parts[p]->rows, parts[p]->first,
                                         parts[p]->count};
        }
        if (!all)
            continue;
        status = mcr_store_new(&j->to, j->ctx, first->name, MCR_STRINGS);
        if (status != MCR_OK)
            break;
        j->to->count = j->count;
        j->to->role = first->role;
        status = join_strings(j);
        if (status == MCR_OK)
            status = mcr_builder_carry(b, j->to);
        else
            mcr_store_free(j->to);
    }
    mcr_skips sum = parts[0]->skips;
    for (int64_t p = 1; p < j->parts; p++) {
        sum.dropped += parts[p]->skips.dropped;
        if (sum.bad == 0)
            memcpy(sum.why, parts[p]->skips.why, sizeof sum.why);
        sum.first = sum.bad == 0 ? parts[p]->skips.first : sum.first;
        sum.bad += parts[p]->skips.bad;
        sum.not_utf8 = sum.not_utf8 ? sum.not_utf8 : parts[p]->skips.not_utf8;
    }
    mcr_builder_skips(b, parts[0]->missing, &sum);
    return status;
}

static mcr_status join_words(mcr_builder *b, const mcr_data *const *parts, int64_t count)
{
    mcr_labels *labels;
    mcr_status status = mcr_labels_open(&labels, parts[0]->ctx);
    for (int64_t p = 0; p < count; p++)
        for (int64_t i = 0; i < parts[p]->count && status == MCR_OK; i++) {
            const char *word = parts[p]->classes->name[parts[p]->class_of[i]];
            status = mcr_labels_add(labels, word, strlen(word));
        }
    return mcr_builder_labels_filled(b, labels, status);
}

/* Joins several targets per object. */
static mcr_status join_tables(mcr_builder *b, const mcr_data *const *parts, int64_t count,
                              int64_t objects)
{
    mcr *ctx = parts[0]->ctx;
    int64_t cols = mcr_data_target_count(parts[0]), at = 0;
    for (int64_t p = 1; p < count; p++)
        for (int64_t t = 0; t < cols; t++)
            if (strcmp(mcr_data_target_name(parts[0], t), mcr_data_target_name(parts[p], t)) != 0)
                return mcr_fail(ctx, MCR_BAD_DATA,
                                "cannot join: target %" PRId64 " is \"%.64s\" in one part and "
                                "\"%.64s\" in another",
                                t + 1, mcr_data_target_name(parts[0], t),
                                mcr_data_target_name(parts[p], t));
    double *all = mcr_alloc(ctx, (uint64_t)(objects * cols), sizeof *all);
    if (all == NULL)
        return MCR_NO_MEMORY;
    for (int64_t p = 0; p < count; at += parts[p++]->count)
        memcpy(all + at * cols, parts[p]->table, (size_t)(parts[p]->count * cols) * sizeof *all);
    mcr_status status = mcr_builder_target_table(b, all, cols,
                                                 (const char *const *)parts[0]->target_names->name);
    mcr_free(ctx, all);
    return status;
}

static mcr_status join_targets(mcr_builder *b, const mcr_data *const *parts, int64_t count,
                               int64_t objects)
{
    mcr *ctx = parts[0]->ctx;
    bool words = false, weights = false;
    for (int64_t p = 0; p < count; p++) {
        if ((parts[p]->target_kind == MCR_NO_TARGETS) != (parts[0]->target_kind == MCR_NO_TARGETS))
            return mcr_fail(ctx, MCR_BAD_DATA, "cannot join: only some parts have targets");
        if (mcr_data_target_count(parts[p]) != mcr_data_target_count(parts[0]))
            return mcr_fail(ctx, MCR_BAD_DATA,
                            "cannot join: one part has %" PRId64 " targets and another %" PRId64,
                            mcr_data_target_count(parts[0]), mcr_data_target_count(parts[p]));
        words |= parts[p]->target_kind == MCR_WORD_TARGETS;
        weights |= parts[p]->weight != NULL;
    }
    double *joint_values = mcr_alloc(ctx, (size_t)objects, sizeof *joint_values);
    if (joint_values == NULL)
        return MCR_NO_MEMORY;
    mcr_status status = MCR_OK;
    int64_t at = 0;
    if (words) {
        status = join_words(b, parts, count);
    } else if (parts[0]->table != NULL) {
        status = join_tables(b, parts, count, objects);
    } else if (parts[0]->target_kind == MCR_REAL_TARGETS) {
        for (int64_t p = 0; p < count; p++)
            for (int64_t i = 0; i < parts[p]->count; i++)
                joint_values[at++] = parts[p]->target[i];
        status = mcr_builder_targets(b, joint_values);
    }
    at = 0;
    for (int64_t p = 0; p < count && weights; p++)
        for (int64_t i = 0; i < parts[p]->count; i++)
            joint_values[at++] = parts[p]->weight != NULL ? parts[p]->weight[i] : 1;
    if (status == MCR_OK && weights)
        status = mcr_builder_weights(b, joint_values);
    mcr_free(ctx, joint_values);
    return status;
}

/* Reports a field that only one of them has, by the name of a column if it is numeric. */
static mcr_status fail_fields(const mcr_data *a, const mcr_data *b)
{
    for (int turn = 0; turn < 2; turn++) {
        const mcr_data *d = turn ? b : a, *other = turn ? a : b;
        for (int64_t f = 0; f < d->fields; f++) {
            const mcr_store *s = d->store[f];
            if (mcr_data_find(other, s->name, strlen(s->name)) < 0)
                return fail_odd(a->ctx, s->role == MCR_NUMBER && s->column != NULL ? s->column[0]
                                                                                   : s->name);
        }
    }
    return mcr_fail(a->ctx, MCR_BAD_DATA,
                    "cannot join: one part has %" PRId64 " fields and another %" PRId64, a->fields,
                    b->fields);
}

static bool has_names(const mcr_data *data)
{
    for (int64_t f = 0; f < data->fields; f++)
        if (data->store[f]->kind == MCR_DENSE && data->store[f]->column != NULL)
            return true;
    return false;
}

/* If numeric columns have the names of the first part with names, but in another order, reorders
 * them. Mismatches are reported later. */
static mcr_status align(mcr_data **out, const mcr_data *part, const mcr_data *first)
{
    bool alike = true, moved = false;
    for (int64_t f = 0; f < first->fields && alike; f++) {
        const mcr_store *a = first->store[f];
        int64_t at = mcr_data_find(part, a->name, strlen(a->name));
        const mcr_store *b = at >= 0 ? part->store[at] : NULL;
        if (b == NULL || a->kind != MCR_DENSE || b->kind != MCR_DENSE || a->column == NULL ||
            b->column == NULL)
            continue;
        alike = a->cols == b->cols && odd_column(a, b) == NULL;
        for (int64_t c = 0; c < a->cols && alike; c++)
            moved = moved || strcmp(a->column[c], b->column[c]) != 0;
    }
    if (alike && moved && !mcr_data_on_disk(part))
        return mcr_data_match(out, first->ctx, part, first);
    *out = mcr_data_retain(part);
    return MCR_OK;
}

static mcr_status concat(mcr_data **out, const mcr_data *const *parts, int64_t count)
{
    mcr *ctx = parts[0]->ctx;
    joint j = {.ctx = ctx, .parts = count};
    for (int64_t p = 0; p < count; p++) {
        if (parts[p]->fields != parts[0]->fields)
            return fail_fields(parts[0], parts[p]);
        j.count += parts[p]->count;
    }
    mcr_builder *b;
    mcr_status status = mcr_builder_open(&b, ctx, j.count);
    if (status != MCR_OK)
        return status;
    j.part = mcr_alloc(ctx, (size_t)count, sizeof *j.part);
    status = j.part != NULL ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t f = 0; f < parts[0]->fields && status == MCR_OK; f++)
        status = join_field(b, &j, parts, f);
    if (status == MCR_OK)
        status = join_targets(b, parts, count, j.count);
    if (status == MCR_OK)
        status = join_carried(b, &j, parts);
    mcr_free(ctx, j.part);
    mcr_builder_layout(b, mcr_layout_retain(parts[0]->layout));
    return mcr_builder_finish_filled(out, b, status);
}

mcr_status mcr_data_concat(mcr_data **out, const mcr_data *const *parts, int64_t count)
{
    *out = NULL;
    if (count < 1) /* without a context there is no message */
        return MCR_BAD_CALL;
    mcr *ctx = parts[0]->ctx;
    mcr_data **part = mcr_alloc_zero(ctx, (size_t)count, sizeof *part);
    mcr_status status = part != NULL ? MCR_OK : MCR_NO_MEMORY;
    int64_t like = 0;
    while (like < count - 1 && !has_names(parts[like]))
        like++;
    for (int64_t p = 0; p < count && status == MCR_OK; p++)
        status = align(&part[p], parts[p], parts[like]);
    if (status == MCR_OK)
        status = concat(out, (const mcr_data *const *)part, count);
    for (int64_t p = 0; part != NULL && p < count; p++)
        mcr_data_free(part[p]);
    mcr_free(ctx, part);
    return status;
}

/* ---- data that borrow nothing -----------------------------------------------------------------*/

static bool borrows(const mcr_data *data)
{
    bool any = false;
    for (int64_t f = 0; f < data->fields; f++)
        any |= data->store[f]->borrowed;
    return any;
}

mcr_status mcr_data_own(mcr_data **out, const mcr_data *data)
{
    mcr_data *d = NULL;
    *out = NULL;
    if (!borrows(data)) {
        *out = mcr_data_retain(data);
        return MCR_OK;
    }
    mcr_status status = mcr_data_select(&d, data, (mcr_rows){NULL, 0, data->count});
    for (int64_t f = 0; f < data->fields && status == MCR_OK; f++) {
        mcr_field field = mcr_data_field(data, f);
        joint j = {.ctx = data->ctx, .part = &field, .parts = 1, .count = data->count};
        status = join_values(&j);
        if (status == MCR_OK)
            mcr_data_replace(d, f, j.to);
    }
    if (status != MCR_OK) {
        mcr_data_free(d);
        return status;
    }
    mcr_free(d->ctx, d->rows);
    d->rows = NULL;
    d->first = 0;
    *out = d;
    return MCR_OK;
}
