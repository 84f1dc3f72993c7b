/* interior.c: support vector machines with few features, by an interior point method.
 *
 *   min 1/2 |D'b|^2 - z'b    lo <= b <= hi,  the sum of b kept
 *
 * Primal-dual, with Mehrotra's predictor and corrector. With x = b - lo, c = hi - b and multipliers
 * s, t of the bounds, Newton's equations have the matrix DD' + diag(s/x + t/c), which is a diagonal
 * plus p columns: eliminating the coefficients leaves 1 + D' diag(h) D, p x p, h = 1 / (s/x + t/c),
 * and one row for the bias, which is free (Ferris and Munson, SIAM J. Optim. 13, 2002). It takes
 * some twenty steps for any tolerance and C. At the end, coefficients near a bound are set to it,
 * and the result is evaluated from scratch. Of rows that are spread over several processes each has
 * its own; sums over all of them are added up.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <string.h>

#include "base/context.h"
#include "base/threads.h"
#include "gram/round.h"
#include "linalg/system.h"
#include "solve/linear.h"

/* A step goes 0.995 of the way to where the first number would be 0. */
#define LONGEST (1 / 0.995)

/* Objects of a part, and numbers that it finds. */
enum { CHUNK = 8192, FOUND = 2 };

typedef struct state {
    mcr *ctx;
    mcr_gram *d;
    mcr_rows all;
    const mcr_qp *p;
    mcr_qp_result *result;
    int64_t n, wide;                   /* coefficients; features */
    double movable;                    /* coefficients with lo < hi, in all processes */
    double *b, *s, *t, *g;             /* g: D w */
    double *h, *q, *db, *ds, *dt, *du; /* du: D u */
    double *off_s, *off_t;             /* products of complementarity that are to go */
    struct {
        double *db, *ds, *dt, *du, *u, dbias, step;
    } old;       /* directions put aside */
    double *two; /* n x 2 */
    double sum;  /* of b, to be kept */
    double bias, dbias, mu, step, centre, longer;
    int correctors;
    int64_t cols;                               /* of two */
    double *found;                              /* of the parts of the objects */
    double *w, *u, *edge, *solved_edge, *right; /* p; right: p x 2 */
    double corner;                              /* of the eliminated bias */
    mcr_system m;
    double *try_b, *try_g, *try_w; /* the last that was evaluated */
    double *best_b;
    double best; /* its violation, with what rounding may hide */
    double began;
} state;

static bool can_move(const state *t, int64_t i)
{
    return t->p->hi[i] > t->p->lo[i];
}

/* ---- start ------------------------------------------------------------------------------------*/

static mcr_status open_state(state *t, mcr_gram *d, const mcr_qp *p, mcr_qp_result *r)
{
    *t = (state){.ctx = mcr_gram_context(d),
                 .d = d,
                 .all = mcr_gram_all(d),
                 .p = p,
                 .result = r,
                 .n = p->n,
                 .wide = mcr_gram_width(d),
                 .began = mcr_now()};
    size_t n = (size_t)t->n, f = (size_t)t->wide;
    t->best = INFINITY;
    double size[] = {mcr_gram_entries(d), (double)n};
    mcr_status st = mcr_gram_total(d, size, 2);
    double each = size[0] / (size[1] > 0 ? size[1] : 1);
    t->correctors = each > 60 ? 3 : each > 20 ? 2 : 1;
    if (st)
        return st;
    if (!mcr_zero_doubles(t->ctx, n, &t->b, &t->s, &t->t, &t->g, &t->h, &t->q, &t->db, &t->ds,
                          &t->dt, &t->du, &t->try_b, &t->try_g, &t->best_b, &t->off_s, &t->off_t,
                          &t->old.db, &t->old.ds, &t->old.dt, &t->old.du) ||
        !mcr_zero_doubles(t->ctx, f, &t->w, &t->u, &t->edge, &t->solved_edge, &t->try_w,
                          &t->old.u) ||
        !mcr_alloc_doubles(t->ctx, FOUND * (n / CHUNK + 1), &t->found) ||
        !mcr_alloc_doubles(t->ctx, 2 * n, &t->two) || !mcr_alloc_doubles(t->ctx, 2 * f, &t->right))
        return MCR_NO_MEMORY;
    return mcr_system_open(&t->m, t->ctx, t->wide, p->phase ? p->phase : "svm");
}

static void close_state(state *t)
{
    mcr_free_all(t->ctx, t->b, t->s, t->t, t->g, t->h, t->q, t->db, t->ds, t->dt, t->du, t->w, t->u,
                 t->edge, t->solved_edge, t->try_b, t->try_g, t->best_b, t->two, t->right, t->try_w,
                 t->off_s, t->off_t, t->old.db, t->old.ds, t->old.dt, t->old.du, t->old.u,
                 t->found);
    mcr_system_close(&t->m);
}

static mcr_status refresh(state *t)
{
    mcr_status st = mcr_gram_project(t->d, t->all, t->b, 1, t->w);
    return st ? st : mcr_gram_expand(t->d, t->all, t->w, 1, t->g);
}

/* In the middle of the bounds, with a sum of 0; multipliers of the size of the slopes. */
static mcr_status begin(state *t)
{
    double wide[3] = {0, 0, 0}, sum[2] = {0, 0}; /* of each side, and how many can move */
    for (int64_t i = 0; i < t->n; i++) {
        wide[2] += can_move(t, i);
        wide[t->p->z[i] > 0] += t->p->hi[i] - t->p->lo[i];
    }
    mcr_status st = mcr_gram_total(t->d, wide, 3);
    t->movable = wide[2];
    for (int64_t i = 0; i < t->n; i++) {
        int side = t->p->z[i] > 0;
        double share = 0.5 * (wide[!side] > 0 ? fmin(1, wide[!side] / wide[side]) : 1);
        double step = share * (t->p->hi[i] - t->p->lo[i]);
        t->b[i] = side ? t->p->lo[i] + step : t->p->hi[i] - step;
    }
    if (!st)
        st = refresh(t);
    for (int64_t i = 0; i < t->n && !st; i++)
        if (can_move(t, i))
            sum[0] += (t->g[i] - t->p->z[i]) * (t->g[i] - t->p->z[i]) / t->movable;
    if (!st)
        st = mcr_gram_total(t->d, sum, 1);
    for (int64_t i = 0; i < t->n; i++) {
        t->s[i] = t->t[i] = fmax(sqrt(sum[0]), 1e-3);
        sum[1] += (t->p->hi[i] - t->p->lo[i]) * t->s[i] / (2 * t->movable);
    }
    if (!st)
        st = mcr_gram_total(t->d, &sum[1], 1);
    t->mu = sum[1];
    return st;
}

/* ---- one step ---------------------------------------------------------------------------------*/

/* Goes over all objects in parts; the results of the parts are combined in order. */
typedef struct chunk_job {
    state *t;
    void (*work)(state *t, int64_t first, int64_t end, double *found);
} chunk_job;

static mcr_status run_chunk(void *arg, int64_t first, int64_t end)
{
    const chunk_job *j = arg;
    double *found = j->t->found + first / CHUNK * FOUND;
    found[0] = found[1] = 0;
    j->work(j->t, first, end, found);
    return MCR_OK;
}

static void over_all(state *t, void (*work)(state *, int64_t, int64_t, double *), double sum[FOUND])
{
    int64_t count = (t->n + CHUNK - 1) / CHUNK;
    chunk_job j = {t, work};
    (void)mcr_parallel_chunks(t->ctx, t->n, CHUNK, run_chunk, &j); /* no part fails */
    for (int k = 0; k < FOUND; k++)
        sum[k] = 0;
    for (int64_t i = 0; i < count; i++)
        for (int k = 0; k < FOUND; k++)
            sum[k] += t->found[i * FOUND + k];
}

/* Weights of the rows, and products of complementarity; found: the sum of the weights. */
static void set_weights(state *t, int64_t first, int64_t end, double *found)
{
    for (int64_t i = first; i < end; i++) {
        double x = t->b[i] - t->p->lo[i], c = t->p->hi[i] - t->b[i];
        t->off_s[i] = x * t->s[i];
        t->off_t[i] = c * t->t[i];
        t->h[i] = can_move(t, i) ? x * c / (t->s[i] * c + t->t[i] * x) : 0;
        found[0] += t->h[i];
    }
}

/* The factor of 1 + D' h D; sum: of h, in all processes, for the bias's corner. */
static mcr_status factorise(state *t, double sum)
{
    mcr_status st = mcr_gram_fill_weighted(t->d, &t->m, t->all, t->h);
    if (!st)
        st = mcr_system_factor(&t->m, 1, NULL, NULL);
    t->corner = sum;
    return st;
}

/* q: the right side, from the residual and the complementarity that is to go. */
static void aim(state *t, int64_t first, int64_t end, double *found)
{
    (void)found;
    for (int64_t i = first; i < end; i++) {
        double x = t->b[i] - t->p->lo[i], c = t->p->hi[i] - t->b[i];
        double slope = t->g[i] - t->p->z[i] + t->bias;
        t->q[i] = !can_move(t, i) ? 0
                                  : t->s[i] - t->t[i] - slope - t->off_s[i] / x + t->off_t[i] / c;
    }
}

static void weighted_right(state *t, int64_t first, int64_t end, double *found)
{
    for (int64_t i = first; i < end; i++) {
        double hq = t->h[i] * t->q[i];
        t->two[i * t->cols] = hq;
        if (t->cols == 2)
            t->two[i * 2 + 1] = t->h[i];
        found[0] += hq;
        found[1] += t->b[i];
    }
}

/* u, bias and D u for the q that was set. edge: the bias's row is to be solved for as well. */
static mcr_status solve(state *t, bool edge)
{
    int64_t p = t->wide, cols = edge && !t->p->no_sum ? 2 : 1;
    double sum[FOUND];
    t->cols = cols;
    over_all(t, weighted_right, sum);
    mcr_status st = mcr_gram_total(t->d, sum, FOUND);
    if (!st)
        st = mcr_gram_project(t->d, t->all, t->two, cols, t->right);
    for (int64_t k = 0; k < p && !st && cols == 2; k++)
        t->edge[k] = t->right[k * 2 + 1];
    if (!st)
        st = mcr_system_solve(&t->m, cols, t->right);
    if (st)
        return st;
    double corner = t->corner, side = sum[0] + sum[1] - t->sum;
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
    return mcr_gram_expand(t->d, t->all, t->u, 1, t->du);
}

static double shorter(double step, double at, double change)
{
    return at + step * change < 0 ? -at / change : step;
}

/* The directions; found: the longest step that this part allows. */
static void set_directions(state *t, int64_t first, int64_t end, double *found)
{
    double step = LONGEST;
    for (int64_t i = first; i < end; i++) {
        double x = t->b[i] - t->p->lo[i], c = t->p->hi[i] - t->b[i];
        if (!can_move(t, i))
            continue;
        t->db[i] = t->h[i] * (t->q[i] - t->du[i] - t->dbias);
        t->ds[i] = -(t->off_s[i] + t->s[i] * t->db[i]) / x;
        t->dt[i] = -(t->off_t[i] - t->t[i] * t->db[i]) / c;
        step = shorter(shorter(step, x, t->db[i]), c, -t->db[i]);
        step = shorter(shorter(step, t->s[i], t->ds[i]), t->t[i], t->dt[i]);
    }
    found[0] = step;
}

/* The directions of all, and a step after which all are positive. */
static mcr_status direct(state *t, bool edge)
{
    double sum[FOUND];
    over_all(t, aim, sum);
    mcr_status st = solve(t, edge);
    if (st)
        return st;
    over_all(t, set_directions, sum);
    double minus = -LONGEST;
    for (int64_t i = 0; i < (t->n + CHUNK - 1) / CHUNK; i++)
        minus = fmax(minus, -t->found[i * FOUND]);
    st = mcr_gram_largest(t->d, &minus, 1);
    t->step = -minus / LONGEST;
    return st;
}

/* Complementarity after the step. */
static void look_ahead(state *t, int64_t first, int64_t end, double *found)
{
    for (int64_t i = first; i < end; i++)
        if (can_move(t, i))
            found[0] +=
                (t->b[i] - t->p->lo[i] + t->step * t->db[i]) * (t->s[i] + t->step * t->ds[i]) +
                (t->p->hi[i] - t->b[i] - t->step * t->db[i]) * (t->t[i] + t->step * t->dt[i]);
}

static void swap(double **a, double **b)
{
    double *c = *a;
    *a = *b;
    *b = c;
}

/* The directions, with those of before put aside. */
static void put_aside(state *t)
{
    swap(&t->db, &t->old.db);
    swap(&t->ds, &t->old.ds);
    swap(&t->dt, &t->old.dt);
    swap(&t->du, &t->old.du);
    swap(&t->u, &t->old.u);
    double bias = t->old.dbias, step = t->old.step;
    t->old.dbias = t->dbias;
    t->old.step = t->step;
    t->dbias = bias;
    t->step = step;
}

/* What is to be added to a product of complementarity that a longer step would leave far from the
 * others. */
static double outlier(double product, double centre)
{
    double wanted = product < 0.1 * centre ? 0.1 * centre : product;
    wanted = wanted > 10 * centre ? 10 * centre : wanted;
    return wanted - product < -10 * centre ? -10 * centre : wanted - product;
}

static void take_outliers(state *t, int64_t first, int64_t end, double *found)
{
    (void)found;
    for (int64_t i = first; i < end; i++) {
        double x = t->b[i] - t->p->lo[i], c = t->p->hi[i] - t->b[i], far = t->longer;
        if (!can_move(t, i))
            continue;
        t->off_s[i] -= outlier((x + far * t->db[i]) * (t->s[i] + far * t->ds[i]), t->centre);
        t->off_t[i] -= outlier((c - far * t->db[i]) * (t->t[i] + far * t->dt[i]), t->centre);
    }
}

/* Gondzio's correctors (Comput. Optim. Appl. 6, 1996): a longer step, if a direction that brings
 * the outliers closer allows it. They need no new factor, and are used if a factor is expensive. */
static mcr_status correct(state *t)
{
    mcr_status st = MCR_OK;
    double sum[FOUND];
    for (int k = 0; k < t->correctors && !st && t->step < 0.9; k++) {
        t->longer = fmin(1, 1.2 * t->step + 0.1);
        over_all(t, take_outliers, sum);
        put_aside(t);
        st = direct(t, false);
        if (!st && t->step < t->old.step + 0.1 * (t->longer - t->old.step)) {
            if (t->step < t->old.step)
                put_aside(t);
            break;
        }
    }
    return st;
}

static void take_products(state *t, int64_t first, int64_t end, double *found)
{
    (void)found;
    for (int64_t i = first; i < end; i++) {
        t->off_s[i] += t->db[i] * t->ds[i] - t->centre;
        t->off_t[i] -= t->db[i] * t->dt[i] + t->centre;
    }
}

static mcr_status find_directions(state *t)
{
    double sum[FOUND];
    over_all(t, set_weights, sum);
    mcr_status st = mcr_gram_total(t->d, sum, 1);
    if (!st)
        st = factorise(t, sum[0]);
    if (!st)
        st = direct(t, true);
    if (st)
        return st;
    over_all(t, look_ahead, sum);
    if ((st = mcr_gram_total(t->d, sum, 1)))
        return st;
    double ahead = sum[0] / (2 * t->movable);
    t->centre = t->mu * pow(fmin(ahead / t->mu, 1), 3);
    over_all(t, take_products, sum);
    st = direct(t, false);
    return st ? st : correct(t);
}

static void move(state *t, int64_t first, int64_t end, double *found)
{
    for (int64_t i = first; i < end; i++) {
        t->b[i] += t->step * t->db[i];
        t->s[i] += t->step * t->ds[i];
        t->t[i] += t->step * t->dt[i];
        t->g[i] += t->step * t->du[i];
        if (can_move(t, i))
            found[0] += (t->b[i] - t->p->lo[i]) * t->s[i] + (t->p->hi[i] - t->b[i]) * t->t[i];
    }
}

static mcr_status advance(state *t)
{
    double sum[FOUND];
    mcr_status st = find_directions(t);
    if (st)
        return st;
    over_all(t, move, sum);
    if ((st = mcr_gram_total(t->d, sum, 1)))
        return st;
    t->mu = sum[0] / (2 * t->movable);
    for (int64_t k = 0; k < t->wide; k++)
        t->w[k] += t->step * t->u[k];
    t->bias += t->step * t->dbias;
    return MCR_OK;
}

/* ---- the end ----------------------------------------------------------------------------------*/

/* Coefficients that are closer to a bound than its multiplier is to 0 are set to the bound. */
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

static mcr_status evaluate(state *t)
{
    mcr_status st = mcr_linear_balance(t->d, t->p, t->sum, t->try_b);
    if (!st)
        st = mcr_linear_evaluate(t->d, t->p, t->try_b, t->try_g, t->try_w, t->result);
    if (!st && mcr_linear_worst(t->result) < t->best) {
        t->best = mcr_linear_worst(t->result);
        memcpy(t->best_b, t->try_b, sizeof *t->best_b * (size_t)t->n);
    }
    return st;
}

/* A step of the coefficients that are free in the best solution so far, towards equal slopes: their
 * own problem without bounds, with a little added to its diagonal. */
static mcr_status correct_free(state *t, double ridge)
{
    double sum[2] = {0, 0}; /* of the free, and how many these are */
    for (int64_t i = 0; i < t->n; i++) {
        bool is_free = t->try_b[i] > t->p->lo[i] && t->try_b[i] < t->p->hi[i];
        t->h[i] = is_free ? 1 / ridge : 0;
        sum[0] += is_free ? t->p->z[i] - t->try_g[i] : 0;
        sum[1] += is_free;
    }
    mcr_status st = mcr_gram_total(t->d, sum, 2);
    if (st || sum[1] == 0)
        return st;
    t->bias = t->p->no_sum ? 0 : sum[0] / sum[1];
    st = factorise(t, sum[1] / ridge);
    swap(&t->b, &t->try_b);
    swap(&t->g, &t->try_g);
    for (int64_t i = 0; i < t->n; i++)
        t->q[i] = t->h[i] > 0 ? t->p->z[i] - t->g[i] - t->bias : 0;
    if (!st)
        st = solve(t, true);
    swap(&t->b, &t->try_b);
    swap(&t->g, &t->try_g);
    for (int64_t i = 0; i < t->n && !st; i++)
        if (t->h[i] > 0) {
            double now = t->try_b[i] + t->h[i] * (t->q[i] - t->du[i] - t->dbias);
            t->try_b[i] = fmin(fmax(now, t->p->lo[i]), t->p->hi[i]);
        }
    return st;
}

/* Setting coefficients to their bounds moves w slightly; the free coefficients compensate for
 * that. */
static mcr_status polish(state *t)
{
    enum { MOST = 6 };
    double square = 0, n = (double)t->n;
    mcr_status st = mcr_gram_total(t->d, &n, 1);
    if (!st)
        st = mcr_gram_squares(t->d, t->all, t->h);
    for (int64_t i = 0; i < t->n && !st; i++)
        square += t->h[i] / n;
    if (!st)
        st = mcr_gram_total(t->d, &square, 1);
    for (int i = 0; i < MOST && !st && t->best > t->p->tolerance; i++) {
        double before = t->best;
        memcpy(t->try_b, t->best_b, sizeof *t->try_b * (size_t)t->n);
        st = mcr_linear_evaluate(t->d, t->p, t->try_b, t->try_g, t->try_w, t->result);
        if (!st)
            st = correct_free(t, 1e-9 * square);
        if (!st)
            st = evaluate(t);
        if (!st && t->best > 0.9 * before)
            break;
    }
    return st == MCR_NUMERIC ? MCR_OK : st;
}

/* Worth evaluating: the gap is small against the objective. */
static mcr_status is_near(const state *t, bool *near)
{
    double sum[2] = {0, 0}; /* b'g and z'b */
    for (int64_t i = 0; i < t->n; i++) {
        sum[0] += t->b[i] * t->g[i];
        sum[1] += t->p->z[i] * t->b[i];
    }
    mcr_status st = mcr_gram_total(t->d, sum, 2);
    *near = t->mu * 2 * t->movable < 1e-2 * fmax(fabs(sum[1] - 0.5 * sum[0]), 1e-300);
    return st;
}

static mcr_status iterate(state *t)
{
    enum { MOST = 200, PATIENCE = 12 };
    mcr_status st = MCR_OK;
    int worse = 0;
    bool near, over = false;
    t->result->stop = MCR_STOP_STUCK;
    for (int i = 0; i < MOST && !(st = is_near(t, &near)); i++) {
        if (near) {
            double before = t->best;
            snap(t);
            st = evaluate(t);
            if (!st && t->best <= t->p->tolerance) {
                t->result->stop = MCR_STOP_OPTIMAL;
                break;
            }
            worse = t->best < 0.9 * before ? 0 : worse + 1;
            if (!st && worse) /* rounding: both are updated along the way */
                st = refresh(t);
        }
        if (st || worse > PATIENCE || !(t->mu > 0))
            break;
        st = mcr_linear_is_over(t->d, t->p, t->began, t->best, t->result, &over);
        if (st || over)
            break;
        st = advance(t);
        t->result->steps++;
        if (st || !(t->step > 1e-12))
            break;
    }
    if (st == MCR_NUMERIC && isfinite(t->best)) /* no factor: this is the end */
        st = MCR_OK;
    if (!st && t->result->stop == MCR_STOP_STUCK && isfinite(t->best)) {
        st = polish(t);
        if (t->best <= t->p->tolerance)
            t->result->stop = MCR_STOP_OPTIMAL;
    }
    return st;
}

mcr_status mcr_linear_interior(mcr_gram *d, const mcr_qp *p, double *b, double *g, double *w,
                               mcr_qp_result *result)
{
    state t;
    *result = (mcr_qp_result){.stop = MCR_STOP_OPTIMAL};
    double sum[2] = {0, 0};
    mcr_status st = open_state(&t, d, p, result);
    for (int64_t i = 0; i < p->n; i++) {
        sum[0] += b[i];
        sum[1] += fabs(b[i]);
    }
    if (!st)
        st = mcr_gram_total(d, sum, 2);
    /* Of a start that may be larger than the solution, what rounding leaves is no sum. */
    t.sum = fabs(sum[0]) <= 1e-12 * sum[1] ? 0 : sum[0];
    if (!st)
        st = begin(&t);
    if (!st && t.movable > 0)
        st = iterate(&t);
    if (!st && t.movable > 0) {
        if (isinf(t.best)) { /* ended before it was near */
            snap(&t);
            st = evaluate(&t);
        }
        memcpy(b, t.best_b, sizeof *b * (size_t)t.n);
    } else if (!st) {
        memcpy(b, p->lo, sizeof *b * (size_t)t.n);
    }
    if (!st)
        st = mcr_linear_evaluate(d, p, b, g, w, result);
    close_state(&t);
    return st;
}
