/* test_format_npz.c: the reader of NumPy archives, and what it refuses of zip files.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "format_helpers.h"

#include <math.h>

#include <zlib.h>

#include "data/data.h"

/* An archive while it is written: members, then their directory. */
typedef struct zip {
    unsigned char bytes[8192], directory[2048];
    size_t length, listed, count;
} zip;

enum {
    METHOD = 8,
    SUM = 16,
    PACKED = 20,
    SIZE = 24,
    OFFSET = 42
}; /* in an entry of the directory */

static void put(unsigned char *to, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        to[i] = (unsigned char)(value >> 8 * i);
}

/* zlib's stream without the two bytes before it and the four behind it is RFC 1951's. */
static size_t deflated(unsigned char *to, const void *bytes, size_t count)
{
    unsigned char packed[4096];
    uLongf length = sizeof packed;
    assert_int_equal(compress2(packed, &length, bytes, (uLong)count, 9), Z_OK);
    memcpy(to, packed + 2, length - 6);
    return length - 6;
}

static void add(zip *z, const char *name, const void *bytes, size_t count, bool pack)
{
    size_t offset = z->length, named = strlen(name);
    unsigned char *local = z->bytes + offset, *entry = z->directory + z->listed;
    unsigned char *body = local + 30 + named;
    size_t packed = count;
    if (pack)
        packed = deflated(body, bytes, count);
    else
        memcpy(body, bytes, count);
    memset(local, 0, 30);
    put(local, 0x04034b50, 4);
    put(local + 8, pack ? 8 : 0, 2);
    put(local + 26, named, 2);
    memcpy(local + 30, name, named);
    memset(entry, 0, 46);
    put(entry, 0x02014b50, 4);
    put(entry + 10, pack ? 8 : 0, 2);
    put(entry + SUM, crc32(0, bytes, (uInt)count), 4);
    put(entry + PACKED, packed, 4);
    put(entry + SIZE, count, 4);
    put(entry + 28, named, 2);
    put(entry + OFFSET, offset, 4);
    memcpy(entry + 46, name, named);
    z->length += 30 + named + packed;
    z->listed += 46 + named;
    z->count++;
}

/* An array of bytes: numbers u1, or text S1. */
static void add_array(zip *z, const char *name, const char *type, int rows, int cols,
                      const char *body, bool pack)
{
    char file[1024];
    int text = snprintf(file + 10, 200, "{'descr':'%s','fortran_order':False,'shape':(%d,%d)}",
                        type, rows, cols);
    memcpy(file, "\x93NUMPY\1\0", 8);
    put((unsigned char *)file + 8, (uint64_t)text, 2);
    memcpy(file + 10 + text, body, (size_t)(rows * cols));
    add(z, name, file, (size_t)(10 + text + rows * cols), pack);
}

/* The directory and the end record. */
static size_t finish(zip *z)
{
    unsigned char *end = z->bytes + z->length + z->listed;
    memcpy(z->bytes + z->length, z->directory, z->listed);
    memset(end, 0, 22);
    put(end, 0x06054b50, 4);
    put(end + 8, z->count, 2);
    put(end + 10, z->count, 2);
    put(end + 12, z->listed, 4);
    put(end + 16, z->length, 4);
    return z->length + z->listed + 22;
}

static mcr_status read_zip(mcr_data **out, mcr *ctx, zip *z, const char *only, const char *target)
{
    mcr_read_options options = {.size = sizeof options, .only = only, .target = target};
    size_t length = finish(z);
    /* exactly as long as it is, so that a sanitizer sees what is read behind it */
    unsigned char *exact = malloc(length);
    memcpy(exact, z->bytes, length);
    mcr_status status = mcr_data_read_memory(out, ctx, "f.npz", exact, length, &options);
    free(exact);
    return status;
}

static void expect(mcr *ctx, zip *z, const char *only, const char *target, double first,
                   mcr_targets kind)
{
    mcr_data *data;
    double x[2];
    test_ok(ctx, read_zip(&data, ctx, z, only, target));
    assert_int_equal(mcr_data_count(data), 3);
    assert_int_equal(field_info(data, 0).cols, 2);
    assert_string_equal(field_info(data, 0).name, "x");
    assert_int_equal(mcr_data_vector(data, 0, 0, x), MCR_OK);
    assert_true(x[0] == first && x[1] == first + 1);
    assert_int_equal(mcr_data_vector(data, 0, 2, x), MCR_OK);
    assert_true(x[0] == first + 4 && x[1] == first + 5);
    assert_int_equal(mcr_data_target_kind(data), kind);
    mcr_data_free(data);
}

static void refuse(mcr *ctx, zip *z, const char *only, const char *target, const char *message)
{
    mcr_data *data;
    assert_int_equal(read_zip(&data, ctx, z, only, target), MCR_BAD_DATA);
    assert_null(data);
    assert_string_equal(mcr_message(ctx), message);
}

static void reads_arrays(void **state)
{
    for (int pack = 0; pack < 2; pack++) {
        zip z = {0};
        add_array(&z, "X.npy", "|u1", 3, 2, "\1\2\3\4\5\6", pack);
        expect(*state, &z, NULL, NULL, 1, MCR_NO_TARGETS);
        add_array(&z, "y.npy", "|u1", 3, 1, "\1\2\1", pack);
        expect(*state, &z, NULL, NULL, 1, MCR_REAL_TARGETS);
        expect(*state, &z, NULL, "none", 1, MCR_NO_TARGETS);
        add_array(&z, "x_test.npy", "|u1", 3, 2, "\11\12\13\14\15\16", !pack);
        add_array(&z, "names.npy", "|S1", 3, 1, "aba", pack);
        add(&z, "notes.txt", "hello", 5, pack);
        expect(*state, &z, NULL, "names", 1, MCR_WORD_TARGETS);
        expect(*state, &z, "x_test", "names", 9, MCR_WORD_TARGETS);
        refuse(*state, &z, "x_test", "classes",
               "f.npz: there is no array \"classes\"; there are: X, y, x_test, names");
        refuse(*state, &z, "notes.txt", NULL,
               "f.npz: there is no array \"notes.txt\"; there are: X, y, x_test, names");
        refuse(*state, &z, "y", NULL,
               "f.npz: one array cannot be both the objects and the targets");
        refuse(*state, &z, "names", NULL, "f.npz:names: the array holds text, not numbers");
    }
}

/* numpy.savez without names calls them arr_0, arr_1 ... */
static void finds_the_matrix(void **state)
{
    zip z = {0};
    add_array(&z, "arr_0.npy", "|u1", 3, 2, "\1\2\3\4\5\6", true);
    expect(*state, &z, NULL, NULL, 1, MCR_NO_TARGETS);
    add_array(&z, "arr_1.npy", "|u1", 3, 1, "\1\2\3", true);
    expect(*state, &z, NULL, "arr_1", 1, MCR_REAL_TARGETS);
    refuse(*state, &z, NULL, NULL,
           "f.npz: no array is called X or data; name the one with the objects, and the one with "
           "the targets: arr_0, arr_1");
    assert_string_equal(mcr_message_id(*state), "array");
    add_array(&z, "data.npy", "|u1", 3, 2, "\2\3\4\5\6\7", true);
    expect(*state, &z, NULL, NULL, 2, MCR_NO_TARGETS);
    add_array(&z, "target.npy", "|u1", 2, 1, "\1\2", true);
    refuse(*state, &z, NULL, NULL,
           "f.npz:target: targets for 3 objects must be a vector of as many, or a matrix of as "
           "many rows, not 2 x 1");
    add_array(&z, "data.npy", "|u1", 3, 2, "\2\3\4\5\6\7", true);
    refuse(*state, &z, NULL, "none", "f.npz: there are two arrays called \"data\"");

    zip sparse = {0};
    add_array(&sparse, "data.npy", "|u1", 3, 1, "\1\2\3", true);
    add_array(&sparse, "shape.npy", "|u1", 2, 1, "\2\3", true);
    add_array(&sparse, "format.npy", "|S1", 3, 1, "csr", true);
    refuse(*state, &sparse, NULL, NULL,
           "f.npz: this is a sparse matrix of SciPy; write it as LIBSVM lines "
           "(sklearn.datasets.dump_svmlight_file)");
    zip none = {0};
    add(&none, "notes.txt", "hello", 5, false);
    refuse(*state, &none, NULL, NULL, "f.npz: the archive has no array of objects");
    zip empty = {0};
    refuse(*state, &empty, NULL, NULL, "f.npz: the archive has no array of objects");
}

/* One matrix, with a number of its entry in the directory changed. */
static void refuse_changed(mcr *ctx, bool pack, int at, int bytes, uint64_t value,
                           const char *message)
{
    zip z = {0};
    add_array(&z, "X.npy", "|u1", 3, 2, "\1\2\3\4\5\6", pack);
    put(z.directory + at, value, bytes);
    refuse(ctx, &z, NULL, NULL, message);
}

static void refuses_damaged_entries(void **state)
{
    refuse_changed(*state, true, SUM, 1, 0, "f.npz:X: damaged archive: its checksum is wrong");
    refuse_changed(*state, false, SUM, 1, 0, "f.npz:X: damaged archive: its checksum is wrong");
    refuse_changed(*state, true, SIZE, 4, 70,
                   "f.npz:X: damaged archive: it does not have the expected size");
    refuse_changed(*state, true, SIZE, 4, 7,
                   "f.npz:X: damaged archive: it does not have the expected size");
    refuse_changed(*state, false, SIZE, 4, 7, "f.npz:X: damaged archive: its two sizes differ");
    refuse_changed(*state, true, PACKED, 4, 7, "f.npz:X: damaged archive: the file ends early");
    refuse_changed(*state, true, PACKED, 4, 7000, "f.npz:X: damaged archive: it ends early");
    refuse_changed(*state, true, OFFSET, 4, 1,
                   "f.npz:X: damaged archive: it is not where the directory says");
    refuse_changed(*state, true, OFFSET, 4, 0x7fffffff,
                   "f.npz:X: damaged archive: it is not where the directory says");
    refuse_changed(*state, true, 10, 2, 0, "f.npz:X: damaged archive: its two sizes differ");
    refuse_changed(*state, true, 10, 2, 12,
                   "f.npz:X: compression method 12 is not known; use numpy.savez_compressed");
    refuse_changed(*state, true, METHOD, 2, 1, "f.npz:X: it is encrypted");
    refuse_changed(*state, true, 46, 1, 'Z',
                   "f.npz:Z: damaged archive: its header and the directory differ");
    refuse_changed(*state, true, SIZE, 4, UINT32_MAX,
                   "f.npz: members of 4 GiB or more are not read; save the arrays as .npy files");
    refuse_changed(*state, true, 0, 1, 0, "f.npz: damaged archive: its directory has a gap");
    refuse_changed(*state, true, 32, 2, 900, "f.npz: damaged archive: its directory ends early");
}

static void refuses_overlaps(void **state)
{
    zip z = {0};
    add_array(&z, "X.npy", "|u1", 3, 2, "\1\2\3\4\5\6", false);
    size_t second = z.listed;
    add_array(&z, "y.npy", "|u1", 3, 1, "\1\2\3", false);
    put(z.directory + second + OFFSET, 8, 4);
    refuse(*state, &z, NULL, "none",
           "f.npz:X: damaged archive: it shares bytes with another member");
}

/* The end record: where the directory is, how many parts there are. */
static void refuses_damaged_ends(void **state)
{
    static const struct {
        int at, bytes;
        uint64_t value;
        const char *message;
    } faults[] = {
        {0, 1, 0, "f.npz: damaged archive: it has no end record; the file may be cut off"},
        {20, 2, 1, "f.npz: damaged archive: it has no end record; the file may be cut off"},
        {4, 2, 1, "f.npz: this is one part of an archive in several parts"},
        {8, 4, 0xffffffff,
         "f.npz: archives of 4 GiB or more are not read; save the arrays as .npy files"},
        {8, 4, 0x00020002, "f.npz: damaged archive: its directory has a gap"},
        {8, 4, 0, "f.npz: damaged archive: its directory has more entries than it says"},
        {16, 4, 0x7fffffff, "f.npz: damaged archive: its directory is not where it should be"},
        {12, 4, 1, "f.npz: damaged archive: its directory is not where it should be"},
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        zip z = {0};
        mcr_data *data;
        add_array(&z, "X.npy", "|u1", 3, 2, "\1\2\3\4\5\6", true);
        size_t length = finish(&z);
        put(z.bytes + length - 22 + faults[i].at, faults[i].value, faults[i].bytes);
        assert_int_equal(read_text(&data, *state, "f.npz", (char *)z.bytes, length, NULL, NULL),
                         MCR_BAD_DATA);
        assert_string_equal(mcr_message(*state), faults[i].message);
    }
    refuse_text(*state, "f.npz", "nonsense", NULL, NULL,
                "f.npz: damaged archive: it has no end record; the file may be cut off");
}

/* Wherever a bit is changed or the file is cut, there is data or a message, and never a value that
 * was not in the file: the checksum finds it. */
static void survives_every_change(void **state)
{
    zip z = {0};
    double x[2];
    add_array(&z, "X.npy", "|u1", 3, 2, "\1\2\3\4\5\6", true);
    add_array(&z, "y.npy", "|u1", 3, 1, "\1\2\3", false);
    size_t length = finish(&z);
    for (size_t bit = 0; bit < 8 * length; bit++) {
        mcr_data *data = NULL;
        z.bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        mcr_status status = read_text(&data, *state, "f.npz", (char *)z.bytes, length, "npz", NULL);
        assert_true((status == MCR_OK) == (data != NULL));
        if (data != NULL && mcr_data_vector(data, 0, 2, x) == MCR_OK)
            assert_true(x[0] == 5 && x[1] == 6);
        mcr_data_free(data);
        z.bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    for (size_t cut = 1; cut < length; cut++) {
        mcr_data *data = NULL;
        char *exact = malloc(cut);
        memcpy(exact, z.bytes, cut);
        assert_int_equal(read_text(&data, *state, "f.npz", exact, cut, "npz", NULL), MCR_BAD_DATA);
        free(exact);
    }
}

/* 32 MB of zeros in 32 KB: the ratio ends it long before the memory does. */
static void refuses_bombs(void **state)
{
    enum { BLOCK = 1 << 20, BLOCKS = 32 };
    static const char header[] = "{'descr':'<f8','fortran_order':False,'shape':(4000000,1)}";
    unsigned char *block = calloc(BLOCK, 1), *file = malloc(BLOCK), *body = file + 35;
    z_stream s = {0};
    uLong sum = 0;
    assert_int_equal(deflateInit2(&s, 9, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY), Z_OK);
    s.next_out = body;
    s.avail_out = BLOCK - 200;
    for (int i = 0; i < BLOCKS; i++) {
        memset(block, 0, 128);
        if (i == 0) {
            memcpy(block, "\x93NUMPY\1\0", 8);
            put(block + 8, sizeof header - 1, 2);
            memcpy(block + 10, header, sizeof header - 1);
        }
        sum = crc32(sum, block, BLOCK);
        s.next_in = block;
        s.avail_in = BLOCK;
        int state_now = deflate(&s, i + 1 == BLOCKS ? Z_FINISH : Z_NO_FLUSH);
        assert_int_equal(state_now, i + 1 == BLOCKS ? Z_STREAM_END : Z_OK);
    }
    size_t packed = s.total_out;
    deflateEnd(&s);
    zip z = {0};
    add(&z, "X.npy", "", 0, true);
    put(z.directory + SUM, sum, 4);
    put(z.directory + PACKED, packed, 4);
    put(z.directory + SIZE, (uint64_t)BLOCK * BLOCKS, 4);
    memcpy(file, z.bytes, 35);
    memcpy(body + packed, z.directory, z.listed);
    size_t tail = z.listed, at = 35 + packed;
    finish(&z);
    unsigned char *end = file + at + tail;
    memcpy(end, z.bytes + z.length + z.listed, 22);
    put(end + 16, at, 4);
    mcr_data *data;
    test_fails(*state, read_text(&data, *state, "f.npz", (char *)file, at + tail + 22, NULL, NULL),
               MCR_BAD_DATA, "as decompression bombs do");
    free(block);
    free(file);
}

static void is_detected(void **state)
{
    zip z = {0};
    mcr_data *data;
    add_array(&z, "X.npy", "|u1", 3, 2, "\1\2\3\4\5\6", true);
    size_t length = finish(&z);
    test_ok(*state, read_text(&data, *state, "upload", (char *)z.bytes, length, NULL, NULL));
    mcr_data_free(data);
    mcr_read_options options = {.size = sizeof options, .drop = "X"};
    test_fails(*state, mcr_data_read_memory(&data, *state, "f.npz", z.bytes, length, &options),
               MCR_BAD_CALL, "has no columns with roles");
}

typedef struct file {
    zip z;
    size_t length;
} file;

static mcr_status read_file(mcr *ctx, void *arg)
{
    const file *f = arg;
    mcr_data *data;
    mcr_status status = read_text(&data, ctx, "f.npz", (const char *)f->z.bytes, f->length, NULL,
                                  NULL);
    mcr_data_free(data);
    return status;
}

static void survives_short_memory(void **state)
{
    file f = {.length = 0};
    (void)state;
    add_array(&f.z, "X.npy", "|u1", 3, 2, "\1\2\3\4\5\6", true);
    add_array(&f.z, "y.npy", "|S1", 3, 1, "aba", false);
    f.length = finish(&f.z);
    test_sweep_allocations("npz", read_file, &f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(reads_arrays, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(finds_the_matrix, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(refuses_damaged_entries, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(refuses_overlaps, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(refuses_damaged_ends, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(survives_every_change, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(refuses_bombs, test_setup, test_teardown),
        cmocka_unit_test_setup_teardown(is_detected, test_setup, test_teardown),
        cmocka_unit_test(survives_short_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
