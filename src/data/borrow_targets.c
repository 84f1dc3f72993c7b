/* borrow_targets.c: targets and weights from arrays of any numeric type, class names from bytes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <mercer/borrow.h>

#include <inttypes.h>
#include <string.h>

#include "base/sized.h"
#include "data/builder.h"
#include "data/numbers.h"

/* One number per object and column, row by row, in doubles: to[i * cols + k]. */
static mcr_status copy_numbers(const mcr_builder *b, double *to, const char *what,
                               const mcr_dense_view *v)
{
    mcr_status status = mcr_number_check(b->ctx, what, v->values, v->type, b->count);
    for (int64_t i = 0; i < b->count && status == MCR_OK; i++)
        for (int64_t k = 0; k < v->cols && status == MCR_OK; k++)
            if (!mcr_number_real(&to[i * v->cols + k], v->values, v->type,
                                 i * v->row_step + k * v->col_step))
                status = mcr_fail(b->ctx, MCR_BAD_DATA,
                                  "object %" PRId64 ": a whole number beyond 2^53 is not a %s",
                                  i + 1, what);
    return status;
}

typedef mcr_status set_numbers(mcr_builder *builder, const double *values);

static mcr_status set_from(mcr_builder *b, set_numbers *set, const char *what, const void *values,
                           mcr_number type, int64_t step)
{
    mcr_dense_view v = {.values = values, .type = type, .cols = 1, .row_step = step};
    mcr_status status = mcr_builder_known(b);
    if (status != MCR_OK)
        return status;
    double *copy = mcr_alloc(b->ctx, (size_t)b->count, sizeof *copy);
    status = copy != NULL ? copy_numbers(b, copy, what, &v) : MCR_NO_MEMORY;
    if (status == MCR_OK)
        status = set(b, copy);
    mcr_free(b->ctx, copy);
    return status;
}

mcr_status mcr_builder_number_targets(mcr_builder *b, const void *values, mcr_number type,
                                      int64_t step)
{
    return set_from(b, mcr_builder_targets, "target", values, type, step);
}

mcr_status mcr_builder_number_weights(mcr_builder *b, const void *values, mcr_number type,
                                      int64_t step)
{
    return set_from(b, mcr_builder_weights, "weight", values, type, step);
}

mcr_status mcr_builder_number_table(mcr_builder *b, const mcr_dense_view *view)
{
    mcr_dense_view v;
    double *copy = NULL;
    size_t cells;
    mcr_status status = MCR_SIZED_READ(mcr_dense_view, &v, b->ctx, view);
    if (status != MCR_OK)
        return status;
    mcr_dense_view_steps(&v);
    status = mcr_builder_known(b);
    if (status == MCR_OK && (v.cols < 1 || !mcr_size_mul((size_t)b->count, (size_t)v.cols, &cells)))
        status = mcr_fail(b->ctx, MCR_BAD_CALL, "a table of %" PRId64 " targets", v.cols);
    if (status == MCR_OK) {
        copy = mcr_alloc(b->ctx, cells, sizeof *copy);
        status = copy != NULL ? copy_numbers(b, copy, "target", &v) : MCR_NO_MEMORY;
    }
    if (status == MCR_OK)
        status = mcr_builder_target_table(b, copy, v.cols, v.column);
    mcr_free(b->ctx, copy);
    if (v.release != NULL)
        v.release(v.user);
    return status;
}

/* ---- class words ------------------------------------------------------------------------------*/

static mcr_status add_strings(const mcr_builder *b, mcr_labels *labels, const mcr_string_view *v)
{
    mcr_status status = mcr_number_check(b->ctx, "class words", v->start, v->start_type,
                                         b->count + 1);
    if (status == MCR_OK && v->start_type != MCR_INT32 && v->start_type != MCR_INT64)
        status = mcr_fail(b->ctx, MCR_BAD_CALL,
                          "starts of class words must be whole numbers of 32 or 64 bits");
    int64_t from = 0, to = 0;
    for (int64_t i = 0; i < b->count && status == MCR_OK; i++) {
        (void)mcr_number_int(&from, v->start, v->start_type, i);
        (void)mcr_number_int(&to, v->start, v->start_type, i + 1);
        if (from < 0 || to < from)
            status = mcr_fail(b->ctx, MCR_BAD_DATA,
                              "object %" PRId64 ": its class word ends before it starts", i + 1);
        else if (v->bytes == NULL && to > from)
            status = mcr_fail(b->ctx, MCR_BAD_CALL, "class words: the array is missing");
        else
            status = mcr_labels_add(labels, v->bytes + from, (size_t)(to - from));
    }
    return status;
}

mcr_status mcr_builder_string_targets(mcr_builder *b, const mcr_string_view *view)
{
    mcr_string_view v;
    mcr_labels *labels = NULL;
    mcr_status status = MCR_SIZED_READ(mcr_string_view, &v, b->ctx, view);
    if (status != MCR_OK)
        return status;
    status = mcr_builder_known(b);
    if (status == MCR_OK)
        status = mcr_labels_open(&labels, b->ctx);
    if (status == MCR_OK)
        status = add_strings(b, labels, &v);
    status = mcr_builder_labels_filled(b, labels, status);
    if (v.release != NULL)
        v.release(v.user);
    return status;
}

mcr_status mcr_builder_coded_targets(mcr_builder *b, const void *code, mcr_number type,
                                     int64_t step, const char *const *name, int64_t count)
{
    mcr_labels *labels = NULL;
    mcr_status status = mcr_builder_known(b);
    if (status == MCR_OK)
        status = mcr_number_check(b->ctx, "classes", code, type, b->count);
    if (status == MCR_OK && !mcr_number_whole(type))
        status = mcr_fail(b->ctx, MCR_BAD_CALL, "classes by number must be whole numbers");
    if (status == MCR_OK)
        status = mcr_labels_open(&labels, b->ctx);
    for (int64_t i = 0; i < b->count && status == MCR_OK; i++) {
        int64_t c;
        if (!mcr_number_int(&c, code, type, i * step) || c < 0 || c >= count)
            status = mcr_fail(b->ctx, MCR_BAD_DATA,
                              "object %" PRId64 ": its class is not one of the %" PRId64 " names",
                              i + 1, count);
        else
            status = mcr_labels_add(labels, name[c], strlen(name[c]));
    }
    return mcr_builder_labels_filled(b, labels, status);
}
