/* lp_interior.c: linear programs with few dense rows, by an interior point method.
 *
 * Primal-dual, with Mehrotra's predictor and corrector. A row has a variable r of its own between
 * its bounds, A x - r = 0. With multipliers s and t of the bounds of both, Newton's equations
 * reduce to A diag(h) A' + diag(1/p) for the rows, h and p being the inverse and the sum of
 * multipliers over distances: one factor of as many rows as the program has per step.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "solve/lp_interior_impl.h"

#include <math.h>
#include <string.h>

#include "linalg/blas.h"
#include "linalg/lapack.h"

enum { WARM_STEPS = 30, MOST_STEPS = 100 };

/* How far back from the last solution the next one starts. */
#define STEP_BACK 100

/* A start that violates new rows moves this part of the way to their bounds; its mu is at least
 * this part of the point's. */
#define NEAR_ROWS 0.95
#define SHRUNK    0.3

/* A step goes this part of the way to the next bound. */
#define NEARLY 0.995

/* ---- points -----------------------------------------------------------------------------------*/

static bool is_free(const mcr_bounded *b, int64_t i)
{
    return b->high[i] > b->low[i];
}

/* x from the distance to the nearer bound. */
static void place(mcr_bounded *b, int64_t i)
{
    b->x[i] = b->below[i] < b->above[i] ? b->low[i] + b->below[i] : b->high[i] - b->above[i];
}

/* Variables in the middle of their bounds as far as they are not given, multipliers whose
 * difference is the slope and whose product with the distance is about mu. */
static void start(mcr_interior *lp)
{
    double size = mcr_largest_of(lp->cost, lp->n), mu = 0;
    int64_t count = 0;
    mcr_bounded *x = &lp->x, *r = &lp->r;
    for (int64_t k = 0; k < lp->n; k++) {
        bool is = is_free(x, k);
        x->below[k] = x->above[k] = 0.5 * (x->high[k] - x->low[k]);
        place(x, k);
        x->s[k] = is ? size + fmax(lp->cost[k], 0) : 0;
        x->t[k] = is ? size + fmax(-lp->cost[k], 0) : 0;
        mu += 0.5 * x->below[k] * (x->s[k] + x->t[k]);
        count += is;
    }
    mu /= (double)(count ? count : 1);
    for (int64_t i = 0; i < lp->m; i++) {
        bool is = is_free(r, i);
        double half = 0.5 * (r->high[i] - r->low[i]);
        r->below[i] = r->above[i] = half;
        place(r, i);
        r->s[i] = r->t[i] = is ? mu / half : 0;
        lp->dual[i] = 0;
    }
}

/* Away from a bound, or the multiplier away from 0, whichever is relatively less, until their
 * product is mu. */
static void push(double *away, double *multiplier, double wide, double size, double mu)
{
    if (*away * *multiplier >= mu)
        return;
    if (*away * size < *multiplier * wide)
        *away = fmin(mu / *multiplier, 0.5 * wide);
    else
        *multiplier = mu / *away;
}

static void push_all(mcr_bounded *b, int64_t known, double size, double mu)
{
    for (int64_t i = 0; i < known; i++) {
        double wide = b->high[i] - b->low[i];
        if (!(wide > 0))
            continue;
        bool lower = b->below[i] < b->above[i];
        double *near = lower ? &b->below[i] : &b->above[i];
        double *far = lower ? &b->above[i] : &b->below[i];
        double *near_multiplier = lower ? &b->s[i] : &b->t[i];
        double *far_multiplier = lower ? &b->t[i] : &b->s[i];
        push(near, near_multiplier, wide, size, mu);
        *far = wide - *near;
        *far_multiplier = fmax(*far_multiplier, mu / *far);
        place(b, i);
    }
}

/* Part of the way from the lower bounds of x to x that all rows leave free; 1: all of it, or none
 * is good enough. With A x in product and A low in right. */
static double free_share(const mcr_interior *lp)
{
    const mcr_bounded *r = &lp->r;
    double share = 1;
    for (int64_t i = lp->solved; i < lp->m; i++) {
        double from = lp->right[i], to = lp->product[i];
        double bound = to > r->high[i] ? r->high[i] : r->low[i];
        if (to >= r->low[i] && to <= r->high[i])
            continue;
        if (!(from > r->low[i] && from < r->high[i]))
            return 1;
        share = fmin(share, NEAR_ROWS * (bound - from) / (to - from));
    }
    return share;
}

static double sum_products(const mcr_bounded *b, int64_t known)
{
    double sum = 0;
    for (int64_t i = 0; i < known; i++)
        sum += b->s[i] * b->below[i] + b->t[i] * b->above[i];
    return sum;
}

/* New rows may be violated by far, and steps from outside their bounds are short. x is moved back
 * towards its lower bounds until it is inside. *mu: that of the point at least, as far as its steps
 * should begin from there. */
static mcr_status shrink(mcr_interior *lp, double *mu)
{
    mcr_bounded *x = &lp->x, *r = &lp->r;
    mcr_status s = mcr_interior_times(lp, x->low, lp->right);
    double share = s ? 1 : free_share(lp);
    if (share >= 1)
        return s;
    for (int64_t k = 0; k < lp->n; k++) {
        x->below[k] *= share;
        x->above[k] = x->high[k] - x->low[k] - x->below[k];
        place(x, k);
    }
    for (int64_t i = 0; i < lp->m; i++) {
        lp->product[i] = lp->right[i] + share * (lp->product[i] - lp->right[i]);
        if (i >= lp->solved || !is_free(r, i))
            continue;
        r->below[i] = fmin(fmax(lp->product[i], r->low[i]), r->high[i]) - r->low[i];
        r->above[i] = r->high[i] - r->low[i] - r->below[i];
        place(r, i);
    }
    double sum = sum_products(x, lp->n) + sum_products(r, lp->solved);
    *mu = fmax(*mu, SHRUNK * 0.5 * sum / (double)(lp->n + lp->solved));
    return MCR_OK;
}

/* From the last solution, some steps back, with new rows. */
static mcr_status start_again(mcr_interior *lp)
{
    mcr_bounded *r = &lp->r;
    double mu = fmax(STEP_BACK * lp->mu, 1e-300);
    double size = mcr_largest_of(lp->cost, lp->n), largest = mcr_largest_of(lp->dual, lp->solved);
    mcr_status s = mcr_interior_times(lp, lp->x.x, lp->product);
    if (!s)
        s = shrink(lp, &mu);
    push_all(&lp->x, lp->n, size, mu);
    push_all(r, lp->solved, largest, mu);
    if (!s)
        s = mcr_interior_times(lp, lp->x.x, lp->product);
    for (int64_t i = lp->solved; i < lp->m && !s; i++) {
        double wide = r->high[i] - r->low[i];
        r->below[i] = fmin(fmax(lp->product[i] - r->low[i], 0.05 * wide), 0.95 * wide);
        r->above[i] = wide - r->below[i];
        place(r, i);
        r->s[i] = wide > 0 ? mu / r->below[i] : 0;
        r->t[i] = wide > 0 ? mu / r->above[i] : 0;
        lp->dual[i] = r->s[i] - r->t[i];
    }
    return s;
}

/* The residuals of both, and mu; returns the larger residual, relative. */
static mcr_status find_residuals(mcr_interior *lp, double *off)
{
    mcr_bounded *x = &lp->x, *r = &lp->r;
    double sum = 0, rows = 0, columns = 0, size = mcr_largest_of(lp->cost, lp->n), wide = 1;
    int64_t count = 0;
    mcr_status s = mcr_interior_times(lp, x->x, lp->off_rows);
    if (!s)
        s = mcr_interior_times_transposed(lp, lp->dual, lp->off_columns);
    for (int64_t i = 0; i < lp->m && !s; i++) {
        lp->off_rows[i] -= r->x[i];
        rows = fmax(rows, fabs(lp->off_rows[i]));
        wide = fmax(wide, fmax(fabs(r->low[i]), fabs(r->high[i])));
        sum += r->s[i] * r->below[i] + r->t[i] * r->above[i];
        count += 2 * is_free(r, i);
    }
    for (int64_t k = 0; k < lp->n && !s; k++) {
        bool is = is_free(x, k);
        lp->off_columns[k] = is ? lp->cost[k] - lp->off_columns[k] - x->s[k] + x->t[k] : 0;
        columns = fmax(columns, fabs(lp->off_columns[k]));
        sum += x->s[k] * x->below[k] + x->t[k] * x->above[k];
        count += 2 * is;
    }
    lp->mu = sum / (double)(count ? count : 1);
    *off = fmax(rows / wide, columns / (size > 0 ? size : 1));
    return s;
}

/* Objective, and the sum of all complementarity, which is the gap once nothing is off. */
static double relative_gap(const mcr_interior *lp)
{
    double objective = 0, gap = 0;
    const mcr_bounded *all[] = {&lp->x, &lp->r};
    for (int64_t k = 0; k < lp->n; k++)
        objective += lp->cost[k] * lp->x.x[k];
    for (int b = 0; b < 2; b++)
        for (int64_t i = 0; i < all[b]->n; i++)
            gap += all[b]->s[i] * all[b]->below[i] + all[b]->t[i] * all[b]->above[i];
    return gap / fmax(fabs(objective), 1e-300);
}

/* ---- directions -------------------------------------------------------------------------------*/

/* The target of the products with the distances: `aim`, with the second order of the last direction
 * if there is one. */
static void set_aim(mcr_bounded *b, double aim, bool second)
{
    for (int64_t i = 0; i < b->n; i++) {
        double low = b->below[i], high = b->above[i];
        b->ks[i] = aim - b->s[i] * low - (second ? b->dx[i] * b->ds[i] : 0);
        b->kt[i] = aim - b->t[i] * high + (second ? b->dx[i] * b->dt[i] : 0);
    }
}

/* The part of the complementarity in the right side. */
static double pull(const mcr_bounded *b, int64_t i)
{
    return b->ks[i] / b->below[i] - b->kt[i] / b->above[i];
}

static double stiffness(const mcr_bounded *b, int64_t i)
{
    return b->s[i] / b->below[i] + b->t[i] / b->above[i];
}

static void set_multipliers(mcr_bounded *b)
{
    for (int64_t i = 0; i < b->n; i++) {
        bool is = is_free(b, i);
        b->ds[i] = is ? (b->ks[i] - b->s[i] * b->dx[i]) / b->below[i] : 0;
        b->dt[i] = is ? (b->kt[i] + b->t[i] * b->dx[i]) / b->above[i] : 0;
    }
}

static mcr_status set_factor(mcr_interior *lp)
{
    for (int64_t k = 0; k < lp->n; k++) {
        lp->h[k] = is_free(&lp->x, k) ? 1 / stiffness(&lp->x, k) : 0;
        lp->root[k] = sqrt(lp->h[k]);
    }
    for (int64_t i = 0; i < lp->m; i++)
        lp->p[i] = is_free(&lp->r, i) ? stiffness(&lp->r, i) : 0;
    return mcr_interior_factor(lp);
}

/* Solves the normal equations in place, with one correction by the residual: similar rows make them
 * nearly singular. */
static mcr_status solve_normal(mcr_interior *lp, double *b)
{
    memcpy(lp->right, b, sizeof *b * (size_t)lp->m);
    mcr_status s = mcr_lapack_solve(lp->ctx, lp->m, 1, lp->partial, lp->m, b, 1);
    if (!s)
        s = mcr_interior_times_transposed(lp, b, lp->along);
    for (int64_t k = 0; k < lp->n && !s; k++)
        lp->along[k] *= lp->h[k];
    if (!s)
        s = mcr_interior_times(lp, lp->along, lp->product);
    for (int64_t i = 0; i < lp->m && !s; i++)
        lp->right[i] -= lp->product[i] + (lp->p[i] > 0 ? b[i] / lp->p[i] : 0);
    if (!s)
        s = mcr_lapack_solve(lp->ctx, lp->m, 1, lp->partial, lp->m, lp->right, 1);
    for (int64_t i = 0; i < lp->m && !s; i++)
        b[i] += lp->right[i];
    return s;
}

static mcr_status find_direction(mcr_interior *lp, double aim, bool second)
{
    mcr_bounded *x = &lp->x, *r = &lp->r;
    set_aim(x, aim, second);
    set_aim(r, aim, second);
    for (int64_t k = 0; k < lp->n; k++) {
        x->dx[k] = lp->h[k] > 0 ? pull(x, k) - lp->off_columns[k] : 0;
        lp->along[k] = lp->h[k] * x->dx[k];
    }
    mcr_status s = mcr_interior_times(lp, lp->along, lp->ddual);
    if (s)
        return s;
    for (int64_t i = 0; i < lp->m; i++)
        lp->ddual[i] = -lp->off_rows[i] - lp->ddual[i] +
                       (lp->p[i] > 0 ? (pull(r, i) - (lp->dual[i] - r->s[i] + r->t[i])) / lp->p[i]
                                     : 0);
    s = solve_normal(lp, lp->ddual);
    if (!s)
        s = mcr_interior_times_transposed(lp, lp->ddual, lp->along);
    for (int64_t k = 0; k < lp->n && !s; k++)
        x->dx[k] = lp->h[k] * (x->dx[k] + lp->along[k]);
    for (int64_t i = 0; i < lp->m && !s; i++)
        r->dx[i] = lp->p[i] > 0
                       ? (pull(r, i) - (lp->dual[i] - r->s[i] + r->t[i]) - lp->ddual[i]) / lp->p[i]
                       : 0;
    set_multipliers(x);
    set_multipliers(r);
    return s;
}

/* The longest steps, at most 1, of variables and of multipliers that keep all of them positive. */
static void limit_steps(const mcr_bounded *b, double *primal, double *dual)
{
    for (int64_t i = 0; i < b->n; i++) {
        if (!is_free(b, i))
            continue;
        if (b->dx[i] < 0)
            *primal = fmin(*primal, -b->below[i] / b->dx[i]);
        if (b->dx[i] > 0)
            *primal = fmin(*primal, b->above[i] / b->dx[i]);
        if (b->ds[i] < 0)
            *dual = fmin(*dual, -b->s[i] / b->ds[i]);
        if (b->dt[i] < 0)
            *dual = fmin(*dual, -b->t[i] / b->dt[i]);
    }
}

/* The sum of complementarity after such steps. */
static double sum_after(const mcr_bounded *b, double primal, double dual)
{
    double sum = 0;
    for (int64_t i = 0; i < b->n; i++) {
        double moved = primal * b->dx[i];
        sum += (b->s[i] + dual * b->ds[i]) * (b->below[i] + moved) +
               (b->t[i] + dual * b->dt[i]) * (b->above[i] - moved);
    }
    return sum;
}

static void move(mcr_bounded *b, double primal, double dual)
{
    for (int64_t i = 0; i < b->n; i++) {
        if (!is_free(b, i))
            continue;
        b->below[i] += primal * b->dx[i];
        b->above[i] -= primal * b->dx[i];
        place(b, i);
        b->s[i] += dual * b->ds[i];
        b->t[i] += dual * b->dt[i];
    }
}

static mcr_status step(mcr_interior *lp, double *length)
{
    double primal = 1, dual = 1, before = sum_after(&lp->x, 0, 0) + sum_after(&lp->r, 0, 0);
    mcr_status s = set_factor(lp);
    if (!s)
        s = find_direction(lp, 0, false);
    if (s)
        return s;
    limit_steps(&lp->x, &primal, &dual);
    limit_steps(&lp->r, &primal, &dual);
    double after = sum_after(&lp->x, primal, dual) + sum_after(&lp->r, primal, dual);
    double centre = pow(after / before, 3);
    s = find_direction(lp, centre * lp->mu, true);
    if (s)
        return s;
    primal = dual = 1 / NEARLY;
    limit_steps(&lp->x, &primal, &dual);
    limit_steps(&lp->r, &primal, &dual);
    primal *= NEARLY;
    dual *= NEARLY;
    move(&lp->x, primal, dual);
    move(&lp->r, primal, dual);
    for (int64_t i = 0; i < lp->m; i++)
        lp->dual[i] += dual * lp->ddual[i];
    *length = fmin(primal, dual);
    return MCR_OK;
}

/* Steps from the current point; *ended: more steps would not help. */
static mcr_status run(mcr_interior *lp, double gap, double deadline, int64_t most,
                      mcr_interior_result *result, bool *ended)
{
    double length = 1;
    *ended = false;
    for (int64_t t = 0; t < most; t++, result->steps++) {
        double off;
        mcr_status s = find_residuals(lp, &off);
        if (s)
            return s;
        if (!isfinite(off + lp->mu))
            return MCR_OK;
        result->gap = fmax(off, relative_gap(lp));
        *ended = result->gap <= gap || (deadline > 0 && mcr_now() > deadline);
        if (*ended || length < 1e-6)
            return MCR_OK;
        s = step(lp, &length);
        if (s) /* MCR_NUMERIC: rounding ends it here */
            return s == MCR_NUMERIC ? MCR_OK : s;
    }
    return MCR_OK;
}

mcr_status mcr_interior_solve(mcr_interior *lp, double gap, double deadline,
                              mcr_interior_result *result)
{
    *result = (mcr_interior_result){.x = lp->x.x, .dual = lp->dual, .gap = INFINITY};
    bool ended = false;
    mcr_status s = MCR_OK;
    if (lp->solved) {
        s = start_again(lp);
        if (!s)
            s = run(lp, gap, deadline, WARM_STEPS, result, &ended);
    }
    if (!s && !ended) {
        start(lp);
        s = run(lp, gap, deadline, MOST_STEPS, result, &ended);
    }
    lp->solved = ended ? lp->m : 0;
    return s;
}
