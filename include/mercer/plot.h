/* plot.h: pictures of data, kernels and models.
 *
 * A figure is plain data: panels with axes, marks (points, lines, bands, bars, cells, texts), a
 * legend and the numbers that belong to it (an area under a curve, a share of variance). It is
 * computed once and can be drawn any number of times: as SVG, PNG, PDF, HTML, in a terminal, or as
 * JSON for programs that draw by themselves. PNG, PDF and terminal graphics need cairo, which is
 * loaded on first use.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MERCER_PLOT_H
#define MERCER_PLOT_H

#include <mercer/select.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mcr_figure mcr_figure; /* one thread at a time */

/* The kinds of figures. Borrowed. */
typedef struct mcr_plot_info {
    size_t size; /* sizeof(mcr_plot_info) */
    const char *name, *summary;
    const char *needs; /* the input that it needs: "a model of a classifier" */
} mcr_plot_info;
MCR_API int64_t mcr_plot_count(void);
MCR_API mcr_status mcr_plot_describe(int64_t number, mcr_plot_info *info);

/* What to show. Zero in a field (all but size) means none, or the default. */
typedef struct mcr_plot {
    size_t size;              /* sizeof(mcr_plot) */
    const char *kind;         /* NULL: the kind that suits the model and the data */
    const mcr_model *model;   /* NULL: only the data are drawn */
    const mcr_data *data;     /* NULL: the model's support vectors, if they are enough */
    const mcr_kernel *kernel; /* for gram, spectrum and logo without a model */
    /* Columns by name, or by number from 1; for a model with coordinates, their numbers. The other
     * columns are fixed at their median. If both are NULL and there are more than two columns, a
     * boundary is drawn in the plane of the first two kernel principal components. */
    const char *x, *y;
    const char *title; /* NULL: composed from the model and the data */
    /* path: an option of the learner, or a parameter of the kernel, and its range:
     * "C=0.1:100:log7". NULL: C, lambda, nu or neighbors. */
    const char *along;
    /* learning and path, without a model: the options (and the kernel above) to train with. */
    const mcr_options *options;
} mcr_plot;

/* Computes a figure. MCR_BAD_CALL if there is no picture of that kind; the message lists those that
 * are possible. More than 20,000 points are drawn as a density; kernel matrices show at most 800
 * objects, chosen evenly, and the subtitle says so. */
MCR_API mcr_status mcr_figure_open(mcr_figure **out, mcr *ctx, const mcr_plot *plot);
/* The same for several values of one parameter, "gamma=0.01:100:log30": the model's learner is
 * trained on the data again for each. The frames share their axes. Needs a model and data. */
MCR_API mcr_status mcr_figure_animate(mcr_figure **out, mcr *ctx, const mcr_plot *plot,
                                      const char *range);
/* The scores of a search. */
MCR_API mcr_status mcr_figure_tuning(mcr_figure **out, mcr *ctx, const mcr_tune_report *report,
                                     const char *title);
MCR_API void mcr_figure_close(mcr_figure *figure); /* NULL allowed */

MCR_API const char *mcr_figure_kind(const mcr_figure *figure);
MCR_API int64_t mcr_figure_frames(const mcr_figure *figure); /* 1: not an animation */
/* A number of the figure ("auc"); NAN: it has none of that name. */
MCR_API double mcr_figure_number(const mcr_figure *figure, const char *name);

typedef enum mcr_theme {
    MCR_THEME_AUTO = 0, /* SVG, HTML: as the viewer prefers; else light */
    MCR_THEME_LIGHT,
    MCR_THEME_DARK
} mcr_theme;

/* Zero in a field (all but size) means the default. */
typedef struct mcr_draw {
    size_t size;       /* sizeof(mcr_draw) */
    int width, height; /* pixels; default: 720 wide, as high as needed. text: columns and lines */
    mcr_theme theme;
    int colours; /* text: 0 none, 256, or 16777216 */
} mcr_draw;

/* Formats: "svg png pdf html json text kitty sixel". The bytes are borrowed until the figure is
 * drawn again or closed. draw may be NULL. MCR_IO if cairo is needed and cannot be loaded. */
MCR_API mcr_status mcr_figure_draw(mcr_figure *figure, const char *format, const mcr_draw *draw,
                                   const char **bytes, size_t *count);
/* Writes a file in the format of its extension: .svg .png .pdf .html .json .txt; the file is
 * replaced atomically (output.h). */
MCR_API mcr_status mcr_figure_save(mcr_figure *figure, const char *path, const mcr_draw *draw);
/* The format of a path's extension; NULL: none. */
MCR_API const char *mcr_figure_format(const char *path);

#ifdef __cplusplus
}
#endif
#endif
