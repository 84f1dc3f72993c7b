/* linear.c: x.z
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kernel/explicit.h"
#include "kernel/vectors.h"

static mcr_status bind(mcr_bound *bound, mcr_binding *binding)
{
    mcr_fused f = {.op = MCR_TILE_DOT};
    mcr_status s = mcr_vectors_join(&f.v, bound, binding, MCR_NEEDS_DOT, NULL, 0);
    return s ? s : mcr_vectors_offer(bound, &f);
}

MCR_ALWAYS_PSD(definite, "an inner product")

const mcr_kernel_type mcr_kernel_linear = {
    .name = "linear",
    .summary = "x.z, the inner product",
    .kinds = MCR_DENSE | MCR_SPARSE,
    .definite = definite,
    .bind = bind,
    .features = mcr_features_vectors,
};
