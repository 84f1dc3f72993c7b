/* request.h: reads the JSON of a request (RFC 8259), strictly.
 *
 * Values lie in one array in the order of the text: what a container holds follows it, and `size`
 * leads past it. An object's members are pairs of a key (a string) and a value.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEB_REQUEST_H
#define WEB_REQUEST_H

#include <stddef.h>
#include <stdint.h>

typedef enum studio_type {
    STUDIO_NULL,
    STUDIO_FALSE,
    STUDIO_TRUE,
    STUDIO_NUMBER,
    STUDIO_TEXT,
    STUDIO_LIST,
    STUDIO_OBJECT
} studio_type;

typedef struct studio_value {
    studio_type type;
    size_t size;      /* values from here to the next one beside it */
    size_t count;     /* list: elements; object: members; text: bytes */
    const char *text; /* text: its bytes, with a NUL behind them; else NULL */
    double number;
} studio_value;

/* A request that was read. Storage is kept for the next one. */
typedef struct studio_request {
    char *bytes;
    studio_value *value; /* value[0] is the whole; no values: it could not be read */
    size_t count, capacity;
    const char *fault; /* what is wrong; NULL: nothing */
    size_t at;         /* where, in bytes from 0 */
} studio_request;

/* Copies and reads; 0: request->fault says why not. Containers may lie 16 deep; at most a million
 * values. */
int studio_request_read(studio_request *request, const char *bytes, size_t length);
void studio_request_free(studio_request *request);

/* The value of an object's first member of that name; NULL: none, or not an object (NULL is
 * none). */
const studio_value *studio_find(const studio_value *object, const char *key);
/* The next value beside this one. */
const studio_value *studio_next(const studio_value *value);
/* The text, number or truth of a member, or what is said for its absence. A text with a NUL in it
 * counts as absent. */
const char *studio_text(const studio_value *object, const char *key, const char *otherwise);
double studio_number(const studio_value *object, const char *key, double otherwise);
/* A whole number, brought into the limits. */
int64_t studio_whole(const studio_value *object, const char *key, int64_t otherwise, int64_t least,
                     int64_t most);
int studio_flag(const studio_value *object, const char *key);

#endif
