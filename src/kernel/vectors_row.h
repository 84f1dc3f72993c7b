/* vectors_row.h: part of vectors_run.c, included for float and for double: steps between a tile of
 * dot products or distances and the kernel value, for one row. `real` is the element type,
 * ROW(name) names a function. All are exactly symmetric in x and z.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* From dot products to squared distances, as in linalg/tiles. */
static void ROW(distances)(real *k, int64_t n, real x_norm, const real *z_norm)
{
    for (int64_t j = 0; j < n; j++) {
        real d = (x_norm + z_norm[j]) - 2 * k[j];
        k[j] = d > 0 ? d : 0;
    }
}

/* x.z from the product of vectors shifted by m: (x-m).(z-m) + x.m + z.m - m.m. */
static void ROW(lift)(real *k, int64_t n, double x_lift, const double *z_lift, double shift2)
{
    for (int64_t j = 0; j < n; j++)
        k[j] = (real)((double)k[j] + ((x_lift + z_lift[j]) - shift2));
}

/* Whether cancellation has left too little of a pair's distance: 1 or 0. */
static inline int ROW(is_lost)(real k, real norms, real least, real share)
{
    return (norms > least) & (k < norms * share);
}

/* Pairs of which cancellation has left too little, recomputed. They are few: blocks of a fixed
 * length are looked through without branches first. */
static void ROW(correct)(real *k, int64_t n, real x_norm, const real *z_norm,
                         const mcr_vectors_pass *p, int64_t i, int64_t column)
{
    enum { BLOCK = 32 };
    const real least = (real)p->least_norm, share = (real)p->share;
    for (int64_t j0 = 0; j0 < n; j0 += BLOCK) {
        int64_t j1 = j0 + BLOCK < n ? j0 + BLOCK : n;
        int hit = j1 - j0 < BLOCK;
        if (!hit)
            for (int t = 0; t < BLOCK; t++)
                hit |= ROW(is_lost)(k[j0 + t], x_norm + z_norm[j0 + t], least, share);
        for (int64_t j = j0; j < j1 && hit; j++)
            if (ROW(is_lost)(k[j], x_norm + z_norm[j], least, share))
                k[j] = (real)mcr_vectors_exact(p->v, i, mcr_rows_at(p->z, column + j));
    }
}
