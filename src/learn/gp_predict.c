/* gp_predict.c: standard deviations, probabilities and draws of Gaussian processes.
 *
 * Both need the variance of the latent value, K(x,x) - |L^-1 k|^2, with k the kernel values against
 * the basis (times W^1/2 for classes) and L the factor of K + D (of I + W^1/2 K W^1/2). The factor
 * is recomputed from the basis: that is faster than reading n^2 numbers from a file, and needs no
 * space in it. A sparse process has few landmarks and keeps R in place of L^-1, and so does one
 * that was solved without its matrix.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>

#include "base/random.h"
#include "base/threads.h"
#include "learn/gp.h"
#include "linalg/shared.h"

enum { COLS = 512, WORKER_COLS = 64 };

typedef struct posterior {
    const mcr_kernel *kernel;
    const mcr_data *basis;
    mcr_system l;    /* opened when first needed */
    bool ready;      /* it holds the requested factor, which does not change */
    bool keeps;      /* the model keeps R, to be multiplied by */
    const double *r; /* rows x n, ld apart */
    int64_t n, rows, ld;
    int64_t cols;    /* objects at a time */
    double *v, *own; /* n x cols, cols; opened when first needed */
    double *rv;      /* rows x cols: R v */
    size_t taken;    /* of the budget, for v and rv */
} posterior;

/* How many rows the R of the model has; 0: it keeps none. */
static mcr_status rows_kept(int64_t *rows, const mcr_fitted *f)
{
    int64_t count;
    const double *found;
    *rows = mcr_fitted_find(f, MCR_GP_SPARSE, &count) ? f->basis : 0;
    if (*rows || !mcr_fitted_find(f, MCR_GP_LARGE, &count))
        return *rows ? mcr_fitted_need(&found, f, MCR_GP_POSTERIOR, *rows * (*rows + 1) / 2)
                     : MCR_OK;
    mcr_status s = mcr_fitted_need(&found, f, MCR_GP_LARGE, MCR_GP_LARGE_COUNT);
    bool fine = !s && found[0] >= 1 && found[0] <= (double)f->basis;
    *rows = fine ? (int64_t)found[0] : 0;
    return s      ? s
           : fine ? mcr_fitted_need(&found, f, MCR_GP_POSTERIOR, *rows * f->basis)
                  : mcr_fail(f->ctx, MCR_BAD_DATA, "the model is damaged; train it again");
}

static mcr_status begin(posterior *p, const mcr_fitted *f, const mcr_kernel *kernel,
                        const mcr_data *basis)
{
    *p = (posterior){.kernel = kernel, .basis = basis, .n = f->basis};
    mcr_status s = f->classes ? MCR_OK : rows_kept(&p->rows, f);
    p->keeps = p->rows > 0;
    return s;
}

/* ---- the factor -------------------------------------------------------------------------------*/

static mcr_status fill_matrix(posterior *p, mcr *ctx, const double *root)
{
    mcr_gram *gram = NULL;
    mcr_status s = MCR_OK;
    if (mcr_data_numbers_only(p->basis))
        return mcr_fail(ctx, MCR_BAD_DATA,
                        "gp: standard deviations and probabilities need the kernel values of the "
                        "training objects, which a model of a precomputed kernel does not store");
    if (!p->l.a)
        s = mcr_system_open(&p->l, ctx, mcr_data_count(p->basis),
                            "gp: the kernel matrix of the model");
    if (!s)
        s = mcr_gram_open(&gram, ctx, p->kernel, p->basis, NULL);
    if (!s)
        s = mcr_gram_fill_system(gram, &p->l, root, false);
    mcr_gram_close(gram);
    return s;
}

/* root NULL: of K + D, D the noise; else of I + W^1/2 K W^1/2. */
static mcr_status factor(posterior *p, mcr *ctx, const double *noise, const double *root)
{
    mcr_status s = p->ready ? MCR_OK : fill_matrix(p, ctx, root);
    if (s || p->ready)
        return s;
    s = mcr_system_factor(&p->l, 1, root ? NULL : noise, "standard deviations");
    p->ready = !s && !root;
    return s;
}

/* R of a sparse process, with its zeros above the diagonal. */
static mcr_status unpack(posterior *p, mcr *ctx, const double *packed)
{
    mcr_status s = mcr_system_open(&p->l, ctx, p->n, "gp: the posterior of the model");
    for (int64_t i = 0; i < p->n && !s; i++)
        for (int64_t j = 0; j < p->n; j++)
            p->l.a[i * p->l.ld + j] = j <= i ? *packed++ : 0;
    p->r = p->l.a;
    p->ld = p->l.ld;
    return s;
}

static mcr_status find_kept(posterior *p, mcr *ctx, const mcr_fitted *f)
{
    int64_t count;
    const double *kept = mcr_fitted_find(f, MCR_GP_POSTERIOR, &count);
    mcr_status s = MCR_OK;
    if (p->ready)
        return MCR_OK;
    p->r = kept;
    p->ld = p->n;
    if (mcr_fitted_find(f, MCR_GP_SPARSE, &count))
        s = unpack(p, ctx, kept);
    p->ready = !s;
    return s;
}

/* What the variances of regression need. */
static mcr_status prepare(posterior *p, mcr *ctx, const mcr_fitted *f, const double **scale)
{
    const double *noise;
    mcr_status s = mcr_fitted_need(scale, f, MCR_GP_SCALE, 1);
    if (s || p->keeps)
        return s ? s : find_kept(p, ctx, f);
    s = mcr_fitted_need(&noise, f, MCR_GP_NOISE, f->basis);
    return s ? s : factor(p, ctx, noise, NULL);
}

/* L^-1 v in its place, or R v (rv), of some columns. */
static mcr_status solve_some(const posterior *p, mcr *ctx, int64_t cols, double *v, double *rv,
                             int64_t ld)
{
    return p->keeps ? mcr_blas_gemm(ctx, MCR_AS_IS, MCR_AS_IS, p->rows, cols, p->n, 1, p->r, p->ld,
                                    v, ld, 0, rv, ld)
                    : mcr_system_solve_lower(&p->l, cols, v, ld);
}

/* ---- variances --------------------------------------------------------------------------------*/

typedef struct variance_job {
    const mcr_query *q;
    int64_t first, count; /* objects of the block */
    const double *diagonal, *root;
    double *to;
} variance_job;

static mcr_status some_variances(void *arg, int64_t item, int worker)
{
    (void)worker;
    const variance_job *job = arg;
    const posterior *p = job->q->state;
    int64_t from = item * WORKER_COLS, n = p->n, ld = p->cols, rows = p->keeps ? p->rows : n;
    int64_t cols = job->count - from < WORKER_COLS ? job->count - from : WORKER_COLS;
    double *v = p->v + from, *own = p->own + from, *u = p->keeps ? p->rv + from : v;
    for (int64_t i = 0; i < n && job->root; i++)
        for (int64_t c = 0; c < cols; c++)
            v[i * ld + c] *= job->root[i];
    mcr_status s = solve_some(p, job->q->ctx, cols, v, u, ld);
    for (int64_t c = 0; c < cols; c++)
        own[c] = job->diagonal[job->first + from + c];
    for (int64_t i = 0; i < rows && !s; i++)
        for (int64_t c = 0; c < cols; c++)
            own[c] -= u[i * ld + c] * u[i * ld + c];
    for (int64_t c = 0; c < cols && !s; c++)
        job->to[job->first + from + c] = fmax(own[c], 0);
    return s;
}

/* As many objects at a time as a third of the memory holds, if a block of COLS does not fit. */
static mcr_status take_buffers(posterior *p, mcr *ctx)
{
    if (p->v)
        return MCR_OK;
    size_t each = (size_t)(p->n + p->rows) * sizeof *p->v;
    size_t most = mcr_budget_left(ctx) / 3 / each / WORKER_COLS * WORKER_COLS;
    p->cols = most > COLS ? COLS : most < WORKER_COLS ? WORKER_COLS : (int64_t)most;
    size_t cols = (size_t)p->cols;
    mcr_status s = mcr_budget_take(ctx, each * cols, "gp: kernel values of a block of objects");
    if (s)
        return s;
    p->taken = each * cols;
    p->v = mcr_alloc(ctx, each, cols);
    p->rv = p->v ? p->v + (size_t)p->n * cols : NULL;
    p->own = mcr_alloc(ctx, cols, sizeof *p->own);
    return p->v && p->own ? MCR_OK : MCR_NO_MEMORY;
}

/* Of the latent values of the block's objects. */
static mcr_status variances(const mcr_query *q, const double *root, double *to)
{
    posterior *p = q->state;
    double *diagonal = mcr_alloc(q->ctx, (size_t)q->count, sizeof *diagonal);
    variance_job job = {.q = q, .diagonal = diagonal, .root = root, .to = to};
    mcr_status s = diagonal ? take_buffers(p, q->ctx) : MCR_NO_MEMORY;
    if (!s)
        s = mcr_gram_diagonal(q->gram, 1, diagonal);
    for (; job.first < q->count && !s; job.first += p->cols) {
        job.count = q->count - job.first < p->cols ? q->count - job.first : p->cols;
        s = mcr_gram_block(q->gram, (mcr_rows){NULL, 0, p->n},
                           (mcr_rows){NULL, job.first, job.count}, p->v, p->cols);
        int64_t items = (job.count + WORKER_COLS - 1) / WORKER_COLS;
        if (!s) /* a loop of one item would hand all threads to BLAS */
            s = items == 1 ? mcr_alone(q->ctx, some_variances, &job)
                           : mcr_parallel(q->ctx, items, some_variances, &job);
    }
    mcr_free(q->ctx, diagonal);
    return s;
}

static mcr_status deviate(const mcr_query *q)
{
    const double *scale;
    mcr_status s = prepare(q->state, q->ctx, q->fitted, &scale);
    if (!s)
        s = variances(q, NULL, q->std);
    for (int64_t i = 0; i < q->count && !s; i++)
        q->std[i] = *scale * sqrt(q->std[i]);
    return s;
}

/* ---- probabilities ----------------------------------------------------------------------------*/

/* The mean of 1 / (1 + exp(-f)) for normal f, by the trapezoidal rule: the integrand is analytic,
 * so its error falls exponentially with the step, here to 1e-8. */
static double mean_logistic(double mean, double variance)
{
    double std = sqrt(variance), sum = 0, all = 0;
    double h = fmin(0.25, fmax(1 / fmax(std, 1e-3), 1e-3)); /* of 16,000 points at most */
    int64_t half = (int64_t)(8 / h);
    for (int64_t t = -half; t <= half; t++) {
        double z = h * (double)t, weight = exp(-0.5 * z * z);
        sum += weight / (1 + exp(-(mean + std * z)));
        all += weight;
    }
    return sum / all;
}

typedef struct mean_job {
    const mcr_query *q;
    int64_t part;
    double *p; /* outputs x count: variances, then probabilities */
} mean_job;

static mcr_status mean_of_object(void *arg, int64_t i, int worker)
{
    (void)worker;
    const mean_job *job = arg;
    double *p = job->p + job->part * job->q->count + i;
    *p = mean_logistic(job->q->score[i * job->q->fitted->outputs + job->part], *p);
    return MCR_OK;
}

/* Probability of each output's class against the others. */
static mcr_status probabilities(const mcr_query *q, double *p)
{
    const mcr_fitted *f = q->fitted;
    const double *root;
    mcr_status s = mcr_fitted_need(&root, f, MCR_GP_CURVATURE, f->outputs * f->basis);
    for (int64_t o = 0; o < f->outputs && !s; o++) {
        mean_job job = {q, o, p};
        s = factor(q->state, q->ctx, NULL, root + o * f->basis);
        if (!s)
            s = variances(q, root + o * f->basis, p + o * q->count);
        if (!s)
            s = mcr_parallel(q->ctx, q->count, mean_of_object, &job);
    }
    return s;
}

/* Two classes: one output, for the second. More: each class against the others, made to sum to 1;
 * the largest is predicted. */
static void decide(const mcr_query *q, const double *p, int64_t i)
{
    int64_t classes = q->fitted->classes, outputs = q->fitted->outputs, best = 0;
    double sum = 0;
    for (int64_t c = 0; c < outputs; c++) {
        sum += p[c * q->count + i];
        if (p[c * q->count + i] > p[best * q->count + i])
            best = c;
    }
    if (q->value && outputs > 1)
        q->value[i] = (double)best;
    for (int64_t c = 0; c < classes && q->proba; c++)
        q->proba[i * classes + c] = outputs > 1 ? p[c * q->count + i] / sum : c ? p[i] : 1 - p[i];
}

static mcr_status classify(const mcr_query *q)
{
    int64_t outputs = q->fitted->outputs;
    const posterior *own = q->state;
    /* For two classes the latent value decides; for more, where there is nothing better. */
    for (int64_t i = 0; i < q->count && q->value; i++)
        q->value[i] = outputs == 1 ? q->score[i] > 0
                                   : (double)mcr_largest(q->score + i * outputs, outputs);
    if (!q->proba && (outputs == 1 || !q->value || mcr_data_numbers_only(own->basis)))
        return MCR_OK;
    double *p = mcr_alloc(q->ctx, (uint64_t)(q->count * outputs), sizeof *p);
    mcr_status s = p ? probabilities(q, p) : MCR_NO_MEMORY;
    for (int64_t i = 0; i < q->count && !s; i++)
        decide(q, p, i);
    mcr_free(q->ctx, p);
    return s;
}

/* ---- draws -------------------------------------------------------------------------------------
 *
 * The posterior covariance of the latent values at m objects, K(x,x') - (L^-1 k)'(L^-1 k'), is
 * factorised, and its factor times normal numbers is added to the mean. */

typedef struct solve_job {
    mcr *ctx;
    const posterior *p;
    double *v, *rv; /* n x m */
    int64_t m;
} solve_job;

static mcr_status solve_columns(void *arg, int64_t item, int worker)
{
    (void)worker;
    const solve_job *job = arg;
    int64_t from = item * WORKER_COLS;
    int64_t cols = job->m - from < WORKER_COLS ? job->m - from : WORKER_COLS;
    return solve_some(job->p, job->ctx, cols, job->v + from, job->rv + from, job->m);
}

static mcr_status covariance(const posterior *p, mcr *ctx, const mcr_data *data, mcr_system *c)
{
    int64_t n = p->n, m = c->n, rows = p->keeps ? p->rows : n;
    mcr_gram *gram = NULL, *own = NULL;
    size_t bytes = (size_t)(n + p->rows) * (size_t)m * sizeof(double);
    mcr_status s = mcr_budget_take(ctx, bytes, "gp: kernel values of the objects");
    if (s)
        return s;
    double *v = mcr_alloc(ctx, bytes, 1), *u = v && p->keeps ? v + n * m : v;
    s = v ? mcr_gram_open(&gram, ctx, p->kernel, p->basis, data) : MCR_NO_MEMORY;
    if (!s)
        s = mcr_gram_block(gram, (mcr_rows){NULL, 0, n}, (mcr_rows){NULL, 0, m}, v, m);
    if (!s)
        s = mcr_gram_open(&own, ctx, p->kernel, data, NULL);
    if (!s)
        s = mcr_gram_fill_system(own, c, NULL, false);
    solve_job job = {ctx, p, v, u, m};
    int64_t items = (m + WORKER_COLS - 1) / WORKER_COLS;
    if (!s)
        s = items == 1 ? mcr_alone(ctx, solve_columns, &job)
                       : mcr_parallel(ctx, items, solve_columns, &job);
    if (!s)
        s = mcr_shared_gemm(ctx, MCR_TRANSPOSED, MCR_AS_IS, m, m, rows, -1, u, m, u, m, 1, c->a,
                            c->ld);
    mcr_gram_close(gram);
    mcr_gram_close(own);
    mcr_free(ctx, v);
    mcr_budget_give(ctx, bytes);
    return s;
}

/* A covariance usually has directions without variance: the smallest sufficient jitter replaces
 * their rounding errors. */
static mcr_status factor_covariance(mcr_system *c)
{
    double most = 0;
    mcr_status s = MCR_NUMERIC;
    mcr_system_filled(c);
    for (int64_t i = 0; i < c->n; i++)
        most = fmax(most, c->diagonal[i] = fmax(c->diagonal[i], 0));
    for (double share = 1e-14; share < 1e-5 && s == MCR_NUMERIC; share *= 10)
        s = mcr_system_factor(c, share * most + 1e-300, NULL, "draws");
    return s;
}

static void add_draws(mcr *ctx, const mcr_system *c, double scale, int64_t count, double *z,
                      double *draws)
{
    for (int64_t d = 0; d < count; d++) {
        mcr_random random = mcr_random_stream(mcr_seed(ctx), "draw", (uint64_t)d);
        for (int64_t i = 0; i < c->n; i++)
            z[i] = mcr_random_normal(&random);
        for (int64_t i = 0; i < c->n; i++) {
            double sum = 0;
            for (int64_t j = 0; j <= i; j++)
                sum += c->a[i * c->ld + j] * z[j];
            draws[i * count + d] += scale * sum;
        }
    }
}

static mcr_status draw(mcr *ctx, const mcr_fitted *f, const mcr_kernel *kernel,
                       const mcr_data *basis, const mcr_data *data, int64_t count, double *draws)
{
    posterior p;
    mcr_system c = {0};
    const double *scale;
    double *z = mcr_alloc(ctx, (size_t)mcr_data_count(data), sizeof *z);
    mcr_status s = begin(&p, f, kernel, basis);
    if (!s)
        s = z ? prepare(&p, ctx, f, &scale) : MCR_NO_MEMORY;
    if (!s)
        s = mcr_system_open(&c, ctx, mcr_data_count(data), "gp: the covariance of the objects");
    if (!s)
        s = covariance(&p, ctx, data, &c);
    if (!s)
        s = factor_covariance(&c);
    if (!s)
        add_draws(ctx, &c, *scale, count, z, draws);
    mcr_system_close(&c);
    mcr_system_close(&p.l);
    mcr_free(ctx, z);
    return s;
}

/* ---- the predictor ----------------------------------------------------------------------------*/

static void close(mcr *ctx, void *state)
{
    posterior *p = state;
    mcr_system_close(&p->l);
    mcr_free_all(ctx, p->v, p->own);
    mcr_budget_give(ctx, p->taken);
    mcr_free(ctx, p);
}

static mcr_status open(void **state, mcr *ctx, const mcr_fitted *f, const mcr_kernel *kernel,
                       const mcr_data *basis)
{
    *state = NULL;
    if (f->classes && f->outputs != (f->classes == 2 ? 1 : f->classes))
        return mcr_fail(ctx, MCR_BAD_DATA,
                        "the model is damaged (classes and outputs do not fit); train it again");
    const double *found;
    int64_t m = f->basis;
    posterior *p = mcr_alloc_zero(ctx, 1, sizeof *p);
    mcr_status s = p ? begin(p, f, kernel, basis) : MCR_NO_MEMORY;
    if (!s && (f->classes || !p->keeps))
        s = f->classes ? mcr_fitted_need(&found, f, MCR_GP_CURVATURE, f->outputs * m)
                       : mcr_fitted_need(&found, f, MCR_GP_NOISE, m);
    if (s) {
        mcr_free(ctx, p);
        return s;
    }
    *state = p;
    return MCR_OK;
}

static mcr_status predict(const mcr_query *q)
{
    return q->fitted->task == MCR_CLASSIFY ? classify(q) : q->std ? deviate(q) : MCR_OK;
}

const mcr_predictor mcr_gp_predictor = {
    .gives = MCR_GIVES_STD | MCR_GIVES_PROBA,
    .open = open,
    .close = close,
    .block = predict,
    .draw = draw,
};
