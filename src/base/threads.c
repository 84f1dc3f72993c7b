/* threads.c: the one parallel loop, on threads that belong to the context.
 *
 * Why a pool of our own and not OpenMP: an OpenMP region ends only when every thread of the team
 * has arrived. If one of them loses its core to another program, the region waits for a whole time
 * slice, even if that thread had nothing left to do (measured: 3 ms for an empty loop instead of 1
 * us). Here the calling thread works, too, and waits at the end only for threads that have started
 * an item. The pool also avoids a hang of libgomp in forked children, and ThreadSanitizer
 * understands it.
 *
 * Items are assigned in ascending order by an atomic counter, so that every item below a failed one
 * has started, too: the lowest failed item, its status and its message do not depend on the number
 * of threads.
 *
 * The variables below belong to the process, not to a context: fork() copies the process, and a
 * thread must know that it runs inside a loop.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/threads.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "base/context.h"
#include "base/worker.h"

static atomic_bool threads_used; /* by this process, or by its parent before fork */
static atomic_bool forked_child; /* child of a process that used threads: they were not copied */
static pthread_once_t watch_once = PTHREAD_ONCE_INIT;
static _Thread_local mcr_failure *own_failure;

mcr_failure *mcr_worker_failure(void)
{
    return own_failure;
}

static void after_fork(void)
{
    if (atomic_load(&threads_used))
        atomic_store(&forked_child, true);
}

static void watch_forks(void)
{
    (void)pthread_atfork(NULL, NULL, after_fork);
}

/* Inside one of our loops, or called from a program's own OpenMP region: the cores are in use. */
static bool is_nested(void)
{
#ifdef _OPENMP
    if (omp_in_parallel())
        return true;
#endif
    return own_failure != NULL;
}

int mcr_workers(const mcr *ctx)
{
    int threads = ctx->config.threads;
    if (threads <= 1 || atomic_load(&forked_child) || is_nested())
        return 1;
    /* A caller that asks for workers is about to use them, here or in BLAS, whose threads do not
     * survive a fork either. */
    pthread_once(&watch_once, watch_forks);
    atomic_store(&threads_used, true);
    return threads;
}

/* ---- one loop ---- */

typedef struct loop {
    mcr *ctx;
    mcr_work *work;
    void *arg;
    int64_t items;
    atomic_int_least64_t next;
    atomic_bool failed;
    /* guarded by the pool's lock */
    int64_t lowest; /* lowest failed item so far */
    mcr_status status;
} loop;

typedef struct helper {
    struct mcr_pool *pool;
    pthread_t thread;
    int worker;
} helper;

struct mcr_pool {
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    atomic_uint_least64_t epoch; /* number of loops; changed under the lock, polled without */
    atomic_int active;           /* helpers inside the current loop; accessed likewise */
    loop *current;               /* NULL: none to enter */
    int asleep;                  /* helpers that wait for `work` */
    int started;
    bool quit;
    helper helpers[];
};

static void note_failure(loop *l, int64_t item, mcr_status status, const mcr_failure *failure)
{
    mcr *ctx = l->ctx;
    atomic_store(&l->failed, true);
    pthread_mutex_lock(&ctx->pool->lock);
    if (l->status == MCR_OK || item < l->lowest) {
        l->status = status;
        l->lowest = item;
        pthread_mutex_lock(&ctx->lock);
        memcpy(ctx->message, failure->message, sizeof failure->message);
        memcpy(ctx->file, failure->file, sizeof failure->file);
        ctx->line = failure->line;
        ctx->id = failure->id;
        ctx->mark_text[0] = '\0';
        pthread_mutex_unlock(&ctx->lock);
    }
    pthread_mutex_unlock(&ctx->pool->lock);
}

static void serve(loop *l, int worker)
{
    mcr_failure failure;
    failure.ctx = l->ctx;
    failure.message[0] = failure.file[0] = '\0';
    failure.line = 0;
    failure.id = NULL;
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

/* ---- waiting ---- */

/* In a solver, loops follow each other within microseconds: polling for a moment saves a system
 * call. Polling longer would take the core from others. */
static const double WATCH_SECONDS = 50e-6;

static void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ __volatile__("yield");
#endif
}

static void watch_epoch(struct mcr_pool *pool, uint64_t seen)
{
    double end = mcr_now() + WATCH_SECONDS;
    do {
        for (int i = 0; i < 16; i++) {
            if (atomic_load_explicit(&pool->epoch, memory_order_acquire) != seen)
                return;
            relax();
        }
    } while (mcr_now() < end);
}

static void watch_active(struct mcr_pool *pool)
{
    double end = mcr_now() + WATCH_SECONDS;
    do {
        for (int i = 0; i < 16; i++) {
            if (atomic_load_explicit(&pool->active, memory_order_acquire) == 0)
                return;
            relax();
        }
    } while (mcr_now() < end);
}

/* ---- the pool ---- */

static void *help(void *arg)
{
    const helper *own = arg;
    struct mcr_pool *pool = own->pool;
    uint64_t seen = 0;
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        while (atomic_load(&pool->epoch) == seen && !pool->quit) {
            pool->asleep++;
            pthread_cond_wait(&pool->work, &pool->lock);
            pool->asleep--;
        }
        if (pool->quit)
            break;
        seen = atomic_load(&pool->epoch);
        loop *l = pool->current;
        if (l != NULL) {
            atomic_fetch_add(&pool->active, 1);
            pthread_mutex_unlock(&pool->lock);
            serve(l, own->worker);
            pthread_mutex_lock(&pool->lock);
            if (atomic_fetch_sub(&pool->active, 1) == 1)
                pthread_cond_signal(&pool->done);
        }
        pthread_mutex_unlock(&pool->lock);
        watch_epoch(pool, seen);
        pthread_mutex_lock(&pool->lock);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

/* Signals are left to the program's own threads. If a thread cannot be started, the pool works
 * without it. */
static void start_helpers(struct mcr_pool *pool, int wanted)
{
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    while (pool->started < wanted) {
        helper *h = &pool->helpers[pool->started];
        h->pool = pool;
        h->worker = pool->started + 1;
        if (pthread_create(&h->thread, NULL, help, h) != 0)
            break;
        pool->started++;
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

static void run_team(struct mcr_pool *pool, loop *l, int workers)
{
    if (pool->started < workers - 1)
        start_helpers(pool, workers - 1);
    pthread_mutex_lock(&pool->lock);
    pool->current = l;
    atomic_fetch_add(&pool->epoch, 1);
    if (pool->asleep > 0)
        pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);

    serve(l, 0);

    pthread_mutex_lock(&pool->lock);
    pool->current = NULL; /* helpers that have not arrived yet are no longer needed */
    if (atomic_load(&pool->active) > 0) {
        pthread_mutex_unlock(&pool->lock);
        watch_active(pool);
        pthread_mutex_lock(&pool->lock);
        while (atomic_load(&pool->active) > 0)
            pthread_cond_wait(&pool->done, &pool->lock);
    }
    pthread_mutex_unlock(&pool->lock);
}

mcr_status mcr_pool_open(mcr *ctx)
{
    size_t bytes = sizeof(struct mcr_pool) + (size_t)ctx->config.threads * sizeof(helper);
    struct mcr_pool *pool = mcr_alloc_zero(ctx, 1, bytes);
    if (pool == NULL)
        return MCR_NO_MEMORY;
    pthread_mutex_init(&pool->lock, NULL); /* cannot fail with default attributes */
    pthread_cond_init(&pool->work, NULL);
    pthread_cond_init(&pool->done, NULL);
    atomic_init(&pool->epoch, 0);
    atomic_init(&pool->active, 0);
    ctx->pool = pool;
    return MCR_OK;
}

void mcr_pool_close(mcr *ctx)
{
    struct mcr_pool *pool = ctx->pool;
    if (pool == NULL)
        return;
    /* A forked child has no helpers to join, and the locks are in the state they had in the parent,
     * possibly held. */
    if (!atomic_load(&forked_child)) {
        pthread_mutex_lock(&pool->lock);
        pool->quit = true;
        pthread_cond_broadcast(&pool->work);
        pthread_mutex_unlock(&pool->lock);
        for (int i = 0; i < pool->started; i++)
            pthread_join(pool->helpers[i].thread, NULL);
        pthread_cond_destroy(&pool->done);
        pthread_cond_destroy(&pool->work);
        pthread_mutex_destroy(&pool->lock);
    }
    ctx->pool = NULL;
    mcr_free(ctx, pool);
}

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
    run_team(ctx->pool, &l, workers);
    return l.status;
}

typedef struct chunk_loop {
    int64_t n, chunk;
    mcr_chunk_work *work;
    void *arg;
} chunk_loop;

static mcr_status chunk_item(void *arg, int64_t item, int worker)
{
    (void)worker;
    const chunk_loop *l = arg;
    int64_t first = item * l->chunk, end = first + l->chunk < l->n ? first + l->chunk : l->n;
    return l->work(l->arg, first, end);
}

mcr_status mcr_parallel_chunks(mcr *ctx, int64_t n, int64_t chunk, mcr_chunk_work *work, void *arg)
{
    chunk_loop l = {n, chunk, work, arg};
    return mcr_parallel(ctx, (n + chunk - 1) / chunk, chunk_item, &l);
}

mcr_status mcr_alone(mcr *ctx, mcr_work *work, void *arg)
{
    if (mcr_workers(ctx) == 1)
        return work(arg, 0, 0);
    loop l = {.ctx = ctx, .work = work, .arg = arg, .items = 1, .status = MCR_OK};
    atomic_init(&l.next, 0);
    atomic_init(&l.failed, false);
    serve(&l, 0);
    return l.status;
}

/* ---- with progress ----------------------------------------------------------------------------*/

typedef struct reported_loop {
    mcr *ctx;
    const char *phase;
    double first, share, began;
    int64_t items;
    mcr_work *work;
    void *arg;
    atomic_int_least64_t done, tick; /* tick: time of the last report */
} reported_loop;

static mcr_status reported_item(void *arg, int64_t item, int worker)
{
    enum { TICKS = 20 }; /* per second */
    reported_loop *l = arg;
    double now = mcr_now();
    int64_t tick = (int64_t)((now - l->began) * TICKS);
    int_least64_t last = atomic_load(&l->tick);
    mcr_status status;
    if (mcr_deadline_passed(l->ctx, now)) /* even in loops too short to report */
        return mcr_fail(l->ctx, MCR_STOPPED, "interrupted");
    if (tick > last && atomic_compare_exchange_strong(&l->tick, &last, tick)) {
        double done = (double)atomic_load(&l->done) / (double)l->items;
        status = mcr_part_done(l->ctx, l->phase, l->first + l->share * done, now - l->began);
        if (status != MCR_OK)
            return status;
    }
    status = l->work(l->arg, item, worker);
    atomic_fetch_add(&l->done, 1);
    return status;
}

mcr_status mcr_parallel_reported(mcr *ctx, const char *phase, double first, double share,
                                 int64_t items, mcr_work *work, void *arg)
{
    reported_loop l = {ctx, phase, first, share, mcr_now(), items, work, arg, 0, 0};
    return mcr_parallel(ctx, items, reported_item, &l);
}

/* ---- waiting ----------------------------------------------------------------------------------*/

struct mcr_signal {
    pthread_mutex_t lock;
    pthread_cond_t changed;
};

mcr_status mcr_signal_open(mcr_signal **out, mcr *ctx)
{
    *out = mcr_alloc(ctx, 1, sizeof **out);
    if (!*out)
        return MCR_NO_MEMORY;
    **out = (mcr_signal){PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER};
    return MCR_OK;
}

void mcr_signal_close(mcr *ctx, mcr_signal *signal)
{
    if (!signal)
        return;
    pthread_cond_destroy(&signal->changed);
    pthread_mutex_destroy(&signal->lock);
    mcr_free(ctx, signal);
}

void mcr_signal_wait(mcr_signal *signal, bool (*ready)(const void *arg), const void *arg)
{
    pthread_mutex_lock(&signal->lock);
    while (!ready(arg))
        pthread_cond_wait(&signal->changed, &signal->lock);
    pthread_mutex_unlock(&signal->lock);
}

void mcr_signal_raise(mcr_signal *signal)
{
    pthread_mutex_lock(&signal->lock);
    pthread_cond_broadcast(&signal->changed);
    pthread_mutex_unlock(&signal->lock);
}
