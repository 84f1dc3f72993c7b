/* svm_problem.c: shared by the support vector machines.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "learn/svm_problem.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "base/team.h"
#include "gram/round.h"
#include "learn/goal.h"

/* Some problems have no end in sight (C of 1e9 on noise): about a minute of steps, or a thousand
 * for each object, is enough for those that have. */
static int64_t default_steps(int64_t n)
{
    const int64_t least = 100000000;
    return n > least / 1000 ? 1000 * n : least;
}

mcr_status mcr_svm_open(mcr_svm *svm, mcr *ctx, int64_t n, int groups, const mcr_svm_limits *limits,
                        const char *phase)
{
    *svm = (mcr_svm){0};
    size_t count = (size_t)n;
    unsigned char *group;
    if (!mcr_alloc_arrays(ctx, MCR_CLEARED(svm->z, count), /* which is the block to free */
                          MCR_CLEARED(svm->lo, count), MCR_CLEARED(svm->hi, count),
                          MCR_CLEARED(svm->b, count), MCR_CLEARED(svm->g, count),
                          MCR_CLEARED(group, count)))
        return MCR_NO_MEMORY;
    svm->group = groups == 2 ? group : NULL;
    svm->qp = (mcr_qp){
        .n = n,
        .z = svm->z,
        .lo = svm->lo,
        .hi = svm->hi,
        .group = svm->group,
        .tolerance = limits->tol,
        .most_steps = limits->max_steps == INT64_MIN ? default_steps(n) : limits->max_steps,
        .seconds = isnan(limits->time_limit) ? 0 : limits->time_limit,
        .cache_bytes = 1 + (size_t)(fmin(limits->cache_mb, 1e9) * 1048576.0),
        .phase = phase,
    };
    return MCR_OK;
}

void mcr_svm_close(mcr_svm *svm, mcr *ctx)
{
    mcr_free(ctx, svm->z);
    *svm = (mcr_svm){0};
}

/* The slopes of the free coefficients of a group, and how many there are. */
static void add_free(const mcr_svm *svm, int group, double slope[2])
{
    double sum = 0;
    int64_t count = 0;
    for (int64_t i = 0; i < svm->qp.n; i++) {
        double b = svm->b[i];
        if ((svm->group && svm->group[i] != group) || b <= svm->lo[i] || b >= svm->hi[i] ||
            (b == 0 && svm->qp.epsilon > 0))
            continue;
        sum += svm->g[i] - svm->z[i] + (b > 0 ? svm->qp.epsilon : -svm->qp.epsilon);
        count++;
    }
    slope[0] = sum;
    slope[1] = (double)count;
}

static double level_of(const mcr_svm *svm, int group, const double slope[2])
{
    if (slope[1] > 0)
        return -slope[0] / slope[1];
    double low = svm->result.low[group], high = svm->result.high[group];
    if (!isfinite(low) && !isfinite(high))
        return 0;
    return -(isfinite(low) ? isfinite(high) ? 0.5 * (low + high) : low : high);
}

double mcr_svm_level(const mcr_svm *svm, int group)
{
    double slope[2];
    add_free(svm, group, slope);
    return level_of(svm, group, slope);
}

mcr_status mcr_svm_solve(mcr_svm *svm, mcr_gram *gram, double *w)
{
    double slope[2] = {0, 0};
    mcr_status s = w ? mcr_linear_solve(gram, &svm->qp, svm->b, svm->g, w, &svm->result)
                     : mcr_qp_solve(gram, &svm->qp, svm->b, svm->g, &svm->result);
    if (s)
        return s;
    add_free(svm, 0, slope);
    s = mcr_gram_total(gram, slope, 2);
    svm->bias = svm->qp.no_sum ? 0 : level_of(svm, 0, slope);
    return s;
}

double mcr_svm_square(const mcr_svm *svm)
{
    long double sum = 0;
    for (int64_t i = 0; i < svm->qp.n; i++)
        sum += (long double)svm->b[i] * (long double)svm->g[i];
    return (double)sum;
}

/* The losses of objects that are not at their bounds have errors: each has the weight of its bound,
 * not of its coefficient. Only those near the margin have a loss that is not certain to be 0. */
static double uncertain_weight(const mcr_svm *svm)
{
    bool two = svm->group != NULL;
    double each = svm->result.violation_error, near = fmax(2 * svm->qp.tolerance, each), sum = 0;
    double level[2] = {svm->bias, two ? mcr_svm_level(svm, 1) : 0};
    if (two)
        level[0] = mcr_svm_level(svm, 0);
    for (int64_t i = 0; i < svm->qp.n; i++) {
        double lo = fabs(svm->lo[i]), hi = fabs(svm->hi[i]), most = lo > hi ? lo : hi,
               b = svm->b[i];
        double miss = fabs(svm->z[i] - svm->g[i] - level[two ? svm->group[i] : 0]);
        bool counts = b != 0 || fabs(miss - svm->qp.epsilon) <= near;
        if (isfinite(most) && fabs(b) < most && counts)
            sum += most;
    }
    return sum;
}

void mcr_svm_round_again(mcr_svm *svm)
{
    mcr_qp_result *r = &svm->result;
    r->square_error += 2 * DBL_EPSILON * r->size * r->size;
    r->violation_error += 2 * DBL_EPSILON * r->size * sqrt(r->largest);
}

void mcr_svm_error_sums(const mcr_svm *svm, double sum[2])
{
    sum[0] = (double)svm->qp.n;
    sum[1] = uncertain_weight(svm);
}

double mcr_svm_error_of(const mcr_svm *svm, const double sum[2], double unit, double primal,
                        double dual)
{
    /* The loss of objects at their bounds adds as much as the square at most; the sums are those of
     * n numbers. */
    return unit * (1.5 * svm->result.square_error + sum[1] * svm->result.violation_error) +
           sum[0] * 1e-16 * (fabs(primal) + fabs(dual));
}

double mcr_svm_error(const mcr_svm *svm, double unit, double primal, double dual)
{
    double sum[2];
    mcr_svm_error_sums(svm, sum);
    return mcr_svm_error_of(svm, sum, unit, primal, dual);
}

void mcr_svm_keep_error(mcr_fitted *f, double error)
{
    f->gap = fmax(f->primal - f->dual, 0);
    f->objective_error = error;
}

mcr_stop mcr_svm_stop(const mcr_svm *svm)
{
    /* If rounding hides more than the tolerance, nothing is proved. */
    bool hidden = svm->result.violation_error > svm->qp.tolerance;
    return hidden && svm->result.stop == MCR_STOP_OPTIMAL ? MCR_STOP_STUCK : svm->result.stop;
}

/* ---- weights ----------------------------------------------------------------------------------*/

static int64_t find_class(const mcr_data *data, const char *name, size_t length)
{
    double value, other;
    bool number = mcr_parse_real(name, name + length, &value) == name + length;
    for (int64_t c = 0; c < mcr_data_classes(data); c++) {
        const char *word = mcr_data_class_name(data, c), *end = word + strlen(word);
        if ((size_t)(end - word) == length && memcmp(word, name, length) == 0)
            return c;
        if (number && mcr_parse_real(word, end, &other) == end && other == value)
            return c;
    }
    return -1;
}

/* "1=2.5,-1=1" into one factor a class. */
static mcr_status parse_factors(mcr *ctx, const char *learner, const mcr_data *data,
                                const char *text, double *factor)
{
    for (const char *p = text; *p;) {
        size_t length = strcspn(p, ","), name = strcspn(p, "=,");
        const char *value = p + name + 1, *end = p + length;
        int64_t c = find_class(data, p, name);
        if (name == length || mcr_parse_real(value, end, &factor[c < 0 ? 0 : c]) != end)
            return mcr_fail(ctx, MCR_BAD_CALL,
                            "%s: class-weight \"%.*s\" is not CLASS=NUMBER (or write balanced)",
                            learner, (int)length, p);
        if (c < 0)
            return mcr_fail(ctx, MCR_BAD_CALL, "%s: class-weight: the data have no class \"%.*s\"",
                            learner, (int)name, p);
        if (!(factor[c] > 0) || !isfinite(factor[c]))
            return mcr_fail(ctx, MCR_BAD_CALL,
                            "%s: class-weight \"%.*s\" must be greater than 0 and finite", learner,
                            (int)length, p);
        p = *end ? end + 1 : end;
    }
    return MCR_OK;
}

mcr_status mcr_svm_weights(mcr *ctx, const char *learner, const mcr_data *data,
                           const char *class_weight, double *weight)
{
    int64_t n = mcr_data_count(data), classes = mcr_data_classes(data);
    const double *sample = mcr_data_weights(data);
    const int32_t *class_of = mcr_data_class_of(data);
    double total = 0;
    for (int64_t i = 0; i < n; i++)
        total += weight[i] = sample ? sample[i] : 1;
    mcr_status s = mcr_team_sum(ctx, &total, 1);
    if (s)
        return s;
    if (!(total > 0))
        return mcr_fail(ctx, MCR_BAD_DATA, "%s: all weights are 0", learner);
    if (!class_weight)
        return MCR_OK;
    double *factor = mcr_alloc(ctx, (size_t)classes, sizeof *factor);
    if (!factor)
        return MCR_NO_MEMORY;
    bool balanced = strcmp(class_weight, "balanced") == 0;
    for (int64_t c = 0; c < classes; c++)
        factor[c] = balanced ? 0 : 1;
    if (balanced) {
        for (int64_t i = 0; i < n; i++)
            factor[class_of[i]] += weight[i];
        s = mcr_team_sum(ctx, factor, classes);
        for (int64_t c = 0; c < classes; c++)
            factor[c] = factor[c] > 0 ? total / ((double)classes * factor[c]) : 1;
    } else {
        s = parse_factors(ctx, learner, data, class_weight, factor);
    }
    for (int64_t i = 0; i < n && !s; i++)
        weight[i] *= factor[class_of[i]];
    mcr_free(ctx, factor);
    return s;
}

/* ---- what the data and the kernel must be -----------------------------------------------------*/

mcr_status mcr_svm_remark(mcr_fitted *f, const mcr_kernel *kernel)
{
    return mcr_kernel_definite(kernel, NULL) == MCR_PSD
               ? MCR_OK
               : mcr_fitted_remark(f, "the kernel is not known to be positive semidefinite: the "
                                      "optimum is a local one, found as LIBSVM does (curvature "
                                      "below 1e-12 is replaced by 1e-12)");
}

mcr_status mcr_svm_need_classes(mcr *ctx, const char *learner, const mcr_data *data)
{
    if (mcr_data_target_kind(data) == MCR_NO_TARGETS)
        return mcr_advise(ctx, mcr_fail(ctx, MCR_BAD_DATA, "%s: the data have no labels", learner),
                          "option target=COLUMN|FILE.npy");
    int64_t seen = 0, n = mcr_data_count(data), classes = mcr_data_classes(data);
    const int32_t *class_of = mcr_data_class_of(data);
    double all = (double)n;
    mcr_status s = mcr_team_sum(ctx, &all, 1);
    if (s)
        return s;
    for (int64_t i = 1; i < n; i++)
        seen += class_of[i] != class_of[0];
    if (mcr_team_of_rows(ctx)) /* others have other objects: the list of classes is that of all */
        seen = classes > 1;
    const char *name = all > 0 ? mcr_data_class_name(data, n > 0 ? class_of[0] : 0) : "(none)";
    if (!seen && all == 1)
        return mcr_fail(ctx, MCR_BAD_DATA,
                        "%s: there is one object, of class \"%s\"; two classes or more are needed",
                        learner, name);
    if (!seen)
        return mcr_fail(ctx, MCR_BAD_DATA,
                        "%s: all %.0f objects are of class \"%s\"; two classes or more are needed",
                        learner, all, name);
    if (classes > 10000)
        return mcr_fail(ctx, MCR_BAD_DATA,
                        "%s: %lld classes in %.0f objects; are the targets real numbers? Then use "
                        "svr",
                        learner, (long long)classes, all);
    return MCR_OK;
}

mcr_status mcr_svm_need_numbers(mcr *ctx, const char *learner, const mcr_data *data)
{
    if (mcr_data_target_kind(data) == MCR_WORD_TARGETS)
        return mcr_fail(ctx, MCR_BAD_DATA,
                        "%s: the targets are words (\"%s\"), but regression needs numbers; are "
                        "they classes? Then use svm",
                        learner, mcr_data_class_name(data, 0));
    if (mcr_data_target_kind(data) == MCR_NO_TARGETS)
        return mcr_advise(ctx, mcr_fail(ctx, MCR_BAD_DATA, "%s: the data have no targets", learner),
                          "option target=COLUMN|FILE.npy");
    if (mcr_team_of_rows(ctx))
        return MCR_OK; /* weights are summed up where they are needed */
    if (mcr_data_count(data) < 1)
        return mcr_fail(ctx, MCR_BAD_DATA, "%s: there are no objects", learner);
    return mcr_learning_weight(data) > 0
               ? MCR_OK
               : mcr_fail(ctx, MCR_BAD_DATA, "%s: all weights are 0", learner);
}

/* ---- one output -------------------------------------------------------------------------------*/

mcr_status mcr_svm_finish(mcr_fitted **out, const mcr_learning *in, const mcr_svm *svm,
                          const double *b, int64_t n, double bias)
{
    mcr_fitted *f = NULL;
    mcr_status s = mcr_fitted_new(&f, in->ctx, 1);
    if (!s)
        s = mcr_fitted_add(f, NULL, n, NULL, 1, b);
    if (!s)
        s = mcr_svm_remark(f, in->kernel);
    if (!s && !(f->trained = mcr_alloc(in->ctx, (size_t)n, sizeof *f->trained)))
        s = MCR_NO_MEMORY;
    if (!s)
        s = mcr_fitted_open_slope(f, in->gram, 1);
    for (int64_t i = 0; i < n && !s; i++) {
        f->trained[i] = svm->g[i] + bias;
        if (f->loss_slope)
            f->loss_slope[i] = fmax(-svm->lo[i], svm->hi[i]);
    }
    if (!s) {
        f->offset[0] = bias;
        f->iterations = svm->result.steps;
        f->certificate = "KKT violation";
        f->value = svm->result.violation;
        f->value_error = svm->result.violation_error;
        f->tolerance = svm->qp.tolerance;
        f->stop = mcr_svm_stop(svm);
    }
    return mcr_fitted_give(out, f, s);
}
