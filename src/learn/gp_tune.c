/* gp_tune.c: the scales of a kernel that make the data most likely.
 *
 * Maximises the log marginal likelihood over the logarithms of the scales and of the noise (Rasmussen
 * and Williams, Gaussian Processes for Machine Learning, 2006, ch. 5), from the given values and from
 * random ones. Its slope against a scale is the sum of D_ij dK_ij for a matrix D that the method
 * knows; that works for every kernel because dK is computed from the kernel itself, as the central
 * difference of K at scales that differ by a few hundred-thousandths: with doubles that has nine right
 * digits. With a period K changes the faster the more periods the data span: a smaller step. A scale costs two times the upper half of K, little beside the factorisation.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <string.h>

#include "base/random.h"
#include "base/threads.h"
#include "kernel/scales.h"
#include "learn/gp.h"
#include "solve/descent.h"

/* Step of the logarithm of a scale, and of a period; rows of K at a time; how far a scale may go from where it was, and
 * from where restarts begin, as factors. */
static const double usual_step = 3e-5, period_step = 2e-7, widest = 1e8, start_within = 20;
enum { ROWS = 192 };

/* The noise, as a share of the mean of K(x,x). */
static const double least_noise = 1e-8, most_noise = 1e3;

/* ---- K at some scales --------------------------------------------------------------------------*/

static int64_t variables(const mcr_gp *gp)
{
    return gp->scales + !isnan(gp->extra);
}

static mcr_status kernel_at(mcr_kernel **out, const mcr_gp *gp, const double *x)
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

static mcr_status fill_matrix(mcr_gp *gp)
{
    mcr_gram *gram = NULL;
    mcr_status s = mcr_gram_open(&gram, gp->ctx, gp->kernel, gp->data, NULL);
    if (!s)
        s = mcr_gram_matrix_quietly(gram, gp->k.a, gp->k.ld, true);
    mcr_gram_close(gram);
    return s;
}

/* Where a kernel has no values for the scales (too large for numbers), nothing is likely. */
static mcr_status value_at(void *arg, const double *x, double *f)
{
    mcr_gp *gp = arg;
    *f = INFINITY;
    memcpy(gp->at, x, sizeof *x * (size_t)variables(gp));
    mcr_kernel_free(gp->kernel);
    mcr_status s = kernel_at(&gp->kernel, gp, x);
    if (!isnan(gp->extra))
        gp->extra = exp(x[gp->scales]);
    if (!s)
        s = fill_matrix(gp);
    if (!s)
        s = gp->value(gp, f);
    if (s == MCR_NUMERIC)
        *f = INFINITY;
    return s == MCR_NUMERIC ? MCR_OK : s;
}

/* ---- the slope ---------------------------------------------------------------------------------*/

typedef struct contract_job {
    const mcr_gp *gp;
    int64_t first;
    const double *plus, *minus; /* ROWS x (n - first) */
    double *room;               /* n for each worker */
    double sum[ROWS];
} contract_job;

static mcr_status contract_row(void *arg, int64_t item, int worker)
{
    contract_job *job = arg;
    int64_t n = job->gp->n, cols = n - job->first, i = job->first + item;
    const double *plus = job->plus + item * cols + item, *minus = job->minus + item * cols + item;
    double *d = job->room + worker * n, sum = 0;
    job->gp->row(job->gp, i, d);
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
        s = kernel_at(&kernel[t], gp, x);
        if (!s)
            s = mcr_gram_open(&gram[t], ctx, kernel[t], gp->data, NULL);
        if (!s && !(block[t] = mcr_alloc(ctx, ROWS, (size_t)gp->n * sizeof(double))))
            s = MCR_NO_MEMORY;
    }
    x[j] = before;
    job.plus = block[0];
    job.minus = block[1];
    job.room = mcr_alloc(ctx, (size_t)mcr_workers(ctx), (size_t)gp->n * sizeof(double));
    if (!s && !job.room)
        s = MCR_NO_MEMORY;
    if (!s)
        s = contract(&job, gram, block, &sum);
    *slope += sum / (2 * step);
    for (int t = 0; t < 2; t++) {
        mcr_gram_close(gram[t]);
        mcr_kernel_free(kernel[t]);
        mcr_free(ctx, block[t]);
    }
    mcr_free(ctx, job.room);
    return s;
}

static mcr_status slope_at(void *arg, double *g)
{
    mcr_gp *gp = arg;
    double *x = mcr_alloc(gp->ctx, (size_t)gp->scales, sizeof *x), own = 0;
    const char **name = mcr_alloc(gp->ctx, (size_t)gp->scales, sizeof *name);
    mcr_status s = x && name ? MCR_OK : MCR_NO_MEMORY;
    if (!s) {
        mcr_kernel_scales(gp->kernel, x);
        mcr_kernel_scale_names(gp->kernel, name);
    }
    for (int64_t j = 0; j < gp->scales && !s; j++)
        x[j] = log(x[j]);
    memset(g, 0, sizeof *g * (size_t)variables(gp));
    for (int64_t part = 0; part < gp->parts && !s; part++) {
        if (part > 0)
            s = fill_matrix(gp);
        if (!s)
            s = gp->prepare(gp, part, &own);
        for (int64_t j = 0; j < gp->scales && !s; j++)
            s = scale_slope(gp, j, strcmp(name[j], "period") == 0 ? period_step : usual_step, x,
                            &g[j]);
    }
    if (!isnan(gp->extra))
        g[gp->scales] = own;
    mcr_free(gp->ctx, x);
    mcr_free(gp->ctx, name);
    return s;
}

/* ---- the search --------------------------------------------------------------------------------*/

static mcr_stop stop_of(mcr_descent_stop stop)
{
    switch (stop) {
    case MCR_DESCENT_DONE: return MCR_STOP_LOCAL; /* likelihoods have several maxima */
    case MCR_DESCENT_STEPS: return MCR_STOP_STEPS;
    case MCR_DESCENT_TIME: return MCR_STOP_TIME;
    case MCR_DESCENT_INTERRUPTED: return MCR_STOP_INTERRUPTED;
    case MCR_DESCENT_STUCK: return MCR_STOP_STUCK;
    }
    return MCR_STOP_STUCK;
}

typedef struct search {
    mcr_gp *gp;
    mcr_descent problem;
    double *given, *best, *x, *low, *high;
} search;

/* Where run number `run` begins: the given values first, then random ones around them. */
static void choose_start(const search *t, int64_t run)
{
    mcr_random random = mcr_random_stream(mcr_seed(t->gp->ctx), "gp", (uint64_t)run);
    for (int64_t j = 0; j < t->problem.n; j++) {
        double away = run ? log(start_within) * (2 * mcr_random_uniform(&random) - 1) : 0;
        t->x[j] = fmin(fmax(t->given[j] + away, t->low[j]), t->high[j]);
    }
}

static mcr_status run_all(search *t, double began)
{
    mcr_gp *gp = t->gp;
    const mcr_gp_params *o = gp->params;
    mcr_status s = MCR_OK;
    bool last = false;
    gp->f = INFINITY;
    for (int64_t run = 0; run <= o->restarts && !s && !last; run++) {
        mcr_descent_result r;
        choose_start(t, run);
        if (!isnan(o->time_limit))
            t->problem.deadline = began + o->time_limit;
        s = mcr_descent_solve(gp->ctx, &t->problem, t->x, &r);
        gp->steps += s ? 0 : r.steps;
        last = r.stop == MCR_DESCENT_INTERRUPTED || r.stop == MCR_DESCENT_TIME;
        if (s || !(r.f < gp->f))
            continue;
        gp->f = r.f;
        gp->slope = r.slope / (double)gp->n;
        gp->stop = stop_of(r.stop);
        memcpy(t->best, t->x, sizeof *t->x * (size_t)t->problem.n);
    }
    return s;
}

static void set_limits(search *t, double mean)
{
    const mcr_gp *gp = t->gp;
    for (int64_t j = 0; j < gp->scales; j++) {
        t->given[j] = log(t->given[j]);
        t->low[j] = t->given[j] - log(widest);
        t->high[j] = t->given[j] + log(widest);
    }
    if (!isnan(gp->extra)) {
        int64_t j = gp->scales;
        t->given[j] = log(gp->extra);
        t->low[j] = log(fmin(least_noise * mean, gp->extra));
        t->high[j] = log(fmax(most_noise * mean, gp->extra));
    }
}

static mcr_status mean_length(const mcr_gp *gp, double *mean)
{
    mcr_gram *gram = NULL;
    double *k = mcr_alloc(gp->ctx, (size_t)gp->n, sizeof *k);
    mcr_status s = k ? mcr_gram_open(&gram, gp->ctx, gp->given, gp->data, NULL) : MCR_NO_MEMORY;
    if (!s)
        s = mcr_gram_diagonal(gram, 0, k);
    *mean = 0;
    for (int64_t i = 0; i < gp->n && !s; i++)
        *mean += fabs(k[i]) / (double)gp->n;
    mcr_gram_close(gram);
    mcr_free(gp->ctx, k);
    return s || isfinite(*mean) ? s
                                : mcr_fail(gp->ctx, MCR_NUMERIC,
                                           "gp: values of the kernel are too large for double "
                                           "numbers; scale the data");
}

static mcr_status optimise(mcr_gp *gp, search *t, double mean, double began)
{
    set_limits(t, mean > 0 ? mean : 1);
    t->problem = (mcr_descent){
        .n = variables(gp),
        .low = t->low,
        .high = t->high,
        .tolerance = gp->params->tol * (double)gp->n,
        .most_steps = gp->params->max_steps == INT64_MIN ? 0 : gp->params->max_steps,
        .phase = "gp",
        .value = value_at,
        .gradient = slope_at,
        .arg = gp,
    };
    mcr_status s = run_all(t, began);
    /* The last value may be that of another run, or of a step that was not taken. */
    if (!s && isfinite(gp->f) &&
        memcmp(gp->at, t->best, sizeof *t->best * (size_t)t->problem.n) != 0)
        s = value_at(gp, t->best, &gp->f);
    return s;
}

mcr_status mcr_gp_tune(mcr_gp *gp)
{
    double began = mcr_now(), mean = 0;
    gp->n = mcr_data_count(gp->data);
    gp->scales = mcr_kernel_scales(gp->given, NULL);
    gp->slope = NAN;
    mcr_status s = mcr_square_open(&gp->k, gp->ctx, gp->n, "gp: the kernel matrix");
    if (!s) /* data that the kernel has no values for are told as such */
        s = mean_length(gp, &mean);
    if (s)
        return s;
    size_t most = (size_t)variables(gp);
    search t = {.gp = gp, .given = mcr_alloc(gp->ctx, 6 * most, sizeof *t.given)};
    if (!t.given)
        return MCR_NO_MEMORY;
    t.best = t.given + most;
    t.x = t.best + most;
    t.low = t.x + most;
    t.high = t.low + most;
    gp->at = t.high + most;
    bool goes_on = gp->start && mcr_kernel_scales(gp->start, NULL) == gp->scales;
    mcr_kernel_scales(goes_on ? gp->start : gp->given, t.given);
    if (gp->params->optimize && most > 0) {
        s = optimise(gp, &t, mean, began);
    } else {
        gp->kernel = mcr_kernel_retain(gp->given);
        gp->steps = 1;
        s = fill_matrix(gp);
        if (!s)
            s = gp->value(gp, &gp->f);
    }
    mcr_free(gp->ctx, t.given);
    gp->at = NULL;
    if (s == MCR_NUMERIC || (!s && !isfinite(gp->f)))
        s = mcr_fail(gp->ctx, MCR_NUMERIC,
                     "gp: the kernel matrix is not positive definite, whatever is added to its "
                     "diagonal: is the kernel positive semidefinite (mercer check)?");
    return s;
}

void mcr_gp_close(mcr_gp *gp)
{
    mcr_square_close(&gp->k);
    mcr_kernel_free(gp->kernel);
    gp->kernel = NULL;
}
