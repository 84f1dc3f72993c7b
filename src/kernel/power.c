/* power.c: K^degree, a product of equal kernels.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kernel/explicit.h"
#include "kernel/gradient.h"
#include "kernel/kernel.h"

#include <float.h>
#include <math.h>

typedef struct power_params {
    int64_t degree;
} power_params;

static const mcr_param params[] = {
    MCR_RANGE_PARAM(power_params, degree, MCR_INT, "2", 1, 1000000,
                    "the power; K^3 means the same as power(K, degree=3)"),
    {.name = NULL},
};

int64_t mcr_kernel_degree(const mcr_kernel *power)
{
    return ((const power_params *)power->params)->degree;
}

static mcr_definite definite(const void *values, const mcr_definite *child, int children,
                             const char **rule)
{
    (void)children;
    bool even = ((const power_params *)values)->degree % 2 == 0;
    if (child[0] == MCR_PSD) {
        *rule = "power of a kernel (Schur)";
        return MCR_PSD;
    }
    if (child[0] == MCR_NSD) {
        *rule = even ? "even power of a negative part (Schur)"
                     : "odd power of a negative part (Schur)";
        return even ? MCR_PSD : MCR_NSD;
    }
    *rule = "power of something that is not known to be a kernel";
    return MCR_DEFINITE_UNKNOWN;
}

static mcr_status block(const mcr_bound *bound, const mcr_tile *tile)
{
    int32_t degree = (int32_t)mcr_kernel_degree(bound->kernel);
    mcr_status status = mcr_bound_child_block(bound, 0, tile);
    if (status != MCR_OK)
        return status;
    const mcr_vmath *math = mcr_tile_math(tile);
    double most = pow(tile->precise ? DBL_MAX : (double)FLT_MAX, 1.0 / degree);
    int64_t x, z;
    if (mcr_tile_outside(tile, -most, most, &x, &z))
        return mcr_fail(bound->ctx, MCR_NUMERIC,
                        "power: the value for objects %lld and %lld is too large for %s numbers; "
                        "scale the data or the kernel, such as (0.01*K)^%d",
                        (long long)x + 1, (long long)z + 1, tile->precise ? "double" : "float",
                        degree);
    for (int64_t i = 0; i < tile->x.count; i++)
        math->power(mcr_tile_row(tile, i), degree, tile->z.count);
    return MCR_OK;
}

static mcr_status diagonal(const mcr_bound *bound, int side, mcr_rows rows, double *k)
{
    mcr_status status = mcr_bound_child_diagonal(bound, 0, side, rows, k);
    for (int64_t i = 0; i < rows.count && status == MCR_OK; i++) {
        k[i] = pow(k[i], (double)mcr_kernel_degree(bound->kernel));
        if (!isfinite(k[i]))
            status = mcr_fail(bound->ctx, MCR_NUMERIC,
                              "power: the value for object %lld is too large; scale the data or "
                              "the kernel, such as (0.01*K)^%lld",
                              (long long)mcr_rows_at(rows, i) + 1,
                              (long long)mcr_kernel_degree(bound->kernel));
    }
    return status;
}

static mcr_status features(const mcr_bound *bound, mcr_features *out)
{
    mcr_features *base;
    mcr_status s = mcr_features_of(&base, bound->child[0]);
    if (!s)
        s = mcr_features_expect_power(base, mcr_kernel_degree(bound->kernel));
    if (!s)
        s = mcr_features_append(out, base);
    for (int64_t d = 1; d < mcr_kernel_degree(bound->kernel) && !s; d++)
        s = mcr_features_times(out, bound, base);
    mcr_features_close(base);
    return s;
}

static mcr_status gradient(const mcr_bound *bound, const mcr_tile *tile, const double *d,
                           int64_t ld, double *slope)
{
    double degree = (double)mcr_kernel_degree(bound->kernel);
    mcr_tile part;
    mcr_status s = mcr_gradient_values(&part, bound->child[0], tile);
    for (int64_t i = 0; i < tile->x.count && !s; i++) {
        double *k = mcr_tile_row(&part, i);
        for (int64_t j = 0; j < tile->z.count; j++)
            k[j] = d[i * ld + j] * degree * pow(k[j], degree - 1);
    }
    return s ? s : mcr_bound_child_gradient(bound, 0, tile, part.k, part.ld, slope);
}

const mcr_kernel_type mcr_kernel_power = {
    .name = "power",
    .summary = "K^degree: a product of equal kernels",
    .min_children = 1,
    .max_children = 1,
    .params = params,
    .params_size = sizeof(power_params),
    .definite = definite,
    .block = block,
    .diagonal = diagonal,
    .features = features,
    .gradient = gradient,
};
