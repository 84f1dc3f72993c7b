/* neighbours.h (internal): the feature vectors of mismatch: for every word of the alphabet, how
 * many words of a string are within m mismatches of it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_KERNEL_NEIGHBOURS_H
#define MCR_KERNEL_NEIGHBOURS_H

#include "kernel/kernel.h"

/* Ends a leaf's bind with listed features where there are so few that this is less work than
 * comparing all pairs of words, or where that is wanted and possible; *done says so. letters: of
 * the alphabet, at least those that occur. */
mcr_status mcr_neighbours_bind(mcr_bound *bound, mcr_binding *binding, int64_t k, int64_t m,
                               int64_t letters, bool *done);

#endif
