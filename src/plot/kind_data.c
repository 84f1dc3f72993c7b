/* kind_data.c: data without a model: every column against every other, and histograms.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "plot/plotting.h"

enum { MOST_COLUMNS = 5 };

/* The columns shown; the last may be the target. */
typedef struct table {
    mcr_plotting *p;
    int columns;
    double *value[MOST_COLUMNS];
    const char *name[MOST_COLUMNS];
    mcr_scatter by; /* colours */
} table;

static mcr_status set_colours(table *t)
{
    mcr_plotting *p = t->p;
    t->by.n = mcr_data_count(p->data);
    t->by.legend = mcr_plot_has_classes(p->data);
    t->by.small = t->columns > 2;
    return mcr_plot_has_classes(p->data) ? mcr_plot_classes(p, p->data, &t->by) : MCR_OK;
}

static mcr_status add_histogram(table *t, int row, int col, int at)
{
    mcr_panel *panel = mcr_frame_panel(t->p->f, row, col);
    if (!panel)
        return MCR_NO_MEMORY;
    panel->y = (mcr_axis){.zero = true, .silent = t->columns > 1};
    bool bottom = row == t->columns - 1 || t->columns == 1;
    panel->x = (mcr_axis){.label = bottom ? t->name[at] : NULL, .silent = !bottom};
    if (t->columns == 1)
        panel->y.label = "objects";
    else if (col == 0)
        panel->y.label = t->name[at];
    panel->no_grid = t->columns > 1;
    return mcr_plot_histogram(t->p, panel, &t->by, t->value[at]);
}

static mcr_status add_scatter(table *t, int row, int col, bool outer)
{
    mcr_panel *panel = mcr_frame_panel(t->p->f, outer ? 0 : row, outer ? 0 : col);
    mcr_scatter s = t->by;
    if (!panel)
        return MCR_NO_MEMORY;
    s.x = t->value[col];
    s.y = t->value[row];
    s.small = s.small || !s.class_of;
    bool bottom = outer || row == t->columns - 1, left = outer || col == 0;
    panel->x = (mcr_axis){.label = bottom ? t->name[col] : NULL, .silent = !bottom};
    panel->y = (mcr_axis){.label = left ? t->name[row] : NULL, .silent = !left};
    panel->no_grid = !outer;
    return mcr_plot_scatter(t->p, panel, &s);
}

static mcr_status draw(table *t)
{
    mcr_status s = set_colours(t);
    if (s || t->columns == 1)
        return s ? s : add_histogram(t, 0, 0, 0);
    if (t->columns == 2 && (t->p->how->x || t->by.n > MCR_PLOT_POINTS || !t->by.class_of))
        return add_scatter(t, 1, 0, true);
    for (int row = 0; row < t->columns && !s; row++)
        for (int col = 0; col <= row && !s; col++)
            s = col == row ? add_histogram(t, row, col, row) : add_scatter(t, row, col, false);
    t->p->f->aspect = 0.95;
    return s;
}

/* ---- columns -------------------------------------------------------------------------------- */

static mcr_status add_column(table *t, const mcr_plane *plane, int64_t column)
{
    mcr_plotting *p = t->p;
    double *value = mcr_blocks_reals(&p->scratch, mcr_data_count(p->data));
    const char *name = mcr_plane_name(p, plane, column);
    if (!value || !name)
        return MCR_NO_MEMORY;
    t->value[t->columns] = value;
    t->name[t->columns++] = name;
    return mcr_plane_column(p, plane, column, value);
}

static mcr_status add_target(table *t)
{
    mcr_plotting *p = t->p;
    const double *target = mcr_data_targets(p->data);
    int64_t n = mcr_data_count(p->data);
    double *value = mcr_blocks_reals(&p->scratch, n);
    const char *name = mcr_blocks_text(&p->f->pool, mcr_plot_target_name(p));
    if (!value || !name)
        return MCR_NO_MEMORY;
    memcpy(value, target, (size_t)n * sizeof *value);
    t->value[t->columns] = value;
    t->name[t->columns++] = name;
    return MCR_OK;
}

static mcr_status from_vectors(mcr_plotting *p)
{
    table t = {.p = p};
    mcr_plane plane = {0};
    mcr_status s = mcr_plane_open(&plane, p, 2);
    bool numbers = !s && mcr_data_target_kind(p->data) == MCR_REAL_TARGETS &&
                   mcr_data_target_count(p->data) == 1 && !mcr_plot_has_classes(p->data);
    int64_t cols = s ? 0 : plane.cols, most = MOST_COLUMNS - numbers;
    if (!s && p->how->x) {
        s = add_column(&t, &plane, plane.x);
        if (!s && p->how->y)
            s = add_column(&t, &plane, plane.y);
        numbers = numbers && !p->how->y;
    } else {
        for (int64_t c = 0; c < cols && c < most && !s; c++)
            s = add_column(&t, &plane, c);
    }
    if (!s && numbers)
        s = add_target(&t);
    if (!s)
        s = draw(&t);
    int shown = t.columns - numbers;
    mcr_plane_close(&plane);
    mcr_plot_subtitle(
        p, shown < cols && !p->how->x ? "%lld objects; %d of %lld columns" : "%lld objects",
        (long long)t.by.n, shown, (long long)cols);
    return s;
}

/* ---- strings and graphs --------------------------------------------------------------------- */

static mcr_status from_sizes(mcr_plotting *p)
{
    table t = {.p = p, .columns = 1};
    int64_t n = mcr_data_count(p->data), field = -1;
    for (int64_t i = 0; i < p->data->fields && field < 0; i++)
        if (p->data->store[i]->kind == MCR_STRINGS || p->data->store[i]->kind == MCR_GRAPHS)
            field = i;
    if (field < 0)
        return mcr_plot_refuse(p, MCR_BAD_CALL,
                               "data that are a precomputed kernel have no columns to draw; a "
                               "kernel makes gram and spectrum possible");
    mcr_field f = mcr_data_field(p->data, field);
    t.value[0] = mcr_blocks_reals(&p->scratch, n);
    t.name[0] = f.store->kind == MCR_STRINGS ? "length" : "nodes";
    if (!t.value[0])
        return MCR_NO_MEMORY;
    for (int64_t i = 0; i < n; i++) {
        int64_t r = mcr_field_at(&f, i);
        t.value[0][i] = (double)(f.store->start[r + 1] - f.store->start[r]);
    }
    mcr_status s = draw(&t);
    p->f->aspect = 0.6;
    mcr_plot_subtitle(p, "%lld objects, field %.60s", (long long)n, f.store->name);
    return s;
}

static mcr_status make(mcr_plotting *p)
{
    if (!p->data)
        return mcr_plot_needs(p, "data");
    mcr_plotting alone = *p; /* the columns of the file, without the model's preprocessing */
    alone.model = NULL;
    alone.report = NULL;
    bool vectors = false;
    for (int64_t i = 0; i < p->data->fields; i++)
        vectors |= p->data->store[i]->kind == MCR_DENSE || p->data->store[i]->kind == MCR_SPARSE;
    mcr_status s = vectors ? from_vectors(&alone) : from_sizes(&alone);
    mcr_plot_title(&alone, "Data");
    p->scratch = alone.scratch;
    return s;
}

const mcr_plot_type mcr_plot_data = {
    {"data", "columns against one another, and histograms", "data"},
    .make = make,
};
