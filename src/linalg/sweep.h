/* sweep.h (internal): the full inverse of a symmetric positive definite matrix.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_LINALG_SWEEP_H
#define MCR_LINALG_SWEEP_H

#include <stddef.h>
#include <stdint.h>

#include <mercer/context.h>

/* Replaces A by its inverse; rows are lda apart; the lower triangle is read, both are written. The
 * same bits for any number of threads. Progress is reported under `phase`; MCR_STOPPED if the
 * callback requests it. MCR_NUMERIC: A is not positive definite. After a failure A is undefined. */
mcr_status mcr_sweep_inverse(mcr *ctx, int64_t n, double *a, int64_t lda, const char *phase);
/* The bytes that it takes from the memory budget during the call. */
size_t mcr_sweep_bytes(int64_t n);

#endif
