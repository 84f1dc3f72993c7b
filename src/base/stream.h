/* stream.h (internal): input and output of bytes: files, standard input, gzip; lines;
 * <mercer/output.h>.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_BASE_STREAM_H
#define MCR_BASE_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mercer/context.h>
#include <mercer/output.h>

/* Reading. gzip is recognised by its magic bytes whatever the name; "-" is standard input; a
 * truncated or damaged gzip is MCR_BAD_DATA. Memory: a window of a few 100 KB, more only for a
 * longer line (up to the limit of 1 GiB). */
typedef struct mcr_input mcr_input;
mcr_status mcr_input_open(mcr_input **out, mcr *ctx, const char *path);
/* Reads bytes in memory (fuzzers, tests, sniffing); name is for messages. The bytes are
 * borrowed. */
mcr_status mcr_input_memory(mcr_input **out, mcr *ctx, const char *name, const void *bytes,
                            size_t count);
/* A member of an archive in memory: stored, or deflated (RFC 1951). The unpacked bytes must have
 * the given size and CRC-32; both are checked at the end. The bytes are borrowed. */
typedef struct mcr_member {
    const void *bytes;
    size_t count; /* bytes in the archive */
    bool deflated;
    uint64_t size;
    uint32_t sum;
} mcr_member;
mcr_status mcr_input_member(mcr_input **out, mcr *ctx, const char *name, const mcr_member *member);
/* Bytes that another reader produces on demand; name is for messages. */
typedef struct mcr_source {
    void *arg;
    /* Up to count bytes, count > 0; *got = 0 only at the end. */
    mcr_status (*read)(void *arg, char *to, size_t count, size_t *got);
    void (*close)(void *arg); /* called once, also if opening fails */
} mcr_source;
mcr_status mcr_input_source(mcr_input **out, mcr *ctx, const char *name, const mcr_source *source);
void mcr_input_close(mcr_input *in);
const char *mcr_input_name(const mcr_input *in);
/* The next line without its end (" " or "\r "; optional for the last line). *line is read-only and
 * borrowed until the next call; NULL at the end of the input. Lines may contain NULs: use *length.
 * At least one byte after the line is readable. */
mcr_status mcr_input_line(mcr_input *in, const char **line, size_t *length);
int64_t mcr_input_line_number(const mcr_input *in); /* of the last line, from 1 */
/* Up to `count` bytes from the current position without consuming them, for sniffing (count at most
 * 64 KiB); *got is less than count only at the end. */
mcr_status mcr_input_peek(mcr_input *in, size_t count, const char **bytes, size_t *got);
/* Exactly count bytes into `to`; MCR_BAD_DATA ("the file ends early") if there are fewer. */
mcr_status mcr_input_read(mcr_input *in, void *to, size_t count);
/* As many as available, up to count; *got = 0 at the end. */
mcr_status mcr_input_some(mcr_input *in, void *to, size_t count, size_t *got);
/* The descriptor of a plain file and the offset of the current position; -1: not a plain file. */
int mcr_input_place(const mcr_input *in, int64_t *offset);
/* The size of a plain file as the system reports it; 0: not known. */
double mcr_input_size(const mcr_input *in);
/* mcr_fail_at with this input's name and current line. */
mcr_status mcr_input_fail(mcr_input *in, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A growing text in memory. After a failed append all further ones have no effect; check `status`
 * once at the end. */
typedef struct mcr_text {
    mcr *ctx;
    char *bytes; /* NUL-terminated once anything was appended; NULL before */
    int64_t length, capacity;
    mcr_status status;
} mcr_text;
void mcr_text_init(mcr_text *t, mcr *ctx);
void mcr_text_free(mcr_text *t);
void mcr_text_add(mcr_text *t, const void *bytes, size_t count);
/* Appends `count` bytes for the caller to fill; NULL: out of memory. */
char *mcr_text_extend(mcr_text *t, size_t count);
void mcr_text_string(mcr_text *t, const char *s);
void mcr_text_real(mcr_text *t, double value); /* shortest round trip */
void mcr_text_int(mcr_text *t, int64_t value);
void mcr_text_format(mcr_text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Writes the text as a whole file (mcr_output_open); fails with the text's status. */
mcr_status mcr_text_save(const mcr_text *t, const char *path);

/* CRC-32 as in gzip: detects every burst error of up to 32 bits. */
uint32_t mcr_checksum(const void *bytes, size_t count);
/* Continues the checksum `sum` over further bytes; 0: no bytes so far. */
uint32_t mcr_checksum_more(uint32_t sum, const void *bytes, size_t count);

#endif
