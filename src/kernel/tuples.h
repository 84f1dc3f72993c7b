/* tuples.h (internal): a set of tuples of 32-bit numbers, numbered in order of insertion.
 *
 * A hash finds the candidate, a comparison of the whole tuple decides: different tuples never get
 * the same number.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_KERNEL_TUPLES_H
#define MCR_KERNEL_TUPLES_H

#include "base/context.h"

typedef struct mcr_tuples mcr_tuples;

mcr_status mcr_tuples_open(mcr_tuples **out, mcr *ctx);
void mcr_tuples_close(mcr_tuples *tuples); /* NULL allowed */
/* The number of the tuple; a new one is added (copied) and gets the number mcr_tuples_count() -
 * 1. */
mcr_status mcr_tuples_number(int32_t *number, mcr_tuples *tuples, const uint32_t *tuple,
                             int64_t length);
int64_t mcr_tuples_count(const mcr_tuples *tuples);
/* Valid until the next tuple is added. */
const uint32_t *mcr_tuples_at(const mcr_tuples *tuples, int64_t number, int64_t *length);
/* Removes all tuples and keeps the memory. */
void mcr_tuples_clear(mcr_tuples *tuples);

#endif
