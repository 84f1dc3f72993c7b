/* mixing.h (internal): objects that are assembled from columns and fields of others, for
 * explanations that shuffle, replace or shift one of them at a time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_SELECT_MIXING_H
#define MCR_SELECT_MIXING_H

#include "model/model.h"

/* The unit of change: a column of numbers, or a whole field (text, category, date, graph). */
typedef struct mcr_unit {
    int64_t field, column; /* column -1: the whole field */
    char *name;
} mcr_unit;

typedef struct mcr_mixer {
    mcr *ctx;
    const mcr_data *data;
    int64_t units;
    mcr_unit *unit;
    mcr_data **one; /* each field alone */
} mcr_mixer;

/* MCR_BAD_CALL if there are more than `most` units. */
mcr_status mcr_mixer_open(mcr_mixer *m, mcr *ctx, const mcr_data *data, int64_t most);
void mcr_mixer_close(mcr_mixer *m);

/* n objects: unit u of object i is copied from object source[u][i] of the data; source[u] NULL:
 * from `base`[i]. `by` is added to the numbers of unit `moved` (moved -1: none). Without
 * targets. */
typedef struct mcr_mix {
    int64_t n;
    const int64_t *base;
    const int64_t *const *source;
    int64_t moved;
    double by;
} mcr_mix;
mcr_status mcr_mixer_mix(mcr_data **out, const mcr_mixer *m, const mcr_mix *how);

#endif
