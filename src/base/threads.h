/* threads.h (internal): the one parallel loop.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_BASE_THREADS_H
#define MCR_BASE_THREADS_H

#include <stdbool.h>

#include <mercer/context.h>

/* Runs work(arg, item, worker) for item = 0 .. items-1, shared out dynamically among
 * mcr_workers(ctx) threads; worker is 0 .. mcr_workers-1, for scratch memory. What an item computes
 * must not depend on the worker: then the result is the same for any number of threads. Sums over
 * items: keep one partial result an item, add them in order afterwards.
 * After the first failure no further items start; the status of the lowest failed item that ran is
 * returned, with its message. Nested calls run serially. In a child made by fork() after the parent
 * used threads, all loops run serially. */
typedef mcr_status mcr_work(void *arg, int64_t item, int worker);
mcr_status mcr_parallel(mcr *ctx, int64_t items, mcr_work *work, void *arg);
/* The same over 0 .. n-1 in chunks, for work that needs no scratch memory. */
typedef mcr_status mcr_chunk_work(void *arg, int64_t first, int64_t end);
mcr_status mcr_parallel_chunks(mcr *ctx, int64_t n, int64_t chunk, mcr_chunk_work *work, void *arg);
/* The same for work that takes long: reports progress, `phase` and the share of items that are
 * done, and ends with MCR_STOPPED when the user asks to stop. first, share: where this loop begins
 * in the whole, and how much of it it is. */
mcr_status mcr_parallel_reported(mcr *ctx, const char *phase, double first, double share,
                                 int64_t items, mcr_work *work, void *arg);
/* Runs work(arg, 0, 0) here, as an item of a loop is run: loops and BLAS calls inside it use one
 * thread. For sums of BLAS that would otherwise depend on the number of threads. */
mcr_status mcr_alone(mcr *ctx, mcr_work *work, void *arg);
int mcr_workers(const mcr *ctx);

/* Waiting for what another worker makes ready: conditions are read under one lock, and those who
 * wait are woken when one may have changed. */
typedef struct mcr_signal mcr_signal;
mcr_status mcr_signal_open(mcr_signal **out, mcr *ctx);
void mcr_signal_close(mcr *ctx, mcr_signal *signal); /* NULL allowed */
/* Returns once ready(arg); that must be changed before mcr_signal_raise is called. */
void mcr_signal_wait(mcr_signal *signal, bool (*ready)(const void *arg), const void *arg);
void mcr_signal_raise(mcr_signal *signal);

#endif
