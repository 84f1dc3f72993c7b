/* tu.h (internal): a TU graph data set from its parts, wherever they come from.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_DATA_FORMAT_TU_H
#define MCR_DATA_FORMAT_TU_H

#include "data/data.h"

/* The files of a set; NULL: absent. Borrowed. */
typedef struct mcr_tu_parts {
    mcr_input *edges;         /* DS_A.txt, needed */
    mcr_input *indicator;     /* DS_graph_indicator.txt, needed */
    mcr_input *graph_labels;  /* DS_graph_labels.txt */
    mcr_input *graph_targets; /* DS_graph_attributes.txt, used without graph_labels */
    mcr_input *node_labels;   /* DS_node_labels.txt */
    mcr_input *edge_labels;   /* DS_edge_labels.txt */
} mcr_tu_parts;

/* Fills the builder (opened with count -1) with the field "graph" and the targets. */
mcr_status mcr_tu_read(mcr_builder *builder, mcr *ctx, const mcr_tu_parts *parts);

#endif
