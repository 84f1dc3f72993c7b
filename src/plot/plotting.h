/* plotting.h (internal): shared code of the kinds of figures.
 *
 * A kind is a function that fills the figure of a mcr_plotting, and one line in plots.def.
 * Temporary arrays come from `scratch` and are freed when the figure is done.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_PLOT_PLOTTING_H
#define MCR_PLOT_PLOTTING_H

#include "model/model.h"
#include "plot/figure.h"

enum {
    MCR_PLOT_POINTS = 20000,
    MCR_PLOT_MATRIX = 800,
    MCR_PLOT_CONFUSION = 40, /* classes of a confusion matrix */
    MCR_PLOT_SHUFFLED = 300, /* columns for permutation importance */
    MCR_PLOT_POSITIONS = 80, /* of a logo */
    MCR_PLOT_LEARNING = 20   /* fewest objects for a learning curve */
};

typedef struct mcr_plotting {
    mcr *ctx;
    const mcr_plot *how;
    const mcr_model *model; /* NULL: none */
    const mcr_data *data;   /* NULL: none */
    const mcr_report_fit *report;
    mcr_figure *f;
    mcr_blocks scratch;
} mcr_plotting;

typedef struct mcr_plot_type {
    struct {
        const char *name, *summary, *needs;
    } info;
    mcr_status (*make)(mcr_plotting *p);
    unsigned tasks; /* the model that make needs, as bits 1 << task; 0: it checks that itself */
    bool data;      /* make needs data as well, */
    bool targets;   /* with targets */
} mcr_plot_type;

#define PLOT(name) extern const mcr_plot_type mcr_plot_##name;
#include "plot/plots.def"
#undef PLOT

/* What a call asks for, without a figure yet. */
mcr_plotting mcr_plotting_of(mcr *ctx, const mcr_plot *how);
/* Makes the figure of a kind for these objects in an existing figure: a new frame of an
 * animation. */
mcr_status mcr_plot_make(mcr_plotting *p, const char *kind);
/* The most suitable kind for this model and data. */
const char *mcr_plot_choose(const mcr_plotting *p);
/* Fails with a message that lists the kinds that are possible instead. */
mcr_status mcr_plot_refuse(const mcr_plotting *p, mcr_status status, const char *format, ...)
    MCR_PRINTF(3, 4);

/* MCR_BAD_CALL if something is missing: "roc needs a model of a classifier". */
mcr_status mcr_plot_needs(const mcr_plotting *p, const char *what);
/* MCR_BAD_CALL or MCR_BAD_DATA unless there are the model, the data and the targets of the kind. */
mcr_status mcr_plot_needs_all(const mcr_plotting *p, const mcr_plot_type *type);
/* MCR_BAD_DATA unless the data have classes (numbers: targets). */
mcr_status mcr_plot_needs_targets(const mcr_plotting *p);

/* Title and subtitle, unless the caller has set them. The subtitle names learner and kernel. */
void mcr_plot_title(mcr_plotting *p, const char *format, ...) MCR_PRINTF(2, 3);
void mcr_plot_subtitle(mcr_plotting *p, const char *format, ...) MCR_PRINTF(2, 3);
/* Ends a call that makes a figure: frees the scratch memory, and the figure if making it failed. */
mcr_status mcr_plot_finish(mcr_figure **out, mcr_plotting *p, mcr_status made);
/* "rbf(gamma=2), C=10", borrowed from the scratch memory. */
const char *mcr_plot_made_by(mcr_plotting *p);
/* Shortens a kernel or options for display: numbers are rounded to four digits. commas: instead of
 * blanks between options. */
void mcr_plot_shorten(const char *from, char *to, size_t capacity, bool commas);
/* A number as text in the figure's memory. */
const char *mcr_plot_number(mcr_plotting *p, double value, int digits);

/* An evenly spaced selection of at most `most` of n objects; *count is its size. NULL: out of
 * memory. */
int64_t *mcr_plot_thin(mcr_plotting *p, int64_t n, int64_t most, int64_t *count);
/* The name of the predicted numbers: the target column, or "value". */
const char *mcr_plot_target_name(const mcr_plotting *p);
/* Whether the targets of the data can be classes: few numbers, or words. */
bool mcr_plot_has_classes(const mcr_data *data);
/* The first field of strings; -1: none. */
int64_t mcr_plot_strings(const mcr_data *data);
/* Widens low .. high to hold the values that are numbers. */
void mcr_plot_widen(double *low, double *high, const double *v, int64_t count);
/* The median; sorts v. NAN: no values. */
double mcr_plot_median(double *v, int64_t count);

/* ---- points --------------------------------------------------------------------------------- */

/* Points coloured by class (class_of not NULL, with `classes` names), by value, or in one
 * colour: as marks, or as densities if there are more than MCR_PLOT_POINTS. */
typedef struct mcr_scatter {
    int64_t n;
    const double *x, *y;
    const int32_t *class_of; /* -1: not shown */
    int64_t classes;
    const char *const *class_name;
    const double *value;
    const char *name;          /* for points without classes */
    bool legend, small, fixed; /* as in mcr_mark; small: many panels */
    bool bare;                 /* without classes: in the colour of text, in front of curves */
} mcr_scatter;
mcr_status mcr_plot_scatter(mcr_plotting *p, mcr_panel *panel, const mcr_scatter *s);
/* Class names and numbers of the data; those of the model's classes if it has them (-1:
 * unknown). */
mcr_status mcr_plot_classes(mcr_plotting *p, const mcr_data *data, mcr_scatter *s);
/* The clusters that a model assigns, as classes. */
mcr_status mcr_plot_by_cluster(mcr_plotting *p, const mcr_model *model, const mcr_data *data,
                               mcr_scatter *s);
/* A histogram of the values, by class if the scatter has classes. */
mcr_status mcr_plot_histogram(mcr_plotting *p, mcr_panel *panel, const mcr_scatter *s,
                              const double *v);
/* A straight line, dashed. */
mcr_status mcr_plot_rule(mcr_plotting *p, mcr_panel *panel, const char *name, double x0, double y0,
                         double x1, double y1);

/* ---- vectors -------------------------------------------------------------------------------- */

/* The field of vectors of a model, or of data alone, in the user's units. */
typedef struct mcr_plane {
    const mcr_data *like;          /* the model's objects, or the data */
    int64_t field;                 /* its number in like */
    const mcr_scaled_field *scale; /* NULL: unscaled */
    int64_t cols;
    int64_t x, y; /* the columns on the axes; -1: none */
    double *base; /* cols: medians */
    double low[2], high[2];
    mcr_data *seen; /* the data as preprocessed by the model; NULL: none */
    int64_t n;
    double *at[2]; /* n each: the data in these columns; NULL: no data */
    int64_t supports;
    double *support[2]; /* the support vectors */
} mcr_plane;

/* MCR_BAD_CALL if there are no vectors, or a column does not exist. dims: number of columns wanted;
 * fewer are accepted. Columns: those of the call, else the first ones. */
mcr_status mcr_plane_open(mcr_plane *out, mcr_plotting *p, int dims);
void mcr_plane_close(mcr_plane *plane); /* also allowed on a zeroed struct */
/* The number of columns of the vectors; 0: no vectors. */
int64_t mcr_plane_columns(const mcr_plotting *p);
const char *mcr_plane_name(mcr_plotting *p, const mcr_plane *plane, int64_t column);
/* One column of the data (or, without data, of the model's objects), in the user's units. */
mcr_status mcr_plane_column(mcr_plotting *p, const mcr_plane *plane, int64_t column, double *to);
/* Objects at these positions, with the other columns at their medians. y NULL: one column. */
mcr_status mcr_plane_objects(mcr_data **out, mcr_plotting *p, const mcr_plane *plane, int64_t count,
                             const double *x, const double *y);

/* How many such objects to create at a time. */
int64_t mcr_plane_at_once(const mcr_plane *plane);

/* ---- contours ------------------------------------------------------------------------------- */

/* A function on the plane, evaluated at many positions at a time. */
typedef mcr_status mcr_field_of(void *arg, int64_t count, const double *x, const double *y,
                                double *f);

typedef struct mcr_grid {
    int64_t cols, rows;
    double x0, y0, dx, dy; /* origin and spacing of the nodes */
    double *f;             /* rows x cols */
    mcr_field_of *eval;
    void *arg;
} mcr_grid;

/* Evaluates the nodes. */
mcr_status mcr_grid_fill(mcr_plotting *p, mcr_grid *g);
/* Nodes over the ranges of the plane. The grid extends one cell beyond the axes on each side, so
 * that lines end at the frame. */
mcr_grid mcr_grid_over(const mcr_plane *plane, int64_t cols, int64_t rows, mcr_panel *panel);
/* A mark of cells for values at the nodes. */
mcr_mark *mcr_grid_cells(mcr_plotting *p, mcr_panel *panel, const mcr_grid *g, const char *name);
/* The contour of f at a level (labels: where f, then the number of a class, changes) as an
 * interrupted line. Crossings of grid edges are located by bisection of f itself, to 1/500 of a
 * cell. */
mcr_status mcr_grid_contour(mcr_plotting *p, const mcr_grid *g, double level, bool labels,
                            int64_t *count, double **x, double **y);

/* ---- results -------------------------------------------------------------------------------- */

/* The default range of the parameter that controls how closely a learner fits the data; NULL:
 * none. */
const char *mcr_plot_usual_range(const mcr_plotting *p);
/* For a model on strings only: the length of the longest one with a positive first output; 0:
 * none. */
int64_t mcr_plot_longest(const mcr_plotting *p); /* -1: out of memory */
/* The scores of a search. */
mcr_status mcr_plot_tuning_report(mcr_plotting *p, const mcr_tune_report *report);
/* Splits "C=0.1:100:log7" into a name and its values. */
mcr_status mcr_plot_range(mcr_plotting *p, const char *text, const char **name, mcr_reals *values);
/* The options and the kernel of the model's learner with one parameter changed, to be closed and
 * freed. name NULL: unchanged. */
mcr_status mcr_plot_vary(mcr_plotting *p, const char *name, double value, mcr_options **options,
                         mcr_kernel **kernel);

#endif
