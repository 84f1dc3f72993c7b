/* machines.c: models: training, what they predict in a plane, cross-validation, files, figures.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../cli/report.h"
#include "engine_impl.h"

enum { MOST_SUPPORT = 5000, MOST_OUTPUTS = 6, MOST_DRAWS = 8 };

/* ---- the plane --------------------------------------------------------------------------------*/

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Of each column, among evenly chosen objects; column is cols x shown. */
static mcr_status medians(const mcr_data *data, int64_t field, int64_t cols, double *column,
                          double *row, int64_t shown)
{
    int64_t n = mcr_data_count(data);
    for (int64_t r = 0; r < shown; r++) {
        mcr_status status = mcr_data_vector(data, field, studio_shown_object(r, shown, n), row);
        if (status)
            return status;
        for (int64_t c = 0; c < cols; c++)
            column[c * shown + r] = row[c];
    }
    for (int64_t c = 0; c < cols; c++) {
        qsort(column + c * shown, (size_t)shown, sizeof *column, by_value);
        row[c] = column[c * shown + shown / 2];
    }
    return MCR_OK;
}

typedef struct range {
    double from, to;
} range;

static range read_range(const studio_value *plane, const char *key)
{
    const studio_value *v = studio_find(plane, key);
    if (!v || v->type != STUDIO_LIST || v->count != 2 || v[1].type != STUDIO_NUMBER ||
        v[2].type != STUDIO_NUMBER)
        return (range){-1, 1};
    return (range){v[1].number, v[2].number};
}

static double place(range r, int64_t i, int64_t count)
{
    return count > 1 ? r.from + (r.to - r.from) * (double)i / (double)(count - 1) : r.from;
}

/* The points as a field of the same kind as the data's. */
static mcr_status build(studio *s, const mcr_field_info *field, const double *values, int64_t count,
                        mcr_data **out)
{
    mcr_builder *b = NULL;
    mcr_status status = mcr_builder_open(&b, s->ctx, count);
    if (status)
        return status;
    if (field->kind == MCR_DENSE) {
        status = mcr_builder_dense(b, field->name, values, field->cols, field->cols);
    } else {
        int64_t cells = count * field->cols;
        int64_t *start = malloc((size_t)(count + 1) * sizeof *start);
        int32_t *index = malloc((size_t)cells * sizeof *index);
        for (int64_t i = 0; i <= count && start; i++)
            start[i] = i * field->cols;
        for (int64_t i = 0; i < cells && index; i++)
            index[i] = (int32_t)(i % field->cols);
        status = start && index
                     ? mcr_builder_sparse(b, field->name, field->cols, start, index, values)
                     : studio_refuse(s, MCR_NO_MEMORY, "no memory for the plane");
        free(start);
        free(index);
    }
    if (!status)
        return mcr_builder_finish(out, b);
    mcr_builder_close(b);
    return status;
}

static mcr_status fill(studio *s, const mcr_data *data, const mcr_field_info *info, int64_t field,
                       const studio_plane *plane, mcr_data **out)
{
    const studio_value *call = studio_find(s->call, "plane");
    int64_t cols = info->cols, count = plane->nx * plane->ny, n = mcr_data_count(data);
    int64_t shown = cols > 2 ? studio_shown(n, 1000) : 0;
    int64_t x = studio_whole(call, "column", 0, 0, cols - 1);
    int64_t y = studio_whole(call, "row", cols > 1, 0, cols - 1);
    range across = read_range(call, "x"), up = read_range(call, "y");
    double *values = malloc((size_t)(count * cols + cols + cols * shown) * sizeof *values);
    if (!values)
        return studio_refuse(s, MCR_NO_MEMORY, "no memory for the plane");
    double *row = values + count * cols;
    mcr_status status = shown ? medians(data, field, cols, row + cols, row, shown) : MCR_OK;
    for (int64_t j = 0; j < plane->ny && !status; j++)
        for (int64_t i = 0; i < plane->nx; i++) {
            double *to = values + (j * plane->nx + i) * cols;
            if (cols > 2)
                memcpy(to, row, (size_t)cols * sizeof *to);
            if (plane->ny > 1)
                to[y] = place(up, j, plane->ny);
            to[x] = place(across, i, plane->nx);
        }
    if (!status)
        status = build(s, info, values, count, out);
    free(values);
    return status;
}

mcr_status studio_plane_data(studio *s, const mcr_data *data, studio_plane *plane, mcr_data **out)
{
    const studio_value *call = studio_find(s->call, "plane");
    mcr_field_info info = MCR_INIT(mcr_field_info);
    *out = NULL;
    if (!call || call->type != STUDIO_OBJECT)
        return MCR_OK;
    plane->nx = studio_whole(call, "nx", 80, 2, STUDIO_GRID);
    plane->ny = studio_whole(call, "ny", 80, 1, STUDIO_GRID);
    for (int64_t f = 0; f < mcr_data_fields(data); f++)
        if (mcr_data_field_info(data, f, &info) == MCR_OK &&
            (info.kind == MCR_DENSE || info.kind == MCR_SPARSE) && info.cols > 0) {
            if (mcr_data_fields(data) > 1 || info.cols > 2000)
                break;
            return fill(s, data, &info, f, plane, out);
        }
    return studio_refuse(s, MCR_BAD_DATA,
                         "a plane is shown of data that are one field of up to 2000 numbers");
}

/* ---- what a model predicts --------------------------------------------------------------------*/

static mcr_status classes_json(studio *s, const mcr_model *model, const mcr_data *points,
                               double *value, int64_t count)
{
    int64_t classes = mcr_model_classes(model);
    unsigned char *byte = malloc((size_t)count);
    mcr_status status = byte ? MCR_OK : studio_refuse(s, MCR_NO_MEMORY, "no memory for the plane");
    for (int64_t i = 0; i < count && !status; i++)
        byte[i] = (unsigned char)fmin(fmax(value[i], 0), 255);
    if (!status)
        status = studio_put_bytes(s, "value", byte, (size_t)count);
    free(byte);
    if (status || !mcr_model_has_probability(model) || classes > 10)
        return status;
    double *proba = malloc((size_t)(count * classes) * sizeof *proba);
    status = proba ? mcr_predict(s->ctx, model, points, NULL, NULL, proba)
                   : studio_refuse(s, MCR_NO_MEMORY, "no memory for the plane");
    if (!status)
        status = studio_put_floats(s, "proba", proba, count * classes);
    free(proba);
    return status;
}

static mcr_status spread_json(studio *s, const mcr_model *model, const mcr_data *points,
                              double *value, int64_t count)
{
    mcr_status status = mcr_predict_std(s->ctx, model, points, NULL, value);
    if (!status)
        status = studio_put_floats(s, "std", value, count);
    int64_t draws = studio_whole(studio_find(s->call, "plane"), "draws", 0, 0, MOST_DRAWS);
    if (status || draws == 0 || count > 600)
        return status;
    double *drawn = malloc((size_t)(count * draws) * sizeof *drawn);
    status = drawn ? mcr_predict_draws(s->ctx, model, points, draws, drawn)
                   : studio_refuse(s, MCR_NO_MEMORY, "no memory for the draws");
    if (!status)
        status = studio_put_floats(s, "draws", drawn, count * draws);
    free(drawn);
    return status;
}

/* Values, decision values, probabilities and standard deviations at the points. */
static mcr_status prediction_json(studio *s, const mcr_model *model, const mcr_data *points)
{
    int64_t count = mcr_data_count(points), outputs = mcr_model_outputs(model);
    mcr_task task = mcr_model_report(model)->task;
    int valued = task != MCR_TRANSFORM;
    double *value = malloc((size_t)(count * (outputs + 1)) * sizeof *value);
    double *score = value ? value + count : NULL;
    if (!value)
        return studio_refuse(s, MCR_NO_MEMORY, "no memory for the plane");
    mcr_status status = mcr_predict(s->ctx, model, points, valued ? value : NULL, score, NULL);
    cli_json_integer(&s->j, "outputs", outputs);
    if (!status && outputs <= MOST_OUTPUTS && task != MCR_CLUSTER)
        status = studio_put_floats(s, "score", score, count * outputs);
    if (!status && (task == MCR_CLASSIFY || task == MCR_CLUSTER))
        status = classes_json(s, model, points, value, count);
    if (!status && mcr_model_has_std(model) && task == MCR_REGRESS)
        status = spread_json(s, model, points, value, count);
    free(value);
    return status;
}

static mcr_status plane_json(studio *s, const mcr_model *model, const mcr_data *data)
{
    mcr_data *points = NULL;
    studio_plane plane;
    mcr_status status = studio_plane_data(s, data, &plane, &points);
    if (status || !points)
        return status;
    cli_json_object(&s->j, "plane");
    cli_json_integer(&s->j, "nx", plane.nx);
    cli_json_integer(&s->j, "ny", plane.ny);
    status = prediction_json(s, model, points);
    cli_json_end(&s->j);
    mcr_data_free(points);
    return status;
}

/* ---- what a model holds -----------------------------------------------------------------------*/

static void output_json(studio *s, const mcr_coefficient *row, int64_t support)
{
    cli_json *j = &s->j;
    cli_json_list(j, "object");
    for (int64_t i = 0; i < support; i++)
        cli_json_integer(j, NULL, row[i].object);
    cli_json_end(j);
    cli_json_list(j, "coef");
    for (int64_t i = 0; i < support; i++)
        cli_json_real(j, NULL, row[i].coef);
    cli_json_end(j);
    cli_json_list(j, "value");
    for (int64_t i = 0; i < support; i++)
        cli_json_real(j, NULL, row[i].value);
    cli_json_end(j);
    cli_json_list(j, "slack");
    for (int64_t i = 0; i < support; i++)
        cli_json_real(j, NULL, row[i].slack);
    cli_json_end(j);
    cli_json_list(j, "state");
    for (int64_t i = 0; i < support; i++)
        cli_json_integer(j, NULL, row[i].state);
    cli_json_end(j);
}

/* Coefficients of each output with the objects that they belong to; own: the objects are the
 * support vectors themselves. Models that predict otherwise have none: that is no fault. */
static mcr_status support_json(studio *s, const mcr_model *model, int own)
{
    int64_t support = mcr_model_support(model), outputs = mcr_model_outputs(model);
    mcr_coefficient *row = NULL;
    cli_json_list(&s->j, "outputs");
    if (support > 0 && support <= MOST_SUPPORT)
        row = malloc((size_t)support * sizeof *row);
    for (int64_t o = 0; o < outputs && o < MOST_OUTPUTS && row; o++) {
        double offset, square;
        mcr_status status = mcr_model_dual(s->ctx, model, o, row, &offset, &square);
        if (status == MCR_BAD_CALL)
            break;
        if (status) {
            free(row);
            return status;
        }
        cli_json_object(&s->j, NULL);
        cli_json_text(&s->j, "name", mcr_model_output_name(model, o));
        cli_json_real(&s->j, "offset", offset);
        cli_json_real(&s->j, "square", square);
        for (int64_t i = 0; i < support && own; i++)
            row[i].object = i;
        output_json(s, row, support);
        cli_json_end(&s->j);
    }
    cli_json_end(&s->j);
    free(row);
    return MCR_OK;
}

/* What the model predicts for its own training objects. */
static mcr_status train_json(studio *s, const mcr_model *model, const mcr_data *data)
{
    int64_t n = mcr_data_count(data), outputs = mcr_model_outputs(model);
    int coordinates = mcr_model_has_coordinates(model);
    if (n > STUDIO_SHOWN || n * outputs > 200000)
        return MCR_OK;
    double *value = malloc((size_t)(n * (outputs + 1)) * sizeof *value);
    double *score = value ? value + n : NULL;
    if (!value)
        return studio_refuse(s, MCR_NO_MEMORY, "no memory for the predictions");
    int valued = mcr_model_report(model)->task != MCR_TRANSFORM;
    mcr_status status = mcr_predict(s->ctx, model, data, valued ? value : NULL, score, NULL);
    if (!status && valued)
        cli_json_reals(&s->j, "train", value, n);
    if (!status && (coordinates || outputs == 1))
        status = studio_put_floats(s, "scores", score, n * outputs);
    free(value);
    return status;
}

static mcr_status model_json(studio *s, const mcr_model *model, const mcr_data *data, int own)
{
    cli_json *j = &s->j;
    cli_json_object(j, "report");
    cli_report_json(j, model);
    cli_json_end(j);
    cli_json_text(j, "task", mcr_task_name(mcr_model_report(model)->task));
    cli_json_list(j, "classes");
    for (int64_t c = 0; c < mcr_model_classes(model); c++)
        cli_json_text(j, NULL, mcr_model_class_name(model, c));
    cli_json_end(j);
    mcr_status status = support_json(s, model, own);
    if (!status)
        status = train_json(s, model, data);
    return status ? status : plane_json(s, model, data);
}

mcr_status studio_fit(studio *s)
{
    const mcr_data *data;
    mcr_options *options = NULL;
    mcr_kernel *kernel = NULL;
    mcr_model *model = NULL;
    mcr_status status = studio_data(s, &data);
    if (!status)
        status = studio_kernel(s, &kernel);
    if (!status)
        status = studio_options(s, &options);
    if (!status)
        status = mcr_fit(&model, options, kernel, data, NULL);
    if (!status)
        status = model_json(s, model, data, 0);
    if (!status) {
        mcr_model_free(s->model);
        s->model = model;
        model = NULL;
    }
    mcr_model_free(model);
    mcr_options_close(options);
    mcr_kernel_free(kernel);
    return status;
}

/* What is right of a model's predictions for data with targets. */
static mcr_status score_json(studio *s, const mcr_model *model, const mcr_data *data)
{
    mcr_metrics m = MCR_INIT(mcr_metrics);
    mcr_task task = mcr_model_report(model)->task;
    if (!mcr_data_targets(data) || (task != MCR_CLASSIFY && task != MCR_REGRESS))
        return MCR_OK;
    double *value = malloc((size_t)(mcr_data_count(data) + 1) * sizeof *value);
    if (!value)
        return studio_refuse(s, MCR_NO_MEMORY, "no memory for the predictions");
    mcr_status status = mcr_predict(s->ctx, model, data, value, NULL, NULL);
    if (!status)
        status = mcr_model_score(s->ctx, model, data, value, &m);
    free(value);
    if (status)
        return status == MCR_BAD_DATA ? MCR_OK : status; /* targets of another kind */
    cli_json_object(&s->j, "score");
    cli_json_real(&s->j, "accuracy", m.accuracy);
    cli_json_real(&s->j, "mse", m.mse);
    cli_json_real(&s->j, "r2", m.r2);
    cli_json_end(&s->j);
    return MCR_OK;
}

/* A model from a file, as it is: with data, or with its own support vectors. */
mcr_status studio_show(studio *s)
{
    const mcr_model *model;
    const mcr_data *data = NULL;
    int own = strcmp(studio_text(s->call, "data", ""), "model") == 0;
    mcr_status status = studio_model_file(s, &model);
    if (!status && !model)
        status = studio_refuse(s, MCR_BAD_CALL, "a model is needed");
    if (!status)
        status = studio_data(s, &data);
    if (!status && !own)
        status = score_json(s, model, data);
    return status ? status : model_json(s, model, data, own);
}

/* ---- cross-validation, files, figures ---------------------------------------------------------*/

static mcr_status validate(studio *s, const mcr_options *options, const mcr_kernel *kernel,
                           const mcr_data *data)
{
    mcr_split_plan plan = MCR_INIT(mcr_split_plan);
    mcr_splits *splits = NULL;
    mcr_cv_report *report = NULL;
    plan.folds = studio_whole(s->call, "folds", 5, 2, 20);
    mcr_status status = mcr_splits_open(&splits, s->ctx, data, &plan);
    if (!status)
        status = mcr_cv(&report, options, kernel, data, splits,
                        studio_text(s->call, "metric", NULL), NULL);
    if (!status) {
        cli_json_list(&s->j, "metrics");
        for (int64_t m = 0; m < report->metrics; m++) {
            cli_json_object(&s->j, NULL);
            cli_json_text(&s->j, "name", report->metric[m]->name);
            cli_json_real(&s->j, "mean", report->metric[m]->mean);
            cli_json_real(&s->j, "std", report->metric[m]->std);
            cli_json_end(&s->j);
        }
        cli_json_end(&s->j);
        mcr_cv_free(s->ctx, report);
    }
    mcr_splits_close(splits);
    return status;
}

mcr_status studio_cv(studio *s)
{
    const mcr_data *data;
    mcr_options *options = NULL;
    mcr_kernel *kernel = NULL;
    mcr_status status = studio_data(s, &data);
    if (!status)
        status = studio_kernel(s, &kernel);
    if (!status)
        status = studio_options(s, &options);
    if (!status)
        status = validate(s, options, kernel, data);
    mcr_options_close(options);
    mcr_kernel_free(kernel);
    return status;
}

mcr_status studio_model(studio *s)
{
    void *bytes = NULL;
    size_t count = 0;
    if (!s->model)
        return studio_refuse(s, MCR_BAD_CALL, "there is no model yet");
    mcr_status status = mcr_model_save_memory(&bytes, &count, s->ctx, s->model);
    if (!status)
        status = studio_put_bytes(s, "base64", bytes, count);
    mcr_bytes_free(s->ctx, bytes);
    return status;
}

static mcr_status draw(studio *s, mcr_plot *plot)
{
    const char *bytes = NULL, *format = studio_text(s->call, "format", "svg");
    const char *theme = studio_text(s->call, "theme", "auto");
    size_t count = 0;
    mcr_figure *figure = NULL;
    mcr_draw how = MCR_INIT(mcr_draw);
    how.width = (int)studio_whole(s->call, "width", 640, 100, 4000);
    how.height = (int)studio_whole(s->call, "height", 0, 0, 4000);
    how.theme = strcmp(theme, "dark") == 0    ? MCR_THEME_DARK
                : strcmp(theme, "light") == 0 ? MCR_THEME_LIGHT
                                              : MCR_THEME_AUTO;
    if (strcmp(format, "svg") != 0 && strcmp(format, "json") != 0)
        return studio_refuse(s, MCR_BAD_CALL, "figures are svg or json");
    mcr_status status = mcr_figure_open(&figure, s->ctx, plot);
    if (!status)
        status = mcr_figure_draw(figure, format, &how, &bytes, &count);
    if (!status) {
        cli_json_text(&s->j, "kind", mcr_figure_kind(figure));
        cli_json_raw(&s->j, "figure", bytes, count, *format == 'j');
    }
    mcr_figure_close(figure);
    return status;
}

mcr_status studio_figure(studio *s)
{
    mcr_plot plot = MCR_INIT(mcr_plot);
    mcr_kernel *kernel = NULL;
    mcr_status status = studio_data(s, &plot.data);
    if (!status)
        status = studio_kernel(s, &kernel);
    plot.kind = studio_text(s->call, "kind", NULL);
    plot.kernel = kernel;
    if (!status && !studio_flag(s->call, "bare"))
        status = studio_model_file(s, &plot.model);
    if (!plot.model && !studio_flag(s->call, "bare"))
        plot.model = s->model;
    if (!status)
        status = draw(s, &plot);
    mcr_kernel_free(kernel);
    return status;
}
