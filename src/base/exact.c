/* exact.c: the last resort of number parsing: exact integers.
 *
 * The decimal is compared with the midpoint of two adjacent doubles, both scaled to integers. At
 * most 767 digits can matter for a tie; of the digits after 800 it only matters whether one is not
 * zero.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/powers.h"

#include <assert.h>
#include <string.h>

enum { LIMBS = 64, DIGITS_KEPT = 800 };

/* Natural numbers below 2^4096, least significant limb first. The largest here have about 2,750
 * bits: 801 digits, or 5^1142 times a 54-bit number. */
typedef struct natural {
    int count; /* limbs in use; the highest is not zero */
    uint64_t limb[LIMBS];
} natural;

static void multiply_add(natural *x, uint64_t factor, uint64_t summand)
{
    uint64_t carry = summand;
    for (int i = 0; i < x->count; i++) {
        mcr_uint128 t = (mcr_uint128)x->limb[i] * factor + carry;
        x->limb[i] = (uint64_t)t;
        carry = (uint64_t)(t >> 64);
    }
    if (carry != 0) {
        assert(x->count < LIMBS);
        x->limb[x->count++] = carry;
    }
}

static void multiply_power_of_five(natural *x, int64_t power)
{
    const uint64_t five_to_27 = 7450580596923828125u;
    for (; power >= 27; power -= 27)
        multiply_add(x, five_to_27, 0);
    uint64_t rest = 1;
    for (; power > 0; power--)
        rest *= 5;
    multiply_add(x, rest, 0);
}

static void shift_left(natural *x, int64_t bits)
{
    int whole = (int)(bits / 64), part = (int)(bits % 64);
    assert(x->count + whole < LIMBS);
    if (part > 0)
        multiply_add(x, (uint64_t)1 << part, 0);
    if (whole > 0) {
        memmove(x->limb + whole, x->limb, (size_t)x->count * sizeof x->limb[0]);
        memset(x->limb, 0, (size_t)whole * sizeof x->limb[0]);
        x->count += whole;
    }
}

static int compare(const natural *a, const natural *b)
{
    if (a->count != b->count)
        return a->count < b->count ? -1 : 1;
    for (int i = a->count - 1; i >= 0; i--)
        if (a->limb[i] != b->limb[i])
            return a->limb[i] < b->limb[i] ? -1 : 1;
    return 0;
}

/* Reads the digits as an integer; returns the weight of its last digit. */
static int64_t read_digits(natural *x, const char *first, const char *last, int64_t exponent)
{
    int kept = 0, more = 0;
    int64_t left_out = 0;
    uint64_t group = 0, scale = 1;
    x->count = 0;
    while (first < last && (*first == '0' || *first == '.'))
        first++;
    for (; first < last; first++) {
        if (*first == '.')
            continue;
        if (kept == DIGITS_KEPT) {
            left_out++;
            more |= *first != '0';
            continue;
        }
        group = group * 10 + (uint64_t)(*first - '0');
        scale *= 10;
        kept++;
        if (scale == 1000000000000000000u) {
            multiply_add(x, scale, group);
            group = 0;
            scale = 1;
        }
    }
    multiply_add(x, scale, group);
    if (more) { /* any digit after these will do */
        multiply_add(x, 10, 1);
        left_out--;
    }
    return exponent + left_out;
}

uint64_t mcr_round_exactly(const char *first, const char *last, int64_t exponent, uint64_t bits)
{
    /* The midpoint above `bits` is (2 m + 1) 2^(e - 1). */
    uint64_t m = bits & (((uint64_t)1 << 52) - 1);
    int64_t e = (int64_t)(bits >> 52);
    if (e > 0)
        m |= (uint64_t)1 << 52;
    else
        e = 1;
    e -= 1023 + 52;
    natural middle = {.count = 1, .limb = {2 * m + 1}}, value;
    int64_t weight = read_digits(&value, first, last, exponent);
    int64_t twos = weight - (e - 1); /* value * 2^twos against the midpoint, after the fives */
    if (weight >= 0)
        multiply_power_of_five(&value, weight);
    else
        multiply_power_of_five(&middle, -weight);
    if (twos >= 0)
        shift_left(&value, twos);
    else
        shift_left(&middle, -twos);
    int order = compare(&value, &middle);
    if (order > 0 || (order == 0 && (bits & 1) != 0))
        bits++;
    return bits;
}
