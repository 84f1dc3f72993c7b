/* coordinate.c: support vector machines with many features and sparse rows, by dual coordinate
 * descent.
 *
 * One coefficient is changed at a time, in a new random order in each sweep; w = D'b is kept, so a
 * step is two passes over one row. Coefficients that are certain to stay at their bound are shrunk
 * until the others have converged (Hsieh, Chang, Lin, Keerthi and Sundararajan, ICML 2008).
 *
 * Their bias is penalised like a weight. Here the sum of b must be 0, as in the dual form. This is
 * enforced by the method of multipliers, with the penalty rho / 2 (sum of b)^2, which is an
 * additional feature of the value sqrt(rho), and the multiplier, which is the bias. A few rounds
 * are enough, because rho is far above the curvature along the bias if many coefficients are free.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>

#include "base/context.h"
#include "base/random.h"
#include "base/resume.h"
#include "solve/linear.h"

enum { MOST_SWEEPS = 100000 }; /* slower than that is stuck */

typedef struct state {
    mcr *ctx;
    mcr_gram *d;
    const mcr_factor *rows;
    const mcr_qp *p;
    mcr_qp_result *result;
    double *b, *w, *square;
    int64_t *order, active, movable;     /* those with lo < hi */
    double rho, bias, sum, wanted;       /* sum of b, kept along */
    double high, low, old_high, old_low; /* of the slopes in a sweep, and for leaving */
    uint64_t sweep;
    double began;
    double goal; /* of this round */
    int round;
    bool goes_on; /* the state was read, and has not been taken up yet */
    char part[MCR_PART_NAME];
} state;

static mcr_status open_state(state *t, mcr_gram *d, const mcr_qp *p, double *b, double *w,
                             mcr_qp_result *r)
{
    *t = (state){.ctx = mcr_gram_context(d),
                 .d = d,
                 .rows = mcr_gram_sparse(d),
                 .p = p,
                 .result = r,
                 .b = b,
                 .w = w,
                 .began = mcr_now()};
    t->square = mcr_alloc(t->ctx, (size_t)p->n, sizeof *t->square);
    t->order = mcr_alloc(t->ctx, (size_t)p->n, sizeof *t->order);
    if (!t->square || !t->order)
        return MCR_NO_MEMORY;
    mcr_status s = mcr_gram_squares(d, mcr_gram_all(d), t->square);
    if (!s)
        s = mcr_gram_project(d, mcr_gram_all(d), b, 1, w);
    double sum = 0;
    for (int64_t i = 0; i < p->n && !s; i++) {
        sum += t->square[i];
        t->wanted += b[i];
    }
    t->rho = p->no_sum ? 0 : sum > 0 ? sum / (double)p->n : 1;
    return s;
}

static void all_active(state *t)
{
    t->active = 0;
    for (int64_t i = 0; i < t->p->n; i++)
        if (t->p->lo[i] < t->p->hi[i])
            t->order[t->active++] = i;
    t->movable = t->active;
    t->old_high = INFINITY;
    t->old_low = -INFINITY;
}

/* One step of coefficient i; false: it may leave. */
static bool step(state *t, int64_t i)
{
    const mcr_factor *d = t->rows;
    int64_t r = d->row ? d->row[i] : i, first = d->start[r], end = d->start[r + 1];
    const int32_t *index = d->index + first;
    const double *value = d->value + first;
    double lo = t->p->lo[i], hi = t->p->hi[i], old = t->b[i];
    double part[2] = {t->bias + t->rho * t->sum - t->p->z[i], 0};
    int64_t e = 0, count = end - first;
    for (; e + 2 <= count; e += 2) {
        part[0] += value[e] * t->w[index[e]];
        part[1] += value[e + 1] * t->w[index[e + 1]];
    }
    if (e < count)
        part[0] += value[e] * t->w[index[e]];
    double slope = part[0] + part[1], seen = slope;
    if (old <= lo) {
        if (slope > t->old_high)
            return false;
        seen = fmin(slope, 0);
    } else if (old >= hi) {
        if (slope < t->old_low)
            return false;
        seen = fmax(slope, 0);
    }
    t->high = fmax(t->high, seen);
    t->low = fmin(t->low, seen);
    double bend = t->square[i] + t->rho;
    if (fabs(seen) < 1e-15 || !(bend > 0))
        return true;
    double now = fmin(fmax(old - slope / bend, lo), hi), change = now - old;
    t->b[i] = now;
    t->sum += change;
    for (e = 0; e < count; e++)
        t->w[index[e]] += change * value[e];
    return true;
}

static void sweep(state *t)
{
    mcr_random r = mcr_random_stream(mcr_seed(t->ctx), "coordinate descent", t->sweep++);
    mcr_random_shuffle(&r, t->order, t->active);
    t->high = -INFINITY;
    t->low = INFINITY;
    for (int64_t k = 0; k < t->active;) {
        if (step(t, t->order[k])) {
            k++;
            continue;
        }
        int64_t gone = t->order[k];
        t->order[k] = t->order[--t->active];
        t->order[t->active] = gone;
    }
    t->result->steps++;
}

/* Between two sweeps, for a checkpoint. */
static mcr_status walk(void *self, mcr_walk *w)
{
    state *t = self;
    size_t n = (size_t)t->p->n;
    mcr_walk_same(w, t->p->n);
    mcr_walk_same(w, t->rows->p);
    mcr_walk_bytes(w, t->b, sizeof *t->b * n);
    mcr_walk_bytes(w, t->w, sizeof *t->w * (size_t)t->rows->p);
    mcr_walk_bytes(w, t->order, sizeof *t->order * n);
    double *number[] = {&t->bias, &t->sum, &t->old_high, &t->old_low, &t->goal};
    for (size_t i = 0; i < sizeof number / sizeof *number; i++)
        MCR_WALK(w, *number[i]);
    MCR_WALK(w, t->active);
    MCR_WALK(w, t->sweep);
    MCR_WALK(w, t->round);
    mcr_qp_walk_result(t->result, w);
    bool sound = t->active >= 0 && t->active <= t->movable && t->round >= 0;
    for (int64_t k = 0; k < t->movable && sound; k++)
        sound = t->order[k] >= 0 && t->order[k] < t->p->n;
    return w->status || sound ? w->status : mcr_walk_refuse(w);
}

/* Sweeps until all slopes are within the goal, including those of shrunk coefficients if `all`;
 * *over: a limit was reached. */
static mcr_status descend(state *t, bool all, bool *over)
{
    mcr_status s = MCR_OK;
    if (!t->goes_on) {
        t->old_high = INFINITY; /* the slopes may have moved with the bias */
        t->old_low = -INFINITY;
    }
    t->goes_on = false;
    while (t->sweep < MOST_SWEEPS && !(s = mcr_resume_offer(t->ctx, t->part, walk, t))) {
        sweep(t);
        double violation = t->active ? fmax(t->high, 0) - fmin(t->low, 0) : 0;
        s = mcr_linear_is_over(t->d, t->p, t->began, violation, t->result, over);
        if (s || *over)
            break;
        if (violation <= t->goal) {
            if (t->active == t->movable || !all)
                break;
            all_active(t);
            continue;
        }
        t->old_high = t->high > 0 ? t->high : INFINITY;
        t->old_low = t->low < 0 ? t->low : -INFINITY;
    }
    return s;
}

static mcr_status finish(state *t, double *g)
{
    mcr_status s = mcr_linear_balance(t->d, t->p, t->wanted, t->b);
    if (!s)
        s = mcr_linear_evaluate(t->d, t->p, t->b, g, t->w, t->result);
    t->sum = -t->wanted;
    for (int64_t i = 0; i < t->p->n; i++)
        t->sum += t->b[i];
    return s;
}

mcr_status mcr_linear_descent(mcr_gram *d, const mcr_qp *p, double *b, double *g, double *w,
                              mcr_qp_result *result)
{
    enum { ROUNDS = 400 };
    state t;
    bool over = false, evaluated = false;
    *result = (mcr_qp_result){.stop = MCR_STOP_OPTIMAL};
    mcr_status s = open_state(&t, d, p, b, w, result);
    if (!s)
        all_active(&t);
    t.goal = p->no_sum ? 0.5 * p->tolerance : fmax(0.5 * p->tolerance, 0.3);
    if (p->part)
        mcr_resume_name(t.ctx, p->part, t.part);
    if (!s)
        s = mcr_resume_find(t.ctx, t.part, walk, &t, &t.goes_on);
    for (; t.round < ROUNDS && t.sweep < MOST_SWEEPS && !s; t.round++) {
        bool last = t.goal <= 0.5 * p->tolerance;
        if ((s = descend(&t, last, &over)))
            break;
        double off = t.rho * t.sum;
        t.bias += off;
        if (over || (last && fabs(off) <= 0.5 * p->tolerance)) {
            s = finish(&t, g);
            evaluated = true;
            if (over || s || mcr_linear_worst(result) <= p->tolerance)
                break;
            t.goal *= 0.25;
        } else {
            t.goal = fmax(0.5 * p->tolerance, fmin(0.3 * t.goal, fabs(off)));
            evaluated = false;
        }
    }
    if (!s && !evaluated)
        s = finish(&t, g);
    if (!s && !over && !(mcr_linear_worst(result) <= p->tolerance))
        result->stop = MCR_STOP_STUCK;
    if (!s && mcr_linear_worst(result) <= p->tolerance)
        result->stop = MCR_STOP_OPTIMAL;
    mcr_free_all(t.ctx, t.square, t.order);
    return s;
}
