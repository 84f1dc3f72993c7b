/* gradient.c: derivatives by scales: shared code of the nodes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kernel/gradient.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "kernel/scales.h"
#include "kernel/vectors.h"

bool mcr_kernel_has_gradient(const mcr_kernel *k)
{
    if (mcr_kernel_scales(k, NULL) == 0)
        return true;
    bool has = k->type->gradient != NULL;
    for (int c = 0; c < k->children && has; c++)
        has = mcr_kernel_has_gradient(k->child[c]);
    return has;
}

mcr_status mcr_bound_gradient(const mcr_bound *bound, const mcr_tile *tile, const double *d,
                              int64_t ld, double *slope)
{
    if (mcr_kernel_scales(bound->kernel, NULL) == 0)
        return MCR_OK;
    if (!bound->kernel->type->gradient)
        return mcr_fail(bound->ctx, MCR_BAD_CALL, "%s: the kernel has no gradient",
                        bound->kernel->type->name);
    size_t mark = mcr_scratch_mark(tile->scratch);
    mcr_status s = bound->kernel->type->gradient(bound, tile, d, ld, slope);
    mcr_scratch_release(tile->scratch, mark);
    return s;
}

mcr_status mcr_bound_child_gradient(const mcr_bound *bound, int child, const mcr_tile *tile,
                                    const double *d, int64_t ld, double *slope)
{
    int64_t before = mcr_kernel_scales(bound->kernel, NULL);
    for (int c = bound->children - 1; c >= child; c--)
        before -= mcr_kernel_scales(bound->child[c]->kernel, NULL);
    return mcr_bound_gradient(bound->child[child], tile, d, ld, slope + before);
}

mcr_status mcr_gradient_values(mcr_tile *out, const mcr_bound *bound, const mcr_tile *tile)
{
    mcr_status s = mcr_tile_like(out, tile, true);
    return s ? s : mcr_bound_block(bound, out);
}

/* The leaf's own operation without its last step on distances or products. */
static mcr_status plain(mcr_tile *out, const mcr_bound *bound, const mcr_tile *tile, mcr_tile_op op)
{
    mcr_fused fused = *bound->fused;
    fused.op = op;
    fused.map = NULL;
    mcr_status s = mcr_tile_like(out, tile, true);
    return s ? s : mcr_vectors_tile(&fused, out);
}

mcr_status mcr_gradient_distances(mcr_tile *out, const mcr_bound *bound, const mcr_tile *tile)
{
    return plain(out, bound, tile, MCR_TILE_SQDIST);
}

mcr_status mcr_gradient_products(mcr_tile *out, const mcr_bound *bound, const mcr_tile *tile)
{
    return plain(out, bound, tile, MCR_TILE_DOT);
}

mcr_status mcr_gradient_exponential(const mcr_bound *bound, const mcr_tile *tile, const double *d,
                                    int64_t ld, double *slope)
{
    mcr_tile value;
    mcr_status s = mcr_gradient_values(&value, bound, tile);
    int64_t n = tile->z.count;
    double *log_k = mcr_scratch_take(tile->scratch, (size_t)n * sizeof *log_k);
    if (!s && !log_k)
        s = MCR_NO_MEMORY;
    for (int64_t i = 0; i < tile->x.count && !s; i++) {
        const mcr_vmath *math = mcr_tile_math(&value);
        const double *k = mcr_tile_row(&value, i);
        memcpy(log_k, k, sizeof *k * (size_t)n);
        math->at_least(log_k, DBL_MIN, n); /* where k is 0, so is k log k */
        math->log(log_k, n);
        math->multiply(log_k, k, n);
        slope[0] += math->dot(log_k, d + i * ld, n);
    }
    return s;
}

double *mcr_gradient_vectors(const mcr_bound *bound, const mcr_tile *tile, int side)
{
    mcr_rows rows = side ? tile->z : tile->x;
    int64_t cols = mcr_bound_cols(bound);
    double *x = mcr_scratch_take(tile->scratch, (size_t)(rows.count * cols) * sizeof *x);
    for (int64_t i = 0; i < rows.count && x; i++)
        mcr_bound_vector(bound, side, mcr_rows_at(rows, i), x + i * cols);
    return x;
}

/* For squares, with the features of z in contiguous rows. */
static mcr_status sum_squares(double *sum, int64_t cols, const mcr_tile *w, const double *x,
                              const double *z)
{
    const mcr_vmath *math = mcr_tile_math(w);
    int64_t n = w->z.count;
    double *turned = mcr_scratch_take(w->scratch, (size_t)(cols * n) * sizeof *turned);
    if (!turned)
        return MCR_NO_MEMORY;
    for (int64_t j = 0; j < n; j++)
        for (int64_t k = 0; k < cols; k++)
            turned[k * n + j] = z[j * cols + k];
    for (int64_t i = 0; i < w->x.count; i++)
        for (int64_t k = 0; k < cols; k++)
            sum[k] += math->moment(mcr_tile_row(w, i), turned + k * n, x[i * cols + k], n);
    return MCR_OK;
}

static void sum_absolute(double *sum, int64_t cols, const mcr_tile *w, const double *x,
                         const double *z)
{
    for (int64_t i = 0; i < w->x.count; i++)
        for (int64_t j = 0; j < w->z.count; j++) {
            const double *a = x + i * cols, *b = z + j * cols;
            double each = ((const double *)w->k)[i * w->ld + j];
            for (int64_t k = 0; k < cols && each != 0; k++)
                sum[k] += each * fabs(a[k] - b[k]);
        }
}

/* For each feature k the sum over the tile of w_ij part(x_ik - z_jk), in scratch memory for `count`
 * sums: sparse vectors may have fewer features than the kernel has scales. */
static mcr_status sum_features(double **out, int64_t count, const mcr_bound *bound,
                               const mcr_tile *tile, const mcr_tile *w, mcr_gradient_part part)
{
    int64_t cols = mcr_bound_cols(bound);
    double *sum = *out = mcr_scratch_take(tile->scratch, (size_t)count * sizeof *sum);
    const double *x = mcr_gradient_vectors(bound, tile, 0);
    const double *z = mcr_gradient_vectors(bound, tile, 1);
    if (!sum || !x || !z)
        return MCR_NO_MEMORY;
    memset(sum, 0, sizeof *sum * (size_t)count);
    if (part == MCR_PART_SQUARE)
        return sum_squares(sum, cols, w, x, z);
    sum_absolute(sum, cols, w, x, z);
    return MCR_OK;
}

mcr_status mcr_gradient_exponents(const mcr_bound *bound, const mcr_tile *tile, const double *d,
                                  int64_t ld, const mcr_reals *gamma, mcr_gradient_part part,
                                  double *slope)
{
    if (gamma->count == 1)
        return mcr_gradient_exponential(bound, tile, d, ld, slope);
    mcr_tile w;
    double *sum;
    mcr_status s = mcr_gradient_values(&w, bound, tile);
    for (int64_t i = 0; i < tile->x.count && !s; i++) {
        double *k = mcr_tile_row(&w, i);
        for (int64_t j = 0; j < tile->z.count; j++)
            k[j] *= d[i * ld + j];
    }
    if (!s)
        s = sum_features(&sum, gamma->count, bound, tile, &w, part);
    for (int64_t k = 0; k < gamma->count && !s; k++)
        slope[k] -= gamma->values[k] * sum[k];
    return s;
}

mcr_status mcr_gradient_lengths(const mcr_bound *bound, const mcr_tile *tile, const mcr_tile *w,
                                const mcr_reals *length, double *slope)
{
    double *sum;
    mcr_status s = sum_features(&sum, length->count, bound, tile, w, MCR_PART_SQUARE);
    for (int64_t k = 0; k < length->count && !s; k++)
        slope[k] += sum[k] / (length->values[k] * length->values[k]);
    return s;
}
