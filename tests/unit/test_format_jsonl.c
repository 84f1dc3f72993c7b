/* test_format_jsonl.c: the reader of JSON lines.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "format_helpers.h"

#include "data/data.h"

static mcr_status read_options(mcr_data **out, mcr *ctx, const char *text,
                               const mcr_read_options *options)
{
    return mcr_data_read_memory(out, ctx, "f.jsonl", text, strlen(text), options);
}

static void read_good(mcr_data **out, mcr *ctx, const char *text)
{
    test_ok(ctx, read_options(out, ctx, text, NULL));
}

static void refuse(mcr *ctx, const char *text, const char *message)
{
    refuse_text(ctx, "f.jsonl", text, NULL, NULL, message);
}

static void reads_all_kinds(void **state)
{
    mcr_data *data;
    read_good(&data, *state,
              "{\"y\": 1, \"x\": [1, 2.5], \"sequence\": \"ACGT\", \"molecule\": "
              "{\"nodes\": [\"C\", \"O\"], \"edges\": [[0, 1]]}, \"weight\": 2}\n"
              "\n"
              "{\"weight\": 0.5, \"sequence\": \"\", \"x\": [-1e3, 0], \"molecule\": "
              "{\"edges\": [[2, 0], [0, 2]], \"nodes\": [\"O\", \"N\", \"C\"]}, \"y\": -1}");
    assert_int_equal(mcr_data_count(data), 2);
    assert_int_equal(mcr_data_fields(data), 3);
    assert_true(mcr_data_targets(data)[0] == 1 && mcr_data_targets(data)[1] == -1);
    assert_true(mcr_data_weights(data)[0] == 2 && mcr_data_weights(data)[1] == 0.5);
    mcr_field_info x = field_info(data, 0), sequence = field_info(data, 1);
    mcr_field_info molecule = field_info(data, 2);
    assert_string_equal(x.name, "x");
    assert_int_equal(x.kind, MCR_DENSE);
    assert_int_equal(x.cols, 2);
    double row[2];
    test_ok(*state, mcr_data_vector(data, 0, 1, row));
    assert_true(row[0] == -1000 && row[1] == 0);
    assert_string_equal(sequence.name, "sequence");
    same_string(data, 1, 0, "ACGT", 4);
    same_string(data, 1, 1, "", 0);
    assert_string_equal(molecule.name, "molecule");
    assert_int_equal(molecule.nodes, 5);
    assert_int_equal(molecule.entries, 2);
    assert_int_equal(molecule.alphabet, 3);
    const mcr_store *s = mcr_data_field(data, 2).store;
    static const int32_t labels[] = {0, 1, 1, 2, 0};
    assert_memory_equal(s->node_label, labels, sizeof labels);
    assert_int_equal(s->label_names, 3);
    assert_string_equal(s->label_name[1], "O");
    assert_null(s->link_label);
    mcr_data_free(data);
}

static void reads_numbers_as_columns(void **state)
{
    mcr_data *data;
    double row[3];
    read_good(&data, *state,
              "{\"age\": 3, \"label\": \"b\", \"ok\": true, \"s\": \"q\", \"z\": -1}\n"
              "{\"age\": 4, \"ok\": false, \"z\": 0.5, \"label\": \"a\", \"s\": \"\"}\n");
    assert_int_equal(mcr_data_fields(data), 2);
    assert_string_equal(field_info(data, 0).name, "x");
    assert_int_equal(field_info(data, 0).cols, 3);
    test_ok(*state, mcr_data_vector(data, 0, 0, row));
    assert_true(row[0] == 3 && row[1] == 1 && row[2] == -1);
    test_ok(*state, mcr_data_vector(data, 0, 1, row));
    assert_true(row[0] == 4 && row[1] == 0 && row[2] == 0.5);
    assert_string_equal(field_info(data, 1).name, "s");
    assert_string_equal(mcr_data_class_name(data, 0), "b");
    mcr_data_free(data);
    /* Beside a key "x" each number is a field for itself. */
    read_good(&data, *state,
              "{\"a\": 1, \"x\": \"t\", \"b\": 2}\n{\"a\": 3, \"x\": \"u\", \"b\": 4}\n");
    assert_int_equal(mcr_data_fields(data), 3);
    assert_string_equal(field_info(data, 0).name, "a");
    assert_int_equal(field_info(data, 0).cols, 1);
    assert_string_equal(field_info(data, 2).name, "b");
    test_ok(*state, mcr_data_vector(data, 2, 1, row));
    assert_true(row[0] == 4);
    assert_int_equal(mcr_data_target_kind(data), MCR_NO_TARGETS);
    mcr_data_free(data);
}

static void reads_sparse(void **state)
{
    mcr_data *data;
    double row[6];
    static const double first[] = {1.5, 0, 0, 0, -2, 0};
    read_good(&data, *state,
              "{\"v\": {\"i\": [0, 4], \"v\": [1.5, -2]}}\n"
              "{\"v\": {\"indices\": [], \"values\": []}}\n"
              "{\"v\": {\"i\": [5], \"v\": [1]}}\n");
    assert_int_equal(field_info(data, 0).kind, MCR_SPARSE);
    assert_int_equal(field_info(data, 0).cols, 6);
    assert_int_equal(field_info(data, 0).entries, 3);
    test_ok(*state, mcr_data_vector(data, 0, 0, row));
    assert_memory_equal(row, first, sizeof first);
    mcr_data_free(data);
    const char *wide = "{\"v\": {\"n\": 100, \"i\": [], \"v\": []}}\n";
    read_good(&data, *state, wide);
    assert_int_equal(field_info(data, 0).cols, 100);
    mcr_data_free(data);
    mcr_read_options options = {.size = sizeof options, .features = 50};
    test_ok(*state, read_options(&data, *state, "{\"v\": {\"i\": [7], \"v\": [1]}}\n", &options));
    assert_int_equal(field_info(data, 0).cols, 50);
    mcr_data_free(data);
}

static void reads_bytes(void **state)
{
    mcr_data *data;
    read_good(&data, *state,
              "{\"s\": \"\\u0000\\u00e9\"}\n{\"s\": {\"hex\": \"00fFe9\"}}\n"
              "{\"s\": {\"hex\": \"\"}}\n");
    same_string(data, 0, 0, "\0\xc3\xa9", 3);
    same_string(data, 0, 1, "\0\xff\xe9", 3);
    same_string(data, 0, 2, "", 0);
    mcr_data_free(data);
}

static void reads_graphs(void **state)
{
    mcr_data *data;
    read_good(&data, *state,
              "{\"g\": {\"nodes\": [3, -1], \"edges\": [[0, 1, 7], [1, 1, 8]]}}\n"
              "{\"g\": {\"nodes\": [], \"edges\": []}}\n");
    const mcr_store *s = mcr_data_field(data, 0).store;
    static const int32_t labels[] = {3, -1}, adjacent[] = {1, 0, 1}, link_labels[] = {7, 7, 8};
    assert_memory_equal(s->node_label, labels, sizeof labels);
    assert_memory_equal(s->adjacent, adjacent, sizeof adjacent);
    assert_memory_equal(s->link_label, link_labels, sizeof link_labels);
    assert_null(s->label_name);
    mcr_data_free(data);
    read_good(&data, *state,
              "{\"g\": {\"nodes\": 0, \"edges\": []}}\n"
              "{\"g\": {\"nodes\": 3, \"edges\": [[2, 0]]}}\n");
    assert_int_equal(field_info(data, 0).nodes, 3);
    assert_int_equal(field_info(data, 0).alphabet, 0);
    assert_null(mcr_data_field(data, 0).store->node_label);
    mcr_data_free(data);
}

static void reads_precomputed(void **state)
{
    mcr_data *data;
    read_good(&data, *state, "{\"K\": {\"k\": [1, 0.5]}}\n{\"K\": {\"k\": [0.5, 1]}}\n");
    const mcr_store *s = mcr_data_field(data, 0).store;
    assert_int_equal(s->kind, MCR_PRECOMPUTED);
    assert_true(s->id[0] == 0 && s->id[1] == 1);
    mcr_data_free(data);
    read_good(&data, *state, "{\"K\": {\"id\": 1, \"k\": [1, 0.5]}}\n");
    assert_int_equal(mcr_data_field(data, 0).store->id[0], 1);
    mcr_data_free(data);
    read_good(&data, *state, "{\"K\": {\"k\": [1, 0.5]}}\n");
    assert_int_equal(mcr_data_field(data, 0).store->id[0], -1);
    mcr_data_free(data);
}

static void finds_the_target(void **state)
{
    mcr_data *data;
    const char *text = "{\"class\": \"c\", \"label\": 5, \"w\": 3, \"a\": 7}\n";
    read_good(&data, *state, text);
    assert_true(mcr_data_targets(data)[0] == 5);
    assert_int_equal(mcr_data_fields(data), 2);
    mcr_data_free(data);
    mcr_read_options options = {.size = sizeof options, .target = "a", .weight = "w"};
    test_ok(*state, read_options(&data, *state, text, &options));
    assert_true(mcr_data_targets(data)[0] == 7);
    assert_true(mcr_data_weights(data)[0] == 3);
    mcr_data_free(data);
    options.target = "none";
    options.weight = NULL;
    test_ok(*state, read_options(&data, *state, text, &options));
    assert_int_equal(mcr_data_target_kind(data), MCR_NO_TARGETS);
    assert_int_equal(field_info(data, 1).cols, 3);
    mcr_data_free(data);
    options.target = "b";
    mcr_status status = read_options(&data, *state, text, &options);
    test_fails(*state, status, MCR_BAD_DATA, "f.jsonl:1: there is no key \"b\" for the target");
    options.target = NULL;
    options.weight = "v";
    status = read_options(&data, *state, text, &options);
    test_fails(*state, status, MCR_BAD_DATA, "f.jsonl:1: there is no key \"v\" for the weights");
    read_good(&data, *state, "{\"y\": true, \"a\": 1}\n{\"y\": false, \"a\": 1}\n");
    assert_string_equal(mcr_data_class_name(data, 0), "true");
    mcr_data_free(data);
}

static void refuses_lines(void **state)
{
    refuse(*state, "", "f.jsonl: the file is empty");
    refuse(*state, "\n \n", "f.jsonl:2: no objects: the file is empty");
    refuse(*state, "[1, 2]\n", "f.jsonl:1: column 1: a line should be one object in { }");
    refuse(*state, "{\"a\": 1}\n{\"a\": }\n",
           "f.jsonl:2: column 7: found '}' where a value was expected");
    refuse(*state, "{\"a\": 1}\n{\"a\": NaN}\n",
           "f.jsonl:2: column 7: found 'N' where a value was expected");
    refuse(*state, "{\n\"a\": 1}\n",
           "f.jsonl:1: column 2: the text ends where a key in quotes was expected");
    refuse(*state, "{\"a\": 1, \"b\": 2}\n{\"a\": 1}\n",
           "f.jsonl:2: column 1: key \"b\" is missing");
    refuse(*state, "{\"a\": 1}\n{\"a\": 1, \"b\": 2}\n",
           "f.jsonl:2: column 10: key \"b\" is not in the first line");
    refuse(*state, "{\"a\": 1, \"b\": 1}\n{\"a\": 1, \"a\": 2}\n",
           "f.jsonl:2: column 10: key \"a\" occurs twice");
    refuse(*state, "{\"a\": 1, \"a\": 1}\n", "f.jsonl:1: column 10: key \"a\" occurs twice");
    refuse(*state, "{\"\": 1}\n", "f.jsonl:1: column 2: a key that is empty or contains a NUL");
    refuse(*state, "{}\n", "f.jsonl: the objects have no key besides target and weight");
    refuse(*state, "{\"y\": 1}\n", "f.jsonl: the objects have no key besides target and weight");
    refuse(*state, "{\"a\\u0000b\": 1}\n",
           "f.jsonl:1: column 2: a key that is empty or contains a NUL");
    refuse(*state, "{\"a\": 1, \"b\": 2}\n{\"a\": null}\n",
           "f.jsonl:2: column 7: key \"a\": found null where a number was expected");
}

static void refuses_values(void **state)
{
    refuse(*state, "{\"a\": null}\n",
           "f.jsonl:1: column 7: key \"a\": found null where a value was expected");
    refuse(*state, "{\"a\": 1}\n{\"a\": null}\n",
           "f.jsonl:2: column 7: key \"a\": found null where a number was expected");
    refuse(*state, "{\"a\": \"s\"}\n{\"a\": 1}\n",
           "f.jsonl:2: column 7: key \"a\": found a number where a string was expected");
    refuse(*state, "{\"a\": [1]}\n{\"a\": 1}\n",
           "f.jsonl:2: column 7: key \"a\": found a number where an array of numbers was expected");
    refuse(*state, "{\"a\": [1, 2]}\n{\"a\": [1]}\n",
           "f.jsonl:2: column 7: key \"a\": 1 numbers, but 2 in the first line");
    refuse(*state, "{\"a\": [1, \"2\"]}\n",
           "f.jsonl:1: column 11: key \"a\": found a string where a number was expected");
    refuse(*state, "{\"a\": []}\n", "f.jsonl:1: column 7: key \"a\": the array is empty");
    refuse(
        *state, "{\"a\": {\"b\": 1}}\n",
        "f.jsonl:1: column 7: key \"a\": an object should have \"nodes\" and \"edges\" (a graph), "
        "\"i\" and \"v\" (a sparse vector), \"hex\" or \"k\"");
    refuse(*state, "{\"y\": 1, \"a\": 1}\n{\"y\": \"b\", \"a\": 1}\n",
           "f.jsonl:2: column 7: key \"y\": found a string where a number was expected");
    refuse(*state, "{\"y\": [1], \"a\": 1}\n",
           "f.jsonl:1: column 7: key \"y\": found an array where a number or a word was expected");
    refuse(*state, "{\"y\": \"\", \"a\": 1}\n",
           "f.jsonl:1: column 7: key \"y\": a label that is empty or contains a NUL");
    refuse(*state, "{\"weight\": -1, \"a\": 1}\n",
           "f.jsonl:1: column 12: key \"weight\": a weight may not be negative");
    refuse(*state, "{\"weight\": \"1\", \"a\": 1}\n",
           "f.jsonl:1: column 12: key \"weight\": found a string where a number was expected");
    refuse(*state, "{\"s\": {\"hex\": \"0\"}}\n",
           "f.jsonl:1: column 15: key \"s\": \"hex\" should be pairs of hexadecimal digits");
    refuse(
        *state, "{\"s\": {\"hex\": \"0g\"}}\n",
        "f.jsonl:1: column 15: key \"s\": \"hex\" has characters that are not hexadecimal digits");
    refuse(*state, "{\"K\": {\"k\": [1], \"id\": 1}}\n",
           "f.jsonl:1: column 24: key \"K\": \"id\" should be an integer from -1 to 0");
    refuse(*state, "{\"K\": {\"k\": [1], \"id\": 0}}\n{\"K\": {\"k\": [1]}}\n",
           "f.jsonl:2: column 7: key \"K\": \"id\" should be in all lines or in none");
    refuse(*state, "{\"y\": null, \"a\": 1}\n",
           "f.jsonl:1: column 7: key \"y\": found null where a number or a word was expected");
    refuse(*state, "{\"y\": \"a\\u0000\", \"a\": 1}\n",
           "f.jsonl:1: column 7: key \"y\": a label that is empty or contains a NUL");
    refuse(
        *state, "{\"s\": {\"hex\": \"g0\"}}\n",
        "f.jsonl:1: column 15: key \"s\": \"hex\" has characters that are not hexadecimal digits");
    refuse(*state, "{\"s\": {\"hex\": 12}}\n",
           "f.jsonl:1: column 15: key \"s\": \"hex\" should be pairs of hexadecimal digits");
    refuse(*state, "{\"s\": {\"hex\": \"00\", \"w\": 1}}\n",
           "f.jsonl:1: column 21: key \"s\": unknown member \"w\"");
    refuse(
        *state, "{\"K\": {\"k\": [1]}}\n{\"K\": {\"id\": 0}}\n",
        "f.jsonl:2: column 7: key \"K\": found an object where an object with \"k\" was expected");
    refuse(*state, "{\"K\": {\"k\": [1, 2]}}\n{\"K\": {\"k\": [1]}}\n",
           "f.jsonl:2: column 13: key \"K\": 1 numbers, but 2 in the first line");
    refuse(*state, "{\"K\": {\"k\": [1], \"id\": 0.5}}\n",
           "f.jsonl:1: column 24: key \"K\": \"id\" should be an integer from -1 to 0");
    refuse(*state, "{\"K\": {\"k\": [1], \"id\": -2}}\n",
           "f.jsonl:1: column 24: key \"K\": \"id\" should be an integer from -1 to 0");
}

static void refuses_sparse(void **state)
{
    refuse(*state, "{\"v\": {\"i\": [0]}}\n",
           "f.jsonl:1: column 7: key \"v\": a sparse vector is {\"i\": [..], \"v\": [..]}");
    refuse(*state, "{\"v\": {\"i\": [0], \"v\": []}}\n",
           "f.jsonl:1: column 7: key \"v\": 1 indices, but 0 values");
    refuse(*state, "{\"v\": {\"i\": [-1], \"v\": [1]}}\n",
           "f.jsonl:1: column 14: key \"v\": an index should be an integer from 0");
    refuse(*state, "{\"v\": {\"i\": [1, 1], \"v\": [1, 1]}}\n",
           "f.jsonl:1: column 17: key \"v\": index 1 after 1: indices must be ascending");
    refuse(*state, "{\"v\": {\"i\": [0], \"v\": [\"1\"]}}\n",
           "f.jsonl:1: column 24: key \"v\": found a string where a number was expected");
    refuse(*state, "{\"v\": {\"i\": [0], \"v\": [1], \"w\": 1}}\n",
           "f.jsonl:1: column 28: key \"v\": unknown member \"w\"");
    refuse(*state, "{\"v\": {\"i\": [0], \"v\": [1], \"indices\": [2]}}\n",
           "f.jsonl:1: column 7: key \"v\": a member occurs twice");
    refuse(*state, "{\"v\": {\"i\": [0], \"v\": [1], \"i\": [2]}}\n",
           "f.jsonl:1: column 7: key \"v\": a member occurs twice");
    refuse(*state, "{\"v\": {\"n\": 2, \"i\": [2], \"v\": [1]}}\n",
           "f.jsonl:1: column 22: key \"v\": index 2, but \"n\" is 2");
    refuse(*state, "{\"v\": {\"n\": 0, \"i\": [], \"v\": []}}\n",
           "f.jsonl:1: column 13: key \"v\": \"n\" should be a number of columns");
    refuse(*state,
           "{\"v\": {\"n\": 2, \"i\": [], \"v\": []}}\n{\"v\": {\"n\": 3, \"i\": [], \"v\": []}}\n",
           "f.jsonl:2: column 13: key \"v\": \"n\" is 3, but 2 in the first line");
    refuse(*state, "{\"v\": {\"n\": 2, \"i\": [], \"v\": []}}\n{\"v\": {\"i\": [], \"v\": []}}\n",
           "f.jsonl:2: column 7: key \"v\": \"n\" should be in all lines or in none");
    refuse(*state, "{\"v\": {\"i\": [0], \"v\": [1]}}\n{\"v\": {\"v\": [1]}}\n",
           "f.jsonl:2: column 7: key \"v\": a sparse vector is {\"i\": [..], \"v\": [..]}");
    refuse(*state, "{\"v\": {\"i\": 3, \"v\": [1]}}\n",
           "f.jsonl:1: column 7: key \"v\": a sparse vector is {\"i\": [..], \"v\": [..]}");
    refuse(*state, "{\"v\": {\"i\": [1], \"v\": 3}}\n",
           "f.jsonl:1: column 7: key \"v\": a sparse vector is {\"i\": [..], \"v\": [..]}");
    refuse(*state, "{\"v\": {\"i\": [0.5], \"v\": [1]}}\n",
           "f.jsonl:1: column 14: key \"v\": an index should be an integer from 0");
    refuse(*state, "{\"v\": {\"i\": [2147483647], \"v\": [1]}}\n",
           "f.jsonl:1: column 14: key \"v\": an index should be an integer from 0");
    refuse(*state, "{\"v\": {\"n\": 2.5, \"i\": [], \"v\": []}}\n",
           "f.jsonl:1: column 13: key \"v\": \"n\" should be a number of columns");
    refuse(*state, "{\"v\": {\"n\": 3000000000, \"i\": [], \"v\": []}}\n",
           "f.jsonl:1: column 13: key \"v\": \"n\" should be a number of columns");
}

static void refuses_graphs(void **state)
{
    refuse(*state, "{\"g\": {\"nodes\": 2}}\n",
           "f.jsonl:1: column 7: key \"g\": a graph is {\"nodes\": .., \"edges\": [..]}");
    refuse(
        *state, "{\"g\": {\"nodes\": -2, \"edges\": []}}\n",
        "f.jsonl:1: column 17: key \"g\": \"nodes\" should be a list of labels, or how many there "
        "are");
    refuse(*state, "{\"g\": {\"nodes\": 2, \"edges\": [[0, 2]]}}\n",
           "f.jsonl:1: column 34: key \"g\": there is no node 2; the graph has 2, numbered from 0");
    refuse(*state, "{\"g\": {\"nodes\": 2, \"edges\": [0, 1]}}\n",
           "f.jsonl:1: column 30: key \"g\": an edge is [a, b] or [a, b, label]");
    refuse(
        *state, "{\"g\": {\"nodes\": 2, \"edges\": [[0, 1], [1, 1, 1]]}}\n",
        "f.jsonl:1: column 38: key \"g\": all edges must be without labels, or all with labels of "
        "one kind");
    refuse(*state, "{\"g\": {\"nodes\": 2, \"edges\": [[0, 1, \"x\"]]}}\n",
           "f.jsonl:1: column 37: key \"g\": an edge's label should be an integer of 32 bits");
    refuse(*state, "{\"g\": {\"nodes\": 2, \"edges\": [[[0], 1]]}}\n",
           "f.jsonl:1: column 31: key \"g\": found an array where a node's number was expected");
    refuse(
        *state, "{\"g\": {\"nodes\": [\"C\", 1], \"edges\": []}}\n",
        "f.jsonl:1: column 23: key \"g\": all nodes must be without labels, or all with labels of "
        "one kind");
    refuse(
        *state,
        "{\"g\": {\"nodes\": [1], \"edges\": []}}\n{\"g\": {\"nodes\": 1, \"edges\": []}}\n",
        "f.jsonl:2: column 17: key \"g\": all nodes must be without labels, or all with labels of "
        "one kind");
    refuse(*state, "{\"g\": {\"nodes\": [1.5], \"edges\": []}}\n",
           "f.jsonl:1: column 18: key \"g\": a label should be a word or an integer of 32 bits");
    refuse(*state, "{\"g\": {\"nodes\": 9000000000000000000, \"edges\": []}}\n",
           "f.jsonl:1: column 17: key \"g\": so many nodes exceed the memory budget");
    refuse(*state, "{\"g\": {\"edges\": []}}\n",
           "f.jsonl:1: column 7: key \"g\": a graph is {\"nodes\": .., \"edges\": [..]}");
    refuse(*state, "{\"g\": {\"nodes\": 1, \"edges\": [], \"w\": 1}}\n",
           "f.jsonl:1: column 33: key \"g\": unknown member \"w\"");
    refuse(*state, "{\"g\": {\"nodes\": [null], \"edges\": []}}\n",
           "f.jsonl:1: column 18: key \"g\": found null where a node's label was expected");
    refuse(*state, "{\"g\": {\"nodes\": [\"a\\u0000\"], \"edges\": []}}\n",
           "f.jsonl:1: column 18: key \"g\": a label that contains a NUL");
    refuse(*state, "{\"g\": {\"nodes\": [-3000000000], \"edges\": []}}\n",
           "f.jsonl:1: column 18: key \"g\": a label should be a word or an integer of 32 bits");
    refuse(*state, "{\"g\": {\"nodes\": [3000000000], \"edges\": []}}\n",
           "f.jsonl:1: column 18: key \"g\": a label should be a word or an integer of 32 bits");
    refuse(*state, "{\"g\": {\"nodes\": 2.5, \"edges\": []}}\n",
           "f.jsonl:1: column 17: key \"g\": \"nodes\" should be a list of labels, or how many "
           "there are");
    refuse(*state, "{\"g\": {\"nodes\": \"CO\", \"edges\": []}}\n",
           "f.jsonl:1: column 17: key \"g\": \"nodes\" should be a list of labels, or how many "
           "there are");
    refuse(*state,
           "{\"g\": {\"nodes\": 3, \"edges\": []}}\n{\"g\": {\"nodes\": 9223372036854775807, "
           "\"edges\": []}}\n",
           "f.jsonl:2: column 17: key \"g\": so many nodes exceed the memory budget");
    refuse(*state, "{\"g\": {\"nodes\": 2, \"edges\": [12]}}\n",
           "f.jsonl:1: column 30: key \"g\": an edge is [a, b] or [a, b, label]");
    refuse(*state, "{\"g\": {\"nodes\": 2, \"edges\": [[0]]}}\n",
           "f.jsonl:1: column 30: key \"g\": an edge is [a, b] or [a, b, label]");
    refuse(*state, "{\"g\": {\"nodes\": 2, \"edges\": [[0, 1, 2, 3]]}}\n",
           "f.jsonl:1: column 30: key \"g\": an edge is [a, b] or [a, b, label]");
    refuse(*state, "{\"g\": {\"nodes\": 2, \"edges\": [[0.5, 1]]}}\n",
           "f.jsonl:1: column 31: key \"g\": found a number where a node's number was expected");
    refuse(
        *state, "{\"g\": {\"nodes\": 2, \"edges\": [[-1, 0]]}}\n",
        "f.jsonl:1: column 31: key \"g\": there is no node -1; the graph has 2, numbered from 0");
    refuse(*state, "{\"g\": {\"nodes\": 2, \"edges\": [[0, 1, -3000000000]]}}\n",
           "f.jsonl:1: column 37: key \"g\": an edge's label should be an integer of 32 bits");
    refuse(*state, "{\"g\": {\"nodes\": 2, \"edges\": [[0, 1, 3000000000]]}}\n",
           "f.jsonl:1: column 37: key \"g\": an edge's label should be an integer of 32 bits");
    refuse(*state, "{\"g\": {\"nodes\": 2, \"edges\": 3}}\n",
           "f.jsonl:1: column 29: key \"g\": found a number where an array of edges was expected");
}

/* 300 node words are more than the first table of words holds. */
static void numbers_many_words(void **state)
{
    char text[16000];
    size_t n = (size_t)snprintf(text, sizeof text, "{\"g\": {\"edges\": [], \"nodes\": [\"w0\"");
    for (int i = 1; i < 600; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, ", \"w%d\"", i % 300);
    snprintf(text + n, sizeof text - n, "]}}\n");
    mcr_data *data;
    read_good(&data, *state, text);
    const mcr_store *s = mcr_data_field(data, 0).store;
    assert_int_equal(s->label_names, 300);
    for (int i = 0; i < 600; i++)
        assert_int_equal(s->node_label[i], i % 300);
    assert_string_equal(s->label_name[299], "w299");
    mcr_data_free(data);
}

/* Whatever is blank may stand between lines, and a mark before the first one only. */
static void reads_blank_lines(void **state)
{
    mcr_data *data;
    read_good(&data, *state, "\xef\xbb\xbf{\"a\": 1}\n\t\n\r \n \n{\"a\": 2}\n");
    assert_int_equal(mcr_data_count(data), 2);
    mcr_data_free(data);
    refuse(*state, "{\"a\": 1}\n\xef\xbb\xbf{\"a\": 2}\n",
           "f.jsonl:2: column 1: found byte 0xef where a value was expected");
}

static void has_a_limit_of_keys(void **state)
{
    enum { KEYS = 4097, EACH = 12 };
    char *text = malloc(KEYS * EACH + 8);
    mcr_data *data;
    assert_non_null(text);
    for (int keys = KEYS; keys >= KEYS - 1; keys--) {
        size_t n = 0;
        for (int i = 0; i < keys; i++)
            n += (size_t)snprintf(text + n, EACH + 1, "%c\"%d\": 1", i ? ',' : '{', i);
        snprintf(text + n, 4, "}\n");
        mcr_status status = read_options(&data, *state, text, NULL);
        if (keys == KEYS) {
            test_fails(*state, status, MCR_BAD_DATA, "f.jsonl:1: more than 4096 keys");
        } else {
            test_ok(*state, status);
            assert_int_equal(field_info(data, 0).cols, keys);
            mcr_data_free(data);
        }
    }
    free(text);
}

static void reads_several_targets(void **state)
{
    mcr_data *data;
    const char *text = "{\"p\": 1, \"a\": 7, \"q\": -2}\n{\"q\": -4, \"p\": 3, \"a\": 8}\n";
    mcr_read_options options = {.size = sizeof options, .target = "q,p"};
    test_ok(*state, read_options(&data, *state, text, &options));
    const double *table = mcr_data_target_table(data);
    static const double wanted[] = {-2, 1, -4, 3};
    assert_int_equal(mcr_data_target_count(data), 2);
    assert_memory_equal(table, wanted, sizeof wanted);
    assert_int_equal(field_info(data, 0).cols, 1);
    mcr_data_free(data);
    options.target = "b,c";
    test_fails(*state, read_options(&data, *state, text, &options), MCR_BAD_DATA,
               "f.jsonl:1: there is no key \"b\" for the target");
    /* A key that is called so is no target. */
    options.target = "none";
    test_ok(*state, read_options(&data, *state, "{\"none\": 1, \"a\": 2}\n", &options));
    assert_int_equal(mcr_data_target_kind(data), MCR_NO_TARGETS);
    assert_int_equal(field_info(data, 0).cols, 2);
    mcr_data_free(data);
}

/* A number called "x", or a target, leaves the name to the field of the numbers. */
static void shares_the_name(void **state)
{
    mcr_data *data;
    mcr_read_options options = {.size = sizeof options};
    for (int target = 0; target < 2; target++) {
        options.target = target ? "x" : NULL;
        test_ok(*state, read_options(&data, *state, "{\"x\": 1, \"a\": 2, \"b\": 3}\n", &options));
        assert_int_equal(mcr_data_fields(data), 1);
        assert_string_equal(field_info(data, 0).name, "x");
        assert_int_equal(field_info(data, 0).cols, 3 - target);
        mcr_data_free(data);
    }
}

/* What is narrower than the model, and when it stays so. */
static void keeps_widths(void **state)
{
    mcr_data *data;
    mcr_read_options options = {.size = sizeof options, .features = 50};
    test_ok(*state, read_options(&data, *state, "{\"v\": {\"n\": 10, \"i\": [1], \"v\": [1]}}\n",
                                 &options));
    assert_int_equal(field_info(data, 0).cols, 10);
    mcr_data_free(data);
    test_ok(*state,
            read_options(&data, *state,
                         "{\"v\": {\"i\": [5], \"v\": [1]}, \"w\": {\"i\": [6], \"v\": [1]}}\n"
                         "{\"v\": {\"i\": [2], \"v\": [1]}, \"w\": {\"i\": [0], \"v\": [1]}}\n",
                         &options));
    assert_int_equal(field_info(data, 0).cols, 6);
    assert_int_equal(field_info(data, 1).cols, 7);
    mcr_data_free(data);
}

static void keeps_ids_and_kinds(void **state)
{
    mcr_data *data;
    read_good(&data, *state,
              "{\"K\": {\"k\": [1, 0.5], \"id\": 1}}\n{\"K\": {\"k\": [0.5, 1], \"id\": 0}}\n");
    assert_int_equal(mcr_data_field(data, 0).store->id[0], 1);
    assert_int_equal(mcr_data_field(data, 0).store->id[1], 0);
    mcr_data_free(data);
    /* A graph without nodes says nothing of labels. */
    read_good(
        &data, *state,
        "{\"g\": {\"nodes\": [\"C\"], \"edges\": []}}\n{\"g\": {\"nodes\": 0, \"edges\": []}}\n");
    assert_int_equal(mcr_data_field(data, 0).store->label_names, 1);
    mcr_data_free(data);
    read_good(&data, *state,
              "{\"g\": {\"nodes\": [], \"edges\": []}}\n{\"g\": {\"nodes\": 2, \"edges\": []}}\n");
    assert_null(mcr_data_field(data, 0).store->node_label);
    mcr_data_free(data);
}

/* More nodes than the budget holds, in 60 bytes. */
static void looks_at_the_budget(void **state)
{
    mcr *ctx;
    mcr_data *data;
    mcr_config config = {.size = sizeof config, .memory_bytes = (size_t)16 << 20};
    (void)state;
    assert_int_equal(mcr_open(&ctx, &config), MCR_OK);
    const char *text = "{\"g\": {\"nodes\": 100000000, \"edges\": []}}\n";
    test_fails(ctx, read_options(&data, ctx, text, NULL), MCR_BAD_DATA,
               "so many nodes exceed the memory budget");
    mcr_close(ctx);
}

/* A file that cannot be unpacked to its end has no fewer objects. */
static void refuses_cut_files(void **state)
{
    unsigned char packed[256];
    mcr_data *data;
    size_t count = pack_text(packed, "{\"a\": 1}\n{\"a\": 2}\n");
    test_ok(*state, mcr_data_read_memory(&data, *state, "f.jsonl.gz", packed, count, NULL));
    assert_int_equal(mcr_data_count(data), 2);
    mcr_data_free(data);
    test_fails(*state, mcr_data_read_memory(&data, *state, "f.jsonl.gz", packed, count - 1, NULL),
               MCR_BAD_DATA, "damaged gzip");
    /* Six parts are more than is unpacked at a time: the fault comes behind many good lines. */
    enum { LINES = 5000, BYTES = 12, PARTS = 6 };
    char *text = malloc(LINES * BYTES + 1);
    unsigned char *file = malloc(PARTS * (LINES * BYTES + 23));
    assert_true(text && file);
    for (int i = 0; i < LINES; i++)
        snprintf(text + i * BYTES, BYTES + 1, "{\"a\": %4d}\n", i);
    size_t part = pack_text(file, text);
    for (size_t i = 1; i < PARTS; i++)
        memcpy(file + i * part, file, part);
    test_ok(*state, mcr_data_read_memory(&data, *state, "f.jsonl.gz", file, PARTS * part, NULL));
    assert_int_equal(mcr_data_count(data), PARTS * LINES);
    mcr_data_free(data);
    test_fails(*state,
               mcr_data_read_memory(&data, *state, "f.jsonl.gz", file, PARTS * part - 1, NULL),
               MCR_BAD_DATA, "damaged gzip: the file ends early");
    assert_null(data);
    free(file);
    free(text);
}

static void is_detected(void **state)
{
    static const char *const text[] = {"{\"a\": 1}\n",          " {\"a\": 1}\n",  "\t{\"a\": 1}\n",
                                       "\n{\"a\": 1}\n",        "\r\n{\"a\": 1}", "\r{\"a\": 1}\n",
                                       "\xef\xbb\xbf{\"a\": 1}"};
    mcr_data *data;
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
        test_ok(*state, read_text(&data, *state, "f", text[i], strlen(text[i]), NULL, NULL));
        assert_int_equal(mcr_data_count(data), 1);
        assert_string_equal(field_info(data, 0).name, "x");
        mcr_data_free(data);
    }
    test_ok(*state, read_text(&data, *state, "f", "a,b\n1,2\n3,4\n", 12, NULL, "none"));
    assert_int_equal(field_info(data, 0).cols, 2);
    mcr_data_free(data);
}

static mcr_status sweep(mcr *ctx, void *arg)
{
    (void)arg;
    char text[20000];
    size_t n = 0;
    for (int i = 0; i < 40; i++)
        n += (size_t)snprintf(text + n, sizeof text - n,
                              "{\"weight\": %d, \"y\": \"c%d\", \"a\": %d, \"b\": [1, 2], \"s\": "
                              "\"t\\n\", \"h\": {\"hex\": \"00ff00ff\"}, \"v\": {\"i\": [%d], "
                              "\"v\": [1]}, \"K\": {\"k\": [1]}, "
                              "\"g\": {\"nodes\": [\"n%d\", \"n\"], \"edges\": [[0, 1, 2]]}}\n",
                              i, i % 3, i, i, i);
    mcr_data *data = NULL;
    mcr_status status = read_text(&data, ctx, "f", text, n, "jsonl", NULL);
    mcr_data_free(data);
    return status;
}

static mcr_status sweep_targets(mcr *ctx, void *arg)
{
    const char *text = arg;
    mcr_data *data = NULL;
    mcr_status status = read_text(&data, ctx, "f", text, strlen(text), "jsonl", "p,q");
    mcr_data_free(data);
    return status;
}

static void survives_no_memory(void **state)
{
    char text[] = "{\"p\": 1, \"q\": 2, \"a\": 3}\n";
    (void)state;
    test_sweep_allocations("jsonl with targets", sweep_targets, text);
    assert_true(test_sweep_allocations("jsonl", sweep, NULL) > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(reads_all_kinds, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(reads_numbers_as_columns, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(reads_sparse, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(reads_bytes, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(reads_graphs, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(reads_precomputed, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(finds_the_target, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(refuses_lines, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(refuses_values, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(refuses_sparse, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(refuses_graphs, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(numbers_many_words, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(reads_blank_lines, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(has_a_limit_of_keys, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(reads_several_targets, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(shares_the_name, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(keeps_widths, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(keeps_ids_and_kinds, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(looks_at_the_budget, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(refuses_cut_files, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(is_detected, test_setup, test_teardown),
        cmocka_unit_test(survives_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
