/* csv.c: tables of text: numeric columns together are the field "x", each text column is a string
 * field of its own name ("column3" where there is no header), one column may be the target, or
 * several of numbers.
 *
 * csv_plan.c decides by the first block what the columns are; then one pass over the file fills
 * them. Numbers are scanned in place; only what is not a plain number goes through the fields of
 * csv_record.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "data/format/csv.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "data/format/collect.h"
#include "data/scan.h"
#include "data/write.h"

/* A day, and what mcr_date_parts says of it: days repeat, and sines take long. */
typedef struct known_day {
    bool known;
    double days, part[MCR_DATE_PARTS];
} known_day;

enum { KNOWN_DAYS = 1024 };

/* A date column as it grows. */
typedef struct date_column {
    mcr_store *store;
    int64_t capacity;
    known_day *day; /* KNOWN_DAYS, by the day's number */
} date_column;

typedef struct reader {
    mcr *ctx;
    mcr_blocks blocks;
    const char *file;
    mcr_csv_plan plan;
    mcr_missing missing;
    bool skip_bad;
    mcr_skips skips;
    date_column *date;
    mcr_strings *carried;
    mcr_store *dense; /* NULL: no numeric columns */
    int64_t dense_capacity;
    mcr_strings *text;  /* one per text column */
    mcr_labels *labels; /* of one target */
    double *target;     /* several, row by row */
    int64_t target_capacity;
    double *weight;
    int64_t weight_capacity;
    int64_t rows;
    int64_t line;  /* of the record, from 1 */
    int64_t blank; /* line number of a blank line that nothing may follow, 0: none */
    char *scratch;
    int64_t scratch_capacity;
} reader;

/* ---- cells ------------------------------------------------------------------------------------*/

static mcr_status fail_cell(reader *r, int64_t column, const mcr_csv_field *f, const char *what)
{
    enum { SHOWN = 40 };
    char text[MCR_CSV_COLUMN_TEXT];
    return mcr_fail_at(r->ctx, MCR_BAD_DATA, r->file, r->line, "%s: \"%.*s%s\" %s",
                       mcr_csv_column_text(&r->plan, column, text),
                       f->length > SHOWN ? SHOWN : (int)f->length, f->text,
                       f->length > SHOWN ? "..." : "", what);
}

static mcr_status fail_missing(reader *r, int64_t column, const mcr_csv_field *f)
{
    char text[MCR_CSV_COLUMN_TEXT];
    mcr_csv_column_text(&r->plan, column, text);
    if (f->length == 0)
        return mcr_fail_at(r->ctx, MCR_BAD_DATA, r->file, r->line, "%s: the value is missing",
                           text);
    return mcr_fail_at(r->ctx, MCR_BAD_DATA, r->file, r->line,
                       "%s: the value is missing (\"%.*s\")", text, (int)f->length, f->text);
}

/* "1,234.5": hardly a typing error. */
static bool has_thousands(const mcr_csv_field *f)
{
    size_t digits = 0, marks = 0;
    for (size_t i = 0; i < f->length; i++) {
        digits += f->text[i] >= '0' && f->text[i] <= '9';
        marks += f->text[i] == ',' || f->text[i] == '.' || f->text[i] == '\'' || f->text[i] == ' ';
    }
    return marks > 0 && digits > 3 && digits + marks + (f->text[0] == '-') == f->length;
}

static mcr_status take_number(reader *r, int64_t column, const mcr_csv_field *f, double *value)
{
    if (mcr_csv_missing(f))
        return fail_missing(r, column, f);
    if (!(r->plan.comma ? mcr_csv_comma_number(f, value) : mcr_csv_number(f, value)))
        return fail_cell(r, column, f,
                         has_thousands(f) ? "is not a number: write it without separators of "
                                            "thousands, and with a point"
                                          : "is not a number");
    if (!isfinite(*value))
        return fail_cell(r, column, f, "is not finite");
    return MCR_OK;
}

/* The text of a field, without doubled quotes; borrowed until the next call. */
static mcr_status plain_text(reader *r, const mcr_csv_field *f, const char **text, size_t *length)
{
    *text = f->text;
    *length = f->length;
    if (!f->doubled)
        return MCR_OK;
    mcr_status status = mcr_reserve(r->ctx, &r->scratch, &r->scratch_capacity, (int64_t)f->length,
                                    1);
    if (status != MCR_OK)
        return status;
    *text = r->scratch;
    *length = mcr_csv_plain(r->scratch, f);
    return MCR_OK;
}

/* Whether a missing value becomes a hole; else it is refused. */
static bool leaves_hole(const reader *r, const mcr_csv_field *f)
{
    return r->missing > MCR_MISSING_DROP && mcr_csv_missing(f);
}

static mcr_status take_feature(reader *r, int64_t column, const mcr_csv_field *f, double *value)
{
    if (!leaves_hole(r, f))
        return take_number(r, column, f, value);
    *value = NAN;
    r->dense->holes = true;
    return MCR_OK;
}

static mcr_status take_text(reader *r, int64_t column, const mcr_csv_field *f, mcr_strings *to)
{
    const char *text;
    size_t length;
    if (leaves_hole(r, f) && !f->quoted) {
        to->store->holes = true;
        return mcr_strings_add(to, "", 0);
    }
    if (mcr_csv_missing(f) && !f->quoted)
        return fail_missing(r, column, f);
    mcr_status status = plain_text(r, f, &text, &length);
    return status == MCR_OK ? mcr_strings_add(to, text, length) : status;
}

static mcr_status take_carried(reader *r, const mcr_csv_field *f, mcr_strings *to)
{
    const char *text;
    size_t length;
    mcr_status status = plain_text(r, f, &text, &length);
    return status == MCR_OK ? mcr_strings_add(to, text, length) : status;
}

static mcr_status fail_date(reader *r, int64_t column, const mcr_csv_field *f)
{
    enum { SHOWN = 40 };
    char text[MCR_CSV_COLUMN_TEXT];
    return mcr_fail_at(r->ctx, MCR_BAD_DATA, r->file, r->line,
                       "%s is not a date: row %" PRId64
                       " has \"%.*s\"; dates are written 2024-12-31 or 2024-12-31 23:59",
                       mcr_csv_column_text(&r->plan, column, text), r->rows + 1,
                       f->length > SHOWN ? SHOWN : (int)f->length, f->text);
}

/* The parts of a date; those of whole days are looked up. */
static mcr_status put_date(reader *r, double days, date_column *to)
{
    double *part = to->store->dense + r->rows * MCR_DATE_PARTS;
    if (!(fabs(days) < 1e9) || days != floor(days)) {
        mcr_date_parts(days, part);
        return MCR_OK;
    }
    if (to->day == NULL && (to->day = mcr_alloc_zero(r->ctx, KNOWN_DAYS, sizeof *to->day)) == NULL)
        return MCR_NO_MEMORY;
    known_day *k = &to->day[(uint64_t)(int64_t)days % KNOWN_DAYS];
    if (!k->known || k->days != days) {
        mcr_date_parts(days, k->part);
        k->known = true;
        k->days = days;
    }
    memcpy(part, k->part, sizeof k->part);
    return MCR_OK;
}

static mcr_status take_date(reader *r, int64_t column, const mcr_csv_field *f, date_column *to)
{
    double days = NAN;
    if (mcr_csv_missing(f) && !leaves_hole(r, f))
        return fail_missing(r, column, f);
    if (mcr_csv_missing(f))
        to->store->holes = true;
    else if (!mcr_date_parse(f->text, f->length, &days))
        return fail_date(r, column, f);
    mcr_status status = mcr_reserve(r->ctx, &to->store->dense, &to->capacity,
                                    (r->rows + 1) * MCR_DATE_PARTS, sizeof(double));
    if (status == MCR_OK)
        status = put_date(r, days, to);
    return status;
}

static mcr_status take_label(reader *r, int64_t column, const mcr_csv_field *f)
{
    const char *text;
    size_t length;
    if (mcr_csv_missing(f))
        return fail_missing(r, column, f);
    if (memchr(f->text, '\0', f->length) != NULL)
        return fail_cell(r, column, f, "holds a NUL byte");
    mcr_status status = plain_text(r, f, &text, &length);
    if (status == MCR_OK)
        status = mcr_labels_add(r->labels, text, length);
    if (status == MCR_OK && mcr_labels_not_finite(r->labels) == r->rows && !f->quoted)
        status = fail_cell(r, column, f, "is not finite");
    return status;
}

/* One of several targets. */
static mcr_status take_target(reader *r, int64_t column, const mcr_csv_field *f)
{
    int64_t cols = r->plan.targets;
    double value;
    mcr_status status = take_number(r, column, f, &value);
    if (status == MCR_OK)
        status = mcr_reserve(r->ctx, &r->target, &r->target_capacity, (r->rows + 1) * cols,
                             sizeof *r->target);
    if (status == MCR_OK)
        r->target[r->rows * cols + r->plan.column[column].rank - 1] = value;
    return status;
}

static mcr_status take_weight(reader *r, int64_t column, const mcr_csv_field *f)
{
    double value;
    mcr_status status = take_number(r, column, f, &value);
    if (status == MCR_OK && value < 0)
        status = fail_cell(r, column, f, "is a negative weight");
    if (status == MCR_OK)
        status = mcr_reserve(r->ctx, &r->weight, &r->weight_capacity, r->rows + 1,
                             sizeof *r->weight);
    if (status == MCR_OK)
        r->weight[r->rows] = value;
    return status;
}

/* ---- records ----------------------------------------------------------------------------------*/

/* A plain number at *p with a separator or line end behind it; *p moves there and beyond. */
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

/* MCR_BAD_DATA if the record has another number of fields than the first line. */
static mcr_status check_count(reader *r, const char *p, const char *end)
{
    mcr_csv_field f;
    int64_t found = 1;
    for (;; found++) {
        mcr_csv_state state = mcr_csv_next(&f, &p, end, r->plan.separator);
        if (state == MCR_CSV_BEHIND)
            return MCR_OK;
        if (state == MCR_CSV_LAST)
            break;
    }
    if (found == r->plan.columns)
        return MCR_OK;
    return mcr_fail_at(r->ctx, MCR_BAD_DATA, r->file, r->line,
                       "%" PRId64 " value%s, but the first line has %" PRId64, found,
                       found == 1 ? "" : "s", r->plan.columns);
}

/* Where the cells of a record go, column by column. */
typedef struct places {
    double *number;
    mcr_strings *text, *carried;
    date_column *date;
} places;

static mcr_status take_cell(reader *r, int64_t c, const mcr_csv_field *f, places *to)
{
    const mcr_csv_column *column = &r->plan.column[c];
    mcr_status status = column->carried ? take_carried(r, f, to->carried++) : MCR_OK;
    if (status != MCR_OK)
        return status;
    switch (column->role) {
    case MCR_NUMBER: return take_feature(r, c, f, to->number++);
    case MCR_CATEGORY:
    case MCR_WORDS:
    case MCR_SET: return take_text(r, c, f, to->text++);
    case MCR_DATE: return take_date(r, c, f, to->date++);
    case MCR_TARGET: return r->plan.targets > 1 ? take_target(r, c, f) : take_label(r, c, f);
    case MCR_WEIGHT: return take_weight(r, c, f);
    case MCR_ID:
    case MCR_GROUP:
    case MCR_IGNORED:
    case MCR_ROLE_NONE: break;
    }
    return MCR_OK;
}

/* One record from p to end. */
static mcr_status read_record(reader *r, const char *p, const char *end)
{
    const mcr_csv_plan *plan = &r->plan;
    const char *first = p;
    mcr_status status = MCR_OK;
    places to = {r->dense != NULL ? r->dense->dense + r->rows * plan->numbers : NULL, r->text,
                 r->carried, r->date};
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
            return fail_cell(r, c, &f, "has text behind its closing quote");
        status = take_cell(r, c, &f, &to);
    }
    /* A value too few or too many is also why a value does not fit its column. */
    if (c < plan->columns || !last || status == MCR_BAD_DATA) {
        mcr_status count = check_count(r, first, end);
        status = count != MCR_OK ? count : status;
    }
    r->rows++;
    return status;
}

/* ---- rows that are left out -------------------------------------------------------------------*/

/* Whether a cell can be read; nothing is kept. */
static mcr_status try_cell(reader *r, int64_t c, const mcr_csv_field *f)
{
    const mcr_csv_column *column = &r->plan.column[c];
    bool missing = mcr_csv_missing(f), number = column->role == MCR_NUMBER;
    double value = 0;
    if (column->role == MCR_TARGET && r->plan.targets == 1)
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

/* Tries a record whose faults do not stop the reading; *out: it is left out. */
static mcr_status try_record(reader *r, const char *p, const char *end, bool *out)
{
    mcr_status status = r->skip_bad ? check_count(r, p, end) : MCR_OK;
    bool last = false, hole = false;
    for (int64_t c = 0; c < r->plan.columns && !last && status == MCR_OK; c++) {
        mcr_csv_field f;
        mcr_csv_state state = mcr_csv_next(&f, &p, end, r->plan.separator);
        mcr_role role = r->plan.column[c].role;
        last = state == MCR_CSV_LAST;
        if (state == MCR_CSV_BEHIND)
            status = fail_cell(r, c, &f, "has text behind its closing quote");
        else if (role != MCR_ID && role != MCR_GROUP && role != MCR_IGNORED &&
                 r->missing == MCR_MISSING_DROP && mcr_csv_missing(&f))
            hole = true;
        else if (r->skip_bad)
            status = try_cell(r, c, &f);
    }
    *out = status == MCR_BAD_DATA || (status == MCR_OK && hole);
    if (status == MCR_BAD_DATA) {
        if (r->skips.bad++ == 0) {
            r->skips.first = r->line;
            snprintf(r->skips.why, sizeof r->skips.why, "%s", mcr_message(r->ctx));
        }
        return MCR_OK;
    }
    r->skips.dropped += status == MCR_OK && hole;
    return status;
}

static bool is_blank_line(const char *p)
{
    while (*p == ' ' || *p == '\t' || *p == '\r')
        p++;
    return *p == '\n';
}

/* All records of a block from p on; those that end in it. */
static mcr_status read_records(reader *r, const char *p)
{
    const char *end = r->blocks.bytes + r->blocks.count;
    mcr_status status = MCR_OK;
    while (p < end && status == MCR_OK) {
        int64_t lines;
        const char *stop = mcr_csv_record(p, end, r->plan.separator, &lines);
        if (stop == NULL && r->blocks.last)
            return mcr_fail_at(r->ctx, MCR_BAD_DATA, r->file, r->line, "a quote is not closed");
        if (stop == NULL)
            break;
        if (is_blank_line(p)) {
            r->blank = r->blank == 0 ? r->line : r->blank;
        } else if (r->blank > 0) {
            return mcr_fail_at(r->ctx, MCR_BAD_DATA, r->file, r->blank,
                               "the line is blank; blank lines may stand only at the end");
        } else {
            bool out = false;
            if (r->skip_bad || r->missing == MCR_MISSING_DROP)
                status = try_record(r, p, stop, &out);
            if (status == MCR_OK && !out && r->dense != NULL)
                status = mcr_reserve(r->ctx, &r->dense->dense, &r->dense_capacity,
                                     (r->rows + 1) * r->plan.numbers, sizeof(double));
            if (status == MCR_OK && !out)
                status = read_record(r, p, stop);
        }
        r->line += lines;
        p = stop;
    }
    r->blocks.count = (size_t)(p - r->blocks.bytes);
    return status;
}

/* ---- the file ---------------------------------------------------------------------------------*/

static mcr_status open_dates(reader *r, int64_t number, const char *name)
{
    mcr_store **store = &r->date[number].store;
    mcr_status status = mcr_store_new(store, r->ctx, name, MCR_DENSE);
    if (status != MCR_OK)
        return status;
    (*store)->role = MCR_DATE;
    (*store)->column = mcr_alloc_zero(r->ctx, MCR_DATE_PARTS, sizeof *(*store)->column);
    if ((*store)->column == NULL)
        return MCR_NO_MEMORY;
    (*store)->cols = MCR_DATE_PARTS;
    for (int i = 0; i < MCR_DATE_PARTS; i++) {
        size_t length = strlen(name), more = strlen(mcr_date_suffix[i]);
        char *text = mcr_alloc(r->ctx, length + more + 1, 1);
        if (text == NULL)
            return MCR_NO_MEMORY;
        memcpy(text, name, length);
        memcpy(text + length, mcr_date_suffix[i], more + 1);
        (*store)->column[i] = text;
    }
    return MCR_OK;
}

static mcr_status open_texts(reader *r)
{
    const mcr_csv_plan *plan = &r->plan;
    mcr_status status = MCR_OK;
    int64_t text = 0, date = 0, carried = 0;
    for (int64_t c = 0; c < plan->columns && status == MCR_OK; c++) {
        const mcr_csv_column *column = &plan->column[c];
        char number[32];
        snprintf(number, sizeof number, "column%" PRId64, c + 1);
        const char *name = column->name != NULL && column->name[0] != '\0' ? column->name : number;
        if (mcr_csv_is_text(column->role)) {
            status = mcr_strings_open(&r->text[text], r->ctx, name);
            if (status == MCR_OK)
                r->text[text++].store->role = column->role;
        }
        if (column->role == MCR_DATE && status == MCR_OK)
            status = open_dates(r, date++, name);
        if (column->carried && status == MCR_OK) {
            status = mcr_strings_open(&r->carried[carried], r->ctx, name);
            if (status == MCR_OK)
                r->carried[carried++].store->role = column->role;
        }
    }
    return status;
}

/* A rule that the caller gave holds for what comes later, also where no value is missing here. */
static void expect_holes(reader *r)
{
    if (r->dense != NULL)
        r->dense->holes = true;
    for (int64_t i = 0; i < r->plan.texts; i++)
        r->text[i].store->holes = true;
    for (int64_t i = 0; i < r->plan.dates; i++)
        r->date[i].store->holes = true;
}

static mcr_status open_columns(reader *r)
{
    const mcr_csv_plan *plan = &r->plan;
    mcr_status status = MCR_OK;
    if (plan->numbers > 0)
        status = mcr_store_new(&r->dense, r->ctx, "x", MCR_DENSE);
    if (status == MCR_OK && plan->targets == 1)
        status = mcr_labels_open(&r->labels, r->ctx);
    if (status != MCR_OK)
        return status;
    if (r->dense != NULL)
        r->dense->role = MCR_NUMBER;
    r->text = mcr_alloc_zero(r->ctx, (size_t)plan->texts, sizeof *r->text);
    r->date = mcr_alloc_zero(r->ctx, (size_t)plan->dates, sizeof *r->date);
    r->carried = mcr_alloc_zero(r->ctx, (size_t)plan->carried, sizeof *r->carried);
    if (r->text == NULL || r->date == NULL || r->carried == NULL)
        return MCR_NO_MEMORY;
    status = open_texts(r);
    if (status == MCR_OK && r->missing > MCR_MISSING_DROP && r->missing != MCR_MISSING_AUTO)
        expect_holes(r);
    return status;
}

mcr_status mcr_csv_first_block(mcr_blocks *b)
{
    enum { ENOUGH = 8 };
    for (;;) {
        mcr_status status = mcr_blocks_next(b);
        if (status != MCR_OK || b->last)
            return status;
        int64_t lines = 0;
        const char *p = b->bytes, *end = p + b->count;
        for (; p < end && lines < ENOUGH; lines++)
            p = (const char *)memchr(p, '\n', (size_t)(end - p)) + 1;
        if (lines == ENOUGH)
            return MCR_OK;
        b->count = 0;
    }
}

static mcr_status read_all(reader *r, const mcr_read_options *options, char separator)
{
    mcr_status status = mcr_csv_first_block(&r->blocks);
    if (status != MCR_OK)
        return status;
    const char *p = r->blocks.bytes;
    size_t length = r->blocks.count;
    mcr_line_skip_mark(&p, &length);
    status = mcr_csv_plan_make(&r->plan, r->ctx, r->file, p, length, separator, options);
    if (status == MCR_OK)
        status = mcr_missing_find(&r->missing, r->ctx, options->missing);
    r->skip_bad = options->skip_bad;
    if (status == MCR_OK)
        status = open_columns(r);
    if (status != MCR_OK)
        return status;
    r->line = 1;
    if (r->plan.header) {
        int64_t lines;
        p = mcr_csv_record(p, p + length, r->plan.separator, &lines);
        r->line += lines;
    }
    status = read_records(r, p);
    while (status == MCR_OK && !r->blocks.last) {
        status = mcr_blocks_next(&r->blocks);
        if (status == MCR_OK && r->blocks.count > 0)
            status = read_records(r, r->blocks.bytes);
    }
    if (status == MCR_OK && r->rows == 0)
        status = mcr_fail_at(
            r->ctx, MCR_BAD_DATA, r->file, 0,
            r->skips.bad + r->skips.dropped > 0
                ? "no row of the file is left: all are faulty or have missing values"
                : "there are no objects in the file, only a header");
    return status;
}

/* The names in the header go with the numbers. */
static mcr_status keep_names(reader *r, mcr_store *s)
{
    int64_t to = 0;
    if (!r->plan.header)
        return MCR_OK;
    s->column = mcr_alloc_zero(r->ctx, (size_t)s->cols, sizeof *s->column);
    if (s->column == NULL)
        return MCR_NO_MEMORY;
    for (int64_t c = 0; c < r->plan.columns; c++)
        if (r->plan.column[c].role == MCR_NUMBER) {
            s->column[to++] = r->plan.column[c].name;
            r->plan.column[c].name = NULL;
        }
    return MCR_OK;
}

static mcr_status hand_over_targets(reader *r, mcr_builder *b)
{
    enum { NUMBER = 32 };
    const mcr_csv_plan *plan = &r->plan;
    if (plan->targets < 2) {
        mcr_labels *labels = r->labels;
        r->labels = NULL;
        return mcr_builder_labels(b, labels);
    }
    const char **name = mcr_alloc(r->ctx, (size_t)plan->targets, sizeof *name);
    char *number = mcr_alloc(r->ctx, (size_t)plan->targets, NUMBER);
    mcr_status status = name != NULL && number != NULL ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t c = 0; c < plan->columns && status == MCR_OK; c++) {
        int64_t t = plan->column[c].rank - 1;
        if (t < 0)
            continue;
        snprintf(number + t * NUMBER, NUMBER, "column%" PRId64, c + 1);
        name[t] = plan->header && plan->column[c].name[0] != '\0' ? plan->column[c].name
                                                                  : number + t * NUMBER;
    }
    if (status == MCR_OK)
        status = mcr_builder_target_table(b, r->target, plan->targets, name);
    mcr_free(r->ctx, name);
    mcr_free(r->ctx, number);
    return status;
}

/* Texts and dates in the order of the table, then what is carried. */
static mcr_status hand_over_fields(reader *r, mcr_builder *b)
{
    mcr_status status = MCR_OK;
    int64_t text = 0, date = 0;
    for (int64_t c = 0; c < r->plan.columns && status == MCR_OK; c++) {
        if (mcr_csv_is_text(r->plan.column[c].role))
            status = mcr_strings_finish(&r->text[text++], b);
        if (r->plan.column[c].role == MCR_DATE) {
            mcr_store *s = r->date[date].store;
            s->count = r->rows;
            r->date[date++].store = NULL;
            status = mcr_builder_adopt(b, s);
        }
    }
    for (int64_t i = 0; i < r->plan.carried && status == MCR_OK; i++) {
        mcr_store *s = r->carried[i].store;
        r->carried[i].store = NULL;
        status = mcr_builder_carry(b, s);
    }
    mcr_builder_skips(b, r->missing, &r->skips);
    return status;
}

static mcr_status hand_over(reader *r, mcr_builder *b)
{
    mcr_layout *layout = NULL;
    mcr_status status = mcr_csv_plan_layout(&layout, r->ctx, &r->plan);
    if (status != MCR_OK)
        return status;
    mcr_builder_layout(b, layout);
    if (r->dense != NULL) {
        mcr_store *s = r->dense;
        int64_t cells = r->rows * r->plan.numbers;
        double *exact = mcr_resize(r->ctx, s->dense, (size_t)cells, sizeof *exact);
        if (exact == NULL)
            return MCR_NO_MEMORY;
        s->dense = exact;
        s->count = r->rows;
        s->cols = r->plan.numbers;
        status = keep_names(r, s);
        if (status != MCR_OK)
            return status;
        r->dense = NULL;
        status = mcr_builder_adopt(b, s);
    }
    if (status == MCR_OK)
        status = hand_over_fields(r, b);
    if (status == MCR_OK)
        status = hand_over_targets(r, b);
    if (status == MCR_OK && r->weight != NULL)
        status = mcr_builder_weights(b, r->weight);
    return status;
}

mcr_status mcr_csv_read(mcr_builder *b, mcr *ctx, mcr_input *in, const mcr_read_options *options,
                        char separator)
{
    reader r = {.ctx = ctx, .file = mcr_input_name(in)};
    mcr_blocks_open(&r.blocks, ctx, in);
    mcr_status status = read_all(&r, options, separator);
    if (status == MCR_OK)
        status = hand_over(&r, b);
    mcr_blocks_close(&r.blocks);
    mcr_store_free(r.dense);
    for (int64_t i = 0; r.text != NULL && i < r.plan.texts; i++)
        mcr_strings_close(&r.text[i]);
    for (int64_t i = 0; r.date != NULL && i < r.plan.dates; i++) {
        mcr_store_free(r.date[i].store);
        mcr_free(ctx, r.date[i].day);
    }
    for (int64_t i = 0; r.carried != NULL && i < r.plan.carried; i++)
        mcr_strings_close(&r.carried[i]);
    mcr_free(ctx, r.text);
    mcr_free(ctx, r.date);
    mcr_free(ctx, r.carried);
    mcr_labels_close(r.labels);
    mcr_free(ctx, r.target);
    mcr_free(ctx, r.weight);
    mcr_free(ctx, r.scratch);
    mcr_csv_plan_free(&r.plan, ctx);
    return status;
}

static mcr_status read_csv(mcr_builder *b, mcr *ctx, mcr_input *in, const mcr_read_options *options)
{
    return mcr_csv_read(b, ctx, in, options, 0);
}

static mcr_status describe(mcr_column_info **out, int64_t *count, mcr *ctx, mcr_input *in,
                           const mcr_read_options *options)
{
    return mcr_csv_describe(out, count, ctx, in, options, 0);
}

static int sniff(bool named, const char *bytes, size_t count)
{
    double share;
    if (named)
        return 90;
    char separator = mcr_csv_separator(bytes, count, &share);
    return separator != 0 && separator != '\t' && share == 1 ? 55 : 0;
}

const mcr_format mcr_format_csv = {
    .name = "csv",
    .summary = "table with , or ; between the columns; a header is found",
    .extensions = (const char *const[]){"csv", NULL},
    .writer = &mcr_writer_csv,
    .sniff = sniff,
    .read = read_csv,
    .describe = describe,
};
