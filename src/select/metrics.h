/* metrics.h (internal): what metrics are made of. A metric is a function and a line of the table in
 * metrics.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_SELECT_METRICS_H
#define MCR_SELECT_METRICS_H

#include <mercer/select.h>

#include "model/model.h"

/* *out is NAN where it is not defined; MCR_BAD_CALL where something is missing that it needs. */
typedef mcr_status mcr_metric_function(mcr *ctx, const mcr_evaluated *what, double *out);

typedef struct mcr_metric {
    struct {
        const char *name, *summary;
        mcr_task task;
        int larger, proba, score;
    } info;             /* see mcr_metric_info */
    double least, most; /* no score is beyond these */
    bool of_one; /* it can score one object alone: its mean over all is then what it says of all */
    bool intervals; /* it needs intervals */
    bool detects;   /* it scores detection, too: how well the score tells outside from inside */
    bool positive;  /* it speaks of the positive class, where there is one */
    mcr_metric_function *score_of;
} mcr_metric;

/* NAN where it is not defined. */
mcr_status mcr_metric_score(const mcr_metric *metric, mcr *ctx, const mcr_evaluated *what,
                            double *out);
/* Whether all is there that it needs. */
bool mcr_metric_possible(const mcr_metric *metric, const mcr_evaluated *what);

const mcr_metric *mcr_metric_at(int64_t number); /* NULL: past the end */
/* By name, and that it scores the task; else MCR_BAD_CALL. name NULL: the first of the task. */
mcr_status mcr_metric_choose(const mcr_metric **out, mcr *ctx, const char *name, mcr_task task);

/* Objects of the data that `fitted` was trained or tested with, by the numbers of their classes;
 * values, scores and probabilities are the caller's to add. *target (to be freed) is what the
 * targets point to. */
mcr_status mcr_evaluated_open(mcr_evaluated *out, double **target, mcr *ctx,
                              const mcr_fitted *fitted, const mcr_data *data, int64_t positive);
/* Adds them: scores only where there is one for each class, or one in all. */
void mcr_evaluated_add(mcr_evaluated *what, const mcr_fitted *fitted, const double *value,
                       const double *score, const double *proba);
/* The caller's, checked: classes in range. */
mcr_status mcr_evaluated_read(mcr_evaluated *out, mcr *ctx, const mcr_evaluated *what);
/* How many classes there are with those that the model does not know. */
int64_t mcr_evaluated_classes(const mcr_evaluated *what);

mcr_metric_function mcr_metric_accuracy, mcr_metric_balanced, mcr_metric_precision,
    mcr_metric_recall, mcr_metric_f1, mcr_metric_mcc, mcr_metric_roc_auc,
    mcr_metric_average_precision, mcr_metric_log_loss, mcr_metric_brier;
mcr_metric_function mcr_metric_mse, mcr_metric_rmse, mcr_metric_mae, mcr_metric_r2,
    mcr_metric_max_error, mcr_metric_coverage, mcr_metric_rand;

#endif
