/* scaling.h (internal): vectors in comparable units, learnt from some objects, applied to others.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_DATA_SCALING_H
#define MCR_DATA_SCALING_H

#include "data/data.h"

typedef enum mcr_scale { MCR_SCALE_NONE, MCR_SCALE_MINMAX, MCR_SCALE_STANDARD } mcr_scale;

typedef struct mcr_scaled_field {
    char *name;
    bool dense; /* what comes out */
    int64_t cols;
    double *shift, *factor; /* cols each; shift is 0 for sparse vectors */
} mcr_scaled_field;

typedef struct mcr_scaling {
    mcr *ctx;
    int64_t fields;
    mcr_scaled_field *field; /* those that hold vectors */
} mcr_scaling;

/* Whether vectors have so few entries that scaling leaves them sparse. */
bool mcr_stays_sparse(const mcr_field *field);
/* From the objects of data. MCR_BAD_CALL if none of its fields holds vectors. */
mcr_status mcr_scaling_learn(mcr_scaling **out, const mcr_data *data, mcr_scale kind);
/* The same data with scaled vectors; scaling NULL: the data themselves. *out is to be freed. */
mcr_status mcr_scaling_apply(mcr_data **out, const mcr_scaling *scaling, const mcr_data *data);
/* Room for so many fields, of which there are none yet: for a reader of files. */
mcr_status mcr_scaling_open(mcr_scaling **out, mcr *ctx, int64_t fields);
mcr_status mcr_scaling_copy(mcr_scaling **out, const mcr_scaling *from);
void mcr_scaling_free(mcr_scaling *scaling); /* NULL allowed */

#endif
