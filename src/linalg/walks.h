/* walks.h (internal): sums over the common walks of two graphs, by conjugate gradients.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_LINALG_WALKS_H
#define MCR_LINALG_WALKS_H

#include <stdbool.h>
#include <stdint.h>

/* Rows are padded with zeros to a multiple of this. */
enum { MCR_WALK_PAD = 8 };

/* Pairs of nodes with the same label, `height` nodes of one graph and `width` of the other. A
 * vector has a row of `width` values for each node of the first graph, starting at `first`;
 * transposed, a row of `height` values for each node of the second, starting at `turned`. */
typedef struct mcr_walk_part {
    int64_t height, width;
    int64_t first, row;     /* row: distance between rows */
    int64_t turned, column; /* column: the same, transposed */
} mcr_walk_part;

/* Edges of one kind in both graphs: entries (to, from), nodes numbered within their parts, sorted
 * by `to`. */
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
    int64_t size, turned_size;  /* size of a vector, and of a transposed one */
    int64_t sum_size, row_size; /* of two parts: largest width x column; of one: largest row */
    double *r, *p, *q;          /* size each */
    double *product;            /* turned_size */
    double *sum, *row;
} mcr_walk_job;

typedef struct mcr_walk_kit {
    /* 1' (I - lambda A)^-1 1, where A is the adjacency matrix of the product graph and `radius` an
     * upper bound of its spectral radius, to a relative error of `accuracy`; false: no
     * convergence. */
    bool (*solve)(double *k, const mcr_walk_job *job, double radius, double accuracy);
} mcr_walk_kit;

#endif
