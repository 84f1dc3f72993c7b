/* json.h: writes one JSON value incrementally.
 *
 * Within an object every value has a key; within a list, and for the outermost value, key is NULL.
 * Numbers are printed so that they read back the same; NaN and infinities become null. Bytes that
 * are not UTF-8 become U+FFFD.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_JSON_H
#define CLI_JSON_H

#include <stdint.h>
#include <stdio.h>

enum { CLI_JSON_DEPTH = 16 };

typedef struct cli_json {
    FILE *to;
    int depth;
    int filled[CLI_JSON_DEPTH]; /* the level already has a value */
    char closing[CLI_JSON_DEPTH];
} cli_json;

/* Begins the outermost object; cli_json_end at depth 1 closes it and ends the line. */
void cli_json_begin(cli_json *j, FILE *to);
void cli_json_object(cli_json *j, const char *key);
void cli_json_list(cli_json *j, const char *key);
void cli_json_end(cli_json *j);

void cli_json_text(cli_json *j, const char *key, const char *text); /* NULL: null */
void cli_json_real(cli_json *j, const char *key, double value);
void cli_json_seconds(cli_json *j, const char *key, double value); /* to the microsecond */
void cli_json_integer(cli_json *j, const char *key, int64_t value);
void cli_json_flag(cli_json *j, const char *key, int value);
void cli_json_null(cli_json *j, const char *key);
/* A list of numbers. */
void cli_json_reals(cli_json *j, const char *key, const double *value, int64_t count);
void cli_json_integers(cli_json *j, const char *key, const int64_t *value, int64_t count);

/* Text that is already JSON (verbatim), or becomes a string; with its length. */
void cli_json_raw(cli_json *j, const char *key, const char *text, size_t length, int verbatim);

/* A single string, in quotes. */
void cli_json_string(FILE *to, const char *text);

#endif
