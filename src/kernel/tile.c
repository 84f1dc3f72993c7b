/* tile.c: operations of combinators on tiles.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kernel/kernel.h"

#include "linalg/tiles.h"

const mcr_vmath *mcr_tile_math(const mcr_tile *tile)
{
    const mcr_tiles *tiles = mcr_tiles_best();
    return tile->precise ? tiles->f64->math : tiles->f32->math;
}

mcr_tile mcr_tile_part(const mcr_tile *tile, int64_t i, int64_t rows, int64_t j, int64_t cols)
{
    mcr_tile t = *tile;
    t.x = mcr_rows_part(tile->x, i, rows);
    t.z = mcr_rows_part(tile->z, j, cols);
    if (tile->k != NULL)
        t.k = (char *)mcr_tile_row(tile, i) + (size_t)j * (tile->precise ? 8u : 4u);
    return t;
}

mcr_status mcr_tile_like(mcr_tile *out, const mcr_tile *tile, bool precise)
{
    *out = *tile;
    out->precise = precise;
    out->ld = (tile->z.count + 15) & ~(int64_t)15;
    size_t real = precise ? sizeof(double) : sizeof(float);
    out->k = mcr_scratch_take(tile->scratch, (size_t)(tile->x.count * out->ld) * real);
    return out->k != NULL ? MCR_OK : MCR_NO_MEMORY;
}

mcr_status mcr_tile_scale(const mcr_tile *tile, const double *sx, const double *sz)
{
    const mcr_vmath *math = mcr_tile_math(tile);
    int64_t n = tile->z.count;
    size_t mark = mcr_scratch_mark(tile->scratch);
    void *z = mcr_scratch_take(tile->scratch, (size_t)n * sizeof(double));
    if (z == NULL)
        return MCR_NO_MEMORY;
    for (int64_t j = 0; j < n; j++) {
        double s = sz[mcr_rows_at(tile->z, j)];
        if (tile->precise)
            ((double *)z)[j] = s;
        else
            ((float *)z)[j] = (float)s;
    }
    for (int64_t i = 0; i < tile->x.count; i++)
        math->mul_scaled(mcr_tile_row(tile, i), sx[mcr_rows_at(tile->x, i)], z, n);
    mcr_scratch_release(tile->scratch, mark);
    return MCR_OK;
}

/* Integer sums, so that compilers vectorise them; a NaN counts too. */
static int double_over(const double *v, int64_t n, double low, double high)
{
    int over = 0;
    for (int64_t j = 0; j < n; j++)
        over |= !(v[j] >= low) | !(v[j] <= high);
    return over;
}

static int float_over(const float *v, int64_t n, float low, float high)
{
    int over = 0;
    for (int64_t j = 0; j < n; j++)
        over |= !(v[j] >= low) | !(v[j] <= high);
    return over;
}

bool mcr_tile_outside(const mcr_tile *tile, double low, double high, int64_t *x, int64_t *z)
{
    for (int64_t i = 0; i < tile->x.count; i++) {
        const void *row = mcr_tile_row(tile, i);
        const double *d = row;
        const float *f = row;
        bool over = tile->precise ? double_over(d, tile->z.count, low, high)
                                  : float_over(f, tile->z.count, (float)low, (float)high);
        for (int64_t j = 0; over && j < tile->z.count; j++) {
            double v = tile->precise ? d[j] : (double)f[j];
            if (v >= low && v <= high)
                continue;
            *x = mcr_rows_at(tile->x, i);
            *z = mcr_rows_at(tile->z, j);
            return true;
        }
    }
    return false;
}
