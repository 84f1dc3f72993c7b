/* columns.c: columns of vectors, found by their names.
 *
 * If a model's training table and new data both have a header, columns are matched by name,
 * regardless of their order and number.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "data/data.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct named {
    const char *name;
    int64_t column;
} named;

static int by_name(const void *a, const void *b)
{
    return strcmp(((const named *)a)->name, ((const named *)b)->name);
}

/* Whether the names agree for all columns; a blank name matches any. */
static bool agree(const mcr_store *a, const mcr_store *b)
{
    if (a == b || a->column == NULL || b->column == NULL)
        return true;
    bool same = a->cols == b->cols;
    for (int64_t c = 0; c < a->cols && same; c++)
        same = a->column[c][0] == '\0' || b->column[c][0] == '\0' ||
               strcmp(a->column[c], b->column[c]) == 0;
    return same;
}

/* The field of data to be matched with the field of `like`, if its columns differ; -1: none. */
static int64_t find_other(const mcr_data *data, const mcr_store *like)
{
    int64_t at = mcr_data_find(data, like->name, strlen(like->name));
    return at >= 0 && !agree(like, data->store[at]) ? at : -1;
}

static mcr_status sort_names(named **out, mcr *ctx, const mcr_store *s)
{
    *out = mcr_alloc(ctx, (size_t)s->cols, sizeof **out);
    if (*out == NULL)
        return MCR_NO_MEMORY;
    for (int64_t c = 0; c < s->cols; c++)
        (*out)[c] = (named){s->column[c], c};
    qsort(*out, (size_t)s->cols, sizeof **out, by_name);
    return MCR_OK;
}

/* The only one of the sorted columns with this name. */
static mcr_status find_name(int64_t *out, mcr *ctx, const named *sorted, int64_t count,
                            const char *name)
{
    const named wanted = {name, 0};
    const named *found = bsearch(&wanted, sorted, (size_t)count, sizeof *sorted, by_name);
    if (found == NULL)
        return mcr_fail(ctx, MCR_BAD_DATA,
                        "there is no column \"%.100s\", which the model needs: add it, or rename "
                        "the column that contains it",
                        name);
    if ((found > sorted && by_name(found - 1, found) == 0) ||
        (found + 1 < sorted + count && by_name(found + 1, found) == 0))
        return mcr_fail(ctx, MCR_BAD_DATA,
                        "two columns are called \"%.100s\": put the columns in the order of the "
                        "model's training data",
                        name);
    *out = found->column;
    return MCR_OK;
}

static mcr_status refuse_nameless(mcr *ctx, int64_t c)
{
    return mcr_fail(
        ctx, MCR_BAD_DATA,
        "numeric column %" PRId64
        " of the model's training data has no name to match it by: put the columns in the order of "
        "the training data, or give that column a name (or remove it) and train again",
        c + 1);
}

/* place[c]: the index in s of column c of `like`. */
static mcr_status find_places(int64_t *place, mcr *ctx, const mcr_store *s, const mcr_store *like)
{
    named *sorted = NULL, *own = NULL;
    int64_t self;
    mcr_status status = sort_names(&sorted, ctx, s);
    if (status == MCR_OK)
        status = sort_names(&own, ctx, like);
    for (int64_t c = 0; c < like->cols && status == MCR_OK; c++) {
        if (like->column[c][0] == '\0') {
            status = refuse_nameless(ctx, c);
            continue;
        }
        status = find_name(&place[c], ctx, sorted, s->cols, like->column[c]);
        if (status == MCR_OK) /* that the name is unique in the model */
            status = find_name(&self, ctx, own, like->cols, like->column[c]);
    }
    mcr_free_all(ctx, sorted, own);
    return status;
}

/* Only the rows of the data, which may be a small view of a large store. */
static mcr_status gather(mcr_store **out, const mcr_field *field, const mcr_store *like,
                         const int64_t *place)
{
    const mcr_store *s = field->store;
    mcr *ctx = s->ctx;
    int64_t cols = like->cols;
    mcr_store *made = NULL;
    mcr_status status = mcr_store_new(&made, ctx, s->name, MCR_DENSE);
    if (status != MCR_OK)
        return status;
    made->count = s->count;
    made->role = s->role;
    made->holes = s->holes;
    made->dense = mcr_alloc_zero(ctx, (size_t)s->count, (size_t)cols * sizeof *made->dense);
    made->column = mcr_copy_texts(ctx, (const char *const *)like->column, cols);
    status = made->dense != NULL && made->column != NULL ? MCR_OK : MCR_NO_MEMORY;
    made->cols = cols;
    for (int64_t i = 0; i < field->count && status == MCR_OK; i++) {
        int64_t at = mcr_field_at(field, i);
        mcr_vector x = mcr_store_vector(s, at);
        for (int64_t c = 0; c < cols; c++)
            made->dense[at * cols + c] = mcr_vector_value(&x, place[c]);
    }
    return mcr_store_give(out, made, status);
}

static mcr_status match_field(mcr_store **out, mcr *ctx, const mcr_field *field,
                              const mcr_store *like)
{
    const mcr_store *s = field->store;
    int64_t *place = mcr_alloc(ctx, (size_t)like->cols, sizeof *place);
    mcr_status status = place != NULL ? find_places(place, ctx, s, like) : MCR_NO_MEMORY;
    if (status == MCR_OK && s->kind != MCR_DENSE)
        status = mcr_fail(ctx, MCR_BAD_DATA,
                          "the columns are not in the order of the model's training data: put them "
                          "in that order");
    if (status == MCR_OK)
        status = gather(out, field, like, place);
    mcr_free(ctx, place);
    return status;
}

mcr_status mcr_data_match(mcr_data **out, mcr *ctx, const mcr_data *data, const mcr_data *like)
{
    mcr_status status = MCR_OK;
    *out = NULL;
    mcr_data *view = NULL;
    for (int64_t f = 0; f < like->fields && status == MCR_OK; f++) {
        int64_t at = find_other(data, like->store[f]);
        mcr_store *made = NULL;
        if (at < 0)
            continue;
        mcr_field field = mcr_data_field(data, at);
        status = match_field(&made, ctx, &field, like->store[f]);
        if (status == MCR_OK && view == NULL)
            status = mcr_data_select(&view, data, (mcr_rows){NULL, 0, data->count});
        if (status == MCR_OK)
            mcr_data_replace(view, at, made);
        else
            mcr_store_free(made);
    }
    if (status == MCR_OK)
        *out = view != NULL ? view : mcr_data_retain(data);
    else
        mcr_data_free(view);
    return status;
}
