/* input.c: reading files, standard input and memory, plain or gzip, by lines or by bytes.
 *
 * Bytes pass from a source (a descriptor or memory), through zlib if they are gzip, into one
 * window. Lines are returned in place: the window moves only when it is used up, and grows only
 * when a line does not fit.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/stream.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ZLIB_CONST
#include <zlib.h>

#include "base/limits.h"
#include "base/system.h"

enum { WINDOW = 256 << 10, PEEK_MAX = 64 << 10 };
static const size_t LINE_MAX_BYTES = (size_t)1 << 30;

struct mcr_input {
    mcr *ctx;
    char *name;
    int fd; /* -1: memory */
    bool owns_fd;
    const char *memory;
    size_t memory_left;
    mcr_source source; /* .read NULL: none */
    bool raw_end;      /* end of the source, or of all gzip members */

    bool gzip, member_open, inflate_ready;
    z_stream z;
    uint64_t packed, unpacked; /* bytes through zlib */
    char *raw;                 /* compressed bytes not yet unpacked; not used for memory */

    bool in_archive; /* a member of an archive: expected size and checksum, and those so far */
    uint64_t size, given;
    uint32_t sum, given_sum;

    char *window; /* space + 1 bytes: the last one is for the readable byte after a line */
    size_t capacity, start, end;
    bool ended; /* no more bytes will come into the window */
    int64_t line_number;
};

/* ---- the source ---- */

/* Up to count bytes; *got = 0 only at the end. */
static mcr_status read_raw(mcr_input *in, void *to, size_t count, size_t *got)
{
    *got = 0;
    if (in->raw_end || count == 0)
        return MCR_OK;
    if (in->source.read != NULL) {
        mcr_status status = in->source.read(in->source.arg, to, count, got);
        in->raw_end = status != MCR_OK || *got == 0;
        return status;
    }
    if (in->fd < 0) {
        size_t n = count < in->memory_left ? count : in->memory_left;
        if (n > 0)
            memcpy(to, in->memory, n);
        in->memory += n;
        in->memory_left -= n;
        in->raw_end = n == 0;
        *got = n;
        return MCR_OK;
    }
    if (count > SSIZE_MAX)
        count = SSIZE_MAX;
    ssize_t n;
    do {
        n = read(in->fd, to, count);
    } while (n < 0 && errno == EINTR);
    if (n < 0) {
        char buffer[128];
        return mcr_fail_at(in->ctx, MCR_IO, in->name, 0, "cannot be read: %s",
                           mcr_system_error(errno, buffer, sizeof buffer));
    }
    in->raw_end = n == 0;
    *got = (size_t)n;
    return MCR_OK;
}

/* ---- gzip ---- */

static void *zlib_alloc(void *ctx, unsigned count, unsigned size)
{
    return mcr_alloc_zero(ctx, count, size);
}

static void zlib_free(void *ctx, void *block)
{
    mcr_free(ctx, block);
}

/* Ensures that zlib has input, unless the source has ended. */
static mcr_status feed(mcr_input *in)
{
    if (in->z.avail_in > 0)
        return MCR_OK;
    size_t got;
    mcr_status status = read_raw(in, in->raw, WINDOW, &got);
    in->z.next_in = (const Bytef *)in->raw;
    in->z.avail_in = (uInt)got;
    in->packed += got;
    return status;
}

static mcr_status damaged(mcr_input *in, const char *what)
{
    return mcr_fail_at(in->ctx, MCR_BAD_DATA, in->name, 0, "damaged %s: %s",
                       in->in_archive ? "archive" : "gzip", what);
}

/* After a member: another one, zeros (padding of tapes and some tools), or nothing. */
static mcr_status next_member(mcr_input *in)
{
    for (;;) {
        mcr_status status = feed(in);
        if (status != MCR_OK)
            return status;
        if (in->z.avail_in == 0)
            return MCR_OK;
        if (*in->z.next_in != 0 || in->in_archive)
            break;
        in->z.next_in++;
        in->z.avail_in--;
    }
    if (in->in_archive || *in->z.next_in != 0x1f)
        return damaged(in, "there are other bytes after its end");
    if (inflateReset(&in->z) != Z_OK)
        return damaged(in, "it cannot be continued");
    in->member_open = true;
    return MCR_OK;
}

static mcr_status read_gzip(mcr_input *in, void *to, size_t count, size_t *got)
{
    *got = 0;
    in->z.next_out = to;
    in->z.avail_out = (uInt)count;
    while (in->z.avail_out > 0) {
        mcr_status status = in->member_open ? feed(in) : next_member(in);
        if (status != MCR_OK)
            return status;
        if (!in->member_open)
            break;
        if (in->z.avail_in == 0)
            return damaged(in, "the file ends early");
        switch (inflate(&in->z, Z_NO_FLUSH)) {
        case Z_OK: break;
        case Z_STREAM_END: in->member_open = false; break;
        case Z_BUF_ERROR: break;
        case Z_MEM_ERROR: return mcr_fail(in->ctx, MCR_NO_MEMORY, "out of memory for gzip");
        default: return damaged(in, in->z.msg != NULL ? in->z.msg : "it cannot be unpacked");
        }
    }
    *got = count - in->z.avail_out;
    in->unpacked += *got;
    return mcr_reading_unpacked(in->ctx, in->name, in->packed - in->z.avail_in, in->unpacked);
}

/* Compares the unpacked bytes of a member with the archive's entry; count 0: the end. */
static mcr_status check_member(mcr_input *in, const void *bytes, size_t count)
{
    if (count > 0)
        in->given_sum = (uint32_t)crc32(in->given_sum, bytes, (uInt)count);
    in->given += count;
    if (in->given > in->size || (count == 0 && in->given < in->size))
        return damaged(in, "it does not have the expected size");
    if (count == 0 && in->given_sum != in->sum)
        return damaged(in, "its checksum is wrong");
    return MCR_OK;
}

/* ---- the window ---- */

static mcr_status read_some(mcr_input *in, void *to, size_t count, size_t *got)
{
    if (count > UINT_MAX)
        count = UINT_MAX;
    mcr_status status = in->gzip ? read_gzip(in, to, count, got) : read_raw(in, to, count, got);
    mcr_reading_bytes(in->ctx, *got);
    if (status == MCR_OK && in->in_archive)
        status = check_member(in, to, *got);
    return status;
}

/* Appends more bytes to the window, after making space. Sets `ended` if none are left. */
static mcr_status fill(mcr_input *in)
{
    if (in->start > 0) {
        memmove(in->window, in->window + in->start, in->end - in->start);
        in->end -= in->start;
        in->start = 0;
    }
    if (in->end == in->capacity) {
        if (in->capacity >= LINE_MAX_BYTES)
            return mcr_fail_at(in->ctx, MCR_BAD_DATA, in->name, in->line_number + 1,
                               "the line is longer than 1 GiB");
        if (mcr_resize_at(in->ctx, &in->window, 2 * in->capacity + 1, 1))
            return MCR_NO_MEMORY;
        in->capacity *= 2;
    }
    size_t got;
    mcr_status status = read_some(in, in->window + in->end, in->capacity - in->end, &got);
    if (status != MCR_OK)
        return status;
    in->end += got;
    in->ended = got == 0;
    return MCR_OK;
}

/* Unpacks the source from here on; its first bytes are already in the window. bits: zlib's window
 * bits, which select the format. */
static mcr_status open_zlib(mcr_input *in, int bits)
{
    in->raw = mcr_alloc(in->ctx, WINDOW, 1);
    if (in->raw == NULL)
        return MCR_NO_MEMORY;
    memcpy(in->raw, in->window, in->end);
    in->z.zalloc = zlib_alloc;
    in->z.zfree = zlib_free;
    in->z.opaque = in->ctx;
    in->z.next_in = (const Bytef *)in->raw;
    in->z.avail_in = (uInt)in->end;
    in->packed = in->end;
    if (inflateInit2(&in->z, bits) != Z_OK)
        return mcr_fail(in->ctx, MCR_NO_MEMORY, "out of memory for gzip");
    in->gzip = in->inflate_ready = in->member_open = true;
    in->start = in->end = 0;
    in->ended = false;
    return MCR_OK;
}

/* Checks the first two bytes. If they are gzip's, the bytes read so far become zlib's input. */
static mcr_status detect_gzip(mcr_input *in)
{
    while (in->end < 2 && !in->ended) {
        mcr_status status = fill(in);
        if (status != MCR_OK)
            return status;
    }
    if (in->end < 2 || (unsigned char)in->window[0] != 0x1f || (unsigned char)in->window[1] != 0x8b)
        return MCR_OK;
    return open_zlib(in, 15 + 16);
}

/* ---- opening ---- */

/* Takes ownership of source->fd and source->source in every case. */
static mcr_status start(mcr_input **out, mcr *ctx, const char *name, const mcr_input *source)
{
    mcr_status status = MCR_NO_MEMORY;
    mcr_input *in = mcr_alloc_zero(ctx, 1, sizeof *in);
    if (in == NULL) {
        if (source->owns_fd)
            close(source->fd);
        if (source->source.close != NULL)
            source->source.close(source->source.arg);
        return MCR_NO_MEMORY;
    }
    *in = *source;
    in->ctx = ctx;
    in->capacity = WINDOW;
    in->name = mcr_copy_text(ctx, name, strlen(name));
    if (in->name == NULL)
        goto done;
    in->window = mcr_alloc(ctx, in->capacity + 1, 1);
    if (in->window == NULL)
        goto done;
    if (in->in_archive)
        status = in->gzip ? open_zlib(in, -15) : MCR_OK;
    else if (in->source.read != NULL)
        status = MCR_OK;
    else
        status = detect_gzip(in);
done:
    if (status == MCR_OK)
        *out = in;
    else
        mcr_input_close(in);
    return status;
}

mcr_status mcr_input_open(mcr_input **out, mcr *ctx, const char *path)
{
    *out = NULL;
    mcr_input source = {.fd = STDIN_FILENO};
    if (strcmp(path, "-") == 0)
        return start(out, ctx, "standard input", &source);
    do {
        source.fd = open(path, O_RDONLY | O_CLOEXEC);
    } while (source.fd < 0 && errno == EINTR);
    if (source.fd < 0) {
        char buffer[128];
        return mcr_fail_at(ctx, MCR_IO, path, 0, "cannot be opened: %s",
                           mcr_system_error(errno, buffer, sizeof buffer));
    }
    source.owns_fd = true;
#ifdef POSIX_FADV_SEQUENTIAL
    (void)posix_fadvise(source.fd, 0, 0, POSIX_FADV_SEQUENTIAL);
#endif
    return start(out, ctx, path, &source);
}

mcr_status mcr_input_memory(mcr_input **out, mcr *ctx, const char *name, const void *bytes,
                            size_t count)
{
    *out = NULL;
    mcr_input source = {.fd = -1, .memory = bytes, .memory_left = count};
    return start(out, ctx, name, &source);
}

mcr_status mcr_input_member(mcr_input **out, mcr *ctx, const char *name, const mcr_member *member)
{
    *out = NULL;
    mcr_input source = {.fd = -1,
                        .memory = member->bytes,
                        .memory_left = member->count,
                        .gzip = member->deflated,
                        .in_archive = true,
                        .size = member->size,
                        .sum = member->sum};
    return start(out, ctx, name, &source);
}

mcr_status mcr_input_source(mcr_input **out, mcr *ctx, const char *name, const mcr_source *given)
{
    *out = NULL;
    mcr_input source = {.fd = -1, .source = *given};
    return start(out, ctx, name, &source);
}

void mcr_input_close(mcr_input *in)
{
    if (in == NULL)
        return;
    if (in->inflate_ready)
        inflateEnd(&in->z);
    if (in->owns_fd)
        close(in->fd);
    if (in->source.close != NULL)
        in->source.close(in->source.arg);
    mcr_free_all(in->ctx, in->raw, in->window, in->name, in);
}

int mcr_input_place(const mcr_input *in, int64_t *offset)
{
    off_t at = in->fd < 0 || in->gzip || !in->owns_fd ? -1 : lseek(in->fd, 0, SEEK_CUR);
    if (at < 0)
        return -1;
    *offset = (int64_t)at - (int64_t)(in->end - in->start);
    return in->fd;
}

double mcr_input_size(const mcr_input *in)
{
    struct stat about;
    bool plain = in->owns_fd && !in->gzip && fstat(in->fd, &about) == 0 && S_ISREG(about.st_mode);
    return plain ? (double)about.st_size : 0;
}

const char *mcr_input_name(const mcr_input *in)
{
    return in->name;
}

/* ---- lines and bytes ---- */

mcr_status mcr_input_line(mcr_input *in, const char **line, size_t *length)
{
    *line = NULL;
    *length = 0;
    size_t searched = 0; /* bytes from start without a line end */
    const char *newline;
    for (;;) {
        const char *from = in->window + in->start + searched;
        newline = memchr(from, '\n', in->end - in->start - searched);
        if (newline != NULL || in->ended)
            break;
        searched = in->end - in->start;
        mcr_status status = fill(in);
        if (status != MCR_OK)
            return status;
    }
    const char *first = in->window + in->start;
    size_t count;
    if (newline != NULL) {
        count = (size_t)(newline - first);
        in->start += count + 1;
        if (count > 0 && first[count - 1] == '\r')
            count--;
    } else {
        count = in->end - in->start;
        if (count == 0)
            return MCR_OK;
        in->window[in->end] = '\0';
        in->start = in->end;
    }
    in->line_number++;
    *line = first;
    *length = count;
    return MCR_OK;
}

int64_t mcr_input_line_number(const mcr_input *in)
{
    return in->line_number;
}

mcr_status mcr_input_peek(mcr_input *in, size_t count, const char **bytes, size_t *got)
{
    assert(count <= PEEK_MAX);
    *bytes = NULL;
    *got = 0;
    while (in->end - in->start < count && !in->ended) {
        mcr_status status = fill(in);
        if (status != MCR_OK)
            return status;
    }
    size_t have = in->end - in->start;
    *bytes = in->window + in->start;
    *got = have < count ? have : count;
    return MCR_OK;
}

mcr_status mcr_input_some(mcr_input *in, void *to, size_t count, size_t *got)
{
    char *next = to;
    size_t left = count;
    *got = 0;
    while (left > 0) {
        size_t have = in->end - in->start, n = have < left ? have : left;
        if (n > 0) {
            memcpy(next, in->window + in->start, n);
            in->start += n;
        } else if (in->ended) {
            break;
        } else if (left >= in->capacity) { /* large reads need no copy */
            mcr_status status = read_some(in, next, left, &n);
            if (status != MCR_OK)
                return status;
            in->ended = n == 0;
        } else {
            mcr_status status = fill(in);
            if (status != MCR_OK)
                return status;
        }
        next += n;
        left -= n;
        *got += n;
    }
    return MCR_OK;
}

mcr_status mcr_input_read(mcr_input *in, void *to, size_t count)
{
    size_t got;
    mcr_status status = mcr_input_some(in, to, count, &got);
    if (status == MCR_OK && got < count)
        status = mcr_fail_at(in->ctx, MCR_BAD_DATA, in->name, 0, "the file ends early");
    return status;
}

mcr_status mcr_input_fail(mcr_input *in, const char *format, ...)
{
    char text[MCR_MESSAGE_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return mcr_fail_at(in->ctx, MCR_BAD_DATA, in->name, in->line_number, "%s", text);
}
