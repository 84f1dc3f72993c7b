/* mixing.c: objects assembled from columns and fields of others.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "select/mixing.h"

/* With more columns than this a sparse field is one unit: it would be too large in dense form. */
enum { MOST_SPARSE = 300 };

/* Numbers are changed column by column, the parts of a date together. */
static bool by_columns(const mcr_store *s)
{
    return s->role != MCR_DATE && ((s->kind == MCR_DENSE && s->cols > 1) ||
                                   (s->kind == MCR_SPARSE && s->cols <= MOST_SPARSE));
}

static mcr_status add_unit(mcr_mixer *m, int64_t field, int64_t column)
{
    const mcr_store *s = m->data->store[field];
    mcr_text text;
    mcr_text_init(&text, m->ctx);
    if (column < 0 && !(s->kind == MCR_DENSE && s->column && s->cols == 1))
        mcr_text_string(&text, s->name);
    else if (s->column)
        mcr_text_string(&text, s->column[column < 0 ? 0 : column]);
    else
        mcr_text_format(&text, "%s%lld", s->name, (long long)column + 1);
    char *name = text.status ? NULL : mcr_copy_text(m->ctx, text.bytes, (size_t)text.length);
    mcr_text_free(&text);
    if (!name)
        return MCR_NO_MEMORY;
    m->unit[m->units++] = (mcr_unit){field, column, name};
    return MCR_OK;
}

/* The same objects with one of their fields. */
static mcr_status one_field(mcr_data **out, const mcr_data *data, int64_t field)
{
    mcr_status s = mcr_data_select(out, data, (mcr_rows){NULL, 0, data->count});
    if (s)
        return s;
    mcr_data *d = *out;
    for (int64_t f = 0; f < d->fields; f++)
        if (f != field)
            mcr_store_free(d->store[f]);
    d->store[0] = d->store[field];
    d->fields = 1;
    for (int64_t c = 0; c < d->carries; c++)
        mcr_store_free(d->carried[c]);
    d->carries = 0;
    return MCR_OK;
}

void mcr_mixer_close(mcr_mixer *m)
{
    for (int64_t u = 0; u < m->units; u++)
        mcr_free(m->ctx, m->unit[u].name);
    for (int64_t f = 0; m->one && f < m->data->fields; f++)
        mcr_data_free(m->one[f]);
    if (m->ctx)
        mcr_free_all(m->ctx, m->unit, m->one);
    *m = (mcr_mixer){0};
}

mcr_status mcr_mixer_open(mcr_mixer *m, mcr *ctx, const mcr_data *data, int64_t most)
{
    int64_t units = 0;
    *m = (mcr_mixer){.ctx = ctx, .data = data};
    for (int64_t f = 0; f < data->fields; f++) {
        if (data->store[f]->kind == MCR_PRECOMPUTED)
            return mcr_fail(ctx, MCR_BAD_CALL,
                            "values of a precomputed kernel have no columns to explain");
        units += by_columns(data->store[f]) ? data->store[f]->cols : 1;
    }
    if (units > most)
        return mcr_fail(ctx, MCR_BAD_CALL,
                        "there are %lld columns, and at most %lld can be changed one by one",
                        (long long)units, (long long)most);
    m->unit = mcr_alloc_zero(ctx, (size_t)units, sizeof *m->unit);
    m->one = mcr_alloc_zero(ctx, (size_t)data->fields, sizeof(mcr_data *));
    mcr_status s = m->unit && m->one ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t f = 0; f < data->fields && !s; f++) {
        int64_t cols = by_columns(data->store[f]) ? data->store[f]->cols : 0;
        s = one_field(&m->one[f], data, f);
        if (!s && !cols)
            s = add_unit(m, f, -1);
        for (int64_t c = 0; c < cols && !s; c++)
            s = add_unit(m, f, c);
    }
    if (s)
        mcr_mixer_close(m);
    return s;
}

static int64_t source_of(const mcr_mix *how, int64_t unit, int64_t i)
{
    return how->source && how->source[unit] ? how->source[unit][i] : how->base[i];
}

/* A field of numbers whose columns come from several objects; `first` is the unit of its first
 * column. */
static mcr_status mix_columns(mcr_store **out, const mcr_mixer *m, int64_t first,
                              const mcr_mix *how)
{
    int64_t field = m->unit[first].field;
    const mcr_store *from = m->data->store[field];
    mcr_field values = mcr_data_field(m->data, field);
    int64_t cols = from->cols;
    mcr_store *s = NULL;
    mcr_status status = mcr_store_new(&s, m->ctx, from->name, MCR_DENSE);
    double *row = mcr_alloc(m->ctx, (size_t)cols, sizeof *row);
    if (status || !row) {
        mcr_free(m->ctx, row);
        mcr_store_free(s);
        return status ? status : MCR_NO_MEMORY;
    }
    s->count = how->n;
    s->cols = cols;
    s->role = from->role;
    s->holes = from->holes;
    s->dense = mcr_alloc(m->ctx, (size_t)how->n, (size_t)cols * sizeof *s->dense);
    status = s->dense ? mcr_store_copy_names(s, from) : MCR_NO_MEMORY;
    for (int64_t i = 0; i < how->n && !status; i++)
        for (int64_t c = 0, last = -1; c < cols; c++) {
            int64_t source = source_of(how, first + c, i);
            mcr_vector x = mcr_field_vector(&values, source);
            if (source != last)
                mcr_vector_to_dense(&x, row, cols);
            last = source;
            s->dense[i * cols + c] = row[c] + (how->moved == first + c ? how->by : 0);
        }
    mcr_free(m->ctx, row);
    return mcr_store_give(out, s, status);
}

/* A field whose objects are whole. */
static mcr_status mix_field(mcr_store **out, const mcr_mixer *m, int64_t unit, const mcr_mix *how)
{
    mcr_data *some = NULL, *own = NULL;
    int64_t *row = mcr_alloc(m->ctx, (size_t)how->n, sizeof *row);
    mcr_status s = row ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t i = 0; i < how->n && !s; i++)
        row[i] = source_of(how, unit, i);
    if (!s)
        s = mcr_data_select(&some, m->one[m->unit[unit].field], (mcr_rows){row, 0, how->n});
    if (!s)
        s = mcr_data_concat(&own, (const mcr_data *const *)&some, 1);
    if (!s) {
        *out = mcr_store_retain(own->store[0]);
        if (how->moved == unit && (*out)->kind == MCR_DENSE)
            for (int64_t i = 0; i < how->n * (*out)->cols; i++)
                (*out)->dense[i] += how->by;
    }
    mcr_data_free(some);
    mcr_data_free(own);
    mcr_free(m->ctx, row);
    return s;
}

mcr_status mcr_mixer_mix(mcr_data **out, const mcr_mixer *m, const mcr_mix *how)
{
    mcr_builder *builder = NULL;
    *out = NULL;
    mcr_status s = mcr_builder_open(&builder, m->ctx, how->n);
    for (int64_t u = 0; u < m->units && !s;) {
        const mcr_unit *unit = &m->unit[u];
        mcr_store *store = NULL;
        s = unit->column < 0 ? mix_field(&store, m, u, how) : mix_columns(&store, m, u, how);
        if (!s)
            s = mcr_builder_adopt(builder, store);
        u += unit->column < 0 ? 1 : m->data->store[unit->field]->cols;
    }
    if (s) {
        mcr_builder_close(builder);
        return s;
    }
    s = mcr_builder_finish(out, builder);
    if (!s) {
        (*out)->missing = m->data->missing;
        (*out)->layout = mcr_layout_retain(m->data->layout);
    }
    return s;
}
