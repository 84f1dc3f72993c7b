/* protobuf.c: reading protocol buffer messages.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "model/protobuf.h"

#include <string.h>

static void skip(mcr_span *s, size_t count)
{
    s->at += count;
    s->count -= count;
}

bool mcr_proto_number(mcr_span *s, uint64_t *value, bool *bad)
{
    enum { MOST = 10 }; /* bytes of 7 bits each */
    *value = 0;
    for (size_t i = 0; i < s->count && i < MOST; i++) {
        *value |= (uint64_t)(s->at[i] & 127) << 7 * i;
        if (s->at[i] < 128) {
            skip(s, i + 1);
            return true;
        }
    }
    *bad = *bad || s->count > 0;
    return false;
}

uint64_t mcr_span_bits(const unsigned char *at, size_t bytes)
{
    uint64_t bits = 0;
    for (size_t i = 0; i < bytes; i++)
        bits |= (uint64_t)at[i] << 8 * i;
    return bits;
}

float mcr_float_of(uint64_t bits)
{
    uint32_t word = (uint32_t)bits;
    float value;
    memcpy(&value, &word, sizeof value);
    return value;
}

double mcr_double_of(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

bool mcr_span_is(mcr_span s, const char *text)
{
    return s.count == strlen(text) && (s.count == 0 || memcmp(s.at, text, s.count) == 0);
}

bool mcr_span_equal(mcr_span a, mcr_span b)
{
    return a.count == b.count && (a.count == 0 || memcmp(a.at, b.at, a.count) == 0);
}

bool mcr_proto_next(mcr_span *message, mcr_proto_field *field, bool *bad)
{
    uint64_t key, length;
    *field = (mcr_proto_field){0};
    if (*bad || !mcr_proto_number(message, &key, bad))
        return false;
    field->number = key >> 3;
    field->wire = (mcr_wire)(key & 7);
    size_t fixed = field->wire == MCR_WIRE_64 ? 8 : 4;
    switch (field->wire) {
    case MCR_WIRE_NUMBER:
        *bad = message->count == 0;
        return !*bad && mcr_proto_number(message, &field->value, bad);
    case MCR_WIRE_BYTES:
        *bad = message->count == 0;
        if (*bad || !mcr_proto_number(message, &length, bad))
            return false;
        if ((*bad = length > message->count))
            return false;
        field->bytes = (mcr_span){message->at, (size_t)length};
        skip(message, (size_t)length);
        return true;
    case MCR_WIRE_32:
    case MCR_WIRE_64:
        if ((*bad = message->count < fixed))
            return false;
        field->value = mcr_span_bits(message->at, fixed);
        field->bytes = (mcr_span){message->at, fixed};
        skip(message, fixed);
        return true;
    default: *bad = true; return false;
    }
}
