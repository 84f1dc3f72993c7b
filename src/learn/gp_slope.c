/* gp_slope.c: how the likelihood changes with the scales of the kernel: sums of D_ij dK_ij.
 *
 * Kernels with derivatives give all scales in one pass over the upper half of K. For others dK is
 * the central difference of K at scales that differ by a few hundred-thousandths: in double that
 * gives nine correct digits, and costs twice the upper half of K per scale. Periods need a smaller
 * step, because K changes faster the more periods the data span.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>

#include "base/threads.h"
#include "gram/slope.h"
#include "kernel/gradient.h"
#include "kernel/scales.h"
#include "learn/gp.h"

/* Step of the logarithm of a scale, and of a period; rows of K at a time. */
static const double usual_step = 3e-5, period_step = 2e-7;
enum { ROWS = 192 };

mcr_status mcr_gp_kernel_at(mcr_kernel **out, const mcr_gp *gp, const double *x)
{
    *out = NULL;
    double *scale = mcr_alloc(gp->ctx, (size_t)gp->scales, sizeof *scale);
    if (!scale)
        return MCR_NO_MEMORY;
    for (int64_t j = 0; j < gp->scales; j++)
        scale[j] = exp(x[j]);
    mcr_status s = mcr_kernel_rescaled(out, gp->given, scale);
    mcr_free(gp->ctx, scale);
    return s;
}

/* ---- derivatives ------------------------------------------------------------------------------*/

static void row_of(const void *arg, int64_t i, double *d)
{
    const mcr_gp *gp = arg;
    gp->type->row(gp, i, d);
}

static mcr_status by_derivatives(mcr_gp *gp, double *g)
{
    mcr_gram *gram = NULL;
    mcr_status s = mcr_gram_open(&gram, gp->ctx, gp->kernel, gp->data, NULL);
    if (!s)
        s = mcr_gram_slope(gram, row_of, gp, g);
    mcr_gram_close(gram);
    return s;
}

/* ---- differences ------------------------------------------------------------------------------*/

typedef struct contract_job {
    const mcr_gp *gp;
    int64_t first;
    const double *plus, *minus; /* ROWS x (n - first) */
    double *buffer;             /* n for each worker */
    double sum[ROWS];
} contract_job;

static mcr_status contract_row(void *arg, int64_t item, int worker)
{
    contract_job *job = arg;
    int64_t n = job->gp->n, cols = n - job->first, i = job->first + item;
    const double *plus = job->plus + item * cols + item, *minus = job->minus + item * cols + item;
    double *d = job->buffer + worker * n, sum = 0;
    job->gp->type->row(job->gp, i, d);
    for (int64_t j = 0; j < n - i; j++)
        sum += d[j] * (plus[j] - minus[j]);
    job->sum[item] = sum;
    return MCR_OK;
}

static mcr_status contract(contract_job *job, mcr_gram *const gram[2], double *block[2],
                           double *sum)
{
    const mcr_gp *gp = job->gp;
    mcr_status s = MCR_OK;
    for (job->first = 0; job->first < gp->n && !s; job->first += ROWS) {
        int64_t cols = gp->n - job->first, rows = cols < ROWS ? cols : ROWS;
        for (int t = 0; t < 2 && !s; t++)
            s = mcr_gram_block(gram[t], (mcr_rows){NULL, job->first, rows},
                               (mcr_rows){NULL, job->first, cols}, block[t], cols);
        if (!s)
            s = mcr_parallel(gp->ctx, rows, contract_row, job);
        for (int64_t i = 0; i < rows && !s; i++)
            *sum += job->sum[i];
    }
    return s;
}

/* Adds the sum of D_ij dK_ij / d(log of scale j). */
static mcr_status scale_slope(mcr_gp *gp, int64_t j, double step, double *x, double *slope)
{
    mcr *ctx = gp->ctx;
    mcr_kernel *kernel[2] = {NULL, NULL};
    mcr_gram *gram[2] = {NULL, NULL};
    double *block[2] = {NULL, NULL}, before = x[j], sum = 0;
    contract_job job = {.gp = gp};
    mcr_status s = MCR_OK;
    for (int t = 0; t < 2 && !s; t++) {
        x[j] = before + (t ? -step : step);
        s = mcr_gp_kernel_at(&kernel[t], gp, x);
        if (!s)
            s = mcr_gram_open(&gram[t], ctx, kernel[t], gp->data, NULL);
        if (!s && !(block[t] = mcr_alloc(ctx, ROWS, (size_t)gp->n * sizeof(double))))
            s = MCR_NO_MEMORY;
    }
    x[j] = before;
    job.plus = block[0];
    job.minus = block[1];
    job.buffer = mcr_alloc(ctx, (size_t)mcr_workers(ctx), (size_t)gp->n * sizeof(double));
    if (!s && !job.buffer)
        s = MCR_NO_MEMORY;
    if (!s)
        s = contract(&job, gram, block, &sum);
    *slope += sum / (2 * step);
    for (int t = 0; t < 2; t++) {
        mcr_gram_close(gram[t]);
        mcr_kernel_free(kernel[t]);
        mcr_free(ctx, block[t]);
    }
    mcr_free(ctx, job.buffer);
    return s;
}

static mcr_status by_differences(mcr_gp *gp, double *g)
{
    double *x = mcr_alloc(gp->ctx, (size_t)gp->scales, sizeof *x);
    const mcr_param **of = mcr_alloc(gp->ctx, (size_t)gp->scales, sizeof *of);
    mcr_status s = x && of ? MCR_OK : MCR_NO_MEMORY;
    if (!s) {
        mcr_kernel_scales(gp->kernel, x);
        mcr_kernel_scale_params(gp->kernel, of);
    }
    for (int64_t j = 0; j < gp->scales && !s; j++)
        x[j] = log(x[j]);
    for (int64_t j = 0; j < gp->scales && !s; j++)
        s = scale_slope(gp, j, of[j]->flags & MCR_PERIOD ? period_step : usual_step, x, &g[j]);
    mcr_free_all(gp->ctx, x, of);
    return s;
}

mcr_status mcr_gp_slope(mcr_gp *gp, double *g)
{
    return mcr_kernel_has_gradient(gp->kernel) ? by_derivatives(gp, g) : by_differences(gp, g);
}
