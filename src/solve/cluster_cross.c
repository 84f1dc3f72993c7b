/* cluster_cross.c: starts of k-means that are crossed from the best two so far.
 *
 * Starts from seeds end in many local optima, most of whose centres agree with those of the best
 * one. A crossed start pairs the centres of the best two results, nearest first, takes one centre
 * of each pair at random, and moves one of them to an object that is far from the others (Gribel
 * and Vidal, HG-means, 2019). It starts near an optimum, so it needs fewer steps. Distances that
 * differ only by rounding count as equal, so that kernel values and features make the same choices.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <string.h>

#include "base/threads.h"
#include "solve/cluster_impl.h"

/* The smallest number of starts with crossed ones. Objects of a worker's item. */
enum { FEWEST_STARTS = 4, CHUNK = 1024 };
#define MOST_SUMS 16777216.0 /* of a result, objects times clusters: 128 MB */
#define SAME      1e-9       /* of the objective: two results that differ by less are one */

typedef mcr_cluster_state state;
typedef mcr_cluster_parent parent;

/* ---- results ----------------------------------------------------------------------------------*/

mcr_status mcr_cluster_cross_open(state *t)
{
    size_t n = (size_t)t->n, k = (size_t)t->k;
    size_t bytes = 2 * n * (k * sizeof(double) + sizeof(int32_t));
    t->parent[0].objective = t->parent[1].objective = INFINITY;
    if (t->p->starts < FEWEST_STARTS || k < 2 || (double)n * (double)k > MOST_SUMS ||
        bytes > mcr_budget_left(t->ctx) / 4)
        return MCR_OK;
    mcr_status s = mcr_budget_take(t->ctx, bytes, t->p->phase);
    if (s)
        return s;
    t->crosses = bytes;
    t->centre = mcr_alloc(t->ctx, k, sizeof *t->centre);
    s = t->centre ? MCR_OK : MCR_NO_MEMORY;
    for (int i = 0; i < 2 && !s; i++) {
        parent *p = &t->parent[i];
        if (!mcr_alloc_arrays(t->ctx, MCR_CLEARED(p->of, n), /* the block to free */
                              MCR_CLEARED(p->s, (uint64_t)n * k), MCR_CLEARED(p->weight, k),
                              MCR_CLEARED(p->q, k)))
            s = MCR_NO_MEMORY;
    }
    return s;
}

void mcr_cluster_cross_close(state *t)
{
    mcr_free_all(t->ctx, t->parent[0].of, t->parent[1].of, t->centre);
    mcr_budget_give(t->ctx, t->crosses);
}

void mcr_cluster_cross_keep(state *t, double objective)
{
    parent *p = t->parent;
    if (!t->crosses || !(objective < p[1].objective))
        return;
    for (int i = 0; i < 2; i++)
        if (fabs(objective - p[i].objective) <= SAME * mcr_cluster_scale(t, objective))
            return;
    bool first = objective < p[0].objective;
    if (first) {
        parent old = p[1];
        p[1] = p[0];
        p[0] = old;
    }
    parent *to = &p[first ? 0 : 1];
    memcpy(to->of, t->of, sizeof *to->of * (size_t)t->n);
    memcpy(to->weight, t->weight, sizeof *to->weight * (size_t)t->k);
    memcpy(to->q, t->q, sizeof *to->q * (size_t)t->k);
    memcpy(to->s, t->s, sizeof *to->s * (size_t)(t->n * t->k));
    to->objective = objective;
}

int64_t mcr_cluster_crossed(const state *t)
{
    return t->crosses ? t->p->starts : 0;
}

bool mcr_cluster_can_cross(const state *t)
{
    return isfinite(t->parent[1].objective);
}

/* ---- a start ----------------------------------------------------------------------------------*/

static double distance(const state *t, const mcr_cluster_centre *c, int64_t i)
{
    const parent *p = &t->parent[c->parent];
    double w = p->weight[c->cluster];
    return t->diagonal[i] - 2 * mcr_cluster_sum(t, p->s, c->cluster, i) / w +
           p->q[c->cluster] / (w * w);
}

/* between[a k + b]: squared distance of centre a of the first result to centre b of the second. */
static void measure(const state *t, double *between)
{
    const parent *p = t->parent;
    int64_t k = t->k, outer = t->wide ? t->n : k, inner = t->wide ? k : t->n;
    memset(between, 0, sizeof *between * (size_t)(k * k));
    for (int64_t o = 0; o < outer; o++) /* in the order in which the sums are stored */
        for (int64_t e = 0; e < inner; e++) {
            int64_t i = t->wide ? o : e, b = t->wide ? e : o;
            between[p[0].of[i] * k + b] += t->p->weight[i] * p[1].s[o * inner + e];
        }
    for (int64_t a = 0; a < k; a++)
        for (int64_t b = 0; b < k; b++) {
            double wa = p[0].weight[a], wb = p[1].weight[b];
            double *to = &between[a * k + b];
            *to = p[0].q[a] / (wa * wa) + p[1].q[b] / (wb * wb) - 2 * *to / (wa * wb);
        }
}

/* The rounding error of a distance between two centres. */
static double rounding(const state *t)
{
    double weight = 0;
    for (int64_t c = 0; c < t->k; c++)
        weight += t->parent[0].weight[c];
    return 1e-12 * t->total / weight;
}

static int64_t nearest(const double *row, int64_t k, double least)
{
    int64_t best = 0;
    for (int64_t b = 1; b < k; b++)
        best = row[b] < row[best] - least ? b : best;
    return best;
}

/* Pairs the centres, the nearest two first, and takes one of each pair. partner: space for k. */
static void choose(state *t, mcr_random *random, double *between, int64_t *partner)
{
    int64_t k = t->k;
    double least = rounding(t);
    for (int64_t a = 0; a < k; a++)
        partner[a] = nearest(between + a * k, k, least);
    for (int64_t c = 0; c < k; c++) {
        int64_t a = -1, b;
        for (int64_t e = 0; e < k; e++)
            if (partner[e] >= 0 &&
                (a < 0 || between[e * k + partner[e]] < between[a * k + partner[a]] - least))
                a = e;
        b = partner[a];
        partner[a] = -1;
        int second = (int)mcr_random_below(random, 2);
        t->centre[c] = (mcr_cluster_centre){second, second ? b : a};
        for (int64_t e = 0; e < k; e++) {
            between[e * k + b] = INFINITY;
            if (partner[e] == b)
                partner[e] = nearest(between + e * k, k, least);
        }
    }
}

typedef struct assign_job {
    state *t;
    int64_t centres;
    double *second; /* n: squared distance to the next centre but one */
} assign_job;

/* Objects to the nearest of the centres. */
static mcr_status assign_chunk(void *arg, int64_t first, int64_t end)
{
    const assign_job *job = arg;
    state *t = job->t;
    for (int64_t i = first; i < end; i++) {
        double near = INFINITY, second = INFINITY;
        t->next[i] = 0;
        for (int64_t c = 0; c < job->centres; c++) {
            double d = fmax(distance(t, &t->centre[c], i), 0);
            if (d < near - mcr_cluster_rounding(t, i, d)) {
                second = near;
                near = d;
                t->next[i] = (int32_t)c;
            } else {
                second = fmin(d, second);
            }
        }
        t->near[i] = near;
        job->second[i] = second;
    }
    return MCR_OK;
}

static mcr_status assign(assign_job *job)
{
    return mcr_parallel_chunks(job->t->ctx, job->t->n, CHUNK, assign_chunk, job);
}

/* Moves the centre whose removal increases the objective least to the end. loss: space for k. */
static void put_aside(const assign_job *job, double *loss)
{
    const state *t = job->t;
    int64_t least = 0;
    memset(loss, 0, sizeof *loss * (size_t)t->k);
    for (int64_t i = 0; i < t->n; i++)
        loss[t->next[i]] += t->p->weight[i] * (job->second[i] - t->near[i]);
    for (int64_t c = 1; c < t->k; c++)
        least = loss[c] < loss[least] - 1e-12 * t->total ? c : least;
    t->centre[least] = t->centre[t->k - 1];
}

mcr_status mcr_cluster_mix(state *t, mcr_random *random, bool one_less)
{
    assign_job job = {t, t->k, mcr_alloc(t->ctx, (size_t)t->n, sizeof(double))};
    double *between = mcr_alloc(t->ctx, (size_t)t->k, (size_t)t->k * sizeof *between);
    mcr_status s = job.second && between ? MCR_OK : MCR_NO_MEMORY;
    if (!s) {
        measure(t, between);
        choose(t, random, between, t->row);
        s = assign(&job);
    }
    if (!s && one_less) {
        put_aside(&job, between);
        job.centres--;
        s = assign(&job);
    }
    mcr_free_all(t->ctx, job.second, between);
    return s;
}
