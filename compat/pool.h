/* pool.h: memory that goes from one fold to the next.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef COMPAT_POOL_H
#define COMPAT_POOL_H

#include <stddef.h>

typedef struct compat_pool compat_pool;

/* NULL: out of memory. */
compat_pool *compat_pool_open(void);

/* Frees the blocks that are kept. None may be in use. */
void compat_pool_close(compat_pool *pool);

/* Bytes of the blocks that are kept and not in use. */
size_t compat_pool_bytes(compat_pool *pool);

/* Works like realloc, as mcr_config has it; `user` is the compat_pool. May be called by several
 * threads at once. */
void *compat_pool_realloc(void *user, void *block, size_t old_bytes, size_t new_bytes);

#endif
