/* restricted.c: K restricted to the span of landmarks, D = K_nm T with T'K_mm T = 1, given only by
 * its products.
 *
 * Nystroem's features are the rows of D. Computing them takes m multiply-adds for each of n m
 * numbers, and storing them as much memory as K_nm. Products need neither: D c = K_nm (T c) and D'a
 * = T'(K_nm'a) take one pass over kernel values, which are computed on demand (Rudi, Carratino and
 * Rosasco, NIPS 2017). D'hD = T'(K_nm'h K_nm)T does not need the features either, if K_mm is so far
 * from singular that T does not amplify rounding too much.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/sum.h"
#include "base/team.h"
#include "gram/restricted_impl.h"
#include "linalg/shared.h"

enum { BLOCK_NUMBERS = 2 << 20 }; /* of a block of objects that are read from their file */

typedef mcr_restricted restricted;

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

int64_t mcr_restricted_rows(const restricted *t)
{
    return BLOCK_NUMBERS / (t->map->landmark->store[0]->cols + 1) + 1;
}

/* The pass over kernel values, block by block; add: what a block gives (landmarks x outputs). */
static mcr_status pass_blocks(const restricted *t, mcr_round *r, double *add)
{
    int64_t rows = mcr_restricted_rows(t);
    size_t size = (size_t)(t->map->landmarks * r->outputs);
    mcr_status s = MCR_OK;
    r->sum = 0;
    if (r->u)
        memset(r->u, 0, sizeof *r->u * size);
    for (int64_t first = 0; first < r->x.count && !s; first += rows) {
        mcr_gram *cross;
        block b = {r, first};
        mcr_round some = *r;
        some.x = (mcr_rows){NULL, 0, mcr_least(r->x.count - first, rows)};
        some.y = r->y ? r->y + first * r->outputs : NULL;
        some.u = r->u ? add : NULL;
        some.work = r->work ? in_block : NULL;
        some.self = &b;
        s = mcr_map_cross(&cross, t->map, t->data, mcr_rows_part(r->x, first, rows));
        if (!s)
            s = mcr_gram_round(cross, &some);
        for (size_t i = 0; i < size && !s && r->u; i++)
            r->u[i] += add[i];
        r->sum += some.sum;
        mcr_gram_close(cross);
    }
    return s;
}

/* The pass over kernel values for coefficients c of the landmarks; u (landmarks x outputs), then
 * space for as many. */
static mcr_status pass_values(const restricted *t, mcr_round *r, const double *c, double *u)
{
    mcr_round inner = *r;
    inner.c = r->c ? c : NULL;
    inner.u = r->u ? u : NULL;
    inner.kept = t->kept;
    inner.kept_rows = t->kept ? mcr_data_count(t->data) : 0;
    inner.kept_ld = t->ld;
    mcr_status s = t->cross ? mcr_gram_round(t->cross, &inner)
                            : pass_blocks(t, &inner, u + t->map->landmarks * r->outputs);
    r->sum = inner.sum;
    return s;
}

mcr_status mcr_restricted_back(const restricted *t, const double *u, int64_t cols, double *to)
{
    const mcr_map *m = t->map;
    return mcr_shared_gemm(t->ctx, MCR_TRANSPOSED, MCR_AS_IS, m->count, cols, m->landmarks, 1,
                           m->turn, m->count, u, cols, 0, to, cols);
}

static mcr_status through(void *self, mcr_round *r)
{
    const restricted *t = self;
    int64_t rows = t->map->landmarks, k = r->outputs;
    double *c = mcr_alloc(t->ctx, (uint64_t)(rows * k), 3 * sizeof *c),
           *u = c ? c + rows * k : NULL;
    mcr_status s = c ? MCR_OK : MCR_NO_MEMORY;
    if (!s && r->c)
        s = mcr_map_coefficients(t->map, r->c, k, c);
    if (!s)
        s = pass_values(t, r, c, u);
    if (!s && r->u)
        s = mcr_restricted_back(t, u, k, r->u);
    mcr_free(t->ctx, c);
    return s;
}

/* ---- gradients of problems on the span --------------------------------------------------------*/

mcr_status mcr_restricted_own(const restricted *t, const double *c, int64_t cols, double *q)
{
    enum { ROWS = 64 };
    int64_t m = t->map->landmarks;
    double *k = mcr_alloc(t->ctx, (size_t)m, ROWS * sizeof *k);
    mcr_status s = k ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t first = 0; first < m && !s; first += ROWS) {
        int64_t rows = m - first < ROWS ? m - first : ROWS;
        s = mcr_gram_block(t->own, (mcr_rows){NULL, first, rows}, (mcr_rows){NULL, 0, m}, k, m);
        for (int64_t e = 0; e < rows * cols && !s; e++) {
            const double *value = k + e / cols * m, *by = c + e % cols;
            double sum = 0, rest = 0;
            for (int64_t j = 0; j < m; j++)
                mcr_add_exactly(&sum, &rest, value[j] * by[j * cols]);
            q[first * cols + e] = sum + rest;
        }
    }
    mcr_free(t->ctx, k);
    return s;
}

mcr_status mcr_gram_span_gradient(mcr_gram *gram, mcr_round *r, double mu, double *square)
{
    const mcr_factor_gram *g = mcr_gram_as_factor(gram);
    const restricted *t = g->of.self;
    int64_t size = t->map->landmarks * r->outputs;
    double *c = mcr_alloc(t->ctx, 4 * (uint64_t)size, sizeof *c);
    mcr_status s = c ? mcr_map_coefficients(t->map, r->c, r->outputs, c) : MCR_NO_MEMORY;
    double *q = c ? c + size : NULL, *u = c ? q + size : NULL;
    if (!s)
        s = pass_values(t, r, c, u);
    if (!s && gram->spread)
        s = mcr_gram_total_round(gram, u, size, &r->sum);
    if (!s)
        s = mcr_restricted_own(t, c, r->outputs, q);
    *square = 0;
    for (int64_t i = 0; i < size && !s; i++) {
        *square += c[i] * q[i];
        u[i] += mu * q[i];
    }
    if (!s)
        s = mcr_restricted_back(t, u, r->outputs, r->u);
    mcr_free(t->ctx, c);
    return s;
}

/* ---- D'hD -------------------------------------------------------------------------------------*/

/* Rows of K_nm. */
static mcr_status make_values(void *self, const int64_t *row, int64_t first, int64_t count,
                              double *to, int64_t ld)
{
    const restricted *t = self;
    mcr_rows x = {row, row ? 0 : first, count}, all = {NULL, 0, t->map->landmarks};
    if (t->cross)
        return mcr_gram_block(t->cross, x, all, to, ld);
    mcr_gram *cross;
    mcr_status s = mcr_map_cross(&cross, t->map, t->data, x);
    if (!s)
        s = mcr_gram_block(cross, (mcr_rows){NULL, 0, count}, all, to, ld);
    mcr_gram_close(cross);
    return s;
}

/* The approximate rounding error of T'(K_nm'h K_nm)T, for the sum of h: errors of the sums are
 * random and in proportion to their values. */
static double blur(const restricted *t, double sum)
{
    return DBL_EPSILON * sum * t->length * t->length * sqrt((double)t->map->landmarks) * t->turn;
}

/* m = T'kT, its lower triangle; kt: space for kT. */
static mcr_status turn_both(const restricted *t, const double *k, double *kt, double *m,
                            int64_t ldm)
{
    const double *turn = t->map->turn;
    int64_t rows = t->map->landmarks, p = t->map->count;
    if (!t->map->upper) {
        mcr_status s = mcr_shared_gemm(t->ctx, MCR_AS_IS, MCR_AS_IS, rows, p, rows, 1, k, rows,
                                       turn, p, 0, kt, p);
        return s ? s
                 : mcr_shared_gemm(t->ctx, MCR_TRANSPOSED, MCR_AS_IS, p, p, rows, 1, turn, p, kt, p,
                                   0, m, ldm);
    }
    mcr_status s = mcr_shared_times_upper(t->ctx, rows, p, k, rows, turn, p, kt, p);
    return s ? s : mcr_shared_upper_times(t->ctx, p, turn, p, kt, p, m, ldm);
}

/* k: landmarks x landmarks, then as many x features. */
static mcr_status weighted_values(restricted *t, mcr_rows x, const double *h, double *k, double *m,
                                  int64_t ldm)
{
    int64_t rows = t->map->landmarks;
    mcr_gram *values = NULL;
    mcr_status s = mcr_gram_factor(
        &values, t->ctx,
        &(mcr_factor){.n = mcr_data_count(t->data), .p = rows, .block = make_values, .self = t});
    if (!s)
        s = mcr_factor_weighted(values, x, h, k, rows);
    for (int64_t i = 0; i < rows && !s; i++)
        for (int64_t j = 0; j < i; j++)
            k[j * rows + i] = k[i * rows + j];
    if (!s)
        s = turn_both(t, k, k + rows * rows, m, ldm);
    mcr_gram_close(values);
    return s;
}

static mcr_status weighted(void *self, mcr_rows x, const double *h, double off, double *m,
                           int64_t ldm, bool *done)
{
    restricted *t = self;
    double sum = 0;
    for (int64_t i = 0; i < x.count; i++)
        sum += h[i];
    size_t bytes = (size_t)t->map->landmarks * (size_t)(t->map->landmarks + t->map->count) *
                   sizeof(double);
    /* For few rows, computing features is less work than both products with T. */
    *done = x.count > 2 * t->map->landmarks && blur(t, sum) <= off && bytes <= t->spare / 2;
    mcr_status s = *done ? mcr_budget_take(t->ctx, bytes, "the landmarks' kernel values") : MCR_OK;
    if (s || !*done)
        return s;
    double *k = mcr_alloc(t->ctx, bytes, 1);
    s = k ? weighted_values(t, x, h, k, m, ldm) : MCR_NO_MEMORY;
    mcr_free(t->ctx, k);
    mcr_budget_give(t->ctx, bytes);
    return s;
}

static mcr_status measure_map(restricted *t)
{
    const mcr_map *m = t->map;
    double *diagonal = mcr_alloc(t->ctx, (size_t)m->landmarks, sizeof *diagonal);
    mcr_status s = diagonal ? mcr_gram_open(&t->own, t->ctx, m->kernel, m->landmark, NULL)
                            : MCR_NO_MEMORY;
    if (!s)
        s = mcr_gram_diagonal(t->own, 0, diagonal);
    for (int64_t i = 0; i < m->landmarks && !s; i++)
        t->length = fmax(t->length, diagonal[i]);
    for (int64_t i = 0; i < m->landmarks * m->count && !s; i++)
        t->turn += m->turn[i] * m->turn[i];
    mcr_free(t->ctx, diagonal);
    return s;
}

static void release(mcr *ctx, void *source)
{
    restricted *t = source;
    mcr_gram_close(t->own);
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

/* Kernel values against the landmarks, and the cost of one. */
static mcr_status open_values(restricted *t, size_t most, double *work)
{
    if (mcr_data_on_disk(t->data)) {
        *work = mcr_gram_work(t->own);
        return MCR_OK;
    }
    mcr_status s = mcr_gram_open(&t->cross, t->ctx, t->map->kernel, t->data, t->map->landmark);
    *work = s ? 0 : mcr_gram_work(t->cross);
    return s ? s : keep_values(t, most);
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
    mcr_status s = measure_map(t);
    if (!s)
        s = open_values(t, most, &work);
    t->spare = mcr_budget_left(ctx);
    if (s) {
        release(ctx, t);
        return s;
    }
    return mcr_gram_factor(out, ctx,
                           &(mcr_factor){.n = mcr_data_count(data),
                                         .p = map->count,
                                         .block = make_rows,
                                         .self = t,
                                         .release = release,
                                         .round = through,
                                         .weighted = weighted,
                                         .spread = mcr_team_of_rows(ctx) != NULL,
                                         .work = (double)map->landmarks * work});
}

/* NULL: it is none. */
static const restricted *as_restricted(const mcr_gram *gram)
{
    const mcr_factor_gram *g = mcr_gram_as_factor(gram);
    return g && g->of.round == through ? g->of.self : NULL;
}

bool mcr_gram_is_restricted(const mcr_gram *gram)
{
    return as_restricted(gram) != NULL;
}

size_t mcr_gram_restricted_spare(const mcr_gram *gram)
{
    const restricted *t = as_restricted(gram);
    return t ? t->spare : mcr_budget_left(gram->ctx);
}

bool mcr_gram_restricted_keeps(const mcr_gram *gram)
{
    const restricted *t = as_restricted(gram);
    return t && t->kept;
}

double mcr_gram_near_error(const mcr_gram *gram, double sum)
{
    const restricted *t = as_restricted(gram);
    return t ? blur(t, sum) : INFINITY;
}

mcr_status mcr_gram_float_error(const mcr_gram *gram, const double *w, int64_t cols, double *slope,
                                double *value)
{
    const restricted *t = as_restricted(gram);
    int64_t size = t->map->landmarks * cols;
    double *c = mcr_alloc(t->ctx, (size_t)size, sizeof *c), square = 0;
    if (!c)
        return MCR_NO_MEMORY;
    mcr_status s = mcr_map_coefficients(t->map, w, cols, c);
    for (int64_t i = 0; i < size && !s; i++)
        square += c[i] * c[i];
    mcr_free(t->ctx, c);
    *slope = FLT_EPSILON * t->length * sqrt(t->turn);
    *value = FLT_EPSILON * t->length * sqrt(square);
    return s;
}

mcr_rows mcr_gram_landmarks(const mcr_gram *gram)
{
    const restricted *t = as_restricted(gram);
    if (!t || mcr_gram_as_factor(gram)->of.row)
        return (mcr_rows){NULL, 0, 0};
    return (mcr_rows){t->map->object, 0, t->map->landmarks};
}
