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

#include "base/team.h"
#include "gram/factor_impl.h"
#include "gram/map.h"
#include "gram/round.h"
#include "linalg/shared.h"

enum { BLOCK_NUMBERS = 2 << 20 }; /* of a block of objects that are read from their file */

typedef struct restricted {
    mcr *ctx;
    mcr_map *map;
    const mcr_data *data;
    mcr_gram *cross; /* K_nm; NULL: the data stay in a file */
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

/* A block of objects that are read from their file. */
typedef struct block {
    const mcr_round *of;
    int64_t first;
} block;

static double in_block(const void *self, int64_t first, int64_t count, const double *y, double *a)
{
    const block *b = self;
    return b->of->work(b->of->self, b->first + first, count, y, a);
}

/* The pass over kernel values, block by block; add: what a block gives (landmarks x outputs). */
static mcr_status pass_blocks(const restricted *t, mcr_round *r, double *add)
{
    int64_t rows = BLOCK_NUMBERS / (t->map->landmark->store[0]->cols + 1) + 1;
    size_t size = (size_t)(t->map->landmarks * r->outputs);
    mcr_status s = MCR_OK;
    r->sum = 0;
    if (r->u)
        memset(r->u, 0, sizeof *r->u * size);
    for (int64_t first = 0; first < r->x.count && !s; first += rows) {
        mcr_data *part = NULL;
        mcr_gram *cross = NULL;
        block b = {r, first};
        mcr_round some = *r;
        some.x = (mcr_rows){NULL, 0, r->x.count - first < rows ? r->x.count - first : rows};
        some.y = r->y ? r->y + first * r->outputs : NULL;
        some.u = r->u ? add : NULL;
        some.work = r->work ? in_block : NULL;
        some.self = &b;
        s = mcr_data_load(&part, t->data, mcr_rows_part(r->x, first, rows));
        if (!s)
            s = mcr_gram_open(&cross, t->ctx, t->map->kernel, part, t->map->landmark);
        if (!s)
            s = mcr_gram_round(cross, &some);
        for (size_t i = 0; i < size && !s && r->u; i++)
            r->u[i] += add[i];
        r->sum += some.sum;
        mcr_gram_close(cross);
        mcr_data_free(part);
    }
    return s;
}

static mcr_status through(void *self, mcr_round *r)
{
    const restricted *t = self;
    const mcr_map *m = t->map;
    int64_t rows = m->landmarks, p = m->count, k = r->outputs;
    double *c = mcr_alloc(t->ctx, (size_t)(rows * k), 3 * sizeof *c);
    if (!c)
        return MCR_NO_MEMORY;
    double *u = c + rows * k;
    mcr_round inner = *r;
    inner.c = r->c ? c : NULL;
    inner.u = r->u ? u : NULL;
    inner.kept = t->kept;
    inner.kept_rows = t->kept ? mcr_data_count(t->data) : 0;
    inner.kept_ld = t->ld;
    mcr_status s = MCR_OK;
    if (r->c)
        s = mcr_shared_gemm(t->ctx, MCR_AS_IS, MCR_AS_IS, rows, k, p, 1, m->turn, p, r->c, k, 0, c,
                            k);
    if (!s)
        s = t->cross ? mcr_gram_round(t->cross, &inner) : pass_blocks(t, &inner, u + rows * k);
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

/* Kernel values against the landmarks, and what one of them costs. */
static mcr_status open_values(restricted *t, size_t most, double *work)
{
    mcr_gram *own = NULL;
    if (!mcr_data_on_disk(t->data)) {
        mcr_status s = mcr_gram_open(&t->cross, t->ctx, t->map->kernel, t->data, t->map->landmark);
        *work = s ? 0 : mcr_gram_work(t->cross);
        return s ? s : keep_values(t, most);
    }
    mcr_status s = mcr_gram_open(&own, t->ctx, t->map->kernel, t->map->landmark, NULL);
    *work = s ? 0 : mcr_gram_work(own);
    mcr_gram_close(own);
    return s;
}

mcr_status mcr_gram_restricted(mcr_gram **out, mcr *ctx, mcr_map *map, const mcr_data *data,
                               size_t most)
{
    *out = NULL;
    restricted *t = mcr_alloc_zero(ctx, 1, sizeof *t);
    if (!t)
        return MCR_NO_MEMORY;
    *t = (restricted){.ctx = ctx, .map = map, .data = data};
    double work = 0;
    mcr_status s = open_values(t, most, &work);
    if (!s)
        s = mcr_gram_factor(out, ctx,
                            &(mcr_factor){.n = mcr_data_count(data),
                                          .p = map->count,
                                          .block = make_rows,
                                          .self = t,
                                          .round = through,
                                          .spread = mcr_team_of_rows(ctx) != NULL,
                                          .work = (double)map->landmarks * work});
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
