/* canvas.h (internal): what a back end can draw, in pixels from the upper left corner; and how a
 * figure becomes that.
 *
 * Figures are laid out once (layout.c), drawn by draw.c, and what is drawn goes through this table
 * to SVG (svg.c) or to cairo (cairo.c). Faults are kept in the canvas and looked at in the end.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_PLOT_CANVAS_H
#define MCR_PLOT_CANVAS_H

#include "plot/figure.h"
#include "plot/scale.h"

typedef struct mcr_canvas mcr_canvas;

typedef struct mcr_style {
    mcr_ink fill, stroke; /* MCR_INK_NONE: not */
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
    const uint32_t *argb; /* the first row is the upper one; at most 256 different colours */
    bool smooth;
} mcr_image;

typedef struct mcr_box {
    double x, y, w, h;
} mcr_box;

typedef struct mcr_canvas_type {
    void (*path)(mcr_canvas *c, const double *x, const double *y, int64_t count, bool closed,
                 const mcr_style *style); /* NAN breaks it */
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

/* The outline of a shape of size 1 around (0, 0): fills px and py (8 each), returns how
 * many points; 0: it is round. A cross is two strokes. */
int mcr_shape_outline(mcr_shape shape, double *px, double *py);

/* ---- layout --------------------------------------------------------------------------------- */

enum { MCR_LEGEND = 16 };

typedef struct mcr_legend_entry {
    const mcr_mark *mark;
    double x, y;
} mcr_legend_entry;

typedef struct mcr_place {
    mcr_box box; /* of the data */
    mcr_box bar; /* of the colour bar; w 0: none */
    mcr_ticks x, y;
    bool turned;             /* the texts below are slanted */
    double x_label, y_label; /* where the labels of the axes stand */
} mcr_place;

typedef struct mcr_layout_of {
    double width, height;
    double font;                   /* its size; all other sizes follow */
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

/* Titles, legend, axes; then the marks of one frame; then what is in front of all frames. fixed:
 * which marks are drawn, those that are the same in all frames or the others. */
void mcr_draw_back(mcr_canvas *c, const mcr_figure *f, const mcr_layout_of *l);
void mcr_draw_marks(mcr_canvas *c, const mcr_figure *f, const mcr_layout_of *l, int64_t frame,
                    bool fixed);
/* All of a figure's first frame. */
void mcr_draw_figure(mcr_canvas *c, const mcr_figure *f, const mcr_layout_of *l);

/* ---- pictures within text ------------------------------------------------------------------- */

/* A PNG of at most 256 colours, appended; and bytes as base64. */
mcr_status mcr_png_write(mcr_text *to, mcr *ctx, const mcr_image *image);
void mcr_base64_write(mcr_text *to, const void *bytes, size_t count);
/* Text for XML: the five characters are escaped, bytes that XML cannot hold are left out. */
void mcr_xml_write(mcr_text *to, const char *text);
/* The same without escapes: text that is valid UTF-8 without control characters. */
void mcr_plain_write(mcr_text *to, const char *text);
/* A number with so many decimals at most, without needless zeros. */
void mcr_fixed_write(mcr_text *to, double value, int decimals);

/* The whole of an SVG document. frames: all of them, in groups with the class "frame"; moving: they
 * follow one another in time. */
mcr_status mcr_svg_write(mcr_figure *f, const mcr_draw *draw, bool moving, const char *id);

/* ---- pixels --------------------------------------------------------------------------------- */

/* A picture of opaque pixels 0xRRGGBB, rows `stride` apart, as the graphics of a terminal. */
mcr_status mcr_sixel_write(mcr_text *to, mcr *ctx, const uint32_t *rgb, int64_t cols, int64_t rows,
                           int64_t stride);
/* A PNG file as kitty's protocol has it. */
void mcr_kitty_write(mcr_text *to, mcr *ctx, const void *png, size_t count);

#endif
