/* zip.h (internal to the readers): the members of a zip archive that is in memory.
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
    size_t offset; /* of its own header */
} mcr_zip_entry;

typedef struct mcr_zip {
    mcr *ctx;
    const char *file; /* for messages */
    const unsigned char *bytes;
    size_t directory; /* where it begins: members stand before it */
    mcr_zip_entry *entry;
    int64_t count;
} mcr_zip;

/* Reads the directory of `count` bytes, which are borrowed. Archives in several parts, and those
 * with 64-bit sizes in the directory (more than 4 GiB), are refused. */
mcr_status mcr_zip_open(mcr_zip *zip, mcr *ctx, const char *file, const void *bytes, size_t count);
void mcr_zip_close(mcr_zip *zip); /* also when open failed, or all is zero */
/* A member as an input called `name`. Refused: encrypted, another compression than deflate, one
 * that shares bytes with another member, or whose own header says something else. */
mcr_status mcr_zip_input(mcr_input **out, const mcr_zip *zip, int64_t entry, const char *name);

#endif
