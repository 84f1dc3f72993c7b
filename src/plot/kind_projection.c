/* kind_projection.c: the coordinates of pca, fisher and cca, coloured by class or value.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "base/number.h"
#include "plot/plotting.h"

static mcr_status pick(mcr_plotting *p, const char *word, int64_t outputs, int64_t *to)
{
    if (!word)
        return MCR_OK;
    const char *end = word + strlen(word);
    if (mcr_parse_int(word, end, to) == end && *to >= 1 && *to <= outputs) {
        --*to;
        return MCR_OK;
    }
    return mcr_fail(p->ctx, MCR_BAD_CALL,
                    "\"%.60s\" is not a coordinate of the model: give a number from 1 to %lld",
                    word, (long long)outputs);
}

/* "component 1 (43 % of variance)"; for cca, which of the two kernels it belongs to. */
static const char *name(mcr_plotting *p, int64_t o)
{
    const mcr_report_fit *r = p->report;
    if (r->correlations)
        return mcr_blocks_format(&p->f->pool, "coordinate %lld of the %s kernel",
                                 (long long)(o % r->correlations) + 1,
                                 o < r->correlations ? "first" : "second");
    if (o < r->variances && r->total_variance > 0)
        return mcr_blocks_format(&p->f->pool, "component %lld (%s %% of variance)",
                                 (long long)o + 1,
                                 mcr_plot_number(p, 100 * r->variance[o] / r->total_variance, 3));
    return mcr_blocks_format(&p->f->pool, "coordinate %lld", (long long)o + 1);
}

static void set_numbers(mcr_plotting *p, int64_t x, int64_t y)
{
    const mcr_report_fit *r = p->report;
    if (r->correlations)
        mcr_figure_set_number(p->f, "correlation", r->correlation[x % r->correlations]);
    else if (x < r->variances && r->total_variance > 0)
        mcr_figure_set_number(p->f, "share1", r->variance[x] / r->total_variance);
    if (!r->correlations && y >= 0 && y < r->variances && r->total_variance > 0)
        mcr_figure_set_number(p->f, "share2", r->variance[y] / r->total_variance);
}

static mcr_status draw(mcr_plotting *p, const mcr_data *objects, const mcr_model *model, int64_t cx,
                       int64_t cy)
{
    int64_t n = mcr_data_count(objects), outputs = mcr_model_outputs(model);
    double *all = mcr_blocks_reals(&p->scratch, n * outputs);
    double *x = mcr_blocks_reals(&p->scratch, n), *y = mcr_blocks_reals(&p->scratch, n);
    mcr_panel *panel = mcr_frame_panel(p->f, 0, 0);
    if (!all || !x || !y || !panel)
        return MCR_NO_MEMORY;
    mcr_scatter s = {.n = n, .x = x, .y = y, .legend = true, .name = "objects"};
    bool targets = mcr_data_target_count(objects) > 0;
    mcr_status status = mcr_transform(p->ctx, model, objects, all);
    if (!status && targets && mcr_plot_has_classes(objects))
        status = mcr_plot_classes(p, objects, &s);
    else if (!status && targets && mcr_data_target_kind(objects) == MCR_REAL_TARGETS)
        s.value = mcr_data_targets(objects);
    for (int64_t i = 0; i < n && !status; i++) {
        x[i] = all[i * outputs + cx];
        y[i] = cy >= 0 ? all[i * outputs + cy] : 0;
    }
    panel->x.label = name(p, cx);
    panel->y.label = cy >= 0 ? name(p, cy) : "objects";
    if (status)
        return status;
    if (cy < 0) {
        panel->y.zero = true;
        return mcr_plot_histogram(p, panel, &s, x);
    }
    if (s.value)
        panel->bar = mcr_blocks_text(&p->f->pool, mcr_plot_target_name(p));
    return mcr_plot_scatter(p, panel, &s);
}

static mcr_status make(mcr_plotting *p)
{
    if (!p->model || !mcr_model_has_coordinates(p->model))
        return mcr_plot_needs(p, "a model with coordinates: pca, fisher or cca");
    int64_t outputs = mcr_model_outputs(p->model), x = 0;
    int64_t pairs = p->report->correlations;
    int64_t y = pairs ? pairs : outputs > 1 ? 1 : -1;
    mcr_status s = pick(p, p->how->x, outputs, &x);
    if (!s)
        s = pick(p, p->how->y, outputs, &y);
    /* The model's own objects are already scaled. */
    mcr_model plain = *p->model;
    if (!p->data)
        plain.scaling = NULL;
    if (!s)
        s = draw(p, p->data ? p->data : p->model->basis, &plain, x, y);
    if (s)
        return s;
    set_numbers(p, x, y);
    if (pairs)
        mcr_plot_title(p, "Canonical coordinates: correlation %s",
                       mcr_plot_number(p, p->report->correlation[x % pairs], 3));
    else
        mcr_plot_title(p, "Projection by %.40s", p->report->learner);
    mcr_plot_subtitle(p, "%s", mcr_plot_made_by(p));
    return MCR_OK;
}

const mcr_plot_type mcr_plot_projection = {
    {"projection", "coordinates coloured by class or value", "a model of pca, fisher or cca"},
    .make = make,
};
