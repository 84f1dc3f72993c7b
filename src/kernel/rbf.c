/* rbf.c: exp(-gamma |x-z|^2), the Gaussian kernel.
 *
 * Four parametrisations are in use; all are converted to gamma: sigma: gamma = 1/(2 sigma^2);
 * width: 1/width^2; beta: beta/2. With one gamma per feature it is exp(-sum_k gamma_k (x_k-z_k)^2).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kernel/gradient.h"
#include "kernel/vectors.h"

#include <math.h>

typedef struct rbf_params {
    mcr_reals gamma;
    double sigma, width, beta;
} rbf_params;

static const mcr_param params[] = {
    MCR_SCALE_PARAM(
        rbf_params, gamma, MCR_REALS, NULL,
        "how fast it falls with the squared distance; one number, or a list: one per feature"),
    MCR_SCALE_PARAM(rbf_params, sigma, MCR_REAL, NULL, "instead of gamma: gamma = 1/(2 sigma^2)"),
    MCR_SCALE_PARAM(rbf_params, width, MCR_REAL, NULL, "instead of gamma: gamma = 1/width^2"),
    MCR_SCALE_PARAM(rbf_params, beta, MCR_REAL, NULL, "instead of gamma: gamma = beta/2"),
    {.name = NULL},
};

static mcr_status check(mcr *ctx, void *values)
{
    rbf_params *p = values;
    int given = (p->gamma.count > 0) + !isnan(p->sigma) + !isnan(p->width) + !isnan(p->beta);
    if (given != 1)
        return mcr_fail(ctx, MCR_BAD_CALL,
                        "rbf: give %s of gamma, sigma, width and beta, such as rbf(gamma=0.5)",
                        given ? "only one" : "one");
    if (p->gamma.count > 0)
        return MCR_OK;
    double gamma = !isnan(p->sigma)   ? 0.5 / p->sigma / p->sigma
                   : !isnan(p->width) ? 1 / p->width / p->width
                                      : 0.5 * p->beta;
    if (!(gamma > 0) || !isfinite(gamma))
        return mcr_fail(ctx, MCR_BAD_CALL,
                        "rbf: this width makes gamma zero or infinite in floating point");
    p->gamma.values = mcr_alloc(ctx, 1, sizeof *p->gamma.values);
    if (!p->gamma.values)
        return MCR_NO_MEMORY;
    p->gamma.values[0] = gamma;
    p->gamma.count = 1;
    p->sigma = p->width = p->beta = NAN;
    return MCR_OK;
}

MCR_ALWAYS_PSD(definite, "a Gaussian of the distance, a mixture of cosines (Bochner)")

static mcr_status bind(mcr_bound *bound, mcr_binding *binding)
{
    const rbf_params *p = mcr_bound_params(bound);
    mcr_fused f = {.op = MCR_TILE_RBF};
    f.gamma = p->gamma.count == 1 ? p->gamma.values[0] : 1;
    mcr_status s = mcr_vectors_join_scaled(&f.v, bound, binding, MCR_NEEDS_DISTANCE, "gamma",
                                           &p->gamma, sqrt, f.gamma);
    return s ? s : mcr_vectors_offer(bound, &f);
}

static mcr_status gradient(const mcr_bound *bound, const mcr_tile *tile, const double *d,
                           int64_t ld, double *slope)
{
    const rbf_params *p = mcr_bound_params(bound);
    return mcr_gradient_exponents(bound, tile, d, ld, &p->gamma, MCR_PART_SQUARE, slope);
}

const mcr_kernel_type mcr_kernel_rbf = {
    .name = "rbf",
    .summary = "exp(-gamma |x-z|^2), the Gaussian",
    .kinds = MCR_DENSE | MCR_SPARSE,
    .params = params,
    .params_size = sizeof(rbf_params),
    .check = check,
    .definite = definite,
    .bind = bind,
    .gradient = gradient,
};
