/* progress.h: one line on standard error, when that is a terminal, for everything long.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include "cli.h"

/* For mcr_config; user is the cli. The result is nonzero after Ctrl-C. */
int cli_progress_report(void *user, const mcr_progress *now);
/* What is no remark: also with --quiet. */
void cli_progress_warn(cli *c, const char *text);
void cli_progress_log(void *user, int level, const char *line);

/* Decides whether progress is shown. */
void cli_progress_open(cli *c);
/* What the library reports next is the part of the whole from first to first + span. */
void cli_progress_part(cli *c, double first, double span);
/* The program's own progress with the whole; nonzero after Ctrl-C. */
int cli_progress_say(cli *c, const char *phase, double fraction);
/* Wipes the line, before something else is printed. */
void cli_progress_clear(cli *c);

#endif
