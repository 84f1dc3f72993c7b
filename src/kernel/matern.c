/* matern.c: the Matern kernels of nu = 1/2, 3/2 and 5/2, which have closed forms. With
 * r = sqrt(2 nu) |x-z| / length:
 *
 *   nu = 1/2  exp(-r)      nu = 3/2  (1 + r) exp(-r)      nu = 5/2  (1 + r + r^2/3) exp(-r)
 *
 * With one length per feature, each difference is divided by its own length.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kernel/gradient.h"
#include "kernel/vectors.h"

#include <math.h>

typedef struct matern_params {
    double nu;
    mcr_reals length;
} matern_params;

static const mcr_param params[] = {
    MCR_RANGE_PARAM(matern_params, nu, MCR_REAL, "1.5", 0.5, 2.5, "smoothness: 0.5, 1.5 or 2.5"),
    MCR_SCALE_PARAM(
        matern_params, length, MCR_REALS, "1",
        "the distance over which values change; one number, or a list: one per feature"),
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

/* The largest slope of the kernel with respect to the squared distance, for length 1. It is
 * unbounded for nu = 1/2, where the relative error counts. */
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

/* With r as above: -r K'(r) for one length; for length_k that times the fraction of feature k in
 * r^2. */
static double slope_at(double r, int32_t order)
{
    double e = exp(-r);
    return order == 0 ? r * e : order == 1 ? r * r * e : r * r * (1 + r) * e / 3;
}

/* The same divided by r^2 nu 2, the squared distance without the lengths; 0 at r = 0. */
static double share_at(double r, int32_t order)
{
    double e = exp(-r);
    return order == 0 ? (r > 0 ? e / r : 0) : order == 1 ? 3 * e : 5 * (1 + r) * e / 3;
}

static mcr_status gradient(const mcr_bound *bound, const mcr_tile *tile, const double *d,
                           int64_t ld, double *slope)
{
    const matern_params *p = mcr_bound_params(bound);
    bool one = p->length.count == 1;
    double a = bound->fused->a;
    int32_t order = bound->fused->order;
    mcr_tile w;
    mcr_status s = mcr_gradient_distances(&w, bound, tile);
    for (int64_t i = 0; i < tile->x.count && !s; i++) {
        double *q = mcr_tile_row(&w, i), total = 0;
        for (int64_t j = 0; j < tile->z.count; j++) {
            double r = a * sqrt(fmax(q[j], 0));
            q[j] = d[i * ld + j] * (one ? slope_at(r, order) : share_at(r, order));
            total += q[j];
        }
        if (one)
            slope[0] += total;
    }
    return s || one ? s : mcr_gradient_lengths(bound, tile, &w, &p->length, slope);
}

const mcr_kernel_type mcr_kernel_matern = {
    .name = "matern",
    .summary = "the Matern kernels of nu = 1/2, 3/2, 5/2: rougher than rbf",
    .kinds = MCR_DENSE | MCR_SPARSE,
    .params = params,
    .params_size = sizeof(matern_params),
    .check = check,
    .definite = definite,
    .bind = bind,
    .gradient = gradient,
};
