/* powers.h (internal to base): powers of five for reading and printing numbers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_BASE_POWERS_H
#define MCR_BASE_POWERS_H

#include <stdint.h>

__extension__ typedef unsigned __int128 mcr_uint128;

/* The 128 leading bits of 5^q (high half first) at index q - MCR_POWER_MIN, normalised: rounded
 * down for q >= 0 (exact up to 55), rounded up for q < 0 (never exact). */
enum { MCR_POWER_MIN = -342, MCR_POWER_MAX = 324 };
extern const uint64_t mcr_powers_of_five[][2];

/* Rounds a decimal of any length exactly. first .. last are its digits with an optional '.', not
 * all of them zero; the last digit has the weight 10^exponent. `bits` is a positive double not
 * above it, such that the correct result is that double or the next one; returns the bits of the
 * result. */
uint64_t mcr_round_exactly(const char *first, const char *last, int64_t exponent, uint64_t bits);

#endif
