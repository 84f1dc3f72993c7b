/* vectors_batch.c: many rows, packed once, for all workers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kernel/vectors_impl.h"

#include <assert.h>

#include "base/threads.h"

struct mcr_vectors_batch {
    mcr *ctx;
    const mcr_fused *fused;
    bool precise;
    mcr_rows x;
    int64_t group_rows, groups, group_capacity;
    mcr_row_pack *pack;
    size_t *place; /* of each group in the space */
    char *buffer;
    size_t buffer_bytes;
};

mcr_status mcr_vectors_batch_open(mcr_vectors_batch **out, const mcr_fused *fused, bool precise)
{
    mcr *ctx = fused->v->ctx;
    *out = mcr_alloc_zero(ctx, 1, sizeof **out);
    if (!*out)
        return MCR_NO_MEMORY;
    (*out)->ctx = ctx;
    (*out)->fused = fused;
    (*out)->precise = precise;
    return MCR_OK;
}

void mcr_vectors_batch_close(mcr_vectors_batch *batch)
{
    if (!batch)
        return;
    mcr_free_all(batch->ctx, batch->pack, batch->place, batch->buffer, batch);
}

/* Rows of a group. Groups are packed in parallel. Sparse ones are large, because the column panels
 * are read once per group; dense ones are divided into chunks by the tiles anyway. */
static int64_t choose_group(const mcr_vectors_batch *b, mcr_rows x)
{
    enum { ENTRIES = 65536, MOST = 4096 };
    const mcr_vectors *v = b->fused->v;
    mcr_row_form form = mcr_row_pack_form(v, b->fused->op, b->precise);
    if (form == MCR_ROWS_LATER)
        return MCR_LATER_ROWS;
    if (form == MCR_ROWS_DENSE || x.count <= MCR_TILE_ROWS)
        return MCR_TILE_ROWS;
    int64_t entries = 0;
    for (int64_t t = 0; t < x.count; t++)
        entries += mcr_vectors_object(v, 0, mcr_rows_at(x, t)).count;
    int64_t rows = ENTRIES / (entries / x.count + 1) / MCR_TILE_ROWS * MCR_TILE_ROWS;
    return rows < MCR_TILE_ROWS ? MCR_TILE_ROWS : rows > MOST ? MOST : rows;
}

static mcr_rows group_of(const mcr_vectors_batch *b, int64_t g)
{
    return mcr_rows_part(b->x, g * b->group_rows, b->group_rows);
}

static mcr_status fill_group(void *arg, int64_t item, int worker)
{
    (void)worker;
    mcr_vectors_batch *b = arg;
    mcr_row_pack_fill(&b->pack[item], b->buffer + b->place[item], b->fused->v, b->fused->op,
                      b->precise, group_of(b, item));
    return MCR_OK;
}

static mcr_status reserve_groups(mcr_vectors_batch *b)
{
    if (b->groups <= b->group_capacity)
        return MCR_OK;
    mcr_free_all(b->ctx, b->pack, b->place);
    b->group_capacity = 0;
    b->pack = mcr_alloc(b->ctx, (size_t)b->groups, sizeof *b->pack);
    b->place = mcr_alloc(b->ctx, (size_t)b->groups, sizeof *b->place);
    if (!b->pack || !b->place)
        return MCR_NO_MEMORY;
    b->group_capacity = b->groups;
    return MCR_OK;
}

static mcr_status reserve_buffer(mcr_vectors_batch *b)
{
    size_t bytes = 0;
    bool fits = true;
    for (int64_t g = 0; g < b->groups && fits; g++) {
        size_t more = mcr_row_pack_bytes(b->fused->v, b->fused->op, b->precise, group_of(b, g));
        b->place[g] = bytes;
        fits = more != SIZE_MAX && mcr_size_add(bytes, more, &bytes);
    }
    if (!fits)
        return mcr_fail(b->ctx, MCR_NO_MEMORY, "too many rows to pack at once");
    if (bytes <= b->buffer_bytes)
        return MCR_OK;
    mcr_free(b->ctx, b->buffer);
    b->buffer_bytes = 0;
    b->buffer = mcr_alloc(b->ctx, bytes, 1);
    if (!b->buffer)
        return MCR_NO_MEMORY;
    b->buffer_bytes = bytes;
    return MCR_OK;
}

mcr_status mcr_vectors_batch_fill(mcr_vectors_batch *b, mcr_rows x)
{
    b->x = x;
    b->group_rows = choose_group(b, x);
    b->groups = mcr_parts(x.count, b->group_rows);
    mcr_status s = reserve_groups(b);
    if (!s)
        s = reserve_buffer(b);
    if (!s)
        s = mcr_parallel(b->ctx, b->groups, fill_group, b);
    if (s)
        b->groups = 0;
    b->x.index = NULL; /* belongs to the caller */
    return s;
}

/* Part of one group: rows first .. first+count-1 of it. */
static mcr_status run_part(const mcr_vectors_batch *b, const mcr_vectors_pass *whole, int64_t g,
                           int64_t first, int64_t count, int64_t done)
{
    mcr_vectors_pass p = *whole;
    mcr_row_pack part = mcr_row_pack_part(&b->pack[g], p.kit, p.v->cols, first, count);
    if (p.k)
        p.k += (size_t)(done * p.ld) * (size_t)p.kit->bytes;
    if (p.row)
        p.row += done;
    if (p.coef)
        p.coef += done;
    if (p.rough)
        p.rough += done;
    return mcr_vectors_run_packs(&p, &part, 1, b->group_rows);
}

mcr_status mcr_vectors_run(const mcr_vectors_batch *b, const mcr_vectors_job *job)
{
    assert(job->row_first % MCR_TILE_ROWS == 0);
    int64_t rows = job->rows ? job->rows : b->x.count - job->row_first;
    if (b->groups == 0 || job->count == 0)
        return MCR_OK;
    mcr_vectors_pass p = {
        .v = b->fused->v,
        .fused = b->fused,
        .op = b->fused->op,
        .precise = b->precise,
        .kit = mcr_vectors_kit(b->precise),
        .z = {job->column ? job->column + job->first : NULL, job->first, job->count},
        .k = job->row ? NULL : job->k,
        .ld = job->ld,
        .row = job->row,
        .row_first = job->before,
        .stream = job->stream,
        .coef = job->coef,
        .rough = job->rough,
        .f = job->coef ? job->f + job->before : NULL,
        .outputs = job->outputs ? job->outputs : 1,
        .coef_ld = job->coef_ld,
        .f_ld = job->f_ld,
        .scratch = job->scratch,
    };
    if (rows == b->x.count)
        return mcr_vectors_run_packs(&p, b->pack, b->groups, b->group_rows);
    mcr_status s = MCR_OK;
    for (int64_t done = 0; done < rows && !s;) {
        int64_t at = job->row_first + done, g = at / b->group_rows, first = at % b->group_rows;
        int64_t left = b->pack[g].count - first;
        int64_t count = rows - done < left ? rows - done : left;
        s = run_part(b, &p, g, first, count, done);
        done += count;
    }
    return s;
}
