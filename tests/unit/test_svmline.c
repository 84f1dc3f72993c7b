/* test_svmline.c: the parts of a line of a LIBSVM file, what can be wrong with them, and what the
 * first lines of a file look like.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "helpers.h"

#include "data/format/svmline.h"

#include <stdlib.h>
#include <string.h>

/* ---- words of a line --------------------------------------------------------------------------*/

static void expect_label(const char *line, bool wanted, size_t end, mcr_svm_kind kind)
{
    mcr_svm_fault fault = {.kind = MCR_SVM_FINE};
    assert_int_equal(mcr_svm_label(line, wanted, &fault) - line, end);
    assert_int_equal(fault.kind, kind);
}

static void finds_labels(void **state)
{
    (void)state;
    expect_label("pos 1:2\n", true, 3, MCR_SVM_FINE);
    expect_label("pos\t1:2\n", true, 3, MCR_SVM_FINE);
    expect_label("pos#x\n", true, 3, MCR_SVM_FINE);
    expect_label("pos\r\n", true, 3, MCR_SVM_FINE);
    expect_label("p\rs\n", true, 3, MCR_SVM_FINE); /* alone it is part of the word */
    expect_label("1:2 3:4\n", false, 0, MCR_SVM_FINE);
    expect_label("pos 3:4\n", false, 3, MCR_SVM_FINE);
    expect_label("1:2 3:4\n", true, 3, MCR_SVM_NO_LABEL);
    expect_label("1,2 3:4\n", true, 3, MCR_SVM_MANY_LABELS);
}

static void expect_fault(const char *token, int64_t before, mcr_svm_kind kind, const char *shown)
{
    mcr_svm_fault fault = {.kind = MCR_SVM_FINE};
    mcr_svm_explain(&fault, token, token + strlen(token), before);
    assert_int_equal(fault.kind, kind);
    assert_int_equal(fault.before, before);
    assert_int_equal(fault.length, strlen(shown));
    assert_memory_equal(fault.token, shown, fault.length);
}

static void explains_faults(void **state)
{
    (void)state;
    expect_fault("17\n", 0, MCR_SVM_NO_PAIR, "17");
    expect_fault("qid:3\n", 0, MCR_SVM_QID, "qid:3");
    expect_fault("qidx:3\n", 0, MCR_SVM_NO_PAIR, "qidx:3");
    expect_fault("abc:3\n", 0, MCR_SVM_NO_PAIR, "abc:3");
    expect_fault(":3\n", 0, MCR_SVM_NO_PAIR, ":3");
    expect_fault("1a:3\n", 0, MCR_SVM_NO_PAIR, "1a:3");
    expect_fault("-1:3\n", 0, MCR_SVM_NO_PAIR, "-1:3");
    expect_fault("4294967296:3\n", 0, MCR_SVM_LARGE_INDEX, "4294967296");
    expect_fault("99999999999999999999:3\n", 0, MCR_SVM_LARGE_INDEX, "99999999999999999999");
    expect_fault("0:3\n", 0, MCR_SVM_ZERO_INDEX, "0:3");
    expect_fault("100:3\n", 200, MCR_SVM_FALLING_INDEX, "100:3");
    expect_fault("100:3\n", 100, MCR_SVM_FALLING_INDEX, "100:3");
    expect_fault("100:\n", 99, MCR_SVM_NO_VALUE, "100:");
    expect_fault("100:x\n", 99, MCR_SVM_NO_NUMBER, "x");
    expect_fault("100:1e999\n", 99, MCR_SVM_NOT_FINITE, "1e999");
}

static void says_what_is_wrong(void **state)
{
    mcr_svm_fault fault = {.kind = MCR_SVM_FALLING_INDEX, .index = 3, .before = 5};
    test_fails(*state, mcr_svm_fail(&fault, *state, "f", 7), MCR_BAD_DATA,
               "f:7: index 3 follows index 5; indices must be ascending");
    fault.before = 3;
    test_fails(*state, mcr_svm_fail(&fault, *state, "f", 7), MCR_BAD_DATA,
               "f:7: index 3 occurs twice");
    fault.kind = MCR_SVM_FINE;
    test_ok(*state, mcr_svm_fail(&fault, *state, "f", 7));
}

static void targets_are_first_words(void **state)
{
    mcr_read_options options = {.size = sizeof options};
    bool labelled = false;
    test_ok(*state, mcr_svm_target(&labelled, *state, &options));
    assert_true(labelled);
    options.target = "none";
    test_ok(*state, mcr_svm_target(&labelled, *state, &options));
    assert_false(labelled);
    options.target = "y";
    test_fails(*state, mcr_svm_target(&labelled, *state, &options), MCR_BAD_CALL,
               "target \"y\": in this format the target is the first word of each line");
}

/* ---- detection --------------------------------------------------------------------------------*/

/* A copy without a byte too many, so that a sanitizer sees what is read beyond. */
static void expect_look(const char *text, size_t count, bool first_fits, bool all_fit,
                        int64_t pairs, bool serial)
{
    char *bytes = malloc(count > 0 ? count : 1);
    assert_non_null(bytes);
    memcpy(bytes, text, count);
    mcr_svm_look look = mcr_svm_look_at(bytes, count);
    free(bytes);
    assert_int_equal(look.first_fits, first_fits);
    assert_int_equal(look.all_fit, all_fit);
    assert_int_equal(look.pairs, pairs);
    assert_int_equal(look.serial, serial);
}

#define LOOK(text, ...) expect_look(text, strlen(text), __VA_ARGS__)

static void looks_at_pairs(void **state)
{
    (void)state;
    LOOK("", false, true, 0, false);
    LOOK("1 12:2 13:3\n", true, true, 2, false);
    LOOK("1 1:2\n1 2:3", true, true, 2, false);
    LOOK("1 1:2 ", true, true, 1, false);
    LOOK("1\t1:2\r", true, true, 1, false);
    LOOK("1\r1:2\n", true, true, 1, false);
    LOOK("1 1:2 # 3:4 x\n", true, true, 1, false);
    LOOK("1:2 3:4\n", true, true, 2, false); /* without a label */
    LOOK("1\n2\n", true, true, 0, false);
    LOOK("1 x\n", false, false, 0, false);
    LOOK("1 qid:3 1:2\n", true, true, 2, false);
    LOOK("1 qidx:3\n", false, false, 0, false);
    LOOK("1 abc:3\n", false, false, 0, false);
    LOOK("1 a:3\n", false, false, 0, false);
    LOOK("1 -2:3\n", false, false, 0, false);
    LOOK("x y\n1 1:2\n", false, false, 1, false);
    LOOK("1 1:2\nx y\n", true, false, 1, false);
    LOOK("1 1:2 x", false, false, 1, false); /* short files are whole */
}

static void looks_at_serial_numbers(void **state)
{
    (void)state;
    LOOK("1 0:1 1:5\n2 0:2 1:3\n", true, true, 4, true);
    LOOK("1 0:1 1:5\n2 0:3 1:3\n", true, true, 4, false);
    LOOK("1 0:1 1:5\n\n  \n\r\n# 9\n2 0:2\n  ", true, true, 3, true);
    LOOK("1 0:1 1:5\n2\n", true, true, 2, false);
    LOOK("1 0:1 x\n", false, false, 1, true);
    LOOK("1 x 0:1\n", false, false, 1, false);
    LOOK("1 0:\n", true, true, 1, false);
    LOOK("1 0:1x\n", true, true, 1, false);
    LOOK("1 9:1\n", true, true, 1, false);
    LOOK("1 00:1\n", true, true, 1, false);
}

/* What is looked at may be the first 64 KB of a file: a word that is cut off does not count, and no
 * line but the first if it is. */
static void looks_at_part_of_a_file(void **state)
{
    (void)state;
    enum { COUNT = 1 << 16 };
    char *text = malloc(COUNT + 1);
    assert_non_null(text);
    memset(text, ' ', COUNT);
    memcpy(text, "1 1:2 ", 6);
    memcpy(text + COUNT - 3, "123", 3);
    expect_look(text, COUNT, true, true, 1, false);
    expect_look(text, COUNT - 1, false, false, 1, false); /* that is the whole file */
    memcpy(text + 10, "\n1 x", 4);
    expect_look(text, COUNT, true, true, 1, false);
    memcpy(text + 10, "x   ", 4);
    expect_look(text, COUNT, false, false, 1, false);
    memset(text, 'x', COUNT);
    expect_look(text, COUNT, false, true, 0, false);
    text[0] = '\n';
    expect_look(text, COUNT, false, true, 0, false);
    free(text);
}

static void looks_at_32_lines(void **state)
{
    (void)state;
    char text[512] = "";
    for (int i = 0; i < 32; i++)
        strcat(text, "1 1:2\n");
    size_t length = strlen(text);
    strcpy(text + length, "x y\n");
    LOOK(text, true, true, 32, false);
    strcpy(text + length - 6, "x y\n");
    LOOK(text, true, false, 31, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_labels),
        cmocka_unit_test(explains_faults),
        cmocka_unit_test_setup_teardown(says_what_is_wrong, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(targets_are_first_words, test_setup, test_teardown),
        cmocka_unit_test(looks_at_pairs),
        cmocka_unit_test(looks_at_serial_numbers),
        cmocka_unit_test(looks_at_part_of_a_file),
        cmocka_unit_test(looks_at_32_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
