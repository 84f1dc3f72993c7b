/* kind_gram.c: the kernel matrix as a heat map, and its eigenvalues.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdlib.h>

#include "linalg/shared.h"
#include "plot/plotting.h"

enum { SHOWN = 400, CLUSTERS = 4, LAMBDAS = 121 };

/* Some objects and their kernel matrix. */
typedef struct matrix {
    mcr_kernel *kernel;
    mcr_data *some;
    int64_t all, n;
    double *k;
} matrix;

static void close_matrix(matrix *m)
{
    mcr_data_free(m->some);
    mcr_kernel_free(m->kernel);
}

static mcr_status open_matrix(mcr_plotting *p, int64_t most, matrix *m)
{
    mcr_data *seen = NULL;
    mcr_gram *gram = NULL;
    mcr_status s = MCR_OK;
    if (!p->model && !p->how->kernel)
        return mcr_plot_needs(p, "a kernel, or a model, which has one");
    m->kernel = mcr_kernel_retain(p->model ? p->model->kernel : p->how->kernel);
    if (p->model && p->data)
        s = mcr_model_prepare(&seen, p->ctx, p->model, p->data);
    else
        seen = mcr_data_retain(p->data ? p->data : p->model->basis);
    m->all = s ? 0 : mcr_data_count(seen);
    int64_t *row = s ? NULL : mcr_plot_thin(p, m->all, most, &m->n);
    if (!s)
        s = row ? mcr_data_select(&m->some, seen, (mcr_rows){row, 0, m->n}) : MCR_NO_MEMORY;
    mcr_data_free(seen);
    m->k = s ? NULL : mcr_blocks_reals(&p->scratch, m->n * m->n);
    if (!s && !m->k)
        s = MCR_NO_MEMORY;
    if (!s)
        s = mcr_gram_open(&gram, p->ctx, m->kernel, m->some, NULL);
    if (!s)
        s = mcr_gram_matrix(gram, m->k, m->n);
    mcr_gram_close(gram);
    return s;
}

/* "rbf(gamma=2); 400 of 1000 objects". */
static void say_objects(mcr_plotting *p, const matrix *m)
{
    char kernel[320];
    mcr_plot_shorten(mcr_kernel_text(m->kernel), kernel, sizeof kernel, false);
    if (m->n < m->all)
        mcr_plot_subtitle(p, "%.200s; %lld of %lld objects", kernel, (long long)m->n,
                          (long long)m->all);
    else
        mcr_plot_subtitle(p, "%.200s; %lld objects", kernel, (long long)m->n);
}

/* ---- order ---------------------------------------------------------------------------------- */

typedef struct placed {
    int32_t group;
    double near; /* to its own group: central objects come first */
    int64_t object;
} placed;

static int in_order(const void *a, const void *b)
{
    const placed *x = a, *y = b;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    if (x->near != y->near)
        return x->near > y->near ? -1 : 1;
    return (x->object > y->object) - (x->object < y->object);
}

/* Clusters as groups, if the data have no classes. */
static mcr_status find_clusters(mcr_plotting *p, const matrix *m, mcr_scatter *s)
{
    mcr_options *options = NULL;
    mcr_model *model = NULL;
    char count[] = {(char)('0' + (m->n < CLUSTERS ? m->n : CLUSTERS)), '\0'};
    mcr_status status = mcr_options_open(&options, p->ctx, "kmeans");
    if (!status)
        status = mcr_options_set(options, "clusters", count);
    if (!status)
        status = mcr_fit(&model, options, m->kernel, m->some, NULL);
    if (!status)
        status = mcr_plot_by_cluster(p, model, m->some, s);
    mcr_model_free(model);
    mcr_options_close(options);
    return status;
}

static mcr_status sort_objects(mcr_plotting *p, const matrix *m, const mcr_scatter *s, placed **out)
{
    placed *list = *out = mcr_blocks_take(&p->scratch, m->n, sizeof *list);
    if (!list)
        return MCR_NO_MEMORY;
    for (int64_t i = 0; i < m->n; i++) {
        list[i] = (placed){s->class_of[i], 0, i};
        for (int64_t j = 0; j < m->n; j++)
            if (s->class_of[j] == s->class_of[i])
                list[i].near += m->k[i * m->n + j];
    }
    qsort(list, (size_t)m->n, sizeof *list, in_order);
    return MCR_OK;
}

/* ---- heat map ------------------------------------------------------------------------------- */

/* A strip of the groups' colours along one side; down: the left side. */
static mcr_status add_strip(mcr_plotting *p, mcr_panel *panel, const placed *list, int64_t n,
                            bool down)
{
    mcr_mark *m = mcr_panel_mark(p->f, panel, MCR_MARK_CELLS, "groups");
    double *value = mcr_blocks_reals(&p->f->pool, n), size = (double)n;
    if (!m || !value)
        return MCR_NO_MEMORY;
    for (int64_t i = 0; i < n; i++)
        value[i] = (down ? list[n - 1 - i].group : list[i].group) + 0.97;
    m->value = value;
    m->cols = down ? 1 : n;
    m->rows = down ? n : 1;
    m->x0 = down ? -0.04 * size : 0;
    m->x1 = down ? -0.012 * size : size;
    m->y0 = down ? 0 : -0.04 * size;
    m->y1 = down ? size : -0.012 * size;
    m->ramp = MCR_RAMP_CLASSES;
    return MCR_OK;
}

/* Draws nothing, but adds the colour to the legend. */
static mcr_status add_keys(mcr_plotting *p, mcr_panel *panel, const mcr_scatter *s)
{
    for (int64_t c = 0; c < s->classes; c++) {
        mcr_mark *m = mcr_panel_mark(p->f, panel, MCR_MARK_BARS, s->class_name[c]);
        if (!m)
            return MCR_NO_MEMORY;
        m->ink = mcr_class_ink(c);
        m->legend = true;
    }
    return MCR_OK;
}

static mcr_status add_matrix(mcr_plotting *p, mcr_panel *panel, const matrix *m, const placed *list)
{
    int64_t n = m->n;
    mcr_mark *mark = mcr_panel_mark(p->f, panel, MCR_MARK_CELLS, "kernel");
    double *value = mcr_blocks_reals(&p->f->pool, n * n), low = INFINITY, high = -INFINITY;
    if (!mark || !value)
        return MCR_NO_MEMORY;
    for (int64_t r = 0; r < n; r++)
        for (int64_t q = 0; q < n; q++) {
            double v = m->k[list[r].object * n + list[q].object];
            value[(n - 1 - r) * n + q] = v; /* the first object is at the top */
        }
    mcr_plot_widen(&low, &high, value, n * n);
    mark->value = value;
    mark->rows = mark->cols = n;
    mark->x1 = mark->y1 = (double)n;
    mark->v0 = low < 0 || low > 0.2 * high ? low : 0;
    mark->v1 = high > mark->v0 ? high : mark->v0 + 1;
    if (low < 0) {
        mark->ramp = MCR_RAMP_DIVERGING;
        mark->v1 = fmax(high, -low);
        mark->v0 = -mark->v1;
    }
    return MCR_OK;
}

static mcr_status draw_gram(mcr_plotting *p, const matrix *m)
{
    mcr_scatter s = {.n = m->n};
    placed *list = NULL;
    bool classes = mcr_plot_has_classes(m->some);
    mcr_status status = classes ? mcr_plot_classes(p, m->some, &s) : find_clusters(p, m, &s);
    if (!status)
        status = sort_objects(p, m, &s, &list);
    mcr_panel *panel = status ? NULL : mcr_frame_panel(p->f, 0, 0);
    if (!status && !panel)
        status = MCR_NO_MEMORY;
    if (!status)
        status = add_matrix(p, panel, m, list);
    if (!status)
        status = add_strip(p, panel, list, m->n, true);
    if (!status)
        status = add_strip(p, panel, list, m->n, false);
    if (!status)
        status = add_keys(p, panel, &s);
    if (status)
        return status;
    double size = (double)m->n;
    panel->x = (mcr_axis){.label = classes ? "objects, by class" : "objects, by cluster",
                          .min = -0.05 * size,
                          .max = 1.01 * size,
                          .silent = true};
    panel->y = panel->x;
    panel->equal = panel->no_grid = true;
    panel->bar = "kernel value";
    p->f->aspect = 0.86;
    return MCR_OK;
}

static mcr_status make_gram(mcr_plotting *p)
{
    matrix m = {0};
    mcr_status s = open_matrix(p, SHOWN, &m);
    if (!s)
        s = draw_gram(p, &m);
    mcr_plot_title(p, "Kernel matrix");
    if (!s)
        say_objects(p, &m);
    close_matrix(&m);
    return s;
}

const mcr_plot_type mcr_plot_gram = {
    {"gram", "the kernel matrix, ordered by class or cluster", "a model, or data and a kernel"},
    .make = make_gram,
};

/* ---- eigenvalues ---------------------------------------------------------------------------- */

static mcr_status add_eigenvalues(mcr_plotting *p, const double *value, int64_t rank)
{
    mcr_panel *panel = mcr_frame_panel(p->f, 0, 0);
    mcr_mark *m = panel ? mcr_panel_xy(p->f, panel, MCR_MARK_LINE, "eigenvalues", rank) : NULL;
    double *x = m ? m->x : NULL, *y = m ? m->y : NULL;
    if (!m)
        return MCR_NO_MEMORY;
    for (int64_t i = 0; i < rank; i++) {
        x[i] = (double)i + 1;
        y[i] = value[i];
    }
    m->width = 1;
    m = mcr_panel_over(p->f, panel, MCR_MARK_POINTS, "eigenvalues", rank, x, y);
    if (!m)
        return MCR_NO_MEMORY;
    m->size = rank > 60 ? 3.5 : 6;
    panel->x = (mcr_axis){.label = "number", .log = rank > 20};
    panel->y = (mcr_axis){.label = "eigenvalue of K / n", .log = true};
    return MCR_OK;
}

/* The effective dimension d(lambda) = sum of mu / (mu + lambda). */
static mcr_status add_dimension(mcr_plotting *p, const double *value, int64_t rank)
{
    mcr_panel *panel = mcr_frame_panel(p->f, 0, 1);
    mcr_mark *m = panel ? mcr_panel_xy(p->f, panel, MCR_MARK_LINE, "effective dimension", LAMBDAS)
                        : NULL;
    if (!m)
        return MCR_NO_MEMORY;
    double low = log(fmax(value[rank - 1], 1e-12 * value[0]) / 10), high = log(value[0] * 10);
    for (int i = 0; i < LAMBDAS; i++) {
        m->x[i] = exp(low + (high - low) * i / (LAMBDAS - 1));
        for (int64_t k = 0; k < rank; k++)
            m->y[i] += value[k] / (value[k] + m->x[i]);
    }
    m->ink = MCR_INK_CLASS + 1;
    m->width = 2.2;
    panel->x = (mcr_axis){.label = "penalty λ", .log = true, .tight = true};
    panel->y = (mcr_axis){.label = "effective dimension", .zero = true};
    return MCR_OK;
}

static void set_numbers(mcr_plotting *p, const double *value, int64_t rank)
{
    double sum = 0, squares = 0, part = 0;
    int64_t most = 0;
    for (int64_t i = 0; i < rank; i++) {
        sum += value[i];
        squares += value[i] * value[i];
    }
    while (most < rank && part < 0.9 * sum)
        part += value[most++];
    mcr_figure_set_number(p->f, "trace", sum);
    mcr_figure_set_number(p->f, "rank", (double)rank);
    mcr_figure_set_number(p->f, "participation", sum * sum / squares);
    mcr_figure_set_number(p->f, "components90", (double)most);
    mcr_plot_title(p, "Eigenvalues of the kernel matrix: %lld of %lld hold 90 %%", (long long)most,
                   (long long)rank);
}

static mcr_status make_spectrum(mcr_plotting *p)
{
    matrix m = {0};
    mcr_status s = open_matrix(p, MCR_PLOT_MATRIX, &m);
    double *rising = mcr_blocks_reals(&p->scratch, m.n),
           *value = mcr_blocks_reals(&p->scratch, m.n);
    if (!s && (!rising || !value))
        s = MCR_NO_MEMORY;
    if (!s)
        s = mcr_shared_eigen(p->ctx, m.n, m.k, m.n, rising);
    int64_t rank = 0;
    for (int64_t i = 0; i < m.n && !s; i++) {
        double v = rising[m.n - 1 - i];
        if (v > 1e-13 * (double)m.n * rising[m.n - 1])
            value[rank++] = v / (double)m.n;
    }
    if (!s && !rank)
        s = mcr_fail(p->ctx, MCR_NUMERIC, "the kernel matrix has no positive eigenvalue");
    if (!s)
        s = add_eigenvalues(p, value, rank);
    if (!s)
        s = add_dimension(p, value, rank);
    if (!s) {
        set_numbers(p, value, rank);
        say_objects(p, &m);
    }
    p->f->aspect = 0.5;
    close_matrix(&m);
    return s;
}

const mcr_plot_type mcr_plot_spectrum = {
    {"spectrum", "eigenvalues of the kernel matrix, effective dimension",
     "a model, or data and a kernel"},
    .make = make_spectrum,
};
