/* pca.c: principal components in feature space (Schoelkopf, Smola and Mueller, 1998).
 *
 * A unit vector u with A u = s u, A the matrix of centred.h, gives the component with a = u / sqrt(s):
 * its length is 1, and the variance along it is s.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <float.h>
#include <math.h>
#include <stddef.h>

#include "learn/centred.h"
#include "learn/goal.h"

typedef struct params {
    int64_t components, max_steps;
    double tol, time_limit;
} params;

static const mcr_param table[] = {
    {"components", MCR_INT, offsetof(params, components), "2", 1, INFINITY, 0, NULL,
     "how many, those of the largest variance"},
    {"tol", MCR_REAL, offsetof(params, tol), "1e-10", 0, 1, MCR_MIN_OPEN | MCR_MAX_OPEN, NULL,
     "largest eigen-residual, over the largest eigenvalue"},
    {"time-limit", MCR_REAL, offsetof(params, time_limit), NULL, 0, INFINITY, MCR_MIN_OPEN, NULL,
     "seconds after which the best model so far is kept"},
    {"max-steps", MCR_INT, offsetof(params, max_steps), NULL, 1, INFINITY, 0, NULL,
     "steps after which the best model so far is kept"},
    {0},
};

typedef struct pca {
    mcr_centred c;
    int64_t count;          /* components wanted, then found */
    double *value, *vector; /* variances; count x n: eigenvectors, then coefficients */
    double *offset;
    size_t budget;
} pca;

/* ---- after the eigenvectors --------------------------------------------------------------------*/

/* Coefficients of the components whose variance is not rounding. */
static void expand(pca *p)
{
    int64_t n = p->c.n, found = 0;
    while (found < p->count && p->value[found] > 10 * (double)n * DBL_EPSILON * p->value[0])
        found++;
    p->count = found;
    for (int64_t c = 0; c < found; c++) {
        double *a = p->vector + c * n;
        mcr_centred_choose_sign(a, n);
        for (int64_t i = 0; i < n; i++)
            a[i] /= sqrt(p->value[c]);
        p->offset[c] = mcr_centred_expand(&p->c, a);
    }
}

/* The mean's coefficients of the basis, for pre-images; variances, for the report. */
static mcr_status keep_numbers(mcr_fitted *f, const pca *p)
{
    double *share = mcr_alloc(f->ctx, (size_t)f->basis, sizeof *share);
    mcr_status s = share ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t i = 0; i < f->basis && !s; i++)
        share[i] = p->c.root[f->object[i]] * p->c.root[f->object[i]];
    if (!s)
        s = mcr_fitted_keep(f, MCR_EXTRA_MEAN, share, f->basis);
    if (!s)
        s = mcr_fitted_keep(f, MCR_EXTRA_VARIANCE, p->value, p->count);
    if (!s)
        s = mcr_fitted_keep(f, MCR_EXTRA_TOTAL, &p->c.total, 1);
    mcr_free(f->ctx, share);
    return s;
}

static mcr_status finish(mcr_fitted **out, pca *p, const params *o,
                         const mcr_leading_result *result)
{
    expand(p);
    mcr_status s = mcr_centred_fitted(out, &p->c, p->count, p->vector, p->offset);
    if (s)
        return s;
    mcr_fitted *f = *out;
    f->task = MCR_TRANSFORM;
    f->rule = MCR_RULE_COORDINATES;
    f->iterations = result->steps;
    f->objective = 0;
    for (int64_t c = 0; c < p->count; c++)
        f->objective += p->value[c];
    f->certificate = "eigen-residual";
    f->value = result->residual;
    f->tolerance = o->tol;
    f->stop = mcr_leading_outcome(result->stop);
    s = keep_numbers(f, p);
    if (!s && p->count < o->components)
        s = mcr_fitted_remark(f, "only %lld component%s a variance; %lld were asked for",
                              (long long)p->count, p->count == 1 ? " has" : "s have",
                              (long long)o->components);
    if (s) {
        mcr_fitted_free(f);
        *out = NULL;
    }
    return s;
}

/* ---- training ----------------------------------------------------------------------------------*/

static mcr_status take_room(pca *p)
{
    mcr *ctx = p->c.ctx;
    size_t n = (size_t)p->c.n, count = (size_t)p->count;
    /* By LAPACK in place of the matrix, else with products alone. */
    size_t bytes = sizeof(double) * n * count + (size_t)mcr_leading_bytes(p->c.n, p->count, true);
    mcr_status s = mcr_budget_take(ctx, bytes, "pca: eigenvectors");
    if (s)
        return s;
    p->budget = bytes;
    p->value = mcr_alloc(ctx, count, sizeof *p->value);
    p->offset = mcr_alloc(ctx, count, sizeof *p->offset);
    p->vector = mcr_alloc(ctx, count * n, sizeof *p->vector);
    return p->value && p->offset && p->vector ? MCR_OK : MCR_NO_MEMORY;
}

static mcr_status fit(mcr_fitted **out, const mcr_learning *in)
{
    *out = NULL;
    const params *o = in->params;
    double began = mcr_now();
    pca p = {0};
    mcr_leading_result result;
    int64_t n = mcr_data_count(in->data);
    p.count = o->components < n ? o->components : n;
    bool whole = mcr_leading_by_lapack(n, p.count);
    mcr_status s = whole ? mcr_centred_open(&p.c, "pca", in->kernel, in->data)
                         : mcr_centred_open_half(&p.c, "pca", in->kernel, in->data);
    if (!s)
        s = take_room(&p);
    mcr_leading problem = {
        .n = n,
        .count = p.count,
        .a = p.c.k.a,
        .lda = p.c.k.ld,
        .multiply = whole ? NULL : mcr_centred_multiply,
        .arg = &p.c,
        .tolerance = o->tol,
        .most_steps = o->max_steps == INT64_MIN ? 0 : o->max_steps,
        .deadline = isnan(o->time_limit) ? 0 : began + o->time_limit,
        .phase = "pca",
    };
    if (!s)
        s = mcr_leading_solve(in->ctx, &problem, p.value, p.vector, &result);
    if (!s)
        s = finish(out, &p, o, &result);
    mcr_budget_give(in->ctx, p.budget);
    mcr_free(in->ctx, p.value);
    mcr_free(in->ctx, p.offset);
    mcr_free(in->ctx, p.vector);
    mcr_centred_close(&p.c);
    return s;
}

const mcr_learner_type mcr_learner_pca = {
    .name = "pca",
    .summary = "principal components: coordinates along the directions of largest variance",
    .task = MCR_TRANSFORM,
    .params = table,
    .params_size = sizeof(params),
    .fit = fit,
    .weights_count = true,
    .dense = true,
    .no_start = true,
    .coordinates = true,
};
