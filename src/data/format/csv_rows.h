/* csv_rows.h (internal to the readers): chunks of a table of text, which are read in parallel.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_DATA_FORMAT_CSV_ROWS_H
#define MCR_DATA_FORMAT_CSV_ROWS_H

#include "data/format/csv.h"

/* The position of a text: `at` bytes after the start of its chunk. */
typedef struct mcr_csv_cell {
    uint32_t at;
    uint32_t length : 31;
    uint32_t doubled : 1; /* inner quotes are doubled */
} mcr_csv_cell;

enum { MCR_CSV_HOLE = UINT32_MAX }; /* cell.at of a missing text */

/* A cached day with its mcr_date_parts: days repeat, and sines are slow. */
typedef struct mcr_csv_day {
    bool known;
    double days, part[MCR_DATE_PARTS];
} mcr_csv_day;

enum { MCR_CSV_DAYS = 1024 };

/* Where the rows of a block are stored; shared by its chunks, which write different rows. */
typedef struct mcr_csv_rows {
    mcr *ctx;
    const char *file;
    const mcr_csv_plan *plan;
    mcr_missing missing;
    bool skip_bad;
    double *number;     /* plan->numbers values per row */
    double **date;      /* one per column of dates: MCR_DATE_PARTS per row */
    double *target;     /* plan->targets per row, if there are several */
    double *weight;     /* one per row */
    mcr_csv_cell *cell; /* per row: texts, kept columns, and the label */
    int64_t cells;      /* cells per row */
    int64_t first;      /* the first row with cells */
    mcr_csv_day *day;   /* MCR_CSV_DAYS per worker */
} mcr_csv_rows;

/* Some whole records of a block. */
typedef struct mcr_csv_chunk {
    const char *from, *to;
    int64_t line;    /* of the first record, from 1 */
    int64_t record;  /* number of the first record, from 1 */
    int64_t records; /* number of records, including blank ones */
    int64_t first;   /* row number of the first record */
    bool quotes;     /* quotes may occur */
    /* results */
    int64_t rows;
    bool number_holes, date_holes;
    int64_t blank;          /* line of a blank line that nothing may follow, 0: none */
    bool content, followed; /* there is a row; there is one after the blank line */
    bool done;
    mcr_skips skips;
} mcr_csv_chunk;

/* Reads a chunk; worker: selects the cache of days. */
mcr_status mcr_csv_rows_read(const mcr_csv_rows *rows, mcr_csv_chunk *chunk, int worker);
/* Fails with "column 3: "abc" is not ..." */
mcr_status mcr_csv_fail_cell(const mcr_csv_rows *rows, int64_t line, int64_t column,
                             const mcr_csv_field *field, const char *what);

#endif
