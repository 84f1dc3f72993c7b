/* search.c: evaluates the points of a grid, all of them or from coarse to fine.
 *
 * From coarse to fine: first a lattice of five or six values per axis, then the neighbours of the
 * best point at half the distance, until it has no better neighbour at distance one; for each
 * kernel that is not far behind the best. Scores over log C and log gamma are smooth ridges and
 * plateaus, which such a search finds with a tenth of the trainings, and without a model of the
 * scores that would have to be fitted itself. If there are many objects, and the search chooses
 * kernels and ranges itself, it runs on a subset, and the best points are compared and refined on
 * all objects.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "select/search.h"

#include <math.h>
#include <string.h>

#include "base/sized.h"
#include "base/stream.h"
#include "base/team.h"
#include "base/threads.h"

enum { COARSE_VALUES = 5 };
enum { MANY = 500 }; /* objects: with fewer, one split is not enough to drop points */
enum { QUICK_OBJECTS = 1000 };
/* A search that chooses kernels itself starts with this many objects, this many per class, and
 * evaluates this many of the best points, and the best of each kernel, on all objects. */
enum { FEW_OBJECTS = 1200, FEW_EACH = 60, FINALISTS = 6 };

/* ---- which points -----------------------------------------------------------------------------*/

/* The points of a template whose indices are multiples of the strides, from `start` on each
 * axis. */
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
            (best < 0 || mcr_tried_better(t, mcr_tried_mean(t, p), mcr_tried_mean(t, best))))
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
    bool done; /* refining does not pay */
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

/* Moves from the best point to better neighbours at half the distance. */
static mcr_status refine(mcr_tried *t, lattice *l, int64_t *point)
{
    mcr_status s = MCR_OK;
    int64_t centre = best_of(t, l->of);
    l->done = centre < 0 || !halve(l->stride, l->axes);
    for (bool moved = !l->done; moved && !s;) {
        s = mcr_try_points(t, point, list_neighbours(t, centre, l->stride, point));
        int64_t next = best_of(t, l->of);
        moved = next != centre;
        centre = next;
    }
    return s;
}

/* Whether a template may still contain the best point: not if its best score so far is behind by
 * more than twice the standard deviation between splits. */
static bool is_near(const mcr_tried *t, const mcr_template *of)
{
    int64_t own = best_of(t, of);
    double behind = own < 0 ? 0 : fabs(mcr_tried_mean(t, t->best) - mcr_tried_mean(t, own));
    return !(behind > 2 * mcr_standard_deviation(t->score + t->best * t->count, t->count));
}

/* The coarse lattices: the forms of a table race against each other, and a form without surviving
 * points is not refined. */
static mcr_status try_coarse(mcr_tried *t, lattice *l, int64_t *point)
{
    int64_t count = 0;
    mcr_status s = MCR_OK;
    for (int64_t i = 0; i < t->grid->templates && !s; i++) {
        l[i] = coarse(t, &t->grid->template[i]);
        count += list_lattice(t, l[i].of, l[i].start, l[i].stride, point + count);
        if (t->grid->forms)
            continue;
        s = mcr_try_points(t, point, count);
        count = 0;
    }
    t->races = t->grid->forms && mcr_data_count(t->data) >= MANY;
    if (!s && count)
        s = mcr_try_points(t, point, count);
    t->races = false;
    return s;
}

/* All lattices of one resolution before the next: more results allow more pruning. The coarse ones
 * alone are not enough to drop a kernel. */
static mcr_status try_lattices(mcr_tried *t, lattice *l, int64_t *point)
{
    int64_t count = t->grid->templates;
    mcr_status s = try_coarse(t, l, point);
    for (bool finer = true; finer && !s;) {
        finer = false;
        for (int64_t i = 0; i < count && !s; i++)
            if (!l[i].done)
                s = refine(t, &l[i], point);
        for (int64_t i = 0; i < count && !s; i++) {
            l[i].done |= t->best < 0 || !is_near(t, l[i].of);
            finer |= !l[i].done;
        }
    }
    return s;
}

static mcr_status try_coarse_to_fine(mcr_tried *t)
{
    int64_t *point = mcr_alloc(t->ctx, (size_t)t->grid->points, sizeof *point);
    lattice *l = mcr_alloc(t->ctx, (size_t)t->grid->templates, sizeof *l);
    mcr_status s = point && l ? try_lattices(t, l, point) : MCR_NO_MEMORY;
    mcr_free_all(t->ctx, point, l);
    return s;
}

/* ---- points beside the grid -------------------------------------------------------------------*/

static bool resize(mcr *ctx, void *block, int64_t count, size_t size)
{
    void **at = block, *more = mcr_resize(ctx, *at, (size_t)count, size);
    if (more)
        *at = more;
    return more != NULL;
}

mcr_status mcr_tried_add(mcr_tried *t, const char *text, mcr_scale scale)
{
    mcr_grid *g = t->grid;
    int64_t old = g->points, points = old + g->settings;
    /* Before the grid grows: arrays are freed by its size. */
    if (!resize(t->ctx, &t->score, points * t->count, sizeof *t->score) ||
        !resize(t->ctx, &t->tested, points, sizeof *t->tested) ||
        !resize(t->ctx, &t->state, points, 1) ||
        !resize(t->ctx, &t->kept, points / g->settings, sizeof *t->kept))
        return MCR_NO_MEMORY;
    for (int64_t i = old * t->count; i < points * t->count; i++)
        t->score[i] = NAN;
    memset(t->tested + old, 0, sizeof *t->tested * (size_t)(points - old));
    memset(t->state + old, 0, (size_t)(points - old));
    t->kept[old / g->settings] = (mcr_path_space){0};
    return mcr_grid_add(g, text, scale);
}

/* ---- fingerprint ------------------------------------------------------------------------------*/

static uint32_t mix(uint32_t a, uint32_t b)
{
    return mcr_checksum(&(uint32_t[2]){a, b}, sizeof(uint32_t[2]));
}

static uint32_t mix_bytes(uint32_t sum, const void *bytes, size_t count)
{
    return bytes ? mix(sum, mcr_checksum(bytes, count)) : mix(sum, 0);
}

/* Values of vectors in the user's own layout. */
static uint32_t mix_lent(uint32_t sum, const mcr_store *s)
{
    for (int64_t r = 0; s->lent.value && r < s->count; r++) {
        mcr_vector x = mcr_store_vector(s, r);
        for (int64_t e = 0; e < x.count; e++) {
            double entry[2] = {(double)mcr_vector_column(&x, e), mcr_vector_value(&x, e)};
            sum = mix_bytes(sum, entry, sizeof entry);
        }
    }
    return sum;
}

uint32_t mcr_search_mix(uint32_t sum, const mcr_data *d)
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
        sum = mix_lent(sum, s);
        sum = mix_bytes(sum, s->bytes, entries);
        sum = mix_bytes(sum, s->link, s->link ? sizeof *s->link * (entries + 1) : 0);
        sum = mix_bytes(sum, s->adjacent,
                        s->link ? sizeof *s->adjacent * (size_t)s->link[entries] : 0);
        sum = mix_bytes(sum, s->node_label, sizeof *s->node_label * entries);
    }
    return sum;
}

/* Everything that determines the result. */
static mcr_status fingerprint(uint32_t *out, const mcr_tried *t, const mcr_search *search)
{
    mcr_text text;
    mcr_text_init(&text, t->ctx);
    mcr_status s = mcr_options_print_problem(t->grid->options, &text);
    mcr_text_format(&text, "|%s|%lld|%d|early", mcr_version(), (long long)t->data->first,
                    FEW_OBJECTS);
    mcr_text_format(&text, "|%s|%s|%d|%d|%d|%llu|%lld", t->grid->options->type->name,
                    t->metric->info.name, search->adaptive != 0, search->relevance != 0, t->races,
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
    *out = s ? 0 : mcr_search_mix(mcr_checksum(text.bytes, (size_t)text.length), t->data);
    mcr_text_free(&text);
    return s;
}

/* Whether paths store kernel values depends on the budget, never on threads: there must be space
 * for two workers. If there is space for fewer workers than threads, fewer run concurrently. All of
 * it is taken here, so that no worker runs out. */
static mcr_status plan_workers(mcr_tried *t)
{
    enum { FEWEST = 2 };
    size_t each = 0, left = mcr_budget_left(t->ctx);
    size_t others = (size_t)(MCR_SHARED_PART * (double)mcr_memory_budget(t->ctx));
    t->workers = mcr_workers(t->ctx); /* within a parallel loop it would be 1 */
    if (t->grid->settings < 2)
        return MCR_OK;
    /* In time order the first split has the fewest training objects; otherwise they are nearly
     * equal. */
    int64_t fewest = mcr_splits_rows(t->splits, 0, 0, NULL);
    mcr_status s = mcr_path_bytes(&each, t->grid->options, t->data, fewest);
    /* Half as much again is reserved for kernels and solvers. */
    size_t most = s || each == 0 || left <= others ? 0 : (left - others) / (each + each / 2);
    if (most < FEWEST)
        return s;
    if (most < (size_t)t->workers)
        t->workers = (int)most;
    s = mcr_budget_take(t->ctx, each * (size_t)t->workers, "kernel values that trainings share");
    t->keeps = !s;
    t->space_bytes = s ? 0 : each * (size_t)t->workers;
    return s;
}

/* About `wanted` of many objects, with the classes in the same proportions: the test set of a fold
 * of that size. *group: their groups. */
static mcr_status draw_objects(mcr_tried *t, const mcr_search *search, int64_t wanted,
                               int64_t **group)
{
    int64_t n = mcr_data_count(t->all), count = 0, *rows = NULL;
    mcr_split_plan plan = MCR_INIT(mcr_split_plan);
    mcr_splits *shares = NULL;
    if (n <= wanted + wanted / 2)
        return MCR_OK;
    plan.folds = (n + wanted / 2) / wanted;
    mcr_status s = mcr_splits_open(&shares, t->ctx, t->all, &plan);
    if (!s && !(rows = mcr_alloc(t->ctx, (size_t)n, sizeof *rows)))
        s = MCR_NO_MEMORY;
    if (!s) {
        count = mcr_splits_rows(shares, 0, 1, rows);
        s = mcr_data_select(&t->some, t->all, (mcr_rows){rows, 0, count});
    }
    if (!s) {
        t->some->positive = mcr_data_positive(t->all) + 1;
        t->data = t->some;
        s = mcr_pick_groups(group, t->ctx, search->split ? search->split->group : NULL, rows,
                            count);
    }
    mcr_splits_close(shares);
    mcr_free(t->ctx, rows);
    return s;
}

static mcr_status open_search(mcr_tried *t, const mcr_options *options, const mcr_search *search)
{
    uint32_t print = 0;
    mcr_status s = mcr_task_of(&t->task, options, t->data);
    if (!s)
        s = mcr_metric_choose(&t->metric, t->ctx, search->metric, t->task);
    if (!s)
        s = mcr_grid_open(&t->grid, options, search, t->data);
    if (!s)
        s = mcr_splits_open(&t->splits, t->ctx, t->data, search->split);
    if (s)
        return s;
    t->count = mcr_splits_count(t->splits);
    if (mcr_splits_leave_one_out(t->splits) && !t->metric->of_one)
        return mcr_fail(t->ctx, MCR_BAD_CALL,
                        "%s of one object is not meaningful, and leave-one-out tests them one by "
                        "one: use folds",
                        t->metric->info.name);
    size_t points = (size_t)t->grid->points;
    t->score = mcr_alloc(t->ctx, points * (uint64_t)t->count, sizeof *t->score);
    t->tested = mcr_alloc_zero(t->ctx, points, sizeof *t->tested);
    t->state = mcr_alloc_zero(t->ctx, points, 1);
    t->setting = mcr_alloc_zero(t->ctx, 2 * (uint64_t)t->grid->settings, sizeof *t->setting);
    if ((s = plan_workers(t)))
        return s;
    t->space = mcr_alloc_zero(t->ctx, 2 * (uint64_t)t->workers, sizeof *t->space);
    t->kept = mcr_alloc_zero(t->ctx, points / (size_t)t->grid->settings, sizeof *t->kept);
    if (!t->score || !t->tested || !t->state || !t->setting || !t->space || !t->kept)
        return MCR_NO_MEMORY;
    for (int64_t i = 0; i < t->grid->points * t->count; i++)
        t->score[i] = NAN;
    const mcr_team *team = mcr_team_of_tasks(t->ctx);
    if (search->checkpoint || team)
        s = fingerprint(&print, t, search);
    if (!s)
        s = mcr_team_check_data(t->ctx, print);
    if (!s && search->checkpoint && (!team || team->rank == 0)) /* reads and writes it for all */
        s = mcr_checkpoint_open(&t->checkpoint, t->ctx, search->checkpoint, search->resume, print);
    /* From coarse to fine there are about 36 points, and two rounds of 8 or more around the
     * best. */
    t->expected = (double)t->count * (search->adaptive ? fmin((double)t->grid->points,
                                                              60.0 * (double)t->grid->templates)
                                                       : (double)t->grid->points);
    if (search->relevance &&
        mcr_relevance_possible(t)) /* one round that improves, one that does not */
        t->expected += 2 * (double)t->count * mcr_relevance_points(t);
    return s;
}

/* ---- some of the objects first ----------------------------------------------------------------*/

static int64_t few_objects(const mcr_tried *t)
{
    int64_t each = t->task == MCR_CLASSIFY ? FEW_EACH * mcr_data_classes(t->all) : 0;
    return each > FEW_OBJECTS ? each : FEW_OBJECTS;
}

/* Whether a subset may be used: by a search that chooses kernels and ranges itself, with folds. */
static bool may_use_few(const mcr_tried *t, const mcr_search *search, const mcr_split_plan *plan)
{
    return search->adaptive && !search->kernels && !search->ranges && !t->grid->forms &&
           plan->kind == MCR_SPLIT_FOLDS && !plan->group;
}

/* The best points, ascending: the best overall, and the best of each template that is not far
 * behind. */
static int64_t list_finalists(const mcr_tried *t, int64_t *point)
{
    int64_t count = 0;
    for (int64_t p = 0; p < t->grid->points; p++) {
        int64_t ahead = 0;
        bool done = t->state[p] == MCR_POINT_DONE + 1;
        const mcr_template *of = mcr_grid_template(t->grid, p);
        for (int64_t q = 0; q < t->grid->points && done; q++)
            ahead += t->state[q] == MCR_POINT_DONE + 1 &&
                     (mcr_tried_better(t, mcr_tried_mean(t, q), mcr_tried_mean(t, p)) ||
                      (q < p && mcr_tried_mean(t, q) == mcr_tried_mean(t, p)));
        if (done && (ahead < FINALISTS || (best_of(t, of) == p && is_near(t, of))))
            point[count++] = p;
    }
    return count;
}

/* Frees kernel values before other objects are searched on. */
static void drop_values(mcr_tried *t)
{
    for (int w = 0; w < 2 * t->workers; w++)
        mcr_path_space_free(t->ctx, &t->space[w]);
    for (int64_t k = 0; k < t->grid->points / t->grid->settings; k++)
        mcr_path_space_free(t->ctx, &t->kept[k]);
    mcr_budget_give(t->ctx, t->kept_bytes);
    t->kept_bytes = 0;
}

void mcr_tried_forget(mcr_tried *t, int64_t p)
{
    for (int64_t split = 0; split < t->count; split++)
        t->score[p * t->count + split] = NAN;
    t->tested[p] = 0;
    t->state[p] = 0;
}

mcr_status mcr_tried_use_few(mcr_tried *t, const mcr_search *search, const mcr_split_plan *plan)
{
    int64_t *group = NULL;
    mcr_splits *splits = NULL;
    mcr_status s = t->some ? MCR_OK : draw_objects(t, search, few_objects(t), &group);
    mcr_free(t->ctx, group);
    t->data = t->all;
    if (!s && t->some)
        s = mcr_splits_open(&splits, t->ctx, t->some, plan);
    if (s || !splits || mcr_splits_count(splits) != t->count) {
        mcr_splits_close(splits);
        return s;
    }
    drop_values(t);
    t->data = t->some;
    t->aside = t->splits;
    t->splits = splits;
    return MCR_OK;
}

void mcr_tried_use_all(mcr_tried *t)
{
    if (!t->aside)
        return;
    drop_values(t);
    mcr_splits_close(t->splits);
    t->splits = t->aside;
    t->aside = NULL;
    t->data = t->all;
}

/* The search on a subset; the remaining points are stored in `point`. None, if the subset cannot be
 * split like the whole. The scores of a search that is stopped here are kept, because nothing
 * better is known. */
static mcr_status try_few(mcr_tried *t, const mcr_search *search, const mcr_split_plan *plan,
                          int64_t *point, int64_t *count)
{
    mcr_status s = mcr_tried_use_few(t, search, plan);
    if (!s && t->aside)
        s = try_coarse_to_fine(t);
    *count = s || t->best < 0 ? 0 : list_finalists(t, point);
    mcr_tried_use_all(t);
    if (s == MCR_STOPPED)
        return s;
    for (int64_t p = 0; p < t->grid->points; p++)
        mcr_tried_forget(t, p);
    t->best = -1;
    return s == MCR_NO_MEMORY ? s : MCR_OK;
}

/* Evaluates the finalists on all objects, then better neighbours of the best of each kernel that is
 * not far behind, until there are none. */
static mcr_status try_finalists(mcr_tried *t, int64_t *point, int64_t count)
{
    mcr_status s = mcr_try_points(t, point, count);
    for (int64_t i = 0; i < t->grid->templates && !s && t->best >= 0; i++) {
        lattice l = {.of = &t->grid->template[i], .axes = 2 * MCR_MOST_AXES};
        for (int a = 0; a < l.axes; a++)
            l.stride[a] = 2;
        if (best_of(t, l.of) >= 0 && is_near(t, l.of))
            s = refine(t, &l, point);
    }
    return s;
}

static mcr_status try_few_first(mcr_tried *t, const mcr_search *search)
{
    mcr_split_plan plan;
    int64_t count = 0;
    int64_t *point = mcr_alloc(t->ctx, (size_t)t->grid->points, sizeof *point);
    mcr_status s = point ? MCR_SIZED_READ(mcr_split_plan, &plan, t->ctx, search->split)
                         : MCR_NO_MEMORY;
    bool chooses = !s && may_use_few(t, search, &plan);
    t->early = chooses && mcr_data_count(t->all) >= MANY;
    if (chooses && mcr_data_count(t->all) >= 2 * few_objects(t))
        s = try_few(t, search, &plan, point, &count);
    if (!s && count)
        s = try_finalists(t, point, count);
    else if (!s)
        s = try_coarse_to_fine(t);
    mcr_free(t->ctx, point);
    return s;
}

/* ---- the search -------------------------------------------------------------------------------*/

/* Sets up a quick search: its data and settings. */
static mcr_status open_quick(mcr_tried *t, const mcr_options *options, mcr_search *search)
{
    mcr_split_plan plan;
    int64_t *group = NULL;
    if (!options->type->usual.quick || search->kernels || search->ranges)
        return mcr_fail(t->ctx, MCR_BAD_CALL,
                        "%s: a quick search chooses kernel and options itself, for svm and svr",
                        options->type->name);
    mcr_status s = MCR_SIZED_READ(mcr_split_plan, &plan, t->ctx, search->split);
    if (!s)
        s = draw_objects(t, search, QUICK_OBJECTS, &group);
    if (group)
        plan.group = group;
    search->adaptive = search->relevance = 0;
    search->split = &plan;
    t->quick = true;
    t->races = mcr_data_count(t->data) >= MANY;
    if (!s)
        s = open_search(t, options, search);
    search->split = NULL;
    mcr_free(t->ctx, group);
    return s;
}

/* For a stopped search: the tested points, and the best of them. Points of an unfinished batch have
 * scores, but no state. */
static mcr_status keep_leading(mcr_tried *t, const mcr_search *search, mcr_status s)
{
    bool late = mcr_deadline_over(t->ctx);
    if (s != MCR_STOPPED || !(late || search->best_so_far))
        return s;
    /* With several processes each knows only a part of the scores. */
    if (mcr_team_of_tasks(t->ctx))
        return late ? mcr_fail(t->ctx, MCR_STOPPED,
                               "the time limit was reached: a search on several processes has no "
                               "best point so far, but continues from its checkpoint")
                    : s;
    int64_t best = mcr_tried_leading(t);
    if (best < 0)
        return late ? mcr_fail(t->ctx, MCR_STOPPED,
                               "the time limit was reached before a point was tested: allow more")
                    : s;
    for (int64_t p = 0; p < t->grid->points; p++) {
        int32_t tested = 0;
        while (tested < t->count && isfinite(t->score[p * t->count + tested]))
            tested++;
        if (t->state[p] == 1 + MCR_POINT_FAILED)
            continue;
        t->tested[p] = tested;
        t->state[p] = tested == 0          ? 0
                      : tested == t->count ? 1 + MCR_POINT_DONE
                                           : 1 + MCR_POINT_BEATEN;
    }
    t->state[best] = 1 + MCR_POINT_DONE;
    t->best = best;
    t->stopped = late ? MCR_STOP_TIME : MCR_STOP_INTERRUPTED;
    return MCR_OK;
}

static mcr_status determine_relevance(mcr_tried *t, const mcr_search *search)
{
    mcr_split_plan plan;
    mcr_status s = MCR_SIZED_READ(mcr_split_plan, &plan, t->ctx, search->split);
    if (s)
        return s;
    s = mcr_relevance_search(t, search, may_use_few(t, search, &plan) ? &plan : NULL);
    mcr_tried_use_all(t);
    return s;
}

mcr_status mcr_search_run(mcr_tried *t, const mcr_options *options, const mcr_search *given,
                          const mcr_data *data)
{
    *t = (mcr_tried){.ctx = options->ctx,
                     .data = data,
                     .all = data,
                     .best = -1,
                     .began = mcr_now(),
                     .so_far = NAN};
    mcr_search full;
    mcr_status s = MCR_SIZED_READ(mcr_search, &full, t->ctx, given);
    const mcr_search *search = &full;
    if (!s)
        s = full.quick ? open_quick(t, options, &full) : open_search(t, options, search);
    if (s)
        return s;
    mcr_progress at = {.phase = "tune", .objective = NAN, .violation = NAN};
    mcr_deadline_set(t->ctx, mcr_time_limit(options));
    t->covers = mcr_cover(t->ctx, &at);
    s = search->adaptive ? try_few_first(t, search) : mcr_try_points(t, NULL, t->grid->points);
    t->from = t->best;
    if (!s && t->best >= 0 && search->relevance && mcr_relevance_possible(t))
        s = determine_relevance(t, search);
    s = keep_leading(t, search, s);
    if (t->stopped)
        t->from = t->best;
    if (t->covers)
        mcr_uncover(t->ctx);
    mcr_deadline_set(t->ctx, 0);
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
    for (int w = 0; t->space && w < 2 * t->workers; w++)
        mcr_path_space_free(ctx, &t->space[w]);
    for (int64_t k = 0; t->kept && k < t->grid->points / t->grid->settings; k++)
        mcr_path_space_free(ctx, &t->kept[k]);
    mcr_free(ctx, t->kept);
    mcr_budget_give(ctx, t->kept_bytes + t->space_bytes);
    mcr_free_all(ctx, t->space, t->setting, t->score, t->tested, t->state);
    mcr_checkpoint_close(t->checkpoint);
    mcr_splits_close(t->splits);
    mcr_grid_close(t->grid);
    mcr_data_free(t->some);
    *t = (mcr_tried){0};
}
