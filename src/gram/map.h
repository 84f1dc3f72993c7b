/* map.h (internal): the internals of approximate feature maps.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_GRAM_MAP_H
#define MCR_GRAM_MAP_H

#include <mercer/map.h>

#include "gram/gram.h"
#include "kernel/kernel.h"

struct mcr_map {
    mcr *ctx;
    mcr_kernel *kernel;
    mcr_approx approx;
    int64_t count; /* features */
    /* Nystroem: phi(x) = T' k(x), k the kernel values against the landmarks. */
    int64_t landmarks;
    int64_t *object;    /* their numbers in the data, rising */
    mcr_data *landmark; /* themselves */
    double *turn;       /* T: landmarks x count */
    bool upper;         /* T is an upper triangle */
    /* Random Fourier features: cosines, then sines, of omega'x. */
    uint64_t seed;
    int64_t columns; /* of omega: frequencies, half of the features */
    int64_t dims;    /* features of the data */
    double *omega;   /* dims x columns */
    size_t taken;    /* of the budget */
};

/* Numbers of *count objects of data, ascending (gram/landmarks.c); fewer if these span all
 * others. */
mcr_status mcr_landmarks_choose(mcr *ctx, const mcr_kernel *kernel, const mcr_data *data,
                                mcr_landmarks how, int64_t *count, int64_t *object);
/* Chosen greedily from all objects of a symmetric Gram, in the order of the choice
 * (gram/greedy.c). */
mcr_status mcr_landmarks_greedy(mcr_gram *gram, int64_t *count, int64_t *object);
/* Falkon's map with these landmarks, whether they depend on each other or not: `share` of the mean
 * of K(x,x) is added to the diagonal of K between them. */
mcr_status mcr_map_open_at(mcr_map **out, mcr *ctx, const mcr_kernel *kernel, const mcr_data *x,
                           mcr_rows object, double share);
/* Random Fourier features of the seed for data with so many columns (gram/fourier.c). */
mcr_status mcr_map_fourier(mcr_map *map, const mcr_data *data);
mcr_status mcr_map_fourier_rows(const mcr_map *map, const mcr_data *data, mcr_rows rows, double *to,
                                int64_t ld);
/* Whether the kernel has them; else MCR_BAD_CALL, with a remedy in the message. */
mcr_status mcr_map_fourier_check(mcr *ctx, const mcr_kernel *kernel);
/* The map of a model: random Fourier features of a seed, for the columns of data. */
mcr_status mcr_map_open_seeded(mcr_map **out, mcr *ctx, const mcr_kernel *kernel,
                               const mcr_data *data, int64_t rank, uint64_t seed);

/* K of some objects, which may be in their file, against the landmarks. */
mcr_status mcr_map_cross(mcr_gram **out, const mcr_map *map, const mcr_data *data, mcr_rows rows);
/* Fails with this message: what shows that the function is not a kernel. */
mcr_status mcr_map_not_definite(mcr *ctx, const char *message);
/* A weight per feature, as coefficients of the landmarks: coef (landmarks x cols) = T w. The same
 * bits whenever it is computed. */
mcr_status mcr_map_coefficients(const mcr_map *map, const double *w, int64_t cols, double *coef);

#endif
