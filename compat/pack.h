/* pack.h: the objects of a problem as one sparse matrix.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef COMPAT_PACK_H
#define COMPAT_PACK_H

#include <stdbool.h>
#include <stdint.h>

#include "svm.h"

/* Row i has the entries start[i] .. start[i + 1] - 1; zeros are left out. */
typedef struct compat_pack {
    int64_t *start;
    int32_t *index; /* from 0: the indices that occur, in order */
    double *value;
    int64_t cols;
    int *number;       /* precomputed: each object's place in the rows of the others */
    bool rising;       /* indices rise in all rows; else there is no matrix */
    const char *fault; /* why the objects cannot be used; NULL: they can */
} compat_pack;

/* false: out of memory. */
bool compat_pack_open(compat_pack *pack, const struct svm_problem *prob, bool precomputed);
/* Some rows of another. */
bool compat_pack_select(compat_pack *pack, const compat_pack *of, const int *row, int count);
void compat_pack_close(compat_pack *pack);

#endif
