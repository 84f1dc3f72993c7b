/* kernel_types.h: small kernel types that the tests of expressions register, written with the
 * public extend.h alone, so that these tests need no built-in leaf.
 *
 *   dot        x.z on vectors, through pair; no diagonal of its own
 *   blob       exp(-gamma |x-z|^2) on vectors, with parameters of all kinds
 *   letters    how often a letter of x stands in z, summed over letters; on strings
 *   odd        a leaf that is not a kernel: x1 + z1
 *   both       a combinator of exactly two kernels: K1 - K2, no rule known
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TEST_KERNEL_TYPES_H
#define TEST_KERNEL_TYPES_H

#include "helpers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <mercer/extend.h>

#include "base/context.h"
#include "kernel/kernel.h"

enum { TYPE_COLS_MAX = 16 };

static inline double dot_pair(const mcr_bound *b, int64_t i, int64_t j)
{
    double x[TYPE_COLS_MAX], z[TYPE_COLS_MAX], sum = 0;
    mcr_bound_vector(b, 0, i, x);
    mcr_bound_vector(b, 1, j, z);
    for (int64_t c = 0; c < mcr_bound_cols(b); c++)
        sum += x[c] * z[c];
    return sum;
}

static const mcr_kernel_type type_dot = {
    .size = sizeof(mcr_kernel_type),
    .name = "dot",
    .summary = "an inner product",
    .kinds = MCR_DENSE | MCR_SPARSE,
    .pair = dot_pair,
};

typedef struct blob_params {
    double gamma, sigma;
    int64_t depth;
    int loud, mode;
    char *file;
    mcr_reals scale;
} blob_params;

static const mcr_param blob_table[] = {
    {"gamma", MCR_REAL, offsetof(blob_params, gamma), NULL, 0, INFINITY,
     MCR_MIN_OPEN | MCR_MAX_OPEN, NULL, "1 / length^2"},
    {"sigma", MCR_REAL, offsetof(blob_params, sigma), NULL, 0, INFINITY,
     MCR_MIN_OPEN | MCR_MAX_OPEN, NULL, "length"},
    {"depth", MCR_INT, offsetof(blob_params, depth), "3", 1, 9, 0, NULL, "a whole number"},
    {"loud", MCR_FLAG, offsetof(blob_params, loud), "no", 0, 0, 0, NULL, "a flag"},
    {"mode", MCR_CHOICE, offsetof(blob_params, mode), "soft", 0, 0, 0, "soft|hard", "a choice"},
    {"file", MCR_TEXT, offsetof(blob_params, file), NULL, 0, 0, 0, NULL, "a text"},
    {"scale", MCR_REALS, offsetof(blob_params, scale), NULL, 0, INFINITY, 0, NULL, "numbers"},
    {.name = NULL},
};

static inline mcr_status blob_check(mcr *ctx, void *values)
{
    blob_params *p = values;
    if (isnan(p->gamma) == isnan(p->sigma))
        return mcr_message_set(ctx, MCR_BAD_CALL, "blob: give one of gamma and sigma");
    if (isnan(p->gamma))
        p->gamma = 1 / (2 * p->sigma * p->sigma);
    p->sigma = NAN;
    return MCR_OK;
}

static inline double blob_pair(const mcr_bound *b, int64_t i, int64_t j)
{
    const blob_params *p = mcr_bound_params(b);
    double x[TYPE_COLS_MAX], z[TYPE_COLS_MAX], sum = 0;
    mcr_bound_vector(b, 0, i, x);
    mcr_bound_vector(b, 1, j, z);
    for (int64_t c = 0; c < mcr_bound_cols(b); c++)
        sum += (x[c] - z[c]) * (x[c] - z[c]);
    return exp(-p->gamma * sum);
}

static inline mcr_status blob_diagonal(const mcr_bound *b, int side, mcr_rows rows, double *k)
{
    (void)b;
    (void)side;
    for (int64_t i = 0; i < rows.count; i++)
        k[i] = 1;
    return MCR_OK;
}

static const mcr_kernel_type type_blob = {
    .size = sizeof(mcr_kernel_type),
    .name = "blob",
    .summary = "a bump",
    .kinds = MCR_DENSE | MCR_SPARSE,
    .params = blob_table,
    .params_size = sizeof(blob_params),
    .check = blob_check,
    .pair = blob_pair,
    .diagonal = blob_diagonal,
};

static inline double letters_pair(const mcr_bound *b, int64_t i, int64_t j)
{
    const char *s, *t;
    int64_t n, m;
    double sum = 0;
    mcr_bound_string(b, 0, i, &s, &n);
    mcr_bound_string(b, 1, j, &t, &m);
    for (int64_t a = 0; a < n; a++)
        for (int64_t c = 0; c < m; c++)
            sum += s[a] == t[c];
    return sum;
}

static const mcr_kernel_type type_letters = {
    .size = sizeof(mcr_kernel_type),
    .name = "letters",
    .summary = "letters in common",
    .kinds = MCR_STRINGS,
    .pair = letters_pair,
};

static inline double odd_pair(const mcr_bound *b, int64_t i, int64_t j)
{
    double x[TYPE_COLS_MAX], z[TYPE_COLS_MAX];
    mcr_bound_vector(b, 0, i, x);
    mcr_bound_vector(b, 1, j, z);
    return x[0] + z[0];
}

static const mcr_kernel_type type_odd = {
    .size = sizeof(mcr_kernel_type),
    .name = "odd",
    .summary = "not a kernel",
    .kinds = MCR_DENSE | MCR_SPARSE,
    .indefinite = 1,
    .pair = odd_pair,
};

static inline mcr_status twin_block(const mcr_bound *b, const mcr_tile *tile)
{
    size_t real = tile->precise ? sizeof(double) : sizeof(float), mark;
    mcr_tile other = *tile;
    mcr_status status = mcr_bound_child_block(b, 0, tile);
    mark = mcr_scratch_mark(tile->scratch);
    other.ld = tile->z.count;
    other.k = mcr_scratch_take(tile->scratch, (size_t)(tile->x.count * tile->z.count) * real);
    if (status == MCR_OK && other.k == NULL)
        status = MCR_NO_MEMORY;
    if (status == MCR_OK)
        status = mcr_bound_child_block(b, 1, &other);
    for (int64_t i = 0; i < tile->x.count && status == MCR_OK; i++)
        for (int64_t j = 0; j < tile->z.count; j++) {
            if (tile->precise)
                ((double *)tile->k)[i * tile->ld + j] -= ((double *)other.k)[i * other.ld + j];
            else
                ((float *)tile->k)[i * tile->ld + j] -= ((float *)other.k)[i * other.ld + j];
        }
    mcr_scratch_release(tile->scratch, mark);
    return status;
}

static const mcr_kernel_type type_both = {
    .size = sizeof(mcr_kernel_type),
    .name = "both",
    .summary = "the difference of two kernels",
    .min_children = 2,
    .max_children = 2,
    .indefinite = 1,
    .block = twin_block,
};

static inline mcr_status register_types(mcr *ctx)
{
    const mcr_kernel_type *const all[] = {&type_dot, &type_blob, &type_letters, &type_odd,
                                          &type_both};
    mcr_status status = MCR_OK;
    for (size_t i = 0; i < sizeof all / sizeof all[0] && status == MCR_OK; i++)
        status = mcr_kernel_register(ctx, all[i]);
    return status;
}

/* The context keeps the list until it is closed; sweeps of allocations want it gone before. */
static inline void forget_types(mcr *ctx)
{
    mcr_extensions_free(ctx);
}

static inline int types_setup(void **state)
{
    return test_setup(state) != 0 || register_types(*state) != MCR_OK;
}

/* Parses an expression that must be right. */
static inline mcr_kernel *parsed(mcr *ctx, const char *text)
{
    mcr_kernel *k = NULL;
    test_ok(ctx, mcr_kernel_parse(&k, ctx, text));
    return k;
}

/* n objects with the vector field "x". */
static inline mcr_data *points(mcr *ctx, const double *values, int64_t n, int64_t cols)
{
    mcr_builder *b = NULL;
    mcr_data *data = NULL;
    test_ok(ctx, mcr_builder_open(&b, ctx, n));
    test_ok(ctx, mcr_builder_dense(b, "x", values, cols, cols));
    test_ok(ctx, mcr_builder_finish(&data, b));
    return data;
}

/* The whole matrix of a small data set; the status of whatever fails first. */
static inline mcr_status matrix(mcr *ctx, const char *text, const mcr_data *x, const mcr_data *z,
                                void *k, int precise)
{
    mcr_kernel *kernel = parsed(ctx, text);
    mcr_binding *b = NULL;
    mcr_scratch *s = NULL;
    mcr_status status = mcr_binding_open(&b, ctx, kernel, x, z);
    if (status == MCR_OK)
        status = mcr_binding_prepare(b, precise);
    if (status == MCR_OK)
        status = mcr_scratch_open(&s, b);
    if (status == MCR_OK) {
        int64_t rows = mcr_data_count(x), cols = mcr_data_count(z != NULL ? z : x);
        mcr_tile tile = {{NULL, 0, rows}, {NULL, 0, cols}, precise, k, cols, s};
        status = mcr_binding_block(b, &tile);
    }
    mcr_scratch_close(s);
    mcr_binding_close(b);
    mcr_kernel_free(kernel);
    return status;
}

#endif
