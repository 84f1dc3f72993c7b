/* csv_maker.h (internal to the readers): the state while the plan of a table is made.
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
    bool alone;        /* there is no other record */
    mcr_words targets; /* their names, as given by the caller */
    int64_t *role;     /* where each role of the table to match is found; NONE: nowhere */
    char *scratch;     /* buffer for names */
    int64_t scratch_capacity;
} mcr_csv_maker;

/* The index of this name among the common names of targets; -1: none. */
int mcr_csv_usual_target(const char *name, size_t length);
/* Whether the field is a number with thousands separators, like "1,234.5"; "1,500" counts, too. */
bool mcr_csv_thousands(const mcr_csv_field *field);
/* Assigns a role to every column, from the caller's options, the table to match, and the values
 * (csv_assign.c). */
mcr_status mcr_csv_assign(mcr_csv_maker *maker);

#endif
