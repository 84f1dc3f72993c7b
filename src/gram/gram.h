/* gram.h (internal): the Gram as solvers see it: an operator that gives blocks, rows with sums, and
 * products of K, beyond what the public gram.h has.
 *
 * The Gram decides where the values come from (gram/type.h): computed from a kernel and data
 * (bound.c), in memory (stored.c), products of features (factor.c), or some objects of another Gram
 * (view.c, list.c). This header shows neither kernels nor data.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_GRAM_GRAM_H
#define MCR_GRAM_GRAM_H

#include <stdbool.h>

#include <mercer/gram.h>

#include "base/context.h"
#include "base/rows.h"
#include "linalg/system.h"
#include "linalg/tiles.h"

mcr *mcr_gram_context(const mcr_gram *gram);

/* ---- values -----------------------------------------------------------------------------------*/

/* Packs for the precision, once. Every computation does this itself; a Gram that several threads
 * share must be prepared beforehand. */
mcr_status mcr_gram_prepare(mcr_gram *gram, bool precise);
/* Prepares for sums of few objects in double; only these are packed, when they are requested. */
mcr_status mcr_gram_prepare_lists(mcr_gram *gram);
/* A block in either precision; k is float * or double *. */
mcr_status mcr_gram_block_any(mcr_gram *gram, mcr_rows x, mcr_rows z, void *k, int64_t ld,
                              bool precise);
/* All of K in either precision, without progress reports: for solvers that report their own. */
mcr_status mcr_gram_matrix_quietly(mcr_gram *gram, void *k, int64_t ld, bool precise);
/* mcr_gram_matrix_float that also ends with MCR_STOPPED at the deadline, in the time of mcr_now();
 * 0: none. */
mcr_status mcr_gram_matrix_until(mcr_gram *gram, float *k, int64_t ld, double deadline);

/* Fills a system with root_i K_ij root_j (root NULL: K) of a symmetric Gram; `report`: progress. */
mcr_status mcr_gram_fill_system(mcr_gram *gram, mcr_system *to, const double *root, bool report);

/* A bound on the rounding of kernel values. */
mcr_status mcr_gram_error(mcr_gram *gram, bool precise, mcr_error *error);
/* Used if no such bound is known. */
#define MCR_UNKNOWN_ERROR 1e-12
/* Bounds on the rounding error of K a of a symmetric Gram (a and error are rows x outputs). share:
 * from mcr_gram_extended or mcr_gram_sums_error, or NAN if kernel values and sums are double, in
 * any order. */
mcr_status mcr_gram_product_error(mcr_gram *gram, const double *a, int64_t outputs, double share,
                                  double *error);
/* The same with known lengths, sqrt(|K(x,x)|). */
mcr_status mcr_gram_lengths(mcr_gram *gram, double *length);
mcr_status mcr_gram_product_error_of(mcr_gram *gram, const double *length, const double *a,
                                     int64_t outputs, double share, double *error);
/* The share for products by mcr_gram_sums with all objects, whose sums consist of few parts. */
mcr_status mcr_gram_sums_error(mcr_gram *gram, double *share);
/* K a of a symmetric Gram in extended precision (kernel.h); to->object is not used. */
mcr_status mcr_gram_extended(mcr_gram *gram, mcr_extended *to);

/* ---- passes over rows -------------------------------------------------------------------------*/

/* Whole rows of K against all columns, and the operations on them in the same pass. */
typedef struct mcr_gram_pass {
    mcr_rows x;
    /* Only these columns; row and f begin with the first of them. count 0: all. Of a view they are
     * listed. */
    mcr_rows z;
    bool precise; /* rows are double, else float */
    bool once;    /* few such passes will follow: columns in double are packed for each of them */
    bool again;   /* x is as in the pass before, and still packed */
    /* Where to keep each row (columns rounded up to MCR_ROW_PAD, 64-byte aligned); NULL:
     * nowhere. */
    void *const *row;
    bool soon; /* rows are read again at once: they stay in the caches */
    /* f[o * f_ld + j] += sum_i coef[o * coef_ld + i] K(x.i, z_j), o < outputs (0: no sums); in
     * double, in the order of i; with `rough`, the same coefficients in float, a few dozen at a
     * time may be summed in float first. */
    const double *coef;
    const float *rough;
    double *f;
    int64_t outputs, coef_ld, f_ld;
    /* Progress is reported under this name (NULL: not), with the share of the whole that is done;
     * MCR_STOPPED if cancelled: f is then invalid. */
    const char *phase;
    double done;
} mcr_gram_pass;
mcr_status mcr_gram_rows_pass(mcr_gram *gram, const mcr_gram_pass *pass);

/* f = K v for some objects of a symmetric Gram: half of the values are computed, in the requested
 * precision, and summed in double. The same bits for any number of threads. A Gram that several
 * threads share must be prepared beforehand. */
mcr_status mcr_gram_sums(mcr_gram *gram, mcr_rows object, bool precise, const double *v, double *f);

/* ---- parts ------------------------------------------------------------------------------------*/

/* The same Gram for another thread: shares the packed data, has its own scratch memory. Prepare the
 * original beforehand; close the copy first. */
mcr_status mcr_gram_share(mcr_gram **out, mcr_gram *gram);
/* K of some rows against some columns, as a Gram of its own. */
mcr_status mcr_gram_select(mcr_gram **out, mcr_gram *gram, mcr_rows x, mcr_rows z);
/* K of some objects of a symmetric Gram, symmetric again. */
mcr_status mcr_gram_select_both(mcr_gram **out, mcr_gram *gram, mcr_rows objects);
/* K against some of its columns: shares the rows. For solvers whose active set shrinks. */
mcr_status mcr_gram_restrict(mcr_gram **out, mcr_gram *gram, mcr_rows z);

/* ---- factors -----------------------------------------------------------------------------------
 *
 * Of a Gram that is known by a factor, K = D D^T with one row of D per object; x are rows of it. */

/* Columns of D; 0: there is no factor. */
int64_t mcr_gram_width(const mcr_gram *gram);
/* y = D v and u = D^T a; v and u are width x cols, y and a rows x cols. */
mcr_status mcr_gram_expand(mcr_gram *gram, mcr_rows x, const double *v, int64_t cols, double *y);
mcr_status mcr_gram_project(mcr_gram *gram, mcr_rows x, const double *a, int64_t cols, double *u);
/* m = D^T diag(h) D, its lower triangle, rows ldm apart; h >= 0; NULL: D^T D. */
mcr_status mcr_gram_weighted(mcr_gram *gram, mcr_rows x, const double *h, double *m, int64_t ldm);
/* The same into a system. */
mcr_status mcr_gram_fill_weighted(mcr_gram *gram, mcr_system *to, mcr_rows x, const double *h);
/* The same with an error of about `off` in norm, for a step or a preconditioner. */
mcr_status mcr_gram_fill_near(mcr_gram *gram, mcr_system *to, mcr_rows x, const double *h,
                              double off);
/* Squared lengths of the rows. */
mcr_status mcr_gram_squares(mcr_gram *gram, mcr_rows x, double *square);
/* Rows with more than such a share of entries are multiplied as dense ones. */
#define MCR_DENSE_SHARE 0.25

static inline mcr_rows mcr_gram_all(const mcr_gram *gram)
{
    return (mcr_rows){NULL, 0, mcr_gram_rows(gram)};
}

/* ---- cost -------------------------------------------------------------------------------------*/

/* Approximate multiply-adds of one kernel value, for choosing between methods. Depends only on the
 * data, never on time. */
double mcr_gram_work(const mcr_gram *gram);
/* Whether a value is so expensive that a few of them are worth another worker: tiles then have
 * MCR_SLOW_TILE rows and columns. */
bool mcr_gram_is_slow(const mcr_gram *gram);
enum { MCR_SLOW_TILE = 16 };
/* Whether one row takes as long as several in the same pass. */
bool mcr_gram_in_panels(const mcr_gram *gram);

/* Whether K is known to be positive semidefinite. */
bool mcr_gram_is_definite(const mcr_gram *gram);

#endif
