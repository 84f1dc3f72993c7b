/* graphlets.c: isomorphism classes of small graphs, and counts of the disconnected ones.
 *
 * Canonical form: nodes sorted by label, with the smallest edge code among all such orders.
 *
 * Disconnected classes. A pair (S, R) of an induced subgraph S of class X and a connected one R of
 * class Y has a union U. Either S and R are disjoint and no edge joins them: then U is of class X +
 * Y. Or they touch; the number of touching pairs of classes X and Y with a given union U depends
 * only on the class of U. So, with N_X for the number of subgraphs of class X,
 *
 *     pairs that do not touch = N_X N_Y - sum over classes U of N_U (pairs in U that touch)
 *
 * With Y a single node, classes with i + 1 isolated nodes follow from those with at most i: in a
 * touching pair the node is in S or adjacent to it, so U has no more isolated nodes than X.
 * Disconnected classes without isolated nodes and with at most five nodes consist of an edge and
 * two or three connected nodes: Y is the edge, and all U are connected. Sizes are computed in
 * ascending order.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kernel/graphlets.h"

#include <assert.h>
#include <string.h>

#include "kernel/tuples.h"

/* How a class U is the union of a touching pair (X, Y), by Y and by the size of U. */
enum {
    NODE_OUTSIDE, /* Y a node; X is U without it */
    NODE_INSIDE,  /* X is U */
    EDGE_APART,   /* Y an edge, X connected; |X| = |U| - 2 */
    EDGE_HALF,    /* |X| = |U| - 1 */
    EDGE_INSIDE,  /* X is U */
    SPLITS
};

typedef struct class
{
    mcr_graphlet form;
    uint32_t isolated; /* bits: nodes without neighbours */
    bool connected;
    int64_t first[SPLITS], count[SPLITS]; /* in split; -1: not computed yet */
} class;

/* The disjoint union of classes X and Y. */
typedef struct pair {
    int32_t sum;    /* class X + Y; -1: not computed yet */
    uint64_t touch; /* touching pairs in this graph */
} pair;

typedef struct list {
    int32_t *item;
    int64_t count, capacity;
} list;

struct mcr_census {
    mcr *ctx;
    mcr_tuples *forms, *pairs; /* numbers of classes and of pairs of classes */
    class *class;
    uint64_t *times; /* of a class in this graph */
    pair *pair;
    int64_t classes, class_capacity, times_capacity, pair_capacity, pair_count;
    list split;                           /* pairs, see class */
    list present[MCR_GRAPHLET_NODES + 1]; /* classes of this graph, by size */
    list touched;                         /* pairs with touch > 0 */
};

/* ---- small graphs -----------------------------------------------------------------------------*/

static void find_rows(const mcr_graphlet *g, uint32_t row[MCR_GRAPHLET_NODES])
{
    memset(row, 0, sizeof(uint32_t) * MCR_GRAPHLET_NODES);
    for (int j = 1; j < g->size; j++)
        for (int i = 0; i < j; i++)
            if (g->edges >> (mcr_graphlet_row(j) + i) & 1) {
                row[i] |= 1u << j;
                row[j] |= 1u << i;
            }
}

/* Whether the nodes of `set` are connected. */
static bool hangs_together(const uint32_t *row, uint32_t set)
{
    uint32_t reached = set & (~set + 1), before = 0;
    while (reached != before) {
        before = reached;
        for (int v = 0; v < MCR_GRAPHLET_NODES; v++)
            if (before >> v & 1)
                reached |= row[v] & set;
    }
    return reached == set;
}

/* The subgraph induced by the nodes of `set`. */
static mcr_graphlet part(const mcr_graphlet *g, const uint32_t *row, uint32_t set)
{
    mcr_graphlet p = {.size = 0};
    int node[MCR_GRAPHLET_NODES];
    for (int v = 0; v < g->size; v++) {
        if (!(set >> v & 1))
            continue;
        for (int i = 0; i < p.size; i++)
            p.edges |= (row[v] >> node[i] & 1) << (mcr_graphlet_row(p.size) + i);
        p.label[p.size] = g->label[v];
        node[p.size++] = v;
    }
    return p;
}

/* Tries all orders that keep the labels sorted. */
typedef struct ordering {
    const mcr_graphlet *graphlet;
    uint32_t row[MCR_GRAPHLET_NODES], label[MCR_GRAPHLET_NODES], best;
    int node[MCR_GRAPHLET_NODES];
} ordering;

static void try_orders(ordering *o, int at, uint32_t used, uint32_t edges)
{
    if (at == o->graphlet->size || at == MCR_GRAPHLET_NODES) {
        o->best = edges < o->best ? edges : o->best;
        return;
    }
    for (int v = 0; v < o->graphlet->size; v++) {
        if (used >> v & 1 || o->graphlet->label[v] != o->label[at])
            continue;
        uint32_t more = edges;
        for (int i = 0; i < at; i++)
            more |= (o->row[v] >> o->node[i] & 1) << (mcr_graphlet_row(at) + i);
        o->node[at] = v;
        try_orders(o, at + 1, used | 1u << v, more);
    }
}

static mcr_graphlet canonical(const mcr_graphlet *g)
{
    ordering o = {.graphlet = g, .best = UINT32_MAX};
    mcr_graphlet c = {.size = g->size};
    find_rows(g, o.row);
    for (int v = 0; v < g->size; v++) {
        int at = v;
        for (; at > 0 && o.label[at - 1] > g->label[v]; at--)
            o.label[at] = o.label[at - 1];
        o.label[at] = g->label[v];
    }
    try_orders(&o, 0, 0, 0);
    c.edges = o.best;
    memcpy(c.label, o.label, sizeof c.label);
    return c;
}

/* ---- classes ----------------------------------------------------------------------------------*/

mcr_status mcr_census_open(mcr_census **out, mcr *ctx)
{
    *out = NULL;
    mcr_census *c = mcr_alloc_zero(ctx, 1, sizeof *c);
    if (!c)
        return MCR_NO_MEMORY;
    c->ctx = ctx;
    mcr_status s = mcr_tuples_open(&c->forms, ctx);
    if (!s)
        s = mcr_tuples_open(&c->pairs, ctx);
    if (s)
        mcr_census_close(c);
    else
        *out = c;
    return s;
}

void mcr_census_close(mcr_census *c)
{
    if (!c)
        return;
    mcr_tuples_close(c->forms);
    mcr_tuples_close(c->pairs);
    mcr_free_all(c->ctx, c->class, c->times, c->pair, c->split.item, c->touched.item);
    for (int q = 0; q <= MCR_GRAPHLET_NODES; q++)
        mcr_free(c->ctx, c->present[q].item);
    mcr_free(c->ctx, c);
}

static mcr_status append(mcr *ctx, list *l, int32_t item)
{
    mcr_status s = mcr_reserve(ctx, &l->item, &l->capacity, l->count + 1, sizeof *l->item);
    if (!s)
        l->item[l->count++] = item;
    return s;
}

static int64_t write_tuple(const mcr_graphlet *g, uint32_t tuple[1 + MCR_GRAPHLET_NODES])
{
    tuple[0] = g->edges;
    memcpy(tuple + 1, g->label, sizeof *tuple * (size_t)g->size);
    return 1 + g->size;
}

mcr_status mcr_census_class(int32_t *number, mcr_census *c, const mcr_graphlet *graphlet)
{
    class k = {.form = canonical(graphlet)};
    uint32_t tuple[1 + MCR_GRAPHLET_NODES], row[MCR_GRAPHLET_NODES];
    mcr_status s = mcr_tuples_number(number, c->forms, tuple, write_tuple(&k.form, tuple));
    if (s || *number < c->classes)
        return s;
    s = mcr_reserve(c->ctx, &c->class, &c->class_capacity, c->classes + 1, sizeof *c->class);
    if (!s)
        s = mcr_reserve(c->ctx, &c->times, &c->times_capacity, c->classes + 1, sizeof *c->times);
    if (s)
        return s;
    find_rows(&k.form, row);
    for (int v = 0; v < k.form.size; v++)
        k.isolated |= row[v] ? 0 : 1u << v;
    k.connected = hangs_together(row, (1u << k.form.size) - 1);
    for (int t = 0; t < SPLITS; t++)
        k.count[t] = -1;
    c->times[c->classes] = 0;
    c->class[c->classes++] = k;
    return MCR_OK;
}

mcr_status mcr_census_add(mcr_census *c, int32_t number, uint64_t times)
{
    if (times == 0)
        return MCR_OK;
    mcr_status s = MCR_OK;
    if (c->times[number] == 0)
        s = append(c->ctx, &c->present[c->class[number].form.size], number);
    if (!s)
        c->times[number] += times;
    return s;
}

static mcr_status pair_number(int32_t *number, mcr_census *c, int32_t x, int32_t y)
{
    uint32_t tuple[2] = {(uint32_t)x, (uint32_t)y};
    mcr_status s = mcr_tuples_number(number, c->pairs, tuple, 2);
    if (s || *number < c->pair_count)
        return s;
    s = mcr_reserve(c->ctx, &c->pair, &c->pair_capacity, c->pair_count + 1, sizeof *c->pair);
    if (!s)
        c->pair[c->pair_count++] = (pair){.sum = -1};
    return s;
}

/* The class of the disjoint union of X and Y. */
static mcr_status side_by_side(int32_t *sum, mcr_census *c, int32_t number, int32_t x, int32_t y)
{
    mcr_status s = MCR_OK;
    if (c->pair[number].sum < 0) {
        mcr_graphlet g = c->class[x].form;
        const mcr_graphlet *h = &c->class[y].form;
        for (int j = 0; j < h->size; j++) {
            uint32_t row = h->edges >> mcr_graphlet_row(j) & ((1u << j) - 1);
            g.label[g.size] = h->label[j];
            g.edges |= row << (mcr_graphlet_row(g.size) + g.size - j);
            g.size++;
        }
        s = mcr_census_class(&c->pair[number].sum, c, &g);
    }
    *sum = c->pair[number].sum;
    return s;
}

/* ---- touching pairs ---------------------------------------------------------------------------*/

static mcr_status add_split(mcr_census *c, const mcr_graphlet *u, const uint32_t *row, uint32_t x,
                            uint32_t y)
{
    mcr_graphlet px = part(u, row, x), py = part(u, row, y);
    int32_t of_x, of_y, number;
    mcr_status s = mcr_census_class(&of_x, c, &px);
    if (!s)
        s = mcr_census_class(&of_y, c, &py);
    if (!s)
        s = pair_number(&number, c, of_x, of_y);
    return s ? s : append(c->ctx, &c->split, number);
}

/* All pairs of a connected set of `size` nodes and an edge whose union is u. */
static mcr_status split_edges(mcr_census *c, const mcr_graphlet *u, const uint32_t *row, int size)
{
    uint32_t all = (1u << u->size) - 1;
    mcr_status s = MCR_OK;
    for (uint32_t x = 1; x <= all; x++) {
        if (__builtin_popcount(x) != size || !hangs_together(row, x))
            continue;
        for (int b = 1; b < u->size; b++)
            for (int a = 0; a < b && !s; a++) {
                uint32_t y = 1u << a | 1u << b;
                if (row[b] >> a & 1 && (x | y) == all)
                    s = add_split(c, u, row, x, y);
            }
    }
    return s;
}

static mcr_status split_class(mcr_census *c, int32_t number, int kind)
{
    const class k = c->class[number]; /* a copy: the array grows */
    const mcr_graphlet *u = &k.form;
    uint32_t row[MCR_GRAPHLET_NODES], all = (1u << u->size) - 1;
    int64_t first = c->split.count;
    mcr_status s = MCR_OK;
    find_rows(u, row);
    if (kind >= EDGE_APART)
        s = split_edges(c, u, row, u->size - (EDGE_INSIDE - kind));
    for (int v = 0; v < u->size && kind < EDGE_APART && !s; v++) {
        uint32_t y = 1u << v;
        if (kind == NODE_INSIDE || (!(k.isolated & y) && u->size > 1))
            s = add_split(c, u, row, kind == NODE_INSIDE ? all : all & ~y, y);
    }
    c->class[number].first[kind] = first;
    c->class[number].count[kind] = c->split.count - first;
    return s;
}

/* The touching pairs in all subgraphs of the class. */
static mcr_status touch(mcr_census *c, int32_t number, int kind)
{
    mcr_status s = MCR_OK;
    if (c->class[number].count[kind] < 0)
        s = split_class(c, number, kind);
    const class *k = &c->class[number];
    for (int64_t i = 0; i < k->count[kind] && !s; i++) {
        int32_t at = c->split.item[k->first[kind] + i];
        if (c->pair[at].touch == 0)
            s = append(c->ctx, &c->touched, at);
        c->pair[at].touch += c->times[number];
    }
    return s;
}

/* The number of pairs of X and Y that do not touch, and the class of their union. Arithmetic modulo
 * 2^64: correct if the result fits, whatever the terms. */
static mcr_status apart(uint64_t *pairs, int32_t *sum, mcr_census *c, int32_t x, int32_t y)
{
    int32_t number;
    mcr_status s = pair_number(&number, c, x, y);
    if (s)
        return s;
    *pairs = c->times[x] * c->times[y] - c->pair[number].touch;
    return *pairs ? side_by_side(sum, c, number, x, y) : MCR_OK;
}

/* ---- the disconnected ones --------------------------------------------------------------------*/

/* Classes of q nodes that consist of an edge and q - 2 connected nodes. */
static mcr_status add_edges(mcr_census *c, int q)
{
    mcr_status s = MCR_OK;
    for (int size = q - 2; size <= q; size++)
        for (int64_t i = 0; i < c->present[size].count && !s; i++) {
            int32_t u = c->present[size].item[i];
            if (c->class[u].connected)
                s = touch(c, u, EDGE_INSIDE - (size - (q - 2)));
        }
    const list *xs = &c->present[q - 2], *ys = &c->present[2];
    for (int64_t i = 0; i < xs->count && !s; i++)
        for (int64_t j = q == 4 ? i : 0; j < ys->count && !s; j++) {
            int32_t x = xs->item[i], y = ys->item[j], sum;
            uint64_t pairs = 0;
            if (!c->class[x].connected || !c->class[y].connected)
                continue;
            s = apart(&pairs, &sum, c, x, y);
            if (!s && pairs)
                s = mcr_census_add(c, sum, x == y ? pairs / 2 : pairs);
        }
    return s;
}

/* X and an isolated node y; the class X + y is counted once for each of its isolated nodes equal to
 * y. */
static mcr_status add_node(mcr_census *c, int32_t x, int32_t y)
{
    uint64_t pairs, like = 0;
    int32_t sum;
    mcr_status s = apart(&pairs, &sum, c, x, y);
    if (s || pairs == 0 || c->times[sum] > 0)
        return s;
    const class *k = &c->class[sum];
    for (int v = 0; v < k->form.size; v++)
        like += (k->isolated >> v & 1) && k->form.label[v] == c->class[y].form.label[0];
    assert(pairs % like == 0);
    s = mcr_census_add(c, sum, pairs / like);
    return s ? s : touch(c, sum, NODE_OUTSIDE);
}

static mcr_status add_nodes(mcr_census *c, int q)
{
    mcr_status s = MCR_OK;
    for (int64_t i = 0; i < c->present[q].count && !s; i++)
        s = touch(c, c->present[q].item[i], NODE_OUTSIDE);
    const list *xs = &c->present[q - 1], *ys = &c->present[1];
    for (int64_t i = 0; i < xs->count && !s; i++)
        s = touch(c, xs->item[i], NODE_INSIDE);
    for (int isolated = 0; isolated < q && !s; isolated++)
        for (int64_t i = 0; i < xs->count && !s; i++) {
            int32_t x = xs->item[i];
            if (__builtin_popcount(c->class[x].isolated) != isolated)
                continue;
            for (int64_t j = 0; j < ys->count && !s; j++)
                s = add_node(c, x, ys->item[j]);
        }
    return s;
}

mcr_status mcr_census_complete(mcr_census *c, int p)
{
    mcr_status s = MCR_OK;
    for (int q = 2; q <= p && !s; q++) {
        if (q >= 4)
            s = add_edges(c, q);
        if (!s)
            s = add_nodes(c, q);
    }
    return s;
}

mcr_status mcr_census_take(mcr_census *c, int p, mcr_tally *tally)
{
    mcr_status s = MCR_OK;
    for (int q = 0; q <= MCR_GRAPHLET_NODES; q++) {
        for (int64_t i = 0; i < c->present[q].count; i++) {
            int32_t number = c->present[q].item[i];
            uint32_t tuple[1 + MCR_GRAPHLET_NODES];
            if (q == p && !s)
                s = mcr_tally_add(tally, tuple, write_tuple(&c->class[number].form, tuple),
                                  (int64_t)c->times[number]);
            c->times[number] = 0;
        }
        c->present[q].count = 0;
    }
    for (int64_t i = 0; i < c->touched.count; i++)
        c->pair[c->touched.item[i]].touch = 0;
    c->touched.count = 0;
    return s;
}
