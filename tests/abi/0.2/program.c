/* program.c: a program of version 0.2, compiled with its headers, run on the current library.
 *
 * Each struct that the library fills is followed by a guard that must not change.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include <mercer/mercer.h>

#define GUARD 0x5aa5c33cL

#define GUARDED(type)                                                                              \
    struct {                                                                                       \
        type it;                                                                                   \
        long guard;                                                                                \
    }
#define START(type)                                                                                \
    {                                                                                              \
        .it = MCR_INIT(type), .guard = GUARD                                                       \
    }

static int failed;

static void expect(const char *what, int holds)
{
    if (!holds) {
        printf("not as it was: %s\n", what);
        failed = 1;
    }
}

static int reports;

static int on_progress(void *user, const mcr_progress *now)
{
    (void)user;
    reports += now->size >= sizeof *now;
    return 0;
}

static double product(const mcr_bound *bound, int64_t i, int64_t j)
{
    double x[2], z[2];
    mcr_bound_vector(bound, 0, i, x);
    mcr_bound_vector(bound, 1, j, z);
    return x[0] * z[0] + x[1] * z[1];
}

static void describe(mcr *ctx, const mcr_data *data)
{
    GUARDED(mcr_kernel_info) kernel = START(mcr_kernel_info);
    GUARDED(mcr_learner_info) learner = START(mcr_learner_info);
    GUARDED(mcr_metric_info) metric = START(mcr_metric_info);
    GUARDED(mcr_plot_info) plot = START(mcr_plot_info);
    GUARDED(mcr_field_info) field = START(mcr_field_info);
    expect("kernels", !mcr_kernel_describe(ctx, 0, &kernel.it) && kernel.it.name);
    expect("learners", !mcr_learner_describe(0, &learner.it) && learner.it.params);
    expect("metrics", !mcr_metric_describe(0, &metric.it) && metric.it.summary);
    expect("plots", !mcr_plot_describe(0, &plot.it) && plot.it.needs);
    expect("fields", !mcr_data_field_info(data, 0, &field.it) && field.it.cols == 2);
    expect("guards of descriptions", kernel.guard == GUARD && learner.guard == GUARD &&
                                         metric.guard == GUARD && plot.guard == GUARD &&
                                         field.guard == GUARD);
}

static void use_model(mcr *ctx, const mcr_model *model, const mcr_data *data)
{
    enum { N = 40 };
    double value[N];
    GUARDED(mcr_metrics) score = START(mcr_metrics);
    GUARDED(mcr_verification) found = START(mcr_verification);
    GUARDED(mcr_bounds) bounds = START(mcr_bounds);
    const mcr_report_fit *report = mcr_model_report(model);
    expect("report", report->size >= sizeof *report && strcmp(report->learner, "svm") == 0);
    expect("predict", !mcr_predict(ctx, model, data, value, NULL, NULL));
    expect("score", !mcr_model_score(ctx, model, data, value, &score.it) && score.it.n == N);
    expect("verify", !mcr_model_verify(ctx, model, data, NULL, &found.it) && found.it.agrees);
    expect("bounds", !mcr_model_bounds(ctx, model, data, 0.05, &bounds.it) && bounds.it.count > 0);
    expect("guards of a model",
           score.guard == GUARD && found.guard == GUARD && bounds.guard == GUARD);
}

static void choose(const mcr_options *options, const mcr_data *data, mcr *ctx)
{
    static const char *const kernels[] = {"rbf(gamma=1:4:log2)"};
    const mcr_split_plan plan = {.size = sizeof plan, .folds = 2};
    const mcr_search search = {
        .size = sizeof search, .kernel = kernels, .kernels = 1, .split = &plan};
    mcr_model *model = NULL;
    mcr_tune_report *tuned = NULL;
    expect("tune", !mcr_tune(&model, &tuned, options, &search, data) && tuned->points > 1);
    expect("points", tuned && tuned->point[1]->size >= sizeof(mcr_point));
    mcr_tune_free(ctx, tuned);
    mcr_model_free(model);
}

static void draw(mcr *ctx, const mcr_model *model, const mcr_data *data)
{
    const mcr_plot plot = {.size = sizeof plot, .model = model, .data = data, .kind = "roc"};
    const mcr_draw how = {.size = sizeof how, .width = 300};
    mcr_figure *figure = NULL;
    const char *bytes = NULL;
    size_t count = 0;
    expect("figure", !mcr_figure_open(&figure, ctx, &plot));
    expect("svg", figure && !mcr_figure_draw(figure, "svg", &how, &bytes, &count) && count > 0);
    mcr_figure_close(figure);
}

int main(void)
{
    const mcr_config config = {.size = sizeof config, .threads = 2, .progress = on_progress};
    const mcr_kernel_type type = {
        .size = sizeof type, .name = "own", .kinds = MCR_DENSE, .summary = "x.z", .pair = product};
    mcr *ctx = NULL;
    mcr_data *data = NULL;
    mcr_kernel *kernel = NULL;
    mcr_options *options = NULL;
    mcr_model *model = NULL;
    mcr_status s = mcr_open(&ctx, &config);
    if (!s)
        s = mcr_kernel_register(ctx, &type);
    if (!s)
        s = mcr_data_sample(&data, ctx, "moons", 40, -1);
    if (!s)
        s = mcr_kernel_parse(&kernel, ctx, "rbf(gamma=2) + own");
    if (!s)
        s = mcr_options_open(&options, ctx, "svm");
    if (!s)
        s = mcr_fit(&model, options, kernel, data, NULL);
    expect(mcr_message(ctx), s == MCR_OK);
    if (!s) {
        describe(ctx, data);
        use_model(ctx, model, data);
        choose(options, data, ctx);
        draw(ctx, model, data);
        expect("progress", reports > 0);
    }
    mcr_model_free(model);
    mcr_options_close(options);
    mcr_kernel_free(kernel);
    mcr_data_free(data);
    mcr_close(ctx);
    return failed;
}
