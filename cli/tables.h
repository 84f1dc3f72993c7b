/* tables.h: columns of tables: their roles and missing values.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_TABLES_H
#define CLI_TABLES_H

#include "cli.h"
#include "json.h"

/* Reports skipped rows and missing values, one line each, on standard error. model NULL: values are
 * filled from these data; else from the model's training data. */
void cli_tables_remark(cli *c, const mcr_data *data, const mcr_model *model);
/* Categories that the model did not see in training. */
void cli_tables_unseen(cli *c, const mcr_model *model, const mcr_data *data);

void cli_tables_say_unseen(cli *c, const char *name, int64_t count, const char *word,
                           int64_t length);
/* Reports that a line of a file is not UTF-8. */
void cli_tables_say_encoding(cli *c, const char *path, int64_t line);
/* Reports unreadable rows, the first of them in line `at`. */
void cli_tables_say_skipped(cli *c, int64_t skipped, int64_t at, const char *why);
/* Names the text columns that the default kernel of a table ignores, and how to use them. */
void cli_tables_say_unused(cli *c, const mcr_data *data);
/* Reports objects without a row in the table of --join. */
void cli_tables_say_unmatched(cli *c);
/* The number of missing values. */
int64_t cli_tables_missing(const mcr_data *data);

/* The columns of a table, for mercer info. */
void cli_columns_say(const mcr_column_info *column, int64_t count);
void cli_columns_json(cli_json *j, const mcr_column_info *column, int64_t count);

#endif
