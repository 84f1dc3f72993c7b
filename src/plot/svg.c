/* svg.c: figures as SVG.
 *
 * Text stays text. Colours are classes of a style sheet, so that one file can have a light and a
 * dark theme. Points of one colour are one path: a line of length 0 with round ends is a dot.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>

#include "plot/canvas.h"
#include "plot/colour.h"

typedef struct svg {
    mcr_canvas base;
    mcr_text *to;
    int clips;
    const char *id; /* makes names unique if several are in one page */
} svg;

static const char ink_letter[] = "01234567tmgfp";

static void word(svg *s, const char *text)
{
    mcr_text_string(s->to, text);
}

static void number(svg *s, double v)
{
    mcr_fixed_write(s->to, v, 2);
}

static void attribute(svg *s, const char *name, double v)
{
    mcr_text_format(s->to, " %s=\"", name);
    number(s, v);
    word(s, "\"");
}

static void put_box(svg *s, mcr_box box)
{
    attribute(s, "x", box.x);
    attribute(s, "y", box.y);
    attribute(s, "width", box.w);
    attribute(s, "height", box.h);
}

static void colour(svg *s, const char *name, mcr_ink ink)
{
    mcr_text_format(s->to, " %s=\"#%06x\"", name, (unsigned)mcr_ink_rgb(ink, false));
}

/* Fill and stroke: by class if the theme decides. */
static void paint(svg *s, const mcr_style *st)
{
    bool fill = st->fill >= 0 && st->fill < MCR_INKS;
    bool stroke = st->stroke >= 0 && st->stroke < MCR_INKS;
    if (fill || stroke)
        word(s, " class=\"");
    if (fill)
        mcr_text_format(s->to, "f%c", ink_letter[st->fill]);
    if (stroke)
        mcr_text_format(s->to, fill ? " s%c" : "s%c", ink_letter[st->stroke]);
    if (fill || stroke)
        word(s, "\"");
    if (st->fill == MCR_INK_NONE)
        word(s, " fill=\"none\"");
    else if (st->fill >= MCR_INK_RGB)
        colour(s, "fill", st->fill);
    if (st->stroke >= MCR_INK_RGB)
        colour(s, "stroke", st->stroke);
    if (st->fill != MCR_INK_NONE && st->fill_alpha < 1)
        attribute(s, "fill-opacity", st->fill_alpha);
    if (st->stroke == MCR_INK_NONE)
        return;
    attribute(s, "stroke-width", st->width);
    if (st->stroke_alpha < 1)
        attribute(s, "stroke-opacity", st->stroke_alpha);
    if (st->dashed) {
        word(s, " stroke-dasharray=\"");
        number(s, st->width * 3);
        word(s, " ");
        number(s, st->width * 2.2);
        word(s, "\"");
    }
}

static void pair(svg *s, double x, double y, int decimals)
{
    mcr_fixed_write(s->to, x, decimals);
    mcr_text_add(s->to, " ", 1);
    mcr_fixed_write(s->to, y, decimals);
}

/* ---- the table ------------------------------------------------------------------------------ */

static void put_path(mcr_canvas *c, const double *x, const double *y, int64_t count, bool closed,
                     const mcr_style *style)
{
    svg *s = (svg *)c;
    bool pen = false;
    word(s, "<path d=\"");
    for (int64_t i = 0; i < count; i++) {
        if (!isfinite(x[i]) || !isfinite(y[i])) {
            pen = false;
            continue;
        }
        mcr_text_add(s->to, pen ? "L" : "M", 1);
        pair(s, x[i], y[i], 2);
        pen = true;
    }
    word(s, closed ? "Z\"" : "\" stroke-linejoin=\"round\"");
    paint(s, style);
    word(s, "/>\n");
}

static void put_rect(mcr_canvas *c, mcr_box box, const mcr_style *style)
{
    svg *s = (svg *)c;
    word(s, "<rect");
    put_box(s, box);
    paint(s, style);
    word(s, "/>\n");
}

/* Outlines of all points as one path; relative, because they are all the same. */
static void put_outlines(svg *s, const double *x, const double *y, int64_t count, mcr_shape shape,
                         double size, const mcr_style *style)
{
    double px[8], py[8];
    int corners = mcr_shape_outline(shape, px, py);
    word(s, "<path d=\"");
    for (int64_t i = 0; i < count; i++) {
        if (!isfinite(x[i]) || !isfinite(y[i]))
            continue;
        if (!corners) { /* a circle of two arcs */
            double r = size / 2;
            word(s, "M");
            pair(s, x[i] - r, y[i], 1);
            for (int half = 0; half < 2; half++) {
                word(s, "a");
                pair(s, r, r, 1);
                word(s, " 0 1 0 ");
                pair(s, half ? -2 * r : 2 * r, 0, 1);
            }
            continue;
        }
        for (int k = 0; k < corners; k++) {
            bool move = k == 0 || (shape == MCR_SHAPE_CROSS && k == 2);
            mcr_text_add(s->to, k == 0 ? "M" : move ? "m" : "l", 1);
            double bx = k ? px[k] - px[k - 1] : px[0], by = k ? py[k] - py[k - 1] : py[0];
            pair(s, (k ? 0 : x[i]) + bx * size, (k ? 0 : y[i]) + by * size, 1);
        }
        if (shape != MCR_SHAPE_CROSS)
            word(s, "z");
    }
    word(s, "\"");
    paint(s, style);
    word(s, "/>\n");
}

static void put_round(svg *s, const double *x, const double *y, int64_t count, double size,
                      mcr_ink ink, double alpha)
{
    mcr_style st = {.fill = MCR_INK_NONE, .stroke = ink, .stroke_alpha = alpha, .width = size};
    word(s, "<path stroke-linecap=\"round\" d=\"");
    for (int64_t i = 0; i < count; i++)
        if (isfinite(x[i]) && isfinite(y[i])) {
            word(s, "M");
            pair(s, x[i], y[i], 1);
            word(s, "h0");
        }
    word(s, "\"");
    paint(s, &st);
    word(s, "/>\n");
}

static void put_dots(mcr_canvas *c, const double *x, const double *y, int64_t count,
                     mcr_shape shape, double size, const mcr_style *style)
{
    svg *s = (svg *)c;
    if (shape != MCR_SHAPE_CIRCLE) {
        put_outlines(s, x, y, count, shape, size, style);
        return;
    }
    if (style->stroke != MCR_INK_NONE)
        put_round(s, x, y, count, size + 2 * style->width, style->stroke, style->stroke_alpha);
    put_round(s, x, y, count, size, style->fill, style->fill_alpha);
}

static void put_text(mcr_canvas *c, double x, double y, const char *text, const mcr_font *font)
{
    svg *s = (svg *)c;
    word(s, "<text");
    attribute(s, "x", x);
    attribute(s, "y", y);
    attribute(s, "font-size", font->size);
    if (font->ink < MCR_INKS)
        mcr_text_format(s->to, " class=\"f%c\"", ink_letter[font->ink]);
    else
        colour(s, "fill", font->ink);
    if (font->anchor > 0)
        word(s, font->anchor > 0.7 ? " text-anchor=\"end\"" : " text-anchor=\"middle\"");
    if (font->bold)
        word(s, " font-weight=\"600\"");
    if (font->angle != 0) {
        word(s, " transform=\"rotate(");
        number(s, font->angle);
        word(s, " ");
        pair(s, x, y, 2);
        word(s, ")\"");
    }
    word(s, ">");
    mcr_xml_write(s->to, text);
    word(s, "</text>\n");
}

static void put_letter(mcr_canvas *c, mcr_box box, const char *letter, mcr_ink ink)
{
    svg *s = (svg *)c;
    const double capital = 0.72, em = 20; /* height of a capital letter, in ems */
    word(s, "<text font-weight=\"700\" lengthAdjust=\"spacingAndGlyphs\"");
    attribute(s, "font-size", em);
    attribute(s, "textLength", em);
    mcr_text_format(s->to, " class=\"f%c\" transform=\"translate(",
                    ink_letter[ink < MCR_INKS ? ink : MCR_INK_TEXT]);
    pair(s, box.x, box.y + box.h, 2);
    word(s, ") scale(");
    mcr_fixed_write(s->to, box.w / em, 4);
    word(s, " ");
    mcr_fixed_write(s->to, box.h / (em * capital), 4);
    word(s, ")\">");
    mcr_xml_write(s->to, letter);
    word(s, "</text>\n");
}

static void put_image(mcr_canvas *c, mcr_box box, const mcr_image *image)
{
    svg *s = (svg *)c;
    mcr_text png;
    mcr_text_init(&png, c->ctx);
    mcr_status status = mcr_png_write(&png, c->ctx, image);
    if (status)
        c->status = status;
    word(s, "<image preserveAspectRatio=\"none\"");
    if (!image->smooth)
        word(s, " image-rendering=\"optimizeSpeed\" style=\"image-rendering:pixelated\"");
    put_box(s, box);
    word(s, " href=\"data:image/png;base64,");
    if (!status)
        mcr_base64_write(s->to, png.bytes, (size_t)png.length);
    word(s, "\"/>\n");
    mcr_text_free(&png);
}

static void put_clip(mcr_canvas *c, mcr_box box)
{
    svg *s = (svg *)c;
    mcr_text_format(s->to, "<clipPath id=\"%s%d\"><rect", s->id, s->clips);
    put_box(s, box);
    mcr_text_format(s->to, "/></clipPath>\n<g clip-path=\"url(#%s%d)\">\n", s->id, s->clips++);
}

static void put_unclip(mcr_canvas *c)
{
    word((svg *)c, "</g>\n");
}

static const mcr_canvas_type svg_type = {
    .path = put_path,
    .rect = put_rect,
    .dots = put_dots,
    .text = put_text,
    .letter = put_letter,
    .image = put_image,
    .clip = put_clip,
    .unclip = put_unclip,
};

/* ---- the document --------------------------------------------------------------------------- */

static void put_colours(svg *s, bool dark)
{
    for (int i = 0; i < MCR_INKS; i++) {
        unsigned rgb = mcr_ink_rgb((mcr_ink)i, dark);
        mcr_text_format(s->to, ".f%c{fill:#%06x}.s%c{stroke:#%06x}", ink_letter[i], rgb,
                        ink_letter[i], rgb);
    }
}

static void put_style(svg *s, mcr_theme theme)
{
    word(s, "<style>text{font-family:system-ui,\"Segoe UI\",Roboto,\"Helvetica Neue\",Arial,"
            "\"DejaVu Sans\",sans-serif}\n");
    put_colours(s, theme == MCR_THEME_DARK);
    if (theme == MCR_THEME_AUTO) {
        word(s, "\n@media (prefers-color-scheme:dark){");
        put_colours(s, true);
        word(s, "}");
    }
    word(s, "</style>\n");
}

/* When a frame is visible, as fractions of the total time. */
static void put_times(svg *s, int64_t frame, int64_t frames)
{
    const double seconds = 0.28 * (double)frames;
    double first = (double)frame / (double)frames, last = (double)(frame + 1) / (double)frames;
    word(s,
         "<animate attributeName=\"visibility\" calcMode=\"discrete\" repeatCount=\"indefinite\"");
    word(s, " dur=\"");
    number(s, seconds);
    word(s, "s\" values=\"");
    word(s, frame == 0            ? "visible;hidden"
            : frame + 1 == frames ? "hidden;visible"
                                  : "hidden;visible;hidden");
    word(s, "\" keyTimes=\"0;");
    if (frame > 0)
        mcr_fixed_write(s->to, first, 4);
    if (frame > 0 && frame + 1 < frames)
        word(s, ";");
    if (frame + 1 < frames)
        mcr_fixed_write(s->to, last, 4);
    word(s, "\"/>\n");
}

static void put_frames(svg *s, const mcr_figure *f, const mcr_layout_of *l, bool moving)
{
    for (int64_t k = 0; k < f->frames; k++) {
        word(s, "<g class=\"frame\" visibility=\"");
        word(s, k == f->frames / 2 ? "visible\">\n" : "hidden\">\n");
        if (moving)
            put_times(s, k, f->frames);
        mcr_draw_marks(&s->base, f, l, k, false);
        word(s, "</g>\n");
    }
    mcr_draw_marks(&s->base, f, l, 0, true);
}

static void put_head(svg *s, const mcr_figure *f, const mcr_draw *draw)
{
    word(s, "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\"");
    attribute(s, "width", draw->width);
    attribute(s, "height", draw->height);
    word(s, " viewBox=\"0 0 ");
    pair(s, draw->width, draw->height, 0);
    word(s, "\">\n<title>");
    mcr_xml_write(s->to, f->title ? f->title : f->kind);
    word(s, "</title>\n<desc>");
    mcr_xml_write(s->to, f->subtitle ? f->subtitle : f->kind);
    word(s, "</desc>\n");
}

mcr_status mcr_svg_write(mcr_figure *f, const mcr_draw *draw, bool moving, const char *id)
{
    svg s = {.base = {.type = &svg_type, .ctx = f->ctx, .dark = draw->theme == MCR_THEME_DARK},
             .to = &f->drawn,
             .id = id};
    mcr_layout_of l;
    mcr_status status = mcr_layout_open(&l, f, draw);
    if (!status) {
        put_head(&s, f, draw);
        put_style(&s, draw->theme);
        if (f->frames == 1) {
            mcr_draw_figure(&s.base, f, &l);
        } else {
            mcr_draw_back(&s.base, f, &l);
            put_frames(&s, f, &l, moving);
        }
        word(&s, "</svg>\n");
        status = s.base.status ? s.base.status : f->drawn.status;
    }
    mcr_layout_close(&l);
    return status;
}

mcr_status mcr_figure_to_svg(mcr_figure *f, const mcr_draw *draw)
{
    return mcr_svg_write(f, draw, true, "c");
}
