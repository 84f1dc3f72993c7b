/* Scaling: against plain loops, dense and sparse; part of the model, through files; pre-images back
 * in the data's units.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "data/scaling.h"
#include "learner_helpers.h"

enum { N = 50, COLS = 4 };

/* Column 2 is constant, column 3 mostly zero. */
static void make_values(double *x, double *y)
{
    for (int64_t i = 0; i < N; i++) {
        x[i * COLS] = 100 + 10 * sin((double)i);
        x[i * COLS + 1] = 1e-3 * cos((double)(3 * i));
        x[i * COLS + 2] = 0.1;
        x[i * COLS + 3] = i % 10 == 0 ? (double)i - 20 : 0;
        y[i] = x[i * COLS] > 100;
    }
}

static mcr_data *sparse_data(mcr *ctx, const double *x, const double *y, bool few)
{
    mcr_builder *b = NULL;
    mcr_data *data = NULL;
    int64_t start[N + 1] = {0};
    int32_t index[N * COLS];
    double value[N * COLS];
    int64_t e = 0;
    for (int64_t i = 0; i < N; i++) {
        for (int64_t k = few ? 3 : 0; k < COLS; k++)
            if (x[i * COLS + k] != 0) {
                index[e] = (int32_t)k;
                value[e++] = x[i * COLS + k];
            }
        start[i + 1] = e;
    }
    test_ok(ctx, mcr_builder_open(&b, ctx, N));
    test_ok(ctx, mcr_builder_sparse(b, "x", COLS, start, index, value));
    test_ok(ctx, mcr_builder_targets(b, y));
    test_ok(ctx, mcr_builder_finish(&data, b));
    return data;
}

static void check(mcr *ctx, const mcr_data *data, const double *x, mcr_scale kind, bool shifts)
{
    mcr_scaling *s = NULL;
    mcr_data *scaled = NULL;
    double row[COLS];
    test_ok(ctx, mcr_scaling_learn(&s, data, kind));
    test_ok(ctx, mcr_scaling_apply(&scaled, s, data));
    for (int64_t k = 0; k < COLS; k++) {
        double low = INFINITY, high = -INFINITY, mean = 0, square = 0;
        for (int64_t i = 0; i < N; i++) {
            low = fmin(low, x[i * COLS + k]);
            high = fmax(high, x[i * COLS + k]);
            mean += x[i * COLS + k] / N;
        }
        for (int64_t i = 0; i < N; i++)
            square += pow(x[i * COLS + k] - mean, 2) / N;
        double shift = !shifts ? 0 : kind == MCR_SCALE_MINMAX ? low : mean;
        double width = kind != MCR_SCALE_MINMAX ? sqrt(square)
                       : shifts                 ? high - low
                                                : fmax(fabs(low), fabs(high));
        for (int64_t i = 0; i < N; i++) {
            double want = high > low ? (x[i * COLS + k] - shift) / width : 0;
            test_ok(ctx, mcr_data_vector(scaled, 0, i, row));
            test_close_real("scaled", row[k], want, 1e-9);
        }
    }
    mcr_scaling_free(s);
    mcr_data_free(scaled);
}

static void test_values(void **context)
{
    mcr *ctx = *context;
    double x[N * COLS], y[N];
    make_values(x, y);
    mcr_data *dense = dense_data(ctx, N, COLS, x, y, NULL), *sparse = sparse_data(ctx, x, y, false);
    mcr_data *few = sparse_data(ctx, x, y, true);
    double only[N * COLS];
    for (int64_t i = 0; i < N * COLS; i++)
        only[i] = i % COLS == 3 ? x[i] : 0;
    for (mcr_scale kind = MCR_SCALE_MINMAX; kind <= MCR_SCALE_STANDARD; kind++) {
        check(ctx, dense, x, kind, true);
        check(ctx, sparse, x, kind, true); /* more than half full: made dense */
        check(ctx, few, only, kind, false);
    }
    mcr_scaling *s = NULL;
    mcr_data *scaled = NULL, *strings = sample_data(ctx, "motifs", 20);
    test_fails(ctx, mcr_scaling_learn(&s, strings, MCR_SCALE_MINMAX), MCR_BAD_CALL, "no vectors");
    test_ok(ctx, mcr_scaling_learn(&s, dense, MCR_SCALE_MINMAX));
    mcr_data *moons = sample_data(ctx, "moons", 20);
    test_fails(ctx, mcr_scaling_apply(&scaled, s, moons), MCR_BAD_DATA, "4 features there, 2");
    mcr_scaling_free(s);
    mcr_data_free(moons);
    mcr_data_free(strings);
    mcr_data_free(dense);
    mcr_data_free(sparse);
    mcr_data_free(few);
}

/* A model that scales says what one on scaled data says; also after a file. */
static void test_models(void **context)
{
    mcr *ctx = *context;
    double x[N * COLS], y[N], want[N], got[N];
    char folder[256], path[300];
    make_values(x, y);
    mcr_data *data = dense_data(ctx, N, COLS, x, y, NULL), *scaled = NULL;
    mcr_scaling *s = NULL;
    mcr_model *loaded = NULL;
    test_ok(ctx, mcr_scaling_learn(&s, data, MCR_SCALE_STANDARD));
    test_ok(ctx, mcr_scaling_apply(&scaled, s, data));
    mcr_model *model = fit_model(ctx, "svm", "rbf(gamma=0.3)", data, "scale=standard C=10");
    mcr_model *plain = fit_model(ctx, "svm", "rbf(gamma=0.3)", scaled, "C=10");
    assert_non_null(strstr(mcr_model_report(model)->options, "scale=standard"));
    test_ok(ctx, mcr_predict(ctx, plain, scaled, NULL, want, NULL));
    test_ok(ctx, mcr_predict(ctx, model, data, NULL, got, NULL));
    test_close_arrays("scores", got, want, N, 0);
    test_make_directory(folder);
    snprintf(path, sizeof path, "%s/m", folder);
    test_ok(ctx, mcr_model_save(ctx, model, path));
    test_ok(ctx, mcr_model_load(&loaded, ctx, path));
    test_ok(ctx, mcr_predict(ctx, loaded, data, NULL, got, NULL));
    test_close_arrays("scores after a file", got, want, N, 0);
    test_fails(ctx, mcr_model_save_libsvm(ctx, model, path), MCR_BAD_CALL, "do not scale");
    test_remove_directory(folder);
    mcr_model_free(model);
    mcr_model_free(plain);
    mcr_model_free(loaded);
    mcr_scaling_free(s);
    mcr_data_free(scaled);
    mcr_data_free(data);
}

/* With all components a pre-image is the object itself, in the units of the data. */
static void test_preimages(void **context)
{
    mcr *ctx = *context;
    double x[N * COLS], y[N], back[N * COLS];
    make_values(x, y);
    mcr_data *data = dense_data(ctx, N, COLS, x, y, NULL);
    mcr_model *model = fit_model(ctx, "pca", "rbf(gamma=0.1)", data,
                                 "components=40 scale=standard");
    test_ok(ctx, mcr_preimage(ctx, model, data, back));
    for (int64_t i = 0; i < N; i++)
        for (int64_t k = 0; k < COLS; k++)
            if (fabs(back[i * COLS + k] - x[i * COLS + k]) > 0.05 * fmax(1e-3, fabs(x[i * COLS])))
                fail_msg("object %d, column %d: %g, not %g", (int)i, (int)k, back[i * COLS + k],
                         x[i * COLS + k]);
    mcr_model_free(model);
    mcr_data_free(data);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, test_setup, test_teardown)
    const struct CMUnitTest tests[] = {TEST(test_values), TEST(test_models), TEST(test_preimages)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
