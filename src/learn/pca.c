/* pca.c: principal components in feature space (Schoelkopf, Smola and Mueller, 1998).
 *
 * A unit vector u with A u = s u, A the centred Gram (gram/centred.h), gives the component with
 * a = u / sqrt(s): its length is 1, and the variance along it is s. Of an approximate map the
 * component is v = X'u / sqrt(s), the weights of its features.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <float.h>
#include <math.h>
#include <stddef.h>

#include "base/team.h"
#include "learn/directions.h"
#include "learn/goal.h"
#include "solve/leading.h"

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
    MCR_TIME_LIMIT_PARAM(params, "seconds after which the best model so far is kept"),
    MCR_MAX_STEPS_PARAM(params, "steps after which the best model so far is kept"),
    {0},
};

typedef struct pca {
    mcr *ctx;
    const params *o;
    double began;
    mcr_directions d;
    int64_t all;            /* objects, of all processes */
    int64_t count;          /* components wanted, then found */
    double *value, *vector; /* variances; count x n: eigenvectors of A, then coefficients */
    double *offset, *sign;
    double *w; /* features x count, of an approximate map: the components */
    mcr_leading_result result;
    size_t budget;
} pca;

/* wide: weights of the features that are wanted as well. */
static mcr_status take_buffers(pca *p, int64_t wide)
{
    size_t n = (size_t)p->d.n, count = (size_t)p->count;
    double bytes = sizeof(double) * (double)(n + (size_t)wide) * (double)count +
                   mcr_leading_gram_bytes(p->d.gram, p->count);
    if (bytes > 1e18)
        bytes = 1e18;
    mcr_status s = mcr_budget_take(p->ctx, (size_t)bytes, "pca: eigenvectors");
    if (s)
        return s;
    p->budget = (size_t)bytes;
    bool ok = mcr_alloc_doubles(p->ctx, count, &p->value, &p->offset, &p->sign) &&
              mcr_alloc_doubles(p->ctx, (uint64_t)count * n, &p->vector) &&
              mcr_alloc_doubles(p->ctx, count * (uint64_t)wide, &p->w);
    return ok ? MCR_OK : MCR_NO_MEMORY;
}

/* ---- after the eigenvectors -------------------------------------------------------------------*/

/* The sign that the coordinates of all processes' objects have. */
static mcr_status share_sign(pca *p, int64_t c)
{
    double most[2] = {0};
    for (int64_t i = 0; i < p->d.n; i++) {
        double u = p->vector[c * p->d.n + i];
        most[u < 0] = fmax(most[u < 0], fabs(u));
    }
    mcr_status s = mcr_team_largest(p->ctx, most, 2);
    double sign = most[1] > most[0] * (1 + 1e-9) ? -1 : 1;
    for (int64_t i = 0; i < p->d.n && sign != p->sign[c]; i++)
        p->vector[c * p->d.n + i] *= -1;
    p->sign[c] = sign;
    return s;
}

/* Those whose variance is not rounding, with a sign that either form finds. */
static mcr_status choose(pca *p)
{
    int64_t n = p->d.n, found = 0;
    mcr_status s = MCR_OK;
    while (found < p->count && p->value[found] > 10 * (double)p->all * DBL_EPSILON * p->value[0])
        found++;
    p->count = found;
    for (int64_t c = 0; c < found && !s; c++) {
        p->sign[c] = 1;
        if (mcr_team_of_rows(p->ctx))
            s = share_sign(p, c);
        else
            p->sign[c] = mcr_leading_choose_sign(p->vector + c * n, n);
    }
    return s;
}

static mcr_status make_fitted(mcr_fitted **out, pca *p)
{
    int64_t n = p->d.n;
    for (int64_t c = 0; c < p->count; c++) {
        double *a = p->vector + c * n;
        for (int64_t i = 0; i < n; i++)
            a[i] /= sqrt(p->value[c]);
        p->offset[c] = mcr_directions_expand(&p->d, a);
    }
    return mcr_directions_fitted(out, &p->d, p->count, p->vector, p->offset);
}

/* The mean's coefficients of the basis, for pre-images. */
static mcr_status keep_mean(mcr_fitted *f, const pca *p)
{
    double *share = mcr_alloc(f->ctx, (size_t)f->basis, sizeof *share);
    mcr_status s = share ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t i = 0; i < f->basis && !s; i++)
        share[i] = p->d.c->root[f->object[i]] * p->d.c->root[f->object[i]];
    if (!s)
        s = mcr_fitted_keep(f, MCR_EXTRA_MEAN, share, f->basis);
    mcr_free(f->ctx, share);
    return s;
}

static mcr_status complete(mcr_fitted *f, const pca *p, const char *certificate,
                           const mcr_learning *in)
{
    double blur = 0;
    mcr_status s = mcr_directions_error(&p->d, in, &blur);
    if (s)
        return s;
    f->task = MCR_TRANSFORM;
    f->rule = MCR_RULE_COORDINATES;
    f->iterations = p->result.steps;
    f->objective = 0;
    for (int64_t c = 0; c < p->count; c++)
        f->objective += p->value[c];
    f->certificate = certificate;
    f->value = p->result.residual;
    f->as_computed = p->d.own != NULL;
    f->value_error = blur / p->value[0];
    f->objective_error = (double)p->count * blur;
    f->tolerance = p->o->tol;
    f->stop = p->result.stop;
    s = mcr_fitted_keep(f, MCR_EXTRA_VARIANCE, p->value, p->count);
    if (!s)
        s = mcr_fitted_keep(f, MCR_EXTRA_TOTAL, &p->d.c->total, 1);
    if (!s && p->count < p->o->components)
        s = mcr_fitted_remark(f, "only %lld component%s a variance; %lld were requested",
                              (long long)p->count, p->count == 1 ? " has" : "s have",
                              (long long)p->o->components);
    return s;
}

/* The components of an approximate map: weights (features x wanted) of its features. */
static mcr_status make_near(mcr_fitted **out, const pca *p, const mcr_form *form, int64_t wanted)
{
    const mcr_map *m = form->map;
    for (int64_t j = 0; j < mcr_gram_width(form->gram); j++) /* those that were found */
        for (int64_t c = 0; c < p->count; c++)
            p->w[j * p->count + c] = p->sign[c] * p->w[j * wanted + c];
    mcr_status s = mcr_directions_mapped(out, &p->d, form, p->w, p->count);
    if (s || m->approx == MCR_APPROX_RFF)
        return s;
    mcr_fitted *f = *out;
    double *mean = mcr_alloc(p->ctx, (size_t)m->landmarks, sizeof *mean);
    s = mean ? mcr_map_coefficients(m, p->d.c->features, 1, mean) : MCR_NO_MEMORY;
    if (!s) {
        int64_t to = 0;
        for (int64_t i = 0; i < m->landmarks && to < f->basis; i++)
            if (m->object[i] == f->object[to])
                mean[to++] = mean[i];
        s = mcr_fitted_keep(f, MCR_EXTRA_MEAN, mean, f->basis);
    }
    mcr_free(p->ctx, mean);
    return s;
}

static mcr_status run(mcr_fitted **out, pca *p, const mcr_learning *in, const mcr_form *form)
{
    const params *o = p->o;
    int64_t n = mcr_data_count(in->data), wide = form->features ? mcr_gram_width(form->gram) : n;
    int64_t size = wide < p->all ? wide : p->all,
            wanted = o->components < size ? o->components : size;
    bool half = !form->features && !mcr_leading_by_lapack(n, wanted);
    mcr_leading problem = {
        .count = wanted,
        .tolerance = o->tol,
        .most_steps = o->max_steps == INT64_MIN ? 0 : o->max_steps,
        .deadline = isnan(o->time_limit) ? 0 : p->began + o->time_limit,
        .phase = "pca",
    };
    p->count = wanted;
    mcr_status s = mcr_directions_open(&p->d, "pca", in, form, half);
    if (!s && (half || form->features)) /* else it comes out of the matrix */
        s = mcr_directions_centre(&p->d);
    if (!s)
        s = take_buffers(p, form->map ? wide : 0);
    if (!s)
        s = mcr_leading_gram(p->d.gram, &problem, p->value, p->vector, form->map ? p->w : NULL,
                             &p->result);
    if (!s)
        s = mcr_directions_centre(&p->d);
    if (!s)
        s = choose(p);
    if (!s)
        s = form->map ? make_near(out, p, form, wanted) : make_fitted(out, p);
    if (!s)
        s = complete(*out, p,
                     form->map ? "eigen-residual of the approximate problem" : "eigen-residual",
                     in);
    return s || form->map ? s : keep_mean(*out, p);
}

static mcr_status fit(mcr_fitted **out, const mcr_learning *in)
{
    const params *o = in->params;
    pca p = {.ctx = in->ctx, .o = o, .began = mcr_now()};
    mcr_form form = {0};
    int64_t first;
    p.all = mcr_data_count(in->data);
    mcr_status s = mcr_team_of_rows(in->ctx) ? mcr_team_place(in->ctx, p.all, &first, &p.all)
                                             : MCR_OK;
    int64_t most = o->components < p.all ? o->components : p.all;
    mcr_form_work work = {MCR_WORK_PCA, 1, (double)p.all, (double)most};
    if (!s)
        s = mcr_form_open(&form, in, &o->form, &work);
    if (!s)
        s = run(out, &p, in, &form);
    if (!s)
        s = mcr_form_report(&form, *out);
    mcr_budget_give(in->ctx, p.budget);
    mcr_free_all(in->ctx, p.value, p.offset, p.sign, p.vector, p.w);
    mcr_directions_close(&p.d);
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
    .no_checkpoint = "its training is one decomposition, whose state cannot be stored",
    .no_folds = "no metric compares its coordinates",
    .weights_count = true,
    .dense = true,
    .no_start = true,
    .coordinates = true,
    .spreads = true,
};
