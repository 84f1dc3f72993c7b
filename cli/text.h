/* text.h: formatting of results for people: aligned, plain, coloured only where that helps.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_TEXT_H
#define CLI_TEXT_H

#include <stdint.h>
#include <stdio.h>

typedef enum cli_style { CLI_PLAIN, CLI_BOLD, CLI_GOOD, CLI_BAD, CLI_DOUBT } cli_style;

/* Begins a style or (CLI_PLAIN) ends it: "" unless the stream is a terminal and NO_COLOR is not
 * set. */
const char *cli_style_code(FILE *to, cli_style style);

/* A line of a summary: the name in its column, then the value without control characters. */
void cli_say(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same for a word in a style, with an explanation. */
void cli_say_word(const char *name, cli_style style, const char *word, const char *rest);
/* The length in bytes of the control character at this position, 0 if there is none. Includes
 * U+0080 to U+009F, which terminals interpret. */
int cli_control_bytes(const char *at);
/* Text with control characters shown as '?', at most `most` bytes. */
void cli_put_clean(FILE *to, const char *text, size_t most);
/* A small matrix with 6 significant digits, columns aligned, each line indented. */
void cli_put_matrix(const double *value, int64_t rows, int64_t cols, int64_t ld, int indent);
/* "1 object", "3 objects". Returns text, which has space for 64 bytes. */
const char *cli_count_text(char *text, int64_t count, const char *noun);
/* "1.5 MB". Returns text, which has space for 32 bytes. */
const char *cli_bytes_text(char *text, double bytes);
/* Width of a stream's terminal, 80 if it is not a terminal. */
int cli_width(FILE *of);

#endif
