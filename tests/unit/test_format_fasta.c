/* test_format_fasta.c: the reader of FASTA.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "format_helpers.h"

#include "data/format/formats.h"

static void reads_last_words(void **state)
{
    const char *text = "; a comment\n>seq1 from somewhere pos\nACGT\nacgtN\n\n>seq2 neg \r\n"
                       "  TT-T \n;another\nGG*\n>seq3\tpos\nA*B*\n";
    mcr_data *data;
    test_ok(*state, read_text(&data, *state, "f.fa", text, strlen(text), NULL, NULL));
    assert_int_equal(mcr_data_count(data), 3);
    assert_int_equal(mcr_data_fields(data), 1);
    assert_string_equal(field_info(data, 0).name, "sequence");
    assert_int_equal(field_info(data, 0).kind, MCR_STRINGS);
    same_string(data, 0, 0, "ACGTACGTN", 9);
    same_string(data, 0, 1, "TT-TGG", 6);
    same_string(data, 0, 2, "A*B", 3);
    assert_int_equal(mcr_data_classes(data), 2);
    assert_string_equal(mcr_data_class_name(data, 0), "pos");
    assert_string_equal(mcr_data_class_name(data, 1), "neg");
    const int32_t *c = mcr_data_class_of(data);
    assert_true(c[0] == 0 && c[1] == 1 && c[2] == 0);
    mcr_data_free(data);
}

static void reads_other_headers(void **state)
{
    const char *text = "> 0 label=1\nAC\n>7 label=-1 chr2\nGT\n>-1\nT\n>+1.0\nthe end \xc3\xa9\n";
    static const double target[] = {1, -1, -1, 1};
    mcr_data *data;
    test_ok(*state, read_text(&data, *state, "f", text, strlen(text), NULL, NULL));
    assert_int_equal(mcr_data_target_kind(data), MCR_REAL_TARGETS);
    assert_memory_equal(mcr_data_targets(data), target, sizeof target);
    same_string(data, 0, 3, "THE END \xc3\xa9", 10);
    mcr_data_free(data);
}

static void reads_without_labels(void **state)
{
    const char *text = ">\nAC\n>one two\nGT",
               *names = ">a\nA\n>b\nA\n>c\nA\n>d\nA\n>e\nA\n>f\nA\n>g\nA\n>h\nA\n>i\nA\n";
    mcr_data *data;
    test_ok(*state, read_text(&data, *state, "f", names, strlen(names), "fasta", "none"));
    assert_int_equal(mcr_data_count(data), 9);
    mcr_data_free(data);
    test_ok(*state, read_text(&data, *state, "f", text, strlen(text), "fasta", "none"));
    assert_int_equal(mcr_data_count(data), 2);
    assert_int_equal(mcr_data_target_kind(data), MCR_NO_TARGETS);
    mcr_data_free(data);
}

/* A byte order mark is one at the beginning of the file only; tabs within a line are kept. */
static void keeps_other_bytes(void **state)
{
    const char *text = "\xef\xbb\xbf>a\n\xef\xbb\xbf"
                       "AC\tG\n>b\nT\n";
    mcr_data *data;
    test_ok(*state, read_text(&data, *state, "f", text, strlen(text), "fasta", NULL));
    assert_int_equal(mcr_data_count(data), 2);
    same_string(data, 0, 0,
                "\xef\xbb\xbf"
                "AC\tG",
                7);
    assert_string_equal(mcr_data_class_name(data, 0), "a");
    mcr_data_free(data);
}

static void is_sure(void **state)
{
    (void)state;
    char *bytes = malloc(1);
    assert_non_null(bytes);
    *bytes = '>';
    assert_int_equal(mcr_format_fasta.sniff(true, bytes, 1), 100);
    assert_int_equal(mcr_format_fasta.sniff(false, bytes, 1), 90);
    assert_int_equal(mcr_format_fasta.sniff(false, bytes + 1, 0), 0);
    *bytes = 'A';
    assert_int_equal(mcr_format_fasta.sniff(true, bytes, 1), 80);
    assert_int_equal(mcr_format_fasta.sniff(false, bytes, 1), 0);
    free(bytes);
}

static void refuses(void **state)
{
    refuse_text(*state, "f.fa", ">a\nAC\x7fGT\n", "fasta", NULL,
                "f.fa:2: byte 0x7f inside a sequence");
    refuse_text(*state, "f.fa", ">a\nA**\n>b\n", "fasta", NULL,
                "f.fa:3: the header is not followed by a sequence");
    refuse_text(*state, "f.fa", "ACGT\n", "fasta", NULL,
                "f.fa:1: text before the first header: FASTA begins with '>'");
    refuse_text(*state, "f.fa", ">a\nACGT\n>b\n\n>c\nA\n", "fasta", NULL,
                "f.fa:3: the header is not followed by a sequence");
    refuse_text(*state, "f.fa", ">a\nACGT\n>b\n*\n", "fasta", NULL,
                "f.fa:3: the header is not followed by a sequence");
    refuse_text(*state, "f.fa", ">a\n", "fasta", NULL,
                "f.fa:1: the header is not followed by a sequence");
    refuse_text(
        *state, "f.fa", ">a\nA\n> \nACGT\n", "fasta", NULL,
        "f.fa:3: the header has no label: it should be the last word, or label=...; without "
        "labels set the target to \"none\"");
    refuse_text(
        *state, "f.fa", ">a label=\nACGT\n", "fasta", NULL,
        "f.fa:1: the header has no label: it should be the last word, or label=...; without "
        "labels set the target to \"none\"");
    refuse_text(*state, "f.fa", ">a\nACGT>b\nACGT\n", "fasta", NULL,
                "f.fa:2: '>' inside a sequence: is a line break missing?");
    refuse_text(*state, "f.fa", ">a\nAC\x02GT\n", "fasta", NULL,
                "f.fa:2: byte 0x02 inside a sequence");
    refuse_text(*state, "f.fa", "", "fasta", NULL, "f.fa: the file is empty");
    refuse_text(*state, "f.fa", ";\n\n", "fasta", NULL, "f.fa:2: no sequences: the file is empty");
    refuse_text(
        *state, "f.fa", ">c1:5\nA\n>c1:9\nA\n>c2\nA\n>c3\nA\n>c4\nA\n>c5\nA\n>c6\nA\n>c7\nA\n",
        "fasta", NULL,
        "f.fa: every header is a different single word: these are names, not labels; give one "
        "file per class, or set the target to \"none\"");
}

/* Labels of which none is a class of the model are names. */
static void drops_names(void **state)
{
    static const char *const words[] = {"neg", "2", "pos", NULL}, *const none[] = {NULL};
    static const struct {
        const char *text;
        const char *const *known;
        mcr_targets kind;
    } cases[] = {
        {">a gene1\nAC\n>b gene2\nGT\n", words, MCR_NO_TARGETS},
        {">a gene1\nAC\n>b pos\nGT\n", words, MCR_WORD_TARGETS},
        {">a gene1\nAC\n>b gene2\nGT\n", NULL, MCR_WORD_TARGETS},
        {">a gene1\nAC\n>b gene2\nGT\n", none, MCR_NO_TARGETS},
        {">a 1.5\nAC\n>b 7\nGT\n", none, MCR_REAL_TARGETS},
        {">a +2\nAC\n>b 7\nGT\n", words, MCR_REAL_TARGETS},
        {">a 5\nAC\n>b 7\nGT\n", words, MCR_NO_TARGETS},
        {">a\nA\n>b\nA\n>c\nA\n>d\nA\n>e\nA\n>f\nA\n>g\nA\n>h\nA\n", words, MCR_NO_TARGETS},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mcr_read_options options = {
            .size = sizeof options, .format = "fasta", .known = cases[i].known};
        mcr_data *data;
        test_ok(*state, mcr_data_read_memory(&data, *state, "f", cases[i].text,
                                             strlen(cases[i].text), &options));
        assert_int_equal(mcr_data_target_kind(data), cases[i].kind);
        mcr_data_free(data);
    }
}

/* The same with one word twice, with numbers, or with second words is labelled. */
static void takes_many_classes(void **state)
{
    static const char *const texts[] = {
        ">a\nA\n>b\nA\n>c\nA\n>d\nA\n>e\nA\n>f\nA\n>g\nA\n>h\nA\n>a\nA\n",
        ">1\nA\n>2\nA\n>3\nA\n>4\nA\n>5\nA\n>6\nA\n>7\nA\n>8\nA\n>9\nA\n",
        ">s a\nA\n>s b\nA\n>s c\nA\n>s d\nA\n>s e\nA\n>s f\nA\n>s g\nA\n>s h\nA\n>s i\nA\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        mcr_data *data;
        test_ok(*state, read_text(&data, *state, "f", texts[i], strlen(texts[i]), NULL, NULL));
        assert_int_equal(mcr_data_count(data), 9);
        mcr_data_free(data);
    }
}

static void write_file(const char *folder, const char *name, const char *text, char path[512])
{
    snprintf(path, 512, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static mcr_status read_classes(mcr_data **out, mcr *ctx, const char *a, const char *b)
{
    const char *const files[] = {a, b, NULL};
    mcr_read_options options = {.size = sizeof options, .class_files = files};
    return mcr_data_read(out, ctx, NULL, &options);
}

static void reads_a_file_a_class(void **state)
{
    char folder[256], a[512], b[512], word[600];
    test_make_directory(folder);
    write_file(folder, "my.pos.fasta", ">x1\nAC\n>x2\nGG\n", a);
    write_file(folder, "neg.FA", ">x1\nTT\n", b);
    mcr_data *data;
    test_ok(*state, read_classes(&data, *state, a, b));
    assert_int_equal(mcr_data_count(data), 3);
    assert_string_equal(mcr_data_class_name(data, 0), "my.pos");
    assert_string_equal(mcr_data_class_name(data, 1), "neg");
    same_string(data, 0, 2, "TT", 2);
    assert_int_equal(mcr_data_class_of(data)[2], 1);
    mcr_data_free(data);

    snprintf(word, sizeof word, "+1=%s", a);
    test_ok(*state, read_classes(&data, *state, word, b));
    assert_string_equal(mcr_data_class_name(data, 0), "+1");
    mcr_data_free(data);

    mcr_status status = read_classes(&data, *state, a, a);
    test_fails(*state, status, MCR_BAD_CALL, "both name the class \"my.pos\"; use word=path");
    status = read_classes(&data, *state, a, "nowhere/other.fa");
    test_fails(*state, status, MCR_IO, "nowhere/other.fa: cannot be opened");
    status = read_classes(&data, *state, a, "x/");
    test_fails(*state, status, MCR_BAD_CALL, "its name gives no class");
    const char *const files[] = {a, NULL};
    mcr_read_options options = {.size = sizeof options, .class_files = files};
    status = mcr_data_read(&data, *state, b, &options);
    test_fails(*state, status, MCR_BAD_CALL, "give one or the other");
    write_file(folder, "neg.FA", "", b);
    status = read_classes(&data, *state, a, b);
    test_fails(*state, status, MCR_BAD_DATA, "neg.FA: no sequences: the file is empty");
    test_remove_directory(folder);
}

/* The class is the name of the file without its extensions. */
static void names_classes(void **state)
{
    static const char *const names[][2] = {
        {".fa", ".fa"},    {"alfa", "alfa"},  {"neg.xy", "neg.xy"},
        {"a=b.fa", "a=b"}, {"pos.fa", "pos"}, {"n.fna", "n"},
    };
    char folder[256], first[512], path[512];
    test_make_directory(folder);
    write_file(folder, "posx.fa",
               ">a\nA\n>b\nAC**\n>c\nA\n>d\nA\n>e\nA\n>f\nA\n>g\nA\n>h\nA\n>i\nC**\n", first);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        mcr_data *data;
        write_file(folder, names[i][0], ">x\nTT\n", path);
        test_ok(*state, read_classes(&data, *state, first, path));
        assert_int_equal(mcr_data_count(data), 10);
        assert_string_equal(mcr_data_class_name(data, 0), "posx");
        assert_string_equal(mcr_data_class_name(data, 1), names[i][1]);
        same_string(data, 0, 1, "AC*", 3); /* one is dropped, also at the end of a file */
        same_string(data, 0, 8, "C*", 2);
        mcr_data_free(data);
    }
    mcr_data *data;
    mcr_status status = read_classes(&data, *state, first, "=x.fa");
    test_fails(*state, status, MCR_IO, "=x.fa: cannot be opened");
    status = read_classes(&data, *state, first, "word=x.fa");
    test_fails(*state, status, MCR_IO, "x.fa: cannot be opened");
    assert_null(strstr(mcr_message(*state), "word"));
    write_file(folder, "abcd.fa", ">x\nTT\n", path); /* another of four letters */
    test_ok(*state, read_classes(&data, *state, first, path));
    mcr_data_free(data);
    test_remove_directory(folder);
}

/* Two sequences, packed, without the last eight bytes: what could be read is not taken for all. */
static void refuses_what_was_cut_off(void **state)
{
    static const char packed[] =
        "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xb3\x4b\xe4\x72\x74\x76\x0f\xe1\xb2\x4b"
        "\xe2\x0a\x09\xe1\x02\x00";
    char folder[256], whole[512], part[512];
    test_make_directory(folder);
    write_file(folder, "whole.fa", ">a\nA\n", whole);
    write_file(folder, "part.fa.gz", "", part);
    FILE *file = fopen(part, "wb");
    assert_non_null(file);
    fwrite(packed, 1, sizeof packed - 1, file);
    fclose(file);
    mcr_data *data = NULL;
    test_fails(*state, read_classes(&data, *state, whole, part), MCR_BAD_DATA,
               "part.fa.gz: damaged gzip: the file ends early");
    assert_null(data);
    test_remove_directory(folder);
}

static mcr_status sweep(mcr *ctx, void *arg)
{
    (void)arg;
    char text[4000];
    size_t n = 0;
    for (int i = 0; i < 40; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, ">class%d\nACGTACGT\nACGT\n", i % 3);
    mcr_data *data = NULL;
    mcr_status status = read_text(&data, ctx, "f", text, n, NULL, NULL);
    mcr_data_free(data);
    return status;
}

static void survives_no_memory(void **state)
{
    (void)state;
    assert_true(test_sweep_allocations("fasta", sweep, NULL) > 8);
}

typedef struct real_set {
    const char *file;
    int64_t count, of_first, bytes; /* counted with grep and wc */
} real_set;

static void reads_real_sets(void **state)
{
    static const real_set sets[] = {
        {"celegans-acceptor-small/acceptor.2200.fa.gz", 2200, 2000, 180400},
        {"promoters/promoters.fa", 106, 53, 6042},
        {"dna-CTCF/CTCF.train.fasta.gz", 2000, 1000, 200000},
        {"dna-CTCF/CTCF.test.fasta.gz", 2000, 1000, 200000},
        {"scop-1.1/1.1.train.fasta.gz", 2339, 1189, 374048},
        {"text-sentiment/sentiment.train.fasta.gz", 7462, 3883, 0},
    };
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        char path[1024];
        if (!find_data(path, sets[i].file))
            continue;
        mcr_data *data;
        test_ok(*state, mcr_data_read(&data, *state, path, NULL));
        assert_int_equal(mcr_data_count(data), sets[i].count);
        assert_int_equal(mcr_data_classes(data), 2);
        assert_int_equal(mcr_data_target_kind(data), MCR_REAL_TARGETS);
        int64_t first = 0;
        for (int64_t j = 0; j < sets[i].count; j++)
            first += mcr_data_class_of(data)[j] == 0;
        assert_int_equal(first, sets[i].of_first);
        if (sets[i].bytes)
            assert_int_equal(field_info(data, 0).entries, sets[i].bytes);
        mcr_data_free(data);
    }
}

static void reads_a_real_file_a_class(void **state)
{
    char pos[1024], neg[1024];
    if (!find_data(pos, "dna-nfe2-gm12878/nfe2.pos.train.fa.gz") ||
        !find_data(neg, "dna-nfe2-gm12878/nfe2.neg.train.fa.gz"))
        return;
    mcr_data *data;
    test_ok(*state, read_classes(&data, *state, pos, neg));
    assert_int_equal(mcr_data_count(data), 1288);
    assert_string_equal(mcr_data_class_name(data, 0), "nfe2.pos.train");
    assert_string_equal(mcr_data_class_name(data, 1), "nfe2.neg.train");
    mcr_data_free(data);
    mcr_status status = mcr_data_read(&data, *state, pos, NULL);
    test_fails(*state, status, MCR_BAD_DATA, "these are names, not labels");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(reads_last_words, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(reads_other_headers, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(drops_names, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(reads_without_labels, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(refuses, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(takes_many_classes, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(reads_a_file_a_class, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(keeps_other_bytes, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(names_classes, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(refuses_what_was_cut_off, test_setup, test_teardown),
        cmocka_unit_test(is_sure),
        cmocka_unit_test(survives_no_memory),
        cmocka_unit_test_setup_teardown(reads_real_sets, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(reads_a_real_file_a_class, test_setup, test_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
