/* cache.h (internal): rows of K that are worth keeping.
 *
 * A cache belongs to a Gram and keeps whole rows (against all its columns) within a number of bytes
 * taken from the memory budget. Rows that are missing in a call are computed together, as one pass.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_GRAM_CACHE_H
#define MCR_GRAM_CACHE_H

#include "base/resume.h"
#include "gram/gram.h"

typedef struct mcr_cache mcr_cache;

/* A cache of at most `bytes` (less if the budget has less left; it may hold no row at all). Memory
 * is allocated as rows are added. */
mcr_status mcr_cache_open(mcr_cache **out, mcr_gram *gram, size_t bytes, bool precise);
void mcr_cache_close(mcr_cache *cache); /* NULL allowed */

/* f[j] += sum_i coef[i] K(x.i, z_j), in double: kept rows first, then the others, each in the order
 * of i. Missing rows among the first `keep` are kept if there is space or if other rows have not
 * been used for some calls. x must not repeat a row. */
mcr_status mcr_cache_accumulate(mcr_cache *cache, mcr_rows x, int64_t keep, const double *coef,
                                double *f);

/* Attaches the cache to `gram`, whose columns are columns keep[0..] (ascending) of the old one. */
mcr_status mcr_cache_narrow(mcr_cache *cache, mcr_gram *gram, const int64_t *keep);
/* Forgets all rows and goes over to `gram`. */
mcr_status mcr_cache_reset(mcr_cache *cache, mcr_gram *gram);

/* For a checkpoint: the list of rows it holds. On reading, they are recomputed as rows of
 * `gram`. */
mcr_status mcr_cache_walk(mcr_cache *cache, mcr_gram *gram, mcr_walk *w);

/* Rows computed and rows found, since the cache was opened. */
void mcr_cache_counts(const mcr_cache *cache, int64_t *computed, int64_t *found);

#endif
