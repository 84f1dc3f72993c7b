/* callback.c: kernels whose values are computed by a user's function of two objects, or of two
 * lists of them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "base/sized.h"
#include "kernel/kernel.h"

/* A callback, stored in the context; the type's `user` points to it. */
typedef struct callback {
    mcr *ctx;
    mcr_callback call;
    char name[64], summary[200];
} callback;

static void release(void *user)
{
    callback *c = user;
    if (c->call.release)
        c->call.release(c->call.user);
    mcr_free(c->ctx, c);
}

/* The number of the field that the leaf reads on a side. */
static int64_t field_number(const mcr_bound *bound, int side)
{
    const mcr_data *data = bound->data[side];
    int64_t f = 0;
    while (f < data->fields && data->store[f] != bound->field[side].store)
        f++;
    return f;
}

static mcr_status by_pairs(const mcr_callback *call, const mcr_objects *x, const mcr_objects *z,
                           double *k)
{
    mcr_status s = MCR_OK;
    for (int64_t i = 0; i < x->count && !s; i++)
        for (int64_t j = 0; j < z->count && !s; j++)
            s = call->pair(call->user, x->data, x->field, x->object[i], z->data, z->field,
                           z->object[j], &k[i * z->count + j]);
    return s;
}

/* K of the objects, row by row without gaps. */
static mcr_status values(const mcr_bound *bound, const mcr_objects *x, const mcr_objects *z,
                         double *k)
{
    const callback *c = bound->kernel->type->user;
    mcr_status s = c->call.block ? c->call.block(c->call.user, x, z, k)
                                 : by_pairs(&c->call, x, z, k);
    if (s == MCR_OK)
        return s;
    return mcr_fail(bound->ctx, s, "%s: the function of this kernel failed",
                    bound->kernel->type->name);
}

static mcr_status list(mcr_objects *out, const mcr_bound *bound, int side, mcr_rows rows,
                       int64_t *object)
{
    if (!object)
        return mcr_fail(bound->ctx, MCR_NO_MEMORY, "out of memory for a tile of %s",
                        bound->kernel->type->name);
    for (int64_t i = 0; i < rows.count; i++)
        object[i] = mcr_rows_at(rows, i);
    *out = (mcr_objects){.size = sizeof *out,
                         .data = bound->data[side],
                         .field = field_number(bound, side),
                         .object = object,
                         .count = rows.count};
    return MCR_OK;
}

static mcr_status block(const mcr_bound *bound, const mcr_tile *tile)
{
    mcr_scratch *scratch = tile->scratch;
    size_t mark = mcr_scratch_mark(scratch), rows = (size_t)tile->x.count,
           cols = (size_t)tile->z.count;
    mcr_objects x, z;
    mcr_status s = list(&x, bound, 0, tile->x, mcr_scratch_take(scratch, rows * sizeof(int64_t)));
    if (!s)
        s = list(&z, bound, 1, tile->z, mcr_scratch_take(scratch, cols * sizeof(int64_t)));
    double *k = s ? NULL : mcr_scratch_take(scratch, rows * cols * sizeof *k);
    if (!s && !k)
        s = mcr_fail(bound->ctx, MCR_NO_MEMORY, "out of memory for a tile of %s",
                     bound->kernel->type->name);
    if (!s)
        s = values(bound, &x, &z, k);
    for (size_t i = 0; i < rows && !s; i++)
        for (size_t j = 0; j < cols; j++)
            mcr_tile_put(tile, (int64_t)i, (int64_t)j, k[i * cols + j]);
    mcr_scratch_release(scratch, mark);
    return s;
}

/* One object at a time: a block would compute all pairs. */
static mcr_status diagonal(const mcr_bound *bound, int side, mcr_rows rows, double *k)
{
    mcr_status s = MCR_OK;
    for (int64_t i = 0; i < rows.count && !s; i++) {
        int64_t object;
        mcr_objects x;
        s = list(&x, bound, side, (mcr_rows){NULL, mcr_rows_at(rows, i), 1}, &object);
        if (!s)
            s = values(bound, &x, &x, &k[i]);
    }
    return s;
}

mcr_status mcr_kernel_callback(mcr *ctx, const mcr_callback *given)
{
    mcr_callback call;
    mcr_status s = MCR_SIZED_READ(mcr_callback, &call, ctx, given);
    if (s)
        return s;
    callback *c = mcr_alloc(ctx, 1, sizeof *c);
    if (!c) {
        if (call.release)
            call.release(call.user);
        return MCR_NO_MEMORY;
    }
    *c = (callback){.ctx = ctx, .call = call};
    snprintf(c->name, sizeof c->name, "%s", call.name ? call.name : "");
    snprintf(c->summary, sizeof c->summary, "%s",
             call.summary ? call.summary : "a function of the user's");
    if (call.name && strlen(call.name) >= sizeof c->name)
        s = mcr_fail(ctx, MCR_BAD_CALL,
                     "kernel \"%s...\" cannot be registered: its name is too long", c->name);
    else if (call.kinds == 0 || (!call.block && !call.pair))
        s = mcr_fail(
            ctx, MCR_BAD_CALL,
            "kernel \"%s\" cannot be registered: it needs kinds, and a function block or pair",
            c->name);
    const mcr_kernel_type type = {.size = sizeof type,
                                  .name = c->name,
                                  .summary = c->summary,
                                  .kinds = call.kinds,
                                  .indefinite = call.indefinite,
                                  .block = block,
                                  .diagonal = diagonal,
                                  .user = c};
    if (!s)
        s = mcr_keep_reserve(ctx);
    if (!s)
        s = mcr_kernel_register(ctx, &type);
    if (s) {
        release(c);
        return s;
    }
    mcr_keep(ctx, release, c);
    if (!call.thread_safe)
        mcr_stop_threads(ctx);
    return MCR_OK;
}
