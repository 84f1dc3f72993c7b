/* arrow_column.c: one column of a record batch: its type, its nulls, its values.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "data/arrow_column.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/context.h"

/* ---- types ------------------------------------------------------------------------------------*/

static const struct number_format {
    const char *format; /* the whole format, or a prefix if it ends with ':' */
    mcr_number type;
    double unit;
} number_formats[] = {
    {"c", MCR_INT8, 1},        {"C", MCR_UINT8, 1},       {"s", MCR_INT16, 1},
    {"S", MCR_UINT16, 1},      {"i", MCR_INT32, 1},       {"I", MCR_UINT32, 1},
    {"l", MCR_INT64, 1},       {"L", MCR_UINT64, 1},      {"f", MCR_FLOAT32, 1},
    {"g", MCR_FLOAT64, 1},     {"tdD", MCR_INT32, 1},     {"tdm", MCR_INT64, 1 / 86400e3},
    {"tss:", MCR_INT64, 1},    {"tsm:", MCR_INT64, 1e-3}, {"tsu:", MCR_INT64, 1e-6},
    {"tsn:", MCR_INT64, 1e-9},
};

static const struct number_format *find_number(const char *format)
{
    for (size_t i = 0; i < sizeof number_formats / sizeof *number_formats; i++) {
        const char *own = number_formats[i].format;
        size_t length = strlen(own);
        if (own[length - 1] == ':' ? strncmp(format, own, length) == 0 : strcmp(format, own) == 0)
            return &number_formats[i];
    }
    return NULL;
}

static bool is_text(const char *format)
{
    return strcmp(format, "u") == 0 || strcmp(format, "U") == 0 || strcmp(format, "z") == 0 ||
           strcmp(format, "Z") == 0;
}

static mcr_status refuse_type(mcr *ctx, const char *name, const char *format)
{
    return mcr_fail(
        ctx, MCR_BAD_CALL,
        "column \"%.100s\": values of Arrow's type \"%.40s\" are not supported; cast them "
        "to numbers or strings",
        name, format);
}

static mcr_status refuse_shape(mcr *ctx, const char *name)
{
    return mcr_fail(ctx, MCR_BAD_DATA, "column \"%.100s\": the array does not match its schema",
                    name);
}

/* Whether its length and offset are valid. */
static bool has_extent(const struct ArrowArray *array)
{
    return array->buffers && array->offset >= 0 && array->length >= 0 &&
           array->length <= INT64_MAX - 1 - array->offset;
}

/* Sets the type of an array of numbers or text; the type determines the number of buffers. */
static mcr_status set_type(mcr_arrow_column *c, mcr *ctx, const char *format,
                           const struct ArrowArray *array, mcr_number *type, bool *bits)
{
    const struct number_format *number = find_number(format);
    *bits = strcmp(format, "b") == 0;
    if (number) {
        c->kind = MCR_ARROW_NUMBER;
        *type = number->type;
        c->unit = number->unit;
    } else if (*bits) {
        c->kind = MCR_ARROW_NUMBER;
        *type = MCR_UINT8;
        c->unit = 1;
    } else if (is_text(format)) {
        c->kind = MCR_ARROW_TEXT;
        c->large = format[0] == 'U' || format[0] == 'Z';
    } else {
        return refuse_type(ctx, c->name, format);
    }
    int64_t buffers = c->kind == MCR_ARROW_TEXT ? 3 : 2;
    if (!has_extent(array) || array->n_buffers != buffers ||
        (array->length > 0 && !array->buffers[1]))
        return refuse_shape(ctx, c->name);
    return MCR_OK;
}

static mcr_status set_vectors(mcr_arrow_column *c, mcr *ctx, const struct ArrowSchema *schema,
                              const struct ArrowArray *array)
{
    char *end;
    c->width = strtoll(schema->format + 3, &end, 10);
    if (schema->n_children != 1 || array->n_children != 1 || *end || c->width < 1 ||
        !has_extent(array) || !has_extent(array->children[0]))
        return refuse_shape(ctx, c->name);
    const struct ArrowSchema *values = schema->children[0];
    const struct ArrowArray *child = array->children[0];
    const struct number_format *number = find_number(values->format);
    if (!number || (number->type != MCR_FLOAT32 && number->type != MCR_FLOAT64))
        return refuse_type(ctx, c->name, values->format);
    c->kind = MCR_ARROW_VECTOR;
    c->type = number->type;
    if (child->n_buffers != 2 || (child->length > 0 && !child->buffers[1]) ||
        child->length / c->width < array->length ||
        child->length / c->width - array->length < array->offset)
        return refuse_shape(ctx, c->name);
    if (child->null_count != 0 && child->buffers[0])
        return mcr_fail(ctx, MCR_BAD_DATA,
                        "column \"%.100s\": lists with nulls are not supported; fill them",
                        c->name);
    return MCR_OK;
}

static mcr_status set_dictionary(mcr_arrow_column *c, mcr *ctx, const struct ArrowSchema *schema,
                                 const struct ArrowArray *array)
{
    const struct number_format *codes = find_number(schema->format);
    if (!array->dictionary || !has_extent(array) || array->n_buffers != 2 ||
        (array->length > 0 && !array->buffers[1]))
        return refuse_shape(ctx, c->name);
    if (!codes || !mcr_number_whole(codes->type) || schema->dictionary->dictionary)
        return refuse_type(ctx, c->name, schema->format);
    c->type = codes->type;
    c->words = array->dictionary;
    return set_type(c, ctx, schema->dictionary->format, c->words, &c->words_type, &c->words_bits);
}

/* ---- nulls ------------------------------------------------------------------------------------*/

static bool bit_at(const void *bits, int64_t at)
{
    return ((const uint8_t *)bits)[at / 8] >> (at % 8) & 1;
}

static bool is_null(const struct ArrowArray *array, int64_t at)
{
    return array->null_count != 0 && array->buffers[0] && !bit_at(array->buffers[0], at);
}

static mcr_status refuse_null(mcr *ctx, const char *name, int64_t row)
{
    return mcr_fail(ctx, MCR_BAD_DATA,
                    "column \"%.100s\", row %" PRId64
                    ": the value is missing; fill it or drop the row",
                    name, row + 1);
}

mcr_status mcr_arrow_open(mcr_arrow_column *c, mcr *ctx, const struct ArrowSchema *schema,
                          const struct ArrowArray *array, int64_t first, int64_t count)
{
    *c = (mcr_arrow_column){.name = schema->name ? schema->name : "", .array = array};
    mcr_status s = schema->dictionary ? set_dictionary(c, ctx, schema, array)
                   : strncmp(schema->format, "+w:", 3) == 0
                       ? set_vectors(c, ctx, schema, array)
                       : set_type(c, ctx, schema->format, array, &c->type, &c->bits);
    if (!s && (array->length < count || array->length - count < first))
        s = refuse_shape(ctx, c->name);
    c->first = array->offset + first;
    for (int64_t i = 0; i < count && !s; i++)
        if (is_null(array, c->first + i))
            s = refuse_null(ctx, c->name, i);
    return s;
}

/* ---- values -----------------------------------------------------------------------------------*/

/* Locates the value of row i: in the column itself, or in its dictionary. */
static mcr_status find_value(const struct ArrowArray **array, int64_t *at, mcr *ctx,
                             const mcr_arrow_column *c, int64_t i)
{
    *array = c->array;
    *at = c->first + i;
    if (!c->words)
        return MCR_OK;
    int64_t code;
    if (!mcr_number_int(&code, c->array->buffers[1], c->type, *at) || code < 0 ||
        code >= c->words->length)
        return mcr_fail(ctx, MCR_BAD_DATA,
                        "column \"%.100s\", row %" PRId64 ": its code is not in the dictionary",
                        c->name, i + 1);
    *array = c->words;
    *at = c->words->offset + code;
    return is_null(c->words, *at) ? refuse_null(ctx, c->name, i) : MCR_OK;
}

mcr_status mcr_arrow_number(double *out, mcr *ctx, const mcr_arrow_column *c, int64_t i)
{
    const struct ArrowArray *array;
    int64_t at;
    mcr_status s = find_value(&array, &at, ctx, c, i);
    if (s)
        return s;
    if (c->words ? c->words_bits : c->bits) {
        *out = bit_at(array->buffers[1], at);
        return MCR_OK;
    }
    /* Times in fine units exceed 2^53: they are rounded, because they are multiplied anyway. */
    mcr_number type = c->words ? c->words_type : c->type;
    int64_t whole;
    if (c->unit != 1 && mcr_number_int(&whole, array->buffers[1], type, at)) {
        *out = (double)whole * c->unit;
        return MCR_OK;
    }
    if (mcr_number_real(out, array->buffers[1], type, at))
        return MCR_OK;
    return mcr_fail(ctx, MCR_BAD_DATA,
                    "column \"%.100s\", row %" PRId64
                    ": a whole number beyond 2^53 does not fit in a double",
                    c->name, i + 1);
}

mcr_status mcr_arrow_text(const char **bytes, int64_t *length, mcr *ctx, const mcr_arrow_column *c,
                          int64_t i)
{
    const struct ArrowArray *array;
    int64_t at, from, to;
    mcr_status s = find_value(&array, &at, ctx, c, i);
    if (s)
        return s;
    mcr_number type = c->large ? MCR_INT64 : MCR_INT32;
    (void)mcr_number_int(&from, array->buffers[1], type, at);
    (void)mcr_number_int(&to, array->buffers[1], type, at + 1);
    if (from < 0 || to < from || (to > from && !array->buffers[2]))
        return refuse_shape(ctx, c->name);
    *bytes = to > from ? (const char *)array->buffers[2] + from : "";
    *length = to - from;
    return MCR_OK;
}
