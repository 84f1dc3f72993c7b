/* sum.c: K1 + K2 + ...; the features are concatenated.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kernel/explicit.h"
#include "kernel/kernel.h"

static mcr_definite definite(const void *params, const mcr_definite *child, int children,
                             const char **rule)
{
    (void)params;
    int psd = 0, nsd = 0;
    for (int i = 0; i < children; i++) {
        psd += child[i] == MCR_PSD;
        nsd += child[i] == MCR_NSD;
    }
    *rule = psd == children         ? "sum of kernels"
            : nsd == children       ? "sum of negative semidefinite parts"
            : psd + nsd == children ? "sum of parts with different signs"
                                    : "sum with a part that is not known to be a kernel";
    return psd == children ? MCR_PSD : nsd == children ? MCR_NSD : MCR_DEFINITE_UNKNOWN;
}

static mcr_status features(const mcr_bound *bound, mcr_features *out)
{
    mcr_status s = MCR_OK;
    for (int i = 0; i < bound->children && !s; i++) {
        mcr_features *part;
        s = mcr_features_of(&part, bound->child[i]);
        if (!s)
            s = mcr_features_append(out, part);
        mcr_features_close(part);
    }
    return s;
}

static mcr_status gradient(const mcr_bound *bound, const mcr_tile *tile, const double *d,
                           int64_t ld, double *slope)
{
    mcr_status s = MCR_OK;
    for (int c = 0; c < bound->children && !s; c++)
        s = mcr_bound_child_gradient(bound, c, tile, d, ld, slope);
    return s;
}

const mcr_kernel_type mcr_kernel_sum = {
    .name = "sum",
    .summary = "K1 + K2 + ...: the feature vectors, concatenated",
    .min_children = 2,
    .max_children = MCR_KERNEL_NODES_MAX,
    .definite = definite,
    .block = mcr_chain_block,
    .diagonal = mcr_chain_diagonal,
    .features = features,
    .gradient = gradient,
};
