/* conform_cache.c: the row cache against the whole matrix: sums are right whatever fits, other
 * columns, little memory, no memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "rules.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "base/random.h"
#include "gram/cache.h"

enum { N = 180 };

static const char *const texts[] = {"rbf(it, gamma=0.3)", "linear(it) + rbf(other, gamma=1)"};

typedef struct fixture {
    mcr *ctx;
    mcr_kernel *kernel;
    mcr_data *data;
    mcr_gram *gram;
    double *k;
} fixture;

static void open_fixture(fixture *f, mcr *ctx, int text)
{
    *f = (fixture){.ctx = ctx};
    test_ok(ctx, mcr_kernel_parse(&f->kernel, ctx, texts[text]));
    test_ok(ctx, zoo_data(&f->data, ctx, &zoo_breeds[0], 0, N, 0));
    test_ok(ctx, mcr_gram_open(&f->gram, ctx, f->kernel, f->data, NULL));
    f->k = rules_matrix(ctx, texts[text], f->data, NULL);
}

static void close_fixture(fixture *f)
{
    mcr_gram_close(f->gram);
    mcr_data_free(f->data);
    mcr_kernel_free(f->kernel);
    free(f->k);
}

/* A stored row is padded to MCR_ROW_PAD values. */
static size_t row_bytes(bool precise)
{
    return (N + MCR_ROW_PAD - 1) / MCR_ROW_PAD * MCR_ROW_PAD *
           (precise ? sizeof(double) : sizeof(float));
}

static void expect_sums(const fixture *f, const double *sums, bool precise, mcr_rows x,
                        const double *coef, const int64_t *keep, int64_t count, double before)
{
    for (int64_t j = 0; j < count; j++) {
        double sum = before, size = 1;
        for (int64_t i = 0; i < x.count; i++) {
            int64_t r = x.index != NULL ? x.index[i] : x.first + i;
            sum += coef[i] * f->k[r * N + (keep != NULL ? keep[j] : j)];
            size += fabs(coef[i]) * 4;
        }
        test_close_real("sum", sums[j], sum, size * (precise ? 1e-13 : 1e-5));
    }
}

/* ---- sums -------------------------------------------------------------------------------------*/

static void test_accumulate(void **state)
{
    mcr *ctx = *state;
    static const int64_t fit[] = {0, 1, 3, 50, 4 * N};
    for (int t = 0; t < 20; t++) {
        bool precise = t % 2;
        fixture f;
        mcr_cache *cache = NULL;
        double sums[N], coef[N];
        int64_t all[N], computed, found, asked = 0;
        mcr_random r = mcr_random_stream(6, "accumulate", (uint64_t)t);
        open_fixture(&f, ctx, t / 2 % 2);
        test_ok(ctx,
                mcr_cache_open(&cache, f.gram, (size_t)fit[t / 4] * row_bytes(precise), precise));
        for (int64_t i = 0; i < N; i++)
            all[i] = i;
        for (int call = 0; call < 12; call++) {
            int64_t count = call == 0 ? 0 : 1 + mcr_random_below(&r, call % 4 ? 20 : N);
            mcr_random_shuffle(&r, all, call % 3 ? 30 : N);
            for (int64_t i = 0; i < count; i++)
                coef[i] = mcr_random_normal(&r);
            for (int64_t j = 0; j < N; j++)
                sums[j] = 2.5;
            mcr_rows x = {all, 0, count};
            test_ok(ctx, mcr_cache_accumulate(cache, x, x.count, coef, sums));
            expect_sums(&f, sums, precise, x, coef, NULL, N, 2.5);
            asked += count;
        }
        mcr_cache_counts(cache, &computed, &found);
        assert_int_equal(computed + found, asked);
        if (fit[t / 4] == 0)
            assert_int_equal(found, 0);
        if (fit[t / 4] > N)
            assert_true(computed <= N);
        mcr_cache_close(cache);
        close_fixture(&f);
    }
}

/* ---- other columns ----------------------------------------------------------------------------*/

/* Sums of these rows from the cache, whose columns are keep[0 .. count-1]. */
static void add_up(const fixture *f, mcr_cache *cache, bool precise, mcr_rows x, const double *coef,
                   const int64_t *keep, int64_t count)
{
    double sums[N] = {0};
    test_ok(f->ctx, mcr_cache_accumulate(cache, x, x.count, coef, sums));
    expect_sums(f, sums, precise, x, coef, keep, count, 0);
}

static void test_narrow_and_reset(void **state)
{
    mcr *ctx = *state;
    for (int t = 0; t < 4; t++) {
        bool precise = t % 2;
        fixture f;
        mcr_cache *cache = NULL;
        mcr_gram *some = NULL, *fewer = NULL;
        int64_t x[] = {3, 90, 17, 4}, keep[N], keep2[N], both[N], count = 0, count2 = 0;
        int64_t computed, found;
        double coef[4] = {1, -2, 0.5, 3};
        open_fixture(&f, ctx, t / 2);
        for (int64_t j = 0; j < N; j++)
            if (j % 3 != 1)
                keep[count++] = j;
        for (int64_t j = 0; j < count; j++)
            if (j % 7 == 2 || j + 1 == count) {
                keep2[count2] = j;
                both[count2++] = keep[j];
            }
        test_ok(ctx, mcr_gram_restrict(&some, f.gram, (mcr_rows){keep, 0, count}));
        test_ok(ctx, mcr_gram_restrict(&fewer, f.gram, (mcr_rows){both, 0, count2}));
        test_ok(ctx, mcr_cache_open(&cache, f.gram, 5 * row_bytes(precise), precise));
        add_up(&f, cache, precise, (mcr_rows){x, 0, 2}, coef, NULL, N);
        /* Two rows come along, two are computed. */
        test_ok(ctx, mcr_cache_narrow(cache, some, keep));
        add_up(&f, cache, precise, (mcr_rows){x, 0, 4}, coef, keep, count);
        mcr_cache_counts(cache, &computed, &found);
        assert_true(computed == 4 && found == 2);
        test_ok(ctx, mcr_cache_narrow(cache, fewer, keep2));
        add_up(&f, cache, precise, (mcr_rows){x, 0, 4}, coef, both, count2);
        mcr_cache_counts(cache, &computed, &found);
        assert_true(computed == 4 && found == 6);
        /* All columns again: nothing is known any more. */
        test_ok(ctx, mcr_cache_reset(cache, f.gram));
        add_up(&f, cache, precise, (mcr_rows){x, 0, 4}, coef, NULL, N);
        mcr_cache_counts(cache, &computed, &found);
        assert_true(computed == 8 && found == 6);
        mcr_cache_close(cache);
        /* From few columns to many: the rows need more space than they had. */
        test_ok(ctx, mcr_cache_open(&cache, fewer, 5 * row_bytes(precise), precise));
        add_up(&f, cache, precise, (mcr_rows){x, 0, 4}, coef, both, count2);
        test_ok(ctx, mcr_cache_reset(cache, f.gram));
        add_up(&f, cache, precise, (mcr_rows){x, 0, 4}, coef, NULL, N);
        add_up(&f, cache, precise, (mcr_rows){x, 0, 4}, coef, NULL, N);
        mcr_cache_counts(cache, &computed, &found);
        assert_true(computed == 8 && found == 4);
        mcr_cache_close(cache);
        mcr_gram_close(some);
        mcr_gram_close(fewer);
        close_fixture(&f);
    }
}

/* ---- anything, in any order -------------------------------------------------------------------*/

/* A random walk: sums over rows of which some are worth keeping; between the walks, other
 * columns. */
static void test_walk(void **state)
{
    mcr *ctx = *state;
    for (int t = 0; t < 6; t++) {
        bool precise = t % 2, narrow = false;
        fixture f;
        mcr_cache *cache = NULL;
        mcr_gram *some = NULL;
        int64_t keep[N], x[25], count = 0, computed, found;
        mcr_random r = mcr_random_stream(8, "walk", (uint64_t)t);
        open_fixture(&f, ctx, t / 2 % 2);
        for (int64_t j = 0; j < N; j++)
            if (mcr_random_uniform(&r) < 0.6)
                keep[count++] = j;
        test_ok(ctx, mcr_gram_restrict(&some, f.gram, (mcr_rows){keep, 0, count}));
        test_ok(ctx, mcr_cache_open(&cache, f.gram, 7 * row_bytes(precise), precise));
        for (int64_t i = 0; i < 25; i++)
            x[i] = i;
        for (int step = 0; step < 400; step++) {
            double sums[N] = {0}, coef[25];
            mcr_rows rows = {x, 0, 1 + mcr_random_below(&r, 25)};
            if (step % 100 == 99) {
                narrow = !narrow;
                test_ok(ctx, narrow ? mcr_cache_narrow(cache, some, keep)
                                    : mcr_cache_reset(cache, f.gram));
            }
            mcr_random_shuffle(&r, x, 25);
            for (int64_t i = 0; i < rows.count; i++)
                coef[i] = mcr_random_normal(&r);
            int64_t worth = mcr_random_below(&r, rows.count + 1);
            test_ok(ctx, mcr_cache_accumulate(cache, rows, worth, coef, sums));
            expect_sums(&f, sums, precise, rows, coef, narrow ? keep : NULL, narrow ? count : N, 0);
        }
        mcr_cache_counts(cache, &computed, &found);
        assert_true(computed > 100 && found > 100);
        mcr_cache_close(cache);
        mcr_gram_close(some);
        close_fixture(&f);
    }
}

/* ---- little memory ----------------------------------------------------------------------------*/

/* The budget has less than was asked for; all of it is given back. */
static void test_budget(void **state)
{
    mcr *ctx = *state;
    fixture f;
    int64_t computed, found;
    open_fixture(&f, ctx, 0);
    size_t usual = ctx->config.memory_bytes;
    double k1[1];
    test_ok(ctx, mcr_gram_block_float(f.gram, (mcr_rows){NULL, 0, 1}, (mcr_rows){NULL, 0, 1},
                                      (float *)k1, 1));
    size_t before = mcr_budget_left(ctx), used = usual - before;
    ctx->config.memory_bytes = used + 2 * row_bytes(false) + 100;
    mcr_cache *cache = NULL, *second = NULL;
    test_ok(ctx, mcr_cache_open(&cache, f.gram, usual, false));
    double coef[3] = {1, 2, 3};
    for (int call = 0; call < 2; call++) /* space for two of three */
        add_up(&f, cache, false, (mcr_rows){NULL, 0, 3}, coef, NULL, N);
    mcr_cache_counts(cache, &computed, &found);
    assert_true(computed == 4 && found == 2);
    /* Nothing left for another one: it adds up all the same. */
    test_ok(ctx, mcr_cache_open(&second, f.gram, usual, false));
    for (int call = 0; call < 2; call++)
        add_up(&f, second, false, (mcr_rows){NULL, 7, 3}, coef, NULL, N);
    mcr_cache_counts(second, &computed, &found);
    assert_true(computed == 6 && found == 0);
    mcr_cache_close(second);
    mcr_cache_close(cache);
    ctx->config.memory_bytes = usual;
    assert_true(mcr_budget_left(ctx) == before);
    close_fixture(&f);
}

/* ---- no memory --------------------------------------------------------------------------------*/

/* A cache that gets no memory for rows goes on without them: an allocation that fails gives either
 * "no memory" or the right sums, never wrong ones, and a second call after it is right too. */
static void test_faults(void **state)
{
    (void)state;
    mcr *ctx = test_open(1);
    fixture f;
    open_fixture(&f, ctx, 0);
    bool done = false;
    int64_t outcomes[2] = {0, 0};
    for (int64_t n = 1; !done; n++) {
        mcr *own = test_open(1);
        mcr_kernel *kernel = NULL;
        mcr_data *data = NULL;
        mcr_gram *gram = NULL;
        mcr_cache *cache = NULL;
        int64_t x[] = {3, 0, 20, 9};
        double coef[] = {1, 2, -1, 0.5};
        test_ok(own, mcr_kernel_parse(&kernel, own, texts[0]));
        test_ok(own, zoo_data(&data, own, &zoo_breeds[0], 0, N, 0));
        test_ok(own, mcr_gram_open(&gram, own, kernel, data, NULL));
        test_fail_allocation(own, n);
        mcr_status status = mcr_cache_open(&cache, gram, 10 * row_bytes(false), false);
        for (int call = 0; call < 3 && cache != NULL; call++) {
            double sums[N] = {0};
            mcr_rows some = {x, 0, 2 + call};
            status = mcr_cache_accumulate(cache, some, some.count, coef, sums);
            assert_true(status == MCR_OK || status == MCR_NO_MEMORY);
            outcomes[status != MCR_OK]++;
            if (status == MCR_OK)
                expect_sums(&f, sums, false, some, coef, NULL, N, 0);
        }
        done = !test_allocation_failed(own);
        mcr_cache_close(cache);
        mcr_gram_close(gram);
        mcr_data_free(data);
        mcr_kernel_free(kernel);
        test_close(own);
    }
    assert_true(outcomes[0] > 0 && outcomes[1] > 0);
    close_fixture(&f);
    test_close(ctx);
}

/* ---- rent -------------------------------------------------------------------------------------*/

/* A cheap row that is not one of a few gets memory only after it was computed many times; one that
 * is not worth keeping never does. */
static void test_rent(void **state)
{
    enum { ROWS = 700, COLUMNS = 22, CALLS = 200 };
    mcr *ctx = *state;
    double *x = calloc(ROWS * COLUMNS, sizeof *x), *f = calloc(ROWS + MCR_ROW_PAD, sizeof *f);
    mcr_random r = mcr_random_stream(9, "rent", 0);
    mcr_builder *b;
    mcr_data *data;
    mcr_kernel *kernel;
    mcr_gram *gram;
    mcr_cache *cache;
    for (int64_t i = 0; i < ROWS * COLUMNS; i++)
        x[i] = mcr_random_normal(&r);
    test_ok(ctx, mcr_builder_open(&b, ctx, ROWS));
    test_ok(ctx, mcr_builder_dense(b, "x", x, COLUMNS, COLUMNS));
    test_ok(ctx, mcr_builder_finish(&data, b));
    test_ok(ctx, mcr_kernel_parse(&kernel, ctx, "rbf(gamma=0.1)"));
    test_ok(ctx, mcr_gram_open(&gram, ctx, kernel, data, NULL));
    for (int keep = 0; keep < 2; keep++) {
        int64_t computed, found, after_few = -1;
        test_ok(ctx, mcr_cache_open(&cache, gram, 16 << 20, false));
        for (int call = 0; call < CALLS; call++) {
            test_ok(ctx,
                    mcr_cache_accumulate(cache, (mcr_rows){NULL, 5, 1}, keep, (double[]){1}, f));
            mcr_cache_counts(cache, &computed, &found);
            after_few = call == 3 ? found : after_few;
        }
        assert_int_equal(after_few, 0);
        assert_int_equal(computed + found, CALLS);
        assert_true(keep ? found > CALLS / 2 : found == 0);
        mcr_cache_close(cache);
    }
    mcr_gram_close(gram);
    mcr_kernel_free(kernel);
    mcr_data_free(data);
    free(x);
    free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_accumulate, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_narrow_and_reset, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_walk, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_budget, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_rent, test_setup, test_teardown),
        cmocka_unit_test(test_faults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
