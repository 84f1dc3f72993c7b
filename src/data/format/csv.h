/* csv.h (internal to the readers): tables of text: records, and what their columns mean.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_DATA_FORMAT_CSV_H
#define MCR_DATA_FORMAT_CSV_H

#include "data/blocks.h"
#include "data/data.h"
#include "data/format/collect.h"

/* ---- records (csv_record.c): RFC 4180, with blanks around fields allowed ----------------------*/

/* A field as it stands: without its quotes, but inner quotes still doubled. */
typedef struct mcr_csv_field {
    const char *text;
    size_t length;
    bool quoted, doubled;
} mcr_csv_field;

typedef enum mcr_csv_state {
    MCR_CSV_FIELD,  /* a field; another one follows */
    MCR_CSV_LAST,   /* the last field of its record */
    MCR_CSV_OPEN,   /* a quote is not closed before the end of the text */
    MCR_CSV_BEHIND, /* something stands behind a closing quote */
} mcr_csv_state;

/* The field at *p, which moves behind its separator or line end. The text ends with '\n' at end. */
mcr_csv_state mcr_csv_next(mcr_csv_field *field, const char **p, const char *end, char separator);
/* Behind the record at p; NULL: it does not end before `end`. *lines: how many lines it has. */
const char *mcr_csv_record(const char *p, const char *end, char separator, int64_t *lines);
/* The text with quotes single again; `to` has space for field->length bytes. Gives its length. */
size_t mcr_csv_plain(char *to, const mcr_csv_field *field);
/* Appends a text in quotes, those inside doubled, as both CSV and SQL want it. */
void mcr_csv_quote(mcr_text *to, const char *text, size_t length);
/* The whole field is a number, with any blanks around it. comma: also one with a decimal comma. */
bool mcr_csv_number(const mcr_csv_field *field, double *value);
bool mcr_csv_comma_number(const mcr_csv_field *field, double *value);
/* "1,5": a number for people who write a decimal comma. */
bool mcr_csv_decimal_comma(const mcr_csv_field *field);
/* Empty, ?, NA, N/A, NaN, null without quotes, or quoted and empty. */
bool mcr_csv_missing(const mcr_csv_field *field);

/* ---- the plan (csv_plan.c) --------------------------------------------------------------------*/

/* What the cells of a column in the first block show; missing ones are not counted. */
typedef struct mcr_csv_sample {
    mcr_words seen;        /* the different values */
    int64_t cells, bytes;  /* bytes: their lengths together */
    int64_t different;     /* of those that are not numbers */
    int64_t dates, sets;   /* ISO dates; with ';' inside */
    int64_t spaced, coded; /* with blanks; of letters, digits and -_.:/# with a digit */
    int64_t whole;         /* integers */
} mcr_csv_sample;

typedef struct mcr_csv_column {
    mcr_role role;
    mcr_role given;                 /* by the caller, or by the table that this one is like */
    char *name;                     /* NULL: no header */
    int64_t numbers, words, commas; /* cells seen: numbers, others, those like "1,5" */
    int64_t unclear;                /* of the latter those like "1,500" */
    int64_t thousands;              /* others like "1,234.5" or "1,234,567" */
    bool usual;   /* the name is that of a target, and no cell below is the same word */
    bool carried; /* its text goes along with the objects */
    int64_t rank; /* which target it is, from 1; 0: none */
    mcr_csv_sample sample;
} mcr_csv_column;

typedef struct mcr_csv_plan {
    char separator;
    bool header;
    bool comma; /* numbers may have a decimal comma */
    int64_t columns;
    mcr_csv_column *column;
    int64_t targets; /* how many; several must be numbers */
    int64_t weight;  /* its column, -1: none */
    int64_t numbers, texts,
        dates; /* how many columns of these roles; texts: all kinds of strings */
    int64_t carried;
    bool joined; /* columns of another table are among them: the names say which */
} mcr_csv_plan;

/* A field of strings. */
static inline bool mcr_csv_is_text(mcr_role role)
{
    return role == MCR_CATEGORY || role == MCR_WORDS || role == MCR_SET;
}

/* Decides everything by the lines of the first block; file is for messages. separator: 0: found;
 * MCR_CSV_MADE: rows that another reader makes, with commas, below a header. */
enum { MCR_CSV_MADE = 1 };
mcr_status mcr_csv_plan_make(mcr_csv_plan *plan, mcr *ctx, const char *file, const char *bytes,
                             size_t count, char separator, const mcr_read_options *options);
/* A table whose first line must be a header: separator, decimal comma, names and samples of the
 * columns, but no roles. */
mcr_status mcr_csv_plan_scan(mcr_csv_plan *plan, mcr *ctx, const char *file, const char *bytes,
                             size_t count, char separator);
void mcr_csv_plan_free(mcr_csv_plan *plan, mcr *ctx);
/* What is kept of it; before the names of columns are handed over. */
mcr_status mcr_csv_plan_layout(mcr_layout **out, mcr *ctx, const mcr_csv_plan *plan);
/* "column \"age\"" or "column 3", for messages. */
enum { MCR_CSV_COLUMN_TEXT = 96 };
const char *mcr_csv_column_text(const mcr_csv_plan *plan, int64_t column,
                                char text[MCR_CSV_COLUMN_TEXT]);

/* ---- roles (csv_roles.c) ----------------------------------------------------------------------*/

/* Notes a cell that is not missing; number: it is one. */
mcr_status mcr_csv_sample_add(mcr_csv_column *column, mcr *ctx, const mcr_csv_field *cell,
                              bool number);
/* At least half of the cells are numbers, and the others are not many different words. */
bool mcr_csv_is_numeric(const mcr_csv_column *column);
/* What the values and the name say. */
mcr_role mcr_csv_guess(const mcr_csv_column *column, char separator);

/* The likely separator of a text, with the share of its first records that have as many fields as
 * the first one; 0 if no separator occurs in the first record. */
char mcr_csv_separator(const char *bytes, size_t count, double *share);

/* ---- reading (csv.c), for csv and tsv ---------------------------------------------------------*/

/* The first block grows until it holds enough lines to recognise the columns. */
mcr_status mcr_csv_first_block(mcr_blocks *blocks);

/* The columns of a table, in one pass of its own (csv_describe.c). */
mcr_status mcr_csv_describe(mcr_column_info **out, int64_t *count, mcr *ctx, mcr_input *in,
                            const mcr_read_options *options, char separator);
mcr_status mcr_csv_read(mcr_builder *builder, mcr *ctx, mcr_input *in,
                        const mcr_read_options *options, char separator);

#endif
