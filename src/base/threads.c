/* threads.c: the one parallel loop.
 *
 * OpenMP and not a pool of our own: OpenBLAS (its OpenMP variant) shares the same team of threads,
 * sees that it is called inside a region and stays serial there; two pools would fight for the
 * cores while one of them spins. The region is only a carrier: it starts one `serve` a thread,
 * and items are handed out by an atomic counter.
 *
 * Items start in rising order, so every item below a failed one has started too: the lowest failed
 * item, its status and its message do not depend on the number of threads.
 *
 * Without OpenMP, and under ThreadSanitizer (which knows nothing of libgomp's barriers and would
 * report every shared variable), the carrier is one pthread a worker, made for the call.
 *
 * The variables below are of the process, not of a context: fork() copies the process, and a thread
 * has to know that it works inside a loop.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/threads.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "base/context.h"
#include "base/worker.h"

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define UNDER_TSAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define UNDER_TSAN 1
#endif
#if defined(_OPENMP) && !defined(UNDER_TSAN)
#define USE_OPENMP 1
#include <omp.h>
#endif

static atomic_bool threads_used; /* this process, or its parent before fork, may have a team */
static atomic_bool serial_child; /* we are a fork of a process that had one */
static pthread_once_t watch_once = PTHREAD_ONCE_INIT;
static _Thread_local mcr_failure *own_failure;

mcr_failure *mcr_worker_failure(void)
{
    return own_failure;
}

/* The team's threads do not exist in the child, but libgomp believes they do and would wait for
 * them for ever. Setting one thread keeps OpenBLAS from asking for them as well. */
static void after_fork(void)
{
    if (!atomic_load(&threads_used))
        return;
    atomic_store(&serial_child, true);
#ifdef USE_OPENMP
    omp_set_num_threads(1);
#endif
}

static void watch_forks(void)
{
    (void)pthread_atfork(NULL, NULL, after_fork);
}

static bool is_nested(void)
{
#ifdef USE_OPENMP
    if (omp_in_parallel())
        return true;
#endif
    return own_failure != NULL;
}

int mcr_workers(const mcr *ctx)
{
    int threads = ctx->config.threads;
    if (threads <= 1 || atomic_load(&serial_child) || is_nested())
        return 1;
    /* Who asks for workers is about to use them, here or through BLAS. */
    pthread_once(&watch_once, watch_forks);
    atomic_store(&threads_used, true);
    return threads;
}

typedef struct loop {
    mcr *ctx;
    mcr_work *work;
    void *arg;
    int64_t items;
    atomic_int_least64_t next;
    atomic_bool failed;
    pthread_mutex_t lock; /* guards the rest */
    int64_t lowest;       /* failed item so far */
    mcr_status status;
} loop;

static void note_failure(loop *l, int64_t item, mcr_status status, const mcr_failure *failure)
{
    atomic_store(&l->failed, true);
    pthread_mutex_lock(&l->lock);
    if (l->status == MCR_OK || item < l->lowest) {
        l->status = status;
        l->lowest = item;
        pthread_mutex_lock(&l->ctx->lock);
        memcpy(l->ctx->message, failure->message, sizeof failure->message);
        memcpy(l->ctx->file, failure->file, sizeof failure->file);
        l->ctx->mark_text[0] = '\0';
        l->ctx->line = failure->line;
        pthread_mutex_unlock(&l->ctx->lock);
    }
    pthread_mutex_unlock(&l->lock);
}

static void serve(loop *l, int worker)
{
    mcr_failure failure;
    failure.ctx = l->ctx;
    failure.message[0] = failure.file[0] = '\0';
    failure.line = 0;
    own_failure = &failure;
    while (!atomic_load_explicit(&l->failed, memory_order_relaxed)) {
        int64_t item = atomic_fetch_add_explicit(&l->next, 1, memory_order_relaxed);
        if (item >= l->items)
            break;
        mcr_status status = l->work(l->arg, item, worker);
        if (status != MCR_OK)
            note_failure(l, item, status, &failure);
    }
    own_failure = NULL;
}

#ifdef USE_OPENMP

static void run_team(loop *l, int workers)
{
#pragma omp parallel num_threads(workers)
    serve(l, omp_get_thread_num());
}

#else

typedef struct helper {
    loop *loop;
    pthread_t thread;
    int worker;
} helper;

static void *help(void *arg)
{
    helper *h = arg;
    serve(h->loop, h->worker);
    return NULL;
}

/* Threads that cannot be had are done without. */
static void run_team(loop *l, int workers)
{
    enum { MOST = 64 };
    helper helpers[MOST];
    int started = 0;
    while (started < workers - 1 && started < MOST) {
        helper *h = &helpers[started];
        h->loop = l;
        h->worker = started + 1;
        if (pthread_create(&h->thread, NULL, help, h) != 0)
            break;
        started++;
    }
    serve(l, 0);
    for (int i = 0; i < started; i++)
        pthread_join(helpers[i].thread, NULL);
}

#endif

mcr_status mcr_parallel(mcr *ctx, int64_t items, mcr_work *work, void *arg)
{
    int workers = mcr_workers(ctx);
    if (items < workers)
        workers = items > 0 ? (int)items : 1;
    if (workers == 1) {
        for (int64_t item = 0; item < items; item++) {
            mcr_status status = work(arg, item, 0);
            if (status != MCR_OK)
                return status;
        }
        return MCR_OK;
    }
    loop l = {.ctx = ctx, .work = work, .arg = arg, .items = items, .status = MCR_OK};
    atomic_init(&l.next, 0);
    atomic_init(&l.failed, false);
    if (pthread_mutex_init(&l.lock, NULL) != 0)
        return mcr_fail(ctx, MCR_NO_MEMORY, "out of memory: the system does not give a lock");
    run_team(&l, workers);
    pthread_mutex_destroy(&l.lock);
    return l.status;
}
