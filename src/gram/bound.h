/* bound.h (internal to src/gram): a Gram that computes its values from a kernel and data.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_GRAM_BOUND_H
#define MCR_GRAM_BOUND_H

#include "gram/type.h"
#include "kernel/kernel.h"

typedef struct mcr_gram_bound {
    mcr_gram base;
    mcr_kernel *kernel;
    mcr_data *x, *z;  /* z == x when symmetric */
    bool prepared[2]; /* for float and double tiles */
    bool lists;       /* for double tiles of listed columns */
    mcr_binding *binding;
    mcr_scratch **scratch;              /* one per worker */
    struct mcr_vectors_batch *batch[2]; /* rows packed for passes, by precision; NULL: not yet */
    int workers;
    double value_work; /* mcr_gram_work, once a pass has needed it; 0: not yet */
    double *diagonal;  /* of the rows, once a view has needed it; NULL: not yet */
    bool shares;       /* the binding is another Gram's */
} mcr_gram_bound;

/* The Gram if it is bound, else NULL: for code that iterates over tiles itself. */
mcr_gram_bound *mcr_gram_as_bound(mcr_gram *gram);

/* Rows packed for all workers, in an expression that is one vector leaf; valid until the next call.
 * The precision must have been prepared. */
mcr_status mcr_gram_bound_batch(const struct mcr_vectors_batch **out, mcr_gram_bound *gram,
                                mcr_rows x, bool precise);

/* A tile whose rows are those of a batch from row_first on; batch NULL: they are not packed. */
mcr_status mcr_gram_bound_tile(const mcr_gram_bound *gram, const struct mcr_vectors_batch *batch,
                               int64_t row_first, const mcr_tile *tile);

/* K(x,x) of all rows, computed once; the Gram's. */
mcr_status mcr_gram_bound_diagonal(const double **out, mcr_gram_bound *gram);

/* matrix.c, pass.c, sums.c, multiply.c */
mcr_status mcr_gram_bound_matrix(mcr_gram *gram, const mcr_gram_fill *fill);
mcr_status mcr_gram_bound_rows(mcr_gram *gram, const mcr_gram_pass *pass);
mcr_status mcr_gram_bound_sums(mcr_gram *gram, mcr_rows object, bool precise, const double *v,
                               double *f);
/* The largest number of roundings that a term of these sums goes through. */
double mcr_gram_bound_depth(const mcr_gram *gram);
mcr_status mcr_gram_bound_multiply(mcr_gram *gram, const double *v, int64_t cols, double *kv);
/* The tiles on and above the diagonal of a symmetric Gram (gram/half.h). */
mcr_status mcr_gram_bound_tiles(mcr_gram *gram, double *tiles);

#endif
