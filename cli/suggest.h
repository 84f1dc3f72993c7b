/* suggest.h: the nearest valid word to one that is not.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_SUGGEST_H
#define CLI_SUGGEST_H

/* Keeps the nearest of the words offered. Start with {word, NULL, 0}. */
typedef struct cli_suggestion {
    const char *word;    /* what the user wrote */
    const char *nearest; /* NULL: none is near */
    int distance;
} cli_suggestion;

void cli_suggest(cli_suggestion *s, const char *candidate);

#endif
