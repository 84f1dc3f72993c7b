/* select.h (internal): what cross-validation and tuning share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_SELECT_SELECT_H
#define MCR_SELECT_SELECT_H

#include <mercer/select.h>

#include "gram/stored.h"
#include "model/model.h"
#include "select/metrics.h"

/* ---- trials: one kernel, several settings of the options, one split ---------------------------*/

typedef struct mcr_trial_set {
    mcr *ctx;
    const mcr_data *data;
    const mcr_splits *splits;
    const mcr_metric *const *metric;
    int64_t metrics;
    int64_t positive; /* class; -1: none */
    bool lenient;     /* a metric that needs what a model does not give is NAN */
} mcr_trial_set;

/* Memory that the paths of one worker use in turn. Zero at first. */
typedef struct mcr_path_space {
    mcr_gram_buffer matrix;
    mcr_gram *stored; /* K in that; NULL: none */
    mcr_fold_buffer fold;
    struct mcr_row_pool *pool; /* for solvers; NULL: not yet */
} mcr_path_space;
void mcr_path_space_empty(mcr_path_space *space);
void mcr_path_space_free(mcr *ctx, mcr_path_space *space);

/* What the two spaces of a worker hold at most; 0: paths had better do without. It is the caller's
 * to take from the budget. */
mcr_status mcr_path_bytes(size_t *bytes, const mcr_options *options, const mcr_data *data,
                          int64_t fewest);

typedef struct mcr_path {
    const mcr_kernel *kernel;          /* NULL: the default */
    const mcr_options *const *options; /* in an order in which neighbours make good starts */
    int64_t count;
    int64_t split;
    mcr_path_space *space; /* NULL: no kernel values are kept */
    /* K of all objects as all splits see them, which any thread may read; NULL: none. kept: in
     * double; stored: as mcr_path_store has it. */
    mcr_gram *kept, *stored;
    /* Filled: count x metrics; infinite, and the worse way, where training failed. */
    double *score;
    double *value; /* count x test objects, or NULL: predictions */
    /* Of a path of one setting: */
    const char *threshold;   /* the rule of one, learnt on the training objects; NULL: none */
    bool keep;               /* scores, probabilities and the model are wanted, too */
    double *scores, *probas; /* filled: n x outputs, n x classes, to be freed; NULL: none */
    mcr_model *model;        /* to be freed */
    bool strict;             /* a setting that cannot be trained ends it */
    int64_t failed, unfinished;
    char message[256]; /* of the first that failed */
} mcr_path;

/* Whether all settings can learn on folds of one K in float of all objects. */
bool mcr_path_takes_folds(const mcr_trial_set *set, const mcr_path *path);
/* K of all objects for the paths of one kernel, into space->stored, where that is worth it. */
mcr_status mcr_path_store(const mcr_trial_set *set, const mcr_path *path, mcr_path_space *space);
/* Trains and evaluates all settings of a path, each from the one before where the learner can. May
 * run within a parallel loop. */
mcr_status mcr_path_run(const mcr_trial_set *set, mcr_path *path);

/* Scores of the settings of a path on all splits (count x splits, for the set's first metric) where
 * the learner can have them from one K of all objects; NAN: it cannot, and the setting must be
 * trained. */
mcr_status mcr_folds_run(const mcr_trial_set *set, const mcr_path *path, double *score);

/* Whether the options ask for features, so that values of K are of no use. */
bool mcr_wants_features(const mcr_options *options);
/* Whether the learner looks for the numbers in the kernel itself. */
bool mcr_finds_kernel(const mcr_options *options);

/* The fold of each object in a repeat: its complement is what is trained on. NULL: splits are not
 * of that kind (order of time). */
const int32_t *mcr_splits_folds(const mcr_splits *splits, int64_t repeat, int64_t *folds);
int64_t mcr_splits_objects(const mcr_splits *splits); /* that were dealt out */
/* Whether every object is a split of its own, in their order. */
bool mcr_splits_leave_one_out(const mcr_splits *splits);
/* How often each object is tested. */
int64_t mcr_splits_repeats(const mcr_splits *splits);

/* Mean and standard deviation of those that are numbers. */
double mcr_mean(const double *v, int64_t count);
double mcr_standard_deviation(const double *v, int64_t count);

/* The task of a learner with its options on these data. */
mcr_status mcr_task_of(mcr_task *out, const mcr_options *options, const mcr_data *data);

/* The groups of a plan for some of the objects; NULL if it has none. */
mcr_status mcr_pick_groups(int64_t **out, mcr *ctx, const int64_t *groups, const int64_t *rows,
                           int64_t count);

#endif
