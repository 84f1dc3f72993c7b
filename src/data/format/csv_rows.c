/* csv_rows.c: the rows of a chunk of a table. Numbers and dates are parsed in place and stored
 * directly; of texts only the position is recorded, and csv.c copies them. So chunks can be read by
 * several threads in parallel, and nothing is allocated here.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "data/format/csv_rows.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "data/scan.h"

/* The state while a chunk is read. */
typedef struct reader {
    const mcr_csv_rows *to;
    const mcr_csv_plan *plan;
    mcr_csv_chunk *chunk;
    mcr_csv_day *day;
    int64_t line, record; /* of the current record, from 1 */
    int64_t row;
} reader;

/* ---- cells ------------------------------------------------------------------------------------*/

mcr_status mcr_csv_fail_cell(const mcr_csv_rows *rows, int64_t line, int64_t column,
                             const mcr_csv_field *f, const char *what)
{
    enum { SHOWN = 40 };
    char text[MCR_CSV_COLUMN_TEXT];
    return mcr_fail_at(rows->ctx, MCR_BAD_DATA, rows->file, line, "%s: \"%.*s%s\" %s",
                       mcr_csv_column_text(rows->plan, column, text),
                       f->length > SHOWN ? SHOWN : (int)f->length, f->text,
                       f->length > SHOWN ? "..." : "", what);
}

static mcr_status fail_cell(const reader *r, int64_t column, const mcr_csv_field *f,
                            const char *what)
{
    return mcr_csv_fail_cell(r->to, r->line, column, f, what);
}

static mcr_status fail_missing(const reader *r, int64_t column, const mcr_csv_field *f)
{
    char text[MCR_CSV_COLUMN_TEXT];
    mcr_csv_column_text(r->plan, column, text);
    if (f->length == 0)
        return mcr_fail_at(r->to->ctx, MCR_BAD_DATA, r->to->file, r->line,
                           "%s: the value is missing", text);
    return mcr_fail_at(r->to->ctx, MCR_BAD_DATA, r->to->file, r->line,
                       "%s: the value is missing (\"%.*s\")", text, (int)f->length, f->text);
}

/* "1,234.5": unlikely to be a typing error. */
static bool has_thousands(const mcr_csv_field *f)
{
    size_t digits = 0, marks = 0;
    for (size_t i = 0; i < f->length; i++) {
        digits += f->text[i] >= '0' && f->text[i] <= '9';
        marks += f->text[i] == ',' || f->text[i] == '.' || f->text[i] == '\'' || f->text[i] == ' ';
    }
    return marks > 0 && digits > 3 && digits + marks + (f->text[0] == '-') == f->length;
}

static mcr_status take_number(const reader *r, int64_t column, const mcr_csv_field *f,
                              double *value)
{
    if (mcr_csv_missing(f))
        return fail_missing(r, column, f);
    if (!(r->plan->comma ? mcr_csv_comma_number(f, value) : mcr_csv_number(f, value)))
        return fail_cell(
            r, column, f,
            has_thousands(f)
                ? "is not a number: write it without thousands separators and with a decimal point"
                : "is not a number");
    if (!isfinite(*value))
        return fail_cell(r, column, f, "is not finite");
    return MCR_OK;
}

/* Whether a missing value is accepted; else it is refused. */
static bool leaves_hole(const reader *r, const mcr_csv_field *f)
{
    return r->to->missing > MCR_MISSING_DROP && mcr_csv_missing(f);
}

static mcr_status take_feature(reader *r, int64_t column, const mcr_csv_field *f, double *value)
{
    if (!leaves_hole(r, f))
        return take_number(r, column, f, value);
    *value = NAN;
    r->chunk->number_holes = true;
    return MCR_OK;
}

static inline void note_cell(const reader *r, const mcr_csv_field *f, mcr_csv_cell *to)
{
    *to = (mcr_csv_cell){(uint32_t)(f->text - r->chunk->from), (uint32_t)f->length & INT32_MAX,
                         f->doubled};
}

static mcr_status take_text(const reader *r, int64_t column, const mcr_csv_field *f,
                            mcr_csv_cell *to)
{
    note_cell(r, f, to);
    if (f->quoted || !mcr_csv_missing(f))
        return MCR_OK;
    if (r->to->missing <= MCR_MISSING_DROP)
        return fail_missing(r, column, f);
    *to = (mcr_csv_cell){.at = MCR_CSV_HOLE};
    return MCR_OK;
}

static mcr_status fail_date(const reader *r, int64_t column, const mcr_csv_field *f)
{
    enum { SHOWN = 40 };
    char text[MCR_CSV_COLUMN_TEXT];
    return mcr_fail_at(r->to->ctx, MCR_BAD_DATA, r->to->file, r->line,
                       "%s is not a date: row %" PRId64
                       " has \"%.*s\"; dates are written 2024-12-31 or 2024-12-31 23:59",
                       mcr_csv_column_text(r->plan, column, text), r->record,
                       f->length > SHOWN ? SHOWN : (int)f->length, f->text);
}

/* The parts of a date; those of whole days are cached. */
static void put_date(const reader *r, double days, double part[MCR_DATE_PARTS])
{
    const double MOST = 1e9;
    int64_t whole = days > -MOST && days < MOST ? (int64_t)days : INT64_MAX;
    if ((double)whole != days) {
        mcr_date_parts(days, part);
        return;
    }
    mcr_csv_day *k = &r->day[(uint64_t)whole % MCR_CSV_DAYS];
    if (!k->known || k->days != days) {
        mcr_date_parts(days, k->part);
        k->known = true;
        k->days = days;
    }
    memcpy(part, k->part, sizeof k->part);
}

static mcr_status take_date(const reader *r, int64_t column, const mcr_csv_field *f, double *to)
{
    double days = NAN;
    if (!mcr_date_parse(f->text, f->length, &days)) {
        if (!mcr_csv_missing(f))
            return fail_date(r, column, f);
        if (r->to->missing <= MCR_MISSING_DROP)
            return fail_missing(r, column, f);
        r->chunk->date_holes = true;
        days = NAN;
    }
    put_date(r, days, to + r->row * MCR_DATE_PARTS);
    return MCR_OK;
}

/* Whether all labels are numbers is only known at the end: see csv.c. */
static mcr_status take_label(const reader *r, int64_t column, const mcr_csv_field *f,
                             mcr_csv_cell *to)
{
    if (mcr_csv_missing(f))
        return fail_missing(r, column, f);
    if (memchr(f->text, '\0', f->length) != NULL)
        return fail_cell(r, column, f, "holds a NUL byte");
    note_cell(r, f, to);
    return MCR_OK;
}

static mcr_status take_weight(const reader *r, int64_t column, const mcr_csv_field *f)
{
    double *value = r->to->weight + r->row;
    mcr_status status = take_number(r, column, f, value);
    if (status == MCR_OK && *value < 0)
        status = fail_cell(r, column, f, "is a negative weight");
    return status;
}

/* ---- records ----------------------------------------------------------------------------------*/

/* Parses a plain number at *p that is followed by a separator or line end, and moves *p past
 * that. */
static inline bool scan_number(const char **p, const char *end, char separator, double *value,
                               bool *last)
{
    const char *q = *p;
    while (*q == ' ')
        q++;
    q = mcr_scan_real(q, end, value);
    if (q == NULL || !isfinite(*value))
        return false;
    while (*q == ' ')
        q++;
    if (*q == separator) {
        *last = false;
        *p = q + 1;
        return true;
    }
    if (*q == '\r' && q[1] == '\n')
        q++;
    if (*q != '\n')
        return false;
    *last = true;
    *p = q + 1;
    return true;
}

/* MCR_BAD_DATA if the record's number of fields differs from that of the first line. */
static mcr_status check_count(const reader *r, const char *p, const char *end)
{
    mcr_csv_field f;
    int64_t found = 1;
    for (;; found++) {
        mcr_csv_state state = mcr_csv_next(&f, &p, end, r->plan->separator);
        if (state == MCR_CSV_BEHIND)
            return MCR_OK;
        if (state == MCR_CSV_LAST)
            break;
    }
    if (found == r->plan->columns)
        return MCR_OK;
    return mcr_fail_at(r->to->ctx, MCR_BAD_DATA, r->to->file, r->line,
                       "%" PRId64 " value%s, but the first line has %" PRId64, found,
                       found == 1 ? "" : "s", r->plan->columns);
}

/* Where the cells of a record are stored, by column. */
typedef struct places {
    double *number;
    mcr_csv_cell *text, *carried;
    double *const *date;
} places;

static mcr_status take_cell(reader *r, int64_t c, const mcr_csv_field *f, places *to)
{
    const mcr_csv_column *column = &r->plan->column[c];
    if (column->carried)
        note_cell(r, f, to->carried++);
    switch (column->role) {
    case MCR_NUMBER: return take_feature(r, c, f, to->number++);
    case MCR_CATEGORY:
    case MCR_WORDS:
    case MCR_SET: return take_text(r, c, f, to->text++);
    case MCR_DATE: return take_date(r, c, f, *to->date++);
    case MCR_TARGET:
        if (r->plan->targets > 1)
            return take_number(r, c, f,
                               r->to->target + r->row * r->plan->targets + column->rank - 1);
        return take_label(r, c, f, &r->to->cell[(r->row - r->to->first + 1) * r->to->cells - 1]);
    case MCR_WEIGHT: return take_weight(r, c, f);
    case MCR_ID:
    case MCR_GROUP:
    case MCR_IGNORED:
    case MCR_ROLE_NONE: break;
    }
    return MCR_OK;
}

/* Reads the record at *at, which is moved past it. */
static mcr_status read_record(reader *r, const char **at)
{
    const mcr_csv_plan *plan = r->plan;
    const char *p = *at, *end = r->chunk->to;
    mcr_status status = MCR_OK;
    /* Tables without numbers, or without texts, have no arrays of them. */
    mcr_csv_cell *cell = r->to->cell ? r->to->cell + (r->row - r->to->first) * r->to->cells : NULL;
    places to = {r->to->number ? r->to->number + r->row * plan->numbers : NULL, cell,
                 cell ? cell + plan->texts : NULL, r->to->date};
    bool last = false;
    int64_t c = 0;
    for (; c < plan->columns && !last && status == MCR_OK; c++) {
        const mcr_csv_column *column = &plan->column[c];
        if (column->role == MCR_NUMBER && !column->carried &&
            scan_number(&p, end, plan->separator, to.number, &last)) {
            to.number++;
            continue;
        }
        mcr_csv_field f;
        mcr_csv_state state = mcr_csv_next(&f, &p, end, plan->separator);
        last = state == MCR_CSV_LAST;
        if (state == MCR_CSV_BEHIND)
            return fail_cell(r, c, &f, "has text after its closing quote");
        status = take_cell(r, c, &f, &to);
    }
    /* A missing or extra cell can also be the reason why a value does not fit its column. */
    if (c < plan->columns || !last || status == MCR_BAD_DATA) {
        mcr_status count = check_count(r, *at, end);
        status = count != MCR_OK ? count : status;
    }
    *at = p;
    return status;
}

/* ---- rows that are left out -------------------------------------------------------------------*/

/* Checks whether a cell can be read; stores nothing. */
static mcr_status try_cell(const reader *r, int64_t c, const mcr_csv_field *f)
{
    const mcr_csv_column *column = &r->plan->column[c];
    bool missing = mcr_csv_missing(f), number = column->role == MCR_NUMBER;
    double value = 0;
    if (column->role == MCR_TARGET && r->plan->targets == 1)
        return missing ? fail_missing(r, c, f) : MCR_OK;
    if (missing && leaves_hole(r, f) && (number || column->role == MCR_DATE))
        return MCR_OK;
    if (number || column->role == MCR_WEIGHT || column->role == MCR_TARGET)
        return take_number(r, c, f, &value);
    if (column->role == MCR_DATE && !missing && !mcr_date_parse(f->text, f->length, &value))
        return fail_date(r, c, f);
    if (missing && !f->quoted && !leaves_hole(r, f) &&
        (column->role == MCR_DATE || mcr_csv_is_text(column->role)))
        return fail_missing(r, c, f);
    return MCR_OK;
}

/* Tries a record whose errors do not stop the reading; *out: the record is skipped. */
static mcr_status try_record(const reader *r, const char *p, const char *end, bool *out)
{
    mcr_status status = r->to->skip_bad ? check_count(r, p, end) : MCR_OK;
    bool last = false, hole = false;
    for (int64_t c = 0; c < r->plan->columns && !last && status == MCR_OK; c++) {
        mcr_csv_field f;
        mcr_csv_state state = mcr_csv_next(&f, &p, end, r->plan->separator);
        mcr_role role = r->plan->column[c].role;
        last = state == MCR_CSV_LAST;
        if (state == MCR_CSV_BEHIND)
            status = fail_cell(r, c, &f, "has text after its closing quote");
        else if (role != MCR_ID && role != MCR_GROUP && role != MCR_IGNORED &&
                 r->to->missing == MCR_MISSING_DROP && mcr_csv_missing(&f))
            hole = true;
        else if (r->to->skip_bad)
            status = try_cell(r, c, &f);
    }
    *out = status == MCR_BAD_DATA || (status == MCR_OK && hole);
    if (status == MCR_BAD_DATA) {
        mcr_skips *skips = &r->chunk->skips;
        if (skips->bad++ == 0) {
            skips->first = r->line;
            snprintf(skips->why, sizeof skips->why, "%s", mcr_last_message(r->to->ctx));
        }
        return MCR_OK;
    }
    r->chunk->skips.dropped += status == MCR_OK && hole;
    return status;
}

static bool is_blank_line(const char *p)
{
    while (*p == ' ' || *p == '\t' || *p == '\r')
        p++;
    return *p == '\n';
}

/* The record from *p to stop or, if stop is NULL, to its end, which is then determined. */
static mcr_status take_record(reader *r, const char **p, const char *stop)
{
    bool out = false;
    mcr_status status = MCR_OK;
    if (stop != NULL && (r->to->skip_bad || r->to->missing == MCR_MISSING_DROP))
        status = try_record(r, *p, stop, &out);
    if (status == MCR_OK && out)
        *p = stop;
    else if (status == MCR_OK)
        status = read_record(r, p);
    r->row += !out;
    return status;
}

mcr_status mcr_csv_rows_read(const mcr_csv_rows *rows, mcr_csv_chunk *chunk, int worker)
{
    reader r = {.to = rows,
                .plan = rows->plan,
                .chunk = chunk,
                .day = rows->day ? rows->day + (int64_t)worker * MCR_CSV_DAYS : NULL,
                .line = chunk->line,
                .record = chunk->record,
                .row = chunk->first};
    const bool look = chunk->quotes || rows->skip_bad || rows->missing == MCR_MISSING_DROP;
    mcr_status status = MCR_OK;
    for (const char *p = chunk->from; p < chunk->to && status == MCR_OK; r.record++) {
        int64_t lines = 1;
        const char *stop = look ? mcr_csv_record(p, chunk->to, r.plan->separator, &lines) : NULL;
        if (is_blank_line(p)) {
            chunk->blank = chunk->blank == 0 ? r.line : chunk->blank;
            p = (const char *)memchr(p, '\n', (size_t)(chunk->to - p)) + 1;
        } else {
            chunk->content = true;
            chunk->followed = chunk->blank > 0;
            if (chunk->followed)
                break; /* reported by csv.c */
            status = take_record(&r, &p, stop);
        }
        r.line += lines;
    }
    chunk->rows = r.row - chunk->first;
    chunk->done = status == MCR_OK;
    return status;
}
