/* csv.h (internal to the readers): tables of text: records, and what their columns mean.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_DATA_FORMAT_CSV_H
#define MCR_DATA_FORMAT_CSV_H

#include "data/blocks.h"
#include "data/data.h"

/* ---- records (csv_record.c): RFC 4180, with blanks around fields allowed ------------------------*/

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
/* The text with quotes single again; `to` has room for field->length bytes. Gives its length. */
size_t mcr_csv_plain(char *to, const mcr_csv_field *field);
/* The whole field is a number, with any blanks around it. */
bool mcr_csv_number(const mcr_csv_field *field, double *value);
/* Empty, ?, NA, N/A, NaN, null without quotes, or quoted and empty. */
bool mcr_csv_missing(const mcr_csv_field *field);

/* ---- the plan (csv_plan.c) ---------------------------------------------------------------------*/

typedef enum mcr_csv_role {
    MCR_CSV_NUMBER, /* a column of the dense field */
    MCR_CSV_TEXT,   /* a string field */
    MCR_CSV_TARGET,
    MCR_CSV_WEIGHT
} mcr_csv_role;

typedef struct mcr_csv_column {
    mcr_csv_role role;
    char *name;                     /* NULL: no header */
    int64_t numbers, words, commas; /* cells seen: numbers, others, others like "1,5" */
    bool usual;   /* the name is that of a target, and no cell below is the same word */
    int64_t rank; /* which target it is, from 1; 0: none */
} mcr_csv_column;

typedef struct mcr_csv_plan {
    char separator;
    bool header;
    int64_t columns;
    mcr_csv_column *column;
    int64_t targets;        /* how many; several must be numbers */
    int64_t weight;         /* its column, -1: none */
    int64_t numbers, texts; /* how many columns of these roles */
} mcr_csv_plan;

/* Decides everything by the lines of the first block; file is for messages. separator: 0: found. */
mcr_status mcr_csv_plan_make(mcr_csv_plan *plan, mcr *ctx, const char *file, const char *bytes,
                             size_t count, char separator, const mcr_read_options *options);
void mcr_csv_plan_free(mcr_csv_plan *plan, mcr *ctx);
/* What is kept of it; before the names of columns are handed over. */
mcr_status mcr_csv_plan_layout(mcr_layout **out, mcr *ctx, const mcr_csv_plan *plan);
/* "column \"age\"" or "column 3", for messages. */
enum { MCR_CSV_COLUMN_TEXT = 96 };
const char *mcr_csv_column_text(const mcr_csv_plan *plan, int64_t column,
                                char text[MCR_CSV_COLUMN_TEXT]);

/* The likely separator of a text, with the share of its first records that have as many fields as
 * the first one; 0 if no separator occurs in the first record. */
char mcr_csv_separator(const char *bytes, size_t count, double *share);

/* ---- reading (csv.c), for csv and tsv ----------------------------------------------------------*/

mcr_status mcr_csv_read(mcr_builder *builder, mcr *ctx, mcr_input *in,
                        const mcr_read_options *options, char separator);

#endif
