/* csv_describe.c: the columns of a table: roles, distinct values, missing values, examples.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "data/format/csv.h"

enum { MOST = 1000000, EXAMPLES = 3, SHOWN = 24 };

typedef struct describer {
    mcr *ctx;
    mcr_blocks blocks;
    mcr_csv_plan plan;
    mcr_words *seen; /* one per column */
    int64_t *missing;
    char *scratch; /* a text without doubled quotes */
    int64_t capacity;
} describer;

static mcr_status note_cell(describer *d, int64_t c, const mcr_csv_field *f)
{
    int32_t at;
    bool empty = f->quoted && f->length == 0; /* a quoted empty text is a value */
    if (mcr_csv_missing(f) && !(empty && mcr_csv_is_text(d->plan.column[c].role))) {
        d->missing[c]++;
        return MCR_OK;
    }
    if (d->seen[c].count >= MOST || memchr(f->text, '\0', f->length) != NULL)
        return MCR_OK;
    if (!f->doubled)
        return mcr_words_number(&d->seen[c], d->ctx, f->text, f->length, &at);
    mcr_status status = mcr_reserve(d->ctx, &d->scratch, &d->capacity, (int64_t)f->length, 1);
    if (status == MCR_OK)
        status = mcr_words_number(&d->seen[c], d->ctx, d->scratch, mcr_csv_plain(d->scratch, f),
                                  &at);
    return status;
}

/* The records of a block from p on. */
static mcr_status note_records(describer *d, const char *p)
{
    const char *end = d->blocks.bytes + d->blocks.count;
    mcr_status status = MCR_OK;
    while (p < end && status == MCR_OK) {
        int64_t lines;
        const char *stop = mcr_csv_record(p, end, d->plan.separator, &lines);
        if (stop == NULL)
            break;
        mcr_csv_state state = MCR_CSV_FIELD;
        const char *at = p;
        bool blank = strspn(p, " \t\r") == (size_t)(stop - 1 - p);
        for (int64_t c = 0;
             c < d->plan.columns && state == MCR_CSV_FIELD && status == MCR_OK && !blank; c++) {
            mcr_csv_field f;
            state = mcr_csv_next(&f, &at, stop, d->plan.separator);
            status = note_cell(d, c, &f);
        }
        p = stop;
    }
    d->blocks.count = (size_t)(p - d->blocks.bytes);
    return status;
}

static mcr_status read_all(describer *d, const char *file, char separator,
                           const mcr_read_options *options)
{
    mcr_status status = mcr_csv_first_block(&d->blocks);
    if (status != MCR_OK)
        return status;
    const char *p = d->blocks.bytes;
    size_t length = d->blocks.count;
    int64_t lines;
    mcr_line_skip_mark(&p, &length);
    status = mcr_csv_plan_make(&d->plan, d->ctx, file, p, length, separator, options);
    if (status != MCR_OK)
        return status;
    d->seen = mcr_alloc_zero(d->ctx, (size_t)d->plan.columns, sizeof *d->seen);
    d->missing = mcr_alloc_zero(d->ctx, (size_t)d->plan.columns, sizeof *d->missing);
    if (d->seen == NULL || d->missing == NULL)
        return MCR_NO_MEMORY;
    if (d->plan.header)
        p = mcr_csv_record(p, p + length, d->plan.separator, &lines);
    status = note_records(d, p);
    while (status == MCR_OK && !d->blocks.last) {
        status = mcr_blocks_next(&d->blocks);
        if (status == MCR_OK && d->blocks.count > 0)
            status = note_records(d, d->blocks.bytes);
    }
    return status;
}

static mcr_status fill(mcr_column_info *to, const describer *d, int64_t c)
{
    char number[32], text[EXAMPLES * (SHOWN + 8)] = "";
    const mcr_csv_column *column = &d->plan.column[c];
    size_t used = 0;
    snprintf(number, sizeof number, "column%" PRId64, c + 1);
    const char *name = column->name != NULL && column->name[0] != '\0' ? column->name : number;
    for (int64_t i = 0; i < d->seen[c].count && i < EXAMPLES; i++) {
        const char *word = d->seen[c].word[i];
        int length = SHOWN;
        while (length > 0 && ((unsigned char)word[strnlen(word, SHOWN)] & 0xc0) == 0x80 &&
               ((unsigned char)word[length] & 0xc0) == 0x80)
            length--;
        if (word[0] == '\0') { /* it would be invisible */
            word = "\"\"";
            length = SHOWN;
        }
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%.*s%s", i > 0 ? ", " : "",
                                 length, word, strlen(word) > SHOWN ? "..." : "");
    }
    *to = (mcr_column_info){.name = mcr_copy_text(d->ctx, name, strlen(name)),
                            .role = column->role,
                            .distinct = d->seen[c].count,
                            .missing = d->missing[c],
                            .examples = mcr_copy_text(d->ctx, text, strlen(text))};
    return to->name != NULL && to->examples != NULL ? MCR_OK : MCR_NO_MEMORY;
}

mcr_status mcr_csv_describe(mcr_column_info **out, int64_t *count, mcr *ctx, mcr_input *in,
                            const mcr_read_options *options, char separator)
{
    describer d = {.ctx = ctx};
    mcr_blocks_open(&d.blocks, ctx, in);
    mcr_status status = read_all(&d, mcr_input_name(in), separator, options);
    if (status == MCR_OK) {
        *out = mcr_alloc_zero(ctx, (size_t)d.plan.columns, sizeof **out);
        status = *out != NULL ? MCR_OK : MCR_NO_MEMORY;
    }
    for (int64_t c = 0; c < d.plan.columns && status == MCR_OK; c++) {
        *count = c + 1;
        status = fill(&(*out)[c], &d, c);
    }
    if (status != MCR_OK) {
        mcr_columns_free(ctx, *out, *count);
        *out = NULL;
        *count = 0;
    }
    for (int64_t c = 0; d.seen != NULL && c < d.plan.columns; c++)
        mcr_words_free(&d.seen[c], ctx);
    mcr_free_all(ctx, d.seen, d.missing, d.scratch);
    mcr_blocks_close(&d.blocks);
    mcr_csv_plan_free(&d.plan, ctx);
    return status;
}

void mcr_columns_free(mcr *ctx, mcr_column_info *columns, int64_t count)
{
    for (int64_t c = 0; columns != NULL && c < count; c++)
        mcr_free_all(ctx, columns[c].name, columns[c].examples);
    mcr_free(ctx, columns);
}
