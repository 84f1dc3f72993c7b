/* splits.c: splits into training and test objects.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>

#include "base/order.h"
#include "base/random.h"
#include "base/sized.h"
#include "select/select.h"

enum { DEFAULT_FOLDS = 5, MOST_SPLITS = 1000000 };

struct mcr_splits {
    mcr *ctx;
    int64_t n, count, folds;
    bool ordered;
    int32_t *fold; /* repeats x n: the fold of each object; ordered: its block, from 0 */
};

static mcr_status read_plan(mcr_split_plan *to, mcr *ctx, const mcr_data *data,
                            const mcr_split_plan *from)
{
    int64_t n = mcr_data_count(data);
    mcr_status s = MCR_SIZED_READ(mcr_split_plan, to, ctx, from);
    if (s)
        return s;
    if (to->kind < MCR_SPLIT_FOLDS || to->kind > MCR_SPLIT_LEAVE_ONE_OUT)
        return mcr_fail(ctx, MCR_BAD_CALL, "splits: there is no kind %d", (int)to->kind);
    to->folds = to->folds ? to->folds : DEFAULT_FOLDS;
    to->repeats = to->repeats ? to->repeats : 1;
    if (to->kind == MCR_SPLIT_LEAVE_ONE_OUT) {
        if (to->group || to->repeats > 1)
            return mcr_fail(ctx, MCR_BAD_CALL,
                            "leave-one-out has neither groups nor repeats: use folds");
        to->folds = n;
    }
    if (to->kind == MCR_SPLIT_ORDERED && (to->group || to->repeats > 1))
        return mcr_fail(ctx, MCR_BAD_CALL, "ordered splits have neither groups nor repeats");
    if (to->folds < 2 || to->repeats < 1 || to->folds > MOST_SPLITS / to->repeats)
        return mcr_fail(ctx, MCR_BAD_CALL,
                        "there must be at least 2 folds, and at most %d with all repeats",
                        MOST_SPLITS);
    if (n < to->folds + (to->kind == MCR_SPLIT_ORDERED))
        return mcr_advise(ctx,
                          mcr_fail(ctx, MCR_BAD_DATA, "%lld objects are too few for %lld folds",
                                   (long long)n, (long long)to->folds),
                          "option folds=2");
    return MCR_OK;
}

/* ---- dealing ----------------------------------------------------------------------------------*/

/* Stratified: distributes the objects in random order, class by class, so that each class and the
 * total are divided as evenly as possible. */
static mcr_status deal(mcr_splits *s, const mcr_data *data, bool plain, int64_t repeat)
{
    int32_t *fold = s->fold + repeat * s->n;
    /* Numbers count as classes, too, if each occurs often enough. */
    bool classes_count = mcr_data_target_kind(data) == MCR_WORD_TARGETS ||
                         mcr_data_classes(data) <= s->n / s->folds;
    const int32_t *class_of = plain || !classes_count ? NULL : mcr_data_class_of(data);
    int64_t classes = class_of ? mcr_data_classes(data) : 1;
    int64_t *order = mcr_alloc(s->ctx, (size_t)s->n, sizeof *order);
    int64_t *next = mcr_alloc_zero(s->ctx, (size_t)classes + 1, sizeof *next);
    if (order && next) {
        for (int64_t i = 0; i < s->n; i++) {
            order[i] = i;
            next[(class_of ? class_of[i] : 0) + 1]++;
        }
        for (int64_t c = 1; c <= classes; c++) /* where each class begins */
            next[c] += next[c - 1];
        mcr_random r = mcr_random_stream(mcr_seed(s->ctx), "folds", (uint64_t)repeat);
        mcr_random_shuffle(&r, order, s->n);
        for (int64_t t = 0; t < s->n; t++)
            fold[order[t]] = (int32_t)(next[class_of ? class_of[order[t]] : 0]++ % s->folds);
    }
    bool short_of = !order || !next;
    mcr_free_all(s->ctx, order, next);
    return short_of ? MCR_NO_MEMORY : MCR_OK;
}

typedef struct group {
    int64_t number, count, place; /* place: random order among groups of one size */
    int32_t fold;
} group;

static int larger_first(const void *a, const void *b)
{
    const group *x = a, *y = b;
    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    return (x->place > y->place) - (x->place < y->place);
}

static int64_t list_groups(group *g, const int64_t *number, int64_t n)
{
    int64_t groups = 0;
    for (int64_t i = 0; i < n; i++)
        g[i] = (group){.number = number[i], .count = 1};
    qsort(g, (size_t)n, sizeof *g, mcr_int64_rising);
    for (int64_t i = 0; i < n; i++) {
        if (groups && g[groups - 1].number == g[i].number)
            g[groups - 1].count++;
        else
            g[groups++] = g[i];
    }
    return groups;
}

/* Whole groups, the largest first, each to the fold with the fewest objects. */
static mcr_status deal_groups(mcr_splits *s, const int64_t *number, int64_t repeat)
{
    mcr *ctx = s->ctx;
    int32_t *fold = s->fold + repeat * s->n;
    group *g = mcr_alloc(ctx, (size_t)s->n, sizeof *g);
    int64_t *order = mcr_alloc(ctx, (size_t)s->n, sizeof *order);
    int64_t *filled = mcr_alloc_zero(ctx, (size_t)s->folds, sizeof *filled);
    mcr_status st = g && order && filled ? MCR_OK : MCR_NO_MEMORY;
    int64_t groups = st ? 0 : list_groups(g, number, s->n);
    if (!st && groups < s->folds)
        st = mcr_fail(ctx, MCR_BAD_DATA, "%lld groups are too few for %lld folds",
                      (long long)groups, (long long)s->folds);
    if (!st) {
        for (int64_t i = 0; i < groups; i++)
            order[i] = i;
        mcr_random r = mcr_random_stream(mcr_seed(ctx), "folds of groups", (uint64_t)repeat);
        mcr_random_shuffle(&r, order, groups);
        for (int64_t i = 0; i < groups; i++)
            g[i].place = order[i];
        qsort(g, (size_t)groups, sizeof *g, larger_first);
        for (int64_t i = 0; i < groups; i++) {
            for (int64_t f = 1; f < s->folds; f++)
                if (filled[f] < filled[g[i].fold])
                    g[i].fold = (int32_t)f;
            filled[g[i].fold] += g[i].count;
        }
        qsort(g, (size_t)groups, sizeof *g, mcr_int64_rising);
        for (int64_t i = 0; i < s->n; i++) {
            const group *of = bsearch(&(group){.number = number[i]}, g, (size_t)groups, sizeof *g,
                                      mcr_int64_rising);
            fold[i] = of->fold;
        }
    }
    mcr_free_all(ctx, g, order, filled);
    return st;
}

mcr_status mcr_splits_open(mcr_splits **out, mcr *ctx, const mcr_data *data,
                           const mcr_split_plan *plan)
{
    mcr_split_plan p;
    *out = NULL;
    mcr_status st = read_plan(&p, ctx, data, plan);
    if (st)
        return st;
    mcr_splits *s = mcr_alloc_zero(ctx, 1, sizeof *s);
    if (!s)
        return MCR_NO_MEMORY;
    int64_t n = mcr_data_count(data);
    *s = (mcr_splits){.ctx = ctx,
                      .n = n,
                      .count = p.folds * p.repeats,
                      .folds = p.folds,
                      .ordered = p.kind == MCR_SPLIT_ORDERED};
    s->fold = mcr_alloc(ctx, (uint64_t)(n * p.repeats), sizeof *s->fold);
    if (!s->fold)
        st = MCR_NO_MEMORY;
    for (int64_t i = 0; i < n && !st && p.kind != MCR_SPLIT_FOLDS; i++)
        s->fold[i] = (int32_t)(s->ordered ? i * (p.folds + 1) / n : i);
    for (int64_t r = 0; r < p.repeats && !st && p.kind == MCR_SPLIT_FOLDS; r++)
        st = p.group ? deal_groups(s, p.group, r) : deal(s, data, p.plain, r);
    if (st)
        mcr_splits_close(s);
    else
        *out = s;
    return st;
}

void mcr_splits_close(mcr_splits *s)
{
    if (!s)
        return;
    mcr_free_all(s->ctx, s->fold, s);
}

int64_t mcr_splits_repeats(const mcr_splits *s)
{
    return s->count / s->folds;
}

bool mcr_splits_leave_one_out(const mcr_splits *s)
{
    bool alone = s->folds == s->n && s->count == s->n && !s->ordered;
    for (int64_t i = 0; i < s->n && alone; i++)
        alone = s->fold[i] == i;
    return alone;
}

const int32_t *mcr_splits_folds(const mcr_splits *s, int64_t repeat, int64_t *folds)
{
    *folds = s->folds;
    return s->ordered ? NULL : s->fold + repeat * s->n;
}

int64_t mcr_splits_objects(const mcr_splits *s)
{
    return s->n;
}

int64_t mcr_splits_count(const mcr_splits *s)
{
    return s->count;
}

int64_t mcr_splits_rows(const mcr_splits *s, int64_t split, int test, int64_t *rows)
{
    if (split < 0 || split >= s->count)
        return 0;
    const int32_t *fold = s->fold + split / s->folds * s->n;
    int64_t number = split % s->folds, count = 0;
    for (int64_t i = 0; i < s->n; i++) {
        bool tested = s->ordered ? fold[i] == number + 1 : fold[i] == number;
        bool trains = s->ordered ? fold[i] <= number : !tested;
        if (test ? !tested : !trains)
            continue;
        if (rows)
            rows[count] = i;
        count++;
    }
    return count;
}

mcr_status mcr_pick_groups(int64_t **out, mcr *ctx, const int64_t *groups, const int64_t *rows,
                           int64_t count)
{
    *out = NULL;
    if (!groups)
        return MCR_OK;
    if (!(*out = mcr_alloc(ctx, (size_t)count, sizeof **out)))
        return MCR_NO_MEMORY;
    for (int64_t i = 0; i < count; i++)
        (*out)[i] = groups[rows[i]];
    return MCR_OK;
}
