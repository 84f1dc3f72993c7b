/* test_half.c: half a matrix of kernel values: its tiles, products and centring against all of it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "learner_helpers.h"

#include <float.h>
#include <math.h>
#include <stdatomic.h>

#include "gram/half.h"
#include "gram/stored.h"

static mcr_gram *gram_of(mcr *ctx, const char *sample, const char *text, int64_t n)
{
    mcr_data *data = sample_data(ctx, sample, n);
    mcr_kernel *kernel = NULL;
    mcr_gram *gram = NULL;
    test_ok(ctx, mcr_kernel_parse(&kernel, ctx, text));
    test_ok(ctx, mcr_gram_open(&gram, ctx, kernel, data, NULL));
    mcr_kernel_free(kernel);
    mcr_data_free(data);
    return gram;
}

static double *vectors(int64_t rows, int64_t n)
{
    double *v = calloc((size_t)(rows * n), sizeof *v);
    assert_non_null(v);
    for (int64_t i = 0; i < rows * n; i++)
        v[i] = sin(1.7 * (double)i) + 0.1;
    return v;
}

/* Products with all of K, and with the half of it. */
static void compare(mcr *ctx, const char *sample, const char *kernel, int64_t n, int64_t rows)
{
    mcr_gram *gram = gram_of(ctx, sample, kernel, n);
    mcr_gram *half = NULL;
    double *k = calloc((size_t)(n * n), sizeof *k), *v = vectors(rows, n);
    double *got = calloc((size_t)(rows * n), sizeof *got), *wanted = vectors(rows, n);
    assert_true(k && got);
    test_ok(ctx, mcr_gram_matrix(gram, k, n));
    test_ok(ctx, mcr_gram_keep_half(&half, gram, "test"));
    mcr_gram_close(gram); /* not needed any more */
    for (int64_t i = 0; i < n; i++) {
        double row[1000];
        test_ok(ctx, mcr_gram_block(half, (mcr_rows){NULL, i, 1}, mcr_gram_all(half), row, n));
        assert_memory_equal(row, k + i * n, sizeof *row * (size_t)n);
    }
    for (int64_t i = 0; i < n; i++)
        for (int64_t o = 0; o < rows; o++) {
            wanted[i * rows + o] = 0;
            for (int64_t j = 0; j < n; j++)
                wanted[i * rows + o] += k[i * n + j] * v[j * rows + o];
        }
    test_ok(ctx, mcr_gram_multiply(half, v, rows, got));
    test_close_arrays(kernel, got, wanted, rows * n, 1e-8);
    mcr_gram *shared = NULL;
    test_ok(ctx, mcr_gram_share(&shared, half));
    test_ok(ctx, mcr_gram_multiply(shared, v, rows, wanted));
    test_close_arrays("shared", got, wanted, rows * n, 1e-8);
    mcr_gram_close(shared);
    mcr_gram_close(half);
    free(k);
    free(v);
    free(got);
    free(wanted);
}

static void test_products(void **context)
{
    static const int64_t sizes[] = {1, 2, 191, 192, 193, 500, 1000};
    for (size_t t = 0; t < sizeof sizes / sizeof *sizes; t++)
        compare(*context, "friedman", "rbf(gamma=0.5)", sizes[t], 1 + (int64_t)t * 7);
    compare(*context, "friedman", "rbf(gamma=0.5) + 0.1*linear", 300, 5);
    /* Values that are slow come in small squares. */
    compare(*context, "motifs", "ssk(p=3, lambda=0.5)", 205, 3);
    compare(*context, "mixed", "wl(molecule, h=1)*spectrum(sequence, p=3)", 200, 16);
}

static void test_threads(void **context)
{
    enum { N = 1700, ROWS = 20 };
    double *got[2], *v = vectors(ROWS, N);
    (void)context;
    for (int t = 0; t < 2; t++) {
        mcr *ctx = test_open(t + 1);
        mcr_gram *gram = gram_of(ctx, "friedman", "rbf(gamma=0.5)", N);
        mcr_gram *half = NULL;
        got[t] = vectors(ROWS, N);
        test_ok(ctx, mcr_gram_keep_half(&half, gram, "test"));
        test_ok(ctx, mcr_gram_multiply(half, v, ROWS, got[t]));
        mcr_gram_close(half);
        mcr_gram_close(gram);
        test_close(ctx);
    }
    assert_memory_equal(got[0], got[1], sizeof(double) * ROWS * N);
    free(got[0]);
    free(got[1]);
    free(v);
}

/* Sums over some of the objects on both sides, in either precision, with one thread and with
 * two. */
static void test_sums(void **context)
{
    static const struct {
        const char *sample, *kernel;
        int64_t n;
    } cases[] = {{"friedman", "rbf(gamma=0.5)", 700},
                 {"friedman", "rbf(gamma=0.5)", 4000},
                 {"friedman", "rbf(gamma=0.5) + 0.1*linear", 500},
                 {"motifs", "spectrum(p=3)", 450}};
    (void)context;
    for (size_t t = 0; t < sizeof cases / sizeof *cases; t++) {
        int64_t n = cases[t].n, *object = calloc((size_t)n, sizeof *object), count = 0;
        double *v = vectors(1, n), *f[2], *wanted = vectors(1, n);
        assert_non_null(object);
        for (int64_t i = 0; i < n; i++)
            if (i % 5 != 2)
                object[count++] = i;
        for (int threads = 1; threads <= 2; threads++) {
            mcr *ctx = test_open(threads);
            mcr_gram *whole = gram_of(ctx, cases[t].sample, cases[t].kernel, n), *part = NULL;
            test_ok(ctx, mcr_gram_restrict(&part, whole, (mcr_rows){object, 0, count}));
            memset(wanted, 0, sizeof *wanted * (size_t)n);
            test_ok(ctx, mcr_gram_rows_pass(part, &(mcr_gram_pass){.x = {object, 0, count},
                                                                   .precise = true,
                                                                   .coef = v,
                                                                   .f = wanted,
                                                                   .outputs = 1}));
            f[threads - 1] = vectors(1, n);
            mcr_rows objects = {object, 0, count};
            test_ok(ctx, mcr_gram_sums(whole, objects, false, v, f[threads - 1]));
            test_close_relative("float", f[threads - 1], wanted, count, 1e-4);
            test_ok(ctx, mcr_gram_sums(whole, objects, true, v, f[threads - 1]));
            test_close_relative("double", f[threads - 1], wanted, count, 1e-11);
            mcr_gram_close(whole);
            /* Few of them from the binding of all. */
            whole = gram_of(ctx, cases[t].sample, cases[t].kernel, n);
            test_ok(ctx, mcr_gram_prepare_lists(whole));
            test_ok(ctx, mcr_gram_sums(whole, objects, true, v, f[threads - 1]));
            test_close_relative("lists", f[threads - 1], wanted, count, 1e-11);
            mcr_gram_close(part);
            mcr_gram_close(whole);
            test_close(ctx);
        }
        assert_memory_equal(f[0], f[1], sizeof(double) * (size_t)count);
        free(f[0]);
        free(f[1]);
        free(v);
        free(wanted);
        free(object);
    }
}

/* What rounding makes of sums of the same values is within its bound, which is far below that of n
 * roundings: against sums in long double, with terms of one sign and of falling size. */
static void test_rounding(void **context)
{
    static const int64_t sizes[] = {150, 700, 2500};
    mcr *ctx = *context;
    for (size_t t = 0; t < 2 * sizeof sizes / sizeof *sizes; t++) {
        int64_t n = sizes[t / 2];
        mcr_gram *gram = gram_of(ctx, "friedman", "rbf(gamma=0.05)", n);
        mcr_error value;
        double share, *k = vectors(n, n), *v = vectors(1, n), *f = vectors(1, n), worst = 0;
        for (int64_t i = 0; i < n; i++)
            v[i] = t % 2 ? fabs(v[i]) + 1.0 / 3 : exp(-0.01 * (double)i) + 1e-9 * v[i];
        test_ok(ctx, mcr_gram_matrix(gram, k, n));
        test_ok(ctx, mcr_gram_sums(gram, mcr_gram_all(gram), true, v, f));
        test_ok(ctx, mcr_gram_sums_error(gram, &share));
        test_ok(ctx, mcr_gram_error(gram, true, &value));
        double bound = share - value.absolute;
        for (int64_t i = 0; i < n; i++) {
            long double sum = 0, size = 0;
            for (int64_t j = 0; j < n; j++) {
                sum += (long double)k[i * n + j] * (long double)v[j];
                size += fabsl((long double)k[i * n + j] * (long double)v[j]);
            }
            worst = fmax(worst, (double)(fabsl((long double)f[i] - sum) / size));
        }
        assert_true(worst > 0 && worst <= bound);
        assert_true(n < 1000 || bound < 0.1 * 0.5 * DBL_EPSILON * (double)n * 1.02);
        mcr_gram_close(gram);
        free(k);
        free(v);
        free(f);
    }
}

/* The mean far from the origin, and near it: the same components as by all of A. */
static void test_centring(void **context)
{
    enum { N = 400, COLS = 3 };
    mcr *ctx = *context;
    static const double shift[] = {0, 1000};
    for (size_t t = 0; t < sizeof shift / sizeof *shift; t++) {
        double x[N * COLS], variance[COLS] = {0}, mean[COLS] = {0};
        for (int64_t i = 0; i < N * COLS; i++) {
            x[i] = shift[t] + sin((double)(i * i)) * (double)(1 + i % COLS * 3);
            mean[i % COLS] += x[i] / N;
        }
        for (int64_t i = 0; i < N * COLS; i++)
            variance[i % COLS] += (x[i] - mean[i % COLS]) * (x[i] - mean[i % COLS]) / N;
        mcr_data *data = dense_data(ctx, N, COLS, x, NULL, NULL);
        mcr_model *model = fit_model(ctx, "pca", "linear", data, "components=3");
        const mcr_report_fit *r = mcr_model_report(model);
        assert_int_equal(r->variances, COLS);
        test_close_real("variance in all", r->total_variance,
                        variance[0] + variance[1] + variance[2], 1e-8);
        test_close_real("explained", r->variance[0] + r->variance[1] + r->variance[2],
                        r->total_variance, 1e-8);
        mcr_model_free(model);
        mcr_data_free(data);
    }
}

static void test_budget(void **context)
{
    mcr *ctx = *context;
    mcr_gram *gram = gram_of(ctx, "friedman", "rbf(gamma=0.5)", 1000);
    mcr_gram *half = NULL;
    size_t before = ctx->config.memory_bytes;
    ctx->config.memory_bytes = 4 << 20;
    test_fails(ctx, mcr_gram_keep_half(&half, gram, "pca: the kernel matrix"), MCR_OVER_BUDGET,
               "pca: the kernel matrix needs");
    ctx->config.memory_bytes = before;
    assert_null(half);
    mcr_gram_close(gram);
}

/* The largest block that was requested, by any thread. */
static atomic_size_t largest;

static void *watched(void *user, void *block, size_t old_bytes, size_t new_bytes)
{
    size_t known = atomic_load(&largest);
    while (new_bytes > known && !atomic_compare_exchange_weak(&largest, &known, new_bytes))
        ;
    return mcr_default_realloc(user, block, old_bytes, new_bytes);
}

/* Products with K that is not kept take a quarter of the budget at most, and give it back. */
static void test_product_budget(void **context)
{
    (void)context;
    enum { N = 3000, COLS = 2 };
    const size_t budget[] = {(size_t)1 << 20, (size_t)12 << 20, (size_t)1 << 30};
    double *v = vectors(COLS, N), *first = vectors(COLS, N), *kv = vectors(COLS, N);
    for (int b = 0; b < 3; b++) {
        mcr *ctx = NULL;
        mcr_config config = {
            .size = sizeof config, .threads = 2, .memory_bytes = budget[b], .realloc = watched};
        test_ok(NULL, mcr_open(&ctx, &config));
        mcr_gram *gram = gram_of(ctx, "moons", "rbf(gamma=1)", N);
        test_ok(ctx, mcr_gram_multiply(gram, v, COLS, kv)); /* packs the vectors */
        size_t left = mcr_budget_left(ctx);
        largest = 0;
        test_ok(ctx, mcr_gram_multiply(gram, v, COLS, kv));
        assert_int_equal(mcr_budget_left(ctx), left);
        size_t tiles = 2 * MCR_HALF_TILE * sizeof(double) + 4096;
        assert_true(largest <= budget[b] / 4 + tiles);
        assert_true(b == 0 || largest > budget[0]);
        if (b == 0)
            memcpy(first, kv, sizeof *kv * COLS * N);
        test_close_relative("products", kv, first, (int64_t)COLS * N, 1e-12);
        mcr_gram_close(gram);
        mcr_close(ctx);
    }
    free(v);
    free(first);
    free(kv);
}

/* Sums in extended precision where objects are listed twice and some rows are not wanted: as of the
 * matrix, and the same for both places of an object. */
static void test_extended(void **context)
{
    static const char *const kernels[] = {"rbf(gamma=0.5)", "rbf(gamma=300)", "laplace(gamma=900)",
                                          "2 * rbf(gamma=40) + linear"};
    enum { N = 60, ALL = 2 * N };
    int64_t row[ALL];
    double k[N * N], a[ALL], f[ALL], low[ALL];
    bool wanted[ALL];
    if (LDBL_MANT_DIG < 64) {
        printf("# skip: long double is no longer than double\n");
        skip();
    }
    for (int64_t i = 0; i < ALL; i++) {
        row[i] = i < N ? i : ALL - 1 - i;
        wanted[i] = i % 7 != 3;
        a[i] = i % 5 ? 1e6 * sin(1.3 * (double)i) : 0;
    }
    for (size_t t = 0; t < sizeof kernels / sizeof *kernels; t++) {
        mcr_gram *gram = gram_of(*context, "friedman", kernels[t], N), *twice = NULL;
        test_ok(*context, mcr_gram_matrix(gram, k, N));
        test_ok(*context, mcr_gram_select_both(&twice, gram, (mcr_rows){row, 0, ALL}));
        mcr_extended to = {.n = ALL, .outputs = 1, .a = a, .wanted = wanted, .f = f, .low = low};
        for (int64_t i = 0; i < ALL; i++)
            f[i] = low[i] = -7;
        test_ok(*context, mcr_gram_extended(twice, &to));
        assert_true(to.share < 1e-15);
        for (int64_t i = 0; i < ALL; i++) {
            double want = 0, size = 0;
            for (int64_t j = 0; j < ALL; j++) {
                want += k[row[i] * N + row[j]] * a[j];
                size += fabs(k[row[i] * N + row[j]] * a[j]);
            }
            assert_true(wanted[i] ? fabs(f[i] + low[i] - want) <= 1e-13 * (size + 1e6)
                                  : f[i] == -7 && low[i] == -7);
            if (wanted[i] && wanted[ALL - 1 - i])
                assert_true(f[i] == f[ALL - 1 - i] && low[i] == low[ALL - 1 - i]);
        }
        mcr_gram_close(twice);
        mcr_gram_close(gram);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_products, test_setup, test_teardown),
        cmocka_unit_test(test_threads),
        cmocka_unit_test_setup_teardown(test_extended, test_setup, test_teardown),
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_product_budget),
        cmocka_unit_test_setup_teardown(test_rounding, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_centring, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_budget, test_setup, test_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
