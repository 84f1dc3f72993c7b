/* K-means in feature space: the objective from its definition, that no move of an object helps,
 * weights as repeated objects, the textbook picture, that seeds hardly matter, what is refused.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "learner_helpers.h"

enum { N = 60, K = 4 };
static const char rbf[] = "rbf(gamma=0.5)";

/* sum over clusters of sum_i w_i K_ii - sum_ij w_i w_j K_ij / W. */
static double objective_of(const double *k, const double *weight, const double *of, int64_t n)
{
    double total = 0;
    for (int64_t c = 0; c < n; c++) {
        double own = 0, pairs = 0, w = 0;
        for (int64_t i = 0; i < n; i++) {
            if (of[i] != (double)c)
                continue;
            double wi = weight ? weight[i] : 1;
            w += wi;
            own += wi * k[i * n + i];
            for (int64_t j = 0; j < n; j++)
                if (of[j] == (double)c)
                    pairs += wi * (weight ? weight[j] : 1) * k[i * n + j];
        }
        total += w > 0 ? own - pairs / w : 0;
    }
    return total;
}

static void test_local_optimum(void **context)
{
    mcr *ctx = *context;
    mcr_data *data = sample_data(ctx, "moons", N);
    mcr_model *model = fit_model(ctx, "kmeans", rbf, data, "clusters=4 restarts=3");
    double *k = all_values(ctx, rbf, data), of[N], score[N * K];
    test_ok(ctx, mcr_predict(ctx, model, data, of, score, NULL));
    double at = objective_of(k, NULL, of, N);
    test_close_real("objective", mcr_model_report(model)->objective, at, 1e-10);
    for (int64_t i = 0; i < N; i++) {
        double was = of[i];
        for (int64_t c = 0; c < K; c++) {
            of[i] = (double)c;
            assert_true(objective_of(k, NULL, of, N) >= at * (1 - 2e-6));
            assert_true(score[i * K + (int64_t)was] >= score[i * K + c]);
        }
        of[i] = was;
    }
    assert_string_equal(mcr_model_output_name(model, 3), "cluster 4");
    free(k);
    mcr_model_free(model);
    mcr_data_free(data);
}

/* A weight of 3 is the object three times, and one of 0 is none. */
static void test_weights(void **context)
{
    mcr *ctx = *context;
    double x[N], weight[N], many[3 * N], value[2][N];
    int64_t count = 0;
    for (int64_t i = 0; i < N; i++) {
        x[i] = (double)(i % 3) * 10 + sin((double)i);
        weight[i] = (double)(i % 4);
        for (int64_t t = 0; t < i % 4; t++)
            many[count++] = x[i];
    }
    mcr_data *a = dense_data(ctx, N, 1, x, NULL, weight);
    mcr_data *b = dense_data(ctx, count, 1, many, NULL, NULL);
    mcr_model *one = fit_model(ctx, "kmeans", "linear", a, "clusters=3");
    mcr_model *two = fit_model(ctx, "kmeans", "linear", b, "clusters=3");
    test_close_real("objective", mcr_model_report(one)->objective, mcr_model_report(two)->objective,
                    1e-9);
    test_ok(ctx, mcr_predict(ctx, one, a, value[0], NULL, NULL));
    test_ok(ctx, mcr_predict(ctx, two, a, value[1], NULL, NULL));
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < N; j++)
            assert_true((value[0][i] == value[0][j]) == (value[1][i] == value[1][j]));
    assert_int_equal(mcr_model_support(one), 45);
    mcr_model_free(one);
    mcr_model_free(two);
    mcr_data_free(a);
    mcr_data_free(b);
}

/* Rings are no clusters of points, but their lengths are. */
static void test_rings(void **context)
{
    mcr *ctx = *context;
    mcr_data *data = NULL;
    mcr_metrics metrics = MCR_INIT(mcr_metrics);
    test_ok(ctx, mcr_data_sample(&data, ctx, "rings", 300, 0.02));
    double value[300], rand[2];
    static const char *const kernels[] = {"linear", "conformal(1)"};
    for (int t = 0; t < 2; t++) {
        mcr_model *model = fit_model(ctx, "kmeans", kernels[t], data, "clusters=2");
        test_ok(ctx, mcr_predict(ctx, model, data, value, NULL, NULL));
        test_ok(ctx, mcr_model_score(ctx, model, data, value, &metrics));
        rand[t] = metrics.rand;
        mcr_model_free(model);
    }
    assert_true(rand[0] < 0.1 && rand[1] > 0.95);
    mcr_data_free(data);
}

static void test_corners(void **context)
{
    mcr *ctx = *context;
    const double x[] = {1, 1, 1, 5, 5, 9};
    mcr_data *data = dense_data(ctx, 6, 1, x, NULL, NULL);
    mcr_model *model = fit_model(ctx, "kmeans", "linear", data, "clusters=3");
    assert_true(fabs(mcr_model_report(model)->objective) < 1e-12);
    mcr_model_free(model);
    model = fit_model(ctx, "kmeans", "linear", data, "clusters=1");
    double value[6];
    test_ok(ctx, mcr_predict(ctx, model, data, value, NULL, NULL));
    assert_true(value[0] == 0 && value[5] == 0);
    mcr_model_free(model);
    test_fails(ctx, try_fit(&model, ctx, "kmeans", "linear", data, "clusters=4"), MCR_BAD_DATA,
               "only 3 objects that differ");
    test_fails(ctx, try_fit(&model, ctx, "kmeans", "linear", data, "clusters=7"), MCR_BAD_DATA,
               "only 6 objects");
    mcr_data_free(data);
}

/* How many of SEEDS random seeds lead to the best result that any of them finds. */
static int count_best(const double *x, int64_t n, const char *kernel)
{
    enum { SEEDS = 6 };
    double at[SEEDS], least = INFINITY;
    int count = 0;
    for (int i = 0; i < SEEDS; i++) {
        mcr *ctx = NULL;
        mcr_config config = {.size = sizeof config, .seed = (uint64_t)i + 1, .threads = 1 + i % 2};
        assert_int_equal(mcr_open(&ctx, &config), MCR_OK);
        mcr_data *data = dense_data(ctx, n, 2, x, NULL, NULL);
        mcr_model *model = fit_model(ctx, "kmeans", kernel, data, "clusters=12 restarts=8");
        at[i] = mcr_model_report(model)->objective;
        least = fmin(least, at[i]);
        mcr_model_free(model);
        mcr_data_free(data);
        mcr_close(ctx);
    }
    for (int i = 0; i < SEEDS; i++)
        count += at[i] <= least * (1 + 1e-6);
    return count;
}

/* Eight starts from seeds alone find the best result for one seed of six; crossed ones do for most,
 * from kernel values and from features. */
static void test_crossed(void **context)
{
    enum { OBJECTS = 300 };
    double x[2 * OBJECTS];
    mcr_data *data = sample_data(*context, "moons", OBJECTS);
    for (int64_t i = 0; i < OBJECTS; i++)
        test_ok(*context, mcr_data_vector(data, 0, i, x + 2 * i));
    assert_int_equal(count_best(x, OBJECTS, rbf), 6);
    assert_true(count_best(x, OBJECTS, "linear") >= 4);
    mcr_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_local_optimum, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_weights, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_rings, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_crossed, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_corners, test_setup, test_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
