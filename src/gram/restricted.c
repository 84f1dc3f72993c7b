/* restricted.c: K restricted to the span of landmarks, D = K_nm T with T'K_mm T = 1, known by its
 * products alone.
 *
 * Nystroem's features are the rows of D. Making them takes m multiply-adds for each of n m numbers,
 * and keeping them as much memory as K_nm. Products need neither: D c = K_nm (T c) and D'a =
 * T'(K_nm'a) take one pass over kernel values, which are computed as they are wanted (Rudi,
 * Carratino and Rosasco, NIPS 2017).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "gram/factor_impl.h"
#include "gram/map.h"
#include "gram/round.h"
#include "linalg/shared.h"

typedef struct restricted {
    mcr *ctx;
    mcr_map *map;
    const mcr_data *data;
    mcr_gram *cross; /* K_nm */
    float *kept;     /* the same in float, rows ld apart; NULL: not kept */
    int64_t ld;
    size_t taken;
} restricted;

static mcr_status make_rows(void *self, const int64_t *row, int64_t first, int64_t count,
                            double *to, int64_t ld)
{
    const restricted *t = self;
    return mcr_map_rows(t->map, t->data, (mcr_rows){row, row ? 0 : first, count}, to, ld);
}

static mcr_status through(void *self, mcr_round *r)
{
    const restricted *t = self;
    const mcr_map *m = t->map;
    int64_t rows = m->landmarks, p = m->count, k = r->outputs;
    double *c = mcr_alloc(t->ctx, (size_t)(rows * k), 2 * sizeof *c), *u = c + rows * k;
    mcr_round inner = *r;
    inner.c = r->c ? c : NULL;
    inner.u = r->u ? u : NULL;
    inner.kept = t->kept;
    inner.kept_rows = t->kept ? mcr_gram_rows(t->cross) : 0;
    inner.kept_ld = t->ld;
    mcr_status s = c ? MCR_OK : MCR_NO_MEMORY;
    if (!s && r->c)
        s = mcr_shared_gemm(t->ctx, MCR_AS_IS, MCR_AS_IS, rows, k, p, 1, m->turn, p, r->c, k, 0, c,
                            k);
    if (!s)
        s = mcr_gram_round(t->cross, &inner);
    if (!s && r->u)
        s = mcr_shared_gemm(t->ctx, MCR_TRANSPOSED, MCR_AS_IS, p, k, rows, 1, m->turn, p, u, k, 0,
                            r->u, k);
    r->sum = inner.sum;
    mcr_free(t->ctx, c);
    return s;
}

static void release(mcr *ctx, void *source)
{
    restricted *t = source;
    mcr_gram_close(t->cross);
    mcr_free(ctx, t->kept);
    mcr_budget_give(ctx, t->taken);
    mcr_free(ctx, t);
}

static mcr_status keep_values(restricted *t, size_t most)
{
    int64_t n = mcr_gram_rows(t->cross);
    t->ld = (t->map->landmarks + 15) / 16 * 16;
    size_t bytes = (size_t)n * (size_t)t->ld * sizeof(float);
    if (n == 0 || bytes > most)
        return MCR_OK;
    mcr_status s = mcr_budget_take(t->ctx, bytes, "kernel values of the landmarks");
    if (s)
        return s;
    t->taken = bytes;
    t->kept = mcr_alloc(t->ctx, (size_t)n, (size_t)t->ld * sizeof(float));
    return t->kept ? mcr_gram_matrix_quietly(t->cross, t->kept, t->ld, false) : MCR_NO_MEMORY;
}

mcr_status mcr_gram_restricted(mcr_gram **out, mcr *ctx, mcr_map *map, const mcr_data *data,
                               size_t most)
{
    *out = NULL;
    restricted *t = mcr_alloc_zero(ctx, 1, sizeof *t);
    if (!t)
        return MCR_NO_MEMORY;
    *t = (restricted){.ctx = ctx, .map = map, .data = data};
    mcr_status s = mcr_gram_open(&t->cross, ctx, map->kernel, data, map->landmark);
    if (!s)
        s = keep_values(t, most);
    if (!s)
        s = mcr_gram_factor(
            out, ctx,
            &(mcr_factor){.n = mcr_data_count(data),
                          .p = map->count,
                          .block = make_rows,
                          .self = t,
                          .round = through,
                          .work = (double)map->landmarks * mcr_gram_work(t->cross)});
    if (s) {
        release(ctx, t);
        return s;
    }
    mcr_factor_gram *g = (mcr_factor_gram *)*out;
    g->source = t;
    g->release = release;
    return MCR_OK;
}

bool mcr_gram_restricted_keeps(const mcr_gram *gram)
{
    const mcr_factor_gram *g = mcr_gram_as_factor(gram);
    return g && g->of.round == through && ((const restricted *)g->of.self)->kept;
}

mcr_rows mcr_gram_landmarks(const mcr_gram *gram)
{
    const mcr_factor_gram *g = mcr_gram_as_factor(gram);
    if (!g || g->of.round != through || g->of.row)
        return (mcr_rows){NULL, 0, 0};
    const mcr_map *m = ((const restricted *)g->of.self)->map;
    return (mcr_rows){m->object, 0, m->landmarks};
}
