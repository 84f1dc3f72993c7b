/* fuzz_uses.c: what is done with a model besides predicting: its certificate is verified, it is
 * explained, exported for every target and drawn in every way, all with the data that the models of
 * the corpus were trained on. Each call succeeds or says why not, and ends when asked to stop.
 * Pictures take longest: one kind is drawn of each input, chosen by its bytes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz_framing.h"

#include <math.h>
#include <time.h>

#include <mercer/export.h>
#include <mercer/plot.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

/* ---- stopping ---------------------------------------------------------------------------------*/

static double processor_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double deadline;

static int is_late(void *user, const mcr_progress *now)
{
    (void)user;
    (void)now;
    return processor_seconds() > deadline;
}

/* The calls that follow have half a second together, and are late after four more. */
static void start_clock(void)
{
    deadline = processor_seconds() + 0.5;
}

static void check_call(mcr *ctx, mcr_status status, const char *what)
{
    if (status == MCR_OK || mcr_message(ctx)[0]) {
        if (processor_seconds() <= deadline + 4)
            return;
        fprintf(stderr, "%s did not stop\n", what);
    } else {
        fprintf(stderr, "%s failed without a message\n", what);
    }
    abort();
}

/* ---- the data ---------------------------------------------------------------------------------*/

enum { SETS = 3 };

/* Two classes, three classes, numbers. */
static mcr_data *training(mcr *ctx, uint32_t set)
{
    static const char *const text[SETS] = {
        "a,b,y\n0.5,1,1\n1.5,-1,-1\n2,0.25,1\n-1,-1.5,-1\n0,2,1\n1,1,1\n-2,0.5,-1\n-0.5,-1,-1\n"
        "1.25,0.75,1\n-1.75,-0.25,-1\n0.75,-2,-1\n2.5,1.5,1\n",
        "a,b,y\n0.5,1,r\n1.5,-1,s\n2,0.25,t\n-1,-1.5,s\n0,2,r\n1,1,t\n-2,0.5,r\n-0.5,-1,s\n"
        "1.25,0.75,t\n-1.75,-0.25,r\n0.75,-2,s\n2.5,1.5,t\n",
        "a,b,y\n0.5,1,1.5\n1.5,-1,0.25\n2,0.25,2.5\n-1,-1.5,-2\n0,2,1.75\n1,1,2\n-2,0.5,-1\n"
        "-0.5,-1,-1.25\n1.25,0.75,2.25\n-1.75,-0.25,-2.5\n0.75,-2,-0.75\n2.5,1.5,3.5\n",
    };
    mcr_read_options options = {.size = sizeof options, .format = "csv", .target = "y"};
    mcr_data *data;
    if (mcr_data_read_memory(&data, ctx, "data", text[set], strlen(text[set]), &options) != MCR_OK)
        abort();
    return data;
}

/* ---- the uses ---------------------------------------------------------------------------------*/

static void verify(mcr *ctx, const mcr_model *model, const mcr_data *data)
{
    mcr_verification v = MCR_INIT(mcr_verification);
    mcr_status status = mcr_model_verify(ctx, model, data, NULL, &v);
    check_call(ctx, status, "verify");
    if (status == MCR_OK && !v.agrees && v.value.agrees && v.primal.agrees && v.dual.agrees &&
        v.gap.agrees && v.objective.agrees && !v.fault[0])
        abort(); /* it does not hold, and nobody knows why */
}

static void explain(mcr *ctx, const mcr_model *model, const mcr_data *data)
{
    mcr_importance_report *report = NULL;
    check_call(ctx, mcr_model_importance(&report, ctx, model, data, NULL, 2), "importance");
    mcr_importance_free(ctx, report);
    report = NULL;
    check_call(ctx, mcr_model_shapley(&report, ctx, model, data, 0, 0, 5), "shapley");
    mcr_importance_free(ctx, report);
    mcr_bounds bounds = MCR_INIT(mcr_bounds);
    check_call(ctx, mcr_model_bounds(ctx, model, data, 0.05, &bounds), "bounds");
    int64_t support[4], found;
    double distance[4];
    check_call(ctx, mcr_model_nearest(ctx, model, data, 0, 4, support, distance, &found),
               "nearest");
}

static void look_closely(mcr *ctx, const mcr_model *model)
{
    int64_t n = mcr_model_support(model);
    mcr_coefficient *row = calloc((size_t)n + 1, sizeof *row);
    double offset, square;
    mcr_features *features = NULL;
    if (!row)
        abort();
    for (int64_t o = 0; o < mcr_model_outputs(model) && o < 4; o++)
        check_call(ctx, mcr_model_dual(ctx, model, o, row, &offset, &square), "dual");
    mcr_status status = mcr_model_features(&features, ctx, model);
    check_call(ctx, status, "features");
    if (status == MCR_OK) {
        double *weight = calloc((size_t)mcr_features_count(features) + 1, sizeof *weight);
        if (!weight)
            abort();
        status = mcr_model_weights(ctx, model, features, 0, weight, &offset);
        check_call(ctx, status, "weights");
        free(weight);
    }
    mcr_features_close(features);
    free(row);
}

static void say_more(mcr *ctx, const mcr_model *model, const mcr_data *data)
{
    size_t n = (size_t)mcr_data_count(data), k = (size_t)mcr_model_classes(model);
    size_t outputs = (size_t)mcr_model_outputs(model);
    double *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b), *c = malloc(n * sizeof *c);
    unsigned char *set = malloc(n * k + 1);
    double *coordinates = malloc(n * outputs * sizeof *coordinates);
    if (!a || !b || !c || !set || !coordinates)
        abort();
    check_call(ctx, mcr_predict_std(ctx, model, data, a, b), "standard deviations");
    check_call(ctx, mcr_predict_interval(ctx, model, data, 0.9, a, b, c), "intervals");
    check_call(ctx, mcr_predict_set(ctx, model, data, 0.9, a, set), "sets of classes");
    check_call(ctx, mcr_predict_draws(ctx, model, data, 1, a), "draws");
    check_call(ctx, mcr_transform(ctx, model, data, coordinates), "coordinates");
    int64_t features;
    if (mcr_preimage_features(ctx, model, &features) == MCR_OK) {
        double *vectors = malloc(n * (size_t)features * sizeof *vectors + 1);
        if (!vectors)
            abort();
        check_call(ctx, mcr_preimage_near(ctx, model, data, vectors, a), "pre-images");
        free(vectors);
    }
    free(a);
    free(b);
    free(c);
    free(set);
    free(coordinates);
}

static void export_all(mcr *ctx, const mcr_model *model)
{
    for (int64_t i = 0; i < mcr_export_count(); i++) {
        mcr_export_info info = MCR_INIT(mcr_export_info);
        mcr_export_report report = MCR_INIT(mcr_export_report);
        if (mcr_export_describe(i, &info) != MCR_OK)
            abort();
        mcr_export_options options = {.size = sizeof options};
        check_call(ctx, mcr_model_export(ctx, model, info.name, &options, "/dev/null", &report),
                   info.name);
        options.numbers = "int8";
        check_call(ctx, mcr_model_export(ctx, model, info.name, &options, "/dev/null", &report),
                   info.name);
    }
}

static void draw(mcr *ctx, const mcr_model *model, const mcr_data *data, uint32_t choice)
{
    mcr_plot_info info = MCR_INIT(mcr_plot_info);
    mcr_figure *figure = NULL;
    if (mcr_plot_describe(choice % mcr_plot_count(), &info) != MCR_OK)
        abort();
    mcr_plot plot = {.size = sizeof plot, .kind = info.name, .model = model, .data = data};
    mcr_status status = mcr_figure_open(&figure, ctx, &plot);
    check_call(ctx, status, info.name);
    const char *bytes;
    size_t count;
    if (status == MCR_OK)
        check_call(ctx, mcr_figure_draw(figure, "svg", NULL, &bytes, &count), info.name);
    mcr_figure_close(figure);
}

static void check_uses(const uint8_t *bytes, size_t count)
{
    mcr_config config = {.size = sizeof config,
                         .threads = 1,
                         .memory_bytes = (size_t)16 << 20,
                         .progress = is_late,
                         .blas = "own"};
    mcr *ctx;
    if (mcr_open(&ctx, &config) != MCR_OK)
        abort();
    start_clock();
    uint32_t choice = mcr_checksum(bytes, count);
    mcr_model *model = fuzz_load(ctx, bytes, count);
    if (model) {
        look_closely(ctx, model);
        export_all(ctx, model);
        draw(ctx, model, NULL, choice);
    }
    for (uint32_t set = 0; model && set < SETS; set++) {
        mcr_data *data = training(ctx, set);
        start_clock();
        verify(ctx, model, data);
        explain(ctx, model, data);
        say_more(ctx, model, data);
        if (choice / 64 % SETS == set)
            draw(ctx, model, data, choice);
        mcr_data_free(data);
    }
    mcr_model_free(model);
    mcr_close(ctx);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    if (count >= HEADER && memcmp(bytes, mcr_model_magic, MCR_MODEL_MAGIC_BYTES) == 0)
        check_framed(check_uses, bytes, count);
    else
        check_uses(bytes, count);
    return 0;
}
