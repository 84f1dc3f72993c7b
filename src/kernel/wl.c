/* wl.c: the Weisfeiler-Lehman subtree kernel (Shervashidze, Schweitzer, van Leeuwen, Mehlhorn and
 * Borgwardt, JMLR 12, 2011).
 *
 * Every node starts with its label (its degree if the graphs have no labels). In each of h rounds,
 * each node gets a new label that represents its own one and the sorted ones of its neighbours,
 * with edge labels if there are any. K is the inner product of the counts of all labels of all
 * rounds, the first included. Labels that were words in the files are compared as words.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>

#include "base/order.h"
#include "kernel/explicit.h"
#include "kernel/graphs.h"
#include "kernel/tuples.h"
#include "kernel/vectors.h"

typedef struct wl_params {
    int64_t h;
} wl_params;

static const mcr_param params[] = {
    MCR_RANGE_PARAM(wl_params, h, MCR_INT, "3", 0, 100,
                    "rounds of relabelling, the radius of the neighbourhoods"),
    {.name = NULL},
};

typedef struct work {
    mcr *ctx;
    const mcr_graphs *graphs;
    int32_t *label, *next; /* of every node, in the previous round and in this one */
    mcr_tuples *seen;      /* numbers the neighbourhoods of this round: the new labels */
    uint64_t *around;      /* of one node's neighbours: edge label, label */
    uint32_t *tuple;
    int64_t *last; /* a label's last entry in the list */
    mcr_feature *list;
    int64_t count, capacity, cols;
    /* If names are wanted: those of all features, those of the previous round's labels, and the
     * round-0 label at the root of each. */
    mcr_names *names, *last_names;
    int32_t *root;
} work;

/* ---- labels -----------------------------------------------------------------------------------*/

/* Most nodes have few neighbours. */
static void sort(uint64_t *value, int64_t count)
{
    if (count > 32) {
        qsort(value, (size_t)count, sizeof *value, mcr_uint64_rising);
        return;
    }
    for (int64_t i = 1; i < count; i++) {
        uint64_t v = value[i];
        int64_t at = i;
        for (; at > 0 && value[at - 1] > v; at--)
            value[at] = value[at - 1];
        value[at] = v;
    }
}

/* A node's own label and the sorted ones of its neighbours, each after that of the edge. */
static int64_t look(const work *w, int64_t base, int64_t v)
{
    const mcr_graphs *g = w->graphs;
    int64_t first = g->link[v], degree = g->link[v + 1] - first, length = 1;
    for (int64_t e = 0; e < degree; e++) {
        uint64_t bond = g->bond ? (uint32_t)g->bond[first + e] : 0;
        w->around[e] = bond << 32 | (uint32_t)w->label[base + g->adjacent[first + e]];
    }
    sort(w->around, degree);
    w->tuple[0] = (uint32_t)w->label[v];
    for (int64_t e = 0; e < degree; e++) {
        if (g->bond)
            w->tuple[length++] = (uint32_t)(w->around[e] >> 32);
        w->tuple[length++] = (uint32_t)w->around[e];
    }
    return length;
}

/* Round 0: the given labels, or the degrees. */
static mcr_status relabel_first(work *w)
{
    const mcr_graphs *g = w->graphs;
    mcr_status s = MCR_OK;
    for (int64_t v = 0; v < g->nodes && !s; v++) {
        uint32_t first = g->label ? (uint32_t)g->label[v] : (uint32_t)(g->link[v + 1] - g->link[v]);
        s = mcr_tuples_number(&w->next[v], w->seen, &first, 1);
    }
    return s;
}

static mcr_status relabel(work *w)
{
    const mcr_graphs *g = w->graphs;
    mcr_status s = MCR_OK;
    for (int64_t i = 0; i < g->count && !s; i++)
        for (int64_t v = g->start[i]; v < g->start[i + 1] && !s; v++) {
            int64_t length = look(w, g->start[i], v);
            s = mcr_tuples_number(&w->next[v], w->seen, w->tuple, length);
        }
    return s;
}

/* ---- names ------------------------------------------------------------------------------------*/

/* A long name is truncated, and made unique by the number of its feature. */
enum { LONGEST_NAME = 200 };

static mcr_status end_name(mcr_names *n, int64_t begin, int64_t feature)
{
    if (n->text.length - begin > LONGEST_NAME) {
        n->text.length = begin + LONGEST_NAME;
        while (n->text.length > begin &&
               ((unsigned char)n->text.bytes[n->text.length] & 0xc0) == 0x80)
            n->text.length--; /* not within a character */
        mcr_text_format(&n->text, "... #%lld", (long long)feature + 1);
    }
    return mcr_names_end(n);
}

/* "C(N,O(C))": the label of a node, then its neighbours in the previous round; "2:N" is a neighbour
 * over an edge with label 2. */
static void put_tree(work *w, mcr_names *to, const uint32_t *tuple, int64_t length, int64_t round)
{
    const mcr_graphs *g = w->graphs;
    int64_t step = g->bond ? 2 : 1;
    mcr_text_string(&to->text, mcr_names_at(w->names, w->root[tuple[0]]));
    for (int64_t t = 1; t + step <= length; t += step) {
        mcr_text_string(&to->text, t == 1 ? "(" : ",");
        if (g->bond)
            mcr_text_format(&to->text, "%d:", (int32_t)tuple[t]);
        mcr_text_string(&to->text, mcr_names_at(w->last_names, tuple[t + step - 1]));
    }
    for (int64_t r = length > 1 ? 1 : round; r > 0; r--) /* isolated: parentheses mark the round */
        mcr_text_string(&to->text, length > 1 ? ")" : "()");
}

static mcr_status name_round(work *w, int64_t round)
{
    int64_t labels = mcr_tuples_count(w->seen);
    mcr_names *now = NULL;
    int32_t *root = mcr_alloc(w->ctx, (size_t)labels, sizeof *root);
    mcr_status s = root ? mcr_names_open(&now, w->ctx) : MCR_NO_MEMORY;
    for (int64_t l = 0; l < labels && !s; l++) {
        int64_t length;
        const uint32_t *tuple = mcr_tuples_at(w->seen, l, &length);
        int64_t begin = now->text.length;
        root[l] = round ? w->root[tuple[0]] : (int32_t)l;
        if (round > 0)
            put_tree(w, now, tuple, length, round);
        else if (w->graphs->label)
            mcr_graphs_put_label(now, w->graphs, tuple[0]);
        else
            mcr_text_format(&now->text, "%u", tuple[0]);
        s = end_name(now, begin, w->cols + l);
        if (s)
            break;
        mcr_text_string(&w->names->text, mcr_names_at(now, l));
        s = mcr_names_end(w->names);
    }
    mcr_names_close(w->last_names);
    mcr_free(w->ctx, w->root);
    w->last_names = now;
    w->root = root;
    return s;
}

/* ---- counts -----------------------------------------------------------------------------------*/

/* Counts the nodes of each graph with each new label, as further features. */
static mcr_status count(work *w)
{
    const mcr_graphs *g = w->graphs;
    int64_t labels = mcr_tuples_count(w->seen);
    if (w->cols + labels > INT32_MAX)
        return mcr_fail(w->ctx, MCR_BAD_DATA, "wl: more than %d features", INT32_MAX);
    mcr_status s = mcr_reserve(w->ctx, &w->list, &w->capacity, w->count + g->nodes,
                               sizeof *w->list);
    if (s)
        return s;
    for (int64_t l = 0; l < labels; l++)
        w->last[l] = -1;
    for (int64_t i = 0; i < g->count; i++)
        for (int64_t v = g->start[i]; v < g->start[i + 1]; v++) {
            int64_t *last = &w->last[w->next[v]];
            if (*last >= 0 && w->list[*last].object == i) {
                w->list[*last].value++;
                continue;
            }
            *last = w->count;
            w->list[w->count++] = (mcr_feature){(int32_t)i, (int32_t)w->cols + w->next[v], 1};
        }
    w->cols += labels;
    return MCR_OK;
}

static mcr_status run(work *w, int64_t h)
{
    mcr_status s = MCR_OK;
    for (int64_t round = 0; round <= h && !s; round++) {
        mcr_tuples_clear(w->seen);
        s = round == 0 ? relabel_first(w) : relabel(w);
        if (!s && w->names)
            s = name_round(w, round);
        if (!s)
            s = count(w);
        int32_t *swap = w->label;
        w->label = w->next;
        w->next = swap;
    }
    return s;
}

static int64_t largest_degree(const mcr_graphs *g)
{
    int64_t most = 0;
    for (int64_t v = 0; v < g->nodes; v++)
        most = g->link[v + 1] - g->link[v] > most ? g->link[v + 1] - g->link[v] : most;
    return most;
}

static mcr_status open_work(work *w)
{
    size_t n = (size_t)w->graphs->nodes, degree = (size_t)largest_degree(w->graphs);
    if (!mcr_alloc_arrays(w->ctx, MCR_ARRAY(w->last, n), /* the block to free */
                          MCR_ARRAY(w->label, n), MCR_ARRAY(w->next, n),
                          MCR_ARRAY(w->around, degree), MCR_ARRAY(w->tuple, 2 * degree + 1)))
        return MCR_NO_MEMORY;
    return mcr_tuples_open(&w->seen, w->ctx);
}

static mcr_status bind(mcr_bound *bound, mcr_binding *binding)
{
    const wl_params *p = mcr_bound_params(bound);
    mcr_graphs *g = NULL;
    mcr_status s = mcr_graphs_open(&g, bound, true);
    if (s)
        return s;
    work w = {.ctx = bound->ctx, .graphs = g};
    s = open_work(&w);
    if (!s && binding->named) {
        s = mcr_names_open(&bound->names, bound->ctx);
        w.names = bound->names;
    }
    if (!s)
        s = run(&w, p->h);
    if (!s)
        s = mcr_features_offer(bound, binding, w.list, w.count, w.cols);
    mcr_free_all(w.ctx, w.last, w.list, w.root);
    mcr_names_close(w.last_names);
    mcr_tuples_close(w.seen);
    mcr_graphs_close(g);
    return s;
}

MCR_ALWAYS_PSD(definite, "an inner product of label counts")

const mcr_kernel_type mcr_kernel_wl = {
    .name = "wl",
    .summary = "Weisfeiler-Lehman subtrees that two graphs have in common",
    .kinds = MCR_GRAPHS,
    .params = params,
    .params_size = sizeof(wl_params),
    .definite = definite,
    .bind = bind,
    .features = mcr_features_listed,
};
