/* vectors_row.h: part of vectors_run.c, included for float and for double: steps between a tile of
 * dot products or distances and the kernel value, for one row. `real` is the element type, `bits`
 * a whole number of its size, ROW(name) names a function. All are exactly symmetric in x and z.
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

/* Whether cancellation has lost too many digits of a pair's distance. */
static inline bool ROW(is_lost)(real k, real norms, real least, real share)
{
    return norms > least && k < norms * share;
}

/* The same in the sign bit, which compilers can vectorise. May be set without need for NaN. */
static inline bits ROW(sign_lost)(real k, real norms, real least, real share)
{
    real large = least - norms, little = k - norms * share;
    bits a, b;
    memcpy(&a, &large, sizeof a);
    memcpy(&b, &little, sizeof b);
    return a & b;
}

/* Recomputes pairs that lost too many digits by cancellation. They are few, so blocks of a fixed
 * length are first tested without branches. */
static void ROW(correct)(real *k, int64_t n, real x_norm, const real *z_norm,
                         const mcr_vectors_pass *p, int64_t i, int64_t column)
{
    enum { BLOCK = 32 };
    const real least = (real)p->least_norm, share = (real)p->share;
    for (int64_t j0 = 0; j0 < n; j0 += BLOCK) {
        int64_t j1 = j0 + BLOCK < n ? j0 + BLOCK : n;
        bits hit = 0;
        for (int t = 0; t < BLOCK && j1 - j0 == BLOCK; t++)
            hit |= ROW(sign_lost)(k[j0 + t], x_norm + z_norm[j0 + t], least, share);
        if (j1 - j0 == BLOCK && !(hit >> (8 * sizeof hit - 1)))
            continue;
        for (int64_t j = j0; j < j1; j++)
            if (ROW(is_lost)(k[j], x_norm + z_norm[j], least, share))
                k[j] = (real)mcr_vectors_exact(p->v, i, mcr_rows_at(p->z, column + j));
    }
}
