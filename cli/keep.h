/* keep.h: saving a trained model without losing a better one.
 *
 * A model that is optimal, or that ended at a limit set by the user, replaces the file. With
 * --require optimal only an optimal one does. A model that was interrupted by Ctrl-C is written
 * next to an existing file, as PATH.interrupted, unless that file is an earlier, unfinished result
 * of the same call.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_KEEP_H
#define CLI_KEEP_H

#include "cli.h"

typedef struct cli_keeping {
    const char *path;    /* NULL: the model is not saved */
    const char *require; /* "optimal", or NULL */
    char *beside;        /* set if it was written next to the file at path */
} cli_keeping;

#define CLI_REQUIRE_OPTION(at)                                                                     \
    {                                                                                              \
        .name = "require", .type = CLI_TEXT, .offset = at, .argument = "optimal",                  \
        .help = "do not save a model that is not optimal; the exit status is then 3"               \
    }

/* Checks the options, before the work. */
int cli_keep_check(cli *c, const cli_keeping *keep);
/* Saves the model; returns the exit status, after reporting errors. */
int cli_keep_model(cli *c, const mcr_model *model, cli_keeping *keep);
/* The exit status of a call whose model was saved: 0, or that of an interrupt. */
int cli_keep_status(const mcr_model *model);
/* Whether --require forbids saving it: CLI_NOT_OPTIMAL, with a message, or 0. */
int cli_keep_refused(cli *c, const mcr_model *model, const cli_keeping *keep);
void cli_keep_close(cli_keeping *keep);

#endif
