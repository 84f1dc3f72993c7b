/* What predictions depend on: the slope of sparse columns against dense ones, arguments that are
 * refused, and every allocation that fails.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "learner_helpers.h"

enum { N = 12 };

static const char table[] = "width,height,colour,y\n"
                            "1,5,red,0\n2,3,red,1\n3,4,blue,0\n4,1,blue,1\n"
                            "5,2,red,0\n6,6,blue,1\n7,9,red,0\n8,7,blue,1\n";

/* ---- slopes -----------------------------------------------------------------------------------*/

/* y = 2x, from one column that is stored dense or sparse. */
static mcr_data *one_column(mcr *ctx, bool sparse)
{
    mcr_builder *b = NULL;
    mcr_data *data = NULL;
    double x[N], y[N];
    int64_t start[N + 1];
    int32_t index[N] = {0};
    for (int i = 0; i < N; i++) {
        x[i] = i - 4.5;
        y[i] = 2 * x[i];
        start[i] = i;
    }
    start[N] = N;
    test_ok(ctx, mcr_builder_open(&b, ctx, N));
    if (sparse)
        test_ok(ctx, mcr_builder_sparse(b, "x", 1, start, index, x));
    else
        test_ok(ctx, mcr_builder_dense(b, "x", x, 1, 1));
    test_ok(ctx, mcr_builder_targets(b, y));
    test_ok(ctx, mcr_builder_finish(&data, b));
    return data;
}

static void test_slopes(void **context)
{
    mcr *ctx = *context;
    double std = sqrt((N * N - 1) / 12.0); /* of N numbers in steps of 1 */
    for (int sparse = 0; sparse < 2; sparse++) {
        mcr_data *data = one_column(ctx, sparse);
        mcr_model *m = fit_model(ctx, "ridge", "linear", data, "lambda=1e-8");
        mcr_importance_report *r = NULL;
        test_ok(ctx, mcr_model_importance(&r, ctx, m, data, NULL, 2));
        assert_int_equal(r->count, 1);
        test_close_real(sparse ? "sparse" : "dense", r->item[0]->sensitivity, 2 * std, 1e-4);
        mcr_importance_free(ctx, r);
        mcr_model_free(m);
        mcr_data_free(data);
    }
}

/* ---- failures ---------------------------------------------------------------------------------*/

static mcr_status explain(mcr *ctx, void *arg)
{
    mcr_data *data = NULL;
    mcr_model *m = NULL;
    mcr_importance_report *shuffled = NULL, *shapley = NULL;
    (void)arg;
    mcr_status s = mcr_data_read_memory(&data, ctx, "t.csv", table, sizeof table - 1, NULL);
    if (!s)
        s = try_fit(&m, ctx, "knn", "linear(x) + equal(colour)", data, NULL);
    if (!s)
        s = mcr_model_importance(&shuffled, ctx, m, data, NULL, 1);
    assert_true(!s == (shuffled != NULL));
    if (!s)
        s = mcr_model_shapley(&shapley, ctx, m, data, 0, 0, 2);
    assert_true(!s == (shapley != NULL));
    mcr_importance_free(ctx, shuffled);
    mcr_importance_free(ctx, shapley);
    mcr_model_free(m);
    mcr_data_free(data);
    return s;
}

static void test_allocations(void **context)
{
    (void)context;
    assert_true(test_sweep_allocations("importance", explain, NULL) > 100);
}

/* ---- arguments --------------------------------------------------------------------------------*/

static void test_arguments(void **context)
{
    mcr *ctx = *context;
    double mark[] = {1, -1, 1, -1}, far[] = {-5, 2, 1e9, 0}, proba[8] = {0}, out = 0;
    mcr_class_score each[4];
    mcr_evaluated what = {.size = sizeof what,
                          .task = MCR_DETECT,
                          .n = 4,
                          .outputs = 1,
                          .classes = 2,
                          .positive = -1,
                          .target = mark,
                          .value = mark,
                          .proba = proba};
    test_fails(ctx, mcr_evaluate(ctx, "roc_auc", &what, &out), MCR_BAD_CALL, "decision values");
    assert_true(isnan(out));
    what.score = mark;
    test_ok(ctx, mcr_evaluate(ctx, "roc_auc", &what, &out));
    test_close_real("roc_auc", out, 1, 0);
    what.task = MCR_REGRESS;
    what.target = what.value = far;
    test_fails(ctx, mcr_class_scores(ctx, &what, each), MCR_BAD_CALL, "need classes");
    test_fails(ctx, mcr_confusion(ctx, &what, proba), MCR_BAD_CALL, "needs classes");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_slopes, test_setup, test_teardown),
        cmocka_unit_test(test_allocations),
        cmocka_unit_test_setup_teardown(test_arguments, test_setup, test_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
