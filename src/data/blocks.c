/* blocks.c: a text file as large blocks of whole lines.
 *
 * Two buffers alternate. The incomplete line at the end of one is copied in front of the bytes of
 * the other, where HEAD bytes are reserved for it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "data/blocks.h"

#include <math.h>
#include <string.h>

static const size_t HEAD = (size_t)16 << 10;
static const size_t FIRST_BLOCK = (size_t)256 << 10; /* enough for small files */
static const size_t BLOCK = (size_t)2 << 20;
static const size_t LINE_LIMIT = (size_t)1 << 30;

void mcr_blocks_open(mcr_blocks *b, mcr *ctx, mcr_input *in)
{
    *b = (mcr_blocks){
        .ctx = ctx, .in = in, .want = FIRST_BLOCK, .left = mcr_input_size(in), .begun = mcr_now()};
}

void mcr_blocks_close(mcr_blocks *b)
{
    mcr_free_all(b->ctx, b->now.bytes, b->ahead.bytes);
    *b = (mcr_blocks){0};
}

/* Makes space for `more` bytes after those in the buffer. */
static mcr_status reserve(mcr_blocks *b, mcr_buffer *buffer, size_t more)
{
    if (buffer->end + more <= buffer->capacity)
        return MCR_OK;
    if (mcr_resize_at(b->ctx, &buffer->bytes, buffer->end + more + 1, 1))
        return MCR_NO_MEMORY;
    buffer->capacity = buffer->end + more;
    return MCR_OK;
}

static mcr_status append(mcr_blocks *b, mcr_buffer *buffer, size_t count)
{
    size_t got;
    mcr_status status = reserve(b, buffer, count);
    if (status == MCR_OK)
        status = mcr_input_some(b->in, buffer->bytes + buffer->end, count, &got);
    if (status != MCR_OK)
        return status;
    buffer->end += got;
    b->ended = got < count;
    b->left -= (double)got;
    return MCR_OK;
}

/* The next block; no more than is left of the file and a byte, which shows that it ends there: new
 * memory behind a buffer that is mostly empty would be touched for nothing. */
static size_t next_size(const mcr_blocks *b)
{
    return b->left >= 0 && b->left < (double)BLOCK ? (size_t)b->left + 1 : BLOCK;
}

mcr_status mcr_blocks_read_ahead(mcr_blocks *b)
{
    if (b->has_ahead || b->ended)
        return MCR_OK;
    b->ahead.first = b->ahead.end = HEAD;
    mcr_status status = append(b, &b->ahead, b->want);
    b->want = next_size(b);
    b->has_ahead = status == MCR_OK;
    return status;
}

/* Puts the incomplete line before the bytes read ahead or, if it is long, appends these to it. */
static mcr_status join(mcr_blocks *b, size_t rest)
{
    mcr_buffer *old = &b->now, *new = &b->ahead;
    if (rest <= new->first) {
        new->first -= rest;
        if (rest > 0)
            memcpy(new->bytes + new->first, old->bytes + old->end - rest, rest);
        mcr_buffer swap = *old;
        *old = *new;
        *new = swap;
        return MCR_OK;
    }
    size_t count = new->end - new->first;
    old->first = old->end - rest;
    mcr_status status = reserve(b, old, count);
    if (status == MCR_OK) {
        memcpy(old->bytes + old->end, new->bytes + new->first, count);
        old->end += count;
    }
    return status;
}

static mcr_status report(mcr_blocks *b)
{
    if (!mcr_report_step(b->ctx, "reading", mcr_now() - b->begun, b->blocks++, NAN, NAN))
        return MCR_OK;
    return mcr_fail_at(b->ctx, MCR_STOPPED, mcr_input_name(b->in), 0, "reading was stopped");
}

mcr_status mcr_blocks_next(mcr_blocks *b)
{
    mcr_buffer *now = &b->now;
    size_t rest = b->bytes != NULL ? now->end - now->first - b->count : 0;
    b->bytes = NULL;
    b->count = 0;
    if (rest > b->want)
        b->want = rest;
    mcr_status status = report(b);
    if (status == MCR_OK)
        status = mcr_blocks_read_ahead(b);
    if (status == MCR_OK && b->has_ahead) {
        b->has_ahead = false;
        status = join(b, rest);
    } else {
        now->first = now->end - rest;
    }
    const char *newline = NULL;
    while (status == MCR_OK) {
        size_t have = now->end - now->first;
        newline = have > 0 ? memrchr(now->bytes + now->first, '\n', have) : NULL;
        if (newline != NULL || b->ended)
            break;
        if (have >= LINE_LIMIT)
            return mcr_fail_at(b->ctx, MCR_BAD_DATA, mcr_input_name(b->in), 0,
                               "a line is longer than 1 GiB");
        status = append(b, now, have);
    }
    if (status != MCR_OK)
        return status;
    if (b->ended && now->end > now->first && now->bytes[now->end - 1] != '\n') {
        now->bytes[now->end++] = '\n';
        newline = now->bytes + now->end - 1;
    }
    b->last = b->ended;
    if (newline != NULL) {
        b->bytes = now->bytes + now->first;
        b->count = (size_t)(newline + 1 - b->bytes);
    }
    return MCR_OK;
}
