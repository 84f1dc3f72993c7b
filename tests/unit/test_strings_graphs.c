/* test_strings_graphs.c: spectrum and wl against slow, obvious code, and values known by hand.
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

static void expect(mcr *ctx, const char *text, const mcr_data *x, const mcr_data *z,
                   const double *expected, int64_t count)
{
    double *k = matrix(ctx, text, x, z);
    test_close_arrays(text, k, expected, count, 0);
    free(k);
}

/* ---- strings ----------------------------------------------------------------------------------*/

typedef struct strings {
    int64_t n, start[64];
    char bytes[2048];
} strings;

static void add_string(strings *s, const char *bytes, int64_t length)
{
    memcpy(s->bytes + s->start[s->n], bytes, (size_t)length);
    s->start[s->n + 1] = s->start[s->n] + length;
    s->n++;
}

static mcr_data *string_data(mcr *ctx, const strings *s)
{
    mcr_builder *b = NULL;
    mcr_data *data = NULL;
    test_ok(ctx, mcr_builder_open(&b, ctx, s->n));
    test_ok(ctx, mcr_builder_strings(b, "s", s->start, s->bytes));
    test_ok(ctx, mcr_builder_finish(&data, b));
    return data;
}

/* Substring at a of s, seen at b of t? */
static bool match(const strings *s, int64_t a, const strings *t, int64_t b, int64_t p)
{
    return memcmp(s->bytes + a, t->bytes + b, (size_t)p) == 0;
}

/* Every place of s against every place of t; presence: a substring counts at its first place in s,
 * and once if it is in t. */
static double slow_spectrum(const strings *s, int64_t i, const strings *t, int64_t j, int64_t p,
                            bool presence)
{
    double sum = 0;
    for (int64_t a = s->start[i]; a + p <= s->start[i + 1]; a++) {
        bool seen = false;
        int64_t times = 0;
        for (int64_t c = s->start[i]; c < a; c++)
            seen = seen || match(s, a, s, c, p);
        for (int64_t b = t->start[j]; b + p <= t->start[j + 1]; b++)
            times += match(s, a, t, b, p);
        sum += !presence ? (double)times : seen ? 0 : times > 0;
    }
    return sum;
}

static strings random_strings(int64_t n, uint64_t number)
{
    static const char letters[] = {'a', 'b', '\0', '\xff'};
    strings s = {.n = 0};
    mcr_random r = mcr_random_stream(1, "strings", number);
    for (int64_t i = 0; i < n; i++) {
        char bytes[24];
        int64_t length = i == 0 ? 0 : mcr_random_below(&r, 1 + (i % 24));
        for (int64_t k = 0; k < length; k++)
            bytes[k] = letters[mcr_random_below(&r, number % 2 ? 2 : 4)];
        add_string(&s, bytes, length);
    }
    return s;
}

static void test_spectrum_slow(void **state)
{
    mcr *ctx = *state;
    enum { N = 40, M = 25 };
    static double same[N * N], other[M * N];
    for (uint64_t number = 0; number < 4; number++) {
        strings s = random_strings(N, number), t = random_strings(M, number + 10);
        mcr_data *x = string_data(ctx, &t), *z = string_data(ctx, &s);
        for (int64_t p = 1; p <= 25; p = p < 6 ? p + 1 : p + 19)
            for (int mode = 0; mode < 2; mode++) {
                char text[64];
                snprintf(text, sizeof text, "spectrum(p=%d%s)", (int)p, mode ? ", mode=count" : "");
                for (int64_t i = 0; i < N; i++)
                    for (int64_t j = 0; j < N; j++)
                        same[i * N + j] = slow_spectrum(&s, i, &s, j, p, mode == 0);
                for (int64_t i = 0; i < M; i++)
                    for (int64_t j = 0; j < N; j++)
                        other[i * N + j] = slow_spectrum(&t, i, &s, j, p, mode == 0);
                expect(ctx, text, z, NULL, same, N * N);
                expect(ctx, text, x, z, other, M * N);
            }
        mcr_data_free(x);
        mcr_data_free(z);
    }
}

static void test_spectrum_known(void **state)
{
    mcr *ctx = *state;
    strings s = {.n = 0};
    add_string(&s, "car", 3);
    add_string(&s, "cat", 3);
    add_string(&s, "", 0);
    add_string(&s, "c", 1);
    add_string(&s, "aaaa", 4);
    mcr_data *data = string_data(ctx, &s);
    static const double two[25] = {2, 1, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0,
                                   0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
    static const double one[25] = {3, 2, 0, 1, 1, 2, 3, 0, 1, 1, 0, 0, 0,
                                   0, 0, 1, 1, 0, 1, 0, 1, 1, 0, 0, 1};
    static const double counts[25] = {3, 2, 0, 1, 4, 2, 3, 0, 1, 4, 0, 0, 0,
                                      0, 0, 1, 1, 0, 1, 0, 4, 4, 0, 0, 16};
    static const double none[25] = {0};
    expect(ctx, "spectrum(p=2)", data, NULL, two, 25);
    expect(ctx, "spectrum(p=1)", data, NULL, one, 25);
    expect(ctx, "spectrum(p=1, mode=count)", data, NULL, counts, 25);
    /* Longer than all of them: no substrings, and no features at all. */
    expect(ctx, "spectrum(p=1000)", data, NULL, none, 25);
    expect(ctx, "normalize(spectrum(p=1000, mode=count))", data, NULL, none, 25);
    mcr_data_free(data);
    /* A NUL is a byte like others. */
    s = (strings){.n = 0};
    add_string(&s, "a\0b", 3);
    add_string(&s, "a\0c", 3);
    add_string(&s, "a", 1);
    data = string_data(ctx, &s);
    static const double zero[9] = {2, 1, 0, 1, 2, 0, 0, 0, 0};
    expect(ctx, "spectrum(p=2)", data, NULL, zero, 9);
    mcr_data_free(data);
    /* Many times the same: 1998 places each. */
    static char many[2048];
    memset(many, 'a', sizeof many);
    s = (strings){.n = 0};
    add_string(&s, many, 2000);
    data = string_data(ctx, &s);
    expect(ctx, "spectrum(p=3, mode=count)", data, NULL, (double[]){1998.0 * 1998}, 1);
    expect(ctx, "spectrum(p=3)", data, NULL, (double[]){1}, 1);
    mcr_data_free(data);
}

static void test_bad_parameters(void **state)
{
    mcr *ctx = *state;
    static const char *const texts[] = {
        "spectrum(p=0)", "spectrum(p=-1)", "spectrum(p=1.5)", "spectrum(mode=often)",
        "wl(h=-1)",      "wl(h=101)",      "wl(h=1.5)",       "wl(p=2)"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        mcr_kernel *kernel = NULL;
        test_fails(ctx, mcr_kernel_parse(&kernel, ctx, texts[i]), MCR_BAD_CALL,
                   i < 4 ? "spectrum" : "wl");
        assert_null(kernel);
    }
}

/* ---- graphs -----------------------------------------------------------------------------------*/

enum { GRAPHS = 30, NODES = 7, EDGES = 12 };

/* The label of the first edge that joins a and b; false: none does. */
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

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* What a node sees within `depth` steps, written out in full: its own label, then what its
 * neighbours see one step less far, sorted, each behind the edge's label. From malloc. */
static char *view(const graph *g, int v, int depth, int labels)
{
    char *seen[NODES], *text = NULL;
    int32_t bond;
    int count = 0;
    size_t length = 32;
    for (int u = 0; u < g->nodes; u++)
        count += joined(g, v, u, &bond);
    if (depth == 0) {
        assert_true(asprintf(&text, "%d", labels & NODE_LABELS ? g->label[v] : count) > 0);
        return text;
    }
    count = 0;
    for (int u = 0; u < g->nodes; u++)
        if (joined(g, v, u, &bond)) {
            char *far = view(g, u, depth - 1, labels);
            assert_true(asprintf(&seen[count], "%d:%s", labels & EDGE_LABELS ? bond : 0, far) > 0);
            length += strlen(seen[count++]) + 1;
            free(far);
        }
    qsort(seen, (size_t)count, sizeof *seen, by_text);
    char *own = view(g, v, depth - 1, labels);
    text = malloc(length + strlen(own));
    assert_non_null(text);
    strcat(strcpy(text, "("), own);
    for (int i = 0; i < count; i++) {
        strcat(strcat(text, ","), seen[i]);
        free(seen[i]);
    }
    free(own);
    return strcat(text, ")");
}

/* Pairs of nodes that see the same, summed over the rounds. */
static double slow_wl(const graph *g, const graph *h, int rounds, int labels)
{
    double sum = 0;
    for (int depth = 0; depth <= rounds; depth++)
        for (int u = 0; u < g->nodes; u++) {
            char *a = view(g, u, depth, labels);
            for (int v = 0; v < h->nodes; v++) {
                char *b = view(h, v, depth, labels);
                sum += strcmp(a, b) == 0;
                free(b);
            }
            free(a);
        }
    return sum;
}

/* The first has no nodes, the second no edges; self-loops and repeated edges come up. */
static void random_graphs(graph *g, int64_t n, uint64_t number)
{
    mcr_random r = mcr_random_stream(1, "graphs", number);
    memset(g, 0, sizeof *g * (size_t)n);
    for (int64_t i = 0; i < n; i++) {
        g[i].nodes = i == 0 ? 0 : 1 + (int)mcr_random_below(&r, NODES);
        g[i].edges = i < 2 ? 0 : (int)mcr_random_below(&r, EDGES + 1);
        for (int v = 0; v < g[i].nodes; v++)
            g[i].label[v] = (int32_t)mcr_random_below(&r, 2) * 12 - 1;
        for (int e = 0; e < g[i].edges; e++) {
            g[i].edge[e][0] = (int32_t)mcr_random_below(&r, g[i].nodes);
            g[i].edge[e][1] = (int32_t)mcr_random_below(&r, g[i].nodes);
            g[i].bond[e] = (int32_t)mcr_random_below(&r, 2) - 1;
        }
    }
}

static void test_wl_slow(void **state)
{
    mcr *ctx = *state;
    enum { N = 14, M = 9 };
    static double same[N * N], other[M * N];
    graph g[N], h[M];
    for (int labels = PLAIN; labels <= BOTH_LABELS; labels++) {
        random_graphs(g, N, (uint64_t)labels);
        random_graphs(h, M, (uint64_t)labels + 10);
        mcr_data *z = graph_data(ctx, g, N, labels), *x = graph_data(ctx, h, M, labels);
        for (int rounds = 0; rounds <= 2; rounds++) {
            char text[32];
            snprintf(text, sizeof text, "wl(h=%d)", rounds);
            for (int i = 0; i < N; i++)
                for (int j = 0; j < N; j++)
                    same[i * N + j] = j < i ? same[j * N + i]
                                            : slow_wl(&g[i], &g[j], rounds, labels);
            for (int i = 0; i < M; i++)
                for (int j = 0; j < N; j++)
                    other[i * N + j] = slow_wl(&h[i], &g[j], rounds, labels);
            expect(ctx, text, z, NULL, same, N * N);
            expect(ctx, text, x, z, other, M * N);
        }
        mcr_data_free(x);
        mcr_data_free(z);
    }
}

/* A permutation of the nodes changes nothing. */
static void test_wl_numbering(void **state)
{
    mcr *ctx = *state;
    graph g[GRAPHS], turned[GRAPHS];
    random_graphs(g, GRAPHS, 77);
    for (int i = 0; i < GRAPHS; i++) {
        turned[i] = g[i];
        for (int v = 0; v < g[i].nodes; v++)
            turned[i].label[(v + 3) % g[i].nodes] = g[i].label[v];
        for (int e = 0; e < g[i].edges; e++)
            for (int end = 0; end < 2; end++)
                turned[i].edge[e][1 - end] = (g[i].edge[e][end] + 3) % g[i].nodes;
    }
    mcr_data *a = graph_data(ctx, g, GRAPHS, BOTH_LABELS);
    mcr_data *b = graph_data(ctx, turned, GRAPHS, BOTH_LABELS);
    double *k = matrix(ctx, "wl(h=5)", a, NULL);
    expect(ctx, "wl(h=5)", b, NULL, k, GRAPHS * GRAPHS);
    expect(ctx, "wl(h=5)", a, b, k, GRAPHS * GRAPHS);
    free(k);
    mcr_data_free(a);
    mcr_data_free(b);
}

static void test_wl_known(void **state)
{
    mcr *ctx = *state;
    /* The example of the paper (figure 2): one round gives 11 between the two graphs. */
    const graph paper[2] = {
        {6, 7, {1, 1, 2, 3, 4, 5}, {{0, 4}, {1, 4}, {4, 3}, {4, 5}, {3, 2}, {3, 5}, {5, 2}}, {0}},
        {6, 7, {1, 2, 2, 3, 4, 5}, {{0, 4}, {1, 3}, {2, 4}, {2, 5}, {3, 4}, {3, 5}, {4, 5}}, {0}},
    };
    mcr_data *data = graph_data(ctx, paper, 2, NODE_LABELS);
    expect(ctx, "wl(h=1)", data, NULL, (double[]){16, 11, 11, 14}, 4);
    expect(ctx, "wl(h=0)", data, NULL, (double[]){8, 7, 7, 8}, 4);
    mcr_data_free(data);
    /* Without labels: a triangle, a path of 3 nodes, one node, one node with a loop, nothing. */
    const graph small[5] = {
        {3, 3, {0}, {{0, 1}, {1, 2}, {2, 0}}, {0}},
        {3, 2, {0}, {{0, 1}, {1, 2}}, {0}},
        {1, 0, {0}, {{0, 0}}, {0}},
        {1, 1, {0}, {{0, 0}}, {0}},
        {0, 0, {0}, {{0, 0}}, {0}},
    };
    data = graph_data(ctx, small, 5, PLAIN);
    expect(ctx, "wl(h=0)", data, NULL,
           (double[]){9, 3, 0, 0, 0, 3, 5, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2, 0, 1, 0, 0, 0, 0, 0, 0},
           25);
    expect(ctx, "wl(h=1)", data, NULL,
           (double[]){18, 3, 0, 0, 0, 3, 10, 0, 2, 0, 0, 0, 2, 0, 0, 0, 2, 0, 2, 0, 0, 0, 0, 0, 0},
           25);
    mcr_data_free(data);
    /* No nodes anywhere. */
    data = graph_data(ctx, small + 4, 1, PLAIN);
    expect(ctx, "wl(h=3)", data, NULL, (double[]){0}, 1);
    mcr_data_free(data);
}

/* ---- labels that are words --------------------------------------------------------------------*/

static mcr_data *read_graphs(mcr *ctx, const char *lines)
{
    mcr_data *data = NULL;
    mcr_read_options options = {.size = sizeof options, .format = "jsonl"};
    test_ok(ctx, mcr_data_read_memory(&data, ctx, "graphs", lines, strlen(lines), &options));
    return data;
}

/* The words are numbered as they come; what counts is the word. */
static void test_wl_words(void **state)
{
    mcr *ctx = *state;
    mcr_data *a = read_graphs(
        ctx, "{\"g\": {\"nodes\": [\"C\", \"O\", \"N\"], \"edges\": [[0,1],[1,2]]}}\n"
             "{\"g\": {\"nodes\": [\"N\", \"N\"], \"edges\": []}}\n");
    mcr_data *b = read_graphs(
        ctx, "{\"g\": {\"nodes\": [\"N\", \"O\", \"C\"], \"edges\": [[0,1],[1,2]]}}\n"
             "{\"g\": {\"nodes\": [\"Br\", \"O\", \"C\"], \"edges\": [[2,1]]}}\n");
    expect(ctx, "wl(h=0)", a, b, (double[]){3, 2, 2, 0}, 4);
    /* C next to O is the same in all of them; O between N and C only in the first ones. */
    expect(ctx, "wl(h=1)", a, b, (double[]){6, 3, 2, 0}, 4);
    double *k = matrix(ctx, "wl(h=2)", a, b), *t = matrix(ctx, "wl(h=2)", b, a);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            assert_true(k[i * 2 + j] == t[j * 2 + i]);
    free(k);
    free(t);
    /* As one data set, and as a view of it, the same again. */
    mcr_data *both = NULL, *view_of = NULL;
    test_ok(ctx, mcr_data_concat(&both, (const mcr_data *const[]){a, b}, 2));
    expect(ctx, "wl(h=1)", both, NULL, (double[]){6, 2, 6, 3, 2, 8, 2, 0, 6, 2, 6, 3, 3, 0, 3, 6},
           16);
    int64_t rows[] = {3, 0, 0};
    test_ok(ctx, mcr_data_select(&view_of, both, (mcr_rows){rows, 0, 3}));
    expect(ctx, "wl(h=1)", view_of, NULL, (double[]){6, 3, 3, 3, 6, 6, 3, 6, 6}, 9);
    expect(ctx, "wl(h=1)", view_of, b, (double[]){3, 6, 6, 3, 6, 3}, 6);
    mcr_data_free(view_of);
    mcr_data_free(both);
    mcr_data_free(a);
    mcr_data_free(b);
    /* The empty word is a word, wherever it stands. */
    a = read_graphs(ctx, "{\"g\": {\"nodes\": [\"\", \"C\"], \"edges\": [[0,1]]}}\n"
                         "{\"g\": {\"nodes\": [\"C\", \"\"], \"edges\": [[0,1]]}}\n"
                         "{\"g\": {\"nodes\": [\"\", \"\"], \"edges\": [[0,1]]}}\n");
    expect(ctx, "wl(h=1)", a, NULL, (double[]){4, 4, 2, 4, 4, 2, 2, 2, 8}, 9);
    mcr_data_free(a);
}

/* Labels on one side only cannot be compared. */
static void test_wl_sides(void **state)
{
    mcr *ctx = *state;
    graph g[3];
    random_graphs(g, 3, 5);
    mcr_kernel *kernel = NULL;
    mcr_gram *gram = NULL;
    test_ok(ctx, mcr_kernel_parse(&kernel, ctx, "wl(h=1)"));
    mcr_data *data[4];
    for (int labels = PLAIN; labels <= BOTH_LABELS; labels++)
        data[labels] = graph_data(ctx, g, 3, labels);
    for (int x = 0; x < 4; x++)
        for (int z = 0; z < 4; z++) {
            mcr_status status = mcr_gram_open(&gram, ctx, kernel, data[x], data[z]);
            if (x == z)
                test_ok(ctx, status);
            else
                test_fails(ctx, status, MCR_BAD_DATA,
                           (x ^ z) & NODE_LABELS ? "node labels" : "edge labels");
            mcr_gram_close(gram);
        }
    for (int labels = PLAIN; labels <= BOTH_LABELS; labels++)
        mcr_data_free(data[labels]);
    mcr_kernel_free(kernel);
}

/* ---- ssk over many tiles of letters -----------------------------------------------------------*/

/* The recursion as it stands in the paper, with all of P and Q. */
static double subsequences(const char *s, int64_t n, const char *t, int64_t m, int p, double lambda)
{
    size_t cells = (size_t)((n + 1) * (m + 1));
    long double *before = calloc(cells, sizeof *before), *now = calloc(cells, sizeof *now), sum = 0;
    for (size_t c = 0; c < cells; c++)
        before[c] = 1;
    for (int i = 1; i <= p; i++) {
        sum = 0;
        memset(now, 0, cells * sizeof *now);
        for (int64_t k = 0; k < n; k++) {
            long double q = 0;
            for (int64_t j = 0; j < m; j++) {
                long double match = s[k] == t[j] ? (long double)lambda * lambda : 0;
                long double met = match * before[k * (m + 1) + j];
                q = lambda * q + met;
                now[(k + 1) * (m + 1) + j + 1] = lambda * now[k * (m + 1) + j + 1] + q;
                sum += met;
            }
        }
        long double *swap = before;
        before = now;
        now = swap;
    }
    free(before);
    free(now);
    return (double)sum;
}

static void test_ssk_tiles(void **state)
{
    enum { COUNT = 11, FIRST = 6 };
    static const int64_t length[COUNT] = {0, 1, 63, 130, 64, 700, 65, 2, 0, 190, 1100};
    static const struct {
        int p;
        double lambda;
    } trial[] = {{1, 0.5}, {2, 1},    {3, 0.5},  {4, 0.999}, {6, 0.9},
                 {7, 0.3}, {3, 0.01}, {2, 1e-5}, {12, 0.95}, {9, 0.7}};
    mcr *ctx = *state;
    mcr_random r = mcr_random_stream(4, "letters", 0);
    int64_t start[COUNT + 1] = {0};
    char text[4000];
    for (int i = 0; i < COUNT; i++) {
        start[i + 1] = start[i] + length[i];
        for (int64_t c = start[i]; c < start[i + 1]; c++)
            text[c] = (char)('a' + mcr_random_below(&r, 3));
    }
    mcr_builder *b;
    mcr_data *all, *x, *z;
    test_ok(ctx, mcr_builder_open(&b, ctx, COUNT));
    test_ok(ctx, mcr_builder_strings(b, "s", start, text));
    test_ok(ctx, mcr_builder_finish(&all, b));
    test_ok(ctx, mcr_data_select(&x, all, (mcr_rows){NULL, 0, FIRST}));
    test_ok(ctx, mcr_data_select(&z, all, (mcr_rows){NULL, FIRST, COUNT - FIRST}));
    for (size_t t = 0; t < sizeof trial / sizeof *trial; t++) {
        char expression[64];
        double right[COUNT * COUNT], found[COUNT * COUNT];
        float single[COUNT * COUNT];
        mcr_kernel *kernel;
        mcr_gram *gram;
        snprintf(expression, sizeof expression, "ssk(p=%d, lambda=%g)", trial[t].p,
                 trial[t].lambda);
        test_ok(ctx, mcr_kernel_parse(&kernel, ctx, expression));
        for (int i = 0; i < COUNT; i++)
            for (int j = 0; j < COUNT; j++)
                right[i * COUNT + j] = j < i ? right[j * COUNT + i]
                                             : subsequences(text + start[i], length[i],
                                                            text + start[j], length[j], trial[t].p,
                                                            trial[t].lambda);
        for (int sides = 1; sides <= 2; sides++) {
            int64_t m = sides == 1 ? COUNT : FIRST, n = sides == 1 ? COUNT : COUNT - FIRST;
            mcr_rows rows = {NULL, 0, m}, cols = {NULL, 0, n};
            test_ok(ctx, sides == 1 ? mcr_gram_open(&gram, ctx, kernel, all, NULL)
                                    : mcr_gram_open(&gram, ctx, kernel, x, z));
            test_ok(ctx, mcr_gram_block(gram, rows, cols, found, n));
            test_ok(ctx, mcr_gram_block_float(gram, rows, cols, single, n));
            for (int64_t i = 0; i < m; i++)
                for (int64_t j = 0; j < n; j++) {
                    double wanted = right[i * COUNT + j + (sides == 1 ? 0 : FIRST)];
                    double scale = fmax(fabs(wanted), 1e-300);
                    test_close_real(expression, found[i * n + j] / scale, wanted / scale, 1e-11);
                    if (wanted > 1e-25 && wanted < 1e37)
                        test_close_real(expression, (double)single[i * n + j] / scale, 1, 2e-5);
                }
            mcr_gram_close(gram);
        }
        mcr_kernel_free(kernel);
    }
    mcr_data_free(x);
    mcr_data_free(z);
    mcr_data_free(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_spectrum_slow, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_spectrum_known, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_bad_parameters, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_wl_slow, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_wl_numbering, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_wl_known, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_wl_words, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_wl_sides, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_ssk_tiles, test_setup, test_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
