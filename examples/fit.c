/* fit.c: trains a support vector machine from C, looks at its certificate, and predicts.
 *
 *     cc fit.c $(pkg-config --cflags --libs mercer) -o fit && ./fit
 *
 * Everything that can fail returns a status; mcr_message() then says in one line what is wrong.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>

#include <mercer/mercer.h>

/* The moons of one seed. */
static mcr_status make_moons(mcr_data **out, mcr **ctx, uint64_t seed)
{
    const mcr_config config = {.size = sizeof config, .seed = seed};
    mcr_status status = mcr_open(ctx, &config);
    return status ? status : mcr_data_sample(out, *ctx, "moons", 400, 0.2);
}

static mcr_status train(mcr_model **out, mcr *ctx, const mcr_data *data)
{
    mcr_options *options = NULL;
    mcr_kernel *kernel = NULL;
    mcr_status status = mcr_options_open(&options, ctx, "svm");
    if (!status)
        status = mcr_options_set(options, "C", "10");
    if (!status)
        status = mcr_options_set(options, "tol", "1e-6");
    if (!status)
        status = mcr_kernel_parse(&kernel, ctx, "rbf(gamma=2)");
    if (!status)
        status = mcr_fit(out, options, kernel, data, NULL);
    mcr_kernel_free(kernel);
    mcr_options_close(options);
    return status;
}

/* How far the result is from the best one, recomputed after training. */
static int show_certificate(const mcr_report_fit *r)
{
    printf("%s with %s: %lld support vectors of %lld\n", r->learner, r->kernel,
           (long long)r->support, (long long)r->n);
    printf("stopped: %s; %s %.1e, tolerance %.1e\n", mcr_stop_name(r->stop), r->certificate,
           r->value, r->tolerance);
    printf("primal %.9g, dual %.9g, gap %.1e\n", r->primal, r->dual, r->gap);
    return r->stop == MCR_STOP_OPTIMAL && r->value <= r->tolerance;
}

static mcr_status evaluate(mcr *ctx, const mcr_model *model, const mcr_data *data, double *accuracy)
{
    mcr_metrics metrics = MCR_INIT(mcr_metrics);
    double *value = malloc((size_t)mcr_data_count(data) * sizeof *value);
    if (!value)
        return MCR_NO_MEMORY;
    mcr_status status = mcr_predict(ctx, model, data, value, NULL, NULL);
    if (!status)
        status = mcr_model_score(ctx, model, data, value, &metrics);
    if (!status) {
        printf("the first new object: class %s\n", mcr_model_class_name(model, (int64_t)value[0]));
        *accuracy = metrics.accuracy;
    }
    free(value);
    return status;
}

int main(void)
{
    mcr *ctx = NULL, *other = NULL;
    mcr_data *data = NULL, *unseen = NULL;
    mcr_model *model = NULL;
    double accuracy = 0;
    int good = 0;
    mcr_status status = make_moons(&data, &ctx, 1);
    if (!status)
        status = train(&model, ctx, data);
    if (!status)
        good = show_certificate(mcr_model_report(model));
    if (!status)
        status = make_moons(&unseen, &other, 2);
    if (!status)
        status = evaluate(ctx, model, unseen, &accuracy);
    if (status)
        fprintf(stderr, "%s: %s\n", mcr_status_name(status), ctx ? mcr_message(ctx) : "");
    else
        printf("accuracy on new objects: %.3f\n", accuracy);
    mcr_model_free(model);
    mcr_data_free(unseen);
    mcr_data_free(data);
    mcr_close(other);
    mcr_close(ctx);
    return status == MCR_OK && good && accuracy > 0.9 ? 0 : 1;
}
