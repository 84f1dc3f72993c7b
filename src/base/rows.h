/* rows.h (internal): selections of rows.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_BASE_ROWS_H
#define MCR_BASE_ROWS_H

#include <stddef.h>

#include <mercer/rows.h>

static inline int64_t mcr_least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* a / b, rounded up. */
static inline int64_t mcr_parts(int64_t a, int64_t b)
{
    return a / b + (a % b != 0);
}

static inline int64_t mcr_rows_at(mcr_rows r, int64_t i)
{
    return r.index ? r.index[i] : r.first + i;
}

/* At most `most` of the rows, starting at the given one. */
static inline mcr_rows mcr_rows_part(mcr_rows r, int64_t from, int64_t most)
{
    int64_t count = r.count - from < most ? r.count - from : most;
    return r.index ? (mcr_rows){r.index + from, 0, count} : (mcr_rows){NULL, r.first + from, count};
}

#endif
