/* smo_newton.c: the working set's own problem by steps of two coefficients and steps of all free
 * ones.
 *
 * If bounds are wide, many coefficients are free and depend on each other: steps of two are then
 * slow. A Newton step on the free ones solves
 *
 *     min  1/2 d'Kd + g'd,  the sum of d over each group 0,  b + d within the bounds
 *
 * by a primal active set. With the inverse M of K + shift, of the free ones, the direction is -Mg.
 * A constraint a'd = 0, the sum of a group or a coefficient that has come to its bound, takes Ma
 * (Ma)' / a'Ma off M: one vector more, and the direction follows from the one before. So each bound
 * costs a few products of vectors. At the end the slopes are computed from K, and the error caused
 * by the shift is corrected with the same M. Steps of two follow, which release coefficients that
 * should leave their bounds. An inverse is computed when the steps of two before it have cost as
 * much (rent or buy), measured in counted operations: the result depends neither on threads nor on
 * the clock.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "linalg/definite.h"
#include "linalg/lapack.h"
#include "linalg/tiles.h"
#include "solve/smo_impl.h"

enum {
    LEAST_FREE = 8,
    MOST_FREE = 2048,
    MOST_TRIED = 1024,  /* in a trial, whose memory is not counted */
    MOST_SMALL = 384,   /* whose inverse, in float, needs no BLAS */
    LEAST_SLICE = 1000, /* steps of two between looks */
    MOST_STOPS = 1024,  /* constraints of one Newton step */
    MOST_PASSES = 25,
    MOST_SHIFTS = 5
};

/* Prices in the unit of an inverse of n members, n^3. */
#define STEP_PRICE  7.0  /* for each member, of a step of two in float; twice that in double */
#define OPEN_PRICE  6e7  /* of the first inverse by BLAS: the library is loaded */
#define AGAIN       0.25 /* of the price: after a Newton step that went on well */
#define SHIFT       0.1  /* of the tolerance, for the largest coefficient: it can leave that much */
#define FLOAT_SHIFT 3e-7 /* of the largest K(x,x): what makes the factor of floats exist */
#define EXACT_SHIFT 1e-14
#define MORE_SHIFT  100.0
#define PROGRESS    0.9 /* of the slopes: what a pass must leave at most */
#define ENOUGH      0.1 /* of the tolerance: slopes that may be left */

/* A free member of the working set. */
typedef struct member {
    int64_t at;
    int group;
    bool stopped;     /* at a bound */
    double g;         /* slope */
    double b, x;      /* the coefficient, and where it goes */
    double low, high; /* where it may go */
} member;

typedef struct newton {
    mcr_smo *s;
    const mcr_tile_kit *kit;
    int64_t count, stops, most_stops; /* members; constraints, and space for them */
    int64_t ld;                       /* between rows of m */
    int groups;                       /* whose sums are kept */
    member *member;
    double *r, *c;    /* slopes at x; the direction */
    const void **row; /* of K */
    double *m;        /* the inverse, all of it */
    double *work;     /* for a small inverse */
    double *v;        /* what the constraints take off it, a row each */
    double *sum;      /* K (x - b), of all members of the set */
} newton;

static const void *row_of(mcr_smo *s, int64_t m)
{
    const mcr_smo_block *k = &s->block;
    if (k->row ? !k->row[m] : k->there && !k->there[m])
        k->make_row(k->arg, m);
    return k->row ? k->row[m] : (const char *)k->k + (size_t)(m * k->ld) * s->real;
}

static double value_at(const mcr_smo *s, const void *array, int64_t at)
{
    return s->precise ? ((const double *)array)[at] : (double)((const float *)array)[at];
}

static bool is_free(const mcr_smo_block *k, int64_t m)
{
    return k->b[m] > k->lo[m] && k->b[m] < k->hi[m] && (k->epsilon == 0 || k->b[m] != 0) &&
           (k->lo[m] > -INFINITY || k->hi[m] < INFINITY); /* not the null object */
}

static int64_t count_free(const mcr_smo_block *k)
{
    int64_t count = 0;
    for (int64_t m = 0; m < k->members; m++)
        count += is_free(k, m);
    return count;
}

static void list_free(newton *t)
{
    mcr_smo *s = t->s;
    const mcr_smo_block *k = &s->block;
    double level = s->p->no_sum ? value_at(s, k->g, s->slots) : 0;
    t->count = 0;
    for (int64_t m = 0; m < k->members; m++)
        if (is_free(k, m)) {
            double e = k->epsilon, b = k->b[m];
            t->row[t->count] = row_of(s, m);
            t->member[t->count++] = (member){
                .at = m,
                .group = k->groups == 2 ? k->group[m] : 0,
                .g = value_at(s, k->g, m) - level + (b > 0 ? e : -e),
                .b = b,
                .x = b,
                .low = e > 0 && b > 0 ? 0 : k->lo[m],
                .high = e > 0 && b < 0 ? 0 : k->hi[m],
            };
        }
    memset(t->sum, 0, sizeof *t->sum * (size_t)s->places);
}

/* Whether the inverse of so many is computed without BLAS: the first of them need not wait until
 * loading it pays. The shift that floats need bounds the condition; with doubles a Cholesky factor,
 * whose inverse has the smaller residual, is better. */
static bool is_small(const mcr_smo *s, int64_t count)
{
    return count <= MOST_SMALL && !s->precise;
}

/* K + shift, its lower triangle. */
static void fill(newton *t, double shift)
{
    for (int64_t i = 0; i < t->count; i++) {
        double *to = t->m + i * t->ld;
        for (int64_t j = 0; j <= i; j++)
            to[j] = value_at(t->s, t->row[i], t->member[j].at);
        to[i] += shift;
    }
}

/* Its inverse, by BLAS where there are many. */
static mcr_status invert_filled(newton *t)
{
    int64_t n = t->count, ld = t->ld;
    if (is_small(t->s, n))
        return mcr_tiles_best()->f64->definite->inverse(n, t->m, t->work) ? MCR_OK : MCR_NUMERIC;
    mcr_status st = mcr_lapack_cholesky(t->s->ctx, n, t->m, ld, NULL, NULL);
    if (!st)
        st = mcr_lapack_inverse(t->s->ctx, n, t->m, ld, t->r, NULL);
    for (int64_t i = 0; i < n && !st; i++) {
        t->m[i * ld + i] = t->r[i];
        for (int64_t j = 0; j < i; j++)
            t->m[i * ld + j] = t->m[j * ld + i];
    }
    return st;
}

/* The inverse of K + shift, of the free members, with as small a shift as it needs. */
static mcr_status invert(newton *t)
{
    double largest = t->s->largest, most = 0;
    for (int64_t i = 0; i < t->count; i++)
        most = fmax(most, fabs(t->member[i].b));
    double shift = fmax((t->s->precise ? EXACT_SHIFT : FLOAT_SHIFT) * largest,
                        fmin(SHIFT * t->s->block.tolerance / most, FLOAT_SHIFT * largest));
    mcr_status st = MCR_NUMERIC;
    for (int tries = 0; tries < MOST_SHIFTS && st == MCR_NUMERIC; tries++, shift *= MORE_SHIFT) {
        fill(t, shift);
        st = invert_filled(t);
    }
    return st;
}

static double dot(const double *a, const double *b, int64_t n)
{
    double sum[4] = {0};
    for (int64_t i = 0; i + 4 <= n; i += 4)
        for (int l = 0; l < 4; l++)
            sum[l] += a[i + l] * b[i + l];
    for (int64_t i = n / 4 * 4; i < n; i++)
        sum[0] += a[i] * b[i];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

static void add(double *to, double factor, const double *from, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        to[i] += factor * from[i];
}

/* The constraint whose M a is in the next row of v, with a'Ma: false if there is nothing left of
 * it. */
static bool constrain(newton *t, double square)
{
    double *v = t->v + t->stops * t->count;
    if (!(square > 0) || !isfinite(square))
        return false;
    double factor = 1 / sqrt(square);
    for (int64_t i = 0; i < t->count; i++)
        v[i] *= factor;
    t->stops++;
    return true;
}

/* The sums of the groups. */
static bool keep_sums(newton *t)
{
    int64_t n = t->count;
    for (int g = 0; g < t->groups; g++) {
        double *v = t->v + t->stops * n, square = 0, part = 0;
        memset(v, 0, sizeof *v * (size_t)n);
        for (int64_t i = 0; i < n; i++)
            if (t->member[i].group == g)
                add(v, 1, t->m + i * t->ld, n);
        for (int64_t j = 0; j < t->stops; j++) {
            part = 0;
            for (int64_t i = 0; i < n; i++)
                part += t->member[i].group == g ? t->v[j * n + i] : 0;
            add(v, -part, t->v + j * n, n);
        }
        for (int64_t i = 0; i < n; i++)
            square += t->member[i].group == g ? v[i] : 0;
        if (!constrain(t, square))
            return false;
    }
    return true;
}

/* Member k is at its bound: the direction c goes on without it, as far as is left of it. */
static bool stop(newton *t, int64_t k, double left)
{
    int64_t n = t->count;
    double *v = t->v + t->stops * n, own = t->m[k * t->ld + k];
    memcpy(v, t->m + k * t->ld, sizeof *v * (size_t)n);
    for (int64_t j = 0; j < t->stops; j++)
        add(v, -t->v[j * n + k], t->v + j * n, n);
    t->member[k].stopped = true;
    for (int64_t i = 0; i < n; i++)
        if (t->member[i].stopped && i != k)
            v[i] = 0;
    double ck = t->c[k], square = v[k];
    if (!(square > 1e-10 * own)) /* the others follow from the sums */
        return false;
    for (int64_t i = 0; i < n; i++)
        t->c[i] = left * (t->c[i] - v[i] * (ck / square));
    t->c[k] = 0;
    return constrain(t, square);
}

/* The direction from the slopes r. */
static void aim(newton *t)
{
    int64_t n = t->count;
    memset(t->c, 0, sizeof *t->c * (size_t)n);
    for (int64_t i = 0; i < n; i++)
        if (!t->member[i].stopped)
            add(t->c, -t->r[i], t->m + i * t->ld, n);
    for (int64_t i = 0; i < n; i++)
        if (t->member[i].stopped)
            t->r[i] = 0;
    for (int64_t j = 0; j < t->stops; j++)
        add(t->c, dot(t->v + j * n, t->r, n), t->v + j * n, n);
    for (int64_t i = 0; i < n; i++)
        if (t->member[i].stopped)
            t->c[i] = 0;
}

/* What rounding has made of the sums of c, taken off all alike. */
static void balance(newton *t)
{
    double sum[2] = {0}, count[2] = {0};
    for (int64_t i = 0; i < t->count; i++)
        if (!t->member[i].stopped) {
            sum[t->member[i].group] += t->c[i];
            count[t->member[i].group]++;
        }
    for (int64_t i = 0; i < t->count && t->groups > 0; i++)
        if (!t->member[i].stopped)
            t->c[i] -= sum[t->member[i].group] / count[t->member[i].group];
}

/* Goes along c, and on without those that come to a bound; false: where constraints end it. */
static bool go(newton *t)
{
    int64_t n = t->count;
    for (;;) {
        double share = 1;
        int64_t first = -1;
        balance(t);
        for (int64_t i = 0; i < n; i++) {
            const member *v = &t->member[i];
            double to = v->x + share * t->c[i];
            if (v->stopped || (to >= v->low && to <= v->high))
                continue;
            share = fmax(0, ((t->c[i] < 0 ? v->low : v->high) - v->x) / t->c[i]);
            first = i;
        }
        for (int64_t i = 0; i < n; i++) {
            member *v = &t->member[i];
            if (!v->stopped)
                v->x = fmin(fmax(v->x + share * t->c[i], v->low), v->high);
        }
        if (first < 0)
            return true;
        t->member[first].x = t->c[first] < 0 ? t->member[first].low : t->member[first].high;
        if (t->stops == t->most_stops || !stop(t, first, 1 - share))
            return false;
    }
}

/* Slopes at x into r, from K; returns the range of those that are not at a bound. */
static double look(newton *t)
{
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY}, most = 0;
    if (t->groups == 0)
        low[0] = high[0] = 0;
    memset(t->sum, 0, sizeof *t->sum * (size_t)t->s->places);
    for (int64_t i = 0; i < t->count; i++)
        t->c[i] = t->member[i].x - t->member[i].b;
    t->kit->update(t->sum, t->row, t->c, t->count, 0, t->s->places);
    for (int64_t i = 0; i < t->count; i++) {
        const member *v = &t->member[i];
        t->r[i] = v->g + t->sum[v->at];
        if (v->stopped)
            continue;
        low[v->group] = fmin(low[v->group], t->r[i]);
        high[v->group] = fmax(high[v->group], t->r[i]);
    }
    for (int g = 0; g < 2; g++)
        most = fmax(most, high[g] - low[g]);
    return most;
}

/* Finds where all members go; *share: how far on the way there the objective falls, 0 if it does
 * not. */
static mcr_status find(newton *t, double *share)
{
    double slope = 0, curve = 0, before = INFINITY;
    *share = 0;
    mcr_status st = invert(t);
    if (st || !keep_sums(t))
        return st == MCR_NUMERIC ? MCR_OK : st;
    for (int64_t i = 0; i < t->count; i++)
        t->r[i] = t->member[i].g;
    bool on = true;
    for (int pass = 0; on && pass < MOST_PASSES; pass++) {
        aim(t);
        on = go(t);
        double now = look(t);
        on = on && now > ENOUGH * t->s->block.tolerance && now < PROGRESS * before;
        before = now;
    }
    for (int64_t i = 0; i < t->count; i++) {
        const member *v = &t->member[i];
        slope += v->g * (v->x - v->b);
        curve += t->sum[v->at] * (v->x - v->b);
    }
    *share = slope < 0 ? curve > -slope ? -slope / curve : 1 : 0;
    return MCR_OK;
}

static void take(newton *t, double share)
{
    mcr_smo *s = t->s;
    mcr_smo_block *k = &s->block;
    for (int64_t i = 0; i < t->count; i++) {
        const member *v = &t->member[i];
        double b = share == 1 ? v->x : v->b + share * (v->x - v->b);
        k->b[v->at] = fmin(fmax(b, v->low), v->high);
    }
    for (int64_t m = 0; m < k->members; m++)
        if (s->precise)
            ((double *)k->g)[m] += share * t->sum[m];
        else
            ((float *)k->g)[m] = (float)((double)((float *)k->g)[m] + share * t->sum[m]);
}

/* One step of all free members; *found: it was taken. */
static mcr_status newton_step(mcr_smo *s, int64_t count, bool *found)
{
    const mcr_tiles *tiles = mcr_tiles_best();
    int64_t ld = is_small(s, count) ? mcr_definite_places(count) : count;
    size_t n = (size_t)count, stops = n + 2 < MOST_STOPS ? n + 2 : MOST_STOPS;
    double share = 0;
    newton t = {.s = s,
                .kit = s->precise ? tiles->f64 : tiles->f32,
                .groups = s->p->no_sum ? 0 : s->groups,
                .most_stops = (int64_t)stops,
                .ld = ld};
    void *arrays = mcr_alloc_arrays(
        s->ctx, MCR_ARRAY(t.member, n), MCR_ARRAY(t.r, n), MCR_ARRAY(t.c, n), MCR_ARRAY(t.row, n),
        MCR_ARRAY(t.m, (size_t)(ld * ld)), MCR_ARRAY(t.work, (size_t)mcr_definite_work(ld)),
        MCR_ARRAY(t.v, stops * n), MCR_ARRAY(t.sum, (size_t)s->places + MCR_ROW_PAD));
    mcr_status st = arrays ? MCR_OK : MCR_NO_MEMORY;
    if (!st) {
        list_free(&t);
        st = s->row_status;
    }
    if (!st)
        st = find(&t, &share);
    if (share > 0 && !st)
        take(&t, share);
    *found = share > 0;
    mcr_free(s->ctx, arrays);
    return st;
}

/* Whether so many members may take a Newton step: not if that took much of the memory that is left;
 * a trial must not depend on what others take at the same time. */
static bool can_step(const mcr_smo *s, int64_t count)
{
    double bytes = 2 * sizeof(double) * (double)count * (double)count;
    return count >= LEAST_FREE &&
           (s->trial ? count <= MOST_TRIED
                     : count <= MOST_FREE && 4 * bytes < (double)mcr_budget_left(s->ctx));
}

mcr_status mcr_smo_run_block(mcr_smo *s, int64_t *steps)
{
    mcr_smo_block *k = &s->block;
    int64_t most = k->most_steps, slice = k->members > LEAST_SLICE ? k->members : LEAST_SLICE;
    double step = (s->precise ? 2 : 1) * STEP_PRICE * (double)k->members;
    mcr_status st = MCR_OK;
    *steps = 0;
    while (!st) {
        k->most_steps = most - *steps < slice ? most - *steps : slice;
        int64_t did = s->run(k);
        *steps += did;
        if (did < k->most_steps || *steps >= most || s->row_status ||
            (s->whole && !s->trial && !s->precise && mcr_smo_is_rough(s, k->b, k->members)))
            break;
        int64_t count = count_free(k);
        double n = (double)count;
        double open = is_small(s, count) || s->newton > 0 || s->trial ? 0 : OPEN_PRICE;
        double factor = s->newton > 0 ? s->newton : 1;
        s->rent += step * (double)did;
        if (!can_step(s, count) || s->rent < factor * (n * n * n + open))
            continue;
        bool found;
        st = newton_step(s, count, &found);
        s->rent = 0;
        s->newton = found ? AGAIN : 2 * fmax(factor, 1);
        if (mcr_smo_is_over(s))
            break;
    }
    k->most_steps = most;
    return st;
}
