/* svm_helpers.h: made problems, training, and the optimality conditions computed in the obvious
 * way, for the tests of support vector machines.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TEST_SVM_HELPERS_H
#define TEST_SVM_HELPERS_H

#include "learner_helpers.h"

#include "base/random.h"

/* ---- problems ---------------------------------------------------------------------------------*/

/* n objects of d numbers with targets and weights, as plain arrays and as data. */
typedef struct problem {
    int64_t n, d;
    double *x, *y, *weight; /* weight NULL: all 1 */
    mcr_data *data;
} problem;

static inline void problem_build(problem *p, mcr *ctx, bool sparse)
{
    mcr_builder *b;
    test_ok(ctx, mcr_builder_open(&b, ctx, p->n));
    if (sparse) {
        int64_t *start = calloc((size_t)p->n + 1, sizeof *start), e = 0;
        int32_t *index = calloc((size_t)(p->n * p->d) + 1, sizeof *index);
        double *value = calloc((size_t)(p->n * p->d) + 1, sizeof *value);
        for (int64_t i = 0; i < p->n; i++) {
            for (int64_t k = 0; k < p->d; k++)
                if (p->x[i * p->d + k] != 0) {
                    index[e] = (int32_t)k;
                    value[e++] = p->x[i * p->d + k];
                }
            start[i + 1] = e;
        }
        test_ok(ctx, mcr_builder_sparse(b, "x", p->d, start, index, value));
        free(start);
        free(index);
        free(value);
    } else {
        test_ok(ctx, mcr_builder_dense(b, "x", p->x, p->d, p->d));
    }
    test_ok(ctx, mcr_builder_targets(b, p->y));
    if (p->weight)
        test_ok(ctx, mcr_builder_weights(b, p->weight));
    test_ok(ctx, mcr_builder_finish(&p->data, b));
}

/* Numbers around 0, some of them exactly 0; every seventh object repeats the one before it. */
static inline problem problem_points(int64_t n, int64_t d, double zeros, uint64_t seed)
{
    problem p = {
        n,    d,   calloc((size_t)(n * d), sizeof(double)), calloc((size_t)n, sizeof(double)),
        NULL, NULL};
    mcr_random r = mcr_random_stream(seed, "problem", 0);
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < d; k++) {
            double value = mcr_random_normal(&r);
            bool zero = mcr_random_uniform(&r) < zeros;
            p.x[i * d + k] = i % 7 == 6 ? p.x[(i - 1) * d + k] : zero ? 0 : value;
        }
    return p;
}

static inline void problem_weigh(problem *p, uint64_t seed)
{
    mcr_random r = mcr_random_stream(seed, "weights", 0);
    p->weight = calloc((size_t)p->n, sizeof(double));
    for (int64_t i = 0; i < p->n; i++)
        p->weight[i] = i % 11 == 5 ? 0 : 0.2 + 2 * mcr_random_uniform(&r);
}

/* Classes 0 .. classes-1 (two: -1 and +1) by the first features, `noise` of them by chance. */
static inline problem problem_classes(mcr *ctx, int64_t n, int64_t d, int classes, double noise,
                                      bool weights, bool sparse, uint64_t seed)
{
    problem p = problem_points(n, d, sparse ? 0.5 : 0, seed);
    mcr_random r = mcr_random_stream(seed, "labels", 0);
    for (int64_t i = 0; i < n; i++) {
        double v = p.x[i * d] + (d > 1 ? p.x[i * d + 1] : 0) + 0.3;
        int64_t c = (int64_t)floor(v + 0.5 * classes);
        c = c < 0 ? 0 : c >= classes ? classes - 1 : c;
        if (mcr_random_uniform(&r) < noise)
            c = mcr_random_below(&r, classes);
        if (i < classes)
            c = i; /* every class is there */
        p.y[i] = classes == 2 ? 2.0 * (double)c - 1 : (double)c;
    }
    if (weights)
        problem_weigh(&p, seed);
    for (int64_t i = 0; i < classes && p.weight; i++)
        p.weight[i] = 1; /* no class without weight */
    problem_build(&p, ctx, sparse);
    return p;
}

static inline problem problem_numbers(mcr *ctx, int64_t n, int64_t d, double noise, bool weights,
                                      uint64_t seed)
{
    problem p = problem_points(n, d, 0, seed);
    mcr_random r = mcr_random_stream(seed, "targets", 0);
    for (int64_t i = 0; i < n; i++)
        p.y[i] = 2 * sin(p.x[i * d]) + p.x[i * d + d - 1] + noise * mcr_random_normal(&r);
    if (weights)
        problem_weigh(&p, seed);
    problem_build(&p, ctx, false);
    return p;
}

static inline void problem_free(problem *p)
{
    free(p->x);
    free(p->y);
    free(p->weight);
    mcr_data_free(p->data);
}

static inline double problem_weight(const problem *p, int64_t i)
{
    return p->weight ? p->weight[i] : 1;
}

/* ---- training ---------------------------------------------------------------------------------*/

/* Without a kernel: the default. start may be NULL. */
static inline mcr_status fit_from(mcr_model **out, mcr *ctx, const char *learner,
                                  const char *options, const char *kernel, const mcr_data *data,
                                  const mcr_model *start)
{
    mcr_kernel *k = NULL;
    mcr_options *o = make_options(ctx, learner, options);
    if (kernel)
        test_ok(ctx, mcr_kernel_parse(&k, ctx, kernel));
    mcr_status status = mcr_fit(out, o, k, data, start);
    assert_true((status == MCR_OK) == (*out != NULL));
    mcr_kernel_free(k);
    mcr_options_close(o);
    return status;
}

static inline mcr_model *fit(mcr *ctx, const char *learner, const char *options, const char *kernel,
                             const mcr_data *data)
{
    mcr_model *model = NULL;
    test_ok(ctx, fit_from(&model, ctx, learner, options, kernel, data, NULL));
    return model;
}

/* ---- the solution, in the obvious way ---------------------------------------------------------*/

/* Coefficients of all objects, f without bias, and the bias of one output. */
typedef struct solution {
    int64_t n;
    double *b, *g, bias;
} solution;

static inline double *gram_of(mcr *ctx, const char *kernel, const mcr_data *data)
{
    int64_t n = mcr_data_count(data);
    double *k = calloc((size_t)(n * n), sizeof *k);
    mcr_kernel *parsed;
    mcr_gram *gram;
    test_ok(ctx, mcr_kernel_parse(&parsed, ctx, kernel));
    test_ok(ctx, mcr_gram_open(&gram, ctx, parsed, data, NULL));
    test_ok(ctx, mcr_gram_block(gram, (mcr_rows){NULL, 0, n}, (mcr_rows){NULL, 0, n}, k, n));
    mcr_gram_close(gram);
    mcr_kernel_free(parsed);
    return k;
}

/* Equal objects may have been merged: the coefficient of the first is that of all. Gives each its
 * share, by weight. */
static inline void share_coefficients(double *b, const double *k, const mcr_data *data)
{
    int64_t n = mcr_data_count(data);
    const int32_t *class_of = mcr_data_class_of(data);
    const double *weight = mcr_data_weights(data);
    unsigned char *done = calloc((size_t)n, 1);
    for (int64_t i = 0; i < n; i++) {
        double sum = 0, weights = 0;
        for (int pass = 0; pass < 2 && !done[i]; pass++)
            for (int64_t j = i; j < n; j++) {
                if (k[i * n] != k[j * n] || (class_of && class_of[i] != class_of[j]) ||
                    memcmp(k + i * n, k + j * n, sizeof *k * (size_t)n) != 0)
                    continue;
                if (pass == 0) {
                    sum += b[j];
                    weights += weight ? weight[j] : 1;
                } else {
                    b[j] = weights > 0 ? sum * ((weight ? weight[j] : 1) / weights) : 0;
                    done[j] = 1;
                }
            }
    }
    free(done);
}

static inline solution solution_of(mcr *ctx, const mcr_model *model, int64_t output,
                                   const char *kernel, const mcr_data *data)
{
    int64_t n = mcr_data_count(data), support = mcr_model_support(model);
    solution s = {n, calloc((size_t)n, sizeof(double)), calloc((size_t)n, sizeof(double)), 0};
    double *coef = calloc((size_t)support + 1, sizeof *coef);
    int64_t *number = calloc((size_t)support + 1, sizeof *number);
    test_ok(ctx, mcr_model_coefficients(model, output, coef, &s.bias, number));
    for (int64_t i = 0; i < support; i++) {
        assert_in_range(number[i], 0, n - 1);
        s.b[number[i]] += coef[i];
    }
    double *k = gram_of(ctx, kernel, data);
    if (n >= 1000)
        share_coefficients(s.b, k, data);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            s.g[i] += k[i * n + j] * s.b[j];
    free(k);
    free(coef);
    free(number);
    return s;
}

static inline void solution_free(solution *s)
{
    free(s->b);
    free(s->g);
}

static inline double square_of(const solution *s)
{
    double sum = 0;
    for (int64_t i = 0; i < s->n; i++)
        sum += s->b[i] * s->g[i];
    return sum;
}

/* The largest by which the objective could still be made to fall, to first order: the highest slope
 * of a coefficient that can go down minus the lowest of one that can go up. Only objects with
 * group[i] == which count (NULL: all). free_bias: the sum of the coefficients is kept. Bounds are
 * products, which may be off by a rounding. */
static inline double violation_of(const solution *s, const double *z, const double *lo,
                                  const double *hi, double epsilon, bool free_bias,
                                  const unsigned char *group, int which)
{
    double low = free_bias ? INFINITY : 0, high = free_bias ? -INFINITY : 0;
    for (int64_t i = 0; i < s->n; i++) {
        if (group && group[i] != which)
            continue;
        double slope = s->g[i] - z[i], b = s->b[i];
        if (b < hi[i] - 1e-12 * fabs(hi[i]))
            low = fmin(low, slope + (b >= 0 ? epsilon : -epsilon));
        if (b > lo[i] + 1e-12 * fabs(lo[i]))
            high = fmax(high, slope + (b > 0 ? epsilon : -epsilon));
    }
    return fmax(0, high - low);
}

/* Within bounds, and the sum as it must be. */
static inline void check_feasible(const solution *s, const double *lo, const double *hi, double sum,
                                  bool free_bias)
{
    double found = 0, size = 1;
    for (int64_t i = 0; i < s->n; i++) {
        if (s->b[i] < lo[i] - 1e-12 * fabs(lo[i]) || s->b[i] > hi[i] + 1e-12 * fabs(hi[i]))
            fail_msg("coefficient %lld is %.17g, outside %.17g .. %.17g", (long long)i, s->b[i],
                     lo[i], hi[i]);
        found += s->b[i];
        size += fabs(s->b[i]);
    }
    if (free_bias && fabs(found - sum) > 1e-10 * size)
        fail_msg("the coefficients sum to %.17g, not to %.17g", found, sum);
}

#endif
