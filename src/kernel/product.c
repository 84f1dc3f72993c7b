/* product.c: K1 * K2 * ...; the features are all products of the factors' features.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kernel/explicit.h"
#include "kernel/gradient.h"
#include "kernel/kernel.h"
#include "kernel/scales.h"

/* Schur: the elementwise product of positive semi-definite matrices is positive semi-definite;
 * every factor of -1 flips the sign. */
static mcr_definite definite(const void *params, const mcr_definite *child, int children,
                             const char **rule)
{
    (void)params;
    int psd = 0, nsd = 0;
    for (int i = 0; i < children; i++) {
        psd += child[i] == MCR_PSD;
        nsd += child[i] == MCR_NSD;
    }
    if (psd + nsd < children) {
        *rule = "product with a part that is not known to be a kernel";
        return MCR_DEFINITE_UNKNOWN;
    }
    *rule = nsd == 0       ? "product of kernels (Schur)"
            : nsd % 2 == 0 ? "product of kernels with an even number of negative parts (Schur)"
                           : "product of kernels with a negative part (Schur)";
    return nsd % 2 == 0 ? MCR_PSD : MCR_NSD;
}

static mcr_status features(const mcr_bound *bound, mcr_features *out)
{
    mcr_features **part = mcr_alloc_zero(bound->ctx, (size_t)bound->children,
                                         sizeof(mcr_features *));
    mcr_status s = part ? MCR_OK : MCR_NO_MEMORY;
    for (int i = 0; i < bound->children && !s; i++)
        s = mcr_features_of(&part[i], bound->child[i]);
    if (!s)
        s = mcr_features_expect_product(part, bound->children);
    if (!s)
        mcr_features_move(out, part[0]);
    for (int i = 0; i < bound->children && part; i++) {
        if (i > 0 && !s)
            s = mcr_features_times(out, bound, part[i]);
        mcr_features_close(part[i]);
    }
    mcr_free(bound->ctx, part);
    return s;
}

/* d times all children except one, in `to`. */
static mcr_status others(const mcr_bound *bound, int but, const mcr_tile *tile, const double *d,
                         int64_t ld, const mcr_tile *to)
{
    mcr_status s = MCR_OK;
    for (int64_t i = 0; i < tile->x.count; i++)
        for (int64_t j = 0; j < tile->z.count; j++)
            ((double *)to->k)[i * to->ld + j] = d[i * ld + j];
    for (int c = 0; c < bound->children && !s; c++) {
        mcr_tile part;
        size_t mark = mcr_scratch_mark(tile->scratch);
        if (c == but)
            continue;
        s = mcr_gradient_values(&part, bound->child[c], tile);
        for (int64_t i = 0; i < tile->x.count && !s; i++) {
            double *sum = mcr_tile_row(to, i);
            const double *k = mcr_tile_row(&part, i);
            for (int64_t j = 0; j < tile->z.count; j++)
                sum[j] *= k[j];
        }
        mcr_scratch_release(tile->scratch, mark);
    }
    return s;
}

static mcr_status gradient(const mcr_bound *bound, const mcr_tile *tile, const double *d,
                           int64_t ld, double *slope)
{
    mcr_tile part;
    mcr_status s = mcr_tile_like(&part, tile, true);
    for (int c = 0; c < bound->children && !s; c++) {
        if (mcr_kernel_scales(bound->child[c]->kernel, NULL) == 0)
            continue;
        s = others(bound, c, tile, d, ld, &part);
        if (!s)
            s = mcr_bound_child_gradient(bound, c, tile, part.k, part.ld, slope);
    }
    return s;
}

const mcr_kernel_type mcr_kernel_product = {
    .name = "product",
    .summary = "K1 * K2 * ...: every feature of one times every feature of the other",
    .min_children = 2,
    .max_children = MCR_KERNEL_NODES_MAX,
    .definite = definite,
    .block = mcr_chain_block,
    .diagonal = mcr_chain_diagonal,
    .features = features,
    .gradient = gradient,
};
