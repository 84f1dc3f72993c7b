/* asking.h: a model is asked about objects, block by block, and the answers go to a table: what
 * predict and transform share.
 *
 * Answers go through one buffer, so that many objects with many numbers each need little memory. All
 * functions return the exit status, after saying what is wrong.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_ASKING_H
#define CLI_ASKING_H

#include "cli.h"
#include "json.h"
#include "output.h"

typedef struct cli_asking {
    cli *c;
    const char *path; /* of -o; NULL: standard output, and nothing under --json */
    mcr_model *model;
    const mcr_report_fit *report;
    mcr_data *data;
    int64_t n, cols;
    const char **name; /* of the columns, owned; NULL: prefix and a number */
    double *buffer;    /* answers of a block: the caller's, freed by close; may be NULL */
    cli_output *output;
    double seconds; /* computing */
} cli_asking;

/* Tests the name of the output and loads the model, the call's first word. */
int cli_asking_open(cli_asking *a, cli *c, const char *path);
/* Reads the data: the other words. */
int cli_asking_read(cli_asking *a);
/* Opens the table: with cols columns, name and prefix. flat: see cli_table. */
int cli_asking_table(cli_asking *a, const char *prefix, int flat);

/* Computes the answers for `part`, the `rows` objects from number `first` on. */
typedef mcr_status cli_asking_compute(void *arg, const mcr_data *part, int64_t first, int64_t rows);
/* What is done with them; a->output is NULL where no table is wanted. */
typedef int cli_asking_put(void *arg, int64_t first, int64_t rows);

/* Objects that are asked about at once. */
int64_t cli_asking_block(const cli_asking *a);
/* Goes through all objects, `at_once` at a time, and completes the table. */
int cli_asking_run(cli_asking *a, int64_t at_once, cli_asking_compute *compute, cli_asking_put *put,
                   void *arg);
/* The keys n, model, output, seconds, seconds_total. */
void cli_asking_json(cli_json *j, const cli_asking *a);
void cli_asking_close(cli_asking *a);

#endif
