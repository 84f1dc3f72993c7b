/* test_targets.c: objects with several targets: building, views, joining, reading, and ridge, which
 * learns all of them at once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "format_helpers.h"
#include "learner_helpers.h"

enum { N = 30, TARGETS = 3 };
static const char *const names[TARGETS] = {"a", "b", "c"};
static const char rbf[] = "rbf(gamma=0.5)";

/* ---- the data set -----------------------------------------------------------------------------*/

/* N points of a line with three functions of them. */
static void fill(double *x, double *y)
{
    for (int64_t i = 0; i < N; i++) {
        x[i] = 6.0 * (double)i / N - 3;
        y[i * TARGETS] = sin(x[i]);
        y[i * TARGETS + 1] = 1000 * x[i];
        y[i * TARGETS + 2] = 1e-3 * (x[i] * x[i] - 1);
    }
}

static mcr_data *three(mcr *ctx, const char *const *called)
{
    double x[N], y[N * TARGETS];
    mcr_builder *b;
    mcr_data *data;
    fill(x, y);
    test_ok(ctx, mcr_builder_open(&b, ctx, N));
    test_ok(ctx, mcr_builder_dense(b, "x", x, 1, 1));
    test_ok(ctx, mcr_builder_target_table(b, y, TARGETS, called));
    test_ok(ctx, mcr_builder_finish(&data, b));
    return data;
}

/* The same objects with one of the targets. */
static mcr_data *one_of(mcr *ctx, int64_t t)
{
    double x[N], y[N * TARGETS], own[N];
    mcr_builder *b;
    mcr_data *data;
    fill(x, y);
    for (int64_t i = 0; i < N; i++)
        own[i] = y[i * TARGETS + t];
    test_ok(ctx, mcr_builder_open(&b, ctx, N));
    test_ok(ctx, mcr_builder_dense(b, "x", x, 1, 1));
    test_ok(ctx, mcr_builder_targets(b, own));
    test_ok(ctx, mcr_builder_finish(&data, b));
    return data;
}

static void builds_tables(void **state)
{
    mcr *ctx = *state;
    mcr_data *data = three(ctx, names), *view = NULL, *one = one_of(ctx, 0);
    double x[N], y[N * TARGETS];
    fill(x, y);
    assert_int_equal(mcr_data_target_count(data), TARGETS);
    assert_int_equal(mcr_data_target_kind(data), MCR_REAL_TARGETS);
    assert_string_equal(mcr_data_target_name(data, 1), "b");
    assert_null(mcr_data_target_name(data, TARGETS));
    assert_memory_equal(mcr_data_target_table(data), y, sizeof y);
    for (int64_t i = 0; i < N; i++)
        assert_true(mcr_data_targets(data)[i] == y[i * TARGETS]);
    test_ok(ctx, mcr_data_select(&view, data, (mcr_rows){(int64_t[]){7, 2, 7}, 0, 3}));
    assert_int_equal(mcr_data_target_count(view), TARGETS);
    for (int64_t t = 0; t < TARGETS; t++) {
        assert_true(mcr_data_target_table(view)[t] == y[7 * TARGETS + t]);
        assert_true(mcr_data_target_table(view)[TARGETS + t] == y[2 * TARGETS + t]);
    }
    mcr_data_free(view);
    assert_int_equal(mcr_data_target_count(one), 1);
    assert_ptr_equal(mcr_data_target_table(one), mcr_data_targets(one));
    assert_null(mcr_data_target_name(one, 0));
    mcr_data_free(one);
    mcr_data_free(data);
    data = three(ctx, NULL);
    assert_string_equal(mcr_data_target_name(data, 2), "target3");
    test_fails(ctx, mcr_data_write(data, "-", "csv"), MCR_BAD_CALL, "several targets");
    mcr_data_free(data);
}

static void refuses_tables(void **state)
{
    mcr *ctx = *state;
    mcr_builder *b;
    test_ok(ctx, mcr_builder_open(&b, ctx, 2));
    test_fails(ctx, mcr_builder_target_table(b, (double[]){1, 2, 3, NAN}, 2, NULL), MCR_BAD_DATA,
               "object 2: target 2 is not finite");
    test_fails(ctx, mcr_builder_target_table(b, (double[]){1, 2}, 0, NULL), MCR_BAD_CALL,
               "a table of 0 targets");
    mcr_builder_close(b);
    /* Later targets replace a table. */
    mcr_data *data;
    test_ok(ctx, mcr_builder_open(&b, ctx, 2));
    test_ok(ctx, mcr_builder_dense(b, "x", (double[]){1, 2}, 1, 1));
    test_ok(ctx, mcr_builder_target_table(b, (double[]){1, 2, 3, 4}, 2, NULL));
    test_ok(ctx, mcr_builder_targets(b, (double[]){5, 6}));
    test_ok(ctx, mcr_builder_finish(&data, b));
    assert_int_equal(mcr_data_target_count(data), 1);
    assert_true(mcr_data_targets(data)[1] == 6);
    mcr_data_free(data);
}

static void joins_tables(void **state)
{
    mcr *ctx = *state;
    const mcr_data *parts[2] = {three(ctx, names), three(ctx, names)};
    mcr_data *both = NULL, *other = three(ctx, NULL), *one = one_of(ctx, 0);
    test_ok(ctx, mcr_data_concat(&both, parts, 2));
    assert_int_equal(mcr_data_target_count(both), TARGETS);
    assert_string_equal(mcr_data_target_name(both, 2), "c");
    assert_memory_equal(mcr_data_target_table(both) + N * TARGETS, mcr_data_target_table(parts[1]),
                        sizeof(double) * N * TARGETS);
    mcr_data_free(both);
    test_fails(ctx, mcr_data_concat(&both, (const mcr_data *[]){parts[0], other}, 2), MCR_BAD_DATA,
               "target 1 is \"a\" in one part and \"target1\" in another");
    test_fails(ctx, mcr_data_concat(&both, (const mcr_data *[]){parts[0], one}, 2), MCR_BAD_DATA,
               "one part has 3 targets and another 1");
    mcr_data_free((mcr_data *)parts[0]);
    mcr_data_free((mcr_data *)parts[1]);
    mcr_data_free(other);
    mcr_data_free(one);
}

/* ---- files ------------------------------------------------------------------------------------*/

static mcr_data *read_as(mcr *ctx, const char *format, const char *text, const char *target)
{
    mcr_data *data = NULL;
    test_ok(ctx, read_text(&data, ctx, "f", text, strlen(text), format, target));
    return data;
}

static void expect_table(mcr_data *data, int64_t cols, const double *table, const char *first)
{
    assert_int_equal(mcr_data_target_count(data), cols);
    for (int64_t i = 0; i < cols * mcr_data_count(data); i++)
        assert_true(mcr_data_target_table(data)[i] == table[i]);
    if (first)
        assert_string_equal(mcr_data_target_name(data, 0), first);
    else
        assert_null(mcr_data_target_name(data, 0));
    mcr_data_free(data);
}

static void reads_tables_of_text(void **state)
{
    mcr *ctx = *state;
    static const char csv[] = "a,b,c\n1,2,3\n4,5,6\n";
    mcr_data *data = NULL;
    expect_table(read_as(ctx, "csv", csv, "c,a"), 2, (double[]){3, 1, 6, 4}, "c");
    expect_table(read_as(ctx, "csv", csv, "2,1"), 2, (double[]){2, 1, 5, 4}, "b");
    expect_table(read_as(ctx, "csv", "1,2,3\n4,5,6\n", "2,3"), 2, (double[]){2, 3, 5, 6},
                 "column2");
    expect_table(read_as(ctx, "tsv", "a\tb\tc\n1\t2\t3\n", "a,b"), 2, (double[]){1, 2}, "a");
    /* A header that only these names show; one column whose own name has a comma. */
    expect_table(read_as(ctx, "csv", "n,p,q\nx,1,2\ny,3,4\n", "p,q"), 2, (double[]){1, 2, 3, 4},
                 "p");
    expect_table(read_as(ctx, "csv", "a,\"b,c\"\n1,2\n", "b,c"), 1, (double[]){2}, NULL);
    test_fails(ctx, read_text(&data, ctx, "f", csv, strlen(csv), "csv", "a,d"), MCR_BAD_CALL,
               "f: no column \"d\" for the target");
    test_fails(ctx, read_text(&data, ctx, "f", csv, strlen(csv), "csv", "a,a"), MCR_BAD_CALL,
               "\"a\" occurs twice");
    test_fails(ctx, read_text(&data, ctx, "f", csv, strlen(csv), "csv", "a,1"), MCR_BAD_CALL,
               "f: column 1 is given twice as a target");
    test_fails(ctx, read_text(&data, ctx, "f", csv, strlen(csv), "csv", "a,b,c"), MCR_BAD_DATA,
               "f: no column is left for the data");
    refuse_text(ctx, "f", "a,b,c\n1,2,3\n4,five,6\n", "csv", "a,b",
                "f:3: column \"b\": \"five\" is not a number");
    refuse_text(ctx, "f", "a,b,c\n1,2,3\n4,,6\n", "csv", "a,b",
                "f:3: column \"b\": the value is missing");
}

static void reads_json_lines(void **state)
{
    mcr *ctx = *state;
    static const char lines[] = "{\"s\": \"ab\", \"u\": 1, \"v\": -2}\n{\"v\": 4, \"s\": \"b\", "
                                "\"u\": 3}\n";
    mcr_data *data = NULL;
    expect_table(read_as(ctx, "jsonl", lines, "v,u"), 2, (double[]){-2, 1, 4, 3}, "v");
    expect_table(read_as(ctx, "jsonl", lines, "u"), 1, (double[]){1, 3}, NULL);
    test_fails(ctx, read_text(&data, ctx, "f", lines, strlen(lines), "jsonl", "u,w"), MCR_BAD_DATA,
               "there is no key \"w\" for the target");
    test_fails(ctx, read_text(&data, ctx, "f", lines, strlen(lines), "jsonl", "u,s"), MCR_BAD_DATA,
               "a number");
}

static mcr_status read_small(mcr *ctx, void *arg)
{
    const char *const *file = arg; /* format, text */
    mcr_data *data = NULL, *view = NULL, *both = NULL;
    mcr_status status = read_text(&data, ctx, "f", file[1], strlen(file[1]), file[0], "u,v");
    if (status == MCR_OK)
        status = mcr_data_select(&view, data, (mcr_rows){NULL, 1, 1});
    if (status == MCR_OK)
        status = mcr_data_concat(&both, (const mcr_data *[]){data, view}, 2);
    mcr_data_free(data);
    mcr_data_free(view);
    mcr_data_free(both);
    return status;
}

static void survives_short_memory(void **state)
{
    (void)state;
    const char *csv[] = {"csv", "x,u,v\n1,2,3\n4,5,6\n"};
    const char *jsonl[] = {"jsonl",
                           "{\"x\": 1, \"u\": 1, \"v\": 2}\n{\"x\": 2, \"u\": 3, \"v\": 4}\n"};
    test_sweep_allocations("csv", read_small, csv);
    test_sweep_allocations("jsonl", read_small, jsonl);
}

/* ---- ridge ------------------------------------------------------------------------------------*/

/* Each target as if it were alone, and the means of all. */
static void ridge_learns_all(void **state)
{
    mcr *ctx = *state;
    mcr_data *data = three(ctx, names);
    mcr_model *model = fit_model(ctx, "ridge", rbf, data, "lambda=0.01 loo=yes");
    const mcr_report_fit *r = mcr_model_report(model);
    double score[N * TARGETS], objective = 0, loo = 0, mse = 0, r2 = 0;
    mcr_metrics each[TARGETS] = {MCR_INIT(mcr_metrics)}, mean = each[0];
    assert_int_equal(r->targets, TARGETS);
    assert_int_equal(mcr_model_outputs(model), TARGETS);
    test_ok(ctx, mcr_predict(ctx, model, data, NULL, score, NULL));
    test_ok(ctx, mcr_model_score_targets(ctx, model, data, score, each, &mean));
    for (int64_t t = 0; t < TARGETS; t++) {
        mcr_data *one = one_of(ctx, t);
        mcr_model *alone = fit_model(ctx, "ridge", rbf, one, "lambda=0.01 loo=yes");
        const mcr_report_fit *own = mcr_model_report(alone);
        double value[N], column[N];
        assert_string_equal(mcr_model_output_name(model, t), names[t]);
        assert_string_equal(mcr_model_output_name(alone, 0), "value");
        test_ok(ctx, mcr_predict(ctx, alone, one, value, NULL, NULL));
        for (int64_t i = 0; i < N; i++)
            column[i] = score[i * TARGETS + t];
        test_close_arrays(names[t], column, value, N, 1e-10);
        test_close_real("mse", each[t].mse, own->mse, 1e-9);
        test_close_real("r2", each[t].r2, own->r2, 1e-9);
        objective += own->objective;
        loo += own->loo / TARGETS;
        mse += own->mse / TARGETS;
        r2 += own->r2 / TARGETS;
        mcr_model_free(alone);
        mcr_data_free(one);
    }
    test_close_real("objective", r->objective, objective, 1e-9);
    test_close_real("loo", r->loo, loo, 1e-9);
    test_close_real("mse", r->mse, mse, 1e-9);
    test_close_real("r2", r->r2, r2, 1e-9);
    test_close_real("mean", mean.mse, mse, 1e-9);
    mcr_model_free(model);
    mcr_data_free(data);
}

static void others_refuse(void **state)
{
    mcr *ctx = *state;
    mcr_data *data = three(ctx, names), *one = one_of(ctx, 1), *other = three(ctx, NULL);
    mcr_model *model = NULL;
    for (int64_t i = 0; i < mcr_learner_count(); i++) {
        mcr_learner_info info = MCR_INIT(mcr_learner_info);
        assert_int_equal(mcr_learner_describe(i, &info), MCR_OK);
        if ((info.task != MCR_CLASSIFY && info.task != MCR_REGRESS && info.task != MCR_EITHER) ||
            strcmp(info.name, "ridge") == 0)
            continue;
        test_fails(ctx, try_fit(&model, ctx, info.name, rbf, data, NULL), MCR_BAD_DATA,
                   "learns one target, and the data have 3");
    }
    test_fails(ctx, try_fit(&model, ctx, "ridge", rbf, data, "task=classify"), MCR_BAD_DATA,
               "the data have 3 targets");
    test_ok(ctx, try_fit(&model, ctx, "pca", rbf, data, NULL)); /* it has no use for targets */
    mcr_model_free(model);
    /* Comparing. */
    double score[N * TARGETS] = {0};
    mcr_metrics mean = MCR_INIT(mcr_metrics);
    model = fit_model(ctx, "ridge", rbf, data, NULL);
    test_fails(ctx, mcr_model_score(ctx, model, one, score, &mean), MCR_BAD_DATA,
               "the model predicts 3 targets, and the data have 1");
    test_fails(ctx, mcr_model_score_targets(ctx, model, other, score, NULL, &mean), MCR_BAD_DATA,
               "target 1 of the data is \"target1\", and that of the model \"a\"");
    mcr_model_free(model);
    model = fit_model(ctx, "ridge", rbf, one, NULL);
    test_fails(ctx, mcr_model_score(ctx, model, data, score, &mean), MCR_BAD_DATA,
               "the model predicts 1 target, and the data have 3");
    mcr_model_free(model);
    mcr_data_free(data);
    mcr_data_free(one);
    mcr_data_free(other);
}

static mcr_status fit_and_save(mcr *ctx, void *arg)
{
    const char *path = arg;
    mcr_builder *b = NULL;
    mcr_data *data = NULL;
    mcr_model *model = NULL, *loaded = NULL;
    mcr_status status = mcr_builder_open(&b, ctx, 3);
    if (status != MCR_OK)
        return status;
    status = mcr_builder_dense(b, "x", (double[]){1, 2, 3}, 1, 1);
    if (status == MCR_OK)
        status = mcr_builder_target_table(b, (double[]){1, 2, 3, 4, 5, 7}, 2, NULL);
    if (status == MCR_OK)
        status = mcr_builder_finish(&data, b);
    else
        mcr_builder_close(b);
    if (status == MCR_OK)
        status = try_fit(&model, ctx, "ridge", rbf, data, NULL);
    if (status == MCR_OK)
        status = mcr_model_save(ctx, model, path);
    if (status == MCR_OK)
        status = mcr_model_load(&loaded, ctx, path);
    if (status == MCR_OK) {
        double a[6], b2[6];
        assert_string_equal(mcr_model_output_name(loaded, 1), "target2");
        assert_int_equal(mcr_model_report(loaded)->targets, 2);
        status = mcr_predict(ctx, model, data, NULL, a, NULL);
        if (status == MCR_OK)
            status = mcr_predict(ctx, loaded, data, NULL, b2, NULL);
        if (status == MCR_OK)
            assert_memory_equal(a, b2, sizeof a);
    }
    mcr_model_free(loaded);
    mcr_model_free(model);
    mcr_data_free(data);
    return status;
}

static void models_keep_them(void **state)
{
    (void)state;
    char folder[256], path[300];
    test_make_directory(folder);
    snprintf(path, sizeof path, "%s/m.mercer", folder);
    test_sweep_allocations("ridge of two targets", fit_and_save, path);
    test_remove_directory(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(builds_tables, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(refuses_tables, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(joins_tables, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(reads_tables_of_text, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(reads_json_lines, test_setup, test_teardown),
        cmocka_unit_test(survives_short_memory),
        cmocka_unit_test_setup_teardown(ridge_learns_all, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(others_refuse, test_setup, test_teardown),
        cmocka_unit_test(models_keep_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
