/* fuzz_jsonl.c: the reader of JSON lines.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    fuzz_read(&mcr_format_jsonl, bytes, count);
    return 0;
}
