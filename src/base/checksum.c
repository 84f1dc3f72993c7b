/* checksum.c: CRC-32 of bytes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <zlib.h>

#include "base/stream.h"

uint32_t mcr_checksum_more(uint32_t before, const void *bytes, size_t count)
{
    const unsigned char *p = bytes;
    uLong sum = before;
    while (count > 0) { /* zlib counts in unsigned int */
        uInt part = count > (1U << 30) ? 1U << 30 : (uInt)count;
        sum = crc32(sum, p, part);
        p += part;
        count -= part;
    }
    return (uint32_t)sum;
}

uint32_t mcr_checksum(const void *bytes, size_t count)
{
    return mcr_checksum_more((uint32_t)crc32(0, NULL, 0), bytes, count);
}
