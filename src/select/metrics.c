/* metrics.c: how predictions are scored.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/sized.h"
#include "select/select.h"

/* ---- classes -----------------------------------------------------------------------------------*/

/* Objects of each class, those taken for it, and those rightly so. */
typedef struct counts {
    double *is, *said, *right;
} counts;

static mcr_status count_classes(mcr *ctx, const mcr_scored *w, counts *c)
{
    size_t k = (size_t)w->classes;
    double *all = mcr_alloc_zero(ctx, 3 * k, sizeof *all);
    if (!all)
        return MCR_NO_MEMORY;
    *c = (counts){all, all + k, all + 2 * k};
    const int32_t *class_of = mcr_data_class_of(w->data);
    for (int64_t i = 0; i < mcr_data_count(w->data); i++) {
        int64_t said = (int64_t)w->value[i];
        c->is[class_of[i]]++;
        c->said[said]++;
        c->right[said] += said == class_of[i];
    }
    return MCR_OK;
}

/* The mean over the classes that occur of the share of their objects that is found. */
static mcr_status balanced(mcr *ctx, const mcr_scored *w, double *out)
{
    counts c;
    mcr_status s = count_classes(ctx, w, &c);
    double sum = 0, occur = 0;
    *out = NAN;
    if (s)
        return s;
    for (int64_t k = 0; k < w->classes; k++)
        if (c.is[k] > 0) {
            sum += c.right[k] / c.is[k];
            occur++;
        }
    *out = occur > 0 ? sum / occur : NAN;
    mcr_free(ctx, c.is);
    return MCR_OK;
}

/* 2 right / (is + said): of two classes that of the second, of more the mean over those that occur. */
static mcr_status f1(mcr *ctx, const mcr_scored *w, double *out)
{
    counts c;
    mcr_status s = count_classes(ctx, w, &c);
    double sum = 0, occur = 0;
    *out = NAN;
    if (s)
        return s;
    for (int64_t k = w->classes == 2 ? 1 : 0; k < w->classes; k++)
        if (c.is[k] + c.said[k] > 0) {
            sum += 2 * c.right[k] / (c.is[k] + c.said[k]);
            occur++;
        }
    *out = occur > 0 ? sum / occur : w->classes == 2 ? 0 : NAN;
    mcr_free(ctx, c.is);
    return MCR_OK;
}

typedef struct ranked {
    double score;
    bool positive;
} ranked;

static int lower_first(const void *a, const void *b)
{
    double x = ((const ranked *)a)->score, y = ((const ranked *)b)->score;
    return (x > y) - (x < y);
}

/* The chance that a positive object has a higher score than a negative one; equal ones count half. */
static double area(ranked *r, int64_t n)
{
    double positive = 0, sum = 0;
    for (int64_t i = 0; i < n; i++)
        if (isnan(r[i].score))
            return NAN;
    qsort(r, (size_t)n, sizeof *r, lower_first);
    for (int64_t i = 0, j; i < n; i = j) {
        double tied = 0;
        for (j = i; j < n && r[j].score == r[i].score; j++)
            tied += r[j].positive;
        positive += tied;
        sum += tied * (0.5 * (double)(i + j - 1) + 1); /* mean rank, from 1 */
    }
    double negative = (double)n - positive;
    return positive > 0 && negative > 0
               ? (sum - positive * (positive + 1) / 2) / (positive * negative)
               : NAN;
}

/* What speaks for class k in object i. */
static double support_of(const mcr_scored *w, int64_t i, int64_t k)
{
    if (w->proba)
        return w->proba[i * w->classes + k];
    return w->outputs == 1 ? (k ? 1 : -1) * w->score[i] : w->score[i * w->outputs + k];
}

/* Objects by how much speaks for their being what is looked for: of detection, outside; of two classes,
 * the second. To be freed. */
static mcr_status rank(ranked **out, mcr *ctx, const mcr_scored *w)
{
    int64_t n = mcr_data_count(w->data);
    bool detect = w->task == MCR_DETECT;
    const double *target = mcr_data_targets(w->data);
    ranked *r = *out = mcr_alloc(ctx, (size_t)n, sizeof *r);
    for (int64_t i = 0; i < n && r; i++)
        r[i] = detect ? (ranked){-w->score[i], target[i] < 0}
                      : (ranked){support_of(w, i, 1), mcr_data_class_of(w->data)[i] == 1};
    return r ? MCR_OK : MCR_NO_MEMORY;
}

/* The mean over the positive objects of the share of positive ones among all that rank as high: the area
 * under the curve of precision against recall, without interpolation. */
static mcr_status average_precision(mcr *ctx, const mcr_scored *w, double *out)
{
    int64_t n = mcr_data_count(w->data);
    ranked *r = NULL;
    *out = NAN;
    if (w->task != MCR_DETECT && w->classes != 2)
        return mcr_fail(ctx, MCR_BAD_CALL,
                        "average-precision is for detection and for two classes, and there are "
                        "%lld",
                        (long long)w->classes);
    mcr_status s = rank(&r, ctx, w);
    if (s)
        return s;
    double positive = 0, sum = 0;
    qsort(r, (size_t)n, sizeof *r, lower_first);
    for (int64_t i = n - 1, j; i >= 0; i = j) {
        double before = positive;
        for (j = i; j >= 0 && r[j].score == r[i].score; j--)
            positive += r[j].positive;
        sum += (positive - before) * positive / (double)(n - 1 - j);
    }
    *out = positive > 0 ? sum / positive : NAN;
    mcr_free(ctx, r);
    return MCR_OK;
}

static mcr_status auc_of_detection(mcr *ctx, const mcr_scored *w, double *out)
{
    ranked *r = NULL;
    mcr_status s = rank(&r, ctx, w);
    *out = s ? NAN : area(r, mcr_data_count(w->data));
    mcr_free(ctx, r);
    return s;
}

/* Two classes: of the second. More: the mean of each class against the rest. */
static mcr_status auc(mcr *ctx, const mcr_scored *w, double *out)
{
    int64_t n = mcr_data_count(w->data);
    const int32_t *class_of = mcr_data_class_of(w->data);
    *out = NAN;
    if (w->task == MCR_DETECT)
        return auc_of_detection(ctx, w, out);
    if (!w->proba &&
        !(w->score && (w->outputs == 1 || w->outputs == w->classes) && w->rule != MCR_RULE_PAIRS))
        return mcr_advise(ctx,
                          mcr_fail(ctx, MCR_BAD_CALL,
                                   "auc of %lld classes needs a value for each class: train with "
                                   "the option probability, or with multiclass=ovr",
                                   (long long)w->classes),
                          "option multiclass=ovr");
    ranked *r = mcr_alloc(ctx, (size_t)n, sizeof *r);
    if (!r)
        return MCR_NO_MEMORY;
    double sum = 0, defined = 0;
    for (int64_t k = w->classes == 2 ? 1 : 0; k < w->classes; k++) {
        for (int64_t i = 0; i < n; i++)
            r[i] = (ranked){support_of(w, i, k), class_of[i] == k};
        double a = area(r, n);
        if (!isnan(a)) {
            sum += a;
            defined++;
        }
    }
    *out = defined > 0 ? sum / defined : NAN;
    mcr_free(ctx, r);
    return MCR_OK;
}

/* Minus the mean logarithm of the probability of the true class, which is taken as 1e-15 at least. */
static mcr_status log_loss(mcr *ctx, const mcr_scored *w, double *out)
{
    int64_t n = mcr_data_count(w->data);
    const int32_t *class_of = mcr_data_class_of(w->data);
    *out = NAN;
    if (!w->proba)
        return mcr_advise(
            ctx,
            mcr_fail(ctx, MCR_BAD_CALL,
                     "log-loss needs probabilities: train with the option probability, or take a "
                     "learner that has them, such as logistic"),
            "option probability=yes");
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum -= log(fmax(w->proba[i * w->classes + class_of[i]], 1e-15));
    *out = sum / (double)n;
    return MCR_OK;
}

/* ---- the table ---------------------------------------------------------------------------------*/

#define AT(field) offsetof(mcr_metrics, field)

static const mcr_metric table[] = {
    {{"accuracy", "share of objects whose class is right", MCR_CLASSIFY, 1, 0, 0},
     .most = 1,
     .of_one = true,
     .member = AT(accuracy)},
    {{"balanced-accuracy", "mean over the classes of the share that is found", MCR_CLASSIFY, 1, 0,
      0},
     .most = 1,
     .score_of = balanced},
    {{"f1", "2 right / (is + said), of the second class or the mean of more", MCR_CLASSIFY, 1, 0,
      0},
     .most = 1,
     .score_of = f1},
    {{"auc", "area under the ROC curve; more classes: mean against the rest", MCR_CLASSIFY, 1, 0,
      1},
     .most = 1,
     .detects = true,
     .score_of = auc},
    {{"average-precision", "area under precision against recall, of the second class or outside",
      MCR_CLASSIFY, 1, 0, 1},
     .most = 1,
     .by_name = true,
     .detects = true,
     .score_of = average_precision},
    {{"log-loss", "minus the mean logarithm of the true class's probability", MCR_CLASSIFY, 0, 1,
      0},
     .most = INFINITY,
     .of_one = true,
     .score_of = log_loss},
    {{"mse", "mean squared error", MCR_REGRESS, 0, 0, 0},
     .most = INFINITY,
     .of_one = true,
     .member = AT(mse)},
    {{"rmse", "root of the mean squared error", MCR_REGRESS, 0, 0, 0},
     .most = INFINITY,
     .root = true,
     .member = AT(mse)},
    {{"mae", "mean absolute error", MCR_REGRESS, 0, 0, 0},
     .most = INFINITY,
     .of_one = true,
     .member = AT(mae)},
    {{"r2", "share of the variance that is explained", MCR_REGRESS, 1, 0, 0},
     .least = -INFINITY,
     .most = 1,
     .member = AT(r2)},
    {{"adjusted-rand", "agreement of clusters with classes, 0 as by chance", MCR_CLUSTER, 1, 0, 0},
     .least = -1,
     .most = 1,
     .member = AT(rand)},
};

enum { METRICS = sizeof table / sizeof *table };

const mcr_metric *mcr_metric_at(int64_t number)
{
    return number >= 0 && number < METRICS ? &table[number] : NULL;
}

int64_t mcr_metric_count(void)
{
    return METRICS;
}

mcr_status mcr_metric_describe(int64_t number, mcr_metric_info *out)
{
    const mcr_metric *m = mcr_metric_at(number);
    if (!m)
        return MCR_BAD_CALL;
    const mcr_metric_info info = {
        .name = m->info.name,
        .summary = m->info.summary,
        .task = m->info.task,
        .larger = m->info.larger,
        .proba = m->info.proba,
        .score = m->info.score,
    };
    return MCR_SIZED_WRITE(mcr_metric_info, out, NULL, &info);
}

/* Inside is +1 and outside -1: other targets may mean anything, and 1 is often the anomaly. */
static mcr_status check_marks(mcr *ctx, const mcr_data *data)
{
    const double *target = mcr_data_targets(data);
    bool fine = mcr_data_target_kind(data) == MCR_REAL_TARGETS;
    for (int64_t i = 0; i < mcr_data_count(data) && fine; i++)
        fine = target[i] == 1 || target[i] == -1;
    return fine ? MCR_OK
                : mcr_fail(
                      ctx, MCR_BAD_DATA,
                      "detection is scored by targets of -1 for an anomaly and +1 for others, and "
                      "these are other ones: say which class is the anomaly");
}

mcr_status mcr_metric_score(const mcr_metric *m, mcr *ctx, const mcr_scored *w, double *out)
{
    mcr_metrics all = MCR_INIT(mcr_metrics);
    *out = NAN;
    mcr_status bad = w->task == MCR_DETECT ? check_marks(ctx, w->data) : MCR_OK;
    if (bad)
        return bad;
    if (m->score_of)
        return m->score_of(ctx, w, out);
    mcr_status s = mcr_values_score(ctx, w->task, w->outputs, NULL, w->data, w->value, &all);
    *out = s ? NAN : *(const double *)((const char *)&all + m->member);
    if (m->root)
        *out = sqrt(*out);
    return s;
}

/* Of detection, accuracy depends on nu as much as on the score: it is the last choice. */
static bool suits(const mcr_metric *m, mcr_task task)
{
    return m->info.task == task || (task == MCR_DETECT && (m->detects || m == &table[0]));
}

mcr_status mcr_metric_choose(const mcr_metric **out, mcr *ctx, const char *name, mcr_task task)
{
    const char *names[METRICS + 1] = {NULL};
    char list[256] = "";
    int count = 0;
    *out = NULL;
    for (int i = 0; i < METRICS; i++) {
        if (!suits(&table[i], task))
            continue;
        bool usual = task != MCR_DETECT || table[i].detects;
        if (!*out && (name ? strcmp(table[i].info.name, name) == 0 : usual))
            *out = &table[i];
        strcat(list, count ? ", " : "");
        strcat(list, table[i].info.name);
        names[count++] = table[i].info.name;
    }
    if (*out)
        return MCR_OK;
    if (count == 0)
        return mcr_fail(ctx, MCR_BAD_CALL, "there is no metric for what this learner gives");
    const char *near = mcr_nearest(name, names);
    return near ? mcr_fail(ctx, MCR_BAD_CALL, "unknown metric \"%.100s\" (did you mean \"%s\"?)",
                           name, near)
                : mcr_fail(ctx, MCR_BAD_CALL,
                           "metric \"%.100s\" is not for this task: there are %s", name, list);
}

double mcr_mean(const double *v, int64_t count)
{
    double sum = 0, used = 0;
    for (int64_t i = 0; i < count; i++)
        if (!isnan(v[i])) {
            sum += v[i];
            used++;
        }
    return used > 0 ? sum / used : NAN;
}

double mcr_deviation(const double *v, int64_t count)
{
    double mean = mcr_mean(v, count), sum = 0, used = 0;
    for (int64_t i = 0; i < count; i++)
        if (!isnan(v[i])) {
            sum += (v[i] - mean) * (v[i] - mean);
            used++;
        }
    return used > 1 ? sqrt(sum / (used - 1)) : NAN;
}
