/* rq.c: the rational quadratic kernel (1 + |x-z|^2 / (2 alpha length^2))^(-alpha), a mixture of rbf
 * kernels of many widths. With one length per feature, each difference is divided by its own
 * length.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kernel/gradient.h"
#include "kernel/vectors.h"

#include <assert.h>
#include <math.h>

typedef struct rq_params {
    double alpha;
    mcr_reals length;
} rq_params;

static const mcr_param params[] = {
    MCR_SCALE_PARAM(rq_params, alpha, MCR_REAL, "1",
                    "weight of the small scales; a large alpha is close to rbf"),
    MCR_SCALE_PARAM(
        rq_params, length, MCR_REALS, "1",
        "the distance over which values change; one number, or a list: one per feature"),
    {.name = NULL},
};

/* exp(-alpha log(1 + u)), u = a d^2. For large alpha u is small, and the rounding error of w = 1 +
 * u must not be multiplied by alpha: log(1 + u) = log(w) u / (w - 1) up to rounding (Kahan). */
static void map(const mcr_fused *f, const mcr_vmath *math, void *k, int64_t count, double xx,
                const double *zz)
{
    (void)xx;
    (void)zz;
    const mcr_vmath *precise = mcr_tiles_best()->f64->math;
    double u[MCR_TILE_COLS], w[MCR_TILE_COLS];
    assert(count <= MCR_TILE_COLS);
    math->to_double(u, k, count);
    for (int64_t j = 0; j < count; j++) {
        u[j] *= f->a;
        w[j] = 1 + u[j];
    }
    double logarithm[MCR_TILE_COLS];
    for (int64_t j = 0; j < count; j++)
        logarithm[j] = w[j];
    precise->log(logarithm, count);
    for (int64_t j = 0; j < count; j++) {
        double gap = w[j] - 1;
        u[j] = gap > 0 && gap < 1 ? logarithm[j] * (u[j] / gap) : gap > 0 ? logarithm[j] : u[j];
    }
    precise->exp_scaled(u, -f->b, count);
    math->from_double(k, u, count);
}

static double inverse(double length)
{
    return 1 / length;
}

static mcr_status bind(mcr_bound *bound, mcr_binding *binding)
{
    const rq_params *p = mcr_bound_params(bound);
    double length = p->length.count == 1 ? p->length.values[0] : 1;
    mcr_fused f = {
        .op = MCR_TILE_SQDIST,
        .map = map,
        .a = 0.5 / p->alpha / length / length,
        .b = p->alpha,
    };
    mcr_status s = mcr_vectors_join_scaled(&f.v, bound, binding, MCR_NEEDS_DISTANCE, "length",
                                           &p->length, inverse, 0.5 / length / length);
    return s ? s : mcr_vectors_offer(bound, &f);
}

MCR_ALWAYS_PSD(definite, "a mixture of rbf kernels")

/* With q = |x-z|^2 / (2 alpha length^2): alpha (q/(1+q) - log(1+q)) K for alpha, 2 alpha q/(1+q) K
 * for one length, its part of feature k for length_k. */
static mcr_status gradient(const mcr_bound *bound, const mcr_tile *tile, const double *d,
                           int64_t ld, double *slope)
{
    const rq_params *p = mcr_bound_params(bound);
    bool one = p->length.count == 1;
    double alpha = p->alpha;
    mcr_tile w;
    mcr_status s = mcr_gradient_distances(&w, bound, tile);
    for (int64_t i = 0; i < tile->x.count && !s; i++) {
        double *row = mcr_tile_row(&w, i), of_alpha = 0, of_length = 0;
        for (int64_t j = 0; j < tile->z.count; j++) {
            double q = bound->fused->a * fmax(row[j], 0), log_base = log1p(q);
            double k = d[i * ld + j] * exp(-alpha * log_base);
            of_alpha += k * alpha * (q / (1 + q) - log_base);
            of_length += k * 2 * alpha * q / (1 + q);
            row[j] = k / (1 + q);
        }
        slope[0] += of_alpha;
        if (one)
            slope[1] += of_length;
    }
    return s || one ? s : mcr_gradient_lengths(bound, tile, &w, &p->length, slope + 1);
}

const mcr_kernel_type mcr_kernel_rq = {
    .name = "rq",
    .summary = "(1 + |x-z|^2/(2 alpha length^2))^(-alpha), rational quadratic: rbf of many widths",
    .kinds = MCR_DENSE | MCR_SPARSE,
    .params = params,
    .params_size = sizeof(rq_params),
    .definite = definite,
    .bind = bind,
    .gradient = gradient,
};
