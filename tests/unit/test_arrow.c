/* Tables of Arrow's C data interface: columns of every type, slices, batches, who releases what.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "helpers.h"

#include <math.h>
#include <string.h>

#include <mercer/mercer.h>

#include "data/data.h"

/* ---- tables by hand ---------------------------------------------------------------------------*/

enum { MOST = 12 };

typedef struct table {
    struct ArrowSchema schema, column[MOST], words[MOST], item[MOST];
    struct ArrowSchema *columns[MOST], *items[MOST];
    struct ArrowArray root, array[MOST], dictionary[MOST], child[MOST];
    struct ArrowArray *arrays[MOST], *children[MOST];
    const void *buffer[MOST][3], *dictionary_buffer[MOST][3], *child_buffer[MOST][2];
    const void *no_buffer[1];
    int released;
} table;

static void release_table(struct ArrowArray *array)
{
    ++*(int *)array->private_data;
    array->release = NULL;
}

static void open_table(table *t, int64_t length)
{
    memset(t, 0, sizeof *t);
    t->schema = (struct ArrowSchema){.format = "+s", .name = "", .children = t->columns};
    t->root = (struct ArrowArray){.length = length,
                                  .n_buffers = 1,
                                  .buffers = t->no_buffer,
                                  .children = t->arrays,
                                  .release = release_table,
                                  .private_data = &t->released};
}

/* values NULL: none; text: bytes, with values as offsets. */
static int64_t add_column(table *t, const char *name, const char *format, const void *values,
                          const char *text)
{
    int64_t c = t->schema.n_children++;
    t->root.n_children++;
    t->column[c] = (struct ArrowSchema){.format = format, .name = name};
    t->columns[c] = &t->column[c];
    t->buffer[c][1] = values;
    t->buffer[c][2] = text;
    t->array[c] = (struct ArrowArray){.length = t->root.length + t->root.offset,
                                      .n_buffers = text ? 3 : 2,
                                      .buffers = t->buffer[c]};
    t->arrays[c] = &t->array[c];
    return c;
}

static void add_words(table *t, int64_t c, const char *format, int64_t length, const void *values,
                      const char *text)
{
    t->words[c] = (struct ArrowSchema){.format = format, .name = ""};
    t->column[c].dictionary = &t->words[c];
    t->dictionary_buffer[c][1] = values;
    t->dictionary_buffer[c][2] = text;
    t->dictionary[c] = (struct ArrowArray){
        .length = length, .n_buffers = text ? 3 : 2, .buffers = t->dictionary_buffer[c]};
    t->array[c].dictionary = &t->dictionary[c];
}

static mcr_data *read_table(mcr *ctx, table *t, const char *target, const char *weight)
{
    mcr_data *data = NULL;
    mcr_arrow_options o = MCR_INIT(mcr_arrow_options);
    o.target = target;
    o.weight = weight;
    test_ok(ctx, mcr_data_arrow(&data, ctx, &t->schema, &t->root, 1, &o));
    assert_null(t->root.release);
    return data;
}

static void expect_row(mcr *ctx, const mcr_data *data, int64_t i, const double *want, int64_t cols)
{
    double x[MOST];
    test_ok(ctx, mcr_data_vector(data, 0, i, x));
    for (int64_t k = 0; k < cols; k++)
        if (x[k] != want[k])
            fail_msg("row %d, column %d: %g, not %g", (int)i, (int)k, x[k], want[k]);
}

static void expect_text(mcr *ctx, const mcr_data *data, int64_t field, int64_t i, const char *want)
{
    const char *bytes;
    int64_t length;
    test_ok(ctx, mcr_data_string(data, field, i, &bytes, &length));
    assert_int_equal(length, strlen(want));
    assert_memory_equal(bytes, want, (size_t)length);
}

/* ---- tests ------------------------------------------------------------------------------------*/

static void reads_every_type(void **state)
{
    mcr *ctx = *state;
    static table t;
    open_table(&t, 3);
    add_column(&t, "age", "i", (int32_t[]){30, 41, 52}, NULL);
    add_column(&t, "height", "g", (double[]){1.5, 1.75, 2}, NULL);
    add_column(&t, "member", "b", (uint8_t[]){0x5}, NULL);
    add_column(&t, "day", "tdD", (int32_t[]){0, 1, 365}, NULL);
    add_column(&t, "time", "tsm:UTC", (int64_t[]){1000, 2500, -500}, NULL);
    add_column(&t, "city", "u", (int32_t[]){0, 4, 4, 8}, "RomeOslo");
    add_column(&t, "note", "U", (int64_t[]){0, 1, 3, 3}, "abb");
    int64_t grade = add_column(&t, "grade", "C", (uint8_t[]){1, 0, 1}, NULL);
    add_words(&t, grade, "s", 2, (int16_t[]){10, 20}, NULL);
    int64_t colour = add_column(&t, "colour", "c", (int8_t[]){1, 1, 0}, NULL);
    add_words(&t, colour, "u", 2, (int32_t[]){0, 3, 7}, "redblue");
    int64_t y = add_column(&t, "y", "i", (int32_t[]){1, 0, 1}, NULL);
    add_words(&t, y, "U", 2, (int64_t[]){0, 2, 5}, "noyes");
    add_column(&t, "w", "f", (float[]){1, 2, 0.5f}, NULL);
    mcr_data *data = read_table(ctx, &t, "y", "w");
    assert_int_equal(mcr_data_count(data), 3);
    assert_int_equal(mcr_data_fields(data), 4);
    expect_row(ctx, data, 0, (double[]){30, 1.5, 1, 0, 1, 20}, 6);
    expect_row(ctx, data, 1, (double[]){41, 1.75, 0, 1, 2.5, 10}, 6);
    expect_row(ctx, data, 2, (double[]){52, 2, 1, 365, -0.5, 20}, 6);
    assert_string_equal(mcr_data_field(data, 0).store->column[5], "grade");
    expect_text(ctx, data, 1, 0, "Rome");
    expect_text(ctx, data, 1, 1, "");
    expect_text(ctx, data, 2, 1, "bb");
    expect_text(ctx, data, 3, 0, "blue");
    expect_text(ctx, data, 3, 2, "red");
    assert_string_equal(mcr_data_class_name(data, 0), "yes");
    assert_int_equal(mcr_data_class_of(data)[1], 1);
    assert_true(mcr_data_weights(data)[2] == 0.5);
    assert_int_equal(t.released, 0); /* the strings are still read */
    mcr_data_free(data);
    assert_int_equal(t.released, 1);
}

/* Columns of one matrix, strings and lists: the addresses are those of the table. */
static void copies_nothing(void **state)
{
    mcr *ctx = *state;
    static table t;
    static const float matrix[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    static const double list[] = {9, 9, 1, 2, 3, 4, 5, 6};
    static const char text[] = "abc";
    open_table(&t, 3);
    add_column(&t, "c", "f", matrix + 6, NULL);
    add_column(&t, "b", "f", matrix + 3, NULL);
    add_column(&t, "a", "f", matrix, NULL);
    add_column(&t, "s", "u", (int32_t[]){0, 1, 2, 3}, text);
    int64_t e = add_column(&t, "embedding", "+w:2", NULL, NULL);
    t.item[e] = (struct ArrowSchema){.format = "g", .name = "item"};
    t.items[e] = &t.item[e];
    t.column[e].children = &t.items[e];
    t.column[e].n_children = 1;
    t.child_buffer[e][1] = list;
    t.child[e] = (struct ArrowArray){
        .length = 6, .offset = 2, .n_buffers = 2, .buffers = t.child_buffer[e]};
    t.children[e] = &t.child[e];
    t.array[e].children = &t.children[e];
    t.array[e].n_children = 1;
    t.array[e].n_buffers = 1;
    mcr_data *data = read_table(ctx, &t, NULL, NULL);
    expect_row(ctx, data, 1, (double[]){8, 5, 2}, 3);
    assert_ptr_equal(mcr_data_field(data, 0).store->lent.value, matrix + 6);
    assert_ptr_equal(mcr_data_field(data, 1).store->bytes, text);
    assert_ptr_equal(mcr_data_field(data, 2).store->dense, list + 2);
    mcr_data_free(data);
    assert_int_equal(t.released, 1);
}

/* Slices: of the batch, and of single columns; and several batches. */
static void reads_slices(void **state)
{
    mcr *ctx = *state;
    static table t[2];
    static const double a[] = {0, 1, 2, 3};
    static const int64_t whole[] = {10, 11, 12, 13};
    static const int32_t start[] = {0, 1, 2, 3};
    struct ArrowArray batch[2];
    mcr_data *data = NULL;
    for (int k = 0; k < 2; k++) {
        open_table(&t[k], 2);
        t[k].root.offset = 1;
        add_column(&t[k], "a", "g", a, NULL);
        int64_t b = add_column(&t[k], "b", "l", whole, NULL);
        t[k].array[b].offset = 1;
        t[k].array[b].length = 3;
        add_column(&t[k], "s", "u", start, "xyz");
        batch[k] = t[k].root;
        batch[k].private_data = &t[k].released;
    }
    mcr_arrow_options o = MCR_INIT(mcr_arrow_options);
    test_ok(ctx, mcr_data_arrow(&data, ctx, &t[0].schema, batch, 2, &o));
    assert_int_equal(t[0].released + t[1].released, 2); /* one data set of two batches is a copy */
    assert_int_equal(mcr_data_count(data), 4);
    for (int64_t i = 0; i < 4; i++)
        expect_row(ctx, data, i, (double[]){(double)(1 + i % 2), (double)(12 + i % 2)}, 2);
    expect_text(ctx, data, 1, 2, "y");
    mcr_data_free(data);
}

static void refuse(mcr *ctx, table *t, const char *target, mcr_status code, const char *words)
{
    mcr_data *data = NULL;
    mcr_arrow_options o = MCR_INIT(mcr_arrow_options);
    o.target = target;
    test_fails(ctx, mcr_data_arrow(&data, ctx, &t->schema, &t->root, 1, &o), code, words);
    assert_null(data);
    assert_int_equal(t->released, 1);
}

/* A column of lists of two numbers each. */
static int64_t add_lists(table *t, const char *format, const double *values, int64_t count)
{
    int64_t e = add_column(t, "e", format, NULL, NULL);
    t->item[e] = (struct ArrowSchema){.format = "g", .name = "item"};
    t->items[e] = &t->item[e];
    t->column[e].children = &t->items[e];
    t->column[e].n_children = 1;
    t->child_buffer[e][1] = values;
    t->child[e] = (struct ArrowArray){
        .length = count, .n_buffers = 2, .buffers = t->child_buffer[e]};
    t->children[e] = &t->child[e];
    t->array[e].children = &t->children[e];
    t->array[e].n_children = 1;
    t->array[e].n_buffers = 1;
    return e;
}

/* Lengths and offsets whose sums or products are beyond 64 bits, or that are negative. */
static void refuses_extents(void **state)
{
    mcr *ctx = *state;
    static table t;
    static const double list[] = {1, 2, 3, 4};
    static const int64_t extent[][2] = {
        {-1, 2}, {0, -1}, {INT64_MAX, 2}, {INT64_MIN, 2}, {2, INT64_MAX}};
    const char *words = "column \"e\": the array does not match its schema";
    open_table(&t, 2);
    add_lists(&t, "+w:2", list, 4);
    mcr_data_free(read_table(ctx, &t, NULL, NULL));
    for (size_t i = 0; i < sizeof extent / sizeof *extent; i++) {
        open_table(&t, 2);
        add_lists(&t, "+w:2", list, 4);
        t.array[0].offset = extent[i][0];
        t.array[0].length = extent[i][1];
        refuse(ctx, &t, NULL, MCR_BAD_DATA, words);
        open_table(&t, 2);
        add_lists(&t, "+w:2", list, 4);
        t.child[0].offset = extent[i][0];
        t.child[0].length = extent[i][1];
        refuse(ctx, &t, NULL, MCR_BAD_DATA, words);
        open_table(&t, 2);
        add_words(&t, add_column(&t, "e", "c", (int8_t[]){0, 1}, NULL), "u", 2,
                  (int32_t[]){0, 1, 2}, "ab");
        t.array[0].offset = extent[i][0];
        t.array[0].length = extent[i][1];
        refuse(ctx, &t, NULL, MCR_BAD_DATA, words);
    }
    open_table(&t, 2);
    add_lists(&t, "+w:9223372036854775807", list, 4);
    refuse(ctx, &t, NULL, MCR_BAD_DATA, words);
    open_table(&t, 4);
    add_lists(&t, "+w:4611686018427387904", list, 4); /* times 4 it is 0 */
    refuse(ctx, &t, NULL, MCR_BAD_DATA, words);
    open_table(&t, 4);
    add_column(&t, "e", "g", list, NULL);
    t.root.length = t.root.offset = INT64_MAX;
    refuse(ctx, &t, NULL, MCR_BAD_DATA, words);
}

static void refuses_faults(void **state)
{
    mcr *ctx = *state;
    static table t;
    open_table(&t, 3);
    add_column(&t, "age", "i", (int32_t[]){1, 2, 3}, NULL);
    t.buffer[0][0] = (uint8_t[]){0x5};
    t.array[0].null_count = -1; /* not counted yet */
    refuse(ctx, &t, NULL, MCR_BAD_DATA, "column \"age\", row 2: the value is missing");
    open_table(&t, 2);
    add_column(&t, "a", "g", (double[]){1, NAN}, NULL);
    refuse(ctx, &t, NULL, MCR_BAD_DATA, "row 2, column 1 (\"a\"): the value is not finite");
    open_table(&t, 2);
    add_column(&t, "a", "+l", (double[]){1, 2}, NULL);
    refuse(ctx, &t, NULL, MCR_BAD_CALL, "values of Arrow's type \"+l\" are not supported");
    open_table(&t, 2);
    add_column(&t, "a", "l", (int64_t[]){1, INT64_MIN}, NULL);
    refuse(ctx, &t, NULL, MCR_BAD_DATA, "column \"a\", row 2: a whole number beyond 2^53");
    open_table(&t, 2);
    add_column(&t, "a", "g", (double[]){1, 2}, NULL);
    refuse(ctx, &t, "b", MCR_BAD_CALL, "the table has no column \"b\"");
    open_table(&t, 2);
    add_column(&t, "a", "g", (double[]){1, 2}, NULL);
    t.array[0].length = 1;
    refuse(ctx, &t, NULL, MCR_BAD_DATA, "column \"a\": the array does not match its schema");
    open_table(&t, 2);
    add_words(&t, add_column(&t, "a", "c", (int8_t[]){0, 2}, NULL), "u", 2, (int32_t[]){0, 1, 2},
              "ab");
    refuse(ctx, &t, NULL, MCR_BAD_DATA, "column \"a\", row 2: its code is not in the dictionary");
    open_table(&t, 2);
    add_column(&t, "a", "g", (double[]){1, 2}, NULL);
    t.schema.format = "g";
    refuse(ctx, &t, NULL, MCR_BAD_CALL, "a table is a struct of its columns");
    mcr_data *data = NULL;
    test_fails(ctx, mcr_data_arrow(&data, ctx, &t.schema, &t.root, 1, NULL), MCR_BAD_CALL,
               "has already been released");
}

static mcr_status read_some(mcr *ctx, void *arg)
{
    (void)arg;
    static table t;
    mcr_data *data = NULL;
    mcr_arrow_options o = MCR_INIT(mcr_arrow_options);
    o.target = "y";
    open_table(&t, 3);
    add_column(&t, "a", "g", (double[]){1, 2, 3}, NULL);
    add_column(&t, "b", "i", (int32_t[]){1, 2, 3}, NULL);
    add_column(&t, "s", "u", (int32_t[]){0, 1, 2, 3}, "xyz");
    add_words(&t, add_column(&t, "y", "c", (int8_t[]){0, 1, 0}, NULL), "u", 2, (int32_t[]){0, 1, 2},
              "pq");
    mcr_status s = mcr_data_arrow(&data, ctx, &t.schema, &t.root, 1, &o);
    mcr_data_free(data);
    assert_int_equal(t.released, 1);
    return s;
}

static void survives_failures(void **state)
{
    (void)state;
    assert_true(test_sweep_allocations("arrow", read_some, NULL) > 10);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, test_setup, test_teardown)
    const struct CMUnitTest tests[] = {
        TEST(reads_every_type), TEST(copies_nothing),  TEST(reads_slices),
        TEST(refuses_faults),   TEST(refuses_extents), cmocka_unit_test(survives_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
