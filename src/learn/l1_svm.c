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
 * rows as there are coefficients a_j (the multipliers of these rows) that may differ from 0, few,
 * while the bounds of the u_i cost the simplex method nothing.
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

#include "learn/multiclass.h"
#include "learn/svm_problem.h"
#include "solve/lp.h"

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
    {"time-limit", MCR_REAL, offsetof(params, time_limit), NULL, 0, INFINITY, MCR_MIN_OPEN, NULL,
     "seconds after which the best model so far is kept"},
    {0},
};

enum { ENTER = 64 }; /* rows that enter at a time, at most */

/* Where the loss of an object, as a function of the bias, begins or ends, and its slope there. */
typedef struct kink {
    double at, slope;
} kink;

typedef struct program {
    mcr_binary *p;
    mcr_lp *lp;
    int64_t rows;    /* a_j in the program */
    int64_t *object; /* j of each; their rows follow that of the bias */
    unsigned char *in;
    double *row, *price, *u;
    double *v, *kv; /* two vectors beside each other, and K times them */
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
    mcr_lp_add(g->lp, -1, 1, g->row);
    g->in[j] = 1;
    g->object[g->rows++] = j;
    return MCR_OK;
}

static int by_place(const void *a, const void *b)
{
    const kink *x = a, *y = b;
    return (x->at > y->at) - (x->at < y->at);
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
    qsort(g->kinks, (size_t)p->n, sizeof *g->kinks, by_place);
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
    double largest = 0, loss = 0, *error = mcr_alloc(p->ctx, 2 * (size_t)p->n, sizeof *error);
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

/* Brings in the coefficients that would gain most; *entered: how many. */
static mcr_status enter_worst(program *g, double least, int64_t *entered)
{
    mcr_status s = MCR_OK;
    for (*entered = 0; *entered < ENTER && !s; ++*entered) {
        int64_t worst = -1;
        for (int64_t j = 0; j < g->p->n; j++)
            if (!g->in[j] && fabs(g->price[j]) > least &&
                (worst < 0 || fabs(g->price[j]) > fabs(g->price[worst])))
                worst = j;
        if (worst < 0)
            break;
        s = add_coefficient(g, worst);
    }
    return s;
}

static void take_solution(program *g, const double *multiplier)
{
    mcr_binary *p = g->p;
    memset(p->coef, 0, sizeof *p->coef * (size_t)p->n);
    for (int64_t r = 0; r < g->rows; r++)
        p->coef[g->object[r]] = -multiplier[1 + r];
}

static mcr_status generate(program *g, const params *o)
{
    mcr_binary *p = g->p;
    double limit = p->deadline > 0 ? fmax(p->deadline - g->began, 1e-3) : 0;
    for (;;) {
        const double *u, *multiplier;
        bool ended;
        int64_t entered;
        double left = limit > 0 ? fmax(limit - (mcr_now() - g->began), 1e-3) : 0;
        mcr_status s = mcr_lp_solve(g->lp, left, &ended, &u, &multiplier);
        if (s)
            return s;
        take_solution(g, multiplier);
        if ((s = certify(g, o->C, u)))
            return s;
        p->steps++;
        bool late = limit > 0 && mcr_now() - g->began > limit;
        p->stop = p->violation <= o->tol ? MCR_STOP_OPTIMAL : late ? MCR_STOP_TIME : MCR_STOP_STUCK;
        mcr_progress at = {.size = sizeof at,
                           .phase = p->phase,
                           .fraction = NAN,
                           .seconds = mcr_now() - g->began,
                           .step = p->steps,
                           .objective = p->objective,
                           .violation = p->violation,
                           .active = g->rows,
                           .total = p->n};
        if (p->stop != MCR_STOP_STUCK)
            return MCR_OK;
        if (p->phase && mcr_report(p->ctx, &at)) {
            p->stop = MCR_STOP_INTERRUPTED;
            return MCR_OK;
        }
        s = enter_worst(g, 1 + 0.1 * o->tol, &entered);
        if (s || (entered == 0 && ended))
            return s;
    }
}

static mcr_status solve(const void *values, mcr_binary *p)
{
    const params *o = values;
    mcr *ctx = p->ctx;
    size_t n = (size_t)p->n;
    program g = {.p = p, .began = mcr_now()};
    p->dual = 0;
    g.object = mcr_alloc(ctx, n, sizeof *g.object);
    g.in = mcr_alloc_zero(ctx, n, 1);
    g.row = mcr_alloc(ctx, n, sizeof *g.row);
    g.price = mcr_alloc(ctx, n, sizeof *g.price);
    g.u = mcr_alloc(ctx, n, sizeof *g.u);
    g.v = mcr_alloc(ctx, 2 * n, sizeof *g.v);
    g.kv = mcr_alloc(ctx, 2 * n, sizeof *g.kv);
    g.kinks = mcr_alloc(ctx, n, sizeof *g.kinks);
    bool enough = g.object && g.in && g.row && g.price && g.u && g.v && g.kv && g.kinks;
    mcr_status s = enough ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t i = 0; i < p->n && !s; i++) { /* costs, lower and upper bounds */
        g.row[i] = -1;
        g.u[i] = 0;
        g.price[i] = o->C * p->weight[i];
    }
    if (!s)
        s = mcr_lp_open(&g.lp, ctx, p->n, g.row, g.u, g.price);
    if (!s) {
        mcr_lp_add(g.lp, 0, 0, p->y);
        s = generate(&g, o);
    }
    if (!s && p->price)
        s = find_errors(&g, o->C);
    p->tolerance = o->tol;
    mcr_lp_close(g.lp);
    mcr_free(ctx, g.object);
    mcr_free(ctx, g.in);
    mcr_free(ctx, g.row);
    mcr_free(ctx, g.price);
    mcr_free(ctx, g.u);
    mcr_free(ctx, g.v);
    mcr_free(ctx, g.kv);
    mcr_free(ctx, g.kinks);
    return s;
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
};
