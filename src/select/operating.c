/* operating.c: choosing a threshold: by the costs of errors, or by a limit on the false positive
 * rate.
 *
 * The scores that a threshold is chosen from must not be those of training objects, which are too
 * optimistic: they come from cross-validation on the training data, or from other objects.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/order.h"
#include "base/stream.h"
#include "select/select.h"

typedef enum rule_kind { NUMBER, COST, FALSE_ALARMS } rule_kind;

typedef struct threshold_rule {
    rule_kind kind;
    double number;      /* of NUMBER and FALSE_ALARMS */
    double miss, alarm; /* costs of a false negative and a false positive */
} threshold_rule;

/* ---- the rule ---------------------------------------------------------------------------------*/

static bool read_real(const char *text, const char **end, double *out)
{
    const char *stop = mcr_parse_real(text, text + strlen(text), out);
    *end = stop;
    return stop && stop != text && isfinite(*out);
}

/* FN=10,FP=1, in any order; the default of each is 1. */
static bool read_costs(const char *at, threshold_rule *r)
{
    r->miss = r->alarm = 1;
    while (*at) {
        bool miss = strncmp(at, "FN=", 3) == 0;
        if (!miss && strncmp(at, "FP=", 3) != 0)
            return false;
        if (!read_real(at + 3, &at, miss ? &r->miss : &r->alarm) || (*at && *at != ','))
            return false;
        at += *at == ',';
    }
    return r->miss >= 0 && r->alarm >= 0 && r->miss + r->alarm > 0;
}

static mcr_status read_rule(threshold_rule *r, mcr *ctx, const char *text)
{
    const char *end = "";
    bool good = false;
    *r = (threshold_rule){.kind = NUMBER};
    if (strncmp(text, "cost:", 5) == 0) {
        r->kind = COST;
        good = text[5] && read_costs(text + 5, r);
    } else if (strncmp(text, "fpr:", 4) == 0) {
        r->kind = FALSE_ALARMS;
        good = read_real(text + 4, &end, &r->number) && !*end && r->number >= 0 && r->number < 1;
    } else {
        good = read_real(text, &end, &r->number) && !*end;
    }
    return good ? MCR_OK
                : mcr_fail(ctx, MCR_BAD_CALL,
                           "threshold %.100s: it is a number, cost:FN=10,FP=1 (what a missed "
                           "positive and a false alarm cost), or fpr:0.01 (the share of negatives "
                           "that may be false alarms)",
                           text);
}

int mcr_threshold_learns(const char *rule)
{
    return strncmp(rule, "cost:", 5) == 0 || strncmp(rule, "fpr:", 4) == 0;
}

/* ---- the best cut -----------------------------------------------------------------------------*/

typedef struct scored {
    double score, weight;
    bool positive;
} scored;

/* A value between the objects before `cut` and those from it on, in descending order. */
static double value_at(const scored *list, int64_t n, int64_t cut)
{
    double spread = list[0].score - list[n - 1].score;
    if (cut == 0)
        return list[0].score;
    if (cut == n)
        return list[n - 1].score - 0.5 * (spread > 0 ? spread : 1);
    return 0.5 * (list[cut - 1].score + list[cut].score);
}

/* Of all cuts, where the first `cut` objects are predicted positive: the cheapest, or the one with
 * the most positives within the limit on false positives. */
static double best_cut(scored *list, int64_t n, const threshold_rule *r)
{
    double positives = 0, negatives = 0, hits = 0, alarms = 0, least = INFINITY;
    int64_t best = 0;
    qsort(list, (size_t)n, sizeof *list, mcr_reals_falling);
    for (int64_t i = 0; i < n; i++)
        *(list[i].positive ? &positives : &negatives) += list[i].weight;
    for (int64_t cut = 0; cut <= n; cut++) {
        bool between = cut == 0 || cut == n || list[cut - 1].score > list[cut].score;
        double cost = r->miss * (positives - hits) + r->alarm * alarms;
        if (between && r->kind == FALSE_ALARMS && alarms <= r->number * negatives)
            best = cut;
        if (between && r->kind == COST && cost < least) {
            least = cost;
            best = cut;
        }
        if (cut < n)
            *(list[cut].positive ? &hits : &alarms) += list[cut].weight;
    }
    return value_at(list, n, best);
}

/* Scores of objects with known targets, NAN: not tested. */
static mcr_status find_cut(mcr_threshold *out, mcr *ctx, const mcr_model *m, const mcr_data *data,
                           const double *score, const double *proba, const threshold_rule *r)
{
    int64_t n = mcr_data_count(data), count = 0, positive = mcr_model_positive(m);
    const double *weight = mcr_data_weights(data);
    bool by_score = mcr_model_decides_by_score(m);
    double *target = mcr_alloc(ctx, (size_t)n, sizeof *target);
    scored *list = mcr_alloc(ctx, (size_t)n + 1, sizeof *list);
    mcr_status s = target && list ? mcr_model_truth(ctx, m, data, target) : MCR_NO_MEMORY;
    for (int64_t i = 0; i < n && !s; i++) {
        double own = by_score ? (positive == 1 ? score[i] : -score[i]) : proba[2 * i + positive];
        if (!isnan(own))
            list[count++] = (scored){own, weight ? weight[i] : 1, target[i] == (double)positive};
    }
    if (!s && count == 0)
        s = mcr_fail(ctx, MCR_BAD_DATA, "there are no objects to choose a threshold from");
    if (!s)
        *out = (mcr_threshold){
            .size = sizeof *out, .value = best_cut(list, count, r), .probability = !by_score};
    mcr_free_all(ctx, target, list);
    return s;
}

/* ---- where the scores come from ---------------------------------------------------------------*/

/* A number needs no scores: it applies to probabilities, if the model has them. */
static mcr_status set_number(mcr *ctx, mcr_model *m, double number)
{
    return mcr_model_set_threshold(ctx, m,
                                   &(mcr_threshold){.size = sizeof(mcr_threshold),
                                                    .value = number,
                                                    .probability = mcr_model_has_probability(m)});
}

static mcr_status by_folds(mcr_threshold *out, mcr_model *m, const mcr_options *options,
                           const mcr_data *data, const threshold_rule *r)
{
    mcr *ctx = options->ctx;
    mcr_splits *splits = NULL;
    mcr_cv_report *report = NULL;
    mcr_status s = mcr_splits_open(&splits, ctx, data, NULL);
    if (!s)
        s = mcr_cv(&report, options, m->kernel, data, splits, "accuracy", NULL);
    bool by_score = mcr_model_decides_by_score(m);
    if (!s && (by_score ? !report->score || report->outputs != 1 : !report->proba))
        s = mcr_fail(ctx, MCR_BAD_DATA,
                     "the folds are too few or too small to choose a threshold from their scores");
    if (!s)
        s = find_cut(out, ctx, m, data, report->score, report->proba, r);
    mcr_cv_free(ctx, report);
    mcr_splits_close(splits);
    return s;
}

mcr_status mcr_threshold_learn(mcr_model *m, const mcr_options *options, const mcr_data *data,
                               const char *rule)
{
    mcr *ctx = options->ctx;
    threshold_rule r;
    mcr_threshold t;
    mcr_status s = read_rule(&r, ctx, rule);
    if (!s)
        s = mcr_model_check_threshold(ctx, m);
    if (!s && r.kind == NUMBER)
        return set_number(ctx, m, r.number);
    if (!s)
        s = by_folds(&t, m, options, data, &r);
    return s ? s : mcr_model_set_threshold(ctx, m, &t);
}

mcr_status mcr_threshold_choose(mcr *ctx, mcr_model *m, const mcr_data *held, const char *rule)
{
    threshold_rule r;
    mcr_threshold t;
    mcr_status s = read_rule(&r, ctx, rule);
    if (!s)
        s = mcr_model_check_threshold(ctx, m);
    if (!s && r.kind == NUMBER)
        return set_number(ctx, m, r.number);
    /* With costs, the optimal threshold for probabilities follows from their ratio. */
    if (!s && !held && r.kind == COST && mcr_model_has_probability(m))
        return set_number(ctx, m, r.alarm / (r.alarm + r.miss));
    if (!s && !held)
        s = mcr_fail(ctx, MCR_BAD_CALL,
                     "threshold %s: it is learnt from objects with targets that the model was not "
                     "trained on, or while the model is trained",
                     rule);
    int64_t n = s ? 0 : mcr_data_count(held);
    bool by_score = !s && mcr_model_decides_by_score(m);
    double *score = mcr_alloc(ctx, (uint64_t)n * (by_score ? 1 : 2) + 1, sizeof *score);
    if (!s && !score)
        s = MCR_NO_MEMORY;
    if (!s)
        s = mcr_predict(ctx, m, held, NULL, by_score ? score : NULL, by_score ? NULL : score);
    if (!s)
        s = find_cut(&t, ctx, m, held, score, score, &r);
    mcr_free(ctx, score);
    return s ? s : mcr_model_set_threshold(ctx, m, &t);
}
