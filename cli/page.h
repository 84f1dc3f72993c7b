/* page.h: pieces of an HTML page that needs nothing else.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_PAGE_H
#define CLI_PAGE_H

#include <stdio.h>

#include "evaluate.h"

void cli_page_begin(FILE *to, const char *title);
void cli_page_section(FILE *to, const char *title);
/* Text with what HTML would take for its own replaced, and no control characters. */
void cli_page_text(FILE *to, const char *text);
/* A row of a table of two columns. */
void cli_page_row(FILE *to, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A drawing as it is, under its name. */
void cli_page_picture(FILE *to, const char *name, const char *svg, size_t count);
/* How the scores of each class are spread; one score per object. */
void cli_page_histogram(FILE *to, const cli_evaluation *e);
/* The columns, the most important first; to be freed. */
const mcr_importance **cli_page_order(const mcr_importance_report *r);
/* A bar with its interval for each column, the most important first. */
void cli_page_importance(FILE *to, const mcr_importance_report *r);
void cli_page_end(FILE *to);

#endif
