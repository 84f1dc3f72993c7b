/* intersection.c: sum_k min(x_k, z_k), the histogram intersection. Values must not be negative.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kernel/vectors.h"

static mcr_status bind(mcr_bound *bound, mcr_binding *binding)
{
    mcr_fused f = {.op = MCR_TILE_MIN};
    mcr_status s = mcr_vectors_join(&f.v, bound, binding, MCR_NEEDS_PAIR, NULL, 0);
    if (!s)
        s = mcr_vectors_refuse_negative(f.v, bound);
    return s ? s : mcr_vectors_offer(bound, &f);
}

MCR_ALWAYS_PSD(
    definite,
    "a sum of min(x_k, z_k), each the inner product of two indicators of [0, x_k], [0, z_k]")

const mcr_kernel_type mcr_kernel_intersection = {
    .name = "intersection",
    .summary = "sum min(x, z), for histograms; values must not be negative",
    .kinds = MCR_DENSE | MCR_SPARSE,
    .definite = definite,
    .bind = bind,
};
