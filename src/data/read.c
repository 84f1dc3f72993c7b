/* read.c: detects the format of a file and calls its reader.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "data/data.h"

#include <string.h>
#include <strings.h>

#include <sys/stat.h>

#include "base/limits.h"
#include "base/sized.h"
#include "data/cache.h"
#include "data/format/collect.h"
#include "data/format/csv.h"
#include "data/format/formats.h"
#include "data/format/sqlite.h"
#include "data/join.h"

enum { SNIFF_BYTES = 1 << 16 };

#define FORMAT(name) &mcr_format_##name,
static const mcr_format *const formats[] = {
#include "data/format/formats.def"
    NULL};
#undef FORMAT

#define FORMAT(name) #name,
static const char *const format_names[] = {
#include "data/format/formats.def"
    NULL};
#undef FORMAT

const mcr_format *mcr_format_at(int number)
{
    return number >= 0 && number < MCR_FORMATS ? formats[number] : NULL;
}

const char *const *mcr_data_formats(void)
{
    return format_names;
}

static const mcr_format *find_format(const char *name)
{
    for (int i = 0; formats[i] != NULL; i++)
        if (strcmp(formats[i]->name, name) == 0)
            return formats[i];
    return NULL;
}

const char *mcr_data_format_summary(const char *name)
{
    const mcr_format *format = find_format(name);
    return format != NULL ? format->summary : NULL;
}

int mcr_data_format_writes(const char *name)
{
    const mcr_format *format = find_format(name);
    return format != NULL && format->writer != NULL;
}

/* ---- detection -------------------------------------------------------------------------------*/

static mcr_status named_format(const mcr_format **out, mcr *ctx, const char *name)
{
    *out = find_format(name);
    if (*out != NULL)
        return MCR_OK;
    const char *near = mcr_nearest(name, format_names);
    if (near != NULL)
        return mcr_fail(ctx, MCR_BAD_CALL, "unknown format \"%s\" (did you mean \"%s\"?)", name,
                        near);
    return mcr_fail(ctx, MCR_BAD_CALL, "unknown format \"%s\"", name);
}

/* The file's name for sniffing: without directory and .gz. */
static char *plain_name(mcr *ctx, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    size_t length = strlen(name);
    if (length > 3 && strcasecmp(name + length - 3, ".gz") == 0)
        length -= 3;
    return mcr_copy_text(ctx, name, length);
}

static mcr_status detect(const mcr_format **out, mcr *ctx, mcr_input *in)
{
    const char *bytes;
    size_t count;
    mcr_status status = mcr_input_peek(in, SNIFF_BYTES, &bytes, &count);
    if (status != MCR_OK)
        return status;
    char *name = plain_name(ctx, mcr_input_name(in));
    if (name == NULL)
        return MCR_NO_MEMORY;
    int best = 0;
    for (int i = 0; formats[i] != NULL; i++) {
        bool named = mcr_extension_is(name, formats[i]->extensions) ||
                     mcr_extension_is(name, formats[i]->also);
        int sure = formats[i]->sniff != NULL ? formats[i]->sniff(named, bytes, count) : 0;
        if (sure > best) {
            best = sure;
            *out = formats[i];
        }
    }
    mcr_free(ctx, name);
    if (best > 0)
        return MCR_OK;
    mcr_text list;
    mcr_text_init(&list, ctx);
    for (int i = 0; format_names[i] != NULL; i++)
        mcr_text_format(&list, "%s%s", i > 0 ? ", " : "", format_names[i]);
    status = list.status != MCR_OK
                 ? list.status
                 : mcr_advise(ctx,
                              mcr_fail_at(ctx, MCR_BAD_DATA, mcr_input_name(in), 0,
                                          "cannot tell what format this is; name it: %s",
                                          list.bytes),
                              "format");
    mcr_text_free(&list);
    return status;
}

static bool is_directory(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

static const mcr_format *directory_format(void)
{
    for (int i = 0; formats[i] != NULL; i++)
        if (formats[i]->read_path != NULL)
            return formats[i];
    return NULL;
}

/* ---- reading ---------------------------------------------------------------------------------*/

/* Adds the file's name to an error that was found without it. */
static mcr_status name_file(mcr *ctx, mcr_status status, const char *name)
{
    if (status != MCR_BAD_DATA || name == NULL || mcr_message_file(ctx) != NULL)
        return status;
    char message[MCR_MESSAGE_MAX];
    strncpy(message, mcr_message(ctx), sizeof message - 1);
    message[sizeof message - 1] = '\0';
    return mcr_fail_at(ctx, status, name, 0, "%s", message);
}

/* Requested weights and roles must not be ignored silently. */
static mcr_status check_weight(mcr *ctx, const mcr_format *format, const mcr_read_options *options)
{
    static const char *const have[] = {"csv", "tsv", "sqlite", "jsonl", NULL};
    if (format->describe == NULL && options->join == NULL &&
        (options->roles != NULL || options->drop != NULL || options->keep != NULL ||
         (options->only != NULL && !format->picks)))
        return mcr_fail(ctx, MCR_BAD_CALL,
                        "the format %s has no columns with roles; csv, tsv and sqlite have",
                        format->name);
    for (int i = 0; have[i] != NULL; i++)
        if (options->weight == NULL || options->join != NULL || strcmp(format->name, have[i]) == 0)
            return MCR_OK;
    return mcr_fail(
        ctx, MCR_BAD_CALL,
        "weight \"%.100s\": the format %s has no weights; csv, tsv, sqlite and jsonl have",
        options->weight, format->name);
}

/* A model trained with a joined table needs one, even if none of its columns can be in the file
 * itself. */
static mcr_status check_join(mcr *ctx, const mcr_format *format, const char *file,
                             const mcr_read_options *o)
{
    if (format->describe != NULL || o->join != NULL || o->like == NULL || !o->like->beside)
        return MCR_OK;
    return mcr_advise(ctx,
                      mcr_fail_at(ctx, MCR_BAD_CALL, file, 0,
                                  "the model was trained with a table that was joined by column "
                                  "\"%.100s\": it is needed here as well",
                                  o->like->joined),
                      "join");
}

/* Fills b by the reader of the format; in NULL: it reads from path, or from class files. */
static mcr_status read_by(mcr_builder *b, mcr *ctx, const mcr_format *format, mcr_input *in,
                          const char *path, const mcr_read_options *options)
{
    const char *file = path != NULL ? path : options->class_files ? options->class_files[0] : NULL;
    mcr_status status = check_weight(ctx, format, options);
    if (status == MCR_OK)
        status = check_join(ctx, format, file, options);
    if (status != MCR_OK)
        return status;
    if (options->join != NULL)
        return mcr_join_read(b, ctx, format, in, path, options);
    return format->read_path != NULL ? format->read_path(b, ctx, path, options)
                                     : format->read(b, ctx, in, options);
}

static mcr_status read_input(mcr_builder *b, mcr *ctx, const mcr_format *format, mcr_input *in,
                             const mcr_read_options *options)
{
    const char *bytes;
    size_t count;
    mcr_status status = mcr_input_peek(in, 1, &bytes, &count);
    if (status == MCR_OK && count == 0)
        status = mcr_fail_at(ctx, MCR_BAD_DATA, mcr_input_name(in), 0, "the file is empty");
    if (status == MCR_OK && format == NULL)
        status = detect(&format, ctx, in);
    if (status == MCR_OK && format->read == NULL)
        status = mcr_fail(ctx, MCR_BAD_CALL, "%s: the format %s is a directory", mcr_input_name(in),
                          format->name);
    bool used = false;
    if (status == MCR_OK && mcr_cache_suits(options, ctx, in, format)) {
        status = check_weight(ctx, format, options);
        if (status == MCR_OK)
            status = mcr_cache_read(b, ctx, mcr_input_name(in), format, options, &used);
    }
    return status == MCR_OK && !used ? read_by(b, ctx, format, in, mcr_input_name(in), options)
                                     : status;
}

/* Opens a file, or a table of a database, whose format is then known. */
static mcr_status open_path(mcr_input **in, mcr *ctx, const char *path, const mcr_format **format)
{
    const bool unknown = *format == NULL || *format == &mcr_format_sqlite;
    if (!unknown || strcmp(path, "-") == 0 || !mcr_sqlite_is(path))
        return mcr_input_open(in, ctx, path);
    *format = &mcr_format_sqlite;
    return mcr_sqlite_input(in, ctx, path);
}

char mcr_table_separator(const mcr_format *format)
{
    return format == &mcr_format_sqlite ? (char)MCR_CSV_MADE : format == &mcr_format_tsv ? '\t' : 0;
}

mcr_status mcr_table_open(mcr_input **in, mcr *ctx, const char *path, char *separator)
{
    const mcr_format *format = NULL;
    *in = NULL;
    if (is_directory(path))
        return mcr_fail_at(ctx, MCR_IO, path, 0, "this is a directory, not a table");
    mcr_status status = open_path(in, ctx, path, &format);
    if (status == MCR_OK && format == NULL)
        status = detect(&format, ctx, *in);
    if (status == MCR_OK && format->describe == NULL)
        status = mcr_fail_at(ctx, MCR_BAD_DATA, path, 0,
                             "this is %s, but only a table (csv, tsv, sqlite) can be joined",
                             format->name);
    if (status == MCR_OK)
        *separator = mcr_table_separator(format);
    return status;
}

/* Fills b from a directory, class files or a file. */
static mcr_status read_path(mcr_builder *b, mcr *ctx, const char *path,
                            const mcr_read_options *options)
{
    const mcr_format *format = NULL;
    mcr_status status = MCR_OK;
    const char *wanted = options->format;
    if (wanted == NULL && options->class_files != NULL)
        wanted = "fasta";
    if (wanted != NULL)
        status = named_format(&format, ctx, wanted);
    if (status != MCR_OK)
        return status;
    if (path == NULL && options->class_files == NULL)
        return mcr_fail(ctx, MCR_BAD_CALL, "there is no file to read");
    if (options->class_files != NULL && strcmp(wanted, "fasta") != 0)
        return mcr_fail(ctx, MCR_BAD_CALL, "one file per class is for the format fasta, not for %s",
                        wanted);
    if (format != NULL)
        status = check_weight(ctx, format, options);
    if (status != MCR_OK)
        return status;
    if (path == NULL)
        return read_by(b, ctx, format, NULL, NULL, options);
    if (is_directory(path)) {
        if (format == NULL)
            format = directory_format();
        if (format == NULL || format->read_path == NULL)
            return mcr_fail_at(ctx, MCR_IO, path, 0, "this is a directory");
    }
    if (format != NULL && format->read_path != NULL)
        return read_by(b, ctx, format, NULL, path, options);
    mcr_input *in = NULL;
    status = open_path(&in, ctx, path, &format);
    if (status == MCR_OK)
        status = read_input(b, ctx, format, in, options);
    mcr_input_close(in);
    return status;
}

static mcr_status complete(mcr_read_options *options, mcr *ctx, const mcr_read_options *given)
{
    mcr_status status = MCR_SIZED_READ(mcr_read_options, options, ctx, given);
    if (options->class_files != NULL && options->class_files[0] == NULL)
        options->class_files = NULL;
    if (options->roles != NULL && options->roles[0] == NULL)
        options->roles = NULL;
    return status;
}

/* Scaling, weights and gradients create dense vectors as long as the largest index of sparse ones.
 * A small file must not cause such lengths. */
static mcr_status check_lengths(const mcr_data *data, const mcr_read_options *options)
{
    enum { BYTES = 16 }; /* a number and an index */
    char size[MCR_SIZE_TEXT];
    for (int64_t f = 0; f < data->fields; f++) {
        const mcr_store *s = data->store[f];
        size_t bytes = (size_t)s->cols * BYTES;
        if (s->kind == MCR_SPARSE && s->cols > options->features &&
            !mcr_reading_allows(data->ctx, bytes))
            return mcr_advise(
                data->ctx,
                mcr_fail(data->ctx, MCR_BAD_DATA,
                         "the largest index is %lld: vectors of that length take %s each, which is "
                         "out of all proportion to the file: renumber the features, or, if the "
                         "file can be trusted, set the limit for data",
                         (long long)s->cols, mcr_size_text(bytes / 2, size)),
                "data-limit");
    }
    return MCR_OK;
}

static mcr_status finish(mcr_data **out, mcr *ctx, mcr_builder *b, mcr_status status,
                         const char *name, const mcr_read_options *options)
{
    status = mcr_builder_finish_filled(out, b, status);
    if (status == MCR_OK && (status = check_lengths(*out, options)) != MCR_OK) {
        mcr_data_free(*out);
        *out = NULL;
    }
    status = name_file(ctx, status, name);
    mcr_reading_end(ctx);
    return status;
}

mcr_status mcr_data_read(mcr_data **out, mcr *ctx, const char *path, const mcr_read_options *given)
{
    *out = NULL;
    mcr_read_options options;
    mcr_builder *b;
    mcr_status status = complete(&options, ctx, given);
    if (status == MCR_OK)
        status = mcr_builder_open(&b, ctx, -1);
    if (status != MCR_OK)
        return status;
    const char *name = path == NULL && options.class_files != NULL ? options.class_files[0] : path;
    mcr_reading_begin(ctx, name, 0);
    status = read_path(b, ctx, path, &options);
    return finish(out, ctx, b, status, name, &options);
}

mcr_status mcr_columns_read(mcr_column_info **out, int64_t *count, mcr *ctx, const char *path,
                            const mcr_read_options *given)
{
    mcr_read_options options;
    const mcr_format *format = NULL;
    mcr_input *in = NULL;
    *out = NULL;
    *count = 0;
    mcr_status status = complete(&options, ctx, given);
    if (status != MCR_OK || path == NULL || is_directory(path))
        return status;
    if (options.format != NULL)
        status = named_format(&format, ctx, options.format);
    if (status != MCR_OK || (format != NULL && format->describe == NULL))
        return status;
    mcr_reading_begin(ctx, path, 0);
    status = open_path(&in, ctx, path, &format);
    if (status == MCR_OK && format == NULL)
        status = detect(&format, ctx, in);
    if (status == MCR_OK && format->describe != NULL)
        status = options.join != NULL ? mcr_join_describe(out, count, ctx, format, in, &options)
                                      : format->describe(out, count, ctx, in, &options);
    mcr_input_close(in);
    mcr_reading_end(ctx);
    return status;
}

mcr_status mcr_data_read_memory(mcr_data **out, mcr *ctx, const char *name, const void *bytes,
                                size_t count, const mcr_read_options *given)
{
    *out = NULL;
    mcr_read_options options;
    const mcr_format *format = NULL;
    mcr_input *in = NULL;
    mcr_builder *b;
    mcr_status status = complete(&options, ctx, given);
    if (status == MCR_OK)
        status = mcr_builder_open(&b, ctx, -1);
    if (status != MCR_OK)
        return status;
    mcr_reading_begin(ctx, name, 0);
    if (options.format != NULL)
        status = named_format(&format, ctx, options.format);
    if (status == MCR_OK)
        status = mcr_input_memory(&in, ctx, name, bytes, count);
    if (status == MCR_OK)
        status = read_input(b, ctx, format, in, &options);
    mcr_input_close(in);
    return finish(out, ctx, b, status, name, &options);
}
