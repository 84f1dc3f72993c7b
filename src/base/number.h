/* number.h (internal): conversion between numbers and text, exact and independent of the locale.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_BASE_NUMBER_H
#define MCR_BASE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <mercer/text.h> /* mcr_print_real */

static inline bool mcr_is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Parses a number at p (not past end, no leading space) and returns a pointer to the character
 * after it, or NULL if there is no number. Correctly rounded. Accepts "1", "-1.5e-3", ".5", "5.",
 * "+1", "inf", "infinity", "nan" (any case); no hexadecimal. */
const char *mcr_parse_real(const char *p, const char *end, double *value);
/* The same for integers; NULL also on overflow. */
const char *mcr_parse_int(const char *p, const char *end, int64_t *value);
/* With a minus sign if `negative`; no branch, because the signs of data are unpredictable. */
static inline double mcr_with_sign(double size, bool negative)
{
    uint64_t bits;
    memcpy(&bits, &size, sizeof bits);
    bits |= (uint64_t)negative << 63;
    memcpy(&size, &bits, sizeof bits);
    return size;
}

/* The double nearest to w * 10^q; NAN in the very rare cases that need more precision. */
double mcr_round_decimal(uint64_t w, int64_t q);

/* The binomial coefficient n over k; 0 outside 0 <= k <= n. Exact below 2^53. */
double mcr_choose(int64_t n, int64_t k);

#endif
