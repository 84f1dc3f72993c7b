/* bind.c: an expression bound to data: the bound tree, its tiles, its diagonal, its sums.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kernel/kernel.h"

#include <assert.h>
#include <math.h>

#include "kernel/explicit.h"
#include "kernel/scratch.h"
#include "kernel/select.h"
#include "kernel/vectors.h"
#include "linalg/tiles.h"

enum { VECTORS = MCR_DENSE | MCR_SPARSE };

/* ---- binding ----------------------------------------------------------------------------------*/

/* Missing columns of sparse vectors are zeros; dense vectors have all their columns. In prediction,
 * x are the model's objects and z the new ones. */
static mcr_status check_columns(const mcr_bound *bound)
{
    const mcr_store *x = bound->field[0].store, *z = bound->field[1].store;
    bool fit = x->cols == z->cols || (x->kind == MCR_SPARSE && z->kind == MCR_SPARSE) ||
               (x->kind == MCR_SPARSE && x->cols < z->cols) ||
               (z->kind == MCR_SPARSE && z->cols < x->cols);
    if (fit)
        return MCR_OK;
    return mcr_fail(bound->ctx, MCR_BAD_DATA, "the data have %lld feature%s, the model has %lld",
                    (long long)z->cols, z->cols == 1 ? "" : "s", (long long)x->cols);
}

/* Finds the leaf's field on both sides. A side without ambiguity decides for the other one. */
static mcr_status choose_fields(mcr_bound *bound)
{
    const mcr_kernel *k = bound->kernel;
    const char *owner = k->type->name;
    int kinds = k->type->kinds;
    mcr_field *field = bound->field;
    mcr_status status = mcr_field_choose(&field[0], bound->ctx, owner, kinds, k->field, NULL,
                                         bound->data[0]);
    if (bound->same) {
        field[1] = field[0];
        return status;
    }
    if (status == MCR_OK)
        return mcr_field_choose(&field[1], bound->ctx, owner, kinds, k->field, field[0].store->name,
                                bound->data[1]);
    if (k->field != NULL)
        return status;
    const char *wanted = NULL;
    if (mcr_field_choose(&field[1], bound->ctx, owner, kinds, NULL, NULL, bound->data[1]) == MCR_OK)
        wanted = field[1].store->name;
    return mcr_field_choose(&field[0], bound->ctx, owner, kinds, NULL, wanted, bound->data[0]);
}

static mcr_status bind_leaf(mcr_bound *bound)
{
    bool selects = mcr_selects(bound->kernel, bound->data[0]);
    mcr_status status = selects ? mcr_selection_bind(bound) : choose_fields(bound);
    if (status != MCR_OK || mcr_takes_columns(bound->kernel->type))
        return status;
    for (int side = 0; side < 2; side++)
        if (bound->field[side].store->kind == MCR_DENSE && bound->field[side].store->holes)
            return mcr_fail(bound->ctx, MCR_BAD_DATA,
                            "%s: values of the field \"%.100s\" may be missing: fill them first",
                            bound->kernel->type->name, bound->field[side].store->name);
    bool vectors = (bound->field[0].store->kind & VECTORS) != 0;
    bool as_well = (bound->field[1].store->kind & VECTORS) != 0;
    if (vectors != as_well ||
        (!vectors && bound->field[0].store->kind != bound->field[1].store->kind))
        return mcr_fail(bound->ctx, MCR_BAD_DATA,
                        "%s: the field \"%.100s\" is not of the same kind in both data sets",
                        bound->kernel->type->name, bound->field[0].store->name);
    return vectors ? check_columns(bound) : MCR_OK;
}

/* Fills the node at *out, which the tree owns immediately, so that closing frees it. */
static mcr_status bind_node(mcr_bound **out, mcr_binding *binding, const mcr_kernel *kernel,
                            const mcr_data *x, const mcr_data *z)
{
    mcr_bound *bound = *out = mcr_alloc_zero(binding->ctx, 1, sizeof *bound);
    if (bound == NULL)
        return MCR_NO_MEMORY;
    bound->ctx = binding->ctx;
    bound->kernel = kernel;
    bound->data[0] = x;
    bound->data[1] = z;
    bound->same = x == z;
    bound->binding = binding;
    bound->child = mcr_alloc_zero(binding->ctx, (size_t)kernel->children, sizeof *bound->child);
    if (bound->child == NULL)
        return MCR_NO_MEMORY;
    mcr_status status = kernel->type->kinds != 0 ? bind_leaf(bound) : MCR_OK;
    for (int i = 0; i < kernel->children && status == MCR_OK; i++) {
        bound->children = i + 1;
        status = bind_node(&bound->child[i], binding, kernel->child[i], x, z);
    }
    if (status == MCR_OK && kernel->type->bind != NULL)
        status = kernel->type->bind(bound, binding);
    return status;
}

static void unbind_node(mcr_bound *bound)
{
    if (bound == NULL)
        return;
    if (bound->state != NULL && bound->kernel->type->unbind != NULL)
        bound->kernel->type->unbind(bound);
    for (int i = 0; i < bound->children; i++)
        unbind_node(bound->child[i]);
    mcr_names_close(bound->names);
    mcr_selection_close(bound->selection);
    mcr_free_all(bound->ctx, bound->child, bound);
}

static mcr_status open_binding(mcr_binding **out, mcr *ctx, const mcr_kernel *kernel,
                               const mcr_data *x, const mcr_data *z, bool listing, bool named)
{
    *out = NULL;
    mcr_status fits = mcr_data_need_memory(x, "the kernel");
    if (fits == MCR_OK && z != NULL)
        fits = mcr_data_need_memory(z, "the kernel");
    if (fits != MCR_OK)
        return fits;
    mcr_binding *binding = mcr_alloc_zero(ctx, 1, sizeof *binding);
    if (binding == NULL)
        return MCR_NO_MEMORY;
    binding->ctx = ctx;
    binding->listing = listing;
    binding->named = named;
    mcr_status status = bind_node(&binding->root, binding, kernel, x, z != NULL ? z : x);
    if (status != MCR_OK)
        mcr_binding_close(binding);
    else
        *out = binding;
    return status;
}

mcr_status mcr_binding_open(mcr_binding **out, mcr *ctx, const mcr_kernel *kernel,
                            const mcr_data *x, const mcr_data *z)
{
    return open_binding(out, ctx, kernel, x, z, false, false);
}

mcr_status mcr_binding_open_listing(mcr_binding **out, mcr *ctx, const mcr_kernel *kernel,
                                    const mcr_data *x, const mcr_data *z, bool named)
{
    return open_binding(out, ctx, kernel, x, z, true, named);
}

void mcr_binding_close(mcr_binding *binding)
{
    if (binding == NULL)
        return;
    mcr *ctx = binding->ctx;
    mcr_vectors_free(binding->vectors);
    unbind_node(binding->root);
    mcr_free_each(ctx, binding->block, binding->blocks);
    mcr_budget_give(ctx, binding->budget);
    mcr_free(ctx, binding);
}

mcr_status mcr_binding_prepare(mcr_binding *binding, bool precise)
{
    mcr_status status = mcr_vectors_prepare(binding->vectors, precise, false);
    if (status == MCR_OK && binding->mixed && !precise)
        status = mcr_vectors_prepare(binding->vectors, true, false);
    return status;
}

mcr_status mcr_binding_prepare_lists(mcr_binding *binding)
{
    return mcr_vectors_prepare(binding->vectors, true, true);
}

/* ---- tiles ------------------------------------------------------------------------------------*/

static mcr_status block_by_pairs(const mcr_bound *bound, const mcr_tile *tile)
{
    const mcr_kernel_type *type = bound->kernel->type;
    for (int64_t i = 0; i < tile->x.count; i++) {
        int64_t x = mcr_rows_at(tile->x, i);
        for (int64_t j = 0; j < tile->z.count; j++) {
            int64_t z = mcr_rows_at(tile->z, j);
            double k = type->pair(bound, x, z);
            if (!isfinite(k))
                return mcr_fail(bound->ctx, MCR_NUMERIC,
                                "%s: the value for objects %lld and %lld is not finite", type->name,
                                (long long)x + 1, (long long)z + 1);
            mcr_tile_put(tile, i, j, k);
        }
    }
    return MCR_OK;
}

mcr_status mcr_bound_block(const mcr_bound *bound, const mcr_tile *tile)
{
    assert(tile->x.count <= MCR_TILE_ROWS && tile->z.count <= MCR_TILE_COLS);
    mcr_scratch_expect(tile->scratch, tile);
    const mcr_kernel_type *type = bound->kernel->type;
    return type->block != NULL  ? type->block(bound, tile)
           : type->pair != NULL ? block_by_pairs(bound, tile)
                                : mcr_vectors_block(bound, tile);
}

mcr_status mcr_binding_block(const mcr_binding *binding, const mcr_tile *tile)
{
    mcr_status status = MCR_OK;
    for (int64_t i = 0; i < tile->x.count; i += MCR_TILE_ROWS) {
        int64_t rows = mcr_least(tile->x.count - i, MCR_TILE_ROWS);
        for (int64_t j = 0; j < tile->z.count && status == MCR_OK; j += MCR_TILE_COLS) {
            mcr_tile part = mcr_tile_part(tile, i, rows, j,
                                          mcr_least(tile->z.count - j, MCR_TILE_COLS));
            mcr_scratch_forget(tile->scratch);
            status = mcr_bound_block(binding->root, &part);
        }
    }
    return status;
}

/* ---- the diagonal -----------------------------------------------------------------------------*/

/* For a type without a diagonal: binds the objects to themselves and computes single values. */
static mcr_status diagonal_by_binding(const mcr_bound *bound, int side, mcr_rows rows, double *k)
{
    mcr_data *some = NULL;
    mcr_binding *self = NULL;
    mcr_scratch *scratch = NULL;
    mcr_status status = mcr_data_select(&some, bound->data[side], rows);
    if (status == MCR_OK)
        status = mcr_binding_open(&self, bound->ctx, bound->kernel, some, NULL);
    if (status == MCR_OK)
        status = mcr_binding_prepare(self, true);
    if (status == MCR_OK)
        status = mcr_scratch_open(&scratch, self);
    for (int64_t i = 0; i < rows.count && status == MCR_OK; i++) {
        mcr_rows one = {NULL, i, 1};
        mcr_tile tile = {.x = one, .z = one, .precise = 1, .k = k + i, .ld = 1, .scratch = scratch};
        status = mcr_binding_block(self, &tile);
    }
    mcr_scratch_close(scratch);
    mcr_binding_close(self);
    mcr_data_free(some);
    return status;
}

mcr_status mcr_bound_diagonal(const mcr_bound *bound, int side, mcr_rows rows, double *k)
{
    const mcr_kernel_type *type = bound->kernel->type;
    if (type->diagonal != NULL)
        return type->diagonal(bound, side, rows, k);
    if (type->block == NULL && type->pair == NULL)
        return mcr_vectors_diagonal(bound, side, rows, k);
    if (type->block != NULL || !bound->same)
        return diagonal_by_binding(bound, side, rows, k);
    for (int64_t i = 0; i < rows.count; i++) {
        int64_t x = mcr_rows_at(rows, i);
        k[i] = type->pair(bound, x, x);
        if (!isfinite(k[i]))
            return mcr_fail(bound->ctx, MCR_NUMERIC, "%s: the value for object %lld is not finite",
                            type->name, (long long)x + 1);
    }
    return MCR_OK;
}

/* ---- for kernel types (extend.h) --------------------------------------------------------------*/

mcr *mcr_bound_context(const mcr_bound *bound)
{
    return bound->ctx;
}

void *mcr_bound_user(const mcr_bound *bound)
{
    return bound->kernel->type->user;
}

const void *mcr_bound_params(const mcr_bound *bound)
{
    return bound->kernel->params;
}

void *mcr_bound_state(const mcr_bound *bound)
{
    return bound->state;
}

void mcr_bound_set_state(mcr_bound *bound, void *state)
{
    bound->state = state;
}

int64_t mcr_bound_count(const mcr_bound *bound, int side)
{
    return bound->data[side]->count;
}

int mcr_bound_same(const mcr_bound *bound)
{
    return bound->same;
}

void *mcr_bound_alloc(mcr_bound *bound, size_t count, size_t size)
{
    mcr_binding *b = bound->binding;
    if (mcr_reserve(b->ctx, &b->block, &b->block_capacity, b->blocks + 1, sizeof *b->block) !=
        MCR_OK)
        return NULL;
    void *block = mcr_alloc(b->ctx, count, size);
    if (block != NULL)
        b->block[b->blocks++] = block;
    return block;
}

mcr_status mcr_bound_child_block(const mcr_bound *bound, int child, const mcr_tile *tile)
{
    return mcr_bound_block(bound->child[child], tile);
}

mcr_status mcr_bound_child_diagonal(const mcr_bound *bound, int child, int side, mcr_rows rows,
                                    double *k)
{
    return mcr_bound_diagonal(bound->child[child], side, rows, k);
}
