/* points.c: points, densities and histograms, by class or by value.
 *
 * Many points hide one another: beyond MCR_PLOT_POINTS their density is shown, on a logarithmic
 * scale, as the opacity of a class's colour.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <string.h>

#include "plot/plotting.h"

enum { DENSITY_COLS = 180, DENSITY_ROWS = 135 };

static void range_of(const double *v, int64_t n, double *low, double *high)
{
    *low = INFINITY;
    *high = -INFINITY;
    mcr_plot_widen(low, high, v, n);
    *low = fmax(*low, -1e300); /* so that their difference is finite */
    *high = fmin(*high, 1e300);
    if (!(*high > *low)) {
        *low = isfinite(*low) ? *low - 0.5 : 0;
        *high = *low + 1;
    }
}

static mcr_shape class_shape(int64_t c)
{
    static const mcr_shape shapes[] = {MCR_SHAPE_CIRCLE, MCR_SHAPE_DIAMOND, MCR_SHAPE_TRIANGLE,
                                       MCR_SHAPE_SQUARE};
    return shapes[(c + c / MCR_PALETTE) % 4]; /* colours repeat, but not with the same shape */
}

/* ---- densities ------------------------------------------------------------------------------ */

static int64_t bin_of(double v, double low, double high, int64_t bins)
{
    double at = (v - low) / (high - low) * (double)bins;
    return at >= (double)bins ? bins - 1 : at >= 0 ? (int64_t)at : 0;
}

static mcr_status add_density(mcr_plotting *p, mcr_panel *panel, const mcr_scatter *s,
                              int64_t class, const double *limit)
{
    int64_t cells = DENSITY_COLS * DENSITY_ROWS;
    double *count = mcr_blocks_reals(&p->f->pool, cells), most = 0;
    const char *name = class >= 0 ? s->class_name[class] : s->name ? s->name : "objects";
    mcr_mark *m = count ? mcr_panel_mark(p->f, panel, MCR_MARK_CELLS, name) : NULL;
    if (!m)
        return MCR_NO_MEMORY;
    for (int64_t i = 0; i < s->n; i++) {
        if (class >= 0 && s->class_of[i] != class)
            continue;
        int64_t q = bin_of(s->x[i], limit[0], limit[1], DENSITY_COLS);
        int64_t r = bin_of(s->y[i], limit[2], limit[3], DENSITY_ROWS);
        count[r * DENSITY_COLS + q]++;
    }
    for (int64_t i = 0; i < cells; i++)
        most = fmax(most, count[i]);
    for (int64_t i = 0; i < cells; i++)
        count[i] = count[i] > 0 ? 0.12 + 0.88 * log1p(count[i]) / log1p(most) : NAN;
    m->value = count;
    m->rows = DENSITY_ROWS;
    m->cols = DENSITY_COLS;
    m->x0 = limit[0];
    m->x1 = limit[1];
    m->y0 = limit[2];
    m->y1 = limit[3];
    m->ramp = MCR_RAMP_INK;
    m->v1 = 1;
    m->alpha = s->class_of ? 0.8 : 0.95;
    m->ink = class >= 0 ? mcr_class_ink(class) : MCR_INK_CLASS;
    m->legend = s->legend && class >= 0;
    m->fixed = s->fixed;
    return MCR_OK;
}

static mcr_status add_densities(mcr_plotting *p, mcr_panel *panel, const mcr_scatter *s)
{
    double limit[4];
    range_of(s->x, s->n, &limit[0], &limit[1]);
    range_of(s->y, s->n, &limit[2], &limit[3]);
    mcr_status status = MCR_OK;
    if (!s->class_of)
        return add_density(p, panel, s, -1, limit);
    for (int64_t c = 0; c < s->classes && !status; c++)
        status = add_density(p, panel, s, c, limit);
    return status;
}

/* ---- points --------------------------------------------------------------------------------- */

static mcr_status add_class(mcr_plotting *p, mcr_panel *panel, const mcr_scatter *s, int64_t class)
{
    int64_t count = 0;
    for (int64_t i = 0; i < s->n; i++)
        count += s->class_of[i] == class;
    if (!count)
        return MCR_OK;
    mcr_mark *m = mcr_panel_xy(p->f, panel, MCR_MARK_POINTS, s->class_name[class], count);
    if (!m)
        return MCR_NO_MEMORY;
    for (int64_t i = 0, at = 0; i < s->n; i++)
        if (s->class_of[i] == class) {
            m->x[at] = s->x[i];
            m->y[at++] = s->y[i];
        }
    m->ink = mcr_class_ink(class);
    m->shape = s->small ? MCR_SHAPE_CIRCLE : class_shape(class);
    m->legend = s->legend;
    m->fixed = s->fixed;
    m->alpha = s->small ? 0.75 : 0;
    return MCR_OK;
}

mcr_status mcr_plot_scatter(mcr_plotting *p, mcr_panel *panel, const mcr_scatter *s)
{
    mcr_status status = MCR_OK;
    if (s->n > MCR_PLOT_POINTS)
        return add_densities(p, panel, s);
    if (s->class_of) {
        for (int64_t c = 0; c < s->classes && !status; c++)
            status = add_class(p, panel, s, c);
        return status;
    }
    mcr_mark *m = mcr_panel_xy(p->f, panel, MCR_MARK_POINTS, s->name ? s->name : "objects", s->n);
    if (!m)
        return MCR_NO_MEMORY;
    memcpy(m->x, s->x, (size_t)s->n * sizeof *m->x);
    memcpy(m->y, s->y, (size_t)s->n * sizeof *m->y);
    m->ink = s->bare ? MCR_INK_TEXT : MCR_INK_CLASS;
    m->legend = s->legend && !s->value;
    m->fixed = s->fixed;
    m->alpha = s->small ? 0.75 : 0;
    if (s->value) {
        m->value = mcr_blocks_reals(&p->f->pool, s->n);
        if (!m->value)
            return MCR_NO_MEMORY;
        memcpy(m->value, s->value, (size_t)s->n * sizeof *m->value);
        range_of(s->value, s->n, &m->v0, &m->v1);
    }
    return MCR_OK;
}

mcr_status mcr_plot_classes(mcr_plotting *p, const mcr_data *data, mcr_scatter *s)
{
    bool model = p->model && mcr_model_classes(p->model) > 0;
    int64_t n = mcr_data_count(data), own = mcr_data_classes(data);
    const int32_t *class_of = mcr_data_class_of(data);
    s->classes = model ? mcr_model_classes(p->model) : own;
    const char **name = mcr_blocks_take(&p->scratch, s->classes + 1, sizeof *name);
    int32_t *number = mcr_blocks_take(&p->scratch, n, sizeof *number);
    if (!name || !number)
        return MCR_NO_MEMORY;
    int64_t *match = NULL;
    mcr_status status = model ? mcr_model_match(&match, p->ctx, p->model, data) : MCR_OK;
    for (int64_t c = 0; c < s->classes && !status; c++)
        name[c] = model ? mcr_model_class_name(p->model, c) : mcr_data_class_name(data, c);
    for (int64_t i = 0; i < n && !status; i++)
        number[i] = match ? (int32_t)match[class_of[i]] : class_of[i];
    mcr_free(p->ctx, match);
    s->class_of = number;
    s->class_name = name;
    return status;
}

mcr_status mcr_plot_by_cluster(mcr_plotting *p, const mcr_model *model, const mcr_data *data,
                               mcr_scatter *s)
{
    int64_t n = mcr_data_count(data);
    double *value = mcr_blocks_reals(&p->scratch, n);
    int32_t *class_of = mcr_blocks_take(&p->scratch, n, sizeof *class_of);
    s->classes = mcr_model_outputs(model);
    const char **name = mcr_blocks_take(&p->scratch, s->classes, sizeof *name);
    if (!value || !class_of || !name)
        return MCR_NO_MEMORY;
    mcr_status status = mcr_predict(p->ctx, model, data, value, NULL, NULL);
    for (int64_t i = 0; i < n && !status; i++)
        class_of[i] = (int32_t)value[i];
    for (int64_t c = 0; c < s->classes && !status; c++) {
        name[c] = mcr_blocks_format(&p->scratch, "cluster %lld", (long long)c + 1);
        status = name[c] ? MCR_OK : MCR_NO_MEMORY;
    }
    s->class_of = class_of;
    s->class_name = name;
    return status;
}

/* ---- histograms and rules ------------------------------------------------------------------- */

static mcr_status add_bars(mcr_plotting *p, mcr_panel *panel, const mcr_scatter *s, int64_t class,
                           const double *v, const double *limit, int64_t bins)
{
    const char *name = class >= 0 ? s->class_name[class] : "objects";
    mcr_mark *m = mcr_panel_xy(p->f, panel, MCR_MARK_BARS, name, bins);
    if (!m)
        return MCR_NO_MEMORY;
    m->width = (limit[1] - limit[0]) / (double)bins;
    for (int64_t b = 0; b < bins; b++)
        m->x[b] = limit[0] + m->width * ((double)b + 0.5);
    for (int64_t i = 0; i < s->n; i++) {
        if (class >= 0 && s->class_of[i] != class)
            continue;
        int64_t b = (int64_t)((v[i] - limit[0]) / m->width);
        m->y[b < 0 ? 0 : b < bins ? b : bins - 1]++;
    }
    m->width *= class >= 0 ? 1 : 0.94;
    m->ink = class >= 0 ? mcr_class_ink(class) : MCR_INK_CLASS;
    m->alpha = class >= 0 && s->classes > 1 ? 0.55 : 0.85;
    m->legend = class >= 0 && s->legend;
    return MCR_OK;
}

mcr_status mcr_plot_histogram(mcr_plotting *p, mcr_panel *panel, const mcr_scatter *s,
                              const double *v)
{
    double limit[2];
    range_of(v, s->n, &limit[0], &limit[1]);
    bool whole = limit[1] - limit[0] <= 60;
    for (int64_t i = 0; i < s->n && whole; i++)
        whole = v[i] == floor(v[i]);
    int64_t bins = (int64_t)fmin(fmax(ceil(2 * cbrt((double)s->n)), 5), 40);
    if (whole) { /* one bar for each of a few integers */
        limit[0] = floor(limit[0]) - 0.5;
        limit[1] = ceil(limit[1]) + 0.5;
        bins = (int64_t)(limit[1] - limit[0] + 0.5);
    }
    mcr_status status = MCR_OK;
    if (!s->class_of)
        return add_bars(p, panel, s, -1, v, limit, bins);
    for (int64_t c = 0; c < s->classes && !status; c++)
        status = add_bars(p, panel, s, c, v, limit, bins);
    return status;
}

mcr_status mcr_plot_rule(mcr_plotting *p, mcr_panel *panel, const char *name, double x0, double y0,
                         double x1, double y1)
{
    mcr_mark *m = mcr_panel_xy(p->f, panel, MCR_MARK_LINE, name, 2);
    if (!m)
        return MCR_NO_MEMORY;
    m->x[0] = x0;
    m->x[1] = x1;
    m->y[0] = y0;
    m->y[1] = y1;
    m->ink = MCR_INK_MUTED;
    m->width = 1.1;
    m->dashed = true;
    return MCR_OK;
}
