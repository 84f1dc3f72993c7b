/* helpers.c: what unit tests share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "helpers.h"

#include <dirent.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/context.h"

typedef struct counter {
    pthread_mutex_t lock;
    size_t live_bytes;
    int64_t live_blocks, calls, fail_at; /* 0: never */
    bool mismatch;                       /* old_bytes was not what the block was asked with */
} counter;

/* Each block remembers its size in front, to check what the library says about it. The odd offset
 * gives blocks that are aligned to 16 but not to 64 bytes. */
enum { FRONT = 16 };

static void *count_realloc(void *user, void *block, size_t old_bytes, size_t new_bytes)
{
    counter *c = user;
    char *raw = block != NULL ? (char *)block - FRONT : NULL, *moved = NULL;
    size_t known = 0;
    if (raw != NULL)
        memcpy(&known, raw, sizeof known);
    pthread_mutex_lock(&c->lock);
    if (known != old_bytes)
        c->mismatch = true;
    bool fail = false;
    if (new_bytes > 0) {
        c->calls++;
        fail = c->calls == c->fail_at;
    }
    pthread_mutex_unlock(&c->lock);
    if (fail)
        return NULL;
    if (new_bytes == 0) {
        free(raw);
    } else {
        moved = realloc(raw, new_bytes + FRONT);
        if (moved == NULL)
            return NULL;
        memcpy(moved, &new_bytes, sizeof new_bytes);
    }
    pthread_mutex_lock(&c->lock);
    c->live_bytes += new_bytes;
    c->live_bytes -= known;
    c->live_blocks += (new_bytes > 0) - (raw != NULL);
    pthread_mutex_unlock(&c->lock);
    return moved != NULL ? moved + FRONT : NULL;
}

static counter *make_counter(void)
{
    counter *c = calloc(1, sizeof *c);
    assert_non_null(c);
    pthread_mutex_init(&c->lock, NULL);
    return c;
}

mcr *test_open(int threads)
{
    mcr_config config = {.size = sizeof config,
                         .realloc = count_realloc,
                         .user = make_counter(),
                         .threads = threads};
    mcr *ctx;
    assert_int_equal(mcr_open(&ctx, &config), MCR_OK);
    return ctx;
}

void test_close(mcr *ctx)
{
    counter *c = ctx->config.user;
    mcr_close(ctx);
    size_t bytes = c->live_bytes;
    int64_t blocks = c->live_blocks;
    bool mismatch = c->mismatch;
    pthread_mutex_destroy(&c->lock);
    free(c);
    if (mismatch)
        fail_msg("the allocator got another size of a block than was requested");
    if (bytes != 0 || blocks != 0)
        fail_msg("%zu bytes in %lld blocks were not freed", bytes, (long long)blocks);
}

int test_setup(void **state)
{
    *state = test_open(2);
    return 0;
}

int test_teardown(void **state)
{
    test_close(*state);
    return 0;
}

size_t test_live_bytes(mcr *ctx)
{
    counter *c = ctx->config.user;
    return c->live_bytes;
}

int64_t test_live_blocks(mcr *ctx)
{
    counter *c = ctx->config.user;
    return c->live_blocks;
}

void test_fail_allocation(mcr *ctx, int64_t nth)
{
    counter *c = ctx->config.user;
    c->fail_at = nth > 0 ? c->calls + nth : 0;
}

bool test_allocation_failed(mcr *ctx)
{
    counter *c = ctx->config.user;
    return c->fail_at > 0 && c->calls >= c->fail_at;
}

int64_t test_allocations_made(const mcr *ctx)
{
    const counter *c = ctx->config.user;
    return c->calls;
}

static void compare(const char *what, const double *a, const double *b, int64_t count,
                    double tolerance, bool relative)
{
    int64_t worst = -1;
    double worst_excess = 1;
    for (int64_t i = 0; i < count; i++) {
        if (a[i] == b[i] || (isnan(a[i]) && isnan(b[i])))
            continue;
        double limit = relative ? tolerance * fmax(1, fabs(b[i])) : tolerance;
        double off = fabs(a[i] - b[i]);
        if (off <= limit)
            continue;
        double excess = limit > 0 && !isnan(off) ? off / limit : INFINITY;
        if (worst < 0 || excess > worst_excess) {
            worst = i;
            worst_excess = excess;
        }
    }
    if (worst >= 0)
        fail_msg("%s[%lld]: %.17g is not %.17g (%stolerance %g)", what, (long long)worst, a[worst],
                 b[worst], relative ? "relative " : "", tolerance);
}

void test_close_arrays(const char *what, const double *a, const double *b, int64_t count,
                       double tolerance)
{
    compare(what, a, b, count, tolerance, false);
}

void test_close_relative(const char *what, const double *a, const double *b, int64_t count,
                         double tolerance)
{
    compare(what, a, b, count, tolerance, true);
}

void test_close_real(const char *what, double a, double b, double tolerance)
{
    compare(what, &a, &b, 1, tolerance, false);
}

void test_cholesky(double *a, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++) {
            double sum = a[i * n + j];
            for (int64_t k = 0; k < j; k++)
                sum -= a[i * n + k] * a[j * n + k];
            if (i == j)
                assert_true(sum > 0);
            a[i * n + j] = i == j ? sqrt(sum) : sum / a[j * n + j];
        }
}

void test_cholesky_solve(const double *l, int64_t n, double *b)
{
    for (int64_t i = 0; i < n; i++) {
        for (int64_t k = 0; k < i; k++)
            b[i] -= l[i * n + k] * b[k];
        b[i] /= l[i * n + i];
    }
    for (int64_t i = n - 1; i >= 0; i--) {
        for (int64_t k = i + 1; k < n; k++)
            b[i] -= l[k * n + i] * b[k];
        b[i] /= l[i * n + i];
    }
}

void test_ok(const mcr *ctx, mcr_status status)
{
    if (status != MCR_OK)
        fail_msg("%s: %s", mcr_status_name(status), mcr_message(ctx));
}

void test_fails(const mcr *ctx, mcr_status status, mcr_status expected, const char *words)
{
    if (status != expected)
        fail_msg("\"%s\" instead of \"%s\": %s", mcr_status_name(status), mcr_status_name(expected),
                 mcr_message(ctx));
    if (strstr(mcr_message(ctx), words) == NULL)
        fail_msg("the message \"%s\" does not hold \"%s\"", mcr_message(ctx), words);
}

/* Sanitizers make each run ten times as slow. */
#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED true
#endif
#endif
#ifndef SANITIZED
#define SANITIZED false
#endif

bool test_brief(void)
{
    return SANITIZED && getenv("MERCER_ALL") == NULL;
}

/* The allocation that fails after the nth: every one of the first, then a growing stride, so that a
 * sweep is not quadratic in what it allocates; ./check --all takes every one. */
int64_t test_sweep_next(int64_t n)
{
    int64_t whole = SANITIZED ? 32 : 256;
    return n < whole || getenv("MERCER_ALL") != NULL ? n + 1 : n + 1 + n / 32;
}

int64_t test_sweep_allocations(const char *what, test_run *run, void *arg)
{
    for (int64_t n = 1;; n = test_sweep_next(n)) {
        mcr *ctx = test_open(1);
        counter *c = ctx->config.user;
        size_t own = c->live_bytes;
        int64_t before = c->calls;
        test_fail_allocation(ctx, n);
        mcr_status status = run(ctx, arg);
        bool failed = test_allocation_failed(ctx), silent = mcr_message(ctx)[0] == '\0';
        int64_t calls = c->calls - before;
        size_t left = c->live_bytes - own;
        if (left != 0)
            fail_msg("%s: allocation %lld failed and %zu bytes were not freed", what, (long long)n,
                     left);
        test_close(ctx);
        if (!failed) {
            if (status != MCR_OK)
                fail_msg("%s: fails without a failed allocation: %s", what,
                         mcr_status_name(status));
            return calls;
        }
        if (status != MCR_NO_MEMORY)
            fail_msg("%s: allocation %lld failed and the status is \"%s\"", what, (long long)n,
                     mcr_status_name(status));
        if (silent)
            fail_msg("%s: allocation %lld failed without a message", what, (long long)n);
    }
}

void test_make_directory(char path[256])
{
    const char *base = getenv("TMPDIR");
    snprintf(path, 256, "%s/mercer-test-XXXXXX", base != NULL && base[0] != '\0' ? base : "/tmp");
    if (mkdtemp(path) == NULL)
        fail_msg("no temporary directory: %s", path);
}

void test_remove_directory(const char *path)
{
    DIR *directory = opendir(path);
    if (directory == NULL)
        return;
    for (struct dirent *entry = readdir(directory); entry != NULL; entry = readdir(directory)) {
        char file[1024];
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        snprintf(file, sizeof file, "%s/%s", path, entry->d_name);
        unlink(file);
    }
    closedir(directory);
    rmdir(path);
}
