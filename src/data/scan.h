/* scan.h (internal to data): fast inline parsing of common numbers in files.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_DATA_SCAN_H
#define MCR_DATA_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/digits.h"
#include "base/number.h"

/* Like mcr_parse_real, for text with a byte before or at `end` that is not part of a number (a line
 * end, a separator); *end must be readable. Up to 15 digits an integer is exact, and so are the
 * powers of ten up to 10^22: their quotient is rounded once and therefore correct (Clinger 1990).
 * Decimals of up to 19 digits take one product; everything else is left to mcr_parse_real. */
static inline const char *mcr_scan_real(const char *p, const char *end, double *value)
{
    static const double power[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                   1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                   1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    const char *text = p;
    bool negative = *p == '-';
    p += negative;
    uint64_t m = 0;
    const char *first = p;
    unsigned digit;
    while ((digit = (unsigned)(unsigned char)*p - '0') < 10) {
        m = m * 10 + digit;
        p++;
    }
    ptrdiff_t digits = p - first, fraction = 0;
    if (*p == '.') {
        first = ++p;
        p = mcr_scan_digits(p, end, &m);
        fraction = p - first;
        digits += fraction;
    }
    double v = 0;
    if (digits > 0 && digits <= 19 && (*p | 32) != 'e') {
        v = (double)(int64_t)m;
        if (digits > 15) /* more often than not above 2^53, which cannot be predicted */
            v = mcr_round_decimal(m, -fraction);
        else if (fraction > 0)
            v /= power[fraction];
        if (v == v) {
            *value = mcr_with_sign(v, negative);
            return p;
        }
    }
    p = mcr_parse_real(text, end, &v); /* not *value, so that it can stay in a register */
    *value = v;
    return p;
}

/* Counts the occurrences of a byte from p to end. */
static inline int64_t mcr_count_bytes(const char *p, const char *end, char byte)
{
    int64_t count = 0;
    while (p < end) {
        /* Sums of bytes, so that the compiler can use its widest vectors. */
        ptrdiff_t step = end - p < 255 ? end - p : 255;
        uint8_t n = 0;
        for (ptrdiff_t i = 0; i < step; i++)
            n = (uint8_t)(n + (p[i] == byte));
        count += n;
        p += step;
    }
    return count;
}

#endif
