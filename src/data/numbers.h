/* numbers.h (internal to data): the user's arrays, of any numeric type.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_DATA_NUMBERS_H
#define MCR_DATA_NUMBERS_H

#include <stdbool.h>

#include <mercer/borrow.h>

/* Size of a number in bytes; 0: invalid type. */
size_t mcr_number_bytes(mcr_number type);
bool mcr_number_whole(mcr_number type);
/* values[at] of an integer array; false: it does not fit a signed 64-bit integer. */
bool mcr_number_int(int64_t *out, const void *values, mcr_number type, int64_t at);
/* values[at] as a double; false: it is an integer that a double cannot represent. */
bool mcr_number_real(double *out, const void *values, mcr_number type, int64_t at);

/* MCR_BAD_CALL unless `values` is an aligned array of this type (NULL is allowed if `count` is 0).
 * what: its name for the message. */
mcr_status mcr_number_check(mcr *ctx, const char *what, const void *values, mcr_number type,
                            int64_t count);
/* The steps of a view that names none: row by row without gaps. */
void mcr_dense_view_steps(mcr_dense_view *view);

#endif
