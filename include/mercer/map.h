/* map.h: approximate feature maps.
 *
 * A map turns objects into dense vectors of `rank` numbers with phi(x).phi(z) near K(x,z). The
 * Nystroem method works for every kernel: kernel values against `rank` landmarks, made orthonormal.
 * Random Fourier features work for rbf, laplace and matern on vectors: cosines and sines of random
 * frequencies. The result depends on the seed and the data only, not on the number of threads.
 * features.h has the exact maps.
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

/* Falkon's map spans the same space as Nystroem's. Its basis comes from a Cholesky factor, which is
 * needed for many landmarks: learners that train with it never compute the vectors, only
 * products. */
typedef enum mcr_approx {
    MCR_APPROX_NONE = 0,
    MCR_APPROX_NYSTROM,
    MCR_APPROX_RFF,
    MCR_APPROX_FALKON
} mcr_approx;

/* How landmarks are chosen: uniformly at random; as the objects nearest to the centres of k-means
 * in feature space; at random with probabilities by leverage, which is high for objects that the
 * others approximate poorly; or greedily, each the object that the previous ones approximate worst.
 * The last three use a sample of the objects. */
typedef enum mcr_landmarks {
    MCR_LANDMARKS_UNIFORM = 0,
    MCR_LANDMARKS_KMEANS,
    MCR_LANDMARKS_LEVERAGE,
    MCR_LANDMARKS_GREEDY
} mcr_landmarks;

typedef struct mcr_map_options {
    size_t size; /* sizeof(mcr_map_options) */
    mcr_approx approx;
    int64_t rank; /* features; for Nystroem, landmarks (at most the number of objects) */
    mcr_landmarks landmarks;
} mcr_map_options;

typedef struct mcr_map mcr_map; /* one thread at a time */

/* Computes the map from the objects of x; keeps its own references. */
MCR_API mcr_status mcr_map_open(mcr_map **out, mcr *ctx, const mcr_kernel *kernel,
                                const mcr_data *x, const mcr_map_options *options);
MCR_API void mcr_map_close(mcr_map *map); /* NULL allowed */
/* The number of features: the rank, or less if the landmarks are linearly dependent. */
MCR_API int64_t mcr_map_count(const mcr_map *map);
/* The features of some objects of any data: those of object t of `rows` begin at to[t * ld]. */
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
