/* json.h (internal): strict JSON reader and writer (RFC 8259).
 *
 * Parsing gives a flat array of values in the order of the text; the contents of a container follow
 * it, and `size` is the number of values to skip past it. Storage is reused between texts, so that
 * parsing many short ones does not allocate. Strings are checked to be valid UTF-8.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_BASE_JSON_H
#define MCR_BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "base/stream.h"

/* ---- reading -------------------------------------------------------------------------------- */

enum { MCR_JSON_DEPTH = 64 }; /* nesting depth of containers; deeper is refused */

typedef enum mcr_json_type {
    MCR_JSON_NULL,
    MCR_JSON_FALSE,
    MCR_JSON_TRUE,
    MCR_JSON_NUMBER,
    MCR_JSON_STRING,
    MCR_JSON_ARRAY,
    MCR_JSON_OBJECT
} mcr_json_type;

typedef struct mcr_json_value {
    mcr_json_type type;
    int64_t size;  /* number of values up to its next sibling: value + size */
    int64_t count; /* array: elements; object: members; string, number: bytes of text */
    int64_t at;    /* offset of its first byte in the text */
    /* string: its bytes without escapes (may contain NUL); number: as written. Not NUL-terminated.
     * Valid until the next parse. */
    const char *text;
    double number; /* correctly rounded, always finite */
} mcr_json_value;

/* A parsed text. The first element of an array is value[1], each further one its predecessor +
 * size; an object's members are pairs: the key (a string, size 1), then its value. */
typedef struct mcr_json {
    mcr *ctx;
    mcr_json_value *value; /* value[0] is the whole text */
    int64_t count, capacity;
    char *scratch; /* decoded strings that had escapes */
    int64_t scratch_capacity;
    const char *file; /* of the last parse, for messages; borrowed */
    const char *bytes;
    int64_t line;
} mcr_json;

void mcr_json_init(mcr_json *json, mcr *ctx);
void mcr_json_free(mcr_json *json);
/* Reads one JSON text of exactly `length` bytes; they must stay valid as long as the values are
 * used. file and line (of the first byte) are for messages; file NULL: "JSON". A fault is
 * MCR_BAD_DATA with the message "FILE:LINE: column N: what is wrong". */
mcr_status mcr_json_parse(mcr_json *json, const char *bytes, size_t length, const char *file,
                          int64_t line);
/* Fails with the position of a value in the last parsed text, for callers that cannot use it. */
mcr_status mcr_json_fail(const mcr_json *json, const mcr_json_value *at, const char *format, ...)
    MCR_PRINTF(3, 4);

/* The value of an object's first member with this name; NULL: none, or not an object. */
const mcr_json_value *mcr_json_find(const mcr_json_value *object, const char *key);
bool mcr_json_is(const mcr_json_value *string, const char *text);
/* An integer written as such ("12", not "12.0" or "1e1") that fits; else false. */
bool mcr_json_int(const mcr_json_value *number, int64_t *value);

static inline const mcr_json_value *mcr_json_next(const mcr_json_value *value)
{
    return value + value->size;
}

/* Whether the bytes are UTF-8 (no overlong forms, no surrogates, at most U+10FFFF). */
bool mcr_utf8_valid(const char *bytes, size_t length);
/* The first byte that is not part of such a character; NULL: there is none. */
const char *mcr_utf8_fault(const char *bytes, size_t length);

/* ---- writing -------------------------------------------------------------------------------- */

/* Inserts the commas. Check the text's status at the end. */
typedef struct mcr_json_writer {
    mcr_text *to;
    bool comma; /* the next value or key needs a comma before it */
} mcr_json_writer;

void mcr_json_write_init(mcr_json_writer *w, mcr_text *to);
void mcr_json_write_object(mcr_json_writer *w); /* { */
void mcr_json_write_array(mcr_json_writer *w);  /* [ */
void mcr_json_write_end_object(mcr_json_writer *w);
void mcr_json_write_end_array(mcr_json_writer *w);
void mcr_json_write_key(mcr_json_writer *w, const char *key);
/* Bytes that are not UTF-8 become U+FFFD; use mcr_utf8_valid where that matters. */
void mcr_json_write_string(mcr_json_writer *w, const char *bytes, size_t length);
void mcr_json_write_text(mcr_json_writer *w, const char *text); /* to its NUL; NULL: null */
/* The shortest text that reads back exactly; NaN and infinities, which JSON lacks, become null. */
void mcr_json_write_real(mcr_json_writer *w, double value);
void mcr_json_write_int(mcr_json_writer *w, int64_t value);
void mcr_json_write_bool(mcr_json_writer *w, bool value);
void mcr_json_write_null(mcr_json_writer *w);
void mcr_json_write_reals(mcr_json_writer *w, const double *value, int64_t count);
/* The same for members of an object. */
void mcr_json_put_object(mcr_json_writer *w, const char *key);
void mcr_json_put_array(mcr_json_writer *w, const char *key);
void mcr_json_put_text(mcr_json_writer *w, const char *key, const char *text);
void mcr_json_put_real(mcr_json_writer *w, const char *key, double value);
void mcr_json_put_int(mcr_json_writer *w, const char *key, int64_t value);
void mcr_json_put_bool(mcr_json_writer *w, const char *key, bool value);
void mcr_json_put_reals(mcr_json_writer *w, const char *key, const double *value, int64_t count);
void mcr_json_put_texts(mcr_json_writer *w, const char *key, char *const *text, int64_t count);

#endif
