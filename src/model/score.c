/* score.c: scores of predictions.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "base/sized.h"
#include "model/model.h"

mcr_status mcr_model_match(int64_t **out, mcr *ctx, const mcr_model *m, const mcr_data *data)
{
    int64_t k = mcr_data_classes(data);
    int64_t *match = mcr_alloc(ctx, (size_t)k, sizeof *match);
    *out = match;
    for (int64_t c = 0; match && c < k; c++) {
        const char *name = mcr_data_class_name(data, c), *end = name + strlen(name);
        double number;
        bool is_number = mcr_parse_real(name, end, &number) == end;
        match[c] = -1;
        for (int64_t t = 0; t < m->classes && match[c] < 0; t++)
            if (strcmp(name, m->class_name[t]) == 0 || (is_number && number == m->class_value[t]))
                match[c] = t;
    }
    return match ? MCR_OK : MCR_NO_MEMORY;
}

/* match: the number in `value` of each class of the data; NULL: the same numbers. */
static void score_classes(const mcr_data *data, const double *value, const int64_t *match,
                          mcr_metrics *out)
{
    int64_t right = 0;
    const int32_t *class_of = mcr_data_class_of(data);
    for (int64_t i = 0; i < out->n; i++)
        right += (double)(match ? match[class_of[i]] : class_of[i]) == value[i];
    out->accuracy = (double)right / (double)out->n;
}

void mcr_numbers_score(const double *y, const double *value, int64_t step, const double *weight,
                       mcr_metrics *out)
{
    double mean = 0, total = 0, squares = 0, sizes = 0, n = 0, largest = 0;
    int e = 0;
    for (int64_t i = 0; i < out->n; i++)
        n += weight ? weight[i] : 1;
    for (int64_t i = 0; i < out->n; i++)
        largest = fmax(largest, fmax(fabs(y[i * step]), fabs(value[i * step])));
    /* Divides by a power of two if squares would overflow or underflow: no other digit changes. */
    if (largest > 1e150 || largest < 1e-150)
        (void)frexp(largest, &e);
    for (int64_t i = 0; i < out->n; i++)
        mean += (weight ? weight[i] : 1) * ldexp(y[i * step], -e) / n;
    for (int64_t i = 0; i < out->n; i++) {
        double target = ldexp(y[i * step], -e), error = target - ldexp(value[i * step], -e);
        double w = weight ? weight[i] : 1;
        squares += w * error * error;
        sizes += w * fabs(error);
        total += w * (target - mean) * (target - mean);
    }
    out->mse = ldexp(squares / n, 2 * e);
    out->mae = ldexp(sizes / n, e);
    out->r2 = total > 0 ? 1 - squares / total : NAN;
}

/* Detection: targets +1 (or any number > 0) are inliers. */
static void score_detection(const mcr_data *data, const double *value, mcr_metrics *out)
{
    const double *y = mcr_data_targets(data);
    int64_t right = 0;
    for (int64_t i = 0; i < out->n; i++)
        right += (y[i] > 0) == (value[i] > 0);
    out->accuracy = (double)right / (double)out->n;
}

/* The adjusted Rand index (Hubert and Arabie, 1985): pairs that both classes and clusters keep
 * together; 0 for chance, 1 for the same partition. */
mcr_status mcr_clusters_score(mcr *ctx, const mcr_partition *p, mcr_metrics *out)
{
    int64_t classes = p->classes, k = p->clusters;
    double *both = mcr_alloc_zero(ctx, (size_t)(k + 1), (size_t)(classes + 1) * sizeof *both);
    if (!both)
        return MCR_NO_MEMORY;
    double pairs[3] = {0, 0, 0}, all = (double)out->n * (double)(out->n - 1) / 2;
    for (int64_t i = 0; i < out->n; i++) { /* the last row and column hold the sums */
        int64_t c = (int64_t)p->cluster[i];
        int64_t t = p->class_of ? p->class_of[i] : (int64_t)p->class_number[i];
        both[c * (classes + 1) + t]++;
        both[c * (classes + 1) + classes]++;
        both[k * (classes + 1) + t]++;
    }
    for (int64_t c = 0; c <= k; c++)
        for (int64_t t = 0; t <= classes; t++) {
            double count = both[c * (classes + 1) + t];
            pairs[c == k ? 1 : t == classes ? 2 : 0] += count * (count - 1) / 2;
        }
    double chance = all > 0 ? pairs[1] * pairs[2] / all : 0, most = (pairs[1] + pairs[2]) / 2;
    out->rand = most > chance ? (pairs[0] - chance) / (most - chance) : 1;
    mcr_free(ctx, both);
    return MCR_OK;
}

static mcr_metrics no_metrics(const mcr_data *data)
{
    return (mcr_metrics){.size = sizeof(mcr_metrics),
                         .n = mcr_data_count(data),
                         .accuracy = NAN,
                         .mse = NAN,
                         .mae = NAN,
                         .r2 = NAN,
                         .rand = NAN};
}

/* Targets are matched by position; different names are an error. */
static mcr_status check_targets(mcr *ctx, const mcr_model *m, const mcr_data *data)
{
    int64_t count = mcr_model_targets(m), found = mcr_data_target_count(data);
    if (mcr_data_target_kind(data) == MCR_WORD_TARGETS)
        return mcr_fail(ctx, MCR_BAD_DATA, "the targets are words, but the model predicts numbers");
    if (count != found)
        return mcr_fail(ctx, MCR_BAD_DATA,
                        "the model predicts %lld target%s, and the data have %lld",
                        (long long)count, count > 1 ? "s" : "", (long long)found);
    for (int64_t t = 0; t < count && count > 1; t++)
        if (strcmp(m->output_name[t], mcr_data_target_name(data, t)) != 0)
            return mcr_fail(ctx, MCR_BAD_DATA,
                            "target %lld of the data is \"%.64s\", and that of the model \"%.64s\"",
                            (long long)t + 1, mcr_data_target_name(data, t), m->output_name[t]);
    return MCR_OK;
}

mcr_status mcr_model_score_targets(mcr *ctx, const mcr_model *m, const mcr_data *data,
                                   const double *score, mcr_metrics *each, mcr_metrics *mean)
{
    int64_t count = mcr_model_targets(m), vary = 0;
    mcr_metrics sum = no_metrics(data), one;
    sum.mse = sum.mae = sum.r2 = 0;
    if (m->report.task != MCR_REGRESS || mcr_data_target_kind(data) == MCR_NO_TARGETS || sum.n == 0)
        return mcr_fail(ctx, MCR_BAD_DATA, "there are no numbers to compare with");
    mcr_status s = check_targets(ctx, m, data);
    for (int64_t t = 0; t < count && !s; t++) {
        one = no_metrics(data);
        mcr_numbers_score(mcr_data_target_table(data) + t, score + t, count, NULL, &one);
        sum.mse += one.mse / (double)count;
        sum.mae += one.mae / (double)count;
        sum.r2 += isnan(one.r2) ? 0 : one.r2;
        vary += !isnan(one.r2);
        if (each) {
            mcr_metrics *to = (mcr_metrics *)((char *)each + (size_t)t * each->size);
            to->size = each->size;
            s = MCR_SIZED_WRITE(mcr_metrics, to, ctx, &one);
        }
    }
    sum.r2 = vary ? sum.r2 / (double)vary : NAN;
    return mean && !s ? MCR_SIZED_WRITE(mcr_metrics, mean, ctx, &sum) : s;
}

static mcr_status score_values(mcr *ctx, const mcr_model *m, const int64_t *match,
                               const mcr_data *data, const double *value, mcr_metrics *out)
{
    *out = no_metrics(data);
    mcr_task task = m->report.task;
    mcr_targets kind = mcr_data_target_kind(data);
    if (kind == MCR_NO_TARGETS || out->n == 0)
        return mcr_fail(ctx, MCR_BAD_DATA, "the data have no targets to compare with");
    if (task == MCR_CLUSTER)
        return mcr_clusters_score(ctx,
                                  &(mcr_partition){.clusters = m->fitted->outputs,
                                                   .classes = mcr_data_classes(data),
                                                   .cluster = value,
                                                   .class_of = mcr_data_class_of(data)},
                                  out);
    if (task != MCR_CLASSIFY && kind == MCR_WORD_TARGETS)
        return mcr_fail(ctx, MCR_BAD_DATA, "the targets are words, but the model predicts numbers");
    if (task == MCR_CLASSIFY)
        score_classes(data, value, match, out);
    else if (task == MCR_REGRESS)
        mcr_numbers_score(mcr_data_targets(data), value, 1, NULL, out);
    else
        score_detection(data, value, out);
    return MCR_OK;
}

mcr_status mcr_model_score(mcr *ctx, const mcr_model *m, const mcr_data *data, const double *value,
                           mcr_metrics *out)
{
    int64_t *match = NULL;
    mcr_metrics found = MCR_INIT(mcr_metrics);
    mcr_status s = MCR_OK;
    if (m->report.task == MCR_CLASSIFY && mcr_data_target_kind(data) != MCR_NO_TARGETS)
        s = mcr_model_match(&match, ctx, m, data);
    bool numbers = m->report.task == MCR_REGRESS || m->report.task == MCR_DETECT;
    if (!s && numbers && mcr_data_target_kind(data) != MCR_NO_TARGETS)
        s = check_targets(ctx, m, data);
    if (!s)
        s = score_values(ctx, m, match, data, value, &found);
    mcr_free(ctx, match);
    return s ? s : MCR_SIZED_WRITE(mcr_metrics, out, ctx, &found);
}

mcr_status mcr_model_truth(mcr *ctx, const mcr_model *m, const mcr_data *data, double *target)
{
    int64_t n = mcr_data_count(data), unknown = m->classes, *match = NULL;
    if (mcr_data_target_kind(data) == MCR_NO_TARGETS)
        return mcr_fail(ctx, MCR_BAD_DATA, "the data have no targets to compare with");
    if (m->report.task == MCR_CLUSTER || m->report.task == MCR_CLASSIFY) {
        mcr_status s = m->report.task == MCR_CLASSIFY ? mcr_model_match(&match, ctx, m, data)
                                                      : MCR_OK;
        for (int64_t c = 0; match && c < mcr_data_classes(data); c++)
            if (match[c] < 0)
                match[c] = unknown++;
        for (int64_t i = 0; i < n && !s; i++) {
            int64_t class = mcr_data_class_of(data)[i];
            target[i] = (double)(match ? match[class] : class);
        }
        mcr_free(ctx, match);
        return s;
    }
    mcr_status s = check_targets(ctx, m, data);
    if (!s)
        memcpy(target, mcr_data_targets(data), sizeof *target * (size_t)n);
    return s;
}
