/* cluster_seed.c: the seeds of a start of k-means: k-means++ (Arthur and Vassilvitskii, 2007; the
 * best of a few candidates for each seed), and the seeds of crossed starts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>

#include "base/context.h"
#include "solve/cluster_impl.h"

typedef mcr_cluster_state state;

/* The object at which the running sum of weight times distance passes a share of the whole. */
static int64_t draw(const state *t, mcr_random *random, double sum)
{
    double rest = mcr_random_uniform(random) * sum;
    int64_t last = -1;
    for (int64_t i = 0; i < t->n; i++) {
        double mass = t->p->weight[i] * t->near[i];
        if (!(mass > 0))
            continue;
        last = i;
        if ((rest -= mass) < 0)
            break;
    }
    return last;
}

static double mass(const state *t, const double *row, int64_t seed)
{
    double sum = 0;
    for (int64_t i = 0; i < t->n; i++) {
        double d = t->diagonal[i] + t->diagonal[seed] - 2 * row[i];
        sum += t->p->weight[i] * fmin(t->near[i], fmax(d, 0));
    }
    return sum;
}

/* Takes the candidate that leaves the smallest total distance, and returns that. */
static mcr_status add_seed(state *t, int64_t number, const int64_t *candidate, int64_t candidates,
                           double *left)
{
    const double *row[FEW_CANDIDATES];
    int64_t best = 0;
    mcr_status s = mcr_cluster_fetch(t, candidate, candidates, row);
    for (int64_t c = 0; c < candidates && !s; c++) {
        double sum = mass(t, row[c], candidate[c]);
        if (c == 0 || sum < *left - 1e-13 * t->total) {
            *left = sum;
            best = c;
        }
    }
    for (int64_t i = 0; i < t->n && !s; i++) {
        double d = t->diagonal[i] + t->diagonal[candidate[best]] - 2 * row[best][i];
        d = i == candidate[best] ? 0 : fmax(d, 0);
        if (number == 0 || d < t->near[i] - mcr_cluster_rounding(t, i, t->near[i])) {
            t->near[i] = d;
            t->next[i] = (int32_t)number;
        }
    }
    return s;
}

/* Of which a seed is the best. */
static int64_t candidates_of(const state *t)
{
    int64_t tries = 2 + (int64_t)log((double)t->k);
    return tries < FEW_CANDIDATES ? tries : FEW_CANDIDATES;
}

mcr_status mcr_cluster_seed(state *t, int64_t start)
{
    mcr_random random = mcr_random_stream(mcr_seed(t->ctx), "clusters", (uint64_t)start);
    int64_t tries = candidates_of(t), candidate[FEW_CANDIDATES];
    double left = 0;
    mcr_status s = MCR_OK;
    for (int64_t i = 0; i < t->n; i++) { /* the first seed: by weight alone */
        t->near[i] = 1;
        left += t->p->weight[i];
    }
    for (int64_t c = 0; c < t->k && !s; c++) {
        if (c > 0 && !(left > 1e-13 * t->total))
            return mcr_fail(
                t->ctx, MCR_BAD_DATA,
                "%s: %lld clusters, but only %lld object%s (by this kernel): use fewer clusters",
                t->p->phase, (long long)t->k, (long long)c, c == 1 ? "" : "s that differ");
        if (c > 0 && mcr_cluster_is_over(t, NAN, NAN))
            return mcr_fail(t->ctx, MCR_STOPPED, "interrupted before all seeds were chosen");
        int64_t count = c > 0 ? tries : 1;
        for (int64_t j = 0; j < count; j++)
            candidate[j] = draw(t, &random, left);
        if (c == 0)
            for (int64_t i = 0; i < t->n; i++)
                t->near[i] = INFINITY;
        s = add_seed(t, c, candidate, count, &left);
    }
    return s;
}

/* Centres of earlier results; where one of them is left out, a seed takes its place. */
mcr_status mcr_cluster_cross(state *t, int64_t start)
{
    mcr_random random = mcr_random_stream(mcr_seed(t->ctx), "crossed clusters", (uint64_t)start);
    int64_t candidate[FEW_CANDIDATES], count = candidates_of(t);
    double left = 0;
    bool seeds = (start - t->p->starts) % 2 == 0;
    mcr_status s = mcr_cluster_mix(t, &random, seeds);
    if (s || !seeds)
        return s;
    for (int64_t i = 0; i < t->n; i++)
        left += t->p->weight[i] * t->near[i];
    for (int64_t j = 0; j < count; j++)
        candidate[j] = draw(t, &random, left);
    return candidate[0] < 0 ? MCR_OK : add_seed(t, t->k - 1, candidate, count, &left);
}
