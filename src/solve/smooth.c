/* smooth.c: support vector machines with few features, by Newton's method on a smoothed hinge.
 *
 *   min 1/2 |w|^2 + sum over i of max over lo <= b <= hi of  -b s - h / (2 (hi - lo)) (b -
 *   middle)^2
 *
 * with the slopes s = Dw + bias - z: the primal problem, with its kinks rounded off over a width of
 * h. The best b is a function of s, straight from hi to lo where |s| < h / 2, and at the optimum w
 * = D'b. So that b is a solution of the original problem whose conditions are violated by h at
 * most: h need not become smaller than the tolerance.
 *
 * The Hessian 1 + D' diag D has the objects within the width alone, fewer the smaller h is; a step
 * is one product with D and what changed in D'b. h shrinks as soon as the step was small against
 * the error that it stands for. The line search is exact.
 *
 * Where a product with D is a pass over kernel values, objects far from the width are left out of
 * it (smooth_rows.c), and passes take floats as long as what these leave is small against h.
 *
 * The first weights come from a sample in which each object counts for several; samples grow
 * fourfold, which halves the error, and h with it.
 *
 * If rows are spread over several processes, each has the slopes and coefficients of its own rows;
 * weights, widths and decisions are the same in all, because they follow from sums over all rows.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <string.h>

#include "base/context.h"
#include "base/random.h"
#include "base/resume.h"
#include "gram/round.h"
#include "solve/smooth_impl.h"

enum {
    SAMPLE = 2048,    /* objects to begin with, at least */
    PER_FEATURE = 16, /* and for each feature */
    TRIES = 8         /* ends: with smaller widths, or with objects that had been left out */
};

#define FIRST_WIDTH 4.0
#define SAMPLE_END  0.25 /* of h in the first sample */
#define SHRINK      0.25 /* of h */
#define SLACK       0.8  /* h at the end, of the tolerance */

/* ---- space ------------------------------------------------------------------------------------*/

static mcr_status is_over(void *self, bool *yes)
{
    const mcr_hinge *t = self;
    return mcr_linear_is_over(t->d, t->p, t->began, t->h, t->result, yes);
}

static mcr_status open_state(mcr_hinge *t, mcr_gram *d, const mcr_qp *p, mcr_qp_result *r)
{
    *t = (mcr_hinge){.ctx = mcr_gram_context(d),
                     .d = d,
                     .n = p->n,
                     .wide = mcr_gram_width(d),
                     .p = p,
                     .result = r,
                     .floats = mcr_gram_is_restricted(d),
                     .began = mcr_now()};
    size_t n = (size_t)t->n, f = (size_t)t->wide;
    if (!mcr_alloc_arrays(t->ctx, MCR_ARRAY(t->z, n), /* the block to free */ MCR_ARRAY(t->lo, n),
                          MCR_ARRAY(t->hi, n), MCR_ARRAY(t->s, n), MCR_ARRAY(t->ds, n),
                          MCR_ARRAY(t->b, n), MCR_ARRAY(t->change, n), MCR_ARRAY(t->weight, n),
                          MCR_ARRAY(t->row, n), MCR_ARRAY(t->list, n), MCR_ARRAY(t->list_source, n),
                          MCR_ARRAY(t->close, n), MCR_ARRAY(t->guard, n), MCR_CLEARED(t->held, n),
                          MCR_CLEARED(t->w, f), MCR_CLEARED(t->sum, f), MCR_CLEARED(t->u, f),
                          MCR_CLEARED(t->edge, f), MCR_ARRAY(t->right, 2 * f),
                          MCR_ARRAY(t->found, MCR_HINGE_FOUND * (n / MCR_HINGE_CHUNK + 1))))
        return MCR_NO_MEMORY;
    t->near.count = -1;
    mcr_status s = mcr_gram_place(d, t->n, &t->first, &t->every);
    if (!s)
        s = mcr_system_open(&t->m, t->ctx, t->wide, p->phase ? p->phase : "svm");
    if (!s)
        s = mcr_sampled_open(&t->sampled, d, &t->m);
    t->sampled.is_over = is_over;
    t->sampled.self = t;
    return s;
}

static void close_state(mcr_hinge *t)
{
    mcr_free(t->ctx, t->z);
    mcr_sampled_close(&t->sampled);
    mcr_system_close(&t->m);
}

/* ---- one step ---------------------------------------------------------------------------------*/

/* Lists the objects within `width`; *error: what these make of the objective. */
static void pick(mcr_hinge *t, double width, double *error)
{
    t->count = 0;
    *error = 0;
    for (int64_t k = 0; k < mcr_hinge_members(t); k++) {
        int64_t i = mcr_hinge_member(t, k);
        if (fabs(t->s[i]) < 0.5 * width && t->lo[i] < t->hi[i]) {
            t->list[t->count++] = i;
            *error += (t->hi[i] - t->lo[i]) * width / 8;
        }
    }
}

/* Weights of the list times the width, and the row of the bias; *corner: what the list adds to its
 * last element. */
static mcr_status set_weights(mcr_hinge *t, mcr_rows part, double *corner)
{
    *corner = 0;
    for (int64_t k = 0; k < t->count; k++) {
        t->weight[k] = t->hi[t->list[k]] - t->lo[t->list[k]];
        *corner += t->weight[k] / t->h;
    }
    mcr_status s = mcr_gram_project(t->d, part, t->weight, 1, t->edge);
    for (int64_t k = 0; k < t->wide && !s; k++)
        t->edge[k] /= t->h;
    return s;
}

/* Solves with 1 + D' diag D of the list. */
static mcr_status solve_listed(mcr_hinge *t, mcr_rows part, int64_t cols, double *x)
{
    if (t->sampled.row)
        return mcr_sampled_solve(&t->sampled, part, t->weight, t->h, cols, x);
    for (int64_t k = 0; k < t->count; k++)
        t->weight[k] /= t->h;
    mcr_status s = mcr_gram_fill_weighted(t->d, &t->m, part, t->weight);
    if (!s)
        s = mcr_system_factor(&t->m, 1, NULL, NULL);
    return s ? s : mcr_system_solve(&t->m, cols, x);
}

static void add_coefficients(mcr_hinge *t, int64_t first, int64_t end, double *found)
{
    for (int64_t i = first; i < end; i++) {
        found[0] += t->b[i];
        found[1] += t->hi[i] - t->lo[i];
    }
}

/* Newton's direction u, dbias, ds; *gain: minus the derivative along it; *error: of the listed
 * objects, to be added up over all processes. */
static mcr_status direct(mcr_hinge *t, double *gain, double *error)
{
    int64_t p = t->wide, cols = t->p->no_sum ? 1 : 2;
    double corner, sum[MCR_HINGE_FOUND];
    mcr_rows part = mcr_hinge_listed(t);
    mcr_status s = set_weights(t, part, &corner);
    for (int64_t k = 0; k < p && !s; k++) {
        t->right[k * cols] = t->sum[k] - t->w[k];
        if (cols == 2)
            t->right[k * 2 + 1] = t->edge[k];
    }
    if (!s)
        s = solve_listed(t, part, cols, t->right);
    if (s)
        return s;
    mcr_hinge_over(t, t->at.count, add_coefficients, sum);
    sum[2] = corner;
    sum[3] = *error;
    s = mcr_gram_total(t->d, sum, 4);
    *error = sum[3];
    double off = sum[0] - t->wanted, side = off;
    /* Where no object is within the width, the line search knows how far to go. */
    double bend = corner = fmax(sum[2], 1e-3 * sum[1]);
    for (int64_t k = 0; k < p && cols == 2; k++) {
        bend -= t->edge[k] * t->right[k * 2 + 1];
        side -= t->edge[k] * t->right[k * 2];
    }
    t->dbias = cols == 2 ? side / fmax(bend, 1e-14 * corner) : 0;
    *gain = off * t->dbias;
    for (int64_t k = 0; k < p; k++) {
        t->u[k] = t->right[k * cols] - (cols == 2 ? t->dbias * t->right[k * 2 + 1] : 0);
        *gain += (t->sum[k] - t->w[k]) * t->u[k];
    }
    return s ? s : mcr_hinge_expand_members(t);
}

/* Along the line: what the objects give to the first and second derivatives. */
static void look(mcr_hinge *t, int64_t first, int64_t end, double *found)
{
    double slope = 0, bend = 0, half = 0.5 * t->h;
    for (int64_t k = first; k < end; k++) {
        int64_t i = mcr_hinge_member(t, k);
        double s = t->s[i] + t->step * t->ds[i];
        slope -= mcr_hinge_best(t, i, s) * t->ds[i];
        bend += fabs(s) < half ? (t->hi[i] - t->lo[i]) * t->ds[i] * t->ds[i] : 0;
    }
    found[0] = slope;
    found[1] = bend / t->h;
}

/* Where the derivative along the direction is all but 0: Newton's method between bounds. */
static mcr_status search(mcr_hinge *t, double gain)
{
    enum { MOST = 40 };
    double wu = 0, uu = 0, low = 0, high = INFINITY, others, sum[MCR_HINGE_FOUND];
    mcr_status s = mcr_hinge_slope_of_others(t, &others);
    for (int64_t k = 0; k < t->wide; k++) {
        wu += t->w[k] * t->u[k];
        uu += t->u[k] * t->u[k];
    }
    others += t->wanted * t->dbias;
    t->step = 1;
    for (int i = 0; i < MOST && !s; i++) {
        mcr_hinge_over(t, mcr_hinge_members(t), look, sum);
        s = mcr_gram_total(t->d, sum, 2);
        double slope = wu + t->step * uu + sum[0] + others, bend = uu + sum[1];
        if (s || fabs(slope) <= 0.05 * gain)
            return s;
        if (slope > 0)
            high = t->step;
        else
            low = t->step;
        double next = t->step - slope / bend, most = isinf(high) ? 10 * t->step : high;
        t->step = next > low && next < most ? next : isinf(high) ? most : 0.5 * (low + high);
    }
    return s;
}

static void move(mcr_hinge *t, int64_t first, int64_t end, double *found)
{
    (void)found;
    for (int64_t k = first; k < end; k++) {
        int64_t i = mcr_hinge_member(t, k);
        t->s[i] += t->step * t->ds[i];
    }
}

static mcr_status take_step(mcr_hinge *t)
{
    double sum[MCR_HINGE_FOUND];
    mcr_hinge_over(t, mcr_hinge_members(t), move, sum);
    mcr_status s = mcr_hinge_watch(t);
    for (int64_t k = 0; k < t->wide; k++)
        t->w[k] += t->step * t->u[k];
    t->bias += t->step * t->dbias;
    t->off += fabs(t->step) * t->off_step;
    t->result->steps++;
    return s ? s : mcr_hinge_renew(t);
}

/* *gain: about twice what the step was to gain; *error: what the width may make of the
 * objective. */
static mcr_status advance(mcr_hinge *t, double *gain, double *error)
{
    pick(t, t->h, error);
    mcr_status s = direct(t, gain, error);
    if (!s)
        s = search(t, *gain);
    return s ? s : take_step(t);
}

/* Goes on to a smaller width, to where the solution is if the same objects are within it. */
static mcr_status narrow(mcr_hinge *t, double h)
{
    double error, gain;
    pick(t, t->h, &error);
    t->h = h;
    for (int64_t k = 0; k < t->count; k++) { /* b on the same line, beyond the bounds too */
        int64_t i = t->list[k];
        double now = t->lo[i] + (0.5 - t->s[i] / h) * (t->hi[i] - t->lo[i]);
        t->weight[k] = now - t->b[i];
        t->b[i] = now;
    }
    mcr_status s = mcr_hinge_add_changes(t);
    if (!s)
        s = direct(t, &gain, &error);
    t->step = 1;
    return s ? s : take_step(t);
}

/* ---- samples ----------------------------------------------------------------------------------*/

/* Where run i of `count` runs of n objects begins: i n / count, but n count may be too large. */
static int64_t run_start(int64_t i, int64_t n, int64_t count)
{
    return i * (n / count) + i * (n % count) / count;
}

/* One object of each of `count` runs of equal length, with bounds in proportion; count = n: all.
 * Then the slopes and coefficients for the weights that there are. */
static mcr_status take_sample(mcr_hinge *t, int64_t count, uint64_t number)
{
    int64_t n = t->every, own = 0;
    int64_t begin = count < n ? 0 : t->first, end = count < n ? count : t->first + t->n;
    double sum[2] = {0, 0}; /* of all, and of these */
    mcr_random r = mcr_random_stream(mcr_seed(t->ctx), "sample of objects", number);
    for (int64_t i = begin; i < end; i++) { /* of other processes, too: the numbers are the same */
        int64_t first = run_start(i, n, count), length = run_start(i + 1, n, count) - first;
        int64_t row = first + (length > 1 ? mcr_random_below(&r, length) : 0) - t->first;
        if (row < 0 || row >= t->n)
            continue;
        t->row[own++] = row;
        sum[1] += t->p->hi[row] - t->p->lo[row];
    }
    for (int64_t i = 0; i < t->n; i++)
        sum[0] += t->p->hi[i] - t->p->lo[i];
    mcr_status s = mcr_gram_total(t->d, sum, 2);
    double factor = count < n && sum[1] > 0 ? sum[0] / sum[1] : 1;
    for (int64_t i = 0; i < own; i++) {
        t->z[i] = t->p->z[t->row[i]];
        t->lo[i] = factor * t->p->lo[t->row[i]];
        t->hi[i] = factor * t->p->hi[t->row[i]];
        t->b[i] = 0;
    }
    t->at = count < n ? (mcr_rows){t->row, 0, own} : mcr_gram_all(t->d);
    t->some = count;
    t->near.count = -1;
    memset(t->held, 0, sizeof *t->held * (size_t)own);
    t->near.gap = t->near.least = 0; /* not known yet: guards say if they are larger */
    return s ? s : mcr_hinge_start(t, false);
}

/* ---- all of it --------------------------------------------------------------------------------*/

/* The coefficients of all objects, evaluated. */
static mcr_status evaluate(mcr_hinge *t, double *b, double *g, double *w)
{
    memcpy(b, t->b, sizeof *b * (size_t)t->n);
    mcr_status s = mcr_linear_balance(t->d, t->p, t->wanted, b);
    t->result->violation = INFINITY; /* until it is known */
    if (s)
        return s;
    if (!mcr_gram_is_restricted(t->d))
        return mcr_linear_evaluate(t->d, t->p, b, g, w, t->result);
    memcpy(w, t->sum, sizeof *w * (size_t)t->wide);
    return mcr_linear_evaluate_at(t->d, t->p, b, t->reach, g, w, t->result);
}

/* How far w = D'b is from being true, in the slopes of an object. */
static double residual(const mcr_hinge *t)
{
    double square = 0;
    for (int64_t k = 0; k < t->wide; k++)
        square += (t->sum[k] - t->w[k]) * (t->sum[k] - t->w[k]);
    return sqrt(square) * t->reach;
}

static void walk_place(mcr_hinge *t, mcr_walk *w)
{
    int *number[] = {&t->place.tries, &t->place.steps, &t->place.idle};
    mcr_walk_flag(w, &t->place.all);
    MCR_WALK(w, t->place.number);
    MCR_WALK(w, t->place.size);
    MCR_WALK(w, t->place.end);
    MCR_WALK(w, t->place.last);
    for (size_t i = 0; i < sizeof number / sizeof *number; i++) {
        MCR_WALK(w, *number[i]);
        if (w->reads && !w->status && *number[i] < 0)
            mcr_walk_refuse(w);
    }
    if (w->reads && !w->status && t->place.tries >= TRIES)
        mcr_walk_refuse(w);
}

/* What steps made of the objects that take part. */
static mcr_status walk_objects(mcr_hinge *t, mcr_walk *w)
{
    size_t n = sizeof(double) * (size_t)t->at.count;
    mcr_walk_bytes(w, t->sum, sizeof *t->sum * (size_t)t->wide);
    mcr_walk_bytes(w, t->b, n);
    mcr_walk_bytes(w, t->s, n);
    MCR_WALK(w, t->near);
    MCR_WALK(w, t->off);
    mcr_walk_bytes(w, t->held, sizeof *t->held * (size_t)t->at.count);
    if (w->status)
        return w->status;
    if (t->near.count > t->at.count || t->near.guards < 0 ||
        t->near.guards > t->at.count - (t->near.count > 0 ? t->near.count : 0))
        return mcr_walk_refuse(w);
    if (t->near.count > 0)
        mcr_walk_bytes(w, t->close, sizeof *t->close * (size_t)t->near.count);
    mcr_walk_bytes(w, t->guard, sizeof *t->guard * (size_t)t->near.guards);
    for (int64_t k = 0; k < t->near.count && w->reads && !w->status; k++)
        if (t->close[k] <= (k ? t->close[k - 1] : -1) || t->close[k] >= t->at.count)
            return mcr_walk_refuse(w);
    for (int64_t k = 0; k < t->near.guards && w->reads && !w->status; k++)
        if (t->guard[k] < 0 || t->guard[k] >= t->at.count)
            return mcr_walk_refuse(w);
    return w->status ? w->status : mcr_sampled_walk(&t->sampled, w);
}

/* Between two steps. The sample is taken again; what the steps made of it is read. If rows are
 * spread, no process has all of that, and it is computed from the weights. */
static mcr_status walk(void *self, mcr_walk *w)
{
    mcr_hinge *t = self;
    bool spread = mcr_gram_is_spread(t->d), objects = !spread;
    mcr_walk_same(w, t->every);
    mcr_walk_same(w, t->wide);
    walk_place(t, w);
    mcr_qp_walk_result(t->result, w);
    MCR_WALK(w, t->h);
    MCR_WALK(w, t->bias);
    mcr_walk_bytes(w, t->w, sizeof *t->w * (size_t)t->wide);
    mcr_walk_flag(w, &t->floats);
    mcr_walk_flag(w, &objects);
    mcr_status s = w->status;
    if (!s && w->reads)
        s = t->place.size < (t->place.all ? t->every : 1) || t->place.size > t->every
                ? mcr_walk_refuse(w)
                : take_sample(t, t->place.size, t->place.number);
    return s || spread || !objects ? s : walk_objects(t, w);
}

/* Looks at all objects where one that was left out came near, or floats are too rough; then leaves
 * out those that are far. */
static mcr_status look_around(mcr_hinge *t)
{
    bool crossed, some;
    mcr_status s = mcr_hinge_is_crossed(t, &crossed);
    if (s)
        return s;
    if (crossed)
        t->near.least = 2 * t->near.border;
    if (crossed || t->off > MCR_HINGE_STALE * t->h)
        s = mcr_hinge_start(t, !crossed);
    if (crossed && !s)
        s = mcr_hinge_hold(t, &some);
    if (!s)
        s = mcr_hinge_leave_out(t);
    t->near.least *= 0.5;
    return s;
}

/* Steps until the width is `last` and what there is to gain is small against the error that the
 * width stands for, or, if this is the end, until w = D'b, too; *over: a limit was reached. */
static mcr_status descend(mcr_hinge *t, double last, bool end, bool *over)
{
    enum { MOST = 300, PATIENCE = 8 };
    double gain = 0, error = 0;
    mcr_status s = MCR_OK;
    if (!t->goes_on)
        t->place.steps = t->place.idle = 0;
    t->goes_on = false;
    for (; t->place.steps < MOST && t->place.idle < PATIENCE && !s; t->place.steps++) {
        if ((s = is_over(t, over)) || *over)
            return s;
        if ((s = mcr_resume_offer(t->ctx, t->part, walk, t)))
            break;
        s = look_around(t);
        if (!s)
            s = advance(t, &gain, &error);
        mcr_log(
            t->ctx, MCR_LOG_DEBUG,
            "smoothed hinge: %lld objects, width %.2g, step %.2g, gain %.2g, error %.2g; %.3f s",
            (long long)(t->near.count < 0 ? t->at.count : t->near.count), t->h, t->step, gain,
            error, mcr_now() - t->began);
        bool last_width = t->h <= last, small = !(gain > 0.1 * error);
        if (s || !small)
            continue;
        if (last_width && (!end || residual(t) <= 0.1 * t->p->tolerance))
            break;
        t->place.idle += last_width && !(gain > 1e-9 * error);
        if (!last_width)
            s = narrow(t, fmax(SHRINK * t->h, last));
    }
    return s;
}

/* The longest row, or of some, twice: features are rounded, and some are not all. */
static mcr_status measure(mcr_hinge *t)
{
    if (mcr_gram_is_restricted(t->d)) {
        mcr_status s = mcr_gram_longest(t->d, &t->reach);
        t->reach *= 2;
        return s;
    }
    int64_t n = t->n, count = n < SAMPLE ? n : SAMPLE;
    for (int64_t i = 0; i < count; i++)
        t->row[i] = i * n / count;
    mcr_status s = mcr_gram_squares(t->d, (mcr_rows){t->row, 0, count}, t->s);
    for (int64_t i = 0; i < count && !s; i++)
        t->reach = fmax(t->reach, 2 * sqrt(t->s[i]));
    return s;
}

/* From small samples to large ones, each from the solution of the one before. */
static mcr_status solve_samples(mcr_hinge *t, bool *over)
{
    int64_t size = PER_FEATURE * t->wide;
    mcr_status s = MCR_OK;
    if (!t->goes_on) {
        t->place.size = size > SAMPLE ? size : SAMPLE;
        t->place.end = SAMPLE_END;
        t->h = FIRST_WIDTH;
    }
    for (; 3 * t->place.size <= t->every && !s && !*over; t->place.number++, t->place.size *= 4) {
        if (!t->goes_on)
            s = take_sample(t, t->place.size, t->place.number);
        if (!s)
            s = descend(t, t->place.end, false, over);
        t->place.end *= 0.5;
    }
    return s;
}

static mcr_status solve(mcr_hinge *t, double *b, double *g, double *w)
{
    bool over = false;
    mcr_status s = measure(t);
    if (t->p->part)
        mcr_resume_name(t->ctx, t->p->part, t->part);
    if (!s)
        s = mcr_resume_find(t->ctx, t->part, walk, t, &t->goes_on);
    if (!s && !t->place.all)
        s = solve_samples(t, &over);
    if (!s && !t->place.all) {
        t->place.all = true;
        t->place.size = t->every;
        t->place.number = 0;
        t->place.last = SLACK * t->p->tolerance;
        t->h = over ? t->place.last : fmax(t->h, t->place.last);
        s = take_sample(t, t->every, 0);
    }
    for (; t->place.tries < TRIES && !s; t->place.tries++) {
        if (!over)
            s = descend(t, t->place.last, true, &over);
        if (!s)
            s = evaluate(t, b, g, w);
        if (s || over || mcr_linear_worst(t->result) <= t->p->tolerance)
            break;
        bool some_out = t->near.count >= 0, came = false;
        if (some_out || t->off > 0)
            s = mcr_hinge_start(t, true);
        if (!s && some_out)
            s = mcr_hinge_hold(t, &came);
        t->place.last *= came ? 1 : 0.5;
        t->floats = false;
        t->near.least = t->place.tries > TRIES / 2 ? INFINITY : t->near.least;
    }
    if (!s && mcr_linear_worst(t->result) <= t->p->tolerance)
        t->result->stop = MCR_STOP_OPTIMAL;
    else if (!over)
        t->result->stop = MCR_STOP_STUCK;
    return s;
}

mcr_status mcr_linear_smooth(mcr_gram *d, const mcr_qp *p, double *b, double *g, double *w,
                             mcr_qp_result *result)
{
    mcr_hinge t;
    *result = (mcr_qp_result){.stop = MCR_STOP_OPTIMAL, .violation = INFINITY};
    mcr_status s = open_state(&t, d, p, result);
    for (int64_t i = 0; i < p->n && !s; i++)
        t.wanted += b[i];
    if (!s)
        s = mcr_gram_total(d, &t.wanted, 1);
    if (!s)
        s = solve(&t, b, g, w);
    close_state(&t);
    if (s == MCR_NUMERIC) { /* no factor: the width is too small */
        result->stop = MCR_STOP_STUCK;
        s = MCR_OK;
    }
    return s;
}
