/* tiles.h (internal): tiles of dot products, distances and kernel values, the inner loops of all
 * kernels on vectors.
 *
 * One call takes a batch of rows x_0 .. x_{m-1} and a list of columns z_0 .. z_{n-1} and computes
 * K(x_r, z_c), stored and/or summed into f_c += sum_r coef_r K(x_r, z_c). Both sides are packed
 * first, in the tile's precision:
 *
 *   columns  panels of `width` columns: panel p holds dims x width values, feature by feature (the
 *            width values of one feature are neighbours). The last panel is padded with zeros.
 *   rows     the same layout with panels of `rows` instead of `width` objects (dense); or
 *            compressed sparse rows (start, index, value), used with the same column panels.
 *
 * What callers may rely on:
 *   - A value depends on its two objects only: not on the place in the batch or panel, the number
 *     of threads, dense or sparse form of the row (for the operations that allow it), stored or
 *     not.
 *   - K(x, z) and K(z, x) are the same bits when both sides are packed from the same source.
 *   - Two objects with the same packed values have a squared distance of exactly 0 and an RBF value
 *     of exactly 1, given norms from this module.
 *   - The sums f are taken in row order, in double, each step one multiply-add: one call with many
 *     rows, several calls with fewer, or `update` from stored rows give the same bits.
 *   All that holds within one instruction set; between them values differ by rounding.
 * Not-a-number and infinite inputs give garbage, not hangs. Exponentials that underflow give 0,
 * never a denormal.
 *
 * Nothing here allocates, fails or keeps state; all functions may run in many threads at once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_LINALG_TILES_H
#define MCR_LINALG_TILES_H

#include <stdbool.h>
#include <stdint.h>

#include "linalg/vmath.h"

/* The source of objects: rows of a dense matrix (dense not NULL) or of a compressed sparse one.
 * Element k of an object becomes (value_k - shift_k) * scale_k, computed in double and rounded once
 * to the tile's precision. Distances are more accurate after a shift by the mean; give both sides
 * the same shift and scale. */
typedef struct mcr_tile_source {
    int64_t dims; /* features of a packed object */

    const void *dense; /* values of all rows; NULL: sparse */
    int64_t ld, step;  /* distance between rows, and between values of a row */

    const int64_t *start; /* sparse row i: entries start[i] .. start[i + 1] - 1 */
    const void *feature;  /* ascending in a row, from 0: int32_t, or int64_t if `wide` */
    const void *value;
    bool single, wide;  /* single: the values of either form are float, else double */
    const int32_t *map; /* feature k becomes map[k] < dims, ascending; < 0: skipped; NULL: no map */

    const int64_t *rows; /* object t is row rows[t]; NULL: row t */
    const double *shift; /* dims values, or NULL: 0 */
    const double *scale; /* dims values, or NULL: 1 */
} mcr_tile_source;

typedef enum mcr_tile_op {
    /* Based on dot products; rows dense or sparse. */
    MCR_TILE_DOT,    /* x.z */
    MCR_TILE_SQDIST, /* |x - z|^2 = |x|^2 + |z|^2 - 2 x.z, at least 0 */
    MCR_TILE_RBF,    /* exp(-gamma |x - z|^2) */
    MCR_TILE_POLY,   /* (scale x.z + offset)^degree */
    /* Sums over features of another function; dense rows only. */
    MCR_TILE_L1,       /* sum |x - z| */
    MCR_TILE_EXP_L1,   /* exp(-gamma sum |x - z|) */
    MCR_TILE_CHI2,     /* sum (x - z)^2 / (x + z), 0 / 0 = 0; for x, z >= 0 */
    MCR_TILE_EXP_CHI2, /* exp(-gamma of that) */
    MCR_TILE_MIN,      /* sum min(x, z) */
    MCR_TILE_SINE,     /* sum sin^2(pi (x - z) / period) */
    MCR_TILE_EXP_SINE, /* exp(-gamma of that) */
    MCR_TILE_OPS
} mcr_tile_op;

/* One batch of rows against a list of columns. Set unused members to zero. "real" is float or
 * double, depending on the kit. */
typedef struct mcr_tile_job {
    mcr_tile_op op;
    double gamma, scale, offset, period; /* gamma, scale >= 0; period > 0 */
    int32_t degree;                      /* >= 1 */
    bool stream; /* bypass the caches: for outputs that are not read again soon; needs output rows
                  * aligned to 64 bytes (others are stored normally) */

    int64_t dims;
    int64_t rows;         /* rows in the batch; may be 0 */
    int64_t columns;      /* without padding: out and f are not accessed beyond them */
    const void *x;        /* real: dense row panels, 64-byte aligned; or NULL: sparse rows below */
    const int64_t *start; /* rows + 1 */
    const int32_t *index; /* ascending in a row, each below dims */
    const void *value;    /* real */
    const void *z;        /* real: column panels from panel 0 on, 64-byte aligned */
    const void *x_norms; /* real: squared norms of the rows and columns, from norms(), for SQDIST */
    const void *z_norms; /* and RBF; padded like the panels, z_norms 64-byte aligned */

    /* Where K(x_r, z_c) is stored: out_rows[r][c], or out[r * ld + c], or nowhere (both NULL). */
    void *out; /* real */
    int64_t ld;
    void *const *out_rows;

    /* f[o * f_ld + c] += sum_r coef[o * coef_ld + r] K(x_r, z_c) for o < outputs; coef NULL: none.
     * With many outputs f_ld should not be a multiple of 512, which causes cache conflicts. */
    const double *coef;
    const float *rough; /* coef in float: sums over a few dozen rows are taken in float, if the
                         * values are float; NULL: each term is added in double */
    double *f;
    int64_t outputs, coef_ld, f_ld; /* outputs 0 means 1 */
} mcr_tile_job;

/* The functions of one instruction set in one precision ("real"). */
typedef struct mcr_tile_kit {
    int32_t bytes; /* of a real: 4 or 8 */
    int32_t width; /* columns of a panel; a multiple of 4, at most MCR_TILE_WIDTH_MAX */
    int32_t rows;  /* rows of a row panel, at most MCR_TILE_ROWS_MAX */
    /* Sparse rows are faster than dense ones below this fraction of nonzeros: in panels that fit
     * L1, and in larger ones; see mcr_tile_prefers_sparse. */
    double sparse_below, sparse_below_large;
    const mcr_vmath *math; /* elementwise functions in the same precision */
    const struct mcr_subsequence_kit *subsequences; /* subsequence.h */
    const struct mcr_walk_kit *walks;               /* walks.h; NULL in float */
    const struct mcr_vote_kit *votes;               /* votes.h; NULL in double */
    const struct mcr_definite_kit *definite;        /* definite.h; NULL in float */

    /* Packs objects first .. first + count - 1 of the source into one panel of `width` objects (any
     * width from 1; kit->width for columns, kit->rows for rows); count <= width, the others become
     * zero. Writes dims * width reals. */
    void (*pack)(void *panel, int32_t width, const mcr_tile_source *source, int64_t first,
                 int64_t count);
    /* Objects first .. first + count - 1 as sparse rows without zeros: start gets count + 1 values
     * from 0 on. index and value need space for all their entries (a dense source: dims * count).
     * The source must not have a shift. Returns start[count]. */
    int64_t (*pack_sparse)(int64_t *start, int32_t *index, void *value,
                           const mcr_tile_source *source, int64_t first, int64_t count);
    /* Squared norms of the `width` objects of a panel, and of sparse rows: both give the same
     * bits. */
    void (*norms)(void *norms, const void *panel, int32_t width, int64_t dims);
    void (*norms_sparse)(void *norms, const int64_t *start, const void *value, int64_t count);

    /* Column panels first_panel .. end_panel - 1 (columns first_panel * width and on; out and f are
     * still addressed from column 0). Calls with different panels may run concurrently. Fastest
     * with a few dozen rows or more, in multiples of kit->rows. */
    void (*run)(const mcr_tile_job *job, int64_t first_panel, int64_t end_panel);

    /* f[c] += sum_r coef[r] * k_rows[r][c] for c = first .. end - 1, from stored rows. */
    void (*update)(double *f, const void *const *k_rows, const double *coef, int64_t rows,
                   int64_t first, int64_t end);
} mcr_tile_kit;

enum { MCR_TILE_WIDTH_MAX = 32, MCR_TILE_ROWS_MAX = 12 };

/* Tiles of K are at most MCR_TILE_ROWS x MCR_TILE_COLS; a stored row of K is padded to a multiple
 * of MCR_ROW_PAD values. */
enum { MCR_TILE_ROWS = 192, MCR_TILE_COLS = 256, MCR_ROW_PAD = 64 };

typedef struct mcr_tiles {
    const char *name; /* "base", "v3" (AVX2 and FMA), "v4" (AVX-512) */
    const mcr_tile_kit *f32, *f64;
} mcr_tiles;

/* The best set that this processor supports; never NULL. */
const mcr_tiles *mcr_tiles_best(void);
/* For tests: by name; NULL if unknown or not supported by the processor. */
const mcr_tiles *mcr_tiles_named(const char *name);

/* Which form of rows is faster, for dims features and a fraction `density` of nonzeros. */
bool mcr_tile_prefers_sparse(const mcr_tile_kit *kit, int64_t dims, double density);

/* The number of panels of `width` objects that hold count objects. */
static inline int64_t mcr_tile_panels(int64_t count, int32_t width)
{
    return count / width + (count % width != 0);
}

/* A worst-case bound of the error of a computed K(x,z): absolute sqrt(K(x,x) K(z,z)) + relative
 * K(x,z). INFINITY: no bound is known. */
typedef struct mcr_error {
    double absolute, relative;
} mcr_error;

/* K a of a symmetric binding in extended precision (extended.c): f + low, n x outputs like a. The
 * error is at most share sum_j |a_j| sqrt(K(j,j)) sqrt(K(i,i)); share INFINITY: not computed,
 * because the kernel or the compiler does not support it or it would take too long. */
typedef struct mcr_extended {
    const int64_t *object; /* their numbers in the binding; NULL: all, in order */
    int64_t n, outputs;
    const double *a;
    const bool *wanted; /* n flags: f and low of other objects are not computed; NULL: all are */
    double *f, *low;
    double share; /* filled */
} mcr_extended;
#define MCR_EXTENDED_UNIT 0x1p-64 /* unit roundoff */

#endif
