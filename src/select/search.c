/* search.c: trying the points of a grid, all of them or from coarse to fine.
 *
 * Points with the same kernel are trained in a chain, each from the solution of the one before. Between
 * rounds of splits those are left out that cannot win any more, even if they were perfect on all splits
 * that are left. What is tried next depends on complete rounds only: so the result is the same for any
 * number of threads, and for a search that was cut off and resumed.
 *
 * From coarse to fine: first a lattice of five or six values an axis, then the neighbours of the best
 * point at half the distance, until it has no better neighbour at distance one. Scores over log C and
 * log gamma are smooth ridges and plateaus, which such a search finds with a tenth of the trainings, and
 * without a model of the scores that would have to be fitted itself.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "select/search.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/stream.h"
#include "base/threads.h"

enum { MANY_OBJECTS = 20000, COARSE_VALUES = 5 };

bool mcr_side_by_side(mcr *ctx, const mcr_learner_type *type, int64_t n, int64_t items)
{
    double matrix = type->dense ? (double)n * (double)n * sizeof(double) * 2 : 0;
    return items > 1 && n <= MANY_OBJECTS &&
           matrix * mcr_workers(ctx) < 0.5 * (double)mcr_budget_left(ctx);
}

/* ---- scores ------------------------------------------------------------------------------------*/

static bool is_better(const mcr_tried *t, double a, double b)
{
    return t->metric->info.larger ? a > b : a < b;
}

static double mean_of(const mcr_tried *t, int64_t point)
{
    return mcr_mean(t->score + point * t->count, t->count);
}

static void choose_best(mcr_tried *t)
{
    t->best = -1;
    for (int64_t p = 0; p < t->grid->points; p++)
        if (t->state[p] == MCR_POINT_DONE + 1 && isfinite(mean_of(t, p)) &&
            (t->best < 0 || is_better(t, mean_of(t, p), mean_of(t, t->best))))
            t->best = p;
}

/* Sum over the splits, those that were not tested taken as `rest`. */
static double sum_with(const mcr_tried *t, int64_t point, double rest)
{
    double sum = rest * (double)(t->count - t->tested[point]);
    if (t->count == t->tested[point])
        sum = 0;
    for (int64_t s = 0; s < t->tested[point]; s++)
        sum += t->score[point * t->count + s];
    return sum;
}

/* Marks those of the batch that are worse than another point for sure. A NAN (a split on which the metric
 * is not defined) proves nothing. */
static void leave_out(mcr_tried *t, const int64_t *point, int64_t count)
{
    const mcr_metric *m = t->metric;
    double good = m->info.larger ? m->most : m->least, bad = m->info.larger ? m->least : m->most;
    double sure = NAN; /* what the best will reach at least */
    for (int64_t p = 0; p < t->grid->points; p++) {
        if (!t->state[p] || t->state[p] == MCR_POINT_BEATEN + 1 || !t->tested[p])
            continue;
        double sum = sum_with(t, p, bad);
        if (isnan(sure) || is_better(t, sum, sure))
            sure = sum;
    }
    for (int64_t i = 0; i < count; i++) {
        int64_t p = point[i];
        double most = sum_with(t, p, good);
        double margin = 1e-12 * (double)t->count * fmax(1, fabs(sure)); /* sums are rounded */
        if (t->tested[p] < t->count && isfinite(sure) && is_better(t, sure, most) &&
            fabs(sure - most) > margin)
            t->state[p] = MCR_POINT_BEATEN + 1;
        else if (t->tested[p] < t->count && isinf(sum_with(t, p, 0)))
            t->state[p] = MCR_POINT_FAILED + 1;
    }
}

/* ---- one batch ---------------------------------------------------------------------------------*/

typedef struct batch {
    mcr_tried *t;
    const int64_t *point; /* rising */
    int64_t count;
    int64_t *group; /* first point of each kernel, and the end */
    int64_t groups;
    mcr_kernel *stored;          /* reads it */
    int64_t first_split, splits; /* of this round */
    int64_t items;               /* before this round */
} batch;

/* Tells of the progress; true: the user asks to stop. */
static bool tell(mcr_tried *t)
{
    double done = (double)__atomic_load_n(&t->fits, __ATOMIC_RELAXED),
           passed = mcr_now() - t->began;
    double part = fmin(done / t->expected, 0.99);
    mcr_progress at = {.size = sizeof at,
                       .phase = "tune",
                       .fraction = part,
                       .seconds = passed,
                       .step = (int64_t)done,
                       .objective = NAN,
                       .violation = NAN,
                       .left = part > 0.02 ? passed * (1 - part) / part : 0};
    if (t->covers)
        mcr_cover_set(t->ctx, &at);
    return mcr_report(t->ctx, &at);
}

/* Where the options of a point are kept. */
static int64_t setting_of(const mcr_tried *t, int64_t point)
{
    bool second = mcr_grid_template(t->grid, point)->scale != t->grid->template[0].scale;
    return point % t->grid->settings + (second ? t->grid->settings : 0);
}

static int64_t kernel_of(const mcr_tried *t, int64_t point)
{
    return point / t->grid->settings;
}

static mcr_status run_chain(const batch *b, mcr_chain *c, const mcr_data *data)
{
    mcr_tried *t = b->t;
    const mcr_trial_set set = {t->ctx, data, t->splits, &t->metric, 1};
    mcr_status s = mcr_chain_run(&set, c);
    if (s)
        return s;
    if (c->unfinished)
        __atomic_add_fetch(&t->unfinished, c->unfinished, __ATOMIC_RELAXED);
    if (c->failed && !__atomic_exchange_n(&t->failed, true, __ATOMIC_RELAXED))
        snprintf(t->message, sizeof t->message, "%s", c->message);
    return MCR_OK;
}

/* A kernel that cannot be: all its points fail. */
static mcr_status give_up(mcr_tried *t, mcr_chain *c)
{
    for (int64_t i = 0; i < c->count; i++)
        c->score[i] = t->metric->info.larger ? -INFINITY : INFINITY;
    if (!__atomic_exchange_n(&t->failed, true, __ATOMIC_RELAXED))
        snprintf(t->message, sizeof t->message, "%s", mcr_last_message(t->ctx));
    return MCR_OK;
}

static mcr_status run_item(void *arg, int64_t item, int worker)
{
    const batch *b = arg;
    mcr_tried *t = b->t;
    int64_t group = item / b->splits, first = b->group[group], end = b->group[group + 1];
    size_t room = (size_t)(end - first);
    mcr_kernel *kernel = NULL;
    const mcr_options **options = mcr_alloc(t->ctx, room, sizeof *options);
    int64_t *of = mcr_alloc(t->ctx, room, sizeof *of);
    mcr_chain c = {.split = b->first_split + item % b->splits, .room = &t->room[worker]};
    const mcr_data *shared = t->shared[kernel_of(t, b->point[first])];
    c.score = mcr_alloc(t->ctx, room, sizeof *c.score);
    mcr_status s = options && of && c.score ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t i = first; i < end && !s; i++)
        if (t->state[b->point[i]] == MCR_POINT_DONE + 1) {
            of[c.count] = b->point[i];
            options[c.count++] = t->setting[setting_of(t, b->point[i])];
        }
    mcr_result_key key = {t->batch, b->items + item};
    if (!s && c.count && !mcr_checkpoint_find(t->checkpoint, key, c.score, c.count)) {
        s = shared ? MCR_OK : mcr_grid_kernel(&kernel, t->grid, of[0]);
        c.kernel = shared ? b->stored : kernel;
        c.options = options;
        if (s == MCR_BAD_CALL) /* these values do not go together; others may */
            s = give_up(t, &c);
        else if (!s)
            s = run_chain(b, &c, shared ? shared : t->data);
        if (!s)
            s = mcr_checkpoint_add(t->checkpoint, key, c.score, c.count);
    }
    for (int64_t i = 0; i < c.count && !s; i++)
        t->score[of[i] * t->count + c.split] = c.score[i];
    __atomic_add_fetch(&t->fits, c.count, __ATOMIC_RELAXED);
    if (tell(t) && !s)
        s = mcr_fail(t->ctx, MCR_STOPPED, "interrupted");
    mcr_kernel_free(kernel);
    mcr_free(t->ctx, options);
    mcr_free(t->ctx, of);
    mcr_free(t->ctx, c.score);
    return s;
}

static mcr_status make_settings(mcr_tried *t, const int64_t *point, int64_t count)
{
    mcr_status s = MCR_OK;
    for (int64_t i = 0; i < count && !s; i++) {
        int64_t setting = setting_of(t, point[i]);
        if (!t->setting[setting])
            s = mcr_grid_setting(&t->setting[setting], t->grid, point[i]);
    }
    return s;
}

/* ---- kernel values for all splits ----
 *
 * Where a value costs much (strings, graphs, vectors of many features) all of K is computed once, and
 * all splits read it. That cannot be where vectors are scaled: each split scales in its own way. */

#define DEAR_WORK 400.0 /* multiply-adds of a value: then reading it back is cheaper */

static bool has_vectors(const mcr_data *data)
{
    for (int64_t f = 0; f < data->fields; f++)
        if (data->store[f]->kind & (MCR_DENSE | MCR_SPARSE))
            return true;
    return false;
}

/* Kernels on strings and graphs do much of their work when they are bound to data: each training, and
 * each prediction, would do it again. */
static bool binds_dearly(const mcr_kernel *k)
{
    bool dear = (k->type->kinds & (MCR_STRINGS | MCR_GRAPHS)) != 0;
    for (int c = 0; c < k->children && !dear; c++)
        dear = binds_dearly(k->child[c]);
    return dear;
}

/* The same objects, with the values of K as their only field. */
static mcr_status keep_matrix(mcr_data **out, mcr_gram *gram, const mcr_data *data)
{
    int64_t n = mcr_data_count(data);
    mcr_store *store = NULL;
    mcr_status s = mcr_store_new(&store, data->ctx, "K", MCR_PRECOMPUTED);
    if (s)
        return s;
    store->count = store->cols = n;
    store->id = mcr_alloc(data->ctx, (size_t)n, sizeof *store->id);
    store->dense = mcr_alloc(data->ctx, (size_t)n, (size_t)n * sizeof *store->dense);
    s = store->id && store->dense ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t i = 0; i < n && !s; i++)
        store->id[i] = i;
    if (!s)
        s = mcr_gram_matrix_quietly(gram, store->dense, n, true);
    if (!s)
        s = mcr_data_with_store(out, data, store);
    mcr_store_free(store);
    return s;
}

static mcr_status share_kernel(batch *b, int64_t group)
{
    mcr_tried *t = b->t;
    const mcr_options *options = t->grid->options;
    int64_t n = mcr_data_count(t->data), number = kernel_of(t, b->point[b->group[group]]);
    double bytes = (double)n * (double)n * sizeof(double);
    if (t->shared[number] || options->type->own_kernel || mcr_wants_features(options) ||
        ((options->scale || t->grid->scales) && has_vectors(t->data)) ||
        (double)t->shared_bytes + bytes > 0.4 * (double)mcr_memory_budget(t->ctx))
        return MCR_OK;
    mcr_kernel *kernel = NULL;
    mcr_gram *gram = NULL;
    mcr_status s = mcr_grid_kernel(&kernel, t->grid, b->point[b->group[group]]);
    if (!s)
        s = mcr_gram_open(&gram, t->ctx, kernel, t->data, NULL);
    if (!s && (binds_dearly(kernel) || mcr_gram_is_slow(gram) || mcr_gram_work(gram) > DEAR_WORK) &&
        strcmp(kernel->type->name, "precomputed") != 0)
        s = keep_matrix(&t->shared[number], gram, t->data);
    if (t->shared[number])
        t->shared_bytes += (size_t)bytes;
    mcr_gram_close(gram);
    mcr_kernel_free(kernel);
    /* What cannot be computed shows again when it is trained with. */
    return s == MCR_NO_MEMORY || s == MCR_STOPPED ? s : MCR_OK;
}

static mcr_status share_kernels(batch *b)
{
    mcr_status s = mcr_kernel_parse(&b->stored, b->t->ctx, "precomputed(K)");
    for (int64_t g = 0; g < b->groups && !s; g++)
        s = share_kernel(b, g);
    return s;
}

/* Half of the splits, then one after the other: nothing can be left out before. */
static mcr_status run_rounds(batch *b)
{
    mcr_tried *t = b->t;
    mcr_status s = MCR_OK;
    for (int64_t done = 0; done < t->count && !s; done += b->splits) {
        b->first_split = done;
        b->splits = done ? 1 : (t->count + 1) / 2;
        int64_t items = b->groups * b->splits;
        if (mcr_side_by_side(t->ctx, t->grid->options->type, mcr_data_count(t->data), items))
            s = mcr_parallel(t->ctx, items, run_item, b);
        else
            for (int64_t i = 0; i < items && !s; i++)
                s = run_item(b, i, 0);
        b->items += items;
        for (int64_t i = 0; i < b->count && !s; i++)
            if (t->state[b->point[i]] == MCR_POINT_DONE + 1)
                t->tested[b->point[i]] = (int32_t)(done + b->splits);
        if (!s)
            leave_out(t, b->point, b->count);
    }
    for (int64_t i = 0; i < b->count && !s; i++)
        if (t->state[b->point[i]] == MCR_POINT_DONE + 1 && !isfinite(mean_of(t, b->point[i])))
            t->state[b->point[i]] = MCR_POINT_FAILED + 1;
    return s;
}

/* Tries the points that are not known yet. */
static mcr_status try_points(mcr_tried *t, const int64_t *asked, int64_t asked_count)
{
    mcr *ctx = t->ctx;
    batch b = {.t = t};
    int64_t *point = mcr_alloc(ctx, (size_t)asked_count, sizeof *point);
    b.group = mcr_alloc(ctx, (size_t)asked_count + 1, sizeof *b.group);
    mcr_status s = point && b.group ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t i = 0; i < asked_count && !s; i++)
        if (!t->state[asked[i]]) {
            t->state[asked[i]] = MCR_POINT_DONE + 1;
            point[b.count++] = asked[i];
        }
    for (int64_t i = 0; i < b.count && !s; i++)
        if (i == 0 || point[i] / t->grid->settings != point[i - 1] / t->grid->settings)
            b.group[b.groups++] = i;
    if (!s && b.count) {
        b.group[b.groups] = b.count;
        b.point = point;
        s = make_settings(t, point, b.count);
        if (!s)
            s = share_kernels(&b);
        if (!s)
            s = run_rounds(&b);
        mcr_kernel_free(b.stored);
        t->batch++;
    }
    if (!s)
        choose_best(t);
    mcr_free(ctx, point);
    mcr_free(ctx, b.group);
    return s;
}

/* ---- which points ------------------------------------------------------------------------------*/

static mcr_status try_all(mcr_tried *t)
{
    int64_t *point = mcr_alloc(t->ctx, (size_t)t->grid->points, sizeof *point);
    if (!point)
        return MCR_NO_MEMORY;
    for (int64_t p = 0; p < t->grid->points; p++)
        point[p] = p;
    mcr_status s = try_points(t, point, t->grid->points);
    mcr_free(t->ctx, point);
    return s;
}

/* The points of a template whose places are multiples of the strides, from `start` on each axis. */
static int64_t list_lattice(const mcr_tried *t, const mcr_template *of, const int64_t *start,
                            const int64_t *stride, int64_t *point)
{
    int64_t at[2 * MCR_MOST_AXES], size[2 * MCR_MOST_AXES], count = 0;
    int64_t end = of->first + of->kernels * t->grid->settings;
    for (int64_t p = of->first; p < end; p++) {
        int axes = mcr_grid_place(t->grid, p, at, size);
        bool on = true;
        for (int a = 0; a < axes; a++)
            on &= at[a] >= start[a] && (at[a] - start[a]) % stride[a] == 0;
        if (on)
            point[count++] = p;
    }
    return count;
}

/* Neighbours of a point at the strides: with two axes all eight, with more those along one axis. */
static int64_t list_neighbours(const mcr_tried *t, int64_t of, const int64_t *stride,
                               int64_t *point)
{
    int64_t at[2 * MCR_MOST_AXES], size[2 * MCR_MOST_AXES], count = 0;
    const mcr_template *tm = mcr_grid_template(t->grid, of);
    int64_t end = tm->first + tm->kernels * t->grid->settings, own[2 * MCR_MOST_AXES];
    int axes = mcr_grid_place(t->grid, of, own, size);
    for (int64_t p = tm->first; p < end; p++) {
        int moved = 0;
        bool near = true;
        mcr_grid_place(t->grid, p, at, size);
        for (int a = 0; a < axes; a++) {
            int64_t d = at[a] > own[a] ? at[a] - own[a] : own[a] - at[a];
            moved += d != 0;
            near &= d == 0 || d == stride[a];
        }
        if (near && moved && (axes <= 2 || moved == 1))
            point[count++] = p;
    }
    return count;
}

/* The best point of a template; -1: none. */
static int64_t best_of(const mcr_tried *t, const mcr_template *of)
{
    int64_t best = -1;
    for (int64_t p = of->first; p < of->first + of->kernels * t->grid->settings; p++)
        if (t->state[p] == MCR_POINT_DONE + 1 &&
            (best < 0 || is_better(t, mean_of(t, p), mean_of(t, best))))
            best = p;
    return best;
}

static bool halve(int64_t *stride, int axes)
{
    bool finer = false;
    for (int a = 0; a < axes; a++)
        if (stride[a] > 1) {
            stride[a] /= 2;
            finer = true;
        }
    return finer;
}

typedef struct lattice {
    const mcr_template *of;
    int axes;
    int64_t start[2 * MCR_MOST_AXES], stride[2 * MCR_MOST_AXES];
} lattice;

static lattice coarse(const mcr_tried *t, const mcr_template *of)
{
    int64_t at[2 * MCR_MOST_AXES], size[2 * MCR_MOST_AXES];
    lattice l = {.of = of, .axes = mcr_grid_place(t->grid, of->first, at, size)};
    for (int a = 0; a < l.axes; a++) {
        for (l.stride[a] = 1; (size[a] - 1) / l.stride[a] > COARSE_VALUES;)
            l.stride[a] *= 2;
        l.start[a] = (size[a] - 1) % l.stride[a] / 2;
    }
    return l;
}

static mcr_status refine(mcr_tried *t, lattice l, int64_t *point)
{
    mcr_status s = MCR_OK;
    bool fine = !halve(l.stride, l.axes);
    for (int64_t centre = best_of(t, l.of); centre >= 0 && !s && !fine;) {
        s = try_points(t, point, list_neighbours(t, centre, l.stride, point));
        int64_t next = best_of(t, l.of);
        if (next == centre)
            fine = !halve(l.stride, l.axes);
        centre = next;
    }
    return s;
}

static mcr_status try_coarse_to_fine(mcr_tried *t)
{
    const mcr_grid *g = t->grid;
    int64_t *point = mcr_alloc(t->ctx, (size_t)g->points, sizeof *point);
    mcr_status s = point ? MCR_OK : MCR_NO_MEMORY;
    /* All coarse ones first: the more is known, the more is left out. */
    for (int64_t i = 0; i < g->templates && !s; i++) {
        lattice l = coarse(t, &g->template[i]);
        s = try_points(t, point, list_lattice(t, l.of, l.start, l.stride, point));
    }
    for (int64_t i = 0; i < g->templates && !s; i++)
        s = refine(t, coarse(t, &g->template[i]), point);
    mcr_free(t->ctx, point);
    return s;
}

/* ---- the search --------------------------------------------------------------------------------*/

static uint32_t mix(uint32_t a, uint32_t b)
{
    return mcr_checksum(&(uint32_t[2]){a, b}, sizeof(uint32_t[2]));
}

static uint32_t mix_bytes(uint32_t sum, const void *bytes, size_t count)
{
    return bytes ? mix(sum, mcr_checksum(bytes, count)) : mix(sum, 0);
}

static uint32_t mix_data(uint32_t sum, const mcr_data *d)
{
    size_t n = (size_t)d->count;
    sum = mix_bytes(sum, d->target, sizeof *d->target * n);
    sum = mix_bytes(sum, d->class_of, sizeof *d->class_of * n);
    sum = mix_bytes(sum, d->weight, sizeof *d->weight * n);
    sum = mix_bytes(sum, d->rows, sizeof *d->rows * n);
    for (int64_t f = 0; f < d->fields; f++) {
        const mcr_store *s = d->store[f];
        size_t rows = (size_t)s->count, entries = s->start ? (size_t)s->start[s->count] : 0;
        sum = mix_bytes(sum, s->name, strlen(s->name));
        sum = mix_bytes(sum, s->dense, sizeof *s->dense * rows * (size_t)s->cols);
        sum = mix_bytes(sum, s->start, sizeof *s->start * (rows + 1));
        sum = mix_bytes(sum, s->index, sizeof *s->index * entries);
        sum = mix_bytes(sum, s->value, sizeof *s->value * entries);
        sum = mix_bytes(sum, s->bytes, entries);
        sum = mix_bytes(sum, s->link, s->link ? sizeof *s->link * (entries + 1) : 0);
        sum = mix_bytes(sum, s->adjacent,
                        s->link ? sizeof *s->adjacent * (size_t)s->link[entries] : 0);
        sum = mix_bytes(sum, s->node_label, sizeof *s->node_label * entries);
    }
    return sum;
}

/* All that decides the result. */
static mcr_status fingerprint(uint32_t *out, const mcr_tried *t, const mcr_search *search)
{
    mcr_text text;
    mcr_text_init(&text, t->ctx);
    mcr_status s = mcr_options_print(t->grid->options, &text);
    mcr_text_format(&text, "|%s|%lld", mcr_version(), (long long)t->data->first);
    mcr_text_format(&text, "|%s|%s|%d|%llu|%lld", t->grid->options->type->name,
                    t->metric->info.name, search->adaptive != 0,
                    (unsigned long long)mcr_seed(t->ctx), (long long)t->count);
    for (int64_t i = 0; i < t->grid->templates; i++)
        mcr_text_format(&text, "|%d %s", (int)t->grid->template[i].scale,
                        t->grid->template[i].text);
    for (int a = 0; a < t->grid->axes; a++) {
        mcr_text_format(&text, "|%s", t->grid->axis[a].option->name);
        mcr_text_add(&text, t->grid->axis[a].values.values,
                     sizeof(double) * (size_t)t->grid->axis[a].values.count);
    }
    for (int64_t i = 0; i < t->count && !s; i++) {
        int64_t *rows = mcr_alloc(t->ctx, (size_t)mcr_data_count(t->data), sizeof *rows);
        int64_t count = rows ? mcr_splits_rows(t->splits, i, 1, rows) : 0;
        mcr_text_format(
            &text, "|%08x",
            (unsigned)mcr_checksum(rows ? (void *)rows : "", sizeof *rows * (size_t)count));
        s = rows ? MCR_OK : MCR_NO_MEMORY;
        mcr_free(t->ctx, rows);
    }
    s = s ? s : text.status;
    *out = s ? 0 : mix_data(mcr_checksum(text.bytes, (size_t)text.length), t->data);
    mcr_text_free(&text);
    return s;
}

static mcr_status open_search(mcr_tried *t, const mcr_options *options, const mcr_search *search)
{
    mcr_task task;
    uint32_t print = 0;
    mcr_status s = mcr_task_of(&task, options, t->data);
    if (!s)
        s = mcr_metric_choose(&t->metric, t->ctx, search->metric, task);
    if (!s)
        s = mcr_grid_open(&t->grid, options, search, t->data);
    if (!s)
        s = mcr_splits_open(&t->splits, t->ctx, t->data,
                            search->split.size ? &search->split : NULL);
    if (s)
        return s;
    t->count = mcr_splits_count(t->splits);
    if (mcr_splits_leave_one_out(t->splits) && !mcr_metric_of_one(t->metric))
        return mcr_fail(t->ctx, MCR_BAD_CALL,
                        "%s of one object says nothing, and leaving one out tests them one by one: "
                        "use folds",
                        t->metric->info.name);
    size_t points = (size_t)t->grid->points;
    t->score = mcr_alloc(t->ctx, points * (size_t)t->count, sizeof *t->score);
    t->tested = mcr_alloc_zero(t->ctx, points, sizeof *t->tested);
    t->state = mcr_alloc_zero(t->ctx, points, 1);
    t->setting = mcr_alloc_zero(t->ctx, 2 * (size_t)t->grid->settings, sizeof *t->setting);
    t->room = mcr_alloc_zero(t->ctx, (size_t)mcr_workers(t->ctx), sizeof *t->room);
    t->shared = mcr_alloc_zero(t->ctx, points / (size_t)t->grid->settings, sizeof(mcr_data *));
    if (!t->score || !t->tested || !t->state || !t->setting || !t->room || !t->shared)
        return MCR_NO_MEMORY;
    for (int64_t i = 0; i < t->grid->points * t->count; i++)
        t->score[i] = NAN;
    if (search->checkpoint && !(s = fingerprint(&print, t, search)))
        s = mcr_checkpoint_open(&t->checkpoint, t->ctx, search->checkpoint, search->resume, print);
    /* From coarse to fine there are some 36 points, and twice 8 or more around the best. */
    t->expected = (double)t->count * (search->adaptive ? fmin((double)t->grid->points,
                                                              60.0 * (double)t->grid->templates)
                                                       : (double)t->grid->points);
    return s;
}

mcr_status mcr_search_run(mcr_tried *t, const mcr_options *options, const mcr_search *search,
                          const mcr_data *data)
{
    *t = (mcr_tried){.ctx = options->ctx, .data = data, .best = -1, .began = mcr_now()};
    if (search->size != sizeof *search)
        return mcr_fail(t->ctx, MCR_BAD_CALL, "search: its size is not set");
    mcr_status s = open_search(t, options, search);
    if (s)
        return s;
    mcr_progress at = {.size = sizeof at, .phase = "tune", .objective = NAN, .violation = NAN};
    t->covers = mcr_cover(t->ctx, &at);
    s = search->adaptive ? try_coarse_to_fine(t) : try_all(t);
    if (t->covers)
        mcr_uncover(t->ctx);
    if (!s && t->best < 0)
        s = mcr_fail(t->ctx, MCR_NUMERIC, "none of the %lld points could be trained: %s",
                     (long long)t->grid->points, t->message);
    return s;
}

void mcr_search_close(mcr_tried *t)
{
    mcr *ctx = t->ctx;
    for (int64_t i = 0; t->setting && i < 2 * t->grid->settings; i++)
        mcr_options_close(t->setting[i]);
    for (int w = 0; t->room && w < mcr_workers(ctx); w++)
        mcr_chain_room_free(ctx, &t->room[w]);
    for (int64_t k = 0; t->shared && k < t->grid->points / t->grid->settings; k++)
        mcr_data_free(t->shared[k]);
    mcr_free(ctx, t->shared);
    mcr_free(ctx, t->room);
    mcr_free(ctx, t->setting);
    mcr_free(ctx, t->score);
    mcr_free(ctx, t->tested);
    mcr_free(ctx, t->state);
    mcr_checkpoint_close(t->checkpoint);
    mcr_splits_close(t->splits);
    mcr_grid_close(t->grid);
    *t = (mcr_tried){0};
}
