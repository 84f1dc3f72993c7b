/* Learners that give coordinates: identities that hold for them, and small cases by hand.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mercer/mercer.h>

#include "base/context.h"
#include "base/random.h"
#include "helpers.h"
#include "learner_helpers.h"
#include "linalg/blas.h"

static double *buffer(int64_t count)
{
    double *block = calloc((size_t)count + 1, sizeof *block);
    assert_non_null(block);
    return block;
}

static double *random_vectors(int64_t n, int64_t d, uint64_t seed)
{
    mcr_random random = mcr_random_stream(seed, "test", 0);
    double *x = buffer(n * d);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < d; j++)
            x[i * d + j] = (double)(j + 1) * mcr_random_normal(&random) + (double)j;
    return x;
}

static double *coordinates(mcr *ctx, const mcr_model *model, const mcr_data *data)
{
    double *f = buffer(mcr_data_count(data) * mcr_model_outputs(model));
    test_ok(ctx, mcr_transform(ctx, model, data, f));
    return f;
}

/* a'Kb of two coordinates' coefficients. */
static double inner(mcr *ctx, const mcr_model *model, const char *expression, const mcr_data *data,
                    int64_t o, int64_t q)
{
    int64_t n = mcr_model_support(model);
    double *a = buffer(n), *b = buffer(n), *k = buffer(n * n), offset, sum = 0;
    int64_t *number = calloc((size_t)n, sizeof *number);
    mcr_kernel *kernel = NULL;
    mcr_gram *gram = NULL;
    test_ok(ctx, mcr_model_coefficients(model, o, a, &offset, number));
    test_ok(ctx, mcr_model_coefficients(model, q, b, &offset, number));
    test_ok(ctx, mcr_kernel_parse(&kernel, ctx, expression));
    test_ok(ctx, mcr_gram_open(&gram, ctx, kernel, data, NULL));
    test_ok(ctx, mcr_gram_block(gram, (mcr_rows){number, 0, n}, (mcr_rows){number, 0, n}, k, n));
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            sum += a[i] * k[i * n + j] * b[j];
    mcr_gram_close(gram);
    mcr_kernel_free(kernel);
    free(a);
    free(b);
    free(k);
    free(number);
    return sum;
}

/* ---- pca --------------------------------------------------------------------------------------*/

/* With the linear kernel it is the ordinary one: variances are the eigenvalues of the
 * covariance. */
static void test_pca_linear(void **state)
{
    (void)state;
    enum { N = 400, D = 4 };
    mcr *ctx = test_open(2);
    double *x = random_vectors(N, D, 1), mean[D] = {0}, cov[D * D] = {0}, value[D], want[D];
    mcr_data *data = dense_data(ctx, N, D, x, NULL, NULL);
    mcr_model *model = NULL;
    for (int64_t i = 0; i < N * D; i++)
        mean[i % D] += x[i] / N;
    for (int64_t i = 0; i < N; i++)
        for (int a = 0; a < D; a++)
            for (int b = 0; b < D; b++)
                cov[a * D + b] += (x[i * D + a] - mean[a]) * (x[i * D + b] - mean[b]) / N;
    test_ok(ctx, mcr_blas_eigen(ctx, D, cov, D, true, value));
    for (int c = 0; c < D; c++)
        want[c] = value[D - 1 - c];
    test_ok(ctx, try_fit(&model, ctx, "pca", "linear", data, "components=6"));
    const mcr_report_fit *r = mcr_model_report(model);
    assert_int_equal(mcr_model_outputs(model), D);
    assert_non_null(strstr(r->remark, "only 4 components"));
    test_close_relative("variances", r->variance, want, D, 1e-12);
    test_close_real("total", r->total_variance, want[0] + want[1] + want[2] + want[3], 1e-10);
    double *f = coordinates(ctx, model, data);
    for (int c = 0; c < D; c++) {
        double sum = 0, square = 0, sign = 0;
        for (int64_t i = 0; i < N; i++) {
            double plain = 0;
            for (int a = 0; a < D; a++)
                plain += cov[(D - 1 - c) * D + a] * (x[i * D + a] - mean[a]);
            sign = sign != 0 ? sign : plain * f[i * D + c] > 0 ? 1 : -1;
            test_close_real("coordinate", f[i * D + c], sign * plain, 1e-9);
            sum += f[i * D + c];
            square += f[i * D + c] * f[i * D + c] / N;
        }
        test_close_real("centred", sum, 0, 1e-9);
        test_close_real("variance", square, want[c], 1e-9);
    }
    free(f);
    free(x);
    mcr_model_free(model);
    mcr_data_free(data);
    test_close(ctx);
}

/* Components are orthonormal in feature space; both solvers find the same. */
static void test_pca_unit_length(void **state)
{
    (void)state;
    enum { N = 500, K = 5 };
    mcr *ctx = test_open(2);
    mcr_data *data = NULL;
    mcr_model *few = NULL, *many = NULL;
    test_ok(ctx, mcr_data_sample(&data, ctx, "rings", N, -1));
    test_ok(ctx, try_fit(&few, ctx, "pca", "rbf(gamma=1)", data, "components=5"));
    test_ok(ctx, try_fit(&many, ctx, "pca", "rbf(gamma=1)", data, "components=100"));
    assert_true(mcr_model_report(few)->iterations > 1);
    assert_int_equal(mcr_model_report(many)->iterations, 1);
    test_close_relative("both solvers", mcr_model_report(few)->variance,
                        mcr_model_report(many)->variance, K, 1e-10);
    for (int a = 0; a < K; a++)
        for (int b = 0; b <= a; b++)
            test_close_real("orthonormal", inner(ctx, few, "rbf(gamma=1)", data, a, b), a == b,
                            1e-9);
    double *f = coordinates(ctx, few, data), *g = coordinates(ctx, many, data);
    for (int64_t i = 0; i < N; i++)
        for (int c = 0; c < K; c++)
            test_close_real("same", f[i * K + c], g[i * mcr_model_outputs(many) + c], 1e-7);
    free(f);
    free(g);
    mcr_model_free(few);
    mcr_model_free(many);
    mcr_data_free(data);
    test_close(ctx);
}

/* A weight of 2 is the object twice, one of 0 is no object. */
static void test_pca_weights(void **state)
{
    (void)state;
    enum { N = 60, D = 3, TWICE = 20, NONE = 5 };
    mcr *ctx = test_open(1);
    double *x = random_vectors(N + TWICE, D, 3), weight[N];
    for (int i = 0; i < N; i++)
        weight[i] = i < TWICE ? 2 : i < N - NONE ? 1 : 0;
    memcpy(x + (N - NONE) * D, x, sizeof *x * TWICE * D);
    mcr_data *twice = dense_data(ctx, N - NONE + TWICE, D, x, NULL, NULL);
    double *y = random_vectors(N, D, 3);
    mcr_data *weighted = dense_data(ctx, N, D, y, NULL, weight);
    mcr_model *a = NULL, *b = NULL;
    test_ok(ctx, try_fit(&a, ctx, "pca", "poly(degree=2, c=1)", twice, "components=4"));
    test_ok(ctx, try_fit(&b, ctx, "pca", "poly(degree=2, c=1)", weighted, "components=4"));
    test_close_relative("variances", mcr_model_report(a)->variance, mcr_model_report(b)->variance,
                        4, 1e-11);
    double *f = coordinates(ctx, a, weighted), *g = coordinates(ctx, b, weighted);
    for (int c = 0; c < 4; c++)
        for (int i = 0; i < N; i++)
            test_close_real("coordinates", fabs(f[i * 4 + c]), fabs(g[i * 4 + c]), 1e-7);
    free(f);
    free(g);
    free(x);
    free(y);
    mcr_model_free(a);
    mcr_model_free(b);
    mcr_data_free(twice);
    mcr_data_free(weighted);
    test_close(ctx);
}

/* Points near a circle, with noise: pre-images lie nearer to it. */
static void test_preimages(void **state)
{
    (void)state;
    enum { N = 300, NEW = 40 };
    mcr *ctx = test_open(2);
    mcr_random random = mcr_random_stream(4, "test", 0);
    double x[2 * (N + NEW)], z[2 * NEW];
    for (int i = 0; i < N + NEW; i++) {
        double angle = 6.283185307179586 * mcr_random_uniform(&random);
        x[2 * i] = cos(angle) + 0.1 * mcr_random_normal(&random);
        x[2 * i + 1] = sin(angle) + 0.1 * mcr_random_normal(&random);
    }
    mcr_data *data = dense_data(ctx, N, 2, x, NULL, NULL),
             *new = dense_data(ctx, NEW, 2, x + 2 * N, NULL, NULL);
    const char *const kernels[] = {"rbf(gamma=0.5)", "matern(nu=2.5)"};
    for (int k = 0; k < 2; k++) {
        mcr_model *model = NULL;
        int64_t features = 0;
        double before = 0, after = 0;
        test_ok(ctx, try_fit(&model, ctx, "pca", kernels[k], data, "components=4"));
        test_ok(ctx, mcr_preimage_features(ctx, model, &features));
        assert_int_equal(features, 2);
        test_ok(ctx, mcr_preimage(ctx, model, new, z));
        for (int i = 0; i < NEW; i++) {
            before += fabs(hypot(x[2 * (N + i)], x[2 * (N + i) + 1]) - 1) / NEW;
            after += fabs(hypot(z[2 * i], z[2 * i + 1]) - 1) / NEW;
        }
        if (!(after < 0.7 * before))
            fail_msg("%s: distances to the circle %g before, %g after", kernels[k], before, after);
        mcr_model_free(model);
    }
    mcr_data_free(data);
    mcr_data_free(new);
    test_close(ctx);
}

/* With all components nothing is lost: a training object is its own pre-image. */
static void test_preimage_of_all(void **state)
{
    (void)state;
    enum { N = 40, D = 3 };
    mcr *ctx = test_open(1);
    double *x = random_vectors(N, D, 5), z[N * D];
    mcr_data *data = dense_data(ctx, N, D, x, NULL, NULL);
    const char *const kernels[] = {"rbf(gamma=0.1)", "linear"};
    for (int k = 0; k < 2; k++) {
        mcr_model *model = NULL;
        test_ok(ctx, try_fit(&model, ctx, "pca", kernels[k], data, "components=39"));
        test_ok(ctx, mcr_preimage(ctx, model, data, z));
        test_close_arrays(kernels[k], z, x, N * D, 1e-5);
        mcr_model_free(model);
    }
    free(x);
    mcr_data_free(data);
    test_close(ctx);
}

static void test_pca_refusals(void **state)
{
    (void)state;
    mcr *ctx = test_open(1);
    double x[8] = {1, 2, 1, 2, 1, 2, 1, 2}, f[4];
    mcr_data *data = dense_data(ctx, 4, 2, x, NULL, NULL), *strings = NULL;
    mcr_model *model = NULL;
    int64_t features;
    test_fails(ctx, try_fit(&model, ctx, "pca", "rbf(gamma=1)", data, NULL), MCR_BAD_DATA,
               "no variance");
    assert_null(model);
    mcr_data_free(data);
    test_ok(ctx, mcr_data_sample(&strings, ctx, "motifs", 30, -1));
    test_ok(ctx, try_fit(&model, ctx, "pca", "spectrum(p=3)", strings, NULL));
    test_fails(ctx, mcr_preimage_features(ctx, model, &features), MCR_BAD_CALL, "vectors");
    test_fails(ctx, mcr_predict(ctx, model, strings, f, NULL, NULL), MCR_BAD_CALL, "coordinates");
    mcr_model_free(model);
    ctx->config.memory_bytes = 1000;
    test_fails(ctx, try_fit(&model, ctx, "pca", "spectrum(p=3)", strings, NULL), MCR_OVER_BUDGET,
               "memory");
    mcr_data_free(strings);
    test_close(ctx);
}

/* ---- fisher -----------------------------------------------------------------------------------*/

/* Two classes, linear kernel: v is along (S_W + r I)^-1 (m_1 - m_0), and 0 is in the middle. */
static void test_fisher_linear(void **state)
{
    (void)state;
    enum { N = 200, D = 3 };
    mcr *ctx = test_open(2);
    double *x = random_vectors(N, D, 6), y[N], mean[2][D] = {{0}}, all[D] = {0},
           within[D * D] = {0};
    double count[2] = {0}, total = 0, v[D];
    for (int i = 0; i < N; i++) {
        y[i] = i % 3 == 0 ? 1 : -1;
        x[i * D + 1] += y[i];
        count[y[i] > 0]++;
        for (int a = 0; a < D; a++) {
            mean[y[i] > 0][a] += x[i * D + a];
            all[a] += x[i * D + a] / N;
        }
    }
    for (int i = 0; i < N; i++)
        for (int a = 0; a < D; a++) {
            total += (x[i * D + a] - all[a]) * (x[i * D + a] - all[a]) / N;
            for (int b = 0; b < D; b++) {
                int c = y[i] > 0;
                within[a * D + b] += (x[i * D + a] - mean[c][a] / count[c]) *
                                     (x[i * D + b] - mean[c][b] / count[c]) / N;
            }
        }
    for (int a = 0; a < D; a++) {
        within[a * D + a] += 0.01 * total;
        v[a] = mean[1][a] / count[1] - mean[0][a] / count[0];
    }
    test_cholesky(within, D);
    test_cholesky_solve(within, D, v);
    mcr_data *data = dense_data(ctx, N, D, x, y, NULL);
    mcr_model *model = NULL;
    test_ok(ctx, try_fit(&model, ctx, "fisher", "linear", data, "lambda=0.01"));
    double *f = coordinates(ctx, model, data), scale = 0;
    for (int i = 0; i < N; i++) {
        double plain = 0;
        for (int a = 0; a < D; a++)
            plain += v[a] * (x[i * D + a] - 0.5 * (mean[0][a] / count[0] + mean[1][a] / count[1]));
        scale = i ? scale : f[0] / plain;
        assert_true(scale > 0);
        test_close_real("discriminant", f[i], scale * plain, 1e-9);
    }
    free(f);
    free(x);
    mcr_model_free(model);
    mcr_data_free(data);
    test_close(ctx);
}

/* In the coordinates the covariance within classes, with its regularisation, is the identity; and
 * the nearest class mean is what is predicted. */
static void test_fisher_classes(void **state)
{
    (void)state;
    enum { N = 240, C = 3, O = C - 1 };
    static const char kernel[] = "rbf(gamma=0.5)";
    mcr *ctx = test_open(2);
    mcr_data *data = NULL;
    mcr_model *model = NULL;
    mcr_geometry *geometry = NULL;
    mcr_kernel *k = NULL;
    mcr_gram *gram = NULL;
    double mean[C][O] = {{0}}, count[C] = {0}, within[O][O] = {{0}}, value[N];
    test_ok(ctx, mcr_data_sample(&data, ctx, "blobs", N, -1));
    assert_int_equal(mcr_data_classes(data), C);
    test_ok(ctx, mcr_kernel_parse(&k, ctx, kernel));
    test_ok(ctx, mcr_gram_open(&gram, ctx, k, data, NULL));
    test_ok(ctx, mcr_gram_geometry(&geometry, gram));
    test_ok(ctx, try_fit(&model, ctx, "fisher", kernel, data, "lambda=0.02"));
    const int32_t *class_of = mcr_data_class_of(data);
    double *f = coordinates(ctx, model, data);
    for (int i = 0; i < N; i++) {
        count[class_of[i]]++;
        for (int o = 0; o < O; o++)
            mean[class_of[i]][o] += f[i * O + o];
    }
    test_ok(ctx, mcr_predict(ctx, model, data, value, NULL, NULL));
    for (int i = 0; i < N; i++) {
        double best = INFINITY;
        int nearest = 0;
        for (int c = 0; c < C; c++) {
            double d = hypot(f[i * O] - mean[c][0] / count[c],
                             f[i * O + 1] - mean[c][1] / count[c]);
            if (d < best) {
                best = d;
                nearest = c;
            }
        }
        assert_int_equal((int)value[i], nearest);
        for (int a = 0; a < O; a++)
            for (int b = 0; b < O; b++)
                within[a][b] += (f[i * O + a] - mean[class_of[i]][a] / count[class_of[i]]) *
                                (f[i * O + b] - mean[class_of[i]][b] / count[class_of[i]]) / N;
    }
    for (int a = 0; a < O; a++)
        for (int b = 0; b < O; b++)
            test_close_real("within",
                            within[a][b] +
                                0.02 * geometry->variance * inner(ctx, model, kernel, data, a, b),
                            a == b, 1e-9);
    free(f);
    mcr_geometry_free(ctx, geometry);
    mcr_gram_close(gram);
    mcr_kernel_free(k);
    mcr_model_free(model);
    mcr_data_free(data);
    test_close(ctx);
}

/* ---- cca --------------------------------------------------------------------------------------*/

static mcr_data *two_fields(mcr *ctx, int64_t n, uint64_t seed)
{
    mcr_random random = mcr_random_stream(seed, "test", 0);
    mcr_builder *b = NULL;
    mcr_data *data = NULL;
    double *first = buffer(2 * n), *second = buffer(2 * n);
    for (int64_t i = 0; i < n; i++) {
        double shared = mcr_random_normal(&random);
        first[2 * i] = shared + 0.5 * mcr_random_normal(&random);
        first[2 * i + 1] = mcr_random_normal(&random);
        second[2 * i] = mcr_random_normal(&random) + first[2 * i + 1];
        second[2 * i + 1] = 2 * shared + 0.5 * mcr_random_normal(&random);
    }
    test_ok(ctx, mcr_builder_open(&b, ctx, n));
    test_ok(ctx, mcr_builder_dense(b, "a", first, 2, 2));
    test_ok(ctx, mcr_builder_dense(b, "b", second, 2, 2));
    test_ok(ctx, mcr_builder_finish(&data, b));
    free(first);
    free(second);
    return data;
}

static double covariance(const double *f, int64_t ld, int64_t a, int64_t b, int64_t n)
{
    double mean[2] = {0, 0}, sum = 0;
    for (int64_t i = 0; i < n; i++) {
        mean[0] += f[i * ld + a] / (double)n;
        mean[1] += f[i * ld + b] / (double)n;
    }
    for (int64_t i = 0; i < n; i++)
        sum += (f[i * ld + a] - mean[0]) * (f[i * ld + b] - mean[1]) / (double)n;
    return sum;
}

/* With next to no regularisation: variance 1, pairs not correlated with each other, and
 * correlations as they are reported, by either solver. */
static void test_cca(void **state)
{
    (void)state;
    for (int64_t n = 100; n <= 500; n += 400) {
        mcr *ctx = test_open(2);
        mcr_data *data = two_fields(ctx, n, 8);
        mcr_model *model = NULL;
        test_ok(ctx, try_fit(&model, ctx, "cca", "linear(a)", data,
                             "kernel2=linear(b) components=2 lambda=1e-8"));
        const mcr_report_fit *r = mcr_model_report(model);
        assert_true(r->stop == MCR_STOP_OPTIMAL && (r->iterations == 1) == (n == 100));
        assert_int_equal(r->correlations, 2);
        assert_string_equal(r->second_kernel, "linear(b)");
        assert_int_equal(mcr_model_outputs(model), 4);
        double *f = coordinates(ctx, model, data);
        for (int a = 0; a < 4; a++)
            for (int b = 0; b <= a; b++)
                test_close_real("covariance", covariance(f, 4, a, b, n),
                                a == b       ? 1
                                : a == b + 2 ? r->correlation[b]
                                             : 0,
                                1e-6);
        assert_true(r->correlation[0] > r->correlation[1] && r->correlation[0] < 1);
        free(f);
        mcr_model_free(model);
        mcr_data_free(data);
        test_close(ctx);
    }
}

/* Both kernels, and the fields that they read, are saved. */
static void test_cca_saved(void **state)
{
    (void)state;
    char folder[256], path[300];
    mcr *ctx = test_open(1);
    mcr_data *data = two_fields(ctx, 60, 9), *other = two_fields(ctx, 20, 10);
    mcr_model *model = NULL, *loaded = NULL;
    test_ok(ctx,
            try_fit(&model, ctx, "cca", "rbf(a, gamma=0.5)", data, "kernel2=poly(b,degree=2)"));
    test_make_directory(folder);
    snprintf(path, sizeof path, "%s/m.mercer", folder);
    test_ok(ctx, mcr_model_save(ctx, model, path));
    test_ok(ctx, mcr_model_load(&loaded, ctx, path));
    assert_string_equal(mcr_model_report(loaded)->second_kernel,
                        mcr_model_report(model)->second_kernel);
    assert_string_equal(mcr_model_output_name(loaded, 3), "second 2");
    double *f = coordinates(ctx, model, other), *g = coordinates(ctx, loaded, other);
    assert_memory_equal(f, g, sizeof *f * 20 * 4);
    free(f);
    free(g);
    test_remove_directory(folder);
    mcr_model_free(model);
    mcr_model_free(loaded);
    mcr_data_free(data);
    mcr_data_free(other);
    test_close(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pca_linear),
        cmocka_unit_test(test_pca_unit_length),
        cmocka_unit_test(test_pca_weights),
        cmocka_unit_test(test_preimages),
        cmocka_unit_test(test_preimage_of_all),
        cmocka_unit_test(test_pca_refusals),
        cmocka_unit_test(test_fisher_linear),
        cmocka_unit_test(test_fisher_classes),
        cmocka_unit_test(test_cca),
        cmocka_unit_test(test_cca_saved),
    };
    return cmocka_run_group_tests_name("projections", tests, NULL, NULL);
}
