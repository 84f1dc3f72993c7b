/* learner.c: the registry of learners, and options.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "learn/learner.h"

#include <stddef.h>
#include <string.h>

#include "base/facts.h"
#include "base/number.h"
#include "base/params.h"
#include "base/sized.h"

#define LEARNER(name) extern const mcr_learner_type mcr_learner_##name;
#include "learn/learners.def"
#undef LEARNER

static const mcr_learner_type *const learners[] = {
#define LEARNER(name) &mcr_learner_##name,
#include "learn/learners.def"
#undef LEARNER
};

enum { LEARNERS = sizeof learners / sizeof *learners };

const mcr_learner_type *mcr_learner_at(int64_t number)
{
    return number >= 0 && number < LEARNERS ? learners[number] : NULL;
}

const mcr_learner_type *mcr_learner_find(const mcr *ctx, const char *name)
{
    for (int i = 0; i < LEARNERS; i++)
        if (strcmp(learners[i]->name, name) == 0)
            return learners[i];
    for (int64_t i = 0; i < ctx->extra_learner_count; i++)
        if (strcmp(ctx->extra_learners[i]->name, name) == 0)
            return ctx->extra_learners[i];
    return NULL;
}

int64_t mcr_learner_count(void)
{
    return LEARNERS;
}

static mcr_status describe(const mcr_learner_type *t, mcr_learner_info *out)
{
    if (!t)
        return MCR_BAD_CALL;
    const mcr_learner_info info = {
        .name = t->name,
        .summary = t->summary,
        .task = t->task,
        .params = t->params,
        .dense = t->dense || t->factorises,
        .can_start = !t->no_start,
        .can_resume = t->online,
        .can_choose = t->usual.quick != NULL,
    };
    return MCR_SIZED_WRITE(mcr_learner_info, out, NULL, &info);
}

mcr_status mcr_learner_describe(int64_t number, mcr_learner_info *out)
{
    return describe(mcr_learner_at(number), out);
}

mcr_status mcr_learner_lookup(const mcr *ctx, const char *name, mcr_learner_info *out)
{
    return describe(mcr_learner_find(ctx, name), out);
}

/* from: those to copy; NULL: the defaults. */
static mcr_status new_options(mcr_options **out, mcr *ctx, const mcr_learner_type *type,
                              const mcr_options *from)
{
    *out = NULL;
    mcr_options *o = mcr_alloc_zero(ctx, 1, sizeof *o);
    if (!o)
        return MCR_NO_MEMORY;
    *o = (mcr_options){.ctx = ctx, .type = type, .scale = from ? from->scale : MCR_SCALE_NONE};
    mcr_text_init(&o->shown, ctx);
    o->params = mcr_alloc_zero(ctx, 1, type->params_size);
    mcr_status s = !o->params ? MCR_NO_MEMORY
                   : from     ? mcr_params_copy(ctx, type->params, o->params, from->params)
                              : mcr_params_init(ctx, type->params, o->params);
    if (s)
        mcr_free_all(ctx, o->params, o);
    else
        *out = o;
    return s;
}

mcr_status mcr_options_open(mcr_options **out, mcr *ctx, const char *learner)
{
    *out = NULL;
    const mcr_learner_type *type = mcr_learner_find(ctx, learner);
    if (!type) {
        const char *names[LEARNERS + 1] = {NULL};
        for (int i = 0; i < LEARNERS; i++)
            names[i] = learners[i]->name;
        const char *near = mcr_nearest(learner, names);
        return near
                   ? mcr_fail(ctx, MCR_BAD_CALL, "unknown learner \"%s\" (did you mean \"%s\"?)",
                              learner, near)
                   : mcr_advise(ctx, mcr_fail(ctx, MCR_BAD_CALL, "unknown learner \"%s\"", learner),
                                "learners");
    }
    return new_options(out, ctx, type, NULL);
}

void mcr_options_close(mcr_options *o)
{
    if (!o)
        return;
    mcr_params_free(o->ctx, o->type->params, o->params);
    mcr_free(o->ctx, o->params);
    mcr_text_free(&o->shown);
    mcr_free(o->ctx, o);
}

const mcr_param *mcr_options_find(const mcr_options *o, const char *name)
{
    return o->type->params ? mcr_params_find(o->type->params, name, strlen(name)) : NULL;
}

const void *mcr_options_at(const mcr_options *o, const char *name, mcr_param_type type)
{
    const mcr_param *p = mcr_options_find(o, name);
    return p && p->type == type ? (const char *)o->params + p->offset : NULL;
}

mcr_status mcr_options_copy(mcr_options **out, const mcr_options *from)
{
    return new_options(out, from->ctx, from->type, from);
}

/* Scaling is the same for all learners. */
static const struct shared {
    int scale;
} no_scaling = {0};
static const mcr_param shared_table[] = {
    {"scale", MCR_CHOICE, offsetof(struct shared, scale), "none", 0, 0, 0, "none|minmax|standard",
     "scale vectors to 0..1, or to mean 0 and standard deviation 1"},
    {0},
};

static mcr_status set_scale(mcr_options *o, const char *value)
{
    struct shared v = no_scaling;
    mcr_status s = mcr_params_set(o->ctx, o->type->name, shared_table, &v, value, strlen(value));
    if (!s)
        o->scale = (mcr_scale)v.scale;
    return s;
}

static void print_one(const mcr_param *p, const void *values, mcr_text *to)
{
    if ((p->flags & MCR_OLD_NAME) || !mcr_params_given(p, values) ||
        mcr_params_is_standard(p, values))
        return;
    mcr_text_format(to, "%s%s=", to->length ? " " : "", p->name);
    mcr_params_print(p, values, to);
}

static mcr_status print_options(const mcr_options *o, mcr_text *to, bool limit)
{
    for (const mcr_param *p = o->type->params; p->name; p++)
        if (limit || strcmp(p->name, MCR_OPTION_TIME_LIMIT) != 0)
            print_one(p, o->params, to);
    print_one(shared_table, &(struct shared){(int)o->scale}, to);
    if (!to->length)
        mcr_text_string(to, "");
    return to->status;
}

mcr_status mcr_options_print(const mcr_options *o, mcr_text *to)
{
    return print_options(o, to, true);
}

mcr_status mcr_options_print_problem(const mcr_options *o, mcr_text *to)
{
    return print_options(o, to, false);
}

/* shown: NULL while facts are only counted. */
static void list_option(mcr_fact_cursor *c, const mcr_param *p, const void *values, mcr_text *shown)
{
    const char *at = (const char *)values + p->offset;
    if (!mcr_params_given(p, values)) {
        mcr_fact_none(c, p->name);
        return;
    }
    switch (p->type) {
    case MCR_REAL: mcr_fact_real(c, p->name, *(const double *)at); break;
    case MCR_INT: mcr_fact_int(c, p->name, *(const int64_t *)at); break;
    case MCR_FLAG: mcr_fact_flag(c, p->name, *(const int *)at); break;
    case MCR_TEXT: mcr_fact_text(c, p->name, *(char *const *)at); break;
    case MCR_REALS: {
        const mcr_reals *r = (const mcr_reals *)at;
        mcr_fact_reals(c, p->name, r->values, r->count);
        break;
    }
    case MCR_CHOICE:
        if (shown && c->at == c->wanted) {
            shown->length = 0;
            mcr_params_print(p, values, shown);
            mcr_text_add(shown, "", 1);
        }
        mcr_fact_text(c, p->name, shown && !shown->status ? shown->bytes : NULL);
        break;
    }
}

static void list_options(mcr_fact_cursor *c, const mcr_options *o, mcr_text *shown)
{
    for (const mcr_param *p = o->type->params; p->name; p++)
        list_option(c, p, o->params, shown);
    list_option(c, shared_table, &(struct shared){(int)o->scale}, shown);
}

int64_t mcr_options_fact_count(const mcr_options *o)
{
    mcr_fact_cursor c = {.wanted = -1};
    list_options(&c, o, NULL);
    return c.at;
}

mcr_status mcr_options_fact(mcr_options *o, int64_t number, mcr_fact *fact)
{
    mcr_fact_cursor c = {.wanted = number};
    list_options(&c, o, &o->shown);
    return o->shown.status ? o->shown.status : mcr_fact_give(fact, o->ctx, &c);
}

enum { MOST_PARAMS = 64 };

/* For a learner with one form, or without approximations: values that request just that are
 * accepted, others are refused with the reason. */
static mcr_status set_only_form(mcr_options *o, const char *name, const char *value)
{
    bool approx = strcmp(name, MCR_OPTION_APPROX) == 0;
    static const char *const same[] = {"auto", "dual", "kernel"};
    for (size_t i = 0; i < sizeof same / sizeof *same && !approx; i++)
        if (strcmp(value, same[i]) == 0)
            return MCR_OK;
    if (approx && strcmp(value, "none") == 0)
        return MCR_OK;
    const char *form = o->type->no_primal;
    return mcr_fail(o->ctx, MCR_BAD_CALL, "%s has no %s: %s", o->type->name,
                    form ? "primal form" : "approximation", form ? form : o->type->no_approx);
}

static bool is_form(const char *name)
{
    return strcmp(name, MCR_OPTION_FORM) == 0 || strcmp(name, MCR_OPTION_FORM_OLD) == 0 ||
           strcmp(name, MCR_OPTION_APPROX) == 0;
}

mcr_status mcr_options_set(mcr_options *o, const char *name, const char *value)
{
    if (strcmp(name, shared_table->name) == 0)
        return set_scale(o, value);
    const mcr_param *p = mcr_options_find(o, name);
    bool lacks = is_form(name) && (o->type->no_primal || o->type->no_approx);
    if (p) {
        mcr_status s = mcr_params_set(o->ctx, o->type->name, p, o->params, value, strlen(value));
        return s && lacks ? set_only_form(o, name, value) : s;
    }
    if (lacks)
        return set_only_form(o, name, value);
    const char *names[MOST_PARAMS + 2] = {NULL};
    for (int i = 0; i < MOST_PARAMS && o->type->params[i].name; i++) {
        names[i] = o->type->params[i].name;
        names[i + 1] = shared_table->name;
    }
    const char *near = mcr_nearest(name, names);
    return near ? mcr_fail(o->ctx, MCR_BAD_CALL, "%s: unknown option \"%s\" (did you mean \"%s\"?)",
                           o->type->name, name, near)
                : mcr_fail(o->ctx, MCR_BAD_CALL, "%s: unknown option \"%s\"", o->type->name, name);
}

mcr_status mcr_options_set_real(mcr_options *o, const char *name, double value)
{
    char text[MCR_REAL_TEXT];
    mcr_print_real(text, value);
    return mcr_options_set(o, name, text);
}

const char *mcr_task_name(mcr_task task)
{
    switch (task) {
    case MCR_CLASSIFY: return "classification";
    case MCR_REGRESS: return "regression";
    case MCR_DETECT: return "detection";
    case MCR_CLUSTER: return "clustering";
    case MCR_TRANSFORM: return "transformation";
    case MCR_EITHER: return "classification or regression";
    }
    return "unknown";
}

const char *mcr_stop_name(mcr_stop stop)
{
    switch (stop) {
    case MCR_STOP_OPTIMAL: return "optimal";
    case MCR_STOP_STEPS: return "steps";
    case MCR_STOP_TIME: return "time";
    case MCR_STOP_INTERRUPTED: return "interrupted";
    case MCR_STOP_STUCK: return "stuck";
    case MCR_STOP_LOCAL: return "local";
    }
    return "?";
}
