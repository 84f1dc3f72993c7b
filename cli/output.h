/* output.h: tables of numbers in files; the extension selects the format.
 *
 * .npy: NumPy, float64 or float32. .csv: a header line, then one object per line. Anything else,
 * and "-" for standard output: plain text, one object per line, values separated by tabs, a header
 * line that starts with '#' when there is more than one column. Text has enough digits to read the
 * same numbers back.
 *
 * A file appears under its name only when it is complete (<mercer/output.h>). Devices and pipes are
 * written directly. All functions return the exit status, after reporting errors.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include "cli.h"

typedef struct cli_table {
    int64_t rows, cols;
    const char *const *names; /* names of the columns; NULL: prefix and a number from 0 */
    const char *prefix;
    int single; /* float32 */
    int flat;   /* one column: a one-dimensional array in .npy */
    /* The objects of the rows: their ids and the columns to keep come first, except in .npy. NULL:
     * none. */
    const mcr_data *objects;
} cli_table;

typedef struct cli_output cli_output;

/* Checks a path before any work is done: -o and --json cannot both use standard output, gzip is not
 * supported, and no input is overwritten, however its path is spelled. NULL is allowed. */
int cli_output_check(cli *c, const char *path);

/* Also checks that a file can be written there: hours of work must not end in an error. */
int cli_output_check_place(cli *c, const char *path);
/* The same for the file of another option, such as "--table". */
int cli_output_check_option(cli *c, const char *option, const char *path);
/* Writes a text to a file. */
int cli_output_text(cli *c, const char *path, const char *text, size_t length);

/* The same for a table, whose format follows from the extension: extensions of other file types are
 * refused. */
int cli_output_check_table(cli *c, const char *path);
/* Whether the extension is that of another file type; array: .npy counts as one. */
int cli_output_is_foreign(const char *path, int array);

/* Whether the file can hold only numbers. */
int cli_output_is_binary(const char *path);

int cli_output_open(cli_output **out, cli *c, const char *path, const cli_table *table);
/* Writes the next rows. The float version is for a table that is `single`. Returns immediately with
 * status 1 if the user interrupts. */
int cli_output_rows(cli_output *out, const double *value, int64_t rows, int64_t ld);
int cli_output_rows_float(cli_output *out, const float *value, int64_t rows, int64_t ld);
/* Writes the next rows of a table of words, rows x cols; not for .npy. */
int cli_output_words(cli_output *out, const char *const *word, int64_t rows);
/* The next rows belong to these objects. Flushes the output if it is standard output or a pipe. */
int cli_output_continue(cli_output *out, const mcr_data *objects);
/* Flushes; a file starts to be written to the disk, so that a commit soon after takes less time. */
int cli_output_sync(cli_output *out);
/* Completes the file; the output is freed even on failure. */
int cli_output_commit(cli_output *out);
/* Removes the output without leaving a file. NULL is allowed. */
void cli_output_discard(cli_output *out);

#endif
