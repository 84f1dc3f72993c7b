/* duplicates.h: objects that occur several times.
 *
 * Mercer trains on each of them once, with a weight, and gives the first the sum of the
 * coefficients. LIBSVM's callers know coefficients of one object each, within its bounds.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef COMPAT_DUPLICATES_H
#define COMPAT_DUPLICATES_H

#include <stdbool.h>

#include "pack.h"

/* next[i]: the next of the n objects that has the same vector and target as object i; -1: none.
 * target NULL: vectors alone count. false: out of memory. */
bool compat_duplicates_link(int *next, const compat_pack *pack, const int *row, int n,
                            const double *target);

#endif
