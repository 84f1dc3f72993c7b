/* smallest.h (internal): the smallest eigenvalue of a large symmetric matrix.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_LINALG_SMALLEST_H
#define MCR_LINALG_SMALLEST_H

#include <stdint.h>

#include <mercer/context.h>

typedef struct mcr_smallest {
    double value;    /* v'Av for the unit vector v: an upper bound of the smallest eigenvalue */
    double residual; /* |Av - value v|: some eigenvalue is within this distance */
    double floor;    /* A - floor I has a Cholesky factor; -INFINITY: not computed */
} mcr_smallest;

/* By the Lanczos method on A, and on the inverse of A + shift I if that needs too many steps or the
 * smallest eigenvalue is not below -bound. So an eigenvalue below -bound is proved by its vector,
 * and otherwise floor is set: -bound, or a few times that if rounding in the factor requires it.
 * The residual is at most the larger of bound and 1e-8 |value|, unless the steps ran out. Both
 * triangles of a are read; work: n x n; bound: positive. The same bits for any number of
 * threads. */
mcr_status mcr_smallest_eigen(mcr *ctx, int64_t n, const double *a, double bound, double *work,
                              double *vector, mcr_smallest *out);

#endif
