/* verify_machines.c: certificates of support vector machines.
 *
 * Each is a quadratic program min 1/2 b'Kb - z'b + epsilon |b|_1 with bounds, and with the sum of
 * the coefficients of one or two groups fixed, or none. Its optimality conditions are those of
 * LIBSVM: within a group no coefficient can go up at a lower slope than another can go down. The
 * largest difference of slopes that contradicts this is the KKT violation.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "model/verify.h"

typedef struct program {
    mcr_verify *v;
    int64_t n;
    int64_t *row; /* of each object in the data */
    double *y, *z, *lo, *hi, *b;
    double *g, *error; /* Kb and bounds on its error */
    unsigned char *group;
    double *all, *all_f, *all_error; /* the same of all objects of the data */
    int groups;                      /* of fixed sums; 0: none are */
    double epsilon, bias;
    mcr_sure violation, primal, dual;
    double strict; /* the violation where only a coefficient that equals its bound is at it */
} program;

static mcr_status open_program(program *p, mcr_verify *v)
{
    size_t n = (size_t)v->n;
    *p = (program){.v = v, .groups = 1};
    p->row = mcr_alloc(v->ctx, n, sizeof *p->row);
    p->group = mcr_alloc_zero(v->ctx, n, 1);
    bool ok = mcr_zero_doubles(v->ctx, n, &p->y, &p->z, &p->lo, &p->hi, &p->b, &p->g, &p->error,
                               &p->all, &p->all_f, &p->all_error);
    return ok && p->row && p->group ? MCR_OK : MCR_NO_MEMORY;
}

static void close_program(program *p)
{
    mcr_free_all(p->v->ctx, p->row, p->group, p->y, p->z, p->lo, p->hi, p->b, p->g, p->error,
                 p->all, p->all_f, p->all_error);
}

/* Coefficients of output o and their products with K, of the objects listed in row. */
static mcr_status take_output(program *p, int64_t o)
{
    mcr_verify *v = p->v;
    mcr_verify_coefficients(v, o, p->all);
    p->bias = v->fitted->offset[o];
    mcr_status s = mcr_verify_multiply(v, p->all, 1, p->all_f, p->all_error);
    for (int64_t i = 0; i < p->n && !s; i++) {
        p->b[i] = p->all[p->row[i]];
        p->g[i] = p->all_f[p->row[i]];
        p->error[i] = p->all_error[p->row[i]];
    }
    return s;
}

/* ---- the conditions ---------------------------------------------------------------------------*/

/* Coefficients may be scaled after they were cut to their bounds: a bound is reached up to
 * rounding. */
#define AT_BOUND 1e-12

static bool is_at(double b, double bound, double slack)
{
    return isfinite(bound) && fabs(b - bound) <= slack * fabs(bound);
}

/* The violation, and the errors of its two slopes. slack 0: a coefficient within rounding of its
 * bound counts as free. */
static mcr_sure worst_violation(const program *p, double slack)
{
    mcr_sure worst = {0, 0};
    for (int t = 0; t < (p->groups ? p->groups : 1); t++) {
        double low = p->groups ? INFINITY : 0, high = p->groups ? -INFINITY : 0;
        double low_error = 0, high_error = 0;
        for (int64_t i = 0; i < p->n; i++) {
            double b = p->b[i], slope = p->g[i] - p->z[i];
            double up = slope + (b >= 0 ? p->epsilon : -p->epsilon);
            double down = slope + (b > 0 ? p->epsilon : -p->epsilon);
            if (p->group[i] != t)
                continue;
            if (b < p->hi[i] && !is_at(b, p->hi[i], slack) && up < low) {
                low = up;
                low_error = p->error[i];
            }
            if (b > p->lo[i] && !is_at(b, p->lo[i], slack) && down > high) {
                high = down;
                high_error = p->error[i];
            }
        }
        if (high - low >= worst.value)
            worst = (mcr_sure){high - low, low_error + high_error};
    }
    return worst;
}

/* Both are violations of the conditions: the one that the model may mean. */
static mcr_sure meant(const mcr_verify *v, mcr_sure violation, double strict)
{
    double printed = v->out->value.printed;
    if (fabs(printed - strict) < fabs(printed - violation.value))
        violation.value = strict;
    return violation;
}

static void find_violation(program *p)
{
    mcr_sure worst = worst_violation(p, AT_BOUND);
    double blur = 0;
    for (int64_t i = 0; i < p->n; i++)
        blur = fmax(blur, p->error[i] + 2 * DBL_EPSILON * (fabs(p->g[i]) + fabs(p->z[i])));
    p->violation = (mcr_sure){worst.value, fmax(worst.error, 2 * blur)};
    p->strict = worst.value;
}

/* Bounds and sums, up to rounding; size: of numbers that the coefficients are differences of. */
static void check_feasible(program *p, const double *sum, double size)
{
    double got[2] = {0, 0};
    for (int64_t i = 0; i < p->n; i++) {
        double b = p->b[i], most = fmax(fabs(p->lo[i]), fabs(p->hi[i]));
        size += fabs(b);
        got[p->group[i]] += b;
        double slack = isfinite(most) ? 1e-9 * most : 0;
        if (b > p->hi[i] + slack || b < p->lo[i] - slack)
            mcr_verify_fault(p->v,
                             "the coefficient of object %lld is %.9g, beyond its bounds %.9g and "
                             "%.9g",
                             (long long)p->row[i] + 1, b, p->lo[i], p->hi[i]);
    }
    for (int t = 0; t < p->groups; t++)
        if (sum && fabs(got[t] - sum[t]) > 1e-9 * fmax(size, fabs(sum[t])))
            mcr_verify_fault(p->v, "the coefficients sum to %.9g, and should sum to %.9g", got[t],
                             sum[t]);
}

/* sum of w_i max(0, t_i), where t_i = a - s_i (g_i + bias) */
static mcr_sure hinge(const program *p, const double *cost, const double *sign, double a)
{
    mcr_exact_sum sum = {0};
    double blur = 0;
    for (int64_t i = 0; i < p->n; i++) {
        double t = a - sign[i] * (p->g[i] + p->bias);
        double slip = p->error[i] + 2 * DBL_EPSILON * (fabs(p->g[i]) + fabs(p->bias) + fabs(a));
        if (t > 0)
            mcr_exact_add(&sum, cost[i] * t);
        if (t > -slip)
            blur += cost[i] * slip;
    }
    return (mcr_sure){mcr_exact_total(&sum), blur + 2 * DBL_EPSILON * sum.size};
}

static mcr_sure square_of(const program *p)
{
    return mcr_sure_dot(p->b, p->g, p->error, p->n);
}

static void add(mcr_sure *to, mcr_sure what)
{
    to->value += what.value;
    to->error += what.error + DBL_EPSILON * fabs(what.value);
}

static mcr_sure times(double factor, mcr_sure a)
{
    return (mcr_sure){factor * a.value, fabs(factor) * a.error};
}

/* ---- classes ----------------------------------------------------------------------------------*/

/* The objects of one two-class problem, with their sides. */
static void list_objects(program *p, int64_t o)
{
    const mcr_verify *v = p->v;
    int64_t positive, negative;
    mcr_model_sides(v->model, o, &positive, &negative);
    p->n = 0;
    for (int64_t i = 0; i < v->n; i++) {
        if (v->class_of[i] != positive && negative >= 0 && v->class_of[i] != negative)
            continue;
        p->row[p->n] = i;
        p->y[p->n++] = v->class_of[i] == positive ? 1 : -1;
    }
}

/* The largest coefficient of a side, if several have it: then it is a bound. */
static double guess_bound(const program *p, double side)
{
    double most = 0;
    int64_t count = 0;
    for (int64_t i = 0; i < p->n; i++)
        if (p->y[i] == side || side == 0)
            most = fmax(most, fabs(p->b[i]));
    for (int64_t i = 0; i < p->n; i++)
        count += (p->y[i] == side || side == 0) && most > 0 &&
                 fabs(fabs(p->b[i]) - most) <= 1e-12 * most;
    return count > 1 ? most : INFINITY;
}

static void set_bounds(program *p, double C)
{
    const mcr_verify *v = p->v;
    bool known = v->options || (v->given && !isnan(v->given->C));
    double guess[2] = {INFINITY, INFINITY};
    for (int side = 0; side < 2 && !known; side++)
        guess[side] = guess_bound(p, side ? 1 : -1);
    for (int64_t i = 0; i < p->n; i++) {
        double w = v->weight[p->row[i]], most = known ? (w > 0 ? C * w : 0) : guess[p->y[i] > 0];
        p->z[i] = p->y[i];
        p->lo[i] = p->y[i] > 0 ? 0 : -most;
        p->hi[i] = p->y[i] > 0 ? most : 0;
    }
}

static double cost_of(const program *p)
{
    const mcr_verify *v = p->v;
    double C = mcr_verify_option(v, "C"), lambda = mcr_verify_option(v, "lambda"), count = 0;
    if (!v->options)
        return v->given ? v->given->C : NAN;
    if (!isnan(C))
        return C;
    for (int64_t i = 0; i < p->n; i++)
        count += v->own[p->row[i]];
    return isnan(lambda) ? 1 : count > 0 ? 1 / (2 * lambda * count) : 0;
}

/* primal: scaled so that all margins are 1 at least, a feasible point where there is no cost. */
static mcr_sure hard_primal(const program *p, mcr_sure square)
{
    double worst = 1, slip = 0;
    for (int64_t i = 0; i < p->n; i++)
        if (p->v->weight[p->row[i]] > 0 && p->y[i] * (p->g[i] + p->bias) < worst) {
            worst = p->y[i] * (p->g[i] + p->bias);
            slip = p->error[i] + 4 * DBL_EPSILON * (fabs(p->g[i]) + fabs(p->bias));
        }
    double value = worst > 0 ? 0.5 * square.value / (worst * worst) : INFINITY;
    return (mcr_sure){value, value / square.value * square.error + 4 * value * slip / worst};
}

static mcr_sure dual_of(const program *p, mcr_sure square)
{
    mcr_exact_sum linear = {0};
    for (int64_t i = 0; i < p->n; i++)
        mcr_exact_add(&linear, p->b[i] * p->z[i] - p->epsilon * fabs(p->b[i]));
    return (mcr_sure){mcr_exact_total(&linear) - 0.5 * square.value,
                      0.5 * square.error + 4 * DBL_EPSILON * linear.size};
}

/* The hard margin with a bias is the distance of two hulls, scaled: slopes are compared within
 * each. */
static void hull_violation(program *p)
{
    p->groups = 2;
    for (int64_t i = 0; i < p->n; i++) {
        bool counts = p->v->weight[p->row[i]] > 0;
        p->group[i] = p->y[i] > 0;
        p->z[i] = 0;
        p->lo[i] = p->y[i] < 0 && counts ? -INFINITY : 0;
        p->hi[i] = p->y[i] > 0 && counts ? INFINITY : 0;
    }
    find_violation(p);
    p->groups = 1;
    for (int64_t i = 0; i < p->n; i++) {
        p->group[i] = 0;
        p->z[i] = p->y[i];
    }
}

static void evaluate_margin(program *p)
{
    double C = cost_of(p);
    bool bias = !p->v->options || mcr_verify_choice(p->v, "bias"), hard = isinf(C);
    p->groups = bias ? 1 : 0;
    set_bounds(p, C);
    check_feasible(p, (const double[]){0, 0}, 0);
    if (hard && bias)
        hull_violation(p);
    else
        find_violation(p);
    if (p->v->options && !hard)
        p->strict = worst_violation(p, 0).value;
    mcr_sure square = square_of(p);
    p->dual = dual_of(p, square);
    if (hard) {
        p->primal = hard_primal(p, square);
        return;
    }
    double *cost = p->all; /* no longer needed there */
    for (int64_t i = 0; i < p->n; i++)
        cost[i] = fmax(-p->lo[i], p->hi[i]);
    bool unknown =
        false; /* costs that no coefficient reaches: then there is no loss beyond rounding */
    for (int64_t i = 0; i < p->n; i++)
        unknown |= isinf(cost[i]);
    p->primal = unknown ? hard_primal(p, square) : times(0.5, square);
    if (!unknown)
        add(&p->primal, hinge(p, cost, p->y, 1));
}

/* Scaled by 1 / rho, which follows from the sum of the coefficients, nu n / rho. */
static void evaluate_nu(program *p)
{
    double nu = mcr_verify_option(p->v, "nu"), total = 0, size = 0;
    for (int64_t i = 0; i < p->n; i++) {
        total += p->v->weight[p->row[i]];
        size += fabs(p->b[i]);
    }
    double rho = nu * total / size, *cost = p->all;
    p->groups = 2;
    for (int64_t i = 0; i < p->n; i++) {
        cost[i] = p->v->weight[p->row[i]] / rho;
        p->group[i] = p->y[i] > 0;
        p->lo[i] = p->y[i] > 0 ? 0 : -cost[i];
        p->hi[i] = p->y[i] > 0 ? cost[i] : 0;
    }
    check_feasible(p, (const double[]){-0.5 * size, 0.5 * size}, 0);
    find_violation(p);
    mcr_sure square = square_of(p);
    p->dual = times(-0.5, square);
    p->primal = times(0.5, square);
    add(&p->primal, (mcr_sure){-nu * total / rho, 1e-12 * nu * total / rho});
    add(&p->primal, hinge(p, cost, p->y, 1));
}

/* The 1-norm. The primal is sum |a_j| + sum C_i xi_i. The prices u that the file keeps bound it by
 * their sum, if 0 <= u_i <= C_i, sum u_i y_i = 0 and no |sum_i u_i y_i K_ij| is above 1; what is
 * above is scaled away. */
static mcr_status evaluate_one_norm(program *p, const double *price)
{
    double C = mcr_verify_option(p->v, "C"), *cost = p->z, total = 0, worst = 1;
    mcr_exact_sum size = {0}, sum = {0};
    for (int64_t i = 0; i < p->n; i++) {
        cost[i] = C * p->v->weight[p->row[i]];
        mcr_exact_add(&size, fabs(p->b[i]));
    }
    p->primal = (mcr_sure){mcr_exact_total(&size), 2 * DBL_EPSILON * size.size};
    add(&p->primal, hinge(p, cost, p->y, 1));
    memset(p->all, 0, sizeof *p->all * (size_t)p->v->n);
    for (int64_t i = 0; i < p->n; i++) {
        if (price[i] < -1e-12 * cost[i] || price[i] > cost[i] * (1 + 1e-9))
            mcr_verify_fault(p->v, "the price of object %lld is %.9g, beyond 0 and %.9g",
                             (long long)p->row[i] + 1, price[i], cost[i]);
        p->all[p->row[i]] = price[i] * p->y[i];
        total += price[i] * p->y[i];
        mcr_exact_add(&sum, price[i]);
    }
    if (fabs(total) > 1e-9 * sum.size)
        mcr_verify_fault(p->v, "the prices of the two classes differ by %.3g", total);
    mcr_status s = mcr_verify_multiply(p->v, p->all, 1, p->all_f, p->all_error);
    for (int64_t i = 0; i < p->n && !s; i++)
        worst = fmax(worst, fabs(p->all_f[p->row[i]]));
    double error = worst - 1 < 1e-9 ? 0 : 1e-12;
    p->dual = (mcr_sure){mcr_exact_total(&sum) / worst,
                         mcr_exact_total(&sum) * (p->v->unit * sum.size + error) +
                             2 * DBL_EPSILON * sum.size};
    return s;
}

/* Prices are kept by class: those of the first class of a pair, then those of the second. */
static void sort_pair(program *p)
{
    int64_t at = 0;
    if (p->v->fitted->rule != MCR_RULE_PAIRS)
        return;
    int64_t *row = (int64_t *)(void *)p->all_f; /* space that is filled later; as large */
    for (int side = 1; side >= -1; side -= 2)
        for (int64_t i = 0; i < p->n; i++)
            if (p->y[i] == side)
                row[at++] = p->row[i];
    int64_t positive = 0;
    for (int64_t i = 0; i < p->n; i++)
        positive += p->y[i] > 0;
    memcpy(p->row, row, sizeof *row * (size_t)p->n);
    for (int64_t i = 0; i < p->n; i++)
        p->y[i] = i < positive ? 1 : -1;
}

/* The sums over all problems of l1-svm. */
static mcr_status evaluate_one_norms(mcr_verify *v)
{
    int64_t count, at = 0;
    const double *price = mcr_fitted_find(v->fitted, MCR_EXTRA_PRICES, &count);
    program p;
    mcr_sure primal = {0, 0}, dual = {0, 0};
    mcr_status s = open_program(&p, v);
    if (!s && !price)
        s = mcr_fail(v->ctx, MCR_BAD_CALL,
                     "this model was made before models of l1-svm kept their dual variables: its "
                     "certificate cannot be recomputed; train it again");
    for (int64_t o = 0; o < v->fitted->outputs && !s; o++) {
        list_objects(&p, o);
        sort_pair(&p);
        if (at + p.n > count)
            s = mcr_fail(v->ctx, MCR_BAD_DATA,
                         "the model is damaged (its numbers \"%s\" do not fit); train it again",
                         MCR_EXTRA_PRICES);
        if (!s)
            s = take_output(&p, o);
        if (!s)
            s = evaluate_one_norm(&p, price + at);
        at += p.n;
        add(&primal, p.primal);
        add(&dual, p.dual);
        if (!s) {
            double gap = (p.primal.value - p.dual.value) / fmax(p.primal.value, 1e-300);
            double error = (p.primal.error + p.dual.error) / fmax(p.primal.value, 1e-300);
            if (gap >= p.violation.value || o == 0)
                p.violation = (mcr_sure){fmax(gap, p.violation.value),
                                         fmax(error, p.violation.error)};
        }
    }
    if (!s) {
        mcr_verify_value(v, p.violation);
        mcr_verify_primal(v, primal);
        mcr_verify_objective(v, primal);
        mcr_verify_dual(v, dual);
        mcr_verify_gap(v, (mcr_sure){primal.value - dual.value, primal.error + dual.error});
    }
    close_program(&p);
    return s;
}

static mcr_status evaluate_classes(mcr_verify *v)
{
    bool nu = v->options && strcmp(v->model->learner, "nu-svm") == 0;
    program p;
    mcr_sure violation = {0, 0}, primal = {0, 0}, dual = {0, 0};
    double strict = 0;
    mcr_status s = open_program(&p, v);
    for (int64_t o = 0; o < v->fitted->outputs && !s; o++) {
        list_objects(&p, o);
        s = take_output(&p, o);
        if (s)
            break;
        if (nu)
            evaluate_nu(&p);
        else
            evaluate_margin(&p);
        if (p.violation.value >= violation.value)
            violation.value = p.violation.value;
        violation.error = fmax(violation.error, p.violation.error);
        strict = fmax(strict, p.strict);
        add(&primal, p.primal);
        add(&dual, p.dual);
    }
    close_program(&p);
    if (s)
        return s;
    mcr_verify_primal(v, primal);
    mcr_sure gap = {primal.value - dual.value, primal.error + dual.error};
    mcr_verify_value(v, meant(v, violation, strict));
    mcr_verify_dual(v, dual);
    mcr_verify_gap(v, gap);
    mcr_verify_objective(v, times(-1, dual));
    return MCR_OK;
}

/* ---- one class, numbers -----------------------------------------------------------------------*/

static void all_objects(program *p)
{
    p->n = p->v->n;
    for (int64_t i = 0; i < p->n; i++) {
        p->row[i] = i;
        p->y[i] = 1;
    }
}

static double total_of(const mcr_verify *v)
{
    double sum = 0;
    for (int64_t i = 0; i < v->n; i++)
        sum += v->own[i];
    return sum;
}

/* The sum of the coefficients is nu n; rho is minus the offset. */
static void evaluate_one_class(program *p)
{
    const mcr_verify *v = p->v;
    double nu = mcr_verify_option(v, "nu"), size = 0;
    for (int64_t i = 0; i < p->n; i++) {
        p->hi[i] = v->own[i];
        size += p->b[i];
    }
    double fixed = v->options ? nu * total_of(v) : size;
    check_feasible(p, &fixed, 0);
    find_violation(p);
    mcr_sure square = square_of(p);
    p->dual = times(-0.5, square);
    p->primal = times(0.5, square);
    add(&p->primal, (mcr_sure){fixed * p->bias, DBL_EPSILON * fabs(fixed * p->bias)});
    add(&p->primal, hinge(p, p->hi, p->y, 0));
}

/* sum of cost_i max(0, |y_i - g_i - bias| - epsilon) */
static mcr_sure tube(const program *p, double epsilon)
{
    mcr_exact_sum sum = {0};
    double blur = 0;
    for (int64_t i = 0; i < p->n; i++) {
        double t = fabs(p->z[i] - p->g[i] - p->bias) - epsilon;
        double slip = p->error[i] +
                      2 * DBL_EPSILON * (fabs(p->g[i]) + fabs(p->bias) + fabs(p->z[i]) + epsilon);
        if (t > 0)
            mcr_exact_add(&sum, p->hi[i] * t);
        if (t > -slip)
            blur += p->hi[i] * slip;
    }
    return (mcr_sure){mcr_exact_total(&sum), blur + 2 * DBL_EPSILON * sum.size};
}

/* Of another program's model: where free coefficients lie, on average. */
static double guess_epsilon(const program *p, double bound)
{
    double sum = 0, count = 0, most = 0;
    for (int64_t i = 0; i < p->n; i++) {
        double off = fabs(p->z[i] - p->g[i] - p->bias);
        bool is_free = p->b[i] != 0 && !is_at(fabs(p->b[i]), bound, AT_BOUND);
        sum += is_free ? off : 0;
        count += is_free;
        most = fmax(most, p->b[i] == 0 ? off : 0);
    }
    return count > 0 ? sum / count : most;
}

static void evaluate_tube(program *p)
{
    const mcr_verify *v = p->v;
    double C = cost_of(p);
    bool known = v->options || (v->given && !isnan(v->given->C));
    double guess = known ? C : guess_bound(p, 0);
    p->groups = !v->options || mcr_verify_choice(v, "bias");
    for (int64_t i = 0; i < p->n; i++) {
        p->z[i] = v->target[i];
        p->hi[i] = guess * (v->options ? v->own[i] : 1);
        p->lo[i] = -p->hi[i];
    }
    p->epsilon = v->options                              ? mcr_verify_option(v, "epsilon")
                 : v->given && !isnan(v->given->epsilon) ? v->given->epsilon
                                                         : guess_epsilon(p, guess);
    check_feasible(p, (const double[]){0, 0}, 0);
    find_violation(p);
    mcr_sure square = square_of(p);
    p->dual = dual_of(p, square);
    p->primal = times(0.5, square);
    if (isfinite(guess))
        add(&p->primal, tube(p, p->epsilon));
}

/* nu-svr: one coefficient b = b+ - b-, and each part has the sum C nu n / 2; what both parts have
 * in common (nothing at an optimum with epsilon > 0) and epsilon are kept in the model. */
static void evaluate_nu_tube(program *p)
{
    const mcr_verify *v = p->v;
    double kept = mcr_fitted_number(v->fitted, MCR_EXTRA_EPSILON);
    int64_t commons;
    const double *common = mcr_fitted_find(v->fitted, MCR_EXTRA_COMMON, &commons);
    if (commons != p->n)
        common = NULL;
    double C = mcr_verify_option(v, "C"), nu = mcr_verify_option(v, "nu"), part[2] = {0, 0};
    double total = C * total_of(v), low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    double blur = 0;
    for (int64_t i = 0; i < p->n; i++) {
        double b = p->b[i], slope, more = common ? common[i] : 0;
        double above = fmax(b, 0) + more, below = fmax(-b, 0) + more;
        p->z[i] = v->target[i];
        p->hi[i] = C * v->own[i];
        p->lo[i] = -p->hi[i];
        slope = p->g[i] - p->z[i];
        part[0] += above;
        part[1] += below;
        if (more < 0 || above > p->hi[i] * (1 + 1e-9) || below > p->hi[i] * (1 + 1e-9))
            mcr_verify_fault(p->v, "the multipliers of object %lld are beyond their bounds",
                             (long long)i + 1);
        blur = fmax(blur, p->error[i] + 2 * DBL_EPSILON * (fabs(p->g[i]) + fabs(p->z[i])));
        if (!is_at(above, p->hi[i], AT_BOUND))
            low[0] = fmin(low[0], slope);
        if (above > 0)
            high[0] = fmax(high[0], slope);
        if (below > 0)
            low[1] = fmin(low[1], slope);
        if (!is_at(below, p->hi[i], AT_BOUND))
            high[1] = fmax(high[1], slope);
    }
    check_feasible(p, (const double[]){0, 0}, nu * total);
    for (int t = 0; t < 2; t++)
        if (fabs(part[t] - 0.5 * nu * total) > 1e-9 * nu * total)
            mcr_verify_fault(p->v, "the multipliers of a kind sum to %.9g, and should sum to %.9g",
                             part[t], 0.5 * nu * total);
    p->violation = (mcr_sure){fmax(0, fmax(high[0] - low[0], high[1] - low[1])), 2 * blur};
    p->strict = p->violation.value;
    double epsilon = fmax(isnan(kept) ? guess_epsilon(p, C) : kept, 0);
    mcr_sure square = square_of(p);
    p->epsilon = 0;
    p->dual = dual_of(p, square);
    p->primal = times(0.5, square);
    add(&p->primal, (mcr_sure){nu * total * epsilon, 0});
    add(&p->primal, tube(p, epsilon));
}

mcr_status mcr_verify_machines(mcr_verify *v)
{
    const char *learner = v->model->learner;
    program p;
    if (v->class_of)
        return strcmp(learner, "l1-svm") == 0 ? evaluate_one_norms(v) : evaluate_classes(v);
    mcr_status s = open_program(&p, v);
    if (!s) {
        all_objects(&p);
        s = take_output(&p, 0);
    }
    if (!s && strcmp(learner, "one-class") == 0)
        evaluate_one_class(&p);
    else if (!s && strcmp(learner, "nu-svr") == 0 && v->options)
        evaluate_nu_tube(&p);
    else if (!s)
        evaluate_tube(&p);
    if (!s && v->options && strcmp(learner, "nu-svr") != 0)
        p.strict = worst_violation(&p, 0).value;
    if (!s) {
        mcr_verify_value(v, meant(v, p.violation, p.strict));
        mcr_verify_primal(v, p.primal);
        mcr_verify_dual(v, p.dual);
        mcr_verify_gap(v, (mcr_sure){p.primal.value - p.dual.value, p.primal.error + p.dual.error});
        mcr_verify_objective(v, times(-1, p.dual));
    }
    close_program(&p);
    return s;
}
