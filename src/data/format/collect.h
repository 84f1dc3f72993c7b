/* collect.h (internal): helpers of readers for strings and labels.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_DATA_FORMAT_COLLECT_H
#define MCR_DATA_FORMAT_COLLECT_H

#include <stdbool.h>

#include "data/data.h"

/* A string field that is built string by string. */
typedef struct mcr_strings {
    mcr *ctx;
    mcr_store *store;
    int64_t start_capacity, byte_capacity;
} mcr_strings;

mcr_status mcr_strings_open(mcr_strings *s, mcr *ctx, const char *name);
mcr_status mcr_strings_add(mcr_strings *s, const char *bytes, size_t length);
/* Extends the last string: copies bytes or, if bytes is NULL, returns space to fill at *to. */
mcr_status mcr_strings_extend(mcr_strings *s, const char *bytes, size_t length, char **to);
int64_t mcr_strings_count(const mcr_strings *s);
/* Passes the field to the builder and closes s, even on failure. */
mcr_status mcr_strings_finish(mcr_strings *s, mcr_builder *builder);
void mcr_strings_close(mcr_strings *s); /* also allowed if open failed, or on a zeroed struct */

/* A map from words to numbers, in the order of first appearance. A zeroed struct is empty. */
typedef struct mcr_words {
    const mcr *ctx;
    char **word; /* NUL-terminated copies */
    int64_t count, capacity;
    int32_t *slot; /* open addressing: number + 1, 0: free; slots is a power of two */
    int64_t slots;
} mcr_words;

/* The word's number; a new word is added. At most 2^31 - 1 words without NUL. */
mcr_status mcr_words_number(mcr_words *words, mcr *ctx, const char *text, size_t length,
                            int32_t *number);
/* The word's number; -1: unknown. */
int32_t mcr_words_find(const mcr_words *words, const char *text, size_t length);
void mcr_words_free(mcr_words *words, mcr *ctx);

/* Adds a label read from `in`; an empty label, or one with a NUL, is refused. */
mcr_status mcr_label_take(mcr_labels *labels, mcr_input *in, const char *text, size_t length);
/* Whether the possible labels are known; others are then names. */
bool mcr_labels_have_known(const mcr_read_options *options);
/* Passes the labels of `in` to the builder and closes them (NULL allowed); labels that
 * options->known shows to be names are dropped, with a warning. */
mcr_status mcr_labels_hand_over(mcr_builder *builder, mcr_labels *labels, mcr_input *in,
                                const mcr_read_options *options);

/* Whether options->target is "none". */
bool mcr_target_is_none(const mcr_read_options *options);

/* The comma-separated names in options->target; none if it is NULL or "none". Duplicates are
 * refused. `words` must be empty; the caller frees it. */
mcr_status mcr_target_names(mcr_words *words, mcr *ctx, const mcr_read_options *options);

/* Skips UTF-8 byte order marks (concatenated files have several). */
void mcr_line_skip_mark(const char **line, size_t *length);

/* Whether name has one of the extensions ("fa", "fasta"; NULL-terminated), ignoring case.
 * extensions NULL: no. */
bool mcr_extension_is(const char *name, const char *const *extensions);

#endif
