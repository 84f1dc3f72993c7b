/* features.h: explicit feature maps: objects as sparse vectors with K(x,z) = phi(x).phi(z).
 *
 * Kernels that have a finite map: linear, cosine, poly, spectrum, blended, mismatch, wl, shortestpath, graphlet,
 * numbers, and sums, products, powers, normalize and conformal of such kernels (`mercer kernels`
 * says so). The features are numbered for the given objects: those of both sides together.
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

typedef struct mcr_features mcr_features;

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

/* ---- approximate maps --------------------------------------------------------------------------
 *
 * Dense vectors of `rank` numbers with phi(x).phi(z) near K(x,z). Nystroem, for every kernel: the kernel
 * values against `rank` landmarks, made orthonormal. Random Fourier features, for rbf, laplace and matern
 * on vectors: cosines and sines of random frequencies. The same for the same seed and data, whatever the
 * number of threads. */

typedef enum mcr_approx { MCR_APPROX_NONE = 0, MCR_APPROX_NYSTROM, MCR_APPROX_RFF } mcr_approx;

/* How landmarks are chosen: with equal chances; the objects nearest to the centres of k-means in feature
 * space; by leverage, how little others say about an object. The last two look at a sample. */
typedef enum mcr_landmarks {
    MCR_LANDMARKS_UNIFORM = 0,
    MCR_LANDMARKS_KMEANS,
    MCR_LANDMARKS_LEVERAGE
} mcr_landmarks;

typedef struct mcr_map_options {
    size_t size; /* sizeof(mcr_map_options) */
    mcr_approx approx;
    int64_t rank; /* wanted: features; of Nystroem, landmarks (no more than objects) */
    mcr_landmarks landmarks;
} mcr_map_options;

typedef struct mcr_map mcr_map;

/* Made for the objects of x; keeps its own references. */
MCR_API mcr_status mcr_map_open(mcr_map **out, mcr *ctx, const mcr_kernel *kernel,
                                const mcr_data *x, const mcr_map_options *options);
MCR_API void mcr_map_close(mcr_map *map); /* NULL allowed */
/* Features: the rank, or less where the landmarks are not independent. */
MCR_API int64_t mcr_map_count(const mcr_map *map);
/* The features of some objects of data, which need not be those of open: to[t * ld ..] for rows.t. */
MCR_API mcr_status mcr_map_rows(mcr_map *map, const mcr_data *data, mcr_rows rows, double *to,
                                int64_t ld);

/* How far phi(x).phi(z) is from K(x,z), on all pairs of a random sample of the objects. */
typedef struct mcr_map_error {
    size_t size; /* sizeof(mcr_map_error) */
    int64_t pairs;
    double mean, rms, largest; /* of |phi(x).phi(z) - K(x,z)| */
    double scale;              /* mean of K(x,x), for comparison */
} mcr_map_error;
MCR_API mcr_status mcr_map_measure(mcr_map *map, const mcr_data *data, mcr_map_error *out);

/* The vectors of all objects as a data set of one dense field "features", with their targets. */
MCR_API mcr_status mcr_map_data(mcr_data **out, mcr_map *map, const mcr_data *data);

#ifdef __cplusplus
}
#endif
#endif
