/* rounds.c: evaluates points of a search, split by split.
 *
 * Points with the same kernel form a path, each warm-started from the previous solution. Between
 * rounds of splits, points are dropped that cannot become the best even with perfect scores on all
 * remaining splits; a search that chooses everything itself also drops those that are clearly
 * behind. What is tried next depends only on complete rounds: so the result is the same for any
 * number of threads, and for a search that was interrupted and resumed.
 *
 * A worker takes a kernel, computes K of all objects, and runs its paths. When no kernels are left
 * it helps with those that other workers have started. With several processes (base/team.h) each
 * runs some of the paths; scores are exchanged at the end of a round.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/params.h"
#include "base/stream.h"
#include "base/team.h"
#include "base/threads.h"
#include "select/search.h"

enum { MANY_OBJECTS = 20000, HEATS = 2 /* splits after which two thirds are dropped */ };

bool mcr_run_parallel(mcr *ctx, const mcr_learner_type *type, int64_t n, int64_t items)
{
    double matrix = type->bytes   ? type->bytes(n)
                    : type->dense ? (double)n * (double)n * sizeof(double) * 2
                                  : 0;
    return items > 1 && n <= MANY_OBJECTS &&
           matrix * mcr_workers(ctx) < 0.5 * (double)mcr_budget_left(ctx);
}

/* ---- one batch --------------------------------------------------------------------------------*/

/* The points of one kernel in a batch. */
typedef struct group {
    int64_t first, end; /* points of the batch */
    int64_t next;       /* next split of the round to be taken by a worker */
    int owner;          /* worker whose space holds K */
    int state;          /* of group_state */
    double seconds;     /* duration of its last round */
    double *known;      /* its points x all splits: scores computed from one K; NAN: none */
} group;

enum group_state { NOT_BEGUN, COMPUTING, HAS_K, HAS_NONE };

typedef struct batch {
    mcr_tried *t;
    const int64_t *point; /* rising */
    int64_t count;
    group *group;
    int64_t groups;
    int64_t *order;              /* of the groups: longest first */
    int64_t next;                /* next position in it to be taken */
    bool stopped;                /* a worker has failed */
    mcr_signal *changed;         /* signals changes of a group's state or of `stopped` */
    int64_t first_split, splits; /* of this round */
    int64_t items;               /* before this round */
    double *had; /* for the paths of this round: 1 if in the checkpoint; NULL: one process */
} batch;

/* The mean over a point's leading tested splits; *count: their number. */
static double mean_so_far(const mcr_tried *t, int64_t point, int64_t *count)
{
    double sum = 0, score;
    for (*count = 0; *count < t->count; ++*count) {
        __atomic_load(&t->score[point * t->count + *count], &score, __ATOMIC_RELAXED);
        if (!isfinite(score))
            break;
        sum += score;
    }
    return sum / (double)*count;
}

int64_t mcr_tried_leading(const mcr_tried *t)
{
    int64_t best = -1, most = 0, count;
    double mean = NAN;
    for (int64_t p = 0; p < t->grid->points; p++) {
        double own = mean_so_far(t, p, &count);
        if (count > most || (count == most && count > 0 && mcr_tried_better(t, own, mean))) {
            best = p;
            most = count;
            mean = own;
        }
    }
    return best;
}

/* Updated ten times per second: there may be many points. */
static double best_so_far(mcr_tried *t, double passed)
{
    const double between = 0.1;
    double seen, best;
    __atomic_load(&t->seen, &seen, __ATOMIC_RELAXED);
    if (passed - seen > between) {
        __atomic_store(&t->seen, &passed, __ATOMIC_RELAXED);
        int64_t point = mcr_tried_leading(t), count;
        best = point >= 0 ? mean_so_far(t, point, &count) : NAN;
        __atomic_store(&t->so_far, &best, __ATOMIC_RELAXED);
    }
    __atomic_load(&t->so_far, &best, __ATOMIC_RELAXED);
    return best;
}

/* Reports progress; true: the user requests a stop. */
static bool tell(mcr_tried *t)
{
    double done = (double)__atomic_load_n(&t->fits, __ATOMIC_RELAXED),
           passed = mcr_now() - t->began;
    double part = fmin(done / t->expected, 0.99);
    mcr_progress at = {.phase = "tune",
                       .fraction = part,
                       .seconds = passed,
                       .step = (int64_t)done,
                       .objective = best_so_far(t, passed),
                       .violation = NAN,
                       .active = (int64_t)done / t->count,
                       .total = (int64_t)fmax(t->expected, done) / t->count,
                       .left = part > 0.02 ? passed * (1 - part) / part : 0};
    if (t->covers)
        mcr_cover_set(t->ctx, &at);
    return mcr_report(t->ctx, &at);
}

/* The index of a point's options. */
static int64_t setting_of(const mcr_tried *t, int64_t point)
{
    bool second = mcr_grid_template(t->grid, point)->scale != t->grid->template[0].scale;
    return point % t->grid->settings + (second ? t->grid->settings : 0);
}

static mcr_trial_set trials_of(const mcr_tried *t)
{
    return (mcr_trial_set){.ctx = t->ctx,
                           .data = t->data,
                           .splits = t->splits,
                           .metric = &t->metric,
                           .metrics = 1,
                           .positive = mcr_data_positive(t->data)};
}

static int64_t kernel_of(const mcr_tried *t, int64_t point)
{
    return point / t->grid->settings;
}

static mcr_status run_path(const batch *b, mcr_path *c)
{
    mcr_tried *t = b->t;
    const mcr_trial_set set = trials_of(t);
    mcr_status s = mcr_path_run(&set, c);
    if (s)
        return s;
    if (c->unfinished)
        __atomic_add_fetch(&t->unfinished, c->unfinished, __ATOMIC_RELAXED);
    if (c->failed && !__atomic_exchange_n(&t->failed, true, __ATOMIC_RELAXED))
        snprintf(t->message, sizeof t->message, "%s", c->message);
    return MCR_OK;
}

/* One path: the settings, the points and the scores of a group on a split. */
typedef struct item {
    int64_t number; /* number within the round */
    mcr_path path;
    const mcr_options **options;
    int64_t *of, *at; /* points; their indices in the group */
    mcr_kernel *kernel;
} item;

static mcr_status open_item(item *it, const batch *b, int64_t number, int worker)
{
    mcr_tried *t = b->t;
    const group *g = &b->group[number];
    size_t capacity = (size_t)(g->end - g->first);
    *it = (item){0};
    it->options = mcr_alloc(t->ctx, capacity, sizeof *it->options);
    it->of = mcr_alloc(t->ctx, capacity, sizeof *it->of);
    it->at = mcr_alloc(t->ctx, capacity, sizeof *it->at);
    mcr_path *c = &it->path;
    *c = (mcr_path){.options = it->options,
                    .space = t->keeps ? &t->space[worker] : NULL,
                    .kept = t->kept[kernel_of(t, b->point[g->first])].stored};
    c->score = mcr_alloc(t->ctx, capacity, sizeof *c->score);
    if (!it->options || !it->of || !it->at || !c->score)
        return MCR_NO_MEMORY;
    for (int64_t i = g->first; i < g->end; i++)
        if (t->state[b->point[i]] == MCR_POINT_DONE + 1) {
            it->of[c->count] = b->point[i];
            it->at[c->count] = i - g->first;
            it->options[c->count++] = t->held ? t->held : t->setting[setting_of(t, b->point[i])];
        }
    mcr_status s = c->count ? mcr_grid_kernel(&it->kernel, t->grid, it->of[0]) : MCR_OK;
    c->kernel = it->kernel;
    return s;
}

static void close_item(mcr *ctx, item *it)
{
    mcr_kernel_free(it->kernel);
    mcr_free_all(ctx, it->options, it->of, it->at, it->path.score);
}

/* The space for K of the group that a worker has started: others may be reading it while its own
 * paths use their space. */
static mcr_path_space *stored_by(const batch *b, int worker)
{
    return &b->t->space[b->t->workers + worker];
}

/* Whether this process runs a path: whole kernels, if there are enough of them. Results in the
 * checkpoint belong to the process that reads it. */
static bool is_own(const batch *b, int64_t number, int64_t split)
{
    const mcr_team *team = mcr_team_of_tasks(b->t->ctx);
    int64_t path = number * b->splits + split;
    if (!team)
        return true;
    if (b->had && b->had[path] > 0)
        return team->rank == 0;
    return mcr_team_owns(b->t->ctx, b->groups >= team->count ? number : path);
}

static bool has_own(const batch *b, int64_t number)
{
    for (int64_t split = 0; split < b->splits; split++)
        if (is_own(b, number, split))
            return true;
    return false;
}

static mcr_result_key key_of(const batch *b, int64_t number, int64_t split)
{
    return (mcr_result_key){b->t->batch, b->items + number * b->splits + split};
}

/* K of all objects for the group's paths, into a space of the worker; only if all splits use the
 * same objects, and there is work left. */
static mcr_status fill_space(batch *b, int64_t number, const item *it, int worker)
{
    mcr_tried *t = b->t;
    const mcr_path *c = &it->path;
    const mcr_trial_set set = trials_of(t);
    bool wanted = false;
    for (int64_t split = 0; split < b->splits && c->count && !wanted; split++)
        wanted = !mcr_checkpoint_find(t->checkpoint, key_of(b, number, split), c->score, c->count);
    if (!wanted || mcr_scaling_changes(t->data, c->options[0]->scale) || !c->space)
        return MCR_OK;
    mcr_status s = mcr_path_store(&set, c, stored_by(b, worker));
    /* Failures are reported again by the training that needs it. */
    return s == MCR_NO_MEMORY || s == MCR_STOPPED ? s : MCR_OK;
}

/* Scores of all splits from one K, if the learner supports it: kept for all rounds. */
static mcr_status fill_known(batch *b, int64_t number, const item *it)
{
    mcr_tried *t = b->t;
    group *g = &b->group[number];
    const mcr_path *c = &it->path;
    const mcr_trial_set set = trials_of(t);
    size_t points = (size_t)(g->end - g->first);
    if (g->known || !c->count || !c->options[0]->type->folds)
        return MCR_OK;
    double *score = mcr_alloc(t->ctx, (size_t)c->count, (size_t)t->count * sizeof *score);
    g->known = mcr_alloc(t->ctx, points, (size_t)t->count * sizeof *g->known);
    mcr_status s = score && g->known ? mcr_folds_run(&set, c, score) : MCR_NO_MEMORY;
    for (size_t i = 0; i < points * (size_t)t->count && !s; i++)
        g->known[i] = NAN;
    for (int64_t i = 0; i < c->count && !s; i++)
        memcpy(g->known + it->at[i] * t->count, score + i * t->count,
               sizeof *score * (size_t)t->count);
    mcr_free(t->ctx, score);
    return s;
}

/* The settings of a path whose scores are not known yet. */
static mcr_status run_unknown(const batch *b, const group *g, item *it)
{
    const mcr_tried *t = b->t;
    mcr_path *c = &it->path;
    mcr_path part = *c;
    const mcr_options **options = mcr_alloc(t->ctx, (size_t)c->count, sizeof *options);
    double *score = mcr_alloc(t->ctx, (size_t)c->count, sizeof *score);
    mcr_status s = options && score ? MCR_OK : MCR_NO_MEMORY;
    part.count = 0;
    for (int64_t i = 0; i < c->count && !s; i++) {
        c->score[i] = g->known ? g->known[it->at[i] * t->count + c->split] : NAN;
        if (isnan(c->score[i]))
            options[part.count++] = c->options[i];
    }
    part.options = options;
    part.score = score;
    if (!s && part.count)
        s = run_path(b, &part);
    c->timed = part.timed;
    for (int64_t i = 0, next = 0; i < c->count && !s; i++)
        if (isnan(c->score[i]))
            c->score[i] = score[next++];
    mcr_free_all(t->ctx, options, score);
    return s;
}

static mcr_status run_split(batch *b, int64_t number, item *it, int64_t split)
{
    mcr_tried *t = b->t;
    const group *g = &b->group[number];
    mcr_path *c = &it->path;
    mcr_result_key key = key_of(b, number, split);
    mcr_status s = MCR_OK;
    c->split = b->first_split + split;
    c->failed = c->unfinished = c->timed = 0;
    c->stored = g->state == HAS_K ? stored_by(b, g->owner)->stored : NULL;
    bool own = is_own(b, number, split);
    if (own && c->count && !mcr_checkpoint_find(t->checkpoint, key, c->score, c->count)) {
        s = run_unknown(b, g, it);
        /* Trainings that the time limit has cut short are repeated when the search continues. */
        if (!s && !c->timed)
            s = mcr_checkpoint_add(t->checkpoint, key, c->score, c->count);
    }
    for (int64_t i = 0; i < c->count && !s; i++) {
        double score = own ? c->score[i] : 0;
        __atomic_store(&t->score[it->of[i] * t->count + c->split], &score, __ATOMIC_RELAXED);
    }
    __atomic_add_fetch(&t->fits, c->count, __ATOMIC_RELAXED);
    return tell(t) && !s ? mcr_fail(t->ctx, MCR_STOPPED, "interrupted") : s;
}

/* An invalid kernel (its operands do not match): all its points fail. */
static mcr_status give_up(const batch *b, int64_t number)
{
    mcr_tried *t = b->t;
    const group *g = &b->group[number];
    for (int64_t i = g->first; i < g->end; i++)
        for (int64_t split = 0; split < b->splits; split++)
            t->score[b->point[i] * t->count + b->first_split + split] = t->metric->info.larger
                                                                            ? -INFINITY
                                                                            : INFINITY;
    if (!__atomic_exchange_n(&t->failed, true, __ATOMIC_RELAXED))
        snprintf(t->message, sizeof t->message, "%s", mcr_last_message(t->ctx));
    return MCR_OK;
}

/* Runs the paths of a group that no worker has taken; its first worker prepares the shared K. */
static mcr_status run_group(batch *b, int64_t number, int worker, bool first)
{
    mcr_tried *t = b->t;
    group *g = &b->group[number];
    double began = mcr_now();
    item it;
    if (first)
        mcr_path_space_empty(stored_by(b, worker));
    mcr_status s = open_item(&it, b, number, worker);
    if (s == MCR_BAD_CALL) {
        s = first ? give_up(b, number) : MCR_OK;
        __atomic_store_n(&g->next, b->splits, __ATOMIC_RELAXED);
    } else if (!s && first && has_own(b, number))
        s = fill_space(b, number, &it, worker);
    if (!s && first && has_own(b, number))
        s = fill_known(b, number, &it);
    if (first) {
        g->owner = worker;
        __atomic_store_n(&g->state, stored_by(b, worker)->stored ? HAS_K : HAS_NONE,
                         __ATOMIC_RELEASE);
        mcr_signal_raise(b->changed);
    }
    while (!s && !__atomic_load_n(&b->stopped, __ATOMIC_RELAXED)) {
        int64_t split = __atomic_fetch_add(&g->next, 1, __ATOMIC_RELAXED);
        if (split >= b->splits)
            break;
        s = run_split(b, number, &it, split);
    }
    if (first)
        g->seconds = mcr_now() - began;
    close_item(t->ctx, &it);
    return s;
}

/* A group that another worker is preparing. */
typedef struct awaited {
    const batch *b;
    const group *g;
} awaited;

static bool is_ready(const void *arg)
{
    const awaited *w = arg;
    return __atomic_load_n(&w->g->state, __ATOMIC_ACQUIRE) >= HAS_K ||
           __atomic_load_n(&w->b->stopped, __ATOMIC_RELAXED);
}

/* The work of one worker in a round. Its number is the item's: there is one space for each. */
static mcr_status run_worker(void *arg, int64_t number, int thread)
{
    (void)thread;
    batch *b = arg;
    int worker = (int)number;
    mcr_status s = MCR_OK;
    for (int64_t at; !s && (at = __atomic_fetch_add(&b->next, 1, __ATOMIC_RELAXED)) < b->groups;)
        s = run_group(b, b->order[at], worker, true);
    for (int64_t at = 0; at < b->groups && !s; at++) {
        group *g = &b->group[b->order[at]];
        if (__atomic_load_n(&g->next, __ATOMIC_RELAXED) < b->splits)
            mcr_signal_wait(b->changed, is_ready, &(awaited){b, g});
        if (__atomic_load_n(&g->next, __ATOMIC_RELAXED) < b->splits)
            s = run_group(b, b->order[at], worker, false);
    }
    if (s) {
        __atomic_store_n(&b->stopped, true, __ATOMIC_RELAXED);
        mcr_signal_raise(b->changed);
    }
    return s;
}

/* If a large C takes long, an early stop gives nearly the same ranking. */
static mcr_status limit_steps(mcr_options *options)
{
    static const char name[] = "max-steps";
    const mcr_param *p = mcr_options_find(options, name);
    return p && !mcr_params_given(p, options->params) ? mcr_options_set(options, name, "20000")
                                                      : MCR_OK;
}

static mcr_status make_settings(mcr_tried *t, const int64_t *point, int64_t count)
{
    mcr_status s = MCR_OK;
    for (int64_t i = 0; i < count && !s; i++) {
        int64_t setting = setting_of(t, point[i]);
        if (!t->setting[setting])
            s = mcr_grid_setting(&t->setting[setting], t->grid, point[i]);
        else
            continue;
        if (!s && t->quick)
            s = limit_steps(t->setting[setting]);
    }
    return s;
}

/* ---- kernel values for all splits ----
 *
 * If a value is expensive (strings, graphs, vectors of many features), all of K is computed once
 * and all splits read it. This is impossible if vectors are scaled, since each split scales
 * differently. */

#define EXPENSIVE_WORK 400.0 /* multiply-adds per value: above this, reading it back is cheaper */

/* Kernels on strings and graphs do much of their work in bind, which every training and prediction
 * would repeat. */
static bool binds_expensively(const mcr_kernel *k)
{
    bool expensive = (k->type->kinds & (MCR_STRINGS | MCR_GRAPHS)) != 0;
    for (int c = 0; c < k->children && !expensive; c++)
        expensive = binds_expensively(k->child[c]);
    return expensive;
}

/* Whether paths compute K of all objects themselves, once or twice for all splits. */
static bool paths_do(const mcr_tried *t, const mcr_kernel *kernel)
{
    const mcr_options *options[2] = {t->grid->options, t->grid->options};
    const mcr_trial_set set = trials_of(t);
    const mcr_path c = {.kernel = kernel,
                        .options = options,
                        .count = t->grid->settings > 1 ? 2 : 1,
                        .space = t->keeps ? t->space : NULL};
    return mcr_path_takes_folds(&set, &c);
}

static mcr_status share_kernel(batch *b, int64_t which)
{
    mcr_tried *t = b->t;
    const mcr_options *options = t->grid->options;
    int64_t n = mcr_data_count(t->data), first = b->point[b->group[which].first];
    int64_t number = kernel_of(t, first);
    double bytes = (double)mcr_gram_copy_bytes(n, true);
    bool taken = false;
    if (t->kept[number].stored || mcr_finds_kernel(options) || mcr_wants_features(options) ||
        ((options->scale || t->grid->scales) && mcr_grid_has_vectors(t->data)) ||
        mcr_data_has_holes(t->data) ||
        (double)t->kept_bytes + bytes > MCR_SHARED_PART * (double)mcr_memory_budget(t->ctx))
        return MCR_OK;
    mcr_kernel *kernel = NULL;
    mcr_gram *gram = NULL;
    mcr_status s = mcr_grid_kernel(&kernel, t->grid, first);
    if (!s)
        s = mcr_gram_open(&gram, t->ctx, kernel, t->data, NULL);
    if (!s && !(kernel->type->kinds & MCR_PRECOMPUTED) &&
        (binds_expensively(kernel) || mcr_gram_is_slow(gram) ||
         (mcr_gram_work(gram) > EXPENSIVE_WORK && !paths_do(t, kernel)))) {
        s = mcr_budget_take(t->ctx, (size_t)bytes, "kernel values that all splits share");
        taken = !s;
        if (!s)
            s = mcr_gram_copy(&t->kept[number].stored, gram, true, NULL, &t->kept[number].matrix);
    }
    if (t->kept[number].stored)
        t->kept_bytes += (size_t)bytes;
    else if (taken)
        mcr_budget_give(t->ctx, (size_t)bytes);
    mcr_gram_close(gram);
    mcr_kernel_free(kernel);
    /* Failures are reported again by the training that needs it. */
    return s == MCR_NO_MEMORY || s == MCR_STOPPED ? s : MCR_OK;
}

static int longer_first(const void *a, const void *b)
{
    const group *x = *(const group *const *)a, *y = *(const group *const *)b;
    if (x->seconds != y->seconds)
        return x->seconds > y->seconds ? -1 : 1;
    return (x < y) - (x > y); /* initially the last kernels, with more support vectors */
}

static mcr_status order_groups(batch *b)
{
    const group **list = mcr_alloc(b->t->ctx, (size_t)b->groups, sizeof *list);
    if (!list)
        return MCR_NO_MEMORY;
    for (int64_t g = 0; g < b->groups; g++) {
        list[g] = &b->group[g];
        b->group[g].next = 0;
        b->group[g].state = NOT_BEGUN;
    }
    qsort(list, (size_t)b->groups, sizeof *list, longer_first);
    for (int64_t g = 0; g < b->groups; g++)
        b->order[g] = list[g] - b->group;
    mcr_free(b->t->ctx, list);
    b->next = 0;
    return MCR_OK;
}

/* ---- several processes ------------------------------------------------------------------------*/

/* The scores of a group on a split, for points that are not dropped. Copied from t->score if `to`,
 * else into it; returns their number. */
static int64_t copy_scores(const batch *b, int64_t number, int64_t split, double *value, bool to)
{
    const mcr_tried *t = b->t;
    int64_t count = 0;
    for (int64_t i = b->group[number].first; i < b->group[number].end; i++) {
        double *at = &t->score[b->point[i] * t->count + b->first_split + split];
        if (t->state[b->point[i]] != MCR_POINT_DONE + 1)
            continue;
        if (to)
            value[count++] = *at;
        else
            *at = value[count++];
    }
    return count;
}

/* Distributes which paths of the round are in the checkpoint, which only one process reads. */
static mcr_status share_known(batch *b, double *value)
{
    mcr_tried *t = b->t;
    int64_t items = b->groups * b->splits;
    b->had = mcr_alloc_zero(t->ctx, (size_t)items, sizeof *b->had);
    if (!b->had)
        return MCR_NO_MEMORY;
    for (int64_t i = 0; i < items; i++) {
        int64_t number = i / b->splits, split = i % b->splits;
        int64_t count = copy_scores(b, number, split, value, true);
        b->had[i] = mcr_checkpoint_find(t->checkpoint, key_of(b, number, split), value, count);
    }
    return mcr_team_share(t->ctx, b->had, items);
}

/* Distributes all scores of the round; those of other processes are now added to the checkpoint. */
static mcr_status share_scores(batch *b, double *value, int64_t unfinished)
{
    mcr_tried *t = b->t;
    int64_t at = 0, items = b->groups * b->splits;
    for (int64_t i = 0; i < items; i++)
        at += copy_scores(b, i / b->splits, i % b->splits, value + at, true);
    value[at] = (double)(t->unfinished - unfinished);
    mcr_status s = mcr_team_share(t->ctx, value, at + 1);
    t->unfinished = unfinished + (int64_t)value[at];
    at = 0;
    for (int64_t i = 0; i < items && !s; i++) {
        int64_t number = i / b->splits, split = i % b->splits;
        int64_t count = copy_scores(b, number, split, value + at, false);
        if (!(b->had[i] > 0) && !is_own(b, number, split) && count)
            s = mcr_checkpoint_add(t->checkpoint, key_of(b, number, split), value + at, count);
        at += count;
    }
    if (!s)
        s = mcr_team_share_text(t->ctx, t->message, sizeof t->message);
    return s;
}

static mcr_status run_round(batch *b)
{
    mcr_tried *t = b->t;
    if (mcr_run_parallel(t->ctx, t->grid->options->type, mcr_data_count(t->data),
                         b->groups * b->splits))
        return mcr_parallel(t->ctx, t->workers, run_worker, b);
    return run_worker(b, 0, 0);
}

/* Runs a round, of which each process has a part. */
static mcr_status run_shared(batch *b)
{
    mcr_tried *t = b->t;
    if (!mcr_team_of_tasks(t->ctx))
        return run_round(b);
    int64_t unfinished = t->unfinished;
    double *value = mcr_alloc(t->ctx, (uint64_t)(b->count * b->splits) + 1, sizeof *value);
    mcr_status s = value ? share_known(b, value) : MCR_NO_MEMORY;
    if (!s)
        s = run_round(b);
    if (!s)
        s = share_scores(b, value, unfinished);
    mcr_free_all(t->ctx, b->had, value);
    b->had = NULL;
    return s;
}

/* Splits of the round that follows `done` splits. Before four fifths hardly any point is certain to
 * lose: it must be behind by more than it could still gain on the other splits. Early decisions
 * need two splits at least, and K of all objects is computed again in each round. */
static int64_t round_splits(const mcr_tried *t, int64_t done)
{
    enum { FEWEST = 2 };
    if (t->early && t->count > FEWEST) {
        int64_t first = (t->count + 1) / 3 > FEWEST ? (t->count + 1) / 3 : FEWEST;
        return done ? t->count - done : first;
    }
    if (done || t->races)
        return 1;
    return t->count > 1 ? 4 * t->count / 5 : t->count;
}

static mcr_status run_rounds(batch *b)
{
    mcr_tried *t = b->t;
    mcr_status s = MCR_OK;
    for (int64_t done = 0; done < t->count && !s; done += b->splits) {
        b->first_split = done;
        b->splits = round_splits(t, done);
        int64_t items = b->groups * b->splits;
        s = order_groups(b);
        if (!s)
            s = run_shared(b);
        b->items += items;
        for (int64_t i = 0; i < b->count && !s; i++)
            if (t->state[b->point[i]] == MCR_POINT_DONE + 1)
                t->tested[b->point[i]] = (int32_t)(done + b->splits);
        if (!s)
            mcr_tried_leave_out(t, b->point, b->count);
        if (!s && t->early && !t->whole && done + b->splits < t->count)
            s = mcr_tried_drop_behind(t, b->point, b->count, done + b->splits);
        if (!s && t->races && done + b->splits <= HEATS)
            s = mcr_tried_keep_third(t, b->point, b->count);
    }
    for (int64_t i = 0; i < b->count && !s; i++)
        if (t->state[b->point[i]] == MCR_POINT_DONE + 1 &&
            !isfinite(mcr_tried_mean(t, b->point[i])))
            t->state[b->point[i]] = MCR_POINT_FAILED + 1;
    return s;
}

mcr_status mcr_try_points(mcr_tried *t, const int64_t *wanted, int64_t wanted_count)
{
    mcr *ctx = t->ctx;
    batch b = {.t = t};
    int64_t *point = mcr_alloc(ctx, (size_t)wanted_count, sizeof *point);
    b.group = mcr_alloc_zero(ctx, (size_t)wanted_count + 1, sizeof *b.group);
    b.order = mcr_alloc(ctx, (size_t)wanted_count, sizeof *b.order);
    mcr_status s = point && b.group && b.order ? mcr_signal_open(&b.changed, ctx) : MCR_NO_MEMORY;
    for (int64_t i = 0; i < wanted_count && !s; i++) {
        int64_t p = wanted ? wanted[i] : i;
        if (t->state[p])
            continue;
        t->state[p] = MCR_POINT_DONE + 1;
        point[b.count++] = p;
    }
    for (int64_t i = 0; i < b.count && !s; i++)
        if (i == 0 || point[i] / t->grid->settings != point[i - 1] / t->grid->settings)
            b.group[b.groups++].first = i;
    if (!s && b.count) {
        for (int64_t g = 0; g < b.groups; g++)
            b.group[g].end = g + 1 < b.groups ? b.group[g + 1].first : b.count;
        b.point = point;
        s = make_settings(t, point, b.count);
        for (int64_t g = 0; g < b.groups && !s; g++)
            s = share_kernel(&b, g);
        if (!s)
            s = run_rounds(&b);
        t->batch++;
    }
    if (!s)
        mcr_tried_choose(t);
    mcr_free(ctx, point);
    for (int64_t g = 0; g < b.groups; g++)
        mcr_free(ctx, b.group[g].known);
    mcr_free(ctx, b.group);
    mcr_signal_close(ctx, b.changed);
    mcr_free(ctx, b.order);
    return s;
}
