/* collect.h (internal): what readers of strings and labels share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_DATA_FORMAT_COLLECT_H
#define MCR_DATA_FORMAT_COLLECT_H

#include <stdbool.h>

#include "data/data.h"

/* A string field that grows by one string at a time. */
typedef struct mcr_strings {
    mcr *ctx;
    mcr_store *store;
    int64_t start_capacity, byte_capacity;
} mcr_strings;

mcr_status mcr_strings_open(mcr_strings *s, mcr *ctx, const char *name);
mcr_status mcr_strings_add(mcr_strings *s, const char *bytes, size_t length);
/* More bytes for the last string: copied, or (bytes NULL) space that the caller fills at *to. */
mcr_status mcr_strings_extend(mcr_strings *s, const char *bytes, size_t length, char **to);
int64_t mcr_strings_count(const mcr_strings *s);
/* Hands the field over and closes s (also on failure). */
mcr_status mcr_strings_finish(mcr_strings *s, mcr_builder *builder);
void mcr_strings_close(mcr_strings *s); /* also when open failed, or all is zero */

/* Words to numbers, in the order of their first appearance. All zero is an empty one. */
typedef struct mcr_words {
    const mcr *ctx;
    char **word; /* NUL-terminated copies */
    int64_t count, capacity;
    int32_t *slot; /* open addressing: number + 1, 0: free; slots is a power of two */
    int64_t slots;
} mcr_words;

/* The word's number, a new one if it was not there. At most 2^31 - 1 words without NUL. */
mcr_status mcr_words_number(mcr_words *words, mcr *ctx, const char *text, size_t length,
                            int32_t *number);
/* The word's number, -1: it is not there. */
int32_t mcr_words_find(const mcr_words *words, const char *text, size_t length);
void mcr_words_free(mcr_words *words, mcr *ctx);

/* Adds a label that stands in `in`; an empty one, or one with a NUL, is refused. */
mcr_status mcr_label_take(mcr_labels *labels, mcr_input *in, const char *text, size_t length);
/* Whether it is known which labels there may be: others are then names. */
bool mcr_labels_have_known(const mcr_read_options *options);
/* Hands the labels of `in` to the builder and closes them (NULL allowed); those that options->known
 * shows to be names are dropped, with a warning. */
mcr_status mcr_labels_hand_over(mcr_builder *builder, mcr_labels *labels, mcr_input *in,
                                const mcr_read_options *options);

/* Whether the options say "none" for the target. */
bool mcr_target_is_none(const mcr_read_options *options);

/* The names in options->target, with commas between them; none where it is NULL or "none". One that
 * stands twice is refused. `words` must be empty, and is freed by the caller. */
mcr_status mcr_target_names(mcr_words *words, mcr *ctx, const mcr_read_options *options);

/* Moves past UTF-8 byte order marks (joined files have several), no part of the first line. */
void mcr_line_skip_mark(const char **line, size_t *length);

/* Whether name ends in one of the extensions ("fa", "fasta"; NULL-terminated), in any case.
 * extensions NULL: no. */
bool mcr_extension_is(const char *name, const char *const *extensions);

#endif
