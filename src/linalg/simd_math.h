/* simd_math.h (internal): exponentials and powers of vectors, shared by tile.c and vmath.c.
 *
 * 2^t = 2^n 2^r with an integer n and |r| <= 1/2. The polynomials were fitted for the smallest
 * relative error, with their lowest coefficients rounded first; 2^0 is exactly 1. The factor 2^n is
 * applied by adding n to the exponent bits of the polynomial's value.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_LINALG_SIMD_MATH_H
#define MCR_LINALG_SIMD_MATH_H

#include "linalg/simd.h"

enum { MANTISSA_BITS = BY_REAL(23, 52) };

/* Smaller powers of two become 0: no denormals. */
#define EXP2_LEAST BY_REAL(-125.0f, -1021.0)

/* 2^r - 1 over r, |r| <= 1/2: relative error of 2^r 2^-23 (double: 2^-57). One more term would give
 * 2^-28 in float, below the rounding of the exponent, but costs 4 % of the time of a tile with 22
 * features. */
static const real exp2_terms[] = {
#if MCR_REAL_BITS == 32
    0x1.62e426p-1f, 0x1.ebf9b6p-3f, 0x1.c6b9e8p-5f, 0x1.3cec1ap-7f, 0x1.5ac9b2p-10f,
#else
    0x1.62e42fefa39efp-1,  0x1.ebfbdff82c5a5p-3,  0x1.c6b08d704a122p-5,  0x1.3b2ab6fb9ffb3p-7,
    0x1.5d87fe78a111cp-10, 0x1.4309130f139cbp-13, 0x1.ffcbfc595bcf6p-17, 0x1.62bfc71ea7788p-20,
    0x1.b5253f6036401p-24, 0x1.e61c1058a1947p-28, 0x1.e9471c875b804p-32,
#endif
};

/* e^r - 1 - r over r^2, |r| <= ln(2) / 2: relative error of e^r 2^-28 (double: 2^-57). */
static const real exp_terms[] = {
#if MCR_REAL_BITS == 32
    0x1.fffff8p-2f, 0x1.55548ep-3f, 0x1.555b96p-5f, 0x1.123bdp-7f, 0x1.685352p-10f,
#else
    0x1.000000000000bp-1,  0x1.555555555550fp-3,  0x1.55555555502a0p-5,  0x1.1111111122b4ap-7,
    0x1.6c16c1852c01cp-10, 0x1.a01a014498ae6p-13, 0x1.a01997c656a0fp-16, 0x1.71deec62e8918p-19,
    0x1.28af42a60c9fap-22, 0x1.add773f1864b3p-26,
#endif
};

#define TERMS(c) ((int)(sizeof(c) / sizeof((c)[0])))

/* v = 2^(c v) for v >= 0, c <= 0; 0 where v > far = EXP2_LEAST / c. Several vectors are processed
 * together to hide the latency of each step. */
enum { TOGETHER = 4 };

/* The constants c and far for e^(-gamma v). */
INLINE vreal decay_exponent(double gamma)
{
    return splat((real)(-gamma * 0x1.71547652b82fep0));
}

INLINE vreal decay_far(double gamma)
{
    return splat((real)(EXP2_LEAST / (-gamma * 0x1.71547652b82fep0)));
}

INLINE void decay(vreal v[TOGETHER], vreal c, vreal far)
{
    const int last = TERMS(exp2_terms) - 1;
    vreal shifted[TOGETHER], r[TOGETHER], p[TOGETHER];
    UNROLL for (int i = 0; i < TOGETHER; i++)
    {
        shifted[i] = multiply_add(v[i], c, splat(ROUND_SHIFT));
        r[i] = multiply_add(v[i], c, ROUND_SHIFT - shifted[i]);
        p[i] = splat(exp2_terms[last]);
    }
    UNROLL for (int k = last - 1; k >= 0; k--) UNROLL for (int i = 0; i < TOGETHER; i++)
        p[i] = multiply_add(p[i], r[i], splat(exp2_terms[k]));
    UNROLL for (int i = 0; i < TOGETHER; i++)
    {
        p[i] = multiply_add(p[i], r[i], splat(1));
        vbits scaled = (vbits)p[i] + ((vbits)shifted[i] << MANTISSA_BITS);
        v[i] = (vreal)(scaled & ~(vbits)(v[i] > far));
    }
}

/* e^x to 1 ulp; 0 below about -86.6 (-707.7), infinity above the logarithm of the largest
 * number. */
INLINE vreal exponential(vreal x)
{
    const real ln2_high = BY_REAL(0x1.62e4p-1f, 0x1.62e42feep-1);
    const real ln2_low = BY_REAL(0x1.7f7d1cp-20f, 0x1.a39ef35793c76p-33);
    const real least = EXP2_LEAST * BY_REAL(0x1.62e43p-1f, 0x1.62e42fefa39efp-1);
    const real most = BY_REAL(0x1.62e42ep6f, 0x1.62e42fefa39efp9);
    const vreal infinity = splat(BY_REAL(__builtin_inff(), __builtin_inf()));

    vreal shifted = multiply_add(x, splat(BY_REAL(0x1.715476p0f, 0x1.71547652b82fep0)),
                                 splat(ROUND_SHIFT));
    vreal n = shifted - ROUND_SHIFT;
    vreal r = multiply_add(n, splat(-ln2_high), x);
    r = multiply_add(n, splat(-ln2_low), r);
    vreal q = polynomial(r, exp_terms, TERMS(exp_terms));
    vreal p = multiply_add(r * r, q, r) + 1;
    vbits scaled = (vbits)p + ((vbits)shifted << MANTISSA_BITS);
    return choose(x > most, infinity, (vreal)(scaled & ~(vbits)(x < least)));
}

/* base^degree by squaring; degree >= 0. */
INLINE vreal whole_power(vreal base, int32_t degree)
{
    vreal p = splat(1);
    for (; degree > 1; degree >>= 1) {
        if (degree & 1)
            p *= base;
        base *= base;
    }
    return degree ? p * base : p;
}

#endif
