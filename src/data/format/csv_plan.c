/* csv_plan.c: determines the meaning of a table's columns from its first block of lines.
 *
 * A column is numeric if at least half of its cells there (not counting missing ones) are numbers;
 * then every cell must be one. So an invalid number is reported and does not silently turn the
 * column into text.
 *
 * The first line is a header if one of its cells starts like a name above a numeric column, or if
 * it contains the name that the caller gave for the target or the weights, or if all its cells are
 * different words and one of them is a common name of a target that does not occur below, or if
 * there are several such cells and no other line (with a model the line is an object).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "data/format/csv_maker.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "data/format/collect.h"

const char *mcr_csv_column_text(const mcr_csv_plan *plan, int64_t column,
                                char text[MCR_CSV_COLUMN_TEXT])
{
    const char *name = plan->column[column].name;
    if (name != NULL && name[0] != '\0')
        snprintf(text, MCR_CSV_COLUMN_TEXT, "column \"%.64s%s\"", name,
                 strlen(name) > 64 ? "..." : "");
    else
        snprintf(text, MCR_CSV_COLUMN_TEXT, "column %" PRId64, column + 1);
    return text;
}

void mcr_csv_plan_free(mcr_csv_plan *plan, mcr *ctx)
{
    for (int64_t c = 0; plan->column != NULL && c < plan->columns; c++) {
        mcr_free(ctx, plan->column[c].name);
        mcr_words_free(&plan->column[c].sample.seen, ctx);
    }
    mcr_free(ctx, plan->column);
    *plan = (mcr_csv_plan){0};
}

/* ---- columns ----------------------------------------------------------------------------------*/

static mcr_status read_first(mcr_csv_maker *m)
{
    int64_t capacity = 0, columns = 0;
    const char *p = m->bytes;
    const char *stop = mcr_csv_record(p, m->end, m->plan->separator, &m->first_lines);
    if (stop == NULL)
        return mcr_fail_at(m->ctx, MCR_BAD_DATA, m->file, 1, "a quote is not closed");
    mcr_csv_state state;
    do {
        mcr_status status = mcr_reserve(m->ctx, &m->first, &capacity, columns + 1,
                                        sizeof *m->first);
        if (status != MCR_OK)
            return status;
        state = mcr_csv_next(&m->first[columns++], &p, stop, m->plan->separator);
    } while (state == MCR_CSV_FIELD);
    if (state == MCR_CSV_BEHIND)
        return mcr_fail_at(m->ctx, MCR_BAD_DATA, m->file, m->first_lines,
                           "there is text after a closing quote");
    if (columns == 1 && m->first[0].length == 0)
        return mcr_fail_at(m->ctx, MCR_BAD_DATA, m->file, 1, "the line is blank");
    m->plan->column = mcr_alloc_zero(m->ctx, (size_t)columns, sizeof *m->plan->column);
    if (m->plan->column == NULL)
        return MCR_NO_MEMORY;
    m->plan->columns = columns;
    m->bytes = stop;
    while (stop < m->end && strchr(" \t\r\n", *stop) && *stop)
        stop++;
    m->alone = stop == m->end;
    return MCR_OK;
}

/* Three digits after the only comma: could be a thousands separator or a decimal comma. */
static bool is_unclear(const mcr_csv_field *f)
{
    const char *comma = memchr(f->text, ',', f->length);
    return comma != NULL && f->text + f->length - comma == 4;
}

static mcr_status count_cell(mcr_csv_maker *m, int64_t c, const mcr_csv_field *f)
{
    mcr_csv_column *column = &m->plan->column[c];
    const mcr_csv_field *name = &m->first[c];
    double value;
    if (f->length == name->length && memcmp(f->text, name->text, f->length) == 0)
        column->usual = false;
    if (mcr_csv_missing(f))
        return MCR_OK;
    bool comma = mcr_csv_decimal_comma(f);
    bool number = mcr_csv_number(f, &value) || (comma && m->plan->separator != ',');
    column->numbers += number;
    column->words += !number;
    column->commas += comma;
    column->unclear += comma && is_unclear(f);
    column->thousands += !comma && mcr_csv_thousands(f);
    return mcr_csv_sample_add(column, m->ctx, f, number);
}

/* Statistics of the cells below the first record, within the block. */
static mcr_status count_cells(mcr_csv_maker *m)
{
    mcr_csv_plan *plan = m->plan;
    mcr_status status = MCR_OK;
    for (int64_t c = 0; c < plan->columns; c++)
        plan->column[c].usual = mcr_csv_usual_target(m->first[c].text, m->first[c].length) >= 0;
    for (const char *p = m->bytes; p < m->end && status == MCR_OK;) {
        int64_t lines;
        const char *stop = mcr_csv_record(p, m->end, plan->separator, &lines);
        if (stop == NULL)
            return MCR_OK;
        mcr_csv_state state = MCR_CSV_FIELD;
        for (int64_t c = 0; c < plan->columns && state == MCR_CSV_FIELD && status == MCR_OK; c++) {
            mcr_csv_field f;
            state = mcr_csv_next(&f, &p, stop, plan->separator);
            if (state <= MCR_CSV_LAST)
                status = count_cell(m, c, &f);
        }
        p = stop;
    }
    return status;
}

/* Detects decimal commas, unless columns are separated by commas. */
static mcr_status find_commas(mcr_csv_maker *m)
{
    int64_t commas = 0, unclear = 0, where = 0;
    char text[MCR_CSV_COLUMN_TEXT];
    for (int64_t c = 0; c < m->plan->columns && m->plan->separator != ','; c++) {
        const mcr_csv_column *column = &m->plan->column[c];
        if (!mcr_csv_is_numeric(column))
            continue;
        commas += column->commas;
        unclear += column->unclear;
        where = column->unclear > 0 ? c : where;
    }
    m->plan->comma = commas > 0;
    if (commas == 0 || unclear < commas)
        return MCR_OK;
    return mcr_fail_at(m->ctx, MCR_BAD_DATA, m->file, 0,
                       "%s: commas followed by three digits may be thousands or fractions; write "
                       "numbers with a decimal point and without thousands separators",
                       mcr_csv_column_text(m->plan, where, text));
}

static bool starts_like_name(const mcr_csv_field *f)
{
    double value;
    return f->length > 0 && memchr("0123456789+-.", f->text[0], 13) == NULL &&
           !mcr_csv_missing(f) && !mcr_csv_number(f, &value);
}

static bool cell_is(const mcr_csv_field *f, const char *name)
{
    return name != NULL && strlen(name) == f->length && memcmp(name, f->text, f->length) == 0;
}

/* Whether the caller names a target or the weights so. */
static bool is_wanted(const mcr_csv_maker *m, const mcr_csv_field *f)
{
    bool wanted = cell_is(f, m->options->target) || cell_is(f, m->options->weight);
    for (int64_t t = 0; t < m->targets.count && !wanted; t++)
        wanted = cell_is(f, m->targets.word[t]);
    const mcr_layout *like = m->options->like;
    for (int64_t r = 0; like != NULL && like->name != NULL && r < like->roles && !wanted; r++)
        wanted = cell_is(f, like->name->name[r]);
    return wanted;
}

static bool all_different_words(const mcr_csv_maker *m)
{
    enum { MOST = 256 }; /* wider tables are numeric */
    if (m->plan->columns > MOST)
        return false;
    for (int64_t i = 0; i < m->plan->columns; i++) {
        if (!starts_like_name(&m->first[i]))
            return false;
        for (int64_t j = 0; j < i; j++)
            if (m->first[i].length == m->first[j].length &&
                memcmp(m->first[i].text, m->first[j].text, m->first[i].length) == 0)
                return false;
    }
    return true;
}

static bool is_header(const mcr_csv_maker *m)
{
    const mcr_csv_plan *plan = m->plan;
    bool usual = false;
    for (int64_t c = 0; c < plan->columns; c++) {
        const mcr_csv_field *f = &m->first[c];
        double value;
        bool number = mcr_csv_number(f, &value);
        const mcr_csv_column *column = &plan->column[c];
        bool dates = column->words > 0 && column->sample.dates == column->words;
        if (starts_like_name(f) && (dates || (column->numbers > 0 && mcr_csv_is_numeric(column))))
            return true;
        if (!number && is_wanted(m, f))
            return true;
        usual |= plan->column[c].usual;
    }
    bool only = m->alone && plan->columns > 1 && !m->options->like;
    return (usual || only) && all_different_words(m);
}

typedef struct named_column {
    const char *name;
    int64_t number;
} named_column;

static int by_name(const void *a, const void *b)
{
    const named_column *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order ? order : (x->number > y->number) - (x->number < y->number);
}

/* Kernels, options and models refer to columns by name, so names must be unique; unnamed columns
 * are exempt. */
static mcr_status refuse_repeated(const mcr_csv_maker *m)
{
    int64_t n = m->plan->columns;
    named_column *list = mcr_alloc(m->ctx, (size_t)n + 1, sizeof *list);
    mcr_status status = list ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t c = 0; c < n && list; c++)
        list[c] = (named_column){m->plan->column[c].name, c + 1};
    if (list)
        qsort(list, (size_t)n, sizeof *list, by_name);
    for (int64_t c = 1; c < n && status == MCR_OK; c++)
        if (list[c].name[0] && strcmp(list[c].name, list[c - 1].name) == 0)
            status = mcr_fail_at(m->ctx, MCR_BAD_DATA, m->file, 1,
                                 "column \"%.100s\" occurs twice, as columns %" PRId64
                                 " and %" PRId64 ": rename one of them",
                                 list[c].name, list[c - 1].number, list[c].number);
    mcr_free(m->ctx, list);
    return status;
}

static mcr_status keep_names(mcr_csv_maker *m)
{
    for (int64_t c = 0; c < m->plan->columns; c++) {
        const mcr_csv_field *f = &m->first[c];
        mcr_status status = mcr_reserve(m->ctx, &m->scratch, &m->scratch_capacity,
                                        (int64_t)f->length + 1, 1);
        if (status != MCR_OK)
            return status;
        size_t length = mcr_csv_plain(m->scratch, f);
        if (memchr(m->scratch, '\0', length) != NULL)
            return mcr_fail_at(m->ctx, MCR_BAD_DATA, m->file, 1,
                               "the name of column %" PRId64 " contains a NUL byte", c + 1);
        m->plan->column[c].name = mcr_copy_text(m->ctx, m->scratch, length);
        if (m->plan->column[c].name == NULL)
            return MCR_NO_MEMORY;
    }
    return refuse_repeated(m);
}

/* Detects separator, header and names, and collects the statistics of the columns. */
static mcr_status scan(mcr_csv_maker *m, bool header)
{
    mcr_csv_plan *plan = m->plan;
    mcr_status status = mcr_target_names(&m->targets, m->ctx, m->options);
    if (status == MCR_OK)
        status = read_first(m);
    if (status == MCR_OK) {
        status = count_cells(m);
        plan->header = header || is_header(m);
    }
    if (status == MCR_OK && plan->header)
        status = keep_names(m);
    for (int64_t c = 0; c < plan->columns && status == MCR_OK && !plan->header; c++)
        status = count_cell(m, c, &m->first[c]);
    return status == MCR_OK ? find_commas(m) : status;
}

static mcr_csv_maker open_maker(mcr_csv_plan *plan, mcr *ctx, const char *file, const char *bytes,
                                size_t count, char separator, const mcr_read_options *options)
{
    double share;
    *plan = (mcr_csv_plan){.separator = separator == MCR_CSV_MADE ? ',' : separator};
    if (separator == 0)
        plan->separator = mcr_csv_separator(bytes, count, &share);
    if (plan->separator == 0)
        plan->separator = ',';
    return (mcr_csv_maker){.plan = plan,
                           .ctx = ctx,
                           .file = file,
                           .options = options,
                           .bytes = bytes,
                           .end = bytes + count};
}

static mcr_status close_maker(mcr_csv_maker *m, mcr_status status)
{
    mcr_words_free(&m->targets, m->ctx);
    mcr_free_all(m->ctx, m->first, m->role, m->scratch);
    if (status != MCR_OK)
        mcr_csv_plan_free(m->plan, m->ctx);
    return status;
}

mcr_status mcr_csv_plan_make(mcr_csv_plan *plan, mcr *ctx, const char *file, const char *bytes,
                             size_t count, char separator, const mcr_read_options *options)
{
    mcr_csv_maker m = open_maker(plan, ctx, file, bytes, count, separator, options);
    mcr_status status = scan(&m, separator == MCR_CSV_MADE);
    if (status == MCR_OK)
        status = mcr_csv_assign(&m);
    return close_maker(&m, status);
}

mcr_status mcr_csv_plan_scan(mcr_csv_plan *plan, mcr *ctx, const char *file, const char *bytes,
                             size_t count, char separator)
{
    const mcr_read_options options = MCR_INIT(mcr_read_options);
    mcr_csv_maker m = open_maker(plan, ctx, file, bytes, count, separator, &options);
    return close_maker(&m, scan(&m, true));
}
