/* memory.c: aligned blocks over the user's realloc; sizes; the memory budget.
 *
 * A raw block from the hook holds, in this order: padding, a header, the block. The block starts at
 * a multiple of 64, directly after the header. The hook may return memory of any alignment and may
 * change the alignment when it moves a block, so the padding can change when a block is resized.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/context.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/limits.h"

enum { ALIGN = 64, MAGIC = 0x4d435242 };

typedef struct header {
    size_t bytes;    /* size of the block */
    uint32_t offset; /* offset of the block in the raw block */
    uint32_t magic;
} header;

enum { OVERHEAD = sizeof(header) + ALIGN - 1 };

/* The system maps memory when it is first touched, page by page, and each page fault takes longer
 * than computing the page's values. So large blocks request large pages, if the system provides
 * them on demand, and are aligned to them. The request may be ignored. */
static const size_t LARGE_PAGE = (size_t)1 << 21;

static void ask_for_large_pages(void *block, size_t bytes)
{
#ifdef MADV_HUGEPAGE
    const uintptr_t page = LARGE_PAGE;
    uintptr_t first = ((uintptr_t)block + page - 1) & ~(page - 1);
    uintptr_t end = ((uintptr_t)block + bytes) & ~(page - 1);
    if (block != NULL && bytes >= 2 * page && first < end)
        (void)madvise((void *)first, end - first, MADV_HUGEPAGE);
#else
    (void)block;
    (void)bytes;
#endif
}

static void *new_block(size_t bytes)
{
#ifdef MADV_HUGEPAGE
    void *block = NULL;
    if (bytes >= 2 * LARGE_PAGE)
        return posix_memalign(&block, LARGE_PAGE, bytes) == 0 ? block : NULL;
#endif
    return malloc(bytes);
}

void *mcr_default_realloc(void *user, void *block, size_t old_bytes, size_t new_bytes)
{
    (void)user;
    (void)old_bytes;
    if (new_bytes == 0) {
        free(block);
        return NULL;
    }
    block = block != NULL ? realloc(block, new_bytes) : new_block(new_bytes);
    ask_for_large_pages(block, new_bytes);
    return block;
}

static header *header_of(void *block)
{
    header *h = (header *)((char *)block - sizeof(header));
    assert(h->magic == MAGIC);
    return h;
}

static uint32_t offset_in(const void *raw)
{
    uintptr_t start = (uintptr_t)raw + sizeof(header);
    uintptr_t aligned = (start + ALIGN - 1) & ~(uintptr_t)(ALIGN - 1);
    return (uint32_t)(aligned - (uintptr_t)raw);
}

static void *set_header(void *raw, size_t bytes)
{
    uint32_t offset = offset_in(raw);
    char *block = (char *)raw + offset;
    header *h = (header *)(block - sizeof(header));
    h->bytes = bytes;
    h->offset = offset;
    h->magic = MAGIC;
    return block;
}

/* The system is out of memory: takes the block off the account and reports it. */
static void say_short(mcr *ctx, size_t bytes)
{
    mcr_memory_release(ctx, bytes);
    char text[MCR_SIZE_TEXT];
    mcr_fail(ctx, MCR_NO_MEMORY, "out of memory: the system cannot provide %s more",
             mcr_size_text(bytes, text));
}

/* False, with a message, if the size of the block is impossible. */
static bool block_bytes(mcr *ctx, uint64_t count, size_t size, size_t *bytes)
{
    size_t total;
    if ((size_t)count == count && mcr_size_mul((size_t)count, size, bytes) &&
        mcr_size_add(*bytes, OVERHEAD, &total) && total <= PTRDIFF_MAX)
        return true;
    mcr_fail(ctx, MCR_NO_MEMORY,
             "out of memory: %" PRIu64 " elements of %zu bytes are more than any system has", count,
             size);
    return false;
}

void *mcr_alloc(mcr *ctx, uint64_t count, size_t size)
{
    size_t bytes;
    if (!block_bytes(ctx, count, size, &bytes) || !mcr_memory_admit(ctx, bytes))
        return NULL;
    void *raw = ctx->config.realloc(ctx->config.user, NULL, 0, bytes + OVERHEAD);
    if (raw == NULL) {
        say_short(ctx, bytes);
        return NULL;
    }
    return set_header(raw, bytes);
}

void *mcr_alloc_zero(mcr *ctx, uint64_t count, size_t size)
{
    size_t bytes;
    if (!block_bytes(ctx, count, size, &bytes))
        return NULL;
    if (ctx->config.realloc == mcr_default_realloc) {
        if (!mcr_memory_admit(ctx, bytes))
            return NULL;
        /* calloc knows which pages are fresh from the system and need no clearing. */
        void *raw = calloc(1, bytes + OVERHEAD);
        if (raw == NULL) {
            say_short(ctx, bytes);
            return NULL;
        }
        ask_for_large_pages(raw, bytes);
        return set_header(raw, bytes);
    }
    void *block = mcr_alloc(ctx, count, size);
    if (block != NULL)
        memset(block, 0, bytes);
    return block;
}

void *mcr_resize(mcr *ctx, void *block, uint64_t count, size_t size)
{
    if (block == NULL)
        return mcr_alloc(ctx, count, size);
    size_t bytes;
    if (!block_bytes(ctx, count, size, &bytes))
        return NULL;
    const header old = *header_of(block);
    size_t more = bytes > old.bytes ? bytes - old.bytes : 0;
    if (more > 0 && !mcr_memory_admit(ctx, more))
        return NULL;
    char *raw = (char *)block - old.offset;
    char *moved = ctx->config.realloc(ctx->config.user, raw, old.bytes + OVERHEAD,
                                      bytes + OVERHEAD);
    if (moved == NULL) {
        say_short(ctx, more);
        return NULL;
    }
    if (bytes < old.bytes)
        mcr_memory_release(ctx, old.bytes - bytes);
    uint32_t offset = offset_in(moved);
    if (offset != old.offset)
        memmove(moved + offset, moved + old.offset, bytes < old.bytes ? bytes : old.bytes);
    return set_header(moved, bytes);
}

void mcr_free(mcr *ctx, void *block)
{
    if (block == NULL)
        return;
    header *h = header_of(block);
    const header old = *h;
    h->magic = 0;
    mcr_memory_release(ctx, old.bytes);
    ctx->config.realloc(ctx->config.user, (char *)block - old.offset, old.bytes + OVERHEAD, 0);
}

bool mcr_alloc_list(mcr *ctx, uint64_t count, void *(*alloc)(mcr *, uint64_t, size_t),
                    double **const *array, size_t arrays)
{
    bool ok = true;
    for (size_t i = 0; i < arrays; i++) {
        *array[i] = ok ? alloc(ctx, count, sizeof(double)) : NULL;
        ok = *array[i] != NULL;
    }
    return ok;
}

void *mcr_alloc_array_list(mcr *ctx, const mcr_array *array, size_t arrays)
{
    size_t total = 0, bytes;
    for (size_t i = 0; i < arrays; i++)
        if (array[i].count > SIZE_MAX ||
            !mcr_size_mul((size_t)array[i].count, array[i].size, &bytes) ||
            !mcr_size_add(bytes, ALIGN - 1, &bytes) ||
            !mcr_size_add(total, bytes / ALIGN * ALIGN, &total))
            total = SIZE_MAX; /* which is refused */
    char *block = mcr_alloc(ctx, total, 1), *at = block;
    for (size_t i = 0; i < arrays; i++) {
        memcpy(array[i].to, &at, sizeof at); /* a T ** may not be written as a void ** */
        if (!block)
            continue;
        bytes = (size_t)array[i].count * array[i].size;
        if (array[i].cleared)
            memset(at, 0, bytes);
        at += (bytes + ALIGN - 1) / ALIGN * ALIGN;
    }
    return block;
}

void mcr_free_list(mcr *ctx, void *const *block, size_t count)
{
    for (size_t i = 0; i < count; i++)
        mcr_free(ctx, block[i]);
}

void mcr_free_each(mcr *ctx, void *list, int64_t count)
{
    for (int64_t i = 0; list && i < count; i++) {
        void *block;
        memcpy(&block, (char *)list + (size_t)i * sizeof block, sizeof block);
        mcr_free(ctx, block);
    }
    mcr_free(ctx, list);
}

char *mcr_copy_text(mcr *ctx, const char *text, size_t length)
{
    size_t bytes;
    if (!mcr_size_add(length, 1, &bytes)) {
        mcr_fail(ctx, MCR_NO_MEMORY, "out of memory: a text is too long");
        return NULL;
    }
    char *copy = mcr_alloc(ctx, bytes, 1);
    if (copy == NULL)
        return NULL;
    if (length > 0)
        memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

char **mcr_copy_texts(mcr *ctx, const char *const *text, int64_t count)
{
    char **copy = mcr_alloc_zero(ctx, (size_t)count, sizeof *copy);
    for (int64_t i = 0; i < count && copy != NULL; i++)
        if (!(copy[i] = mcr_copy_text(ctx, text[i], strlen(text[i])))) {
            mcr_free_each(ctx, copy, count);
            copy = NULL;
        }
    return copy;
}

mcr_status mcr_resize_at(mcr *ctx, void *block, uint64_t count, size_t size)
{
    /* A T ** must not be accessed as a void **; its bytes may be copied. */
    void *old;
    memcpy(&old, block, sizeof old);
    void *resized = mcr_resize(ctx, old, count, size);
    if (resized == NULL)
        return MCR_NO_MEMORY;
    memcpy(block, &resized, sizeof resized);
    return MCR_OK;
}

mcr_status mcr_reserve(mcr *ctx, void *block, int64_t *capacity, int64_t need, size_t size)
{
    assert(*capacity >= 0 && need >= 0);
    if (need <= *capacity)
        return MCR_OK;
    int64_t more = *capacity <= INT64_MAX / 2 ? 2 * *capacity : INT64_MAX;
    if (more < 16)
        more = 16;
    if (more < need)
        more = need;
    mcr_status status = mcr_resize_at(ctx, block, (uint64_t)more, size);
    if (status == MCR_OK)
        *capacity = more;
    return status;
}

bool mcr_size_mul(size_t a, size_t b, size_t *out)
{
    return !__builtin_mul_overflow(a, b, out);
}

bool mcr_size_add(size_t a, size_t b, size_t *out)
{
    return !__builtin_add_overflow(a, b, out);
}

mcr_status mcr_budget_take(mcr *ctx, size_t bytes, const char *what)
{
    pthread_mutex_lock(&ctx->lock);
    size_t left = ctx->config.memory_bytes - ctx->budget_used;
    bool fits = bytes <= left;
    if (fits)
        ctx->budget_used += bytes;
    pthread_mutex_unlock(&ctx->lock);
    if (fits)
        return MCR_OK;
    char need[MCR_SIZE_TEXT], rest[MCR_SIZE_TEXT], all[MCR_SIZE_TEXT];
    return mcr_advise(ctx,
                      mcr_fail(ctx, MCR_OVER_BUDGET,
                               "%s needs %s, but only %s of the memory budget of %s is left: allow "
                               "more, or use less data",
                               what, mcr_size_text(bytes, need), mcr_size_text(left, rest),
                               mcr_size_text(ctx->config.memory_bytes, all)),
                      "memory");
}

void mcr_budget_give(mcr *ctx, size_t bytes)
{
    pthread_mutex_lock(&ctx->lock);
    assert(bytes <= ctx->budget_used);
    ctx->budget_used -= bytes;
    pthread_mutex_unlock(&ctx->lock);
}

size_t mcr_budget_left(mcr *ctx)
{
    pthread_mutex_lock(&ctx->lock);
    size_t left = ctx->config.memory_bytes - ctx->budget_used;
    pthread_mutex_unlock(&ctx->lock);
    return left;
}
