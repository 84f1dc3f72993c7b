/* poly.c: (scale x.z + c)^degree
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kernel/explicit.h"
#include "kernel/poly.h"

#include <math.h>

#include "kernel/vectors.h"

static const mcr_param params[] = {
    {.name = "degree",
     .type = MCR_INT,
     .offset = offsetof(mcr_poly_params, degree),
     .standard = "3",
     .min = 1,
     .max = 1000,
     .help = "the power, a whole number"},
    {.name = "c",
     .type = MCR_REAL,
     .offset = offsetof(mcr_poly_params, c),
     .standard = "0",
     .min = 0,
     .max = INFINITY,
     .flags = MCR_MAX_OPEN,
     .help = "added to the inner product; above 0 the lower powers count as well"},
    {.name = "scale",
     .type = MCR_REAL,
     .offset = offsetof(mcr_poly_params, scale),
     .standard = "1",
     .min = 0,
     .max = INFINITY,
     .flags = MCR_MIN_OPEN | MCR_MAX_OPEN,
     .help = "the inner product is multiplied by it"},
    {.name = NULL},
};

static mcr_status bind(mcr_bound *bound, mcr_binding *binding)
{
    const mcr_poly_params *p = mcr_bound_params(bound);
    mcr_fused f = {
        .op = MCR_TILE_POLY,
        .scale = p->scale,
        .offset = p->c,
        .degree = (int32_t)p->degree,
    };
    mcr_status s = mcr_vectors_join(&f.v, bound, binding, MCR_NEEDS_DOT, NULL, 0);
    return s ? s : mcr_vectors_offer(bound, &f);
}

MCR_ALWAYS_PSD(definite, "a power of an inner product plus a constant that is not negative")

const mcr_kernel_type mcr_kernel_poly = {
    .size = sizeof(mcr_kernel_type),
    .name = "poly",
    .summary = "(scale x.z + c)^degree, polynomials of the features",
    .kinds = MCR_DENSE | MCR_SPARSE,
    .params = params,
    .params_size = sizeof(mcr_poly_params),
    .definite = definite,
    .bind = bind,
    .block = mcr_vectors_block,
    .diagonal = mcr_vectors_diagonal,
    .features = mcr_monomials_features,
};
