/* shortestpath.c: shortest paths in common (Borgwardt and Kriegel, 2005).
 *
 * A feature is (label, label, length): the unordered labels of two different nodes, and the number
 * of edges on a shortest path between them; without node labels only the length. Unconnected pairs
 * do not count. K is the inner product of the counts. All pairs by breadth-first search.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "base/limits.h"
#include "base/threads.h"
#include "kernel/explicit.h"
#include "kernel/graphs.h"
#include "kernel/vectors.h"

/* One worker's memory for a search: nodes in the order in which they are reached. */
typedef struct search {
    int32_t *queue, *length; /* length -1: not reached */
} search;

/* Pairs of the node `from` and later ones. */
static mcr_status search_from(search *s, const mcr_graphs *g, int64_t graph, int64_t from,
                              mcr_tally *tally)
{
    int64_t base = g->start[graph], n = mcr_graphs_size(g, graph), head = 0, tail = 0;
    memset(s->length, 0xff, (size_t)n * sizeof *s->length);
    s->length[from] = 0;
    s->queue[tail++] = (int32_t)from;
    while (head < tail) {
        int32_t v = s->queue[head++];
        if (v > from) {
            uint32_t a = g->label ? (uint32_t)g->label[base + from] : 0;
            uint32_t b = g->label ? (uint32_t)g->label[base + v] : 0;
            uint32_t path[3] = {a < b ? a : b, a < b ? b : a, (uint32_t)s->length[v]};
            mcr_status status = mcr_tally_add(tally, path, 3, 1);
            if (status)
                return status;
        }
        for (int64_t e = g->link[base + v]; e < g->link[base + v + 1]; e++) {
            int32_t u = g->adjacent[e];
            if (s->length[u] < 0) {
                s->length[u] = s->length[v] + 1;
                s->queue[tail++] = u;
            }
        }
    }
    return MCR_OK;
}

static mcr_status measure(void *arg, const mcr_graphs *g, int64_t graph, int worker,
                          mcr_tally *tally)
{
    search *s = (search *)arg + worker;
    mcr_status status = MCR_OK;
    for (int64_t v = 0; v < mcr_graphs_size(g, graph) && !status; v++)
        status = search_from(s, g, graph, v, tally);
    return status;
}

/* "C..O 3": two labels, and their distance. */
static void name(mcr_names *names, const mcr_graphs *g, const uint32_t *path, int64_t length)
{
    (void)length;
    if (g->label) {
        mcr_graphs_put_label(names, g, path[0]);
        mcr_text_string(&names->text, "..");
        mcr_graphs_put_label(names, g, path[1]);
        mcr_text_string(&names->text, " ");
    }
    mcr_text_format(&names->text, "%u", path[2]);
}

/* One search from every node, over all edges of its graph. */
static mcr_status allow_work(mcr_bound *bound, const mcr_graphs *g)
{
    enum { STEPS_AN_EDGE = 4 };
    double sum = 0;
    for (int64_t i = 0; i < g->count; i++) {
        double nodes = (double)mcr_graphs_size(g, i);
        sum += nodes * (nodes + (double)(g->link[g->start[i + 1]] - g->link[g->start[i]]));
    }
    return mcr_work_allow(bound->ctx, sum * STEPS_AN_EDGE, "shortestpath");
}

static mcr_status bind(mcr_bound *bound, mcr_binding *binding)
{
    mcr *ctx = bound->ctx;
    int workers = mcr_workers(ctx);
    mcr_graphs *g = NULL;
    mcr_status status = mcr_graphs_open(&g, bound, false);
    if (!status && (status = allow_work(bound, g)))
        mcr_graphs_close(g);
    if (status)
        return status;
    int64_t most = 0;
    for (int64_t i = 0; i < g->count; i++)
        most = mcr_graphs_size(g, i) > most ? mcr_graphs_size(g, i) : most;
    search *s = mcr_alloc_zero(ctx, (size_t)workers, sizeof *s);
    for (int w = 0; w < workers && s && !status; w++) {
        s[w].queue = mcr_alloc(ctx, (size_t)most, sizeof *s[w].queue);
        s[w].length = mcr_alloc(ctx, (size_t)most, sizeof *s[w].length);
        status = s[w].queue && s[w].length ? MCR_OK : MCR_NO_MEMORY;
    }
    if (!s)
        status = MCR_NO_MEMORY;
    if (!status)
        status = mcr_graphs_count(bound, binding, g, measure, s, name, false);
    for (int w = 0; w < workers && s; w++)
        mcr_free_all(ctx, s[w].queue, s[w].length);
    mcr_free(ctx, s);
    mcr_graphs_close(g);
    return status;
}

MCR_ALWAYS_PSD(definite, "an inner product of counts of shortest paths")

const mcr_kernel_type mcr_kernel_shortestpath = {
    .name = "shortestpath",
    .summary = "pairs of nodes with the same labels and distance that two graphs have in common",
    .kinds = MCR_GRAPHS,
    .definite = definite,
    .bind = bind,
    .features = mcr_features_listed,
};
