/* fuzz_framing.h: model files of Mercer whose sections are altered while lengths and checksums stay
 * right: hardly any other altered container is read to its end.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef FUZZ_FRAMING_H
#define FUZZ_FRAMING_H

#include "fuzz_models.h"
#include "fuzz_mutate.h"

#include "model/container.h"

enum { HEADER = 12, SECTION_HEADER = 12, SECTION_TAIL = 4 };

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t count, size_t capacity, unsigned seed);

typedef void fuzz_check_file(const uint8_t *bytes, size_t count);

static bool is_tag(const uint8_t *at)
{
    static const char tags[][5] = {"INFO", "KERN", "KER2", "CERT", "CLAS", "COEF", "TARG",
                                   "MORE", "SCAL", "TUNE", "TABL", "COLS", "OBJS", "END "};
    for (size_t t = 0; t < sizeof tags / sizeof *tags; t++)
        if (memcmp(at, tags[t], 4) == 0)
            return true;
    return false;
}

/* Where the next section begins, or the end. */
static size_t next_tag(const uint8_t *bytes, size_t at, size_t count)
{
    while (at + 4 <= count && !is_tag(bytes + at))
        at++;
    return at + 4 <= count ? at : count;
}

/* A section reaches up to the next tag: its length and checksum are put right. */
static void check_framed(fuzz_check_file *check, const uint8_t *bytes, size_t count)
{
    mcr *ctx = fuzz_open();
    mcr_text file;
    mcr_text_init(&file, ctx);
    mcr_text_add(&file, mcr_model_magic, MCR_MODEL_MAGIC_BYTES);
    mcr_put_u32(&file, MCR_MODEL_VERSION);
    for (size_t at = next_tag(bytes, HEADER, count), next; at < count; at = next) {
        next = next_tag(bytes, at + 4, count);
        mcr_text part;
        mcr_text_init(&part, ctx);
        if (next - at > SECTION_HEADER + SECTION_TAIL && bytes[at] != 'E')
            mcr_text_add(&part, bytes + at + SECTION_HEADER,
                         next - at - SECTION_HEADER - SECTION_TAIL);
        mcr_put_section(&file, (const char *)bytes + at, &part);
        mcr_text_free(&part);
    }
    if (file.status != MCR_OK)
        abort();
    check((const uint8_t *)file.bytes, (size_t)file.length);
    mcr_text_free(&file);
    mcr_close(ctx);
}

/* One section is altered; lengths and checksums are put right, so that the mutant is read to its
 * end. */
static size_t mutate_section(uint8_t *bytes, size_t count, size_t capacity, unsigned seed)
{
    size_t start[64], sections = 0;
    for (size_t at = next_tag(bytes, HEADER, count); at < count && sections < 64;
         at = next_tag(bytes, at + 4, count))
        start[sections++] = at;
    if (sections < 2)
        return LLVMFuzzerMutate(bytes, count, capacity);
    size_t which = fuzz_next(&seed) % (sections - 1), at = start[which];
    size_t first = at + SECTION_HEADER, end = start[which + 1] - SECTION_TAIL, rest = count - end;
    static uint8_t tail[1 << 16];
    if (first > end || rest > sizeof tail || end - first + rest > capacity)
        return LLVMFuzzerMutate(bytes, count, capacity);
    memcpy(tail, bytes + end, rest);
    size_t length = LLVMFuzzerMutate(bytes + first, end - first, capacity - first - rest);
    memcpy(bytes + first + length, tail, rest);
    for (int i = 0; i < 8; i++)
        bytes[at + 4 + (size_t)i] = (uint8_t)((uint64_t)length >> (8 * i));
    uint32_t sum = mcr_checksum(bytes + at, SECTION_HEADER + length);
    for (int i = 0; i < 4; i++)
        bytes[first + length + (size_t)i] = (uint8_t)(sum >> (8 * i));
    return first + length + rest;
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t count, size_t capacity, unsigned seed)
{
    if (count > HEADER && memcmp(bytes, mcr_model_magic, MCR_MODEL_MAGIC_BYTES) == 0 && seed % 4)
        return mutate_section(bytes, count, capacity, seed / 4);
    return LLVMFuzzerMutate(bytes, count, capacity);
}

#endif
