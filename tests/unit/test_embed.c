/* What bindings ask of models: bytes in memory, support vectors as data, their numbers and
 * coefficients.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "helpers.h"

#include <math.h>
#include <string.h>

#include <mercer/mercer.h>

static mcr_model *train(mcr *ctx, const char *learner, const char *kernel_text,
                        const mcr_data *data)
{
    mcr_options *options = NULL;
    mcr_kernel *kernel = NULL;
    mcr_model *model = NULL;
    test_ok(ctx, mcr_options_open(&options, ctx, learner));
    test_ok(ctx, mcr_kernel_parse(&kernel, ctx, kernel_text));
    test_ok(ctx, mcr_fit(&model, options, kernel, data, NULL));
    mcr_kernel_free(kernel);
    mcr_options_close(options);
    return model;
}

static void keeps_models_in_memory(void **state)
{
    mcr *ctx = *state;
    enum { N = 60 };
    static const char *const samples[] = {"moons", "motifs", "molecules", "sinc"};
    static const char *const kernels[] = {"rbf(gamma=2)", "spectrum(p=3)", "wl", "rbf(gamma=1)"};
    static const char *const learners[] = {"svm", "svm", "svm", "gp"};
    for (int t = 0; t < 4; t++) {
        mcr_data *data = NULL;
        mcr_model *copy = NULL;
        void *bytes = NULL, *again = NULL;
        size_t count = 0, recount = 0;
        double f[N], g[N];
        test_ok(ctx, mcr_data_sample(&data, ctx, samples[t], N, -1));
        mcr_model *model = train(ctx, learners[t], kernels[t], data);
        test_ok(ctx, mcr_model_save_memory(&bytes, &count, ctx, model));
        assert_true(mcr_model_recognise(bytes, count));
        test_ok(ctx, mcr_model_load_memory(&copy, ctx, "m", bytes, count));
        test_ok(ctx, mcr_predict(ctx, model, data, NULL, f, NULL));
        test_ok(ctx, mcr_predict(ctx, copy, data, NULL, g, NULL));
        assert_memory_equal(f, g, sizeof f);
        test_ok(ctx, mcr_model_save_memory(&again, &recount, ctx, copy));
        assert_int_equal(recount, count);
        assert_memory_equal(again, bytes, count);
        mcr_model_free(copy);
        /* The checks of files: cut short anywhere, and one bit altered. */
        for (size_t cut = 0; cut < count; cut += count / 37 + 1) {
            assert_int_not_equal(mcr_model_load_memory(&copy, ctx, "m", bytes, cut), MCR_OK);
            assert_null(copy);
        }
        ((char *)bytes)[count / 2] ^= 4;
        test_fails(ctx, mcr_model_load_memory(&copy, ctx, "m", bytes, count), MCR_BAD_DATA, "m: ");
        mcr_bytes_free(ctx, bytes);
        mcr_bytes_free(ctx, again);
        mcr_model_free(model);
        mcr_data_free(data);
    }
    mcr_bytes_free(ctx, NULL);
}

/* f(x) from support vectors, coefficients and offsets alone, and the vectors are training
 * objects. */
static void gives_support_vectors(void **state)
{
    mcr *ctx = *state;
    enum { N = 90, SHOWN = 5 };
    mcr_data *data = NULL;
    test_ok(ctx, mcr_data_sample(&data, ctx, "blobs", N, -1));
    mcr_model *model = train(ctx, "svm", "rbf(gamma=0.5)", data);
    const mcr_data *vectors = mcr_model_objects(model);
    int64_t m = mcr_model_support(model), outputs = mcr_model_outputs(model);
    assert_int_equal(mcr_data_count(vectors), m);
    assert_true(mcr_model_classes(model) > 2 && outputs > 2);
    double score[N * 16], coef[N], offset, x[2], z[2];
    int64_t number[N];
    assert_true(outputs <= 16 && m <= N);
    test_ok(ctx, mcr_predict(ctx, model, data, NULL, score, NULL));
    for (int64_t o = 0; o < outputs; o++) {
        test_ok(ctx, mcr_model_coefficients(model, o, coef, &offset, number));
        for (int64_t i = 0; i < SHOWN; i++) {
            double sum = offset;
            test_ok(ctx, mcr_data_vector(data, 0, i, x));
            for (int64_t s = 0; s < m; s++) {
                test_ok(ctx, mcr_data_vector(vectors, 0, s, z));
                double d0 = x[0] - z[0], d1 = x[1] - z[1];
                sum += coef[s] * exp(-0.5 * (d0 * d0 + d1 * d1));
            }
            test_close_real("decision value", sum, score[i * outputs + o], 1e-9);
        }
    }
    for (int64_t s = 0; s < m; s++) {
        test_ok(ctx, mcr_data_vector(data, 0, number[s], x));
        test_ok(ctx, mcr_data_vector(vectors, 0, s, z));
        assert_memory_equal(x, z, sizeof x);
    }
    mcr_data *kept = mcr_data_retain(vectors);
    mcr_model_free(model);
    test_ok(ctx, mcr_data_vector(kept, 0, 0, x)); /* they outlive the model */
    mcr_data_free(kept);
    mcr_data_free(data);
}

static void gives_entries(void **state)
{
    mcr *ctx = *state;
    mcr_builder *b = NULL;
    mcr_data *data = NULL;
    test_ok(ctx, mcr_builder_open(&b, ctx, 2));
    test_ok(ctx, mcr_builder_sparse(b, "s", 9, (int64_t[]){0, 2, 2}, (int32_t[]){1, 7},
                                    (double[]){5, -3}));
    test_ok(ctx, mcr_builder_dense(b, "d", (double[]){1, 2, 3, 4}, 2, 2));
    test_ok(ctx, mcr_builder_strings(b, "t", (int64_t[]){0, 1, 2}, "ab"));
    test_ok(ctx, mcr_builder_finish(&data, b));
    int64_t column[9], count;
    double value[9];
    test_ok(ctx, mcr_data_entries(data, 0, 0, NULL, NULL, &count));
    assert_int_equal(count, 2);
    test_ok(ctx, mcr_data_entries(data, 0, 0, column, value, &count));
    assert_true(column[0] == 1 && column[1] == 7 && value[0] == 5 && value[1] == -3);
    test_ok(ctx, mcr_data_entries(data, 0, 1, column, value, &count));
    assert_int_equal(count, 0);
    test_ok(ctx, mcr_data_entries(data, 1, 1, column, value, &count));
    assert_true(count == 2 && column[1] == 1 && value[0] == 3 && value[1] == 4);
    test_fails(ctx, mcr_data_entries(data, 2, 0, column, value, &count), MCR_BAD_CALL,
               "field \"t\" does not contain vectors");
    test_fails(ctx, mcr_data_entries(data, 0, 2, column, value, &count), MCR_BAD_CALL,
               "there is no object 2");
    mcr_data_free(data);
}

static mcr_status save_and_load(mcr *ctx, void *arg)
{
    (void)arg;
    mcr_data *data = NULL;
    mcr_options *options = NULL;
    mcr_kernel *kernel = NULL;
    mcr_model *model = NULL, *copy = NULL;
    void *bytes = NULL;
    size_t count = 0;
    mcr_status s = mcr_data_sample(&data, ctx, "moons", 20, -1);
    if (!s)
        s = mcr_options_open(&options, ctx, "svm");
    if (!s)
        s = mcr_kernel_parse(&kernel, ctx, "linear");
    if (!s)
        s = mcr_fit(&model, options, kernel, data, NULL);
    if (!s)
        s = mcr_model_save_memory(&bytes, &count, ctx, model);
    if (!s)
        s = mcr_model_load_memory(&copy, ctx, "m", bytes, count);
    if (s)
        assert_true(bytes == NULL || copy == NULL);
    mcr_bytes_free(ctx, bytes);
    mcr_model_free(copy);
    mcr_model_free(model);
    mcr_kernel_free(kernel);
    mcr_options_close(options);
    mcr_data_free(data);
    return s;
}

static void survives_failures(void **state)
{
    (void)state;
    assert_true(test_sweep_allocations("model in memory", save_and_load, NULL) > 20);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, test_setup, test_teardown)
    const struct CMUnitTest tests[] = {
        TEST(keeps_models_in_memory),
        TEST(gives_support_vectors),
        TEST(gives_entries),
        cmocka_unit_test(survives_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
