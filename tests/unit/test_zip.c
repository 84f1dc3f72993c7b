/* test_zip.c: each field of a zip archive that could lead outside of it is refused for itself.
 * tools/mcdc.py takes the conditions away one by one, and this program must see it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "helpers.h"

#include <stdlib.h>
#include <string.h>

#include "data/format/zip.h"

/* One member "a" of four bytes: its header, its bytes, the directory, the end record. */
enum { LOCAL = 0, CENTRAL = 35, END = 82, BYTES = 104 };

static void put(unsigned char *to, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        to[i] = (unsigned char)(value >> (8 * i));
}

static void make(unsigned char z[BYTES])
{
    memset(z, 0, BYTES);
    put(z + LOCAL, 0x04034b50, 4);
    put(z + LOCAL + 26, 1, 2);
    memcpy(z + LOCAL + 30, "adata", 5);
    put(z + CENTRAL, 0x02014b50, 4);
    put(z + CENTRAL + 16, 0xadf3f363, 4);
    put(z + CENTRAL + 20, 4, 4);
    put(z + CENTRAL + 24, 4, 4);
    put(z + CENTRAL + 28, 1, 2);
    z[CENTRAL + 46] = 'a';
    put(z + END, 0x06054b50, 4);
    put(z + END + 8, 1, 2);
    put(z + END + 10, 1, 2);
    put(z + END + 12, END - CENTRAL, 4);
    put(z + END + 16, CENTRAL, 4);
}

/* Opens the archive in a block of its own size, and each member. */
static mcr_status read_all(mcr *ctx, const unsigned char *bytes, size_t count)
{
    unsigned char *block = malloc(count ? count : 1);
    mcr_zip zip;
    memcpy(block, bytes, count);
    mcr_status s = mcr_zip_open(&zip, ctx, "z.npz", block, count);
    for (int64_t e = 0; e < zip.count && !s; e++) {
        mcr_input *in = NULL;
        char got[8];
        s = mcr_zip_input(&in, &zip, e, "z.npz:a");
        if (!s)
            s = mcr_input_read(in, got, 4);
        mcr_input_close(in);
    }
    mcr_zip_close(&zip);
    free(block);
    return s;
}

/* Fields with values that no archive has. */
static void test_fields(void **state)
{
    mcr *ctx = *state;
    static const struct {
        int at, bytes;
        uint64_t value;
        int other, other_bytes; /* a second field, 0: none */
        uint64_t other_value;
        const char *what; /* NULL: it is read */
    } cases[] = {
        {LOCAL + 4, 2, 20, 0, 0, 0, NULL},
        {END, 4, 1, 0, 0, 0, "no end record"},
        {END + 20, 2, 1, 0, 0, 0, "no end record"},
        {END + 10, 2, UINT16_MAX, END + 8, 2, UINT16_MAX, "4 GiB"},
        {END + 12, 4, UINT32_MAX, 0, 0, 0, "4 GiB"},
        {END + 16, 4, UINT32_MAX, 0, 0, 0, "4 GiB"},
        {END + 4, 2, 1, 0, 0, 0, "several parts"},
        {END + 6, 2, 1, 0, 0, 0, "several parts"},
        {END + 8, 2, 2, 0, 0, 0, "several parts"},
        {END + 16, 4, END + 1, 0, 0, 0, "not where it should be"},
        {END + 16, 4, CENTRAL - 1, 0, 0, 0, "not where it should be"},
        {END + 12, 4, END - CENTRAL - 1, 0, 0, 0, "not where it should be"},
        {END + 8, 2, 2, END + 10, 2, 2, "has a gap"},
        {END + 8, 2, 0, END + 10, 2, 0, "more entries than it says"},
        {CENTRAL, 4, 1, 0, 0, 0, "has a gap"},
        {CENTRAL + 28, 2, 2, 0, 0, 0, "directory ends early"},
        {CENTRAL + 30, 2, 1, 0, 0, 0, "directory ends early"},
        {CENTRAL + 32, 2, 1, 0, 0, 0, "directory ends early"},
        {CENTRAL + 20, 4, UINT32_MAX, 0, 0, 0, "members of 4 GiB"},
        {CENTRAL + 24, 4, UINT32_MAX, 0, 0, 0, "members of 4 GiB"},
        {CENTRAL + 42, 4, UINT32_MAX, 0, 0, 0, "members of 4 GiB"},
        {CENTRAL + 8, 2, 1, 0, 0, 0, "encrypted"},
        {CENTRAL + 10, 2, 7, 0, 0, 0, "method 7"},
        {CENTRAL + 24, 4, 5, 0, 0, 0, "two sizes differ"},
        {CENTRAL + 42, 4, 1, 0, 0, 0, "not where the directory says"},
        {CENTRAL + 42, 4, CENTRAL - 29, 0, 0, 0, "not where the directory says"},
        {CENTRAL + 42, 4, CENTRAL + 1, 0, 0, 0, "not where the directory says"},
        {CENTRAL + 42, 4, BYTES - 1, 0, 0, 0, "not where the directory says"},
        {LOCAL, 4, 1, 0, 0, 0, "not where the directory says"},
        {LOCAL + 26, 2, 200, 0, 0, 0, "it ends early"},
        {LOCAL + 28, 2, 200, 0, 0, 0, "it ends early"},
        {CENTRAL + 20, 4, 5, CENTRAL + 24, 4, 5, "it ends early"},
        {LOCAL + 8, 2, 8, 0, 0, 0, "header and the directory differ"},
        {LOCAL + 26, 2, 0, LOCAL + 28, 2, 1, "header and the directory differ"},
        {LOCAL + 30, 1, 'b', 0, 0, 0, "header and the directory differ"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unsigned char z[BYTES];
        make(z);
        put(z + cases[i].at, cases[i].value, cases[i].bytes);
        put(z + cases[i].other, cases[i].other_value, cases[i].other_bytes);
        mcr_status s = read_all(ctx, z, BYTES);
        if (cases[i].what)
            test_fails(ctx, s, MCR_BAD_DATA, cases[i].what);
        else
            test_ok(ctx, s);
    }
}

/* Cut off anywhere, and with a directory shorter than an entry just before the end record. */
static void test_cut(void **state)
{
    mcr *ctx = *state;
    unsigned char z[BYTES], cut[CENTRAL + 10 + 22];
    make(z);
    for (size_t count = 0; count < BYTES; count++)
        test_fails(ctx, read_all(ctx, z, count), MCR_BAD_DATA, "no end record");
    memcpy(cut, z, CENTRAL + 10);
    memcpy(cut + CENTRAL + 10, z + END, 22);
    put(cut + CENTRAL + 10 + 12, 10, 4);
    test_fails(ctx, read_all(ctx, cut, sizeof cut), MCR_BAD_DATA, "has a gap");
}

/* Two entries for the same bytes. */
static void test_shared_bytes(void **state)
{
    mcr *ctx = *state;
    unsigned char z[BYTES], two[BYTES + 47];
    make(z);
    memcpy(two, z, END);
    memcpy(two + END, z + CENTRAL, 47);
    memcpy(two + END + 47, z + END, 22);
    put(two + END + 47 + 8, 2, 2);
    put(two + END + 47 + 10, 2, 2);
    put(two + END + 47 + 12, 94, 4);
    test_fails(ctx, read_all(ctx, two, sizeof two), MCR_BAD_DATA, "shares bytes");
}

static int open_context(void **state)
{
    *state = test_open(1);
    return 0;
}

static int close_context(void **state)
{
    test_close(*state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_fields, open_context, close_context),
        cmocka_unit_test_setup_teardown(test_cut, open_context, close_context),
        cmocka_unit_test_setup_teardown(test_shared_bytes, open_context, close_context),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
