/* vector_helpers.h: made vectors and bound kernels for the tests of kernels on vectors.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TEST_VECTOR_HELPERS_H
#define TEST_VECTOR_HELPERS_H

#include "helpers.h"

#include <stdlib.h>
#include <string.h>

#include <mercer/mercer.h>

#include "base/random.h"
#include "kernel/kernel.h"
#include "kernel/vectors.h"

/* n vectors as plain numbers, to compute with in the obvious way. */
typedef struct plain {
    int64_t n, d;
    double *x;
} plain;

/* Each value is nonzero with probability `density`; then at + spread * (a number in (0, 1)), with
 * either sign if `either`. */
static inline plain plain_random(int64_t n, int64_t d, double density, double at, double spread,
                                 bool either, uint64_t seed)
{
    plain p = {n, d, calloc((size_t)(n * d), sizeof(double))};
    mcr_random r = mcr_random_stream(seed, "plain", 0);
    for (int64_t i = 0; i < n * d; i++) {
        double sign = either && mcr_random_uniform(&r) < 0.5 ? -1 : 1;
        double value = sign * (at + spread * mcr_random_uniform(&r));
        if (mcr_random_uniform(&r) < density)
            p.x[i] = value;
    }
    return p;
}

static inline mcr_data *data_dense(mcr *ctx, const plain *p)
{
    mcr_builder *b;
    mcr_data *data;
    test_ok(ctx, mcr_builder_open(&b, ctx, p->n));
    test_ok(ctx, mcr_builder_dense(b, "x", p->x, p->d, p->d));
    test_ok(ctx, mcr_builder_finish(&data, b));
    return data;
}

static inline mcr_data *data_sparse(mcr *ctx, const plain *p)
{
    int64_t *start = calloc((size_t)p->n + 1, sizeof *start);
    int32_t *index = calloc((size_t)(p->n * p->d) + 1, sizeof *index);
    double *value = calloc((size_t)(p->n * p->d) + 1, sizeof *value);
    int64_t e = 0;
    for (int64_t i = 0; i < p->n; i++) {
        for (int64_t k = 0; k < p->d; k++)
            if (p->x[i * p->d + k] != 0) {
                index[e] = (int32_t)k;
                value[e++] = p->x[i * p->d + k];
            }
        start[i + 1] = e;
    }
    mcr_builder *b;
    mcr_data *data;
    test_ok(ctx, mcr_builder_open(&b, ctx, p->n));
    test_ok(ctx, mcr_builder_sparse(b, "x", p->d, start, index, value));
    test_ok(ctx, mcr_builder_finish(&data, b));
    free(start);
    free(index);
    free(value);
    return data;
}

static inline mcr_data *data_as(mcr *ctx, const plain *p, bool sparse)
{
    return sparse ? data_sparse(ctx, p) : data_dense(ctx, p);
}

/* A kernel bound to data. */
typedef struct bound_kernel {
    mcr *ctx;
    mcr_kernel *kernel;
    mcr_binding *binding;
    mcr_scratch *scratch;
} bound_kernel;

static inline bound_kernel bind_kernel(mcr *ctx, const char *text, const mcr_data *x,
                                       const mcr_data *z)
{
    bound_kernel b = {.ctx = ctx};
    test_ok(ctx, mcr_kernel_parse(&b.kernel, ctx, text));
    test_ok(ctx, mcr_binding_open(&b.binding, ctx, b.kernel, x, z));
    test_ok(ctx, mcr_binding_prepare(b.binding, true));
    test_ok(ctx, mcr_binding_prepare(b.binding, false));
    test_ok(ctx, mcr_scratch_open(&b.scratch, b.binding));
    return b;
}

static inline void unbind_kernel(bound_kernel *b)
{
    mcr_scratch_close(b->scratch);
    mcr_binding_close(b->binding);
    mcr_kernel_free(b->kernel);
}

/* A block in double or float (given back as double), with rows `pad` elements longer than
 * needed. */
static inline void block(const bound_kernel *b, mcr_rows x, mcr_rows z, bool precise, double *k)
{
    int64_t ld = z.count + 3;
    size_t real = precise ? sizeof(double) : sizeof(float);
    void *buffer = aligned_alloc(64, ((size_t)(x.count * ld) * real + 63) / 64 * 64);
    memset(buffer, 0x5a, (size_t)(x.count * ld) * real);
    mcr_tile tile = {x, z, precise, buffer, ld, b->scratch};
    test_ok(b->ctx, mcr_binding_block(b->binding, &tile));
    for (int64_t i = 0; i < x.count; i++) {
        for (int64_t j = 0; j < z.count; j++)
            k[i * z.count + j] = precise ? ((double *)buffer)[i * ld + j]
                                         : (double)((float *)buffer)[i * ld + j];
        /* Nothing is written behind a row. */
        const unsigned char *behind = (unsigned char *)buffer + (size_t)(i * ld + z.count) * real;
        for (size_t c = 0; c < 3 * real; c++)
            assert_int_equal(behind[c], 0x5a);
    }
    free(buffer);
}

static inline mcr_rows range(int64_t first, int64_t count)
{
    return (mcr_rows){NULL, first, count};
}

static inline mcr_rows listed(const int64_t *index, int64_t count)
{
    return (mcr_rows){index, 0, count};
}

#endif
