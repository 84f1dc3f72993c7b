/* pca, fisher, cca and kmeans from kernel values and from features: the same coordinates, the same
 * clusters; products with centred features; approximate maps.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "approx_helpers.h"

#include "learn/directions.h"

/* ---- both sides -------------------------------------------------------------------------------*/

/* Scores and objective to 1e-6, variances; of kmeans and fisher the same answers for every
 * object. */
static void compare_forms(mcr *ctx, const char *learner, const char *kernel, const mcr_data *data,
                          const char *options)
{
    int64_t n = mcr_data_count(data), outputs = 0;
    bool answers = strcmp(learner, "pca") != 0 && strcmp(learner, "cca") != 0;
    mcr_model *m[2];
    double *score[2], *value[2], size = 1;
    char what[256];
    for (int primal = 0; primal < 2; primal++) {
        snprintf(what, sizeof what, "form=%s %s", primal ? "primal" : "dual", options);
        m[primal] = fit_model(ctx, learner, kernel, data, what);
        assert_string_equal(mcr_model_report(m[primal])->form, primal ? "primal" : "dual");
        value[primal] = calloc((size_t)n, sizeof **value);
        score[primal] = scores_of(ctx, m[primal], data, answers ? value[primal] : NULL);
    }
    const mcr_report_fit *a = mcr_model_report(m[0]), *b = mcr_model_report(m[1]);
    snprintf(what, sizeof what, "%s, %s, %s", learner, kernel, options);
    outputs = mcr_model_outputs(m[0]);
    assert_int_equal(mcr_model_outputs(m[1]), outputs);
    assert_int_equal(mcr_model_support(m[1]), mcr_model_support(m[0]));
    for (int64_t i = 0; i < n * outputs; i++)
        size = fmax(size, fabs(score[0][i]));
    test_close_arrays(what, score[1], score[0], n * outputs, 1e-6 * size);
    test_close_real(what, b->objective, a->objective, 1e-6 * (1 + fabs(a->objective)));
    if (answers)
        test_close_arrays(what, value[1], value[0], n, 0);
    if (strcmp(learner, "fisher") == 0)
        test_close_real(what, b->accuracy, a->accuracy, 0);
    assert_int_equal(a->variances, b->variances);
    if (a->variances) {
        test_close_arrays("variances", b->variance, a->variance, a->variances,
                          1e-9 * a->total_variance);
        test_close_real("total", b->total_variance, a->total_variance, 1e-9 * a->total_variance);
    }
    for (int primal = 0; primal < 2; primal++) {
        mcr_model_free(m[primal]);
        free(score[primal]);
        free(value[primal]);
    }
}

static const char *const calls[][2] = {
    {"pca", "components=1"},   {"pca", "components=3"}, {"fisher", ""},
    {"fisher", "lambda=1e-6"}, {"fisher", "lambda=10"}, {"kmeans", "clusters=2 restarts=3"},
    {"kmeans", "clusters=7"},
};
enum { CALLS = sizeof calls / sizeof *calls };

static void compare_all(mcr *ctx, const char *kernel, const mcr_data *data)
{
    for (int c = 0; c < CALLS; c++)
        compare_forms(ctx, calls[c][0], kernel, data, calls[c][1]);
}

/* Vectors, dense and sparse, with and without weights, of two and more classes. */
static void test_vectors(void **state)
{
    static const char *const kernels[] = {"linear", "poly(degree=2, c=1)", "linear + 3"};
    mcr *ctx = *state;
    for (int t = 0; t < 24; t += test_brief() ? 5 : 1) {
        problem p = problem_classes(ctx, 120 + 7 * t, 5, 2 + t % 3, 0.1, t & 1, t & 2,
                                    (uint64_t)t + 1);
        compare_all(ctx, kernels[t % 3], p.data);
        compare_forms(ctx, "cca", kernels[t % 3], p.data,
                      "kernel2=poly(degree=2,c=1) components=2 lambda=0.01");
        problem_free(&p);
    }
}

/* Some of the objects in some order: data are views there. */
static void test_objects(void **state)
{
    static const char *const call[][2] = {
        {"motifs", "spectrum(p=3)"},
        {"motifs", "normalize(spectrum(p=5, mode=count))"},
        {"molecules", "wl(h=2)"},
        {"molecules", "normalize(wl(h=3))"},
    };
    mcr *ctx = *state;
    for (int t = 0; t < (test_brief() ? 4 : 8); t++) {
        mcr_data *all = sample_data(ctx, call[t % 4][0], 150), *some;
        int64_t row[90];
        for (int64_t i = 0; i < 90; i++)
            row[i] = (i * 7 + t * 11) % 150;
        test_ok(ctx, mcr_data_select(&some, all, (mcr_rows){row, 0, 90}));
        compare_all(ctx, call[t % 4][1], some);
        mcr_data_free(some);
        mcr_data_free(all);
    }
}

/* More features than objects, and so many objects that eigenvectors are found by products;
 * conjugate gradients. A mean far from the origin. */
static void test_many_features(void **state)
{
    mcr *ctx = *state;
    mcr_data *data = sample_data(ctx, "motifs", test_brief() ? 200 : 420);
    compare_forms(ctx, "pca", "normalize(spectrum(p=6))", data, "components=4");
    compare_forms(ctx, "fisher", "normalize(spectrum(p=6))", data, "");
    compare_forms(ctx, "cca", "normalize(spectrum(p=6))", data, "kernel2=spectrum(p=2)");
    compare_forms(ctx, "kmeans", "normalize(spectrum(p=4))", data, "clusters=5 restarts=2");
    mcr_data_free(data);
    problem p = problem_classes(ctx, test_brief() ? 400 : 900, 20, 3, 0.1, true, false, 5);
    compare_forms(ctx, "pca", "linear", p.data, "components=2");
    compare_forms(ctx, "pca", "linear + 50", p.data, "components=2");
    compare_forms(ctx, "fisher", "linear + 50", p.data, "");
    compare_forms(ctx, "pca", "poly(degree=3, c=1)", p.data, "components=2");
    compare_forms(ctx, "kmeans", "linear", p.data, "clusters=40 restarts=2");
    problem_free(&p);
}

/* A model to start from, of the other form. */
static void test_start(void **state)
{
    mcr *ctx = *state;
    problem p = problem_classes(ctx, 200, 4, 3, 0.1, false, true, 9);
    mcr_model *m = fit_model(ctx, "kmeans", "linear", p.data, "clusters=4 form=dual"), *next;
    test_ok(ctx, fit_from(&next, ctx, "kmeans", "clusters=4 form=primal restarts=1", "linear",
                          p.data, m));
    test_close_real("objective", mcr_model_report(next)->objective, mcr_model_report(m)->objective,
                    1e-9);
    mcr_model_free(next);
    mcr_model_free(m);
    problem_free(&p);
}

/* ---- products ---------------------------------------------------------------------------------*/

/* Rows of A add up to 0, weighted by the roots of the shares; both triangles are the same bits. */
static void expect_centred(const double *a, int64_t n, const double *root, double size)
{
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        for (int64_t j = 0; j < n; j++) {
            sum += root[j] * a[i * n + j];
            assert_true(a[i * n + j] == a[j * n + i]);
        }
        test_close_real("a row", sum, 0, size);
    }
}

static void multiply_plainly(const double *a, int64_t n, const double *v, int64_t cols, double *av)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < cols; c++) {
            av[i * cols + c] = 0;
            for (int64_t j = 0; j < n; j++)
                av[i * cols + c] += a[i * n + j] * v[j * cols + c];
        }
}

/* X'HX of all rows and of some, by products with X; its trace is the whole variance. */
static void expect_covariance(mcr *ctx, mcr_gram *gram, const double *v, double total)
{
    enum { MOST = 64 };
    int64_t n = mcr_gram_rows(gram), wide = mcr_gram_width(gram), row[] = {3, 17, 4};
    double c[MOST * MOST], x[MOST], cv[MOST], h[MOST], trace = 0;
    assert_in_range(wide, 1, MOST);
    mcr_rows some[] = {mcr_gram_all(gram), {row, 0, 3}};
    for (int t = 0; t < 2; t++) {
        for (int64_t i = 0; i < n; i++)
            h[i] = t ? 0.5 + (double)i : 1;
        test_ok(ctx, mcr_gram_weighted(gram, some[t], t ? h : NULL, c, wide));
        for (int64_t i = 0; i < wide; i++)
            for (int64_t j = i + 1; j < wide; j++)
                c[i * wide + j] = c[j * wide + i];
        test_ok(ctx, mcr_gram_expand(gram, some[t], v, 1, x));
        for (int64_t i = 0; i < some[t].count; i++)
            x[i] *= h[i];
        test_ok(ctx, mcr_gram_project(gram, some[t], x, 1, cv));
        double want[MOST];
        multiply_plainly(c, wide, v, 1, want);
        test_close_arrays("X'HX v", cv, want, wide, 1e-12 * (1 + total));
        for (int64_t i = 0; i < wide && t == 0; i++)
            trace += c[i * wide + i];
    }
    test_close_real("trace", trace, total, 1e-12 * total);
}

/* X X' is the matrix of centred.h, and X'X has its trace. */
static void test_products(void **state)
{
    enum { N = 60, COLS = 3 };
    mcr *ctx = *state;
    for (int t = 0; t < 4; t++) {
        problem p = problem_classes(ctx, N, 5, 2, 0.3, t & 1, t & 2, (uint64_t)t);
        mcr_kernel *k;
        mcr_features *f;
        mcr_directions dual, primal;
        test_ok(ctx, mcr_kernel_parse(&k, ctx, "poly(degree=2, c=1)"));
        test_ok(ctx, mcr_features_open(&f, ctx, k, p.data, NULL, 0));
        mcr_form form;
        mcr_learning in = {.ctx = ctx, .kernel = k, .data = p.data};
        mcr_form_options o = {.form = MCR_FORM_PRIMAL, .rank = 1};
        mcr_form_work work = {MCR_WORK_PCA, 1, N, 1};
        test_ok(ctx, mcr_form_open(&form, &in, &o, &work));
        test_ok(ctx, mcr_directions_open(&primal, "test", &in, &form, false));
        test_ok(ctx, mcr_directions_open(&dual, "test", &in, NULL, t >= 2));
        double a[N * N], diagonal[N], v[64 * COLS], av[64 * COLS], want[64 * COLS], back[64 * COLS];
        test_ok(ctx, mcr_gram_matrix(dual.gram, a, N)); /* in one go, the first time */
        test_ok(ctx, mcr_directions_centre(&primal));
        test_ok(ctx, mcr_directions_centre(&dual));
        double total = dual.c->total, size = 1e-12 * (1 + total);
        test_close_real("total", primal.c->total, total, 1e-12 * total);
        test_close_arrays("means", primal.c->mean, dual.c->mean, N, 1e-12 * (1 + dual.c->middle));
        expect_centred(a, N, dual.c->root, size);
        for (int64_t i = 0; i < 64 * COLS; i++)
            v[i] = sin((double)i);
        multiply_plainly(a, N, v, COLS, want);
        mcr_gram *gram[] = {dual.gram, primal.gram};
        for (int g = 0; g < 2; g++) {
            mcr_gram *shared = NULL;
            test_ok(ctx, mcr_gram_multiply(gram[g], v, COLS, av));
            test_close_arrays("A v", av, want, N * COLS, size);
            test_ok(ctx, mcr_gram_share(&shared, gram[g]));
            test_ok(ctx, mcr_gram_multiply(shared, v, COLS, back));
            test_close_arrays("A v, shared", back, want, N * COLS, size);
            mcr_gram_close(shared);
            test_ok(ctx, mcr_gram_diagonal(gram[g], 0, diagonal));
            for (int64_t i = 0; i < N; i++)
                test_close_real("diagonal", diagonal[i], a[i * N + i], size);
            float few[3 * N];
            test_ok(ctx, mcr_gram_block_float(gram[g], (mcr_rows){NULL, 5, 3},
                                              (mcr_rows){NULL, 0, N}, few, N));
            for (int64_t i = 0; i < 3 * N; i++)
                test_close_real("block", (double)few[i], a[5 * N + i], 1e-6 * (1 + total));
        }
        expect_covariance(ctx, primal.gram, v, total);
        mcr_directions_close(&dual);
        mcr_directions_close(&primal);
        mcr_form_close(&form);
        mcr_features_close(f);
        mcr_kernel_free(k);
        problem_free(&p);
    }
}

/* ---- the choice -------------------------------------------------------------------------------*/

static void test_planner(void **state)
{
    static const char *const learner[] = {"pca", "fisher", "kmeans"};
    mcr *ctx = *state;
    problem p = problem_classes(ctx, test_brief() ? 3000 : 8000, 5, 2, 0.1, false, false, 1);
    problem few = problem_classes(ctx, 100, 5, 2, 0.1, false, false, 1);
    mcr_data *strings = sample_data(ctx, "motifs", test_brief() ? 100 : 300);
    for (int t = 0; t < 3; t++) {
        mcr_model *m = fit_model(ctx, learner[t], "linear", p.data, NULL);
        assert_string_equal(mcr_model_report(m)->form, "primal");
        assert_non_null(strstr(mcr_model_report(m)->why, "5 features"));
        mcr_model_free(m);
        m = fit_model(ctx, learner[t], "linear", few.data, NULL);
        assert_string_equal(mcr_model_report(m)->form, "dual");
        assert_non_null(mcr_model_report(m)->why);
        mcr_model_free(m);
        m = fit_model(ctx, learner[t], "spectrum(p=8)", strings, NULL);
        assert_string_equal(mcr_model_report(m)->form, "dual");
        mcr_model_free(m);
        m = fit_model(ctx, learner[t], "rbf(gamma=1)", few.data, NULL);
        assert_string_equal(mcr_model_report(m)->form, "dual");
        assert_null(mcr_model_report(m)->why);
        mcr_model_free(m);
        test_fails(ctx, try_fit(&m, ctx, learner[t], "rbf(gamma=1)", few.data, "form=primal"),
                   MCR_BAD_CALL, "no finite feature map");
        test_fails(ctx,
                   try_fit(&m, ctx, learner[t], "linear", few.data, "form=dual approx=nystrom"),
                   MCR_BAD_CALL, "approximat");
    }
    mcr_data_free(strings);
    problem_free(&p);
    problem_free(&few);
}

/* There are no more components than objects, whatever was asked for: no memory is wanted for
 * more. */
static void test_too_many_components(void **state)
{
    (void)state;
    mcr_config config = {.size = sizeof config, .threads = 1, .memory_bytes = 8 << 20};
    mcr *ctx = NULL;
    assert_int_equal(mcr_open(&ctx, &config), MCR_OK);
    problem p = problem_classes(ctx, 40, 30, 2, 0.1, false, true, 1);
    static const char *const options[] = {"form=primal components=100000",
                                          "components=9223372036854775807",
                                          "form=primal components=9223372036854775807"};
    for (int t = 0; t < 3; t++) {
        mcr_model *m = fit_model(ctx, "pca", "linear", p.data, options[t]);
        assert_in_range(mcr_model_outputs(m), 20, 30);
        mcr_model_free(m);
    }
    problem_free(&p);
    mcr_close(ctx);
}

/* ---- approximate maps -------------------------------------------------------------------------*/

static void test_near_models(void **state)
{
    static const char *const learner[] = {"pca", "fisher", "kmeans"};
    static const char *const option[] = {"components=2", "", "clusters=3"};
    mcr *ctx = *state;
    static const mcr_approx approx[] = {MCR_APPROX_NYSTROM, MCR_APPROX_FALKON, MCR_APPROX_RFF,
                                        MCR_APPROX_RFF};
    mcr_data *data = sample_data(ctx, "blobs", 400);
    for (int t = 0; t < 12; t++) /* the last three: more features than objects */
        check_approx_model(ctx, learner[t % 3], option[t % 3], data, approx[t / 3],
                           t < 9 ? 40 : 600, 2e-5);
    mcr_data_free(data);
}

/* Pre-images: with all objects as landmarks those of the exact model; none of random features. */
static void test_preimages(void **state)
{
    enum { N = 80 };
    mcr *ctx = *state;
    mcr_data *data = sample_data(ctx, "rings", N);
    double point[2][2 * N];
    mcr_model *m;
    for (int t = 0; t < 2; t++) {
        m = fit_model(ctx, "pca", "rbf(gamma=0.3)", data,
                      t ? "components=4 approx=nystrom rank=1000" : "components=4 form=dual");
        test_ok(ctx, mcr_preimage(ctx, m, data, point[t]));
        mcr_model_free(m);
    }
    test_close_arrays("pre-images", point[1], point[0], 2 * N, 1e-3);
    m = fit_model(ctx, "pca", "rbf(gamma=0.3)", data, "components=4 approx=rff rank=100");
    int64_t features;
    test_fails(ctx, mcr_preimage_features(ctx, m, &features), MCR_BAD_CALL,
               "the approximation nystrom");
    mcr_model_free(m);
    mcr_data_free(data);
}

/* ---- threads, memory --------------------------------------------------------------------------*/

static const char *const runs[][3] = {
    {"pca", "linear", "form=primal"},
    {"pca", "rbf(gamma=1)", "approx=nystrom rank=30"},
    {"pca", "rbf(gamma=1)", "approx=rff rank=30"},
    {"fisher", "poly(degree=2, c=1)", "form=primal"},
    {"fisher", "rbf(gamma=1)", "approx=nystrom rank=30 landmarks=leverage"},
    {"fisher", "rbf(gamma=1)", "approx=rff rank=60"},
    {"kmeans", "poly(degree=2, c=1)", "form=primal clusters=3"},
    {"kmeans", "rbf(gamma=1)", "approx=nystrom rank=30 clusters=3 restarts=2"},
    {"perceptron", "poly(degree=2, c=1)", "form=primal"},
    {"perceptron", "rbf(gamma=1)", "approx=nystrom rank=30 variant=averaged"},
    {"perceptron", "rbf(gamma=1)", "approx=falkon rank=30"},
    {"kmeans", "rbf(gamma=1)", "approx=falkon rank=30 clusters=3 restarts=2"},
    {"perceptron", "rbf(gamma=1)", "approx=rff rank=30 order=shuffle"},
};
enum { RUNS = sizeof runs / sizeof *runs };

static void test_threads(void **state)
{
    (void)state;
    for (int t = 0; t < RUNS; t++) {
        double *score[2];
        int64_t outputs = 0;
        for (int threads = 0; threads < 2; threads++) {
            mcr *ctx = test_open(threads ? 3 : 1);
            problem p = problem_classes(ctx, 3000, 5, 3, 0.1, false, true, 2);
            mcr_model *m; /* a perceptron may end with mistakes */
            test_ok(ctx, try_fit(&m, ctx, runs[t][0], runs[t][1], p.data, runs[t][2]));
            score[threads] = scores_of(ctx, m, p.data, NULL);
            outputs = mcr_model_outputs(m);
            mcr_model_free(m);
            problem_free(&p);
            test_close(ctx);
        }
        assert_memory_equal(score[0], score[1], (size_t)(3000 * outputs) * sizeof(double));
        free(score[0]);
        free(score[1]);
    }
}

static mcr_status fit_and_free(mcr *ctx, void *arg)
{
    const char *const *call = arg;
    mcr_model *m = NULL;
    mcr_options *o = NULL;
    mcr_kernel *k = NULL;
    mcr_data *data = NULL;
    char copy[256], *rest = NULL;
    snprintf(copy, sizeof copy, "%s", call[2]);
    mcr_status s = mcr_data_sample(&data, ctx, "blobs", 30, -1);
    if (!s)
        s = mcr_options_open(&o, ctx, call[0]);
    for (char *word = strtok_r(copy, " ", &rest); word && !s; word = strtok_r(NULL, " ", &rest)) {
        char *equals = strchr(word, '=');
        *equals = '\0';
        s = mcr_options_set(o, word, equals + 1);
    }
    if (!s)
        s = mcr_kernel_parse(&k, ctx, call[1]);
    if (!s)
        s = mcr_fit(&m, o, k, data, NULL);
    mcr_model_free(m);
    mcr_kernel_free(k);
    mcr_options_close(o);
    mcr_data_free(data);
    return s;
}

static void test_short_memory(void **state)
{
    (void)state;
    for (int t = 0; t < RUNS; t++)
        test_sweep_allocations(runs[t][0], fit_and_free, (void *)runs[t]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_vectors, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_objects, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_many_features, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_start, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_products, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_planner, test_setup, test_teardown),
        cmocka_unit_test(test_too_many_components),
        cmocka_unit_test_setup_teardown(test_near_models, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_preimages, test_setup, test_teardown),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_short_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
