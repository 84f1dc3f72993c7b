/* grid.h (internal): the points of a search: ranges in kernels and options.
 *
 * A template is a kernel expression some of whose numbers are ranges. A point is a template, a
 * value on each of its axes, and a value on each axis of the options. Points are numbered
 * consecutively: template by template, and within one the last axis varies fastest; options come
 * after kernels.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_SELECT_GRID_H
#define MCR_SELECT_GRID_H

#include "select/select.h"

enum { MCR_MOST_AXES = 8, MCR_MOST_POINTS = 1000000 };

typedef struct mcr_axis {
    const mcr_param *option;  /* NULL: of a kernel */
    size_t at, length;        /* kernel: the range in the template's text */
    size_t name, name_length; /* kernel: the parameter's name there */
    mcr_reals values;
} mcr_axis;

typedef struct mcr_template {
    char *text;
    mcr_scale scale; /* of the data */
    int axes;
    mcr_axis axis[MCR_MOST_AXES];
    int64_t first;   /* its first point */
    int64_t kernels; /* points, not counting the options */
    bool list;       /* its only range may become a list of numbers, one per column */
} mcr_template;

typedef struct mcr_grid {
    mcr *ctx;
    const mcr_options *options; /* the caller's; for everything that is not searched */
    bool scales;                /* templates differ in scaling */
    bool forms;                 /* templates are kernels for a table of mixed columns */
    bool path;                  /* the learner gets a range of lambda and chooses itself */
    int64_t templates;
    mcr_template *template;
    int axes; /* of the options */
    mcr_axis axis[MCR_MOST_AXES];
    int64_t settings; /* of the options */
    int64_t searched; /* points of the call; later ones were added */
    int64_t points;
} mcr_grid;

mcr_status mcr_grid_open(mcr_grid **out, const mcr_options *options, const mcr_search *search,
                         const mcr_data *data);
void mcr_grid_close(mcr_grid *grid); /* NULL allowed */

bool mcr_grid_has_vectors(const mcr_data *data);
/* Adds a template. */
mcr_status mcr_grid_add(mcr_grid *grid, const char *text, mcr_scale scale);

/* The template of a point. */
const mcr_template *mcr_grid_template(const mcr_grid *grid, int64_t point);
/* The axes of a point: those of its template, then those of the options. Returns their number; at
 * (space for 2 MCR_MOST_AXES) receives the point's index on each, count the length of each. */
int mcr_grid_place(const mcr_grid *grid, int64_t point, int64_t *at, int64_t *count);

/* The expression of a point, with all values that were searched filled in. */
mcr_status mcr_grid_text(mcr_text *to, const mcr_grid *grid, int64_t point);
mcr_status mcr_grid_kernel(mcr_kernel **out, const mcr_grid *grid, int64_t point);
/* The options of a point. */
mcr_status mcr_grid_setting(mcr_options **out, const mcr_grid *grid, int64_t point);
/* Its expression, and the options that are searched ("C=10 epsilon=0.1"), to be freed. */
mcr_status mcr_grid_name(char **kernel, char **options, const mcr_grid *grid, int64_t point);

#endif
