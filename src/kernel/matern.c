/* matern.c: the Matern kernels of nu = 1/2, 3/2 and 5/2, which have closed forms. With
 * r = sqrt(2 nu) |x-z| / length:
 *
 *   nu = 1/2  exp(-r)      nu = 3/2  (1 + r) exp(-r)      nu = 5/2  (1 + r + r^2/3) exp(-r)
 *
 * With one length a feature, each difference is divided by its own length.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kernel/vectors.h"

#include <math.h>

typedef struct matern_params {
    double nu;
    mcr_reals length;
} matern_params;

static const mcr_param params[] = {
    {.name = "nu",
     .type = MCR_REAL,
     .offset = offsetof(matern_params, nu),
     .standard = "1.5",
     .min = 0.5,
     .max = 2.5,
     .help = "smoothness: 0.5, 1.5 or 2.5"},
    {.name = "length",
     .type = MCR_REALS,
     .offset = offsetof(matern_params, length),
     .standard = "1",
     .min = 0,
     .max = INFINITY,
     .flags = MCR_MIN_OPEN | MCR_MAX_OPEN,
     .help = "the distance over which values change; one number, or a list: one a feature"},
    {.name = NULL},
};

static mcr_status check(mcr *ctx, void *values)
{
    const matern_params *p = values;
    if (p->nu != 0.5 && p->nu != 1.5 && p->nu != 2.5)
        return mcr_fail(ctx, MCR_BAD_CALL, "matern: nu must be 0.5, 1.5 or 2.5");
    return MCR_OK;
}

static void map(const mcr_fused *f, const mcr_vmath *math, void *k, int64_t count, double xx,
                const double *zz)
{
    (void)xx;
    (void)zz;
    math->matern(k, f->a, f->order, count);
}

static double inverse(double length)
{
    return 1 / length;
}

/* The largest slope of the kernel against the squared distance, for length 1. That of nu = 1/2 has
 * no bound; there the relative error counts. */
static double slope(double nu)
{
    return nu == 0.5 ? INFINITY : nu == 1.5 ? 1.5 : 5.0 / 6;
}

static mcr_status bind(mcr_bound *bound, mcr_binding *binding)
{
    const matern_params *p = mcr_bound_params(bound);
    double length = p->length.count == 1 ? p->length.values[0] : 1;
    mcr_fused f = {
        .op = MCR_TILE_SQDIST,
        .map = map,
        .a = sqrt(2 * p->nu) / length,
        .order = (int32_t)p->nu,
    };
    mcr_status s = mcr_vectors_join_scaled(&f.v, bound, binding, MCR_NEEDS_DISTANCE, "length",
                                           &p->length, inverse, slope(p->nu) / length / length);
    return s ? s : mcr_vectors_offer(bound, &f);
}

MCR_ALWAYS_PSD(definite, "a mixture of cosines with a density of Student's form (Bochner)")

const mcr_kernel_type mcr_kernel_matern = {
    .size = sizeof(mcr_kernel_type),
    .name = "matern",
    .summary = "the Matern kernels of nu = 1/2, 3/2, 5/2: rougher than rbf",
    .kinds = MCR_DENSE | MCR_SPARSE,
    .params = params,
    .params_size = sizeof(matern_params),
    .check = check,
    .definite = definite,
    .bind = bind,
    .block = mcr_vectors_block,
    .diagonal = mcr_vectors_diagonal,
};
