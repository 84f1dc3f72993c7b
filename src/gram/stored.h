/* stored.h (internal): a Gram whose values are in memory, and some objects of any Gram.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_GRAM_STORED_H
#define MCR_GRAM_STORED_H

#include "gram/gram.h"

/* A symmetric matrix of kernel values. For solvers that read the values in place (mcr_gram_values)
 * ld is mcr_stored_ld(n) or more, a multiple of MCR_ROW_PAD; what is beyond the columns is 0, and one
 * row of zeros follows the last. */
typedef struct mcr_stored {
    int64_t n, ld;
    const void *k;          /* float *, or double * if `precise` */
    bool precise;           /* k is in double */
    const double *diagonal; /* NULL: read from k */
    /* The same objects, where the floats are not all there is: values in double and bounds on the
     * rounding come from it. It must outlive the Gram; NULL: none. */
    mcr_gram *exact;
} mcr_stored;

/* From row to row of a matrix that solvers read in place. */
static inline int64_t mcr_stored_ld(int64_t n)
{
    return (n / MCR_ROW_PAD + 1) * MCR_ROW_PAD;
}

/* Copies the description, not the matrix: that must outlive the Gram. Any number of threads may read
 * it, each with a Gram of its own (mcr_gram_share). */
mcr_status mcr_gram_stored(mcr_gram **out, mcr *ctx, const mcr_stored *stored);

/* All of K in float if the Gram holds it, rows *ld apart; else NULL. */
const float *mcr_gram_values(const mcr_gram *gram, int64_t *ld);
/* Whether the floats of mcr_gram_values are all there is: no value is known better. */
bool mcr_gram_is_float(const mcr_gram *gram);

/* K of listed rows against listed columns (NULL: the same objects as the rows, of a symmetric Gram).
 * The lists are copied; `of` must outlive the view. */
mcr_status mcr_gram_list(mcr_gram **out, mcr_gram *of, const mcr_rows *x, const mcr_rows *z);

#endif
