/* cluster_features.c: k-means with features: S_c(i) = phi(x_i).M_c, with M_c the sum of w_j
 * phi(x_j) over the objects of a cluster.
 *
 * Lloyd's steps compute M and all S from scratch: sums of rows, and a product with the features.
 * Hartigan's steps process the objects in blocks: S of a block is one product, and a move within it
 * changes M and, by one row of K, S of the later objects of the block. Features that are not sparse
 * may have to be computed, so those of the block are kept while it is processed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "solve/cluster_impl.h"

#include "linalg/shared.h"

mcr_status mcr_cluster_features_open(mcr_cluster_state *t)
{
    size_t p = (size_t)t->wide, k = (size_t)t->k;
    t->values = mcr_alloc(t->ctx, FEW_CANDIDATES, (size_t)t->n * sizeof *t->values);
    t->sum = mcr_alloc(t->ctx, p, k * sizeof *t->sum);
    t->sparse = mcr_gram_sparse(t->gram);
    t->held = -1;
    size_t rows = t->sparse ? 1 : t->n < MCR_CLUSTER_BLOCK ? (size_t)t->n : MCR_CLUSTER_BLOCK;
    t->phi = mcr_alloc_zero(t->ctx, rows, p * sizeof *t->phi);
    return t->values && t->sum && t->phi ? MCR_OK : MCR_NO_MEMORY;
}

mcr_status mcr_cluster_features_rows(mcr_cluster_state *t, const int64_t *object, int64_t count,
                                     const double **row)
{
    double unit[FEW_CANDIDATES * FEW_CANDIDATES] = {0};
    for (int64_t c = 0; c < count; c++)
        unit[c * count + c] = 1;
    /* M and S hold nothing yet: they are space for the features and for their products. */
    mcr_status s = mcr_gram_project(t->gram, (mcr_rows){object, 0, count}, unit, count, t->sum);
    if (!s)
        s = mcr_gram_expand(t->gram, mcr_gram_all(t->gram), t->sum, count, t->s);
    for (int64_t c = 0; c < count && !s; c++) {
        row[c] = t->values + c * t->n;
        for (int64_t i = 0; i < t->n; i++)
            t->values[c * t->n + i] = t->s[i * count + c];
    }
    return s;
}

mcr_status mcr_cluster_features_place(mcr_cluster_state *t)
{
    mcr_status s = mcr_gram_gather(t->gram, t->of, t->p->weight, t->k, t->sum);
    return s ? s : mcr_gram_expand(t->gram, mcr_gram_all(t->gram), t->sum, t->k, t->s);
}

static int64_t end_of(const mcr_cluster_state *t, int64_t i)
{
    int64_t end = (i / MCR_CLUSTER_BLOCK + 1) * MCR_CLUSTER_BLOCK;
    return end < t->n ? end : t->n;
}

/* The features of a block, of which `first` is the first object. */
static mcr_status hold(mcr_cluster_state *t, int64_t first)
{
    if (t->held == first)
        return MCR_OK;
    t->held = -1;
    mcr_status s = mcr_gram_factor_rows(t->gram, (mcr_rows){NULL, first, end_of(t, first) - first},
                                        t->phi);
    if (!s)
        t->held = first;
    return s;
}

mcr_status mcr_cluster_features_block(mcr_cluster_state *t, int64_t first)
{
    mcr_rows block = {NULL, first, end_of(t, first) - first};
    if (t->sparse)
        return mcr_gram_expand(t->gram, block, t->sum, t->k, t->s + first * t->k);
    mcr_status s = hold(t, first);
    return s ? s
             : mcr_shared_gemm(t->ctx, MCR_AS_IS, MCR_AS_IS, block.count, t->k, t->wide, 1, t->phi,
                               t->wide, t->sum, t->k, 0, t->s + first * t->k, t->k);
}

/* K(x_i, x_j) of the objects j behind i in its block, and the sums that the features change. */
static mcr_status move_sparse(mcr_cluster_state *t, int64_t i, int64_t from, int64_t to, double *k)
{
    const mcr_factor *d = t->sparse;
    double w = t->p->weight[i];
    int64_t r = d->row ? d->row[i] : i;
    for (int64_t e = d->start[r]; e < d->start[r + 1]; e++) {
        t->phi[d->index[e]] = d->value[e];
        t->sum[d->index[e] * t->k + to] += w * d->value[e];
        t->sum[d->index[e] * t->k + from] -= w * d->value[e];
    }
    mcr_rows after = {NULL, i + 1, end_of(t, i) - i - 1};
    mcr_status s = after.count > 0 ? mcr_gram_expand(t->gram, after, t->phi, 1, k) : MCR_OK;
    for (int64_t e = d->start[r]; e < d->start[r + 1]; e++)
        t->phi[d->index[e]] = 0;
    return s;
}

static mcr_status move_dense(mcr_cluster_state *t, int64_t i, int64_t from, int64_t to, double *k)
{
    int64_t first = i / MCR_CLUSTER_BLOCK * MCR_CLUSTER_BLOCK, after = end_of(t, i) - i - 1;
    double w = t->p->weight[i];
    mcr_status s = hold(t, first);
    if (s)
        return s;
    const double *phi = t->phi + (i - first) * t->wide;
    for (int64_t j = 0; j < t->wide; j++) {
        t->sum[j * t->k + to] += w * phi[j];
        t->sum[j * t->k + from] -= w * phi[j];
    }
    return after > 0 ? mcr_shared_gemm(t->ctx, MCR_AS_IS, MCR_TRANSPOSED, after, 1, t->wide, 1,
                                       phi + t->wide, t->wide, phi, t->wide, 0, k, 1)
                     : MCR_OK;
}

mcr_status mcr_cluster_features_move(mcr_cluster_state *t, int64_t i, int64_t from, int64_t to)
{
    int64_t end = end_of(t, i);
    double w = t->p->weight[i], k[MCR_CLUSTER_BLOCK];
    mcr_status s = t->sparse ? move_sparse(t, i, from, to, k) : move_dense(t, i, from, to, k);
    for (int64_t j = i + 1; j < end && !s; j++) {
        t->s[j * t->k + to] += w * k[j - i - 1];
        t->s[j * t->k + from] -= w * k[j - i - 1];
    }
    return s;
}
