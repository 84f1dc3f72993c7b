/* gp.c: Gaussian processes (Rasmussen and Williams, 2006): options, deviations, draws.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "learn/gp.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/threads.h"
#include "linalg/blas.h"

static const mcr_param table[] = {
    MCR_TASK_PARAM(mcr_gp_params),
    {"noise", MCR_REAL, offsetof(mcr_gp_params, noise), "0.1", 0, INFINITY,
     MCR_MIN_OPEN | MCR_MAX_OPEN, NULL,
     "variance of the noise in the (standardised) targets; where the search begins"},
    {"optimize", MCR_FLAG, offsetof(mcr_gp_params, optimize), "yes", 0, 0, 0, NULL,
     "find the kernel's scales and the noise that make the data most likely; no: as given"},
    {"restarts", MCR_INT, offsetof(mcr_gp_params, restarts), "2", 0, 1000, 0, NULL,
     "searches from random values, after that from the given ones"},
    {"standardize", MCR_FLAG, offsetof(mcr_gp_params, standardize), "yes", 0, 0, 0, NULL,
     "targets minus their mean, over their deviation; no: as they are"},
    {"tol", MCR_REAL, offsetof(mcr_gp_params, tol), "1e-5", 0, 1, MCR_MIN_OPEN | MCR_MAX_OPEN, NULL,
     "largest slope of the log likelihood, an object"},
    {"time-limit", MCR_REAL, offsetof(mcr_gp_params, time_limit), NULL, 0, INFINITY, MCR_MIN_OPEN,
     NULL, "seconds after which the best model so far is kept"},
    {"max-steps", MCR_INT, offsetof(mcr_gp_params, max_steps), NULL, 1, INFINITY, 0, NULL,
     "likelihoods of a search after which the best so far is kept"},
    {0},
};

mcr_status mcr_gp_finish(mcr_fitted *f, mcr_gp *gp)
{
    f->objective = -gp->f;
    f->iterations = gp->steps;
    f->stop = f->value <= f->tolerance ? MCR_STOP_OPTIMAL : MCR_STOP_STUCK;
    if (!isnan(gp->slope)) {
        f->certificate = "slope of the likelihood";
        f->value = gp->slope;
        f->tolerance = gp->params->tol;
        f->stop = gp->stop;
    }
    f->kernel = mcr_kernel_retain(gp->kernel);
    return MCR_OK;
}

static mcr_status fit(mcr_fitted **out, const mcr_learning *in)
{
    *out = NULL;
    const mcr_gp_params *o = in->params;
    mcr_goal goal;
    mcr_status s = mcr_goal_open(&goal, in, "gp", o->task, NULL);
    if (!s)
        s = mcr_gp_regress(out, in, &goal);
    mcr_goal_close(&goal);
    return s;
}

/* ---- deviations --------------------------------------------------------------------------------
 *
 * The factor of K + D is made again from the basis and the noise: that takes less time than reading
 * n^2 numbers from a file, and no room in it. */

enum { COLS = 512, WORKER_COLS = 64 };

typedef struct posterior {
    mcr_square l;
    double scale;
    double *v, *own; /* n x COLS, COLS */
} posterior;

static void close(mcr *ctx, void *state)
{
    posterior *p = state;
    if (!p)
        return;
    mcr_square_close(&p->l);
    mcr_free(ctx, p->v);
    mcr_free(ctx, p->own);
    mcr_free(ctx, p);
}

static mcr_status factor(posterior *p, mcr *ctx, const mcr_fitted *f, const mcr_kernel *kernel,
                         const mcr_data *basis)
{
    mcr_gram *gram = NULL;
    const double *noise, *scale;
    int64_t n = f->basis;
    mcr_status s = mcr_fitted_need(&noise, f, MCR_GP_NOISE, n);
    if (!s)
        s = mcr_fitted_need(&scale, f, MCR_GP_SCALE, 1);
    if (!s)
        s = mcr_square_open(&p->l, ctx, n, "gp: the kernel matrix, for deviations");
    if (!s)
        s = mcr_gram_open(&gram, ctx, kernel, basis, NULL);
    if (!s)
        s = mcr_gram_matrix_quietly(gram, p->l.a, p->l.ld, true);
    mcr_gram_close(gram);
    for (int64_t i = 0; i < n && !s; i++)
        p->l.a[i * p->l.ld + i] += noise[i];
    if (!s)
        s = mcr_lapack_cholesky(ctx, n, p->l.a, p->l.ld, "deviations", NULL);
    if (!s)
        p->scale = *scale;
    return s;
}

static mcr_status open(void **state, mcr *ctx, const mcr_fitted *f, const mcr_kernel *kernel,
                       const mcr_data *basis, bool std)
{
    *state = NULL;
    if (!std)
        return MCR_OK;
    posterior *p = mcr_alloc_zero(ctx, 1, sizeof *p);
    if (!p)
        return MCR_NO_MEMORY;
    p->v = mcr_alloc(ctx, (size_t)f->basis * COLS, sizeof *p->v);
    p->own = mcr_alloc(ctx, COLS, sizeof *p->own);
    mcr_status s = p->v && p->own ? factor(p, ctx, f, kernel, basis) : MCR_NO_MEMORY;
    if (s)
        close(ctx, p);
    else
        *state = p;
    return s;
}

typedef struct variance_job {
    const mcr_asked *q;
    int64_t first, count; /* objects of the block */
    const double *diagonal;
} variance_job;

/* K(x,x) - |L^-1 k|^2, k the kernel values against the basis. */
static mcr_status some_variances(void *arg, int64_t item, int worker)
{
    (void)worker;
    const variance_job *job = arg;
    const posterior *p = job->q->state;
    int64_t from = item * WORKER_COLS, n = p->l.n;
    int64_t cols = job->count - from < WORKER_COLS ? job->count - from : WORKER_COLS;
    double *v = p->v + from, *own = p->own + from;
    mcr_status s = mcr_blas_triangle_solve(job->q->ctx, MCR_AS_IS, n, cols, p->l.a, p->l.ld, v,
                                           COLS);
    for (int64_t c = 0; c < cols; c++)
        own[c] = job->diagonal[job->first + from + c];
    for (int64_t i = 0; i < n && !s; i++)
        for (int64_t c = 0; c < cols; c++)
            own[c] -= v[i * COLS + c] * v[i * COLS + c];
    for (int64_t c = 0; c < cols && !s; c++)
        job->q->std[job->first + from + c] = p->scale * sqrt(fmax(own[c], 0));
    return s;
}

static mcr_status deviations(const mcr_asked *q)
{
    const posterior *p = q->state;
    variance_job job = {.q = q};
    double *diagonal = mcr_alloc(q->ctx, (size_t)q->count, sizeof *diagonal);
    mcr_status s = diagonal ? mcr_gram_diagonal(q->gram, 1, diagonal) : MCR_NO_MEMORY;
    job.diagonal = diagonal;
    for (; job.first < q->count && !s; job.first += COLS) {
        job.count = q->count - job.first < COLS ? q->count - job.first : COLS;
        s = mcr_gram_block(q->gram, (mcr_rows){NULL, 0, p->l.n},
                           (mcr_rows){NULL, job.first, job.count}, p->v, COLS);
        int64_t items = (job.count + WORKER_COLS - 1) / WORKER_COLS;
        if (!s) /* a loop of one item would hand all threads to BLAS */
            s = items == 1 ? mcr_alone(q->ctx, some_variances, &job)
                           : mcr_parallel(q->ctx, items, some_variances, &job);
    }
    mcr_free(q->ctx, diagonal);
    return s;
}

static mcr_status ask(const mcr_asked *q)
{
    return q->std ? deviations(q) : MCR_OK;
}

static const mcr_predictor predictor = {
    .gives = MCR_GIVES_STD, .open = open, .close = close, .block = ask};

const mcr_learner_type mcr_learner_gp = {
    .name = "gp",
    .summary = "Gaussian process: numbers with their deviations; finds the kernel's scales",
    .task = MCR_EITHER,
    .params = table,
    .params_size = sizeof(mcr_gp_params),
    .fit = fit,
    .dense = true,
    .predictor = &predictor,
};
