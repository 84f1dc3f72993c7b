/* Leading eigenpairs: known spectra, residuals, orthogonality, the same bits for any number of
 * threads, the same pairs as LAPACK.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "base/random.h"
#include "helpers.h"
#include "linalg/shared.h"
#include "solve/leading.h"

typedef struct solution {
    int64_t n, count;
    double *value, *vector;
    mcr_leading_result result;
} solution;

static double *buffer(int64_t count)
{
    double *block = calloc((size_t)count, sizeof *block);
    assert_non_null(block);
    return block;
}

/* Q diag(value) Q', with Q made of three reflections. */
static double *with_spectrum(int64_t n, const double *value)
{
    mcr_random random = mcr_random_stream(7, "test", 0);
    double *a = buffer(n * n), *u = buffer(n), *w = buffer(n);
    for (int64_t i = 0; i < n; i++)
        a[i * n + i] = value[i];
    for (int turn = 0; turn < 3; turn++) {
        double square = 0, uw = 0;
        for (int64_t i = 0; i < n; i++) {
            u[i] = mcr_random_normal(&random);
            square += u[i] * u[i];
        }
        /* H A H = A - u w' - w u', with H = I - 2 u u'/u'u. */
        for (int64_t i = 0; i < n; i++) {
            w[i] = 0;
            for (int64_t j = 0; j < n; j++)
                w[i] += 2 / square * a[i * n + j] * u[j];
            uw += u[i] * w[i];
        }
        for (int64_t i = 0; i < n; i++)
            w[i] -= uw / square * u[i];
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < n; j++)
                a[i * n + j] -= u[i] * w[j] + w[i] * u[j];
    }
    free(u);
    free(w);
    return a;
}

static solution solve(mcr *ctx, double *a, int64_t n, int64_t count, double tolerance)
{
    solution s = {.n = n, .count = count, .value = buffer(count), .vector = buffer(count * n)};
    mcr_leading p = {.n = n, .count = count, .a = a, .lda = n, .tolerance = tolerance};
    test_ok(ctx, mcr_leading_solve(ctx, &p, s.value, s.vector, &s.result));
    return s;
}

static void drop(solution *s)
{
    free(s->value);
    free(s->vector);
}

static void expect_orthonormal(const solution *s)
{
    for (int64_t c = 0; c < s->count; c++)
        for (int64_t d = 0; d <= c; d++) {
            double dot = 0;
            for (int64_t i = 0; i < s->n; i++)
                dot += s->vector[c * s->n + i] * s->vector[d * s->n + i];
            test_close_real("orthonormal", dot, c == d, 1e-12);
        }
}

/* By the definition, not through the solver's own certificate. */
static double residual_of(const double *a, const solution *s)
{
    double worst = 0;
    for (int64_t c = 0; c < s->count; c++) {
        double sum = 0;
        for (int64_t i = 0; i < s->n; i++) {
            double r = -s->value[c] * s->vector[c * s->n + i];
            for (int64_t j = 0; j < s->n; j++)
                r += a[i * s->n + j] * s->vector[c * s->n + j];
            sum += r * r;
        }
        worst = fmax(worst, sqrt(sum));
    }
    return worst / fmax(fabs(s->value[0]), 1e-300);
}

static void expect_values(const char *what, const double *spectrum, int64_t n, int64_t count,
                          double tolerance)
{
    mcr *ctx = test_open(2);
    double *a = with_spectrum(n, spectrum), *before = buffer(n * n);
    memcpy(before, a, sizeof *a * (size_t)(n * n));
    solution s = solve(ctx, a, n, count, tolerance);
    assert_int_equal(s.result.stop, MCR_STOP_OPTIMAL);
    test_close_relative(what, s.value, spectrum, count, 1e-11 * fmax(1, fabs(spectrum[0])));
    expect_orthonormal(&s);
    double residual = residual_of(a, &s);
    test_close_real("certificate", s.result.residual, residual, 1e-13);
    assert_true(residual <= fmax(tolerance * 1.01, 1e-12));
    assert_memory_equal(a, before, sizeof *a * (size_t)(n * n));
    drop(&s);
    free(a);
    free(before);
    test_close(ctx);
}

enum { MANY = 500, FEW = 60 };

static void test_spectra(void **state)
{
    (void)state;
    double spectrum[MANY];
    for (int64_t i = 0; i < MANY; i++)
        spectrum[i] = pow(0.8, (double)i);
    expect_values("falling fast, Krylov", spectrum, MANY, 10, 1e-11);
    expect_values("falling fast, LAPACK", spectrum, FEW, 10, 1e-11);
    expect_values("all of them", spectrum, FEW, FEW, 1e-11);
    expect_values("one", spectrum, MANY, 1, 1e-11);
    for (int64_t i = 0; i < MANY; i++)
        spectrum[i] = 100.0 / (double)(i + 1);
    expect_values("falling slowly", spectrum, MANY, 20, 1e-11);
    for (int64_t i = 0; i < MANY; i++)
        spectrum[i] = i < 5 ? 3 : 1 - 1.9 * (double)i / MANY;
    expect_values("equal values, and negative ones", spectrum, MANY, 8, 1e-11);
    for (int64_t i = 0; i < MANY; i++)
        spectrum[i] = i < 4 ? (double)(10 - i) : 0;
    expect_values("low rank", spectrum, MANY, 10, 1e-11);
    memset(spectrum, 0, sizeof spectrum);
    expect_values("nothing", spectrum, MANY, 40, 1e-11);
}

static void test_threads(void **state)
{
    (void)state;
    double spectrum[MANY];
    solution first = {0};
    for (int64_t i = 0; i < MANY; i++)
        spectrum[i] = 1 / (1 + (double)i * (double)i);
    for (int threads = 1; threads <= 3; threads++) {
        mcr *ctx = test_open(threads);
        double *a = with_spectrum(MANY, spectrum);
        solution s = solve(ctx, a, MANY, 12, 1e-10);
        if (threads == 1) {
            first = s;
        } else {
            assert_memory_equal(s.value, first.value, sizeof(double) * 12);
            assert_memory_equal(s.vector, first.vector, sizeof(double) * 12 * MANY);
            drop(&s);
        }
        free(a);
        test_close(ctx);
    }
    drop(&first);
}

/* C = A B' + 2 C on sizes that are no multiples of a tile. */
static void test_product(void **state)
{
    (void)state;
    enum { M = 261, N = 517, K = 37 };
    double *a = buffer(M * K), *b = buffer(N * K), *c = buffer(M * N), *want = buffer(M * N);
    mcr_random random = mcr_random_stream(3, "test", 0);
    for (int64_t i = 0; i < M * K; i++)
        a[i] = mcr_random_normal(&random);
    for (int64_t i = 0; i < N * K; i++)
        b[i] = mcr_random_normal(&random);
    for (int64_t i = 0; i < M * N; i++)
        want[i] = 2 * (c[i] = mcr_random_normal(&random));
    for (int64_t i = 0; i < M; i++)
        for (int64_t j = 0; j < N; j++)
            for (int64_t k = 0; k < K; k++)
                want[i * N + j] += a[i * K + k] * b[j * K + k];
    mcr *ctx = test_open(2);
    test_ok(ctx, mcr_shared_gemm(ctx, MCR_AS_IS, MCR_TRANSPOSED, M, N, K, 1, a, K, b, K, 2, c, N));
    test_close_arrays("product", c, want, M * N, 1e-12);
    test_close(ctx);
    free(a);
    free(b);
    free(c);
    free(want);
}

static int stop_at_once(void *user, const mcr_progress *now)
{
    (void)user;
    return now->step >= 2;
}

static void test_stops(void **state)
{
    (void)state;
    double spectrum[MANY], value[5], *vector = buffer(5 * MANY);
    for (int64_t i = 0; i < MANY; i++)
        spectrum[i] = 2 - (double)i / MANY;
    double *a = with_spectrum(MANY, spectrum);
    mcr *ctx = test_open(1);
    mcr_leading_result result;
    mcr_leading p = {.n = MANY, .count = 5, .a = a, .lda = MANY, .tolerance = 1e-12};
    p.most_steps = 3;
    test_ok(ctx, mcr_leading_solve(ctx, &p, value, vector, &result));
    assert_true(result.stop == MCR_STOP_STEPS && result.steps == 3);
    assert_true(result.residual > 1e-12 && result.residual < 1);
    p.most_steps = 0;
    p.phase = "test";
    ctx->config.progress = stop_at_once;
    test_ok(ctx, mcr_leading_solve(ctx, &p, value, vector, &result));
    assert_int_equal(result.stop, MCR_STOP_INTERRUPTED);
    p.count = MANY + 1;
    test_fails(ctx, mcr_leading_solve(ctx, &p, value, vector, &result), MCR_BAD_CALL, "501");
    test_close(ctx);
    free(a);
    free(vector);
}

static mcr_status run(mcr *ctx, void *arg)
{
    double value[6], *vector = buffer(6 * MANY);
    mcr_leading_result result;
    mcr_leading p = {.n = MANY, .count = 6, .a = arg, .lda = MANY, .tolerance = 1e-9};
    mcr_status s = mcr_leading_solve(ctx, &p, value, vector, &result);
    free(vector);
    return s;
}

static void test_memory(void **state)
{
    (void)state;
    double spectrum[MANY];
    for (int64_t i = 0; i < MANY; i++)
        spectrum[i] = pow(0.5, (double)i);
    double *a = with_spectrum(MANY, spectrum);
    test_sweep_allocations("leading", run, a);
    free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_product), cmocka_unit_test(test_spectra),
        cmocka_unit_test(test_threads), cmocka_unit_test(test_stops),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests_name("leading", tests, NULL, NULL);
}
