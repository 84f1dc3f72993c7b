/* output.h: tables of numbers in files, by the extension of the name.
 *
 * .npy: NumPy, float64 or float32. .csv: a header line, then one object per line. Anything else,
 * and "-" for standard output: plain text, one object per line, values separated by tabs, a header
 * line that starts with '#' when there is more than one column. Text holds every digit that is
 * needed to read the same numbers back.
 *
 * A file appears under its name only when it is complete (<mercer/output.h>). A name that is a
 * device or a pipe is written as it is. All functions return the exit status, after saying what is
 * wrong.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include "cli.h"

typedef struct cli_table {
    int64_t rows, cols;
    const char *const *names; /* of the columns; NULL: prefix and a number from 0 */
    const char *prefix;
    int single; /* float32 */
    int flat;   /* one column: in .npy an array of one dimension */
    /* The objects of the rows: their ids and the columns to be kept come first, except in .npy.
     * NULL: none. */
    const mcr_data *objects;
} cli_table;

typedef struct cli_output cli_output;

/* Tests a name before work is spent: -o and --json cannot both take standard output, gzip is not
 * written, and no input is overwritten, however it is spelled. NULL is fine. */
int cli_output_check(cli *c, const char *path);

/* The same, and that a file can be written there: hours of work must not end in a fault. */
int cli_output_check_place(cli *c, const char *path);
/* Writes a text as a file of its own. */
int cli_output_text(cli *c, const char *path, const char *text, size_t length);

/* The same for a table, whose form follows from the ending: those of other programs are refused. */
int cli_output_check_table(cli *c, const char *path);
/* Whether the name ends like a file of another program; array: .npy is one. */
int cli_output_is_foreign(const char *path, int array);

/* 1: the file can hold numbers only. */
int cli_output_is_binary(const char *path);

int cli_output_open(cli_output **out, cli *c, const char *path, const cli_table *table);
/* The next rows. The float version is for a table that is `single`. Returns at once with status 1
 * when the user interrupts. */
int cli_output_rows(cli_output *out, const double *value, int64_t rows, int64_t ld);
int cli_output_rows_float(cli_output *out, const float *value, int64_t rows, int64_t ld);
/* The next rows of a table of words, rows x cols; not for .npy. */
int cli_output_words(cli_output *out, const char *const *word, int64_t rows);
/* The rows that follow are of these objects. What was written so far is handed on, if it goes to
 * standard output or a pipe. */
int cli_output_continue(cli_output *out, const mcr_data *objects);
/* Completes the file; the output is freed also on failure. */
int cli_output_commit(cli_output *out);
/* Leaves no file. NULL is allowed. */
void cli_output_discard(cli_output *out);

#endif
