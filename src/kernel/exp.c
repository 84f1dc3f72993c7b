/* exp.c: exp(K), the limit of sums of powers of K with weights 1/n!.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kernel/gradient.h"
#include "kernel/kernel.h"

#include <math.h>

/* The largest arguments with a finite exponential, rounded down. */
static const double DOUBLE_MOST = 709.78, FLOAT_MOST = 88.72;

MCR_PSD_AS_CHILD(definite, "exponential of a kernel",
                 "exponential of something that is not known to be a kernel")

static mcr_status block(const mcr_bound *bound, const mcr_tile *tile)
{
    mcr_status status = mcr_bound_child_block(bound, 0, tile);
    if (status != MCR_OK)
        return status;
    int64_t x, z;
    if (mcr_tile_outside(tile, -INFINITY, tile->precise ? DOUBLE_MOST : FLOAT_MOST, &x, &z))
        return mcr_fail(bound->ctx, MCR_NUMERIC,
                        "exp: the value for objects %lld and %lld is too large for %s numbers; "
                        "scale the data or the kernel, such as exp(0.01*K)",
                        (long long)x + 1, (long long)z + 1, tile->precise ? "double" : "float");
    const mcr_vmath *math = mcr_tile_math(tile);
    for (int64_t i = 0; i < tile->x.count; i++)
        math->exp(mcr_tile_row(tile, i), tile->z.count);
    return MCR_OK;
}

static mcr_status diagonal(const mcr_bound *bound, int side, mcr_rows rows, double *k)
{
    mcr_status status = mcr_bound_child_diagonal(bound, 0, side, rows, k);
    for (int64_t i = 0; i < rows.count && status == MCR_OK; i++) {
        k[i] = exp(k[i]);
        if (!isfinite(k[i]))
            status = mcr_fail(bound->ctx, MCR_NUMERIC,
                              "exp: the value for object %lld is too large; scale the data or the "
                              "kernel, such as exp(0.01*K)",
                              (long long)mcr_rows_at(rows, i) + 1);
    }
    return status;
}

static mcr_status gradient(const mcr_bound *bound, const mcr_tile *tile, const double *d,
                           int64_t ld, double *slope)
{
    mcr_tile part;
    mcr_status s = mcr_gradient_values(&part, bound->child[0], tile);
    for (int64_t i = 0; i < tile->x.count && !s; i++) {
        double *k = mcr_tile_row(&part, i);
        for (int64_t j = 0; j < tile->z.count; j++)
            k[j] = d[i * ld + j] * exp(k[j]);
    }
    return s ? s : mcr_bound_child_gradient(bound, 0, tile, part.k, part.ld, slope);
}

const mcr_kernel_type mcr_kernel_exp = {
    .name = "exp",
    .summary = "exp(K): a weighted sum of all powers of K",
    .min_children = 1,
    .max_children = 1,
    .definite = definite,
    .block = block,
    .diagonal = diagonal,
    .gradient = gradient,
};
