/* definite.c: the inverse of a small symmetric positive definite matrix, by the sweeps of sweep.c,
 * in blocks that fit L1.
 *
 * All sizes are padded with the identity, so that no block is partial.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "linalg/definite.h"

#include "linalg/simd.h"

#if MCR_REAL_BITS == 64

/* A tile of the update: ROWS x WIDTH values in registers. */
enum {
    PIVOTS = MCR_DEFINITE_PIVOTS,
    VECTORS = 2,
    WIDTH = VECTORS * LANES,
    ROWS = LANES == 8 ? 8 : 4
};
_Static_assert(MCR_DEFINITE_PAD % WIDTH == 0 && MCR_DEFINITE_PAD % ROWS == 0, "no remainders");
_Static_assert(PIVOTS % LANES == 0, "rows of pivots are whole vectors");

/* Pivots first .. first + count - 1. c holds C, later W, places x PIVOTS; panel holds C in panels
 * of WIDTH rows, pivot by pivot; p is P, later its inverse. */
typedef struct sweep {
    int64_t places, first;
    int count;
    double *a, *c, *panel;
    double p[PIVOTS * PIVOTS] __attribute__((aligned(64)));
} sweep;

/* The inverse of P by Gauss-Jordan elimination, row by row. */
static bool invert_pivots(sweep *s)
{
    for (int k = 0; k < s->count; k++) {
        double *row = s->p + k * PIVOTS, pivot = row[k];
        if (!(pivot > 0))
            return false;
        row[k] = 1;
        for (int j = 0; j < PIVOTS; j += LANES)
            store(row + j, load(row + j) * splat(1 / pivot));
        for (int i = 0; i < s->count; i++) {
            double *to = s->p + i * PIVOTS, factor = to[k];
            if (i == k)
                continue;
            to[k] = 0;
            for (int j = 0; j < PIVOTS; j += LANES)
                store(to + j, multiply_add(splat(-factor), load(row + j), load(to + j)));
        }
    }
    return true;
}

/* P and C, with rows of 0 in place of P, from the lower triangle. */
static void take(sweep *s)
{
    int64_t k = s->first, ld = s->places;
    memset(s->p, 0, sizeof s->p);
    memset(s->c, 0, sizeof *s->c * (size_t)(PIVOTS * s->places));
    for (int i = 0; i < s->count; i++) {
        const double *row = s->a + (k + i) * ld;
        for (int j = 0; j <= i; j++)
            s->p[i * PIVOTS + j] = s->p[j * PIVOTS + i] = row[k + j];
        for (int64_t j = 0; j < k; j++)
            s->c[j * PIVOTS + i] = row[j];
    }
    for (int64_t i = k + s->count; i < ld; i++)
        memcpy(s->c + i * PIVOTS, s->a + i * ld + k, sizeof *s->c * (size_t)s->count);
    for (int64_t i = 0; i < ld; i++) {
        double *to = s->panel + i / WIDTH * (WIDTH * PIVOTS) + i % WIDTH;
        for (int l = 0; l < PIVOTS; l++)
            to[l * WIDTH] = s->c[i * PIVOTS + l];
    }
}

/* W = C P^-1, in place of C. */
static void multiply_pivots(sweep *s)
{
    enum { PARTS = PIVOTS / LANES };
    for (int64_t i = 0; i < s->places; i++) {
        double *row = s->c + i * PIVOTS;
        vreal sum[PARTS];
        UNROLL for (int v = 0; v < PARTS; v++) sum[v] = splat(0);
        for (int l = 0; l < s->count; l++)
            UNROLL for (int v = 0; v < PARTS; v++)
                sum[v] = multiply_add(splat(row[l]), load(s->p + l * PIVOTS + v * LANES), sum[v]);
        UNROLL for (int v = 0; v < PARTS; v++) store(row + v * LANES, sum[v]);
    }
}

/* Subtracts the part of W C' in a tile. */
INLINE void subtract_tile(double *a, int64_t ld, const double *w, const double *c, int count)
{
    vreal sum[ROWS][VECTORS];
    UNROLL for (int r = 0; r < ROWS; r++) UNROLL for (int v = 0; v < VECTORS; v++)
        sum[r][v] = load(a + r * ld + v * LANES);
    for (int l = 0; l < count; l++, c += WIDTH) {
        vreal z[VECTORS];
        UNROLL for (int v = 0; v < VECTORS; v++) z[v] = load(c + v * LANES);
        UNROLL for (int r = 0; r < ROWS; r++)
        {
            vreal x = splat(-w[r * PIVOTS + l]);
            UNROLL for (int v = 0; v < VECTORS; v++) sum[r][v] = multiply_add(x, z[v], sum[r][v]);
        }
    }
    UNROLL for (int r = 0; r < ROWS; r++) UNROLL for (int v = 0; v < VECTORS; v++)
        store(a + r * ld + v * LANES, sum[r][v]);
}

/* Subtracts W C' from the lower triangle, and from whole tiles on the diagonal. */
static void subtract(const sweep *s)
{
    int64_t ld = s->places;
    for (int64_t j = 0; j < ld; j += WIDTH)
        for (int64_t i = j / ROWS * ROWS; i < ld; i += ROWS)
            subtract_tile(s->a + i * ld + j, ld, s->c + i * PIVOTS, s->panel + j * PIVOTS,
                          s->count);
}

/* Copies W and -P^-1 to their places. */
static void put(const sweep *s)
{
    int64_t k = s->first, ld = s->places;
    for (int i = 0; i < s->count; i++) {
        double *row = s->a + (k + i) * ld;
        for (int64_t j = 0; j < k; j++)
            row[j] = s->c[j * PIVOTS + i];
        for (int j = 0; j <= i; j++)
            row[k + j] = -s->p[i * PIVOTS + j];
    }
    for (int64_t i = k + s->count; i < ld; i++)
        memcpy(s->a + i * ld + k, s->c + i * PIVOTS, sizeof *s->c * (size_t)s->count);
}

static void pad(double *a, int64_t n, int64_t places)
{
    for (int64_t i = n; i < places; i++) {
        memset(a + i * places, 0, sizeof *a * (size_t)places);
        a[i * places + i] = 1;
    }
}

/* Negates the lower triangle and mirrors it, in squares that fit L1. */
static void finish(double *a, int64_t n, int64_t ld)
{
    for (int64_t i0 = 0; i0 < n; i0 += MCR_DEFINITE_PAD)
        for (int64_t j0 = 0; j0 <= i0; j0 += MCR_DEFINITE_PAD)
            for (int64_t i = i0; i < i0 + MCR_DEFINITE_PAD; i++)
                for (int64_t j = j0; j < j0 + MCR_DEFINITE_PAD && j <= i; j++)
                    a[j * ld + i] = a[i * ld + j] = -a[i * ld + j];
}

static bool inverse(int64_t n, double *a, double *work)
{
    int64_t places = mcr_definite_places(n);
    sweep s = {.places = places, .a = a, .c = work, .panel = work + PIVOTS * places};
    pad(a, n, places);
    for (; s.first < places; s.first += s.count) {
        s.count = places - s.first < PIVOTS ? (int)(places - s.first) : PIVOTS;
        take(&s);
        if (!invert_pivots(&s))
            return false;
        multiply_pivots(&s);
        subtract(&s);
        put(&s);
    }
    finish(a, n, places);
    return true;
}

extern const mcr_definite_kit SYMBOL(mcr_definite_kit_);
const mcr_definite_kit SYMBOL(mcr_definite_kit_) = {inverse};

#else
typedef int nothing_in_float;
#endif
