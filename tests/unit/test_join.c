/* test_join.c: the columns of a table, added to other objects by their names.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "format_helpers.h"

#include <math.h>

static void write_table(char path[64], const char *text)
{
    strcpy(path, "/tmp/mercer-join-XXXXXX.csv");
    int fd = mkstemps(path, 4);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

static mcr_status read_with(mcr_data **out, mcr *ctx, mcr_join *join, const char *name,
                            const char *text, const char *target)
{
    mcr_read_options options = {
        .size = sizeof options, .target = target, .missing = "auto", .join = join};
    return mcr_data_read_memory(out, ctx, name, text, strlen(text), &options);
}

static void adds_columns(void **state)
{
    char path[64];
    mcr_join *join;
    mcr_data *data;
    double row[2];
    int64_t objects;
    const char *first;
    write_table(path, "\xef\xbb\xbfmass;key;kind\n2,5;b;\"x,\"\"y\"\"\"\n1,5;a;z\n");
    test_ok(*state, mcr_join_open(&join, *state, path, NULL));
    test_ok(*state,
            read_with(&data, *state, join, "t.csv", "key,age,y\na,10,u\nc,20,v\n\"b\",30,u", "y"));
    assert_int_equal(mcr_data_count(data), 3);
    assert_int_equal(mcr_data_fields(data), 2);
    test_ok(*state, mcr_data_vector(data, 0, 0, row));
    test_close_arrays("a", row, (double[]){10, 1.5}, 2, 0);
    test_ok(*state, mcr_data_vector(data, 0, 1, row));
    assert_true(row[0] == 20 && isnan(row[1]));
    test_ok(*state, mcr_data_vector(data, 0, 2, row));
    test_close_arrays("b", row, (double[]){30, 2.5}, 2, 0);
    same_string(data, 1, 0, "z", 1);
    same_string(data, 1, 2, "x,\"y\"", 5);
    assert_string_equal(mcr_data_column_name(data, 0, 1), "mass");
    assert_int_equal(mcr_join_unmatched(join, &objects, &first), 1);
    assert_int_equal(objects, 3);
    assert_string_equal(first, "c");
    int beside = 1;
    assert_string_equal(mcr_layout_key(mcr_data_layout(data), &beside), "key");
    assert_int_equal(beside, 0);
    mcr_data_free(data);
    mcr_join_close(join);
    unlink(path);
}

/* Rows of several blocks and long records; each row must get its own cells. */
static void keeps_long_tables_in_step(void **state)
{
    enum { ROWS = 30000, ROW = 64 };
    char path[64], *main_text = malloc(ROWS * ROW + 600000), *table = malloc(ROWS * ROW);
    size_t length = (size_t)sprintf(main_text, "key,a,note,y\n"), used;
    mcr_join *join;
    mcr_data *data;
    used = (size_t)sprintf(table, "key,b\n");
    for (int i = 0; i < ROWS; i++) {
        length += (size_t)sprintf(main_text + length, "k%d,%d,%s,%d\n", i, i,
                                  i % 7 ? "n" : "\"two\nlines\"", i % 2);
        used += (size_t)sprintf(table + used, "k%d,%d\n", ROWS - 1 - i, 3 * (ROWS - 1 - i));
        if (i == ROWS / 2) { /* a record that is longer than a block */
            length += (size_t)sprintf(main_text + length, "k%d,%d,\"", i, i);
            memset(main_text + length, '\n', 500000);
            length += 500000;
            length += (size_t)sprintf(main_text + length, "\",1\n");
        }
    }
    write_table(path, table);
    test_ok(*state, mcr_join_open(&join, *state, path, "key"));
    test_ok(*state, read_with(&data, *state, join, "t.csv", main_text, "y"));
    assert_int_equal(mcr_data_count(data), ROWS + 1);
    for (int64_t i = 0; i <= ROWS; i++) {
        double row[2];
        test_ok(*state, mcr_data_vector(data, 0, i, row));
        assert_true(row[1] == 3 * row[0]);
    }
    mcr_data_free(data);
    main_text[length - 2] = 'q';
    strcpy(main_text + length, "k1,oops,n,1\n");
    int64_t lines = 1;
    for (const char *p = main_text; p < main_text + length; p++)
        lines += *p == '\n';
    assert_int_equal(read_with(&data, *state, join, "t.csv", main_text, "y"), MCR_BAD_DATA);
    assert_int_equal(mcr_message_line(*state), lines);
    mcr_join_close(join);
    unlink(path);
    free(main_text);
    free(table);
}

static void names_other_objects(void **state)
{
    char path[64];
    mcr_join *join;
    mcr_data *data;
    double row[1];
    int beside = 0;
    write_table(path, "id,mass,y\ns2,2.5,u\ns1,1.5,v\n17,7.5,u\n");
    test_ok(*state, mcr_join_open(&join, *state, path, NULL));
    test_ok(*state, read_with(&data, *state, join, "t.fa", ">s1\nACGT\n>s2 text\nCC\n", "y"));
    assert_int_equal(mcr_data_fields(data), 2);
    same_string(data, 0, 1, "CC", 2);
    test_ok(*state, mcr_data_vector(data, 1, 1, row));
    assert_true(row[0] == 2.5);
    assert_string_equal(mcr_data_class_name(data, mcr_data_class_of(data)[1]), "u");
    assert_string_equal(mcr_layout_key(mcr_data_layout(data), &beside), "id");
    assert_int_equal(beside, 1);
    mcr_data_free(data);
    test_ok(*state, read_with(&data, *state, join, "t.jsonl",
                              "{\"id\": \"s1\", \"a\": \"x\"}\n{\"id\": 17, \"a\": \"z\"}\n", "y"));
    assert_int_equal(mcr_data_fields(data), 2);
    test_ok(*state, mcr_data_vector(data, 1, 0, row));
    assert_true(row[0] == 1.5);
    test_ok(*state, mcr_data_vector(data, 1, 1, row));
    assert_true(row[0] == 7.5);
    mcr_data_free(data);
    test_fails(*state,
               read_with(&data, *state, join, "t.jsonl", "{\"id\": [1], \"a\": \"x\"}\n", "y"),
               MCR_BAD_DATA, "it must be a word or a number");
    test_fails(*state, read_with(&data, *state, join, "t.jsonl", "{\"a\": \"x\"}\n", "y"),
               MCR_BAD_DATA, "the objects have no \"id\" to join them by");
    test_fails(*state, read_with(&data, *state, join, "t.svm", "1 1:1\n", NULL), MCR_BAD_CALL,
               "have no names to join a table by");
    mcr_join_close(join);
    unlink(path);
}

/* Faults of either table are found where they are; the model of table.csv:3 is its line 3. */
static void says_where(void **state)
{
    static const char *const table[][2] = {
        {"key,a\nx,1\nx,2\n", ":3: \"x\" occurs twice in the key"},
        {"key,a\nx,1\n,2\n", ":3: the key, column \"key\", is missing"},
        {"key,a\nx,1\ny\n", ":3: 1 values, but the first line has 2"},
        {"key,a\nx,\"1\ny,2\n", ":2: a quote is not closed"},
        {"key,a\nx,\"1\" 2\n", ":2: there is text after a closing quote"},
        {"key\nx\n", "there is nothing to add"},
        {"other,a\nx,1\n", "it has no column in common with t.csv"},
        {"key,b\nx,1\n", "both tables have the columns key, b"},
        {"key,a\nq,1\n", "none of the 1 objects has a row in it"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char path[64];
        mcr_join *join;
        mcr_data *data;
        write_table(path, table[i][0]);
        test_ok(*state, mcr_join_open(&join, *state, path, NULL));
        test_fails(*state, read_with(&data, *state, join, "t.csv", "key,b,y\nx,1,2\n", "y"),
                   MCR_BAD_DATA, table[i][1]);
        assert_null(data);
        mcr_join_close(join);
        unlink(path);
    }
    char path[64];
    mcr_join *join;
    mcr_data *data;
    write_table(path, "key,a\nx,1\n");
    test_ok(*state, mcr_join_open(&join, *state, path, NULL));
    test_fails(*state, read_with(&data, *state, join, "t.csv", "key,b\n", NULL), MCR_BAD_DATA,
               "t.csv: there are no objects in the file, only a header");
    test_fails(*state, read_with(&data, *state, join, "t.csv", "key,b,y\nx,1,2\nx,1\n", "y"),
               MCR_BAD_DATA, "t.csv:3: 2 values, but the first line has 3");
    test_fails(*state, read_with(&data, *state, join, "t.csv", "key,b,y\nx,\"1\" 2,2\n", "y"),
               MCR_BAD_DATA, "t.csv:2: ");
    test_fails(*state, read_with(&data, *state, join, "t.csv", "key,b,y\nx,1,2\nx,\"1,2\n", "y"),
               MCR_BAD_DATA, "t.csv:3: a quote is not closed");
    mcr_join_close(join);
    unlink(path);
}

static mcr_status read_pair(mcr *ctx, void *arg)
{
    mcr_join *join = NULL;
    mcr_data *data = NULL, *more = NULL;
    mcr_status status = mcr_join_open(&join, ctx, arg, NULL);
    if (status == MCR_OK)
        status = read_with(&data, ctx, join, "t.csv", "id,b,y\na,1,u\n\"b\",2,v\nq,3,u\n", "y");
    if (status == MCR_OK)
        status = read_with(&more, ctx, join, "t.fa", ">a 1\nAC\n>b 0\nCC\n", NULL);
    mcr_data_free(more);
    mcr_data_free(data);
    mcr_join_close(join);
    return status;
}

static void survives_short_memory(void **state)
{
    char path[64];
    (void)state;
    write_table(path, "id;mass;kind\na;1,5;\"x;y\"\nb;2,5;z\n");
    test_sweep_allocations("join", read_pair, path);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(adds_columns, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(keeps_long_tables_in_step, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(names_other_objects, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(says_where, test_setup, test_teardown),
        cmocka_unit_test(survives_short_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
