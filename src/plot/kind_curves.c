/* kind_curves.c: validation curves over a parameter, and learning curves.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <string.h>

#include "base/params.h"
#include "base/random.h"
#include "plot/plotting.h"
#include "select/select.h"

enum { MOST_OBJECTS = 4000, SIZES = 8, REPEATS = 5, LEAST = 8 };

/* Errors at several positions: on the training objects, and on held-out objects. */
typedef struct errors {
    int64_t count;
    double *x, *trained, *tested, *low, *high;
    const char *name;   /* "error", "mean squared error" */
    const char *metric; /* of mcr_cv */
    bool share;         /* 1 - accuracy */
} errors;

static mcr_status open_errors(mcr_plotting *p, errors *e, int64_t count, mcr_task task)
{
    e->x = mcr_blocks_reals(&p->f->pool, count);
    e->trained = mcr_blocks_reals(&p->f->pool, count);
    e->tested = mcr_blocks_reals(&p->f->pool, count);
    e->low = mcr_blocks_reals(&p->f->pool, count);
    e->high = mcr_blocks_reals(&p->f->pool, count);
    e->share = task == MCR_CLASSIFY;
    e->metric = e->share ? "accuracy" : "mse";
    e->name = e->share ? "share of errors" : "mean squared error";
    return e->x && e->trained && e->tested && e->low && e->high ? MCR_OK : MCR_NO_MEMORY;
}

static mcr_status add_curve(mcr_plotting *p, mcr_panel *panel, const errors *e, const char *name,
                            double *y, int ink)
{
    mcr_mark *m = mcr_panel_over(p->f, panel, MCR_MARK_LINE, name, e->count, e->x, y);
    if (!m)
        return MCR_NO_MEMORY;
    m->ink = (mcr_ink)ink;
    m->legend = true;
    m->width = 2;
    m = mcr_panel_over(p->f, panel, MCR_MARK_POINTS, name, e->count, e->x, y);
    if (!m)
        return MCR_NO_MEMORY;
    m->ink = (mcr_ink)ink;
    m->shape = ink ? MCR_SHAPE_DIAMOND : MCR_SHAPE_CIRCLE;
    m->size = 6.5;
    return MCR_OK;
}

static mcr_status draw(mcr_plotting *p, const errors *e, const char *axis, bool ratio)
{
    mcr_panel *panel = mcr_frame_panel(p->f, 0, 0);
    mcr_mark *m = panel ? mcr_panel_over(p->f, panel, MCR_MARK_BAND, "± standard deviation",
                                         e->count, e->x, e->tested)
                        : NULL;
    if (!m)
        return MCR_NO_MEMORY;
    m->low = e->low;
    m->high = e->high;
    m->ink = MCR_INK_CLASS + 1;
    m->alpha = 0.16;
    m->legend = true;
    mcr_status s = add_curve(p, panel, e, "training objects", e->trained, 0);
    if (!s)
        s = add_curve(p, panel, e, "held-out objects", e->tested, 1);
    panel->x = (mcr_axis){.label = mcr_blocks_text(&p->f->pool, axis), .log = ratio};
    panel->y = (mcr_axis){.label = e->name, .zero = true};
    p->f->aspect = 0.6;
    return s;
}

static void set_held_out(errors *e, int64_t k, double mean, double std)
{
    e->tested[k] = mean;
    std = isfinite(std) ? std : 0;
    e->low[k] = e->share ? fmax(0, mean - std) : fmax(mean - std, 0);
    e->high[k] = mean + std;
}

/* Prepares learner and data, with few enough objects to train many times. */
static mcr_status take_data(mcr_plotting *p, mcr_data **out, mcr_task *task)
{
    int64_t count;
    *out = NULL;
    if (!p->data || (!p->model && !p->how->options))
        return mcr_plot_needs(p, "a model of a classifier or a regression, and its data");
    if (p->model && p->report->task != MCR_CLASSIFY && p->report->task != MCR_REGRESS)
        return mcr_plot_needs(p, "a model of a classifier or a regression");
    mcr_status s = mcr_plot_needs_targets(p);
    if (!s && p->model)
        *task = p->report->task;
    else if (!s)
        s = mcr_task_of(task, p->how->options, p->data);
    if (!s && *task != MCR_CLASSIFY && *task != MCR_REGRESS)
        return mcr_fail(p->ctx, MCR_BAD_CALL, "%s is for classifiers and regressions", p->f->kind);
    int64_t *row = s ? NULL : mcr_plot_thin(p, mcr_data_count(p->data), MOST_OBJECTS, &count);
    if (!s)
        s = row ? mcr_data_select(out, p->data, (mcr_rows){row, 0, count}) : MCR_NO_MEMORY;
    return s;
}

static double training_error(const mcr_model *m, bool share)
{
    const mcr_report_fit *r = mcr_model_report(m);
    return share ? 1 - r->accuracy : r->mse;
}

/* ---- along a parameter ---------------------------------------------------------------------- */

static mcr_status try_value(mcr_plotting *p, errors *e, const mcr_data *data,
                            const mcr_splits *splits, const char *name, double value, int64_t k)
{
    mcr_options *options = NULL;
    mcr_kernel *kernel = NULL;
    mcr_model *model = NULL;
    mcr_cv_report *cv = NULL;
    mcr_status s = mcr_plot_vary(p, name, value, &options, &kernel);
    if (!s)
        s = mcr_fit(&model, options, kernel, data, NULL);
    if (!s)
        s = mcr_cv(&cv, options, kernel, data, splits, e->metric, NULL);
    if (!s) {
        double mean = cv->metric[0]->mean;
        e->x[k] = value;
        e->trained[k] = training_error(model, e->share);
        set_held_out(e, k, e->share ? 1 - mean : mean, cv->metric[0]->std);
    }
    mcr_cv_free(p->ctx, cv);
    mcr_model_free(model);
    mcr_kernel_free(kernel);
    mcr_options_close(options);
    return s;
}

const char *mcr_plot_usual_range(const mcr_plotting *p)
{
    static const char *const usual[][2] = {{"C", "C=0.01:1000:log11"},
                                           {"lambda", "lambda=1e-6:100:log9"},
                                           {"nu", "nu=0.05:0.5:7"},
                                           {"neighbors", "neighbors=1:15:8"},
                                           {"noise", "noise=0.0001:10:log11"}};
    const mcr_learner_type *type = p->model          ? p->model->type
                                   : p->how->options ? p->how->options->type
                                                     : NULL;
    for (size_t i = 0; type && i < sizeof usual / sizeof *usual; i++)
        if (mcr_params_find(type->params, usual[i][0], strlen(usual[i][0])))
            return usual[i][1];
    return NULL;
}

static mcr_status make_path(mcr_plotting *p)
{
    mcr_data *data = NULL;
    mcr_splits *splits = NULL;
    mcr_task task = MCR_CLASSIFY;
    mcr_reals values = {0};
    errors e = {0};
    const char *name = NULL, *range = p->how->along ? p->how->along : mcr_plot_usual_range(p);
    mcr_status s = take_data(p, &data, &task);
    if (!s && !range)
        s = mcr_plot_needs(p, "a parameter to follow, as a range: gamma=0.01:100:log9");
    if (!s)
        s = mcr_plot_range(p, range, &name, &values);
    if (!s)
        s = open_errors(p, &e, values.count, task);
    if (!s)
        s = mcr_splits_open(&splits, p->ctx, data, NULL);
    for (int64_t k = 0; k < values.count && !s; k++)
        s = try_value(p, &e, data, splits, name, values.values[k], k);
    e.count = values.count;
    bool ratio = strstr(range ? range : "", ":log") != NULL;
    int64_t best = 0;
    for (int64_t k = 0; k < e.count && !s; k++)
        best = e.tested[k] < e.tested[best] ? k : best;
    if (!s)
        s = draw(p, &e, name, ratio);
    if (!s) {
        mcr_figure_set_number(p->f, "best", e.x[best]);
        mcr_plot_title(p, "Error along %.40s: lowest at %s", name,
                       mcr_plot_number(p, e.x[best], 3));
        mcr_plot_subtitle(p, "%s; 5 folds of %lld objects",
                          p->model ? mcr_plot_made_by(p) : p->how->options->type->name,
                          (long long)mcr_data_count(data));
    }
    mcr_splits_close(splits);
    mcr_data_free(data);
    return s;
}

const mcr_plot_type mcr_plot_path = {
    {"path", "training and held-out error along C, lambda or another parameter",
     "a model and its data"},
    .make = make_path,
};

/* ---- against the number of objects ---------------------------------------------------------- */

typedef struct course {
    mcr_plotting *p;
    const mcr_data *data;
    mcr_options *options;
    mcr_kernel *kernel;
    mcr_task task;
    int64_t *order, n, held; /* the last `held` of the order are never trained on */
} course;

/* A random order in which every prefix has the classes in proportion. */
static mcr_status shuffle(course *c, uint64_t number)
{
    mcr_random r = mcr_random_stream(mcr_seed(c->p->ctx), "learning curve", number);
    int64_t *mixed = mcr_blocks_take(&c->p->scratch, c->n, sizeof *mixed);
    double *key = mcr_blocks_reals(&c->p->scratch, c->n);
    if (!mixed || !key)
        return MCR_NO_MEMORY;
    for (int64_t i = 0; i < c->n; i++)
        mixed[i] = i;
    mcr_random_shuffle(&r, mixed, c->n);
    const int32_t *class_of = c->task == MCR_CLASSIFY ? mcr_data_class_of(c->data) : NULL;
    int64_t classes = class_of ? mcr_data_classes(c->data) : 0;
    int64_t *seen = mcr_blocks_take(&c->p->scratch, classes + 1, sizeof *seen);
    int64_t *all = mcr_blocks_take(&c->p->scratch, classes + 1, sizeof *all);
    if (!seen || !all)
        return MCR_NO_MEMORY;
    memcpy(c->order, mixed, (size_t)c->n * sizeof *mixed);
    if (!class_of)
        return MCR_OK;
    for (int64_t i = 0; i < c->n; i++)
        all[class_of[i]]++;
    /* The next object is of the class that is furthest behind its proportion. */
    int64_t *next = mcr_blocks_take(&c->p->scratch, classes, sizeof *next);
    if (!next)
        return MCR_NO_MEMORY;
    for (int64_t i = 0; i < c->n; i++) {
        int64_t pick = -1;
        for (int64_t k = 0; k < classes; k++) {
            if (seen[k] == all[k])
                continue;
            double behind = ((double)seen[k] + 0.5) / (double)all[k];
            if (pick < 0 || behind < ((double)seen[pick] + 0.5) / (double)all[pick])
                pick = k;
        }
        while (class_of[mixed[next[pick]]] != pick)
            next[pick]++;
        c->order[i] = mixed[next[pick]++];
        seen[pick]++;
    }
    return MCR_OK;
}

static mcr_status try_size(course *c, int64_t size, double *trained, double *tested)
{
    mcr_plotting *p = c->p;
    mcr_data *train = NULL, *test = NULL;
    mcr_model *model = NULL;
    mcr_metrics metrics = MCR_INIT(mcr_metrics);
    bool share = c->task == MCR_CLASSIFY;
    double *value = mcr_alloc(p->ctx, (size_t)c->held, sizeof *value);
    mcr_status s = value ? MCR_OK : MCR_NO_MEMORY;
    if (!s)
        s = mcr_data_select(&train, c->data, (mcr_rows){c->order, 0, size});
    if (!s)
        s = mcr_data_select(&test, c->data, (mcr_rows){c->order + c->n - c->held, 0, c->held});
    if (!s)
        s = mcr_fit(&model, c->options, c->kernel, train, NULL);
    if (!s)
        s = mcr_predict(p->ctx, model, test, value, NULL, NULL);
    if (!s)
        s = mcr_model_score(p->ctx, model, test, value, &metrics);
    if (!s) {
        *trained = training_error(model, share);
        *tested = share ? 1 - metrics.accuracy : metrics.mse;
    }
    mcr_model_free(model);
    mcr_data_free(test);
    mcr_data_free(train);
    mcr_free(p->ctx, value);
    return s;
}

static mcr_status follow(course *c, errors *e)
{
    int64_t most = c->n - c->held;
    int64_t least = c->task == MCR_CLASSIFY ? 4 * mcr_data_classes(c->data) : LEAST;
    least = least < most ? least > LEAST ? least : LEAST : most;
    double tested[SIZES][REPEATS], trained[SIZES][REPEATS];
    mcr_status s = MCR_OK;
    e->count = 0;
    for (int k = 0; k < SIZES; k++) {
        double size = round((double)least * pow((double)most / (double)least, k / (SIZES - 1.0)));
        if (!e->count || size > e->x[e->count - 1])
            e->x[e->count++] = size;
    }
    for (int repeat = 0; repeat < REPEATS && !s; repeat++) {
        s = shuffle(c, (uint64_t)repeat);
        for (int64_t k = 0; k < e->count && !s; k++)
            s = try_size(c, (int64_t)e->x[k], &trained[k][repeat], &tested[k][repeat]);
        if (!s)
            s = mcr_part_done(c->p->ctx, "learning curve", (repeat + 1.0) / REPEATS, 0);
    }
    for (int64_t k = 0; k < e->count && !s; k++) {
        e->trained[k] = mcr_mean(trained[k], REPEATS);
        set_held_out(e, k, mcr_mean(tested[k], REPEATS),
                     mcr_standard_deviation(tested[k], REPEATS));
    }
    return s;
}

static mcr_status make_learning(mcr_plotting *p)
{
    course c = {.p = p};
    errors e = {0};
    mcr_data *data = NULL;
    mcr_status s = take_data(p, &data, &c.task);
    if (!s)
        s = mcr_plot_vary(p, NULL, 0, &c.options, &c.kernel);
    c.data = data;
    c.n = s ? 0 : mcr_data_count(data);
    c.held = c.n / 5;
    if (!s && c.n < MCR_PLOT_LEARNING)
        s = mcr_plot_refuse(p, MCR_BAD_DATA,
                            "a learning curve needs %d objects at least; there are %lld",
                            MCR_PLOT_LEARNING, (long long)c.n);
    c.order = mcr_blocks_take(&p->scratch, c.n, sizeof *c.order);
    if (!s && !c.order)
        s = MCR_NO_MEMORY;
    if (!s)
        s = open_errors(p, &e, SIZES, c.task);
    if (!s)
        s = follow(&c, &e);
    if (!s)
        s = draw(p, &e, "training objects", true);
    if (!s) {
        mcr_figure_set_number(p->f, "held_out", e.tested[e.count - 1]);
        mcr_plot_title(p, "Learning curve: %s %s in the end", e.name,
                       mcr_plot_number(p, e.tested[e.count - 1], 3));
        mcr_plot_subtitle(p, "%s; means of %d random orders, %lld objects held out",
                          p->model ? mcr_plot_made_by(p) : p->how->options->type->name, REPEATS,
                          (long long)c.held);
    }
    mcr_data_free(data);
    mcr_kernel_free(c.kernel);
    mcr_options_close(c.options);
    return s;
}

const mcr_plot_type mcr_plot_learning = {
    {"learning", "the learning curve: errors against the number of training objects",
     "a model and its data"},
    .make = make_learning,
};
