/* zlib.h: the few names of zlib that Mercer uses, where there is no zlib: in a browser, which
 * unpacks gzip itself. Checksums are real, compressed pictures are stored, and unpacking is
 * refused.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEB_WASM_ZLIB_H
#define WEB_WASM_ZLIB_H

typedef unsigned char Bytef;
typedef unsigned uInt;
typedef unsigned long uLong, uLongf;
typedef void *voidpf;

typedef struct z_stream {
    const Bytef *next_in;
    Bytef *next_out;
    uInt avail_in, avail_out;
    const char *msg;
    voidpf (*zalloc)(voidpf, uInt, uInt);
    void (*zfree)(voidpf, voidpf);
    voidpf opaque;
} z_stream;

#define Z_NULL       0
#define Z_NO_FLUSH   0
#define Z_OK         0
#define Z_STREAM_END 1
#define Z_DATA_ERROR (-3)
#define Z_MEM_ERROR  (-4)
#define Z_BUF_ERROR  (-5)

uLong crc32(uLong sum, const Bytef *bytes, uInt count);
int inflateInit2(z_stream *z, int bits);
int inflateReset(z_stream *z);
int inflate(z_stream *z, int flush);
int inflateEnd(z_stream *z);
uLong compressBound(uLong count);
int compress2(Bytef *to, uLongf *capacity, const Bytef *from, uLong count, int level);

#endif
