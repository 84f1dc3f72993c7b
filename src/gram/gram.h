/* gram.h (internal): a Gram's insides, and what iterative solvers use beyond gram.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_GRAM_GRAM_H
#define MCR_GRAM_GRAM_H

#include <stdbool.h>

#include <mercer/gram.h>

#include "kernel/kernel.h"

struct mcr_gram {
    mcr *ctx;
    mcr_kernel *kernel;
    mcr_data *x, *z; /* z == x when symmetric */
    bool same;
    bool prepared[2]; /* for float and double tiles */
    mcr_binding *binding;
    mcr_scratch **scratch;              /* one a worker */
    struct mcr_vectors_batch *batch[2]; /* rows packed for passes, by precision; NULL: not yet */
    int workers;
    bool twin; /* the binding is another Gram's */
};

/* Packs for the precision, once. Called by everything that computes. */
mcr_status mcr_gram_prepare(mcr_gram *gram, bool precise);
/* Rows packed for all workers, in an expression that is one vector leaf; valid until the next call.
 * Prepare the precision before. */
mcr_status mcr_gram_batch(const struct mcr_vectors_batch **out, mcr_gram *gram, mcr_rows x,
                          bool precise);
/* All of K in either precision, without telling of progress or stopping: for solvers that have a
 * progress of their own. */
mcr_status mcr_gram_matrix_quietly(mcr_gram *gram, void *k, int64_t ld, bool precise);
/* mcr_gram_matrix_float that also ends with MCR_STOPPED at the deadline, of mcr_now(); 0: none. */
mcr_status mcr_gram_matrix_until(mcr_gram *gram, float *k, int64_t ld, double deadline);
/* A block in either precision; k is float * or double *. */
mcr_status mcr_gram_block_any(mcr_gram *gram, mcr_rows x, mcr_rows z, void *k, int64_t ld,
                              bool precise);

/* The same Gram for another thread: shares all that was packed, has scratch memory of its own. Prepare
 * the original before; close the twin first. */
mcr_status mcr_gram_twin(mcr_gram **out, const mcr_gram *gram);

/* Multiply-adds of one kernel value, roughly: for choosing between ways of computing. Depends on the
 * data alone, never on time. */
double mcr_gram_work(const mcr_gram *gram);
/* Whether a value costs so much that a few of them are worth handing to another worker: tiles of
 * MCR_SLOW_TILE a side then. */
bool mcr_gram_is_slow(const mcr_gram *gram);
enum { MCR_SLOW_TILE = 16 };

/* A bound on the rounding of kernel values. */
mcr_status mcr_gram_error(mcr_gram *gram, bool precise, mcr_error *error);

/* K against some of z's objects: shares x. For solvers whose active set shrinks. */
mcr_status mcr_gram_restrict(mcr_gram **out, mcr_gram *gram, mcr_rows z);

/* Whole rows of K against all columns, and what is done with them in the same pass. */
typedef struct mcr_gram_pass {
    mcr_rows x;
    bool precise; /* rows are double, else float */
    void *const
        *row; /* where to keep each row (columns rounded up to MCR_ROW_PAD, 64-byte aligned);
                         NULL: nowhere */
    /* f[o * f_ld + j] += sum_i coef[o * coef_ld + i] K(x.i, z_j), o < outputs (0: no sums); in double,
     * in the order of i; with `rough`, the same coefficients in float, a few dozen at a time may be
     * summed in float first. */
    const double *coef;
    const float *rough;
    double *f;
    int64_t outputs, coef_ld, f_ld;
} mcr_gram_pass;
mcr_status mcr_gram_rows_pass(mcr_gram *gram, const mcr_gram_pass *pass);

/* f = K v for objects that are the Gram's columns (column i is x's object[i]) and its rows alike: half
 * of the values are computed, in the precision asked for, and summed in double. The same bits for
 * any number of threads. */
mcr_status mcr_gram_sums(mcr_gram *gram, const int64_t *object, bool precise, const double *v,
                         double *f);

#endif
