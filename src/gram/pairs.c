/* pairs.c: K of pairs of classes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gram/pairs.h"

#include <string.h>

#include "base/context.h"
#include "base/threads.h"
#include "linalg/copy.h"

struct mcr_gram_pairs {
    mcr *ctx;
    int workers;
    int64_t ld;
    float **pair;   /* one per worker */
    int64_t *kept;  /* one per worker: the first class, whose K is there from the pair before; -1 */
    mcr_rows *rows; /* of each class */
    float **own;    /* K within each class, one after the other in own[0]; NULL: none */
};

size_t mcr_gram_pairs_space(int64_t most)
{
    size_t ld = (size_t)mcr_stored_ld(most);
    return sizeof(float) * ld * ld;
}

static mcr_status fill_classes(mcr_gram_pairs *p, mcr_gram *gram, const mcr_rows *classes,
                               int64_t count)
{
    size_t all = 0;
    for (int64_t c = 0; c < count; c++)
        all += (size_t)(classes[c].count * classes[c].count);
    p->rows = mcr_alloc(p->ctx, (size_t)count, sizeof *p->rows);
    p->own = mcr_alloc_zero(p->ctx, (size_t)count, sizeof *p->own);
    /* One block of memory for all classes: a large one is cheaper to touch. */
    float *to = p->own ? mcr_alloc(p->ctx, all, sizeof *to) : NULL;
    if (to)
        p->own[0] = to;
    if (!p->rows || !to)
        return MCR_NO_MEMORY;
    memcpy(p->rows, classes, sizeof *p->rows * (size_t)count);
    mcr_status s = MCR_OK;
    for (int64_t c = 0; c < count && !s; c++) {
        int64_t n = classes[c].count;
        p->own[c] = to;
        s = mcr_gram_block_float(gram, classes[c], classes[c], to, n);
        to += n * n;
    }
    return s;
}

mcr_status mcr_gram_pairs_open(mcr_gram_pairs **out, mcr *ctx, int64_t most, mcr_gram *gram,
                               const mcr_rows *classes, int64_t count)
{
    mcr_gram_pairs *p = *out = mcr_alloc_zero(ctx, 1, sizeof *p);
    if (!p)
        return MCR_NO_MEMORY;
    *p = (mcr_gram_pairs){.ctx = ctx, .workers = mcr_workers(ctx), .ld = mcr_stored_ld(most)};
    p->pair = mcr_alloc_zero(ctx, (size_t)p->workers, sizeof *p->pair);
    p->kept = mcr_alloc(ctx, (size_t)p->workers, sizeof *p->kept);
    mcr_status s = p->pair && p->kept ? MCR_OK : MCR_NO_MEMORY;
    for (int w = 0; w < p->workers && !s; w++) {
        p->kept[w] = -1;
        if (!(p->pair[w] = mcr_alloc(ctx, mcr_gram_pairs_space(most), 1)))
            s = MCR_NO_MEMORY;
    }
    if (!s && gram)
        s = fill_classes(p, gram, classes, count);
    if (s) {
        mcr_gram_pairs_close(p);
        *out = NULL;
    }
    return s;
}

void mcr_gram_pairs_close(mcr_gram_pairs *p)
{
    if (!p)
        return;
    for (int w = 0; p->pair && w < p->workers; w++)
        mcr_free(p->ctx, p->pair[w]);
    mcr_free_all(p->ctx, p->own ? p->own[0] : NULL, p->own, p->rows, p->pair, p->kept, p);
}

static mcr_status open_pair(mcr_gram **out, const mcr_gram_pairs *p, int64_t n, int worker,
                            mcr_gram *exact)
{
    float *k = p->pair[worker];
    for (int64_t i = 0; i < n; i++)
        memset(k + i * p->ld + n, 0, sizeof *k * (size_t)(mcr_stored_ld(n) - n));
    return mcr_gram_stored(out, p->ctx, &(mcr_stored){n, p->ld, k, .exact = exact});
}

mcr_status mcr_gram_pairs_stored(mcr_gram **out, mcr_gram_pairs *p, int64_t a, int64_t b,
                                 int worker, mcr_gram *gram, mcr_gram *exact)
{
    mcr_rows first = p->rows[a], second = p->rows[b];
    int64_t ld = p->ld, m = first.count, n = second.count;
    float *k = p->pair[worker], *corner = k + m, *below = k + m * ld;
    mcr_status s = mcr_gram_block_float(gram, first, second, corner, ld);
    if (s)
        return s;
    for (int64_t i = 0; i < m && p->kept[worker] != a; i++)
        memcpy(k + i * ld, p->own[a] + i * m, sizeof *k * (size_t)m);
    p->kept[worker] = a;
    mcr_copy_out_transposed(below, ld, corner, ld, m, n, sizeof *k);
    for (int64_t i = 0; i < n; i++)
        memcpy(below + i * ld + m, p->own[b] + i * n, sizeof *k * (size_t)n);
    return open_pair(out, p, m + n, worker, exact);
}

/* If objects are ordered by class, as callers that share a K ensure, each row consists of two
 * runs. */
mcr_status mcr_gram_pairs_read(mcr_gram **out, const mcr_gram_pairs *p, mcr_rows objects,
                               int worker, const mcr_gram *gram, mcr_gram *exact)
{
    int64_t n = objects.count, run = 1, all_ld; /* run: of the first class, if both are runs */
    const int64_t *row = objects.index;
    const float *all = mcr_gram_values(gram, &all_ld);
    while (run < n && row[run] == row[run - 1] + 1)
        run++;
    bool runs = run >= n || row[n - 1] - row[run] == n - 1 - run;
    for (int64_t i = 0; i < n; i++) {
        const float *from = all + row[i] * all_ld;
        float *to = p->pair[worker] + i * p->ld;
        if (runs) {
            memcpy(to, from + row[0], sizeof *to * (size_t)run);
            if (run < n)
                memcpy(to + run, from + row[run], sizeof *to * (size_t)(n - run));
        } else {
            for (int64_t t = 0; t < n; t++)
                to[t] = from[row[t]];
        }
    }
    return open_pair(out, p, n, worker, exact);
}
