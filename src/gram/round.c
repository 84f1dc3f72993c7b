/* round.c: through K and back, block by block.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gram/round.h"

#include <string.h>

#include "base/sum.h"
#include "base/team.h"
#include "base/threads.h"
#include "gram/bound.h"
#include "linalg/blas.h"

enum {
    BLOCK_BYTES = 3 << 18,           /* of kernel values: they stay in the second-level cache */
    MOST_ROWS = MCR_ROUND_DEPTH - 4, /* of a block */
    MOST_PARTS = 64,                 /* of a pass */
    PART_ROWS = 512,                 /* of a part, at least */
    PART_NUMBERS = 4 << 20,          /* of all parts together */
    FEW_ROWS = 12 /* a block has a multiple of these: what tiles compute at a time */
};

typedef struct round_job {
    mcr_gram_bound *bound; /* NULL: blocks come from the Gram's table */
    mcr_gram *gram;
    const mcr_round *r;
    const mcr_tile_kit *kit;
    const double *ct; /* c, output by output */
    int64_t cols, ld, rows;
    int64_t parts, part_rows;
    double *u, *sum; /* of each part, output by output */
    double *rest;    /* what rounding took from u; NULL: not wanted */
} round_job;

/* Values of some rows: those that are kept where they are, or computed into k. */
static mcr_status get_rows(const round_job *j, mcr_rows x, void *k, mcr_scratch *scratch,
                           const void **row)
{
    const mcr_round *r = j->r;
    size_t real = (size_t)j->kit->bytes;
    bool kept = r->kept && !r->precise;
    for (int64_t i = 0; i < x.count && kept; i++) {
        int64_t at = mcr_rows_at(x, i);
        kept = at < r->kept_rows;
        row[i] = r->kept + at * r->kept_ld;
    }
    if (kept)
        return MCR_OK;
    for (int64_t i = 0; i < x.count; i++)
        row[i] = (const char *)k + (size_t)(i * j->ld) * real;
    if (!j->bound)
        return mcr_gram_block_any(j->gram, x, (mcr_rows){NULL, 0, j->cols}, k, j->ld, r->precise);
    mcr_tile tile = {x, {NULL, 0, j->cols}, r->precise, k, j->ld, scratch};
    return mcr_binding_block(j->bound->binding, &tile);
}

/* u += K'a of one output, for the rows of a block; in double the sums of blocks are added
 * exactly. */
static void add_block(const round_job *j, int64_t part, int64_t o, const void *const *row,
                      const double *a, int64_t count, double *space)
{
    int64_t at = (part * j->r->outputs + o) * j->cols;
    if (!j->rest) {
        j->kit->update(j->u + at, row, a, count, 0, j->cols);
        return;
    }
    memset(space, 0, sizeof *space * (size_t)j->cols);
    j->kit->update(space, row, a, count, 0, j->cols);
    for (int64_t c = 0; c < j->cols; c++)
        mcr_add_exactly(&j->u[at + c], &j->rest[at + c], space[c]);
}

/* One block: y = K c, a, u += K'a. */
static mcr_status run_block(const round_job *j, int64_t part, int64_t first, void *k, double *space,
                            mcr_scratch *scratch)
{
    const mcr_round *r = j->r;
    int64_t count = mcr_least(j->rows, r->x.count - first), o, i, outputs = r->outputs;
    mcr_rows x = mcr_rows_part(r->x, first, mcr_least(count, (part + 1) * j->part_rows - first));
    double *y = space, *a = y + MOST_ROWS * outputs, *at = a + MOST_ROWS * outputs;
    const void *row[MOST_ROWS];
    count = x.count;
    mcr_status s = get_rows(j, x, k, scratch, row);
    if (s)
        return s;
    memset(y, 0, sizeof *y * (size_t)(count * outputs));
    for (i = 0; i < count && r->c; i++)
        for (o = 0; o < outputs; o++)
            y[i * outputs + o] = j->kit->math->dot(row[i], j->ct + o * j->cols, j->cols);
    if (r->y)
        memcpy(r->y + first * outputs, y, sizeof *y * (size_t)(count * outputs));
    if (r->work)
        j->sum[part] += r->work(r->self, first, count, y, a);
    for (o = 0; o < outputs && r->u; o++) {
        for (i = 0; i < count; i++)
            at[i] = r->work ? a[i * outputs + o] : y[i * outputs + o];
        add_block(j, part, o, row, at, count, at + MOST_ROWS);
    }
    return s;
}

static mcr_status run_part(void *arg, int64_t part, int worker)
{
    const round_job *j = arg;
    mcr *ctx = j->gram->ctx;
    size_t numbers = (size_t)(MOST_ROWS * (2 * j->r->outputs + 1) + (j->rest ? j->cols : 0));
    double *space = mcr_alloc(ctx, numbers, sizeof *space);
    void *k = mcr_alloc(ctx, (uint64_t)(j->rows * j->ld), (size_t)j->kit->bytes);
    mcr_scratch *scratch = j->bound ? j->bound->scratch[worker] : NULL;
    mcr_status s = space && k ? MCR_OK : MCR_NO_MEMORY;
    int64_t end = mcr_least((part + 1) * j->part_rows, j->r->x.count);
    for (int64_t i = part * j->part_rows; i < end && !s; i += j->rows)
        s = run_block(j, part, i, k, space, scratch);
    mcr_free_all(ctx, space, k);
    return s;
}

/* Sizes of blocks and parts, from the numbers of rows, columns and outputs alone. */
static void set_sizes(round_job *j)
{
    int64_t n = j->r->x.count, size = j->cols * j->r->outputs;
    int64_t rows = BLOCK_BYTES / (j->ld * j->kit->bytes) / FEW_ROWS * FEW_ROWS;
    j->rows = rows < FEW_ROWS ? FEW_ROWS : mcr_least(rows, MOST_ROWS);
    j->parts = mcr_least(MOST_PARTS, (n + PART_ROWS - 1) / PART_ROWS);
    j->parts = mcr_least(j->parts, size > 0 ? PART_NUMBERS / size : MOST_PARTS);
    j->parts = j->parts > 1 ? j->parts : 1;
    int64_t each = (n + j->parts - 1) / j->parts;
    j->part_rows = (each + j->rows - 1) / j->rows * j->rows;
    j->parts = (n + j->part_rows - 1) / j->part_rows;
}

static void add_parts(const round_job *j, mcr_round *r)
{
    for (int64_t c = 0; c < j->cols && r->u; c++)
        for (int64_t o = 0; o < r->outputs; o++) {
            double sum = 0, rest = 0;
            for (int64_t p = 0; p < j->parts; p++) {
                int64_t at = (p * r->outputs + o) * j->cols + c;
                mcr_add_exactly(&sum, &rest, j->u[at]);
                rest += j->rest ? j->rest[at] : 0;
            }
            r->u[c * r->outputs + o] = sum + rest;
        }
    for (int64_t p = 0; p < j->parts; p++)
        r->sum += j->sum[p];
}

mcr_status mcr_gram_round(mcr_gram *g, mcr_round *r)
{
    const mcr_tiles *tiles = mcr_tiles_best();
    round_job j = {.bound = mcr_gram_as_bound(g),
                   .gram = g,
                   .r = r,
                   .kit = r->precise ? tiles->f64 : tiles->f32,
                   .cols = g->cols,
                   .ld = (g->cols / MCR_ROW_PAD + 1) * MCR_ROW_PAD};
    size_t size = (size_t)(j.cols * r->outputs);
    r->sum = 0;
    mcr_status s = mcr_gram_prepare(g, r->precise);
    if (!s && r->x.count == 0 && r->u)
        memset(r->u, 0, sizeof *r->u * size);
    if (s || r->x.count == 0)
        return s;
    set_sizes(&j);
    double *ct = mcr_alloc(g->ctx, size, sizeof *ct);
    j.u = r->u ? mcr_alloc_zero(g->ctx, (size_t)j.parts, size * sizeof *j.u) : NULL;
    bool exact = r->u && r->precise;
    j.rest = exact ? mcr_alloc_zero(g->ctx, (size_t)j.parts, size * sizeof *j.rest) : NULL;
    j.sum = mcr_alloc_zero(g->ctx, (size_t)j.parts, sizeof *j.sum);
    s = ct && (!r->u || j.u) && (!exact || j.rest) && j.sum ? MCR_OK : MCR_NO_MEMORY;
    if (!s && r->c)
        mcr_transposed(r->c, j.cols, r->outputs, ct);
    j.ct = ct;
    for (int64_t p = 0; p < j.parts && !s && !j.bound; p++)
        s = run_part(&j, p, 0); /* blocks of other Grams use all threads */
    if (!s && j.bound)
        s = mcr_parallel(g->ctx, j.parts, run_part, &j);
    if (!s)
        add_parts(&j, r);
    mcr_free_all(g->ctx, ct, j.u, j.rest, j.sum);
    return s;
}

bool mcr_gram_is_spread(const mcr_gram *g)
{
    return g->spread;
}

mcr_status mcr_gram_total(mcr_gram *g, double *sum, int64_t count)
{
    return g->spread ? mcr_team_sum(g->ctx, sum, count) : MCR_OK;
}

mcr_status mcr_gram_largest(mcr_gram *g, double *x, int64_t count)
{
    return g->spread ? mcr_team_largest(g->ctx, x, count) : MCR_OK;
}

mcr_status mcr_gram_place(mcr_gram *g, int64_t count, int64_t *first, int64_t *all)
{
    *first = 0;
    *all = count;
    return g->spread ? mcr_team_place(g->ctx, count, first, all) : MCR_OK;
}
