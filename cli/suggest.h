/* suggest.h: suggests the closest valid word for an invalid one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_SUGGEST_H
#define CLI_SUGGEST_H

/* Keeps the closest of the words offered. Start with {word, NULL, 0}. */
typedef struct cli_suggestion {
    const char *word;    /* what the user wrote */
    const char *nearest; /* NULL: none is close */
    int distance;
} cli_suggestion;

void cli_suggest(cli_suggestion *s, const char *candidate);

#endif
