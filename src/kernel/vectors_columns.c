/* vectors_columns.c: columns in the layout of linalg/tiles, all at once or on demand.
 *
 * Wide data: a group of MCR_WIDE_COLUMNS columns holds only the features that its columns have;
 * rows are reduced to these features for the group. A feature that one of the two objects lacks
 * adds nothing to a dot product, so that the values are the same bits. For sums of other functions
 * rows and columns are both packed with all features that occur in any of them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kernel/vectors_impl.h"

#include <assert.h>
#include <string.h>

#include "base/threads.h"

enum {
    SEGMENT_BYTES = 512 * 1024, /* packed on demand: size of a segment of 1 to 8 panels */
    SEGMENT_PANELS = 8,
    PANELS_A_TASK = 8
};

/* ---- features of a group ----------------------------------------------------------------------*/

static size_t words(const mcr_vectors *v)
{
    return (size_t)v->cols / 64 + 1;
}

static void see(uint64_t *seen, const mcr_vectors *v, int side, int64_t stored)
{
    mcr_vector x = mcr_store_vector(v->side[side].field.store, stored);
    for (int64_t e = 0; e < x.count; e++) {
        int64_t k = mcr_vector_column(&x, e);
        seen[k / 64] |= (uint64_t)1 << (k % 64);
    }
}

/* Lists the features seen, ascending, and clears the marks. */
static int64_t list_seen(uint64_t *seen, const mcr_vectors *v, int32_t *feature)
{
    int64_t count = 0, all = (int64_t)words(v);
    for (int64_t w = 0; w < all; w++) {
        uint64_t left = seen[w];
        seen[w] = 0;
        for (; left; left &= left - 1)
            feature[count++] = (int32_t)(w * 64 + __builtin_ctzll(left));
    }
    return count;
}

/* Panels of the first `count` objects of the source, with the listed features only. map and
 * scale have space for all features; map is -1 everywhere before and after. */
static void pack_group(void *values, const mcr_vectors *v, const mcr_tile_kit *kit,
                       mcr_tile_source source, int64_t count, int32_t width, const int32_t *feature,
                       int64_t features, int32_t *map, double *scale)
{
    for (int64_t k = 0; k < features; k++) {
        map[feature[k]] = (int32_t)k;
        if (v->scale)
            scale[k] = v->scale[feature[k]];
    }
    source.dims = features;
    source.map = map;
    source.scale = v->scale ? scale : NULL;
    size_t panel = (size_t)(features * width) * (size_t)kit->bytes;
    for (int64_t c = 0; c < count; c += width)
        kit->pack((char *)values + panel * (size_t)(c / width), width, &source, c,
                  count - c < width ? count - c : width);
    for (int64_t k = 0; k < features; k++)
        map[feature[k]] = -1;
}

/* ---- all at once ------------------------------------------------------------------------------*/

typedef struct pack_job {
    mcr_vectors *v;
    mcr_vector_panels *to;
    const mcr_tile_kit *kit;
    mcr_tile_source source;
    int64_t offset, panels;
    void *norms;
    double began;
} pack_job;

/* Packing that takes longer than this stops at the time limit. Shorter packing may belong to the
 * certificate of an existing model. */
#define LOOK_SECONDS 0.2

static mcr_status pack_panels(void *arg, int64_t first, int64_t end)
{
    const pack_job *job = arg;
    const mcr_tile_kit *kit = job->kit;
    int64_t n = job->v->side[1].field.count, dims = job->v->cols;
    double now = mcr_now();
    if (now - job->began > LOOK_SECONDS && mcr_deadline_passed(job->v->ctx, now))
        return mcr_fail(job->v->ctx, MCR_STOPPED, "interrupted");
    for (int64_t p = first; p < end; p++) {
        int64_t at = p * kit->width, left = n - at;
        size_t bytes = (size_t)at * (size_t)kit->bytes;
        char *panel = (char *)job->to->values + bytes * (size_t)dims;
        kit->pack(panel, kit->width, &job->source, job->offset + at,
                  left < kit->width ? left : kit->width);
        if (job->norms)
            kit->norms((char *)job->norms + bytes, panel, kit->width, dims);
    }
    return MCR_OK;
}

/* Takes bytes from the budget if they are a fair share of the remainder. */
static bool take_share(mcr_vectors *v, size_t bytes)
{
    if (bytes > mcr_budget_left(v->ctx) / 4)
        return false;
    if (mcr_budget_take(v->ctx, bytes, "packed vectors"))
        return false;
    v->budget += bytes;
    return true;
}

static mcr_status pack_full(pack_job *job)
{
    mcr_vectors *v = job->v;
    size_t columns = (size_t)(job->panels * job->kit->width), bytes;
    if (!mcr_size_mul(columns * (size_t)job->kit->bytes, (size_t)v->cols, &bytes) ||
        !take_share(v, bytes))
        return MCR_OK;
    job->to->values = mcr_alloc(v->ctx, bytes, 1);
    if (!job->to->values)
        return MCR_NO_MEMORY;
    if (v->needs & MCR_NEEDS_DISTANCE) {
        job->norms = mcr_alloc(v->ctx, columns, (size_t)job->kit->bytes);
        if (!job->norms)
            return MCR_NO_MEMORY;
    }
    job->began = mcr_now();
    return mcr_parallel_chunks(v->ctx, job->panels, PANELS_A_TASK, pack_panels, job);
}

static mcr_status check_norms(mcr_vectors *v, const void *norms, bool precise)
{
    mcr_status s = MCR_OK;
    double largest = 0;
    for (int64_t i = 0; i < v->side[1].field.count && !s; i++) {
        double norm = precise ? ((const double *)norms)[i] : (double)((const float *)norms)[i];
        s = mcr_vectors_check_norm(v, 1, i, norm, precise);
        largest = norm > largest ? norm : largest;
    }
    v->side[1].largest[precise] = largest;
    return s;
}

/* They are recomputed with the panels. */
static void forget_norms(mcr_vectors *v, bool precise)
{
    if (v->side[0].norms[precise] != v->side[1].norms[precise])
        mcr_free(v->ctx, v->side[0].norms[precise]);
    mcr_free(v->ctx, v->side[1].norms[precise]);
    v->side[0].norms[precise] = v->side[1].norms[precise] = NULL;
    v->panels[precise].ready = false;
}

mcr_status mcr_vectors_pack(mcr_vectors *v, bool precise, bool lists)
{
    size_t budget = v->budget;
    if (v->panels[precise].ready)
        forget_norms(v, precise);
    pack_job job = {.v = v, .to = &v->panels[precise], .kit = mcr_vectors_kit(precise)};
    job.source = mcr_vectors_source(v, 1, true, &job.offset);
    job.panels = mcr_tile_panels(v->side[1].field.count, job.kit->width);
    mcr_status s = v->wide || lists ? MCR_OK : pack_full(&job);
    if (!s && !job.norms && (v->needs & MCR_NEEDS_DISTANCE))
        s = mcr_vectors_norms(&job.norms, v, 1, precise, true);
    if (!s && job.norms)
        s = check_norms(v, job.norms, precise);
    void *x_norms = v->same ? job.norms : NULL;
    if (!s && !v->same && v->product_slot >= 0 && (v->needs & MCR_NEEDS_DISTANCE))
        s = mcr_vectors_norms(&x_norms, v, 0, precise, true);
    if (s) {
        mcr_free(v->ctx, job.to->values);
        job.to->values = NULL;
        mcr_free(v->ctx, job.norms);
        mcr_budget_give(v->ctx, v->budget - budget);
        v->budget = budget;
        return s;
    }
    v->side[1].norms[precise] = job.norms;
    v->side[0].norms[precise] = x_norms;
    job.to->ready = true;
    job.to->lists = lists;
    return MCR_OK;
}

/* ---- as they are needed -----------------------------------------------------------------------*/

/* The largest number of entries of a segment's columns together, and of `rows`. */
static int64_t most_features(const mcr_column_walk *walk)
{
    const mcr_vectors *v = walk->v;
    int64_t most = 0, sum = 0, join = 0;
    for (int64_t c = 0; c < walk->z.count; c++) {
        int64_t count = mcr_vectors_object(v, 1, mcr_rows_at(walk->z, c)).count;
        sum = c % walk->step ? sum + count : count;
        most = sum > most ? sum : most;
    }
    for (int64_t r = 0; walk->join && r < walk->join->count; r++)
        join += mcr_vectors_object(v, 0, walk->join->object[r]).count;
    return most + join < v->cols ? most + join : v->cols;
}

static void *take(mcr_scratch *scratch, size_t bytes)
{
    return mcr_scratch_take(scratch, bytes ? bytes : 1);
}

/* Wide data: buffers for lists of features and for reduced rows. */
static bool take_wide_buffers(mcr_column_walk *walk, size_t dims, const mcr_row_pack *rows,
                              mcr_scratch *scratch)
{
    const mcr_vectors *v = walk->v;
    size_t real = (size_t)walk->kit->bytes, cols = (size_t)v->cols, bytes;
    walk->map = take(scratch, cols * sizeof *walk->map);
    walk->seen = take(scratch, words(v) * sizeof *walk->seen);
    walk->feature = take(scratch, dims * sizeof *walk->feature);
    walk->scale = take(scratch, dims * sizeof *walk->scale);
    if (!walk->map || !walk->seen || !walk->feature || !walk->scale)
        return false;
    memset(walk->map, 0xff, cols * sizeof *walk->map);
    memset(walk->seen, 0, words(v) * sizeof *walk->seen);
    if (walk->join) {
        int64_t padded = mcr_tile_panels(rows->count, walk->kit->rows) * walk->kit->rows;
        walk->joined = mcr_size_mul(dims * real, (size_t)padded, &bytes) ? take(scratch, bytes)
                                                                         : NULL;
        return walk->joined != NULL;
    }
    size_t entries = (size_t)rows->start[rows->count];
    walk->rows.start = take(scratch, ((size_t)rows->count + 1) * sizeof(int64_t));
    walk->rows.index = take(scratch, entries * sizeof(int32_t));
    walk->rows.value = take(scratch, entries * real);
    return walk->rows.start && walk->rows.index && walk->rows.value;
}

/* Buffers for a segment that is packed now. */
static bool take_buffers(mcr_column_walk *walk, const mcr_row_pack *rows, mcr_scratch *scratch)
{
    const mcr_vectors *v = walk->v;
    size_t real = (size_t)walk->kit->bytes, step = (size_t)walk->step, bytes;
    size_t dims = (size_t)(v->wide ? most_features(walk) : v->cols);
    if (v->wide && !take_wide_buffers(walk, dims, rows, scratch))
        return false;
    if (!mcr_size_mul(dims * real, step, &bytes))
        return false;
    walk->values = take(scratch, bytes);
    walk->norms = take(scratch, step * real);
    walk->stored = take(scratch, step * sizeof *walk->stored);
    return walk->values && walk->norms && walk->stored;
}

mcr_status mcr_column_walk_open(mcr_column_walk *walk, const mcr_vectors *v, mcr_tile_op op,
                                bool precise, mcr_rows z, const mcr_row_pack *rows,
                                mcr_scratch *scratch)
{
    assert(v->panels[precise].ready);
    *walk = (mcr_column_walk){.v = v, .kit = mcr_vectors_kit(precise), .op = op, .z = z};
    int64_t width = walk->kit->width;
    bool later = mcr_row_pack_form(v, op, precise) == MCR_ROWS_LATER;
    walk->precise = precise;
    walk->packed = v->panels[precise].values && !z.index && z.first % width == 0;
    walk->join = later ? rows : NULL;
    if (walk->packed) {
        walk->step = z.count;
    } else if (v->wide) {
        walk->step = later ? width : MCR_WIDE_COLUMNS;
    } else {
        int64_t panels = SEGMENT_BYTES / walk->kit->bytes / width / (v->cols + 1);
        panels = panels < 1 ? 1 : panels > SEGMENT_PANELS ? SEGMENT_PANELS : panels;
        walk->step = panels * width;
    }
    if (walk->packed)
        return MCR_OK;
    return take_buffers(walk, rows, scratch) ? MCR_OK : MCR_NO_MEMORY;
}

static const void *packed_norms(const mcr_column_walk *walk, int64_t column)
{
    const char *norms = walk->v->side[1].norms[walk->precise];
    return norms ? norms + (size_t)column * (size_t)walk->kit->bytes : NULL;
}

/* Columns that are already packed; column: number of the first on its side. */
static void packed_segment(const mcr_column_walk *walk, mcr_segment *s, int64_t column)
{
    const char *values = walk->v->panels[walk->precise].values;
    s->values = values + (size_t)(column * walk->v->cols) * (size_t)walk->kit->bytes;
    s->norms = packed_norms(walk, column);
    s->dims = walk->v->cols;
}

static void copy_norms(const mcr_column_walk *walk, const mcr_segment *s)
{
    size_t real = (size_t)walk->kit->bytes;
    int64_t padded = mcr_tile_panels(s->count, walk->kit->width) * walk->kit->width;
    char *to = walk->norms;
    const char *from = walk->v->side[1].norms[walk->precise];
    for (int64_t c = 0; c < s->count; c++)
        memcpy(to + (size_t)c * real, from + (size_t)mcr_rows_at(walk->z, s->at + c) * real, real);
    memset(to + (size_t)s->count * real, 0, (size_t)(padded - s->count) * real);
}

static void fresh_segment(const mcr_column_walk *walk, mcr_segment *s)
{
    const mcr_vectors *v = walk->v;
    const mcr_tile_kit *kit = walk->kit;
    int64_t offset;
    mcr_tile_source source = mcr_vectors_source(v, 1, true, &offset);
    for (int64_t c = 0; c < s->count; c++)
        walk->stored[c] = mcr_field_at(&v->side[1].field, mcr_rows_at(walk->z, s->at + c));
    source.rows = walk->stored;
    s->values = walk->values;
    s->dims = v->cols;
    if (packed_norms(walk, 0)) {
        copy_norms(walk, s);
        s->norms = walk->norms;
    }
    if (!v->wide) {
        size_t panel = (size_t)(v->cols * kit->width) * (size_t)kit->bytes;
        for (int64_t c = 0; c < s->count; c += kit->width)
            kit->pack((char *)walk->values + panel * (size_t)(c / kit->width), kit->width, &source,
                      c, s->count - c < kit->width ? s->count - c : kit->width);
        return;
    }
    for (int64_t c = 0; c < s->count; c++)
        see(walk->seen, v, 1, walk->stored[c]);
    for (int64_t r = 0; walk->join && r < walk->join->count; r++)
        see(walk->seen, v, 0, walk->join->stored[r]);
    s->dims = list_seen(walk->seen, v, walk->feature);
    s->feature = walk->feature;
    pack_group(walk->values, v, kit, source, s->count, kit->width, s->feature, s->dims, walk->map,
               walk->scale);
}

bool mcr_column_walk_next(mcr_column_walk *walk, mcr_segment *segment)
{
    int64_t left = walk->z.count - walk->next;
    if (left <= 0)
        return false;
    *segment = (mcr_segment){.at = walk->next, .count = left < walk->step ? left : walk->step};
    if (walk->packed)
        packed_segment(walk, segment, walk->z.first + walk->next);
    else
        fresh_segment(walk, segment);
    walk->next += segment->count;
    return true;
}

/* ---- rows cut down to a segment's features ----------------------------------------------------*/

static int64_t cut_row(const mcr_row_pack *to, int64_t n, const mcr_row_pack *from, int64_t r,
                       const int32_t *map, bool precise)
{
    for (int64_t e = from->start[r]; e < from->start[r + 1]; e++) {
        int32_t k = map[from->index[e]];
        to->index[n] = k;
        if (precise)
            ((double *)to->value)[n] = ((const double *)from->value)[e];
        else
            ((float *)to->value)[n] = ((const float *)from->value)[e];
        n += k >= 0;
    }
    return n;
}

static void join_rows(mcr_column_walk *walk, const mcr_segment *segment, const mcr_row_pack *rows)
{
    int64_t offset;
    mcr_tile_source source = mcr_vectors_source(walk->v, 0, true, &offset);
    source.rows = rows->stored;
    pack_group(walk->joined, walk->v, walk->kit, source, rows->count, walk->kit->rows,
               segment->feature, segment->dims, walk->map, walk->scale);
    walk->rows.dense = walk->joined;
}

const mcr_row_pack *mcr_column_walk_rows(mcr_column_walk *walk, const mcr_segment *segment,
                                         const mcr_row_pack *rows)
{
    if (!segment->feature)
        return rows;
    mcr_row_pack *to = &walk->rows;
    to->count = rows->count;
    to->object = rows->object;
    to->stored = rows->stored;
    to->norms = rows->norms;
    to->largest = rows->largest;
    if (walk->join) {
        join_rows(walk, segment, rows);
        return to;
    }
    int64_t n = 0;
    for (int64_t k = 0; k < segment->dims; k++)
        walk->map[segment->feature[k]] = (int32_t)k;
    to->start[0] = 0;
    for (int64_t r = 0; r < rows->count; r++) {
        n = cut_row(to, n, rows, r, walk->map, walk->precise);
        to->start[r + 1] = n;
    }
    for (int64_t k = 0; k < segment->dims; k++)
        walk->map[segment->feature[k]] = -1;
    return to;
}
