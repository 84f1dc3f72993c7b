/* squares_known.c: the certificate of least squares, and what rounding may change in it.
 *
 * The certificate is the residual of the system relative to b, or, where that is singular, the
 * gradient relative to that at 0. What rounding may change is bounded from the lengths of the
 * objects in feature space. If the verdict is in doubt, all is computed once more in extended
 * precision.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <float.h>
#include <math.h>

#include "solve/squares.h"

/* The norm of column o of v (n x outputs). */
static double norm_of(const mcr_squares *q, const double *v, int64_t o)
{
    double sum = 0;
    for (int64_t at = o; at < q->n * q->outputs; at += q->outputs)
        sum += v[at] * v[at];
    return sqrt(sum);
}

double mcr_squares_worst(const mcr_squares *q, const double *v, const double *unit)
{
    double worst = 0;
    for (int64_t o = 0; o < q->outputs; o++) {
        double all = norm_of(q, unit, o), own = norm_of(q, v, o) / (all > 0 ? all : 1);
        if (isnan(own) || own > worst)
            worst = own;
    }
    return worst;
}

bool mcr_squares_is_solved(const mcr_squares *q)
{
    return q->jitter == 0 || q->residual <= q->tol;
}

/* A bound on the rounding of the product of W^1/2 G W^1/2 with v, in the norm, of each output.
 * space: 2 n x outputs. */
static mcr_status product_norms(mcr_squares *q, const double *v, double share, double *space,
                                double *norm)
{
    int64_t k = q->outputs, all = q->n * k;
    double *error = space + all;
    for (int64_t at = 0; at < all; at++)
        space[at] = q->root[at / k] * v[at];
    mcr_status s = mcr_gram_product_error(q->gram, space, k, share, error);
    for (int64_t at = 0; at < all && !s; at++)
        error[at] *= q->root[at / k];
    for (int64_t o = 0; o < k && !s; o++)
        norm[o] = norm_of(q, error, o);
    return s;
}

/* What rounding, in f and in the residual itself, may change in the norm of the residual of one
 * output. */
static double residual_error(const mcr_squares *q, const double *error, int64_t o)
{
    double sum = 0;
    for (int64_t i = 0, at = o; i < q->n; i++, at += q->outputs) {
        double slip = error[at] + 2 * DBL_EPSILON * (fabs(q->y[at]) + fabs(q->f[at]));
        slip = q->root[i] * slip + 2 * DBL_EPSILON * fabs(q->rest[at]);
        sum += slip * slip;
    }
    return sqrt(sum);
}

/* The error of the residual relative to b. */
static double solved_error(const mcr_squares *q, const double *error)
{
    double worst = 0;
    for (int64_t o = 0; o < q->outputs; o++) {
        double unit = norm_of(q, q->b, o);
        worst = fmax(worst, residual_error(q, error, o) / (unit > 0 ? unit : 1));
    }
    return worst;
}

/* The error of the gradient relative to that at 0. Both are products with G, of the residual and of
 * b, and each has the error of its vector, times the largest eigenvalue (the trace bounds it), and
 * the rounding of the product. share: of the first product; the second is always in double. */
static mcr_status gradient_error(mcr_squares *q, const double *error, double share, double *value)
{
    int64_t k = q->outputs, all = q->n * k;
    double trace = 0, *space = mcr_alloc(q->ctx, 2 * (uint64_t)(all + k), sizeof *space);
    if (!space)
        return MCR_NO_MEMORY;
    double *own = space + 2 * all, *first = own + k;
    mcr_status s = product_norms(q, q->rest, share, space, own);
    if (!s)
        s = product_norms(q, q->b, NAN, space, first);
    for (int64_t i = 0; i < q->n; i++)
        trace += fabs(q->diagonal[i]);
    *value = 0;
    for (int64_t o = 0; o < k && !s; o++) {
        double slope = norm_of(q, q->slope, o), unit = norm_of(q, q->unit, o);
        double off = own[o] + trace * residual_error(q, error, o) + 2 * DBL_EPSILON * slope;
        if (unit > 0) {
            double less = first[o] + 2 * DBL_EPSILON * (trace * norm_of(q, q->b, o) + unit);
            off += slope / unit * less;
            off /= fmax(unit - less, DBL_MIN);
        }
        *value = fmin(fmax(*value, off), DBL_MAX); /* beyond all numbers: nothing is known */
    }
    mcr_free(q->ctx, space);
    return s;
}

/* The error of the certificate, of which rounding in products with G is the cause. */
static mcr_status value_error(mcr_squares *q, bool solved, const double *error, double share,
                              double *value)
{
    if (!solved)
        return gradient_error(q, error, share, value);
    *value = solved_error(q, error);
    return MCR_OK;
}

static double objective_error(const mcr_squares *q, const double *a, const double *error,
                              double objective)
{
    double sum = DBL_EPSILON * sqrt((double)q->n) * fabs(objective);
    for (int64_t at = 0; at < q->n * q->outputs; at++) {
        double w = q->weight[at / q->outputs], e = q->y[at] - q->f[at];
        double slip = error[at] + DBL_EPSILON * (fabs(q->y[at]) + fabs(q->f[at]));
        sum += (2 * w * (fabs(e) + slip) + q->lambda * fabs(a[at])) * slip;
    }
    return sum;
}

/* y + low = G W^1/2 v in extended precision; part has W^1/2 v. *share: of the error, INFINITY: not
 * done. */
static mcr_status multiply_extended(mcr_squares *q, const double *v, double *part, double *y,
                                    double *low, double *share)
{
    int64_t k = q->outputs;
    mcr_extended to = {.n = q->n, .outputs = k, .a = part, .f = y, .low = low};
    for (int64_t at = 0; at < q->n * k; at++)
        part[at] = q->root[at / k] * v[at];
    mcr_status s = mcr_gram_extended(q->gram, &to);
    *share = to.share;
    return s;
}

/* f, the residual and the gradient once more, where double leaves the verdict in doubt. */
static mcr_status evaluate_extended(mcr_squares *q, bool solved, double *share)
{
    int64_t k = q->outputs, all = q->n * k;
    double *part = mcr_alloc(q->ctx, 3 * (uint64_t)all, sizeof *part);
    if (!part)
        return MCR_NO_MEMORY;
    double *f = part + all, *low = f + all;
    mcr_status s = multiply_extended(q, q->x, part, f, low, share);
    for (int64_t at = 0; at < all && !s && isfinite(*share); at++) {
        long double root = q->root[at / k];
        q->f[at] = f[at];
        q->rest[at] = (double)((long double)q->b[at] - root * (long double)f[at] -
                               root * (long double)low[at] -
                               (long double)q->lambda * (long double)q->x[at]);
    }
    if (!s && isfinite(*share))
        q->residual = mcr_squares_worst(q, q->rest, q->b);
    if (!s && isfinite(*share) && !solved) {
        s = multiply_extended(q, q->rest, part, f, low, share);
        for (int64_t at = 0; at < all; at++)
            q->slope[at] = q->root[at / k] * f[at];
        q->gradient = mcr_squares_worst(q, q->slope, q->unit);
    }
    mcr_free(q->ctx, part);
    return s;
}

mcr_status mcr_squares_find_errors(mcr_squares *q, const double *a, double *error, double *value)
{
    enum { DOUBT = 10 };
    bool solved = mcr_squares_is_solved(q), closer = isfinite(q->share);
    double share = q->share;
    mcr_status s = closer ? MCR_OK : mcr_squares_share(q, &share);
    if (!s)
        s = mcr_gram_product_error(q->gram, a, q->outputs, share, error);
    *value = NAN;
    if (!s)
        s = value_error(q, solved, error, share, value);
    if (s || closer || DOUBT * *value <= q->tol)
        return s;
    s = evaluate_extended(q, solved, &share);
    bool now = mcr_squares_is_solved(q); /* with the residual as it is known now */
    if (!s && solved && !now)
        s = evaluate_extended(q, false, &share);
    solved = now;
    if (!s && isfinite(share)) {
        q->share = share;
        s = mcr_gram_product_error(q->gram, a, q->outputs, share, error);
        if (!s)
            s = value_error(q, solved, error, share, value);
    }
    return s;
}

mcr_status mcr_squares_certify(mcr_squares *q, double *a, mcr_squares_known *known)
{
    int64_t n = q->n, k = q->outputs;
    double *error = mcr_alloc(q->ctx, (uint64_t)(n * k), sizeof *error);
    mcr_status s = error ? MCR_OK : MCR_NO_MEMORY;
    *known = (mcr_squares_known){0, 0, 0};
    for (int64_t at = 0; at < n * k && !s; at++)
        a[at] = q->root[at / k] * q->x[at];
    if (!s)
        s = mcr_squares_find_errors(q, a, error, &known->value_error);
    for (int64_t at = 0; at < n * k && !s; at++) {
        double e = q->y[at] - q->f[at];
        known->objective += q->weight[at / k] * e * e + q->lambda * a[at] * q->f[at];
    }
    if (!s)
        known->objective_error = objective_error(q, a, error, known->objective);
    mcr_free(q->ctx, error);
    return s;
}
