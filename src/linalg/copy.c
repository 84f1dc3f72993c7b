/* copy.c: moving tiles out of the cache.
 *
 * Streaming stores pay when whole cache lines are written: rows are copied line by line, and a tile
 * is transposed in squares of one cache line. Plain C elsewhere than on x86-64.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "linalg/copy.h"

#include <stdbool.h>
#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

enum { LINE = 64 };

static bool aligned(const void *p, size_t to)
{
    return (uintptr_t)p % to == 0;
}

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

void mcr_copy_out(void *to, int64_t to_ld, const void *from, int64_t from_ld, int64_t rows,
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
    stream_end();
}

static void transpose_plain(char *to, int64_t to_ld, const char *from, int64_t from_ld,
                            int64_t rows, int64_t cols, size_t real)
{
    for (int64_t j = 0; j < cols; j++)
        for (int64_t i = 0; i < rows; i++)
            memcpy(to + (size_t)(j * to_ld + i) * real, from + (size_t)(i * from_ld + j) * real,
                   real);
}

/* A square of one line a side: 16 x 16 floats or 8 x 8 doubles, `to` rows aligned to a line. */
static void transpose_square_f32(float *to, int64_t to_ld, const float *from, int64_t from_ld)
{
    _Alignas(LINE) float t[16][16];
    for (int64_t i = 0; i < 16; i += 4)
        for (int64_t j = 0; j < 16; j += 4) {
            const float *f = from + i * from_ld + j;
#if defined(__SSE2__)
            __m128 a = _mm_loadu_ps(f), b = _mm_loadu_ps(f + from_ld);
            __m128 c = _mm_loadu_ps(f + 2 * from_ld), d = _mm_loadu_ps(f + 3 * from_ld);
            _MM_TRANSPOSE4_PS(a, b, c, d);
            _mm_store_ps(&t[j][i], a);
            _mm_store_ps(&t[j + 1][i], b);
            _mm_store_ps(&t[j + 2][i], c);
            _mm_store_ps(&t[j + 3][i], d);
#else
            for (int64_t p = 0; p < 4; p++)
                for (int64_t q = 0; q < 4; q++)
                    t[j + q][i + p] = f[p * from_ld + q];
#endif
        }
    for (int64_t j = 0; j < 16; j++)
        stream_line(to + j * to_ld, t[j]);
}

static void transpose_square_f64(double *to, int64_t to_ld, const double *from, int64_t from_ld)
{
    _Alignas(LINE) double t[8][8];
    for (int64_t i = 0; i < 8; i += 2)
        for (int64_t j = 0; j < 8; j += 2) {
            const double *f = from + i * from_ld + j;
#if defined(__SSE2__)
            __m128d a = _mm_loadu_pd(f), b = _mm_loadu_pd(f + from_ld);
            _mm_store_pd(&t[j][i], _mm_unpacklo_pd(a, b));
            _mm_store_pd(&t[j + 1][i], _mm_unpackhi_pd(a, b));
#else
            for (int64_t p = 0; p < 2; p++)
                for (int64_t q = 0; q < 2; q++)
                    t[j + q][i + p] = f[p * from_ld + q];
#endif
        }
    for (int64_t j = 0; j < 8; j++)
        stream_line(to + j * to_ld, t[j]);
}

void mcr_copy_out_transposed(void *to, int64_t to_ld, const void *from, int64_t from_ld,
                             int64_t rows, int64_t cols, size_t real)
{
    const int64_t side = (int64_t)(LINE / real);
    int64_t whole_rows = rows / side * side, whole_cols = cols / side * side;
    if (!aligned(to, LINE) || (size_t)to_ld * real % LINE != 0)
        whole_rows = whole_cols = 0;
    for (int64_t j = 0; j < whole_cols; j += side)
        for (int64_t i = 0; i < whole_rows; i += side) {
            if (real == sizeof(float))
                transpose_square_f32((float *)to + j * to_ld + i, to_ld,
                                     (const float *)from + i * from_ld + j, from_ld);
            else
                transpose_square_f64((double *)to + j * to_ld + i, to_ld,
                                     (const double *)from + i * from_ld + j, from_ld);
        }
    stream_end();
    char *t = to;
    const char *f = from;
    transpose_plain(t + (size_t)whole_rows * real, to_ld, f + (size_t)(whole_rows * from_ld) * real,
                    from_ld, rows - whole_rows, whole_cols, real);
    transpose_plain(t + (size_t)(whole_cols * to_ld) * real, to_ld, f + (size_t)whole_cols * real,
                    from_ld, rows, cols - whole_cols, real);
}

void mcr_mirror(void *a, int64_t n, int64_t ld, size_t real)
{
    char *p = a;
    for (int64_t i = 1; i < n; i++)
        for (int64_t j = 0; j < i; j++)
            memcpy(p + (size_t)(i * ld + j) * real, p + (size_t)(j * ld + i) * real, real);
}
