/* test_data_read.c: which reader a file goes to; gzip; the real data sets.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "format_helpers.h"

#include <zlib.h>

/* ---- detection --------------------------------------------------------------------------------*/

/* The first field's kind, or 0 with the message if the text is refused. */
static int kind_of(mcr *ctx, const char *name, const char *text, size_t length)
{
    mcr_data *data;
    if (read_text(&data, ctx, name, text, length, NULL, NULL) != MCR_OK)
        return 0;
    int kind = (int)field_info(data, 0).kind;
    mcr_data_free(data);
    return kind;
}

static void detects(void **state)
{
    static const struct {
        const char *name, *text;
        int kind;
    } cases[] = {
        {"heart", "+1 1:2 3:4\n-1 2:5\n", MCR_SPARSE},
        {"heart.txt", "+1 1:2 3:4\n-1 2:5\n", MCR_SPARSE},
        {"x.svm", "+1\n-1 2:5\n", MCR_SPARSE},
        {"x", "# made by hand\n\tyes 1:2\n", MCR_SPARSE},
        {"x", "1 0:1 1:2 2:3\n2 0:2 1:3 2:4\n", MCR_PRECOMPUTED},
        {"iris.csv", "1,2,a\n3,4,b\n", MCR_DENSE},
        {"iris.data", "1,2,a\n3,4,b\n", MCR_DENSE},
        {"iris", "1;2;3\n3;4;5\n", MCR_DENSE},
        {"iris", "1\t2\t3\n3\t4\t5\n", MCR_DENSE},
        {"iris.tsv", "a\tb\tclass\n3\t4\t5\n", MCR_DENSE},
        {"spam", "ham\tone, two\nspam\tthree\n", MCR_STRINGS},
        {"spam.tsv", "ham\tone, two\nspam\tthree\n", MCR_STRINGS},
        {"spam.tsv", "label\ttext\nham\tone, two\nspam\tthree\n", MCR_STRINGS},
        {"s.fa", ">1 a\nACGT\n", MCR_STRINGS},
        {"s", ">1 a\nACGT\n", MCR_STRINGS},
        {"m.jsonl", "{\"y\":1,\"x\":[1,2]}\n{\"y\":1,\"x\":[1,2]}\n", MCR_DENSE},
        {"m", "{\"y\":1,\"x\":[1,2]}\n{\"y\":1,\"x\":[1,2]}\n", MCR_DENSE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (kind_of(*state, cases[i].name, cases[i].text, strlen(cases[i].text)) != cases[i].kind)
            fail_msg("%s (%s): %s", cases[i].name, cases[i].text, mcr_message(*state));
}

/* A file with a fault goes to the reader that can say what the fault is. */
static void detects_faulty_files(void **state)
{
    static const char *const cases[][3] = {
        {"f", "1 0:1.5 1:2\n", "f:1: index 0"},
        {"f", "1 1:2\n2 1:x\n", "f:2: the value of index 1"},
        {"f", "1 1:nan\n", "f:1: the value of index 1"},
        {"f", "1 1:2\n3 oops\n", "f:2: \"oops\" is not index:value"},
        {"f", "1 qid:1 1:2\n", "f:1: \"qid:1\""},
        {"f", "1:2 2:3\n", "f:1: the label is missing"},
        {"f.svm", "1,2,3\n", "f.svm:1: several labels"},
        {"f.csv", "1,2\n3\n", "f.csv:2: 1 value, but the first line has 2"},
        {"f.npy", "nonsense", "f.npy: this is not a NumPy file"},
        {"f", "what is this\n", "f: cannot tell what format this is; name it: libsvm"},
        {"f", "\n", "f: cannot tell what format this is"},
        {"f", "", "f: the file is empty"},
        {"f.csv", "", "f.csv: the file is empty"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(kind_of(*state, cases[i][0], cases[i][1], strlen(cases[i][1])), 0);
        if (strncmp(mcr_message(*state), cases[i][2], strlen(cases[i][2])) != 0)
            fail_msg("\"%s\" should begin with \"%s\"", mcr_message(*state), cases[i][2]);
    }
}

static void knows_its_formats(void **state)
{
    const char *const *names = mcr_data_formats();
    bool libsvm = false;
    for (int64_t i = 0; names[i] != NULL; i++) {
        assert_non_null(mcr_data_format_summary(names[i]));
        libsvm |= strcmp(names[i], "libsvm") == 0;
    }
    assert_true(libsvm);
    assert_null(mcr_data_format_summary("excel"));
    assert_true(mcr_data_format_writes("libsvm") && mcr_data_format_writes("jsonl"));
    assert_true(!mcr_data_format_writes("npy") && !mcr_data_format_writes("excel"));
    mcr_data *data;
    test_fails(*state, read_text(&data, *state, "f", "1 1:2\n", 6, "libsv", NULL), MCR_BAD_CALL,
               "unknown format \"libsv\" (did you mean \"libsvm\"?)");
    test_fails(*state, read_text(&data, *state, "f", "1 1:2\n", 6, "tu", NULL), MCR_BAD_CALL,
               "f: the format tu is a directory");
    mcr_read_options options = {.size = sizeof options};
    test_fails(*state, mcr_data_read(&data, *state, NULL, &options), MCR_BAD_CALL, "no file");
    options.class_files = (const char *const[]){"a.fa", NULL};
    options.format = "csv";
    test_fails(*state, mcr_data_read(&data, *state, NULL, &options), MCR_BAD_CALL,
               "one file per class is for the format fasta, not for csv");
    test_fails(*state, mcr_data_read(&data, *state, "/nowhere/f.csv", NULL), MCR_IO,
               "/nowhere/f.csv");
    options = (mcr_read_options){.size = sizeof options, .format = "csv"};
    test_fails(*state, mcr_data_read(&data, *state, "/", &options), MCR_IO, "this is a directory");
}

/* A caller made for an older version gives a shorter struct. */
static void takes_short_options(void **state)
{
    mcr_read_options options = {.format = "csv", .target = "none", .weight = "no such column"};
    options.size = offsetof(mcr_read_options, weight);
    mcr_data *data;
    test_ok(*state, mcr_data_read_memory(&data, *state, "f", "1,2\n", 4, &options));
    assert_int_equal(field_info(data, 0).cols, 2);
    mcr_data_free(data);
}

/* ---- gzip -------------------------------------------------------------------------------------*/

static void write_gzip(const char *path, const char *text, size_t length)
{
    gzFile f = gzopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(gzwrite(f, text, (unsigned)length), length);
    assert_int_equal(gzclose(f), Z_OK);
}

static void reads_gzip_alike(void **state)
{
    enum { ROWS = 30000 };
    char folder[256], path[300], *text = malloc(ROWS * 40), *p = text;
    test_make_directory(folder);
    for (int i = 0; i < ROWS; i++)
        p += sprintf(p, "%d 1:%d.5 %d:0.25\n", i % 3, i, 2 + i % 50);
    size_t length = (size_t)(p - text);
    snprintf(path, sizeof path, "%s/f.svm.gz", folder);
    write_gzip(path, text, length);
    mcr_data *plain, *packed;
    test_ok(*state, read_text(&plain, *state, "f.svm", text, length, NULL, NULL));
    test_ok(*state, mcr_data_read(&packed, *state, path, NULL));
    assert_int_equal(mcr_data_count(packed), ROWS);
    mcr_field_info info = field_info(plain, 0);
    assert_int_equal(field_info(packed, 0).entries, info.entries);
    for (int64_t i = 0; i < ROWS; i++) {
        double x[60], z[60];
        assert_int_equal(mcr_data_vector(plain, 0, i, x), MCR_OK);
        assert_int_equal(mcr_data_vector(packed, 0, i, z), MCR_OK);
        assert_memory_equal(x, z, (size_t)info.cols * sizeof *x);
    }
    assert_memory_equal(mcr_data_targets(plain), mcr_data_targets(packed), ROWS * sizeof(double));
    mcr_data_free(plain);
    mcr_data_free(packed);

    /* The name without .gz says what is in it. */
    snprintf(path, sizeof path, "%s/g.csv.gz", folder);
    write_gzip(path, "1,2\n3\n", 6);
    test_fails(*state, mcr_data_read(&packed, *state, path, NULL), MCR_BAD_DATA,
               "g.csv.gz:2: 1 value");

    /* Cut off: refused, and a fault in the lines before the cut comes first. */
    snprintf(path, sizeof path, "%s/cut.svm", folder);
    write_gzip(path, text, length);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    assert_true(fseek(f, 0, SEEK_END) == 0 && ftell(f) > 2000);
    long half = ftell(f) / 2;
    fclose(f);
    assert_int_equal(truncate(path, half), 0);
    test_fails(*state, mcr_data_read(&packed, *state, path, NULL), MCR_BAD_DATA, "cut.svm");
    test_fails(*state, mcr_data_read(&packed, *state, path, NULL), MCR_BAD_DATA, "gzip");
    test_remove_directory(folder);
    free(text);
}

static mcr_status read_gzip(mcr *ctx, void *arg)
{
    mcr_data *data;
    mcr_status status = mcr_data_read(&data, ctx, arg, NULL);
    mcr_data_free(data);
    return status;
}

static void survives_short_memory(void **state)
{
    (void)state;
    char folder[256], path[300];
    test_make_directory(folder);
    snprintf(path, sizeof path, "%s/f.gz", folder);
    write_gzip(path, "1 1:2\n", 6);
    test_sweep_allocations("gzip", read_gzip, path);
    test_remove_directory(folder);
}

/* ---- the real sets ----------------------------------------------------------------------------*/

/* As README.md of the folder of data sets counts them. cols: largest index, or numeric columns. */
static const struct set {
    const char *file;
    mcr_kind kind;
    int64_t count, cols, classes; /* classes 0: regression */
} sets[] = {
    {"adult/a1a", MCR_SPARSE, 1605, 119, 2},
    {"adult/a1a.t.gz", MCR_SPARSE, 30956, 123, 2},
    {"adult/a9a.gz", MCR_SPARSE, 32561, 123, 2},
    {"adult/a9a.t.gz", MCR_SPARSE, 16281, 122, 2},
    {"australian/australian", MCR_SPARSE, 690, 14, 2},
    {"banana/banana.gz", MCR_SPARSE, 5300, 2, 2},
    {"breast-cancer/breast-cancer_scale", MCR_SPARSE, 683, 10, 2},
    {"covtype-10k/covtype.train.gz", MCR_SPARSE, 4858, 54, 2},
    {"digits/digits.csv.gz", MCR_DENSE, 1797, 64, 10},
    {"esl-mixture/mixture.csv", MCR_DENSE, 200, 2, 2},
    {"fourclass/fourclass_scale", MCR_SPARSE, 862, 2, 2},
    {"glass/glass.scale", MCR_SPARSE, 214, 9, 6},
    {"heart/heart_scale", MCR_SPARSE, 270, 13, 2},
    {"ijcnn1/ijcnn1.gz", MCR_SPARSE, 49990, 22, 2},
    {"ionosphere/ionosphere.csv", MCR_DENSE, 351, 34, 2},
    {"iris/iris.csv", MCR_DENSE, 150, 4, 3},
    {"iris/iris.scale", MCR_SPARSE, 150, 4, 3},
    {"letter/letter.scale.gz", MCR_SPARSE, 15000, 16, 26},
    {"mnist/mnist.gz", MCR_SPARSE, 60000, 780, 10},
    {"mnist/mnist.t.gz", MCR_SPARSE, 10000, 778, 10},
    {"ripley-synth/synth.te.csv", MCR_DENSE, 1000, 2, 2},
    {"satimage/satimage.scale.gz", MCR_SPARSE, 4435, 36, 6},
    {"sector/sector.scale.gz", MCR_SPARSE, 6412, 55197, 105},
    {"segment/segment.scale.gz", MCR_SPARSE, 2310, 19, 7},
    {"sonar/sonar.csv", MCR_DENSE, 208, 60, 2},
    {"spam/spam.csv.gz", MCR_DENSE, 4601, 57, 2},
    {"spam/spam.gz", MCR_SPARSE, 4601, 57, 2},
    {"svmguide1/svmguide1.t.gz", MCR_SPARSE, 4000, 4, 2},
    {"svmguide2/svmguide2.gz", MCR_SPARSE, 391, 20, 3},
    {"svmguide3/svmguide3.gz", MCR_SPARSE, 1243, 21, 2},
    {"svmguide3/svmguide3.t", MCR_SPARSE, 41, 21, 1},
    {"usps/usps.gz", MCR_SPARSE, 7291, 256, 10},
    {"w1a/w1a.gz", MCR_SPARSE, 2477, 300, 2},
    {"waveform/waveform.gz", MCR_SPARSE, 5000, 21, 2},
    {"wdbc/wdbc.csv", MCR_DENSE, 569, 30, 2},
    {"wine/wine.scale", MCR_SPARSE, 178, 13, 3},
    {"abalone/abalone.csv.gz", MCR_DENSE, 4177, 7, 0}, /* and the sex as text */
    {"abalone/abalone.gz", MCR_SPARSE, 4177, 8, 0},
    {"cadata/cadata.gz", MCR_SPARSE, 20640, 8, 0},
    {"diabetes-lars/diabetes-lars.csv", MCR_DENSE, 442, 10, 0},
    {"gp-1d/airline-passengers.csv", MCR_DENSE, 144, 7, 0}, /* months: parts of a date */
    {"gp-1d/co2-mauna-loa.csv", MCR_DENSE, 468, 1, 0},
    {"housing/housing_scale", MCR_SPARSE, 506, 13, 0},
    {"mpg/mpg", MCR_SPARSE, 392, 7, 0},
    {"uci-elevators/uci-elevators.csv.gz", MCR_DENSE, 16599, 18, 0},
    {"anomaly-mammography/anomaly-mammography.csv.gz", MCR_DENSE, 11183, 6, 2},
    {"shapes/chainlink.csv", MCR_DENSE, 1000, 3, 2},
    {"shapes/compound.csv", MCR_DENSE, 399, 2, 6},
    {"promoters/promoters.tsv", MCR_STRINGS, 106, 0, 2},
    {"reuters40/reuters40.tsv", MCR_STRINGS, 40, 0, 2},
    {"sms-spam/SMSSpamCollection.gz", MCR_STRINGS, 5574, 0, 2},
    {"scop-1.1/1.1.train.fasta.gz", MCR_STRINGS, 2339, 0, 2},
    {"MUTAG", MCR_GRAPHS, 188, 0, 2},
    {"AIDS", MCR_GRAPHS, 2000, 0, 2},
};

static void reads_the_real_sets(void **state)
{
    int64_t found = 0;
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        const struct set *s = &sets[i];
        char path[1024];
        if (!find_data(path, s->file))
            continue;
        found++;
        mcr_data *data;
        test_ok(*state, mcr_data_read(&data, *state, path, NULL));
        mcr_field_info info = field_info(data, 0);
        if (mcr_data_count(data) != s->count || info.kind != s->kind || info.cols != s->cols ||
            (s->classes > 0 && mcr_data_classes(data) != s->classes))
            fail_msg("%s: %d objects, kind %d, %d columns, %d classes", s->file,
                     (int)mcr_data_count(data), (int)info.kind, (int)info.cols,
                     (int)mcr_data_classes(data));
        mcr_data_free(data);
    }
    if (found == 0)
        skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(detects, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(detects_faulty_files, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(knows_its_formats, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(takes_short_options, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(reads_gzip_alike, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(reads_the_real_sets, test_setup, test_teardown),
        cmocka_unit_test(survives_short_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
