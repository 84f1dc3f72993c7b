/* fuzz_libsvm.c: the reader of LIBSVM files.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    mcr_read_options options = {.size = sizeof options, .format = "libsvm"};
    mcr_data *data = NULL;
    mcr *ctx = fuzz_open();
    mcr_status status = mcr_data_read_memory(&data, ctx, "input", bytes, count, &options);
    fuzz_check(ctx, status, data);
    fuzz_stores(data);
    mcr_data_free(data);
    mcr_close(ctx);
    fuzz_read(&mcr_format_libsvm, bytes, count);
    return 0;
}
