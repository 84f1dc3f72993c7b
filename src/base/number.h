/* number.h (internal): numbers to and from text, exactly and without locale.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_BASE_NUMBER_H
#define MCR_BASE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mercer/text.h> /* mcr_print_real */

static inline bool mcr_is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Reads a number at p (not past end, no leading space) and returns the first character behind it,
 * or NULL if there is none. Correctly rounded. Takes "1", "-1.5e-3", ".5", "5.", "+1", "inf",
 * "infinity", "nan" (any case); no hexadecimal. */
const char *mcr_parse_real(const char *p, const char *end, double *value);
/* The same for integers; NULL also on overflow. */
const char *mcr_parse_int(const char *p, const char *end, int64_t *value);

/* n over k; 0 outside 0 <= k <= n. Exact while it is below 2^53. */
double mcr_choose(int64_t n, int64_t k);

#endif
