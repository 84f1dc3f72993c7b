/* apply.h: applies a model to data, block by block, and writes the results to a table: shared by
 * predict and transform.
 *
 * Results go through one buffer, so that many objects with many numbers each need little memory.
 * All functions return the exit status, after reporting errors.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_APPLY_H
#define CLI_APPLY_H

#include "cli.h"
#include "json.h"
#include "output.h"

typedef struct cli_apply {
    cli *c;
    const char *path; /* argument of -o; NULL: standard output, and nothing with --json */
    mcr_model *model;
    const mcr_report_fit *report;
    mcr_data *data;
    int64_t n, cols;
    int64_t all;       /* objects; with several processes, their total */
    const char **name; /* names of the columns, owned; NULL: prefix and a number */
    double *buffer;    /* results of a block; set by the caller, freed by close; may be NULL */
    cli_output *output;
    double seconds; /* time spent computing */
} cli_apply;

/* Checks the output path and loads the model, the call's first word. */
int cli_apply_open(cli_apply *a, cli *c, const char *path);
/* Reads the data, named by the other words. */
int cli_apply_read(cli_apply *a);
/* Opens the table with cols columns, name and prefix. flat: see cli_table. */
int cli_apply_table(cli_apply *a, const char *prefix, int flat);

/* Computes the results for `part`, `rows` objects starting at number `first`. */
typedef mcr_status cli_apply_compute(void *arg, const mcr_data *part, int64_t first, int64_t rows);
/* Writes them; a->output is NULL if no table is wanted. */
typedef int cli_apply_put(void *arg, int64_t first, int64_t rows);

/* The number of objects per block. */
int64_t cli_apply_block(const cli_apply *a);
/* Processes all objects, `at_once` at a time. */
int cli_apply_run(cli_apply *a, int64_t at_once, cli_apply_compute *compute, cli_apply_put *put,
                  void *arg);
/* Completes the table, if there is one. */
int cli_apply_commit(cli_apply *a);
/* The keys n, model, output, seconds, seconds_total. */
void cli_apply_json(cli_json *j, const cli_apply *a);
void cli_apply_close(cli_apply *a);

#endif
