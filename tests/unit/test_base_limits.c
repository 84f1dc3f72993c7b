/* test_base_limits.c: memory is counted, what a file may cause is in proportion to it, and work
 * that would take too long is refused.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "helpers.h"

#include <string.h>

#include "base/limits.h"
#include "base/stream.h"
#include "data/data.h"
#include "kernel/kernel.h"

static mcr *open_with(size_t data_bytes, size_t memory_bytes, double work_seconds)
{
    mcr_config config = {.size = sizeof config,
                         .threads = 1,
                         .memory_bytes = memory_bytes,
                         .data_bytes = data_bytes,
                         .work_seconds = work_seconds};
    mcr *ctx;
    assert_int_equal(mcr_open(&ctx, &config), MCR_OK);
    return ctx;
}

static const size_t MB = (size_t)1 << 20;

static void counts_all_blocks(void **state)
{
    (void)state;
    mcr *ctx = open_with(10 * MB, 10 * MB, 0); /* and 32 MB: 52 in all */
    void *a = mcr_alloc(ctx, 30, MB), *b = mcr_alloc_zero(ctx, 20, MB);
    assert_true(a && b);
    assert_null(mcr_alloc(ctx, 3, MB));
    assert_non_null(strstr(mcr_message(ctx), "3.1 MB more"));
    assert_null(mcr_resize(ctx, a, 33, MB)); /* a is as it was */
    a = mcr_resize(ctx, a, 10, MB);
    assert_non_null(a);
    void *c = mcr_alloc(ctx, 20, MB);
    assert_non_null(c);
    mcr_free(ctx, a);
    mcr_free(ctx, b);
    mcr_free(ctx, c);
    assert_int_equal(ctx->taken, 0);
    mcr_close(ctx);
}

static void files_cause_in_proportion(void **state)
{
    (void)state;
    mcr *ctx = open_with(0, 0, 0);
    mcr_reading_begin(ctx, "small", 1000);
    assert_null(mcr_alloc(ctx, 33, MB));
    assert_non_null(strstr(mcr_message(ctx), "small: "));
    assert_non_null(strstr(mcr_message(ctx), "out of all proportion"));
    assert_false(mcr_reading_allows(ctx, 33 * MB));
    mcr_reading_bytes(ctx, MB);
    assert_true(mcr_reading_allows(ctx, 33 * MB));
    void *block = mcr_alloc(ctx, 33, MB);
    assert_non_null(block);
    mcr_reading_begin(ctx, "inner", 0); /* the outer one counts */
    assert_null(mcr_alloc(ctx, 70, MB));
    mcr_reading_end(ctx);
    mcr_reading_end(ctx);
    mcr_free(ctx, block);
    block = mcr_alloc(ctx, 100, MB); /* not a file's doing */
    assert_non_null(block);
    mcr_free(ctx, block);
    mcr_close(ctx);

    ctx = open_with(200 * MB, 0, 0); /* who sets the limit gets it */
    mcr_reading_begin(ctx, "small", 1000);
    block = mcr_alloc(ctx, 190, MB);
    assert_non_null(block);
    assert_null(mcr_alloc(ctx, 11, MB));
    assert_non_null(strstr(mcr_message(ctx), "the limit for data is 209 MB"));
    mcr_reading_end(ctx);
    mcr_free(ctx, block);
    mcr_close(ctx);
}

static void unpacking_has_a_ratio(void **state)
{
    (void)state;
    mcr *ctx = open_with(0, 0, 0);
    test_ok(ctx, mcr_reading_unpacked(ctx, "f", 100, 3 * MB)); /* little is free */
    test_ok(ctx, mcr_reading_unpacked(ctx, "f", 100000, 250 * 100000));
    test_fails(ctx, mcr_reading_unpacked(ctx, "f", 100000, 251 * 100000), MCR_BAD_DATA,
               "250 times");
    mcr_close(ctx);
    ctx = open_with(MB, 0, 0);
    test_ok(ctx, mcr_reading_unpacked(ctx, "f", 10, 16 * MB));
    test_fails(ctx, mcr_reading_unpacked(ctx, "f", 10, 18 * MB), MCR_BAD_DATA,
               "16 times the limit");
    mcr_close(ctx);
}

static void work_is_limited(void **state)
{
    (void)state;
    mcr *ctx = open_with(0, 0, 0);
    test_ok(ctx, mcr_work_allow(ctx, 3e8 * 3600, "k"));
    test_fails(ctx, mcr_work_allow(ctx, 3e8 * 3601, "k"), MCR_OVER_BUDGET,
               "limit for work is 3600 s");
    mcr_predicting(ctx, true);
    test_ok(ctx, mcr_work_allow(ctx, 3e8 * 20, "k"));
    test_fails(ctx, mcr_work_allow(ctx, 3e8 * 21, "k"), MCR_OVER_BUDGET, "limit for work is 20 s");
    mcr_predicting(ctx, false);
    test_ok(ctx, mcr_work_allow(ctx, 3e8 * 21, "k"));
    mcr_close(ctx);
    ctx = open_with(0, 0, 2);
    mcr_predicting(ctx, true); /* what the user says holds everywhere */
    test_fails(ctx, mcr_work_allow(ctx, 3e8 * 3, "k"), MCR_OVER_BUDGET,
               "k: this would take about 3 s");
    mcr_close(ctx);
}

static void foreign_kernels_name_no_file(void **state)
{
    mcr *ctx = *state;
    static const char *const text[] = {
        "mahalanobis(file=nowhere.csv)",
        "mahalanobis( file = \"nowhere.csv\" )",
        "conformal(f=a\"b, mahalanobis(file=\"nowhere.csv\"))",
        "linear + 2*(linear*mahalanobis(x, file=nowhere.csv))^2",
    };
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
        mcr_kernel *kernel = NULL;
        test_fails(ctx, mcr_kernel_parse_foreign(&kernel, ctx, text[i]), MCR_BAD_DATA,
                   "names a file");
        assert_null(kernel);
        /* By the user the file is opened, and is not there. */
        assert_int_equal(mcr_kernel_parse(&kernel, ctx, text[i]) == MCR_OK, 0);
    }
    mcr_kernel *kernel = NULL;
    test_ok(ctx, mcr_kernel_parse_foreign(&kernel, ctx, "rbf(\"file\", gamma=1) + linear(file)"));
    mcr_kernel_free(kernel);
}

static void renumbers_features(void **state)
{
    mcr *ctx = *state;
    mcr_data *data = NULL;
    static const char text[] = "1 3:1 1000000:2\n2 5:7\n3 3:4 5:5 1000000:6\n";
    mcr_read_options options = {.size = sizeof options, .format = "libsvm"};
    test_ok(ctx, mcr_data_read_memory(&data, ctx, "d", text, sizeof text - 1, &options));
    const mcr_store *from = mcr_data_field(data, 0).store;
    int32_t *feature = NULL;
    int64_t count = 0;
    mcr_store *to = NULL;
    test_ok(ctx, mcr_store_features(&feature, &count, ctx, &from, 1));
    assert_int_equal(count, 3);
    assert_true(feature[0] == 2 && feature[1] == 4 && feature[2] == 999999);
    test_ok(ctx, mcr_store_renumber(&to, from, feature, count));
    assert_int_equal(to->cols, 3);
    const int32_t wanted[] = {0, 2, 1, 0, 1, 2};
    assert_memory_equal(to->index, wanted, sizeof wanted);
    assert_memory_equal(to->value, from->value, 6 * sizeof(double));
    mcr_store_free(to);
    mcr_free(ctx, feature);
    mcr_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_all_blocks),
        cmocka_unit_test(files_cause_in_proportion),
        cmocka_unit_test(unpacking_has_a_ratio),
        cmocka_unit_test(work_is_limited),
        cmocka_unit_test_setup_teardown(foreign_kernels_name_no_file, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(renumbers_features, test_setup, test_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
