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

typedef struct reader {
    mcr *ctx;
    mcr_blocks blocks;
    const char *file;
    mcr_csv_plan plan;
    mcr_store *dense; /* NULL: no numeric columns */
    int64_t dense_room;
    mcr_strings *text;  /* one a text column */
    mcr_labels *labels; /* of one target */
    double *target;     /* several, row by row */
    int64_t target_room;
    double *weight;
    int64_t weight_room;
    int64_t rows;
    int64_t line;  /* of the record, from 1 */
    int64_t blank; /* line number of a blank line that nothing may follow, 0: none */
    char *scratch;
    int64_t scratch_room;
} reader;

/* ---- cells -------------------------------------------------------------------------------------*/

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

static mcr_status take_number(reader *r, int64_t column, const mcr_csv_field *f, double *value)
{
    if (mcr_csv_missing(f))
        return fail_missing(r, column, f);
    if (!mcr_csv_number(f, value))
        return fail_cell(r, column, f, "is not a number");
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
    mcr_status status = mcr_reserve(r->ctx, &r->scratch, &r->scratch_room, (int64_t)f->length, 1);
    if (status != MCR_OK)
        return status;
    *text = r->scratch;
    *length = mcr_csv_plain(r->scratch, f);
    return MCR_OK;
}

static mcr_status take_text(reader *r, int64_t column, const mcr_csv_field *f, mcr_strings *to)
{
    const char *text;
    size_t length;
    if (mcr_csv_missing(f) && !f->quoted)
        return fail_missing(r, column, f);
    mcr_status status = plain_text(r, f, &text, &length);
    return status == MCR_OK ? mcr_strings_add(to, text, length) : status;
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
        status = mcr_reserve(r->ctx, &r->target, &r->target_room, (r->rows + 1) * cols,
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
        status = mcr_reserve(r->ctx, &r->weight, &r->weight_room, r->rows + 1, sizeof *r->weight);
    if (status == MCR_OK)
        r->weight[r->rows] = value;
    return status;
}

/* ---- records -----------------------------------------------------------------------------------*/

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

/* One record from p to end. */
static mcr_status read_record(reader *r, const char *p, const char *end)
{
    const mcr_csv_plan *plan = &r->plan;
    const char *first = p;
    mcr_status status = MCR_OK;
    double *number = r->dense != NULL ? r->dense->dense + r->rows * plan->numbers : NULL;
    mcr_strings *text = r->text;
    bool last = false;
    int64_t c = 0;
    for (; c < plan->columns && !last && status == MCR_OK; c++) {
        mcr_csv_role role = plan->column[c].role;
        if (role == MCR_CSV_NUMBER && scan_number(&p, end, plan->separator, number, &last)) {
            number++;
            continue;
        }
        mcr_csv_field f;
        mcr_csv_state state = mcr_csv_next(&f, &p, end, plan->separator);
        last = state == MCR_CSV_LAST;
        if (state == MCR_CSV_BEHIND)
            return fail_cell(r, c, &f, "has text behind its closing quote");
        switch (role) {
        case MCR_CSV_NUMBER: status = take_number(r, c, &f, number++); break;
        case MCR_CSV_TEXT: status = take_text(r, c, &f, text++); break;
        case MCR_CSV_TARGET:
            status = plan->targets > 1 ? take_target(r, c, &f) : take_label(r, c, &f);
            break;
        case MCR_CSV_WEIGHT: status = take_weight(r, c, &f); break;
        }
    }
    /* A value too few or too many is also why a value does not fit its column. */
    if (c < plan->columns || !last || status == MCR_BAD_DATA) {
        mcr_status count = check_count(r, first, end);
        status = count != MCR_OK ? count : status;
    }
    r->rows++;
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
            if (r->dense != NULL)
                status = mcr_reserve(r->ctx, &r->dense->dense, &r->dense_room,
                                     (r->rows + 1) * r->plan.numbers, sizeof(double));
            if (status == MCR_OK)
                status = read_record(r, p, stop);
        }
        r->line += lines;
        p = stop;
    }
    r->blocks.count = (size_t)(p - r->blocks.bytes);
    return status;
}

/* ---- the file ----------------------------------------------------------------------------------*/

static mcr_status open_columns(reader *r)
{
    const mcr_csv_plan *plan = &r->plan;
    mcr_status status = MCR_OK;
    if (plan->numbers > 0)
        status = mcr_store_new(&r->dense, r->ctx, "x", MCR_DENSE);
    if (status == MCR_OK && plan->targets == 1)
        status = mcr_labels_open(&r->labels, r->ctx);
    if (status == MCR_OK) {
        r->text = mcr_alloc_zero(r->ctx, (size_t)plan->texts, sizeof *r->text);
        status = r->text != NULL ? MCR_OK : MCR_NO_MEMORY;
    }
    int64_t text = 0;
    for (int64_t c = 0; c < plan->columns && status == MCR_OK; c++) {
        if (plan->column[c].role != MCR_CSV_TEXT)
            continue;
        char number[32];
        snprintf(number, sizeof number, "column%" PRId64, c + 1);
        const char *name = plan->column[c].name;
        status = mcr_strings_open(&r->text[text++], r->ctx,
                                  name != NULL && name[0] != '\0' ? name : number);
    }
    return status;
}

/* The first block grows until it holds enough lines to recognise the columns. */
static mcr_status read_first_block(reader *r)
{
    enum { ENOUGH = 8 };
    for (;;) {
        mcr_status status = mcr_blocks_next(&r->blocks);
        if (status != MCR_OK || r->blocks.last)
            return status;
        int64_t lines = 0;
        const char *p = r->blocks.bytes, *end = p + r->blocks.count;
        for (; p < end && lines < ENOUGH; lines++)
            p = (const char *)memchr(p, '\n', (size_t)(end - p)) + 1;
        if (lines == ENOUGH)
            return MCR_OK;
        r->blocks.count = 0;
    }
}

static mcr_status read_all(reader *r, const mcr_read_options *options, char separator)
{
    mcr_status status = read_first_block(r);
    if (status != MCR_OK)
        return status;
    const char *p = r->blocks.bytes;
    size_t length = r->blocks.count;
    mcr_line_skip_mark(&p, &length);
    status = mcr_csv_plan_make(&r->plan, r->ctx, r->file, p, length, separator, options);
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
        status = mcr_fail_at(r->ctx, MCR_BAD_DATA, r->file, 0,
                             "there are no objects in the file, only a header");
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
        if (r->plan.column[c].role == MCR_CSV_NUMBER) {
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
    for (int64_t i = 0; i < r->plan.texts && status == MCR_OK; i++)
        status = mcr_strings_finish(&r->text[i], b);
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
    mcr_free(ctx, r.text);
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
};
