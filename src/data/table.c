/* table.c: the data set: accessors, and views of some of its rows.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "data/data.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "base/rows.h"
#include "base/sized.h"
#include "base/team.h"

mcr_data *mcr_data_retain(const mcr_data *data)
{
    mcr_data *d = (mcr_data *)data; /* the reference count is not part of the value */
    __atomic_add_fetch(&d->owners, 1, __ATOMIC_RELAXED);
    return d;
}

void mcr_data_free(mcr_data *d)
{
    if (d == NULL || __atomic_sub_fetch(&d->owners, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    mcr *ctx = d->ctx;
    for (int64_t i = 0; d->store != NULL && i < d->fields; i++)
        mcr_store_free(d->store[i]);
    mcr_free_all(ctx, d->store, d->rows, d->target, d->weight, d->class_of);
    mcr_classes_free(ctx, d->classes);
    mcr_classes_free(ctx, d->target_names);
    mcr_free(ctx, d->table);
    mcr_layout_free(d->layout);
    for (int64_t i = 0; i < d->carries; i++)
        mcr_store_free(d->carried[i]);
    mcr_free_all(ctx, d->carried, d);
}

mcr_status mcr_data_give(mcr_data **out, mcr_data *d, mcr_status status)
{
    if (status)
        mcr_data_free(d);
    else
        *out = d;
    return status;
}

void mcr_data_replace(mcr_data *view, int64_t field, mcr_store *store)
{
    if (store == NULL)
        return;
    mcr_store_free(view->store[field]);
    view->store[field] = store;
}

int64_t mcr_data_count(const mcr_data *data)
{
    return data->count;
}

int64_t mcr_data_fields(const mcr_data *data)
{
    return data->fields;
}

mcr_targets mcr_data_target_kind(const mcr_data *data)
{
    return data->target_kind;
}

const double *mcr_data_targets(const mcr_data *data)
{
    return data->target;
}

const double *mcr_data_weights(const mcr_data *data)
{
    return data->weight;
}

int64_t mcr_data_target_count(const mcr_data *data)
{
    return data->target_names != NULL ? data->target_names->count : data->target != NULL;
}

const double *mcr_data_target_table(const mcr_data *data)
{
    return data->table != NULL ? data->table : data->target;
}

const char *mcr_data_target_name(const mcr_data *data, int64_t t)
{
    return data->target_names != NULL && t >= 0 && t < data->target_names->count
               ? data->target_names->name[t]
               : NULL;
}

int64_t mcr_data_classes(const mcr_data *data)
{
    return data->classes != NULL ? data->classes->count : 0;
}

const char *mcr_data_class_name(const mcr_data *data, int64_t c)
{
    return c >= 0 && c < mcr_data_classes(data) ? data->classes->name[c] : NULL;
}

const int32_t *mcr_data_class_of(const mcr_data *data)
{
    return data->class_of;
}

mcr_field mcr_data_field(const mcr_data *data, int64_t i)
{
    assert(i >= 0 && i < data->fields);
    return (mcr_field){data->store[i], data->rows, data->first, data->count};
}

bool mcr_data_numbers_only(const mcr_data *data)
{
    for (int64_t f = 0; f < data->fields; f++)
        if (data->store[f]->kind == MCR_PRECOMPUTED && data->store[f]->cols == 0)
            return true;
    return false;
}

int64_t mcr_data_find(const mcr_data *data, const char *name, size_t length)
{
    for (int64_t i = 0; i < data->fields; i++) {
        const char *own = data->store[i]->name;
        if (strlen(own) == length && memcmp(own, name, length) == 0)
            return i;
    }
    return -1;
}

static mcr_status check_place(const mcr_data *data, int64_t field, int64_t i)
{
    if (field < 0 || field >= data->fields)
        return mcr_fail(data->ctx, MCR_BAD_CALL,
                        "there is no field %" PRId64 " (fields: %" PRId64 ", from 0)", field,
                        data->fields);
    if (i < 0 || i >= data->count)
        return mcr_fail(data->ctx, MCR_BAD_CALL,
                        "there is no object %" PRId64 " (objects: %" PRId64 ", from 0)", i,
                        data->count);
    return MCR_OK;
}

mcr_status mcr_data_vector(const mcr_data *data, int64_t field, int64_t i, double *values)
{
    mcr_status status = check_place(data, field, i);
    if (status != MCR_OK)
        return status;
    mcr_field f = mcr_data_field(data, field);
    const mcr_store *s = f.store;
    int64_t row = mcr_field_at(&f, i);
    if (!(s->kind & (MCR_DENSE | MCR_SPARSE | MCR_PRECOMPUTED)))
        return mcr_fail(data->ctx, MCR_BAD_CALL, "field \"%s\" does not contain vectors", s->name);
    if ((status = mcr_data_need_memory(data, "a look at single values")) != MCR_OK)
        return status;
    mcr_vector x = mcr_store_vector(s, row);
    mcr_vector_to_dense(&x, values, s->cols);
    return MCR_OK;
}

mcr_status mcr_data_entries(const mcr_data *data, int64_t field, int64_t i, int64_t *column,
                            double *value, int64_t *count)
{
    *count = 0;
    mcr_status status = check_place(data, field, i);
    if (status != MCR_OK)
        return status;
    mcr_field f = mcr_data_field(data, field);
    if (!(f.store->kind & (MCR_DENSE | MCR_SPARSE | MCR_PRECOMPUTED)))
        return mcr_fail(data->ctx, MCR_BAD_CALL, "field \"%s\" does not contain vectors",
                        f.store->name);
    mcr_vector x = mcr_field_vector(&f, i);
    *count = x.count;
    if (value != NULL)
        mcr_vector_copy(&x, value, NULL);
    for (int64_t e = 0; column != NULL && e < x.count; e++)
        column[e] = mcr_vector_column(&x, e);
    return MCR_OK;
}

const char *mcr_data_column_name(const mcr_data *data, int64_t field, int64_t column)
{
    if (field < 0 || field >= data->fields || column < 0 || column >= data->store[field]->cols)
        return NULL;
    const mcr_store *s = data->store[field];
    return s->column != NULL && s->column[column][0] != '\0' ? s->column[column] : NULL;
}

mcr_status mcr_data_string(const mcr_data *data, int64_t field, int64_t i, const char **bytes,
                           int64_t *length)
{
    mcr_status status = check_place(data, field, i);
    if (status != MCR_OK)
        return status;
    mcr_field f = mcr_data_field(data, field);
    int64_t row = mcr_field_at(&f, i);
    if (f.store->kind != MCR_STRINGS)
        return mcr_fail(data->ctx, MCR_BAD_CALL, "field \"%s\" does not contain strings",
                        f.store->name);
    *bytes = f.store->bytes + f.store->start[row];
    *length = f.store->start[row + 1] - f.store->start[row];
    return MCR_OK;
}

/* ---- what a field holds -----------------------------------------------------------------------*/

static void note_length(mcr_field_info *info, int64_t i, int64_t length)
{
    if (i == 0 || length < info->shortest)
        info->shortest = length;
    if (length > info->longest)
        info->longest = length;
}

/* Numbers are counted one by one; a missing date counts as one value. */
static void count_missing(const mcr_field *f, mcr_field_info *info)
{
    int64_t step = f->store->role == MCR_DATE ? MCR_DATE_PARTS : 1;
    for (int64_t i = 0; i < f->count && f->store->holes; i++) {
        const double *row = f->store->dense + mcr_field_at(f, i) * f->store->cols;
        for (int64_t c = 0; c < f->store->cols; c += step)
            info->missing += isnan(row[c]);
    }
}

static void describe_strings(const mcr_field *f, mcr_field_info *info)
{
    bool seen[256] = {false};
    for (int64_t i = 0; i < f->count; i++) {
        const int64_t *start = f->store->start + mcr_field_at(f, i);
        info->missing += f->store->holes && start[1] == start[0];
        note_length(info, i, start[1] - start[0]);
        info->entries += start[1] - start[0];
        for (int64_t k = start[0]; k < start[1]; k++)
            seen[(unsigned char)f->store->bytes[k]] = true;
    }
    for (int c = 0; c < 256; c++)
        info->alphabet += seen[c];
}

static int64_t count_distinct(int32_t *labels, int64_t count)
{
    if (count < 2)
        return count;
    qsort(labels, (size_t)count, sizeof *labels, mcr_int32_rising);
    int64_t distinct = 1;
    for (int64_t i = 1; i < count; i++)
        distinct += labels[i] != labels[i - 1];
    return distinct;
}

static mcr_status describe_graphs(const mcr_field *f, mcr_field_info *info)
{
    const mcr_store *s = f->store;
    mcr_status status = MCR_OK;
    int32_t *labels = NULL;
    int64_t nodes = 0, links = 0;
    for (int64_t i = 0; i < f->count; i++) {
        int64_t row = mcr_field_at(f, i), size = s->start[row + 1] - s->start[row];
        note_length(info, i, size);
        nodes += size;
        links += s->link[s->start[row + 1]] - s->link[s->start[row]];
        for (int64_t v = s->start[row]; v < s->start[row + 1]; v++)
            for (int64_t k = s->link[v]; k < s->link[v + 1]; k++)
                info->entries += s->adjacent[k] >= v - s->start[row];
    }
    info->nodes = nodes;
    if (s->node_label != NULL || s->link_label != NULL) {
        labels = mcr_alloc(s->ctx, (size_t)(nodes > links ? nodes : links), sizeof *labels);
        if (labels == NULL)
            return MCR_NO_MEMORY;
    }
    int64_t node = 0, link = 0;
    for (int64_t i = 0; i < f->count && s->node_label != NULL; i++) {
        const int64_t *start = s->start + mcr_field_at(f, i);
        for (int64_t v = start[0]; v < start[1]; v++)
            labels[node++] = s->node_label[v];
    }
    info->alphabet = count_distinct(labels, node);
    for (int64_t i = 0; i < f->count && s->link_label != NULL; i++) {
        const int64_t *start = s->start + mcr_field_at(f, i);
        for (int64_t k = s->link[start[0]]; k < s->link[start[1]]; k++)
            labels[link++] = s->link_label[k];
    }
    info->edge_labels = count_distinct(labels, link);
    mcr_free(s->ctx, labels);
    return status;
}

mcr_status mcr_data_field_info(const mcr_data *data, int64_t field, mcr_field_info *out)
{
    if (field < 0 || field >= data->fields)
        return mcr_fail(data->ctx, MCR_BAD_CALL,
                        "there is no field %" PRId64 " (fields: %" PRId64 ", from 0)", field,
                        data->fields);
    mcr_field f = mcr_data_field(data, field);
    const mcr_store *s = f.store;
    mcr_field_info info = {.name = s->name, .kind = s->kind, .cols = s->cols, .role = s->role};
    mcr_status status = MCR_OK;
    switch (s->kind) {
    case MCR_DENSE: count_missing(&f, &info); /* fall through */
    case MCR_PRECOMPUTED: info.entries = data->count * s->cols; break;
    case MCR_SPARSE:
        for (int64_t i = 0; i < f.count; i++) {
            const int64_t *start = s->start + mcr_field_at(&f, i);
            note_length(&info, i, start[1] - start[0]);
            info.entries += start[1] - start[0];
        }
        break;
    case MCR_STRINGS: describe_strings(&f, &info); break;
    case MCR_GRAPHS: status = describe_graphs(&f, &info); break;
    }
    return status ? status : MCR_SIZED_WRITE(mcr_field_info, out, data->ctx, &info);
}

/* ---- views -----------------------------------------------------------------------------------*/

static mcr_status check_rows(const mcr_data *data, mcr_rows rows)
{
    if (rows.count < 0)
        return mcr_fail(data->ctx, MCR_BAD_CALL, "cannot select %" PRId64 " objects", rows.count);
    int64_t bad = -1;
    bool good = true;
    if (rows.index == NULL && rows.count > 0) {
        good = rows.first >= 0 && rows.first <= data->count - rows.count;
        bad = rows.first < 0 || rows.first >= data->count ? rows.first : data->count;
    }
    for (int64_t i = 0; i < rows.count && rows.index != NULL && good; i++) {
        bad = rows.index[i];
        good = bad >= 0 && bad < data->count;
    }
    if (!good)
        return mcr_fail(data->ctx, MCR_BAD_CALL,
                        "cannot select object %" PRId64 " of %" PRId64 " (from 0)", bad,
                        data->count);
    return MCR_OK;
}

/* A map is only stored if the rows are not consecutive. */
static mcr_status map_rows(mcr_data *view, const mcr_data *data, mcr_rows rows)
{
    mcr_field f = {NULL, data->rows, data->first, data->count};
    bool range = true;
    for (int64_t i = 0; i < rows.count && range; i++)
        range = mcr_field_at(&f, mcr_rows_at(rows, i)) ==
                mcr_field_at(&f, mcr_rows_at(rows, 0)) + i;
    view->first = rows.count > 0 ? mcr_field_at(&f, mcr_rows_at(rows, 0)) : 0;
    if (range)
        return MCR_OK;
    view->first = 0;
    view->rows = mcr_alloc(data->ctx, (size_t)rows.count, sizeof *view->rows);
    if (view->rows == NULL)
        return MCR_NO_MEMORY;
    for (int64_t i = 0; i < rows.count; i++)
        view->rows[i] = mcr_field_at(&f, mcr_rows_at(rows, i));
    return MCR_OK;
}

/* Rows of `cols` numbers each. */
static mcr_status pick_reals(double **out, mcr *ctx, const double *from, int64_t cols,
                             mcr_rows rows)
{
    if (from == NULL)
        return MCR_OK;
    *out = mcr_alloc(ctx, (uint64_t)(rows.count * cols), sizeof **out);
    if (*out == NULL)
        return MCR_NO_MEMORY;
    for (int64_t i = 0; i < rows.count; i++)
        memcpy(*out + i * cols, from + mcr_rows_at(rows, i) * cols, (size_t)cols * sizeof *from);
    return MCR_OK;
}

static mcr_status pick_table(mcr_data *view, const mcr_data *data, mcr_rows rows)
{
    if (data->table == NULL)
        return MCR_OK;
    view->target_names = mcr_classes_retain(data->target_names);
    return pick_reals(&view->table, data->ctx, data->table, data->target_names->count, rows);
}

static mcr_status pick_classes(mcr_data *view, const mcr_data *data, mcr_rows rows)
{
    if (data->classes == NULL)
        return MCR_OK;
    view->class_of = mcr_alloc(data->ctx, (size_t)rows.count, sizeof *view->class_of);
    if (view->class_of == NULL)
        return MCR_NO_MEMORY;
    for (int64_t i = 0; i < rows.count; i++)
        view->class_of[i] = data->class_of[mcr_rows_at(rows, i)];
    view->classes = mcr_classes_retain(data->classes);
    view->positive = data->positive;
    return MCR_OK;
}

static mcr_status pick_carried(mcr_data *view, const mcr_data *data)
{
    view->missing = data->missing;
    view->skips = data->skips;
    if (data->carries == 0)
        return MCR_OK;
    view->carried = mcr_alloc(data->ctx, (size_t)data->carries, sizeof *view->carried);
    if (view->carried == NULL)
        return MCR_NO_MEMORY;
    for (; view->carries < data->carries; view->carries++)
        view->carried[view->carries] = mcr_store_retain(data->carried[view->carries]);
    return MCR_OK;
}

mcr_status mcr_data_select(mcr_data **out, const mcr_data *data, mcr_rows rows)
{
    *out = NULL;
    mcr *ctx = data->ctx;
    mcr_status status = check_rows(data, rows);
    if (status != MCR_OK)
        return status;
    mcr_data *view = mcr_alloc_zero(ctx, 1, sizeof *view);
    if (view == NULL)
        return MCR_NO_MEMORY;
    view->ctx = ctx;
    view->owners = 1;
    view->count = rows.count;
    view->target_kind = data->target_kind;
    view->layout = mcr_layout_retain(data->layout);
    view->store = mcr_alloc(ctx, (size_t)data->fields, sizeof *view->store);
    status = view->store != NULL ? MCR_OK : MCR_NO_MEMORY;
    if (status == MCR_OK) {
        for (int64_t i = 0; i < data->fields; i++)
            view->store[i] = mcr_store_retain(data->store[i]);
        view->fields = data->fields;
        status = map_rows(view, data, rows);
    }
    if (status == MCR_OK)
        status = pick_reals(&view->target, ctx, data->target, 1, rows);
    if (status == MCR_OK)
        status = pick_reals(&view->weight, ctx, data->weight, 1, rows);
    if (status == MCR_OK)
        status = pick_table(view, data, rows);
    if (status == MCR_OK)
        status = pick_classes(view, data, rows);
    if (status == MCR_OK)
        status = pick_carried(view, data);
    return mcr_data_give(out, view, status);
}

mcr_status mcr_data_pick(mcr_data **out, const mcr_data *data, mcr_rows rows)
{
    mcr_team *team = mcr_team_of_rows(data->ctx);
    return team ? team->objects(team, out, data, rows) : mcr_data_load(out, data, rows);
}
