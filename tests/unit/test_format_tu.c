/* test_format_tu.c: the reader of TU graph sets.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "format_helpers.h"

#include "data/data.h"

/* A set in a directory; a part that is NULL is not written. */
typedef struct set {
    const char *a, *indicator, *graph_labels, *node_labels, *edge_labels, *graph_attributes;
} set;

static void write_part(const char *folder, const char *part, const char *text)
{
    char path[512];
    if (!text)
        return;
    snprintf(path, sizeof path, "%s/DS_%s.txt", folder, part);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* The same as gzip, whose last bytes are left out. */
static void write_packed(const char *folder, const char *part, const char *text, size_t less)
{
    char path[512];
    unsigned char packed[256];
    size_t count = pack_text(packed, text) - less;
    snprintf(path, sizeof path, "%s/DS_%s.txt.gz", folder, part);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fwrite(packed, 1, count, file);
    fclose(file);
}

static mcr_status read_set(mcr_data **out, mcr *ctx, const set *s, const char *target, char *folder)
{
    test_make_directory(folder);
    write_part(folder, "A", s->a);
    write_part(folder, "graph_indicator", s->indicator);
    write_part(folder, "graph_labels", s->graph_labels);
    write_part(folder, "node_labels", s->node_labels);
    write_part(folder, "edge_labels", s->edge_labels);
    write_part(folder, "graph_attributes", s->graph_attributes);
    mcr_read_options options = {.size = sizeof options, .target = target};
    mcr_status status = mcr_data_read(out, ctx, folder, &options);
    test_remove_directory(folder);
    return status;
}

/* A path of three nodes and a loop; two nodes with an edge listed twice each way. */
static const set good = {
    .a = "1, 2\n2, 1\n2,3\n 3 , 2 \n3, 3\n5, 4\n4, 5\n5, 4\n4, 5\n",
    .indicator = "1\n1\n1\n2\n2\n",
    .graph_labels = "1\n-1\n",
    .node_labels = "7\n8\n7\n-2\n8\n",
    .edge_labels = "0\n0\n1\n1\n2\n3\n3\n3\n3\n",
};

static void reads(void **state)
{
    char folder[256];
    mcr_data *data;
    test_ok(*state, read_set(&data, *state, &good, NULL, folder));
    assert_int_equal(mcr_data_count(data), 2);
    assert_int_equal(mcr_data_fields(data), 1);
    mcr_field_info info = field_info(data, 0);
    assert_string_equal(info.name, "graph");
    assert_int_equal(info.kind, MCR_GRAPHS);
    assert_int_equal(info.nodes, 5);
    assert_int_equal(info.entries, 4);
    assert_int_equal(info.alphabet, 3);
    assert_int_equal(info.edge_labels, 4);
    const mcr_store *s = mcr_data_field(data, 0).store;
    static const int64_t link[] = {0, 1, 3, 5, 6, 7};
    static const int32_t adjacent[] = {1, 0, 2, 1, 2, 1, 0}, label[] = {0, 0, 1, 1, 2, 3, 3};
    assert_memory_equal(s->link, link, sizeof link);
    assert_memory_equal(s->adjacent, adjacent, sizeof adjacent);
    assert_memory_equal(s->link_label, label, sizeof label);
    assert_int_equal(s->node_label[3], -2);
    assert_null(s->label_name);
    assert_true(mcr_data_targets(data)[0] == 1 && mcr_data_targets(data)[1] == -1);
    mcr_data_free(data);
}

static void reads_with_less(void **state)
{
    char folder[256];
    mcr_data *data;
    set s = {.a = "", .indicator = "1\n2\n2\n\n", .graph_attributes = "0.5\n-1e3\n"};
    test_ok(*state, read_set(&data, *state, &s, NULL, folder));
    assert_int_equal(mcr_data_count(data), 2);
    assert_int_equal(field_info(data, 0).entries, 0);
    assert_int_equal(field_info(data, 0).alphabet, 0);
    assert_true(mcr_data_targets(data)[0] == 0.5 && mcr_data_targets(data)[1] == -1000);
    mcr_data_free(data);
    s.graph_attributes = NULL;
    test_ok(*state, read_set(&data, *state, &s, "none", folder));
    assert_int_equal(mcr_data_target_kind(data), MCR_NO_TARGETS);
    mcr_data_free(data);
}

/* Edges need not stand in the order of the graphs; of two labels the first stands. */
static void sorts_edges(void **state)
{
    char folder[256];
    mcr_data *data;
    set s = {.a = "3,4\n1,2\n4,3\n2,1\n",
             .indicator = "1\n1\n2\n2\n",
             .graph_labels = "a\nb\n",
             .edge_labels = "5\n6\n7\n8\n"};
    test_ok(*state, read_set(&data, *state, &s, NULL, folder));
    const mcr_store *store = mcr_data_field(data, 0).store;
    static const int32_t adjacent[] = {1, 0, 1, 0}, label[] = {6, 6, 5, 5};
    assert_memory_equal(store->adjacent, adjacent, sizeof adjacent);
    assert_memory_equal(store->link_label, label, sizeof label);
    assert_int_equal(mcr_data_target_kind(data), MCR_WORD_TARGETS);
    mcr_data_free(data);
}

/* Three graphs: where the edges of one begin depends on all before it. No labels of edges. */
static void sorts_edges_of_three(void **state)
{
    char folder[256];
    mcr_data *data;
    set s = {
        .a = "5,6\n3,4\n1,2\n", .indicator = "1\n1\n2\n2\n3\n3\n", .graph_labels = "a\nb\nc\n"};
    test_ok(*state, read_set(&data, *state, &s, NULL, folder));
    const mcr_store *store = mcr_data_field(data, 0).store;
    static const int32_t adjacent[] = {1, 0, 1, 0, 1, 0};
    static const int64_t link[] = {0, 1, 2, 3, 4, 5, 6};
    assert_memory_equal(store->adjacent, adjacent, sizeof adjacent);
    assert_memory_equal(store->link, link, sizeof link);
    assert_null(store->link_label);
    mcr_data_free(data);
}

static void leaves_blanks_out(void **state)
{
    char folder[256];
    mcr_data *data;
    set s = {.a = "\t1, 2\t\n 2,\t1 \n\n\n  \n",
             .indicator = "1\n1\n2\n",
             .graph_labels = "a \n\tb\t \n"};
    test_ok(*state, read_set(&data, *state, &s, NULL, folder));
    assert_string_equal(mcr_data_class_name(data, 0), "a");
    assert_string_equal(mcr_data_class_name(data, 1), "b");
    assert_int_equal(field_info(data, 0).entries, 1);
    mcr_data_free(data);
}

/* ---- packed files, files that are not used ----------------------------------------------------*/

/* Some parts are packed; of one that is there twice the plain one counts. */
static void reads_packed_parts(void **state)
{
    char folder[256];
    mcr_data *data;
    test_make_directory(folder);
    write_part(folder, "A", "1,2\n");
    write_packed(folder, "A", "", 0);
    write_packed(folder, "graph_indicator", "1\n1\n", 0);
    write_packed(folder, "graph_labels", "7\n", 0);
    mcr_status status = mcr_data_read(&data, *state, folder, NULL);
    test_remove_directory(folder);
    test_ok(*state, status);
    assert_int_equal(field_info(data, 0).entries, 1);
    assert_true(mcr_data_targets(data)[0] == 7);
    mcr_data_free(data);
}

/* A part that cannot be unpacked to its end is no shorter part. */
static void refuses_cut_parts(void **state)
{
    static const struct part {
        const char *name, *text;
    } parts[] = {{"graph_indicator", "1\n1\n"},
                 {"A", "1,2\n"},
                 {"node_labels", "1\n2\n"},
                 {"edge_labels", "1\n"},
                 {"graph_labels", "1\n"}};
    enum { PARTS = sizeof parts / sizeof *parts };
    for (int cut = 0; cut < PARTS; cut++) {
        char folder[256];
        mcr_data *data;
        test_make_directory(folder);
        for (int i = 0; i < PARTS; i++)
            write_packed(folder, parts[i].name, parts[i].text, i == cut ? 1 : 0);
        mcr_status status = mcr_data_read(&data, *state, folder, NULL);
        test_remove_directory(folder);
        test_fails(*state, status, MCR_BAD_DATA, "damaged gzip");
        assert_null(data);
    }
}

static void hear(void *user, int level, const char *line)
{
    (void)level;
    int *heard = user;
    *heard += strstr(line, "node attributes are not used") ? 1 : 0;
    *heard += strstr(line, "edge attributes are not used") ? 10 : 0;
}

/* Reads a set with attributes; what was heard: 1 of nodes, 10 of edges. */
static int hear_of(bool nodes, bool edges, const char *indicator)
{
    char folder[256];
    int heard = 0;
    mcr *ctx;
    mcr_data *data = NULL;
    mcr_config config = {.size = sizeof config, .log = hear, .user = &heard};
    assert_int_equal(mcr_open(&ctx, &config), MCR_OK);
    test_make_directory(folder);
    write_part(folder, "A", good.a);
    write_part(folder, "graph_indicator", indicator);
    write_part(folder, "graph_labels", good.graph_labels);
    write_part(folder, "node_attributes", nodes ? "1\n" : NULL);
    write_part(folder, "edge_attributes", edges ? "1\n" : NULL);
    mcr_status status = mcr_data_read(&data, ctx, folder, NULL);
    test_remove_directory(folder);
    assert_int_equal(status, indicator ? MCR_OK : MCR_BAD_DATA);
    mcr_data_free(data);
    mcr_close(ctx);
    return heard;
}

static void says_what_is_not_used(void **state)
{
    (void)state;
    assert_int_equal(hear_of(false, false, good.indicator), 0);
    assert_int_equal(hear_of(true, false, good.indicator), 1);
    assert_int_equal(hear_of(false, true, good.indicator), 10);
    assert_int_equal(hear_of(true, true, good.indicator), 11);
    assert_int_equal(hear_of(true, true, NULL), 0);
}

static void refuse(mcr *ctx, set s, const char *file, const char *message)
{
    char folder[256], whole[1024];
    mcr_data *data;
    mcr_status status = read_set(&data, ctx, &s, NULL, folder);
    snprintf(whole, sizeof whole, "%s%s%s", folder, file, message);
    assert_int_equal(status, MCR_BAD_DATA);
    assert_null(data);
    assert_string_equal(mcr_message(ctx), whole);
}

#define REFUSE(part, text, file, message)                                                          \
    do {                                                                                           \
        set s = good;                                                                              \
        s.part = text;                                                                             \
        refuse(*state, s, file, message);                                                          \
    } while (0)

static void refuses(void **state)
{
    REFUSE(a, NULL, "", ": no file ending in _A.txt: this is not a TU graph set");
    REFUSE(indicator, NULL, "/DS_graph_indicator.txt", ": this file is missing from the graph set");
    REFUSE(graph_labels, NULL, "/DS_graph_labels.txt",
           ": this file is missing from the graph set; without labels set the target to \"none\"");
    REFUSE(a, "1, 2\n1, 6\n", "/DS_A.txt", ":2: node 6 is out of range: there are nodes 1 to 5");
    REFUSE(a, "0, 2\n", "/DS_A.txt", ":1: node 0 is out of range: there are nodes 1 to 5");
    REFUSE(a, "3, 4\n", "/DS_A.txt", ":1: an edge joins node 3 of graph 1 and node 4 of graph 2");
    REFUSE(a, "1 2 3\n", "/DS_A.txt",
           ":1: \"1 2 3\" is not an edge: two node numbers with a comma");
    REFUSE(a, "1,\n", "/DS_A.txt", ":1: \"1,\" is not an edge: two node numbers with a comma");
    REFUSE(a, "1,2\n\n2,1\n", "/DS_A.txt", ":3: line 2 before it is blank");
    REFUSE(a, "1,2\n\n\n2,1\n", "/DS_A.txt", ":4: line 2 before it is blank");
    REFUSE(a, "x, 2\n", "/DS_A.txt", ":1: \"x, 2\" is not an edge: two node numbers with a comma");
    REFUSE(indicator, "1\n2\n1\n", "/DS_graph_indicator.txt",
           ":3: graph 1 after graph 2: the numbers must ascend from 1");
    REFUSE(indicator, "0\n", "/DS_graph_indicator.txt",
           ":1: graph 0 after graph 0: the numbers must ascend from 1");
    REFUSE(indicator, "1\n3\n", "/DS_graph_indicator.txt",
           ":2: graph 2 has no nodes: the numbers jump from 1 to 3");
    REFUSE(indicator, "1.5\n", "/DS_graph_indicator.txt", ":1: \"1.5\" is not a graph number");
    REFUSE(indicator, "", "/DS_graph_indicator.txt", ": no graphs: the file is empty");
    REFUSE(graph_labels, "1\n", "/DS_graph_labels.txt", ":1: 1 lines for 2 graphs");
    REFUSE(graph_labels, "1\n1\n1\n", "/DS_graph_labels.txt", ":3: more lines than the 2 graphs");
    REFUSE(graph_labels, "1, 2\n1\n", "/DS_graph_labels.txt",
           ":1: several targets in a line; one is supported");
    REFUSE(node_labels, "1\n1\n1\n1\n", "/DS_node_labels.txt", ":4: 4 labels for 5 nodes");
    REFUSE(node_labels, "1\n1\n1\n1\n1\n1\n", "/DS_node_labels.txt",
           ":6: more labels than the 5 nodes");
    REFUSE(node_labels, "C\n", "/DS_node_labels.txt", ":1: \"C\" is not an integer label");
    REFUSE(node_labels, "1, 2\n", "/DS_node_labels.txt",
           ":1: several labels in a line; one is supported");
    REFUSE(node_labels, "3000000000\n", "/DS_node_labels.txt",
           ":1: the label 3000000000 does not fit 32 bits");
    REFUSE(node_labels, "-3000000000\n", "/DS_node_labels.txt",
           ":1: the label -3000000000 does not fit 32 bits");
    REFUSE(node_labels, "1 x\n", "/DS_node_labels.txt", ":1: \"1 x\" is not an integer label");
    REFUSE(edge_labels, "1\n", "/DS_edge_labels.txt", ":1: 1 labels for 9 edges");
    set s = good;
    s.graph_labels = NULL;
    s.graph_attributes = "1\nx\n";
    refuse(*state, s, "/DS_graph_attributes.txt", ":2: \"x\" is not a number");
}

static void refuses_two_sets(void **state)
{
    char folder[256], path[512];
    mcr_data *data;
    test_make_directory(folder);
    write_part(folder, "A", "1,1\n");
    snprintf(path, sizeof path, "%s/OTHER_A.txt.gz", folder);
    fclose(fopen(path, "wb"));
    mcr_status status = mcr_data_read(&data, *state, folder, NULL);
    test_remove_directory(folder);
    test_fails(*state, status, MCR_BAD_DATA, "two graph sets in one directory");
    /* Of the same length; and one that begins like the other, whichever comes first. */
    static const char *const names[][5] = {{"XY"}, {"D", "DSX", "DSXY", "DSXYZ", "DSXYZA"}};
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        test_make_directory(folder);
        write_part(folder, "A", "1,1\n");
        for (int i = 0; i < 5 && names[n][i]; i++) {
            snprintf(path, sizeof path, "%s/%s_A.txt", folder, names[n][i]);
            fclose(fopen(path, "wb"));
        }
        status = mcr_data_read(&data, *state, folder, NULL);
        test_remove_directory(folder);
        test_fails(*state, status, MCR_BAD_DATA, "two graph sets in one directory");
    }
    mcr_read_options options = {.size = sizeof options, .format = "tu"};
    status = mcr_data_read(&data, *state, "no/such/folder", &options);
    test_fails(*state, status, MCR_IO, "no/such/folder: cannot be opened");
}

static mcr_status sweep(mcr *ctx, void *arg)
{
    mcr_data *data = NULL;
    mcr_status status = mcr_data_read(&data, ctx, arg, NULL);
    mcr_data_free(data);
    return status;
}

static void survives_no_memory(void **state)
{
    (void)state;
    char folder[256];
    test_make_directory(folder);
    write_part(folder, "A", good.a);
    write_part(folder, "graph_indicator", good.indicator);
    write_part(folder, "graph_labels", good.graph_labels);
    write_part(folder, "node_labels", good.node_labels);
    write_part(folder, "edge_labels", good.edge_labels);
    int64_t calls = test_sweep_allocations("tu", sweep, folder);
    test_remove_directory(folder);
    assert_true(calls > 20);
    test_make_directory(folder);
    write_part(folder, "A", good.a);
    write_part(folder, "graph_indicator", good.indicator);
    write_packed(folder, "graph_attributes", "0.5\n1\n", 0);
    test_sweep_allocations("tu with attributes", sweep, folder);
    test_remove_directory(folder);
}

/* From the published table: graphs, classes, mean nodes and edges, node and edge labels. */
typedef struct real_set {
    const char *name;
    int64_t graphs, classes, node_labels, edge_labels;
    double nodes, edges;
} real_set;

static void reads_real_sets(void **state)
{
    static const real_set sets[] = {
        {"AIDS", 2000, 2, 38, 3, 15.69, 16.20},     {"BZR", 405, 2, 10, 0, 35.75, 38.36},
        {"ENZYMES", 600, 6, 3, 0, 32.63, 62.14},    {"IMDB-BINARY", 1000, 2, 0, 0, 19.77, 96.53},
        {"Letter-low", 2250, 15, 0, 0, 4.68, 3.13}, {"MUTAG", 188, 2, 7, 4, 17.93, 19.79},
        {"PTC_MR", 344, 2, 18, 4, 14.29, 14.69},
    };
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        char path[1024];
        if (!find_data(path, sets[i].name))
            continue;
        mcr_data *data;
        test_ok(*state, mcr_data_read(&data, *state, path, NULL));
        mcr_field_info info = field_info(data, 0);
        double n = (double)sets[i].graphs;
        assert_int_equal(mcr_data_count(data), sets[i].graphs);
        assert_int_equal(mcr_data_classes(data), sets[i].classes);
        assert_int_equal(info.alphabet, sets[i].node_labels);
        assert_int_equal(info.edge_labels, sets[i].edge_labels);
        test_close_real("nodes", (double)info.nodes / n, sets[i].nodes, 0.005001);
        test_close_real("edges", (double)info.entries / n, sets[i].edges, 0.005001);
        mcr_data_free(data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(reads, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(reads_with_less, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(sorts_edges, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(sorts_edges_of_three, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(leaves_blanks_out, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(reads_packed_parts, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(refuses_cut_parts, test_setup, test_teardown),
        cmocka_unit_test(says_what_is_not_used),
        cmocka_unit_test_setup_teardown(refuses, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(refuses_two_sets, test_setup, test_teardown),
        cmocka_unit_test(survives_no_memory),
        cmocka_unit_test_setup_teardown(reads_real_sets, test_setup, test_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
