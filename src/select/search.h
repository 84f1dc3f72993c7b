/* search.h (internal): trying the points of a grid.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_SELECT_SEARCH_H
#define MCR_SELECT_SEARCH_H

#include "select/checkpoint.h"
#include "select/grid.h"
#include "select/select.h"

/* Of the budget: for K of all objects that all splits share (mcr_tried.kept). */
#define MCR_SHARED_PART 0.4

typedef struct mcr_tried {
    mcr *ctx;
    const mcr_data *data, *all; /* what is searched on, and what the caller has */
    mcr_data *some;             /* data, if these are not all; else NULL */
    mcr_grid *grid;
    mcr_splits *splits;
    mcr_splits *aside; /* those of all objects, while some are searched on; else NULL */
    mcr_task task;
    const mcr_metric *metric;
    int64_t count;        /* splits */
    double *score;        /* points x splits; NAN: not tested, or not defined; infinite: failed */
    int32_t *tested;      /* splits of each point */
    unsigned char *state; /* of mcr_point_state + 1; 0: not asked for */
    bool whole;           /* points are tested on all splits, even if they cannot win */
    bool quick;           /* trainings have a limit of steps */
    bool races;           /* only the better third of a batch goes on after a split */
    int64_t best;         /* point; -1: none */
    int64_t from;         /* the best before it got weights */
    int64_t fits, unfinished;
    bool failed; /* a training did, and has left its message */
    char message[256];
    /* while it runs */
    mcr_options **setting; /* made as they are needed */
    mcr_checkpoint *checkpoint;
    int64_t batch;
    double began, expected; /* fits in all, roughly */
    double seen;            /* when the best so far was looked for last, and what it was */
    double so_far;
    mcr_stop stopped; /* why not all points were tried */
    bool covers;
    int workers;           /* that may be at work at once */
    bool keeps;            /* paths keep kernel values in spaces */
    size_t space_bytes;    /* for which that has been taken from the budget */
    mcr_path_space *space; /* two per worker: for its paths, and for K of all objects */
    mcr_path_space *kept;  /* of each kernel: K of all objects; stored is NULL: not worth it */
    size_t kept_bytes;
} mcr_tried;

/* Tries the points; *best is -1 if none could be trained. */
mcr_status mcr_search_run(mcr_tried *out, const mcr_options *options, const mcr_search *search,
                          const mcr_data *data);
void mcr_search_close(mcr_tried *tried);

bool mcr_tried_better(const mcr_tried *t, double a, double b);
double mcr_tried_mean(const mcr_tried *t, int64_t point);
/* Sets t->best among the points that were tested on all splits. */
void mcr_tried_choose(mcr_tried *t);
/* Marks those of some points that are worse than another one for sure. */
void mcr_tried_leave_out(mcr_tried *t, const int64_t *point, int64_t count);
/* Successive halving (Jamieson and Talwalkar, 2016): of the points that are left, only the better
 * third goes on, but some always do. */
mcr_status mcr_tried_keep_third(mcr_tried *t, const int64_t *point, int64_t count);
/* The best of the points that are tested on most splits; -1: none is. */
int64_t mcr_tried_leading(const mcr_tried *t);
/* Tries the points, rising, that are not known yet. */
mcr_status mcr_try_points(mcr_tried *t, const int64_t *point, int64_t count);
/* Points that the grid has not: those of one more template. */
mcr_status mcr_tried_add(mcr_tried *t, const char *text, mcr_scale scale);

/* Relevance of the columns (relevance.c): whether data, splits and learner allow one value of the
 * kernel's parameter per column. */
bool mcr_relevance_possible(const mcr_tried *t);
double mcr_relevance_points(const mcr_tried *t); /* tried in one round */
/* Searches for such values, starting at the best point, if its kernel has such a parameter. plan:
 * of the splits, where slopes may come from some of many objects; else NULL. */
mcr_status mcr_relevance_search(mcr_tried *t, const mcr_search *search, const mcr_split_plan *plan);

/* Some of many objects, and their splits, in place of all, until mcr_tried_use_all; t->aside is
 * NULL after it where there are too few for that, or they cannot be split like all of them. Scores
 * are those of the objects that are searched on. mcr_tried_forget: as if the point had not been
 * asked for. */
mcr_status mcr_tried_use_few(mcr_tried *t, const mcr_search *search, const mcr_split_plan *plan);
void mcr_tried_use_all(mcr_tried *t);
void mcr_tried_forget(mcr_tried *t, int64_t point);

/* Whether several trainings of a learner may run at once, rather than one after the other with all
 * threads inside. */
bool mcr_run_parallel(mcr *ctx, const mcr_learner_type *type, int64_t n, int64_t items);

/* A checksum that is of the data, too. */
uint32_t mcr_search_mix(uint32_t sum, const mcr_data *data);

#endif
