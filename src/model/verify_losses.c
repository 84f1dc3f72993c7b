/* verify_losses.c: certificates of learners that minimise a loss: logistic, erm, pegasos,
 * perceptron, ridge, gp.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "model/verify.h"

/* Coefficients a, K a with bounds on its error, and numbers for the objects: one after the other
 * for each output, n values each. */
typedef struct outputs {
    mcr_verify *v;
    int64_t n, k;
    double *a, *f, *error, *y, *rest, *rest_f, *rest_error;
} outputs;

double mcr_verify_goal(const mcr_verify *v, int64_t o, int64_t i)
{
    int64_t k = v->fitted->outputs;
    if (v->class_of)
        return v->class_of[i] == (k == 1 ? 1 : o) ? 1 : -1;
    return k == 1 ? v->target[i] : mcr_data_target_table(v->data)[i * k + o];
}

static mcr_status open_outputs(outputs *t, mcr_verify *v)
{
    *t = (outputs){.v = v, .n = v->n, .k = v->fitted->outputs};
    size_t all = (size_t)t->n * (size_t)t->k;
    if (!mcr_zero_doubles(v->ctx, all, &t->a, &t->f, &t->error, &t->y, &t->rest, &t->rest_f,
                          &t->rest_error))
        return MCR_NO_MEMORY;
    if (!v->class_of && t->k > 1 && mcr_data_target_count(v->data) != t->k)
        return mcr_fail(v->ctx, MCR_BAD_DATA,
                        "these are not the training data of the model: it has %lld targets",
                        (long long)t->k);
    for (int64_t o = 0; o < t->k; o++) {
        mcr_verify_coefficients(v, o, t->a + o * t->n);
        for (int64_t i = 0; i < t->n && (v->class_of || v->target); i++)
            t->y[o * t->n + i] = mcr_verify_goal(v, o, i);
    }
    return mcr_verify_multiply(v, t->a, t->k, t->f, t->error);
}

static void close_outputs(outputs *t)
{
    mcr_free_all(t->v->ctx, t->a, t->f, t->error, t->y, t->rest, t->rest_f, t->rest_error);
}

/* ---- smooth losses ----------------------------------------------------------------------------*/

typedef enum loss {
    LOSS_AUTO,
    LOSS_HINGE,
    LOSS_SQUARED_HINGE,
    LOSS_LOGISTIC,
    LOSS_SQUARED,
    LOSS_EPSILON,
    LOSS_ABSOLUTE,
    LOSS_HUBER,
    LOSS_QUANTILE
} loss;

typedef struct point {
    double value, slope, steep; /* of the loss; a bound on |slope| nearby; */
    double bend;                /* and on the second derivative */
} point;

static double log_one_plus_exp(double t)
{
    return t > 0 ? t + log1p(exp(-t)) : log1p(exp(t));
}

static point loss_at(const mcr_verify *v, loss kind, double y, double f)
{
    double m = 1 - y * f, e = f - y, epsilon = mcr_verify_option(v, "epsilon");
    double delta = mcr_verify_option(v, "delta"), q = mcr_verify_option(v, "quantile");
    switch (kind) {
    case LOSS_HINGE: return (point){fmax(m, 0), 0, 1, 0};
    case LOSS_SQUARED_HINGE:
        return m > 0 ? (point){m * m, -2 * y * m, 2 * m, 2} : (point){0, 0, 0, 2};
    case LOSS_LOGISTIC: {
        double p = 1 / (1 + exp(y * f));
        return (point){log_one_plus_exp(-y * f), -y * p, 1, 0.25};
    }
    case LOSS_AUTO:
    case LOSS_SQUARED: return (point){e * e, 2 * e, 2 * fabs(e), 2};
    case LOSS_EPSILON: return (point){fmax(fabs(e) - epsilon, 0), 0, 1, 0};
    case LOSS_ABSOLUTE: return (point){fabs(e), 0, 1, 0};
    case LOSS_HUBER:
        return fabs(e) <= delta
                   ? (point){e * e / 2, e, delta, 1}
                   : (point){delta * (fabs(e) - delta / 2), e > 0 ? delta : -delta, delta, 1};
    case LOSS_QUANTILE: return (point){e < 0 ? -q * e : (1 - q) * e, 0, 1, 0};
    }
    return (point){NAN, NAN, NAN, NAN};
}

/* primal = sum of losses + mu / 2 a'f, from `losses`; rest = mu a + slopes; gap = rest'K rest / (2
 * mu). */
static mcr_status evaluate_smooth(outputs *t, double mu, mcr_exact_sum losses, double blur,
                                  mcr_sure *primal, mcr_sure *gap)
{
    int64_t all = t->n * t->k;
    mcr_sure square = mcr_sure_dot(t->a, t->f, t->error, all);
    primal->value = mcr_exact_total(&losses) + 0.5 * mu * square.value;
    primal->error = blur + 4 * DBL_EPSILON * losses.size + 0.5 * mu * square.error;
    mcr_status s = mcr_verify_multiply(t->v, t->rest, t->k, t->rest_f, t->rest_error);
    if (s)
        return s;
    /* rest itself is known up to its own error: of the gap twice that, times K rest. */
    mcr_sure found = mcr_sure_dot(t->rest, t->rest_f, t->rest_error, all);
    double slip = 0;
    for (int64_t i = 0; i < all; i++)
        slip += 2 * fabs(t->rest_f[i]) * (t->error[i] + DBL_EPSILON * mu * fabs(t->a[i]));
    *gap = (mcr_sure){found.value / (2 * mu), (found.error + slip) / (2 * mu)};
    return s;
}

static void say_gap(mcr_verify *v, mcr_sure primal, mcr_sure gap)
{
    mcr_verify_primal(v, primal);
    mcr_verify_objective(v, primal);
    /* The learner subtracts the dual from the primal. */
    gap.error += DBL_EPSILON * fabs(primal.value);
    mcr_verify_gap(v, gap);
    mcr_verify_dual(v, (mcr_sure){primal.value - gap.value, primal.error + gap.error});
}

double mcr_verify_logistic(const mcr_verify *v, const double *f, const double *error, double *slope,
                           double *slip, mcr_exact_sum *losses)
{
    int64_t n = v->n, k = v->fitted->outputs;
    bool two = k == 1;
    double blur = 0;
    for (int64_t i = 0; i < n; i++) {
        double most = two ? fmax(f[i], 0) : -INFINITY, sum = two ? exp(-most) : 0, near = 0;
        for (int64_t o = 0; o < k && !two; o++)
            most = fmax(most, f[o * n + i]);
        for (int64_t o = 0; o < k; o++) {
            sum += exp(f[o * n + i] - most);
            near = fmax(near, error[o * n + i]);
        }
        double own = two ? (v->class_of[i] ? f[i] : 0) : f[v->class_of[i] * n + i];
        mcr_exact_add(losses, v->weight[i] * (log(sum) + most - own));
        blur += 2 * v->weight[i] * (near + 4 * DBL_EPSILON * (1 + fabs(most)));
        double bend = 0; /* p (1 - p), which a change by `near` multiplies by exp(4 near) at most */
        for (int64_t o = 0; o < k; o++) {
            double is = v->class_of[i] == (two ? 1 : o) ? 1 : 0, p = exp(f[o * n + i] - most) / sum;
            slope[o * n + i] = -v->weight[i] * (is - p);
            bend = fmax(bend, p * (1 - p));
        }
        bend = fmin(2 * (bend + DBL_EPSILON) * exp(4 * near), two ? 0.25 : 0.5);
        for (int64_t o = 0; o < k; o++)
            slip[o * n + i] = v->weight[i] * (bend * near + 8 * DBL_EPSILON);
    }
    return blur;
}

/* The identity: 2 lambda a_iy = w_i ([y_i = y] - P(y | x_i)); of two classes lambda, for one
 * output. */
static mcr_status evaluate_logistic(outputs *t)
{
    mcr_verify *v = t->v;
    double mu = (t->k == 1 ? 1 : 2) * mcr_verify_option(v, "lambda");
    double worst = 0, slip = 0, heaviest = 0;
    mcr_exact_sum losses = {0};
    double blur = mcr_verify_logistic(v, t->f, t->error, t->rest, t->rest_error, &losses);
    for (int64_t i = 0; i < t->n; i++)
        heaviest = fmax(heaviest, v->weight[i]);
    for (int64_t at = 0; at < t->n * t->k; at++) {
        t->rest[at] += mu * t->a[at];
        worst = fmax(worst, fabs(t->rest[at]));
        slip = fmax(slip, t->rest_error[at] + 4 * DBL_EPSILON * mu * fabs(t->a[at]));
    }
    mcr_sure primal, gap;
    mcr_status s = evaluate_smooth(t, mu, losses, blur, &primal, &gap);
    if (!s) {
        mcr_verify_value(v, (mcr_sure){worst / heaviest, slip / heaviest});
        say_gap(v, primal, gap);
    }
    return s;
}

/* ---- erm --------------------------------------------------------------------------------------*/

static bool is_smooth(loss kind)
{
    return kind == LOSS_SQUARED_HINGE || kind == LOSS_LOGISTIC || kind == LOSS_SQUARED ||
           kind == LOSS_HUBER;
}

/* Of a piecewise linear loss: bounds of the coefficient. */
static void check_bounds(outputs *t, loss kind, double lambda, int64_t o)
{
    double q = mcr_verify_option(t->v, "quantile");
    for (int64_t i = 0; i < t->n; i++) {
        double most = t->v->weight[i] / (2 * lambda), y = t->y[o * t->n + i];
        double a = t->a[o * t->n + i], hi = most, lo = -most, slack = 1e-9 * most;
        if (kind == LOSS_HINGE) {
            hi = y > 0 ? most : 0;
            lo = y > 0 ? 0 : -most;
        } else if (kind == LOSS_QUANTILE) {
            hi = q * most;
            lo = -(1 - q) * most;
        }
        if (a > hi + slack || a < lo - slack)
            mcr_verify_fault(t->v, "the coefficient of object %lld is %.9g, beyond its bounds",
                             (long long)i + 1, a);
    }
}

/* The conjugate of the loss at u, cut to where it is finite. */
static double conjugate_at(const mcr_verify *v, loss kind, double y, double *u)
{
    double delta = mcr_verify_option(v, "delta"), p;
    if (kind == LOSS_SQUARED_HINGE)
        *u = y > 0 ? fmin(*u, 0) : fmax(*u, 0);
    if (kind == LOSS_LOGISTIC)
        *u = y > 0 ? fmax(fmin(*u, 0), -1) : fmin(fmax(*u, 0), 1);
    if (kind == LOSS_HUBER)
        *u = fmax(-delta, fmin(delta, *u));
    p = fabs(*u);
    switch (kind) {
    case LOSS_SQUARED_HINGE: return p * p / 4 - p;
    case LOSS_LOGISTIC: return (p > 0 ? p * log(p) : 0) + (p < 1 ? (1 - p) * log1p(-p) : 0);
    case LOSS_HUBER: return p * p / 2 + *u * y;
    default: return p * p / 4 + *u * y;
    }
}

/* The gap with the coefficients as the point of the dual problem, u = -2 lambda a / w for each
 * object: sum of w (loss + conjugate loss - u f), plus lambda |w|^2 of what the cuts moved. */
static mcr_sure coefficient_gap(const outputs *t, loss kind, double lambda)
{
    mcr_exact_sum sum = {0};
    double blur = 0, moved = 0;
    for (int64_t at = 0; at < t->n * t->k; at++) {
        int64_t i = at % t->n;
        double w = t->v->weight[i], f = t->f[at];
        if (w == 0)
            continue;
        double whole = -2 * lambda * t->a[at] / w, u = whole;
        double other = conjugate_at(t->v, kind, t->y[at], &u);
        point p = loss_at(t->v, kind, t->y[at], f);
        mcr_exact_add(&sum, w * (p.value + other - u * f));
        moved += w * fabs(u - whole) / (2 * lambda) * sqrt(fmax(t->v->diagonal[i], 0));
        blur += w * (fabs(p.slope - u) + p.bend * t->error[at]) * t->error[at] +
                8 * DBL_EPSILON * w * (p.value + fabs(other) + fabs(u * f));
    }
    return (mcr_sure){fmax(mcr_exact_total(&sum), 0) + lambda * moved * moved, blur};
}

static mcr_status evaluate_erm(outputs *t)
{
    mcr_verify *v = t->v;
    double lambda = mcr_verify_option(v, "lambda"), blur = 0;
    loss kind = (loss)mcr_verify_choice(v, "loss");
    if (kind == LOSS_AUTO)
        kind = v->class_of ? LOSS_LOGISTIC : LOSS_SQUARED;
    mcr_exact_sum losses = {0}, linear = {0};
    for (int64_t at = 0; at < t->n * t->k; at++) {
        double w = v->weight[at % t->n], slip = t->error[at] + 4 * DBL_EPSILON * fabs(t->f[at]);
        point p = loss_at(v, kind, t->y[at], t->f[at]);
        mcr_exact_add(&losses, w * p.value);
        blur += w * ((p.steep + p.bend * slip) * slip + 4 * DBL_EPSILON * fabs(p.value));
        t->rest[at] = 2 * lambda * t->a[at] + w * p.slope;
        mcr_exact_add(&linear, t->a[at] * t->y[at]);
        if (kind == LOSS_EPSILON)
            mcr_exact_add(&linear, -mcr_verify_option(v, "epsilon") * fabs(t->a[at]));
    }
    mcr_sure primal, gap;
    mcr_status s = MCR_OK;
    if (is_smooth(kind)) {
        s = evaluate_smooth(t, 2 * lambda, losses, blur, &primal, &gap);
        /* Both points of the dual problem prove something; the model's number is of one of them. */
        mcr_sure other = coefficient_gap(t, kind, lambda);
        double printed = v->out->gap.printed;
        if (fabs(other.value - printed) < fabs(gap.value - printed))
            gap = other;
    } else {
        mcr_sure square = mcr_sure_dot(t->a, t->f, t->error, t->n * t->k);
        primal = (mcr_sure){lambda * square.value + mcr_exact_total(&losses),
                            lambda * square.error + blur + 4 * DBL_EPSILON * losses.size};
        double dual = lambda * (2 * mcr_exact_total(&linear) - square.value);
        gap = (mcr_sure){primal.value - dual, primal.error + lambda * square.error +
                                                  8 * DBL_EPSILON * lambda * linear.size};
        for (int64_t o = 0; o < t->k; o++)
            check_bounds(t, kind, lambda, o);
    }
    if (s)
        return s;
    double size = primal.value != 0 ? fabs(primal.value) : 1;
    double share = fmax(gap.value, 0) / size;
    mcr_verify_value(v, (mcr_sure){share, (gap.error + share * primal.error) / size});
    say_gap(v, primal, gap);
    return MCR_OK;
}

mcr_status mcr_verify_losses(mcr_verify *v)
{
    outputs t;
    mcr_status s = open_outputs(&t, v);
    if (!s)
        s = strcmp(v->model->learner, "erm") == 0 ? evaluate_erm(&t) : evaluate_logistic(&t);
    close_outputs(&t);
    return s;
}

/* ---- ridge ------------------------------------------------------------------------------------*/

/* Of each column: |v| and a bound on its error, from those of its values. */
static mcr_sure norm_of(const double *v, const double *error, int64_t n)
{
    mcr_exact_sum sum = {0};
    double blur = 0;
    for (int64_t i = 0; i < n; i++) {
        mcr_exact_add(&sum, v[i] * v[i]);
        blur += error[i] * error[i];
    }
    double norm = sqrt(mcr_exact_total(&sum));
    return (mcr_sure){norm, sqrt(blur) + 4 * DBL_EPSILON * norm};
}

/* What is left of the system, W^1/2 (y - f) - lambda W^-1/2 a, into rest; the objective. */
static mcr_sure residual_of(const mcr_verify *v, outputs *t, double lambda)
{
    mcr_exact_sum sum = {0};
    double blur = 0;
    for (int64_t at = 0; at < t->n * t->k; at++) {
        double w = v->weight[at % t->n], root = sqrt(w), e = t->y[at] - t->f[at];
        double x = w > 0 ? t->a[at] / root : 0;
        t->rest[at] = root * e - lambda * x;
        t->rest_error[at] = root * (t->error[at] +
                                    2 * DBL_EPSILON * (fabs(t->f[at]) + fabs(t->y[at]))) +
                            4 * DBL_EPSILON * lambda * fabs(x);
        mcr_exact_add(&sum, w * e * e);
        mcr_exact_add(&sum, lambda * t->a[at] * t->f[at]);
        blur += 2 * fabs(e) * w * t->error[at] + lambda * fabs(t->a[at]) * t->error[at];
    }
    return (mcr_sure){mcr_exact_total(&sum), blur + 8 * DBL_EPSILON * sum.size};
}

/* u = W^1/2 G W^1/2 u of all columns, and the error that it has; before: of u. */
static mcr_status multiply_weighted(mcr_verify *v, outputs *t, double *u, double *error,
                                    const double *before)
{
    int64_t n = t->n, all = t->n * t->k;
    for (int64_t at = 0; at < all; at++)
        u[at] *= sqrt(v->weight[at % n]);
    mcr_status s = mcr_verify_multiply(v, u, t->k, t->rest_f, error);
    for (int64_t o = 0; o < t->k && !s; o++) {
        double size = 0;
        for (int64_t i = 0; i < n && before; i++)
            size += sqrt(v->weight[i]) * before[o * n + i] * v->length[i];
        for (int64_t i = 0; i < n; i++) {
            double root = sqrt(v->weight[i]);
            u[o * n + i] = root * t->rest_f[o * n + i];
            error[o * n + i] = root * (error[o * n + i] + size * v->length[i]);
        }
    }
    return s;
}

/* The residual of (W^1/2 G W^1/2 + lambda) x = W^1/2 y relative to its right-hand side, or both
 * times W^1/2 G W^1/2: the gradient relative to that at 0. */
mcr_status mcr_verify_ridge(mcr_verify *v)
{
    int64_t one;
    const double *lambda = mcr_fitted_find(v->fitted, "lambda", &one);
    outputs t;
    mcr_status s = open_outputs(&t, v);
    if (!s && one != 1)
        s = mcr_fail(v->ctx, MCR_BAD_DATA,
                     "the model is damaged (it has no lambda); train it again");
    mcr_sure objective = {0, 0}, worst = {0, 0};
    if (!s)
        objective = residual_of(v, &t, *lambda);
    for (int64_t at = 0; at < t.n * t.k && !s; at++) { /* f and its error are no longer needed */
        t.f[at] = sqrt(v->weight[at % t.n]) * t.y[at];
        t.error[at] = DBL_EPSILON * fabs(t.f[at]);
    }
    if (!s && strstr(v->out->kind, "gradient")) {
        memcpy(t.y, t.rest_error, sizeof *t.y * (size_t)(t.n * t.k));
        s = multiply_weighted(v, &t, t.rest, t.rest_error, t.y);
        if (!s)
            s = multiply_weighted(v, &t, t.f, t.error, NULL);
    }
    for (int64_t o = 0; o < t.k && !s; o++) {
        mcr_sure left = norm_of(t.rest + o * t.n, t.rest_error + o * t.n, t.n);
        mcr_sure all = norm_of(t.f + o * t.n, t.error + o * t.n, t.n);
        double size = all.value > 0 ? all.value : 1;
        worst.value = fmax(worst.value, left.value / size);
        worst.error = fmax(worst.error, (left.error + left.value * all.error / size) / size);
    }
    if (!s) {
        mcr_verify_value(v, worst);
        mcr_verify_objective(v, objective);
    }
    close_outputs(&t);
    return s;
}

/* ---- gp ---------------------------------------------------------------------------------------*/

/* -log likelihood of numbers: y'a/2 + sum log L_ii + n/2 log 2 pi, with L L' = C = K + D. error: of
 * y - C a. Its own error: what that and the rounding of C change of y'a, and of the logarithm of
 * the determinant the trace of C^-1 dC. With a diagonal of 1, no eigenvalue of C is below the
 * smallest share of the noise, and |dC_ij| <= unit of the kernel values and (n + 1) u of the
 * factor. */
static mcr_status likelihood(mcr_verify *v, const double *noise, const double *y, const double *a,
                             const double *error, mcr_sure *out)
{
    mcr_system m = {0};
    int64_t n = v->n;
    double unit = v->unit + 0.5 * DBL_EPSILON * (double)(n + 1), share = 1, blur = 0;
    mcr_status s = mcr_system_open(&m, v->ctx, n, "verify: the kernel matrix");
    if (!s)
        s = mcr_gram_fill_system(v->gram, &m, NULL, true);
    if (!s)
        s = mcr_system_factor(&m, 0, noise, NULL);
    mcr_exact_sum sum = {0};
    mcr_exact_add(&sum, 0.5 * (double)n * log(2 * 3.14159265358979323846));
    for (int64_t i = 0; i < n && !s; i++) {
        mcr_exact_add(&sum, 0.5 * y[i] * a[i]);
        mcr_exact_add(&sum, mcr_system_log(&m, i));
        share = fmin(share, noise[i] / (fabs(v->diagonal[i]) + noise[i]));
        blur += 0.5 * (fabs(a[i]) + error[i] / noise[i]) * error[i];
    }
    mcr_system_close(&m);
    blur += 0.5 * (double)n * (double)n * unit / share + 4 * DBL_EPSILON * sum.size;
    *out = (mcr_sure){mcr_exact_total(&sum), blur};
    return s == MCR_NUMERIC ? mcr_fail(v->ctx, MCR_NUMERIC,
                                       "K + noise is not positive definite: the likelihood of this "
                                       "model cannot be recomputed")
                            : s;
}

/* Of a process that was solved without its matrix: the residual of (K + D) a = y times W^1/2,
 * relative to W^1/2 y. The bounds of the likelihood are not recomputed. */
static void gp_without_matrix(mcr_verify *v, const outputs *t, const double *noise, double scale)
{
    double rest = 0, slip = 0, size = 0;
    for (int64_t i = 0; i < t->n; i++) {
        double w = fmax(v->weight[i], 1e-12), y = (t->y[i] - v->fitted->offset[0]) / scale;
        double r = y - (t->f[i] + noise[i] * t->a[i]) / scale;
        rest += w * r * r;
        slip += w * t->error[i] * t->error[i] / (scale * scale);
        size += w * y * y;
    }
    size = size > 0 ? sqrt(size) : 1;
    mcr_verify_value(v, (mcr_sure){sqrt(rest) / size, sqrt(slip) / size + 1e-15});
}

/* (K + D) a = y, with y the targets, standardised as the file says. */
static mcr_status gp_of_numbers(mcr_verify *v, outputs *t)
{
    const double *noise, *scale;
    int64_t n = t->n;
    mcr_status s = mcr_fitted_need(&noise, v->fitted, "noise", n);
    if (!s)
        s = mcr_fitted_need(&scale, v->fitted, "scale", 1);
    if (s)
        return s;
    int64_t found;
    if (mcr_fitted_find(v->fitted, "large", &found)) {
        gp_without_matrix(v, t, noise, *scale);
        return MCR_OK;
    }
    double worst = 0, slip = 0, most = 0, size = 0;
    for (int64_t i = 0; i < n; i++) {
        t->a[i] /= *scale;
        t->y[i] = (t->y[i] - v->fitted->offset[0]) / *scale;
        double rest = t->y[i] - t->f[i] / *scale - noise[i] * t->a[i];
        worst = fmax(worst, fabs(rest));
        t->error[i] = t->error[i] / *scale + 4 * DBL_EPSILON * (fabs(t->y[i]) + fabs(t->f[i]));
        slip = fmax(slip, t->error[i]);
        t->error[i] += fabs(rest);
        most = fmax(most, fabs(t->a[i]));
        size = fmax(size, fabs(v->diagonal[i] + noise[i]));
    }
    double unit = most > 0 ? most * size * (double)n : 1;
    mcr_sure residual = {worst / unit, slip / unit}, objective;
    if (residual.value - residual.error > 1e-9)
        mcr_verify_fault(v,
                         "the coefficients do not solve (K + noise) a = y: relative residual %.3g",
                         residual.value);
    if (!mcr_verify_choice(v, v->model->type->kernel_search) || strstr(v->out->kind, "residual"))
        mcr_verify_value(v, residual);
    s = likelihood(v, noise, t->y, t->a, t->error, &objective);
    if (!s)
        mcr_verify_objective(v, (mcr_sure){-objective.value, objective.error});
    return s;
}

/* Laplace's approximation of the likelihood of classes: at the mode, less sum log L_ii of L L' = I
 * + W^1/2 K W^1/2, for each output. */
static mcr_status laplace(mcr_verify *v, const outputs *t)
{
    mcr_system m = {0};
    int64_t n = t->n;
    mcr_exact_sum sum = {0};
    double blur = 0, *root = mcr_alloc(v->ctx, (size_t)n, sizeof *root);
    mcr_status s = root ? mcr_system_open(&m, v->ctx, n, "verify: the kernel matrix")
                        : MCR_NO_MEMORY;
    for (int64_t o = 0; o < t->k && !s; o++) {
        const double *a = t->a + o * n, *f = t->f + o * n, *y = t->y + o * n;
        s = mcr_gram_matrix(v->gram, m.a, m.ld);
        for (int64_t i = 0; i < n; i++) {
            double p = 1 / (1 + exp(-f[i])), w = v->weight[i], z = y[i] * f[i];
            root[i] = sqrt(w * p * (1 - p));
            mcr_exact_add(&sum, w * (fmin(z, 0) - log1p(exp(-fabs(z)))));
            mcr_exact_add(&sum, -0.5 * a[i] * f[i]);
            blur += fabs(a[i]) * t->error[o * n + i] + (double)n * v->unit * w * v->diagonal[i];
        }
        for (int64_t i = 0; i < n && !s; i++)
            for (int64_t j = 0; j < n; j++)
                m.a[i * m.ld + j] *= root[i] * root[j];
        if (!s) {
            mcr_system_filled(&m);
            s = mcr_system_factor(&m, 1, NULL, NULL);
        }
        for (int64_t i = 0; i < n && !s; i++)
            mcr_exact_add(&sum, -mcr_system_log(&m, i));
    }
    if (!s)
        mcr_verify_objective(v, (mcr_sure){mcr_exact_total(&sum), blur + 1e-12 * sum.size});
    mcr_system_close(&m);
    mcr_free(v->ctx, root);
    return s;
}

/* At the mode a_i = w_i (t_i - P(t_i = 1 | f_i)), one output for each class or one for two. */
static mcr_status gp_of_classes(mcr_verify *v, outputs *t)
{
    double worst = 0, slip = 0;
    for (int64_t at = 0; at < t->n * t->k; at++) {
        double w = v->weight[at % t->n], is = t->y[at] > 0 ? 1 : 0;
        double g = w * (is - 1 / (1 + exp(-t->f[at])));
        worst = fmax(worst, fabs(g - t->a[at]));
        slip = fmax(slip, w * (t->error[at] + 8 * DBL_EPSILON));
    }
    if (strstr(v->out->kind, "mode"))
        mcr_verify_value(v, (mcr_sure){worst, slip});
    else if (worst - slip > 1e-6)
        mcr_verify_fault(v, "the coefficients are not at the mode: off by %.3g", worst);
    return laplace(v, t);
}

mcr_status mcr_verify_gp(mcr_verify *v)
{
    outputs t;
    mcr_status s = open_outputs(&t, v);
    if (!s && v->class_of)
        s = gp_of_classes(v, &t);
    else if (!s)
        s = gp_of_numbers(v, &t);
    close_outputs(&t);
    return s;
}

/* ---- pegasos and perceptron -------------------------------------------------------------------*/

enum { CLOCK = 5, CLOCK_STEPS = 0, CLOCK_LAMBDA = 2 };

/* What online learners keep: last coefficients, sums, clock. Models that went on with more data
 * have no certificate over data that they no longer have. */
static mcr_status read_state(const mcr_verify *v, const double **last, const double **sum,
                             const double **clock)
{
    const mcr_fitted *f = v->fitted;
    int64_t all = f->basis * f->outputs;
    mcr_status s = mcr_fitted_need(last, f, "online.coef", all);
    if (!s)
        s = mcr_fitted_need(sum, f, "online.sum", all);
    return s ? s : mcr_fitted_need(clock, f, "online.clock", CLOCK);
}

/* The last coefficients of each output, cut to 0 <= y b <= C_i, are a point of the dual. */
static void pegasos_dual(const mcr_verify *v, outputs *t, const double *last, double lambda,
                         double steps, double total)
{
    const mcr_fitted *f = v->fitted;
    memset(t->rest, 0, sizeof *t->rest * (size_t)(t->n * t->k));
    for (int64_t b = 0; b < f->basis; b++)
        for (int64_t o = 0; o < t->k; o++) {
            int64_t at = o * t->n + v->basis[b];
            double most = v->weight[v->basis[b]] / (lambda * total), y = t->y[at];
            double a = steps > 0 ? last[b * t->k + o] / (lambda * steps) : 0;
            t->rest[at] = y * fmin(fmax(y * a, 0), most);
        }
}

mcr_status mcr_verify_pegasos(mcr_verify *v)
{
    const double *last = NULL, *sum, *clock = NULL;
    outputs t;
    mcr_status s = open_outputs(&t, v);
    if (!s)
        s = read_state(v, &last, &sum, &clock);
    double total = 0, lambda = s ? NAN : clock[CLOCK_LAMBDA];
    for (int64_t i = 0; i < v->n; i++)
        total += v->weight[i];
    if (!s) {
        pegasos_dual(v, &t, last, lambda, clock[CLOCK_STEPS], total);
        s = mcr_verify_multiply(v, t.rest, t.k, t.rest_f, t.rest_error);
    }
    mcr_sure primal = {0, 0}, dual = {0, 0};
    for (int64_t o = 0; o < t.k && !s; o++) {
        const double *f = t.f + o * t.n, *y = t.y + o * t.n, *b = t.rest + o * t.n;
        mcr_sure square = mcr_sure_dot(t.a + o * t.n, f, t.error + o * t.n, t.n);
        mcr_sure bend = mcr_sure_dot(b, t.rest_f + o * t.n, t.rest_error + o * t.n, t.n);
        mcr_exact_sum hinge = {0}, linear = {0};
        double blur = 0;
        for (int64_t i = 0; i < t.n; i++) {
            double cost = v->weight[i] / (lambda * total);
            mcr_exact_add(&hinge, cost * fmax(0, 1 - y[i] * f[i]));
            mcr_exact_add(&linear, y[i] * b[i]);
            blur += cost * (t.error[o * t.n + i] + 2 * DBL_EPSILON * (1 + fabs(f[i])));
        }
        double line = mcr_exact_total(&linear);
        double least = line > 0 && bend.value > line ? line / bend.value : 1;
        primal.value += 0.5 * square.value + mcr_exact_total(&hinge);
        primal.error += 0.5 * square.error + blur;
        dual.value += least * line - least * least * bend.value / 2;
        dual.error += bend.error + 8 * DBL_EPSILON * linear.size;
    }
    if (!s) {
        mcr_sure gap = {primal.value - dual.value, primal.error + dual.error};
        mcr_verify_primal(v, primal);
        mcr_verify_objective(v, primal);
        mcr_verify_dual(v, dual);
        mcr_verify_gap(v, gap);
        mcr_verify_value(
            v, (mcr_sure){fmax(0, gap.value / primal.value), gap.error / fabs(primal.value)});
    }
    close_outputs(&t);
    return s;
}

/* What predicts must follow from the counters; each of those is a whole number of object
 * weights. */
static void check_counters(mcr_verify *v, const double *last, const double *sum, double steps)
{
    const mcr_fitted *f = v->fitted;
    enum { LAST, AVERAGED };
    bool averaged = mcr_verify_choice(v, "variant") == AVERAGED;
    const mcr_segment *g = f->segments == 1 ? &f->segment[0] : NULL;
    for (int64_t b = 0; g && b < f->basis; b++)
        for (int64_t o = 0; o < g->outputs; o++) {
            double own = last[b * f->outputs + o], w = v->weight[v->basis[b]];
            double said = g->coef[o * g->count + b];
            double should = averaged ? ((steps + 1) * own - sum[b * f->outputs + o]) / steps : own;
            double count = w > 0 ? own / w : 0;
            if (fabs(said - should) > 1e-9 * fmax(1, fabs(should)))
                mcr_verify_fault(v,
                                 "the coefficient of object %lld is %.9g, and its counter says "
                                 "%.9g",
                                 (long long)v->basis[b] + 1, said, should);
            if (fabs(count - round(count)) > 1e-6)
                mcr_verify_fault(v, "the counter of object %lld, %.9g, is no number of mistakes",
                                 (long long)v->basis[b] + 1, count);
        }
}

/* The share of objects that the last perceptron has on the wrong side; zero is wrong. */
mcr_status mcr_verify_perceptron(mcr_verify *v)
{
    const mcr_fitted *f = v->fitted;
    const double *last = NULL, *sum = NULL, *clock = NULL;
    double wrong = 0, visits = 0, unsure = 0;
    outputs t;
    mcr_status s = open_outputs(&t, v);
    double *bias = mcr_alloc_zero(v->ctx, (size_t)(t.k ? t.k : 1), sizeof *bias);
    if (!s)
        s = bias ? read_state(v, &last, &sum, &clock) : MCR_NO_MEMORY;
    for (int64_t b = 0; b < f->basis && !s; b++)
        for (int64_t o = 0; o < t.k; o++) {
            t.rest[o * t.n + v->basis[b]] += last[b * t.k + o];
            bias[o] += mcr_verify_choice(v, "bias") ? last[b * t.k + o] : 0;
        }
    if (!s)
        s = mcr_verify_multiply(v, t.rest, t.k, t.rest_f, t.rest_error);
    for (int64_t o = 0; o < t.k && !s; o++) { /* the learner's own rounding, in double */
        double size = 0;
        for (int64_t i = 0; i < t.n; i++)
            size += fabs(t.rest[o * t.n + i]) * v->length[i];
        for (int64_t i = 0; i < t.n; i++)
            t.rest_error[o * t.n + i] = v->unit * size * v->length[i];
    }
    for (int64_t i = 0; i < t.n && !s; i++) {
        double own = t.rest_f[i] + bias[0], most = -INFINITY, near = t.rest_error[i];
        for (int64_t o = 0; o < t.k && t.k > 1; o++) {
            double score = t.rest_f[o * t.n + i] + bias[o];
            own = o == v->class_of[i] ? score : own;
            most = o == v->class_of[i] ? most : fmax(most, score);
            near = fmax(near, t.rest_error[o * t.n + i]);
        }
        double margin = t.k > 1 ? own - most : v->class_of[i] ? own : -own;
        if (!(v->weight[i] > 0))
            continue;
        visits++;
        wrong += !(margin > 0);
        /* Ties, which the learner counts as wrong. */
        unsure += fabs(margin) <= (f->stop == MCR_STOP_OPTIMAL ? 1 : 1e3) * near;
    }
    if (!s) {
        check_counters(v, last, sum, clock[CLOCK_STEPS]);
        mcr_sure share = {wrong / visits, unsure / visits};
        mcr_verified *value = &v->out->value;
        if (f->stop == MCR_STOP_OPTIMAL) {
            mcr_verify_value(v, share);
        } else {
            value->recomputed = share.value;
            value->error = share.error;
            value->agrees = fabs(value->printed - share.value) <= share.error + 1e-12;
            if (!value->agrees)
                mcr_verify_fault(v,
                                 "the share on the wrong side is %.9g by the model, and %.9g "
                                 "recomputed",
                                 value->printed, share.value);
        }
    }
    mcr_free(v->ctx, bias);
    close_outputs(&t);
    return s;
}
