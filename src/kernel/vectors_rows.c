/* vectors_rows.c: rows in the layout of linalg/tiles.
 *
 * A pack is one block of memory, so that it can be in a worker's scratch memory or in a batch.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kernel/vectors_impl.h"

#include <string.h>

mcr_row_form mcr_row_pack_form(const mcr_vectors *v, mcr_tile_op op, bool precise)
{
    if (mcr_tile_op_uses_dots(op))
        return v->sparse_rows[precise] ? MCR_ROWS_SPARSE : MCR_ROWS_DENSE;
    return v->wide ? MCR_ROWS_LATER : MCR_ROWS_DENSE;
}

/* A dense panel costs as much as all its rows, even if only few are used: few rows run as sparse
 * ones with every feature. The values are the same. */
enum { FEW_ROWS = 4 };

static bool are_few(const mcr_vectors *v, mcr_row_form form, mcr_tile_op op, mcr_rows x)
{
    return form == MCR_ROWS_DENSE && mcr_tile_op_uses_dots(op) && !v->wide && x.count <= FEW_ROWS;
}

/* Offsets of the parts of a pack in its buffer. */
typedef struct layout {
    size_t object, stored, norms, dense, start, value, index, bytes;
} layout;

static bool place(size_t *at, layout *l, size_t count, size_t size)
{
    size_t bytes;
    *at = l->bytes;
    return mcr_size_mul(count, size, &bytes) && mcr_size_add(l->bytes, bytes, &l->bytes) &&
           mcr_size_add(l->bytes, 63, &l->bytes) && ((l->bytes &= ~(size_t)63), true);
}

static bool lay_out(layout *l, const mcr_vectors *v, mcr_tile_op op, bool precise, mcr_rows x)
{
    const mcr_tile_kit *kit = mcr_vectors_kit(precise);
    mcr_row_form form = mcr_row_pack_form(v, op, precise);
    size_t real = (size_t)kit->bytes, count = (size_t)x.count, dims = (size_t)v->cols;
    size_t padded = (size_t)(mcr_tile_panels(x.count, kit->rows) * kit->rows), all;
    *l = (layout){0};
    bool fits = place(&l->object, l, count, sizeof(int64_t)) &&
                place(&l->stored, l, count, sizeof(int64_t));
    if (mcr_tile_op_uses_norms(op))
        fits = fits && place(&l->norms, l, padded, real);
    if (are_few(v, form, op, x))
        return fits && mcr_size_mul(count, dims, &all) &&
               place(&l->start, l, count + 1, sizeof(int64_t)) && place(&l->value, l, all, real) &&
               place(&l->index, l, all, sizeof(int32_t));
    if (form == MCR_ROWS_DENSE)
        return fits && mcr_size_mul(padded, dims, &all) && place(&l->dense, l, all, real);
    if (form == MCR_ROWS_SPARSE) {
        all = 0;
        for (int64_t t = 0; t < x.count && fits; t++) {
            mcr_vector of = mcr_vectors_object(v, 0, mcr_rows_at(x, t));
            fits = mcr_size_add(all, (size_t)of.count, &all);
        }
        return fits && place(&l->start, l, count + 1, sizeof(int64_t)) &&
               place(&l->value, l, all, real) && place(&l->index, l, all, sizeof(int32_t));
    }
    return fits;
}

size_t mcr_row_pack_bytes(const mcr_vectors *v, mcr_tile_op op, bool precise, mcr_rows x)
{
    layout l;
    return lay_out(&l, v, op, precise, x) ? l.bytes : SIZE_MAX;
}

static void gather_norms(mcr_row_pack *pack, const void *all, const mcr_tile_kit *kit)
{
    for (int64_t t = 0; t < pack->count; t++) {
        if (kit->bytes == sizeof(double))
            ((double *)pack->norms)[t] = ((const double *)all)[pack->object[t]];
        else
            ((float *)pack->norms)[t] = ((const float *)all)[pack->object[t]];
    }
}

static void find_largest(mcr_row_pack *pack, const mcr_tile_kit *kit)
{
    for (int64_t t = 0; t < pack->count; t++) {
        double norm = kit->bytes == sizeof(double) ? ((const double *)pack->norms)[t]
                                                   : (double)((const float *)pack->norms)[t];
        if (!(norm <= pack->largest)) {
            pack->largest = norm;
            pack->longest = pack->object[t];
        }
    }
}

static void fill_norms(mcr_row_pack *pack, const mcr_vectors *v, const mcr_tile_kit *kit,
                       bool precise)
{
    int64_t panels = mcr_tile_panels(pack->count, kit->rows);
    size_t real = (size_t)kit->bytes, padded = (size_t)(panels * kit->rows);
    const void *all = v->side[0].norms[precise];
    if (all) {
        gather_norms(pack, all, kit);
    } else if (pack->dense) {
        for (int64_t p = 0; p < panels; p++) {
            size_t at = (size_t)(p * kit->rows) * real;
            kit->norms((char *)pack->norms + at, (const char *)pack->dense + at * (size_t)v->cols,
                       kit->rows, v->cols);
        }
    } else {
        kit->norms_sparse(pack->norms, pack->start, pack->value, pack->count);
    }
    memset((char *)pack->norms + (size_t)pack->count * real, 0,
           (padded - (size_t)pack->count) * real);
    find_largest(pack, kit);
}

/* Dense rows in the form of sparse ones. */
static void fill_few(mcr_row_pack *pack, const mcr_tile_source *source, const mcr_tile_kit *kit)
{
    for (int64_t t = 0; t < pack->count; t++) {
        int64_t first = pack->start[t] = t * source->dims;
        kit->pack((char *)pack->value + (size_t)first * (size_t)kit->bytes, 1, source, t, 1);
        for (int64_t d = 0; d < source->dims; d++)
            pack->index[first + d] = (int32_t)d;
    }
    pack->start[pack->count] = pack->count * source->dims;
}

void mcr_row_pack_fill(mcr_row_pack *pack, void *buffer, const mcr_vectors *v, mcr_tile_op op,
                       bool precise, mcr_rows x)
{
    const mcr_tile_kit *kit = mcr_vectors_kit(precise);
    mcr_row_form form = mcr_row_pack_form(v, op, precise);
    layout l;
    lay_out(&l, v, op, precise, x);
    char *base = buffer;
    *pack = (mcr_row_pack){
        .count = x.count,
        .object = (int64_t *)(void *)(base + l.object),
        .stored = (int64_t *)(void *)(base + l.stored),
        .norms = mcr_tile_op_uses_norms(op) ? base + l.norms : NULL,
    };
    for (int64_t t = 0; t < x.count; t++) {
        pack->object[t] = mcr_rows_at(x, t);
        pack->stored[t] = mcr_field_at(&v->side[0].field, pack->object[t]);
    }
    int64_t offset;
    mcr_tile_source source = mcr_vectors_source(v, 0, true, &offset);
    source.rows = pack->stored;
    bool few = are_few(v, form, op, x);
    if (form == MCR_ROWS_DENSE && !few) {
        char *dense = base + l.dense;
        size_t panel = (size_t)kit->rows * (size_t)v->cols * (size_t)kit->bytes;
        for (int64_t t = 0; t < x.count; t += kit->rows, dense += panel) {
            int64_t count = x.count - t < kit->rows ? x.count - t : kit->rows;
            kit->pack(dense, kit->rows, &source, t, count);
        }
        pack->dense = base + l.dense;
    } else if (form == MCR_ROWS_SPARSE || few) {
        pack->start = (int64_t *)(void *)(base + l.start);
        pack->index = (int32_t *)(void *)(base + l.index);
        pack->value = base + l.value;
        if (few)
            fill_few(pack, &source, kit);
        else
            kit->pack_sparse(pack->start, pack->index, pack->value, &source, 0, x.count);
    }
    if (pack->norms)
        fill_norms(pack, v, kit, precise);
}

mcr_row_pack mcr_row_pack_part(const mcr_row_pack *pack, const mcr_tile_kit *kit, int64_t dims,
                               int64_t first, int64_t count)
{
    mcr_row_pack part = *pack;
    size_t real = (size_t)kit->bytes;
    part.count = count;
    part.object += first;
    part.stored += first;
    if (part.dense)
        part.dense = (const char *)part.dense + (size_t)(first * dims) * real;
    if (part.start)
        part.start += first;
    if (part.norms)
        part.norms = (char *)part.norms + (size_t)first * real;
    return part;
}
