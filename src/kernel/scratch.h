/* scratch.h (internal): functions of a scratch that only bind.c uses.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_KERNEL_SCRATCH_H
#define MCR_KERNEL_SCRATCH_H

#include "kernel/kernel.h"

/* Invalidates all shared products. */
void mcr_scratch_forget(mcr_scratch *scratch);
/* Invalidates them unless they belong to this tile: the same objects and precision. */
void mcr_scratch_expect(mcr_scratch *scratch, const mcr_tile *tile);

#endif
