/* test_disk.c: matrices that stay in their file, and text that becomes one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "svm_helpers.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "data/data.h"

enum { N = 5000, COLS = 7 };

static float value_of(int64_t i, int64_t c)
{
    return (float)sin((double)(i * COLS + c));
}

/* The header that NumPy writes. */
static void write_header(FILE *file, const char *type, const char *order, int64_t rows, int cols)
{
    static const char begin[] = {'\x93', 'N', 'U', 'M', 'P', 'Y', 1, 0, 118, 0};
    char header[128];
    memset(header, ' ', sizeof header);
    memcpy(header, begin, sizeof begin);
    int length = snprintf(header + 10, 110,
                          "{'descr': '%s', 'fortran_order': %s, 'shape': (%d, %d), }", type, order,
                          (int)rows, cols);
    header[10 + length] = ' ';
    header[127] = '\n';
    assert_int_equal(fwrite(header, 1, sizeof header, file), sizeof header);
}

/* A matrix of floats. */
static void write_npy(const char *path, int64_t rows)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    write_header(file, "<f4", "False", rows, COLS);
    for (int64_t i = 0; i < rows * COLS; i++) {
        float value = value_of(i / COLS, i % COLS);
        assert_int_equal(fwrite(&value, sizeof value, 1, file), 1);
    }
    assert_int_equal(fclose(file), 0);
}

static mcr_data *read_npy(mcr *ctx, const char *path, int on_disk)
{
    mcr_data *data = NULL;
    mcr_read_options how = MCR_INIT(mcr_read_options);
    how.on_disk = on_disk;
    test_ok(ctx, mcr_data_read(&data, ctx, path, &how));
    return data;
}

/* Rows are loaded as they are in the file, by runs and by lists; a third of the memory decides. */
static void test_rows(void **state)
{
    static const int64_t list[] = {4999, 0, 1, 2, 17};
    mcr *ctx = *state;
    char folder[256], path[300];
    test_make_directory(folder);
    snprintf(path, sizeof path, "%s/x.npy", folder);
    write_npy(path, N);
    mcr_data *data = read_npy(ctx, path, 1), *part = NULL, *all = NULL;
    assert_false(mcr_data_on_disk(data)); /* there is memory enough */
    mcr_data_free(data);
    ctx->config.memory_bytes = N * COLS * sizeof(double) * 2;
    data = read_npy(ctx, path, 0);
    assert_false(mcr_data_on_disk(data)); /* nobody asked for it */
    mcr_data_free(data);
    data = read_npy(ctx, path, 1);
    assert_true(mcr_data_on_disk(data));
    assert_int_equal(mcr_data_count(data), N);
    const mcr_rows rows[] = {{list, 0, 5}, {NULL, 100, 2000}};
    for (int t = 0; t < 2; t++) {
        test_ok(ctx, mcr_data_load(&part, data, rows[t]));
        assert_false(mcr_data_on_disk(part));
        for (int64_t i = 0; i < rows[t].count; i++)
            for (int64_t c = 0; c < COLS; c++)
                assert_true(part->store[0]->dense[i * COLS + c] ==
                            (double)value_of(mcr_rows_at(rows[t], i), c));
        mcr_data_free(part);
    }
    /* Views are on disk as well; what needs values in memory is refused. */
    mcr_kernel *kernel;
    mcr_gram *gram = NULL;
    test_ok(ctx, mcr_data_select(&all, data, (mcr_rows){NULL, 0, N}));
    assert_true(mcr_data_on_disk(all));
    test_ok(ctx, mcr_kernel_parse(&kernel, ctx, "rbf(gamma=1)"));
    test_fails(ctx, mcr_gram_open(&gram, ctx, kernel, all, NULL), MCR_OVER_BUDGET,
               "the kernel needs them in memory");
    mcr_kernel_free(kernel);
    mcr_data_free(all);
    mcr_data_free(data);
    test_remove_directory(folder);
}

/* A matrix of zeros, and so many bytes of 0xff from `at` on. */
static void write_zeros(const char *path, const char *type, const char *order, int cols, int bytes,
                        int64_t at, int64_t ones)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    write_header(file, type, order, N * COLS / cols, cols);
    for (int64_t i = 0; i < (int64_t)N * COLS * bytes || i < at + ones; i++)
        fputc(i >= at && i < at + ones ? 0xff : 0, file);
    assert_int_equal(fclose(file), 0);
}

/* Only what can be used as it is stays in its file; all of it is looked at once. */
static void test_types(void **state)
{
    static const struct {
        const char *type, *order;
        int cols, bytes;
        bool stays;
    } types[] = {{"<f4", "False", COLS, 4, true},  {"<f8", "False", COLS, 8, true},
                 {"<f2", "False", COLS, 2, false}, {"<i4", "False", COLS, 4, false},
                 {"<i8", "False", COLS, 8, false}, {">f8", "False", COLS, 8, false},
                 {"<f4", "True", COLS, 4, false},  {"<f4", "True", 1, 4, true}};
    mcr *ctx = *state;
    char folder[256], path[300];
    mcr_data *data = NULL;
    mcr_read_options how = MCR_INIT(mcr_read_options);
    test_make_directory(folder);
    snprintf(path, sizeof path, "%s/x.npy", folder);
    ctx->config.memory_bytes = N * COLS * sizeof(double) * 2;
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        write_zeros(path, types[t].type, types[t].order, types[t].cols, types[t].bytes, 0, 0);
        data = read_npy(ctx, path, 1);
        assert_int_equal(mcr_data_on_disk(data), types[t].stays);
        mcr_data_free(data);
    }
    how.on_disk = 1;
    write_zeros(path, "<f4", "False", COLS, 4, 34000 * 4, 8); /* in the second step: two of them */
    test_fails(ctx, mcr_data_read(&data, ctx, path, &how), MCR_BAD_DATA,
               "x.npy: row 4858, column 2: the value is not finite");
    assert_null(data);
    write_zeros(path, "<f4", "False", COLS, 4, N * COLS * 4, 1);
    test_fails(ctx, mcr_data_read(&data, ctx, path, &how), MCR_BAD_DATA,
               "x.npy: the file is longer than its header says");
    write_zeros(path, "<f4", "False", COLS, 3, 0, 0);
    test_fails(ctx, mcr_data_read(&data, ctx, path, &how), MCR_BAD_DATA,
               "x.npy: the file ends early");
    assert_null(data);
    test_remove_directory(folder);
}

static mcr_status read_large(mcr *ctx, void *arg)
{
    mcr_data *data = NULL;
    mcr_read_options how = MCR_INIT(mcr_read_options);
    how.on_disk = 1;
    ctx->config.memory_bytes = N * COLS * sizeof(double) * 2;
    mcr_status status = mcr_data_read(&data, ctx, arg, &how);
    if (status == MCR_OK)
        assert_true(mcr_data_on_disk(data));
    mcr_data_free(data);
    return status;
}

static void test_memory(void **state)
{
    (void)state;
    char folder[256], path[300];
    test_make_directory(folder);
    snprintf(path, sizeof path, "%s/x.npy", folder);
    write_npy(path, N);
    test_sweep_allocations("a matrix on disk", read_large, path);
    test_remove_directory(folder);
}

/* A file that is cut or written to while it is used is noticed. */
static void test_changes(void **state)
{
    mcr *ctx = *state;
    char folder[256], path[300];
    test_make_directory(folder);
    snprintf(path, sizeof path, "%s/x.npy", folder);
    ctx->config.memory_bytes = N * COLS * sizeof(double) * 2;
    for (int t = 0; t < 2; t++) {
        write_npy(path, N);
        mcr_data *data = read_npy(ctx, path, 1), *part = NULL;
        if (t)
            write_npy(path, N + 1);
        else
            assert_int_equal(truncate(path, 1000), 0);
        test_fails(ctx, mcr_data_load(&part, data, (mcr_rows){NULL, 0, 10}), MCR_BAD_DATA,
                   "the file was changed while it was used");
        assert_null(part);
        mcr_data_free(data);
    }
    test_remove_directory(folder);
}

/* ---- text -------------------------------------------------------------------------------------*/

/* Files of so many lines do not fit in so much memory. */
enum { LINES = 60000, MEMORY = 1 << 20, FEW_LINES = 2000, LITTLE_MEMORY = 1 << 15 };

static void write_csv(const char *path, int lines)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("a,b,weight,class\n", file);
    for (int i = 0; i < lines; i++)
        fprintf(file, "%d,%.3f,%d,%s\n", i, sin(i), 1 + i % 3, i % 2 ? "odd" : "even");
    assert_int_equal(fclose(file), 0);
}

static mcr_status read_cached(mcr *ctx, mcr_data **data, const char *path, int cache, size_t memory)
{
    mcr_read_options how = MCR_INIT(mcr_read_options);
    size_t before = ctx->config.memory_bytes;
    how.cache = cache;
    how.weight = "weight";
    ctx->config.memory_bytes = memory;
    mcr_status s = mcr_data_read(data, ctx, path, &how);
    ctx->config.memory_bytes = before;
    return s;
}

/* Values, classes and weights from the cache of a text file are those of the file. */
static void test_text(void **state)
{
    mcr *ctx = *state;
    char folder[256], path[300], cache[330];
    mcr_data *data = NULL, *want = NULL, *part = NULL;
    test_make_directory(folder);
    snprintf(path, sizeof path, "%s/t.csv", folder);
    snprintf(cache, sizeof cache, "%s.mercer-cache", path);
    write_csv(path, LINES);
    test_ok(ctx, read_cached(ctx, &want, path, 0, MEMORY));
    assert_int_not_equal(access(cache, F_OK), 0);
    for (int time = 0; time < 2; time++) { /* written, then used again */
        test_ok(ctx, read_cached(ctx, &data, path, 1, MEMORY));
        assert_true(mcr_data_on_disk(data));
        assert_int_equal(mcr_data_count(data), LINES);
        assert_int_equal(data->classes->count, 2);
        assert_memory_equal(data->class_of, want->class_of, sizeof(int32_t) * LINES);
        assert_memory_equal(data->weight, want->weight, sizeof(double) * LINES);
        test_ok(ctx, mcr_data_load(&part, data, (mcr_rows){NULL, 0, LINES}));
        assert_memory_equal(part->store[0]->dense, want->store[0]->dense,
                            sizeof(double) * 2 * LINES);
        mcr_data_free(part);
        mcr_data_free(data);
    }
    mcr_data_free(want);
    remove(cache);
    remove(path);
    rmdir(folder);
}

static mcr_status read_twice(mcr *ctx, void *arg)
{
    char cache[330];
    mcr_data *data = NULL;
    snprintf(cache, sizeof cache, "%s.mercer-cache", (const char *)arg);
    remove(cache);
    mcr_status s = read_cached(ctx, &data, arg, 1, LITTLE_MEMORY);
    mcr_data_free(data);
    data = NULL;
    if (!s)
        s = read_cached(ctx, &data, arg, 1, LITTLE_MEMORY);
    assert_true(s || mcr_data_on_disk(data));
    mcr_data_free(data);
    return s;
}

static void test_text_memory(void **state)
{
    (void)state;
    char folder[256], path[300], cache[330];
    test_make_directory(folder);
    snprintf(path, sizeof path, "%s/t.csv", folder);
    write_csv(path, FEW_LINES);
    test_sweep_allocations("a cache", read_twice, path);
    snprintf(cache, sizeof cache, "%s.mercer-cache", path);
    remove(cache);
    remove(path);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_rows, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_types, test_setup, test_teardown),
        cmocka_unit_test(test_memory),
        cmocka_unit_test_setup_teardown(test_changes, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_text, test_setup, test_teardown),
        cmocka_unit_test(test_text_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
