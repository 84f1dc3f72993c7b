/* numbers.h (internal to data): arrays of the user's, of any type of number.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_DATA_NUMBERS_H
#define MCR_DATA_NUMBERS_H

#include <stdbool.h>

#include <mercer/borrow.h>

/* Bytes of a number; 0: there is no such type. */
size_t mcr_number_bytes(mcr_number type);
bool mcr_number_whole(mcr_number type);
/* values[at] of an array of whole numbers; false: it does not fit in 64 bits with a sign. */
bool mcr_number_int(int64_t *out, const void *values, mcr_number type, int64_t at);
/* values[at] as a double; false: it is a whole number that a double cannot hold. */
bool mcr_number_real(double *out, const void *values, mcr_number type, int64_t at);

/* MCR_BAD_CALL unless there is an array of this type (NULL is allowed where `count` is 0) and it is
 * aligned. what: its name for the message. */
mcr_status mcr_number_check(mcr *ctx, const char *what, const void *values, mcr_number type,
                            int64_t count);

#endif
