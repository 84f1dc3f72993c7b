/* vmath.c: elementwise functions of one instruction set in one precision; see simd.h for how it is
 * compiled, vmath.h for the contract.
 *
 * The polynomials were fitted for the smallest relative error, with their lowest coefficients
 * rounded first; the comments give the error of the fit alone.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "linalg/vmath.h"

#include <math.h>
#include <stdbool.h>

#include "linalg/simd.h"
#include "linalg/simd_math.h"

/* Applies `expression`, in which x is the vector of elements, to a[0 .. n). The last, partial
 * vector is padded, so that an element's result does not depend on its position. */
#define MAP(a, n, expression)                                                                      \
    do {                                                                                           \
        real *at_ = (a);                                                                           \
        int64_t left_ = (n);                                                                       \
        for (; left_ >= LANES; left_ -= LANES, at_ += LANES) {                                     \
            vreal x = load(at_);                                                                   \
            store(at_, (expression));                                                              \
        }                                                                                          \
        if (left_ > 0) {                                                                           \
            vreal x = splat(1);                                                                    \
            memcpy(&x, at_, (size_t)left_ * sizeof(real));                                         \
            x = (expression);                                                                      \
            memcpy(at_, &x, (size_t)left_ * sizeof(real));                                         \
        }                                                                                          \
    } while (0)

/* The same with y the vector of elements of b. */
#define MAP2(a, b, n, expression)                                                                  \
    do {                                                                                           \
        real *at_ = (a);                                                                           \
        const real *by_ = (b);                                                                     \
        int64_t left_ = (n);                                                                       \
        for (; left_ >= LANES; left_ -= LANES, at_ += LANES, by_ += LANES) {                       \
            vreal x = load(at_), y = load(by_);                                                    \
            store(at_, (expression));                                                              \
        }                                                                                          \
        if (left_ > 0) {                                                                           \
            vreal x = splat(1), y = splat(1);                                                      \
            memcpy(&x, at_, (size_t)left_ * sizeof(real));                                         \
            memcpy(&y, by_, (size_t)left_ * sizeof(real));                                         \
            x = (expression);                                                                      \
            memcpy(at_, &x, (size_t)left_ * sizeof(real));                                         \
        }                                                                                          \
    } while (0)

/* log((1 + s) / (1 - s)) = 2 s + s z L(z), z = s^2, |s| <= 0.172: relative error 2^-30 (2^-59). */
static const real log_terms[] = {
#if MCR_REAL_BITS == 32
    0x1.555554p-1f,
    0x1.999bd4p-2f,
    0x1.23f1a2p-2f,
    0x1.ec1d96p-3f,
#else
    0x1.5555555555595p-1, 0x1.999999997f26cp-2, 0x1.249249427c47dp-2, 0x1.c71c51a26870dp-3,
    0x1.746652b1500b2p-3, 0x1.399fd376aebe3p-3, 0x1.2f17efa94bb3cp-3,
#endif
};

/* x = 2^k (1 + f) with 1 + f between sqrt(1/2) and sqrt(2), s = f / (2 + f); the sum is ordered as
 * in Tang 1990 so that the leading part is exact. */
INLINE vreal logarithm(vreal x)
{
    const real least_normal = BY_REAL(0x1p-126f, 0x1p-1022);
    const real lift = BY_REAL(0x1p25f, 0x1p54);
    const real lift_bits = BY_REAL(25, 54);
    const bits one = BY_REAL(0x3f800000u, 0x3ff0000000000000u);
    const bits root_half = BY_REAL(0x3f3504f3u, 0x3fe6a09e667f3bcdu);
    const bits mantissa = BY_REAL(0x007fffffu, 0x000fffffffffffffu);
    const real shift = BY_REAL(0x1p23f, 0x1p52); /* converts small integer bits to a real */
    const real bias = BY_REAL(127, 1023);
    const real ln2_high = BY_REAL(0x1.62e4p-1f, 0x1.62e42feep-1);
    const real ln2_low = BY_REAL(0x1.7f7d1cp-20f, 0x1.a39ef35793c76p-33);
    const real infinity = BY_REAL(__builtin_inff(), __builtin_inf());

    vwhole tiny = x < least_normal;
    vbits b = (vbits)choose(tiny, x * lift, x) + (one - root_half);
    vreal k = (vreal)((b >> MANTISSA_BITS) | (vbits)splat(shift)) - (shift + bias);
    k -= (vreal)(tiny & (vwhole)splat(lift_bits));
    vreal f = (vreal)((b & mantissa) + root_half) - 1;

    vreal s = f / (f + 2);
    vreal z = s * s;
    vreal h = f * f * BY_REAL(0.5f, 0.5);
    vreal tail = z * polynomial(z, log_terms, TERMS(log_terms));
    vreal low = multiply_add(s, h + tail, k * ln2_low);
    vreal y = multiply_add(k, splat(ln2_high), f - (h - low));

    y = choose(x == infinity, x, y);
    y = choose(x == 0, splat(-infinity), y);
    return choose((x < 0) | (x != x), splat(BY_REAL(__builtin_nanf(""), __builtin_nan(""))), y);
}

/* tanh(x) = x + x^3 q(x^2) for |x| <= 0.5625: relative error 2^-29 (double: 2^-59). */
static const real tanh_terms[] = {
#if MCR_REAL_BITS == 32
    -0x1.555548p-2f, 0x1.110c66p-3f, -0x1.b907cep-5f, 0x1.58267ep-6f, -0x1.94d716p-8f,
#else
    -0x1.555555555554bp-2,  0x1.1111111110271p-3,  -0x1.ba1ba1b9334a6p-5,  0x1.664f4848ee1b0p-6,
    -0x1.226e2cf8b23f1p-7,  0x1.d6d24671ed32bp-9,  -0x1.7d8b8ae417518p-10, 0x1.346067e2cf800p-11,
    -0x1.e8087f26c9240p-13, 0x1.596dd971359e3p-14, -0x1.3d1f6e3992738p-16,
#endif
};

/* For larger |x| 1 - 2 / (e^2|x| + 1), which does not cancel there. */
INLINE vreal hyperbolic_tangent(vreal x)
{
    vreal a = absolute(x);
    vreal y = x * x;
    vreal near = multiply_add(x * y, polynomial(y, tanh_terms, TERMS(tanh_terms)), x);
    vreal far = 1 - 2 / (exponential(a + a) + 1);
    vbits sign = (vbits)x ^ (vbits)a;
    return choose(a < BY_REAL(0.5625f, 0.5625), near, (vreal)((vbits)far | sign));
}

/* sin(x) = x + x^3 S(x^2), cos(x) = 1 - x^2 / 2 + x^4 C(x^2) for |x| <= pi / 4: 2^-28 (2^-58). */
static const real sin_terms[] = {
#if MCR_REAL_BITS == 32
    -0x1.555546p-3f,
    0x1.11077ep-7f,
    -0x1.9956bp-13f,
#else
    -0x1.5555555555548p-3, 0x1.111111110f77cp-7,   -0x1.a01a019bf7bcbp-13,
    0x1.71de35649b231p-19, -0x1.ae5e591921411p-26, 0x1.5d8f97c9f3d4bp-33,
#endif
};
static const real cos_terms[] = {
#if MCR_REAL_BITS == 32
    0x1.55554ap-5f,
    -0x1.6c0c2ep-10f,
    0x1.99eacep-16f,
#else
    0x1.555555555554bp-5,   -0x1.6c16c16c1504bp-10, 0x1.a01a019c9773cp-16,
    -0x1.27e4f7f8e48edp-22, 0x1.1ee9e1583270bp-29,  -0x1.8fa99010a4496p-37,
#endif
};

/* pi / 2 in parts so short that their products with a whole number of 13 (26) bits are exact: the
 * reduction of Cody and Waite. Valid up to this limit: */
#define SINE_LIMIT BY_REAL(12800.0f, 1.05e8)
static const real half_pi[] = {
#if MCR_REAL_BITS == 32
    0x1.92p0f,
    0x1.fb4p-12f,
    0x1.444p-24f,
    0x1.68c234p-39f,
#else
    0x1.921fb54p0,
    0x1.10b461p-30,
    0x1.a626330p-58,
    0x1.45c06e0e68948p-86,
#endif
};

/* sin(x + turns pi / 2). */
INLINE vreal sine(vreal x, bits turns)
{
    vreal shifted = x * BY_REAL(0x1.45f306p-1f, 0x1.45f306dc9c883p-1) + ROUND_SHIFT;
    vreal n = shifted - ROUND_SHIFT;
    vreal r = x;
    UNROLL for (int i = 0; i < TERMS(half_pi); i++) r -= n * half_pi[i];
    vbits quarter = (vbits)shifted + turns;

    vreal y = r * r;
    vreal s = multiply_add(r * y, polynomial(y, sin_terms, TERMS(sin_terms)), r);
    vreal c = multiply_add(y * y, polynomial(y, cos_terms, TERMS(cos_terms)),
                           1 - y * BY_REAL(0.5f, 0.5));
    vreal value = choose((vwhole)((quarter & 1) == 1), c, s);
    return (vreal)((vbits)value ^ ((quarter & 2) << (MCR_REAL_BITS - 2)));
}

static bool all_within(const real *x, int64_t n, real limit)
{
    vreal most = splat(0);
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        most = larger(absolute(load(x + i)), most);
    bool within = true;
    for (int q = 0; q < LANES; q++)
        within = within && most[q] <= limit;
    for (; i < n; i++)
        within = within && x[i] <= limit && x[i] >= -limit;
    return within;
}

/* Very large arguments are left to the C library, one by one. */
static void sines_far(real *a, bits turns, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (a[i] <= SINE_LIMIT && a[i] >= -SINE_LIMIT)
            a[i] = sine(splat(a[i]), turns)[0];
        else
            a[i] = turns ? BY_REAL(cosf, cos)(a[i]) : BY_REAL(sinf, sin)(a[i]);
}

static void sines(real *a, bits turns, int64_t n)
{
    enum { BLOCK = 1024 };
    for (int64_t i = 0; i < n; i += BLOCK) {
        int64_t count = n - i < BLOCK ? n - i : BLOCK;
        if (all_within(a + i, count, SINE_LIMIT))
            MAP(a + i, count, sine(x, turns));
        else
            sines_far(a + i, turns, count);
    }
}

static void map_sin(void *a, int64_t n)
{
    sines(a, 0, n);
}

static void map_cos(void *a, int64_t n)
{
    sines(a, 1, n);
}

/* Functions of each element alone. */
#define MAP_FUNCTION(name, expression)                                                             \
    static void name(void *a, int64_t n)                                                           \
    {                                                                                              \
        MAP(a, n, expression);                                                                     \
    }
MAP_FUNCTION(map_exp, exponential(x))
MAP_FUNCTION(map_log, logarithm(x))
MAP_FUNCTION(map_tanh, hyperbolic_tangent(x))
MAP_FUNCTION(map_sqrt, square_root(x))

static void map_exp_scaled(void *a, double s, int64_t n)
{
    vreal factor = splat((real)s);
    MAP(a, n, exponential(x * factor));
}

static void map_decay(void *a, double gamma, int64_t n)
{
    enum { AT_ONCE = TOGETHER * LANES };
    vreal c = decay_exponent(gamma), far = decay_far(gamma), v[TOGETHER];
    real *at = a;
    for (; n >= AT_ONCE; n -= AT_ONCE, at += AT_ONCE) {
        UNROLL for (int i = 0; i < TOGETHER; i++) v[i] = load(at + i * LANES);
        decay(v, c, far);
        UNROLL for (int i = 0; i < TOGETHER; i++) store(at + i * LANES, v[i]);
    }
    if (n > 0) {
        UNROLL for (int i = 0; i < TOGETHER; i++) v[i] = splat(0);
        memcpy(v, at, (size_t)n * sizeof(real));
        decay(v, c, far);
        memcpy(at, v, (size_t)n * sizeof(real));
    }
}

static void map_power(void *a, int32_t p, int64_t n)
{
    MAP(a, n, whole_power(x, p));
}

static void fill(void *a, double s, int64_t n)
{
    real *x = a;
    for (int64_t i = 0; i < n; i++)
        x[i] = (real)s;
}

static void map_real_power(void *a, double p, int64_t n)
{
    if (p == 0) {
        fill(a, 1, n);
        return;
    }
    vreal exponent = splat((real)p);
    MAP(a, n, exponential(exponent * logarithm(x)));
}

INLINE vreal matern(vreal r, int32_t order)
{
    vreal e = exponential(-r);
    if (order == 0)
        return e;
    vreal p = order == 1 ? r : multiply_add(r * r, splat((real)1 / 3), r);
    return e * (p + 1);
}

static void map_matern(void *a, double s, int32_t order, int64_t n)
{
    vreal factor = splat((real)s);
    MAP(a, n, matern(factor * square_root(x), order));
}

static void affine(void *a, double s, double c, int64_t n)
{
    vreal factor = splat((real)s), offset = splat((real)c);
    MAP(a, n, multiply_add(x, factor, offset));
}

static void at_least(void *a, double s, int64_t n)
{
    vreal bound = splat((real)s);
    MAP(a, n, larger(x, bound));
}

static void add(void *a, const void *b, int64_t n)
{
    MAP2(a, b, n, x + y);
}

static void multiply(void *a, const void *b, int64_t n)
{
    MAP2(a, b, n, x * y);
}

static void add_scaled(void *a, double s, const void *b, int64_t n)
{
    vreal factor = splat((real)s);
    MAP2(a, b, n, multiply_add(factor, y, x));
}

static void mul_scaled(void *a, double s, const void *b, int64_t n)
{
    vreal factor = splat((real)s);
    MAP2(a, b, n, x * (factor * y));
}

static void to_double(double *to, const void *a, int64_t n)
{
    const real *x = a;
    for (int64_t i = 0; i < n; i++)
        to[i] = (double)x[i];
}

static void from_double(void *a, const double *from, int64_t n)
{
    real *x = a;
    for (int64_t i = 0; i < n; i++)
        x[i] = (real)from[i];
}

/* Sums of products are taken in so many vectors. */
enum { SUMS = 4, STEP = SUMS * DOUBLE_LANES };

INLINE double add_lanes(const vdouble sum[SUMS])
{
    vdouble all = (sum[0] + sum[1]) + (sum[2] + sum[3]);
    double total = 0;
    for (int v = 0; v < DOUBLE_LANES; v++)
        total += all[v];
    return total;
}

static double dot(const void *a, const double *b, int64_t n)
{
    const real *x = a;
    vdouble sum[SUMS] = {{0}};
    int64_t i = 0;
    for (; i + STEP <= n; i += STEP)
        UNROLL for (int v = 0; v < SUMS; v++)
        {
            int64_t at = i + v * DOUBLE_LANES;
            sum[v] = multiply_add_double(load_as_double(x + at), load_double(b + at), sum[v]);
        }
    double total = add_lanes(sum);
    for (; i < n; i++)
        total = multiply_add_one_double((double)x[i], b[i], total);
    return total;
}

static double moment(const void *a, const double *b, double at, int64_t n)
{
    const real *w = a;
    vdouble sum[SUMS] = {{0}}, centre = splat_double(at);
    int64_t i = 0;
    for (; i + STEP <= n; i += STEP)
        UNROLL for (int v = 0; v < SUMS; v++)
        {
            vdouble x = load_double(b + i + v * DOUBLE_LANES) - centre;
            vdouble k = load_as_double(w + i + v * DOUBLE_LANES);
            sum[v] = multiply_add_double(k * x, x, sum[v]);
        }
    double total = add_lanes(sum);
    for (; i < n; i++)
        total = multiply_add_one_double((double)w[i] * (b[i] - at), b[i] - at, total);
    return total;
}

/* As many rows at once as the registers allow. */
enum {
    THIN_VECTORS = MCR_THIN / DOUBLE_LANES,
    THIN_ROWS = MCR_SIMD_BYTES == 64   ? 8
                : MCR_SIMD_BYTES == 32 ? 3
                                       : 1
};

enum { CACHE_LINE = 64 };

INLINE void thin_rows(double *y, const real *a, int64_t next, int64_t step, int64_t terms,
                      const double *x, const int rows, const int vectors, const char *ahead)
{
    vdouble sum[THIN_ROWS][THIN_VECTORS];
    UNROLL for (int r = 0; r < rows; r++) UNROLL for (int v = 0; v < vectors; v++)
        sum[r][v] = load_double(y + r * MCR_THIN + v * DOUBLE_LANES);
    for (int64_t t = 0; t < terms; t++) {
        vdouble z[THIN_VECTORS];
        if (ahead)
            __builtin_prefetch(ahead + t * CACHE_LINE, 0, 2);
        UNROLL for (int v = 0; v < vectors; v++)
            z[v] = load_double(x + t * MCR_THIN + v * DOUBLE_LANES);
        UNROLL for (int r = 0; r < rows; r++)
        {
            vdouble s = splat_double((double)a[r * next + t * step]);
            UNROLL for (int v = 0; v < vectors; v++)
                sum[r][v] = multiply_add_double(s, z[v], sum[r][v]);
        }
    }
    UNROLL for (int r = 0; r < rows; r++) UNROLL for (int v = 0; v < vectors; v++)
        store_double(y + r * MCR_THIN + v * DOUBLE_LANES, sum[r][v]);
}

INLINE void thin_by(double *y, const real *a, int64_t next, int64_t step, int64_t rows,
                    int64_t terms, const double *x, const int vectors, const char *ahead,
                    const char *end)
{
    for (; rows >= THIN_ROWS; rows -= THIN_ROWS) {
        if (ahead && end - ahead >= terms * CACHE_LINE)
            thin_rows(y, a, next, step, terms, x, THIN_ROWS, vectors, ahead);
        else
            thin_rows(y, a, next, step, terms, x, THIN_ROWS, vectors, NULL);
        ahead = ahead ? ahead + terms * CACHE_LINE : NULL;
        y += THIN_ROWS * MCR_THIN;
        a += THIN_ROWS * next;
    }
    for (; rows > 0; rows--) {
        thin_rows(y, a, next, step, terms, x, 1, vectors, NULL);
        y += MCR_THIN;
        a += next;
    }
}

static void thin(double *y, const void *a, int64_t next, int64_t step, int64_t rows, int64_t terms,
                 const double *x, int64_t cols, const char *ahead, const char *end)
{
    int64_t vectors = (cols + DOUBLE_LANES - 1) / DOUBLE_LANES;
    if (vectors <= THIN_VECTORS / 4)
        thin_by(y, a, next, step, rows, terms, x, THIN_VECTORS < 4 ? 1 : THIN_VECTORS / 4, ahead,
                end);
    else if (vectors <= THIN_VECTORS / 2)
        thin_by(y, a, next, step, rows, terms, x, THIN_VECTORS / 2, ahead, end);
    else if (vectors <= THIN_VECTORS * 3 / 4)
        thin_by(y, a, next, step, rows, terms, x, THIN_VECTORS * 3 / 4, ahead, end);
    else
        thin_by(y, a, next, step, rows, terms, x, THIN_VECTORS, ahead, end);
}

/* Columns at a time, and rows with few columns and with more. */
enum {
    DOTS_COLS = 5,
    DOTS_ROWS_MANY = MCR_SIMD_BYTES == 64 ? 8 : 4,
    DOTS_ROWS = MCR_SIMD_BYTES == 64 ? 4 : 2
};

INLINE void dots_block(double *y, int64_t y_ld, const real *a, int64_t next, int64_t terms,
                       const double *x, int64_t x_ld, const int rows, const int cols)
{
    vdouble sum[DOTS_ROWS_MANY][DOTS_COLS];
    UNROLL for (int r = 0; r < rows; r++) UNROLL for (int c = 0; c < cols; c++)
        sum[r][c] = (vdouble){0};
    int64_t t = 0;
    for (; t + DOUBLE_LANES <= terms; t += DOUBLE_LANES) {
        vdouble z[DOTS_COLS];
        UNROLL for (int c = 0; c < cols; c++) z[c] = load_double(x + c * x_ld + t);
        UNROLL for (int r = 0; r < rows; r++)
        {
            vdouble k = load_as_double(a + r * next + t);
            UNROLL for (int c = 0; c < cols; c++)
                sum[r][c] = multiply_add_double(k, z[c], sum[r][c]);
        }
    }
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < cols; c++) {
            double total = 0;
            for (int v = 0; v < DOUBLE_LANES; v++)
                total += sum[r][c][v];
            for (int64_t e = t; e < terms; e++)
                total += (double)a[r * next + e] * x[c * x_ld + e];
            y[c * y_ld + r] = total;
        }
}

INLINE void dots_by(double *y, int64_t y_ld, const real *a, int64_t next, int64_t rows,
                    int64_t terms, const double *x, int64_t x_ld, const int cols)
{
    const int most = cols <= 2 ? DOTS_ROWS_MANY : DOTS_ROWS;
    int64_t r = 0;
    for (; r + most <= rows; r += most)
        dots_block(y + r, y_ld, a + r * next, next, terms, x, x_ld, most, cols);
    for (; r < rows; r++)
        dots_block(y + r, y_ld, a + r * next, next, terms, x, x_ld, 1, cols);
}

static void dots(double *y, int64_t y_ld, const void *a, int64_t next, int64_t rows, int64_t terms,
                 const double *x, int64_t x_ld, int64_t cols)
{
    for (; cols > 0; cols -= DOTS_COLS, y += DOTS_COLS * y_ld, x += DOTS_COLS * x_ld)
        switch (cols) {
        case 1: dots_by(y, y_ld, a, next, rows, terms, x, x_ld, 1); break;
        case 2: dots_by(y, y_ld, a, next, rows, terms, x, x_ld, 2); break;
        case 3: dots_by(y, y_ld, a, next, rows, terms, x, x_ld, 3); break;
        case 4: dots_by(y, y_ld, a, next, rows, terms, x, x_ld, 4); break;
        default: dots_by(y, y_ld, a, next, rows, terms, x, x_ld, DOTS_COLS);
        }
}

extern const mcr_vmath SYMBOL(mcr_vmath_);

const mcr_vmath SYMBOL(mcr_vmath_) = {
    .bytes = sizeof(real),
    .exp = map_exp,
    .exp_scaled = map_exp_scaled,
    .decay = map_decay,
    .log = map_log,
    .tanh = map_tanh,
    .sqrt = map_sqrt,
    .sin = map_sin,
    .cos = map_cos,
    .power = map_power,
    .real_power = map_real_power,
    .matern = map_matern,
    .fill = fill,
    .affine = affine,
    .add = add,
    .multiply = multiply,
    .add_scaled = add_scaled,
    .mul_scaled = mul_scaled,
    .at_least = at_least,
    .to_double = to_double,
    .from_double = from_double,
    .dot = dot,
    .moment = moment,
    .thin = thin,
    .dots = dots,
};
