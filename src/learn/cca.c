/* cca.c: kernel canonical correlations between two kinds of fields of the same objects, regularised
 * (Bach and Jordan, Kernel independent component analysis, 2002; Hardoon, Szedmak and Shawe-Taylor,
 * 2004).
 *
 * The problem and its solution are those of solve/correlate.h, for the centred Grams of the two
 * kernels. Coordinates are scaled to variance 1 on the training objects; their values there are A a
 * and B b, up to the root of the object's share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "learn/directions.h"
#include "learn/goal.h"
#include "solve/correlate.h"

typedef struct params {
    char *kernel2;
    int64_t components, max_steps;
    double lambda, tol, time_limit;
    mcr_form_options form;
} params;

static const mcr_param table[] = {
    {"kernel2", MCR_TEXT, offsetof(params, kernel2), NULL, 0, 0, 0, NULL,
     "the kernel of the other fields, such as rbf(b, gamma=1)"},
    {"components", MCR_INT, offsetof(params, components), "2", 1, INFINITY, 0, NULL,
     "number of pairs of coordinates, in order of correlation"},
    {"lambda", MCR_REAL, offsetof(params, lambda), "0.1", 0, INFINITY, MCR_MIN_OPEN | MCR_MAX_OPEN,
     NULL, "regularisation, as a share of the variance"},
    {"tol", MCR_REAL, offsetof(params, tol), "1e-10", 0, 1, MCR_MIN_OPEN | MCR_MAX_OPEN, NULL,
     "largest eigen-residual, over the largest eigenvalue"},
    MCR_TIME_LIMIT_PARAM(params, "seconds after which the best model so far is kept"),
    MCR_MAX_STEPS_PARAM(params, "steps after which the best model so far is kept"),
    MCR_FORM_PARAMS(params),
    {0},
};

enum { SIDES = 2 };

typedef struct cca {
    mcr *ctx;
    mcr_learning view[SIDES]; /* what is given, for each kernel */
    mcr_form form[SIDES];
    mcr_directions side[SIDES];
    mcr_correlate problem;
    int64_t n, count;
    double *offset; /* SIDES x count */
    size_t budget;
} cca;

static mcr_status take_buffers(cca *p)
{
    mcr_correlate *o = &p->problem;
    size_t n = (size_t)p->n, count = (size_t)p->count;
    size_t bytes = 2 * sizeof(double) * n * count + (size_t)mcr_correlate_bytes(p->n, p->count);
    mcr_status s = mcr_budget_take(p->ctx, bytes, "cca: the matrix of directions");
    if (s)
        return s;
    p->budget = bytes;
    o->value = mcr_alloc(p->ctx, count, sizeof *o->value);
    o->correlation = mcr_alloc(p->ctx, count, sizeof *o->correlation);
    p->offset = mcr_alloc(p->ctx, SIDES * count, sizeof *p->offset);
    for (int side = 0; side < SIDES; side++)
        o->direction[side] = mcr_alloc(p->ctx, count, n * sizeof *o->direction[side]);
    return o->value && o->correlation && p->offset && o->direction[0] && o->direction[1]
               ? MCR_OK
               : MCR_NO_MEMORY;
}

static mcr_status open_sides(cca *p, const params *o)
{
    /* As for fisher, a matrix of the objects or of the features is factored. */
    const mcr_form_work work = {MCR_WORK_FISHER, 1, (double)p->n, (double)p->count};
    mcr_status s = MCR_OK;
    for (int side = 0; side < SIDES && !s; side++) {
        s = mcr_form_open(&p->form[side], &p->view[side], &o->form, &work);
        if (!s)
            s = mcr_directions_open(&p->side[side], "cca", &p->view[side], &p->form[side], false);
    }
    return s;
}

static mcr_status solve(cca *p, const params *o, double began)
{
    p->problem.gram[0] = p->side[0].gram;
    p->problem.gram[1] = p->side[1].gram;
    p->problem.lambda = o->lambda;
    p->problem.what = "cca: the kernel matrix";
    p->problem.how = (mcr_leading){
        .count = p->count,
        .tolerance = o->tol,
        .most_steps = o->max_steps == INT64_MIN ? 0 : o->max_steps,
        .deadline = isnan(o->time_limit) ? 0 : began + o->time_limit,
        .phase = "cca",
    };
    mcr_status s = mcr_correlate_solve(&p->problem);
    for (int side = 0; side < SIDES && (!s || s == MCR_NUMERIC); side++) {
        mcr_status found = mcr_directions_centre(&p->side[side]); /* no variance: no factor */
        s = found ? found : s;
    }
    if (s == MCR_NUMERIC)
        return mcr_advise(p->ctx,
                          mcr_fail(p->ctx, MCR_NUMERIC,
                                   "cca: a kernel is not positive semidefinite on these data, or "
                                   "lambda is too small for its rounding errors: use a larger one"),
                          "option lambda");
    p->count = p->problem.found;
    if (!s && p->count == 0)
        s = mcr_fail(p->ctx, MCR_BAD_DATA, "cca: the two kernels have nothing in common");
    for (int side = 0; side < SIDES && !s; side++)
        for (int64_t c = 0; c < p->count; c++)
            p->offset[side * p->count + c] = mcr_directions_expand(
                &p->side[side], p->problem.direction[side] + c * p->n);
    return s;
}

/* The rounding error of R and Q, which is that of A and B divided by r and q. */
static mcr_status find_errors(mcr_fitted *f, const cca *p)
{
    double sum = 0, blur = 0;
    mcr_status s = MCR_OK;
    for (int side = 0; side < SIDES && !s; side++) {
        s = mcr_directions_error(&p->side[side], &p->view[side], &blur);
        sum += blur / (p->problem.lambda * p->side[side].c->total);
    }
    f->as_computed = true;
    f->value_error = 2 * sum / p->problem.value[0];
    f->objective_error = (double)p->count * sum;
    return s;
}

static mcr_status fill(mcr_fitted *f, const cca *p, const params *o)
{
    mcr_status s = mcr_fitted_add_second(f, p->view[1].kernel, p->count, p->problem.direction[1]);
    if (!s)
        s = mcr_fitted_keep(f, MCR_EXTRA_CORRELATION, p->problem.correlation, p->count);
    if (!s && p->count < o->components)
        s = mcr_fitted_remark(f, "only %lld pair%s a correlation; %lld were requested",
                              (long long)p->count, p->count == 1 ? " has" : "s have",
                              (long long)o->components);
    if (!s)
        s = find_errors(f, p);
    if (!s)
        s = mcr_form_report(&p->form[0], f);
    if (s)
        return s;
    memcpy(f->offset, p->offset, sizeof *f->offset * (size_t)(SIDES * p->count));
    f->task = MCR_TRANSFORM;
    f->rule = MCR_RULE_COORDINATES;
    f->iterations = p->problem.result.steps;
    f->objective = 0;
    for (int64_t c = 0; c < p->count; c++)
        f->objective += sqrt(p->problem.value[c]);
    f->certificate = "eigen-residual";
    f->value = p->problem.result.residual;
    f->tolerance = o->tol;
    f->stop = p->problem.result.stop;
    return MCR_OK;
}

static mcr_status check(mcr *ctx, const void *values)
{
    const params *o = values;
    return o->kernel2 ? MCR_OK
                      : mcr_advise(ctx,
                                   mcr_fail(ctx, MCR_BAD_CALL,
                                            "cca: give the kernel of the other fields, too, such "
                                            "as rbf(b, gamma=1) after rbf(a, gamma=1)"),
                                   "kernel2");
}

static mcr_status fit(mcr_fitted **out, const mcr_learning *in)
{
    const params *o = in->params;
    double began = mcr_now();
    mcr_kernel *second = NULL;
    cca p = {.ctx = in->ctx, .view = {*in, *in}, .n = mcr_data_count(in->data)};
    p.count = o->components < p.n ? o->components : p.n;
    mcr_status s = mcr_kernel_parse(&second, in->ctx, o->kernel2);
    p.view[1].kernel = second;
    p.view[1].gram = NULL; /* that is the first kernel's */
    if (!s)
        s = open_sides(&p, o);
    if (!s)
        s = take_buffers(&p);
    if (!s)
        s = solve(&p, o, began);
    if (!s)
        s = mcr_fitted_whole(out, in->ctx, p.n, p.count, p.problem.direction[0]);
    if (!s)
        s = fill(*out, &p, o);
    mcr_free_all(in->ctx, p.problem.value, p.problem.correlation, p.problem.direction[0],
                 p.problem.direction[1], p.offset);
    mcr_budget_give(in->ctx, p.budget);
    for (int side = 0; side < SIDES; side++) {
        mcr_directions_close(&p.side[side]);
        mcr_form_close(&p.form[side]);
    }
    mcr_kernel_free(second);
    return s;
}

const mcr_learner_type mcr_learner_cca = {
    .name = "cca",
    .summary = "canonical correlations: coordinates that two kinds of fields have in common",
    .task = MCR_TRANSFORM,
    .params = table,
    .params_size = sizeof(params),
    .check = check,
    .fit = fit,
    .no_checkpoint = "its training is one decomposition, whose state cannot be stored",
    .no_approx = "landmarks of one kernel are not a basis for the other, and a model has one basis",
    .no_folds = "no metric compares its coordinates",
    .dense = true,
    .own_kernel = true,
    .no_start = true,
    .coordinates = true,
};
