/* layout.c: the positions of the parts of a figure.
 *
 * From top to bottom: title, subtitle, legend (in lines, outside of the data), the grid of panels.
 * The margins of panels depend on their tick labels; panels of one row or column share them, so
 * that the axes are aligned. Sizes are relative to the font size, which depends on the width.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <string.h>

#include "plot/canvas.h"

enum { GRID = 16 }; /* rows and columns of panels, at most */

static double letter_size(const mcr_figure *f, double width)
{
    double size = width / 52 * (f->cols < 2 ? 1 : f->cols == 2 ? 0.95 : 0.85);
    return size < 10.5 ? 10.5 : size > 28 ? 28 : size;
}

/* ---- legend --------------------------------------------------------------------------------- */

static bool has_entry(const mcr_layout_of *l, const mcr_mark *m)
{
    for (int i = 0; i < l->entries; i++)
        if (strcmp(l->entry[i].mark->name, m->name) == 0)
            return true;
    return false;
}

static void collect_legend(mcr_layout_of *l, const mcr_frame *frame)
{
    for (int64_t p = 0; p < frame->panels; p++)
        for (int64_t m = 0; m < frame->panel[p].count; m++) {
            const mcr_mark *mark = &frame->panel[p].mark[m];
            if (mark->legend && mark->name && l->entries < MCR_LEGEND && !has_entry(l, mark))
                l->entry[l->entries++].mark = mark;
        }
}

/* Places the entries line by line; returns the bottom. */
static double place_legend(mcr_layout_of *l, double top)
{
    double x = l->font * 0.9, y = top + l->font * 1.2;
    for (int i = 0; i < l->entries; i++) {
        double width = l->font * (mcr_text_width(l->entry[i].mark->name) * 0.95 + 3.2);
        if (x > l->font && x + width > l->width - l->font * 0.5) {
            x = l->font * 0.9;
            y += l->font * 1.45;
        }
        l->entry[i].x = x;
        l->entry[i].y = y;
        x += width;
    }
    return l->entries ? y + l->font * 0.5 : top;
}

/* ---- margins -------------------------------------------------------------------------------- */

static double widest(const mcr_ticks *t)
{
    double most = 0;
    for (int i = 0; i < t->count; i++)
        most = fmax(most, mcr_text_width(t->tick[i].text));
    return most;
}

typedef struct margins {
    double left[GRID], right[GRID], top[GRID], bottom[GRID];
} margins;

/* Ticks for boxes of about this size, and the space for their labels. */
static void measure(mcr_layout_of *l, const mcr_panel *p, mcr_place *at, double w, double h,
                    margins *m)
{
    double fs = l->font * 0.92;
    int across = (int)(w / (fs * 5.5)), up = (int)(h / (fs * (p->y.names ? 1.25 : 3.4)));
    if (p->x.names)
        across = (int)(w / (fs * 1.5));
    mcr_axis_ticks(&p->x, across < 2 ? 2 : across, &at->x);
    mcr_axis_ticks(&p->y, up < 2 ? 2 : up, &at->y);
    double slot = at->x.count ? w / at->x.count : w;
    at->turned = p->x.names && widest(&at->x) * fs > slot * 0.95;
    double below = at->x.count == 0 ? 0.4 : at->turned ? widest(&at->x) * 0.64 + 1 : 1.35;
    double left = at->y.count == 0 ? 0.5 : widest(&at->y) + 0.6;
    left = fs * (left + (p->y.label ? 1.5 : 0.2));
    m->left[p->col] = fmax(m->left[p->col], left);
    m->bottom[p->row] = fmax(m->bottom[p->row], fs * (below + (p->x.label ? 1.6 : 0.3)));
    m->top[p->row] = fmax(m->top[p->row], p->title ? fs * 1.75 : fs * 0.6);
    m->right[p->col] = fmax(m->right[p->col], p->bar ? fs * 5.6 : fs * 0.9);
}

static void place_panel(const mcr_layout_of *l, const mcr_panel *p, mcr_place *at, mcr_box cell,
                        const margins *m)
{
    double fs = l->font * 0.92;
    mcr_box b = {cell.x + m->left[p->col], cell.y + m->top[p->row], 0, 0};
    b.w = fmax(cell.w - m->left[p->col] - m->right[p->col], 8);
    b.h = fmax(cell.h - m->top[p->row] - m->bottom[p->row], 8);
    if (p->equal) {
        double ratio = (p->y.max - p->y.min) / (p->x.max - p->x.min);
        double w = fmin(b.w, b.h / ratio), h = w * ratio;
        b.x += (b.w - w) / 2;
        b.w = w;
        b.h = h;
    }
    at->box = b;
    if (p->bar)
        at->bar = (mcr_box){b.x + b.w + fs * 0.8, b.y, fs * 0.9, b.h};
    double below = at->x.count == 0 ? 0.4 : at->turned ? widest(&at->x) * 0.64 + 1 : 1.35;
    at->x_label = b.y + b.h + fs * (below + 1.15);
    at->y_label = b.x - fs * ((at->y.count ? widest(&at->y) + 0.6 : 0.5) + 0.55);
}

static void place_panels(mcr_layout_of *l, const mcr_figure *f, double top)
{
    const mcr_frame *frame = &f->frame[0];
    int rows = f->rows < GRID ? f->rows : GRID, cols = f->cols < GRID ? f->cols : GRID;
    double w = (l->width - l->font * 0.8) / cols, h = (l->height - top - l->font * 0.3) / rows;
    /* Two passes: the number of ticks depends on the space that the first margins leave. */
    margins m = {{0}, {0}, {0}, {0}};
    for (int64_t p = 0; p < frame->panels; p++)
        measure(l, &frame->panel[p], &l->place[p], w * 0.8, h * 0.8, &m);
    margins again = {{0}, {0}, {0}, {0}};
    for (int64_t p = 0; p < frame->panels; p++) {
        const mcr_panel *panel = &frame->panel[p];
        measure(l, panel, &l->place[p], w - m.left[panel->col] - m.right[panel->col],
                h - m.top[panel->row] - m.bottom[panel->row], &again);
    }
    /* All boxes have the same size: the space between the margins is divided evenly. */
    double wide = l->width - l->font * 0.8, high = l->height - top - l->font * 0.3;
    for (int k = 0; k < cols; k++)
        wide -= again.left[k] + again.right[k];
    for (int k = 0; k < rows; k++)
        high -= again.top[k] + again.bottom[k];
    for (int64_t p = 0; p < frame->panels; p++) {
        const mcr_panel *panel = &frame->panel[p];
        mcr_box cell = {l->font * 0.4, top, wide / cols, high / rows};
        for (int k = 0; k < panel->col; k++)
            cell.x += again.left[k] + again.right[k] + wide / cols;
        for (int k = 0; k < panel->row; k++)
            cell.y += again.top[k] + again.bottom[k] + high / rows;
        cell.w += again.left[panel->col] + again.right[panel->col];
        cell.h += again.top[panel->row] + again.bottom[panel->row];
        place_panel(l, panel, &l->place[p], cell, &again);
    }
}

mcr_status mcr_layout_open(mcr_layout_of *l, const mcr_figure *f, const mcr_draw *draw)
{
    *l = (mcr_layout_of){.width = draw->width, .height = draw->height, .pool = {.ctx = f->ctx}};
    l->font = letter_size(f, l->width);
    l->unit = l->font / 13;
    l->panels = f->frame[0].panels;
    l->place = mcr_blocks_take(&l->pool, l->panels, sizeof *l->place);
    if (!l->place) {
        mcr_blocks_free(&l->pool);
        return MCR_NO_MEMORY;
    }
    double y = l->font * 0.5;
    if (f->title)
        y = l->title = y + l->font * 1.25;
    l->frame = y;
    if (f->subtitle)
        y = l->subtitle = y + l->font * 1.25;
    collect_legend(l, &f->frame[0]);
    y = place_legend(l, y + l->font * 0.25);
    place_panels(l, f, y + l->font * 0.3);
    return MCR_OK;
}

void mcr_layout_close(mcr_layout_of *l)
{
    mcr_blocks_free(&l->pool);
}
