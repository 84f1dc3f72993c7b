/* smallest.h (internal): the smallest eigenvalue of a large symmetric matrix.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_LINALG_SMALLEST_H
#define MCR_LINALG_SMALLEST_H

#include <stdint.h>

#include <mercer/context.h>

typedef struct mcr_smallest {
    double value;    /* v'Av of the unit vector v: no smallest eigenvalue is larger */
    double residual; /* |Av - value v|: an eigenvalue is that near */
    double floor;    /* A - floor I has a Cholesky factor; -INFINITY: not computed */
} mcr_smallest;

/* By Lanczos' method on A, and on the inverse of A + shift I where that needs too many steps or the
 * smallest value is not below -bound. So a value below -bound is shown by its vector, and for all
 * others floor is given: -bound, or a few times that if rounding in the factor demands it. The
 * residual is at most the larger of bound and 1e-8 |value| unless the steps did not suffice. Both
 * triangles of a are read; work: n x n; bound: positive. The same bits for any number of
 * threads. */
mcr_status mcr_smallest_eigen(mcr *ctx, int64_t n, const double *a, double bound, double *work,
                              double *vector, mcr_smallest *out);

#endif
