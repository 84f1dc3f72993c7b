/* metrics_numbers.c: metrics of numbers, of their intervals, and of clusters.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>

#include "select/metrics.h"

static mcr_metrics errors_of(const mcr_evaluated *w)
{
    mcr_metrics m = {.size = sizeof m, .n = w->n};
    mcr_numbers_score(w->target, w->value, 1, w->weight, &m);
    return m;
}

mcr_status mcr_metric_mse(mcr *ctx, const mcr_evaluated *w, double *out)
{
    (void)ctx;
    *out = errors_of(w).mse;
    return MCR_OK;
}

mcr_status mcr_metric_rmse(mcr *ctx, const mcr_evaluated *w, double *out)
{
    (void)ctx;
    *out = sqrt(errors_of(w).mse);
    return MCR_OK;
}

mcr_status mcr_metric_mae(mcr *ctx, const mcr_evaluated *w, double *out)
{
    (void)ctx;
    *out = errors_of(w).mae;
    return MCR_OK;
}

/* NAN: the targets are constant. */
mcr_status mcr_metric_r2(mcr *ctx, const mcr_evaluated *w, double *out)
{
    (void)ctx;
    *out = errors_of(w).r2;
    return MCR_OK;
}

mcr_status mcr_metric_max_error(mcr *ctx, const mcr_evaluated *w, double *out)
{
    (void)ctx;
    *out = 0;
    for (int64_t i = 0; i < w->n; i++)
        *out = fmax(*out, fabs(w->target[i] - w->value[i]));
    return MCR_OK;
}

/* The fraction of targets inside their intervals. */
mcr_status mcr_metric_coverage(mcr *ctx, const mcr_evaluated *w, double *out)
{
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

mcr_status mcr_metric_rand(mcr *ctx, const mcr_evaluated *w, double *out)
{
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
