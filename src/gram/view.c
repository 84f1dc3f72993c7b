/* view.c: a Gram of some runs of another Gram's objects.
 *
 * Problems that share objects, such as the pairs of many classes, are views of one binding, which
 * is planned and packed once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gram/view.h"

#include <assert.h>

#include "gram/bound.h"

typedef struct view {
    mcr_gram base;
    bool owns; /* base.of */
    mcr_rows run[MCR_VIEW_RUNS];
    mcr_gram *exact; /* the same objects bound for themselves; NULL: not yet */
} view;

static const mcr_gram_type view_type;

static void close_view(mcr_gram *gram)
{
    view *v = (view *)gram;
    mcr_gram_close(v->exact);
    if (v->owns)
        mcr_gram_close(v->base.of);
    mcr_free(gram->ctx, v);
}

mcr_status mcr_gram_view(mcr_gram **out, mcr_gram *of, const mcr_rows run[MCR_VIEW_RUNS])
{
    assert(mcr_gram_as_bound(of) && of->symmetric && !run[0].index && !run[1].index);
    *out = NULL;
    view *v = mcr_alloc_zero(of->ctx, 1, sizeof *v);
    if (!v)
        return MCR_NO_MEMORY;
    v->base = (mcr_gram){.type = &view_type, .ctx = of->ctx, .of = of, .symmetric = true};
    for (int r = 0; r < MCR_VIEW_RUNS; r++)
        v->base.rows += run[r].count;
    v->base.cols = v->base.rows;
    for (int r = 0; r < MCR_VIEW_RUNS; r++)
        v->run[r] = run[r];
    *out = &v->base;
    return MCR_OK;
}

static int64_t object_of(const view *v, int64_t i)
{
    return i < v->run[0].count ? v->run[0].first + i : v->run[1].first + i - v->run[0].count;
}

/* The objects' numbers in the other Gram; *list is the caller's. */
static mcr_status map_rows(int64_t **list, const view *v, mcr_rows rows)
{
    *list = mcr_alloc(v->base.ctx, (size_t)rows.count, sizeof **list);
    for (int64_t i = 0; i < rows.count && *list; i++)
        (*list)[i] = object_of(v, mcr_rows_at(rows, i));
    return *list ? MCR_OK : MCR_NO_MEMORY;
}

static mcr_status select_rows(mcr_data **out, const view *v, mcr_rows rows)
{
    int64_t *list = NULL;
    mcr_status s = map_rows(&list, v, rows);
    if (!s)
        s = mcr_data_select(out, mcr_gram_as_bound(v->base.of)->x, (mcr_rows){list, 0, rows.count});
    mcr_free(v->base.ctx, list);
    return s;
}

/* A bound Gram of some of the view's objects (NULL: all) with others (NULL: the same). */
static mcr_status bind_again(mcr_gram **out, const view *v, const mcr_rows *x, const mcr_rows *z)
{
    mcr_data *rows = NULL, *columns = NULL;
    mcr_status s = select_rows(&rows, v, x ? *x : (mcr_rows){NULL, 0, v->base.rows});
    if (!s && z)
        s = select_rows(&columns, v, *z);
    if (!s)
        s = mcr_gram_open(out, v->base.ctx, mcr_gram_as_bound(v->base.of)->kernel, rows, columns);
    mcr_data_free(rows);
    mcr_data_free(columns);
    return s;
}

static mcr_status select(mcr_gram **out, mcr_gram *gram, const mcr_rows *x, const mcr_rows *z)
{
    return bind_again(out, (const view *)gram, x, z);
}

/* What holds for all objects holds for some. */
static mcr_status error(mcr_gram *gram, bool precise, mcr_error *to)
{
    const view *v = (const view *)gram;
    return mcr_gram_error(precise && v->exact ? v->exact : v->base.of, precise, to);
}

static mcr_status extended(mcr_gram *gram, mcr_extended *to)
{
    const view *v = (const view *)gram;
    int64_t *object = NULL;
    mcr_extended of = *to;
    mcr_status s = map_rows(&object, v, (mcr_rows){NULL, 0, to->n});
    of.object = object;
    if (!s)
        s = v->base.of->type->extended(v->base.of, &of);
    to->share = of.share;
    mcr_free(gram->ctx, object);
    return s;
}

static mcr_status prepare(mcr_gram *gram, bool precise)
{
    view *v = (view *)gram;
    if (!precise)
        return mcr_gram_prepare(v->base.of, false);
    mcr_status s = v->exact ? MCR_OK : bind_again(&v->exact, v, NULL, NULL);
    return s ? s : mcr_gram_prepare(v->exact, true);
}

/* Of the other Gram's objects. */
static mcr_status prepare_lists(mcr_gram *gram)
{
    return mcr_gram_prepare_lists(gram->of);
}

static mcr_status sums(mcr_gram *gram, mcr_rows object, bool precise, const double *v, double *f)
{
    const view *of = (const view *)gram;
    int64_t *list = NULL;
    mcr_status s = map_rows(&list, of, object);
    if (!s)
        s = mcr_gram_sums(of->base.of, (mcr_rows){list, 0, object.count}, precise, v, f);
    mcr_free(gram->ctx, list);
    return s;
}

/* ---- blocks and rows --------------------------------------------------------------------------*/

/* Some of the columns first .. first + count - 1: those of run r; *at: how many of them are
 * before. */
static mcr_rows columns_of(const view *v, int r, int64_t first, int64_t count, int64_t *at)
{
    int64_t begin = r ? v->run[0].count : 0, end = begin + v->run[r].count;
    int64_t from = first > begin ? first : begin, to = first + count < end ? first + count : end;
    *at = from - first;
    return (mcr_rows){NULL, v->run[r].first + from - begin, to > from ? to - from : 0};
}

static mcr_status block(mcr_gram *gram, mcr_rows x, mcr_rows z, void *k, int64_t ld, bool precise)
{
    view *v = (view *)gram;
    mcr_status s = prepare(gram, precise);
    if (s || precise)
        return s ? s : mcr_gram_block_any(v->exact, x, z, k, ld, true);
    int64_t *row = NULL, *column = NULL;
    s = map_rows(&row, v, x);
    mcr_rows rows = {row, 0, x.count};
    if (!s && z.index && !(s = map_rows(&column, v, z)))
        s = mcr_gram_block_any(v->base.of, rows, (mcr_rows){column, 0, z.count}, k, ld, false);
    for (int r = 0; r < MCR_VIEW_RUNS && !s && !z.index; r++) {
        int64_t at;
        mcr_rows columns = columns_of(v, r, z.first, z.count, &at);
        s = mcr_gram_block_any(v->base.of, rows, columns, (float *)k + at, ld, false);
    }
    mcr_free_all(gram->ctx, row, column);
    return s;
}

/* A pass over one run of the columns after the other. */
static mcr_status pass_runs(view *v, const mcr_gram_pass *pass, mcr_rows rows)
{
    enum { FEW = 64 };
    mcr *ctx = v->base.ctx;
    void *few[FEW], **many = NULL;
    if (pass->row && rows.count > FEW && !(many = mcr_alloc(ctx, (size_t)rows.count, sizeof *many)))
        return MCR_NO_MEMORY;
    void **row = !pass->row ? NULL : many ? many : few;
    mcr_status s = MCR_OK;
    int64_t done = 0;
    for (int r = 0; r < MCR_VIEW_RUNS && !s; done += v->run[r++].count) {
        mcr_gram_pass part = *pass;
        part.x = rows;
        part.z = v->run[r];
        for (int64_t i = 0; i < rows.count && row; i++)
            row[i] = (float *)pass->row[i] + done;
        part.row = row;
        part.f = pass->f ? pass->f + done : NULL;
        part.again = done > 0;
        if (part.z.count > 0)
            s = mcr_gram_rows_pass(v->base.of, &part);
    }
    mcr_free(ctx, many);
    return s;
}

static mcr_status pass_listed(view *v, const mcr_gram_pass *pass)
{
    int64_t *row = NULL, *column = NULL;
    mcr_status s = map_rows(&row, v, pass->x);
    if (!s)
        s = map_rows(&column, v, pass->z);
    mcr_gram_pass part = *pass;
    part.x = (mcr_rows){row, 0, pass->x.count};
    part.z = (mcr_rows){column, 0, pass->z.count};
    if (!s)
        s = mcr_gram_rows_pass(v->base.of, &part);
    mcr_free_all(v->base.ctx, row, column);
    return s;
}

static mcr_status pass_rows(mcr_gram *gram, const mcr_gram_pass *pass)
{
    view *v = (view *)gram;
    if (pass->precise && !pass->z.index)
        return mcr_gram_rows_pass(v->exact, pass);
    int64_t few[1], *list = NULL;
    mcr_status s = MCR_OK;
    if (pass->z.index)
        return pass_listed(v, pass);
    if (pass->x.count == 1)
        few[0] = object_of(v, mcr_rows_at(pass->x, 0));
    else
        s = map_rows(&list, v, pass->x);
    if (!s)
        s = pass_runs(v, pass, (mcr_rows){list ? list : few, 0, pass->x.count});
    mcr_free(gram->ctx, list);
    return s;
}

static mcr_status diagonal(mcr_gram *gram, int side, double *k)
{
    (void)side; /* both are the same */
    const view *v = (const view *)gram;
    const double *all = NULL;
    mcr_status s = mcr_gram_bound_diagonal(&all, mcr_gram_as_bound(v->base.of));
    for (int64_t i = 0; i < gram->rows && !s; i++)
        k[i] = all[object_of(v, i)];
    return s;
}

static mcr_status share(mcr_gram **out, mcr_gram *gram)
{
    const view *v = (const view *)gram;
    mcr_gram *of = NULL;
    mcr_status s = mcr_gram_share(&of, v->base.of);
    if (!s && !(s = mcr_gram_view(out, of, v->run)))
        ((view *)*out)->owns = true;
    else
        mcr_gram_close(of);
    return s;
}

static const mcr_gram_type view_type = {
    .close = close_view,
    .block = block,
    .diagonal = diagonal,
    .rows = pass_rows,
    .share = share,
    .select = select,
    .error = error,
    .extended = extended,
    .prepare = prepare,
    .prepare_lists = prepare_lists,
    .sums = sums,
};
