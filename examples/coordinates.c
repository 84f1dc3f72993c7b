/* coordinates.c: coordinates of objects from C: principal components and what they leave of a
 * picture of the data, discriminants of classes, what two kinds of fields have in common.
 *
 *     cc coordinates.c $(pkg-config --cflags --libs mercer) -lm -o coordinates && ./coordinates
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <mercer/mercer.h>

enum { N = 200 };

static mcr_status train(mcr_model **out, mcr *ctx, const mcr_data *data, const char *learner,
                        const char *kernel_text, const char *option, const char *value)
{
    mcr_options *options = NULL;
    mcr_kernel *kernel = NULL;
    mcr_status status = mcr_options_open(&options, ctx, learner);
    if (!status)
        status = mcr_options_set(options, option, value);
    if (!status)
        status = mcr_kernel_parse(&kernel, ctx, kernel_text);
    if (!status)
        status = mcr_fit(out, options, kernel, data, NULL);
    mcr_kernel_free(kernel);
    mcr_options_close(options);
    return status;
}

/* Noisy points of two moons, and where the first components say that they belong. */
static mcr_status components(mcr *ctx, int *good)
{
    mcr_data *data = NULL;
    mcr_model *model = NULL;
    double vectors[N * 2], point[2], moved = 0;
    mcr_status status = mcr_data_sample(&data, ctx, "moons", N, 0.1);
    if (!status)
        status = train(&model, ctx, data, "pca", "rbf(gamma=2)", "components", "8");
    if (!status)
        status = mcr_preimage(ctx, model, data, vectors);
    for (int i = 0; i < N && !status; i++) {
        status = mcr_data_vector(data, 0, i, point);
        moved += hypot(vectors[2 * i] - point[0], vectors[2 * i + 1] - point[1]) / N;
    }
    if (!status) {
        const mcr_report_fit *r = mcr_model_report(model);
        printf("pca: the first of %d components has %.0f %% of the variance; pre-images are %.2f "
               "from their objects\n",
               (int)r->variances, 100 * r->variance[0] / r->total_variance, moved);
        *good &= moved < 0.3;
    }
    mcr_model_free(model);
    mcr_data_free(data);
    return status;
}

/* Two coordinates that tell three classes apart. */
static mcr_status discriminants(mcr *ctx, int *good)
{
    mcr_data *data = NULL;
    mcr_model *model = NULL;
    double plane[N * 2];
    mcr_status status = mcr_data_sample(&data, ctx, "blobs", N, -1);
    if (!status)
        status = train(&model, ctx, data, "fisher", "rbf(gamma=1)", "lambda", "0.01");
    if (!status)
        status = mcr_transform(ctx, model, data, plane);
    if (!status) {
        printf("fisher: the first object is at (%.2f, %.2f); accuracy %.3f\n", plane[0], plane[1],
               mcr_model_report(model)->accuracy);
        *good &= mcr_model_report(model)->accuracy > 0.95;
    }
    mcr_model_free(model);
    mcr_data_free(data);
    return status;
}

/* Molecules and measurements of the same objects. */
static mcr_status correlations(mcr *ctx, int *good)
{
    mcr_data *data = NULL;
    mcr_model *model = NULL;
    mcr_status status = mcr_data_sample(&data, ctx, "mixed", N, -1);
    if (!status)
        status = train(&model, ctx, data, "cca", "rbf(x, gamma=0.1)", "kernel2",
                       "normalize(wl(molecule, h=2))");
    if (!status) {
        const mcr_report_fit *r = mcr_model_report(model);
        printf("cca: %d pairs of coordinates, the first correlated by %.2f\n", (int)r->correlations,
               r->correlation[0]);
        *good &= r->correlations == 2 && r->correlation[0] > 0.2;
    }
    mcr_model_free(model);
    mcr_data_free(data);
    return status;
}

int main(void)
{
    mcr *ctx = NULL;
    int good = 1;
    mcr_status status = mcr_open(&ctx, NULL);
    if (!status)
        status = components(ctx, &good);
    if (!status)
        status = discriminants(ctx, &good);
    if (!status)
        status = correlations(ctx, &good);
    if (status)
        fprintf(stderr, "%s: %s\n", mcr_status_name(status), ctx ? mcr_message(ctx) : "");
    mcr_close(ctx);
    return status == MCR_OK && good ? 0 : 1;
}
