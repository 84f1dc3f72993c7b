/* stored.h (internal): a Gram whose values are in memory, and some objects of any Gram.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_GRAM_STORED_H
#define MCR_GRAM_STORED_H

#include "gram/gram.h"

/* A symmetric matrix of kernel values. For solvers that read the values in place (mcr_gram_values)
 * ld is mcr_stored_ld(n) or more, a multiple of MCR_ROW_PAD; what is beyond the columns, up to
 * mcr_stored_ld(n), is 0, and one row of zeros follows the last. */
typedef struct mcr_stored {
    int64_t n, ld;
    const void *k;          /* float *, or double * if `precise` */
    bool precise;           /* k is in double */
    const double *diagonal; /* NULL: read from k */
    /* A Gram of the same objects that provides values in double and bounds on the rounding. It must
     * outlive the Gram; NULL: there are only floats. */
    mcr_gram *exact;
} mcr_stored;

/* The stride of a matrix that solvers read in place. */
static inline int64_t mcr_stored_ld(int64_t n)
{
    return (n / MCR_ROW_PAD + 1) * MCR_ROW_PAD;
}

/* Copies the description, not the matrix: that must outlive the Gram. Any number of threads may
 * read it, each with a Gram of its own (mcr_gram_share). */
mcr_status mcr_gram_stored(mcr_gram **out, mcr *ctx, const mcr_stored *stored);

/* Memory that is reused for one matrix of values after the other, because touching fresh pages is
 * expensive. Zero at first. */
typedef struct mcr_gram_buffer {
    void *k;
    size_t bytes; /* of k */
    double *diagonal;
} mcr_gram_buffer;
void mcr_gram_buffer_free(mcr *ctx, mcr_gram_buffer *buffer);
size_t mcr_gram_copy_bytes(int64_t n, bool precise); /* of a copy of n objects */
/* Computes all of a symmetric Gram into the buffer, which is then in use until `out` is closed;
 * exact: as in mcr_stored. */
mcr_status mcr_gram_copy(mcr_gram **out, mcr_gram *of, bool precise, mcr_gram *exact,
                         mcr_gram_buffer *buffer);

/* All of a symmetric Gram in double, computed once and kept within the memory budget, for solvers
 * that multiply by it: whole, or the tiles on and above the diagonal alone (half.c), which is half
 * of the memory and of what a product has to read. `of` must outlive a whole one; what: for the
 * message where the budget is too small. Progress is reported. */
mcr_status mcr_gram_keep(mcr_gram **out, mcr_gram *of, const char *what);
mcr_status mcr_gram_keep_half(mcr_gram **out, mcr_gram *of, const char *what);
/* All of K in double if the Gram holds it, rows *ld apart; else NULL. */
const double *mcr_gram_doubles(const mcr_gram *gram, int64_t *ld);

/* All of K in float if the Gram holds it, rows *ld apart; else NULL. */
const float *mcr_gram_values(const mcr_gram *gram, int64_t *ld);
/* Whether there are only the floats of mcr_gram_values, and no more precise values. */
bool mcr_gram_is_float(const mcr_gram *gram);

/* K of listed rows against listed columns (NULL: the same objects as the rows, of a symmetric
 * Gram). The lists are copied; `of` must outlive the view. */
mcr_status mcr_gram_list(mcr_gram **out, mcr_gram *of, const mcr_rows *x, const mcr_rows *z);

/* Memory that trainings on the same fold share. Zero at first. */
typedef struct mcr_fold_buffer {
    float *k;
    size_t bytes;  /* of k */
    size_t held;   /* where the part of the held-out objects begins in k */
    bool ready;    /* it holds what it should */
    int64_t ticks; /* when progress was reported last */
} mcr_fold_buffer;
void mcr_fold_buffer_free(mcr *ctx, mcr_fold_buffer *buffer);

/* A fold: the Gram of the training objects, as a list of `of`, that also lists the held-out
 * objects. */
typedef struct mcr_fold {
    mcr_gram *of;
    const int64_t *row, *held; /* where they stand in `of`, rising */
    int64_t count, held_count;
    mcr_fold_buffer *buffer;   /* the caller's */
    struct mcr_row_pool *pool; /* the caller's, for solvers (smo_rows.h); NULL: none */
} mcr_fold;
/* The lists are copied. */
mcr_status mcr_gram_fold(mcr_gram **out, const mcr_fold *fold);
/* NULL: it is none. */
const mcr_fold *mcr_gram_as_fold(const mcr_gram *gram);

#endif
