/* zip.h (internal to the readers): the members of a zip archive in memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_DATA_FORMAT_ZIP_H
#define MCR_DATA_FORMAT_ZIP_H

#include "data/data.h"

/* A member as the archive's directory describes it. */
typedef struct mcr_zip_entry {
    const char *name; /* borrowed, not NUL-terminated */
    size_t length;
    unsigned flags, method;
    uint32_t sum, packed, size;
    size_t offset; /* offset of its local header */
} mcr_zip_entry;

typedef struct mcr_zip {
    mcr *ctx;
    const char *file; /* for messages */
    const unsigned char *bytes;
    size_t directory; /* offset of the directory: members come before it */
    mcr_zip_entry *entry;
    int64_t count;
} mcr_zip;

/* Reads the directory of an archive of `count` bytes, which are borrowed. Refuses multi-part
 * archives and those with 64-bit sizes (more than 4 GiB). */
mcr_status mcr_zip_open(mcr_zip *zip, mcr *ctx, const char *file, const void *bytes, size_t count);
void mcr_zip_close(mcr_zip *zip); /* also allowed if open failed, or on a zeroed struct */
/* Opens a member as an input named `name`. Refuses members that are encrypted, not stored or
 * deflated, overlap another member, or whose local header contradicts the directory. */
mcr_status mcr_zip_input(mcr_input **out, const mcr_zip *zip, int64_t entry, const char *name);

#endif
