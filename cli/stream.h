/* stream.h: a table that is read some rows at a time, as they come.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_STREAM_H
#define CLI_STREAM_H

#include "cli.h"

/* Whether a table is worth it: standard input, or a file of many bytes, csv or tsv, not compressed,
 * for a model that knows the columns of its table (c->reading.like). */
int cli_stream_is_wanted(const cli *c, const char *path);
int cli_stream_open(cli_stream **out, cli *c, const char *path);
void cli_stream_close(cli_stream *s); /* NULL allowed */
/* The next rows: what has come so far, but not more than a few MB. *data is NULL at the end.
 * Returns the exit status, after saying what is wrong. */
int cli_stream_next(cli_stream *s, mcr_data **data);
/* What was left out, filled and not seen in training, of all rows so far. */
void cli_stream_remark(cli_stream *s);
/* To be called with each part. */
void cli_stream_count(cli_stream *s, const mcr_model *model, const mcr_data *data);

#endif
