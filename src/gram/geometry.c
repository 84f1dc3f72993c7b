/* geometry.c: lengths and distances in feature space, from K alone.
 *
 *   |Phi(x)|^2        = K(x,x)
 *   |Phi(x)-Phi(z)|^2 = K(x,x) + K(z,z) - 2 K(x,z)
 *   |Phi(x)-mean|^2   = K(x,x) + (1/n^2) sum_ij G_ij - (2/n) sum_i K(x,x_i)
 * Negative squares count as 0. They result from rounding or from functions that are not kernels; if
 * they exceed rounding, the log has a warning.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gram/bound.h"

#include <math.h>
#include <string.h>

#include "base/threads.h"

static double root(double square)
{
    return square > 0 ? sqrt(square) : 0;
}

/* Larger than the rounding error of 0, for a square that is a sum of terms up to `size`. */
static bool is_negative(double square, double size)
{
    return square < -1e-9 * size;
}

/* ---- nearest and farthest pair ----------------------------------------------------------------*/

typedef struct extreme {
    double nearest, farthest; /* squared */
    int64_t near[2], far[2];
    int64_t negative; /* pairs whose squared distance is */
} extreme;

typedef struct pairs_job {
    mcr_gram *gram;
    const double *diagonal;
    extreme *of_rows; /* one per item: joined in order afterwards */
} pairs_job;

enum { ROWS = 64 };

static const extreme none = {INFINITY, -INFINITY, {-1, -1}, {-1, -1}, 0};

/* Of equal pairs the first is kept. */
static void join(extreme *e, const extreme *with)
{
    e->negative += with->negative;
    if (with->nearest < e->nearest) {
        e->nearest = with->nearest;
        memcpy(e->near, with->near, sizeof e->near);
    }
    if (with->farthest > e->farthest) {
        e->farthest = with->farthest;
        memcpy(e->far, with->far, sizeof e->far);
    }
}

static void look_at_row(extreme *e, const pairs_job *job, int64_t i, const double *k, int64_t first,
                        int64_t end)
{
    for (int64_t j = first > i ? first : i + 1; j < end; j++) {
        double d2 = job->diagonal[i] + job->diagonal[j] - 2 * k[j - first];
        e->negative += is_negative(d2, fabs(job->diagonal[i]) + fabs(job->diagonal[j]));
        if (d2 < 0)
            d2 = 0;
        if (d2 < e->nearest) {
            e->nearest = d2;
            e->near[0] = i;
            e->near[1] = j;
        }
        if (d2 > e->farthest) {
            e->farthest = d2;
            e->far[0] = i;
            e->far[1] = j;
        }
    }
}

static mcr_status pairs_rows(void *arg, int64_t item, int worker)
{
    pairs_job *job = arg;
    mcr_gram_bound *g = mcr_gram_as_bound(job->gram);
    mcr_scratch *scratch = g->scratch[worker];
    int64_t n = job->gram->rows, i = item * ROWS, rows = n - i < ROWS ? n - i : ROWS;
    size_t mark = mcr_scratch_mark(scratch);
    double *k = mcr_scratch_take(scratch, sizeof(double) * ROWS * MCR_TILE_COLS);
    if (!k)
        return MCR_NO_MEMORY;
    extreme e = none;
    mcr_status s = MCR_OK;
    for (int64_t j = i / MCR_TILE_COLS * MCR_TILE_COLS; j < n && !s; j += MCR_TILE_COLS) {
        int64_t cols = n - j < MCR_TILE_COLS ? n - j : MCR_TILE_COLS;
        mcr_tile tile = {{NULL, i, rows}, {NULL, j, cols}, true, k, MCR_TILE_COLS, scratch};
        s = mcr_binding_block(g->binding, &tile);
        for (int64_t r = 0; r < rows && !s; r++)
            look_at_row(&e, job, i + r, k + r * MCR_TILE_COLS, j, j + cols);
    }
    job->of_rows[item] = e;
    mcr_scratch_release(scratch, mark);
    return s;
}

/* *negative: how many squared distances are. */
static mcr_status find_pairs(mcr_gram *g, const double *diagonal, mcr_geometry *out,
                             int64_t *negative)
{
    int64_t items = (out->n + ROWS - 1) / ROWS;
    pairs_job job = {g, diagonal, mcr_alloc(g->ctx, (size_t)items, sizeof(extreme))};
    if (!job.of_rows)
        return MCR_NO_MEMORY;
    mcr_status s = mcr_parallel(g->ctx, items, pairs_rows, &job);
    extreme e = none;
    for (int64_t t = 0; t < items && !s; t++)
        join(&e, &job.of_rows[t]);
    *negative = e.negative;
    bool pair = out->n > 1;
    out->nearest = pair ? sqrt(e.nearest) : NAN;
    out->farthest = pair ? sqrt(e.farthest) : NAN;
    for (int side = 0; side < 2; side++) {
        out->nearest_pair[side] = e.near[side];
        out->farthest_pair[side] = e.far[side];
    }
    mcr_free(g->ctx, job.of_rows);
    return s;
}

/* ---- the whole picture ------------------------------------------------------------------------*/

typedef struct negatives {
    int64_t lengths, to_mean, pairs;
} negatives;

static void remark(mcr *ctx, const negatives *n)
{
    if (n->lengths + n->to_mean + n->pairs > 0)
        mcr_log(
            ctx, MCR_LOG_WARNING,
            "the kernel is not positive semidefinite on these objects: negative squares count as "
            "0 (of lengths: %lld, of distances to the mean: %lld, of distances between two "
            "objects: %lld)",
            (long long)n->lengths, (long long)n->to_mean, (long long)n->pairs);
}

mcr_status mcr_gram_geometry(mcr_geometry **out, mcr_gram *g)
{
    *out = NULL;
    if (!g->symmetric || !mcr_gram_as_bound(g))
        return mcr_fail(g->ctx, MCR_BAD_CALL, "geometry: needs the Gram of one data set");
    mcr *ctx = g->ctx;
    mcr_status s = MCR_NO_MEMORY;
    mcr_geometry *geo = mcr_alloc_zero(ctx, 1, sizeof *geo);
    if (!geo)
        return s;
    geo->size = sizeof *geo;
    geo->n = mcr_gram_rows(g);
    geo->length = mcr_alloc(ctx, (size_t)geo->n, sizeof *geo->length);
    geo->to_mean = mcr_alloc(ctx, (size_t)geo->n, sizeof *geo->to_mean);
    if (!geo->length || !geo->to_mean)
        goto done;
    double total = 0;
    negatives negative = {0, 0, 0};
    if ((s = mcr_gram_diagonal(g, 0, geo->length)) ||
        (s = mcr_gram_means(g, geo->to_mean, &total)) ||
        (s = find_pairs(g, geo->length, geo, &negative.pairs)))
        goto done;
    double variance = 0;
    for (int64_t i = 0; i < geo->n; i++) {
        double d2 = geo->length[i] + total - 2 * geo->to_mean[i];
        negative.lengths += geo->length[i] < 0;
        negative.to_mean += is_negative(d2, fabs(geo->length[i]) + fabs(total));
        if (d2 < 0)
            d2 = 0;
        variance += d2;
        geo->to_mean[i] = sqrt(d2);
        geo->length[i] = root(geo->length[i]);
    }
    geo->variance = variance / (double)geo->n;
    geo->mean_length = root(total);
    remark(ctx, &negative);
done:
    if (s)
        mcr_geometry_free(ctx, geo);
    else
        *out = geo;
    return s;
}

void mcr_geometry_free(mcr *ctx, mcr_geometry *geo)
{
    if (!geo)
        return;
    mcr_free_all(ctx, geo->length, geo->to_mean, geo);
}

/* ---- distances --------------------------------------------------------------------------------*/

mcr_status mcr_gram_distances(mcr_gram *g, mcr_rows x, mcr_rows z, double *d, int64_t ld)
{
    double *dx = mcr_alloc(g->ctx, (size_t)mcr_gram_rows(g), sizeof *dx);
    double *dz = mcr_alloc(g->ctx, (size_t)mcr_gram_cols(g), sizeof *dz);
    mcr_status s = dx && dz ? MCR_OK : MCR_NO_MEMORY;
    if (s || (s = mcr_gram_diagonal(g, 0, dx)) || (s = mcr_gram_diagonal(g, 1, dz)) ||
        (s = mcr_gram_block(g, x, z, d, ld)))
        goto done;
    for (int64_t i = 0; i < x.count; i++)
        for (int64_t j = 0; j < z.count; j++)
            d[i * ld + j] = root(dx[mcr_rows_at(x, i)] + dz[mcr_rows_at(z, j)] - 2 * d[i * ld + j]);
done:
    mcr_free_all(g->ctx, dx, dz);
    return s;
}

/* a'Ka over the objects of z. */
static mcr_status square_of(mcr_gram *g, const double *a, double *square)
{
    mcr_gram *own = g;
    int64_t n = mcr_gram_cols(g);
    double *ka = mcr_alloc(g->ctx, (size_t)n, sizeof *ka);
    if (!ka)
        return MCR_NO_MEMORY;
    const mcr_gram_bound *of = mcr_gram_as_bound(g);
    mcr_status s = g->symmetric ? MCR_OK
                   : of         ? mcr_gram_open(&own, g->ctx, of->kernel, of->z, NULL)
                                : mcr_fail(g->ctx, MCR_BAD_CALL,
                                           "geometry: needs a Gram that is computed from data");
    if (!s)
        s = mcr_gram_multiply(own, a, 1, ka);
    double sum = 0;
    for (int64_t j = 0; j < n && !s; j++)
        sum += a[j] * ka[j];
    *square = sum;
    if (own != g)
        mcr_gram_close(own);
    mcr_free(g->ctx, ka);
    return s;
}

mcr_status mcr_gram_distance_to(mcr_gram *g, const double *a, double *d)
{
    int64_t m = mcr_gram_rows(g);
    double aka = 0;
    double *diagonal = mcr_alloc(g->ctx, (size_t)m, sizeof *diagonal);
    mcr_status s = diagonal ? MCR_OK : MCR_NO_MEMORY;
    if (s || (s = square_of(g, a, &aka)) || (s = mcr_gram_diagonal(g, 0, diagonal)) ||
        (s = mcr_gram_multiply(g, a, 1, d)))
        goto done;
    for (int64_t i = 0; i < m; i++)
        d[i] = root(diagonal[i] + aka - 2 * d[i]);
done:
    mcr_free(g->ctx, diagonal);
    return s;
}

mcr_status mcr_gram_distance_between(mcr_gram *g, const double *a, const double *b, double *d)
{
    int64_t n = mcr_gram_cols(g);
    double *c = mcr_alloc(g->ctx, (size_t)n, sizeof *c);
    if (!c)
        return MCR_NO_MEMORY;
    for (int64_t j = 0; j < n; j++)
        c[j] = a[j] - b[j];
    double square = 0;
    mcr_status s = square_of(g, c, &square);
    *d = root(square);
    mcr_free(g->ctx, c);
    return s;
}
