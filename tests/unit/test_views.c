/* test_views.c: views of some rows, views of views, joining data sets.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "format_helpers.h"

#include "data/data.h"

enum { N = 6 };

/* Six objects with every kind of field; word i % 3 as target unless `real`. */
static mcr_status make_all(mcr_data **out, mcr *ctx, bool real, double weight)
{
    static const char *const words[N] = {"c", "a", "b", "c", "a", "b"};
    static const double y[N] = {5, 3, 4, 5, 3, 4};
    double dense[2 * N], weights[N];
    for (int i = 0; i < N; i++) {
        dense[2 * i] = i;
        dense[2 * i + 1] = -i;
        weights[i] = weight + i;
    }
    *out = NULL;
    mcr_builder *b;
    mcr_status status = mcr_builder_open(&b, ctx, N);
    if (status != MCR_OK)
        return status;
    status = mcr_builder_dense(b, "d", dense, 2, 2);
    if (status == MCR_OK)
        status = mcr_builder_sparse(b, "s", 8, (int64_t[]){0, 1, 2, 2, 4, 5, 6},
                                    (int32_t[]){0, 1, 3, 7, 4, 5}, (double[]){1, 2, 3, 4, 5, 6});
    if (status == MCR_OK)
        status = mcr_builder_strings(b, "t", (int64_t[]){0, 1, 3, 3, 6, 10, 15}, "abbcccddddeeeee");
    if (status == MCR_OK)
        status = mcr_builder_graphs(
            b, "g", (int64_t[]){0, 1, 3, 3, 6, 7, 8}, (int32_t[]){1, 2, 2, 3, 3, 3, 4, 4},
            (int64_t[]){0, 0, 1, 1, 3, 3, 4}, (const int32_t[][2]){{0, 1}, {0, 1}, {2, 1}, {0, 0}},
            (int32_t[]){7, 8, 9, 7});
    if (status == MCR_OK)
        status = mcr_builder_precomputed(b, "k", dense, 2, (int64_t[]){0, 1, -1, -1, -1, -1});
    if (status == MCR_OK)
        status = real ? mcr_builder_targets(b, y) : mcr_builder_words(b, words);
    if (status == MCR_OK && weight >= 0)
        status = mcr_builder_weights(b, weights);
    if (status == MCR_OK)
        return mcr_builder_finish(out, b);
    mcr_builder_close(b);
    return status;
}

/* Object i of the view is object j of the data that make_all made. */
static void expect_object(const mcr_data *view, int64_t i, int64_t j)
{
    static const char *const strings[N] = {"a", "bb", "", "ccc", "dddd", "eeeee"};
    static const char *const words[N] = {"c", "a", "b", "c", "a", "b"};
    double x[8];
    assert_int_equal(mcr_data_vector(view, 0, i, x), MCR_OK);
    assert_true(x[0] == (double)j && x[1] == (double)-j);
    assert_int_equal(mcr_data_vector(view, 1, i, x), MCR_OK);
    for (int c = 0; c < 8; c++) {
        static const double row[N][8] = {
            {1}, {0, 2}, {0}, {0, 0, 0, 3, 0, 0, 0, 4}, {0, 0, 0, 0, 5}, {0, 0, 0, 0, 0, 6}};
        assert_true(x[c] == row[j][c]);
    }
    same_string(view, 2, i, strings[j], strlen(strings[j]));
    mcr_field g = mcr_data_field(view, 3);
    int64_t at = mcr_field_at(&g, i), nodes = g.store->start[at + 1] - g.store->start[at];
    assert_int_equal(nodes, ((int64_t[]){1, 2, 0, 3, 1, 1})[j]);
    int64_t first = g.store->start[at], links = g.store->link[first + nodes] - g.store->link[first];
    assert_int_equal(links, ((int64_t[]){0, 2, 0, 4, 0, 1})[j]);
    if (nodes > 0)
        assert_int_equal(g.store->node_label[first], ((int32_t[]){1, 2, 0, 3, 4, 4})[j]);
    if (links > 0)
        assert_int_equal(g.store->link_label[g.store->link[first]],
                         ((int32_t[]){0, 7, 0, 8, 0, 7})[j]);
    mcr_field k = mcr_data_field(view, 4);
    assert_int_equal(k.store->id[mcr_field_at(&k, i)], j < 2 ? j : -1);
    assert_string_equal(mcr_data_class_name(view, mcr_data_class_of(view)[i]), words[j]);
    assert_true(mcr_data_targets(view)[i] == mcr_data_class_of(view)[i]);
    assert_true(mcr_data_weights(view)[i] == 1 + (double)j);
}

static void selects(void **state)
{
    mcr_data *data, *range, *picked, *again;
    test_ok(*state, make_all(&data, *state, false, 1));
    test_ok(*state, mcr_data_select(&range, data, (mcr_rows){NULL, 2, 3}));
    assert_null(range->rows);
    const int64_t index[] = {2, 0, 2, 1};
    test_ok(*state, mcr_data_select(&picked, range, (mcr_rows){index, 0, 4}));
    mcr_data_free(data); /* a view keeps what it needs */
    assert_int_equal(mcr_data_count(range), 3);
    for (int64_t i = 0; i < 3; i++)
        expect_object(range, i, i + 2);
    mcr_data_free(range);
    for (int64_t i = 0; i < 4; i++)
        expect_object(picked, i, index[i] + 2);
    test_ok(*state, mcr_data_select(&again, picked, (mcr_rows){(int64_t[]){3, 0}, 0, 2}));
    expect_object(again, 0, 3);
    expect_object(again, 1, 4);
    assert_null(again->rows); /* stored rows 3, 4 follow one another */
    assert_int_equal(again->first, 3);
    /* Classes keep the parent's numbers, also those that no object has. */
    assert_int_equal(mcr_data_classes(again), 3);
    assert_string_equal(mcr_data_class_name(again, 2), "b");
    mcr_field_info info = field_info(again, 2);
    assert_int_equal(info.entries, 7);
    assert_int_equal(info.alphabet, 2);
    assert_int_equal(field_info(again, 1).entries, 3);
    assert_int_equal(field_info(again, 3).nodes, 4);
    assert_int_equal(field_info(again, 3).entries, 2);
    assert_int_equal(field_info(again, 3).alphabet, 2);
    mcr_data_free(picked);
    mcr_data_free(again);
}

static void selects_nothing_and_refuses(void **state)
{
    mcr_data *data, *view;
    test_ok(*state, make_all(&data, *state, true, -1));
    test_ok(*state, mcr_data_select(&view, data, (mcr_rows){NULL, 6, 0}));
    assert_int_equal(mcr_data_count(view), 0);
    assert_int_equal(mcr_data_classes(view), 3);
    mcr_data_free(view);
    const mcr_rows bad[] = {{NULL, 0, 7},           {NULL, -1, 2}, {NULL, 6, 1},
                            {NULL, INT64_MAX, 2},   {NULL, 0, -1}, {(int64_t[]){0, 6}, 0, 2},
                            {(int64_t[]){-1}, 0, 1}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        test_fails(*state, mcr_data_select(&view, data, bad[i]), MCR_BAD_CALL, "cannot select");
        assert_null(view);
    }
    mcr_data_free(data);
}

/* ---- joining ----------------------------------------------------------------------------------*/

static void joins(void **state)
{
    mcr_data *data, *view, *joint;
    test_ok(*state, make_all(&data, *state, false, 1));
    const int64_t index[] = {5, 3, 1};
    test_ok(*state, mcr_data_select(&view, data, (mcr_rows){index, 0, 3}));
    test_ok(*state, mcr_data_concat(&joint, (const mcr_data *[]){view, data, view}, 3));
    mcr_data_free(view);
    mcr_data_free(data);
    assert_int_equal(mcr_data_count(joint), 12);
    for (int64_t i = 0; i < 3; i++) {
        expect_object(joint, i, index[i]);
        expect_object(joint, 9 + i, index[i]);
    }
    for (int64_t i = 0; i < N; i++)
        expect_object(joint, 3 + i, i);
    /* First appearance, now from the joint set. */
    assert_string_equal(mcr_data_class_name(joint, 0), "b");
    for (int64_t f = 0; f < 5; f++)
        test_ok(*state, mcr_store_check(joint->store[f]));
    mcr_data_free(joint);
}

static mcr_data *read_one(mcr *ctx, const char *text, const char *format)
{
    mcr_data *data;
    test_ok(ctx, read_text(&data, ctx, "f", text, strlen(text), format, NULL));
    return data;
}

static mcr_status join_texts(mcr_data **out, mcr *ctx, const char *a, const char *b,
                             const char *format)
{
    mcr_data *x = read_one(ctx, a, format), *z = read_one(ctx, b, format);
    mcr_status status = mcr_data_concat(out, (const mcr_data *[]){x, z}, 2);
    mcr_data_free(x);
    mcr_data_free(z);
    return status;
}

static void joins_what_differs(void **state)
{
    mcr *ctx = *state;
    mcr_data *joint;
    test_ok(ctx, join_texts(&joint, ctx, "1 2:1\n", "3 5:1\n2 1:1\n", "libsvm"));
    assert_int_equal(field_info(joint, 0).cols, 5);
    assert_int_equal(mcr_data_classes(joint), 3);
    assert_memory_equal(mcr_data_class_of(joint), ((int32_t[]){0, 2, 1}), 12);
    mcr_data_free(joint);
    test_ok(ctx, join_texts(&joint, ctx, "7 2:1\n", "w 5:1\n", "libsvm"));
    assert_int_equal(mcr_data_target_kind(joint), MCR_WORD_TARGETS);
    assert_string_equal(mcr_data_class_name(joint, 0), "7");
    mcr_data_free(joint);
    /* Node labels that are words in one part and numbers in the other. */
    test_ok(ctx, join_texts(&joint, ctx, "{\"g\":{\"nodes\":[\"C\",\"8\"],\"edges\":[]}}\n",
                            "{\"g\":{\"nodes\":[8,9],\"edges\":[[0,1]]}}\n", "jsonl"));
    const mcr_store *s = joint->store[0];
    assert_memory_equal(s->node_label, ((int32_t[]){0, 1, 1, 2}), 16);
    assert_int_equal(s->label_names, 3);
    assert_string_equal(s->label_name[2], "9");
    mcr_data_free(joint);
    /* Weights: 1 where a part has none. */
    mcr_data *plain, *heavy;
    test_ok(ctx, make_all(&plain, ctx, true, -1));
    test_ok(ctx, make_all(&heavy, ctx, true, 3));
    test_ok(ctx, mcr_data_concat(&joint, (const mcr_data *[]){plain, heavy}, 2));
    assert_true(mcr_data_weights(joint)[0] == 1 && mcr_data_weights(joint)[N] == 3);
    mcr_data_free(plain);
    mcr_data_free(heavy);
    mcr_data_free(joint);
}

static void refuses_to_join(void **state)
{
    mcr *ctx = *state;
    mcr_data *joint;
    test_fails(ctx, join_texts(&joint, ctx, "1,2,3\n", "1,2\n", "csv"), MCR_BAD_DATA,
               "cannot join: field \"x\" has 2 columns in one part and 1 in another");
    assert_null(joint);
    test_fails(ctx, join_texts(&joint, ctx, "a,b,y\nfoo,1,1\n", "1,2\n", "csv"), MCR_BAD_DATA,
               "cannot join: only one part has a column \"a\"");
    test_fails(ctx, join_texts(&joint, ctx, "a,y\nfoo,1\n", "b,y\nfoo,1\n", "csv"), MCR_BAD_DATA,
               "cannot join: field \"a\" is missing in a part");
    test_fails(ctx, join_texts(&joint, ctx, "{\"a\":[1]}\n", "{\"a\":\"s\"}\n", "jsonl"),
               MCR_BAD_DATA, "cannot join: field \"a\" is not of the same kind in all");
    test_fails(ctx, join_texts(&joint, ctx, "{\"a\":[1],\"y\":1}\n", "{\"a\":[1]}\n", "jsonl"),
               MCR_BAD_DATA, "cannot join: only some parts have targets");
    test_fails(ctx,
               join_texts(&joint, ctx, "{\"g\":{\"nodes\":[1],\"edges\":[]}}\n",
                          "{\"g\":{\"nodes\":1,\"edges\":[]}}\n", "jsonl"),
               MCR_BAD_DATA, "cannot join: field \"g\" has node labels in some parts only");
    assert_int_equal(mcr_data_concat(&joint, NULL, 0), MCR_BAD_CALL);
}

/* ---- memory -----------------------------------------------------------------------------------*/

static mcr_status select_and_join(mcr *ctx, void *arg)
{
    (void)arg;
    mcr_data *data, *view = NULL, *joint = NULL;
    mcr_status status = make_all(&data, ctx, false, 1);
    if (status == MCR_OK)
        status = mcr_data_select(&view, data, (mcr_rows){(int64_t[]){4, 1, 1}, 0, 3});
    if (status == MCR_OK)
        status = mcr_data_concat(&joint, (const mcr_data *[]){data, view}, 2);
    mcr_data_free(data);
    mcr_data_free(view);
    mcr_data_free(joint);
    return status;
}

static void survives_short_memory(void **state)
{
    (void)state;
    test_sweep_allocations("select and concat", select_and_join, NULL);
}

/* Copies of the six objects, 200 times, stored again and again: six remain, with every kind of
 * field. */
static void merges_equal_objects(void **state)
{
    enum { COPIES = 200 };
    mcr *ctx = *state;
    mcr_data *six, *parts[COPIES], *all, *merged;
    test_ok(ctx, make_all(&six, ctx, false, 1));
    for (int c = 0; c < COPIES; c++)
        parts[c] = six;
    test_ok(ctx, mcr_data_concat(&all, (const mcr_data *const *)parts, COPIES));
    int64_t where[COPIES * N];
    test_ok(ctx, mcr_data_merge(&merged, all, true, where));
    assert_non_null(merged);
    /* Objects 0 and 1 of each copy are one; those without a number in the kernel stay apart. */
    assert_int_equal(mcr_data_count(merged), 2 + 4 * COPIES);
    assert_true(mcr_data_weights(merged)[0] == COPIES && mcr_data_weights(merged)[1] == 2 * COPIES);
    for (int c = 0; c < COPIES; c++)
        assert_true(where[c * N] == 0 && where[c * N + 1] == 1 && where[c * N + 2] >= 2);
    double x[2];
    test_ok(ctx, mcr_data_vector(merged, 0, 1, x));
    assert_true(x[0] == 1 && x[1] == -1);
    mcr_data_free(merged);
    mcr_data_free(all);
    mcr_data_free(six);
}

static void merge_words(mcr *ctx, const char *const *words, int64_t n, int64_t expected)
{
    enum { MOST = 2000 };
    mcr_builder *b;
    mcr_data *data, *merged;
    int64_t start[MOST + 1] = {0}, where[MOST];
    char text[MOST * 4] = "";
    const char *label[MOST];
    for (int64_t i = 0; i < n; i++) {
        label[i] = i % 4 < 2 ? "a" : "b";
        start[i + 1] = start[i] + (int64_t)strlen(words[i % 6]);
        memcpy(text + start[i], words[i % 6], strlen(words[i % 6]));
    }
    test_ok(ctx, mcr_builder_open(&b, ctx, n));
    test_ok(ctx, mcr_builder_strings(b, "t", start, text));
    test_ok(ctx, mcr_builder_words(b, label));
    test_ok(ctx, mcr_builder_finish(&data, b));
    test_ok(ctx, mcr_data_merge(&merged, data, true, where));
    assert_int_equal(merged ? mcr_data_count(merged) : 0, expected);
    for (int64_t i = 0; i < n && merged; i++)
        assert_int_equal(where[i], i < 12 ? where[i] : where[i % 12]);
    mcr_data_free(merged);
    mcr_data_free(data);
}

static void merges_by_value_and_class(void **state)
{
    static const char *const words[6] = {"a", "ab", "", "b", "ba", "abc"};
    static const char *const equal[6] = {"a", "a", "a", "a", "a", "a"};
    merge_words(*state, words, 1200, 12); /* six strings, each of both classes */
    merge_words(*state, words, 900, 0);   /* too few to be worth it */
    merge_words(*state, equal, 1200, 0);  /* each class would be one object */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(selects, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(selects_nothing_and_refuses, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(joins, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(joins_what_differs, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(refuses_to_join, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(merges_equal_objects, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(merges_by_value_and_class, test_setup, test_teardown),
        cmocka_unit_test(survives_short_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
