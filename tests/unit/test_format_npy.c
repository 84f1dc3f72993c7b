/* test_format_npy.c: the readers of NumPy files and of precomputed kernels.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "format_helpers.h"

#include <math.h>

#include "data/data.h"
#include "data/format/npy.h"

/* A file of the given version, header text and body; *length is set. */
static char *make_npy(int version, const char *header, const void *body, size_t bytes,
                      size_t *length)
{
    size_t lead = version == 1 ? 10 : 12, text = strlen(header);
    char *file = malloc(lead + text + bytes);
    memcpy(file, "\x93NUMPY", 6);
    file[6] = (char)version;
    file[7] = 0;
    for (size_t i = 8; i < lead; i++)
        file[i] = (char)(text >> 8 * (i - 8) & 255);
    memcpy(file + lead, header, text);
    if (bytes > 0)
        memcpy(file + lead + text, body, bytes);
    *length = lead + text + bytes;
    return file;
}

static mcr_status read_npy(mcr_data **out, mcr *ctx, const char *header, const void *body,
                           size_t bytes)
{
    size_t length;
    char *file = make_npy(1, header, body, bytes, &length);
    mcr_status status = read_text(out, ctx, "f.npy", file, length, NULL, NULL);
    free(file);
    return status;
}

static void expect_matrix(const mcr_data *data, int64_t rows, int64_t cols, const double *expected)
{
    double x[16];
    assert_int_equal(mcr_data_count(data), rows);
    assert_int_equal(field_info(data, 0).cols, cols);
    for (int64_t i = 0; i < rows; i++) {
        assert_int_equal(mcr_data_vector(data, 0, i, x), MCR_OK);
        for (int64_t c = 0; c < cols; c++)
            assert_true(x[c] == expected[i * cols + c]);
    }
}

/* 2 x 3 of each type: 1 2 3 / 4 5 6, and how it is stored. */
static void reads_all_types(void **state)
{
    static const double expected[] = {1, 2, 3, 4, 5, 6};
    static const struct {
        const char *type;
        int bytes;
        char kind;
    } types[] = {{"<f8", 8, 'f'}, {"<f4", 4, 'f'}, {"|i1", 1, 'i'}, {"<i2", 2, 'i'},
                 {"<i4", 4, 'i'}, {"<i8", 8, 'i'}, {"|u1", 1, 'u'}, {"<u2", 2, 'u'},
                 {"<u4", 4, 'u'}, {"<u8", 8, 'u'}, {">f8", 8, 'f'}, {">f4", 4, 'f'},
                 {">i2", 2, 'i'}, {">u4", 4, 'u'}, {">i8", 8, 'i'}};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (int fortran = 0; fortran < 2; fortran++) {
            unsigned char body[48];
            for (int k = 0; k < 6; k++) {
                double value = fortran ? expected[k % 2 * 3 + k / 2] : expected[k];
                unsigned char raw[8] = {0};
                float narrow = (float)value;
                int64_t whole = (int64_t)value;
                if (types[t].kind != 'f')
                    memcpy(raw, &whole, 8);
                else if (types[t].bytes == 4)
                    memcpy(raw, &narrow, 4);
                else
                    memcpy(raw, &value, 8);
                for (int b = 0; b < types[t].bytes; b++)
                    body[k * types[t].bytes + b] = types[t].type[0] == '>'
                                                       ? raw[types[t].bytes - 1 - b]
                                                       : raw[b];
            }
            char header[128];
            snprintf(header, sizeof header,
                     "{'descr': '%s', 'fortran_order': %s, 'shape': (2, 3), }     \n",
                     types[t].type, fortran ? "True" : "False");
            mcr_data *data;
            test_ok(*state, read_npy(&data, *state, header, body, (size_t)(6 * types[t].bytes)));
            expect_matrix(data, 2, 3, expected);
            assert_int_equal(mcr_data_target_kind(data), MCR_NO_TARGETS);
            mcr_data_free(data);
        }
}

static void reads_odd_types_and_shapes(void **state)
{
    mcr_data *data;
    test_ok(*state, read_npy(&data, *state, "{'descr':'|b1','fortran_order':False,'shape':(3,)}",
                             "\0\1\2", 3));
    expect_matrix(data, 3, 1, (double[]){0, 1, 1});
    mcr_data_free(data);
    /* 1, -2, 2^-24, 65504 in half precision; keys in another order, other quotes */
    test_ok(*state, read_npy(&data, *state,
                             "{\"shape\": (1, 4), \"fortran_order\": False, \"descr\": \"<f2\"}",
                             "\x00\x3c\x00\xc0\x01\x00\xff\x7b", 8));
    expect_matrix(data, 1, 4, (double[]){1, -2, ldexp(1, -24), 65504});
    mcr_data_free(data);
    test_ok(*state, read_npy(&data, *state, "{'descr':'|i1','fortran_order':False,'shape':(2,1)}",
                             "\xff\x80", 2));
    expect_matrix(data, 2, 1, (double[]){-1, -128});
    mcr_data_free(data);
    for (int version = 2; version <= 3; version++) {
        size_t length;
        char *file = make_npy(version, "{'descr':'|u1','fortran_order':False,'shape':(1,2)}",
                              "\x07\xff", 2, &length);
        test_ok(*state, read_text(&data, *state, "f", file, length, NULL, NULL));
        expect_matrix(data, 1, 2, (double[]){7, 255});
        mcr_data_free(data);
        free(file);
    }
}

static void refuse(mcr *ctx, const char *header, const void *body, size_t bytes,
                   const char *message)
{
    mcr_data *data;
    assert_int_equal(read_npy(&data, ctx, header, body, bytes), MCR_BAD_DATA);
    assert_null(data);
    assert_string_equal(mcr_message(ctx), message);
}

static void refuses(void **state)
{
    static const double bad[] = {1, NAN, 3, INFINITY};
    refuse(*state, "{'descr':'<f8','fortran_order':False,'shape':(2,2)}", bad, 32,
           "f.npy: row 1, column 2: the value is not finite");
    refuse(*state, "{'descr':'<f8','fortran_order':True,'shape':(2,2)}", bad, 32,
           "f.npy: row 2, column 1: the value is not finite");
    refuse(*state, "{'descr':'<f8','fortran_order':False,'shape':(2,2)}", bad, 31,
           "f.npy: the file ends early");
    refuse(*state, "{'descr':'<f8','fortran_order':False,'shape':(1,1)}", bad, 9,
           "f.npy: the file is longer than its header says");
    refuse(*state, "{'descr':'|O','fortran_order':False,'shape':(1,1)}", bad, 8,
           "f.npy: the array holds Python objects; save it with a numeric type");
    refuse(*state, "{'descr':[('a','<f8')],'fortran_order':False,'shape':(1,)}", bad, 8,
           "f.npy: the array has named fields; save a plain matrix of numbers");
    refuse(*state, "{'descr':'<c16','fortran_order':False,'shape':(1,)}", bad, 16,
           "f.npy: elements of type \"c16\" are not numbers");
    refuse(*state, "{'descr':'<f16','fortran_order':False,'shape':(1,)}", bad, 16,
           "f.npy: numbers of 16 bytes are not read; save it as float64");
    refuse(*state, "{'descr':'<U2','fortran_order':False,'shape':(1,)}", bad, 8,
           "f.npy: the array holds text, not numbers");
    refuse(*state, "{'descr':'<f8','fortran_order':False,'shape':()}", bad, 8,
           "f.npy: the array has 0 dimensions; save it with one or two");
    refuse(*state, "{'descr':'<f8','fortran_order':False,'shape':(1,1,1)}", bad, 8,
           "f.npy: the array has 3 dimensions; save it with one or two");
    refuse(*state, "{'descr':'<f8','fortran_order':False,'shape':(0,4)}", bad, 0,
           "f.npy: the array is empty");
    refuse(*state, "{'descr':'<f8','fortran_order':False,'shape':(-1,4)}", bad, 8,
           "f.npy: damaged NumPy header: no shape");
    refuse(*state, "{'descr':'<f8','fortran_order':False,'shape':(4611686018427387904,16)}", bad, 8,
           "f.npy: damaged NumPy header: the shape is too large");
    /* Promises of the header cost no memory. */
    refuse(*state, "{'descr':'<f8','fortran_order':False,'shape':(1000000000,1000)}", bad, 32,
           "f.npy: the file ends early");
    refuse(*state, "{'descr':'<f8','shape':(1,)}", bad, 8,
           "f.npy: damaged NumPy header: type, order or shape is missing");
    refuse(*state, "{'descr':'<f8','fortran_order':Maybe,'shape':(1,)}", bad, 8,
           "f.npy: damaged NumPy header: no order");
    refuse(*state, "['descr']", bad, 8, "f.npy: damaged NumPy header: no dictionary");
    refuse_text(*state, "f.npy", "1,2\n", NULL, NULL, "f.npy: the file ends early");
    refuse_text(*state, "f.npy", "1,2,3,4,5\n", NULL, NULL, "f.npy: this is not a NumPy file");
    refuse_text(*state, "f", "\x93NUMPY\x04 ", "npy", NULL, "f: NumPy file version 4 is not known");
}

/* A header with one part of it replaced. */
static void refuse_part(mcr *ctx, const char *part, const char *other, const char *message)
{
    static const char good[] = "{'descr':'<f8','fortran_order':False,'shape':(2,2)}";
    static const double body[8] = {1, 2, 3, 4};
    char header[256], whole[300];
    const char *at = strstr(good, part);
    assert_non_null(at);
    snprintf(header, sizeof header, "%.*s%s%s", (int)(at - good), good, other, at + strlen(part));
    snprintf(whole, sizeof whole, "f.npy: %s", message);
    refuse(ctx, header, body, sizeof body, whole);
}

static void refuses_headers(void **state)
{
    refuse_part(*state, "{", "", "damaged NumPy header: no dictionary");
    refuse_part(*state, "}", "", "damaged NumPy header: no dictionary");
    refuse_part(*state, "}", "]", "damaged NumPy header: no dictionary");
    refuse_part(*state, "'descr'", "xdescrx", "damaged NumPy header: no dictionary");
    refuse_part(*state, "'descr'", "5", "damaged NumPy header: no dictionary");
    refuse_part(*state, "'fortran_order'", "", "damaged NumPy header: no dictionary");
    refuse_part(*state, ":'<f8'", "'<f8'", "damaged NumPy header: no dictionary");
    refuse_part(*state, "'<f8',", "'<f8'", "damaged NumPy header: no dictionary");
    refuse_part(*state, "descr", "descrx", "damaged NumPy header: an unknown entry");
    refuse_part(*state, "fortran_order", "fortran_orderx",
                "damaged NumPy header: an unknown entry");
    refuse_part(*state, "fortran_order", "fortran-order", "damaged NumPy header: an unknown entry");
    refuse_part(*state, "shape", "shapes", "damaged NumPy header: an unknown entry");
    refuse_part(*state, "shape", "sharp", "damaged NumPy header: an unknown entry");
    refuse_part(*state, "'descr':'<f8',", "",
                "damaged NumPy header: type, order or shape is missing");
    refuse_part(*state, ",'shape':(2,2)", "",
                "damaged NumPy header: type, order or shape is missing");
    refuse_part(*state, "(2,2)", "4", "damaged NumPy header: no shape");
    refuse_part(*state, "(2,2)", "2,2)", "damaged NumPy header: no shape");
    refuse_part(*state, "(2,2)", "(2 2)", "damaged NumPy header: no shape");
    refuse_part(*state, "(2,2)", "(2,2", "damaged NumPy header: no shape");
    refuse_part(*state, "(2,2)", "(4,0)", "the array is empty");
    refuse_part(*state, "(2,2)", "(4611686018427387904,2)",
                "damaged NumPy header: the shape is too large");
    refuse_part(*state, "'<f8'", "8", "damaged NumPy header: no element type");
    refuse_part(*state, "'<f8'", "'f'", "damaged NumPy header: no element type");
    refuse_part(*state, "<f8", "<f8x", "damaged NumPy header: no element size");
    refuse_part(*state, "<f8", "|S0", "damaged NumPy header: no element size");
    refuse_part(*state, "<f8", "|S1048577", "damaged NumPy header: no element size");
    refuse_part(*state, "<f8", "<U262145", "damaged NumPy header: no element size");
    refuse_part(*state, "<f8", "<f1", "numbers of 1 bytes are not read; save it as float64");
    refuse_part(*state, "<f8", "<i3", "numbers of 3 bytes are not read; save it as float64");
    refuse_part(*state, "<f8", "|b2", "numbers of 2 bytes are not read; save it as float64");
    char magic[3] = {'\x93', 'N', 'U'}, *bytes = malloc(sizeof magic);
    assert_non_null(bytes);
    memcpy(bytes, magic, sizeof magic);
    assert_false(mcr_npy_is(bytes, sizeof magic));
    free(bytes);
}

/* The header ends anywhere, or is longer or shorter than the file says. */
static void refuses_parts_of_headers(void **state)
{
    static const char good[] = "{'descr':'<f8','fortran_order':True,'shape':(2,2)}";
    mcr_data *data;
    for (size_t n = 0; n < sizeof good - 1; n++) {
        char part[sizeof good];
        memcpy(part, good, n);
        part[n] = '\0';
        test_fails(*state, read_npy(&data, *state, part, NULL, 0), MCR_BAD_DATA,
                   "f.npy: damaged NumPy header: no ");
    }
    char file[80] = "\x93NUMPY\1";
    file[8] = 60;
    memcpy(file + 10, good, sizeof good - 1);
    test_fails(*state, read_text(&data, *state, "f.npy", file, 10 + sizeof good - 1, NULL, NULL),
               MCR_BAD_DATA, "f.npy: the file ends early");
    test_fails(*state, read_text(&data, *state, "f.npy", file, 30, NULL, NULL), MCR_BAD_DATA,
               "f.npy: the file ends early");
    test_fails(*state, read_text(&data, *state, "f.npy", file, 8, NULL, NULL), MCR_BAD_DATA,
               "f.npy: the file ends early");
    file[6] = 0;
    test_fails(*state, read_text(&data, *state, "f.npy", file, 60, NULL, NULL), MCR_BAD_DATA,
               "f.npy: NumPy file version 0 is not known");
    size_t length;
    char *blanks = malloc(70001);
    assert_non_null(blanks);
    memset(blanks, ' ', 70000);
    blanks[70000] = '\0';
    memcpy(blanks, good, sizeof good - 1);
    char *whole = make_npy(2, blanks, "0123456789abcdef0123456789abcdef", 32, &length);
    test_fails(*state, read_text(&data, *state, "f.npy", whole, length, NULL, NULL), MCR_BAD_DATA,
               "f.npy: damaged NumPy header: it is too long");
    free(whole);
    free(blanks);
}

/* Types without an order are those of the machine; blanks may stand anywhere between the parts. */
static void reads_other_headers(void **state)
{
    static const double body[] = {1, 2};
    static const char *const headers[] = {
        "{'descr':'f8','fortran_order':False,'shape':(1,2)}",
        "{'descr':'=f8','fortran_order':False,'shape':(1,2)}",
        "\n{\t'descr'\n:\t'<f8' ,\n\t'fortran_order' : \tFalse\n, 'shape'\t: ( 1\n,\t2 ) }\n"};
    mcr_data *data;
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        test_ok(*state, read_npy(&data, *state, headers[i], body, sizeof body));
        expect_matrix(data, 1, 2, body);
        mcr_data_free(data);
    }
    static const struct {
        const char *type;
        size_t bytes;
        double most;
    } types[] = {{"|u1", 1, 255},
                 {"<u2", 2, 65535},
                 {"<u4", 4, 4294967295.0},
                 {"<u8", 8, 18446744073709551616.0}}; /* rounded */
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        unsigned char ones[8] = {255, 255, 255, 255, 255, 255, 255, 255};
        char header[100];
        snprintf(header, sizeof header, "{'descr':'%s','fortran_order':False,'shape':(1,)}",
                 types[t].type);
        test_ok(*state, read_npy(&data, *state, header, ones, types[t].bytes));
        expect_matrix(data, 1, 1, &types[t].most);
        mcr_data_free(data);
    }
}

/* ---- targets in a second file -----------------------------------------------------------------*/

static void write_file(const char *path, const char *bytes, size_t length)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, length, f), length);
    assert_int_equal(fclose(f), 0);
}

static void write_npy(const char *path, const char *header, const void *body, size_t bytes)
{
    size_t length;
    char *file = make_npy(1, header, body, bytes, &length);
    write_file(path, file, length);
    free(file);
}

static void reads_targets(void **state)
{
    char folder[256], x[300], y[300];
    test_make_directory(folder);
    snprintf(x, sizeof x, "%s/x.npy", folder);
    snprintf(y, sizeof y, "%s/y.npy", folder);
    write_npy(x, "{'descr':'|u1','fortran_order':False,'shape':(3,2)}", "\1\2\3\4\5\6", 6);
    mcr_read_options options = {.size = sizeof options, .target = y};
    mcr_data *data;

    write_npy(y, "{'descr':'|i1','fortran_order':False,'shape':(3,)}", "\1\xff\1", 3);
    test_ok(*state, mcr_data_read(&data, *state, x, &options));
    assert_int_equal(mcr_data_target_kind(data), MCR_REAL_TARGETS);
    assert_true(mcr_data_targets(data)[0] == 1 && mcr_data_targets(data)[1] == -1);
    mcr_data_free(data);

    write_npy(y, "{'descr':'|S3','fortran_order':False,'shape':(3,1)}", "b\0\0abcb\0\0", 9);
    test_ok(*state, mcr_data_read(&data, *state, x, &options));
    assert_int_equal(mcr_data_target_kind(data), MCR_WORD_TARGETS);
    assert_string_equal(mcr_data_class_name(data, 0), "b");
    assert_string_equal(mcr_data_class_name(data, 1), "abc");
    mcr_data_free(data);

    /* UTF-32, big endian: "a", U+00E4, U+1F600 */
    write_npy(y, "{'descr':'>U1','fortran_order':False,'shape':(3,)}",
              "\0\0\0a\0\0\0\xe4\0\1\xf6\0", 12);
    test_ok(*state, mcr_data_read(&data, *state, x, &options));
    assert_string_equal(mcr_data_class_name(data, 0), "a");
    assert_string_equal(mcr_data_class_name(data, 1), "\xc3\xa4");
    assert_string_equal(mcr_data_class_name(data, 2), "\xf0\x9f\x98\x80");
    mcr_data_free(data);

    write_npy(y, "{'descr':'|i1','fortran_order':True,'shape':(3,2)}", "\1\2\3\4\5\6", 6);
    test_ok(*state, mcr_data_read(&data, *state, x, &options));
    assert_int_equal(mcr_data_target_count(data), 2);
    assert_true(mcr_data_target_table(data)[1] == 4 && mcr_data_target_table(data)[4] == 3);
    assert_string_equal(mcr_data_target_name(data, 1), "target2");
    mcr_data_free(data);
    write_npy(y, "{'descr':'|S1','fortran_order':False,'shape':(3,2)}", "abcdef", 6);
    test_fails(*state, mcr_data_read(&data, *state, x, &options), MCR_BAD_DATA,
               "must be a vector of as many, not 3 x 2");

    write_npy(y, "{'descr':'|i1','fortran_order':False,'shape':(2,)}", "\1\1", 2);
    test_fails(*state, mcr_data_read(&data, *state, x, &options), MCR_BAD_DATA,
               "y.npy: targets for 3 objects must be a vector of as many, or a "
               "matrix of as many rows, not 2 x 1");
    write_npy(y, "{'descr':'|S1','fortran_order':False,'shape':(3,)}", "a\0b", 3);
    test_fails(*state, mcr_data_read(&data, *state, x, &options), MCR_BAD_DATA,
               "y.npy: row 2: the label is empty or not text");
    write_npy(y, "{'descr':'|S3','fortran_order':False,'shape':(3,)}", "abca\0bxyz", 9);
    test_fails(*state, mcr_data_read(&data, *state, x, &options), MCR_BAD_DATA,
               "y.npy: row 2: the label is empty or not text");
    write_npy(y, "{'descr':'|S1','fortran_order':False,'shape':(3,)}", "ab", 2);
    test_fails(*state, mcr_data_read(&data, *state, x, &options), MCR_BAD_DATA,
               "y.npy: the file ends early");
    write_npy(y, "{'descr':'|S1','fortran_order':False,'shape':(3,)}", "abcd", 4);
    test_fails(*state, mcr_data_read(&data, *state, x, &options), MCR_BAD_DATA,
               "y.npy: the file is longer than its header says");
    /* UTF-32, little endian: "a", U+20AC, "b"; then what is no character */
    write_npy(y, "{'descr':'<U1','fortran_order':False,'shape':(3,)}", "a\0\0\0\xac\x20\0\0b\0\0\0",
              12);
    test_ok(*state, mcr_data_read(&data, *state, x, &options));
    assert_string_equal(mcr_data_class_name(data, 0), "a");
    assert_string_equal(mcr_data_class_name(data, 1), "\xe2\x82\xac");
    mcr_data_free(data);
    write_npy(y, "{'descr':'<U1','fortran_order':False,'shape':(3,)}", "a\0\0\0\0\xd8\0\0b\0\0\0",
              12);
    test_fails(*state, mcr_data_read(&data, *state, x, &options), MCR_BAD_DATA,
               "y.npy: row 2: the label is empty or not text");
    write_npy(y, "{'descr':'<U1','fortran_order':False,'shape':(3,)}", "a\0\0\0b\0\0\0\0\0\x11\0",
              12);
    test_fails(*state, mcr_data_read(&data, *state, x, &options), MCR_BAD_DATA,
               "y.npy: row 3: the label is empty or not text");
    options.target = "none";
    test_ok(*state, mcr_data_read(&data, *state, x, &options));
    assert_int_equal(mcr_data_target_kind(data), MCR_NO_TARGETS);
    mcr_data_free(data);
    snprintf(y, sizeof y, "%s/absent.npy", folder);
    options.target = y;
    test_fails(*state, mcr_data_read(&data, *state, x, &options), MCR_IO, "absent.npy");
    test_remove_directory(folder);
}

/* ---- precomputed ------------------------------------------------------------------------------*/

static void reads_precomputed_matrices(void **state)
{
    mcr_data *data;
    size_t length;
    char *file = make_npy(1, "{'descr':'|u1','fortran_order':False,'shape':(2,2)}", "\2\1\1\2", 4,
                          &length);
    test_ok(*state, read_text(&data, *state, "k.npy", file, length, "precomputed", NULL));
    assert_int_equal(field_info(data, 0).kind, MCR_PRECOMPUTED);
    expect_matrix(data, 2, 2, (double[]){2, 1, 1, 2});
    assert_true(data->store[0]->id[0] == 0 && data->store[0]->id[1] == 1);
    mcr_data_free(data);
    free(file);
    file = make_npy(1, "{'descr':'|u1','fortran_order':False,'shape':(1,2)}", "\2\1", 2, &length);
    test_ok(*state, read_text(&data, *state, "k.npy", file, length, "precomputed", NULL));
    assert_int_equal(data->store[0]->id[0], -1);
    mcr_data_free(data);
    free(file);
}

static mcr_data *read_lines(mcr *ctx, const char *text, const char *format)
{
    mcr_data *data;
    test_ok(ctx, read_text(&data, ctx, "k", text, strlen(text), format, NULL));
    assert_int_equal(field_info(data, 0).kind, MCR_PRECOMPUTED);
    return data;
}

static void reads_precomputed_lines(void **state)
{
    /* The example in LIBSVM's manual, found without a word. */
    mcr_data *data = read_lines(*state,
                                "15  0:1 1:4 2:6  3:1\n"
                                "45  0:2 1:6 2:18 3:0\n"
                                "25  0:3 1:1 2:0  3:1 # last\n\n",
                                NULL);
    expect_matrix(data, 3, 3, (double[]){4, 6, 1, 6, 18, 0, 1, 0, 1});
    assert_true(mcr_data_targets(data)[2] == 25);
    for (int64_t i = 0; i < 3; i++)
        assert_int_equal(data->store[0]->id[i], i);
    mcr_data_free(data);
    /* A part of it, in another order. */
    data = read_lines(*state, "25 0:3 1:1 2:0 3:1\n45 0:2 1:6 2:18 3:0\n", "precomputed");
    assert_true(data->store[0]->id[0] == 2 && data->store[0]->id[1] == 1);
    mcr_data_free(data);
    /* Other objects: the ids mean nothing. */
    data = read_lines(*state, "15 0:1 1:2 2:0 3:1\n15 0:2 1:3 2:0 3:1\n", "precomputed");
    assert_true(data->store[0]->id[0] == -1 && data->store[0]->id[1] == -1);
    mcr_data_free(data);
    data = read_lines(*state, "15 0:? 1:2 2:0 3:1\n", "precomputed");
    assert_int_equal(data->store[0]->id[0], -1);
    mcr_data_free(data);
}

static void refuses_precomputed_lines(void **state)
{
    static const char *const cases[][2] = {
        {"1 1:2\n", "k:1: the label must be followed by 0:id"},
        {"1 0:x 1:2\n", "k:1: the id of the object (0:id) is not a number"},
        {"1 0:1\n", "k:1: the line has no kernel values"},
        {"1 0:1 1:1 2:2\n1 0:2 1:1\n", "k:2: 1 value, but the first line has 2"},
        {"1 0:1 1:1\n1 0:2 1:1 2:2\n", "k:2: more than 1 value, as many as the first line has"},
        {"1 0:1 1:1 3:2\n",
         "k:1: index 3 follows index 1; a row of a kernel has all of them, including zeros"},
        {"1 0:1 1:1 1:2\n", "k:1: index 1 occurs twice"},
        {"1 0:1 1:nan\n", "k:1: the value of index 1, \"nan\", is not finite"},
        {"1 0:1 1:x\n", "k:1: the value of index 1, \"x\", is not a number"},
        {"1 0:1 x\n", "k:1: \"x\" is not index:value"},
        {"0:1 1:1\n", "k:1: the label is missing: the line starts with \"0:1\""},
        {"inf 0:1 1:1\n", "k:1: the label is not finite"},
        {"1 0:1 1:1\n\n1 0:1 1:1\n",
         "k:2: the line is blank; blank lines are allowed only at the end"},
        {"# no\n", "k: there are no objects in the file"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        refuse_text(*state, "k", cases[i][0], "precomputed", NULL, cases[i][1]);
}

/* ---- memory -----------------------------------------------------------------------------------*/

typedef struct file {
    char *bytes;
    size_t length;
    mcr_read_options options;
} file;

static mcr_status read_file(mcr *ctx, void *arg)
{
    const file *f = arg;
    mcr_data *data;
    mcr_status status = mcr_data_read_memory(&data, ctx, "f", f->bytes, f->length, &f->options);
    mcr_data_free(data);
    return status;
}

static void survives_short_memory(void **state)
{
    (void)state;
    char folder[256], y[300];
    test_make_directory(folder);
    snprintf(y, sizeof y, "%s/y.npy", folder);
    write_npy(y, "{'descr':'|S1','fortran_order':False,'shape':(2,)}", "ab", 2);
    file f = {.options = {.size = sizeof f.options, .target = y}};
    f.bytes = make_npy(1, "{'descr':'|u1','fortran_order':True,'shape':(2,2)}", "\1\2\3\4", 4,
                       &f.length);
    test_sweep_allocations("npy", read_file, &f);
    f.options.format = "precomputed";
    test_sweep_allocations("precomputed npy", read_file, &f);
    free(f.bytes);
    char lines[] = "a 0:1 1:4 2:6\nb 0:2 1:6 2:18\n";
    f = (file){.bytes = lines, .length = strlen(lines), .options = {.size = sizeof f.options}};
    test_sweep_allocations("precomputed lines", read_file, &f);
    test_remove_directory(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(reads_all_types, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(reads_odd_types_and_shapes, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(refuses, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(refuses_headers, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(refuses_parts_of_headers, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(reads_other_headers, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(reads_targets, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(reads_precomputed_matrices, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(reads_precomputed_lines, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(refuses_precomputed_lines, test_setup, test_teardown),
        cmocka_unit_test(survives_short_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
