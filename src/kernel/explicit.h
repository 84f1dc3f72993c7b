/* explicit.h (internal): how explicit feature maps are made, node by node of a bound expression.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_KERNEL_EXPLICIT_H
#define MCR_KERNEL_EXPLICIT_H

#include <mercer/features.h>

#include "kernel/kernel.h"

/* Names of features, one after the other. */
typedef struct mcr_names {
    mcr *ctx;
    mcr_text text;  /* each ends with a zero byte */
    int64_t *begin; /* of each, in text */
    int64_t count, capacity;
} mcr_names;

mcr_status mcr_names_open(mcr_names **out, mcr *ctx);
void mcr_names_close(mcr_names *names); /* NULL allowed */
/* One more name: what was put into names->text since the last one. */
mcr_status mcr_names_end(mcr_names *names);
/* Puts bytes of data into the text: what cannot be shown as \xNN. */
void mcr_names_bytes(mcr_names *names, const char *bytes, int64_t length);
const char *mcr_names_at(const mcr_names *names, int64_t i);

struct mcr_features {
    mcr *ctx;
    int64_t count;
    int64_t objects[2]; /* [1]: 0 where both sides are the same */
    int64_t *start[2];  /* object i has the entries start[i] .. start[i+1]-1 */
    int32_t *index[2];  /* rising in each object */
    double *value[2];
    int64_t capacity[2][2]; /* of index, of value */
    int64_t rows[2];        /* objects that are complete */
    mcr_names *names;       /* NULL: not wanted */
    /* Of the features of an object in the whole map, rounding changed so much, as a share of their
     * length, at most. INFINITY: not known. */
    double error;
};

/* Whether all parts of an expression have a map that a learner may choose by itself. */
bool mcr_kernel_has_features(const mcr_kernel *kernel);

/* The map of a bound node: an empty one, handed to the type's `features`. */
mcr_status mcr_features_of(mcr_features **out, const mcr_bound *bound);

/* `error` of a map: by the rules that its values are made by (error.c). */
double mcr_features_error(const mcr_bound *bound);

/* For `features` of types, beside what extend.h has. */
/* MCR_OVER_BUDGET, with the size, if so many entries are beyond the budget. */
mcr_status mcr_features_expect(const mcr_features *f, double entries);
/* How many sides have objects of their own. */
static inline int mcr_features_sides(const mcr_bound *bound)
{
    return bound->same ? 1 : 2;
}

/* `features` of leaves that listed their values while binding (mcr_features_offer). */
mcr_status mcr_features_listed(const mcr_bound *bound, mcr_features *out);
/* Of vectors as they are: linear. */
mcr_status mcr_features_vectors(const mcr_bound *bound, mcr_features *out);
/* Name of a column of a leaf's vectors. */
void mcr_features_column(mcr_names *names, const mcr_bound *bound, int64_t column);

/* For combinators. append: the features of part behind those there are; scaled_child: those of the
 * only child, each object of a side times its factor. */
mcr_status mcr_features_append(mcr_features *out, const mcr_features *part);
mcr_status mcr_features_scaled_child(const mcr_bound *bound, mcr_features *out,
                                     double *const factor[2]);
/* Objects of a side to length 1; zero vectors stay. */
mcr_status mcr_features_normalize(mcr_features *f, int side);
/* f = f x by. */
mcr_status mcr_features_times(mcr_features *f, const mcr_bound *bound, const mcr_features *by);
/* Targets and weights of `like` for the builder of another data set of the same objects. */
mcr_status mcr_features_targets(mcr_builder *b, mcr *ctx, const mcr_data *like);
/* *out becomes *from; from is left empty. */
void mcr_features_move(mcr_features *out, mcr_features *from);

#endif
