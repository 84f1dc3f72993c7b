/* number.c: text to numbers, correctly rounded, independent of the locale.
 *
 * Three methods, each for the cases that the previous one cannot decide: small decimals are exact
 * in one floating-point operation (Clinger 1990); others take a 64 x 128-bit product with a power
 * of five (Eisel-Lemire; D. Lemire, Number parsing at a gigabyte per second, 2021); decimals of
 * more than 19 digits next to the midpoint of two doubles use exact integers (exact.c).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/number.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/digits.h"
#include "base/powers.h"

enum { MANTISSA_BITS = 52, EXPONENT_BIAS = 1023, EXPONENT_INF = 2047 };
static const uint64_t HIDDEN_BIT = (uint64_t)1 << MANTISSA_BITS;
static const uint64_t INF_BITS = (uint64_t)EXPONENT_INF << MANTISSA_BITS;

/* A decimal: w * 10^q, where w is the first 19 digits if `cut`. */
typedef struct decimal {
    uint64_t w;
    int64_t q;
    bool cut;
    const char *first, *last; /* all of its digits, and the weight of the last one */
    int64_t last_weight;
} decimal;

static unsigned digit_at(const char *p)
{
    return (unsigned)((unsigned char)*p - '0');
}

static double from_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The bits of the double nearest to w * 10^q (or, with `down`, of one just below or equal, never
 * more than one step away). *sure = false if the precision of the table is not sufficient. */
static uint64_t scale(uint64_t w, int64_t q, bool down, bool *sure)
{
    *sure = true;
    if (w == 0 || q < MCR_POWER_MIN)
        return 0;
    if (q > MCR_POWER_MAX)
        return INF_BITS - down;
    const uint64_t *power = mcr_powers_of_five[q - MCR_POWER_MIN];
    int lead = __builtin_clzll(w);
    w <<= lead;
    mcr_uint128 product = (mcr_uint128)w * power[0];
    uint64_t high = (uint64_t)(product >> 64), low = (uint64_t)product;
    if ((high & 0x1ff) == 0x1ff) { /* a carry could still reach the rounding bits */
        uint64_t more = (uint64_t)(((mcr_uint128)w * power[1]) >> 64);
        low += more;
        high += low < more;
        if (low == UINT64_MAX && (q < -27 || q > 55))
            *sure = false;
    }
    int top = (int)(high >> 63);
    uint64_t m = high >> (top + 9); /* 54 bits: one for rounding */
    /* floor(log2(10^q)) = 217706 q / 65536 in this range */
    int64_t e = ((217706 * q) >> 16) + 63 + top - lead + EXPONENT_BIAS;
    if (e <= 0) {
        if (1 - e >= 64)
            return 0;
        m >>= 1 - e;
        if (!down)
            m += m & 1;
        return m >> 1; /* a carry into the hidden bit correctly gives the smallest normal number */
    }
    /* Only these powers can give an exact tie; then round to even. */
    if (low <= 1 && q >= -4 && q <= 23 && (m & 3) == 1 && m << (top + 9) == high)
        m &= ~(uint64_t)1;
    if (!down)
        m += m & 1;
    m >>= 1;
    if (m >= 2 * HIDDEN_BIT) {
        m = HIDDEN_BIT;
        e++;
    }
    if (e >= EXPONENT_INF)
        return INF_BITS - down;
    return (uint64_t)e << MANTISSA_BITS | (m & ~HIDDEN_BIT);
}

double mcr_round_decimal(uint64_t w, int64_t q)
{
    bool sure;
    uint64_t bits = scale(w, q, false, &sure);
    return sure ? from_bits(bits) : NAN;
}

static double round_decimal(const decimal *d)
{
    static const double tens[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                  1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                  1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    if (!d->cut && d->w <= 2 * HIDDEN_BIT && d->q >= -22 && d->q <= 22) {
        double value = (double)d->w;
        return d->q < 0 ? value / tens[-d->q] : value * tens[d->q];
    }
    bool sure, sure_above = true;
    uint64_t bits = scale(d->w, d->q, false, &sure);
    if (sure && (!d->cut || (scale(d->w + 1, d->q, false, &sure_above) == bits && sure_above)))
        return from_bits(bits);
    bits = scale(d->w, d->q, true, &sure);
    return from_bits(mcr_round_exactly(d->first, d->last, d->last_weight, bits));
}

/* The exponent after a mantissa; p unchanged if there is none ("5e" is 5 followed by "e"). */
static const char *read_exponent(const char *p, const char *end, int64_t *exponent)
{
    const char *s = p + 1;
    bool negative = false;
    *exponent = 0;
    if (s < end && (*s == '-' || *s == '+'))
        negative = *s++ == '-';
    if (s == end || digit_at(s) > 9)
        return p;
    int64_t e = 0;
    for (; s < end && digit_at(s) <= 9; s++)
        if (e < 1000000000000000)
            e = e * 10 + (int64_t)digit_at(s);
    *exponent = negative ? -e : e;
    return s;
}

/* w has overflowed: takes the first 19 significant digits. */
static void cut_digits(decimal *d)
{
    const char *p = d->first;
    int64_t weight = d->last_weight;
    int kept = 0;
    uint64_t w = 0;
    while (p < d->last && (*p == '0' || *p == '.'))
        p++;
    for (; p < d->last && kept < 19; p++) {
        if (*p == '.')
            continue;
        w = w * 10 + digit_at(p);
        kept++;
    }
    int64_t rest = 0; /* digits not taken */
    for (; p < d->last; p++)
        rest += *p != '.';
    d->w = w;
    d->q = weight + rest;
    d->cut = rest > 0;
}

static const char *read_word(const char *p, const char *end, const char *word)
{
    for (; *word != '\0'; word++, p++)
        if (p == end || (*p | 0x20) != *word)
            return NULL;
    return p;
}

static const char *read_special(const char *p, const char *end, double *value)
{
    const char *next = read_word(p, end, "inf");
    if (next != NULL) {
        const char *longer = read_word(next, end, "inity");
        *value = INFINITY;
        return longer != NULL ? longer : next;
    }
    next = read_word(p, end, "nan");
    if (next != NULL)
        *value = NAN;
    return next;
}

const char *mcr_parse_real(const char *p, const char *end, double *value)
{
    if (p == end)
        return NULL;
    const bool negative = *p == '-'; /* the signs of data are unpredictable: no branch */
    p += negative | (*p == '+');
    decimal d = {.w = 0, .first = p};
    for (; p < end && digit_at(p) <= 9; p++)
        d.w = d.w * 10 + digit_at(p);
    int64_t digits = p - d.first;
    if (p < end && *p == '.') {
        const char *point = p;
        p = mcr_scan_digits(p + 1, end, &d.w);
        d.q = -(p - point - 1);
        digits -= d.q;
    }
    if (digits == 0) {
        double special;
        p = read_special(d.first, end, &special);
        if (p != NULL)
            *value = mcr_with_sign(special, negative);
        return p;
    }
    d.last = p;
    if (p < end && (*p | 0x20) == 'e') {
        int64_t exponent;
        p = read_exponent(p, end, &exponent);
        d.q += exponent;
    }
    d.last_weight = d.q;
    if (digits > 19)
        cut_digits(&d);
    *value = mcr_with_sign(round_decimal(&d), negative);
    return p;
}

const char *mcr_parse_int(const char *p, const char *end, int64_t *value)
{
    bool negative = false;
    if (p < end && (*p == '-' || *p == '+'))
        negative = *p++ == '-';
    if (p == end || digit_at(p) > 9)
        return NULL;
    const uint64_t limit = (uint64_t)INT64_MAX + negative;
    uint64_t v = 0;
    for (; p < end && digit_at(p) <= 9; p++) {
        unsigned digit = digit_at(p);
        if (v > (limit - digit) / 10)
            return NULL;
        v = v * 10 + digit;
    }
    *value = negative ? (int64_t)(0 - v) : (int64_t)v;
    return p;
}

double mcr_choose(int64_t n, int64_t k)
{
    double c = 1;
    if (k < 0 || k > n)
        return 0;
    for (int64_t i = 1; i <= k; i++)
        c = c * (double)(n - k + i) / (double)i;
    return c;
}
