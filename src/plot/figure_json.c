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

static void put_text(mcr_json_writer *w, const char *key, const char *text)
{
    mcr_json_write_key(w, key);
    mcr_json_write_text(w, text);
}

static void put_real(mcr_json_writer *w, const char *key, double value)
{
    mcr_json_write_key(w, key);
    mcr_json_write_real(w, value);
}

static void put_int(mcr_json_writer *w, const char *key, int64_t value)
{
    mcr_json_write_key(w, key);
    mcr_json_write_int(w, value);
}

static void put_bool(mcr_json_writer *w, const char *key, bool value)
{
    mcr_json_write_key(w, key);
    mcr_json_write_bool(w, value);
}

static void put_reals(mcr_json_writer *w, const char *key, const double *value, int64_t count)
{
    if (!value)
        return;
    mcr_json_write_key(w, key);
    mcr_json_write_array(w);
    for (int64_t i = 0; i < count; i++)
        mcr_json_write_real(w, value[i]);
    mcr_json_write_end_array(w);
}

static void put_texts(mcr_json_writer *w, const char *key, const char *const *text, int64_t count)
{
    if (!text)
        return;
    mcr_json_write_key(w, key);
    mcr_json_write_array(w);
    for (int64_t i = 0; i < count; i++)
        mcr_json_write_text(w, text[i]);
    mcr_json_write_end_array(w);
}

static void put_axis(mcr_json_writer *w, const char *key, const mcr_axis *a)
{
    mcr_json_write_key(w, key);
    mcr_json_write_object(w);
    put_text(w, "label", a->label);
    put_real(w, "min", a->min);
    put_real(w, "max", a->max);
    put_bool(w, "log", a->log);
    put_texts(w, "names", a->names, a->count);
    mcr_json_write_end_object(w);
}

static void put_cells(mcr_json_writer *w, const mcr_mark *m)
{
    put_int(w, "rows", m->rows);
    put_int(w, "cols", m->cols);
    put_real(w, "x0", m->x0);
    put_real(w, "x1", m->x1);
    put_real(w, "y0", m->y0);
    put_real(w, "y1", m->y1);
    put_reals(w, "x_edge", m->x_edge, m->cols + 1);
    put_reals(w, "y_edge", m->y_edge, m->rows + 1);
    put_reals(w, "value", m->value, m->rows * m->cols);
}

static void put_mark(mcr_json_writer *w, const mcr_mark *m)
{
    mcr_json_write_object(w);
    put_text(w, "type", mark_names[m->type]);
    put_text(w, "name", m->name);
    put_bool(w, "legend", m->legend);
    if (m->ink >= 0 && (int)m->ink < MCR_PALETTE)
        put_int(w, "colour", m->ink);
    if (m->type == MCR_MARK_POINTS)
        put_text(w, "shape", shape_names[m->shape]);
    if (m->type == MCR_MARK_CELLS || m->value) {
        put_text(w, "ramp", ramp_names[m->ramp]);
        put_real(w, "v0", m->v0);
        put_real(w, "v1", m->v1);
    }
    if (m->type == MCR_MARK_CELLS) {
        put_cells(w, m);
    } else {
        put_int(w, "count", m->count);
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
    put_text(w, "title", p->title);
    put_int(w, "row", p->row);
    put_int(w, "col", p->col);
    put_axis(w, "x", &p->x);
    put_axis(w, "y", &p->y);
    put_text(w, "bar", p->bar);
    mcr_json_write_key(w, "marks");
    mcr_json_write_array(w);
    for (int64_t m = 0; m < p->count; m++)
        put_mark(w, &p->mark[m]);
    mcr_json_write_end_array(w);
    mcr_json_write_end_object(w);
}

static void put_frame(mcr_json_writer *w, const mcr_frame *frame)
{
    mcr_json_write_key(w, "numbers");
    mcr_json_write_object(w);
    for (int64_t i = 0; i < frame->numbers; i++)
        put_real(w, frame->number[i].name, frame->number[i].value);
    mcr_json_write_end_object(w);
    mcr_json_write_key(w, "panels");
    mcr_json_write_array(w);
    for (int64_t p = 0; p < frame->panels; p++)
        put_panel(w, &frame->panel[p]);
    mcr_json_write_end_array(w);
}

mcr_status mcr_figure_to_json(mcr_figure *f)
{
    mcr_json_writer w;
    mcr_json_write_init(&w, &f->drawn);
    mcr_json_write_object(&w);
    put_text(&w, "kind", f->kind);
    put_text(&w, "title", f->title);
    put_text(&w, "subtitle", f->subtitle);
    put_int(&w, "rows", f->rows);
    put_int(&w, "cols", f->cols);
    if (f->frames == 1) {
        put_frame(&w, &f->frame[0]);
    } else {
        put_text(&w, "parameter", f->moves);
        mcr_json_write_key(&w, "frames");
        mcr_json_write_array(&w);
        for (int64_t k = 0; k < f->frames; k++) {
            mcr_json_write_object(&w);
            put_text(&w, "label", f->frame[k].label);
            put_frame(&w, &f->frame[k]);
            mcr_json_write_end_object(&w);
        }
        mcr_json_write_end_array(&w);
    }
    mcr_json_write_end_object(&w);
    mcr_text_string(&f->drawn, "\n");
    return f->drawn.status;
}
