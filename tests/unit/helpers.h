/* helpers.h: what unit tests share. Include it instead of cmocka.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TEST_HELPERS_H
#define TEST_HELPERS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <mercer/context.h>

/* A context with an allocator that counts; opened for each test. */
mcr *test_open(int threads);
/* Closes it; fails the test if anything allocated through it was not freed. */
void test_close(mcr *ctx);
/* The same as setup and teardown functions of cmocka (2 threads); *state is the mcr *. */
int test_setup(void **state);
int test_teardown(void **state);

/* Bytes and blocks that this context from test_open holds now, its own included. */
size_t test_live_bytes(mcr *ctx);
int64_t test_live_blocks(mcr *ctx);

/* The nth allocation of a context from test_open fails, counted from now (0: none does), and
 * whether it has come to that. */
void test_fail_allocation(mcr *ctx, int64_t nth);
bool test_allocation_failed(mcr *ctx);
/* How many there were, those that moved a block included. */
int64_t test_allocations_made(const mcr *ctx);

/* |a - b| <= tolerance for every element (and NaN only beside NaN); the message names `what`, the
 * place of the worst element, and the tolerance. relative: the limit is tolerance * max(1, |b|). */
void test_close_arrays(const char *what, const double *a, const double *b, int64_t count,
                       double tolerance);
void test_close_relative(const char *what, const double *a, const double *b, int64_t count,
                         double tolerance);
void test_close_real(const char *what, double a, double b, double tolerance);

/* A = L L^T in the lower triangle of a (n x n), by plain loops, and x from A x = b in place. */
void test_cholesky(double *a, int64_t n);
void test_cholesky_solve(const double *l, int64_t n, double *b);

/* The status is MCR_OK, or the test fails with the context's message. */
void test_ok(const mcr *ctx, mcr_status status);
/* The status is `expected` and the message holds `words`. */
void test_fails(const mcr *ctx, mcr_status status, mcr_status expected, const char *words);

/* With sanitizers, outside ./check --all: a test that has run whole without them takes fewer or
 * smaller cases. */
bool test_brief(void);

/* Fails the nth allocation for n = 1, 2, 3, ... (later ones in strides, see test_sweep_next) until
 * `run` succeeds. Each time run gets a fresh
 * context (1 thread), must return MCR_NO_MEMORY with a message, and leave nothing behind; the last
 * time it must return MCR_OK. run frees what it makes. Gives the number of allocations of a run. */
typedef mcr_status test_run(mcr *ctx, void *arg);
int64_t test_sweep_next(int64_t n);
int64_t test_sweep_allocations(const char *what, test_run *run, void *arg);

/* A new empty directory under the system's place for temporary files; remove it with its files. */
void test_make_directory(char path[256]);
void test_remove_directory(const char *path);

#endif
