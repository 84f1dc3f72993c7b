/* csv.c: tables of text: the numeric columns together form the field "x", each text column is a
 * string field with the column's name ("column3" without a header), and one column, or several
 * numeric ones, may be targets.
 *
 * csv_plan.c determines the columns from the first block; then one pass over the file fills them.
 * Each block is cut into chunks of whole records, which are read in parallel (csv_rows.c); then
 * their texts are appended, column by column. The cuts do not depend on the number of threads, and
 * of several errors the first one in the file is reported.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "data/format/csv.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/threads.h"
#include "data/format/collect.h"
#include "data/format/csv_rows.h"
#include "data/scan.h"
#include "data/write.h"

enum { CHUNKS = 16, CHUNK_MIN = 64 << 10 };

/* A date column being built. */
typedef struct date_column {
    mcr_store *store;
    int64_t capacity;
} date_column;

typedef struct reader {
    mcr *ctx;
    mcr_blocks blocks;
    mcr_csv_plan plan;
    mcr_csv_rows to;
    mcr_skips skips;
    date_column *date;
    mcr_strings *carried;
    mcr_store *dense; /* NULL: no numeric columns */
    int64_t dense_capacity;
    mcr_strings *text;  /* one per text column */
    mcr_labels *labels; /* of one target */
    bool label_commas;  /* a comma in a label belongs to a number */
    bool label_names;   /* its numbers are names of classes */
    int64_t target_capacity, weight_capacity, cell_capacity;
    double size, bytes; /* size of the file, 0: not known; bytes read */
    int64_t rows;
    int64_t line, record; /* number of the next record, from 1 */
    int64_t blank;        /* line of a blank line that nothing may follow, 0: none */
    int64_t open;         /* line of a record that does not end in the file, 0: none */
    mcr_csv_chunk chunk[CHUNKS];
    int64_t chunks;
} reader;

/* ---- pieces of a block ------------------------------------------------------------------------*/

static void add_chunk(reader *r, const char *from, const char *to)
{
    r->chunk[r->chunks++] = (mcr_csv_chunk){.from = from, .to = to};
}

static size_t chunk_size(size_t bytes)
{
    return bytes / CHUNKS > CHUNK_MIN ? bytes / CHUNKS : CHUNK_MIN;
}

/* Cuts at line ends. */
static void split_lines(reader *r, const char *p, const char *end)
{
    size_t size = chunk_size((size_t)(end - p));
    r->chunks = 0;
    while (p < end) {
        const char *to = end;
        if (r->chunks < CHUNKS - 1 && (size_t)(end - p) > size)
            to = (const char *)memchr(p + size - 1, '\n', (size_t)(end - p) - size + 1) + 1;
        add_chunk(r, p, to);
        p = to;
    }
}

/* Cuts at the ends of records, which may contain line ends. An incomplete record at the end is left
 * for the next block. */
static void split_records(reader *r, const char *p, const char *end)
{
    size_t size = chunk_size((size_t)(end - p));
    r->chunks = 0;
    const char *from = p;
    int64_t line = r->line, first = line, records = 0, lines;
    while (p < end) {
        const char *stop = mcr_csv_record(p, end, r->plan.separator, &lines);
        if (stop != NULL) {
            line += lines;
            records++;
        }
        bool full = (size_t)((stop != NULL ? stop : p) - from) >= size && r->chunks < CHUNKS - 1;
        p = stop != NULL ? stop : p;
        if (p > from && (full || stop == NULL || p == end)) {
            add_chunk(r, from, p);
            r->chunk[r->chunks - 1].line = first;
            r->chunk[r->chunks - 1].record = r->record;
            r->chunk[r->chunks - 1].records = records;
            r->chunk[r->chunks - 1].quotes = true;
            r->record += records;
            records = 0;
            from = p;
            first = line;
        }
        if (stop == NULL)
            break;
    }
    r->line = line;
    r->open = p < end && r->blocks.last ? line : 0;
    r->blocks.count = (size_t)(p - r->blocks.bytes);
}

/* Counts the lines of a chunk, and looks for quotes. */
static mcr_status count_item(void *arg, int64_t item, int worker)
{
    mcr_csv_chunk *c = &((reader *)arg)->chunk[item];
    (void)worker;
    c->records = mcr_count_bytes(c->from, c->to, '\n');
    c->quotes = memchr(c->from, '"', (size_t)(c->to - c->from)) != NULL;
    return MCR_OK;
}

/* Cuts the block from p on into chunks with known line numbers. */
static mcr_status split(reader *r, const char *p)
{
    const char *end = r->blocks.bytes + r->blocks.count;
    bool quotes = false;
    r->open = 0;
    split_lines(r, p, end);
    mcr_status status = mcr_parallel(r->ctx, r->chunks, count_item, r);
    for (int64_t i = 0; i < r->chunks; i++)
        quotes |= r->chunk[i].quotes;
    if (quotes) {
        split_records(r, p, end);
    } else {
        for (int64_t i = 0; i < r->chunks; i++) {
            r->chunk[i].line = r->line;
            r->chunk[i].record = r->record;
            r->line += r->chunk[i].records;
            r->record += r->chunk[i].records;
        }
    }
    for (int64_t i = 0; i < r->chunks && status == MCR_OK; i++)
        if (r->chunk[i].to - r->chunk[i].from > INT32_MAX)
            status = mcr_fail_at(r->ctx, MCR_BAD_DATA, r->to.file, r->chunk[i].line,
                                 "a row is longer than 2 GiB");
    return status;
}

/* Reserves space for this many texts, assuming the average length so far. */
static mcr_status reserve_texts(mcr_strings *to, int64_t rows)
{
    mcr_store *s = to->store;
    double bytes = s->count > 0 ? (double)s->start[s->count] / (double)s->count * (double)rows : 0;
    mcr_status status = mcr_reserve(to->ctx, &s->start, &to->start_capacity, rows + 1,
                                    sizeof *s->start);
    return status == MCR_OK ? mcr_reserve(to->ctx, &s->bytes, &to->byte_capacity, (int64_t)bytes, 1)
                            : status;
}

/* The expected number of rows of a plain file, extrapolated from what was read, if the memory
 * allows it; else `rows`. Arrays that need not grow are not copied. */
static int64_t expect_rows(reader *r, int64_t rows)
{
    const mcr_csv_plan *plan = &r->plan;
    r->bytes += (double)r->blocks.count;
    double ratio = 1.02 * r->size / r->bytes, all = ceil((double)rows * ratio);
    double row = sizeof(double) * (double)(plan->numbers + plan->dates * MCR_DATE_PARTS +
                                           plan->targets + 2 * r->to.cells);
    if (!(ratio > 1 && all * row < 1e15) || !mcr_reading_allows(r->ctx, (size_t)(2 * all * row)))
        return rows;
    return (int64_t)all;
}

/* Reserves space for all rows of the block. */
static mcr_status reserve_rows(reader *r)
{
    const mcr_csv_plan *plan = &r->plan;
    int64_t end = r->rows;
    for (int64_t i = 0; i < r->chunks; i++) {
        r->chunk[i].first = end;
        end += r->chunk[i].records;
    }
    mcr_status status = MCR_OK;
    const int64_t rows = expect_rows(r, end);
    for (int64_t i = 0; i < plan->texts + plan->carried && status == MCR_OK; i++)
        status = reserve_texts(i < plan->texts ? &r->text[i] : &r->carried[i - plan->texts], rows);
    if (status == MCR_OK && r->dense != NULL)
        status = mcr_reserve(r->ctx, &r->dense->dense, &r->dense_capacity, rows * plan->numbers,
                             sizeof(double));
    for (int64_t d = 0; d < plan->dates && status == MCR_OK; d++) {
        mcr_store *s = r->date[d].store;
        status = mcr_reserve(r->ctx, &s->dense, &r->date[d].capacity, rows * MCR_DATE_PARTS,
                             sizeof(double));
        r->to.date[d] = s->dense;
    }
    if (status == MCR_OK && plan->targets > 1)
        status = mcr_reserve(r->ctx, &r->to.target, &r->target_capacity, rows * plan->targets,
                             sizeof(double));
    if (status == MCR_OK && plan->weight >= 0)
        status = mcr_reserve(r->ctx, &r->to.weight, &r->weight_capacity, rows, sizeof(double));
    if (status == MCR_OK)
        status = mcr_reserve(r->ctx, &r->to.cell, &r->cell_capacity, (end - r->rows) * r->to.cells,
                             sizeof(mcr_csv_cell));
    r->to.number = r->dense != NULL ? r->dense->dense : NULL;
    r->to.first = r->rows;
    return status;
}

/* The next block is read while the last chunk of this one is parsed: an error in a row takes
 * precedence over one in what follows. */
static mcr_status read_item(void *arg, int64_t item, int worker)
{
    reader *r = arg;
    if (item == r->chunks)
        return mcr_blocks_read_ahead(&r->blocks);
    return mcr_csv_rows_read(&r->to, &r->chunk[item], worker);
}

/* Blank lines are only allowed at the end. An error after such a line takes lower precedence. */
static mcr_status check_blank(reader *r)
{
    for (int64_t i = 0; i < r->chunks; i++) {
        const mcr_csv_chunk *c = &r->chunk[i];
        int64_t line = r->blank > 0 && c->content ? r->blank : c->followed ? c->blank : 0;
        if (line > 0)
            return mcr_fail_at(r->ctx, MCR_BAD_DATA, r->to.file, line,
                               "the line is blank; blank lines are allowed only at the end");
        if (r->blank == 0)
            r->blank = c->blank;
        if (!c->done)
            break;
    }
    return MCR_OK;
}

/* ---- texts ------------------------------------------------------------------------------------*/

static inline const mcr_csv_cell *cell_of(const reader *r, const mcr_csv_chunk *c, int64_t row,
                                          int64_t k)
{
    return r->to.cell + (c->first - r->to.first + row) * r->to.cells + k;
}

/* Copies the text without its doubled quotes and returns the end. Up to SHORT bytes may be
 * written. */
enum { SHORT = 16 };

static inline char *copy_cell(char *to, const mcr_csv_chunk *c, const mcr_csv_cell *cell)
{
    const char *from = c->from + cell->at;
    if (cell->doubled)
        return to + mcr_csv_plain(to, &(mcr_csv_field){
                                          .text = from, .length = cell->length, .doubled = true});
    if (cell->length <= SHORT && c->to - from >= SHORT)
        memcpy(to, from, SHORT); /* a fixed number of bytes needs no call of memcpy */
    else
        memcpy(to, from, cell->length);
    return to + cell->length;
}

/* Appends column k of the cells to its strings. */
static mcr_status append_texts(const reader *r, int64_t k, mcr_strings *to)
{
    mcr_store *s = to->store;
    int64_t bytes = s->start[s->count] + SHORT;
    for (int64_t i = 0; i < r->chunks; i++)
        for (int64_t row = 0; row < r->chunk[i].rows; row++)
            bytes += cell_of(r, &r->chunk[i], row, k)->length;
    mcr_status status = mcr_reserve(r->ctx, &s->bytes, &to->byte_capacity, bytes, 1);
    if (status != MCR_OK)
        return status;
    char *end = s->bytes + s->start[s->count];
    for (int64_t i = 0; i < r->chunks; i++)
        for (int64_t row = 0; row < r->chunk[i].rows; row++) {
            const mcr_csv_cell *cell = cell_of(r, &r->chunk[i], row, k);
            if (cell->at == MCR_CSV_HOLE)
                s->holes = true;
            else
                end = copy_cell(end, &r->chunk[i], cell);
            s->start[++s->count] = end - s->bytes;
        }
    return MCR_OK;
}

static int64_t target_column(const mcr_csv_plan *plan)
{
    int64_t c = 0;
    while (plan->column[c].role != MCR_TARGET)
        c++;
    return c;
}

/* Labels are numbers if all of them are: then "nan" is not allowed. */
static mcr_status add_label(reader *r, const mcr_csv_chunk *c, const mcr_csv_cell *cell)
{
    mcr_csv_field f = {
        .text = c->from + cell->at, .length = cell->length, .doubled = cell->doubled};
    int64_t finite = mcr_labels_not_finite(r->labels);
    mcr_status status;
    double value;
    bool comma = r->label_commas && memchr(f.text, ',', f.length) != NULL &&
                 mcr_csv_comma_number(&f, &value);
    if (f.doubled || comma) {
        char *plain = mcr_alloc(r->ctx, f.length, 1);
        if (plain == NULL)
            return MCR_NO_MEMORY;
        size_t length = mcr_csv_plain(plain, &f);
        if (comma)
            *(char *)memchr(plain, ',', length) = '.';
        status = mcr_labels_add(r->labels, plain, length);
        mcr_free(r->ctx, plain);
    } else {
        status = mcr_labels_add(r->labels, f.text, f.length);
    }
    bool quoted = f.text > c->from && f.text[-1] == '"';
    if (status == MCR_OK && finite < 0 && mcr_labels_not_finite(r->labels) >= 0 && !quoted)
        status = mcr_csv_fail_cell(&r->to, c->line + mcr_count_bytes(c->from, f.text, '\n'),
                                   target_column(&r->plan), &f, "is not finite");
    return status;
}

static mcr_status append_labels(reader *r)
{
    mcr_status status = MCR_OK;
    for (int64_t i = 0; i < r->chunks && status == MCR_OK; i++)
        for (int64_t row = 0; row < r->chunk[i].rows && status == MCR_OK; row++)
            status = add_label(r, &r->chunk[i], cell_of(r, &r->chunk[i], row, r->to.cells - 1));
    return status;
}

/* Appends the cells, column by column. */
static mcr_status append_item(void *arg, int64_t item, int worker)
{
    reader *r = arg;
    (void)worker;
    if (item < r->plan.texts)
        return append_texts(r, item, &r->text[item]);
    if (item < r->plan.texts + r->plan.carried)
        return append_texts(r, item, &r->carried[item - r->plan.texts]);
    return append_labels(r);
}

/* ---- a block ----------------------------------------------------------------------------------*/

static void move_rows(double *values, int64_t cols, int64_t to, const mcr_csv_chunk *c)
{
    if (values != NULL)
        memmove(values + to * cols, values + c->first * cols,
                (size_t)(c->rows * cols) * sizeof *values);
}

/* Closes the gaps of skipped rows, and counts these. */
static void join_chunks(reader *r)
{
    for (int64_t i = 0; i < r->chunks; i++) {
        const mcr_csv_chunk *c = &r->chunk[i];
        if (c->first > r->rows) {
            move_rows(r->to.number, r->plan.numbers, r->rows, c);
            move_rows(r->to.target, r->plan.targets, r->rows, c);
            move_rows(r->to.weight, 1, r->rows, c);
            for (int64_t d = 0; d < r->plan.dates; d++)
                move_rows(r->to.date[d], MCR_DATE_PARTS, r->rows, c);
        }
        r->rows += c->rows;
        if (c->number_holes)
            r->dense->holes = true;
        if (r->skips.bad == 0) {
            r->skips.first = c->skips.first;
            memcpy(r->skips.why, c->skips.why, sizeof r->skips.why);
        }
        r->skips.bad += c->skips.bad;
        r->skips.dropped += c->skips.dropped;
    }
}

/* A column of dates has holes if one of the rows from `first` on has one. */
static void find_date_holes(reader *r, int64_t first)
{
    bool any = false;
    for (int64_t i = 0; i < r->chunks; i++)
        any |= r->chunk[i].date_holes;
    for (int64_t d = 0; d < r->plan.dates && any; d++)
        for (int64_t row = first; row < r->rows && !r->date[d].store->holes; row++)
            r->date[d].store->holes = isnan(r->to.date[d][row * MCR_DATE_PARTS]);
}

/* Reads all complete records of a block from p on. */
static mcr_status read_records(reader *r, const char *p)
{
    const int64_t first = r->rows;
    mcr_status status = split(r, p);
    if (status == MCR_OK)
        status = reserve_rows(r);
    if (status != MCR_OK)
        return status;
    status = mcr_parallel(r->ctx, r->chunks + 1, read_item, r);
    mcr_status blank = check_blank(r);
    if (blank != MCR_OK || status != MCR_OK)
        return blank != MCR_OK ? blank : status;
    status = mcr_parallel(r->ctx, r->to.cells, append_item, r);
    if (status != MCR_OK)
        return status;
    join_chunks(r);
    find_date_holes(r, first);
    if (r->open > 0)
        return mcr_fail_at(r->ctx, MCR_BAD_DATA, r->to.file, r->open, "a quote is not closed");
    return MCR_OK;
}

/* ---- the file ---------------------------------------------------------------------------------*/

static mcr_status open_dates(reader *r, int64_t number, const char *name)
{
    mcr_store **store = &r->date[number].store;
    mcr_status status = mcr_store_new(store, r->ctx, name, MCR_DENSE);
    if (status != MCR_OK)
        return status;
    (*store)->role = MCR_DATE;
    return mcr_date_columns(*store);
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
        } else if (column->role == MCR_DATE) {
            status = open_dates(r, date++, name);
        }
        if (column->carried && status == MCR_OK) {
            status = mcr_strings_open(&r->carried[carried], r->ctx, name);
            if (status == MCR_OK)
                r->carried[carried++].store->role = column->role;
        }
    }
    return status;
}

/* A rule given by the caller also applies to later data, even if no value is missing here. */
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
    if (status == MCR_OK && plan->targets == 1) {
        status = mcr_labels_open(&r->labels, r->ctx);
        const mcr_csv_column *target = &plan->column[target_column(plan)];
        r->label_commas = plan->comma && mcr_csv_is_numeric(target);
        r->label_names = target->given == MCR_CATEGORY;
    }
    if (status != MCR_OK)
        return status;
    if (r->dense != NULL)
        r->dense->role = MCR_NUMBER;
    r->text = mcr_alloc_zero(r->ctx, (size_t)plan->texts, sizeof *r->text);
    r->date = mcr_alloc_zero(r->ctx, (size_t)plan->dates, sizeof *r->date);
    r->carried = mcr_alloc_zero(r->ctx, (size_t)plan->carried, sizeof *r->carried);
    if (r->text == NULL || r->date == NULL || r->carried == NULL)
        return MCR_NO_MEMORY;
    r->to.plan = plan;
    r->to.cells = plan->texts + plan->carried + (plan->targets == 1);
    r->to.date = mcr_alloc_zero(r->ctx, (size_t)plan->dates, sizeof *r->to.date);
    if (plan->dates > 0)
        r->to.day = mcr_alloc_zero(r->ctx, (uint64_t)mcr_workers(r->ctx) * MCR_CSV_DAYS,
                                   sizeof *r->to.day);
    if (r->to.date == NULL || (plan->dates > 0 && r->to.day == NULL))
        return MCR_NO_MEMORY;
    status = open_texts(r);
    if (status == MCR_OK && r->to.missing > MCR_MISSING_DROP && r->to.missing != MCR_MISSING_AUTO)
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

/* Looks through a block that begins with the current line. */
static void find_other_bytes(reader *r)
{
    const char *from = r->blocks.bytes;
    const char *at = r->skips.not_utf8 ? NULL : mcr_utf8_fault(from, r->blocks.count);
    if (at)
        r->skips.not_utf8 = r->line + mcr_count_bytes(from, at, '\n');
}

static mcr_status read_all(reader *r, const mcr_read_options *options, char separator)
{
    mcr_status status = mcr_csv_first_block(&r->blocks);
    if (status != MCR_OK)
        return status;
    const char *p = r->blocks.bytes;
    size_t length = r->blocks.count;
    mcr_line_skip_mark(&p, &length);
    status = mcr_csv_plan_make(&r->plan, r->ctx, r->to.file, p, length, separator, options);
    if (status == MCR_OK)
        status = mcr_missing_find(&r->to.missing, r->ctx, options->missing);
    r->to.skip_bad = options->skip_bad;
    if (status == MCR_OK)
        status = open_columns(r);
    if (status != MCR_OK)
        return status;
    r->line = r->record = 1;
    find_other_bytes(r);
    if (r->plan.header) {
        int64_t lines;
        p = mcr_csv_record(p, p + length, r->plan.separator, &lines);
        r->line += lines;
    }
    status = read_records(r, p);
    while (status == MCR_OK && !r->blocks.last) {
        status = mcr_blocks_next(&r->blocks);
        if (r->blocks.count == 0) /* also after a failure */
            continue;
        find_other_bytes(r);
        status = read_records(r, r->blocks.bytes);
    }
    if (status == MCR_OK && r->rows == 0)
        status = mcr_fail_at(r->ctx, MCR_BAD_DATA, r->to.file, 0,
                             r->skips.bad + r->skips.dropped > 0
                                 ? "no rows are left: all are faulty or have missing values"
                                 : "there are no objects in the file, only a header");
    return status;
}

/* The numeric columns keep their names from the header. */
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
        if (r->label_names)
            mcr_labels_name_classes(labels);
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
        status = mcr_builder_target_table(b, r->to.target, plan->targets, name);
    mcr_free_all(r->ctx, name, number);
    return status;
}

/* Texts and dates in the order of the table, then the kept columns. */
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
    mcr_builder_skips(b, r->to.missing, &r->skips);
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
        if (mcr_resize_at(r->ctx, &s->dense, (size_t)cells, sizeof *s->dense))
            return MCR_NO_MEMORY;
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
    if (status == MCR_OK && r->to.weight != NULL)
        status = mcr_builder_weights(b, r->to.weight);
    return status;
}

mcr_status mcr_csv_read(mcr_builder *b, mcr *ctx, mcr_input *in, const mcr_read_options *options,
                        char separator)
{
    reader r = {.ctx = ctx, .to = {.ctx = ctx, .file = mcr_input_name(in)}};
    mcr_blocks_open(&r.blocks, ctx, in);
    r.size = mcr_input_size(in);
    mcr_status status = read_all(&r, options, separator);
    if (status == MCR_OK)
        status = hand_over(&r, b);
    mcr_blocks_close(&r.blocks);
    mcr_store_free(r.dense);
    for (int64_t i = 0; r.text != NULL && i < r.plan.texts; i++)
        mcr_strings_close(&r.text[i]);
    for (int64_t i = 0; r.date != NULL && i < r.plan.dates; i++)
        mcr_store_free(r.date[i].store);
    for (int64_t i = 0; r.carried != NULL && i < r.plan.carried; i++)
        mcr_strings_close(&r.carried[i]);
    mcr_free_all(ctx, r.text, r.date, r.carried);
    mcr_labels_close(r.labels);
    mcr_free_all(ctx, r.to.target, r.to.weight, r.to.cell, r.to.date, r.to.day);
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
    .summary = "table with , or ; between the columns; a header is detected",
    .extensions = (const char *const[]){"csv", NULL},
    .writer = &mcr_writer_csv,
    .sniff = sniff,
    .read = read_csv,
    .describe = describe,
};
