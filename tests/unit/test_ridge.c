/* Kernel ridge regression: its linear system, leave-one-out errors against training without each
 * object, the path of lambda, weights as repeated objects, singular matrices.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "learner_helpers.h"

#include "base/context.h"
#include "solve/squares.h"

enum { N = 40 };
static const char rbf[] = "rbf(gamma=0.5)";

static void test_system(void **context)
{
    mcr *ctx = *context;
    mcr_data *data = sample_data(ctx, "sinc", N);
    mcr_model *model = fit_model(ctx, "ridge", rbf, data, "lambda=0.3");
    double *k = all_values(ctx, rbf, data), *a = all_coefficients(ctx, model, 0, N), left[N];
    double objective = 0;
    for (int64_t i = 0; i < N; i++) {
        double f = 0;
        for (int64_t j = 0; j < N; j++)
            f += k[i * N + j] * a[j];
        left[i] = f + 0.3 * a[i];
        double e = mcr_data_targets(data)[i] - f;
        objective += e * e + 0.3 * a[i] * f;
    }
    test_close_arrays("(G + lambda) a = y", left, mcr_data_targets(data), N, 1e-12);
    test_close_real("objective", mcr_model_report(model)->objective, objective, 1e-12);
    free(k);
    free(a);
    mcr_model_free(model);
    mcr_data_free(data);
}

/* Mean square error, or share of wrong classes, of each object predicted from the others. */
static double leave_one_out(mcr *ctx, const mcr_data *data, const char *options)
{
    double sum = 0, weights = 0;
    const double *weight = mcr_data_weights(data);
    for (int64_t i = 0; i < mcr_data_count(data); i++) {
        double value, w = weight ? weight[i] : 1;
        mcr_data *rest = without(ctx, data, i), *one = NULL;
        test_ok(ctx, mcr_data_select(&one, data, (mcr_rows){NULL, i, 1}));
        mcr_model *model = fit_model(ctx, "ridge", rbf, rest, options);
        test_ok(ctx, mcr_predict(ctx, model, one, &value, NULL, NULL));
        double e = value - mcr_data_targets(data)[i];
        sum += mcr_model_classes(model) ? w * (value != mcr_data_class_of(data)[i]) : w * e * e;
        weights += w;
        mcr_model_free(model);
        mcr_data_free(one);
        mcr_data_free(rest);
    }
    return sum / weights;
}

static void test_leaving_out(void **context)
{
    static const char *const cases[][2] = {
        {"sinc", "lambda=0.1 loo=yes"},
        {"sinc", "lambda=1e-6 loo=yes"},
        {"blobs", "lambda=0.5 task=classify loo=yes"},
        {"moons", "lambda=0.5 task=classify class-weight=balanced loo=yes"},
    };
    mcr *ctx = *context;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        mcr_data *data = sample_data(ctx, cases[c][0], N);
        mcr_model *model = fit_model(ctx, "ridge", rbf, data, cases[c][1]);
        test_close_real(cases[c][1], mcr_model_report(model)->loo,
                        leave_one_out(ctx, data, cases[c][1]), 1e-9);
        mcr_model_free(model);
        mcr_data_free(data);
    }
}

static void test_path(void **context)
{
    mcr *ctx = *context;
    mcr_data *data = sample_data(ctx, "sinc", N);
    mcr_model *best = fit_model(ctx, "ridge", rbf, data, "lambda=1e-4:100:log7");
    double least = INFINITY;
    for (int t = 0; t < 7; t++) {
        char text[64];
        snprintf(text, sizeof text, "loo=yes lambda=%.17g", 1e-4 * pow(10, t));
        mcr_model *model = fit_model(ctx, "ridge", rbf, data, text);
        least = fmin(least, mcr_model_report(model)->loo);
        mcr_model_free(model);
    }
    test_close_real("best of the path", mcr_model_report(best)->loo, least, 1e-10);
    int64_t count;
    assert_non_null(mcr_fitted_find(best->fitted, "path", &count));
    assert_int_equal(count, 14);
    assert_non_null(strstr(mcr_model_report(best)->remark, "of 7"));
    mcr_model_free(best);
    mcr_data_free(data);
}

/* A weight of 2 is the object twice, and one of 0 is none. */
static void test_weights(void **context)
{
    mcr *ctx = *context;
    double x[N], y[N], weight[N], twice[3 * N], again[3 * N], value[2][N];
    int64_t count = 0;
    for (int64_t i = 0; i < N; i++) {
        x[i] = (double)i / 10;
        y[i] = sin(x[i]) + 0.1 * cos(17 * x[i]);
        weight[i] = (double)(i % 3);
        for (int64_t t = 0; t < i % 3; t++) {
            twice[count] = x[i];
            again[count++] = y[i];
        }
    }
    mcr_data *a = dense_data(ctx, N, 1, x, y, weight),
             *b = dense_data(ctx, count, 1, twice, again, NULL);
    mcr_model *one = fit_model(ctx, "ridge", rbf, a, "lambda=0.1");
    mcr_model *two = fit_model(ctx, "ridge", rbf, b, "lambda=0.1");
    test_ok(ctx, mcr_predict(ctx, one, a, value[0], NULL, NULL));
    test_ok(ctx, mcr_predict(ctx, two, a, value[1], NULL, NULL));
    test_close_arrays("weights", value[0], value[1], N, 1e-10);
    test_close_real("objective", mcr_model_report(one)->objective, mcr_model_report(two)->objective,
                    1e-10);
    assert_int_equal(mcr_model_support(one), N - (N + 2) / 3);
    mcr_model_free(one);
    mcr_model_free(two);
    mcr_data_free(a);
    mcr_data_free(b);
}

/* A jitter makes a solution of a singular system, and is reported. */
static void test_singular(void **context)
{
    mcr *ctx = *context;
    mcr_data *data = sample_data(ctx, "sinc", 200), *blobs = sample_data(ctx, "blobs", N);
    mcr_model *model = fit_model(ctx, "ridge", "linear", data, "lambda=0");
    assert_non_null(strstr(mcr_model_report(model)->remark, "was added"));
    assert_true(isfinite(mcr_model_report(model)->mse));
    mcr_model_free(model);
    test_fails(ctx, try_fit(&model, ctx, "ridge", "sigmoid(a=1, b=-1)", blobs, "lambda=0.001"),
               MCR_NUMERIC, "larger lambda");
    test_fails(ctx, try_fit(&model, ctx, "ridge", rbf, data, "lambda=-1"), MCR_BAD_CALL, "lambda");
    test_fails(ctx, try_fit(&model, ctx, "ridge", rbf, data, "lambda=1:0:log5"), MCR_BAD_CALL,
               "range");
    test_fails(ctx, try_fit(&model, ctx, "ridge", rbf, data, "class-weight=balanced"), MCR_BAD_CALL,
               "task=classify");
    mcr_data_free(data);
    mcr_data_free(blobs);
}

/* Many objects, where the factor is a float's: the same system is solved, weights of 0 and all,
 * where lambda is large, small, or too small for float; the same bits with one thread and with two;
 * half of the memory is enough for one lambda, and for several not. */
static void test_float_factor(void **context)
{
    enum { MANY = 1100, COLS = 3 };
    static const char *const lambdas[] = {"lambda=1", "lambda=0.002", "lambda=1e-5"};
    double *x = calloc(MANY * COLS, sizeof *x), *y = calloc(MANY, sizeof *y);
    double *weight = calloc(MANY, sizeof *weight), *kept = calloc(MANY, sizeof *kept);
    (void)context;
    assert_true(x && y && weight && kept);
    for (int64_t i = 0; i < MANY; i++) {
        for (int64_t c = 0; c < COLS; c++)
            x[i * COLS + c] = sin((double)(i * (c + 2) + i * i % 17));
        y[i] = 1e6 * (x[i * COLS] * x[i * COLS + 1] - x[i * COLS + 2]);
        weight[i] = (double)(i % 4) / 2;
    }
    for (int t = 0; t < 6; t++) {
        mcr *ctx = test_open(1 + t % 2);
        mcr_data *data = dense_data(ctx, MANY, COLS, x, y, weight);
        mcr_model *model = fit_model(ctx, "ridge", rbf, data, lambdas[t / 2]);
        const mcr_report_fit *r = mcr_model_report(model);
        double *k = all_values(ctx, rbf, data), *a = all_coefficients(ctx, model, 0, MANY);
        double lambda = strtod(strchr(lambdas[t / 2], '=') + 1, NULL);
        assert_true(r->value < 1e-8);
        assert_int_equal(r->iterations > 1, t / 2 < 2); /* corrected: it was a float's */
        for (int64_t i = 0; i < MANY; i++) {
            double f = 0;
            for (int64_t j = 0; j < MANY; j++)
                f += k[i * MANY + j] * a[j];
            test_close_real("w f + lambda a = w y", weight[i] * f + lambda * a[i], weight[i] * y[i],
                            1e-2); /* of 1e6 */
        }
        if (t % 2)
            assert_memory_equal(a, kept, sizeof *a * MANY);
        memcpy(kept, a, sizeof *a * MANY);
        free(k);
        free(a);
        mcr_model_free(model);
        if (t == 0) {
            mcr_model *none = NULL;
            ctx->config.memory_bytes = MANY * MANY * 6;
            mcr_model_free(fit_model(ctx, "ridge", rbf, data, lambdas[0]));
            test_fails(ctx, try_fit(&none, ctx, "ridge", rbf, data, "lambda=0.1:1:log2"),
                       MCR_OVER_BUDGET, "ridge: the kernel matrix needs");
        }
        mcr_data_free(data);
        test_close(ctx);
    }
    free(x);
    free(y);
    free(weight);
    free(kept);
}

/* Where the kernel matrix does not fit the memory, by products: the same solution, with weights,
 * several classes and equal bits for any number of threads; or what is asked for needs the
 * matrix. */
static void test_large(void **context)
{
    enum { MANY = 1500 };
    static const char *const options[] = {"lambda=0.1 tol=1e-9", "lambda=1 tol=1e-9 task=classify"};
    (void)context;
    for (int t = 0; t < 2; t++) {
        double f[3][3 * MANY];
        for (int run = 0; run < 3; run++) {
            mcr *ctx = test_open(run == 1 ? 1 : 2);
            mcr_data *data = sample_data(ctx, t ? "blobs" : "friedman", MANY);
            mcr_model *none = NULL;
            if (run)
                ctx->config.memory_bytes = MANY * MANY * 3;
            mcr_model *model = fit_model(ctx, "ridge", rbf, data, options[t]);
            const mcr_report_fit *r = mcr_model_report(model);
            assert_int_equal(r->stop, MCR_STOP_OPTIMAL);
            assert_int_equal(r->remark && strstr(r->remark, "conjugate gradients"), run > 0);
            double *score = scores_of(ctx, model, data, NULL);
            memcpy(f[run], score, sizeof(double) * MANY * (t ? 3 : 1));
            free(score);
            if (run)
                test_fails(ctx, try_fit(&none, ctx, "ridge", rbf, data, "lambda=0.1 loo=yes"),
                           MCR_OVER_BUDGET, "ridge: the kernel matrix needs");
            mcr_model_free(model);
            mcr_data_free(data);
            test_close(ctx);
        }
        test_close_arrays("by products", f[1], f[0], MANY * (t ? 3 : 1), 1e-7);
        assert_memory_equal(f[1], f[2], sizeof(double) * MANY * (t ? 3 : 1));
    }
}

/* Many objects with cheap kernel values: by products where lambda lets these be few, else by a
 * factor. Some rows of the system are checked by hand; the same bits with one thread and with
 * two. */
static void test_products(void **context)
{
    enum { MANY = 5000, COLS = 10, APART = 99 };
    static const double lambdas[] = {0.1, 1e-3};
    double *kept = calloc(MANY, sizeof *kept);
    (void)context;
    assert_non_null(kept);
    for (int t = 0; t < 3; t++) {
        mcr *ctx = test_open(1 + t % 2);
        mcr_data *data = sample_data(ctx, "friedman", MANY);
        double lambda = lambdas[t / 2];
        mcr_model *model = fit_model(ctx, "ridge", rbf, data, t / 2 ? "lambda=1e-3" : "lambda=0.1");
        const mcr_report_fit *r = mcr_model_report(model);
        double *a = all_coefficients(ctx, model, 0, MANY);
        const double *x = data->store[0]->dense, *y = data->target;
        assert_true(r->value < 1e-8);
        assert_null(r->remark);
        assert_int_equal(r->iterations > 10, t / 2 == 0);
        for (int64_t i = 0; i < MANY; i += APART) {
            double f = 0;
            for (int64_t j = 0; j < MANY; j++) {
                double far = 0;
                for (int64_t c = 0; c < COLS; c++)
                    far += pow(x[i * COLS + c] - x[j * COLS + c], 2);
                f += exp(-0.5 * far) * a[j];
            }
            test_close_real("f + lambda a = y", f + lambda * a[i], y[i], 1e-6);
        }
        if (t == 1)
            assert_memory_equal(a, kept, sizeof *a * MANY);
        memcpy(kept, a, sizeof *a * MANY);
        free(a);
        mcr_model_free(model);
        mcr_data_free(data);
        test_close(ctx);
    }
    free(kept);
}

/* The same bits for any number of threads, also of the path. */
static void test_threads(void **context)
{
    enum { MANY = 300 };
    double loo[2], f[2][MANY];
    (void)context;
    for (int t = 0; t < 2; t++) {
        mcr *ctx = test_open(t + 1);
        mcr_data *data = sample_data(ctx, "friedman", MANY);
        mcr_model *model = fit_model(ctx, "ridge", rbf, data, "lambda=1e-4:1:log9");
        loo[t] = mcr_model_report(model)->loo;
        test_ok(ctx, mcr_predict(ctx, model, data, f[t], NULL, NULL));
        mcr_model_free(model);
        mcr_data_free(data);
        test_close(ctx);
    }
    assert_true(loo[0] == loo[1]);
    assert_memory_equal(f[0], f[1], sizeof f[0]);
}

/* ---- held-out values from one inverse ---------------------------------------------------------*/

typedef struct watch {
    int64_t reports, stop; /* so many; at which to stop, 0: none */
    bool on;
} watch;

static int count_reports(void *user, const mcr_progress *now)
{
    watch *w = user;
    (void)now;
    return w->on && ++w->reports == w->stop;
}

enum { HELD = 90, FOLDS = 3, LAMBDAS = 2 };

/* Those of two lambdas, on a context with so much memory. */
static mcr_status held_out(watch *w, size_t memory, double f[LAMBDAS][HELD], size_t *used)
{
    static const double lambda[LAMBDAS] = {0.5, 2};
    mcr_config config = {.size = sizeof config,
                         .threads = 1,
                         .memory_bytes = memory,
                         .user = w,
                         .progress = count_reports};
    mcr *ctx;
    assert_int_equal(mcr_open(&ctx, &config), MCR_OK);
    mcr_data *data = sample_data(ctx, "sinc", HELD);
    mcr_kernel *kernel;
    mcr_gram *gram;
    mcr_squares q = {0};
    mcr_squares_folds h = {0};
    int32_t fold[HELD];
    bool exists[LAMBDAS];
    double *to[LAMBDAS] = {f[0], f[1]};
    double weight[HELD];
    for (int i = 0; i < HELD; i++) {
        fold[i] = i % FOLDS;
        weight[i] = 1;
    }
    test_ok(ctx, mcr_kernel_parse(&kernel, ctx, rbf));
    test_ok(ctx, mcr_gram_open(&gram, ctx, kernel, data, NULL));
    test_ok(ctx, mcr_squares_open(&q, gram, mcr_data_targets(data), weight, 1, 1e-9));
    test_ok(ctx, mcr_squares_folds_open(&h, &q, fold, FOLDS));
    size_t left = mcr_budget_left(ctx);
    *used = ctx->config.memory_bytes - left;
    w->on = true;
    mcr_status s = mcr_squares_shifts(&h, lambda, LAMBDAS, to, exists);
    w->on = false;
    assert_int_equal(mcr_budget_left(ctx), left);
    assert_true(s || (exists[0] && exists[1]));
    mcr_squares_folds_close(&h);
    mcr_squares_close(&q);
    mcr_gram_close(gram);
    mcr_kernel_free(kernel);
    mcr_data_free(data);
    mcr_close(ctx);
    return s;
}

/* It looks at the limits before each step, and its memory is of the budget. */
static void test_held_out_limits(void **context)
{
    double f[LAMBDAS][HELD], again[LAMBDAS][HELD];
    watch w = {0};
    size_t before, used;
    (void)context;
    assert_int_equal(held_out(&w, 0, f, &before), MCR_OK);
    int64_t reports = w.reports;
    assert_true(reports > 8); /* some steps, besides the inverse and the blocks of folds */
    for (int64_t stop = 1; stop <= reports; stop++) {
        w = (watch){.stop = stop};
        assert_int_equal(held_out(&w, 0, again, &used), MCR_STOPPED);
    }
    /* The least with which it does: what the blocks alone take is not enough. */
    size_t blocks = HELD * HELD / FOLDS * sizeof(double), low = before, high = before + 4000000;
    while (high - low > 1000) {
        size_t middle = low + (high - low) / 2;
        w = (watch){0};
        mcr_status s = held_out(&w, middle, again, &used);
        assert_true(s == MCR_OK || s == MCR_OVER_BUDGET);
        if (s)
            low = middle;
        else
            high = middle;
    }
    assert_int_equal(held_out(&w, high, again, &used), MCR_OK);
    assert_memory_equal(f, again, sizeof f);
    assert_true(low > before + blocks && high < before + 4000000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_system, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_leaving_out, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_path, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_weights, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_singular, test_setup, test_teardown),
        cmocka_unit_test(test_float_factor),
        cmocka_unit_test(test_large),
        cmocka_unit_test(test_products),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_held_out_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
