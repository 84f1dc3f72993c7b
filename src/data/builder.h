/* builder.h (internal to data): the members of the builder.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_DATA_BUILDER_H
#define MCR_DATA_BUILDER_H

#include "data/data.h"

struct mcr_builder {
    mcr *ctx;
    int64_t count;  /* objects, -1: not known yet */
    mcr_data *data; /* so far: without their count, and without `target` for words */
    int64_t store_capacity, carry_capacity;
};

/* MCR_BAD_CALL unless the number of objects is known: arrays passed to public calls must have that
 * many elements. */
mcr_status mcr_builder_known(const mcr_builder *builder);
/* An empty store for a field of the builder, whose number of objects must be known. */
mcr_status mcr_builder_store(mcr_store **out, mcr_builder *builder, const char *name,
                             mcr_kind kind);
/* MCR_BAD_DATA unless the starts begin at 0 and do not fall. */
mcr_status mcr_store_check_starts(const mcr_store *store);
/* Sets the numbers of the objects of precomputed values, as in mcr_builder_precomputed; copied. */
mcr_status mcr_store_number(mcr_store *store, const int64_t *id);
/* States that the part named `what` has `count` objects: sets the builder's count or compares
 * it. */
mcr_status mcr_builder_expect(mcr_builder *builder, int64_t count);
/* Takes ownership of the arrays; they replace earlier targets. */
void mcr_builder_set_targets(mcr_builder *builder, mcr_targets kind, double *target,
                             int32_t *class_of, mcr_classes *classes);

#endif
