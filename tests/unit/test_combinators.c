/* test_combinators.c: normalize, exp, power, conformal and precomputed at their edges.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kernel_types.h"

static void test_normalize(void **state)
{
    mcr *ctx = *state;
    /* The zero vector has no direction: 0 with everything, itself too. Copies have exactly 1. */
    const double v[4][2] = {{0.1, 0.7}, {0, 0}, {0.1, 0.7}, {-0.1, -0.7}};
    const double expected[16] = {1, 0, 1, -1, 0, 0, 0, 0, 1, 0, 1, -1, -1, 0, -1, 1};
    mcr_data *x = points(ctx, v[0], 4, 2);
    double k[16], d[4];
    float f[16];
    test_ok(ctx, matrix(ctx, "normalize(dot)", x, NULL, k, 1));
    assert_memory_equal(k, expected, sizeof k);
    test_ok(ctx, matrix(ctx, "normalize(dot)", x, NULL, f, 0));
    for (int i = 0; i < 16; i++)
        assert_true((double)f[i] == expected[i]);
    mcr_kernel *kernel = parsed(ctx, "normalize(dot)");
    mcr_binding *b = NULL;
    test_ok(ctx, mcr_binding_open(&b, ctx, kernel, x, NULL));
    test_ok(ctx, mcr_bound_diagonal(b->root, 0, (mcr_rows){NULL, 0, 4}, d));
    assert_true(d[0] == 1 && d[1] == 0 && d[2] == 1 && d[3] == 1);
    assert_false(b->mixed);
    mcr_binding_close(b);
    mcr_kernel_free(kernel);
    test_fails(ctx, matrix(ctx, "normalize(dot + -0.2)", x, NULL, k, 1), MCR_NUMERIC,
               "normalize: K(x,x) is negative for object 2");
    mcr_data_free(x);

    /* Values that no float holds: exp(-200) and exp(200) are normalised to exp of a distance. */
    const double far[3][1] = {{20}, {-20}, {19}};
    x = points(ctx, far[0], 3, 1);
    test_ok(ctx, matrix(ctx, "normalize(exp(0.5*dot)*exp(-400))", x, NULL, f, 0));
    test_close_real("wide", (double)f[1], exp(-200 - 200), 1e-30);
    test_close_real("wide", (double)f[2], exp(-0.25), 1e-6);
    assert_true(f[0] == 1 && f[4] == 1 && f[8] == 1 && f[2] == f[6]);
    mcr_data_free(x);
}

static void test_overflow(void **state)
{
    mcr *ctx = *state;
    const double v[2] = {1, 20};
    mcr_data *x = points(ctx, v, 2, 1);
    double k[4];
    float f[4];
    test_ok(ctx, matrix(ctx, "exp(dot)", x, NULL, k, 1));
    test_close_real("exp", k[3] / exp(400), 1, 1e-14);
    test_fails(ctx, matrix(ctx, "exp(dot)", x, NULL, f, 0), MCR_NUMERIC,
               "exp: the value for objects 2 and 2 is too large for float numbers");
    test_fails(ctx, matrix(ctx, "exp(2*dot)", x, NULL, k, 1), MCR_NUMERIC, "double numbers");
    test_fails(ctx, matrix(ctx, "(-1*dot)^200", x, NULL, k, 1), MCR_NUMERIC,
               "power: the value for objects 2 and 2 is too large for double numbers");
    test_fails(ctx, matrix(ctx, "dot^20", x, NULL, f, 0), MCR_NUMERIC, "float numbers");
    test_ok(ctx, matrix(ctx, "dot^20", x, NULL, k, 1));
    test_fails(ctx, matrix(ctx, "normalize(exp(2*dot))", x, NULL, k, 1), MCR_NUMERIC,
               "exp: the value for object 2 is too large");
    mcr_data_free(x);
}

static mcr_status no_value(void *user, const mcr_data *data, int64_t i, double *value)
{
    (void)user;
    (void)data;
    (void)value;
    return i == 1 ? MCR_NUMERIC : MCR_OK;
}

static void test_conformal(void **state)
{
    mcr *ctx = *state;
    const double v[2][2] = {{1, 2}, {3, 4}};
    mcr_data *x = points(ctx, v[0], 2, 2);
    double k[4];
    test_ok(ctx, matrix(ctx, "conformal(1, f=2)", x, NULL, k, 1));
    assert_true(k[0] == 4 && k[1] == 8 && k[2] == 8 && k[3] == 16);
    test_ok(ctx, matrix(ctx, "conformal(1)", x, NULL, k, 1));
    test_close_real("norms", k[1], sqrt(5) * 5, 1e-14);
    test_fails(ctx, matrix(ctx, "conformal(1, f=3)", x, NULL, k, 1), MCR_BAD_DATA,
               "conformal: there is no column 3, \"x\" has 2");
    test_fails(ctx, matrix(ctx, "conformal(1, f=norn)", x, NULL, k, 1), MCR_BAD_CALL,
               "unknown function f=norn (did you mean \"norm\"?)");
    test_fails(ctx, matrix(ctx, "conformal(1, f=zebra)", x, NULL, k, 1), MCR_BAD_CALL,
               "write f=norm");
    test_fails(ctx, matrix(ctx, "conformal(1, f=y:1)", x, NULL, k, 1), MCR_BAD_CALL,
               "the data have no field \"y\"");
    test_fails(ctx, matrix(ctx, "conformal(1, f=0)", x, NULL, k, 1), MCR_BAD_CALL,
               "unknown function f=0");
    test_ok(ctx, mcr_function_register(ctx, "no_value", no_value, NULL));
    test_fails(ctx, mcr_function_register(ctx, "no_value", no_value, NULL), MCR_BAD_CALL,
               "already");
    test_fails(ctx, mcr_function_register(ctx, "norm", no_value, NULL), MCR_BAD_CALL, "already");
    test_fails(ctx, mcr_function_register(ctx, "a b", no_value, NULL), MCR_BAD_CALL, "name");
    test_fails(ctx, matrix(ctx, "conformal(1, f=no_value)", x, NULL, k, 1), MCR_NUMERIC,
               "conformal: f=no_value fails for object 2");
    mcr_data_free(x);
    x = points(ctx, v[0], 1, 2);
    test_fails(ctx, matrix(ctx, "conformal(1, f=no_value)", x, NULL, k, 1), MCR_NUMERIC,
               "conformal: f is not finite for object 1");
    mcr_data_free(x);
}

static mcr_data *table(mcr *ctx, const double *values, int64_t n, int64_t cols, const int64_t *id)
{
    mcr_builder *b = NULL;
    mcr_data *data = NULL;
    test_ok(ctx, mcr_builder_open(&b, ctx, n));
    test_ok(ctx, mcr_builder_precomputed(b, "k", values, cols, id));
    test_ok(ctx, mcr_builder_finish(&data, b));
    return data;
}

static void test_precomputed(void **state)
{
    mcr *ctx = *state;
    const double square[9] = {1, 2, 3, 2, 5, 6, 3, 6, 9}, more[6] = {10, 20, 30, 40, 50, 60};
    const int64_t pick[] = {2, 0};
    mcr_data *train = table(ctx, square, 3, 3, NULL), *test = table(ctx, more, 2, 3, NULL);
    mcr_data *part = NULL;
    double k[9];
    float f[9];
    test_ok(ctx, matrix(ctx, "precomputed", train, NULL, k, 1));
    assert_memory_equal(k, square, sizeof square);
    test_ok(ctx, matrix(ctx, "precomputed", test, train, k, 1));
    assert_memory_equal(k, more, sizeof more);
    const double turned[6] = {10, 40, 20, 50, 30, 60}, picked[4] = {30, 10, 60, 40};
    test_ok(ctx, matrix(ctx, "precomputed", train, test, k, 1));
    assert_memory_equal(k, turned, sizeof turned);
    test_ok(ctx, mcr_data_select(&part, train, (mcr_rows){pick, 0, 2}));
    test_ok(ctx, matrix(ctx, "precomputed", test, part, k, 1));
    assert_memory_equal(k, picked, sizeof picked);
    test_ok(ctx, matrix(ctx, "0.5*precomputed", part, NULL, f, 0));
    assert_true(f[0] == 4.5F && f[1] == 1.5F && f[2] == 1.5F && f[3] == 0.5F);
    test_fails(ctx, matrix(ctx, "precomputed", test, NULL, k, 1), MCR_BAD_DATA,
               "precomputed: object 1 has no number among the 3 reference objects");
    test_fails(ctx, matrix(ctx, "normalize(precomputed)", test, train, k, 1), MCR_BAD_DATA,
               "precomputed: object 1 is not one of the reference objects");
    test_ok(ctx, matrix(ctx, "normalize(precomputed)", part, NULL, k, 1));
    test_close_real("normal", k[1], 3.0 / 3, 1e-15);
    test_fails(ctx, matrix(ctx, "dot", train, NULL, k, 1), MCR_BAD_DATA,
               "dot needs a vector field, but the data have: k (precomputed)");
    mcr_data_free(train);
    mcr_data_free(test);
    mcr_data_free(part);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_normalize, types_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_overflow, types_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_conformal, types_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_precomputed, types_setup, test_teardown),
    };
    return cmocka_run_group_tests_name("combinators", tests, NULL, NULL);
}
