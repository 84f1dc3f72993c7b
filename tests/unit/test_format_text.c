/* test_format_text.c: the reader of text lines.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "format_helpers.h"

#include "data/format/formats.h"

static void reads_labels_and_strings(void **state)
{
    static const char text[] = "spam\tfree\tentry\nham\t\r\nspam\ta\0b\xff\nham\tlast\xfe";
    mcr_data *data;
    test_ok(*state, read_text(&data, *state, "f.txt", text, sizeof text - 1, "text", NULL));
    assert_int_equal(mcr_data_count(data), 4);
    assert_int_equal(mcr_data_fields(data), 1);
    mcr_field_info info = field_info(data, 0);
    assert_string_equal(info.name, "text");
    assert_int_equal(info.kind, MCR_STRINGS);
    same_string(data, 0, 0, "free\tentry", 10);
    same_string(data, 0, 1, "", 0);
    same_string(data, 0, 2, "a\0b\xff", 4);
    same_string(data, 0, 3, "last\xfe", 5);
    assert_int_equal(mcr_data_not_utf8(data), 3);
    assert_int_equal(mcr_data_target_kind(data), MCR_WORD_TARGETS);
    assert_int_equal(mcr_data_classes(data), 2);
    assert_string_equal(mcr_data_class_name(data, 0), "spam");
    const int32_t *c = mcr_data_class_of(data);
    assert_true(c[0] == 0 && c[1] == 1 && c[2] == 0 && c[3] == 1);
    mcr_data_free(data);
}

static void reads_numbers_as_targets(void **state)
{
    const char *text = "\xef\xbb\xbf-1\tab\n+1\tcd\n", *inside = "a\tx\n\xef\xbb\xbf"
                                                                 "b\ty\n";
    mcr_data *data;
    test_ok(*state, read_text(&data, *state, "f", inside, strlen(inside), "text", NULL));
    assert_string_equal(mcr_data_class_name(data, 1), "\xef\xbb\xbf"
                                                      "b"); /* only the first is a mark */
    mcr_data_free(data);
    test_ok(*state, read_text(&data, *state, "f", text, strlen(text), "text", NULL));
    assert_int_equal(mcr_data_target_kind(data), MCR_REAL_TARGETS);
    assert_true(mcr_data_targets(data)[0] == -1 && mcr_data_targets(data)[1] == 1);
    mcr_data_free(data);
}

static void reads_without_labels(void **state)
{
    const char *text = "one\n\na\tb\n";
    mcr_data *data;
    test_ok(*state, read_text(&data, *state, "f", text, strlen(text), "text", "none"));
    assert_int_equal(mcr_data_count(data), 3);
    assert_int_equal(mcr_data_target_kind(data), MCR_NO_TARGETS);
    same_string(data, 0, 0, "one", 3);
    same_string(data, 0, 1, "", 0);
    same_string(data, 0, 2, "a\tb", 3);
    mcr_data_free(data);
}

/* Labels of which none is a class of the model are names. */
static void drops_names(void **state)
{
    static const char *const words[] = {"neg", "2", "pos", "2", NULL};
    static const char *const zero[] = {"0", "nan", NULL}, *const none[] = {NULL};
    static const struct {
        const char *text;
        const char *const *known;
        mcr_targets kind;
    } cases[] = {
        {"id1\tab\nid2\tcd\n", words, MCR_NO_TARGETS},
        {"id1\tab\nneg\tcd\n", words, MCR_WORD_TARGETS},
        {"neg1\tab\nne\tcd\n", words, MCR_NO_TARGETS},
        {"id1\tab\nid2\tcd\n", NULL, MCR_WORD_TARGETS},
        {"3\tab\n2.0\tcd\n", words, MCR_REAL_TARGETS}, /* numbers by their values */
        {"3\tab\n4\tcd\n", words, MCR_NO_TARGETS},
        {"3\tab\n-0.0\tcd\n", zero, MCR_REAL_TARGETS},
        {"3\tab\nnan\tcd\n", zero, MCR_NO_TARGETS},
        {"id1\tab\n2\tcd\n", words, MCR_WORD_TARGETS}, /* beside words, by their text */
        {"id1\tab\n2.0\tcd\n", words, MCR_NO_TARGETS},
        {"3\tab\n", none, MCR_REAL_TARGETS},
        {"id1\tab\n", none, MCR_NO_TARGETS},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mcr_read_options options = {
            .size = sizeof options, .format = "text", .known = cases[i].known};
        mcr_data *data;
        test_ok(*state, mcr_data_read_memory(&data, *state, "f", cases[i].text,
                                             strlen(cases[i].text), &options));
        assert_int_equal(mcr_data_target_kind(data), cases[i].kind);
        mcr_data_free(data);
    }
}

static void refuses(void **state)
{
    refuse_text(*state, "f.txt", "one\ntwo\n", "text", NULL,
                "f.txt:1: no tab: a line is label<TAB>string; for strings without labels set the "
                "target to \"none\"");
    refuse_text(*state, "f.txt", "a\tone\ntwo\n", "text", NULL,
                "f.txt:2: no tab: a line is label<TAB>string");
    refuse_text(*state, "f.txt", "a\tone\n\na\ttwo\n", "text", NULL,
                "f.txt:2: no tab: a line is label<TAB>string");
    refuse_text(*state, "f.txt", "a\tone\n\ttwo\n", "text", NULL, "f.txt:2: the label is empty");
    refuse_text(*state, "f.txt", "", "text", NULL, "f.txt: the file is empty");
    mcr_data *data;
    mcr_status status = read_text(&data, *state, "f.txt", "a\0b\tx\n", 6, "text", NULL);
    test_fails(*state, status, MCR_BAD_DATA, "f.txt:1: the label contains a NUL byte");
}

/* What detection makes of a text: is it read as text lines? */
static bool is_found(mcr *ctx, const char *name, const char *text)
{
    mcr_data *data;
    mcr_status status = read_text(&data, ctx, name, text, strlen(text), NULL, NULL);
    bool found = status == MCR_OK && mcr_data_fields(data) == 1 &&
                 strcmp(field_info(data, 0).name, "text") == 0;
    mcr_data_free(data);
    return found;
}

static void is_detected(void **state)
{
    assert_true(is_found(*state, "SMSSpamCollection", "ham\tGo until, point\nspam\tFree entry\n"));
    assert_true(is_found(*state, "promoters.tsv", "+\tACGT\n-\tTTGA\n"));
    assert_true(is_found(*state, "a.txt", "ham\tone"));
    /* A string may be empty; a file without any string is something else. */
    assert_true(is_found(*state, "a.txt", "ham\tone\nspam\t\nham\ttwo\n"));
    assert_true(is_found(*state, "a.txt", "ham\t\r\nspam\tone\r\n"));
    assert_false(is_found(*state, "a.txt", "ham\t\nspam\t\n"));
    assert_false(is_found(*state, "a.tsv", "1\t2\n3\t4\n"));
    assert_false(is_found(*state, "a.tsv", "a\tb\tc\nd\te\tf\n"));
    assert_false(is_found(*state, "a.txt", "+1\t1:0.5 3:1\n-1\t2:1\n"));
}

/* How sure detection is. A copy without a byte too many, so that a sanitizer sees what is read
 * beyond. */
static void expect_sure(const char *text, bool named, int sure)
{
    size_t count = strlen(text);
    char *bytes = malloc(count > 0 ? count : 1);
    assert_non_null(bytes);
    memcpy(bytes, text, count);
    assert_int_equal(mcr_format_text.sniff(named, bytes, count), sure);
    free(bytes);
}

static void is_sure(void **state)
{
    (void)state;
    expect_sure("ham\tone\nspam\ttwo\n", true, 92);
    expect_sure("ham\tone\nspam\ttwo\n", false, 70);
    expect_sure("ham\tone\nspa", true, 92); /* the last line may be cut off, not the first */
    expect_sure("spa", true, 0);
    expect_sure("", true, 0);
    expect_sure("\nham\tone\n", true, 0);
    expect_sure("\tone\n", true, 0);
    expect_sure("a b\tone\n", true, 0);
    expect_sure("ham\tone\nno tab\n", true, 0);
    char label[80];
    memset(label, 'a', sizeof label);
    strcpy(label + 64, "\tone\n");
    expect_sure(label, true, 92);
    strcpy(label + 64, "a\tone\n");
    expect_sure(label, true, 0);
    expect_sure("ham\t\nspam\tone\n", true, 75);
    expect_sure("ham\tone\nspam\t\n", true, 75);
    expect_sure("ham\tone\r\nspam\t\r\n", true, 75);
    expect_sure("ham\t\nspam\t\n", true, 0);
    expect_sure("ham\t3 dogs\n", true, 92);
    expect_sure("ham\t3:5 dogs\n", true, 0);
    expect_sure("label\tone\n", true, 0);
    expect_sure("Label\tone\n", true, 0);
    expect_sure("ham\tone\nlabel\ttwo\n", true, 92);
    expect_sure("hello\tone\n", true, 92);
    expect_sure("te\tone\n", true, 92); /* the beginning of a name only */
}

static mcr_status sweep(mcr *ctx, void *arg)
{
    (void)arg;
    enum { CLASSES = 100 };
    char text[4000], name[CLASSES][16];
    const char *known[CLASSES + 1] = {NULL};
    size_t n = 0;
    for (int i = 0; i < 40; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "class%d\tstring number %d\n", i % 3, i);
    for (int i = 0; i < CLASSES; i++) {
        snprintf(name[i], sizeof name[i], "class%d", i + 2);
        known[i] = name[i];
    }
    mcr_read_options options = {.size = sizeof options, .format = "text", .known = known};
    mcr_data *data = NULL;
    mcr_status status = mcr_data_read_memory(&data, ctx, "f", text, n, &options);
    assert_true(status || mcr_data_classes(data) == 3);
    mcr_data_free(data);
    return status;
}

static void survives_no_memory(void **state)
{
    (void)state;
    assert_true(test_sweep_allocations("text", sweep, NULL) > 8);
}

static void reads_real_sets(void **state)
{
    static const struct {
        const char *file, *first;
        int64_t count, of_first;
    } sets[] = {{"sms-spam/SMSSpamCollection.gz", "ham", 5574, 4827},
                {"promoters/promoters.tsv", "+", 106, 53},
                {"reuters40/reuters40.tsv", "acq", 40, 20}};
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        char path[1024];
        if (!find_data(path, sets[i].file))
            continue;
        mcr_data *data;
        test_ok(*state, mcr_data_read(&data, *state, path, NULL));
        assert_int_equal(mcr_data_count(data), sets[i].count);
        assert_string_equal(field_info(data, 0).name, "text");
        assert_int_equal(mcr_data_classes(data), 2);
        assert_string_equal(mcr_data_class_name(data, 0), sets[i].first);
        int64_t first = 0;
        for (int64_t j = 0; j < sets[i].count; j++)
            first += mcr_data_class_of(data)[j] == 0;
        assert_int_equal(first, sets[i].of_first);
        mcr_data_free(data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(reads_labels_and_strings, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(reads_numbers_as_targets, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(drops_names, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(reads_without_labels, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(refuses, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(is_detected, test_setup, test_teardown),
        cmocka_unit_test(is_sure),
        cmocka_unit_test(survives_no_memory),
        cmocka_unit_test_setup_teardown(reads_real_sets, test_setup, test_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
