/* random.h (internal): counter-based random numbers with named streams.
 *
 * A stream is a key made of seed, name and number; the i-th draw is a function of key and i alone,
 * so results depend neither on threads nor on other draws. Philox4x32-10 (Salmon et al. 2011).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_BASE_RANDOM_H
#define MCR_BASE_RANDOM_H

#include <stdint.h>

typedef struct mcr_random {
    uint64_t key, counter;
    uint64_t spare; /* second half of the last Philox block */
    int has_spare;
} mcr_random;

mcr_random mcr_random_stream(uint64_t seed, const char *name, uint64_t number);
uint64_t mcr_random_bits(mcr_random *r);
double mcr_random_uniform(mcr_random *r);               /* in [0, 1), 53 bits */
double mcr_random_normal(mcr_random *r);                /* mean 0, variance 1 */
int64_t mcr_random_below(mcr_random *r, int64_t limit); /* 0 .. limit-1, without bias */
void mcr_random_shuffle(mcr_random *r, int64_t *items, int64_t count);

#endif
