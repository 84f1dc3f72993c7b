/* features.c: listed values as sparse vectors, for the kernels on vectors.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kernel/features.h"

#include "kernel/vectors.h"

/* order: the entries by ascending feature. Distributing them to their objects in this order keeps
 * the indices of each row ascending. */
static mcr_status make_store(mcr_store **out, const mcr_bound *bound, int side,
                             const mcr_feature *list, const int64_t *order, int64_t count,
                             int64_t cols)
{
    mcr *ctx = bound->ctx;
    mcr_store *s = NULL;
    mcr_status st = mcr_store_new(&s, ctx, "features", MCR_SPARSE);
    if (st)
        return st;
    int64_t first = side ? bound->field[0].count : 0, rows = bound->field[side].count, total = 0;
    s->count = rows;
    s->cols = cols > 0 ? cols : 1;
    s->start = mcr_alloc_zero(ctx, (size_t)rows + 2, sizeof *s->start);
    for (int64_t e = 0; e < count; e++)
        total += list[e].object >= first && list[e].object < first + rows;
    s->index = mcr_alloc(ctx, (size_t)total, sizeof *s->index);
    s->value = mcr_alloc(ctx, (size_t)total, sizeof *s->value);
    if (!s->start || !s->index || !s->value) {
        mcr_store_free(s);
        return MCR_NO_MEMORY;
    }
    /* start[i + 2] counts row i; after the prefix sum start[i + 1] is the index of its next
     * entry. */
    for (int64_t e = 0; e < count; e++) {
        int64_t i = list[e].object - first;
        if (i >= 0 && i < rows)
            s->start[i + 2]++;
    }
    for (int64_t i = 2; i < rows + 2; i++)
        s->start[i] += s->start[i - 1];
    for (int64_t t = 0; t < count; t++) {
        const mcr_feature *e = &list[order[t]];
        int64_t i = e->object - first;
        if (i < 0 || i >= rows)
            continue;
        int64_t at = s->start[i + 1]++;
        s->index[at] = e->feature;
        s->value[at] = e->value;
    }
    *out = s;
    return MCR_OK;
}

static mcr_status sort_features(int64_t **out, mcr *ctx, const mcr_feature *list, int64_t count,
                                int64_t cols)
{
    int64_t *order = mcr_alloc(ctx, (size_t)count, sizeof *order);
    int64_t *next = mcr_alloc_zero(ctx, (size_t)cols + 1, sizeof *next);
    *out = order;
    if (order && next) {
        for (int64_t e = 0; e < count; e++)
            next[list[e].feature + 1]++;
        for (int64_t c = 0; c < cols; c++)
            next[c + 1] += next[c];
        for (int64_t e = 0; e < count; e++)
            order[next[list[e].feature]++] = e;
    }
    mcr_free(ctx, next);
    return order && next ? MCR_OK : MCR_NO_MEMORY;
}

mcr_status mcr_features_offer(mcr_bound *bound, mcr_binding *binding, const mcr_feature *list,
                              int64_t count, int64_t cols)
{
    mcr_store *store[2] = {NULL, NULL};
    int64_t *order = NULL;
    mcr_status s = sort_features(&order, bound->ctx, list, count, cols);
    if (!s)
        s = make_store(&store[0], bound, 0, list, order, count, cols);
    if (!s && !bound->same)
        s = make_store(&store[1], bound, 1, list, order, count, cols);
    mcr_free(bound->ctx, order);
    if (s) {
        mcr_store_free(store[0]);
        return s;
    }
    bound->listed[0] = store[0];
    bound->listed[1] = store[1];
    bound->listed_count = cols;
    size_t bytes = (size_t)count * (sizeof(int32_t) + sizeof(double));
    mcr_fused f = {.op = MCR_TILE_DOT};
    s = mcr_vectors_join_made(&f.v, bound, binding, store, bytes, MCR_NEEDS_DOT, NULL, 0);
    return s ? s : mcr_vectors_offer(bound, &f);
}
