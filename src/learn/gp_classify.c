/* gp_classify.c: Gaussian process classification by Laplace's approximation.
 *
 * Two classes, y = +1 or -1, and the logistic likelihood: the posterior of the latent values f = K
 * a is taken as normal around its mode, which Newton's method finds with
 *
 *   g = d log p(y|f),  W = -d^2 log p(y|f),  L L' = B = I + W^1/2 K W^1/2
 *
 * (Rasmussen and Williams, 2006, algorithms 3.1, 3.2 and 5.1). Several classes: one such problem a
 * class against all others, with the same kernel; the likelihood is their product.
 *
 * One n x n matrix: K lies above the diagonal, B and its factor below it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/threads.h"
#include "learn/gp.h"
#include "linalg/lapack.h"

enum { MOST_ROUNDS = 100, CHUNK = 256 };

/* How near g must be to a, which it equals at the mode. */
static const double tolerance = 1e-9;

typedef struct laplace {
    const mcr_goal *goal;
    int64_t part;         /* whose B lies below the diagonal */
    double *a, *f, *root; /* outputs x n: modes, W^1/2 */
    double *g, *t, *v;    /* n each: gradient, space */
    double *u;            /* for the slope */
    double *diagonal;     /* of the inverse of B */
    double *partial;      /* n for each chunk of rows */
    double residual;      /* largest |g - a| of all parts */
} laplace;

/* ---- K v from what is above the diagonal ------------------------------------------------------*/

typedef struct product {
    const mcr_gp *gp;
    const double *v;
} product;

static mcr_status multiply_chunk(void *arg, int64_t item, int worker)
{
    (void)worker;
    const product *job = arg;
    const laplace *l = job->gp->method;
    int64_t n = job->gp->n, first = item * CHUNK, end = first + CHUNK < n ? first + CHUNK : n;
    double *out = l->partial + item * n;
    memset(out, 0, sizeof *out * (size_t)n);
    for (int64_t i = first; i < end; i++) {
        const double *k = job->gp->k.a + i * job->gp->k.ld;
        double sum = job->gp->k.diagonal[i] * job->v[i];
        for (int64_t j = i + 1; j < n; j++) {
            sum += k[j] * job->v[j];
            out[j] += k[j] * job->v[i];
        }
        out[i] += sum;
    }
    return MCR_OK;
}

static int64_t chunks(int64_t n)
{
    return (n + CHUNK - 1) / CHUNK;
}

static mcr_status multiply(const mcr_gp *gp, const double *v, double *kv)
{
    const laplace *l = gp->method;
    product job = {gp, v};
    mcr_status s = mcr_parallel(gp->ctx, chunks(gp->n), multiply_chunk, &job);
    memset(kv, 0, sizeof *kv * (size_t)gp->n);
    for (int64_t c = 0; c < chunks(gp->n) && !s; c++)
        for (int64_t i = c * CHUNK; i < gp->n; i++)
            kv[i] += l->partial[c * gp->n + i];
    return s;
}

/* ---- the mode ---------------------------------------------------------------------------------*/

static double label(const laplace *l, int64_t i)
{
    return l->goal->y[i * l->goal->outputs + l->part];
}

/* log of 1 / (1 + exp(-z)). */
static double log_logistic(double z)
{
    return z > 0 ? -log1p(exp(-z)) : z - log1p(exp(z));
}

static double log_posterior(const laplace *l, const double *a, const double *f)
{
    double sum = 0;
    for (int64_t i = 0; i < l->goal->n; i++)
        sum += l->goal->weight[i] * log_logistic(label(l, i) * f[i]) - 0.5 * a[i] * f[i];
    return sum;
}

static double *of_part(const laplace *l, double *array)
{
    return array + l->part * l->goal->n;
}

/* g and W^1/2 at the mode so far; gives the largest |g - a|. */
static double look(laplace *l)
{
    const double *a = of_part(l, l->a), *f = of_part(l, l->f);
    double *root = of_part(l, l->root), worst = 0;
    for (int64_t i = 0; i < l->goal->n; i++) {
        double p = 1 / (1 + exp(-f[i])), w = l->goal->weight[i];
        l->g[i] = w * ((label(l, i) > 0) - p);
        root[i] = sqrt(w * p * (1 - p));
        worst = fmax(worst, fabs(l->g[i] - a[i]));
    }
    return worst;
}

typedef struct fill_job {
    const mcr_gp *gp;
    const double *root;
} fill_job;

/* W^1/2 K W^1/2 below the diagonal, a band of rows at a time, read from the columns above it in
 * squares that fit the first cache. */
static mcr_status fill_band(void *arg, int64_t item, int worker)
{
    (void)worker;
    enum { SIDE = 32 };
    const fill_job *job = arg;
    int64_t n = job->gp->n, ld = job->gp->k.ld, first = item * SIDE;
    int64_t end = first + SIDE < n ? first + SIDE : n;
    double *k = job->gp->k.a;
    const double *root = job->root;
    for (int64_t j0 = 0; j0 <= first; j0 += SIDE)
        for (int64_t i = first; i < end; i++)
            for (int64_t j = j0; j < j0 + SIDE && j < i; j++)
                k[i * ld + j] = root[i] * k[j * ld + i] * root[j];
    for (int64_t i = first; i < end; i++)
        k[i * ld + i] = 1 + root[i] * job->gp->k.diagonal[i] * root[i];
    return MCR_OK;
}

static mcr_status factor(const mcr_gp *gp)
{
    const laplace *l = gp->method;
    fill_job job = {gp, of_part(l, l->root)};
    mcr_status s = mcr_parallel(gp->ctx, (gp->n + 31) / 32, fill_band, &job);
    return s ? s : mcr_lapack_cholesky(gp->ctx, gp->n, gp->k.a, gp->k.ld, mcr_gp_phase(gp), NULL);
}

/* x = W^1/2 B^-1 W^1/2 x */
static mcr_status apply_r(const mcr_gp *gp, double *x)
{
    const laplace *l = gp->method;
    const double *root = of_part(l, l->root);
    for (int64_t i = 0; i < gp->n; i++)
        x[i] *= root[i];
    mcr_status s = mcr_system_solve(&gp->k, 1, x);
    for (int64_t i = 0; i < gp->n; i++)
        x[i] *= root[i];
    return s;
}

/* Newton's step, cut back until the posterior rises. *moved: it did. */
static mcr_status newton(const mcr_gp *gp, bool *moved)
{
    laplace *l = gp->method;
    int64_t n = gp->n;
    double *a = of_part(l, l->a), *f = of_part(l, l->f), *root = of_part(l, l->root);
    for (int64_t i = 0; i < n; i++)
        l->t[i] = root[i] * root[i] * f[i] + l->g[i];
    mcr_status s = multiply(gp, l->t, l->v);
    if (!s)
        s = apply_r(gp, l->v);
    for (int64_t i = 0; i < n && !s; i++)
        l->t[i] -= l->v[i] + a[i]; /* the step of a */
    if (!s)
        s = multiply(gp, l->t, l->v); /* that of f */
    if (s)
        return s;
    double before = log_posterior(l, a, f), step = 1;
    *moved = false;
    for (int cut = 0; cut < 40 && !*moved; cut++, step *= 0.5) {
        for (int64_t i = 0; i < n; i++) {
            a[i] += step * l->t[i];
            f[i] += step * l->v[i];
        }
        *moved = log_posterior(l, a, f) >= before - 1e-14 * fabs(before);
        for (int64_t i = 0; i < n && !*moved; i++) {
            a[i] -= step * l->t[i];
            f[i] -= step * l->v[i];
        }
    }
    return MCR_OK;
}

/* From the mode that was found last, if it is better than 0. At the end B is that of the mode. */
static mcr_status find_mode(const mcr_gp *gp, double *residual)
{
    laplace *l = gp->method;
    double *a = of_part(l, l->a), *f = of_part(l, l->f);
    mcr_status s = multiply(gp, a, f);
    double zero = 0;
    for (int64_t i = 0; i < gp->n; i++)
        zero -= l->goal->weight[i] * log(2);
    if (!(log_posterior(l, a, f) > zero))
        for (int64_t i = 0; i < gp->n; i++)
            a[i] = f[i] = 0;
    for (int round = 0; round < MOST_ROUNDS && !s; round++) {
        bool moved = false;
        *residual = look(l);
        s = factor(gp);
        if (s || *residual <= tolerance)
            break;
        s = newton(gp, &moved);
        if (!moved)
            break;
    }
    return s;
}

/* ---- the likelihood ---------------------------------------------------------------------------*/

static mcr_status part_value(mcr_gp *gp, double *f)
{
    laplace *l = gp->method;
    double residual = 0;
    mcr_status s = find_mode(gp, &residual);
    l->residual = fmax(l->residual, residual);
    *f -= log_posterior(l, of_part(l, l->a), of_part(l, l->f));
    for (int64_t i = 0; i < gp->n && !s; i++)
        *f += mcr_system_log(&gp->k, i);
    return s;
}

static mcr_status value(mcr_gp *gp, double *f)
{
    laplace *l = gp->method;
    mcr_status s = MCR_OK;
    *f = 0;
    l->residual = 0;
    for (l->part = 0; l->part < gp->parts && !s; l->part++)
        s = part_value(gp, f);
    l->part = 0;
    return s ? s : isfinite(*f) ? MCR_OK : mcr_fail(gp->ctx, MCR_NUMERIC, "gp: no likelihood");
}

/* With R = W^1/2 B^-1 W^1/2 and S = (K^-1 + W)^-1, whose diagonal is (1 - (B^-1)_ii) / W_ii, the
 * gradient of the log likelihood against K is a a'/2 - R/2 + (u g' + g u')/2, u = (I - R K) s and
 * s_i = S_ii d^3 log p(y_i|f_i) / 2. K is used up: the inverse of B takes its place. */
static mcr_status prepare(mcr_gp *gp, int64_t part, double *slope)
{
    laplace *l = gp->method;
    (void)slope;
    l->part = part;
    const double *f = of_part(l, l->f), *root = of_part(l, l->root);
    look(l);
    mcr_status s = factor(gp);
    if (!s)
        s = mcr_system_inverse(&gp->k, false, l->diagonal);
    for (int64_t i = 0; i < gp->n && !s; i++) {
        double w = root[i] * root[i], third = -w * (1 - 2 / (1 + exp(-f[i])));
        l->u[i] = w > 0 ? 0.5 * (1 - l->diagonal[i]) / w * third : 0;
    }
    if (!s)
        s = multiply(gp, l->u, l->v);
    if (!s)
        s = apply_r(gp, l->v);
    for (int64_t i = 0; i < gp->n && !s; i++)
        l->u[i] -= l->v[i];
    return s ? s : mcr_system_inverse(&gp->k, true, l->diagonal);
}

/* Of -log likelihood; pairs count twice. */
static void row(const mcr_gp *gp, int64_t i, double *d)
{
    const laplace *l = gp->method;
    const double *inverse = gp->k.a + i * gp->k.ld, *a = of_part(l, l->a);
    const double *root = of_part(l, l->root);
    d[0] = 0.5 * (root[i] * root[i] * l->diagonal[i] - a[i] * a[i]) - l->u[i] * l->g[i];
    for (int64_t j = i + 1; j < gp->n; j++)
        d[j - i] = root[i] * inverse[j] * root[j] - a[i] * a[j] - l->u[i] * l->g[j] -
                   l->g[i] * l->u[j];
}

/* ---- training ---------------------------------------------------------------------------------*/

static mcr_status take_buffers(laplace *l, mcr *ctx)
{
    size_t n = (size_t)l->goal->n, all = n * (size_t)l->goal->outputs;
    l->a = mcr_alloc_zero(ctx, 3 * all, sizeof *l->a);
    l->g = mcr_alloc(ctx, 5 * n, sizeof *l->g);
    l->partial = mcr_alloc(ctx, (size_t)chunks(l->goal->n), n * sizeof *l->partial);
    if (!l->a || !l->g || !l->partial)
        return MCR_NO_MEMORY;
    l->f = l->a + all;
    l->root = l->f + all;
    double **array[] = {&l->t, &l->v, &l->u, &l->diagonal};
    for (size_t i = 0; i < sizeof array / sizeof *array; i++)
        *array[i] = l->g + (i + 1) * n;
    return MCR_OK;
}

/* What rounding may change: a slope at the mode changes by W <= w / 4 times the error of f, the
 * likelihood by a'(dK)a and the trace of W^1/2 (dK) W^1/2. */
static mcr_status find_errors(mcr_fitted *f, const mcr_gp *gp)
{
    const laplace *l = gp->method;
    mcr_gram *gram = NULL;
    double *error = mcr_alloc(gp->ctx, (size_t)gp->n, sizeof *error), size = fabs(gp->f);
    mcr_status s = error ? mcr_gram_open(&gram, gp->ctx, gp->kernel, gp->data, NULL)
                         : MCR_NO_MEMORY;
    for (int64_t part = 0; part < gp->parts && !s; part++) {
        const double *a = l->a + part * gp->n, *root = l->root + part * gp->n;
        s = mcr_gram_product_error(gram, a, 1, NAN, error);
        for (int64_t i = 0; i < gp->n && !s; i++) {
            double w = l->goal->weight[i];
            f->value_error = fmax(f->value_error, w * (0.25 * error[i] + 2 * DBL_EPSILON));
            f->objective_error += fabs(a[i]) * error[i];
            size += (double)gp->n * root[i] * root[i] * fabs(gp->k.diagonal[i]);
        }
    }
    f->objective_error += DBL_EPSILON * size;
    mcr_gram_close(gram);
    mcr_free(gp->ctx, error);
    return s;
}

static mcr_status fill(mcr_fitted *f, mcr_gp *gp)
{
    const laplace *l = gp->method;
    f->task = MCR_CLASSIFY;
    f->rule = MCR_RULE_OWN;
    f->classes = l->goal->classes;
    f->certificate = "slope at the mode";
    f->value = l->residual;
    f->tolerance = 10 * tolerance;
    mcr_status s = mcr_fitted_keep(f, MCR_GP_CURVATURE, l->root, gp->parts * gp->n);
    if (!s)
        s = find_errors(f, gp);
    return s ? s : mcr_gp_finish(f, gp);
}

mcr_status mcr_gp_classify(mcr_fitted **out, const mcr_learning *in, const mcr_goal *goal)
{
    laplace l = {.goal = goal};
    mcr_gp gp = {.ctx = in->ctx,
                 .params = in->params,
                 .given = in->kernel,
                 .start = in->start_kernel,
                 .data = in->data,
                 .gram = in->gram,
                 .extra = NAN,
                 .value = value,
                 .prepare = prepare,
                 .row = row,
                 .parts = goal->outputs,
                 .method = &l};
    mcr_status s = take_buffers(&l, in->ctx);
    if (!s)
        s = mcr_gp_tune(&gp);
    if (!s)
        s = mcr_fitted_whole(out, in->ctx, goal->n, goal->outputs, l.a);
    if (!s && (s = fill(*out, &gp))) {
        mcr_fitted_free(*out);
        *out = NULL;
    }
    mcr_gp_close(&gp);
    mcr_free(in->ctx, l.a);
    mcr_free(in->ctx, l.g);
    mcr_free(in->ctx, l.partial);
    return s;
}
