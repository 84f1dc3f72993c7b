/* pairs.h (internal): K of pairs of classes in float, as stored Grams.
 *
 * K of a pair has four parts: each class with itself, and one with the other, twice. The first are
 * the same in all pairs of a class: they are computed once. One pair per worker is in memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_GRAM_PAIRS_H
#define MCR_GRAM_PAIRS_H

#include "gram/stored.h"

typedef struct mcr_gram_pairs mcr_gram_pairs;

/* Bytes of a worker's pair of at most so many objects. */
size_t mcr_gram_pairs_space(int64_t most);
/* gram: of all objects, for which the blocks of its classes (rows of it) are computed; NULL: pairs
 * are read from a K that is stored. The caller accounts for the budget. */
mcr_status mcr_gram_pairs_open(mcr_gram_pairs **out, mcr *ctx, int64_t most, mcr_gram *gram,
                               const mcr_rows *classes, int64_t count);
void mcr_gram_pairs_close(mcr_gram_pairs *pairs); /* NULL allowed */
/* K of the objects of class a, then of class b > a, in the worker's memory: until its next pair.
 * gram: that of all objects, for this worker. exact: as in mcr_stored. */
mcr_status mcr_gram_pairs_stored(mcr_gram **out, mcr_gram_pairs *pairs, int64_t a, int64_t b,
                                 int worker, mcr_gram *gram, mcr_gram *exact);
/* The same for listed objects of a Gram that holds all of K in float. */
mcr_status mcr_gram_pairs_read(mcr_gram **out, const mcr_gram_pairs *pairs, mcr_rows objects,
                               int worker, const mcr_gram *all, mcr_gram *exact);

#endif
