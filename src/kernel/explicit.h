/* explicit.h (internal): how explicit feature maps are computed, node by node of a bound
 * expression.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_KERNEL_EXPLICIT_H
#define MCR_KERNEL_EXPLICIT_H

#include <mercer/features.h>

#include "kernel/kernel.h"

/* Names of features, concatenated. */
typedef struct mcr_names {
    mcr *ctx;
    mcr_text text;  /* each NUL-terminated */
    int64_t *begin; /* offset of each in text */
    int64_t count, capacity;
} mcr_names;

mcr_status mcr_names_open(mcr_names **out, mcr *ctx);
void mcr_names_close(mcr_names *names); /* NULL allowed */
/* Ends a name: everything appended to names->text since the last one. */
mcr_status mcr_names_end(mcr_names *names);
/* Appends bytes of data; unprintable ones as \xNN. */
void mcr_names_bytes(mcr_names *names, const char *bytes, int64_t length);
const char *mcr_names_at(const mcr_names *names, int64_t i);

struct mcr_features {
    mcr *ctx;
    int64_t count;
    int64_t objects[2]; /* [1]: 0 if both sides are the same */
    int64_t *start[2];  /* object i has the entries start[i] .. start[i+1]-1 */
    int32_t *index[2];  /* ascending in each object */
    double *value[2];
    int64_t capacity[2][2]; /* capacities of index and value */
    int64_t rows[2];        /* completed objects */
    int64_t puts;           /* values so far, including zeros */
    double most_entries;    /* of products and powers; 0: as many as the limits allow */
    mcr_names *names;       /* NULL: not wanted */
    /* Of the features of an object in the whole map, rounding changed so much, as a share of their
     * length, at most. INFINITY: not known. */
    double error;
};

/* Whether all parts of an expression have a map that a learner may choose by default. */
bool mcr_kernel_has_features(const mcr_kernel *kernel);

/* mcr_features_open for one data set, without names; MCR_OVER_BUDGET as soon as a product, power or
 * polynomial would have more entries (0: no such limit). */
mcr_status mcr_features_open_few(mcr_features **out, mcr *ctx, const mcr_kernel *kernel,
                                 const mcr_data *x, double most_entries);

/* The map of a bound node: creates an empty one and calls the type's `features`. */
mcr_status mcr_features_of(mcr_features **out, const mcr_bound *bound);

/* `error` of a map, by the rules that compute its values (error.c). */
double mcr_features_error(const mcr_bound *bound);

/* For `features` of types, in addition to extend.h. */
/* Whether a map may be listed: MCR_OVER_BUDGET, with the size or time, if so many features and
 * entries exceed the memory budget or the limit for work. letters: of a name, on average. The
 * others: the same for a power and a product of maps, before mcr_features_times. */
mcr_status mcr_features_expect(const mcr_features *f, double count, double entries, double letters);
mcr_status mcr_features_expect_power(const mcr_features *f, int64_t degree);
mcr_status mcr_features_expect_product(mcr_features *const *part, int parts);
/* The number of sides with objects of their own. */
static inline int mcr_features_sides(const mcr_bound *bound)
{
    return bound->same ? 1 : 2;
}

/* `features` of leaves that listed their values in bind (mcr_features_offer). */
mcr_status mcr_features_listed(const mcr_bound *bound, mcr_features *out);
/* `features` of linear: the vectors themselves. */
mcr_status mcr_features_vectors(const mcr_bound *bound, mcr_features *out);
/* Name of a column of a leaf's vectors. */
void mcr_features_column(mcr_names *names, const mcr_bound *bound, int64_t column);

/* For combinators. append: appends the features of part; scaled_child: the features of the only
 * child, each object of a side multiplied by its factor. */
mcr_status mcr_features_append(mcr_features *out, const mcr_features *part);
mcr_status mcr_features_scaled_child(const mcr_bound *bound, mcr_features *out,
                                     double *const factor[2]);
/* Scales the objects of a side to length 1; zero vectors are kept. */
mcr_status mcr_features_normalize(mcr_features *f, int side);
/* The tensor product f x by, in f. */
mcr_status mcr_features_times(mcr_features *f, const mcr_bound *bound, const mcr_features *by);
/* Copies targets and weights of `like` to the builder of another data set of the same objects. */
mcr_status mcr_features_targets(mcr_builder *b, mcr *ctx, const mcr_data *like);
/* Moves *from to *out; from becomes empty. */
void mcr_features_move(mcr_features *out, mcr_features *from);

#endif
