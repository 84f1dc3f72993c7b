/* map.h: approximate feature maps.
 *
 * Dense vectors of `rank` numbers with phi(x).phi(z) near K(x,z). Nystroem, for every kernel: the
 * kernel values against `rank` landmarks, made orthonormal. Random Fourier features, for rbf, laplace
 * and matern on vectors: cosines and sines of random frequencies. The same for the same seed and data,
 * whatever the number of threads. features.h has the exact maps.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MERCER_MAP_H
#define MERCER_MAP_H

#include <mercer/data.h>
#include <mercer/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

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

typedef struct mcr_map mcr_map; /* one thread at a time */

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
