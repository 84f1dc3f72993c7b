/* stream.h: a table that is read incrementally, some rows at a time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_STREAM_H
#define CLI_STREAM_H

#include "cli.h"

/* Whether to stream a table: standard input, or a large file, csv or tsv, not compressed, for a
 * model that knows the columns of its table (c->reading.like). */
int cli_stream_is_wanted(const cli *c, const char *path);
int cli_stream_open(cli_stream **out, cli *c, const char *path);
void cli_stream_close(cli_stream *s); /* NULL allowed */
/* The next rows: those available now, but at most a few MB. *data is NULL at the end. Returns the
 * exit status, after reporting errors. */
int cli_stream_next(cli_stream *s, mcr_data **data);
/* Remarks on rows that were skipped, values that were filled, and values not seen in training, for
 * all rows so far. */
void cli_stream_remark(cli_stream *s);
/* To be called with each part. */
void cli_stream_count(cli_stream *s, const mcr_model *model, const mcr_data *data);

#endif
