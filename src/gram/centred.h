/* centred.h (internal): a Gram whose objects are centred in feature space, and weighted.
 *
 * With shares p_i that add up to 1 the mean is m = sum p_i Phi(x_i). The matrix
 *
 *   A_ij = sqrt(p_i p_j) (K_ij - m_i - m_j + t),   m_i = sum_j p_j K_ij,   t = sum_i p_i m_i
 *
 * has the eigenvalues of the covariance C = sum p_i (Phi(x_i) - m)(Phi(x_i) - m)'; its trace is the
 * total variance. If K = D D', then A = X X' with the rows sqrt(p_i) (d_i - m) in X, and C = X'X. X
 * is never computed: D stays as it is, sparse or in blocks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_GRAM_CENTRED_H
#define MCR_GRAM_CENTRED_H

#include "gram/gram.h"

/* share (n) is copied. `of` must outlive the Gram, which may change it: if the mean is very far
 * from the origin, a Gram that is kept as a half is centred in place. */
mcr_status mcr_gram_centred(mcr_gram **out, mcr_gram *of, const double *share);

typedef struct mcr_centre {
    const double *root, *mean; /* n: sqrt(p_i), m_i */
    double middle;             /* t */
    double total;              /* the trace of A; 0: there is nothing but rounding */
    const double *features;    /* of a Gram with a factor: m, one number per feature; else NULL */
} mcr_centre;
/* Computed when it is first needed: from the whole matrix if that is requested first, else by a
 * product. */
mcr_status mcr_gram_centre(mcr_gram *centred, const mcr_centre **centre);
/* sqrt(p_i), which is always known. */
const double *mcr_gram_roots(const mcr_gram *centred);

#endif
