/* checkpoint.h (internal): a file that stores the results of a search as they are computed.
 *
 * Text, one line per result, each with a checksum; lines are only appended. A truncated line is
 * ignored.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_SELECT_CHECKPOINT_H
#define MCR_SELECT_CHECKPOINT_H

#include <stdbool.h>

#include <mercer/context.h>

typedef struct mcr_checkpoint mcr_checkpoint;

/* Identifies a result: the item of a batch of the search, which is deterministic. */
typedef struct mcr_result_key {
    int64_t batch, item;
} mcr_result_key;

/* resume: reads the results of an earlier run, which must have the same fingerprint. Otherwise the
 * file is started again. */
mcr_status mcr_checkpoint_open(mcr_checkpoint **out, mcr *ctx, const char *path, bool resume,
                               uint32_t fingerprint);
/* True: the result was already stored and is copied. */
bool mcr_checkpoint_find(const mcr_checkpoint *c, mcr_result_key key, double *value, int64_t count);
/* Thread-safe. */
mcr_status mcr_checkpoint_add(mcr_checkpoint *c, mcr_result_key key, const double *value,
                              int64_t count);
void mcr_checkpoint_close(mcr_checkpoint *c); /* NULL allowed; the file is not removed */

#endif
