/* keep.h: saving a trained model without losing a better one.
 *
 * A model that is optimal, or that ended at a limit that the user set, takes its place. With
 * --require optimal only one that is optimal does. One that Ctrl-C has cut short goes beside a
 * file that is there, as PATH.interrupted, unless that file is an earlier, unfinished result of
 * the same call.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_KEEP_H
#define CLI_KEEP_H

#include "cli.h"

typedef struct cli_keeping {
    const char *path;    /* NULL: the model is not kept */
    const char *require; /* "optimal", or NULL */
    char *beside;        /* set if it went beside the file at path */
} cli_keeping;

#define CLI_REQUIRE_OPTION(at)                                                                     \
    {                                                                                              \
        .name = "require", .type = CLI_TEXT, .offset = at, .argument = "optimal",                  \
        .help = "do not save a model that is not optimal; the exit status is then 3"               \
    }

/* Before the work: whether the words are right. */
int cli_keep_check(cli *c, const cli_keeping *keep);
/* Saves the model; the exit status, after saying what is wrong. */
int cli_keep_model(cli *c, const mcr_model *model, cli_keeping *keep);
/* The status that a call ends with whose model is kept: 0, or that of an interrupt. */
int cli_keep_status(const mcr_model *model);
/* Whether --require forbids to keep it: CLI_NOT_OPTIMAL, after saying so, or 0. */
int cli_keep_refused(cli *c, const mcr_model *model, const cli_keeping *keep);
void cli_keep_close(cli_keeping *keep);

#endif
