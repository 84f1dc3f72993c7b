/* zoo.c: objects of every kind, made at random, and expressions of every registered kernel on them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "zoo.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "base/random.h"
#include "kernel/kernel.h"

/* ---- the breeds -------------------------------------------------------------------------------*/

enum { VECTORS = MCR_DENSE | MCR_SPARSE };

const zoo_breed zoo_breeds[] = {
    {"dense", MCR_DENSE, MCR_DENSE, 4, 0.5, true, 0},
    {"dense, not negative", MCR_DENSE, MCR_DENSE, 4, 0.5, false, 0},
    {"dense, 70 columns", MCR_DENSE, MCR_DENSE, 70, 1, true, 0},
    {"sparse", MCR_SPARSE, MCR_SPARSE, 4, 0.5, true, 0},
    {"sparse, 300 columns, not negative", MCR_SPARSE, MCR_SPARSE, 300, 0.05, false, 0},
    {"sparse, 5000 columns", MCR_SPARSE, MCR_SPARSE, 5000, 0.004, true, 0},
    {"dense against sparse, not negative", MCR_DENSE, MCR_SPARSE, 4, 0.5, false, 0},
    {"sparse against dense", MCR_SPARSE, MCR_DENSE, 70, 0.2, true, 0},
    {"strings", MCR_STRINGS, MCR_STRINGS, 0, 0, false, 0},
    {"graphs", MCR_GRAPHS, MCR_GRAPHS, 0, 0, false, 0},
    {"graphs, nodes labelled", MCR_GRAPHS, MCR_GRAPHS, 0, 0, false, 1},
    {"graphs, nodes and edges labelled", MCR_GRAPHS, MCR_GRAPHS, 0, 0, false, 2},
    {"precomputed", MCR_PRECOMPUTED, MCR_PRECOMPUTED, 0, 0, false, 0},
    {.name = NULL},
};

static void *buffer(int64_t count, size_t size)
{
    void *block = calloc((size_t)count + 1, size);
    assert_non_null(block);
    return block;
}

/* Some vectors are zero, some a copy of the one before; lengths are about 2. v is all zero
 * before. */
static void draw_vector(const zoo_breed *breed, int64_t i, double *v)
{
    mcr_random r = mcr_random_stream(7, breed->name, (uint64_t)(i % 13 == 7 ? i - 1 : i));
    double size = 2 / sqrt((double)breed->cols * breed->density);
    int64_t gap = (int64_t)(2 / breed->density) - 1; /* on average 1 / density columns */
    for (int64_t c = mcr_random_below(&r, gap); c < breed->cols;
         c += 1 + mcr_random_below(&r, gap)) {
        double value = size * mcr_random_normal(&r);
        v[c] = i % 41 == 5 ? 0 : breed->negative ? value : fabs(value);
    }
}

static mcr_status add_vectors(mcr_builder *b, const zoo_breed *breed, int64_t first, int64_t count,
                              bool sparse)
{
    int64_t cols = breed->cols, entries = 0, step = sparse ? 0 : cols;
    double *dense = buffer((sparse ? 1 : count) * cols, sizeof *dense), *value = NULL;
    int64_t *start = buffer(count + 1, sizeof *start);
    int32_t *index = NULL;
    if (sparse) {
        value = buffer(count * cols, sizeof *value);
        index = buffer(count * cols, sizeof *index);
    }
    for (int64_t i = 0; i < count; i++) {
        double *v = dense + i * step;
        draw_vector(breed, first + i, v);
        for (int64_t c = 0; c < cols && sparse; c++)
            if (v[c] != 0) {
                index[entries] = (int32_t)c;
                value[entries++] = v[c];
                v[c] = 0;
            }
        start[i + 1] = entries;
    }
    mcr_status status = sparse ? mcr_builder_sparse(b, "it", cols, start, index, value)
                               : mcr_builder_dense(b, "it", dense, cols, cols);
    free(dense);
    free(value);
    free(start);
    free(index);
    return status;
}

enum { STRING_MOST = 24, NODES_MOST = 8, EDGES_MOST = 14 };

/* Few letters, so that substrings come again; a NUL and a byte above 127 are letters like
 * others. */
static mcr_status add_strings(mcr_builder *b, int64_t first, int64_t count)
{
    static const char letters[] = {'a', 'c', '\0', '\xe4'};
    int64_t *start = buffer(count + 1, sizeof *start);
    char *bytes = buffer(count * STRING_MOST, 1);
    for (int64_t i = 0; i < count; i++) {
        mcr_random r = mcr_random_stream(7, "strings", (uint64_t)(first + i));
        int64_t length = mcr_random_below(&r, STRING_MOST + 1);
        for (int64_t k = 0; k < length; k++)
            bytes[start[i] + k] = letters[mcr_random_below(&r, sizeof letters)];
        start[i + 1] = start[i] + length;
    }
    mcr_status status = mcr_builder_strings(b, "it", start, bytes);
    free(start);
    free(bytes);
    return status;
}

/* From no nodes at all; an edge may stand twice, or lead back to its node. */
static mcr_status add_graphs(mcr_builder *b, const zoo_breed *breed, int64_t first, int64_t count)
{
    int64_t *node = buffer(count + 1, sizeof *node), *edge = buffer(count + 1, sizeof *edge);
    int32_t *label = buffer(count * NODES_MOST, sizeof *label);
    int32_t *bond = buffer(count * EDGES_MOST, sizeof *bond);
    int32_t(*end)[2] = buffer(count * EDGES_MOST, sizeof *end);
    for (int64_t i = 0; i < count; i++) {
        mcr_random r = mcr_random_stream(7, "graphs", (uint64_t)(first + i));
        int64_t nodes = mcr_random_below(&r, NODES_MOST + 1);
        int64_t edges = nodes > 0 ? mcr_random_below(&r, EDGES_MOST + 1) : 0;
        node[i + 1] = node[i] + nodes;
        edge[i + 1] = edge[i] + edges;
        for (int64_t v = node[i]; v < node[i + 1]; v++)
            label[v] = (int32_t)mcr_random_below(&r, 3) - 1;
        for (int64_t e = edge[i]; e < edge[i + 1]; e++) {
            end[e][0] = (int32_t)mcr_random_below(&r, nodes);
            end[e][1] = (int32_t)mcr_random_below(&r, nodes);
            bond[e] = (end[e][0] + end[e][1]) % 3;
        }
    }
    mcr_status status = mcr_builder_graphs(b, "it", node, breed->labels > 0 ? label : NULL, edge,
                                           (const int32_t(*)[2])end,
                                           breed->labels > 1 ? bond : NULL);
    free(node);
    free(edge);
    free(label);
    free(bond);
    free(end);
    return status;
}

/* Inner products of vectors that nobody sees; object i is reference object i. */
static mcr_status add_precomputed(mcr_builder *b, int64_t first, int64_t count)
{
    static const zoo_breed hidden = {.name = "hidden", .cols = 5, .density = 1, .negative = true};
    double *v = buffer(ZOO_MOST * hidden.cols, sizeof *v), *k = buffer(count * ZOO_MOST, sizeof *k);
    int64_t *id = buffer(count, sizeof *id);
    for (int64_t i = 0; i < ZOO_MOST; i++)
        draw_vector(&hidden, i, v + i * hidden.cols);
    for (int64_t i = 0; i < count; i++) {
        id[i] = first + i;
        for (int64_t j = 0; j < ZOO_MOST; j++)
            for (int64_t c = 0; c < hidden.cols; c++)
                k[i * ZOO_MOST + j] += v[(first + i) * hidden.cols + c] * v[j * hidden.cols + c];
    }
    mcr_status status = mcr_builder_precomputed(b, "it", k, ZOO_MOST, id);
    free(v);
    free(k);
    free(id);
    return status;
}

static mcr_status add_other(mcr_builder *b, int64_t first, int64_t count)
{
    double *v = buffer(2 * count, sizeof *v);
    for (int64_t i = 0; i < count; i++) {
        mcr_random r = mcr_random_stream(7, "other", (uint64_t)(first + i));
        v[2 * i] = mcr_random_normal(&r);
        v[2 * i + 1] = mcr_random_uniform(&r);
    }
    mcr_status status = mcr_builder_dense(b, "other", v, 2, 2);
    free(v);
    return status;
}

mcr_status zoo_data(mcr_data **out, mcr *ctx, const zoo_breed *breed, int64_t first, int64_t count,
                    int side)
{
    *out = NULL;
    assert_true(first + count <= ZOO_MOST);
    mcr_kind kind = side == 0 ? breed->kind : breed->against;
    mcr_builder *b = NULL;
    mcr_status status = mcr_builder_open(&b, ctx, count);
    if (status != MCR_OK)
        return status;
    status = kind & VECTORS        ? add_vectors(b, breed, first, count, kind == MCR_SPARSE)
             : kind == MCR_STRINGS ? add_strings(b, first, count)
             : kind == MCR_GRAPHS  ? add_graphs(b, breed, first, count)
                                   : add_precomputed(b, first, count);
    if (status == MCR_OK)
        status = add_other(b, first, count);
    if (status == MCR_OK)
        return mcr_builder_finish(out, b);
    mcr_builder_close(b);
    return status;
}

/* ---- the table --------------------------------------------------------------------------------*/

/* What a kernel is tried with. A kernel whose defaults do is tried with these and needs no line;
 * one line "" stands for them beside others. cols: only on vectors of so many columns. */
static const struct {
    const char *kernel, *params;
    int64_t cols;
} table[] = {
    {"mahalanobis", "diag=0.7", 0},
    {"mahalanobis", "diag=[1, 0.5, 2, 0]", 4},
    {"mahalanobis", "q=[2, 1, 0, 0, 1, 2, 0, 0.5, 0, 0, 1, 0, 0, 0.5, 0, 3]", 4},
    {"poly", "", 0},
    {"poly", "degree=2, c=1", 0},
    {"poly", "degree=5, scale=0.3, c=0.5", 0},
    {"equal", "", 0},
    {"equal", "rho=0.3", 0},
    {"ordinal", "order=\"a;b;c\"", 0},
    {"ordinal", "order=\"0;1\"", 0},
    {"rbf", "gamma=0.3", 0},
    {"rbf", "sigma=1.5", 0},
    {"rbf", "gamma=[0.1, 1, 0.5, 2]", 4},
    {"laplace", "", 0},
    {"laplace", "gamma=[0.1, 1, 0.5, 2]", 4},
    {"matern", "nu=0.5", 0},
    {"matern", "", 0},
    {"matern", "nu=2.5, length=2", 0},
    {"matern", "length=[1, 2, 0.5, 3]", 4},
    {"rq", "", 0},
    {"rq", "alpha=0.4, length=2", 0},
    {"rq", "length=[1, 2, 0.5, 3]", 4},
    {"periodic", "", 0},
    {"periodic", "period=3, length=[1, 2, 3, 4]", 4},
    {"sigmoid", "", 0},
    {"sigmoid", "a=0.2, b=-0.1", 0},
    {"chi2", "", 0},
    {"chi2", "gamma=0.2", 0},
    {"spectrum", "", 0},
    {"spectrum", "p=1", 0},
    {"spectrum", "p=2, mode=count", 0},
    {"wl", "", 0},
    {"wl", "h=0", 0},
    {"wl", "h=1", 0},
    {"constant", "", 0},
    {"constant", "c=2.5", 0},
    {"power", "degree=3", 0},
    {"conformal", "f=\"other:norm\"", 0},
    {"conformal", "f=\"other:2\"", 0},
};
enum { LINES = sizeof table / sizeof *table };

/* Kernels to put into a combinator: the first knows the breed. Small values, so that exp holds
 * them. */
static const char *inner(const zoo_breed *breed, int number)
{
    if (number > 0)
        return number % 2 ? "rbf(other, gamma=0.4)" : "linear(other)";
    return breed->kind & VECTORS        ? "0.1*linear(it)"
           : breed->kind == MCR_STRINGS ? "0.1*spectrum(it, p=2)"
           : breed->kind == MCR_GRAPHS  ? "0.02*wl(it, h=1)"
                                        : "0.1*precomputed(it)";
}

/* "name(it, params)", "name(params)" or "name(kernel, kernel, params)". */
static void write_text(char *text, size_t most, const mcr_kernel_info *info, int children,
                       const zoo_breed *breed, const char *params)
{
    size_t used = (size_t)snprintf(text, most, "%s", info->name);
    const char *joint = "(";
    if (info->kinds != 0) {
        used += (size_t)snprintf(text + used, most - used, "%sit", joint);
        joint = ", ";
    }
    for (int c = 0; c < children; c++) {
        used += (size_t)snprintf(text + used, most - used, "%s%s", joint, inner(breed, c));
        joint = ", ";
    }
    if (params[0] != '\0') {
        used += (size_t)snprintf(text + used, most - used, "%s%s", joint, params);
        joint = ", ";
    }
    if (joint[0] == ',')
        used += (size_t)snprintf(text + used, most - used, ")");
    assert_true(used < most);
}

/* ---- trials -----------------------------------------------------------------------------------*/

mcr *zoo_open(const zoo_trial *trial, int threads)
{
    mcr *ctx = test_open(threads);
    if (trial->extra != NULL)
        test_ok(ctx, mcr_kernel_register(ctx, trial->extra));
    return ctx;
}

void zoo_forget(mcr *ctx)
{
    mcr_extensions_free(ctx);
}

/* Whether the expression can be computed on the breed; fails the test with the reason if not,
 * unless it is that the kernel wants no negative values. */
static bool fits(const zoo_trial *trial, const char *name)
{
    mcr *ctx = zoo_open(trial, 1);
    mcr_kernel *k = NULL;
    mcr_data *data = NULL;
    mcr_gram *gram = NULL;
    double values[64];
    test_ok(ctx, zoo_data(&data, ctx, trial->breed, 0, 8, 0));
    mcr_status status = mcr_kernel_parse(&k, ctx, trial->text);
    if (status == MCR_OK)
        status = mcr_gram_open(&gram, ctx, k, data, NULL);
    if (status == MCR_OK)
        status = mcr_gram_matrix(gram, values, 8);
    bool refused = status == MCR_BAD_DATA && trial->breed->negative &&
                   strstr(mcr_message(ctx), "negative") != NULL;
    if (status != MCR_OK && !refused)
        fail_msg("%s on %s: %s\nIf %s needs parameters, add a line for it to the table in "
                 "tests/conformance/zoo.c",
                 trial->text, trial->breed->name, mcr_message(ctx), name);
    mcr_gram_close(gram);
    mcr_data_free(data);
    mcr_kernel_free(k);
    test_close(ctx);
    return !refused;
}

/* one: on one breed only. */
static int64_t try_line(const mcr_kernel_info *info, int children, const char *params, int64_t cols,
                        bool one, zoo_with *with, zoo_trial *trial)
{
    char text[512];
    int64_t tried = 0;
    for (const zoo_breed *b = zoo_breeds; b->name != NULL; b++) {
        bool accepts = info->kinds == 0 ||
                       ((info->kinds & (int)b->kind) != 0 && (info->kinds & (int)b->against) != 0);
        if (!accepts || (cols != 0 && cols != b->cols) || (one && tried > 0))
            continue;
        write_text(text, sizeof text, info, children, b, params);
        trial->breed = b;
        trial->text = text;
        if (fits(trial, info->name)) {
            with(trial);
            tried++;
        }
    }
    return tried;
}

void zoo_try(int64_t number, const mcr_kernel_type *extra, zoo_with *with, void *user)
{
    zoo_trial trial = {.extra = extra, .user = user};
    mcr *ctx = zoo_open(&trial, 1);
    mcr_kernel_info info = MCR_INIT(mcr_kernel_info);
    if (extra != NULL)
        number = mcr_kernel_count(ctx) - 1;
    test_ok(ctx, mcr_kernel_describe(ctx, number, &info));
    const mcr_kernel_type *type = mcr_kernel_type_at(ctx, number);
    assert_ptr_equal(type->name, info.name);
    /* Two kernels in a combinator that takes several. */
    int children = type->min_children < 2 && type->max_children > 1 ? 2 : type->min_children;
    trial.leaf = type->max_children == 0;
    trial.indefinite = info.indefinite;
    int64_t tried = 0, lines = 0;
    for (int l = 0; l < LINES; l++)
        if (strcmp(table[l].kernel, info.name) == 0) {
            bool one = lines++ > 0 && test_brief();
            tried += try_line(&info, children, table[l].params, table[l].cols, one, with, &trial);
        }
    if (lines == 0)
        tried += try_line(&info, children, "", 0, extra != NULL && test_brief(), with, &trial);
    if (tried == 0)
        fail_msg(
            "%s accepts no kind of data that the conformance tests have; add one to zoo_breeds "
            "in tests/conformance/zoo.c",
            info.name);
    test_close(ctx);
}

/* ---- a test for each kernel -------------------------------------------------------------------*/

typedef struct numbered {
    int64_t number;
    zoo_with *with;
} numbered;

static void test_kernel(void **state)
{
    const numbered *it = *state;
    zoo_try(it->number, NULL, it->with, NULL);
}

int zoo_run(const char *group, zoo_with *with, const struct CMUnitTest *more, size_t count)
{
    mcr *ctx = NULL;
    if (mcr_open(&ctx, NULL) != MCR_OK)
        return 1;
    size_t kernels = (size_t)mcr_kernel_count(ctx);
    struct CMUnitTest *tests = calloc(kernels + count, sizeof *tests);
    numbered *it = calloc(kernels, sizeof *it);
    if (tests == NULL || it == NULL)
        return 1;
    for (size_t k = 0; k < kernels; k++) {
        mcr_kernel_info info = {.size = sizeof info, .name = "?"};
        (void)mcr_kernel_describe(ctx, (int64_t)k, &info);
        it[k] = (numbered){(int64_t)k, with};
        tests[k] = (struct CMUnitTest){info.name, test_kernel, NULL, NULL, &it[k]};
    }
    if (count > 0)
        memcpy(tests + kernels, more, count * sizeof *tests);
    if (getenv("CONFORM_ONLY") != NULL)
        cmocka_set_test_filter(getenv("CONFORM_ONLY"));
    int failed = _cmocka_run_group_tests(group, tests, kernels + count, NULL, NULL);
    free(tests);
    free(it);
    mcr_close(ctx);
    return failed;
}
