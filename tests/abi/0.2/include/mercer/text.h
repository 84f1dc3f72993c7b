/* text.h: words and strings, for programs that print what the library says.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MERCER_TEXT_H
#define MERCER_TEXT_H

#include <stddef.h>

#include <mercer/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How far `word` is from `name` by edits (insert, delete, replace, swap neighbours), case aside; one
 * that begins like the other counts as near. -1: too far for "did you mean". */
MCR_API int mcr_word_distance(const char *word, const char *name);

/* A string as JSON, in quotes, handed to `put` piece by piece. Bytes that are not UTF-8 become
 * U+FFFD. */
typedef void mcr_put(void *to, const char *bytes, size_t count);
MCR_API void mcr_json_string(mcr_put *put, void *to, const char *bytes, size_t length);

#ifdef __cplusplus
}
#endif
#endif
