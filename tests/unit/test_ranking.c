/* Early decisions of a search: points that are clearly behind on the first splits are dropped.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>

#include "helpers.h"
#include "select/search.h"

enum { POINTS = 20, SPLITS = 5, FIRST = 2 };

typedef struct race {
    mcr_tried tried;
    mcr_grid grid;
    double score[POINTS * SPLITS];
    int32_t tested[POINTS];
    unsigned char state[POINTS];
    int64_t point[POINTS];
} race;

/* Point p loses p * step against the first; what two splits disagree about is 2 * noise. */
static void set_up(race *r, mcr *ctx, const mcr_metric *metric, double step, double noise)
{
    *r = (race){.grid = {.points = POINTS}};
    r->tried = (mcr_tried){.ctx = ctx,
                           .grid = &r->grid,
                           .metric = metric,
                           .count = SPLITS,
                           .score = r->score,
                           .tested = r->tested,
                           .state = r->state};
    double sign = metric->info.larger ? -1 : 1;
    for (int64_t p = 0; p < POINTS; p++) {
        r->point[p] = p;
        r->tested[p] = FIRST;
        r->state[p] = MCR_POINT_DONE + 1;
        for (int64_t s = 0; s < SPLITS; s++)
            r->score[p * SPLITS + s] = s < FIRST ? 0.5 + 0.2 * (double)s + sign * step * (double)p +
                                                       ((p + s) % 2 ? noise : -noise)
                                                 : NAN;
    }
}

static int64_t left(const race *r)
{
    int64_t count = 0;
    for (int64_t p = 0; p < POINTS; p++)
        count += r->state[p] == MCR_POINT_DONE + 1;
    return count;
}

static const mcr_metric *metric_of(mcr *ctx, const char *name, mcr_task task)
{
    const mcr_metric *metric = NULL;
    test_ok(ctx, mcr_metric_choose(&metric, ctx, name, task));
    return metric;
}

/* Ten points have the interactions +-noise on two splits, so their variance is 10 noise^2 * 2 / 9,
 * and the error of a difference of two means is noise * sqrt(20 / 9): 1.49 noise. */
static void test_behind(void **context)
{
    mcr *ctx = *context;
    race r;
    const mcr_metric *of[2] = {metric_of(ctx, "accuracy", MCR_CLASSIFY),
                               metric_of(ctx, "mse", MCR_REGRESS)};
    for (int m = 0; m < 2; m++) {
        const double noise = 0.01, limit = 2 * sqrt(20. / 9) * noise;
        double step = limit / 7.5;
        set_up(&r, ctx, of[m], step, noise);
        test_ok(ctx, mcr_tried_drop_behind(&r.tried, r.point, POINTS, FIRST));
        assert_int_equal(left(&r), 8);
        for (int64_t p = 0; p < 8; p++)
            assert_int_equal(r.state[p], MCR_POINT_DONE + 1);
    }
}

/* Equal points stay, and so does one whose score is not defined; no noise: rounding drops none. */
static void test_stays(void **context)
{
    mcr *ctx = *context;
    race r;
    const mcr_metric *metric = metric_of(ctx, "accuracy", MCR_CLASSIFY);
    set_up(&r, ctx, metric, 0, 0);
    r.score[3 * SPLITS] = NAN;
    test_ok(ctx, mcr_tried_drop_behind(&r.tried, r.point, POINTS, FIRST));
    assert_int_equal(left(&r), POINTS);
    set_up(&r, ctx, metric, 0.01, 0);
    test_ok(ctx, mcr_tried_drop_behind(&r.tried, r.point, POINTS, FIRST));
    assert_int_equal(left(&r), 1);
}

/* Too few points say nothing about the error; points that are not in the list are only compared
 * with. */
static void test_few(void **context)
{
    mcr *ctx = *context;
    race r;
    set_up(&r, ctx, metric_of(ctx, "accuracy", MCR_CLASSIFY), 0.01, 0.001);
    for (int64_t p = 10; p < POINTS; p++)
        r.state[p] = 0;
    test_ok(ctx, mcr_tried_drop_behind(&r.tried, r.point, 10, FIRST));
    assert_int_equal(left(&r), 10);
    for (int64_t p = 10; p < POINTS; p++)
        r.state[p] = MCR_POINT_DONE + 1;
    test_ok(ctx, mcr_tried_drop_behind(&r.tried, r.point + 5, 5, FIRST));
    for (int64_t p = 0; p < POINTS; p++)
        assert_int_equal(r.state[p] == MCR_POINT_BEATEN + 1, p >= 5 && p < 10);
}

/* The better half are equal points, which would make the error 0: they count once. */
static void test_equal(void **context)
{
    mcr *ctx = *context;
    race r;
    set_up(&r, ctx, metric_of(ctx, "accuracy", MCR_CLASSIFY), 0, 0);
    for (int64_t p = 12; p < POINTS; p++)
        r.score[p * SPLITS] -= 0.001 * (double)(p - 11);
    test_ok(ctx, mcr_tried_drop_behind(&r.tried, r.point, POINTS, FIRST));
    assert_int_equal(left(&r), POINTS);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, test_setup, test_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(test_behind), TEST(test_stays), TEST(test_few),
                                       TEST(test_equal)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
