/* apply.h: applies a model to data, block by block, and writes the results to a table: what predict
 * and transform share.
 *
 * Results go through one buffer, so that many objects with many numbers each need little memory.
 * All functions return the exit status, after reporting what is wrong.
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
    const char *path; /* of -o; NULL: standard output, and nothing under --json */
    mcr_model *model;
    const mcr_report_fit *report;
    mcr_data *data;
    int64_t n, cols;
    int64_t all;       /* objects; of several processes, those of all of them */
    const char **name; /* of the columns, owned; NULL: prefix and a number */
    double *buffer;    /* results of a block: the caller's, freed by close; may be NULL */
    cli_output *output;
    double seconds; /* computing */
} cli_apply;

/* Tests the name of the output and loads the model, the call's first word. */
int cli_apply_open(cli_apply *a, cli *c, const char *path);
/* Reads the data: the other words. */
int cli_apply_read(cli_apply *a);
/* Opens the table: with cols columns, name and prefix. flat: see cli_table. */
int cli_apply_table(cli_apply *a, const char *prefix, int flat);

/* Computes the results for `part`, the `rows` objects from number `first` on. */
typedef mcr_status cli_apply_compute(void *arg, const mcr_data *part, int64_t first, int64_t rows);
/* Writes them; a->output is NULL where no table is wanted. */
typedef int cli_apply_put(void *arg, int64_t first, int64_t rows);

/* How many objects a block has. */
int64_t cli_apply_block(const cli_apply *a);
/* Goes through all objects, `at_once` at a time, and completes the table. */
int cli_apply_run(cli_apply *a, int64_t at_once, cli_apply_compute *compute, cli_apply_put *put,
                  void *arg);
/* The keys n, model, output, seconds, seconds_total. */
void cli_apply_json(cli_json *j, const cli_apply *a);
void cli_apply_close(cli_apply *a);

#endif
