/* sized.h: structs of the public interface that may grow; <mercer/context.h> states the rule.
 *
 * The macros take the struct's type. ctx may be NULL in calls without a context; then there is no
 * message.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_BASE_SIZED_H
#define MCR_BASE_SIZED_H

#include <mercer/context.h>

/* Copies the caller's struct into the layout of this version; fields that it lacks are 0. from
 * NULL: all fields are 0. */
#define MCR_SIZED_READ(type, to, ctx, from) mcr_sized_read(to, ctx, from, sizeof(type), #type)
mcr_status mcr_sized_read(void *to, mcr *ctx, const void *from, size_t known, const char *type);

/* Whether the size of an output struct is set; checked before long work. */
#define MCR_SIZED_CHECK(type, ctx, out) mcr_sized_check(ctx, out, sizeof(type), #type)
mcr_status mcr_sized_check(mcr *ctx, const void *out, size_t known, const char *type);

/* Fills the caller's struct from that of this version. */
#define MCR_SIZED_WRITE(type, out, ctx, from) mcr_sized_write(out, ctx, from, sizeof(type), #type)
mcr_status mcr_sized_write(void *out, mcr *ctx, const void *from, size_t known, const char *type);

#endif
