/* facts.c: the facts of a model and of a score, by enumeration.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/facts.h"

#include <math.h>
#include <string.h>

#include "base/sized.h"
#include "model/model.h"

/* ---- models -----------------------------------------------------------------------------------*/

static void list_origin(mcr_fact_cursor *c, const mcr_report_fit *r)
{
    mcr_fact_text(c, "learner", r->learner);
    mcr_fact_text(c, "options", r->options);
    mcr_fact_text(c, "kernel", r->kernel);
    if (r->second_kernel)
        mcr_fact_text(c, "second_kernel", r->second_kernel);
    mcr_fact_text(c, "task", mcr_task_name(r->task));
    mcr_fact_int(c, "n", r->n);
    mcr_fact_int(c, "features", r->features);
    mcr_fact_int(c, "classes", r->classes);
    if (r->targets > 1)
        mcr_fact_int(c, "targets", r->targets);
}

static void list_training(mcr_fact_cursor *c, const mcr_report_fit *r)
{
    mcr_fact_real(c, "seconds", r->seconds);
    mcr_fact_real(c, "objective", r->objective);
    mcr_fact_int(c, "iterations", r->iterations);
    mcr_fact_int(c, "support", r->support);
    mcr_fact_text(c, "form", r->form);
    mcr_fact_text(c, "form_reason", r->why);
    if (r->approx) {
        mcr_fact_text(c, "approx.kind", r->approx);
        mcr_fact_int(c, "approx.features", r->map_features);
        mcr_fact_real(c, "approx.mean", r->kernel_error[0]);
        mcr_fact_real(c, "approx.rms", r->kernel_error[1]);
        mcr_fact_real(c, "approx.largest", r->kernel_error[2]);
    }
    mcr_fact_text(c, "stop", mcr_stop_name(r->stop));
    mcr_fact_text(c, "certificate.kind", r->certificate);
    mcr_fact_real(c, "certificate.value", r->value);
    mcr_fact_real(c, "certificate.tolerance", r->tolerance);
    mcr_fact_real(c, "certificate.error", r->value_error);
    mcr_fact_real(c, "primal", r->primal);
    mcr_fact_real(c, "dual", r->dual);
    mcr_fact_real(c, "gap", r->gap);
    mcr_fact_real(c, "objective_error", r->objective_error);
}

static void list_results(mcr_fact_cursor *c, const mcr_report_fit *r)
{
    if (r->task == MCR_CLASSIFY)
        mcr_fact_real(c, "train.accuracy", r->accuracy);
    if (r->task == MCR_REGRESS) {
        mcr_fact_real(c, "train.mse", r->mse);
        mcr_fact_real(c, "train.r2", r->r2);
    }
    mcr_fact_real(c, "loo", r->loo);
    if (r->variances) {
        mcr_fact_reals(c, "variance", r->variance, r->variances);
        mcr_fact_real(c, "total_variance", r->total_variance);
    }
    if (isfinite(r->noise))
        mcr_fact_real(c, "noise", r->noise);
    if (r->correlations)
        mcr_fact_reals(c, "correlations", r->correlation, r->correlations);
    mcr_fact_text(c, "remark", r->remark);
}

/* The learner's own numbers, except those that the report has under the same name. */
static void list_numbers(mcr_fact_cursor *c, const mcr_model *m)
{
    for (int64_t e = 0; e < m->fitted->extras; e++) {
        const mcr_extra *x = &m->fitted->extra[e];
        if (strcmp(x->name, MCR_EXTRA_LOO) == 0 || strcmp(x->name, MCR_EXTRA_VARIANCE) == 0 ||
            strcmp(x->name, MCR_EXTRA_POSITIVE) == 0 || strcmp(x->name, MCR_EXTRA_ERRORS) == 0 ||
            strcmp(x->name, MCR_EXTRA_THRESHOLD) == 0)
            continue;
        if (x->count == 1)
            mcr_fact_real(c, x->name, x->value[0]);
        else
            mcr_fact_reals(c, x->name, x->value, x->count);
    }
}

static void list_model(mcr_fact_cursor *c, const mcr_model *m)
{
    list_origin(c, &m->report);
    list_training(c, &m->report);
    list_results(c, &m->report);
    c->group = MCR_FACTS_MODEL;
    mcr_fact_text(c, "version", m->report.version);
    if (m->report.version)
        mcr_fact_int(c, "seed", (int64_t)m->report.seed);
    mcr_fact_int(c, "outputs", m->fitted->outputs);
    if (mcr_model_positive(m) >= 0)
        mcr_fact_text(c, "positive", m->class_name[mcr_model_positive(m)]);
    mcr_threshold t = MCR_INIT(mcr_threshold);
    if (mcr_model_threshold(m, &t) == MCR_OK && !isnan(t.value)) {
        mcr_fact_real(c, "threshold", t.value);
        mcr_fact_text(c, "threshold_of", t.probability ? "probability" : "score");
    }
    mcr_fact_flag(c, "probability", mcr_model_has_probability(m));
    mcr_fact_flag(c, "std", mcr_model_has_std(m));
    mcr_fact_flag(c, "coordinates", mcr_model_has_coordinates(m));
    mcr_fact_flag(c, "scales", mcr_model_scales(m));
    c->group = MCR_FACTS_KEPT;
    list_numbers(c, m);
}

int64_t mcr_model_fact_count(const mcr_model *m)
{
    mcr_fact_cursor c = {.wanted = -1};
    list_model(&c, m);
    return c.at;
}

mcr_status mcr_model_fact(const mcr_model *m, int64_t number, mcr_fact *fact)
{
    mcr_fact_cursor c = {.wanted = number};
    list_model(&c, m);
    return mcr_fact_give(fact, m->ctx, &c);
}

/* ---- scores -----------------------------------------------------------------------------------*/

/* r2 is undefined for constant targets, but listed with the others. */
static void list_metrics(mcr_fact_cursor *c, const mcr_metrics *m)
{
    mcr_fact_int(c, "n", m->n);
    if (!isnan(m->accuracy))
        mcr_fact_real(c, "accuracy", m->accuracy);
    if (!isnan(m->mse)) {
        mcr_fact_real(c, "mse", m->mse);
        mcr_fact_real(c, "mae", m->mae);
        mcr_fact_real(c, "r2", m->r2);
    }
    if (!isnan(m->rand))
        mcr_fact_real(c, "adjusted_rand", m->rand);
}

int64_t mcr_metrics_fact_count(const mcr_metrics *metrics)
{
    mcr_fact_cursor c = {.wanted = -1};
    mcr_metrics m;
    if (MCR_SIZED_READ(mcr_metrics, &m, NULL, metrics) != MCR_OK)
        return 0;
    list_metrics(&c, &m);
    return c.at;
}

mcr_status mcr_metrics_fact(const mcr_metrics *metrics, int64_t number, mcr_fact *fact)
{
    mcr_fact_cursor c = {.wanted = number};
    mcr_metrics m;
    mcr_status s = MCR_SIZED_READ(mcr_metrics, &m, NULL, metrics);
    if (s)
        return s;
    list_metrics(&c, &m);
    return mcr_fact_give(fact, NULL, &c);
}
