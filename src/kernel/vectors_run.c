/* vectors_run.c: packed rows against columns: tiles, sums, corrections, maps.
 *
 * If linalg/tiles can compute kernel values from vectors in registers, it does ("direct").
 * Otherwise a small tile ("stage") of dot products or distances is computed, corrected and mapped
 * while it is in the cache, then stored and summed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kernel/vectors_impl.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

/* Rows and columns of a stage: 96 KiB of doubles. */
enum { STAGE_ROWS = 48, STAGE_COLS = 256 };

#define real      float
#define bits      uint32_t
#define ROW(name) name##_f32
#include "kernel/vectors_row.h"
#undef real
#undef bits
#undef ROW
#define real      double
#define bits      uint64_t
#define ROW(name) name##_f64
#include "kernel/vectors_row.h"
#undef real
#undef bits
#undef ROW

static double real_at(const void *a, int64_t i, bool precise)
{
    return precise ? ((const double *)a)[i] : (double)((const float *)a)[i];
}

static char *at(const void *base, int64_t element, const mcr_tile_kit *kit)
{
    return (char *)(uintptr_t)base + element * kit->bytes;
}

/* ---- what there is to do ----------------------------------------------------------------------*/

static void set_bounds(mcr_vectors_pass *p)
{
    double unit = p->precise ? DBL_EPSILON / 2 : (double)FLT_EPSILON / 2;
    double tolerance = p->precise ? MCR_DISTANCE_TOLERANCE : MCR_DISTANCE_TOLERANCE_FLOAT;
    p->share = p->v->rounding * unit / tolerance;
    p->least_norm = 1 / (p->share * p->v->sharpness);
}

/* The largest of n values, in independent lanes so that compilers vectorise it. */
#define LARGEST(real)                                                                              \
    static double largest_##real(const real *v, int64_t n)                                         \
    {                                                                                              \
        enum { LANES = 16 };                                                                       \
        real most[LANES] = {0};                                                                    \
        int64_t i = 0;                                                                             \
        for (; i + LANES <= n; i += LANES)                                                         \
            for (int l = 0; l < LANES; l++)                                                        \
                most[l] = v[i + l] > most[l] ? v[i + l] : most[l];                                 \
        for (; i < n; i++)                                                                         \
            most[0] = v[i] > most[0] ? v[i] : most[0];                                             \
        for (int l = 1; l < LANES; l++)                                                            \
            most[0] = most[l] > most[0] ? most[l] : most[0];                                       \
        return (double)most[0];                                                                    \
    }
LARGEST(float)
LARGEST(double)
#undef LARGEST

/* Whether distances between these rows and columns may have lost significant digits. */
static bool may_cancel(const mcr_vectors_pass *p, const mcr_row_pack *rows, const mcr_segment *s)
{
    if (!mcr_tile_op_uses_norms(p->op))
        return false;
    const mcr_vector_side *z = &p->v->side[1];
    if (z->norms[p->precise] && rows->largest + z->largest[p->precise] <= 0.999 * p->least_norm)
        return false; /* of all columns, so that few rows need not look at so many norms */
    double largest = p->precise ? largest_double(s->norms, s->count)
                                : largest_float(s->norms, s->count);
    return rows->largest + largest > 0.999 * p->least_norm;
}

static bool is_dot(mcr_tile_op op)
{
    return op == MCR_TILE_DOT || op == MCR_TILE_POLY;
}

/* ---- tiles ------------------------------------------------------------------------------------*/

/* The tile job for rows against columns c0 .. c0+count-1 of a segment, c0 at the start of a panel;
 * the caller adds the outputs. */
static mcr_tile_job tile_job(const mcr_vectors_pass *p, mcr_tile_op op, const mcr_row_pack *rows,
                             const mcr_segment *s, int64_t c0, int64_t count)
{
    mcr_tile_job job = {
        .op = op,
        .dims = s->dims,
        .rows = rows->count,
        .columns = count,
        .x = rows->dense,
        .start = rows->start,
        .index = rows->index,
        .value = rows->value,
        .z = at(s->values, c0 * s->dims, p->kit),
        .x_norms = rows->norms,
        .z_norms = s->norms ? at(s->norms, c0, p->kit) : NULL,
    };
    if (p->fused) {
        job.gamma = p->fused->gamma;
        job.scale = p->fused->scale;
        job.offset = p->fused->offset;
        job.degree = p->fused->degree;
    }
    return job;
}

static void run_direct(const mcr_vectors_pass *p, const mcr_row_pack *rows, int64_t r0,
                       const mcr_segment *s)
{
    mcr_tile_job job = tile_job(p, p->op, rows, s, 0, s->count);
    job.stream = p->stream;
    if (p->row) {
        for (int64_t r = 0; r < rows->count; r++)
            p->pointer[r] = at(p->row[r0 + r], p->row_first + s->at, p->kit);
        job.out_rows = p->pointer;
    } else if (p->k) {
        job.out = at(p->k, r0 * p->ld + s->at, p->kit);
        job.ld = p->ld;
    }
    if (p->coef) {
        job.coef = p->coef + r0;
        job.rough = p->rough ? p->rough + r0 : NULL;
        job.f = p->f + s->at;
        job.outputs = p->outputs;
        job.coef_ld = p->coef_ld;
        job.f_ld = p->f_ld;
    }
    p->kit->run(&job, 0, mcr_tile_panels(s->count, p->kit->width));
}

/* Numbers of the objects column .. column+count-1 of z. */
static const double *of_columns(const mcr_vectors_pass *p, const double *all, int64_t column,
                                int64_t count)
{
    if (!all || !p->z.index)
        return all ? all + p->z.first + column : NULL;
    for (int64_t j = 0; j < count; j++)
        p->gathered[j] = all[p->z.index[column + j]];
    return p->gathered;
}

/* The last steps of a leaf, from a row of dot products or squared distances. */
static void finish_row(const mcr_vectors_pass *p, mcr_tile_op have, void *k, int64_t n, double xx,
                       const double *zz)
{
    const mcr_fused *f = p->fused;
    const mcr_vmath *math = p->kit->math;
    if (!f)
        return;
    if (f->op != have && f->op == MCR_TILE_POLY) {
        math->affine(k, f->scale, f->offset, n);
        math->power(k, f->degree, n);
    } else if (f->op != have && f->op == MCR_TILE_RBF) {
        math->decay(k, f->gamma, n); /* as in tiles: no value depends on its neighbours */
    }
    if (f->map)
        f->map(f, math, k, n, xx, zz);
}

static void lift_rows(const mcr_vectors_pass *p, const mcr_row_pack *rows, char *k, int64_t ld,
                      int64_t column, int64_t n)
{
    const double *lift = of_columns(p, p->v->side[1].lift, column, n);
    for (int64_t r = 0; r < rows->count; r++) {
        void *row = at(k, r * ld, p->kit);
        double x_lift = p->v->side[0].lift[rows->object[r]];
        if (p->precise)
            lift_f64(row, n, x_lift, lift, p->v->shift2);
        else
            lift_f32(row, n, x_lift, lift, p->v->shift2);
    }
}

static void correct_rows(const mcr_vectors_pass *p, const mcr_row_pack *rows, char *k, int64_t ld,
                         const void *z_norms, int64_t column, int64_t n)
{
    for (int64_t r = 0; r < rows->count; r++) {
        void *row = at(k, r * ld, p->kit);
        if (p->precise)
            correct_f64(row, n, ((const double *)rows->norms)[r], z_norms, p, rows->object[r],
                        column);
        else
            correct_f32(row, n, ((const float *)rows->norms)[r], z_norms, p, rows->object[r],
                        column);
    }
}

/* Columns c0 .. c0+n-1 of a segment against a few rows, from tile to value in memory. */
static void run_stage(const mcr_vectors_pass *p, mcr_tile_op op, bool correct,
                      const mcr_row_pack *rows, int64_t r0, const mcr_segment *s, int64_t c0,
                      int64_t n)
{
    int64_t column = s->at + c0, ld = p->stage ? STAGE_COLS : p->ld;
    char *k = p->stage ? p->stage : at(p->k, r0 * p->ld + column, p->kit);
    mcr_tile_job job = tile_job(p, op, rows, s, c0, n);
    job.out = k;
    job.ld = ld;
    p->kit->run(&job, 0, mcr_tile_panels(n, p->kit->width));
    if (correct)
        correct_rows(p, rows, k, ld, job.z_norms, column, n);
    bool norms = is_dot(op) && p->fused && p->fused->map;
    const double *zz = norms ? of_columns(p, p->v->side[1].norm2, column, n) : NULL;
    for (int64_t r = 0; r < rows->count; r++)
        finish_row(p, op, at(k, r * ld, p->kit), n,
                   norms ? p->v->side[0].norm2[rows->object[r]] : 0, zz);
    if (p->row)
        for (int64_t r = 0; r < rows->count; r++)
            memcpy(at(p->row[r0 + r], p->row_first + column, p->kit), at(k, r * ld, p->kit),
                   (size_t)(n * p->kit->bytes));
    if (!p->coef)
        return;
    const void *from[STAGE_ROWS];
    for (int64_t r = 0; r < rows->count; r++)
        from[r] = at(k, r * ld, p->kit);
    for (int64_t o = 0; o < p->outputs; o++)
        p->kit->update(p->f + o * p->f_ld + column, from, p->coef + o * p->coef_ld + r0,
                       rows->count, 0, n);
}

static void run_staged(const mcr_vectors_pass *p, mcr_tile_op op, bool correct,
                       const mcr_row_pack *rows, int64_t r0, const mcr_segment *s)
{
    for (int64_t c = 0; c < s->count; c += STAGE_COLS)
        for (int64_t r = 0; r < rows->count; r += STAGE_ROWS) {
            int64_t columns = s->count - c < STAGE_COLS ? s->count - c : STAGE_COLS;
            int64_t count = rows->count - r < STAGE_ROWS ? rows->count - r : STAGE_ROWS;
            mcr_row_pack part = mcr_row_pack_part(rows, p->kit, s->dims, r, count);
            run_stage(p, op, correct, &part, r0 + r, s, c, columns);
        }
}

/* The pack's rows, the first of which is row r0 of the outputs, against one segment. */
static void run_segment(const mcr_vectors_pass *p, const mcr_row_pack *rows, int64_t r0,
                        const mcr_segment *s)
{
    /* Shifted vectors with dot products: two leaves share them, see block_shared. */
    assert(!(p->fused && is_dot(p->op) && p->v->shift));
    bool correct = may_cancel(p, rows, s);
    if (correct || (p->fused && p->fused->map))
        run_staged(p, correct ? MCR_TILE_SQDIST : p->op, correct, rows, r0, s);
    else
        run_direct(p, rows, r0, s);
}

/* Buffers in the scratch memory that a pass needs; NULL members: not needed. */
static mcr_status take_buffers(mcr_vectors_pass *p, int64_t group_rows)
{
    if (p->row) {
        p->pointer = mcr_scratch_take(p->scratch, (size_t)group_rows * sizeof *p->pointer);
        if (!p->pointer)
            return MCR_NO_MEMORY;
    }
    if (!p->k || p->row) {
        p->stage = mcr_scratch_take(p->scratch, (size_t)(STAGE_ROWS * STAGE_COLS * p->kit->bytes));
        if (!p->stage)
            return MCR_NO_MEMORY;
    }
    if (p->z.index) {
        p->gathered = mcr_scratch_take(p->scratch, STAGE_COLS * sizeof *p->gathered);
        if (!p->gathered)
            return MCR_NO_MEMORY;
    }
    return MCR_OK;
}

/* Runs packs against all columns; the columns are packed once for all of them. */
static mcr_status walk_columns(const mcr_vectors_pass *p, const mcr_row_pack *packs, int64_t count,
                               int64_t group_rows, int64_t first_group)
{
    const mcr_row_pack *largest = packs;
    for (int64_t g = 1; g < count; g++)
        if (packs[g].start &&
            (!largest->start || packs[g].start[packs[g].count] > largest->start[largest->count]))
            largest = &packs[g];
    size_t mark = mcr_scratch_mark(p->scratch);
    mcr_column_walk walk;
    mcr_segment s;
    mcr_status status = mcr_column_walk_open(&walk, p->v, p->op, p->precise, p->z, largest,
                                             p->scratch);
    while (!status && mcr_column_walk_next(&walk, &s))
        for (int64_t g = 0; g < count; g++)
            run_segment(p, mcr_column_walk_rows(&walk, &s, packs + g),
                        (first_group + g) * group_rows, &s);
    mcr_scratch_release(p->scratch, mark);
    return status;
}

mcr_status mcr_vectors_run_packs(mcr_vectors_pass *p, const mcr_row_pack *packs, int64_t count,
                                 int64_t group_rows)
{
    size_t mark = mcr_scratch_mark(p->scratch);
    /* Rows whose features are merged with those of the columns have separate columns. */
    bool later = mcr_row_pack_form(p->v, p->op, p->precise) == MCR_ROWS_LATER;
    set_bounds(p);
    mcr_status status = take_buffers(p, group_rows);
    for (int64_t g = 0; g < count && !status && packs[g].norms; g++)
        status = mcr_vectors_check_norm(p->v, 0, packs[g].longest, packs[g].largest, p->precise);
    for (int64_t g = 0; g < count && !status; g += later ? 1 : count)
        status = walk_columns(p, packs + g, later ? 1 : count, group_rows, g);
    mcr_scratch_release(p->scratch, mark);
    return status;
}

/* ---- tiles of the engine ----------------------------------------------------------------------*/

/* The tile's rows, packed in the scratch in groups, against its columns. */
static mcr_status run_tile(mcr_vectors_pass *p, mcr_rows x)
{
    bool later = mcr_row_pack_form(p->v, p->op, p->precise) == MCR_ROWS_LATER;
    int64_t group = later ? MCR_LATER_ROWS : MCR_TILE_ROWS;
    mcr_vectors_pass part = *p;
    for (int64_t r = 0; r < x.count; r += group) {
        mcr_rows rows = mcr_rows_part(x, r, group);
        size_t mark = mcr_scratch_mark(p->scratch);
        size_t bytes = mcr_row_pack_bytes(p->v, p->op, p->precise, rows);
        void *buffer = mcr_scratch_take(p->scratch, bytes);
        if (!buffer)
            return MCR_NO_MEMORY;
        mcr_row_pack pack;
        mcr_row_pack_fill(&pack, buffer, p->v, p->op, p->precise, rows);
        part.k = at(p->k, r * p->ld, p->kit);
        mcr_status s = mcr_vectors_run_packs(&part, &pack, 1, group);
        mcr_scratch_release(p->scratch, mark);
        if (s)
            return s;
    }
    return MCR_OK;
}

static mcr_vectors_pass tile_pass(const mcr_vectors *v, const mcr_tile *tile)
{
    return (mcr_vectors_pass){
        .v = v,
        .precise = tile->precise != 0,
        .kit = mcr_vectors_kit(tile->precise != 0),
        .z = tile->z,
        .k = tile->k,
        .ld = tile->ld,
        .outputs = 1,
        .scratch = tile->scratch,
    };
}

mcr_status mcr_vectors_tile(const mcr_fused *f, const mcr_tile *tile)
{
    mcr_vectors_pass p = tile_pass(f->v, tile);
    p.fused = f;
    p.op = f->op;
    return run_tile(&p, tile->x);
}

/* ---- products shared by leaves ----------------------------------------------------------------*/

/* Fills a shared slot by `op` unless it is valid; its rows are MCR_TILE_COLS apart. */
static mcr_status shared_tile(void **buffer, const mcr_vectors *v, const mcr_tile *tile, int slot,
                              mcr_tile_op op)
{
    bool *valid;
    assert(tile->x.count <= MCR_TILE_ROWS && tile->z.count <= MCR_TILE_COLS);
    *buffer = mcr_scratch_slot(tile->scratch, slot, &valid);
    if (*valid)
        return MCR_OK;
    mcr_vectors_pass p = tile_pass(v, tile);
    p.op = op;
    p.k = *buffer;
    p.ld = MCR_TILE_COLS;
    mcr_status s = run_tile(&p, tile->x);
    *valid = !s;
    return s;
}

static void copy_rows(const mcr_tile *tile, const void *from, size_t real)
{
    for (int64_t r = 0; r < tile->x.count; r++)
        memcpy((char *)tile->k + (size_t)(r * tile->ld) * real,
               (const char *)from + (size_t)(r * MCR_TILE_COLS) * real,
               (size_t)tile->z.count * real);
}

/* Norms of packed objects of a side, contiguous. */
static const void *norms_of(const mcr_vectors *v, int side, mcr_rows rows, bool precise,
                            void *buffer)
{
    const char *all = v->side[side].norms[precise];
    size_t real = precise ? sizeof(double) : sizeof(float);
    if (!rows.index)
        return all + (size_t)rows.first * real;
    for (int64_t t = 0; t < rows.count; t++)
        memcpy((char *)buffer + (size_t)t * real, all + (size_t)rows.index[t] * real, real);
    return buffer;
}

/* Squared distances in place of the dot products of a tile. */
static void distances_from_products(mcr_vectors_pass *p, const mcr_tile *tile, int64_t *object)
{
    double buffer[2][MCR_TILE_ROWS > MCR_TILE_COLS ? MCR_TILE_ROWS : MCR_TILE_COLS];
    const void *x = norms_of(p->v, 0, tile->x, p->precise, buffer[0]);
    const void *z = norms_of(p->v, 1, tile->z, p->precise, buffer[1]);
    mcr_row_pack rows = {.count = tile->x.count, .object = object, .norms = (void *)(uintptr_t)x};
    mcr_segment s = {.count = tile->z.count, .norms = z};
    for (int64_t r = 0; r < tile->x.count; r++) {
        object[r] = mcr_rows_at(tile->x, r);
        rows.largest = fmax(rows.largest, real_at(x, r, p->precise));
        void *k = at(p->k, r * p->ld, p->kit);
        if (p->precise)
            distances_f64(k, tile->z.count, ((const double *)x)[r], z);
        else
            distances_f32(k, tile->z.count, ((const float *)x)[r], z);
    }
    if (may_cancel(p, &rows, &s))
        correct_rows(p, &rows, p->k, p->ld, z, 0, tile->z.count);
}

/* The tile with x.z or |x-z|^2, from the shared products. */
static mcr_status shared_base(mcr_vectors_pass *p, const mcr_tile *tile, bool dot)
{
    const mcr_vectors *v = p->v;
    size_t real = (size_t)p->kit->bytes;
    int64_t object[MCR_TILE_ROWS];
    void *buffer;
    mcr_status s = MCR_OK;
    if (v->product_slot < 0) {
        s = shared_tile(&buffer, v, tile, v->distance_slot, MCR_TILE_SQDIST);
        if (!s)
            copy_rows(tile, buffer, real);
        return s;
    }
    bool *valid = NULL;
    if (!dot && v->distance_slot >= 0) {
        buffer = mcr_scratch_slot(tile->scratch, v->distance_slot, &valid);
        if (*valid) {
            copy_rows(tile, buffer, real);
            return MCR_OK;
        }
    }
    void *product;
    s = shared_tile(&product, v, tile, v->product_slot, MCR_TILE_DOT);
    if (s)
        return s;
    copy_rows(tile, product, real);
    if (!dot)
        distances_from_products(p, tile, object);
    if (valid) {
        for (int64_t r = 0; r < tile->x.count; r++)
            memcpy(at(buffer, r * MCR_TILE_COLS, p->kit), at(p->k, r * p->ld, p->kit),
                   (size_t)tile->z.count * real);
        *valid = true;
    }
    return MCR_OK;
}

/* A leaf's values from the shared products. */
static mcr_status block_shared(const mcr_fused *fused, const mcr_tile *tile)
{
    const mcr_vectors *v = fused->v;
    mcr_vectors_pass p = tile_pass(v, tile);
    bool dot = is_dot(fused->op);
    double gathered[MCR_TILE_COLS];
    p.fused = fused;
    p.op = dot ? MCR_TILE_DOT : MCR_TILE_SQDIST;
    p.gathered = gathered;
    set_bounds(&p);
    mcr_status s = shared_base(&p, tile, dot);
    if (s)
        return s;
    int64_t object[MCR_TILE_ROWS];
    mcr_row_pack rows = {.count = tile->x.count, .object = object};
    for (int64_t r = 0; r < tile->x.count; r++)
        object[r] = mcr_rows_at(tile->x, r);
    if (dot && v->shift)
        lift_rows(&p, &rows, p.k, p.ld, 0, tile->z.count);
    const double *zz = dot ? of_columns(&p, v->side[1].norm2, 0, tile->z.count) : NULL;
    for (int64_t r = 0; r < tile->x.count; r++)
        finish_row(&p, p.op, at(p.k, r * p.ld, p.kit), tile->z.count,
                   dot ? v->side[0].norm2[object[r]] : 0, zz);
    return MCR_OK;
}

mcr_status mcr_vectors_block(const mcr_bound *bound, const mcr_tile *tile)
{
    const mcr_fused *f = bound->fused;
    const mcr_vectors *v = f->v;
    if ((is_dot(f->op) && v->product_slot >= 0) ||
        (mcr_tile_op_uses_norms(f->op) && (v->product_slot >= 0 || v->distance_slot >= 0)))
        return block_shared(f, tile);
    return mcr_vectors_tile(f, tile);
}
