/* zlib.c: see zlib.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "zlib.h"

#include <string.h>

uLong crc32(uLong sum, const Bytef *bytes, uInt count)
{
    unsigned c = ~(unsigned)sum;
    if (!bytes)
        return 0;
    for (uInt i = 0; i < count; i++) {
        c ^= bytes[i];
        for (int k = 0; k < 8; k++)
            c = c & 1 ? c >> 1 ^ 0xedb88320u : c >> 1;
    }
    return ~c;
}

int inflateInit2(z_stream *z, int bits)
{
    (void)bits;
    z->msg = NULL;
    return Z_OK;
}

int inflateReset(z_stream *z)
{
    (void)z;
    return Z_OK;
}

int inflate(z_stream *z, int flush)
{
    (void)flush;
    z->msg = "gzip is not unpacked here";
    return Z_DATA_ERROR;
}

int inflateEnd(z_stream *z)
{
    (void)z;
    return Z_OK;
}

/* Blocks of up to 65535 bytes, stored (RFC 1951), between the head and the sum of RFC 1950. */
uLong compressBound(uLong count)
{
    return count + 5 * (count / 65535 + 1) + 6;
}

int compress2(Bytef *to, uLongf *capacity, const Bytef *from, uLong count, int level)
{
    unsigned a = 1, b = 0;
    Bytef *at = to;
    (void)level;
    if (*capacity < compressBound(count))
        return Z_BUF_ERROR;
    *at++ = 0x78;
    *at++ = 0x01;
    for (uLong done = 0, part; done < count || count == 0; done += part) {
        part = count - done < 65535 ? count - done : 65535;
        *at++ = done + part == count;
        *at++ = (Bytef)(part & 255);
        *at++ = (Bytef)(part >> 8);
        *at++ = (Bytef)(~part & 255);
        *at++ = (Bytef)(~part >> 8 & 255);
        memcpy(at, from + done, part);
        at += part;
        if (count == 0)
            break;
    }
    for (uLong i = 0; i < count; i++) {
        a = (a + from[i]) % 65521;
        b = (b + a) % 65521;
    }
    for (int shift = 24; shift >= 0; shift -= 8)
        *at++ = (Bytef)((b << 16 | a) >> shift & 255);
    *capacity = (uLongf)(at - to);
    return Z_OK;
}
