/* bound.c: a Gram that computes its values from a kernel and data: blocks are cut into tiles, which
 * are distributed over the workers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gram/bound.h"

#include "base/threads.h"
#include "kernel/vectors.h"

static const mcr_gram_type bound_type;

mcr_gram_bound *mcr_gram_as_bound(mcr_gram *gram)
{
    return gram->type == &bound_type ? (mcr_gram_bound *)gram : NULL;
}

static mcr_status open_scratch(mcr_gram_bound *g)
{
    mcr *ctx = g->base.ctx;
    g->workers = mcr_workers(ctx);
    g->scratch = mcr_alloc_zero(ctx, (size_t)g->workers, sizeof *g->scratch);
    mcr_status s = g->scratch ? MCR_OK : MCR_NO_MEMORY;
    for (int w = 0; w < g->workers && !s; w++)
        s = mcr_scratch_open(&g->scratch[w], g->binding);
    return s;
}

static void close_bound(mcr_gram *gram)
{
    mcr_gram_bound *g = (mcr_gram_bound *)gram;
    mcr *ctx = gram->ctx;
    for (int precise = 0; precise < 2; precise++)
        mcr_vectors_batch_close(g->batch[precise]);
    for (int w = 0; g->scratch && w < g->workers; w++)
        mcr_scratch_close(g->scratch[w]);
    mcr_free_all(ctx, g->scratch, g->diagonal);
    if (!g->shares)
        mcr_binding_close(g->binding);
    mcr_kernel_free(g->kernel);
    mcr_data_free(g->x);
    mcr_data_free(g->z);
    mcr_free(ctx, g);
}

static mcr_gram_bound *new_bound(mcr *ctx, const mcr_kernel *kernel, const mcr_data *x,
                                 const mcr_data *z)
{
    mcr_gram_bound *g = mcr_alloc_zero(ctx, 1, sizeof *g);
    if (!g)
        return NULL;
    g->base = (mcr_gram){
        .type = &bound_type,
        .ctx = ctx,
        .rows = mcr_data_count(x),
        .cols = mcr_data_count(z),
        .symmetric = x == z,
    };
    g->kernel = mcr_kernel_retain(kernel);
    g->x = mcr_data_retain(x);
    g->z = mcr_data_retain(z);
    return g;
}

/* Closes g and returns s if that is a failure; else returns g in *out. */
static mcr_status hand_out(mcr_gram **out, mcr_gram_bound *g, mcr_status s)
{
    if (s)
        close_bound(&g->base);
    else
        *out = &g->base;
    return s;
}

mcr_status mcr_gram_open(mcr_gram **out, mcr *ctx, const mcr_kernel *kernel, const mcr_data *x,
                         const mcr_data *z)
{
    *out = NULL;
    mcr_gram_bound *g = new_bound(ctx, kernel, x, z ? z : x);
    if (!g)
        return MCR_NO_MEMORY;
    mcr_status s = mcr_binding_open(&g->binding, ctx, g->kernel, g->x,
                                    g->base.symmetric ? NULL : g->z);
    return hand_out(out, g, s ? s : open_scratch(g));
}

static mcr_status share(mcr_gram **out, mcr_gram *gram)
{
    const mcr_gram_bound *from = (const mcr_gram_bound *)gram;
    mcr_gram_bound *g = new_bound(gram->ctx, from->kernel, from->x, from->z);
    if (!g)
        return MCR_NO_MEMORY;
    g->prepared[0] = from->prepared[0];
    g->prepared[1] = from->prepared[1];
    g->lists = from->lists;
    g->binding = from->binding;
    g->shares = true;
    return hand_out(out, g, open_scratch(g));
}

static mcr_status select(mcr_gram **out, mcr_gram *gram, const mcr_rows *x, const mcr_rows *z)
{
    const mcr_gram_bound *g = (const mcr_gram_bound *)gram;
    mcr_data *rows = NULL, *cols = NULL;
    mcr_status s = x ? mcr_data_select(&rows, g->x, *x) : MCR_OK;
    if (!s && z)
        s = mcr_data_select(&cols, g->z, *z);
    if (!s)
        s = mcr_gram_open(out, gram->ctx, g->kernel, rows ? rows : g->x, cols);
    mcr_data_free(rows);
    mcr_data_free(cols);
    return s;
}

static mcr_status prepare(mcr_gram *gram, bool precise)
{
    mcr_gram_bound *g = (mcr_gram_bound *)gram;
    if (g->prepared[precise])
        return MCR_OK;
    mcr_status s = mcr_binding_prepare(g->binding, precise);
    if (!s)
        g->prepared[precise] = true;
    return s;
}

static mcr_status prepare_lists(mcr_gram *gram)
{
    mcr_gram_bound *g = (mcr_gram_bound *)gram;
    if (g->prepared[1] || g->lists)
        return MCR_OK;
    mcr_status s = mcr_binding_prepare_lists(g->binding);
    if (!s)
        g->lists = true;
    return s;
}

mcr_status mcr_gram_bound_batch(const mcr_vectors_batch **out, mcr_gram_bound *g, mcr_rows x,
                                bool precise)
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

mcr_status mcr_gram_bound_tile(const mcr_gram_bound *g, const mcr_vectors_batch *batch,
                               int64_t row_first, const mcr_tile *tile)
{
    if (!batch)
        return mcr_binding_block(g->binding, tile);
    return mcr_vectors_run(batch, &(mcr_vectors_job){
                                      .first = tile->z.index ? 0 : tile->z.first,
                                      .count = tile->z.count,
                                      .column = tile->z.index,
                                      .row_first = row_first,
                                      .rows = tile->x.count,
                                      .k = tile->k,
                                      .ld = tile->ld,
                                      .scratch = tile->scratch,
                                  });
}

static mcr_status error(mcr_gram *gram, bool precise, mcr_error *to)
{
    mcr_gram_bound *g = (mcr_gram_bound *)gram;
    mcr_status s = g->prepared[!precise] ? MCR_OK
                   : precise             ? prepare_lists(gram)
                                         : prepare(gram, precise);
    return s ? s : mcr_binding_error(g->binding, precise, to);
}

static mcr_status extended(mcr_gram *gram, mcr_extended *to)
{
    return mcr_binding_extended(((mcr_gram_bound *)gram)->binding, to);
}

/* ---- cost -------------------------------------------------------------------------------------*/

/* The cost of a node besides the products of vectors, in units of these. */
enum { NODE_WORK = 8, SLOW_WORK = 20000 };

static double nodes_work(const mcr_bound *node)
{
    double work = NODE_WORK + node->work;
    for (int c = 0; c < node->children; c++)
        work += nodes_work(node->child[c]);
    return work;
}

static double work(const mcr_gram *gram)
{
    const mcr_gram_bound *g = (const mcr_gram_bound *)gram;
    return nodes_work(g->binding->root) + mcr_vectors_work(g->binding->vectors);
}

static bool is_slow(const mcr_gram *gram)
{
    const mcr_gram_bound *g = (const mcr_gram_bound *)gram;
    return !g->binding->root->fused && work(gram) > SLOW_WORK;
}

static bool in_panels(const mcr_gram *gram)
{
    return mcr_vectors_in_panels(((const mcr_gram_bound *)gram)->binding->vectors);
}

static bool is_definite(const mcr_gram *gram)
{
    return mcr_kernel_definite(((const mcr_gram_bound *)gram)->kernel, NULL) == MCR_PSD;
}

/* ---- blocks -----------------------------------------------------------------------------------*/

typedef struct block_job {
    mcr_gram_bound *gram;
    mcr_rows x, z;
    char *k;
    int64_t ld, across; /* tiles in a row of tiles */
    int64_t tile_rows, tile_cols;
    size_t real;
    bool precise;
    const mcr_vectors_batch *batch; /* of a strip; NULL: not one vector leaf */
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
    return mcr_gram_bound_tile(job->gram, job->batch, i, &tile);
}

/* Rows that are packed together. */
enum { STRIP_ROWS = 10 * MCR_TILE_ROWS };

/* One vector leaf against columns that follow each other: rows are packed once for all of them. */
static mcr_status block_strips(const block_job *whole)
{
    mcr_status s = MCR_OK;
    for (int64_t i = 0; i < whole->x.count && !s; i += STRIP_ROWS) {
        block_job job = *whole;
        job.x = mcr_rows_part(whole->x, i, STRIP_ROWS);
        job.k = whole->k + (size_t)(i * whole->ld) * whole->real;
        s = mcr_gram_bound_batch(&job.batch, job.gram, job.x, job.precise);
        int64_t down = (job.x.count + job.tile_rows - 1) / job.tile_rows;
        if (!s)
            s = mcr_parallel(job.gram->base.ctx, down * job.across, block_tile, &job);
    }
    return s;
}

static mcr_status block(mcr_gram *gram, mcr_rows x, mcr_rows z, void *k, int64_t ld, bool precise)
{
    mcr_gram_bound *g = (mcr_gram_bound *)gram;
    mcr_status s = precise && z.index ? prepare_lists(gram) : prepare(gram, precise);
    if (s)
        return s;
    /* Columns that are listed one by one are packed for each tile, so tiles are tall. */
    bool tall = z.index && g->binding->root->fused;
    int64_t tile_rows = tall ? 4 * MCR_TILE_ROWS : MCR_TILE_ROWS;
    int64_t tile_cols = tall ? MCR_TILE_COLS / 2 : MCR_TILE_COLS;
    if (is_slow(gram))
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
    if (g->binding->root->fused && !z.index && job.across > 1)
        return block_strips(&job);
    return mcr_parallel(gram->ctx, down * job.across, block_tile, &job);
}

/* ---- the diagonal -----------------------------------------------------------------------------*/

typedef struct diagonal_job {
    const mcr_gram_bound *gram;
    int side;
    int64_t n;
    double *k;
} diagonal_job;

enum { DIAGONAL_CHUNK = 512 };

static mcr_status diagonal_chunk(void *arg, int64_t first, int64_t end)
{
    const diagonal_job *job = arg;
    return mcr_bound_diagonal(job->gram->binding->root, job->side,
                              (mcr_rows){NULL, first, end - first}, job->k + first);
}

static mcr_status diagonal(mcr_gram *gram, int side, double *k)
{
    diagonal_job job = {(mcr_gram_bound *)gram, side, side ? gram->cols : gram->rows, k};
    return mcr_parallel_chunks(gram->ctx, job.n, DIAGONAL_CHUNK, diagonal_chunk, &job);
}

mcr_status mcr_gram_bound_diagonal(const double **out, mcr_gram_bound *g)
{
    if (!g->diagonal) {
        double *k = mcr_alloc(g->base.ctx, (size_t)g->base.rows, sizeof *k);
        mcr_status s = k ? diagonal(&g->base, 0, k) : MCR_NO_MEMORY;
        if (s) {
            mcr_free(g->base.ctx, k);
            return s;
        }
        g->diagonal = k;
    }
    *out = g->diagonal;
    return MCR_OK;
}

static const mcr_gram_type bound_type = {
    .close = close_bound,
    .block = block,
    .diagonal = diagonal,
    .rows = mcr_gram_bound_rows,
    .share = share,
    .select = select,
    .error = error,
    .extended = extended,
    .work = work,
    .prepare = prepare,
    .prepare_lists = prepare_lists,
    .matrix = mcr_gram_bound_matrix,
    .multiply = mcr_gram_bound_multiply,
    .sums = mcr_gram_bound_sums,
    .depth = mcr_gram_bound_depth,
    .is_slow = is_slow,
    .in_panels = in_panels,
    .is_definite = is_definite,
};
