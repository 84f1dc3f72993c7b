/* definite.h (internal): the inverse of a small symmetric positive definite matrix, without a BLAS
 * library, because loading one takes longer than a few small inverses.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_LINALG_DEFINITE_H
#define MCR_LINALG_DEFINITE_H

#include <stdbool.h>
#include <stdint.h>

enum { MCR_DEFINITE_PAD = 16, MCR_DEFINITE_PIVOTS = 32 };

/* Rows, and values per row, of the memory for a matrix of order n. */
static inline int64_t mcr_definite_places(int64_t n)
{
    return (n + MCR_DEFINITE_PAD - 1) / MCR_DEFINITE_PAD * MCR_DEFINITE_PAD;
}

/* Size of the workspace, in values. */
static inline int64_t mcr_definite_work(int64_t n)
{
    return 2 * MCR_DEFINITE_PIVOTS * mcr_definite_places(n);
}

typedef struct mcr_definite_kit {
    /* The inverse in place, on the calling thread. a has mcr_definite_places(n) rows of as many
     * values, of which the lower triangle of order n is read and the square of order n is written;
     * the other values are undefined afterwards. a and work are aligned to 64 bytes. false: not
     * positive definite, and a is lost. */
    bool (*inverse)(int64_t n, double *a, double *work);
} mcr_definite_kit;

#endif
