/* graphlets.h (internal): isomorphism classes of small graphs with labelled nodes, and the number
 * of induced subgraphs of each class in a graph.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_KERNEL_GRAPHLETS_H
#define MCR_KERNEL_GRAPHLETS_H

#include "kernel/graphs.h"

enum { MCR_GRAPHLET_NODES = 5 };

typedef struct mcr_graphlet {
    int size;
    uint32_t edges; /* nodes i < j are adjacent: bit j (j - 1) / 2 + i */
    uint32_t label[MCR_GRAPHLET_NODES];
} mcr_graphlet;

/* The position in `edges` of the bits for the earlier neighbours of node j. */
static inline int mcr_graphlet_row(int j)
{
    return j * (j - 1) / 2;
}

/* Classes, numbered in the order they are found, and the counts of one graph. For one worker. */
typedef struct mcr_census mcr_census;
mcr_status mcr_census_open(mcr_census **out, mcr *ctx);
void mcr_census_close(mcr_census *census); /* NULL allowed */
/* The number of the graphlet's class. */
mcr_status mcr_census_class(int32_t *number, mcr_census *census, const mcr_graphlet *graphlet);
/* Counts `times` more induced subgraphs of the class. Counts are exact below 2^63. */
mcr_status mcr_census_add(mcr_census *census, int32_t number, uint64_t times);
/* Computes the counts of all classes from those of the connected classes of 1 to p nodes, without
 * enumerating subgraphs again. */
mcr_status mcr_census_complete(mcr_census *census, int p);
/* Adds the counts of the classes of p nodes to the tally, and clears all counts. */
mcr_status mcr_census_take(mcr_census *census, int p, mcr_tally *tally);

#endif
