/* register.c: learners that a program adds at run time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <mercer/learning.h>

#include <string.h>

#include "base/sized.h"
#include "learn/learner.h"

static const mcr_param no_params[] = {{0}};

/* A registered learner: the type that the library sees, and what the user gave. */
typedef struct registered {
    mcr_learner_type type; /* first: a type of the context's list is one of these */
    mcr_learner_spec spec;
} registered;

/* ---- what a learner is given ------------------------------------------------------------------*/

mcr *mcr_learning_context(const mcr_learning *in)
{
    return in->ctx;
}

static const mcr_learner_spec *spec_of(const mcr_learning *in)
{
    return &((const registered *)(const void *)in->type)->spec;
}

void *mcr_learning_user(const mcr_learning *in)
{
    return spec_of(in)->user;
}

const void *mcr_learning_params(const mcr_learning *in)
{
    return in->params;
}

const mcr_kernel *mcr_learning_kernel(const mcr_learning *in)
{
    return in->kernel;
}

const mcr_data *mcr_learning_data(const mcr_learning *in)
{
    return in->data;
}

int mcr_learning_report(const mcr_learning *in, const mcr_progress *now)
{
    mcr_progress own;
    if (MCR_SIZED_READ(mcr_progress, &own, in->ctx, now) != MCR_OK)
        return 1;
    return mcr_report(in->ctx, &own);
}

/* ---- what it gives back -----------------------------------------------------------------------*/

mcr_status mcr_fitted_open(mcr_fitted **out, const mcr_learning *in, int64_t outputs)
{
    *out = NULL;
    if (outputs < 1 || outputs > INT32_MAX)
        return mcr_fail(in->ctx, MCR_BAD_CALL, "%s: %lld outputs", in->type->name,
                        (long long)outputs);
    mcr_status s = mcr_fitted_new(out, in->ctx, outputs);
    if (!s)
        (*out)->objects = mcr_data_count(in->data);
    return s;
}

mcr_status mcr_fitted_set(mcr_fitted *f, const double *coef, const double *offset)
{
    if (f->segments > 0)
        return mcr_fail(f->ctx, MCR_BAD_CALL, "the coefficients of a result are set once");
    mcr_status s = mcr_fitted_add(f, NULL, f->objects, NULL, f->outputs, coef);
    if (!s)
        memcpy(f->offset, offset, sizeof *offset * (size_t)f->outputs);
    return s;
}

mcr_status mcr_fitted_end(mcr_fitted *f, const mcr_outcome *outcome)
{
    mcr_outcome o;
    mcr_status s = MCR_SIZED_READ(mcr_outcome, &o, f->ctx, outcome);
    if (s)
        return s;
    f->stop = o.stop;
    f->iterations = o.iterations;
    if (!o.certificate)
        return MCR_OK;
    f->objective = o.objective;
    f->certificate = o.certificate;
    f->value = o.value;
    f->tolerance = o.tolerance;
    return MCR_OK;
}

/* How its outputs decide; MCR_BAD_CALL if there are not as many as the task has. */
static mcr_status set_rule(mcr_fitted *f, const mcr_learning *in)
{
    mcr_task task = in->type->task;
    int64_t classes = mcr_data_classes(in->data);
    bool one = f->outputs == 1, fits = one;
    f->task = task;
    switch (task) {
    case MCR_CLASSIFY:
        f->classes = classes;
        fits = classes == 2 && one ? true : f->outputs == classes;
        f->rule = one ? MCR_RULE_BINARY : MCR_RULE_LARGEST;
        break;
    case MCR_REGRESS: f->rule = MCR_RULE_VALUE; break;
    case MCR_DETECT: f->rule = MCR_RULE_SIGN; break;
    case MCR_CLUSTER:
        fits = true;
        f->rule = MCR_RULE_LARGEST;
        break;
    default:
        fits = true;
        f->rule = MCR_RULE_COORDINATES;
        break;
    }
    if (fits)
        return MCR_OK;
    return mcr_fail(in->ctx, MCR_BAD_CALL, "%s: %lld outputs do not fit its task, %s",
                    in->type->name, (long long)f->outputs, mcr_task_name(task));
}

/* Classification by one output needs two classes; regression needs numbers. */
static mcr_status check_data(const mcr_learning *in)
{
    mcr_task task = in->type->task;
    bool learns = task == MCR_CLASSIFY || task == MCR_REGRESS;
    mcr_targets kind = mcr_data_target_kind(in->data);
    if (learns && kind == MCR_NO_TARGETS)
        return mcr_fail(in->ctx, MCR_BAD_DATA, "%s: the data have no targets", in->type->name);
    if (task == MCR_REGRESS && kind == MCR_WORD_TARGETS)
        return mcr_fail(in->ctx, MCR_BAD_DATA, "%s: the targets are words, not numbers",
                        in->type->name);
    return MCR_OK;
}

static mcr_status fit(mcr_fitted **out, const mcr_learning *in)
{
    *out = NULL;
    mcr_status s = check_data(in);
    if (!s)
        s = spec_of(in)->fit(out, in);
    if (!s && !*out)
        s = mcr_fail(in->ctx, MCR_BAD_CALL, "%s: its function returned no result", in->type->name);
    if (!s)
        s = set_rule(*out, in);
    return s;
}

/* ---- the registry -----------------------------------------------------------------------------*/

bool mcr_learner_names(const char *name)
{
    return *name && strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == strlen(name);
}

static const char *spec_fault(const mcr_learner_spec *spec)
{
    if (!spec->name || !mcr_learner_names(spec->name))
        return "its name must be small letters, digits and dashes";
    if (!spec->fit)
        return "it has no function fit";
    if (spec->task < MCR_CLASSIFY || spec->task > MCR_TRANSFORM)
        return "there is no such task";
    for (const mcr_param *p = spec->params; p && p->name; p++)
        if (p->offset >= spec->params_size)
            return "an option lies outside params_size";
    return NULL;
}

mcr_status mcr_learner_register(mcr *ctx, const mcr_learner_spec *given)
{
    mcr_learner_spec spec;
    mcr_status s = MCR_SIZED_READ(mcr_learner_spec, &spec, ctx, given);
    if (s)
        return s;
    const char *fault = spec_fault(&spec);
    if (fault)
        return mcr_fail(ctx, MCR_BAD_CALL, "learner \"%.100s\" cannot be registered: %s",
                        spec.name ? spec.name : "?", fault);
    if (mcr_learner_find(ctx, spec.name))
        return mcr_fail(ctx, MCR_BAD_CALL, "there is a learner called \"%s\" already", spec.name);
    size_t count = (size_t)ctx->extra_learner_count;
    const mcr_learner_type **list = mcr_resize(ctx, ctx->extra_learners, count + 1, sizeof *list);
    if (!list)
        return MCR_NO_MEMORY;
    ctx->extra_learners = list;
    registered *r = mcr_alloc_zero(ctx, 1, sizeof *r);
    if (!r)
        return MCR_NO_MEMORY;
    r->spec = spec;
    r->type = (mcr_learner_type){.name = spec.name,
                                 .summary = spec.summary ? spec.summary : "",
                                 .task = spec.task,
                                 .params = spec.params ? spec.params : no_params,
                                 .params_size = spec.params ? spec.params_size : 1,
                                 .check = spec.check,
                                 .fit = fit,
                                 .weights_count = spec.weights_count != 0,
                                 .no_start = true,
                                 .coordinates = spec.task == MCR_TRANSFORM};
    list[count] = &r->type;
    ctx->extra_learner_count++;
    return MCR_OK;
}
