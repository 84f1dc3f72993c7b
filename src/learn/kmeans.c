/* kmeans.c: k-means in feature space (solve/cluster.h).
 *
 * The centre of cluster c is sum w_i Phi(x_i) / W_c over its objects. An object is nearest to the
 * centre with the largest f_c(x) = sum (w_i / W_c) K(x_i, x) - |c|^2 / 2, which is the model: a
 * segment of the basis for each cluster. From an approximate map the model is the centres
 * themselves.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stddef.h>

#include "learn/form.h"
#include "learn/svm_problem.h"
#include "solve/cluster.h"

typedef struct params {
    int64_t clusters, restarts, max_steps;
    double tol, time_limit;
    mcr_form_options form;
} params;

static const mcr_param table[] = {
    {"clusters", MCR_INT, offsetof(params, clusters), "8", 1, 1000000, 0, NULL,
     "how many clusters"},
    {"restarts", MCR_INT, offsetof(params, restarts), "10", 1, 1000000, 0, NULL,
     "random starts; the best result is kept"},
    {"tol", MCR_REAL, offsetof(params, tol), "1e-06", 0, INFINITY, MCR_MIN_OPEN, NULL,
     "largest gain of moving one object, as a share of the objective"},
    MCR_APPROX_PARAMS(params),
    MCR_TIME_LIMIT_PARAM(params, "seconds after which the best model so far is kept"),
    MCR_MAX_STEPS_PARAM(params, "largest number of sweeps over the objects per start"),
    {0},
};

static mcr_status need_objects(const mcr_learning *in, double *weight)
{
    const params *o = in->params;
    int64_t n = mcr_data_count(in->data), count = 0;
    if (n == 0)
        return mcr_fail(in->ctx, MCR_BAD_DATA, "kmeans: there are no objects");
    mcr_status s = mcr_svm_weights(in->ctx, "kmeans", in->data, NULL, weight);
    for (int64_t i = 0; i < n && !s; i++)
        count += weight[i] > 0;
    if (!s && count < o->clusters)
        s = mcr_fail(in->ctx, MCR_BAD_DATA,
                     "kmeans: %lld clusters, but only %lld object%s%s: use fewer clusters",
                     (long long)o->clusters, (long long)count, count == 1 ? "" : "s",
                     count < n ? " with a weight" : "");
    return s;
}

/* The clusters of a model to start from; NULL with MCR_OK: there are none of use. Each must have an
 * object with a weight, or it would have no centre. */
static mcr_status read_start(int32_t **out, const mcr_learning *in, const double *weight)
{
    const params *o = in->params;
    const mcr_fitted *from = in->start;
    int64_t n = mcr_data_count(in->data), filled = 0;
    *out = NULL;
    if (!from || from->task != MCR_CLUSTER || from->outputs != o->clusters)
        return MCR_OK;
    int32_t *of = mcr_alloc_zero(in->ctx, (size_t)n, sizeof *of);
    unsigned char *seen = mcr_alloc_zero(in->ctx, (size_t)o->clusters, 1);
    for (int64_t t = 0; t < from->segments && of && seen; t++)
        for (int64_t i = 0; i < from->segment[t].count && from->segment[t].outputs == 1; i++) {
            int64_t at = from->object[from->segment[t].first + i];
            if (at >= 0 && at < n)
                of[at] = from->segment[t].output[0];
        }
    for (int64_t i = 0; i < n && of && seen; i++)
        if (weight[i] > 0 && !seen[of[i]]) {
            seen[of[i]] = 1;
            filled++;
        }
    mcr_status s = of && seen ? MCR_OK : MCR_NO_MEMORY;
    mcr_free(in->ctx, seen);
    if (!s && filled == o->clusters)
        *out = of;
    else
        mcr_free(in->ctx, of);
    return s;
}

/* The members of each cluster as a segment. */
static mcr_status add_clusters(mcr_fitted *f, const mcr_clusters *found, const double *weight,
                               int64_t n)
{
    int64_t *object = mcr_alloc(f->ctx, (size_t)n, sizeof *object);
    double *coef = mcr_alloc(f->ctx, (size_t)n, sizeof *coef);
    mcr_status s = object && coef ? MCR_OK : MCR_NO_MEMORY;
    for (int32_t c = 0; c < f->outputs && !s; c++) {
        int64_t count = 0;
        for (int64_t i = 0; i < n; i++)
            if (found->of[i] == c) {
                object[count] = i;
                coef[count++] = weight[i] / found->weight[c];
            }
        s = mcr_fitted_add(f, object, count, &c, 1, coef);
        f->offset[c] = -found->square[c] / 2;
    }
    mcr_free_all(f->ctx, object, coef);
    return s;
}

static mcr_status remark(mcr_fitted *f, const mcr_clusters *found, const mcr_learning *in)
{
    const params *o = in->params;
    int64_t smallest = INT64_MAX, largest = 0;
    for (int64_t c = 0; c < f->outputs; c++) {
        smallest = found->count[c] < smallest ? found->count[c] : smallest;
        largest = found->count[c] > largest ? found->count[c] : largest;
    }
    mcr_status s = mcr_fitted_remark(
        f, "%lld cluster%s of %lld to %lld objects, the best of %lld start%s",
        (long long)f->outputs, f->outputs == 1 ? "" : "s", (long long)smallest, (long long)largest,
        (long long)(found->starts > 0 ? found->starts : 1), found->starts > 1 ? "s" : "");
    if (!s && found->starts < o->restarts)
        s = mcr_fitted_remark(f, "%lld more had been asked for",
                              (long long)(o->restarts - found->starts));
    if (!s && mcr_kernel_definite(in->kernel, NULL) != MCR_PSD)
        s = mcr_fitted_remark(f, "the kernel is not known to be positive semidefinite: squared "
                                 "distances may be negative");
    return s;
}

static mcr_status add_centres(mcr_fitted *f, const mcr_clusters *found, const mcr_form *form)
{
    mcr_status s = mcr_form_add(form, f, found->centre, f->outputs);
    for (int64_t c = 0; c < f->outputs && !s; c++)
        f->offset[c] = -found->square[c] / 2;
    return s;
}

static mcr_status finish(mcr_fitted **out, const mcr_clusters *found, const double *weight,
                         const mcr_learning *in, const mcr_form *form)
{
    const params *o = in->params;
    mcr_fitted *f = NULL;
    mcr_status s = mcr_fitted_new(&f, in->ctx, o->clusters);
    if (s)
        return s;
    f->task = MCR_CLUSTER;
    f->rule = MCR_RULE_LARGEST;
    f->objective = found->objective;
    f->certificate = form->map ? "gain of a move in the approximate problem" : "gain of a move";
    f->value = found->gain;
    f->tolerance = o->tol;
    f->iterations = found->steps;
    f->stop = found->stop;
    if (f->stop == MCR_STOP_OPTIMAL && !(f->value <= f->tolerance))
        f->stop = MCR_STOP_STUCK;
    /* No single move gains anything: other clusters may be better still, unless there is only
     * one. */
    if (f->stop == MCR_STOP_OPTIMAL && o->clusters > 1)
        f->stop = MCR_STOP_LOCAL;
    s = form->map ? add_centres(f, found, form)
                  : add_clusters(f, found, weight, mcr_data_count(in->data));
    if (!s)
        s = remark(f, found, in);
    if (!s)
        s = mcr_form_report(form, f);
    return mcr_fitted_give(out, f, s);
}

static mcr_form_work work_of(const mcr_learning *in)
{
    const params *o = in->params;
    return (mcr_form_work){MCR_WORK_KMEANS, (double)o->restarts, (double)mcr_data_count(in->data),
                           (double)o->clusters};
}

static mcr_status run(mcr_fitted **out, const mcr_learning *in, mcr_form *form,
                      const mcr_cluster_problem *problem)
{
    mcr_clusters found = {0};
    mcr_status s = mcr_form_gram(form, in);
    if (!s)
        s = mcr_cluster(&found, form->gram, problem);
    if (!s)
        s = finish(out, &found, problem->weight, in, form);
    if (!s && !form->features)
        s = mcr_fitted_remark_zero(*out, form->gram);
    mcr_clusters_close(in->ctx, &found);
    return s;
}

static mcr_status fit(mcr_fitted **out, const mcr_learning *in)
{
    const params *o = in->params;
    mcr_form form = {0};
    double *weight = mcr_alloc(in->ctx, (size_t)mcr_data_count(in->data), sizeof *weight);
    mcr_cluster_problem problem = {
        .clusters = o->clusters,
        .starts = o->restarts,
        .weight = weight,
        .tolerance = o->tol,
        .most_steps = o->max_steps == INT64_MIN ? 0 : o->max_steps,
        .seconds = isnan(o->time_limit) ? 0 : o->time_limit,
        .phase = "kmeans",
    };
    int32_t *begin = NULL;
    mcr_form_work work = work_of(in);
    mcr_status s = weight ? need_objects(in, weight) : MCR_NO_MEMORY;
    if (!s)
        s = read_start(&begin, in, weight);
    problem.begin = begin;
    if (!s)
        s = mcr_form_open(&form, in, &o->form, &work);
    if (!s)
        s = run(out, in, &form, &problem);
    mcr_form_close(&form);
    mcr_free_all(in->ctx, begin, weight);
    return s;
}

const mcr_learner_type mcr_learner_kmeans = {
    .name = "kmeans",
    .summary = "k-means: clusters around centres in feature space",
    .task = MCR_CLUSTER,
    .params = table,
    .params_size = sizeof(params),
    .fit = fit,
};
