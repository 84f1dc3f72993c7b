/* write.c: selects the output format and writes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "data/format/formats.h"
#include "data/write.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "data/format/collect.h"

enum { FLUSH_BYTES = 1 << 16 };

/* Simplest first: the default is the first format that can represent the data. */
static const mcr_format *const simplest[] = {&mcr_format_libsvm, &mcr_format_csv,
                                             &mcr_format_text,   &mcr_format_fasta,
                                             &mcr_format_tsv,    &mcr_format_jsonl};

enum { SIMPLEST = sizeof simplest / sizeof *simplest };

bool mcr_writer_no(char why[MCR_WHY], const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(why, MCR_WHY, format, args);
    va_end(args);
    return false;
}

void mcr_writer_target(mcr_text *to, const mcr_data *data, int64_t i)
{
    if (data->target_kind == MCR_WORD_TARGETS)
        mcr_text_string(to, data->classes->name[data->class_of[i]]);
    else
        mcr_text_real(to, data->target[i]);
}

mcr_span mcr_writer_string(const mcr_data *data, int64_t field, int64_t i)
{
    mcr_field f = mcr_data_field(data, field);
    const int64_t *start = f.store->start + mcr_field_at(&f, i);
    return (mcr_span){f.store->bytes + start[0], (size_t)(start[1] - start[0])};
}

/* ---- choice -----------------------------------------------------------------------------------*/

/* Reports that no such format can be written, and lists those that can. */
static mcr_status unknown(mcr *ctx, const char *name)
{
    mcr_text list;
    const char *names[MCR_FORMATS + 1] = {NULL}, *last = NULL;
    int count = 0;
    mcr_text_init(&list, ctx);
    for (int i = 0; i < MCR_FORMATS; i++) {
        if (mcr_format_at(i)->writer == NULL)
            continue;
        names[count++] = mcr_format_at(i)->name;
        if (last != NULL)
            mcr_text_format(&list, "%s%s", list.length > 0 ? ", " : "", last);
        last = names[count - 1];
    }
    const char *near = mcr_nearest(name, names);
    mcr_status status = list.status != MCR_OK ? list.status
                        : near != NULL
                            ? mcr_fail(ctx, MCR_BAD_CALL,
                                       "unknown format \"%s\" (did you mean \"%s\"?)", name, near)
                            : mcr_fail(ctx, MCR_BAD_CALL,
                                       "the format \"%s\" cannot be written; there are %s and %s",
                                       name, list.bytes, last);
    mcr_text_free(&list);
    return status;
}

static mcr_status by_name(const mcr_format **out, mcr *ctx, const char *name)
{
    for (int i = 0; i < MCR_FORMATS && *out == NULL; i++)
        if (mcr_format_at(i)->writer != NULL && strcmp(name, mcr_format_at(i)->name) == 0)
            *out = mcr_format_at(i);
    return *out != NULL ? MCR_OK : unknown(ctx, name);
}

/* By default, a field must keep its name and kind, too. */
static bool holds_all(const mcr_format *format, const mcr_data *data)
{
    char why[MCR_WHY];
    if (!format->writer->holds(data, why))
        return false;
    const mcr_store *s = data->store[0];
    if (format == &mcr_format_libsvm)
        return s->kind == MCR_SPARSE && strcmp(s->name, "x") == 0;
    if (format == &mcr_format_text)
        return data->target != NULL && strcmp(s->name, "text") == 0;
    if (format == &mcr_format_fasta)
        return data->target != NULL && strcmp(s->name, "sequence") == 0;
    for (int64_t f = 0; f < data->fields && format == &mcr_format_csv; f++)
        if (data->store[f]->kind == MCR_SPARSE || data->target == NULL || data->weight != NULL ||
            (data->store[f]->kind == MCR_DENSE && strcmp(data->store[f]->name, "x") != 0))
            return false;
    return true;
}

static mcr_status choose(const mcr_format **out, const mcr_data *data, const char *path,
                         const char *format)
{
    char why[MCR_WHY];
    static const char *const gzip[] = {"gz", NULL};
    *out = NULL;
    if (format != NULL) {
        mcr_status status = by_name(out, data->ctx, format);
        if (status != MCR_OK)
            return status;
    }
    if (mcr_extension_is(path, gzip))
        return mcr_fail(data->ctx, MCR_BAD_CALL,
                        "%s: gzip is not written; drop .gz and compress the file afterwards", path);
    if (data->table != NULL)
        return mcr_fail(data->ctx, MCR_BAD_CALL,
                        "%s: objects with several targets cannot be written", path);
    for (int i = 0; i < MCR_FORMATS && *out == NULL; i++)
        if (mcr_format_at(i)->writer != NULL &&
            mcr_extension_is(path, mcr_format_at(i)->extensions))
            *out = mcr_format_at(i);
    for (int i = 0; i < SIMPLEST && *out == NULL; i++)
        if (holds_all(simplest[i], data))
            *out = simplest[i];
    if (*out == NULL)
        *out = &mcr_format_jsonl;
    if (!(*out)->writer->holds(data, why))
        return mcr_fail(data->ctx, MCR_BAD_CALL, "%s: cannot be written as %s: %s", path,
                        (*out)->name, why);
    return MCR_OK;
}

/* ---- writing ----------------------------------------------------------------------------------*/

static mcr_status flush(mcr_text *text, mcr_output *out)
{
    if (text->status != MCR_OK || text->length == 0)
        return text->status;
    mcr_status status = mcr_output_write(out, text->bytes, (size_t)text->length);
    text->length = 0;
    return status;
}

static mcr_status write_rows(const mcr_writer *w, const mcr_data *data, mcr_output *out)
{
    mcr_text text;
    mcr_text_init(&text, data->ctx);
    mcr_status status = MCR_OK;
    if (w->head != NULL)
        w->head(&text, data);
    for (int64_t i = 0; i < data->count && status == MCR_OK; i++) {
        w->row(&text, data, i);
        if (text.length >= FLUSH_BYTES || text.status != MCR_OK)
            status = flush(&text, out);
    }
    if (status == MCR_OK)
        status = flush(&text, out);
    mcr_text_free(&text);
    return status;
}

mcr_status mcr_data_write(const mcr_data *data, const char *path, const char *format)
{
    const mcr_format *chosen;
    mcr_output *out;
    mcr_status status = choose(&chosen, data, path, format);
    if (status == MCR_OK)
        status = mcr_output_open(&out, data->ctx, path);
    if (status != MCR_OK)
        return status;
    status = write_rows(chosen->writer, data, out);
    if (status == MCR_OK)
        return mcr_output_commit(out);
    mcr_output_abandon(out);
    return status;
}
