/* vmath.h (internal): elementwise functions on contiguous arrays, in place, float or double.
 *
 * Errors are in units in the last place (ulp) against the exact result; they are tested. No
 * alignment is needed. Each result depends only on its element, not on the position in the array.
 * Exponentials that underflow give 0. Nothing fails or keeps state.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_LINALG_VMATH_H
#define MCR_LINALG_VMATH_H

#include <stdint.h>

/* "real" is float or double, depending on the table; a and b hold n reals; scalars are rounded to
 * real. */
typedef struct mcr_vmath {
    int32_t bytes; /* of a real: 4 or 8 */

    void (*exp)(void *a, int64_t n);                  /* 2 ulp; overflow gives infinity */
    void (*exp_scaled)(void *a, double s, int64_t n); /* exp(s a): 2 ulp of the rounded s a */
    /* exp(-gamma a) for a, gamma >= 0, bit for bit as in tiles of MCR_TILE_RBF. */
    void (*decay)(void *a, double gamma, int64_t n);
    void (*log)(void *a, int64_t n);              /* 2 ulp; 0 gives -infinity, a < 0 NaN */
    void (*tanh)(void *a, int64_t n);             /* 4 ulp */
    void (*sqrt)(void *a, int64_t n);             /* correctly rounded */
    void (*sin)(void *a, int64_t n);              /* 3 ulp; slow where */
    void (*cos)(void *a, int64_t n);              /* |a| > 12,800 (double: 1e8) */
    void (*power)(void *a, int32_t p, int64_t n); /* a^p by squaring, p >= 0; a^0 = 1 */
    /* a^p for a >= 0: 2 + 2 |p ln a| ulp. 0^p is 0 for p > 0, 1 for p = 0, else infinity. */
    void (*real_power)(void *a, double p, int64_t n);
    /* a holds squared distances. r = s sqrt(a); order 0: exp(-r), 1: (1 + r) exp(-r),
     * 2: (1 + r + r^2 / 3) exp(-r): the Matern functions of nu = order + 1/2. */
    void (*matern)(void *a, double s, int32_t order, int64_t n);

    void (*fill)(void *a, double s, int64_t n);
    void (*affine)(void *a, double s, double c, int64_t n);          /* a = s a + c */
    void (*add)(void *a, const void *b, int64_t n);                  /* a += b */
    void (*multiply)(void *a, const void *b, int64_t n);             /* a *= b */
    void (*add_scaled)(void *a, double s, const void *b, int64_t n); /* a += s b */
    void (*mul_scaled)(void *a, double s, const void *b, int64_t n); /* a *= s b (s b first) */
    void (*at_least)(void *a, double s, int64_t n);                  /* a = max(a, s) */
    void (*to_double)(double *to, const void *a, int64_t n);         /* may not overlap */
    void (*from_double)(void *a, const double *from, int64_t n);
    double (*dot)(const void *a, const double *b, int64_t n); /* in double, fixed order */
    /* The sum of a (b - at)^2, computed like the previous one. */
    double (*moment)(const void *a, const double *b, double at, int64_t n);
    /* y += A x in double, in the order of the terms: element (i, t) of A, which is rows x terms, is
     * a[i * next + t * step]; y is rows x MCR_THIN, x is terms x MCR_THIN, and at least the first
     * `cols` columns are computed. Prefetches the memory from `ahead` to `end`, which is needed
     * next. */
    void (*thin)(double *y, const void *a, int64_t next, int64_t step, int64_t rows, int64_t terms,
                 const double *x, int64_t cols, const char *ahead, const char *end);
    /* The dot products of rows of A with columns: y[c * y_ld + r] = sum of a[r * next + t]
     * x[c * x_ld + t] over the terms t, in double. Each depends on its row and column only. */
    void (*dots)(double *y, int64_t y_ld, const void *a, int64_t next, int64_t rows, int64_t terms,
                 const double *x, int64_t x_ld, int64_t cols);
} mcr_vmath;

enum { MCR_THIN = 16 };

#endif
