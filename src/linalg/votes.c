/* votes.c: votes from the scores of all pairs of classes.
 *
 * A vector holds one kernel value for each of several objects. The score of a pair is the sum over
 * the support vectors of its two classes; it becomes two votes. With few classes, a kernel value is
 * read once for several pairs, whose scores are in a buffer that fits the cache; with many, the
 * score of one pair at a time stays in registers. Both add in the same order.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "linalg/votes.h"

#include "linalg/simd.h"

#if MCR_REAL_BITS == 32

enum {
    VECTORS = 4,
    VOTERS = VECTORS * LANES,
    /* Pairs at once, as the registers allow. */
    PAIRS = MCR_SIMD_BYTES == 64 ? 6 : 2
};

/* sum += coefficients times rows of k; in groups, so that rounding errors grow with the number of
 * groups. */
INLINE void add_class(vreal sum[VECTORS], const float *coef, const float *k, int64_t ld,
                      int64_t count)
{
    for (int64_t first = 0; first < count; first += MCR_VOTE_GROUP) {
        int64_t end = first + MCR_VOTE_GROUP < count ? first + MCR_VOTE_GROUP : count;
        vreal group[VECTORS];
        UNROLL for (int v = 0; v < VECTORS; v++) group[v] = splat(0);
        for (int64_t i = first; i < end; i++)
            UNROLL for (int v = 0; v < VECTORS; v++)
                group[v] = multiply_add(splat(coef[i]), load(k + i * ld + v * LANES), group[v]);
        UNROLL for (int v = 0; v < VECTORS; v++) sum[v] += group[v];
    }
}

/* 1 where the mask is set. */
INLINE vreal one_where(vwhole mask)
{
    return (vreal)(mask & (vwhole)splat(1));
}

INLINE void add_to(float *votes, const vreal more[VECTORS])
{
    UNROLL for (int v = 0; v < VECTORS; v++)
        store(votes + v * LANES, load(votes + v * LANES) + more[v]);
}

/* The number of pair (a, b), a < b. */
INLINE int64_t pair_of(int64_t n, int64_t a, int64_t b)
{
    return a * n - a * (a + 1) / 2 + b - a - 1;
}

/* Adds the sums over some support vectors of class c to its outputs t .. t + n - 1. */
INLINE void add_outputs(const mcr_vote_job *job, int64_t c, int64_t first, int64_t end, int64_t t,
                        const int n)
{
    int64_t own = job->first[c + 1] - job->first[c];
    const float *coef = job->coef[c] + t * own, *k = job->k + job->first[c] * job->k_ld;
    vreal group[PAIRS][VECTORS];
    UNROLL for (int j = 0; j < n; j++) UNROLL for (int v = 0; v < VECTORS; v++)
        group[j][v] = splat(0);
    for (int64_t i = first; i < end; i++) {
        vreal row[VECTORS];
        UNROLL for (int v = 0; v < VECTORS; v++) row[v] = load(k + i * job->k_ld + v * LANES);
        UNROLL for (int j = 0; j < n; j++)
        {
            vreal w = splat(coef[j * own + i]);
            UNROLL for (int v = 0; v < VECTORS; v++)
                group[j][v] = multiply_add(w, row[v], group[j][v]);
        }
    }
    UNROLL for (int j = 0; j < n; j++)
    {
        int64_t a = t + j < c ? t + j : c, b = t + j < c ? c : t + j + 1;
        add_to(job->sum + pair_of(job->classes, a, b) * VOTERS, group[j]);
    }
}

/* The scores of all pairs, into the buffer. */
static void add_all(const mcr_vote_job *job)
{
    int64_t n = job->classes, pairs = n * (n - 1) / 2;
    for (int64_t p = 0; p < pairs; p++)
        UNROLL for (int v = 0; v < VECTORS; v++)
            store(job->sum + p * VOTERS + v * LANES, splat(job->offset[p]));
    for (int64_t c = 0; c < n; c++) {
        int64_t own = job->first[c + 1] - job->first[c];
        for (int64_t first = 0; first < own; first += MCR_VOTE_GROUP) {
            int64_t end = first + MCR_VOTE_GROUP < own ? first + MCR_VOTE_GROUP : own, t = 0;
            for (; t + PAIRS <= n - 1; t += PAIRS)
                add_outputs(job, c, first, end, t, PAIRS);
            for (; t + 2 <= n - 1; t += 2)
                add_outputs(job, c, first, end, t, 2);
            for (; t < n - 1; t++)
                add_outputs(job, c, first, end, t, 1);
        }
    }
}

/* The score of one pair. */
INLINE void score_pair(vreal sum[VECTORS], const mcr_vote_job *job, int64_t a, int64_t b,
                       int64_t pair)
{
    int64_t ld = job->k_ld;
    int64_t own = job->first[a + 1] - job->first[a], other = job->first[b + 1] - job->first[b];
    if (job->sum) {
        UNROLL for (int v = 0; v < VECTORS; v++)
            sum[v] = load(job->sum + pair * VOTERS + v * LANES);
        return;
    }
    UNROLL for (int v = 0; v < VECTORS; v++) sum[v] = splat(job->offset[pair]);
    add_class(sum, job->coef[a] + (b - 1) * own, job->k + job->first[a] * ld, ld, own);
    add_class(sum, job->coef[b] + a * other, job->k + job->first[b] * ld, ld, other);
}

static void count(const mcr_vote_job *job)
{
    int64_t n = job->classes, pair = 0;
    memset(job->won, 0, (size_t)(n * VOTERS) * sizeof *job->won);
    memset(job->lost, 0, (size_t)(n * VOTERS) * sizeof *job->lost);
    if (job->sum)
        add_all(job);
    for (int64_t a = 0; a < n; a++) {
        vreal won[VECTORS], lost[VECTORS];
        UNROLL for (int v = 0; v < VECTORS; v++) won[v] = lost[v] = splat(0);
        for (int64_t b = a + 1; b < n; b++, pair++) {
            vreal sum[VECTORS], error = splat(job->error[pair]), up[VECTORS], down[VECTORS];
            score_pair(sum, job, a, b, pair);
            UNROLL for (int v = 0; v < VECTORS; v++)
            {
                up[v] = one_where(sum[v] > error);
                down[v] = one_where(-sum[v] > error);
                won[v] += up[v];
                lost[v] += down[v];
            }
            add_to(job->won + b * VOTERS, down);
            add_to(job->lost + b * VOTERS, up);
        }
        add_to(job->won + a * VOTERS, won);
        add_to(job->lost + a * VOTERS, lost);
    }
}

extern const mcr_vote_kit SYMBOL(mcr_vote_kit_);
const mcr_vote_kit SYMBOL(mcr_vote_kit_) = {VOTERS, count};

#else
typedef int nothing_in_double;
#endif
