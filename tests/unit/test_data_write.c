/* test_data_write.c: what is written reads back as it was.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "format_helpers.h"

#include <math.h>

#include "data/data.h"

static char folder[256];

static int make_folder(void **state)
{
    (void)state;
    test_make_directory(folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    test_remove_directory(folder);
    return 0;
}

static void path_of(char path[512], const char *name)
{
    snprintf(path, 512, "%s/%s", folder, name);
}

/* ---- comparing --------------------------------------------------------------------------------*/

static void same_vectors(const mcr_data *a, int64_t f, const mcr_data *b, int64_t g)
{
    int64_t cols = field_info(a, f).cols;
    assert_int_equal(field_info(b, g).cols, cols);
    double *x = malloc((size_t)cols * sizeof *x), *z = malloc((size_t)cols * sizeof *z);
    for (int64_t i = 0; i < mcr_data_count(a); i++) {
        assert_int_equal(mcr_data_vector(a, f, i, x), MCR_OK);
        assert_int_equal(mcr_data_vector(b, g, i, z), MCR_OK);
        for (int64_t c = 0; c < cols; c++)
            assert_true(x[c] == z[c]);
    }
    free(x);
    free(z);
}

static void same_graphs(const mcr_field *a, const mcr_field *b)
{
    const mcr_store *s = a->store, *t = b->store;
    assert_int_equal(s->node_label != NULL, t->node_label != NULL);
    assert_int_equal(s->link_label != NULL, t->link_label != NULL);
    for (int64_t i = 0; i < a->count; i++) {
        int64_t u = s->start[mcr_field_at(a, i)], v = t->start[mcr_field_at(b, i)];
        int64_t end = s->start[mcr_field_at(a, i) + 1];
        assert_int_equal(end - u, t->start[mcr_field_at(b, i) + 1] - v);
        for (; u < end; u++, v++) {
            int64_t degree = s->link[u + 1] - s->link[u];
            assert_int_equal(degree, t->link[v + 1] - t->link[v]);
            if (s->label_name != NULL)
                assert_string_equal(s->label_name[s->node_label[u]],
                                    t->label_name[t->node_label[v]]);
            else if (s->node_label != NULL)
                assert_int_equal(s->node_label[u], t->node_label[v]);
            for (int64_t k = 0; k < degree; k++) {
                assert_int_equal(s->adjacent[s->link[u] + k], t->adjacent[t->link[v] + k]);
                if (s->link_label != NULL)
                    assert_int_equal(s->link_label[s->link[u] + k], t->link_label[t->link[v] + k]);
            }
        }
    }
}

/* Fields by name; kinds too unless `vectors` may become sparse or dense. */
static void same_data(const mcr_data *a, const mcr_data *b, bool kinds)
{
    assert_int_equal(mcr_data_count(a), mcr_data_count(b));
    assert_int_equal(mcr_data_fields(a), mcr_data_fields(b));
    assert_int_equal(mcr_data_target_kind(a), mcr_data_target_kind(b));
    for (int64_t i = 0; i < mcr_data_count(a) && a->target != NULL; i++) {
        assert_string_equal(mcr_data_class_name(a, mcr_data_class_of(a)[i]),
                            mcr_data_class_name(b, mcr_data_class_of(b)[i]));
        if (mcr_data_target_kind(a) == MCR_REAL_TARGETS)
            assert_true(a->target[i] == b->target[i]);
    }
    assert_int_equal(a->weight != NULL, b->weight != NULL);
    for (int64_t i = 0; i < mcr_data_count(a) && a->weight != NULL; i++)
        assert_true(a->weight[i] == b->weight[i]);
    for (int64_t f = 0; f < mcr_data_fields(a); f++) {
        const char *name = field_info(a, f).name;
        int64_t g = mcr_data_fields(a) == 1 && !kinds ? 0 : mcr_data_find(b, name, strlen(name));
        assert_true(g >= 0);
        mcr_field x = mcr_data_field(a, f), z = mcr_data_field(b, g);
        if (kinds)
            assert_int_equal(x.store->kind, z.store->kind);
        switch (x.store->kind) {
        case MCR_PRECOMPUTED:
            for (int64_t i = 0; i < x.count; i++)
                assert_int_equal(x.store->id[mcr_field_at(&x, i)],
                                 z.store->id[mcr_field_at(&z, i)]);
            same_vectors(a, f, b, g);
            break;
        case MCR_DENSE:
        case MCR_SPARSE: same_vectors(a, f, b, g); break;
        case MCR_STRINGS:
            for (int64_t i = 0; i < x.count; i++) {
                const char *bytes;
                int64_t length;
                assert_int_equal(mcr_data_string(a, f, i, &bytes, &length), MCR_OK);
                same_string(b, g, i, bytes, (size_t)length);
            }
            break;
        case MCR_GRAPHS: same_graphs(&x, &z); break;
        }
    }
}

/* Writes and reads; target NULL: found. */
static mcr_data *there_and_back(mcr *ctx, const mcr_data *data, const char *name,
                                const char *format, const char *target, const char *weight)
{
    char path[512];
    path_of(path, name);
    test_ok(ctx, mcr_data_write(data, path, format));
    mcr_read_options options = {
        .size = sizeof options, .format = format, .target = target, .weight = weight};
    mcr_data *back;
    test_ok(ctx, mcr_data_read(&back, ctx, path, &options));
    return back;
}

static void round_trip(mcr *ctx, const mcr_data *data, const char *name, const char *format,
                       const char *target, const char *weight, bool kinds)
{
    mcr_data *back = there_and_back(ctx, data, name, format, target, weight);
    same_data(data, back, kinds);
    mcr_data_free(back);
}

static mcr_data *read_one(mcr *ctx, const char *text, const char *format, const char *target)
{
    mcr_data *data;
    test_ok(ctx, read_text(&data, ctx, "f", text, strlen(text), format, target));
    return data;
}

/* ---- formats ----------------------------------------------------------------------------------*/

static const char odd_numbers[] = "0.1 1:0.1 2:1e-300 4:-1.7976931348623157e308\n"
                                  "-3 1:5e-324 3:123456789.123456789 7:0\n"
                                  "1e100\n"
                                  "12345678 2:0.30000000000000004 5:1e22 6:9007199254740993\n";

static void writes_vectors(void **state)
{
    mcr_data *data = read_one(*state, odd_numbers, "libsvm", NULL);
    assert_int_equal(field_info(data, 0).cols, 7); /* the last column is empty */
    round_trip(*state, data, "a.svm", NULL, NULL, NULL, true);
    round_trip(*state, data, "a", NULL, NULL, NULL, true); /* libsvm is the simplest */
    round_trip(*state, data, "a.csv", NULL, NULL, NULL, false);
    round_trip(*state, data, "a.tsv", NULL, NULL, NULL, false);
    round_trip(*state, data, "a.jsonl", NULL, NULL, NULL, true);
    mcr_data *view;
    test_ok(*state, mcr_data_select(&view, data, (mcr_rows){(int64_t[]){3, 0, 3, 2}, 0, 4}));
    round_trip(*state, view, "v.svm", NULL, NULL, NULL, true);
    round_trip(*state, view, "v.csv", NULL, NULL, NULL, false);
    round_trip(*state, view, "v.jsonl", NULL, NULL, NULL, true);
    mcr_data_free(view);
    mcr_data_free(data);
    data = read_one(*state, "1.5,-0.25,red\n0,1e-7,green apple\n0,0,\"NA\"\n1,1,inf\n", "csv",
                    NULL);
    round_trip(*state, data, "b.csv", NULL, NULL, NULL, true);
    round_trip(*state, data, "b.tsv", NULL, NULL, NULL, true);
    round_trip(*state, data, "b", NULL, NULL, NULL, true); /* csv */
    round_trip(*state, data, "b.jsonl", NULL, NULL, NULL, true);
    mcr_data_free(data);
    data = read_one(*state, "1.5,-0.25\n0,1e-7\n", "csv", "none");
    round_trip(*state, data, "c.csv", NULL, "none", NULL, true);
    round_trip(*state, data, "c.jsonl", NULL, "none", NULL, true);
    mcr_data_free(data);
}

static void writes_text(void **state)
{
    mcr_data *data = read_one(*state, "spam\tfree entry\nham\t\nham\ta\tb, \"c\"\nx y\t\xff;\n",
                              "text", NULL);
    round_trip(*state, data, "t", NULL, NULL, NULL, true); /* text */
    round_trip(*state, data, "t", "text", NULL, NULL, true);
    round_trip(*state, data, "t.csv", NULL, NULL, NULL, true);
    round_trip(*state, data, "t.tsv", NULL, NULL, NULL, true);
    round_trip(*state, data, "t.jsonl", NULL, NULL, NULL, true);
    mcr_data_free(data);
    data = read_one(*state, "a\nb\n", "text", "none");
    round_trip(*state, data, "t", "text", "none", NULL, true);
    mcr_data_free(data);
    data = read_one(*state, ">s1 pos\nACGT\n>s2 neg\nAC GT*N\n", "fasta", NULL);
    round_trip(*state, data, "s.fa", NULL, NULL, NULL, true);
    round_trip(*state, data, "s.jsonl", NULL, NULL, NULL, true);
    mcr_data_free(data);
    data = read_one(*state, ">s1\nACGT\n>s2\nACGTN\n", "fasta", "none");
    round_trip(*state, data, "s.fa", NULL, "none", NULL, true);
    mcr_data_free(data);
}

static void writes_every_field(void **state)
{
    mcr *ctx = *state;
    mcr_data *data = read_one(
        ctx,
        "{\"y\":\"a\",\"weight\":2,\"x\":[1,2],\"s\":{\"i\":[0,3],\"v\":[1,-2],\"n\":9},"
        "\"t\":\"q\\u0000\\\"\\n\",\"g\":{\"nodes\":[\"C\",\"N\"],\"edges\":[[1,0,4],[1,1,5]]},"
        "\"h\":{\"nodes\":3,\"edges\":[[0,2]]},\"k\":{\"k\":[1,0.5],\"id\":0}}\n"
        "{\"y\":\"b\",\"weight\":0.5,\"x\":[3,0.1],\"s\":{\"i\":[],\"v\":[],\"n\":9},"
        "\"t\":{\"hex\":\"ff00\"},\"g\":{\"nodes\":[\"N\"],\"edges\":[]},"
        "\"h\":{\"nodes\":0,\"edges\":[]},\"k\":{\"k\":[0.5,1],\"id\":-1}}\n",
        "jsonl", NULL);
    round_trip(ctx, data, "all.jsonl", NULL, NULL, NULL, true);
    round_trip(ctx, data, "all", NULL, NULL, NULL, true); /* nothing simpler can */
    mcr_data_free(data);
    mcr_read_options options = {.size = sizeof options, .format = "csv", .weight = "weight"};
    static const char table[] = "a,text,weight,target\n1,\" x\ty\",2,p\n3,\"l\r\nm\",0.25,q\n";
    test_ok(ctx, mcr_data_read_memory(&data, ctx, "f", table, sizeof table - 1, &options));
    round_trip(ctx, data, "w.csv", NULL, NULL, "weight", true);
    round_trip(ctx, data, "w.tsv", NULL, NULL, "weight", true);
    mcr_data_free(data);
}

static void refuse(mcr *ctx, const char *text, const char *from, const char *target,
                   const char *name, const char *format, const char *message)
{
    char path[512];
    path_of(path, name);
    mcr_data *data = read_one(ctx, text, from, target);
    test_fails(ctx, mcr_data_write(data, path, format), MCR_BAD_CALL, message);
    assert_int_not_equal(access(path, F_OK), 0);
    mcr_data_free(data);
}

static void refuses(void **state)
{
    mcr *ctx = *state;
    const char *graph = "{\"y\":1,\"g\":{\"nodes\":1,\"edges\":[]}}\n";
    refuse(ctx, "1,2\n", "csv", NULL, "r1", "libsv",
           "unknown format \"libsv\" (did you mean \"libsvm\"?)");
    refuse(ctx, "1,2\n", "csv", NULL, "r2", "parquet", "the format \"parquet\" cannot be written");
    refuse(ctx, "1,2\n", "csv", NULL, "r.csv.gz", NULL, "gzip is not written");
    refuse(ctx, "1,2\n", "csv", "none", "r3", "libsvm", "there are none");
    refuse(ctx, "1,a b\n", "csv", NULL, "r4", "libsvm",
           "the class \"a b\" cannot be written in it");
    refuse(ctx, graph, "jsonl", NULL, "r5", "libsvm", "only one field of vectors");
    refuse(ctx, graph, "jsonl", NULL, "r5.csv", NULL, "not \"g\"");
    refuse(ctx, "a\t12\nb\tx\n", "text", NULL, "r6.csv", NULL,
           "the text of \"text\" for object 1 would read back as a number");
    refuse(ctx, "a\tx\ntarget\ty\n", "text", NULL, "r7.csv", NULL,
           "its header could not be distinguished");
    refuse(ctx, "x\ny\n", "text", "none", "r8.csv", NULL, "its header could not be distinguished");
    refuse(ctx, "{\"y\":1,\"target\":\"s\"}\n", "jsonl", NULL, "r9.csv", NULL,
           "cannot be called \"target\"");
    refuse(ctx, "{\"y\":1.5,\"t\":\"b\\u0000c\"}\n", "jsonl", NULL, "r13.csv", NULL,
           "the text of \"t\" for object 1 contains a NUL byte");
    refuse(ctx, "a,y\n\"l\nm\",1\n", "csv", NULL, "r10", "text", "string 1 has a line end in it");
    refuse(ctx, "1,2\n", "csv", NULL, "r11", "text", "only one field of strings");
    refuse(ctx, "a\tacgt\n", "text", NULL, "r12.fa", NULL,
           "string 1 is not a sequence of upper case letters");
    refuse(ctx, "a b\tACGT\n", "text", NULL, "r13.fa", NULL, "the class \"a b\" cannot be written");
    refuse(ctx, "\xff\tACGT\n", "text", NULL, "r14.jsonl", NULL, "a class is not UTF-8");
}

static void keeps_the_old_file(void **state)
{
    char path[512], line[16] = "";
    path_of(path, "old.fa");
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs("old", f);
    fclose(f);
    mcr_data *data = read_one(*state, "a\tacgt\n", "text", NULL);
    test_fails(*state, mcr_data_write(data, path, NULL), MCR_BAD_CALL, "upper case");
    mcr_data_free(data);
    f = fopen(path, "r");
    assert_non_null(f);
    assert_non_null(fgets(line, sizeof line, f));
    assert_string_equal(line, "old");
    fclose(f);
    data = read_one(*state, "1,2\n", "csv", NULL);
    test_fails(*state, mcr_data_write(data, "/nowhere/at/all.csv", NULL), MCR_IO, "/nowhere");
    mcr_data_free(data);
}

/* Random data, larger than the buffer. */
static void writes_large_sets(void **state)
{
    enum { ROWS = 3000, COLS = 7 };
    mcr *ctx = *state;
    double *x = malloc(ROWS * COLS * sizeof *x), *y = malloc(ROWS * sizeof *y);
    uint64_t random = 1;
    for (int i = 0; i < ROWS * COLS; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        uint64_t bits = random ^ random >> 21;
        memcpy(&x[i], &bits, sizeof bits); /* any double */
        if (!isfinite(x[i]) || random >> 62 == 0)
            x[i] = 0;
    }
    for (int i = 0; i < ROWS; i++)
        y[i] = x[COLS * i] / 3;
    mcr_builder *b;
    mcr_data *data;
    test_ok(ctx, mcr_builder_open(&b, ctx, ROWS));
    test_ok(ctx, mcr_builder_dense(b, "x", x, COLS, COLS));
    test_ok(ctx, mcr_builder_targets(b, y));
    test_ok(ctx, mcr_builder_finish(&data, b));
    round_trip(ctx, data, "big.svm", NULL, NULL, NULL, false);
    round_trip(ctx, data, "big.csv", NULL, NULL, NULL, true);
    round_trip(ctx, data, "big.jsonl", NULL, NULL, NULL, true);
    mcr_data_free(data);
    free(x);
    free(y);
}

static mcr_status write_one(mcr *ctx, void *arg)
{
    char path[512];
    path_of(path, arg);
    const char *text = "spam\tFREE\nham\tENTRY\n";
    mcr_data *data;
    mcr_status status = read_text(&data, ctx, "f", text, strlen(text), "text", NULL);
    if (status == MCR_OK)
        status = mcr_data_write(data, path, NULL);
    mcr_data_free(data);
    return status;
}

static void survives_short_memory(void **state)
{
    (void)state;
    char names[][8] = {"m.csv", "m.tsv", "m.fa", "m.jsonl", "m.text"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        test_sweep_allocations(names[i], write_one, names[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(writes_vectors, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(writes_text, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(writes_every_field, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(refuses, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(keeps_the_old_file, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(writes_large_sets, test_setup, test_teardown),
        cmocka_unit_test(survives_short_memory),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
