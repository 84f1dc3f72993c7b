/* ranking.c: ranks the points of a search: the best one, and those that cannot become the best.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdlib.h>

#include "select/search.h"

bool mcr_tried_better(const mcr_tried *t, double a, double b)
{
    return t->metric->info.larger ? a > b : a < b;
}

double mcr_tried_mean(const mcr_tried *t, int64_t point)
{
    return mcr_mean(t->score + point * t->count, t->count);
}

void mcr_tried_choose(mcr_tried *t)
{
    t->best = -1;
    for (int64_t p = 0; p < t->grid->points; p++)
        if (t->state[p] == MCR_POINT_DONE + 1 && isfinite(mcr_tried_mean(t, p)) &&
            (t->best < 0 || mcr_tried_better(t, mcr_tried_mean(t, p), mcr_tried_mean(t, t->best))))
            t->best = p;
}

/* The sum over the splits, with `rest` for those not tested. */
static double sum_with(const mcr_tried *t, int64_t point, double rest)
{
    double sum = rest * (double)(t->count - t->tested[point]);
    if (t->count == t->tested[point])
        sum = 0;
    for (int64_t s = 0; s < t->tested[point]; s++)
        sum += t->score[point * t->count + s];
    return sum;
}

/* A NAN (a split on which the metric is undefined) proves nothing. */
void mcr_tried_leave_out(mcr_tried *t, const int64_t *point, int64_t count)
{
    const mcr_metric *m = t->metric;
    double good = m->info.larger ? m->most : m->least, bad = m->info.larger ? m->least : m->most;
    double sure = NAN; /* a sum that the best point will reach for certain */
    for (int64_t p = 0; p < t->grid->points; p++) {
        if (!t->state[p] || t->state[p] == MCR_POINT_BEATEN + 1 || !t->tested[p])
            continue;
        double sum = sum_with(t, p, bad);
        if (isnan(sure) || mcr_tried_better(t, sum, sure))
            sure = sum;
    }
    for (int64_t i = 0; i < count; i++) {
        int64_t p = point[i];
        double most = sum_with(t, p, good);
        double margin = 1e-12 * (double)t->count * fmax(1, fabs(sure)); /* sums are rounded */
        if (!t->whole && t->tested[p] < t->count && isfinite(sure) &&
            mcr_tried_better(t, sure, most) && fabs(sure - most) > margin)
            t->state[p] = MCR_POINT_BEATEN + 1;
        else if (t->tested[p] < t->count && isinf(sum_with(t, p, 0)))
            t->state[p] = MCR_POINT_FAILED + 1;
    }
}

/* A point and its scores so far. */
typedef struct racer {
    int64_t point;
    double sum; /* sum or mean of its scores, larger is better; NAN: undefined on some split */
} racer;

/* Points with unknown scores are not dropped; of equal ones the first is kept. */
static int ahead_first(const void *a, const void *b)
{
    const racer *x = a, *y = b;
    if (isnan(x->sum) != isnan(y->sum))
        return isnan(x->sum) ? -1 : 1;
    if (x->sum != y->sum && !isnan(x->sum))
        return x->sum > y->sum ? -1 : 1;
    return (x->point > y->point) - (x->point < y->point);
}

mcr_status mcr_tried_keep_third(mcr_tried *t, const int64_t *point, int64_t count)
{
    enum { LEAST = 5 };
    racer *list = mcr_alloc(t->ctx, (size_t)count, sizeof *list);
    int64_t left = 0;
    if (!list)
        return MCR_NO_MEMORY;
    for (int64_t i = 0; i < count; i++) {
        int64_t p = point[i];
        double sum = sum_with(t, p, 0);
        if (t->state[p] == MCR_POINT_DONE + 1 && t->tested[p] < t->count)
            list[left++] = (racer){p, t->metric->info.larger ? sum : -sum};
    }
    qsort(list, (size_t)left, sizeof *list, ahead_first);
    int64_t stays = (left + 2) / 3 > LEAST ? (left + 2) / 3 : LEAST;
    for (int64_t i = stays; i < left; i++)
        t->state[list[i].point] = MCR_POINT_BEATEN + 1;
    mcr_free(t->ctx, list);
    return MCR_OK;
}

/* The standard error of the difference between the means of two points over the leading splits:
 * from what remains of the scores after the effects of the point and of the split. */
static double difference_error(const mcr_tried *t, const racer *list, int64_t points,
                               int64_t splits)
{
    double all = 0, sum = 0;
    for (int64_t i = 0; i < points; i++)
        all += mcr_mean(t->score + list[i].point * t->count, splits) / (double)points;
    for (int64_t s = 0; s < splits; s++) {
        double split = 0;
        for (int64_t i = 0; i < points; i++)
            split += t->score[list[i].point * t->count + s] / (double)points;
        for (int64_t i = 0; i < points; i++) {
            const double *score = t->score + list[i].point * t->count;
            double rest = score[s] - mcr_mean(score, splits) - split + all;
            sum += rest * rest;
        }
    }
    double variance = sum / ((double)(points - 1) * (double)(splits - 1));
    return sqrt(2 * variance / (double)splits);
}

mcr_status mcr_tried_drop_behind(mcr_tried *t, const int64_t *point, int64_t count, int64_t splits)
{
    enum { FEWEST = 6 }; /* points, to estimate an error from */
    const double errors = 2;
    racer *list = mcr_alloc(t->ctx, (size_t)t->grid->points, sizeof *list);
    int64_t points = 0;
    if (!list)
        return MCR_NO_MEMORY;
    for (int64_t p = 0; p < t->grid->points; p++) {
        if (t->state[p] != MCR_POINT_DONE + 1 || t->tested[p] < splits)
            continue;
        double mean = mcr_mean(t->score + p * t->count, splits);
        if (isfinite(mean))
            list[points++] = (racer){p, t->metric->info.larger ? mean : -mean};
    }
    qsort(list, (size_t)points, sizeof *list, ahead_first);
    /* Equal points say nothing about the error; poor ones vary more than those near the best. */
    int64_t distinct = 0;
    for (int64_t i = 0; i < points; i++)
        if (distinct == 0 || list[i].sum != list[distinct - 1].sum)
            list[distinct++] = list[i];
    int64_t half = (distinct + 1) / 2;
    double least = -INFINITY;
    if (half >= FEWEST && splits > 1)
        least = list[0].sum - errors * difference_error(t, list, half, splits) -
                1e-12 * fabs(list[0].sum);
    for (int64_t i = 0; i < count; i++) {
        double mean = mcr_mean(t->score + point[i] * t->count, splits);
        if (t->state[point[i]] == MCR_POINT_DONE + 1 && isfinite(mean) &&
            (t->metric->info.larger ? mean : -mean) < least)
            t->state[point[i]] = MCR_POINT_BEATEN + 1;
    }
    mcr_free(t->ctx, list);
    return MCR_OK;
}
