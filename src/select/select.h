/* select.h (internal): shared code of cross-validation and tuning.
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
    bool lenient;     /* a metric whose inputs the model does not provide is NAN */
} mcr_trial_set;

/* Memory that the paths of one worker reuse. Initially zero. */
typedef struct mcr_path_space {
    mcr_gram_buffer matrix;
    mcr_gram *stored; /* K in this memory; NULL: none */
    mcr_fold_buffer fold;
    struct mcr_row_pool *pool; /* for solvers; NULL: not created yet */
} mcr_path_space;
void mcr_path_space_empty(mcr_path_space *space);
void mcr_path_space_free(mcr *ctx, mcr_path_space *space);

/* The largest size of the two spaces of a worker; 0: storing does not pay. The caller takes it from
 * the budget. */
mcr_status mcr_path_bytes(size_t *bytes, const mcr_options *options, const mcr_data *data,
                          int64_t fewest);

typedef struct mcr_path {
    const mcr_kernel *kernel;          /* NULL: the default */
    const mcr_options *const *options; /* ordered so that neighbours are good warm starts */
    int64_t count;
    int64_t split;
    mcr_path_space *space; /* NULL: kernel values are not stored */
    /* K of all objects, shared by all splits and readable from any thread; NULL: none. kept: in
     * double; stored: as by mcr_path_store. */
    mcr_gram *kept, *stored;
    /* Output: count x metrics; infinitely bad if training failed. */
    double *score;
    double *value; /* count x test objects, or NULL: predictions */
    /* For a path of one setting: */
    const char *threshold;   /* rule for a threshold, learnt on the training objects; NULL: none */
    bool keep;               /* also return scores, probabilities and the model */
    double *scores, *probas; /* output: n x outputs, n x classes, to be freed; NULL: none */
    mcr_model *model;        /* to be freed */
    bool strict;             /* stop at a setting that cannot be trained */
    int64_t failed, unfinished, timed; /* timed: unfinished because of a time limit */
    char message[256];                 /* of the first failure */
} mcr_path;

/* Whether all settings can train on folds of one K of all objects in float. */
bool mcr_path_takes_folds(const mcr_trial_set *set, const mcr_path *path);
/* Computes K of all objects for the paths of one kernel into space->stored, if that pays. */
mcr_status mcr_path_store(const mcr_trial_set *set, const mcr_path *path, mcr_path_space *space);
/* Trains and evaluates all settings of a path, each warm-started from the previous one if the
 * learner supports it. May run within a parallel loop. */
mcr_status mcr_path_run(const mcr_trial_set *set, mcr_path *path);

/* The set's metrics of predictions; score, proba: NULL, or decision values and probabilities. */
mcr_status mcr_trial_score(const mcr_trial_set *set, const mcr_fitted *fitted, const mcr_data *data,
                           const double *value, const double *score, const double *proba,
                           double *to);

/* Scores of the settings of a path on all splits (count x splits, for the set's first metric), if
 * the learner can compute them from one K of all objects; NAN: it cannot, and the setting must be
 * trained. */
mcr_status mcr_folds_run(const mcr_trial_set *set, const mcr_path *path, double *score);

/* Whether the options request features, so that stored values of K are useless. */
bool mcr_wants_features(const mcr_options *options);
/* Whether the learner optimises the kernel's parameters itself. */
bool mcr_finds_kernel(const mcr_options *options);

/* The fold of each object in a repeat; the training set is its complement. NULL: splits of another
 * kind (time order). */
const int32_t *mcr_splits_folds(const mcr_splits *splits, int64_t repeat, int64_t *folds);
int64_t mcr_splits_objects(const mcr_splits *splits); /* number of objects that were split */
/* Whether the splits are leave-one-out, in the order of the objects. */
bool mcr_splits_leave_one_out(const mcr_splits *splits);
/* How often each object is tested. */
int64_t mcr_splits_repeats(const mcr_splits *splits);

/* Mean and standard deviation, ignoring NAN. */
double mcr_mean(const double *v, int64_t count);
double mcr_standard_deviation(const double *v, int64_t count);

/* The task of a learner with its options on these data. */
mcr_status mcr_task_of(mcr_task *out, const mcr_options *options, const mcr_data *data);

/* The groups of a plan for a subset of the objects; NULL if it has none. */
mcr_status mcr_pick_groups(int64_t **out, mcr *ctx, const int64_t *groups, const int64_t *rows,
                           int64_t count);

#endif
