/* pool.c: memory that goes from one fold to the next.
 *
 * The system clears each page before a program sees it. For a small training that takes as long as
 * computing the kernel values. The folds of a cross-validation need blocks of about the same sizes:
 * what one fold frees serves the next.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pool.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    LARGE = 1 << 16,      /* bytes: smaller blocks are left to malloc */
    MOST_BYTES = 1 << 28, /* that are kept */
    MOST_BLOCKS = 128,    /* that are kept */
    STEPS = 16,           /* sizes from one power of two to the next */
};

typedef struct spare {
    void *block;
    size_t bytes;
} spare;

struct compat_pool {
    pthread_mutex_t lock;
    spare spare[MOST_BLOCKS];
    int count;
    size_t bytes; /* of all spare blocks */
};

compat_pool *compat_pool_open(void)
{
    compat_pool *pool = calloc(1, sizeof *pool);
    if (pool && pthread_mutex_init(&pool->lock, NULL)) {
        free(pool);
        return NULL;
    }
    return pool;
}

void compat_pool_close(compat_pool *pool)
{
    if (pool == NULL)
        return;
    for (int i = 0; i < pool->count; i++)
        free(pool->spare[i].block);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}

size_t compat_pool_bytes(compat_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    size_t bytes = pool->bytes;
    pthread_mutex_unlock(&pool->lock);
    return bytes;
}

/* Folds differ by an object or two: large sizes are rounded up, so that the blocks of one fit the
 * next. */
static size_t rounded(size_t bytes)
{
    size_t step = LARGE / STEPS;
    if (bytes < LARGE)
        return bytes;
    while (step < bytes / (2 * STEPS))
        step *= 2;
    return bytes > SIZE_MAX - step ? bytes : (bytes + step - 1) / step * step;
}

static void *take_spare(compat_pool *pool, size_t bytes)
{
    void *block = NULL;
    pthread_mutex_lock(&pool->lock);
    for (int i = pool->count; i-- > 0 && block == NULL;)
        if (pool->spare[i].bytes == bytes) {
            block = pool->spare[i].block;
            pool->spare[i] = pool->spare[--pool->count];
            pool->bytes -= bytes;
        }
    pthread_mutex_unlock(&pool->lock);
    return block;
}

static void *take(compat_pool *pool, size_t bytes)
{
    enum { LARGE_PAGE = 1 << 21 };
    void *block = bytes < LARGE ? NULL : take_spare(pool, bytes);
    if (block || bytes < 2 * LARGE_PAGE)
        return block ? block : malloc(bytes);
    if (posix_memalign(&block, LARGE_PAGE, bytes))
        return NULL;
#ifdef MADV_HUGEPAGE
    (void)madvise(block, bytes / LARGE_PAGE * LARGE_PAGE, MADV_HUGEPAGE); /* may be ignored */
#endif
    return block;
}

static void give(compat_pool *pool, void *block, size_t bytes)
{
    if (block && bytes >= LARGE && bytes <= MOST_BYTES) {
        pthread_mutex_lock(&pool->lock);
        if (pool->count < MOST_BLOCKS && pool->bytes <= MOST_BYTES - bytes) {
            pool->spare[pool->count++] = (spare){block, bytes};
            pool->bytes += bytes;
            block = NULL;
        }
        pthread_mutex_unlock(&pool->lock);
    }
    free(block);
}

void *compat_pool_realloc(void *user, void *block, size_t old_bytes, size_t new_bytes)
{
    compat_pool *pool = user;
    size_t had = rounded(old_bytes), wanted = rounded(new_bytes);
    if (new_bytes == 0) {
        give(pool, block, had);
        return NULL;
    }
    if (block && had == wanted)
        return block;
    if (block && had < LARGE && wanted < LARGE)
        return realloc(block, wanted);
    void *moved = take(pool, wanted);
    if (moved && block) {
        memcpy(moved, block, old_bytes < new_bytes ? old_bytes : new_bytes);
        give(pool, block, had);
    }
    return moved;
}
