/* precomputed.c: values from a given kernel matrix.
 *
 * An object of a precomputed field has a row of values against the reference objects, and its own
 * number if it is one of them. K(x,z) is in the row of x at the number of z, or else in the row of
 * z at the number of x.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kernel/kernel.h"

typedef struct precomputed_state {
    bool by_x;     /* every object of z has a number in the rows of x; else vice versa */
    bool straight; /* by x, and the numbers of z's objects are consecutive */
} precomputed_state;

static mcr_definite definite(const void *params, const mcr_definite *child, int children,
                             const char **rule)
{
    (void)params;
    (void)child;
    (void)children;
    *rule = "values as given: only the data can decide";
    return MCR_DEFINITE_UNKNOWN;
}

static int64_t number_of(const mcr_field *field, int64_t i)
{
    return field->store->id[mcr_field_at(field, i)];
}

/* The first object of `of` whose number is not in the rows of `in`; -1: none. */
static int64_t first_missing(const mcr_field *of, const mcr_field *in)
{
    for (int64_t i = 0; i < of->count; i++) {
        int64_t number = number_of(of, i);
        if (number < 0 || number >= in->store->cols)
            return i;
    }
    return -1;
}

static bool numbers_follow(const mcr_field *f)
{
    for (int64_t i = 1; i < f->count; i++)
        if (number_of(f, i) != number_of(f, i - 1) + 1)
            return false;
    return true;
}

static mcr_status bind(mcr_bound *bound, mcr_binding *binding)
{
    (void)binding;
    const mcr_field *x = &bound->field[0], *z = &bound->field[1];
    precomputed_state *state = mcr_bound_alloc(bound, 1, sizeof *state);
    if (state == NULL)
        return MCR_NO_MEMORY;
    bound->state = state;
    int64_t missing = first_missing(z, x);
    state->by_x = missing < 0;
    state->straight = state->by_x && numbers_follow(z);
    if (missing < 0 || first_missing(x, z) < 0)
        return MCR_OK;
    return mcr_fail(bound->ctx, MCR_BAD_DATA,
                    "precomputed: object %lld has no number among the %lld reference objects, so "
                    "its values are not in the matrix",
                    (long long)missing + 1, (long long)x->store->cols);
}

/* Copies a range of columns that have the same order in the rows. */
static void copy_block(const mcr_field *fx, const mcr_field *fz, const mcr_tile *tile)
{
    int64_t first = number_of(fz, mcr_rows_at(tile->z, 0));
    for (int64_t i = 0; i < tile->x.count; i++) {
        mcr_vector from = mcr_field_vector(fx, mcr_rows_at(tile->x, i));
        double *precise = mcr_tile_row(tile, i);
        float *single = mcr_tile_row(tile, i);
        for (int64_t j = 0; tile->precise && j < tile->z.count; j++)
            precise[j] = mcr_vector_value(&from, first + j);
        for (int64_t j = 0; !tile->precise && j < tile->z.count; j++)
            single[j] = (float)mcr_vector_value(&from, first + j);
    }
}

static mcr_status block(const mcr_bound *bound, const mcr_tile *tile)
{
    const precomputed_state *state = bound->state;
    const mcr_field *fx = &bound->field[0], *fz = &bound->field[1];
    if (state->straight && !tile->z.index && tile->z.count > 0) {
        copy_block(fx, fz, tile);
        return MCR_OK;
    }
    for (int64_t i = 0; i < tile->x.count; i++) {
        int64_t x = mcr_rows_at(tile->x, i);
        mcr_vector of_x = mcr_field_vector(fx, x);
        for (int64_t j = 0; j < tile->z.count; j++) {
            int64_t z = mcr_rows_at(tile->z, j);
            mcr_vector of_z = mcr_field_vector(fz, z);
            double k = state->by_x ? mcr_vector_value(&of_x, number_of(fz, z))
                                   : mcr_vector_value(&of_z, number_of(fx, x));
            mcr_tile_put(tile, i, j, k);
        }
    }
    return MCR_OK;
}

static mcr_status diagonal(const mcr_bound *bound, int side, mcr_rows rows, double *k)
{
    const mcr_field *field = &bound->field[side];
    const mcr_store *store = field->store;
    for (int64_t i = 0; i < rows.count; i++) {
        int64_t x = mcr_rows_at(rows, i), number = number_of(field, x);
        if (number < 0 || number >= store->cols)
            return mcr_fail(bound->ctx, MCR_BAD_DATA,
                            "precomputed: object %lld is not one of the reference objects, so its "
                            "value with itself is not in the matrix",
                            (long long)x + 1);
        mcr_vector of = mcr_field_vector(field, x);
        k[i] = mcr_vector_value(&of, number);
    }
    return MCR_OK;
}

const mcr_kernel_type mcr_kernel_precomputed = {
    .name = "precomputed",
    .summary = "values read from a file: square for training, objects x training for prediction",
    .kinds = MCR_PRECOMPUTED,
    .indefinite = 1,
    .definite = definite,
    .bind = bind,
    .block = block,
    .diagonal = diagonal,
};
