/* mismatches.h (internal): kernels that are sums over pairs of words (substrings of one length), by
 * the number of places where the two words differ: mismatch and gkm.
 *
 *     K(x,z) = sum over words a of x and b of z of h(number of places where a and b differ)
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_KERNEL_MISMATCHES_H
#define MCR_KERNEL_MISMATCHES_H

#include "kernel/kernel.h"

enum { MCR_MISMATCHES_LENGTH_MAX = 64 };

typedef struct mcr_mismatches {
    int64_t length;                          /* of a word */
    int64_t most;                            /* differences: h is 0 beyond */
    double h[MCR_MISMATCHES_LENGTH_MAX + 1]; /* of 0 .. most */
    bool
        both_strands; /* DNA: the words of z are also read backwards with A-T and C-G exchanged; the
                          letters are A C G T, small or capital, words with others do not count */
} mcr_mismatches;

/* A leaf's bind: all values are computed here and kept (they come from the memory budget). */
mcr_status mcr_mismatches_bind(mcr_bound *bound, const mcr_mismatches *what);
/* unbind, block and diagonal of a leaf that has either bound so or listed its features. */
void mcr_mismatches_unbind(mcr_bound *bound);
mcr_status mcr_mismatches_block(const mcr_bound *bound, const mcr_tile *tile);
mcr_status mcr_mismatches_diagonal(const mcr_bound *bound, int side, mcr_rows rows, double *k);

#endif
