/* philox.h (internal to base): the block function of Philox, separate so that it can be tested
 * against the published vectors.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_BASE_PHILOX_H
#define MCR_BASE_PHILOX_H

#include <stdint.h>

/* Philox4x32 with 10 rounds. */
void mcr_philox(uint32_t out[4], const uint32_t counter[4], const uint32_t key[2]);

#endif
