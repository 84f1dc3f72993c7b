/* normalize.c: K(x,z) / sqrt(K(x,x) K(z,z)), the cosine of the angle in feature space.
 *
 * An object whose features are all zero has no angle: all its values are 0, including that with
 * itself. Values that differ from 1 or -1 only by rounding are set to 1 or -1, so that equal
 * objects have exactly 1.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kernel/explicit.h"
#include "kernel/gradient.h"
#include "kernel/kernel.h"

#include <float.h>
#include <math.h>

#include "base/threads.h"

typedef struct normalize_state {
    double *inverse[2]; /* 1 / sqrt(K(x,x)) for each object of a side, 0 where K(x,x) is 0 */
    bool wide;          /* values whose products do not fit a float: compute in double */
} normalize_state;

/* In this range floats can represent the values, their roots and the products of the roots. */
static const double FLOAT_LOW = 1e-15, FLOAT_HIGH = 1e15;

MCR_PSD_AS_CHILD(definite, "normalised kernel", "normalised, but not known to be a kernel before")

enum { CHUNK = 64 };

typedef struct side_job {
    const mcr_bound *bound;
    int side;
    double *values;
} side_job;

static mcr_status side_chunk(void *arg, int64_t first, int64_t end)
{
    const side_job *job = arg;
    return mcr_bound_child_diagonal(job->bound, 0, job->side, (mcr_rows){NULL, first, end - first},
                                    job->values + first);
}

static mcr_status bind_side(mcr_bound *bound, normalize_state *state, int side)
{
    int64_t n = mcr_bound_count(bound, side);
    double *d = mcr_bound_alloc(bound, (size_t)n, sizeof *d);
    if (d == NULL)
        return MCR_NO_MEMORY;
    side_job job = {bound, side, d};
    mcr_status status = mcr_parallel_chunks(bound->ctx, n, CHUNK, side_chunk, &job);
    for (int64_t i = 0; i < n && status == MCR_OK; i++) {
        if (!(d[i] >= 0) || !isfinite(d[i]))
            return mcr_fail(bound->ctx, MCR_NUMERIC,
                            "normalize: K(x,x) is %s for object %lld, so %.100s is not a kernel on "
                            "these data",
                            d[i] < 0 ? "negative" : "not finite", (long long)i + 1,
                            bound->child[0]->kernel->text);
        if (d[i] > 0 && (d[i] < FLOAT_LOW || d[i] > FLOAT_HIGH))
            state->wide = true;
        d[i] = d[i] > 0 ? 1 / sqrt(d[i]) : 0;
    }
    state->inverse[side] = d;
    return status;
}

static mcr_status bind(mcr_bound *bound, mcr_binding *binding)
{
    normalize_state *state = mcr_bound_alloc(bound, 1, sizeof *state);
    if (state == NULL)
        return MCR_NO_MEMORY;
    *state = (normalize_state){.wide = false};
    mcr_status status = bind_side(bound, state, 0);
    if (status == MCR_OK && bound->same)
        state->inverse[1] = state->inverse[0];
    else if (status == MCR_OK)
        status = bind_side(bound, state, 1);
    binding->mixed = binding->mixed || state->wide;
    bound->state = state;
    return status;
}

/* Only rounding: the roots and products above have errors below 4 units. */
static void snap(const mcr_tile *tile)
{
    const double d = 4 * DBL_EPSILON;
    const float f = 4 * FLT_EPSILON;
    for (int64_t i = 0; i < tile->x.count; i++) {
        if (tile->precise) {
            double *k = mcr_tile_row(tile, i);
            for (int64_t j = 0; j < tile->z.count; j++)
                k[j] = fabs(fabs(k[j]) - 1) <= d ? copysign(1, k[j]) : k[j];
        } else {
            float *k = mcr_tile_row(tile, i);
            for (int64_t j = 0; j < tile->z.count; j++)
                k[j] = fabsf(fabsf(k[j]) - 1) <= f ? copysignf(1, k[j]) : k[j];
        }
    }
}

static mcr_status block_direct(const mcr_bound *bound, const mcr_tile *tile)
{
    const normalize_state *state = bound->state;
    mcr_status status = mcr_bound_child_block(bound, 0, tile);
    if (status == MCR_OK)
        status = mcr_tile_scale(tile, state->inverse[0], state->inverse[1]);
    if (status == MCR_OK)
        snap(tile);
    return status;
}

static mcr_status block(const mcr_bound *bound, const mcr_tile *tile)
{
    const normalize_state *state = bound->state;
    if (tile->precise || !state->wide)
        return block_direct(bound, tile);
    mcr_tile wide;
    size_t mark = mcr_scratch_mark(tile->scratch);
    mcr_status status = mcr_tile_like(&wide, tile, true);
    if (status == MCR_OK)
        status = block_direct(bound, &wide);
    const mcr_vmath *math = mcr_tile_math(tile);
    for (int64_t i = 0; i < tile->x.count && status == MCR_OK; i++)
        math->from_double(mcr_tile_row(tile, i), mcr_tile_row(&wide, i), tile->z.count);
    mcr_scratch_release(tile->scratch, mark);
    return status;
}

static mcr_status diagonal(const mcr_bound *bound, int side, mcr_rows rows, double *k)
{
    const normalize_state *state = bound->state;
    for (int64_t i = 0; i < rows.count; i++)
        k[i] = state->inverse[side][mcr_rows_at(rows, i)] > 0 ? 1 : 0;
    return MCR_OK;
}

static mcr_status features(const mcr_bound *bound, mcr_features *out)
{
    const normalize_state *state = bound->state;
    return mcr_features_scaled_child(bound, out, state->inverse);
}

/* The term of the norms: weight_i times the derivative of K(x_i,x_i), a few objects at a time, as
 * the diagonal of a square tile. */
static mcr_status add_lengths(const mcr_bound *bound, const mcr_tile *tile, mcr_rows rows,
                              const double *weight, double *slope)
{
    enum { FEW = 32 };
    double d[FEW * FEW];
    mcr_status s = MCR_OK;
    for (int64_t first = 0; first < rows.count && !s; first += FEW) {
        mcr_tile square = *tile;
        square.x = square.z = mcr_rows_part(rows, first, FEW);
        for (int64_t i = 0; i < FEW * FEW; i++)
            d[i] = i % (FEW + 1) == 0 && i / FEW < square.x.count ? weight[first + i / FEW] : 0;
        s = mcr_bound_child_gradient(bound, 0, &square, d, FEW, slope);
    }
    return s;
}

/* d K(x,z) = d k(x,z) / (|x||z|) - K(x,z)/2 (d k(x,x) / |x|^2 + d k(z,z) / |z|^2). */
static mcr_status gradient(const mcr_bound *bound, const mcr_tile *tile, const double *d,
                           int64_t ld, double *slope)
{
    const normalize_state *state = bound->state;
    mcr_tile part;
    double *of[2];
    for (int side = 0; side < 2; side++) {
        int64_t count = side ? tile->z.count : tile->x.count;
        of[side] = mcr_scratch_take(tile->scratch, (size_t)count * sizeof **of);
        for (int64_t i = 0; i < count && of[side]; i++)
            of[side][i] = 0;
    }
    mcr_status s = of[0] && of[1] ? mcr_gradient_values(&part, bound, tile) : MCR_NO_MEMORY;
    for (int64_t i = 0; i < tile->x.count && !s; i++) {
        double *k = mcr_tile_row(&part, i), x = state->inverse[0][mcr_rows_at(tile->x, i)];
        for (int64_t j = 0; j < tile->z.count; j++) {
            double z = state->inverse[1][mcr_rows_at(tile->z, j)], each = d[i * ld + j];
            of[0][i] -= 0.5 * each * k[j] * x * x;
            of[1][j] -= 0.5 * each * k[j] * z * z;
            k[j] = each * x * z;
        }
    }
    if (!s && !bound->same)
        s = mcr_fail(bound->ctx, MCR_BAD_CALL, "normalize: the gradient is for one data set");
    if (!s)
        s = mcr_bound_child_gradient(bound, 0, tile, part.k, part.ld, slope);
    if (!s)
        s = add_lengths(bound, tile, tile->x, of[0], slope);
    return s ? s : add_lengths(bound, tile, tile->z, of[1], slope);
}

const mcr_kernel_type mcr_kernel_normalize = {
    .name = "normalize",
    .summary = "K(x,z) / sqrt(K(x,x) K(z,z)): the cosine in feature space; 0 where K(x,x) is 0",
    .min_children = 1,
    .max_children = 1,
    .definite = definite,
    .bind = bind,
    .block = block,
    .diagonal = diagonal,
    .features = features,
    .gradient = gradient,
};
