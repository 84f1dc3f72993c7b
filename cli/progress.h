/* progress.h: a progress line on standard error, if that is a terminal, for long operations.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include "cli.h"

/* For mcr_config; user is the cli. Returns nonzero after Ctrl-C. */
int cli_progress_report(void *user, const mcr_progress *now);
/* Says once that training continues from the checkpoint meter.continues, and at which step; 0: it
 * is not known. */
void cli_progress_continues(cli *c, int64_t step);
/* A warning, printed even with --quiet. */
void cli_progress_warn(cli *c, const char *text);
void cli_progress_log(void *user, int level, const char *line);

/* Decides whether progress is shown. */
void cli_progress_open(cli *c);
/* The library's next reports cover the part of the whole from first to first + span. */
void cli_progress_part(cli *c, double first, double span);
/* The program's own progress, as a fraction of the whole; nonzero after Ctrl-C. */
int cli_progress_say(cli *c, const char *phase, double fraction);
/* Erases the line before other output. */
void cli_progress_clear(cli *c);

#endif
