/* list.c: a Gram of listed rows and columns of another Gram.
 *
 * The objects that one fold trains on, or those held out against them, are lists of a Gram of all
 * objects: nothing is computed twice, and nothing is copied.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <assert.h>

#include "gram/stored.h"
#include "gram/type.h"

typedef struct list {
    mcr_gram base;
    bool owns;       /* base.of */
    int64_t *row[2]; /* of rows and of columns; the same if symmetric */
    mcr_fold fold;   /* of is NULL: it is none */
    int64_t *held;   /* owned */
} list;

static const mcr_gram_type list_type;

static void close_list(mcr_gram *gram)
{
    list *g = (list *)gram;
    if (g->row[1] != g->row[0])
        mcr_free(gram->ctx, g->row[1]);
    mcr_free_all(gram->ctx, g->row[0], g->held);
    if (g->owns)
        mcr_gram_close(g->base.of);
    mcr_free(gram->ctx, g);
}

static mcr_status copy_rows(int64_t **out, mcr *ctx, mcr_rows rows)
{
    *out = mcr_alloc(ctx, (size_t)rows.count, sizeof **out);
    for (int64_t i = 0; i < rows.count && *out; i++)
        (*out)[i] = mcr_rows_at(rows, i);
    return *out ? MCR_OK : MCR_NO_MEMORY;
}

mcr_status mcr_gram_list(mcr_gram **out, mcr_gram *of, const mcr_rows *x, const mcr_rows *z)
{
    *out = NULL;
    assert(z || of->symmetric);
    mcr_rows all = {NULL, 0, of->rows}, rows = x ? *x : all, cols = z ? *z : rows;
    list *g = mcr_alloc_zero(of->ctx, 1, sizeof *g);
    if (!g)
        return MCR_NO_MEMORY;
    g->base = (mcr_gram){.type = &list_type,
                         .ctx = of->ctx,
                         .of = of,
                         .rows = rows.count,
                         .cols = cols.count,
                         .symmetric = !z};
    mcr_status s = copy_rows(&g->row[0], of->ctx, rows);
    if (!s && z)
        s = copy_rows(&g->row[1], of->ctx, cols);
    else
        g->row[1] = g->row[0];
    if (s)
        close_list(&g->base);
    else
        *out = &g->base;
    return s;
}

mcr_status mcr_gram_fold(mcr_gram **out, const mcr_fold *fold)
{
    mcr_rows train = {fold->row, 0, fold->count}, held = {fold->held, 0, fold->held_count};
    mcr_status s = mcr_gram_list(out, fold->of, &train, NULL);
    if (s)
        return s;
    list *g = (list *)*out;
    s = copy_rows(&g->held, g->base.ctx, held);
    g->fold = *fold;
    g->fold.row = g->row[0];
    g->fold.held = g->held;
    if (s) {
        close_list(&g->base);
        *out = NULL;
    }
    return s;
}

const mcr_fold *mcr_gram_as_fold(const mcr_gram *gram)
{
    const list *g = (const list *)gram;
    return gram->type == &list_type && g->fold.of ? &g->fold : NULL;
}

void mcr_fold_buffer_free(mcr *ctx, mcr_fold_buffer *buffer)
{
    mcr_free(ctx, buffer->k);
    *buffer = (mcr_fold_buffer){0};
}

/* Rows or columns in terms of the other Gram; *made is to be freed. */
static mcr_status translate(mcr_rows *to, int64_t **made, const list *g, int side, mcr_rows rows)
{
    *made = NULL;
    *to = (mcr_rows){g->row[side] + rows.first, 0, rows.count};
    if (!rows.index)
        return MCR_OK;
    *made = mcr_alloc(g->base.ctx, (size_t)rows.count, sizeof **made);
    for (int64_t i = 0; i < rows.count && *made; i++)
        (*made)[i] = g->row[side][rows.index[i]];
    to->index = *made;
    return *made ? MCR_OK : MCR_NO_MEMORY;
}

static mcr_status block(mcr_gram *gram, mcr_rows x, mcr_rows z, void *k, int64_t ld, bool precise)
{
    list *g = (list *)gram;
    int64_t *made[2] = {NULL, NULL};
    mcr_rows rows, cols;
    mcr_status s = translate(&rows, &made[0], g, 0, x);
    if (!s)
        s = translate(&cols, &made[1], g, 1, z);
    if (!s)
        s = mcr_gram_block_any(g->base.of, rows, cols, k, ld, precise);
    mcr_free_all(gram->ctx, made[0], made[1]);
    return s;
}

static mcr_status diagonal(mcr_gram *gram, int side, double *k)
{
    const list *g = (const list *)gram;
    int64_t n = side ? g->base.of->cols : g->base.of->rows, count = side ? gram->cols : gram->rows;
    double *all = mcr_alloc(gram->ctx, (size_t)n, sizeof *all);
    mcr_status s = all ? mcr_gram_diagonal(g->base.of, side, all) : MCR_NO_MEMORY;
    for (int64_t i = 0; i < count && !s; i++)
        k[i] = all[g->row[side][i]];
    mcr_free(gram->ctx, all);
    return s;
}

static mcr_status share(mcr_gram **out, mcr_gram *gram)
{
    const list *g = (const list *)gram;
    mcr_gram *of = NULL;
    mcr_rows x = {g->row[0], 0, gram->rows}, z = {g->row[1], 0, gram->cols};
    mcr_status s = mcr_gram_share(&of, g->base.of);
    if (!s)
        s = mcr_gram_list(out, of, &x, gram->symmetric ? NULL : &z);
    if (s)
        mcr_gram_close(of);
    else
        ((list *)*out)->owns = true;
    return s;
}

/* A list of a list is a list of the first Gram. */
static mcr_status select(mcr_gram **out, mcr_gram *gram, const mcr_rows *x, const mcr_rows *z)
{
    const list *g = (const list *)gram;
    int64_t *made[2] = {NULL, NULL};
    mcr_rows all = {NULL, 0, gram->rows}, rows, cols;
    mcr_status s = translate(&rows, &made[0], g, 0, x ? *x : all);
    if (!s && z)
        s = translate(&cols, &made[1], g, 1, *z);
    if (!s)
        s = mcr_gram_list(out, g->base.of, &rows, z ? &cols : NULL);
    mcr_free_all(gram->ctx, made[0], made[1]);
    return s;
}

static const mcr_gram_type list_type = {
    .close = close_list,
    .block = block,
    .diagonal = diagonal,
    .share = share,
    .select = select,
};
