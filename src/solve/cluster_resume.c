/* cluster_resume.c: the state of k-means between two steps, for a checkpoint.
 *
 * The sums of kernel values are stored with their accumulated rounding errors, which sums
 * recomputed from scratch would not have.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "solve/cluster_impl.h"

static void walk_best(mcr_cluster_state *t, mcr_walk *w)
{
    mcr_clusters *b = t->best;
    size_t k = (size_t)t->k;
    mcr_walk_bytes(w, b->of, sizeof *b->of * (size_t)t->n);
    mcr_walk_bytes(w, b->weight, sizeof *b->weight * k);
    mcr_walk_bytes(w, b->square, sizeof *b->square * k);
    mcr_walk_bytes(w, b->count, sizeof *b->count * k);
    mcr_walk_bytes(w, b->centre, sizeof *b->centre * (size_t)t->wide * k);
    MCR_WALK(w, b->starts);
    MCR_WALK(w, b->objective);
    MCR_WALK(w, b->gain);
    MCR_WALK(w, b->stop);
}

static void walk_parents(mcr_cluster_state *t, mcr_walk *w)
{
    size_t n = (size_t)t->n, k = (size_t)t->k;
    mcr_walk_same(w, (int64_t)t->crosses);
    for (int i = 0; i < 2 && t->crosses; i++) {
        mcr_cluster_parent *p = &t->parent[i];
        mcr_walk_bytes(w, p->of, sizeof *p->of * n);
        mcr_walk_bytes(w, p->s, sizeof *p->s * n * k);
        mcr_walk_bytes(w, p->weight, sizeof *p->weight * k);
        mcr_walk_bytes(w, p->q, sizeof *p->q * k);
        MCR_WALK(w, p->objective);
    }
}

static bool is_cluster(const mcr_cluster_state *t, int32_t c)
{
    return c >= 0 && c < t->k;
}

/* Whether all objects are in clusters. */
static bool is_sound(const mcr_cluster_state *t)
{
    bool sound = t->at.start >= 0 && t->at.start < t->p->starts + mcr_cluster_crossed(t);
    for (int64_t i = 0; i < t->n && sound; i++)
        sound = is_cluster(t, t->of[i]) && is_cluster(t, t->best->of[i]) &&
                (!t->crosses ||
                 (is_cluster(t, t->parent[0].of[i]) && is_cluster(t, t->parent[1].of[i])));
    return sound;
}

static mcr_status walk(void *self, mcr_walk *w)
{
    mcr_cluster_state *t = self;
    size_t n = (size_t)t->n, k = (size_t)t->k;
    mcr_walk_same(w, t->n);
    mcr_walk_same(w, t->k);
    mcr_walk_same(w, t->wide);
    MCR_WALK(w, t->at.start);
    MCR_WALK(w, t->at.stage);
    MCR_WALK(w, t->at.again);
    MCR_WALK(w, t->at.last);
    MCR_WALK(w, t->at.before);
    MCR_WALK(w, t->steps);
    mcr_walk_bytes(w, t->of, sizeof *t->of * n);
    mcr_walk_bytes(w, t->s, sizeof *t->s * n * k);
    mcr_walk_bytes(w, t->weight, sizeof *t->weight * k);
    mcr_walk_bytes(w, t->q, sizeof *t->q * k);
    mcr_walk_bytes(w, t->count, sizeof *t->count * k);
    mcr_walk_bytes(w, t->sum, sizeof *t->sum * (size_t)t->wide * k);
    walk_best(t, w);
    walk_parents(t, w);
    return w->status || is_sound(t) ? w->status : mcr_walk_refuse(w);
}

mcr_status mcr_cluster_offer(mcr_cluster_state *t)
{
    return mcr_resume_offer(t->ctx, t->part, walk, t);
}

mcr_status mcr_cluster_go_on(mcr_cluster_state *t)
{
    mcr_resume_name(t->ctx, "clusters", t->part);
    return mcr_resume_find(t->ctx, t->part, walk, t, &t->at.goes_on);
}
