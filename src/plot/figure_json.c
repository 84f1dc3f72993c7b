/* figure_json.c: a figure's data as one JSON object.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>

#include "base/json.h"
#include "plot/figure.h"

static const char *const mark_names[] = {
    [MCR_MARK_POINTS] = "points",   [MCR_MARK_LINE] = "line",   [MCR_MARK_BAND] = "band",
    [MCR_MARK_BARS] = "bars",       [MCR_MARK_CELLS] = "cells", [MCR_MARK_TEXT] = "text",
    [MCR_MARK_LETTERS] = "letters",
};

static const char *const shape_names[] = {
    [MCR_SHAPE_CIRCLE] = "circle",     [MCR_SHAPE_DIAMOND] = "diamond",
    [MCR_SHAPE_TRIANGLE] = "triangle", [MCR_SHAPE_SQUARE] = "square",
    [MCR_SHAPE_CROSS] = "cross",       [MCR_SHAPE_RING] = "ring",
};

static const char *const ramp_names[] = {
    [MCR_RAMP_HEAT] = "heat",
    [MCR_RAMP_DIVERGING] = "diverging",
    [MCR_RAMP_INK] = "ink",
    [MCR_RAMP_CLASSES] = "classes",
};

static void put_reals(mcr_json_writer *w, const char *key, const double *value, int64_t count)
{
    if (value)
        mcr_json_put_reals(w, key, value, count);
}

static void put_texts(mcr_json_writer *w, const char *key, const char *const *text, int64_t count)
{
    if (!text)
        return;
    mcr_json_put_array(w, key);
    for (int64_t i = 0; i < count; i++)
        mcr_json_write_text(w, text[i]);
    mcr_json_write_end_array(w);
}

void mcr_axis_to_json(mcr_json_writer *w, const char *key, const mcr_axis *a, bool names)
{
    mcr_json_put_object(w, key);
    mcr_json_put_text(w, "label", a->label);
    mcr_json_put_real(w, "min", a->min);
    mcr_json_put_real(w, "max", a->max);
    mcr_json_put_bool(w, "log", a->log);
    put_texts(w, "names", a->names, a->count);
    if (names && !a->names)
        mcr_json_put_text(w, "names", NULL);
    mcr_json_write_end_object(w);
}

static void put_cells(mcr_json_writer *w, const mcr_mark *m)
{
    mcr_json_put_int(w, "rows", m->rows);
    mcr_json_put_int(w, "cols", m->cols);
    mcr_json_put_real(w, "x0", m->x0);
    mcr_json_put_real(w, "x1", m->x1);
    mcr_json_put_real(w, "y0", m->y0);
    mcr_json_put_real(w, "y1", m->y1);
    put_reals(w, "x_edge", m->x_edge, m->cols + 1);
    put_reals(w, "y_edge", m->y_edge, m->rows + 1);
    put_reals(w, "value", m->value, m->rows * m->cols);
}

static void put_mark(mcr_json_writer *w, const mcr_mark *m)
{
    mcr_json_write_object(w);
    mcr_json_put_text(w, "type", mark_names[m->type]);
    mcr_json_put_text(w, "name", m->name);
    mcr_json_put_bool(w, "legend", m->legend);
    if (m->ink >= 0 && (int)m->ink < MCR_PALETTE)
        mcr_json_put_int(w, "colour", m->ink);
    if (m->type == MCR_MARK_POINTS)
        mcr_json_put_text(w, "shape", shape_names[m->shape]);
    if (m->type == MCR_MARK_CELLS || m->value) {
        mcr_json_put_text(w, "ramp", ramp_names[m->ramp]);
        mcr_json_put_real(w, "v0", m->v0);
        mcr_json_put_real(w, "v1", m->v1);
    }
    if (m->type == MCR_MARK_CELLS) {
        put_cells(w, m);
    } else {
        mcr_json_put_int(w, "count", m->count);
        put_reals(w, "x", m->x, m->count);
        put_reals(w, "y", m->y, m->count);
        put_reals(w, "low", m->low, m->count);
        put_reals(w, "high", m->high, m->count);
        put_reals(w, "value", m->value, m->count);
        put_texts(w, "text", (const char *const *)m->text, m->count);
    }
    mcr_json_write_end_object(w);
}

static void put_panel(mcr_json_writer *w, const mcr_panel *p)
{
    mcr_json_write_object(w);
    mcr_json_put_text(w, "title", p->title);
    mcr_json_put_int(w, "row", p->row);
    mcr_json_put_int(w, "col", p->col);
    mcr_axis_to_json(w, "x", &p->x, false);
    mcr_axis_to_json(w, "y", &p->y, false);
    mcr_json_put_text(w, "bar", p->bar);
    mcr_json_put_array(w, "marks");
    for (int64_t m = 0; m < p->count; m++)
        put_mark(w, &p->mark[m]);
    mcr_json_write_end_array(w);
    mcr_json_write_end_object(w);
}

static void put_frame(mcr_json_writer *w, const mcr_frame *frame)
{
    mcr_json_put_object(w, "numbers");
    for (int64_t i = 0; i < frame->numbers; i++)
        mcr_json_put_real(w, frame->number[i].name, frame->number[i].value);
    mcr_json_write_end_object(w);
    mcr_json_put_array(w, "panels");
    for (int64_t p = 0; p < frame->panels; p++)
        put_panel(w, &frame->panel[p]);
    mcr_json_write_end_array(w);
}

mcr_status mcr_figure_to_json(mcr_figure *f)
{
    mcr_json_writer w;
    mcr_json_write_init(&w, &f->drawn);
    mcr_json_write_object(&w);
    mcr_json_put_text(&w, "kind", f->kind);
    mcr_json_put_text(&w, "title", f->title);
    mcr_json_put_text(&w, "subtitle", f->subtitle);
    mcr_json_put_int(&w, "rows", f->rows);
    mcr_json_put_int(&w, "cols", f->cols);
    if (f->frames == 1) {
        put_frame(&w, &f->frame[0]);
    } else {
        mcr_json_put_text(&w, "parameter", f->moves);
        mcr_json_put_array(&w, "frames");
        for (int64_t k = 0; k < f->frames; k++) {
            mcr_json_write_object(&w);
            mcr_json_put_text(&w, "label", f->frame[k].label);
            put_frame(&w, &f->frame[k]);
            mcr_json_write_end_object(&w);
        }
        mcr_json_write_end_array(&w);
    }
    mcr_json_write_end_object(&w);
    mcr_text_string(&f->drawn, "\n");
    return f->drawn.status;
}
