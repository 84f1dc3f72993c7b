/* test_graph_kernels.c: graphlet, shortestpath and walk against slow, obvious code: all subsets of
 * nodes and all orders of them, Floyd's algorithm, the product graph and Gauss elimination. wl is
 * in test_strings_graphs.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "graph_helpers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mercer/mercer.h>

#include "base/random.h"

enum { GRAPHS = 24, NODES = MOST_NODES, EDGES = MOST_EDGES };

/* No nodes, one node without and with a loop, a star, a complete graph; then anything: self-loops
 * and repeated edges come up. */
static void random_graphs(graph *g, int64_t n, uint64_t number)
{
    mcr_random r = mcr_random_stream(1, "graph kernels", number);
    memset(g, 0, sizeof *g * (size_t)n);
    for (int64_t i = 0; i < n; i++) {
        graph *x = &g[i];
        x->nodes = i == 0 ? 0 : i < 3 ? 1 : i == 3 ? NODES : 1 + (int)mcr_random_below(&r, NODES);
        x->edges = i < 2 ? 0 : i == 2 ? 1 : (int)mcr_random_below(&r, EDGES + 1);
        for (int v = 0; v < x->nodes; v++)
            x->label[v] = (int32_t)mcr_random_below(&r, 3) * 12 - 1;
        for (int e = 0; e < x->edges; e++)
            for (int end = 0; end < 2; end++)
                x->edge[e][end] = (int32_t)mcr_random_below(&r, x->nodes);
        if (i == 3)
            for (x->edges = 0; x->edges < NODES - 1; x->edges++) {
                x->edge[x->edges][0] = 4;
                x->edge[x->edges][1] = x->edges + (x->edges >= 4);
            }
        if (i == 4)
            for (x->nodes = 6, x->edges = 0; x->edges < 15; x->edges++) {
                static const int b[] = {1, 2, 2, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 5};
                x->edge[x->edges][1] = b[x->edges];
                x->edge[x->edges][0] = x->edges - b[x->edges] * (b[x->edges] - 1) / 2;
            }
        for (int e = 0; e < x->edges; e++)
            x->bond[e] = (x->edge[e][0] + x->edge[e][1]) % 2 - 1;
    }
}

static bool joined(const graph *g, int a, int b, int32_t *bond)
{
    for (int e = 0; e < g->edges; e++)
        if ((g->edge[e][0] == a && g->edge[e][1] == b) ||
            (g->edge[e][0] == b && g->edge[e][1] == a)) {
            *bond = g->bond[e];
            return true;
        }
    return false;
}

static void expect(mcr *ctx, const char *text, const mcr_data *x, const mcr_data *z,
                   const double *expected, int64_t count, double tolerance)
{
    double *k = matrix(ctx, text, x, z);
    test_close_relative(text, k, expected, count, tolerance);
    free(k);
}

/* ---- slow and obvious -------------------------------------------------------------------------*/

typedef struct variant {
    int p, labels;
    bool presence, connected;
    double lambda;
} variant;

typedef double slow_kernel(const graph *g, const graph *h, const variant *k);

/* All sets of p nodes; each as the largest code over all orders of its nodes. */
typedef struct sets {
    int64_t count;
    uint64_t code[512];
} sets;

static void order_nodes(const graph *g, const variant *k, const int *node, int *order, int at,
                        uint64_t *best)
{
    if (at < k->p) {
        for (int i = 0; i < k->p; i++) {
            bool used = false;
            for (int j = 0; j < at; j++)
                used = used || order[j] == node[i];
            if (used)
                continue;
            order[at] = node[i];
            order_nodes(g, k, node, order, at + 1, best);
        }
        return;
    }
    uint64_t code = 1;
    int32_t bond;
    for (int i = 0; i < k->p; i++) {
        code = code * 64 + (k->labels & NODE_LABELS ? (uint64_t)(g->label[order[i]] + 1) : 0);
        for (int j = 0; j < i; j++)
            code = code * 2 + joined(g, order[i], order[j], &bond);
    }
    *best = code > *best ? code : *best;
}

static bool connected(const graph *g, const int *node, int p)
{
    uint32_t reached = 1;
    int32_t bond;
    for (int round = 0; round < p; round++)
        for (int i = 0; i < p; i++)
            for (int j = 0; j < p; j++)
                if (reached >> i & 1 && joined(g, node[i], node[j], &bond))
                    reached |= 1u << j;
    return reached == (1u << p) - 1;
}

static void choose_nodes(sets *s, const graph *g, const variant *k, int *node, int at, int next)
{
    int order[5];
    if (at == k->p) {
        if (k->connected && !connected(g, node, k->p))
            return;
        uint64_t best = 0;
        order_nodes(g, k, node, order, 0, &best);
        s->code[s->count++] = best;
        return;
    }
    for (; next < g->nodes; next++) {
        node[at] = next;
        choose_nodes(s, g, k, node, at + 1, next + 1);
    }
}

static double slow_graphlet(const sets *s, const sets *t, bool presence)
{
    double sum = 0;
    for (int64_t i = 0; i < s->count; i++) {
        bool seen = false;
        int64_t times = 0;
        for (int64_t j = 0; j < i; j++)
            seen = seen || s->code[j] == s->code[i];
        for (int64_t j = 0; j < t->count; j++)
            times += s->code[i] == t->code[j];
        sum += !presence ? (double)times : seen ? 0 : times > 0;
    }
    return sum;
}

/* Floyd's algorithm. */
static void find_lengths(const graph *g, int length[NODES][NODES])
{
    int32_t bond;
    for (int a = 0; a < g->nodes; a++)
        for (int b = 0; b < g->nodes; b++)
            length[a][b] = a == b ? 0 : joined(g, a, b, &bond) ? 1 : 1000;
    for (int c = 0; c < g->nodes; c++)
        for (int a = 0; a < g->nodes; a++)
            for (int b = 0; b < g->nodes; b++)
                if (length[a][c] + length[c][b] < length[a][b])
                    length[a][b] = length[a][c] + length[c][b];
}

static double slow_paths(const graph *g, const graph *h, const variant *k)
{
    int of_g[NODES][NODES], of_h[NODES][NODES];
    double sum = 0;
    find_lengths(g, of_g);
    find_lengths(h, of_h);
    for (int a = 0; a < g->nodes; a++)
        for (int b = a + 1; b < g->nodes; b++)
            for (int c = 0; c < h->nodes; c++)
                for (int d = c + 1; d < h->nodes; d++) {
                    bool same = !(k->labels & NODE_LABELS) ||
                                (g->label[a] == h->label[c] && g->label[b] == h->label[d]) ||
                                (g->label[a] == h->label[d] && g->label[b] == h->label[c]);
                    sum += same && of_g[a][b] < 1000 && of_g[a][b] == of_h[c][d];
                }
    return sum;
}

/* The product graph in full, and (I - lambda A) x = 1 by elimination. */
static double slow_walk(const graph *g, const graph *h, const variant *k)
{
    enum { MOST = NODES * NODES };
    static double a[MOST][MOST + 1];
    int node[MOST][2], n = 0;
    for (int u = 0; u < g->nodes; u++)
        for (int v = 0; v < h->nodes; v++)
            if (!(k->labels & NODE_LABELS) || g->label[u] == h->label[v]) {
                node[n][0] = u;
                node[n++][1] = v;
            }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            int32_t e = 0, f = 0;
            bool step = joined(g, node[i][0], node[j][0], &e) &&
                        joined(h, node[i][1], node[j][1], &f) &&
                        (!(k->labels & EDGE_LABELS) || e == f);
            a[i][j] = (i == j) - (step ? k->lambda : 0);
        }
        a[i][n] = 1;
    }
    for (int c = 0; c < n; c++) /* positive definite: no pivots */
        for (int i = c + 1; i < n; i++)
            for (int j = n; j >= c; j--)
                a[i][j] -= a[i][c] / a[c][c] * a[c][j];
    double x[MOST], sum = 0;
    for (int i = n - 1; i >= 0; i--) {
        x[i] = a[i][n];
        for (int j = i + 1; j < n; j++)
            x[i] -= a[i][j] * x[j];
        sum += x[i] /= a[i][i];
    }
    return sum;
}

/* ---- tests ------------------------------------------------------------------------------------*/

enum { N = GRAPHS, M = 9 };

static void compare(mcr *ctx, const char *text, slow_kernel *slow, const variant *k,
                    uint64_t number, double tolerance)
{
    static double same[N * N], other[M * N];
    static graph g[N], h[M];
    random_graphs(g, N, number);
    random_graphs(h, M, number + 1000);
    mcr_data *z = graph_data(ctx, g, N, k->labels), *x = graph_data(ctx, h, M, k->labels);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            same[i * N + j] = j < i ? same[j * N + i] : slow(&g[i], &g[j], k);
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++)
            other[i * N + j] = slow(&h[i], &g[j], k);
    expect(ctx, text, z, NULL, same, N * N, tolerance);
    expect(ctx, text, x, z, other, M * N, tolerance);
    mcr_data_free(x);
    mcr_data_free(z);
}

static void test_shortestpath_slow(void **state)
{
    for (int labels = 0; labels < 4; labels++)
        for (uint64_t number = 0; number < 4; number++)
            compare(*state, "shortestpath", slow_paths, &(variant){.labels = labels}, number, 0);
}

static void test_graphlet_slow(void **state)
{
    mcr *ctx = *state;
    static sets s[N], t[M];
    static double same[N * N], other[M * N];
    static graph g[N], h[M];
    for (int p = 2; p <= 5; p++)
        for (int labels = 0; labels < 2; labels++)
            for (int only = 0; only < 2; only++) {
                variant k = {.p = p, .labels = labels, .connected = only};
                int node[5];
                uint64_t number = (uint64_t)(p * 10 + only);
                random_graphs(g, N, number);
                random_graphs(h, M, number + 1000);
                for (int i = 0; i < N; i++) {
                    s[i].count = 0;
                    choose_nodes(&s[i], &g[i], &k, node, 0, 0);
                }
                for (int i = 0; i < M; i++) {
                    t[i].count = 0;
                    choose_nodes(&t[i], &h[i], &k, node, 0, 0);
                }
                mcr_data *z = graph_data(ctx, g, N, labels), *x = graph_data(ctx, h, M, labels);
                for (int mode = 0; mode < 2; mode++) {
                    char text[80];
                    snprintf(text, sizeof text, "graphlet(p=%d, mode=%s, connected=%s)", p,
                             mode ? "count" : "presence", only ? "yes" : "no");
                    for (int i = 0; i < N * N; i++)
                        same[i] = slow_graphlet(&s[i / N], &s[i % N], mode == 0);
                    for (int i = 0; i < M * N; i++)
                        other[i] = slow_graphlet(&t[i / N], &s[i % N], mode == 0);
                    expect(ctx, text, z, NULL, same, N * N, 0);
                    expect(ctx, text, x, z, other, M * N, 0);
                }
                mcr_data_free(x);
                mcr_data_free(z);
            }
}

static void test_walk_slow(void **state)
{
    for (int labels = 0; labels < 4; labels++)
        for (uint64_t number = 0; number < 2; number++) {
            compare(*state, "walk", slow_walk, &(variant){.labels = labels, .lambda = 0.01}, number,
                    1e-13);
            compare(*state, "walk(lambda=0)", slow_walk, &(variant){.labels = labels}, number, 0);
            compare(*state, "walk(lambda=0.025)", slow_walk,
                    &(variant){.labels = labels, .lambda = 0.025}, number, 1e-12);
        }
}

static mcr_status open_kernel(mcr_gram **gram, mcr *ctx, const char *text, const mcr_data *x,
                              const mcr_data *z)
{
    mcr_kernel *kernel = NULL;
    test_ok(ctx, mcr_kernel_parse(&kernel, ctx, text));
    mcr_status status = mcr_gram_open(gram, ctx, kernel, x, z);
    mcr_kernel_free(kernel);
    return status;
}

/* Values known by hand; the limit of lambda, and what is beyond it. */
static void test_walk_known(void **state)
{
    mcr *ctx = *state;
    /* An edge, a triangle, a node, a node with a loop, nothing: regular graphs, where 1 is an
     * eigenvector of the product: K = n m / (1 - lambda d e). */
    const graph g[5] = {
        {2, 1, {0}, {{0, 1}}, {0}}, {3, 3, {0}, {{0, 1}, {1, 2}, {2, 0}}, {0}},
        {1, 0, {0}, {{0, 0}}, {0}}, {1, 1, {0}, {{0, 0}}, {0}},
        {0, 0, {0}, {{0, 0}}, {0}},
    };
    static const double n[] = {2, 3, 1, 1, 0}, d[] = {1, 2, 0, 1, 0};
    double expected[25];
    for (int i = 0; i < 25; i++)
        expected[i] = n[i / 5] * n[i % 5] / (1 - 0.125 * d[i / 5] * d[i % 5]);
    mcr_data *data = graph_data(ctx, g, 5, PLAIN);
    mcr_gram *gram = NULL;
    expect(ctx, "walk(lambda=0.125)", data, NULL, expected, 25, 1e-14);
    test_fails(ctx, open_kernel(&gram, ctx, "walk(lambda=0.25)", data, NULL), MCR_BAD_DATA,
               "graph 2");
    test_fails(ctx, open_kernel(&gram, ctx, "walk(lambda=0.25)", data, NULL), MCR_BAD_DATA,
               "lambda=0.249 or less");
    for (int i = 0; i < 25; i++)
        expected[i] = n[i / 5] * n[i % 5] / (1 - 0.249 * d[i / 5] * d[i % 5]);
    expect(ctx, "walk(lambda=0.249)", data, NULL, expected, 25, 1e-11);
    mcr_data_free(data);
}

static const char *const all_kernels[] = {
    "wl(h=4)",
    "shortestpath",
    "walk(lambda=0.02)",
    "graphlet(p=3, mode=count)",
    "graphlet(p=4)",
    "graphlet(p=4, mode=count, connected=yes)",
    "graphlet(p=5, mode=count)",
    "normalize(graphlet(p=5, connected=yes)) + 2*walk",
};
enum { KERNELS = sizeof all_kernels / sizeof *all_kernels };

/* Other numbers for the nodes, other order of the edges: nothing changes. */
static void test_numbering(void **state)
{
    mcr *ctx = *state;
    static graph g[N], turned[N];
    random_graphs(g, N, 77);
    for (int i = 0; i < N; i++) {
        turned[i] = g[i];
        for (int v = 0; v < g[i].nodes; v++)
            turned[i].label[(v + 3) % g[i].nodes] = g[i].label[v];
        for (int e = 0; e < g[i].edges; e++)
            for (int end = 0; end < 2; end++)
                turned[i].edge[e][1 - end] = (g[i].edge[e][end] + 3) % g[i].nodes;
    }
    for (int labels = 0; labels < 4; labels++) {
        mcr_data *a = graph_data(ctx, g, N, labels), *b = graph_data(ctx, turned, N, labels);
        for (int t = 0; t < KERNELS; t++) {
            double *k = matrix(ctx, all_kernels[t], a, NULL);
            double tolerance = strstr(all_kernels[t], "walk") ? 1e-13 : 0;
            expect(ctx, all_kernels[t], b, NULL, k, N * N, tolerance);
            expect(ctx, all_kernels[t], a, b, k, N * N, tolerance);
            free(k);
        }
        mcr_data_free(a);
        mcr_data_free(b);
    }
}

/* Any number of threads: the same bits. */
static void test_threads(void **state)
{
    (void)state;
    static graph g[N];
    random_graphs(g, N, 5);
    for (int t = 0; t < KERNELS; t++) {
        double *k[3];
        for (int threads = 1; threads <= 3; threads++) {
            mcr *ctx = test_open(threads);
            mcr_data *data = graph_data(ctx, g, N, NODE_LABELS | EDGE_LABELS);
            k[threads - 1] = matrix(ctx, all_kernels[t], data, NULL);
            mcr_data_free(data);
            test_close(ctx);
        }
        assert_memory_equal(k[0], k[1], sizeof(double) * N * N);
        assert_memory_equal(k[0], k[2], sizeof(double) * N * N);
        for (int i = 0; i < 3; i++)
            free(k[i]);
    }
}

static void test_bad_parameters(void **state)
{
    mcr *ctx = *state;
    static const char *const texts[] = {
        "graphlet(p=1)",    "graphlet(p=6)",  "graphlet(mode=often)", "graphlet(connected=2)",
        "walk(lambda=-.1)", "walk(lambda=1)", "walk(lambda=nan)",     "shortestpath(p=2)",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        mcr_kernel *kernel = NULL;
        test_fails(ctx, mcr_kernel_parse(&kernel, ctx, texts[i]), MCR_BAD_CALL,
                   i < 4   ? "graphlet"
                   : i < 7 ? "walk"
                           : "shortestpath");
        assert_null(kernel);
    }
}

/* Labels on one side only; those of edges matter to walk alone. */
static void test_sides(void **state)
{
    mcr *ctx = *state;
    static const char *const texts[] = {"shortestpath", "graphlet", "walk"};
    static graph g[3];
    random_graphs(g, 3, 1);
    mcr_data *data[4];
    mcr_gram *gram = NULL;
    for (int labels = 0; labels < 4; labels++)
        data[labels] = graph_data(ctx, g, 3, labels);
    for (int t = 0; t < 3; t++)
        for (int x = 0; x < 4; x++)
            for (int z = 0; z < 4; z++) {
                mcr_status status = open_kernel(&gram, ctx, texts[t], data[x], data[z]);
                if ((x ^ z) & NODE_LABELS)
                    test_fails(ctx, status, MCR_BAD_DATA, "node labels");
                else if (t == 2 && x != z)
                    test_fails(ctx, status, MCR_BAD_DATA, "edge labels");
                else
                    test_ok(ctx, status);
                mcr_gram_close(gram);
            }
    for (int labels = 0; labels < 4; labels++)
        mcr_data_free(data[labels]);
}

/* Large ones: a star and a path, in closed form. */
static void test_large(void **state)
{
    mcr *ctx = *state;
    enum { LARGE = 3000 };
    static int32_t edge[2 * (LARGE - 1)][2];
    const int64_t node[] = {0, LARGE, 2 * LARGE}, start[] = {0, LARGE - 1, 2 * (LARGE - 1)};
    for (int32_t i = 0; i < LARGE - 1; i++) {
        edge[i][0] = 0;
        edge[i][1] = i + 1;
        edge[LARGE - 1 + i][0] = i;
        edge[LARGE - 1 + i][1] = i + 1;
    }
    mcr_builder *b = NULL;
    mcr_data *data = NULL;
    test_ok(ctx, mcr_builder_open(&b, ctx, 2));
    test_ok(ctx, mcr_builder_graphs(b, "g", node, NULL, start, (const int32_t(*)[2])edge, NULL));
    test_ok(ctx, mcr_builder_finish(&data, b));
    double n = LARGE, claws = (n - 1) * (n - 2) / 2 * (n - 3) / 3, paths = n - 3;
    expect(ctx, "graphlet(p=4, mode=count, connected=yes)", data, NULL,
           (double[]){claws * claws, 0, 0, paths * paths}, 4, 1e-15);
    expect(ctx, "graphlet(p=4, connected=no)", data, NULL, (double[]){2, 1, 1, 5}, 4, 0);
    double lengths[4] = {(n - 1) * (n - 1) + (n - 1) * (n - 2) / 2 * ((n - 1) * (n - 2) / 2),
                         (n - 1) * (n - 1) + (n - 1) * (n - 2) / 2 * (n - 2), 0, 0};
    lengths[2] = lengths[1];
    for (double d = 1; d < n; d++)
        lengths[3] += (n - d) * (n - d);
    expect(ctx, "shortestpath", data, NULL, lengths, 4, 1e-15);
    mcr_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_shortestpath_slow, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_graphlet_slow, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_walk_slow, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_walk_known, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_numbering, test_setup, test_teardown),
        cmocka_unit_test(test_threads),
        cmocka_unit_test_setup_teardown(test_bad_parameters, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_sides, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_large, test_setup, test_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
