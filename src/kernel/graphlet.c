/* graphlet.c: induced subgraphs of p nodes in common (Shervashidze, Vishwanathan, Petri, Mehlhorn
 * and Borgwardt, AISTATS 2009; with node labels Costa and De Grave, ICML 2010).
 *
 * presence: the number of isomorphism classes of induced subgraphs of p nodes that both graphs
 * have; count: the inner product of their counts. Node labels are part of the class, edge labels
 * and self-loops are not. Counts are exact:
 *   - connected subgraphs are enumerated, each once (ESU: Wernicke, 2006), and of graphs whose
 *     nodes are all alike those of up to four nodes are computed from degrees, triangles,
 *     four-cycles and cliques;
 *   - the others follow from the connected ones (graphlets.c).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kernel/explicit.h"
#include "kernel/graphlets.h"

#include <string.h>

#include "base/limits.h"
#include "base/number.h"
#include "base/threads.h"
#include "kernel/tuples.h"
#include "kernel/vectors.h"

typedef struct graphlet_params {
    int64_t p;
    int mode, connected;
} graphlet_params;

static const mcr_param params[] = {
    MCR_RANGE_PARAM(graphlet_params, p, MCR_INT, "3", 2, MCR_GRAPHLET_NODES,
                    "nodes of the subgraphs"),
    MCR_MODE_PARAM(graphlet_params),
    {.name = "connected",
     .type = MCR_FLAG,
     .offset = offsetof(graphlet_params, connected),
     .standard = "no",
     .help = "yes: connected subgraphs only"},
    {.name = NULL},
};

/* A subgraph as it is enumerated: an earlier one plus a node. */
typedef struct step {
    mcr_graphlet form;
    int32_t class; /* -1: not computed yet */
    uint64_t times;
} step;

/* One worker. */
typedef struct explorer {
    mcr *ctx;
    int p;
    bool connected;
    const mcr_graphs *graphs;
    int64_t base;     /* first node of the graph */
    int32_t root;     /* the smallest node of the subgraphs being enumerated */
    uint8_t *beside;  /* bits: nodes of the subgraph adjacent to a node */
    int32_t *waiting; /* p lists of candidate nodes */
    int64_t most;     /* capacity of each */
    mcr_census *census;
    mcr_tuples *steps; /* (earlier step, neighbours there, label) */
    step *step;
    int64_t step_count, step_capacity;
    int32_t *met; /* steps with times > 0 */
    int64_t mets, met_capacity;
    uint64_t *common; /* by node: for the formulas */
} explorer;

/* ---- connected subgraphs by enumeration -------------------------------------------------------*/

/* Counts a subgraph: that of step `earlier` (-1: none) plus node v. */
static mcr_status meet(int32_t *number, explorer *x, int32_t earlier, int32_t v)
{
    uint32_t label = x->graphs->label ? (uint32_t)x->graphs->label[x->base + v] : 0;
    uint32_t key[3] = {(uint32_t)earlier, earlier < 0 ? 0 : x->beside[v], label};
    mcr_status s = mcr_tuples_number(number, x->steps, key, 3);
    if (s)
        return s;
    if (*number == x->step_count) {
        s = mcr_reserve(x->ctx, &x->step, &x->step_capacity, x->step_count + 1, sizeof *x->step);
        if (s)
            return s;
        step *new = &x->step[x->step_count++];
        *new = (step){.class = -1};
        if (earlier >= 0)
            new->form = x->step[earlier].form;
        new->form.edges |= key[1] << mcr_graphlet_row(new->form.size);
        new->form.label[new->form.size++] = label;
    }
    step *it = &x->step[*number];
    if (it->times++ == 0) {
        s = mcr_reserve(x->ctx, &x->met, &x->met_capacity, x->mets + 1, sizeof *x->met);
        if (!s)
            x->met[x->mets++] = *number;
    }
    return s;
}

/* Adds each of the first `count` nodes of candidate list `size` in turn to the subgraph of `size`
 * nodes. A node that was added before is excluded together with later ones; a new node only brings
 * in nodes that no earlier one of the subgraph has brought. So each connected subgraph is
 * enumerated once. */
static mcr_status extend(explorer *x, int32_t earlier, int size, int64_t count)
{
    const mcr_graphs *g = x->graphs;
    int32_t *from = x->waiting + size * x->most, *to = from + x->most;
    mcr_status s = MCR_OK;
    for (int64_t i = count - 1; i >= 0 && !s; i--) {
        int32_t v = from[i], number;
        s = meet(&number, x, earlier, v);
        if (s || size + 1 == x->p)
            continue;
        int64_t next = i, first = g->link[x->base + v], end = g->link[x->base + v + 1];
        memcpy(to, from, (size_t)i * sizeof *to);
        for (int64_t e = first; e < end; e++) {
            int32_t u = g->adjacent[e];
            if (u > x->root && x->beside[u] == 0 && u != v)
                to[next++] = u;
            x->beside[u] = (uint8_t)(x->beside[u] | 1u << size);
        }
        s = extend(x, number, size + 1, next);
        for (int64_t e = first; e < end; e++)
            x->beside[g->adjacent[e]] &= (uint8_t) ~(1u << size);
    }
    return s;
}

static mcr_status enumerate(explorer *x, int64_t nodes)
{
    mcr_status s = MCR_OK;
    for (int64_t v = 0; v < nodes && !s; v++) {
        x->root = x->waiting[0] = (int32_t)v;
        s = extend(x, -1, 0, 1);
    }
    for (int64_t i = 0; i < x->mets && !s; i++) {
        step *it = &x->step[x->met[i]];
        if (!x->connected || it->form.size == x->p) {
            if (it->class < 0)
                s = mcr_census_class(&it->class, x->census, &it->form);
            if (!s)
                s = mcr_census_add(x->census, it->class, it->times);
        }
        it->times = 0;
    }
    x->mets = 0;
    return s;
}

/* ---- nodes all alike: formulas ----------------------------------------------------------------*/

/* Subgraphs that are not necessarily induced. */
typedef struct shapes {
    uint64_t nodes, edges, wedges, triangles, claws, paths, cycles, paws, diamonds, cliques;
} shapes;

static int64_t degree_of(const mcr_graphs *g, int64_t base, int32_t v)
{
    int64_t degree = 0;
    for (int64_t e = g->link[base + v]; e < g->link[base + v + 1]; e++)
        degree += g->adjacent[e] != v;
    return degree;
}

/* Ordering nodes by degree limits the work at nodes with many neighbours (Chiba and Nishizeki,
 * 1985). */
static bool below(const explorer *x, int32_t a, int32_t b)
{
    int64_t da = x->graphs->link[x->base + a + 1] - x->graphs->link[x->base + a];
    int64_t db = x->graphs->link[x->base + b + 1] - x->graphs->link[x->base + b];
    return da != db ? da < db : a < b;
}

/* Nodes that close a four-clique below w, among the common neighbours of u and v (beside is 3). */
static uint64_t close_cliques(const explorer *x, int32_t w)
{
    const mcr_graphs *g = x->graphs;
    uint64_t count = 0;
    for (int64_t e = g->link[x->base + w]; e < g->link[x->base + w + 1]; e++)
        count += x->beside[g->adjacent[e]] == 3 && below(x, g->adjacent[e], w);
    return count;
}

/* Triangles over the edge u v, where u's neighbours are marked 1; cliques whose highest nodes these
 * are. */
static uint64_t close_edge(explorer *x, int32_t v, shapes *t)
{
    const mcr_graphs *g = x->graphs;
    int64_t first = g->link[x->base + v], end = g->link[x->base + v + 1];
    uint64_t triangles = 0;
    for (int64_t e = first; e < end; e++) {
        int32_t w = g->adjacent[e];
        if (w != v && x->beside[w]) {
            triangles++;
            x->beside[w] = below(x, w, v) ? 3 : 1;
        }
    }
    for (int64_t e = first; e < end && x->p >= 4; e++)
        if (g->adjacent[e] != v && x->beside[g->adjacent[e]] == 3)
            t->cliques += close_cliques(x, g->adjacent[e]);
    for (int64_t e = first; e < end; e++)
        x->beside[g->adjacent[e]] &= 1;
    return triangles;
}

/* Four-cycles whose highest node is u: pairs of paths of two edges to the same node. */
static uint64_t close_cycles(explorer *x, int32_t u)
{
    const mcr_graphs *g = x->graphs;
    uint64_t cycles = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int64_t e = g->link[x->base + u]; e < g->link[x->base + u + 1]; e++) {
            int32_t v = g->adjacent[e];
            if (v == u || !below(x, v, u))
                continue;
            for (int64_t f = g->link[x->base + v]; f < g->link[x->base + v + 1]; f++) {
                int32_t w = g->adjacent[f];
                if (w == v || w == u || !below(x, w, u))
                    continue;
                if (pass == 0)
                    cycles += x->common[w]++;
                else
                    x->common[w] = 0;
            }
        }
    return cycles;
}

static shapes find_shapes(explorer *x, int64_t nodes)
{
    const mcr_graphs *g = x->graphs;
    shapes t = {.nodes = (uint64_t)nodes};
    for (int32_t u = 0; u < nodes; u++) {
        int64_t first = g->link[x->base + u], end = g->link[x->base + u + 1];
        uint64_t d = (uint64_t)degree_of(g, x->base, u), closed = 0;
        t.wedges += d > 1 ? d * (d - 1) / 2 : 0;
        t.claws += d > 2 ? d * (d - 1) / 2 * (d - 2) / 3 : 0;
        for (int64_t e = first; e < end; e++)
            if (g->adjacent[e] != u)
                x->beside[g->adjacent[e]] = 1;
        for (int64_t e = first; e < end && x->p >= 3; e++) {
            int32_t v = g->adjacent[e];
            if (v == u || !below(x, v, u))
                continue;
            uint64_t here = close_edge(x, v, &t), dv = (uint64_t)degree_of(g, x->base, v);
            t.paths += (d - 1) * (dv - 1);
            t.diamonds += here > 1 ? here * (here - 1) / 2 : 0;
            t.paws += here * (d - 2) + here * (dv - 2); /* twice: each node has two edges */
            closed += here;
        }
        for (int64_t e = first; e < end; e++)
            x->beside[g->adjacent[e]] = 0;
        t.edges += d;
        t.triangles += closed;
        t.cycles += x->p >= 4 ? close_cycles(x, u) : 0;
    }
    t.edges /= 2;
    t.triangles /= 3;
    t.paws /= 2;
    t.paths -= 3 * t.triangles;
    return t;
}

static mcr_status add_shape(explorer *x, int size, uint32_t edges, uint64_t times)
{
    uint32_t label = x->graphs->label ? (uint32_t)x->graphs->label[x->base] : 0;
    mcr_graphlet form = {.size = size, .edges = edges};
    int32_t number;
    if (times == 0 || size > x->p || (x->connected && size < x->p))
        return MCR_OK;
    for (int v = 0; v < size; v++)
        form.label[v] = label;
    mcr_status s = mcr_census_class(&number, x->census, &form);
    return s ? s : mcr_census_add(x->census, number, times);
}

/* Bits of an edge between two of the nodes 0 to 3. */
enum { E01 = 1, E02 = 2, E12 = 4, E03 = 8, E13 = 16, E23 = 32 };

/* Converts counts of all subgraphs to those of induced ones, by subtracting subsets of larger edge
 * sets. */
static mcr_status compute(explorer *x, int64_t nodes)
{
    const shapes t = find_shapes(x, nodes);
    uint64_t diamonds = t.diamonds - 6 * t.cliques;
    uint64_t cycles = t.cycles - diamonds - 3 * t.cliques;
    uint64_t paws = t.paws - 4 * diamonds - 12 * t.cliques;
    uint64_t claws = t.claws - paws - 2 * diamonds - 4 * t.cliques;
    uint64_t paths = t.paths - 4 * cycles - 2 * paws - 6 * diamonds - 12 * t.cliques;
    const struct {
        int size;
        uint32_t edges;
        uint64_t times;
    } all[] = {
        {1, 0, t.nodes},
        {2, E01, t.edges},
        {3, E01 | E02, t.wedges - 3 * t.triangles},
        {3, E01 | E02 | E12, t.triangles},
        {4, E01 | E02 | E03, claws},
        {4, E01 | E12 | E23, paths},
        {4, E01 | E12 | E23 | E03, cycles},
        {4, E01 | E02 | E12 | E03, paws},
        {4, E01 | E02 | E12 | E03 | E13, diamonds},
        {4, E01 | E02 | E12 | E03 | E13 | E23, t.cliques},
    };
    mcr_status s = MCR_OK;
    for (size_t i = 0; i < sizeof all / sizeof *all && !s; i++)
        s = add_shape(x, all[i].size, all[i].edges, all[i].times);
    return s;
}

/* ---- the kernel -------------------------------------------------------------------------------*/

static bool all_alike(const mcr_graphs *g, int64_t graph)
{
    for (int64_t v = g->start[graph]; g->label && v < g->start[graph + 1]; v++)
        if (g->label[v] != g->label[g->start[graph]])
            return false;
    return true;
}

static mcr_status measure(void *arg, const mcr_graphs *g, int64_t graph, int worker,
                          mcr_tally *tally)
{
    explorer *x = (explorer *)arg + worker;
    int64_t nodes = mcr_graphs_size(g, graph);
    if (nodes < x->p)
        return MCR_OK;
    x->base = g->start[graph];
    mcr_status s = x->p <= 4 && all_alike(g, graph) ? compute(x, nodes) : enumerate(x, nodes);
    if (!s && !x->connected)
        s = mcr_census_complete(x->census, x->p);
    return s ? s : mcr_census_take(x->census, x->p, tally);
}

/* The number of subgraphs of p nodes, times p, must fit 64 bits. */
static mcr_status check_sizes(const mcr_bound *bound, const mcr_graphs *g, int p)
{
    static const int64_t limit[] = {0, 0, INT32_MAX, 3000000, 100000, 10000};
    for (int64_t i = 0; i < g->count; i++)
        if (mcr_graphs_size(g, i) > limit[p])
            return mcr_fail(
                bound->ctx, MCR_BAD_DATA,
                "graphlet: graph %lld has %lld nodes, and its subgraphs of %d nodes are too many "
                "to count (up to %lld nodes are possible); use connected=yes or a smaller p",
                (long long)(i < bound->field[0].count ? i : i - bound->field[0].count) + 1,
                (long long)mcr_graphs_size(g, i), p, (long long)limit[p]);
    return MCR_OK;
}

/* A node and p - 1 of its neighbours form a connected subgraph, which is counted at most p times
 * this way. */
static mcr_status allow_work(mcr_bound *bound, const mcr_graphs *g, int p)
{
    enum { STEPS_A_SUBGRAPH = 50 };
    double sum = 0;
    for (int64_t i = 0; i < g->count; i++) {
        if (p <= 4 && all_alike(g, i))
            continue; /* computed, not enumerated */
        for (int64_t v = g->start[i]; v < g->start[i + 1]; v++)
            sum += mcr_choose(g->link[v + 1] - g->link[v], p - 1) / p;
    }
    return mcr_work_allow(bound->ctx, sum * STEPS_A_SUBGRAPH, "graphlet");
}

static mcr_status open_explorer(explorer *x)
{
    size_t most = (size_t)x->most;
    x->beside = mcr_alloc_zero(x->ctx, most, sizeof *x->beside);
    x->waiting = mcr_alloc(x->ctx, most, (size_t)x->p * sizeof *x->waiting);
    x->common = mcr_alloc_zero(x->ctx, most, sizeof *x->common);
    if (!x->beside || !x->waiting || !x->common)
        return MCR_NO_MEMORY;
    mcr_status s = mcr_tuples_open(&x->steps, x->ctx);
    return s ? s : mcr_census_open(&x->census, x->ctx);
}

static void close_explorer(explorer *x)
{
    mcr_free_all(x->ctx, x->beside, x->waiting, x->common, x->step, x->met);
    mcr_tuples_close(x->steps);
    mcr_census_close(x->census);
}

/* "C C O: 1-2 2-3": labels, and which nodes are adjacent. */
static void name(mcr_names *names, const mcr_graphs *g, const uint32_t *tuple, int64_t length)
{
    bool any = false;
    for (int64_t v = 1; v < length && g->label; v++) {
        mcr_graphs_put_label(names, g, tuple[v]);
        mcr_text_string(&names->text, v + 1 < length ? " " : ": ");
    }
    for (int j = 1; j < length - 1; j++)
        for (int i = 0; i < j; i++)
            if (tuple[0] >> (mcr_graphlet_row(j) + i) & 1) {
                mcr_text_format(&names->text, "%s%d-%d", any ? " " : "", i + 1, j + 1);
                any = true;
            }
    if (!any)
        mcr_text_string(&names->text, "no edges");
}

static mcr_status bind(mcr_bound *bound, mcr_binding *binding)
{
    const graphlet_params *p = mcr_bound_params(bound);
    mcr *ctx = bound->ctx;
    int workers = mcr_workers(ctx);
    mcr_graphs *g = NULL;
    mcr_status s = mcr_graphs_open(&g, bound, false);
    if (s)
        return s;
    int64_t most = 1;
    for (int64_t i = 0; i < g->count; i++)
        most = mcr_graphs_size(g, i) > most ? mcr_graphs_size(g, i) : most;
    explorer *x = mcr_alloc_zero(ctx, (size_t)workers, sizeof *x);
    if (!x)
        s = MCR_NO_MEMORY;
    if (!s && !p->connected)
        s = check_sizes(bound, g, (int)p->p);
    if (!s)
        s = allow_work(bound, g, (int)p->p);
    for (int w = 0; w < workers && x; w++) {
        x[w].ctx = ctx;
        x[w].graphs = g;
        x[w].p = (int)p->p;
        x[w].connected = p->connected != 0;
        x[w].most = most;
        if (!s)
            s = open_explorer(&x[w]);
    }
    if (!s)
        s = mcr_graphs_count(bound, binding, g, measure, x, name, p->mode == 0);
    for (int w = 0; w < workers && x; w++)
        close_explorer(&x[w]);
    mcr_free(ctx, x);
    mcr_graphs_close(g);
    return s;
}

MCR_ALWAYS_PSD(definite, "an inner product of counts of subgraphs")

const mcr_kernel_type mcr_kernel_graphlet = {
    .name = "graphlet",
    .summary = "induced subgraphs of p nodes that two graphs have in common",
    .kinds = MCR_GRAPHS,
    .params = params,
    .params_size = sizeof(graphlet_params),
    .definite = definite,
    .bind = bind,
    .features = mcr_features_listed,
};
