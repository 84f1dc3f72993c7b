/* nu_svm.c: the support vector machine with nu instead of C: nu bounds the share of margin errors
 * from above and the share of support vectors from below (Schoelkopf, Smola, Williamson, Bartlett,
 * 2000).
 *
 *   min 1/2 |w|^2 - nu n rho + sum w_i max(0, rho - y_i (w.Phi(x_i) + bias))
 *
 * Its dual has the sum of each class's coefficients fixed to nu n / 2. The result is scaled by
 * 1/rho, as LIBSVM does, so that it is the solution of an svm with C = 1/rho. The tolerance is that
 * of the scaled result: where rho is small, the unscaled problem must be solved to tol * rho.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stddef.h>

#include "learn/multiclass.h"
#include "learn/svm_problem.h"

typedef struct params {
    mcr_svm_limits limits;
    double nu;
    int probability, multiclass;
    char *class_weight;
    mcr_form_options form;
} params;

static const mcr_param table[] = {
    {"nu", MCR_REAL, offsetof(params, nu), "0.5", 0, 1, MCR_MIN_OPEN, NULL,
     "upper bound on the share of margin errors, lower bound on that of support vectors"},
    {MCR_OPTION_CLASS_WEIGHT, MCR_TEXT, offsetof(params, class_weight), NULL, 0, 0, 0, NULL,
     "factors of the bounds by class: 1=2.5,-1=1, or balanced"},
    {"multiclass", MCR_CHOICE, offsetof(params, multiclass), "ovo", 0, 0, 0, "ovo|ovr",
     "one problem for each pair of classes, or each class against the rest"},
    {"probability", MCR_FLAG, offsetof(params, probability), "no", 0, 0, 0, NULL,
     "calibrate probabilities on held-out decision values (5 folds)"},
    MCR_SVM_LIMIT_PARAMS(params),
    MCR_APPROX_PARAMS(params),
    {0},
};

/* Fills each class in order up to half of the total; LIBSVM's start. */
static mcr_status set_start(mcr_svm *s, const mcr_binary *p, double nu)
{
    double total = 0, sum[2] = {0, 0};
    for (int64_t i = 0; i < p->n; i++) {
        total += p->weight[i];
        sum[p->y[i] > 0] += p->weight[i];
    }
    double each = 0.5 * nu * total, most = fmin(sum[0], sum[1]);
    if (p->fold)
        each = fmin(each, most);
    double left[2] = {each, each};
    if (each > most * (1 + 1e-12))
        return mcr_fail(
            p->ctx, MCR_BAD_CALL,
            "nu-svm: nu = %g is not feasible for these classes; the largest feasible value is %.6g",
            nu, 2 * most / total);
    for (int64_t i = 0; i < p->n; i++) {
        int side = p->y[i] > 0;
        double b = fmin(p->weight[i], left[side]);
        left[side] -= b;
        s->group[i] = (unsigned char)side;
        s->lo[i] = side ? 0 : -p->weight[i];
        s->hi[i] = side ? p->weight[i] : 0;
        s->b[i] = side ? b : -b;
    }
    return MCR_OK;
}

/* On the margins g + bias = +-rho. */
static double half_distance(const mcr_svm *s)
{
    return 0.5 * (mcr_svm_level(s, 0) - mcr_svm_level(s, 1));
}

/* What is lost in a sum of kernel values times coefficients. */
static mcr_status look_at_rounding(const mcr_svm *s, const mcr_binary *p, double *floor)
{
    double *k = mcr_alloc(p->ctx, (size_t)p->n, sizeof *k), largest = 0, sum = 0;
    mcr_status st = k ? mcr_gram_diagonal(p->gram, 0, k) : MCR_NO_MEMORY;
    for (int64_t i = 0; i < p->n && !st; i++) {
        largest = fmax(largest, fabs(k[i]));
        sum += fabs(s->b[i]);
    }
    *floor = 1e-14 * largest * sum;
    mcr_free(p->ctx, k);
    return st;
}

/* Solves until the violation is at most tol * rho, or rounding forbids it. */
static mcr_status solve_scaled(mcr_svm *s, mcr_binary *p, double tol)
{
    const int64_t most_steps = s->qp.most_steps;
    double floor;
    mcr_status st = look_at_rounding(s, p, &floor);
    for (;;) {
        if (st || (st = mcr_qp_solve(p->gram, &s->qp, s->b, s->g, &s->result)))
            return st;
        p->steps += s->result.steps;
        double needed = tol * half_distance(s);
        if (s->result.stop != MCR_STOP_OPTIMAL || s->result.violation <= needed)
            return MCR_OK;
        if (s->qp.tolerance <= floor) {
            s->result.stop = MCR_STOP_STUCK;
            return MCR_OK;
        }
        /* A margin below the violation itself is not known yet. */
        s->qp.tolerance = fmax(0.5 * fmax(needed, 0.01 * tol * s->result.violation), floor);
        mcr_binary_go_on(p, most_steps, &s->qp);
    }
}

static mcr_status solve(const void *values, mcr_binary *p)
{
    const params *o = values;
    mcr_svm s;
    mcr_status st = mcr_svm_open(&s, p->ctx, p->n, 2, &o->limits, p->phase);
    if (st)
        return st;
    mcr_binary_limits(p, &s.qp);
    if ((st = set_start(&s, p, o->nu)) || (st = solve_scaled(&s, p, o->limits.tol)))
        goto done;
    double rho = half_distance(&s), bias = 0.5 * (mcr_svm_level(&s, 1) + mcr_svm_level(&s, 0));
    bool blurred = s.result.stop == MCR_STOP_STUCK && rho <= s.result.violation;
    if (!(rho > 0) || blurred) {
        st = mcr_fail(p->ctx, MCR_NUMERIC,
                      "nu-svm: the margin is 0 with this kernel and nu = %g; try a larger nu",
                      o->nu);
        goto done;
    }
    mcr_svm_round_again(&s);
    double square = mcr_svm_square(&s), total = 0, loss = 0;
    for (int64_t i = 0; i < p->n; i++) {
        total += p->weight[i];
        loss += p->weight[i] * fmax(0, rho - p->y[i] * (s.g[i] + bias));
        p->coef[i] = s.b[i] / rho;
        p->f[i] = s.g[i] / rho;
    }
    double scale = 1 / (rho * rho);
    p->bias = bias / rho;
    p->primal = scale * (0.5 * square - o->nu * total * rho + loss);
    p->dual = -scale * 0.5 * square;
    p->gap = p->primal - p->dual;
    p->error = mcr_svm_error(&s, scale, p->primal, p->dual);
    p->slope = 1 / rho;
    p->objective = -p->dual;
    p->violation = s.result.violation / rho;
    p->violation_error = s.result.violation_error / rho;
    p->tolerance = o->limits.tol;
    p->stop = mcr_svm_stop(&s);
done:
    mcr_svm_close(&s, p->ctx);
    return st;
}

static mcr_status fit(mcr_fitted **out, const mcr_learning *in)
{
    const params *o = in->params;
    mcr_multiclass how = {
        .learner = "nu-svm",
        .class_weight = o->class_weight,
        .one_vs_rest = o->multiclass == 1,
        .probability = o->probability,
        .time_limit = o->limits.time_limit,
        .solve = solve,
        .params = o,
        .certificate = "KKT violation",
    };
    return mcr_multiclass_fit(out, in, &how);
}

const mcr_learner_type mcr_learner_nu_svm = {
    .name = "nu-svm",
    .summary = "support vector machine with nu, a bound on the share of errors, instead of C",
    .task = MCR_CLASSIFY,
    .params = table,
    .params_size = sizeof(params),
    .fit = fit,
    .usual = {.option = "nu", .range = "0.01:0.6:log13"},
    .form = offsetof(params, form),
    .convex = true,
    .weights_count = true,
    .takes_k = true,
};
