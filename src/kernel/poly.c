/* poly.c: (scale x.z + c)^degree
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kernel/poly.h"

#include <math.h>

#include "kernel/gradient.h"
#include "kernel/vectors.h"

static const mcr_param params[] = {
    MCR_RANGE_PARAM(mcr_poly_params, degree, MCR_INT, "3", 1, 1000, "the power, a whole number"),
    {.name = "c",
     .type = MCR_REAL,
     .offset = offsetof(mcr_poly_params, c),
     .standard = "0",
     .min = 0,
     .max = INFINITY,
     .flags = MCR_MAX_OPEN,
     .help = "added to the inner product; if it is above 0, lower powers are included"},
    MCR_SCALE_PARAM(mcr_poly_params, scale, MCR_REAL, "1", "the inner product is multiplied by it"),
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

/* degree (scale x.z + c)^(degree-1) times c, if that is above 0, and times scale x.z. */
static mcr_status gradient(const mcr_bound *bound, const mcr_tile *tile, const double *d,
                           int64_t ld, double *slope)
{
    const mcr_poly_params *p = mcr_bound_params(bound);
    mcr_tile w;
    mcr_status s = mcr_gradient_products(&w, bound, tile);
    for (int64_t i = 0; i < tile->x.count && !s; i++) {
        const double *dot = mcr_tile_row(&w, i);
        double of_c = 0, of_scale = 0;
        for (int64_t j = 0; j < tile->z.count; j++) {
            double base = p->scale * dot[j] + p->c;
            double k = d[i * ld + j] * (double)p->degree * pow(base, (double)(p->degree - 1));
            of_c += k * p->c;
            of_scale += k * p->scale * dot[j];
        }
        if (p->c > 0)
            slope[0] += of_c;
        slope[p->c > 0] += of_scale;
    }
    return s;
}

const mcr_kernel_type mcr_kernel_poly = {
    .name = "poly",
    .summary = "(scale x.z + c)^degree, polynomials of the features",
    .kinds = MCR_DENSE | MCR_SPARSE,
    .params = params,
    .params_size = sizeof(mcr_poly_params),
    .definite = definite,
    .bind = bind,
    .features = mcr_monomials_features,
    .gradient = gradient,
};
