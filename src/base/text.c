/* text.c: a growing text in memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/stream.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/context.h"
#include "base/number.h"

void mcr_text_init(mcr_text *t, mcr *ctx)
{
    memset(t, 0, sizeof *t);
    t->ctx = ctx;
    t->status = MCR_OK;
}

void mcr_text_free(mcr_text *t)
{
    mcr *ctx = t->ctx;
    mcr_free(ctx, t->bytes);
    mcr_text_init(t, ctx);
}

/* Reserves space for count more bytes and the NUL. */
static bool reserve(mcr_text *t, size_t count)
{
    if (t->status != MCR_OK)
        return false;
    if (count > (size_t)(INT64_MAX - t->length - 1))
        t->status = mcr_fail(t->ctx, MCR_NO_MEMORY, "out of memory: a text is too long");
    else
        t->status = mcr_reserve(t->ctx, &t->bytes, &t->capacity, t->length + (int64_t)count + 1, 1);
    return t->status == MCR_OK;
}

char *mcr_text_extend(mcr_text *t, size_t count)
{
    if (!reserve(t, count))
        return NULL;
    char *to = t->bytes + t->length;
    t->length += (int64_t)count;
    to[count] = '\0';
    return to;
}

void mcr_text_add(mcr_text *t, const void *bytes, size_t count)
{
    char *to = mcr_text_extend(t, count);
    if (to && count > 0)
        memcpy(to, bytes, count);
}

void mcr_text_string(mcr_text *t, const char *s)
{
    mcr_text_add(t, s, strlen(s));
}

void mcr_text_real(mcr_text *t, double value)
{
    if (!reserve(t, MCR_REAL_TEXT))
        return;
    t->length += mcr_print_real(t->bytes + t->length, value);
}

void mcr_text_int(mcr_text *t, int64_t value)
{
    char digits[24], *p = digits + sizeof digits;
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    do {
        *--p = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    if (value < 0)
        *--p = '-';
    mcr_text_add(t, p, (size_t)(digits + sizeof digits - p));
}

void mcr_text_format(mcr_text *t, const char *format, ...)
{
    char brief[256];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(brief, sizeof brief, format, args);
    va_end(args);
    if (length < 0) {
        if (t->status == MCR_OK)
            t->status = mcr_fail(t->ctx, MCR_BAD_CALL, "a text cannot be formatted");
    } else if ((size_t)length < sizeof brief) {
        mcr_text_add(t, brief, (size_t)length);
    } else if (reserve(t, (size_t)length)) {
        va_start(args, format);
        vsnprintf(t->bytes + t->length, (size_t)length + 1, format, args);
        va_end(args);
        t->length += length;
    }
}
