/* test_data_builder.c: building data sets from arrays; targets and classes; what fields hold.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "format_helpers.h"

#include <math.h>

#include "data/data.h"

static mcr_builder *open_builder(mcr *ctx, int64_t count)
{
    mcr_builder *b;
    test_ok(ctx, mcr_builder_open(&b, ctx, count));
    return b;
}

static mcr_data *finish(mcr *ctx, mcr_builder *b)
{
    mcr_data *data;
    test_ok(ctx, mcr_builder_finish(&data, b));
    return data;
}

static void builds_every_kind(void **state)
{
    mcr *ctx = *state;
    mcr_builder *b = open_builder(ctx, 2);
    const double dense[] = {1, 2, -9, 3, 4, -9};
    test_ok(ctx, mcr_builder_dense(b, "d", dense, 2, 3));
    test_ok(ctx, mcr_builder_sparse(b, "s", 5, (int64_t[]){0, 2, 3}, (int32_t[]){0, 4, 1},
                                    (double[]){7, 8, 9}));
    test_ok(ctx, mcr_builder_strings(b, "t", (int64_t[]){0, 3, 3}, "abc"));
    test_ok(ctx, mcr_builder_precomputed(b, "k", (double[]){1, 0.5, 0.5, 1}, 2, NULL));
    test_ok(ctx, mcr_builder_targets(b, (double[]){2, -1}));
    test_ok(ctx, mcr_builder_weights(b, (double[]){0, 1.5}));
    mcr_data *data = finish(ctx, b);
    double x[5];
    assert_int_equal(mcr_data_fields(data), 4);
    test_ok(ctx, mcr_data_vector(data, 0, 1, x));
    assert_true(x[0] == 3 && x[1] == 4);
    test_ok(ctx, mcr_data_vector(data, 1, 0, x));
    assert_true(x[0] == 7 && x[1] == 0 && x[4] == 8);
    same_string(data, 2, 0, "abc", 3);
    same_string(data, 2, 1, "", 0);
    test_ok(ctx, mcr_data_vector(data, 3, 1, x));
    assert_true(x[0] == 0.5 && x[1] == 1);
    assert_true(data->store[3]->id[1] == 1);
    assert_true(mcr_data_weights(data)[1] == 1.5);
    assert_int_equal(mcr_data_find(data, "tx", 1), 2);
    assert_int_equal(mcr_data_find(data, "tx", 2), -1);
    test_fails(ctx, mcr_data_vector(data, 2, 0, x), MCR_BAD_CALL,
               "field \"t\" does not contain vectors");
    test_fails(ctx, mcr_data_vector(data, 4, 0, x), MCR_BAD_CALL, "there is no field 4");
    test_fails(ctx, mcr_data_vector(data, 0, 2, x), MCR_BAD_CALL, "there is no object 2");
    const char *bytes;
    int64_t length;
    test_fails(ctx, mcr_data_string(data, 0, 0, &bytes, &length), MCR_BAD_CALL,
               "field \"d\" does not contain strings");
    mcr_data *again = mcr_data_retain(data);
    assert_ptr_equal(again, data);
    mcr_data_free(again);
    assert_int_equal(mcr_data_count(data), 2);
    mcr_data_free(data);
}

static void refuses_bad_arrays(void **state)
{
    mcr *ctx = *state;
    mcr_builder *b;
#define REFUSED(call, code, words)                                                                 \
    b = open_builder(ctx, 2);                                                                      \
    test_fails(ctx, (call), (code), (words));                                                      \
    mcr_builder_close(b)

    REFUSED(mcr_builder_dense(b, "d", (double[]){1, NAN}, 1, 1), MCR_BAD_DATA,
            "field \"d\", row 2, column 1: the value is not finite");
    REFUSED(mcr_builder_dense(b, "d", (double[]){1, 2}, 2, 1), MCR_BAD_CALL, "make no matrix");
    REFUSED(mcr_builder_dense(b, "d", (double[]){1, 2}, 0, 1), MCR_BAD_CALL, "make no matrix");
    REFUSED(mcr_builder_dense(b, "", (double[]){1, 2}, 1, 1), MCR_BAD_CALL, "a field needs a name");
    REFUSED(
        mcr_builder_sparse(b, "s", 3, (int64_t[]){0, 2, 2}, (int32_t[]){1, 1}, (double[]){1, 1}),
        MCR_BAD_DATA, "field \"s\", object 1: indices must be ascending");
    REFUSED(
        mcr_builder_sparse(b, "s", 3, (int64_t[]){0, 1, 2}, (int32_t[]){1, 3}, (double[]){1, 1}),
        MCR_BAD_DATA, "field \"s\", object 2: an index is too large");
    REFUSED(
        mcr_builder_sparse(b, "s", 3, (int64_t[]){0, 1, 2}, (int32_t[]){1, -1}, (double[]){1, 1}),
        MCR_BAD_DATA, "indices must be ascending");
    REFUSED(mcr_builder_sparse(b, "s", 3, (int64_t[]){0, 1, 2}, (int32_t[]){1, 1},
                               (double[]){1, INFINITY}),
            MCR_BAD_DATA, "not finite");
    REFUSED(mcr_builder_sparse(b, "s", 0, (int64_t[]){0, 0, 0}, NULL, NULL), MCR_BAD_DATA,
            "has 0 columns");
    REFUSED(mcr_builder_strings(b, "t", (int64_t[]){1, 1, 1}, "a"), MCR_BAD_DATA,
            "the first object must start at 0");
    REFUSED(mcr_builder_strings(b, "t", (int64_t[]){0, 2, 1}, "ab"), MCR_BAD_DATA,
            "field \"t\", object 2: it ends before it starts");
    REFUSED(mcr_builder_precomputed(b, "k", (double[]){1, 2, 3, 4}, 2, (int64_t[]){0, 2}),
            MCR_BAD_DATA, "object 2: its id is none of the reference objects");
    REFUSED(mcr_builder_graphs(b, "g", (int64_t[]){0, 2, 3}, NULL, (int64_t[]){0, 1, 2},
                               (const int32_t[][2]){{0, 1}, {0, 1}}, NULL),
            MCR_BAD_DATA, "field \"g\", object 2: edge (0, 1) leads to a node that does not exist");
    REFUSED(mcr_builder_targets(b, (double[]){1, INFINITY}), MCR_BAD_DATA,
            "object 2: the target is not finite");
    REFUSED(mcr_builder_words(b, (const char *[]){"a", ""}), MCR_BAD_DATA,
            "object 2 has an empty label");
    REFUSED(mcr_builder_words(b, (const char *[]){"1", "nan"}), MCR_BAD_DATA,
            "object 2: the target nan is not finite");
    REFUSED(mcr_builder_weights(b, (double[]){1, -1}), MCR_BAD_DATA,
            "object 2: a weight must be finite and not negative");
    REFUSED(mcr_builder_weights(b, (double[]){NAN, 1}), MCR_BAD_DATA, "object 1");
#undef REFUSED
    mcr_data *data;
    b = open_builder(ctx, 1);
    test_ok(ctx, mcr_builder_dense(b, "d", (double[]){1}, 1, 1));
    test_fails(ctx, mcr_builder_strings(b, "d", (int64_t[]){0, 0}, ""), MCR_BAD_DATA,
               "there are two fields called \"d\"");
    mcr_builder_close(b);
    test_fails(ctx, mcr_builder_finish(&data, open_builder(ctx, 3)), MCR_BAD_DATA,
               "a data set needs at least one field");
    assert_null(data);
    b = open_builder(ctx, -1);
    test_fails(ctx, mcr_builder_dense(b, "d", (double[]){1}, 1, 1), MCR_BAD_CALL,
               "without the number of objects");
    mcr_builder_close(b);
    test_fails(ctx, mcr_builder_open(&b, ctx, -2), MCR_BAD_CALL, "-2 objects");
    assert_null(b);
}

static void makes_empty_sets(void **state)
{
    mcr_builder *b = open_builder(*state, 0);
    test_ok(*state, mcr_builder_dense(b, "d", NULL, 3, 3));
    test_ok(*state, mcr_builder_targets(b, NULL));
    mcr_data *data = finish(*state, b);
    assert_int_equal(mcr_data_count(data), 0);
    assert_int_equal(mcr_data_classes(data), 0);
    mcr_data_free(data);
}

/* ---- classes ----------------------------------------------------------------------------------*/

static mcr_data *with_words(mcr *ctx, const char *const *words, int64_t count)
{
    mcr_builder *b = open_builder(ctx, count);
    double *x = calloc((size_t)count, sizeof *x);
    test_ok(ctx, mcr_builder_dense(b, "x", x, 1, 1));
    test_ok(ctx, mcr_builder_words(b, words));
    free(x);
    return finish(ctx, b);
}

static void orders_classes(void **state)
{
    mcr_data *data = with_words(*state, (const char *[]){"pear", "fig", "pear", "apple"}, 4);
    assert_int_equal(mcr_data_target_kind(data), MCR_WORD_TARGETS);
    assert_int_equal(mcr_data_classes(data), 3);
    assert_string_equal(mcr_data_class_name(data, 0), "pear");
    assert_string_equal(mcr_data_class_name(data, 1), "fig");
    assert_string_equal(mcr_data_class_name(data, 2), "apple");
    assert_null(mcr_data_class_name(data, 3));
    assert_null(mcr_data_class_name(data, -1));
    assert_memory_equal(mcr_data_class_of(data), ((int32_t[]){0, 1, 0, 2}), 16);
    assert_true(mcr_data_targets(data)[3] == 2);
    mcr_data_free(data);

    data = with_words(*state, (const char *[]){"10", "+9", "-3", "9.0", "1e1", "-0", "0"}, 7);
    assert_int_equal(mcr_data_target_kind(data), MCR_REAL_TARGETS);
    assert_int_equal(mcr_data_classes(data), 4);
    assert_string_equal(mcr_data_class_name(data, 0), "-3");
    assert_string_equal(mcr_data_class_name(data, 1), "0");
    assert_string_equal(mcr_data_class_name(data, 2), "9");
    assert_string_equal(mcr_data_class_name(data, 3), "10");
    assert_memory_equal(mcr_data_class_of(data), ((int32_t[]){3, 2, 0, 2, 3, 1, 1}), 28);
    assert_true(mcr_data_targets(data)[1] == 9);
    mcr_data_free(data);

    /* One word makes all of them words; "nan" is one then. */
    data = with_words(*state, (const char *[]){"1", "+1", "nan", "x"}, 4);
    assert_int_equal(mcr_data_classes(data), 4);
    assert_string_equal(mcr_data_class_name(data, 1), "+1");
    mcr_data_free(data);
}

/* More classes than the first tables hold, in every order. */
static void orders_many_classes(void **state)
{
    enum { N = 5000 };
    double *y = malloc(N * sizeof *y), *x = calloc(N, sizeof *x);
    for (int i = 0; i < N; i++)
        y[i] = (double)((i * 7919) % N) / 8 - 100;
    mcr_builder *b = open_builder(*state, N);
    test_ok(*state, mcr_builder_dense(b, "x", x, 1, 1));
    test_ok(*state, mcr_builder_targets(b, y));
    mcr_data *data = finish(*state, b);
    assert_int_equal(mcr_data_classes(data), N);
    for (int i = 0; i < N; i++) {
        assert_int_equal(mcr_data_class_of(data)[i], (i * 7919) % N);
        assert_true(strtod(mcr_data_class_name(data, mcr_data_class_of(data)[i]), NULL) == y[i]);
    }
    mcr_data_free(data);

    char(*text)[16] = malloc(N * sizeof *text);
    const char **words = malloc(N * sizeof *words);
    for (int i = 0; i < N; i++) {
        snprintf(text[i], sizeof *text, "w%d", i % 1700);
        words[i] = text[i];
    }
    data = with_words(*state, words, N);
    assert_int_equal(mcr_data_classes(data), 1700);
    for (int i = 0; i < N; i++)
        assert_int_equal(mcr_data_class_of(data)[i], i % 1700);
    mcr_data_free(data);
    free(words);
    free(text);
    free(x);
    free(y);
}

/* ---- graphs -----------------------------------------------------------------------------------*/

static void links_graphs(void **state)
{
    /* A triangle with a tail, given with repeats, both directions and a loop; two nodes without
     * an edge; nothing at all. */
    static const int64_t nodes[] = {0, 4, 6, 6}, edges[] = {0, 7, 7, 7};
    static const int32_t edge[][2] = {{2, 1}, {0, 1}, {1, 0}, {3, 2}, {0, 2}, {3, 3}, {0, 1}};
    static const int32_t edge_label[] = {5, 6, 7, 8, 9, 10, 11};
    static const int32_t node_label[] = {1, 1, 2, 3, 2, -4};
    mcr_builder *b = open_builder(*state, 3);
    test_ok(*state, mcr_builder_graphs(b, "g", nodes, node_label, edges, edge, edge_label));
    mcr_data *data = finish(*state, b);
    const mcr_store *s = data->store[0];
    assert_memory_equal(s->link, ((int64_t[]){0, 2, 4, 7, 9, 9, 9}), 7 * sizeof(int64_t));
    assert_memory_equal(s->adjacent, ((int32_t[]){1, 2, 0, 2, 0, 1, 3, 2, 3}), 36);
    /* (0,1) was named 6, 7 and 11: the first stands, at both ends. */
    assert_memory_equal(s->link_label, ((int32_t[]){6, 9, 6, 5, 9, 5, 8, 8, 10}), 36);
    mcr_field_info info = field_info(data, 0);
    assert_int_equal(info.nodes, 6);
    assert_int_equal(info.entries, 5);
    assert_int_equal(info.shortest, 0);
    assert_int_equal(info.longest, 4);
    assert_int_equal(info.alphabet, 4);
    assert_int_equal(info.edge_labels, 5);
    mcr_data_free(data);
}

/* Against the obvious way on random graphs. */
static void links_random_graphs(void **state)
{
    enum { NODES = 30, EDGES = 200 };
    unsigned random = 7;
    for (int round = 0; round < 50; round++) {
        bool matrix[NODES][NODES] = {{false}};
        int32_t edge[EDGES][2];
        for (int e = 0; e < EDGES; e++) {
            for (int k = 0; k < 2; k++) {
                random = random * 1664525 + 1013904223;
                edge[e][k] = (int32_t)(random >> 16) % NODES;
            }
            matrix[edge[e][0]][edge[e][1]] = matrix[edge[e][1]][edge[e][0]] = true;
        }
        mcr_builder *b = open_builder(*state, 1);
        test_ok(*state, mcr_builder_graphs(b, "g", (int64_t[]){0, NODES}, NULL,
                                           (int64_t[]){0, EDGES}, (const int32_t(*)[2])edge, NULL));
        mcr_data *data = finish(*state, b);
        const mcr_store *s = data->store[0];
        for (int v = 0; v < NODES; v++) {
            int64_t k = s->link[v];
            for (int u = 0; u < NODES; u++)
                if (matrix[v][u])
                    assert_int_equal(s->adjacent[k++], u);
            assert_int_equal(k, s->link[v + 1]);
        }
        mcr_data_free(data);
    }
}

/* ---- memory -----------------------------------------------------------------------------------*/

static mcr_status build_all(mcr *ctx, void *arg)
{
    mcr_builder *b;
    mcr_data *data;
    mcr_status status = mcr_builder_open(&b, ctx, 2);
    (void)arg;
    if (status != MCR_OK)
        return status;
    status = mcr_builder_dense(b, "d", (double[]){1, 2}, 1, 1);
    if (status == MCR_OK)
        status = mcr_builder_sparse(b, "s", 5, (int64_t[]){0, 2, 3}, (int32_t[]){0, 4, 1},
                                    (double[]){7, 8, 9});
    if (status == MCR_OK)
        status = mcr_builder_strings(b, "t", (int64_t[]){0, 3, 3}, "abc");
    if (status == MCR_OK)
        status = mcr_builder_precomputed(b, "k", (double[]){1, 2, 3, 4}, 2, NULL);
    if (status == MCR_OK)
        status = mcr_builder_graphs(b, "g", (int64_t[]){0, 2, 2}, (int32_t[]){1, 2},
                                    (int64_t[]){0, 1, 1}, (const int32_t[][2]){{0, 1}},
                                    (int32_t[]){3});
    if (status == MCR_OK)
        status = mcr_builder_targets(b, (double[]){2, -1});
    if (status == MCR_OK)
        status = mcr_builder_words(b, (const char *[]){"a", "b"});
    if (status == MCR_OK)
        status = mcr_builder_weights(b, (double[]){2, 1});
    if (status != MCR_OK) {
        mcr_builder_close(b);
        return status;
    }
    status = mcr_builder_finish(&data, b);
    mcr_field_info info = MCR_INIT(mcr_field_info);
    for (int64_t f = 0; f < 5 && status == MCR_OK; f++)
        status = mcr_data_field_info(data, f, &info);
    mcr_data_free(data);
    return status;
}

static void survives_short_memory(void **state)
{
    (void)state;
    test_sweep_allocations("builder", build_all, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(builds_every_kind, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(refuses_bad_arrays, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(makes_empty_sets, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(orders_classes, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(orders_many_classes, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(links_graphs, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(links_random_graphs, test_setup, test_teardown),
        cmocka_unit_test(survives_short_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
