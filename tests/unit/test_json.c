/* test_json.c: the JSON reader and writer.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "helpers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"

static mcr_status parse(mcr_json *json, const char *text)
{
    return mcr_json_parse(json, text, strlen(text), NULL, 1);
}

static void same_text(const mcr_json_value *v, const char *text, size_t length)
{
    assert_int_equal(v->count, length);
    assert_memory_equal(v->text, text, length);
}

static void reads_values(void **state)
{
    mcr_json json;
    mcr_json_init(&json, *state);
    test_ok(*state, parse(&json, " {\"a\": [1, -2.5e1, 0], \"b\": {\"c\": null, \"d\": true},\r\n"
                                 "\t\"e\": \"x\", \"f\": [], \"g\": {}, \"h\": false } "));
    const mcr_json_value *top = json.value;
    assert_int_equal(top->type, MCR_JSON_OBJECT);
    assert_int_equal(top->count, 6);
    assert_int_equal(top->size, json.count);
    assert_int_equal(top->at, 1);
    const mcr_json_value *a = mcr_json_find(top, "a");
    assert_non_null(a);
    assert_int_equal(a->type, MCR_JSON_ARRAY);
    assert_int_equal(a->count, 3);
    assert_int_equal(a->size, 4);
    assert_true(a[1].number == 1 && a[2].number == -25 && a[3].number == 0);
    same_text(&a[2], "-2.5e1", 6);
    const mcr_json_value *b = mcr_json_find(top, "b");
    assert_int_equal(b->count, 2);
    assert_int_equal(mcr_json_find(b, "c")->type, MCR_JSON_NULL);
    assert_int_equal(mcr_json_find(b, "d")->type, MCR_JSON_TRUE);
    assert_true(mcr_json_next(b) < json.value + json.count);
    assert_true(mcr_json_is(mcr_json_next(b), "e"));
    assert_true(mcr_json_is(mcr_json_find(top, "e"), "x"));
    assert_false(mcr_json_is(mcr_json_find(top, "e"), "xy"));
    assert_int_equal(mcr_json_find(top, "f")->count, 0);
    assert_int_equal(mcr_json_find(top, "f")->size, 1);
    assert_int_equal(mcr_json_find(top, "g")->type, MCR_JSON_OBJECT);
    assert_int_equal(mcr_json_find(top, "h")->type, MCR_JSON_FALSE);
    assert_null(mcr_json_find(top, "i"));
    assert_null(mcr_json_find(a, "a"));
    mcr_json_free(&json);
}

static void reads_scalars(void **state)
{
    mcr_json json;
    mcr_json_init(&json, *state);
    static const struct {
        const char *text;
        double value;
    } numbers[] = {{"0", 0},
                   {"-0", -0.0},
                   {"0.1", 0.1},
                   {"1E+2", 100},
                   {"1e-400", 0},
                   {"9007199254740993", 9007199254740992.0},
                   {"1.7976931348623157e308", 1.7976931348623157e308}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        test_ok(*state, parse(&json, numbers[i].text));
        assert_int_equal(json.count, 1);
        assert_true(json.value->number == numbers[i].value);
        assert_int_equal(signbit(json.value->number), signbit(numbers[i].value));
    }
    int64_t whole = 0;
    test_ok(*state, parse(&json, "9007199254740993"));
    assert_true(mcr_json_int(json.value, &whole));
    assert_true(whole == 9007199254740993);
    static const char *const not_whole[] = {"1.0", "1e2", "9223372036854775808", "\"1\"", "true"};
    for (size_t i = 0; i < sizeof not_whole / sizeof *not_whole; i++) {
        test_ok(*state, parse(&json, not_whole[i]));
        assert_false(mcr_json_int(json.value, &whole));
    }
    mcr_json_free(&json);
}

static void reads_strings(void **state)
{
    mcr_json json;
    mcr_json_init(&json, *state);
    test_ok(*state, parse(&json, "\"\""));
    same_text(json.value, "", 0);
    test_ok(*state, parse(&json, "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\""));
    same_text(json.value, "\"\\/\b\f\n\r\t", 8);
    test_ok(*state, parse(&json, "\"a\\u0000b\\u00e9\\u20AC\\uD83D\\uDE00z\""));
    same_text(json.value, "a\0b\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z", 13);
    test_ok(*state, parse(&json, "\"\xc3\xa9\xf4\x8f\xbf\xbf\x7f\""));
    same_text(json.value, "\xc3\xa9\xf4\x8f\xbf\xbf\x7f", 7);
    /* Several strings with escapes share the scratch area. */
    test_ok(*state, parse(&json, "[\"\\n1\", \"plain\", \"2\\n\", {\"\\u006b\": \"\\\\\"}]"));
    same_text(&json.value[1], "\n1", 2);
    same_text(&json.value[2], "plain", 5);
    same_text(&json.value[3], "2\n", 2);
    assert_true(mcr_json_is(mcr_json_find(&json.value[4], "k"), "\\"));
    mcr_json_free(&json);
}

static void refuses(void **state)
{
    static const struct {
        const char *text, *message;
    } bad[] = {
        {"", "JSON:1: column 1: the text ends where a value was expected"},
        {"  ", "JSON:1: column 3: the text ends where a value was expected"},
        {"nul", "JSON:1: column 1: found 'n' where a value was expected"},
        {"NaN", "JSON:1: column 1: found 'N' where a value was expected"},
        {"[1, -Infinity]", "JSON:1: column 5: a number needs a digit after '-'"},
        {"+1", "JSON:1: column 1: found '+' where a value was expected"},
        {".5", "JSON:1: column 1: found '.' where a value was expected"},
        {"01", "JSON:1: column 1: a number must not have leading zeros"},
        {"1.", "JSON:1: column 1: a number needs a digit after its point"},
        {"1.e5", "JSON:1: column 1: a number needs a digit after its point"},
        {"1e", "JSON:1: column 1: a number needs a digit in its exponent"},
        {"1e+", "JSON:1: column 1: a number needs a digit in its exponent"},
        {"1e309", "JSON:1: column 1: the number is too large"},
        {"1 2", "JSON:1: column 3: found '2' where the end was expected"},
        {"[1,]", "JSON:1: column 4: found ']' where a value was expected"},
        {"[1 2]", "JSON:1: column 4: found '2' where ',' or ']' was expected"},
        {"[1", "JSON:1: column 3: the text ends where ',' or ']' was expected"},
        {"[", "JSON:1: column 2: the text ends where a value was expected"},
        {"[}", "JSON:1: column 2: found '}' where a value was expected"},
        {"{\"a\":1,}", "JSON:1: column 8: found '}' where a key in quotes was expected"},
        {"{a:1}", "JSON:1: column 2: found 'a' where a key in quotes was expected"},
        {"{\"a\" 1}", "JSON:1: column 6: found '1' where ':' was expected"},
        {"{\"a\":}", "JSON:1: column 6: found '}' where a value was expected"},
        {"{\"a\":1 \"b\":2}", "JSON:1: column 8: found '\"' where ',' or '}' was expected"},
        {"{\"a\":1]", "JSON:1: column 7: found ']' where ',' or '}' was expected"},
        {"{", "JSON:1: column 2: the text ends where a key in quotes was expected"},
        {"\"a", "JSON:1: column 3: the text ends inside a string"},
        {"\"a\\", "JSON:1: column 4: the text ends inside a string"},
        {"\"a\\x\"", "JSON:1: column 3: unknown escape in a string; a backslash is written \\\\"},
        {"\"\\u12g4\"", "JSON:1: column 2: \\u needs four hexadecimal digits"},
        {"\"\\u12", "JSON:1: column 2: \\u needs four hexadecimal digits"},
        {"\"\\ud800\"", "JSON:1: column 2: half of a surrogate pair is missing"},
        {"\"\\udc00\\ud800\"", "JSON:1: column 2: half of a surrogate pair is missing"},
        {"\"\\ud800\\u0041\"", "JSON:1: column 2: half of a surrogate pair is missing"},
        {"\"a\tb\"", "JSON:1: column 3: control character in a string; write it as an escape"},
        {"\"\xff\"", "JSON:1: column 2: the string is not valid UTF-8"},
        {"\"\xc0\xaf\"", "JSON:1: column 2: the string is not valid UTF-8"},
        {"\"\xed\xa0\x80\"", "JSON:1: column 2: the string is not valid UTF-8"},
        {"\"\xf4\x90\x80\x80\"", "JSON:1: column 2: the string is not valid UTF-8"},
        {"\"\xe2\x82\"", "JSON:1: column 2: the string is not valid UTF-8"},
        {"\x01", "JSON:1: column 1: found byte 0x01 where a value was expected"},
        {"[1,\n 2,\n x]", "JSON:3: column 2: found 'x' where a value was expected"},
    };
    mcr_json json;
    mcr_json_init(&json, *state);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        mcr_status status = parse(&json, bad[i].text);
        assert_int_equal(status, MCR_BAD_DATA);
        assert_string_equal(mcr_message(*state), bad[i].message);
        assert_int_equal(json.count, 0);
    }
    mcr_json_free(&json);
}

static void bounds_depth(void **state)
{
    char text[2 * MCR_JSON_DEPTH + 3];
    mcr_json json;
    mcr_json_init(&json, *state);
    for (int depth = MCR_JSON_DEPTH; depth <= MCR_JSON_DEPTH + 1; depth++) {
        memset(text, '[', (size_t)depth);
        memset(text + depth, ']', (size_t)depth);
        mcr_status status = mcr_json_parse(&json, text, 2 * (size_t)depth, NULL, 1);
        if (depth <= MCR_JSON_DEPTH) {
            test_ok(*state, status);
            assert_int_equal(json.count, depth);
            assert_int_equal(json.value[0].size, depth);
        } else {
            test_fails(*state, status, MCR_BAD_DATA, "column 65: too deep");
        }
    }
    mcr_json_free(&json);
}

static void names_places(void **state)
{
    mcr_json json;
    mcr_json_init(&json, *state);
    const char *text = "{\"a\": [1, 2]}";
    test_ok(*state, mcr_json_parse(&json, text, strlen(text), "f.jsonl", 7));
    const mcr_json_value *a = mcr_json_find(json.value, "a");
    assert_int_equal(mcr_json_fail(&json, &a[2], "%d is odd", 2), MCR_BAD_DATA);
    assert_string_equal(mcr_message(*state), "f.jsonl:7: column 11: 2 is odd");
    assert_string_equal(mcr_message_file(*state), "f.jsonl");
    assert_int_equal(mcr_message_line(*state), 7);
    mcr_json_free(&json);
}

static void knows_utf8(void **state)
{
    (void)state;
    assert_true(mcr_utf8_valid("", 0));
    assert_true(mcr_utf8_valid("a\0\x7f", 3));
    assert_true(mcr_utf8_valid("\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf\xf0\x90\x80\x80", 14));
    static const char *const bad[] = {"\x80",         "\xc1\xbf",         "\xe0\x9f\xbf",
                                      "\xf0\x8f\xbf", "\xf5\x80\x80\x80", "\xc3(",
                                      "\xe2\x28\xa1", "\xf0\x90\x80"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(mcr_utf8_valid(bad[i], strlen(bad[i])));
}

/* By decoding each code point: what the table-driven check must agree with. */
static void utf8_agrees_with_encoder(void **state)
{
    mcr_json json;
    mcr_json_init(&json, *state);
    for (uint32_t c = 0x80; c < 0x110000; c += c < 0x3000 ? 1 : 97) {
        if (c >= 0xd800 && c < 0xe000)
            continue;
        char text[32];
        if (c < 0x10000)
            snprintf(text, sizeof text, "\"\\u%04x\"", c);
        else
            snprintf(text, sizeof text, "\"\\u%04x\\u%04x\"", 0xd800 + ((c - 0x10000) >> 10),
                     0xdc00 + ((c - 0x10000) & 0x3ff));
        test_ok(*state, parse(&json, text));
        assert_true(mcr_utf8_valid(json.value->text, (size_t)json.value->count));
    }
    mcr_json_free(&json);
}

static void writes(void **state)
{
    mcr_text text;
    mcr_json_writer w;
    mcr_text_init(&text, *state);
    mcr_json_write_init(&w, &text);
    mcr_json_write_object(&w);
    mcr_json_write_key(&w, "a\"b");
    mcr_json_write_array(&w);
    mcr_json_write_real(&w, 0.1);
    mcr_json_write_real(&w, NAN);
    mcr_json_write_real(&w, -INFINITY);
    mcr_json_write_int(&w, INT64_MIN);
    mcr_json_write_end_array(&w);
    mcr_json_write_key(&w, "c");
    mcr_json_write_object(&w);
    mcr_json_write_end_object(&w);
    mcr_json_write_key(&w, "d");
    mcr_json_write_array(&w);
    mcr_json_write_array(&w);
    mcr_json_write_end_array(&w);
    mcr_json_write_text(&w, NULL);
    mcr_json_write_string(&w, "\0\n\x1f\x7f\\\xc3\xa9\xff.", 9);
    mcr_json_write_end_array(&w);
    mcr_json_write_end_object(&w);
    test_ok(*state, text.status);
    assert_string_equal(text.bytes, "{\"a\\\"b\":[0.1,null,null,-9223372036854775808],\"c\":{},"
                                    "\"d\":[[],null,"
                                    "\"\\u0000\\n\\u001f\\u007f\\\\\xc3\xa9\xef\xbf\xbd.\"]}");
    mcr_text_free(&text);
}

/* What is written reads back: all bytes that are characters, and numbers of all sizes. */
static void round_trip(void **state)
{
    mcr_text text;
    mcr_json_writer w;
    mcr_json json;
    mcr_text_init(&text, *state);
    mcr_json_init(&json, *state);
    mcr_json_write_init(&w, &text);
    char all[128];
    for (int i = 0; i < 128; i++)
        all[i] = (char)i;
    static const double numbers[] = {5e-324, 1e21, 1e22, 123456.789, -0.0, 3, 1e-7, 1.5e300};
    mcr_json_write_array(&w);
    mcr_json_write_string(&w, all, 128);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        mcr_json_write_real(&w, numbers[i]);
    mcr_json_write_end_array(&w);
    test_ok(*state, text.status);
    test_ok(*state, mcr_json_parse(&json, text.bytes, (size_t)text.length, NULL, 1));
    same_text(&json.value[1], all, 128);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        assert_memory_equal(&json.value[2 + i].number, &numbers[i], sizeof(double));
    mcr_json_free(&json);
    mcr_text_free(&text);
}

static mcr_status sweep(mcr *ctx, void *arg)
{
    (void)arg;
    mcr_json json;
    mcr_text text;
    mcr_json_writer w;
    mcr_json_init(&json, ctx);
    mcr_text_init(&text, ctx);
    mcr_json_write_init(&w, &text);
    mcr_status status = parse(
        &json, "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,\"\\n\",{\"a\":\"\\t\"}]");
    if (status == MCR_OK) {
        for (int64_t i = 0; i < json.count; i++)
            mcr_json_write_real(&w, json.value[i].number);
        status = text.status;
    }
    mcr_json_free(&json);
    mcr_text_free(&text);
    return status;
}

static void survives_no_memory(void **state)
{
    (void)state;
    assert_true(test_sweep_allocations("json", sweep, NULL) >= 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(reads_values, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(reads_scalars, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(reads_strings, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(refuses, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(bounds_depth, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(names_places, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(knows_utf8, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(utf8_agrees_with_encoder, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(writes, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(round_trip, test_setup, test_teardown),
        cmocka_unit_test(survives_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
