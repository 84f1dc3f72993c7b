/* features.h: explicit feature maps: objects as sparse vectors with K(x,z) = phi(x).phi(z).
 *
 * Kernels that have a finite map: linear, cosine, poly, spectrum, blended, mismatch, wl, shortestpath,
 * graphlet, numbers, and sums, products, powers, normalize and conformal of such kernels
 * (has_features of mcr_kernel_info). The features are numbered for the given objects: those of both sides together.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MERCER_FEATURES_H
#define MERCER_FEATURES_H

#include <mercer/data.h>
#include <mercer/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mcr_features mcr_features; /* one thread at a time */

/* z NULL: of x alone. names: 1 gives each feature a name: a substring, a pattern, a monomial.
 * MCR_BAD_CALL, with the part that is to blame, if the kernel has no finite map. */
MCR_API mcr_status mcr_features_open(mcr_features **out, mcr *ctx, const mcr_kernel *kernel,
                                     const mcr_data *x, const mcr_data *z, int names);
MCR_API void mcr_features_close(mcr_features *features); /* NULL allowed */

/* How many features there are; objects of a side (0: x, 1: z, which is x if there is no other). */
MCR_API int64_t mcr_features_count(const mcr_features *features);
MCR_API int64_t mcr_features_objects(const mcr_features *features, int side);
/* The values of an object with rising features, without those that are 0 (but for those that a factor
 * made 0); returns how many. Borrowed. */
MCR_API int64_t mcr_features_row(const mcr_features *features, int side, int64_t object,
                                 const int32_t **index, const double **value);
/* UTF-8 without control characters (these and other bytes as \xNN, a backslash as two); NULL: opened without names. Borrowed. */
MCR_API const char *mcr_features_name(const mcr_features *features, int64_t feature);

/* The vectors of side x as a data set of one sparse field "features", whose columns have the features'
 * names where they were opened with names, with the targets and weights of `like`, the data they were made from (MCR_BAD_CALL: not so many objects). */
MCR_API mcr_status mcr_features_data(mcr_data **out, const mcr_features *features,
                                     const mcr_data *like);

#ifdef __cplusplus
}
#endif
#endif
