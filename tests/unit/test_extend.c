/* What programs add at run time: kernels by callback, learners; and stopping from another thread.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "helpers.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include <mercer/mercer.h>

#include "base/context.h"

enum { N = 80 };

/* ---- kernels by callback ----------------------------------------------------------------------*/

typedef struct calls {
    pthread_t caller;
    int64_t values, strangers, released; /* strangers: calls from other threads */
    int64_t most;                        /* fail after so many values; 0: never */
} calls;

static mcr_status dot(void *user, const mcr_data *x, int64_t x_field, int64_t i, const mcr_data *z,
                      int64_t z_field, int64_t j, double *k)
{
    calls *c = user;
    double a[2], b[2];
    c->strangers += !pthread_equal(c->caller, pthread_self());
    c->values++;
    if (c->most && c->values > c->most)
        return MCR_NUMERIC;
    mcr_status s = mcr_data_vector(x, x_field, i, a);
    if (!s)
        s = mcr_data_vector(z, z_field, j, b);
    *k = a[0] * b[0] + a[1] * b[1];
    return s;
}

static mcr_status dots(void *user, const mcr_objects *x, const mcr_objects *z, double *k)
{
    mcr_status s = MCR_OK;
    for (int64_t i = 0; i < x->count && !s; i++)
        for (int64_t j = 0; j < z->count && !s; j++)
            s = dot(user, x->data, x->field, x->object[i], z->data, z->field, z->object[j],
                    &k[i * z->count + j]);
    return s;
}

static void count_release(void *user)
{
    ((calls *)user)->released++;
}

static mcr_callback make_callback(calls *c, bool by_block)
{
    mcr_callback call = MCR_INIT(mcr_callback);
    char name[] = "own"; /* copied: it need not last */
    static char kept[8];
    memcpy(kept, name, sizeof name);
    call.name = kept;
    call.kinds = MCR_DENSE;
    if (by_block)
        call.block = dots;
    else
        call.pair = dot;
    call.release = count_release;
    call.user = c;
    return call;
}

static void matrix(mcr *ctx, double *k, const char *expression, const mcr_data *data)
{
    mcr_kernel *kernel = NULL;
    mcr_gram *gram = NULL;
    test_ok(ctx, mcr_kernel_parse(&kernel, ctx, expression));
    test_ok(ctx, mcr_gram_open(&gram, ctx, kernel, data, NULL));
    test_ok(ctx, mcr_gram_matrix(gram, k, N));
    mcr_gram_close(gram);
    mcr_kernel_free(kernel);
}

/* The same values as the built-in kernel, from the calling thread only. */
static void computes_by_callback(void **state)
{
    (void)state;
    for (int by_block = 0; by_block < 2; by_block++) {
        static double k[N * N], want[N * N];
        mcr *ctx = test_open(2);
        mcr_data *data = NULL, *view = NULL;
        calls c = {.caller = pthread_self()};
        mcr_callback call = make_callback(&c, by_block);
        test_ok(ctx, mcr_kernel_callback(ctx, &call));
        assert_int_equal(mcr_threads(ctx), 1);
        memset((char *)call.name, 'x', 3);
        test_ok(ctx, mcr_data_sample(&data, ctx, "moons", 2 * N, -1));
        test_ok(ctx, mcr_data_select(&view, data, (mcr_rows){NULL, N / 2, N}));
        matrix(ctx, k, "2*own + rbf(gamma=1)", view);
        matrix(ctx, want, "2*linear + rbf(gamma=1)", view);
        test_close_arrays("values by callback", k, want, N * N, 1e-12);
        assert_true(c.values > 0 && c.strangers == 0);
        call = make_callback(&c, by_block);
        test_fails(ctx, mcr_kernel_callback(ctx, &call), MCR_BAD_CALL,
                   "there is a kernel called \"own\" already");
        assert_int_equal(c.released, 1); /* of the second one, at once */
        mcr_data_free(view);
        mcr_data_free(data);
        test_close(ctx);
        assert_int_equal(c.released, 2);
    }
}

/* Trained, saved, and loaded where the function is registered as well. */
static void trains_by_callback(void **state)
{
    mcr *ctx = *state;
    calls c = {.caller = pthread_self()};
    mcr_callback call = make_callback(&c, true);
    mcr_data *data = NULL;
    mcr_options *options = NULL;
    mcr_kernel *kernel = NULL;
    mcr_model *model = NULL, *copy = NULL;
    void *bytes = NULL;
    size_t count;
    double f[N], g[N];
    test_ok(ctx, mcr_kernel_callback(ctx, &call));
    test_ok(ctx, mcr_data_sample(&data, ctx, "moons", N, -1));
    test_ok(ctx, mcr_options_open(&options, ctx, "svm"));
    test_ok(ctx, mcr_kernel_parse(&kernel, ctx, "own"));
    test_ok(ctx, mcr_fit(&model, options, kernel, data, NULL));
    /* No other program has the caller's function. */
    for (int t = 0; t < 3; t++) {
        static const char *const target[] = {"c", "onnx", "libsvm"};
        test_fails(ctx, mcr_model_export(ctx, model, target[t], NULL, "/dev/null", NULL),
                   MCR_BAD_CALL,
                   t < 2 ? "it is not a built-in kernel" : "LIBSVM has no kernel like own");
    }
    test_ok(ctx, mcr_model_save_memory(&bytes, &count, ctx, model));
    test_ok(ctx, mcr_model_load_memory(&copy, ctx, "m", bytes, count));
    test_ok(ctx, mcr_predict(ctx, model, data, NULL, f, NULL));
    test_ok(ctx, mcr_predict(ctx, copy, data, NULL, g, NULL));
    assert_memory_equal(f, g, sizeof f);
    mcr_model_free(copy);
    mcr_model_free(model);
    c.most = c.values + 5;
    test_fails(ctx, mcr_fit(&model, options, kernel, data, NULL), MCR_NUMERIC,
               "own: the function of this kernel failed");
    mcr_kernel_free(kernel);
    mcr_options_close(options);
    mcr_bytes_free(ctx, bytes);
    mcr_data_free(data);
}

/* Declared safe, it is called by several threads; the values are the same. */
static mcr_status sum_block(void *user, const mcr_objects *x, const mcr_objects *z, double *k)
{
    (void)user;
    double a[2], b[2];
    for (int64_t i = 0; i < x->count; i++)
        for (int64_t j = 0; j < z->count; j++) {
            if (mcr_data_vector(x->data, x->field, x->object[i], a) ||
                mcr_data_vector(z->data, z->field, z->object[j], b))
                return MCR_BAD_CALL;
            k[i * z->count + j] = a[0] * b[0] + a[1] * b[1];
        }
    return MCR_OK;
}

static void shares_safe_callbacks(void **state)
{
    mcr *ctx = *state;
    static double k[N * N], want[N * N];
    mcr_data *data = NULL;
    mcr_callback call = MCR_INIT(mcr_callback);
    call.name = "safe";
    call.kinds = MCR_DENSE | MCR_SPARSE;
    call.thread_safe = 1;
    call.block = sum_block;
    test_ok(ctx, mcr_kernel_callback(ctx, &call));
    assert_int_equal(mcr_threads(ctx), 2);
    test_ok(ctx, mcr_data_sample(&data, ctx, "moons", N, -1));
    matrix(ctx, k, "safe", data);
    matrix(ctx, want, "linear", data);
    test_close_arrays("values by callback", k, want, N * N, 1e-12);
    mcr_data_free(data);
    call.block = NULL;
    call.name = "none";
    test_fails(ctx, mcr_kernel_callback(ctx, &call), MCR_BAD_CALL, "a function block or pair");
    call.block = sum_block;
    call.name = "no name";
    test_fails(ctx, mcr_kernel_callback(ctx, &call), MCR_BAD_CALL, "its name must be letters");
}

/* ---- learners ---------------------------------------------------------------------------------*/

typedef struct constant_params {
    double value;
} constant_params;

static const mcr_param constant_table[] = {
    {"value", MCR_REAL, offsetof(constant_params, value), "1", 0, 100, 0, NULL, "the offset"},
    {0},
};

typedef struct wish {
    int64_t outputs;
    bool nothing;   /* give no result */
    bool cancelled; /* loop until somebody asks to stop */
} wish;

/* Coefficients 1, 2, 3, ... of the objects, and the offset of the option. */
static mcr_status fit_constant(mcr_fitted **out, const mcr_learning *in)
{
    const wish *w = mcr_learning_user(in);
    int64_t n = mcr_data_count(mcr_learning_data(in));
    const constant_params *p = mcr_learning_params(in);
    double *coef = calloc((size_t)(n * w->outputs), sizeof *coef), offset[4] = {0};
    mcr_outcome end = MCR_INIT(mcr_outcome);
    mcr_progress now = MCR_INIT(mcr_progress);
    now.phase = "constant";
    assert_non_null(coef);
    for (int64_t i = 0; i < n * w->outputs; i++)
        coef[i] = (double)(i % n);
    for (int64_t o = 0; o < w->outputs; o++)
        offset[o] = p->value;
    while (w->cancelled && !mcr_learning_report(in, &now))
        now.step++;
    mcr_status s = w->nothing ? MCR_OK : mcr_fitted_open(out, in, w->outputs);
    if (!s && !w->nothing)
        s = mcr_fitted_set(*out, coef, offset);
    if (!s && !w->nothing)
        s = mcr_fitted_keep(*out, "constant", offset, 1);
    end.iterations = 7;
    end.certificate = "nothing at all";
    end.value = end.tolerance = 0.5;
    end.stop = w->cancelled ? MCR_STOP_INTERRUPTED : MCR_STOP_OPTIMAL;
    if (!s && !w->nothing)
        s = mcr_fitted_end(*out, &end);
    free(coef);
    return s;
}

static mcr_learner_spec make_spec(wish *w, mcr_task task)
{
    mcr_learner_spec spec = MCR_INIT(mcr_learner_spec);
    spec.name = "constant";
    spec.summary = "for tests";
    spec.task = task;
    spec.params = constant_table;
    spec.params_size = sizeof(constant_params);
    spec.fit = fit_constant;
    spec.user = w;
    return spec;
}

static mcr_status train(mcr_model **out, mcr *ctx, const mcr_data *data)
{
    mcr_options *options = NULL;
    mcr_kernel *kernel = NULL;
    mcr_status s = mcr_options_open(&options, ctx, "constant");
    if (!s)
        s = mcr_options_set(options, "value", "3");
    if (!s)
        s = mcr_kernel_parse(&kernel, ctx, "linear");
    if (!s)
        s = mcr_fit(out, options, kernel, data, NULL);
    mcr_kernel_free(kernel);
    mcr_options_close(options);
    return s;
}

static void registers_learners(void **state)
{
    mcr *ctx = *state;
    wish w = {.outputs = 1};
    mcr_learner_spec spec = make_spec(&w, MCR_REGRESS);
    mcr_learner_info info = MCR_INIT(mcr_learner_info);
    mcr_data *data = NULL;
    mcr_model *model = NULL, *copy = NULL;
    void *bytes = NULL;
    size_t count;
    double f[5], x, sum = 0;
    assert_int_equal(mcr_learner_lookup(ctx, "constant", &info), MCR_BAD_CALL);
    test_ok(ctx, mcr_learner_register(ctx, &spec));
    test_ok(ctx, mcr_learner_lookup(ctx, "constant", &info));
    assert_int_equal(info.task, MCR_REGRESS);
    test_ok(ctx, mcr_learner_lookup(ctx, "svm", &info));
    test_fails(ctx, mcr_learner_register(ctx, &spec), MCR_BAD_CALL,
               "there is a learner called \"constant\" already");
    test_ok(ctx, mcr_data_sample(&data, ctx, "sinc", 5, -1));
    test_ok(ctx, train(&model, ctx, data));
    const mcr_report_fit *r = mcr_model_report(model);
    assert_string_equal(r->options, "value=3");
    assert_string_equal(r->certificate, "nothing at all");
    assert_int_equal(r->iterations, 7);
    assert_int_equal(mcr_model_support(model), 4); /* the first coefficient is 0 */
    assert_true(*mcr_model_number(model, "constant", &(int64_t){0}) == 3);
    test_ok(ctx, mcr_predict(ctx, model, data, f, NULL, NULL));
    for (int64_t i = 0; i < 5; i++) {
        test_ok(ctx, mcr_data_vector(data, 0, i, &x));
        sum += (double)i * x;
    }
    test_ok(ctx, mcr_data_vector(data, 0, 2, &x));
    test_close_real("prediction", f[2], sum * x + 3, 1e-9);
    /* In a context that does not have the learner the model still predicts. */
    mcr *other = test_open(1);
    test_ok(ctx, mcr_model_save_memory(&bytes, &count, ctx, model));
    test_ok(other, mcr_model_load_memory(&copy, other, "m", bytes, count));
    double g[5];
    test_ok(other, mcr_predict(other, copy, data, g, NULL, NULL));
    assert_memory_equal(f, g, sizeof f);
    mcr_model_free(copy);
    test_close(other);
    mcr_bytes_free(ctx, bytes);
    mcr_model_free(model);
    mcr_data_free(data);
}

static void refuses_bad_learners(void **state)
{
    mcr *ctx = *state;
    wish w = {.outputs = 3};
    mcr_learner_spec spec = make_spec(&w, MCR_CLASSIFY);
    mcr_data *data = NULL;
    mcr_model *model = NULL;
    spec.name = "svm";
    test_fails(ctx, mcr_learner_register(ctx, &spec), MCR_BAD_CALL, "called \"svm\" already");
    spec.name = "Not Good";
    test_fails(ctx, mcr_learner_register(ctx, &spec), MCR_BAD_CALL, "small letters");
    spec.name = "constant";
    spec.fit = NULL;
    test_fails(ctx, mcr_learner_register(ctx, &spec), MCR_BAD_CALL, "no function fit");
    spec.fit = fit_constant;
    spec.params_size = 0;
    test_fails(ctx, mcr_learner_register(ctx, &spec), MCR_BAD_CALL, "outside params_size");
    spec.params_size = sizeof(constant_params);
    test_ok(ctx, mcr_learner_register(ctx, &spec));
    test_ok(ctx, mcr_data_sample(&data, ctx, "moons", 20, -1));
    test_fails(ctx, train(&model, ctx, data), MCR_BAD_CALL, "3 outputs do not fit its task");
    w.nothing = true;
    test_fails(ctx, train(&model, ctx, data), MCR_BAD_CALL, "returned no result");
    w = (wish){.outputs = 2};
    test_ok(ctx, train(&model, ctx, data));
    assert_int_equal(mcr_model_outputs(model), 2);
    mcr_model_free(model);
    mcr_data_free(data);
}

/* ---- stopping from another thread -------------------------------------------------------------*/

static void *stop_it(void *arg)
{
    mcr *ctx = arg;
    mcr_progress now = MCR_INIT(mcr_progress);
    while (mcr_progress_last(ctx, &now) == MCR_OK && now.step < 3)
        sched_yield();
    assert_string_equal(now.phase, "constant");
    mcr_cancel(ctx, 1);
    return NULL;
}

static void stops_from_another_thread(void **state)
{
    mcr *ctx = *state;
    wish w = {.outputs = 1, .cancelled = true};
    mcr_learner_spec spec = make_spec(&w, MCR_REGRESS);
    mcr_data *data = NULL;
    mcr_model *model = NULL;
    pthread_t other;
    mcr_progress now = MCR_INIT(mcr_progress);
    test_ok(ctx, mcr_progress_last(ctx, &now));
    assert_null(now.phase);
    test_ok(ctx, mcr_learner_register(ctx, &spec));
    test_ok(ctx, mcr_data_sample(&data, ctx, "sinc", 5, -1));
    assert_int_equal(pthread_create(&other, NULL, stop_it, ctx), 0);
    test_ok(ctx, train(&model, ctx, data));
    pthread_join(other, NULL);
    assert_int_equal(mcr_model_report(model)->stop, MCR_STOP_INTERRUPTED);
    mcr_model_free(model);
    mcr_cancel(ctx, 0);
    mcr_data_free(data);
}

/* A built-in learner reports from inside its solver; the report waits until another thread has
 * cancelled, so that this does not depend on time. */
typedef struct meeting {
    mcr *ctx;
    const char *phase; /* of the learner */
    int running, cancelled;
    int reports; /* after it was cancelled */
} meeting;

static int wait_for_cancel(void *user, const mcr_progress *now)
{
    meeting *m = user;
    if (strcmp(now->phase, m->phase) != 0)
        return 0;
    m->reports += __atomic_load_n(&m->cancelled, __ATOMIC_ACQUIRE);
    __atomic_store_n(&m->running, 1, __ATOMIC_RELEASE);
    while (!__atomic_load_n(&m->cancelled, __ATOMIC_ACQUIRE))
        sched_yield();
    return 0;
}

static void *cancel_it(void *arg)
{
    meeting *m = arg;
    mcr_progress now = MCR_INIT(mcr_progress);
    while (!__atomic_load_n(&m->running, __ATOMIC_ACQUIRE))
        sched_yield();
    assert_int_equal(mcr_progress_last(m->ctx, &now), MCR_OK);
    assert_string_equal(now.phase, m->phase);
    mcr_cancel(m->ctx, 1);
    __atomic_store_n(&m->cancelled, 1, __ATOMIC_RELEASE);
    return NULL;
}

static mcr_model *fit_built_in(mcr *ctx, const char *learner, const mcr_data *data)
{
    mcr_options *options = NULL;
    mcr_kernel *kernel = NULL;
    mcr_model *model = NULL;
    test_ok(ctx, mcr_options_open(&options, ctx, learner));
    test_ok(ctx, mcr_kernel_parse(&kernel, ctx, "rbf(gamma=1)"));
    test_ok(ctx, mcr_fit(&model, options, kernel, data, NULL));
    mcr_kernel_free(kernel);
    mcr_options_close(options);
    return model;
}

/* Where there is nothing to keep yet: objects without a cluster are no model. */
static void stops_without_a_result(void **state)
{
    mcr *ctx = *state;
    mcr_data *data = NULL;
    mcr_options *options = NULL;
    mcr_kernel *kernel = NULL;
    mcr_model *model = NULL;
    test_ok(ctx, mcr_data_sample(&data, ctx, "moons", 400, 0.3));
    test_ok(ctx, mcr_options_open(&options, ctx, "kmeans"));
    test_ok(ctx, mcr_kernel_parse(&kernel, ctx, "rbf(gamma=1)"));
    mcr_cancel(ctx, 1);
    assert_int_equal(mcr_fit(&model, options, kernel, data, NULL), MCR_STOPPED);
    assert_null(model);
    mcr_cancel(ctx, 0);
    test_ok(ctx, mcr_fit(&model, options, kernel, data, NULL));
    mcr_model_free(model);
    mcr_kernel_free(kernel);
    mcr_options_close(options);
    mcr_data_free(data);
}

static void stops_built_in_learners(void **state)
{
    (void)state;
    enum { COUNT = 100 }; /* so few that no other loop is long enough to look for the request */
    static const char *const learners[] = {"logistic", "erm", "pegasos"};
    for (int t = 0; t < 3; t++) {
        meeting m = {.phase = learners[t]};
        mcr_config config = {.size = sizeof config, .progress = wait_for_cancel, .user = &m};
        mcr_data *data = NULL;
        pthread_t other;
        assert_int_equal(mcr_open(&m.ctx, &config), MCR_OK);
        test_ok(m.ctx, mcr_data_sample(&data, m.ctx, "moons", COUNT, 0.3));
        assert_int_equal(pthread_create(&other, NULL, cancel_it, &m), 0);
        mcr_model *model = fit_built_in(m.ctx, learners[t], data);
        pthread_join(other, NULL);
        assert_int_equal(mcr_model_report(model)->stop, MCR_STOP_INTERRUPTED);
        /* The best so far is a model: with the request withdrawn it predicts. */
        double value[COUNT];
        mcr_cancel(m.ctx, 0);
        test_ok(m.ctx, mcr_predict(m.ctx, model, data, value, NULL, NULL));
        for (int i = 0; i < COUNT; i++)
            assert_true(isfinite(value[i]));
        mcr_model_free(model);
        /* A request stays in force for later calls, until it is withdrawn. */
        mcr_cancel(m.ctx, 1);
        int before = m.reports;
        model = fit_built_in(m.ctx, learners[t], data);
        assert_int_equal(mcr_model_report(model)->stop, MCR_STOP_INTERRUPTED);
        assert_true(m.reports > before);
        mcr_model_free(model);
        mcr_cancel(m.ctx, 0);
        model = fit_built_in(m.ctx, learners[t], data);
        assert_int_not_equal(mcr_model_report(model)->stop, MCR_STOP_INTERRUPTED);
        mcr_model_free(model);
        mcr_data_free(data);
        mcr_close(m.ctx);
    }
}

static mcr_status register_all(mcr *ctx, void *arg)
{
    (void)arg;
    wish w = {.outputs = 1};
    calls c = {.caller = pthread_self()};
    mcr_learner_spec spec = make_spec(&w, MCR_CLASSIFY);
    mcr_callback call = make_callback(&c, true);
    mcr_data *data = NULL;
    mcr_kernel *kernel = NULL;
    mcr_options *options = NULL;
    mcr_model *model = NULL;
    mcr_status s = mcr_kernel_callback(ctx, &call);
    assert_int_equal(c.released, s != MCR_OK);
    if (!s)
        s = mcr_learner_register(ctx, &spec);
    if (!s)
        s = mcr_data_sample(&data, ctx, "moons", 10, -1);
    if (!s)
        s = mcr_kernel_parse(&kernel, ctx, "own");
    if (!s)
        s = mcr_options_open(&options, ctx, "constant");
    if (!s)
        s = mcr_fit(&model, options, kernel, data, NULL);
    mcr_model_free(model);
    mcr_options_close(options);
    mcr_kernel_free(kernel);
    mcr_data_free(data);
    mcr_extensions_free(ctx);
    assert_int_equal(c.released, 1);
    return s;
}

static void survives_failures(void **state)
{
    (void)state;
    assert_true(test_sweep_allocations("extensions", register_all, NULL) > 10);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, test_setup, test_teardown)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(computes_by_callback),
        TEST(trains_by_callback),
        TEST(shares_safe_callbacks),
        TEST(registers_learners),
        TEST(refuses_bad_learners),
        TEST(stops_from_another_thread),
        cmocka_unit_test(stops_built_in_learners),
        TEST(stops_without_a_result),
        cmocka_unit_test(survives_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
