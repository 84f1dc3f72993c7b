/* kind_boundary.c: decision regions: of two columns, or in the plane of two kernel principal
 * components.
 *
 * Over columns the model is evaluated on a grid. In feature space a decision is linear, f = <w,
 * phi> + b, so in the plane through the mean along two principal components u1, u2 it is a straight
 * line: f(s, t) = f(mean) + s <w, u1> + t <w, u2>, and with u = sum of a_i phi(x_i) the products
 * are sums of a_i f(x_i).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <string.h>

#include "plot/plotting.h"

enum { COLS = 180, ROWS = 135, COMPONENT_OBJECTS = 1000 };

/* The model's predictions at positions of the picture: labels, or the decision value for two
 * classes. */
typedef struct region {
    mcr_plotting *p;
    mcr_plane plane;
    bool scored;      /* one decision value suffices: two classes, or detection */
    bool flat;        /* in the plane of two components */
    double *linear;   /* flat: f(mean), <w, u1>, <w, u2> for each output */
    mcr_data *some;   /* flat: the objects that define the components */
    double *strength; /* from the last evaluation, if requested: confidence, 0 to 1 */
    double *label;    /* from the last evaluation, if requested */
    mcr_grid grid;    /* the grid that was drawn, and the predictions at its nodes */
    const double *said;
} region;

/* ---- predicting --------------------------------------------------------------------------- */

static double sureness(const double *proba, int64_t classes, double f, bool scored)
{
    double most = 0;
    if (!proba)
        return scored ? fmin(fabs(f), 1.6) / 1.6 : 0.55;
    for (int64_t c = 0; c < classes; c++)
        most = fmax(most, proba[c]);
    return classes > 1 ? (most - 1.0 / (double)classes) / (1 - 1.0 / (double)classes) : 1;
}

static mcr_status ask_plane(region *r, int64_t count, const double *x, const double *y, double *f)
{
    mcr_plotting *p = r->p;
    const mcr_model *m = p->model;
    int64_t outputs = mcr_model_outputs(m), classes = mcr_model_classes(m);
    bool sure = r->strength && mcr_model_has_probability(m);
    mcr_data *places = NULL;
    double *score = r->scored ? mcr_alloc(p->ctx, (uint64_t)(count * outputs), sizeof *score)
                              : NULL;
    double *proba = sure ? mcr_alloc(p->ctx, (uint64_t)(count * classes), sizeof *proba) : NULL;
    double *value = mcr_alloc(p->ctx, (size_t)count, sizeof *value);
    mcr_status s = (r->scored && !score) || (sure && !proba) || !value ? MCR_NO_MEMORY : MCR_OK;
    if (!s)
        s = mcr_plane_objects(&places, p, &r->plane, count, x, y);
    if (!s)
        s = mcr_predict(p->ctx, m, places, value, score, proba);
    for (int64_t i = 0; i < count && !s; i++) {
        f[i] = r->scored ? score[i] : value[i];
        if (r->label)
            r->label[i] = value[i];
        if (r->strength)
            r->strength[i] = sureness(proba ? proba + i * classes : NULL, classes, f[i], r->scored);
    }
    mcr_data_free(places);
    mcr_free_all(p->ctx, value, proba, score);
    return s;
}

static mcr_status ask_flat(region *r, int64_t count, const double *x, const double *y, double *f)
{
    const mcr_fitted *fitted = r->p->model->fitted;
    int64_t outputs = fitted->outputs, classes = fitted->classes > 0 ? fitted->classes : 2;
    double *score = mcr_blocks_reals(&r->p->scratch,
                                     outputs + classes + classes * classes + classes);
    if (!score)
        return MCR_NO_MEMORY;
    double *proba = score + outputs, *work = proba + classes;
    for (int64_t i = 0; i < count; i++) {
        for (int64_t o = 0; o < outputs; o++)
            score[o] = r->linear[3 * o] + x[i] * r->linear[3 * o + 1] + y[i] * r->linear[3 * o + 2];
        double label = mcr_fitted_decide(fitted, score, proba, work);
        f[i] = r->scored ? score[0] : label;
        if (r->label)
            r->label[i] = label;
        if (r->strength)
            r->strength[i] = sureness(NULL, classes, f[i], r->scored);
    }
    return MCR_OK;
}

static mcr_status ask(void *arg, int64_t count, const double *x, const double *y, double *f)
{
    region part = *(const region *)arg;
    if (part.flat)
        return ask_flat(&part, count, x, y, f);
    mcr_status s = MCR_OK;
    int64_t at_once = mcr_plane_at_once(&part.plane);
    for (int64_t first = 0; first < count && !s; first += at_once) {
        int64_t some = count - first < at_once ? count - first : at_once;
        s = ask_plane(&part, some, x + first, y + first, f + first);
        part.label = part.label ? part.label + some : NULL;
        part.strength = part.strength ? part.strength + some : NULL;
    }
    return s;
}

/* ---- what is drawn -------------------------------------------------------------------------- */

static mcr_status add_shading(region *r, mcr_panel *panel, const mcr_grid *g)
{
    mcr_plotting *p = r->p;
    bool detects = p->report->task == MCR_DETECT;
    mcr_mark *m = mcr_grid_cells(p, panel, g, "regions");
    if (!m)
        return MCR_NO_MEMORY;
    for (int64_t i = 0; i < g->cols * g->rows; i++) {
        double strength = 0.06 + 0.34 * r->strength[i];
        double class = detects ? 0 : r->label[i];
        m->value[i] = detects && g->f[i] < 0 ? 0 : class + strength;
    }
    m->ramp = MCR_RAMP_CLASSES;
    m->v1 = (double)(p->report->classes > 0 ? p->report->classes : mcr_model_outputs(p->model));
    m->smooth = r->scored;
    return MCR_OK;
}

static mcr_status add_contour(region *r, mcr_panel *panel, const mcr_grid *g, double level,
                              const char *name)
{
    int64_t count;
    double *x, *y;
    mcr_status s = mcr_grid_contour(r->p, g, level, !r->scored, &count, &x, &y);
    if (s || !count)
        return s;
    mcr_mark *m = mcr_panel_over(r->p->f, panel, MCR_MARK_LINE, name, count, x, y);
    if (!m)
        return MCR_NO_MEMORY;
    m->ink = MCR_INK_TEXT;
    m->width = level == 0 ? 1.9 : 1;
    m->dashed = level != 0;
    m->legend = true;
    return MCR_OK;
}

/* Whether support vectors have margins: depends on the learner. */
static bool has_margin(const mcr_plotting *p)
{
    const char *l = p->report->learner;
    return strcmp(l, "svm") == 0 || strcmp(l, "l1-svm") == 0 || strcmp(l, "pegasos") == 0;
}

/* Learners whose objects with coefficients are called support vectors. */
static bool has_support(const mcr_plotting *p)
{
    const char *l = p->report->learner;
    return has_margin(p) || strcmp(l, "nu-svm") == 0 || strcmp(l, "one-class") == 0 ||
           strcmp(l, "perceptron") == 0;
}

static mcr_status add_lines(region *r, mcr_panel *panel, const mcr_grid *g)
{
    mcr_status s = MCR_OK;
    if (r->scored && has_margin(r->p))
        s = add_contour(r, panel, g, -1, "margin f = ±1");
    if (!s && r->scored && has_margin(r->p))
        s = add_contour(r, panel, g, 1, "margin f = ±1");
    if (!s)
        s = add_contour(r, panel, g, 0, r->scored ? "boundary f = 0" : "boundary");
    return s;
}

/* Without data the support vectors are shown instead, with the class that the model predicts for
 * them. */
static mcr_status supports_as_points(region *r, mcr_panel *panel, mcr_scatter *s)
{
    mcr_plotting *p = r->p;
    int64_t n = r->plane.supports, classes = mcr_model_classes(p->model);
    double *label = mcr_blocks_reals(&p->scratch, n);
    int32_t *class_of = mcr_blocks_take(&p->scratch, n, sizeof *class_of);
    const char **name = mcr_blocks_take(&p->scratch, classes + 1, sizeof *name);
    if (!label || !class_of || !name)
        return MCR_NO_MEMORY;
    /* They are already scaled: the model must not scale them again. */
    mcr_model plain = *p->model;
    plain.scaling = NULL;
    mcr_status status = mcr_predict(p->ctx, &plain, p->model->basis, label, NULL, NULL);
    for (int64_t i = 0; i < n && !status; i++)
        class_of[i] = (int32_t)label[i];
    for (int64_t c = 0; c < classes; c++)
        name[c] = mcr_model_class_name(p->model, c);
    s->x = r->plane.support[0];
    s->y = r->plane.support[1];
    s->n = n;
    if (classes) {
        s->class_of = class_of;
        s->class_name = name;
        s->classes = classes;
    }
    return status ? status : mcr_plot_scatter(p, panel, s);
}

static mcr_status add_points(region *r, mcr_panel *panel)
{
    mcr_plotting *p = r->p;
    mcr_scatter s = {.n = r->plane.n,
                     .x = r->plane.at[0],
                     .y = r->plane.at[1],
                     .legend = true,
                     .fixed = true,
                     .name = "objects"};
    if (!r->plane.n && p->model->basis)
        return supports_as_points(r, panel, &s);
    mcr_status status = MCR_OK;
    if (p->report->task == MCR_CLUSTER)
        status = mcr_plot_by_cluster(p, p->model, p->data, &s);
    else if (p->data && mcr_data_target_count(p->data) && mcr_model_classes(p->model))
        status = mcr_plot_classes(p, p->data, &s);
    return status ? status : mcr_plot_scatter(p, panel, &s);
}

/* Draws a ring around every support vector. */
static mcr_status add_rings(region *r, mcr_panel *panel)
{
    mcr_plotting *p = r->p;
    int64_t n = r->plane.supports;
    /* Learners without margins keep all objects, where rings would be meaningless. */
    if (!n || n > MCR_PLOT_POINTS || (n == p->report->n && !has_support(p)))
        return MCR_OK;
    mcr_mark *m = mcr_panel_xy(p->f, panel, MCR_MARK_POINTS, "support vectors", n);
    if (!m)
        return MCR_NO_MEMORY;
    memcpy(m->x, r->plane.support[0], (size_t)n * sizeof *m->x);
    memcpy(m->y, r->plane.support[1], (size_t)n * sizeof *m->y);
    m->shape = MCR_SHAPE_RING;
    m->ink = MCR_INK_TEXT;
    m->alpha = 0.8;
    m->legend = true;
    mcr_figure_set_number(p->f, "support_vectors", (double)n);
    return MCR_OK;
}

static mcr_status draw_region(region *r, mcr_panel *panel)
{
    mcr_plotting *p = r->p;
    bool many = (r->plane.supports > 4000 && !r->flat) || p->f->moves;
    mcr_grid g = mcr_grid_over(&r->plane, many ? COLS / 2 : COLS, many ? ROWS / 2 : ROWS, panel);
    g.eval = ask;
    g.arg = r;
    int64_t nodes = g.cols * g.rows;
    r->strength = mcr_blocks_reals(&p->scratch, nodes);
    r->label = mcr_blocks_reals(&p->scratch, nodes);
    if (!r->strength || !r->label)
        return MCR_NO_MEMORY;
    mcr_status s = mcr_grid_fill(p, &g);
    if (!s)
        s = add_shading(r, panel, &g);
    r->grid = g;
    r->said = r->label;
    r->strength = r->label = NULL;
    if (!s)
        s = add_lines(r, panel, &g);
    panel->no_grid = true;
    return s;
}

/* ---- names ---------------------------------------------------------------------------------- */

/* The number of nodes between each node and the border of its region, or of the picture. */
static void measure_depth(const mcr_grid *g, const double *said, int32_t *depth)
{
    int64_t cols = g->cols, nodes = g->cols * g->rows;
    for (int way = 1; way >= -1; way -= 2)
        for (int64_t k = 0; k < nodes; k++) {
            int64_t i = way > 0 ? k : nodes - 1 - k, c = i % cols,
                    other[2] = {i - way, i - way * cols};
            bool edge = c == 0 || c == cols - 1 || i < cols || i >= nodes - cols;
            int32_t most = edge ? 0 : way > 0 ? INT32_MAX : depth[i];
            for (int j = 0; j < 2 && !edge; j++) {
                int32_t reach = said[other[j]] == said[i] ? depth[other[j]] + 1 : 0;
                most = reach < most ? reach : most;
            }
            depth[i] = most;
        }
}

/* With more classes than colours, each region is labelled where it is widest. */
static mcr_status add_names(region *r, mcr_panel *panel)
{
    mcr_plotting *p = r->p;
    int64_t classes = mcr_model_classes(p->model), nodes = r->grid.cols * r->grid.rows;
    if (!r->said || classes <= MCR_PALETTE)
        return MCR_OK;
    int32_t *depth = mcr_blocks_take(&p->scratch, nodes, sizeof *depth);
    mcr_mark *m = mcr_panel_xy(p->f, panel, MCR_MARK_TEXT, "class", classes);
    char **text = mcr_blocks_take(&p->f->pool, classes, sizeof *text);
    if (!depth || !m || !text)
        return MCR_NO_MEMORY;
    measure_depth(&r->grid, r->said, depth);
    m->count = 0;
    for (int64_t c = 0; c < classes; c++) {
        int64_t best = -1;
        for (int64_t i = 0; i < nodes; i++)
            if (r->said[i] == (double)c && (best < 0 || depth[i] > depth[best]))
                best = i;
        if (best < 0)
            continue;
        m->x[m->count] = r->grid.x0 + r->grid.dx * (double)(best % r->grid.cols);
        m->y[m->count] = r->grid.y0 + r->grid.dy * (double)(best / r->grid.cols);
        text[m->count] = mcr_blocks_text(&p->f->pool, mcr_model_class_name(p->model, c));
        if (!text[m->count++])
            return MCR_NO_MEMORY;
    }
    m->text = text;
    m->anchor = 0.5;
    m->ink = MCR_INK_TEXT;
    return MCR_OK;
}

/* The objects, rings around support vectors, names of classes. */
static mcr_status add_objects(region *r, mcr_panel *panel)
{
    mcr_status s = add_points(r, panel);
    if (!s && r->p->report->task != MCR_CLUSTER)
        s = add_rings(r, panel);
    return s ? s : add_names(r, panel);
}

/* ---- two columns ---------------------------------------------------------------------------- */

static mcr_status over_columns(region *r)
{
    mcr_plotting *p = r->p;
    mcr_status s = mcr_plane_open(&r->plane, p, 2);
    if (!s && r->plane.y < 0)
        s = mcr_plot_refuse(p, MCR_BAD_CALL, "%s needs two columns, and the model has one",
                            p->f->kind);
    mcr_panel *panel = s ? NULL : mcr_frame_panel(p->f, 0, 0);
    if (!s && !panel)
        s = MCR_NO_MEMORY;
    if (!s) {
        panel->x.label = mcr_plane_name(p, &r->plane, r->plane.x);
        panel->y.label = mcr_plane_name(p, &r->plane, r->plane.y);
        s = draw_region(r, panel);
    }
    return s ? s : add_objects(r, panel);
}

/* ---- kernel principal components ------------------------------------------------------------ */

/* Two kernel principal components of some of the objects. */
static mcr_status fit_components(region *r, const mcr_data *seen, mcr_model **pca)
{
    mcr_plotting *p = r->p;
    int64_t count;
    int64_t *row = mcr_plot_thin(p, mcr_data_count(seen), COMPONENT_OBJECTS, &count);
    mcr_options *options = NULL;
    mcr_status s = row ? mcr_data_select(&r->some, seen, (mcr_rows){row, 0, count}) : MCR_NO_MEMORY;
    if (!s)
        s = mcr_options_open(&options, p->ctx, "pca");
    if (!s)
        s = mcr_fit(pca, options, p->model->kernel, r->some, NULL);
    if (!s && mcr_model_outputs(*pca) < 2)
        s = mcr_fail(p->ctx, MCR_BAD_DATA,
                     "the objects differ along one direction only: there is no plane to draw in");
    mcr_options_close(options);
    return s;
}

/* f(mean), <w, u1>, <w, u2> for each output. */
static mcr_status find_linear(region *r, const mcr_model *pca)
{
    mcr_plotting *p = r->p;
    int64_t n = mcr_data_count(r->some), support = mcr_data_count(pca->basis);
    int64_t outputs = mcr_model_outputs(p->model);
    double *score = mcr_blocks_reals(&p->scratch, (n > support ? n : support) * outputs);
    double *coef = mcr_blocks_reals(&p->scratch, support), offset;
    r->linear = mcr_blocks_reals(&p->scratch, 3 * outputs);
    if (!score || !coef || !r->linear)
        return MCR_NO_MEMORY;
    /* These objects are already scaled: the model must not scale them again. */
    mcr_model plain = *p->model;
    plain.scaling = NULL;
    mcr_status s = mcr_predict(p->ctx, &plain, r->some, NULL, score, NULL);
    for (int64_t i = 0; i < n * outputs && !s; i++)
        r->linear[3 * (i % outputs)] += score[i] / (double)n;
    if (!s)
        s = mcr_predict(p->ctx, &plain, pca->basis, NULL, score, NULL);
    for (int u = 0; u < 2 && !s; u++) {
        s = mcr_model_coefficients(pca, u, coef, &offset, NULL);
        for (int64_t o = 0; o < outputs && !s; o++)
            for (int64_t i = 0; i < support; i++)
                r->linear[3 * o + 1 + u] += coef[i] * (score[i * outputs + o] - r->linear[3 * o]);
    }
    return s;
}

static void plane_of(mcr_plane *q, int64_t n, double *x, double *y)
{
    q->n = n;
    q->at[0] = x;
    q->at[1] = y;
    for (int k = 0; k < 2; k++) {
        double low = INFINITY, high = -INFINITY;
        mcr_plot_widen(&low, &high, q->at[k], n);
        double margin = high > low ? 0.06 * (high - low) : 0.5;
        q->low[k] = low - margin;
        q->high[k] = high + margin;
    }
}

static mcr_status coordinates(region *r, const mcr_model *pca, const mcr_data *data, double **to)
{
    int64_t n = mcr_data_count(data), outputs = mcr_model_outputs(pca);
    double *all = mcr_blocks_reals(&r->p->scratch, n * outputs);
    to[0] = mcr_blocks_reals(&r->p->scratch, n);
    to[1] = mcr_blocks_reals(&r->p->scratch, n);
    if (!all || !to[0] || !to[1])
        return MCR_NO_MEMORY;
    mcr_status s = mcr_transform(r->p->ctx, pca, data, all);
    for (int64_t i = 0; i < n && !s; i++) {
        to[0][i] = all[i * outputs];
        to[1][i] = all[i * outputs + 1];
    }
    return s;
}

static void name_components(region *r, mcr_panel *panel, const mcr_model *pca)
{
    const mcr_report_fit *report = mcr_model_report(pca);
    for (int k = 0; k < 2; k++) {
        double share = report->variance[k] / report->total_variance;
        const char *text = mcr_blocks_format(&r->p->f->pool,
                                             "kernel principal component %d (%s %% of variance)",
                                             k + 1, mcr_plot_number(r->p, 100 * share, 3));
        *(k ? &panel->y.label : &panel->x.label) = text;
        mcr_figure_set_number(r->p->f, k ? "share2" : "share1", share);
    }
}

static mcr_status over_components(region *r)
{
    mcr_plotting *p = r->p;
    mcr_model *pca = NULL;
    mcr_data *seen = NULL;
    double *at[2];
    r->flat = true;
    mcr_status s = p->data ? mcr_model_prepare(&seen, p->ctx, p->model, p->data) : MCR_OK;
    const mcr_data *objects = seen ? seen : p->model->basis;
    if (!s)
        s = fit_components(r, objects, &pca);
    if (!s)
        s = coordinates(r, pca, p->model->basis, r->plane.support);
    r->plane.supports = mcr_data_count(p->model->basis);
    if (!s)
        s = coordinates(r, pca, objects, at);
    mcr_panel *panel = s ? NULL : mcr_frame_panel(p->f, 0, 0);
    if (!s && !panel)
        s = MCR_NO_MEMORY;
    if (!s) {
        plane_of(&r->plane, mcr_data_count(objects), at[0], at[1]);
        if (!seen)
            r->plane.n = 0;
        name_components(r, panel, pca);
    }
    bool linear = p->model->fitted->rule != MCR_RULE_OWN;
    if (!s && linear)
        s = find_linear(r, pca);
    if (!s && linear)
        s = draw_region(r, panel);
    if (!s)
        s = add_objects(r, panel);
    mcr_model_free(pca);
    mcr_data_free(r->some);
    mcr_data_free(seen);
    return s;
}

static mcr_status make(mcr_plotting *p)
{
    region r = {.p = p};
    mcr_rule rule = p->model->fitted->rule;
    r.scored = mcr_model_outputs(p->model) == 1 &&
               (rule == MCR_RULE_BINARY || rule == MCR_RULE_SIGN || rule == MCR_RULE_SOFTMAX);
    int64_t cols = mcr_plane_columns(p);
    bool own = rule == MCR_RULE_OWN && p->report->task == MCR_CLASSIFY;
    /* With a predictor of its own the learner has no straight line between the components. */
    bool columns = cols > 0 && (cols <= 2 || p->how->x || p->how->y || own);
    if (cols == 1 && p->report->task == MCR_CLUSTER)
        columns = false; /* the plane of two components shows them well */
    mcr_plot_title(p, "%s",
                   p->report->task == MCR_CLUSTER  ? "Clusters"
                   : p->report->task == MCR_DETECT ? "What counts as normal"
                                                   : "Decision boundary");
    if (own && !columns)
        return mcr_plot_refuse(p, MCR_BAD_CALL,
                               "%s of %.40s needs objects that are vectors: its decision is not "
                               "linear in feature space",
                               p->f->kind, p->report->learner);
    mcr_status s = columns ? over_columns(&r) : over_components(&r);
    mcr_plot_subtitle(p, "%s%s", mcr_plot_made_by(p),
                      !columns   ? "; in the plane of two components through the mean"
                      : cols > 2 ? "; other columns at their median"
                                 : "");
    mcr_plane_close(&r.plane);
    return s;
}

/* ---- kinds ---------------------------------------------------------------------------------- */

const mcr_plot_type mcr_plot_boundary = {
    {"boundary", "decision regions, boundary and margins, support vectors",
     "a model of a classifier or of outlier detection; data are shown as points"},
    .make = make,
    .tasks = 1u << MCR_CLASSIFY | 1u << MCR_DETECT,
};

/* Shows the clusters of the data instead of classes. */
const mcr_plot_type mcr_plot_clusters = {
    {"clusters", "objects by cluster, and the regions of the clusters", "a model of kmeans"},
    .make = make,
    .tasks = 1u << MCR_CLUSTER,
};
