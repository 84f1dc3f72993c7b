/* tsv.c: tables with tab-separated columns; otherwise as in csv.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "data/format/csv.h"
#include "data/write.h"

static mcr_status read_tsv(mcr_builder *b, mcr *ctx, mcr_input *in, const mcr_read_options *options)
{
    return mcr_csv_read(b, ctx, in, options, '\t');
}

static mcr_status describe(mcr_column_info **out, int64_t *count, mcr *ctx, mcr_input *in,
                           const mcr_read_options *options)
{
    return mcr_csv_describe(out, count, ctx, in, options, '\t');
}

static int sniff(bool named, const char *bytes, size_t count)
{
    double share;
    if (named)
        return 90;
    return mcr_csv_separator(bytes, count, &share) == '\t' && share == 1 ? 55 : 0;
}

const mcr_format mcr_format_tsv = {
    .name = "tsv",
    .summary = "table with tabs between the columns; a header is detected",
    .extensions = (const char *const[]){"tsv", "tab", NULL},
    .writer = &mcr_writer_tsv,
    .sniff = sniff,
    .read = read_tsv,
    .describe = describe,
};
