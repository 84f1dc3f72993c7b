/* conform_check.c: mcr_kernel_check: what the closure rules decide, what the data decide, and that
 * a counter-example is one, and as small as it can be.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "rules.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"

/* One thread: those of BLAS wait for each other by spinning, which a busy machine makes long. */
static int single_setup(void **state)
{
    *state = test_open(1);
    return 0;
}

static mcr_check_report *check(mcr *ctx, const char *text, const mcr_data *data, int64_t most)
{
    mcr_kernel *kernel = NULL;
    mcr_check_report *report = NULL;
    test_ok(ctx, mcr_kernel_parse(&kernel, ctx, text));
    test_ok(ctx, mcr_kernel_check(&report, ctx, kernel, data, most));
    mcr_kernel_free(kernel);
    assert_true(report->rules > 0 && report->reason[0] != '\0');
    for (int64_t i = 0; i < report->rules; i++)
        assert_non_null(report->rule[i]);
    return report;
}

/* The report's G is that of its objects, and t'Gt < 0 beyond rounding. */
static void verify(mcr *ctx, const char *text, const mcr_data *data, const mcr_check_report *r)
{
    int64_t m = r->objects;
    double sum = 0, length = 0;
    assert_true(m > 0);
    if (data != NULL) {
        mcr_data *some = NULL;
        test_ok(ctx, mcr_data_select(&some, data, (mcr_rows){r->object, 0, m}));
        double *k = rules_matrix(ctx, text, some, NULL);
        test_close_relative("gram of the report", r->gram, k, m * m, 1e-12);
        free(k);
        mcr_data_free(some);
    }
    for (int64_t i = 0; i < m; i++) {
        length += r->t[i] * r->t[i];
        assert_true(r->shown[i] != NULL && r->shown[i][0] != '\0');
        for (int64_t j = 0; j < i; j++)
            assert_int_not_equal(r->object[i], r->object[j]);
        for (int64_t j = 0; j < m; j++)
            sum += r->t[i] * r->t[j] * r->gram[i * m + j];
    }
    test_close_real("length of t", length, 1, 1e-12);
    test_close_real("t'Gt", r->value, sum, 1e-12 * (1 + fabs(sum)));
    assert_true(r->bound >= 0 && r->value < -r->bound);
    assert_true(r->value >= r->min_eigenvalue - r->bound);
}

static bool has_rule(const mcr_check_report *r, const char *begin, const char *words)
{
    for (int64_t i = 0; i < r->rules; i++)
        if (strncmp(r->rule[i], begin, strlen(begin)) == 0 && strstr(r->rule[i], words) != NULL)
            return true;
    return false;
}

static void test_rules(void **state)
{
    mcr *ctx = *state;
    mcr_check_report *r = check(ctx, "2*rbf(gamma=1)*poly(degree=2, c=1) + linear", NULL, 0);
    assert_int_equal(r->valid, MCR_VALID_YES);
    assert_int_equal(r->tested, 0);
    assert_int_equal(r->objects, 0);
    assert_true(isnan(r->min_eigenvalue));
    /* A rule for each node: the leaves, the constant, the product, the sum, each after its
     * parts. */
    assert_int_equal(r->rules, 6);
    assert_true(has_rule(r, "2:", "constant") && has_rule(r, "rbf(gamma=1):", "PSD") &&
                has_rule(r, "poly(degree=2, c=1):", "PSD") && has_rule(r, "linear:", "PSD"));
    assert_non_null(strstr(r->rule[3], "poly(degree=2, c=1): product"));
    assert_non_null(strstr(r->rule[5], "+ linear:"));
    mcr_check_free(ctx, r);

    mcr_data *moons = NULL;
    test_ok(ctx, mcr_data_sample(&moons, ctx, "moons", 150, -1));
    r = check(ctx, "2*rbf(gamma=1)*poly(degree=2, c=1) + linear", moons, 0);
    assert_int_equal(r->valid, MCR_VALID_YES);
    assert_int_equal(r->tested, 150);
    assert_true(r->min_eigenvalue >= -r->bound);
    assert_non_null(strstr(r->reason, "150"));
    mcr_check_free(ctx, r);
    r = check(ctx, "2*rbf(gamma=1)*poly(degree=2, c=1) + linear", moons, 40);
    assert_int_equal(r->tested, 40);
    mcr_check_free(ctx, r);
    mcr_data_free(moons);
}

static void test_one_object(void **state)
{
    mcr *ctx = *state;
    mcr_data *moons = NULL;
    test_ok(ctx, mcr_data_sample(&moons, ctx, "moons", 50, -1));
    const char *text = "-1*linear";
    for (int with = 0; with < 2; with++) {
        mcr_check_report *r = check(ctx, text, with ? moons : NULL, 0);
        assert_int_equal(r->valid, MCR_VALID_NO);
        assert_int_equal(r->objects, 1);
        assert_true(r->t[0] == 1 && r->gram[0] < 0);
        verify(ctx, text, with ? moons : NULL, r);
        assert_non_null(strstr(r->reason, "one object"));
        mcr_check_free(ctx, r);
    }
    mcr_data_free(moons);
}

static void test_two_objects(void **state)
{
    mcr *ctx = *state;
    mcr_data *moons = NULL;
    test_ok(ctx, mcr_data_sample(&moons, ctx, "moons", 60, -1));
    const char *text = "sigmoid(a=1, b=-1)";
    mcr_check_report *r = check(ctx, text, moons, 0);
    assert_int_equal(r->valid, MCR_VALID_NO);
    verify(ctx, text, moons, r);
    mcr_check_free(ctx, r);
    r = check(ctx, text, NULL, 0);
    assert_int_equal(r->valid, MCR_VALID_NO);
    verify(ctx, text, NULL, r);
    mcr_check_free(ctx, r);
    mcr_data_free(moons);
    /* K(x,x) >= 0, so one object is not enough: (1, x) with K = 1, 2, 2, 1 where x.z > 0. */
    const double v[] = {1, 1.5};
    mcr_builder *b = NULL;
    mcr_data *two = NULL;
    test_ok(ctx, mcr_builder_open(&b, ctx, 2));
    test_ok(ctx, mcr_builder_dense(b, "x", v, 1, 1));
    test_ok(ctx, mcr_builder_finish(&two, b));
    text = "3*linear + -1*linear^2"; /* 2, 2.25; 2.25, 1.6875 */
    r = check(ctx, text, two, 0);
    assert_int_equal(r->valid, MCR_VALID_NO);
    assert_int_equal(r->objects, 2);
    verify(ctx, text, two, r);
    assert_non_null(strstr(r->reason, "two objects"));
    mcr_check_free(ctx, r);
    mcr_data_free(two);
}

/* ---- three objects and more -------------------------------------------------------------------*/

/* An object is the number of its corner. The corners of one polygon (three of a triangle) have K =
 * -v with each other, 1 with themselves, and 0 with all others. The smallest eigenvalue of m of
 * them is 1 - (m - 1) v: v is chosen so that it is negative for all corners of a polygon, and not
 * for one less. From polygon `good` on they have 1/4 with each other, and all is well. */
typedef struct polygon_params {
    int64_t corners, good;
} polygon_params;

static const mcr_param polygon_table[] = {
    {"corners", MCR_INT, offsetof(polygon_params, corners), "3", 3, 9, 0, NULL, "of a polygon"},
    {"good", MCR_INT, offsetof(polygon_params, good), "1", 0, 1000, 0, NULL, "first good one"},
    {.name = NULL},
};

static double polygon_value(int64_t corners)
{
    return 0.5 / (double)(corners - 1) + 0.5 / (double)(corners - 2);
}

static double polygon(const mcr_bound *bound, int64_t i, int64_t j)
{
    const polygon_params *p = mcr_bound_params(bound);
    double x, z;
    mcr_bound_vector(bound, 0, i, &x);
    mcr_bound_vector(bound, 1, j, &z);
    if (x == z)
        return 1;
    double of_x = floor(x / (double)p->corners);
    if (of_x != floor(z / (double)p->corners))
        return 0;
    return of_x < (double)p->good ? -polygon_value(p->corners) : 0.25;
}

static const mcr_kernel_type type_polygon = {
    .size = sizeof(mcr_kernel_type),
    .name = "polygon",
    .summary = "fails for all corners of a polygon, not for fewer objects",
    .kinds = MCR_DENSE,
    .params = polygon_table,
    .params_size = sizeof(polygon_params),
    .indefinite = 1,
    .pair = polygon,
};

/* Corners 0 .. n-1 in random order. */
static mcr_data *corners(mcr *ctx, int64_t n)
{
    int64_t order[99];
    double v[99];
    mcr_builder *b = NULL;
    mcr_data *data = NULL;
    mcr_random r = mcr_random_stream(5, "corners", 0);
    for (int64_t i = 0; i < n; i++)
        order[i] = i;
    mcr_random_shuffle(&r, order, n);
    for (int64_t i = 0; i < n; i++)
        v[i] = (double)order[i];
    test_ok(ctx, mcr_builder_open(&b, ctx, n));
    test_ok(ctx, mcr_builder_dense(b, "x", v, 1, 1));
    test_ok(ctx, mcr_builder_finish(&data, b));
    return data;
}

static void test_polygons(void **state)
{
    mcr *ctx = *state;
    test_ok(ctx, mcr_kernel_register(ctx, &type_polygon));
    static const int64_t sizes[] = {9, 30, 99};
    for (int t = 0; t < 3 * 7; t++) {
        int64_t n = sizes[t / 7], needed = 3 + t % 7;
        double lowest = 1 - (double)(needed - 1) * polygon_value(needed);
        mcr_data *data = corners(ctx, n);
        char text[64], words[32];
        snprintf(words, sizeof words, "%d objects", (int)needed);
        /* One bad polygon; then several, whose eigenvectors have the same value and may mix. */
        for (int good = 1; good <= 7; good += 6) {
            snprintf(text, sizeof text, "polygon(corners=%d, good=%d)", (int)needed, good);
            mcr_check_report *r = check(ctx, text, data, 0);
            assert_int_equal(r->valid, MCR_VALID_NO);
            assert_int_equal(r->objects, needed);
            verify(ctx, text, data, r);
            test_close_real("its eigenvalue", r->value, lowest, 1e-12);
            assert_non_null(strstr(r->reason, words));
            mcr_check_free(ctx, r);
        }
        /* No rule known, and nothing found. */
        mcr_check_report *r = check(ctx, "polygon(good=0)", data, 0);
        assert_int_equal(r->valid, MCR_VALID_UNKNOWN);
        assert_int_equal(r->objects, 0);
        assert_int_equal(r->tested, n);
        assert_non_null(strstr(r->reason, "no counter-example"));
        mcr_check_free(ctx, r);
        mcr_data_free(data);
    }
}

/* ---- at the edges -----------------------------------------------------------------------------*/

/* Kernels on data that make G nearly or exactly singular are not refused for their rounding. */
static void test_singular(void **state)
{
    mcr *ctx = *state;
    static const struct {
        const char *sample, *text;
        int64_t n;
    } cases[] = {
        {"moons", "1", 400},
        {"moons", "1000", 263},
        {"moons", "linear", 400},
        {"moons", "poly(degree=2, c=1)", 400},
        {"moons", "rbf(gamma=1e-6)", 500},
        {"moons", "exp(linear)", 300},
        {"line", "1e6*poly(degree=5, c=1)", 300},
        {"friedman", "normalize(linear)", 300},
        {"sparse", "linear", 400},
        {"motifs", "spectrum(p=2, mode=count)", 300},
        {"molecules", "wl(h=2)", 300},
        {"mixed", "rbf(x, gamma=0.1)*wl(molecule) + spectrum(sequence)", 300},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mcr_data *data = NULL;
        test_ok(ctx, mcr_data_sample(&data, ctx, cases[i].sample, cases[i].n, -1));
        mcr_check_report *r = check(ctx, cases[i].text, data, 0);
        if (r->valid != MCR_VALID_YES)
            fail_msg("%s on %s: %s (eigenvalue %g, bound %g)", cases[i].text, cases[i].sample,
                     r->reason, r->min_eigenvalue, r->bound);
        mcr_check_free(ctx, r);
        mcr_data_free(data);
    }
}

static void test_edges(void **state)
{
    mcr *ctx = *state;
    mcr_data *moons = NULL, *none = NULL, *one = NULL;
    mcr_kernel *k = NULL;
    mcr_check_report *r = NULL;
    test_ok(ctx, mcr_data_sample(&moons, ctx, "moons", 9, -1));
    test_ok(ctx, mcr_data_select(&none, moons, (mcr_rows){NULL, 0, 0}));
    test_ok(ctx, mcr_data_select(&one, moons, (mcr_rows){NULL, 4, 1}));
    test_ok(ctx, mcr_kernel_parse(&k, ctx, "linear"));
    test_fails(ctx, mcr_kernel_check(&r, ctx, k, none, 0), MCR_BAD_DATA, "no objects");
    assert_null(r);
    mcr_kernel_free(k);
    r = check(ctx, "linear", one, 0);
    assert_true(r->valid == MCR_VALID_YES && r->tested == 1);
    mcr_check_free(ctx, r);
    r = check(ctx, "-2*linear", one, 0);
    assert_true(r->valid == MCR_VALID_NO && r->objects == 1 && r->object[0] == 0);
    mcr_check_free(ctx, r);
    /* Data that do not fit are an error, not a verdict. */
    test_ok(ctx, mcr_kernel_parse(&k, ctx, "spectrum(p=3)"));
    test_fails(ctx, mcr_kernel_check(&r, ctx, k, moons, 0), MCR_BAD_DATA, "spectrum");
    assert_null(r);
    mcr_kernel_free(k);
    mcr_data_free(moons);
    mcr_data_free(none);
    mcr_data_free(one);
}

/* A matrix that somebody computed: nothing is known of it but its values. */
static void test_precomputed(void **state)
{
    mcr *ctx = *state;
    static const double good[9] = {2, 1, 0, 1, 2, 1, 0, 1, 2}, bad[9] = {1, 0, 0, 0, 1, 2, 0, 2, 1},
                        crooked[9] = {1, 0, 0, 0.5, 1, 0, 0, 0, 1};
    static const struct {
        const double *values;
        mcr_verdict valid;
        const char *words;
    } cases[] = {{good, MCR_VALID_UNKNOWN, "no counter-example"},
                 {bad, MCR_VALID_NO, "two objects"},
                 {crooked, MCR_VALID_NO, "not symmetric"}};
    for (int i = 0; i < 3; i++) {
        mcr_builder *b = NULL;
        mcr_data *data = NULL;
        test_ok(ctx, mcr_builder_open(&b, ctx, 3));
        test_ok(ctx, mcr_builder_precomputed(b, "k", cases[i].values, 3, NULL));
        test_ok(ctx, mcr_builder_finish(&data, b));
        mcr_check_report *r = check(ctx, "precomputed", data, 0);
        assert_int_equal(r->valid, cases[i].valid);
        assert_non_null(strstr(r->reason, cases[i].words));
        if (i == 1) {
            verify(ctx, "precomputed", data, r);
            assert_true(r->object[0] + r->object[1] == 3 && r->objects == 2);
        }
        mcr_check_free(ctx, r);
        mcr_data_free(data);
    }
}

/* ---- memory -----------------------------------------------------------------------------------*/

static mcr_status run_check(mcr *ctx, void *arg)
{
    mcr_kernel *kernel = NULL;
    mcr_data *data = NULL;
    mcr_check_report *r = NULL;
    mcr_status status = mcr_kernel_parse(&kernel, ctx, arg);
    if (status == MCR_OK)
        status = mcr_data_sample(&data, ctx, "moons", 12, -1);
    if (status == MCR_OK)
        status = mcr_kernel_check(&r, ctx, kernel, data, 0);
    mcr_check_free(ctx, r);
    mcr_data_free(data);
    mcr_kernel_free(kernel);
    return status;
}

static void test_faults(void **state)
{
    (void)state;
    static char texts[][32] = {"rbf(gamma=1) + 2", "sigmoid(a=1, b=-1)", "-1*linear"};
    for (int i = 0; i < 3; i++)
        assert_true(test_sweep_allocations(texts[i], run_check, texts[i]) > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_rules, single_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_one_object, single_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_two_objects, single_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_polygons, single_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_singular, single_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_edges, single_setup, test_teardown),
        cmocka_unit_test_setup_teardown(test_precomputed, single_setup, test_teardown),
        cmocka_unit_test(test_faults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
