/* scratch.h (internal): what bind.c alone asks of a scratch.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_KERNEL_SCRATCH_H
#define MCR_KERNEL_SCRATCH_H

#include "kernel/kernel.h"

/* All shared products become invalid. */
void mcr_scratch_forget(mcr_scratch *scratch);
/* They do unless they are of this tile: the same objects and precision. */
void mcr_scratch_expect(mcr_scratch *scratch, const mcr_tile *tile);

#endif
