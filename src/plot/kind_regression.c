/* kind_regression.c: regression: predictions over one or two columns, with intervals, and their
 * errors.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <string.h>

#include "plot/plotting.h"

enum { CURVE = 241, COLS = 100, ROWS = 76, DRAWS = 6, LEVELS = 9 };

/* Half-widths of normal intervals, in standard deviations. */
static const double half95 = 1.959963984540054, half50 = 0.6744897501960817;

/* ---- over one column ------------------------------------------------------------------------ */

static mcr_status add_data(mcr_plotting *p, mcr_panel *panel, const mcr_plane *plane)
{
    const double *y = p->data ? mcr_data_targets(p->data) : NULL;
    if (!y || mcr_data_target_kind(p->data) != MCR_REAL_TARGETS)
        return MCR_OK;
    mcr_scatter s = {.n = plane->n,
                     .x = plane->at[0],
                     .y = y,
                     .name = "data",
                     .legend = true,
                     .bare = true,
                     .fixed = p->f->moves != NULL};
    return mcr_plot_scatter(p, panel, &s);
}

typedef struct curve {
    double *x, *mean, *std; /* of the function, without noise */
} curve;

/* noise: the variance that is added. */
static mcr_status add_interval(mcr_plotting *p, mcr_panel *panel, const curve *c, double noise,
                               double half, const char *name, double alpha)
{
    mcr_mark *m = mcr_panel_xy(p->f, panel, MCR_MARK_BAND, name, CURVE);
    double *low = mcr_blocks_reals(&p->f->pool, CURVE),
           *high = mcr_blocks_reals(&p->f->pool, CURVE);
    if (!m || !low || !high)
        return MCR_NO_MEMORY;
    for (int i = 0; i < CURVE; i++) {
        double std = sqrt(c->std[i] * c->std[i] + noise);
        m->x[i] = c->x[i];
        m->y[i] = c->mean[i];
        low[i] = c->mean[i] - half * std;
        high[i] = c->mean[i] + half * std;
    }
    m->low = low;
    m->high = high;
    m->ink = MCR_INK_CLASS;
    m->alpha = alpha;
    m->legend = true;
    return MCR_OK;
}

static mcr_status add_curve(mcr_plotting *p, mcr_panel *panel, const char *name, const double *x,
                            const double *y, int64_t stride)
{
    mcr_mark *m = mcr_panel_xy(p->f, panel, MCR_MARK_LINE, name, CURVE);
    if (!m)
        return MCR_NO_MEMORY;
    for (int64_t i = 0; i < CURVE; i++) {
        m->x[i] = x[i];
        m->y[i] = y[i * stride];
    }
    m->ink = MCR_INK_CLASS;
    m->legend = true;
    return MCR_OK;
}

static mcr_status add_draws(mcr_plotting *p, mcr_panel *panel, const mcr_data *places,
                            const double *x)
{
    const mcr_predictor *predictor = p->model->type ? p->model->type->predictor : NULL;
    if (!predictor || !predictor->draw)
        return MCR_OK;
    double *draws = mcr_blocks_reals(&p->scratch, CURVE * DRAWS);
    mcr_status s = draws ? mcr_predict_draws(p->ctx, p->model, places, DRAWS, draws)
                         : MCR_NO_MEMORY;
    for (int k = 0; k < DRAWS && !s; k++) {
        s = add_curve(p, panel, "draws", x, draws + k, DRAWS);
        if (s)
            break;
        mcr_mark *m = &panel->mark[panel->count - 1];
        m->ink = MCR_INK_CLASS + 1;
        m->width = 0.9;
        m->alpha = 0.7;
    }
    return s;
}

static mcr_status add_intervals(mcr_plotting *p, mcr_panel *panel, const curve *c)
{
    int64_t count = 0;
    const double *noise = mcr_fitted_find(p->model->fitted, MCR_EXTRA_NOISE, &count);
    mcr_status s = MCR_OK;
    if (noise && count == 1)
        s = add_interval(p, panel, c, *noise, half95, "95 % of new observations (with noise)",
                         0.09);
    if (!s)
        s = add_interval(p, panel, c, 0, half95, "95 % interval of the function (without noise)",
                         0.18);
    return s ? s
             : add_interval(p, panel, c, 0, half50, "50 % interval of the function (without noise)",
                            0.26);
}

static mcr_status draw_curve(mcr_plotting *p, mcr_plane *plane, bool band)
{
    mcr_panel *panel = mcr_frame_panel(p->f, 0, 0);
    double *x = mcr_blocks_reals(&p->scratch, CURVE), *mean = mcr_blocks_reals(&p->scratch, CURVE);
    double *std = mcr_blocks_reals(&p->scratch, CURVE);
    mcr_data *places = NULL;
    if (!panel || !x || !mean || !std)
        return MCR_NO_MEMORY;
    for (int i = 0; i < CURVE; i++)
        x[i] = plane->low[0] + (plane->high[0] - plane->low[0]) * i / (CURVE - 1);
    panel->x.label = mcr_plane_name(p, plane, plane->x);
    panel->y.label = mcr_blocks_text(&p->f->pool, mcr_plot_target_name(p));
    panel->x.min = x[0];
    panel->x.max = x[CURVE - 1];
    mcr_status s = mcr_plane_objects(&places, p, plane, CURVE, x, NULL);
    if (!s)
        s = band ? mcr_predict_std(p->ctx, p->model, places, mean, std)
                 : mcr_predict(p->ctx, p->model, places, mean, NULL, NULL);
    if (!s && band)
        s = add_intervals(p, panel, &(curve){x, mean, std});
    if (!s && band)
        s = add_draws(p, panel, places, x);
    if (!s)
        s = add_data(p, panel, plane);
    if (!s)
        s = add_curve(p, panel, band ? "mean" : "prediction", x, mean, 1);
    if (!s)
        panel->mark[panel->count - 1].width = 2.4;
    mcr_data_free(places);
    return s;
}

/* ---- over two columns ----------------------------------------------------------------------- */

typedef struct query {
    mcr_plotting *p;
    const mcr_plane *plane;
} query;

static mcr_status ask(void *arg, int64_t count, const double *x, const double *y, double *f)
{
    query *a = arg;
    mcr_status s = MCR_OK;
    int64_t at_once = mcr_plane_at_once(a->plane);
    for (int64_t first = 0; first < count && !s; first += at_once) {
        int64_t some = count - first < at_once ? count - first : at_once;
        mcr_data *places = NULL;
        s = mcr_plane_objects(&places, a->p, a->plane, some, x + first, y + first);
        if (!s)
            s = mcr_predict(a->p->ctx, a->p->model, places, f + first, NULL, NULL);
        mcr_data_free(places);
    }
    return s;
}

static mcr_status add_levels(mcr_plotting *p, mcr_panel *panel, const mcr_grid *g, double low,
                             double high)
{
    mcr_status s = MCR_OK;
    for (int k = 1; k < LEVELS && !s && high > low; k++) {
        int64_t count;
        double *x, *y;
        s = mcr_grid_contour(p, g, low + (high - low) * k / LEVELS, false, &count, &x, &y);
        if (s || !count)
            continue;
        mcr_mark *m = mcr_panel_over(p->f, panel, MCR_MARK_LINE, "level", count, x, y);
        if (!m)
            return MCR_NO_MEMORY;
        m->ink = MCR_INK_RGB + 0xffffff;
        m->alpha = 0.55;
        m->width = 0.9;
    }
    return s;
}

static mcr_status add_objects(mcr_plotting *p, mcr_panel *panel, const mcr_plane *plane)
{
    const double *y = p->data ? mcr_data_targets(p->data) : NULL;
    if (!y || mcr_data_target_kind(p->data) != MCR_REAL_TARGETS)
        return MCR_OK;
    /* If other columns matter, too, the target of a point cannot be compared with the surface. */
    bool compared = plane->cols == 2 && plane->n <= MCR_PLOT_POINTS;
    mcr_scatter s = {.n = plane->n,
                     .x = plane->at[0],
                     .y = plane->at[1],
                     .value = compared ? y : NULL,
                     .name = "data"};
    mcr_status status = mcr_plot_scatter(p, panel, &s);
    if (status)
        return status;
    mcr_mark *m = &panel->mark[panel->count - 1];
    if (!compared) {
        m->ink = MCR_INK_RGB + 0xffffff; /* on the colours of the surface, in both themes */
        m->size = plane->n <= MCR_PLOT_POINTS ? 4.2 : 0;
        m->alpha = 0.8;
        return MCR_OK;
    }
    mcr_mark *cells = &panel->mark[0];
    cells->v0 = m->v0 = fmin(m->v0, cells->v0);
    cells->v1 = m->v1 = fmax(m->v1, cells->v1);
    return MCR_OK;
}

static mcr_status draw_surface(mcr_plotting *p, mcr_plane *plane)
{
    query a = {p, plane};
    mcr_panel *panel = mcr_frame_panel(p->f, 0, 0);
    if (!panel)
        return MCR_NO_MEMORY;
    mcr_grid g = mcr_grid_over(plane, COLS, ROWS, panel);
    mcr_mark *m = mcr_grid_cells(p, panel, &g, "prediction");
    if (!m)
        return MCR_NO_MEMORY;
    g.eval = ask;
    g.arg = &a;
    mcr_status s = mcr_grid_fill(p, &g);
    double low = INFINITY, high = -INFINITY;
    if (!s) {
        memcpy(m->value, g.f, COLS * ROWS * sizeof *m->value);
        mcr_plot_widen(&low, &high, g.f, COLS * ROWS);
    }
    m->v0 = low;
    m->v1 = high > low ? high : low + 1;
    m->smooth = true;
    panel->x.label = mcr_plane_name(p, plane, plane->x);
    panel->y.label = mcr_plane_name(p, plane, plane->y);
    panel->bar = mcr_blocks_text(&p->f->pool, mcr_plot_target_name(p));
    panel->no_grid = true;
    if (!s)
        s = add_levels(p, panel, &g, low, high);
    return s ? s : add_objects(p, panel, plane);
}

static mcr_status make_curve(mcr_plotting *p, bool band)
{
    mcr_plane plane = {0};
    int dims = band || (p->how->x && !p->how->y) ? 1 : 2;
    mcr_status s = mcr_plane_open(&plane, p, dims);
    if (!s)
        s = plane.y < 0 ? draw_curve(p, &plane, band) : draw_surface(p, &plane);
    bool others = plane.cols > (plane.y < 0 ? 1 : 2);
    mcr_plane_close(&plane);
    mcr_plot_subtitle(p, "%s%s", mcr_plot_made_by(p),
                      others ? "; other columns at their median" : "");
    return s;
}

static mcr_status make_surface(mcr_plotting *p)
{
    mcr_plot_title(p, "Prediction of %.60s", mcr_plot_target_name(p));
    return make_curve(p, false);
}

const mcr_plot_type mcr_plot_surface = {
    {"surface", "predicted numbers over one or two columns", "a model of a regression"},
    .make = make_surface,
    .tasks = 1u << MCR_REGRESS,
};

static mcr_status make_band(mcr_plotting *p)
{
    if (!mcr_model_has_std(p->model))
        return mcr_plot_needs(p, "a model that knows its standard deviations, such as that of gp");
    mcr_plot_title(p, "What the model believes about %.60s", mcr_plot_target_name(p));
    return make_curve(p, true);
}

const mcr_plot_type mcr_plot_band = {
    {"band", "mean, intervals of the function and of new observations, draws, data",
     "a model of gp trained on numbers"},
    .make = make_band,
    .tasks = 1u << MCR_REGRESS,
};

/* ---- residuals ------------------------------------------------------------------------------ */

static mcr_status add_residuals(mcr_plotting *p, const double *said, const double *is, int64_t n)
{
    double *left = mcr_blocks_reals(&p->scratch, n), low = INFINITY, high = -INFINITY;
    if (!left)
        return MCR_NO_MEMORY;
    for (int64_t i = 0; i < n; i++)
        left[i] = is[i] - said[i];
    mcr_plot_widen(&low, &high, is, n);
    mcr_plot_widen(&low, &high, said, n);
    const char *target = mcr_plot_target_name(p);
    mcr_panel *a = mcr_frame_panel(p->f, 0, 0);
    mcr_scatter s = {.n = n, .x = said, .y = is, .small = true, .name = "objects"};
    mcr_status status = a ? mcr_plot_scatter(p, a, &s) : MCR_NO_MEMORY;
    if (!status)
        status = mcr_plot_rule(p, a, "equal", low, low, high, high);
    if (status)
        return status;
    a->x.label = mcr_blocks_format(&p->f->pool, "predicted %.60s", target);
    a->y.label = mcr_blocks_format(&p->f->pool, "observed %.60s", target);
    mcr_panel *b = mcr_frame_panel(p->f, 0, 1);
    s.y = left;
    status = b ? mcr_plot_scatter(p, b, &s) : MCR_NO_MEMORY;
    if (!status)
        status = mcr_plot_rule(p, b, "zero", low, 0, high, 0);
    if (status)
        return status;
    b->x.label = mcr_blocks_format(&p->f->pool, "predicted %.60s", target);
    b->y.label = "residual";
    mcr_panel *c = mcr_frame_panel(p->f, 0, 2);
    status = c ? mcr_plot_histogram(p, c, &s, left) : MCR_NO_MEMORY;
    if (status)
        return status;
    c->x.label = "residual";
    c->y.label = "objects";
    c->y.zero = true;
    return MCR_OK;
}

static mcr_status make_residuals(mcr_plotting *p)
{
    if (mcr_data_target_kind(p->data) != MCR_REAL_TARGETS)
        return mcr_fail(p->ctx, MCR_BAD_DATA, "residuals need targets that are numbers");
    int64_t n = mcr_data_count(p->data);
    double *said = mcr_blocks_reals(&p->scratch, n);
    mcr_metrics metrics = MCR_INIT(mcr_metrics);
    mcr_status s = said ? mcr_predict(p->ctx, p->model, p->data, said, NULL, NULL) : MCR_NO_MEMORY;
    if (!s)
        s = mcr_model_score(p->ctx, p->model, p->data, said, &metrics);
    if (!s)
        s = add_residuals(p, said, mcr_data_targets(p->data), n);
    p->f->aspect = 0.42;
    mcr_figure_set_number(p->f, "mse", metrics.mse);
    mcr_figure_set_number(p->f, "r2", metrics.r2);
    mcr_plot_title(p, "Predicted and observed: R² %s, root mean squared error %s",
                   mcr_plot_number(p, metrics.r2, 3), mcr_plot_number(p, sqrt(metrics.mse), 3));
    mcr_plot_subtitle(p, "%s", mcr_plot_made_by(p));
    return s;
}

const mcr_plot_type mcr_plot_residuals = {
    {"residuals", "predicted and observed numbers, and their differences",
     "a model of a regression, and data with targets"},
    .make = make_residuals,
    .tasks = 1u << MCR_REGRESS,
    .data = true,
    .targets = true,
};
