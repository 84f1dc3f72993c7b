/* graphs.h (internal): shared code of kernels on graphs: the graphs of both sides in one numbering,
 * and counts of patterns as sparse feature vectors.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_KERNEL_GRAPHS_H
#define MCR_KERNEL_GRAPHS_H

#include "kernel/explicit.h"
#include "kernel/features.h"

/* The graphs of a leaf: those of x, then those of z (none if x and z are the same). */
typedef struct mcr_graphs {
    mcr *ctx;
    int64_t count, nodes;
    int64_t *start;    /* graph i has the nodes start[i] .. start[i+1]-1 */
    int64_t *link;     /* node v has the neighbours adjacent[link[v] .. link[v+1]-1] */
    int32_t *adjacent; /* number within the graph, ascending; a self-loop is listed once */
    int32_t *label;    /* of nodes, from 0; their order does not depend on the set; NULL: none */
    int64_t labels;
    char **label_name; /* name of each label; NULL: no names */
    int32_t *bond;     /* edge labels, parallel to adjacent; NULL: none */
} mcr_graphs;

/* Labels that were words in the files are compared as words, numbers by their digits. bonds:
 * whether edge labels are used. MCR_BAD_DATA if only one side has labels that are used. */
mcr_status mcr_graphs_open(mcr_graphs **out, const mcr_bound *bound, bool bonds);
void mcr_graphs_close(mcr_graphs *graphs); /* NULL allowed */

static inline int64_t mcr_graphs_size(const mcr_graphs *g, int64_t graph)
{
    return g->start[graph + 1] - g->start[graph];
}

/* ---- patterns ---------------------------------------------------------------------------------*/

/* Counts of one graph's patterns; a pattern is a tuple. */
typedef struct mcr_tally mcr_tally;
mcr_status mcr_tally_add(mcr_tally *tally, const uint32_t *tuple, int64_t length, int64_t times);

/* Adds the patterns of one graph. Called from several threads; worker: 0 .. mcr_workers - 1. */
typedef mcr_status mcr_graphs_measure(void *arg, const mcr_graphs *graphs, int64_t graph,
                                      int worker, mcr_tally *tally);
/* Appends the name of a pattern. */
typedef void mcr_graphs_name(mcr_names *names, const mcr_graphs *graphs, const uint32_t *tuple,
                             int64_t length);
/* Ends a leaf's bind: the kernel is the inner product of the counts (with presence: of 0/1
 * indicators). */
mcr_status mcr_graphs_count(mcr_bound *bound, mcr_binding *binding, const mcr_graphs *graphs,
                            mcr_graphs_measure *measure, void *arg, mcr_graphs_name *name,
                            bool presence);
/* Appends the name of a node label. */
void mcr_graphs_put_label(mcr_names *names, const mcr_graphs *graphs, int64_t label);

#endif
