/* zip.c: the directory of a zip archive, checked before anything is unpacked.
 *
 * Only the directory at the end is authoritative: local headers of members that were written to a
 * pipe have no sizes, and NumPy's have 64-bit ones whatever the size.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "data/format/zip.h"

#include <string.h>

enum {
    LOCAL = 0x04034b50,   /* signatures */
    CENTRAL = 0x02014b50, /* an entry of the directory */
    END = 0x06054b50,
    LOCAL_BYTES = 30, /* without the name and other variable parts */
    CENTRAL_BYTES = 46,
    END_BYTES = 22,
    COMMENT_MOST = 65535,
    ENCRYPTED = 1 | 1 << 6 | 1 << 13, /* flags */
    STORED = 0,
    DEFLATED = 8
};

static unsigned two(const unsigned char *p)
{
    return p[0] | (unsigned)p[1] << 8;
}

static uint32_t four(const unsigned char *p)
{
    return two(p) | (uint32_t)two(p + 2) << 16;
}

static mcr_status damaged(const mcr_zip *zip, const char *what)
{
    return mcr_fail_at(zip->ctx, MCR_BAD_DATA, zip->file, 0, "damaged archive: %s", what);
}

/* The end record: it ends the file, except for a comment whose length it gives. */
static const unsigned char *find_end(const unsigned char *bytes, size_t count)
{
    for (size_t comment = 0; comment <= COMMENT_MOST && comment + END_BYTES <= count; comment++) {
        const unsigned char *p = bytes + count - END_BYTES - comment;
        if (four(p) == END && two(p + 20) == comment)
            return p;
    }
    return NULL;
}

/* The entry at p, of which `left` bytes are available; *bytes: its length. */
static mcr_status read_entry(mcr_zip_entry *e, const mcr_zip *zip, const unsigned char *p,
                             size_t left, size_t *bytes)
{
    if (left < CENTRAL_BYTES || four(p) != CENTRAL)
        return damaged(zip, "its directory has a gap");
    *bytes = (size_t)CENTRAL_BYTES + two(p + 28) + two(p + 30) + two(p + 32);
    if (left < *bytes)
        return damaged(zip, "its directory ends early");
    *e = (mcr_zip_entry){.name = (const char *)p + CENTRAL_BYTES,
                         .length = two(p + 28),
                         .flags = two(p + 8),
                         .method = two(p + 10),
                         .sum = four(p + 16),
                         .packed = four(p + 20),
                         .size = four(p + 24),
                         .offset = four(p + 42)};
    if (e->packed == UINT32_MAX || e->size == UINT32_MAX || e->offset == UINT32_MAX)
        return mcr_fail_at(zip->ctx, MCR_BAD_DATA, zip->file, 0,
                           "members of 4 GiB or more are not read; save the arrays as .npy files");
    return MCR_OK;
}

mcr_status mcr_zip_open(mcr_zip *zip, mcr *ctx, const char *file, const void *bytes, size_t count)
{
    *zip = (mcr_zip){.ctx = ctx, .file = file, .bytes = bytes};
    const unsigned char *end = find_end(bytes, count);
    if (end == NULL)
        return damaged(zip, "it has no end record; the file may be cut off");
    size_t entries = two(end + 10), size = four(end + 12), start = four(end + 16);
    if (entries == UINT16_MAX || size == UINT32_MAX || start == UINT32_MAX)
        return mcr_fail_at(ctx, MCR_BAD_DATA, file, 0,
                           "archives of 4 GiB or more are not read; save the arrays as .npy files");
    if (two(end + 4) != 0 || two(end + 6) != 0 || two(end + 8) != entries)
        return mcr_fail_at(ctx, MCR_BAD_DATA, file, 0,
                           "this is one part of an archive in several parts");
    if (start > (size_t)(end - zip->bytes) || size != (size_t)(end - zip->bytes) - start)
        return damaged(zip, "its directory is not where it should be");
    zip->directory = start;
    zip->entry = mcr_alloc_zero(ctx, entries > 0 ? entries : 1, sizeof *zip->entry);
    if (zip->entry == NULL)
        return MCR_NO_MEMORY;
    const unsigned char *p = zip->bytes + start;
    for (; (size_t)zip->count < entries; zip->count++) {
        size_t took = 0;
        mcr_status status = read_entry(&zip->entry[zip->count], zip, p, (size_t)(end - p), &took);
        if (status != MCR_OK)
            return status;
        p += took;
    }
    return p == end ? MCR_OK : damaged(zip, "its directory has more entries than it says");
}

void mcr_zip_close(mcr_zip *zip)
{
    mcr_free(zip->ctx, zip->entry);
    *zip = (mcr_zip){0};
}

static mcr_status check_method(const mcr_zip *zip, const mcr_zip_entry *e, const char *name)
{
    if (e->flags & ENCRYPTED)
        return mcr_fail_at(zip->ctx, MCR_BAD_DATA, name, 0, "it is encrypted");
    if (e->method != STORED && e->method != DEFLATED)
        return mcr_fail_at(zip->ctx, MCR_BAD_DATA, name, 0,
                           "compression method %u is not known; use numpy.savez_compressed",
                           e->method);
    if (e->method == STORED && e->packed != e->size)
        return mcr_fail_at(zip->ctx, MCR_BAD_DATA, name, 0,
                           "damaged archive: its two sizes differ");
    return MCR_OK;
}

/* Overlapping members are how small archives unpack to huge sizes. */
static bool overlaps(const mcr_zip *zip, int64_t entry, size_t end)
{
    size_t start = zip->entry[entry].offset;
    for (int64_t i = 0; i < zip->count; i++) {
        const mcr_zip_entry *e = &zip->entry[i];
        size_t least = e->offset + LOCAL_BYTES + e->length + e->packed;
        if (i != entry && e->offset < end && least > start)
            return true;
    }
    return false;
}

mcr_status mcr_zip_input(mcr_input **out, const mcr_zip *zip, int64_t entry, const char *name)
{
    const mcr_zip_entry *e = &zip->entry[entry];
    *out = NULL;
    mcr_status status = check_method(zip, e, name);
    if (status != MCR_OK)
        return status;
    const unsigned char *p = zip->bytes + e->offset;
    size_t left = e->offset < zip->directory ? zip->directory - e->offset : 0;
    if (left < LOCAL_BYTES || four(p) != LOCAL)
        return mcr_fail_at(zip->ctx, MCR_BAD_DATA, name, 0,
                           "damaged archive: it is not where the directory says");
    size_t head = (size_t)LOCAL_BYTES + two(p + 26) + two(p + 28);
    if (left < head || left - head < e->packed)
        return mcr_fail_at(zip->ctx, MCR_BAD_DATA, name, 0, "damaged archive: it ends early");
    if (two(p + 8) != e->method || two(p + 26) != e->length ||
        memcmp(p + LOCAL_BYTES, e->name, e->length) != 0)
        return mcr_fail_at(zip->ctx, MCR_BAD_DATA, name, 0,
                           "damaged archive: its header and the directory differ");
    if (overlaps(zip, entry, e->offset + head + e->packed))
        return mcr_fail_at(zip->ctx, MCR_BAD_DATA, name, 0,
                           "damaged archive: it shares bytes with another member");
    mcr_member member = {.bytes = p + head,
                         .count = e->packed,
                         .deflated = e->method == DEFLATED,
                         .size = e->size,
                         .sum = e->sum};
    return mcr_input_member(out, zip->ctx, name, &member);
}
