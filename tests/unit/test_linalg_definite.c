/* Inverses of small positive definite matrices: every instruction set, against A A^-1 = 1 in
 * extended precision; matrices that are not positive definite.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "linalg/definite.h"
#include "linalg/tiles.h"

#if defined(MCR_HAVE_WIDE)
extern const mcr_definite_kit mcr_definite_kit_wide_f64;
#endif

typedef struct matrix {
    int64_t n, ld;
    double *a, *inverse, *work;
} matrix;

static double *make(int64_t count)
{
    double *values = aligned_alloc(64, (size_t)(count + 7) / 8 * 64);
    assert_non_null(values);
    return values;
}

/* RBF values of random points, and `shift` on the diagonal. What is above it must not be read. */
static matrix make_matrix(int64_t n, double shift)
{
    matrix m = {.n = n, .ld = mcr_definite_places(n)};
    mcr_random r = mcr_random_stream(3, "definite", (uint64_t)n);
    double *x = make(3 * n);
    m.a = make(m.ld * m.ld);
    m.inverse = make(m.ld * m.ld);
    m.work = make(mcr_definite_work(n));
    for (int64_t i = 0; i < 3 * n; i++)
        x[i] = mcr_random_uniform(&r);
    for (int64_t i = 0; i < m.ld * m.ld; i++)
        m.a[i] = m.inverse[i] = NAN;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++) {
            double d = 0;
            for (int f = 0; f < 3; f++)
                d += (x[3 * i + f] - x[3 * j + f]) * (x[3 * i + f] - x[3 * j + f]);
            m.inverse[i * m.ld + j] = m.a[i * m.ld + j] = exp(-4 * d) + (i == j ? shift : 0);
        }
    free(x);
    return m;
}

static void free_matrix(matrix *m)
{
    free(m->a);
    free(m->inverse);
    free(m->work);
}

static double at(const matrix *m, int64_t i, int64_t j)
{
    return i >= j ? m->a[i * m->ld + j] : m->a[j * m->ld + i];
}

/* Largest |A A^-1 - 1|; the inverse is symmetric. */
static double residual(const matrix *m)
{
    double most = 0;
    for (int64_t i = 0; i < m->n; i++)
        for (int64_t j = 0; j < m->n; j++) {
            long double sum = i == j ? -1 : 0;
            for (int64_t l = 0; l < m->n; l++)
                sum += (long double)at(m, i, l) * (long double)m->inverse[l * m->ld + j];
            most = fmax(most, fabs((double)sum));
            assert_true(m->inverse[i * m->ld + j] == m->inverse[j * m->ld + i]);
        }
    return most;
}

static void check_kit(const mcr_definite_kit *kit)
{
    static const int64_t sizes[] = {1, 2, 15, 16, 17, 31, 32, 33, 48, 63, 100, 161};
    for (size_t t = 0; t < sizeof sizes / sizeof *sizes; t++) {
        matrix m = make_matrix(sizes[t], 0.5);
        assert_true(kit->inverse(m.n, m.inverse, m.work));
        assert_true(residual(&m) < 1e-12);
        free_matrix(&m);
    }
    /* A condition of 1e8, as of floats: what is left is that times the rounding, at most. */
    matrix m = make_matrix(150, 3e-7);
    assert_true(kit->inverse(m.n, m.inverse, m.work));
    assert_true(residual(&m) < 1e-4);
    free_matrix(&m);
    m = make_matrix(40, 0.5);
    m.inverse[35 * m.ld + 35] = 1e-3;
    assert_false(kit->inverse(m.n, m.inverse, m.work));
    free_matrix(&m);
}

static void test_inverse(void **context)
{
    (void)context;
    static const char *const names[] = {"base", "v3", "v4"};
    for (int i = 0; i < 3; i++) {
        const mcr_tiles *tiles = mcr_tiles_named(names[i]);
        if (tiles)
            check_kit(tiles->f64->definite);
    }
#if defined(MCR_HAVE_WIDE)
    if (mcr_tiles_named("v3"))
        check_kit(&mcr_definite_kit_wide_f64);
#endif
    assert_null(mcr_tiles_best()->f32->definite);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_inverse)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
