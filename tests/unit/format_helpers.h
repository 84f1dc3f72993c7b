/* format_helpers.h: what the tests of the readers share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TEST_FORMAT_HELPERS_H
#define TEST_FORMAT_HELPERS_H

#include "helpers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <mercer/data.h>

#include "base/stream.h"

/* Reads text as a file called `name` in the given format (NULL: detected), target as in options. */
static inline mcr_status read_text(mcr_data **out, mcr *ctx, const char *name, const char *text,
                                   size_t length, const char *format, const char *target)
{
    mcr_read_options options = {.size = sizeof options, .format = format, .target = target};
    return mcr_data_read_memory(out, ctx, name, text, length, &options);
}

/* It is refused with exactly this message. */
static inline void refuse_text(mcr *ctx, const char *name, const char *text, const char *format,
                               const char *target, const char *message)
{
    mcr_data *data = NULL;
    mcr_status status = read_text(&data, ctx, name, text, strlen(text), format, target);
    assert_int_equal(status, MCR_BAD_DATA);
    assert_null(data);
    assert_string_equal(mcr_message(ctx), message);
}

/* A short text as gzip that is not compressed; how many bytes that are: 23 more than the text. */
static inline size_t pack_text(unsigned char *to, const char *text)
{
    static const unsigned char head[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff, 1};
    size_t length = strlen(text), at = sizeof head;
    uint32_t sum = mcr_checksum(text, length);
    memcpy(to, head, sizeof head);
    for (int i = 0; i < 2; i++) { /* a block as it is: its length, and the complement of that */
        to[at + (size_t)i] = (unsigned char)(length >> 8 * i);
        to[at + 2 + (size_t)i] = (unsigned char)(~length >> 8 * i);
    }
    memcpy(to + at + 4, text, length);
    at += 4 + length;
    for (int i = 0; i < 4; i++) {
        to[at + (size_t)i] = (unsigned char)(sum >> 8 * i);
        to[at + 4 + (size_t)i] = (unsigned char)(length >> 8 * i);
    }
    return at + 8;
}

static inline void same_string(const mcr_data *data, int64_t field, int64_t i, const char *bytes,
                               size_t length)
{
    const char *found;
    int64_t count;
    assert_int_equal(mcr_data_string(data, field, i, &found, &count), MCR_OK);
    assert_int_equal(count, length);
    assert_memory_equal(found, bytes, length);
}

static inline mcr_field_info field_info(const mcr_data *data, int64_t field)
{
    mcr_field_info info = MCR_INIT(mcr_field_info);
    assert_int_equal(mcr_data_field_info(data, field, &info), MCR_OK);
    return info;
}

/* The path of a file in the folder of data sets, or false, with a message, if it is not there. */
static inline bool find_data(char path[1024], const char *file)
{
    const char *folder = getenv("MERCER_DATA");
    snprintf(path, 1024, "%s/%s", folder && folder[0] ? folder : "../shared/data", file);
    if (access(path, R_OK) == 0)
        return true;
    print_message("skipped: %s is not there\n", path);
    return false;
}

#endif
