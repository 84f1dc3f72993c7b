/* fuzz_reader.h: what the fuzz targets of the readers share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef FUZZ_READER_H
#define FUZZ_READER_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <mercer/data.h>

#include "data/format/formats.h"
#include "data/write.h"

/* A context with a small budget, so that a file that claims to be huge is refused. */
static inline mcr *fuzz_open(void)
{
    mcr_config config = {.size = sizeof config, .threads = 1, .memory_bytes = (size_t)16 << 20};
    mcr *ctx;
    if (mcr_open(&ctx, &config) != MCR_OK)
        abort();
    return ctx;
}

/* What every read must give: data or a message, and all values of the data can be looked at. */
static inline void fuzz_check(mcr *ctx, mcr_status status, mcr_data *data)
{
    if ((status == MCR_OK) != (data != NULL) || (status != MCR_OK && !mcr_message(ctx)[0]))
        abort();
    if (!data)
        return;
    if (mcr_data_count(data) < 1 || mcr_data_fields(data) < 1)
        abort();
    for (int64_t f = 0; f < mcr_data_fields(data); f++) {
        mcr_field_info info = MCR_INIT(mcr_field_info);
        const char *bytes;
        int64_t length;
        if (mcr_data_field_info(data, f, &info) != MCR_OK || info.entries < 0)
            abort();
        for (int64_t i = 0; i < mcr_data_count(data) && info.kind == MCR_STRINGS; i++)
            if (mcr_data_string(data, f, i, &bytes, &length) != MCR_OK || length < 0)
                abort();
    }
    for (int64_t c = 0; c < mcr_data_classes(data); c++)
        if (!mcr_data_class_name(data, c))
            abort();
}

/* What a reader hands over as checked must pass the check. */
static inline void fuzz_stores(const mcr_data *data)
{
    for (int64_t f = 0; data && f < mcr_data_fields(data); f++)
        if (mcr_store_check(data->store[f]) != MCR_OK)
            abort();
}

static inline void fuzz_write(mcr_text *to, const mcr_data *data, const mcr_writer *writer)
{
    if (writer->head)
        writer->head(to, data);
    for (int64_t i = 0; i < mcr_data_count(data); i++)
        writer->row(to, data, i);
    if (to->status != MCR_OK)
        abort();
}

/* What a writer says it holds must read back as it was. */
static inline void fuzz_round_trip(mcr *ctx, const mcr_data *data, const mcr_format *format)
{
    char why[MCR_WHY];
    mcr_text first, second;
    mcr_data *again = NULL;
    mcr_read_options options = {.size = sizeof options,
                                .format = format->name,
                                .target = mcr_data_targets(data) ? NULL : "none"};
    if (!format->writer->holds(data, why))
        return;
    mcr_text_init(&first, ctx);
    mcr_text_init(&second, ctx);
    fuzz_write(&first, data, format->writer);
    if (mcr_data_read_memory(&again, ctx, "output", first.bytes, (size_t)first.length, &options) !=
        MCR_OK)
        abort();
    fuzz_write(&second, again, format->writer);
    if (first.length != second.length ||
        memcmp(first.bytes, second.bytes, (size_t)first.length) != 0)
        abort();
    mcr_data_free(again);
    mcr_text_free(&first);
    mcr_text_free(&second);
}

/* Reads the input in a format that is not written, and writes it as JSON lines. */
static inline void fuzz_unwritten(const char *format, const uint8_t *bytes, size_t count)
{
    mcr_read_options options = {.size = sizeof options, .format = format};
    mcr_data *data = NULL;
    mcr *ctx = fuzz_open();
    mcr_status status = mcr_data_read_memory(&data, ctx, "input", bytes, count, &options);
    fuzz_check(ctx, status, data);
    fuzz_stores(data);
    if (data)
        fuzz_round_trip(ctx, data, &mcr_format_jsonl);
    mcr_data_free(data);
    mcr_close(ctx);
}

/* Reads the input in that format, with labels and without, and writes it again. */
static inline void fuzz_read(const mcr_format *format, const uint8_t *bytes, size_t count)
{
    for (int i = 0; i < 2; i++) {
        mcr_read_options options = {
            .size = sizeof options, .format = format->name, .target = i ? "none" : NULL};
        mcr_data *data = NULL;
        mcr *ctx = fuzz_open();
        mcr_status status = mcr_data_read_memory(&data, ctx, "input", bytes, count, &options);
        fuzz_check(ctx, status, data);
        if (data) {
            fuzz_round_trip(ctx, data, format);
            fuzz_round_trip(ctx, data, &mcr_format_jsonl);
        }
        mcr_data_free(data);
        mcr_close(ctx);
    }
}

#endif
