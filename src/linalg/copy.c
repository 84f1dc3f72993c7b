/* copy.c: copying tiles from the cache to memory.
 *
 * Streaming stores pay if whole cache lines are written: rows are copied line by line. A tile is
 * transposed in squares of one cache line, a few rows of the result at a time, which are then
 * copied like other rows, because the caller's matrix may have any alignment. Plain C except on
 * x86-64.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "linalg/copy.h"

#include <string.h>

#include "base/rows.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

enum { LINE = 64 };

/* One cache line, `to` aligned to it. */
static inline void stream_line(void *to, const void *from)
{
#if defined(__SSE2__)
    __m128i *t = to;
    const __m128i *f = from;
    __m128i a = _mm_loadu_si128(f), b = _mm_loadu_si128(f + 1);
    __m128i c = _mm_loadu_si128(f + 2), d = _mm_loadu_si128(f + 3);
    _mm_stream_si128(t, a);
    _mm_stream_si128(t + 1, b);
    _mm_stream_si128(t + 2, c);
    _mm_stream_si128(t + 3, d);
#else
    memcpy(to, from, LINE);
#endif
}

static inline void stream_end(void)
{
#if defined(__SSE2__)
    _mm_sfence();
#endif
}

static void copy_rows(void *to, int64_t to_ld, const void *from, int64_t from_ld, int64_t rows,
                      int64_t cols, size_t real)
{
    size_t bytes = (size_t)cols * real;
    for (int64_t i = 0; i < rows; i++) {
        char *t = (char *)to + (size_t)(i * to_ld) * real;
        const char *f = (const char *)from + (size_t)(i * from_ld) * real;
        size_t head = (LINE - (uintptr_t)t % LINE) % LINE;
        if (head > bytes)
            head = bytes;
        memcpy(t, f, head);
        size_t b = head;
        for (; b + LINE <= bytes; b += LINE)
            stream_line(t + b, f + b);
        memcpy(t + b, f + b, bytes - b);
    }
}

void mcr_copy_out(void *to, int64_t to_ld, const void *from, int64_t from_ld, int64_t rows,
                  int64_t cols, size_t real)
{
    copy_rows(to, to_ld, from, from_ld, rows, cols, real);
    stream_end();
}

/* ---- transposing ------------------------------------------------------------------------------*/

/* 4 x 4 floats. */
static inline void transpose_f32(float *to, int64_t to_ld, const float *from, int64_t from_ld)
{
#if defined(__SSE2__)
    __m128 a = _mm_loadu_ps(from), b = _mm_loadu_ps(from + from_ld);
    __m128 c = _mm_loadu_ps(from + 2 * from_ld), d = _mm_loadu_ps(from + 3 * from_ld);
    _MM_TRANSPOSE4_PS(a, b, c, d);
    _mm_storeu_ps(to, a);
    _mm_storeu_ps(to + to_ld, b);
    _mm_storeu_ps(to + 2 * to_ld, c);
    _mm_storeu_ps(to + 3 * to_ld, d);
#else
    for (int64_t p = 0; p < 4; p++)
        for (int64_t q = 0; q < 4; q++)
            to[q * to_ld + p] = from[p * from_ld + q];
#endif
}

/* 2 x 2 doubles. */
static inline void transpose_f64(double *to, int64_t to_ld, const double *from, int64_t from_ld)
{
#if defined(__SSE2__)
    __m128d a = _mm_loadu_pd(from), b = _mm_loadu_pd(from + from_ld);
    _mm_storeu_pd(to, _mm_unpacklo_pd(a, b));
    _mm_storeu_pd(to + to_ld, _mm_unpackhi_pd(a, b));
#else
    for (int64_t p = 0; p < 2; p++)
        for (int64_t q = 0; q < 2; q++)
            to[q * to_ld + p] = from[p * from_ld + q];
#endif
}

/* Squares of one line per side: 16 x 16 floats or 8 x 8 doubles. */
static void transpose_square_f32(float *to, int64_t to_ld, const float *from, int64_t from_ld)
{
    for (int64_t i = 0; i < 16; i += 4)
        for (int64_t j = 0; j < 16; j += 4)
            transpose_f32(to + j * to_ld + i, to_ld, from + i * from_ld + j, from_ld);
}

static void transpose_square_f64(double *to, int64_t to_ld, const double *from, int64_t from_ld)
{
    for (int64_t i = 0; i < 8; i += 2)
        for (int64_t j = 0; j < 8; j += 2)
            transpose_f64(to + j * to_ld + i, to_ld, from + i * from_ld + j, from_ld);
}

static inline void copy_one(void *to, int64_t at, const void *from, int64_t from_at, size_t real)
{
    if (real == sizeof(float))
        ((float *)to)[at] = ((const float *)from)[from_at];
    else
        ((double *)to)[at] = ((const double *)from)[from_at];
}

/* Any size. */
static void transpose_plain(void *to, int64_t to_ld, const void *from, int64_t from_ld,
                            int64_t rows, int64_t cols, size_t real)
{
    for (int64_t j = 0; j < cols; j++)
        for (int64_t i = 0; i < rows; i++)
            copy_one(to, j * to_ld + i, from, i * from_ld + j, real);
}

static char *element(void *a, int64_t at, size_t real)
{
    return (char *)a + (size_t)at * real;
}

static const char *element_of(const void *a, int64_t at, size_t real)
{
    return (const char *)a + (size_t)at * real;
}

/* One square of at most a cache line per side. */
static void transpose(void *to, int64_t to_ld, const void *from, int64_t from_ld, int64_t rows,
                      int64_t cols, size_t real)
{
    const int64_t side = (int64_t)(LINE / real);
    if (rows < side || cols < side)
        transpose_plain(to, to_ld, from, from_ld, rows, cols, real);
    else if (real == sizeof(float))
        transpose_square_f32(to, to_ld, from, from_ld);
    else
        transpose_square_f64(to, to_ld, from, from_ld);
}

void mcr_copy_out_transposed(void *to, int64_t to_ld, const void *from, int64_t from_ld,
                             int64_t rows, int64_t cols, size_t real)
{
    enum { RUN = 256 }; /* elements per row of the result that are computed at a time */
    _Alignas(LINE) char strip[LINE * RUN];
    const int64_t side = (int64_t)(LINE / real);
    for (int64_t j = 0; j < cols; j += side)
        for (int64_t i = 0; i < rows; i += RUN) {
            int64_t width = mcr_least(cols - j, side), run = mcr_least(rows - i, RUN);
            for (int64_t p = 0; p < run; p += side)
                transpose(element(strip, p, real), RUN,
                          element_of(from, (i + p) * from_ld + j, real), from_ld,
                          mcr_least(run - p, side), width, real);
            copy_rows(element(to, j * to_ld + i, real), to_ld, strip, RUN, width, run, real);
        }
    stream_end();
}

void mcr_mirror(void *a, int64_t n, int64_t ld, size_t real)
{
    const int64_t side = (int64_t)(LINE / real);
    for (int64_t i0 = 0; i0 < n; i0 += side) {
        int64_t rows = mcr_least(n - i0, side);
        for (int64_t i = i0; i < i0 + rows; i++)
            for (int64_t j = i + 1; j < i0 + rows; j++)
                copy_one(a, j * ld + i, a, i * ld + j, real);
        for (int64_t j = i0 + side; j < n; j += side)
            transpose(element(a, j * ld + i0, real), ld, element_of(a, i0 * ld + j, real), ld, rows,
                      mcr_least(n - j, side), real);
    }
}
