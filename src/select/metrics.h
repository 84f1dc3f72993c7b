/* metrics.h (internal): definition of metrics. A metric is a function and a line of the table in
 * metrics.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_SELECT_METRICS_H
#define MCR_SELECT_METRICS_H

#include <mercer/select.h>

#include "model/model.h"

/* *out is NAN if undefined; MCR_BAD_CALL if an input that it needs is missing. which: of those that
 * the function can compute. */
typedef mcr_status mcr_metric_function(mcr *ctx, int which, const mcr_evaluated *what, double *out);
enum { MCR_PRECISION, MCR_RECALL, MCR_F1, MCR_BALANCED };
enum { MCR_ROC_AUC, MCR_AVERAGE_PRECISION };
enum { MCR_MSE, MCR_RMSE, MCR_MAE, MCR_R2 };

typedef struct mcr_metric {
    mcr_metric_info info;
    double least, most; /* bounds of all scores */
    bool of_one;        /* it scores single objects; the score is then the mean over all */
    bool detects; /* it also scores detection: how well scores separate outliers from inliers */
    mcr_metric_function *score_of;
    int which;
} mcr_metric;

/* NAN if undefined. */
mcr_status mcr_metric_score(const mcr_metric *metric, mcr *ctx, const mcr_evaluated *what,
                            double *out);
/* Whether all inputs it needs are available. */
bool mcr_metric_possible(const mcr_metric *metric, const mcr_evaluated *what);

const mcr_metric *mcr_metric_at(int64_t number); /* NULL: past the end */
/* Finds a metric by name and checks that it fits the task; else MCR_BAD_CALL. name NULL: the
 * default of the task. */
mcr_status mcr_metric_choose(const mcr_metric **out, mcr *ctx, const char *name, mcr_task task);

/* Objects of the data that `fitted` was trained or tested on, by the numbers of their classes; the
 * caller adds values, scores and probabilities. *target (to be freed) holds the targets. */
mcr_status mcr_evaluated_open(mcr_evaluated *out, double **target, mcr *ctx,
                              const mcr_fitted *fitted, const mcr_data *data, int64_t positive);
/* Adds them; scores only if there is one per class, or a single one. */
void mcr_evaluated_add(mcr_evaluated *what, const mcr_fitted *fitted, const double *value,
                       const double *score, const double *proba);
/* Copies the caller's struct and checks it: classes in range. */
mcr_status mcr_evaluated_read(mcr_evaluated *out, mcr *ctx, const mcr_evaluated *what);
/* The number of classes, including those that the model does not know. */
int64_t mcr_evaluated_classes(const mcr_evaluated *what);

mcr_metric_function mcr_metric_accuracy, mcr_metric_by_class, mcr_metric_mcc, mcr_metric_by_rank,
    mcr_metric_log_loss, mcr_metric_brier;
mcr_metric_function mcr_metric_errors, mcr_metric_max_error, mcr_metric_coverage, mcr_metric_rand;

#endif
