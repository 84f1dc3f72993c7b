/* test_base_threads.c: the parallel loop: all items once, failures, nesting, fork.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "helpers.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/context.h"
#include "base/threads.h"

enum { ITEMS = 10000 };

typedef struct tally {
    mcr *ctx;
    atomic_int runs[ITEMS];
    atomic_int worker_runs[64];
    atomic_bool bad_worker;
    int workers;
    double value[ITEMS];
} tally;

static mcr_status count_item(void *arg, int64_t item, int worker)
{
    tally *t = arg;
    atomic_fetch_add(&t->runs[item], 1);
    if (worker < 0 || worker >= t->workers)
        atomic_store(&t->bad_worker, true);
    else
        atomic_fetch_add(&t->worker_runs[worker], 1);
    double x = (double)item;
    for (int i = 0; i < 50; i++)
        x = x * 0.9 + 1 / (1 + x);
    t->value[item] = x;
    return MCR_OK;
}

static void runs_all_items_once(void **state)
{
    (void)state;
    double *alone = calloc(ITEMS, sizeof *alone);
    assert_non_null(alone);
    for (int threads = 1; threads <= 5; threads++) {
        mcr *ctx = test_open(threads);
        tally *t = calloc(1, sizeof *t);
        assert_non_null(t);
        t->workers = mcr_workers(ctx);
        assert_int_equal(t->workers, threads);
        for (int64_t items = 0; items <= ITEMS; items = items * 10 + 1) {
            for (int i = 0; i < ITEMS; i++)
                atomic_store(&t->runs[i], 0);
            test_ok(ctx, mcr_parallel(ctx, items, count_item, t));
            for (int i = 0; i < ITEMS; i++)
                assert_int_equal(atomic_load(&t->runs[i]), i < items);
        }
        test_ok(ctx, mcr_parallel(ctx, ITEMS, count_item, t));
        assert_false(atomic_load(&t->bad_worker));
        if (threads == 1)
            memcpy(alone, t->value, sizeof t->value);
        else
            assert_memory_equal(alone, t->value, sizeof t->value); /* the same to the last bit */
        free(t);
        test_close(ctx);
    }
    free(alone);
}

typedef struct faults {
    mcr *ctx;
    int64_t first, every;
    atomic_int_least64_t ran;
} faults;

static mcr_status fail_some(void *arg, int64_t item, int worker)
{
    faults *f = arg;
    (void)worker;
    atomic_fetch_add(&f->ran, 1);
    if (item < f->first || (item - f->first) % f->every != 0)
        return MCR_OK;
    mcr_status status = item % 2 ? MCR_BAD_DATA : MCR_NUMERIC;
    return mcr_fail_at(f->ctx, status, "file", item + 1, "item %lld", (long long)item);
}

static void reports_the_lowest_failure(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 4; threads++) {
        mcr *ctx = test_open(threads);
        for (int round = 0; round < 50; round++) {
            faults f = {.ctx = ctx, .first = 37 + round, .every = 1};
            mcr_status status = mcr_parallel(ctx, 1000000, fail_some, &f);
            char expected[64];
            snprintf(expected, sizeof expected, "file:%d: item %d", 38 + round, 37 + round);
            assert_int_equal(status, f.first % 2 ? MCR_BAD_DATA : MCR_NUMERIC);
            assert_string_equal(mcr_message(ctx), expected);
            assert_int_equal(mcr_message_line(ctx), 38 + round);
            assert_true(atomic_load(&f.ran) < 1000);
        }
        test_close(ctx);
    }
}

typedef struct order {
    mcr *ctx;
    int64_t first; /* the item that fails first */
    atomic_int began;
    atomic_bool failed;
} order;

static mcr_status fail_in_order(void *arg, int64_t item, int worker)
{
    order *o = arg;
    (void)worker;
    atomic_fetch_add(&o->began, 1);
    for (int i = 0; i < 10000 && atomic_load(&o->began) < 2; i++)
        usleep(1000);
    if (item != o->first) {
        for (int i = 0; i < 10000 && !atomic_load(&o->failed); i++)
            usleep(1000);
        usleep(10000); /* until the other one is noted */
    }
    mcr_fail(o->ctx, MCR_BAD_DATA, "item %lld", (long long)item);
    atomic_store(&o->failed, true);
    return item == 0 ? MCR_BAD_DATA : MCR_NUMERIC;
}

/* Two items fail for sure; whichever is first in time, the lower one is reported. */
static void lowest_wins_in_any_order(void **state)
{
    (void)state;
    mcr *ctx = test_open(2);
    for (int64_t first = 0; first < 2; first++) {
        order o = {.ctx = ctx, .first = first};
        test_fails(ctx, mcr_parallel(ctx, 2, fail_in_order, &o), MCR_BAD_DATA, "item 0");
    }
    test_close(ctx);
}

static mcr_status live_with_failure(void *arg, int64_t item, int worker)
{
    (void)worker;
    mcr_fail(arg, MCR_NUMERIC, "item %lld tried and went another way", (long long)item);
    return MCR_OK;
}

static void success_leaves_no_message(void **state)
{
    (void)state;
    mcr *ctx = test_open(3);
    test_ok(ctx, mcr_parallel(ctx, 100, live_with_failure, ctx));
    assert_string_equal(mcr_message(ctx), "");
    test_close(ctx);
}

typedef struct nest {
    mcr *ctx;
    atomic_int runs;
    atomic_bool parallel_inside;
} nest;

static mcr_status inner(void *arg, int64_t item, int worker)
{
    nest *n = arg;
    atomic_fetch_add(&n->runs, 1);
    if (worker != 0)
        atomic_store(&n->parallel_inside, true);
    if (item == 77)
        return mcr_fail(n->ctx, MCR_BAD_DATA, "inner");
    return MCR_OK;
}

static mcr_status outer(void *arg, int64_t item, int worker)
{
    nest *n = arg;
    (void)worker;
    if (mcr_workers(n->ctx) != 1)
        atomic_store(&n->parallel_inside, true);
    return mcr_parallel(n->ctx, item == 20 ? 100 : 10, inner, n);
}

static void nested_loops_are_serial(void **state)
{
    (void)state;
    mcr *ctx = test_open(4);
    nest n = {.ctx = ctx};
    test_ok(ctx, mcr_parallel(ctx, 20, outer, &n));
    assert_int_equal(atomic_load(&n.runs), 200);
    test_fails(ctx, mcr_parallel(ctx, 21, outer, &n), MCR_BAD_DATA, "inner");
    assert_false(atomic_load(&n.parallel_inside));
    assert_int_equal(mcr_workers(ctx), 4);
    test_close(ctx);
}

static mcr_status allocate(void *arg, int64_t item, int worker)
{
    (void)worker;
    char *block = mcr_alloc(arg, (size_t)item + 1, 100);
    if (block == NULL)
        return MCR_NO_MEMORY;
    block = memset(block, 1, 100);
    mcr_status status = mcr_budget_take(arg, 10, "x");
    if (status == MCR_OK)
        mcr_budget_give(arg, 10);
    mcr_free(arg, block);
    return status;
}

static void workers_allocate(void **state)
{
    (void)state;
    mcr *ctx = test_open(4);
    size_t budget = mcr_budget_left(ctx);
    test_ok(ctx, mcr_parallel(ctx, 2000, allocate, ctx));
    assert_int_equal(mcr_budget_left(ctx), budget);
    test_close(ctx);
}

static mcr_status add_item(void *arg, int64_t item, int worker)
{
    (void)worker;
    int64_t *sums = arg;
    sums[item] += item + 1;
    return MCR_OK;
}

/* Loops at the pace of a solver, some with pauses in which the threads fall asleep. */
static void *run_many(void *arg)
{
    int64_t sums[16] = {0}, loops = 3000, *good = arg;
    mcr *ctx;
    mcr_config config = {.size = sizeof config, .threads = 3};
    *good = 0;
    if (mcr_open(&ctx, &config) != MCR_OK)
        return NULL;
    for (int64_t i = 0; i < loops; i++) {
        if (mcr_parallel(ctx, 1 + i % 16, add_item, sums) != MCR_OK)
            return NULL;
        if (i % 500 == 0)
            usleep(200);
    }
    mcr_close(ctx);
    for (int64_t i = 0; i < 16; i++) {
        int64_t ran = 0;
        for (int64_t j = 0; j < loops; j++)
            ran += j % 16 >= i;
        *good += sums[i] == ran * (i + 1);
    }
    return NULL;
}

static void contexts_are_independent(void **state)
{
    (void)state;
    pthread_t threads[3];
    int64_t good[3];
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run_many, &good[i]), 0);
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(good[i], 16);
    }
}

/* What the child does: loops on the parent's context and on its own, then closes both. */
static int work_in_child(mcr *ctx)
{
    mcr *own;
    tally *t = calloc(1, sizeof *t);
    if (t == NULL || mcr_workers(ctx) != 1)
        return 2;
    t->workers = 1;
    if (mcr_parallel(ctx, ITEMS, count_item, t) != MCR_OK)
        return 3;
    mcr_config config = {.size = sizeof config, .threads = 4};
    if (mcr_open(&own, &config) != MCR_OK || mcr_parallel(own, ITEMS, count_item, t) != MCR_OK)
        return 4;
    mcr_close(own);
    for (int i = 0; i < ITEMS; i++)
        if (atomic_load(&t->runs[i]) != 2)
            return 5;
    int result = atomic_load(&t->bad_worker) ? 6 : 0;
    free(t);
    mcr_close(ctx); /* without waiting for threads that are not here */
    return result;
}

static void forked_child_works_alone(void **state)
{
    (void)state;
    mcr *ctx = test_open(4);
    tally *t = calloc(1, sizeof *t);
    assert_non_null(t);
    t->workers = 4;
    test_ok(ctx, mcr_parallel(ctx, ITEMS, count_item, t));
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(20); /* a hang is a failure */
        _exit(work_in_child(ctx));
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    test_ok(ctx, mcr_parallel(ctx, ITEMS, count_item, t)); /* the parent still has its threads */
    assert_int_equal(mcr_workers(ctx), 4);
    free(t);
    test_close(ctx);
}

/* Before any loop has run: the child may use threads like anybody. */
static void early_fork_keeps_threads(void **state)
{
    (void)state;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(20);
        mcr *ctx;
        mcr_config config = {.size = sizeof config, .threads = 3};
        _exit(mcr_open(&ctx, &config) == MCR_OK && mcr_workers(ctx) == 3 ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(early_fork_keeps_threads),   cmocka_unit_test(runs_all_items_once),
        cmocka_unit_test(reports_the_lowest_failure), cmocka_unit_test(lowest_wins_in_any_order),
        cmocka_unit_test(success_leaves_no_message),  cmocka_unit_test(nested_loops_are_serial),
        cmocka_unit_test(workers_allocate),           cmocka_unit_test(contexts_are_independent),
        cmocka_unit_test(forked_child_works_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
