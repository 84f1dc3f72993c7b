/* gp_large.c: Gaussian process regression with given scales, if the kernel matrix does not fit into
 * memory.
 *
 * The mean is that of ridge regression with the noise s for lambda: A x = b, A = W^1/2 K W^1/2 + s,
 * by conjugate gradients, preconditioned by landmarks (solve/squares_large.c), and its residual is
 * the certificate. For standard deviations and the likelihood there are k directions, the columns
 * of V = W^1/2 K_nk T of landmarks that are chosen greedily, and one more pass over K for A V:
 *
 * - k'V (V'AV)^-1 V'k is at most k'A^-1 k, so K(x,x) less it is at least the variance, as from a
 *   subspace of Lanczos vectors (Pleiss et al., ICML 2018); with r = k - A V (V'AV)^-1 V'k it is
 *   too much by r'A^-1 r, at most |r|^2/s, which is measured on a sample of the objects;
 * - log |A| is between log |VV' + s| and that plus trace(A - s - VV')/s; b'A^-1 b is b'x + x'r and
 *   at most |r|^2/s more, r = b - A x. Together they bracket the log likelihood.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <string.h>

#include "base/random.h"
#include "learn/form.h"
#include "learn/gp.h"
#include "linalg/shared.h"
#include "solve/squares.h"

/* Of the directions in the model file. */
#define MOST_BYTES 128e6

enum { SAMPLE = 256 };

typedef struct large {
    mcr *ctx;
    const mcr_learning *in;
    const mcr_goal *goal;
    double noise, mean, scale;
    int64_t n, k;
    double *y, *weight; /* n; targets standardised */
    mcr_gram *gram;
    mcr_squares q;
    mcr_map *map;
    double *a;               /* n: coefficients */
    double *v, *av;          /* n x k: V, A V */
    double *r;               /* k x n: R with |R k|^2 = k'V (V'AV)^-1 V'k */
    mcr_system inner;        /* V'AV */
    double lower, upper;     /* of the log likelihood */
    double most, mean_error; /* of variances, on the sample, in units of K(x,x) */
    double value_error;
    size_t taken;
} large;

bool mcr_gp_is_large(const mcr_learning *in, const mcr_goal *goal)
{
    const mcr_gp_params *o = in->params;
    double n = (double)goal->n;
    return !o->optimize && !o->loo && !in->gram && goal->task == MCR_REGRESS &&
           n * (n + 8) * sizeof(double) > (double)mcr_budget_left(in->ctx) &&
           mcr_kernel_definite(in->kernel, NULL) == MCR_PSD;
}

/* ---- the mean ---------------------------------------------------------------------------------*/

static mcr_status solve(large *t)
{
    mcr_map *map = NULL;
    mcr_squares_known known;
    mcr_status s = mcr_squares_open(&t->q, t->gram, t->y, t->weight, 1, 1e-6);
    t->q.phase = "gp";
    if (!s)
        s = mcr_form_near(&t->q.near, &map, t->in, mcr_squares_rank(&t->q));
    if (!s)
        s = mcr_squares_solve(&t->q, t->noise, false);
    if (!s)
        s = mcr_squares_certify(&t->q, t->a, &known);
    t->value_error = s ? 0 : known.value_error;
    mcr_gram_close(t->q.near);
    t->q.near = NULL;
    mcr_map_close(map);
    return s;
}

/* ---- the directions ---------------------------------------------------------------------------*/

/* V and A V. */
static mcr_status make_directions(large *t)
{
    const mcr_gp_params *o = t->in->params;
    double fits = fmin(MOST_BYTES, (double)mcr_budget_left(t->ctx) / 9);
    int64_t most = (int64_t)(fits / sizeof(double) / (double)t->n), n = t->n;
    int64_t *object;
    t->k = o->rank < most ? o->rank : most > 1 ? most : 1;
    object = mcr_alloc(t->ctx, (size_t)t->k, sizeof *object);
    mcr_status s = object ? mcr_landmarks_choose(t->ctx, t->in->kernel, t->in->data,
                                                 (mcr_landmarks)o->landmarks, &t->k, object)
                          : MCR_NO_MEMORY;
    if (!s)
        s = mcr_map_open_at(&t->map, t->ctx, t->in->kernel, t->in->data,
                            (mcr_rows){object, 0, t->k}, MCR_SPARSE_JITTER);
    mcr_free(t->ctx, object);
    size_t values = 3 * (size_t)n * (size_t)t->k;
    if (!s)
        s = mcr_budget_take(t->ctx, values * sizeof *t->v, "gp: directions for variances");
    if (s)
        return s;
    t->taken = values * sizeof *t->v;
    if (!(t->v = mcr_alloc(t->ctx, values, sizeof *t->v)))
        return MCR_NO_MEMORY;
    t->av = t->v + n * t->k;
    t->r = t->av + n * t->k;
    s = mcr_map_rows(t->map, t->in->data, (mcr_rows){NULL, 0, n}, t->v, t->k);
    for (int64_t i = 0; i < n * t->k && !s; i++) /* W V for the product; r is free yet */
        t->r[i] = t->weight[i / t->k] * t->v[i];
    if (!s)
        s = mcr_gram_multiply(t->gram, t->r, t->k, t->av);
    for (int64_t i = 0; i < n * t->k && !s; i++) {
        t->v[i] *= t->q.root[i / t->k];
        t->av[i] = t->q.root[i / t->k] * t->av[i] + t->noise * t->v[i];
    }
    return s;
}

/* The factor of V'AV, and R = L^-1 V'W^1/2. */
static mcr_status make_posterior(large *t)
{
    int64_t n = t->n, k = t->k;
    mcr_status s = mcr_system_open(&t->inner, t->ctx, k, "gp: directions for variances");
    if (!s)
        s = mcr_shared_gemm(t->ctx, MCR_TRANSPOSED, MCR_AS_IS, k, k, n, 1, t->v, k, t->av, k, 0,
                            t->inner.a, t->inner.ld);
    if (s)
        return s;
    for (int64_t i = 0; i < k; i++) /* symmetric but for rounding */
        for (int64_t j = 0; j < i; j++)
            t->inner.a[j * t->inner.ld + i] = t->inner.a[i * t->inner.ld + j];
    mcr_system_filled(&t->inner);
    s = mcr_system_factor(&t->inner, 0, NULL, NULL);
    for (int64_t i = 0; i < n && !s; i++)
        for (int64_t c = 0; c < k; c++)
            t->r[c * n + i] = t->v[i * k + c] * t->q.root[i];
    return s ? s : mcr_system_solve_lower(&t->inner, n, t->r, n);
}

/* |k - A V (V'AV)^-1 V'k|^2 / s bounds what the variance of an object is too large by; so does the
 * variance. */
static mcr_status measure_one(large *t, int64_t object, double own, double *k, double *sum)
{
    int64_t n = t->n;
    double *c = k + n, *z = c + t->k, rest = 0, variance = own;
    mcr_status s = mcr_gram_block(t->gram, (mcr_rows){NULL, object, 1}, (mcr_rows){NULL, 0, n}, k,
                                  n);
    memset(c, 0, sizeof *c * (size_t)t->k);
    for (int64_t i = 0; i < n && !s; i++) {
        k[i] *= t->q.root[i];
        for (int64_t j = 0; j < t->k; j++)
            c[j] += t->v[i * t->k + j] * k[i];
    }
    memcpy(z, c, sizeof *c * (size_t)t->k);
    if (!s)
        s = mcr_system_solve(&t->inner, 1, z);
    for (int64_t j = 0; j < t->k; j++)
        variance -= c[j] * z[j];
    for (int64_t i = 0; i < n && !s; i++) {
        double e = k[i];
        for (int64_t j = 0; j < t->k; j++)
            e -= t->av[i * t->k + j] * z[j];
        rest += e * e;
    }
    double error = own > 0 ? fmin(rest / t->noise, fmax(variance, 0)) / own : 0;
    t->most = fmax(t->most, error);
    *sum += error;
    return s;
}

static mcr_status measure(large *t)
{
    double sum = 0, *own = mcr_alloc(t->ctx, (size_t)t->n, sizeof *own);
    double *k = mcr_alloc(t->ctx, (uint64_t)(t->n + 2 * t->k), sizeof *k);
    mcr_random random = mcr_random_stream(mcr_seed(t->ctx), "variances", 0);
    mcr_status s = own && k ? mcr_gram_diagonal(t->gram, 0, own) : MCR_NO_MEMORY;
    for (int i = 0; i < SAMPLE && !s; i++) {
        int64_t object = mcr_random_below(&random, t->n);
        s = measure_one(t, object, own[object], k, &sum);
    }
    t->mean_error = sum / SAMPLE;
    mcr_free_all(t->ctx, own, k);
    return s;
}

/* ---- the likelihood ---------------------------------------------------------------------------*/

/* log |VV' + s|, and the trace of A - s - VV'. */
static mcr_status determinant(const large *t, double *log_det, double *left)
{
    int64_t n = t->n, k = t->k;
    mcr_system p = {0};
    double *own = mcr_alloc(t->ctx, (size_t)n, sizeof *own);
    mcr_status s = own ? mcr_system_open(&p, t->ctx, k, "gp: directions for variances")
                       : MCR_NO_MEMORY;
    if (!s)
        s = mcr_gram_diagonal(t->gram, 0, own);
    if (!s)
        s = mcr_shared_gemm(t->ctx, MCR_TRANSPOSED, MCR_AS_IS, k, k, n, 1, t->v, k, t->v, k, 0, p.a,
                            p.ld);
    *left = 0;
    for (int64_t i = 0; i < n && !s; i++)
        *left += t->weight[i] * own[i];
    for (int64_t i = 0; i < k && !s; i++)
        *left -= p.a[i * p.ld + i];
    *log_det = (double)(n - k) * log(t->noise);
    if (!s) {
        mcr_system_filled(&p);
        s = mcr_system_factor(&p, t->noise, NULL, NULL);
    }
    for (int64_t i = 0; i < k && !s; i++)
        *log_det += 2 * mcr_system_log(&p, i);
    *left = fmax(*left, 0);
    mcr_system_close(&p);
    mcr_free(t->ctx, own);
    return s;
}

static mcr_status bracket(large *t)
{
    const mcr_squares *q = &t->q;
    double log_det, left, square = 0, rest = 0;
    double terms = (double)t->n * log(2 * 3.14159265358979323846);
    mcr_status s = determinant(t, &log_det, &left);
    for (int64_t i = 0; i < t->n; i++) {
        double r = q->b[i] - q->root[i] * q->f[i] - t->noise * q->x[i];
        square += (q->b[i] + r) * q->x[i];
        rest += r * r;
        terms -= log(t->weight[i]);
    }
    t->upper = -0.5 * (terms + log_det + square);
    t->lower = t->upper - 0.5 * (left + rest) / t->noise;
    return s;
}

/* ---- the model --------------------------------------------------------------------------------*/

static mcr_status fill(mcr_fitted *f, const large *t)
{
    double *noise = mcr_alloc(t->ctx, (size_t)t->n, sizeof *noise);
    double facts[MCR_GP_LARGE_COUNT] = {(double)t->k, t->lower, t->upper, t->most, t->mean_error};
    f->trained = mcr_alloc(t->ctx, (size_t)t->n, sizeof *f->trained);
    mcr_status s = noise && f->trained ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t i = 0; i < t->n && !s; i++) {
        noise[i] = t->noise / t->weight[i];
        f->trained[i] = t->mean + t->scale * t->q.f[i];
    }
    f->objective = f->dual = t->lower;
    f->primal = t->upper;
    f->gap = t->upper - t->lower;
    f->certificate = "relative residual";
    f->value = t->q.residual;
    f->value_error = t->value_error;
    f->tolerance = t->q.tol;
    f->stop = f->value <= f->tolerance ? MCR_STOP_OPTIMAL : MCR_STOP_STUCK;
    f->iterations = t->q.steps;
    if (!s)
        s = mcr_fitted_keep(f, MCR_GP_NOISE, noise, t->n);
    if (!s)
        s = mcr_gp_describe(f, t->mean, t->scale, t->noise);
    if (!s)
        s = mcr_fitted_keep(f, MCR_GP_LARGE, facts, MCR_GP_LARGE_COUNT);
    if (!s)
        s = mcr_fitted_keep(f, MCR_GP_POSTERIOR, t->r, t->k * t->n);
    if (!s)
        s = mcr_fitted_remark(
            f,
            "the kernel matrix does not fit into memory: conjugate gradients with %lld products; "
            "variances are upper bounds from %lld directions, on a sample of %d objects too large "
            "by at most %.2g of K(x,x), on average by %.2g",
            (long long)t->q.steps, (long long)t->k, SAMPLE, t->most, t->mean_error);
    mcr_free(t->ctx, noise);
    return s;
}

static mcr_status run(mcr_fitted **out, large *t)
{
    mcr_status s = mcr_gram_open(&t->gram, t->ctx, t->in->kernel, t->in->data, NULL);
    if (!s)
        s = solve(t);
    if (!s)
        s = make_directions(t);
    if (!s)
        s = make_posterior(t);
    if (!s)
        s = measure(t);
    if (!s)
        s = bracket(t);
    for (int64_t i = 0; i < t->n; i++)
        t->a[i] *= t->scale;
    if (!s)
        s = mcr_fitted_whole(out, t->ctx, t->n, 1, t->a);
    return s ? s : fill(*out, t);
}

mcr_status mcr_gp_regress_largely(mcr_fitted **out, const mcr_learning *in, const mcr_goal *goal)
{
    const mcr_gp_params *o = in->params;
    size_t n = (size_t)goal->n;
    large t = {.ctx = in->ctx, .in = in, .goal = goal, .noise = o->noise, .n = goal->n};
    if (!(t.y = mcr_alloc(in->ctx, n, 3 * sizeof *t.y)))
        return MCR_NO_MEMORY;
    t.weight = t.y + n;
    t.a = t.weight + n;
    mcr_gp_standardise(goal, o->standardize, t.y, &t.mean, &t.scale);
    for (size_t i = 0; i < n; i++)
        t.weight[i] = fmax(goal->weight[i], 1e-12);
    mcr_status s = run(out, &t);
    mcr_squares_close(&t.q);
    mcr_gram_close(t.gram);
    mcr_map_close(t.map);
    mcr_system_close(&t.inner);
    mcr_free_all(in->ctx, t.v, t.y);
    mcr_budget_give(in->ctx, t.taken);
    return s;
}
