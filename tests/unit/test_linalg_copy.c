/* Tiles copied, transposed and mirrored, into matrices that begin anywhere.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "helpers.h"

#include <stdlib.h>
#include <string.h>

#include "linalg/copy.h"

enum { MOST = 300, EDGE = 7 };

static double value_at(const void *a, int64_t at, size_t real)
{
    return real == sizeof(float) ? (double)((const float *)a)[at] : ((const double *)a)[at];
}

static void set_value(void *a, int64_t at, size_t real, double value)
{
    if (real == sizeof(float))
        ((float *)a)[at] = (float)value;
    else
        ((double *)a)[at] = value;
}

/* A rows x cols tile, copied plainly or transposed to `shift` elements behind the start of a
 * matrix; what lies around it must stay. */
static void try_copy(int64_t rows, int64_t cols, int64_t shift, bool across, size_t real)
{
    int64_t from_ld = cols + 3, to_rows = across ? cols : rows, to_cols = across ? rows : cols;
    int64_t to_ld = to_cols + EDGE, size = shift + to_rows * to_ld + EDGE;
    void *from = calloc((size_t)(rows * from_ld), real), *to = calloc((size_t)size, real);
    assert_non_null(from);
    assert_non_null(to);
    for (int64_t i = 0; i < rows * from_ld; i++)
        set_value(from, i, real, (double)(i + 1));
    char *at = (char *)to + (size_t)shift * real;
    if (across)
        mcr_copy_out_transposed(at, to_ld, from, from_ld, rows, cols, real);
    else
        mcr_copy_out(at, to_ld, from, from_ld, rows, cols, real);
    for (int64_t t = 0; t < size; t++) {
        int64_t i = (t - shift) / to_ld, j = (t - shift) % to_ld;
        double wanted = 0;
        if (t >= shift && i < to_rows && j < to_cols)
            wanted = (double)((across ? j * from_ld + i : i * from_ld + j) + 1);
        assert_true(value_at(to, t, real) == wanted);
    }
    free(from);
    free(to);
}

static void test_copies(void **unused)
{
    (void)unused;
    static const int64_t size[] = {1, 7, 8, 15, 16, 17, 192, MOST};
    enum { SIZES = sizeof size / sizeof *size };
    for (int r = 0; r < SIZES; r++)
        for (int c = 0; c < SIZES; c++)
            for (int64_t shift = 0; shift < 9; shift += 2 + shift % 2)
                for (size_t real = sizeof(float); real <= sizeof(double); real *= 2) {
                    try_copy(size[r], size[c], shift, false, real);
                    try_copy(size[r], size[c], shift, true, real);
                }
}

static void test_mirror(void **unused)
{
    (void)unused;
    for (int64_t n = 1; n < 70; n += 3)
        for (size_t real = sizeof(float); real <= sizeof(double); real *= 2) {
            int64_t ld = n + 5;
            void *a = calloc((size_t)(n * ld), real);
            assert_non_null(a);
            for (int64_t t = 0; t < n * ld; t++)
                set_value(a, t, real, (double)(t + 1));
            mcr_mirror(a, n, ld, real);
            for (int64_t i = 0; i < n; i++)
                for (int64_t j = 0; j < ld; j++) {
                    int64_t of = j < i ? j * ld + i : i * ld + j; /* columns from n on stay */
                    assert_true(value_at(a, i * ld + j, real) == (double)(of + 1));
                }
            free(a);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_mirror),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
