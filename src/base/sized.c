/* sized.c: structs of older and newer callers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/sized.h"

#include <string.h>

#include "base/context.h"

/* No version adds this much at once: a larger size is uninitialised memory. */
enum { MOST_ADDED = 4096 };

static size_t size_of(const void *sized)
{
    size_t size;
    memcpy(&size, sized, sizeof size);
    return size;
}

static mcr_status refuse(mcr *ctx, const char *type, const char *fault)
{
    return ctx ? mcr_fail(ctx, MCR_BAD_CALL, "%s: %s", type, fault) : MCR_BAD_CALL;
}

mcr_status mcr_sized_check(mcr *ctx, const void *out, size_t known, const char *type)
{
    size_t size = size_of(out);
    if (size < sizeof size || size > known + MOST_ADDED)
        return refuse(ctx, type, "its size is not set: initialise it with MCR_INIT");
    return MCR_OK;
}

mcr_status mcr_sized_read(void *to, mcr *ctx, const void *from, size_t known, const char *type)
{
    mcr_status status = MCR_OK;
    memset(to, 0, known);
    if (from) {
        status = mcr_sized_check(ctx, from, known, type);
        size_t size = status ? 0 : size_of(from);
        const unsigned char *bytes = from;
        for (size_t i = known; i < size && !status; i++)
            if (bytes[i])
                status = refuse(ctx, type, "a field is set that only newer versions support");
        if (!status)
            memcpy(to, from, size < known ? size : known);
    }
    memcpy(to, &known, sizeof known);
    return status;
}

mcr_status mcr_sized_write(void *out, mcr *ctx, const void *from, size_t known, const char *type)
{
    mcr_status status = mcr_sized_check(ctx, out, known, type);
    if (status)
        return status;
    size_t size = size_of(out), both = size < known ? size : known;
    memcpy((char *)out + sizeof size, (const char *)from + sizeof size, both - sizeof size);
    memset((char *)out + both, 0, size - both);
    return MCR_OK;
}
