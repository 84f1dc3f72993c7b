/* plot.c: a picture of a model, and the numbers that are in it.
 *
 *     cc plot.c $(pkg-config --cflags --libs mercer) -o plot && ./plot
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include <mercer/mercer.h>

/* Trains on half-moons, writes the boundary as SVG into memory and reads the area under the ROC
 * curve off another figure. */
static mcr_status draw(mcr *ctx, const mcr_model *model, const mcr_data *data)
{
    mcr_figure *figure = NULL;
    mcr_plot plot = {.size = sizeof plot, .model = model, .data = data};
    const char *bytes;
    size_t count;
    mcr_status s = mcr_figure_open(&figure, ctx, &plot); /* of the kind that suits */
    if (!s)
        s = mcr_figure_draw(figure, "svg", NULL, &bytes, &count);
    if (!s)
        printf("%s: %zu bytes of SVG, %g support vectors\n", mcr_figure_kind(figure), count,
               mcr_figure_number(figure, "support_vectors"));
    mcr_figure_close(figure);
    if (s)
        return s;
    plot.kind = "roc";
    s = mcr_figure_open(&figure, ctx, &plot);
    if (!s)
        printf("%s: area %.4f\n", mcr_figure_kind(figure), mcr_figure_number(figure, "auc"));
    mcr_figure_close(figure);
    return s;
}

int main(void)
{
    mcr *ctx = NULL;
    mcr_data *data = NULL;
    mcr_kernel *kernel = NULL;
    mcr_options *options = NULL;
    mcr_model *model = NULL;
    if (mcr_open(&ctx, NULL) != MCR_OK)
        return 1;
    mcr_status s = mcr_data_sample(&data, ctx, "moons", 200, 0.2);
    if (!s)
        s = mcr_kernel_parse(&kernel, ctx, "rbf(gamma=2)");
    if (!s)
        s = mcr_options_open(&options, ctx, "svm");
    if (!s)
        s = mcr_fit(&model, options, kernel, data, NULL);
    if (!s)
        s = draw(ctx, model, data);
    if (s)
        fprintf(stderr, "%s\n", mcr_message(ctx));
    mcr_model_free(model);
    mcr_options_close(options);
    mcr_kernel_free(kernel);
    mcr_data_free(data);
    mcr_close(ctx);
    return s != MCR_OK;
}
