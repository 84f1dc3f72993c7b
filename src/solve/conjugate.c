/* conjugate.c: preconditioned conjugate gradients (Hestenes and Stiefel, 1952).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "solve/conjugate.h"

#include <math.h>
#include <string.h>

#include "base/team.h"

typedef struct state {
    const mcr_conjugate *c;
    int64_t n, k;
    double *x, *r, *z, *p, *ap; /* n x k: solution, residual, M r, direction, A p */
    /* Of each column: r'z, length of the step, norm of r, and when that is small enough. */
    double *square, *length, *norm, *enough;
    int64_t done, *steps;
} state;

static void dots(const state *t, const double *a, const double *b, double *sum)
{
    memset(sum, 0, sizeof *sum * (size_t)t->k);
    for (int64_t i = 0; i < t->n; i++)
        for (int64_t o = 0; o < t->k; o++)
            sum[o] += a[i * t->k + o] * b[i * t->k + o];
}

/* Whether all columns are done; the largest norm of their residuals. */
static bool is_done(state *t, double *largest)
{
    bool done = true;
    dots(t, t->r, t->r, t->norm);
    *largest = 0;
    for (int64_t o = 0; o < t->k; o++) {
        t->norm[o] = sqrt(t->norm[o]);
        *largest = fmax(*largest, t->norm[o]);
        done &= t->norm[o] <= t->enough[o];
    }
    return done;
}

/* z, and the next directions. */
static mcr_status turn(state *t)
{
    mcr_status s = t->c->precondition ? t->c->precondition(t->c->self, t->r, t->z) : MCR_OK;
    if (s)
        return s;
    dots(t, t->r, t->z, t->length); /* r'z now, and then how much of the last direction stays */
    for (int64_t o = 0; o < t->k; o++) {
        double now = t->length[o];
        t->length[o] = t->square[o] > 0 ? now / t->square[o] : 0;
        t->square[o] = now;
    }
    for (int64_t i = 0; i < t->n; i++)
        for (int64_t o = 0; o < t->k; o++) {
            int64_t at = i * t->k + o;
            t->p[at] = t->z[at] + t->length[o] * t->p[at];
        }
    return MCR_OK;
}

/* A step in all columns that are not done; *moved: there was one. */
static mcr_status step(state *t, bool *moved)
{
    mcr_status s = t->c->apply(t->c->self, t->p, t->ap);
    *moved = false;
    if (s)
        return s;
    dots(t, t->p, t->ap, t->length);
    for (int64_t o = 0; o < t->k; o++) {
        bool moves = t->norm[o] > t->enough[o] && t->square[o] > 0 && t->length[o] > 0;
        t->length[o] = moves ? t->square[o] / t->length[o] : 0;
        *moved |= moves;
    }
    for (int64_t i = 0; i < t->n; i++)
        for (int64_t o = 0; o < t->k; o++) {
            int64_t at = i * t->k + o;
            t->x[at] += t->length[o] * t->p[at];
            t->r[at] -= t->length[o] * t->ap[at];
        }
    return MCR_OK;
}

/* Between two steps; z, A p and lengths are made in each. */
static mcr_status walk(void *self, mcr_walk *w)
{
    state *t = self;
    size_t all = (size_t)(t->n * t->k), columns = (size_t)t->k;
    mcr_walk_same(w, t->n);
    mcr_walk_same(w, t->k);
    mcr_walk_bytes(w, t->x, sizeof *t->x * all);
    mcr_walk_bytes(w, t->r, sizeof *t->r * all);
    mcr_walk_bytes(w, t->p, sizeof *t->p * all);
    mcr_walk_bytes(w, t->square, sizeof *t->square * columns);
    mcr_walk_bytes(w, t->enough, sizeof *t->enough * columns);
    mcr_walk_count(w, &t->done);
    mcr_walk_count(w, t->steps);
    return w->status || !t->c->walk ? w->status : t->c->walk(t->c->self, w);
}

static mcr_status iterate(state *t, double *norm)
{
    const mcr_conjugate *c = t->c;
    bool done = is_done(t, norm), moved = true, found = false;
    mcr_status s = MCR_OK;
    for (int64_t o = 0; o < t->k && c->relative; o++)
        t->enough[o] *= t->norm[o];
    if (c->part)
        s = mcr_resume_find(c->ctx, c->part, walk, t, &found);
    if (!s && (c->relative || found))
        done = is_done(t, norm);
    for (; t->done < c->most && !done && !s; t->done++) {
        if (c->part && (s = mcr_resume_offer(c->ctx, c->part, walk, t)))
            break;
        s = turn(t);
        if (!s)
            s = step(t, &moved);
        if (s || !moved)
            break;
        ++*t->steps;
        if (c->stepped)
            c->stepped(c->self, t->length[0]);
        bool over = false;
        done = is_done(t, norm);
        if (c->over)
            s = c->over(c->self, *norm, &over);
        done |= over;
    }
    return s;
}

mcr_status mcr_conjugate_solve(const mcr_conjugate *c, const double *b, double *x, double *norm,
                               int64_t *steps)
{
    state t = {.c = c, .n = c->size, .k = c->columns > 1 ? c->columns : 1, .x = x, .steps = steps};
    mcr_team *team = mcr_team_of_rows(c->ctx);
    if (team && team->conjugate && t.k == 1)
        return team->conjugate(team, c, b, x, norm, steps);
    size_t all = (size_t)(t.n * t.k), k = (size_t)t.k;
    void *block = mcr_alloc_arrays(c->ctx, MCR_ARRAY(t.r, all), MCR_CLEARED(t.p, all),
                                   MCR_ARRAY(t.ap, all), MCR_ARRAY(t.z, c->precondition ? all : 0),
                                   MCR_CLEARED(t.square, k), MCR_ARRAY(t.length, k),
                                   MCR_ARRAY(t.norm, k), MCR_ARRAY(t.enough, k));
    if (!block)
        return MCR_NO_MEMORY;
    if (!c->precondition)
        t.z = t.r;
    for (int64_t o = 0; o < t.k; o++)
        t.enough[o] = c->enough;
    memset(x, 0, sizeof *x * all);
    memcpy(t.r, b, sizeof *b * all);
    mcr_status s = iterate(&t, norm);
    mcr_free(c->ctx, block);
    return s;
}
