/* csv_maker.h (internal to the readers): how the plan of a table is made.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_DATA_FORMAT_CSV_MAKER_H
#define MCR_DATA_FORMAT_CSV_MAKER_H

#include "data/format/csv.h"

typedef struct mcr_csv_maker {
    mcr_csv_plan *plan;
    mcr *ctx;
    const char *file;
    const mcr_read_options *options;
    const char *bytes, *end;
    mcr_csv_field *first; /* the cells of the first record */
    int64_t first_lines;
    mcr_words targets; /* their names, as the caller gave them */
    int64_t *role; /* where each role of the table that this one is like stands; NONE: nowhere */
    char *scratch; /* for names */
    int64_t scratch_capacity;
} mcr_csv_maker;

/* Which of the usual names of targets this is, -1: none. */
int mcr_csv_usual_target(const char *name, size_t length);
/* A number with commas between thousands, like "1,234.5"; "1,500" is one, too. */
bool mcr_csv_thousands(const mcr_csv_field *field);
/* Gives every column its role, from what the caller says, the table that this one is like, and the
 * values (csv_assign.c). */
mcr_status mcr_csv_assign(mcr_csv_maker *maker);

#endif
