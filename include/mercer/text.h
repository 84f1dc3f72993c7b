/* text.h: helpers for programs that print words, numbers and strings.
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

/* The edit distance between `word` and `name` (insert, delete, replace, swap neighbours), ignoring
 * case; a common beginning counts as near. -1: too far for "did you mean". */
MCR_API int mcr_word_distance(const char *word, const char *name);

enum { MCR_REAL_TEXT = 32 };
/* Writes the shortest text that reads back as the same double, or float ("0.1", "1e-5", "3", "-0",
 * "inf", "nan"), terminated by a NUL, independent of the locale; returns its length. */
MCR_API int mcr_print_real(char text[MCR_REAL_TEXT], double value);
MCR_API int mcr_print_float(char text[MCR_REAL_TEXT], float value);

/* Writes a string as JSON, in quotes: calls `put` with one piece after the other. Bytes that are
 * not UTF-8 become U+FFFD. */
typedef void mcr_put(void *to, const char *bytes, size_t count);
MCR_API void mcr_json_string(mcr_put *put, void *to, const char *bytes, size_t length);

#ifdef __cplusplus
}
#endif
#endif
