/* graph_helpers.h: small graphs and whole matrices, for tests of kernels against slow, obvious
 * code.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TEST_GRAPH_HELPERS_H
#define TEST_GRAPH_HELPERS_H

#include "helpers.h"

#include <stdlib.h>
#include <string.h>

#include <mercer/mercer.h>

enum { MOST_GRAPHS = 30, MOST_NODES = 9, MOST_EDGES = 30 };
enum { PLAIN = 0, NODE_LABELS = 1, EDGE_LABELS = 2, BOTH_LABELS = 3 };

typedef struct graph {
    int nodes, edges;
    int32_t label[MOST_NODES], edge[MOST_EDGES][2], bond[MOST_EDGES];
} graph;

static inline mcr_data *graph_data(mcr *ctx, const graph *g, int64_t n, int labels)
{
    int64_t node[MOST_GRAPHS + 1] = {0}, edge[MOST_GRAPHS + 1] = {0};
    int32_t label[MOST_GRAPHS * MOST_NODES], bond[MOST_GRAPHS * MOST_EDGES];
    int32_t end[MOST_GRAPHS * MOST_EDGES][2];
    assert_true(n <= MOST_GRAPHS);
    for (int64_t i = 0; i < n; i++) {
        node[i + 1] = node[i] + g[i].nodes;
        edge[i + 1] = edge[i] + g[i].edges;
        memcpy(label + node[i], g[i].label, sizeof(int32_t) * (size_t)g[i].nodes);
        memcpy(bond + edge[i], g[i].bond, sizeof(int32_t) * (size_t)g[i].edges);
        memcpy(end + edge[i], g[i].edge, sizeof *end * (size_t)g[i].edges);
    }
    mcr_builder *b = NULL;
    mcr_data *data = NULL;
    test_ok(ctx, mcr_builder_open(&b, ctx, n));
    test_ok(ctx, mcr_builder_graphs(b, "g", node, labels & NODE_LABELS ? label : NULL, edge,
                                    (const int32_t(*)[2])end, labels & EDGE_LABELS ? bond : NULL));
    test_ok(ctx, mcr_builder_finish(&data, b));
    return data;
}

/* The whole matrix of an expression, from malloc; z NULL: x with itself. */
static inline double *matrix(mcr *ctx, const char *text, const mcr_data *x, const mcr_data *z)
{
    mcr_kernel *kernel = NULL;
    mcr_gram *gram = NULL;
    test_ok(ctx, mcr_kernel_parse(&kernel, ctx, text));
    test_ok(ctx, mcr_gram_open(&gram, ctx, kernel, x, z));
    int64_t m = mcr_gram_rows(gram), n = mcr_gram_cols(gram);
    double *k = calloc((size_t)(m * n) + 1, sizeof *k);
    assert_non_null(k);
    test_ok(ctx, mcr_gram_matrix(gram, k, n));
    mcr_gram_close(gram);
    mcr_kernel_free(kernel);
    return k;
}

#endif
