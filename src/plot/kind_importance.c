/* kind_importance.c: the importance of columns or features.
 *
 * With data: how much worse the predictions become if a column is shuffled (Breiman, 2001). Without
 * data: the weights of the model's explicit features, if its kernel has them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "plot/plotting.h"

enum { SHOWN = 20, SHUFFLES = 4 };

typedef struct item {
    double value;
    int64_t number;
    const char *name;
} item;

static int larger_first(const void *a, const void *b)
{
    const item *x = a, *y = b;
    if (fabs(x->value) != fabs(y->value))
        return fabs(x->value) > fabs(y->value) ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

/* The meaning of bars to the right and to the left, and their colours. */
typedef struct meaning {
    const char *name[2];
    mcr_ink ink[2];
    const char *axis;
} meaning;

static mcr_status add_bars(mcr_plotting *p, mcr_panel *panel, const item *list, int64_t shown,
                           int sign, const meaning *of)
{
    int64_t some = 0;
    for (int64_t i = 0; i < shown; i++)
        some += (list[i].value < 0) == sign;
    if (!some)
        return MCR_OK;
    mcr_mark *m = mcr_panel_xy(p->f, panel, MCR_MARK_BARS, of->name[sign], some);
    if (!m)
        return MCR_NO_MEMORY;
    for (int64_t i = 0, at = 0; i < shown; i++)
        if ((list[i].value < 0) == sign) {
            m->x[at] = (double)(shown - 1 - i);
            m->y[at++] = list[i].value;
        }
    m->width = 0.7;
    m->sideways = true;
    m->ink = of->ink[sign];
    return MCR_OK;
}

/* Draws the largest ones, in descending order of value. */
static mcr_status draw(mcr_plotting *p, item *list, int64_t count, const meaning *of)
{
    int64_t shown = count < SHOWN ? count : SHOWN;
    qsort(list, (size_t)count, sizeof *list, larger_first);
    qsort(list, (size_t)shown, sizeof *list, mcr_ranked_falling);
    mcr_panel *panel = mcr_frame_panel(p->f, 0, 0);
    const char **name = mcr_blocks_take(&p->f->pool, shown, sizeof *name);
    mcr_status s = panel && name ? MCR_OK : MCR_NO_MEMORY;
    for (int sign = 0; sign < 2 && !s; sign++)
        s = add_bars(p, panel, list, shown, sign, of);
    for (int64_t i = 0; !s && i < panel->count; i++)
        panel->mark[i].legend = panel->count > 1; /* otherwise the axis is sufficient */
    for (int64_t i = 0; i < shown && !s; i++) {
        name[shown - 1 - i] = mcr_blocks_text(&p->f->pool, list[i].name);
        s = name[shown - 1 - i] ? MCR_OK : MCR_NO_MEMORY;
    }
    if (s)
        return s;
    panel->x = (mcr_axis){.label = mcr_blocks_text(&p->f->pool, of->axis), .zero = true};
    panel->y = (mcr_axis){.names = name, .count = shown};
    p->f->aspect = 0.28 + 0.034 * (double)shown;
    return MCR_OK;
}

/* ---- shuffled columns ----------------------------------------------------------------------- */

/* Vectors have columns; of several fields each is one, too. */
static bool can_shuffle(const mcr_plotting *p)
{
    return p->data && (mcr_plane_columns(p) > 0 || mcr_data_fields(p->data) > 1);
}

static mcr_status by_shuffling(mcr_plotting *p)
{
    const bool share = p->report->task == MCR_CLASSIFY;
    const int64_t cols = mcr_plane_columns(p);
    mcr_importance_report *r = NULL;
    item *list = NULL;
    mcr_status s = mcr_plot_needs_targets(p);
    if (!s && cols > MCR_PLOT_SHUFFLED)
        s = mcr_plot_refuse(p, MCR_BAD_CALL,
                            "importance shuffles each column, of which there are %lld: at most "
                            "%d; without data it needs explicit features of the kernel",
                            (long long)cols, MCR_PLOT_SHUFFLED);
    if (!s)
        s = mcr_model_importance(&r, p->ctx, p->model, p->data, share ? "accuracy" : "mse",
                                 SHUFFLES);
    if (!s && !(list = mcr_blocks_take(&p->scratch, r->count, sizeof *list)))
        s = MCR_NO_MEMORY;
    for (int64_t i = 0; !s && i < r->count; i++)
        list[i] = (item){r->item[i]->mean, i, r->item[i]->name};
    /* For a classifier the first colours are those of the classes, which these bars are not. */
    const meaning of = {{"worse when shuffled", "better when shuffled"},
                        {share ? MCR_INK_MUTED : mcr_class_ink(0), mcr_class_ink(6)},
                        share ? "share of errors added when the column is shuffled"
                              : "mean squared error added when the column is shuffled"};
    if (!s)
        s = draw(p, list, r->count, &of);
    if (!s) {
        mcr_figure_set_number(p->f, "error", share ? 1 - r->base : r->base);
        mcr_plot_title(p, "Importance of the columns");
        mcr_plot_subtitle(p, "%s; %lld objects, %d shuffles", mcr_plot_made_by(p), (long long)r->n,
                          SHUFFLES);
    }
    mcr_importance_free(p->ctx, r);
    return s;
}

/* ---- weights -------------------------------------------------------------------------------- */

/* A substring with visible spaces. */
static const char *visible(mcr_plotting *p, const char *name)
{
    static const char mark[] = "\u2423"; /* open box */
    size_t length = strlen(name), used = 0;
    bool strings = p->model->basis->fields == 1 && p->model->basis->store[0]->kind == MCR_STRINGS;
    char *text = strings ? mcr_blocks_take(&p->scratch, (int64_t)(3 * length + 1), 1) : NULL;
    if (!text)
        return name;
    for (; *name; name++) {
        if (*name == ' ') {
            memcpy(text + used, mark, sizeof mark - 1);
            used += sizeof mark - 1;
        } else {
            text[used++] = *name;
        }
    }
    text[used] = '\0';
    return text;
}

/* Positive weights support one class, negative ones another, in the colours of the classes. */
static meaning sides_of(mcr_plotting *p)
{
    int64_t class[2];
    meaning of = {
        {"raises the value", "lowers the value"}, {mcr_class_ink(0), mcr_class_ink(1)}, "weight"};
    mcr_model_sides(p->model, 0, &class[0], &class[1]);
    for (int k = 0; k < 2 && class[0] >= 0; k++) {
        const char *name = class[k] >= 0 ? mcr_model_class_name(p->model, class[k]) : NULL;
        const char *text = name ? mcr_blocks_format(&p->f->pool, "for class %.60s", name)
                                : "for the other classes";
        of.name[k] = text ? text : of.name[k];
        of.ink[k] = class[k] >= 0 ? mcr_class_ink(class[k]) : MCR_INK_MUTED;
    }
    if (class[0] >= 0)
        of.axis = mcr_blocks_format(&p->f->pool, "weight (right: %s, left: %s)", of.name[0],
                                    of.name[1]);
    return of;
}

static void say_weights(mcr_plotting *p, int64_t count)
{
    int64_t outputs = mcr_model_outputs(p->model), shown = count < SHOWN ? count : SHOWN;
    const char *more = "";
    if (outputs > 1)
        more = mcr_blocks_format(&p->scratch, " (the first of %lld decisions)", (long long)outputs);
    mcr_plot_title(p, "Weights of the features: %.80s%s", mcr_model_output_name(p->model, 0),
                   more ? more : "");
    mcr_plot_subtitle(p, "%s; the %lld largest of %lld features", mcr_plot_made_by(p),
                      (long long)shown, (long long)count);
}

static mcr_status by_weights(mcr_plotting *p)
{
    mcr_features *features = NULL;
    double offset;
    mcr_status s = mcr_model_features(&features, p->ctx, p->model);
    if (s == MCR_BAD_CALL)
        return mcr_plot_refuse(
            p, MCR_BAD_CALL,
            "importance without data needs a kernel with explicit features, such as "
            "linear or spectrum; with data and targets every kernel on vectors will do");
    int64_t count = s ? 0 : mcr_features_count(features);
    double *weight = mcr_blocks_reals(&p->scratch, count);
    item *list = mcr_blocks_take(&p->scratch, count, sizeof *list);
    if (!s && (!weight || !list))
        s = MCR_NO_MEMORY;
    if (!s)
        s = mcr_model_weights(p->ctx, p->model, features, 0, weight, &offset);
    for (int64_t i = 0; i < count && !s; i++)
        list[i] = (item){weight[i], i, visible(p, mcr_features_name(features, i))};
    meaning of = sides_of(p);
    if (!s)
        s = of.axis ? draw(p, list, count, &of) : MCR_NO_MEMORY;
    if (!s)
        say_weights(p, count);
    mcr_features_close(features);
    return s;
}

static mcr_status make(mcr_plotting *p)
{
    return can_shuffle(p) ? by_shuffling(p) : by_weights(p);
}

const mcr_plot_type mcr_plot_importance = {
    {"importance", "the columns or features that matter most",
     "a model; with data and targets: by shuffling columns; without: by weights"},
    .make = make,
    .tasks = 1u << MCR_CLASSIFY | 1u << MCR_REGRESS,
};
