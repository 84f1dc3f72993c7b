/* nu_svr.c: support vector regression that chooses epsilon, by nu (Schoelkopf et al., 2000).
 *
 *   min 1/2 |w|^2 + C (nu n epsilon + sum max(0, |y_i - w.Phi(x_i) - bias| - epsilon))
 *
 * The dual keeps the sum of the positive and of the negative multipliers at C nu n / 2 each; so
 * every object stands twice, once in each group.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stddef.h>

#include "learn/form.h"
#include "learn/svm_problem.h"

typedef struct params {
    mcr_svm_limits limits;
    double C, nu;
    mcr_form_options form;
} params;

static const mcr_param table[] = {
    {"C", MCR_REAL, offsetof(params, C), "1", 0, INFINITY, MCR_MIN_OPEN | MCR_MAX_OPEN, NULL,
     "cost of an error beyond epsilon"},
    {"nu", MCR_REAL, offsetof(params, nu), "0.5", 0, 1, MCR_MIN_OPEN, NULL,
     "upper bound on the share of errors beyond epsilon, lower bound on that of support vectors"},
    MCR_SVM_LIMIT_PARAMS(params),
    MCR_APPROX_PARAMS(params),
    {0},
};

/* Objects 0..n-1 with b >= 0, and again with b <= 0. */
static void set_problem(mcr_svm *s, const params *o, const mcr_learning *in, double *total)
{
    int64_t n = s->qp.n / 2;
    const double *y = mcr_data_targets(in->data), *weight = mcr_data_weights(in->data);
    *total = 0;
    for (int64_t i = 0; i < n; i++) {
        double most = o->C * (weight ? weight[i] : 1);
        *total += most;
        s->z[i] = s->z[n + i] = y[i];
        s->hi[i] = most;
        s->lo[n + i] = -most;
        s->group[n + i] = 1;
    }
    double left = 0.5 * o->nu * *total;
    for (int64_t i = 0; i < n; i++) {
        s->b[i] = fmin(left, s->hi[i]);
        s->b[n + i] = -s->b[i];
        left -= s->b[i];
    }
}

/* K of the objects, each of them twice. */
static mcr_status twice(mcr_gram **out, const mcr_learning *in)
{
    int64_t n = mcr_data_count(in->data);
    int64_t *row = mcr_alloc(in->ctx, 2 * (uint64_t)n, sizeof *row);
    mcr_data *doubled = NULL;
    mcr_status st = row ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t i = 0; i < n && !st; i++)
        row[i] = row[n + i] = i;
    if (!st && in->gram)
        st = mcr_gram_select_both(out, in->gram, (mcr_rows){row, 0, 2 * n});
    else if (!st && !(st = mcr_data_select(&doubled, in->data, (mcr_rows){row, 0, 2 * n})))
        st = mcr_gram_open(out, in->ctx, in->kernel, doubled, NULL);
    mcr_data_free(doubled);
    mcr_free(in->ctx, row);
    return st;
}

/* g = z - bias - epsilon above the tube, z - bias + epsilon below: the levels of the two groups. */
static mcr_status finish(mcr_fitted **out, const mcr_learning *in, mcr_svm *s, const params *o,
                         double total)
{
    int64_t n = s->qp.n / 2;
    double above = mcr_svm_level(s, 0), below = mcr_svm_level(s, 1);
    /* At nu = 1 the levels may cross, within the tolerance: the tube is then empty. */
    double bias = 0.5 * (above + below), epsilon = fmax(0.5 * (above - below), 0);
    double square = mcr_svm_square(s), loss = 0, common = 0;
    double error = mcr_svm_error(s, 1, square, square);
    double *both = s->b + n; /* what the two multipliers of an object have in common */
    long double linear = 0;
    for (int64_t i = 0; i < n; i++) {
        /* Each of the two is exact where its own error may cost something. */
        double over = s->z[i] - s->g[i] - bias, under = bias + s->g[n + i] - s->z[i];
        double up = s->b[i], down = -s->b[n + i];
        s->b[i] = up - down;
        both[i] = fmin(up, down);
        common = fmax(common, both[i]);
        linear += (long double)s->b[i] * (long double)s->z[i];
        loss += s->hi[i] * fmax(0, fmax(over, under) - epsilon);
    }
    mcr_status st = mcr_svm_finish(out, in, s, s->b, n, bias);
    if (st)
        return st;
    mcr_fitted *f = *out;
    f->task = MCR_REGRESS;
    f->rule = MCR_RULE_VALUE;
    f->primal = 0.5 * square + o->nu * total * epsilon + loss;
    f->dual = (double)(linear - 0.5 * square);
    f->objective = -f->dual;
    mcr_svm_keep_error(f, error + (double)n * 1e-16 * (fabs(f->primal) + fabs(f->dual)));
    st = mcr_fitted_keep(f, MCR_EXTRA_EPSILON, &epsilon, 1);
    if (!st && common > 0)
        st = mcr_fitted_keep(f, MCR_EXTRA_COMMON, both, n);
    return st;
}

static mcr_status fit(mcr_fitted **out, const mcr_learning *in)
{
    const params *o = in->params;
    int64_t n = mcr_data_count(in->data);
    double total;
    mcr_gram *gram = NULL;
    mcr_svm s;
    mcr_status st = mcr_svm_need_numbers(in->ctx, "nu-svr", in->data);
    if (!st)
        st = mcr_svm_open(&s, in->ctx, 2 * n, 2, &o->limits, "nu-svr");
    if (st)
        return st;
    set_problem(&s, o, in, &total);
    s.qp.part = "nu-svr";
    if (!(st = twice(&gram, in)) && !(st = mcr_svm_solve(&s, gram, NULL)))
        st = finish(out, in, &s, o, total);
    mcr_gram_close(gram);
    mcr_svm_close(&s, in->ctx);
    return st;
}

const mcr_learner_type mcr_learner_nu_svr = {
    .name = "nu-svr",
    .summary = "support vector regression that chooses epsilon, given a share nu of errors",
    .task = MCR_REGRESS,
    .params = table,
    .params_size = sizeof(params),
    .fit = fit,
    .usual = {.option = "C", .range = "0.0625:4096:log17"},
    .form = offsetof(params, form),
    .convex = true,
    .weights_count = true,
};
