/* fisher_features.h (internal): the linear systems of fisher from features.
 *
 * With X of covariance.h, A = X X', so that (A + r I) H = E has the solution
 *
 *   H = (E - X G) / r,   (C + r I) G = X'E,   G = X'H
 *
 * by a Cholesky factor of C + r I, which has one row per feature, and corrections of G by its own
 * residual r (X'H - G). With many sparse features, or more features than objects, by conjugate
 * gradients for H with products alone.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_LEARN_FISHER_FEATURES_H
#define MCR_LEARN_FISHER_FEATURES_H

#include "learn/covariance.h"

/* e, h: n x k, with e'e = I; g: p x k; m: k x k, lower triangle and diagonal, r E'H, as r G'G + r^2
 * H'H, which loses no digits. residual: of the system of H, from scratch, as on the dual form. */
mcr_status mcr_fisher_features(const mcr_covariance *x, double r, const double *e, int64_t k,
                               double *h, double *g, double *m, double *residual);

#endif
