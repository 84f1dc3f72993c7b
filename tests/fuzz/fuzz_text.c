/* fuzz_text.c: the reader of text lines.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    fuzz_read(&mcr_format_text, bytes, count);
    return 0;
}
