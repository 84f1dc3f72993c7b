/* sigmoid.c: tanh(a x.z + b). Not positive semi-definite, but in common use.
 *
 * For a other than 0 there are always vectors with a Gram matrix that is not positive semidefinite:
 * with a > 0, x and 2x for a long enough x have tanh(s+b) tanh(4s+b) < tanh(2s+b)^2, s = a|x|^2;
 * with a < 0 a long enough x has K(x,x) < 0. On vectors of bounded length it may be positive
 * semi-definite.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kernel/vectors.h"

#include <math.h>

typedef struct sigmoid_params {
    double a, b;
} sigmoid_params;

static const mcr_param params[] = {
    MCR_FINITE_PARAM(sigmoid_params, a, MCR_REAL, "1", "the inner product is multiplied by it"),
    MCR_FINITE_PARAM(sigmoid_params, b, MCR_REAL, "0", "added to that"),
    {.name = NULL},
};

static void map(const mcr_fused *f, const mcr_vmath *math, void *k, int64_t count, double xx,
                const double *zz)
{
    (void)xx;
    (void)zz;
    math->affine(k, f->a, f->b, count);
    math->tanh(k, count);
}

static mcr_status bind(mcr_bound *bound, mcr_binding *binding)
{
    const sigmoid_params *p = mcr_bound_params(bound);
    mcr_fused f = {.op = MCR_TILE_DOT, .map = map, .a = p->a, .b = p->b};
    mcr_status s = mcr_vectors_join(&f.v, bound, binding, MCR_NEEDS_DOT, NULL, 0);
    return s ? s : mcr_vectors_offer(bound, &f);
}

static mcr_definite definite(const void *values, const mcr_definite *child, int children,
                             const char **rule)
{
    (void)child;
    (void)children;
    const sigmoid_params *p = values;
    if (p->a == 0 && p->b >= 0) {
        *rule = "with a = 0 a constant that is not negative";
        return MCR_PSD;
    }
    if (p->a == 0) {
        *rule = "with a = 0 a negative constant";
        return MCR_NSD;
    }
    *rule = p->a > 0 ? "tanh of an inner product fails for long vectors x and 2x"
                     : "K(x,x) is negative for a long vector x";
    return MCR_INDEFINITE;
}

const mcr_kernel_type mcr_kernel_sigmoid = {
    .name = "sigmoid",
    .summary = "tanh(a x.z + b), as in neural networks; not positive semidefinite in general",
    .kinds = MCR_DENSE | MCR_SPARSE,
    .params = params,
    .params_size = sizeof(sigmoid_params),
    .indefinite = 1,
    .definite = definite,
    .bind = bind,
};
