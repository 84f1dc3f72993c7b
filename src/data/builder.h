/* builder.h (internal to data): the builder's insides.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_DATA_BUILDER_H
#define MCR_DATA_BUILDER_H

#include "data/data.h"

struct mcr_builder {
    mcr *ctx;
    int64_t count; /* objects, -1: not known yet */
    mcr_store **store;
    int64_t stores, store_capacity;
    mcr_targets target_kind;
    double *target; /* NULL for words */
    int32_t *class_of;
    mcr_classes *classes;
    double *weight;
    mcr_classes *target_names; /* of several targets; NULL: one or none */
    double *table;             /* all of them, row by row */
    mcr_layout *layout;
    mcr_store **carried;
    int64_t carries, carry_capacity;
    mcr_missing missing;
    mcr_skips skips;
};

/* MCR_BAD_CALL unless the number of objects is known: arrays given to public calls have as many
 * elements. */
mcr_status mcr_builder_known(const mcr_builder *builder);
/* The numbers of the objects of precomputed values, as mcr_builder_precomputed has them; copied. */
mcr_status mcr_store_number(mcr_store *store, const int64_t *id);
/* The part called `what` has `count` objects: sets the builder's count or compares. */
mcr_status mcr_builder_expect(mcr_builder *builder, int64_t count);
/* Takes over the arrays (replacing earlier targets). */
void mcr_builder_set_targets(mcr_builder *builder, mcr_targets kind, double *target,
                             int32_t *class_of, mcr_classes *classes);

#endif
