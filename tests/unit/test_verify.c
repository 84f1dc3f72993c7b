/* test_verify.c: what is computed from a model and its data: certificates, the dual, bounds,
 * intervals. That the numbers are right is what tests/cli and tests/oracle see to; here every
 * allocation fails in turn, and a wrong certificate is found.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "learner_helpers.h"

#include <math.h>
#include <string.h>

#include "model/model.h"

typedef struct call {
    const char *learner, *sample, *options;
} call;

static mcr_status verify(mcr *ctx, void *arg)
{
    const call *c = arg;
    mcr_data *data = NULL;
    mcr_model *model = NULL;
    mcr_verification found = {.size = sizeof found};
    mcr_status s = mcr_data_sample(&data, ctx, c->sample, 24, -1);
    if (!s)
        s = try_fit(&model, ctx, c->learner, "rbf(gamma=1)", data, c->options);
    if (!s)
        s = mcr_model_verify(ctx, model, data, NULL, &found);
    if (!s && !found.agrees)
        fail_msg("%s: %s", c->learner, found.fault);
    mcr_model_free(model);
    mcr_data_free(data);
    return s;
}

static void test_without_memory(void **state)
{
    (void)state;
    static const call calls[] = {
        {"svm", "moons", "tol=1e-6"},
        {"svm", "blobs", "tol=1e-6"},
        {"l1-svm", "blobs", NULL},
        {"nu-svr", "sinc", "tol=1e-6"},
        {"logistic", "blobs", NULL},
        {"erm", "sinc", NULL},
        {"ridge", "sinc", NULL},
        {"gp", "sinc", "optimize=no"},
        {"pca", "moons", NULL},
        {"fisher", "blobs", NULL},
        {"kmeans", "blobs", "clusters=2"},
        {"knn", "moons", "task=classify"},
        {"pegasos", "moons", "passes=200"},
        {"perceptron", "moons", NULL},
        {"ridge", "sinc", "approx=falkon rank=8"},
        {"logistic", "blobs", "approx=falkon rank=8"},
    };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        test_sweep_allocations(calls[i].learner, verify, (void *)&calls[i]);
}

static mcr_status look(mcr *ctx, void *arg)
{
    (void)arg;
    mcr_data *data = NULL;
    mcr_model *model = NULL;
    mcr_bounds bounds = {.size = sizeof bounds};
    mcr_coefficient row[24];
    double offset, square;
    mcr_status s = mcr_data_sample(&data, ctx, "moons", 24, -1);
    if (!s)
        s = try_fit(&model, ctx, "svm", "rbf(gamma=1)", data, "C=2");
    if (!s)
        s = mcr_model_dual(ctx, model, 0, row, &offset, &square);
    if (!s)
        s = mcr_model_bounds(ctx, model, data, 0.05, &bounds);
    if (!s) {
        assert_true(square > 0 && bounds.count >= 5);
        test_close_real("margin", bounds.margin, 1 / sqrt(square), 1e-12);
    }
    mcr_model_free(model);
    mcr_data_free(data);
    return s;
}

static mcr_status hold_out(mcr *ctx, void *arg)
{
    (void)arg;
    mcr_data *data = NULL;
    mcr_model *model = NULL;
    mcr_options *options = NULL;
    mcr_kernel *kernel = NULL;
    double value[40], lower[40], upper[40];
    mcr_status s = mcr_data_sample(&data, ctx, "sinc", 40, -1);
    if (!s)
        s = mcr_options_open(&options, ctx, "ridge");
    if (!s)
        s = mcr_kernel_parse(&kernel, ctx, "rbf(gamma=1)");
    if (!s)
        s = mcr_fit_conformal(&model, options, kernel, data, 0.5);
    if (!s)
        s = mcr_predict_interval(ctx, model, data, 0.8, value, lower, upper);
    if (!s)
        assert_true(lower[0] < value[0] && value[0] < upper[0] && mcr_model_report(model)->n == 20);
    mcr_kernel_free(kernel);
    mcr_options_close(options);
    mcr_model_free(model);
    mcr_data_free(data);
    return s;
}

static void test_others_without_memory(void **state)
{
    (void)state;
    test_sweep_allocations("dual and bounds", look, NULL);
    test_sweep_allocations("intervals", hold_out, NULL);
}

/* Each number of a certificate is looked at. */
static void look_for_lies(mcr *ctx, const char *learner, const char *options)
{
    mcr_data *data = sample_data(ctx, "moons", 60);
    mcr_model *model = fit_model(ctx, learner, "rbf(gamma=1)", data, options);
    mcr_verification found = {.size = sizeof found};
    mcr_fitted *f = model->fitted;
    double *number[] = {&f->value,    &f->primal,    &f->dual,
                        &f->gap,      &f->objective, &f->segment[0].coef[0],
                        &f->offset[0]};
    size_t count = sizeof number / sizeof *number;
    if (f->offset[0] == 0)
        count--; /* the learner has none */
    test_ok(ctx, mcr_model_verify(ctx, model, data, NULL, &found));
    assert_true(found.agrees && found.fault[0] == '\0');
    for (size_t i = 0; i < count; i++) {
        double kept = *number[i];
        *number[i] += 1e-3 * fmax(1, fabs(kept));
        test_ok(ctx, mcr_model_verify(ctx, model, data, NULL, &found));
        if (found.agrees || !found.fault[0])
            fail_msg("%s: number %d was changed, and nobody saw it", learner, (int)i);
        *number[i] = kept;
    }
    mcr_model_free(model);
    mcr_data_free(data);
}

static void test_lies(void **state)
{
    look_for_lies(*state, "svm", "tol=1e-6");
    look_for_lies(*state, "ridge", "approx=falkon rank=10");
    look_for_lies(*state, "logistic", "approx=falkon rank=10 lambda=0.1");
}

/* Nothing is wrong, but rounding hides whether the certificate is within a tolerance that is just
 * met. */
static void test_undecided(void **state)
{
    mcr *ctx = *state;
    mcr_data *data = sample_data(ctx, "sinc", 60);
    mcr_model *model = fit_model(ctx, "ridge", "rbf(gamma=1)", data, NULL);
    mcr_verification found = {.size = sizeof found};
    test_ok(ctx, mcr_model_verify(ctx, model, data, NULL, &found));
    assert_int_equal(found.verdict, MCR_VERIFY_AGREES);
    model->fitted->tolerance = found.value.recomputed;
    test_ok(ctx, mcr_model_verify(ctx, model, data, NULL, &found));
    assert_int_equal(found.verdict, MCR_VERIFY_UNDECIDED);
    assert_true(!found.agrees && found.fault[0]);
    model->fitted->segment[0].coef[0] += 1; /* wrong, whatever else is undecided */
    test_ok(ctx, mcr_model_verify(ctx, model, data, NULL, &found));
    assert_int_equal(found.verdict, MCR_VERIFY_DISAGREES);
    mcr_model_free(model);
    mcr_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_without_memory),
        cmocka_unit_test(test_others_without_memory),
        cmocka_unit_test_setup_teardown(test_lies, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_undecided, test_setup, test_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
