/* centred.c: a Gram whose objects are centred in feature space.
 *
 * Products with A are computed from products with K, or with its factor, which saves a pass over
 * all values. If the mean is so far from the origin that they would lose digits of A, A itself is
 * computed, if K is kept.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gram/centred.h"

#include <math.h>

#include "base/threads.h"
#include "gram/half.h"
#include "gram/round.h"
#include "gram/type.h"

static const double too_far = 100; /* squared, in units of the variance */

typedef struct centred {
    mcr_gram base;
    mcr_centre c;
    double *share, *root, *mean, *diagonal; /* n each; diagonal: of K */
    double *features;
    bool known;    /* what the centre is */
    bool in_place; /* `of` is A */
} centred;

static const mcr_gram_type centred_type;

static void close_centred(mcr_gram *gram)
{
    centred *g = (centred *)gram;
    mcr_free_all(gram->ctx, g->share, g->features, g);
}

mcr_status mcr_gram_centred(mcr_gram **out, mcr_gram *of, const double *share)
{
    *out = NULL;
    size_t n = (size_t)of->rows;
    centred *g = mcr_alloc_zero(of->ctx, 1, sizeof *g);
    if (!g)
        return MCR_NO_MEMORY;
    g->base = *of;
    g->base.type = &centred_type;
    g->base.of = of;
    g->base.spread = false; /* sums over all processes are made here */
    if (!mcr_alloc_arrays(of->ctx, MCR_ARRAY(g->share, n), /* the block to free */
                          MCR_ARRAY(g->root, n), MCR_ARRAY(g->mean, n),
                          MCR_ARRAY(g->diagonal, n))) {
        close_centred(&g->base);
        return MCR_NO_MEMORY;
    }
    for (size_t i = 0; i < n; i++) {
        g->root[i] = sqrt(share[i]);
        g->share[i] = g->root[i] * g->root[i];
    }
    *out = &g->base;
    return MCR_OK;
}

/* ---- the centre -------------------------------------------------------------------------------*/

/* From the means and the diagonal of K. */
static mcr_status sum_up(centred *g)
{
    double trace[2] = {0}; /* without centring, and with it */
    g->c = (mcr_centre){.root = g->root, .mean = g->mean, .features = g->features};
    for (int64_t k = 0; k < mcr_gram_width(g->base.of); k++)
        g->c.middle += g->features[k] * g->features[k];
    for (int64_t i = 0; i < g->base.rows && !g->features; i++)
        g->c.middle += g->share[i] * g->mean[i];
    for (int64_t i = 0; i < g->base.rows; i++) {
        trace[0] += g->share[i] * fabs(g->diagonal[i]);
        trace[1] += g->share[i] * (g->diagonal[i] - 2 * g->mean[i] + g->c.middle);
    }
    mcr_status s = mcr_gram_total(g->base.of, trace, 2);
    g->c.total = trace[1] > 1e-14 * trace[0] ? trace[1] : 0;
    g->known = !s;
    return s;
}

static mcr_status find_centre(centred *g)
{
    mcr_gram *of = g->base.of;
    mcr_rows all = mcr_gram_all(of);
    int64_t width = mcr_gram_width(of);
    bool half = mcr_gram_is_half(of);
    mcr_status s = MCR_OK;
    if (g->known)
        return MCR_OK;
    if (width > 0) {
        g->features = mcr_alloc(of->ctx, (size_t)width, sizeof *g->features);
        s = g->features ? mcr_gram_project(of, all, g->share, 1, g->features) : MCR_NO_MEMORY;
        if (!s)
            s = mcr_gram_expand(of, all, g->features, 1, g->mean);
    } else {
        s = half ? mcr_gram_multiply(of, g->share, 1, g->mean)
                 : mcr_gram_blocks_multiply(of, g->share, 1, g->mean);
    }
    if (!s)
        s = mcr_gram_diagonal(of, 0, g->diagonal);
    if (!s)
        s = sum_up(g);
    if (s)
        return s;
    g->in_place = half && fabs(g->c.middle) > too_far * g->c.total;
    return g->in_place ? mcr_gram_half_centre(of, g->root, g->mean, g->c.middle) : MCR_OK;
}

mcr_status mcr_gram_centre(mcr_gram *gram, const mcr_centre **centre)
{
    *centre = &((centred *)gram)->c;
    return find_centre((centred *)gram);
}

const double *mcr_gram_roots(const mcr_gram *gram)
{
    return ((const centred *)gram)->root;
}

/* ---- values -----------------------------------------------------------------------------------*/

typedef struct values_job {
    centred *g;
    mcr_rows x, z;
    double *k;
    int64_t ld;
} values_job;

static mcr_status mean_row(void *arg, int64_t i, int worker)
{
    (void)worker;
    const values_job *job = arg;
    const double *row = job->k + i * job->ld;
    double sum = 0;
    for (int64_t j = 0; j < job->z.count; j++)
        sum += job->g->share[j] * row[j];
    job->g->mean[i] = sum;
    job->g->diagonal[i] = row[i];
    return MCR_OK;
}

/* The order of operations gives both triangles the same bits. */
static mcr_status centre_row(void *arg, int64_t t, int worker)
{
    (void)worker;
    const values_job *job = arg;
    const centred *g = job->g;
    int64_t i = mcr_rows_at(job->x, t);
    double *row = job->k + t * job->ld;
    for (int64_t c = 0; c < job->z.count; c++) {
        int64_t j = mcr_rows_at(job->z, c);
        row[c] = g->root[i] * g->root[j] * (row[c] - (g->mean[i] + g->mean[j]) + g->c.middle);
    }
    return MCR_OK;
}

static mcr_status block(mcr_gram *gram, mcr_rows x, mcr_rows z, void *k, int64_t ld, bool precise)
{
    centred *g = (centred *)gram;
    double *d = precise ? k : mcr_alloc(gram->ctx, (size_t)x.count, (size_t)z.count * sizeof *d);
    values_job job = {g, x, z, d, precise ? ld : z.count};
    mcr_status s = d ? find_centre(g) : MCR_NO_MEMORY;
    if (!s)
        s = mcr_gram_block(g->base.of, x, z, d, job.ld);
    if (!s && !g->in_place)
        s = mcr_parallel(gram->ctx, x.count, centre_row, &job);
    for (int64_t i = 0; i < x.count && !s && !precise; i++)
        for (int64_t j = 0; j < z.count; j++)
            ((float *)k)[i * ld + j] = (float)d[i * job.ld + j];
    if (!precise)
        mcr_free(gram->ctx, d);
    return s;
}

/* If the means are not known, they are computed from the matrix: its values are computed once. */
static mcr_status matrix(mcr_gram *gram, const mcr_gram_fill *how)
{
    centred *g = (centred *)gram;
    mcr_rows all = mcr_gram_all(gram);
    values_job job = {g, all, all, how->k, how->ld};
    if (!how->precise || g->known || g->in_place || mcr_gram_width(gram) > 0 ||
        mcr_gram_is_half(g->base.of) || !g->base.of->type->matrix)
        return block(gram, all, all, how->k, how->ld, how->precise);
    mcr_status s = g->base.of->type->matrix(g->base.of, how);
    if (!s)
        s = mcr_parallel(gram->ctx, gram->rows, mean_row, &job);
    if (!s)
        s = sum_up(g);
    return s ? s : mcr_parallel(gram->ctx, gram->rows, centre_row, &job);
}

static mcr_status squares(mcr_gram *gram, mcr_rows x, double *square)
{
    centred *g = (centred *)gram;
    mcr_status s = find_centre(g);
    for (int64_t t = 0; t < x.count && !s; t++) {
        int64_t i = mcr_rows_at(x, t);
        square[t] = g->share[i] * (g->diagonal[i] - 2 * g->mean[i] + g->c.middle);
    }
    return s;
}

static mcr_status diagonal(mcr_gram *gram, int side, double *k)
{
    (void)side; /* both are the same */
    return squares(gram, mcr_gram_all(gram), k);
}

/* ---- the factor -------------------------------------------------------------------------------*/

static int64_t width(const mcr_gram *gram)
{
    return mcr_gram_width(gram->of);
}

static mcr_status expand(mcr_gram *gram, mcr_rows x, const double *v, int64_t cols, double *y)
{
    centred *g = (centred *)gram;
    double *along = mcr_alloc_zero(gram->ctx, (size_t)cols, sizeof *along);
    mcr_status s = along ? find_centre(g) : MCR_NO_MEMORY;
    if (!s)
        s = mcr_gram_expand(g->base.of, x, v, cols, y);
    for (int64_t k = 0; k < width(gram) && !s; k++)
        for (int64_t c = 0; c < cols; c++)
            along[c] += g->features[k] * v[k * cols + c];
    for (int64_t t = 0; t < x.count && !s; t++)
        for (int64_t c = 0; c < cols; c++)
            y[t * cols + c] = g->root[mcr_rows_at(x, t)] * (y[t * cols + c] - along[c]);
    mcr_free(gram->ctx, along);
    return s;
}

static mcr_status project(mcr_gram *gram, mcr_rows x, const double *a, int64_t cols, double *u)
{
    centred *g = (centred *)gram;
    double *scaled = mcr_alloc(gram->ctx, (size_t)x.count, (size_t)cols * sizeof *scaled);
    double *sum = mcr_alloc_zero(gram->ctx, (size_t)cols, sizeof *sum);
    mcr_status s = scaled && sum ? find_centre(g) : MCR_NO_MEMORY;
    for (int64_t t = 0; t < x.count && !s; t++)
        for (int64_t c = 0; c < cols; c++)
            sum[c] += scaled[t * cols + c] = g->root[mcr_rows_at(x, t)] * a[t * cols + c];
    if (!s)
        s = mcr_gram_project(g->base.of, x, scaled, cols, u);
    if (!s)
        s = mcr_gram_total(g->base.of, sum, cols);
    for (int64_t k = 0; k < width(gram) && !s; k++)
        for (int64_t c = 0; c < cols; c++)
            u[k * cols + c] -= g->features[k] * sum[c];
    mcr_free_all(gram->ctx, scaled, sum);
    return s;
}

/* X'HX = D'WD - u m' - m u' + s m m', with W = H diag(p), u = D'W 1 and s the sum of W; of all
 * objects and H = 1 that is D'WD - m m'. */
static mcr_status weighted(mcr_gram *gram, mcr_rows x, const double *h, double *m, int64_t ldm)
{
    centred *g = (centred *)gram;
    int64_t p = width(gram);
    double *w = mcr_alloc(gram->ctx, (size_t)x.count, sizeof *w), sum = 0;
    double *u = mcr_alloc(gram->ctx, (size_t)p, sizeof *u);
    mcr_status s = w && u ? find_centre(g) : MCR_NO_MEMORY;
    bool plain = x.count == gram->rows && !x.index;
    for (int64_t t = 0; t < x.count && !s; t++) {
        plain = plain && h[t] == 1;
        sum += w[t] = h[t] * g->share[mcr_rows_at(x, t)];
    }
    if (!s)
        s = mcr_gram_weighted(g->base.of, x, w, m, ldm);
    if (!s && !plain)
        s = mcr_gram_project(g->base.of, x, w, 1, u);
    if (!s && !plain)
        s = mcr_gram_total(g->base.of, &sum, 1);
    const double *f = g->features;
    for (int64_t k = 0; k < p && !s; k++)
        for (int64_t l = 0; l <= k; l++)
            m[k * ldm + l] -= plain ? f[k] * f[l] : u[k] * f[l] + f[k] * u[l] - sum * f[k] * f[l];
    mcr_free_all(gram->ctx, w, u);
    return s;
}

/* ---- products ---------------------------------------------------------------------------------*/

static mcr_status multiply(mcr_gram *gram, const double *v, int64_t cols, double *kv)
{
    centred *g = (centred *)gram;
    int64_t n = gram->rows;
    if (width(gram) > 0)
        return mcr_gram_multiply_factor(gram, v, cols, kv);
    mcr_status s = find_centre(g);
    if (s || g->in_place)
        return s ? s : mcr_gram_multiply(g->base.of, v, cols, kv);
    double *u = mcr_alloc(gram->ctx, (size_t)n, (size_t)cols * sizeof *u);
    double *sum = mcr_alloc_zero(gram->ctx, (size_t)cols, 2 * sizeof *sum);
    double *along = sum ? sum + cols : NULL;
    s = u && sum ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t i = 0; i < n && !s; i++)
        for (int64_t o = 0; o < cols; o++) {
            u[i * cols + o] = g->root[i] * v[i * cols + o];
            sum[o] += u[i * cols + o];
            along[o] += g->mean[i] * u[i * cols + o];
        }
    if (!s)
        s = mcr_gram_multiply(g->base.of, u, cols, kv);
    for (int64_t i = 0; i < n && !s; i++)
        for (int64_t o = 0; o < cols; o++)
            kv[i * cols + o] = g->root[i] * (kv[i * cols + o] - g->mean[i] * sum[o] +
                                             (g->c.middle * sum[o] - along[o]));
    mcr_free_all(gram->ctx, u, sum);
    return s;
}

/* ---- the table --------------------------------------------------------------------------------*/

/* Four values of K, and each share is 1 at most. */
static mcr_status error(mcr_gram *gram, bool precise, mcr_error *to)
{
    mcr_status s = mcr_gram_error(gram->of, precise, to);
    to->absolute *= 4;
    to->relative *= 4;
    return s;
}

static mcr_status prepare(mcr_gram *gram, bool precise)
{
    (void)precise; /* centred in double */
    mcr_status s = mcr_gram_prepare(gram->of, true);
    return s ? s : find_centre((centred *)gram);
}

static const mcr_gram_type centred_type = {
    .close = close_centred,
    .block = block,
    .diagonal = diagonal,
    .error = error,
    .prepare = prepare,
    .matrix = matrix,
    .multiply = multiply,
    .width = width,
    .expand = expand,
    .project = project,
    .weighted = weighted,
    .squares = squares,
};
