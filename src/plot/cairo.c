/* cairo.c: figures as PNG and PDF, by cairo.
 *
 * The library is loaded when the first such picture is drawn, and never linked: the few functions
 * used are declared here as in its manual. It stays loaded.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dlfcn.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "plot/canvas.h"
#include "plot/colour.h"

typedef struct extents {
    double x_bearing, y_bearing, width, height, x_advance, y_advance;
} extents;

typedef int writer(void *closure, const unsigned char *bytes, unsigned count);

/* The functions of cairo that are used: type, name, parameters. Handles are void *. */
#define FUNCTIONS(F)                                                                               \
    F(void *, image_surface_create, (int format, int width, int height))                           \
    F(void *, image_surface_create_for_data,                                                       \
      (unsigned char *data, int format, int width, int height, int stride))                        \
    F(unsigned char *, image_surface_get_data, (void *surface))                                    \
    F(int, image_surface_get_stride, (void *surface))                                              \
    F(void *, pdf_surface_create_for_stream,                                                       \
      (writer * write, void *closure, double width, double height))                                \
    F(int, surface_write_to_png_stream, (void *surface, writer *write, void *closure))             \
    F(void, surface_flush, (void *surface))                                                        \
    F(void, surface_finish, (void *surface))                                                       \
    F(void, surface_destroy, (void *surface))                                                      \
    F(int, surface_status, (void *surface))                                                        \
    F(void *, create, (void *surface))                                                             \
    F(void, destroy, (void *cr))                                                                   \
    F(int, status, (void *cr))                                                                     \
    F(void, save, (void *cr))                                                                      \
    F(void, restore, (void *cr))                                                                   \
    F(void, clip, (void *cr))                                                                      \
    F(void, translate, (void *cr, double x, double y))                                             \
    F(void, scale, (void *cr, double x, double y))                                                 \
    F(void, rotate, (void *cr, double angle))                                                      \
    F(void, set_source_rgba, (void *cr, double r, double g, double b, double a))                   \
    F(void, set_source_surface, (void *cr, void *surface, double x, double y))                     \
    F(void *, get_source, (void *cr))                                                              \
    F(void, pattern_set_filter, (void *pattern, int filter))                                       \
    F(void, pattern_set_extend, (void *pattern, int extend))                                       \
    F(void, set_line_width, (void *cr, double width))                                              \
    F(void, set_line_join, (void *cr, int join))                                                   \
    F(void, set_line_cap, (void *cr, int cap))                                                     \
    F(void, set_dash, (void *cr, const double *dashes, int count, double offset))                  \
    F(void, new_path, (void *cr))                                                                  \
    F(void, new_sub_path, (void *cr))                                                              \
    F(void, move_to, (void *cr, double x, double y))                                               \
    F(void, line_to, (void *cr, double x, double y))                                               \
    F(void, close_path, (void *cr))                                                                \
    F(void, arc, (void *cr, double x, double y, double radius, double from, double to))            \
    F(void, rectangle, (void *cr, double x, double y, double width, double height))                \
    F(void, fill, (void *cr))                                                                      \
    F(void, fill_preserve, (void *cr))                                                             \
    F(void, stroke, (void *cr))                                                                    \
    F(void, select_font_face, (void *cr, const char *family, int slant, int weight))               \
    F(void, set_font_size, (void *cr, double size))                                                \
    F(void, text_extents, (void *cr, const char *text, extents *out))                              \
    F(void, text_path, (void *cr, const char *text))                                               \
    F(void, show_text, (void *cr, const char *text))

typedef struct cairo {
#define MEMBER(type, name, parameters) type(*name) parameters;
    FUNCTIONS(MEMBER)
} cairo;

static const struct {
    const char *name;
    size_t at;
} members[] = {
#define NAMED(type, name, parameters) {"cairo_" #name, offsetof(cairo, name)},
    FUNCTIONS(NAMED)};

enum { ARGB32 = 0, ROUND = 1, GOOD = 1, NEAREST = 3, PAD = 3, BOLD = 1 };

static mcr_status load(cairo *c, mcr *ctx)
{
    void *library = dlopen("libcairo.so.2", RTLD_NOW | RTLD_LOCAL);
    bool all = library != NULL;
    for (size_t i = 0; all && i < sizeof members / sizeof *members; i++) {
        void *found = dlsym(library, members[i].name);
        memcpy((char *)c + members[i].at, &found, sizeof found);
        all = found != NULL;
    }
    return all ? MCR_OK
               : mcr_fail(
                     ctx, MCR_IO,
                     "libcairo.so.2: not found, and PNG and PDF need it: install libcairo2, or "
                     "write SVG or HTML");
}

typedef struct painter {
    mcr_canvas base;
    cairo lib;
    void *cr;
} painter;

/* ---- the table ------------------------------------------------------------------------------ */

static void set_ink(painter *p, mcr_ink ink, double alpha)
{
    uint32_t rgb = mcr_ink_rgb(ink, p->base.dark);
    p->lib.set_source_rgba(p->cr, (rgb >> 16 & 255) / 255.0, (rgb >> 8 & 255) / 255.0,
                           (rgb & 255) / 255.0, alpha);
}

/* Fills and strokes the current path. */
static void paint(painter *p, const mcr_style *s)
{
    if (s->fill != MCR_INK_NONE) {
        set_ink(p, s->fill, s->fill_alpha);
        p->lib.fill_preserve(p->cr);
    }
    if (s->stroke != MCR_INK_NONE) {
        double dash[] = {s->width * 3, s->width * 2.2};
        set_ink(p, s->stroke, s->stroke_alpha);
        p->lib.set_line_width(p->cr, s->width);
        p->lib.set_line_join(p->cr, ROUND);
        p->lib.set_dash(p->cr, dash, s->dashed ? 2 : 0, 0);
        p->lib.stroke(p->cr);
    }
    p->lib.new_path(p->cr);
}

static void put_path(mcr_canvas *c, const double *x, const double *y, int64_t count, bool closed,
                     const mcr_style *style)
{
    painter *p = (painter *)c;
    bool pen = false;
    for (int64_t i = 0; i < count; i++) {
        if (!isfinite(x[i]) || !isfinite(y[i])) {
            pen = false;
            continue;
        }
        (pen ? p->lib.line_to : p->lib.move_to)(p->cr, x[i], y[i]);
        pen = true;
    }
    if (closed && pen)
        p->lib.close_path(p->cr);
    paint(p, style);
}

static void put_rect(mcr_canvas *c, mcr_box b, const mcr_style *style)
{
    painter *p = (painter *)c;
    p->lib.rectangle(p->cr, b.x, b.y, b.w, b.h);
    paint(p, style);
}

static void put_dots(mcr_canvas *c, const double *x, const double *y, int64_t count,
                     mcr_shape shape, double size, const mcr_style *style)
{
    painter *p = (painter *)c;
    double px[8], py[8];
    int corners = mcr_shape_outline(shape, px, py);
    for (int64_t i = 0; i < count; i++) {
        if (!isfinite(x[i]) || !isfinite(y[i]))
            continue;
        p->lib.new_sub_path(p->cr);
        if (!corners)
            p->lib.arc(p->cr, x[i], y[i], size / 2, 0, 6.283185307179586);
        for (int k = 0; k < corners; k++) {
            bool move = k == 0 || (shape == MCR_SHAPE_CROSS && k == 2);
            (move ? p->lib.move_to : p->lib.line_to)(p->cr, x[i] + px[k] * size,
                                                     y[i] + py[k] * size);
        }
        if (shape != MCR_SHAPE_CROSS)
            p->lib.close_path(p->cr);
        paint(p, style);
    }
}

static void put_text(mcr_canvas *c, double x, double y, const char *text, const mcr_font *font)
{
    painter *p = (painter *)c;
    mcr_text plain;
    extents e;
    mcr_text_init(&plain, c->ctx);
    mcr_plain_write(&plain, text);
    if (plain.status)
        c->status = plain.status;
    if (!plain.status && plain.length) {
        p->lib.save(p->cr);
        p->lib.select_font_face(p->cr, "sans-serif", 0, font->bold ? BOLD : 0);
        p->lib.set_font_size(p->cr, font->size);
        p->lib.text_extents(p->cr, plain.bytes, &e);
        p->lib.translate(p->cr, x, y);
        p->lib.rotate(p->cr, font->angle * 0.017453292519943295);
        set_ink(p, font->ink, 1);
        p->lib.move_to(p->cr, -font->anchor * e.x_advance, 0);
        p->lib.show_text(p->cr, plain.bytes);
        p->lib.new_path(p->cr);
        p->lib.restore(p->cr);
    }
    mcr_text_free(&plain);
}

static void put_letter(mcr_canvas *c, mcr_box b, const char *letter, mcr_ink ink)
{
    painter *p = (painter *)c;
    extents e;
    p->lib.save(p->cr);
    p->lib.select_font_face(p->cr, "sans-serif", 0, BOLD);
    p->lib.set_font_size(p->cr, 100);
    p->lib.text_extents(p->cr, letter, &e);
    if (e.width > 0 && e.height > 0) {
        p->lib.translate(p->cr, b.x, b.y);
        p->lib.scale(p->cr, b.w / e.width, b.h / e.height);
        p->lib.move_to(p->cr, -e.x_bearing, -e.y_bearing);
        p->lib.text_path(p->cr, letter);
        set_ink(p, ink, 1);
        p->lib.fill(p->cr);
    }
    p->lib.restore(p->cr);
}

static void put_image(mcr_canvas *c, mcr_box b, const mcr_image *image)
{
    painter *p = (painter *)c;
    int cols = (int)image->cols, rows = (int)image->rows;
    uint32_t *pixel = mcr_alloc(c->ctx, (uint64_t)(image->cols * image->rows), sizeof *pixel);
    if (!pixel) {
        c->status = MCR_NO_MEMORY;
        return;
    }
    for (int64_t i = 0; i < image->cols * image->rows; i++) { /* cairo expects premultiplied
                                                               * alpha */
        uint32_t v = image->argb[i], a = v >> 24;
        uint32_t r = (v >> 16 & 255) * a / 255, g = (v >> 8 & 255) * a / 255,
                 u = (v & 255) * a / 255;
        pixel[i] = a << 24 | r << 16 | g << 8 | u;
    }
    void *surface = p->lib.image_surface_create_for_data((unsigned char *)pixel, ARGB32, cols, rows,
                                                         cols * 4);
    p->lib.save(p->cr);
    p->lib.rectangle(p->cr, b.x, b.y, b.w, b.h);
    p->lib.clip(p->cr);
    p->lib.translate(p->cr, b.x, b.y);
    p->lib.scale(p->cr, b.w / cols, b.h / rows);
    p->lib.set_source_surface(p->cr, surface, 0, 0);
    p->lib.pattern_set_filter(p->lib.get_source(p->cr), image->smooth ? GOOD : NEAREST);
    p->lib.pattern_set_extend(p->lib.get_source(p->cr), PAD);
    p->lib.rectangle(p->cr, 0, 0, cols, rows);
    p->lib.fill(p->cr);
    p->lib.restore(p->cr);
    p->lib.surface_finish(surface);
    p->lib.surface_destroy(surface);
    mcr_free(c->ctx, pixel);
}

static void put_clip(mcr_canvas *c, mcr_box b)
{
    painter *p = (painter *)c;
    p->lib.save(p->cr);
    p->lib.rectangle(p->cr, b.x, b.y, b.w, b.h);
    p->lib.clip(p->cr);
}

static void put_unclip(mcr_canvas *c)
{
    painter *p = (painter *)c;
    p->lib.restore(p->cr);
}

static const mcr_canvas_type cairo_type = {
    .path = put_path,
    .rect = put_rect,
    .dots = put_dots,
    .text = put_text,
    .letter = put_letter,
    .image = put_image,
    .clip = put_clip,
    .unclip = put_unclip,
};

/* ---- documents ------------------------------------------------------------------------------ */

static int add_bytes(void *closure, const unsigned char *bytes, unsigned count)
{
    enum { WRITE_ERROR = 11 };
    mcr_text *to = closure;
    mcr_text_add(to, bytes, count);
    return to->status ? WRITE_ERROR : 0;
}

static mcr_status draw_on(painter *p, void *surface, const mcr_figure *f, const mcr_draw *draw,
                          double scale)
{
    mcr_layout_of l;
    mcr_status s = mcr_layout_open(&l, f, draw);
    if (s)
        return s;
    p->cr = p->lib.create(surface);
    p->lib.scale(p->cr, scale, scale);
    mcr_draw_figure(&p->base, f, &l);
    if (!p->base.status && p->lib.status(p->cr))
        p->base.status = mcr_fail(f->ctx, MCR_IO, "cairo could not draw the picture");
    p->lib.destroy(p->cr);
    mcr_layout_close(&l);
    return p->base.status;
}

static mcr_status write_pixels(painter *p, void *surface, mcr_figure *f, const char *format)
{
    mcr_text png;
    if (strcmp(format, "sixel") == 0)
        return mcr_sixel_write(&f->drawn, f->ctx,
                               (const uint32_t *)(void *)p->lib.image_surface_get_data(surface),
                               p->lib.image_surface_get_stride(surface) / 4, f->pixel_rows,
                               p->lib.image_surface_get_stride(surface) / 4);
    mcr_text_init(&png, f->ctx);
    if (p->lib.surface_write_to_png_stream(surface, add_bytes, &png) && !png.status)
        png.status = mcr_fail(f->ctx, MCR_IO, "cairo could not write the picture");
    mcr_status s = png.status;
    if (!s && strcmp(format, "kitty") == 0)
        mcr_kitty_write(&f->drawn, f->ctx, png.bytes, (size_t)png.length);
    else if (!s)
        mcr_text_add(&f->drawn, png.bytes, (size_t)png.length);
    mcr_text_free(&png);
    return s;
}

mcr_status mcr_figure_to_cairo(mcr_figure *f, const mcr_draw *draw, const char *format)
{
    painter p = {
        .base = {.type = &cairo_type, .ctx = f->ctx, .dark = draw->theme == MCR_THEME_DARK}};
    mcr_status s = load(&p.lib, f->ctx);
    if (s)
        return s;
    bool pdf = strcmp(format, "pdf") == 0;
    const double points = 0.75; /* per pixel */
    void *surface = pdf ? p.lib.pdf_surface_create_for_stream(
                              add_bytes, &f->drawn, draw->width * points, draw->height * points)
                        : p.lib.image_surface_create(ARGB32, draw->width, draw->height);
    if (p.lib.surface_status(surface))
        s = mcr_fail(f->ctx, MCR_NO_MEMORY, "cairo has no memory for a picture of %d x %d pixels",
                     draw->width, draw->height);
    f->pixel_rows = draw->height;
    if (!s)
        s = draw_on(&p, surface, f, draw, pdf ? points : 1);
    p.lib.surface_flush(surface);
    if (!s && !pdf)
        s = write_pixels(&p, surface, f, format);
    p.lib.surface_finish(surface);
    p.lib.surface_destroy(surface);
    return s ? s : f->drawn.status;
}
