/* help.h: help texts, generated from the tables that the parser uses.
 *
 * With --json the same as an object. All return the exit status 0.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include <stdio.h>

#include "cli.h"
#include "json.h"

int cli_help_overview(cli *c, FILE *to);
int cli_help_verb(cli *c, const cli_verb *verb);
int cli_help_version(cli *c);

/* Parameters of a kernel or learner: a table for people. */
void cli_help_params(const mcr_param *params);

#endif
