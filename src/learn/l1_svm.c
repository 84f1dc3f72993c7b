/* l1_svm.c: the support vector machine with the 1-norm of the coefficients (Mangasarian; Zhu,
 * Rosset, Hastie and Tibshirani, 2003): few support vectors, and any symmetric K will do.
 *
 *   min sum |a_j| + sum C_i xi_i,   y_i (sum_j a_j K(x_j, x_i) + bias) >= 1 - xi_i,  xi >= 0
 *
 * A linear program. Its dual is solved,
 *
 *   max sum u_i,   |sum_i u_i y_i K(x_j, x_i)| <= 1 for all j,  sum u_i y_i = 0,  0 <= u_i <= C_i
 *
 * by row generation: only some j are in it, and those that are violated most enter. It has as many
 * rows as there are coefficients a_j (the multipliers of these rows) that may differ from 0, few.
 * An interior point method solves it, whose steps grow with the square of the rows; its duals are
 * in the middle of the optimal ones, so that fewer rows are tried than with those of a vertex. If
 * rounding stops it, CLP's simplex method continues, if it is installed.
 *
 * The certificate takes nothing from the linear program but a_j and u_i. The objective is computed
 * from kernel values, with the best bias for them. The duals are made feasible for the whole
 * program: cut to 0 <= u_i <= C_i, the heavier class scaled down so that sum u_i y_i = 0, all
 * scaled so that none of the sums above exceeds
 * 1. Then sum u_i is a lower bound of the optimum, whatever the tolerances of the program.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "learn/multiclass.h"
#include "solve/lp.h"
#include "solve/lp_interior.h"

typedef struct params {
    double C, tol, time_limit;
    int multiclass, probability;
    char *class_weight;
} params;

static const mcr_param table[] = {
    {"C", MCR_REAL, offsetof(params, C), "1", 0, INFINITY, MCR_MIN_OPEN | MCR_MAX_OPEN, NULL,
     "cost of a violated margin"},
    {MCR_OPTION_CLASS_WEIGHT, MCR_TEXT, offsetof(params, class_weight), NULL, 0, 0, 0, NULL,
     "factors of C by class: 1=2.5,-1=1, or balanced"},
    {"multiclass", MCR_CHOICE, offsetof(params, multiclass), "ovo", 0, 0, 0, "ovo|ovr",
     "one problem for each pair of classes, or each class against the rest"},
    {"probability", MCR_FLAG, offsetof(params, probability), "no", 0, 0, 0, NULL,
     "calibrate probabilities on held-out decision values (5 folds)"},
    {"tol", MCR_REAL, offsetof(params, tol), "0.001", 0, INFINITY, MCR_MIN_OPEN, NULL,
     "largest duality gap, relative to the objective"},
    MCR_TIME_LIMIT_PARAM(params, "seconds after which the best model so far is kept"),
    {0},
};

enum { ENTER = 64 }; /* rows that enter at a time, at most */

/* A coefficient that is 0, relative to the largest. */
#define NOTHING 1e-6

/* Where the loss of an object, as a function of the bias, begins or ends, and its slope there. */
typedef struct kink {
    double at, slope;
} kink;

typedef struct program {
    mcr_binary *p;
    mcr_interior *interior;
    mcr_lp *simplex; /* where the other has come to its end; NULL: not yet */
    int64_t rows;    /* a_j in the program */
    int64_t *object; /* j of each; their rows follow that of the bias */
    unsigned char *in;
    double *row, *price, *left, *u;
    double *v, *kv; /* two vectors beside each other, and K times them */
    double *best;   /* v of a solution within the tolerance */
    kink *kinks;    /* of the loss as a function of the bias */
    double began;
} program;

/* The row of a_j. */
static mcr_status add_coefficient(program *g, int64_t j)
{
    const mcr_binary *p = g->p;
    mcr_rows all = {NULL, 0, p->n}, one = {NULL, j, 1};
    mcr_status s = mcr_gram_block(p->gram, one, all, g->row, p->n);
    if (s)
        return s;
    for (int64_t i = 0; i < p->n; i++)
        g->row[i] *= p->y[i];
    g->in[j] = 1;
    g->object[g->rows++] = j;
    return g->simplex ? mcr_lp_add(g->simplex, -1, 1, g->row)
                      : mcr_interior_add(g->interior, -1, 1, g->row);
}

/* The bias with the least loss for these decision values: the loss is convex and has a kink for
 * each object, where its margin is 1. */
static double best_bias(program *g, double C)
{
    const mcr_binary *p = g->p;
    double slope = 0;
    for (int64_t i = 0; i < p->n; i++) {
        g->kinks[i] = (kink){p->y[i] - p->f[i], C * p->weight[i]};
        slope -= p->y[i] > 0 ? C * p->weight[i] : 0;
    }
    qsort(g->kinks, (size_t)p->n, sizeof *g->kinks, mcr_reals_rising);
    int64_t i = 0;
    while (i + 1 < p->n && (slope += g->kinks[i].slope) < 0)
        i++;
    return g->kinks[i].at;
}

/* Makes the duals feasible for the fixed columns: 0 <= u_i <= C_i, both classes of the same sum. */
static void repair_duals(program *g, double C, const double *dual)
{
    const mcr_binary *p = g->p;
    double side[2] = {0, 0};
    for (int64_t i = 0; i < p->n; i++) {
        g->u[i] = fmin(fmax(dual[i], 0), C * p->weight[i]);
        side[p->y[i] > 0] += g->u[i];
    }
    double least = fmin(side[0], side[1]);
    for (int64_t i = 0; i < p->n; i++) {
        double own = side[p->y[i] > 0];
        g->u[i] *= own > 0 ? least / own : 0;
    }
}

/* Decision values, objective, prices sum_i u_i y_i K(x_j, x_i), and the best lower bound so far. */
static mcr_status certify(program *g, double C, const double *dual)
{
    mcr_binary *p = g->p;
    double largest = 1, sum = 0;
    repair_duals(g, C, dual);
    for (int64_t i = 0; i < p->n; i++) {
        g->v[2 * i] = p->coef[i];
        g->v[2 * i + 1] = g->u[i] * p->y[i];
    }
    mcr_status s = mcr_gram_multiply(p->gram, g->v, 2, g->kv);
    if (s)
        return s;
    for (int64_t i = 0; i < p->n; i++)
        p->f[i] = g->kv[2 * i];
    p->bias = best_bias(g, C);
    p->primal = 0;
    for (int64_t i = 0; i < p->n; i++) {
        g->price[i] = g->kv[2 * i + 1];
        largest = fmax(largest, fabs(g->price[i]));
        sum += g->u[i];
        p->primal += fabs(p->coef[i]) +
                     C * p->weight[i] * fmax(0, 1 - p->y[i] * (p->f[i] + p->bias));
    }
    if (sum / largest > p->dual) {
        p->dual = sum / largest;
        for (int64_t i = 0; i < p->n && p->price; i++)
            p->price[i] = g->u[i] / largest;
    }
    p->gap = p->primal - p->dual;
    p->objective = p->primal;
    p->violation = p->gap / fmax(p->primal, 1e-300);
    return MCR_OK;
}

/* What rounding may change: in decision values the loss, in prices the scale of the duals. */
static mcr_status find_errors(program *g, double C)
{
    mcr_binary *p = g->p;
    double largest = 0, loss = 0, *error = mcr_alloc(p->ctx, 2 * (uint64_t)p->n, sizeof *error);
    for (int64_t i = 0; i < p->n; i++)
        g->v[2 * i + 1] = p->price[i] * p->y[i];
    mcr_status s = error ? mcr_gram_product_error(p->gram, g->v, 2, NAN, error) : MCR_NO_MEMORY;
    for (int64_t i = 0; i < p->n && !s; i++) {
        loss += C * p->weight[i] * error[2 * i];
        largest = fmax(largest, error[2 * i + 1]);
    }
    if (!s) {
        p->error = loss + p->dual * largest + (double)p->n * 1e-16 * (p->primal + p->dual);
        p->violation_error = p->error / fmax(p->primal, 1e-300);
    }
    mcr_free(p->ctx, error);
    return s;
}

/* Brings in the coefficients that would gain most; *entered: how many. Many that are alike would
 * gain little more than one of them: each that enters takes its part from the prices of those that
 * are near it. */
static mcr_status enter_worst(program *g, double least, int64_t *entered)
{
    const mcr_binary *p = g->p;
    mcr_status s = MCR_OK;
    memcpy(g->left, g->price, sizeof *g->left * (size_t)p->n);
    for (*entered = 0; *entered < ENTER && !s; ++*entered) {
        int64_t worst = -1;
        for (int64_t j = 0; j < p->n; j++)
            if (!g->in[j] && fabs(g->left[j]) > least && fabs(g->price[j]) > least &&
                (worst < 0 || fabs(g->left[j]) > fabs(g->left[worst])))
                worst = j;
        if (worst < 0)
            break;
        s = add_coefficient(g, worst);
        double part = 0.5 * (g->left[worst] - copysign(1, g->left[worst])) / g->row[worst] *
                      p->y[worst];
        for (int64_t j = 0; j < p->n && isfinite(part) && !s; j++)
            g->left[j] -= part * g->row[j] * p->y[j];
    }
    return s;
}

/* Coefficients from the multipliers of their rows; those that only the distance from the optimum
 * keeps from 0 are 0. */
static void take_solution(program *g, const double *multiplier)
{
    mcr_binary *p = g->p;
    double largest = 0;
    memset(p->coef, 0, sizeof *p->coef * (size_t)p->n);
    for (int64_t r = 0; r < g->rows; r++)
        largest = fmax(largest, fabs(multiplier[1 + r]));
    for (int64_t r = 0; r < g->rows; r++)
        if (fabs(multiplier[1 + r]) > NOTHING * largest)
            p->coef[g->object[r]] = -multiplier[1 + r];
}

/* Whether the progress callback asks to stop. */
static bool is_stopped(const program *g)
{
    const mcr_binary *p = g->p;
    mcr_progress at = {.phase = p->phase,
                       .fraction = NAN,
                       .seconds = mcr_now() - g->began,
                       .step = p->steps,
                       .objective = p->objective,
                       .violation = p->violation,
                       .active = g->rows,
                       .total = p->n};
    return p->phase && mcr_report(p->ctx, &at);
}

/* Back to the solution that was good enough, where a better one could not be computed. */
static mcr_status take_best(program *g, const params *o)
{
    mcr_binary *p = g->p;
    for (int64_t i = 0; i < p->n; i++) {
        p->coef[i] = g->best[2 * i];
        g->left[i] = g->best[2 * i + 1] * p->y[i];
    }
    p->stop = MCR_STOP_OPTIMAL;
    return certify(g, o->C, g->left);
}

/* Costs in row, lower and upper bounds in u and price. */
static void set_columns(program *g, double C)
{
    for (int64_t i = 0; i < g->p->n; i++) {
        g->row[i] = -1;
        g->u[i] = 0;
        g->price[i] = C * g->p->weight[i];
    }
}

/* The same program for the simplex method, which rounding stops later; *can: CLP is there. */
static mcr_status change_method(program *g, double C, bool *can)
{
    int64_t count = g->rows;
    set_columns(g, C);
    mcr_status s = mcr_lp_open(&g->simplex, g->p->ctx, g->p->n, g->row, g->u, g->price);
    *can = s != MCR_IO;
    if (s)
        return *can ? s : MCR_OK;
    mcr_interior_close(g->interior); /* one program at a time */
    g->interior = NULL;
    s = mcr_lp_add(g->simplex, 0, 0, g->p->y);
    for (g->rows = 0; g->rows < count && !s;)
        s = add_coefficient(g, g->object[g->rows]);
    return s;
}

static mcr_status solve_program(program *g, double gap, const double **u, const double **multiplier)
{
    double deadline = g->p->deadline;
    if (g->simplex) {
        bool ended;
        double left = deadline > 0 ? fmax(deadline - mcr_now(), 1e-3) : 0;
        return mcr_lp_solve(g->simplex, left, &ended, u, multiplier);
    }
    mcr_interior_result found;
    mcr_status s = mcr_interior_solve(g->interior, gap, deadline, &found);
    *u = found.x;
    *multiplier = found.dual;
    return s;
}

/* One program with the coefficients that there are, and its certificate. */
static mcr_status solve_once(program *g, const params *o, double gap)
{
    mcr_binary *p = g->p;
    const double *u, *multiplier;
    mcr_status s = solve_program(g, gap, &u, &multiplier);
    if (s)
        return s;
    take_solution(g, multiplier);
    if ((s = certify(g, o->C, u)))
        return s;
    p->steps++;
    bool late = p->deadline > 0 && mcr_now() > p->deadline;
    p->stop = p->violation <= o->tol ? MCR_STOP_OPTIMAL : late ? MCR_STOP_TIME : MCR_STOP_STUCK;
    return MCR_OK;
}

/* Programs are solved roughly while rows are missing, and exactly at the end. */
static mcr_status generate(program *g, const params *o)
{
    mcr_binary *p = g->p;
    double exact = fmin(1e-9, 0.01 * o->tol), gap = 0.1, best = INFINITY;
    for (;;) {
        int64_t entered = 0;
        mcr_status s = solve_once(g, o, gap);
        if (s || p->stop == MCR_STOP_TIME)
            return s;
        bool last = gap <= exact, done = p->stop == MCR_STOP_OPTIMAL;
        if (done && last)
            return MCR_OK;
        if (last && best <= o->tol)
            return take_best(g, o);
        if (done) {
            memcpy(g->best, g->v, 2 * sizeof *g->v * (size_t)p->n);
            best = p->violation;
        }
        if (is_stopped(g)) {
            p->stop = MCR_STOP_INTERRUPTED;
            return MCR_OK;
        }
        if (!done)
            s = enter_worst(g, 1 + 0.1 * o->tol, &entered);
        bool stuck = !done && entered == 0 && last, can = false;
        if (!s && stuck && !g->simplex)
            s = change_method(g, o->C, &can);
        if (s || (stuck && !can))
            return s;
        gap = done || entered == 0 ? exact : fmax(fmin(gap, 0.1 * p->violation), exact);
    }
}

/* ---- programs ---------------------------------------------------------------------------------*/

static void close_program(program *g)
{
    mcr *ctx = g->p->ctx;
    mcr_interior_close(g->interior);
    mcr_lp_close(g->simplex);
    mcr_free_all(ctx, g->object, g->in, g->row, g->price, g->left, g->u, g->v, g->kv, g->best,
                 g->kinks);
}

/* A program without coefficients; only the row of the bias. */
static mcr_status open_program(program *g, mcr_binary *p, double C)
{
    mcr *ctx = p->ctx;
    size_t n = (size_t)p->n;
    *g = (program){.p = p, .began = mcr_now()};
    p->dual = 0;
    g->object = mcr_alloc(ctx, n, sizeof *g->object);
    g->in = mcr_alloc_zero(ctx, n, 1);
    g->kinks = mcr_alloc(ctx, n, sizeof *g->kinks);
    if (!mcr_alloc_doubles(ctx, n, &g->row, &g->price, &g->left, &g->u) ||
        !mcr_alloc_doubles(ctx, 2 * n, &g->v, &g->kv, &g->best) || !g->object || !g->in ||
        !g->kinks)
        return MCR_NO_MEMORY;
    set_columns(g, C);
    mcr_status s = mcr_interior_open(&g->interior, ctx, p->n, g->row, g->u, g->price);
    return s ? s : mcr_interior_add(g->interior, 0, 0, p->y);
}

static mcr_status solve(const void *values, mcr_binary *p)
{
    const params *o = values;
    program g;
    mcr_status s = open_program(&g, p, o->C);
    if (!s)
        s = generate(&g, o);
    if (!s && p->price)
        s = find_errors(&g, o->C);
    p->tolerance = o->tol;
    close_program(&g);
    return s;
}

/* All coefficients may enter. */
static double most_bytes(int64_t n)
{
    return mcr_interior_bytes(n, n + 1);
}

static mcr_status fit(mcr_fitted **out, const mcr_learning *in)
{
    const params *o = in->params;
    mcr_multiclass how = {
        .learner = "l1-svm",
        .class_weight = o->class_weight,
        .one_vs_rest = o->multiclass == 1,
        .probability = o->probability,
        .time_limit = o->time_limit,
        .solve = solve,
        .bytes = most_bytes,
        .params = o,
        .certificate = "relative duality gap",
        .prices = true,
    };
    mcr_status s = mcr_multiclass_fit(out, in, &how);
    if (!s) { /* the optimum is global whatever the kernel */
        mcr_free(in->ctx, (*out)->remark);
        (*out)->remark = NULL;
    }
    return s;
}

const mcr_learner_type mcr_learner_l1_svm = {
    .name = "l1-svm",
    .summary = "support vector machine with few support vectors, by a linear program",
    .task = MCR_CLASSIFY,
    .params = table,
    .params_size = sizeof(params),
    .fit = fit,
    .usual = {.option = "C", .range = "0.0625:1024:log15"},
    .no_primal = "its penalty is on the coefficients of objects, and weights of features have none",
    .weights_count = true,
    .factorises = true,
    .bytes = most_bytes,
};
