/* subsequence.h (internal): the recursion of the string subsequence kernel for several strings at once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_LINALG_SUBSEQUENCE_H
#define MCR_LINALG_SUBSEQUENCE_H

#include <stdint.h>

/* The longest subsequences that have code of their own. */
enum { MCR_SUBSEQUENCE_MOST = 64 };

/* One string s against `lanes` strings t, which stand side by side. "real" is float or double by the
 * kit that runs it; blocks are 64-byte aligned. */
typedef struct mcr_subsequence_job {
    int64_t p; /* 1 .. MCR_SUBSEQUENCE_MOST */
    double lambda;
    const unsigned char *s;
    int64_t s_length;
    const void *t;    /* from kit->pack */
    int64_t t_length; /* of the longest */
    void *room;       /* real: t_length * (p - 1) * lanes */
    void *k;          /* real: lanes results */
} mcr_subsequence_job;

typedef struct mcr_subsequence_kit {
    int64_t lanes;
    /* Puts a string into one lane of t, whose longest string has t_length letters: t_length * lanes
     * reals. Strings of length 0 for lanes that are not used. */
    void (*pack)(void *t, int64_t t_length, int64_t lane, const unsigned char *string,
                 int64_t length);
    void (*run)(const mcr_subsequence_job *job);
} mcr_subsequence_kit;

#endif
