/* conform_threads.c: the same bits with 1, 2 and 3 threads, for every registered kernel and for
 * expressions of several.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "zoo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "gram/cache.h"

/* Several tiles, and several chunks of columns in passes (which take 512 at once). */
enum { N = 530, ROWS = 80, COLS = 2 };

/* Every row of a pass is an object of these, too: several tiles, one chunk. */
enum { BRIEF = 160 };

/* All that a Gram gives, one behind the other. */
typedef struct result {
    double matrix[N * N], product[N * COLS], diagonal[N], sums[N], cached[N], mean[N], total;
    float single[N * N];
    double geometry[2 * N + 4];
} result;

static void add_passes(mcr *ctx, mcr_gram *gram, int64_t n, result *out)
{
    int64_t x[ROWS], step = n / ROWS;
    double coef[ROWS];
    mcr_random r = mcr_random_stream(2, "threads", 0);
    for (int64_t i = 0; i < ROWS; i++) {
        x[i] = i * step + mcr_random_below(&r, step);
        coef[i] = mcr_random_normal(&r);
    }
    mcr_gram_pass pass = {
        .x = {x, 0, ROWS}, .precise = true, .coef = coef, .f = out->sums, .outputs = 1};
    test_ok(ctx, mcr_gram_rows_pass(gram, &pass));
    /* Half of the rows are found the second time. */
    mcr_cache *cache = NULL;
    test_ok(ctx, mcr_cache_open(&cache, gram, 40 * 576 * sizeof(float), false));
    for (int round = 0; round < 3; round++)
        test_ok(ctx, mcr_cache_accumulate(cache, (mcr_rows){x, 0, ROWS - 20 * round},
                                          ROWS - 20 * round, coef, out->cached));
    mcr_cache_close(cache);
}

static result *compute(const zoo_trial *trial, int threads)
{
    mcr *ctx = zoo_open(trial, threads);
    const int64_t n = test_brief() ? BRIEF : N;
    mcr_kernel *kernel = NULL;
    mcr_data *data = NULL;
    mcr_gram *gram = NULL;
    mcr_geometry *geometry = NULL;
    result *out = calloc(1, sizeof *out);
    double *v = calloc(N * COLS, sizeof *v);
    assert_true(out != NULL && v != NULL);
    mcr_random r = mcr_random_stream(2, "v", 0);
    for (int64_t i = 0; i < n * COLS; i++)
        v[i] = mcr_random_normal(&r);
    test_ok(ctx, mcr_kernel_parse(&kernel, ctx, trial->text));
    test_ok(ctx, zoo_data(&data, ctx, trial->breed, 0, n, 0));
    test_ok(ctx, mcr_gram_open(&gram, ctx, kernel, data, NULL));
    test_ok(ctx, mcr_gram_matrix(gram, out->matrix, n));
    test_ok(ctx, mcr_gram_matrix_float(gram, out->single, n));
    test_ok(ctx, mcr_gram_multiply(gram, v, COLS, out->product));
    test_ok(ctx, mcr_gram_diagonal(gram, 0, out->diagonal));
    test_ok(ctx, mcr_gram_means(gram, out->mean, &out->total));
    add_passes(ctx, gram, n, out);
    test_ok(ctx, mcr_gram_geometry(&geometry, gram));
    memcpy(out->geometry, geometry->length, sizeof(double) * (size_t)n);
    memcpy(out->geometry + N, geometry->to_mean, sizeof(double) * (size_t)n);
    out->geometry[2 * N] = geometry->nearest;
    out->geometry[2 * N + 1] = geometry->farthest;
    out->geometry[2 * N + 2] = (double)(geometry->nearest_pair[0] * n + geometry->nearest_pair[1]);
    out->geometry[2 * N + 3] = (double)(geometry->farthest_pair[0] * n +
                                        geometry->farthest_pair[1]);
    mcr_geometry_free(ctx, geometry);
    mcr_gram_close(gram);
    mcr_data_free(data);
    mcr_kernel_free(kernel);
    free(v);
    test_close(ctx);
    return out;
}

static void compare(const zoo_trial *trial, int threads, const char *what, const void *a,
                    const void *b, size_t bytes)
{
    if (memcmp(a, b, bytes) != 0)
        fail_msg("%s on %s: %s differs between 1 thread and %d", trial->text, trial->breed->name,
                 what, threads);
}

static void same_bits(const zoo_trial *trial)
{
    /* With one data set, dense against sparse is dense, which has its own breeds. */
    if (trial->breed->kind != trial->breed->against)
        return;
    result *one = compute(trial, 1);
    for (int threads = 2; threads <= 3; threads++) {
        result *more = compute(trial, threads);
#define SAME(part) compare(trial, threads, #part, &one->part, &more->part, sizeof one->part)
        SAME(matrix);
        SAME(single);
        SAME(product);
        SAME(diagonal);
        SAME(mean);
        SAME(total);
        SAME(sums);
        SAME(cached);
        SAME(geometry);
#undef SAME
        free(more);
    }
    free(one);
}

static void test_expressions(void **state)
{
    (void)state;
    static const struct {
        const char *breed, *text;
    } cases[] = {
        {"dense, 70 columns", "rbf(it, gamma=0.1) + 2*linear(it)*poly(it, degree=2, c=1)"},
        {"dense, 70 columns", "normalize(poly(it, degree=3, c=1))*matern(it) + laplace(other)"},
        {"sparse, 5000 columns", "exp(0.1*linear(it)) + rbf(it, gamma=0.2)*rbf(other, gamma=1)"},
        {"graphs, nodes labelled", "normalize(wl(it))*rbf(other, gamma=0.3)"},
        {"strings", "conformal(spectrum(it, p=2), f=\"other:1\") + 1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const zoo_breed *breed = zoo_breeds;
        while (breed->name != NULL && strcmp(breed->name, cases[i].breed) != 0)
            breed++;
        assert_non_null(breed->name);
        same_bits(&(zoo_trial){.breed = breed, .text = cases[i].text});
    }
}

int main(void)
{
    const struct CMUnitTest more[] = {cmocka_unit_test(test_expressions)};
    return zoo_run("threads", same_bits, more, 1);
}
