/* metrics_numbers.c: metrics of numbers, of their intervals, and of clusters.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>

#include "select/metrics.h"

/* r2 is NAN if the targets are constant. */
mcr_status mcr_metric_errors(mcr *ctx, int which, const mcr_evaluated *w, double *out)
{
    (void)ctx;
    mcr_metrics m = {.size = sizeof m, .n = w->n};
    mcr_numbers_score(w->target, w->value, 1, w->weight, &m);
    const double all[] = {
        [MCR_MSE] = m.mse, [MCR_RMSE] = sqrt(m.mse), [MCR_MAE] = m.mae, [MCR_R2] = m.r2};
    *out = all[which];
    return MCR_OK;
}

mcr_status mcr_metric_max_error(mcr *ctx, int which, const mcr_evaluated *w, double *out)
{
    (void)ctx;
    (void)which;
    *out = 0;
    for (int64_t i = 0; i < w->n; i++)
        *out = fmax(*out, fabs(w->target[i] - w->value[i]));
    return MCR_OK;
}

/* The fraction of targets inside their intervals. */
mcr_status mcr_metric_coverage(mcr *ctx, int which, const mcr_evaluated *w, double *out)
{
    (void)which;
    double sum = 0, all = 0;
    *out = NAN;
    if (!w->lower || !w->upper)
        return mcr_fail(ctx, MCR_BAD_CALL, "coverage needs intervals, and there are none");
    for (int64_t i = 0; i < w->n; i++) {
        double weight = w->weight ? w->weight[i] : 1;
        sum += weight * (w->target[i] >= w->lower[i] && w->target[i] <= w->upper[i]);
        all += weight;
    }
    *out = sum / all;
    return MCR_OK;
}

mcr_status mcr_metric_rand(mcr *ctx, int which, const mcr_evaluated *w, double *out)
{
    (void)which;
    mcr_metrics m = {.size = sizeof m, .n = w->n, .rand = NAN};
    mcr_status s = mcr_clusters_score(ctx,
                                      &(mcr_partition){.clusters = w->outputs,
                                                       .classes = mcr_evaluated_classes(w),
                                                       .cluster = w->value,
                                                       .class_number = w->target},
                                      &m);
    *out = m.rand;
    return s;
}
