/* gram.c: opening a Gram; blocks of it, cut into tiles that the workers share out.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gram/gram.h"

#include "base/threads.h"
#include "kernel/vectors.h"

static mcr_status open_scratch(mcr_gram *g)
{
    g->workers = mcr_workers(g->ctx);
    g->scratch = mcr_alloc_zero(g->ctx, (size_t)g->workers, sizeof *g->scratch);
    mcr_status s = g->scratch ? MCR_OK : MCR_NO_MEMORY;
    for (int w = 0; w < g->workers && !s; w++)
        s = mcr_scratch_open(&g->scratch[w], g->binding);
    return s;
}

mcr_status mcr_gram_open(mcr_gram **out, mcr *ctx, const mcr_kernel *kernel, const mcr_data *x,
                         const mcr_data *z)
{
    *out = NULL;
    mcr_gram *g = mcr_alloc_zero(ctx, 1, sizeof *g);
    if (!g)
        return MCR_NO_MEMORY;
    g->ctx = ctx;
    g->kernel = mcr_kernel_retain(kernel);
    g->x = mcr_data_retain(x);
    g->z = mcr_data_retain(z ? z : x);
    g->same = !z || z == x;
    mcr_status s = mcr_binding_open(&g->binding, ctx, g->kernel, g->x, g->same ? NULL : g->z);
    if (!s)
        s = open_scratch(g);
    if (s)
        mcr_gram_close(g);
    else
        *out = g;
    return s;
}

void mcr_gram_close(mcr_gram *g)
{
    if (!g)
        return;
    for (int precise = 0; precise < 2; precise++)
        mcr_vectors_batch_close(g->batch[precise]);
    for (int w = 0; g->scratch && w < g->workers; w++)
        mcr_scratch_close(g->scratch[w]);
    mcr_free(g->ctx, g->scratch);
    if (!g->twin)
        mcr_binding_close(g->binding);
    mcr_kernel_free(g->kernel);
    mcr_data_free(g->x);
    mcr_data_free(g->z);
    mcr_free(g->ctx, g);
}

mcr_status mcr_gram_twin(mcr_gram **out, const mcr_gram *gram)
{
    *out = NULL;
    mcr_gram *g = mcr_alloc_zero(gram->ctx, 1, sizeof *g);
    if (!g)
        return MCR_NO_MEMORY;
    *g = (mcr_gram){
        .ctx = gram->ctx,
        .kernel = mcr_kernel_retain(gram->kernel),
        .x = mcr_data_retain(gram->x),
        .z = mcr_data_retain(gram->z),
        .same = gram->same,
        .prepared = {gram->prepared[0], gram->prepared[1]},
        .binding = gram->binding,
        .twin = true,
    };
    mcr_status s = open_scratch(g);
    if (s)
        mcr_gram_close(g);
    else
        *out = g;
    return s;
}

int64_t mcr_gram_rows(const mcr_gram *g)
{
    return mcr_data_count(g->x);
}

int64_t mcr_gram_cols(const mcr_gram *g)
{
    return mcr_data_count(g->z);
}

int mcr_gram_symmetric(const mcr_gram *g)
{
    return g->same;
}

mcr_status mcr_gram_prepare(mcr_gram *g, bool precise)
{
    if (g->prepared[precise])
        return MCR_OK;
    mcr_status s = mcr_binding_prepare(g->binding, precise);
    if (!s)
        g->prepared[precise] = true;
    return s;
}

mcr_status mcr_gram_batch(const mcr_vectors_batch **out, mcr_gram *g, mcr_rows x, bool precise)
{
    mcr_vectors_batch **batch = &g->batch[precise];
    mcr_status s = MCR_OK;
    if (!*batch)
        s = mcr_vectors_batch_open(batch, g->binding->root->fused, precise);
    if (!s)
        s = mcr_vectors_batch_fill(*batch, x);
    *out = *batch;
    return s;
}

/* Beside the products of vectors, a node costs about as much as so many of them. */
enum { NODE_WORK = 8, SLOW_WORK = 20000 };

static double nodes_work(const mcr_bound *node)
{
    double work = NODE_WORK + node->work;
    for (int c = 0; c < node->children; c++)
        work += nodes_work(node->child[c]);
    return work;
}

double mcr_gram_work(const mcr_gram *g)
{
    return nodes_work(g->binding->root) + mcr_vectors_work(g->binding->vectors);
}

bool mcr_gram_is_slow(const mcr_gram *g)
{
    return !g->binding->root->fused && mcr_gram_work(g) > SLOW_WORK;
}

mcr_status mcr_gram_error(mcr_gram *g, bool precise, mcr_error *error)
{
    mcr_status s = g->prepared[!precise] ? MCR_OK : mcr_gram_prepare(g, precise);
    return s ? s : mcr_binding_error(g->binding, precise, error);
}

mcr_status mcr_gram_restrict(mcr_gram **out, mcr_gram *g, mcr_rows z)
{
    *out = NULL;
    mcr_data *view = NULL;
    mcr_status s = mcr_data_select(&view, g->z, z);
    if (!s)
        s = mcr_gram_open(out, g->ctx, g->kernel, g->x, view);
    mcr_data_free(view);
    return s;
}

/* ---- blocks ------------------------------------------------------------------------------------*/

typedef struct block_job {
    mcr_gram *gram;
    mcr_rows x, z;
    char *k;
    int64_t ld, across; /* tiles in a row of tiles */
    int64_t tile_rows, tile_cols;
    size_t real;
    bool precise;
} block_job;

static mcr_status block_tile(void *arg, int64_t item, int worker)
{
    const block_job *job = arg;
    int64_t i = item / job->across * job->tile_rows, j = item % job->across * job->tile_cols;
    mcr_tile tile = {
        .x = mcr_rows_part(job->x, i, job->tile_rows),
        .z = mcr_rows_part(job->z, j, job->tile_cols),
        .precise = job->precise,
        .k = job->k + (size_t)(i * job->ld + j) * job->real,
        .ld = job->ld,
        .scratch = job->gram->scratch[worker],
    };
    return mcr_binding_block(job->gram->binding, &tile);
}

static mcr_status rows_valid(mcr *ctx, mcr_rows rows, int64_t n, const char *side)
{
    if (rows.count < 0 || (!rows.index && (rows.first < 0 || rows.first > n - rows.count)))
        return mcr_fail(ctx, MCR_BAD_CALL, "gram: rows %lld + %lld of %s, which has %lld",
                        (long long)rows.first, (long long)rows.count, side, (long long)n);
    for (int64_t i = 0; rows.index && i < rows.count; i++)
        if (rows.index[i] < 0 || rows.index[i] >= n)
            return mcr_fail(ctx, MCR_BAD_CALL, "gram: row %lld of %s, which has %lld",
                            (long long)rows.index[i], side, (long long)n);
    return MCR_OK;
}

mcr_status mcr_gram_block_any(mcr_gram *g, mcr_rows x, mcr_rows z, void *k, int64_t ld,
                              bool precise)
{
    mcr_status s = rows_valid(g->ctx, x, mcr_gram_rows(g), "x");
    if (!s)
        s = rows_valid(g->ctx, z, mcr_gram_cols(g), "z");
    if (!s)
        s = mcr_gram_prepare(g, precise);
    if (s || x.count == 0 || z.count == 0)
        return s;
    /* Columns that are listed one by one are packed for each tile: tall tiles then. */
    bool tall = z.index && g->binding->root->fused;
    int64_t tile_rows = tall ? 4 * MCR_TILE_ROWS : MCR_TILE_ROWS;
    int64_t tile_cols = tall ? MCR_TILE_COLS / 2 : MCR_TILE_COLS;
    if (mcr_gram_is_slow(g))
        tile_rows = tile_cols = MCR_SLOW_TILE;
    block_job job = {
        .gram = g,
        .x = x,
        .z = z,
        .k = k,
        .ld = ld,
        .across = (z.count + tile_cols - 1) / tile_cols,
        .tile_rows = tile_rows,
        .tile_cols = tile_cols,
        .real = precise ? sizeof(double) : sizeof(float),
        .precise = precise,
    };
    int64_t down = (x.count + tile_rows - 1) / tile_rows;
    return mcr_parallel(g->ctx, down * job.across, block_tile, &job);
}

mcr_status mcr_gram_block(mcr_gram *g, mcr_rows x, mcr_rows z, double *k, int64_t ld)
{
    return mcr_gram_block_any(g, x, z, k, ld, true);
}

mcr_status mcr_gram_block_float(mcr_gram *g, mcr_rows x, mcr_rows z, float *k, int64_t ld)
{
    return mcr_gram_block_any(g, x, z, k, ld, false);
}

/* ---- the diagonal ------------------------------------------------------------------------------*/

typedef struct diagonal_job {
    const mcr_gram *gram;
    int side;
    int64_t n;
    double *k;
} diagonal_job;

enum { DIAGONAL_CHUNK = 512 };

static mcr_status diagonal_chunk(void *arg, int64_t item, int worker)
{
    (void)worker;
    const diagonal_job *job = arg;
    mcr_rows all = {NULL, 0, job->n};
    int64_t first = item * DIAGONAL_CHUNK;
    return mcr_bound_diagonal(job->gram->binding->root, job->side,
                              mcr_rows_part(all, first, DIAGONAL_CHUNK), job->k + first);
}

mcr_status mcr_gram_diagonal(mcr_gram *g, int side, double *k)
{
    diagonal_job job = {g, side, side ? mcr_gram_cols(g) : mcr_gram_rows(g), k};
    return mcr_parallel(g->ctx, (job.n + DIAGONAL_CHUNK - 1) / DIAGONAL_CHUNK, diagonal_chunk,
                        &job);
}
