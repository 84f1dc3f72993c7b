/* peak.h: the multiply-adds that a core does in registers, by instruction set: ten independent
 * chains, which start from different numbers (a compiler merges chains that are equal).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_BENCH_PEAK_H
#define MCR_BENCH_PEAK_H

#include <stdbool.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { PEAK_STEPS = 1000000, PEAK_CHAINS = 10 };

#if defined(__x86_64__)
#define PEAK(name, features, vector, set, fma)                                                     \
    __attribute__((target(features), noinline)) static double name(void)                           \
    {                                                                                              \
        vector a[PEAK_CHAINS], x = set(0.999f), y = set(0.001f);                                   \
        for (int c = 0; c < PEAK_CHAINS; c++)                                                      \
            a[c] = set((float)c);                                                                  \
        for (int i = 0; i < PEAK_STEPS; i++) {                                                     \
            _Pragma("GCC unroll 10") for (int c = 0; c < PEAK_CHAINS; c++) a[c] = fma;             \
            __asm__ volatile("" : "+x"(x), "+x"(y));                                               \
        }                                                                                          \
        double sum = 0;                                                                            \
        for (int c = 0; c < PEAK_CHAINS; c++)                                                      \
            sum += (double)a[c][0];                                                                \
        return sum;                                                                                \
    }
PEAK(peak_v3_f32, "avx2,fma", __m256, _mm256_set1_ps, _mm256_fmadd_ps(a[c], x, y))
PEAK(peak_v3_f64, "avx2,fma", __m256d, _mm256_set1_pd, _mm256_fmadd_pd(a[c], x, y))
PEAK(peak_v4_f32, "avx512f", __m512, _mm512_set1_ps, _mm512_fmadd_ps(a[c], x, y))
PEAK(peak_v4_f64, "avx512f", __m512d, _mm512_set1_pd, _mm512_fmadd_pd(a[c], x, y))
PEAK(peak_base_f32, "sse2", __m128, _mm_set1_ps, a[c] * x + y)
PEAK(peak_base_f64, "sse2", __m128d, _mm_set1_pd, a[c] * x + y)
#undef PEAK
#endif

/* One run by the tiles named isa; the result is for keeping the compiler from dropping it. */
static inline double peak_run(const char *isa, bool precise)
{
#if defined(__x86_64__)
    if (strcmp(isa, "v4") == 0)
        return precise ? peak_v4_f64() : peak_v4_f32();
    if (strcmp(isa, "v3") == 0)
        return precise ? peak_v3_f64() : peak_v3_f32();
    return precise ? peak_base_f64() : peak_base_f32();
#else
    (void)isa;
    (void)precise;
    return 0;
#endif
}

/* Its multiply-adds, all lanes. */
static inline double peak_fmas(const char *isa, bool precise)
{
    int bytes = strcmp(isa, "v4") == 0 ? 64 : strcmp(isa, "v3") == 0 ? 32 : 16;
    return (double)PEAK_STEPS * PEAK_CHAINS * (bytes / (precise ? 8 : 4));
}

#endif
