/* test_base_number.c: numbers from and to text, against the C library's own (exact, slow) ones.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "helpers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/random.h"
#include "data/scan.h"

static double from_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static uint64_t to_bits(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* From a block without a byte behind the text, so that a sanitizer sees every step too far. */
static double parse(const char *text)
{
    size_t length = strlen(text);
    char *exact = malloc(length > 0 ? length : 1);
    assert_non_null(exact);
    memcpy(exact, text, length);
    double value = 0;
    const char *end = mcr_parse_real(exact, exact + length, &value);
    bool whole = end == exact + length;
    free(exact);
    if (!whole)
        fail_msg("\"%s\" is not read to its end", text);
    return value;
}

static void check_parse(const char *text)
{
    double a = parse(text), b = strtod(text, NULL);
    if (to_bits(a) != to_bits(b))
        fail_msg("\"%s\" is read as %a, not %a", text, a, b);
}

static void reads_plain_numbers(void **state)
{
    (void)state;
    static const char *const texts[] = {"0",
                                        "-0",
                                        "1",
                                        "-1",
                                        "+1",
                                        ".5",
                                        "5.",
                                        "-.5",
                                        "1.5",
                                        "0.1",
                                        "123456",
                                        "0.000001",
                                        "1e5",
                                        "1E5",
                                        "1e+5",
                                        "1e-5",
                                        "-1.5e-3",
                                        "3.14159265358979",
                                        "1e22",
                                        "1e23",
                                        "1e-22",
                                        "9007199254740993",
                                        "9007199254740992.9999999999999999999999999",
                                        "18446744073709551615",
                                        "18446744073709551616",
                                        "99999999999999999999",
                                        "12345678",
                                        "123456789.12345678",
                                        "0000000000000000000000000000000000000000001.5",
                                        "0.00000000000000000000000000000000000015",
                                        "1e400",
                                        "-1e400",
                                        "1e-400",
                                        "1e99999999999999999999",
                                        "1e-99999999999999999999",
                                        "0e99999999999999999999",
                                        "1.7976931348623157e308",
                                        "1.7976931348623159e308",
                                        "4.9406564584124654e-324",
                                        "2.4703282292062327e-324",
                                        "2.4703282292062328e-324",
                                        "2.2250738585072011e-308",
                                        "2.2250738585072014e-308",
                                        "7.3177701707893310e15",
                                        "1.00000000000000011102230246251565404236316680908203125",
                                        "1.00000000000000011102230246251565404236316680908203124",
                                        "1.00000000000000011102230246251565404236316680908203126",
                                        "1.00000000000000033306690738754696212708950042724609375",
                                        "6.631236846766476e-316",
                                        "3.2378839133029012895883524125015321748630094490050e-319",
                                        "8.988465674311580536566680e307"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        check_parse(texts[i]);
}

static void reads_special_words(void **state)
{
    (void)state;
    assert_true(parse("inf") == INFINITY);
    assert_true(parse("-Inf") == -INFINITY);
    assert_true(parse("+INFINITY") == INFINITY);
    assert_true(isnan(parse("nan")) && isnan(parse("-NaN")));
}

static void check_stop(const char *text, ptrdiff_t stop)
{
    double value = 77;
    const char *end = mcr_parse_real(text, text + strlen(text), &value);
    if (stop < 0) {
        assert_null(end);
        assert_true(value == 77); /* untouched */
    } else {
        assert_int_equal(end - text, stop);
    }
}

static void stops_where_the_number_ends(void **state)
{
    (void)state;
    check_stop("1:2", 1);
    check_stop("1.5 2", 3);
    check_stop("1.5.2", 3);
    check_stop("5e", 1);
    check_stop("5e+", 1);
    check_stop("5.e3x", 4);
    check_stop("0x10", 1);
    check_stop("infinit", 3);
    check_stop("nan(1)", 3);
    check_stop("1,5", 1);
    check_stop("12345678:1", 8);
    static const char *const none[] = {"",    "-",  "+",  ".",  "-.", "e5", ".e5", "--1",
                                       "+-1", " 1", "in", "na", "x",  ":1", "\xff"};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
        check_stop(none[i], -1);
    double value;
    const char *digits = "12345";
    assert_null(mcr_parse_real(digits, digits, &value));
    assert_true(mcr_parse_real(digits, digits + 3, &value) == digits + 3 && value == 123);
}

static void reads_random_decimals(void **state)
{
    (void)state;
    mcr_random r = mcr_random_stream(1, "decimals", 0);
    char text[128];
    for (int i = 0; i < 200000; i++) {
        double x = from_bits(mcr_random_bits(&r));
        if (isnan(x) || isinf(x))
            continue;
        snprintf(text, sizeof text, "%.*e", (int)mcr_random_below(&r, 40), x);
        check_parse(text);
        snprintf(text, sizeof text, "%.*f", (int)mcr_random_below(&r, 10),
                 (mcr_random_uniform(&r) - 0.5) * pow(10, (double)mcr_random_below(&r, 12)));
        check_parse(text);
        snprintf(text, sizeof text, "%lld.%llde%d", (long long)mcr_random_below(&r, INT64_MAX),
                 (long long)mcr_random_below(&r, INT64_MAX), (int)mcr_random_below(&r, 700) - 360);
        check_parse(text);
    }
}

/* The middle of two doubles, written in full by the C library, and the same a little above and
 * below, at the last digit and far behind it. */
static void decides_ties_exactly(void **state)
{
    (void)state;
    enum { CAPACITY = 4000 };
    mcr_random r = mcr_random_stream(1, "ties", 0);
    char *text = malloc(CAPACITY);
    assert_non_null(text);
    for (int i = 0; i < 3000; i++) {
        uint64_t exponent = (uint64_t)mcr_random_below(&r, i % 3 == 0 ? 3 : 2046);
        uint64_t bits = exponent << 52 | mcr_random_bits(&r) >> 12;
        double low = from_bits(bits);
        /* long double holds the middle exactly */
        long double middle = ((long double)low + (long double)from_bits(bits + 1)) / 2;
        int length = snprintf(text, CAPACITY, "%.1100Le", middle);
        assert_true(length > 0 && length < CAPACITY);
        char *e = strchr(text, 'e');
        assert_non_null(e);
        check_parse(text);
        assert_true(to_bits(parse(text)) == (bits & 1 ? bits + 1 : bits));
        e[-1] = '1'; /* 1,100 digits behind: far more than are kept */
        assert_true(to_bits(parse(text)) == bits + 1);
        e[-1] = '0';
        char *last = e - 1; /* and 99...9 from the last digit that is not zero */
        for (; *last == '0'; last--)
            *last = '9';
        *last = (char)(*last - 1);
        check_parse(text);
        assert_true(to_bits(parse(text)) == bits);
    }
    free(text);
}

static void reads_integers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t value;
        int stop; /* -1: refused */
    } cases[] = {{"0", 0, 1},
                 {"-0", 0, 2},
                 {"+17", 17, 3},
                 {"123:4", 123, 3},
                 {"9223372036854775807", INT64_MAX, 19},
                 {"-9223372036854775808", INT64_MIN, 20},
                 {"9223372036854775808", 0, -1},
                 {"-9223372036854775809", 0, -1},
                 {"99999999999999999999", 0, -1},
                 {"00000000000000000000000012", 12, 26},
                 {"", 0, -1},
                 {"-", 0, -1},
                 {"x", 0, -1},
                 {" 1", 0, -1},
                 {"1.5", 1, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *t = cases[i].text;
        int64_t value = 0;
        const char *end = mcr_parse_int(t, t + strlen(t), &value);
        if (cases[i].stop < 0) {
            assert_null(end);
        } else {
            assert_int_equal(end - t, cases[i].stop);
            assert_true(value == cases[i].value);
        }
    }
}

static void prints_by_the_rules(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } cases[] = {{0, "0"},
                 {-0.0, "-0"},
                 {3, "3"},
                 {-17, "-17"},
                 {0.1, "0.1"},
                 {100, "100"},
                 {1e15, "1000000000000000"},
                 {9999999999999998, "9999999999999998"},
                 {1e16, "1e16"},
                 {12345678901234567890.0, "1.2345678901234567e19"},
                 {1e-4, "0.0001"},
                 {1.5e-4, "0.00015"},
                 {1e-5, "1e-5"},
                 {1.5e-5, "1.5e-5"},
                 {1.5e300, "1.5e300"},
                 {-1e-300, "-1e-300"},
                 {1.0 / 3, "0.3333333333333333"},
                 {2.0 / 3, "0.6666666666666666"},
                 {1234.5678, "1234.5678"},
                 {5e-324, "5e-324"},
                 {1.7976931348623157e308, "1.7976931348623157e308"},
                 {2.2250738585072014e-308, "2.2250738585072014e-308"},
                 {9007199254740993.0, "9007199254740992"},
                 {123456789012345680.0, "1.2345678901234568e17"},
                 {INFINITY, "inf"},
                 {-INFINITY, "-inf"},
                 {NAN, "nan"},
                 {-NAN, "nan"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[MCR_REAL_TEXT];
        int length = mcr_print_real(text, cases[i].value);
        assert_string_equal(text, cases[i].text);
        assert_int_equal(length, strlen(text));
    }
}

/* The text reads back; with one digit less nothing near does; and when the nearest decimal of that
 * many digits reads back, it is that one. */
static void check_print(double x)
{
    char text[MCR_REAL_TEXT], digits[MCR_REAL_TEXT], other[64];
    int length = mcr_print_real(text, x), count = 0;
    assert_true(length < MCR_REAL_TEXT && text[length] == '\0');
    if (to_bits(strtod(text, NULL)) != to_bits(x) || to_bits(parse(text)) != to_bits(x))
        fail_msg("%a is printed as \"%s\", which does not read back", x, text);
    for (const char *c = text; *c != '\0' && *c != 'e'; c++)
        if (*c >= '0' && *c <= '9' && (count > 0 || *c != '0'))
            digits[count++] = *c;
    while (count > 1 && digits[count - 1] == '0')
        count--;
    if (count > 1) {
        snprintf(other, sizeof other, "%.*e", count - 2, x);
        if (strtod(other, NULL) == x)
            fail_msg("%a is printed as \"%s\", but %s is shorter", x, text, other);
    }
    snprintf(other, sizeof other, "%.*e", count > 0 ? count - 1 : 0, x);
    if (strtod(other, NULL) == x && strtod(other, NULL) != 0) {
        const char *c = other + (other[0] == '-');
        for (int i = 0; i < count; c++) {
            if (*c == '.')
                continue;
            if (*c != digits[i++])
                fail_msg("%a is printed as \"%s\", but %s is nearer", x, text, other);
        }
    }
}

/* Floats of all exponents: the text reads back, and no shorter one does. */
static void prints_floats(void **state)
{
    (void)state;
    mcr_random r = mcr_random_stream(2, "print", 0);
    for (int i = 0; i < 200000; i++) {
        uint32_t bits = (uint32_t)(mcr_random_bits(&r) >> 32), back;
        bits = i % 3 == 0 ? bits & 0xff800003 : bits; /* next to powers of two */
        float x, y;
        char text[MCR_REAL_TEXT], other[64];
        memcpy(&x, &bits, sizeof x);
        if (isnan(x) || isinf(x))
            continue;
        int length = mcr_print_float(text, x), count = 0;
        y = strtof(text, NULL);
        memcpy(&back, &y, sizeof back);
        if (length != (int)strlen(text) || back != bits)
            fail_msg("%a is printed as \"%s\", which does not read back", (double)x, text);
        while (count < 9 &&
               (snprintf(other, sizeof other, "%.*e", count, (double)x), strtof(other, NULL) != x))
            count++;
        int digits = 0, zeros = 0;
        for (const char *c = text; *c != '\0' && *c != 'e'; c++)
            if (*c >= '0' && *c <= '9' && (digits > 0 || *c != '0')) {
                digits++;
                zeros = *c == '0' ? zeros + 1 : 0;
            }
        if (digits - zeros > count + 1)
            fail_msg("%a is printed as \"%s\", but %s is shorter", (double)x, text, other);
    }
    char text[MCR_REAL_TEXT];
    mcr_print_float(text, 0.1F);
    assert_string_equal(text, "0.1");
    mcr_print_float(text, 3.4e15F);
    assert_string_equal(text, "3400000000000000");
    mcr_print_float(text, -INFINITY);
    assert_string_equal(text, "-inf");
}

static void prints_the_shortest(void **state)
{
    (void)state;
    mcr_random r = mcr_random_stream(1, "print", 0);
    for (uint64_t e = 0; e < 2047; e++) {
        static const uint64_t fractions[] = {0, 1, 2, ((uint64_t)1 << 52) - 1, (uint64_t)1 << 51};
        for (int i = 0; i < 5; i++) {
            check_print(from_bits(e << 52 | fractions[i]));
            check_print(-from_bits(e << 52 | fractions[i]));
        }
    }
    for (int i = 0; i < 100000; i++) {
        double x = from_bits(mcr_random_bits(&r));
        if (!isnan(x) && !isinf(x))
            check_print(x);
        check_print((double)mcr_random_below(&r, 10000000) / 1e6);
        check_print((double)mcr_random_below(&r, INT64_MAX) / 1e2);
    }
}

/* The scanner of the readers, whose text ends with a byte that is no digit, at every distance from
 * the end of the text. */
static void scans_as_it_parses(void **state)
{
    (void)state;
    mcr_random r = mcr_random_stream(1, "scan", 0);
    for (int i = 0; i < 200000; i++) {
        enum { MOST = 24 };
        char text[MOST + 16];
        int at = 0, digits = 1 + (int)mcr_random_below(&r, MOST);
        int point = (int)mcr_random_below(&r, MOST + 1);
        if (mcr_random_below(&r, 2))
            text[at++] = '-';
        for (int d = 0; d < digits; d++) {
            if (d == point)
                text[at++] = '.';
            text[at++] = (char)('0' + (d == 0 && point < 3 ? 0 : (int)mcr_random_below(&r, 10)));
        }
        if (mcr_random_below(&r, 8) == 0)
            at += snprintf(text + at, 5, "e%d", (int)mcr_random_below(&r, 40) - 20);
        text[at] = '\n';
        double scanned = 0, parsed = strtod(text, NULL);
        const char *end = mcr_scan_real(text, text + at, &scanned);
        assert_ptr_equal(end, text + at);
        assert_memory_equal(&scanned, &parsed, sizeof parsed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_plain_numbers),
        cmocka_unit_test(reads_special_words),
        cmocka_unit_test(stops_where_the_number_ends),
        cmocka_unit_test(reads_random_decimals),
        cmocka_unit_test(scans_as_it_parses),
        cmocka_unit_test(decides_ties_exactly),
        cmocka_unit_test(reads_integers),
        cmocka_unit_test(prints_by_the_rules),
        cmocka_unit_test(prints_the_shortest),
        cmocka_unit_test(prints_floats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
