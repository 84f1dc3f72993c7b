/* join_rows.c: passes the rows of a joined table to the reader of tables, and checks the result.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "data/builder.h"
#include "data/format/formats.h"
#include "data/join.h"

/* ---- rows on their way ------------------------------------------------------------------------*/

typedef struct rows {
    mcr *ctx;
    mcr_join *join;
    const mcr_read_options *options;
    mcr_input *in;     /* the other table; NULL: objects with names */
    mcr_csv_plan plan; /* its plan */
    int64_t key;       /* column of its key */
    mcr_text bytes;    /* bytes read of it, */
    int64_t used;      /* and those consumed */
    int64_t line;      /* last line read */
    bool ended, counts;
    mcr_text text; /* output rows, */
    int64_t given; /* and their bytes consumed */
    const char *name, *names_end;
    mcr_text scratch;
} rows;

/* Appends more bytes of the other table to those not yet consumed. */
static mcr_status read_more(rows *r)
{
    size_t got;
    int64_t left = r->bytes.length - r->used;
    if (r->used > 0 && left > 0)
        memmove(r->bytes.bytes, r->bytes.bytes + r->used, (size_t)left);
    r->bytes.length = left;
    r->used = 0;
    size_t want = (size_t)(left > MCR_JOIN_CHUNK
                               ? left
                               : MCR_JOIN_CHUNK); /* a long record is read in few steps */
    char *to = mcr_text_extend(&r->bytes, want);
    if (to == NULL)
        return r->bytes.status;
    mcr_status status = mcr_input_some(r->in, to, want, &got);
    r->bytes.length = left + (int64_t)(status == MCR_OK ? got : 0);
    r->ended = status == MCR_OK && got == 0;
    if (r->ended && left > 0 && r->bytes.bytes[left - 1] != '\n')
        mcr_text_string(&r->bytes, "\n");
    return status == MCR_OK ? r->bytes.status : status;
}

static mcr_status make_row(rows *r, const char *p, const char *stop)
{
    const int64_t first = r->text.length;
    const char *from = p, *key = NULL;
    size_t length = 0;
    int64_t c = 0;
    mcr_csv_state state = MCR_CSV_FIELD;
    for (; state == MCR_CSV_FIELD; c++) {
        mcr_csv_field f;
        state = mcr_csv_next(&f, &p, stop, r->plan.separator);
        if (state == MCR_CSV_BEHIND) { /* the reader reports it */
            r->text.length = first;
            mcr_text_add(&r->text, from, (size_t)(stop - from));
            return r->text.status;
        }
        if (c > 0)
            mcr_text_string(&r->text, ",");
        mcr_join_cell(&r->text, &f, r->plan.comma);
        if (c == r->key && !mcr_csv_missing(&f))
            key = mcr_join_plain(&f, &r->scratch, &length);
    }
    if (c == r->plan.columns) {
        mcr_join_append(r->join, &r->text, key, length, r->counts);
    } else if (r->options->skip_bad) {
        mcr_text_string(&r->text, "\n");
    } else {
        return mcr_fail_at(r->ctx, MCR_BAD_DATA, mcr_input_name(r->in), r->line + 1,
                           "%" PRId64 " value%s, but the first line has %" PRId64, c,
                           c == 1 ? "" : "s", r->plan.columns);
    }
    return r->scratch.status != MCR_OK ? r->scratch.status : r->text.status;
}

/* Converts all complete records. */
static mcr_status make_rows(rows *r)
{
    mcr_status status = MCR_OK;
    const char *bytes = r->bytes.bytes;
    const char *end = r->bytes.length > r->used
                          ? memrchr(bytes + r->used, '\n', (size_t)(r->bytes.length - r->used))
                          : NULL;
    for (const char *p = bytes + r->used; end != NULL && p <= end && status == MCR_OK;) {
        int64_t lines;
        const char *stop = mcr_csv_record(p, end + 1, r->plan.separator, &lines);
        bool open = stop == NULL; /* the reader reports the unclosed quote */
        if (open && !r->ended)
            break;
        if (open)
            stop = bytes + r->bytes.length;
        if (open || mcr_join_blank(p, stop))
            mcr_text_add(&r->text, p, (size_t)(stop - p));
        else
            status = make_row(r, p, stop);
        r->line += lines;
        p = stop;
        r->used = p - bytes;
    }
    return status == MCR_OK ? r->text.status : status;
}

static mcr_status make_named(rows *r)
{
    while (r->name < r->names_end && r->text.length < MCR_JOIN_CHUNK) {
        size_t length = strlen(r->name);
        mcr_csv_quote(&r->text, r->name, length);
        mcr_join_append(r->join, &r->text, r->name, length, r->counts);
        r->name += length + 1;
    }
    r->ended = r->name == r->names_end;
    return r->text.status;
}

static mcr_status read_rows(void *arg, char *to, size_t count, size_t *got)
{
    rows *r = arg;
    mcr_status status = MCR_OK;
    *got = 0;
    while (r->given == r->text.length && !r->ended && status == MCR_OK) {
        r->text.length = r->given = 0;
        if (r->in == NULL) {
            status = make_named(r);
            continue;
        }
        status = read_more(r);
        if (status == MCR_OK)
            status = make_rows(r);
    }
    if (status != MCR_OK)
        return status;
    size_t left = (size_t)(r->text.length - r->given);
    *got = left < count ? left : count;
    if (*got > 0)
        memcpy(to, r->text.bytes + r->given, *got);
    r->given += (int64_t)*got;
    return MCR_OK;
}

static void close_rows(void *arg)
{
    rows *r = arg;
    mcr *ctx = r->ctx;
    mcr_csv_plan_free(&r->plan, ctx);
    mcr_text_free(&r->bytes);
    mcr_text_free(&r->text);
    mcr_text_free(&r->scratch);
    mcr_free(ctx, r);
}

/* Reads the header of the other table, finds its key, and writes the header line. */
static mcr_status open_table(rows *r, char separator)
{
    const char *file = mcr_input_name(r->in);
    int64_t key = -1, lines;
    mcr_status status = MCR_OK;
    while (status == MCR_OK && !r->ended && r->bytes.length < MCR_JOIN_CHUNK)
        status = read_more(r);
    if (status != MCR_OK)
        return status;
    const char *p = r->bytes.bytes;
    size_t length = (size_t)r->bytes.length;
    const char *end = r->bytes.length > 0 ? memrchr(p, '\n', length) : NULL;
    if (end == NULL)
        return mcr_fail_at(r->ctx, MCR_BAD_DATA, file, 1, "the header does not end");
    mcr_line_skip_mark(&p, &length);
    length = (size_t)(end + 1 - p);
    status = mcr_csv_plan_scan(&r->plan, r->ctx, file, p, length, separator);
    if (status == MCR_OK)
        status = mcr_join_rows(r->join, &r->plan, file, r->options, &key);
    if (status != MCR_OK)
        return status;
    r->key = mcr_join_column(&r->plan, r->join->plan.column[key].name);
    r->used = mcr_csv_record(p, end + 1, r->plan.separator, &lines) - r->bytes.bytes;
    r->line = lines;
    for (int64_t c = 0; c < r->plan.columns; c++) {
        mcr_text_string(&r->text, c > 0 ? "," : "");
        mcr_csv_quote(&r->text, r->plan.column[c].name, strlen(r->plan.column[c].name));
    }
    mcr_text_add(&r->text, r->join->header.bytes, (size_t)r->join->header.length);
    mcr_text_string(&r->text, "\n");
    return make_rows(r);
}

static mcr_status open_named(rows *r)
{
    mcr_join *j = r->join;
    int64_t key = -1;
    mcr_status status = mcr_join_named(j, r->options, &key);
    if (status != MCR_OK)
        return status;
    mcr_csv_quote(&r->text, j->plan.column[key].name, strlen(j->plan.column[key].name));
    mcr_text_add(&r->text, j->header.bytes, (size_t)j->header.length);
    mcr_text_string(&r->text, "\n");
    r->name = j->name.bytes;
    r->names_end = j->name.bytes + j->name.length;
    return r->text.status;
}

/* The joined rows as an input; `in` stays open and belongs to the caller. */
static mcr_status open_rows(mcr_input **out, mcr *ctx, mcr_input *in, const char *name,
                            char separator, const mcr_read_options *options, bool counts)
{
    *out = NULL;
    rows *r = mcr_alloc_zero(ctx, 1, sizeof *r);
    if (r == NULL)
        return MCR_NO_MEMORY;
    r->ctx = ctx;
    r->join = options->join;
    r->options = options;
    r->in = in;
    r->counts = counts;
    mcr_text_init(&r->bytes, ctx);
    mcr_text_init(&r->text, ctx);
    mcr_text_init(&r->scratch, ctx);
    mcr_status status = in != NULL ? open_table(r, separator) : open_named(r);
    if (status == MCR_OK)
        return mcr_input_source(out, ctx, name,
                                &(mcr_source){.arg = r, .read = read_rows, .close = close_rows});
    close_rows(r);
    return status;
}

/* ---- tables -----------------------------------------------------------------------------------*/

/* The caller's options, with the key as the column of ids unless set otherwise. */
typedef struct wishes {
    mcr_read_options options;
    const char **roles;
    char *own;
} wishes;

static mcr_status add_role(wishes *w, const mcr_join *j)
{
    const char *const *given = w->options.roles, *key = mcr_join_key(j);
    size_t length = strlen(key);
    int64_t count = 0;
    for (; given != NULL && given[count] != NULL; count++)
        if (strncmp(given[count], key, length) == 0 && given[count][length] == '=')
            return MCR_OK;
    if (w->options.like != NULL)
        return MCR_OK;
    w->own = mcr_alloc(j->ctx, length + sizeof "=id", 1);
    w->roles = mcr_alloc(j->ctx, (size_t)count + 2, sizeof *w->roles);
    if (w->own == NULL || w->roles == NULL)
        return MCR_NO_MEMORY;
    memcpy(w->own, key, length);
    memcpy(w->own + length, "=id", sizeof "=id");
    for (int64_t i = 0; i < count; i++)
        w->roles[i] = given[i];
    w->roles[count] = w->own;
    w->roles[count + 1] = NULL;
    w->options.roles = w->roles;
    return MCR_OK;
}

/* If no row has a match, that is an error; in prediction the values are missing. */
static mcr_status check_found(const mcr_join *j, const mcr_read_options *options, int64_t objects,
                              int64_t unmatched)
{
    if (options->like != NULL || objects == 0 || unmatched < objects)
        return MCR_OK;
    return mcr_advise(j->ctx,
                      mcr_fail_at(j->ctx, MCR_BAD_DATA, j->path, 0,
                                  "none of the %" PRId64
                                  " objects has a row in it: the first is called \"%.*s\", but "
                                  "\"%.60s\" is the first value of column \"%.60s\"",
                                  objects, MCR_JOIN_NAME, j->first,
                                  j->keys.count > 0 ? j->keys.word[0] : "", mcr_join_key(j)),
                      "key");
}

/* Reads the joined rows into the builder; in NULL: those of the names. */
static mcr_status read_joined(mcr_builder *b, mcr *ctx, mcr_input *in, const char *name,
                              char separator, const mcr_read_options *options)
{
    mcr_join *j = options->join;
    mcr_input *joined = NULL;
    wishes w = {.options = *options};
    int64_t objects = j->objects, unmatched = j->unmatched;
    mcr_status status = open_rows(&joined, ctx, in, name, separator, options, true);
    if (status == MCR_OK)
        status = add_role(&w, j);
    if (status == MCR_OK)
        status = mcr_csv_read(b, ctx, joined, &w.options, MCR_CSV_MADE);
    mcr_input_close(joined);
    /* If nothing matches, that is the error to report, whatever the reader says. */
    mcr_status found = status == MCR_OK || status == MCR_BAD_DATA
                           ? check_found(j, options, j->objects - objects, j->unmatched - unmatched)
                           : MCR_OK;
    status = found != MCR_OK ? found : status;
    if (status == MCR_OK)
        status = mcr_layout_join(b->data->layout, mcr_join_key(j), in == NULL);
    mcr_free_all(ctx, w.own, w.roles);
    return status;
}

mcr_status mcr_join_describe(mcr_column_info **out, int64_t *count, mcr *ctx,
                             const mcr_format *format, mcr_input *in,
                             const mcr_read_options *options)
{
    mcr_input *joined = NULL;
    wishes w = {.options = *options};
    mcr_status status = open_rows(&joined, ctx, in, mcr_input_name(in), mcr_table_separator(format),
                                  options, false);
    if (status == MCR_OK)
        status = add_role(&w, options->join);
    if (status == MCR_OK)
        status = mcr_csv_describe(out, count, ctx, joined, &w.options, MCR_CSV_MADE);
    mcr_input_close(joined);
    mcr_free_all(ctx, w.own, w.roles);
    return status;
}

/* ---- objects with names -----------------------------------------------------------------------*/

/* Readers of sequences and of JSON provide names; graphs have numbers. */
static mcr_status check_names(mcr_join *j, const mcr_builder *b, const mcr_format *format,
                              const char *file)
{
    mcr_status status = MCR_OK;
    char number[32];
    for (int64_t i = 0; format == &mcr_format_tu && i < b->count && status == MCR_OK; i++) {
        snprintf(number, sizeof number, "%" PRId64, i + 1);
        status = mcr_join_name(j, number, strlen(number));
    }
    if (status != MCR_OK || j->names > 0)
        return status;
    return mcr_advise(j->ctx,
                      mcr_fail_at(j->ctx, MCR_BAD_DATA, file, 0,
                                  "the objects have no \"%.100s\" to join them by",
                                  mcr_join_key(j)),
                      "key");
}

/* Names of fields are unique, and all numbers of a table form one field. */
static mcr_status check_fields(const mcr_join *j, const mcr_builder *b)
{
    for (int64_t f = 0; f < b->data->fields; f++) {
        const char *name = b->data->store[f]->name;
        bool clash = mcr_join_column(&j->plan, name) >= 0;
        for (int64_t c = 0; strcmp(name, "x") == 0 && c < j->plan.columns; c++)
            clash = clash || (c != j->key && mcr_csv_is_numeric(&j->plan.column[c]));
        if (clash)
            return mcr_fail_at(
                j->ctx, MCR_BAD_DATA, j->path, 1,
                "the objects already have a field \"%.100s\", as this table does: rename or drop "
                "one of them%s",
                name,
                strcmp(name, "x") == 0 ? " (\"x\" is the field of all numbers of a table)" : "");
    }
    return MCR_OK;
}

static mcr_status check_beside(mcr *ctx, const mcr_format *format, const mcr_read_options *o)
{
    if (format != &mcr_format_fasta && format != &mcr_format_tu && format != &mcr_format_jsonl)
        return mcr_fail(ctx, MCR_BAD_CALL,
                        "objects of the format %s have no names to join a table by; those of csv, "
                        "tsv, sqlite, fasta, tu and jsonl have",
                        format->name);
    if (o->skip_bad || (o->missing != NULL && strcmp(o->missing, "drop") == 0))
        return mcr_fail(ctx, MCR_BAD_CALL,
                        "rows of a table that is joined to the format %s cannot be dropped",
                        format->name);
    return MCR_OK;
}

/* Whether the joined table has the targets: those named by the caller, or the model's. */
static bool has_targets(const mcr_join *j, const mcr_read_options *o)
{
    mcr_words names = {0};
    bool has = o->target == NULL && o->like != NULL && o->like->beside && o->like->targets > 0;
    if (mcr_target_names(&names, j->ctx, o) == MCR_OK && names.count > 0)
        has = mcr_join_column(&j->plan, names.word[0]) >= 0;
    mcr_words_free(&names, j->ctx);
    return has;
}

/* Reads the objects first, then the columns of their rows as further fields. */
static mcr_status read_beside(mcr_builder *b, mcr *ctx, const mcr_format *format, mcr_input *in,
                              const char *path, const mcr_read_options *options)
{
    mcr_join *j = options->join;
    mcr_read_options objects = {.size = sizeof objects,
                                .target = options->target,
                                .weight = options->weight,
                                .class_files = options->class_files,
                                .features = options->features,
                                .known = options->known,
                                .join = j};
    mcr_read_options table = *options;
    const char *file = path != NULL ? path : options->class_files[0];
    int64_t key;
    table.class_files = NULL;
    if (has_targets(j, options))
        objects.target = "none";
    else
        table.target = "none";
    if (options->weight != NULL && mcr_join_column(&j->plan, options->weight) >= 0)
        objects.weight = NULL;
    else
        table.weight = NULL;
    j->name.length = j->names = 0;
    mcr_status status = check_beside(ctx, format, options);
    if (status == MCR_OK)
        status = mcr_join_named(j, options, &key);
    if (status == MCR_OK)
        status = format->read_path != NULL ? format->read_path(b, ctx, path, &objects)
                                           : format->read(b, ctx, in, &objects);
    if (status == MCR_OK)
        status = check_names(j, b, format, file);
    if (status == MCR_OK)
        status = check_fields(j, b);
    if (status != MCR_OK)
        return status;
    mcr_text name;
    mcr_text_init(&name, ctx);
    mcr_text_format(&name, "%s, joined to %s", j->path, file);
    status = name.status == MCR_OK ? read_joined(b, ctx, NULL, name.bytes, 0, &table) : name.status;
    mcr_text_free(&name);
    return status;
}

mcr_status mcr_join_read(mcr_builder *b, mcr *ctx, const mcr_format *format, mcr_input *in,
                         const char *path, const mcr_read_options *options)
{
    if (format->describe == NULL)
        return read_beside(b, ctx, format, in, path, options);
    return read_joined(b, ctx, in, mcr_input_name(in), mcr_table_separator(format), options);
}
