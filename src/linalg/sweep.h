/* sweep.h (internal): the inverse of a symmetric positive definite matrix, all of it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_LINALG_SWEEP_H
#define MCR_LINALG_SWEEP_H

#include <stdint.h>

#include <mercer/context.h>

/* The inverse takes the place of A, rows lda apart; the lower triangle is read, both are written.
 * The same bits for any number of threads. MCR_NUMERIC: A is not positive definite, and is lost. */
mcr_status mcr_sweep_inverse(mcr *ctx, int64_t n, double *a, int64_t lda);

#endif
