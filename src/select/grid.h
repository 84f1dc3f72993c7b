/* grid.h (internal): the points of a search: kernels with ranges in them, options with ranges.
 *
 * A template is a kernel expression some of whose numbers are ranges. A point is a template, a
 * value on each of its axes, and a value on each axis of the options. Points are numbered through:
 * templates one after the other, within one the last axis runs fastest; options come after kernels.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_SELECT_GRID_H
#define MCR_SELECT_GRID_H

#include "select/select.h"

enum { MCR_MOST_AXES = 8, MCR_MOST_POINTS = 1000000 };

typedef struct mcr_axis {
    const mcr_param *option;  /* NULL: of a kernel */
    size_t at, length;        /* of a kernel: the range in the template's text */
    size_t name, name_length; /* of a kernel: the parameter's name there */
    mcr_reals values;
} mcr_axis;

typedef struct mcr_template {
    char *text;
    mcr_scale scale; /* of the data */
    int axes;
    mcr_axis axis[MCR_MOST_AXES];
    int64_t first;   /* point */
    int64_t kernels; /* points without the options */
    bool list;       /* its only range may be a list of numbers, one per column */
} mcr_template;

typedef struct mcr_grid {
    mcr *ctx;
    const mcr_options *options; /* the caller's: what is not searched */
    bool scales;                /* templates differ in how they scale */
    bool forms;                 /* templates are forms of a table of mixed columns */
    bool path;                  /* the learner is given a range of lambda, and chooses itself */
    int64_t templates;
    mcr_template *template;
    int axes; /* of the options */
    mcr_axis axis[MCR_MOST_AXES];
    int64_t settings; /* of the options */
    int64_t searched; /* points of the call; those after them were added */
    int64_t points;
} mcr_grid;

mcr_status mcr_grid_open(mcr_grid **out, const mcr_options *options, const mcr_search *search,
                         const mcr_data *data);
void mcr_grid_close(mcr_grid *grid); /* NULL allowed */

bool mcr_grid_has_vectors(const mcr_data *data);
/* One more template. */
mcr_status mcr_grid_add(mcr_grid *grid, const char *text, mcr_scale scale);

/* Which template a point is of. */
const mcr_template *mcr_grid_template(const mcr_grid *grid, int64_t point);
/* The axes of a point: those of its template, then those of the options. Returns how many there
 * are; at (space for 2 MCR_MOST_AXES) becomes the point's place on each, count how long they
 * are. */
int mcr_grid_place(const mcr_grid *grid, int64_t point, int64_t *at, int64_t *count);

/* The expression of a point as its template has it, with all that was searched. */
mcr_status mcr_grid_text(mcr_text *to, const mcr_grid *grid, int64_t point);
mcr_status mcr_grid_kernel(mcr_kernel **out, const mcr_grid *grid, int64_t point);
/* The options of a point. */
mcr_status mcr_grid_setting(mcr_options **out, const mcr_grid *grid, int64_t point);
/* "C=10 epsilon=0.1": the options that are searched. */
mcr_status mcr_grid_say(mcr_text *to, const mcr_grid *grid, int64_t point);

#endif
