/* smo_interior.c: small quadratic programs by an interior point method, used if steps of two
 * coefficients make no progress: kernels with a huge range of values, nearly singular ones, very
 * large bounds.
 *
 * Mehrotra's predictor and corrector (Wright, Primal-Dual Interior-Point Methods, 1997). The kink
 * at 0 of epsilon |b| splits a coefficient into two that are not negative. K, scaled to a largest
 * diagonal of 1, becomes L L' by a Cholesky factorisation with pivots, which finds its rank. With D
 * = [L, -A'], A the sums that are kept, and W the sum of the inverse barrier curvatures of an
 * object, a Newton step solves D' W D + I (without I for the sums): weighted least squares, which
 * singular kernels and constants in their span do not harm.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "gram/factor.h"
#include "linalg/system.h"
#include "solve/smo_impl.h"

enum { MOST_ITERATIONS = 100, MOST_SHORT = 4 };

#define ENOUGH   1e-14 /* of the squared scale: the mean product of a slack and its multiplier */
#define SHORT    1e-3  /* a step that hardly goes on */
#define TO_BOUND 0.995 /* of the way to the nearest bound */
#define RANK     1e-15 /* a diagonal of what is left of K that counts as 0 */

/* One variable: a coefficient, or its part above or below 0. */
typedef struct part {
    int64_t object;
    double sign, low, high, cost;
    double x, zl, zu;               /* value, multipliers of the bounds */
    double dx, dl, du, curve, push; /* the step; barrier curvature; right hand side */
} part;

typedef struct interior {
    const mcr_smo *s;
    int64_t n, parts, rank, wide; /* wide: columns of D */
    int groups;
    part *part, *before;        /* before: the last step */
    double *l;                  /* rows of D, m.ld apart */
    mcr_system m;               /* K before, then the matrix of a step */
    mcr_gram *d;                /* the factor, one column more per level */
    double *b, *f, *h, *w;      /* n each: coefficients, D at, right hand side, W */
    double *at, *step, *jacobi; /* wide each: L'b and the levels, their step, its scale */
    double sum[2], rest[2];     /* what the coefficients of a group come to, what they lack */
    double unit, scale;         /* of K; of the gradient */
    size_t taken;               /* of the memory budget, for l */
} interior;

/* K = L L', the largest diagonal that is left first; rows of L stay in the order of the objects. */
static void factor_kernel(interior *t)
{
    double *left = t->h;
    for (int64_t i = 0; i < t->n; i++)
        left[i] = t->m.a[i * t->m.ld + i];
    for (t->rank = 0; t->rank < t->n; t->rank++) {
        int64_t k = t->rank, best = 0;
        for (int64_t i = 1; i < t->n; i++)
            best = left[i] > left[best] ? i : best;
        if (!(left[best] > RANK))
            break;
        double root = sqrt(left[best]);
        const double *pivot = t->l + best * t->m.ld;
        for (int64_t i = 0; i < t->n; i++) {
            double *row = t->l + i * t->m.ld, sum = t->m.a[best * t->m.ld + i];
            for (int64_t j = 0; j < k; j++)
                sum -= row[j] * pivot[j];
            row[k] = i == best ? root : left[i] > 0 ? sum / root : 0;
            left[i] -= row[k] * row[k];
        }
        left[best] = 0;
    }
}

static mcr_status open_interior(interior *t, mcr_smo *s)
{
    size_t n = (size_t)s->n;
    *t = (interior){.s = s, .n = s->n, .groups = s->p->no_sum ? 0 : s->groups};
    t->unit = 1 / s->largest;
    size_t wide = n + 2;
    if (!mcr_alloc_arrays(s->ctx, MCR_CLEARED(t->part, 2 * n), /* the block to free */
                          MCR_CLEARED(t->before, 2 * n), MCR_CLEARED(t->b, wide),
                          MCR_CLEARED(t->f, wide), MCR_CLEARED(t->h, wide), MCR_CLEARED(t->w, wide),
                          MCR_CLEARED(t->at, wide), MCR_CLEARED(t->step, wide),
                          MCR_CLEARED(t->jacobi, wide)))
        return MCR_NO_MEMORY;
    mcr_status st = mcr_system_open(&t->m, s->ctx, s->n + 2, "the kernel matrix");
    if (!st)
        st = mcr_budget_take(s->ctx, t->m.taken, "the factor of the kernel matrix");
    t->taken = st ? 0 : t->m.taken;
    if (!st && !(t->l = mcr_alloc(s->ctx, t->taken, 1)))
        st = MCR_NO_MEMORY;
    if (!st)
        st = mcr_gram_matrix_quietly(s->full, t->m.a, t->m.ld, true);
    if (st)
        return st;
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t j = 0; j < s->n; j++)
            t->m.a[i * t->m.ld + j] *= t->unit;
    factor_kernel(t);
    t->wide = t->rank + t->groups;
    for (int64_t i = 0; i < s->n; i++)
        for (int g = 0; g < t->groups; g++)
            t->l[i * t->m.ld + t->rank + g] = mcr_smo_group(s, i) == g ? -1 : 0;
    return mcr_gram_factor(&t->d, s->ctx,
                           &(mcr_factor){.n = s->n, .p = t->wide, .dense = t->l, .ld = t->m.ld});
}

static void close_interior(interior *t)
{
    mcr_gram_close(t->d);
    mcr_free(t->s->ctx, t->l);
    mcr_budget_give(t->s->ctx, t->taken);
    mcr_system_close(&t->m);
    mcr_free(t->s->ctx, t->part);
}

static void add_part(interior *t, int64_t object, double sign, double low, double high, double cost)
{
    if (!(high > low))
        return;
    t->part[t->parts++] = (part){
        .object = object,
        .sign = sign,
        .low = low,
        .high = high,
        .cost = cost,
        .x = low + 0.5 * (high - low),
        .zl = t->scale,
        .zu = t->scale,
    };
}

static void set_parts(interior *t)
{
    const mcr_qp *p = t->s->p;
    double factor = t->s->largest, e = p->epsilon;
    t->scale = fmax(e, 1e-300);
    for (int64_t i = 0; i < t->n; i++)
        t->scale = fmax(t->scale, fabs(p->z[i]));
    if (!(t->scale > 1e-300))
        t->scale = 1;
    for (int64_t i = 0; i < t->n; i++) {
        double lo = p->lo[i] * factor, hi = p->hi[i] * factor;
        t->sum[mcr_smo_group(t->s, i)] += t->s->b[i] * factor;
        if (e > 0) {
            add_part(t, i, 1, 0, hi, e - p->z[i]);
            add_part(t, i, -1, 0, -lo, e + p->z[i]);
        } else {
            add_part(t, i, 1, lo, hi, -p->z[i]);
        }
    }
}

/* The gradient without the levels' part, and what the sums lack. */
static mcr_status look(interior *t)
{
    memset(t->b, 0, sizeof *t->b * (size_t)t->n);
    memcpy(t->rest, t->sum, sizeof t->rest);
    for (int64_t c = 0; c < t->parts; c++) {
        const part *v = &t->part[c];
        t->b[v->object] += v->sign * v->x;
        t->rest[mcr_smo_group(t->s, v->object)] -= v->sign * v->x;
    }
    mcr_status st = mcr_gram_project(t->d, mcr_gram_all(t->d), t->b, 1, t->step);
    memcpy(t->at, t->step, sizeof *t->at * (size_t)t->rank);
    return st ? st : mcr_gram_expand(t->d, mcr_gram_all(t->d), t->at, 1, t->f);
}

/* Barrier curvatures, and the factor of D' W D + I, its diagonal scaled to 1. */
static mcr_status factor(interior *t)
{
    int64_t p = t->wide, ld = t->m.ld;
    memset(t->w, 0, sizeof *t->w * (size_t)t->n);
    for (int64_t c = 0; c < t->parts; c++) {
        part *v = &t->part[c];
        v->curve = v->zl / (v->x - v->low) + v->zu / (v->high - v->x);
        t->w[v->object] += 1 / v->curve;
    }
    mcr_status st = mcr_gram_weighted(t->d, mcr_gram_all(t->d), t->w, t->m.a, ld);
    for (int64_t i = 0; i < p && !st; i++) {
        t->m.a[i * ld + i] += i < t->rank;
        t->jacobi[i] = 1 / sqrt(t->m.a[i * ld + i]);
    }
    for (int64_t i = 0; i < p && !st; i++)
        for (int64_t j = 0; j <= i; j++)
            t->m.a[i * ld + j] *= t->jacobi[i] * t->jacobi[j];
    t->m.n = p;
    mcr_system_filled(&t->m);
    return st ? st : mcr_system_factor(&t->m, 0, NULL, NULL);
}

/* The step towards products of `mu`; `corrected`: with the terms of second order of the step
 * before. */
static mcr_status take_step(interior *t, double mu, bool corrected)
{
    int64_t p = t->wide;
    memset(t->h, 0, sizeof *t->h * (size_t)t->n);
    for (int64_t c = 0; c < t->parts; c++) {
        part *v = &t->part[c];
        double below = mu - (corrected ? v->dx * v->dl : 0);
        double above = mu + (corrected ? v->dx * v->du : 0);
        double slope = v->sign * t->f[v->object] + v->cost;
        v->push = -slope + below / (v->x - v->low) - above / (v->high - v->x);
        t->h[v->object] += v->sign * v->push / v->curve;
        v->dl = below / (v->x - v->low) - v->zl; /* what dx adds comes below */
        v->du = above / (v->high - v->x) - v->zu;
    }
    mcr_status st = mcr_gram_project(t->d, mcr_gram_all(t->d), t->h, 1, t->step);
    for (int g = 0; g < t->groups; g++)
        t->step[t->rank + g] += t->rest[g];
    for (int64_t i = 0; i < p; i++)
        t->step[i] *= t->jacobi[i];
    if (!st)
        st = mcr_system_solve(&t->m, 1, t->step);
    for (int64_t i = 0; i < p; i++)
        t->step[i] *= t->jacobi[i];
    if (!st)
        st = mcr_gram_expand(t->d, mcr_gram_all(t->d), t->step, 1, t->h);
    for (int64_t c = 0; c < t->parts && !st; c++) {
        part *v = &t->part[c];
        v->dx = (v->push - v->sign * t->h[v->object]) / v->curve;
        v->dl -= v->zl / (v->x - v->low) * v->dx;
        v->du += v->zu / (v->high - v->x) * v->dx;
    }
    return st;
}

/* How far all variables may go without leaving their bounds. */
static double longest(const interior *t)
{
    double most = 1;
    for (int64_t c = 0; c < t->parts; c++) {
        const part *v = &t->part[c];
        if (v->dx < 0)
            most = fmin(most, (v->low - v->x) / v->dx);
        if (v->dx > 0)
            most = fmin(most, (v->high - v->x) / v->dx);
        if (v->dl < 0)
            most = fmin(most, -v->zl / v->dl);
        if (v->du < 0)
            most = fmin(most, -v->zu / v->du);
    }
    return most;
}

/* The mean product of slack and multiplier after a step of that length. */
static double mean_product(const interior *t, double length)
{
    double sum = 0;
    for (int64_t c = 0; c < t->parts; c++) {
        const part *v = &t->part[c];
        double x = v->x + length * v->dx;
        sum += (x - v->low) * (v->zl + length * v->dl) + (v->high - x) * (v->zu + length * v->du);
    }
    return sum / (2 * (double)t->parts);
}

/* How far the multipliers are from the gradient. */
static double largest_rest(const interior *t)
{
    double most = 0;
    for (int64_t c = 0; c < t->parts; c++) {
        const part *v = &t->part[c];
        most = fmax(most, fabs(v->sign * t->f[v->object] + v->cost - v->zl + v->zu));
    }
    return most;
}

/* One step. MCR_NUMERIC: the one before has gone wrong, as rounding takes over in the end, and is
 * taken back. */
static mcr_status iterate(interior *t, double *length, double *mu, double *rest)
{
    mcr_status st = look(t);
    for (int64_t c = 0; c < t->parts; c++)
        t->part[c].dx = t->part[c].dl = t->part[c].du = 0;
    double now = largest_rest(t);
    if (!st && !(now < 100 * fmax(*rest, 1e-9 * t->scale))) {
        memcpy(t->part, t->before, sizeof *t->part * (size_t)t->parts);
        return MCR_NUMERIC;
    }
    memcpy(t->before, t->part, sizeof *t->part * (size_t)t->parts);
    *rest = fmin(*rest, now);
    *mu = mean_product(t, 0);
    if (!st)
        st = factor(t);
    if (!st)
        st = take_step(t, 0, false);
    if (st)
        return st;
    double share = mean_product(t, longest(t)) / *mu;
    if ((st = take_step(t, *mu * share * share * share, true)))
        return st;
    *length = fmin(1, TO_BOUND * longest(t));
    for (int64_t c = 0; c < t->parts; c++) {
        const part *v = &t->part[c];
        double x = v->x + *length * v->dx;
        if (!(x > v->low && x < v->high && v->zl + *length * v->dl > 0 &&
              v->zu + *length * v->du > 0))
            return MCR_NUMERIC;
    }
    for (int64_t c = 0; c < t->parts; c++) {
        part *v = &t->part[c];
        v->x += *length * v->dx;
        v->zl += *length * v->dl;
        v->zu += *length * v->du;
    }
    for (int64_t i = t->rank; i < t->wide; i++)
        t->at[i] += *length * t->step[i];
    return MCR_OK;
}

/* A variable whose multiplier is larger than its slack goes to the bound; what the sums then lack,
 * free coefficients get in proportion to their own distance from the bounds. */
static void round_off(interior *t, double *b)
{
    const mcr_qp *p = t->s->p;
    memset(b, 0, sizeof *b * (size_t)t->n);
    for (int64_t c = 0; c < t->parts; c++) {
        part *v = &t->part[c];
        if (v->zl > v->x - v->low)
            v->x = v->low;
        else if (v->zu > v->high - v->x)
            v->x = v->high;
        double to = v->sign > 0 ? p->hi[v->object] : -p->lo[v->object];
        b[v->object] += v->sign * (v->x == v->high ? to : v->x * t->unit);
    }
    for (int g = 0; g < t->groups; g++) {
        double lack = 0, slack = 0;
        for (int64_t i = 0; i < t->n; i++) {
            if (mcr_smo_group(t->s, i) != g)
                continue;
            lack += t->s->b[i] - b[i];
            slack += fmin(b[i] - p->lo[i], p->hi[i] - b[i]);
        }
        double share = slack > 0 ? fmax(-1, fmin(1, lack / slack)) : 0;
        for (int64_t i = 0; i < t->n; i++)
            if (mcr_smo_group(t->s, i) == g)
                b[i] += share * fmin(b[i] - p->lo[i], p->hi[i] - b[i]);
    }
}

mcr_status mcr_smo_interior(mcr_smo *s, double *b, bool *found)
{
    interior t;
    double length = 1, mu = INFINITY, rest = INFINITY;
    int few = 0;
    *found = false;
    mcr_status st = open_interior(&t, s);
    if (!st)
        set_parts(&t);
    for (int i = 0; i < MOST_ITERATIONS && !st && t.parts > 0; i++) {
        st = iterate(&t, &length, &mu, &rest);
        s->result->steps++;
        few = length < SHORT ? few + 1 : 0;
        if (st || few == MOST_SHORT || mu < ENOUGH * t.scale * t.scale || mcr_smo_is_over(s))
            break;
    }
    /* If it cannot be computed or stored, the coefficients stay as they are. */
    if ((!st || st == MCR_NUMERIC) && t.parts > 0 && isfinite(mu)) {
        round_off(&t, b);
        *found = true;
    }
    close_interior(&t);
    return st == MCR_NO_MEMORY || st == MCR_STOPPED ? st : MCR_OK;
}
