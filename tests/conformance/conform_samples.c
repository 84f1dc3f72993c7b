/* conform_samples.c: every synthetic data set: as many objects as asked for, the same for the same
 * seed and any number of threads, written and read back without a change, and fit for kernels.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "rules.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/context.h"

/* The data set as JSON lines, which hold everything; from calloc. */
static char *written(mcr *ctx, const mcr_data *data, const char *folder, size_t *count)
{
    enum { MOST = 1 << 22 };
    char path[300], *bytes = calloc(1, MOST);
    assert_non_null(bytes);
    snprintf(path, sizeof path, "%s/data.jsonl", folder);
    test_ok(ctx, mcr_data_write(data, path, "jsonl"));
    FILE *in = fopen(path, "rb");
    assert_non_null(in);
    *count = fread(bytes, 1, MOST, in);
    assert_true(*count > 0 && *count < MOST);
    fclose(in);
    return bytes;
}

static mcr_data *sample(mcr *ctx, const char *name, int64_t count)
{
    mcr_data *data = NULL;
    test_ok(ctx, mcr_data_sample(&data, ctx, name, count, -1));
    return data;
}

/* A kernel for each field, multiplied. */
static void write_kernel(char *text, size_t most, const mcr_data *data)
{
    size_t used = 0;
    for (int64_t f = 0; f < mcr_data_fields(data); f++) {
        mcr_field_info info = MCR_INIT(mcr_field_info);
        assert_int_equal(mcr_data_field_info(data, f, &info), MCR_OK);
        const char *format = info.kind == MCR_STRINGS  ? "%sspectrum(%s, p=2)"
                             : info.kind == MCR_GRAPHS ? "%swl(%s, h=2)"
                                                       : "%srbf(%s, gamma=0.5)";
        used += (size_t)snprintf(text + used, most - used, format, f > 0 ? "*" : "", info.name);
    }
    assert_true(used > 0 && used < most);
}

/* Read back, it is the same: its text, and its kernel values to the bit. */
static void reads_back(mcr *ctx, const char *name, const mcr_data *data, const char *folder)
{
    size_t count, again;
    char *bytes = written(ctx, data, folder, &count), path[300], text[256];
    mcr_data *back = NULL;
    snprintf(path, sizeof path, "%s/data.jsonl", folder);
    test_ok(ctx, mcr_data_read(&back, ctx, path, NULL));
    assert_int_equal(mcr_data_count(back), mcr_data_count(data));
    assert_int_equal(mcr_data_fields(back), mcr_data_fields(data));
    assert_int_equal(mcr_data_target_kind(back), mcr_data_target_kind(data));
    assert_int_equal(mcr_data_classes(back), mcr_data_classes(data));
    size_t n = (size_t)mcr_data_count(data);
    assert_memory_equal(mcr_data_targets(back), mcr_data_targets(data), n * sizeof(double));
    char *bytes_again = written(ctx, back, folder, &again);
    if (again != count || memcmp(bytes, bytes_again, count) != 0)
        fail_msg("%s: written, read and written again it is not the same", name);
    write_kernel(text, sizeof text, data);
    double *k = rules_matrix(ctx, text, data, NULL), *l = rules_matrix(ctx, text, back, NULL);
    assert_memory_equal(k, l, n * n * sizeof *k);
    for (size_t i = 0; i < n; i++)
        assert_true(isfinite(k[i * n + i]) && k[i * n + i] > 0);
    free(k);
    free(l);
    free(bytes);
    free(bytes_again);
    mcr_data_free(back);
}

static mcr_status make(mcr *ctx, void *arg)
{
    mcr_data *data = NULL;
    mcr_status status = mcr_data_sample(&data, ctx, arg, 5, -1);
    mcr_data_free(data);
    return status;
}

static void test_sample(void **state)
{
    char *name = *state, folder[256];
    test_make_directory(folder);
    mcr *one = test_open(1), *three = test_open(3);
    size_t count, count3;
    assert_true(mcr_data_sample_summary(name) != NULL && mcr_data_sample_summary(name)[0] != '\0');
    static const int64_t sizes[] = {0, 1, 37};
    for (int s = 0; s < 3; s++) {
        mcr_data *a = sample(one, name, sizes[s]), *b = sample(three, name, sizes[s]);
        if (sizes[s] > 0)
            assert_int_equal(mcr_data_count(a), sizes[s]);
        assert_true(mcr_data_count(a) > 0 && mcr_data_fields(a) > 0);
        assert_true(mcr_data_target_kind(a) != MCR_NO_TARGETS);
        char *x = written(one, a, folder, &count), *y = written(three, b, folder, &count3);
        assert_true(count == count3 && memcmp(x, y, count) == 0);
        free(x);
        free(y);
        reads_back(one, name, a, folder);
        mcr_data_free(a);
        mcr_data_free(b);
    }
    /* Another seed, other objects. (Four points of xor stand where they stand.) */
    mcr_data *a = sample(one, name, 30), *b = NULL;
    one->config.seed = 99;
    b = sample(one, name, 30);
    char *x = written(one, a, folder, &count), *y = written(one, b, folder, &count3);
    if (count == count3 && memcmp(x, y, count) == 0)
        fail_msg("%s: the seed changes nothing", name);
    free(x);
    free(y);
    mcr_data_free(a);
    mcr_data_free(b);
    test_close(one);
    test_close(three);
    test_remove_directory(folder);
    test_sweep_allocations(name, make, name);
}

int main(void)
{
    enum { MOST = 100 };
    static struct CMUnitTest tests[MOST];
    size_t count = 0;
    for (const char *const *name = mcr_data_samples(); *name != NULL && count < MOST; name++)
        tests[count++] = (struct CMUnitTest){*name, test_sample, NULL, NULL,
                                             (void *)(uintptr_t)*name};
    if (getenv("CONFORM_ONLY") != NULL)
        cmocka_set_test_filter(getenv("CONFORM_ONLY"));
    return _cmocka_run_group_tests("samples", tests, count, NULL, NULL);
}
