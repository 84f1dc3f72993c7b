/* builder_table.c: columns of tables in memory, with their roles, like those of a reader.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <mercer/borrow.h>

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/sized.h"
#include "data/builder.h"
#include "data/numbers.h"

mcr_status mcr_builder_missing(mcr_builder *b, const char *rule)
{
    mcr_status status = mcr_missing_find(&b->data->missing, b->ctx, rule);
    if (status == MCR_OK && b->data->missing == MCR_MISSING_DROP)
        status = mcr_fail(b->ctx, MCR_BAD_CALL,
                          "missing values: the builder keeps all rows; drop those with missing "
                          "values beforehand instead of choosing \"drop\"");
    return status;
}

/* A rule given by the caller also applies to later data, even if no value is missing here. */
static bool expects_holes(const mcr_builder *b)
{
    return b->data->missing > MCR_MISSING_DROP && b->data->missing != MCR_MISSING_AUTO;
}

static mcr_status refuse_missing(mcr_builder *b, int64_t row, const char *column)
{
    return mcr_advise(b->ctx,
                      mcr_fail(b->ctx, MCR_BAD_DATA,
                               "object %" PRId64 ": the value of \"%.100s\" is missing", row + 1,
                               column),
                      "option missing=median");
}

/* ---- numbers ----------------------------------------------------------------------------------*/

/* Copies one row, whose missing values are NAN. */
static mcr_status copy_row(mcr_store *s, mcr_builder *b, const mcr_dense_view *v, int64_t i)
{
    for (int64_t c = 0; c < v->cols; c++) {
        double *to = &s->dense[i * v->cols + c];
        bool held = mcr_number_real(to, v->values, v->type, i * v->row_step + c * v->col_step);
        if (!held || isinf(*to))
            return mcr_fail(b->ctx, MCR_BAD_DATA, "object %" PRId64 ": the value of \"%.100s\" %s",
                            i + 1, v->column[c],
                            held ? "is not finite" : "is too large for a double");
        if (isnan(*to) && b->data->missing == MCR_MISSING_ERROR)
            return refuse_missing(b, i, v->column[c]);
        s->holes |= isnan(*to) != 0;
    }
    return MCR_OK;
}

static mcr_status copy_numbers(mcr_store *s, mcr_builder *b, const mcr_dense_view *v)
{
    s->column = mcr_copy_texts(b->ctx, v->column, v->cols);
    s->cols = v->cols;
    mcr_status status = s->column != NULL ? mcr_store_alloc_dense(s) : MCR_NO_MEMORY;
    for (int64_t i = 0; i < b->count && status == MCR_OK; i++)
        status = copy_row(s, b, v, i);
    return status;
}

static mcr_status check_numbers(mcr_builder *b, mcr_dense_view *v)
{
    if (v->cols < 1 || v->cols > INT32_MAX || v->column == NULL)
        return mcr_fail(b->ctx, MCR_BAD_CALL, "a table has columns, and each has a name");
    mcr_dense_view_steps(v);
    return mcr_number_check(b->ctx, "numbers", v->values, v->type, b->count);
}

static mcr_status new_column(mcr_store **out, mcr_builder *b, const char *name, mcr_role role)
{
    mcr_status status = mcr_builder_store(out, b, name, MCR_DENSE);
    if (status == MCR_OK) {
        (*out)->role = role;
        (*out)->holes = expects_holes(b);
    }
    return status;
}

mcr_status mcr_builder_numbers(mcr_builder *b, const mcr_dense_view *view)
{
    mcr_dense_view v;
    mcr_store *s = NULL;
    mcr_status status = MCR_SIZED_READ(mcr_dense_view, &v, b->ctx, view);
    if (status != MCR_OK)
        return status;
    status = check_numbers(b, &v);
    if (status == MCR_OK)
        status = new_column(&s, b, "x", MCR_NUMBER);
    if (status == MCR_OK)
        status = copy_numbers(s, b, &v);
    if (v.release != NULL)
        v.release(v.user);
    return mcr_builder_give(b, s, NULL, status);
}

/* ---- dates ------------------------------------------------------------------------------------*/

static mcr_status fill_dates(mcr_store *s, mcr_builder *b, const double *days)
{
    s->dense = mcr_alloc(b->ctx, (size_t)b->count, MCR_DATE_PARTS * sizeof *s->dense);
    mcr_status status = s->dense != NULL ? mcr_date_columns(s) : MCR_NO_MEMORY;
    for (int64_t i = 0; i < b->count && status == MCR_OK; i++) {
        if (isinf(days[i]))
            return mcr_fail(b->ctx, MCR_BAD_DATA,
                            "object %" PRId64 ": the date of \"%.100s\" is not finite", i + 1,
                            s->name);
        if (isnan(days[i]) && b->data->missing == MCR_MISSING_ERROR)
            return refuse_missing(b, i, s->name);
        s->holes |= isnan(days[i]) != 0;
        mcr_date_parts(days[i], s->dense + i * MCR_DATE_PARTS);
    }
    return status;
}

mcr_status mcr_builder_dates(mcr_builder *b, const char *name, const double *days)
{
    mcr_store *s = NULL;
    mcr_status status = new_column(&s, b, name, MCR_DATE);
    return mcr_builder_give(b, s, NULL, status == MCR_OK ? fill_dates(s, b, days) : status);
}

/* ---- words ------------------------------------------------------------------------------------*/

/* Marks the last field, of strings: empty strings are missing values. */
static mcr_status mark_words(mcr_builder *b, mcr_role role)
{
    mcr_store *s = b->data->store[b->data->fields - 1];
    s->role = role;
    s->holes = expects_holes(b);
    for (int64_t i = 0; i < s->count; i++) {
        bool empty = s->start[i + 1] == s->start[i];
        if (empty && b->data->missing == MCR_MISSING_ERROR)
            return refuse_missing(b, i, s->name);
        s->holes |= empty;
    }
    return MCR_OK;
}

mcr_status mcr_builder_words_column(mcr_builder *b, const char *name, mcr_role role,
                                    const mcr_string_view *view)
{
    if (role != MCR_CATEGORY && role != MCR_WORDS && role != MCR_SET) {
        const char *word = mcr_role_name(role);
        if (view->release != NULL)
            view->release(view->user);
        return mcr_fail(b->ctx, MCR_BAD_CALL,
                        "column \"%.100s\": strings cannot have the role %s; category, text and "
                        "set are possible",
                        name, word != NULL ? word : "none");
    }
    mcr_status status = mcr_builder_borrow_strings(b, name, view);
    return status == MCR_OK ? mark_words(b, role) : status;
}

/* ---- the table --------------------------------------------------------------------------------*/

mcr_status mcr_builder_columns(mcr_builder *b, const char *const *name, const mcr_role *role,
                               int64_t count)
{
    mcr_layout *layout = NULL;
    mcr_layout from = {.columns = count, .column = &(int64_t){0}};
    for (int64_t c = 0; c < count; c++)
        if (mcr_role_name(role[c]) == NULL)
            return mcr_fail(b->ctx, MCR_BAD_CALL, "column \"%.100s\" has no role", name[c]);
    mcr_status status = mcr_layout_new(&layout, b->ctx, &from, NULL);
    if (status == MCR_OK)
        status = mcr_layout_roles(layout, role, name);
    if (status == MCR_OK)
        mcr_builder_layout(b, layout);
    else
        mcr_layout_free(layout);
    return status;
}
