/* threads.c: two threads predict with one model at the same time.
 *
 * Data, kernels and models may be shared; each thread has a context of its own. <mercer/context.h> says
 * what else holds.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include <mercer/mercer.h>

enum { THREADS = 2 };

typedef struct job {
    const mcr_model *model; /* shared */
    const mcr_data *data;   /* shared */
    double *value;          /* one per object */
    mcr_status status;
} job;

static void *predict(void *arg)
{
    job *j = arg;
    const mcr_config config = {.size = sizeof config, .threads = 1};
    mcr *ctx = NULL;
    j->status = mcr_open(&ctx, &config);
    if (!j->status)
        j->status = mcr_predict(ctx, j->model, j->data, j->value, NULL, NULL);
    mcr_close(ctx);
    return NULL;
}

/* Both threads must find the same. */
static int predict_together(const mcr_model *model, const mcr_data *data)
{
    size_t n = (size_t)mcr_data_count(data), same = 0;
    double *value = malloc(THREADS * n * sizeof *value);
    pthread_t thread[THREADS];
    job jobs[THREADS];
    int started = 0, good = value != NULL;
    for (; good && started < THREADS; started++) {
        jobs[started] = (job){model, data, value + (size_t)started * n, MCR_OK};
        if (pthread_create(&thread[started], NULL, predict, &jobs[started]) != 0)
            break;
    }
    good = good && started == THREADS;
    for (int t = 0; t < started; t++) {
        pthread_join(thread[t], NULL);
        good = good && jobs[t].status == MCR_OK;
    }
    for (size_t i = 0; good && i < n; i++)
        same += value[i] == value[n + i];
    printf("%d threads, %zu of %zu predictions are the same\n", started, same, n);
    free(value);
    return good && same == n;
}

int main(void)
{
    mcr *ctx = NULL;
    mcr_data *data = NULL;
    mcr_options *svm = NULL;
    mcr_model *model = NULL;
    if (mcr_open(&ctx, NULL))
        return 1;
    int good = !mcr_data_sample(&data, ctx, "moons", 400, -1) &&
               !mcr_options_open(&svm, ctx, "svm") && !mcr_fit(&model, svm, NULL, data, NULL);
    if (good)
        good = predict_together(model, data);
    else
        fprintf(stderr, "%s\n", mcr_message(ctx));
    mcr_model_free(model);
    mcr_options_close(svm);
    mcr_data_free(data);
    mcr_close(ctx); /* last: the data and the model live in its memory */
    return !good;
}
