/* vectors.h (internal): shared code of kernels on vectors: dot products and distances by tiles.
 *
 * A leaf's bind joins an mcr_vectors object and offers one mcr_fused: how its values are computed
 * from a tile operation (linalg/tiles.h), optionally followed by an elementwise map. All leaves of
 * an expression that read the same field with the same scale share one object: the field is packed
 * once, and a tile's dot products or distances are computed once and then mapped by each leaf. A
 * single leaf is computed in registers, from the packed vectors to the kernel value.
 *
 * Forms. Rows are packed dense or sparse, whichever is faster at their density, regardless of how
 * they are stored. Columns are packed in panels, all at once if that takes at most a quarter of the
 * remaining memory budget, else panel by panel on demand. Wide sparse data (text: tens of thousands
 * of features, few of them in one object) are packed on demand, a few dozen columns at a time with
 * only the features that occur in them. The values do not depend on the form.
 *
 * Accurate distances. |x-z|^2 = |x|^2 + |z|^2 - 2 x.z loses digits if the distance is small
 * compared with the norms. So vectors are shifted by their mean before packing if that makes the
 * norms smaller (x.z is then recovered by rank-one terms if a leaf needs it), and pairs whose
 * rounding error could still change the kernel value by more than MCR_DISTANCE_TOLERANCE are
 * recomputed from the differences. Equal objects have a distance of exactly 0.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_KERNEL_VECTORS_H
#define MCR_KERNEL_VECTORS_H

#include "kernel/kernel.h"
#include "linalg/tiles.h"

/* The largest change of a kernel value near 1 that the rounding of a squared distance may cause, in
 * double and float tiles. The bound is conservative: observed errors are at least four times
 * smaller. */
#define MCR_DISTANCE_TOLERANCE       1e-13
#define MCR_DISTANCE_TOLERANCE_FLOAT 2e-5

typedef struct mcr_vectors mcr_vectors;

/* ---- for leaves -------------------------------------------------------------------------------*/

/* What a leaf needs: x.z; |x-z|^2; sums over the features of |x-z|; other sums. */
enum { MCR_NEEDS_DOT = 1, MCR_NEEDS_DISTANCE = 2, MCR_NEEDS_L1 = 4, MCR_NEEDS_PAIR = 8 };

/* Joins the shared object for the leaf's field and per-feature scale (NULL: all 1; copied). needs:
 * one of the above. sharpness: the largest factor by which an error in a squared distance is
 * amplified in the kernel value (gamma for rbf; INFINITY: only its relative error counts); 0 for
 * others. Borrowed: lives as long as the binding. */
mcr_status mcr_vectors_join(mcr_vectors **out, mcr_bound *bound, mcr_binding *binding, int needs,
                            const double *scale, double sharpness);
/* The same for vectors that the leaf has computed from its field: one dense or sparse store per
 * side, where an object has its number in the side's data; store[1] NULL if x and z are the same.
 * Takes ownership of the stores, even on failure, and charges `bytes` for them to the budget. */
mcr_status mcr_vectors_join_made(mcr_vectors **out, mcr_bound *bound, mcr_binding *binding,
                                 mcr_store *const store[2], size_t bytes, int needs,
                                 const double *scale, double sharpness);
/* The same with a scale from a parameter that may have one value per feature: scale_of(value) for
 * each; a single value means no scale (it is left to the leaf's own formula). */
mcr_status mcr_vectors_join_scaled(mcr_vectors **out, mcr_bound *bound, mcr_binding *binding,
                                   int needs, const char *parameter, const mcr_reals *values,
                                   double (*scale_of)(double), double sharpness);
/* The same for a single value, too. */
mcr_status mcr_vectors_join_each(mcr_vectors **out, mcr_bound *bound, mcr_binding *binding,
                                 int needs, const char *parameter, const mcr_reals *values,
                                 double (*scale_of)(double), double sharpness);
/* Such a parameter as one value for each feature of the leaf's field; the caller frees *scale.
 * MCR_BAD_DATA if there is neither one value nor one per feature; the message names kernel and
 * parameter. */
mcr_status mcr_vectors_spread(double **scale, const mcr_bound *bound, const char *parameter,
                              const mcr_reals *values);
/* MCR_BAD_DATA, with the kernel's name and the position, if any value is below 0. */
mcr_status mcr_vectors_refuse_negative(const mcr_vectors *v, const mcr_bound *bound);

/* How a leaf's values are computed. op: the tile operation with its parameters. map: NULL, or a
 * function that turns `count` values of one row (float or double by math->bytes, at most
 * MCR_TILE_COLS) into kernel values, in place; xx: x.x of the row's object; zz: z.z of the columns'
 * objects; these two only after MCR_TILE_DOT. */
typedef struct mcr_fused mcr_fused;
struct mcr_fused {
    mcr_vectors *v;
    mcr_tile_op op;
    double gamma, scale, offset; /* parameters of op */
    int32_t degree;
    void (*map)(const mcr_fused *fused, const mcr_vmath *math, void *k, int64_t count, double xx,
                const double *zz);
    double a, b; /* parameters of map */
    int32_t order;
};

/* Ends a leaf's bind: copies `fused` to where the block and diagonal functions below find it.
 * bind.c calls them for a leaf that has neither block nor pair of its own. */
mcr_status mcr_vectors_offer(mcr_bound *bound, const mcr_fused *fused);
mcr_status mcr_vectors_block(const mcr_bound *bound, const mcr_tile *tile);
/* A tile computed as `fused` describes, whatever the leaves share. */
mcr_status mcr_vectors_tile(const mcr_fused *fused, const mcr_tile *tile);
mcr_status mcr_vectors_diagonal(const mcr_bound *bound, int side, mcr_rows rows, double *k);

/* ---- for bind.c -------------------------------------------------------------------------------*/

/* lists: columns are packed on demand. */
mcr_status mcr_vectors_prepare(mcr_vectors *list, bool precise, bool lists);
/* Multiply-adds per value for all of them, from the nonzero features of a sample. */
double mcr_vectors_work(const mcr_vectors *list);
/* Whether some of them compute whole panels of rows, however few are asked for. */
bool mcr_vectors_in_panels(const mcr_vectors *list);
void mcr_vectors_free(mcr_vectors *list);
/* ---- for gram: many rows against many columns --------------------------------------------------
 *
 * For an expression that is one leaf (binding->root->fused). The rows are packed once into a batch,
 * which all workers then run over their own columns:
 *
 *     mcr_vectors_batch_open(&batch, fused, precise);            once
 *     mcr_vectors_batch_fill(batch, rows);                       in parallel by itself
 *     mcr_vectors_run(batch, &job)                               in workers, for disjoint columns
 *     mcr_vectors_batch_close(batch);
 *
 * Prepare the precision first. Refilling a batch does not allocate unless it grows. The sums are
 * the same bits however the columns are divided among workers. */
typedef struct mcr_vectors_batch mcr_vectors_batch;
mcr_status mcr_vectors_batch_open(mcr_vectors_batch **out, const mcr_fused *fused, bool precise);
mcr_status mcr_vectors_batch_fill(mcr_vectors_batch *batch, mcr_rows x);
void mcr_vectors_batch_close(mcr_vectors_batch *batch); /* NULL allowed */

typedef struct mcr_vectors_job {
    int64_t first, count;  /* columns; fastest if first is a multiple of MCR_ROW_PAD */
    const int64_t *column; /* numbers of the columns from `first` on; NULL: consecutive */
    int64_t before;        /* index in row[r] and f of column `first` */
    /* Rows of the batch: row_first, a multiple of MCR_TILE_ROWS, and how many (0: all from there).
     * row, k and coef start at row_first. */
    int64_t row_first, rows;
    /* Where row r is stored: row[r]; or k + r * ld, whose first element is column `first`; or
     * nowhere (both NULL). */
    void *k;
    int64_t ld;
    void *const *row;
    bool stream; /* bypass the caches: not read again soon; needs rows aligned to 64 bytes */
    /* f[o * f_ld + before + c] += sum_r coef[o * coef_ld + r] K(r, first + c); coef NULL: no sums.
     * outputs 0 means 1. */
    const double *coef;
    const float *rough; /* NULL, or coef in float: see mcr_tile_job */
    double *f;
    int64_t outputs, coef_ld, f_ld;
    mcr_scratch *scratch; /* the worker's */
} mcr_vectors_job;
mcr_status mcr_vectors_run(const mcr_vectors_batch *batch, const mcr_vectors_job *job);

#endif
