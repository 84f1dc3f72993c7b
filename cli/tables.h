/* tables.h: columns of tables: their roles, what is missing in them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_TABLES_H
#define CLI_TABLES_H

#include "cli.h"
#include "json.h"

/* Says what was left out and what is missing, one line each, on standard error. model NULL: the
 * values are filled by what these data show; else by what its training data did. */
void cli_tables_remark(cli *c, const mcr_data *data, const mcr_model *model);
/* Categories that the model did not see in training. */
void cli_tables_unseen(cli *c, const mcr_model *model, const mcr_data *data);

void cli_tables_say_unseen(cli *c, const char *name, int64_t count, const char *word,
                           int64_t length);
/* Rows that cannot be read, the first of them in line `at`. */
void cli_tables_say_skipped(cli *c, int64_t skipped, int64_t at, const char *why);
/* The columns of text that the default kernel of a table leaves out, and how to use them. */
void cli_tables_say_unused(cli *c, const mcr_data *data);
/* Objects that have no row in the table of --join. */
void cli_tables_say_unmatched(cli *c);
/* Values that are missing. */
int64_t cli_tables_missing(const mcr_data *data);

/* The columns of a table, for mercer info. */
void cli_columns_say(const mcr_column_info *column, int64_t count);
void cli_columns_json(cli_json *j, const mcr_column_info *column, int64_t count);

#endif
