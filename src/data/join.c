/* join.c: joins the columns of a table to other objects by key.
 *
 * The joined table is kept as text: for each row its key, and its other cells in CSV form. Each row
 * of another table is extended by the cells of the row with the same key before its columns get
 * their roles: so roles, missing values, models and prediction see one table. Objects that are not
 * rows of a table (sequences, graphs) have names; the rows of the joined table in the order of
 * these names form a table, whose columns become further fields. A name without a row in the joined
 * table gets empty cells, which are missing values.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "data/join.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "data/scan.h"

/* ---- cells ------------------------------------------------------------------------------------*/

void mcr_join_cell(mcr_text *t, const mcr_csv_field *f, bool comma)
{
    double value;
    const char *sign = f->length > 0 ? memchr(f->text, ',', f->length) : NULL;
    if (sign != NULL && comma && mcr_csv_comma_number(f, &value)) {
        mcr_text_add(t, f->text, (size_t)(sign - f->text));
        mcr_text_string(t, ".");
        mcr_text_add(t, sign + 1, f->length - (size_t)(sign + 1 - f->text));
    } else if (f->quoted) { /* inner quotes are doubled */
        mcr_text_string(t, "\"");
        mcr_text_add(t, f->text, f->length);
        mcr_text_string(t, "\"");
    } else if (sign != NULL) {
        mcr_csv_quote(t, f->text, f->length);
    } else {
        mcr_text_add(t, f->text, f->length);
    }
}

const char *mcr_join_plain(const mcr_csv_field *f, mcr_text *scratch, size_t *length)
{
    *length = f->length;
    if (!f->doubled)
        return f->text;
    scratch->length = 0;
    char *to = mcr_text_extend(scratch, f->length);
    if (to != NULL)
        *length = mcr_csv_plain(to, f);
    return to;
}

/* ---- the joined table -------------------------------------------------------------------------*/

static mcr_status read_text(mcr_join *j, mcr_input *in)
{
    mcr_status status = MCR_OK;
    size_t got = 1;
    while (status == MCR_OK && got > 0) {
        char *to = mcr_text_extend(&j->bytes, MCR_JOIN_CHUNK);
        if (to == NULL)
            return j->bytes.status;
        status = mcr_input_some(in, to, MCR_JOIN_CHUNK, &got);
        j->bytes.length -= (int64_t)(MCR_JOIN_CHUNK - (status == MCR_OK ? got : 0));
    }
    if (status == MCR_OK && (j->bytes.length == 0 || j->bytes.bytes[j->bytes.length - 1] != '\n'))
        mcr_text_string(&j->bytes, "\n");
    return status == MCR_OK ? j->bytes.status : status;
}

/* Detects separator, header and columns. */
static mcr_status scan_table(mcr_join *j, char separator)
{
    const char *p = j->bytes.bytes;
    size_t length = (size_t)j->bytes.length;
    int64_t lines;
    mcr_line_skip_mark(&p, &length);
    mcr_status status = mcr_csv_plan_scan(&j->plan, j->ctx, j->path, p, length, separator);
    if (status == MCR_OK) {
        const char *row = mcr_csv_record(p, p + length, j->plan.separator, &lines);
        j->begin = (size_t)(row - j->bytes.bytes);
    }
    return status;
}

mcr_status mcr_join_open(mcr_join **out, mcr *ctx, const char *path, const char *key)
{
    mcr_input *in = NULL;
    char separator = 0;
    *out = NULL;
    mcr_join *j = mcr_alloc_zero(ctx, 1, sizeof *j);
    if (j == NULL)
        return MCR_NO_MEMORY;
    j->ctx = ctx;
    j->key = -1;
    mcr_text_init(&j->bytes, ctx);
    mcr_text_init(&j->cells, ctx);
    mcr_text_init(&j->header, ctx);
    mcr_text_init(&j->name, ctx);
    mcr_text_init(&j->without, ctx);
    j->path = mcr_copy_text(ctx, path, strlen(path));
    if (key != NULL)
        j->wanted = mcr_copy_text(ctx, key, strlen(key));
    mcr_status status = j->path != NULL && (key == NULL || j->wanted != NULL) ? MCR_OK
                                                                              : MCR_NO_MEMORY;
    mcr_reading_begin(ctx, path, 0);
    if (status == MCR_OK)
        status = mcr_table_open(&in, ctx, path, &separator);
    if (status == MCR_OK)
        status = read_text(j, in);
    mcr_input_close(in);
    if (status == MCR_OK)
        status = scan_table(j, separator);
    mcr_reading_end(ctx);
    if (status == MCR_OK)
        *out = j;
    else
        mcr_join_close(j);
    return status;
}

static void forget_rows(mcr_join *j)
{
    mcr_words_free(&j->keys, j->ctx);
    j->keys = (mcr_words){0};
    j->cells.length = j->header.length = j->columns = 0;
    j->key = -1;
}

void mcr_join_close(mcr_join *j)
{
    if (j == NULL)
        return;
    mcr *ctx = j->ctx;
    forget_rows(j);
    mcr_text_free(&j->bytes);
    mcr_text_free(&j->cells);
    mcr_text_free(&j->header);
    mcr_text_free(&j->name);
    mcr_text_free(&j->without);
    mcr_csv_plan_free(&j->plan, ctx);
    mcr_free_all(ctx, j->start, j->path, j->wanted, j);
}

int64_t mcr_join_unmatched(const mcr_join *j, int64_t *objects, const char **first)
{
    *objects = j->objects;
    *first = j->unmatched > 0 ? j->first : NULL;
    return j->unmatched;
}

int64_t mcr_join_column(const mcr_csv_plan *plan, const char *name)
{
    for (int64_t c = 0; c < plan->columns; c++)
        if (strcmp(plan->column[c].name, name) == 0)
            return c;
    return -1;
}

/* ---- rows by their key ------------------------------------------------------------------------*/

/* The columns that both tables have and the caller drops, each with a line end; other NULL:
 * none. */
static mcr_status list_dropped(mcr_text *list, const mcr_join *j, int64_t key,
                               const mcr_csv_plan *other, const char *drop)
{
    mcr_words words = {0};
    mcr_status status = mcr_target_names(&words, j->ctx, &(mcr_read_options){.target = drop});
    mcr_text_string(list, "\n");
    for (int64_t w = 0; w < words.count && other != NULL && status == MCR_OK; w++) {
        int64_t c = mcr_join_column(&j->plan, words.word[w]);
        if (c >= 0 && c != key && mcr_join_column(other, words.word[w]) >= 0)
            mcr_text_format(list, "%s\n", words.word[w]);
    }
    mcr_words_free(&words, j->ctx);
    return status == MCR_OK ? list->status : status;
}

static bool is_listed(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (const char *p = strstr(list, name); p != NULL; p = strstr(p + 1, name))
        if (p > list && p[-1] == '\n' && p[length] == '\n')
            return true;
    return false;
}

/* Selects the columns to add: all but the key and dropped ones. */
static mcr_status choose_columns(mcr_join *j, bool *added)
{
    for (int64_t c = 0; c < j->plan.columns; c++) {
        const char *name = j->plan.column[c].name;
        added[c] = c != j->key && !is_listed(j->without.bytes, name);
        if (!added[c])
            continue;
        j->columns++;
        mcr_text_string(&j->header, ",");
        mcr_csv_quote(&j->header, name, strlen(name));
    }
    if (j->columns == 0)
        return mcr_fail_at(j->ctx, MCR_BAD_DATA, j->path, 0,
                           "besides the key, column \"%.60s\", there is nothing to add",
                           mcr_join_key(j));
    return j->header.status;
}

const char *mcr_join_key(const mcr_join *j)
{
    return j->plan.column[j->key].name;
}

static mcr_status note_key(mcr_join *j, const mcr_csv_field *f, mcr_text *scratch, int64_t line)
{
    size_t length;
    int32_t number;
    const int64_t rows = j->keys.count;
    const char *text = mcr_join_plain(f, scratch, &length);
    if (text == NULL)
        return MCR_NO_MEMORY;
    if (mcr_csv_missing(f) || memchr(text, '\0', length) != NULL)
        return mcr_fail_at(j->ctx, MCR_BAD_DATA, j->path, line,
                           "the key, column \"%.60s\", is missing", mcr_join_key(j));
    mcr_status status = mcr_words_number(&j->keys, j->ctx, text, length, &number);
    if (status == MCR_OK && number < rows)
        status = mcr_fail_at(j->ctx, MCR_BAD_DATA, j->path, line,
                             "\"%.*s\" occurs twice in the key, column \"%.60s\": the keys of the "
                             "joined table must be unique",
                             length < MCR_JOIN_NAME ? (int)length : MCR_JOIN_NAME, text,
                             mcr_join_key(j));
    return status;
}

static mcr_status add_row(mcr_join *j, const char *p, const char *stop, int64_t line,
                          const bool *added, mcr_text *scratch)
{
    const mcr_csv_plan *plan = &j->plan;
    mcr_csv_state state = MCR_CSV_FIELD;
    mcr_status status = MCR_OK;
    int64_t c = 0;
    for (; state == MCR_CSV_FIELD && status == MCR_OK; c++) {
        mcr_csv_field f;
        state = mcr_csv_next(&f, &p, stop, plan->separator);
        if (state == MCR_CSV_BEHIND)
            return mcr_fail_at(j->ctx, MCR_BAD_DATA, j->path, line,
                               "there is text after a closing quote");
        if (c == j->key)
            status = note_key(j, &f, scratch, line);
        if (c >= plan->columns || !added[c])
            continue;
        mcr_text_string(&j->cells, ",");
        mcr_join_cell(&j->cells, &f, plan->comma);
    }
    if (status == MCR_OK && c != plan->columns)
        status = mcr_fail_at(j->ctx, MCR_BAD_DATA, j->path, line,
                             "%" PRId64 " values, but the first line has %" PRId64, c,
                             plan->columns);
    return status == MCR_OK ? j->cells.status : status;
}

bool mcr_join_blank(const char *p, const char *stop)
{
    while (p < stop && (*p == ' ' || *p == '\t' || *p == '\r' || *p == '\n'))
        p++;
    return p == stop;
}

static mcr_status add_rows(mcr_join *j, const bool *added)
{
    const char *p = j->bytes.bytes + j->begin, *end = j->bytes.bytes + j->bytes.length;
    mcr_status status = MCR_OK;
    int64_t line = mcr_count_bytes(j->bytes.bytes, p, '\n'), lines;
    mcr_text scratch;
    mcr_text_init(&scratch, j->ctx);
    while (p < end && status == MCR_OK) {
        const char *stop = mcr_csv_record(p, end, j->plan.separator, &lines);
        if (stop == NULL)
            status = mcr_fail_at(j->ctx, MCR_BAD_DATA, j->path, line + 1, "a quote is not closed");
        else if (!mcr_join_blank(p, stop))
            status = add_row(j, p, stop, line + 1, added, &scratch);
        if (status == MCR_OK)
            status = mcr_reserve(j->ctx, &j->start, &j->capacity, j->keys.count + 1,
                                 sizeof *j->start);
        if (status != MCR_OK)
            break;
        j->start[j->keys.count] = j->cells.length;
        p = stop;
        line += lines;
    }
    mcr_text_free(&scratch);
    return status;
}

/* Indexes the rows by the key, unless that was done; takes ownership of `without`. */
static mcr_status index_rows(mcr_join *j, int64_t key, mcr_text *without)
{
    if (j->key == key && strcmp(j->without.bytes, without->bytes) == 0)
        return MCR_OK;
    forget_rows(j);
    bool *added = mcr_alloc_zero(j->ctx, (size_t)j->plan.columns, sizeof *added);
    mcr_status status = added != NULL ? MCR_OK : MCR_NO_MEMORY;
    j->key = key;
    mcr_text_free(&j->without);
    j->without = *without;
    mcr_text_init(without, j->ctx);
    if (status == MCR_OK)
        status = mcr_reserve(j->ctx, &j->start, &j->capacity, 1, sizeof *j->start);
    if (status == MCR_OK) {
        j->start[0] = 0;
        status = choose_columns(j, added);
    }
    if (status == MCR_OK)
        status = add_rows(j, added);
    mcr_free(j->ctx, added);
    if (status != MCR_OK)
        forget_rows(j);
    return status;
}

void mcr_join_append(mcr_join *j, mcr_text *t, const char *key, size_t length, bool counts)
{
    int32_t row = key != NULL && length > 0 ? mcr_words_find(&j->keys, key, length) : -1;
    if (row >= 0)
        mcr_text_add(t, j->cells.bytes + j->start[row],
                     (size_t)(j->start[row + 1] - j->start[row]));
    for (int64_t c = 0; row < 0 && c < j->columns; c++)
        mcr_text_string(t, ",");
    mcr_text_string(t, "\n");
    if (!counts)
        return;
    j->objects++;
    if (row < 0 && j->unmatched++ == 0)
        snprintf(j->first, MCR_JOIN_NAME, "%.*s",
                 length < MCR_JOIN_NAME ? (int)length : MCR_JOIN_NAME - 1, key != NULL ? key : "");
}

/* ---- which column is the key ------------------------------------------------------------------*/

static const char *key_name(const mcr_join *j, const mcr_read_options *o)
{
    return j->wanted != NULL ? j->wanted : o->like != NULL ? o->like->joined : NULL;
}

static mcr_status no_key(mcr *ctx, const char *file, const char *key)
{
    return mcr_fail_at(ctx, MCR_BAD_DATA, file, 0, "there is no column \"%.100s\" to join by", key);
}

static mcr_status several_keys(const mcr_join *j, const mcr_csv_plan *main)
{
    mcr_text list;
    mcr_text_init(&list, j->ctx);
    for (int64_t c = 0; c < main->columns; c++)
        if (mcr_join_column(&j->plan, main->column[c].name) >= 0)
            mcr_text_format(&list, "%s%.60s", list.length > 0 ? ", " : "", main->column[c].name);
    mcr_status status = list.status;
    if (status == MCR_OK)
        status = mcr_advise(j->ctx,
                            mcr_fail_at(j->ctx, MCR_BAD_DATA, j->path, 0,
                                        "both tables have the columns %s: say which of them is the "
                                        "key, and drop the others from one table",
                                        list.bytes),
                            "key");
    mcr_text_free(&list);
    return status;
}

/* For two tables: the named column, else the only one that both have. */
static mcr_status find_common(int64_t *key, const mcr_join *j, const mcr_csv_plan *main,
                              const char *file, const mcr_read_options *o)
{
    const char *wanted = key_name(j, o);
    int64_t common = 0, twice = -1;
    mcr_words out = {0};
    mcr_status status = mcr_target_names(&out, j->ctx, &(mcr_read_options){.target = o->drop});
    for (int64_t c = 0; c < j->plan.columns && status == MCR_OK; c++) {
        const char *name = j->plan.column[c].name;
        bool key_here = wanted != NULL && strcmp(name, wanted) == 0;
        if (mcr_join_column(main, name) < 0 ||
            (!key_here && mcr_words_find(&out, name, strlen(name)) >= 0))
            continue;
        common++;
        twice = key_here ? twice : c;
    }
    mcr_words_free(&out, j->ctx);
    if (status != MCR_OK)
        return status;
    if (wanted == NULL && common == 0)
        return mcr_advise(j->ctx,
                          mcr_fail_at(j->ctx, MCR_BAD_DATA, j->path, 0,
                                      "it has no column in common with %.200s: to join them, both "
                                      "tables need a column of the same name with the same keys",
                                      file),
                          "key");
    if (wanted == NULL && common > 1)
        return several_keys(j, main);
    *key = wanted != NULL ? mcr_join_column(&j->plan, wanted) : twice;
    if (*key < 0 || mcr_join_column(main, j->plan.column[*key].name) < 0)
        return no_key(j->ctx, *key < 0 ? j->path : file, wanted);
    if (wanted != NULL && twice >= 0)
        return mcr_fail_at(j->ctx, MCR_BAD_DATA, j->path, 1,
                           "column \"%.100s\" is in both tables: rename or drop it",
                           j->plan.column[twice].name);
    return MCR_OK;
}

/* For objects with names: the named column, else the only column of ids. */
static mcr_status find_ids(int64_t *key, const mcr_join *j, const mcr_read_options *o)
{
    const char *wanted = key_name(j, o);
    int64_t found = 0;
    *key = wanted != NULL ? mcr_join_column(&j->plan, wanted) : -1;
    if (wanted != NULL)
        return *key >= 0 ? MCR_OK : no_key(j->ctx, j->path, wanted);
    for (int64_t c = 0; c < j->plan.columns; c++)
        if (mcr_csv_guess(&j->plan.column[c], j->plan.separator) == MCR_ID) {
            *key = c;
            found++;
        }
    if (found == 1)
        return MCR_OK;
    return mcr_advise(j->ctx,
                      mcr_fail_at(j->ctx, MCR_BAD_DATA, j->path, 0,
                                  "%s: say which column has the names of the objects",
                                  found == 0 ? "no column is recognised as one of ids"
                                             : "several columns may be ids"),
                      "key");
}

static mcr_status order_rows(mcr_join *j, int64_t key, const mcr_csv_plan *other, const char *drop)
{
    mcr_text without;
    mcr_text_init(&without, j->ctx);
    mcr_status status = list_dropped(&without, j, key, other, drop);
    if (status == MCR_OK)
        status = index_rows(j, key, &without);
    mcr_text_free(&without);
    return status;
}

mcr_status mcr_join_rows(mcr_join *j, const mcr_csv_plan *other, const char *file,
                         const mcr_read_options *options, int64_t *key)
{
    mcr_status status = find_common(key, j, other, file, options);
    return status == MCR_OK ? order_rows(j, *key, other, options->drop) : status;
}

mcr_status mcr_join_named(mcr_join *j, const mcr_read_options *options, int64_t *key)
{
    mcr_status status = find_ids(key, j, options);
    return status == MCR_OK ? order_rows(j, *key, NULL, NULL) : status;
}

mcr_status mcr_join_name(mcr_join *j, const char *name, size_t length)
{
    if (memchr(name, '\0', length) != NULL)
        return mcr_fail(j->ctx, MCR_BAD_DATA, "the name of object %" PRId64 " contains a NUL byte",
                        j->names + 1);
    mcr_text_add(&j->name, name, length);
    mcr_text_add(&j->name, "", 1);
    j->names++;
    return j->name.status;
}
