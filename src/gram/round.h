/* round.h (internal): through K and back in one pass, u = K^T a(K c), without keeping K.
 *
 * Conjugate gradients, gradients of losses and residuals of restricted problems all have this form:
 * each block of rows is computed once, multiplied by c, changed, and multiplied back while it is in
 * the cache. Rows are divided into parts by their number alone, each part has its own sums, and
 * these are added in order: the same bits for any number of threads.
 *
 * If rows are spread over several processes (base/team.h), each computes its own part of the pass
 * of a factor, and u and sum are added up over all of them; y stays with the rows. mcr_gram_total
 * adds up other numbers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_GRAM_ROUND_H
#define MCR_GRAM_ROUND_H

#include "gram/gram.h"

/* Computes a from y for `count` objects, from place `first` of the pass on; both are count x
 * outputs and do not overlap. Returns a term of the sum, such as a loss. Runs in several threads at
 * once. */
typedef double mcr_round_work(const void *self, int64_t first, int64_t count, const double *y,
                              double *a);

/* The work where a is known: self is an mcr_given. */
typedef struct mcr_given {
    const double *a; /* of the whole pass */
    int64_t outputs;
} mcr_given;
mcr_round_work mcr_round_given;

/* In double, this many terms of u are added with rounding; blocks of that many are then added
 * exactly. */
enum { MCR_ROUND_DEPTH = 96 + 4 };

typedef struct mcr_round {
    mcr_rows x;
    bool precise; /* kernel values in double */
    int64_t outputs;
    const double *c; /* columns x outputs; NULL: y is 0 and need not be computed */
    mcr_round_work *work;
    const void *self;
    double *y; /* x.count x outputs, to be filled with K c; NULL: not wanted */
    double *u; /* columns x outputs, to be filled; NULL: there is no way back */
    double sum;
    /* The first kept_rows rows of K in float, where the caller has them; used unless `precise`. */
    const float *kept;
    int64_t kept_rows, kept_ld;
} mcr_round;

mcr_status mcr_gram_round(mcr_gram *gram, mcr_round *round);
/* The same for the factor of K = D D^T in place of K: u = D^T a(D c); columns are those of D. */
mcr_status mcr_gram_factor_round(mcr_gram *gram, mcr_round *round);
/* Replaces numbers by their sums, or by the largest of them, over all processes that share the
 * Gram's rows; with one process they stay as they are. */
mcr_status mcr_gram_total(mcr_gram *gram, double *sum, int64_t count);
mcr_status mcr_gram_largest(mcr_gram *gram, double *x, int64_t count);
/* Of `count` things that this process has: the number of the first among all, and the total. */
mcr_status mcr_gram_place(mcr_gram *gram, int64_t count, int64_t *first, int64_t *all);
bool mcr_gram_is_spread(const mcr_gram *gram);

#endif
