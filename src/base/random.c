/* random.c: Philox4x32-10 (J. Salmon et al., Parallel random numbers: as easy as 1, 2, 3, SC 2011).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/random.h"

#include <assert.h>
#include <math.h>

#include "base/philox.h"

#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF /* the same normals everywhere */
#endif

__extension__ typedef unsigned __int128 uint128;

void mcr_philox(uint32_t out[4], const uint32_t counter[4], const uint32_t key[2])
{
    uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
    uint32_t k0 = key[0], k1 = key[1];
    for (int round = 0; round < 10; round++) {
        uint64_t p0 = (uint64_t)0xd2511f53u * c0, p1 = (uint64_t)0xcd9e8d57u * c2;
        c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
        c1 = (uint32_t)p1;
        c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c3 = (uint32_t)p0;
        k0 += 0x9e3779b9u; /* golden ratio */
        k1 += 0xbb67ae85u; /* sqrt(3) - 1 */
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

/* A bijection of 64 bits in which every input bit affects every output bit (the finaliser of
 * SplitMix64; Steele, Lea, Flood 2014). */
static uint64_t mix(uint64_t x)
{
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9u;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* Streams with the same name and seed always have different keys; others with probability 1 -
 * 2^-64. */
mcr_random mcr_random_stream(uint64_t seed, const char *name, uint64_t number)
{
    uint64_t h = mix(seed + 0x9e3779b97f4a7c15u);
    for (const char *c = name; *c != '\0'; c++)
        h = mix(h + (unsigned char)*c + 0x9e3779b97f4a7c15u);
    return (mcr_random){.key = mix(h + mix(number))};
}

uint64_t mcr_random_bits(mcr_random *r)
{
    if (r->has_spare) {
        r->has_spare = 0;
        return r->spare;
    }
    const uint32_t counter[4] = {(uint32_t)r->counter, (uint32_t)(r->counter >> 32), 0, 0};
    const uint32_t key[2] = {(uint32_t)r->key, (uint32_t)(r->key >> 32)};
    uint32_t block[4];
    mcr_philox(block, counter, key);
    r->counter++;
    r->spare = (uint64_t)block[3] << 32 | block[2];
    r->has_spare = 1;
    return (uint64_t)block[1] << 32 | block[0];
}

double mcr_random_uniform(mcr_random *r)
{
    return (double)(mcr_random_bits(r) >> 11) * 0x1p-53;
}

static double polynomial(const double c[8], double x)
{
    double sum = c[7];
    for (int i = 6; i >= 0; i--)
        sum = sum * x + c[i];
    return sum;
}

/* The inverse of the normal distribution function at 1/2 + q, |q| < 1/2: rational approximations in
 * three ranges, relative error about 1e-16 (M. Wichura, algorithm AS 241, 1988). `tail` is the
 * probability beyond, min(1/2 + q, 1/2 - q), passed separately because it is exact. */
static double normal_quantile(double q, double tail)
{
    static const double middle_above[] = {3.3871328727963666080e0, 1.3314166789178437745e2,
                                          1.9715909503065514427e3, 1.3731693765509461125e4,
                                          4.5921953931549871457e4, 6.7265770927008700853e4,
                                          3.3430575583588128105e4, 2.5090809287301226727e3};
    static const double middle_below[] = {1.0,
                                          4.2313330701600911252e1,
                                          6.8718700749205790830e2,
                                          5.3941960214247511077e3,
                                          2.1213794301586595867e4,
                                          3.9307895800092710610e4,
                                          2.8729085735721942674e4,
                                          5.2264952788528545610e3};
    static const double near_above[] = {1.42343711074968357734e0,  4.63033784615654529590e0,
                                        5.76949722146069140550e0,  3.64784832476320460504e0,
                                        1.27045825245236838258e0,  2.41780725177450611770e-1,
                                        2.27238449892691845833e-2, 7.74545014278341407640e-4};
    static const double near_below[] = {1.0,
                                        2.05319162663775882187e0,
                                        1.67638483018380384940e0,
                                        6.89767334985100004550e-1,
                                        1.48103976427480074590e-1,
                                        1.51986665636164571966e-2,
                                        5.47593808499534494600e-4,
                                        1.05075007164441684324e-9};
    static const double far_above[] = {6.65790464350110377720e0,  5.46378491116411436990e0,
                                       1.78482653991729133580e0,  2.96560571828504891230e-1,
                                       2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                       2.71155556874348757815e-5, 2.01033439929228813265e-7};
    static const double far_below[] = {1.0,
                                       5.99832206555887937690e-1,
                                       1.36929880922735805310e-1,
                                       1.48753612908506148525e-2,
                                       7.86869131145613259100e-4,
                                       1.84631831751005468180e-5,
                                       1.42151175831644588870e-7,
                                       2.04426310338993978564e-15};
    if (fabs(q) <= 0.425) {
        double x = 0.180625 - q * q;
        return q * polynomial(middle_above, x) / polynomial(middle_below, x);
    }
    double x = sqrt(-log(tail)), size;
    if (x <= 5)
        size = polynomial(near_above, x - 1.6) / polynomial(near_below, x - 1.6);
    else
        size = polynomial(far_above, x - 5) / polynomial(far_below, x - 5);
    return q < 0 ? -size : size;
}

/* By inversion: one draw per number, and no sine or cosine, which differ between C libraries. The
 * uniform is the midpoint of one of 2^53 cells, so never 0 or 1, and symmetric. */
double mcr_random_normal(mcr_random *r)
{
    int64_t cell = (int64_t)(mcr_random_bits(r) >> 11) - ((int64_t)1 << 52);
    double q = ((double)cell + 0.5) * 0x1p-53;
    int64_t from_end = cell < 0 ? cell + ((int64_t)1 << 52) : ((int64_t)1 << 52) - 1 - cell;
    return normal_quantile(q, ((double)from_end + 0.5) * 0x1p-53);
}

/* The high half of bits * limit is uniform once the few low halves that are too frequent are
 * rejected (D. Lemire, Fast random integer generation in an interval, 2019). */
int64_t mcr_random_below(mcr_random *r, int64_t limit)
{
    assert(limit > 0);
    const uint64_t n = (uint64_t)limit;
    uint128 product = (uint128)mcr_random_bits(r) * n;
    if ((uint64_t)product < n) {
        const uint64_t surplus = (0 - n) % n;
        while ((uint64_t)product < surplus)
            product = (uint128)mcr_random_bits(r) * n;
    }
    return (int64_t)(product >> 64);
}

void mcr_random_shuffle(mcr_random *r, int64_t *items, int64_t count)
{
    for (int64_t i = count - 1; i > 0; i--) {
        int64_t j = mcr_random_below(r, i + 1);
        int64_t item = items[i];
        items[i] = items[j];
        items[j] = item;
    }
}
