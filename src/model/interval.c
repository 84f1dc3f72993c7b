/* interval.c: prediction intervals and sets of classes that contain new targets with a given
 * probability.
 *
 * A Gaussian process has the standard deviation of f; for a new measurement the noise is added. All
 * other models are calibrated by split conformal prediction (Vovk, Gammerman and Shafer, 2005; Lei
 * et al., 2018): objects that were held out have nonconformity scores, |y - f(x)| for numbers, and
 * for classes decreasing with the score of the true one. Of m scores the ceil((m + 1) p)-th is an
 * upper bound of that of a new object with probability at least p, if all of them are exchangeable,
 * for any model.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "base/random.h"
#include "learn/goal.h"
#include "model/model.h"

/* ---- scores -----------------------------------------------------------------------------------*/

static mcr_status can_score(mcr *ctx, const mcr_model *m)
{
    const mcr_fitted *f = m->fitted;
    bool classes = f->task == MCR_CLASSIFY &&
                   (mcr_model_has_probability(m) || f->rule == MCR_RULE_BINARY ||
                    f->rule == MCR_RULE_PAIRS || f->rule == MCR_RULE_LARGEST);
    if (classes || (f->task == MCR_REGRESS && mcr_model_targets(m) == 1))
        return MCR_OK;
    return mcr_fail(ctx, MCR_BAD_CALL,
                    f->task == MCR_REGRESS
                        ? "a model of several targets has no intervals: train one for each"
                        : "a model of %s has no scores of classes or numbers to calibrate",
                    m->learner);
}

/* The nonconformity of class c, from one object's decision values or probabilities. */
static double strangeness(const mcr_model *m, const double *score, const double *proba, int64_t c)
{
    const mcr_fitted *f = m->fitted;
    double sum = 0;
    if (proba)
        return 1 - proba[c];
    if (f->rule == MCR_RULE_BINARY)
        return c ? -score[0] : score[0];
    if (f->rule == MCR_RULE_LARGEST)
        return -score[c];
    for (int64_t other = 0; other < f->classes; other++)
        if (other < c)
            sum += score[mcr_pair_output(f->classes, other, c)];
        else if (other > c)
            sum -= score[mcr_pair_output(f->classes, c, other)];
    return sum / (double)(f->classes - 1);
}

/* n x classes: of every object and class. */
static mcr_status all_strangeness(mcr *ctx, const mcr_model *m, const mcr_data *data, double *value,
                                  double *out)
{
    int64_t n = mcr_data_count(data), k = m->classes, outputs = m->fitted->outputs;
    bool proba = mcr_model_has_probability(m);
    int64_t cols = proba ? k : outputs;
    double *buffer = mcr_alloc(ctx, (size_t)n, (size_t)cols * sizeof *buffer);
    mcr_status s = buffer ? mcr_predict(ctx, m, data, value, proba ? NULL : buffer,
                                        proba ? buffer : NULL)
                          : MCR_NO_MEMORY;
    for (int64_t i = 0; i < n && !s; i++)
        for (int64_t c = 0; c < k; c++)
            out[i * k + c] = strangeness(m, proba ? NULL : buffer + i * cols,
                                         proba ? buffer + i * cols : NULL, c);
    mcr_free(ctx, buffer);
    return s;
}

static mcr_status class_scores(mcr *ctx, const mcr_model *m, const mcr_data *data, double *score)
{
    int64_t n = mcr_data_count(data), k = m->classes, *match = NULL;
    double *all = mcr_alloc(ctx, (size_t)n, (size_t)k * sizeof *all);
    mcr_status s = all ? mcr_model_match(&match, ctx, m, data) : MCR_NO_MEMORY;
    if (!s)
        s = all_strangeness(ctx, m, data, NULL, all);
    for (int64_t i = 0; i < n && !s; i++) {
        int64_t c = match[mcr_data_class_of(data)[i]];
        if (c < 0)
            s = mcr_fail(ctx, MCR_BAD_DATA,
                         "the model does not know class \"%.100s\" of the held-out objects",
                         mcr_data_class_name(data, mcr_data_class_of(data)[i]));
        else
            score[i] = all[i * k + c];
    }
    mcr_free_all(ctx, match, all);
    return s;
}

mcr_status mcr_model_calibrate(mcr *ctx, mcr_model *m, const mcr_data *held)
{
    int64_t n = mcr_data_count(held);
    double *score = mcr_alloc(ctx, (size_t)n, sizeof *score);
    mcr_status s = score ? can_score(ctx, m) : MCR_NO_MEMORY;
    bool numbers = m->fitted->task == MCR_REGRESS;
    if (!s && (n == 0 || mcr_data_target_kind(held) == MCR_NO_TARGETS ||
               (numbers && mcr_data_target_kind(held) != MCR_REAL_TARGETS)))
        s = mcr_fail(ctx, MCR_BAD_DATA,
                     "to calibrate intervals, held-out objects with %s targets are needed",
                     numbers ? "numbers as" : "classes as");
    if (!s && numbers)
        s = mcr_predict(ctx, m, held, score, NULL, NULL);
    else if (!s)
        s = class_scores(ctx, m, held, score);
    for (int64_t i = 0; i < n && numbers && !s; i++)
        score[i] = fabs(mcr_data_targets(held)[i] - score[i]);
    if (!s) {
        qsort(score, (size_t)n, sizeof *score, mcr_reals_rising);
        s = mcr_fitted_keep(m->fitted, MCR_EXTRA_CONFORMAL, score, n);
    }
    mcr_free(ctx, score);
    return s;
}

/* ---- training with objects held out -----------------------------------------------------------*/

/* Selects a fraction of the objects, of each class if there are classes, in random order. */
static void deal(const mcr_data *data, mcr *ctx, double share, bool classes, int64_t *order,
                 unsigned char *held)
{
    int64_t n = mcr_data_count(data), k = classes ? mcr_data_classes(data) : 1;
    mcr_random r = mcr_random_stream(mcr_seed(ctx), "held out", 0);
    for (int64_t i = 0; i < n; i++)
        order[i] = i;
    mcr_random_shuffle(&r, order, n);
    for (int64_t c = 0; c < k; c++) {
        double due = 0.5; /* rounded to the nearest number of objects */
        for (int64_t t = 0; t < n; t++) {
            int64_t i = order[t];
            if (classes && mcr_data_class_of(data)[i] != c)
                continue;
            due += share;
            held[i] = due >= 1;
            due -= held[i];
        }
    }
}

static mcr_status split(mcr *ctx, const mcr_data *data, const unsigned char *held, int64_t *row,
                        mcr_data **train, mcr_data **rest, double *object, int64_t *count)
{
    int64_t n = mcr_data_count(data), in = 0, out = 0;
    for (int64_t i = 0; i < n; i++)
        if (!held[i])
            row[in++] = i;
    mcr_status s = mcr_data_select(train, data, (mcr_rows){row, 0, in});
    for (int64_t i = 0; i < n; i++)
        if (held[i]) {
            object[out] = (double)i;
            row[out++] = i;
        }
    *count = out;
    if (!s && (in == 0 || out == 0))
        s = mcr_fail(ctx, MCR_BAD_CALL, "with %lld objects this share leaves none to %s",
                     (long long)n, in ? "hold out" : "train on");
    return s ? s : mcr_data_select(rest, data, (mcr_rows){row, 0, out});
}

mcr_status mcr_fit_conformal(mcr_model **out, const mcr_options *options, const mcr_kernel *kernel,
                             const mcr_data *data, double share)
{
    mcr *ctx = options->ctx;
    size_t n = (size_t)mcr_data_count(data);
    mcr_data *train = NULL, *rest = NULL;
    int64_t *row = mcr_alloc(ctx, n, sizeof *row), count = 0;
    double *object = mcr_alloc(ctx, n, sizeof *object);
    unsigned char *held = mcr_alloc_zero(ctx, n, 1);
    *out = NULL;
    mcr_status s = row && object && held ? MCR_OK : MCR_NO_MEMORY;
    if (!s && !(share > 0 && share < 1))
        s = mcr_fail(ctx, MCR_BAD_CALL, "the share that is held out must be between 0 and 1");
    if (!s) {
        bool words = mcr_data_target_kind(data) == MCR_WORD_TARGETS;
        deal(data, ctx, share, words || options->type->task == MCR_CLASSIFY, row, held);
        s = split(ctx, data, held, row, &train, &rest, object, &count);
    }
    if (!s)
        s = mcr_fit(out, options, kernel, train, NULL);
    if (!s)
        s = mcr_model_calibrate(ctx, *out, rest);
    if (!s)
        s = mcr_fitted_keep((*out)->fitted, MCR_EXTRA_HELD_OUT, object, count);
    if (!s)
        s = mcr_fitted_remark((*out)->fitted, "%lld of %lld objects were held out for intervals",
                              (long long)count, (long long)n);
    if (!s)
        s = mcr_model_complete(*out); /* the remark is new */
    mcr_data_free(train);
    mcr_data_free(rest);
    mcr_free_all(ctx, row, object, held);
    return mcr_model_give(out, *out, s);
}

/* ---- intervals --------------------------------------------------------------------------------*/

/* The z such that a standard normal number is within -z .. z with probability `level`. */
static double normal_width(double level)
{
    double low = 0, high = 40;
    for (int t = 0; t < 200; t++) {
        double middle = 0.5 * (low + high);
        if (erf(middle / sqrt(2)) < level)
            low = middle;
        else
            high = middle;
    }
    return 0.5 * (low + high);
}

/* The upper bound of the score of a new object. */
static mcr_status bound_of(mcr *ctx, const mcr_model *m, double level, double *bound)
{
    int64_t count;
    const double *score = mcr_fitted_find(m->fitted, MCR_EXTRA_CONFORMAL, &count);
    if (!score)
        return mcr_fail(
            ctx, MCR_BAD_CALL,
            "the model has no intervals: train it with a share of the objects held out, "
            "or calibrate it with objects that it was not trained on");
    double place = ceil((double)(count + 1) * level - 1e-9);
    if (place > (double)count)
        return mcr_fail(
            ctx, MCR_BAD_CALL,
            "%lld held-out objects are too few for a probability of %g: at least %.0f are needed",
            (long long)count, level, ceil(level / (1 - level) - 1e-9));
    *bound = score[(int64_t)place - 1];
    return MCR_OK;
}

static mcr_status check_level(mcr *ctx, double level)
{
    return level > 0 && level < 1
               ? MCR_OK
               : mcr_fail(ctx, MCR_BAD_CALL,
                          "the probability of an interval must be between 0 and 1");
}

int mcr_model_has_interval(const mcr_model *m)
{
    int64_t count;
    return mcr_fitted_find(m->fitted, MCR_EXTRA_CONFORMAL, &count) != NULL || mcr_model_has_std(m);
}

mcr_status mcr_predict_interval(mcr *ctx, const mcr_model *m, const mcr_data *data, double level,
                                double *value, double *lower, double *upper)
{
    int64_t n = mcr_data_count(data), count;
    double bound = NAN, z = NAN;
    mcr_status s = check_level(ctx, level);
    if (!s && (m->fitted->task != MCR_REGRESS || mcr_model_targets(m) != 1))
        s = mcr_fail(ctx, MCR_BAD_CALL, "intervals are for models of one number");
    bool calibrated = mcr_fitted_find(m->fitted, MCR_EXTRA_CONFORMAL, &count) != NULL;
    const double *noise = mcr_fitted_find(m->fitted, MCR_EXTRA_NOISE, &count);
    double *own = mcr_alloc(ctx, (size_t)n, 2 * sizeof *own), *std = own ? own + n : NULL;
    if (!own)
        return MCR_NO_MEMORY;
    if (!s && !calibrated && mcr_model_has_std(m)) {
        z = normal_width(level);
        s = mcr_predict_std(ctx, m, data, own, std);
    } else if (!s) {
        s = bound_of(ctx, m, level, &bound);
        if (!s)
            s = mcr_predict(ctx, m, data, own, NULL, NULL);
    }
    for (int64_t i = 0; i < n && !s; i++) {
        double half = isnan(z) ? bound : z * sqrt(std[i] * std[i] + (count == 1 ? *noise : 0));
        if (value)
            value[i] = own[i];
        lower[i] = own[i] - half;
        upper[i] = own[i] + half;
    }
    mcr_free(ctx, own);
    return s;
}

mcr_status mcr_predict_set(mcr *ctx, const mcr_model *m, const mcr_data *data, double level,
                           double *value, unsigned char *set)
{
    int64_t n = mcr_data_count(data), k = m->classes;
    double bound = NAN;
    double *all = mcr_alloc(ctx, (size_t)n, (size_t)(k ? k : 1) * sizeof *all);
    mcr_status s = all ? check_level(ctx, level) : MCR_NO_MEMORY;
    if (!s && m->fitted->task != MCR_CLASSIFY)
        s = mcr_fail(ctx, MCR_BAD_CALL, "sets of classes are for models that predict classes");
    if (!s)
        s = can_score(ctx, m);
    if (!s)
        s = bound_of(ctx, m, level, &bound);
    if (!s)
        s = all_strangeness(ctx, m, data, value, all);
    for (int64_t i = 0; i < n * k && !s; i++)
        set[i] = all[i] <= bound;
    mcr_free(ctx, all);
    return s;
}
