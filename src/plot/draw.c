/* draw.c: draws a figure on a canvas.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <string.h>

#include "plot/canvas.h"
#include "plot/colour.h"

enum { LEVELS = 31, CELLS_AS_BOXES = 2500 };

typedef struct drawing {
    mcr_canvas *c;
    const mcr_figure *f;
    const mcr_layout_of *l;
    const mcr_panel *p;
    const mcr_place *at;
    mcr_blocks scratch;
} drawing;

int mcr_shape_outline(mcr_shape shape, double *px, double *py)
{
    static const double diamond[] = {0, -0.6, 0.6, 0, 0, 0.6, -0.6, 0};
    static const double triangle[] = {0, -0.62, 0.58, 0.42, -0.58, 0.42};
    static const double square[] = {-0.46, -0.46, 0.46, -0.46, 0.46, 0.46, -0.46, 0.46};
    static const double cross[] = {-0.46, -0.46, 0.46, 0.46, -0.46, 0.46, 0.46, -0.46};
    const double *from = shape == MCR_SHAPE_DIAMOND    ? diamond
                         : shape == MCR_SHAPE_TRIANGLE ? triangle
                         : shape == MCR_SHAPE_SQUARE   ? square
                         : shape == MCR_SHAPE_CROSS    ? cross
                                                       : NULL;
    int count = !from ? 0 : shape == MCR_SHAPE_TRIANGLE ? 3 : 4;
    for (int i = 0; i < count; i++) {
        px[i] = from[2 * i];
        py[i] = from[2 * i + 1];
    }
    return count;
}

/* ---- where values lie ----------------------------------------------------------------------- */

/* Clamps values far outside; NAN stays NAN. */
static double near(double share)
{
    return share < -50 ? -50 : share > 50 ? 50 : share;
}

static double across(const drawing *d, double v)
{
    return d->at->box.x + d->at->box.w * near(mcr_axis_share(&d->p->x, v));
}

static double up(const drawing *d, double v)
{
    return d->at->box.y + d->at->box.h * (1 - near(mcr_axis_share(&d->p->y, v)));
}

static double *place_all(drawing *d, const double *v, int64_t count, bool vertical)
{
    double *to = mcr_blocks_reals(&d->scratch, count);
    if (!to)
        d->c->status = MCR_NO_MEMORY;
    for (int64_t i = 0; to && i < count; i++)
        to[i] = vertical ? up(d, v[i]) : across(d, v[i]);
    return to;
}

static double alpha_of(const mcr_mark *m)
{
    return m->alpha > 0 ? m->alpha : 1;
}

/* ---- marks ---------------------------------------------------------------------------------- */

static double point_size(const drawing *d, const mcr_mark *m)
{
    double count = 1;
    for (int64_t i = 0; i < d->p->count; i++)
        if (d->p->mark[i].type == MCR_MARK_POINTS)
            count += (double)d->p->mark[i].count;
    double size = fmin(fmax(11.5 - 2.3 * log10(count), 2.2), 8);
    double small = fmin(1, sqrt(d->at->box.w * d->at->box.h) / (330 * d->l->unit) + 0.25);
    if (m->shape == MCR_SHAPE_RING)
        size += 3.4;
    return (m->size > 0 ? m->size : size * small) * d->l->unit;
}

static void draw_points(drawing *d, const mcr_mark *m)
{
    double *x = place_all(d, m->x, m->count, false), *y = place_all(d, m->y, m->count, true);
    if (!x || !y)
        return;
    double size = point_size(d, m);
    bool open = m->shape == MCR_SHAPE_RING || m->shape == MCR_SHAPE_CROSS;
    mcr_style s = {.fill = open ? MCR_INK_NONE : m->ink,
                   .stroke = open ? m->ink : MCR_INK_PAPER,
                   .fill_alpha = alpha_of(m),
                   .stroke_alpha = open ? alpha_of(m) : 0.75,
                   .width = (open ? 1.2 : 0.7) * d->l->unit};
    if (m->value && !open) { /* on a surface of the same colours: a ring that is visible on all */
        s.stroke = MCR_INK_RGB + 0xffffff;
        s.stroke_alpha = 0.95;
        s.width = 1.1 * d->l->unit;
        size = fmax(size, 4.5 * d->l->unit);
    }
    if ((int)m->ink >= MCR_INK_RGB && !open) { /* white on any colour: a dark ring */
        s.stroke = MCR_INK_RGB + 0x1d2126;
        s.width = 0.5 * d->l->unit;
    }
    if (!open && size < 4 * d->l->unit)
        s.stroke = MCR_INK_NONE;
    if (!m->value) {
        d->c->type->dots(d->c, x, y, m->count, m->shape, size, &s);
        return;
    }
    /* Grouped by colour, so that a back end can draw many at once. */
    double *gx = mcr_blocks_reals(&d->scratch, m->count),
           *gy = mcr_blocks_reals(&d->scratch, m->count);
    if (!gx || !gy) {
        d->c->status = MCR_NO_MEMORY;
        return;
    }
    for (int level = 0; level <= LEVELS; level++) {
        int64_t count = 0;
        for (int64_t i = 0; i < m->count; i++) {
            double t = m->v1 > m->v0 ? (m->value[i] - m->v0) / (m->v1 - m->v0) : 0.5;
            t = t > 0 ? t < 1 ? t : 1 : 0;
            if ((int)(t * LEVELS + 0.5) == level) {
                gx[count] = x[i];
                gy[count++] = y[i];
            }
        }
        s.fill = (mcr_ink)(MCR_INK_RGB + (int)mcr_ramp_rgb(m->ramp, (double)level / LEVELS));
        if (count)
            d->c->type->dots(d->c, gx, gy, count, m->shape, size, &s);
    }
}

static void draw_line(drawing *d, const mcr_mark *m)
{
    double *x = place_all(d, m->x, m->count, false), *y = place_all(d, m->y, m->count, true);
    mcr_style s = {.fill = MCR_INK_NONE,
                   .stroke = m->ink,
                   .stroke_alpha = alpha_of(m),
                   .width = (m->width > 0 ? m->width : 1.8) * d->l->unit,
                   .dashed = m->dashed};
    if (x && y)
        d->c->type->path(d->c, x, y, m->count, false, &s);
}

static void draw_band(drawing *d, const mcr_mark *m)
{
    int64_t n = m->count;
    double *x = mcr_blocks_reals(&d->scratch, 2 * n), *y = mcr_blocks_reals(&d->scratch, 2 * n);
    if (!x || !y) {
        d->c->status = MCR_NO_MEMORY;
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        x[i] = x[2 * n - 1 - i] = across(d, m->x[i]);
        y[i] = up(d, m->high[i]);
        y[2 * n - 1 - i] = up(d, m->low[i]);
    }
    mcr_style s = {.fill = m->ink, .stroke = MCR_INK_NONE, .fill_alpha = alpha_of(m)};
    d->c->type->path(d->c, x, y, 2 * n, true, &s);
}

static void draw_bars(drawing *d, const mcr_mark *m)
{
    for (int64_t i = 0; i < m->count; i++) {
        double base = m->low ? m->low[i] : 0, half = m->width / 2;
        if (!m->low && (m->sideways ? d->p->x.log : d->p->y.log))
            base = m->sideways ? d->p->x.min : d->p->y.min;
        double a = m->sideways ? across(d, base) : across(d, m->x[i] - half);
        double b = m->sideways ? across(d, m->y[i]) : across(d, m->x[i] + half);
        double e = m->sideways ? up(d, m->x[i] - half) : up(d, base);
        double g = m->sideways ? up(d, m->x[i] + half) : up(d, m->y[i]);
        mcr_box box = {fmin(a, b), fmin(e, g), fabs(b - a), fabs(g - e)};
        mcr_style s = {.fill = m->ink, .stroke = MCR_INK_NONE, .fill_alpha = alpha_of(m)};
        if (box.w > 0 && box.h > 0)
            d->c->type->rect(d->c, box, &s);
    }
}

/* ---- cells ---------------------------------------------------------------------------------- */

/* The value rounded to few enough levels for a palette. */
static double level_of(const mcr_mark *m, double v)
{
    if (m->ramp == MCR_RAMP_CLASSES) {
        double class = floor(v);
        return class + floor((v - class) * LEVELS) / LEVELS;
    }
    double span = m->v1 - m->v0, steps = 127;
    return span > 0 ? m->v0 + floor((v - m->v0) / span * steps + 0.5) / steps * span : v;
}

static void draw_boxes(drawing *d, const mcr_mark *m)
{
    for (int64_t r = 0; r < m->rows; r++)
        for (int64_t q = 0; q < m->cols; q++) {
            double v = m->value[r * m->cols + q];
            if (!isfinite(v))
                continue;
            double w = (m->x1 - m->x0) / (double)m->cols, h = (m->y1 - m->y0) / (double)m->rows;
            double a = across(d, m->x_edge ? m->x_edge[q] : m->x0 + w * (double)q);
            double b = across(d, m->x_edge ? m->x_edge[q + 1] : m->x0 + w * (double)(q + 1));
            double e = up(d, m->y_edge ? m->y_edge[r] : m->y0 + h * (double)r);
            double g = up(d, m->y_edge ? m->y_edge[r + 1] : m->y0 + h * (double)(r + 1));
            uint32_t colour = mcr_ramp_colour(m, v, d->c->dark);
            mcr_style s = {.fill = m->ramp == MCR_RAMP_INK
                                       ? m->ink
                                       : (mcr_ink)(MCR_INK_RGB + (int)(colour & 0xffffff)),
                           .stroke = MCR_INK_PAPER,
                           .fill_alpha = (double)(colour >> 24) / 255 * alpha_of(m),
                           .stroke_alpha = 1,
                           .width = 0.8 * d->l->unit};
            d->c->type->rect(d->c, (mcr_box){fmin(a, b), fmin(e, g), fabs(b - a), fabs(e - g)}, &s);
        }
}

static void draw_cells(drawing *d, const mcr_mark *m)
{
    int64_t cells = m->rows * m->cols;
    if (m->x_edge || m->y_edge ||
        (cells <= CELLS_AS_BOXES && m->rows > 1 && m->cols > 1 && !m->smooth)) {
        draw_boxes(d, m);
        return;
    }
    uint32_t *argb = mcr_blocks_take(&d->scratch, cells, sizeof *argb);
    if (!argb) {
        d->c->status = MCR_NO_MEMORY;
        return;
    }
    for (int64_t r = 0; r < m->rows; r++)
        for (int64_t q = 0; q < m->cols; q++) {
            uint32_t colour = mcr_ramp_colour(m, level_of(m, m->value[r * m->cols + q]),
                                              d->c->dark);
            uint32_t opacity = (uint32_t)((colour >> 24) * alpha_of(m) + 0.5);
            argb[(m->rows - 1 - r) * m->cols + q] = (colour & 0xffffff) | opacity << 24;
        }
    double a = across(d, m->x0), b = across(d, m->x1), e = up(d, m->y1), g = up(d, m->y0);
    mcr_image image = {m->cols, m->rows, argb, m->smooth};
    d->c->type->image(d->c, (mcr_box){a, e, b - a, g - e}, &image);
}

static void draw_texts(drawing *d, const mcr_mark *m)
{
    double size = (m->size > 0 ? m->size / 13 : 0.9) * d->l->font;
    mcr_font font = {.size = size, .anchor = m->anchor, .ink = m->ink};
    for (int64_t i = 0; i < m->count; i++)
        d->c->type->text(d->c, across(d, m->x[i]), up(d, m->y[i]) + size * 0.35, m->text[i], &font);
}

static void draw_letters(drawing *d, const mcr_mark *m)
{
    for (int64_t i = 0; i < m->count; i++) {
        double a = across(d, m->x[i] - 0.47), b = across(d, m->x[i] + 0.47);
        double e = up(d, m->high[i]), g = up(d, m->low[i]);
        if (g - e > 0.5)
            d->c->type->letter(d->c, (mcr_box){a, e, b - a, g - e}, m->text[i],
                               m->value ? (mcr_ink)m->value[i] : m->ink);
    }
}

static void draw_mark(drawing *d, const mcr_mark *m)
{
    switch (m->type) {
    case MCR_MARK_POINTS: draw_points(d, m); break;
    case MCR_MARK_LINE: draw_line(d, m); break;
    case MCR_MARK_BAND: draw_band(d, m); break;
    case MCR_MARK_BARS: draw_bars(d, m); break;
    case MCR_MARK_CELLS: draw_cells(d, m); break;
    case MCR_MARK_TEXT: draw_texts(d, m); break;
    case MCR_MARK_LETTERS: draw_letters(d, m); break;
    }
    mcr_blocks_free(&d->scratch);
}

/* ---- axes ----------------------------------------------------------------------------------- */

static void rule(mcr_canvas *c, double x0, double y0, double x1, double y1, mcr_ink ink,
                 double width)
{
    double x[] = {x0, x1}, y[] = {y0, y1};
    mcr_style s = {.fill = MCR_INK_NONE, .stroke = ink, .stroke_alpha = 1, .width = width};
    c->type->path(c, x, y, 2, false, &s);
}

/* A text of at most `most` pixels: set in smaller letters, then truncated. */
static void put_fitted(mcr_canvas *c, double x, double y, const char *text, double most,
                       mcr_font font)
{
    const double smallest = 0.74, wide = font.bold ? 1.14 : 1.06;
    char cut[256];
    double width = mcr_text_width(text) * font.size * wide;
    if (width > most)
        font.size *= fmax(most / width, smallest);
    if (width * smallest > most) {
        int count = (int)(mcr_text_columns(text) * most / (width * smallest)) - 1;
        size_t bytes = mcr_text_bytes(text, count > 1 ? count : 1);
        bytes = bytes < sizeof cut - 4 ? bytes : mcr_text_bytes(text, 60);
        memcpy(cut, text, bytes);
        strcpy(cut + bytes, "…");
        text = cut;
    }
    c->type->text(c, x, y, text, &font);
}

static void draw_grid(const drawing *d)
{
    const mcr_box *b = &d->at->box;
    if (d->p->no_grid)
        return;
    for (int i = 0; i < d->at->x.count && !d->p->x.names; i++) {
        double x = across(d, d->at->x.tick[i].at);
        rule(d->c, x, b->y, x, b->y + b->h, MCR_INK_GRID, d->l->unit);
    }
    for (int i = 0; i < d->at->y.count && !d->p->y.names; i++) {
        double y = up(d, d->at->y.tick[i].at);
        rule(d->c, b->x, y, b->x + b->w, y, MCR_INK_GRID, d->l->unit);
    }
}

static void draw_axis_texts(const drawing *d)
{
    const mcr_box *b = &d->at->box;
    double fs = d->l->font * 0.92;
    mcr_font below = {.size = fs, .anchor = 0.5, .ink = MCR_INK_MUTED};
    if (d->at->turned)
        below = (mcr_font){.size = fs, .anchor = 1, .angle = -40, .ink = MCR_INK_MUTED};
    mcr_font beside = {.size = fs, .anchor = 1, .ink = MCR_INK_MUTED};
    for (int i = 0; i < d->at->x.count; i++)
        d->c->type->text(d->c, across(d, d->at->x.tick[i].at), b->y + b->h + fs * 1.2,
                         d->at->x.tick[i].text, &below);
    for (int i = 0; i < d->at->y.count; i++)
        d->c->type->text(d->c, b->x - fs * 0.4, up(d, d->at->y.tick[i].at) + fs * 0.35,
                         d->at->y.tick[i].text, &beside);
    mcr_font label = {.size = fs, .anchor = 0.5, .ink = MCR_INK_TEXT};
    if (d->p->x.label)
        put_fitted(d->c, b->x + b->w / 2, d->at->x_label, d->p->x.label, b->w * 1.15, label);
    label.angle = -90;
    if (d->p->y.label)
        put_fitted(d->c, d->at->y_label, b->y + b->h / 2, d->p->y.label, b->h * 1.1, label);
    mcr_font title = {.size = fs, .anchor = 0, .ink = MCR_INK_TEXT, .bold = true};
    if (d->p->title)
        put_fitted(d->c, b->x, b->y - fs * 0.55, d->p->title, b->w, title);
}

static void draw_frame_box(const drawing *d)
{
    mcr_style s = {
        .fill = MCR_INK_NONE, .stroke = MCR_INK_FRAME, .stroke_alpha = 1, .width = d->l->unit};
    d->c->type->rect(d->c, d->at->box, &s);
}

static void draw_bar(const drawing *d)
{
    enum { STEPS = 64 };
    const mcr_mark *m = NULL;
    for (int64_t i = 0; i < d->p->count && !m; i++)
        if (d->p->mark[i].value && d->p->mark[i].ramp <= MCR_RAMP_DIVERGING)
            m = &d->p->mark[i];
    if (!d->p->bar || !m)
        return;
    uint32_t argb[STEPS];
    for (int i = 0; i < STEPS; i++)
        argb[i] = 0xff000000u | mcr_ramp_rgb(m->ramp, 1 - (double)i / (STEPS - 1));
    mcr_image image = {1, STEPS, argb, true};
    const mcr_box *b = &d->at->bar;
    d->c->type->image(d->c, *b, &image);
    mcr_axis axis = {.min = m->v0, .max = m->v1};
    mcr_ticks ticks;
    double fs = d->l->font * 0.92;
    mcr_axis_ticks(&axis, (int)fmax(2, b->h / (fs * 3.5)), &ticks);
    mcr_font font = {.size = fs * 0.95, .ink = MCR_INK_MUTED};
    for (int i = 0; i < ticks.count; i++)
        d->c->type->text(d->c, b->x + b->w + fs * 0.35,
                         b->y + b->h * (1 - mcr_axis_share(&axis, ticks.tick[i].at)) + fs * 0.35,
                         ticks.tick[i].text, &font);
    mcr_font label = {.size = fs, .anchor = 0.5, .angle = -90, .ink = MCR_INK_TEXT};
    d->c->type->text(d->c, b->x + b->w + fs * 3.9, b->y + b->h / 2, d->p->bar, &label);
}

/* ---- titles and legend ---------------------------------------------------------------------- */

static void draw_key(mcr_canvas *c, const mcr_layout_of *l, const mcr_mark *m, double x, double y)
{
    double unit = l->unit, middle = y - l->font * 0.33, half = l->font * 0.75;
    double px = x + half, alpha = alpha_of(m);
    if (m->type == MCR_MARK_LINE) {
        double lx[] = {x, x + 2 * half}, ly[] = {middle, middle};
        mcr_style s = {.fill = MCR_INK_NONE,
                       .stroke = m->ink,
                       .stroke_alpha = alpha,
                       .width = (m->width > 0 ? m->width : 1.8) * unit,
                       .dashed = m->dashed};
        c->type->path(c, lx, ly, 2, false, &s);
    } else if (m->type == MCR_MARK_POINTS) {
        bool open = m->shape == MCR_SHAPE_RING || m->shape == MCR_SHAPE_CROSS;
        mcr_style s = {.fill = open ? MCR_INK_NONE : m->ink,
                       .stroke = open ? m->ink : MCR_INK_NONE,
                       .fill_alpha = 1,
                       .stroke_alpha = 1,
                       .width = 1.3 * unit};
        c->type->dots(c, &px, &middle, 1, m->shape, 8.5 * unit, &s);
    } else {
        mcr_style s = {.fill = m->ink, .stroke = MCR_INK_NONE, .fill_alpha = alpha};
        c->type->rect(c, (mcr_box){x + half * 0.3, middle - half * 0.6, half * 1.4, half * 1.2},
                      &s);
    }
}

static void draw_legend(mcr_canvas *c, const mcr_layout_of *l)
{
    mcr_font font = {.size = l->font * 0.92, .ink = MCR_INK_TEXT};
    for (int i = 0; i < l->entries; i++) {
        const mcr_legend_entry *e = &l->entry[i];
        draw_key(c, l, e->mark, e->x, e->y);
        c->type->text(c, e->x + l->font * 1.9, e->y, e->mark->name, &font);
    }
}

void mcr_draw_back(mcr_canvas *c, const mcr_figure *f, const mcr_layout_of *l)
{
    mcr_style paper = {.fill = MCR_INK_PAPER, .stroke = MCR_INK_NONE, .fill_alpha = 1};
    c->type->rect(c, (mcr_box){0, 0, l->width, l->height}, &paper);
    const mcr_font title = {.size = l->font * 1.15, .bold = true, .ink = MCR_INK_TEXT};
    const mcr_font subtitle = {.size = l->font * 0.92, .ink = MCR_INK_MUTED};
    double most = l->width - l->font * (f->frames > 1 ? 12 : 1.6);
    if (f->title)
        put_fitted(c, l->font * 0.9, l->title, f->title, most, title);
    if (f->subtitle)
        put_fitted(c, l->font * 0.9, l->subtitle, f->subtitle, l->width - l->font * 1.6, subtitle);
    draw_legend(c, l);
    for (int64_t p = 0; p < l->panels; p++) {
        drawing d = {.c = c, .f = f, .l = l, .p = &f->frame[0].panel[p], .at = &l->place[p]};
        draw_grid(&d);
        draw_axis_texts(&d);
        draw_bar(&d);
    }
}

void mcr_draw_marks(mcr_canvas *c, const mcr_figure *f, const mcr_layout_of *l, int64_t frame,
                    bool fixed)
{
    const mcr_frame *from = &f->frame[frame];
    for (int64_t p = 0; p < l->panels && p < from->panels; p++) {
        drawing d = {.c = c,
                     .f = f,
                     .l = l,
                     .p = &from->panel[p],
                     .at = &l->place[p],
                     .scratch = {.ctx = c->ctx}};
        c->type->clip(c, d.at->box);
        for (int64_t m = 0; m < d.p->count; m++)
            if (d.p->mark[m].fixed == fixed || f->frames == 1)
                draw_mark(&d, &d.p->mark[m]);
        c->type->unclip(c);
        draw_frame_box(&d);
    }
    if (from->label && !fixed) {
        mcr_font font = {.size = l->font * 1.1, .anchor = 1, .bold = true, .ink = MCR_INK_TEXT};
        c->type->text(c, l->width - l->font * 0.9, l->frame, from->label, &font);
    }
}

void mcr_draw_figure(mcr_canvas *c, const mcr_figure *f, const mcr_layout_of *l)
{
    mcr_draw_back(c, f, l);
    mcr_draw_marks(c, f, l, f->frames / 2, false);
    if (f->frames > 1)
        mcr_draw_marks(c, f, l, 0, true);
}
