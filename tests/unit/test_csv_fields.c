/* test_csv_fields.c: the records and fields of tables, which of them are numbers or missing, and
 * which separator a table has; byte by byte, in blocks of their own size.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "helpers.h"

#include <stdlib.h>
#include <string.h>

#include "base/stream.h"
#include "data/format/csv_maker.h"

/* The text in a block that ends where it does, so that a sanitizer sees what reads behind it. */
static char *block_of(const char *text)
{
    size_t length = strlen(text);
    char *block = malloc(length > 0 ? length : 1);
    assert_non_null(block);
    memcpy(block, text, length);
    return block;
}

/* ---- fields -----------------------------------------------------------------------------------*/

/* The first record: its fields in brackets, one of quotes in <>, then how it ends and how many
 * bytes it has. */
static void expect_fields(const char *text, char separator, const char *expected, size_t bytes)
{
    static const char ends[] = {'+', '.', 'o', 'b'};
    char *block = block_of(text), found[200] = "";
    const char *p = block, *end = block + strlen(text);
    mcr_csv_state state;
    size_t at = 0;
    do {
        mcr_csv_field f;
        char plain[100];
        state = mcr_csv_next(&f, &p, end, separator);
        size_t length = state == MCR_CSV_OPEN ? 0 : mcr_csv_plain(plain, &f);
        assert_true(length <= f.length && at + length + 3 < sizeof found);
        found[at++] = f.quoted ? '<' : '[';
        memcpy(found + at, plain, length);
        at += length;
        found[at++] = f.quoted ? '>' : ']';
    } while (state == MCR_CSV_FIELD);
    found[at] = ends[state];
    assert_string_equal(found, expected);
    assert_int_equal(p - block, bytes);
    free(block);
}

static void splits_records(void **state)
{
    (void)state;
    expect_fields("a,b\n", ',', "[a][b].", 4);
    expect_fields("\n", ',', "[].", 1);
    expect_fields("\r\n", ',', "[].", 2);
    expect_fields(",\n", ',', "[][].", 2);
    expect_fields("a,b\r\nc\n", ',', "[a][b].", 5);
    expect_fields(" a\t, b c ,\t\n", ',', "[a][b c][].", 12);
    expect_fields("a\t\tb c\t\n", '\t', "[a][][b c][].", 8); /* here tabs are no blanks */
    expect_fields("  ;a\n", ';', "[][a].", 5);
    expect_fields("a\r,b\r c\n", ',', "[a\r][b\r c].", 8); /* alone it is part of a field */
    expect_fields("one field,another field\n", ',', "[one field][another field].", 24);
    expect_fields("a\"bc,d\n", ',', "[a\"bc][d].", 7); /* no quote begins it */
}

static void splits_quoted_fields(void **state)
{
    (void)state;
    expect_fields("\"a,b\" , \"c\n d\"\n", ',', "<a,b><c\n d>.", 15);
    expect_fields("\"\"\r\n", ',', "<>.", 4);
    expect_fields("\"a\"\"b\"\"\"\t;x\n", ';', "<a\"b\">[x].", 12);
    expect_fields("\"a\"\t\"b\"\n", '\t', "<a><b>.", 8);
    expect_fields("\"a\"\r,b\n", ',', "<a>b", 3);
    expect_fields("\"a\" b,c\n", ',', "<a>b", 4);
    expect_fields("\"a,b\n", ',', "<>o", 0);
    expect_fields("c,\"a\"\"\n", ',', "[c]<>o", 2);
}

static void expect_record(const char *text, char separator, int64_t bytes, int64_t lines)
{
    char *block = block_of(text);
    int64_t found = 0;
    const char *stop = mcr_csv_record(block, block + strlen(text), separator, &found);
    assert_int_equal(stop != NULL ? stop - block : -1, bytes);
    if (bytes >= 0)
        assert_int_equal(found, lines);
    free(block);
}

static void finds_ends_of_records(void **state)
{
    (void)state;
    expect_record("", ',', -1, 0);
    expect_record("a,b", ',', -1, 0);
    expect_record("a,b\nc\n", ',', 4, 1);
    expect_record("a,\"b\"\nc\n", ',', 6, 1);
    expect_record("\"a\nb\",c\nd\n", ',', 8, 2);
    expect_record("a,\"\n\n\n\",b\r\n\"", ',', 11, 4);
    expect_record("a,\"b\nc\n", ',', -1, 0);
    expect_record("a,\"b\" c,d\n\"e\n", ',', 10, 1); /* its line is all of it */
    expect_record("\"a\n\" b,\"c\nd\"\n", ',', 10, 2);
    expect_record("a\nb,\"c\n", ',', 2, 1);
}

static void writes_quotes(void **state)
{
    static const char *const text[][2] = {
        {"", "\"\""}, {"ab", "\"ab\""}, {"a\"b", "\"a\"\"b\""}, {"\"a\"", "\"\"\"a\"\"\""}};
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
        char *block = block_of(text[i][0]);
        mcr_text to;
        mcr_text_init(&to, *state);
        mcr_csv_quote(&to, block, strlen(text[i][0]));
        assert_int_equal(to.status, MCR_OK);
        assert_int_equal(to.length, strlen(text[i][1]));
        assert_memory_equal(to.bytes, text[i][1], strlen(text[i][1]));
        mcr_text_free(&to);
        free(block);
    }
}

/* ---- values -----------------------------------------------------------------------------------*/

typedef bool is_such(const mcr_csv_field *field);

static bool ask(is_such *what, const char *text, bool quoted)
{
    char *block = block_of(text);
    bool answer = what(&(mcr_csv_field){.text = block, .length = strlen(text), .quoted = quoted});
    free(block);
    return answer;
}

static bool is_number(const mcr_csv_field *field)
{
    double value;
    return mcr_csv_number(field, &value);
}

static bool is_comma_number(const mcr_csv_field *field)
{
    double value;
    return mcr_csv_comma_number(field, &value);
}

/* All of these are such, or none is. */
static void expect_all(is_such *what, bool expected, const char *const *text)
{
    for (; *text != NULL; text++)
        if (ask(what, *text, false) != expected)
            fail_msg("\"%s\" is %sone", *text, expected ? "not " : "");
}

static void finds_numbers(void **state)
{
    static const char *const good[] = {"1", " 1.5", "-2e3  ", "  7 ", NULL};
    static const char *const bad[] = {"", " ", "  ", "1,5", "x", "1 2", "1x", "\t1", "1\t", NULL};
    static const char *const comma[] = {"1,5", "-0,25", "12", "1.5", " 1,5 ", NULL};
    static const char *const none[] = {"1,5,5", "1,000.5", "1.000,5", "", ",", "x,5", NULL};
    char text[80] = " 1,5";
    double value;
    (void)state;
    expect_all(is_number, true, good);
    expect_all(is_number, false, bad);
    expect_all(is_comma_number, true, comma);
    expect_all(is_comma_number, false, none);
    assert_true(mcr_csv_comma_number(&(mcr_csv_field){.text = text, .length = 4}, &value));
    assert_true(value == 1.5);
    memset(text + 4, '0', 60); /* more than 63 bytes are no such number */
    assert_true(mcr_csv_comma_number(&(mcr_csv_field){.text = text, .length = 63}, &value));
    assert_false(mcr_csv_comma_number(&(mcr_csv_field){.text = text, .length = 64}, &value));
}

static void finds_missing_values(void **state)
{
    static const char *const good[] = {"",     "?",   "NA",  "na",   "N/A",  "n/a",
                                       "#N/A", "NaN", "nan", "null", "NULL", NULL};
    static const char *const bad[] = {"0",  "x",    "??",   "N",     "n",   "N/",   "nu", "nul",
                                      "#N", "#n/x", "none", "nulls", "na ", "NAN1", NULL};
    const mcr_csv_field nothing = {0};
    char to[1];
    (void)state;
    expect_all(mcr_csv_missing, true, good);
    expect_all(mcr_csv_missing, false, bad);
    assert_true(mcr_csv_missing(&nothing));
    assert_true(ask(mcr_csv_missing, "", true));
    assert_false(ask(mcr_csv_missing, "NA", true));
    assert_false(ask(mcr_csv_missing, "?", true));
    assert_int_equal(mcr_csv_plain(to, &nothing), 0);
}

static void finds_decimal_commas(void **state)
{
    static const char *const good[] = {"1,5", "-1,5", "+0,25", "12,5", "1,500", ",55", NULL};
    static const char *const bad[] = {"",     "1",     "15",   "1,",   ",5",   "1,5,5", "1.5",
                                      "1,5-", "1-,5",  "1,5+", "x1,5", "1:,5", "1/,5",  "--1,5",
                                      "12,",  "1+5,5", "-,5",  "1,5e", NULL};
    (void)state;
    expect_all(mcr_csv_decimal_comma, true, good);
    expect_all(mcr_csv_decimal_comma, false, bad);
}

static void finds_groups_of_thousands(void **state)
{
    static const char *const good[] = {"1,234",        "12,345", "123,456",      "1,234,567",
                                       "-1,234",       "+1,234", "1,234.",       "1,234.5",
                                       "1,234,567.89", "0,000",  "1,999,909.09", NULL};
    static const char *const bad[] = {"",         "-",       "1",         "123",      "1234",
                                      "123.5",    ",123",    "1234,567",  "1,23,456", "1,2345,678",
                                      "1,23",     "1,2345",  "1,,234",    "1,234,",   "1,234,.5",
                                      "1,234.x",  "1,234./", "1,234.:",   "1,234.5,", "1,2x4",
                                      "1,2/4",    "1,2:4",   "--1,234",   "x1,234",   "1,234x",
                                      "1,234.5.", "-,123",   "1,234.5-6", "a,bcd",    NULL};
    (void)state;
    expect_all(mcr_csv_thousands, true, good);
    expect_all(mcr_csv_thousands, false, bad);
    assert_false(mcr_csv_thousands(&(mcr_csv_field){0}));
}

/* ---- separators -------------------------------------------------------------------------------*/

static void expect_separator(const char *text, char separator, double share)
{
    char *block = block_of(text);
    double found;
    if (mcr_csv_separator(block, strlen(text), &found) != separator || found != share)
        fail_msg("\"%s\": not the separator '%c', or not %g of the records", text, separator,
                 share);
    free(block);
}

static void finds_separators(void **state)
{
    (void)state;
    expect_separator("", 0, 0);
    expect_separator("a,b", 0, 0); /* no line ends */
    expect_separator("ab\ncd\n", 0, 0);
    expect_separator("a,b\n", ',', 1);
    expect_separator("a;b\n", ';', 1);
    expect_separator("a\tb\n", '\t', 1);
    expect_separator("a,b\n1,2\n3", ',', 1); /* the last line is not all there */
    expect_separator("a,b\nc\nd,e\nf,g\n", ',', 0.75);
    expect_separator("a,b\nc,d,\nd,e\nf,g\n", ',', 0.75);
    expect_separator("a,b\n\n \n\nd,e\n", ',', 1); /* blank lines say nothing */
    expect_separator("a,b\n\"\"\nd,e\nf,g\n", ',', 0.75);
    expect_separator("a,b\nc\nd,e\n\"f\n", ',', 2. / 3); /* an open quote */
    /* More alike, then more numbers decide; then the first. */
    expect_separator("a,b;c\nd,e,f;g\n", ';', 1);
    expect_separator("a,b;c\nd,e;f;g\n", ',', 1);
    expect_separator("1,5;2,5\n3,5;4,5\n", ';', 1);
    expect_separator("a,1 b;2\nc,3 d;4\n", ';', 1);
    expect_separator("1,a b;x\n2,c d;x\n", ',', 1);
    expect_separator("a b;1,2,x\nc d;3,4,x\n", ',', 1);
    expect_separator("a;b\tc\n1;2\t3\n4;5\t6\n", ';', 1);
    expect_separator("x;1\ty\tz\nx;2\ty\tz\n", ';', 1);
}

/* Fifty records decide. */
static void looks_at_the_first_records(void **state)
{
    char text[1000] = "";
    (void)state;
    for (int i = 0; i < 50; i++)
        strcat(text, "a,b\n");
    strcat(text, "c\n");
    expect_separator(text, ',', 1);
    expect_separator(text + 4, ',', 49. / 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(splits_records),
        cmocka_unit_test(splits_quoted_fields),
        cmocka_unit_test(finds_ends_of_records),
        cmocka_unit_test_setup_teardown(writes_quotes, test_setup, test_teardown),
        cmocka_unit_test(finds_numbers),
        cmocka_unit_test(finds_missing_values),
        cmocka_unit_test(finds_decimal_commas),
        cmocka_unit_test(finds_groups_of_thousands),
        cmocka_unit_test(finds_separators),
        cmocka_unit_test(looks_at_the_first_records),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
