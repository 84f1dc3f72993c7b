/* multiclass.c: classification by two-class problems, and calibrated probabilities.
 *
 * Two classes are one problem (positive: class 1). More are one problem for each pair (positive: the
 * lower class) or for each class against the rest. Many small problems run side by side, one a
 * worker; few large ones run one after the other with all workers inside. The result is the same.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "learn/multiclass.h"

#include <math.h>
#include <string.h>

#include "base/random.h"
#include "base/threads.h"
#include "learn/svm_common.h"

enum { CALIBRATION_FOLDS = 5 };

typedef struct job {
    const mcr_learning *in;
    const mcr_multiclass *how;
    int64_t n, classes, problems, side_by_side;
    const double *weight;
    mcr_rule rule;
    mcr_gram *whole; /* of all objects, where problems are solved one after the other */
    mcr_binary *result;
    int64_t **object; /* of each problem; NULL: all */
    double *slope;    /* 2 a problem; NULL: no probabilities */
} job;

/* ---- which objects, which side -----------------------------------------------------------------*/

static void pair_of(int64_t classes, int64_t problem, int64_t *a, int64_t *b)
{
    int64_t first = 0;
    while (problem >= classes - 1 - first) {
        problem -= classes - 1 - first;
        first++;
    }
    *a = first;
    *b = first + 1 + problem;
}

/* Side of an object of class c in a problem: +1, -1, or 0: not in it. */
static int side_of(const job *j, int64_t problem, int64_t c)
{
    int64_t a, b;
    switch (j->rule) {
    case MCR_RULE_BINARY: return c == 1 ? 1 : -1;
    case MCR_RULE_LARGEST: return c == problem ? 1 : -1;
    default: break;
    }
    pair_of(j->classes, problem, &a, &b);
    return c == a ? 1 : c == b ? -1 : 0;
}

/* ---- decision values of held-out objects -------------------------------------------------------*/

typedef struct fold_set {
    const job *j;
    const mcr_binary *of; /* the problem */
    mcr_data *data;       /* its objects */
    unsigned char *fold;  /* of each object */
    double *f;            /* decision values to fill */
} fold_set;

/* Deals the objects of each side out to the folds in a random order. */
static mcr_status deal(fold_set *s, mcr *ctx, uint64_t number)
{
    int64_t n = s->of->n;
    int64_t *order = mcr_alloc(ctx, (size_t)n, sizeof *order);
    if (!order)
        return MCR_NO_MEMORY;
    for (int64_t i = 0; i < n; i++)
        order[i] = i;
    mcr_random r = mcr_random_stream(mcr_seed(ctx), "calibration folds", number);
    mcr_random_shuffle(&r, order, n);
    int64_t next[2] = {0, 0};
    for (int64_t t = 0; t < n; t++) {
        int64_t i = order[t];
        s->fold[i] = (unsigned char)(next[s->of->y[i] > 0]++ % CALIBRATION_FOLDS);
    }
    mcr_free(ctx, order);
    return MCR_OK;
}

/* Trains without one fold and fills its decision values. */
static mcr_status hold_out(fold_set *s, int fold)
{
    const mcr_binary *of = s->of;
    mcr *ctx = of->ctx;
    int64_t n = of->n, in = 0, out = 0, support = 0;
    int64_t *row = mcr_alloc(ctx, (size_t)n, sizeof *row);
    int64_t *held = mcr_alloc(ctx, (size_t)n, sizeof *held);
    double *y = mcr_alloc(ctx, (size_t)n, sizeof *y);
    double *weight = mcr_alloc(ctx, (size_t)n, sizeof *weight);
    double *coef = mcr_alloc_zero(ctx, (size_t)n, sizeof *coef);
    double *f = mcr_alloc_zero(ctx, (size_t)n + MCR_ROW_PAD, sizeof *f);
    mcr_data *kept = NULL, *rest = NULL;
    mcr_gram *train = NULL, *across = NULL;
    mcr_status st = row && held && y && weight && coef && f ? MCR_OK : MCR_NO_MEMORY;
    if (st)
        goto done;
    for (int64_t i = 0; i < n; i++) {
        if (s->fold[i] == fold) {
            held[out++] = i;
            continue;
        }
        y[in] = of->y[i];
        weight[in] = of->weight[i];
        row[in++] = i;
    }
    if ((st = mcr_data_select(&kept, s->data, (mcr_rows){row, 0, in})) ||
        (st = mcr_data_select(&rest, s->data, (mcr_rows){held, 0, out})) ||
        (st = mcr_gram_open(&train, ctx, s->j->in->kernel, kept, NULL)))
        goto done;
    mcr_binary part = *of;
    part.gram = train;
    part.n = in;
    part.y = y;
    part.weight = weight;
    part.coef = coef;
    part.f = f;
    part.start = NULL;
    if ((st = s->j->how->solve(s->j->how->params, &part)) ||
        (st = mcr_gram_open(&across, ctx, s->j->in->kernel, kept, rest)))
        goto done;
    memset(f, 0, sizeof *f * (size_t)out);
    for (int64_t i = 0; i < in; i++)
        if (coef[i] != 0) {
            row[support] = i;
            coef[support++] = coef[i];
        }
    st = mcr_gram_rows_pass(
        across, &(mcr_gram_pass){.x = {row, 0, support}, .coef = coef, .f = f, .outputs = 1});
    for (int64_t t = 0; t < out && !st; t++)
        s->f[held[t]] = f[t] + part.bias;
done:
    mcr_gram_close(train);
    mcr_gram_close(across);
    mcr_data_free(kept);
    mcr_data_free(rest);
    mcr_free(ctx, row);
    mcr_free(ctx, held);
    mcr_free(ctx, y);
    mcr_free(ctx, weight);
    mcr_free(ctx, coef);
    mcr_free(ctx, f);
    return st;
}

static mcr_status calibrate(const job *j, const mcr_binary *of, mcr_data *data, int64_t problem)
{
    mcr *ctx = of->ctx;
    int64_t n = of->n, sides[2] = {0, 0};
    for (int64_t i = 0; i < n; i++)
        sides[of->y[i] > 0]++;
    fold_set s = {j, of, data, mcr_alloc(ctx, (size_t)n, 1),
                  mcr_alloc_zero(ctx, (size_t)n, sizeof(double))};
    unsigned char *y = mcr_alloc(ctx, (size_t)n, 1);
    mcr_status st = s.fold && s.f && y ? MCR_OK : MCR_NO_MEMORY;
    if (!st && (sides[0] < 2 || sides[1] < 2))
        st = mcr_fail(ctx, MCR_BAD_DATA,
                      "%s: probabilities need at least two objects of every class",
                      j->how->learner);
    if (!st)
        st = deal(&s, ctx, (uint64_t)problem);
    for (int fold = 0; fold < CALIBRATION_FOLDS && !st; fold++)
        st = hold_out(&s, fold);
    for (int64_t i = 0; i < n && !st; i++)
        y[i] = of->y[i] > 0;
    if (!st)
        mcr_calibrate(s.f, y, mcr_data_weights(data), n, j->slope + 2 * problem);
    mcr_free(ctx, s.fold);
    mcr_free(ctx, s.f);
    mcr_free(ctx, y);
    return st;
}

/* ---- one problem -------------------------------------------------------------------------------*/

/* Coefficients of output o of a fitted model, for all n objects. */
static void spread_start(const mcr_fitted *start, int64_t o, int64_t n, double *coef)
{
    memset(coef, 0, sizeof *coef * (size_t)n);
    for (int64_t g = 0; g < start->segments; g++) {
        const mcr_segment *seg = &start->segment[g];
        for (int64_t t = 0; t < seg->outputs; t++)
            for (int64_t i = 0; i < seg->count && seg->output[t] == o; i++) {
                int64_t at = start->object[seg->first + i];
                if (at >= 0 && at < n)
                    coef[at] = seg->coef[t * seg->count + i];
            }
    }
}

static mcr_status solve_one(void *arg, int64_t problem, int worker)
{
    (void)worker;
    job *j = arg;
    mcr *ctx = j->in->ctx;
    mcr_binary *r = &j->result[problem];
    const int32_t *class_of = mcr_data_class_of(j->in->data);
    int64_t n = 0;
    double *y = mcr_alloc(ctx, (size_t)j->n, sizeof *y);
    double *weight = mcr_alloc(ctx, (size_t)j->n, sizeof *weight);
    double *all = mcr_alloc(ctx, (size_t)j->n, sizeof *all);
    double *start = mcr_alloc(ctx, (size_t)j->n, sizeof *start);
    int64_t *row = mcr_alloc(ctx, (size_t)j->n, sizeof *row);
    mcr_data *view = NULL;
    mcr_gram *own = NULL;
    mcr_status st = y && weight && all && start && row ? MCR_OK : MCR_NO_MEMORY;
    if (st)
        goto done;
    bool warm = j->in->start && j->in->start->outputs == j->problems &&
                j->in->start->rule == j->rule;
    if (warm)
        spread_start(j->in->start, problem, j->n, all);
    for (int64_t i = 0; i < j->n; i++) {
        int side = side_of(j, problem, class_of[i]);
        if (side == 0)
            continue;
        y[n] = side;
        weight[n] = j->weight[i];
        start[n] = warm ? all[i] : 0;
        row[n++] = i;
    }
    if (j->rule == MCR_RULE_PAIRS)
        st = mcr_data_select(&view, j->in->data, (mcr_rows){row, 0, n});
    if (!st && !j->whole)
        st = mcr_gram_open(&own, ctx, j->in->kernel, view ? view : j->in->data, NULL);
    if (st)
        goto done;
    *r = (mcr_binary){
        .ctx = ctx,
        .gram = own ? own : j->whole,
        .n = n,
        .y = y,
        .weight = weight,
        .start = warm ? start : NULL,
        .phase = j->side_by_side > 1 ? NULL : j->how->learner,
        .cache_share = (size_t)j->side_by_side,
        .coef = mcr_alloc_zero(ctx, (size_t)n, sizeof(double)),
        .f = mcr_alloc(ctx, (size_t)n, sizeof(double)),
    };
    st = r->coef && r->f ? j->how->solve(j->how->params, r) : MCR_NO_MEMORY;
    if (!st && j->slope)
        st = calibrate(j, r, view ? view : (mcr_data *)j->in->data, problem);
    if (!st && view) {
        j->object[problem] = row;
        row = NULL;
    }
done:
    r->gram = NULL;
    r->y = r->weight = r->start = NULL;
    mcr_gram_close(own);
    mcr_data_free(view);
    mcr_free(ctx, y);
    mcr_free(ctx, weight);
    mcr_free(ctx, all);
    mcr_free(ctx, start);
    mcr_free(ctx, row);
    return st;
}

static mcr_status solve_all(job *j)
{
    mcr *ctx = j->in->ctx;
    int workers = mcr_workers(ctx);
    if (j->problems >= 2 * workers && workers > 1) {
        j->side_by_side = workers;
        return mcr_parallel(ctx, j->problems, solve_one, j);
    }
    j->side_by_side = 1;
    mcr_status st = MCR_OK;
    if (j->rule != MCR_RULE_PAIRS)
        st = mcr_gram_open(&j->whole, ctx, j->in->kernel, j->in->data, NULL);
    for (int64_t p = 0; p < j->problems && !st; p++)
        st = solve_one(j, p, 0);
    return st;
}

/* ---- putting the results together --------------------------------------------------------------*/

/* One-vs-one: the objects of a class with their coefficients in its classes - 1 problems. */
static mcr_status add_class(mcr_fitted *f, const job *j, int64_t c, const int32_t *class_of)
{
    mcr *ctx = f->ctx;
    int64_t count = 0, outputs = 0;
    for (int64_t i = 0; i < j->n; i++)
        count += class_of[i] == c;
    int64_t *object = mcr_alloc(ctx, (size_t)count, sizeof *object);
    int32_t *output = mcr_alloc(ctx, (size_t)j->classes, sizeof *output);
    double *coef = mcr_alloc(ctx, (size_t)count * (size_t)j->classes, sizeof *coef);
    mcr_status st = object && output && coef ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t p = 0; p < j->problems && !st; p++) {
        if (side_of(j, p, c) == 0)
            continue;
        int64_t at = 0;
        for (int64_t i = 0; i < j->result[p].n; i++)
            if (class_of[j->object[p][i]] == c) {
                object[at] = j->object[p][i];
                coef[outputs * count + at++] = j->result[p].coef[i];
            }
        output[outputs++] = (int32_t)p;
    }
    if (!st)
        st = mcr_fitted_add(f, object, count, output, outputs, coef);
    mcr_free(ctx, object);
    mcr_free(ctx, output);
    mcr_free(ctx, coef);
    return st;
}

static mcr_status add_whole(mcr_fitted *f, const job *j)
{
    mcr *ctx = f->ctx;
    size_t n = (size_t)j->n, outputs = (size_t)j->problems;
    int64_t *object = mcr_alloc(ctx, n, sizeof *object);
    int32_t *output = mcr_alloc(ctx, outputs, sizeof *output);
    double *coef = mcr_alloc(ctx, n * outputs, sizeof *coef);
    mcr_status st = object && output && coef ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t i = 0; i < j->n && !st; i++)
        object[i] = i;
    for (int64_t p = 0; p < j->problems && !st; p++) {
        output[p] = (int32_t)p;
        memcpy(coef + p * j->n, j->result[p].coef, sizeof *coef * n);
    }
    if (!st)
        st = mcr_fitted_add(f, object, j->n, output, j->problems, coef);
    mcr_free(ctx, object);
    mcr_free(ctx, output);
    mcr_free(ctx, coef);
    return st;
}

/* The training objects that are surely right or wrong. Of several classes, an object that wins all
 * of its own class's pairs has the most votes; others must be predicted. Probabilities decide by a
 * rule of their own. */
static mcr_status judge_training(mcr_fitted *f, const job *j)
{
    const int32_t *class_of = mcr_data_class_of(j->in->data);
    f->right = mcr_alloc(f->ctx, (size_t)j->n, 1);
    if (!f->right)
        return MCR_NO_MEMORY;
    bool binary = j->rule == MCR_RULE_BINARY;
    memset(f->right, binary || (j->rule == MCR_RULE_PAIRS && !f->slope) ? 1 : 2, (size_t)j->n);
    for (int64_t p = 0; p < j->problems && j->rule != MCR_RULE_LARGEST && (binary || !f->slope);
         p++)
        for (int64_t i = 0; i < j->result[p].n; i++) {
            int64_t at = binary ? i : j->object[p][i];
            int side = side_of(j, p, class_of[at]);
            if ((j->result[p].f[i] + j->result[p].bias > 0) != (side > 0))
                f->right[at] = binary ? 0 : 2;
        }
    return MCR_OK;
}

static mcr_status gather(mcr_fitted **out, job *j)
{
    mcr_fitted *f = NULL;
    mcr_status st = mcr_fitted_new(&f, j->in->ctx, j->problems);
    if (st)
        return st;
    f->task = MCR_CLASSIFY;
    f->rule = j->rule;
    f->classes = j->classes;
    f->certificate = j->how->certificate;
    f->objective = f->primal = f->dual = f->gap = f->value = 0;
    f->slope = j->slope;
    j->slope = NULL;
    for (int64_t p = 0; p < j->problems; p++) {
        const mcr_binary *r = &j->result[p];
        f->offset[p] = r->bias;
        f->objective += r->objective;
        f->primal += r->primal;
        f->dual += r->dual;
        f->gap += r->gap;
        f->iterations += r->steps;
        f->value = fmax(f->value, r->violation);
        f->tolerance = r->tolerance;
        if (r->stop > f->stop)
            f->stop = r->stop;
    }
    if (j->rule == MCR_RULE_PAIRS)
        for (int64_t c = 0; c < j->classes && !st; c++)
            st = add_class(f, j, c, mcr_data_class_of(j->in->data));
    else
        st = add_whole(f, j);
    if (!st)
        st = judge_training(f, j);
    if (!st)
        st = mcr_svm_remark(&f->remark, f->ctx, j->in->kernel);
    if (st)
        mcr_fitted_free(f);
    else
        *out = f;
    return st;
}

mcr_status mcr_multiclass_fit(mcr_fitted **out, const mcr_learning *in, const mcr_multiclass *how)
{
    *out = NULL;
    mcr *ctx = in->ctx;
    mcr_status st = mcr_svm_need_classes(ctx, how->learner, in->data);
    if (st)
        return st;
    int64_t k = mcr_data_classes(in->data), n = mcr_data_count(in->data);
    job j = {.in = in, .how = how, .n = n, .classes = k};
    j.rule = k == 2 ? MCR_RULE_BINARY : how->one_vs_rest ? MCR_RULE_LARGEST : MCR_RULE_PAIRS;
    j.problems = k == 2 ? 1 : how->one_vs_rest ? k : k * (k - 1) / 2;
    double *weight = mcr_alloc(ctx, (size_t)n, sizeof *weight);
    j.weight = weight;
    j.result = mcr_alloc_zero(ctx, (size_t)j.problems, sizeof *j.result);
    j.object = mcr_alloc_zero(ctx, (size_t)j.problems, sizeof *j.object);
    st = weight && j.result && j.object ? MCR_OK : MCR_NO_MEMORY;
    if (!st && how->probability)
        st = (j.slope = mcr_alloc(ctx, 2 * (size_t)j.problems, sizeof *j.slope)) ? MCR_OK
                                                                                 : MCR_NO_MEMORY;
    if (!st)
        st = mcr_svm_weights(ctx, how->learner, in->data, how->class_weight, weight);
    if (!st)
        st = solve_all(&j);
    if (!st)
        st = gather(out, &j);
    mcr_gram_close(j.whole);
    for (int64_t p = 0; p < j.problems; p++) {
        if (j.result) {
            mcr_free(ctx, j.result[p].coef);
            mcr_free(ctx, j.result[p].f);
        }
        if (j.object)
            mcr_free(ctx, j.object[p]);
    }
    mcr_free(ctx, weight);
    mcr_free(ctx, j.result);
    mcr_free(ctx, j.object);
    mcr_free(ctx, j.slope);
    return st;
}
