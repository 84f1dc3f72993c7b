/* form.c: kernel values or features.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "learn/form.h"

#include <stdio.h>
#include <math.h>
#include <string.h>

#include "base/team.h"
#include "kernel/explicit.h"
#include "learn/plan.h"
#include "learn/restricted.h"

/* Kernel values are always used if they take less than this. */
#define SMALL_SECONDS 0.01

/* ---- choosing ---------------------------------------------------------------------------------*/

static void say(mcr_form *form, const mcr_plan *e, const char *ending)
{
    snprintf(form->why, sizeof form->why,
             "%.0f feature%s, %.3g of them non-zero per object; estimated %.2g s, with kernel "
             "values %.2g s%s",
             e->features, e->features == 1 ? "" : "s", e->each, e->seconds[true], e->seconds[false],
             ending);
}

/* Whether features pay; not if they cannot be computed for a few objects. */
static mcr_status prefers_features(mcr_form *form, const mcr_learning *in, const mcr_form_work *w,
                                   bool *prefers)
{
    mcr_plan e = {0};
    mcr_status s = mcr_plan_make(&e, in, w);
    *prefers = false;
    if (s)
        return s == MCR_STOPPED || s == MCR_NO_MEMORY ? s : MCR_OK;
    bool fits = e.bytes <= 0.5 * (double)mcr_budget_left(in->ctx);
    bool little = e.seconds[false] <= SMALL_SECONDS;
    *prefers = fits && (!e.fits[false] || (!little && e.seconds[true] < e.seconds[false]));
    say(form, &e,
        !fits            ? "; they do not fit the memory"
        : !e.fits[false] ? ", which do not fit the memory"
        : *prefers       ? ""
        : little         ? ", which is little"
                         : "");
    return MCR_OK;
}

static mcr_status check_count(const mcr_form *form, double columns)
{
    int64_t p = mcr_gram_width(form->gram);
    double bytes = mcr_plan_weight_bytes((double)p, columns);
    if (bytes <= (double)mcr_budget_left(form->ctx))
        return MCR_OK;
    return mcr_advise(form->ctx,
                      mcr_fail(form->ctx, MCR_OVER_BUDGET,
                               "%lld features need %.1f GB for weights, which is more than the "
                               "memory budget: set form=dual",
                               (long long)p, bytes / 1e9),
                      "option form=dual");
}

/* The budget that remains after a few matrices of the solver and a few numbers per object, in some
 * learners for each column. */
static size_t spare_bytes(const mcr_learning *in, const mcr_form_work *work, int64_t p)
{
    double each = work->kind < MCR_WORK_PCA ? 20 : 20 + 6 * work->columns;
    double spare = (double)mcr_budget_left(in->ctx) - 64e6 -
                   sizeof(double) *
                       (4.0 * (double)p * (double)p + each * (double)mcr_data_count(in->data));
    return spare > 0 ? (size_t)spare : 0;
}

/* Whether to keep kernel values as floats: for passes in float, and if a value is so much work that
 * reading it is much faster than computing it. */
static mcr_status keeps_values(const mcr_form *form, const mcr_learning *in,
                               const mcr_form_work *work, bool *keeps)
{
    enum { LEAST_WORK = 48 };
    mcr_gram *own = NULL;
    mcr_status s = mcr_gram_open(&own, in->ctx, in->kernel, form->map->landmark, NULL);
    *keeps = !s && (work->kind == MCR_WORK_RIDGE || work->kind == MCR_WORK_SMOOTH) &&
             mcr_gram_work(own) >= LEAST_WORK;
    mcr_gram_close(own);
    return s;
}

/* Why the approximation was chosen, if it was not asked for. */
static const char *why_chosen(const mcr_form *form)
{
    return !form->chosen                 ? ""
           : mcr_team_of_rows(form->ctx) ? " (chosen because rows are spread over processes)"
                                         : " (chosen for data of this size; approx=none is exact)";
}

/* Features that are never computed: products by passes over kernel values. */
static mcr_status make_restricted(mcr_form *form, const mcr_learning *in, const mcr_form_work *work)
{
    int64_t p = mcr_map_count(form->map);
    bool keeps = false;
    mcr_status s = keeps_values(form, in, work, &keeps);
    if (!s)
        s = mcr_gram_restricted(&form->gram, in->ctx, form->map, in->data,
                                keeps ? spare_bytes(in, work, p) : 0);
    if (s)
        return s;
    snprintf(form->why, sizeof form->why,
             "%lld landmarks by %s%s, kernel values %s; off by %.2g (root mean square of %lld "
             "pairs), at most %.2g, where K(x,x) is %.3g",
             (long long)p, form->map->approx == MCR_APPROX_FALKON ? "falkon" : "nystrom",
             why_chosen(form),
             mcr_gram_restricted_keeps(form->gram) ? "kept as floats" : "computed in each pass",
             form->error.rms, (long long)form->error.pairs, form->error.largest, form->error.scale);
    return MCR_OK;
}

/* Whether features that clustering uses repeatedly would be recomputed each time: that is many
 * times the work of passes over kernel values, which serve the same purpose. */
static bool takes_passes(const mcr_form *form, const mcr_learning *in, const mcr_form_work *work)
{
    double p = (double)mcr_map_count(form->map), n = (double)mcr_data_count(in->data);
    return form->map->approx == MCR_APPROX_NYSTROM && work->kind == MCR_WORK_KMEANS &&
           n * p * sizeof(double) > (double)spare_bytes(in, work, mcr_map_count(form->map));
}

/* Whether to keep features as doubles, if all of them fit: floats show in the eighth digit of
 * predictions. Floats suffice for the others, and are faster. */
static bool takes_doubles(const mcr_form_work *work)
{
    return work->kind <= MCR_WORK_PCA;
}

static mcr_status make_approximate(mcr_form *form, const mcr_learning *in,
                                   const mcr_form_options *o, const mcr_form_work *work)
{
    mcr_map_options how = {.size = sizeof how,
                           .approx = (mcr_approx)o->approx,
                           .rank = o->rank,
                           .landmarks = (mcr_landmarks)o->landmarks};
    form->features = true;
    mcr_status s = mcr_map_open(&form->map, in->ctx, in->kernel, in->data, &how);
    form->error = MCR_INIT(mcr_map_error);
    if (!s)
        s = mcr_map_measure(form->map, in->data, &form->error);
    if (s)
        return s;
    if (mcr_form_is_restricted(form) || takes_passes(form, in, work))
        return make_restricted(form, in, work);
    int64_t p = mcr_map_count(form->map);
    s = mcr_gram_mapped(&form->gram, in->ctx, form->map, in->data);
    if (s)
        return s;
    snprintf(form->why, sizeof form->why,
             "%lld features by %s; kernel values off by %.2g (root mean square of %lld pairs), at "
             "most %.2g, where K(x,x) is %.3g",
             (long long)p, how.approx == MCR_APPROX_RFF ? "random Fourier features" : "nystrom",
             form->error.rms, (long long)form->error.pairs, form->error.largest, form->error.scale);
    mcr_gram_factor_phase(form->gram, "features");
    s = mcr_gram_factor_keep(form->gram, spare_bytes(in, work, p), takes_doubles(work));
    mcr_gram_factor_phase(form->gram, NULL); /* solvers report their own progress */
    return s;
}

bool mcr_form_is_exact(const mcr_form_options *o, const mcr_learning *in)
{
    if (o->approx != MCR_APPROX_AUTO)
        return o->approx == MCR_APPROX_NONE;
    if (o->form != MCR_FORM_AUTO || in->gram || mcr_kernel_definite(in->kernel, NULL) != MCR_PSD)
        return true;
    if (mcr_team_of_rows(in->ctx) || mcr_data_on_disk(in->data))
        return false;
    return mcr_data_count(in->data) <= MCR_MANY_OBJECTS || mcr_kernel_has_features(in->kernel);
}

/* Fails if the requested approximation is not available. */
static mcr_status check_approx(const mcr_learning *in, const mcr_form_options *o)
{
    if (o->approx != MCR_APPROX_NONE && o->form == MCR_FORM_DUAL)
        return mcr_advise(in->ctx,
                          mcr_fail(in->ctx, MCR_BAD_CALL,
                                   "an approximate kernel needs features, and form=dual excludes "
                                   "them: omit one of the two"),
                          "option approx=none");
    if (mcr_team_of_rows(in->ctx) && o->approx != MCR_APPROX_FALKON &&
        o->approx != MCR_APPROX_NYSTROM)
        return mcr_advise(in->ctx,
                          mcr_fail(in->ctx, MCR_BAD_CALL,
                                   "%s: rows that are spread over several processes need an "
                                   "approximate kernel: approx=falkon or approx=nystrom",
                                   in->type->name),
                          "option approx=falkon");
    return MCR_OK;
}

mcr_status mcr_form_open(mcr_form *form, const mcr_learning *in, const mcr_form_options *options,
                         const mcr_form_work *work)
{
    mcr_form_options resolved = *options, *o = &resolved;
    *form = (mcr_form){.ctx = in->ctx, .chosen = options->approx == MCR_APPROX_AUTO};
    if (o->approx == MCR_APPROX_AUTO)
        o->approx = mcr_form_is_exact(options, in) ? MCR_APPROX_NONE : MCR_APPROX_FALKON;
    mcr_status s = check_approx(in, o);
    if (s || o->approx != MCR_APPROX_NONE)
        return s ? s : make_approximate(form, in, o, work);
    bool features = o->form == MCR_FORM_PRIMAL;
    if (o->form == MCR_FORM_AUTO && work->kind != MCR_WORK_VALUES && !in->gram &&
        mcr_kernel_has_features(in->kernel) && mcr_data_count(in->data) > 0)
        s = prefers_features(form, in, work, &features);
    if (s || !features)
        return s;
    form->features = true;
    s = mcr_gram_features(&form->gram, in->ctx, in->kernel, in->data);
    return s ? s : check_count(form, work->columns);
}

void mcr_form_close(mcr_form *form)
{
    if (!form->ctx)
        return;
    mcr_gram_close(form->gram);
    mcr_map_close(form->map);
    *form = (mcr_form){0};
}

mcr_status mcr_form_gram(mcr_form *form, const mcr_learning *in)
{
    return form->gram ? MCR_OK : mcr_learning_gram(&form->gram, in);
}

mcr_status mcr_form_near(mcr_gram **near, mcr_map **map, const mcr_learning *in, int64_t rank)
{
    mcr_map_options how = {.size = sizeof how, .approx = MCR_APPROX_FALKON, .rank = rank};
    mcr_status s = mcr_map_open(map, in->ctx, in->kernel, in->data, &how);
    if (!s)
        s = mcr_gram_mapped(near, in->ctx, *map, in->data);
    if (s)
        return s;
    mcr_gram_factor_phase(*near, "landmarks");
    s = mcr_gram_factor_keep(*near, mcr_budget_left(in->ctx) / 2, false);
    mcr_gram_factor_phase(*near, NULL); /* solvers report their own progress */
    return s;
}

mcr_status mcr_form_refuse(mcr *ctx, const mcr_form_options *o, const char *learner,
                           const char *what)
{
    bool asked = o->approx != MCR_APPROX_NONE && o->approx != MCR_APPROX_AUTO;
    if (o->form != MCR_FORM_PRIMAL && !asked)
        return MCR_OK;
    mcr_status s = mcr_fail(ctx, MCR_BAD_CALL, "%s: %s works with kernel values only: omit %s",
                            learner, what, asked ? "the approximation" : "form=primal");
    return mcr_advise(ctx, s, asked ? "option approx=none" : "option form=dual");
}

/* ---- the result -------------------------------------------------------------------------------*/

static mcr_status add_landmarks(const mcr_map *m, mcr_fitted *f, const double *w, int64_t outputs)
{
    double *coef = mcr_alloc(f->ctx, (size_t)m->landmarks, (size_t)outputs * sizeof *coef);
    mcr_status s = coef ? mcr_map_coefficients(m, w, outputs, coef) : MCR_NO_MEMORY;
    if (!s)
        s = mcr_fitted_add_table(f, m->object, m->landmarks, coef);
    mcr_free(f->ctx, coef);
    return s;
}

mcr_status mcr_form_weights(double **w, const mcr_form *form, const double *a, int64_t outputs)
{
    mcr_gram *g = form->gram;
    *w = mcr_alloc(form->ctx, (size_t)mcr_gram_width(g), (size_t)outputs * sizeof **w);
    return *w ? mcr_gram_project(g, mcr_gram_all(g), a, outputs, *w) : MCR_NO_MEMORY;
}

mcr_status mcr_form_add(const mcr_form *form, mcr_fitted *f, const double *w, int64_t outputs)
{
    const mcr_map *m = form->map;
    if (m->approx != MCR_APPROX_RFF)
        return add_landmarks(m, f, w, outputs);
    double made[] = {(double)m->count, (double)(m->seed & 0xffffffffu), (double)(m->seed >> 32)};
    mcr_status s = mcr_fitted_add(f, NULL, 0, NULL, 0, NULL);
    if (!s)
        s = mcr_fitted_keep(f, MCR_EXTRA_FOURIER, made, 3);
    return s ? s : mcr_fitted_keep(f, MCR_EXTRA_WEIGHTS, w, m->count * outputs);
}

mcr_status mcr_form_goal(mcr_fitted **out, const mcr_form *form, const mcr_goal *g, const double *w)
{
    mcr_fitted *f = NULL;
    mcr_status s = mcr_goal_new(&f, g);
    if (!s)
        s = mcr_form_add(form, f, w, g->outputs);
    return mcr_fitted_give(out, f, s);
}

mcr_status mcr_form_fitted(mcr_fitted **out, const mcr_form *form, const mcr_goal *g,
                           const mcr_data *data, const double *a, const mcr_form_objective *of,
                           double *apart)
{
    double *w = NULL;
    *apart = 0;
    if (!form->map)
        return mcr_goal_fitted(out, g, a);
    mcr_status s = mcr_form_weights(&w, form, a, g->outputs);
    if (!s)
        s = mcr_form_apart(form, data, (mcr_rows){NULL, 0, g->n}, w, of, apart, NULL);
    if (!s)
        s = mcr_form_goal(out, form, g, w);
    mcr_free(g->ctx, w);
    return s;
}

/* What the stored function changes in the objective, and in a certificate relative to it. */
static mcr_status add_apart(const mcr_form *form, const mcr_data *data, const double *a,
                            const double *w, mcr_fitted *f)
{
    double apart = 0;
    mcr_status s = mcr_form_apart_fitted(form, data, a, w, f, &apart);
    f->objective_error += apart;
    if (f->certificate && strcmp(f->certificate, "relative gap") == 0)
        f->value_error += f->primal != 0 ? apart / fabs(f->primal) : apart;
    return s;
}

mcr_status mcr_form_rebase(const mcr_form *form, const mcr_data *data, mcr_fitted *f)
{
    int64_t n = mcr_gram_rows(form->gram), k = f->outputs;
    double *w = NULL, *a = mcr_alloc_zero(f->ctx, (size_t)n, (size_t)k * sizeof *a);
    mcr_status s = a ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t g = 0; g < f->segments && !s; g++) {
        const mcr_segment *t = &f->segment[g];
        for (int64_t o = 0; o < t->outputs; o++)
            for (int64_t i = 0; i < t->count; i++)
                a[f->object[t->first + i] * k + t->output[o]] += t->coef[o * t->count + i];
    }
    if (!s)
        s = mcr_form_weights(&w, form, a, k);
    if (!s && f->loss_slope)
        s = add_apart(form, data, a, w, f);
    if (!s) {
        mcr_fitted_clear(f);
        s = mcr_form_add(form, f, w, k);
    }
    mcr_free_all(f->ctx, a, w);
    return s;
}

mcr_status mcr_form_report(const mcr_form *form, mcr_fitted *f)
{
    const mcr_map_error *e = &form->error;
    double facts[] = {form->map ? (double)form->map->approx : 0,
                      form->features ? (double)mcr_gram_width(form->gram) : 0,
                      e->mean,
                      e->rms,
                      e->largest,
                      e->scale};
    mcr_free(f->ctx, f->why);
    f->why = form->why[0] ? mcr_copy_text(f->ctx, form->why, strlen(form->why)) : NULL;
    if (form->why[0] && !f->why)
        return MCR_NO_MEMORY;
    return form->features ? mcr_fitted_keep(f, MCR_EXTRA_FORM, facts, 6) : MCR_OK;
}
