/* votes.c: votes from the scores of all pairs of classes, which are not stored.
 *
 * A vector holds one kernel value for each of several objects. The score of a pair is the sum over
 * the support vectors of its two classes; it stays in registers and becomes two votes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "linalg/votes.h"

#include "linalg/simd.h"

#if MCR_REAL_BITS == 32

enum { VECTORS = 4, VOTERS = VECTORS * LANES };

/* sum += coefficients times rows of k; in groups, so that rounding errors grow with the number of
 * groups. */
INLINE void add_class(vreal sum[VECTORS], const float *coef, const float *k, int64_t count)
{
    for (int64_t first = 0; first < count; first += MCR_VOTE_GROUP) {
        int64_t end = first + MCR_VOTE_GROUP < count ? first + MCR_VOTE_GROUP : count;
        vreal group[VECTORS];
        UNROLL for (int v = 0; v < VECTORS; v++) group[v] = splat(0);
        for (int64_t i = first; i < end; i++)
            UNROLL for (int v = 0; v < VECTORS; v++)
                group[v] = multiply_add(splat(coef[i]), load(k + i * VOTERS + v * LANES), group[v]);
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

static void count(const mcr_vote_job *job)
{
    int64_t n = job->classes, pair = 0;
    memset(job->won, 0, (size_t)(n * VOTERS) * sizeof *job->won);
    memset(job->lost, 0, (size_t)(n * VOTERS) * sizeof *job->lost);
    for (int64_t a = 0; a < n; a++) {
        int64_t own = job->first[a + 1] - job->first[a];
        vreal won[VECTORS], lost[VECTORS];
        UNROLL for (int v = 0; v < VECTORS; v++) won[v] = lost[v] = splat(0);
        for (int64_t b = a + 1; b < n; b++, pair++) {
            int64_t other = job->first[b + 1] - job->first[b];
            vreal sum[VECTORS], error = splat(job->error[pair]), up[VECTORS], down[VECTORS];
            UNROLL for (int v = 0; v < VECTORS; v++) sum[v] = splat(job->offset[pair]);
            add_class(sum, job->coef[a] + (b - 1) * own, job->k + job->first[a] * VOTERS, own);
            add_class(sum, job->coef[b] + a * other, job->k + job->first[b] * VOTERS, other);
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
