/* container.c: the model file.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "model/container.h"

#include <string.h>

#include "base/context.h"

/* The line end in it reveals a transfer in text mode that has altered the file. */
const char mcr_model_magic[MCR_MODEL_MAGIC_BYTES] = {'M', 'E', 'R', 'C', 'E', 'R', '\r', '\n'};

enum { HEADER = MCR_MODEL_MAGIC_BYTES + 4, SECTION_HEADER = 12, SECTION_TAIL = 4 };

static void store(unsigned char *to, uint64_t v, int bytes)
{
    for (int i = 0; i < bytes; i++)
        to[i] = (unsigned char)(v >> (8 * i));
}

static uint64_t fetch(const unsigned char *from, int bytes)
{
    uint64_t v = 0;
    for (int i = 0; i < bytes; i++)
        v |= (uint64_t)from[i] << (8 * i);
    return v;
}

/* ---- writing ----------------------------------------------------------------------------------*/

static uint64_t real_bits(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

/* Space for `count` numbers; NULL if out of memory. */
static unsigned char *extend(mcr_text *t, int64_t count, size_t bytes)
{
    return (unsigned char *)mcr_text_extend(t, (size_t)count * bytes);
}

void mcr_put_u32(mcr_text *t, uint32_t v)
{
    unsigned char *to = extend(t, 1, 4);
    if (to)
        store(to, v, 4);
}

void mcr_put_i64(mcr_text *t, int64_t v)
{
    unsigned char *to = extend(t, 1, 8);
    if (to)
        store(to, (uint64_t)v, 8);
}

void mcr_put_text(mcr_text *t, const char *text)
{
    mcr_put_i64(t, text ? (int64_t)strlen(text) : -1);
    if (text)
        mcr_text_add(t, text, strlen(text));
}

void mcr_put_texts(mcr_text *t, const char *const *text, int64_t count)
{
    mcr_put_i64(t, count);
    for (int64_t i = 0; i < count; i++)
        mcr_put_text(t, text[i]);
}

void mcr_put_i32_run(mcr_text *t, const int32_t *v, int64_t count)
{
    unsigned char *to = extend(t, count, 4);
    for (int64_t i = 0; to && i < count; i++)
        store(to + 4 * i, (uint32_t)v[i], 4);
}

void mcr_put_real_run(mcr_text *t, const double *v, int64_t count)
{
    unsigned char *to = extend(t, count, 8);
    for (int64_t i = 0; to && i < count; i++)
        store(to + 8 * i, real_bits(v[i]), 8);
}

void mcr_put_i32s(mcr_text *t, const int32_t *v, int64_t count)
{
    mcr_put_i64(t, count);
    mcr_put_i32_run(t, v, count);
}

void mcr_put_i64s(mcr_text *t, const int64_t *v, int64_t count)
{
    mcr_put_i64(t, count);
    unsigned char *to = extend(t, count, 8);
    for (int64_t i = 0; to && i < count; i++)
        store(to + 8 * i, (uint64_t)v[i], 8);
}

void mcr_put_reals(mcr_text *t, const double *v, int64_t count)
{
    mcr_put_i64(t, count);
    mcr_put_real_run(t, v, count);
}

int64_t mcr_section_begin(mcr_text *file, const char tag[4])
{
    int64_t start = file->length;
    mcr_text_add(file, tag, 4);
    mcr_put_i64(file, 0); /* the length, filled in at the end */
    return start;
}

void mcr_section_end(mcr_text *file, int64_t start)
{
    if (file->status)
        return;
    int64_t length = file->length - start - SECTION_HEADER;
    store((unsigned char *)file->bytes + start + 4, (uint64_t)length, 8);
    mcr_put_u32(file, mcr_checksum(file->bytes + start, (size_t)(file->length - start)));
}

void mcr_put_section(mcr_text *file, const char tag[4], const mcr_text *payload)
{
    int64_t start = mcr_section_begin(file, tag);
    if (payload)
        mcr_text_add(file, payload->bytes, (size_t)payload->length);
    if (payload && payload->status && !file->status)
        file->status = payload->status;
    mcr_section_end(file, start);
}

/* ---- reading ----------------------------------------------------------------------------------*/

static const unsigned char *take(mcr_reader *r, size_t count)
{
    if (r->bad || (size_t)(r->end - r->at) < count) {
        r->bad = true;
        return NULL;
    }
    const unsigned char *p = r->at;
    r->at += count;
    return p;
}

uint32_t mcr_get_u32(mcr_reader *r)
{
    const unsigned char *p = take(r, 4);
    return p ? (uint32_t)fetch(p, 4) : 0;
}

int64_t mcr_get_i64(mcr_reader *r)
{
    const unsigned char *p = take(r, 8);
    return p ? (int64_t)fetch(p, 8) : 0;
}

int64_t mcr_get_count(mcr_reader *r, size_t size)
{
    int64_t count = mcr_get_i64(r);
    if (!r->bad && (count < 0 || (uint64_t)count > (uint64_t)(r->end - r->at) / size))
        r->bad = true;
    return r->bad ? 0 : count;
}

static void *array(mcr_reader *r, int64_t *count, size_t size)
{
    *count = mcr_get_count(r, size);
    if (r->bad)
        return NULL;
    void *block = mcr_alloc(r->ctx, (size_t)*count, size);
    if (!block)
        r->bad = r->short_of_memory = true;
    return block;
}

int32_t *mcr_get_i32s(mcr_reader *r, int64_t *count)
{
    int32_t *v = array(r, count, sizeof *v);
    const unsigned char *p = v ? take(r, (size_t)*count * 4) : NULL;
    for (int64_t i = 0; p && i < *count; i++)
        v[i] = (int32_t)(uint32_t)fetch(p + 4 * i, 4);
    return v;
}

int64_t *mcr_get_i64s(mcr_reader *r, int64_t *count)
{
    int64_t *v = array(r, count, sizeof *v);
    const unsigned char *p = v ? take(r, (size_t)*count * 8) : NULL;
    for (int64_t i = 0; p && i < *count; i++)
        v[i] = (int64_t)fetch(p + 8 * i, 8);
    return v;
}

double *mcr_get_reals(mcr_reader *r, int64_t *count)
{
    double *v = array(r, count, sizeof *v);
    const unsigned char *p = v ? take(r, (size_t)*count * 8) : NULL;
    for (int64_t i = 0; p && i < *count; i++) {
        uint64_t bits = fetch(p + 8 * i, 8);
        memcpy(&v[i], &bits, sizeof bits);
    }
    return v;
}

char *mcr_get_bytes(mcr_reader *r, int64_t *count)
{
    char *v = array(r, count, 1);
    const unsigned char *p = v ? take(r, (size_t)*count) : NULL;
    if (p)
        memcpy(v, p, (size_t)*count);
    return v;
}

char *mcr_get_text(mcr_reader *r)
{
    if ((size_t)(r->end - r->at) >= 8 && (int64_t)fetch(r->at, 8) == -1) {
        r->at += 8;
        return NULL;
    }
    int64_t count = mcr_get_count(r, 1);
    const unsigned char *p = take(r, (size_t)count);
    if (p && memchr(p, 0, (size_t)count))
        r->bad = true;
    if (r->bad)
        return NULL;
    char *text = mcr_copy_text(r->ctx, (const char *)p, (size_t)count);
    if (!text)
        r->bad = r->short_of_memory = true;
    return text;
}

char **mcr_get_texts(mcr_reader *r, int64_t count)
{
    char **text = r->bad ? NULL : mcr_alloc_zero(r->ctx, (size_t)count, sizeof *text);
    if (!text && !r->bad)
        r->bad = r->short_of_memory = true;
    for (int64_t i = 0; i < count && !r->bad; i++)
        r->bad = !(text[i] = mcr_get_text(r));
    if (!r->bad)
        return text;
    mcr_free_each(r->ctx, text, count);
    return NULL;
}

mcr_status mcr_reader_damaged(const mcr_reader *r, const char *what)
{
    return mcr_fail_at(r->ctx, MCR_BAD_DATA, r->file, 0,
                       "the model file is damaged (%s); restore it or train again", what);
}

mcr_status mcr_reader_end(const mcr_reader *r)
{
    if (r->short_of_memory)
        return MCR_NO_MEMORY;
    return r->bad || r->at != r->end ? mcr_reader_damaged(r, r->what) : MCR_OK;
}

/* ---- sections ---------------------------------------------------------------------------------*/

static mcr_status damaged(const mcr_container *c, const char *what)
{
    return mcr_reader_damaged(&(mcr_reader){.ctx = c->ctx, .file = c->file}, what);
}

mcr_status mcr_container_check(const mcr_container *c)
{
    const unsigned char *p = c->bytes, *end = p + c->count;
    if (c->count < HEADER || memcmp(p, mcr_model_magic, MCR_MODEL_MAGIC_BYTES) != 0)
        return mcr_fail_at(c->ctx, MCR_BAD_DATA, c->file, 0, "not a model file of Mercer");
    uint32_t version = (uint32_t)fetch(p + MCR_MODEL_MAGIC_BYTES, 4);
    if (version == 0 || version > MCR_MODEL_VERSION)
        return mcr_fail_at(c->ctx, MCR_BAD_DATA, c->file, 0,
                           "a model file of format %lu; this version of Mercer reads up to %d: use "
                           "a newer version",
                           (unsigned long)version, MCR_MODEL_VERSION);
    for (p += HEADER;;) {
        if ((size_t)(end - p) < SECTION_HEADER + SECTION_TAIL)
            return damaged(c, "it ends early");
        uint64_t length = fetch(p + 4, 8), space = (uint64_t)(end - p);
        if (length > space - SECTION_HEADER - SECTION_TAIL)
            return damaged(c, "it ends early");
        size_t whole = SECTION_HEADER + (size_t)length;
        if (mcr_checksum(p, whole) != (uint32_t)fetch(p + whole, 4))
            return damaged(c, "a checksum does not fit");
        bool last = memcmp(p, "END ", 4) == 0;
        p += whole + SECTION_TAIL;
        if (last)
            return p == end ? MCR_OK : damaged(c, "something follows its end");
    }
}

bool mcr_container_has(const mcr_container *c, const char tag[4], const char *what, mcr_reader *out)
{
    for (const unsigned char *p = c->bytes + HEADER; memcmp(p, "END ", 4) != 0;) {
        size_t length = (size_t)fetch(p + 4, 8);
        if (memcmp(p, tag, 4) == 0) {
            *out = (mcr_reader){.ctx = c->ctx,
                                .at = p + SECTION_HEADER,
                                .end = p + SECTION_HEADER + length,
                                .file = c->file,
                                .what = what};
            return true;
        }
        p += SECTION_HEADER + length + SECTION_TAIL;
    }
    return false;
}

mcr_status mcr_container_find(const mcr_container *c, const char tag[4], const char *what,
                              mcr_reader *out)
{
    return mcr_container_has(c, tag, what, out) ? MCR_OK : damaged(c, "a part is missing");
}
