/* svr.c: support vector regression with the epsilon-insensitive loss.
 *
 *   min 1/2 |w|^2 + sum C_i max(0, |y_i - w.Phi(x_i) - bias| - epsilon)
 *
 * One signed coefficient per object, |b_i| <= C_i: of the pair of multipliers of the usual dual, at
 * most one is positive.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stddef.h>

#include "learn/form.h"
#include "learn/svm_problem.h"

typedef struct params {
    mcr_svm_limits limits;
    double C, lambda, epsilon;
    int bias;
    mcr_form_options form;
} params;

static const mcr_param table[] = {
    {"C", MCR_REAL, offsetof(params, C), NULL, 0, INFINITY, MCR_MIN_OPEN | MCR_MAX_OPEN, NULL,
     "cost of an error beyond epsilon (default 1)"},
    {"lambda", MCR_REAL, offsetof(params, lambda), NULL, 0, INFINITY, MCR_MIN_OPEN | MCR_MAX_OPEN,
     NULL, "instead of C: C = 1 / (2 lambda n), n objects by weight"},
    {"epsilon", MCR_REAL, offsetof(params, epsilon), "0.1", 0, INFINITY, MCR_MAX_OPEN, NULL,
     "errors up to this cost nothing"},
    {"bias", MCR_FLAG, offsetof(params, bias), "yes", 0, 0, 0, NULL,
     "no: the function goes through the origin of the feature space"},
    MCR_SVM_LIMIT_PARAMS(params),
    MCR_APPROX_PARAMS(params),
    {0},
};

static mcr_status check(mcr *ctx, const void *values)
{
    const params *p = values;
    if (!isnan(p->C) && !isnan(p->lambda))
        return mcr_fail(ctx, MCR_BAD_CALL, "svr: give C or lambda, not both");
    return MCR_OK;
}

static void set_problem(mcr_svm *s, const params *o, const mcr_learning *in)
{
    int64_t n = s->qp.n;
    const double *y = mcr_data_targets(in->data), *weight = mcr_data_weights(in->data);
    double C = !isnan(o->C)       ? o->C
               : isnan(o->lambda) ? 1
                                  : 1 / (2 * o->lambda * mcr_learning_weight(in->data));
    s->qp.epsilon = o->epsilon;
    s->qp.no_sum = !o->bias;
    for (int64_t i = 0; i < n; i++) {
        s->z[i] = y[i];
        s->hi[i] = C * (weight ? weight[i] : 1);
        s->lo[i] = -s->hi[i];
    }
    /* A warm start: feasible after cutting to the bounds only if it still sums to 0. */
    const mcr_fitted *from = in->start;
    if (!from || from->outputs != 1 || from->segments != 1)
        return;
    double sum = 0;
    for (int64_t i = 0; i < from->basis; i++)
        if (from->object[i] >= 0 && from->object[i] < n)
            s->b[from->object[i]] += from->segment[0].coef[i];
    for (int64_t i = 0; i < n; i++)
        sum += s->b[i] = fmin(fmax(s->b[i], s->lo[i]), s->hi[i]);
    for (int64_t i = 0; i < n && o->bias && sum != 0; i++) {
        double fixed = fmin(fmax(s->b[i] - sum, s->lo[i]), s->hi[i]);
        sum += fixed - s->b[i];
        s->b[i] = fixed;
    }
}

static void certify(mcr_fitted *f, const mcr_svm *s, const params *o)
{
    double square = mcr_svm_square(s), loss = 0;
    long double linear = 0, size = 0; /* terms of either sign may be much larger than their sum */
    for (int64_t i = 0; i < s->qp.n; i++) {
        linear += (long double)s->b[i] * (long double)s->z[i];
        size += fabs(s->b[i]);
        loss += s->hi[i] * fmax(0, fabs(s->z[i] - s->g[i] - s->bias) - o->epsilon);
    }
    f->primal = 0.5 * square + loss;
    f->dual = (double)(linear - o->epsilon * size - 0.5 * square);
    f->objective = -f->dual;
    mcr_svm_keep_error(f, mcr_svm_error(s, 1, f->primal, f->dual));
}

static mcr_status fit(mcr_fitted **out, const mcr_learning *in)
{
    const params *o = in->params;
    int64_t n = mcr_data_count(in->data);
    mcr_gram *gram = NULL;
    mcr_svm s;
    mcr_status st = mcr_svm_need_numbers(in->ctx, "svr", in->data);
    if (!st)
        st = mcr_svm_open(&s, in->ctx, n, 1, &o->limits, "svr");
    if (st)
        return st;
    set_problem(&s, o, in);
    s.qp.rough = in->gram != NULL;
    s.qp.part = "svr";
    if (!(st = mcr_learning_gram(&gram, in)) && !(st = mcr_svm_solve(&s, gram, NULL)) &&
        !(st = mcr_svm_finish(out, in, &s, s.b, n, s.bias))) {
        (*out)->task = MCR_REGRESS;
        (*out)->rule = MCR_RULE_VALUE;
        certify(*out, &s, o);
    }
    mcr_gram_close(gram);
    mcr_svm_close(&s, in->ctx);
    return st;
}

const mcr_learner_type mcr_learner_svr = {
    .name = "svr",
    .summary = "support vector regression: errors up to epsilon cost nothing",
    .task = MCR_REGRESS,
    .params = table,
    .params_size = sizeof(params),
    .check = check,
    .fit = fit,
    .usual = {.option = "C",
              .range = "0.0625:4096:log17",
              .table = "0.0625:256:log13", /* their scales are known, and a large C is slow */
              .quick = "0.25:256:log6",
              .instead = "lambda"},
    .form = offsetof(params, form),
    .convex = true,
    .weights_count = true,
    .takes_k = true,
};
