/* interior.c: support vector machines with few features, by an interior point method.
 *
 *   min 1/2 |D'b|^2 - z'b    lo <= b <= hi,  sum of b = 0
 *
 * Primal-dual, with Mehrotra's predictor and corrector. With x = b - lo, c = hi - b and multipliers s, t
 * of the bounds, Newton's equations have the matrix DD' + diag(s/x + t/c), which is a diagonal plus p
 * columns: eliminating the coefficients leaves 1 + D' diag(h) D, p x p, h = 1 / (s/x + t/c), and one
 * row for the bias, which is free (Ferris and Munson, SIAM J. Optim. 13, 2002). Some twenty steps,
 * whatever the tolerance and C. What is near a bound at the end is put there, and judged from scratch.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <string.h>

#include "base/context.h"
#include "linalg/lapack.h"
#include "solve/linear.h"

typedef struct state {
    mcr *ctx;
    const mcr_design *d;
    const mcr_qp *p;
    mcr_qp_result *result;
    int64_t n, movable;                /* coefficients; those with lo < hi */
    double *b, *s, *t, *g;             /* g: D w */
    double *h, *q, *db, *ds, *dt, *du; /* du: D u */
    double *two;                       /* n x 2 */
    double bias, dbias, mu, step;
    double *w, *u, *edge, *solved_edge, *right; /* p; right: p x 2 */
    double corner;                              /* of the eliminated bias */
    mcr_square m;
    double *try_b, *try_g, *try_w; /* the last that was judged */
    double *best_b;
    double best;
    double began;
} state;

static bool can_move(const state *t, int64_t i)
{
    return t->p->hi[i] > t->p->lo[i];
}

/* ---- start -------------------------------------------------------------------------------------*/

static mcr_status open_state(state *t, const mcr_design *d, const mcr_qp *p, mcr_qp_result *r)
{
    *t = (state){.ctx = d->ctx, .d = d, .p = p, .result = r, .n = d->n, .began = mcr_now()};
    size_t n = (size_t)d->n, f = (size_t)d->p;
    t->best = INFINITY;
    double **by_object[] = {&t->b,  &t->s,  &t->t,  &t->g,     &t->h,     &t->q,     &t->db,
                            &t->ds, &t->dt, &t->du, &t->try_b, &t->try_g, &t->best_b};
    double **by_feature[] = {&t->w, &t->u, &t->edge, &t->solved_edge, &t->try_w};
    for (size_t i = 0; i < sizeof by_object / sizeof *by_object; i++)
        if (!(*by_object[i] = mcr_alloc_zero(t->ctx, n, sizeof(double))))
            return MCR_NO_MEMORY;
    for (size_t i = 0; i < sizeof by_feature / sizeof *by_feature; i++)
        if (!(*by_feature[i] = mcr_alloc_zero(t->ctx, f, sizeof(double))))
            return MCR_NO_MEMORY;
    t->two = mcr_alloc(t->ctx, n, 2 * sizeof(double));
    t->right = mcr_alloc(t->ctx, f, 2 * sizeof(double));
    if (!t->two || !t->right)
        return MCR_NO_MEMORY;
    return mcr_square_open(&t->m, t->ctx, d->p, p->phase ? p->phase : "svm");
}

static void close_state(state *t)
{
    double *room[] = {t->b,     t->s,     t->t,      t->g,   t->h,     t->q,    t->db,
                      t->ds,    t->dt,    t->du,     t->w,   t->u,     t->edge, t->solved_edge,
                      t->try_b, t->try_g, t->best_b, t->two, t->right, t->try_w};
    for (size_t i = 0; i < sizeof room / sizeof *room; i++)
        mcr_free(t->ctx, room[i]);
    mcr_square_close(&t->m);
}

static mcr_status refresh(state *t)
{
    mcr_status st = mcr_design_project(t->d, t->b, 1, t->w);
    return st ? st : mcr_design_multiply(t->d, t->w, 1, t->g);
}

/* In the middle of the bounds, or nearer to 0 where that would be a w far too long; multipliers that
 * make the slopes fit. */
static mcr_status begin(state *t)
{
    mcr_status st = mcr_design_squares(t->d, t->h);
    double square = 0, range = 0;
    for (int64_t i = 0; i < t->n && !st; i++)
        if (can_move(t, i)) {
            t->movable++;
            square += t->h[i];
            range += t->p->hi[i] - t->p->lo[i];
        }
    if (st || !t->movable)
        return st;
    square /= (double)t->movable;
    range /= (double)t->movable;
    double share = fmin(0.5, 10 / fmax(square * range, 1e-300) / sqrt((double)t->movable));
    share = fmax(share, 1e-3);
    for (int64_t i = 0; i < t->n; i++) {
        double wide = t->p->hi[i] - t->p->lo[i];
        bool low = fabs(t->p->lo[i]) <= fabs(t->p->hi[i]); /* which bound is the nearer to 0 */
        t->b[i] = low ? t->p->lo[i] + share * wide : t->p->hi[i] - share * wide;
    }
    st = refresh(t);
    for (int64_t i = 0; i < t->n && !st; i++) {
        double slope = t->g[i] - t->p->z[i];
        t->s[i] = fmax(slope, 0) + 1;
        t->t[i] = fmax(-slope, 0) + 1;
    }
    return st;
}

/* ---- one step ----------------------------------------------------------------------------------*/

static void set_weights(state *t)
{
    for (int64_t i = 0; i < t->n; i++) {
        double x = t->b[i] - t->p->lo[i], c = t->p->hi[i] - t->b[i];
        t->h[i] = can_move(t, i) ? 1 / (t->s[i] / x + t->t[i] / c) : 0;
    }
}

/* The factor of 1 + D' h D, and the bias's corner. */
static mcr_status factorise(state *t)
{
    double sum = 0;
    for (int64_t i = 0; i < t->n; i++)
        sum += t->h[i];
    mcr_status st = mcr_design_weigh(t->d, t->h, t->m.a, t->m.ld);
    for (int64_t k = 0; k < t->d->p && !st; k++)
        t->m.a[k * t->m.ld + k] += 1;
    if (!st)
        st = mcr_lapack_cholesky(t->ctx, t->d->p, t->m.a, t->m.ld, NULL, NULL);
    t->corner = sum;
    return st;
}

/* q: minus the residual, with the complementarity that is aimed at; centre < 0: the predictor, which aims
 * at 0. */
static void aim(state *t, double centre)
{
    for (int64_t i = 0; i < t->n; i++) {
        double slope = t->g[i] - t->p->z[i] + t->bias;
        if (!can_move(t, i)) {
            t->q[i] = 0;
        } else if (centre < 0) {
            t->q[i] = -slope;
        } else {
            double x = t->b[i] - t->p->lo[i], c = t->p->hi[i] - t->b[i];
            double cross_s = t->db[i] * t->ds[i] - centre, cross_t = -t->db[i] * t->dt[i] - centre;
            t->q[i] = -slope - cross_s / x + cross_t / c;
        }
    }
}

/* The directions for the q that was set. first: the bias's row is to be solved for as well. */
static mcr_status solve(state *t, bool first, double centre)
{
    int64_t p = t->d->p, cols = first && !t->p->no_sum ? 2 : 1;
    double sum = 0, total = 0;
    for (int64_t i = 0; i < t->n; i++) {
        double hq = t->h[i] * t->q[i];
        t->two[i * cols] = hq;
        if (cols == 2)
            t->two[i * 2 + 1] = t->h[i];
        sum += hq;
        total += t->b[i];
    }
    mcr_status st = mcr_design_project(t->d, t->two, cols, t->right);
    for (int64_t k = 0; k < p && !st && cols == 2; k++)
        t->edge[k] = t->right[k * 2 + 1];
    if (!st)
        st = mcr_lapack_solve(t->ctx, p, cols, t->m.a, t->m.ld, t->right, cols);
    if (st)
        return st;
    double corner = t->corner, side = sum + total;
    for (int64_t k = 0; k < p; k++) {
        t->u[k] = t->right[k * cols];
        if (cols == 2)
            t->solved_edge[k] = t->right[k * 2 + 1];
        corner -= t->edge[k] * t->solved_edge[k];
        side -= t->edge[k] * t->u[k];
    }
    corner = fmax(corner, 1e-14 * t->corner);
    t->dbias = t->p->no_sum || !(corner > 0) ? 0 : side / corner;
    for (int64_t k = 0; k < p; k++)
        t->u[k] -= t->dbias * t->solved_edge[k];
    st = mcr_design_multiply(t->d, t->u, 1, t->du);
    for (int64_t i = 0; i < t->n && !st; i++) {
        double x = t->b[i] - t->p->lo[i], c = t->p->hi[i] - t->b[i];
        if (!can_move(t, i))
            continue;
        double cross_s = centre < 0 ? 0 : t->db[i] * t->ds[i] - centre;
        double cross_t = centre < 0 ? 0 : -t->db[i] * t->dt[i] - centre;
        double db = t->h[i] * (t->q[i] - t->du[i] - t->dbias);
        t->ds[i] = -t->s[i] - (cross_s + t->s[i] * db) / x;
        t->dt[i] = -t->t[i] - (cross_t - t->t[i] * db) / c;
        t->db[i] = db;
    }
    return st;
}

/* A step after which all are positive, and the mean complementarity there. */
static double reach(const state *t, double *mu)
{
    double step = 1 / 0.995, sum = 0;
    for (int64_t i = 0; i < t->n; i++) {
        if (!can_move(t, i))
            continue;
        double x = t->b[i] - t->p->lo[i], c = t->p->hi[i] - t->b[i];
        step = t->db[i] < 0 ? fmin(step, -x / t->db[i]) : step;
        step = t->db[i] > 0 ? fmin(step, c / t->db[i]) : step;
        step = t->ds[i] < 0 ? fmin(step, -t->s[i] / t->ds[i]) : step;
        step = t->dt[i] < 0 ? fmin(step, -t->t[i] / t->dt[i]) : step;
    }
    step *= 0.995;
    for (int64_t i = 0; i < t->n; i++)
        if (can_move(t, i))
            sum += (t->b[i] - t->p->lo[i] + step * t->db[i]) * (t->s[i] + step * t->ds[i]) +
                   (t->p->hi[i] - t->b[i] - step * t->db[i]) * (t->t[i] + step * t->dt[i]);
    *mu = sum / (2 * (double)t->movable);
    return step;
}

static double complementarity(const state *t)
{
    double sum = 0;
    for (int64_t i = 0; i < t->n; i++)
        if (can_move(t, i))
            sum += (t->b[i] - t->p->lo[i]) * t->s[i] + (t->p->hi[i] - t->b[i]) * t->t[i];
    return sum / (2 * (double)t->movable);
}

static mcr_status advance(state *t)
{
    double mu;
    set_weights(t);
    mcr_status st = factorise(t);
    if (st)
        return st;
    aim(t, -1);
    if ((st = solve(t, true, -1)))
        return st;
    (void)reach(t, &mu);
    double centre = t->mu * pow(fmin(mu / t->mu, 1), 3);
    aim(t, centre);
    if ((st = solve(t, false, centre)))
        return st;
    t->step = reach(t, &mu);
    for (int64_t i = 0; i < t->n; i++) {
        t->b[i] += t->step * t->db[i];
        t->s[i] += t->step * t->ds[i];
        t->t[i] += t->step * t->dt[i];
        t->g[i] += t->step * t->du[i];
    }
    for (int64_t k = 0; k < t->d->p; k++)
        t->w[k] += t->step * t->u[k];
    t->bias += t->step * t->dbias;
    return MCR_OK;
}

/* ---- the end -----------------------------------------------------------------------------------*/

/* Coefficients that are nearer to a bound than to its multiplier being 0 are put there. */
static void snap(state *t)
{
    for (int64_t i = 0; i < t->n; i++) {
        double lo = t->p->lo[i], hi = t->p->hi[i], wide = hi - lo;
        double x = t->b[i] - lo, c = hi - t->b[i];
        bool low = !can_move(t, i) || (x < c && x < wide * t->s[i]);
        bool high = can_move(t, i) && c <= x && c < wide * t->t[i];
        t->try_b[i] = low ? lo : high ? hi : t->b[i];
    }
}

static mcr_status judge(state *t)
{
    mcr_linear_balance(t->p, t->try_b);
    mcr_status st = mcr_linear_judge(t->d, t->p, t->try_b, t->try_g, t->try_w, t->result);
    if (!st && t->result->violation < t->best) {
        t->best = t->result->violation;
        memcpy(t->best_b, t->try_b, sizeof *t->best_b * (size_t)t->n);
    }
    return st;
}

static void swap(double **a, double **b)
{
    double *c = *a;
    *a = *b;
    *b = c;
}

/* A step of the coefficients that are free in the best solution so far, towards equal slopes: their
 * own problem without bounds, with a little added to its diagonal. */
static mcr_status correct_free(state *t, double ridge)
{
    double sum = 0;
    int64_t count = 0;
    for (int64_t i = 0; i < t->n; i++) {
        bool is_free = t->try_b[i] > t->p->lo[i] && t->try_b[i] < t->p->hi[i];
        t->h[i] = is_free ? 1 / ridge : 0;
        sum += is_free ? t->p->z[i] - t->try_g[i] : 0;
        count += is_free;
    }
    if (count == 0)
        return MCR_OK;
    t->bias = t->p->no_sum ? 0 : sum / (double)count;
    mcr_status st = factorise(t);
    swap(&t->b, &t->try_b);
    swap(&t->g, &t->try_g);
    aim(t, -1);
    if (!st)
        st = solve(t, true, -1);
    swap(&t->b, &t->try_b);
    swap(&t->g, &t->try_g);
    for (int64_t i = 0; i < t->n && !st; i++)
        if (t->h[i] > 0)
            t->try_b[i] = fmin(fmax(t->try_b[i] + t->db[i], t->p->lo[i]), t->p->hi[i]);
    return st;
}

/* What was put to its bound moved w by a little, which the free coefficients can take back. */
static mcr_status polish(state *t)
{
    enum { MOST = 6 };
    double square = 0;
    mcr_status st = mcr_design_squares(t->d, t->h);
    for (int64_t i = 0; i < t->n && !st; i++)
        square += t->h[i] / (double)t->n;
    for (int i = 0; i < MOST && !st && t->best > t->p->tolerance; i++) {
        double before = t->best;
        memcpy(t->try_b, t->best_b, sizeof *t->try_b * (size_t)t->n);
        st = mcr_linear_judge(t->d, t->p, t->try_b, t->try_g, t->try_w, t->result);
        if (!st)
            st = correct_free(t, 1e-9 * square);
        if (!st)
            st = judge(t);
        if (!st && t->best > 0.9 * before)
            break;
    }
    return st == MCR_NUMERIC ? MCR_OK : st;
}

/* Worth judging: the gap is small against the objective. */
static bool is_near(const state *t)
{
    double square = 0, linear = 0;
    for (int64_t i = 0; i < t->n; i++) {
        square += t->b[i] * t->g[i];
        linear += t->p->z[i] * t->b[i];
    }
    return t->mu * 2 * (double)t->movable < 1e-2 * fmax(fabs(linear - 0.5 * square), 1e-300);
}

static mcr_status iterate(state *t)
{
    enum { MOST = 200, PATIENCE = 12 };
    mcr_status st = MCR_OK;
    int worse = 0;
    t->result->stop = MCR_QP_STUCK;
    for (int i = 0; i < MOST && !st; i++) {
        t->mu = complementarity(t);
        if (is_near(t)) {
            double before = t->best;
            snap(t);
            st = judge(t);
            if (!st && t->best <= t->p->tolerance) {
                t->result->stop = MCR_QP_OPTIMAL;
                break;
            }
            worse = t->best < 0.9 * before ? 0 : worse + 1;
            if (!st && worse) /* rounding: both are updated along the way */
                st = refresh(t);
        }
        if (st || worse > PATIENCE || !(t->mu > 0) ||
            mcr_linear_is_over(t->ctx, t->p, t->began, t->best, t->result))
            break;
        st = advance(t);
        t->result->steps++;
        if (!st && !(t->step > 1e-12))
            break;
    }
    if (st == MCR_NUMERIC && isfinite(t->best)) /* no factor: this is the end */
        st = MCR_OK;
    if (!st && t->result->stop == MCR_QP_STUCK && isfinite(t->best)) {
        st = polish(t);
        if (t->best <= t->p->tolerance)
            t->result->stop = MCR_QP_OPTIMAL;
    }
    return st;
}

mcr_status mcr_linear_interior(const mcr_design *d, const mcr_qp *p, double *b, double *g,
                               double *w, mcr_qp_result *result)
{
    state t;
    *result = (mcr_qp_result){.stop = MCR_QP_OPTIMAL};
    mcr_status st = open_state(&t, d, p, result);
    if (!st)
        st = begin(&t);
    if (!st && t.movable > 0)
        st = iterate(&t);
    if (!st && t.movable > 0) {
        if (isinf(t.best)) { /* ended before it was near */
            snap(&t);
            st = judge(&t);
        }
        memcpy(b, t.best_b, sizeof *b * (size_t)t.n);
    } else if (!st) {
        memcpy(b, p->lo, sizeof *b * (size_t)t.n);
    }
    if (!st)
        st = mcr_linear_judge(d, p, b, g, w, result);
    close_state(&t);
    return st;
}
