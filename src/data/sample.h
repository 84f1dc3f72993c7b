/* sample.h (internal to data): synthetic data sets.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_DATA_SAMPLE_H
#define MCR_DATA_SAMPLE_H

#include "base/random.h"
#include "data/data.h"

/* The input of a generator. It adds fields and targets for `count` objects to the builder. */
typedef struct mcr_sample_job {
    mcr *ctx;
    const char *name;     /* name of the data set */
    mcr_builder *builder; /* opened for count objects */
    mcr_random random;
    int64_t count;
    double noise; /* finite; >= 0 except for xor, whose default depends on count */
} mcr_sample_job;

typedef mcr_status mcr_sample_make(mcr_sample_job *job);

/* Deals classes 0 .. count-1, at most 4, so that each run of `count` objects has all of them in
 * random order: balanced, and the position of an object does not reveal its class. Initialise to
 * zero except for count. */
typedef struct mcr_sample_dealer {
    int count, left;
    int order[4];
} mcr_sample_dealer;
int mcr_sample_deal(mcr_sample_dealer *dealer, mcr_random *random);

/* The end of a generator with one store: passes store and targets to the builder if there was no
 * error, and frees the remainder. */
mcr_status mcr_sample_finish(mcr_sample_job *job, mcr_status status, mcr_store *store,
                             double *target);

/* Vectors (sample_points.c). */
mcr_sample_make mcr_sample_points, mcr_sample_sparse;
/* Strings and graphs (sample_objects.c). */
mcr_sample_make mcr_sample_motifs, mcr_sample_molecules, mcr_sample_mixed;

#endif
