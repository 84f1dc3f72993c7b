/* simd.h (internal): vectors of one instruction set in one precision, for tile.c and vmath.c.
 *
 * Those files are compiled once for every pair of instruction set and precision, with
 *   MCR_SIMD_NAME   base, v3, v4: part of the names of the tables they define
 *   MCR_SIMD_BYTES  16, 32 or 64: bytes of a vector
 *   MCR_REAL_BITS   32 or 64: float or double
 * and the compiler's flags for the instructions; see meson.build. Vectors are the vector extensions
 * of GCC and clang, so + - * / and comparisons work as usual. Only what these lack uses intrinsics,
 * in this file.
 *
 * Multiply-adds are fused only where multiply_add is written: the files are compiled with
 * -ffp-contract=off, so that an expression rounds the same way wherever the compiler inlines it.
 * This makes the values of a tile independent of their position.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_LINALG_SIMD_H
#define MCR_LINALG_SIMD_H

#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#define INLINE static inline __attribute__((always_inline, unused))

#if defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 32")
#endif

#define JOIN3_(a, b, c) a##b##c
#define JOIN3(a, b, c)  JOIN3_(a, b, c)

#if MCR_REAL_BITS == 32
typedef float real;
typedef int32_t whole;
typedef uint32_t bits;
#define SYMBOL(stem)                 JOIN3(stem, MCR_SIMD_NAME, _f32)
#define BY_REAL(if_float, if_double) if_float
#else
typedef double real;
typedef int64_t whole;
typedef uint64_t bits;
#define SYMBOL(stem)                 JOIN3(stem, MCR_SIMD_NAME, _f64)
#define BY_REAL(if_float, if_double) if_double
#endif

enum {
    VECTOR_BYTES = MCR_SIMD_BYTES,
    LANES = MCR_SIMD_BYTES * 8 / MCR_REAL_BITS,
    DOUBLE_LANES = MCR_SIMD_BYTES / 8
};

typedef real vreal __attribute__((vector_size(MCR_SIMD_BYTES)));
typedef whole vwhole __attribute__((vector_size(MCR_SIMD_BYTES))); /* also the result of a < b */
typedef bits vbits __attribute__((vector_size(MCR_SIMD_BYTES)));
typedef double vdouble __attribute__((vector_size(MCR_SIMD_BYTES)));

INLINE vreal splat(real s)
{
    return s - (vreal){0};
}

INLINE vwhole splat_whole(whole s)
{
    return s - (vwhole){0};
}

/* 0, 1, 2 ... */
INLINE vwhole first_places(void)
{
    vwhole v;
    UNROLL for (int l = 0; l < LANES; l++) v[l] = (whole)l;
    return v;
}

INLINE vdouble splat_double(double s)
{
    return s - (vdouble){0};
}

/* Unaligned load and store. By the builtin, because _FORTIFY_SOURCE turns memcpy into a checked
 * call, which would be one call per vector here. Local arrays that they use often are declared
 * _Alignas(VECTOR_BYTES): otherwise it depends on the other variables and on the stack protector
 * whether their vectors cross cache lines, which costs up to a tenth of a tile's time. */
INLINE vreal load(const real *from)
{
    vreal v;
    __builtin_memcpy(&v, from, sizeof v);
    return v;
}

INLINE void store(real *to, vreal v)
{
    __builtin_memcpy(to, &v, sizeof v);
}

INLINE vdouble load_double(const double *from)
{
    vdouble v;
    __builtin_memcpy(&v, from, sizeof v);
    return v;
}

INLINE void store_double(double *to, vdouble v)
{
    __builtin_memcpy(to, &v, sizeof v);
}

/* Intrinsics. A vector wider than the machine's registers is processed in pieces, so that the code
 * for 64 bytes can be tested on machines with 32. */
#if defined(__AVX512F__) && MCR_SIMD_BYTES == 64
#define PIECE_BYTES     64
#define X86(name, type) _mm512_##name##_##type
#elif defined(__AVX2__) && MCR_SIMD_BYTES >= 32
#define PIECE_BYTES     32
#define X86(name, type) _mm256_##name##_##type
#elif defined(__SSE2__)
#define PIECE_BYTES     16
#define X86(name, type) _mm_##name##_##type
#else
#define PIECE_BYTES MCR_SIMD_BYTES
#endif
#define X86_REAL_(name, type) X86(name, type)
#define X86_REAL(name)        X86_REAL_(name, BY_REAL(ps, pd))

enum { PIECES = MCR_SIMD_BYTES / PIECE_BYTES };

typedef real real_piece __attribute__((vector_size(PIECE_BYTES)));
typedef double double_piece __attribute__((vector_size(PIECE_BYTES)));
typedef union real_pieces {
    vreal all;
    real_piece piece[PIECES];
} real_pieces;
typedef union double_pieces {
    vdouble all;
    double_piece piece[PIECES];
} double_pieces;

/* DOUBLE_LANES reals as doubles. (GCC 12 converts vectors of unequal size badly.) */
INLINE vdouble load_as_double(const real *from)
{
#if defined(X86) && MCR_REAL_BITS == 32
    double_pieces to;
    UNROLL for (int i = 0; i < PIECES; i++)
    {
        const real *at = from + i * (DOUBLE_LANES / PIECES);
#if PIECE_BYTES == 64
        to.piece[i] = _mm512_cvtps_pd(_mm256_loadu_ps(at));
#elif PIECE_BYTES == 32
        to.piece[i] = _mm256_cvtps_pd(_mm_loadu_ps(at));
#else
        to.piece[i] = _mm_cvtps_pd(_mm_setr_ps(at[0], at[1], 0, 0));
#endif
    }
    return to.all;
#elif MCR_REAL_BITS == 32
    vdouble to;
    UNROLL for (int i = 0; i < DOUBLE_LANES; i++) to[i] = (double)from[i];
    return to;
#else
    return load_double(from);
#endif
}

/* Lane by lane a where mask is all ones, b where it is zero. */
INLINE vreal choose(vwhole mask, vreal a, vreal b)
{
    return (vreal)(((vwhole)a & mask) | ((vwhole)b & ~mask));
}

INLINE vwhole choose_whole(vwhole mask, vwhole a, vwhole b)
{
    return (a & mask) | (b & ~mask);
}

/* Lane by lane x where a < b, else y. (GCC 12 emits two instructions for the general form.) */
INLINE vwhole choose_less(vreal a, vreal b, vwhole x, vwhole y)
{
#if defined(__AVX512F__) && MCR_SIMD_BYTES == 64
    __m512i from = (__m512i)y, to = (__m512i)x;
#if MCR_REAL_BITS == 32
    __mmask16 less = _mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_LT_OQ);
    return (vwhole)_mm512_mask_mov_epi32(from, less, to);
#else
    __mmask8 less = _mm512_cmp_pd_mask((__m512d)a, (__m512d)b, _CMP_LT_OQ);
    return (vwhole)_mm512_mask_mov_epi64(from, less, to);
#endif
#else
    return choose_whole((vwhole)(a < b), x, y);
#endif
}

INLINE vreal absolute(vreal a)
{
    return (vreal)((vwhole)a & BY_REAL(0x7fffffff, 0x7fffffffffffffff));
}

#if defined(__FMA__)
#define X86_FUSED
#endif

/* a b + c, rounded once where the machine can, for vectors and scalars alike. */
INLINE vreal multiply_add(vreal a, vreal b, vreal c)
{
#if defined(X86_FUSED)
    real_pieces x = {a}, y = {b}, z = {c};
    UNROLL for (int i = 0; i < PIECES; i++)
        z.piece[i] = X86_REAL(fmadd)(x.piece[i], y.piece[i], z.piece[i]);
    return z.all;
#elif defined(__aarch64__)
    return (vreal)BY_REAL(vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b),
                          vfmaq_f64((float64x2_t)c, (float64x2_t)a, (float64x2_t)b));
#else
    return a * b + c;
#endif
}

INLINE vdouble multiply_add_double(vdouble a, vdouble b, vdouble c)
{
#if defined(X86_FUSED)
    double_pieces x = {a}, y = {b}, z = {c};
    UNROLL for (int i = 0; i < PIECES; i++)
        z.piece[i] = X86(fmadd, pd)(x.piece[i], y.piece[i], z.piece[i]);
    return z.all;
#elif defined(__aarch64__)
    return (vdouble)vfmaq_f64((float64x2_t)c, (float64x2_t)a, (float64x2_t)b);
#else
    return a * b + c;
#endif
}

INLINE real multiply_add_one(real a, real b, real c)
{
#if defined(X86_FUSED) || defined(__aarch64__)
    return BY_REAL(__builtin_fmaf, __builtin_fma)(a, b, c);
#else
    return a * b + c;
#endif
}

INLINE double multiply_add_one_double(double a, double b, double c)
{
#if defined(X86_FUSED) || defined(__aarch64__)
    return __builtin_fma(a, b, c);
#else
    return a * b + c;
#endif
}

INLINE vreal larger(vreal a, vreal b)
{
#if defined(X86)
    real_pieces x = {a}, y = {b};
    UNROLL for (int i = 0; i < PIECES; i++) x.piece[i] = X86_REAL(max)(x.piece[i], y.piece[i]);
    return x.all;
#else
    return choose((vwhole)(a > b), a, b);
#endif
}

INLINE vreal smaller(vreal a, vreal b)
{
#if defined(X86)
    real_pieces x = {a}, y = {b};
    UNROLL for (int i = 0; i < PIECES; i++) x.piece[i] = X86_REAL(min)(x.piece[i], y.piece[i]);
    return x.all;
#else
    return choose((vwhole)(a < b), a, b);
#endif
}

/* The smallest of all lanes. */
INLINE real lowest_lane(vreal a)
{
#if defined(X86) && PIECE_BYTES == 64
    return X86_REAL(reduce_min)((real_piece)a);
#else
    real least = a[0];
    UNROLL for (int l = 1; l < LANES; l++) least = a[l] < least ? a[l] : least;
    return least;
#endif
}

INLINE whole lowest_lane_whole(vwhole a)
{
#if defined(X86) && PIECE_BYTES == 64
    return (whole)BY_REAL(_mm512_reduce_min_epi32, _mm512_reduce_min_epi64)((__m512i)a);
#else
    whole least = a[0];
    UNROLL for (int l = 1; l < LANES; l++) least = a[l] < least ? a[l] : least;
    return least;
#endif
}

INLINE vreal square_root(vreal a)
{
#if defined(X86)
    real_pieces x = {a};
    UNROLL for (int i = 0; i < PIECES; i++) x.piece[i] = X86_REAL(sqrt)(x.piece[i]);
    return x.all;
#else
    UNROLL for (int i = 0; i < LANES; i++) a[i] = BY_REAL(__builtin_sqrtf, __builtin_sqrt)(a[i]);
    return a;
#endif
}

/* Stores bypassing the caches; `to` is aligned to the vector size. Call end_stream before other
 * threads may read. */
INLINE void store_stream(real *to, vreal v)
{
#if defined(X86)
    real_pieces x = {v};
    UNROLL for (int i = 0; i < PIECES; i++) X86_REAL(stream)(to + i * (LANES / PIECES), x.piece[i]);
#else
    store(to, v);
#endif
}

INLINE void end_stream(void)
{
#if defined(X86)
    _mm_sfence();
#endif
}

/* Rounds to the nearest integer, as a real, for |a| < 2^22 (2^51): after adding 1.5 * 2^23 (2^52)
 * the low bits of the sum are that integer in two's complement. */
#define ROUND_SHIFT BY_REAL(0x1.8p23f, 0x1.8p52)

INLINE vreal nearest(vreal a)
{
    return (a + ROUND_SHIFT) - ROUND_SHIFT;
}

/* c[0] + c[1] x + ... + c[n - 1] x^(n - 1). */
INLINE vreal polynomial(vreal x, const real *c, int n)
{
    vreal p = splat(c[n - 1]);
    UNROLL for (int i = n - 2; i >= 0; i--) p = multiply_add(p, x, splat(c[i]));
    return p;
}

#endif
