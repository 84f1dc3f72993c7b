/* test_format_csv.c: the reader of CSV and TSV.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "format_helpers.h"

static mcr_data *read_csv(mcr *ctx, const char *text, const char *target)
{
    mcr_data *data;
    test_ok(ctx, read_text(&data, ctx, "f.csv", text, strlen(text), "csv", target));
    return data;
}

static void expect_row(const mcr_data *data, int64_t i, const double *expected, int64_t cols)
{
    double x[16];
    assert_string_equal(field_info(data, 0).name, "x");
    assert_int_equal(field_info(data, 0).kind, MCR_DENSE);
    assert_int_equal(field_info(data, 0).cols, cols);
    assert_int_equal(mcr_data_vector(data, 0, i, x), MCR_OK);
    for (int64_t c = 0; c < cols; c++)
        assert_true(x[c] == expected[c]);
}

static void expect_text(const mcr_data *data, int64_t field, int64_t i, const char *text)
{
    same_string(data, field, i, text, strlen(text));
}

static void reads_plain_numbers(void **state)
{
    mcr_data *data = read_csv(*state, "1,2.5,0\r\n-3, 4 ,1\n.5,1e3,0", NULL);
    assert_int_equal(mcr_data_count(data), 3);
    assert_int_equal(mcr_data_fields(data), 1);
    expect_row(data, 0, (double[]){1, 2.5}, 2);
    expect_row(data, 1, (double[]){-3, 4}, 2);
    expect_row(data, 2, (double[]){0.5, 1000}, 2);
    assert_int_equal(mcr_data_target_kind(data), MCR_REAL_TARGETS);
    assert_true(mcr_data_targets(data)[1] == 1);
    mcr_data_free(data);
}

static void finds_a_header(void **state)
{
    mcr_data *data = read_csv(*state, "\xef\xbb\xbf\"a\",b,c\n1,2,3\n4,5,6\n", NULL);
    assert_int_equal(mcr_data_count(data), 2);
    expect_row(data, 1, (double[]){4, 5}, 2);
    mcr_data_free(data);
    /* Numbers as names, as in tables of pixels. */
    data = read_csv(*state, "label,0,1\n7,2,3\n8,5,6\n", NULL);
    assert_int_equal(mcr_data_count(data), 2);
    expect_row(data, 0, (double[]){2, 3}, 2);
    assert_true(mcr_data_targets(data)[1] == 8);
    mcr_data_free(data);
    /* All text: known by a usual name of the target. */
    data = read_csv(*state, "text,Label\nhello,spam\nworld,ham\n", NULL);
    assert_int_equal(mcr_data_count(data), 2);
    assert_string_equal(field_info(data, 0).name, "text");
    assert_string_equal(mcr_data_class_name(data, 0), "spam");
    mcr_data_free(data);
    /* No header: "y" is a value like others. */
    data = read_csv(*state, "y,p,q\nn,p,r\ny,a,r\n", NULL);
    assert_int_equal(mcr_data_count(data), 3);
    assert_string_equal(field_info(data, 0).name, "column1");
    assert_string_equal(field_info(data, 1).name, "column2");
    mcr_data_free(data);
    /* Known by the name that the user gives. */
    data = read_csv(*state, "word,kind\nhello,1a\nworld,2b\n", "kind");
    assert_int_equal(mcr_data_count(data), 2);
    assert_string_equal(mcr_data_class_name(data, 1), "2b");
    mcr_data_free(data);
}

static void picks_the_target(void **state)
{
    mcr_data *data = read_csv(*state, "a,class,y,b\n1,2,3,4\n5,6,7,8\n", NULL);
    expect_row(data, 0, (double[]){1, 3, 4}, 3); /* class before y */
    assert_true(mcr_data_targets(data)[0] == 2);
    mcr_data_free(data);
    data = read_csv(*state, "a,b,c\n1,2,3\n", "b");
    expect_row(data, 0, (double[]){1, 3}, 2);
    mcr_data_free(data);
    data = read_csv(*state, "a,b,c\n1,2,3\n", "1");
    expect_row(data, 0, (double[]){2, 3}, 2);
    assert_true(mcr_data_targets(data)[0] == 1);
    mcr_data_free(data);
    data = read_csv(*state, "a,b,c\n1,2,3\n", "none");
    expect_row(data, 0, (double[]){1, 2, 3}, 3);
    assert_int_equal(mcr_data_target_kind(data), MCR_NO_TARGETS);
    mcr_data_free(data);
    test_fails(*state, read_text(&data, *state, "f", "age,size\n1,2\n", 13, "csv", "agee"),
               MCR_BAD_CALL, "f: no column \"agee\" for the target (did you mean \"age\"?)");
    test_fails(*state, read_text(&data, *state, "f", "1,2\n", 4, "csv", "3"), MCR_BAD_CALL,
               "f: no column \"3\" for the target: the file has no header; give a number from 1 to "
               "2");
}

static void takes_weights(void **state)
{
    mcr_read_options options = {.size = sizeof options, .format = "csv", .weight = "w"};
    static const char text[] = "a,b,w\n1,2,0.5\n3,4,2\n";
    mcr_data *data;
    test_ok(*state, mcr_data_read_memory(&data, *state, "f", text, sizeof text - 1, &options));
    expect_row(data, 0, (double[]){1}, 1);
    assert_true(mcr_data_targets(data)[1] == 4);
    assert_true(mcr_data_weights(data)[0] == 0.5 && mcr_data_weights(data)[1] == 2);
    mcr_data_free(data);
    static const char bad[] = "a,b,w\n1,2,0.5\n3,4,-2\n";
    test_fails(*state, mcr_data_read_memory(&data, *state, "f", bad, sizeof bad - 1, &options),
               MCR_BAD_DATA, "f:3: column \"w\": \"-2\" is a negative weight");
    options.target = "w";
    test_fails(*state, mcr_data_read_memory(&data, *state, "f", text, sizeof text - 1, &options),
               MCR_BAD_CALL, "f: the target and the weights are the same column");
    options.target = NULL;
    options.weight = "weight";
    test_fails(*state, mcr_data_read_memory(&data, *state, "f", text, sizeof text - 1, &options),
               MCR_BAD_CALL, "f: no column \"weight\" for the weights");
}

static void reads_text_columns(void **state)
{
    mcr_data *data = read_csv(*state,
                              "n,text,\"na\"\"me\",y\n"
                              "1,\"a,b\",plain,p\n"
                              "\"2\" , \"say \"\"hi\"\"\" ,\"two\r\nlines\n\n\",\"q \"\"r\"\"\"\n"
                              "3,\"\",in \"side, p\n"
                              "4,\"NA\", spaced ,p\n",
                              NULL);
    assert_int_equal(mcr_data_count(data), 4);
    assert_int_equal(mcr_data_fields(data), 3);
    assert_string_equal(field_info(data, 1).name, "text");
    assert_string_equal(field_info(data, 2).name, "na\"me");
    expect_row(data, 1, (double[]){2}, 1);
    expect_text(data, 1, 0, "a,b");
    expect_text(data, 1, 1, "say \"hi\"");
    expect_text(data, 1, 2, "");
    expect_text(data, 1, 3, "NA");
    expect_text(data, 2, 1, "two\r\nlines\n\n");
    expect_text(data, 2, 2, "in \"side");
    expect_text(data, 2, 3, "spaced");
    assert_string_equal(mcr_data_class_name(data, 1), "q \"r\"");
    mcr_data_free(data);
}

static void finds_the_separator(void **state)
{
    mcr_data *data = read_csv(*state, "a;b;c\n1;2;3\n", NULL);
    expect_row(data, 0, (double[]){1, 2}, 2);
    mcr_data_free(data);
    data = read_csv(*state, "1\t2\t3\n4\t5\t6\n", NULL);
    expect_row(data, 1, (double[]){4, 5}, 2);
    mcr_data_free(data);
    data = read_csv(*state, "\"a;b\",\"c;d\",1\n\"e;f\",g,2\n", NULL);
    assert_int_equal(mcr_data_fields(data), 2);
    expect_text(data, 0, 0, "a;b");
    mcr_data_free(data);
    /* Tabs only, where the format says so. */
    test_ok(*state, read_text(&data, *state, "f", "a,b\t1\t2\nc,d\t3\t4\n", 16, "tsv", NULL));
    assert_int_equal(mcr_data_fields(data), 2);
    expect_text(data, 1, 1, "c,d");
    mcr_data_free(data);
}

static void refuse(mcr *ctx, const char *text, const char *message)
{
    refuse_text(ctx, "f.csv", text, "csv", NULL, message);
}

static void refuses(void **state)
{
    refuse(*state, "", "f.csv: the file is empty");
    refuse(*state, "\n1,2\n", "f.csv:1: the line is blank");
    refuse(*state, "a,b\n1,2\n\n3,4\n",
           "f.csv:3: the line is blank; blank lines are allowed only at the end");
    refuse(*state, "a,b,target\n1,2,x\n3,y\n", "f.csv:3: 2 values, but the first line has 3");
    refuse(*state, "1,2\n3,4,5\n", "f.csv:2: 3 values, but the first line has 2");
    refuse(*state, "age,y\n1,2\nabc,3\n4,5\n", "f.csv:3: column \"age\": \"abc\" is not a number");
    refuse(*state, "1,2\nabc,3\n", "f.csv:2: column 1: \"abc\" is not a number");
    refuse(*state, "1.2.3,2\n4,5\n", "f.csv:1: column 1: \"1.2.3\" is not a number");
    refuse(*state, "age,y\n1,2\n,3\n", "f.csv:3: column \"age\": the value is missing");
    refuse(*state, "age,y\n1,2\n\"\",3\n", "f.csv:3: column \"age\": the value is missing");
    refuse(*state, "age,y\n1,2\n?,3\n", "f.csv:3: column \"age\": the value is missing (\"?\")");
    refuse(*state, "age,y\n1,2\nNA,3\n", "f.csv:3: column \"age\": the value is missing (\"NA\")");
    refuse(*state, "age,y\n1,2\nnan,3\n",
           "f.csv:3: column \"age\": the value is missing (\"nan\")");
    refuse(*state, "age,y\n1,2\ninf,3\n", "f.csv:3: column \"age\": \"inf\" is not finite");
    refuse(*state, "age,y\n1,2\n1e999,3\n", "f.csv:3: column \"age\": \"1e999\" is not finite");
    refuse(*state, "age,y\n1,2\n3,\n", "f.csv:3: column \"y\": the value is missing");
    refuse(*state, "age,y\n1,2\n3,-inf\n", "f.csv:3: column \"y\": \"-inf\" is not finite");
    refuse(*state, "s,t,y\na,b,2\nc,,3\n", "f.csv:3: column \"t\": the value is missing");
    refuse(*state, "s,t,y\na,b,2\n?,d,3\n", "f.csv:3: column \"s\": the value is missing (\"?\")");
    refuse(*state, "a,b\n1,\"2\n3,4\n", "f.csv:2: a quote is not closed");
    refuse(*state, "\"a,b\n1,2\n", "f.csv:1: a quote is not closed");
    refuse(*state, "a,b\n1,2\n\"1\"x,2\n",
           "f.csv:3: column \"a\": \"1\" has text after its closing quote");
    refuse(*state, "a,b\n1,2\n\"x\ny\"z,2\n",
           "f.csv:3: column \"a\": \"x?y\" has text after its closing quote");
    refuse(*state, "y,label\n", "f.csv: there are no objects in the file, only a header");
    refuse(*state, "height,weight\r\n\n", "f.csv: there are no objects in the file, only a header");
    refuse(*state, "1\n2\n",
           "f.csv: no column is left for the data: if there is no target, say so");
    refuse(*state, "\"1,5\",2\n\"2,5\",3\n",
           "f.csv: column 1 has commas inside numbers; write them with a decimal point and without "
           "thousands separators");
    refuse(*state, "1,500;2\n2,500;3\n",
           "f.csv: column 1: commas followed by three digits may be thousands or fractions; write "
           "numbers with a decimal point and without thousands separators");
    refuse(*state, "a;y\n1,5;2\n1.002,5;3\n",
           "f.csv:3: column \"a\": \"1.002,5\" is not a number: write it without thousands "
           "separators and with a decimal point");
    refuse(*state, "x,a,y\nfoo,1,2\n",
           "f.csv:1: column \"x\" contains text, but \"x\" is the name of the field of all numeric "
           "columns; rename the column");
    refuse(*state, "s,s,y\nfoo,bar,2\n",
           "f.csv:1: column \"s\" occurs twice, as columns 1 and 2: rename one of them");
    refuse_text(*state, "f.csv", "a,a,y\n1,1,2\n", "csv", "a",
                "f.csv:1: column \"a\" occurs twice, as columns 1 and 2: rename one of them");
    /* Line numbers count lines inside quotes. */
    refuse(*state, "s,a,y\n\"1\n2\n3\",1,2\nfoo,x,3\nbar,5,6\n",
           "f.csv:5: column \"a\": \"x\" is not a number");
}

/* ---- large files ------------------------------------------------------------------------------*/

static void reads_across_blocks(void **state)
{
    enum { ROWS = 60000 };
    char *text = malloc(ROWS * 64), *p = text;
    p += sprintf(p, "a,s,y\n");
    for (int i = 0; i < ROWS; i++)
        p += sprintf(p, "%d.%02d,\"row %d\nof \"\"%d\"\"\",%d\n", i, i % 100, i, ROWS, i % 3);
    mcr_data *data;
    test_ok(*state, read_text(&data, *state, "f", text, (size_t)(p - text), "csv", NULL));
    assert_int_equal(mcr_data_count(data), ROWS);
    for (int i = 0; i < ROWS; i++) {
        char expected[64];
        double x;
        test_ok(*state, mcr_data_vector(data, 0, i, &x));
        snprintf(expected, sizeof expected, "%d.%02d", i, i % 100);
        assert_true(x == strtod(expected, NULL));
        snprintf(expected, sizeof expected, "row %d\nof \"%d\"", i, ROWS);
        expect_text(data, 1, i, expected);
        assert_true(mcr_data_targets(data)[i] == i % 3);
    }
    mcr_data_free(data);
    free(text);
}

/* The first line with bytes that are not UTF-8, in the first block or a later one. */
static void notes_other_bytes(void **state)
{
    enum { ROWS = 100000 };
    mcr_data *data = read_csv(*state, "a,s,y\n1,gr\xc3\xbc\xc3\x9f,0\n2,\"x\ny\",1\n", NULL);
    assert_int_equal(mcr_data_not_utf8(data), 0);
    mcr_data_free(data);
    data = read_csv(*state, "a,s,y\n1,\"x\ny\",1\n2,gr\xfc\xdf,0\n3,\xff,1\n", NULL);
    assert_int_equal(mcr_data_not_utf8(data), 4);
    expect_text(data, 1, 1, "gr\xfc\xdf");
    mcr_data_free(data);
    data = read_csv(*state, "a,\xe4,y\n1,b,1\n2,gr\xfc\xdf,0\n", NULL);
    assert_int_equal(mcr_data_not_utf8(data), 1);
    mcr_data_free(data);
    char *text = malloc(ROWS * 32), *p = text + sprintf(text, "a,s,y\n");
    for (int i = 0; i < ROWS; i++)
        p += sprintf(p, "%d,row %d%s,%d\n", i, i, i < ROWS - 5 ? "" : "\xe4", i % 3);
    test_ok(*state, read_text(&data, *state, "f", text, (size_t)(p - text), "csv", NULL));
    assert_int_equal(mcr_data_not_utf8(data), ROWS - 5 + 2);
    mcr_data_free(data);
    free(text);
}

static void reads_wide_rows_and_long_cells(void **state)
{
    enum { COLS = 60000, LONG = 3000000 };
    char *text = malloc(LONG + 20 * COLS), *p = text;
    for (int i = 0; i < COLS; i++)
        p += sprintf(p, "c%d,", i);
    p += sprintf(p, "y\n");
    for (int r = 0; r < 2; r++) {
        for (int i = 0; i < COLS; i++)
            p += sprintf(p, "%d,", i + r);
        p += sprintf(p, "%d\n", r);
    }
    mcr_data *data;
    test_ok(*state, read_text(&data, *state, "f", text, (size_t)(p - text), "csv", NULL));
    assert_int_equal(mcr_data_count(data), 2);
    assert_int_equal(field_info(data, 0).cols, COLS);
    mcr_data_free(data);
    p = text;
    p += sprintf(p, "s,y\nfoo,1\n\"");
    memset(p, '\n', LONG);
    p += LONG;
    p += sprintf(p, "\",2\nbar,3\n");
    test_ok(*state, read_text(&data, *state, "f", text, (size_t)(p - text), "csv", NULL));
    assert_int_equal(mcr_data_count(data), 3);
    assert_int_equal(field_info(data, 0).longest, LONG);
    mcr_data_free(data);
    free(text);
}

/* ---- threads ----------------------------------------------------------------------------------*/

enum { PIECES_ROWS = 20000, PIECES_LINE = 80 };

/* About 1 MB: numbers with holes, dates, categories; quotes: also with line ends inside. faulty:
 * rows that cannot be read, the first of which is row 15,000. */
static char *write_pieces(bool quotes, bool faulty)
{
    char *text = malloc((PIECES_ROWS + 2) * PIECES_LINE), *p = text;
    p += sprintf(p, "id,a,d,s,y\n");
    for (int i = 1; i <= PIECES_ROWS; i++) {
        p += sprintf(p, "K%d,", i);
        p += faulty && (i == 15000 || i == 15001 || i == 19000) ? sprintf(p, "x")
             : i % 11 == 0                                      ? sprintf(p, "?")
                                                                : sprintf(p, "%d.%d", i, i % 7);
        p += i % 13 == 0 ? sprintf(p, ",NA,") : sprintf(p, ",20%02d-03-%02d,", i % 50, 1 + i % 28);
        p += quotes && i % 3 == 0 ? sprintf(p, "\"two\n\"\"lines\"\" %d\"", i % 4)
             : i % 17 == 0        ? sprintf(p, "?")
                                  : sprintf(p, "a word of more than sixteen bytes");
        p += sprintf(p, ",%s\n", i % 2 ? "yes" : "no");
    }
    sprintf(p, "\n\n");
    return text;
}

static void same_objects(const mcr_data *one, const mcr_data *other)
{
    assert_int_equal(mcr_data_count(one), mcr_data_count(other));
    assert_int_equal(mcr_data_fields(one), mcr_data_fields(other));
    for (int64_t f = 0; f < mcr_data_fields(one); f++) {
        const mcr_kind kind = field_info(one, f).kind;
        for (int64_t i = 0; i < mcr_data_count(one); i++) {
            const char *bytes;
            int64_t length;
            if (kind == MCR_STRINGS) {
                assert_int_equal(mcr_data_string(one, f, i, &bytes, &length), MCR_OK);
                same_string(other, f, i, bytes, (size_t)length);
            } else {
                double x[8] = {0}, z[8] = {0};
                assert_int_equal(mcr_data_vector(one, f, i, x), MCR_OK);
                assert_int_equal(mcr_data_vector(other, f, i, z), MCR_OK);
                assert_memory_equal(x, z, sizeof x);
            }
        }
    }
    assert_memory_equal(mcr_data_class_of(one), mcr_data_class_of(other),
                        (size_t)mcr_data_count(one) * sizeof(int32_t));
}

/* The same objects, with one thread and with several; what was put in comes out. */
static void threads_change_nothing(void **state)
{
    (void)state;
    mcr_read_options options = {.size = sizeof options, .format = "csv", .missing = "auto"};
    for (int quotes = 0; quotes < 2; quotes++) {
        char *text = write_pieces(quotes, false);
        mcr *ctx[2] = {test_open(1), test_open(3)};
        mcr_data *data[2];
        for (int i = 0; i < 2; i++)
            test_ok(ctx[i],
                    mcr_data_read_memory(&data[i], ctx[i], "f", text, strlen(text), &options));
        assert_int_equal(mcr_data_count(data[0]), PIECES_ROWS);
        double x;
        test_ok(ctx[0], mcr_data_vector(data[0], 0, 14999, &x));
        assert_true(x == 15000 + 15000 % 7 / 10.0);
        expect_text(data[1], 2, 15998,
                    quotes ? "two\n\"lines\" 3" : "a word of more than sixteen bytes");
        same_objects(data[0], data[1]);
        for (int i = 0; i < 2; i++) {
            mcr_data_free(data[i]);
            test_close(ctx[i]);
        }
        free(text);
    }
}

/* Of several faults the first one is reported, and rows that are skipped leave no gap. */
static void threads_find_the_first_fault(void **state)
{
    (void)state;
    mcr_read_options options = {.size = sizeof options, .format = "csv", .missing = "auto"};
    for (int quotes = 0; quotes < 2; quotes++)
        for (int threads = 1; threads < 4; threads++) {
            char *text = write_pieces(quotes, true);
            mcr *ctx = test_open(threads);
            mcr_data *data;
            options.skip_bad = 0;
            assert_int_equal(mcr_data_read_memory(&data, ctx, "f", text, strlen(text), &options),
                             MCR_BAD_DATA);
            assert_string_equal(mcr_message(ctx),
                                quotes ? "f:20000: column \"a\": \"x\" is not a number"
                                       : "f:15001: column \"a\": \"x\" is not a number");
            options.skip_bad = 1;
            int64_t line;
            test_ok(ctx, mcr_data_read_memory(&data, ctx, "f", text, strlen(text), &options));
            assert_int_equal(mcr_data_count(data), PIECES_ROWS - 3);
            assert_int_equal(mcr_data_skipped(data, &line, NULL), 3);
            assert_int_equal(line, quotes ? 20000 : 15001);
            double x;
            test_ok(ctx, mcr_data_vector(data, 0, PIECES_ROWS - 4, &x));
            assert_true(x == PIECES_ROWS + PIECES_ROWS % 7 / 10.0);
            mcr_data_free(data);
            test_close(ctx);
            free(text);
        }
}

static mcr_status read_small(mcr *ctx, void *arg)
{
    mcr_read_options options = {.size = sizeof options, .format = "csv", .weight = "w"};
    mcr_data *data;
    mcr_status status = mcr_data_read_memory(&data, ctx, "f", arg, strlen(arg), &options);
    mcr_data_free(data);
    return status;
}

static void survives_short_memory(void **state)
{
    (void)state;
    char text[] =
        "a,s,w,t,d,y\n1,\"fo\"\"o\",2,p,2024-01-02,good\n3,bar,4,q,2024-05-06,\"b\"\"d\"\n";
    test_sweep_allocations("csv", read_small, text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(reads_plain_numbers, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(finds_a_header, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(picks_the_target, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(takes_weights, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(reads_text_columns, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(finds_the_separator, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(refuses, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(reads_across_blocks, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(notes_other_bytes, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(reads_wide_rows_and_long_cells, test_setup, test_teardown),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(threads_find_the_first_fault),
        cmocka_unit_test(survives_short_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
