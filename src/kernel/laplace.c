/* laplace.c: exp(-gamma |x-z|_1), with the sum of the absolute differences. With one gamma
 * per feature it is exp(-sum_k gamma_k |x_k-z_k|).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kernel/gradient.h"
#include "kernel/vectors.h"

#include <math.h>

typedef struct laplace_params {
    mcr_reals gamma;
} laplace_params;

static const mcr_param params[] = {
    MCR_SCALE_PARAM(laplace_params, gamma, MCR_REALS, "1",
                    "how fast it falls with the distance; one number, or a list: one per feature"),
    {.name = NULL},
};

static double as_it_is(double gamma)
{
    return gamma;
}

static mcr_status bind(mcr_bound *bound, mcr_binding *binding)
{
    const laplace_params *p = mcr_bound_params(bound);
    mcr_fused f = {.op = MCR_TILE_EXP_L1};
    f.gamma = p->gamma.count == 1 ? p->gamma.values[0] : 1;
    mcr_status s = mcr_vectors_join_scaled(&f.v, bound, binding, MCR_NEEDS_L1, "gamma", &p->gamma,
                                           as_it_is, 0);
    return s ? s : mcr_vectors_offer(bound, &f);
}

MCR_ALWAYS_PSD(definite, "a product of exp(-gamma |x_k-z_k|), each a mixture of cosines (Bochner)")

static mcr_status gradient(const mcr_bound *bound, const mcr_tile *tile, const double *d,
                           int64_t ld, double *slope)
{
    const laplace_params *p = mcr_bound_params(bound);
    return mcr_gradient_exponents(bound, tile, d, ld, &p->gamma, MCR_PART_ABSOLUTE, slope);
}

const mcr_kernel_type mcr_kernel_laplace = {
    .name = "laplace",
    .summary = "exp(-gamma |x-z|_1), with the sum of absolute differences",
    .kinds = MCR_DENSE | MCR_SPARSE,
    .params = params,
    .params_size = sizeof(laplace_params),
    .definite = definite,
    .bind = bind,
    .gradient = gradient,
};
