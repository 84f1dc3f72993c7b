/* one_class.c: the support of a distribution: a function that is positive on most of the training
 * objects (Schoelkopf, Platt, Shawe-Taylor, Smola, Williamson, 2001).
 *
 *   min 1/2 |w|^2 - nu n rho + sum w_i max(0, rho - w.Phi(x_i)),   f(x) = w.Phi(x) - rho
 *
 * scaled by nu n against the paper, as LIBSVM has it: 0 <= b_i <= w_i, sum b = nu n.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stddef.h>

#include "learn/form.h"
#include "learn/svm_problem.h"

typedef struct params {
    mcr_svm_limits limits;
    double nu;
    mcr_form_options form;
} params;

static const mcr_param table[] = {
    {"nu", MCR_REAL, offsetof(params, nu), "0.5", 0, 1, MCR_MIN_OPEN, NULL,
     "upper bound on the share of objects outside, lower bound on that of support vectors"},
    MCR_SVM_LIMIT_PARAMS(params),
    MCR_APPROX_PARAMS(params),
    {0},
};

static mcr_status fit(mcr_fitted **out, const mcr_learning *in)
{
    const params *o = in->params;
    int64_t n = mcr_data_count(in->data);
    const double *weight = mcr_data_weights(in->data);
    mcr_gram *gram = NULL;
    mcr_svm s;
    mcr_status st = mcr_svm_open(&s, in->ctx, n, 1, &o->limits, "one-class");
    if (st)
        return st;
    double total = 0;
    for (int64_t i = 0; i < n; i++)
        total += s.hi[i] = weight ? weight[i] : 1;
    if (!(total > 0)) {
        st = mcr_fail(in->ctx, MCR_BAD_DATA,
                      n ? "one-class: all weights are 0" : "one-class: there are no objects");
        goto done;
    }
    s.qp.part = "one-class";
    double left = o->nu * total;
    for (int64_t i = 0; i < n; i++) {
        s.b[i] = fmin(left, s.hi[i]);
        left -= s.b[i];
    }
    if ((st = mcr_learning_gram(&gram, in)) || (st = mcr_svm_solve(&s, gram, NULL)) ||
        (st = mcr_svm_finish(out, in, &s, s.b, n, s.bias)))
        goto done;
    mcr_fitted *f = *out;
    double square = mcr_svm_square(&s), rho = -s.bias, loss = 0;
    for (int64_t i = 0; i < n; i++)
        loss += s.hi[i] * fmax(0, rho - s.g[i]);
    f->task = MCR_DETECT;
    f->rule = MCR_RULE_SIGN;
    f->primal = 0.5 * square - o->nu * total * rho + loss;
    f->dual = -0.5 * square;
    f->objective = -f->dual;
    mcr_svm_keep_error(f, mcr_svm_error(&s, 1, f->primal, f->dual));
done:
    mcr_gram_close(gram);
    mcr_svm_close(&s, in->ctx);
    return st;
}

const mcr_learner_type mcr_learner_one_class = {
    .name = "one-class",
    .summary = "outlier detection: a region that holds most of the training objects",
    .task = MCR_DETECT,
    .params = table,
    .params_size = sizeof(params),
    .fit = fit,
    .usual = {.option = "nu", .range = "0.01:0.5:log9"},
    .form = offsetof(params, form),
    .convex = true,
    .weights_count = true,
};
