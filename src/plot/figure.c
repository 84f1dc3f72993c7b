/* figure.c: figures and their memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "plot/figure.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/sized.h"

/* ---- memory --------------------------------------------------------------------------------- */

void *mcr_blocks_take(mcr_blocks *b, int64_t count, size_t size)
{
    mcr_status s = mcr_reserve(b->ctx, &b->block, &b->capacity, b->count + 1, sizeof *b->block);
    void *block = s ? NULL : mcr_alloc_zero(b->ctx, (size_t)count, size);
    if (block)
        b->block[b->count++] = block;
    b->failed = b->failed || !block;
    return block;
}

double *mcr_blocks_reals(mcr_blocks *b, int64_t count)
{
    return mcr_blocks_take(b, count, sizeof(double));
}

char *mcr_blocks_text(mcr_blocks *b, const char *text)
{
    if (!text)
        return NULL;
    size_t length = strlen(text);
    char *copy = mcr_blocks_take(b, (int64_t)length + 1, 1);
    if (copy)
        memcpy(copy, text, length);
    return copy;
}

char *mcr_blocks_format(mcr_blocks *b, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return mcr_blocks_text(b, text);
}

void mcr_blocks_free(mcr_blocks *b)
{
    mcr_free_each(b->ctx, b->block, b->count);
    *b = (mcr_blocks){.ctx = b->ctx};
}

/* Grows an array of the pool by one: it is copied, and the old one is freed with the pool. */
static bool grow(mcr_blocks *pool, void *array, int64_t *capacity, int64_t count, size_t size)
{
    if (count < *capacity)
        return true;
    int64_t wanted = *capacity ? 2 * *capacity : 8;
    void *bigger = mcr_blocks_take(pool, wanted, size), *old;
    if (!bigger)
        return false;
    memcpy(&old, array, sizeof old);
    if (count)
        memcpy(bigger, old, (size_t)count * size);
    memcpy(array, &bigger, sizeof bigger);
    *capacity = wanted;
    return true;
}

/* ---- parts ---------------------------------------------------------------------------------- */

mcr_status mcr_figure_new(mcr_figure **out, mcr *ctx, const char *kind)
{
    mcr_figure *f = *out = mcr_alloc_zero(ctx, 1, sizeof *f);
    if (!f)
        return MCR_NO_MEMORY;
    f->ctx = ctx;
    f->pool.ctx = ctx;
    f->rows = f->cols = 1;
    mcr_text_init(&f->drawn, ctx);
    f->kind = mcr_blocks_text(&f->pool, kind);
    if (f->kind)
        return MCR_OK;
    mcr_figure_close(f);
    *out = NULL;
    return MCR_NO_MEMORY;
}

void mcr_figure_close(mcr_figure *f)
{
    if (!f)
        return;
    mcr_text_free(&f->drawn);
    mcr_blocks_free(&f->pool);
    mcr_free(f->ctx, f);
}

mcr_frame *mcr_figure_frame(mcr_figure *f, const char *label)
{
    if (!grow(&f->pool, &f->frame, &f->frame_capacity, f->frames, sizeof *f->frame))
        return NULL;
    mcr_frame *frame = &f->frame[f->frames++];
    frame->label = mcr_blocks_text(&f->pool, label);
    return frame;
}

mcr_panel *mcr_frame_panel(mcr_figure *f, int row, int col)
{
    mcr_frame *frame = f->frames ? &f->frame[f->frames - 1] : mcr_figure_frame(f, NULL);
    if (!frame ||
        !grow(&f->pool, &frame->panel, &frame->panel_capacity, frame->panels, sizeof *frame->panel))
        return NULL;
    mcr_panel *p = &frame->panel[frame->panels++];
    p->row = row;
    p->col = col;
    f->rows = row >= f->rows ? row + 1 : f->rows;
    f->cols = col >= f->cols ? col + 1 : f->cols;
    return p;
}

mcr_mark *mcr_panel_mark(mcr_figure *f, mcr_panel *p, mcr_mark_type type, const char *name)
{
    if (!grow(&f->pool, &p->mark, &p->capacity, p->count, sizeof *p->mark))
        return NULL;
    mcr_mark *m = &p->mark[p->count];
    m->type = type;
    m->name = mcr_blocks_text(&f->pool, name);
    if (name && !m->name)
        return NULL;
    p->count++;
    return m;
}

mcr_mark *mcr_panel_over(mcr_figure *f, mcr_panel *p, mcr_mark_type type, const char *name,
                         int64_t count, double *x, double *y)
{
    mcr_mark *m = x && y ? mcr_panel_mark(f, p, type, name) : NULL;
    if (!m)
        return NULL;
    m->x = x;
    m->y = y;
    m->count = count;
    return m;
}

mcr_mark *mcr_panel_xy(mcr_figure *f, mcr_panel *p, mcr_mark_type type, const char *name,
                       int64_t count)
{
    double *x = mcr_blocks_reals(&f->pool, count), *y = mcr_blocks_reals(&f->pool, count);
    return mcr_panel_over(f, p, type, name, count, x, y);
}

void mcr_figure_set_number(mcr_figure *f, const char *name, double value)
{
    mcr_frame *frame = f->frames ? &f->frame[f->frames - 1] : mcr_figure_frame(f, NULL);
    const char *copy = mcr_blocks_text(&f->pool, name);
    if (frame && copy &&
        grow(&f->pool, &frame->number, &frame->number_capacity, frame->numbers,
             sizeof *frame->number))
        frame->number[frame->numbers++] = (mcr_number){copy, value};
}

const char *mcr_figure_kind(const mcr_figure *figure)
{
    return figure->kind;
}

int64_t mcr_figure_frames(const mcr_figure *figure)
{
    return figure->frames;
}

double mcr_figure_number(const mcr_figure *figure, const char *name)
{
    for (int64_t i = 0; figure->frames && i < figure->frame[0].numbers; i++)
        if (strcmp(figure->frame[0].number[i].name, name) == 0)
            return figure->frame[0].number[i].value;
    return NAN;
}

/* ---- limits of axes ------------------------------------------------------------------------- */

typedef struct limits {
    double low, high;
} limits;

static void meet(limits *l, double v, bool log_scale)
{
    if (!isfinite(v) || (log_scale && v <= 0))
        return;
    l->low = fmin(l->low, v);
    l->high = fmax(l->high, v);
}

static void meet_all(limits *l, const double *v, int64_t count, bool log_scale)
{
    for (int64_t i = 0; v && i < count; i++)
        meet(l, v[i], log_scale);
}

static void meet_mark(limits *l, const mcr_mark *m, bool vertical, bool log_scale)
{
    if (m->type == MCR_MARK_CELLS) {
        meet(l, vertical ? m->y0 : m->x0, log_scale);
        meet(l, vertical ? m->y1 : m->x1, log_scale);
        return;
    }
    bool along = m->type == MCR_MARK_BARS && m->sideways;
    if (vertical != along) {
        meet_all(l, m->y, m->count, log_scale);
        meet_all(l, m->low, m->count, log_scale);
        meet_all(l, m->high, m->count, log_scale);
        if (m->type == MCR_MARK_BARS && !m->low)
            meet(l, 0, log_scale);
        return;
    }
    meet_all(l, m->x, m->count, log_scale);
    double half = m->type == MCR_MARK_BARS ? m->width / 2 : m->type == MCR_MARK_LETTERS ? 0.5 : 0;
    for (int64_t i = 0; half > 0 && i < m->count; i++) {
        meet(l, m->x[i] - half, log_scale);
        meet(l, m->x[i] + half, log_scale);
    }
}

#define MOST 1e300 /* largest limit of an axis */

static void set_limits(mcr_axis *a, limits l)
{
    if (a->names)
        l = (limits){-0.5, (double)a->count - 0.5};
    if (a->zero)
        meet(&l, 0, a->log);
    if (!(l.low <= l.high))
        l = a->log ? (limits){0.1, 10} : (limits){0, 1};
    /* Differences and ratios of limits must be finite, too. */
    l.low = fmin(fmax(l.low, a->log ? 1 / MOST : -MOST), MOST);
    l.high = fmin(fmax(l.high, a->log ? 1 / MOST : -MOST), MOST);
    if (a->log) {
        double span = log(l.high) - log(l.low);
        double share = l.high > l.low && !a->tight ? exp(0.04 * span) : 1;
        if (l.high <= l.low)
            share = 3;
        a->min = l.low / share;
        a->max = l.high * share;
        return;
    }
    double margin = a->tight || a->names ? 0 : 0.04 * (l.high - l.low);
    if (!(l.high > l.low))
        margin = l.low != 0 ? 0.1 * fabs(l.low) : 0.5;
    a->min = l.low - (a->zero && l.low == 0 ? 0 : margin);
    a->max = l.high + (a->zero && l.high == 0 ? 0 : margin);
}

/* Fits one axis of a panel, over all frames. */
static void fit_axis(mcr_figure *f, int64_t panel, bool vertical)
{
    limits l = {INFINITY, -INFINITY};
    mcr_panel *first = &f->frame[0].panel[panel];
    mcr_axis *a = vertical ? &first->y : &first->x;
    if (a->min >= a->max) {
        for (int64_t k = 0; k < f->frames; k++) {
            if (panel >= f->frame[k].panels)
                continue;
            const mcr_panel *p = &f->frame[k].panel[panel];
            for (int64_t m = 0; m < p->count; m++)
                meet_mark(&l, &p->mark[m], vertical, a->log);
        }
        set_limits(a, l);
    }
    for (int64_t k = 1; k < f->frames; k++) {
        if (panel >= f->frame[k].panels)
            continue;
        mcr_panel *p = &f->frame[k].panel[panel];
        mcr_axis *other = vertical ? &p->y : &p->x;
        other->log = a->log;
        other->min = a->min;
        other->max = a->max;
    }
}

void mcr_figure_fit_axes(mcr_figure *f)
{
    for (int64_t p = 0; f->frames && p < f->frame[0].panels; p++) {
        fit_axis(f, p, false);
        fit_axis(f, p, true);
    }
}

/* ---- drawing -------------------------------------------------------------------------------- */

/* The options of a drawing with defaults; smaller structs of older callers are completed. */
static mcr_status complete(mcr_draw *out, const mcr_figure *f, const mcr_draw *draw,
                           bool characters)
{
    mcr_status s = MCR_SIZED_READ(mcr_draw, out, f->ctx, draw);
    if (s)
        return s;
    int wide = characters ? 1000 : 20000, high = characters ? 500 : 20000;
    if (out->width < 0 || out->height < 0 || out->width > wide || out->height > high)
        return mcr_fail(f->ctx, MCR_BAD_CALL, "a picture is at most %d %s wide and %d high", wide,
                        characters ? "characters" : "units", high);
    double aspect = f->aspect > 0 ? f->aspect : 0.72;
    if (!out->width)
        out->width = characters ? 78 : 720;
    if (!out->height)
        out->height = (int)(out->width * aspect * (characters ? 0.42 : 1));
    int least_width = characters ? 30 : 160, least_height = characters ? 10 : 100;
    out->width = out->width < least_width ? least_width : out->width;
    out->height = out->height < least_height ? least_height : out->height;
    return MCR_OK;
}

static const struct {
    const char *ending, *format;
} endings[] = {{"svg", "svg"},  {"png", "png"},   {"pdf", "pdf"}, {"html", "html"},
               {"htm", "html"}, {"json", "json"}, {"txt", "text"}};

const char *mcr_figure_format(const char *path)
{
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < sizeof endings / sizeof *endings; i++)
        if (strcmp(dot + 1, endings[i].ending) == 0)
            return endings[i].format;
    return NULL;
}

mcr_status mcr_figure_draw(mcr_figure *f, const char *format, const mcr_draw *draw,
                           const char **bytes, size_t *count)
{
    bool characters = strcmp(format, "text") == 0;
    mcr_draw how;
    *bytes = NULL;
    *count = 0;
    mcr_status s = complete(&how, f, draw, characters);
    if (s)
        return s;
    mcr_text_free(&f->drawn);
    mcr_text_init(&f->drawn, f->ctx);
    mcr_figure_fit_axes(f);
    if (strcmp(format, "json") == 0)
        s = mcr_figure_to_json(f);
    else if (strcmp(format, "svg") == 0)
        s = mcr_figure_to_svg(f, &how);
    else if (strcmp(format, "html") == 0)
        s = mcr_figure_to_html(f, &how);
    else if (characters)
        s = mcr_figure_to_text(f, &how);
    else if (strcmp(format, "png") == 0 || strcmp(format, "pdf") == 0 ||
             strcmp(format, "kitty") == 0 || strcmp(format, "sixel") == 0)
        s = mcr_figure_to_cairo(f, &how, format);
    else
        return mcr_fail(f->ctx, MCR_BAD_CALL,
                        "\"%s\" is not a format of pictures: there are svg, png, pdf, html, json, "
                        "text, kitty and sixel",
                        format);
    if (!s)
        s = f->drawn.status;
    if (s)
        return s;
    *bytes = f->drawn.bytes;
    *count = (size_t)f->drawn.length;
    return MCR_OK;
}

mcr_status mcr_figure_save(mcr_figure *f, const char *path, const mcr_draw *draw)
{
    const char *format = mcr_figure_format(path), *bytes;
    size_t count;
    if (!format)
        return mcr_fail(
            f->ctx, MCR_BAD_CALL,
            "%s: the extension selects the format: .svg, .png, .pdf, .html, .json or .txt", path);
    mcr_status s = mcr_figure_draw(f, format, draw, &bytes, &count);
    return s ? s : mcr_text_save(&f->drawn, path);
}
