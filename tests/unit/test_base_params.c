/* test_base_params.c: values from text by a table, and back.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "helpers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/context.h"
#include "base/params.h"

typedef struct values {
    double gamma, share, cost, none;
    int64_t degree, seed;
    int shrink, mode;
    char *field, *name;
    mcr_reals weights, scales;
} values;

static const mcr_param table[] = {
    {"gamma", MCR_REAL, offsetof(values, gamma), "0.5", 0, INFINITY, MCR_MIN_OPEN | MCR_MAX_OPEN,
     NULL, "width"},
    {"share", MCR_REAL, offsetof(values, share), "1", 0, 1, 0, NULL, "part"},
    {"C", MCR_REAL, offsetof(values, cost), "inf", 0, INFINITY, MCR_MIN_OPEN, NULL, "cost"},
    {"none", MCR_REAL, offsetof(values, none), NULL, -INFINITY, INFINITY, 0, NULL, "no default"},
    {"degree", MCR_INT, offsetof(values, degree), "3", 1, 100, 0, NULL, "degree"},
    {"seed", MCR_INT, offsetof(values, seed), NULL, -INFINITY, INFINITY, 0, NULL, "no default"},
    {"shrink", MCR_FLAG, offsetof(values, shrink), "yes", 0, 0, 0, NULL, "a flag"},
    {"mode", MCR_CHOICE, offsetof(values, mode), "count", 0, 0, 0, "presence|count|weight", "kind"},
    {"field", MCR_TEXT, offsetof(values, field), NULL, 0, 0, 0, NULL, "field"},
    {"name", MCR_TEXT, offsetof(values, name), "some", 0, 0, 0, NULL, "name"},
    {"weights", MCR_REALS, offsetof(values, weights), NULL, 0, INFINITY, MCR_MIN_OPEN, NULL, "w"},
    {"scales", MCR_REALS, offsetof(values, scales), "[1, 2]", -INFINITY, INFINITY, 0, NULL, "s"},
    {.name = NULL}};

static const mcr_param *find(const char *name)
{
    return mcr_params_find(table, name, strlen(name));
}

static mcr_status set(mcr *ctx, values *v, const char *name, const char *text)
{
    return mcr_params_set(ctx, "rbf", find(name), v, text, strlen(text));
}

static void check_print(mcr *ctx, const values *v, const char *name, const char *expected)
{
    mcr_text t;
    mcr_text_init(&t, ctx);
    mcr_params_print(find(name), v, &t);
    mcr_text_add(&t, "", 0);
    assert_int_equal(t.status, MCR_OK);
    assert_string_equal(t.bytes, expected);
    mcr_text_free(&t);
}

static void starts_with_defaults(void **state)
{
    mcr *ctx = *state;
    values v;
    memset(&v, 0xaa, sizeof v);
    test_ok(ctx, mcr_params_init(ctx, table, &v));
    assert_true(v.gamma == 0.5 && v.share == 1 && v.cost == INFINITY && isnan(v.none));
    assert_true(v.degree == 3 && v.seed == INT64_MIN && v.shrink == 1 && v.mode == 1);
    assert_null(v.field);
    assert_string_equal(v.name, "some");
    assert_int_equal(v.weights.count, 0);
    assert_int_equal(v.scales.count, 2);
    for (const mcr_param *p = table; p->name != NULL; p++) {
        assert_true(mcr_params_is_standard(p, &v));
        bool given = p->standard != NULL;
        assert_int_equal(mcr_params_given(p, &v), given);
    }
    mcr_params_free(ctx, table, &v);
    assert_null(v.name);
}

static void finds_by_name(void **state)
{
    (void)state;
    assert_ptr_equal(mcr_params_find(table, "gamma=1", 5), &table[0]);
    assert_null(mcr_params_find(table, "gamm", 4));
    assert_null(mcr_params_find(table, "gammas", 6));
    assert_null(mcr_params_find(table, "", 0));
}

/* Each text is set, printed in its one form, and set again from that. */
static void sets_and_prints(void **state)
{
    mcr *ctx = *state;
    static const struct {
        const char *name, *text, *printed;
    } cases[] = {{"gamma", "1e-05", "1e-5"},
                 {"gamma", " .25 ", "0.25"},
                 {"C", "inf", "inf"},
                 {"C", "100", "100"},
                 {"none", "-0", "-0"},
                 {"degree", "7", "7"},
                 {"degree", "1e2", "100"},
                 {"seed", "9223372036854775807", "9223372036854775807"},
                 {"seed", "-9223372036854775807", "-9223372036854775807"},
                 {"shrink", "no", "no"},
                 {"shrink", "true", "yes"},
                 {"shrink", "0", "no"},
                 {"mode", "presence", "presence"},
                 {"mode", "weight", "weight"},
                 {"field", "assay_1", "assay_1"},
                 {"field", "two words", "\"two words\""},
                 {"field", "\"quoted, \\\"well\\\"\"", "\"quoted, \\\"well\\\"\""},
                 {"field", "", "\"\""},
                 {"field", "a\\b", "\"a\\\\b\""},
                 {"field", "\"", "\"\\\"\""},
                 {"weights", "2", "2"},
                 {"weights", "[1,2.5,  3e3]", "[1, 2.5, 3000]"},
                 {"weights", "1, 2", "[1, 2]"},
                 {"scales", "[ -1 ]", "-1"},
                 {"scales", "[]", ""}};
    values v;
    test_ok(ctx, mcr_params_init(ctx, table, &v));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        test_ok(ctx, set(ctx, &v, cases[i].name, cases[i].text));
        check_print(ctx, &v, cases[i].name, cases[i].printed);
        if (mcr_params_given(find(cases[i].name), &v)) {
            test_ok(ctx, set(ctx, &v, cases[i].name, cases[i].printed));
            check_print(ctx, &v, cases[i].name, cases[i].printed);
        }
    }
    assert_false(mcr_params_is_standard(find("gamma"), &v));
    assert_false(mcr_params_is_standard(find("scales"), &v));
    test_ok(ctx, set(ctx, &v, "scales", "1,2.0"));
    assert_true(mcr_params_is_standard(find("scales"), &v));
    test_ok(ctx, set(ctx, &v, "scales", "1,2,3"));
    assert_false(mcr_params_is_standard(find("scales"), &v));
    test_ok(ctx, set(ctx, &v, "name", "some"));
    assert_true(mcr_params_is_standard(find("name"), &v));
    mcr_params_free(ctx, table, &v);
}

static void refuses_what_does_not_fit(void **state)
{
    mcr *ctx = *state;
    static const struct {
        const char *name, *text, *words;
    } cases[] = {
        {"gamma", "0", "rbf: gamma must be a number above 0 and finite, not \"0\""},
        {"gamma", "inf", "above 0 and finite, not \"inf\""},
        {"gamma", "-1", "above 0"},
        {"gamma", "1x", "not \"1x\""},
        {"gamma", "", "not \"\""},
        {"gamma", "nan", "not \"nan\""},
        {"gamma", "1 2", "not \"1 2\""},
        {"share", "1.01", "share must be a number from 0 to 1, not \"1.01\""},
        {"C", "0", "C must be a number above 0, not \"0\""},
        {"C", "1e400", "not \"1e400\", which is too large for a number (infinity is written inf)"},
        {"C", "+1e400", "too large"},
        {"gamma", "1e400", "above 0 and finite, not \"1e400\""},
        {"scales", "[1, 1e400]", "not \"[1, 1e400]\""},
        {"none", "zero", "none must be a number, not \"zero\""},
        {"degree", "0", "degree must be a whole number from 1 to 100, not \"0\""},
        {"degree", "2.5", "a whole number"},
        {"degree", "101", "from 1 to 100"},
        {"degree", "99999999999999999999", "a whole number"},
        {"seed", "-9223372036854775808", "a whole number"},
        {"shrink", "maybe", "shrink must be yes or no, not \"maybe\""},
        {"mode", "cuont",
         "mode must be presence, count or weight, not \"cuont\" (did you mean "
         "\"count\"?)"},
        {"mode", "zzzzzzz", "mode must be presence, count or weight, not \"zzzzzzz\""},
        {"mode", "", "not \"\""},
        {"weights", "[1, 0]",
         "weights must be a number or a list such as [1, 2], each number above"},
        {"weights", "[1, 2", "a list"},
        {"weights", "[1 2]", "a list"},
        {"weights", "[1,]", "a list"},
        {"weights", "[,1]", "a list"},
        {"weights", "1,", "a list"},
        {"weights", "", "a list"},
        {"weights", "[", "a list"},
        {"weights", "[nan]", "a list"},
    };
    values v;
    test_ok(ctx, mcr_params_init(ctx, table, &v));
    test_ok(ctx, set(ctx, &v, "weights", "[4, 5]"));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        test_fails(ctx, set(ctx, &v, cases[i].name, cases[i].text), MCR_BAD_CALL, cases[i].words);
    assert_true(v.gamma == 0.5 && v.degree == 3 && v.mode == 1); /* nothing changed */
    assert_true(v.weights.count == 2 && v.weights.values[1] == 5);
    mcr_params_free(ctx, table, &v);
}

static void copies(void **state)
{
    mcr *ctx = *state;
    values v, w;
    test_ok(ctx, mcr_params_init(ctx, table, &v));
    test_ok(ctx, set(ctx, &v, "field", "f"));
    test_ok(ctx, set(ctx, &v, "weights", "[4, 5]"));
    test_ok(ctx, set(ctx, &v, "degree", "5"));
    memset(&w, 0xaa, sizeof w);
    test_ok(ctx, mcr_params_copy(ctx, table, &w, &v));
    mcr_params_free(ctx, table, &v); /* the copy stands alone */
    assert_string_equal(w.field, "f");
    assert_true(w.weights.count == 2 && w.weights.values[0] == 4 && w.degree == 5);
    mcr_params_free(ctx, table, &w);
}

static void refuses_a_bad_table(void **state)
{
    mcr *ctx = *state;
    static const mcr_param bad[] = {
        {"name", MCR_TEXT, offsetof(values, name), "text", 0, 0, 0, NULL, ""},
        {"degree", MCR_INT, offsetof(values, degree), "0", 1, 5, 0, NULL, ""},
        {.name = NULL}};
    values v;
    test_fails(ctx, mcr_params_init(ctx, bad, &v), MCR_BAD_CALL, "default: degree must be");
    assert_null(v.name);
}

static mcr_status use(mcr *ctx, void *arg)
{
    (void)arg;
    values v, w;
    mcr_status status = mcr_params_init(ctx, table, &v);
    if (status != MCR_OK)
        return status;
    status = set(ctx, &v, "field", "a field");
    if (status == MCR_OK)
        status = set(ctx, &v, "weights",
                     "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17]");
    if (status == MCR_OK) {
        status = mcr_params_copy(ctx, table, &w, &v);
        mcr_params_free(ctx, table, &w);
    }
    mcr_params_free(ctx, table, &v);
    return status;
}

static void fails_cleanly(void **state)
{
    (void)state;
    assert_int_equal(test_sweep_allocations("params", use, NULL), 9);
}

/* Several values in one word. */
static void test_ranges(void **state)
{
    mcr *ctx = *state;
    static const struct {
        const char *text;
        int64_t count;
        double values[5];
    } good[] = {
        {"5", 1, {5}},
        {"-2.5e-3", 1, {-2.5e-3}},
        {"2:4", 3, {2, 3, 4}},
        {"0.5:2.9", 3, {0.5, 1.5, 2.5}},
        {"0:1:5", 5, {0, 0.25, 0.5, 0.75, 1}},
        {"1e-2:100:log5", 5, {0.01, 0.1, 1, 10, 100}},
        {"7:7", 1, {7}},
    };
    static const char *const bad[] = {"",        "x",         "1:",    "1:2:",     ":1",
                                      "2:1",     "1:2:1",     "1:1:3", "0:1:log3", "1:2:log",
                                      "1:2:3:4", "nan",       "1:inf", "1:2:log1", "1:1e9",
                                      "1:2:3.5", "1:2:log-3", "1,2"};
    mcr_reals r;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        test_ok(ctx, mcr_range_parse(&r, ctx, "ridge", "lambda", good[i].text));
        assert_int_equal(r.count, good[i].count);
        test_close_relative(good[i].text, r.values, good[i].values, r.count, 1e-15);
        mcr_free(ctx, r.values);
    }
    /* Powers of two are exact, also those of more digits than are tidied. */
    test_ok(ctx, mcr_range_parse(&r, ctx, "ridge", "lambda", "5.9604644775390625e-08:16:log29"));
    for (int i = 0; i < 29; i++)
        assert_true(r.values[i] == ldexp(1, i - 24));
    mcr_free(ctx, r.values);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        test_fails(ctx, mcr_range_parse(&r, ctx, "ridge", "lambda", bad[i]), MCR_BAD_CALL,
                   "ridge: lambda must be");
        assert_null(r.values);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(starts_with_defaults, test_setup, test_teardown),
        cmocka_unit_test(finds_by_name),
        cmocka_unit_test_setup_teardown(sets_and_prints, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(refuses_what_does_not_fit, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(copies, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(refuses_a_bad_table, test_setup, test_teardown),
        cmocka_unit_test(fails_cleanly),
        cmocka_unit_test_setup_teardown(test_ranges, test_setup, test_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
