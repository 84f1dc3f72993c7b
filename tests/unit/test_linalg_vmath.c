/* Vector maths of every instruction set this machine runs, against the long double functions of the
 * mathematical library, in units in the last place.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "linalg/tiles.h"

enum { TABLES_MAX = 8, N = 40003 };
static const mcr_vmath *tables[TABLES_MAX];
static char names[TABLES_MAX][16];
static int table_count;

#if defined(MCR_HAVE_WIDE)
extern const mcr_tile_kit mcr_tile_kit_wide_f32, mcr_tile_kit_wide_f64;
#endif

static void add_table(const char *isa, const mcr_vmath *math)
{
    snprintf(names[table_count], sizeof names[0], "%s f%d", isa, (int)math->bytes * 8);
    tables[table_count++] = math;
}

static void find_tables(void)
{
    static const char *const isa[] = {"base", "v3", "v4"};
    for (int i = 0; i < 3; i++) {
        const mcr_tiles *tiles = mcr_tiles_named(isa[i]);
        if (tiles) {
            add_table(isa[i], tiles->f32->math);
            add_table(isa[i], tiles->f64->math);
        }
    }
#if defined(MCR_HAVE_WIDE)
    if (mcr_tiles_named("v3")) {
        add_table("wide", mcr_tile_kit_wide_f32.math);
        add_table("wide", mcr_tile_kit_wide_f64.math);
    }
#endif
}

static uint64_t state = 7;

static double uniform(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (double)(state >> 11) * 0x1p-53;
}

static double get(const mcr_vmath *math, const void *a, int64_t i)
{
    return math->bytes == 4 ? (double)((const float *)a)[i] : ((const double *)a)[i];
}

static void set(const mcr_vmath *math, void *a, int64_t i, double v)
{
    if (math->bytes == 4)
        ((float *)a)[i] = (float)v;
    else
        ((double *)a)[i] = v;
}

/* The distance of got from the exact value, in units in the last place of that value. */
static double ulps(const mcr_vmath *math, double got, long double want)
{
    int digits = math->bytes == 4 ? FLT_MANT_DIG : DBL_MANT_DIG;
    int least = math->bytes == 4 ? FLT_MIN_EXP : DBL_MIN_EXP;
    if (isnan(want) || isnan(got))
        return isnan(want) && isnan(got) ? 0 : INFINITY;
    if (isinf(got) || isinf(want))
        return (double)want == got ? 0 : INFINITY;
    int exponent;
    (void)frexpl(want, &exponent);
    if (exponent < least)
        exponent = least;
    return (double)fabsl(((long double)got - want) / ldexpl(1, exponent - digits));
}

typedef enum function {
    EXP,
    EXP_SCALED,
    DECAY,
    LOG,
    TANH,
    SQRT,
    SIN,
    COS,
    CUBE,
    REAL_POWER,
    MATERN
} function;

static void apply(const mcr_vmath *math, function f, void *a, int64_t n)
{
    switch (f) {
    case EXP: math->exp(a, n); break;
    case EXP_SCALED: math->exp_scaled(a, -0.5, n); break;
    case DECAY: math->decay(a, 0.5, n); break;
    case LOG: math->log(a, n); break;
    case TANH: math->tanh(a, n); break;
    case SQRT: math->sqrt(a, n); break;
    case SIN: math->sin(a, n); break;
    case COS: math->cos(a, n); break;
    case CUBE: math->power(a, 3, n); break;
    case REAL_POWER: math->real_power(a, -1.75, n); break;
    case MATERN: math->matern(a, 1.0, 2, n); break;
    }
}

static long double exact(function f, double x)
{
    long double v = x;
    switch (f) {
    case EXP: return expl(v);
    case EXP_SCALED:
    case DECAY: return expl(-0.5L * v);
    case LOG: return logl(v);
    case TANH: return tanhl(v);
    case SQRT: return sqrtl(v);
    case SIN: return sinl(v);
    case COS: return cosl(v);
    case CUBE: return v * v * v;
    case REAL_POWER: return powl(v, -1.75L);
    default: return (1 + sqrtl(v) + v / 3) * expl(-sqrtl(v));
    }
}

/* Worst error over points between low and high: half of them even, half by powers of two. */
static double worst(const mcr_vmath *math, function f, double low, double high, double *where)
{
    double *x = malloc(N * sizeof *x), *a = malloc(N * sizeof *a);
    assert_true(x && a);
    for (int i = 0; i < N; i++) {
        double v = low + (high - low) * uniform();
        if (i % 2)
            v = low > 0 ? exp2(log2(low) + (log2(high) - log2(low)) * uniform())
                        : v * exp2(-30 * uniform());
        set(math, a, i, v);
        x[i] = get(math, a, i);
    }
    apply(math, f, a, N);
    double most = 0;
    for (int i = 0; i < N; i++) {
        double u = ulps(math, get(math, a, i), exact(f, x[i]));
        if (u > most) {
            most = u;
            *where = x[i];
        }
    }
    free(x);
    free(a);
    return most;
}

static void test_accuracy(void **unused)
{
    (void)unused;
    static const struct {
        const char *name;
        function f;
        double low[2], high[2]; /* float, double */
        double limit;
    } cases[] = {
        {"exp", EXP, {-86, -706}, {88.7, 709.7}, 2},
        {"exp near 0", EXP, {-1, -1}, {1, 1}, 2},
        {"exp scaled", EXP_SCALED, {0, 0}, {170, 1400}, 2},
        {"decay near 0", DECAY, {0, 0}, {2, 2}, 3},
        {"log", LOG, {1e-37, 1e-300}, {1e38, 1e300}, 2},
        {"log near 1", LOG, {0.5, 0.5}, {2, 2}, 2},
        {"tanh", TANH, {-10, -20}, {10, 20}, 4},
        {"tanh near 0", TANH, {-1, -1}, {1, 1}, 4},
        {"sqrt", SQRT, {1e-37, 1e-300}, {1e38, 1e300}, 0.5001},
        {"sin", SIN, {-7, -7}, {7, 7}, 3},
        {"cos", COS, {-7, -7}, {7, 7}, 3},
        {"sin far", SIN, {-12800, -1e8}, {12800, 1e8}, 3},
        {"cos far", COS, {-12800, -1e8}, {12800, 1e8}, 3},
        {"sin very far", SIN, {-1e9, -1e12}, {1e9, 1e12}, 2},
        {"cube", CUBE, {-1e3, -1e3}, {1e3, 1e3}, 1.5},
        {"real power", REAL_POWER, {0.5, 0.5}, {2, 2}, 6},
        {"matern", MATERN, {0, 0}, {50, 50}, 8},
    };
    for (int t = 0; t < table_count; t++)
        for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
            int wide = tables[t]->bytes == 8;
            double where = 0;
            double most = worst(tables[t], cases[c].f, cases[c].low[wide], cases[c].high[wide],
                                &where);
            if (getenv("MCR_TEST_SHOW"))
                printf("%s %s: %.2f ulp at %.17g\n", names[t], cases[c].name, most, where);
            if (!(most <= cases[c].limit))
                fail_msg("%s %s: error of %.2f ulp at %.17g, the limit is %g", names[t],
                         cases[c].name, most, where, cases[c].limit);
        }
}

static void check_one(const mcr_vmath *math, function f, double x, double want)
{
    double a[1];
    set(math, a, 0, x);
    apply(math, f, a, 1);
    double got = get(math, a, 0);
    if (!(got == want || (isnan(got) && isnan(want))))
        fail_msg("function %d of %g is %g, want %g", (int)f, x, got, want);
}

static void test_special_values(void **unused)
{
    (void)unused;
    for (int t = 0; t < table_count; t++) {
        const mcr_vmath *math = tables[t];
        check_one(math, EXP, 0, 1);
        check_one(math, EXP, -1e30, 0);
        check_one(math, EXP, -INFINITY, 0);
        check_one(math, EXP, math->bytes == 4 ? -87.5 : -709, 0); /* no denormals */
        check_one(math, EXP, 1000, INFINITY);
        check_one(math, EXP, INFINITY, INFINITY);
        check_one(math, EXP_SCALED, 0, 1);
        check_one(math, DECAY, 0, 1);
        check_one(math, DECAY, math->bytes == 4 ? 175 : 1418, 0); /* no denormals */
        check_one(math, LOG, 1, 0);
        check_one(math, LOG, 0, -INFINITY);
        check_one(math, LOG, -1, NAN);
        check_one(math, LOG, INFINITY, INFINITY);
        check_one(math, TANH, 0, 0);
        check_one(math, TANH, 1e30, 1);
        check_one(math, TANH, -1e30, -1);
        check_one(math, SQRT, 0, 0);
        check_one(math, SIN, 0, 0);
        check_one(math, COS, 0, 1);
        check_one(math, REAL_POWER, 0, INFINITY);
        check_one(math, REAL_POWER, 1, 1);
        check_one(math, MATERN, 0, 1);
        check_one(math, MATERN, 1e9, 0);
        double a[1];
        set(math, a, 0, 0);
        math->real_power(a, 0.5, 1);
        assert_true(get(math, a, 0) == 0);
        math->real_power(a, 0, 1);
        assert_true(get(math, a, 0) == 1);
        set(math, a, 0, 0);
        math->power(a, 0, 1);
        assert_true(get(math, a, 0) == 1);
        set(math, a, 0, math->bytes == 4 ? 0x1p-140 : 0x1p-1060); /* a denormal */
        math->log(a, 1);
        assert_true(fabs(get(math, a, 0) / log(math->bytes == 4 ? 0x1p-140 : 0x1p-1060) - 1) <
                    1e-7);
    }
}

/* Element by element and all at once, from odd addresses: the same bits, and nothing beyond. */
static void test_place_does_not_matter(void **unused)
{
    (void)unused;
    enum { M = 67 };
    for (int t = 0; t < table_count; t++)
        for (int f = EXP; f <= MATERN; f++) {
            const mcr_vmath *math = tables[t];
            double one[M + 4], all[M + 4];
            memset(one, 0x11, sizeof one);
            for (int i = 0; i < M; i++)
                set(math, one, i + 1, i == 40 ? 1e9 : 0.1 + 3 * uniform());
            memcpy(all, one, sizeof one);
            char *base = (char *)all + math->bytes;
            apply(math, (function)f, base, M);
            for (int i = 0; i < M; i++)
                apply(math, (function)f, (char *)one + (i + 1) * math->bytes, 1);
            assert_memory_equal(one, all, sizeof one);
        }
}

static void test_combining(void **unused)
{
    (void)unused;
    enum { M = 53 };
    for (int t = 0; t < table_count; t++) {
        const mcr_vmath *math = tables[t];
        double unit = math->bytes == 4 ? 0x1p-23 : 0x1p-52;
        double a[M], b[M], x[M], y[M], sum = 0, size = 0, moment = 0;
        for (int i = 0; i < M; i++) {
            x[i] = (double)(float)(uniform() - 0.5);
            y[i] = (double)(float)(uniform() - 0.5);
            sum += x[i] * y[i];
            size += fabs(x[i] * y[i]);
            moment += x[i] * (y[i] - 0.3) * (y[i] - 0.3);
        }
        math->from_double(b, y, M);
        for (int step = 0; step < 7; step++) {
            math->from_double(a, x, M);
            switch (step) {
            case 0: math->affine(a, 1.5, 0.25, M); break;
            case 1: math->add(a, b, M); break;
            case 2: math->multiply(a, b, M); break;
            case 3: math->add_scaled(a, 2.5, b, M); break;
            case 4: math->mul_scaled(a, 2.5, b, M); break;
            case 5: math->at_least(a, 0.1, M); break;
            default: math->fill(a, 0.5, M); break;
            }
            for (int i = 0; i < M; i++) {
                double want[] = {1.5 * x[i] + 0.25,
                                 x[i] + y[i],
                                 x[i] * y[i],
                                 x[i] + 2.5 * y[i],
                                 x[i] * (2.5 * y[i]),
                                 x[i] < 0.1 ? (double)(float)0.1 : x[i],
                                 0.5};
                double tolerance = step == 5 ? 1e-8 : 2 * unit;
                assert_true(fabs(get(math, a, i) - want[step]) <= tolerance);
            }
        }
        math->from_double(a, x, M);
        double back[M];
        math->to_double(back, a, M);
        assert_memory_equal(back, x, sizeof x);
        assert_true(fabs(math->dot(a, y, M) - sum) <= 0x1p-50 * size);
        assert_true(math->dot(a, y, 0) == 0);
        assert_true(fabs(math->moment(a, y, 0.3, M) - moment) <= 0x1p-48);
        assert_true(math->moment(a, y, 0.3, 0) == 0);
    }
}

/* Products with few vectors, A by its rows and by its columns. */
static void check_thin(const mcr_vmath *math, int rows, int terms, int cols, bool turned)
{
    enum { MOST = 21 };
    double from[MOST * MOST], x[MOST * MCR_THIN], y[MOST * MCR_THIN];
    _Alignas(64) double buffer[MOST * MOST];
    for (int i = 0; i < MOST * MOST; i++)
        from[i] = (double)((i * 37) % 64) / 64 - 0.5;
    for (int i = 0; i < MOST * MCR_THIN; i++) {
        x[i] = (double)((i * 11) % 32) / 16 - 1;
        y[i] = i;
    }
    math->from_double(buffer, from, MOST * MOST);
    math->thin(y, buffer, turned ? 1 : MOST, turned ? MOST : 1, rows, terms, x, cols,
               turned ? (const char *)buffer : NULL, (const char *)(buffer + MOST * MOST));
    for (int i = 0; i < MOST * MCR_THIN; i++) {
        double want = i; /* all of this is exact */
        int r = i / MCR_THIN, c = i % MCR_THIN;
        for (int k = 0; k < terms && r < rows; k++)
            want += from[turned ? k * MOST + r : r * MOST + k] * x[k * MCR_THIN + c];
        if (c < cols || r >= rows)
            assert_true(y[i] == want);
    }
}

static void test_thin(void **unused)
{
    (void)unused;
    for (int t = 0; t < table_count; t++)
        for (int rows = 0; rows <= 21; rows += 3)
            for (int terms = 0; terms <= 21; terms += 7)
                for (int cols = 1; cols <= MCR_THIN; cols += 3) {
                    check_thin(tables[t], rows, terms, cols, false);
                    check_thin(tables[t], rows, terms, cols, true);
                }
}

/* Each value depends on its row and column only. */
static void test_dots(void **unused)
{
    (void)unused;
    enum { ROWS = 19, COLS = 12, TERMS = 45, LD = 50 };
    double x[COLS * LD], y[COLS * LD], one, from[ROWS * LD], real[ROWS * LD];
    for (int i = 0; i < COLS * LD; i++)
        x[i] = sin(1.3 * i);
    for (int i = 0; i < ROWS * LD; i++)
        from[i] = cos(0.7 * i);
    for (int t = 0; t < table_count; t++)
        for (int cols = 0; cols <= COLS; cols++) {
            const mcr_vmath *math = tables[t];
            int rows = (cols * 7) % (ROWS + 1), terms = TERMS - 3 * cols;
            math->from_double(real, from, ROWS * LD);
            for (int i = 0; i < COLS * LD; i++)
                y[i] = -7;
            math->dots(y, LD, real, LD, rows, terms, x, LD, cols);
            for (int c = 0; c < COLS; c++)
                for (int r = 0; r < LD; r++) {
                    double want = 0;
                    for (int e = 0; e < terms && r < rows; e++)
                        want += get(math, real, r * LD + e) * x[c * LD + e];
                    if (r >= rows || c >= cols) {
                        assert_true(y[c * LD + r] == -7);
                        continue;
                    }
                    assert_true(fabs(y[c * LD + r] - want) < 1e-12);
                    math->dots(&one, 0, (const char *)real + r * LD * math->bytes, 0, 1, terms,
                               x + c * LD, 0, 1);
                    assert_true(y[c * LD + r] == one);
                }
        }
}

int main(void)
{
    find_tables();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accuracy),
        cmocka_unit_test(test_special_values),
        cmocka_unit_test(test_place_does_not_matter),
        cmocka_unit_test(test_combining),
        cmocka_unit_test(test_thin),
        cmocka_unit_test(test_dots),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
