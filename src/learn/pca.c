/* pca.c: principal components in feature space (Schoelkopf, Smola and Mueller, 1998).
 *
 * A unit vector u with A u = s u, A the matrix of centred.h, gives the component with a = u /
 * sqrt(s): its length is 1, and the variance along it is s.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <float.h>
#include <math.h>
#include <stddef.h>

#include "learn/covariance.h"
#include "learn/goal.h"

typedef struct params {
    int64_t components, max_steps;
    double tol, time_limit;
    mcr_form_options form;
} params;

static const mcr_param table[] = {
    {"components", MCR_INT, offsetof(params, components), "2", 1, INFINITY, 0, NULL,
     "number of components, in order of variance"},
    {"tol", MCR_REAL, offsetof(params, tol), "1e-10", 0, 1, MCR_MIN_OPEN | MCR_MAX_OPEN, NULL,
     "largest eigen-residual, over the largest eigenvalue"},
    MCR_APPROX_PARAMS(params),
    {"time-limit", MCR_REAL, offsetof(params, time_limit), NULL, 0, INFINITY, MCR_MIN_OPEN, NULL,
     "seconds after which the best model so far is kept"},
    {"max-steps", MCR_INT, offsetof(params, max_steps), NULL, 1, INFINITY, 0, NULL,
     "steps after which the best model so far is kept"},
    {0},
};

typedef struct pca {
    mcr *ctx;
    const params *o;
    double began;
    mcr_centred *c;
    int64_t count;          /* components wanted, then found */
    double *value, *vector; /* variances; count x n: eigenvectors of A, then coefficients */
    double *offset, *sign;
    mcr_leading_result result;
    size_t budget;
} pca;

/* space: numbers beside what is kept of the components, and that of mcr_leading. */
static mcr_status take_buffers(pca *p, double buffer)
{
    size_t n = (size_t)p->c->n, count = (size_t)p->count;
    double bytes = sizeof(double) * ((double)n * (double)count + buffer);
    if (bytes > 1e18)
        bytes = 1e18;
    mcr_status s = mcr_budget_take(p->ctx, (size_t)bytes, "pca: eigenvectors");
    if (s)
        return s;
    p->budget = (size_t)bytes;
    p->value = mcr_alloc(p->ctx, count, sizeof *p->value);
    p->offset = mcr_alloc(p->ctx, count, sizeof *p->offset);
    p->sign = mcr_alloc(p->ctx, count, sizeof *p->sign);
    p->vector = mcr_alloc(p->ctx, count * n, sizeof *p->vector);
    return p->value && p->offset && p->sign && p->vector ? MCR_OK : MCR_NO_MEMORY;
}

static mcr_leading problem_of(const pca *p, int64_t size)
{
    const params *o = p->o;
    return (mcr_leading){
        .n = size,
        .count = p->count,
        .tolerance = o->tol,
        .most_steps = o->max_steps == INT64_MIN ? 0 : o->max_steps,
        .deadline = isnan(o->time_limit) ? 0 : p->began + o->time_limit,
        .phase = "pca",
    };
}

/* ---- after the eigenvectors -------------------------------------------------------------------*/

/* Those whose variance is not rounding, with a sign that either form finds. */
static void choose(pca *p)
{
    int64_t n = p->c->n, found = 0;
    while (found < p->count && p->value[found] > 10 * (double)n * DBL_EPSILON * p->value[0])
        found++;
    p->count = found;
    for (int64_t c = 0; c < found; c++)
        p->sign[c] = mcr_centred_choose_sign(p->vector + c * n, n);
}

static mcr_status make_fitted(mcr_fitted **out, pca *p)
{
    int64_t n = p->c->n;
    for (int64_t c = 0; c < p->count; c++) {
        double *a = p->vector + c * n;
        for (int64_t i = 0; i < n; i++)
            a[i] /= sqrt(p->value[c]);
        p->offset[c] = mcr_centred_expand(p->c, a);
    }
    return mcr_centred_fitted(out, p->c, p->count, p->vector, p->offset);
}

/* The mean's coefficients of the basis, for pre-images. */
static mcr_status keep_mean(mcr_fitted *f, const pca *p)
{
    double *share = mcr_alloc(f->ctx, (size_t)f->basis, sizeof *share);
    mcr_status s = share ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t i = 0; i < f->basis && !s; i++)
        share[i] = p->c->root[f->object[i]] * p->c->root[f->object[i]];
    if (!s)
        s = mcr_fitted_keep(f, MCR_EXTRA_MEAN, share, f->basis);
    mcr_free(f->ctx, share);
    return s;
}

static mcr_status complete(mcr_fitted *f, const pca *p, const char *certificate)
{
    f->task = MCR_TRANSFORM;
    f->rule = MCR_RULE_COORDINATES;
    f->iterations = p->result.steps;
    f->objective = 0;
    for (int64_t c = 0; c < p->count; c++)
        f->objective += p->value[c];
    f->certificate = certificate;
    f->value = p->result.residual;
    f->tolerance = p->o->tol;
    f->stop = p->result.stop;
    mcr_status s = mcr_fitted_keep(f, MCR_EXTRA_VARIANCE, p->value, p->count);
    if (!s)
        s = mcr_fitted_keep(f, MCR_EXTRA_TOTAL, &p->c->total, 1);
    if (!s && p->count < p->o->components)
        s = mcr_fitted_remark(f, "only %lld component%s a variance; %lld were asked for",
                              (long long)p->count, p->count == 1 ? " has" : "s have",
                              (long long)p->o->components);
    return s;
}

static const char certificate[] = "eigen-residual";

/* ---- from kernel values -----------------------------------------------------------------------*/

static mcr_status run_kernel(mcr_fitted **out, pca *p, const mcr_learning *in)
{
    mcr_centred c = {0};
    int64_t n = mcr_data_count(in->data);
    p->c = &c;
    p->count = p->o->components < n ? p->o->components : n;
    bool whole = mcr_leading_by_lapack(n, p->count);
    mcr_status s = whole ? mcr_centred_open(&c, "pca", in) : mcr_centred_open_half(&c, "pca", in);
    if (!s) /* by LAPACK in place of the matrix, else with products alone */
        s = take_buffers(p, mcr_leading_bytes(n, p->count, true) / sizeof(double));
    mcr_leading problem = problem_of(p, n);
    problem.a = c.k.a;
    problem.lda = c.k.ld;
    problem.multiply = whole ? NULL : mcr_centred_multiply;
    problem.arg = &c;
    if (!s)
        s = mcr_leading_solve(in->ctx, &problem, p->value, p->vector, &p->result);
    if (!s) {
        choose(p);
        s = make_fitted(out, p);
    }
    if (!s)
        s = complete(*out, p, certificate);
    if (!s)
        s = keep_mean(*out, p);
    mcr_centred_close(&c);
    return s;
}

/* ---- from features -----------------------------------------------------------------------------
 *
 * A unit vector v with C v = s v is the component itself, and u = X v / sqrt(s). If there are more
 * features than objects, u comes first, and v = X'u / sqrt(s). */

/* v: p x count, of the eigenvectors of C (count x p); and u of them. */
static mcr_status find_u(pca *p, const mcr_covariance *x, const double *own, double *v)
{
    int64_t n = x->c.n, wide = x->p, k = p->count;
    double *y = mcr_alloc(p->ctx, (size_t)n, (size_t)k * sizeof *y);
    for (int64_t c = 0; c < k; c++)
        for (int64_t j = 0; j < wide; j++)
            v[j * k + c] = own[c * wide + j];
    mcr_status s = y ? mcr_covariance_multiply(x, v, k, y) : MCR_NO_MEMORY;
    for (int64_t c = 0; c < k && !s; c++)
        for (int64_t i = 0; i < n; i++)
            p->vector[c * n + i] = p->value[c] > 0 ? y[i * k + c] / sqrt(p->value[c]) : 0;
    mcr_free(p->ctx, y);
    return s;
}

/* v of the eigenvectors of A, which are in p->vector. */
static mcr_status find_v(const pca *p, const mcr_covariance *x, double *v)
{
    int64_t n = x->c.n, k = p->count;
    double *y = mcr_alloc(p->ctx, (size_t)n, (size_t)k * sizeof *y);
    mcr_status s = y ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t c = 0; c < k && !s; c++)
        for (int64_t i = 0; i < n; i++)
            y[i * k + c] = p->value[c] > 0 ? p->vector[c * n + i] / sqrt(p->value[c]) : 0;
    if (!s)
        s = mcr_covariance_project(x, y, k, v);
    mcr_free(p->ctx, y);
    return s;
}

/* Fills p->vector with u, and v (p x count; NULL: not wanted). */
static mcr_status solve_features(pca *p, mcr_covariance *x, double *v, bool near)
{
    int64_t n = x->c.n, wide = x->p, size = wide <= n ? wide : n;
    bool direct = mcr_covariance_is_direct(x);
    mcr_square c = {0};
    mcr_status s = direct ? mcr_square_open(&c, p->ctx, wide, "pca: the covariance") : MCR_OK;
    if (!s && direct)
        s = mcr_covariance_matrix(x, c.a, c.ld);
    mcr_leading problem = problem_of(p, size);
    problem.a = c.a;
    problem.lda = c.ld;
    problem.multiply = direct ? NULL : size == n ? mcr_covariance_times_a : mcr_covariance_times_c;
    problem.arg = x;
    if (size == n && !direct) {
        s = s ? s : mcr_leading_solve(p->ctx, &problem, p->value, p->vector, &p->result);
        return s || !near ? s : find_v(p, x, v);
    }
    double *own = mcr_alloc(p->ctx, (size_t)p->count, (size_t)size * sizeof *own);
    if (!s && !own)
        s = MCR_NO_MEMORY;
    if (!s)
        s = mcr_leading_solve(p->ctx, &problem, p->value, own, &p->result);
    mcr_square_close(&c);
    if (!s)
        s = find_u(p, x, own, v);
    mcr_free(p->ctx, own);
    return s;
}

/* The components of an approximate map: weights v (p x wanted) of its features. */
static mcr_status make_near(mcr_fitted **out, const pca *p, const mcr_covariance *x,
                            const mcr_form *form, double *v, int64_t wanted)
{
    const mcr_map *m = form->map;
    for (int64_t j = 0; j < x->p; j++) /* those that were found */
        for (int64_t c = 0; c < p->count; c++)
            v[j * p->count + c] = p->sign[c] * v[j * wanted + c];
    mcr_status s = mcr_covariance_fitted(out, x, form, v, p->count);
    if (s || m->approx == MCR_APPROX_RFF)
        return s;
    mcr_fitted *f = *out;
    double *mean = mcr_alloc(p->ctx, (size_t)m->landmarks, sizeof *mean);
    s = mean ? MCR_OK : MCR_NO_MEMORY;
    if (!s) {
        mcr_map_coefficients(m, x->m, 1, mean);
        int64_t to = 0;
        for (int64_t i = 0; i < m->landmarks && to < f->basis; i++)
            if (m->object[i] == f->object[to])
                mean[to++] = mean[i];
        s = mcr_fitted_keep(f, MCR_EXTRA_MEAN, mean, f->basis);
    }
    mcr_free(p->ctx, mean);
    return s;
}

static mcr_status run_features(mcr_fitted **out, pca *p, const mcr_learning *in,
                               const mcr_form *form)
{
    mcr_covariance x = {0};
    int64_t n = mcr_gram_rows(form->gram), wide = mcr_gram_width(form->gram),
            size = wide < n ? wide : n;
    p->c = &x.c;
    p->count = p->o->components < size ? p->o->components : size;
    mcr_status s = mcr_covariance_open(&x, "pca", in, form->gram);
    if (!s)
        s = take_buffers(p, (double)p->count * (double)(n + 2 * wide) +
                                mcr_leading_bytes(size, p->count, mcr_covariance_is_direct(&x)) /
                                    sizeof(double));
    int64_t wanted = p->count;
    double *v = s ? NULL : mcr_alloc(p->ctx, (size_t)wide, (size_t)wanted * sizeof *v);
    if (!s)
        s = v ? solve_features(p, &x, v, form->map != NULL) : MCR_NO_MEMORY;
    if (!s) {
        choose(p);
        s = form->map ? make_near(out, p, &x, form, v, wanted) : make_fitted(out, p);
    }
    if (!s)
        s = complete(*out, p,
                     form->map ? "eigen-residual of the approximate problem" : certificate);
    if (!s && !form->map)
        s = keep_mean(*out, p);
    mcr_free(p->ctx, v);
    mcr_covariance_close(&x);
    return s;
}

static mcr_status fit(mcr_fitted **out, const mcr_learning *in)
{
    *out = NULL;
    const params *o = in->params;
    pca p = {.ctx = in->ctx, .o = o, .began = mcr_now()};
    mcr_form form = {0};
    int64_t n = mcr_data_count(in->data), most = o->components < n ? o->components : n;
    mcr_form_work work = {MCR_WORK_PCA, 1, (double)n, (double)most};
    mcr_status s = mcr_form_open(&form, in, &o->form, &work);
    if (!s)
        s = form.features ? run_features(out, &p, in, &form) : run_kernel(out, &p, in);
    if (!s)
        s = mcr_form_report(&form, *out);
    if (s) {
        mcr_fitted_free(*out);
        *out = NULL;
    }
    mcr_budget_give(in->ctx, p.budget);
    mcr_free(in->ctx, p.value);
    mcr_free(in->ctx, p.offset);
    mcr_free(in->ctx, p.sign);
    mcr_free(in->ctx, p.vector);
    mcr_form_close(&form);
    return s;
}

const mcr_learner_type mcr_learner_pca = {
    .name = "pca",
    .summary = "principal components: coordinates along the directions of largest variance",
    .task = MCR_TRANSFORM,
    .params = table,
    .params_size = sizeof(params),
    .fit = fit,
    .no_folds = "its coordinates are nothing that a metric compares",
    .weights_count = true,
    .dense = true,
    .no_start = true,
    .coordinates = true,
};
