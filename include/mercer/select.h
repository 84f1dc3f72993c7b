/* select.h: model selection: metrics, cross-validation and the search for the best parameters.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MERCER_SELECT_H
#define MERCER_SELECT_H

#include <mercer/model.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- metrics: how predictions are scored ------------------------------------------------------*/

typedef struct mcr_metric_info {
    size_t size; /* sizeof(mcr_metric_info) */
    const char *name, *summary;
    mcr_task task;    /* what it scores: classes, numbers, clusters */
    int larger;       /* 1: larger is better */
    int proba, score; /* 1: it needs probabilities; decision values or probabilities */
    int positive;     /* 1: it is about the positive class, if there is one */
    int intervals;    /* 1: it needs intervals */
} mcr_metric_info;
MCR_API int64_t mcr_metric_count(void);
MCR_API mcr_status mcr_metric_describe(int64_t number, mcr_metric_info *info);

/* Predictions and true targets. The arrays are the caller's; only some metrics need those that may
 * be NULL. */
typedef struct mcr_evaluated {
    size_t size; /* sizeof(mcr_evaluated) */
    mcr_task task;
    int64_t n;
    int64_t classes; /* classification: the number of classes that can be predicted */
    /* Decision values per object: 1 (two classes, positive for the second), or one per class;
     * clustering: the number of clusters. */
    int64_t outputs;
    /* The positive class for precision, recall, F1, curves and brier; -1: none, and these are means
     * over the classes (brier: the sum). */
    int64_t positive;
    /* n: class number, plain number, or -1 (anomaly) and +1 for detection. A class number of
     * `classes` or more is a class that cannot be predicted. */
    const double *target;
    const double *value;  /* n: predictions, in the same form */
    const double *score;  /* n x outputs, or NULL */
    const double *proba;  /* n x classes, or NULL; without scores, objects are ranked by them */
    const double *weight; /* n, or NULL: 1 each */
    const double *lower, *upper; /* n: ends of intervals, or NULL */
} mcr_evaluated;
/* Computes a metric by name (mcr_metric_describe; NULL: the first of the task). *out is NAN if it
 * is not defined; MCR_BAD_CALL if the name is unknown, or if an array that it needs is NULL. */
MCR_API mcr_status mcr_evaluate(mcr *ctx, const char *metric, const mcr_evaluated *what,
                                double *out);
/* The confusion matrix: total weight of the objects by true class (rows) and predicted class. It is
 * k x k, where k is `classes`, or the largest target + 1 if that is more. MCR_BAD_CALL for other
 * tasks than classification. */
MCR_API mcr_status mcr_confusion(mcr *ctx, const mcr_evaluated *what, double *matrix);
/* The same for each of these k classes; support: weight of its objects. */
typedef struct mcr_class_score {
    double precision, recall, f1, support;
} mcr_class_score;
MCR_API mcr_status mcr_class_scores(mcr *ctx, const mcr_evaluated *what, mcr_class_score *each);

/* ---- splits into training and test objects ----------------------------------------------------*/

typedef enum mcr_split_kind {
    MCR_SPLIT_FOLDS = 0,     /* random folds, stratified by class; each object is tested once */
    MCR_SPLIT_ORDERED,       /* the objects are in order of time: train on earlier ones only */
    MCR_SPLIT_LEAVE_ONE_OUT, /* each object alone */
} mcr_split_kind;

/* Zero in a field (all but size) means the default. */
typedef struct mcr_split_plan {
    size_t size; /* sizeof(mcr_split_plan) */
    mcr_split_kind kind;
    int64_t folds;   /* default 5; ordered: the number of tests */
    int64_t repeats; /* default 1; each repeat has new folds */
    int plain;       /* 1: not stratified by class */
    /* One number per object: objects with equal numbers are in the same fold; NULL: none. */
    const int64_t *group;
} mcr_split_plan;

typedef struct mcr_splits mcr_splits; /* may be shared between threads */
/* Determined by the context's seed. plan may be NULL. */
MCR_API mcr_status mcr_splits_open(mcr_splits **out, mcr *ctx, const mcr_data *data,
                                   const mcr_split_plan *plan);
MCR_API void mcr_splits_close(mcr_splits *splits); /* NULL allowed */
MCR_API int64_t mcr_splits_count(const mcr_splits *splits);
/* The numbers of the objects, ascending, that a split trains on (test 0) or tests (test 1); rows
 * may be NULL. Returns how many there are. */
MCR_API int64_t mcr_splits_rows(const mcr_splits *splits, int64_t split, int test, int64_t *rows);

/* ---- tuning -----------------------------------------------------------------------------------*/

/* Zero in a field (all but size) means the default. */
typedef struct mcr_search {
    size_t size; /* sizeof(mcr_search) */
    /* Kernel expressions to choose from. A number in one may be a range: gamma=1e-4:1e2:log13 (13
     * values with equal ratios), c=0:1:5 (5 values with equal distances), degree=2:4 (2, 3, 4). If
     * there are none: rbf and laplace with ranges of gamma for vectors (only rbf for sparse ones),
     * spectrum and gkm for strings, wl for graphs. "rbf" alone has the same range of gamma for
     * data of one field of vectors. */
    const char *const *kernel;
    int64_t kernels;
    /* Options of the learner with ranges. If there are none, C, lambda, nu or neighbors gets a
     * range, if the learner has such an option and it is not set. */
    const char *const *option;
    const char *const *range;
    int64_t ranges;
    /* 1: vectors are tried with scaling to standard deviation 1 and with scaling to 0 .. 1, for
     * each kernel; the option `scale` is then ignored. */
    int scales;
    const char *metric;          /* NULL: accuracy, mse or adjusted_rand */
    const mcr_split_plan *split; /* NULL: the defaults */
    /* 1: does not try every point of the grid, but refines from coarse to fine around the best
     * point of each kernel, as long as it is not far behind the overall best. Without kernels and
     * ranges, a search in folds of 2,400 objects or more starts on a sample; the best points are
     * then tested and refined on all objects, and with 500 objects or more, points that are clearly
     * behind on the first folds are dropped. The report contains the points that were tested on
     * all. */
    int adaptive;
    /* 1: relevance of the columns: starting at the best point, searches for one value of the
     * kernel's parameter per column (rbf(gamma=[...])). This needs a kernel whose parameter may be
     * a list and has a range (gamma of rbf and laplace, length of matern and rq), data of one dense
     * field with 2 to 64 columns and at least ten objects per column, and at least 3 splits. */
    int relevance;
    /* A file that records the finished trainings, so that an interrupted search can continue.
     * resume 1: continue from that file, which must exist and belong to the same search; 0: the
     * file must not exist. The caller removes the file once the model is saved. */
    const char *checkpoint;
    int resume;
    /* 1: a small search, for data of several columns and no kernels, ranges or options of the
     * caller: few values of gamma and C, on about a thousand objects drawn at random. After each of
     * the first splits, only the better third of the points continues. `adaptive` and `relevance`
     * are ignored. MCR_BAD_CALL if the learner has no such search (mcr_learner_info.can_choose). */
    int quick;
    /* 1: if the progress callback requests a stop, the model is trained with the best point so far,
     * and `stopped` of the report is set. The callback is then called again for that training. The
     * option time-limit of the learner has the same effect, for the search as a whole. */
    int best_so_far;
} mcr_search;

typedef enum mcr_point_state {
    MCR_POINT_DONE = 0,
    MCR_POINT_BEATEN, /* not tested on all splits, because it could not win or was clearly behind */
    MCR_POINT_FAILED  /* training failed */
} mcr_point_state;

/* "done", "beaten", "failed". */
MCR_API const char *mcr_point_state_name(mcr_point_state state);

typedef struct mcr_point {
    size_t size;                  /* set by the library */
    const char *kernel, *options; /* the expression; the options that were searched: "C=10" */
    double score, std;            /* mean and standard deviation over the splits that were tested */
    int64_t splits;
    mcr_point_state state;
} mcr_point;

typedef struct mcr_tune_report {
    size_t size; /* set by the library */
    const char *metric;
    int larger; /* 1: larger is better */
    int64_t points, best, possible;
    const mcr_point *const *point; /* in the order of the grid, then those with lists */
    int64_t fits;                  /* number of trainings */
    int64_t unfinished;            /* number of trainings that ended before they were optimal */
    double seconds;
    /* The parameters ("C, gamma") whose best value is the first or last of its range, so that a
     * wider range may be better; NULL: none. */
    const char *edge;
    int64_t objects; /* that the search used: a quick search may use a sample */
    /* Why not all points were tried: MCR_STOP_INTERRUPTED, MCR_STOP_TIME; else 0. */
    mcr_stop stopped;
} mcr_tune_report;
MCR_API void mcr_tune_free(mcr *ctx, mcr_tune_report *report); /* NULL allowed */

/* Tries the points of the search, each by cross-validation, and trains on all data with the best
 * (of equal points the first; a point with a value per column only if the improvement is
 * significant). The model keeps the table. If the progress callback requests a stop, the status is
 * MCR_STOPPED (unless best_so_far), and the checkpoint contains the completed work. */
MCR_API mcr_status mcr_tune(mcr_model **out, mcr_tune_report **report, const mcr_options *options,
                            const mcr_search *search, const mcr_data *data);

/* ---- cross-validation -------------------------------------------------------------------------*/

typedef struct mcr_cv_metric {
    size_t size; /* set by the library */
    const char *name;
    double mean, std;    /* over the splits; std divides by the number of splits - 1 */
    const double *split; /* one per split; NAN: not defined there */
} mcr_cv_metric;

typedef struct mcr_cv_report {
    size_t size; /* set by the library */
    int64_t n, splits, metrics;
    const mcr_cv_metric *const *metric;
    mcr_task task;
    /* n: the prediction for each object when it was first tested (class numbers are those of the
     * data); NAN: never tested. */
    const double *value;
    int64_t unfinished; /* number of trainings that ended before they were optimal */
    /* With a search: the best kernel and options for the training objects of each split; else
     * NULL. */
    const char *const *kernel;
    const char *const *options;
    double seconds;
    int64_t fits; /* number of trainings, including those of searches */
    /* The predictions for each object when it was first tested; NULL: not known, or not the same
     * outputs in all splits. */
    int64_t outputs;
    const double *score;       /* n x outputs; NAN: never tested */
    const double *proba;       /* n x classes of the data */
    const int64_t *split;      /* n: the split that tested it; -1: none */
    const char *const *output; /* names of the outputs (mcr_model_output_name) */
    int64_t positive;          /* the positive class (mcr_data_positive); -1: none */
} mcr_cv_report;
MCR_API void mcr_cv_free(mcr *ctx, mcr_cv_report *report); /* NULL allowed */

/* Trains and tests on each split. metrics: names, separated by commas; NULL: all that apply to the
 * models' predictions. Weights of the data count in training and in metrics. search: nested
 * cross-validation, which searches for the best parameters on the training objects of each split,
 * with the inner splits search->split; NULL: no search, kernel and options are fixed. */
MCR_API mcr_status mcr_cv(mcr_cv_report **out, const mcr_options *options, const mcr_kernel *kernel,
                          const mcr_data *data, const mcr_splits *splits, const char *metrics,
                          const mcr_search *search);

/* The same with a threshold (below) that is learnt on the training objects of each split. rule
 * NULL: none. */
MCR_API mcr_status mcr_cv_threshold(mcr_cv_report **out, const mcr_options *options,
                                    const mcr_kernel *kernel, const mcr_data *data,
                                    const mcr_splits *splits, const char *metrics,
                                    const mcr_search *search, const char *rule);

/* ---- thresholds -------------------------------------------------------------------------------*/

/* Rules for the threshold of a model of two classes (mcr_model_threshold):
 *   "0.3"              a probability, if the model has them, else a decision value
 *   "cost:FN=10,FP=1"  the least cost of missed positives and false alarms
 *   "fpr:0.01"         most positives, with at most this share of the negatives as false alarms
 * Learns it from out-of-fold scores: 5 folds of the data that the model was trained on, with the
 * same options. */
MCR_API mcr_status mcr_threshold_learn(mcr_model *model, const mcr_options *options,
                                       const mcr_data *data, const char *rule);
/* From objects that the model was not trained on. held NULL: a number needs none, and cost needs
 * none if the model has probabilities; else MCR_BAD_CALL. */
MCR_API mcr_status mcr_threshold_choose(mcr *ctx, mcr_model *model, const mcr_data *held,
                                        const char *rule);
/* 1: the rule needs scores. */
MCR_API int mcr_threshold_learns(const char *rule);

/* ---- what predictions depend on ---------------------------------------------------------------*/

/* A column of numbers, or a whole field (text, category, date, graph). */
typedef struct mcr_importance {
    size_t size; /* set by the library */
    const char *name;
    double mean, std;    /* over the repeats or samples */
    double lower, upper; /* 95 % interval of the mean over the repeats or samples */
    double sensitivity;  /* mean |df/dx| times the standard deviation of x; NAN: not a number */
} mcr_importance;
typedef struct mcr_importance_report {
    size_t size;        /* set by the library */
    const char *metric; /* NULL: Shapley values */
    double base;        /* the metric as it is; Shapley values: the mean of f over other objects */
    double value;       /* Shapley values: f of the object */
    int64_t n, repeats, count;
    const mcr_importance *const *item; /* in the order of the data */
} mcr_importance_report;
MCR_API void mcr_importance_free(mcr *ctx, mcr_importance_report *report); /* NULL allowed */

/* How much worse a metric becomes when the values of one column or field are shuffled among the
 * objects. Works for every kernel; data must have targets. If there are more than 2,000 objects,
 * 2,000 of them are used, spread evenly. metric NULL: accuracy or r2; repeats below 1: 10.
 * Determined by the context's seed. MCR_STOPPED when cancelled. */
MCR_API mcr_status mcr_model_importance(mcr_importance_report **out, mcr *ctx,
                                        const mcr_model *model, const mcr_data *data,
                                        const char *metric, int64_t repeats);
/* What each column or field adds to output `output` of one object (from 0), compared with objects
 * drawn from data: Shapley values by sampling. They sum to value - base. samples below 1:
 * 200. Determined by the context's seed. MCR_STOPPED when cancelled. */
MCR_API mcr_status mcr_model_shapley(mcr_importance_report **out, mcr *ctx, const mcr_model *model,
                                     const mcr_data *data, int64_t object, int64_t output,
                                     int64_t samples);
/* The support vectors that are nearest to one object of data (from 0) in the space of the kernel,
 * nearest first: their places among the support vectors, and the distances
 * sqrt(K(x, x) + K(z, z) - 2 K(x, z)); at most count, *found of them. MCR_BAD_CALL if the model has
 * none. */
MCR_API mcr_status mcr_model_nearest(mcr *ctx, const mcr_model *model, const mcr_data *data,
                                     int64_t object, int64_t count, int64_t *support,
                                     double *distance, int64_t *found);

#ifdef __cplusplus
}
#endif
#endif
