/* factor_round.c: through a factor and back, u = D^T a(D c).
 *
 * A factor that has products without rows uses its own. Others use two products with the work
 * between them; all of y and a are kept.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "gram/factor_impl.h"
#include "gram/round.h"

/* Rows of the source that rows of the Gram stand for. *list is to be freed. */
static mcr_status source_rows(const mcr_factor_gram *g, mcr_rows x, mcr_rows *to, int64_t **list)
{
    *list = NULL;
    *to = x;
    if (!g->of.row)
        return MCR_OK;
    if (!(*list = mcr_alloc(g->base.ctx, (size_t)x.count, sizeof **list)))
        return MCR_NO_MEMORY;
    for (int64_t i = 0; i < x.count; i++)
        (*list)[i] = g->of.row[mcr_rows_at(x, i)];
    *to = (mcr_rows){*list, 0, x.count};
    return MCR_OK;
}

static mcr_status run_round(const mcr_factor_gram *g, mcr_round *r)
{
    int64_t *list;
    mcr_rows rows, own = r->x;
    mcr_status s = source_rows(g, own, &rows, &list);
    r->x = rows;
    if (!s)
        s = g->of.round(g->of.self, r);
    r->x = own;
    mcr_free(g->base.ctx, list);
    return s;
}

mcr_status mcr_factor_expand_round(const mcr_factor_gram *g, mcr_rows x, const double *v,
                                   int64_t cols, double *y)
{
    return run_round(g, &(mcr_round){.x = x, .precise = true, .outputs = cols, .c = v, .y = y});
}

double mcr_round_given(const void *self, int64_t first, int64_t count, const double *y, double *a)
{
    const mcr_given *g = self;
    (void)y;
    memcpy(a, g->a + first * g->outputs, sizeof *a * (size_t)(count * g->outputs));
    return 0;
}

mcr_status mcr_factor_project_round(const mcr_factor_gram *g, mcr_rows x, const double *a,
                                    int64_t cols, double *u)
{
    mcr_round pass = {.x = x, .precise = true, .outputs = cols, .work = mcr_round_given, .u = u};
    pass.self = &(mcr_given){a, cols};
    return run_round(g, &pass);
}

mcr_status mcr_factor_weighted_near(mcr_gram *gram, mcr_rows x, const double *h, double off,
                                    double *m, int64_t ldm)
{
    const mcr_factor_gram *g = mcr_gram_as_factor(gram);
    bool done = false;
    int64_t *list = NULL;
    mcr_rows rows;
    mcr_status s = MCR_OK;
    if (g->of.weighted) {
        s = source_rows(g, x, &rows, &list);
        if (!s)
            s = g->of.weighted(g->of.self, rows, h, off, m, ldm, &done);
        mcr_free(gram->ctx, list);
    }
    return s || done ? s : mcr_factor_weighted(gram, x, h, m, ldm);
}

/* By two products. */
static mcr_status run_products(mcr_gram *gram, mcr_round *r)
{
    mcr *ctx = gram->ctx;
    size_t all = (size_t)(r->x.count * r->outputs);
    double *y = mcr_alloc_zero(ctx, all, sizeof *y);
    double *a = r->work ? mcr_alloc(ctx, all, sizeof *a) : y;
    mcr_status s = y && a ? MCR_OK : MCR_NO_MEMORY;
    if (!s && r->c)
        s = mcr_gram_expand(gram, r->x, r->c, r->outputs, y);
    if (!s && r->y)
        memcpy(r->y, y, sizeof *y * all);
    r->sum = !s && r->work ? r->work(r->self, 0, r->x.count, y, a) : 0;
    if (!s && r->u)
        s = gram->type->project(gram, r->x, a, r->outputs, r->u);
    mcr_free_all(ctx, a == y ? NULL : a, y);
    return s;
}

mcr_status mcr_gram_total_round(mcr_gram *gram, double *u, int64_t size, double *sum)
{
    double *all = mcr_alloc(gram->ctx, (size_t)size + 1, sizeof *all);
    if (!all)
        return MCR_NO_MEMORY;
    if (size)
        memcpy(all, u, sizeof *all * (size_t)size);
    all[size] = *sum;
    mcr_status s = mcr_gram_total(gram, all, size + 1);
    if (size)
        memcpy(u, all, sizeof *all * (size_t)size);
    *sum = all[size];
    mcr_free(gram->ctx, all);
    return s;
}

mcr_status mcr_gram_factor_round(mcr_gram *gram, mcr_round *r)
{
    const mcr_factor_gram *g = mcr_gram_as_factor(gram);
    mcr_status s = g && g->of.round ? run_round(g, r) : run_products(gram, r);
    int64_t size = r->u ? mcr_gram_width(gram) * r->outputs : 0;
    return s || !gram->spread ? s : mcr_gram_total_round(gram, r->u, size, &r->sum);
}
