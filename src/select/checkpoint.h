/* checkpoint.h (internal): a file that keeps the results of a search as they come.
 *
 * Text, one line a result, each with a checksum; lines are only ever added. A line that was cut off
 * is taken for not written.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_SELECT_CHECKPOINT_H
#define MCR_SELECT_CHECKPOINT_H

#include <stdbool.h>

#include <mercer/context.h>

typedef struct mcr_checkpoint mcr_checkpoint;

/* What a result belongs to: the item of the batch of the search, which runs the same way each
 * time. */
typedef struct mcr_result_key {
    int64_t batch, item;
} mcr_result_key;

/* resume: the results of an earlier run are read, which must have the same fingerprint. Else the
 * file is begun again. */
mcr_status mcr_checkpoint_open(mcr_checkpoint **out, mcr *ctx, const char *path, bool resume,
                               uint32_t fingerprint);
/* True: the result was there already and is copied. */
bool mcr_checkpoint_find(const mcr_checkpoint *c, mcr_result_key key, double *value, int64_t count);
/* May be called by several threads at once. */
mcr_status mcr_checkpoint_add(mcr_checkpoint *c, mcr_result_key key, const double *value,
                              int64_t count);
void mcr_checkpoint_close(mcr_checkpoint *c); /* NULL allowed; the file stays */

#endif
