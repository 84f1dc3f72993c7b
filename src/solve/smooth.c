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
 * it, as shrinking does in the dual: their b is at a bound. They are looked at again when the
 * others have moved as far as half the distance, and in the end.
 *
 * The first weights come from a sample in which each object counts for several; samples grow
 * fourfold, which halves the error, and h with it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "base/order.h"
#include "base/random.h"
#include "base/resume.h"
#include "base/threads.h"
#include "linalg/system.h"
#include "solve/linear.h"
#include "solve/sampled.h"

enum {
    SAMPLE = 2048,    /* objects to begin with, at least */
    PER_FEATURE = 16, /* and for each feature */
    CHUNK = 16384,    /* objects of a part */
    FOUND = 4,
    TRIES = 4 /* widths at the end */
};

#define FIRST_WIDTH 4.0
#define SAMPLE_END  0.25 /* of h in the first sample */
#define SHRINK      0.25 /* of h */
#define SLACK       0.8  /* h at the end, of the tolerance */

typedef struct state {
    mcr *ctx;
    mcr_gram *d; /* of all objects */
    int64_t n, wide;
    const mcr_qp *p;
    mcr_qp_result *result;
    double began, wanted; /* sum of b */
    /* Some of the objects, or all: */
    mcr_rows at;
    double *z, *lo, *hi, *s, *ds, *b, *change;
    int64_t *row;
    /* Those within the width, or changed: */
    int64_t *list, *list_source, count;
    double *weight;
    double *found; /* FOUND a part */
    /* Those that take part in products: their places, rising. */
    int64_t *close;
    struct {
        int64_t count;             /* -1: all */
        double border, moved, gap; /* |s| of the others at least; since then, in the last step */
    } near;
    double h, bias, dbias, step;
    double reach;                       /* length of a row, at most or nearly so */
    double *w, *sum, *u, *edge, *right; /* p; sum: D'b; right: p x 2 */
    mcr_system m;
    mcr_sampled sampled; /* of many objects within the width; uses m */
    struct {             /* where it is, for a checkpoint */
        bool all;        /* objects, after the samples */
        uint64_t number; /* of the sample */
        int64_t size;
        double end, last; /* widths: of the sample, of all */
        int tries, steps, idle;
    } place;
    bool goes_on; /* the state was read, and has not been taken up yet */
    char part[MCR_PART_NAME];
} state;

/* ---- space ------------------------------------------------------------------------------------*/

static mcr_status open_state(state *t, mcr_gram *d, const mcr_qp *p, mcr_qp_result *r)
{
    *t = (state){.ctx = mcr_gram_context(d),
                 .d = d,
                 .n = p->n,
                 .wide = mcr_gram_width(d),
                 .p = p,
                 .result = r,
                 .began = mcr_now()};
    size_t n = (size_t)t->n, f = (size_t)t->wide;
    int64_t **lists[] = {&t->row, &t->list, &t->list_source, &t->close};
    if (!mcr_alloc_doubles(t->ctx, n, &t->z, &t->lo, &t->hi, &t->s, &t->ds, &t->b, &t->change,
                           &t->weight) ||
        !mcr_zero_doubles(t->ctx, f, &t->w, &t->sum, &t->u, &t->edge) ||
        !mcr_alloc_doubles(t->ctx, 2 * f, &t->right) ||
        !mcr_alloc_doubles(t->ctx, FOUND * (n / CHUNK + 1), &t->found))
        return MCR_NO_MEMORY;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (!(*lists[i] = mcr_alloc(t->ctx, n, sizeof(int64_t))))
            return MCR_NO_MEMORY;
    t->near.count = -1;
    mcr_status s = mcr_system_open(&t->m, t->ctx, t->wide, p->phase ? p->phase : "svm");
    return s ? s : mcr_sampled_open(&t->sampled, d, &t->m);
}

static void close_state(state *t)
{
    mcr_free_all(t->ctx, t->z, t->lo, t->hi, t->s, t->ds, t->b, t->change, t->row, t->list,
                 t->list_source, t->weight, t->found, t->w, t->sum, t->u, t->edge, t->right,
                 t->close);
    mcr_sampled_close(&t->sampled);
    mcr_system_close(&t->m);
}

/* ---- passes over the objects ------------------------------------------------------------------*/

typedef struct chunk_job {
    state *t;
    void (*work)(state *t, int64_t first, int64_t end, double *found);
} chunk_job;

static mcr_status run_chunk(void *arg, int64_t first, int64_t end)
{
    const chunk_job *j = arg;
    double *found = j->t->found + first / CHUNK * FOUND;
    for (int k = 0; k < FOUND; k++)
        found[k] = 0;
    j->work(j->t, first, end, found);
    return MCR_OK;
}

/* What the parts found is added up in order. */
static void over_all(state *t, void (*work)(state *, int64_t, int64_t, double *), double sum[FOUND])
{
    int64_t count = (t->at.count + CHUNK - 1) / CHUNK;
    chunk_job j = {t, work};
    (void)mcr_parallel_chunks(t->ctx, t->at.count, CHUNK, run_chunk, &j); /* no part fails */
    for (int k = 0; k < FOUND; k++)
        sum[k] = 0;
    for (int64_t i = 0; i < count; i++)
        for (int k = 0; k < FOUND; k++)
            sum[k] += t->found[i * FOUND + k];
}

/* The best b for a slope. */
static double best(const state *t, int64_t i, double s)
{
    double share = 0.5 - s / t->h, lo = t->lo[i], hi = t->hi[i];
    return share <= 0 ? lo : share >= 1 ? hi : lo + share * (hi - lo);
}

static void set_best(state *t, int64_t first, int64_t end, double *found)
{
    (void)found;
    for (int64_t i = first; i < end; i++) {
        double now = best(t, i, t->s[i]);
        t->change[i] = now - t->b[i];
        t->b[i] = now;
    }
}

/* The listed objects, by their number among all. */
static mcr_rows listed(state *t)
{
    for (int64_t k = 0; k < t->count; k++)
        t->list_source[k] = mcr_rows_at(t->at, t->list[k]);
    return (mcr_rows){t->list_source, 0, t->count};
}

/* The weights are changes of the listed coefficients: what they are to D'b. */
static mcr_status add_changes(state *t)
{
    mcr_status s = t->count ? mcr_gram_project(t->d, listed(t), t->weight, 1, t->u) : MCR_OK;
    for (int64_t k = 0; k < t->wide && t->count && !s; k++)
        t->sum[k] += t->u[k];
    return s;
}

/* b for the slopes and the width, and D'b. */
static mcr_status renew(state *t)
{
    double sum[FOUND];
    over_all(t, set_best, sum);
    t->count = 0;
    for (int64_t i = 0; i < t->at.count; i++)
        if (t->change[i] != 0) {
            t->weight[t->count] = t->change[i];
            t->list[t->count++] = i;
        }
    return add_changes(t);
}

/* ---- objects far from the width ---------------------------------------------------------------*/

/* Leaves out objects that the next steps will not bring near the width, if these are most. */
static void leave_out(state *t)
{
    enum { PROBES = 1000, SHARE = 10, WIDTHS = 4, FEW = 20000, CALM = 4 };
    double probe[PROBES];
    int64_t n = t->at.count;
    if (t->near.count >= 0 || n < FEW || !mcr_gram_is_restricted(t->d))
        return;
    for (int64_t i = 0; i < PROBES; i++)
        probe[i] = fabs(t->s[i * n / PROBES]);
    qsort(probe, PROBES, sizeof *probe, mcr_reals_rising);
    double border = fmax(fmax(probe[PROBES / SHARE], WIDTHS * t->h), CALM * t->near.gap);
    if (!(border < probe[PROBES / 2]))
        return;
    t->near.count = 0;
    t->near.border = border;
    t->near.moved = 0;
    for (int64_t i = 0; i < n; i++)
        if (fabs(t->s[i]) < border)
            t->close[t->near.count++] = i;
}

/* ds = D u + dbias of the objects that take part; 0 of others. */
static mcr_status expand_near(state *t)
{
    for (int64_t k = 0; k < t->near.count; k++)
        t->list_source[k] = mcr_rows_at(t->at, t->close[k]);
    mcr_rows rows = {t->list_source, 0, t->near.count};
    mcr_status s = t->near.count ? mcr_gram_expand(t->d, rows, t->u, 1, t->change) : MCR_OK;
    memset(t->ds, 0, sizeof *t->ds * (size_t)t->at.count);
    for (int64_t k = 0; k < t->near.count && !s; k++)
        t->ds[t->close[k]] = t->change[k] + t->dbias;
    return s;
}

/* What the coefficients of the others, which stay as they are, give to the derivative along the
 * direction: all of D'b there is, without those that take part. */
static double slope_of_others(const state *t)
{
    double all = 0, b = 0;
    if (t->near.count < 0)
        return 0;
    for (int64_t k = 0; k < t->wide; k++)
        all += t->sum[k] * t->u[k];
    for (int64_t i = 0; i < t->at.count; i++)
        b += t->b[i];
    all += t->dbias * b;
    for (int64_t k = 0; k < t->near.count; k++)
        all -= t->b[t->close[k]] * t->ds[t->close[k]];
    return -all;
}

/* How far slopes have gone. */
static void watch(state *t)
{
    double most = 0;
    for (int64_t i = 0; i < t->at.count; i++)
        most = fmax(most, fabs(t->step * t->ds[i]));
    t->near.gap = most;
    t->near.moved += most;
}

/* All objects take part again; *crossed: one that did not has another b by now. */
static mcr_status look_again(state *t, bool *crossed)
{
    int64_t k = 0;
    *crossed = false;
    if (t->near.count < 0)
        return MCR_OK;
    mcr_status s = mcr_gram_expand(t->d, t->at, t->w, 1, t->s);
    for (int64_t i = 0; i < t->at.count && !s; i++) {
        t->s[i] += t->bias - t->z[i];
        if (k < t->near.count && t->close[k] == i)
            k++;
        else
            *crossed |= best(t, i, t->s[i]) != t->b[i];
    }
    t->near.count = -1;
    return s ? s : renew(t);
}

/* ---- one step ---------------------------------------------------------------------------------*/

/* Lists the objects within `width`; *error: what that makes of the objective. */
static void pick(state *t, double width, double *error)
{
    t->count = 0;
    *error = 0;
    for (int64_t i = 0; i < t->at.count; i++)
        if (fabs(t->s[i]) < 0.5 * width && t->lo[i] < t->hi[i]) {
            t->list[t->count++] = i;
            *error += (t->hi[i] - t->lo[i]) * width / 8;
        }
}

/* Weights of the list, and the row of the bias; *corner: its last element. */
static mcr_status weigh(state *t, mcr_rows part, double *corner)
{
    *corner = 0;
    for (int64_t k = 0; k < t->count; k++) {
        t->weight[k] = (t->hi[t->list[k]] - t->lo[t->list[k]]) / t->h;
        *corner += t->weight[k];
    }
    return mcr_gram_project(t->d, part, t->weight, 1, t->edge);
}

/* Solves with 1 + D' diag D of the list. */
static mcr_status solve_listed(state *t, mcr_rows part, double sum, int64_t cols, double *x)
{
    if (mcr_sampled_suits(&t->sampled, part.count, sum))
        return mcr_sampled_solve(&t->sampled, part, t->weight, cols, x);
    t->sampled.count = 0; /* the system is another one's now */
    mcr_status s = mcr_gram_fill_near(t->d, &t->m, part, t->weight, 1e-3);
    if (!s)
        s = mcr_system_factor(&t->m, 1, NULL, NULL);
    return s ? s : mcr_system_solve(&t->m, cols, x);
}

static void add_coefficients(state *t, int64_t first, int64_t end, double *found)
{
    for (int64_t i = first; i < end; i++) {
        found[0] += t->b[i];
        found[1] += t->hi[i] - t->lo[i];
    }
}

static void add_bias(state *t, int64_t first, int64_t end, double *found)
{
    (void)found;
    for (int64_t i = first; i < end; i++)
        t->ds[i] += t->dbias;
}

/* Newton's direction u, dbias, ds; *gain: minus the derivative along it. */
static mcr_status direct(state *t, double *gain)
{
    int64_t p = t->wide, cols = t->p->no_sum ? 1 : 2;
    double corner, sum[FOUND];
    mcr_rows part = listed(t);
    mcr_status s = weigh(t, part, &corner);
    for (int64_t k = 0; k < p && !s; k++) {
        t->right[k * cols] = t->sum[k] - t->w[k];
        if (cols == 2)
            t->right[k * 2 + 1] = t->edge[k];
    }
    if (!s)
        s = solve_listed(t, part, corner, cols, t->right);
    if (s)
        return s;
    over_all(t, add_coefficients, sum);
    double off = sum[0] - t->wanted, side = off;
    /* Where no object is within the width, the line search knows how far to go. */
    double bend = corner = fmax(corner, 1e-3 * sum[1]);
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
    if (t->near.count >= 0)
        return expand_near(t);
    s = mcr_gram_expand(t->d, t->at, t->u, 1, t->ds);
    if (!s)
        over_all(t, add_bias, sum);
    return s;
}

/* Along the line: what the objects give to the first and second derivatives. */
static void look(state *t, int64_t first, int64_t end, double *found)
{
    double slope = 0, bend = 0, half = 0.5 * t->h;
    for (int64_t i = first; i < end; i++) {
        double s = t->s[i] + t->step * t->ds[i];
        slope -= best(t, i, s) * t->ds[i];
        bend += fabs(s) < half ? (t->hi[i] - t->lo[i]) * t->ds[i] * t->ds[i] : 0;
    }
    found[0] = slope;
    found[1] = bend / t->h;
}

/* Where the derivative along the direction is all but 0: Newton's method between bounds. */
static void search(state *t, double gain)
{
    enum { MOST = 40 };
    double wu = 0, uu = 0, low = 0, high = INFINITY, sum[FOUND];
    for (int64_t k = 0; k < t->wide; k++) {
        wu += t->w[k] * t->u[k];
        uu += t->u[k] * t->u[k];
    }
    double others = slope_of_others(t) + t->wanted * t->dbias;
    t->step = 1;
    for (int i = 0; i < MOST; i++) {
        over_all(t, look, sum);
        double slope = wu + t->step * uu + sum[0] + others, bend = uu + sum[1];
        if (fabs(slope) <= 0.05 * gain)
            return;
        if (slope > 0)
            high = t->step;
        else
            low = t->step;
        double next = t->step - slope / bend, most = isinf(high) ? 10 * t->step : high;
        t->step = next > low && next < most ? next : isinf(high) ? most : 0.5 * (low + high);
    }
}

static void move(state *t, int64_t first, int64_t end, double *found)
{
    (void)found;
    for (int64_t i = first; i < end; i++)
        t->s[i] += t->step * t->ds[i];
}

static mcr_status take_step(state *t)
{
    double sum[FOUND];
    over_all(t, move, sum);
    watch(t);
    for (int64_t k = 0; k < t->wide; k++)
        t->w[k] += t->step * t->u[k];
    t->bias += t->step * t->dbias;
    t->result->steps++;
    return renew(t);
}

/* *gain: about twice what the step was to gain; *error: what the width may make of the
 * objective. */
static mcr_status advance(state *t, double *gain, double *error)
{
    pick(t, t->h, error);
    mcr_status s = direct(t, gain);
    if (s)
        return s;
    search(t, *gain);
    return take_step(t);
}

/* Goes on to a smaller width, to where the solution is if the same objects are within it. */
static mcr_status narrow(state *t, double h)
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
    mcr_status s = add_changes(t);
    if (!s)
        s = direct(t, &gain);
    t->step = 1;
    return s ? s : take_step(t);
}

/* ---- samples ----------------------------------------------------------------------------------*/

/* One object of each of `count` runs of equal length, with bounds in proportion; count = n: all.
 * Then the slopes and coefficients for the weights that there are. */
static mcr_status take_sample(state *t, int64_t count, uint64_t number)
{
    int64_t n = t->n;
    double all = 0, some = 0, none[FOUND];
    mcr_random r = mcr_random_stream(mcr_seed(t->ctx), "sample of objects", number);
    for (int64_t i = 0; i < count; i++) {
        int64_t first = i * n / count, end = (i + 1) * n / count;
        t->row[i] = first + (end - first > 1 ? mcr_random_below(&r, end - first) : 0);
        some += t->p->hi[t->row[i]] - t->p->lo[t->row[i]];
    }
    for (int64_t i = 0; i < n; i++)
        all += t->p->hi[i] - t->p->lo[i];
    double factor = count < n && some > 0 ? all / some : 1;
    for (int64_t i = 0; i < count; i++) {
        t->z[i] = t->p->z[t->row[i]];
        t->lo[i] = factor * t->p->lo[t->row[i]];
        t->hi[i] = factor * t->p->hi[t->row[i]];
        t->b[i] = 0;
    }
    t->at = count < n ? (mcr_rows){t->row, 0, count} : mcr_gram_all(t->d);
    t->near.count = -1;
    t->near.gap = INFINITY;
    mcr_status s = mcr_gram_expand(t->d, t->at, t->w, 1, t->s);
    for (int64_t i = 0; i < count && !s; i++)
        t->s[i] += t->bias - t->z[i];
    if (!s)
        over_all(t, set_best, none);
    return s ? s : mcr_gram_project(t->d, t->at, t->b, 1, t->sum);
}

/* ---- all of it --------------------------------------------------------------------------------*/

/* The coefficients of all objects, evaluated. */
static mcr_status evaluate(state *t, double *b, double *g, double *w)
{
    memcpy(b, t->b, sizeof *b * (size_t)t->n);
    mcr_linear_balance(t->p, t->wanted, b);
    t->result->violation = INFINITY; /* until it is known */
    return mcr_linear_evaluate(t->d, t->p, b, g, w, t->result);
}

/* How far w = D'b is from being true, in the slopes of an object. */
static double residual(const state *t)
{
    double square = 0;
    for (int64_t k = 0; k < t->wide; k++)
        square += (t->sum[k] - t->w[k]) * (t->sum[k] - t->w[k]);
    return sqrt(square) * t->reach;
}

static void walk_place(state *t, mcr_walk *w)
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

/* Between two steps. The sample is taken again; what the steps made of it is read. */
static mcr_status walk(void *self, mcr_walk *w)
{
    state *t = self;
    size_t f = sizeof(double) * (size_t)t->wide;
    mcr_walk_same(w, t->n);
    mcr_walk_same(w, t->wide);
    walk_place(t, w);
    mcr_qp_walk_result(t->result, w);
    MCR_WALK(w, t->h);
    MCR_WALK(w, t->bias);
    mcr_status s = w->status;
    if (!s && w->reads)
        s = t->place.size < (t->place.all ? t->n : 1) || t->place.size > t->n
                ? mcr_walk_refuse(w)
                : take_sample(t, t->place.size, t->place.number);
    if (s)
        return s;
    size_t n = sizeof(double) * (size_t)t->at.count;
    mcr_walk_bytes(w, t->w, f);
    mcr_walk_bytes(w, t->sum, f);
    mcr_walk_bytes(w, t->b, n);
    mcr_walk_bytes(w, t->s, n);
    MCR_WALK(w, t->near);
    if (!w->status && t->near.count > t->at.count)
        return mcr_walk_refuse(w);
    if (t->near.count > 0)
        mcr_walk_bytes(w, t->close, sizeof *t->close * (size_t)t->near.count);
    for (int64_t k = 0; k < t->near.count && w->reads && !w->status; k++)
        if (t->close[k] <= (k ? t->close[k - 1] : -1) || t->close[k] >= t->at.count)
            return mcr_walk_refuse(w);
    return w->status ? w->status : mcr_sampled_walk(&t->sampled, w);
}

/* Steps until the width is `last` and what there is to gain is small against the error that the
 * width stands for, or, if this is the end, until w = D'b, too; *over: a limit was reached. */
static mcr_status descend(state *t, double last, bool end, bool *over)
{
    enum { MOST = 300, PATIENCE = 8 };
    double gain = 0, error = 0;
    bool crossed = false;
    mcr_status s = MCR_OK;
    if (!t->goes_on)
        t->place.steps = t->place.idle = 0;
    t->goes_on = false;
    for (; t->place.steps < MOST && t->place.idle < PATIENCE && !s; t->place.steps++) {
        if ((*over = mcr_linear_is_over(t->ctx, t->p, t->began, t->h, t->result)))
            return MCR_OK;
        if ((s = mcr_resume_offer(t->ctx, t->part, walk, t)))
            break;
        if (t->near.moved + 0.25 * t->h > 0.5 * t->near.border)
            s = look_again(t, &crossed);
        leave_out(t);
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
        if (last_width && (!end || residual(t) <= 0.1 * t->p->tolerance)) {
            s = look_again(t, &crossed);
            if (s || !crossed)
                break;
        }
        t->place.idle += last_width && !(gain > 1e-9 * error);
        if (!last_width)
            s = narrow(t, fmax(SHRINK * t->h, last));
    }
    return s;
}

/* The longest row of some, twice. */
static mcr_status measure(state *t)
{
    int64_t n = t->n, count = n < SAMPLE ? n : SAMPLE;
    for (int64_t i = 0; i < count; i++)
        t->row[i] = i * n / count;
    mcr_status s = mcr_gram_squares(t->d, (mcr_rows){t->row, 0, count}, t->s);
    for (int64_t i = 0; i < count && !s; i++)
        t->reach = fmax(t->reach, 2 * sqrt(t->s[i]));
    return s;
}

/* From small samples to large ones, each from the solution of the one before. */
static mcr_status solve_samples(state *t, bool *over)
{
    int64_t size = PER_FEATURE * t->wide;
    mcr_status s = MCR_OK;
    if (!t->goes_on) {
        t->place.size = size > SAMPLE ? size : SAMPLE;
        t->place.end = SAMPLE_END;
        t->h = FIRST_WIDTH;
    }
    for (; 3 * t->place.size <= t->n && !s && !*over; t->place.number++, t->place.size *= 4) {
        if (!t->goes_on)
            s = take_sample(t, t->place.size, t->place.number);
        if (!s)
            s = descend(t, t->place.end, false, over);
        t->place.end *= 0.5;
    }
    return s;
}

static mcr_status solve(state *t, double *b, double *g, double *w)
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
        t->place.size = t->n;
        t->place.number = 0;
        t->place.last = SLACK * t->p->tolerance;
        t->h = over ? t->place.last : fmax(t->h, t->place.last);
        s = take_sample(t, t->n, 0);
    }
    for (; t->place.tries < TRIES && !s; t->place.tries++) {
        if (!over)
            s = descend(t, t->place.last, true, &over);
        if (!s)
            s = evaluate(t, b, g, w);
        if (s || over || t->result->violation <= t->p->tolerance)
            break;
        t->place.last *= 0.5;
    }
    if (!s && t->result->violation <= t->p->tolerance)
        t->result->stop = MCR_STOP_OPTIMAL;
    else if (!over)
        t->result->stop = MCR_STOP_STUCK;
    return s;
}

mcr_status mcr_linear_smooth(mcr_gram *d, const mcr_qp *p, double *b, double *g, double *w,
                             mcr_qp_result *result)
{
    state t;
    *result = (mcr_qp_result){.stop = MCR_STOP_OPTIMAL, .violation = INFINITY};
    mcr_status s = open_state(&t, d, p, result);
    for (int64_t i = 0; i < p->n && !s; i++)
        t.wanted += b[i];
    if (!s)
        s = solve(&t, b, g, w);
    close_state(&t);
    if (s == MCR_NUMERIC) { /* no factor: the width is too small */
        result->stop = MCR_STOP_STUCK;
        s = MCR_OK;
    }
    return s;
}
