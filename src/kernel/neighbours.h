/* neighbours.h (internal): the feature vectors of mismatch: for every word over the alphabet, the
 * number of words of a string within m mismatches of it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_KERNEL_NEIGHBOURS_H
#define MCR_KERNEL_NEIGHBOURS_H

#include "kernel/kernel.h"

/* Ends a leaf's bind with listed features if these are less work than comparing all pairs of words,
 * or if they are wanted and possible; *done: whether it did. letters: size of the alphabet, at
 * least the letters that occur. */
mcr_status mcr_neighbours_bind(mcr_bound *bound, mcr_binding *binding, int64_t k, int64_t m,
                               int64_t letters, bool *done);

#endif
