/* arrays.c: loops over arrays of doubles.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "arrays.h"

#include <stdint.h>
#include <string.h>

/* One version for each generation of processors, chosen when the library is loaded. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) &&                             \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define FOR_EACH_MACHINE                                                                           \
    __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define FOR_EACH_MACHINE
#endif

static inline double power_of_two(int64_t k)
{
    uint64_t bits = (uint64_t)(k + 1023) << 52;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* exp(x) = 2^k exp(r) with |r| <= ln(2) / 2, where Taylor's series needs 14 terms. */
static inline double exponential(double x)
{
    const double log2_e = 1.4426950408889634, ln2_high = 0x1.62e42fefa3800p-1,
                 ln2_low = 0x1.ef35793c76730p-45, shift = 0x1.8p52;
    static const double term[] = {1.0 / 6227020800,
                                  1.0 / 479001600,
                                  1.0 / 39916800,
                                  1.0 / 3628800,
                                  1.0 / 362880,
                                  1.0 / 40320,
                                  1.0 / 5040,
                                  1.0 / 720,
                                  1.0 / 120,
                                  1.0 / 24,
                                  1.0 / 6,
                                  0.5,
                                  1,
                                  1};
    x = x > 710 ? 710 : x; /* beyond it is infinity, below 0; what is no number stays that */
    x = x < -746 ? -746 : x;
    double rounded = x * log2_e + shift, k = rounded - shift;
    double r = (x - k * ln2_high) - k * ln2_low, sum = term[0];
    for (int i = 1; i < 14; i++)
        sum = sum * r + term[i];
    /* The low bits of a number this large are its whole part. */
    int64_t bits;
    memcpy(&bits, &rounded, sizeof bits);
    int64_t whole = (int64_t)((uint64_t)bits << 52) >> 52, half = whole >> 1;
    return sum * power_of_two(half) * power_of_two(whole - half);
}

FOR_EACH_MACHINE void compat_exp(double *a, double scale, int n)
{
    for (int i = 0; i < n; i++)
        a[i] = exponential(scale * a[i]);
}

FOR_EACH_MACHINE double compat_dot(const double *a, const double *b, int n)
{
    enum { LANES = 32 };
    double sum[LANES] = {0};
    int i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int t = 0; t < LANES; t++)
            sum[t] += a[i + t] * b[i + t];
    for (int t = 0; i + t < n; t++)
        sum[t] += a[i + t] * b[i + t];
    for (int width = LANES / 2; width > 0; width /= 2)
        for (int t = 0; t < width; t++)
            sum[t] += sum[t + width];
    return sum[0];
}

/* ---- panels -----------------------------------------------------------------------------------*/

enum { WIDE = 8, WIDES = 4 }; /* 32 sums in registers */
typedef double wide __attribute__((vector_size(WIDE * sizeof(double))));

FOR_EACH_MACHINE void compat_panel_dots(const double *panel, const int *column, const double *value,
                                        int count, double *out)
{
    wide sum[WIDES] = {{0}}, z[WIDES];
    for (int k = 0; k < count; k++) {
        memcpy(z, panel + (size_t)column[k] * WIDE * WIDES, sizeof z);
        for (int t = 0; t < WIDES; t++)
            sum[t] += value[k] * z[t];
    }
    memcpy(out, sum, sizeof sum);
}

FOR_EACH_MACHINE void compat_panel_distances(const double *panel, const double *value, int count,
                                             double plus, double *out)
{
    wide sum[WIDES] = {{0}}, z[WIDES];
    for (int k = 0; k < count; k++) {
        memcpy(z, panel + (size_t)k * WIDE * WIDES, sizeof z);
        for (int t = 0; t < WIDES; t++)
            sum[t] += (value[k] - z[t]) * (value[k] - z[t]);
    }
    for (int t = 0; t < WIDES; t++)
        sum[t] += plus;
    memcpy(out, sum, sizeof sum);
}
