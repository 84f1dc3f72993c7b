/* gp.c: a Gaussian process from C: scales by the likelihood, values with standard deviations, and
 * the principal components of the same objects.
 *
 *     cc gp.c $(pkg-config --cflags --libs mercer) -o gp && ./gp
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include <mercer/mercer.h>

enum { TRAINING = 120, NEW = 5 };

static mcr_status train(mcr_model **out, mcr *ctx, const char *learner, const mcr_data *data)
{
    mcr_options *options = NULL;
    mcr_kernel *kernel = NULL;
    mcr_status status = mcr_options_open(&options, ctx, learner);
    if (!status)
        status = mcr_kernel_parse(&kernel, ctx, "rbf(gamma=1)");
    if (!status)
        status = mcr_fit(out, options, kernel, data, NULL);
    mcr_kernel_free(kernel);
    mcr_options_close(options);
    return status;
}

static mcr_status show_values(mcr *ctx, const mcr_data *data, const mcr_data *new_ones)
{
    double value[NEW], std[NEW];
    mcr_model *model = NULL;
    mcr_status status = train(&model, ctx, "gp", data);
    if (!status) {
        const mcr_report_fit *report = mcr_model_report(model);
        printf("%s, log likelihood %.4f\n", report->kernel, report->objective);
        status = mcr_predict_std(ctx, model, new_ones, value, std);
    }
    for (int i = 0; i < NEW && !status; i++)
        printf("value %7.4f, standard deviation %.4f\n", value[i], std[i]);
    mcr_model_free(model);
    return status;
}

static mcr_status show_components(mcr *ctx, const mcr_data *data, const mcr_data *new_ones)
{
    double coordinate[NEW * 2]; /* two components by default */
    mcr_model *model = NULL;
    mcr_status status = train(&model, ctx, "pca", data);
    if (!status)
        status = mcr_transform(ctx, model, new_ones, coordinate);
    for (int i = 0; i < NEW && !status; i++)
        printf("coordinates %7.4f %7.4f\n", coordinate[2 * i], coordinate[2 * i + 1]);
    mcr_model_free(model);
    return status;
}

int main(void)
{
    mcr *ctx = NULL;
    mcr_data *all = NULL, *data = NULL, *new_ones = NULL;
    if (mcr_open(&ctx, NULL) != MCR_OK)
        return 1;
    mcr_status status = mcr_data_sample(&all, ctx, "sinc", TRAINING + NEW, -1);
    if (!status)
        status = mcr_data_select(&data, all, (mcr_rows){NULL, 0, TRAINING});
    if (!status)
        status = mcr_data_select(&new_ones, all, (mcr_rows){NULL, TRAINING, NEW});
    if (!status)
        status = show_values(ctx, data, new_ones);
    if (!status)
        status = show_components(ctx, data, new_ones);
    if (status)
        fprintf(stderr, "%s\n", mcr_message(ctx));
    mcr_data_free(new_ones);
    mcr_data_free(data);
    mcr_data_free(all);
    mcr_close(ctx);
    return status != MCR_OK;
}
