/* fuzz_csv.c: the reader of CSV and TSV.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static void read_as(const char *target, const uint8_t *bytes, size_t count)
{
    mcr_read_options options = {.size = sizeof options, .format = "csv", .target = target};
    mcr_data *data = NULL;
    mcr *ctx = fuzz_open();
    mcr_status status = mcr_data_read_memory(&data, ctx, "input", bytes, count, &options);
    fuzz_check(ctx, status, data);
    fuzz_stores(data);
    mcr_data_free(data);
    mcr_close(ctx);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    read_as(NULL, bytes, count);
    read_as("2,1", bytes, count); /* several targets */
    fuzz_read(&mcr_format_csv, bytes, count);
    fuzz_read(&mcr_format_tsv, bytes, count);
    return 0;
}
