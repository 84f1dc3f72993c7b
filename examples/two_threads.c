/* two_threads.c: two threads predict with one model at the same time.
 *
 *     cc two_threads.c $(pkg-config --cflags --libs mercer) -pthread -o two_threads &&
 *     ./two_threads
 *
 * Models and data sets do not change, so that threads may share them. A context is for one thread
 * at a time: each thread opens its own, and gives it to the calls that compute.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mercer/mercer.h>

enum { N = 500, TIMES = 20 };

typedef struct job {
    const mcr_model *model;
    const mcr_data *data;
    double value[N];
    mcr_status status;
    char message[256];
} job;

static void *predict(void *arg)
{
    job *j = arg;
    mcr_config config = MCR_INIT(mcr_config);
    mcr *ctx = NULL;
    config.threads = 1;
    j->status = mcr_open(&ctx, &config);
    for (int t = 0; t < TIMES && !j->status; t++)
        j->status = mcr_predict(ctx, j->model, j->data, j->value, NULL, NULL);
    if (j->status && ctx)
        snprintf(j->message, sizeof j->message, "%s", mcr_message(ctx));
    mcr_close(ctx);
    return NULL;
}

static mcr_status train(mcr_model **model, mcr_data **data, mcr *ctx)
{
    mcr_kernel *kernel = NULL;
    mcr_options *options = NULL;
    mcr_status status = mcr_data_sample(data, ctx, "moons", N, 0.2);
    if (!status)
        status = mcr_kernel_parse(&kernel, ctx, "rbf(gamma=2)");
    if (!status)
        status = mcr_options_open(&options, ctx, "svm");
    if (!status)
        status = mcr_fit(model, options, kernel, *data, NULL);
    mcr_options_close(options);
    mcr_kernel_free(kernel);
    return status;
}

int main(void)
{
    static job jobs[2];
    pthread_t thread[2];
    mcr *ctx = NULL;
    mcr_data *data = NULL;
    mcr_model *model = NULL;
    mcr_status status = mcr_open(&ctx, NULL);
    if (!status)
        status = train(&model, &data, ctx);
    for (int t = 0; t < 2 && !status; t++) {
        jobs[t].model = model;
        jobs[t].data = data;
        if (pthread_create(&thread[t], NULL, predict, &jobs[t]) != 0)
            return 1;
    }
    for (int t = 0; t < 2 && !status; t++)
        pthread_join(thread[t], NULL);
    int same = memcmp(jobs[0].value, jobs[1].value, sizeof jobs[0].value) == 0;
    for (int t = 0; t < 2; t++)
        if (jobs[t].status)
            fprintf(stderr, "two_threads: %s\n", jobs[t].message);
    if (!status)
        printf("two threads, %d predictions of %d objects each: %s\n", TIMES, N,
               same ? "the same" : "not the same");
    mcr_model_free(model);
    mcr_data_free(data);
    mcr_close(ctx);
    return status || jobs[0].status || jobs[1].status || !same;
}
