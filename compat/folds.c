/* folds.c: folds side by side, one thread each.
 *
 * A training on a few thousand objects has steps that are too short for several threads: two folds
 * on a core each take less time than one after the other on two. What does not fill all cores at
 * the end runs on all of them, fold by fold.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "folds.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

/* Objects: with more, the rows that several solvers keep at once would take too much memory, and
 * each solver uses all cores well. */
enum { FEWEST = 64, MOST = 8000, MOST_WORKERS = 256 };

typedef struct group {
    atomic_int next; /* the first fold that nobody has taken */
    int count;
    atomic_bool failed;
    compat_fold *run;
    void *arg;
} group;

typedef struct worker {
    pthread_t thread;
    compat_engine *e;
    group *of;
} worker;

static void *work(void *arg)
{
    worker *w = arg;
    group *g = w->of;
    for (int fold; (fold = atomic_fetch_add(&g->next, 1)) < g->count;)
        if (!g->run(g->arg, w->e, fold))
            g->failed = true;
    return NULL;
}

/* The first folds, as many as `count` workers have equal shares of. */
static void run_together(group *g, compat_engine *e, int count)
{
    worker *w = calloc((size_t)count, sizeof *w);
    int ready = 0, started = 0;
    while (w && ready < count && (w[ready].e = compat_engine_branch(e)) != NULL)
        w[ready++].of = g;
    if (ready == count)
        while (started < count - 1 &&
               pthread_create(&w[started].thread, NULL, work, &w[started]) == 0)
            started++;
    if (started > 0)
        work(&w[count - 1]);
    for (int i = 0; i < started; i++)
        pthread_join(w[i].thread, NULL);
    for (int i = 0; i < ready; i++)
        compat_engine_close(w[i].e);
    free(w);
}

bool compat_folds_run(compat_engine *e, int count, int n, compat_fold *run, void *arg)
{
    int threads = compat_engine_threads(e);
    int workers = threads < count ? threads : count;
    workers = workers < MOST_WORKERS ? workers : MOST_WORKERS;
    group g = {.run = run, .arg = arg};
    if (workers > 1 && n >= FEWEST && n <= MOST) {
        g.count = count / workers * workers;
        run_together(&g, e, workers);
    }
    /* What is left, or all of them where there are no workers. */
    int first = g.next < g.count ? g.next : g.count;
    for (int fold = first; fold < count && !g.failed; fold++)
        g.failed = !run(arg, e, fold);
    return !g.failed;
}
