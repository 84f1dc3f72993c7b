/* constant.c: a number as a kernel: K(x,z) = c. Works on any data.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kernel/built_in.h"
#include "kernel/explicit.h"
#include "kernel/kernel.h"

#include <math.h>

typedef struct constant_params {
    double c;
} constant_params;

static const mcr_param params[] = {
    MCR_FINITE_PARAM(constant_params, c, MCR_REAL, "1",
                     "the value; a number alone means the same; below 0 it is not a kernel"),
    {.name = NULL},
};

bool mcr_kernel_is_constant(const mcr_kernel *kernel, double *value)
{
    if (kernel->type != &mcr_kernel_constant)
        return false;
    *value = ((const constant_params *)kernel->params)->c;
    return true;
}

static mcr_status check(mcr *ctx, void *values)
{
    (void)ctx;
    constant_params *p = values;
    p->c += 0.0; /* -0 becomes 0 */
    return MCR_OK;
}

static mcr_definite definite(const void *values, const mcr_definite *child, int children,
                             const char **rule)
{
    (void)child;
    (void)children;
    const constant_params *p = values;
    *rule = p->c >= 0 ? "a constant that is not negative" : "a negative constant";
    return p->c >= 0 ? MCR_PSD : MCR_NSD;
}

static mcr_status block(const mcr_bound *bound, const mcr_tile *tile)
{
    const constant_params *p = mcr_bound_params(bound);
    const mcr_vmath *math = mcr_tile_math(tile);
    for (int64_t i = 0; i < tile->x.count; i++)
        math->fill(mcr_tile_row(tile, i), p->c, tile->z.count);
    return MCR_OK;
}

static mcr_status diagonal(const mcr_bound *bound, int side, mcr_rows rows, double *k)
{
    (void)side;
    const constant_params *p = mcr_bound_params(bound);
    for (int64_t i = 0; i < rows.count; i++)
        k[i] = p->c;
    return MCR_OK;
}

static mcr_status features(const mcr_bound *bound, mcr_features *out)
{
    const constant_params *p = mcr_bound_params(bound);
    if (p->c < 0)
        return mcr_fail(bound->ctx, MCR_BAD_CALL,
                        "the number %g has no feature map: it is below 0, so it is not a kernel",
                        p->c);
    mcr_status s = mcr_features_resize(out, 1);
    if (!s && out->names)
        s = mcr_names_end(out->names); /* the constant has an empty name: a factor of 1 */
    for (int side = 0; side < mcr_features_sides(bound) && !s; side++)
        for (int64_t i = 0; i < mcr_bound_count(bound, side) && !s; i++) {
            s = mcr_features_put(out, side, 0, sqrt(p->c));
            mcr_features_next(out, side);
        }
    return s;
}

static mcr_status gradient(const mcr_bound *bound, const mcr_tile *tile, const double *d,
                           int64_t ld, double *slope)
{
    const constant_params *p = mcr_bound_params(bound);
    for (int64_t i = 0; i < tile->x.count; i++)
        for (int64_t j = 0; j < tile->z.count; j++)
            slope[0] += d[i * ld + j] * p->c;
    return MCR_OK;
}

const mcr_kernel_type mcr_kernel_constant = {
    .name = "constant",
    .summary = "the same value c for all objects; a plain number means the same",
    .params = params,
    .params_size = sizeof(constant_params),
    .check = check,
    .definite = definite,
    .block = block,
    .diagonal = diagonal,
    .features = features,
    .gradient = gradient,
};
