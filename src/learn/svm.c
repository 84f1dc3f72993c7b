/* svm.c: the support vector machine for classification: soft and hard margin, with and without
 * bias.
 *
 *   min 1/2 |w|^2 + sum C_i max(0, 1 - y_i (w.Phi(x_i) + bias))
 *
 * The hard margin with a bias is solved as the distance between the convex hulls of the two classes
 * (Bennett and Bredensteiner, 2000), a problem that has a solution in any case: a distance of 0
 * means that the classes cannot be separated. Without a bias the bound C grows until no coefficient
 * is at it. Both verdicts need evidence beyond rounding: a margin if the classes can be separated,
 * two convex combinations of objects that meet if they cannot. Otherwise the answer is not known.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/team.h"
#include "gram/round.h"
#include "gram/stored.h"
#include "learn/multiclass.h"
#include "learn/svm_problem.h"

typedef struct params {
    mcr_svm_limits limits;
    double C, lambda;
    int bias, probability, multiclass;
    char *class_weight;
    mcr_form_options form;
} params;

static const mcr_param table[] = {
    {"C", MCR_REAL, offsetof(params, C), NULL, 0, INFINITY, MCR_MIN_OPEN, NULL,
     "cost of a violated margin (default 1); inf: hard margin"},
    {"lambda", MCR_REAL, offsetof(params, lambda), NULL, 0, INFINITY, MCR_MIN_OPEN | MCR_MAX_OPEN,
     NULL, "instead of C: C = 1 / (2 lambda n), n objects by weight"},
    {"bias", MCR_FLAG, offsetof(params, bias), "yes", 0, 0, 0, NULL,
     "no: the boundary goes through the origin of the feature space"},
    {MCR_OPTION_CLASS_WEIGHT, MCR_TEXT, offsetof(params, class_weight), NULL, 0, 0, 0, NULL,
     "factors of C by class: 1=2.5,-1=1, or balanced"},
    {"multiclass", MCR_CHOICE, offsetof(params, multiclass), "ovo", 0, 0, 0, "ovo|ovr",
     "one problem for each pair of classes, or each class against the rest"},
    {"probability", MCR_FLAG, offsetof(params, probability), "no", 0, 0, 0, NULL,
     "calibrate probabilities on held-out decision values (5 folds)"},
    MCR_SVM_LIMIT_PARAMS(params),
    MCR_APPROX_PARAMS(params),
    {0},
};

static mcr_status check(mcr *ctx, const void *values)
{
    const params *p = values;
    if (!isnan(p->C) && !isnan(p->lambda))
        return mcr_fail(ctx, MCR_BAD_CALL, "svm: give C or lambda, not both");
    return isinf(p->C) ? mcr_form_refuse(ctx, &p->form, "svm", "the hard margin") : MCR_OK;
}

/* ---- soft margin ------------------------------------------------------------------------------*/

static void set_bounds(mcr_svm *s, const mcr_binary *p, double C)
{
    for (int64_t i = 0; i < p->n; i++) {
        double most = C * p->weight[i];
        s->z[i] = p->y[i];
        s->lo[i] = p->y[i] > 0 ? 0 : -most;
        s->hi[i] = p->y[i] > 0 ? most : 0;
    }
}

/* By how much to multiply a start that is the solution for another C: where most of its
 * coefficients are at that C they will be at the new one, too; where they are not, they hardly
 * move. */
static double start_factor(const mcr_binary *p, double C)
{
    double old = 0, support = 0, bound = 0;
    for (int64_t i = 0; i < p->n; i++)
        if (p->weight[i] > 0)
            old = fmax(old, fabs(p->start[i]) / p->weight[i]);
    for (int64_t i = 0; i < p->n; i++) {
        support += p->start[i] != 0;
        bound += p->start[i] != 0 && fabs(p->start[i]) >= (1 - 1e-9) * old * p->weight[i];
    }
    return C > old && bound > 0.5 * support ? C / old : 1;
}

/* Coefficients to start from: multiplied by the factor and cut to the bounds; if they then do not
 * sum to 0, those of the heavier side are scaled down. */
static void set_start(mcr_svm *s, const mcr_binary *p, double factor_of_start, bool sum)
{
    double side[2] = {0, 0};
    for (int64_t i = 0; p->start && i < p->n; i++) {
        s->b[i] = fmin(fmax(p->start[i] * factor_of_start, s->lo[i]), s->hi[i]);
        side[p->y[i] > 0] += fabs(s->b[i]);
    }
    if (!p->start || !sum || side[0] == side[1])
        return;
    int heavy = side[1] > side[0];
    double factor = side[!heavy] / side[heavy], rest = 0;
    for (int64_t i = 0; i < p->n; i++) {
        if ((p->y[i] > 0) == heavy)
            s->b[i] *= factor;
        rest += s->b[i];
    }
    /* The rounding remainder is added to one coefficient that is not at its bound. */
    for (int64_t i = 0; i < p->n && rest != 0; i++)
        if (s->b[i] - rest > s->lo[i] && s->b[i] - rest < s->hi[i]) {
            s->b[i] -= rest;
            rest = 0;
        }
}

typedef struct costs {
    const mcr_svm *s;
    const mcr_binary *p;
} costs;

/* Objects this close to the margin may have a loss in either function. */
#define NEAR_MARGIN 0.1

/* The hinge losses; the slope also of objects that are at the margin but for the tolerance. */
static double hinge(const void *self, int64_t first, int64_t count, const double *f, double *slope)
{
    const costs *c = self;
    double sum = 0;
    for (int64_t t = 0; t < count; t++) {
        int64_t i = first + t;
        double cost = fmax(-c->s->lo[i], c->s->hi[i]);
        double miss = 1 - c->p->y[i] * (f[t] + c->s->bias);
        sum += cost * fmax(miss, 0);
        slope[t] = miss > -NEAR_MARGIN ? cost : 0;
    }
    return sum;
}

/* The numbers are those of the features; the model stores a function that is not quite theirs. Of
 * features that are never made, its values are those of the certificate, too. */
static mcr_status add_stored_error(const mcr_svm *s, mcr_binary *p)
{
    costs of = {s, p};
    double apart = 0, slip = 0;
    mcr_status st = mcr_form_apart(p->form, p->data, p->object, p->w,
                                   &(mcr_form_objective){1, hinge, &of, 1, p->primal}, &apart,
                                   &slip);
    p->error += apart;
    if (mcr_gram_is_restricted(p->gram))
        p->violation_error = fmax(p->violation_error, 2 * slip);
    if (p->stop == MCR_STOP_OPTIMAL && !(p->violation + p->violation_error <= p->tolerance))
        p->stop = MCR_STOP_STUCK;
    return st;
}

static mcr_status certify(const mcr_svm *s, mcr_binary *p)
{
    double square = mcr_svm_square(s), linear = 0, loss = 0, sum[5];
    for (int64_t i = 0; i < p->n; i++) {
        double margin = p->y[i] * (s->g[i] + s->bias);
        linear += s->b[i] * p->y[i];
        if (margin < 1)
            loss += fmax(-s->lo[i], s->hi[i]) * (1 - margin);
    }
    mcr_svm_error_sums(s, sum);
    sum[2] = square;
    sum[3] = linear;
    sum[4] = loss;
    mcr_status st = mcr_gram_total(p->gram, sum, 5);
    p->primal = 0.5 * sum[2] + sum[4];
    p->dual = sum[3] - 0.5 * sum[2];
    p->gap = p->primal - p->dual;
    p->error = mcr_svm_error_of(s, sum, 1, p->primal, p->dual);
    p->objective = -p->dual;
    p->violation = s->result.violation;
    p->violation_error = s->result.violation_error;
    p->tolerance = s->qp.tolerance;
    p->steps += s->result.steps;
    p->rows = s->result.rows;
    p->stop = mcr_svm_stop(s);
    p->bias = s->bias;
    memcpy(p->coef, s->b, sizeof *p->coef * (size_t)p->n);
    memcpy(p->f, s->g, sizeof *p->f * (size_t)p->n);
    return st;
}

/* From a start whose K b is known. Rounding in set_start is no change worth a row of K. */
static mcr_status solve_from(mcr_svm *s, const mcr_binary *p, double factor)
{
    double *from = mcr_alloc(p->ctx, (size_t)p->n, sizeof *from);
    if (!from)
        return MCR_NO_MEMORY;
    for (int64_t i = 0; i < p->n; i++) {
        double was = factor * p->start[i];
        s->g[i] = factor * p->start_f[i];
        from[i] = fabs(s->b[i] - was) <= 1e-12 * fabs(was) ? s->b[i] : was;
    }
    s->qp.from = from;
    mcr_status st = mcr_svm_solve(s, p->gram, NULL);
    mcr_free(p->ctx, from);
    return st;
}

static mcr_status soft_margin(const params *o, mcr_binary *p, double C)
{
    mcr_svm s;
    mcr_status st = mcr_svm_open(&s, p->ctx, p->n, 1, &o->limits, p->phase);
    if (st)
        return st;
    double factor = p->start ? start_factor(p, C) : 1;
    s.qp.no_sum = !o->bias;
    mcr_binary_limits(p, &s.qp);
    mcr_binary_go_on(p, s.qp.most_steps, &s.qp);
    set_bounds(&s, p, C);
    set_start(&s, p, factor, o->bias);
    st = p->start_f ? solve_from(&s, p, factor) : mcr_svm_solve(&s, p->gram, p->w);
    if (!st)
        st = certify(&s, p);
    if (!st && p->form)
        st = add_stored_error(&s, p);
    mcr_svm_close(&s, p->ctx);
    return st;
}

/* ---- hard margin ------------------------------------------------------------------------------*/

/* Without a bias, in units of 1 / |Phi|^2: beyond, the margin is below what rounding can tell. */
#define MOST_C 1e16

/* Where no bound on the rounding of kernel values is known, so much counts as none. */
#define UNKNOWN_ERROR 1e-12

/* The largest K(x,x); *error: what rounding may change, at most, in a sum of kernel values in
 * double times coefficients whose absolute values sum to 1. */
static mcr_status measure_scale(mcr_binary *p, double *largest, double *error)
{
    double *k = mcr_alloc(p->ctx, (size_t)p->n, sizeof *k);
    mcr_error r = {0, 0};
    mcr_status st = k ? mcr_gram_diagonal(p->gram, 0, k) : MCR_NO_MEMORY;
    if (!st)
        st = mcr_gram_error(p->gram, true, &r);
    *largest = 0;
    for (int64_t i = 0; i < p->n && !st; i++)
        *largest = fmax(*largest, k[i]);
    double share = isfinite(r.absolute) ? r.absolute : UNKNOWN_ERROR;
    *error = (share + (double)p->n * DBL_EPSILON) * *largest;
    mcr_free(p->ctx, k);
    return st;
}

static mcr_status not_separable(const mcr_binary *p, const mcr_svm *s, double distance2)
{
    int64_t count[2] = {0, 0};
    for (int64_t i = 0; i < p->n; i++)
        count[p->y[i] > 0] += s->b[i] != 0;
    return mcr_fail(
        p->ctx, MCR_NUMERIC,
        "svm: not separable with this kernel: convex combinations of %lld objects of one class and "
        "%lld objects of the other meet in feature space (distance %.1e); use a finite C",
        (long long)count[1], (long long)count[0], sqrt(fmax(distance2, 0)));
}

static mcr_status not_known(const mcr_binary *p)
{
    return mcr_fail(p->ctx, MCR_NUMERIC,
                    "svm: after %lld steps it is not known whether the classes can be separated: "
                    "allow more steps or time, scale the data, or use a finite C",
                    (long long)p->steps);
}

/* How far the classes are apart along w: the lowest g of one above the highest of the other. */
static double separation(const mcr_svm *s, const mcr_binary *p)
{
    double low = INFINITY, high = -INFINITY;
    for (int64_t i = 0; i < p->n; i++) {
        if (p->weight[i] == 0)
            continue;
        if (p->y[i] > 0)
            low = fmin(low, s->g[i]);
        else
            high = fmax(high, s->g[i]);
    }
    return low - high;
}

/* Coefficients and bias for margins of exactly 1 from the hull problem: with levels u > v of the
 * two groups, w is scaled by 2 / (u - v), which is returned. */
static double scale_to_margin(mcr_svm *s, mcr_binary *p, double upper, double lower)
{
    double factor = 2 / (upper - lower);
    s->bias = -(upper + lower) / (upper - lower);
    for (int64_t i = 0; i < p->n; i++) {
        s->b[i] *= factor;
        s->g[i] *= factor;
    }
    s->result.violation *= factor;
    return factor;
}

static void certify_hard(mcr_svm *s, mcr_binary *p, double factor, double tolerance)
{
    double square = mcr_svm_square(s), linear = 0, worst = 1;
    for (int64_t i = 0; i < p->n; i++) {
        linear += s->b[i] * p->y[i];
        if (p->weight[i] > 0)
            worst = fmin(worst, p->y[i] * (s->g[i] + s->bias));
    }
    /* Scaled so that every margin is at least 1: a feasible point of the primal. */
    p->primal = worst > 0 ? 0.5 * square / (worst * worst) : INFINITY;
    p->dual = linear - 0.5 * square;
    p->gap = p->primal - p->dual;
    /* The coefficients were multiplied by `factor`, and the margin comes from the difference of
     * levels. */
    p->error = mcr_svm_error(s, 4 * factor * factor, p->primal, p->dual);
    p->objective = -p->dual;
    p->violation = s->result.violation;
    p->violation_error = factor * s->result.violation_error;
    p->tolerance = tolerance;
    p->stop = s->result.stop == MCR_STOP_OPTIMAL ? MCR_STOP_OPTIMAL : mcr_svm_stop(s);
    if (p->stop == MCR_STOP_OPTIMAL && p->violation > tolerance)
        p->stop = MCR_STOP_STUCK;
    p->bias = s->bias;
    memcpy(p->coef, s->b, sizeof *p->coef * (size_t)p->n);
    memcpy(p->f, s->g, sizeof *p->f * (size_t)p->n);
}

/* Where one class has no weight, w = 0 and a bias of its side are the optimum. */
static mcr_status one_sided(mcr_binary *p, bool positive, double tolerance)
{
    memset(p->coef, 0, sizeof *p->coef * (size_t)p->n);
    memset(p->f, 0, sizeof *p->f * (size_t)p->n);
    p->bias = positive ? 1 : -1;
    p->objective = p->primal = p->dual = p->gap = p->violation = 0;
    p->tolerance = tolerance;
    p->stop = MCR_STOP_OPTIMAL;
    return MCR_OK;
}

static void set_hulls(mcr_svm *s, const mcr_binary *p, const double count[2])
{
    for (int64_t i = 0; i < p->n; i++) {
        bool positive = p->y[i] > 0;
        s->group[i] = positive;
        if (p->weight[i] == 0)
            continue; /* an object without weight does not count */
        /* The sum is 1; a bound beyond it keeps a coefficient of 1 free. */
        s->lo[i] = positive ? 0 : -2;
        s->hi[i] = positive ? 2 : 0;
        s->b[i] = p->y[i] / count[positive];
    }
}

static mcr_status hard_margin(const params *o, mcr_binary *p)
{
    double largest, error, count[2] = {0, 0};
    mcr_svm s;
    for (int64_t i = 0; i < p->n; i++)
        count[p->y[i] > 0] += p->weight[i] > 0;
    if (count[0] == 0 || count[1] == 0)
        return one_sided(p, count[1] > 0, o->limits.tol);
    mcr_status st = measure_scale(p, &largest, &error);
    if (!st)
        st = mcr_svm_open(&s, p->ctx, p->n, 2, &o->limits, p->phase);
    if (st)
        return st;
    mcr_binary_limits(p, &s.qp);
    s.qp.rather_whole = true;
    set_hulls(&s, p, count);
    const int64_t most_steps = s.qp.most_steps;
    /* The tolerance that the margin needs depends on the distance, which is not known before. */
    const double least = fmax(2 * error, 1e-300);
    s.qp.tolerance = 1e-3 * o->limits.tol * largest;
    for (;;) {
        st = mcr_qp_solve(p->gram, &s.qp, s.b, s.g, &s.result);
        if (st)
            break;
        p->steps += s.result.steps;
        double upper = -mcr_svm_level(&s, 1), lower = -mcr_svm_level(&s, 0);
        double distance2 = mcr_svm_square(&s), needed = 0.5 * o->limits.tol * distance2;
        bool ended = s.result.stop == MCR_STOP_TIME || s.result.stop == MCR_STOP_INTERRUPTED ||
                     s.result.stop == MCR_STOP_STEPS;
        /* The coefficients' absolute values sum to 2. */
        bool apart = separation(&s, p) > 4 * error, meet = distance2 <= 4 * error;
        if (ended || s.qp.tolerance <= needed || s.qp.tolerance <= least) {
            if (!apart || !(upper > lower)) {
                st = meet && !ended ? not_separable(p, &s, distance2) : not_known(p);
                break;
            }
            double factor = scale_to_margin(&s, p, upper, lower);
            certify_hard(&s, p, factor, o->limits.tol);
            break;
        }
        s.qp.tolerance = fmax(fmin(0.01 * s.qp.tolerance, needed), least);
        mcr_binary_go_on(p, most_steps, &s.qp);
    }
    mcr_svm_close(&s, p->ctx);
    return st;
}

/* Share of the largest |Phi(x)| by which the objects y_i Phi(x_i) can be kept from the origin: the
 * mixture that the coefficients make lies there. */
static double nearness(const mcr_binary *p, double largest)
{
    double sum = 0, square = 0;
    for (int64_t i = 0; i < p->n; i++) {
        sum += fabs(p->coef[i]);
        square += p->coef[i] * p->f[i];
    }
    return sum > 0 && largest > 0 ? sqrt(fmax(square, 0) / largest) / sum : 0;
}

/* Without a bias: C grows until no coefficient is at it, or until the convex combination is at the
 * origin up to rounding. No margin is larger than its distance from the origin. */
static mcr_status hard_margin_through_origin(const params *o, mcr_binary *p)
{
    double largest = 0, error = 0, *start = mcr_alloc(p->ctx, (size_t)p->n, sizeof *start);
    mcr_status st = start ? measure_scale(p, &largest, &error) : MCR_NO_MEMORY;
    double unit = 1 / fmax(largest, 1e-300);
    for (double C = 100 * unit; !st; C *= 100) {
        int64_t at_bound = 0;
        st = soft_margin(o, p, C);
        for (int64_t i = 0; i < p->n && !st; i++)
            at_bound += p->weight[i] > 0 && fabs(p->coef[i]) >= C * p->weight[i];
        bool ended = p->stop == MCR_STOP_TIME || p->stop == MCR_STOP_STEPS ||
                     p->stop == MCR_STOP_INTERRUPTED;
        if (st || at_bound == 0 || ended)
            break;
        double near = nearness(p, largest);
        bool meet = near * near * largest <= 4 * error;
        if (!meet && (p->stop != MCR_STOP_OPTIMAL || C >= MOST_C * unit)) {
            st = not_known(p);
            break;
        }
        if (meet) {
            st = mcr_fail(
                p->ctx, MCR_NUMERIC,
                "svm: not separable through the origin with this kernel: %lld objects violate the "
                "margin at C = %.1e, and a convex combination of the objects lies within %.1e of "
                "the origin (in units of the longest); use a finite C",
                (long long)at_bound, C, near);
            break;
        }
        memcpy(start, p->coef, sizeof *start * (size_t)p->n);
        p->start = start;
    }
    double square = 0, worst = 1;
    for (int64_t i = 0; i < p->n && !st; i++) {
        square += p->coef[i] * p->f[i];
        if (p->weight[i] > 0)
            worst = fmin(worst, p->y[i] * p->f[i]);
    }
    p->primal = worst > 0 ? 0.5 * square / (worst * worst) : INFINITY;
    p->gap = p->primal - p->dual;
    p->start = NULL;
    mcr_free(p->ctx, start);
    return st;
}

/* ---- the learner ------------------------------------------------------------------------------*/

static mcr_status solve(const void *values, mcr_binary *p)
{
    const params *o = values;
    double C = !isnan(o->C)       ? o->C
               : isnan(o->lambda) ? 1
               : p->count > 0     ? 1 / (2 * o->lambda * p->count)
                                  : 0; /* nothing in this problem has a weight */
    if (isfinite(C))
        return soft_margin(o, p, C);
    return o->bias ? hard_margin(o, p) : hard_margin_through_origin(o, p);
}

/* Of rows that are spread over several processes. */
static mcr_status check_spread(const params *o, mcr *ctx)
{
    if (isinf(o->C))
        return mcr_fail(ctx, MCR_BAD_CALL,
                        "svm: the hard margin needs kernel values of all pairs of objects, which "
                        "are not available when rows are spread over several processes: give a "
                        "finite C");
    if (o->probability)
        return mcr_fail(ctx, MCR_BAD_CALL,
                        "svm: probabilities cannot be calibrated when rows are spread over several "
                        "processes: omit probability, or train logistic");
    return MCR_OK;
}

static mcr_status fit(mcr_fitted **out, const mcr_learning *in)
{
    const params *o = in->params;
    mcr_status s = mcr_team_of_rows(in->ctx) ? check_spread(o, in->ctx) : MCR_OK;
    if (s)
        return s;
    mcr_multiclass how = {
        .learner = "svm",
        .class_weight = o->class_weight,
        .one_vs_rest = o->multiclass == 1,
        .probability = o->probability,
        .time_limit = o->limits.time_limit,
        .solve = solve,
        .params = o,
        .certificate = o->form.approx ? "KKT violation of the approximate problem"
                                      : "KKT violation",
        .share_k = o->bias && o->limits.tol >= 1e-5, /* else each would need doubles of its own */
        .form = isinf(o->C) ? NULL : &o->form,
    };
    const mcr_fold *fold = in->gram ? mcr_gram_as_fold(in->gram) : NULL;
    return fold && mcr_gram_is_float(fold->of) ? mcr_multiclass_fold(out, in, &how)
                                               : mcr_multiclass_fit(out, in, &how);
}

static bool takes_fold(const void *values)
{
    const params *o = values;
    return !isinf(o->C) && !o->probability;
}

static mcr_status fold_bytes(size_t *bytes, mcr *ctx, const void *values, const mcr_data *data)
{
    const params *o = values;
    return mcr_multiclass_fold_bytes(bytes, ctx, o->multiclass == 1, data);
}

const mcr_learner_type mcr_learner_svm = {
    .name = "svm",
    .summary = "support vector machine for two or more classes",
    .task = MCR_CLASSIFY,
    .params = table,
    .params_size = sizeof(params),
    .check = check,
    .fit = fit,
    .usual = {.option = "C",
              .range = "0.0625:4096:log17",
              .table = "0.0625:256:log13", /* their scales are known, and a large C is slow */
              .quick = "0.25:256:log6",
              .instead = "lambda"},
    .convex = true,
    .weights_count = true,
    .takes_k = true,
    .spreads = true,
    .takes_fold = takes_fold,
    .fold_bytes = fold_bytes,
};
