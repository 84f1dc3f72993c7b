/* fuzz_precomputed.c: the reader of precomputed kernels.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz_reader.h"

#include "data/data.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

/* What a reader hands over as checked must pass the check. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    mcr_read_options options = {.size = sizeof options, .format = "precomputed"};
    mcr_data *data = NULL;
    mcr *ctx = fuzz_open();
    mcr_status status = mcr_data_read_memory(&data, ctx, "input", bytes, count, &options);
    fuzz_check(ctx, status, data);
    for (int64_t f = 0; data && f < mcr_data_fields(data); f++)
        if (mcr_store_check(data->store[f]) != MCR_OK)
            abort();
    if (data)
        fuzz_round_trip(ctx, data, &mcr_format_jsonl);
    mcr_data_free(data);
    mcr_close(ctx);
    return 0;
}
