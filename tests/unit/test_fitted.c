/* What a learner hands over: numbers of its own, kept in model files, and the rules that turn
 * decision values into predictions.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include <mercer/mercer.h>

#include "helpers.h"
#include "model/model.h"

static void test_extras(void **context)
{
    mcr *ctx = *context;
    mcr_fitted *f = NULL;
    const double mean[] = {1, -2, 1e300}, noise = 0.5, *found;
    int64_t count;
    test_ok(ctx, mcr_fitted_new(&f, ctx, 1));
    assert_null(mcr_fitted_find(f, "mean", &count));
    test_ok(ctx, mcr_fitted_keep(f, "mean", mean, 3));
    test_ok(ctx, mcr_fitted_keep(f, "noise", &noise, 1));
    test_ok(ctx, mcr_fitted_keep(f, "mean", mean + 1, 2));
    assert_int_equal(f->extras, 2);
    found = mcr_fitted_find(f, "mean", &count);
    assert_int_equal(count, 2);
    assert_memory_equal(found, mean + 1, sizeof *mean * 2);
    test_ok(ctx, mcr_fitted_need(&found, f, "noise", 1));
    assert_true(*found == noise);
    test_fails(ctx, mcr_fitted_need(&found, f, "mean", 3), MCR_BAD_DATA, "\"mean\"");
    assert_null(found);
    test_fails(ctx, mcr_fitted_need(&found, f, "nothing", 0), MCR_BAD_DATA, "\"nothing\"");
    mcr_fitted_free(f);
}

/* With many classes there is a segment for each pair of them: no more than twice as many bytes are
 * copied as there are in the end. */
static void test_many_segments(void **context)
{
    enum { COUNT = 5000, GROWTHS = 40 };
    mcr *ctx = *context;
    mcr_fitted *f = NULL;
    test_ok(ctx, mcr_fitted_new(&f, ctx, COUNT));
    int64_t before = test_allocations_made(ctx);
    for (int64_t i = 0; i < COUNT; i++)
        test_ok(ctx, mcr_fitted_add(f, &i, 1, &(int32_t){(int32_t)i}, 1, &(double){1}));
    assert_true(test_allocations_made(ctx) - before <=
                2 * COUNT + GROWTHS); /* two arrays for each */
    assert_int_equal(f->segments, COUNT);
    for (int64_t i = 0; i < COUNT; i++) {
        assert_int_equal(f->segment[i].first, i);
        assert_int_equal(f->object[i], i);
    }
    mcr_fitted_clear(f);
    test_ok(ctx, mcr_fitted_add(f, &(int64_t){7}, 1, &(int32_t){0}, 1, &(double){1}));
    assert_int_equal(f->object[0], 7);
    mcr_fitted_free(f);
}

static mcr_model *train(mcr *ctx, const char *sample)
{
    mcr_options *options = NULL;
    mcr_kernel *kernel = NULL;
    mcr_data *data = NULL;
    mcr_model *model = NULL;
    test_ok(ctx, mcr_options_open(&options, ctx, "svm"));
    test_ok(ctx, mcr_kernel_parse(&kernel, ctx, "rbf(gamma=1)"));
    test_ok(ctx, mcr_data_sample(&data, ctx, sample, 40, -1));
    test_ok(ctx, mcr_fit(&model, options, kernel, data, NULL));
    mcr_data_free(data);
    mcr_kernel_free(kernel);
    mcr_options_close(options);
    return model;
}

static void test_extras_in_files(void **context)
{
    mcr *ctx = *context;
    char folder[256], path[300];
    mcr_model *model = train(ctx, "moons"), *loaded = NULL;
    const double values[] = {0.25, -0.0, 3e-310}, loo = 0.125;
    int64_t count;
    test_make_directory(folder);
    snprintf(path, sizeof path, "%s/m.mercer", folder);
    test_ok(ctx, mcr_fitted_keep(model->fitted, "values", values, 3));
    test_ok(ctx, mcr_fitted_keep(model->fitted, "none", values, 0));
    test_ok(ctx, mcr_fitted_keep(model->fitted, MCR_EXTRA_LOO, &loo, 1));
    test_ok(ctx, mcr_model_save(ctx, model, path));
    test_ok(ctx, mcr_model_load(&loaded, ctx, path));
    assert_int_equal(loaded->fitted->extras, 5); /* and the basis' targets, the rounding */
    const double *found = mcr_fitted_find(loaded->fitted, "values", &count);
    assert_int_equal(count, 3);
    assert_memory_equal(found, values, sizeof values);
    assert_non_null(mcr_fitted_find(loaded->fitted, "none", &count));
    assert_int_equal(count, 0);
    assert_true(mcr_model_report(loaded)->loo == loo);
    mcr_model_free(loaded);
    test_ok(ctx, mcr_fitted_keep(model->fitted, "values", (const double[]){NAN}, 1));
    /* What would not load is not saved, and the old file stays. */
    test_fails(ctx, mcr_model_save(ctx, model, path), MCR_BAD_DATA, "could not be read back");
    test_ok(ctx, mcr_model_load(&loaded, ctx, path));
    mcr_model_free(loaded);
    mcr_model_free(model);
    test_remove_directory(folder);
}

static void test_softmax(void **context)
{
    mcr *ctx = *context;
    mcr_fitted *f = NULL;
    double p[3];
    test_ok(ctx, mcr_fitted_new(&f, ctx, 3));
    f->task = MCR_CLASSIFY;
    f->rule = MCR_RULE_SOFTMAX;
    f->classes = 3;
    assert_true(mcr_fitted_has_probability(f, NULL));
    assert_true(mcr_fitted_decide(f, (const double[]){1, 3, 2}, p, NULL) == 1);
    const double sum = exp(1) + exp(2) + exp(3),
                 want[] = {exp(1) / sum, exp(3) / sum, exp(2) / sum};
    test_close_arrays("softmax", p, want, 3, 1e-15);
    assert_true(mcr_fitted_decide(f, (const double[]){-1e5, 0, 1e5}, p, NULL) == 2);
    assert_true(p[0] == 0 && p[1] == 0 && p[2] == 1);
    mcr_fitted_free(f);
    test_ok(ctx, mcr_fitted_new(&f, ctx, 1));
    f->task = MCR_CLASSIFY;
    f->rule = MCR_RULE_SOFTMAX;
    f->classes = 2;
    assert_true(mcr_fitted_decide(f, (const double[]){-2}, p, NULL) == 0);
    test_close_real("P(1)", p[1], 1 / (1 + exp(2)), 1e-15);
    test_close_real("P(0)", p[0], 1 / (1 + exp(-2)), 1e-15);
    assert_true(mcr_fitted_decide(f, (const double[]){1e5}, NULL, NULL) == 1);
    mcr_fitted_free(f);
}

/* Every pair has a vote; the first class of those with most wins. */
static void test_votes(void **context)
{
    mcr *ctx = *context;
    static const int64_t sizes[] = {3, 7, 63, 64, 65, 130};
    for (size_t t = 0; t < sizeof sizes / sizeof *sizes; t++) {
        int64_t k = sizes[t], pairs = k * (k - 1) / 2, best = 0;
        double *score = calloc((size_t)pairs, sizeof *score);
        int64_t *votes = calloc((size_t)k, sizeof *votes);
        mcr_fitted *f = NULL;
        assert_true(score && votes);
        test_ok(ctx, mcr_fitted_new(&f, ctx, pairs));
        f->task = MCR_CLASSIFY;
        f->rule = MCR_RULE_PAIRS;
        f->classes = k;
        for (int round = 0; round < 20; round++) {
            memset(votes, 0, sizeof *votes * (size_t)k);
            for (int64_t a = 0, o = 0; a < k; a++)
                for (int64_t b = a + 1; b < k; b++, o++) {
                    score[o] = round == 0 ? 0 : sin((double)(o * (round + 3) + a * b));
                    votes[score[o] > 0 ? a : b]++;
                }
            best = 0;
            for (int64_t c = 1; c < k; c++)
                best = votes[c] > votes[best] ? c : best;
            assert_true(mcr_fitted_decide(f, score, NULL, NULL) == (double)best);
        }
        mcr_fitted_free(f);
        free(score);
        free(votes);
    }
}

/* What a model does not have is refused with words that help. */
static void test_refusals(void **context)
{
    mcr *ctx = *context;
    mcr_model *model = train(ctx, "blobs");
    mcr_data *data = NULL;
    double value[5], std[5], proba[15];
    test_ok(ctx, mcr_data_sample(&data, ctx, "blobs", 5, -1));
    assert_false(mcr_model_has_std(model));
    test_fails(ctx, mcr_predict_std(ctx, model, data, value, std), MCR_BAD_CALL, "gp");
    test_fails(ctx, mcr_predict(ctx, model, data, NULL, NULL, proba), MCR_BAD_CALL,
               "option probability");
    mcr_data_free(data);
    mcr_model_free(model);
}

/* Coefficients that float cannot hold: the answers are those of others in the same proportion. */
static void test_extreme_coefficients(void **context)
{
    enum { COUNT = 300 };
    static const double factor[] = {1e39, 1e-41, 1e-46};
    static const char *const samples[] = {"moons", "blobs"};
    mcr *ctx = *context;
    for (int s = 0; s < 2; s++) {
        mcr_data *data = NULL;
        double wanted[COUNT], value[COUNT];
        test_ok(ctx, mcr_data_sample(&data, ctx, samples[s], COUNT, -1));
        for (int t = 0; t < 3; t++) {
            mcr_model *model = train(ctx, samples[s]);
            mcr_fitted *f = model->fitted;
            test_ok(ctx, mcr_predict(ctx, model, data, wanted, NULL, NULL));
            for (int64_t o = 0; o < f->outputs; o++)
                f->offset[o] *= factor[t];
            for (int64_t g = 0; g < f->segments; g++)
                for (int64_t i = 0; i < f->segment[g].count * f->segment[g].outputs; i++)
                    f->segment[g].coef[i] *= factor[t];
            test_ok(ctx, mcr_predict(ctx, model, data, value, NULL, NULL));
            test_close_arrays("answers", value, wanted, COUNT, 0);
            mcr_model_free(model);
        }
        mcr_data_free(data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_extras, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_many_segments, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_extras_in_files, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_softmax, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_votes, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_extreme_coefficients, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_refusals, test_setup, test_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
