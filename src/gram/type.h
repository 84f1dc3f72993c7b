/* type.h (internal to src/gram): how one representation of K works.
 *
 * A representation is a struct that begins with mcr_gram and a table of functions. Functions that
 * are NULL are derived from blocks by gram.c, or are not available.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_GRAM_TYPE_H
#define MCR_GRAM_TYPE_H

#include "gram/gram.h"

/* How a whole matrix is wanted. */
typedef struct mcr_gram_fill {
    void *k; /* float * or double * */
    int64_t ld;
    bool precise;
    bool report;     /* progress; MCR_STOPPED if cancelled */
    double deadline; /* MCR_STOPPED then, too; 0: none */
} mcr_gram_fill;

typedef struct mcr_gram_type {
    void (*close)(mcr_gram *gram);
    /* Rows and columns are within the Gram, and there are some. */
    mcr_status (*block)(mcr_gram *gram, mcr_rows x, mcr_rows z, void *k, int64_t ld, bool precise);
    mcr_status (*diagonal)(mcr_gram *gram, int side, double *k);
    /* NULL: a list of all objects. */
    mcr_status (*share)(mcr_gram **out, mcr_gram *gram);
    /* Some rows (NULL: all) against some columns (NULL: the same objects, of a symmetric Gram).
     * NULL: a list. */
    mcr_status (*select)(mcr_gram **out, mcr_gram *gram, const mcr_rows *x, const mcr_rows *z);
    /* From here on NULL: as `of`, if there is one. Else the values are what K is, */
    mcr_status (*error)(mcr_gram *gram, bool precise, mcr_error *error);
    double (*work)(const mcr_gram *gram); /* 1, */
    /* nothing to prepare, */
    mcr_status (*prepare)(mcr_gram *gram, bool precise);
    /* not slow; one row takes less time than several; not known to be definite. */
    bool (*is_slow)(const mcr_gram *gram);
    bool (*in_panels)(const mcr_gram *gram);
    bool (*is_definite)(const mcr_gram *gram);
    /* NULL: not available. */
    mcr_status (*extended)(mcr_gram *gram, mcr_extended *to);
    /* NULL: as for everything in double. */
    mcr_status (*prepare_lists)(mcr_gram *gram);
    /* NULL: by blocks. */
    mcr_status (*rows)(mcr_gram *gram, const mcr_gram_pass *pass);
    mcr_status (*matrix)(mcr_gram *gram, const mcr_gram_fill *fill); /* of a symmetric Gram */
    mcr_status (*multiply)(mcr_gram *gram, const double *v, int64_t cols, double *kv);
    mcr_status (*sums)(mcr_gram *gram, mcr_rows object, bool precise, const double *v, double *f);
    double (*depth)(const mcr_gram *gram); /* roundings of a term of sums; NULL: as many as terms */
    /* Of a factor D, K = D D^T, with so many columns; NULL: there is none. */
    int64_t (*width)(const mcr_gram *gram);
    mcr_status (*expand)(mcr_gram *gram, mcr_rows x, const double *v, int64_t cols, double *y);
    mcr_status (*project)(mcr_gram *gram, mcr_rows x, const double *a, int64_t cols, double *u);
    mcr_status (*weighted)(mcr_gram *gram, mcr_rows x, const double *h, double *m, int64_t ldm);
    /* NULL: there is no quicker way. */
    mcr_status (*weighted_near)(mcr_gram *gram, mcr_rows x, const double *h, double off, double *m,
                                int64_t ldm);
    mcr_status (*squares)(mcr_gram *gram, mcr_rows x, double *square);
} mcr_gram_type;

/* `select` of the table, or what takes its place. */
mcr_status mcr_gram_some(mcr_gram **out, mcr_gram *gram, const mcr_rows *x, const mcr_rows *z);
/* The same from blocks, for any Gram. */
mcr_status mcr_gram_blocks_pass(mcr_gram *gram, const mcr_gram_pass *pass);
mcr_status mcr_gram_blocks_sums(mcr_gram *gram, mcr_rows object, bool precise, const double *v,
                                double *f);
mcr_status mcr_gram_blocks_multiply(mcr_gram *gram, const double *v, int64_t cols, double *kv);
/* By the factor: K v = D (D^T v). */
mcr_status mcr_gram_multiply_factor(mcr_gram *gram, const double *v, int64_t cols, double *kv);

/* k[at] = value, of doubles or floats. */
static inline void mcr_gram_put(void *k, int64_t at, double value, bool precise)
{
    if (precise)
        ((double *)k)[at] = value;
    else
        ((float *)k)[at] = (float)value;
}

struct mcr_gram {
    const mcr_gram_type *type;
    mcr *ctx;
    mcr_gram *of; /* the Gram that it is a view of, or that has more precise values; NULL: none */
    int64_t rows, cols;
    bool symmetric; /* the same objects on both sides */
    bool spread;    /* these are some of the rows; the others are in other processes */
};

#endif
