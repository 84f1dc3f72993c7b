/* Columns of a table from arrays: the same data set, default kernel and model as from a csv file;
 * what is refused; roles that columns of strings are given.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "helpers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <mercer/mercer.h>

enum { N = 60, LINE = 80 };

static const char *const cities[] = {"Rome", "Oslo", "", "Lima"};

/* Row i: age, days since 1970 (all of January 2024), city, class. Some are missing. */
static double age(int i)
{
    return i % 9 == 4 ? (double)NAN : 20 + (i * 37 % 50) + 0.5 * (i % 2);
}

static double day(int i)
{
    return i % 13 == 5 ? (double)NAN : 19723.0 + i % 31;
}

static double label(int i)
{
    return (i * 37 % 50 > 25) != (i % 4 == 0);
}

typedef struct words {
    int32_t start[N + 1];
    char bytes[N * 8];
    int released;
} words;

static void count_release(void *user)
{
    ((words *)user)->released++;
}

static mcr_string_view city_view(words *w)
{
    size_t at = 0;
    for (int i = 0; i < N; i++) {
        size_t length = strlen(cities[i % 4]);
        w->start[i] = (int32_t)at;
        memcpy(w->bytes + at, cities[i % 4], length);
        at += length;
    }
    w->start[N] = (int32_t)at;
    mcr_string_view v = MCR_INIT(mcr_string_view);
    v.start = w->start;
    v.start_type = MCR_INT32;
    v.bytes = w->bytes;
    v.release = count_release;
    v.user = w;
    return v;
}

static mcr_status build(mcr_data **out, mcr *ctx, const char *missing, words *w)
{
    static const char *const names[] = {"age", "joined", "city", "code"};
    static const mcr_role roles[] = {MCR_NUMBER, MCR_DATE, MCR_CATEGORY, MCR_IGNORED};
    double ages[N], days[N], labels[N];
    for (int i = 0; i < N; i++) {
        ages[i] = age(i);
        days[i] = day(i);
        labels[i] = label(i);
    }
    mcr_dense_view x = MCR_INIT(mcr_dense_view);
    x.values = ages;
    x.cols = 1;
    x.column = names;
    mcr_string_view v = city_view(w);
    mcr_builder *b = NULL;
    mcr_status s = mcr_builder_open(&b, ctx, N);
    if (s == MCR_OK && missing)
        s = mcr_builder_missing(b, missing);
    if (s == MCR_OK)
        s = mcr_builder_numbers(b, &x);
    if (s == MCR_OK)
        s = mcr_builder_dates(b, "joined", days);
    if (s == MCR_OK)
        s = mcr_builder_words_column(b, "city", MCR_CATEGORY, &v);
    if (s == MCR_OK)
        s = mcr_builder_columns(b, names, roles, 4);
    if (s == MCR_OK)
        s = mcr_builder_targets(b, labels);
    if (s == MCR_OK)
        return mcr_builder_finish(out, b);
    mcr_builder_close(b);
    return s;
}

static void read_csv(mcr_data **out, mcr *ctx)
{
    char text[LINE * (N + 1)], *at = text;
    at += snprintf(at, LINE, "age,joined,city,code,label\n");
    for (int i = 0; i < N; i++) {
        if (!isnan(age(i)))
            at += snprintf(at, LINE / 4, "%g", age(i));
        at += snprintf(at, LINE / 4, ",");
        if (!isnan(day(i)))
            at += snprintf(at, LINE / 4, "2024-01-%02d", i % 31 + 1);
        at += snprintf(at, LINE / 2, ",%s,x,%d\n", cities[i % 4], (int)label(i));
    }
    mcr_read_options o = MCR_INIT(mcr_read_options);
    o.missing = "auto";
    o.drop = "code";
    assert_int_equal(mcr_data_read_memory(out, ctx, "t.csv", text, (size_t)(at - text), &o),
                     MCR_OK);
}

static void compare_fields(const mcr_data *a, const mcr_data *b)
{
    assert_int_equal(mcr_data_fields(a), mcr_data_fields(b));
    for (int64_t f = 0; f < mcr_data_fields(a); f++) {
        mcr_field_info x = MCR_INIT(mcr_field_info), z = MCR_INIT(mcr_field_info);
        assert_int_equal(mcr_data_field_info(a, f, &x), MCR_OK);
        assert_int_equal(mcr_data_field_info(b, f, &z), MCR_OK);
        assert_string_equal(x.name, z.name);
        assert_int_equal(x.role, z.role);
        assert_int_equal(x.missing, z.missing);
        assert_true(x.missing > 0);
        assert_int_equal(x.cols, z.cols);
        for (int64_t c = 0; c < x.cols; c++)
            assert_string_equal(mcr_data_column_name(a, f, c), mcr_data_column_name(b, f, c));
    }
}

static mcr_model *train(mcr *ctx, const mcr_data *data)
{
    mcr_options *o = NULL;
    mcr_model *model = NULL;
    assert_int_equal(mcr_options_open(&o, ctx, "svm"), MCR_OK);
    assert_int_equal(mcr_options_set(o, "scale", "standard"), MCR_OK);
    assert_int_equal(mcr_fit(&model, o, NULL, data, NULL), MCR_OK);
    mcr_options_close(o);
    return model;
}

static void equals_a_file(void **state)
{
    mcr *ctx = *state;
    words w = {.released = 0};
    mcr_data *made = NULL, *file = NULL;
    assert_int_equal(build(&made, ctx, "auto", &w), MCR_OK);
    read_csv(&file, ctx);
    compare_fields(made, file);
    mcr_model *a = train(ctx, made), *b = train(ctx, file);
    assert_string_equal(mcr_model_report(a)->kernel, mcr_model_report(b)->kernel);
    assert_non_null(strstr(mcr_model_report(a)->kernel, "equal(category)"));
    assert_true(mcr_model_report(a)->objective == mcr_model_report(b)->objective);
    mcr_role role;
    assert_int_equal(mcr_layout_columns(mcr_model_layout(a)), 4);
    assert_string_equal(mcr_layout_column(mcr_model_layout(a), 2, &role), "city");
    assert_int_equal(role, MCR_CATEGORY);
    assert_null(mcr_layout_column(mcr_model_layout(a), 4, &role));
    double value[N], other[N];
    assert_int_equal(mcr_predict(ctx, a, file, NULL, value, NULL), MCR_OK);
    assert_int_equal(mcr_predict(ctx, b, made, NULL, other, NULL), MCR_OK);
    assert_memory_equal(value, other, sizeof value);
    mcr_model_free(a);
    mcr_model_free(b);
    mcr_data_free(file);
    assert_int_equal(w.released, 0);
    mcr_data_free(made);
    assert_int_equal(w.released, 1);
}

static void refuses_faults(void **state)
{
    mcr *ctx = *state;
    words w = {.released = 0};
    mcr_data *made = NULL;
    assert_int_equal(build(&made, ctx, NULL, &w), MCR_BAD_DATA);
    assert_non_null(strstr(mcr_message(ctx), "\"age\" is missing"));
    assert_int_equal(build(&made, ctx, "drop", &w), MCR_BAD_CALL);
    assert_int_equal(build(&made, ctx, "average", &w), MCR_BAD_CALL);
    mcr_builder *b = NULL;
    mcr_string_view v = city_view(&w);
    assert_int_equal(mcr_builder_open(&b, ctx, N), MCR_OK);
    assert_int_equal(mcr_builder_words_column(b, "city", MCR_NUMBER, &v), MCR_BAD_CALL);
    assert_int_equal(w.released, 1);
    mcr_builder_close(b);
    double infinite = INFINITY;
    mcr_dense_view x = MCR_INIT(mcr_dense_view);
    x.values = &infinite;
    x.cols = 1;
    x.column = (const char *const[]){"a"};
    assert_int_equal(mcr_builder_open(&b, ctx, 1), MCR_OK);
    assert_int_equal(mcr_builder_missing(b, "auto"), MCR_OK);
    assert_int_equal(mcr_builder_numbers(b, &x), MCR_BAD_DATA);
    mcr_builder_close(b);
}

/* The role of a column of these strings, with commas between them; "_" is one that is missing. */
static mcr_role role_of(mcr *ctx, const char *name, const char *list, int whole)
{
    int64_t start[100] = {0}, count = 0;
    char bytes[400] = {0};
    size_t at = 0;
    for (const char *p = list; *p; p++)
        if (*p == ',')
            start[++count] = (int64_t)at;
        else if (*p != '_')
            bytes[at++] = *p;
    start[++count] = (int64_t)at;
    mcr_string_view v = MCR_INIT(mcr_string_view);
    v.start = start;
    v.start_type = MCR_INT64;
    v.bytes = bytes;
    mcr_role role;
    assert_int_equal(mcr_role_guess(&role, ctx, name, &v, count, whole), MCR_OK);
    return role;
}

static void guesses_roles(void **state)
{
    mcr *ctx = *state;
    assert_int_equal(role_of(ctx, "city", "a,b,a,b,_,a", 0), MCR_CATEGORY);
    assert_int_equal(role_of(ctx, "note", "one,two,three", 0), MCR_WORDS);
    assert_int_equal(role_of(ctx, "day", "2024-01-01,2024-02-30,2024-03-03", 0), MCR_WORDS);
    assert_int_equal(role_of(ctx, "day", "2024-01-01,2024-02-29,2024-03-03", 0), MCR_DATE);
    assert_int_equal(role_of(ctx, "tags", "a;b,b;c,d", 0), MCR_SET);
    assert_int_equal(role_of(ctx, "user_id", "1,2,3", 1), MCR_ID);
    assert_int_equal(role_of(ctx, "user_id", "1,2,2", 1), MCR_NUMBER);
    assert_int_equal(role_of(ctx, "price", "1,2,3", 1), MCR_NUMBER);
    assert_int_equal(role_of(ctx, "empty", "_,_", 0), MCR_WORDS);
}

static mcr_status build_all(mcr *ctx, void *arg)
{
    (void)arg;
    words w = {.released = 0};
    mcr_data *made = NULL;
    mcr_status s = build(&made, ctx, "auto", &w);
    mcr_data_free(made);
    return s;
}

static void survives_failures(void **state)
{
    (void)state;
    assert_true(test_sweep_allocations("builder table", build_all, NULL) > 10);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, test_setup, test_teardown)
    const struct CMUnitTest tests[] = {
        TEST(equals_a_file),
        TEST(refuses_faults),
        TEST(guesses_roles),
        cmocka_unit_test(survives_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
