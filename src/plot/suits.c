/* suits.c: which kinds of figures are possible for a model and data, and the messages if one is
 * not.
 *
 * The default kind and the lists of possible kinds are both derived from `suits`, so that a refusal
 * never proposes a kind that would be refused as well.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "plot/plotting.h"

enum { CLASSIFY = 1u << MCR_CLASSIFY, REGRESS = 1u << MCR_REGRESS, DETECT = 1u << MCR_DETECT };

static bool is_of(const mcr_plotting *p, unsigned tasks)
{
    return p->model && (1u << p->report->task & tasks);
}

static bool has_targets(const mcr_plotting *p)
{
    return p->data && mcr_data_target_count(p->data) > 0;
}

int64_t mcr_plot_strings(const mcr_data *data)
{
    for (int64_t i = 0; data && i < data->fields; i++)
        if (data->store[i]->kind == MCR_STRINGS)
            return i;
    return -1;
}

/* ---- each kind ------------------------------------------------------------------------------ */

static bool boundary(const mcr_plotting *p)
{
    int64_t cols = mcr_plane_columns(p);
    if (!is_of(p, CLASSIFY | DETECT))
        return false;
    return cols > 1 || (cols == 0 && p->model->fitted->rule != MCR_RULE_OWN);
}

static bool surface(const mcr_plotting *p)
{
    return is_of(p, REGRESS) && mcr_plane_columns(p) > 0;
}

static bool band(const mcr_plotting *p)
{
    return surface(p) && mcr_model_has_std(p->model);
}

static bool projection(const mcr_plotting *p)
{
    return p->model && mcr_model_has_coordinates(p->model);
}

static bool clusters(const mcr_plotting *p)
{
    return is_of(p, 1u << MCR_CLUSTER);
}

static bool gram(const mcr_plotting *p)
{
    return p->model || p->how->kernel;
}

/* One value per class, or one for two classes. */
static bool roc(const mcr_plotting *p)
{
    if (!is_of(p, CLASSIFY | DETECT) || !has_targets(p))
        return false;
    if (p->report->task == MCR_DETECT)
        return mcr_data_target_kind(p->data) == MCR_REAL_TARGETS;
    int64_t outputs = mcr_model_outputs(p->model);
    return mcr_model_has_probability(p->model) || outputs == 1 ||
           (outputs == mcr_model_classes(p->model) && p->model->fitted->rule != MCR_RULE_PAIRS);
}

static bool calibration(const mcr_plotting *p)
{
    return is_of(p, CLASSIFY) && has_targets(p) && mcr_model_has_probability(p->model);
}

static bool confusion(const mcr_plotting *p)
{
    return is_of(p, CLASSIFY) && has_targets(p) &&
           mcr_model_classes(p->model) <= MCR_PLOT_CONFUSION;
}

static bool residuals(const mcr_plotting *p)
{
    return is_of(p, REGRESS) && has_targets(p) && mcr_data_target_count(p->data) == 1 &&
           mcr_data_target_kind(p->data) == MCR_REAL_TARGETS;
}

static bool tuning(const mcr_plotting *p)
{
    return p->model && mcr_model_tuning(p->model);
}

static bool learning(const mcr_plotting *p)
{
    return (is_of(p, CLASSIFY | REGRESS) || (!p->model && p->how->options)) && has_targets(p) &&
           mcr_data_count(p->data) >= MCR_PLOT_LEARNING;
}

static bool path(const mcr_plotting *p)
{
    return learning(p) && (p->how->along || mcr_plot_usual_range(p));
}

static bool importance(const mcr_plotting *p)
{
    int64_t cols = mcr_plane_columns(p);
    mcr_features *features = NULL;
    if (!is_of(p, CLASSIFY | REGRESS))
        return false;
    if (p->data && (cols > 0 || mcr_data_fields(p->data) > 1))
        return has_targets(p) && cols <= MCR_PLOT_SHUFFLED;
    bool can = mcr_model_features(&features, p->ctx, p->model) == MCR_OK;
    mcr_features_close(features);
    return can;
}

/* Unknown without a column. */
static bool dependence(const mcr_plotting *p)
{
    return is_of(p, CLASSIFY | REGRESS) && p->data && p->how->x;
}

static bool logo(const mcr_plotting *p)
{
    if (p->model)
        return p->model->basis->fields == 1 && mcr_plot_strings(p->model->basis) == 0 &&
               mcr_plot_longest(p) > 0;
    int64_t field = mcr_plot_strings(p->data), first = -1, size = 0;
    const char *bytes;
    for (int64_t i = 0; field >= 0 && i < mcr_data_count(p->data); i++) {
        if (mcr_data_string(p->data, field, i, &bytes, &size) || (first >= 0 && size != first))
            return false;
        first = size;
    }
    return first > 0 && first <= MCR_PLOT_POSITIONS;
}

static bool data(const mcr_plotting *p)
{
    for (int64_t i = 0; p->data && i < p->data->fields; i++) {
        mcr_kind kind = p->data->store[i]->kind;
        if (kind == MCR_DENSE || kind == MCR_SPARSE || kind == MCR_STRINGS || kind == MCR_GRAPHS)
            return true;
    }
    return false;
}

static const struct {
    const char *kind;
    bool (*suits)(const mcr_plotting *p);
} tests[] = {
#define spectrum   gram
#define pr         roc
#define PLOT(name) {#name, name},
#include "plot/plots.def"
#undef PLOT
#undef spectrum
#undef pr
};

enum { TESTS = sizeof tests / sizeof *tests };

static bool suits(const mcr_plotting *p, const char *kind)
{
    for (int i = 0; i < TESTS; i++)
        if (strcmp(tests[i].kind, kind) == 0)
            return tests[i].suits(p);
    return false;
}

/* ---- choosing ------------------------------------------------------------------------------- */

static const char *usual(const mcr_plotting *p)
{
    if (!p->model)
        return p->how->kernel ? "gram" : "data";
    if (mcr_model_has_coordinates(p->model))
        return "projection";
    int64_t cols = mcr_plane_columns(p);
    switch (p->report->task) {
    case MCR_REGRESS:
        if (cols == 1)
            return mcr_model_has_std(p->model) ? "band" : "surface";
        return cols == 2 || p->how->x || !p->data ? "surface" : "residuals";
    case MCR_CLUSTER: return "clusters";
    case MCR_TRANSFORM: return "projection";
    case MCR_CLASSIFY:
    case MCR_DETECT:
    case MCR_EITHER: break;
    }
    if (cols == 1 && has_targets(p) && p->report->task == MCR_CLASSIFY)
        return "confusion";
    return logo(p) ? "logo" : "boundary";
}

const char *mcr_plot_choose(const mcr_plotting *p)
{
    const char *kind = usual(p);
    for (int i = 0; i < TESTS && !suits(p, kind); i++)
        if (tests[i].suits(p))
            return tests[i].kind;
    return kind;
}

/* ---- refusing ------------------------------------------------------------------------------- */

mcr_status mcr_plot_refuse(const mcr_plotting *p, mcr_status status, const char *format, ...)
{
    char text[320], list[320] = "";
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    for (int i = 0; i < TESTS; i++) {
        size_t used = strlen(list);
        if (strcmp(tests[i].kind, p->f->kind) != 0 && tests[i].suits(p))
            snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "", tests[i].kind);
    }
    return *list ? mcr_fail(p->ctx, status, "%s; possible here: %s", text, list)
                 : mcr_fail(p->ctx, status, "%s", text);
}

mcr_status mcr_plot_needs(const mcr_plotting *p, const char *what)
{
    return mcr_plot_refuse(p, MCR_BAD_CALL, "%s needs %s", p->f->kind, what);
}

mcr_status mcr_plot_needs_all(const mcr_plotting *p, const mcr_plot_type *type)
{
    static const char *const of[] = {
        [MCR_CLASSIFY] = "a classifier",
        [MCR_REGRESS] = "a regression",
        [MCR_DETECT] = "outlier detection",
        [MCR_CLUSTER] = "clusters",
        [MCR_TRANSFORM] = "coordinates (pca, fisher, cca)",
    };
    if (type->tasks && !is_of(p, type->tasks)) {
        int first = 1;
        while (!(type->tasks & 1u << first))
            first++;
        return mcr_plot_refuse(p, MCR_BAD_CALL, "%s needs a model of %s", p->f->kind, of[first]);
    }
    if (type->data && !p->data)
        return mcr_plot_needs(p, "data in addition to the model: objects with their targets");
    return type->targets ? mcr_plot_needs_targets(p) : MCR_OK;
}

mcr_status mcr_plot_needs_targets(const mcr_plotting *p)
{
    return has_targets(p) ? MCR_OK
                          : mcr_plot_refuse(p, MCR_BAD_DATA,
                                            "%s needs targets, and the data have none", p->f->kind);
}
