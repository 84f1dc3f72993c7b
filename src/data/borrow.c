/* borrow.c: fields whose values stay in the caller's memory.
 *
 * A store either points to the arrays itself, if they have the library's own layout (doubles row by
 * row, 32-bit indices), or describes them in `lent`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <mercer/borrow.h>

#include <inttypes.h>
#include <string.h>

#include "base/sized.h"
#include "data/builder.h"
#include "data/numbers.h"

/* ---- what all fields share --------------------------------------------------------------------*/

/* A store that does not refer to the user's memory yet. On failure the memory is released. */
static mcr_status new_store(mcr_store **out, mcr_builder *b, const char *name, mcr_kind kind,
                            void (*release)(void *user), void *user)
{
    mcr_status status = mcr_builder_store(out, b, name, kind);
    if (status != MCR_OK) {
        if (release != NULL)
            release(user);
        return status;
    }
    (*out)->borrowed = true;
    (*out)->release = release;
    (*out)->user = user;
    return MCR_OK;
}

static mcr_status check_array(const mcr_store *s, const void *values, mcr_number type, bool whole,
                              int64_t count)
{
    mcr_status status = mcr_number_check(s->ctx, s->name, values, type, count);
    bool fits = whole ? type == MCR_INT32 || type == MCR_INT64
                      : type == MCR_FLOAT32 || type == MCR_FLOAT64;
    if (status == MCR_OK && !fits)
        status = mcr_fail(s->ctx, MCR_BAD_CALL, "field \"%s\": %s must be %s", s->name,
                          whole ? "starts and indices" : "values",
                          whole ? "whole numbers of 32 or 64 bits" : "float or double");
    return status;
}

/* The user's start[0 .. count]: borrowed if they have the library's layout. *first: the number of
 * entries before those of the first object. */
static mcr_status take_starts(mcr_store *s, const void *start, mcr_number type, int64_t *first)
{
    *first = 0;
    mcr_status status = check_array(s, start, type, true, s->count + 1);
    if (status != MCR_OK)
        return status;
    (void)mcr_number_int(first, start, type, 0);
    if (*first < 0)
        return mcr_fail(s->ctx, MCR_BAD_DATA, "field \"%s\": the first object starts before 0",
                        s->name);
    if (type == MCR_INT64 && *first == 0) {
        s->start = (int64_t *)start; /* never written to */
        s->lent_start = true;
        return MCR_OK;
    }
    s->start = mcr_alloc(s->ctx, (size_t)s->count + 1, sizeof *s->start);
    if (s->start == NULL)
        return MCR_NO_MEMORY;
    for (int64_t i = 0; i <= s->count; i++) {
        (void)mcr_number_int(&s->start[i], start, type, i);
        s->start[i] -= *first;
    }
    return MCR_OK;
}

static mcr_status copy_columns(mcr_store *s, const char *const *column)
{
    if (column == NULL)
        return MCR_OK;
    s->column = mcr_copy_texts(s->ctx, column, s->cols);
    return s->column != NULL ? MCR_OK : MCR_NO_MEMORY;
}

/* ---- vectors ----------------------------------------------------------------------------------*/

/* Whether the address of every value can be computed: |count * row_step + cols * col_step| <
 * 2^60. */
static bool within_reach(const mcr_store *s, int64_t row_step, int64_t col_step)
{
    const double most = 0x1p60;
    double rows = (double)s->count * (double)row_step, cols = (double)s->cols * (double)col_step;
    return rows < most && rows > -most && cols < most && cols > -most;
}

static mcr_status fill_dense(mcr_store *s, mcr_dense_view *v)
{
    mcr_dense_view_steps(v);
    mcr_status status = check_array(s, v->values, v->type, false, s->count);
    if (status != MCR_OK)
        return status;
    if (v->cols < 1 || v->cols > INT32_MAX)
        return mcr_fail(s->ctx, MCR_BAD_CALL,
                        "field \"%s\" has %" PRId64 " columns; 1 to %" PRId32 " are possible",
                        s->name, v->cols, INT32_MAX);
    s->cols = v->cols;
    if (!within_reach(s, v->row_step, v->col_step))
        return mcr_fail(s->ctx, MCR_BAD_CALL, "field \"%s\": the strides are too large", s->name);
    if (v->type == MCR_FLOAT64 && v->col_step == 1 && v->row_step == v->cols)
        s->dense = (double *)v->values; /* never written to */
    else
        s->lent = (mcr_lent){.value = v->values,
                             .row_step = v->row_step,
                             .col_step = v->col_step,
                             .single = v->type == MCR_FLOAT32};
    return MCR_OK;
}

/* Vectors with the names of their columns, or kernel values with the ids of their objects. */
static mcr_status borrow_table(mcr_builder *b, const char *name, mcr_kind kind,
                               const mcr_dense_view *view, const int64_t *id)
{
    mcr_dense_view v;
    mcr_store *s;
    mcr_status status = MCR_SIZED_READ(mcr_dense_view, &v, b->ctx, view);
    if (status == MCR_OK)
        status = new_store(&s, b, name, kind, v.release, v.user);
    if (status != MCR_OK)
        return status;
    status = fill_dense(s, &v);
    if (status == MCR_OK)
        status = kind == MCR_DENSE ? copy_columns(s, v.column) : mcr_store_number(s, id);
    return mcr_builder_take_filled(b, s, status);
}

mcr_status mcr_builder_borrow_dense(mcr_builder *b, const char *name, const mcr_dense_view *view)
{
    return borrow_table(b, name, MCR_DENSE, view, NULL);
}

mcr_status mcr_builder_borrow_precomputed(mcr_builder *b, const char *name,
                                          const mcr_dense_view *view, const int64_t *id)
{
    return borrow_table(b, name, MCR_PRECOMPUTED, view, id);
}

static mcr_status fill_sparse(mcr_store *s, const mcr_sparse_view *v)
{
    int64_t first;
    mcr_status status = take_starts(s, v->start, v->start_type, &first);
    int64_t entries = status == MCR_OK ? s->start[s->count] : 0;
    if (status == MCR_OK)
        status = check_array(s, v->index, v->index_type, true, entries);
    if (status == MCR_OK)
        status = check_array(s, v->values, v->type, false, entries);
    if (status != MCR_OK || entries == 0)
        return status;
    const char *index = (const char *)v->index + (size_t)first * mcr_number_bytes(v->index_type);
    const char *value = (const char *)v->values + (size_t)first * mcr_number_bytes(v->type);
    if (v->index_type == MCR_INT32 && v->type == MCR_FLOAT64) {
        s->index = (int32_t *)(void *)index; /* never written to */
        s->value = (double *)(void *)value;
    } else {
        s->lent = (mcr_lent){.value = value,
                             .index = index,
                             .single = v->type == MCR_FLOAT32,
                             .wide = v->index_type == MCR_INT64};
    }
    return MCR_OK;
}

mcr_status mcr_builder_borrow_sparse(mcr_builder *b, const char *name, const mcr_sparse_view *view)
{
    mcr_sparse_view v;
    mcr_store *s;
    mcr_status status = MCR_SIZED_READ(mcr_sparse_view, &v, b->ctx, view);
    if (status == MCR_OK)
        status = new_store(&s, b, name, MCR_SPARSE, v.release, v.user);
    if (status != MCR_OK)
        return status;
    s->cols = v.cols;
    return mcr_builder_take_filled(b, s, fill_sparse(s, &v));
}

/* ---- strings and graphs -----------------------------------------------------------------------*/

mcr_status mcr_builder_borrow_strings(mcr_builder *b, const char *name, const mcr_string_view *view)
{
    mcr_string_view v;
    mcr_store *s;
    int64_t first = 0;
    mcr_status status = MCR_SIZED_READ(mcr_string_view, &v, b->ctx, view);
    if (status == MCR_OK)
        status = new_store(&s, b, name, MCR_STRINGS, v.release, v.user);
    if (status != MCR_OK)
        return status;
    status = take_starts(s, v.start, v.start_type, &first);
    if (status == MCR_OK && s->start[s->count] > 0) {
        status = mcr_number_check(b->ctx, s->name, v.bytes, MCR_INT8, 1);
        s->bytes = (char *)v.bytes + (v.bytes != NULL ? first : 0); /* never written to */
    }
    return mcr_builder_take_filled(b, s, status);
}

/* A graph view in the form of mcr_builder_graphs. */
typedef struct edges {
    int64_t *node_start, *edge_start;
    int32_t (*pair)[2];
    int32_t *node_label, *edge_label;
} edges;

/* Copies integers of the user, `step` apart, to every `to_step`-th element of `to`. */
static mcr_status copy_small(mcr *ctx, int32_t *to, int64_t to_step, const char *what,
                             const void *values, mcr_number type, int64_t count, int64_t step)
{
    mcr_status status = mcr_number_check(ctx, what, values, type, count);
    if (status == MCR_OK && !mcr_number_whole(type))
        status = mcr_fail(ctx, MCR_BAD_CALL, "%s must be whole numbers", what);
    for (int64_t i = 0; i < count && status == MCR_OK; i++) {
        int64_t value;
        if (!mcr_number_int(&value, values, type, i * step) || value > INT32_MAX ||
            value < INT32_MIN)
            status = mcr_fail(ctx, MCR_BAD_DATA, "%s: number %" PRId64 " does not fit in 32 bits",
                              what, i + 1);
        else
            to[i * to_step] = (int32_t)value;
    }
    return status;
}

static mcr_status copy_starts(mcr *ctx, int64_t *to, const char *what, const void *values,
                              mcr_number type, int64_t count)
{
    mcr_status status = mcr_number_check(ctx, what, values, type, count + 1);
    if (status == MCR_OK && type != MCR_INT32 && type != MCR_INT64)
        status = mcr_fail(ctx, MCR_BAD_CALL, "%s must be whole numbers of 32 or 64 bits", what);
    for (int64_t i = 0; i <= count && status == MCR_OK; i++) {
        (void)mcr_number_int(&to[i], values, type, i);
        if (to[i] < (i > 0 ? to[i - 1] : 0))
            status = mcr_fail(ctx, MCR_BAD_DATA,
                              "%s: number %" PRId64 " is smaller than the one before", what, i + 1);
    }
    return status;
}

static mcr_status fill_edges(edges *e, mcr *ctx, const mcr_graph_view *v, int64_t count)
{
    e->node_start = mcr_alloc(ctx, (size_t)count + 1, sizeof *e->node_start);
    e->edge_start = mcr_alloc(ctx, (size_t)count + 1, sizeof *e->edge_start);
    mcr_status status = e->node_start && e->edge_start ? MCR_OK : MCR_NO_MEMORY;
    if (status == MCR_OK)
        status = copy_starts(ctx, e->node_start, "starts of nodes", v->node_start, v->start_type,
                             count);
    if (status == MCR_OK)
        status = copy_starts(ctx, e->edge_start, "starts of edges", v->edge_start, v->start_type,
                             count);
    if (status != MCR_OK)
        return status;
    int64_t nodes = e->node_start[count], all = e->edge_start[count];
    int64_t step = v->edge_step != 0 ? v->edge_step : 1;
    e->pair = mcr_alloc(ctx, (size_t)all, sizeof *e->pair);
    e->node_label = v->node_label ? mcr_alloc(ctx, (size_t)nodes, sizeof(int32_t)) : NULL;
    e->edge_label = v->edge_label ? mcr_alloc(ctx, (size_t)all, sizeof(int32_t)) : NULL;
    if (!e->pair || (v->node_label && !e->node_label) || (v->edge_label && !e->edge_label))
        return MCR_NO_MEMORY;
    status = copy_small(ctx, e->pair[0], 2, "tails of edges", v->tail, v->edge_type, all, step);
    if (status == MCR_OK)
        status = copy_small(ctx, e->pair[0] + 1, 2, "heads of edges", v->head, v->edge_type, all,
                            step);
    if (status == MCR_OK && v->node_label)
        status = copy_small(ctx, e->node_label, 1, "labels of nodes", v->node_label, v->label_type,
                            nodes, 1);
    if (status == MCR_OK && v->edge_label)
        status = copy_small(ctx, e->edge_label, 1, "labels of edges", v->edge_label, v->label_type,
                            all, 1);
    return status;
}

mcr_status mcr_builder_borrow_graphs(mcr_builder *b, const char *name, const mcr_graph_view *view)
{
    mcr_graph_view v;
    edges e = {0};
    mcr_status status = MCR_SIZED_READ(mcr_graph_view, &v, b->ctx, view);
    if (status != MCR_OK)
        return status;
    status = mcr_builder_known(b);
    if (status == MCR_OK)
        status = fill_edges(&e, b->ctx, &v, b->count);
    if (status == MCR_OK)
        status = mcr_builder_graphs(b, name, e.node_start, e.node_label, e.edge_start,
                                    (const int32_t(*)[2])e.pair, e.edge_label);
    mcr_free_all(b->ctx, e.node_start, e.edge_start, e.pair, e.node_label, e.edge_label);
    if (v.release != NULL)
        v.release(v.user);
    return status;
}
