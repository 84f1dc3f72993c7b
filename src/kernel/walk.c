/* walk.c: the geometric random walk kernel (Gaertner, Flach and Wrobel, COLT 2003; by products that
 * never form the product graph, Vishwanathan, Schraudolph, Kondor and Borgwardt, JMLR 11, 2010).
 *
 * K is the sum over k of lambda^k times the number of pairs of walks of k steps, one in each graph,
 * with the same labels of nodes and edges on the way. With A the adjacency matrix of the product
 * graph, whose nodes are the pairs of nodes with equal labels, that is 1' (I - lambda A)^-1 1.
 *
 * The system is solved by conjugate gradients (linalg/walks.h). A vector consists of one matrix X
 * per label: nodes of one graph with this label by those of the other. A step of kind s (from a
 * node with label a, over an edge with label e, to a node with label b) adds S X_a T' to Y_b, where
 * S and T are the adjacency matrices of that kind in the two graphs: this costs edges times nodes,
 * not edges times edges.
 *
 * The sum converges if lambda is below 1 / (r r'), where r and r' are the spectral radii of the
 * graphs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdlib.h>

#include "base/number.h"
#include "base/order.h"
#include "kernel/graphs.h"
#include "linalg/tiles.h"
#include "linalg/walks.h"

typedef struct walk_params {
    double lambda;
} walk_params;

static const mcr_param params[] = {
    {.name = "lambda",
     .type = MCR_REAL,
     .offset = offsetof(walk_params, lambda),
     .standard = "0.01",
     .min = 0,
     .max = 1,
     .flags = MCR_MAX_OPEN,
     .help = "weight per step; below 1 / (largest eigenvalue of the graphs)^2"},
    {.name = NULL},
};

/* Nodes of one graph with the same label. */
typedef struct group {
    int32_t label, count;
} group;

/* Edges of one kind: entries (to, from), nodes numbered within their groups, ascending. */
typedef struct kind {
    int32_t from_label, to_label, bond;
    int32_t from, to; /* groups, numbered within the graph */
    int64_t first, count;
} kind;

typedef struct walks { /* one graph */
    int64_t nodes, links, group, groups, kind, kinds;
    double radius; /* an upper bound of the spectral radius */
} walks;

typedef struct walk_state {
    walks *graph; /* those of x, then those of z */
    group *group;
    kind *kind;
    int32_t (*entry)[2];
    double lambda;
    const mcr_walk_kit *kit;
} walk_state;

/* Values of lambda near the limit need many steps; larger ones are refused. */
static const double LIMIT = 0.999;

/* Relative errors of values in float and in double: below those of rounding. */
static const double ACCURACY_FLOAT = 1e-10, ACCURACY = 1e-15;

/* ---- once for each graph ----------------------------------------------------------------------*/

/* A link, to be sorted into its kind. */
typedef struct link {
    int32_t from_label, to_label, bond, to, from, from_group, to_group;
} link;

static int by_kind(const void *a, const void *b)
{
    const link *x = a, *y = b;
    const int32_t p[] = {x->from_label, x->to_label, x->bond, x->to, x->from};
    const int32_t q[] = {y->from_label, y->to_label, y->bond, y->to, y->from};
    for (size_t i = 0; i < sizeof p / sizeof *p; i++)
        if (p[i] != q[i])
            return p[i] < q[i] ? -1 : 1;
    return 0;
}

/* Workspace for the largest graph. */
typedef struct workspace {
    uint64_t *order;     /* label, node */
    int32_t (*place)[2]; /* of a node: group, number within it */
    link *link;
    double *now, *next;
} workspace;

static void make_groups(const mcr_graphs *g, int64_t i, const workspace *r, walks *w, group *to)
{
    int64_t base = g->start[i];
    for (int64_t v = 0; v < w->nodes; v++)
        r->order[v] = (uint64_t)(g->label ? g->label[base + v] : 0) << 32 | (uint64_t)v;
    qsort(r->order, (size_t)w->nodes, sizeof *r->order, mcr_uint64_rising);
    for (int64_t t = 0; t < w->nodes; t++) {
        int32_t label = (int32_t)(r->order[t] >> 32);
        uint32_t v = (uint32_t)r->order[t];
        if (t == 0 || to[w->groups - 1].label != label)
            to[w->groups++] = (group){label, 0};
        r->place[v][0] = (int32_t)w->groups - 1;
        r->place[v][1] = to[w->groups - 1].count++;
    }
}

static void make_kinds(const mcr_graphs *g, int64_t i, const workspace *r, walks *w,
                       const group *of, kind *to, int32_t (*entry)[2], int64_t first)
{
    int64_t base = g->start[i], count = 0;
    for (int64_t v = 0; v < w->nodes; v++)
        for (int64_t e = g->link[base + v]; e < g->link[base + v + 1]; e++) {
            const int32_t *here = r->place[v], *there = r->place[g->adjacent[e]];
            r->link[count++] = (link){of[there[0]].label,
                                      of[here[0]].label,
                                      g->bond ? g->bond[e] : 0,
                                      here[1],
                                      there[1],
                                      there[0],
                                      here[0]};
        }
    qsort(r->link, (size_t)count, sizeof *r->link, by_kind);
    for (int64_t t = 0; t < count; t++) {
        const link *l = &r->link[t];
        if (t == 0 || l->from_label != l[-1].from_label || l->to_label != l[-1].to_label ||
            l->bond != l[-1].bond)
            to[w->kinds++] = (kind){l->from_label, l->to_label, l->bond, l->from_group,
                                    l->to_group,   first + t,   0};
        to[w->kinds - 1].count++;
        entry[first + t][0] = l->to;
        entry[first + t][1] = l->from;
    }
}

/* For any positive x the largest (Ax)_i / x_i is an upper bound of the eigenvalues of A (Collatz).
 * Powers of A + I lower it towards the spectral radius; the lowest bound found is returned. */
static double bound_radius(const mcr_graphs *g, int64_t i, const workspace *r)
{
    enum { ROUNDS = 100 };
    int64_t base = g->start[i], n = mcr_graphs_size(g, i);
    double least = INFINITY;
    for (int64_t v = 0; v < n; v++)
        r->now[v] = 1;
    for (int round = 0; round < ROUNDS && n > 0; round++) {
        double high = 0, low = INFINITY, most = 0;
        for (int64_t v = 0; v < n; v++) {
            double sum = 0;
            for (int64_t e = g->link[base + v]; e < g->link[base + v + 1]; e++)
                sum += r->now[g->adjacent[e]];
            high = fmax(high, sum / r->now[v]);
            low = fmin(low, sum / r->now[v]);
            r->next[v] = sum + r->now[v];
            most = fmax(most, r->next[v]);
        }
        least = fmin(least, high);
        if (high - low <= 1e-6 * high)
            break;
        for (int64_t v = 0; v < n; v++)
            r->now[v] = fmax(r->next[v] / most, 1e-100);
    }
    return n > 0 ? least * (1 + 1e-12) : 0;
}

static mcr_status make_walks(walk_state *s, const mcr_graphs *g, const workspace *r)
{
    int64_t groups = 0, kinds = 0, entries = 0;
    for (int64_t i = 0; i < g->count; i++) {
        walks *w = &s->graph[i];
        *w = (walks){.nodes = mcr_graphs_size(g, i), .group = groups, .kind = kinds};
        w->links = g->link[g->start[i + 1]] - g->link[g->start[i]];
        make_groups(g, i, r, w, s->group + groups);
        make_kinds(g, i, r, w, s->group + groups, s->kind + kinds, s->entry, entries);
        w->radius = bound_radius(g, i, r);
        groups += w->groups;
        kinds += w->kinds;
        entries += w->links;
    }
    return MCR_OK;
}

static mcr_status check_lambda(const mcr_bound *bound, const walk_state *s, int64_t count)
{
    int64_t worst = 0, first = bound->field[0].count;
    for (int64_t i = 0; i < count; i++)
        if (s->graph[i].radius > s->graph[worst].radius)
            worst = i;
    double square = count > 0 ? s->graph[worst].radius * s->graph[worst].radius : 0;
    if (s->lambda * square <= LIMIT)
        return MCR_OK;
    /* Three digits, rounded down. */
    double most = LIMIT / square, shift = pow(10, 2 - floor(log10(most)));
    char text[MCR_REAL_TEXT];
    mcr_print_real(text, floor(most * shift) / shift);
    return mcr_fail(bound->ctx, MCR_BAD_DATA,
                    "walk: lambda is too large for graph %lld: the sum over its walks does not "
                    "converge; use lambda=%s or less",
                    (long long)(worst < first ? worst : worst - first) + 1, text);
}

static mcr_status open_workspace(workspace *r, const mcr_graphs *g)
{
    int64_t nodes = 0, links = 0;
    for (int64_t i = 0; i < g->count; i++) {
        int64_t here = g->link[g->start[i + 1]] - g->link[g->start[i]];
        nodes = mcr_graphs_size(g, i) > nodes ? mcr_graphs_size(g, i) : nodes;
        links = here > links ? here : links;
    }
    size_t n = (size_t)nodes;
    return mcr_alloc_arrays(g->ctx, MCR_ARRAY(r->order, n), /* the block to free */
                            MCR_ARRAY(r->place, n), MCR_ARRAY(r->link, (size_t)links),
                            MCR_ARRAY(r->now, n), MCR_ARRAY(r->next, n))
               ? MCR_OK
               : MCR_NO_MEMORY;
}

static mcr_status bind(mcr_bound *bound, mcr_binding *binding)
{
    const walk_params *p = mcr_bound_params(bound);
    mcr_graphs *g = NULL;
    workspace r = {.order = NULL};
    mcr_status status = mcr_graphs_open(&g, bound, true);
    if (status)
        return status;
    size_t links = (size_t)g->link[g->nodes];
    size_t bytes = (size_t)g->count * sizeof(walks) + (size_t)g->nodes * sizeof(group) +
                   links * (sizeof(kind) + sizeof(int32_t[2]));
    walk_state *s = mcr_bound_alloc(bound, 1, sizeof *s);
    status = s ? mcr_budget_take(bound->ctx, bytes, "walk") : MCR_NO_MEMORY;
    if (!status) {
        binding->budget += bytes;
        s->graph = mcr_bound_alloc(bound, (size_t)g->count, sizeof *s->graph);
        s->group = mcr_bound_alloc(bound, (size_t)g->nodes, sizeof *s->group);
        s->kind = mcr_bound_alloc(bound, links, sizeof *s->kind);
        s->entry = mcr_bound_alloc(bound, links, sizeof *s->entry);
        s->lambda = p->lambda;
        s->kit = mcr_tiles_best()->f64->walks;
        status = s->graph && s->group && s->kind && s->entry ? MCR_OK : MCR_NO_MEMORY;
    }
    if (!status)
        status = open_workspace(&r, g);
    if (!status)
        status = make_walks(s, g, &r);
    if (!status)
        status = check_lambda(bound, s, g->count);
    /* About eight steps of conjugate gradients on graphs of average size. */
    if (!status && g->count > 0)
        bound->work = 16 * ((double)links / (double)g->count) *
                      ((double)g->nodes / (double)g->count);
    bound->state = s;
    mcr_free(bound->ctx, r.order);
    mcr_graphs_close(g);
    return status;
}

/* ---- one pair ---------------------------------------------------------------------------------*/

/* The order of two graphs must not depend on which one is x: an order by content. */
static bool swapped(const walk_state *s, const walks *a, const walks *b)
{
    const int64_t sizes[][2] = {
        {a->nodes, b->nodes}, {a->links, b->links}, {a->groups, b->groups}, {a->kinds, b->kinds}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (sizes[i][0] != sizes[i][1])
            return sizes[i][0] > sizes[i][1];
    for (int64_t i = 0; i < a->groups; i++) {
        const group *g = &s->group[a->group + i], *h = &s->group[b->group + i];
        if (g->label != h->label || g->count != h->count)
            return g->label != h->label ? g->label > h->label : g->count > h->count;
    }
    int64_t first = a->kinds > 0 ? s->kind[a->kind].first : 0;
    int64_t other = b->kinds > 0 ? s->kind[b->kind].first : 0;
    for (int64_t i = 0; i < a->kinds; i++) {
        const kind *k = &s->kind[a->kind + i], *l = &s->kind[b->kind + i];
        const int64_t p[] = {k->from_label, k->to_label, k->bond, k->count};
        const int64_t q[] = {l->from_label, l->to_label, l->bond, l->count};
        for (size_t t = 0; t < sizeof p / sizeof *p; t++)
            if (p[t] != q[t])
                return p[t] > q[t];
    }
    for (int64_t e = 0; e < a->links; e++)
        for (int t = 0; t < 2; t++)
            if (s->entry[first + e][t] != s->entry[other + e][t])
                return s->entry[first + e][t] > s->entry[other + e][t];
    return false;
}

static int64_t padded(int64_t count)
{
    return (count + MCR_WALK_PAD - 1) / MCR_WALK_PAD * MCR_WALK_PAD;
}

/* Creates a part for each label that both have; part_of[group of a]: its number. */
static void place_labels(mcr_walk_job *job, mcr_walk_part *part, const walk_state *s,
                         const walks *a, const walks *b, int64_t *part_of)
{
    const group *g = s->group + a->group, *h = s->group + b->group;
    int64_t widest = 0, tallest = 0;
    for (int64_t i = 0, j = 0; i < a->groups; i++) {
        while (j < b->groups && h[j].label < g[i].label)
            j++;
        if (j == b->groups || h[j].label != g[i].label)
            continue;
        mcr_walk_part *it = &part[part_of[i] = job->parts++];
        *it = (mcr_walk_part){.height = g[i].count,
                              .width = h[j].count,
                              .first = job->size,
                              .row = padded(h[j].count),
                              .turned = job->turned_size,
                              .column = padded(g[i].count)};
        job->size += it->height * it->row;
        job->turned_size += it->width * it->column;
        widest = it->width > widest ? it->width : widest;
        tallest = it->height > tallest ? it->height : tallest;
    }
    job->part = part;
    job->row_size = padded(widest);
    job->sum_size = widest * padded(tallest);
}

static int compare_kinds(const kind *k, const kind *l)
{
    if (k->from_label != l->from_label)
        return k->from_label < l->from_label ? -1 : 1;
    if (k->to_label != l->to_label)
        return k->to_label < l->to_label ? -1 : 1;
    return k->bond < l->bond ? -1 : k->bond > l->bond;
}

/* Matches the kinds of edges that both graphs have. */
static void match_kinds(mcr_walk_job *job, mcr_walk_steps *steps, const walk_state *s,
                        const walks *a, const walks *b, const int64_t *part_of)
{
    const kind *k = s->kind + a->kind, *l = s->kind + b->kind;
    const int32_t(*entry)[2] = (const int32_t(*)[2])s->entry;
    for (int64_t i = 0, j = 0; i < a->kinds; i++) {
        while (j < b->kinds && compare_kinds(&l[j], &k[i]) < 0)
            j++;
        if (j < b->kinds && compare_kinds(&l[j], &k[i]) == 0)
            steps[job->kinds++] = (mcr_walk_steps){.a = entry + k[i].first,
                                                   .b = entry + l[j].first,
                                                   .a_count = k[i].count,
                                                   .b_count = l[j].count,
                                                   .from = &job->part[part_of[k[i].from]],
                                                   .to = &job->part[part_of[k[i].to]]};
    }
    job->steps = steps;
}

/* Allocates the vectors of a job, contiguously. */
static bool take_vectors(mcr_walk_job *job, mcr_scratch *scratch)
{
    int64_t size = job->size;
    int64_t all = 3 * size + job->turned_size + job->sum_size + job->row_size;
    double *at = mcr_scratch_take(scratch, (size_t)all * sizeof *at);
    if (!at)
        return false;
    job->r = at;
    job->p = at + size;
    job->q = at + 2 * size;
    job->product = at + 3 * size;
    job->sum = job->product + job->turned_size;
    job->row = job->sum + job->sum_size;
    return true;
}

static mcr_status pair_value(double *k, const mcr_bound *bound, int64_t x, int64_t z,
                             mcr_scratch *scratch, double accuracy)
{
    const walk_state *s = bound->state;
    const walks *a = &s->graph[x], *b = &s->graph[z];
    if (swapped(s, a, b)) {
        const walks *swap = a;
        a = b;
        b = swap;
    }
    mcr_walk_job job = {.lambda = s->lambda};
    size_t mark = mcr_scratch_mark(scratch);
    mcr_status status = MCR_NO_MEMORY;
    int64_t *part_of = mcr_scratch_take(scratch, (size_t)a->groups * sizeof *part_of);
    mcr_walk_part *part = mcr_scratch_take(scratch, (size_t)a->groups * sizeof *part);
    mcr_walk_steps *steps = mcr_scratch_take(scratch, (size_t)a->kinds * sizeof *steps);
    if (part_of && part && steps) {
        place_labels(&job, part, s, a, b, part_of);
        match_kinds(&job, steps, s, a, b, part_of);
        if (take_vectors(&job, scratch))
            status = s->kit->solve(k, &job, a->radius * b->radius, accuracy)
                         ? MCR_OK
                         : mcr_fail(bound->ctx, MCR_NUMERIC,
                                    "walk: no convergence; use a smaller lambda");
    }
    mcr_scratch_release(scratch, mark);
    return status;
}

/* ---- tiles ------------------------------------------------------------------------------------*/

static mcr_status block(const mcr_bound *bound, const mcr_tile *tile)
{
    int64_t of_z = bound->same ? 0 : bound->field[0].count;
    bool mirror = bound->same && tile->x.index == tile->z.index && tile->x.first == tile->z.first &&
                  tile->x.count == tile->z.count;
    for (int64_t i = 0; i < tile->x.count; i++)
        for (int64_t j = mirror ? i : 0; j < tile->z.count; j++) {
            double k;
            mcr_status s = pair_value(&k, bound, mcr_rows_at(tile->x, i),
                                      of_z + mcr_rows_at(tile->z, j), tile->scratch,
                                      tile->precise ? ACCURACY : ACCURACY_FLOAT);
            if (s)
                return s;
            mcr_tile_put(tile, i, j, k);
            if (mirror)
                mcr_tile_put(tile, j, i, k);
        }
    return MCR_OK;
}

static mcr_status diagonal(const mcr_bound *bound, int side, mcr_rows rows, double *k)
{
    int64_t first = side == 0 || bound->same ? 0 : bound->field[0].count;
    mcr_scratch *scratch = NULL;
    mcr_status s = mcr_scratch_open(&scratch, bound->binding);
    for (int64_t i = 0; i < rows.count && !s; i++) {
        int64_t x = first + mcr_rows_at(rows, i);
        s = pair_value(&k[i], bound, x, x, scratch, ACCURACY);
    }
    mcr_scratch_close(scratch);
    return s;
}

MCR_ALWAYS_PSD(definite, "a sum of inner products of counts of walks")

const mcr_kernel_type mcr_kernel_walk = {
    .name = "walk",
    .summary = "walks of any length that two graphs have in common, weighted by lambda per step",
    .kinds = MCR_GRAPHS,
    .params = params,
    .params_size = sizeof(walk_params),
    .definite = definite,
    .bind = bind,
    .block = block,
    .diagonal = diagonal,
};
