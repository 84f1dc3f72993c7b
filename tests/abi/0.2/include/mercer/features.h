/* features.h: explicit feature maps: objects as sparse vectors with K(x,z) = phi(x).phi(z).
 *
 * These kernels have a finite feature map: linear, cosine, poly, spectrum, blended, mismatch, wl,
 * shortestpath, graphlet, numbers, and sums, products, powers, normalize and conformal of such
 * kernels (has_features of mcr_kernel_info). The numbering of the features depends on the given
 * objects, x and z together.
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

/* The features of the objects of x and, unless z is NULL, of z. names: 1 gives each feature a name:
 * a substring, a pattern, a monomial. MCR_BAD_CALL if the kernel has no finite map; the message
 * names the part that has none. */
MCR_API mcr_status mcr_features_open(mcr_features **out, mcr *ctx, const mcr_kernel *kernel,
                                     const mcr_data *x, const mcr_data *z, int names);
MCR_API void mcr_features_close(mcr_features *features); /* NULL allowed */

/* The number of features; the number of objects of a side (0: x; 1: z, or x if z was NULL). */
MCR_API int64_t mcr_features_count(const mcr_features *features);
MCR_API int64_t mcr_features_objects(const mcr_features *features, int side);
/* The nonzero values of an object, in ascending order of the features; values that a factor turned
 * into 0 are included. Returns how many. Borrowed. */
MCR_API int64_t mcr_features_row(const mcr_features *features, int side, int64_t object,
                                 const int32_t **index, const double **value);
/* The name in UTF-8; control characters and bytes that are not UTF-8 are written as \xNN, and a
 * backslash as two. NULL: opened without names. Borrowed. */
MCR_API const char *mcr_features_name(const mcr_features *features, int64_t feature);

/* The vectors of x as a data set with one sparse field "features". Its columns have the names of
 * the features, if these were opened with names. Targets and weights are those of `like`, the data
 * that the features were made from; MCR_BAD_CALL if it has another number of objects. */
MCR_API mcr_status mcr_features_data(mcr_data **out, const mcr_features *features,
                                     const mcr_data *like);

#ifdef __cplusplus
}
#endif
#endif
