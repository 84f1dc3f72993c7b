/* restricted.c: a smooth loss on the span of landmarks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "learn/restricted.h"

#include <math.h>

#include "base/team.h"
#include "solve/falkon.h"

bool mcr_form_is_restricted(const mcr_form *form)
{
    mcr_approx approx = form->map ? form->map->approx : MCR_APPROX_NONE;
    return approx == MCR_APPROX_FALKON ||
           (approx == MCR_APPROX_NYSTROM && mcr_team_of_rows(form->ctx));
}

/* Nystroem drops directions of the landmarks' span in which K is rounding: its optimum is that of
 * its features, not of the span. */
static bool has_whole_span(const mcr_form *form)
{
    return form->map->approx == MCR_APPROX_FALKON;
}

static mcr_status finish(mcr_fitted **out, const mcr_goal *g, const mcr_form *form,
                         const mcr_smooth *problem, const double *w, const double *f,
                         const mcr_falkon_result *r)
{
    mcr_fitted *t = NULL;
    double distance[] = {r->distance, r->gradient};
    mcr_status s = mcr_form_goal(&t, form, g, w);
    if (s)
        return s;
    t->objective = t->primal = r->objective;
    t->gap = r->gap;
    t->dual = r->objective - r->gap;
    t->certificate = has_whole_span(form) ? "relative gap of the restricted problem"
                                          : "relative gap of the approximate problem";
    t->value = r->gap / fmax(fabs(r->objective), 1e-300);
    t->value_error = (r->gap_error + t->value * r->objective_error) /
                     fmax(fabs(r->objective), 1e-300);
    t->objective_error = r->objective_error + r->gap_error;
    t->of_stored = true;
    t->tolerance = problem->gap;
    t->iterations = r->passes;
    t->stop = r->stop;
    s = mcr_goal_report(g, t, f);
    if (!s)
        s = mcr_form_report(form, t);
    if (!s)
        s = mcr_fitted_keep(t, MCR_EXTRA_DISTANCE, distance, 2);
    if (!s)
        s = mcr_fitted_remark(t,
                              "f is within %.2g sqrt(K(x,x)) of the optimum %s, at every x%s; "
                              "preconditioned by %lld objects",
                              r->distance,
                              has_whole_span(form) ? "on these landmarks" : "with these features",
                              r->as_computed ? ", for kernel values as they were computed" : "",
                              (long long)r->sample);
    return mcr_fitted_give(out, t, s);
}

mcr_status mcr_restricted_fit(mcr_fitted **out, const mcr_goal *g, const mcr_form *form,
                              const mcr_smooth *problem)
{
    size_t all = (size_t)(g->n * g->outputs);
    size_t wide = (size_t)(mcr_gram_width(form->gram) * g->outputs);
    double *w = mcr_alloc(g->ctx, wide, sizeof *w), *f = mcr_alloc(g->ctx, all, sizeof *f);
    mcr_falkon_result r;
    *out = NULL;
    mcr_status s = w && f ? mcr_falkon_solve(form->gram, problem, w, f, &r) : MCR_NO_MEMORY;
    if (!s)
        s = finish(out, g, form, problem, w, f, &r);
    mcr_free_all(g->ctx, w, f);
    return s;
}
