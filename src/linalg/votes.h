/* votes.h (internal): votes of one-vs-one classifiers for several objects at once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_LINALG_VOTES_H
#define MCR_LINALG_VOTES_H

#include <stdint.h>

/* Terms that are summed in float before the sum is added to the total. */
enum { MCR_VOTE_GROUP = 32 };

/* Pairs (a, b), a < b, are numbered in the order (0, 1), (0, 2) ... (1, 2) ...; a wins if the score
 * is above 0. "voters" is the kit's number of objects. */
typedef struct mcr_vote_job {
    int64_t classes;
    const int64_t *first;     /* classes + 1: rows first[c] .. first[c + 1] - 1 of k are class c */
    const float *const *coef; /* per class: one row of coefficients for each other class */
    const float *offset;      /* per pair */
    const float *error;       /* per pair: |scores| up to this are undecided */
    const float *k;           /* support vectors x voters: kernel values, rows k_ld apart */
    int64_t k_ld;
    float *sum;        /* pairs x voters: a buffer for scores; NULL: too many pairs */
    float *won, *lost; /* classes x voters: numbers of decided pairs, for each object */
} mcr_vote_job;

typedef struct mcr_vote_kit {
    int32_t voters; /* objects at once */
    void (*count)(const mcr_vote_job *job);
} mcr_vote_kit;

#endif
