/* protobuf.h (internal): reading protocol buffer messages: a sequence of numbered fields.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_MODEL_PROTOBUF_H
#define MCR_MODEL_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of the file, which must stay valid. */
typedef struct mcr_span {
    const unsigned char *at;
    size_t count;
} mcr_span;

typedef enum mcr_wire {
    MCR_WIRE_NUMBER = 0, /* an integer of any length */
    MCR_WIRE_64 = 1,
    MCR_WIRE_BYTES = 2, /* a text, a message or packed numbers */
    MCR_WIRE_32 = 5,
} mcr_wire;

typedef struct mcr_proto_field {
    uint64_t number;
    mcr_wire wire;
    uint64_t value; /* the value of an integer, or the bits of 32 or 64 */
    mcr_span bytes;
} mcr_proto_field;

/* Removes the next field from the message. false: there is none, or (*bad) the remaining bytes are
 * not a message. */
bool mcr_proto_next(mcr_span *message, mcr_proto_field *field, bool *bad);
/* The next integer of a packed list; as above. */
bool mcr_proto_number(mcr_span *packed, uint64_t *value, bool *bad);
bool mcr_span_is(mcr_span s, const char *text);
bool mcr_span_equal(mcr_span a, mcr_span b);
/* Little-endian bits. */
uint64_t mcr_span_bits(const unsigned char *at, size_t bytes);
float mcr_float_of(uint64_t bits);
double mcr_double_of(uint64_t bits);

#endif
