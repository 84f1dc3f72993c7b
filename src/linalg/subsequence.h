/* subsequence.h (internal): the recursion of the string subsequence kernel for several strings at
 * once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_LINALG_SUBSEQUENCE_H
#define MCR_LINALG_SUBSEQUENCE_H

#include <stdint.h>

/* The longest subsequences with specialised code. */
enum { MCR_SUBSEQUENCE_MOST = 64 };
/* The largest number of letters of t in a tile. */
enum { MCR_SUBSEQUENCE_TILE = 64 };

/* One string s against strings t that are placed in `lanes` lanes, several one after the other in
 * each: every string begins with a new tile, and its last tile is padded with a letter that does
 * not occur. "real" is float or double, depending on the kit; blocks are 64-byte aligned. */
typedef struct mcr_subsequence_job {
    int64_t p; /* 1 .. MCR_SUBSEQUENCE_MOST */
    double lambda;
    const unsigned char *s;
    int64_t s_length;
    int64_t tiles;    /* per lane */
    int64_t columns;  /* letters per tile: at most kit->columns() */
    const void *t;    /* from kit->pack: tiles x columns x lanes reals */
    const void *goes; /* from kit->pack: tiles x lanes reals */
    void *buffer;     /* (MCR_SUBSEQUENCE_TILE + 2 s_length) * (p - 1) * lanes reals */
    void *k;          /* tiles x lanes reals: the contribution of each tile to its string's K */
} mcr_subsequence_job;

typedef struct mcr_subsequence_kit {
    int64_t lanes;
    int64_t (*columns)(int64_t p, double lambda); /* letters per tile, at most */
    /* Puts a string into `tiles` tiles of a lane, from tile `first` on. */
    void (*pack)(void *t, void *goes, int64_t columns, int64_t lane, int64_t first, int64_t tiles,
                 const unsigned char *string, int64_t length);
    void (*run)(const mcr_subsequence_job *job);
} mcr_subsequence_kit;

#endif
