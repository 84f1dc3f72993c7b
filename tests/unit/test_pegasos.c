/* Pegasos: against slow, obvious code; its gap; the number of threads; going on.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "learner_helpers.h"

static mcr_model *fit_any(mcr *ctx, const char *kernel, const mcr_data *data, const char *options)
{
    mcr_model *m;
    test_ok(ctx, try_fit(&m, ctx, "pegasos", kernel, data, options));
    return m;
}

/* As the books have it, with all coefficients in every step: the mean over the steps of
 * b / (lambda t), or weighted by t. */
static double *run_plain(const double *k, const double *y, const double *weight, int64_t n,
                         double lambda, int64_t passes, int64_t batch, bool weighted)
{
    double *b = calloc((size_t)n, sizeof *b), *mean = calloc((size_t)n, sizeof *mean), total = 0;
    double *next = calloc((size_t)n, sizeof *next), weights = 0, t = 0;
    for (int64_t i = 0; i < n; i++)
        weights += weight[i];
    for (int64_t pass = 0; pass < passes; pass++)
        for (int64_t at = 0; at < n; at += batch) {
            int64_t end = at + batch < n ? at + batch : n;
            t++;
            memcpy(next, b, sizeof *b * (size_t)n);
            for (int64_t i = at; i < end; i++) {
                double f = 0;
                for (int64_t j = 0; j < n; j++)
                    f += b[j] / (lambda * t) * k[j * n + i];
                if (y[i] * f < 1)
                    next[i] += y[i] * weight[i] * (double)n / weights / (double)(end - at);
            }
            for (int64_t i = 0; i < n; i++)
                mean[i] += (weighted ? t : 1) * b[i] / (lambda * t);
            total += weighted ? t : 1;
            memcpy(b, next, sizeof *b * (size_t)n);
        }
    for (int64_t i = 0; i < n; i++)
        mean[i] /= total;
    free(b);
    free(next);
    return mean;
}

static void test_plain(void **context)
{
    mcr *ctx = *context;
    enum { N = 90 };
    mcr_data *moons = sample_data(ctx, "moons", N), *data = NULL;
    double x[2 * N], y[N], sign[N], weight[N];
    for (int64_t i = 0; i < N; i++) {
        test_ok(ctx, mcr_data_vector(moons, 0, i, x + 2 * i));
        y[i] = mcr_data_class_of(moons)[i];
        sign[i] = y[i] != 0 ? 1 : -1;
        weight[i] = 0.5 + (double)(i % 3);
    }
    for (int t = 0; t < 16; t++) {
        bool weights = t & 1, batches = t & 2, features = t & 4, weighted = t & 8;
        const char *kernel = features ? "poly(degree=2, c=1)" : "rbf(gamma=2)";
        char options[200];
        for (int64_t i = 0; i < N; i++)
            weight[i] = weights ? 0.5 + (double)(i % 3) : 1;
        data = dense_data(ctx, N, 2, x, y, weights ? weight : NULL);
        double *k = all_values(ctx, kernel, data);
        double *a = run_plain(k, sign, weight, N, 0.02, 5, batches ? 7 : 1, weighted);
        snprintf(options, sizeof options,
                 "lambda=0.02 passes=5 tol=1e-9 order=given batch=%d form=%s average=%s",
                 batches ? 7 : 1, features ? "primal" : "dual", weighted ? "weighted" : "uniform");
        mcr_model *m = fit_any(ctx, kernel, data, options);
        double *b = all_coefficients(ctx, m, 0, N);
        test_close_relative("coefficients", b, a, N, 1e-11);
        size_t had = ctx->config.memory_bytes;
        ctx->config.memory_bytes = 30000; /* too little for all of K: blocks, in float */
        mcr_model *blocks = fit_any(ctx, kernel, data, options);
        ctx->config.memory_bytes = had;
        double *c = all_coefficients(ctx, blocks, 0, N);
        test_close_relative("coefficients by blocks", c, a, N, 1e-11);
        mcr_model_free(m);
        mcr_model_free(blocks);
        free(a);
        free(b);
        free(c);
        free(k);
        mcr_data_free(data);
    }
    mcr_data_free(moons);
}

/* Primal and dual hold the optimum of svm --bias no between them, and come together. */
static void test_gap(void **context)
{
    mcr *ctx = *context;
    static const char *const cases[][3] = {{"moons", "rbf(gamma=2)", "C=1"},
                                           {"moons", "linear", "C=5"},
                                           {"sparse", "linear", "C=0.1"}};
    for (size_t t = 0; t < sizeof cases / sizeof *cases; t++) {
        mcr_data *data = sample_data(ctx, cases[t][0], 300);
        char options[100];
        mcr_model *svm = NULL;
        snprintf(options, sizeof options, "%s bias=no tol=1e-6", cases[t][2]);
        test_ok(ctx, try_fit(&svm, ctx, "svm", cases[t][1], data, options));
        double best = mcr_model_report(svm)->primal, last = INFINITY;
        for (int passes = 4; passes <= 1024; passes *= 4) {
            snprintf(options, sizeof options, "%s tol=1e-9 passes=%d average=weighted", cases[t][2],
                     passes);
            mcr_model *m = fit_any(ctx, cases[t][1], data, options);
            const mcr_report_fit *r = mcr_model_report(m);
            if (!(r->primal >= best * (1 - 1e-6)) || !(r->dual <= best * (1 + 1e-6)) ||
                !(r->gap < last))
                fail_msg("%s, %d passes: primal %g, dual %g, optimum %g", cases[t][0], passes,
                         r->primal, r->dual, best);
            assert_true(r->stop == MCR_STOP_STEPS);
            last = r->gap;
            if (passes == 1024 && !(r->primal < 1.01 * best))
                fail_msg("%s: primal %g, optimum %g", cases[t][0], r->primal, best);
            mcr_model_free(m);
        }
        mcr_model_free(svm);
        mcr_data_free(data);
    }
}

/* The same bits for any number of threads, with blocks of K and with several classes. */
static void test_threads(void **context)
{
    (void)context;
    enum { N = 1500 };
    static const char *const options[] = {"passes=2", "passes=2 batch=100 average=weighted",
                                          "passes=2 budget=50", "passes=2 batch=700 order=random"};
    for (size_t t = 0; t < sizeof options / sizeof *options; t++) {
        static double score[3][3 * N];
        for (int threads = 1; threads <= 3; threads++) {
            mcr *ctx = test_open(threads);
            ctx->config.memory_bytes = 3000000;
            mcr_data *data = sample_data(ctx, "blobs", N);
            mcr_model *m = fit_any(ctx, "rbf(gamma=0.7)", data, options[t]);
            test_ok(ctx, mcr_predict(ctx, m, data, NULL, score[threads - 1], NULL));
            if (strstr(options[t], "budget"))
                assert_true(mcr_model_support(m) <= 50);
            mcr_model_free(m);
            mcr_data_free(data);
            test_close(ctx);
        }
        assert_memory_equal(score[0], score[1], sizeof score[0]);
        assert_memory_equal(score[0], score[2], sizeof score[0]);
    }
}

/* One pass in three parts is one pass. */
static void test_more(void **context)
{
    mcr *ctx = *context;
    enum { N = 300, PART = 100 };
    mcr_data *data = sample_data(ctx, "moons", N);
    static const char *const options[] = {"lambda=0.01 passes=1 order=given",
                                          "lambda=0.01 passes=1 order=given average=weighted"};
    for (int t = 0; t < 2; t++) {
        mcr_model *whole = fit_any(ctx, "rbf(gamma=2)", data, options[t]), *m = NULL;
        for (int64_t part = 0; part < 3; part++) {
            mcr_data *some = NULL;
            mcr_model *next = NULL;
            mcr_options *o = NULL;
            test_ok(ctx, mcr_data_select(&some, data, (mcr_rows){NULL, part * PART, PART}));
            if (part == 0) {
                next = fit_any(ctx, "rbf(gamma=2)", some, options[t]);
            } else {
                test_ok(ctx, mcr_options_of(&o, ctx, m));
                test_ok(ctx, mcr_fit_more(&next, o, NULL, some, m));
            }
            mcr_options_close(o);
            mcr_model_free(m);
            mcr_data_free(some);
            m = next;
        }
        double *a = all_coefficients(ctx, whole, 0, N), *b = all_coefficients(ctx, m, 0, N);
        test_close_relative("coefficients", b, a, N, 1e-12);
        assert_true(mcr_model_report(m)->iterations == N && mcr_model_report(m)->n == N);
        free(a);
        free(b);
        mcr_model_free(whole);
        mcr_model_free(m);
    }
    mcr_model *m = NULL;
    test_fails(ctx, try_fit(&m, ctx, "pegasos", "linear", data, "C=1 lambda=1"), MCR_BAD_CALL,
               "give one of them");
    mcr_data_free(data);
}

/* With all objects as landmarks the approximation is exact: the same steps, the same function. */
static void test_approximate(void **context)
{
    mcr *ctx = *context;
    enum { N = 200 };
    mcr_data *data = sample_data(ctx, "moons", N);
    mcr_model *m = fit_any(ctx, "rbf(gamma=0.1)", data, "passes=5 form=dual"), *a = NULL;
    static const char *const approx[] = {"nystrom", "falkon"};
    double score[2][N];
    test_ok(ctx, mcr_predict(ctx, m, data, NULL, score[0], NULL));
    for (int t = 0; t < 2; t++) {
        char text[64];
        snprintf(text, sizeof text, "passes=5 approx=%s rank=200", approx[t]);
        a = fit_any(ctx, "rbf(gamma=0.1)", data, text);
        const mcr_report_fit *r = mcr_model_report(a);
        assert_string_equal(r->certificate, "relative gap of the approximate problem");
        assert_true(r->iterations == mcr_model_report(m)->iterations);
        test_ok(ctx, mcr_predict(ctx, a, data, NULL, score[1], NULL));
        test_close_arrays("scores", score[1], score[0], N, 1e-4);
        mcr_model_free(a);
    }
    test_fails(ctx, try_fit(&a, ctx, "pegasos", "rbf(gamma=1)", data, "approx=rff budget=5"),
               MCR_BAD_CALL, "pegasos: a budget works on objects");
    mcr_model_free(m);
    mcr_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_plain, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_gap, test_setup, test_teardown),
        cmocka_unit_test(test_threads),
        cmocka_unit_test_setup_teardown(test_more, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_approximate, test_setup, test_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
