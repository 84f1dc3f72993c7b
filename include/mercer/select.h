/* select.h: how good a learner is on objects it has not seen, and which parameters are best.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MERCER_SELECT_H
#define MERCER_SELECT_H

#include <mercer/model.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- metrics: how predictions are scored --------------------------------------------------------*/

typedef struct mcr_metric_info {
    size_t size; /* sizeof(mcr_metric_info) */
    const char *name, *summary;
    mcr_task task;    /* what it scores: classes, numbers, clusters */
    int larger;       /* 1: larger is better */
    int proba, score; /* 1: it needs probabilities; decision values, or probabilities */
    int positive;     /* 1: it speaks of the positive class, where there is one */
    int intervals;    /* 1: it needs intervals */
} mcr_metric_info;
MCR_API int64_t mcr_metric_count(void);
MCR_API mcr_status mcr_metric_describe(int64_t number, mcr_metric_info *info);

/* Predictions beside what is true. Arrays of the caller; those that may be NULL are only needed by some. */
typedef struct mcr_evaluated {
    size_t size; /* sizeof(mcr_evaluated) */
    mcr_task task;
    int64_t n;
    int64_t classes; /* of classification: those that can be predicted */
    int64_t
        outputs; /* decision values per object: 1 (of two classes, positive for the second), or one per
                         class; of clusters: how many there are */
    int64_t
        positive; /* the class that precision, recall, F1, curves and brier speak of; -1: none, they are
                         means over the classes (brier: the sum) */
    /* n: number of the class, number, -1 (anomaly) or +1 of detection; a class of `classes` or more is one
     * that cannot be predicted */
    const double *target;
    const double *value; /* n: predictions, in the same form */
    const double *score; /* n x outputs, or NULL */
    const double
        *proba; /* n x classes, or NULL: where there is no score, objects are ranked by them */
    const double *weight;        /* n, or NULL: 1 each */
    const double *lower, *upper; /* n: ends of intervals, or NULL */
} mcr_evaluated;
/* One metric by its name (mcr_metric_describe; NULL: the first of the task). *out is NAN where it is not
 * defined; MCR_BAD_CALL where it is unknown, or needs what is not there. */
MCR_API mcr_status mcr_evaluate(mcr *ctx, const char *metric, const mcr_evaluated *what,
                                double *out);
/* Weight of the objects by true class (rows) and predicted class; k x k, where k is `classes`, or more if a
 * target is a class that cannot be predicted. */
MCR_API mcr_status mcr_confusion(mcr *ctx, const mcr_evaluated *what, double *matrix);
/* Of each of these classes; support: weight of its objects. */
typedef struct mcr_class_score {
    double precision, recall, f1, support;
} mcr_class_score;
MCR_API mcr_status mcr_class_scores(mcr *ctx, const mcr_evaluated *what, mcr_class_score *each);

/* ---- splits: which objects train and which test --------------------------------------------------*/

typedef enum mcr_split_kind {
    MCR_SPLIT_FOLDS = 0,     /* each object is tested once; by chance, classes kept in proportion */
    MCR_SPLIT_ORDERED,       /* the objects are in order of time: train on what came before */
    MCR_SPLIT_LEAVE_ONE_OUT, /* each object alone */
} mcr_split_kind;

/* Zero in a field (all but size) means the default. */
typedef struct mcr_split_plan {
    size_t size; /* sizeof(mcr_split_plan) */
    mcr_split_kind kind;
    int64_t folds;   /* default 5; ordered: that many tests */
    int64_t repeats; /* default 1: new folds each time */
    int plain;       /* 1: classes are not kept in proportion */
    const int64_t
        *group; /* one number per object: those with equal ones stay together; NULL: none */
} mcr_split_plan;

typedef struct mcr_splits mcr_splits; /* may be shared between threads */
/* By the context's seed. plan may be NULL. */
MCR_API mcr_status mcr_splits_open(mcr_splits **out, mcr *ctx, const mcr_data *data,
                                   const mcr_split_plan *plan);
MCR_API void mcr_splits_close(mcr_splits *splits); /* NULL allowed */
MCR_API int64_t mcr_splits_count(const mcr_splits *splits);
/* Numbers of the objects, rising, that a split trains on (test 0) or tests (test 1); rows may be NULL.
 * Returns how many there are. */
MCR_API int64_t mcr_splits_rows(const mcr_splits *splits, int64_t split, int test, int64_t *rows);

/* ---- what to try -------------------------------------------------------------------------------*/

/* Zero in a field (all but size) means the default. */
typedef struct mcr_search {
    size_t size; /* sizeof(mcr_search) */
    /* Kernel expressions to choose from. A number in one may be a range: gamma=1e-4:1e2:log13 (13 values
     * with equal ratios), c=0:1:5 (equal distances), degree=2:4 (by ones). None: rbf and laplace with
     * ranges of gamma for vectors (rbf alone where they are sparse), spectrum and gkm for strings, wl for
     * graphs. */
    const char *const *kernel;
    int64_t kernels;
    /* Options of the learner with ranges. Where there are none, C, lambda, nu or neighbors (if the
     * learner has one, and the options do not say it) get a range. */
    const char *const *option;
    const char *const *range;
    int64_t ranges;
    /* 1: each kernel is tried with scaling to standard deviation 1 and with scaling to 0 .. 1, where there are
     * vectors; the option `scale` is then not looked at. */
    int scales;
    const char *metric;          /* NULL: accuracy, mse or adjusted-rand */
    const mcr_split_plan *split; /* NULL: the defaults */
    /* 1: not every point of the grid, but from coarse to fine around the best of each kernel that is not
     * far behind the best of all */
    int adaptive;
    /* 1: relevance of the columns: starting at the best point, searches for one value of the kernel's
     * parameter per column (rbf(gamma=[...])). This needs a kernel whose parameter may be a list and
     * has a range (gamma of rbf and laplace, length of matern and rq), data of one dense field with 2 to
     * 64 columns and at least ten objects per column, and at least 3 splits. */
    int relevance;
    /* A file that keeps what is done, so that a search that was cut off can go on (resume 1: from that
     * file, which must be there and of the same search; 0: there must be none). It is the caller's to
     * remove, once the model is safe. */
    const char *checkpoint;
    int resume;
} mcr_search;

typedef enum mcr_point_state {
    MCR_POINT_DONE = 0,
    MCR_POINT_BEATEN, /* not tested on all splits: it could not win any more */
    MCR_POINT_FAILED  /* training failed */
} mcr_point_state;

/* "done", "beaten", "failed". */
MCR_API const char *mcr_point_state_name(mcr_point_state state);

typedef struct mcr_point {
    size_t size;                  /* of what the library made */
    const char *kernel, *options; /* as in the search; the options that were searched: "C=10" */
    double score, std;            /* mean and standard deviation over the splits that were tested */
    int64_t splits;
    mcr_point_state state;
} mcr_point;

typedef struct mcr_tune_report {
    size_t size; /* of what the library made */
    const char *metric;
    int larger; /* is better */
    int64_t points, best, possible;
    const mcr_point *const *point; /* in the order of the grid, then those with lists */
    int64_t fits;                  /* trainings in all */
    int64_t unfinished;            /* of them ended before they were optimal */
    double seconds;
    /* The parameters ("C, gamma") whose value in the best point is the first or last of its range: a
     * wider one may have better; NULL: none. */
    const char *edge;
} mcr_tune_report;
MCR_API void mcr_tune_free(mcr *ctx, mcr_tune_report *report); /* NULL allowed */

/* Tries the points of the search, each by cross-validation, and trains on all data with the best (of
 * equal points the first; a point with a value per column only if it is better by more than chance).
 * The model keeps the table. When the progress callback asks to stop, the status is MCR_STOPPED, and
 * the checkpoint holds what was done. */
MCR_API mcr_status mcr_tune(mcr_model **out, mcr_tune_report **report, const mcr_options *options,
                            const mcr_search *search, const mcr_data *data);
/* ---- cross-validation --------------------------------------------------------------------------*/

typedef struct mcr_cv_metric {
    size_t size; /* of what the library made */
    const char *name;
    double mean, std;    /* over the splits: standard deviation with one degree of freedom less */
    const double *split; /* one a split; NAN: not defined there */
} mcr_cv_metric;

typedef struct mcr_cv_report {
    size_t size; /* of what the library made */
    int64_t n, splits, metrics;
    const mcr_cv_metric *const *metric;
    mcr_task task;
    const double
        *value; /* n: prediction when it was first tested; NAN: never. Class numbers of the data */
    int64_t unfinished; /* trainings that ended before they were optimal */
    /* With a search: what was found best on each split's training objects; else NULL. */
    const char *const *kernel;
    const char *const *options;
    double seconds;
    int64_t fits; /* trainings in all, with those of searches */
    /* Of each object when it was first tested; NULL: not known, or not the same in all splits. */
    int64_t outputs;
    const double *score;       /* n x outputs; NAN: never tested */
    const double *proba;       /* n x classes of the data */
    const int64_t *split;      /* n: in which split; -1: never */
    const char *const *output; /* what each of the outputs decides between */
    int64_t positive;          /* the class that metrics speak of (mcr_data_positive); -1: none */
} mcr_cv_report;
MCR_API void mcr_cv_free(mcr *ctx, mcr_cv_report *report); /* NULL allowed */

/* Trains and tests on each split. metrics: names, comma-separated; NULL: all that apply to what the models
 * give. Weights of the data count in training and in metrics. search: looks
 * for the best parameters on each split's training objects alone (nested cross-validation), by
 * search->split; NULL: none, kernel and options are as they are. */
MCR_API mcr_status mcr_cv(mcr_cv_report **out, const mcr_options *options, const mcr_kernel *kernel,
                          const mcr_data *data, const mcr_splits *splits, const char *metrics,
                          const mcr_search *search);

#ifdef __cplusplus
}
#endif
#endif
