/* Linear programs by the interior point method: feasible, and optimal by weak duality, which needs
 * no other solver; the same after rows are added, and for any number of threads.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "helpers.h"
#include "solve/lp_interior.h"

enum { COLUMNS = 700, ROWS = 40 };

typedef struct sizes {
    double cost[COLUMNS], low[COLUMNS], high[COLUMNS];
    double a[ROWS][COLUMNS], lower[ROWS], upper[ROWS];
} sizes;

/* The first row is an equation; some columns are fixed, and two rows are the same. */
static sizes *make(double C)
{
    sizes *p = calloc(1, sizeof *p);
    for (int k = 0; k < COLUMNS; k++) {
        p->cost[k] = k % 7 ? -1 : 0.5;
        p->high[k] = k % 31 ? C * (1 + k % 3) : 0;
        for (int i = 0; i < ROWS; i++)
            p->a[i][k] = i == 0 ? (k % 2 ? 1 : -1) : sin(0.1 + 0.37 * i * k + i) * (k % 2 ? 1 : -1);
        p->a[ROWS - 1][k] = p->a[ROWS - 2][k];
    }
    for (int i = 1; i < ROWS; i++) {
        p->lower[i] = -1;
        p->upper[i] = 1;
    }
    return p;
}

/* No point has a lower cost than this. */
static double lower_bound(const sizes *p, int rows, const double *dual)
{
    double sum = 0;
    for (int i = 0; i < rows; i++)
        sum += dual[i] * (dual[i] > 0 ? p->lower[i] : p->upper[i]);
    for (int k = 0; k < COLUMNS; k++) {
        double slope = p->cost[k];
        for (int i = 0; i < rows; i++)
            slope -= p->a[i][k] * dual[i];
        sum += slope * (slope > 0 ? p->low[k] : p->high[k]);
    }
    return sum;
}

static void expect_optimal(const sizes *p, int rows, const mcr_interior_result *found, double tol)
{
    double cost = 0;
    for (int k = 0; k < COLUMNS; k++) {
        assert_true(found->x[k] >= p->low[k] && found->x[k] <= p->high[k]);
        cost += p->cost[k] * found->x[k];
    }
    for (int i = 0; i < rows; i++) {
        double sum = 0;
        for (int k = 0; k < COLUMNS; k++)
            sum += p->a[i][k] * found->x[k];
        assert_true(sum >= p->lower[i] - tol && sum <= p->upper[i] + tol);
    }
    double bound = lower_bound(p, rows, found->dual);
    assert_true(cost - bound <= 10 * tol * fabs(cost));
    assert_true(cost - bound >= -10 * tol * fabs(cost));
    assert_true(cost < -1e-3);
}

static void test_optimal(void **context)
{
    static const double costs[] = {0.01, 1, 100};
    for (size_t t = 0; t < sizeof costs / sizeof *costs; t++) {
        sizes *p = make(costs[t]);
        mcr_interior *lp = NULL;
        mcr_interior_result found;
        test_ok(*context, mcr_interior_open(&lp, *context, COLUMNS, p->cost, p->low, p->high));
        for (int rows = 0; rows < ROWS;) {
            for (int more = rows + (rows ? 13 : 1); rows < more; rows++)
                test_ok(*context, mcr_interior_add(lp, p->lower[rows], p->upper[rows], p->a[rows]));
            test_ok(*context, mcr_interior_solve(lp, 1e-8, 0, &found));
            assert_true(found.gap <= 1e-8);
            expect_optimal(p, rows, &found, 1e-7);
        }
        mcr_interior_close(lp);
        free(p);
    }
}

static void test_threads(void **context)
{
    (void)context;
    sizes *p = make(1);
    double first[COLUMNS], dual[ROWS];
    for (int threads = 1; threads <= 3; threads++) {
        mcr *ctx = test_open(threads);
        mcr_interior *lp = NULL;
        mcr_interior_result found;
        test_ok(ctx, mcr_interior_open(&lp, ctx, COLUMNS, p->cost, p->low, p->high));
        for (int i = 0; i < ROWS; i++)
            test_ok(ctx, mcr_interior_add(lp, p->lower[i], p->upper[i], p->a[i]));
        test_ok(ctx, mcr_interior_solve(lp, 1e-8, 0, &found));
        if (threads == 1) {
            memcpy(first, found.x, sizeof first);
            memcpy(dual, found.dual, sizeof dual);
        }
        assert_memory_equal(first, found.x, sizeof first);
        assert_memory_equal(dual, found.dual, sizeof dual);
        mcr_interior_close(lp);
        test_close(ctx);
    }
    free(p);
}

/* The budget covers every block of a program, and is whole again when it is closed. */
static void test_budget(void **context)
{
    (void)context;
    enum { MORE = 300 };
    sizes *p = make(1);
    for (int threads = 1; threads <= 3; threads++) {
        mcr *ctx = test_open(threads);
        size_t all = mcr_budget_left(ctx), live = test_live_bytes(ctx);
        mcr_interior *lp = NULL;
        test_ok(ctx, mcr_interior_open(&lp, ctx, COLUMNS, p->cost, p->low, p->high));
        for (int i = 0; i < MORE; i++) {
            test_ok(ctx, mcr_interior_add(lp, -1, 1, p->a[1 + i % (ROWS - 1)]));
            size_t taken = all - mcr_budget_left(ctx), used = test_live_bytes(ctx) - live;
            enum { BLOCKS = 50, EACH = 128 }; /* with their headers, and the program's own struct */
            assert_true(taken <= used && used <= taken + BLOCKS * EACH);
            if (threads == 1)
                assert_true((double)taken <= mcr_interior_bytes(COLUMNS, i + 1));
        }
        mcr_interior_close(lp);
        assert_int_equal(mcr_budget_left(ctx), all);
        test_close(ctx);
    }
    free(p);
}

/* What does not fit is refused with the size of the program. */
static void test_over_budget(void **context)
{
    mcr *ctx = *context;
    sizes *p = make(1);
    mcr_interior *lp = NULL;
    int rows = 0;
    mcr_status s = MCR_OK;
    size_t before = ctx->config.memory_bytes;
    ctx->config.memory_bytes = 3500000;
    test_ok(ctx, mcr_interior_open(&lp, ctx, COLUMNS, p->cost, p->low, p->high));
    for (; rows < COLUMNS && !s; rows++)
        s = mcr_interior_add(lp, -1, 1, p->a[1 + rows % (ROWS - 1)]);
    test_fails(ctx, s, MCR_OVER_BUDGET, "a linear program of 256 rows and 700 columns needs");
    assert_int_equal(rows, 3 * 64 + 1);
    mcr_interior_close(lp);
    assert_int_equal(mcr_budget_left(ctx), 3500000);
    ctx->config.memory_bytes = 20000;
    test_fails(ctx, mcr_interior_open(&lp, ctx, COLUMNS, p->cost, p->low, p->high), MCR_OVER_BUDGET,
               "a linear program of 64 rows and 700 columns needs");
    assert_null(lp);
    assert_int_equal(mcr_budget_left(ctx), 20000);
    ctx->config.memory_bytes = before;
    free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_optimal, test_setup, test_teardown),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_budget),
        cmocka_unit_test_setup_teardown(test_over_budget, test_setup, test_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
