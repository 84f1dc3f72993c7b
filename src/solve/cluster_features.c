/* cluster_features.c: what k-means needs of features: S_c(i) = phi(x_i).M_c, with M_c the sum of
 * w_j phi(x_j) over the objects of a cluster.
 *
 * Lloyd's steps take M and all S from scratch: sums of rows, and a product with the features. Hartigan's steps go through
 * the objects in blocks: S of a block is one product, and a move within it changes M and, by one row of
 * K, S of those that come after it there.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "solve/cluster_impl.h"

mcr_status mcr_cluster_features_open(mcr_cluster_state *t)
{
    size_t p = (size_t)t->design->p, k = (size_t)t->k;
    t->values = mcr_alloc(t->ctx, FEW_CANDIDATES, (size_t)t->n * sizeof *t->values);
    t->sum = mcr_alloc(t->ctx, p, k * sizeof *t->sum);
    t->phi = mcr_alloc_zero(t->ctx, p, sizeof *t->phi);
    return t->values && t->sum && t->phi ? MCR_OK : MCR_NO_MEMORY;
}

mcr_status mcr_cluster_features_rows(mcr_cluster_state *t, const int64_t *object, int64_t count,
                                     const double **row)
{
    int64_t buffer[FEW_CANDIDATES];
    double unit[FEW_CANDIDATES * FEW_CANDIDATES] = {0};
    mcr_design some = mcr_design_part(t->design, object, count, buffer);
    for (int64_t c = 0; c < count; c++)
        unit[c * count + c] = 1;
    /* M and S hold nothing yet: they are space for the features and for their products. */
    mcr_status s = mcr_design_project(&some, unit, count, t->sum);
    if (!s)
        s = mcr_design_multiply(t->design, t->sum, count, t->s);
    for (int64_t c = 0; c < count && !s; c++) {
        row[c] = t->values + c * t->n;
        for (int64_t i = 0; i < t->n; i++)
            t->values[c * t->n + i] = t->s[i * count + c];
    }
    return s;
}

mcr_status mcr_cluster_features_place(mcr_cluster_state *t)
{
    mcr_status s = mcr_design_gather(t->design, t->of, t->p->weight, t->k, t->sum);
    return s ? s : mcr_design_multiply(t->design, t->sum, t->k, t->s);
}

/* Rows first .. end - 1, of one block. */
static mcr_design rows_of(const mcr_cluster_state *t, int64_t first, int64_t end, int64_t *buffer)
{
    int64_t row[MCR_CLUSTER_BLOCK];
    for (int64_t i = first; i < end; i++)
        row[i - first] = i;
    return mcr_design_part(t->design, row, end - first, buffer);
}

static int64_t end_of(const mcr_cluster_state *t, int64_t i)
{
    int64_t end = (i / MCR_CLUSTER_BLOCK + 1) * MCR_CLUSTER_BLOCK;
    return end < t->n ? end : t->n;
}

mcr_status mcr_cluster_features_block(mcr_cluster_state *t, int64_t first)
{
    int64_t buffer[MCR_CLUSTER_BLOCK];
    mcr_design block = rows_of(t, first, end_of(t, first), buffer);
    return mcr_design_multiply(&block, t->sum, t->k, t->s + first * t->k);
}

/* phi = 0 again, after a sparse row. */
static void clear(const mcr_cluster_state *t, int64_t row)
{
    const mcr_design *d = t->design;
    for (int64_t e = d->start[row]; e < d->start[row + 1]; e++)
        t->phi[d->index[e]] = 0;
}

/* The features of object i in t->phi, and the sums that they change. */
static mcr_status add_features(mcr_cluster_state *t, int64_t i, int64_t from, int64_t to)
{
    const mcr_design *d = t->design;
    int64_t buffer[1];
    double w = t->p->weight[i], one = 1;
    mcr_design own = mcr_design_part(d, &i, 1, buffer);
    if (d->start) {
        for (int64_t e = d->start[*buffer]; e < d->start[*buffer + 1]; e++) {
            t->phi[d->index[e]] = d->value[e];
            t->sum[d->index[e] * t->k + to] += w * d->value[e];
            t->sum[d->index[e] * t->k + from] -= w * d->value[e];
        }
        return MCR_OK;
    }
    mcr_status s = mcr_design_project(&own, &one, 1, t->phi);
    for (int64_t j = 0; j < d->p && !s; j++) {
        t->sum[j * t->k + to] += w * t->phi[j];
        t->sum[j * t->k + from] -= w * t->phi[j];
    }
    return s;
}

mcr_status mcr_cluster_features_move(mcr_cluster_state *t, int64_t i, int64_t from, int64_t to)
{
    const mcr_design *d = t->design;
    int64_t buffer[MCR_CLUSTER_BLOCK], end = end_of(t, i);
    double w = t->p->weight[i], k[MCR_CLUSTER_BLOCK];
    mcr_status s = add_features(t, i, from, to);
    if (s)
        return s;
    mcr_design after = rows_of(t, i + 1, end, buffer);
    if (after.n > 0)
        s = mcr_design_multiply(&after, t->phi, 1, k);
    for (int64_t j = i + 1; j < end && !s; j++) {
        t->s[j * t->k + to] += w * k[j - i - 1];
        t->s[j * t->k + from] -= w * k[j - i - 1];
    }
    if (d->start)
        clear(t, d->row ? d->row[i] : i);
    return s;
}
