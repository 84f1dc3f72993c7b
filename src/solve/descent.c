/* descent.c: BFGS with projection onto limits.
 *
 * The inverse Hessian is a dense matrix: there are few variables, and a value costs far more than
 * n^2. Variables at a limit whose slope pushes them against it are excluded from a step (Bertsekas,
 * 1982); for the others the step is Newton's with the matching part of the matrix, cut back until
 * the function falls enough (Armijo). Nocedal and Wright, Numerical Optimization, 2006, ch. 6 and
 * 16. It ends when the slope is small, or when several consecutive steps have gained next to
 * nothing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "solve/descent.h"

#include <math.h>
#include <string.h>

#include "base/context.h"
#include "linalg/blas.h"

enum { MOST_CUTS = 30 };

typedef struct descent {
    mcr *ctx;
    const mcr_descent *p;
    double began, took;            /* the last value and gradient */
    double *x, f;                  /* the best so far */
    double *g;                     /* its gradient */
    double *next, *d;              /* where to go; the step */
    double *s, *y, *hy;            /* last step, change of the gradient, H y */
    double *h;                     /* n x n */
    bool *held;                    /* by a limit */
    bool fresh;                    /* H knows nothing yet */
    int64_t taken;                 /* steps that were */
    double past[MCR_DESCENT_LOOK]; /* f before the last of them */
} descent;

/* By a limit that the slope pushes it against. */
static bool is_held(const descent *t, int64_t i)
{
    return (t->x[i] <= t->p->low[i] && t->g[i] > 0) || (t->x[i] >= t->p->high[i] && t->g[i] < 0);
}

static void forget(descent *t)
{
    int64_t n = t->p->n;
    memset(t->h, 0, sizeof *t->h * (size_t)(n * n));
    for (int64_t i = 0; i < n; i++)
        t->h[i * n + i] = 1;
    t->fresh = true;
}

/* With what is known of the curvature. */
static void begin(descent *t)
{
    const mcr_descent *p = t->p;
    forget(t);
    for (int64_t i = 0; i < p->n; i++)
        t->held[i] = is_held(t, i);
    if (p->inverse && p->inverse[0] > 0) {
        memcpy(t->h, p->inverse, sizeof *t->h * (size_t)(p->n * p->n));
        t->fresh = false;
    }
}

/* Which variables a limit stops; gives the largest slope of the others. H is forgotten when the set
 * changes. */
static double look(descent *t)
{
    double slope = 0;
    bool changed = false;
    for (int64_t i = 0; i < t->p->n; i++) {
        bool held = is_held(t, i);
        changed |= held != t->held[i];
        t->held[i] = held;
        slope = held ? slope : fmax(slope, fabs(t->g[i]));
    }
    if (changed)
        forget(t);
    return slope;
}

/* d = -H g on the free variables; the first time, with nothing known of curvature, of length 1 at
 * most. */
static void aim(descent *t)
{
    int64_t n = t->p->n;
    double length = 0;
    for (int64_t i = 0; i < n; i++) {
        t->d[i] = 0;
        for (int64_t j = 0; j < n && !t->held[i]; j++)
            t->d[i] -= t->held[j] ? 0 : t->h[i * n + j] * t->g[j];
        length += t->d[i] * t->d[i];
    }
    if (mcr_dot(t->d, t->g, n) >= 0 && !t->fresh) {
        forget(t);
        aim(t);
        return;
    }
    double most = t->p->longest > 0 ? t->p->longest : 3;
    most = t->fresh ? most / 3 : most;
    double scale = length > most * most ? most / sqrt(length) : 1;
    for (int64_t i = 0; i < n; i++)
        t->d[i] *= scale;
}

/* Ends where another step would be late. */
static bool must_stop(descent *t, mcr_descent_result *r)
{
    if (mcr_report_step(t->ctx, t->p->phase, mcr_now() - t->began, r->steps, t->f, r->slope))
        r->stop = MCR_STOP_INTERRUPTED;
    else if (t->p->most_steps && r->steps >= t->p->most_steps)
        r->stop = MCR_STOP_STEPS;
    else if (t->p->deadline > 0 && mcr_now() + t->took > t->p->deadline)
        r->stop = MCR_STOP_TIME;
    else
        return false;
    return true;
}

/* Goes along d until f falls enough. *moved: it did. */
static mcr_status search(descent *t, mcr_descent_result *r, bool *moved)
{
    const mcr_descent *p = t->p;
    double step = 1;
    *moved = false;
    for (int cut = 0; cut < MOST_CUTS; cut++) {
        double expected = 0, f;
        for (int64_t i = 0; i < p->n; i++) {
            t->next[i] = fmin(fmax(t->x[i] + step * t->d[i], p->low[i]), p->high[i]);
            expected += t->g[i] * (t->next[i] - t->x[i]);
        }
        mcr_status s = p->value(p->arg, t->next, &f);
        r->steps++;
        if (s)
            return s;
        if (f <= t->f + 1e-4 * expected && expected < 0) {
            for (int64_t i = 0; i < p->n; i++) {
                t->s[i] = t->next[i] - t->x[i];
                t->x[i] = t->next[i];
            }
            t->f = f;
            *moved = true;
            return MCR_OK;
        }
        if (must_stop(t, r))
            return MCR_OK;
        /* The lowest point of the parabola through what is known, within reason. */
        double curve = f - t->f - expected;
        double best = isfinite(f) && curve > 0 ? -0.5 * expected / curve : 0.1;
        step *= fmin(fmax(best, 0.1), 0.5);
    }
    return MCR_OK;
}

/* H += ... so that H y = s (BFGS); the first time H is scaled to the curvature seen. */
static void learn(descent *t)
{
    int64_t n = t->p->n;
    double sy = mcr_dot(t->s, t->y, n), yy = mcr_dot(t->y, t->y, n);
    if (!(sy > 1e-12 * sqrt(mcr_dot(t->s, t->s, n) * yy)))
        return;
    for (int64_t i = 0; i < n && t->fresh; i++)
        t->h[i * n + i] = sy / yy;
    t->fresh = false;
    for (int64_t i = 0; i < n; i++)
        t->hy[i] = mcr_dot(t->h + i * n, t->y, n);
    double scale = (1 + mcr_dot(t->y, t->hy, n) / sy) / sy;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            t->h[i * n + j] += scale * t->s[i] * t->s[j] -
                               (t->hy[i] * t->s[j] + t->s[i] * t->hy[j]) / sy;
}

/* What the last steps gained; NAN: there were not so many. */
static double gained(const descent *t)
{
    return t->taken < MCR_DESCENT_LOOK ? NAN : t->past[t->taken % MCR_DESCENT_LOOK] - t->f;
}

static mcr_status iterate(descent *t, mcr_descent_result *r)
{
    const mcr_descent *p = t->p;
    double since = mcr_now();
    mcr_status s = p->value(p->arg, t->x, &t->f);
    r->steps = 1;
    if (!s && !isfinite(t->f)) {
        *r = (mcr_descent_result){
            .stop = MCR_STOP_STUCK, .steps = 1, .f = t->f, .slope = NAN, .gained = NAN};
        return MCR_OK;
    }
    if (!s)
        s = p->gradient(p->arg, t->g);
    begin(t);
    while (!s) {
        bool moved;
        double now = mcr_now();
        t->took = now - since;
        since = now;
        r->f = t->f;
        r->slope = look(t);
        r->gained = gained(t);
        r->stop = MCR_STOP_LOCAL;
        if (r->slope <= p->tolerance || must_stop(t, r))
            break;
        r->flat = p->gain > 0 && r->gained <= p->gain;
        if (r->flat)
            break;
        aim(t);
        t->past[t->taken % MCR_DESCENT_LOOK] = t->f;
        r->stop = MCR_STOP_STUCK;
        s = search(t, r, &moved);
        if (s || !moved)
            break;
        t->taken++;
        memcpy(t->y, t->g, sizeof *t->y * (size_t)p->n);
        s = p->gradient(p->arg, t->g);
        for (int64_t i = 0; i < p->n; i++)
            t->y[i] = t->g[i] - t->y[i];
        learn(t);
    }
    return s;
}

mcr_status mcr_descent_solve(mcr *ctx, const mcr_descent *p, double *x, mcr_descent_result *result)
{
    size_t n = (size_t)p->n;
    *result = (mcr_descent_result){.f = NAN, .slope = NAN, .gained = NAN};
    descent t = {.ctx = ctx, .p = p, .began = mcr_now(), .x = x, .fresh = true};
    void *block = mcr_alloc_arrays(ctx, MCR_CLEARED(t.g, n), MCR_CLEARED(t.next, n),
                                   MCR_CLEARED(t.d, n), MCR_CLEARED(t.s, n), MCR_CLEARED(t.y, n),
                                   MCR_CLEARED(t.hy, n), MCR_ARRAY(t.h, (uint64_t)n * n),
                                   MCR_CLEARED(t.held, n));
    mcr_status s = block ? iterate(&t, result) : MCR_NO_MEMORY;
    if (!s && p->inverse && t.fresh)
        p->inverse[0] = 0;
    else if (!s && p->inverse)
        memcpy(p->inverse, t.h, sizeof *t.h * n * n);
    mcr_free(ctx, block);
    return s;
}
