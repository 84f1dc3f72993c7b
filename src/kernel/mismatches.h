/* mismatches.h (internal): mismatch and gkm, kernels that are sums over pairs of words (substrings
 * of one length), depending on the number of positions where the words differ:
 *
 *     K(x,z) = sum over words a of x and b of z of h(number of positions where a and b differ)
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_KERNEL_MISMATCHES_H
#define MCR_KERNEL_MISMATCHES_H

#include "kernel/kernel.h"

enum { MCR_MISMATCHES_LENGTH_MAX = 64 };

typedef struct mcr_mismatches {
    int64_t length;                          /* length of a word */
    int64_t most;                            /* mismatches: h is 0 beyond */
    double h[MCR_MISMATCHES_LENGTH_MAX + 1]; /* for 0 .. most mismatches */
    bool both_strands; /* DNA: also compares the reverse complements of the words of z; the letters
                       * are A C G T in any case, words with other letters are ignored */
} mcr_mismatches;

/* Bind of a leaf: all values are computed here and stored (in the memory budget). */
mcr_status mcr_mismatches_bind(mcr_bound *bound, const mcr_mismatches *what);
/* unbind, block and diagonal of a leaf that was bound this way or has listed its features. */
void mcr_mismatches_unbind(mcr_bound *bound);
mcr_status mcr_mismatches_block(const mcr_bound *bound, const mcr_tile *tile);
mcr_status mcr_mismatches_diagonal(const mcr_bound *bound, int side, mcr_rows rows, double *k);

#endif
