/* test_base_context.c: opening contexts, messages, callbacks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "helpers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mercer/text.h>

#include "base/context.h"
#include "base/system.h"
#include "base/threads.h"

static void fills_in_defaults(void **state)
{
    (void)state;
    mcr *ctx;
    assert_int_equal(mcr_open(&ctx, NULL), MCR_OK);
    assert_int_equal(mcr_threads(ctx), mcr_system_cores());
    assert_in_range(mcr_threads(ctx), 1, 256);
    assert_int_equal(mcr_seed(ctx), 1);
    assert_true(mcr_memory_budget(ctx) >= (size_t)32 << 20);
    assert_string_equal(mcr_message(ctx), "");
    assert_null(mcr_message_file(ctx));
    assert_int_equal(mcr_message_line(ctx), 0);
    mcr_close(ctx);
    mcr_close(NULL);
}

static void keeps_what_is_given(void **state)
{
    (void)state;
    mcr_config config = {
        .size = sizeof config, .threads = 3, .memory_bytes = 12345, .seed = UINT64_MAX};
    mcr *ctx;
    assert_int_equal(mcr_open(&ctx, &config), MCR_OK);
    assert_int_equal(mcr_threads(ctx), 3);
    assert_int_equal(mcr_memory_budget(ctx), 12345);
    assert_true(mcr_seed(ctx) == UINT64_MAX);
    mcr_close(ctx);
}

static void takes_older_and_newer_callers(void **state)
{
    (void)state;
    mcr *ctx;
    struct {
        mcr_config config;
        uint64_t later;
    } longer;
    memset(&longer, 0, sizeof longer);
    longer.config.size = sizeof longer;
    longer.config.seed = 7;
    assert_int_equal(mcr_open(&ctx, &longer.config), MCR_OK);
    assert_int_equal(mcr_seed(ctx), 7);
    assert_int_equal(ctx->config.size, sizeof(mcr_config));
    mcr_close(ctx);
    longer.later = 1; /* asks for what this version does not know */
    ctx = (mcr *)&longer;
    assert_int_equal(mcr_open(&ctx, &longer.config), MCR_BAD_CALL);
    assert_null(ctx);

    mcr_config older = {.size = offsetof(mcr_config, memory_bytes), .threads = 2, .seed = 99};
    assert_int_equal(mcr_open(&ctx, &older), MCR_OK);
    assert_int_equal(mcr_threads(ctx), 2);
    assert_int_equal(mcr_seed(ctx), 1); /* lies behind its end: not read */
    mcr_close(ctx);
}

static void refuses_bad_configs(void **state)
{
    (void)state;
    mcr *ctx;
    mcr_config no_size = {.size = 0}, negative = {.size = sizeof negative, .threads = -1};
    mcr_config many = {.size = sizeof many, .threads = 1000000};
    assert_int_equal(mcr_open(&ctx, &no_size), MCR_BAD_CALL);
    assert_int_equal(mcr_open(&ctx, &negative), MCR_BAD_CALL);
    assert_int_equal(mcr_open(&ctx, &many), MCR_BAD_CALL);
    assert_null(ctx);
    assert_int_equal(mcr_open(NULL, NULL), MCR_BAD_CALL);
    assert_string_equal(mcr_message(NULL), "");
}

static void *no_memory(void *user, void *block, size_t old_bytes, size_t new_bytes)
{
    (void)user;
    (void)block;
    (void)old_bytes;
    (void)new_bytes;
    return NULL;
}

static void opens_without_memory(void **state)
{
    (void)state;
    mcr *ctx;
    mcr_config config = {.size = sizeof config, .realloc = no_memory};
    assert_int_equal(mcr_open(&ctx, &config), MCR_NO_MEMORY);
    assert_null(ctx);
}

static void sets_messages(void **state)
{
    mcr *ctx = *state;
    assert_int_equal(mcr_fail(ctx, MCR_NUMERIC, "row %d is %s", 3, "odd"), MCR_NUMERIC);
    assert_string_equal(mcr_message(ctx), "row 3 is odd");
    assert_null(mcr_message_file(ctx));

    assert_int_equal(mcr_fail_at(ctx, MCR_BAD_DATA, "a.svm", 12, "index %d", 0), MCR_BAD_DATA);
    assert_string_equal(mcr_message(ctx), "a.svm:12: index 0");
    assert_string_equal(mcr_message_file(ctx), "a.svm");
    assert_int_equal(mcr_message_line(ctx), 12);

    mcr_fail_at(ctx, MCR_IO, "a.svm", 0, "gone");
    assert_string_equal(mcr_message(ctx), "a.svm: gone");
    assert_int_equal(mcr_message_line(ctx), 0);

    mcr_fail(ctx, MCR_IO, "again: %s", mcr_message(ctx)); /* the old message as argument */
    assert_string_equal(mcr_message(ctx), "again: a.svm: gone");
    assert_null(mcr_message_file(ctx));
}

/* What would help stays with a message that quotes the one it was said of, and with no other. */
static void advises(void **state)
{
    mcr *ctx = *state;
    assert_null(mcr_message_id(ctx));
    mcr_advise(ctx, mcr_fail(ctx, MCR_OVER_BUDGET, "too much"), "memory");
    assert_string_equal(mcr_message_id(ctx), "memory");
    mcr_fail_at(ctx, MCR_OVER_BUDGET, "a.csv", 0, "%s", mcr_message(ctx));
    assert_string_equal(mcr_message(ctx), "a.csv: too much");
    assert_string_equal(mcr_message_id(ctx), "memory");
    mcr_fail(ctx, MCR_BAD_CALL, "something else");
    assert_null(mcr_message_id(ctx));
}

static mcr_status fail_item(void *arg, int64_t item, int worker)
{
    (void)worker;
    return item == 3 ? mcr_advise(arg, mcr_fail(arg, MCR_BAD_DATA, "item 3"), "format") : MCR_OK;
}

static void advises_from_workers(void **state)
{
    mcr *ctx = *state;
    test_fails(ctx, mcr_parallel(ctx, 8, fail_item, ctx), MCR_BAD_DATA, "item 3");
    assert_string_equal(mcr_message_id(ctx), "format");
}

static void cleans_messages(void **state)
{
    mcr *ctx = *state;
    mcr_fail(ctx, MCR_BAD_DATA, "value \"%s\"", "a\nb\x1b[31m\x7f \xc3\xa9");
    assert_string_equal(mcr_message(ctx), "value \"a?b?[31m? \xc3\xa9\"");
    mcr_fail_at(ctx, MCR_BAD_DATA, "bad\nname", 1, "x");
    assert_string_equal(mcr_message(ctx), "bad?name:1: x");
}

static void cuts_long_messages(void **state)
{
    mcr *ctx = *state;
    char text[4096];
    for (size_t start = 0; start < 3; start++) { /* a character of 3 bytes at each border */
        memset(text, 'a', start);
        for (size_t i = start; i + 3 < sizeof text; i += 3)
            memcpy(text + i, "\xe2\x82\xac", 4);
        mcr_fail(ctx, MCR_BAD_DATA, "%s", text);
        size_t length = strlen(mcr_message(ctx));
        assert_true(length < MCR_MESSAGE_MAX && length > MCR_MESSAGE_MAX - 5);
        assert_int_equal((length - start) % 3, 0);
    }
    memset(text, 'n', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    mcr_fail_at(ctx, MCR_IO, text, 5, "missing"); /* a file name longer than the message */
    assert_int_equal(strlen(mcr_message(ctx)), MCR_MESSAGE_MAX - 1);
    assert_int_equal(strlen(mcr_message_file(ctx)), MCR_FILE_MAX - 1);
}

typedef struct heard {
    int level, reports, stop_after;
    char line[MCR_MESSAGE_MAX];
    mcr_progress last;
} heard;

static void hear_log(void *user, int level, const char *line)
{
    heard *h = user;
    h->level = level;
    snprintf(h->line, sizeof h->line, "%s", line);
}

static int hear_progress(void *user, const mcr_progress *now)
{
    heard *h = user;
    h->last = *now;
    return ++h->reports >= h->stop_after;
}

static void calls_back(void **state)
{
    (void)state;
    heard h = {.stop_after = 2};
    mcr_config config = {
        .size = sizeof config, .log = hear_log, .progress = hear_progress, .user = &h};
    mcr *ctx;
    assert_int_equal(mcr_open(&ctx, &config), MCR_OK);
    mcr_log(ctx, MCR_LOG_WARNING, "%d rows\n", 5);
    assert_int_equal(h.level, MCR_LOG_WARNING);
    assert_string_equal(h.line, "5 rows?");
    mcr_progress now = {.phase = "svm", .fraction = NAN, .step = 17};
    assert_false(mcr_report(ctx, &now));
    assert_int_equal(h.last.size, sizeof(mcr_progress));
    assert_int_equal(h.last.step, 17);
    assert_true(mcr_report(ctx, &now));
    mcr_close(ctx);

    assert_int_equal(mcr_open(&ctx, NULL), MCR_OK); /* nobody listens */
    mcr_log(ctx, MCR_LOG_INFO, "unheard");
    assert_false(mcr_report(ctx, &now));
    mcr_close(ctx);
}

static void names_everything(void **state)
{
    (void)state;
    char version[32];
    snprintf(version, sizeof version, "%d.%d.%d", MCR_VERSION_MAJOR, MCR_VERSION_MINOR,
             MCR_VERSION_PATCH);
    assert_string_equal(mcr_version(), version);
    assert_string_equal(mcr_status_name(MCR_BAD_DATA), "bad data");
    for (int s = MCR_OK; s <= MCR_STOPPED; s++)
        assert_string_not_equal(mcr_status_name((mcr_status)s), "unknown status");
    double before = mcr_now();
    assert_true(mcr_now() >= before);
}

static void finds_the_nearest_word(void **state)
{
    (void)state;
    static const char *const kernels[] = {"linear", "poly", "rbf", "normalize", "wl", "k", NULL};
    assert_string_equal(mcr_nearest("rbff", kernels), "rbf");
    assert_string_equal(mcr_nearest("bf", kernels), "rbf");
    assert_string_equal(mcr_nearest("brf", kernels), "rbf"); /* neighbours swapped: one edit */
    assert_string_equal(mcr_nearest("RBF", kernels), "rbf");
    assert_string_equal(mcr_nearest("lienar", kernels), "linear");
    assert_string_equal(mcr_nearest("normalise", kernels), "normalize");
    assert_string_equal(mcr_nearest("polynomial", kernels), "poly");
    assert_string_equal(mcr_nearest("lw", kernels), "wl");
    assert_int_equal(mcr_word_distance("rbf", "RBF"), 0);
    assert_int_equal(mcr_word_distance("brf", "rbf"), 1);
    assert_int_equal(mcr_word_distance("rbf", "linear"), -1);
    assert_null(mcr_nearest("gaussian", kernels));
    assert_null(mcr_nearest("x", kernels));
    assert_null(mcr_nearest("", kernels));
    char lengthy[300];
    memset(lengthy, 'r', sizeof lengthy - 1);
    lengthy[sizeof lengthy - 1] = '\0';
    assert_null(mcr_nearest(lengthy, kernels));
}

/* Whether work of which this share is done, after so many of 1,000 seconds, is to stop. */
static bool stops(mcr *ctx, double spent, double fraction)
{
    const mcr_progress now = {.size = sizeof now, .phase = "predict", .fraction = fraction};
    mcr_deadline_set_whole(ctx, 1000);
    ctx->whole_since = mcr_now() - spent;
    ctx->deadline = ctx->whole_since + 1000;
    bool stop = mcr_report(ctx, &now);
    mcr_deadline_set(ctx, 0);
    return stop;
}

static void gives_slow_work_a_chance(void **state)
{
    mcr *ctx = *state;
    assert_false(stops(ctx, 50, 0.001)); /* what comes first may be slow */
    assert_false(stops(ctx, 90, 0.02));
    assert_true(stops(ctx, 200, 0.01));
    assert_false(stops(ctx, 200, 0.15)); /* half as fast again is possible */
    assert_false(stops(ctx, 500, 0));    /* nothing is known */
    assert_true(stops(ctx, 1001, 0.9));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fills_in_defaults),
        cmocka_unit_test(keeps_what_is_given),
        cmocka_unit_test(takes_older_and_newer_callers),
        cmocka_unit_test(refuses_bad_configs),
        cmocka_unit_test(opens_without_memory),
        cmocka_unit_test_setup_teardown(sets_messages, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(advises, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(advises_from_workers, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(cleans_messages, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(cuts_long_messages, test_setup, test_teardown),
        cmocka_unit_test(calls_back),
        cmocka_unit_test_setup_teardown(gives_slow_work_a_chance, test_setup, test_teardown),
        cmocka_unit_test(names_everything),
        cmocka_unit_test(finds_the_nearest_word),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
