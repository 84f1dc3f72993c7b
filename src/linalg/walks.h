/* walks.h (internal): sums over the common walks of two graphs, by conjugate gradients.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_LINALG_WALKS_H
#define MCR_LINALG_WALKS_H

#include <stdbool.h>
#include <stdint.h>

/* Rows are filled up with zeros to a multiple of this. */
enum { MCR_WALK_PAD = 8 };

/* Pairs of nodes with the same label, `height` nodes of the one graph and `width` of the other. A
 * vector has a row of `width` values for each of the first, from `first` on; transposed, a row of
 * `height` values for each of the second, from `turned` on. */
typedef struct mcr_walk_part {
    int64_t height, width;
    int64_t first, row;     /* row: from one to the next */
    int64_t turned, column; /* column: the same, transposed */
} mcr_walk_part;

/* Steps of one kind in both graphs: entries (to, from), nodes numbered within their parts, sorted
 * by the first. */
typedef struct mcr_walk_steps {
    const int32_t (*a)[2], (*b)[2];
    int64_t a_count, b_count;
    const mcr_walk_part *from, *to;
} mcr_walk_steps;

typedef struct mcr_walk_job {
    double lambda;
    const mcr_walk_part *part;
    const mcr_walk_steps *steps;
    int64_t parts, kinds;
    int64_t size, turned_size;  /* of a vector, and of a transposed one */
    int64_t sum_size, row_size; /* the largest: width x column of two parts; row of one */
    double *r, *p, *q;          /* size each */
    double *product;            /* turned_size */
    double *sum, *row;
} mcr_walk_job;

typedef struct mcr_walk_kit {
    /* 1' (I - lambda A)^-1 1, A being the adjacency matrix of the product graph and `radius` not
     * less than its spectral radius, up to a relative error of `accuracy`; false: it does not
     * converge. */
    bool (*solve)(double *k, const mcr_walk_job *job, double radius, double accuracy);
} mcr_walk_kit;

#endif
