/* metrics.c: the table of metrics, and their lookup and evaluation.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "select/select.h"

#include <math.h>
#include <string.h>

#include "base/sized.h"

/* ---- the table --------------------------------------------------------------------------------*/

enum { LARGER = 1, SMALLER = 0 };
enum { PLAIN = 0, SCORES = 1, PROBA = 2 }; /* inputs besides the predictions */

#define METRIC(called, of, direction, needs, low, high, function, about, ...)                      \
    {                                                                                              \
        .info.name = called, .info.summary = about, .info.task = of, .info.larger = direction,     \
        .info.proba = (needs) == PROBA, .info.score = (needs) == SCORES, .least = (low),           \
        .most = (high), .score_of = mcr_metric_##function, __VA_ARGS__                             \
    }

/* The first one of a task is the default of searches; the order is that of the output. */
static const mcr_metric table[] = {
    METRIC("accuracy", MCR_CLASSIFY, LARGER, PLAIN, 0, 1, accuracy,
           "share of objects whose class is predicted correctly", .of_one = true),
    METRIC("balanced_accuracy", MCR_CLASSIFY, LARGER, PLAIN, 0, 1, by_class,
           "mean recall over the classes", .which = MCR_BALANCED),
    METRIC("precision", MCR_CLASSIFY, LARGER, PLAIN, 0, 1, by_class,
           "share of objects predicted as positive that are positive", .which = MCR_PRECISION,
           .info.positive = 1),
    METRIC("recall", MCR_CLASSIFY, LARGER, PLAIN, 0, 1, by_class,
           "share of positive objects that are predicted as positive", .which = MCR_RECALL,
           .info.positive = 1),
    METRIC("f1", MCR_CLASSIFY, LARGER, PLAIN, 0, 1, by_class,
           "harmonic mean of precision and recall", .which = MCR_F1, .info.positive = 1),
    METRIC("mcc", MCR_CLASSIFY, LARGER, PLAIN, -1, 1, mcc,
           "Matthews' correlation of classes and predictions"),
    METRIC("roc_auc", MCR_CLASSIFY, LARGER, SCORES, 0, 1, by_rank,
           "area under the ROC curve; without a positive class the mean of each against the others",
           .which = MCR_ROC_AUC, .detects = true, .info.positive = 1),
    METRIC("average_precision", MCR_CLASSIFY, LARGER, SCORES, 0, 1, by_rank,
           "area under precision against recall", .which = MCR_AVERAGE_PRECISION, .detects = true,
           .info.positive = 1),
    METRIC("log_loss", MCR_CLASSIFY, SMALLER, PROBA, 0, INFINITY, log_loss,
           "minus the mean logarithm of the true class's probability", .of_one = true),
    METRIC("brier", MCR_CLASSIFY, SMALLER, PROBA, 0, 2, brier,
           "mean squared error of the probability", .of_one = true, .info.positive = 1),
    METRIC("mse", MCR_REGRESS, SMALLER, PLAIN, 0, INFINITY, errors, "mean squared error",
           .which = MCR_MSE, .of_one = true),
    METRIC("rmse", MCR_REGRESS, SMALLER, PLAIN, 0, INFINITY, errors,
           "root of the mean squared error", .which = MCR_RMSE),
    METRIC("mae", MCR_REGRESS, SMALLER, PLAIN, 0, INFINITY, errors, "mean absolute error",
           .which = MCR_MAE, .of_one = true),
    METRIC("r2", MCR_REGRESS, LARGER, PLAIN, -INFINITY, 1, errors,
           "share of the variance that is explained", .which = MCR_R2),
    METRIC("max_error", MCR_REGRESS, SMALLER, PLAIN, 0, INFINITY, max_error,
           "largest absolute error"),
    METRIC("coverage", MCR_REGRESS, LARGER, PLAIN, 0, 1, coverage,
           "share of targets in their intervals", .of_one = true, .info.intervals = 1),
    METRIC("adjusted_rand", MCR_CLUSTER, LARGER, PLAIN, -1, 1, rand,
           "agreement of clusters with classes, 0 by chance"),
};

enum { METRICS = sizeof table / sizeof *table, NAME = 64 };

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
    return m ? MCR_SIZED_WRITE(mcr_metric_info, out, NULL, &m->info) : MCR_BAD_CALL;
}

/* ---- choosing ---------------------------------------------------------------------------------*/

/* For detection, accuracy depends on nu as much as on the score: it is the last choice. */
static bool suits(const mcr_metric *m, mcr_task task)
{
    return m->info.task == task || (task == MCR_DETECT && (m->detects || m == &table[0]));
}

/* Hyphens are accepted for underscores, and auc for roc_auc. */
static const char *usual_name(char to[NAME], const char *name)
{
    size_t i = 0;
    if (strcmp(name, "auc") == 0)
        return "roc_auc";
    for (; i < NAME - 1 && name[i]; i++)
        to[i] = name[i];
    to[i] = '\0';
    for (i = 0; to[i]; i++)
        to[i] = to[i] == '-' ? '_' : to[i];
    return to;
}

static mcr_status no_such_metric(mcr *ctx, const char *name, const char *const *names,
                                 const char *list)
{
    char usual[NAME];
    for (int i = 0; i < METRICS; i++)
        if (strcmp(table[i].info.name, usual_name(usual, name)) == 0)
            return mcr_fail(ctx, MCR_BAD_CALL,
                            "metric \"%.100s\" is not for this task: there are %s", name, list);
    const char *near = mcr_nearest(name, names);
    return near
               ? mcr_fail(ctx, MCR_BAD_CALL, "unknown metric \"%.100s\" (did you mean \"%s\"?)",
                          name, near)
               : mcr_fail(ctx, MCR_BAD_CALL, "unknown metric \"%.100s\": there are %s", name, list);
}

mcr_status mcr_metric_choose(const mcr_metric **out, mcr *ctx, const char *name, mcr_task task)
{
    const char *names[METRICS + 1] = {NULL};
    char list[512] = "", usual[NAME];
    int count = 0;
    *out = NULL;
    for (int i = 0; i < METRICS; i++) {
        if (!suits(&table[i], task))
            continue;
        bool first = task != MCR_DETECT || table[i].detects;
        if (!*out && (name ? strcmp(table[i].info.name, usual_name(usual, name)) == 0 : first))
            *out = &table[i];
        strcat(list, count ? ", " : "");
        strcat(list, table[i].info.name);
        names[count++] = table[i].info.name;
    }
    if (*out)
        return MCR_OK;
    if (count == 0)
        return mcr_fail(ctx, MCR_BAD_CALL, "there is no metric for the output of this learner");
    return no_such_metric(ctx, name, names, list);
}

/* ---- asking -----------------------------------------------------------------------------------*/

/* Inliers are +1 and outliers -1: other targets are ambiguous, and 1 is often the anomaly. */
static mcr_status check_marks(mcr *ctx, const mcr_evaluated *w)
{
    for (int64_t i = 0; i < w->n; i++)
        if (w->target[i] != 1 && w->target[i] != -1)
            return mcr_fail(ctx, MCR_BAD_DATA,
                            "detection is scored by targets of -1 for an anomaly and +1 for "
                            "others, and these are different: say which class is the anomaly");
    return MCR_OK;
}

bool mcr_metric_possible(const mcr_metric *m, const mcr_evaluated *w)
{
    return (!m->info.proba || w->proba) && (!m->info.score || w->score || w->proba) &&
           (!m->info.intervals || (w->lower && w->upper));
}

mcr_status mcr_metric_score(const mcr_metric *m, mcr *ctx, const mcr_evaluated *w, double *out)
{
    *out = NAN;
    mcr_status s = w->task == MCR_DETECT ? check_marks(ctx, w) : MCR_OK;
    return s ? s : m->score_of(ctx, m->which, w, out);
}

mcr_status mcr_evaluated_open(mcr_evaluated *out, double **target, mcr *ctx,
                              const mcr_fitted *fitted, const mcr_data *data, int64_t positive)
{
    int64_t n = mcr_data_count(data);
    bool numbers = fitted->task != MCR_CLASSIFY && fitted->task != MCR_CLUSTER;
    const double *real = mcr_data_targets(data);
    double *own = *target = mcr_alloc(ctx, (size_t)n, sizeof *own);
    if (!own)
        return MCR_NO_MEMORY;
    for (int64_t i = 0; i < n; i++)
        own[i] = numbers ? real[i] : (double)mcr_data_class_of(data)[i];
    *out = (mcr_evaluated){.size = sizeof *out,
                           .task = fitted->task,
                           .n = n,
                           .classes = numbers ? 0 : mcr_data_classes(data),
                           .outputs = fitted->outputs,
                           .positive = fitted->task == MCR_CLASSIFY ? positive : -1,
                           .target = own,
                           .weight = mcr_data_weights(data)};
    return MCR_OK;
}

void mcr_evaluated_add(mcr_evaluated *w, const mcr_fitted *f, const double *value,
                       const double *score, const double *proba)
{
    bool one_each = f->rule == MCR_RULE_BINARY || f->rule == MCR_RULE_SIGN ||
                    (!proba && f->rule != MCR_RULE_PAIRS &&
                     (f->outputs == 1 || f->outputs == f->classes));
    w->value = value;
    w->score = one_each ? score : NULL;
    w->proba = proba;
}

static uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* Whether all of x are from 0 to below `most`. Bits of numbers from +0 on are in their order, and
 * those of all others are larger: one comparison each and no branch. False also for -0. */
static bool all_below(const double *x, int64_t n, double most)
{
    const uint64_t limit = bits_of(most);
    int64_t below = 0;
    for (int64_t i = 0; i < n; i++)
        below += bits_of(x[i]) < limit;
    return below == n;
}

mcr_status mcr_evaluated_read(mcr_evaluated *out, mcr *ctx, const mcr_evaluated *what)
{
    mcr_status s = MCR_SIZED_READ(mcr_evaluated, out, ctx, what);
    if (s)
        return s;
    if (out->n < 1 || !out->target || !out->value)
        return mcr_fail(ctx, MCR_BAD_CALL, "there are no predictions to compare with targets");
    bool classes = out->task == MCR_CLASSIFY, clusters = out->task == MCR_CLUSTER;
    if (classes && (out->classes < 1 || out->positive >= out->classes))
        return mcr_fail(ctx, MCR_BAD_CALL, "there are %lld classes, and the positive one is %lld",
                        (long long)out->classes, (long long)out->positive);
    if (out->score && classes && out->outputs != 1 && out->outputs != out->classes)
        return mcr_fail(ctx, MCR_BAD_CALL, "scores are one per object, or one per class");
    double most = (double)(classes ? out->classes : out->outputs);
    if ((!classes && !clusters) || (all_below(out->target, out->n, INT32_MAX) && most > 0 &&
                                    all_below(out->value, out->n, most)))
        return MCR_OK;
    for (int64_t i = 0; i < out->n; i++)
        if (!(out->target[i] >= 0 && out->target[i] < INT32_MAX && out->value[i] >= 0 &&
              out->value[i] < most))
            return mcr_fail(ctx, MCR_BAD_CALL, "object %lld: not the number of a class",
                            (long long)i + 1);
    return MCR_OK;
}

mcr_status mcr_evaluate(mcr *ctx, const char *metric, const mcr_evaluated *what, double *out)
{
    mcr_evaluated w;
    const mcr_metric *m = NULL;
    *out = NAN;
    mcr_status s = mcr_evaluated_read(&w, ctx, what);
    if (!s)
        s = mcr_metric_choose(&m, ctx, metric, w.task);
    return s ? s : mcr_metric_score(m, ctx, &w, out);
}

/* ---- over splits ------------------------------------------------------------------------------*/

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

double mcr_standard_deviation(const double *v, int64_t count)
{
    double mean = mcr_mean(v, count), sum = 0, used = 0;
    for (int64_t i = 0; i < count; i++)
        if (!isnan(v[i])) {
            sum += (v[i] - mean) * (v[i] - mean);
            used++;
        }
    return used > 1 ? sqrt(sum / (used - 1)) : NAN;
}
