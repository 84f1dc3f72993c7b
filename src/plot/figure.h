/* figure.h (internal): a figure as data, before anything is drawn.
 *
 * All arrays and texts of a figure come from its pool and live as long as it does, so that a
 * function that fails half-way leaves nothing to clean up.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_PLOT_FIGURE_H
#define MCR_PLOT_FIGURE_H

#include <stdbool.h>

#include <mercer/plot.h>

#include "base/context.h"
#include "base/stream.h"

/* ---- memory --------------------------------------------------------------------------------- */

/* Blocks that are freed together. */
typedef struct mcr_blocks {
    mcr *ctx;
    void **block;
    int64_t count, capacity;
    bool failed; /* an allocation failed: the figure is incomplete */
} mcr_blocks;

void *mcr_blocks_take(mcr_blocks *b, int64_t count, size_t size); /* cleared; NULL: out of memory */
double *mcr_blocks_reals(mcr_blocks *b, int64_t count);
char *mcr_blocks_text(mcr_blocks *b, const char *text); /* a copy; NULL for NULL */
char *mcr_blocks_format(mcr_blocks *b, const char *format, ...) MCR_PRINTF(2, 3);
void mcr_blocks_free(mcr_blocks *b);

/* ---- colours -------------------------------------------------------------------------------- */

enum { MCR_PALETTE = 8 };

/* A colour by its role, so that themes can differ: from 0 on, classes in the order of the
 * palette. */
typedef enum mcr_ink {
    MCR_INK_NONE = -1,
    MCR_INK_CLASS = 0, /* and the following: the number of the class modulo MCR_PALETTE */
    MCR_INK_TEXT = MCR_PALETTE,
    MCR_INK_MUTED, /* tick labels, notes */
    MCR_INK_GRID,
    MCR_INK_FRAME,
    MCR_INK_PAPER, /* the background */
    MCR_INKS,
    MCR_INK_RGB = 0x1000000 /* plus 0xRRGGBB: the same in all themes */
} mcr_ink;

static inline mcr_ink mcr_class_ink(int64_t c)
{
    return (mcr_ink)(c % MCR_PALETTE);
}

/* How a number becomes a colour. */
typedef enum mcr_ramp {
    MCR_RAMP_HEAT = 0,  /* dark to light, for quantities */
    MCR_RAMP_DIVERGING, /* blue, grey, orange around 0 */
    MCR_RAMP_INK,       /* the mark's ink, more or less transparent */
    MCR_RAMP_CLASSES    /* value c + s: the ink of class c, with strength 0 <= s < 1 */
} mcr_ramp;

/* ---- marks ---------------------------------------------------------------------------------- */

typedef enum mcr_mark_type {
    MCR_MARK_POINTS, /* x, y; value: colours by ramp */
    MCR_MARK_LINE,   /* x, y; NAN interrupts the line */
    MCR_MARK_BAND,   /* between low and high over x */
    MCR_MARK_BARS,   /* from low (NULL: 0) to y, at x, `width` wide; sideways: to the right */
    MCR_MARK_CELLS,  /* rows x cols of value over x0 .. x1, y0 .. y1, the first row at y0 */
    MCR_MARK_TEXT,   /* text[i] at x, y */
    MCR_MARK_LETTERS /* text[i] fills x - 0.5 .. x + 0.5, low .. high */
} mcr_mark_type;

typedef enum mcr_shape {
    MCR_SHAPE_CIRCLE = 0,
    MCR_SHAPE_DIAMOND,
    MCR_SHAPE_TRIANGLE,
    MCR_SHAPE_SQUARE,
    MCR_SHAPE_CROSS,
    MCR_SHAPE_RING,
    MCR_SHAPES
} mcr_shape;

typedef struct mcr_mark {
    mcr_mark_type type;
    const char *name; /* description; shown in the legend if `legend` */
    bool legend;
    bool fixed; /* the same in all frames, and in front of changing marks */
    mcr_ink ink;
    double alpha; /* 0: 1 */
    /* points, lines, bars */
    int64_t count;
    double *x, *y, *low, *high, *value;
    char **text;
    mcr_shape shape;
    double size;  /* points: diameter in units of the figure, 0: the default */
    double width; /* lines; bars in units of the axis; 0: the default */
    bool dashed, sideways;
    double anchor; /* texts: 0 begin, 0.5 middle, 1 end */
    /* cells */
    int64_t rows, cols;
    double x0, x1, y0, y1;
    double *x_edge, *y_edge; /* cols + 1, rows + 1: edges of cells; NULL: equal sizes */
    bool smooth;             /* interpolate between cells */
    mcr_ramp ramp;           /* for cells, and points with values */
    double v0, v1;           /* the values at the ends of the ramp */
} mcr_mark;

typedef struct mcr_axis {
    const char *label;
    double min, max; /* equal: determined from the marks */
    bool log;
    bool tight;         /* no margin beyond the marks */
    bool zero;          /* the axis includes 0 */
    bool silent;        /* no ticks */
    const char **names; /* names of the positions 0, 1, ..; NULL: numbers */
    int64_t count;      /* number of names */
} mcr_axis;

typedef struct mcr_panel {
    const char *title;
    int row, col;
    mcr_axis x, y;
    bool equal; /* equal unit lengths on both axes */
    bool no_grid;
    const char *bar; /* label of a colour bar for the first mark with a ramp; NULL: none */
    int64_t count, capacity;
    mcr_mark *mark;
} mcr_panel;

typedef struct mcr_number {
    const char *name;
    double value;
} mcr_number;

/* One picture; an animation has several frames. */
typedef struct mcr_frame {
    const char *label; /* "gamma = 0.1"; NULL: the only one */
    int64_t panels, panel_capacity;
    mcr_panel *panel;
    int64_t numbers, number_capacity;
    mcr_number *number;
} mcr_frame;

struct mcr_figure {
    mcr *ctx;
    mcr_blocks pool;
    const char *kind, *title, *subtitle;
    int rows, cols;    /* of the grid of panels */
    double aspect;     /* preferred height / width; 0: the default */
    const char *moves; /* the parameter that an animation varies */
    int64_t frames, frame_capacity;
    mcr_frame *frame;
    mcr_text drawn;     /* the bytes of the last drawing */
    int64_t pixel_rows; /* of a drawing in pixels */
};

mcr_status mcr_figure_new(mcr_figure **out, mcr *ctx, const char *kind);
/* A new frame, panel or mark: zeroed, and owned by the figure; NULL: out of memory. Creating one
 * may move earlier ones: fill in each before creating the next. */
mcr_frame *mcr_figure_frame(mcr_figure *f, const char *label);
mcr_panel *mcr_frame_panel(mcr_figure *f, int row, int col);
mcr_mark *mcr_panel_mark(mcr_figure *f, mcr_panel *p, mcr_mark_type type, const char *name);
/* The same with `count` points at x and y, arrays of the figure (NULL: out of memory); and with new
 * arrays. */
mcr_mark *mcr_panel_over(mcr_figure *f, mcr_panel *p, mcr_mark_type type, const char *name,
                         int64_t count, double *x, double *y);
mcr_mark *mcr_panel_xy(mcr_figure *f, mcr_panel *p, mcr_mark_type type, const char *name,
                       int64_t count);
/* For the last frame. */
void mcr_figure_set_number(mcr_figure *f, const char *name, double value);

/* ---- drawing -------------------------------------------------------------------------------- */

/* Sets the limits of axes without limits from their marks, the same in all frames of an animation;
 * called before drawing. */
void mcr_figure_fit_axes(mcr_figure *f);

mcr_status mcr_figure_to_json(mcr_figure *f);
struct mcr_json_writer;
/* An axis as a member of a JSON object; names: null if it has none, else they are left out. */
void mcr_axis_to_json(struct mcr_json_writer *w, const char *key, const mcr_axis *a, bool names);
mcr_status mcr_figure_to_svg(mcr_figure *f, const mcr_draw *draw);
mcr_status mcr_figure_to_html(mcr_figure *f, const mcr_draw *draw);
mcr_status mcr_figure_to_text(mcr_figure *f, const mcr_draw *draw);
/* "png pdf kitty sixel". */
mcr_status mcr_figure_to_cairo(mcr_figure *f, const mcr_draw *draw, const char *format);

#endif
