/* join.h (internal to data): the columns of a table, added to other objects by their names.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_DATA_JOIN_H
#define MCR_DATA_JOIN_H

#include "data/format/csv.h"

enum { MCR_JOIN_CHUNK = 256 << 10, MCR_JOIN_NAME = 64 };

struct mcr_join {
    mcr *ctx;
    char *path, *wanted; /* wanted: the key as the caller names it; NULL: it is found */
    mcr_text bytes;      /* the table as it was read */
    mcr_csv_plan plan;
    size_t begin; /* of its first row */
    /* By the key: */
    int64_t key;      /* its column, -1: none was chosen yet */
    mcr_text without; /* columns that are left out, each with a line end, after one */
    mcr_words keys;   /* the number of each row */
    mcr_text cells;   /* ",1.5,red" of each row, one after the other */
    int64_t *start;   /* of these, one more than rows */
    int64_t capacity; /* of start */
    mcr_text header;  /* ",mass,colour" */
    int64_t columns;  /* that are added */
    /* Of the objects that are read: */
    mcr_text name; /* of those that are no rows, each with a NUL behind it */
    int64_t names;
    int64_t objects, unmatched;
    char first[MCR_JOIN_NAME]; /* of those without a row */
};

/* Reads the objects of `in`, or of path where the format has no `in`, with options->join. A table
 * is extended row by row; of other objects the joined columns are fields of their own. */
mcr_status mcr_join_read(mcr_builder *builder, mcr *ctx, const mcr_format *format, mcr_input *in,
                         const char *path, const mcr_read_options *options);
/* The columns of a table, those of options->join among them. */
mcr_status mcr_join_describe(mcr_column_info **out, int64_t *count, mcr *ctx,
                             const mcr_format *format, mcr_input *in,
                             const mcr_read_options *options);

/* A cell as a file with commas between the columns and points in the numbers has it; comma: numbers
 * may have a decimal comma. */
void mcr_join_cell(mcr_text *text, const mcr_csv_field *field, bool comma);
/* The text of a cell, in scratch if it has doubled quotes; NULL: no memory. */
const char *mcr_join_plain(const mcr_csv_field *field, mcr_text *scratch, size_t *length);
/* The column of that name, -1: none. */
int64_t mcr_join_column(const mcr_csv_plan *plan, const char *name);
bool mcr_join_blank(const char *from, const char *to); /* a blank line */

/* Chooses the key, and brings the rows into its order: for a table that is read from `file`, or for
 * objects that have names. *key: its column in the joined table. */
mcr_status mcr_join_rows(mcr_join *join, const mcr_csv_plan *other, const char *file,
                         const mcr_read_options *options, int64_t *key);
mcr_status mcr_join_named(mcr_join *join, const mcr_read_options *options, int64_t *key);
/* Appends the cells of the row with this key, empty ones if there is none, and a line end. */
void mcr_join_append(mcr_join *join, mcr_text *text, const char *key, size_t length, bool counts);

/* For readers of objects with names: the name of the column that has them, and that of the next
 * object. */
const char *mcr_join_key(const mcr_join *join);
mcr_status mcr_join_name(mcr_join *join, const char *name, size_t length);

#endif
