/* join.h (internal to data): joining the columns of a table to other objects by key.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_DATA_JOIN_H
#define MCR_DATA_JOIN_H

#include "data/format/csv.h"

enum { MCR_JOIN_CHUNK = 256 << 10, MCR_JOIN_NAME = 64 };

struct mcr_join {
    mcr *ctx;
    char *path, *wanted; /* wanted: the key as named by the caller; NULL: detected */
    mcr_text bytes;      /* the bytes of the table */
    mcr_csv_plan plan;
    size_t begin; /* offset of its first row */
    /* Depends on the key: */
    int64_t key;      /* its column, -1: none was chosen yet */
    mcr_text without; /* names of dropped columns, each between line ends */
    mcr_words keys;   /* the number of each row */
    mcr_text cells;   /* ",1.5,red" for each row, concatenated */
    int64_t *start;   /* offsets of these, one more than rows */
    int64_t capacity; /* capacity of start */
    mcr_text header;  /* ",mass,colour" */
    int64_t columns;  /* number of added columns */
    /* The objects being read: */
    mcr_text name; /* names of objects that are not rows, NUL-terminated */
    int64_t names;
    int64_t objects, unmatched;
    char first[MCR_JOIN_NAME]; /* first object without a row in the table */
};

/* Reads the objects of `in`, or of path if the format has no `in`, with options->join. A table is
 * extended row by row; for other objects the joined columns become separate fields. */
mcr_status mcr_join_read(mcr_builder *builder, mcr *ctx, const mcr_format *format, mcr_input *in,
                         const char *path, const mcr_read_options *options);
/* The columns of a table, including those of options->join. */
mcr_status mcr_join_describe(mcr_column_info **out, int64_t *count, mcr *ctx,
                             const mcr_format *format, mcr_input *in,
                             const mcr_read_options *options);

/* Appends a cell in the form of a comma-separated file with decimal points; comma: numbers may have
 * a decimal comma. */
void mcr_join_cell(mcr_text *text, const mcr_csv_field *field, bool comma);
/* The text of a cell, in scratch if it has doubled quotes; NULL: out of memory. */
const char *mcr_join_plain(const mcr_csv_field *field, mcr_text *scratch, size_t *length);
/* The column with this name; -1: none. */
int64_t mcr_join_column(const mcr_csv_plan *plan, const char *name);
bool mcr_join_blank(const char *from, const char *to); /* whether the line is blank */

/* Chooses the key and indexes the rows by it: for a table that is read from `file`, or for objects
 * with names. *key: its column in the joined table. */
mcr_status mcr_join_rows(mcr_join *join, const mcr_csv_plan *other, const char *file,
                         const mcr_read_options *options, int64_t *key);
mcr_status mcr_join_named(mcr_join *join, const mcr_read_options *options, int64_t *key);
/* Appends the cells of the row with this key (empty ones if there is none) and a line end. */
void mcr_join_append(mcr_join *join, mcr_text *text, const char *key, size_t length, bool counts);

/* For readers of objects with names: the name of their column, and the name of the next object. */
const char *mcr_join_key(const mcr_join *join);
mcr_status mcr_join_name(mcr_join *join, const char *name, size_t length);

#endif
