/* pass.c: whole rows of K, kept and/or summed, in one pass over the columns.
 *
 * Chunks of columns are distributed over the workers; each processes all rows of the batch in
 * order, so that the sums do not depend on the number of threads.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gram/bound.h"

#include <string.h>

#include "base/threads.h"
#include "kernel/vectors.h"
#include "linalg/tiles.h"

typedef struct pass_job {
    mcr_gram_bound *gram;
    const mcr_gram_pass *pass;
    const mcr_tile_kit *kit;
    int64_t cols; /* of a chunk */
    mcr_rows z;   /* all columns of the pass */
} pass_job;

/* Rows of a tile in a general expression: small, so that its scratch tiles stay in the cache. */
enum { PASS_ROWS = 64 };

static mcr_status pass_chunk(void *arg, int64_t item, int worker)
{
    const pass_job *job = arg;
    const mcr_gram_pass *p = job->pass;
    mcr_scratch *scratch = job->gram->scratch[worker];
    int64_t j = item * job->cols, n = job->z.count;
    int64_t cols = n - j < job->cols ? n - j : job->cols;
    size_t real = (size_t)job->kit->bytes, mark = mcr_scratch_mark(scratch);
    char *k = mcr_scratch_take(scratch, real * PASS_ROWS * MCR_TILE_COLS);
    if (!k)
        return MCR_NO_MEMORY;
    const void *row[PASS_ROWS];
    mcr_status s = MCR_OK;
    for (int64_t i = 0; i < p->x.count && !s; i += PASS_ROWS) {
        int64_t rows = p->x.count - i < PASS_ROWS ? p->x.count - i : PASS_ROWS;
        mcr_tile tile = {
            .x = mcr_rows_part(p->x, i, rows),
            .z = mcr_rows_part(job->z, j, cols),
            .precise = p->precise,
            .k = k,
            .ld = MCR_TILE_COLS,
            .scratch = scratch,
        };
        s = mcr_binding_block(job->gram->binding, &tile);
        for (int64_t r = 0; r < rows && !s; r++) {
            row[r] = k + (size_t)(r * MCR_TILE_COLS) * real;
            if (p->row)
                memcpy((char *)p->row[i + r] + (size_t)j * real, row[r], (size_t)cols * real);
        }
        for (int64_t o = 0; o < p->outputs && !s; o++)
            job->kit->update(p->f + o * p->f_ld + j, row, p->coef + o * p->coef_ld + i, rows, 0,
                             cols);
    }
    mcr_scratch_release(scratch, mark);
    return s;
}

/* ---- one vector leaf: rows packed once, values never leave the registers ----------------------*/

/* Columns of one item: enough that scheduling costs nothing, few enough that their panels stay in
 * the second-level cache while all rows are processed. */
enum { FUSED_COLS = 512 };
/* Fewer multiply-adds take less time than waking another worker. */
#define ALONE_WORK 4e5

static mcr_status fused_chunk(void *arg, int64_t item, int worker)
{
    const pass_job *job = arg;
    const mcr_gram_pass *p = job->pass;
    int64_t j = item * job->cols, n = job->z.count;
    return mcr_vectors_run(job->gram->batch[p->precise],
                           &(mcr_vectors_job){
                               .first = job->z.first + j,
                               .column = job->z.index,
                               .before = j,
                               .count = n - j < job->cols ? n - j : job->cols,
                               .row = p->row,
                               .stream = p->row != NULL && !p->soon,
                               .coef = p->outputs ? p->coef : NULL,
                               .rough = p->rough,
                               .f = p->f,
                               .outputs = p->outputs,
                               .coef_ld = p->coef_ld,
                               .f_ld = p->f_ld,
                               .scratch = job->gram->scratch[worker],
                           });
}

/* All chunks of columns. */
static mcr_status share_out(pass_job *job, mcr_work *work)
{
    mcr *ctx = job->gram->base.ctx;
    int64_t items = (job->z.count + job->cols - 1) / job->cols;
    return job->pass->phase
               ? mcr_parallel_reported(ctx, job->pass->phase, job->pass->done, 0, items, work, job)
               : mcr_parallel(ctx, items, work, job);
}

static mcr_status fused_pass(pass_job *job)
{
    mcr_gram *g = &job->gram->base;
    const mcr_gram_pass *p = job->pass;
    const mcr_vectors_batch *batch;
    mcr_status s = p->again ? MCR_OK : mcr_gram_bound_batch(&batch, job->gram, p->x, p->precise);
    if (s)
        return s;
    if (job->gram->value_work == 0)
        job->gram->value_work = mcr_gram_work(g);
    double values = (double)p->x.count * (double)job->z.count;
    job->cols = values * job->gram->value_work < ALONE_WORK ? job->z.count : FUSED_COLS;
    return share_out(job, fused_chunk);
}

mcr_status mcr_gram_bound_rows(mcr_gram *g, const mcr_gram_pass *pass)
{
    const mcr_tiles *tiles = mcr_tiles_best();
    pass_job job = {(mcr_gram_bound *)g, pass, pass->precise ? tiles->f64 : tiles->f32,
                    mcr_gram_is_slow(g) ? MCR_SLOW_TILE : MCR_TILE_COLS,
                    pass->z.count ? pass->z : (mcr_rows){NULL, 0, g->cols}};
    if (job.z.count == 0)
        return MCR_OK;
    if (job.gram->binding->root->fused)
        return fused_pass(&job);
    return share_out(&job, pass_chunk);
}
