/* metrics_classes.c: metrics of classes, scores and probabilities.
 *
 * They agree with scikit-learn, including weights; where that refuses or warns, the result is NAN
 * or 0 as the comments say.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "select/metrics.h"

static double weight_of(const mcr_evaluated *w, int64_t i)
{
    return w->weight ? w->weight[i] : 1;
}

static double total_weight(const mcr_evaluated *w)
{
    double sum = 0;
    for (int64_t i = 0; i < w->n; i++)
        sum += weight_of(w, i);
    return sum;
}

/* ---- decisions --------------------------------------------------------------------------------*/

mcr_status mcr_metric_accuracy(mcr *ctx, int which, const mcr_evaluated *w, double *out)
{
    (void)ctx;
    (void)which;
    double right = 0;
    for (int64_t i = 0; i < w->n; i++)
        right += weight_of(w, i) * (w->target[i] == w->value[i]);
    *out = right / total_weight(w);
    return MCR_OK;
}

int64_t mcr_evaluated_classes(const mcr_evaluated *w)
{
    enum { SIDES = 4 }; /* maxima that do not wait for each other */
    double most[SIDES] = {-1, -1, -1, -1};
    int64_t i = 0, classes = w->classes;
    for (; i + SIDES <= w->n; i += SIDES)
        for (int j = 0; j < SIDES; j++)
            most[j] = w->target[i + j] > most[j] ? w->target[i + j] : most[j];
    for (; i < w->n; i++)
        most[0] = w->target[i] > most[0] ? w->target[i] : most[0];
    for (int j = 0; j < SIDES; j++)
        classes = (int64_t)most[j] < classes ? classes : (int64_t)most[j] + 1;
    return classes;
}

enum { MOST_PAIRED = 16 };

/* Weight of the objects of each class, of those predicted as it, and of the correct predictions. */
typedef struct tally {
    int64_t classes;
    double *is, *said, *right;
    double *seen; /* 1: the class occurs in targets or predictions, whatever the weight */
} tally;

/* Without weights, if there are few classes: counts of pairs (class, prediction). Four tables take
 * turns, because adding to the number that was just written waits for it. */
static void tally_pairs(tally *t, const mcr_evaluated *w)
{
    enum { TABLES = 4 };
    uint32_t pair[TABLES][MOST_PAIRED * MOST_PAIRED] = {{0}};
    int64_t k = t->classes;
    for (int64_t i = 0; i < w->n; i++)
        pair[i % TABLES][(int64_t)w->target[i] * k + (int64_t)w->value[i]]++;
    for (int64_t is = 0; is < k; is++)
        for (int64_t said = 0; said < k; said++) {
            double count = 0;
            for (int i = 0; i < TABLES; i++)
                count += pair[i][is * k + said];
            if (count == 0)
                continue;
            t->is[is] += count;
            t->said[said] += count;
            t->right[said] += is == said ? count : 0;
            t->seen[is] = t->seen[said] = 1;
        }
}

static mcr_status open_tally(tally *t, mcr *ctx, const mcr_evaluated *w)
{
    size_t k = (size_t)mcr_evaluated_classes(w);
    double *all = mcr_alloc_zero(ctx, 4 * k, sizeof *all);
    if (!all)
        return MCR_NO_MEMORY;
    *t = (tally){(int64_t)k, all, all + k, all + 2 * k, all + 3 * k};
    if (!w->weight && k <= MOST_PAIRED && w->n <= UINT32_MAX) {
        tally_pairs(t, w);
        return MCR_OK;
    }
    for (int64_t i = 0; i < w->n; i++) {
        int64_t is = (int64_t)w->target[i], said = (int64_t)w->value[i];
        t->is[is] += weight_of(w, i);
        t->said[said] += weight_of(w, i);
        t->right[said] += weight_of(w, i) * (is == said);
        t->seen[is] = t->seen[said] = 1;
    }
    return MCR_OK;
}

static double share(double part, double of)
{
    return of > 0 ? part / of : 0;
}

static double precision_of(const tally *t, int64_t k)
{
    return share(t->right[k], t->said[k]);
}

static double recall_of(const tally *t, int64_t k)
{
    return share(t->right[k], t->is[k]);
}

static double f1_of(const tally *t, int64_t k)
{
    return share(2 * t->right[k], t->is[k] + t->said[k]);
}

/* For the positive class; without one the mean over the classes in targets or predictions.
 * Balanced: the mean recall over the classes in targets. */
mcr_status mcr_metric_by_class(mcr *ctx, int which, const mcr_evaluated *w, double *out)
{
    tally t;
    bool balanced = which == MCR_BALANCED;
    double sum = 0, seen = 0;
    mcr_status s = open_tally(&t, ctx, w);
    *out = NAN;
    if (s)
        return s;
    for (int64_t k = 0; k < t.classes; k++)
        if (balanced ? t.is[k] > 0 : w->positive >= 0 ? k == w->positive : t.seen[k] > 0) {
            sum += which == MCR_PRECISION ? precision_of(&t, k)
                   : which == MCR_F1      ? f1_of(&t, k)
                                          : recall_of(&t, k);
            seen++;
        }
    *out = seen > 0 ? sum / seen : NAN;
    mcr_free(ctx, t.is);
    return MCR_OK;
}

/* Matthews' correlation coefficient, for any number of classes (Gorodkin, 2004); 0 if targets or
 * predictions are constant. */
mcr_status mcr_metric_mcc(mcr *ctx, int which, const mcr_evaluated *w, double *out)
{
    (void)which;
    tally t;
    double n = 0, right = 0, both = 0, is = 0, said = 0;
    mcr_status s = open_tally(&t, ctx, w);
    *out = NAN;
    if (s)
        return s;
    for (int64_t k = 0; k < t.classes; k++) {
        n += t.is[k];
        right += t.right[k];
        both += t.is[k] * t.said[k];
        is += t.is[k] * t.is[k];
        said += t.said[k] * t.said[k];
    }
    double product = (n * n - is) * (n * n - said);
    *out = product > 0 ? (right * n - both) / sqrt(product) : 0;
    mcr_free(ctx, t.is);
    return MCR_OK;
}

mcr_status mcr_confusion(mcr *ctx, const mcr_evaluated *what, double *matrix)
{
    mcr_evaluated w;
    mcr_status s = mcr_evaluated_read(&w, ctx, what);
    int64_t k = s ? 0 : mcr_evaluated_classes(&w);
    if (!s && w.task != MCR_CLASSIFY)
        s = mcr_fail(ctx, MCR_BAD_CALL, "a confusion matrix needs classes");
    for (int64_t i = 0; i < k * k && !s; i++)
        matrix[i] = 0;
    for (int64_t i = 0; i < w.n && !s; i++)
        matrix[(int64_t)w.target[i] * k + (int64_t)w.value[i]] += weight_of(&w, i);
    return s;
}

mcr_status mcr_class_scores(mcr *ctx, const mcr_evaluated *what, mcr_class_score *each)
{
    mcr_evaluated w;
    tally t = {0};
    mcr_status s = mcr_evaluated_read(&w, ctx, what);
    if (!s && w.task != MCR_CLASSIFY)
        s = mcr_fail(ctx, MCR_BAD_CALL, "precision and recall need classes");
    if (!s)
        s = open_tally(&t, ctx, &w);
    for (int64_t k = 0; k < t.classes && !s; k++)
        each[k] = (mcr_class_score){precision_of(&t, k), recall_of(&t, k), f1_of(&t, k), t.is[k]};
    mcr_free(ctx, t.is);
    return s;
}

/* ---- ranking ----------------------------------------------------------------------------------*/

typedef struct ranked {
    double score, positive, negative; /* one of the two is the weight */
} ranked;

/* A number with the reverse order of the scores. */
static uint64_t key_of(double score)
{
    uint64_t bits, sign = (uint64_t)1 << 63;
    score += 0.0; /* -0 is 0 */
    memcpy(&bits, &score, sizeof bits);
    return bits & sign ? bits : ~(bits | sign);
}

/* Descending scores, stable: radix sort by the digits of their keys. other: a buffer of the same
 * size. */
static void sort_falling(ranked *r, ranked *other, int64_t n)
{
    enum { BITS = 8, DIGITS = 1 << BITS, PASSES = 64 / BITS };
    ranked *from = r, *to = other;
    int64_t count[PASSES][DIGITS] = {{0}};
    for (int64_t i = 0; i < n; i++)
        for (int p = 0; p < PASSES; p++)
            count[p][key_of(r[i].score) >> (p * BITS) & (DIGITS - 1)]++;
    for (int p = 0; p < PASSES && n > 0; p++) {
        int64_t at = 0, *place = count[p];
        if (place[key_of(r[0].score) >> (p * BITS) & (DIGITS - 1)] == n)
            continue; /* all have the same digit */
        for (int d = 0; d < DIGITS; d++) {
            int64_t here = place[d];
            place[d] = at;
            at += here;
        }
        for (int64_t i = 0; i < n; i++)
            to[place[key_of(from[i].score) >> (p * BITS) & (DIGITS - 1)]++] = from[i];
        ranked *kept = from;
        from = to;
        to = kept;
    }
    if (from != r)
        memcpy(r, from, sizeof *r * (size_t)n);
}

/* The score of class k for object i. */
static double support_of(const mcr_evaluated *w, int64_t i, int64_t k)
{
    if (w->task == MCR_DETECT)
        return -w->score[i];
    if (!w->score)
        return w->proba[i * w->classes + k];
    return w->outputs == 1 ? (k ? 1 : -1) * w->score[i] : w->score[i * w->outputs + k];
}

/* Ranks objects by the score for class k, or for being an outlier. False: a score is not a number.
 * r has space for twice as many. */
static bool rank(ranked *r, const mcr_evaluated *w, int64_t k)
{
    bool numbers = true;
    for (int64_t i = 0; i < w->n; i++) {
        bool positive = w->task == MCR_DETECT ? w->target[i] < 0 : (int64_t)w->target[i] == k;
        double weight = weight_of(w, i);
        r[i] = (ranked){support_of(w, i, k), positive ? weight : 0, positive ? 0 : weight};
        numbers &= !isnan(r[i].score);
    }
    sort_falling(r, r + w->n, w->n);
    return numbers;
}

/* The total weight of objects with the score of r[i], and the index of the next lower score. */
static int64_t tied(const ranked *r, int64_t n, int64_t i, double *positive, double *negative)
{
    int64_t j = i;
    *positive = *negative = 0;
    for (; j < n && r[j].score == r[i].score; j++) {
        *positive += r[j].positive;
        *negative += r[j].negative;
    }
    return j;
}

/* The probability that a positive object has a higher score than a negative one; ties count half.
 * NAN: one of the two does not occur. */
static double area(const ranked *r, int64_t n)
{
    double positive = 0, negative = 0, sum = 0, p, q;
    for (int64_t i = 0; i < n; positive += p, negative += q) {
        i = tied(r, n, i, &p, &q);
        sum += q * (positive + 0.5 * p);
    }
    return positive > 0 && negative > 0 ? sum / (positive * negative) : NAN;
}

/* Average precision: the mean over the positive objects of the fraction of positive ones among all
 * that rank as high, that is the area under the precision-recall curve without interpolation. 0: no
 * positive objects. */
static double mean_precision(const ranked *r, int64_t n)
{
    double positive = 0, negative = 0, sum = 0, p, q;
    for (int64_t i = 0; i < n;) {
        i = tied(r, n, i, &p, &q);
        positive += p;
        negative += q;
        if (p > 0)
            sum += p * positive / (positive + negative);
    }
    return positive > 0 ? sum / positive : 0;
}

static mcr_status no_scores(mcr *ctx, const mcr_evaluated *w)
{
    return mcr_advise(ctx,
                      mcr_fail(ctx, MCR_BAD_CALL,
                               "roc_auc and average_precision of %lld classes need a value for "
                               "each class: train with the option probability, or with "
                               "multiclass=ovr",
                               (long long)w->classes),
                      "option multiclass=ovr");
}

/* For the positive class, or outliers; else the mean over one-vs-rest for each class where it is
 * defined. */
mcr_status mcr_metric_by_rank(mcr *ctx, int which, const mcr_evaluated *w, double *out)
{
    double (*of)(const ranked *r, int64_t n) = which == MCR_ROC_AUC ? area : mean_precision;
    bool one = w->task == MCR_DETECT || w->positive >= 0;
    double sum = 0, defined = 0;
    *out = NAN;
    if (w->task == MCR_DETECT && !w->score)
        return mcr_fail(ctx, MCR_BAD_CALL,
                        "roc_auc and average_precision of detection need decision values");
    if (!w->score && !w->proba)
        return no_scores(ctx, w);
    ranked *r = mcr_alloc(ctx, (size_t)w->n, 2 * sizeof *r);
    if (!r)
        return MCR_NO_MEMORY;
    for (int64_t k = 0; k < (one ? 1 : w->classes); k++) {
        double a = rank(r, w, one ? w->positive : k) ? of(r, w->n) : NAN;
        if (!isnan(a)) {
            sum += a;
            defined++;
        }
    }
    *out = defined > 0 ? sum / defined : NAN;
    mcr_free(ctx, r);
    return MCR_OK;
}

/* ---- probabilities ----------------------------------------------------------------------------*/

static mcr_status no_probabilities(mcr *ctx, const char *metric)
{
    return mcr_advise(ctx,
                      mcr_fail(ctx, MCR_BAD_CALL,
                               "%s needs probabilities: train with the option probability, or use "
                               "a learner that has them, such as logistic",
                               metric),
                      "option probability=yes");
}

/* Minus the mean logarithm of the probability of the true class. Probabilities of 0 and 1 are
 * clipped by the rounding unit of doubles and normalised to sum 1; a class unknown to the model has
 * the smallest. */
mcr_status mcr_metric_log_loss(mcr *ctx, int which, const mcr_evaluated *w, double *out)
{
    (void)which;
    double sum = 0;
    *out = NAN;
    if (!w->proba)
        return no_probabilities(ctx, "log_loss");
    for (int64_t i = 0; i < w->n; i++) {
        double all = 0, own = DBL_EPSILON;
        for (int64_t k = 0; k < w->classes; k++) {
            double p = w->proba[i * w->classes + k];
            p = p < DBL_EPSILON ? DBL_EPSILON : p > 1 - DBL_EPSILON ? 1 - DBL_EPSILON : p;
            own = (double)k == w->target[i] ? p : own;
            all += p;
        }
        sum -= weight_of(w, i) * log(own / all);
    }
    *out = sum / total_weight(w);
    return MCR_OK;
}

/* For the positive class the mean squared error of the probability; without one the sum over all
 * classes (Brier, 1950). */
mcr_status mcr_metric_brier(mcr *ctx, int which, const mcr_evaluated *w, double *out)
{
    (void)which;
    double sum = 0;
    *out = NAN;
    if (!w->proba)
        return no_probabilities(ctx, "brier");
    for (int64_t i = 0; i < w->n; i++)
        for (int64_t k = 0; k < w->classes; k++) {
            double error = w->proba[i * w->classes + k] - ((double)k == w->target[i]);
            if (w->positive < 0 || k == w->positive)
                sum += weight_of(w, i) * error * error;
        }
    *out = sum / total_weight(w);
    return MCR_OK;
}
