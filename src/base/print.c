/* print.c: the shortest text of a number that reads back as the same number.
 *
 * Schubfach (R. Giulietti, The Schubfach way to render doubles, 2020): of the decimals with the
 * fewest digits inside the rounding interval, the one nearest to the value. Three products with a
 * 128-bit power of ten decide; the table of powers is shared with the reader.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/number.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/powers.h"

/* digits * 10^exponent */
typedef struct decimal {
    uint64_t digits;
    int exponent;
} decimal;

/* floor(g * c / 2^128) with the lowest bit set if anything was cut off ("round to odd"), where g =
 * high, low is slightly above a power of ten: a middle part below 2 is due to that excess. */
static uint64_t scale(uint64_t high, uint64_t low, uint64_t c)
{
    mcr_uint128 x = (mcr_uint128)low * c, y = (mcr_uint128)high * c + (uint64_t)(x >> 64);
    return (uint64_t)(y >> 64) | ((uint64_t)y > 1);
}

/* The shortest decimal of c * 2^q; names as in the paper, section 9. */
static decimal shortest(uint64_t c, int q, bool narrow_below)
{
    const uint64_t odd = c & 1;
    const uint64_t cb = 4 * c, cbl = narrow_below ? cb - 1 : cb - 2, cbr = cb + 2;
    /* floor(log10(2^q)), or of 3/4 2^q; floor(log2(10^-k)) */
    const int k = (q * 1262611 - (narrow_below ? 524031 : 0)) >> 22;
    const int h = q + ((-k * 1741647) >> 19) + 1;
    const uint64_t *power = mcr_powers_of_five[-k - MCR_POWER_MIN];
    uint64_t high = power[0], low = power[1];
    if (-k >= 0) { /* the table is truncated; here the next larger value is needed */
        low++;
        high += low == 0;
    }
    const uint64_t vb = scale(high, low, cb << h);
    const uint64_t lower = scale(high, low, cbl << h) + odd;
    const uint64_t upper = scale(high, low, cbr << h) - odd;
    const uint64_t s = vb / 4;
    if (s >= 10) {
        const uint64_t sp = s / 10;
        const bool below = lower <= 40 * sp, above = 40 * sp + 40 <= upper;
        if (below != above)
            return (decimal){sp + above, k + 1};
    }
    const bool below = lower <= 4 * s, above = 4 * s + 4 <= upper;
    if (below != above)
        return (decimal){s + above, k};
    const uint64_t middle = 4 * s + 2;
    const bool up = vb > middle || (vb == middle && (s & 1) != 0);
    return (decimal){s + up, k};
}

static char *put_digits(char *end, uint64_t v)
{
    static const char pairs[] = "0001020304050607080910111213141516171819"
                                "2021222324252627282930313233343536373839"
                                "4041424344454647484950515253545556575859"
                                "6061626364656667686970717273747576777879"
                                "8081828384858687888990919293949596979899";
    while (v >= 100) {
        end -= 2;
        memcpy(end, pairs + 2 * (v % 100), 2);
        v /= 100;
    }
    if (v >= 10) {
        end -= 2;
        memcpy(end, pairs + 2 * v, 2);
    } else {
        *--end = (char)('0' + v);
    }
    return end;
}

/* Plain from 1e-4 up to 1e16, as in Python; otherwise "d.ddde-5". `point` is the number of digits
 * before the decimal point. */
static char *lay_out(char *to, const char *digits, int count, int point)
{
    if (point > 16 || point < -3) {
        *to++ = digits[0];
        if (count > 1) {
            *to++ = '.';
            memcpy(to, digits + 1, (size_t)(count - 1));
            to += count - 1;
        }
        *to++ = 'e';
        int e = point - 1;
        if (e < 0) {
            *to++ = '-';
            e = -e;
        }
        char buffer[8], *end = buffer + sizeof buffer, *start = put_digits(end, (uint64_t)e);
        memcpy(to, start, (size_t)(end - start));
        return to + (end - start);
    }
    if (point <= 0) {
        *to++ = '0';
        *to++ = '.';
        memset(to, '0', (size_t)-point);
        to += -point;
        memcpy(to, digits, (size_t)count);
        return to + count;
    }
    if (count <= point) {
        memcpy(to, digits, (size_t)count);
        memset(to + count, '0', (size_t)(point - count));
        return to + point;
    }
    memcpy(to, digits, (size_t)point);
    to += point;
    *to++ = '.';
    memcpy(to, digits + point, (size_t)(count - point));
    return to + (count - point);
}

/* c * 2^q, or an integer below `whole`, the limit up to which all integers are representable. */
static int print(char *text, double value, double whole, uint64_t c, int q, bool narrow_below)
{
    char *to = text, buffer[24], *const end = buffer + sizeof buffer, *digits;
    const double size = fabs(value);
    if (isnan(value)) {
        memcpy(text, "nan", 4);
        return 3;
    }
    if (signbit(value))
        *to++ = '-';
    if (isinf(value)) {
        memcpy(to, "inf", 4);
        return (int)(to - text) + 3;
    }
    if (size < whole && size == (double)(uint64_t)size) {
        digits = put_digits(end, (uint64_t)size);
        memcpy(to, digits, (size_t)(end - digits));
        to += end - digits;
    } else {
        decimal d = shortest(c, q, narrow_below);
        while (d.digits % 10 == 0) {
            d.digits /= 10;
            d.exponent++;
        }
        digits = put_digits(end, d.digits);
        to = lay_out(to, digits, (int)(end - digits), (int)(end - digits) + d.exponent);
    }
    *to = '\0';
    return (int)(to - text);
}

int mcr_print_real(char text[MCR_REAL_TEXT], double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    const uint64_t fraction = bits & (((uint64_t)1 << 52) - 1);
    const int e = (int)(bits >> 52 & 2047);
    return print(text, value, 0x1p53, e > 0 ? fraction | (uint64_t)1 << 52 : fraction,
                 (e > 0 ? e : 1) - 1075, fraction == 0 && e > 1);
}

int mcr_print_float(char text[MCR_REAL_TEXT], float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    const uint32_t fraction = bits & (((uint32_t)1 << 23) - 1);
    const int e = (int)(bits >> 23 & 255);
    return print(text, (double)value, 0x1p24, e > 0 ? fraction | (uint32_t)1 << 23 : fraction,
                 (e > 0 ? e : 1) - 150, fraction == 0 && e > 1);
}
