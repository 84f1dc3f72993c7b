/* test_base_random.c: random numbers against published vectors and against what they should be.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "helpers.h"

#include <math.h>
#include <string.h>

#include "base/philox.h"
#include "base/random.h"

/* The known answers that come with Random123 (kat_vectors, philox4x32, 10 rounds). */
static void matches_published_vectors(void **state)
{
    (void)state;
    static const struct {
        uint32_t counter[4], key[2], out[4];
    } known[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        uint32_t out[4];
        mcr_philox(out, known[i].counter, known[i].key);
        assert_memory_equal(out, known[i].out, sizeof out);
    }
}

/* The i-th draw is a function of key and i alone. */
static void draws_by_counter(void **state)
{
    (void)state;
    mcr_random r = mcr_random_stream(1, "shuffle", 0);
    uint64_t draws[20];
    for (int i = 0; i < 20; i++)
        draws[i] = mcr_random_bits(&r);
    for (uint32_t i = 0; i < 10; i++) {
        const uint32_t counter[4] = {i, 0, 0, 0};
        const uint32_t key[2] = {(uint32_t)r.key, (uint32_t)(r.key >> 32)};
        uint32_t out[4];
        mcr_philox(out, counter, key);
        assert_true(draws[2 * i] == ((uint64_t)out[1] << 32 | out[0]));
        assert_true(draws[2 * i + 1] == ((uint64_t)out[3] << 32 | out[2]));
    }
}

/* These numbers are in users' results: they may never change. */
static void streams_stay_the_same(void **state)
{
    (void)state;
    mcr_random r = mcr_random_stream(1, "folds", 0);
    const uint64_t first = mcr_random_bits(&r), second = mcr_random_bits(&r);
    assert_true(first == 0x68061b42adc1aa29u && second == 0x14eb53650d06f8c5u);
}

static void streams_differ(void **state)
{
    (void)state;
    static const char *const names[] = {"", "a", "b", "ab", "ba", "folds", "shuffle"};
    uint64_t keys[7 * 20 * 20];
    int count = 0;
    for (int n = 0; n < 7; n++)
        for (uint64_t seed = 0; seed < 20; seed++)
            for (uint64_t number = 0; number < 20; number++)
                keys[count++] = mcr_random_stream(seed, names[n], number).key;
    for (int i = 0; i < count; i++)
        for (int j = 0; j < i; j++)
            assert_true(keys[i] != keys[j]);
    mcr_random a = mcr_random_stream(5, "x", 3), b = mcr_random_stream(5, "x", 3);
    assert_true(mcr_random_bits(&a) == mcr_random_bits(&b));
}

static void uniforms_are_uniform(void **state)
{
    (void)state;
    enum { DRAWS = 400000, CELLS = 64 };
    mcr_random r = mcr_random_stream(2, "uniform", 0);
    double count[CELLS] = {0}, sum = 0, last = 0.5, product = 0;
    for (int i = 0; i < DRAWS; i++) {
        double u = mcr_random_uniform(&r);
        assert_true(u >= 0 && u < 1);
        count[(int)(u * CELLS)]++;
        sum += u;
        product += (u - 0.5) * (last - 0.5);
        last = u;
    }
    double chi2 = 0, expected = (double)DRAWS / CELLS;
    for (int i = 0; i < CELLS; i++)
        chi2 += (count[i] - expected) * (count[i] - expected) / expected;
    assert_true(chi2 > 30 && chi2 < 110); /* 63 degrees of freedom: beyond 1e-4 on both sides */
    test_close_real("mean", sum / DRAWS, 0.5, 4.5 * sqrt(1.0 / 12 / DRAWS));
    test_close_real("correlation", product / DRAWS * 12, 0, 4.5 / sqrt(DRAWS));
}

/* A normal is the quantile of its uniform: putting it back into the distribution function gives the
 * uniform again. */
static void normals_are_quantiles(void **state)
{
    (void)state;
    enum { DRAWS = 200000 };
    mcr_random r = mcr_random_stream(3, "normal", 0), same = r;
    double sum = 0, squares = 0, fourths = 0, largest = 0;
    for (int i = 0; i < DRAWS; i++) {
        double z = mcr_random_normal(&r);
        uint64_t cell = mcr_random_bits(&same) >> 11;
        double below = ((double)cell + 0.5) * 0x1p-53;
        double above = ((double)(((uint64_t)1 << 53) - 1 - cell) + 0.5) * 0x1p-53;
        double tail = below < 0.5 ? below : above;
        double back = 0.5 * erfc(fabs(z) * sqrt(0.5));
        assert_true((z < 0) == (below < 0.5));
        assert_true(fabs(back / tail - 1) < 2e-14);
        sum += z;
        squares += z * z;
        fourths += z * z * z * z;
        largest = fmax(largest, fabs(z));
    }
    test_close_real("mean", sum / DRAWS, 0, 4.5 / sqrt(DRAWS));
    test_close_real("variance", squares / DRAWS, 1, 4.5 * sqrt(2.0 / DRAWS));
    test_close_real("fourth moment", fourths / DRAWS, 3, 4.5 * sqrt(96.0 / DRAWS));
    assert_true(largest > 4 && largest < 7);
}

static void integers_are_unbiased(void **state)
{
    (void)state;
    enum { DRAWS = 300000 };
    static const int64_t limits[] = {1, 2, 3, 7, 10, 1000};
    mcr_random r = mcr_random_stream(4, "below", 0);
    for (size_t k = 0; k < sizeof limits / sizeof limits[0]; k++) {
        double count[1000] = {0}, chi2 = 0, expected = (double)DRAWS / (double)limits[k];
        for (int i = 0; i < DRAWS; i++) {
            int64_t v = mcr_random_below(&r, limits[k]);
            assert_true(v >= 0 && v < limits[k]);
            count[v]++;
        }
        for (int64_t i = 0; i < limits[k]; i++)
            chi2 += (count[i] - expected) * (count[i] - expected) / expected;
        double freedom = (double)limits[k] - 1;
        assert_true(chi2 <= freedom + 5 * sqrt(2 * freedom) + 8);
    }
    /* 2^64 draws fall on 3 * 2^61 values: without rejection every third comes 2 times in 8. */
    int64_t limit = (int64_t)3 << 61, third = 0;
    for (int i = 0; i < DRAWS; i++)
        third += mcr_random_below(&r, limit) % 3 == 2;
    test_close_real("share of a third", (double)third / DRAWS, 1.0 / 3,
                    4.5 * sqrt(2.0 / 9 / DRAWS));
    assert_true(mcr_random_below(&r, INT64_MAX) >= 0);
}

static void shuffles(void **state)
{
    (void)state;
    enum { ROUNDS = 60000 };
    mcr_random r = mcr_random_stream(5, "shuffle", 0);
    int count[24] = {0}; /* the orders of 4 items */
    for (int i = 0; i < ROUNDS; i++) {
        int64_t items[4] = {0, 1, 2, 3};
        mcr_random_shuffle(&r, items, 4);
        int seen = 0, order = 0;
        for (int a = 0; a < 4; a++) {
            int smaller = 0;
            seen |= 1 << items[a];
            for (int b = a + 1; b < 4; b++)
                smaller += items[b] < items[a];
            order = order * (4 - a) + smaller;
        }
        assert_int_equal(seen, 15);
        count[order]++;
    }
    double chi2 = 0, expected = ROUNDS / 24.0;
    for (int i = 0; i < 24; i++)
        chi2 += (count[i] - expected) * (count[i] - expected) / expected;
    assert_true(chi2 < 60);
    int64_t one = 5;
    mcr_random_shuffle(&r, &one, 1);
    mcr_random_shuffle(&r, NULL, 0);
    assert_int_equal(one, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matches_published_vectors), cmocka_unit_test(draws_by_counter),
        cmocka_unit_test(streams_stay_the_same),     cmocka_unit_test(streams_differ),
        cmocka_unit_test(uniforms_are_uniform),      cmocka_unit_test(normals_are_quantiles),
        cmocka_unit_test(integers_are_unbiased),     cmocka_unit_test(shuffles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
