/* sized.h: structs that cross the public interface and may grow; <mercer/context.h> has the rule.
 *
 * The macros take the struct's type. ctx may be NULL where a call has none: then there is no
 * message.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_BASE_SIZED_H
#define MCR_BASE_SIZED_H

#include <mercer/context.h>

/* The caller's struct as this version knows it: fields it does not have are 0. from NULL: all
 * are. */
#define MCR_SIZED_READ(type, to, ctx, from) mcr_sized_read(to, ctx, from, sizeof(type), #type)
mcr_status mcr_sized_read(void *to, mcr *ctx, const void *from, size_t known, const char *type);

/* Whether the size of a struct to be filled is set: asked before long work. */
#define MCR_SIZED_CHECK(type, ctx, out) mcr_sized_check(ctx, out, sizeof(type), #type)
mcr_status mcr_sized_check(mcr *ctx, const void *out, size_t known, const char *type);

/* Fills the caller's struct from ours. */
#define MCR_SIZED_WRITE(type, out, ctx, from) mcr_sized_write(out, ctx, from, sizeof(type), #type)
mcr_status mcr_sized_write(void *out, mcr *ctx, const void *from, size_t known, const char *type);

#endif
