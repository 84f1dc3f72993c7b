/* collect.c: helpers of readers for strings and labels.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "data/format/collect.h"

#include <string.h>
#include <strings.h>

#include "base/hash.h"
#include "data/builder.h"

mcr_status mcr_strings_open(mcr_strings *s, mcr *ctx, const char *name)
{
    *s = (mcr_strings){.ctx = ctx};
    mcr_status status = mcr_store_new(&s->store, ctx, name, MCR_STRINGS);
    if (status == MCR_OK)
        status = mcr_reserve(ctx, &s->store->bytes, &s->byte_capacity, 1, 1);
    if (status == MCR_OK)
        status = mcr_reserve(ctx, &s->store->start, &s->start_capacity, 1, sizeof(int64_t));
    if (status == MCR_OK)
        s->store->start[0] = 0;
    else
        mcr_strings_close(s);
    return status;
}

mcr_status mcr_strings_add(mcr_strings *s, const char *bytes, size_t length)
{
    mcr_store *store = s->store;
    mcr_status status = mcr_reserve(s->ctx, &store->start, &s->start_capacity, store->count + 2,
                                    sizeof(int64_t));
    if (status != MCR_OK)
        return status;
    store->count++;
    store->start[store->count] = store->start[store->count - 1];
    return mcr_strings_extend(s, bytes, length, NULL);
}

mcr_status mcr_strings_extend(mcr_strings *s, const char *bytes, size_t length, char **to)
{
    mcr_store *store = s->store;
    int64_t used = store->start[store->count];
    mcr_status status = mcr_reserve(s->ctx, &store->bytes, &s->byte_capacity,
                                    used + (int64_t)length, 1);
    if (status != MCR_OK)
        return status;
    if (bytes && length > 0)
        memcpy(store->bytes + used, bytes, length);
    if (to)
        *to = store->bytes + used;
    store->start[store->count] = used + (int64_t)length;
    return MCR_OK;
}

int64_t mcr_strings_count(const mcr_strings *s)
{
    return s->store->count;
}

mcr_status mcr_strings_finish(mcr_strings *s, mcr_builder *builder)
{
    mcr_store *store = s->store;
    s->store = NULL;
    return mcr_builder_take(builder, store);
}

void mcr_strings_close(mcr_strings *s)
{
    mcr_store_free(s->store);
    s->store = NULL;
}

/* The slot of a word, or the free slot where it would go. */
static int64_t find_slot(const mcr_words *words, const char *text, size_t length)
{
    int64_t mask = words->slots - 1;
    int64_t i = (int64_t)mcr_hash_bytes(words->ctx, 0, text, length) & mask;
    for (; words->slot[i]; i = (i + 1) & mask) {
        const char *other = words->word[words->slot[i] - 1];
        if (strlen(other) == length && memcmp(other, text, length) == 0)
            break;
    }
    return i;
}

static mcr_status grow_slots(mcr_words *words, mcr *ctx)
{
    if (2 * words->count < words->slots)
        return MCR_OK;
    int64_t slots = words->slots ? 2 * words->slots : 32;
    int32_t *slot = mcr_alloc_zero(ctx, (size_t)slots, sizeof *slot);
    if (!slot)
        return MCR_NO_MEMORY;
    mcr_free(ctx, words->slot);
    words->ctx = ctx;
    words->slot = slot;
    words->slots = slots;
    for (int64_t w = 0; w < words->count; w++)
        slot[find_slot(words, words->word[w], strlen(words->word[w]))] = (int32_t)(w + 1);
    return MCR_OK;
}

mcr_status mcr_words_number(mcr_words *words, mcr *ctx, const char *text, size_t length,
                            int32_t *number)
{
    mcr_status status = grow_slots(words, ctx);
    if (status != MCR_OK)
        return status;
    int64_t i = find_slot(words, text, length);
    if (!words->slot[i]) {
        if (words->count == INT32_MAX - 1)
            return mcr_fail(ctx, MCR_BAD_DATA, "more than 2147483646 different words");
        status = mcr_reserve(ctx, &words->word, &words->capacity, words->count + 1, sizeof(char *));
        if (status != MCR_OK)
            return status;
        char *copy = mcr_copy_text(ctx, text, length);
        if (!copy)
            return MCR_NO_MEMORY;
        words->word[words->count++] = copy;
        words->slot[i] = (int32_t)words->count;
    }
    *number = words->slot[i] - 1;
    return MCR_OK;
}

int32_t mcr_words_find(const mcr_words *words, const char *text, size_t length)
{
    return words->slots > 0 ? words->slot[find_slot(words, text, length)] - 1 : -1;
}

void mcr_words_free(mcr_words *words, mcr *ctx)
{
    mcr_free_each(ctx, words->word, words->count);
    mcr_free(ctx, words->slot);
    *words = (mcr_words){0};
}

bool mcr_labels_have_known(const mcr_read_options *options)
{
    return options != NULL && options->known != NULL;
}

mcr_status mcr_labels_hand_over(mcr_builder *builder, mcr_labels *labels, mcr_input *in,
                                const mcr_read_options *options)
{
    bool are = true;
    mcr_status status = MCR_OK;
    if (labels != NULL && mcr_labels_have_known(options))
        status = mcr_labels_are_known(labels, options->known, &are);
    if (status == MCR_OK && are)
        return mcr_builder_labels(builder, labels);
    if (status == MCR_OK)
        mcr_log(builder->ctx, MCR_LOG_WARNING,
                "%s: no label is a class of the model: labels are treated as names, and "
                "predictions are not evaluated",
                mcr_input_name(in));
    mcr_labels_close(labels);
    return status;
}

mcr_status mcr_label_take(mcr_labels *labels, mcr_input *in, const char *text, size_t length)
{
    if (length == 0)
        return mcr_input_fail(in, "the label is empty");
    if (memchr(text, 0, length))
        return mcr_input_fail(in, "the label contains a NUL byte");
    return mcr_labels_add(labels, text, length);
}

bool mcr_target_is_none(const mcr_read_options *options)
{
    return options && options->target && strcmp(options->target, "none") == 0;
}

mcr_status mcr_target_names(mcr_words *words, mcr *ctx, const mcr_read_options *options)
{
    const char *list = options ? options->target : NULL;
    mcr_status status = MCR_OK;
    if (!list || mcr_target_is_none(options))
        return MCR_OK;
    for (const char *p = list; status == MCR_OK; p++) {
        size_t length = strcspn(p, ",");
        int64_t before = words->count;
        int32_t number;
        status = mcr_words_number(words, ctx, p, length, &number);
        if (status == MCR_OK && words->count == before)
            return mcr_fail(ctx, MCR_BAD_CALL, "target \"%s\": \"%s\" occurs twice", list,
                            words->word[number]);
        p += length;
        if (*p == '\0')
            break;
    }
    return status;
}

void mcr_line_skip_mark(const char **line, size_t *length)
{
    while (*length >= 3 && memcmp(*line, "\xef\xbb\xbf", 3) == 0) {
        *line += 3;
        *length -= 3;
    }
}

bool mcr_extension_is(const char *name, const char *const *extensions)
{
    const char *dot = name ? strrchr(name, '.') : NULL;
    if (!dot || !extensions)
        return false;
    for (; *extensions; extensions++)
        if (strcasecmp(dot + 1, *extensions) == 0)
            return true;
    return false;
}
