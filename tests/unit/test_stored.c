/* test_stored.c: Grams in memory and lists of objects of a Gram, against the Gram they come from.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "learner_helpers.h"

#include "gram/stored.h"

enum { N = 150, LIST = 70 };

typedef struct fixture {
    mcr_gram *bound;
    double k[N * N], v[2 * N];
    float *rough; /* padded as solvers want it */
    int64_t ld, row[LIST];
} fixture;

static fixture *open_fixture(mcr *ctx)
{
    fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    mcr_data *data = sample_data(ctx, "blobs", N);
    mcr_kernel *kernel = NULL;
    test_ok(ctx, mcr_kernel_parse(&kernel, ctx, "rbf(gamma=0.1)"));
    test_ok(ctx, mcr_gram_open(&f->bound, ctx, kernel, data, NULL));
    test_ok(ctx, mcr_gram_matrix(f->bound, f->k, N));
    f->ld = mcr_stored_ld(N);
    f->rough = calloc((size_t)(f->ld * (N + 1)), sizeof *f->rough);
    assert_non_null(f->rough);
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < N; j++)
            f->rough[i * f->ld + j] = (float)f->k[i * N + j];
    for (int64_t i = 0; i < 2 * N; i++)
        f->v[i] = sin(1.3 * (double)i);
    for (int64_t i = 0; i < LIST; i++)
        f->row[i] = (7 * i + 3) % N;
    mcr_kernel_free(kernel);
    mcr_data_free(data);
    return f;
}

static void close_fixture(fixture *f)
{
    mcr_gram_close(f->bound);
    free(f->rough);
    free(f);
}

/* Values, diagonal, products, passes and sums of a Gram whose object i is at[i] of K. */
static void check_gram(mcr *ctx, const fixture *f, mcr_gram *gram, const int64_t *at, double close)
{
    int64_t n = mcr_gram_rows(gram), all[N];
    double k[N * N], d[N], got[2 * N], wanted[2 * N], sums[N + MCR_ROW_PAD] = {0};
    test_ok(ctx, mcr_gram_matrix(gram, k, n));
    test_ok(ctx, mcr_gram_diagonal(gram, 0, d));
    for (int64_t i = 0; i < n; i++) {
        all[i] = i;
        test_close_real("diagonal", d[i], f->k[at[i] * N + at[i]], close);
        for (int64_t j = 0; j < n; j++)
            test_close_real("value", k[i * n + j], f->k[at[i] * N + at[j]], close);
    }
    test_ok(ctx, mcr_gram_multiply(gram, f->v, 2, got));
    for (int64_t i = 0; i < n; i++)
        for (int o = 0; o < 2; o++) {
            wanted[2 * i + o] = 0;
            for (int64_t j = 0; j < n; j++)
                wanted[2 * i + o] += f->k[at[i] * N + at[j]] * f->v[2 * j + o];
        }
    test_close_arrays("product", got, wanted, 2 * n, 1e3 * close);
    for (int precise = 0; precise < 2; precise++) {
        double few[N + MCR_ROW_PAD] = {0};
        mcr_gram_pass pass = {
            .x = {all, 0, n / 2}, .precise = precise, .coef = f->v, .f = few, .outputs = 1};
        test_ok(ctx, mcr_gram_sums(gram, (mcr_rows){all, 0, n}, precise, f->v, sums));
        test_ok(ctx, mcr_gram_rows_pass(gram, &pass));
        for (int64_t j = 0; j < n; j++) {
            double whole = 0, half = 0;
            for (int64_t i = 0; i < n; i++)
                whole += f->k[at[i] * N + at[j]] * f->v[i];
            for (int64_t i = 0; i < n / 2; i++)
                half += f->k[at[i] * N + at[j]] * f->v[i];
            test_close_real("sum", sums[j], whole, 1e-5);
            test_close_real("pass", few[j], half, 1e-5);
        }
    }
}

static void test_stored(void **context)
{
    mcr *ctx = *context;
    fixture *f = open_fixture(ctx);
    int64_t at[N], ld;
    for (int64_t i = 0; i < N; i++)
        at[i] = i;
    const mcr_stored stored[] = {
        {N, N, f->k, .precise = true},
        {.n = N, .ld = f->ld, .k = f->rough},
        {N, f->ld, f->rough, .exact = f->bound},
    };
    for (int s = 0; s < 3; s++) {
        mcr_gram *gram = NULL, *shared = NULL, *some = NULL;
        double close = s == 1 ? 1e-6 : 1e-15;
        test_ok(ctx, mcr_gram_stored(&gram, ctx, &stored[s]));
        assert_true(mcr_gram_symmetric(gram));
        assert_true(mcr_gram_values(gram, &ld) == (s == 0 ? NULL : f->rough));
        assert_int_equal(mcr_gram_is_float(gram), s == 1);
        check_gram(ctx, f, gram, at, close);
        test_ok(ctx, mcr_gram_share(&shared, gram));
        check_gram(ctx, f, shared, at, close);
        mcr_gram_close(shared);
        test_ok(ctx, mcr_gram_select_both(&some, gram, (mcr_rows){f->row, 0, LIST}));
        check_gram(ctx, f, some, f->row, close);
        mcr_gram_close(some);
        mcr_gram_close(gram);
    }
    assert_null(mcr_gram_values(f->bound, &ld));
    close_fixture(f);
}

/* Lists of a bound Gram, of a list, and with other objects as columns. */
static void test_lists(void **context)
{
    mcr *ctx = *context;
    fixture *f = open_fixture(ctx);
    mcr_gram *list = NULL, *inner = NULL, *across = NULL;
    const mcr_rows rows = {f->row, 0, LIST}, second = {NULL, 10, 30}, held = {NULL, 100, 40};
    test_ok(ctx, mcr_gram_list(&list, f->bound, &rows, NULL));
    check_gram(ctx, f, list, f->row, 1e-15);
    test_ok(ctx, mcr_gram_select_both(&inner, list, second));
    check_gram(ctx, f, inner, f->row + 10, 1e-15);
    test_ok(ctx, mcr_gram_list(&across, f->bound, &rows, &held));
    assert_false(mcr_gram_symmetric(across));
    double k[LIST * 40];
    test_ok(ctx, mcr_gram_matrix(across, k, 40));
    for (int64_t i = 0; i < LIST; i++)
        for (int64_t j = 0; j < 40; j++)
            assert_true(k[i * 40 + j] == f->k[f->row[i] * N + 100 + j]);
    mcr_gram_close(across);
    mcr_gram_close(inner);
    mcr_gram_close(list);
    close_fixture(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_stored, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_lists, test_setup, test_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
