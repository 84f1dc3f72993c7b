/* groups.c: a column that assigns objects to groups, removed from the data.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>

#include "data/data.h"

/* One object's value in the column: bytes, or a number if bytes is NULL. */
typedef struct entry {
    const char *bytes;
    size_t length;
    double number;
    int64_t at;
} entry;

static int by_value(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    if (!x->bytes)
        return (x->number > y->number) - (x->number < y->number);
    size_t both = x->length < y->length ? x->length : y->length;
    int order = both ? memcmp(x->bytes, y->bytes, both) : 0;
    return order ? order : (x->length > y->length) - (x->length < y->length);
}

/* Finds the column: a field of strings (col -1), or a named column of vectors. */
static bool find_column(const mcr_data *data, const char *name, int64_t *field, int64_t *col)
{
    for (int64_t f = 0; f < data->fields; f++) {
        const mcr_store *s = data->store[f];
        *field = f;
        *col = -1;
        if (s->kind == MCR_STRINGS && strcmp(s->name, name) == 0)
            return true;
        for (int64_t c = 0; s->kind == MCR_DENSE && s->column && c < s->cols; c++)
            if (s->column[c] && strcmp(s->column[c], name) == 0) {
                *col = c;
                return true;
            }
    }
    return false;
}

static mcr_status number_groups(const mcr_data *data, int64_t field, int64_t col, int64_t *group)
{
    int64_t n = data->count, number = 0;
    mcr_field f = mcr_data_field(data, field);
    entry *list = mcr_alloc(data->ctx, (size_t)n, sizeof *list);
    if (!list)
        return MCR_NO_MEMORY;
    for (int64_t i = 0; i < n; i++) {
        int64_t r = mcr_field_at(&f, i);
        list[i] = (entry){.at = i};
        if (col >= 0) {
            mcr_vector x = mcr_store_vector(f.store, r);
            list[i].number = mcr_vector_value(&x, col);
        } else {
            list[i].bytes = f.store->bytes + f.store->start[r];
            list[i].length = (size_t)(f.store->start[r + 1] - f.store->start[r]);
        }
    }
    qsort(list, (size_t)n, sizeof *list, by_value);
    for (int64_t i = 0; i < n; i++) {
        number += i > 0 && by_value(&list[i], &list[i - 1]) != 0;
        group[list[i].at] = number;
    }
    mcr_free(data->ctx, list);
    return MCR_OK;
}

/* A copy of a store of vectors without one column. */
static mcr_status without_column(mcr_store **out, const mcr_store *from, int64_t col)
{
    mcr_store *to;
    mcr_status s = mcr_store_new(&to, from->ctx, from->name, from->kind);
    if (s)
        return s;
    to->count = from->count;
    to->role = from->role;
    to->holes = from->holes;
    to->dense = mcr_alloc(from->ctx, (size_t)from->count,
                          (size_t)(from->cols - 1) * sizeof(double));
    to->column = mcr_alloc_zero(from->ctx, (size_t)from->cols - 1, sizeof *to->column);
    s = to->dense && to->column ? MCR_OK : MCR_NO_MEMORY;
    to->cols = s ? 0 : from->cols - 1;
    for (int64_t i = 0; i < from->count && !s; i++) {
        mcr_vector x = mcr_store_vector(from, i);
        for (int64_t c = 0; c < to->cols; c++)
            to->dense[i * to->cols + c] = mcr_vector_value(&x, c + (c >= col));
    }
    for (int64_t c = 0; c < to->cols && !s; c++) {
        const char *name = from->column[c + (c >= col)];
        if (name && !(to->column[c] = mcr_copy_text(from->ctx, name, strlen(name))))
            s = MCR_NO_MEMORY;
    }
    return mcr_store_give(out, to, s);
}

mcr_status mcr_data_take_groups(mcr_data **out, const mcr_data *data, const char *column,
                                int64_t *group)
{
    int64_t field, col;
    *out = NULL;
    if (!find_column(data, column, &field, &col))
        return MCR_OK;
    const mcr_store *of = data->store[field];
    bool all = col < 0 || of->cols == 1;
    if (all && data->fields == 1)
        return mcr_fail(data->ctx, MCR_BAD_DATA,
                        "without the column \"%.100s\" of groups nothing is left to learn from",
                        column);
    mcr_data *view = NULL;
    mcr_store *rest = NULL;
    mcr_status s = number_groups(data, field, col, group);
    if (!s && !all)
        s = without_column(&rest, of, col);
    if (!s)
        s = mcr_data_select(&view, data, (mcr_rows){NULL, 0, data->count});
    if (s) {
        mcr_store_free(rest);
        return s;
    }
    mcr_data_replace(view, field, rest);
    if (all) {
        mcr_store_free(view->store[field]);
        view->fields--;
        memmove(view->store + field, view->store + field + 1,
                sizeof *view->store * (size_t)(view->fields - field));
    }
    *out = view;
    return MCR_OK;
}
