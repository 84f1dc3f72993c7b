/* chi2.c: exp(-gamma sum_k (x_k-z_k)^2 / (x_k+z_k)) for histograms: vectors without negative
 * values. A feature that both lack adds nothing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kernel/gradient.h"
#include "kernel/vectors.h"

#include <math.h>

typedef struct chi2_params {
    double gamma;
} chi2_params;

static const mcr_param params[] = {
    MCR_SCALE_PARAM(chi2_params, gamma, MCR_REAL, "1", "how fast it falls with the distance"),
    {.name = NULL},
};

static mcr_status bind(mcr_bound *bound, mcr_binding *binding)
{
    const chi2_params *p = mcr_bound_params(bound);
    mcr_fused f = {.op = MCR_TILE_EXP_CHI2, .gamma = p->gamma};
    mcr_status s = mcr_vectors_join(&f.v, bound, binding, MCR_NEEDS_PAIR, NULL, 0);
    if (!s)
        s = mcr_vectors_refuse_negative(f.v, bound);
    return s ? s : mcr_vectors_offer(bound, &f);
}

MCR_ALWAYS_PSD(definite, "exp of minus a distance that is negative definite on values from 0 up")

const mcr_kernel_type mcr_kernel_chi2 = {
    .name = "chi2",
    .summary = "exp(-gamma sum (x-z)^2/(x+z)), for histograms; values must not be negative",
    .kinds = MCR_DENSE | MCR_SPARSE,
    .params = params,
    .params_size = sizeof(chi2_params),
    .definite = definite,
    .bind = bind,
    .gradient = mcr_gradient_exponential,
};
