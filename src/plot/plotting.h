/* plotting.h (internal): what the kinds of figures share.
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
    MCR_PLOT_SHUFFLED = 300, /* columns whose importance is found by shuffling */
    MCR_PLOT_POSITIONS = 80, /* of a logo */
    MCR_PLOT_LEARNING = 20   /* objects of a learning curve, at least */
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
} mcr_plot_type;

#define PLOT(name) extern const mcr_plot_type mcr_plot_##name;
#include "plot/plots.def"
#undef PLOT

/* The figure of a kind for these objects, into a figure that is there: a new frame of an
 * animation. */
mcr_status mcr_plot_make(mcr_plotting *p, const char *kind);
/* The kind that suits this model and data best. */
const char *mcr_plot_choose(const mcr_plotting *p);
/* Fails with a message, and with the kinds that are possible in place of the figure's. */
mcr_status mcr_plot_refuse(const mcr_plotting *p, mcr_status status, const char *format, ...)
    MCR_PRINTF(3, 4);

/* MCR_BAD_CALL where something is missing: "roc needs a model of a classifier". */
mcr_status mcr_plot_needs(const mcr_plotting *p, const char *kind, const char *what);
/* MCR_BAD_CALL unless there are model and data, for a model of one of these tasks (bits 1 <<
 * task). */
mcr_status mcr_plot_needs_model(const mcr_plotting *p, const char *kind, unsigned tasks, bool data);
/* MCR_BAD_DATA unless the data have classes (numbers: targets). */
mcr_status mcr_plot_needs_targets(const mcr_plotting *p, const char *kind);

/* Title and subtitle, unless the caller has said one. The subtitle names learner and kernel. */
mcr_status mcr_plot_title(mcr_plotting *p, const char *format, ...) MCR_PRINTF(2, 3);
mcr_status mcr_plot_subtitle(mcr_plotting *p, const char *format, ...) MCR_PRINTF(2, 3);
/* The end of a call that makes a figure: frees the scratch memory, and the figure where making it
 * failed. */
mcr_status mcr_plot_finish(mcr_figure **out, mcr_plotting *p, mcr_status made);
/* "rbf(gamma=2), C=10", borrowed from the scratch memory. */
const char *mcr_plot_made_by(mcr_plotting *p);
/* A kernel or options for people: numbers of many digits are for reading back, and four are
 * enough to look at. commas: in place of the blanks between options. */
void mcr_plot_shorten(const char *from, char *to, size_t capacity, bool commas);
/* A number as text in the figure's memory. */
const char *mcr_plot_number(mcr_plotting *p, double value, int digits);

/* An even choice of at most `most` of n objects; *count is how many. NULL: no memory. */
int64_t *mcr_plot_thin(mcr_plotting *p, int64_t n, int64_t most, int64_t *count);
/* What the model's numbers are called: the target column, or "value". */
const char *mcr_plot_target_name(const mcr_plotting *p);
/* 1: the targets of the data are few numbers or words, fit to be classes. */
bool mcr_plot_has_classes(const mcr_data *data);
/* The first field of strings; -1: none. */
int64_t mcr_plot_strings(const mcr_data *data);
/* The middle value; v is sorted. NAN: none. */
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
    const char *name;          /* of points without classes */
    bool legend, small, fixed; /* as in mcr_mark; small: many panels */
    bool bare;                 /* without classes: in the colour of text, to stand before curves */
} mcr_scatter;
mcr_status mcr_plot_scatter(mcr_plotting *p, mcr_panel *panel, const mcr_scatter *s);
/* Class names and numbers of the data; of a model's classes where it has them (-1: unknown to
 * it). */
mcr_status mcr_plot_classes(mcr_plotting *p, const mcr_data *data, mcr_scatter *s);
/* Bars of how often values occur, by class if the scatter has them. */
mcr_status mcr_plot_histogram(mcr_plotting *p, mcr_panel *panel, const mcr_scatter *s,
                              const double *v);
/* A straight line, dashed. */
mcr_status mcr_plot_rule(mcr_plotting *p, mcr_panel *panel, const char *name, double x0, double y0,
                         double x1, double y1);

/* ---- vectors -------------------------------------------------------------------------------- */

/* The field of vectors that a model, or data alone, have, in the units of the user. */
typedef struct mcr_plane {
    const mcr_data *like;          /* the model's objects, or the data */
    int64_t field;                 /* in like */
    const mcr_scaled_field *scale; /* NULL: as they are */
    int64_t cols;
    int64_t x, y; /* the columns that are drawn; -1: none */
    double *base; /* cols: medians */
    double low[2], high[2];
    mcr_data *seen; /* the data as the model sees them; NULL: none */
    int64_t n;
    double *at[2]; /* n each: the data in the columns; NULL: no data */
    int64_t supports;
    double *support[2]; /* the model's objects */
} mcr_plane;

/* MCR_BAD_CALL if there are no vectors, or a column is not there. dims: columns that are wanted;
 * fewer are fine. Columns: those of the call, else the first. */
mcr_status mcr_plane_open(mcr_plane *out, mcr_plotting *p, int dims);
void mcr_plane_close(mcr_plane *plane); /* of a zero one, too */
/* How many columns the vectors have; 0: there are none. */
int64_t mcr_plane_columns(const mcr_plotting *p);
const char *mcr_plane_name(mcr_plotting *p, const mcr_plane *plane, int64_t column);
/* One column of the data (or, without data, of the model's objects), in the user's units. */
mcr_status mcr_plane_column(mcr_plotting *p, const mcr_plane *plane, int64_t column, double *to);
/* Objects at these places, the other columns at their medians. y NULL: one column. */
mcr_status mcr_plane_objects(mcr_data **out, mcr_plotting *p, const mcr_plane *plane, int64_t count,
                             const double *x, const double *y);

/* How many such objects are worth making at once. */
int64_t mcr_plane_at_once(const mcr_plane *plane);

/* ---- contours ------------------------------------------------------------------------------- */

/* A function on the plane, for many places at once. */
typedef mcr_status mcr_field_of(void *arg, int64_t count, const double *x, const double *y,
                                double *f);

typedef struct mcr_grid {
    int64_t cols, rows;
    double x0, y0, dx, dy; /* of the nodes */
    double *f;             /* rows x cols */
    mcr_field_of *eval;
    void *arg;
} mcr_grid;

/* Evaluates the nodes. */
mcr_status mcr_grid_fill(mcr_plotting *p, mcr_grid *g);
/* Where f crosses a level (labels: where f, then the number of a class, changes) as a line with
 * breaks. Places on the edges of the grid are found by bisection of f itself, to 1/500 of a
 * cell. */
mcr_status mcr_grid_contour(mcr_plotting *p, const mcr_grid *g, double level, bool labels,
                            int64_t *count, double **x, double **y);

/* ---- results -------------------------------------------------------------------------------- */

/* The range of the parameter that says how closely a learner follows the data; NULL: none. */
const char *mcr_plot_usual_range(const mcr_plotting *p);
/* Of a model on strings alone: the longest that speaks for its first output; 0: none. */
int64_t mcr_plot_longest(const mcr_plotting *p); /* -1: out of memory */
/* The scores of a search. */
mcr_status mcr_plot_tuning_report(mcr_plotting *p, const mcr_tune_report *report);
/* Splits "C=0.1:100:log7" into a name and its values. */
mcr_status mcr_plot_range(mcr_plotting *p, const char *text, const char **name, mcr_reals *values);
/* The model's learner with one parameter changed: its options and kernel, to be closed and
 * freed. name NULL: unchanged. */
mcr_status mcr_plot_vary(mcr_plotting *p, const char *name, double value, mcr_options **options,
                         mcr_kernel **kernel);

#endif
