/* votes.h (internal): votes of one-vs-one machines for several objects at once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_LINALG_VOTES_H
#define MCR_LINALG_VOTES_H

#include <stdint.h>

/* Terms that are added in float before their sum is added to that of the others. */
enum { MCR_VOTE_GROUP = 32 };

/* Pairs (a, b), a < b, are numbered in the order (0, 1), (0, 2) ... (1, 2) ...; a wins where the
 * score is above 0. "voters" is that of the kit. */
typedef struct mcr_vote_job {
    int64_t classes;
    const int64_t *first; /* classes + 1: rows first[c] .. first[c + 1] - 1 of k are those of c */
    const float *const *coef; /* of each class: one row of coefficients per other class, in order */
    const float *offset;      /* of each pair */
    const float *error;       /* of each pair: scores that are not larger decide nothing */
    const float *k;           /* support vectors x voters: kernel values */
    float *won, *lost;        /* classes x voters: pairs that are decided, by object */
} mcr_vote_job;

typedef struct mcr_vote_kit {
    int32_t voters; /* objects at once */
    void (*count)(const mcr_vote_job *job);
} mcr_vote_kit;

#endif
