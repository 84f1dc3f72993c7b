/* fuzz_npz.c: the reader of NumPy archives.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    fuzz_unwritten("npz", bytes, count);
    return 0;
}
