/* arrow.c: record batches of Arrow's C data interface as data sets.
 *
 * A batch is shared by all fields that read it in place and released with the last of them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <mercer/arrow.h>

#include <string.h>

#include "base/sized.h"
#include "data/arrow_column.h"
#include "data/builder.h"

/* ---- who holds a batch ------------------------------------------------------------------------*/

typedef struct holder {
    mcr *ctx;
    int64_t owners; /* atomic */
    struct ArrowArray array;
} holder;

static void holder_free(void *user)
{
    holder *h = user;
    if (h == NULL || __atomic_sub_fetch(&h->owners, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    if (h->array.release != NULL)
        h->array.release(&h->array);
    mcr_free(h->ctx, h);
}

static holder *holder_retain(holder *h)
{
    __atomic_add_fetch(&h->owners, 1, __ATOMIC_RELAXED);
    return h;
}

/* Moves the array, as Arrow's rules prescribe: the source is marked as released. */
static mcr_status hold(holder **out, mcr *ctx, struct ArrowArray *array)
{
    *out = mcr_alloc_zero(ctx, 1, sizeof **out);
    if (*out == NULL)
        return MCR_NO_MEMORY;
    (*out)->ctx = ctx;
    (*out)->owners = 1;
    (*out)->array = *array;
    array->release = NULL;
    return MCR_OK;
}

/* ---- one batch --------------------------------------------------------------------------------*/

typedef struct batch {
    mcr *ctx;
    holder *held;
    mcr_builder *builder;
    int64_t rows, columns;
    mcr_arrow_column *column;
    const mcr_arrow_column *target, *weight; /* NULL: none */
} batch;

static bool is_feature(const batch *b, int64_t c)
{
    return &b->column[c] != b->target && &b->column[c] != b->weight;
}

static mcr_status find_role(const mcr_arrow_column **out, const batch *b, const char *name)
{
    *out = NULL;
    for (int64_t c = 0; name != NULL && c < b->columns; c++)
        if (strcmp(b->column[c].name, name) == 0)
            *out = &b->column[c];
    if (name != NULL && *out == NULL)
        return mcr_fail(b->ctx, MCR_BAD_CALL, "the table has no column \"%.100s\"", name);
    return MCR_OK;
}

static mcr_status open_columns(batch *b, const struct ArrowSchema *schema,
                               const mcr_arrow_options *options)
{
    const struct ArrowArray *root = &b->held->array;
    if (strcmp(schema->format, "+s") != 0)
        return mcr_fail(b->ctx, MCR_BAD_CALL,
                        "a table is a struct of its columns, not an array of type \"%.40s\"",
                        schema->format);
    if (root->n_children != schema->n_children || root->length < 0 || root->offset < 0 ||
        schema->n_children < 1)
        return mcr_fail(b->ctx, MCR_BAD_DATA, "the record batch does not match its schema");
    if (root->null_count > 0)
        return mcr_fail(b->ctx, MCR_BAD_DATA, "the table has rows that are null; drop them");
    b->rows = root->length;
    b->column = mcr_alloc(b->ctx, (size_t)root->n_children, sizeof *b->column);
    if (b->column == NULL)
        return MCR_NO_MEMORY;
    mcr_status s = MCR_OK;
    for (; b->columns < root->n_children && s == MCR_OK; b->columns++)
        s = mcr_arrow_open(&b->column[b->columns], b->ctx, schema->children[b->columns],
                           root->children[b->columns], root->offset, b->rows);
    if (s == MCR_OK)
        s = find_role(&b->target, b, options->target);
    if (s == MCR_OK)
        s = find_role(&b->weight, b, options->weight);
    return s;
}

/* ---- numbers: the field "x" -------------------------------------------------------------------*/

/* Float or double values that can be used in place: no dictionary. */
static const char *plain_numbers(const mcr_arrow_column *c)
{
    if (c->words != NULL || c->bits || (c->type != MCR_FLOAT32 && c->type != MCR_FLOAT64))
        return NULL;
    return (const char *)c->array->buffers[1] + (size_t)c->first * mcr_number_bytes(c->type);
}

/* The strides of a matrix whose columns these are; false: they do not form one. */
static bool find_matrix(const mcr_arrow_column *const *column, int64_t count, mcr_dense_view *v)
{
    const char *start = plain_numbers(column[0]);
    if (start == NULL)
        return false;
    intptr_t size = (intptr_t)mcr_number_bytes(column[0]->type), step = size;
    for (int64_t k = 1; k < count; k++) {
        const char *at = plain_numbers(column[k]);
        if (at == NULL || column[k]->type != column[0]->type)
            return false;
        if (k == 1)
            step = (intptr_t)at - (intptr_t)start;
        if ((intptr_t)at != (intptr_t)start + (intptr_t)k * step || step % size != 0)
            return false;
    }
    v->values = start;
    v->type = column[0]->type;
    v->cols = count;
    v->row_step = 1;
    v->col_step = step / size;
    return true;
}

static mcr_status copy_numbers(batch *b, const mcr_arrow_column *const *column,
                               const char *const *name, int64_t count)
{
    mcr_store *s;
    mcr_status status = mcr_store_new(&s, b->ctx, "x", MCR_DENSE);
    if (status != MCR_OK)
        return status;
    s->count = b->rows;
    s->column = mcr_copy_texts(b->ctx, name, count);
    s->cols = s->column != NULL ? count : 0;
    status = s->column != NULL ? mcr_store_alloc_dense(s) : MCR_NO_MEMORY;
    for (int64_t k = 0; k < count; k++)
        for (int64_t i = 0; i < b->rows && status == MCR_OK; i++)
            status = mcr_arrow_number(&s->dense[i * count + k], b->ctx, column[k], i);
    return mcr_builder_take_filled(b->builder, s, status);
}

static mcr_status add_numbers(batch *b)
{
    int64_t count = 0;
    mcr_dense_view v = {.size = sizeof v};
    const mcr_arrow_column **column = mcr_alloc(b->ctx, (size_t)b->columns, sizeof *column);
    const char **name = mcr_alloc(b->ctx, (size_t)b->columns, sizeof *name);
    mcr_status status = column != NULL && name != NULL ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t c = 0; c < b->columns && status == MCR_OK; c++)
        if (is_feature(b, c) && b->column[c].kind == MCR_ARROW_NUMBER) {
            column[count] = &b->column[c];
            name[count++] = b->column[c].name;
        }
    if (status == MCR_OK && count > 0 && b->rows > 0 && find_matrix(column, count, &v)) {
        v.column = name;
        v.release = holder_free;
        v.user = holder_retain(b->held);
        status = mcr_builder_borrow_dense(b->builder, "x", &v);
    } else if (status == MCR_OK && count > 0) {
        status = copy_numbers(b, column, name, count);
    }
    mcr_free_all(b->ctx, column, name);
    return status;
}

/* ---- other fields, targets --------------------------------------------------------------------*/

/* Copies strings of a dictionary, one after the other. */
static mcr_status copy_strings(batch *b, const mcr_arrow_column *c)
{
    mcr_text text;
    const char *bytes;
    int64_t length, *start = mcr_alloc(b->ctx, (size_t)b->rows + 1, sizeof *start);
    mcr_text_init(&text, b->ctx);
    mcr_status status = start != NULL ? MCR_OK : MCR_NO_MEMORY;
    if (start != NULL)
        start[0] = 0;
    for (int64_t i = 0; i < b->rows && status == MCR_OK; i++) {
        status = mcr_arrow_text(&bytes, &length, b->ctx, c, i);
        if (status == MCR_OK) {
            mcr_text_add(&text, bytes, (size_t)length);
            start[i + 1] = start[i] + length;
            status = text.status;
        }
    }
    if (status == MCR_OK)
        status = mcr_builder_strings(b->builder, c->name, start,
                                     text.bytes != NULL ? text.bytes : "");
    mcr_text_free(&text);
    mcr_free(b->ctx, start);
    return status;
}

static mcr_status add_strings(batch *b, const mcr_arrow_column *c)
{
    mcr_string_view v = {.size = sizeof v};
    if (c->words != NULL || b->rows == 0)
        return copy_strings(b, c);
    v.start_type = c->large ? MCR_INT64 : MCR_INT32;
    v.start = (const char *)c->array->buffers[1] +
              (size_t)c->first * mcr_number_bytes(v.start_type);
    v.bytes = c->array->buffers[2];
    v.release = holder_free;
    v.user = holder_retain(b->held);
    return mcr_builder_borrow_strings(b->builder, c->name, &v);
}

static mcr_status add_vectors(batch *b, const mcr_arrow_column *c)
{
    const struct ArrowArray *child = c->array->children[0];
    mcr_dense_view v = {.size = sizeof v};
    v.values = (const char *)child->buffers[1] +
               (size_t)(child->offset + c->first * c->width) * mcr_number_bytes(c->type);
    v.type = c->type;
    v.cols = c->width;
    v.release = holder_free;
    v.user = holder_retain(b->held);
    return mcr_builder_borrow_dense(b->builder, c->name, &v);
}

static mcr_status add_words(batch *b)
{
    mcr_labels *labels;
    const char *bytes;
    int64_t length;
    mcr_status status = mcr_labels_open(&labels, b->ctx);
    for (int64_t i = 0; i < b->rows && status == MCR_OK; i++) {
        status = mcr_arrow_text(&bytes, &length, b->ctx, b->target, i);
        if (status == MCR_OK)
            status = mcr_labels_add(labels, bytes, (size_t)length);
    }
    return mcr_builder_labels_filled(b->builder, labels, status);
}

static mcr_status add_role(batch *b, const mcr_arrow_column *c,
                           mcr_status (*set)(mcr_builder *builder, const double *values))
{
    if (c == NULL)
        return MCR_OK;
    if (c->kind != MCR_ARROW_NUMBER)
        return mcr_fail(b->ctx, MCR_BAD_DATA, "column \"%.100s\" has no numbers", c->name);
    double *value = mcr_alloc(b->ctx, (size_t)b->rows, sizeof *value);
    mcr_status status = value != NULL ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t i = 0; i < b->rows && status == MCR_OK; i++)
        status = mcr_arrow_number(&value[i], b->ctx, c, i);
    if (status == MCR_OK)
        status = set(b->builder, value);
    mcr_free(b->ctx, value);
    return status;
}

static mcr_status fill(batch *b)
{
    mcr_status status = add_numbers(b);
    for (int64_t c = 0; c < b->columns && status == MCR_OK; c++) {
        if (!is_feature(b, c))
            continue;
        if (b->column[c].kind == MCR_ARROW_TEXT)
            status = add_strings(b, &b->column[c]);
        else if (b->column[c].kind == MCR_ARROW_VECTOR)
            status = add_vectors(b, &b->column[c]);
    }
    if (status == MCR_OK)
        status = b->target != NULL && b->target->kind == MCR_ARROW_TEXT
                     ? add_words(b)
                     : add_role(b, b->target, mcr_builder_targets);
    if (status == MCR_OK)
        status = add_role(b, b->weight, mcr_builder_weights);
    return status;
}

/* Takes ownership of the array. */
static mcr_status read_batch(mcr_data **out, mcr *ctx, const struct ArrowSchema *schema,
                             struct ArrowArray *array, const mcr_arrow_options *options)
{
    batch b = {.ctx = ctx};
    *out = NULL;
    if (array->release == NULL)
        return mcr_fail(ctx, MCR_BAD_CALL, "the record batch has already been released");
    mcr_status status = hold(&b.held, ctx, array);
    if (status == MCR_OK)
        status = open_columns(&b, schema, options);
    if (status == MCR_OK)
        status = mcr_builder_open(&b.builder, ctx, b.rows);
    if (status == MCR_OK)
        status = fill(&b);
    status = mcr_builder_finish_filled(out, b.builder, status);
    mcr_free(ctx, b.column);
    holder_free(b.held);
    return status;
}

mcr_status mcr_data_arrow(mcr_data **out, mcr *ctx, const struct ArrowSchema *schema,
                          struct ArrowArray *array, int64_t count, const mcr_arrow_options *options)
{
    mcr_arrow_options o;
    mcr_data **part = NULL;
    *out = NULL;
    mcr_status status = MCR_SIZED_READ(mcr_arrow_options, &o, ctx, options);
    if (status == MCR_OK && count < 1)
        status = mcr_fail(ctx, MCR_BAD_CALL, "a table needs at least one record batch");
    if (status == MCR_OK)
        part = mcr_alloc_zero(ctx, (size_t)count, sizeof *part);
    if (status == MCR_OK && part == NULL)
        status = MCR_NO_MEMORY;
    for (int64_t i = 0; i < count && status == MCR_OK; i++)
        status = read_batch(&part[i], ctx, schema, &array[i], &o);
    if (status == MCR_OK && count > 1)
        status = mcr_data_concat(out, (const mcr_data *const *)part, count);
    else if (status == MCR_OK)
        *out = mcr_data_retain(part[0]);
    for (int64_t i = 0; part != NULL && i < count; i++)
        mcr_data_free(part[i]);
    mcr_free(ctx, part);
    for (int64_t i = 0; i < count; i++) /* those that were not reached */
        if (array[i].release != NULL)
            array[i].release(&array[i]);
    return status;
}
