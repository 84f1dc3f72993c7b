/* combine.c: the values of sums and products, which differ only in one operation.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kernel/built_in.h"
#include "kernel/kernel.h"

enum { PIECE = 256 };

static void join_rows(const mcr_tile *tile, const mcr_tile *part, bool product)
{
    const mcr_vmath *math = mcr_tile_math(tile);
    for (int64_t i = 0; i < tile->x.count; i++)
        (product ? math->multiply : math->add)(mcr_tile_row(tile, i), mcr_tile_row(part, i),
                                               tile->z.count);
}

/* The first child that is not a constant fills the tile, the others are computed in scratch memory
 * and combined with it; constants come last, all at once. */
mcr_status mcr_chain_block(const mcr_bound *bound, const mcr_tile *tile)
{
    bool product = bound->kernel->type == &mcr_kernel_product;
    const mcr_vmath *math = mcr_tile_math(tile);
    mcr_tile part = {.k = NULL};
    double number = product ? 1 : 0, value;
    bool filled = false;
    mcr_status status = MCR_OK;
    size_t mark = mcr_scratch_mark(tile->scratch);
    for (int c = 0; c < bound->children && status == MCR_OK; c++) {
        if (mcr_kernel_is_constant(bound->child[c]->kernel, &value)) {
            number = product ? number * value : number + value;
        } else if (!filled) {
            status = mcr_bound_child_block(bound, c, tile);
            filled = true;
        } else {
            if (part.k == NULL)
                status = mcr_tile_like(&part, tile, tile->precise);
            if (status == MCR_OK)
                status = mcr_bound_child_block(bound, c, &part);
            if (status == MCR_OK)
                join_rows(tile, &part, product);
        }
    }
    mcr_scratch_release(tile->scratch, mark);
    bool idle = filled && number == (product ? 1 : 0);
    for (int64_t i = 0; i < tile->x.count && status == MCR_OK && !idle; i++) {
        if (!filled)
            math->fill(mcr_tile_row(tile, i), number, tile->z.count);
        else
            math->affine(mcr_tile_row(tile, i), product ? number : 1, product ? 0 : number,
                         tile->z.count);
    }
    return status;
}

/* In the order of mcr_chain_block: if the constants overflow, both are not finite. */
mcr_status mcr_chain_diagonal(const mcr_bound *bound, int side, mcr_rows rows, double *k)
{
    bool product = bound->kernel->type == &mcr_kernel_product;
    double part[PIECE], number = product ? 1 : 0, value;
    mcr_status status = MCR_OK;
    for (int64_t i = 0; i < rows.count; i++)
        k[i] = number;
    for (int c = 0; c < bound->children; c++) {
        if (mcr_kernel_is_constant(bound->child[c]->kernel, &value)) {
            number = product ? number * value : number + value;
            continue;
        }
        for (int64_t i = 0; i < rows.count && status == MCR_OK; i += PIECE) {
            mcr_rows some = mcr_rows_part(rows, i, PIECE);
            status = mcr_bound_child_diagonal(bound, c, side, some, part);
            for (int64_t t = 0; t < some.count && status == MCR_OK; t++)
                k[i + t] = product ? k[i + t] * part[t] : k[i + t] + part[t];
        }
    }
    for (int64_t i = 0; i < rows.count && status == MCR_OK; i++)
        k[i] = product ? k[i] * number : k[i] + number;
    return status;
}
