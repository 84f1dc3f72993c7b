/* tables.c: columns of tables: their roles and missing values.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tables.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "progress.h"
#include "text.h"

enum { SHOWN = 4 };

/* ---- remarks ----------------------------------------------------------------------------------*/

static void append(char *text, size_t capacity, const char *more)
{
    size_t used = strlen(text);
    snprintf(text + used, capacity - used, "%s%s", used ? ", " : "", more);
}

/* Missing numbers, column by column. */
static void count_numbers(const mcr_data *data, int64_t field, int64_t cols, int64_t *missing)
{
    double *row = cli_alloc((size_t)cols, sizeof *row);
    for (int64_t i = 0; i < mcr_data_count(data); i++)
        if (mcr_data_vector(data, field, i, row) == MCR_OK)
            for (int64_t c = 0; c < cols; c++)
                missing[c] += isnan(row[c]);
    free(row);
}

static void add_count(char *text, size_t capacity, int64_t *columns, int64_t count,
                      const char *name)
{
    char one[160];
    if (count == 0)
        return;
    snprintf(one, sizeof one, "%" PRId64 " of %.100s", count, name);
    if (++*columns <= SHOWN)
        append(text, capacity, one);
    else if (*columns == SHOWN + 1)
        append(text, capacity, "...");
}

/* "12 of age, 3 of city"; *columns: how many have missing values. */
static void list_missing(cli *c, const mcr_data *data, char *text, size_t capacity,
                         int64_t *columns)
{
    mcr_field_info f = MCR_INIT(mcr_field_info);
    for (int64_t k = 0; k < mcr_data_fields(data); k++) {
        if (mcr_data_field_info(data, k, &f) != MCR_OK || f.missing == 0)
            continue;
        if (f.kind != MCR_DENSE || f.role == MCR_DATE) {
            add_count(text, capacity, columns, f.missing, f.name);
            continue;
        }
        int64_t *missing = cli_alloc((size_t)f.cols, sizeof *missing);
        count_numbers(data, k, f.cols, missing);
        for (int64_t i = 0; i < f.cols; i++) {
            char number[32], line[256];
            snprintf(number, sizeof number, "number %" PRId64, i + 1);
            const char *name = mcr_data_column_name(data, k, i);
            add_count(text, capacity, columns, missing[i], name ? name : number);
            if (missing[i] < mcr_data_count(data))
                continue;
            snprintf(line, sizeof line, "column %.100s has no values", name ? name : number);
            cli_progress_log(c, MCR_LOG_WARNING, line);
        }
        free(missing);
    }
}

static const char *rule_text(const char *missing)
{
    if (!missing || strcmp(missing, "indicator") == 0 || strcmp(missing, "auto") == 0)
        return "numbers become the median, with an indicator column; words become a separate "
               "category";
    if (strcmp(missing, "kernel") == 0)
        return "numbers get their expected distance to others; words become a separate category";
    if (strcmp(missing, "mode") == 0)
        return "they become the most frequent value";
    return strcmp(missing, "mean") == 0
               ? "numbers become the mean, words become a separate category"
               : "numbers become the median, words become a separate category";
}

void cli_tables_say_skipped(cli *c, int64_t skipped, int64_t at, const char *why)
{
    char line[400];
    snprintf(line, sizeof line,
             "%" PRId64 " row%s skipped because of errors, the first in line %" PRId64 ": %.160s",
             skipped, skipped == 1 ? " is" : "s are", at, why);
    cli_progress_log(c, MCR_LOG_WARNING, line);
}

void cli_tables_say_encoding(cli *c, const char *path, int64_t line)
{
    char text[600];
    snprintf(text, sizeof text,
             "%.300s:%" PRId64 ": this line is not UTF-8: its bytes are used as they are (to "
             "convert a file: iconv -f latin1 -t utf-8)",
             path, line);
    cli_progress_log(c, MCR_LOG_WARNING, text);
}

int64_t cli_tables_missing(const mcr_data *data)
{
    int64_t sum = 0;
    for (int64_t k = 0; k < mcr_data_fields(data); k++) {
        mcr_field_info f = MCR_INIT(mcr_field_info);
        if (mcr_data_field_info(data, k, &f) == MCR_OK)
            sum += f.missing;
    }
    return sum;
}

void cli_tables_say_unmatched(cli *c)
{
    char line[600];
    const char *first;
    int64_t objects,
        count = c->reading.joined ? mcr_join_unmatched(c->reading.joined, &objects, &first) : 0;
    if (count == 0)
        return;
    snprintf(line, sizeof line,
             "%" PRId64 " of %" PRId64 " objects %s no row in %.200s, the first is \"%.64s\": the "
             "joined columns are missing there",
             count, objects, count == 1 ? "has" : "have", c->reading.join, first);
    cli_progress_log(c, MCR_LOG_WARNING, line);
}

void cli_tables_remark(cli *c, const mcr_data *data, const mcr_model *model)
{
    char text[1024] = "", line[1400];
    int64_t columns = 0, at, skipped, dropped = mcr_data_dropped(data);
    const char *why;
    if ((skipped = mcr_data_skipped(data, &at, &why)) > 0)
        cli_tables_say_skipped(c, skipped, at, why);
    if (dropped > 0) {
        snprintf(line, sizeof line, "%" PRId64 " row%s with missing values dropped", dropped,
                 dropped == 1 ? " is" : "s are");
        cli_progress_log(c, MCR_LOG_WARNING, line);
    }
    list_missing(c, data, text, sizeof text, &columns);
    if (columns > 0) {
        snprintf(line, sizeof line, "missing values: %s: %s (--missing)", text,
                 model ? "filled as in training" : rule_text(c->reading.missing));
        cli_progress_log(c, MCR_LOG_WARNING, line);
    }
}

/* What short texts may represent. */
enum { PLAIN_TEXT, DATE_TEXT, NUMBER_TEXT, TEXTS };

/* 27/06/2024 and 6.12.23, optionally followed by a time; 1.023,50, $1,234 and 12 %. */
static int text_kind(const char *text, int64_t length)
{
    int digits = 0, groups = 0, marks = 0, date = 1, number = 1;
    char mark = 0;
    for (int64_t i = 0; i < length && text[i] != ' ' && text[i] != 'T'; i++) {
        int digit = text[i] >= '0' && text[i] <= '9';
        digits = digit ? digits + 1 : 0;
        groups += digits == 1;
        marks += !digit;
        date = date && (digit || (memchr("./-", text[i], 3) && (!mark || mark == text[i]))) &&
               (digits < 3 || groups != 2) && digits < 5;
        mark = digit ? mark : text[i];
    }
    if (date && groups == 3 && marks == 2)
        return DATE_TEXT;
    int dots = 0, others = 0; /* characters that plain numbers do not have: 1000 and -1.5 are ids */
    for (int64_t i = 0; i < length && number; i++) {
        int digit = text[i] >= '0' && text[i] <= '9', sign = text[i] == '-' || text[i] == '+';
        int dot = text[i] == '.', other = (text[i] & 0x80) || memchr(",' %$", text[i], 5) != NULL;
        dots += dot;
        others += other;
        number = digit || dot || other || (sign && i == 0);
    }
    return number && groups > 0 && (others > 0 || dots > 1) ? NUMBER_TEXT : PLAIN_TEXT;
}

typedef mcr_status text_of(const mcr_data *data, int64_t column, int64_t i, const char **bytes,
                           int64_t *length);

/* The kind of its first values. */
static int column_kind(const mcr_data *data, text_of *get, int64_t column)
{
    enum { LOOKED_AT = 20 };
    const char *text;
    int64_t length, n = mcr_data_count(data);
    int kind = TEXTS;
    for (int64_t i = 0; i < n && i < LOOKED_AT; i++)
        if (get(data, column, i, &text, &length) == MCR_OK && length > 0) {
            int own = text_kind(text, length);
            kind = kind == TEXTS || kind == own ? own : PLAIN_TEXT;
        }
    return kind == TEXTS ? PLAIN_TEXT : kind;
}

typedef struct unused {
    int64_t columns;
    char first[101], names[512];
} unused;

static void add_unused(unused *u, const char *name)
{
    if (u->columns++ == 0)
        snprintf(u->first, sizeof u->first, "%s", name);
    if (u->columns <= SHOWN + 1)
        append(u->names, sizeof u->names, u->columns <= SHOWN ? name : "...");
}

static void say_unused(cli *c, const unused *u, int kind)
{
    char line[1200], why[300] = "";
    if (kind == PLAIN_TEXT)
        snprintf(why, sizeof why, "say --role %.100s=category, or give a kernel (-k)", u->first);
    snprintf(line, sizeof line, "column%s %.500s %s not used: %s%s", u->columns == 1 ? "" : "s",
             u->names, u->columns == 1 ? "is" : "are",
             kind == DATE_TEXT     ? "dates are read as 2024-12-31, or months as 2024-12"
             : kind == NUMBER_TEXT ? "numbers are read as 1234.5, without thousands separators and "
                                     "units"
                                   : "the default kernel uses numbers, dates, categories and "
                                     "long texts; ",
             why);
    cli_progress_log(c, MCR_LOG_WARNING, line);
}

/* Whether the call declares the column to be an id. */
static int is_said(const cli *c, const char *name)
{
    size_t length = strlen(name);
    int said = c->reading.id && strcmp(c->reading.id, name) == 0;
    for (int64_t i = 0; i < c->reading.roles.count; i++)
        said |= strncmp(c->reading.roles.item[i], name, length) == 0 &&
                c->reading.roles.item[i][length] == '=';
    return said;
}

void cli_tables_say_unused(cli *c, const mcr_data *data)
{
    enum { LONG_TEXT = 40 }; /* these are used (docs/tables.md) */
    unused found[TEXTS] = {0};
    mcr_role role;
    for (int64_t k = 0; k < mcr_data_fields(data); k++) {
        mcr_field_info f = MCR_INIT(mcr_field_info);
        if (mcr_data_field_info(data, k, &f) == MCR_OK && f.role == MCR_WORDS &&
            f.entries < LONG_TEXT * mcr_data_count(data))
            add_unused(&found[column_kind(data, mcr_data_string, k)], f.name);
    }
    for (int64_t k = 0; k < mcr_data_carried(data); k++) {
        const char *name = mcr_data_carried_name(data, k, &role);
        int kind = column_kind(data, mcr_data_carried_text, k);
        if (role == MCR_ID && kind != PLAIN_TEXT && !is_said(c, name))
            add_unused(&found[kind], name); /* dates that are all different look like codes */
    }
    for (int kind = 0; kind < TEXTS; kind++)
        if (found[kind].columns > 0)
            say_unused(c, &found[kind], kind);
}

void cli_tables_say_unseen(cli *c, const char *name, int64_t count, const char *word,
                           int64_t length)
{
    char line[400];
    snprintf(line, sizeof line,
             "%.100s: %" PRId64 " value%s not seen in training, the first is \"%.*s\": treated as "
             "different from all others",
             name, count, count == 1 ? " was" : "s were", length < 60 ? (int)length : 60, word);
    cli_progress_log(c, MCR_LOG_WARNING, line);
}

void cli_tables_unseen(cli *c, const mcr_model *model, const mcr_data *data)
{
    const char *name, *word;
    int64_t count, length;
    for (int64_t k = 0; mcr_model_unseen(c->ctx, model, data, k, &name, &count, &word, &length);
         k++)
        if (count > 0)
            cli_tables_say_unseen(c, name, count, word, length);
}

/* ---- columns ----------------------------------------------------------------------------------*/

static int width_of(const mcr_column_info *column, int64_t count)
{
    enum { LEAST = 6, MOST = 32 };
    int width = LEAST;
    for (int64_t i = 0; i < count; i++) {
        int length = (int)strlen(column[i].name);
        width = length > width ? length : width;
    }
    return width < MOST ? width : MOST;
}

void cli_columns_say(const mcr_column_info *column, int64_t count)
{
    int width = width_of(column, count);
    cli_say("columns", "%-*s  %-8s  %9s  %8s  %s", width, "column", "role", "distinct", "missing",
            "examples");
    for (int64_t i = 0; i < count; i++)
        cli_say("", "%-*.*s  %-8s  %9" PRId64 "  %8" PRId64 "  %s", width, width, column[i].name,
                mcr_role_name(column[i].role), column[i].distinct, column[i].missing,
                column[i].examples);
}

void cli_columns_json(cli_json *j, const mcr_column_info *column, int64_t count)
{
    cli_json_list(j, "columns");
    for (int64_t i = 0; i < count; i++) {
        cli_json_object(j, NULL);
        cli_json_text(j, "name", column[i].name);
        cli_json_text(j, "role", mcr_role_name(column[i].role));
        cli_json_integer(j, "distinct", column[i].distinct);
        cli_json_integer(j, "missing", column[i].missing);
        cli_json_text(j, "examples", column[i].examples);
        cli_json_end(j);
    }
    cli_json_end(j);
}
