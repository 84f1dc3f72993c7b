/* test_sharing.c: what several threads may share, as <mercer/context.h> says: data, kernels and
 * models, each thread with a context of its own. ./check runs this with ThreadSanitizer.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <string.h>

#include <mercer/mercer.h>

#include "helpers.h"

enum { N = 120, THREADS = 3, ROUNDS = 6 };

typedef struct shared {
    const mcr_data *data;
    const mcr_kernel *kernel;
    const mcr_model *model;
    const char *learner;
    double value[N], score[N]; /* what one thread alone found */
} shared;

typedef struct user {
    const shared *common;
    pthread_barrier_t *start; /* all begin at once */
    int number;
    const char *fault; /* NULL: none */
} user;

static const char *predict(mcr *ctx, const shared *s)
{
    double value[N], score[N];
    if (mcr_predict(ctx, s->model, s->data, value, score, NULL))
        return "predict";
    if (memcmp(value, s->value, sizeof value) != 0 || memcmp(score, s->score, sizeof score) != 0)
        return "predictions differ";
    return strcmp(mcr_model_report(s->model)->learner, s->learner) == 0 ? NULL : "the report";
}

/* Owners come and go, views are made of the same data, calls fail in the data's own context. */
static const char *use_data(const shared *s, int number)
{
    mcr_data *own = mcr_data_retain(s->data), *view = NULL;
    mcr_status status = mcr_data_select(&view, own, (mcr_rows){NULL, number, N / 2});
    int64_t count = view ? mcr_data_count(view) : 0;
    mcr_data_free(view);
    mcr_data_free(own);
    if (status || count != N / 2)
        return "a view";
    mcr_field_info info = MCR_INIT(mcr_field_info);
    return mcr_data_field_info(s->data, 7, &info) == MCR_BAD_CALL ? NULL : "a fault is not seen";
}

static const char *train(mcr *ctx, const shared *s)
{
    mcr_options *options = NULL;
    mcr_model *model = NULL;
    double value[N];
    mcr_status status = mcr_options_open(&options, ctx, s->learner);
    if (!status)
        status = mcr_fit(&model, options, s->kernel, s->data, NULL);
    if (!status)
        status = mcr_predict(ctx, model, s->data, value, NULL, NULL);
    mcr_model_free(model);
    mcr_options_close(options);
    return status ? "training" : memcmp(value, s->value, sizeof value) ? "models differ" : NULL;
}

static void *work(void *arg)
{
    user *u = arg;
    const mcr_config config = {.size = sizeof config, .threads = 1 + u->number % 2};
    mcr *ctx = NULL;
    if (mcr_open(&ctx, &config))
        u->fault = "a context";
    pthread_barrier_wait(u->start);
    for (int round = 0; round < ROUNDS && !u->fault; round++) {
        u->fault = predict(ctx, u->common);
        if (!u->fault)
            u->fault = use_data(u->common, u->number);
        if (!u->fault && round == 0)
            u->fault = train(ctx, u->common);
    }
    mcr_close(ctx);
    return NULL;
}

/* The context that made everything trains, too, while the others work. */
static void share(mcr *ctx, shared *s)
{
    pthread_t thread[THREADS];
    user users[THREADS];
    pthread_barrier_t start;
    assert_int_equal(pthread_barrier_init(&start, NULL, THREADS + 1), 0);
    for (int t = 0; t < THREADS; t++) {
        users[t] = (user){.common = s, .start = &start, .number = t};
        assert_int_equal(pthread_create(&thread[t], NULL, work, &users[t]), 0);
    }
    pthread_barrier_wait(&start);
    const char *fault = train(ctx, s);
    for (int t = 0; t < THREADS; t++)
        assert_int_equal(pthread_join(thread[t], NULL), 0);
    pthread_barrier_destroy(&start);
    for (int t = 0; t < THREADS; t++)
        if (users[t].fault)
            fail_msg("%s: %s", s->learner, users[t].fault);
    if (fault)
        fail_msg("%s: %s", s->learner, fault);
}

static void test_shared(void **context)
{
    static const struct {
        const char *sample, *kernel, *learner;
    } cases[] = {{"moons", "rbf(gamma=2)", "svm"},
                 {"moons", "laplace(gamma=1)", "knn"},
                 {"motifs", "spectrum(p=3)", "logistic"}};
    mcr *ctx = *context;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        shared s = {.learner = cases[c].learner};
        mcr_data *data = NULL;
        mcr_kernel *kernel = NULL;
        mcr_options *options = NULL;
        mcr_model *model = NULL;
        test_ok(ctx, mcr_data_sample(&data, ctx, cases[c].sample, N, -1));
        test_ok(ctx, mcr_kernel_parse(&kernel, ctx, cases[c].kernel));
        test_ok(ctx, mcr_options_open(&options, ctx, s.learner));
        test_ok(ctx, mcr_fit(&model, options, kernel, data, NULL));
        assert_int_equal(mcr_model_outputs(model), 1);
        test_ok(ctx, mcr_predict(ctx, model, data, s.value, s.score, NULL));
        s.data = data;
        s.kernel = kernel;
        s.model = model;
        share(ctx, &s);
        mcr_model_free(model);
        mcr_options_close(options);
        mcr_kernel_free(kernel);
        mcr_data_free(data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_shared, test_setup, test_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
