/* online.c: learning from a stream from C: a perceptron that goes on with each new part of the
 * data, and never keeps more than 60 support vectors.
 *
 *     cc online.c $(pkg-config --cflags --libs mercer) -o online && ./online
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include <mercer/mercer.h>

enum { PART = 200, PARTS = 10 };

/* The first part makes a model, each other one goes on from it. */
static mcr_status learn(mcr_model **model, const mcr_options *options, const mcr_kernel *kernel,
                        const mcr_data *part)
{
    mcr_model *next = NULL;
    mcr_status status = *model ? mcr_fit_more(&next, options, kernel, part, *model)
                               : mcr_fit(&next, options, kernel, part, NULL);
    if (status)
        return status;
    mcr_model_free(*model);
    *model = next;
    return MCR_OK;
}

static mcr_status run(mcr *ctx, double *accuracy, int64_t *support)
{
    mcr_options *options = NULL;
    mcr_kernel *kernel = NULL;
    mcr_data *all = NULL, *part = NULL;
    mcr_model *model = NULL;
    double value[PART];
    mcr_metrics metrics = MCR_INIT(mcr_metrics);
    mcr_status status = mcr_options_open(&options, ctx, "perceptron");
    if (!status)
        status = mcr_options_set(options, "passes", "1");
    if (!status)
        status = mcr_options_set(options, "budget", "60");
    if (!status)
        status = mcr_kernel_parse(&kernel, ctx, "rbf(gamma=2)");
    if (!status)
        status = mcr_data_sample(&all, ctx, "moons", PART * PARTS, -1);
    for (int64_t p = 0; p < PARTS && !status; p++) {
        status = mcr_data_select(&part, all, (mcr_rows){NULL, p * PART, PART});
        if (!status && model) { /* how good it is before it sees them */
            status = mcr_predict(ctx, model, part, value, NULL, NULL);
            if (!status)
                status = mcr_model_score(ctx, model, part, value, &metrics);
            printf("part %d: accuracy %.3f, %d support vectors\n", (int)p + 1, metrics.accuracy,
                   (int)mcr_model_support(model));
        }
        if (!status)
            status = learn(&model, options, kernel, part);
        mcr_data_free(part);
        part = NULL;
    }
    *accuracy = metrics.accuracy;
    *support = model ? mcr_model_support(model) : 0;
    mcr_model_free(model);
    mcr_data_free(all);
    mcr_kernel_free(kernel);
    mcr_options_close(options);
    return status;
}

int main(void)
{
    mcr *ctx = NULL;
    double accuracy = 0;
    int64_t support = 0;
    mcr_status status = mcr_open(&ctx, NULL);
    if (!status)
        status = run(ctx, &accuracy, &support);
    if (status)
        fprintf(stderr, "%s: %s\n", mcr_status_name(status), ctx ? mcr_message(ctx) : "");
    mcr_close(ctx);
    return status == MCR_OK && accuracy > 0.8 && support <= 60 ? 0 : 1;
}
