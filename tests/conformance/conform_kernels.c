/* conform_kernels.c: every registered kernel keeps the rules of rules.h, on all the data it
 * accepts. And the rules can tell: kernels that break one of them are found.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "rules.h"

#include <math.h>
#include <string.h>

static void keeps_rules(const zoo_trial *trial)
{
    char why[RULES_WHY];
    mcr *ctx = zoo_open(trial, 2);
    if (!rules_hold(ctx, trial, why))
        fail_msg("%s", why);
    test_close(ctx);
}

/* ---- kernels of a user, good and bad ----------------------------------------------------------*/

enum { COLS_MOST = 70 }; /* of dense breeds */

static double dot(const mcr_bound *b, int64_t i, int64_t j)
{
    double x[COLS_MOST], z[COLS_MOST], sum = 0;
    mcr_bound_vector(b, 0, i, x);
    mcr_bound_vector(b, 1, j, z);
    for (int64_t c = 0; c < mcr_bound_cols(b); c++)
        sum += x[c] * z[c];
    return sum;
}

static double first(const mcr_bound *b, int side, int64_t i)
{
    double x[COLS_MOST];
    mcr_bound_vector(b, side, i, x);
    return x[0];
}

static double crooked(const mcr_bound *b, int64_t i, int64_t j)
{
    return dot(b, i, j) * (1 + 1e-6 * (first(b, 0, i) > first(b, 1, j)));
}

/* Symmetric, and with eigenvalues below 0. */
static double difference(const mcr_bound *b, int64_t i, int64_t j)
{
    return dot(b, i, j) - 2 * first(b, 0, i) * first(b, 1, j);
}

/* Knows an object by its number: unseen ones have other numbers. */
static double numbered(const mcr_bound *b, int64_t i, int64_t j)
{
    return (double)(i % 7 + 1) * (double)(j % 7 + 1) * (mcr_bound_count(b, 0) > 0);
}

static mcr_status twice(const mcr_bound *b, int side, mcr_rows rows, double *k)
{
    for (int64_t i = 0; i < rows.count; i++) {
        double x[COLS_MOST];
        mcr_bound_vector(b, side, rows.index ? rows.index[i] : rows.first + i, x);
        k[i] = 0;
        for (int64_t c = 0; c < mcr_bound_cols(b); c++)
            k[i] += 2 * x[c] * x[c];
    }
    return MCR_OK;
}

/* Right in double; in float the first column of a tile is off. */
static mcr_status careless(const mcr_bound *b, const mcr_tile *tile)
{
    for (int64_t i = 0; i < tile->x.count; i++)
        for (int64_t j = 0; j < tile->z.count; j++) {
            int64_t x = tile->x.index ? tile->x.index[i] : tile->x.first + i;
            int64_t z = tile->z.index ? tile->z.index[j] : tile->z.first + j;
            double k = dot(b, x, z);
            if (tile->precise)
                ((double *)tile->k)[i * tile->ld + j] = k;
            else
                ((float *)tile->k)[i * tile->ld + j] = (float)(j == 0 ? k * 1.001 : k);
        }
    return MCR_OK;
}

/* Takes an index list for a range. */
static mcr_status hasty(const mcr_bound *b, const mcr_tile *tile)
{
    mcr_tile range = *tile;
    int64_t m = mcr_bound_count(b, 0), n = mcr_bound_count(b, 1);
    range.x = (mcr_rows){NULL, tile->x.index ? 0 : tile->x.first, tile->x.count};
    range.z = (mcr_rows){NULL, tile->z.index ? 0 : tile->z.first, tile->z.count};
    assert_true(range.x.first + range.x.count <= m && range.z.first + range.z.count <= n);
    return careless(b, &range);
}

typedef struct liar {
    mcr_kernel_type type;
    const char *words; /* that the rules must find; NULL: it is as it should be */
} liar;

#define TYPE(...)                                                                                  \
    {                                                                                              \
        .size = sizeof(mcr_kernel_type), .summary = "a user's", .kinds = MCR_DENSE, __VA_ARGS__    \
    }

static const liar liars[] = {
    {TYPE(.name = "honest", .pair = dot), NULL},
    {TYPE(.name = "difference", .pair = difference, .indefinite = 1), NULL},
    {TYPE(.name = "crooked", .pair = crooked), "single values"},
    {TYPE(.name = "indefinite", .pair = difference), "not positive semidefinite"},
    {TYPE(.name = "numbered", .pair = numbered), "other objects"},
    {TYPE(.name = "twice", .pair = dot, .diagonal = twice), "diagonal"},
    {TYPE(.name = "careless", .block = careless), "float"},
    {TYPE(.name = "hasty", .block = hasty), "lists"},
};

typedef struct found {
    int64_t broken, kept;
    char why[RULES_WHY];
} found;

static void look(const zoo_trial *trial)
{
    found *f = trial->user;
    char why[RULES_WHY];
    mcr *ctx = zoo_open(trial, 2);
    if (rules_hold(ctx, trial, why)) {
        f->kept++;
    } else {
        f->broken++;
        memcpy(f->why, why, sizeof why);
    }
    test_close(ctx);
}

static void test_liars(void **state)
{
    (void)state;
    for (size_t l = 0; l < sizeof liars / sizeof *liars; l++) {
        found f = {0};
        zoo_try(0, &liars[l].type, look, &f);
        if (liars[l].words == NULL && f.broken > 0)
            fail_msg("a good kernel is refused: %s", f.why);
        if (liars[l].words != NULL && (f.broken == 0 || strstr(f.why, liars[l].words) == NULL))
            fail_msg("%s passes %lld times; found: %s", liars[l].type.name, (long long)f.kept,
                     f.why);
    }
}

int main(void)
{
    const struct CMUnitTest more[] = {cmocka_unit_test(test_liars)};
    return zoo_run("kernels", keeps_rules, more, 1);
}
