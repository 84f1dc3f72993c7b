/* Facts of models, options and scores by enumeration: they are those of the structs, under the
 * names that programs know.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "helpers.h"

#include <math.h>
#include <string.h>

#include <mercer/mercer.h>

/* The fact of a model that has this name; it must be there, once. */
static mcr_fact model_fact(mcr *ctx, const mcr_model *model, const char *name)
{
    mcr_fact f = MCR_INIT(mcr_fact), found = {0};
    int times = 0;
    for (int64_t i = 0; i < mcr_model_fact_count(model); i++) {
        test_ok(ctx, mcr_model_fact(model, i, &f));
        if (strcmp(f.name, name) == 0) {
            found = f;
            times++;
        }
    }
    if (times != 1)
        fail_msg("the fact %s is there %d times", name, times);
    return found;
}

static mcr_model *train(mcr *ctx, mcr_options *options, const char *sample, const char *expression)
{
    mcr_data *data = NULL;
    mcr_kernel *kernel = NULL;
    mcr_model *model = NULL;
    test_ok(ctx, mcr_data_sample(&data, ctx, sample, 60, -1));
    test_ok(ctx, mcr_kernel_parse(&kernel, ctx, expression));
    test_ok(ctx, mcr_fit(&model, options, kernel, data, NULL));
    mcr_kernel_free(kernel);
    mcr_data_free(data);
    return model;
}

static void lists_a_model(void **state)
{
    mcr *ctx = *state;
    mcr_options *options = NULL;
    test_ok(ctx, mcr_options_open(&options, ctx, "nu-svr"));
    test_ok(ctx, mcr_options_set(options, "C", "3"));
    mcr_model *model = train(ctx, options, "sinc", "rbf(gamma=1)");
    const mcr_report_fit *r = mcr_model_report(model);
    assert_string_equal(model_fact(ctx, model, "learner").text, "nu-svr");
    assert_string_equal(model_fact(ctx, model, "kernel").text, "rbf(gamma=1)");
    assert_string_equal(model_fact(ctx, model, "task").text, "regression");
    assert_string_equal(model_fact(ctx, model, "stop").text, "optimal");
    assert_int_equal(model_fact(ctx, model, "n").integer, 60);
    assert_int_equal(model_fact(ctx, model, "n").type, MCR_FACT_INT);
    assert_true(model_fact(ctx, model, "support").integer == r->support);
    assert_true(model_fact(ctx, model, "iterations").integer == r->iterations);
    assert_true(model_fact(ctx, model, "objective").real == r->objective);
    assert_string_equal(model_fact(ctx, model, "certificate.kind").text, r->certificate);
    assert_true(model_fact(ctx, model, "certificate.value").real == r->value);
    assert_true(model_fact(ctx, model, "train.r2").real == r->r2);
    assert_int_equal(model_fact(ctx, model, "train.r2").group, MCR_FACTS_REPORT);
    assert_int_equal(model_fact(ctx, model, "outputs").group, MCR_FACTS_MODEL);
    mcr_fact epsilon = model_fact(ctx, model, "epsilon"); /* which this learner alone keeps */
    int64_t count;
    assert_true(epsilon.group == MCR_FACTS_KEPT && epsilon.type == MCR_FACT_REAL);
    assert_true(epsilon.real == *mcr_model_number(model, "epsilon", &count));
    mcr_fact f = MCR_INIT(mcr_fact);
    test_fails(ctx, mcr_model_fact(model, -1, &f), MCR_BAD_CALL, "there is no fact -1");
    test_fails(ctx, mcr_model_fact(model, mcr_model_fact_count(model), &f), MCR_BAD_CALL,
               "there is no fact");
    f.size = 0;
    test_fails(ctx, mcr_model_fact(model, 0, &f), MCR_BAD_CALL, "its size is not set");
    mcr_model_free(model);
    mcr_options_close(options);
}

/* A caller that was compiled when facts had a name and a type only. */
static void fills_small_structs(void **state)
{
    mcr *ctx = *state;
    mcr_options *options = NULL;
    mcr_fact f;
    memset(&f, 0x55, sizeof f);
    f.size = offsetof(mcr_fact, group);
    test_ok(ctx, mcr_options_open(&options, ctx, "svm"));
    test_ok(ctx, mcr_options_fact(options, 0, &f));
    assert_int_equal(f.size, offsetof(mcr_fact, group));
    assert_non_null(f.name);
    assert_int_equal(((unsigned char *)&f)[offsetof(mcr_fact, count)], 0x55);
    mcr_options_close(options);
}

static mcr_fact option_fact(mcr *ctx, mcr_options *options, const char *name)
{
    mcr_fact f = MCR_INIT(mcr_fact);
    for (int64_t i = 0; i < mcr_options_fact_count(options); i++) {
        test_ok(ctx, mcr_options_fact(options, i, &f));
        if (strcmp(f.name, name) == 0)
            return f;
    }
    fail_msg("there is no option %s", name);
    return f;
}

/* As set, or the defaults; also from a model. Every option of every learner can be listed. */
static void lists_options(void **state)
{
    mcr *ctx = *state;
    mcr_options *options = NULL, *again = NULL;
    test_ok(ctx, mcr_options_open(&options, ctx, "svm"));
    test_ok(ctx, mcr_options_set(options, "C", "2.5"));
    test_ok(ctx, mcr_options_set(options, "scale", "standard"));
    assert_true(option_fact(ctx, options, "C").real == 2.5);
    assert_string_equal(option_fact(ctx, options, "scale").text, "standard");
    assert_int_equal(option_fact(ctx, options, "probability").type, MCR_FACT_FLAG);
    assert_int_equal(option_fact(ctx, options, "class-weight").type, MCR_FACT_NONE);
    mcr_model *model = train(ctx, options, "moons", "linear");
    test_ok(ctx, mcr_options_of(&again, ctx, model));
    assert_true(option_fact(ctx, again, "C").real == 2.5);
    assert_string_equal(option_fact(ctx, again, "scale").text, "standard");
    mcr_options_close(again);
    mcr_options_close(options);
    mcr_model_free(model);
    for (int64_t l = 0; l < mcr_learner_count(); l++) {
        mcr_learner_info info = MCR_INIT(mcr_learner_info);
        int64_t params = 0;
        test_ok(ctx, mcr_learner_describe(l, &info));
        while (info.params[params].name)
            params++;
        test_ok(ctx, mcr_options_open(&options, ctx, info.name));
        assert_int_equal(mcr_options_fact_count(options), params + 1);
        for (int64_t i = 0; i < params; i++) {
            mcr_fact f = MCR_INIT(mcr_fact);
            test_ok(ctx, mcr_options_fact(options, i, &f));
            assert_string_equal(f.name, info.params[i].name);
            assert_true(f.type == MCR_FACT_NONE || info.params[i].standard ||
                        info.params[i].type == MCR_FLAG || info.params[i].type == MCR_CHOICE);
        }
        mcr_options_close(options);
    }
}

static void lists_scores(void **state)
{
    (void)state;
    mcr_metrics m = MCR_INIT(mcr_metrics);
    mcr_fact f = MCR_INIT(mcr_fact);
    m.n = 7;
    m.accuracy = m.rand = m.r2 = NAN;
    m.mse = 0.5;
    m.mae = 0.25;
    static const char *const names[] = {"n", "mse", "mae", "r2"};
    assert_int_equal(mcr_metrics_fact_count(&m), 4);
    for (int64_t i = 0; i < 4; i++) {
        assert_int_equal(mcr_metrics_fact(&m, i, &f), MCR_OK);
        assert_string_equal(f.name, names[i]);
    }
    assert_true(isnan(f.real));
    assert_int_equal(mcr_metrics_fact(&m, 4, &f), MCR_BAD_CALL);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, test_setup, test_teardown)
    const struct CMUnitTest tests[] = {
        TEST(lists_a_model),
        TEST(fills_small_structs),
        TEST(lists_options),
        TEST(lists_scores),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
