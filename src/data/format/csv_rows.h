/* csv_rows.h (internal to the readers): pieces of a table of text, which are read at once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_DATA_FORMAT_CSV_ROWS_H
#define MCR_DATA_FORMAT_CSV_ROWS_H

#include "data/format/csv.h"

/* Where a text stands: `at` bytes behind the start of its chunk. */
typedef struct mcr_csv_cell {
    uint32_t at;
    uint32_t length : 31;
    uint32_t doubled : 1; /* quotes inside of it are doubled */
} mcr_csv_cell;

enum { MCR_CSV_HOLE = UINT32_MAX }; /* cell.at of a missing text */

/* A day, and what mcr_date_parts says of it: days repeat, and sines take long. */
typedef struct mcr_csv_day {
    bool known;
    double days, part[MCR_DATE_PARTS];
} mcr_csv_day;

enum { MCR_CSV_DAYS = 1024 };

/* Where the rows of a block go; shared by its chunks, which write different rows. */
typedef struct mcr_csv_rows {
    mcr *ctx;
    const char *file;
    const mcr_csv_plan *plan;
    mcr_missing missing;
    bool skip_bad;
    double *number;     /* plan->numbers per row */
    double **date;      /* one per column of dates: MCR_DATE_PARTS per row */
    double *target;     /* plan->targets per row, if there are several */
    double *weight;     /* one per row */
    mcr_csv_cell *cell; /* per row: texts, what is carried, and the label */
    int64_t cells;      /* per row */
    int64_t first;      /* the row that the cells begin with */
    mcr_csv_day *day;   /* MCR_CSV_DAYS per worker */
} mcr_csv_rows;

/* Some whole records of a block. */
typedef struct mcr_csv_chunk {
    const char *from, *to;
    int64_t line;    /* of the first record, from 1 */
    int64_t record;  /* its number, from 1 */
    int64_t records; /* how many there are, blank ones too */
    int64_t first;   /* the row that the first one becomes */
    bool quotes;     /* there may be some */
    /* what was found */
    int64_t rows;
    bool number_holes, date_holes;
    int64_t blank;          /* line number of a blank line that nothing may follow, 0: none */
    bool content, followed; /* a row; one behind the blank line */
    bool done;
    mcr_skips skips;
} mcr_csv_chunk;

/* Reads a chunk; worker: whose days are used. */
mcr_status mcr_csv_rows_read(const mcr_csv_rows *rows, mcr_csv_chunk *chunk, int worker);
/* "column 3: "abc" is not ..." */
mcr_status mcr_csv_fail_cell(const mcr_csv_rows *rows, int64_t line, int64_t column,
                             const mcr_csv_field *field, const char *what);

#endif
