/* Nearest neighbours: against sorting all distances, votes by distance, weights, leaving out, more
 * objects than a block.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "learner_helpers.h"

enum { N = 90, K = 7 };

typedef struct pair {
    double distance;
    int64_t object;
} pair;

static int nearer(const void *a, const void *b)
{
    const pair *x = a, *y = b;
    if (x->distance != y->distance)
        return x->distance < y->distance ? -1 : 1;
    return x->object < y->object ? -1 : 1;
}

/* The value that the K nearest of object i give, without itself if `others`. */
static double brute(const double *k, const mcr_data *data, int64_t i, bool by_distance, bool others,
                    bool classify)
{
    int64_t n = mcr_data_count(data), first = 0, classes = mcr_data_classes(data), best = 0;
    pair *all = calloc((size_t)n, sizeof *all);
    double *votes = calloc((size_t)classes + 1, sizeof *votes), sum = 0, value = 0;
    for (int64_t j = 0; j < n; j++)
        all[j] = (pair){k[i * n + i] + k[j * n + j] - 2 * k[i * n + j], j};
    if (others)
        all[i].distance = -1;
    qsort(all, (size_t)n, sizeof *all, nearer);
    first = others;
    bool exact = by_distance && all[first].distance <= 0;
    for (int64_t t = first; t < first + K; t++) {
        double share = !by_distance ? 1 : exact ? all[t].distance <= 0 : 1 / sqrt(all[t].distance);
        votes[mcr_data_class_of(data)[all[t].object]] += share;
        value += share * mcr_data_targets(data)[all[t].object];
        sum += share;
    }
    for (int64_t c = 1; c < classes; c++)
        best = votes[c] > votes[best] ? c : best;
    free(all);
    free(votes);
    return classify ? (double)best : value / sum;
}

static void compare(mcr *ctx, const char *sample, const char *kernel, const char *options)
{
    mcr_data *data = sample_data(ctx, sample, N);
    mcr_model *model = fit_model(ctx, "knn", kernel, data, options);
    bool classify = mcr_model_classes(model) > 0, by_distance = strstr(options, "distance") != NULL;
    double *k = all_values(ctx, kernel, data), value[N], want[N], loo = 0;
    test_ok(ctx, mcr_predict(ctx, model, data, value, NULL, NULL));
    for (int64_t i = 0; i < N; i++) {
        double other = brute(k, data, i, by_distance, true, classify);
        want[i] = brute(k, data, i, by_distance, false, classify);
        loo += classify ? other != mcr_data_class_of(data)[i]
                        : pow(other - mcr_data_targets(data)[i], 2);
    }
    test_close_arrays(options, value, want, N, 1e-12);
    test_close_real("leave-one-out", mcr_model_report(model)->loo, loo / N, 1e-12);
    free(k);
    mcr_model_free(model);
    mcr_data_free(data);
}

static void test_against_sorting(void **context)
{
    mcr *ctx = *context;
    compare(ctx, "sinc", "rbf(gamma=1)", "neighbors=7 loo=yes");
    compare(ctx, "sinc", "laplace(gamma=1)", "neighbors=7 loo=yes vote=distance");
    compare(ctx, "blobs", "linear", "neighbors=7 loo=yes task=classify");
    compare(ctx, "moons", "rbf(gamma=2)", "neighbors=7 loo=yes task=classify vote=distance");
    compare(ctx, "motifs", "normalize(spectrum(p=3))", "neighbors=7 loo=yes task=classify");
}

/* Shares of the votes are probabilities; weights count, and an object of weight 0 is no
 * neighbour. */
static void test_votes(void **context)
{
    mcr *ctx = *context;
    const double x[] = {0, 1, 2, 3, 100}, y[] = {1, 1, 2, 2, 2}, weight[] = {1, 1, 3, 0, 1};
    mcr_data *data = dense_data(ctx, 5, 1, x, y, weight);
    mcr_model *model = fit_model(ctx, "knn", "linear", data, "neighbors=3 task=classify");
    double value[5], score[10], proba[10];
    assert_int_equal(mcr_model_support(model), 4);
    test_ok(ctx, mcr_predict(ctx, model, data, value, score, proba));
    test_close_arrays("shares", proba, (const double[]){0.4, 0.6}, 2, 1e-15);
    assert_memory_equal(score, proba, sizeof score);
    assert_true(value[0] == 1 && mcr_model_has_probability(model));
    mcr_model_free(model);
    test_fails(ctx, try_fit(&model, ctx, "knn", "linear", data, "neighbors=5"), MCR_BAD_DATA,
               "only 4 objects with a weight");
    mcr_data_free(data);
}

/* More basis and new objects than fit into one block. */
static void test_many(void **context)
{
    mcr *ctx = *context;
    enum { BASIS = 1300, NEW = 2100 };
    mcr_data *all = sample_data(ctx, "sinc", NEW), *some = NULL;
    double *value = calloc(NEW, sizeof *value);
    test_ok(ctx, mcr_data_select(&some, all, (mcr_rows){NULL, 0, BASIS}));
    mcr_model *model = fit_model(ctx, "knn", "rbf(gamma=1)", some, "neighbors=1");
    test_ok(ctx, mcr_predict(ctx, model, all, value, NULL, NULL));
    test_close_arrays("own target", value, mcr_data_targets(some), BASIS, 0);
    for (int64_t i = BASIS; i < NEW; i += 97) {
        double x, z, best = INFINITY, want = 0;
        test_ok(ctx, mcr_data_vector(all, 0, i, &x));
        for (int64_t j = 0; j < BASIS; j++) {
            test_ok(ctx, mcr_data_vector(all, 0, j, &z));
            if (fabs(x - z) < best) {
                best = fabs(x - z);
                want = mcr_data_targets(all)[j];
            }
        }
        assert_true(value[i] == want);
    }
    free(value);
    mcr_model_free(model);
    mcr_data_free(some);
    mcr_data_free(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_against_sorting, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_votes, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_many, test_setup, test_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
