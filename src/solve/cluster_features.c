/* cluster_features.c: what k-means needs of features: S_c(i) = phi(x_i).M_c, with M_c the sum of
 * w_j phi(x_j) over the objects of a cluster.
 *
 * Lloyd's steps take M and all S from scratch: sums of rows, and a product with the features.
 * Hartigan's steps go through the objects in blocks: S of a block is one product, and a move within
 * it changes M and, by one row of K, S of those that come after it there.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "solve/cluster_impl.h"

mcr_status mcr_cluster_features_open(mcr_cluster_state *t)
{
    size_t p = (size_t)t->wide, k = (size_t)t->k;
    t->values = mcr_alloc(t->ctx, FEW_CANDIDATES, (size_t)t->n * sizeof *t->values);
    t->sum = mcr_alloc(t->ctx, p, k * sizeof *t->sum);
    t->phi = mcr_alloc_zero(t->ctx, p, sizeof *t->phi);
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

mcr_status mcr_cluster_features_block(mcr_cluster_state *t, int64_t first)
{
    mcr_rows block = {NULL, first, end_of(t, first) - first};
    return mcr_gram_expand(t->gram, block, t->sum, t->k, t->s + first * t->k);
}

/* phi = 0 again, after a sparse row. */
static void clear(const mcr_cluster_state *t, const mcr_factor *d, int64_t row)
{
    for (int64_t e = d->start[row]; e < d->start[row + 1]; e++)
        t->phi[d->index[e]] = 0;
}

/* The features of object i in t->phi, and the sums that they change. */
static mcr_status add_features(mcr_cluster_state *t, const mcr_factor *d, int64_t i, int64_t from,
                               int64_t to)
{
    double w = t->p->weight[i];
    if (d) {
        int64_t r = d->row ? d->row[i] : i;
        for (int64_t e = d->start[r]; e < d->start[r + 1]; e++) {
            t->phi[d->index[e]] = d->value[e];
            t->sum[d->index[e] * t->k + to] += w * d->value[e];
            t->sum[d->index[e] * t->k + from] -= w * d->value[e];
        }
        return MCR_OK;
    }
    mcr_status s = mcr_gram_factor_rows(t->gram, (mcr_rows){NULL, i, 1}, t->phi);
    for (int64_t j = 0; j < t->wide && !s; j++) {
        t->sum[j * t->k + to] += w * t->phi[j];
        t->sum[j * t->k + from] -= w * t->phi[j];
    }
    return s;
}

mcr_status mcr_cluster_features_move(mcr_cluster_state *t, int64_t i, int64_t from, int64_t to)
{
    const mcr_factor *sparse = mcr_gram_sparse(t->gram);
    int64_t end = end_of(t, i);
    double w = t->p->weight[i], k[MCR_CLUSTER_BLOCK];
    mcr_status s = add_features(t, sparse, i, from, to);
    if (s)
        return s;
    mcr_rows after = {NULL, i + 1, end - i - 1};
    if (after.count > 0)
        s = mcr_gram_expand(t->gram, after, t->phi, 1, k);
    for (int64_t j = i + 1; j < end && !s; j++) {
        t->s[j * t->k + to] += w * k[j - i - 1];
        t->s[j * t->k + from] -= w * k[j - i - 1];
    }
    if (sparse)
        clear(t, sparse, sparse->row ? sparse->row[i] : i);
    return s;
}
