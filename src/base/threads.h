/* threads.h (internal): the one parallel loop.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_BASE_THREADS_H
#define MCR_BASE_THREADS_H

#include <stdbool.h>

#include <mercer/context.h>

/* Runs work(arg, item, worker) for item = 0 .. items-1, scheduled dynamically on mcr_workers(ctx)
 * threads; worker is 0 .. mcr_workers-1, for scratch memory. The result of an item must not depend
 * on the worker: then it is the same for any number of threads. For sums over items keep one
 * partial result per item and add them in order afterwards. After the first failure no further
 * items start; the status of the lowest failed item that ran is returned, with its message. Nested
 * calls run serially. In a child made by fork() after the parent used threads, all loops run
 * serially. */
typedef mcr_status mcr_work(void *arg, int64_t item, int worker);
mcr_status mcr_parallel(mcr *ctx, int64_t items, mcr_work *work, void *arg);
/* The same over 0 .. n-1 in chunks, for work without scratch memory. */
typedef mcr_status mcr_chunk_work(void *arg, int64_t first, int64_t end);
mcr_status mcr_parallel_chunks(mcr *ctx, int64_t n, int64_t chunk, mcr_chunk_work *work, void *arg);
/* The same for long work: reports progress (`phase` and the fraction of items done) and returns
 * MCR_STOPPED if the user requests a stop. first, share: where this loop begins in the whole job,
 * and its fraction of it. */
mcr_status mcr_parallel_reported(mcr *ctx, const char *phase, double first, double share,
                                 int64_t items, mcr_work *work, void *arg);
/* Runs work(arg, 0, 0) in the calling thread like an item of a loop: loops and BLAS calls inside
 * use one thread. For BLAS results that would otherwise depend on the number of threads. */
mcr_status mcr_alone(mcr *ctx, mcr_work *work, void *arg);
int mcr_workers(const mcr *ctx);

/* Waits for results of another worker: conditions are read under one lock, and waiting threads are
 * woken when one may have changed. */
typedef struct mcr_signal mcr_signal;
mcr_status mcr_signal_open(mcr_signal **out, mcr *ctx);
void mcr_signal_close(mcr *ctx, mcr_signal *signal); /* NULL allowed */
/* Returns once ready(arg) holds; change its condition before calling mcr_signal_raise. */
void mcr_signal_wait(mcr_signal *signal, bool (*ready)(const void *arg), const void *arg);
void mcr_signal_raise(mcr_signal *signal);

#endif
