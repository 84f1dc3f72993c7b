/* canvas.h (internal): the drawing operations of a back end, in pixels from the upper left corner,
 * and the drawing of a figure with them.
 *
 * Figures are laid out once (layout.c), drawn by draw.c, and sent through this table to SVG (svg.c)
 * or cairo (cairo.c). Errors are recorded in the canvas and checked at the end.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_PLOT_CANVAS_H
#define MCR_PLOT_CANVAS_H

#include "plot/figure.h"
#include "plot/scale.h"

typedef struct mcr_canvas mcr_canvas;

typedef struct mcr_style {
    mcr_ink fill, stroke; /* MCR_INK_NONE: not drawn */
    double fill_alpha, stroke_alpha;
    double width;
    bool dashed;
} mcr_style;

typedef struct mcr_font {
    double size, anchor,
        angle; /* anchor: 0 begin, 0.5 middle, 1 end; angle in degrees, clockwise */
    bool bold;
    mcr_ink ink;
} mcr_font;

typedef struct mcr_image {
    int64_t cols, rows;
    const uint32_t *argb; /* top row first; at most 256 different colours */
    bool smooth;
} mcr_image;

typedef struct mcr_box {
    double x, y, w, h;
} mcr_box;

typedef struct mcr_canvas_type {
    void (*path)(mcr_canvas *c, const double *x, const double *y, int64_t count, bool closed,
                 const mcr_style *style); /* NAN interrupts the line */
    void (*rect)(mcr_canvas *c, mcr_box box, const mcr_style *style);
    void (*dots)(mcr_canvas *c, const double *x, const double *y, int64_t count, mcr_shape shape,
                 double size, const mcr_style *style);
    void (*text)(mcr_canvas *c, double x, double y, const char *text, const mcr_font *font);
    void (*letter)(mcr_canvas *c, mcr_box box, const char *letter, mcr_ink ink);
    void (*image)(mcr_canvas *c, mcr_box box, const mcr_image *image);
    void (*clip)(mcr_canvas *c, mcr_box box);
    void (*unclip)(mcr_canvas *c);
} mcr_canvas_type;

struct mcr_canvas {
    const mcr_canvas_type *type;
    mcr *ctx;
    bool dark;
    mcr_status status;
};

/* The outline of a shape of size 1 around (0, 0): fills px and py (8 each) and returns the number
 * of points; 0: a circle. A cross is two strokes. */
int mcr_shape_outline(mcr_shape shape, double *px, double *py);

/* ---- layout --------------------------------------------------------------------------------- */

enum { MCR_LEGEND = 16 };

typedef struct mcr_legend_entry {
    const mcr_mark *mark;
    double x, y;
} mcr_legend_entry;

typedef struct mcr_place {
    mcr_box box; /* of the plotting area */
    mcr_box bar; /* of the colour bar; w 0: none */
    mcr_ticks x, y;
    bool turned;             /* tick labels below are slanted */
    double x_label, y_label; /* positions of the axis labels */
} mcr_place;

typedef struct mcr_layout_of {
    double width, height;
    double font;                   /* font size; all other sizes follow */
    double unit;                   /* pixels per unit of the marks' sizes */
    double title, subtitle, frame; /* baselines */
    int entries;
    mcr_legend_entry entry[MCR_LEGEND];
    int64_t panels;
    mcr_place *place;
    mcr_blocks pool;
} mcr_layout_of;

mcr_status mcr_layout_open(mcr_layout_of *out, const mcr_figure *f, const mcr_draw *draw);
void mcr_layout_close(mcr_layout_of *l);

/* Back: titles, legend, axes; then the marks of one frame; then the marks in front of all frames.
 * fixed: draws the marks that are the same in all frames, or the others. */
void mcr_draw_back(mcr_canvas *c, const mcr_figure *f, const mcr_layout_of *l);
void mcr_draw_marks(mcr_canvas *c, const mcr_figure *f, const mcr_layout_of *l, int64_t frame,
                    bool fixed);
/* Draws the first frame of a figure. */
void mcr_draw_figure(mcr_canvas *c, const mcr_figure *f, const mcr_layout_of *l);

/* ---- pictures within text ------------------------------------------------------------------- */

/* Appends a PNG of at most 256 colours; appends bytes as base64. */
mcr_status mcr_png_write(mcr_text *to, mcr *ctx, const mcr_image *image);
void mcr_base64_write(mcr_text *to, const void *bytes, size_t count);
/* Text for XML: escapes the five special characters, drops bytes that XML cannot represent. */
void mcr_xml_write(mcr_text *to, const char *text);
/* The same without escapes: drops control characters and invalid UTF-8. */
void mcr_plain_write(mcr_text *to, const char *text);
/* A number with at most this many decimals, without trailing zeros. */
void mcr_fixed_write(mcr_text *to, double value, int decimals);

/* A complete SVG document. frames: all frames, in groups with the class "frame"; moving:
 * animated. */
mcr_status mcr_svg_write(mcr_figure *f, const mcr_draw *draw, bool moving, const char *id);

/* ---- pixels --------------------------------------------------------------------------------- */

/* A picture of opaque pixels 0xRRGGBB, rows `stride` apart, in sixel format for terminals. */
mcr_status mcr_sixel_write(mcr_text *to, mcr *ctx, const uint32_t *rgb, int64_t cols, int64_t rows,
                           int64_t stride);
/* A PNG file in kitty's graphics protocol. */
void mcr_kitty_write(mcr_text *to, mcr *ctx, const void *png, size_t count);

#endif
