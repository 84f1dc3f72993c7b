/* bounds.c: generalisation bounds of a support vector machine, from the training data alone.
 *
 * Two classes, f = w.Phi + b. alpha_i = |coefficient|, xi_i = max(0, 1 - y_i f(x_i)). Vapnik 1998
 * (support vectors, radius and margin), Vapnik and Chapelle 2000 (span), Joachims 2000 (xi-alpha),
 * Bartlett and Mendelson 2002 (Rademacher), Bousquet and Elisseeff 2002 (stability). docs/svm.md
 * has the formulas.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <string.h>

#include "base/sized.h"
#include "model/model.h"

enum { MOST_FREE = 6000, MOST_PAIRS = 6000 };

typedef struct machine {
    mcr *ctx;
    const mcr_model *model;
    mcr_data *data;
    mcr_gram *gram;
    int64_t n;
    double *y, *alpha, *f, *diagonal; /* f: with the offset */
    double C, square;                 /* |w|^2 */
    bool bias, hard, weighted, even;  /* even: the kernel is known to be positive semi-definite */
    double kappa2, radius2, range2;   /* max K(x,x); of an enclosing ball; of the range of K */
    mcr_bounds *out;
} machine;

/* ---- the model on its data --------------------------------------------------------------------*/

static mcr_status find_options(machine *t)
{
    mcr_options *o = NULL;
    mcr_status s = mcr_options_of(&o, t->ctx, t->model);
    if (s)
        return s;
    const double *C = mcr_options_at(o, "C", MCR_REAL);
    const double *lambda = mcr_options_at(o, "lambda", MCR_REAL);
    char *const *class_weight = mcr_options_at(o, MCR_OPTION_CLASS_WEIGHT, MCR_TEXT);
    t->bias = *(const int *)mcr_options_at(o, "bias", MCR_FLAG);
    t->weighted = *class_weight != NULL;
    t->C = !isnan(*C) ? *C : !isnan(*lambda) ? 1 / (2 * *lambda * (double)t->n) : 1;
    t->hard = isinf(t->C);
    mcr_options_close(o);
    return s;
}

static mcr_status open_machine(machine *t, const mcr_data *data)
{
    size_t n = (size_t)mcr_data_count(data);
    const mcr_fitted *f = t->model->fitted;
    double *coef = mcr_alloc_zero(t->ctx, n, sizeof *coef);
    int64_t *match = NULL;
    t->n = (int64_t)n;
    bool ok = mcr_alloc_doubles(t->ctx, n, &t->y, &t->alpha, &t->f, &t->diagonal);
    mcr_status s = ok && coef ? mcr_model_prepare(&t->data, t->ctx, t->model, data) : MCR_NO_MEMORY;
    if (!s)
        s = mcr_model_match(&match, t->ctx, t->model, data);
    if (!s)
        s = mcr_gram_open(&t->gram, t->ctx, t->model->kernel, t->data, NULL);
    for (int64_t i = 0; i < f->basis && !s; i++)
        if (f->object[i] >= 0 && f->object[i] < t->n)
            coef[f->object[i]] += f->segment[0].coef[i];
    if (!s)
        s = mcr_gram_multiply(t->gram, coef, 1, t->f);
    if (!s)
        s = mcr_gram_diagonal(t->gram, 0, t->diagonal);
    for (int64_t i = 0; i < t->n && !s; i++) {
        t->y[i] = match[mcr_data_class_of(data)[i]] == 1 ? 1 : -1;
        t->square += coef[i] * t->f[i];
        t->f[i] += f->offset[0];
        t->alpha[i] = fabs(coef[i]);
        t->kappa2 = fmax(t->kappa2, t->diagonal[i]);
    }
    t->even = mcr_kernel_definite(t->model->kernel, NULL) == MCR_PSD;
    t->weighted |= mcr_data_weights(data) != NULL;
    mcr_free_all(t->ctx, coef, match);
    if (!s)
        s = find_options(t);
    /* Merged duplicates share one coefficient, which may exceed C: they are one object with a
     * larger weight. */
    for (int64_t i = 0; i < t->n && !s; i++)
        t->weighted |= t->alpha[i] > t->C * (1 + 1e-9);
    return s;
}

static void close_machine(machine *t)
{
    mcr_gram_close(t->gram);
    mcr_data_free(t->data);
    mcr_free_all(t->ctx, t->y, t->alpha, t->f, t->diagonal);
}

/* ---- the ball ---------------------------------------------------------------------------------*/

/* A centre sum a_i Phi(x_i) that moves towards the farthest object (Badoiu and Clarkson, 2003): the
 * radius that reaches all objects is an upper bound at every step, and the smallest one is kept. */
static mcr_status find_ball(machine *t)
{
    int64_t n = t->n, steps = (int64_t)(1e8 / (double)(n + 1));
    double *ka = mcr_alloc(t->ctx, (size_t)n, 2 * sizeof *ka), *row, square;
    mcr_rows all = {NULL, 0, n}, one = {NULL, 0, 1};
    if (!ka)
        return MCR_NO_MEMORY;
    row = ka + n;
    steps = steps < 50 ? 50 : steps > 2000 ? 2000 : steps;
    mcr_status s = mcr_gram_block(t->gram, one, all, ka, n);
    square = t->diagonal[0];
    t->radius2 = INFINITY;
    for (int64_t step = 1; step <= steps && !s; step++) {
        double most = -INFINITY, share = 1 / (double)(step + 1);
        int64_t far = 0;
        for (int64_t i = 0; i < n; i++) {
            double d = t->diagonal[i] - 2 * ka[i] + square;
            if (d > most) {
                most = d;
                far = i;
            }
        }
        t->radius2 = fmin(t->radius2, most);
        one.first = far;
        s = mcr_gram_block(t->gram, one, all, row, n);
        square = (1 - share) * (1 - share) * square + 2 * share * (1 - share) * ka[far] +
                 share * share * t->diagonal[far];
        for (int64_t i = 0; i < n && !s; i++)
            ka[i] = (1 - share) * ka[i] + share * row[i];
    }
    mcr_free(t->ctx, ka);
    return s;
}

/* The smallest r with c <= K <= c + r for some c. Adding a constant to K does not change a machine
 * with a bias, so twice the ball's radius always suffices. */
static mcr_status find_range(machine *t)
{
    enum { ROWS = 64 };
    int64_t n = t->n;
    t->range2 = t->bias ? 2 * t->radius2 : t->kappa2;
    if (n > MOST_PAIRS || !t->bias)
        return MCR_OK;
    double *k = mcr_alloc(t->ctx, ROWS, (size_t)n * sizeof *k), least = INFINITY;
    mcr_status s = k ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t first = 0; first < n && !s; first += ROWS) {
        int64_t rows = n - first < ROWS ? n - first : ROWS;
        s = mcr_gram_block(t->gram, (mcr_rows){NULL, first, rows}, (mcr_rows){NULL, 0, n}, k, n);
        for (int64_t i = 0; i < rows * n && !s; i++)
            least = fmin(least, k[i]);
    }
    if (!s)
        t->range2 = fmin(t->range2, t->kappa2 - least);
    mcr_free(t->ctx, k);
    return s;
}

/* ---- the span ---------------------------------------------------------------------------------*/

typedef struct free_set {
    int64_t count, *object;
    mcr_system k;   /* K of the free support vectors, factored */
    double *u, sum; /* K^-1 1, and 1'K^-1 1 */
} free_set;

static bool is_free(const machine *t, int64_t i)
{
    return t->alpha[i] > 0 && (t->hard || t->alpha[i] < t->C * (1 - 1e-9));
}

static mcr_status open_free(free_set *g, const machine *t)
{
    *g = (free_set){.object = mcr_alloc(t->ctx, (size_t)t->n, sizeof *g->object)};
    if (!g->object)
        return MCR_NO_MEMORY;
    for (int64_t i = 0; i < t->n; i++)
        if (is_free(t, i))
            g->object[g->count++] = i;
    int64_t m = g->count;
    g->u = mcr_alloc(t->ctx, (size_t)m, sizeof *g->u);
    mcr_status s = g->u ? mcr_system_open(&g->k, t->ctx, m, "bounds: the free support vectors")
                        : MCR_NO_MEMORY;
    mcr_rows rows = {g->object, 0, m};
    if (!s)
        s = mcr_gram_block(t->gram, rows, rows, g->k.a, g->k.ld);
    for (int64_t i = 0; i < m && !s; i++)
        g->u[i] = 1;
    if (!s) {
        mcr_system_filled(&g->k);
        s = mcr_system_factor(&g->k, 1e-10 * t->kappa2, NULL, NULL); /* for duplicates */
    }
    if (!s)
        s = mcr_system_solve(&g->k, 1, g->u);
    for (int64_t i = 0; i < m && !s; i++)
        g->sum += g->u[i];
    return s;
}

static void close_free(free_set *g, const machine *t)
{
    mcr_system_close(&g->k);
    mcr_free_all(t->ctx, g->object, g->u);
}

/* S_i^2 of a support vector at its bound: K_ii - v'B^-1 v, where B is the bordered block and v =
 * (k, 1). */
static mcr_status span_at_bound(const machine *t, const free_set *g, int64_t i, double *span)
{
    int64_t m = g->count;
    double *k = mcr_alloc(t->ctx, (size_t)m, 2 * sizeof *k), *x = k ? k + m : NULL, dot = 0,
           along = 0;
    mcr_status s = k ? mcr_gram_block(t->gram, (mcr_rows){NULL, i, 1}, (mcr_rows){g->object, 0, m},
                                      k, m)
                     : MCR_NO_MEMORY;
    if (!s) {
        memcpy(x, k, sizeof *x * (size_t)m);
        s = mcr_system_solve(&g->k, 1, x);
    }
    for (int64_t j = 0; j < m && !s; j++) {
        dot += k[j] * x[j];
        along += k[j] * g->u[j];
    }
    *span = t->diagonal[i] - dot + (t->bias && g->sum > 0 ? (1 - along) * (1 - along) / g->sum : 0);
    mcr_free(t->ctx, k);
    return s;
}

/* Objects that would be misclassified if left out: alpha_i S_i^2 >= y_i f(x_i). */
static mcr_status count_span(const machine *t, double *wrong)
{
    free_set g;
    mcr_status s = open_free(&g, t);
    double *inverse = mcr_alloc(t->ctx, (size_t)(g.count + 1), sizeof *inverse);
    if (!s && !inverse)
        s = MCR_NO_MEMORY;
    if (!s && g.count)
        s = mcr_system_inverse(&g.k, false, inverse, "bounds");
    *wrong = 0;
    for (int64_t j = 0; j < g.count && !s; j++) {
        int64_t i = g.object[j];
        double own = inverse[j] - (t->bias && g.sum > 0 ? g.u[j] * g.u[j] / g.sum : 0);
        *wrong += own > 0 && t->alpha[i] / own >= t->y[i] * t->f[i];
    }
    for (int64_t i = 0; i < t->n && !s; i++) {
        double span;
        if (is_free(t, i))
            continue;
        if (!(t->alpha[i] > 0)) {
            *wrong += !(t->y[i] * t->f[i] > 0);
            continue;
        }
        s = span_at_bound(t, &g, i, &span);
        *wrong += !s && t->alpha[i] * fmax(span, 0) >= t->y[i] * t->f[i];
    }
    mcr_free(t->ctx, inverse);
    close_free(&g, t);
    return s;
}

/* ---- the list ---------------------------------------------------------------------------------*/

static void add(machine *t, const char *name, const char *formula, double value, bool holds,
                const char *assumption)
{
    mcr_bounds *b = t->out;
    if (b->count < MCR_MOST_BOUNDS)
        b->item[b->count++] = (mcr_bound_of_error){name, formula, assumption, value, holds};
}

static void add_left_out(machine *t, double span)
{
    double n = (double)t->n, support = 0, xialpha = 0;
    for (int64_t i = 0; i < t->n; i++) {
        double xi = fmax(0, 1 - t->y[i] * t->f[i]);
        support += t->alpha[i] > 0;
        xialpha += 2 * t->alpha[i] * t->range2 + xi >= 1 && t->alpha[i] > 0;
    }
    add(t, "support vectors", "#SV / n", support / n, t->even && !t->weighted,
        "leave-one-out error; the solution is exact, all weights are 1");
    add(t, "radius and margin", "|Phi|^2 / (gamma^2 n)", t->kappa2 * t->square / n,
        t->even && t->hard && !t->bias,
        "leave-one-out error; hard margin, no bias; |Phi|^2 = max K(x,x)");
    if (!isnan(span))
        add(t, "span", "#{alpha_i S_i^2 >= y_i f(x_i)} / n", span / n, false,
            "leave-one-out error, exact if leaving an object out changes no other support vector's "
            "state: an estimate");
    add(t, "xi-alpha", "#{2 alpha_i R^2 + xi_i >= 1} / n", xialpha / n,
        t->even && !t->hard && !t->weighted,
        "leave-one-out error; soft margin, equal costs; K within R^2 of its least value");
}

static void add_risk(machine *t, double delta)
{
    double n = (double)t->n, trace = 0, cut = 0, hinge = 0, width = sqrt(fmax(t->square, 0));
    for (int64_t i = 0; i < t->n; i++) {
        double xi = fmax(0, 1 - t->y[i] * t->f[i]);
        trace += t->diagonal[i];
        cut += fmin(1, xi) / n;
        hinge += xi / n;
    }
    add(t, "Rademacher", "mean min(1, xi) + 4 B sqrt(tr K) / n + 3 sqrt(ln(2/delta) / 2n)",
        cut + 4 * width * sqrt(trace) / n + 3 * sqrt(log(2 / delta) / (2 * n)), false,
        "error on new data; no bias, and B fixed before the data were seen: here it is |w|, so "
        "this is not a guarantee");
    if (t->hard)
        return;
    double lambda = 1 / (2 * t->C * n), beta = t->kappa2 / (2 * lambda * n);
    double largest = 1 + sqrt(t->kappa2 / lambda);
    add(t, "stability",
        "mean xi + 2 beta + (4 n beta + M) sqrt(ln(1/delta) / 2n), beta = K^2 / (2 lambda n)",
        hinge + 2 * beta + (4 * n * beta + largest) * sqrt(log(1 / delta) / (2 * n)),
        t->even && !t->bias && !t->weighted,
        "mean hinge loss on new data; no bias, equal costs, C chosen before the data were seen");
}

static mcr_status check_model(mcr *ctx, const mcr_model *m, const mcr_data *data, double delta)
{
    if (strcmp(m->learner, "svm") != 0 || m->fitted->rule != MCR_RULE_BINARY ||
        m->fitted->segments != 1 || m->report.approx || !m->report.version)
        return mcr_fail(ctx, MCR_BAD_CALL,
                        "bounds are available only for svm with two classes and an exact kernel; "
                        "this is a model of %s",
                        m->learner);
    if (mcr_data_count(data) != m->report.n)
        return mcr_fail(ctx, MCR_BAD_DATA,
                        "the model was trained on %lld objects, and these are %lld",
                        (long long)m->report.n, (long long)mcr_data_count(data));
    return delta > 0 && delta < 1 ? MCR_OK
                                  : mcr_fail(ctx, MCR_BAD_CALL, "delta must be between 0 and 1");
}

mcr_status mcr_model_bounds(mcr *ctx, const mcr_model *m, const mcr_data *data, double delta,
                            mcr_bounds *out)
{
    mcr_bounds found = {.delta = delta};
    machine t = {.ctx = ctx, .model = m, .out = &found};
    double span = NAN;
    mcr_status s = MCR_SIZED_CHECK(mcr_bounds, ctx, out);
    if (!s)
        s = check_model(ctx, m, data, delta);
    if (s)
        return s;
    s = open_machine(&t, data);
    if (!s)
        s = find_ball(&t);
    if (!s)
        s = find_range(&t);
    int64_t is_free_count = 0;
    for (int64_t i = 0; i < t.n && !s; i++)
        is_free_count += is_free(&t, i);
    if (!s && !t.weighted && is_free_count <= MOST_FREE) {
        s = count_span(&t, &span);
        if (s == MCR_NUMERIC) { /* the block is singular: the span is undefined */
            s = MCR_OK;
            span = NAN;
        }
    }
    if (!s) {
        found.margin = t.square > 0 ? 1 / sqrt(t.square) : INFINITY;
        found.radius2 = t.radius2;
        found.ratio = t.radius2 * t.square;
        add_left_out(&t, span);
        add_risk(&t, delta);
    }
    close_machine(&t);
    return s ? s : MCR_SIZED_WRITE(mcr_bounds, out, ctx, &found);
}
