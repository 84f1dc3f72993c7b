/* search.h (internal): evaluating the points of a grid.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_SELECT_SEARCH_H
#define MCR_SELECT_SEARCH_H

#include "select/checkpoint.h"
#include "select/grid.h"
#include "select/select.h"

/* Fraction of the budget for the K of all objects that all splits share (mcr_tried.kept). */
#define MCR_SHARED_PART 0.4

typedef struct mcr_tried {
    mcr *ctx;
    const mcr_data *data, *all; /* the data searched on, and the caller's data */
    mcr_data *some;             /* owned data if searching on a subset; else NULL */
    mcr_grid *grid;
    mcr_splits *splits;
    mcr_splits *aside; /* splits of all objects while searching on a subset; else NULL */
    mcr_task task;
    const mcr_metric *metric;
    int64_t count;        /* splits */
    double *score;        /* points x splits; NAN: not tested, or not defined; infinite: failed */
    int32_t *tested;      /* splits tested for each point */
    unsigned char *state; /* mcr_point_state + 1; 0: not tried */
    bool whole;           /* points are tested on all splits, even if they cannot become the best */
    bool quick;           /* trainings have a step limit */
    bool races;           /* only the best third of a batch continues after a split */
    bool early;           /* points that are clearly behind on the first splits are dropped */
    int64_t best;         /* number of a point; -1: none */
    int64_t from;         /* the best point before relevance weights */
    int64_t fits, unfinished;
    bool failed; /* a training has failed, with its message */
    char message[256];
    /* During the search: */
    mcr_options **setting; /* created on demand */
    mcr_options *held;     /* used instead of these; NULL: not */
    mcr_checkpoint *checkpoint;
    int64_t batch;
    double began, expected; /* estimated total of fits */
    double seen;            /* time of the last search for the best point, and the result */
    double so_far;
    mcr_stop stopped; /* why not all points were tried */
    bool covers;
    int workers;           /* that may run concurrently */
    bool keeps;            /* paths store kernel values in spaces */
    size_t space_bytes;    /* bytes taken from the budget for each */
    mcr_path_space *space; /* two per worker: for its paths, and for K of all objects */
    mcr_path_space *kept;  /* per kernel: K of all objects; stored is NULL: does not pay */
    size_t kept_bytes;
} mcr_tried;

/* Evaluates the points; *best is -1 if none could be trained. */
mcr_status mcr_search_run(mcr_tried *out, const mcr_options *options, const mcr_search *search,
                          const mcr_data *data);
void mcr_search_close(mcr_tried *tried);

bool mcr_tried_better(const mcr_tried *t, double a, double b);
double mcr_tried_mean(const mcr_tried *t, int64_t point);
/* Sets t->best among the points that were tested on all splits. */
void mcr_tried_choose(mcr_tried *t);
/* Marks the points, among these, that are certainly worse than another one. */
void mcr_tried_leave_out(mcr_tried *t, const int64_t *point, int64_t count);
/* Successive halving (Jamieson and Talwalkar, 2016): only the best third of the remaining points
 * continues, but always at least a few. */
mcr_status mcr_tried_keep_third(mcr_tried *t, const int64_t *point, int64_t count);
/* Drops the points, among these, that are behind the best by more than two standard errors on the
 * leading splits. */
mcr_status mcr_tried_drop_behind(mcr_tried *t, const int64_t *point, int64_t count, int64_t splits);
/* The best of the points tested on the most splits; -1: none. */
int64_t mcr_tried_leading(const mcr_tried *t);
/* Evaluates those of the points (in ascending order; NULL: 0, 1, ...) that are not known yet. */
mcr_status mcr_try_points(mcr_tried *t, const int64_t *point, int64_t count);
/* Adds the points of one more template to the grid. */
mcr_status mcr_tried_add(mcr_tried *t, const char *text, mcr_scale scale);

/* Relevance of the columns (relevance.c): whether data, splits and learner allow one value of the
 * kernel's parameter per column. */
bool mcr_relevance_possible(const mcr_tried *t);
double mcr_relevance_points(const mcr_tried *t); /* tried in one round */
/* Searches for such values, starting at the best point, if its kernel has such a parameter. plan:
 * that of the splits, if gradients may use a subset of many objects; else NULL. */
mcr_status mcr_relevance_search(mcr_tried *t, const mcr_search *search, const mcr_split_plan *plan);

/* use_few: replaces the objects and splits by a subset until mcr_tried_use_all; t->aside stays NULL
 * if there are too few objects for that, or the subset cannot be split like the whole. Scores refer
 * to the objects searched on. mcr_tried_forget: as if the point had never been tried. */
mcr_status mcr_tried_use_few(mcr_tried *t, const mcr_search *search, const mcr_split_plan *plan);
void mcr_tried_use_all(mcr_tried *t);
void mcr_tried_forget(mcr_tried *t, int64_t point);

/* Whether several trainings of a learner may run concurrently, rather than one after the other with
 * all threads each. */
bool mcr_run_parallel(mcr *ctx, const mcr_learner_type *type, int64_t n, int64_t items);

/* Mixes the data into a checksum. */
uint32_t mcr_search_mix(uint32_t sum, const mcr_data *data);

#endif
