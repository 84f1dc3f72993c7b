/* learner_helpers.h: training in one line, and what the model then says, for tests of learners.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TEST_LEARNER_HELPERS_H
#define TEST_LEARNER_HELPERS_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mercer/mercer.h>

#include "helpers.h"
#include "model/model.h"

/* Options as "lambda=0.1 class-weight=1=2,-1=1"; text may be NULL. */
static inline mcr_status try_options(mcr_options **out, mcr *ctx, const char *learner,
                                     const char *text)
{
    char copy[512], *rest = NULL;
    mcr_status status = mcr_options_open(out, ctx, learner);
    snprintf(copy, sizeof copy, "%s", text ? text : "");
    for (char *word = strtok_r(copy, " ", &rest); word && !status;
         word = strtok_r(NULL, " ", &rest)) {
        char *value = strchr(word, '=');
        assert_non_null(value);
        *value = '\0';
        status = mcr_options_set(*out, word, value + 1);
    }
    return status;
}

static inline mcr_options *make_options(mcr *ctx, const char *learner, const char *text)
{
    mcr_options *options;
    test_ok(ctx, try_options(&options, ctx, learner, text));
    return options;
}

static inline mcr_status try_fit(mcr_model **out, mcr *ctx, const char *learner, const char *kernel,
                                 const mcr_data *data, const char *options)
{
    mcr_options *o = NULL;
    mcr_kernel *k = NULL;
    *out = NULL;
    mcr_status status = try_options(&o, ctx, learner, options);
    if (!status)
        status = mcr_kernel_parse(&k, ctx, kernel);
    if (!status)
        status = mcr_fit(out, o, k, data, NULL);
    mcr_kernel_free(k);
    mcr_options_close(o);
    return status;
}

static inline mcr_model *fit_model(mcr *ctx, const char *learner, const char *kernel,
                                   const mcr_data *data, const char *options)
{
    mcr_model *model;
    test_ok(ctx, try_fit(&model, ctx, learner, kernel, data, options));
    const mcr_report_fit *r = mcr_model_report(model);
    bool ended = r->stop == MCR_STOP_OPTIMAL || r->stop == MCR_STOP_LOCAL;
    if (!ended || !(r->value <= r->tolerance))
        fail_msg("%s, %s, %s: %s, %s is %g, tolerance %g", learner, kernel, options ? options : "",
                 mcr_stop_name(r->stop), r->certificate, r->value, r->tolerance);
    return model;
}

static inline mcr_data *sample_data(mcr *ctx, const char *name, int64_t n)
{
    mcr_data *data = NULL;
    test_ok(ctx, mcr_data_sample(&data, ctx, name, n, -1));
    return data;
}

/* All scores; value may be NULL. To be freed. */
static inline double *scores_of(mcr *ctx, const mcr_model *m, const mcr_data *data, double *value)
{
    double *score = calloc((size_t)(mcr_data_count(data) * mcr_model_outputs(m)), sizeof *score);
    test_ok(ctx, mcr_predict(ctx, m, data, value, score, NULL));
    return score;
}

/* One dense field x; targets and weights may be NULL. */
static inline mcr_data *dense_data(mcr *ctx, int64_t n, int64_t cols, const double *x,
                                   const double *target, const double *weight)
{
    mcr_builder *b = NULL;
    mcr_data *data = NULL;
    test_ok(ctx, mcr_builder_open(&b, ctx, n));
    test_ok(ctx, mcr_builder_dense(b, "x", x, cols, cols));
    if (target)
        test_ok(ctx, mcr_builder_targets(b, target));
    if (weight)
        test_ok(ctx, mcr_builder_weights(b, weight));
    test_ok(ctx, mcr_builder_finish(&data, b));
    return data;
}

/* All but object `out`. */
static inline mcr_data *without(mcr *ctx, const mcr_data *data, int64_t out)
{
    int64_t n = mcr_data_count(data), count = 0;
    int64_t *row = calloc((size_t)n, sizeof *row);
    mcr_data *rest = NULL;
    for (int64_t i = 0; i < n; i++)
        if (i != out)
            row[count++] = i;
    test_ok(ctx, mcr_data_select(&rest, data, (mcr_rows){row, 0, count}));
    free(row);
    return rest;
}

/* Kernel values of all pairs, n x n. */
static inline double *all_values(mcr *ctx, const char *kernel, const mcr_data *data)
{
    int64_t n = mcr_data_count(data);
    double *k = calloc((size_t)(n * n), sizeof *k);
    mcr_kernel *parsed = NULL;
    mcr_gram *gram = NULL;
    test_ok(ctx, mcr_kernel_parse(&parsed, ctx, kernel));
    test_ok(ctx, mcr_gram_open(&gram, ctx, parsed, data, NULL));
    test_ok(ctx, mcr_gram_matrix(gram, k, n));
    mcr_gram_close(gram);
    mcr_kernel_free(parsed);
    return k;
}

/* Coefficients of an output by training object, n values. */
static inline double *all_coefficients(mcr *ctx, const mcr_model *model, int64_t output, int64_t n)
{
    int64_t support = mcr_model_support(model);
    double *a = calloc((size_t)n, sizeof *a), *coef = calloc((size_t)support + 1, sizeof *coef);
    double offset;
    int64_t *number = calloc((size_t)support + 1, sizeof *number);
    test_ok(ctx, mcr_model_coefficients(model, output, coef, &offset, number));
    for (int64_t i = 0; i < support; i++)
        a[number[i]] += coef[i];
    free(coef);
    free(number);
    return a;
}

#endif
