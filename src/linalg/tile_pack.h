/* tile_pack.h (internal): part of tile.c: packing of objects into panels, and their norms.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_LINALG_TILE_PACK_H
#define MCR_LINALG_TILE_PACK_H

#include <assert.h>

#include "linalg/simd.h"
#include "linalg/tiles.h"

/* An element of an object: the only place where values are shifted, scaled and rounded. */
INLINE real packed_value(const mcr_tile_source *source, int64_t k, double value)
{
    if (source->shift)
        value -= source->shift[k];
    if (source->scale)
        value *= source->scale[k];
    return (real)value;
}

INLINE int64_t source_row(const mcr_tile_source *source, int64_t object)
{
    return source->rows ? source->rows[object] : object;
}

INLINE double number_at(const void *values, bool single, int64_t at)
{
    return single ? (double)((const float *)values)[at] : ((const double *)values)[at];
}

INLINE int64_t feature_at(const mcr_tile_source *source, int64_t e)
{
    return source->wide ? ((const int64_t *)source->feature)[e]
                        : ((const int32_t *)source->feature)[e];
}

/* Features k0 .. k1-1 of one object whose values begin at `at`; single and together are
 * compile-time constants in each call. */
INLINE void pack_run(real *to, int32_t width, const mcr_tile_source *source, const void *values,
                     int64_t at, int64_t k0, int64_t k1, bool single, bool together)
{
    int64_t step = together ? 1 : source->step;
    const double *shift = source->shift;
    if (!shift && !source->scale)
        for (int64_t k = k0; k < k1; k++)
            to[k * width] = (real)number_at(values, single, at + k * step);
    else if (!source->scale)
        for (int64_t k = k0; k < k1; k++)
            to[k * width] = (real)(number_at(values, single, at + k * step) - shift[k]);
    else
        for (int64_t k = k0; k < k1; k++)
            to[k * width] = packed_value(source, k, number_at(values, single, at + k * step));
}

/* Prefetches the row of an object before it is packed, because listed rows are scattered in
 * memory. */
INLINE void expect_row(const mcr_tile_source *source, int64_t object, bool features)
{
    enum { LINE = 64, MOST = 4 };
    int64_t row = source_row(source, object), first = source->start[row];
    int64_t count = source->start[row + 1] - first, index = source->wide ? 8 : 4;
    int64_t number = source->single ? 4 : 8;
    const char *feature = (const char *)source->feature + first * index;
    const char *value = (const char *)source->value + first * number;
    for (int64_t at = 0; at < count * index && at < MOST * LINE && features; at += LINE)
        __builtin_prefetch(feature + at);
    for (int64_t at = 0; at < count * number && at < MOST * LINE; at += LINE)
        __builtin_prefetch(value + at);
}

/* A transposition, in blocks of features so that the cache lines written stay in L1. */
static void pack_dense(real *panel, int32_t width, const mcr_tile_source *source, int64_t first,
                       int64_t count)
{
    enum { BLOCK = 32, AHEAD = 8 };
    bool single = source->single, together = !source->dense || source->step == 1;
    const void *values = source->dense ? source->dense : source->value;
    for (int64_t k0 = 0; k0 < source->dims; k0 += BLOCK) {
        int64_t k1 = k0 + BLOCK < source->dims ? k0 + BLOCK : source->dims;
        for (int32_t q = 0; q < count; q++) {
            int64_t row = source_row(source, first + q);
            int64_t at = source->dense ? row * source->ld : source->start[row];
            if (!source->dense && source->rows && k0 == 0 && q + AHEAD < count)
                expect_row(source, first + q + AHEAD, false);
            if (!single && together)
                pack_run(panel + q, width, source, values, at, k0, k1, false, true);
            else if (together)
                pack_run(panel + q, width, source, values, at, k0, k1, true, true);
            else
                pack_run(panel + q, width, source, values, at, k0, k1, single, false);
        }
        for (int64_t k = k0; k < k1; k++)
            for (int64_t q = count; q < width; q++)
                panel[k * width + q] = 0;
    }
}

/* Whether each of these objects has entries for all features: then they are in order. */
static bool list_all(const mcr_tile_source *source, int64_t first, int64_t count)
{
    bool all = !source->map;
    for (int64_t q = 0; q < count && all; q++) {
        int64_t row = source_row(source, first + q);
        all = source->start[row + 1] - source->start[row] == source->dims;
    }
    return all;
}

/* Fills the panel with the packed value of zero. */
static void pack_zeros(real *panel, int32_t width, const mcr_tile_source *source, int64_t count)
{
    memset(panel, 0, (size_t)source->dims * (size_t)width * sizeof *panel);
    for (int64_t k = 0; k < source->dims && source->shift; k++) {
        real value = packed_value(source, k, 0);
        for (int64_t q = 0; q < count; q++)
            panel[k * width + q] = value;
    }
}

/* Entries begin .. end-1; wide, single and mapped are compile-time constants in each call. */
INLINE void pack_entries(real *to, int32_t width, const mcr_tile_source *source, int64_t begin,
                         int64_t end, bool wide, bool single, bool mapped)
{
    for (int64_t e = begin; e < end; e++) {
        int64_t f = wide ? ((const int64_t *)source->feature)[e]
                         : ((const int32_t *)source->feature)[e];
        int64_t k = mapped ? source->map[f] : f;
        if (!mapped || k >= 0)
            to[k * width] = packed_value(source, k, number_at(source->value, single, e));
    }
}

static void pack_scattered(real *panel, int32_t width, const mcr_tile_source *source, int64_t first,
                           int64_t count)
{
    enum { AHEAD = 4 };
    bool single = source->single, wide = source->wide, mapped = source->map != NULL;
    pack_zeros(panel, width, source, count);
    for (int64_t q = 0; q < count; q++) {
        int64_t row = source_row(source, first + q);
        int64_t begin = source->start[row], end = source->start[row + 1];
        if (source->rows && q + AHEAD < count)
            expect_row(source, first + q + AHEAD, true);
        if (!wide && !single && !mapped)
            pack_entries(panel + q, width, source, begin, end, false, false, false);
        else if (!wide && single && !mapped)
            pack_entries(panel + q, width, source, begin, end, false, true, false);
        else
            pack_entries(panel + q, width, source, begin, end, wide, single, mapped);
    }
}

static void pack(void *panel, int32_t width, const mcr_tile_source *source, int64_t first,
                 int64_t count)
{
    assert(count >= 0 && count <= width);
    if (source->dense || list_all(source, first, count))
        pack_dense(panel, width, source, first, count);
    else
        pack_scattered(panel, width, source, first, count);
}

/* Appends the non-zero entries begin .. end-1 of a sparse row, or of a dense row at `base`, after n
 * others; returns the new count. dense and plain (no map, 32-bit indices, doubles) are compile-time
 * constants in each call. */
INLINE int64_t pack_row(int32_t *index, real *value, int64_t n, const mcr_tile_source *source,
                        int64_t begin, int64_t end, int64_t base, bool dense, bool plain)
{
    const void *from = dense ? source->dense : source->value;
    int64_t step = dense ? source->step : 1;
    for (int64_t e = begin; e < end; e++) {
        int64_t k = dense   ? e
                    : plain ? ((const int32_t *)source->feature)[e]
                            : feature_at(source, e);
        if (!plain && !dense && source->map)
            k = source->map[k];
        if (k < 0)
            continue;
        real v = packed_value(source, k,
                              number_at(from, !plain && source->single, base + e * step));
        index[n] = (int32_t)k;
        value[n] = v;
        n += v != 0;
    }
    return n;
}

static int64_t pack_sparse(int64_t *start, int32_t *index, void *value_out,
                           const mcr_tile_source *source, int64_t first, int64_t count)
{
    enum { AHEAD = 4 };
    assert(!source->shift);
    bool plain = !source->dense && !source->map && !source->single && !source->wide;
    int64_t n = 0;
    start[0] = 0;
    for (int64_t t = 0; t < count; t++) {
        int64_t row = source_row(source, first + t);
        int64_t begin = source->dense ? 0 : source->start[row];
        int64_t end = source->dense ? source->dims : source->start[row + 1];
        if (source->rows && !source->dense && t + AHEAD < count)
            expect_row(source, first + t + AHEAD, true);
        if (plain)
            n = pack_row(index, value_out, n, source, begin, end, 0, false, true);
        else if (source->dense)
            n = pack_row(index, value_out, n, source, begin, end, row * source->ld, true, false);
        else
            n = pack_row(index, value_out, n, source, begin, end, 0, false, false);
        start[t + 1] = n;
    }
    return n;
}

/* The same steps as for a dot product of the object with itself in a tile, so that |x|^2 = x.x
 * exactly. */
static void norms(void *norms_out, const void *panel_in, int32_t width, int64_t dims)
{
    const real *panel = panel_in;
    real *out = norms_out;
    for (int32_t q0 = 0; q0 < width; q0 += LANES) {
        int32_t lanes = width - q0 < LANES ? width - q0 : LANES;
        _Alignas(VECTOR_BYTES) real sum[LANES] = {0};
        if (lanes == LANES)
            for (int64_t k = 0; k < dims; k++) {
                vreal x = load(panel + k * width + q0);
                store(sum, multiply_add(x, x, load(sum)));
            }
        else
            for (int64_t k = 0; k < dims; k++)
                for (int32_t q = 0; q < lanes; q++) {
                    real x = panel[k * width + q0 + q];
                    sum[q] = multiply_add_one(x, x, sum[q]);
                }
        memcpy(out + q0, sum, (size_t)lanes * sizeof *out);
    }
}

static void norms_sparse(void *norms_out, const int64_t *start, const void *value_in, int64_t count)
{
    const real *value = value_in;
    real *out = norms_out;
    for (int64_t t = 0; t < count; t++) {
        real sum = 0;
        for (int64_t e = start[t]; e < start[t + 1]; e++)
            sum = multiply_add_one(value[e], value[e], sum);
        out[t] = sum;
    }
}

#endif
