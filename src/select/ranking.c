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
    double sum; /* sum of its scores, larger is better; NAN: undefined on some split */
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
