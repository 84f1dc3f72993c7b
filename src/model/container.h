/* container.h (internal): the model file: magic, version, sections.
 *
 *   "MERCER\r\n"  8 bytes
 *   version       u32
 *   sections      tag (4 bytes), length (u64), payload, CRC-32 of tag, length and payload (u32)
 *   "END "        a section of length 0 closes the file; nothing follows
 *
 * Numbers are little-endian; reals are IEEE 754 doubles. All lengths are checked before use.
 * Versions above MCR_MODEL_VERSION are refused; those below stay readable.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_MODEL_CONTAINER_H
#define MCR_MODEL_CONTAINER_H

#include <stdbool.h>

#include "base/stream.h"

enum { MCR_MODEL_VERSION = 1, MCR_MODEL_MAGIC_BYTES = 8 };
extern const char mcr_model_magic[MCR_MODEL_MAGIC_BYTES];

/* Writing: the payload to an mcr_text, then the section. Errors are recorded in the text's
 * status. */
void mcr_put_u32(mcr_text *t, uint32_t v);
void mcr_put_i64(mcr_text *t, int64_t v);
void mcr_put_text(mcr_text *t, const char *text); /* distinguishes NULL from "" */
void mcr_put_texts(mcr_text *t, const char *const *text, int64_t count);
void mcr_put_i32s(mcr_text *t, const int32_t *v, int64_t count);
void mcr_put_i64s(mcr_text *t, const int64_t *v, int64_t count);
void mcr_put_reals(mcr_text *t, const double *v, int64_t count);
/* Only numbers, without their count: parts of an array whose total count was written before. */
void mcr_put_i32_run(mcr_text *t, const int32_t *v, int64_t count);
void mcr_put_real_run(mcr_text *t, const double *v, int64_t count);
/* Appends a complete section to `file`. */
void mcr_put_section(mcr_text *file, const char tag[4], const mcr_text *payload);
/* The same for a large section, whose payload is appended to the file between the two calls; start:
 * the result of begin. */
int64_t mcr_section_begin(mcr_text *file, const char tag[4]);
void mcr_section_end(mcr_text *file, int64_t start);

/* Reading from bytes in memory. After an error all further reads return zeros; check `bad` at the
 * end. */
typedef struct mcr_reader {
    mcr *ctx;
    const unsigned char *at, *end;
    bool bad, short_of_memory;
    const char *file, *what; /* for messages: what is read from which file */
} mcr_reader;
uint32_t mcr_get_u32(mcr_reader *r);
int64_t mcr_get_i64(mcr_reader *r);
/* A count of elements of `size` bytes that fit into the remaining bytes. */
int64_t mcr_get_count(mcr_reader *r, size_t size);
char *mcr_get_text(mcr_reader *r); /* owned; may be NULL */
/* `count` of them, for mcr_free_each; NULL: one is missing, or there is no memory. */
char **mcr_get_texts(mcr_reader *r, int64_t count);
/* Owned arrays, preceded by their count; NULL on failure. */
int32_t *mcr_get_i32s(mcr_reader *r, int64_t *count);
int64_t *mcr_get_i64s(mcr_reader *r, int64_t *count);
double *mcr_get_reals(mcr_reader *r, int64_t *count);
char *mcr_get_bytes(mcr_reader *r, int64_t *count);
/* MCR_OK if there was no error and everything was read; else the error. */
mcr_status mcr_reader_end(const mcr_reader *r);
/* The message that the file is damaged, and where. */
mcr_status mcr_reader_damaged(const mcr_reader *r, const char *what);

/* Checks magic, version and all sections; then finds a section's payload. */
typedef struct mcr_container {
    mcr *ctx;
    const char *file;
    const unsigned char *bytes;
    size_t count;
} mcr_container;
mcr_status mcr_container_check(const mcr_container *c);
mcr_status mcr_container_find(const mcr_container *c, const char tag[4], const char *what,
                              mcr_reader *out);
/* The same for an optional section; false if it is missing. */
bool mcr_container_has(const mcr_container *c, const char tag[4], const char *what,
                       mcr_reader *out);

#endif
