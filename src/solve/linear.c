/* linear.c: what the solvers of quadratic programs with features share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "solve/linear.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "base/order.h"
#include "gram/round.h"
#include "linalg/blas.h"

/* Multiply-adds of BLAS are so much cheaper than those of loops over sparse entries. */
#define BLAS_GAIN 12.0

/* The Hessian has the objects near the margin alone: in all steps together each of them a few
 * times. */
double mcr_linear_newton_work(double n, double p, double entries)
{
    enum { STEPS = 70, TIMES = 4, OVERHEAD = 20, MOST = 4096 };
    if (p > MOST)
        return INFINITY;
    double each = n > 0 ? entries / n : 0, sparse = n * each * each / 2;
    double hessian = entries < MCR_DENSE_SHARE * n * p ? sparse : n * p * p / 2 / BLAS_GAIN;
    return TIMES * hessian + STEPS * (p * p * p / 3 / BLAS_GAIN + 1.5 * entries + OVERHEAD * n);
}

/* With more features than objects coordinates hardly depend on each other; else many sweeps are
 * needed, or very many. */
double mcr_linear_descent_work(double n, double p, double entries)
{
    enum { EASY = 100, HARD = 3000, PASSES = 2, OVERHEAD = 10 };
    return (p >= n ? EASY : HARD) * (PASSES * entries + OVERHEAD * n);
}

/* Where all coefficients that can move have one sign and their sum is 0, they are 0. */
static mcr_status settle(mcr_gram *d, const mcr_qp *p, double *b, bool *settled)
{
    double way[2] = {0, 0}; /* some can move up, some down */
    for (int64_t i = 0; i < p->n; i++) {
        way[0] = p->hi[i] > 0 ? 1 : way[0];
        way[1] = p->lo[i] < 0 ? 1 : way[1];
    }
    mcr_status s = mcr_gram_largest(d, way, 2);
    *settled = !p->no_sum && !(way[0] > 0 && way[1] > 0);
    for (int64_t i = 0; i < p->n && *settled; i++)
        b[i] = 0;
    return s;
}

static double far_bound(const mcr_qp *p, int64_t i)
{
    return p->hi[i] > -p->lo[i] ? p->hi[i] : p->lo[i];
}

/* How far those of the listed coefficients may go back from their bounds whose slopes are on the
 * near side of a level, or at it; over all processes. */
static mcr_status space_before(mcr_gram *d, const mcr_qp *p, const double *b,
                               const mcr_ranked *order, int64_t count, bool up, double level,
                               double *space)
{
    *space = 0;
    for (int64_t k = 0; k < count; k++) {
        int64_t i = order[k].number;
        if (up ? order[k].value <= level : order[k].value >= level)
            *space += up ? p->hi[i] - b[i] : b[i] - p->lo[i];
    }
    return mcr_gram_total(d, space, 1);
}

/* set_bounds for rows that are spread: nobody can sort all slopes, so that the slope up to which
 * coefficients go back is found by bisection. Those with this slope take equal shares of what is
 * left of the excess. order: of this process; their b are at the bounds that are farther from 0. */
static mcr_status share_excess(mcr_gram *d, const mcr_qp *p, double excess, double *b,
                               const mcr_ranked *order, int64_t count, bool up)
{
    enum { HALVES = 60 };
    double end[2] = {-INFINITY, -INFINITY}, near, far, space, before = 0, all = 0;
    for (int64_t k = 0; k < count; k++) {
        end[0] = fmax(end[0], up ? -order[k].value : order[k].value);
        end[1] = fmax(end[1], up ? order[k].value : -order[k].value);
    }
    mcr_status s = mcr_gram_largest(d, end, 2);
    near = up ? -end[0] : end[0];
    far = up ? end[1] : -end[1];
    near += up ? -1 - fabs(near) : 1 + fabs(near); /* before all of them */
    for (int h = 0; h < HALVES && !s; h++) {
        double level = 0.5 * near + 0.5 * far;
        s = space_before(d, p, b, order, count, up, level, &space);
        *(space < fabs(excess) ? &near : &far) = level;
    }
    if (!s)
        s = space_before(d, p, b, order, count, up, near, &before);
    if (!s)
        s = space_before(d, p, b, order, count, up, far, &all);
    double rest = fabs(excess) - before, share = all > before ? rest / (all - before) : 0;
    bool whole = share > 1 - 1e-12; /* but for rounding */
    for (int64_t k = 0; k < count && !s; k++) {
        int64_t i = order[k].number;
        double slope = order[k].value, to = up ? p->hi[i] : p->lo[i];
        bool at = up ? slope <= far : slope >= far, before_it = up ? slope <= near : slope >= near;
        if (before_it || (at && whole))
            b[i] = to;
        else if (at && share > 1e-12)
            b[i] += share * (to - b[i]);
    }
    return s;
}

/* Puts b at the bounds that are farther from 0, but for those whose slopes want it least: they take
 * what the sum of these bounds exceeds that of b by. order: n of them. */
static mcr_status set_bounds(mcr_gram *d, const mcr_qp *p, const double *g, double excess,
                             double *b, mcr_ranked *order)
{
    int64_t count = 0;
    bool up = excess < 0;
    for (int64_t i = 0; i < p->n; i++) {
        b[i] = far_bound(p, i);
        if (up ? b[i] < p->hi[i] : b[i] > p->lo[i])
            order[count++] = (mcr_ranked){g[i] - p->z[i], i};
    }
    if (excess == 0)
        return MCR_OK;
    if (mcr_gram_is_spread(d))
        return share_excess(d, p, excess, b, order, count, up);
    qsort(order, (size_t)count, sizeof *order, up ? mcr_ranked_rising : mcr_ranked_falling);
    for (int64_t k = 0; k < count && excess != 0; k++) {
        int64_t i = order[k].number;
        double to = up ? fmin(p->hi[i], b[i] - excess) : fmax(p->lo[i], b[i] - excess);
        excess = up ? fmin(excess + to - b[i], 0) : fmax(excess + to - b[i], 0);
        b[i] = to;
    }
    return MCR_OK;
}

static mcr_status is_late(mcr_gram *d, bool *yes)
{
    double late = mcr_deadline_over(mcr_gram_context(d));
    mcr_status s = mcr_gram_largest(d, &late, 1);
    *yes = late > 0;
    return s;
}

/* With small bounds nearly all coefficients may be at those that are farther from 0. Hardly a slope
 * then says what the offset is, only where it may be, and no solver that goes by slopes within the
 * bounds ends. *done: it is so, and b, g and w are these; else they are as they were. */
static mcr_status try_bounds(mcr_gram *d, const mcr_qp *p, double *b, double *g, double *w,
                             mcr_qp_result *result, bool *done)
{
    enum { TRIES = 8 };
    mcr *ctx = mcr_gram_context(d);
    double sum[2] = {0, 0};
    *done = false;
    for (int64_t i = 0; i < p->n; i++) {
        sum[0] += far_bound(p, i) - b[i];
        sum[1] += fabs(far_bound(p, i));
    }
    mcr_status s = mcr_gram_total(d, sum, 2);
    double excess = fabs(sum[0]) <= 1e-12 * sum[1] ? 0 : sum[0]; /* equal but for rounding */
    if (s || p->no_sum || (excess != 0 && !isfinite(result->violation)))
        return s;
    double *kept = mcr_alloc(ctx, (size_t)p->n, sizeof *kept);
    mcr_ranked *order = kept ? mcr_alloc(ctx, (size_t)p->n, sizeof *order) : NULL;
    mcr_qp_result at = *result;
    bool over = false;
    s = order ? MCR_OK : MCR_NO_MEMORY;
    at.square_error = 0; /* w will be D'b */
    if (!s)
        memcpy(kept, b, sizeof *b * (size_t)p->n);
    for (int k = 0; k < (excess != 0 ? TRIES : 1) && !s && !*done && !over; k++) {
        s = set_bounds(d, p, g, excess, b, order);
        if (!s)
            s = mcr_linear_evaluate(d, p, b, g, w, &at);
        *done = !s && mcr_linear_worst(&at) <= p->tolerance;
        if (!s && !*done)
            s = is_late(d, &over);
    }
    if (*done) {
        *result = at;
        result->stop = MCR_STOP_OPTIMAL;
    } else if (!s || s == MCR_NUMERIC) { /* values may be too large at the bounds alone */
        memcpy(b, kept, sizeof *b * (size_t)p->n);
        s = isfinite(result->violation) ? mcr_linear_evaluate(d, p, b, g, w, &at) : MCR_OK;
    }
    mcr_free_all(ctx, kept, order);
    return s;
}

/* Where the smoothed hinge is stuck: the interior point method, with what is left of time and
 * steps. The better of both solutions is the result. */
static mcr_status go_on(mcr_gram *d, const mcr_qp *p, double began, double *b, double *g, double *w,
                        mcr_qp_result *result)
{
    mcr *ctx = mcr_gram_context(d);
    const mcr_qp_result first = *result;
    mcr_qp rest = *p;
    if (p->seconds > 0)
        rest.seconds = fmax(p->seconds - (mcr_now() - began), 1e-3);
    if (p->most_steps > 0 && isfinite(first.violation) && first.steps >= p->most_steps) {
        result->stop = MCR_STOP_STEPS;
        return MCR_OK;
    }
    if (p->most_steps > 0)
        rest.most_steps = p->most_steps > first.steps ? p->most_steps - first.steps : 1;
    double *kept = mcr_alloc(ctx, (size_t)p->n, sizeof *kept);
    if (!kept)
        return MCR_NO_MEMORY;
    memcpy(kept, b, sizeof *b * (size_t)p->n);
    mcr_status s = mcr_linear_interior(d, &rest, b, g, w, result);
    bool none = s == MCR_NUMERIC && isfinite(first.violation);
    if (none)
        *result = first;
    else
        result->steps += first.steps;
    if (none || (!s && mcr_linear_worst(&first) < mcr_linear_worst(result))) {
        memcpy(b, kept, sizeof *b * (size_t)p->n);
        s = mcr_linear_evaluate(d, p, b, g, w, result);
    }
    mcr_free(ctx, kept);
    return s;
}

static bool suits_newton(const mcr_gram *d)
{
    double n = (double)mcr_gram_rows(d), p = (double)mcr_gram_width(d);
    double entries = mcr_gram_entries(d);
    return mcr_linear_newton_work(n, p, entries) <= mcr_linear_descent_work(n, p, entries);
}

static double matrix_bytes(const mcr_gram *d)
{
    enum { EDGE = 16 };
    double p = (double)mcr_gram_width(d);
    return p * (p + EDGE) * sizeof(double);
}

double mcr_linear_bytes(const mcr_gram *d)
{
    return !mcr_gram_sparse(d) || suits_newton(d) ? 2 * matrix_bytes(d) : 0;
}

static mcr_status solve(mcr_gram *d, const mcr_qp *p, double *b, double *g, double *w,
                        mcr_qp_result *result)
{
    bool settled;
    mcr_status s = settle(d, p, b, &settled);
    if (s || settled)
        return s ? s : mcr_linear_evaluate(d, p, b, g, w, result);
    double left = (double)mcr_budget_left(mcr_gram_context(d));
    bool few = suits_newton(d) && matrix_bytes(d) <= left / 2;
    if (!few && mcr_gram_sparse(d))
        return mcr_linear_descent(d, p, b, g, w, result);
    double began = mcr_now();
    bool done = false;
    s = mcr_linear_smooth(d, p, b, g, w, result);
    if (!s && result->stop == MCR_STOP_STUCK)
        s = try_bounds(d, p, b, g, w, result, &done);
    return s || done || result->stop != MCR_STOP_STUCK ? s : go_on(d, p, began, b, g, w, result);
}

mcr_status mcr_linear_solve(mcr_gram *d, const mcr_qp *p, double *b, double *g, double *w,
                            mcr_qp_result *result)
{
    *result = (mcr_qp_result){.stop = MCR_STOP_OPTIMAL};
    mcr_status s = solve(d, p, b, g, w, result);
    if (result->stop == MCR_STOP_OPTIMAL && !(mcr_linear_worst(result) <= p->tolerance))
        result->stop = MCR_STOP_STUCK; /* nothing is proved */
    return s;
}

/* low, high and the violation, from g = D w. */
static mcr_status find_violation(mcr_gram *d, const mcr_qp *p, const double *b, const double *g,
                                 mcr_qp_result *r)
{
    double low = p->no_sum ? 0 : INFINITY, high = p->no_sum ? 0 : -INFINITY, bad = 0;
    for (int64_t i = 0; i < p->n && bad == 0; i++) {
        double slope = g[i] - p->z[i];
        bad = isfinite(slope) ? 0 : 1;
        if (b[i] < p->hi[i] && slope < low)
            low = slope;
        if (b[i] > p->lo[i] && slope > high)
            high = slope;
    }
    double found[] = {-low, high, bad};
    mcr_status s = mcr_gram_largest(d, found, 3);
    if (!s && found[2] > 0)
        s = mcr_fail(mcr_gram_context(d), MCR_NUMERIC,
                     "%s: the numbers are too large: scale the data or the kernel",
                     p->phase ? p->phase : "svm");
    r->low[0] = -found[0];
    r->high[0] = found[1];
    r->violation = s ? INFINITY : fmax(found[1] + found[0], 0);
    return s;
}

/* What the errors of g make of b'g and of the violation. */
static void set_errors(const mcr_qp *p, const double *b, const double *g, const double *error,
                       mcr_qp_result *r)
{
    double most = 0;
    r->square_error = 0;
    for (int64_t i = 0; i < p->n; i++) {
        double off = error[i] + DBL_EPSILON * (fabs(g[i]) + fabs(p->z[i]));
        most = fmax(most, off);
        r->square_error += fabs(b[i]) * off;
    }
    r->violation_error = 2 * most;
}

/* Where rounding in double leaves the verdict in doubt, or hides more than this share of the
 * tolerance, g is computed in extended precision. */
#define DOUBT 0.01

/* Both of them, and g itself. */
static mcr_status look_closer(mcr_gram *d, const mcr_qp *p, const double *b, double *g,
                              double *error, mcr_qp_result *r)
{
    mcr *ctx = mcr_gram_context(d);
    mcr_extended to = {.n = p->n, .outputs = 1, .a = b};
    mcr_status s = mcr_alloc_doubles(ctx, (size_t)p->n, &to.f, &to.low) ? mcr_gram_extended(d, &to)
                                                                        : MCR_NO_MEMORY;
    if (!s && isfinite(to.share)) {
        memcpy(g, to.f, sizeof *g * (size_t)p->n);
        s = mcr_gram_product_error(d, b, 1, to.share, error);
        set_errors(p, b, g, error, r);
        s = s ? s : find_violation(d, p, b, g, r);
    }
    mcr_free_all(ctx, to.f, to.low);
    return s;
}

static mcr_status find_errors(mcr_gram *d, const mcr_qp *p, const double *b, double *g,
                              mcr_qp_result *r)
{
    mcr *ctx = mcr_gram_context(d);
    double *error = mcr_alloc(ctx, (size_t)p->n, sizeof *error);
    mcr_status s = error ? mcr_gram_product_error(d, b, 1, NAN, error) : MCR_NO_MEMORY;
    if (!s)
        set_errors(p, b, g, error, r);
    bool sure = r->violation > p->tolerance || mcr_linear_worst(r) <= p->tolerance;
    if (!s && (!sure || r->violation_error > DOUBT * p->tolerance))
        s = look_closer(d, p, b, g, error, r);
    mcr_free(ctx, error);
    return s;
}

mcr_status mcr_linear_evaluate(mcr_gram *d, const mcr_qp *p, const double *b, double *g, double *w,
                               mcr_qp_result *r)
{
    mcr_rows all = mcr_gram_all(d);
    mcr_status s = mcr_gram_project(d, all, b, 1, w);
    if (!s)
        s = mcr_gram_expand(d, all, w, 1, g);
    if (!s)
        s = find_violation(d, p, b, g, r);
    return s || mcr_gram_is_restricted(d) ? s : find_errors(d, p, b, g, r);
}

mcr_status mcr_linear_evaluate_at(mcr_gram *d, const mcr_qp *p, const double *b, double reach,
                                  double *g, double *w, mcr_qp_result *r)
{
    int64_t wide = mcr_gram_width(d);
    double square = 0, *u = mcr_alloc(mcr_gram_context(d), (size_t)wide, sizeof *u);
    mcr_round pass = {.x = mcr_gram_all(d), .precise = true, .outputs = 1, .c = w, .y = g, .u = u};
    pass.work = mcr_round_given;
    pass.self = &(mcr_given){b, 1};
    mcr_status s = u ? mcr_gram_factor_round(d, &pass) : MCR_NO_MEMORY;
    for (int64_t k = 0; k < wide && !s; k++)
        square += (u[k] - w[k]) * (u[k] - w[k]);
    double apart = sqrt(square), off = apart * reach;
    if (!s && !(off <= 0.01 * p->tolerance)) {
        memcpy(w, u, sizeof *w * (size_t)wide);
        s = mcr_gram_expand(d, pass.x, w, 1, g);
        apart = off = 0;
    }
    if (!s)
        s = find_violation(d, p, b, g, r);
    r->violation += 2 * off;
    /* What b'g may be off, as |D'b|^2 and as |w|^2. */
    r->square_error = 2 * apart * (sqrt(mcr_dot(w, w, wide)) + apart);
    mcr_free(mcr_gram_context(d), u);
    return s;
}

/* How far coefficient i can go against the sign of `sum`. */
static double space_of(const mcr_qp *p, const double *b, int64_t i, double sum, bool free_only)
{
    if (free_only && (b[i] <= p->lo[i] || b[i] >= p->hi[i]))
        return 0;
    return sum > 0 ? b[i] - p->lo[i] : p->hi[i] - b[i];
}

/* The same of all coefficients. */
static mcr_status all_space(mcr_gram *d, const mcr_qp *p, const double *b, double sum,
                            bool free_only, double *space)
{
    *space = 0;
    for (int64_t i = 0; i < p->n; i++)
        *space += space_of(p, b, i, sum, free_only);
    return mcr_gram_total(d, space, 1);
}

/* How much larger than wanted the sum of b is. */
static mcr_status find_excess(mcr_gram *d, const mcr_qp *p, const double *b, double wanted,
                              double *excess)
{
    bool spread = mcr_gram_is_spread(d);
    double sum = spread ? 0 : -wanted;
    for (int64_t i = 0; i < p->n; i++)
        sum += b[i];
    mcr_status s = mcr_gram_total(d, &sum, 1);
    *excess = spread ? sum - wanted : sum;
    return s;
}

mcr_status mcr_linear_balance(mcr_gram *d, const mcr_qp *p, double wanted, double *b)
{
    mcr_status s = MCR_OK;
    for (int pass = 0; pass < 4 && !p->no_sum && !s; pass++) {
        double sum, slack = 0;
        bool free_only = true;
        s = find_excess(d, p, b, wanted, &sum);
        if (!s)
            s = all_space(d, p, b, sum, true, &slack);
        if (!s && slack < 2 * fabs(sum)) {
            free_only = false;
            s = all_space(d, p, b, sum, false, &slack);
        }
        if (s || sum == 0 || !(slack > 0))
            return s;
        double share = fmin(fabs(sum) / slack, 1);
        for (int64_t i = 0; i < p->n; i++) {
            double step = share * space_of(p, b, i, sum, free_only);
            b[i] = fmin(fmax(b[i] - (sum > 0 ? step : -step), p->lo[i]), p->hi[i]);
        }
    }
    return s;
}

double mcr_linear_worst(const mcr_qp_result *result)
{
    return result->violation + result->violation_error;
}

mcr_status mcr_linear_is_over(mcr_gram *d, const mcr_qp *p, double began, double violation,
                              mcr_qp_result *result, bool *yes)
{
    double seconds = mcr_now() - began, stop = 0;
    if (mcr_report_step(mcr_gram_context(d), p->phase, seconds, result->steps, NAN, violation))
        stop = MCR_STOP_INTERRUPTED;
    else if (p->seconds > 0 && seconds > p->seconds)
        stop = MCR_STOP_TIME;
    else if (p->most_steps > 0 && result->steps >= p->most_steps)
        stop = MCR_STOP_STEPS;
    mcr_status s = mcr_gram_largest(d, &stop, 1);
    *yes = stop > 0;
    if (*yes)
        result->stop = (mcr_stop)stop;
    return s;
}
