/* test_base_sized.c: structs of older and newer callers, in and out.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include <mercer/mercer.h>

#include "base/sized.h"
#include "helpers.h"

typedef struct known {
    size_t size;
    double a, b;
} known;

/* The same struct as a version before and one after this have it. */
typedef struct older {
    size_t size;
    double a;
} older;

typedef struct newer {
    size_t size;
    double a, b, c;
} newer;

static void test_read(void **context)
{
    mcr *ctx = *context;
    known got = {.a = 7};
    assert_int_equal(MCR_SIZED_READ(known, &got, ctx, NULL), MCR_OK);
    assert_true(got.size == sizeof got && got.a == 0 && got.b == 0);

    older old = {sizeof old, 1};
    got.b = 7;
    assert_int_equal(MCR_SIZED_READ(known, &got, ctx, &old), MCR_OK);
    assert_true(got.size == sizeof got && got.a == 1 && got.b == 0);

    newer new = {sizeof new, 1, 2, 0};
    assert_int_equal(MCR_SIZED_READ(known, &got, ctx, &new), MCR_OK);
    assert_true(got.size == sizeof got && got.a == 1 && got.b == 2);
    new.c = 3;
    test_fails(ctx, MCR_SIZED_READ(known, &got, ctx, &new), MCR_BAD_CALL,
               "known: a field is set that only newer versions support");
    assert_int_equal(MCR_SIZED_READ(known, &got, NULL, &new), MCR_BAD_CALL);
}

static void test_sizes_refused(void **context)
{
    static const size_t sizes[] = {0, sizeof(size_t) - 1, sizeof(known) + 100000, SIZE_MAX};
    mcr *ctx = *context;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        known from = {.size = sizes[i], .a = 1}, to = {.size = sizeof to, .a = 2};
        test_fails(ctx, MCR_SIZED_READ(known, &to, ctx, &from), MCR_BAD_CALL, "size is not set");
        assert_true(to.size == sizeof to && to.a == 0);
        test_fails(ctx, MCR_SIZED_WRITE(known, &from, ctx, &to), MCR_BAD_CALL, "size is not set");
        assert_true(from.size == sizes[i] && from.a == 1);
    }
}

static void test_write(void **context)
{
    mcr *ctx = *context;
    const known from = {sizeof from, 1, 2};
    struct {
        older first;
        double guard;
    } old = {{sizeof(older), 0}, 9};
    assert_int_equal(MCR_SIZED_WRITE(known, &old.first, ctx, &from), MCR_OK);
    assert_true(old.first.size == sizeof(older) && old.first.a == 1 && old.guard == 9);

    struct {
        newer first;
        double guard;
    } new = {{sizeof(newer), 0, 0, 5}, 9};
    assert_int_equal(MCR_SIZED_WRITE(known, &new.first, ctx, &from), MCR_OK);
    assert_true(new.first.size == sizeof(newer) && new.first.a == 1 && new.first.b == 2);
    assert_true(new.first.c == 0 && new.guard == 9);
}

/* ---- through the public interface -------------------------------------------------------------*/

/* A caller that knows the name of a kernel only. */
static void test_describe(void **context)
{
    mcr *ctx = *context;
    mcr_kernel_info full = MCR_INIT(mcr_kernel_info), part;
    memset(&part, 0x5a, sizeof part);
    part.size = offsetof(mcr_kernel_info, summary);
    assert_int_equal(mcr_kernel_describe(ctx, 0, &full), MCR_OK);
    assert_int_equal(mcr_kernel_describe(ctx, 0, &part), MCR_OK);
    assert_string_equal(part.name, full.name);
    assert_int_equal(part.kinds, 0x5a5a5a5a);

    mcr_learner_info learner = {0};
    mcr_metric_info metric = {0};
    mcr_plot_info plot = {0};
    assert_int_equal(mcr_learner_describe(0, &learner), MCR_BAD_CALL);
    assert_int_equal(mcr_metric_describe(0, &metric), MCR_BAD_CALL);
    assert_int_equal(mcr_plot_describe(0, &plot), MCR_BAD_CALL);
    assert_true(!learner.name && !metric.name && !plot.name);
}

/* In an array the first size says how far the elements are apart. */
static void test_array(void **context)
{
    enum { N = 4, TARGETS = 2 };
    typedef struct wide {
        mcr_metrics known;
        double later;
    } wide;
    mcr *ctx = *context;
    const double x[N] = {0, 1, 2, 3}, y[N * TARGETS] = {0, 0, 1, -1, 2, -2, 3, -3};
    mcr_builder *b = NULL;
    mcr_data *data = NULL;
    mcr_options *o = NULL;
    mcr_model *model = NULL;
    wide each[TARGETS];
    memset(each, 0x5a, sizeof each);
    each[0].known.size = sizeof *each;
    test_ok(ctx, mcr_builder_open(&b, ctx, N));
    test_ok(ctx, mcr_builder_dense(b, "x", x, 1, 1));
    test_ok(ctx, mcr_builder_target_table(b, y, TARGETS, NULL));
    test_ok(ctx, mcr_builder_finish(&data, b));
    test_ok(ctx, mcr_options_open(&o, ctx, "ridge"));
    test_ok(ctx, mcr_fit(&model, o, NULL, data, NULL));
    test_ok(ctx, mcr_model_score_targets(ctx, model, data, y, &each[0].known, NULL));
    for (int t = 0; t < TARGETS; t++) {
        assert_int_equal(each[t].known.size, sizeof *each);
        assert_int_equal(each[t].known.n, N);
        assert_true(each[t].known.mse == 0 && each[t].later == 0);
    }
    mcr_model_free(model);
    mcr_options_close(o);
    mcr_data_free(data);
}

/* Every call that fills or reads a struct looks at its size. */
static void test_size_not_set(void **context)
{
    mcr *ctx = *context;
    mcr_data *data = NULL, *none = NULL;
    mcr_options *o = NULL;
    mcr_kernel *kernel = NULL;
    mcr_model *model = NULL;
    mcr_map *map = NULL;
    mcr_splits *splits = NULL;
    mcr_tune_report *tuned = NULL;
    mcr_cv_report *cv = NULL;
    mcr_figure *figure = NULL;
    double value[20];
    test_ok(ctx, mcr_data_sample(&data, ctx, "moons", 20, -1));
    test_ok(ctx, mcr_options_open(&o, ctx, "svm"));
    test_ok(ctx, mcr_kernel_parse(&kernel, ctx, "rbf(gamma=1)"));
    test_ok(ctx, mcr_fit(&model, o, kernel, data, NULL));
    test_ok(ctx, mcr_predict(ctx, model, data, value, NULL, NULL));
    const mcr_map_options rank = {.size = sizeof rank, .approx = MCR_APPROX_NYSTROM, .rank = 3};
    test_ok(ctx, mcr_map_open(&map, ctx, kernel, data, &rank));
    const mcr_status found[] = {
        mcr_data_field_info(data, 0, &(mcr_field_info){0}),
        mcr_data_read_memory(&none, ctx, "a.csv", "1,2\n", 4, &(mcr_read_options){0}),
        mcr_map_measure(map, data, &(mcr_map_error){0}),
        mcr_map_open(&(mcr_map *){NULL}, ctx, kernel, data, &(mcr_map_options){.rank = 2}),
        mcr_model_score(ctx, model, data, value, &(mcr_metrics){0}),
        mcr_model_verify(ctx, model, data, NULL, &(mcr_verification){0}),
        mcr_model_verify(ctx, model, data, &(mcr_verify_given){0},
                         &(mcr_verification){.size = sizeof(mcr_verification)}),
        mcr_model_bounds(ctx, model, data, 0.05, &(mcr_bounds){0}),
        mcr_splits_open(&splits, ctx, data, &(mcr_split_plan){0}),
        mcr_tune(&(mcr_model *){NULL}, &tuned, o, &(mcr_search){0}, data),
        mcr_figure_open(&figure, ctx, &(mcr_plot){.data = data}),
        mcr_kernel_register(ctx, &(mcr_kernel_type){.name = "new"}),
        mcr_open(&(mcr *){NULL}, &(mcr_config){.threads = 1}),
    };
    for (size_t i = 0; i < sizeof found / sizeof *found; i++)
        assert_int_equal(found[i], MCR_BAD_CALL);
    test_ok(ctx, mcr_splits_open(&splits, ctx, data, NULL));
    test_fails(ctx, mcr_cv(&cv, o, kernel, data, splits, NULL, &(mcr_search){0}), MCR_BAD_CALL,
               "mcr_search: its size is not set");
    mcr_splits_close(splits);
    mcr_map_close(map);
    mcr_model_free(model);
    mcr_kernel_free(kernel);
    mcr_options_close(o);
    mcr_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_read, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_sizes_refused, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_write, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_describe, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_array, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_size_not_set, test_setup, test_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
