/* page.h: parts of a self-contained HTML page.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_PAGE_H
#define CLI_PAGE_H

#include <stdio.h>

#include "evaluate.h"

void cli_page_begin(FILE *to, const char *title);
void cli_page_section(FILE *to, const char *title);
/* Text with HTML's special characters escaped, and without control characters. */
void cli_page_text(FILE *to, const char *text);
/* A row of a two-column table. */
void cli_page_row(FILE *to, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Embeds a drawing, with its name. */
void cli_page_picture(FILE *to, const char *name, const char *svg, size_t count);
/* Histograms of the scores of each class; one score per object. */
void cli_page_histogram(FILE *to, const cli_evaluation *e);
/* The columns in descending order of importance; to be freed. */
const mcr_importance **cli_page_order(const mcr_importance_report *r);
/* A bar with its interval for each column, in descending order of importance. */
void cli_page_importance(FILE *to, const mcr_importance_report *r);
void cli_page_end(FILE *to);

#endif
